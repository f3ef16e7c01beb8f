/* The map: every sample a point, a panel a task, on common axes. SPDX-License-Identifier: BSD-3-Clause
 *
 * Coordinates are whole numbers from 0 to SIDE. All panels share one view (centre and zoom), so that what lies in the
 * same place corresponds. Few points are drawn as marks; of many each is a few pixels written straight into the image:
 * arrays of numbers alone are looked at, so that 200,000 take milliseconds. */

const SIDE = 65535, MANY = 6000, RINGS = 1000;

const view = { x: SIDE / 2, y: SIDE / 2, zoom: 1, mode: "cluster" };
const panels = [];

function drawAll() {
  for (const p of panels) p.schedule();
  noteView();
}

class Panel {
  constructor(t) {
    this.task = t;
    this.at = -1; /* the point that is looked at */
    this.canvas = el("canvas", { tabindex: 0, role: "application", "aria-roledescription": "map",
      "aria-label": `Map of ${t.name}: ${plural(t.points, "point")}. Arrow keys move it, plus and minus zoom, 0 shows all, n and p go to the next and previous sample, s selects it, v selects all in view, i inverts the selection, Escape clears it.` });
    this.tip = el("div", { class: "tip", hidden: true });
    this.overlay = svg("svg", { class: "overlay", "aria-hidden": "true" }); /* what is being drawn */
    this.node = el("figure", { class: "panel" }, el("figcaption", {}, t.name, el("small", {}, ` ${count(t.n)}`)),
      el("div", { class: "stage" }, this.canvas, this.overlay, this.tip));
    this.cells = null; /* made when a point is first asked for */
    this.known = new Map();
    this.listen();
    new ResizeObserver(() => this.schedule()).observe(this.canvas);
  }

  /* Points by cells of a coarse grid, so that the nearest is found at once. */
  grid() {
    const t = this.task, start = new Int32Array(128 * 128 + 2), order = new Int32Array(t.points), cell = (p) => (t.x[p] >> 9) * 128 + (t.y[p] >> 9);
    for (let p = 0; p < t.points; p++) start[cell(p) + 2]++;
    for (let c = 2; c < start.length; c++) start[c] += start[c - 1];
    for (let p = 0; p < t.points; p++) order[start[cell(p) + 1]++] = p; /* start[c] is then where cell c begins */
    return { start, order };
  }

  /* The category of each point in a mode. */
  codes(id) {
    if (!this.known.has(id)) {
      const t = this.task, out = new Int32Array(t.points);
      const mode = modeOf(id);
      out.most = 0;
      for (let p = 0; p < t.points; p++) {
        out[p] = mode.category(t, rowOf(t, p));
        if (out[p] > out.most) out.most = out[p];
      }
      this.known.set(id, out);
    }
    return this.known.get(id);
  }

  scale() { return Math.min(this.canvas.clientWidth, this.canvas.clientHeight) * 0.94 * view.zoom / SIDE; }
  toScreen(p) {
    const s = this.scale();
    return [this.canvas.clientWidth / 2 + (this.task.x[p] - view.x) * s, this.canvas.clientHeight / 2 - (this.task.y[p] - view.y) * s];
  }
  toMap(sx, sy) {
    const s = this.scale();
    return [view.x + (sx - this.canvas.clientWidth / 2) / s, view.y - (sy - this.canvas.clientHeight / 2) / s];
  }

  nearest(sx, sy) {
    const [mx, my] = this.toMap(sx, sy), reach = 14 / this.scale(), t = this.task;
    const shown = store.shownMask(t.index);
    let best = -1, least = reach * reach;
    this.cells = this.cells || this.grid();
    const first = (v) => Math.max(0, (v - reach) >> 9), last = (v) => Math.min(127, (v + reach) >> 9), { start, order } = this.cells;
    for (let cx = first(mx); cx <= last(mx); cx++)
      for (let cy = first(my); cy <= last(my); cy++)
        for (let i = start[cx * 128 + cy]; i < start[cx * 128 + cy + 1]; i++) {
          const p = order[i], d = (t.x[p] - mx) ** 2 + (t.y[p] - my) ** 2;
          if (d < least && (shown === null || shown[rowOf(t, p)])) { least = d; best = p; }
        }
    return best;
  }

