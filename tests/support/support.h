/* SPDX-License-Identifier: BSD-3-Clause */
/* What the tests share: seeded random block matrices, dense references, an allocator that counts
 * and fails, real matrices. Dense matrices are column-major with leading dimension = rows. Whatever
 * a function returns through malloc is freed with free(). */
#ifndef BISAI_TEST_SUPPORT_H
#define BISAI_TEST_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <bisai/bisai.h>

/* Whether this is a sanitizer build: some ten times slower, so that the longest tests do a part of
 * their work there. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define TEST_SANITIZED true
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define TEST_SANITIZED true
#endif
#endif
#ifndef TEST_SANITIZED
#define TEST_SANITIZED false
#endif

/* Sets an option of a preconditioner where its kind takes it; others are refused. */
#define TEST_SET_OPTION(options, field, value)                                                     \
  do {                                                                                             \
    if (bisai_precond_kind_takes((options).kind, #field)) (options).field = (value);               \
  } while (0)

/* --- asserting --- */

/* Fails the test with both statuses and the context's message. */
void test_expect_status(bisai_context *context, bisai_status expected, bisai_status got,
                        const char *expression, const char *file, int line);
#define EXPECT_STATUS(context, expected, call)                                                     \
  test_expect_status(context, expected, call, #call, __FILE__, __LINE__)
#define EXPECT_OK(context, call) EXPECT_STATUS(context, BISAI_OK, call)

/* Fails unless |got[i] − expected[i]| ≤ tolerance for every i < n; NaN never passes. Prints the
 * worst entry. */
void test_expect_close(int64_t n, const double *expected, const double *got, double tolerance,
                       const char *file, int line);
#define EXPECT_CLOSE(n, expected, got, tolerance)                                                  \
  test_expect_close(n, expected, got, tolerance, __FILE__, __LINE__)

/* Fails unless |got − expected| ≤ tolerance. */
#define EXPECT_NEAR(expected, got, tolerance)                                                      \
  do {                                                                                             \
    double expected_value = (expected), got_value = (got);                                         \
    test_expect_close(1, &expected_value, &got_value, tolerance, __FILE__, __LINE__);              \
  } while (0)

/* Fails unless the context's last message is exactly `expected`. */
void test_expect_message(const bisai_context *context, const char *expected, const char *file,
                         int line);
#define EXPECT_MESSAGE(context, expected) test_expect_message(context, expected, __FILE__, __LINE__)

/* Fails unless the context's last message has `part` in it. */
void test_expect_in_message(const bisai_context *context, const char *part, const char *file,
                            int line);
#define EXPECT_IN_MESSAGE(context, part) test_expect_in_message(context, part, __FILE__, __LINE__)

/* --- contexts and allocators --- */

/* Whether BISAI_TEST_BACKEND=cuda asks for contexts on a device; ends the program as skipped (77)
 * where there is none. Their memory is reached by the host too, and vectors of the tests may lie in
 * host memory as ever. */
bool test_on_device(void);

/* n random values where the contexts compute, and the host sees them too. */
double *test_vector_in_place(int64_t n, uint64_t seed);
void test_vector_free(double *vector);

/* Before the host looks at what was only enqueued on the device: in callbacks, and after every
 * EXPECT_OK and EXPECT_STATUS by itself. */
void test_synchronize(void);

/* A context with `threads` threads (0: the default); never NULL. */
bisai_context *test_context(int threads);

/* The same on the host, wherever the others are. */
bisai_context *test_host_context(int threads);

/* An allocator that fills what it hands out (and takes back) with NaN bytes, keeps accounts and
 * fails on demand. */
typedef struct test_allocator {
  /* allocations asked for, failed ones included */
  atomic_llong calls;
  /* not yet released */
  atomic_llong live_blocks;
  atomic_llong live_bytes;
  atomic_llong peak_bytes;
  /* fails this call (1: the first); 0: never */
  long long fail_at;
  /* true: and all later ones */
  bool fail_after;
  /* true: the host does not reach the arrays of a device, which then take a fraction of the time;
   * set before the context is made */
  bool device_only;
} test_allocator;

/* Zero accounts, failing call `fail_at` (0: none). */
void test_allocator_reset(test_allocator *allocator, long long fail_at);
bisai_allocator test_allocator_hooks(test_allocator *allocator);

/* A context on such an allocator, for host and device memory. NULL only if its own allocation was
 * told to fail. */
bisai_context *test_context_on(test_allocator *allocator, int threads);

/* What the preconditioner reports, which sets every member. */
bisai_precond_report test_report_of(bisai_context *context, const bisai_precond *precond);

/* --- random numbers: a linear congruential generator, the same everywhere --- */

typedef struct test_random {
  uint64_t state;
} test_random;

test_random test_random_seed(uint64_t seed);
double test_random_uniform(test_random *random, double low, double high); /* [low, high) */
/* low … high, both included */
int32_t test_random_integer(test_random *random, int32_t low, int32_t high);
double *test_random_vector(int64_t n, uint64_t seed); /* values in [−1, 1) */
double *test_nan_vector(int64_t n);

/* --- block matrices as plain arrays --- */

typedef struct test_bcsr {
  int32_t block_rows, block_cols, block_size;
  /* columns ascending */
  int32_t *row_ptr, *col_idx;
  /* column-major blocks */
  double *values;
} test_bcsr;

typedef enum test_diagonal {
  /* like any other block */
  TEST_DIAGONAL_RANDOM,
  /* always stored; added up so that every scalar row is strictly diagonally dominant */
  TEST_DIAGONAL_DOMINANT,
  /* never stored */
  TEST_DIAGONAL_NONE
} test_diagonal;

typedef enum test_part {
  TEST_FULL,
  TEST_LOWER,
  TEST_UPPER,
  TEST_STRICTLY_LOWER,
  TEST_STRICTLY_UPPER
} test_part;

typedef struct test_shape {
  int32_t block_rows, block_cols, block_size;
  /* mean number of off-diagonal blocks; rows are ragged: from none to several times this */
  double blocks_per_row;
  /* n: rows n−1, 2n−1, … have no off-diagonal block; 0: no such rule */
  int32_t empty_every;
  test_diagonal diagonal;
  test_part part;
  uint64_t seed;
} test_shape;

/* Square, full, dominant diagonal, three off-diagonal blocks a row. */
test_shape test_shape_square(int32_t block_rows, int32_t block_size, uint64_t seed);
test_bcsr test_bcsr_random(test_shape shape);
/* Five-point (grid_y > 1) or three-point star with random dominant blocks. */
test_bcsr test_bcsr_grid(int32_t grid_x, int32_t grid_y, int32_t block_size, uint64_t seed);
/* Block tridiagonal with constant blocks: diagonal d·I, the others o·I. */
test_bcsr test_bcsr_tridiagonal(int32_t block_rows, int32_t block_size, double d, double o);
/* Diagonal, of block size 1. */
test_bcsr test_bcsr_diagonal(int32_t n, const double *values);
/* 0 … n−1 in random order. */
int32_t *test_random_permutation(int32_t n, uint64_t seed);
/* P A Pᵀ: row i is row permutation[i]. */
test_bcsr test_bcsr_permuted(const test_bcsr *matrix, const int32_t *permutation);
/* The same blocks with zero blocks added where only the transposed one is stored. */
test_bcsr test_bcsr_symmetrised(const test_bcsr *matrix);
/* Symmetric to the last bit and positive definite, three off-diagonal blocks a row in the upper
 * triangle alone, or more. */
test_bcsr test_bcsr_definite(int32_t block_rows, int32_t block_size, uint64_t seed);
int32_t test_bcsr_blocks(const test_bcsr *matrix);
/* The values of block (row, col), NULL where it is not stored. */
double *test_bcsr_block(const test_bcsr *matrix, int32_t row, int32_t col);
void test_bcsr_free(test_bcsr *matrix);

/* bisai_bcsr_create() with a copy of the arrays; fails the test if that fails. */
bisai_bcsr *test_bcsr_make(bisai_context *context, const test_bcsr *matrix);
/* The same with values in fp32. */
bisai_bcsr *test_bcsr_single(bisai_context *context, const test_bcsr *matrix);
/* The same with the arrays themselves, which the caller may write to. */
bisai_bcsr *test_bcsr_borrow(bisai_context *context, const test_bcsr *matrix);
/* Fails unless both have the same rows, padding, structure and values in fp64, to the bit. */
void test_expect_same(const bisai_bcsr *a, const bisai_bcsr *b);
/* Makes and frees the arrays in one go. */
bisai_bcsr *test_bcsr_take(bisai_context *context, test_bcsr matrix);

/* --- dense references --- */

double *test_dense_from_arrays(const test_bcsr *matrix);
/* From a matrix in host memory, of any value type; an implied unit diagonal is filled in. */
double *test_dense(const bisai_bcsr *matrix);
double *test_dense_identity(int64_t n);
/* Returns the largest magnitude of n values. */
double test_largest(int64_t n, const double *values);
/* (m×k)(k×n) */
double *test_dense_multiply(int64_t m, int64_t k, int64_t n, const double *a, const double *b);
double *test_dense_transpose(int64_t m, int64_t n, const double *a);
/* Inverse by LU with partial pivoting; NULL when singular. */
double *test_dense_inverse(int64_t n, const double *a);
/* x with A x = b by LU with partial pivoting; NULL when singular. */
double *test_dense_solve(int64_t n, const double *a, const double *b);
double test_dense_norm1(int64_t m, int64_t n, const double *a);
/* κ₁; infinity when singular */
double test_dense_condition1(int64_t n, const double *a);
double test_max_difference(int64_t n, const double *a, const double *b); /* NaN if there is one */
double test_norm2(int64_t n, const double *a);
/* ‖b − A x‖₂/‖b‖₂ with the library's own product. */
double test_relative_residual(const bisai_bcsr *matrix, const double *x, const double *b);

/* The stored value `index` of an array of the given type. */
double test_value(bisai_value_type type, const void *values, size_t index);

/* --- real matrices --- */

/* Path of NAME.mtx.xz under $BISAI_MATRICES into `path`; false where there is none. */
bool test_matrix_path(const char *name, char *path, size_t size);
/* Reads it (block_size 0: chosen), or skips the running test by name where it is absent or cannot
 * be decompressed. */
bisai_bcsr *test_matrix_read(bisai_context *context, const char *name, int32_t block_size);
/* Skips the running test because of a real matrix; test_real_matrices() then tells CTest. */
void test_matrix_skip(const char *name, const char *why);

/* Returns true if the program's argument asks for its tests on real matrices. */
bool test_wants_real(int argc, char **argv);
/* The exit status of tests on real matrices: 77 (skipped) where none failed and one was skipped. */
int test_real_matrices(int failed);

#endif
