/* What the sections share: elements, numbers as text, colours and shapes, tables, what is selected.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * All modules stand in one function, in the order of src/CMakeLists.txt. Text from the result reaches the page through
 * textContent alone; nothing is ever parsed as markup. */

const SVG = "http://www.w3.org/2000/svg";

/* el("p", {class: "note"}, "text", child, ...): attributes that are null or false are left out. */
function el(tag, attributes, ...children) {
  return build(document.createElement(tag), attributes, children);
}

function svg(tag, attributes, ...children) {
  return build(document.createElementNS(SVG, tag), attributes, children);
}

function build(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name === "css") for (const [k, v] of Object.entries(value)) node.style.setProperty(k, v);
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children.flat(3)) {
    if (child === null || child === undefined || child === false) continue;
    node.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
  return node;
}

/* --- numbers and words ------------------------------------------------------------------------------ */

const isNumber = (v) => typeof v === "number" && Number.isFinite(v);

function number(v, digits = 3) {
  if (!isNumber(v)) return "–";
  if (v === 0) return "0";
  const size = Math.abs(v);
  if (size >= 1e6 || size < 1e-4) {
    const [m, e] = v.toExponential(2).split("e");
    return `${Number(m)}×10${[...String(Number(e))].map((c) => "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"["-0123456789".indexOf(c)]).join("")}`.replace("-", "−");
  }
  if (Number.isInteger(v)) return count(v);
  return v.toFixed(size >= 100 ? 1 : size >= 10 ? 2 : digits).replace("-", "−");
}

const count = (n) => isNumber(n) ? String(n).replace(/\B(?=(\d{3})+(?!\d))/g, ",") : "–";
const percent = (v) => isNumber(v) ? (v > 0 && v < 0.005 ? "<1 %" : `${Math.round(100 * v)} %`) : "–";
const plural = (n, one, many) => `${count(n)} ${n === 1 ? one : many || one + "s"}`;
const sum = (list) => { let s = 0; for (const v of list) s += v; return s; };
const share = (v) => isNumber(v) ? v.toFixed(2).replace("-", "−") : "–"; /* confidences and the like, all of one width */
const listed = (items) => items.length < 2 ? items.join("") : `${items.slice(0, -1).join(", ")} and ${items[items.length - 1]}`;

function seconds(s) {
  if (!isNumber(s)) return "–";
  if (s < 1) return `${Math.round(1000 * s)} ms`;
  if (s < 90) return `${s.toFixed(s < 10 ? 1 : 0)} s`;
  return s < 5400 ? `${Math.round(s / 60)} min` : `${(s / 3600).toFixed(1)} h`;
}

function bytes(b) {
  if (!isNumber(b)) return "–";
  const unit = b >= 1e9 ? [1e9, "GB"] : b >= 1e6 ? [1e6, "MB"] : [1e3, "kB"];
  return `${(b / unit[0]).toFixed(b / unit[0] < 10 ? 1 : 0)} ${unit[1]}`;
}

/* A value of any kind, for tables. */
function shown(v) {
  if (v === null || v === undefined) return "–";
  if (Array.isArray(v)) return v.map(shown).join(", ");
  if (typeof v === "object") return JSON.stringify(v);
  return typeof v === "number" ? number(v, 4) : v === true ? "yes" : v === false ? "no" : String(v);
}

/* --- colours and shapes: twelve and seven, so that 84 clusters differ in one of both --------------------- */

const dark = matchMedia("(prefers-color-scheme: dark)");
const PALETTE = {
  light: ["#0072b2", "#d55e00", "#00875f", "#b4508c", "#b37a00", "#3a86c8", "#7a6a00", "#5d3a9b", "#c2185b", "#44515e", "#7d4527", "#008c9e"],
  dark: ["#56a9e8", "#ff8a4c", "#2cc79b", "#ee9ccb", "#f3b73e", "#9ad5f7", "#e0d95a", "#b79bf2", "#ff7d9c", "#c6d0da", "#d9a27c", "#5fd6e3"],
};
const SCALE = {
  light: ["#b3123f", "#d95f30", "#b98a1d", "#4f8f6b", "#1f6f9c"],
  dark: ["#ff6b8a", "#ff9d66", "#e9c452", "#7fcf9f", "#6fbdf0"],
};
const scheme = () => dark.matches && !printing ? "dark" : "light";
let printing = false;
const hue = (c) => c < 0 ? (scheme() === "dark" ? "#8a94a0" : "#7a828c") : PALETTE[scheme()][c % PALETTE.light.length];
const step = (v) => Math.max(0, Math.min(4, Math.floor(v * 5)));
const SHAPES = [
  "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z", "M-3.6 -3.6h7.2v7.2h-7.2z", "M0 -4.6L4.4 3.4H-4.4z", "M0 -5L5 0L0 5L-5 0z",
  "M-1.5 -4.6h3v3.1h3.1v3h-3.1v3.1h-3v-3.1h-3.1v-3h3.1z", "M0 4.6L4.4 -3.4H-4.4z",
  "M-4.2 -2.2L-2.2 -4.2L0 -2L2.2 -4.2L4.2 -2.2L2 0L4.2 2.2L2.2 4.2L0 2L-2.2 4.2L-4.2 2.2L-2 0z",
];
const shape = (c) => SHAPES[c < 0 ? 0 : c % 7];

/* A mark of colour and shape; restyled when the scheme changes. */
function mark(c, colour) {
  const path = svg("path", { d: shape(c) });
  const paint = () => { path.style.fill = colour ? colour() : hue(c); };
  paint();
  repaint.push(tagged(paint));
  return svg("svg", { class: "mark", viewBox: "-6 -6 12 12", "aria-hidden": "true" }, path);
}

