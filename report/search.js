/* Search: samples whose id, name, text, label or strongest features have all words of a query, and features by name.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The module needs no document and is tested with node (tests/page). */

/* Words of a query, in lower case; "a phrase in quotes" is one word. */
function queryWords(query) {
  return [...String(query).toLowerCase().matchAll(/"([^"]+)"?|(\S+)/g)].map((m) => (m[1] === undefined ? m[2] : m[1]).trim()).filter((w) => w.replace(/"/g, ""));
}

const hasAll = (text, words) => words.every((w) => text.includes(w));

/* {samples: [[data set, rows]], count, features: [name]}. `describe(t, i)` gives the searched text of a sample in lower case. */
function searchAll(query, sizes, describe, names, shown = () => true) {
  const words = queryWords(query);
  if (!words.length) return { samples: [], count: 0, features: [] };
  let count = 0;
  const samples = sizes.map((n, t) => {
    const rows = [];
    for (let i = 0; i < n; i++) if (shown(t, i) && hasAll(describe(t, i), words)) rows.push(i);
    count += rows.length;
    return [t, rows];
  }).filter(([, rows]) => rows.length);
  const starts = (name) => name.toLowerCase().startsWith(words[0]) ? 0 : 1;
  const features = names.filter((name) => hasAll(name.toLowerCase(), words)).map((name, i) => [starts(name), i, name]).sort((a, b) => a[0] - b[0] || a[1] - b[1]).map((e) => e[2]);
  return { samples, count, features };
}