  schedule() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => { this.waiting = false; this.draw(); });
  }

  draw() {
    const ratio = Math.min(devicePixelRatio || 1, 2), w = this.canvas.clientWidth, h = this.canvas.clientHeight;
    if (!w || !h) return;
    if (this.canvas.width !== Math.round(w * ratio) || this.canvas.height !== Math.round(h * ratio)) {
      this.canvas.width = Math.round(w * ratio);
      this.canvas.height = Math.round(h * ratio);
    }
    const g = this.canvas.getContext("2d");
    g.setTransform(1, 0, 0, 1, 0, 0);
    g.clearRect(0, 0, this.canvas.width, this.canvas.height);
    if (this.task.points > MANY) this.drawMany(g, ratio);
    else this.drawMarks(g, ratio);
    if (found.masks && found.count <= RINGS) this.drawFound(g, ratio);
    if (this.at >= 0) this.drawRing(g, ratio, this.at, 8);
    if (!performance.getEntriesByName("map").length) performance.mark("map"); /* when there is something to see */
  }

  /* Points that stand out: those found by a search, else those selected; null: all. */
  front() {
    const t = this.task, mask = found.masks ? found.masks[t.index] : store.count ? store.mask(t.index) : null;
    return mask;
  }

  /* Whether a point stands out and is not filtered away. */
  chosen(p) {
    const i = rowOf(this.task, p), front = this.front();
    return store.shown(this.task.index, i) && (front === null || front[i] === 1);
  }

  drawMarks(g, ratio) {
    const t = this.task, mode = modeOf(view.mode), codes = this.codes(view.mode), mask = this.front(), shown = store.shownMask(t.index), size = Math.max(0.55, Math.min(1.15, 22 / Math.sqrt(t.points))) * Math.min(1.6, Math.sqrt(view.zoom));
    for (const front of [false, true])
      for (let p = 0; p < t.points; p++) {
        const i = rowOf(t, p);
        if ((mask === null || mask[i] === 1) !== front || (shown !== null && !shown[i])) continue;
        const c = codes[p], [x, y] = this.toScreen(p);
        if (x < -9 || y < -9 || x > this.canvas.clientWidth + 9 || y > this.canvas.clientHeight + 9) continue;
        g.setTransform(ratio * size, 0, 0, ratio * size, x * ratio, y * ratio);
        g.globalAlpha = front ? 0.85 : 0.16;
        g.fillStyle = colourOf(mode, c);
        g.fill(outline(mode.colour ? 0 : c));
      }
    g.globalAlpha = 1;
    g.setTransform(1, 0, 0, 1, 0, 0);
  }

  drawMany(g, ratio) {
    const t = this.task, mode = modeOf(view.mode), w = this.canvas.width, h = this.canvas.height;
    if (!this.image || this.image.width !== w || this.image.height !== h) this.image = g.createImageData(w, h);
    const pixels = new Uint32Array(this.image.data.buffer), s = this.scale() * ratio, { x: xs, y: ys } = t, faint = 50, strong = 225;
    const side = Math.max(1, Math.round(ratio * (view.zoom > 4 ? 3 : view.zoom > 1.5 || t.points < 40000 ? 2 : 1.4)));
    const codes = this.codes(view.mode), mask = this.front(), shown = store.shownMask(t.index), rows = t.rows, x0 = w / 2 - view.x * s + 0.5, y0 = h / 2 + view.y * s + 0.5;
    const inks = new Uint32Array(codes.most + 2); /* that of category c is inks[c + 1] */
    for (let c = -1; c + 1 < inks.length; c++) inks[c + 1] = rgb(colourOf(mode, c));
    pixels.fill(0);
    for (const front of mask === null ? [1] : [0, 1]) {
      const to = { pixels, w, h, side, s, x0, y0, alpha: (front ? strong : faint) << 24 };
      if (mask === null && shown === null) plotAll(to, xs, ys, codes, inks);
      else plotSome(to, xs, ys, codes, inks, rows, mask, front, shown);
    }
    g.putImageData(this.image, 0, 0);
  }

  drawFound(g, ratio) {
    const t = this.task, mask = found.masks[t.index];
    for (let p = 0; p < t.points; p++) if (mask[rowOf(t, p)] && this.chosen(p)) this.drawRing(g, ratio, p, 6);
  }

  drawRing(g, ratio, p, radius) {
    const [x, y] = this.toScreen(p);
    g.beginPath();
    g.arc(x * ratio, y * ratio, radius * ratio, 0, 7);
    g.lineWidth = 2 * ratio;
    g.strokeStyle = getComputedStyle(this.canvas).color;
    g.stroke();
  }

  look(p, aloud) {
    if (p === this.at && !aloud) return;
    this.at = p;
    this.tip.hidden = p < 0;
    if (p >= 0) {
      const lines = sampleLines(this.task, rowOf(this.task, p)), [x, y] = this.toScreen(p), left = x > this.canvas.clientWidth / 2;
      this.tip.replaceChildren(...lines.map(([k, v]) => el("div", {}, k ? el("b", {}, `${k} `) : null, v)));
      this.tip.style.setProperty("left", left ? "auto" : `${Math.max(4, x + 12)}px`);
      this.tip.style.setProperty("right", left ? `${Math.max(4, this.canvas.clientWidth - x + 12)}px` : "auto");
      this.tip.style.setProperty("top", `${Math.max(4, Math.min(y - 10, this.canvas.clientHeight - 90))}px`);
      if (aloud) say(lines.map(([k, v]) => `${k} ${v}`).join(", "));
    }
    this.schedule();
  }

  listen() {
    const c = this.canvas;
    let from = null, moved = false, drawing = null;
    const place = (e) => { const r = c.getBoundingClientRect(); return [e.clientX - r.left, e.clientY - r.top]; };
    c.addEventListener("pointerdown", (e) => {
      from = place(e);
      moved = false;
      drawing = tool.shape === "move" ? null : new Drawing(this, from);
      c.setPointerCapture(e.pointerId);
    });
    c.addEventListener("pointermove", (e) => {
      const at = place(e);
      if (!from) { this.look(this.nearest(...at)); return; }
      if (drawing) { drawing.move(at); return; }
      if (Math.hypot(at[0] - from[0], at[1] - from[1]) < 4 && !moved) return;
      moved = true;
      view.x -= (at[0] - from[0]) / this.scale();
      view.y += (at[1] - from[1]) / this.scale();
      from = at;
      drawAll();
    });
    c.addEventListener("pointerup", (e) => {
      const p = this.nearest(...place(e));
      if (drawing && drawing.drawn) drawing.finish(e);
      else if (from && !moved && p >= 0) this.pick(p, e);
      from = drawing = null;
    });
    c.addEventListener("pointercancel", () => { from = drawing = null; this.overlay.replaceChildren(); });
    c.addEventListener("pointerleave", () => { if (document.activeElement !== c) this.look(-1); });
    c.addEventListener("blur", () => this.look(-1));
    c.addEventListener("wheel", (e) => {
      if (!e.ctrlKey && document.activeElement !== c) return; /* the page scrolls */
      e.preventDefault();
      zoom(Math.exp(-e.deltaY / 400), this.toMap(...place(e)));
    }, { passive: false });
    c.addEventListener("dblclick", (e) => zoom(2, this.toMap(...place(e))));
    c.addEventListener("keydown", (e) => this.key(e));
  }

  key(e) {
    const far = 40 / this.scale();
    const moves = { ArrowLeft: [-far, 0], ArrowRight: [far, 0], ArrowUp: [0, far], ArrowDown: [0, -far] };
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    if (moves[e.key]) { view.x += moves[e.key][0]; view.y += moves[e.key][1]; drawAll(); }
    else if (e.key === "+" || e.key === "=") zoom(1.4);
    else if (e.key === "-") zoom(1 / 1.4);
    else if (e.key === "0") reset();
    else if (e.key === "n" || e.key === "p") this.look(this.next(e.key === "n" ? 1 : -1), true);
    else if (e.key === "Enter" && this.at >= 0) this.pick(this.at, e);
    else if (e.key === "s" && this.at >= 0) toggleSample(this, this.at);
    else if (e.key === "v") selectVisible(this, e);
    else if (e.key === "i") { store.invert(); say(`${plural(store.count, "sample")} selected.`); }
    else if (e.key === "Escape") { this.look(-1); if (store.count) { store.clear(); say("All samples are shown."); } }
    else return;
    e.preventDefault();
  }

  pick(p, e) {
    const c = labelOf(this.task, rowOf(this.task, p));
    if (c >= 0) select(c, e);
  }

  /* The next point of those highlighted. */
  next(by) {
    for (let i = 1, p = this.at; i <= this.task.points; i++) {
      p = (p + by + this.task.points) % this.task.points;
      if (this.chosen(p)) return p;
    }
    return -1;
  }
}

