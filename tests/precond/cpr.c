/* SPDX-License-Identifier: BSD-3-Clause */
/* CPR behind the interface of preconditioners: its stages against public pieces, linearity, several
 * vectors, threads, solvers, and what it reports. */
#include <math.h>

#include "core/context/context_impl.h"
#include "cpr/scales.h"
#include "fixture.h"
#include "flow.h"
#include "preconds.h"
#include "systems.h"

/* The pressure matrices of some hundred rows have several levels. */
static bisai_precond_options cpr(bisai_cpr_second_stage second) {
  bisai_precond_options o = bisai_precond_options_default();
  o.kind = BISAI_PRECOND_CPR;
  o.cpr.second = second;
  o.multigrid.coarsest = 30;
  return o;
}

/* Every second stage with and without options of its own. */
enum { VARIANTS = 12 };

static bisai_precond_options variant_of(int variant) {
  static const bisai_cpr_second_stage seconds[] = {
      BISAI_CPR_SECOND_STAGE_AUTO, BISAI_CPR_SECOND_STAGE_ISAI, BISAI_CPR_SECOND_STAGE_ILU,
      BISAI_CPR_SECOND_STAGE_SWEEPS, BISAI_CPR_SECOND_STAGE_BJACOBI};
  bisai_precond_options o = cpr(seconds[variant % 5]);
  switch (variant) {
  case 6:
    o.isai.power = 2;
    o.isai.storage = BISAI_FP32;
    o.factor.equilibrate = true;
    break;
  case 7:
    o.factor.level = 1;
    o.ilu.schedule = BISAI_SCHEDULE_LEVELS;
    break;
  case 8:
    o.sweeps.count = 3;
    o.factor.ordering = BISAI_ORDERING_COLOUR;
    break;
  case 9:
    o.bjacobi.max_block = 7;
    o.bjacobi.form = BISAI_FORM_LU;
    break;
  case 10:
    o.factor.ordering = BISAI_ORDERING_RCM;
    o.factor.equilibrate = true;
    break;
  case 11:
    o.shift = BISAI_SHIFT_IN_BLOCKS;
    o.isai.relax = 3;
    o.cpr.second = BISAI_CPR_SECOND_STAGE_ISAI;
    break;
  default: break;
  }
  return o;
}

/* --- the stages --- */

/* The same stages from public pieces. */
typedef struct pieces {
  test_bcsr a;
  int pressure;
  bool additive;
  double *weights;
  bisai_bcsr *matrix;
  bisai_precond *first, *second;
} pieces;

static double *weights_of(const test_bcsr *a, int p) {
  const int32_t bs = a->block_size;
  double *weights = malloc((size_t)(a->block_rows * bs) * sizeof *weights),
         *unit = calloc((size_t)bs, sizeof *unit);
  unit[p] = 1.0;
  for (int32_t i = 0; i < a->block_rows; i++) {
    double *transposed = test_dense_transpose(bs, bs, test_bcsr_block(a, i, i)),
           *w = test_dense_solve(bs, transposed, unit), largest = 0.0;
    for (int k = 0; k < bs; k++) largest = fmax(largest, fabs(w[k]));
    for (int k = 0; k < bs; k++) weights[i * bs + k] = w[k] / largest;
    free(transposed), free(w);
  }
  free(unit);
  return weights;
}

static bisai_bcsr *pressure_matrix_of(const pieces *s) {
  const int32_t bs = s->a.block_size, blocks = test_bcsr_blocks(&s->a);
  test_bcsr p = s->a;
  p.block_size = 1;
  p.values = calloc((size_t)blocks, sizeof *p.values);
  for (int32_t i = 0; i < p.block_rows; i++)
    for (int32_t q = p.row_ptr[i]; q < p.row_ptr[i + 1]; q++)
      for (int k = 0; k < bs; k++)
        p.values[q] += s->weights[i * bs + k] * s->a.values[(q * bs + s->pressure) * bs + k];
  bisai_bcsr *matrix = test_bcsr_make(context, &p);
  free(p.values);
  return matrix;
}

