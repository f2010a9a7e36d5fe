/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory: every allocation of every set-up fails once, and nothing leaks or is published; update,
 * apply and solve allocate nothing. */
#include "support.h"

enum { GRID = 8, BLOCK_SIZE = 3, SCALARS = GRID * GRID * BLOCK_SIZE, MOST_ALLOCATIONS = 500 };

/* What is being set up: inputs made before with the same context, outputs that must stay NULL on
 * failure. */
typedef struct scene {
  bisai_context *context;
  bisai_bcsr *matrix, *lower, *upper;
  bisai_factors *factors;
  bisai_pattern *lower_pattern, *upper_pattern;
  bisai_precond *precond;
  bisai_solver *solver;
} scene;

typedef bisai_status step(scene *inputs, scene *outputs, int variant);

static bisai_status copy_apply(void *user, int64_t n, const double *v, double *z) {
  test_synchronize();
  (void)user;
  memcpy(z, v, (size_t)n * sizeof *z);
  return BISAI_OK;
}

/* Every kind of preconditioner: with its defaults, with the caller's factors and every storage,
 * with fill and shifts, reordered. */
enum { KINDS = 6, BLOCKS = 5, PRECONDITIONERS = 4 * KINDS + BLOCKS };

#ifdef BISAI_HAVE_METIS
enum { DISSECTION = BISAI_ORDERING_ND };
#else
enum { DISSECTION = BISAI_ORDERING_NATURAL };
#endif

static bisai_precond_options options_of(const scene *inputs, int variant) {
  bisai_precond_options options = bisai_precond_options_default();
  options.kind = (bisai_precond_kind)(variant % KINDS);
  if (variant >= 4 * KINDS) {
    static const int32_t given[] = {0, 1, 33, 64, 96, 97, 120, 140, 160, 192};
    const int which = variant - 4 * KINDS;
    options.kind = BISAI_PRECOND_BJACOBI;
    options.bjacobi.max_block = which == 0 || which == 3 ? 0 : 2 + 7 * which;
    if (which == 3) options.bjacobi.block_ptr = given;
    if (which == 3) options.bjacobi.block_count = sizeof given / sizeof given[0] - 1;
    options.bjacobi.form = which == 2   ? BISAI_FORM_LU
                           : which == 3 ? BISAI_FORM_GAUSS_HUARD_TRANSPOSED
                                        : BISAI_FORM_INVERSE;
    options.bjacobi.relax = which % 2;
    options.bjacobi.storage = which % 2 == 0 ? BISAI_ADAPTIVE : BISAI_FP32;
    if (options.bjacobi.form != BISAI_FORM_INVERSE) options.bjacobi.storage = BISAI_FP11_20;
  } else if (variant >= 3 * KINDS) {
    static const int orderings[KINDS] = {[BISAI_PRECOND_ILU] = BISAI_ORDERING_RCM,
                                         [BISAI_PRECOND_ISAI] = DISSECTION,
                                         [BISAI_PRECOND_SWEEPS] = BISAI_ORDERING_COLOUR};
    options.factor.ordering = (bisai_ordering)orderings[variant % KINDS];
    options.factor.equilibrate = true;
  } else if (variant >= 2 * KINDS) {
    TEST_SET_OPTION(options, factor.level, 2);
    TEST_SET_OPTION(options, shift, BISAI_SHIFT_IN_BLOCKS);
    TEST_SET_OPTION(options, isai.drop_tolerance, 0.1);
    TEST_SET_OPTION(options, isai.column_limit, 3);
  } else if (variant >= KINDS) {
    TEST_SET_OPTION(options, isai.power, 3);
    TEST_SET_OPTION(options, isai.relax, 2);
    TEST_SET_OPTION(options, sweeps.count, 4);
    TEST_SET_OPTION(options, bjacobi.storage, variant % 2 == 0 ? BISAI_FP32 : BISAI_FP16);
    TEST_SET_OPTION(options, isai.storage, variant % 2 == 0 ? BISAI_FP32 : BISAI_FP16);
    TEST_SET_OPTION(options, factor.factors, inputs->factors);
    TEST_SET_OPTION(options, isai.lower_pattern, inputs->lower_pattern);
    TEST_SET_OPTION(options, isai.upper_pattern, inputs->upper_pattern);
    TEST_SET_OPTION(options, ilu.schedule, BISAI_SCHEDULE_LEVELS);
  }
  TEST_SET_OPTION(options, callback.apply, copy_apply);
  return options;
}

