/* SPDX-License-Identifier: BSD-3-Clause */
/* Inverses of one block in each block row on the host. Rows are shared out over the threads. */
#include <string.h>

#include "core/block/block_sizes.h"
#include "core/matrix/bcsr_impl.h"
#include "core/matrix/triangular.h"
#include "core/threads/parallel.h"
#include "factor/factor_ops.h"

enum { BLOCKS_PER_THREAD = 1024 };

typedef struct invert_job {
  bisai_context *context;
  const bisai_bcsr *matrix;
  const int32_t *position;
  double shift_amount, *inverses;
} invert_job;

/* Inverts the block of block row i. It is copied, because a shift may change it. */
BSI_INLINE void invert_row(const int bs, const invert_job *job, int32_t i,
                           bsi_invert_stats *stats) {
  const bisai_bcsr *a = job->matrix;
  const double *values = a->values;
  const size_t size = (size_t)(bs * bs);
  const int32_t begin = a->row_ptr[i], position = job->position[i];
  double copy[BSI_MAX_BLOCK_VALUES], condition;
  if (position < 0)
    memset(copy, 0, size * sizeof *copy);
  else
    memcpy(copy, values + (size_t)position * size, size * sizeof *copy);
  const bsi_block_result result = bsi_block_invert_shifted(
      bs, copy, job->shift_amount, values + (size_t)begin * size, a->row_ptr[i + 1] - begin,
      job->inverses + (size_t)i * size, &condition);
  bsi_invert_stats_count(stats, result, condition, i);
}

typedef void row_function(const invert_job *, int32_t, bsi_invert_stats *);

static void invert_row_any(const invert_job *job, int32_t i, bsi_invert_stats *stats) {
  invert_row(job->matrix->block_size, job, i, stats);
}
#define STAMP(BS)                                                                                  \
  static void invert_row_##BS(const invert_job *job, int32_t i, bsi_invert_stats *stats) {         \
    invert_row(BS, job, i, stats);                                                                 \
  }
BSI_BLOCK_SIZES(STAMP)
#undef STAMP
#define ENTRY(BS) [BS] = invert_row_##BS,
static row_function *const invert_rows[BSI_SPECIAL_SIZES + 1] = {invert_row_any,
                                                                 BSI_BLOCK_SIZES(ENTRY)};
#undef ENTRY

static void invert_part(void *work, bsi_part part) {
  const invert_job *job = work;
  const int bs = job->matrix->block_size;
  row_function *row = invert_rows[bs <= BSI_SPECIAL_SIZES ? bs : 0];
  const bsi_range range = bsi_range_of(job->matrix->block_rows, part);
  for (int32_t i = (int32_t)range.begin; i < range.end; i++)
    row(job, i, bsi_partial(job->context, part.thread));
}

static bisai_status invert(bisai_context *context, const bisai_bcsr *matrix,
                           const int32_t *position, double shift_amount, double *inverses,
                           bsi_invert_stats *stats) {
  const int threads = bsi_threads_for(context->threads, matrix->block_rows, BLOCKS_PER_THREAD);
  bsi_invert_stats_clear_partials(context, threads);
  bsi_run(context, threads, BSI_SOME_PARTS, invert_part,
          &(invert_job){context, matrix, position, shift_amount, inverses});
  bsi_invert_stats_merge_partials(context, threads, stats);
  return BISAI_OK;
}

const bsi_inversion_ops bsi_inversion_host = {.invert = invert};