/* Squares of `side` pixels at all points, or at some of them. The loops are plain, so that they take a few milliseconds. */
function plotAll({ pixels, w, h, side, s, x0, y0, alpha }, xs, ys, codes, inks) {
  const right = w - side, bottom = h - side, n = xs.length;
  for (let p = 0; p < n; p++) {
    const x = (x0 + xs[p] * s) | 0, y = (y0 - ys[p] * s) | 0;
    if (x > 0 && y > 0 && x < right && y < bottom) plotSquare(pixels, y * w + x, w, side, inks[codes[p] + 1] | alpha);
  }
}

function plotSome({ pixels, w, h, side, s, x0, y0, alpha }, xs, ys, codes, inks, rows, mask, front, shown) {
  const right = w - side, bottom = h - side, n = xs.length;
  for (let p = 0; p < n; p++) {
    const i = rows === null ? p : rows[p];
    if ((mask !== null && mask[i] !== front) || (shown !== null && shown[i] === 0)) continue;
    const x = (x0 + xs[p] * s) | 0, y = (y0 - ys[p] * s) | 0;
    if (x > 0 && y > 0 && x < right && y < bottom) plotSquare(pixels, y * w + x, w, side, inks[codes[p] + 1] | alpha);
  }
}

function plotSquare(pixels, at, w, side, ink) {
  if (side === 1) { pixels[at] = ink; return; }
  for (let a = 0; a < side; a++, at += w) for (let b = 0; b < side; b++) pixels[at + b] = ink;
}

