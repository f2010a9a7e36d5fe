/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies in fp32 on the host. */
#include "core/parallel.h"
#include "multigrid/multigrid_ops.h"
#include "multigrid/narrow.h"

enum { VALUES_PER_THREAD = 1 << 16 };

typedef struct copy_job {
  bisai_context *context;
  int64_t count;
  const double *from;
  float *to;
} copy_job;

static void copy_part(void *work, bsi_part part) {
  const copy_job *job = work;
  const bsi_range range = bsi_range_of(job->count, part);
  for (int64_t k = range.begin; k < range.end; k++) {
    job->to[k] = (float)job->from[k];
    if (!bsi_fits_narrow(job->from[k])) bsi_min_index(bsi_partial(job->context, part.thread), 0);
  }
}

static bisai_status copy(bisai_context *context, int64_t count, const double *from, float *to,
                         bool *fits) {
  const int threads = bsi_threads_for(context->threads, count, VALUES_PER_THREAD);
  *fits = bsi_find_first(context, threads, copy_part, &(copy_job){context, count, from, to}) < 0;
  return BISAI_OK;
}

const bsi_narrow_ops bsi_narrow_host = {.copy = copy};
