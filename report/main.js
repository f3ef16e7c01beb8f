/* The page, section by section. SPDX-License-Identifier: BSD-3-Clause */

function contents() {
  const nav = document.getElementById("contents");
  nav.replaceChildren();
  for (const s of document.querySelectorAll("#page > section")) nav.append(el("a", { href: `#${s.id}` }, s.querySelector("h2").textContent));
}

function main() {
  const what = isBench ? "Comparison of methods" : isTransfer ? `Labels for ${labelled.length ? listed(labelled.slice(0, 3).map((t) => t.name)) : "a data set"}`
    : D.command === "relate" ? "Relatedness of data sets" : tasks.length ? `Clusters of ${listed(tasks.slice(0, 4).map((t) => t.name).concat(tasks.length > 4 ? [`${tasks.length - 4} more`] : []))}` : "A result of kindred";
  document.title = `${what} – kindred`;
  document.getElementById("title").textContent = what;
  document.getElementById("by").textContent = ["kindred", D.kindred, D.command, D.method].filter((v) => v !== undefined && v !== null).join(" ");
  document.body.append(live);
  if (isBench) bench();
  else {
    restoreEdits();
    applyLabels();
    drawPart("answer", answer);
    related();
    map();
    levelsSection();
    drawPart("clusters", clusters);
    selectionSection();
    compareSection();
    drawPart("markers", markers);
    drawPart("across", across);
    drawPart("transfer", transfer);
    drawPart("label", labelSection);
    drawPart("edit", editSection);
    takeSection();
    choiceOfK();
    how();
  }
  contents();
  if (!isBench) {
    startEditing();
    startLinks();
  }
  /* Paper is light, and canvases are drawn anew for it. What is folded stays so, and is left out. */
  addEventListener("beforeprint", () => {
    printing = true;
    repaint.forEach((f) => f());
    for (const p of panels) p.draw();
  });
  addEventListener("afterprint", () => {
    printing = false;
    repaint.forEach((f) => f());
  });
  document.documentElement.dataset.ready = "1";
}

main();
