/* SPDX-License-Identifier: BSD-3-Clause */
/* Choices are the same in every run and for any number of threads, and a choice of several trials
 * can be stopped anywhere. */
#include <math.h>
#include <string.h>

#include <bisai/solve.h>

#include "support/mesh.h"
#include "support/support.h"

enum { MOST_TRIALS = 32 };

/* A system on a grid of side × side nodes: differences for −∆u with a flow along the first axis,
 * which makes the matrix general, less growth·u, which makes it indefinite. `moved` rows are
 * shifted down, which leaves zeros on the diagonal. */
typedef struct grid {
  int32_t side;
  double flow, growth;
  int32_t moved;
} grid;

/* What a choice gives. */
typedef struct outcome {
  bisai_status status;
  int count, chosen;
  bisai_trial trials[MOST_TRIALS];
  int64_t n;
  double *x;
} outcome;

static bisai_bcsr *matrix_of(bisai_context *context, grid g) {
  const int32_t n = g.side * g.side;
  int32_t *row_ptr = malloc((size_t)(n + 1) * sizeof *row_ptr), count = 0;
  int32_t *col_idx = malloc((size_t)(5 * n) * sizeof *col_idx);
  double *values = malloc((size_t)(5 * n) * sizeof *values);
  for (int32_t i = 0; i < n; i++) {
    const int32_t node = (i + g.moved) % n, x = node % g.side, y = node / g.side;
    const struct {
      bool stored;
      int32_t col;
      double value;
    } star[5] = {{y > 0, node - g.side, -1},
                 {x > 0, node - 1, -1 - g.flow},
                 {true, node, 4 - g.growth},
                 {x < g.side - 1, node + 1, -1 + g.flow},
                 {y < g.side - 1, node + g.side, -1}};
    row_ptr[i] = count;
    for (int k = 0; k < 5; k++) {
      if (!star[k].stored) continue;
      col_idx[count] = star[k].col;
      values[count++] = star[k].value;
    }
  }
  row_ptr[n] = count;
  bisai_bcsr_desc desc = bisai_bcsr_desc_default();
  bisai_bcsr *matrix = NULL;
  desc.block_rows = desc.block_cols = n;
  desc.block_size = 1;
  desc.row_ptr = row_ptr, desc.col_idx = col_idx, desc.values = values;
  EXPECT_OK(context, bisai_bcsr_create(context, &desc, &matrix));
  free(row_ptr);
  free(col_idx);
  free(values);
  return matrix;
}

static bisai_solve_options incomplete(void) {
  bisai_solve_options o = bisai_solve_options_default();
  o.precond.automatic.incomplete = true; /* complete factors would leave one iteration */
  return o;
}

/* Takes the matrix. */
static outcome choose(bisai_context *context, bisai_bcsr *matrix,
                      const bisai_solve_options *options) {
  const int64_t n = (int64_t)bisai_bcsr_block_rows(matrix) * bisai_bcsr_block_size(matrix);
  double *b = test_random_vector(n, 7);
  outcome o = {.n = n, .x = test_nan_vector(n)};
  bisai_auto_solver *solver = NULL;
  bisai_solve_report report = {.struct_size = sizeof report};
  EXPECT_OK(context, bisai_auto_solver_create(context, options, &solver));
  o.status = bisai_auto_solver_solve(solver, matrix, b, o.x, &report);
  o.count = report.choice.count;
  o.chosen = report.choice.chosen;
  assert_in_range(o.count, 0, MOST_TRIALS);
  if (o.count > 0) memcpy(o.trials, report.choice.trials, (size_t)o.count * sizeof *o.trials);
  bisai_auto_solver_destroy(&solver);
  bisai_bcsr_destroy(&matrix);
  free(b);
  return o;
}

