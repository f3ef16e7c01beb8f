/* The view as text for the address, so that a link opens it again. SPDX-License-Identifier: BSD-3-Clause
 *
 * "#view&colour=truth&zoom=2&x=100&y=200&level=1&select=0:1-5,9;1:3&search=word". The module needs no document and is tested with node. */

const LINK_MOST = 6000; /* characters of a selection */

/* Rows of each data set as ranges; "" if there are none, null if they are too many for a link. */
function rangesText(samples) {
  const parts = [];
  for (const [t, rows] of samples) {
    const runs = [];
    for (const i of rows) {
      const last = runs[runs.length - 1];
      if (last && last[1] === i - 1) last[1] = i;
      else runs.push([i, i]);
    }
    if (runs.length) parts.push(`${t}:${runs.map(([a, b]) => a === b ? a : `${a}-${b}`).join(",")}`);
  }
  const text = parts.join(";");
  return text.length > LINK_MOST ? null : text;
}

/* The reverse, with rows below `sizes`; anything else is skipped. */
function rangesOf(text, sizes) {
  const out = [];
  for (const part of String(text).split(";")) {
    const m = /^(\d+):([\d,-]+)$/.exec(part), t = m ? Number(m[1]) : -1, rows = [];
    if (!m || t >= sizes.length) continue;
    for (const run of m[2].split(",")) {
      const r = /^(\d+)(?:-(\d+))?$/.exec(run);
      if (!r) continue;
      for (let i = Number(r[1]); i <= Math.min(Number(r[2] === undefined ? r[1] : r[2]), sizes[t] - 1); i++) rows.push(i);
    }
    out.push([t, rows]);
  }
  return out;
}

/* {colour, x, y, zoom, level, search, select} as text: only what differs from `plain`. */
function linkText(now, plain) {
  const pairs = Object.keys(plain).filter((k) => now[k] !== null && now[k] !== undefined && now[k] !== plain[k]).map((k) => `${k}=${encodeURIComponent(typeof now[k] === "number" ? Math.round(now[k] * 1000) / 1000 : now[k])}`);
  return pairs.length ? `#view&${pairs.join("&")}` : "";
}

/* Fields of an address that are of the type of those in `plain`. */
function linkFields(hash, plain) {
  const out = {};
  if (!/^#view(&|$)/.test(hash)) return out;
  for (const pair of hash.slice(6).split("&")) {
    const at = pair.indexOf("="), key = pair.slice(0, at);
    let value;
    try { value = decodeURIComponent(pair.slice(at + 1)); } catch (e) { continue; }
    if (at < 1 || !Object.hasOwn(plain, key)) continue;
    if (typeof plain[key] === "number") { if (value.trim() !== "" && Number.isFinite(Number(value))) out[key] = Number(value); }
    else out[key] = value.slice(0, LINK_MOST);
  }
  return out;
}
