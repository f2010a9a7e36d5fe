/* SPDX-License-Identifier: BSD-3-Clause */
/* Random matrices with their diagonal blocks, for the tests of CPR's operations. Their arrays are
 * in backend memory, and the host sees them too. */
#ifndef BISAI_TEST_CELLS_H
#define BISAI_TEST_CELLS_H

#include <math.h>

#include "core/context/context_impl.h"
#include "cpr/cpr_ops.h"
#include "cpr/weights.h"
#include "fixture.h"

static const int sizes[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 17, 32};
enum { SIZES = sizeof sizes / sizeof *sizes };

static inline const bsi_cpr_ops *ops(const bisai_context *c) { return c->backend->cpr; }

/* A copy in backend memory; NaN bytes without `from`. */
static void *placed(bisai_context *c, const void *from, size_t count, size_t size) {
  void *to = c->backend->memory->allocate(c, count + 1, size);
  assert_non_null(to);
  if (from && count > 0) EXPECT_OK(c, c->backend->memory->upload(c, to, from, count * size));
  return to;
}

static void drop(bisai_context *c, void *array) { c->backend->memory->release(c, array); }

typedef struct cells {
  test_bcsr a;
  bisai_bcsr *matrix;
  int32_t *diagonal;
  int32_t n;
  int bs;
} cells;

/* Takes the arrays. */
static cells cells_take(bisai_context *c, test_bcsr a) {
  cells s = {a, test_bcsr_make(c, &a), NULL, a.block_rows, a.block_size};
  int32_t *diagonal = calloc((size_t)s.n + 1, sizeof *diagonal);
  for (int32_t i = 0; i < s.n; i++)
    for (int32_t q = a.row_ptr[i]; q < a.row_ptr[i + 1]; q++)
      if (a.col_idx[q] == i) diagonal[i] = q;
  s.diagonal = placed(c, diagonal, (size_t)s.n, sizeof *diagonal);
  free(diagonal);
  return s;
}

static inline cells cells_random(bisai_context *c, int32_t n, int bs, uint64_t seed) {
  return cells_take(c, test_bcsr_random(test_shape_square(n, bs, seed)));
}

/* Leaves the arrays. */
static void cells_leave(bisai_context *c, cells *s) {
  drop(c, s->diagonal);
  bisai_bcsr_destroy(&s->matrix);
}

static void cells_free(bisai_context *c, cells *s) {
  cells_leave(c, s);
  test_bcsr_free(&s->a);
}

/* The value of row r and column c of stored block q. */
static inline double entry(const cells *s, int32_t q, int r, int c) {
  return s->a.values[((size_t)q * (size_t)s->bs + (size_t)c) * (size_t)s->bs + (size_t)r];
}

#endif