static void expect_same_outcome(const outcome *a, const outcome *b) {
  assert_int_equal(a->status, b->status);
  assert_int_equal(a->count, b->count);
  assert_int_equal(a->chosen, b->chosen);
  for (int i = 0; i < a->count; i++) {
    const bisai_trial *s = &a->trials[i], *t = &b->trials[i];
    assert_string_equal(s->method, t->method);
    assert_string_equal(s->solver, t->solver);
    assert_string_equal(s->why, t->why);
    assert_int_equal(s->status, t->status);
    assert_int_equal(s->iterations, t->iterations);
    assert_memory_equal(&s->relative_residual, &t->relative_residual, sizeof(double));
    assert_memory_equal(&s->work, &t->work, sizeof(double));
  }
  assert_memory_equal(a->x, b->x, (size_t)a->n * sizeof *a->x);
}

static bisai_bcsr *definite(bisai_context *context) {
  return test_bcsr_take(context, test_mesh_elements(60, 12, 2, 3.0, true));
}

static bisai_bcsr *general(bisai_context *context) {
  return matrix_of(context, (grid){60, 0.3, 0.15, 0});
}

static bisai_bcsr *permuted(bisai_context *context) {
  return matrix_of(context, (grid){60, 0.9, 0, 1});
}

static void a_choice_is_the_same_in_every_run_and_for_any_threads(void **state) {
  (void)state;
  bisai_bcsr *(*const systems[])(bisai_context *) = {definite, general, permuted};
  const int threads[] = {1, 1, 2, 4};
  const bisai_solve_options options = incomplete();
  for (int s = 0; s < 3; s++) {
    outcome outcomes[4];
    for (int t = 0; t < 4; t++) {
      bisai_context *context = test_context(threads[t]);
      outcomes[t] = choose(context, systems[s](context), &options);
      bisai_context_destroy(&context);
      expect_same_outcome(&outcomes[0], &outcomes[t]);
    }
    assert_int_equal(BISAI_OK, outcomes[0].status);
    assert_true(test_on_device() || outcomes[0].count > 1); /* the costs are others there */
    for (int t = 0; t < 4; t++) free(outcomes[t].x);
  }
}

typedef struct stopper {
  int calls, last;
} stopper;

static int stop_at_last(void *user, int iteration, double relative_residual) {
  stopper *s = user;
  (void)iteration, (void)relative_residual;
  return ++s->calls == s->last;
}

/* Runs a choice of several trials that the monitor stops at its call `last`. Returns the calls. */
static int stopped_at(grid g, int last, bisai_status *status, int *trials) {
  test_allocator allocator;
  test_allocator_reset(&allocator, 0);
  bisai_context *context = test_context_on(&allocator, 2);
  const long long before = atomic_load(&allocator.live_blocks);
  stopper s = {.last = last};
  bisai_solve_options options = incomplete();
  options.solver.monitor = stop_at_last;
  options.solver.monitor_user = &s;
  outcome o = choose(context, matrix_of(context, g), &options);
  assert_int_equal(before, atomic_load(&allocator.live_blocks));
  for (int64_t i = 0; i < o.n; i++) assert_true(isfinite(o.x[i]));
  *status = o.status;
  *trials = o.count;
  free(o.x);
  bisai_context_destroy(&context);
  assert_int_equal(0, atomic_load(&allocator.live_blocks));
  return s.calls;
}

static void a_monitor_may_stop_a_choice_at_every_iteration(void **state) {
  (void)state;
  const grid systems[] = {{24, 0.9, 0, 1}, {24, 0.3, 0.4, 0}};
  for (int i = 0; i < 2; i++) {
    bisai_status status;
    int trials, begun;
    const int calls = stopped_at(systems[i], 0, &status, &trials);
    assert_int_equal(BISAI_OK, status);
    assert_true(calls > 1 && (test_on_device() || trials > 1));
    for (int last = 1; last <= calls; last++) {
      assert_int_equal(last, stopped_at(systems[i], last, &status, &begun));
      /* The last iteration solves the system. */
      assert_int_equal(last < calls ? BISAI_STOPPED : BISAI_OK, status);
      assert_in_range(begun, 1, trials);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_choice_is_the_same_in_every_run_and_for_any_threads),
      cmocka_unit_test(a_monitor_may_stop_a_choice_at_every_iteration)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
