/* SPDX-License-Identifier: BSD-3-Clause */
/* What `bisai compare` concludes, against the figures of its own runs; warm-up and repetition. */
#include <math.h>

#include "results.h"

/* The run with the least value of a key among the first `count` runs, or of those that have it. */
static size_t least(const json_t *root, size_t count, const char *key) {
  size_t best = count;
  for (size_t i = 0; i < count; i++) {
    const json_t *value = json_object_get(run_of(root, i), key);
    if (json_is_number(value) &&
        (best == count || json_number_value(value) < number(run_of(root, best), key)))
      best = i;
  }
  assert_true(best < count);
  return best;
}

static void the_winners_are_those_of_the_figures(void **state) {
  (void)state;
  static const char *const labels[] = {"bjacobi", "ilu", "isai:k=1", "isai:k=3"};
  json_t *root = results("compare --case cavity --size 20 --methods bjacobi,ilu,isai:k=1,isai:k=3");
  const json_t *verdict = json_object_get(root, "verdict");
  const size_t fastest = least(root, 4, "total_s"), steady = least(root, 4, "solve_s");
  assert_string_equal(json_string_value(json_object_get(verdict, "fastest")), labels[fastest]);
  assert_string_equal(json_string_value(json_object_get(verdict, "fastest_solve")), labels[steady]);
  assert_string_equal(json_string_value(json_object_get(verdict, "least_memory")),
                      labels[least(root, 4, "memory_bytes")]);
  const json_t *quick = run_of(root, fastest), *other = run_of(root, steady);
  const double n = number(verdict, "pays_after");
  assert_true(n >= 1);
  /* After n solves it is ahead, after n - 1 it was not: within rounding of the sums. */
  assert_true(number(other, "setup_s") + n * number(other, "solve_s") <=
              (number(quick, "setup_s") + n * number(quick, "solve_s")) * (1 + 1e-9));
  if (n > 1)
    assert_true(number(other, "setup_s") + (n - 1) * number(other, "solve_s") >=
                (number(quick, "setup_s") + (n - 1) * number(quick, "solve_s")) * (1 - 1e-9));
  /* "faster than ilu", "slower than ilu" or "as fast as ilu" */
  assert_non_null(strstr(json_string_value(json_object_get(verdict, "why")), " ilu: it takes "));
  json_decref(root);
}

static void one_block_row_is_one(void **state) {
  (void)state;
  json_t *root = results("compare laplace5.mtx --block-size 1 --methods ilu,isai");
  const json_t *why = json_object_get(json_object_get(root, "verdict"), "why");
  assert_non_null(strstr(json_string_value(why), "10 levels, of 1 block row on average,"));
  json_decref(root);
}

static void a_failure_does_not_win(void **state) {
  (void)state;
  json_t *root = results("compare --case cavity --size 20 --methods none,ilu --max-iterations 60");
  assert_true(json_is_false(json_object_get(run_of(root, 0), "converged")));
  const json_t *verdict = json_object_get(root, "verdict");
  assert_string_equal(json_string_value(json_object_get(verdict, "fastest")), "ilu");
  assert_true(json_is_null(json_object_get(verdict, "why"))); /* no ISAI among them */
  json_decref(root);
  root = results("compare no_diagonal.mtx --block-size 1 --methods ilu,isai");
  verdict = json_object_get(root, "verdict");
  assert_true(json_is_null(json_object_get(verdict, "fastest")));
  assert_true(json_is_null(json_object_get(verdict, "least_memory")));
  json_decref(root);
}

static void repetitions_keep_the_median_and_the_least_time(void **state) {
  (void)state;
  json_t *once = results("compare --case cavity --size 12 --methods ilu,isai"),
         *often = results("compare --case cavity --size 12 --methods ilu,isai --repeat 5");
  for (size_t i = 0; i < 2; i++) {
    assert_true(number(run_of(once, i), "repeats") == 1);
    assert_true(number(run_of(once, i), "least_total_s") == number(run_of(once, i), "total_s"));
    assert_true(number(run_of(often, i), "repeats") == 5);
    assert_true(number(run_of(often, i), "least_total_s") <= number(run_of(often, i), "total_s"));
    assert_true(number(run_of(often, i), "iterations") == number(run_of(once, i), "iterations"));
  }
  json_decref(once);
  json_decref(often);
}

static void the_table_ends_with_the_winners(void **state) {
  (void)state;
  program p = run("compare --case cavity --size 12 --methods bjacobi,ilu,isai --repeat 2");
  assert_int_equal(p.status, 0);
  program_expect_in("the table", p.out, "method      iterations");
  program_expect_in("the table", p.out, "\nfastest to the solution   ");
  program_expect_in("the table", p.out, "\nfastest once set up       ");
  program_expect_in("the table", p.out, "\nleast memory              bjacobi: ");
  program_expect_in("the table", p.out, "\nisai:k=1 is ");
  program_expect_in("the table", p.out, "run 2 times");
  program_free(&p);
  p = run("compare --case cavity --size 12 --methods ilu");
  assert_null(strstr(p.out, "fastest"));
  program_free(&p);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_winners_are_those_of_the_figures),
      cmocka_unit_test(one_block_row_is_one),
      cmocka_unit_test(a_failure_does_not_win),
      cmocka_unit_test(repetitions_keep_the_median_and_the_least_time),
      cmocka_unit_test(the_table_ends_with_the_winners),
  };
  return cmocka_run_group_tests(tests, program_setup, program_teardown);
}