static bisai_status make_precond(scene *inputs, scene *outputs, int variant) {
  const bisai_precond_options options = options_of(inputs, variant);
  return bisai_precond_create(inputs->context, inputs->matrix, &options, &outputs->precond);
}

/* Entries of blocks with a zero, entries with a scaling of their own, blocks. */
static bisai_status make_matched(scene *inputs, scene *outputs, int variant) {
  bisai_precond_options options = bisai_precond_options_default();
  options.kind = BISAI_PRECOND_ILU;
  options.factor.matching = variant < 2 ? BISAI_MATCHING_ENTRIES : BISAI_MATCHING_BLOCKS;
  options.factor.ordering = variant < 2 ? BISAI_ORDERING_RCM : BISAI_ORDERING_COLOUR;
  options.factor.equilibrate = variant == 1;
  return bisai_precond_create(inputs->context, inputs->lower, &options, &outputs->precond);
}

static bisai_status make_matching(scene *inputs, scene *outputs, int variant) {
  int32_t row_of[SCALARS];
  (void)outputs;
  return bisai_order_match(inputs->context, inputs->matrix,
                           variant == 0 ? BISAI_MATCHING_ENTRIES : BISAI_MATCHING_BLOCKS, row_of,
                           NULL, NULL);
}

static bisai_status make_factors(scene *inputs, scene *outputs, int variant) {
  if (variant == 0)
    return bisai_factors_from_matrices(inputs->context, inputs->lower, inputs->upper,
                                       &outputs->factors);
  bisai_factor_options options = bisai_factor_options_default();
  options.level = 3 * (variant - 1);
  return bisai_factors_create(inputs->context, inputs->matrix, &options, &outputs->factors);
}

static bisai_status make_pattern(scene *inputs, scene *outputs, int variant) {
  if (variant < 3) {
    return bisai_pattern_power(inputs->context, inputs->matrix, BISAI_UPPER, variant + 1,
                               &outputs->upper_pattern);
  }
  const int32_t *row_ptr, *col_idx;
  bisai_pattern_arrays(inputs->lower_pattern, &row_ptr, &col_idx);
  return bisai_pattern_create(inputs->context, BISAI_LOWER, GRID * GRID, row_ptr, col_idx,
                              &outputs->lower_pattern);
}

/* Copied in order, copied out of order (needs room to sort), borrowed. */
static bisai_status make_matrix(scene *inputs, scene *outputs, int variant) {
  bisai_bcsr_desc desc = bisai_bcsr_desc_default();
  int32_t unsorted[] = {2, 1, 0, 1};
  static const int32_t row_ptr[] = {0, 3, 4}, sorted[] = {0, 1, 2, 1};
  static const double values[] = {1, 2, 3, 4};
  desc.block_rows = 2;
  desc.block_cols = 3;
  desc.block_size = 1;
  desc.row_ptr = row_ptr;
  desc.col_idx = variant == 1 ? unsorted : sorted;
  desc.values = values;
  desc.ownership = variant == 2 && !test_on_device() ? BISAI_BORROW : BISAI_COPY;
  const bisai_status status = bisai_bcsr_create(inputs->context, &desc, &outputs->matrix);
  if (!status && variant == 2) bisai_bcsr_destroy(&outputs->matrix); /* its arrays end here */
  return status;
}

static bisai_status make_solver(scene *inputs, scene *outputs, int variant) {
  bisai_solver_options options = bisai_solver_options_default();
  options.gmres.flexible = variant % 2 == 1;
  options.gmres.side = variant == 2 ? BISAI_LEFT : BISAI_RIGHT;
  options.gmres.orthogonalization = (bisai_orthogonalization)variant;
  return bisai_solver_create(inputs->context, SCALARS, &options, &outputs->solver);
}

/* A scalar matrix with block sizes that divide, are chosen, and need padding. */
static bisai_status make_from_csr(scene *inputs, scene *outputs, int variant) {
  static const int32_t row_ptr[] = {0, 2, 4, 6, 8, 9}, col_idx[] = {0, 1, 0, 1, 3, 2, 2, 3, 4};
  static const double values[] = {4, 1, 1, 4, 1, 4, 1, 4, 4};
  bisai_csr_desc desc = bisai_csr_desc_default();
  desc.rows = desc.cols = 5;
  desc.row_ptr = row_ptr;
  desc.col_idx = col_idx;
  desc.values = values;
  desc.block_size = variant;
  desc.pad = true;
  return bisai_bcsr_from_csr(inputs->context, &desc, &outputs->matrix);
}