/* Scales the weights and the pressure matrix. */
static void scale_equations(const pieces *s) {
  const bsi_memory_ops *memory = context->backend->memory;
  const int32_t n = s->a.block_rows, bs = s->a.block_size;
  const size_t rows = (size_t)n, bytes = rows * (size_t)bs * sizeof(double);
  int32_t *place = malloc(rows * sizeof *place),
          *diagonal = memory->allocate(context, rows, sizeof *diagonal);
  double *weights = memory->allocate(context, bytes, 1);
  bsi_scaling scaling = {0};
  for (int32_t i = 0; i < n; i++)
    place[i] = (int32_t)((test_bcsr_block(&s->a, i, i) - s->a.values) / (bs * bs));
  EXPECT_OK(context, memory->upload(context, diagonal, place, rows * sizeof *place));
  EXPECT_OK(context, memory->upload(context, weights, s->weights, bytes));
  EXPECT_OK(context, bsi_scaling_create(context, s->matrix, diagonal, &scaling));
  EXPECT_OK(context, bsi_scales_apply(context, &scaling, bs, weights));
  EXPECT_OK(context, memory->fetch(context, s->weights, weights, bytes));
  bsi_scaling_destroy(context, &scaling);
  memory->release(context, diagonal), memory->release(context, weights);
  free(place);
}

/* `o` are options of CPR, whose choices of multigrid are made here by hand. */
static pieces pieces_of(test_bcsr a, int pressure, const bisai_precond_options *o,
                        const bisai_bcsr *matrix) {
  static const bisai_precond_kind kinds[] = {BISAI_PRECOND_ILU, BISAI_PRECOND_ISAI,
                                             BISAI_PRECOND_ILU, BISAI_PRECOND_SWEEPS,
                                             BISAI_PRECOND_BJACOBI};
  bisai_precond_options first = bisai_precond_options_default(), second = first;
  first.kind = BISAI_PRECOND_MULTIGRID;
  first.multigrid = o->multigrid;
  first.multigrid.unweighted = true;
  first.multigrid.cycle =
      o->cpr.second == BISAI_CPR_SECOND_STAGE_AUTO || o->cpr.second == BISAI_CPR_SECOND_STAGE_ILU
          ? BISAI_CYCLE_W
          : BISAI_CYCLE_V;
  first.multigrid.complexity = 5.0;
  if (first.multigrid.coarsest == BISAI_MULTIGRID_COARSEST_AUTO && test_on_device())
    first.multigrid.coarsest = 512;
  second.kind = kinds[o->cpr.second];
  second.shift = o->shift;
  second.factor = o->factor;
  second.isai = o->isai;
  second.ilu = o->ilu;
  second.sweeps = o->sweeps;
  second.bjacobi = o->bjacobi;
  pieces s = {.a = a, .pressure = pressure, .additive = o->cpr.additive};
  s.weights = weights_of(&a, pressure);
  s.matrix = pressure_matrix_of(&s);
  scale_equations(&s);
  s.first = test_precond_with(context, s.matrix, &first);
  s.second = test_precond_with(context, matrix, &second);
  return s;
}

static void pieces_free(pieces *s) {
  bisai_precond_destroy(&s->first);
  bisai_precond_destroy(&s->second);
  bisai_bcsr_destroy(&s->matrix);
  free(s->weights);
}

/* z ← both stages on v */
static void apply_pieces(const pieces *s, const double *v, double *z) {
  const int32_t n = s->a.block_rows, bs = s->a.block_size;
  double *right = calloc((size_t)n, sizeof *right), *y = calloc((size_t)n, sizeof *y),
         *rest = malloc((size_t)(n * bs) * sizeof *rest);
  for (int32_t i = 0; i < n * bs; i++) right[i / bs] += s->weights[i] * v[i];
  EXPECT_OK(context, bisai_precond_apply(s->first, right, y));
  memcpy(rest, v, (size_t)(n * bs) * sizeof *rest);
  for (int32_t i = 0; i < n && !s->additive; i++)
    for (int32_t q = s->a.row_ptr[i]; q < s->a.row_ptr[i + 1]; q++)
      for (int k = 0; k < bs; k++)
        rest[i * bs + k] -= s->a.values[(q * bs + s->pressure) * bs + k] * y[s->a.col_idx[q]];
  EXPECT_OK(context, bisai_precond_apply(s->second, rest, z));
  for (int32_t i = 0; i < n; i++) z[i * bs + s->pressure] += y[i];
  free(right), free(y), free(rest);
}

