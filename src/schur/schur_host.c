/* SPDX-License-Identifier: BSD-3-Clause */
/* The steps of a Schur complement on the host. Indices are shared out over the threads. */
#include "core/context/context_impl.h"
#include "core/threads/parallel.h"
#include "schur/steps.h"

enum { VALUES_PER_THREAD = 1 << 15, ROWS_PER_THREAD = 256 };

typedef struct vector_job {
  int64_t n;
  bsi_taking how;
  const int64_t *map;
  const int32_t *rows;
  const double *d, *from;
  double *to;
} vector_job;

static void take_part(void *work, bsi_part part) {
  const vector_job *job = work;
  const bsi_range range = bsi_range_of(job->n, part);
  for (int64_t k = range.begin; k < range.end; k++)
    job->to[k] = bsi_taken(job->how, job->map[k], job->from);
}

static void gather_part(void *work, bsi_part part) {
  const vector_job *job = work;
  const bsi_range range = bsi_range_of(job->n, part);
  for (int64_t k = range.begin; k < range.end; k++) job->to[k] = job->from[job->rows[k]];
}

static void scatter_part(void *work, bsi_part part) {
  const vector_job *job = work;
  const bsi_range range = bsi_range_of(job->n, part);
  for (int64_t k = range.begin; k < range.end; k++) job->to[job->rows[k]] = job->from[k];
}

static void scale_part(void *work, bsi_part part) {
  const vector_job *job = work;
  const bsi_range range = bsi_range_of(job->n, part);
  for (int64_t k = range.begin; k < range.end; k++) job->to[k] = job->d[k] * job->from[k];
}

static void complement_part(void *work, bsi_part part) {
  const bsi_complement *x = work;
  const bsi_rows rows = bsi_rows_of(x->rows, x->row_ptr, part);
  for (int32_t i = rows.begin; i < rows.end; i++) bsi_complement_row(x, i);
}

static bisai_status run(bisai_context *context, bsi_work *part, vector_job job) {
  bsi_run(context, bsi_threads_for(context->threads, job.n, VALUES_PER_THREAD), BSI_SOME_PARTS,
          part, &job);
  return BISAI_OK;
}

static bisai_status take(bisai_context *context, bsi_taking how, int64_t count, const int64_t *map,
                         const double *from, double *to) {
  return run(context, take_part,
             (vector_job){.n = count, .how = how, .map = map, .from = from, .to = to});
}

static bisai_status complement(bisai_context *context, const bsi_complement *x) {
  bsi_complement job = *x;
  bsi_run(context, bsi_threads_for(context->threads, x->rows, ROWS_PER_THREAD), BSI_SOME_PARTS,
          complement_part, &job);
  return BISAI_OK;
}

static bisai_status gather(bisai_context *context, int32_t n, const int32_t *rows,
                           const double *from, double *to) {
  return run(context, gather_part, (vector_job){.n = n, .rows = rows, .from = from, .to = to});
}

static bisai_status scatter(bisai_context *context, int32_t n, const int32_t *rows,
                            const double *from, double *to) {
  return run(context, scatter_part, (vector_job){.n = n, .rows = rows, .from = from, .to = to});
}

static bisai_status scale(bisai_context *context, int32_t n, const double *d, const double *x,
                          double *y) {
  return run(context, scale_part, (vector_job){.n = n, .d = d, .from = x, .to = y});
}

const bsi_schur_ops bsi_schur_host = {take, complement, gather, scatter, scale};
