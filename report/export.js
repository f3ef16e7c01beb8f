/* Export: ids of the selection, the map as SVG and PNG, tables as CSV, a link to the view. SPDX-License-Identifier: BSD-3-Clause */

const VECTOR_MOST = 20000; /* points of an SVG; more are a picture in it */

/* --- tables ----------------------------------------------------------------------------------------------------------------- */

const fileName = (words, ending) => `${String(words).toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "").slice(0, 60) || "table"}.${ending}`;
/* The text of a cell: words, a node, or {head}. */
const cellText = (v) => v === null || v === undefined ? "" : v.head !== undefined ? cellText(v.head) : v instanceof Node ? v.textContent : Array.isArray(v) ? v.map(cellText).join("") : String(v);

/* A button below a table. `rows`: those shown, or a function that gives all of a paged one. */
function csvButton(columns, rows, label) {
  return el("button", { type: "button", class: "csv", title: `Save as CSV: ${label}`, onclick: () =>
    download(fileName(label, "csv"), "text/csv", csvText([columns.map((c) => cellText(c.title)), ...(typeof rows === "function" ? rows() : rows).map((r) => r.map(cellText))])) }, "CSV", el("span", { class: "unseen" }, `: ${label}`));
}

function selectionCsv() {
  const rows = [["data_set", "row", "id", isTransfer ? "class" : "cluster"]];
  for (const t of tasks) for (const i of store.rows(t.index)) rows.push([t.name, i + 1, t.ids instanceof Map ? t.ids.get(i) || i + 1 : t.ids[i] === undefined ? i + 1 : t.ids[i], labelOf(t, i) < 0 ? "" : nameOf(labelOf(t, i))]);
  return csvText(rows);
}

/* --- the map ------------------------------------------------------------------------------------------------------------------- */

