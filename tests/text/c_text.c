/* SPDX-License-Identifier: BSD-3-Clause */
/* Options as statements in C. */
#include <bisai/text.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "support/support.h"

static void expect_statements(const bisai_precond_options *p, const bisai_solver_options *s,
                              const char *expected) {
  char text[1024];
  const size_t length = bisai_options_text(p, s, sizeof text, text);
  assert_int_equal(strlen(text), length);
  assert_true(length > 0 && text[length - 1] == '\n');
  text[length - 1] = '\0';
  for (char *end; (end = strchr(text, '\n'));) *end = ' ';
  assert_string_equal(expected, text);
}

/* The compiler reads the statements, and what they set is written as the same statements. They
 * declare p and s. */
#define REPEAT(...)                                                                                \
  do {                                                                                             \
    __VA_ARGS__                                                                                    \
    expect_statements(&p, &s, #__VA_ARGS__);                                                       \
  } while (0)

static void c_statements_make_the_options(void **state) {
  (void)state;
  REPEAT(bisai_precond_options p = bisai_precond_options_default(); p.kind = BISAI_PRECOND_ISAI;
         bisai_solver_options s = bisai_solver_options_default(); s.method = BISAI_GMRES;);
  REPEAT(bisai_precond_options p = bisai_precond_options_default(); p.kind = BISAI_PRECOND_ILU;
         p.factor.level = 2; p.shift = BISAI_SHIFT_IN_BLOCKS; p.shift_amount = 1e-06;
         p.factor.ordering = BISAI_ORDERING_MD; p.factor.matching = BISAI_MATCHING_ENTRIES;
         p.factor.equilibrate = true; bisai_solver_options s = bisai_solver_options_default();
         s.method = BISAI_GMRES; s.tolerance = 1e-10; s.max_iterations = 200; s.gmres.restart = 100;
         s.gmres.side = BISAI_LEFT;);
  REPEAT(bisai_precond_options p = bisai_precond_options_default();
         p.kind = BISAI_PRECOND_MULTIGRID; p.multigrid.smoother = BISAI_SMOOTHER_ILU;
         p.multigrid.strength = 0.08; p.multigrid.precision = BISAI_FP64;
         bisai_solver_options s = bisai_solver_options_default(); s.method = BISAI_CG;
         s.stagnation_cycles = 0; s.use_initial_guess = true; s.cg.flexible = true;);
  REPEAT(bisai_precond_options p = bisai_precond_options_default(); p.kind = BISAI_PRECOND_LU;
         p.lu.storage = BISAI_FP32; bisai_solver_options s = bisai_solver_options_default();
         s.method = BISAI_IDR; s.idr.shadow_dimension = 8;);
}

static void pointers_are_variables_of_the_caller(void **state) {
  (void)state;
  const double vectors[4] = {1, 1, 1, 1};
  const double *null_vectors = vectors;
  REPEAT(bisai_precond_options p = bisai_precond_options_default();
         p.kind = BISAI_PRECOND_MULTIGRID; p.multigrid.null_vectors = null_vectors;
         p.multigrid.null_count = 1; bisai_solver_options s = bisai_solver_options_default();
         s.method = BISAI_BICGSTAB;);
}

/* 1/3 has 16 digits, and 0.1 + 0.2 has 17. */
static void numbers_keep_all_their_bits(void **state) {
  (void)state;
  const double numbers[] = {1.0 / 3, 0.1 + 0.2, 1e-300, 2, INFINITY};
  const char *const digits[] = {"0.3333333333333333", "0.30000000000000004", "1e-300", "2",
                                "INFINITY"};
  char text[256], line[64];
  bisai_precond_options p = bisai_precond_options_default();
  p.kind = BISAI_PRECOND_ISAI;
  for (int i = 0; i < 5; i++) {
    p.isai.drop_tolerance = numbers[i];
    bisai_options_text(&p, NULL, sizeof text, text);
    snprintf(line, sizeof line, "p.isai.drop_tolerance = %s;\n", digits[i]);
    assert_non_null(strstr(text, line));
  }
}

static void statements_are_cut_at_every_size(void **state) {
  (void)state;
  enum { MOST = 512 };
  char whole[MOST], cut[MOST];
  bisai_precond_options p = bisai_precond_options_default();
  bisai_solver_options s = bisai_solver_options_default();
  p.isai.power = 2;
  const size_t length = bisai_options_text(&p, &s, MOST, whole);
  assert_in_range(length, 1, MOST - 1);
  assert_int_equal(length, bisai_options_text(&p, &s, 0, NULL));
  for (size_t size = 1; size <= length + 1; size++) {
    memset(cut, 'x', sizeof cut);
    assert_int_equal(length, bisai_options_text(&p, &s, size, cut));
    assert_int_equal(size - 1, strlen(cut));
    assert_memory_equal(whole, cut, size - 1);
    assert_int_equal('x', cut[size]);
  }
  p.kind = (bisai_precond_kind)BISAI_PRECOND_KINDS;
  assert_int_equal(0, bisai_options_text(&p, &s, MOST, cut));
  assert_string_equal("", cut);
  s.method = (bisai_method)-1;
  assert_int_equal(0, bisai_options_text(NULL, &s, MOST, cut));
  s = bisai_solver_options_default();
  s.struct_size--;
  assert_int_equal(0, bisai_options_text(NULL, &s, MOST, cut));
  assert_int_equal(0, bisai_options_text(NULL, NULL, MOST, cut));
}

static void expect_enumerators(const bisai_option *option) {
  int count = 0;
  if (option->type != BISAI_OPTION_WORD) return;
  while (option->words[count]) count++;
  assert_true(count > option->maximum);
  for (int i = 0; i < count; i++) assert_memory_equal("BISAI_", option->words[count + 1 + i], 6);
  assert_null(option->words[2 * count + 1]);
}

static void every_word_has_an_enumerator(void **state) {
  (void)state;
  const bisai_option *option;
  for (int kind = 0; kind < BISAI_PRECOND_KINDS; kind++)
    for (int i = 0; (option = bisai_precond_kind_option((bisai_precond_kind)kind, i)); i++)
      expect_enumerators(option);
  for (int method = 0; method < BISAI_METHODS; method++)
    for (int i = 0; (option = bisai_method_option((bisai_method)method, i)); i++)
      expect_enumerators(option);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(c_statements_make_the_options),
                                     cmocka_unit_test(pointers_are_variables_of_the_caller),
                                     cmocka_unit_test(numbers_keep_all_their_bits),
                                     cmocka_unit_test(statements_are_cut_at_every_size),
                                     cmocka_unit_test(every_word_has_an_enumerator)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
