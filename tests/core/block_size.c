/* SPDX-License-Identifier: BSD-3-Clause */
/* The choice of a block size: what it counts, against counts by looking at every place, and the
 * rule of bisai_block_size_choose() on systems whose unknowns a node has are known. */
#include "csr.h"
#include "fixture.h"

#include <math.h>

typedef bool (*has_entry)(const void *user, int32_t i, int32_t j);

/* Entries at every place that `has` says, in no order of columns. */
static csr csr_make(int32_t rows, int32_t cols, has_entry has, const void *user) {
  csr a = {.rows = rows, .cols = cols};
  int32_t next = 0, reserved = 64;
  a.row_ptr = calloc((size_t)rows + 1, sizeof *a.row_ptr);
  a.col_idx = malloc((size_t)reserved * sizeof *a.col_idx);
  assert_true(a.row_ptr && a.col_idx);
  for (int32_t i = 0; i < rows; i++) {
    for (int32_t j = cols; j-- > 0;) {
      if (!has(user, i, j)) continue;
      if (next == reserved)
        a.col_idx = realloc(a.col_idx, (size_t)(reserved *= 2) * sizeof *a.col_idx);
      assert_non_null(a.col_idx);
      a.col_idx[next++] = j;
    }
    a.row_ptr[i + 1] = next;
  }
  a.values = malloc((size_t)(next + 1) * sizeof *a.values);
  assert_non_null(a.values);
  for (int32_t p = 0; p < next; p++) a.values[p] = 1 + p;
  return a;
}

static int32_t chosen(const csr *a) {
  const bisai_csr_desc desc = desc_of(a);
  int32_t bs = 0;
  EXPECT_OK(context, bisai_block_size_choose(context, &desc, &bs));
  return bs;
}

/* --- systems --- */

/* Nodes with a few unknowns each: `graph` says which nodes are neighbours, the couplings which of
 * their unknowns meet. */
typedef struct nodes {
  has_entry graph;
  const void *user;
  int32_t unknowns;
  /* couplings in a node and between neighbours, row by row: 'x' or '.' */
  const char *same, *other;
} nodes;

static bool nodes_have(const void *user, int32_t i, int32_t j) {
  const nodes *n = user;
  const int32_t u = n->unknowns, node = i / u, neighbour = j / u;
  if (node != neighbour && !n->graph(n->user, node, neighbour)) return false;
  return (node == neighbour ? n->same : n->other)[i % u * u + j % u] == 'x';
}

/* A grid with `*user` points in x, neighbours in x and y. */
static bool grid(const void *user, int32_t i, int32_t j) {
  const int32_t nx = *(const int32_t *)user, far = i > j ? i - j : j - i;
  return far == nx || (far == 1 && i / nx == j / nx);
}

/* Six neighbours on average, and no order among them. */
static bool random_graph(const void *user, int32_t i, int32_t j) {
  const int32_t count = *(const int32_t *)user, low = i < j ? i : j, high = i < j ? j : i;
  test_random random = test_random_seed((uint64_t)low * (uint64_t)count + (uint64_t)high);
  return test_random_uniform(&random, 0, 1) < 6.0 / count;
}

static bool scalar_grid(const void *user, int32_t i, int32_t j) {
  return i == j || grid(user, i, j);
}

/* Velocities that do not meet each other, a pressure without an entry in the diagonal. */
static const char stokes[] = "x.x"
                             ".xx"
                             "xx.";

static int32_t chosen_for(has_entry graph, int32_t size, int32_t count, int32_t unknowns,
                          const char *same, const char *other) {
  const nodes n = {graph, &size, unknowns, same, other};
  csr a = csr_make(count * unknowns, count * unknowns, nodes_have, &n);
  const int32_t bs = chosen(&a);
  csr_free(&a);
  return bs;
}

/* --- what is counted --- */

typedef struct scattered {
  double density;
  uint64_t seed;
} scattered;

static bool scattered_has(const void *user, int32_t i, int32_t j) {
  const scattered *s = user;
  test_random random = test_random_seed(s->seed + 1000003 * (uint64_t)i + (uint64_t)j);
  return test_random_uniform(&random, 0, 1) < s->density;
}