const xml = (s) => String(s).replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`).replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, "\ufffd");

/* Where panels and legend lie in a picture. */
function pictureLayout(slide) {
  const side = 600, gap = 20, cols = slide ? (panels.length < 3 ? 1 : Math.ceil(Math.sqrt(panels.length))) : Math.min(panels.length, panels.length > 4 ? 3 : 2), mode = modeOf(view.mode), present = new Set();
  for (const p of panels) for (const c of p.codes(view.mode)) present.add(c);
  const keys = [...mode.all(), -1].filter((c, at, all) => present.has(c) && all.indexOf(c) === at).slice(0, 60).map((c) => ({ name: cut(mode.name(c), 40), shape: mode.colour ? 0 : c, colour: colourOf(mode, c) }));
  const places = panels.map((_, i) => [gap + (i % cols) * (side + gap), gap + Math.floor(i / cols) * (side + 34 + gap) + 24]);
  const width = gap + cols * (side + gap), per = Math.max(1, Math.floor((width - gap) / 200)), top = gap + Math.ceil(panels.length / cols) * (side + 34 + gap) + 10;
  if (slide) return { side, width, height: top, places, keys: [] };
  return { side, width, height: top + Math.ceil(keys.length / per) * 22 + gap, places, keys: keys.map((k, i) => ({ ...k, x: gap + (i % per) * 200, y: top + Math.floor(i / per) * 22 })) };
}

const pageColours = (of = document.body) => { const s = getComputedStyle(of); return { ink: s.color, paper: s.backgroundColor }; };

function mapSvg() {
  const l = pictureLayout(), { ink, paper } = pageColours(), mode = modeOf(view.mode), out = [`<svg xmlns="${SVG}" width="${l.width}" height="${l.height}" viewBox="0 0 ${l.width} ${l.height}" font-family="sans-serif" font-size="14">`,
    `<rect width="100%" height="100%" fill="${paper}"/>`];
  panels.forEach((p, at) => {
    const t = p.task, [x0, y0] = l.places[at], codes = p.codes(view.mode), s = l.side * 0.94 * view.zoom / SIDE, size = Math.max(0.4, Math.min(1.15, 22 / Math.sqrt(t.points))) * Math.min(1.6, Math.sqrt(view.zoom)), marks = new Map();
    out.push(`<text x="${x0}" y="${y0 - 8}" fill="${ink}" font-weight="bold">${xml(t.name)}</text><svg x="${x0}" y="${y0}" width="${l.side}" height="${l.side}"><rect width="100%" height="100%" fill="none" stroke="#888"/>`);
    if (t.points > VECTOR_MOST) out.push(`<image width="${l.side}" height="${l.side}" href="${p.canvas.toDataURL()}"/>`);
    else for (let q = 0; q < t.points; q++) {
      const x = l.side / 2 + (t.x[q] - view.x) * s, y = l.side / 2 - (t.y[q] - view.y) * s;
      if (!store.shown(t.index, rowOf(t, q)) || x < 0 || y < 0 || x > l.side || y > l.side) continue;
      if (!marks.has(codes[q])) marks.set(codes[q], []);
      marks.get(codes[q]).push(`<path opacity="${p.chosen(q) ? 0.85 : 0.16}" transform="translate(${x.toFixed(1)} ${y.toFixed(1)}) scale(${size.toFixed(2)})" d="${mode.colour ? SHAPES[0] : shape(codes[q])}"/>`);
    }
    for (const [c, paths] of marks) out.push(`<g fill="${colourOf(mode, c)}">${paths.join("")}</g>`);
    out.push("</svg>");
  });
  for (const k of l.keys) out.push(`<path fill="${k.colour}" transform="translate(${k.x + 6} ${k.y - 5})" d="${shape(k.shape)}"/><text x="${k.x + 18}" y="${k.y}" fill="${ink}">${xml(k.name)}</text>`);
  return `${out.join("\n")}\n</svg>\n`;
}

/* The panels as they are drawn, with titles and legend, on one canvas; for a slide without legend and with large titles. */
function mapCanvas(slide) {
  const l = pictureLayout(slide), ratio = 2, { ink, paper } = pageColours(slide ? document.querySelector("section") : document.body), canvas = el("canvas", { width: l.width * ratio, height: l.height * ratio }), g = canvas.getContext("2d");
  g.scale(ratio, ratio);
  g.fillStyle = paper;
  g.fillRect(0, 0, l.width, l.height);
  g.font = `${slide ? 24 : 14}px system-ui, sans-serif`;
  g.lineWidth = slide ? 3 : 1;
  panels.forEach((p, at) => {
    const [x, y] = l.places[at], w = p.canvas.width, h = p.canvas.height, f = Math.min(l.side / w, l.side / h);
    g.fillStyle = ink;
    g.fillText(cut(p.task.name, 60), x, y - 8);
    g.strokeStyle = "#888";
    g.strokeRect(x, y, l.side, l.side);
    if (w && h) g.drawImage(p.canvas, x + (l.side - w * f) / 2, y + (l.side - h * f) / 2, w * f, h * f);
  });
  for (const k of l.keys) {
    g.save();
    g.translate(k.x + 6, k.y - 5);
    g.fillStyle = k.colour;
    g.fill(outline(k.shape));
    g.restore();
    g.fillStyle = ink;
    g.fillText(k.name, k.x + 18, k.y);
  }
  return canvas;
}

/* --- the link -------------------------------------------------------------------------------------------------------------------- */

const PLAIN_VIEW = { colour: "cluster", x: SIDE / 2, y: SIDE / 2, zoom: 1, level: -1, search: "", select: "" };
const searchInput = () => document.getElementById("search");

function viewLink() {
  const select_ = rangesText(store.samples());
  return linkText({ colour: view.mode, x: Math.round(view.x * 10) / 10, y: Math.round(view.y * 10) / 10, zoom: view.zoom, level: shownLevel === null ? -1 : shownLevel, search: found.masks && searchInput() ? searchInput().value : "", select: select_ }, PLAIN_VIEW);
}

let linkTimer = null, linkReady = false;
/* Called whenever the view changes: the address follows when it has come to rest. */
function noteView() {
  if (!linkReady || linkTimer !== null) return;
  linkTimer = setTimeout(() => {
    linkTimer = null;
    const link = viewLink();
    if (!link && !location.hash.startsWith("#view")) return;
    try { history.replaceState(null, "", link || location.pathname + location.search); } catch (e) { /* not allowed here: the button gives the link */ }
  }, 400);
}

function openLink() {
  const v = linkFields(location.hash, PLAIN_VIEW);
  if (!Object.keys(v).length) return;
  const clamp = (x, low, high) => Math.max(low, Math.min(high, x)), slider = document.getElementById("level");
  Object.assign(view, { x: clamp(v.x === undefined ? view.x : v.x, 0, SIDE), y: clamp(v.y === undefined ? view.y : v.y, 0, SIDE), zoom: clamp(v.zoom || view.zoom, 0.5, 400) });
  if (v.level !== undefined && slider && levels[v.level]) { slider.value = v.level; slider.dispatchEvent(new Event("input")); }
  if (v.colour && panels.length && (Object.hasOwn(modes, v.colour) || fieldByKey.has(v.colour))) colourBy(v.colour);
  if (v.search && searchInput()) { searchInput().value = v.search; searchInput().dispatchEvent(new KeyboardEvent("keydown", { key: "Enter" })); }
  if (v.select) store.replace(rangesOf(v.select, tasks.map((t) => t.samples)), "from the link");
  drawAll();
}

function startLinks() {
  openLink();
  linkReady = true;
  store.subscribe(noteView);
  addEventListener("hashchange", openLink);
}

/* --- the section --------------------------------------------------------------------------------------------------------------------- */

function takeSection() {
  if (!labelled.length && !panels.length) return;
  const said = el("p", { role: "status", id: "take-said" }), name = tasks.length ? fileName(tasks[0].name, "").slice(0, -1) : "map";
  section("take", "Export", el("p", {}, "Save what you see. Every table of this page also has a button “CSV”."),
    el("p", { class: "tools" }, button("Selected samples (CSV)", () => { if (store.count) download("selection.csv", "text/csv", selectionCsv()); else said.textContent = "Select samples first."; }),
      panels.length ? [button("Map (SVG)", () => download(`${name}-map.svg`, "image/svg+xml", mapSvg())), button("Map (PNG)", () => mapCanvas().toBlob((blob) => { if (blob) download(`${name}-map.png`, "image/png", blob); else said.textContent = "The map is too large for a picture."; }))] : null,
      button("Link to this view", async () => {
        const link = location.href.replace(/#.*$/, "") + (viewLink() || "#view"), field = el("input", { readonly: true, value: link, "aria-label": "Link", size: 60 });
        said.replaceChildren(rangesText(store.samples()) === null ? "The selection is too large for a link and is not part of it. " : "", field);
        field.select();
        try { await navigator.clipboard.writeText(link); say("The link is copied."); } catch (e) { say("The link is selected."); }
      }), button("Summary for slides", () => openSlides(), { id: "slides-button" })), said);
}
