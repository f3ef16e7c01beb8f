/* Runs the program in a worker, or in the calling thread. SPDX-License-Identifier: BSD-3-Clause
 *
 * Every job gets a new instance of the module, so that its memory is released afterwards. Files are in memory. */
"use strict";

async function kindredRun(createKindred, job, onProgress) {
  const output = [[], []];
  const collect = (list) => (byte) => { if (byte !== null) list.push(byte < 0 ? byte + 256 : byte); };
  const text = (list) => new TextDecoder().decode(Uint8Array.from(list));
  let failed = null;
  const module = await new Promise((resolve, reject) => {
    createKindred({
      progress: onProgress,
      preRun: [(m) => m.FS.init(() => null, collect(output[0]), collect(output[1]))],
      onAbort: (what) => { failed = what; },
      instantiateWasm(imports, receive) {
        WebAssembly.instantiate(job.module, imports).then((instance) => receive(instance), reject);
        return {};
      },
    }).then(resolve, reject);
  });
  const FS = module.FS;
  const makeFolder = (path) => {
    let at = "";
    for (const part of path.split("/").filter(Boolean)) {
      at += "/" + part;
      if (!FS.analyzePath(at).exists) FS.mkdir(at);
    }
  };
  makeFolder("/work");
  for (const [path, bytes] of job.files) {
    makeFolder(path.slice(0, path.lastIndexOf("/")));
    FS.writeFile(path, bytes instanceof Uint8Array ? bytes : new Uint8Array(await bytes.arrayBuffer()), { canOwn: true });
  }
  FS.chdir("/work");
  let code;
  try {
    code = module.callMain(job.args);
  } catch (error) {
    const message = String(failed || (error && error.message) || error);
    const memory = /memory|Cannot enlarge|OOM/i.test(message);
    return {
      code: 1, stdout: text(output[0]), files: [], internal: !memory,
      stderr: text(output[1]) + "kindred: " + (memory
        ? "out of memory: a browser gives a page at most 4 GB; use fewer samples or features, or the program for the command line\n"
        : "internal error: " + message + "\n"),
    };
  }
  const files = [];
  const gather = (folder) => {
    if (!FS.analyzePath(folder).exists) return;
    for (const name of FS.readdir(folder)) {
      const path = folder + "/" + name;
      if (name === "." || name === "..") continue;
      if (FS.isDir(FS.stat(path).mode)) gather(path);
      else files.push([path, FS.readFile(path).slice()]);
    }
  };
  gather("/out");
  return { code, stdout: text(output[0]), stderr: text(output[1]), files };
}

/* Messages of the worker: {job} comes in; {progress}, then {result} or {error} go out. */
function kindredServe(createKindred, receive, send) {
  receive(async (job) => {
    try {
      const result = await kindredRun(createKindred, job, (progress) => send({ progress }, []));
      send({ result }, result.files.map(([, bytes]) => bytes.buffer));
    } catch (error) {
      send({ error: String((error && error.message) || error) }, []);
    }
  });
}
