/* SPDX-License-Identifier: BSD-3-Clause */
/* The values of block-Jacobi on the host. A thread takes a group of blocks, extracts and decomposes
 * them, chooses their format and stores them. (Anzt, Dongarra, Flegar, Quintana-Ortí
 * 2017 and 2018; formats: Flegar, Anzt, Cojean, Quintana-Ortí 2020.) */
#include "core/block/block_decompose.h"
#include "core/block/block_sizes.h"
#include "core/threads/parallel.h"

#include "bjacobi/bjacobi.h"
#include "bjacobi/bjacobi_ops.h"
#include "bjacobi/factorize/adaptive.h"
#include "core/context/context_impl.h"

#include <string.h>

enum { ROWS_PER_THREAD = 1024 };

typedef bsi_block_result invert_function(const double *a, double *inverse, double *condition);

#define STAMP(BS)                                                                                  \
  static bsi_block_result invert_##BS(const double *a, double *inverse, double *condition) {       \
    return bsi_block_invert(BS, a, inverse, condition);                                            \
  }
BSI_BLOCK_SIZES(STAMP)
#undef STAMP
#define ENTRY(BS) [BS] = invert_##BS,
static invert_function *const invert_functions[BSI_SPECIAL_SIZES + 1] = {NULL,
                                                                         BSI_BLOCK_SIZES(ENTRY)};
#undef ENTRY

static bsi_block_result invert(int m, const double *a, double *inverse, double *condition) {
  return m <= BSI_SPECIAL_SIZES ? invert_functions[m](a, inverse, condition)
                                : bsi_block_invert(m, a, inverse, condition);
}

/* --- one block --- */

typedef struct block {
  int m;
  /* its first scalar row */
  int32_t row;
  /* m²: the block itself, with its shift */
  double *a;
  /* m²: the values to store */
  double *e;
  uint8_t *pivots;
  bool near_singular;
  /* INVERSE: κ₁ */
  double condition;
} block;

/* Returns the first block of block row i that reaches column `column` or a later one. */
static int32_t first_reaching(const bisai_bcsr *a, int32_t i, int32_t column) {
  return bsi_lower_bound(a->col_idx, a->row_ptr[i], a->row_ptr[i + 1], column / a->block_size);
}

static void extract(const bisai_bcsr *a, const block *b) {
  const int32_t bs = a->block_size, from = b->row, to = b->row + b->m;
  memset(b->a, 0, (size_t)(b->m * b->m) * sizeof *b->a);
  for (int32_t i = from / bs; i * bs < to; i++) {
    const int32_t top = i * bs, first = top > from ? top : from,
                  last = to - top < bs ? to : top + bs;
    for (int32_t p = first_reaching(a, i, from); p < a->row_ptr[i + 1] && a->col_idx[p] * bs < to;
         p++) {
      const double *values = (const double *)a->values + bsi_block_offset(a, p);
      const int32_t left = a->col_idx[p] * bs;
      for (int32_t c = left > from ? left : from; c < to && c - left < bs; c++)
        for (int32_t r = first; r < last; r++)
          b->a[(c - from) * b->m + (r - from)] = values[(c - left) * bs + (r - top)];
    }
  }
}

/* Copies the matrix's own block at `position`; -1: zeros. */
static void copy_natural(const bisai_bcsr *a, const block *b, int32_t position) {
  const size_t bytes = bsi_block_offset(a, 1) * sizeof *b->a;
  if (position < 0)
    memset(b->a, 0, bytes);
  else
    memcpy(b->a, (const double *)a->values + bsi_block_offset(a, position), bytes);
}

/* Returns the largest sum of magnitudes of the matrix's scalar rows of a block. */
static double rows_norm(const bisai_bcsr *a, const block *b) {
  const int32_t bs = a->block_size;
  double norm = 0.0;
  for (int32_t row = b->row; row < b->row + b->m; row++) {
    const int32_t i = row / bs;
    const double *values =
        (const double *)a->values + bsi_block_offset(a, a->row_ptr[i]) + row % bs;
    double sum = 0.0;
    for (int64_t c = 0; c < (int64_t)(a->row_ptr[i + 1] - a->row_ptr[i]) * bs; c++)
      sum += fabs(values[c * bs]);
    if (sum > norm) norm = sum;
  }
  return norm;
}

static bsi_block_result decompose(bisai_form form, block *b) {
  const int m = b->m;
  b->condition = 0.0;
  if (form == BISAI_FORM_INVERSE) {
    const bsi_block_result result = invert(m, b->a, b->e, &b->condition);
    b->near_singular = bsi_near_singular(m, b->condition);
    return result;
  }
  double smallest;
  bsi_block_copy(m, b->a, b->e);
  const bool regular = form == BISAI_FORM_LU ? bsi_block_lu(m, b->e, b->pivots, &smallest)
                                             : bsi_block_gauss_huard(m, b->e, b->pivots, &smallest);
  if (!regular) return BSI_BLOCK_SINGULAR;
  if (form == BISAI_FORM_GAUSS_HUARD_TRANSPOSED) bsi_block_transpose_lower(m, b->e);
  b->near_singular = bsi_near_singular_pivot(m, bsi_block_norm1(m, b->a), smallest);
  return BSI_BLOCK_OK;
}

