/* Runs the program in a worker, or in the calling thread. SPDX-License-Identifier: BSD-3-Clause
 *
 * Every job gets a new instance of the module, so that its memory is released afterwards. Files are in memory. */
"use strict";

/* Makes a file in memory twice as large when it is full. Emscripten adds an eighth each time, and copies large files too often. */
function growFilesFaster(FS) {
  FS.writeFile("/files/room", "");
  const operations = FS.lookupPath("/files/room").node.stream_ops;
  const { write } = operations;
  operations.write = (stream, buffer, offset, length, position, canOwn) => {
    const { node } = stream;
    const room = node.contents && node.contents.subarray ? node.contents.length : 0;
    if (room >= 1 << 20 && position + length > room) {
      const contents = new Uint8Array(Math.max(position + length, 2 * room));
      contents.set(node.contents.subarray(0, node.usedBytes));
      node.contents = contents;
    }
    return write(stream, buffer, offset, length, position, canOwn);
  };
  FS.unlink("/files/room");
}

async function kindredRun(createKindred, job, onProgress) {
  const output = [[], []];
  const collect = (list) => (byte) => { if (byte !== null) list.push(byte < 0 ? byte + 256 : byte); };
  const text = (list) => new TextDecoder().decode(Uint8Array.from(list));
  let failed = null;
  const module = await new Promise((resolve, reject) => {
    createKindred({
      progress: onProgress,
      threads: job.threads - 1, // besides the first
      mainScriptUrlOrBlob: "kindred.js", // not loaded: kindredThread has it
      preRun: [(m) => {
        m.FS.init(() => null, collect(output[0]), collect(output[1]));
        if (m.ENV) m.ENV.OMP_NUM_THREADS = String(job.threads);
      }],
      printErr: (text) => { if (!text.startsWith("Blocking on the main thread")) console.error(text); }, // this is not the page's thread
      onAbort: (what) => { failed = what; },
      instantiateWasm(imports, receive) {
        WebAssembly.instantiate(job.module, imports).then((instance) => receive(instance, job.module), reject);
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
  makeFolder("/files");
  growFilesFaster(FS);
  for (const [path, bytes] of job.files) {
    makeFolder(path.slice(0, path.lastIndexOf("/")));
    FS.writeFile(path, bytes instanceof Uint8Array ? bytes : new Uint8Array(await bytes.arrayBuffer()), { canOwn: true });
  }
  FS.chdir("/files");
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
      else files.push([path, FS.readFile(path)]);
    }
  };
  gather("/out");
  return { code, stdout: text(output[0]), stderr: text(output[1]), files };
}

/* A thread of the module for several threads, with what emscripten uses of a browser's Worker. */
function kindredThread(text) {
  if (typeof importScripts === "function") return new Worker(URL.createObjectURL(new Blob([text], { type: "text/javascript" })));
  const { Worker: NodeWorker } = require("node:worker_threads");
  const worker = new NodeWorker(text, { eval: true });
  const thread = { postMessage: (message, move) => worker.postMessage(message, move), terminate: () => worker.terminate() };
  worker.on("message", (data) => thread.onmessage({ data }));
  worker.on("error", (error) => thread.onerror(error));
  return thread;
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