static void the_stages_are_multigrid_and_a_second_kind(void **state) {
  (void)state;
  static const int sizes[] = {1, 2, 3, 4, 7, 9};
  enum { NX = 14, NY = 12 };
  for (int k = 0; k < 2 * VARIANTS; k++)
    for (int l = 0; l < 6; l++) {
      const int bs = sizes[l], p = (k + l) % bs;
      const int64_t n = (int64_t)NX * NY * bs;
      test_bcsr arrays = test_flow(NX, NY, bs, p, 1);
      bisai_bcsr *a = test_bcsr_make(context, &arrays);
      bisai_precond_options o = variant_of(k / 2);
      o.cpr.additive = k % 2;
      pieces s = pieces_of(arrays, p, &o, a);
      bisai_precond *m = test_precond_with(context, a, &o);
      assert_int_equal(test_report_of(context, m).cpr.pressure, p);
      assert_true(test_report_of(context, m).multigrid.levels > 1);
      double *v = test_random_vector(n, 2), *expected = malloc((size_t)n * sizeof *expected),
             *got = malloc((size_t)n * sizeof *got);
      apply_pieces(&s, v, expected);
      EXPECT_OK(context, bisai_precond_apply(m, v, got));
      double largest = 0.0;
      for (int64_t i = 0; i < n; i++) largest = fmax(largest, fabs(expected[i]));
      /* the weights differ by rounding, and a cycle amplifies that by the condition of P */
      EXPECT_CLOSE(n, expected, got, 1e-12 * largest);
      free(v), free(expected), free(got);
      bisai_precond_destroy(&m);
      pieces_free(&s);
      bisai_bcsr_destroy(&a);
      test_bcsr_free(&arrays);
    }
}

/* What bisai/precond_multigrid.h says of a pressure matrix, whose blocks have one value. */
static int32_t documented_coarsest(const bisai_bcsr *a) {
  const double n = floor(cbrt(150.0 * 9.0 * bisai_bcsr_blocks(a)));
  if (test_on_device()) return 512;
  return n > 1024.0 ? 1024 : (int32_t)n;
}

static void the_defaults_are_the_documented_ones(void **state) {
  (void)state;
  bisai_bcsr *a = test_bcsr_take(context, test_flow(60, 50, 3, 1, 1));
  bisai_precond_options o = bisai_precond_options_default();
  o.kind = BISAI_PRECOND_CPR;
  assert_int_equal(o.cpr.pressure, BISAI_CPR_PRESSURE_AUTO);
  bisai_precond *expected = test_precond_with(context, a, &o);
  o.cpr.pressure = 1;
  o.cpr.second = BISAI_CPR_SECOND_STAGE_ILU;
  o.multigrid.unweighted = true;
  o.multigrid.cycle = BISAI_CYCLE_W;
  o.multigrid.complexity = 5.0;
  o.multigrid.coarsest = documented_coarsest(a);
  bisai_precond *got = test_precond_with(context, a, &o);
  assert_true(test_same_bits(context, expected, got));
  const bisai_precond_report r = test_report_of(context, expected),
                             s = test_report_of(context, got);
  assert_true(r.cpr.found && !s.cpr.found);
  assert_int_equal(r.cpr.pressure, s.cpr.pressure);
  assert_int_equal(r.cpr.second, BISAI_CPR_SECOND_STAGE_ILU);
  assert_int_equal(s.cpr.second, BISAI_CPR_SECOND_STAGE_ILU);
  for (int p = 0; p < BISAI_MAX_BLOCK_SIZE; p++) {
    assert_true(s.cpr.ellipticity[p] == 0.0);
    assert_true(p == 1 ? r.cpr.ellipticity[p] > 0.5 : r.cpr.ellipticity[p] < 0.1);
  }
  bisai_precond_destroy(&expected);
  bisai_precond_destroy(&got);
  bisai_bcsr_destroy(&a);
}

