/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums of vectors for relaxation, on the host. */
#include "bjacobi/bjacobi_ops.h"
#include "core/context/context_impl.h"
#include "core/threads/parallel.h"
#include "core/vector/chunks_host.h"

typedef struct sum {
  int64_t n;
  int32_t count;
  double alpha, beta;
  const double *x;
  int64_t ldx;
  double *y;
  int64_t ldy;
} sum;

static void combine_part(void *job, bsi_part part) {
  const sum *s = job;
  const bsi_range range = bsi_range_of(s->n, part);
  const double alpha = s->alpha, beta = s->beta;
  for (int32_t c = 0; c < s->count; c++) {
    const double *x = s->x + c * s->ldx;
    double *y = s->y + c * s->ldy;
    for (int64_t i = range.begin; i < range.end; i++)
      y[i] = beta == 0.0 ? alpha * x[i] : alpha * x[i] + beta * y[i];
  }
}

static bisai_status combine(bisai_context *context, int64_t n, int32_t count, double alpha,
                            const double *x, int64_t ldx, double beta, double *y, int64_t ldy) {
  bsi_run(context, bsi_threads_for(context->threads, n * count, BSI_CHUNK_GRAIN), BSI_SOME_PARTS,
          combine_part, &(sum){n, count, alpha, beta, x, ldx, y, ldy});
  return BISAI_OK;
}

const bsi_relaxation_ops bsi_relaxation_host = {.combine = combine};
