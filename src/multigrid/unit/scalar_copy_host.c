/* SPDX-License-Identifier: BSD-3-Clause */
/* The comparison with a matrix of single values on the host. */
#include "core/threads/parallel.h"
#include "multigrid/multigrid_ops.h"
#include "multigrid/unit/scalar_copy.h"

enum { BLOCKS_PER_THREAD = 4096 };

typedef struct equal_job {
  bisai_context *context;
  const bisai_bcsr *a, *s;
} equal_job;

static void equal_part(void *work, bsi_part part) {
  const equal_job *job = work;
  const bisai_bcsr *a = job->a, *s = job->s;
  const bsi_rows rows = bsi_rows_of(a->block_rows, a->row_ptr, part);
  for (int32_t i = rows.begin; i < rows.end; i++)
    for (int r = 0; r < a->block_size; r++)
      if (!bsi_split_row_is_equal(a->block_size, a->row_ptr, a->col_idx, a->values, s->row_ptr,
                                  s->col_idx, s->values, i, r))
        bsi_min_index(bsi_partial(job->context, part.thread), i);
}

static bisai_status equal(bisai_context *context, const bisai_bcsr *a, const bisai_bcsr *s,
                          bool *equal) {
  const int threads = bsi_threads_for(context->threads, a->blocks, BLOCKS_PER_THREAD);
  *equal = bsi_find_first(context, threads, equal_part, &(equal_job){context, a, s}) < 0;
  return BISAI_OK;
}

const bsi_split_ops bsi_split_host = {.equal = equal};
