/* From scores to probabilities: two numbers learnt on samples whose class is known. SPDX-License-Identifier: BSD-3-Clause
 *
 * For sample i with scores s_ic (margins, or the logarithms of shares; 0 if a method has none) and label y_i:
 *
 *     (E1)  p_ic = exp(a s_ic + b [c = y_i]) / sum_e exp(a s_ie + b [e = y_i]),   a, b >= 0
 *
 * A label that a later stage of the method has changed (a vote, a constraint on proportions) need not have the largest score.
 * Its score is first raised to the largest, so that no class is more probable than the label:
 *
 *     (E3)  s_iy = max_c s_ic
 *
 * a is the temperature of the scores, b the additional weight of the label: a method without scores is calibrated
 * too. Both minimise, over N samples of known class z,
 *
 *     (E2)  L = - sum_i sum_c t_ic log p_ic,   t_iz = (N + 1) / (N + C), else 1 / (N + C), of C classes
 *
 * which is convex in (a, b), by Newton steps that are halved until L falls. The targets t are softened as in [Platt
 * 1999], so that samples that are all right do not make p 1. Rows may be on several ranks, whose sums are added.
 * Time: O(N C) per step. */
#include "jobs/transfer/calibrate.h"
#include "comm/comm.h"

enum { MOST_STEPS = 100, MOST_HALVINGS = 32 };

/* The logarithm of a share, which is never treated as impossible. */
static const double least_share = 1e-6;

void kdri_calibrate_row(const double *from, int64_t classes, kdr_scoring kind, int64_t label, double *s)
{
	double sum = 0, most = -INFINITY;
	for (int64_t c = 0; c < classes; c++)
		sum += from && kind == KDR_SCORING_SHARES ? KDRI_MAX(from[c], 0) : 0;
	for (int64_t c = 0; c < classes; c++)
		s[c] = !from ? 0
		       : kind == KDR_SCORING_MARGINS
		               ? KDRI_MAX(from[c], -1e6) /* -inf: a class without samples */
		       : sum > 0 ? log(KDRI_MAX(from[c] / sum, least_share))
		                 : 0;
	for (int64_t c = 0; c < classes; c++)
		most = KDRI_MAX(most, s[c]);
	if (label >= 0 && label < classes)
		s[label] = most; /* (E3) */
}

void kdri_calibrated(const double *s, int64_t classes, int64_t label, double a, double b, double *p)
{
	double most = -INFINITY, sum = 0;
	for (int64_t c = 0; c < classes; c++) {
		p[c] = a * s[c] + (c == label ? b : 0);
		most = KDRI_MAX(most, p[c]);
	}
	for (int64_t c = 0; c < classes; c++)
		sum += p[c] = exp(p[c] - most);
	for (int64_t c = 0; c < classes; c++)
		p[c] /= sum; /* (E1) */
}

/* L of (E2), its gradient (2) and its second derivatives (aa, ab, bb). */
typedef struct slope {
	double loss, g[2], h[3];
} slope;

static void add_sample(const kdri_held_out *h, int64_t i, const double *p, double n, slope *out)
{
	const double *s = h->s + i * h->classes;
	double all = n + (double)h->classes, ps = 0, pss = 0;
	int64_t y = h->label[i];
	double py = y >= 0 && y < h->classes ? p[y] : 0;
	for (int64_t c = 0; c < h->classes; c++) {
		double t = (c == h->truth[i] ? n + 1 : 1) / all;
		out->loss -= t * log(KDRI_MAX(p[c], 1e-300));
		out->g[0] += (p[c] - t) * s[c];
		out->g[1] += c == y ? p[c] - t : 0;
		ps += p[c] * s[c];
		pss += p[c] * s[c] * s[c];
	}
	out->h[0] += pss - ps * ps;
	out->h[1] += py > 0 ? py * (s[y] - ps) : 0;
	out->h[2] += py * (1 - py);
}

static kdr_status slope_at(kdr_context *ctx, const kdri_held_out *h, int64_t all, double a, double b,
                           double *p, slope *out)
{
	*out = (slope){ 0 };
	for (int64_t i = 0; i < h->n; i++) {
		kdri_calibrated(h->s + i * h->classes, h->classes, h->label[i], a, b, p);
		add_sample(h, i, p, (double)all, out);
	}
	double v[] = { out->loss, out->g[0], out->g[1], out->h[0], out->h[1], out->h[2] };
	kdr_status st = kdri_sum(ctx, v, 6);
	*out = (slope){ v[0], { v[1], v[2] }, { v[3], v[4], v[5] } };
	return st;
}

/* The step -H^-1 g; along a bound that it would cross, the other alone. */
static void calibrate_newton(const slope *d, const double *at, double *step)
{
	double ridge = 1e-10 * (d->h[0] + d->h[2]) + 1e-12;
	double aa = d->h[0] + ridge, bb = d->h[2] + ridge, det = aa * bb - d->h[1] * d->h[1];
	step[0] = -(bb * d->g[0] - d->h[1] * d->g[1]) / det;
	step[1] = -(aa * d->g[1] - d->h[1] * d->g[0]) / det;
	if (at[0] <= 0 && step[0] < 0) {
		step[0] = 0;
		step[1] = -d->g[1] / bb;
	}
	if (at[1] <= 0 && step[1] < 0) {
		step[1] = 0;
		step[0] = at[0] <= 0 && d->g[0] > 0 ? 0 : -d->g[0] / aa;
	}
}

kdr_status kdri_calibrate(kdr_context *ctx, const kdri_held_out *h, double *a, double *b, double *loss)
{
	kdr_status st;
	double *p = NULL, at[2] = { 1, 0 };
	bool scored = false;
	slope now, next;
	int64_t all = h->n;
	KDRI_TRY(KDRI_NEW(ctx, &p, h->classes));
	KDRI_TRY(kdri_sum_int(ctx, &all, 1));
	for (int64_t i = 0; i < h->n * h->classes; i++)
		scored = scored || h->s[i] != 0;
	KDRI_TRY(kdri_any(ctx, &scored));
	if (!scored)
		at[0] = 0;
	KDRI_TRY(slope_at(ctx, h, all, at[0], at[1], p, &now));
	for (int k = 0; k < MOST_STEPS; k++) {
		double step[2], fall;
		calibrate_newton(&now, at, step);
		next = now;
		double to[2] = { at[0], at[1] };
		for (int halved = 0; halved < MOST_HALVINGS; halved++) {
			for (int j = 0; j < 2; j++)
				to[j] = KDRI_MAX(at[j] + ldexp(step[j], -halved), 0);
			KDRI_TRY(slope_at(ctx, h, all, to[0], to[1], p, &next));
			if (next.loss < now.loss)
				break;
		}
		fall = now.loss - next.loss;
		if (!(fall > 0))
			break;
		memcpy(at, to, sizeof at);
		now = next;
		if (fall < 1e-10 * now.loss)
			break;
	}
	*a = at[0];
	*b = at[1];
	/* Compares one sample with the true classes. */
	double sum = 0;
	for (int64_t i = 0; i < h->n; i++) {
		kdri_calibrated(h->s + i * h->classes, h->classes, h->label[i], at[0], at[1], p);
		sum -= log(KDRI_MAX(p[h->truth[i]], 1e-300));
	}
	KDRI_TRY(kdri_sum(ctx, &sum, 1));
	*loss = sum / (double)KDRI_MAX(all, 1);
done:
	kdri_free(ctx, p);
	return st;
}