/* The same, with shifts of a singular block if the options have a shift. */
static bsi_block_result decompose_shifted(const bisai_bcsr *a, const bsi_bjacobi_options *o,
                                          block *b) {
  double shift = 0.0, norm = 0.0;
  for (;;) {
    const bsi_block_result result = decompose(o->form, b);
    if (result != BSI_BLOCK_SINGULAR) return shift > 0.0 ? BSI_BLOCK_REPAIRED : result;
    if (o->shift_amount > 0.0 && shift == 0.0) norm = rows_norm(a, b);
    if (!bsi_block_shift(b->m, b->a, o->shift_amount, norm, &shift)) return result;
  }
}

/* --- formats --- */

/* Returns ‖E − Ẽ‖₁, infinite or NaN if a value does not fit. */
BSI_INLINE double rounding_error_of(const bisai_value_type format, const block *b) {
  double norm = 0.0;
  for (int c = 0; c < b->m; c++) {
    double sum = 0.0;
    for (int r = 0; r < b->m; r++) {
      bool fits;
      const double value = b->e[c * b->m + r];
      sum += fabs(value - bsi_value_round(format, value, &fits));
    }
    if (!(sum <= norm)) norm = sum;
    if (isnan(norm)) return norm;
  }
  return norm;
}

static double rounding_error(bisai_value_type format, const block *b) {
  switch (format) {
#define ERROR_OF(enumerator, word, bytes, mantissa)                                                \
  case enumerator: return rounding_error_of(enumerator, b);
    BISAI_BLOCK_TYPE_LIST(ERROR_OF)
#undef ERROR_OF
  default: return INFINITY; /* blocks have no other */
  }
}

/* Returns the formats that an inverse may have, a bit for each place of the list. */
static unsigned formats_of(const block *b, const bsi_bjacobi_options *o) {
  const double tolerance = bsi_adaptive_tolerance(o->digits), norm = bsi_block_norm1(b->m, b->a);
  const unsigned admitted = bsi_adaptive_mask(o->formats);
  unsigned mask = 1u << (BSI_ADAPTIVE_FORMATS - 1);
  for (int k = 0; k < BSI_ADAPTIVE_FORMATS - 1; k++) {
    const bisai_value_type format = bsi_adaptive_format(k);
    if ((admitted >> k & 1u) && bsi_adaptive_allows(format, b->condition, tolerance) &&
        (bsi_adaptive_certain(format, b->m, norm, b->condition, tolerance) ||
         bsi_adaptive_keeps(norm, rounding_error(format, b), tolerance)))
      mask |= 1u << k;
  }
  return mask;
}

/* Stores a block at `place` of a group of height `height`. Returns false if a value does not fit,
 * or if a row or a column vanishes, or, with `pivots`, a diagonal value, the reciprocal of a pivot
 * of a decomposition: the stored block would be singular. */
BSI_INLINE bool store_as(const bisai_value_type format, const block *b, bool pivots, char *place,
                         int32_t height) {
  const size_t bytes = bsi_value_bytes(format);
  uint32_t rows_left = 0;
  bool fits = true;
  for (int c = 0; c < b->m; c++) {
    char *column = place + (size_t)c * (size_t)height * bytes;
    uint32_t left = 0;
    for (int r = 0; r < b->m; r++) {
      fits &= bsi_value_store(format, b->e[c * b->m + r], column, (size_t)r);
      left |= (uint32_t)(bsi_value_load(format, column, (size_t)r) != 0.0) << r;
    }
    fits &= (pivots ? left >> c & 1u : left) != 0;
    rows_left |= left;
  }
  return fits && rows_left == UINT32_MAX >> (BSI_BJACOBI_MAX_ROWS - b->m);
}

static bool store(bisai_value_type format, const block *b, bool pivots, char *place,
                  int32_t height) {
  switch (format) {
#define STORE_AS(enumerator, word, bytes, mantissa)                                                \
  case enumerator: return store_as(enumerator, b, pivots, place, height);
    BISAI_BLOCK_TYPE_LIST(STORE_AS)
#undef STORE_AS
  default: return false; /* blocks have no other */
  }
}

/* --- groups --- */

static void merge(bsi_bjacobi_stats *into, const bsi_bjacobi_stats *from) {
  bsi_invert_stats_merge(&into->inversion, &from->inversion);
  bsi_min_index(&into->near_singular_block, from->near_singular_block);
  bsi_min_index(&into->overflow_block, from->overflow_block);
  into->near_singular += from->near_singular;
  into->value_bytes += from->value_bytes;
  for (int f = 0; f < BSI_FORMATS; f++) into->formats[f] += from->formats[f];
}