static void the_cycle_depends_on_the_second_stage_and_on_the_size(void **state) {
  (void)state;
  static const struct {
    int32_t nx;
    bisai_cpr_second_stage second;
    bisai_cycle cycle;
  } cases[] = {{4, BISAI_CPR_SECOND_STAGE_AUTO, BISAI_CYCLE_W},
               {4, BISAI_CPR_SECOND_STAGE_ILU, BISAI_CYCLE_W},
               {4, BISAI_CPR_SECOND_STAGE_ISAI, BISAI_CYCLE_V},
               {4, BISAI_CPR_SECOND_STAGE_SWEEPS, BISAI_CYCLE_V},
               {256, BISAI_CPR_SECOND_STAGE_BJACOBI, BISAI_CYCLE_V},
               {257, BISAI_CPR_SECOND_STAGE_BJACOBI, BISAI_CYCLE_W}};
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    bisai_bcsr *a = test_bcsr_take(context, test_flow(cases[k].nx, 512, 1, 0, 1));
    bisai_precond_options o = cpr(cases[k].second);
    bisai_precond *m = test_precond_with(context, a, &o);
    assert_int_equal(test_report_of(context, m).multigrid.cycle, cases[k].cycle);
    bisai_precond_destroy(&m);
    bisai_bcsr_destroy(&a);
  }
}

/* --- applications --- */

static void applications_are_linear(void **state) {
  (void)state;
  enum { N = 20 * 18 * 3 };
  bisai_bcsr *a = test_bcsr_take(context, test_flow(20, 18, 3, 2, 1));
  double *u = test_random_vector(N, 1), *v = test_random_vector(N, 2), sum[N], mu[N], mv[N],
         msum[N];
  for (int i = 0; i < N; i++) sum[i] = 3.0 * u[i] - 0.7 * v[i];
  for (int k = 0; k < 2 * VARIANTS; k++) {
    bisai_precond_options o = variant_of(k / 2);
    o.cpr.additive = k % 2;
    bisai_precond *m = test_precond_with(context, a, &o);
    assert_false(test_report_of(context, m).nonlinear);
    EXPECT_OK(context, bisai_precond_apply(m, u, mu));
    EXPECT_OK(context, bisai_precond_apply(m, v, mv));
    EXPECT_OK(context, bisai_precond_apply(m, sum, msum));
    for (int i = 0; i < N; i++) mu[i] = 3.0 * mu[i] - 0.7 * mv[i];
    double largest = 0.0;
    for (int i = 0; i < N; i++) largest = fmax(largest, fabs(mu[i]));
    EXPECT_CLOSE(N, mu, msum, 1e-12 * largest); /* some hundred roundings in each of the levels */
    bisai_precond_destroy(&m);
  }
  free(u), free(v);
  bisai_bcsr_destroy(&a);
}

static void several_vectors_are_applied_as_one_at_a_time(void **state) {
  (void)state;
  enum { N = 13 * 12 * 3, LDV = N + 3, LDZ = N + 5, COUNT = 11 };
  bisai_bcsr *a = test_bcsr_take(context, test_flow(13, 12, 3, 0, 2));
  double *v = test_random_vector(COUNT * LDV, 5), *z = malloc(COUNT * LDZ * sizeof *z), one[N];
  for (int k = 0; k < 2 * VARIANTS; k++) {
    bisai_precond_options o = variant_of(k / 2);
    o.cpr.additive = k % 2;
    bisai_precond *m = test_precond_with(context, a, &o);
    for (int i = 0; i < COUNT * LDZ; i++) z[i] = (double)NAN;
    EXPECT_OK(context, bisai_precond_apply_many(m, COUNT, v, LDV, z, LDZ));
    for (int c = 0; c < COUNT; c++) {
      EXPECT_OK(context, bisai_precond_apply(m, v + (ptrdiff_t)c * LDV, one));
      assert_memory_equal(one, z + (ptrdiff_t)c * LDZ, sizeof one);
    }
    bisai_precond_destroy(&m);
  }
  free(v), free(z);
  bisai_bcsr_destroy(&a);
}