/* Bits r·bs + c of the entries of block (I, J), padding's identity among them; with `nonzero` those
 * that are not zero alone. */
static uint64_t pattern_at(const csr *a, int32_t bs, int32_t block_row, int32_t block_col,
                           bool nonzero) {
  uint64_t pattern = 0;
  for (int32_t r = 0; r < bs; r++) {
    const int32_t i = block_row * bs + r;
    if (i >= a->rows && a->rows == a->cols && block_row == block_col)
      pattern |= UINT64_C(1) << (r * bs + r);
    for (int32_t p = i < a->rows ? a->row_ptr[i] : 0; i < a->rows && p < a->row_ptr[i + 1]; p++)
      if (a->col_idx[p] / bs == block_col && !(nonzero && a->values[p] == 0))
        pattern |= UINT64_C(1) << (r * bs + a->col_idx[p] % bs);
  }
  return pattern;
}

/* Returns true if some permutation of the columns has an entry in each row from `row` on. */
static bool has_permutation(uint64_t pattern, int32_t bs, int32_t row, uint64_t used) {
  if (row == bs) return true;
  for (int32_t c = 0; c < bs; c++)
    if (pattern >> (row * bs + c) & 1 && !(used >> c & 1) &&
        has_permutation(pattern, bs, row + 1, used | UINT64_C(1) << c))
      return true;
  return false;
}

