/* SPDX-License-Identifier: BSD-3-Clause */
/* Fused sweeps on the host. Every step reads A, and memory traffic bounds those of large levels.
 * A step may compute a row as soon as the step before has computed the rows that are coupled to it.
 * The steps of a part of the rows therefore follow each other at the distance at which rows are
 * coupled, and find A in the cache. At the ends of a part a step needs rows of other parts: what is
 * left there follows step by step. Each row is computed as by single steps, so that the result has
 * the same bits. */
#include "core/context/context_impl.h"
#include "core/threads/parallel.h"
#include "multigrid/cycle/cycle_ops.h"
#include "multigrid/cycle/operations.h"
#include "multigrid/cycle/relaxation_host.h"

enum {
  BYTES_PER_THREAD = 1 << 18,
  /* of the rows that a step computes at a time */
  TILE_BYTES = 1 << 15,
  /* of the rows between the first and the last of the fused sweeps, at most: they have to stay in
   * the cache of a core */
  WINDOW_BYTES = 1 << 19
};

typedef struct fused_job {
  int32_t count;
  bsi_relaxation steps[BSI_FUSED_SWEEPS];
  bsi_bandwidth bandwidth;
  int32_t tile;
  /* of the passes after the first */
  int32_t step;
} fused_job;

/* Returns the rows of a step that need no other part. */
static bsi_rows inner_rows(const fused_job *job, bsi_rows part, int32_t step) {
  const int32_t n = job->steps[0].a->block_rows;
  const int64_t begin = part.begin > 0 ? part.begin + (int64_t)step * job->bandwidth.below : 0,
                end = part.end < n ? part.end - (int64_t)step * job->bandwidth.above : n;
  return begin < end ? (bsi_rows){(int32_t)begin, (int32_t)end} : (bsi_rows){part.end, part.end};
}

static bsi_rows rows_of_part(const fused_job *job, bsi_part part) {
  const bisai_bcsr *a = job->steps[0].a;
  return bsi_rows_of(a->block_rows, a->row_ptr, part);
}

/* All steps, of the rows that need no other part. */
static void first_part(void *work, bsi_part part) {
  const fused_job *job = work;
  const bsi_rows all = rows_of_part(job, part);
  int32_t next[BSI_FUSED_SWEEPS] = {0};
  for (int32_t s = 0; s < job->count; s++) next[s] = inner_rows(job, all, s).begin;
  while (next[0] < all.end) {
    int64_t limit = (int64_t)next[0] + job->tile;
    for (int32_t s = 0; s < job->count; s++) {
      const int32_t end = inner_rows(job, all, s).end;
      if (limit > end) limit = end;
      if (limit > next[s]) {
        bsi_relax_rows(&job->steps[s], next[s], (int32_t)limit);
        next[s] = (int32_t)limit;
      }
      limit = next[s] == end ? INT32_MAX : next[s] - (int64_t)job->bandwidth.above;
    }
  }
}

/* The other rows of a step. */
static void other_part(void *work, bsi_part part) {
  const fused_job *job = work;
  const bsi_rows all = rows_of_part(job, part), inner = inner_rows(job, all, job->step);
  if (inner.begin > all.begin) bsi_relax_rows(&job->steps[job->step], all.begin, inner.begin);
  if (inner.end < all.end) bsi_relax_rows(&job->steps[job->step], inner.end, all.end);
}

static bsi_relaxation relaxation_of(const bsi_operation *s) {
  bsi_relaxation r = bsi_relaxation_of(s);
  if (s->kind != BSI_OPERATION_RELAX) r.inverse = (bsi_inverse){NULL, NULL};
  return r;
}

static bisai_status run(bisai_context *context, bsi_bandwidth bandwidth, int32_t count,
                        const bsi_operation *steps) {
  const bisai_bcsr *a = steps[0].matrix;
  const int64_t bytes = bsi_bcsr_product_bytes(a), row_bytes = bytes / (a->block_rows + 1) + 1;
  const int threads = bsi_threads_for(context->threads, bytes, BYTES_PER_THREAD);
  const int64_t window = ((int64_t)bandwidth.below + bandwidth.above) * row_bytes * (count - 1);
  if (count == 1 || bytes <= 2 * WINDOW_BYTES || window > WINDOW_BYTES) {
    for (int32_t s = 0; s < count; s++) BSI_TRY(bsi_operation_run(context, &steps[s]));
    return BISAI_OK;
  }
  fused_job job = {
      .count = count, .bandwidth = bandwidth, .tile = (int32_t)(TILE_BYTES / row_bytes) + 1};
  for (int32_t s = 0; s < count; s++) job.steps[s] = relaxation_of(&steps[s]);
  /* the first step that reads A is the first or the second */
  for (int32_t s = 1; s < count; s++) job.steps[s].cached = job.steps[s - 1].x != NULL;
  bsi_run(context, threads, BSI_SOME_PARTS, first_part, &job);
  for (job.step = 1; job.step < count && threads > 1; job.step++)
    bsi_run(context, threads, BSI_SOME_PARTS, other_part, &job);
  return BISAI_OK;
}

typedef struct reach_job {
  bisai_context *context;
  const bisai_bcsr *a;
} reach_job;

static void reach_part(void *work, bsi_part part) {
  const reach_job *job = work;
  const bisai_bcsr *a = job->a;
  bsi_bandwidth *bandwidth = bsi_partial(job->context, part.thread);
  const bsi_rows rows = bsi_rows_of(a->block_rows, a->row_ptr, part);
  for (int32_t i = rows.begin; i < rows.end; i++) {
    if (a->row_ptr[i] == a->row_ptr[i + 1]) continue;
    const int32_t first = a->col_idx[a->row_ptr[i]], last = a->col_idx[a->row_ptr[i + 1] - 1];
    if (i - first > bandwidth->below) bandwidth->below = i - first;
    if (last - i > bandwidth->above) bandwidth->above = last - i;
  }
}

static bsi_bandwidth bandwidth(bisai_context *context, const bisai_bcsr *a) {
  const int threads =
      bsi_threads_for(context->threads, bsi_bcsr_product_bytes(a), BYTES_PER_THREAD);
  bsi_bandwidth all = {0};
  for (int t = 0; t < threads; t++) *(bsi_bandwidth *)bsi_partial(context, t) = all;
  bsi_run(context, threads, BSI_SOME_PARTS, reach_part, &(reach_job){context, a});
  for (int t = 0; t < threads; t++) {
    const bsi_bandwidth *found = bsi_partial(context, t);
    if (found->below > all.below) all.below = found->below;
    if (found->above > all.above) all.above = found->above;
  }
  return all;
}

const bsi_fused_sweeps_ops bsi_fused_sweeps_host = {.run = run, .bandwidth = bandwidth};

/* An operation costs no launch on the host, so that nothing is gained by a graph. */
const bsi_coarse_graph_ops bsi_coarse_graph_host = {.run = NULL};
