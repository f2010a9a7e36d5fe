/* SPDX-License-Identifier: BSD-3-Clause */
/* The near-null-space vectors of level 0. The size of a vector has no effect. Extreme vectors are
 * scaled all the same, because they would overflow or lose digits on coarse levels, whose vectors
 * grow with the aggregates. */
#include "multigrid/transfers/null_vectors.h"

#include <math.h>
#include <stdlib.h>

#include "core/threads/parallel.h"

enum {
  /* vectors with larger or smaller exponents are scaled */
  ORDINARY_EXPONENT = 900,
  /* the least number of values for which a thread is woken */
  VALUES_PER_THREAD = 1 << 15
};

/* Returns true if a vector has small values alone. */
static bool has_small_vector(const bisai_multigrid_options *o, int64_t n) {
  const double least = scalbn(1.0, -ORDINARY_EXPONENT);
  for (int c = 0; c < o->null_count; c++) {
    int64_t i = 0;
    while (i < n && fabs(o->null_vectors[i * o->null_count + c]) < least) i++;
    if (i == n) return true;
  }
  return false;
}

typedef struct large_job {
  bisai_context *context;
  int64_t count;
  const double *values;
} large_job;

static void find_large_part(void *work, bsi_part part) {
  const large_job *job = work;
  const bsi_range range = bsi_range_of(job->count, part);
  const double most = scalbn(1.0, ORDINARY_EXPONENT);
  int large = 0;
  for (int64_t k = range.begin; k < range.end; k++) large |= fabs(job->values[k]) > most;
  if (large) bsi_min_index(bsi_partial(job->context, part.thread), 0);
}

/* Returns true if a vector has a large value. */
static bool has_large_value(bisai_context *context, const bisai_multigrid_options *o, int64_t n) {
  const int64_t count = n * o->null_count;
  return bsi_find_first(context, bsi_threads_for(context->threads, count, VALUES_PER_THREAD),
                        find_large_part, &(large_job){context, count, o->null_vectors}) >= 0;
}

/* Sets exponents[c] to the binary exponent of vector c if it is extreme, otherwise to 0. */
static void find_exponents(const bisai_multigrid_options *o, int64_t n, int *exponents) {
  double largest[BISAI_MULTIGRID_VECTORS] = {0.0};
  for (int64_t i = 0; i < n; i++)
    for (int c = 0; c < o->null_count; c++)
      largest[c] = fmax(largest[c], fabs(o->null_vectors[i * o->null_count + c]));
  for (int c = 0; c < o->null_count; c++) {
    exponents[c] = largest[c] > 0.0 ? ilogb(largest[c]) : 0;
    if (abs(exponents[c]) <= ORDINARY_EXPONENT) exponents[c] = 0;
  }
}

/* *copy ← the vectors over powers of two, in host memory. */
static bisai_status scale_vectors(const bsi_hierarchy *h, int64_t n, double **copy) {
  const bisai_multigrid_options *o = &h->setup.options;
  const int64_t count = n * o->null_count;
  int exponents[BISAI_MULTIGRID_VECTORS] = {0};
  find_exponents(o, n, exponents);
  *copy = bsi_allocate(h->context, (size_t)count, sizeof **copy);
  if (!*copy) return BISAI_OUT_OF_MEMORY;
  for (int64_t k = 0; k < count; k++)
    (*copy)[k] = scalbn(o->null_vectors[k], -exponents[k % o->null_count]);
  return BISAI_OK;
}

bisai_status bsi_null_vectors_upload(const bsi_hierarchy *h, double **vectors) {
  const bisai_multigrid_options *o = &h->setup.options;
  const bsi_memory_ops *memory = h->context->backend->memory;
  const int64_t n = bsi_level_rows(&h->levels[0]), count = n * o->null_count;
  double *copy = NULL;
  bisai_status status = BISAI_OK;
  if (!o->null_vectors) return BISAI_OK;
  *vectors = bsi_hierarchy_reserve_vector(h, count);
  if (!*vectors) return BISAI_OUT_OF_MEMORY;
  if (has_small_vector(o, n) || has_large_value(h->context, o, n))
    status = scale_vectors(h, n, &copy);
  if (!status)
    status = memory->upload(h->context, *vectors, copy ? copy : o->null_vectors,
                            (size_t)count * sizeof **vectors);
  if (!status && copy) status = memory->synchronize(h->context);
  bsi_release(h->context, copy);
  return status;
}
