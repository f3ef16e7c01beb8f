/* Filters: histograms of numbers, where a brushed range hides all other samples. SPDX-License-Identifier: BSD-3-Clause */

const BINS = 24, FIRST_FILTERS = 4;

/* A histogram with a brush. Dragging sets the range; so do the two boxes below, for the keyboard. */
class Filter {
  constructor(field, remove) {
    this.field = field;
    this.range = null;
    this.limits();
    this.width = 260;
    this.height = 74;
    this.bars = svg("g", {});
    this.brush = svg("rect", { class: "brush", y: 0, height: this.height, width: 0 });
    this.picture = svg("svg", { class: "chart histogram", viewBox: `0 0 ${this.width} ${this.height + 20}`, role: "img", "aria-label": `Histogram of ${field.title}; the boxes below set the range` },
      this.bars, this.brush, svg("line", { class: "axis", x1: 0, x2: this.width, y1: this.height, y2: this.height }),
      this.ends = svg("g", {}));
    const box = (label) => el("input", { size: 5, "aria-label": `${field.title} ${label}`, onchange: () => this.typed() });
    this.from = box("from");
    this.to = box("to");
    this.wrong = el("span", { class: "wrong", role: "alert" });
    this.reset = el("button", { type: "button", disabled: true, onclick: () => this.set(null) }, "Reset");
    this.node = el("figure", { class: "filter", "data-key": field.key }, el("figcaption", {}, cut(field.title, 40), remove ? el("button", { type: "button", class: "close", "aria-label": `Remove the filter by ${field.title}`, onclick: () => { this.set(null); remove(this); } }, "×") : null),
      this.picture, el("div", { class: "range" }, this.from, " to ", this.to, " ", this.reset, this.wrong));
    this.listen();
    this.write();
    this.draw();
  }

  limits() {
    this.low = this.field.low;
    this.high = this.field.high > this.field.low ? this.field.high : this.field.low + 1;
  }

  listen() {
    const at = (e) => { const r = this.picture.getBoundingClientRect(); return this.low + Math.max(0, Math.min(1, (e.clientX - r.left) / r.width)) * (this.high - this.low); };
    let from = null;
    this.picture.addEventListener("pointerdown", (e) => { from = at(e); this.picture.setPointerCapture(e.pointerId); e.preventDefault(); });
    this.picture.addEventListener("pointermove", (e) => { if (from !== null) this.show([Math.min(from, at(e)), Math.max(from, at(e))]); });
    this.picture.addEventListener("pointerup", (e) => {
      if (from === null) return;
      const bin = (this.high - this.low) / BINS, edge = (v) => this.low + bin * v, ends = [from, at(e)].sort((a, b) => a - b);
      const drawn = ends[1] - ends[0] > 0.01 * (this.high - this.low);
      from = null;
      this.set(drawn ? [edge(Math.floor((ends[0] - this.low) / bin)), edge(Math.ceil((ends[1] - this.low) / bin))] : null); /* entire bars */
    });
    this.picture.addEventListener("pointercancel", () => { from = null; this.show(this.range); });
  }

  typed() {
    const low = fieldNumber(this.field, this.from.value), high = fieldNumber(this.field, this.to.value);
    this.wrong.textContent = low <= high ? "" : this.field.unit === "date" ? " Use dates such as 2024-05-31, the earlier one first." : " Use two numbers, the smaller one first.";
    if (low <= high) this.set(low <= this.low && high >= this.high ? null : [low, high]);
  }

  show(range) {
    const x = (v) => (Math.max(this.low, Math.min(this.high, v)) - this.low) / (this.high - this.low) * this.width;
    this.brush.setAttribute("x", range ? x(range[0]) : 0);
    this.brush.setAttribute("width", range ? Math.max(1, x(range[1]) - x(range[0])) : 0);
  }

  write() {
    const range = this.range || [this.field.low, this.field.high];
    this.from.value = fieldText(this.field, range[0]);
    this.to.value = fieldText(this.field, range[1]);
    this.reset.disabled = !this.range;
    this.wrong.textContent = "";
  }