static void results_do_not_depend_on_the_number_of_threads(void **state) {
  (void)state;
  enum { NX = 130, NY = 120, BS = 3, N = NX * NY * BS };
  const test_bcsr arrays = test_flow(NX, NY, BS, 1, 3);
  double *v = test_random_vector(N, 4), *first = malloc(N * sizeof *first),
         *z = malloc(N * sizeof *z);
  for (int variant = 0; variant < 5; variant++) {
    bisai_cpr_report expected = {0};
    for (int threads = 1; threads <= 4; threads++) {
      bisai_context *c = test_context(threads);
      bisai_bcsr *a = test_bcsr_make(c, &arrays);
      bisai_precond_options o = variant_of(variant);
      o.cpr.additive = variant == 1;
      bisai_precond *m = test_precond_with(c, a, &o);
      const bisai_cpr_report r = test_report_of(c, m).cpr;
      if (threads == 1) expected = r;
      assert_memory_equal(r.ellipticity, expected.ellipticity, sizeof r.ellipticity);
      EXPECT_OK(c, bisai_precond_apply(m, v, threads == 1 ? first : z));
      EXPECT_OK(c, bisai_precond_apply(m, v, z)); /* again */
      assert_memory_equal(z, first, N * sizeof *z);
      bisai_precond_destroy(&m);
      bisai_bcsr_destroy(&a);
      bisai_context_destroy(&c);
    }
  }
  free(v), free(first), free(z);
  test_bcsr gone = arrays;
  test_bcsr_free(&gone);
}

/* --- solvers --- */

static bisai_status solve(bisai_method method, bool flexible, const bisai_bcsr *a, bisai_precond *m,
                          bisai_solver_report *r, double *residual) {
  const int64_t n = bisai_precond_rows(m);
  double *b = test_random_vector(n, 3), *x = calloc((size_t)n, sizeof *x);
  bisai_solver_options options = bisai_solver_options_default();
  options.method = method;
  options.tolerance = 1e-10;
  options.max_iterations = 300;
  if (method == BISAI_CG) options.cg.flexible = flexible;
  if (method == BISAI_GMRES) options.gmres.flexible = flexible;
  *r = test_report();
  const bisai_status status = test_solve(context, &options, a, m, b, x, r);
  *residual = status ? INFINITY : test_relative_residual(a, x, b);
  free(b), free(x);
  return status;
}

static void flows_take_fewer_iterations_than_with_the_second_stage_alone(void **state) {
  (void)state;
  bisai_bcsr *a = test_bcsr_take(context, test_flow(60, 50, 3, 1, 4));
  for (int k = 0; k < 2 * VARIANTS; k++) {
    bisai_precond_options o = variant_of(k / 2), alone = o;
    o.cpr.additive = k % 2;
    static const bisai_precond_kind kinds[] = {BISAI_PRECOND_ILU, BISAI_PRECOND_ISAI,
                                               BISAI_PRECOND_ILU, BISAI_PRECOND_SWEEPS,
                                               BISAI_PRECOND_BJACOBI};
    alone.kind = kinds[o.cpr.second];
    alone.cpr = bisai_precond_options_default().cpr;
    alone.multigrid = bisai_precond_options_default().multigrid;
    bisai_precond *m = test_precond_with(context, a, &o),
                  *second = test_precond_with(context, a, &alone);
    bisai_solver_report r, s;
    double residual;
    (void)solve(BISAI_GMRES, false, a, second, &s, &residual);
    EXPECT_OK(context, solve(BISAI_GMRES, false, a, m, &r, &residual));
    assert_true(residual <= 2e-10);
    if (2 * r.iterations >= s.iterations) print_message("%s\n", bisai_precond_describe(m));
    assert_true(2 * r.iterations < s.iterations);
    bisai_precond_destroy(&m);
    bisai_precond_destroy(&second);
  }
  bisai_bcsr_destroy(&a);
}

static void solvers_for_general_matrices_take_it(void **state) {
  (void)state;
  bisai_bcsr *a = test_bcsr_take(context, test_flow(30, 28, 2, 0, 4));
  bisai_precond_options o = cpr(BISAI_CPR_SECOND_STAGE_ILU);
  bisai_precond *m = test_precond_with(context, a, &o);
  bisai_solver_report r;
  double residual;
  for (int method = 0; method < BISAI_METHODS; method++) {
    if (method == BISAI_CG) continue;
    EXPECT_OK(context, solve((bisai_method)method, false, a, m, &r, &residual));
    assert_true(residual <= 2e-10);
  }
  bisai_precond_destroy(&m);
  bisai_bcsr_destroy(&a);
}

