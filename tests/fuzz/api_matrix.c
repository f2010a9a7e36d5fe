/* SPDX-License-Identifier: BSD-3-Clause */
/* Matrices: what comes in is what is there, what is malformed is refused, products are right. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "api.h"

/* --- what is refused --- */

/* Creation must fail with this status, leave a message, publish nothing and keep no memory. */
static void expect_refused(fuzz_world *world, const bisai_bcsr_desc *desc, bisai_status expected,
                           const char *what) {
  int untouched;
  bisai_bcsr *const before = (bisai_bcsr *)(void *)&untouched;
  bisai_bcsr *matrix = before;
  const long long live = atomic_load(&world->live);
  const bisai_status status = bisai_bcsr_create(world->context, desc, &matrix);
  fuzz_property(status == expected, "a matrix with %s is refused with status %d (it got %d)", what,
                (int)expected, (int)status);
  fuzz_property(matrix == before, "the output is untouched where a matrix with %s is refused",
                what);
  fuzz_property(*bisai_context_error(world->context), "a matrix with %s is refused with a message",
                what);
  fuzz_property(atomic_load(&world->live) == live, "a refused matrix with %s leaves no memory",
                what);
}

static void refuse_structures(fuzz_choices *choices, const fuzz_system *s, fuzz_world *world) {
  bisai_bcsr_desc desc = fuzz_system_desc(s, FUZZ_FIRST);
  const int32_t block = fuzz_pick(choices, 256) % s->blocks, kept = s->col_idx[block];
  const int32_t out[] = {-1, s->block_rows, INT32_MAX, INT32_MIN};
  s->col_idx[block] = out[fuzz_pick(choices, 4)];
  expect_refused(world, &desc, BISAI_INVALID_STRUCTURE, "a column out of range");
  s->col_idx[block] = kept;
  if (block > 0 && s->col_idx[block - 1] < kept) {
    s->col_idx[block] = s->col_idx[block - 1];
    bool same_row = true;
    for (int32_t i = 0; i <= s->block_rows; i++) same_row = same_row && s->row_ptr[i] != block;
    if (same_row) expect_refused(world, &desc, BISAI_INVALID_STRUCTURE, "a duplicate block");
    s->col_idx[block] = kept;
  }
  const int32_t first = s->row_ptr[1];
  s->row_ptr[1] = fuzz_rarely(choices, 2) ? -1 : s->blocks + 1;
  expect_refused(world, &desc, BISAI_INVALID_STRUCTURE, "row pointers that descend");
  s->row_ptr[1] = first;
  s->row_ptr[0] = 1;
  expect_refused(world, &desc, BISAI_INVALID_STRUCTURE, "row pointers that do not start at 0");
  s->row_ptr[0] = 0;
}

static void refuse_values(fuzz_choices *choices, const fuzz_system *s, fuzz_world *world) {
  double *value = s->values[FUZZ_FIRST] +
                  (int64_t)fuzz_pick(choices, 256) * 8191 % fuzz_system_scalars(s),
         kept = *value;
  const bisai_bcsr_desc desc = fuzz_system_desc(s, FUZZ_FIRST);
  *value = fuzz_not_finite(choices);
  expect_refused(world, &desc, BISAI_NOT_FINITE, "NaN or infinity");
  *value = kept;
}

/* --- the matrix is what was given --- */

void fuzz_matrix_content(const fuzz_system *s, int set, const bisai_bcsr *matrix) {
  const int64_t count = fuzz_system_scalars(s);
  int32_t *row_ptr = fuzz_memory((size_t)s->block_rows + 1, sizeof *row_ptr);
  int32_t *col_idx = fuzz_memory((size_t)s->blocks, sizeof *col_idx);
  double *values = fuzz_vector(count);
  if (fuzz_property(
          bisai_bcsr_blocks(matrix) == s->blocks &&
              bisai_bcsr_block_rows(matrix) == s->block_rows &&
              bisai_bcsr_block_size(matrix) == s->block_size,
          "a matrix has the sizes of what it was made from (%d blocks of %d, not %d of %d)",
          (int)s->blocks, (int)s->block_size, (int)bisai_bcsr_blocks(matrix),
          (int)bisai_bcsr_block_size(matrix)) &&
      fuzz_property(!bisai_bcsr_fetch(matrix, row_ptr, col_idx, values),
                    "a matrix can be fetched")) {
    fuzz_property(memcmp(row_ptr, s->row_ptr, ((size_t)s->block_rows + 1) * sizeof *row_ptr) == 0 &&
                      memcmp(col_idx, s->col_idx, (size_t)s->blocks * sizeof *col_idx) == 0,
                  "a matrix has the pattern that it was made from, sorted");
    int64_t at = 0;
    while (at < count && fuzz_same(1, values + at, s->values[set] + at)) at++;
    fuzz_property(at == count,
                  "a matrix has the values that it was made from (value %lld is %.17g, not %.17g)",
                  (long long)at, at < count ? values[at] : 0, at < count ? s->values[set][at] : 0);
  }
  free(row_ptr);
  free(col_idx);
  free(values);
}

