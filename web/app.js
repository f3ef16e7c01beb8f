/* The page that runs kindred in a browser. SPDX-License-Identifier: BSD-3-Clause */
"use strict";

const find = (id) => document.getElementById(id);
const make = (tag, properties = {}, ...children) => {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
};

/* Each: {id, name, input, description, error, reading, use, role, kinds: {column: kind}, na: [text]}. */
const sets = [];
let nextId = 1;
let running = null; // an AbortController
let urls = [];
let mapChosen = false; // by the user

const readable = /\.(csv|tsv|tab|txt|xlsx|xlsm|ods|mtx|npy|npz|h5|h5ad|hdf5|mat|svm|libsvm|jsonl|ndjson)(\.gz)?$/i;

function show(id, text) {
  const box = find(id);
  box.hidden = !text;
  box.textContent = text || "";
}

/* --- files ------------------------------------------------------------------------------------------------------------------ */

/* A list of {path, file}. Files of one folder that no reader takes alone are texts, or the parts of a 10x matrix: one data set. */
function addFiles(list) {
  show("message", "");
  const kept = list.filter(({ path }) => !/(^|\/)\./.test(path) && !/\.(labels|ids|excerpts)$/.test(path));
  const folders = new Map();
  for (const each of kept) {
    const slash = each.path.indexOf("/");
    if (slash < 0) addSet({ name: each.file.name, input: each.file });
    else {
      const top = each.path.slice(0, slash);
      if (!folders.has(top)) folders.set(top, []);
      folders.get(top).push({ path: each.path.slice(slash + 1), file: each.file });
    }
  }
  for (const [top, files] of folders) {
    const tables = files.filter(({ path }) => readable.test(path) && !/\.txt$/i.test(path));
    const tenx = files.some(({ path }) => /^matrix\.mtx(\.gz)?$/.test(path)) && files.some(({ path }) => /^barcodes\.tsv/.test(path));
    if (tables.length > 0 && !tenx) tables.forEach(({ file }) => addSet({ name: file.name, input: file }));
    else addSet({ name: top, input: { name: top, files: Object.fromEntries(files.map(({ path, file }) => [path, file])) }, folder: true });
  }
  if (kept.length === 0) show("message", "There are no files in this folder.");
}

function addSet(set) {
  sets.push({ id: nextId++, use: true, role: "target", kinds: {}, na: [], ...set });
  describe(sets.at(-1));
  render();
}

