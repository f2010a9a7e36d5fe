/* SPDX-License-Identifier: BSD-3-Clause */
/* Norms and largest magnitudes of vectors on the host. */
#include "core/vector/norms.h"

#include "core/context/context_impl.h"
#include "core/vector/chunks_host.h"

typedef struct norm_job {
  int64_t n;
  const double *x;
  double *partials;
  bsi_norm_scale scale;
} norm_job;

static void run(bisai_context *context, bsi_work *work, norm_job *job) {
  bsi_run(context, bsi_threads_for(context->threads, job->n, BSI_CHUNK_GRAIN), BSI_SOME_PARTS, work,
          job);
}

/* *largest ← the larger one of it and of the magnitudes. NaN is the largest of all. */
static void add_largest(const void *job, int64_t begin, int64_t end, double *largest) {
  const norm_job *j = job;
  for (int64_t i = begin; i < end; i++) {
    const double magnitude = fabs(j->x[i]);
    if (!(magnitude <= *largest)) *largest = isnan(*largest) ? *largest : magnitude;
  }
}

static void add_squares(const void *job, int64_t begin, int64_t end, double *sum) {
  const norm_job *j = job;
  for (int64_t i = begin; i < end; i++) *sum += bsi_norm_square(j->scale, j->x[i]);
}

static void largest_part(void *job, bsi_part part) {
  const norm_job *j = job;
  bsi_sum_chunks(part, j->n, 1, add_largest, j, j->partials);
}

static void squares_part(void *job, bsi_part part) {
  const norm_job *j = job;
  bsi_sum_chunks(part, j->n, 1, add_squares, j, j->partials);
}

bisai_status bsi_largest_host(bisai_context *context, int64_t n, const double *x, double *largest) {
  double partials[BSI_CHUNKS];
  run(context, largest_part, &(norm_job){.n = n, .x = x, .partials = partials});
  *largest = 0.0;
  for (int64_t chunk = 0; chunk < bsi_chunks_of(n); chunk++)
    if (!(partials[chunk] <= *largest) && !isnan(*largest)) *largest = partials[chunk];
  return BISAI_OK;
}

static double norm_of(bisai_context *context, int64_t n, const double *x) {
  double partials[BSI_CHUNKS], largest, sum = 0.0;
  bsi_largest_host(context, n, x, &largest);
  if (largest == 0.0 || !isfinite(largest)) return largest;
  norm_job job = {.n = n, .x = x, .partials = partials, .scale = bsi_norm_scale_of(largest)};
  run(context, squares_part, &job);
  bsi_add_chunks(bsi_chunks_of(n), 1, partials, &sum);
  return bsi_norm_of(job.scale, sum);
}

bisai_status bsi_norms_host(bisai_context *context, int count, int64_t n, const double *const *x,
                            double *norms) {
  for (int k = 0; k < count; k++) norms[k] = norm_of(context, n, x[k]);
  return BISAI_OK;
}
