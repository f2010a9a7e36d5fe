/* SPDX-License-Identifier: BSD-3-Clause */
/* The values of B = P Q Dr A Dc Pᵀ, the scale factors Dr and Dc, and permutations of vectors, on
 * the host.
 *
 * Equilibration works on exponents, with e_ij = ⌊log₂ |a_ij|⌋ + 1. In every round each row and each
 * column subtracts half of its largest e_ij + r_i + c_j from its own exponent (Ruiz 2001, Algorithm
 * 1, in powers of two), until each half is below 1. Symmetric magnitudes get symmetric factors. */
#include <math.h>
#include <string.h>

#include "core/block/block_math.h"
#include "core/block/block_sizes.h"
#include "core/context/context_impl.h"
#include "core/threads/parallel.h"
#include "order/order_ops.h"
#include "order/reordered.h"

enum {
  ROUNDS = 10,
  /* the least number of values for which a thread is woken */
  GRAIN = 32768
};

/* Returns the exponent of a value. That of zero is so low that scaling never brings it near that of
 * another value. Subnormal values count as 2^-1023. */
static int16_t exponent_of(double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return (int16_t)(value == 0.0 ? BSI_EXPONENT_OF_ZERO : (int)(bits >> 52 & 0x7ff) - 1022);
}

static bool is_of_zero(int32_t scaled_exponent) {
  return scaled_exponent < BSI_EXPONENT_OF_ZERO / 2;
}

/* A matrix with its equilibration. For copies into another order, the reordered matrix too. */
typedef struct values_job {
  const bisai_bcsr *a;
  const bsi_equilibration *q;
  const bsi_reordered *reordered;
} values_job;

static void exponents_part(void *job, bsi_part part) {
  const values_job *j = job;
  const double *values = j->a->values;
  int16_t *exponents = j->q->exponents;
  const bsi_range range = bsi_range_of((int64_t)bsi_block_offset(j->a, j->a->blocks), part);
  for (int64_t v = range.begin; v < range.end; v++) exponents[v] = exponent_of(values[v]);
}

static inline int32_t larger(int32_t a, int32_t b) { return a > b ? a : b; }

/* *max ← the larger of it and `value`. Several threads may update a column; the maximum does not
 * depend on their order. */
static inline void atomic_max(int32_t *max, int32_t value) {
  int32_t seen = __atomic_load_n(max, __ATOMIC_RELAXED);
  while (seen < value && !__atomic_compare_exchange_n(max, &seen, value, true, __ATOMIC_RELAXED,
                                                      __ATOMIC_RELAXED)) {
  }
}

BSI_INLINE void find_row_maxima(const int bs, const bisai_bcsr *a, const bsi_equilibration *q,
                                const int32_t begin, const int32_t end) {
  for (int32_t i = begin; i < end; i++) {
    const int32_t *row = q->row_exponent + (int64_t)i * bs;
    int32_t max[BISAI_MAX_BLOCK_SIZE];
    for (int r = 0; r < bs; r++) max[r] = BSI_EXPONENT_OF_ZERO;
    for (int32_t p = a->row_ptr[i]; p < a->row_ptr[i + 1]; p++) {
      const int16_t *block = q->exponents + bsi_block_offset(a, p);
      for (int c = 0; c < bs; c++) {
        const int64_t column = (int64_t)a->col_idx[p] * bs + c;
        const int32_t col = q->col_exponent[column];
        int32_t col_max = BSI_EXPONENT_OF_ZERO;
        for (int r = 0; r < bs; r++) {
          const int32_t scaled = block[c * bs + r] + row[r] + col;
          max[r] = larger(max[r], scaled);
          col_max = larger(col_max, scaled);
        }
        atomic_max(q->col_max + column, col_max);
      }
    }
    for (int r = 0; r < bs; r++) q->row_max[(int64_t)i * bs + r] = max[r];
  }
}

typedef void maxima_function(const bisai_bcsr *a, const bsi_equilibration *q, int32_t begin,
                             int32_t end);

static void maxima_any(const bisai_bcsr *a, const bsi_equilibration *q, int32_t begin,
                       int32_t end) {
  find_row_maxima(a->block_size, a, q, begin, end);
}

#define STAMP(BS)                                                                                  \
  static void maxima_##BS(const bisai_bcsr *a, const bsi_equilibration *q, int32_t begin,          \
                          int32_t end) {                                                           \
    find_row_maxima(BS, a, q, begin, end);                                                         \
  }
BSI_BLOCK_SIZES(STAMP)
#undef STAMP

