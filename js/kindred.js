/* kindred for JavaScript. SPDX-License-Identifier: BSD-3-Clause
 *
 * Every function writes its data sets into the memory of a WebAssembly module, runs a command of the program there, and reads the
 * files that the command has written. tools/wasm_package.mjs wraps this text as an ES module, as CommonJS and as a script, and
 * defines loadModule, hasThreads, workerText, threadedText and isNode. */

/* An error of the program. `code` is its exit status: 2 usage, 3 data, 4 numerical breakdown, 1 other. */
class KindredError extends Error {
  constructor(message, code) {
    super(message);
    this.name = "KindredError";
    this.code = code;
  }
}

const settings = { worker: true, wasm: null, threadsWasm: null };

/* Sets whether jobs run in a worker, and where the two WebAssembly modules are: bytes, a compiled module or a URL each. */
function configure(options) {
  for (const name of Object.keys(options)) {
    if (!(name in settings)) throw new TypeError(`configure: unknown setting '${name}'; use ${Object.keys(settings).join(", ")}`);
    settings[name] = options[name];
    if (name !== "worker") compiled.delete(name);
  }
}

const compiled = new Map();

function compile(name) {
  if (!compiled.has(name)) {
    const from = settings[name];
    let module;
    if (from instanceof WebAssembly.Module) module = Promise.resolve(from);
    else if (from instanceof Uint8Array || from instanceof ArrayBuffer) module = WebAssembly.compile(from);
    else if (from) module = fetch(from).then((response) => response.arrayBuffer()).then((bytes) => WebAssembly.compile(bytes));
    else module = loadModule(name === "threadsWasm");
    module.catch(() => compiled.delete(name));
    compiled.set(name, module);
  }
  return compiled.get(name);
}

/* --- running ------------------------------------------------------------------------------------------------------------------ */

function abortError(signal) {
  return signal.reason instanceof Error ? signal.reason : new DOMException("The job was cancelled", "AbortError");
}

/* How many threads a job uses. Threads need memory that is shared, which browsers give only to isolated pages; to start them takes
 * longer than a small job. */
const manyBytes = 1e6;

async function threadsOf(args, files, wanted) {
  if (typeof SharedArrayBuffer !== "function" || !(isNode || globalThis.crossOriginIsolated)) return 1;
  if (!settings.threadsWasm && (settings.wasm || !hasThreads())) return 1;
  if (!["cluster", "transfer"].includes(args[0])) return 1;
  if (wanted !== undefined) return Math.max(1, Math.min(Number(wanted) || 1, 64));
  const bytes = files.reduce((sum, [, each]) => sum + (each.byteLength || each.size || 0), 0);
  if (bytes < manyBytes) return 1;
  return Math.min(isNode ? (await import("node:os")).cpus().length : navigator.hardwareConcurrency || 1, 8);
}

async function startWorker(text, onMessage, onError) {
  if (isNode) {
    const { Worker } = await import("node:worker_threads");
    const worker = new Worker(text, { eval: true });
    worker.on("message", onMessage);
    worker.on("error", onError);
    return { post: (job) => worker.postMessage(job), stop: () => worker.terminate() };
  }
  const url = URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
  const worker = new Worker(url);
  worker.onmessage = (event) => onMessage(event.data);
  worker.onerror = (event) => onError(new Error(event.message || "the worker could not be started"));
  return { post: (job) => worker.postMessage(job), stop: () => { worker.terminate(); URL.revokeObjectURL(url); } };
}

async function execute(args, files, control) {
  const { signal, onProgress, worker: inWorker = settings.worker } = control;
  if (signal && signal.aborted) throw abortError(signal);
  const threads = inWorker ? await threadsOf(args, files, control.threads) : 1;
  const job = { args, files, threads, module: await compile(threads > 1 ? "threadsWasm" : "wasm") };
  if (!inWorker) {
    const [create, run] = new Function(workerText + "; return [createKindred, kindredRun];")();
    return run(create, job, onProgress);
  }
  let worker = null;
  let onAbort = null;
  try {
    return await new Promise((resolve, reject) => {
      if (signal) {
        onAbort = () => reject(abortError(signal));
        signal.addEventListener("abort", onAbort);
        if (signal.aborted) onAbort();
      }
      startWorker(threads > 1 ? threadedText : workerText, (message) => {
        if (message.progress) { if (onProgress) onProgress(message.progress); }
        else if (message.result) resolve(message.result);
        else if (threads > 1) resolve(execute(args, files, { ...control, threads: 1 })); // there is no memory to share
        else reject(new KindredError(message.error, 1));
      }, reject).then((started) => { worker = started; worker.post(job); }, reject);
    });
  } finally {
    if (signal) signal.removeEventListener("abort", onAbort);
    if (worker) worker.stop();
  }
}

