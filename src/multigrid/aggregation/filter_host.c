/* SPDX-License-Identifier: BSD-3-Clause */
/* The filtered columns of the blocks on the host. */
#include <string.h>

#include "core/block/block_sizes.h"
#include "core/threads/parallel.h"
#include "multigrid/aggregation/aggregation_ops.h"
#include "multigrid/aggregation/filter.h"

enum { BLOCKS_PER_THREAD = 4096 };

typedef struct aim_job {
  const bisai_bcsr *a;
  const double *inverse;
  const int32_t *aggregate;
  int32_t count;
  float threshold;
  int32_t *target;
  uint8_t *weak;
} aim_job;

/* The weights stand in `target` until the largest of the row is known. */
BSI_INLINE void aim_row(const int bs, const aim_job *job, int32_t i) {
  const bisai_bcsr *a = job->a;
  const double *values = a->values;
  const size_t size = (size_t)(bs * bs);
  const int32_t begin = a->row_ptr[i], end = a->row_ptr[i + 1], own = job->aggregate[i];
  const bool is_long = bsi_is_long(a->block_rows, a->blocks, end - begin);
  float largest = 0.0f, weight;
  for (int32_t p = begin; p < end; p++) {
    weight = bsi_filter_weight(bs, i, a->col_idx[p], job->inverse + (size_t)i * size,
                               values + (size_t)p * size);
    if (weight > largest) largest = weight;
    memcpy(&job->target[p], &weight, sizeof weight);
  }
  for (int32_t p = begin; p < end; p++) {
    const int32_t j = a->col_idx[p];
    memcpy(&weight, &job->target[p], sizeof weight);
    const bool weak = i != j && (is_long || weight < job->threshold * largest);
    job->target[p] = bsi_filter_rule(own, job->aggregate[j], job->count, weak);
    if (job->weak) job->weak[p] = weak;
  }
}

typedef void aim_function(const aim_job *, int32_t);

static void aim_row_any(const aim_job *job, int32_t i) { aim_row(job->a->block_size, job, i); }
#define STAMP(BS)                                                                                  \
  static void aim_row_##BS(const aim_job *job, int32_t i) { aim_row(BS, job, i); }
BSI_BLOCK_SIZES(STAMP)
#undef STAMP
#define ENTRY(BS) [BS] = aim_row_##BS,
static aim_function *const aim_rows[BSI_SPECIAL_SIZES + 1] = {aim_row_any, BSI_BLOCK_SIZES(ENTRY)};
#undef ENTRY

static void aim_part(void *work, bsi_part part) {
  const aim_job *job = work;
  const bisai_bcsr *a = job->a;
  aim_function *row = aim_rows[a->block_size <= BSI_SPECIAL_SIZES ? a->block_size : 0];
  const bsi_rows rows = bsi_rows_of(a->block_rows, a->row_ptr, part);
  for (int32_t i = rows.begin; i < rows.end; i++) row(job, i);
}

bisai_status bsi_filter_host(bisai_context *context, const bisai_bcsr *a, const double *inverse,
                             double threshold, const int32_t *aggregate,
                             const bsi_filtered *filtered, bsi_block_matrix *identity) {
  const int32_t count = identity->cols;
  const int threads = bsi_threads_for(context->threads, a->blocks, BLOCKS_PER_THREAD);
  bsi_run(
      context, threads, BSI_SOME_PARTS, aim_part,
      &(aim_job){a, inverse, aggregate, count, (float)threshold, filtered->column, filtered->weak});
  for (int32_t c = 0; c < count; c++) identity->row_ptr[c] = identity->col_idx[c] = c;
  identity->row_ptr[count] = identity->row_ptr[count + 1] = count;
  return BISAI_OK;
}

typedef struct again_job {
  const bisai_bcsr *a;
  const bsi_block_matrix *t;
  bsi_filtered filtered;
} again_job;

static void again_part(void *work, bsi_part part) {
  const again_job *job = work;
  const bisai_bcsr *a = job->a;
  const int32_t *t_ptr = job->t->row_ptr, *t_col = job->t->col_idx;
  const bsi_rows rows = bsi_rows_of(a->block_rows, a->row_ptr, part);
  for (int32_t i = rows.begin; i < rows.end; i++)
    for (int32_t p = a->row_ptr[i]; p < a->row_ptr[i + 1]; p++)
      job->filtered.column[p] = bsi_filter_rule(bsi_aggregate_of(t_ptr, t_col, i),
                                                bsi_aggregate_of(t_ptr, t_col, a->col_idx[p]),
                                                job->t->cols, job->filtered.weak[p] != 0);
}

bisai_status bsi_filter_again_host(bisai_context *context, const bisai_bcsr *a,
                                   const bsi_block_matrix *t, const bsi_filtered *filtered) {
  bsi_run(context, bsi_threads_for(context->threads, a->blocks, BLOCKS_PER_THREAD), BSI_SOME_PARTS,
          again_part, &(again_job){a, t, *filtered});
  return BISAI_OK;
}