#define ENTRY(BS) [BS] = maxima_##BS,
static maxima_function *const maxima_functions[BSI_SPECIAL_SIZES + 1] = {maxima_any,
                                                                         BSI_BLOCK_SIZES(ENTRY)};
#undef ENTRY

static void clear_part(void *job, bsi_part part) {
  const values_job *j = job;
  const bsi_range range = bsi_range_of((int64_t)j->a->block_rows * j->a->block_size, part);
  for (int64_t k = range.begin; k < range.end; k++) j->q->col_max[k] = BSI_EXPONENT_OF_ZERO;
}

static void maxima_part(void *job, bsi_part part) {
  const values_job *j = job;
  const bisai_bcsr *a = j->a;
  const bsi_rows rows = bsi_rows_of(a->block_rows, a->row_ptr, part);
  maxima_functions[a->block_size <= BSI_SPECIAL_SIZES ? a->block_size : 0](a, j->q, rows.begin,
                                                                           rows.end);
}

/* Finds the largest scaled exponent of every scalar row and column. */
static void find_maxima(bisai_context *context, int threads, values_job *job) {
  bsi_run(context, threads, BSI_SOME_PARTS, clear_part, job);
  bsi_run(context, threads, BSI_SOME_PARTS, maxima_part, job);
}

/* Returns the first of `n` groups of bs that has only zeros, or -1. */
static int32_t find_zero(const int32_t *max, int32_t n, int bs) {
  for (int32_t i = 0; i < n; i++) {
    int zeros = 0;
    while (zeros < bs && is_of_zero(max[(int64_t)i * bs + zeros])) zeros++;
    if (zeros == bs) return i;
  }
  return -1;
}

/* Subtracts half of each maximum from its exponent. Returns true if this changed an exponent. */
static bool balance(int64_t n, const int32_t *max, int32_t *exponent) {
  bool changed = false;
  for (int64_t k = 0; k < n; k++) {
    if (is_of_zero(max[k])) continue;
    int32_t next = exponent[k] - max[k] / 2;
    if (next > BSI_LARGEST_EXPONENT) next = BSI_LARGEST_EXPONENT;
    if (next < -BSI_LARGEST_EXPONENT) next = -BSI_LARGEST_EXPONENT;
    changed |= next != exponent[k];
    exponent[k] = next;
  }
  return changed;
}

static void set_scales(int64_t n, const int32_t *exponent, double *scale, bsi_equilibration *q) {
  for (int64_t k = 0; k < n; k++) {
    scale[k] = ldexp(1.0, exponent[k]);
    q->smallest = fmin(q->smallest, scale[k]);
    q->largest = fmax(q->largest, scale[k]);
  }
}

static bisai_status equilibrate(bisai_context *context, const bisai_bcsr *a, bsi_equilibration *q) {
  const int64_t n = (int64_t)a->block_rows * a->block_size;
  const int threads =
      bsi_threads_for(context->threads, (int64_t)bsi_block_offset(a, a->blocks), GRAIN);
  values_job job = {a, q, NULL};
  bsi_run(context, threads, BSI_SOME_PARTS, exponents_part, &job);
  for (int64_t k = 0; k < n; k++) q->row_exponent[k] = q->col_exponent[k] = 0;
  find_maxima(context, threads, &job);
  q->zero_row = find_zero(q->row_max, a->block_rows, a->block_size);
  q->zero_col = find_zero(q->col_max, a->block_rows, a->block_size);
  if (q->zero_row >= 0 || q->zero_col >= 0) return BISAI_OK;
  for (int round = 0; round < ROUNDS; round++) {
    const bool rows = balance(n, q->row_max, q->row_exponent),
               cols = balance(n, q->col_max, q->col_exponent);
    if (!rows && !cols) break;
    find_maxima(context, threads, &job);
  }
  q->smallest = n > 0 ? INFINITY : 1.0;
  q->largest = n > 0 ? 0.0 : 1.0;
  set_scales(n, q->row_exponent, q->row_scale, q);
  set_scales(n, q->col_exponent, q->col_scale, q);
  return BISAI_OK;
}

