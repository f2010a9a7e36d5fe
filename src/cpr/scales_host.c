/* SPDX-License-Identifier: BSD-3-Clause */
/* The scales of the pressure equations on the host. Rows are shared out over the threads. */
#include "core/threads/parallel.h"
#include "cpr/cpr_ops.h"
#include "cpr/scales.h"

enum { ENTRIES_PER_THREAD = 1 << 13 };

typedef struct scales_job {
  bisai_context *context;
  const bsi_scaling *s;
  /* of a sweep */
  double omega;
  const int32_t *from;
  int32_t *to;
  /* of the end */
  int bs;
  double *weights;
} scales_job;

static bsi_rows rows_of(const scales_job *job, bsi_part part) {
  return bsi_rows_of(job->s->p->block_rows, job->s->p->row_ptr, part);
}

static void run(const scales_job *job, void (*part)(void *, bsi_part)) {
  const int threads = bsi_threads_for(job->context->threads, job->s->p->blocks, ENTRIES_PER_THREAD);
  bsi_run(job->context, threads, BSI_SOME_PARTS, part, (void *)(uintptr_t)job);
}

static void begin_part(void *work, bsi_part part) {
  const scales_job *job = work;
  const bsi_scaling *s = job->s;
  const bsi_rows rows = rows_of(job, part);
  const double *values = s->p->values;
  for (int32_t q = s->p->row_ptr[rows.begin]; q < s->p->row_ptr[rows.end]; q++) s->pairs[q] = 0;
  for (int32_t i = rows.begin; i < rows.end; i++) s->x[i] = -bsi_log2(values[s->diagonal[i]]);
}

static void pair_part(void *work, bsi_part part) {
  const scales_job *job = work;
  const bsi_scaling *s = job->s;
  const bisai_bcsr *p = s->p;
  const bsi_rows rows = rows_of(job, part);
  bsi_imbalance *sums = bsi_partial(job->context, part.thread);
  for (int32_t i = rows.begin; i < rows.end; i++)
    for (int32_t q = s->diagonal[i] + 1; q < p->row_ptr[i + 1]; q++)
      bsi_pair_find(p->row_ptr, p->col_idx, p->values, s->x, i, q, s->pairs, sums);
}

static void sweep_part(void *work, bsi_part part) {
  const scales_job *job = work;
  const bisai_bcsr *p = job->s->p;
  const int32_t *from = job->from;
  const bsi_rows rows = rows_of(job, part);
  for (int32_t i = rows.begin; i < rows.end; i++) {
    const int32_t x = from ? from[i] : 0, end = p->row_ptr[i + 1];
    int64_t sum = 0, weight = 0;
    for (int32_t q = p->row_ptr[i]; q < end; q++)
      bsi_sweep_add(job->s->pairs[q], from ? from[p->col_idx[q]] - x : 0, &sum, &weight);
    job->to[i] = bsi_sweep_end(x, sum, weight, job->omega);
  }
}

static void scale_part(void *work, bsi_part part) {
  const scales_job *job = work;
  const bisai_bcsr *p = job->s->p;
  double *values = p->values;
  const bsi_rows rows = rows_of(job, part);
  for (int32_t i = rows.begin; i < rows.end; i++) {
    if (job->s->x[i] == 0) continue;
    const double scale = bsi_row_scale(job->s->x[i], values[job->s->diagonal[i]]);
    for (int32_t q = p->row_ptr[i]; q < p->row_ptr[i + 1]; q++) values[q] *= scale;
    for (int k = 0; k < job->bs; k++) job->weights[(int64_t)i * job->bs + k] *= scale;
  }
}

static bisai_status begin(bisai_context *context, const bsi_scaling *s) {
  run(&(scales_job){.context = context, .s = s}, begin_part);
  return BISAI_OK;
}

static bisai_status pair(bisai_context *context, const bsi_scaling *s, bsi_imbalance *sums) {
  for (int t = 0; t < context->threads; t++)
    *(bsi_imbalance *)bsi_partial(context, t) = (bsi_imbalance){0};
  run(&(scales_job){.context = context, .s = s}, pair_part);
  *sums = (bsi_imbalance){0};
  for (int t = 0; t < context->threads; t++) {
    const bsi_imbalance *own = bsi_partial(context, t);
    sums->sum += own->sum, sums->weight += own->weight;
  }
  return BISAI_OK;
}

static bisai_status sweep(bisai_context *context, const bsi_scaling *s, double omega,
                          const int32_t *from, int32_t *to) {
  run(&(scales_job){.context = context, .s = s, .omega = omega, .from = from, .to = to},
      sweep_part);
  return BISAI_OK;
}

static bisai_status scale(bisai_context *context, const bsi_scaling *s, int bs, double *weights) {
  run(&(scales_job){.context = context, .s = s, .bs = bs, .weights = weights}, scale_part);
  return BISAI_OK;
}

const bsi_scales_ops bsi_scales_host = {
    .begin = begin, .pair = pair, .sweep = sweep, .scale = scale};