static int compare_patterns(const void *a, const void *b) {
  const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

static double entropy_of(uint64_t *patterns, int32_t count) {
  double bits = 0;
  qsort(patterns, (size_t)count, sizeof *patterns, compare_patterns);
  for (int32_t first = 0, end; first < count; first = end) {
    for (end = first; end < count && patterns[end] == patterns[first];) end++;
    const double share = (double)(end - first) / count;
    bits -= share * log2(share);
  }
  return bits;
}

static void expect_info(const csr *a, const bisai_block_size_info *info) {
  const int32_t bs = info->block_size, rows = (a->rows + bs - 1) / bs,
                cols = (a->cols + bs - 1) / bs;
  int32_t blocks = 0, missing = 0, singular = 0;
  uint64_t *patterns = malloc(((size_t)rows * (size_t)cols + 1) * sizeof *patterns);
  assert_non_null(patterns);
  for (int32_t i = 0; i < rows; i++) {
    for (int32_t j = 0; j < cols; j++) {
      patterns[blocks] = pattern_at(a, bs, i, j, false);
      blocks += patterns[blocks] != 0;
    }
    missing += a->rows == a->cols && pattern_at(a, bs, i, i, false) == 0;
    singular += a->rows == a->cols && !has_permutation(pattern_at(a, bs, i, i, true), bs, 0, 0);
  }
  assert_int_equal(info->block_rows, rows);
  assert_int_equal(info->blocks, blocks);
  assert_int_equal(info->bytes, (8 * bs * bs + 4) * blocks);
  assert_int_equal(info->missing_diagonals, missing);
  assert_int_equal(info->singular_diagonals, singular);
  /* Sums of some hundred logarithms in different orders. */
  EXPECT_CLOSE(1, &(double){entropy_of(patterns, blocks)}, &info->entropy, 1e-12);
  free(patterns);
}

static void study_counts_what_looking_at_every_block_counts(void **state) {
  (void)state;
  for (uint64_t seed = 0; seed < 60; seed++) {
    const scattered s = {seed % 3 == 0 ? 0.3 : seed % 3 == 1 ? 0.1 : 0.01, 1000 * seed};
    const int32_t rows = 1 + (int32_t)(7 * seed % 45),
                  cols = seed % 5 == 0 ? 1 + (int32_t)(11 * seed % 45) : rows;
    csr a = csr_make(rows, cols, scattered_has, &s);
    for (int32_t p = 0; p < a.row_ptr[rows]; p += 3) a.values[p] = 0;
    const bisai_csr_desc desc = desc_of(&a);
    bisai_block_size_info sizes[BISAI_CHOSEN_SIZES];
    int32_t bs = 0;
    EXPECT_OK(context, bisai_block_size_study(context, &desc, sizes, &bs));
    for (int32_t k = 0; k < BISAI_CHOSEN_SIZES; k++) {
      assert_int_equal(sizes[k].block_size, k + 1);
      expect_info(&a, &sizes[k]);
    }
    csr_free(&a);
  }
}

static void zeros_count_as_entries_where_values_are_not_given(void **state) {
  (void)state;
  const int32_t nx = 4;
  csr a = csr_make(16, 16, scalar_grid, &nx);
  for (int32_t i = 0; i < 16; i++)
    for (int32_t p = a.row_ptr[i]; p < a.row_ptr[i + 1]; p++)
      a.values[p] = a.col_idx[p] == i ? 0 : 1;
  bisai_csr_desc desc = desc_of(&a);
  bisai_block_size_info sizes[BISAI_CHOSEN_SIZES];
  int32_t bs = 0;
  EXPECT_OK(context, bisai_block_size_study(context, &desc, sizes, &bs));
  assert_int_equal(sizes[0].singular_diagonals, 16);
  assert_int_equal(sizes[0].missing_diagonals, 0);
  assert_false(sizes[0].sound);
  desc.values = NULL;
  EXPECT_OK(context, bisai_block_size_study(context, &desc, sizes, &bs));
  assert_int_equal(sizes[0].singular_diagonals, 0);
  assert_true(sizes[0].sound);
  csr_free(&a);
}

/* --- the rule --- */

static void full_blocks_are_found_at_every_size(void **state) {
  (void)state;
  static const char full[] = "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx";
  for (int32_t bs = 1; bs <= 8; bs++)
    assert_int_equal(chosen_for(random_graph, 90, 90, bs, full, full), bs);
}

static void velocities_and_a_pressure_without_diagonal_stay_together(void **state) {
  (void)state;
  static const char stokes_in_space[] = "x..x"
                                        ".x.x"
                                        "..xx"
                                        "xxx.";
  assert_int_equal(chosen_for(grid, 12, 144, 3, stokes, stokes), 3);
  assert_int_equal(chosen_for(random_graph, 150, 150, 3, stokes, stokes), 3);
  assert_int_equal(chosen_for(random_graph, 150, 150, 4, stokes_in_space, stokes_in_space), 4);
}

static void unknowns_that_meet_in_their_node_alone_stay_together(void **state) {
  (void)state;
  static const char all[] = "xxxxxxxxxxxxxxxxxxxxxxxxx";
  static const char *const same_kind[] = {
      "", "x", "x..x", "x...x...x", "x....x....x....x", "x.....x.....x.....x.....x"};
  for (int32_t unknowns = 2; unknowns <= 5; unknowns++) {
    assert_int_equal(chosen_for(grid, 14, 196, unknowns, all, same_kind[unknowns]), unknowns);
    assert_int_equal(chosen_for(random_graph, 200, 200, unknowns, all, same_kind[unknowns]),
                     unknowns);
  }
}

static void scalar_systems_stay_scalar(void **state) {
  (void)state;
  assert_int_equal(chosen_for(random_graph, 400, 400, 1, "x", "x"), 1);
  for (int32_t nx = 5; nx <= 20; nx++) {
    csr a = csr_make(20 * nx, 20 * nx, scalar_grid, &nx);
    assert_int_equal(chosen(&a), 1);
    csr_free(&a);
  }
}

/* Row i has the one entry (i, perm(i)) far away: no diagonal block of any size is regular. */
static bool far_away(const void *user, int32_t i, int32_t j) {
  return j == (i + *(const int32_t *)user) % 64;
}

/* A single block has one pattern, whatever it is. */
static void a_single_value_stays_single(void **state) {
  (void)state;
  for (int zero = 0; zero < 2; zero++) {
    csr a = csr_make(1, 1, scalar_grid, &(int32_t){1});
    a.values[0] = zero ? 0.0 : 3.0;
    assert_int_equal(chosen(&a), 1);
    csr_free(&a);
  }
}

static void the_cheapest_size_remains_where_no_size_is_sound(void **state) {
  (void)state;
  csr a = csr_make(64, 64, far_away, &(int32_t){32});
  assert_int_equal(chosen(&a), 1);
  csr_free(&a);
}

/* Groups of three rows, each with a cyclic permutation for its diagonal; every fourth row meets
 * every other fourth row. */
static bool rotated(const void *user, int32_t i, int32_t j) {
  (void)user;
  return (j / 3 == i / 3 && j % 3 == (i + 1) % 3) || (i % 4 == 0 && j % 4 == 0 && i != j);
}

static void a_sound_size_that_costs_too_much_is_not_taken(void **state) {
  (void)state;
  /* Nearly every entry has a block of 3 for itself: 76 bytes where the entry alone takes 12. */
  csr a = csr_make(120, 120, rotated, NULL);
  const bisai_csr_desc desc = desc_of(&a);
  bisai_block_size_info sizes[BISAI_CHOSEN_SIZES];
  int32_t bs = 0;
  EXPECT_OK(context, bisai_block_size_study(context, &desc, sizes, &bs));
  assert_false(sizes[0].sound);
  assert_true(sizes[2].sound && sizes[2].bytes > 3 * sizes[0].bytes);
  assert_int_equal(bs, 1);
  csr_free(&a);
}

static void study_survives_every_failing_allocation(void **state) {
  (void)state;
  const int32_t nx = 6;
  csr a = csr_make(36, 36, scalar_grid, &nx);
  const bisai_csr_desc desc = desc_of(&a);
  test_allocator allocator;
  bisai_status status = BISAI_OUT_OF_MEMORY;
  long long fail_at = 1;
  for (; status; fail_at++) {
    int32_t bs = -1;
    test_allocator_reset(&allocator, 0);
    bisai_context *own = test_context_on(&allocator, 1);
    assert_non_null(own);
    allocator.fail_at = atomic_load(&allocator.calls) + fail_at;
    status = bisai_block_size_choose(own, &desc, &bs);
    assert_true(status == BISAI_OUT_OF_MEMORY ? bs == -1 : !status && bs == 1);
    bisai_context_destroy(&own);
    assert_int_equal(atomic_load(&allocator.live_bytes), 0);
  }
  assert_true(fail_at > 2);
  csr_free(&a);
}

static void arguments_are_checked(void **state) {
  (void)state;
  bisai_block_size_info sizes[BISAI_CHOSEN_SIZES];
  const int32_t row_ptr[] = {0, 1}, col_idx[] = {1};
  bisai_csr_desc desc = bisai_csr_desc_default();
  int32_t bs = 0;
  desc.rows = desc.cols = 1;
  desc.row_ptr = row_ptr;
  desc.col_idx = col_idx;
  assert_int_equal(bisai_block_size_study(NULL, &desc, sizes, &bs), BISAI_INVALID_ARGUMENT);
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_block_size_study(context, NULL, sizes, &bs));
  EXPECT_MESSAGE(context, "bisai_block_size_study: desc is NULL");
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_block_size_study(context, &desc, NULL, &bs));
  EXPECT_MESSAGE(context, "bisai_block_size_study: sizes is NULL");
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT,
                bisai_block_size_study(context, &desc, sizes, NULL));
  EXPECT_MESSAGE(context, "bisai_block_size_study: block_size is NULL");
  EXPECT_STATUS(context, BISAI_INVALID_STRUCTURE,
                bisai_block_size_study(context, &desc, sizes, &bs));
  EXPECT_MESSAGE(context, "row 0: column 1 is outside 0 … 0");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(study_counts_what_looking_at_every_block_counts),
      cmocka_unit_test(zeros_count_as_entries_where_values_are_not_given),
      cmocka_unit_test(full_blocks_are_found_at_every_size),
      cmocka_unit_test(velocities_and_a_pressure_without_diagonal_stay_together),
      cmocka_unit_test(unknowns_that_meet_in_their_node_alone_stay_together),
      cmocka_unit_test(scalar_systems_stay_scalar),
      cmocka_unit_test(a_single_value_stays_single),
      cmocka_unit_test(the_cheapest_size_remains_where_no_size_is_sound),
      cmocka_unit_test(a_sound_size_that_costs_too_much_is_not_taken),
      cmocka_unit_test(study_survives_every_failing_allocation),
      cmocka_unit_test(arguments_are_checked),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
