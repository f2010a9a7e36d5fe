/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/threads/parallel.h"
#include "multigrid/aggregation/border.h"

/* The least rows and blocks for which a thread is woken. */
enum { GRAIN = 8192 };

typedef struct border_job {
  const bisai_bcsr *a;
  const double *inverse;
  float threshold, *strength, *largest;
  int32_t *alone;
} border_job;

static void weigh_part(void *work, bsi_part part) {
  const border_job *job = work;
  const bisai_bcsr *a = job->a;
  const bsi_rows rows = bsi_rows_of(a->block_rows, a->row_ptr, part);
  for (int32_t i = rows.begin; i < rows.end; i++) {
    const bsi_border_row row =
        bsi_border_row_of(a->block_size, a->block_rows, a->col_idx, a->row_ptr[i],
                          a->row_ptr[i + 1], job->inverse + bsi_block_offset(a, i), a->values);
    job->largest[i] = row.largest;
    job->alone[i] = row.sum > BSI_LEAST_SUM;
  }
}

static void weaken_part(void *work, bsi_part part) {
  const border_job *job = work;
  const bisai_bcsr *a = job->a;
  const bsi_rows rows = bsi_rows_of(a->block_rows, a->row_ptr, part);
  for (int32_t i = rows.begin; i < rows.end; i++)
    for (int32_t p = a->row_ptr[i]; p < a->row_ptr[i + 1] && a->col_idx[p] < a->block_rows; p++)
      job->strength[p] = bsi_border_strength(job->strength[p], job->largest[i],
                                             job->largest[a->col_idx[p]], job->threshold);
}

bisai_status bsi_border_host(bisai_context *context, const bisai_bcsr *a, const double *inverse,
                             double threshold, float *strength, int32_t *alone) {
  const int threads = bsi_threads_for(context->threads, (int64_t)a->block_rows + a->blocks, GRAIN);
  float *largest = bsi_allocate(context, (size_t)a->block_rows, sizeof *largest);
  if (!largest) return BISAI_OUT_OF_MEMORY;
  border_job job = {a, inverse, (float)threshold, strength, largest, alone};
  bsi_run(context, threads, BSI_SOME_PARTS, weigh_part, &job);
  bsi_run(context, threads, BSI_SOME_PARTS, weaken_part, &job);
  bsi_release(context, largest);
  return BISAI_OK;
}

bisai_status bsi_border_add_host(bisai_context *context, const bisai_bcsr *a, const float *strength,
                                 int32_t *alone, int32_t *aggregate, int32_t *count) {
  const int32_t before = *count;
  (void)context;
  for (int32_t i = 0; i < a->block_rows; i++)
    if (aggregate[i] < 0 && alone[i]) aggregate[i] = (*count)++;
  for (int32_t i = 0; i<a->block_rows && * count> before; i++)
    if (aggregate[i] < 0)
      aggregate[i] = bsi_border_followed(a->row_ptr, a->col_idx, strength, aggregate, i);
  return BISAI_OK;
}