/* --columns for the corrections of some data sets. */
function corrections(list) {
  const parts = new Map();
  for (const set of list)
    for (const [name, kind] of Object.entries(set.kinds))
      if (kind) parts.set(name, kind === "skip" ? "-" + quoted(name) : kind === "use" ? "+" + quoted(name) : `${quoted(name)}:${kind}`);
  return parts.size > 0 ? [...parts.values()].join(",") : undefined;
}
const quoted = (name) => (/[,:"+-]/.test(name) ? `"${name.replace(/"/g, '""')}"` : name);

async function describe(set) {
  if (set.reading) set.reading.abort();
  const reading = new AbortController();
  set.reading = reading;
  render();
  try {
    const columns = corrections([set]);
    const found = await kindred.inspect([set.input], { missing: "keep", columns, na: set.na, signal: reading.signal });
    if (set.reading !== reading) return;
    const [description] = found.tasks;
    set.error = found.error;
    set.description = description;
    if (!set.original && !found.error) set.original = description;
  } catch (error) {
    if (error.name === "AbortError") return;
    set.error = error.message;
    set.description = null;
  }
  set.reading = null;
  render();
}

/* --- what was detected ------------------------------------------------------------------------------------------------------ */

const kinds = ["number", "category", "date", "dmy", "mdy", "id", "text"];

function columnTable(set) {
  const rows = (set.description.columns || []).slice(0, 500).map((column) => {
    const select = make("select", { ariaLabel: `Kind of ${column.name}` });
    select.append(make("option", { value: "", textContent: set.kinds[column.name] ? "as detected" : column.kind }));
    for (const kind of [...kinds, "skip"])
      if (kind !== column.kind || set.kinds[column.name]) select.append(make("option", { value: kind, textContent: kind, selected: set.kinds[column.name] === kind }));
    select.onchange = () => { set.kinds[column.name] = select.value; describe(set); };
    return make("tr", {}, make("th", { scope: "row", textContent: column.name }), make("td", {}, select),
      make("td", { className: "num", textContent: column.missing || "" }), make("td", { textContent: column.constant ? "constant" : column.why }));
  });
  if (rows.length === 0) return "";
  const more = set.description.columns.length - rows.length;
  return make("div", {},
    make("div", { className: "scroll", tabIndex: 0 }, make("table", {},
      make("thead", {}, make("tr", {}, ...["column", "kind", "missing", "notes"].map((text) => make("th", { scope: "col", textContent: text })))),
      make("tbody", {}, ...rows))),
    more > 0 ? make("p", { className: "note", textContent: `and ${more} more columns` }) : "");
}

function setCard(set) {
  const transfer = job() === "transfer";
  const description = set.description;
  const card = make("div", { className: "set" });
  card.dataset.name = set.name;
  const remove = make("button", { type: "button", textContent: "Remove", ariaLabel: `Remove ${set.name}` });
  remove.onclick = () => { if (set.reading) set.reading.abort(); sets.splice(sets.indexOf(set), 1); render(); };
  const controls = make("span", {});
  if (transfer) {
    const role = make("select", { ariaLabel: `Role of ${set.name}` });
    for (const [value, text] of [["source", "labelled source"], ["target", "to be labelled"], ["bridge", "bridge"], ["", "not used"]])
      role.append(make("option", { value, textContent: text, selected: value === (set.use ? set.role : "") }));
    role.onchange = () => { set.use = role.value !== ""; set.role = role.value || "target"; render(); };
    controls.append(role, " ");
  } else {
    const use = make("input", { type: "checkbox", checked: set.use });
    use.onchange = () => { set.use = use.checked; render(); };
    controls.append(make("label", {}, use, " use "));
  }
  controls.append(remove);
  card.append(make("div", { className: "set-head" }, make("h3", { textContent: set.name }), controls));
  if (set.reading && !description) card.append(make("p", { className: "note", textContent: "Reading ..." }));
  if (description && description.rows !== undefined)
    card.append(make("p", { className: "shape", textContent: `${number(description.rows)} samples, ${number(description.cols)} features` +
      (description.sparse ? `, sparse (${(100 * description.density).toPrecision(2)} % are not zero)` : "") +
      missingText(description) }));
  if (set.error) card.append(make("div", { className: "fatal", textContent: fatalText(set) }), make("p", {}, ...repairs(set)));
  if (description && description.columns) card.append(columnTable(set));
  const other = description ? (description.problems || []).filter((each) => !each.fatal && !/^column \d+ \(|missing value|negative/.test(each.found)) : [];
  if (other.length > 0)
    card.append(make("div", { className: "problems" }, make("ul", {}, ...other.slice(0, 20).map((each) => make("li", { textContent: `${each.found}: ${each.then}` })))));
  return card;
}

function missingText({ columns, nonfinite }) {
  const count = columns ? columns.reduce((sum, column) => sum + column.missing, 0) : nonfinite;
  return count > 0 ? `, ${number(count)} missing value${count === 1 ? "" : "s"}` : "";
}

const number = (value) => Number(value).toLocaleString("en");

function fatalText(set) {
  const fatal = set.description ? (set.description.problems || []).filter((each) => each.fatal) : [];
  if (fatal.length === 0) return set.error;
  return fatal.slice(0, 20).map((each) => `${set.name}: ${each.found}\n    ${each.then}`).join("\n");
}

/* The options that a message recommends, as buttons. */
function repairs(set) {
  const list = [];
  const add = (text, change) => {
    const button = make("button", { type: "button", textContent: text });
    button.onclick = () => { change(); describe(set); };
    if (!list.some((each) => each.textContent === text)) list.push(button);
  };
  for (const { then } of (set.description && set.description.problems) || []) {
    const na = /--na '([^']*)'/.exec(then);
    const column = /--columns '([^':,"]*):category'/.exec(then);
    if (na) add(`Treat '${na[1]}' as missing`, () => set.na.push(na[1]));
    if (column) add(`Treat ${column[1]} as a category`, () => { set.kinds[column[1]] = "category"; });
    if (column) add(`Skip ${column[1]}`, () => { set.kinds[column[1]] = "skip"; });
  }
  return list.flatMap((each) => [each, " "]);
}

const job = () => document.querySelector("input[name=job]:checked").value;
const used = () => sets.filter((set) => set.use);

function fillColumns(id, none) {
  const select = find(id);
  const before = select.value;
  const names = new Set(used().flatMap((set) => (set.original && set.original.columns ? set.original.columns.map((column) => column.name) : [])));
  select.replaceChildren(make("option", { value: "", textContent: none }), ...[...names].slice(0, 2000).map((name) => make("option", { value: name, textContent: name })));
  select.value = names.has(before) ? before : "";
}

function render() {
  find("sets").replaceChildren(...sets.map(setCard));
  find("clear-line").hidden = sets.length === 0;
  find("job").hidden = sets.length === 0;
  fillColumns("label-column", "none");
  fillColumns("task-column", "none: do not split");
  for (const element of document.querySelectorAll(".for-cluster")) element.hidden = job() !== "cluster";
  if (!mapChosen) find("map").checked = used().reduce((sum, set) => sum + ((set.description && set.description.rows) || 0), 0) <= 50000;
  find("run").disabled = running !== null || used().length === 0;
  find("cancel").hidden = running === null;
  find("progress").hidden = running === null;
}

/* --- methods ---------------------------------------------------------------------------------------------------------------- */

let allMethods = null;

async function fillMethods() {
  allMethods = allMethods || await kindred.methods();
  const family = job();
  const list = allMethods.filter((each) => each.family === family && !["auto", "auto-transfer"].includes(each.id));
  const before = find("method").value;
  find("method").replaceChildren(make("option", { value: "", textContent: "auto (several methods vote)" }),
    ...list.map((each) => make("option", { value: each.id, textContent: `${each.id}: ${each.title}` })));
  find("method").value = list.some((each) => each.id === before) ? before : "";
}

/* --- running ---------------------------------------------------------------------------------------------------------------- */

async function start() {
  show("job-message", "");
  const chosen = used();
  const options = { report: find("map").checked, signal: null, onProgress: progress };
  options.columns = corrections(chosen);
  options.na = [...new Set(chosen.flatMap((set) => set.na))];
  for (const [name, id] of [["labelColumn", "label-column"], ["taskColumn", "task-column"], ["missing", "missing"], ["method", "method"], ["seed", "seed"]])
    if (find(id).value !== "") options[name] = find(id).value;
  if (job() === "cluster") options.k = find("k").value.trim() || "auto";
  running = new AbortController();
  options.signal = running.signal;
  find("bar").removeAttribute("value");
  find("stage").textContent = "starting";
  find("result").hidden = true;
  render();
  try {
    const withModel = canPredict(options.method);
    const result = await runJob(chosen, { ...options, model: withModel });
    if (!result.html) {
      result.html = await kindred.report(result, { signal: options.signal });
      result.files["report.html"] = new TextEncoder().encode(result.html);
    }
    showResult(result);
  } catch (error) {
    show("job-message", error.name === "AbortError" ? "Cancelled." : message(error));
  }
  running = null;
  render();
}

function canPredict(method) {
  const found = (allMethods || []).find((each) => each.id === (method || (job() === "cluster" ? "auto" : "auto-transfer")));
  return !!found && found.capabilities.includes("predict") && !/-/.test(find("k").value);
}

function message(error) {
  if (/memory/i.test(error.message) && error.code === 1)
    return `${error.message}\nA page can use at most 4 GB. Use fewer samples or features, another method, or the program on the command line.`;
  return error.message;
}

function runJob(chosen, options) {
  const input = (set) => set.input;
  if (job() === "cluster") return kindred.cluster(chosen.map(input), options);
  const of = (role) => chosen.filter((set) => set.role === role).map(input);
  if (of("source").length === 0) throw new Error("Choose a labelled source: set the role of a data set to 'labelled source'.");
  if (of("target").length === 0) throw new Error("Choose a data set to be labelled: set the role of a data set to 'to be labelled'.");
  if (!options.labelColumn) throw new Error("Choose the column with the known classes of the source.");
  return kindred.transfer({ source: of("source"), target: of("target"), ...(of("bridge").length > 0 ? { bridge: of("bridge") } : {}) }, options);
}

function progress({ stage, fraction, seconds, remaining, atMost }) {
  if (Number.isFinite(fraction)) find("bar").value = fraction;
  else find("bar").removeAttribute("value");
  find("stage").textContent = `${stage}, ${seconds.toFixed(1)} s` +
    (Number.isFinite(remaining) ? `, ${atMost ? "at most" : "about"} ${Math.ceil(remaining)} s left` : "");
}

/* --- result ----------------------------------------------------------------------------------------------------------------- */

function download(name, bytes, type) {
  const url = URL.createObjectURL(new Blob([bytes], { type }));
  urls.push(url);
  return make("a", { href: url, download: name, className: "download" }, make("button", { type: "button", tabIndex: -1, textContent: name }));
}

const types = { html: "text/html", json: "application/json", csv: "text/csv", labels: "text/plain" };

function showResult(result) {
  urls.forEach((url) => URL.revokeObjectURL(url));
  urls = [];
  const entries = Object.entries(result.files);
  find("downloads").replaceChildren(
    ...entries.map(([name, bytes]) => download(name, bytes, types[name.split(".").at(-1)] || "application/octet-stream")),
    download("kindred.zip", kindred.zip(entries), "application/zip"));
  find("summary").textContent = [...result.warnings.map((text) => `warning: ${text}`), result.summary].join("\n");
  find("report").srcdoc = result.html;
  find("result").hidden = false;
  find("result").scrollIntoView();
}

/* --- examples --------------------------------------------------------------------------------------------------------------- */

const examples = {
  customers: { args: ["generate", "--design", "tables", "--tasks", "3", "-k", "4", "-n", "200"], k: "4" },
  points: { args: ["generate", "--tasks", "2", "-k", "3", "-n", "150"], k: "3" },
  labels: { args: ["generate", "--tasks", "2", "-k", "3", "-n", "120"], transfer: true },
};

async function example(name) {
  show("message", "");
  const { args, k, transfer } = examples[name];
  sets.splice(0);
  render();
  const { files } = await kindred.command([...args, "-o", "/out"]);
  sets.splice(0);
  for (const [file, bytes] of Object.entries(files).filter(([each]) => each.endsWith(".csv")).sort()) {
    const labels = files[file.replace(/csv$/, "labels")];
    const source = transfer && sets.length === 0;
    addSet({ name: file, input: { name: file, bytes: source ? withColumn(bytes, labels) : bytes }, role: source ? "source" : "target" });
  }
  document.querySelector(`input[value=${transfer ? "transfer" : "cluster"}]`).click();
  if (k) find("k").value = k;
  if (transfer) { // once the columns are known
    while (sets.length > 0 && sets[0].reading) await new Promise((resolve) => setTimeout(resolve, 50));
    find("label-column").value = "class";
  }
}

/* A table with its labels as a last column. */
function withColumn(bytes, labels) {
  const split = (data) => new TextDecoder().decode(data).trimEnd().split("\n");
  const classes = ["class", ...split(labels)];
  return new TextEncoder().encode(split(bytes).map((line, i) => `${line},${classes[i]}\n`).join(""));
}

/* --- events ----------------------------------------------------------------------------------------------------------------- */

async function entriesOf(items) {
  const list = [];
  const walk = async (entry, prefix) => {
    if (entry.isFile) list.push({ path: prefix + entry.name, file: await new Promise((resolve, reject) => entry.file(resolve, reject)) });
    else {
      const reader = entry.createReader();
      for (;;) {
        const part = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
        if (part.length === 0) break;
        for (const each of part) await walk(each, `${prefix}${entry.name}/`);
      }
    }
  };
  for (const entry of items.map((item) => item.webkitGetAsEntry && item.webkitGetAsEntry()).filter(Boolean)) await walk(entry, "");
  return list;
}

const drop = find("drop");
for (const target of [document.body]) {
  target.addEventListener("dragover", (event) => { event.preventDefault(); drop.classList.add("over"); });
  target.addEventListener("dragleave", () => drop.classList.remove("over"));
  target.addEventListener("drop", async (event) => {
    event.preventDefault();
    drop.classList.remove("over");
    const files = [...event.dataTransfer.files];
    const list = await entriesOf([...event.dataTransfer.items]);
    addFiles(list.length > 0 ? list : files.map((file) => ({ path: file.name, file })));
  });
}
find("choose").onclick = () => find("file-input").click();
find("choose-folder").onclick = () => find("folder-input").click();
for (const id of ["file-input", "folder-input"])
  find(id).onchange = (event) => {
    addFiles([...event.target.files].map((file) => ({ path: file.webkitRelativePath || file.name, file })));
    event.target.value = "";
  };
find("clear").onclick = () => { sets.forEach((set) => set.reading && set.reading.abort()); sets.splice(0); find("result").hidden = true; render(); };
find("map").onchange = () => { mapChosen = true; };
find("run").onclick = start;
find("cancel").onclick = () => running && running.abort();
find("enlarge").onclick = () => find("enlarge").setAttribute("aria-pressed", document.body.classList.toggle("full"));
for (const button of document.querySelectorAll("[data-example]"))
  button.onclick = () => example(button.dataset.example).catch((error) => show("message", error.message));
for (const radio of document.querySelectorAll("input[name=job]")) radio.onchange = () => { render(); fillMethods(); };

render();
if (self.crossOriginIsolated && location.protocol.startsWith("http")) document.head.append(make("script", { src: "kindred-threads-wasm.js" }));
fillMethods().then(() => document.body.classList.add("ready"), (error) => show("message", `This browser cannot run kindred: ${error.message}`));
if ("serviceWorker" in navigator && location.protocol.startsWith("http"))
  navigator.serviceWorker.register("service-worker.js").then(
    () => { find("offline").textContent = "This page also works offline."; }, () => {});
