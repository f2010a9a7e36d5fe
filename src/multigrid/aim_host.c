/* SPDX-License-Identifier: BSD-3-Clause */
/* The aims of the blocks on the host. */
#include "core/parallel.h"
#include "multigrid/aim.h"
#include "multigrid/multigrid_ops.h"

enum { BLOCKS_PER_THREAD = 4096 };

typedef struct aim_job {
  const bisai_bcsr *a;
  const double *inverse;
  const int32_t *aggregate;
  int32_t count;
  int32_t *target;
} aim_job;

static void aim_part(void *work, bsi_part part) {
  const aim_job *job = work;
  const bisai_bcsr *a = job->a;
  const double *values = a->values;
  const size_t size = bsi_block_offset(a, 1);
  const bsi_rows rows = bsi_rows_of(a->block_rows, a->row_ptr, part);
  for (int32_t i = rows.begin; i < rows.end; i++)
    for (int32_t p = a->row_ptr[i]; p < a->row_ptr[i + 1]; p++)
      job->target[p] = bsi_aim(a->block_size, job->aggregate, job->count, i, a->col_idx[p],
                               job->inverse + (size_t)i * size, values + (size_t)p * size);
}

static bisai_status aim(bisai_context *context, const bisai_bcsr *a, const double *inverse,
                        const int32_t *aggregate, int32_t count, int32_t *target,
                        bsi_sparse *identity) {
  const int threads = bsi_threads_for(context->threads, a->blocks, BLOCKS_PER_THREAD);
  bsi_run(context, threads, BSI_SOME_PARTS, aim_part,
          &(aim_job){a, inverse, aggregate, count, target});
  for (int32_t c = 0; c < count; c++) identity->row_ptr[c] = identity->col_idx[c] = c;
  identity->row_ptr[count] = identity->row_ptr[count + 1] = count;
  return BISAI_OK;
}

const bsi_aim_ops bsi_aim_host = {.aim = aim};
