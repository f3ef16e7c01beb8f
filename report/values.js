/* Numbers of samples: values of features, confidence, sizes of clusters. SPDX-License-Identifier: BSD-3-Clause
 *
 * A field is a number per sample that one can colour, filter and select by:
 *
 *   {key, title, low, high, unit, values(t)}   values(t): a Float32Array with an entry per sample of data set t, NaN if unknown; null: none
 *
 * The module needs no document and is tested with node (tests/page). docs/report.md describes the codes. */

const CODE_HIGH = 254, CODE_MISSING = 255;

/* The bytes of n points, or null if the codes are damaged. */
function decodeCodes(coded, n) {
  let text;
  try { text = atob(coded.codes); } catch (e) { return null; }
  if (!Number.isInteger(coded.fill)) {
    if (text.length !== n) return null;
    return Uint8Array.from(text, (c) => c.charCodeAt(0));
  }
  if (coded.fill < 0 || coded.fill > 255 || text.length % 2) return null;
  const out = new Uint8Array(n).fill(coded.fill);
  let at = 0;
  for (let i = 0; i < text.length; i += 2, at++) {
    at += text.charCodeAt(i);
    if (at >= n) return null;
    out[at] = text.charCodeAt(i + 1);
  }
  return out;
}

/* The features of all data sets by name: {name, unit, low, high, coded(kind, t), values(t)}. `sets`: of each data set {values, points, rows,
 * samples}; `rows`: the samples of the points, null: all in their order. coded("fit", t) are the values that the method used and
 * coded("own", t) those of the file, if they are known: {codes, low, step}, or null. values(t) are the latter as numbers. Codes are decoded
 * when they are first used. */
function featureTable(sets) {
  const found = new Map(), usable = (v) => v && typeof v.codes === "string" && Number.isFinite(v.low) && Number.isFinite(v.high);
  sets.forEach((set, t) => {
    for (const v of set.values) {
      if (!usable(v) || typeof v.name !== "string") continue;
      if (!found.has(v.name)) found.set(v.name, { name: v.name, unit: "value", low: Infinity, high: -Infinity, raw: sets.map(() => null) });
      const f = found.get(v.name), own = usable(v.own) ? v.own : v;
      if (f.raw[t]) continue;
      f.raw[t] = { fit: v, own };
      if (own !== v) f.unit = ["share", "date"].includes(own.unit) ? own.unit : "number";
      f.low = Math.min(f.low, own.low);
      f.high = Math.max(f.high, own.high);
    }
  });
  for (const f of found.values()) {
    const decoded = new Map(), numbers = new Map();
    f.coded = (kind, t) => {
      const raw = f.raw[t] && f.raw[t][kind];
      if (!raw) return null;
      if (!decoded.has(raw)) {
        const codes = decodeCodes(raw, sets[t].points);
        decoded.set(raw, codes ? { codes, low: raw.low, step: (raw.high - raw.low) / CODE_HIGH, rows: sets[t].rows } : null);
      }
      return decoded.get(raw);
    };
    f.values = (t) => {
      if (numbers.has(t)) return numbers.get(t);
      const c = f.coded("own", t), out = c ? new Float32Array(sets[t].samples).fill(NaN) : null;
      for (let p = 0; c && p < c.codes.length; p++) if (c.codes[p] !== CODE_MISSING) out[c.rows ? c.rows[p] : p] = c.low + c.codes[p] * c.step;
      numbers.set(t, out);
      return out;
    };
  }
  return [...found.values()];
}

/* A value of a field as text. */
function fieldText(field, v) {
  if (!Number.isFinite(v)) return "–";
  if (field.unit === "date") {
    const day = new Date(Math.round(v) * 864e5);
    return Number.isNaN(day.getTime()) ? "–" : day.toISOString().slice(0, 10);
  }
  if (Number.isInteger(v)) return String(v);
  const span = Math.abs(field.high - field.low) || Math.abs(v) || 1, digits = Math.max(0, Math.min(6, 2 - Math.floor(Math.log10(span))));
  return v.toFixed(digits).replace("-", "−");
}

/* What a person has typed: a number, or a date for fields of dates. NaN if it is neither. */
function fieldNumber(field, text) {
  const s = String(text).trim().replace("−", "-").replace(",", ".");
  if (s === "") return NaN;
  if (field.unit === "date") return /^\d{4}-\d{2}-\d{2}$/.test(s) ? Date.parse(s) / 864e5 : NaN;
  return Number(s);
}

/* Counts in `bins` equal intervals: {counts, low, high}. `each` calls back with every value; the highest value is in the last bin. */
function histogram(low, high, bins, each) {
  const counts = new Array(bins).fill(0), width = (high - low) / bins || 1;
  each((v) => { if (v >= low && v <= high) counts[Math.min(bins - 1, Math.floor((v - low) / width))]++; });
  return { counts, low, high, width };
}
