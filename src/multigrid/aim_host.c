/* SPDX-License-Identifier: BSD-3-Clause */
/* The aims of the blocks on the host. */
#include <string.h>

#include "core/parallel.h"
#include "multigrid/aim.h"
#include "multigrid/multigrid_ops.h"

enum { BLOCKS_PER_THREAD = 4096 };

typedef struct aim_job {
  const bisai_bcsr *a;
  const double *inverse;
  const int32_t *aggregate;
  int32_t count;
  float threshold;
  int32_t *target;
} aim_job;

/* Returns the weight of block p of row i. */
static float weight_of(const aim_job *job, int32_t i, int32_t p) {
  const bisai_bcsr *a = job->a;
  const double *values = a->values;
  return bsi_aim_weight(a->block_size, i, a->col_idx[p], job->inverse + bsi_block_offset(a, i),
                        values + bsi_block_offset(a, p));
}

/* The weights stand in `target` until the largest of the row is known. */
static void aim_row(const aim_job *job, int32_t i) {
  const bisai_bcsr *a = job->a;
  const int32_t begin = a->row_ptr[i], end = a->row_ptr[i + 1], own = job->aggregate[i];
  const bool is_long = bsi_is_long(a->block_rows, a->blocks, end - begin);
  float largest = 0.0f, weight;
  for (int32_t p = begin; p < end; p++) {
    weight = weight_of(job, i, p);
    if (weight > largest) largest = weight;
    memcpy(&job->target[p], &weight, sizeof weight);
  }
  for (int32_t p = begin; p < end; p++) {
    const int32_t j = a->col_idx[p];
    memcpy(&weight, &job->target[p], sizeof weight);
    const bool weak = i != j && (is_long || weight < job->threshold * largest);
    job->target[p] = bsi_aim(own, job->aggregate[j], job->count, weak);
  }
}

static void aim_part(void *work, bsi_part part) {
  const aim_job *job = work;
  const bisai_bcsr *a = job->a;
  const bsi_rows rows = bsi_rows_of(a->block_rows, a->row_ptr, part);
  for (int32_t i = rows.begin; i < rows.end; i++) aim_row(job, i);
}

static bisai_status aim(bisai_context *context, const bisai_bcsr *a, const double *inverse,
                        double threshold, const int32_t *aggregate, int32_t count, int32_t *target,
                        bsi_sparse *identity) {
  const int threads = bsi_threads_for(context->threads, a->blocks, BLOCKS_PER_THREAD);
  bsi_run(context, threads, BSI_SOME_PARTS, aim_part,
          &(aim_job){a, inverse, aggregate, count, (float)threshold, target});
  for (int32_t c = 0; c < count; c++) identity->row_ptr[c] = identity->col_idx[c] = c;
  identity->row_ptr[count] = identity->row_ptr[count + 1] = count;
  return BISAI_OK;
}

const bsi_aim_ops bsi_aim_host = {.aim = aim};