/* The blocks of each row in the opposite order. */
static bisai_status create_reversed(const fuzz_system *s, int set, fuzz_world *world, bool borrow,
                                    bisai_bcsr **matrix) {
  const size_t each = (size_t)s->block_size * (size_t)s->block_size;
  int32_t *col_idx = fuzz_memory((size_t)s->blocks, sizeof *col_idx);
  double *values = fuzz_vector(fuzz_system_scalars(s));
  for (int32_t i = 0; i < s->block_rows; i++)
    for (int32_t p = s->row_ptr[i], q = s->row_ptr[i + 1] - 1; p < s->row_ptr[i + 1]; p++, q--) {
      col_idx[p] = s->col_idx[q];
      memcpy(values + (size_t)p * each, s->values[set] + (size_t)q * each, each * sizeof *values);
    }
  bisai_bcsr_desc desc = fuzz_system_desc(s, set);
  desc.col_idx = col_idx;
  desc.values = values;
  desc.ownership = borrow ? BISAI_BORROW : BISAI_COPY;
  const bisai_status status = bisai_bcsr_create(world->context, &desc, matrix);
  free(col_idx);
  free(values);
  return status;
}

static void refuse_unsorted_borrowed(const fuzz_system *s, fuzz_world *world) {
  bool unsorted = false;
  for (int32_t i = 0; i < s->block_rows; i++)
    unsorted = unsorted || s->row_ptr[i + 1] - s->row_ptr[i] > 1;
  bisai_bcsr *matrix = NULL;
  if (!unsorted) return;
  const bisai_status status = create_reversed(s, FUZZ_FIRST, world, true, &matrix);
  fuzz_property(status == BISAI_INVALID_STRUCTURE && !matrix,
                "a borrowed array with unsorted columns is refused (status %d)", (int)status);
}

bisai_bcsr *fuzz_matrix_make(fuzz_choices *choices, const fuzz_system *s, int set,
                             fuzz_world *world) {
  bisai_bcsr *matrix = NULL;
  bisai_status status;
  const int route = fuzz_pick(choices, 4);
  if (route == 0) {
    bisai_bcsr_desc desc = fuzz_system_desc(s, set);
    status = bisai_bcsr_create(world->context, &desc, &matrix);
  } else if (route == 1) {
    status = create_reversed(s, set, world, false, &matrix);
  } else if (route == 2) {
    bisai_bcsr_desc desc = fuzz_system_desc(s, set);
    desc.ownership = BISAI_BORROW;
    status = bisai_bcsr_create(world->context, &desc, &matrix);
  } else {
    fuzz_csr csr = fuzz_csr_make(s, fuzz_seed(choices));
    const bisai_csr_desc desc = fuzz_csr_desc(s, &csr, set);
    status = bisai_bcsr_from_csr(world->context, &desc, &matrix);
    fuzz_csr_free(&csr);
  }
  static const char *const routes[] = {"sorted blocks", "unsorted blocks", "borrowed blocks",
                                       "scalar CSR"};
  if (fuzz_property(!status && matrix, "a matrix can be made from %s (status %d: %s)",
                    routes[route], (int)status, bisai_context_error(world->context)))
    fuzz_matrix_content(s, set, matrix);
  return matrix;
}

/* --- products --- */

/* |y − A x| ≤ (entries + 2) ε |A||x| + what vanishes. */
static void expect_product(const fuzz_system *s, const double *x, const double *y) {
  long double *ax = fuzz_memory((size_t)s->rows, sizeof *ax),
              *size = fuzz_memory((size_t)s->rows, sizeof *size);
  fuzz_system_multiply(s, FUZZ_FIRST, x, ax, size);
  for (int32_t i = 0; i < s->rows; i++) {
    const int32_t block_row = i / s->block_size;
    const long double entries = (s->row_ptr[block_row + 1] - s->row_ptr[block_row]) * s->block_size;
    const long double bound = (entries + 2) * (0x1p-52L * size[i] + 0x1p-1074L);
    if (size[i] > 0x1p1023L) continue; /* may overflow on the way */
    if (!fuzz_property(fabsl(ax[i] - y[i]) <= bound,
                       "y = A x is right to rounding (row %d: %.17g instead of %.17Lg)", (int)i,
                       y[i], ax[i]))
      break;
  }
  free(ax);
  free(size);
}

