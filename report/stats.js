/* What sets samples apart: the statistic that clusters have in result.json, computed in the page.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * effect = (mean inside − mean outside) / standard deviation over all samples of the data set, on the values that the method used.
 * For samples of several data sets it is the mean over the data sets that have samples inside and outside, weighted by the number
 * inside. If no data set has both, all are compared together. The module needs no document and is tested with node (tests/page). */

/* Sums over the samples of some data sets: all of them, inside and outside, with the numbers of those that are not zero. `inside` and
 * `outside`: a Uint8Array per data set. */
function sumsOf(feature, sets, kind, inside, outside) {
  const s = { n: 0, sum: 0, square: 0, ni: 0, inside: 0, no: 0, outside: 0, hi: 0, ho: 0 };
  for (const t of sets) {
    const c = feature.coded(kind, t), a = inside[t], b = outside[t];
    if (!c) continue;
    const zero = c.step > 0 ? Math.round(-c.low / c.step) : c.low === 0 ? 0 : -1; /* the code of 0 */
    let n = 0, sum = 0, square = 0, ni = 0, si = 0, no = 0, so = 0;
    for (let p = 0; p < c.codes.length; p++) {
      const v = c.codes[p], i = c.rows ? c.rows[p] : p;
      if (v === CODE_MISSING) continue;
      n++;
      sum += v;
      square += v * v;
      if (a[i]) { ni++; si += v; if (v !== zero) s.hi++; }
      if (b[i]) { no++; so += v; if (v !== zero) s.ho++; }
    }
    s.n += n;
    s.sum += n * c.low + c.step * sum;
    s.square += n * c.low * c.low + 2 * c.low * c.step * sum + c.step * c.step * square;
    s.ni += ni;
    s.inside += ni * c.low + c.step * si;
    s.no += no;
    s.outside += no * c.low + c.step * so;
  }
  return s;
}

function effectOf(s) {
  const mean = s.sum / s.n, square = s.square / s.n, variance = square - mean * mean;
  if (!s.ni || !s.no || !(variance > 1e-9 * square)) return NaN;
  return (s.inside / s.ni - s.outside / s.no) / Math.sqrt(variance);
}

/* Features with their effects, the largest first: [{name, unit, low, high, effect, mean_inside, mean_outside, share_inside, share_outside}].
 * `inside` and `outside`: a Uint8Array per data set. Effects below `least` are left out. */
function effects(features, inside, outside, least = 0.2) {
  const some = (masks, t) => masks[t].some((v) => v), all = inside.map((_, t) => t);
  const both = all.filter((t) => some(inside, t) && some(outside, t)), parts = both.length ? both.map((t) => [t]) : [all];
  const out = [];
  for (const f of features) {
    let effect = 0, weight = 0;
    for (const sets of parts) {
      const s = sumsOf(f, sets, "fit", inside, outside), e = effectOf(s);
      if (Number.isNaN(e)) continue;
      effect += e * s.ni;
      weight += s.ni;
    }
    if (!weight || !(Math.abs(effect / weight) >= least)) continue;
    const s = sumsOf(f, parts.flat(), "own", inside, outside);
    out.push({ name: f.name, unit: f.unit, low: f.low, high: f.high, effect: effect / weight, mean_inside: s.inside / s.ni, mean_outside: s.outside / s.no,
      share_inside: s.hi / s.ni, share_outside: s.ho / s.no });
  }
  return out.sort((a, b) => Math.abs(b.effect) - Math.abs(a.effect) || (a.name < b.name ? -1 : 1));
}

/* How two sets of samples overlap: {a, b, both, either, jaccard}. */
function overlapOf(a, b) {
  const out = { a: 0, b: 0, both: 0, either: 0 };
  a.forEach((mask, t) => mask.forEach((v, i) => {
    const w = b[t][i];
    out.a += v;
    out.b += w;
    out.both += v & w;
    out.either += v | w;
  }));
  return { ...out, jaccard: out.either ? out.both / out.either : 0 };
}

/* Whether a point is inside a polygon: even-odd rule. */
function insidePolygon(points, x, y) {
  let inside = false;
  for (let i = 0, j = points.length - 1; i < points.length; j = i++) {
    const [xi, yi] = points[i], [xj, yj] = points[j];
    if ((yi > y) !== (yj > y) && x < (xj - xi) * (y - yi) / (yj - yi) + xi) inside = !inside;
  }
  return inside;
}