/* Runs a command. The message of an error is what the program prints. */
async function run(args, files, control = {}, mayFail = false) {
  const done = await execute(args, files, control);
  const lines = done.stderr.replace(/[^\n]*\r\x1b\[K/g, "").split("\n").filter(Boolean).map((line) => line.replace(/^kindred: /, ""));
  const warnings = lines.filter((line) => line.startsWith("warning: ")).map((line) => line.slice("warning: ".length));
  const errors = hideFolders(lines.filter((line) => !line.startsWith("warning: ")).join("\n"));
  if (done.code !== 0 && !mayFail) throw new KindredError(errors || `the program ended with status ${done.code}`, done.code);
  return { code: done.code, errors, stdout: done.stdout, warnings: warnings.map(hideFolders), files: new Map(done.files) };
}

/* Files are in numbered folders, which nobody needs to see. */
function hideFolders(text) {
  return text.replace(/\/files\/in\/\d+\//g, "").replace(/\/files\//g, "");
}

/* --- options ------------------------------------------------------------------------------------------------------------------ */

const controls = new Set(["signal", "onProgress", "worker"]);

/* {topFeatures: 5, transfer: false, set: {a: 1}} as --top-features=5 --no-transfer --set=a=1. */
function flags(options, own = []) {
  const list = [];
  for (const [name, value] of Object.entries(options)) {
    if (controls.has(name) || own.includes(name) || value === undefined || value === null) continue;
    const flag = name === "k" ? "clusters" : name.replace(/[A-Z]/g, (letter) => "-" + letter.toLowerCase());
    if (value === true) list.push("--" + flag);
    else if (value === false) list.push("--no-" + flag);
    else if (name === "k" && Array.isArray(value)) list.push(`--${flag}=${value.join(",")}`);
    else if (Array.isArray(value)) value.forEach((each) => list.push(`--${flag}=${each}`));
    else if (typeof value === "object") Object.entries(value).forEach(([key, each]) => list.push(`--${flag}=${key}=${each}`));
    else list.push(`--${flag}=${value}`);
  }
  return list;
}

/* A module has at most 4 GB. Files are in its memory already, so that data sets do not stay on disk. */
function limits(options) {
  return [...(options.maxMemory === undefined ? ["--max-memory=4G"] : []), ...(options.stream === undefined ? ["--no-stream"] : [])];
}

function checkOptions(where, options) {
  if (options === null || typeof options !== "object") throw new TypeError(`${where}: the options must be an object`);
  return options;
}

/* --- data sets as files ------------------------------------------------------------------------------------------------------- */

const encoder = new TextEncoder();
const isBlob = (value) => typeof Blob !== "undefined" && value instanceof Blob; // which the worker reads
const isBytes = (value) => value instanceof Uint8Array || value instanceof ArrayBuffer || isBlob(value);
const bytesOf = (value) => (value instanceof Uint8Array || isBlob(value) ? value : new Uint8Array(value));
const lines = (list) => encoder.encode(list.map((each) => String(each).replace(/[\r\n]+/g, " ") + "\n").join(""));

const npyTypes = new Map([
  [Float64Array, "<f8"], [Float32Array, "<f4"], [Int32Array, "<i4"], [Uint32Array, "<u4"], [Int16Array, "<i2"], [Uint16Array, "<u2"],
  [Int8Array, "|i1"], [Uint8Array, "|u1"], [Uint8ClampedArray, "|u1"],
]);
if (typeof BigInt64Array !== "undefined") npyTypes.set(BigInt64Array, "<i8");

function toNpy(array, shape) {
  const type = npyTypes.get(array.constructor);
  if (!type) throw new TypeError(`the data must be a typed array of numbers, not ${array.constructor.name}`);
  let head = `{'descr': '${type}', 'fortran_order': False, 'shape': (${shape.join(", ")}${shape.length === 1 ? "," : ""}), }`;
  head = head.padEnd(Math.ceil((head.length + 11) / 64) * 64 - 11) + "\n";
  const bytes = new Uint8Array(10 + head.length + array.byteLength);
  bytes.set([0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59, 1, 0, head.length & 255, head.length >> 8]);
  bytes.set(encoder.encode(head), 10);
  bytes.set(new Uint8Array(array.buffer, array.byteOffset, array.byteLength), 10 + head.length);
  return bytes;
}

function fromNpy(bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const wide = bytes[6] > 1;
  const begin = wide ? 12 : 10;
  const length = wide ? view.getUint32(8, true) : view.getUint16(8, true);
  const head = new TextDecoder("latin1").decode(bytes.subarray(begin, begin + length));
  const type = /'descr': *'([^']*)'/.exec(head)[1];
  const shape = /'shape': *\(([^)]*)\)/.exec(head)[1].split(",").map((each) => each.trim()).filter(Boolean).map(Number);
  const buffer = bytes.slice(begin + length).buffer;
  if (type === "<i8") return { data: Float64Array.from(new BigInt64Array(buffer), Number), shape };
  const Type = [...npyTypes].find(([, name]) => name === type);
  if (!Type) throw new KindredError(`an array of the type ${type} cannot be read`, 1);
  return { data: new Type[0](buffer), shape };
}