const repaint = [];

/* Parts of the page that are drawn again when labels change. What a part subscribes to is forgotten when it is drawn anew; a comment
 * marks its place. */
const parts = new Map();
let partNow = null;
const tagged = (f) => { f.part = partNow; return f; };
function drawPart(id, draw) {
  const page = document.getElementById("page");
  if (!parts.has(id)) {
    parts.set(id, { draw, anchor: document.createComment(id), nodes: [] });
    page.append(parts.get(id).anchor);
  }
  const part = parts.get(id), of = (f) => f.part !== id;
  for (const node of part.nodes) node.remove();
  part.nodes = [];
  for (const list of [repaint, highlight.watchers]) list.splice(0, list.length, ...list.filter(of));
  partNow = id;
  try { part.draw(); } finally { partNow = null; }
}
dark.addEventListener("change", () => repaint.forEach((f) => f()));

/* Colours that follow the scheme: paint(node, "background-color", () => hue(3)). */
function paint(node, property, colour) {
  const put = () => node.style.setProperty(property, colour());
  put();
  repaint.push(tagged(put));
  return node;
}

/* --- the cluster that is selected, everywhere at once: what the store (selection.js) has, if it is one cluster ---- */

const highlight = { number: null, next: null, watchers: [] };

/* Selects the samples of a cluster, or clears the selection if they are selected already. */
function select(c, e) {
  if (highlight.number === c && howOf(e) === "replace") store.clear();
  else {
    highlight.next = howOf(e) === "replace" || !store.count ? c : null;
    store.combine(howOf(e), samplesOf(modes.cluster, c), nameOf(c));
  }
  say(highlight.number === null ? (store.count ? `${plural(store.count, "sample")} selected.` : "All clusters are shown.") : `${nameOf(highlight.number)} is highlighted: ${plural(store.count, "sample")} selected.`);
}

/* Called by the store. */
function followSelection(part) {
  if (!(part & store.SELECTION)) return;
  highlight.number = highlight.next;
  highlight.next = null;
  for (const f of highlight.watchers) f(highlight.number);
}

const watch = (f) => { highlight.watchers.push(tagged(f)); f(highlight.number); };

/* A button that highlights a cluster; `inside` is what it shows. */
function chooser(c, attributes, ...inside) {
  const b = el("button", { type: "button", ...attributes, "data-cluster": c, onclick: (e) => select(c, e) }, inside);
  watch((now) => {
    b.setAttribute("aria-pressed", String(now === c));
    b.classList.toggle("faded", now !== null && now !== c);
  });
  return b;
}

/* For screen readers: what has just happened. */
const live = el("p", { class: "unseen", role: "status", "aria-live": "polite", id: "live" });
function say(words) { live.textContent = words; }

/* --- tables and sections ------------------------------------------------------------------------------------ */

/* Columns: {title, num, words}. Rows: arrays of text, nodes, or {head: text} for a row's title. */
function table(columns, rows, attributes) {
  const cell = (v, i) => v && v.head !== undefined
    ? el("th", { scope: "row" }, v.head)
    : el("td", { class: columns[i].num ? "num" : columns[i].words ? "words" : null }, v);
  return el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": (attributes || {}).label || "Table" },
    el("table", { "aria-label": (attributes || {}).label },
      el("thead", {}, el("tr", {}, columns.map((c) => el("th", { scope: "col", class: c.num ? "num" : null }, c.title)))),
      el("tbody", {}, rows.map((r) => el("tr", {}, r.map(cell))))),
    csvButton(columns, (attributes || {}).all || rows, (attributes || {}).label || "Table"));
}

/* The table behind a picture. */
function behind(title, columns, rows) {
  return el("details", { class: "behind" }, el("summary", {}, title), table(columns, rows, { label: title }));
}

/* The same where the table takes time: it is made when it is first opened. */
function behindLazily(title, make) {
  const node = el("details", { class: "behind" }, el("summary", {}, title));
  node.addEventListener("toggle", () => { if (node.open && node.children.length === 1) node.append(make()); });
  return node;
}

function section(id, title, ...children) {
  const node = el("section", { id, "aria-labelledby": `${id}-title` }, el("h2", { id: `${id}-title` }, title), children);
  if (partNow === null) document.getElementById("page").append(node);
  else {
    parts.get(partNow).anchor.before(node);
    parts.get(partNow).nodes.push(node);
  }
  return node;
}

/* Paged rows of a long list: `row(i)` gives the cells of item i. */
function pages(columns, total, row, label, size = 25) {
  const place = el("div"), where = el("span", { "aria-live": "polite" });
  let at = 0;
  const go = (to) => {
    at = Math.max(0, Math.min(to, Math.max(0, total - 1)));
    at -= at % size;
    const end = Math.min(total, at + size), rows = [];
    for (let i = at; i < end; i++) rows.push(row(i));
    place.replaceChildren(table(columns, rows, { label, all: () => Array.from({ length: total }, (_, i) => row(i)) }));
    where.textContent = total ? `${count(at + 1)} to ${count(end)} of ${count(total)}` : "none";
    back.disabled = at === 0;
    on.disabled = end >= total;
  };
  const back = el("button", { type: "button", onclick: () => go(at - size) }, "Back");
  const on = el("button", { type: "button", onclick: () => go(at + size) }, "Next");
  go(0);
  return el("div", {}, place, total > size ? el("p", { class: "pages" }, back, " ", on, " ", where) : null);
}
