/* SPDX-License-Identifier: BSD-3-Clause */
/* The votes of the rows on the host. */
#include "core/context/context_impl.h"
#include "core/matrix/bcsr_impl.h"
#include "core/threads/parallel.h"
#include "multigrid/unit/votes.h"

enum { BLOCKS_PER_THREAD = 4096 };

typedef struct vote_job {
  bisai_context *context;
  const bisai_bcsr *a;
} vote_job;

static void vote_part(void *work, bsi_part part) {
  const vote_job *job = work;
  const bisai_bcsr *a = job->a;
  int64_t *votes = bsi_partial(job->context, part.thread);
  const bsi_rows rows = bsi_rows_of(a->block_rows, a->row_ptr, part);
  for (int32_t i = rows.begin; i < rows.end; i++)
    for (int r = 0; r < a->block_size; r++)
      votes[bsi_vote_of_row(a->block_size, a->row_ptr, a->col_idx, a->values, i, r)]++;
}

bisai_status bsi_count_votes_host(bisai_context *context, const bisai_bcsr *a, int64_t *components,
                                  int64_t *points) {
  const int threads = bsi_threads_for(context->threads, a->blocks, BLOCKS_PER_THREAD);
  for (int t = 0; t < threads; t++)
    for (int v = BSI_VOTE_NONE; v <= BSI_VOTE_POINTS; v++)
      ((int64_t *)bsi_partial(context, t))[v] = 0;
  bsi_run(context, threads, BSI_SOME_PARTS, vote_part, &(vote_job){context, a});
  *components = *points = 0;
  for (int t = 0; t < threads; t++) {
    const int64_t *votes = bsi_partial(context, t);
    *components += votes[BSI_VOTE_COMPONENTS];
    *points += votes[BSI_VOTE_POINTS];
  }
  return BISAI_OK;
}