function crc32(bytes) {
  if (!crc32.table) {
    crc32.table = Int32Array.from({ length: 256 }, (_, n) => {
      for (let bit = 0; bit < 8; bit++) n = n & 1 ? (n >>> 1) ^ 0xedb88320 : n >>> 1;
      return n;
    });
  }
  let sum = -1;
  for (let i = 0; i < bytes.length; i++) sum = crc32.table[(sum ^ bytes[i]) & 255] ^ (sum >>> 8);
  return ~sum >>> 0;
}

/* A zip archive without compression: what SciPy's sparse matrices are stored in. */
function toZip(members) {
  const parts = [];
  const directory = [];
  let offset = 0;
  for (const [name, bytes] of members) {
    const title = encoder.encode(name);
    const head = new DataView(new ArrayBuffer(26));
    const sum = crc32(bytes);
    [20, 0, 0, 0, 33].forEach((value, i) => head.setUint16(2 * i, value, true));
    head.setUint32(10, sum, true);
    head.setUint32(14, bytes.length, true);
    head.setUint32(18, bytes.length, true);
    head.setUint16(22, title.length, true);
    const fields = new Uint8Array(head.buffer);
    parts.push(Uint8Array.of(0x50, 0x4b, 3, 4), fields, title, bytes);
    const tail = new DataView(new ArrayBuffer(14));
    tail.setUint32(10, offset, true);
    directory.push(Uint8Array.of(0x50, 0x4b, 1, 2, 20, 0), fields, new Uint8Array(tail.buffer), title);
    offset += 4 + 26 + title.length + bytes.length;
  }
  const size = directory.reduce((sum, part) => sum + part.length, 0);
  const end = new DataView(new ArrayBuffer(22));
  end.setUint32(0, 0x06054b50, true);
  end.setUint16(8, members.length, true);
  end.setUint16(10, members.length, true);
  end.setUint32(12, size, true);
  end.setUint32(16, offset, true);
  const all = [...parts, ...directory, new Uint8Array(end.buffer)];
  const zip = new Uint8Array(offset + size + 22);
  let at = 0;
  for (const part of all) { zip.set(part, at); at += part.length; }
  return zip;
}

/* The members of such an archive. */
function fromZip(zip) {
  const view = new DataView(zip.buffer, zip.byteOffset, zip.byteLength);
  const members = new Map();
  let end = zip.length - 22;
  while (end >= 0 && view.getUint32(end, true) !== 0x06054b50) end--;
  let at = view.getUint32(end + 16, true);
  for (let count = view.getUint16(end + 10, true); count > 0; count--) {
    const size = view.getUint32(at + 20, true);
    const title = view.getUint16(at + 28, true);
    const name = new TextDecoder().decode(zip.subarray(at + 46, at + 46 + title));
    const local = view.getUint32(at + 42, true);
    const begin = local + 30 + view.getUint16(local + 26, true) + view.getUint16(local + 28, true);
    if (view.getUint16(at + 10, true) !== 0) throw new KindredError(`${name}: compressed members cannot be read`, 1);
    members.set(name, zip.subarray(begin, begin + size));
    at += 46 + title + view.getUint16(at + 30, true) + view.getUint16(at + 32, true);
  }
  return members;
}