static void reorder_row(const bisai_bcsr *a, const bsi_reordered *r, int32_t i) {
  const bsi_equilibration *q = &r->equilibration;
  const bisai_bcsr *b = r->matrix;
  const int bs = b->block_size;
  const bsi_reordered_maps *maps = &r->maps;
  const int64_t row = maps->rows ? maps->rows[i] : i;
  for (int32_t p = b->row_ptr[i]; p < b->row_ptr[i + 1]; p++) {
    const int32_t source = maps->source ? maps->source[p] : p;
    const int64_t column = maps->columns ? maps->columns[b->col_idx[p]] : b->col_idx[p];
    const double *from = (const double *)a->values + bsi_block_offset(b, source);
    double *to = (double *)b->values + bsi_block_offset(b, p);
    if (!q->row_scale) {
      memcpy(to, from, bsi_block_offset(b, 1) * sizeof *to);
      continue;
    }
    const double *row_scale = q->row_scale + row * bs, *col_scale = q->col_scale + column * bs;
    for (int c = 0; c < bs; c++)
      for (int k = 0; k < bs; k++) to[c * bs + k] = row_scale[k] * col_scale[c] * from[c * bs + k];
  }
}

static void reorder_part(void *job, bsi_part part) {
  const values_job *j = job;
  const bisai_bcsr *b = j->reordered->matrix;
  const bsi_rows rows = bsi_rows_of(b->block_rows, b->row_ptr, part);
  for (int32_t i = rows.begin; i < rows.end; i++) reorder_row(j->a, j->reordered, i);
}

static bisai_status reorder_values(bisai_context *context, const bisai_bcsr *a, bsi_reordered *r) {
  const int64_t work = (int64_t)bsi_block_offset(a, a->blocks);
  bsi_run(context, bsi_threads_for(context->threads, work, GRAIN), BSI_SOME_PARTS, reorder_part,
          &(values_job){a, &r->equilibration, r});
  return BISAI_OK;
}

static void find_nonzero_part(void *job, bsi_part part) {
  const values_job *j = job;
  const double *values = j->a->values;
  const bsi_range range = bsi_range_of(j->reordered->zero_count, part);
  int64_t k = range.begin;
  while (k < range.end && values[j->reordered->zeros[k]] == 0.0) k++;
  bsi_min_index(bsi_partial(j->a->context, part.thread), k < range.end ? (int32_t)k : -1);
}

static bisai_status find_nonzero(bisai_context *context, const bisai_bcsr *a,
                                 const bsi_reordered *r, int32_t *first) {
  values_job job = {a, NULL, r};
  *first = bsi_find_first(context, bsi_threads_for(context->threads, r->zero_count, GRAIN),
                          find_nonzero_part, &job);
  return BISAI_OK;
}

BSI_INLINE void move_blocks(const int bs, const bsi_move *m, const int32_t begin,
                            const int32_t end) {
  for (int32_t i = begin; i < end; i++) {
    const int32_t old = m->permutation ? m->permutation[i] : i;
    const double *x = m->x + (int64_t)(m->scatter ? i : old) * bs;
    double *y = m->y + (int64_t)(m->scatter ? old : i) * bs;
    if (m->scale)
      for (int k = 0; k < bs; k++) y[k] = m->scale[(int64_t)old * bs + k] * x[k];
    else
      for (int k = 0; k < bs; k++) y[k] = x[k];
  }
}

typedef void move_function(const bsi_move *m, int32_t begin, int32_t end);

static void move_any(const bsi_move *m, int32_t begin, int32_t end) {
  move_blocks(m->bs, m, begin, end);
}

#define STAMP(BS)                                                                                  \
  static void move_##BS(const bsi_move *m, int32_t begin, int32_t end) {                           \
    move_blocks(BS, m, begin, end);                                                                \
  }
BSI_BLOCK_SIZES(STAMP)
#undef STAMP

#define ENTRY(BS) [BS] = move_##BS,
static move_function *const move_functions[BSI_SPECIAL_SIZES + 1] = {move_any,
                                                                     BSI_BLOCK_SIZES(ENTRY)};
#undef ENTRY

static void move_part(void *job, bsi_part part) {
  bsi_move m = *(const bsi_move *)job;
  move_function *const run = move_functions[m.bs <= BSI_SPECIAL_SIZES ? m.bs : 0];
  const bsi_range range = bsi_range_of(m.n, part);
  for (int32_t c = 0; c < m.count; c++, m.x += m.ldx, m.y += m.ldy)
    run(&m, (int32_t)range.begin, (int32_t)range.end);
}

static bisai_status move_vectors(bisai_context *context, const bsi_move *m) {
  const int threads = bsi_threads_for(context->threads, (int64_t)m->n * m->bs * m->count, GRAIN);
  bsi_run(context, threads, BSI_SOME_PARTS, move_part, (void *)(uintptr_t)m);
  return BISAI_OK;
}

const bsi_reordered_ops bsi_reordered_host = {.move = move_vectors,
                                              .equilibrate = equilibrate,
                                              .find_nonzero = find_nonzero,
                                              .values = reorder_values};
