/* SPDX-License-Identifier: BSD-3-Clause */
/* The near-null-space vectors of level 0. The size of a vector has no effect. Extreme vectors are
 * scaled all the same, because they would overflow or lose digits on coarse levels, whose vectors
 * grow with the aggregates. */
#include "multigrid/transfers/null_vectors.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/context/context_impl.h"
#include "core/vector/norms.h"

enum {
  /* vectors with larger or smaller exponents are scaled */
  ORDINARY_EXPONENT = 900,
  /* values of the first rows, which show that most vectors are not small */
  SAMPLE = 1024
};

/* The vectors of the options, of n rows. */
typedef struct given {
  bisai_context *context;
  const double *values;
  int64_t n;
  int32_t width;
  /* the backend reaches the values */
  bool there;
} given;

static given given_of(bisai_context *context, const bisai_multigrid_options *o, int64_t n) {
  return (given){context, o->null_vectors, n, o->null_count,
                 context->backend->memory->reaches(context, o->null_vectors)};
}

/* Copies the first `count` values to host memory. */
static bisai_status fetch(const given *g, int64_t count, double *values) {
  const size_t bytes = (size_t)count * sizeof *values;
  if (g->there) return g->context->backend->memory->fetch(g->context, values, g->values, bytes);
  memcpy(values, g->values, bytes);
  return BISAI_OK;
}

/* *ordinary ← true if all values are finite, none is large, and the first rows show that no vector
 * is small. Vectors that are not found ordinary may be so all the same. */
static bisai_status find_ordinary(const given *g, bool *ordinary) {
  const double most = scalbn(1.0, ORDINARY_EXPONENT), least = scalbn(1.0, -ORDINARY_EXPONENT);
  const int64_t count = g->n * g->width, rows = g->n < SAMPLE / g->width ? g->n : SAMPLE / g->width;
  bsi_find_largest *find = g->there ? g->context->backend->vectors->largest : bsi_largest_host;
  double largest = 0.0, sample[SAMPLE];
  BSI_TRY(find(g->context, count, g->values, &largest));
  BSI_TRY(fetch(g, rows * g->width, sample));
  *ordinary = largest <= most;
  for (int32_t c = 0; c < g->width; c++) {
    int64_t i = 0;
    while (i < rows && !(fabs(sample[i * g->width + c]) >= least)) i++;
    *ordinary = *ordinary && i < rows;
  }
  return BISAI_OK;
}

/* *values ← the values in host memory, of which *copy owns those of a device. */
static bisai_status bring_here(const given *g, double **copy, const double **values) {
  const int64_t count = g->n * g->width;
  *values = g->values;
  if (!g->there) return BISAI_OK;
  *values = *copy = bsi_allocate(g->context, (size_t)count, sizeof **copy);
  return *copy ? fetch(g, count, *copy) : BISAI_OUT_OF_MEMORY;
}

/* --- checks --- */

static bool is_zero(const given *g, const double *values, int32_t vector) {
  int64_t row = 0;
  while (row < g->n && values[row * g->width + vector] == 0.0) row++;
  return row == g->n;
}

static bisai_status check_here(const given *g, const double *values) {
  for (int64_t k = 0; k < g->n * g->width; k++)
    if (!isfinite(values[k]))
      return bsi_fail(g->context, BISAI_INVALID_ARGUMENT,
                      "null_vectors: row %lld of vector %d is %g (both from 0)",
                      (long long)(k / g->width), (int)(k % g->width), values[k]);
  for (int32_t c = 0; c < g->width; c++)
    if (is_zero(g, values, c))
      return bsi_fail(g->context, BISAI_INVALID_ARGUMENT,
                      "null_vectors: vector %d (from 0) is zero", c);
  return BISAI_OK;
}

bisai_status bsi_null_vectors_check_values(bisai_context *context, const bisai_multigrid_options *o,
                                           int64_t n) {
  bool ordinary = false;
  double *copy = NULL;
  const double *values = NULL;
  if (!o->null_vectors || n == 0) return BISAI_OK;
  const given g = given_of(context, o, n);
  bisai_status status = find_ordinary(&g, &ordinary);
  if (!status && !ordinary) status = bring_here(&g, &copy, &values);
  if (!status && !ordinary) status = check_here(&g, values);
  bsi_release(context, copy);
  return status;
}

/* --- scaling --- */

/* Sets exponents[c] to the binary exponent of vector c if it is extreme, otherwise to 0. */
static void find_exponents(const given *g, const double *values, int *exponents) {
  double largest[BISAI_MULTIGRID_VECTORS] = {0.0};
  for (int64_t i = 0; i < g->n; i++)
    for (int32_t c = 0; c < g->width; c++)
      largest[c] = fmax(largest[c], fabs(values[i * g->width + c]));
  for (int32_t c = 0; c < g->width; c++) {
    exponents[c] = largest[c] > 0.0 ? ilogb(largest[c]) : 0;
    if (abs(exponents[c]) <= ORDINARY_EXPONENT) exponents[c] = 0;
  }
}

/* vectors ← the given ones over powers of two. */
static bisai_status take_scaled(const given *g, double *vectors) {
  const bsi_memory_ops *memory = g->context->backend->memory;
  const int64_t count = g->n * g->width;
  int exponents[BISAI_MULTIGRID_VECTORS] = {0};
  double *copy = bsi_allocate(g->context, (size_t)count, sizeof *copy);
  bisai_status status = copy ? fetch(g, count, copy) : BISAI_OUT_OF_MEMORY;
  if (!status) {
    find_exponents(g, copy, exponents);
    for (int64_t k = 0; k < count; k++) copy[k] = scalbn(copy[k], -exponents[k % g->width]);
    status = memory->upload(g->context, vectors, copy, (size_t)count * sizeof *copy);
  }
  if (!status) status = memory->synchronize(g->context);
  bsi_release(g->context, copy);
  return status;
}

bisai_status bsi_null_vectors_take(const bsi_hierarchy *h, double **vectors) {
  const bisai_multigrid_options *o = &h->setup.options;
  const bsi_memory_ops *memory = h->context->backend->memory;
  if (!o->null_vectors) return BISAI_OK;
  const given g = given_of(h->context, o, bsi_level_rows(&h->levels[0]));
  const int64_t count = g.n * g.width;
  bool ordinary = false;
  *vectors = bsi_hierarchy_reserve_vector(h, count);
  if (!*vectors) return BISAI_OUT_OF_MEMORY;
  BSI_TRY((g.there ? memory->copy : memory->upload)(h->context, *vectors, g.values,
                                                    (size_t)count * sizeof **vectors));
  const given taken = {h->context, *vectors, g.n, g.width, true};
  BSI_TRY(find_ordinary(&taken, &ordinary));
  return ordinary ? BISAI_OK : take_scaled(&g, *vectors);
}
