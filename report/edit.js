/* Editing: rename, merge, mark, note; undo and redo; saved and loaded as a file. SPDX-License-Identifier: BSD-3-Clause */

/* A file for the user. */
function download(name, type, content) {
  const url = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type })), link = el("a", { href: url, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
  say(`${name} is saved.`);
}

/* Groups that have clusters now: [[group, name]]. */
function groupsNow() {
  const present = new Set(labelled.flatMap((t) => [...state.tasks[t.index].exists].map((c) => groupNow(t.index, c))));
  return [...present].filter((g) => g >= 0).sort((a, b) => a - b).map((g) => [g, Name(g)]);
}

/* Edits of a group: without a data set if the number means this group everywhere, else one for each. */
function forGroup(g, edit) {
  const inside = membersOf(g), first = inside[0].number;
  if (state.classes) return [{ do: edit.do, cluster: state.names[g], ...edit.more }];
  const alone = inside.every((c) => c.number === first) && state.tasks.every((t, at) => !t.exists.has(first) || inside.some((c) => c.task === at));
  return alone ? [{ do: edit.do, cluster: first, ...edit.more }] : inside.map((c) => ({ do: edit.do, task: tasks[c.task].name, cluster: c.number, ...edit.more }));
}

const renameEdits = (g, name) => forGroup(g, { do: "rename", more: { name } });

/* Clusters of data sets that lack the other group get its name: equal names are one group. */
function mergeEdits(from, into) {
  if (state.classes) return [{ do: "merge", cluster: state.names[from], into: state.names[into] }];
  const targets = membersOf(into), pairs = membersOf(from).map((c) => [c, targets.find((o) => o.task === c.task)]), lacking = pairs.filter(([, o]) => !o);
  const name = nameOf(into), all = pairs[0][1] && pairs.every(([c, o]) => o && c.number === pairs[0][0].number && o.number === pairs[0][1].number) &&
    state.tasks.every((t, at) => !t.exists.has(pairs[0][0].number) || pairs.some(([c]) => c.task === at));
  if (all) return [{ do: "merge", cluster: pairs[0][0].number, into: pairs[0][1].number }];
  return [...(lacking.length && !givenNames.has(into) ? renameEdits(into, name) : []),
    ...pairs.map(([c, o]) => o ? { do: "merge", task: tasks[c.task].name, cluster: c.number, into: o.number } : { do: "rename", task: tasks[c.task].name, cluster: c.number, name })];
}

const sampleEdits = (kind, more) => labelled.flatMap((t) => {
  const samples = [...store.rows(t.index)].filter((i) => i < t.labels.values.length);
  return samples.length ? [{ do: kind, task: t.name, samples, ...more }] : [];
});

/* The name of an edit's cluster, in words. */
const calledIn = (e, key) => typeof e[key] === "number" ? `cluster ${e[key]}` : `class “${e[key]}”`;

/* --- the section -------------------------------------------------------------------------------------------------------- */

const editWrong = el("p", { class: "wrong", role: "alert", id: "edit-wrong" });

/* Adds a step if it can be applied. */
function tryEdit(step) {
  editWrong.textContent = "";
  try { applyEdits(editBase, [...edits.edits, ...step]); } catch (e) {
    editWrong.textContent = `This is not possible: ${e.message.replace(/^edit \w+: /, "")}.`;
    return false;
  }
  edits.push(step);
  say(`${step.map((e) => editWords(e, calledIn)).slice(0, 3).join("; ")}.`);
  return true;
}

async function loadEdits(file) {
  editWrong.textContent = "";
  try {
    const { edits: read, lines } = readEdits(await file.text(), D.fingerprint);
    try { applyEdits(editBase, read); } catch (e) { throw new Error(e.edit === undefined ? e.message : `line ${lines[e.edit]}: edit ${e.edit + 1}${e.message.replace(/^edit/, ",")}`); }
    edits.load(read);
    say(`${plural(read.length, "edit")} loaded.`);
  } catch (e) { editWrong.textContent = `${cut(file.name, 60)}: ${e.message}.`; }
}

const button = (title, act, more) => el("button", { type: "button", onclick: act, ...more }, title);
const groupSelect = (id, label) => el("select", { id, "aria-label": label }, groupsNow().map(([g, name]) => el("option", { value: g }, cut(name, 60))));

function clusterForm() {
  const one = isTransfer ? "Class" : "Cluster", which = groupSelect("edit-cluster", one), name = el("input", { id: "edit-name", maxlength: EDIT_NAME, autocomplete: "off", size: 24 });
  const note = el("textarea", { id: "edit-note", rows: 2, maxlength: EDIT_NOTE, "aria-label": `Note on the ${one.toLowerCase()}` }), into = groupSelect("edit-into", "Merge into"), g = () => Number(which.value);
  const fill = () => { name.value = givenNames.has(g()) || state.classes ? nameOf(g()) : ""; note.value = notesOf(g())[0] || ""; };
  which.addEventListener("change", fill);
  if (into.options.length > 1) into.selectedIndex = 1;
  fill();
  return el("fieldset", { class: "editor" }, el("legend", {}, `Change a ${one.toLowerCase()}`),
    el("form", { onsubmit: (e) => { e.preventDefault(); tryEdit(renameEdits(g(), name.value.trim())); } }, el("label", { for: "edit-cluster" }, `${one} `), which, " ", el("label", { for: "edit-name" }, "Name "), name, " ", el("button", { type: "submit" }, "Rename")),
    into.options.length > 1 ? el("p", {}, el("label", { for: "edit-into" }, "Merge it into "), into, " ", button("Merge", () => Number(into.value) === g() ? (editWrong.textContent = `Choose two different ${isTransfer ? "classes" : "clusters"} to merge.`) : tryEdit(mergeEdits(g(), Number(into.value))))) : null,
    el("p", { class: "noteform" }, el("label", { for: "edit-note" }, "Note "), note, " ", button("Save note", () => tryEdit(forGroup(g(), { do: "note", more: { text: note.value } })))));
}

function selectionForm() {
  const note = el("textarea", { id: "sample-note", rows: 2, maxlength: EDIT_NOTE, "aria-label": "Note on the selected samples" });
  const said = el("p", { id: "edit-selected" });
  const needs = (act) => () => {
    if (sum(labelled.map((t) => store.countOf(t.index)))) act();
    else editWrong.textContent = "Select samples first: on the map, in a table or with the form under “Selection”.";
  };
  const node = el("fieldset", { class: "editor" }, el("legend", {}, "The selected samples"), said,
    el("p", {}, button("Mark as wrong", needs(() => tryEdit(sampleEdits("wrong", {}))))),
    el("p", { class: "noteform" }, el("label", { for: "sample-note" }, "Note "), note, " ", button("Add note", needs(() => tryEdit(sampleEdits("note", { text: note.value }))))));
  return { node, said };
}

function showSelected() {
  const said = document.getElementById("edit-selected"), n = sum(labelled.map((t) => store.countOf(t.index)));
  if (said) said.textContent = n ? `${plural(n, "sample")} selected${store.words ? ` (${store.words})` : ""}.` : "Nothing is selected.";
}

function editList(title, items) {
  return items.length ? el("div", {}, el("h3", {}, title), el("ol", { class: "edits" }, items.slice(-200).map((e) => el("li", {}, editWords(e, calledIn))))) : null;
}

function editSection() {
  if (!labelled.length) return;
  const now = edits.edits, before = list(object(D.edited).edits).filter((e) => e && typeof e === "object" && Object.hasOwn(EDIT_KINDS, e.do) && (!("samples" in e) || Array.isArray(e.samples)));
  const file = el("input", { type: "file", accept: ".json,application/json", id: "edit-file", class: "unseen", "aria-label": "Edits file", tabindex: -1, onchange: () => { if (file.files.length) loadEdits(file.files[0]); file.value = ""; } });
  const wrong_ = labelled.flatMap((t) => [...state.tasks[t.index].wrong].map((i) => [t, i])), noted = labelled.flatMap((t) => [...state.tasks[t.index].sampleNotes].map(([i, text]) => [t, i, text]));
  const marked = [...new Map([...wrong_.map(([t, i]) => [`${t.index} ${i}`, [t, i]]), ...noted.map(([t, i]) => [`${t.index} ${i}`, [t, i]])]).values()];
  section("edit", "Edit", el("p", {}, `Give ${isTransfer ? "classes" : "clusters"} names, merge them, mark wrong samples and write notes. All sections of the page follow, and nothing is sent.`),
    shownLevel !== null ? el("p", { class: "note" }, `Edits apply to the result with k = ${levels[mainLevel].k}. Move the slider there to edit.`) : [clusterForm(), selectionForm().node],
    editWrong,
    el("p", { class: "tools" }, button("Undo", () => edits.undo(), { id: "undo", disabled: !edits.canUndo }), button("Redo", () => edits.redo(), { id: "redo", disabled: !edits.canRedo }),
      button("Save edits", () => download("edits.json", "application/json", writeEdits(D.fingerprint, edits.edits)), { disabled: !now.length }), button("Load edits…", () => file.click()), file,
      button("Remove all", () => edits.load([]), { disabled: !now.length })),
    editList("Edits", now),
    now.length ? el("div", {}, el("p", { class: "note" }, keeper.works ? "Edits are kept in this browser. Save them as a file, and apply it to all files of the result with:" : "This browser does not keep edits. Save them as a file before you close the page, and apply it to all files of the result with:"),
      el("p", { class: "command" }, el("code", {}, "kindred relabel --report -o edited result.json edits.json"), copyButton("kindred relabel --report -o edited result.json edits.json"))) : null,
    editList("Edits that this result was made with", before),
    marked.length ? behind(`Marks and notes on ${plural(marked.length, "sample")}`, [{ title: "Data set" }, { title: "Sample" }, { title: isTransfer ? "Class" : "Cluster" }, { title: "Wrong" }, { title: "Note", words: true }],
      marked.slice(0, 1000).map(([t, i]) => [t.name, { head: idOf(t, i) }, Name(labelOf(t, i)), state.tasks[t.index].wrong.has(i) ? "yes" : "–", state.tasks[t.index].sampleNotes.get(i) || "–"])) : null);
  showSelected();
}

function startEditing() {
  if (!labelled.length) return;
  edits.subscribe(() => {
    const focused = document.activeElement ? document.activeElement.id : "";
    keeper.put(STORED, edits.edits.length ? writeEdits(D.fingerprint, edits.edits) : null);
    redraw();
    const again = focused && document.getElementById(focused);
    if (again && !again.disabled) again.focus();
    else if (focused === "undo" || focused === "redo") document.getElementById(focused === "undo" ? "redo" : "undo").focus();
  });
  store.subscribe(showSelected);
  addEventListener("keydown", (e) => {
    if (!(e.ctrlKey || e.metaKey) || e.altKey || !["z", "Z", "y"].includes(e.key) || /^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement.tagName)) return;
    e.preventDefault();
    if (e.key === "z" && !e.shiftKey) edits.undo();
    else edits.redo();
  });
}