/* A SciPy matrix; its format is an array of three bytes. */
function toNpz({ indptr, indices, values, shape }, where) {
  const integers = (array) => (ArrayBuffer.isView(array) ? array : Int32Array.from(array));
  if (!indptr || !indices || !values || !shape || shape.length !== 2)
    throw new TypeError(`${where}: sparse data need indptr, indices, values and shape`);
  const format = toNpy(Uint8Array.from("csr", (letter) => letter.charCodeAt(0)), [3]);
  const word = String.fromCharCode(...format).replace("'|u1'", "'|S3'").replace("(3,)", "()  ");
  return toZip([
    ["indices.npy", toNpy(integers(indices), [indices.length])],
    ["indptr.npy", toNpy(integers(indptr), [indptr.length])],
    ["format.npy", Uint8Array.from(word, (letter) => letter.charCodeAt(0))],
    ["shape.npy", toNpy(Int32Array.from(shape), [2])],
    ["data.npy", toNpy(ArrayBuffer.isView(values) ? values : Float64Array.from(values), [values.length])],
  ]);
}

const cell = (value) => {
  const text = value === null || value === undefined || Number.isNaN(value) ? "" : String(value);
  return /[",\r\n]|^\s|\s$/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
};

function fromCsv(text) {
  const rows = [];
  for (const line of text.match(/(?:"(?:[^"]|"")*"|[^"\n])+/g) || [])
    rows.push((line + ",").match(/("(?:[^"]|"")*"|[^",]*),/g).map((part) => part.slice(0, -1).replace(/^"([^]*)"$/, "$1").replace(/""/g, '"')));
  return rows;
}

function toCsv(rows, columns) {
  const names = columns || [...new Set(rows.flatMap((row) => Object.keys(row)))];
  return encoder.encode([names, ...rows.map((row) => names.map((name) => row[name]))].map((row) => row.map(cell).join(",") + "\n").join(""));
}

/* Writes a data set into files[] and returns its path. */
async function place(set, number, files, where) {
  if (set && set.file) set = { ...set.file, labels: set.labels, ids: undefined };
  if (!set || typeof set !== "object") throw new TypeError(`${where}: a data set must be an object such as {name, data, columns}`);
  const folder = `/files/in/${number}/`;
  const put = (name, bytes) => { files.push([folder + name, bytes]); return folder + name; };
  if (isBlob(set)) set = { name: set.name || `data${number + 1}`, bytes: set };
  if (set.files) { // a folder, such as one of texts
    for (const [name, bytes] of Object.entries(set.files)) put(`${set.name}/${name}`, bytesOf(bytes));
    return { path: folder + set.name, labels: null };
  }
  const name = String(set.name === undefined ? `task${number + 1}` : set.name);
  if (/[/\\\0]/.test(name) || name === "" || name === "." || name === "..") throw new TypeError(`${where}: '${name}' cannot be the name of a data set: it must not contain / or \\`);
  let path;
  if (isBytes(set.bytes)) {
    path = put(name, bytesOf(set.bytes));
  } else {
    const { data } = set;
    let columns = set.columns;
    if (Array.isArray(data) && data.length > 0 && !Array.isArray(data[0]) && typeof data[0] === "object" && !ArrayBuffer.isView(data[0])) {
      path = put(name + ".csv", toCsv(data, columns));
      columns = null;
    } else if (data && data.indptr) {
      path = put(name + ".npz", toNpz(data, where));
    } else if (Array.isArray(data) && data.length > 0 && data[0].length !== undefined) {
      const width = data[0].length;
      const flat = new Float64Array(data.length * width);
      data.forEach((row, i) => {
        if (row.length !== width) throw new TypeError(`${where}: row ${i + 1} of ${name} has ${row.length} values, the first row has ${width}`);
        flat.set(row, i * width);
      });
      path = put(name + ".npy", toNpy(flat, [data.length, width]));
    } else if (ArrayBuffer.isView(data) && !(data instanceof DataView)) {
      const width = typeof columns === "number" ? columns : columns ? columns.length : set.shape && set.shape[1];
      if (!width || data.length % width !== 0 || data.length === 0)
        throw new TypeError(`${where}: ${name} has ${data.length} values, which is not a multiple of its ${width || "unknown number of"} columns; give columns, a number or a list of names`);
      path = put(name + ".npy", toNpy(data, [data.length / width, width]));
    } else {
      throw new TypeError(`${where}: the data of ${name} must be a typed array, an array of rows, {indptr, indices, values, shape} or bytes of a file`);
    }
    if (Array.isArray(columns)) put("features.txt", lines(columns));
    if (set.ids) put(name + ".ids", lines(set.ids));
  }
  const labels = set.labels ? put("known.labels.txt", lines(set.labels)) : null;
  return { path: isBytes(set.bytes) ? path : `${name}=${path}`, labels };
}