static void conjugate_gradients_refuse_it(void **state) {
  (void)state;
  bisai_bcsr *a = test_bcsr_take(context, test_bcsr_definite(60, 2, 1));
  bisai_solver_report r;
  double residual;
  for (int variant = 0; variant < 5; variant++) {
    bisai_precond_options o = variant_of(variant);
    bisai_precond *m = test_precond_with(context, a, &o);
    assert_int_equal(test_report_of(context, m).symmetry, BISAI_SYMMETRY_NONE);
    EXPECT_STATUS(context, BISAI_NOT_SYMMETRIC, solve(BISAI_CG, false, a, m, &r, &residual));
    EXPECT_IN_MESSAGE(context, "cpr");
    bisai_precond_destroy(&m);
  }
  bisai_bcsr_destroy(&a);
}

static void k_cycles_need_a_flexible_solver(void **state) {
  (void)state;
  bisai_bcsr *a = test_bcsr_take(context, test_flow(30, 28, 2, 0, 4));
  bisai_precond_options o = cpr(BISAI_CPR_SECOND_STAGE_AUTO);
  o.multigrid.cycle = BISAI_CYCLE_K;
  bisai_precond *m = test_precond_with(context, a, &o);
  bisai_solver_report r;
  double residual;
  assert_true(test_report_of(context, m).nonlinear);
  for (int method = 0; method < BISAI_METHODS; method++) {
    if (method == BISAI_CG) continue;
    EXPECT_STATUS(context, BISAI_NOT_LINEAR,
                  solve((bisai_method)method, false, a, m, &r, &residual));
  }
  EXPECT_OK(context, solve(BISAI_GMRES, true, a, m, &r, &residual));
  assert_true(residual <= 2e-10);
  bisai_precond_destroy(&m);
  bisai_bcsr_destroy(&a);
}

/* --- reports --- */

static void the_stages_report_in_the_members_of_their_kinds(void **state) {
  (void)state;
  enum { NX = 14, NY = 12, CELLS = NX * NY };
  for (int k = 0; k < 2 * VARIANTS; k++) {
    test_bcsr arrays = test_flow(NX, NY, 3, 1, 1);
    bisai_bcsr *a = test_bcsr_make(context, &arrays);
    bisai_precond_options o = variant_of(k / 2);
    o.cpr.additive = k % 2;
    pieces s = pieces_of(arrays, 1, &o, a);
    bisai_precond *m = test_precond_with(context, a, &o);
    const bisai_precond_report r = test_report_of(context, m),
                               first = test_report_of(context, s.first),
                               second = test_report_of(context, s.second);
    const int64_t blocks = test_bcsr_blocks(&arrays);
    assert_int_equal(r.kind, BISAI_PRECOND_CPR);
    assert_int_equal(r.multigrid.levels, first.multigrid.levels);
    assert_memory_equal(r.multigrid.blocks, first.multigrid.blocks, sizeof r.multigrid.blocks);
    assert_int_equal(r.factor.blocks, second.factor.blocks);
    assert_int_equal(r.factor.ordering, second.factor.ordering);
    assert_int_equal(r.factor.equilibrated, second.factor.equilibrated);
    assert_int_equal(r.isai.blocks, second.isai.blocks);
    assert_int_equal(r.bjacobi.blocks, second.bjacobi.blocks);
    assert_true(r.largest_condition == second.largest_condition);
    assert_int_equal(r.largest_condition_row, second.largest_condition_row);
    assert_int_equal(r.repairs, 0);
    assert_int_equal(r.first_repair_row, -1);
    const double parts = r.order_seconds + r.factor_seconds + r.pattern_seconds + r.values_seconds;
    /* weights and values take more than calls of functions and of the clock */
    assert_true(r.pattern_seconds > 1e-6 && r.values_seconds > 1e-6);
    assert_true(parts <= r.setup_seconds);
    EXPECT_OK(context, bisai_precond_update(m, a));
    const bisai_precond_report u = test_report_of(context, m);
    assert_true(u.pattern_seconds == 0.0 && u.values_seconds > 0.0);
    assert_true(u.order_seconds + u.factor_seconds + u.values_seconds <= u.setup_seconds);
    assert_int_equal(r.cpr.weights, BISAI_WEIGHTS_QUASI_IMPES);
    assert_int_equal(r.cpr.first_singular_row, -1);
    assert_int_equal(r.cpr.first_excluded_row, -1);
    /* the pressure matrix, columns, weights and the residual, two vectors of pressures, and a
     * struct with a report */
    const int64_t values = 8 * (blocks + 3 * blocks + 2 * 3 * CELLS + 2 * CELLS),
                  integers = 4 * (blocks + 2 * CELLS);
    assert_in_range(r.memory_bytes - first.memory_bytes - second.memory_bytes, values + integers,
                    values + integers + 16384);
    /* W v; C z is read with v and written to r; x is read and written with z */
    const int64_t gather = 8 * (2 * 3 + 1) * CELLS, add = 8 * (2 * 3 + 1) * CELLS,
                  subtract = 8 * (3 * blocks + (2 * 3 + 1) * CELLS) + 4 * (blocks + CELLS);
    assert_in_range(r.apply_bytes - first.apply_bytes - second.apply_bytes -
                        (o.cpr.additive ? 0 : subtract),
                    8 * 3 * CELLS, gather + add);
    bisai_precond_destroy(&m);
    pieces_free(&s);
    bisai_bcsr_destroy(&a);
    test_bcsr_free(&arrays);
  }
}

