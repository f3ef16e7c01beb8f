/* What is selected, compared and filtered: one store for all sections. SPDX-License-Identifier: BSD-3-Clause
 *
 * A sample is (data set, row), both counted from 0. The store has three parts:
 *
 *   selection  a set of samples, changed by replace, add, subtract, invert and clear;
 *   groups     named copies of a selection: "a" and "b" are compared;
 *   filters    tests by key, such as "confidence"; a sample is shown if it passes all of them.
 *
 * Only samples that are shown can be selected, counted or listed. A filter keeps the samples that it hides in the selection:
 * they come back with the filter's removal. Subscribers are called once after each change, with the part that changed. The module
 * needs no document and is tested with node (tests/page). */

/* `sizes`: the number of samples of each data set. */
function createStore(sizes) {
  const empty = () => sizes.map((n) => new Uint8Array(n));
  const groups = new Map(), filters = new Map(), subscribers = new Set();
  let chosen = empty(), shown = null; /* null: no filter, all are shown */
  let label = "", counts = null, waiting = 0;

  const visible = (t, i) => shown === null || shown[t][i] === 1;
  const valid = (t, i) => Number.isInteger(t) && t >= 0 && t < sizes.length && Number.isInteger(i) && i >= 0 && i < sizes[t];
  const changed = (part) => {
    counts = null;
    if (waiting) { waiting |= part; return; }
    for (const f of [...subscribers]) f(part);
  };

  function countMask(mask) {
    return sizes.map((n, t) => {
      let found = 0;
      for (let i = 0; i < n; i++) found += mask[t][i] & (shown === null ? 1 : shown[t][i]);
      return found;
    });
  }
  const counted = () => counts = counts || countMask(chosen);

  function rowsOf(mask, t) {
    const out = [];
    for (let i = 0; i < sizes[t]; i++) if (mask[t][i] && visible(t, i)) out.push(i);
    return Int32Array.from(out);
  }

  const view = (mask, words) => ({
    words, count: countMask(mask).reduce((a, b) => a + b, 0), countOf: (t) => countMask(mask)[t], has: (t, i) => valid(t, i) && mask[t][i] === 1 && visible(t, i),
    rows: (t) => rowsOf(mask, t),
  });

  /* Marks samples in a mask: `samples` is a list of [data set, rows]. Samples that do not exist or are hidden are skipped. */
  function put(mask, samples, value) {
    for (const [t, rows] of samples) for (const i of rows) if (valid(t, i) && visible(t, i)) mask[t][i] = value;
  }

  const store = {
    SELECTION: 1, GROUPS: 2, FILTERS: 4,
    tasks: sizes.length,

    /* --- selection: `words` describe it, such as "cluster 2" ------------------------------------------------- */
    replace(samples, words = "") { chosen = empty(); put(chosen, samples, 1); label = words; changed(store.SELECTION); },
    add(samples, words = "") { put(chosen, samples, 1); label = label && words ? `${label} + ${words}` : ""; changed(store.SELECTION); },
    subtract(samples, words = "") { put(chosen, samples, 0); label = label && words ? `${label} − ${words}` : ""; changed(store.SELECTION); },
    /* `how`: "replace", "add" or "subtract". To add to an empty selection is to replace it. */
    combine(how, samples, words = "") {
      if (how === "subtract") store.subtract(samples, words);
      else if (how === "add" && store.count > 0) store.add(samples, words);
      else store.replace(samples, words);
    },
    invert() {
      for (let t = 0; t < sizes.length; t++) for (let i = 0; i < sizes[t]; i++) if (visible(t, i)) chosen[t][i] ^= 1;
      label = label ? `all but ${label}` : "";
      changed(store.SELECTION);
    },
    /* Calls the subscribers after labels have changed. */
    touch() { changed(store.SELECTION); },
    clear() { chosen = empty(); label = ""; changed(store.SELECTION); },
    get words() { return label; },
    get count() { return counted().reduce((a, b) => a + b, 0); },
    countOf: (t) => counted()[t],
    has: (t, i) => valid(t, i) && chosen[t][i] === 1 && visible(t, i),
    rows: (t) => rowsOf(chosen, t),
    /* All selected samples as [data set, rows]: what replace, add and subtract take. */
    samples: () => sizes.map((_, t) => [t, rowsOf(chosen, t)]),
    /* One byte per sample, 1 if selected: for drawing, not to be changed. */
    mask: (t) => chosen[t],

    /* --- groups ------------------------------------------------------------------------------------------------ */
    /* Keeps the selection, or other samples, as a group. */
    keep(name, words = label, samples = null) {
      const mask = samples ? empty() : chosen.map((m) => m.slice());
      if (samples) put(mask, samples, 1);
      groups.set(name, { mask, words });
      changed(store.GROUPS);
    },
    drop(name) { if (groups.delete(name)) changed(store.GROUPS); },
    /* {words, count, countOf, has, rows} or null. */
    group(name) { const g = groups.get(name); return g ? view(g.mask, g.words) : null; },
    groupNames: () => [...groups.keys()],

    /* --- filters: test(task, row) is true for samples to show; null removes the filter --------------------------- */
    filter(key, test, words = "") {
      if (test) filters.set(key, { test, words });
      else if (!filters.delete(key)) return;
      shown = filters.size ? sizes.map((n, t) => {
        const mask = new Uint8Array(n), tests = [...filters.values()];
        for (let i = 0; i < n; i++) mask[i] = tests.every((f) => f.test(t, i)) ? 1 : 0;
        return mask;
      }) : null;
      changed(store.FILTERS);
    },
    filters: () => [...filters].map(([key, f]) => ({ key, words: f.words })),
    /* Whether a sample passes every filter but one: what the histogram of this filter counts. */
    passesOthers(key, t, i) {
      for (const [k, f] of filters) if (k !== key && !f.test(t, i)) return false;
      return true;
    },
    shown: (t, i) => valid(t, i) && visible(t, i),
    /* One byte per sample, 1 if shown; null: all are. */
    shownMask: (t) => shown === null ? null : shown[t],
    get shownCount() { return countMask(sizes.map((n) => new Uint8Array(n).fill(1))).reduce((a, b) => a + b, 0); },

    /* --- subscribers --------------------------------------------------------------------------------------------- */
    /* f(part): part is SELECTION, GROUPS or FILTERS, or their sum. Returns a function that ends the subscription. */
    subscribe(f) { subscribers.add(f); return () => subscribers.delete(f); },
    /* Several changes with one call of the subscribers. */
    together(change) {
      waiting = waiting || 8;
      try { change(); } finally {
        const parts = waiting & 7;
        waiting = 0;
        if (parts) for (const f of [...subscribers]) f(parts);
      }
    },
  };
  return store;
}