async function placeAll(sets, files, where) {
  const list = Array.isArray(sets) ? sets : [sets];
  if (list.length === 0) throw new TypeError(`${where}: at least one data set is needed`);
  const placed = [];
  for (const set of list) placed.push(await place(set, files.count++, files, where));
  return placed;
}

function newFiles() {
  return Object.assign([], { count: 0 });
}

/* --- results ------------------------------------------------------------------------------------------------------------------ */

const integerLists = ["labels", "second", "before", "moved", "target_cluster"];
const realLists = ["confidence", "agreement", "unlike_source"];

/* Lists with one number per sample become typed arrays; null is NaN, or -1 in labels. Class names become indices into `classes`. */
function typed(task) {
  for (const name of ["path", "explained_by"]) if (task[name]) task[name] = hideFolders(task[name]);
  if (Array.isArray(task.labels) && task.labels.some((each) => typeof each === "string")) {
    const named = (list) => (list || []).filter((each) => typeof each === "string" && each !== "?");
    task.classes = [...new Set([...named(task.labels), ...named(task.second)])].sort();
    const index = new Map(task.classes.map((each, i) => [each, i]));
    for (const name of ["labels", "second"])
      if (Array.isArray(task[name])) task[name] = task[name].map((each) => (index.has(each) ? index.get(each) : null));
  }
  for (const name of integerLists)
    if (Array.isArray(task[name]) && task[name].every((each) => each === null || typeof each === "number"))
      task[name] = Int32Array.from(task[name], (each) => (each === null ? -1 : each));
  for (const name of realLists)
    if (Array.isArray(task[name])) task[name] = Float64Array.from(task[name], (each) => (each === null ? NaN : each));
  if (task.embedding && Array.isArray(task.embedding.x)) {
    task.embedding.x = Float64Array.from(task.embedding.x);
    task.embedding.y = Float64Array.from(task.embedding.y);
  }
  return task;
}

const decode = (bytes) => new TextDecoder().decode(bytes);

function resultOf(done) {
  const json = JSON.parse(decode(done.files.get("/out/result.json")));
  const result = { ...json, tasks: (json.tasks || []).map(typed), arrays: {}, files: {}, summary: done.stdout.replace(/\nwritten to [^\n]*\n$/, "\n") };
  for (const [path, bytes] of done.files) {
    const name = path.slice("/out/".length);
    if (name.startsWith("arrays/")) result.arrays[name.slice("arrays/".length, -".npy".length)] = fromNpy(bytes);
    else result.files[name] = bytes;
  }
  if (result.files["model.h5"]) result.model = result.files["model.h5"];
  if (result.files["report.html"]) result.html = decode(result.files["report.html"]);
  return result;
}

function outputs(options) {
  const list = ["--output=/out", "--progress"];
  if (options.arrays) list.push("--arrays=/out/arrays");
  if (options.model) list.push("--save-model=/out/model.h5");
  if (options.report) list.push("--report");
  return list;
}
const ownOptions = ["arrays", "model", "report", "init", "truth", "known", "into", "targetLabels", "explain"];

/* Lists of labels, one per data set, as files. */
function labelFiles(lists, name, files) {
  return lists.map((list, i) => {
    const path = `/files/in/${name}${i}.txt`;
    files.push([path, lines(list)]);
    return path;
  });
}

/* Options whose values are files of the program. */
function fileOptions(where, options, files) {
  const args = [];
  for (const name of ["init", "truth", "known"])
    if (options[name]) args.push(`--${name}=` + labelFiles(options[name], name, files).join(","));
  if (options.targetLabels) args.push("--target-labels=" + labelFiles([options.targetLabels], "target-labels", files)[0]);
  if (options.into) {
    files.push(["/files/in/into.h5", modelBytes(where, options.into)]);
    args.push("--into=/files/in/into.h5");
  }
  return args;
}

