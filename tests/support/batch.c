/* SPDX-License-Identifier: BSD-3-Clause */
#include "batch.h"

#include <float.h>
#include <math.h>

enum { EPSILONS = 64 };

static const char *const form_names[TEST_FORMS] = {"inverse", "gh", "ght", "lu"};

/* One dense block, column-major. */
static void fill_block(test_random *random, test_batch_kind kind, int32_t m, double *block) {
  int32_t order[TEST_MOST_ROWS];
  for (int32_t r = 0; r < m; r++) order[r] = r;
  for (int32_t r = m - 1; r > 0; r--) {
    const int32_t other = test_random_integer(random, 0, r), keep = order[r];
    order[r] = order[other];
    order[other] = keep;
  }
  double row_scale[TEST_MOST_ROWS];
  for (int32_t r = 0; r < m; r++) row_scale[r] = pow(10.0, test_random_uniform(random, -6.0, 6.0));
  for (int32_t c = 0; c < m; c++) {
    for (int32_t r = 0; r < m; r++) {
      double value = test_random_uniform(random, -1.0, 1.0);
      switch (kind) {
      case TEST_BATCH_GRADED:
        value = (value + (r == c ? 2.0 : 0.0)) * pow(10.0, -0.25 * (r + c));
        break;
      case TEST_BATCH_PERMUTED: value = order[r] == c ? 4.0 * m : r == c ? 0.0 : value; break;
      case TEST_BATCH_SCALED: value = (value + (r == c ? m : 0.0)) * row_scale[r]; break;
      case TEST_BATCH_TINY_PIVOTS:
        value = r == c ? 1e-14 * value : value + (order[r] == c ? 3.0 : 0.0);
        break;
      case TEST_BATCH_RANDOM:
      case TEST_BATCH_KINDS: break;
      }
      block[c * m + r] = value;
    }
  }
  if (kind == TEST_BATCH_PERMUTED || kind == TEST_BATCH_TINY_PIVOTS) return;
  if (m == 1) block[0] += block[0] < 0 ? -0.5 : 0.5; /* away from zero */
}

test_batch test_batch_of(test_batch_kind kind, int32_t times, uint64_t seed) {
  test_random random = test_random_seed(seed);
  test_batch b = {.blocks = TEST_MOST_ROWS * times};
  b.start = malloc(((size_t)b.blocks + 1) * sizeof *b.start);
  b.block = malloc((size_t)b.blocks * sizeof *b.block);
  int32_t *order = test_random_permutation(b.blocks, seed + 1);
  b.start[0] = 0;
  int64_t stored = 0;
  for (int32_t i = 0; i < b.blocks; i++) {
    const int32_t m = 1 + order[i] % TEST_MOST_ROWS;
    b.start[i + 1] = b.start[i] + m;
    b.block[i] = malloc((size_t)(m * m) * sizeof **b.block);
    fill_block(&random, kind, m, b.block[i]);
    stored += m * (m + 2);
  }
  free(order);
  b.rows = b.start[b.blocks];
  b.csr = (test_bcsr){b.rows,
                      b.rows,
                      1,
                      malloc(((size_t)b.rows + 1) * 4),
                      malloc((size_t)stored * 4),
                      malloc((size_t)stored * 8)};
  int32_t count = 0;
  b.csr.row_ptr[0] = 0;
  for (int32_t i = 0; i < b.blocks; i++) {
    const int32_t from = b.start[i], m = b.start[i + 1] - from;
    for (int32_t r = 0; r < m; r++) {
      if (from > 0) {
        b.csr.col_idx[count] = from - 1;
        b.csr.values[count++] = 1e3;
      }
      for (int32_t c = 0; c < m; c++) {
        if (b.block[i][c * m + r] == 0.0) continue; /* not stored */
        b.csr.col_idx[count] = from + c;
        b.csr.values[count++] = b.block[i][c * m + r];
      }
      if (from + m < b.rows) {
        b.csr.col_idx[count] = from + m;
        b.csr.values[count++] = -1e3;
      }
      b.csr.row_ptr[from + r + 1] = count;
    }
  }
  return b;
}

void test_batch_free(test_batch *b) {
  for (int32_t i = 0; i < b->blocks; i++) free(b->block[i]);
  free(b->block);
  free(b->start);
  test_bcsr_free(&b->csr);
}

bisai_precond_options test_form_options(int form, int32_t blocks, const int32_t *start) {
  bisai_precond_options options = bisai_precond_options_default();
  options.kind = BISAI_PRECOND_BJACOBI;
  options.bjacobi.form = (bisai_form)form;
  options.bjacobi.block_ptr = start;
  options.bjacobi.block_count = blocks;
  return options;
}

/* ‖z − D⁻¹v‖₂ ≤ 64 m ε κ₁ ‖z‖₂, of which the reference may have lost as much again; a decomposition
 * with pivoting is backward stable too: ‖D z − v‖₂ ≤ 64 m ε ‖D‖₁ ‖z‖₂ whatever κ₁ is, up to the
 * growth of its elements, which for such blocks is below 16. */
void test_expect_block_solved(int form, int32_t m, const double *block, const double *v,
                              const double *z) {
  double *expected = test_dense_solve(m, block, v), *back = test_dense_multiply(m, m, 1, block, z),
         worst = 0.0;
  assert_non_null(expected);
  const double condition = test_dense_condition1(m, block), size = test_norm2(m, expected);
  EXPECT_CLOSE(m, expected, z, EPSILONS * m * DBL_EPSILON * condition * size);
  for (int32_t r = 0; r < m; r++) worst = fmax(worst, fabs(back[r] - v[r]));
  const double backward =
      EPSILONS * m * DBL_EPSILON * test_dense_norm1(m, m, block) * test_norm2(m, z);
  if (form != BISAI_FORM_INVERSE && !(worst <= backward))
    fail_msg("%s of %d rows: residual %.3e, at most %.3e", form_names[form], m, worst, backward);
  free(expected);
  free(back);
}
