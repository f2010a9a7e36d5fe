/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies in fp32 on the host. */
#include "core/threads/parallel.h"
#include "multigrid/cycle/cycle_ops.h"
#include "multigrid/cycle/fp32_values.h"

enum {
  VALUES_PER_THREAD = 1 << 16,
  /* the cache of a core, as many processors have it */
  CACHE_BYTES = 1 << 21
};

typedef struct copy_job {
  bisai_context *context;
  const bsi_fp32_rounding *array;
} copy_job;

static void copy_part(void *work, bsi_part part) {
  const copy_job *job = work;
  const bsi_fp32_rounding *a = job->array;
  const bsi_range range = bsi_range_of(a->count, part);
  int64_t misfits = 0; /* counted, so that the loop has no branches */
  for (int64_t k = range.begin; k < range.end; k++) {
    a->to[k] = (float)a->from[k];
    misfits += !bsi_fits_fp32(a->from[k], a->small);
  }
  if (misfits > 0) bsi_min_index(bsi_partial(job->context, part.thread), 0);
}

static bisai_status copy(bisai_context *context, int arrays, const bsi_fp32_rounding *array,
                         void *record, bool *fits) {
  (void)record;
  *fits = true;
  for (int i = 0; i < arrays; i++) {
    const int threads = bsi_threads_for(context->threads, array[i].count, VALUES_PER_THREAD);
    if (bsi_find_first(context, threads, copy_part, &(copy_job){context, &array[i]}) >= 0)
      *fits = false;
  }
  return BISAI_OK;
}

static bisai_status widen(bisai_context *context, int64_t count, const float *from, double *to) {
  (void)context;
  for (int64_t k = 0; k < count; k++) to[k] = from[k];
  return BISAI_OK;
}

const bsi_fp32_copy_ops bsi_fp32_copy_host = {
    .least_bytes = CACHE_BYTES, .copy = copy, .widen = widen};