const outlines = SHAPES.map((d) => new Path2D(d));
const outline = (c) => outlines[c < 0 ? 0 : c % 7];
const rgb = (hex) => { const n = parseInt(hex.slice(1), 16); return (n & 255) << 16 | (n & 0xff00) | n >> 16; };

/* What is said of a sample. */
function sampleLines(t, i) {
  const out = [["", idOf(t, i)]];
  if (t.labels) out.push([isTransfer ? "class" : "cluster", nameOf(t.labels.values[i]).replace(/^cluster /, "")]);
  if (t.truth) out.push(["known class", modes.truth.name(t.truth.values[i])]);
  if (t.confidence) out.push(["confidence", share(t.confidence[i])]);
  if (t.second && t.second.values[i] >= 0) out.push(["or", nameOf(t.second.values[i])]);
  if (t.moved && t.moved[i]) out.push(["moved", t.before && t.before.values[i] >= 0 ? `from ${nameOf(t.before.values[i])}` : "by the other data sets"]);
  out.push(...editLines(t, i));
  const field = modeOf(view.mode).field;
  if (field) out.push([field.title, fieldText(field, valueOf(field, t.index, i))]);
  const likely = t.probabilities ? probable(t.probabilities[i]) : "", strong = strongest(t, pointOf(t, i));
  if (likely) out.push(["probabilities", likely]);
  if (strong.length) out.push(["strongest", strong.join(", ")]);
  if (t.excerpts.has(i)) out.push(["begins", `“${t.excerpts.get(i)}”`]);
  return out;
}

/* The three most probable classes. */
function probable(row) {
  return list(row).map((v, c) => [v, c]).filter(([v]) => isNumber(v)).sort((a, b) => b[0] - a[0]).slice(0, 3)
    .map(([v, c]) => `${nameOf(c)} ${share(v)}`).join(", ");
}

function zoom(by, about) {
  const to = Math.max(0.5, Math.min(400, view.zoom * by)), f = 1 - view.zoom / to;
  if (about) { view.x += (about[0] - view.x) * f; view.y += (about[1] - view.y) * f; }
  view.zoom = to;
  drawAll();
}

function reset() { Object.assign(view, { x: SIDE / 2, y: SIDE / 2, zoom: 1 }); drawAll(); }

function map() {
  const drawn = tasks.filter((t) => t.points);
  if (!drawn.length) {
    if (tasks.length && D.command !== "relate")
      section("map", "The map", el("p", {}, "This result has no coordinates. Run the command again with ", el("code", {}, "--report"),
        " to get a map of the samples, or compute only the map with ", el("code", {}, "kindred embed"), "."));
    return;
  }
  const keys = el("ul", { class: "legend", id: "legend" });
  for (const t of drawn) panels.push(new Panel(t));
  const switches = colourSwitch();
  legend(keys);
  const points = sum(drawn.map((t) => t.points)), all = sum(drawn.map((t) => t.n));
  section("map", "The map",
    el("p", {}, "Each point is a sample, and similar samples are close together",
      drawn.length > 1 ? ". All panels have the same axes, so corresponding samples are in the same place" : "",
      ". Only proximity is meaningful: the axes have no units, and neither group sizes nor distances between groups can be compared."),
    points < all ? el("p", { class: "note" }, `The map shows ${count(points)} of ${count(all)} samples, taken evenly from all data sets.`) : null,
    searchBox(), switches, keys, toolSwitch(),
    el("div", { class: "panels" }, panels.map((p) => p.node)),
    el("p", { class: "tools" }, el("button", { type: "button", onclick: () => zoom(1.4) }, "Zoom in"), " ",
      el("button", { type: "button", onclick: () => zoom(1 / 1.4) }, "Zoom out"), " ", el("button", { type: "button", onclick: reset }, "Show all"),
      el("small", {}, " Double-click or use Ctrl and the wheel to zoom, and click a point to select its cluster; Shift adds, Alt subtracts. Keys: arrows, +, −, 0; n and p go to a sample, s selects it, v selects all in view, i inverts, Escape clears.")),
    filterSection(), samplesTable(drawn));
  store.subscribe(drawAll);
  repaint.push(() => drawAll());
}
