/* How it got there: objective, time, memory, options, fields, references. SPDX-License-Identifier: BSD-3-Clause */

const STAGES = { read: "reading", prepare: "preprocessing", fit: "fitting", layout: "computing the map", write: "writing" };

function times() {
  const s = object(D.seconds), parts = Object.entries(STAGES).filter(([k]) => isNumber(s[k]) && s[k] >= 0);
  const total = isNumber(s.total) ? s.total : sum(parts.map(([k]) => s[k]));
  if (!parts.length) return null;
  const bits = [`${seconds(total)} in total: ${listed(parts.map(([k, word]) => `${word} ${seconds(s[k])}`))}`];
  if (isNumber(D.threads)) bits.push(plural(D.threads, "thread"));
  if (isNumber(D.peak_rss_bytes)) bits.push(`at most ${bytes(D.peak_rss_bytes)} of memory`);
  if (D.seed !== undefined) bits.push(`seed ${shown(D.seed)}`);
  if (isNumber(D.iterations)) bits.push(plural(D.iterations, "iteration"));
  return [el("h3", {}, "Time and memory"), el("p", {}, `${bits.join("; ")}.`)];
}

function optionRows(changed) {
  const known = new Map(list(about.options).map((o) => [o.name, o])), rows = [];
  for (const [name, value] of Object.entries(object(D.options))) {
    const o = known.get(name);
    if ((!o || o.changed === true) !== changed) continue;
    rows.push([{ head: name }, el("span", { class: changed ? "set" : null }, shown(value)), o ? String(o.default) : "–", o ? String(o.help) : ""]);
  }
  return rows;
}

function options() {
  const columns = [{ title: "Option" }, { title: "Value" }, { title: "Default" }, { title: "Meaning" }], set = optionRows(true), rest = optionRows(false);
  if (!set.length && !rest.length) return null;
  return [el("h3", {}, "Options"), set.length ? table(columns, set, { label: "Options that differ from the default" }) : el("p", {}, "All options have their default values."),
    rest.length ? behind(`${plural(rest.length, "option")} with default values`, columns, rest) : null];
}

/* Fields by name, with a column for each task where a field has one a task: name.TASK. */
function fields() {
  const all = object(D.method_fields), meanings = object(about.meanings), stems = new Map();
  for (const [key, value] of Object.entries(all)) {
    const t = tasks.find((x) => key.endsWith(`.${x.name}`) && key.length > x.name.length + 1), stem = t ? key.slice(0, -t.name.length - 1) : key;
    if (!stems.has(stem)) stems.set(stem, { whole: undefined, each: new Map() });
    if (t) stems.get(stem).each.set(t.index, value);
    else stems.get(stem).whole = value;
  }
  if (!stems.size) return null;
  const known = [...stems], short = known.filter(([, f]) => f.each.size && ![...f.each.values()].some((v) => typeof v === "string" && v.length > 30));
  const long = known.filter((e) => !short.includes(e)), with_ = tasks.filter((t) => short.some(([, f]) => f.each.has(t.index)));
  const meaning = (s) => String(meanings[s] || meanings[s.split(".")[0]] || "");
  return [el("h3", {}, "Further results of the method"), el("details", { class: "behind" }, el("summary", {}, plural(stems.size, "field") + ", explained"),
    short.length ? table([{ title: "Field" }, ...with_.map((t) => ({ title: cut(t.name, 20), num: true })), { title: "Meaning" }],
      short.map(([s, f]) => [{ head: s }, ...with_.map((t) => f.each.has(t.index) ? shown(f.each.get(t.index)) : "–"), meaning(s)]), { label: "Fields of each data set" }) : null,
    long.length ? table([{ title: "Field" }, { title: "Value" }, { title: "Meaning" }], long.flatMap(([s, f]) => [
      ...(f.whole !== undefined ? [[{ head: s }, shown(f.whole), meaning(s)]] : []),
      ...[...f.each].map(([t, v]) => [{ head: `${s}, ${tasks[t].name}` }, shown(v), meaning(s)])]), { label: "Fields" }) : null)];
}

function references() {
  const refs = list(about.references);
  return refs.length ? [el("h3", {}, "References"), el("ul", {}, refs.map((r) => el("li", {}, String(r))))] : null;
}

/* What the columns of tables were taken for, and the rows that were left out. */
function tables() {
  return tasks.flatMap((t) => {
    const columns = list(t.raw.columns).filter((c) => c && c.name !== undefined), out = list(t.raw.left_out).filter((r) => r && isNumber(r.row));
    return [columns.length ? behind(`Columns of ${t.name} and their types`, [{ title: "Column" }, { title: "Type" }, { title: "Features", num: true }, { title: "Missing values", num: true }, { title: "Why" }],
      columns.map((c) => [{ head: String(c.name) }, String(c.kind), count(c.features), count(c.missing), String(c.why || (c.constant ? "constant" : "–"))])) : null,
    out.length ? behind(`${plural(out.length, "row")} of ${t.name} skipped`, [{ title: "Row", num: true }, { title: "Sample" }, { title: "Why" }],
      out.slice(0, 200).map((r) => [{ head: count(r.row) }, String(r.id || "–"), String(r.reason)])) : null];
  }).filter(Boolean);
}

function files() {
  const rows = tasks.filter((t) => t.raw.path);
  return rows.length ? [el("h3", {}, "Data"), table([{ title: "Data set" }, { title: "File" }, { title: "Samples", num: true }, { title: "Features", num: true }, ...(rows.some((t) => isNumber(t.raw.nnz)) ? [{ title: "Non-zero values", num: true }] : [])],
    rows.map((t) => [{ head: t.name }, String(t.raw.path), count(t.n), count(t.raw.d), ...(rows.some((r) => isNumber(r.raw.nnz)) ? [count(t.raw.nnz)] : [])]), { label: "Files" }), tables()] : null;
}

/* What is known of each task beyond the first line of its advice. */
function figures() {
  const rest = advised().map(([first, ...more]) => [first, more.filter((a) => !a.startsWith("k = "))]).filter(([, more]) => more.length);
  return rest.length ? [el("h3", {}, "Figures behind the advice"), el("ul", {}, rest.map(([first, more]) => el("li", {}, first, el("ul", {}, more.map((a) => el("li", {}, a))))))] : null;
}

function how() {
  const data = [D.data ? `The data appear to be ${D.data}.` : "", D.preprocessing ? `Preprocessing: ${D.preprocessing}.` : ""].filter(Boolean).join(" ");
  const parts = [about.summary ? el("p", {}, `${about.title}: ${about.summary}.`.replace(/\.\.$/, ".")) : null, data ? el("p", {}, data) : null, figures(), objectiveChart(), times(), options(), fields(), files(), references()].flat(2).filter(Boolean);
  if (parts.length) section("how", "How the result was computed", parts);
}
