/* SPDX-License-Identifier: BSD-3-Clause */
/* The diagonal blocks of the l1 smoother on the host. */
#include "core/context/context_impl.h"
#include "core/matrix/bcsr_impl.h"
#include "core/threads/parallel.h"
#include "multigrid/smoothers/l1.h"

enum { BLOCKS_PER_THREAD = 4096 };

typedef struct l1_job {
  const bisai_bcsr *a;
  double *blocks;
  int32_t *position;
} l1_job;

static void l1_part(void *work, bsi_part part) {
  const l1_job *job = work;
  const bisai_bcsr *a = job->a;
  const int64_t bs = a->block_size;
  const bsi_rows rows = bsi_rows_of(a->block_rows, a->row_ptr, part);
  for (int32_t i = rows.begin; i < rows.end; i++) {
    job->position[i] = i;
    for (int r = 0; r < bs; r++)
      bsi_l1_row((int)bs, a->row_ptr, a->col_idx, a->values, i, r, job->blocks + i * bs * bs);
  }
}

bisai_status bsi_l1_diagonal_host(bisai_context *context, const bisai_bcsr *a, double *blocks,
                                  int32_t *position) {
  const int threads = bsi_threads_for(context->threads, a->blocks, BLOCKS_PER_THREAD);
  bsi_run(context, threads, BSI_SOME_PARTS, l1_part, &(l1_job){a, blocks, position});
  return BISAI_OK;
}