/* What explains each data set: texts, or a data set. A list of texts explains a single one. */
async function explaining(where, explain, files) {
  if (!explain) return [];
  const isText = (each) => typeof each === "string";
  const views = Array.isArray(explain) && !explain.every(isText) ? explain : [explain];
  const isTexts = (view) => Array.isArray(view) && view.every(isText);
  const sets = views.map((view, i) => (isTexts(view) ? { name: `explain${i + 1}`, data: view.map((text) => ({ text })) } : view));
  const paths = (await placeAll(sets, files, `${where}: explain`)).map((each) => each.path.slice(each.path.indexOf("/files/")));
  return ["--explain=" + paths.join(","), ...(views.some(isTexts) ? ["--text-column=text"] : [])];
}

function modelBytes(where, model) {
  const bytes = isBytes(model) ? bytesOf(model) : model && model.model;
  if (!bytes) throw new TypeError(`${where}: a model must be the bytes of a model file, or a result of cluster or transfer with {model: true}`);
  return bytes;
}

/* --- functions ---------------------------------------------------------------------------------------------------------------- */

async function cluster(sets, options = {}) {
  checkOptions("cluster", options);
  const files = newFiles();
  const placed = await placeAll(sets, files, "cluster");
  const args = ["cluster", ...limits(options), ...outputs(options), ...flags(options, ownOptions), ...fileOptions("cluster", options, files),
    ...(await explaining("cluster", options.explain, files))];
  return resultOf(await run([...args, "--", ...placed.map((each) => each.path)], files, options));
}

async function transfer({ source, target, bridge }, options = {}) {
  checkOptions("transfer", options);
  const files = newFiles();
  const args = ["transfer", ...limits(options), ...outputs(options), ...flags(options, ownOptions), ...fileOptions("transfer", options, files),
    ...(await explaining("transfer", options.explain, files))];
  for (const each of source || !options.into ? await placeAll(source, files, "transfer: source") : []) {
    args.push("--source=" + each.path);
    if (each.labels) args.push("--labels=" + each.labels);
  }
  const targets = (await placeAll(target, files, "transfer: target")).map((each) => each.path);
  if (bridge) for (const each of await placeAll(bridge, files, "transfer: bridge")) args.push("--bridge=" + each.path.slice(each.path.indexOf("/files/")));
  args.push(...(options.into ? ["--", ...targets] : targets.map((each) => "--target=" + each)));
  return resultOf(await run(args, files, options));
}

async function predict(model, set, options = {}) {
  checkOptions("predict", options);
  const files = newFiles();
  files.push(["/files/in/model.h5", modelBytes("predict", model)]);
  const placed = await placeAll(set, files, "predict");
  const args = ["predict", "--model=/files/in/model.h5", "--output=/out/", "--progress", ...limits(options), ...flags(options), "--", ...placed.map((each) => each.path)];
  const done = await run(args, files, options);
  const [path] = [...done.files.keys()].filter((each) => each.endsWith(".samples.csv"));
  const [head, ...rows] = fromCsv(decode(done.files.get(path)));
  const kind = head.includes("class") ? "class" : "cluster";
  const column = (name) => (head.includes(name) ? rows.map((row) => row[head.indexOf(name)]) : null);
  const classes = kind === "class" ? [...new Set([...column("class"), ...(column("second") || [])])].filter((each) => each !== "" && each !== "?").sort() : null;
  const numbers = (list) => Int32Array.from(list, (each) => (classes ? classes.indexOf(each) : each === "" ? -1 : Number(each)));
  const task = { name: path.slice("/out/".length, -".samples.csv".length), n: rows.length, labels: numbers(column(kind)), classes };
  if (column("confidence")) task.confidence = Float64Array.from(column("confidence"), (each) => (each === "" ? NaN : Number(each)));
  if (column("second")) task.second = numbers(column("second"));
  const written = Object.fromEntries([...done.files].map(([name, each]) => [name.slice("/out/".length), each]));
  return { tasks: [task], warnings: done.warnings, files: written, arrays: {}, summary: done.stdout };
}

async function relate(sets, options = {}) {
  checkOptions("relate", options);
  const files = newFiles();
  const placed = await placeAll(sets, files, "relate");
  const done = await run(["relate", "--output=/out", "--progress", ...limits(options), ...flags(options), "--", ...placed.map((each) => each.path)], files, options);
  return resultOf(done);
}