  set(range) {
    this.range = range;
    this.show(range);
    this.write();
    const words = range ? `${this.field.title} ${fieldText(this.field, range[0])} to ${fieldText(this.field, range[1])}` : "", inside = range && tasks.map((t) => this.field.values(t.index)), slack = slackOf(this.field);
    store.filter(`number ${this.field.key}`, range ? (t, i) => inside[t] !== null && inside[t][i] >= range[0] - slack && inside[t][i] <= range[1] + slack : null, words);
    say(range ? `${words}: ${plural(store.shownCount, "sample")} shown.` : `Filter removed: ${plural(store.shownCount, "sample")} shown.`);
  }

  /* Bars of the samples that the other filters show. */
  draw() {
    const key = `number ${this.field.key}`, others = store.filters().some((f) => f.key !== key);
    const h = histogram(this.low, this.high, BINS, (put) => {
      for (const t of tasks) {
        const values = this.field.values(t.index);
        for (let i = 0; values && i < values.length; i++) if (!others || store.passesOthers(key, t.index, i)) put(values[i]);
      }
    }), most = Math.max(1, ...h.counts), w = this.width / BINS;
    this.bars.replaceChildren(...h.counts.map((n, i) => {
      const tall = n ? Math.max(2, (this.height - 4) * Math.sqrt(n / most)) : 0;
      return paint(svg("rect", { x: i * w + 0.5, width: w - 1, y: this.height - tall, height: tall }, svg("title", {}, `${fieldText(this.field, h.low + i * h.width)} to ${fieldText(this.field, h.low + (i + 1) * h.width)}: ${plural(n, "sample")}`)), "fill", () => hue(0));
    }));
    this.ends.replaceChildren(svg("text", { x: 0, y: this.height + 15 }, fieldText(this.field, this.low)), svg("text", { x: this.width, y: this.height + 15, "text-anchor": "end" }, fieldText(this.field, this.field.high)));
    this.counts = h;
  }
}

function filterSection() {
  if (!numberFields.length) return null;
  const place = el("div", { class: "charts filters" }), said = el("p", { class: "note", role: "status", id: "filtered" }), shown_ = new Map();
  const remove = (f) => { shown_.delete(f.field.key); f.node.remove(); };
  const add = (field) => {
    if (shown_.has(field.key)) { shown_.get(field.key).from.focus(); return; }
    const f = new Filter(field, field.feature ? remove : null);
    shown_.set(field.key, f);
    place.append(f.node);
  };
  for (const f of numberFields.filter((n) => !n.feature || n.unit === "number" || n.unit === "date").slice(0, 2 + FIRST_FILTERS)) add(f);
  const rest = numberFields.filter((f) => f.feature), choice = rest.length ? fieldChoice("filter-field", "Feature or column to filter by", rest, () => {}) : null;
  const clear = el("button", { type: "button", hidden: true, onclick: () => store.together(() => { for (const f of shown_.values()) f.set(null); }) }, "Remove all filters");
  const words = () => {
    const active = store.filters();
    said.textContent = active.length ? `${count(store.shownCount)} of ${plural(sum(tasks.map((t) => t.samples)), "sample")} shown: ${listed(active.map((f) => f.words))}.` : "";
    clear.hidden = !active.length;
  };
  store.subscribe((part) => {
    if (!(part & store.FILTERS)) return;
    words();
    for (const f of shown_.values()) f.draw();
  });
  afterLabels.push(() => {
    const f = shown_.get("size");
    if (!f) return;
    f.limits();
    if (f.range) f.set(null);
    f.write();
    f.draw();
  });
  const rows = () => [...shown_.values()].flatMap((f) => f.counts.counts.map((n, i) => [{ head: f.field.title }, `${fieldText(f.field, f.counts.low + i * f.counts.width)} to ${fieldText(f.field, f.counts.low + (i + 1) * f.counts.width)}`, count(n)]));
  return el("details", { class: "behind", id: "filters" }, el("summary", {}, "Filters"),
    el("p", { class: "note" }, "Drag over a histogram to show only the samples in a range. The height of a bar is the square root of the number of samples."), place,
    choice ? el("p", { class: "by" }, el("label", { for: "filter-field" }, "Filter by "), choice, " ", el("button", { type: "button", onclick: () => add(fieldByKey.get(choice.value)) }, "Add")) : null,
    said, clear, behindLazily("Table of the histograms", () => { const all = rows(); return pages([{ title: "Filter" }, { title: "Range" }, { title: "Samples", num: true }], all.length, (i) => all[i], "Histograms"); }));
}
