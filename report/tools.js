/* Selecting on the map: rectangle and lasso, what is in view, single samples; add, subtract, invert.
 * SPDX-License-Identifier: BSD-3-Clause */

const tool = { shape: "move", how: "replace", everywhere: false };

/* Shift adds and Alt subtracts, whatever the switch says. */
const howOf = (e) => e && e.shiftKey ? "add" : e && e.altKey ? "subtract" : tool.how;

function selectSamples(samples, words, e) {
  store.combine(howOf(e), samples, words);
  say(`${plural(store.count, "sample")} selected.`);
}

/* A shape that is being drawn over a panel, in the coordinates of its canvas. */
class Drawing {
  constructor(panel, at) {
    this.panel = panel;
    this.points = [at];
    this.path = svg("path", { class: "lasso" });
    panel.overlay.replaceChildren(this.path);
  }

  move(at) {
    if (tool.shape === "rectangle") this.points = [this.points[0], at];
    else {
      const [x, y] = this.points[this.points.length - 1];
      if (Math.hypot(at[0] - x, at[1] - y) < 3) return;
      this.points.push(at);
    }
    this.path.setAttribute("d", `M${this.outline().map((p) => p.map((v) => v.toFixed(1)).join(" ")).join("L")}Z`);
  }

  outline() {
    if (tool.shape !== "rectangle") return this.points;
    const [[x0, y0], [x1, y1]] = [this.points[0], this.points[this.points.length - 1]];
    return [[x0, y0], [x1, y0], [x1, y1], [x0, y1]];
  }

  /* Whether it is more than a click. */
  get drawn() {
    const [[x0, y0]] = this.points;
    return this.points.some(([x, y]) => Math.hypot(x - x0, y - y0) >= 4);
  }

  finish(e) {
    const shape = this.outline().map(([x, y]) => this.panel.toMap(x, y));
    this.panel.overlay.replaceChildren();
    selectSamples((tool.everywhere ? panels : [this.panel]).map((p) => [p.task.index, rowsInside(p.task, shape)]), tool.shape, e);
  }
}

/* Samples of a data set whose points are inside a polygon of the map. */
function rowsInside(t, shape) {
  const xs = shape.map((p) => p[0]), ys = shape.map((p) => p[1]), rows = [];
  const x0 = Math.min(...xs), x1 = Math.max(...xs), y0 = Math.min(...ys), y1 = Math.max(...ys);
  for (let p = 0; p < t.points; p++) {
    const x = t.x[p], y = t.y[p];
    if (x >= x0 && x <= x1 && y >= y0 && y <= y1 && insidePolygon(shape, x, y)) rows.push(rowOf(t, p));
  }
  return rows;
}

/* All samples of a panel that are in view: the keyboard's rectangle. */
function selectVisible(panel, e) {
  const c = panel.canvas, [x0, y0] = panel.toMap(0, 0), [x1, y1] = panel.toMap(c.clientWidth, c.clientHeight);
  selectSamples([[panel.task.index, rowsInside(panel.task, [[x0, y0], [x1, y0], [x1, y1], [x0, y1]])]], "in view", e);
}

function toggleSample(panel, p) {
  const t = panel.task, i = rowOf(t, p);
  if (store.has(t.index, i)) store.subtract([[t.index, [i]]]);
  else store.add([[t.index, [i]]], idOf(t, i));
  say(`${idOf(t, i)} is ${store.has(t.index, i) ? "selected" : "not selected"}; ${plural(store.count, "sample")} in total.`);
}

/* Switches beside the map. */
function toolSwitch() {
  const radio = (name, value, title, put) => el("label", {}, el("input", { type: "radio", name, value, checked: tool[name] === value, onchange: () => put(value) }), ` ${title}`);
  const shape = (v) => { tool.shape = v; for (const p of panels) p.canvas.classList.toggle("drawing", v !== "move"); say(v === "move" ? "Drag moves the map." : `Drag draws a ${v}.`); };
  return el("div", { class: "tools" },
    el("fieldset", { class: "switch" }, el("legend", {}, "Drag to"), radio("shape", "move", "move", shape), radio("shape", "rectangle", "select a rectangle", shape), radio("shape", "lasso", "select with a lasso", shape)),
    el("fieldset", { class: "switch" }, el("legend", {}, "Selecting"), radio("how", "replace", "replaces", (v) => { tool.how = v; }), radio("how", "add", "adds", (v) => { tool.how = v; }),
      radio("how", "subtract", "subtracts", (v) => { tool.how = v; }),
      panels.length > 1 ? el("label", {}, el("input", { type: "checkbox", id: "everywhere", onchange: (e) => { tool.everywhere = e.target.checked; } }), " draw in all data sets") : null));
}