async function embed(sets, options = {}) {
  checkOptions("embed", options);
  const files = newFiles();
  const placed = await placeAll(sets, files, "embed");
  const done = await run(["embed", "--to=npy", "--output=/out", "--progress", ...limits(options), ...flags(options), "--", ...placed.map((each) => each.path)], files, options);
  return [...done.files].filter(([path]) => path.endsWith(".npy")).map(([path, bytes]) => {
    const { data, shape } = fromNpy(bytes);
    const xy = data instanceof Float64Array ? data : Float64Array.from(data);
    return { name: path.slice("/out/".length).replace(/\.embedding\.npy$/, ""), xy, rows: shape[0] };
  });
}

/* What 'kindred inspect --json' prints about the files: columns and their kinds, missing values, problems. Files with fatal problems
 * are described too; `error` is then the program's message. */
async function inspect(sets, options = {}) {
  checkOptions("inspect", options);
  const files = newFiles();
  const placed = await placeAll(sets, files, "inspect");
  const done = await run(["inspect", "--json", ...limits(options), ...flags(options), "--", ...placed.map((each) => each.path)], files, options, true);
  if (done.code !== 0 && !done.stdout.trim().startsWith("{")) throw new KindredError(done.errors, done.code);
  const found = JSON.parse(done.stdout);
  for (const task of found.tasks || []) if (task.path) task.path = hideFolders(task.path);
  return { ...found, warnings: done.warnings, error: done.code === 0 ? null : done.errors };
}

async function read(bytes, name, options = {}) {
  checkOptions("read", options);
  if (typeof name !== "string" || !isBytes(bytes)) throw new TypeError("read: give the bytes of a file and its name, such as read(bytes, 'flowers.csv')");
  const files = newFiles();
  await placeAll([{ name, bytes }], files, "read");
  const control = { signal: options.signal, worker: options.worker, onProgress: options.onProgress };
  const inspected = await inspect([{ name, bytes }], options);
  if (inspected.error) {
    const fatal = inspected.tasks.flatMap((task) => task.problems || []).filter((each) => each.fatal).map((each) => each.found);
    throw new KindredError([`${name}: ${fatal[0] || inspected.error}`, ...fatal.slice(1)].join("\n"), 3);
  }
  const [description] = inspected.tasks;
  const to = description.sparse ? "npz" : "npy";
  const done = await run(["convert", ...limits(options), ...flags(options), "--", files[0][0], `/out/x.${to}`], files, control);
  const text = (path) => (done.files.has(path) ? decode(done.files.get(path)).replace(/\n$/, "").split("\n") : null);
  let data;
  if (description.sparse) {
    const members = fromZip(done.files.get("/out/x.npz"));
    const array = (member) => fromNpy(members.get(member + ".npy")).data;
    data = { indptr: array("indptr"), indices: array("indices"), values: array("data"), shape: [description.rows, description.cols] };
  } else {
    data = fromNpy(done.files.get("/out/x.npy")).data;
  }
  return {
    name: name.replace(/^.*[/\\]/, ""), rows: description.rows, cols: description.cols, data, columns: text("/out/features.txt") || description.cols,
    ids: text("/out/x.ids"), labels: text("/out/x.labels"), description, file: { name, bytes: bytesOf(bytes) },
  };
}

/* The HTML page of a result: text that is complete in itself. */
async function report(result, options = {}) {
  checkOptions("report", options);
  if (result && result.html) return result.html;
  const bytes = result && result.files ? result.files["result.json"] : null;
  if (!bytes) throw new TypeError("report: the argument must be a result of cluster, transfer, predict or relate");
  const done = await run(["report", "--output=/out/report.html", "/files/in/result.json"], [["/files/in/result.json", bytes]], options);
  return decode(done.files.get("/out/report.html"));
}

/* The methods with their options, as 'kindred methods --json' prints them. */
async function methods(options = {}) {
  return JSON.parse((await run(["methods", "--json"], [], options)).stdout);
}

/* Runs any command of the program. `files` maps names to bytes; what the command writes to /out comes back. */
async function command(args, files = {}, options = {}) {
  const done = await run(args.map(String), Object.entries(files).map(([name, bytes]) => ["/files/" + name, bytesOf(bytes)]), options);
  return { stdout: done.stdout, warnings: done.warnings, files: Object.fromEntries([...done.files].map(([path, bytes]) => [path.slice("/out/".length), bytes])) };
}

const kindredApi = { cluster, transfer, predict, relate, embed, inspect, read, report, methods, command, configure, KindredError };
