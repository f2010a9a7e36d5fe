/* SPDX-License-Identifier: BSD-3-Clause */
/* Weighted restrictions on the host. */
#include "core/threads/parallel.h"
#include "multigrid/transfers/row_scaling.h"
#include "multigrid/transfers/transfer_ops.h"

enum { BLOCKS_PER_THREAD = 4096 };

typedef struct balance_job {
  const bsi_row_scaling *balance;
  bsi_block_matrix *members;
} balance_job;

static void balance_part(void *work, bsi_part part) {
  const balance_job *job = work;
  bsi_block_matrix *m = job->members;
  const bsi_range range = bsi_range_of(m->blocks, part);
  for (int32_t q = (int32_t)range.begin; q < range.end; q++)
    bsi_row_scaling_block(job->balance, m->height, q, m->col_idx[q],
                          m->values + bsi_block_matrix_offset(m, q));
}

bisai_status bsi_scale_rows_host(bisai_context *context, const bsi_row_scaling *b,
                                 bsi_block_matrix *members) {
  const int threads = bsi_threads_for(context->threads, members->blocks, BLOCKS_PER_THREAD);
  bsi_run(context, threads, BSI_SOME_PARTS, balance_part, &(balance_job){b, members});
  return BISAI_OK;
}