static void free_scene(scene *s) {
  bisai_solver_destroy(&s->solver);
  bisai_precond_destroy(&s->precond);
  bisai_pattern_destroy(&s->lower_pattern);
  bisai_pattern_destroy(&s->upper_pattern);
  bisai_factors_destroy(&s->factors);
  bisai_bcsr_destroy(&s->matrix);
  bisai_bcsr_destroy(&s->lower);
  bisai_bcsr_destroy(&s->upper);
}

static scene inputs_on(bisai_context *context, uint64_t seed) {
  scene s = {.context = context,
             .matrix = test_bcsr_take(context, test_bcsr_grid(GRID, GRID, BLOCK_SIZE, seed))};
  test_shape shape = test_shape_square(GRID * GRID, BLOCK_SIZE, seed);
  shape.part = TEST_LOWER;
  test_bcsr lower = test_bcsr_random(shape);
  lower.values[1] = 0.0;
  s.lower = test_bcsr_take(context, lower);
  shape.part = TEST_UPPER;
  s.upper = test_bcsr_take(context, test_bcsr_random(shape));
  EXPECT_OK(context, bisai_factors_create(context, s.matrix, NULL, &s.factors));
  EXPECT_OK(context, bisai_pattern_power(context, s.matrix, BISAI_LOWER, 2, &s.lower_pattern));
  EXPECT_OK(context, bisai_pattern_power(context, s.matrix, BISAI_UPPER, 2, &s.upper_pattern));
  return s;
}

static void expect_unpublished(const scene *s) {
  assert_null(s->matrix);
  assert_null(s->factors);
  assert_null(s->lower_pattern);
  assert_null(s->upper_pattern);
  assert_null(s->precond);
  assert_null(s->solver);
}

/* Fails allocation 1, 2, … of the step until it succeeds; with `after`, all the later ones too. */
static void fail_every_allocation(step *run, int variant, bool after) {
  test_allocator allocator;
  test_allocator_reset(&allocator, 0);
  bisai_context *context = test_context_on(&allocator, 2);
  scene inputs = inputs_on(context, 1), first = {0};
  /* the inputs keep host copies of their integers once they were asked for */
  if (test_on_device()) {
    EXPECT_OK(context, run(&inputs, &first, variant));
    free_scene(&first);
  }
  const long long blocks = atomic_load(&allocator.live_blocks),
                  bytes = atomic_load(&allocator.live_bytes);
  bisai_status status = BISAI_OUT_OF_MEMORY;
  int nth = 0;
  while (status) {
    assert_true(++nth < MOST_ALLOCATIONS);
    scene outputs = {0};
    allocator.fail_at = atomic_load(&allocator.calls) + nth;
    allocator.fail_after = after;
    status = run(&inputs, &outputs, variant);
    const bool reached = atomic_load(&allocator.calls) >= allocator.fail_at;
    allocator.fail_at = 0;
    EXPECT_STATUS(context, reached ? BISAI_OUT_OF_MEMORY : BISAI_OK, status);
    if (reached) {
      expect_unpublished(&outputs);
      EXPECT_IN_MESSAGE(context, "cannot allocate ");
    }
    free_scene(&outputs);
    assert_int_equal(atomic_load(&allocator.live_blocks), blocks);
    assert_int_equal(atomic_load(&allocator.live_bytes), bytes);
  }
  assert_true(nth > 1); /* something was allocated */
  free_scene(&inputs);
  bisai_context_destroy(&context);
  assert_int_equal(atomic_load(&allocator.live_blocks), 0);
}

static void fail_all_variants(step *run, int first, int count) {
  for (int variant = first; variant < first + count; variant++) {
    fail_every_allocation(run, variant, false);
    fail_every_allocation(run, variant, true);
  }
}

static void matrices_survive_every_failing_allocation(void **state) {
  (void)state;
  fail_all_variants(make_matrix, 0, 3);
}

static void matrices_from_csr_survive_every_failing_allocation(void **state) {
  (void)state;
  fail_all_variants(make_from_csr, 0, 4);
}

static void matchings_survive_every_failing_allocation(void **state) {
  (void)state;
  fail_all_variants(make_matching, 0, 2);
  fail_all_variants(make_matched, 0, 3);
}

