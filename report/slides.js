/* Summary for slides: one screen with the map, the names and five sentences. SPDX-License-Identifier: BSD-3-Clause */

/* Sizes of groups over all data sets, the largest first: [[group, samples]]. */
function groupSizes() {
  const sizes = new Map();
  for (const t of labelled) for (const g of t.labels.values) if (g >= 0) sizes.set(g, (sizes.get(g) || 0) + 1);
  return [...sizes].sort((a, b) => b[1] - a[1] || a[0] - b[0]);
}

/* Five sentences in plain words. */
function fiveSentences() {
  const sizes = groupSizes(), total = sum(sizes.map((s) => s[1])), one = isTransfer ? "class" : "cluster", many = isTransfer ? "classes" : "clusters", out = [];
  const n = sum(tasks.map((t) => t.n)), sets = tasks.length === 1 ? tasks[0].name : `${tasks.length} data sets`, target = labelled[0];
  out.push(isTransfer && target ? `${plural(target.n, "sample")} of ${target.name} got one of ${plural(sizes.length, one, many)}, learned from labelled samples of ${tasks[0] === target ? "the source" : tasks[0].name}.`
    : `${plural(n, "sample")} of ${sets} form ${plural(sizes.length, one, many)}.`);
  if (sizes.length > 1) {
    const [a, b] = [sizes[0], sizes[sizes.length - 1]];
    out.push(`The largest ${one} is ${nameOf(a[0])} with ${plural(a[1], "sample")} (${percent(a[1] / total)}), the smallest is ${nameOf(b[0])} with ${count(b[1])} (${percent(b[1] / total)}).`);
  }
  const marked = sizes.slice(0, 3).map(([g]) => {
    const words = labelled.map((t) => features(t.clusters.find((p) => p && p.number === g)).filter((f) => f.effect > 0).map((f) => String(f.text || f.name))).find((w) => w.length) || [];
    return words.length ? `${nameOf(g)} by ${listed(words.slice(0, 2).map((w) => cut(w, 40)))}` : null;
  }).filter(Boolean);
  if (marked.length) out.push(`Distinguishing features: ${marked.join("; ")}.`);
  if (labelled.length > 1 && sizes.length) {
    const everywhere = sizes.filter(([g]) => labelled.every((t) => members(t, g).length)).length;
    out.push(everywhere === sizes.length ? `All ${many} occur in all data sets.` : `${plural(everywhere, one, many)} of ${count(sizes.length)} ${everywhere === 1 ? "occurs" : "occur"} in all data sets.`);
  }
  const sure = shownLevel === null ? labelled.filter((t) => t.confidence) : [], scored = labelled.filter((t) => isNumber(object(t.raw.metrics).acc) && !labelsChanged());
  if (sure.length) {
    const all = sum(sure.map((t) => t.confidence.filter(isNumber).length)), low = sum(sure.map((t) => t.confidence.filter((v) => v < 0.5).length));
    out.push(`The mean confidence is ${meanConfidences(sure)} on a scale from 0 to 1, and ${plural(low, "sample")} (${percent(low / all)}) ${low === 1 ? "is" : "are"} below 0.5.`);
  }
  if (scored.length) out.push(`Compared with the known classes, ${listed(scored.slice(0, 3).map((t) => `${percent(t.raw.metrics.acc)}${scored.length > 1 ? ` of ${t.name}` : " of the labels"}`))} ${scored.length > 1 ? "are" : "are"} right.`);
  const changes = edits.edits.length + list(object(D.edited).edits).length;
  if (changes) out.splice(Math.min(4, out.length), 0, `A person made ${plural(changes, "change")} to the result.`);
  out.push(`It was computed with kindred ${D.kindred || ""}, method ${D.method || "unknown"}${isNumber(D.seed) ? `, seed ${D.seed}` : ""}.`);
  out.push("Points that are close on the map are similar; the axes have no units.");
  return out.slice(0, 5);
}

function openSlides() {
  const before = document.activeElement, sizes = groupSizes(), picture = panels.length ? mapCanvas(true) : null, close = () => { node.remove(); document.documentElement.classList.remove("presenting"); if (before) before.focus(); };
  if (picture) Object.assign(picture, { className: "picture" }).setAttribute("role", "img");
  if (picture) picture.setAttribute("aria-label", "Map of the samples; the names next to it have the same colours");
  const node = el("div", { class: "slides", role: "dialog", "aria-modal": "true", "aria-label": "Summary for slides", id: "slides", tabindex: -1, onkeydown: (e) => {
    if (e.key === "Escape") { e.preventDefault(); close(); }
    if (e.key === "Tab") { e.preventDefault(); shut.focus(); } /* one control */
  } });
  const shut = button("Close", close, { class: "shut" });
  node.append(el("h2", {}, document.getElementById("title").textContent), shut,
    el("div", { class: picture ? "slide" : "slide alone" }, picture,
      el("div", {}, el("ol", { class: "five" }, fiveSentences().map((s) => el("li", {}, s))),
        el("ul", { class: "plain names" }, sizes.slice(0, 16).map(([g, n]) => el("li", {}, mark(g), " ", el("span", { class: "who" }, Name(g)), el("small", {}, ` ${count(n)}`))), sizes.length > 16 ? el("li", {}, `and ${sizes.length - 16} more`) : null))));
  document.body.append(node);
  document.documentElement.classList.add("presenting");
  shut.focus();
  say("Summary for slides. Escape closes it.");
}