/* A group on the stack of a thread. Its blocks have at most 32 rows in all. */
typedef struct scratch {
  block blocks[BSI_BJACOBI_MAX_ROWS];
  double a[BSI_MAX_BLOCK_VALUES], e[BSI_MAX_BLOCK_VALUES];
  uint8_t pivots[BSI_BJACOBI_MAX_ROWS];
} scratch;

/* Block i of the partition, decomposed into `e`. */
static bsi_block_result set_block(const bisai_bcsr *matrix, const bsi_bjacobi *jacobi, int32_t i,
                                  block *b, bsi_bjacobi_stats *stats) {
  if (jacobi->natural)
    copy_natural(matrix, b, jacobi->matrix.position[i]);
  else
    extract(matrix, b);
  const bsi_block_result result = decompose_shifted(matrix, &jacobi->options, b);
  bsi_invert_stats_count(&stats->inversion, result, b->condition, i);
  if (result != BSI_BLOCK_SINGULAR && b->near_singular) {
    stats->near_singular++;
    bsi_min_index(&stats->near_singular_block, i);
  }
  return result;
}

static void set_group(const bisai_bcsr *matrix, bsi_bjacobi *jacobi, int32_t g, scratch *s,
                      bsi_bjacobi_stats *stats) {
  const bsi_bjacobi_options *o = &jacobi->options;
  const bsi_group group = bsi_bjacobi_group(jacobi, g);
  const bool in_place = o->storage == BISAI_FP64 && group.end - group.begin == 1;
  char *place = (char *)jacobi->data +
                (size_t)bsi_bjacobi_first_value(jacobi, g) * (size_t)jacobi->slot_bytes;
  unsigned mask = ~0u;
  size_t used = 0;
  for (int32_t i = group.begin; i < group.end; i++) {
    block *b = &s->blocks[i - group.begin];
    b->row = bsi_partition_start(&jacobi->partition, i);
    b->m = (int)(bsi_partition_start(&jacobi->partition, i + 1) - b->row);
    b->a = s->a + used;
    b->e = in_place ? (double *)(void *)place : s->e + used;
    b->pivots = jacobi->pivots ? jacobi->pivots + b->row : s->pivots;
    used += (size_t)(b->m * b->m);
    /* The update fails: the rest of the group is not needed. */
    if (set_block(matrix, jacobi, i, b, stats) == BSI_BLOCK_SINGULAR) return;
    if (o->storage == BISAI_ADAPTIVE) mask &= formats_of(b, o);
  }
  const bisai_value_type format =
      o->storage == BISAI_ADAPTIVE ? bsi_adaptive_first(mask) : o->storage;
  if (jacobi->format) jacobi->format[g] = (uint8_t)format;
  stats->formats[format] += group.end - group.begin;
  for (int32_t i = group.begin; i < group.end; i++) {
    const block *b = &s->blocks[i - group.begin];
    stats->value_bytes += (int64_t)(b->m * b->m) * (int64_t)bsi_value_bytes(format);
    if (!in_place &&
        !store(format, b, o->form != BISAI_FORM_INVERSE,
               place + (size_t)(b->row - group.row) * bsi_value_bytes(format), group.height))
      bsi_min_index(&stats->overflow_block, i);
  }
}

typedef struct values_job {
  bisai_context *context;
  const bisai_bcsr *matrix;
  bsi_bjacobi *jacobi;
} values_job;

_Static_assert(sizeof(bsi_bjacobi_stats) <= BSI_PARTIAL_BYTES,
               "the statistics are a thread's partial result");

static void values_part(void *job, bsi_part part) {
  const values_job *v = job;
  const bsi_range range = bsi_range_of(v->jacobi->groups, part);
  scratch s;
  for (int64_t g = range.begin; g < range.end; g++)
    set_group(v->matrix, v->jacobi, (int32_t)g, &s, bsi_partial(v->context, part.thread));
}

static bisai_status bjacobi_values(bisai_context *context, const bisai_bcsr *matrix,
                                   bsi_bjacobi *jacobi) {
  const int threads = bsi_threads_for(context->threads, jacobi->partition.rows, ROWS_PER_THREAD);
  for (int t = 0; t < threads; t++)
    *(bsi_bjacobi_stats *)bsi_partial(context, t) = BSI_BJACOBI_STATS_NONE;
  bsi_run(context, threads, BSI_SOME_PARTS, values_part, &(values_job){context, matrix, jacobi});
  for (int t = 0; t < threads; t++) merge(&jacobi->stats, bsi_partial(context, t));
  return BISAI_OK;
}

static bisai_status bjacobi_reserve(bisai_context *context, const bisai_bcsr *matrix,
                                    bsi_bjacobi *jacobi) {
  (void)context, (void)matrix, (void)jacobi;
  return BISAI_OK;
}

/* The values have filled the statistics. */
static bisai_status bjacobi_collect(bisai_context *context, bsi_bjacobi *jacobi) {
  (void)context, (void)jacobi;
  return BISAI_OK;
}

const bsi_block_values_ops bsi_block_values_host = {
    .reserve = bjacobi_reserve, .compute = bjacobi_values, .collect = bjacobi_collect};