static void factors_survive_every_failing_allocation(void **state) {
  (void)state;
  fail_all_variants(make_factors, 0, 3);
}

static void patterns_survive_every_failing_allocation(void **state) {
  (void)state;
  fail_all_variants(make_pattern, 0, 4);
}

static void preconditioners_survive_every_failing_allocation(void **state) {
  (void)state;
  fail_all_variants(make_precond, 0, PRECONDITIONERS);
}

static void solvers_survive_every_failing_allocation(void **state) {
  (void)state;
  fail_all_variants(make_solver, 0, 3);
}

/* --- what allocates nothing --- */

static void update_apply_and_solve_allocate_nothing(void **state) {
  (void)state;
  for (int variant = 0; variant < PRECONDITIONERS; variant++) {
    test_allocator allocator;
    test_allocator_reset(&allocator, 0);
    bisai_context *context = test_context_on(&allocator, 3);
    scene inputs = inputs_on(context, 1), made = {0};
    bisai_bcsr *second = test_bcsr_take(context, test_bcsr_grid(GRID, GRID, BLOCK_SIZE, 2));
    EXPECT_OK(context, make_precond(&inputs, &made, variant));
    EXPECT_OK(context, make_solver(&inputs, &made, variant % 3));
    double *b = test_vector_in_place(5 * SCALARS, 1), *x = test_vector_in_place(5 * SCALARS, 2);
    /* from here on every allocation would fail, and be counted */
    const long long calls = atomic_load(&allocator.calls);
    allocator.fail_at = calls + 1;
    allocator.fail_after = true;
    EXPECT_OK(context, bisai_factors_update(inputs.factors, second));
    EXPECT_OK(context, bisai_factors_solve(inputs.factors, BISAI_SCHEDULE_LEVELS, b, x));
    EXPECT_OK(context, bisai_precond_update(made.precond, second));
    EXPECT_OK(context, bisai_precond_apply(made.precond, b, x));
    EXPECT_OK(context, bisai_precond_apply_many(made.precond, 5, b, SCALARS, x, SCALARS));
    EXPECT_OK(context, bisai_bcsr_multiply_many(second, 5, b, SCALARS, x, SCALARS));
    bisai_solver_report report = {.struct_size = sizeof report};
    EXPECT_OK(context, bisai_solver_solve(made.solver, second, made.precond, b, x, &report));
    assert_int_equal(report.reason, BISAI_REASON_CONVERGED);
    test_report_of(context, made.precond);
    assert_true(strlen(bisai_precond_describe(made.precond)) > 0);
    assert_int_equal(atomic_load(&allocator.calls), calls);
    allocator.fail_at = 0;
    free_scene(&made);
    free_scene(&inputs);
    bisai_bcsr_destroy(&second);
    bisai_context_destroy(&context);
    assert_int_equal(atomic_load(&allocator.live_blocks), 0);
    test_vector_free(b);
    test_vector_free(x);
  }
}

static void destroy_allocates_nothing(void **state) {
  (void)state;
  for (int variant = 0; variant < PRECONDITIONERS; variant++) {
    test_allocator allocator;
    test_allocator_reset(&allocator, 0);
    bisai_context *context = test_context_on(&allocator, 1);
    scene inputs = inputs_on(context, 1), made = {0};
    EXPECT_OK(context, make_precond(&inputs, &made, variant));
    const long long calls = atomic_load(&allocator.calls);
    free_scene(&made);
    free_scene(&inputs);
    bisai_context_destroy(&context);
    assert_int_equal(atomic_load(&allocator.calls), calls);
    assert_int_equal(atomic_load(&allocator.live_blocks), 0);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(matrices_survive_every_failing_allocation),
      cmocka_unit_test(matrices_from_csr_survive_every_failing_allocation),
      cmocka_unit_test(matchings_survive_every_failing_allocation),
      cmocka_unit_test(factors_survive_every_failing_allocation),
      cmocka_unit_test(patterns_survive_every_failing_allocation),
      cmocka_unit_test(preconditioners_survive_every_failing_allocation),
      cmocka_unit_test(solvers_survive_every_failing_allocation),
      cmocka_unit_test(update_apply_and_solve_allocate_nothing),
      cmocka_unit_test(destroy_allocates_nothing),
  };
  return cmocka_run_group_tests_name("allocation", tests, NULL, NULL);
}
