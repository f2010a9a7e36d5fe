/* SPDX-License-Identifier: BSD-3-Clause */
/* A column of bs values in registers: the accumulator of block products, solves and factorisations.
 * Columns of at most 8 values are split into vectors of four, two and one, because compilers do not
 * find this split if bs is odd. No value beyond the column is accessed. Larger sizes use plain
 * loops, and so does CUDA, because a thread has no vectors there. All variants do the same
 * operations in the same order. */
#ifndef BSI_COLUMN_H
#define BSI_COLUMN_H

#include <bisai/bcsr.h>

#ifdef __CUDACC__
#define BSI_INLINE static __host__ __device__ __forceinline__
#else
#define BSI_INLINE static inline __attribute__((always_inline, unused))
#endif

#ifdef __CUDACC__
#define BSI_COLUMN_VECTORS(bs) false
typedef double bsi_quad;
typedef double bsi_pair;
#else
#define BSI_COLUMN_VECTORS(bs) (__builtin_constant_p(bs) && (bs) <= 8)
typedef double bsi_quad __attribute__((vector_size(32), aligned(8), may_alias));
typedef double bsi_pair __attribute__((vector_size(16), aligned(8), may_alias));
#endif

typedef struct bsi_column {
  bsi_quad quad[2];
  bsi_pair pair;
  double single;
  /* used instead of the vectors if the size is not a constant of at most 8 */
  double rows[BISAI_MAX_BLOCK_SIZE];
} bsi_column;

/* Executes statement(part, type, r) for each vector `part` of a column of bs values. The vector
 * holds the values from row r on. */
#define BSI_COLUMN_PARTS(bs, statement)                                                            \
  do {                                                                                             \
    if ((bs) >= 4) statement(quad[0], bsi_quad, 0);                                                \
    if ((bs) >= 8) statement(quad[1], bsi_quad, 4);                                                \
    if ((bs) % 4 >= 2) statement(pair, bsi_pair, (bs) / 4 * 4);                                    \
    if ((bs) % 2 == 1) statement(single, double, (bs)-1);                                          \
  } while (0)

BSI_INLINE void bsi_column_clear(const int bs, bsi_column *s) {
#define CLEAR(part, type, r)                                                                       \
  s->part = (type) { 0 }
  if (BSI_COLUMN_VECTORS(bs))
    BSI_COLUMN_PARTS(bs, CLEAR);
  else
    for (int r = 0; r < bs; r++) s->rows[r] = 0.0;
#undef CLEAR
}

BSI_INLINE void bsi_column_load(const int bs, bsi_column *s, const double *p) {
#define LOAD(part, type, r) s->part = *(const type *)(p + (r))
  if (BSI_COLUMN_VECTORS(bs))
    BSI_COLUMN_PARTS(bs, LOAD);
  else
    for (int r = 0; r < bs; r++) s->rows[r] = p[r];
#undef LOAD
}

BSI_INLINE void bsi_column_store(const int bs, const bsi_column *s, double *p) {
#define STORE(part, type, r) *(type *)(p + (r)) = s->part
  if (BSI_COLUMN_VECTORS(bs))
    BSI_COLUMN_PARTS(bs, STORE);
  else
    for (int r = 0; r < bs; r++) p[r] = s->rows[r];
#undef STORE
}

/* s ← s + t·x */
BSI_INLINE void bsi_column_add_scaled(const int bs, bsi_column *s, const bsi_column *t,
                                      const double x) {
#define ADD_SCALED(part, type, r) s->part += t->part * x
  if (BSI_COLUMN_VECTORS(bs))
    BSI_COLUMN_PARTS(bs, ADD_SCALED);
  else
    for (int r = 0; r < bs; r++) s->rows[r] += t->rows[r] * x;
#undef ADD_SCALED
}

/* s ← s + t */
BSI_INLINE void bsi_column_sum(const int bs, bsi_column *s, const bsi_column *t) {
#define SUM(part, type, r) s->part += t->part
  if (BSI_COLUMN_VECTORS(bs))
    BSI_COLUMN_PARTS(bs, SUM);
  else
    for (int r = 0; r < bs; r++) s->rows[r] += t->rows[r];
#undef SUM
}

/* s ← x·s */
BSI_INLINE void bsi_column_scale(const int bs, bsi_column *s, const double x) {
#define SCALE(part, type, r) s->part *= x
  if (BSI_COLUMN_VECTORS(bs))
    BSI_COLUMN_PARTS(bs, SCALE);
  else
    for (int r = 0; r < bs; r++) s->rows[r] *= x;
#undef SCALE
}

/* s ← s + p·x */
BSI_INLINE void bsi_column_add(const int bs, bsi_column *s, const double *p, const double x) {
#define ADD(part, type, r) s->part += *(const type *)(p + (r)) * x
  if (BSI_COLUMN_VECTORS(bs))
    BSI_COLUMN_PARTS(bs, ADD);
  else
    for (int r = 0; r < bs; r++) s->rows[r] += p[r] * x;
#undef ADD
}

/* s ← s − p·x */
BSI_INLINE void bsi_column_subtract(const int bs, bsi_column *s, const double *p, const double x) {
#define SUBTRACT(part, type, r) s->part -= *(const type *)(p + (r)) * x
  if (BSI_COLUMN_VECTORS(bs))
    BSI_COLUMN_PARTS(bs, SUBTRACT);
  else
    for (int r = 0; r < bs; r++) s->rows[r] -= p[r] * x;
#undef SUBTRACT
}

/* s ← s + A x for a block A of bs columns */
BSI_INLINE void bsi_column_add_product(const int bs, bsi_column *s, const double *a,
                                       const double *x) {
  for (int c = 0; c < bs; c++) bsi_column_add(bs, s, a + c * bs, x[c]);
}

/* s ← s − A x for a block A of bs columns */
BSI_INLINE void bsi_column_subtract_product(const int bs, bsi_column *s, const double *a,
                                            const double *x) {
  for (int c = 0; c < bs; c++) bsi_column_subtract(bs, s, a + c * bs, x[c]);
}

#endif
