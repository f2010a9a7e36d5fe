/* SPDX-License-Identifier: BSD-3-Clause */
/* The vectors of a Lanczos process on the host. Sums are cut into chunks
 * (core/vector/chunks_host.h). */
#include "multigrid/diagonal/lanczos.h"

#include "core/context/context_impl.h"
#include "core/threads/parallel.h"
#include "core/vector/chunks_host.h"
#include "multigrid/diagonal/diagonal_ops.h"

typedef struct vectors {
  int64_t n;
  const double *a, *b;
  double *y, scale, *partials;
} vectors;

typedef struct start_job {
  int64_t n;
  int bs;
  const double *inverse;
  double *r;
} start_job;

static void run(bisai_context *context, bsi_work *work, const vectors *job) {
  bsi_run(context, bsi_threads_for(context->threads, 2 * job->n, BSI_CHUNK_GRAIN), BSI_SOME_PARTS,
          work, (void *)job);
}

static void dot_part(void *job, bsi_part part) {
  const vectors *j = job;
  const int64_t length = bsi_chunk_length(j->n);
  const bsi_range range = bsi_range_of(bsi_chunks_of(j->n), part);
  for (int64_t chunk = range.begin; chunk < range.end; chunk++) {
    const int64_t begin = chunk * length, end = bsi_smaller(begin + length, j->n);
    j->partials[chunk] = 0.0;
    bsi_dot_group(1, end - begin, j->a + begin, 0, j->b + begin, j->partials + chunk);
  }
}

/* y ← y − scale·a */
static void subtract_part(void *job, bsi_part part) {
  const vectors *j = job;
  const bsi_range range = bsi_range_of(j->n, part);
  for (int64_t i = range.begin; i < range.end; i++) j->y[i] -= j->scale * j->a[i];
}

/* y ← a + scale·y. y is not read if `scale` is 0. */
static void add_part(void *job, bsi_part part) {
  const vectors *j = job;
  const bsi_range range = bsi_range_of(j->n, part);
  for (int64_t i = range.begin; i < range.end; i++)
    j->y[i] = j->scale == 0.0 ? j->a[i] : j->a[i] + j->scale * j->y[i];
}

static bisai_status dot(bisai_context *context, int64_t n, const double *a, const double *b,
                        int place, double *work) {
  double *partials = work + BSI_LANCZOS_PARTIALS;
  run(context, dot_part, &(vectors){.n = n, .a = a, .b = b, .partials = partials});
  bsi_add_chunks(bsi_chunks_of(n), 1, partials, work + place);
  return BISAI_OK;
}

static bisai_status change(bisai_context *context, int64_t n, bool add, const double *a, double *y,
                           const double *work) {
  run(context, add ? add_part : subtract_part,
      &(vectors){.n = n, .a = a, .y = y, .scale = work[BSI_LANCZOS_STEP]});
  return BISAI_OK;
}

static void start_part(void *job, bsi_part part) {
  const start_job *j = job;
  const bsi_range range = bsi_range_of(j->n, part);
  for (int64_t i = range.begin; i < range.end; i++)
    j->r[i] = bsi_lanczos_start(i, j->bs, j->inverse);
}

static bisai_status start(bisai_context *context, int64_t n, int bs, const double *inverse,
                          double *r) {
  bsi_run(context, bsi_threads_for(context->threads, n, BSI_CHUNK_GRAIN), BSI_SOME_PARTS,
          start_part, &(start_job){n, bs, inverse, r});
  return BISAI_OK;
}

static bisai_status reduce(bisai_context *context, int k, int64_t n, const double *p,
                           const double *q, double *r, double *work) {
  BSI_TRY(dot(context, n, p, q, BSI_LANCZOS_SUM, work));
  bsi_lanczos_alpha(k, work);
  return change(context, n, false, q, r, work);
}

static bisai_status direct(bisai_context *context, int k, int64_t n, const double *r,
                           const double *z, double *p, double *work) {
  BSI_TRY(dot(context, n, r, z, BSI_LANCZOS_SUM, work));
  bsi_lanczos_beta(k, work);
  return change(context, n, true, z, p, work);
}

const bsi_lanczos_ops bsi_lanczos_host = {
    .start = start, .reduce = reduce, .direct = direct, .dot = dot};