static void expect_products(const fuzz_system *s, bisai_bcsr *const matrix[2], uint64_t seed) {
  enum { MANY = 5 };
  const int64_t n = s->rows, ld = n + 3;
  double *x = fuzz_vector(MANY * ld), *y = fuzz_vector(2 * MANY * ld);
  for (int64_t i = 0; i < MANY * ld; i++) x[i] = fuzz_noise(seed, i, 0);
  for (int64_t i = 0; i < 2 * MANY * ld; i++) y[i] = NAN;
  bisai_status status = bisai_bcsr_multiply(matrix[0], x, y);
  if (!status) status = bisai_bcsr_multiply(matrix[1], x, y + MANY * ld);
  fuzz_property(!status, "a product succeeds (status %d)", (int)status);
  fuzz_property(fuzz_same(n, y, y + MANY * ld),
                "a product has the same bits for any number of threads");
  expect_product(s, x, y);
  status = bisai_bcsr_multiply_many(matrix[1], MANY, x, ld, y + MANY * ld, ld);
  for (int32_t c = 0; c < MANY && !status; c++) {
    status = bisai_bcsr_multiply(matrix[0], x + c * ld, y);
    fuzz_property(fuzz_same(n, y, y + (MANY + c) * ld),
                  "products with several vectors at once have the bits of single ones");
  }
  fuzz_property(!status, "products with several vectors succeed (status %d)", (int)status);
  free(x);
  free(y);
}

/* A block size that is chosen, and padding: the product with the rows that there were is the
 * same. */
static void expect_csr_of_any_size(fuzz_choices *choices, const fuzz_system *s, fuzz_world *world) {
  fuzz_csr csr = fuzz_csr_make(s, fuzz_seed(choices));
  bisai_csr_desc desc = fuzz_csr_desc(s, &csr, FUZZ_FIRST);
  desc.block_size = fuzz_pick(choices, 34) % (BISAI_MAX_BLOCK_SIZE + 1);
  desc.pad = true;
  bisai_bcsr *matrix = NULL;
  const bisai_status status = bisai_bcsr_from_csr(world->context, &desc, &matrix);
  if (fuzz_property(!status && matrix,
                    "scalar CSR can be cut into blocks of %d, padded (status %d: %s)",
                    (int)desc.block_size, (int)status, bisai_context_error(world->context))) {
    const int64_t padded = (int64_t)bisai_bcsr_block_rows(matrix) * bisai_bcsr_block_size(matrix);
    fuzz_property(padded == s->rows + bisai_bcsr_padding(matrix) &&
                      bisai_bcsr_rows(matrix) == s->rows,
                  "padding fills up the last block");
    double *x = fuzz_vector(padded), *y = fuzz_vector(padded);
    for (int64_t i = 0; i < padded; i++) x[i] = fuzz_noise(3, i, 1);
    fuzz_property(!bisai_bcsr_multiply(matrix, x, y), "a padded matrix can be multiplied");
    expect_product(s, x, y);
    fuzz_property(fuzz_same(padded - s->rows, x + s->rows, y + s->rows), "padding is an identity");
    free(x);
    free(y);
  }
  bisai_bcsr_destroy(&matrix);
  fuzz_csr_free(&csr);
}

void fuzz_matrix_properties(fuzz_choices *choices, const fuzz_system *s,
                            bisai_bcsr *const matrix[2], fuzz_world worlds[2]) {
  expect_products(s, matrix, fuzz_seed(choices));
  fuzz_symmetry_properties(s, matrix);
  const int what = fuzz_pick(choices, 4);
  if (s->block_rows > 0 && what == 1) {
    if (s->blocks > 0) refuse_structures(choices, s, &worlds[0]);
    if (s->blocks > 0) refuse_values(choices, s, &worlds[0]);
    refuse_unsorted_borrowed(s, &worlds[0]);
  }
  if (what == 2) expect_csr_of_any_size(choices, s, &worlds[1]);
  if (what == 3) fuzz_update_properties(choices, s, &worlds[1]);
}