static int count_of(const char *text, const char *word) {
  int count = 0;
  for (const char *at = text; (at = strstr(at, word)); at += strlen(word)) count++;
  return count;
}

static void the_description_says_everything_once(void **state) {
  (void)state;
  test_bcsr arrays = test_flow(14, 12, 3, 1, 1);
  memset(test_bcsr_block(&arrays, 5, 5), 0, 9 * sizeof(double));
  bisai_bcsr *a = test_bcsr_take(context, arrays);
  bisai_precond_options o = cpr(BISAI_CPR_SECOND_STAGE_ISAI);
  o.shift = BISAI_SHIFT_IN_BLOCKS;
  o.factor.ordering = BISAI_ORDERING_RCM;
  o.factor.equilibrate = true;
  o.cpr.additive = true;
  bisai_precond *m = test_precond_with(context, a, &o);
  const char *text = bisai_precond_describe(m);
  static const char *const words[] = {"cpr pressure=1 (ellipticity 0.",
                                      "weights=quasi-impes",
                                      "additive",
                                      "mg cycle=v",
                                      "isai k=1",
                                      "ordering=rcm",
                                      "equilibrated",
                                      "1 diagonal block repaired"};
  for (size_t k = 0; k < sizeof words / sizeof *words; k++)
    if (count_of(text, words[k]) != 1) fail_msg("\"%s\" once in: %s", words[k], text);
  assert_int_equal(test_report_of(context, m).repairs, 1);
  assert_int_equal(test_report_of(context, m).first_repair_row, 5);
  bisai_precond_destroy(&m);
  bisai_bcsr_destroy(&a);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_stages_are_multigrid_and_a_second_kind),
      cmocka_unit_test(the_defaults_are_the_documented_ones),
      cmocka_unit_test(the_cycle_depends_on_the_second_stage_and_on_the_size),
      cmocka_unit_test(applications_are_linear),
      cmocka_unit_test(several_vectors_are_applied_as_one_at_a_time),
      cmocka_unit_test(results_do_not_depend_on_the_number_of_threads),
      cmocka_unit_test(flows_take_fewer_iterations_than_with_the_second_stage_alone),
      cmocka_unit_test(solvers_for_general_matrices_take_it),
      cmocka_unit_test(conjugate_gradients_refuse_it),
      cmocka_unit_test(k_cycles_need_a_flexible_solver),
      cmocka_unit_test(the_stages_report_in_the_members_of_their_kinds),
      cmocka_unit_test(the_description_says_everything_once),
  };
  return cmocka_run_group_tests_name("cpr", tests, setup, teardown);
}
