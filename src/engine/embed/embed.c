/* Two-dimensional maps of the samples of related tasks. SPDX-License-Identifier: BSD-3-Clause
 *
 * Rows minus their task's mean are compared as in the ensemble (engine/graph/views.c: by cosine or distance). Their
 * leading directions are the start of a layout by forces (forces.c), or the layout itself. */
#include "engine/embed/embed.h"

#include "matrix/range.h"

enum { NEIGHBORS = 15, SHARED = 20 };

typedef struct plane {
	kdri_views views;
	double *shared; /* all rows x width: along leading directions */
	int64_t width;
	kdri_own *graphs, anchors;
	kdr_csr *csr;
	double *y; /* two per row */
} plane;

static void plane_free(kdr_context *ctx, plane *p)
{
	for (int64_t t = 0; p->graphs && t < p->views.ntasks; t++)
		kdri_own_free(ctx, &p->graphs[t]);
	kdri_own_free(ctx, &p->anchors);
	KDRI_FREE(ctx, p->graphs, p->csr, p->shared, p->y);
	kdri_views_free(ctx, &p->views);
}

/* The first two directions, or fewer if there are not as many. The largest entry of each is made positive because its
 * sign is arbitrary otherwise. */
static kdr_status embed_start(kdr_context *ctx, plane *p)
{
	int64_t n = p->views.begin[p->views.ntasks];
	KDRI_DO(KDRI_NEW0(ctx, &p->y, 2 * n));
	for (int64_t c = 0; c < KDRI_MIN(2, p->width); c++) {
		double largest = 0;
		for (int64_t i = 0; i < n; i++)
			if (fabs(p->shared[i * p->width + c]) > fabs(largest))
				largest = p->shared[i * p->width + c];
		for (int64_t i = 0; i < n; i++)
			p->y[2 * i + c] =
			        largest < 0 ? -p->shared[i * p->width + c] : p->shared[i * p->width + c];
	}
	return KDR_OK;
}

/* Where the cosine compares, by it: anchors are chosen by direction. */
static void unit(plane *p)
{
	int64_t n = p->views.begin[p->views.ntasks];
	for (int64_t i = 0; i < n && p->views.tasks[0].cosine; i++) {
		double *row = p->shared + i * p->width, length = sqrt(kdri_nrm2sq(row, p->width));
		for (int64_t c = 0; c < p->width && length > 0; c++)
			row[c] /= length;
	}
}

static kdr_status forces(kdr_context *ctx, plane *p, int64_t sweeps)
{
	const kdri_views *v = &p->views;
	KDRI_DO(KDRI_NEW0(ctx, &p->graphs, v->ntasks));
	KDRI_DO(KDRI_NEW0(ctx, &p->csr, v->ntasks));
	for (int64_t t = 0; t < v->ntasks; t++) {
		KDRI_DO(kdri_embed_graph(ctx, &v->tasks[t], &p->graphs[t]));
		p->csr[t] = p->graphs[t].view.as.csr;
	}
	kdri_forces f = { .ntasks = v->ntasks, .begin = v->begin, .graphs = p->csr, .sweeps = sweeps };
	if (v->ntasks > 1) {
		unit(p);
		KDRI_DO(kdri_embed_anchors(ctx, v, p->shared, p->width, &p->anchors));
		f.anchors = &p->anchors.view.as.csr;
	}
	return kdri_forces_run(ctx, &f, p->y);
}

kdr_status kdri_embed_shared(kdr_context *ctx, const kdr_mat *x, int64_t count, double **out, int64_t *width)
{
	kdr_status st;
	kdr_task *tasks = NULL;
	plane p = { 0 };
	KDRI_TRY(KDRI_NEW0(ctx, &tasks, count));
	for (int64_t t = 0; t < count; t++)
		tasks[t].x = x[t];
	const kdr_problem problem = { .size = sizeof(kdr_problem), .tasks = tasks, .ntasks = count };
	const kdri_views_options looks = { .together = true, .later = true };
	KDRI_TRY(kdri_views_new(ctx, &problem, &looks, &p.views));
	p.width = KDRI_MIN(SHARED, KDRI_MIN(p.views.begin[count], kdr_mat_cols(&x[0])));
	KDRI_TRY(kdri_views_pooled(ctx, &p.views, p.width, &p.shared));
	unit(&p);
	*out = p.shared;
	*width = p.width;
	p.shared = NULL;
done:
	kdri_free(ctx, tasks);
	plane_free(ctx, &p);
	return st;
}

/* Tasks of equal width. */
static kdr_status embed_together(kdr_context *ctx, const kdr_mat *x, int64_t count,
                                 const kdr_embed_options *o, double *const *xy)
{
	kdr_status st;
	kdr_task *tasks = NULL;
	plane p = { 0 };
	int64_t fewest = INT64_MAX, neighbors = o->neighbors ? o->neighbors : NEIGHBORS;
	KDRI_TRY(KDRI_NEW0(ctx, &tasks, count));
	for (int64_t t = 0; t < count; t++) {
		tasks[t].x = x[t];
		fewest = KDRI_MIN(fewest, kdr_mat_rows(&x[t]));
	}
	/* If all samples are neighbours of each other, the graph has no structure to show. */
	if (!o->neighbors)
		neighbors = KDRI_MAX(1, KDRI_MIN(neighbors, (fewest - 1) / 3));
	kdr_problem problem = { .size = sizeof(kdr_problem), .tasks = tasks, .ntasks = count };
	kdri_views_options looks = { .together = true,
		                     .one_graph = true,
		                     .centre = o->centre ? KDRI_CHOICE_YES : KDRI_CHOICE_AUTO,
		                     .neighbors = neighbors,
		                     .searched = neighbors };
	KDRI_TRY(kdri_views_new(ctx, &problem, &looks, &p.views));
	p.width = KDRI_MIN(count > 1 ? SHARED : 2,
	                   KDRI_MIN(p.views.begin[count], kdr_mat_cols(&p.views.tasks[0].rows.view)));
	KDRI_TRY(kdri_views_pooled(ctx, &p.views, p.width, &p.shared));
	KDRI_TRY(embed_start(ctx, &p));
	if (o->layout == KDR_EMBED_FORCES)
		KDRI_TRY(forces(ctx, &p, o->sweeps));
	for (int64_t t = 0; t < count; t++)
		memcpy(xy[t], p.y + 2 * p.views.begin[t], 2 * (size_t)kdr_mat_rows(&x[t]) * sizeof **xy);
done:
	kdri_free(ctx, tasks);
	plane_free(ctx, &p);
	return st;
}

kdr_status kdri_embed(kdr_context *ctx, const kdr_mat *x, int64_t count, const kdr_embed_options *options,
                      double *const *xy)
{
	bool alike = true;
	for (int64_t t = 1; t < count; t++)
		alike = alike && kdr_mat_cols(&x[t]) == kdr_mat_cols(&x[0]);
	if (alike)
		KDRI_DO(embed_together(ctx, x, count, options, xy));
	for (int64_t t = 0; t < count && !alike; t++)
		KDRI_DO(embed_together(ctx, &x[t], 1, options, &xy[t]));
	return KDR_OK;
}
