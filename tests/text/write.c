/* SPDX-License-Identifier: BSD-3-Clause */
/* Options as texts, and back. */
#include <bisai/stages.h>
#include <bisai/text.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "support/support.h"

enum { TRIES = 300 };

static void expect_text(const char *expected, const bisai_precond_options *o) {
  char text[BISAI_TEXT_SIZE];
  assert_int_equal(strlen(expected), bisai_precond_options_text(o, NULL, sizeof text, text));
  assert_string_equal(expected, text);
}

static void defaults_are_left_out(void **state) {
  (void)state;
  bisai_precond_options o = bisai_precond_options_default();
  expect_text("auto", &o);
  o.kind = BISAI_PRECOND_ISAI;
  expect_text("isai", &o);
  o.isai.power = 2;
  o.shift = BISAI_SHIFT_IN_BLOCKS;
  expect_text("isai:k=2:shift=0.01", &o);
  o.kind = BISAI_PRECOND_SWEEPS; /* a number that must be given */
  expect_text("sweeps:n=1:shift=0.01", &o);
}

static void stages_come_with_their_options(void **state) {
  (void)state;
  bisai_precond_options o = bisai_precond_options_default();
  o.kind = BISAI_PRECOND_SCHUR;
  expect_text("schur", &o);
  o.schur.complement = BISAI_SCHUR_COMPLEMENT_SIMPLE;
  o.schur.first = BISAI_SCHUR_STAGE_ILU;
  o.factor.level = 1;
  expect_text("schur:complement=simple:first=ilu:level=1", &o);
  o.schur.second = BISAI_SCHUR_STAGE_BJACOBI;
  expect_text("schur:complement=simple:first=ilu:level=1:second=bjacobi", &o);
}

static void stages_with_options_are_written_by_their_kinds(void **state) {
  (void)state;
  bisai_precond_options o = bisai_precond_options_default();
  o.kind = BISAI_PRECOND_CPR;
  o.factor.level = 2;
  expect_text("cpr:second=ilu:level=2", &o);
  o.multigrid.cycle = BISAI_CYCLE_W;
  expect_text("cpr:first=mg:cycle=w:second=ilu:level=2", &o);
  o = bisai_precond_options_default();
  o.kind = BISAI_PRECOND_SCHUR;
  o.multigrid.cycle = BISAI_CYCLE_W;
  expect_text("schur:second=mg:cycle=w", &o);
  o.schur.second = BISAI_SCHUR_STAGE_LU;
  expect_text("schur:first=mg:cycle=w:second=lu", &o);
}

static void what_no_text_can_give_is_left_out(void **state) {
  (void)state;
  const double vectors[2] = {1, 1};
  bisai_precond_options o = bisai_precond_options_default();
  o.kind = BISAI_PRECOND_MULTIGRID;
  o.multigrid.null_vectors = vectors;
  o.multigrid.null_count = 1;
  expect_text("mg", &o);
  o = bisai_precond_options_default();
  o.kind = BISAI_PRECOND_ISAI;
  o.isai.drop_tolerance = INFINITY;
  o.isai.relax = -1;
  o.factor.ordering = BISAI_ORDERING_GIVEN;
  expect_text("isai", &o);
}

static void there_is_no_text_of_unknown_words_and_of_code(void **state) {
  (void)state;
  bisai_precond_options o = bisai_precond_options_default();
  bisai_solver_options s = bisai_solver_options_default();
  o.kind = BISAI_PRECOND_CALLBACK;
  expect_text("", &o);
  o.kind = (bisai_precond_kind)BISAI_PRECOND_KINDS;
  expect_text("", &o);
  o = bisai_precond_options_default();
  o.kind = BISAI_PRECOND_ISAI;
  o.isai.storage = (bisai_value_type)99;
  expect_text("", &o);
  o.isai.storage = (bisai_value_type)-1;
  expect_text("", &o);
  o = bisai_precond_options_default();
  o.kind = BISAI_PRECOND_SCHUR;
  o.schur.second = (bisai_schur_stage)99;
  expect_text("", &o);
  char text[8] = "x";
  s.gmres.side = (bisai_side)2;
  assert_int_equal(0, bisai_solver_options_text(&s, sizeof text, text));
  s.method = (bisai_method)BISAI_METHODS;
  assert_int_equal(0, bisai_solver_options_text(&s, sizeof text, text));
  assert_int_equal(0, bisai_solver_options_text(NULL, sizeof text, text));
  assert_int_equal(0, bisai_precond_options_text(NULL, NULL, sizeof text, text));
}

/* --- text → options → text --- */

/* A value that a text can give. Some are the default, and numbers have many digits. */
static double random_value(const bisai_option *option, test_random *r) {
  const bool integer = option->type == BISAI_OPTION_INTEGER || option->type == BISAI_OPTION_WORD;
  double high = fmin(option->advised, option->minimum + 1e6), value;
  if (test_random_integer(r, 0, 2) == 0) return option->initial;
  if (option->type == BISAI_OPTION_FLAG) return test_random_integer(r, 0, 1);
  do {
    value = integer ? test_random_integer(r, (int32_t)option->minimum, (int32_t)high)
                    : test_random_uniform(r, option->minimum, high);
  } while (option->open && value == option->minimum);
  return value;
}

static bool is_random(const bisai_option *option) {
  return option->key && option->type != BISAI_OPTION_VECTORS;
}

static bool is_stage(bisai_precond_kind kind, const bisai_option *option) {
  return option == bisai_precond_stage_option(kind, 0) ||
         option == bisai_precond_stage_option(kind, 1);
}

/* Stages first, which say what else is taken. */
static bisai_precond_options random_options(bisai_precond_kind kind, test_random *r) {
  bisai_precond_options o = bisai_precond_options_default();
  const bisai_option *option;
  o.kind = kind;
  for (int pass = 0; pass < 2; pass++)
    for (int i = 0; (option = bisai_precond_kind_option(kind, i)); i++)
      if (is_random(option) && is_stage(kind, option) == (pass == 0) &&
          bisai_precond_options_take(&o, option->field))
        bisai_option_set(option, random_value(option, r), &o);
  return o;
}

/* Both do the same: a stage that was chosen automatically may have got its kind. */
static void expect_same_options(const char *text, const bisai_precond_options *a,
                                const bisai_precond_options *b) {
  const bisai_option *option;
  bisai_precond_kind kind_a, kind_b;
  assert_int_equal(a->kind, b->kind);
  for (int32_t s = 0; bisai_precond_stage(a, s, &kind_a); s++) {
    assert_true(bisai_precond_stage(b, s, &kind_b));
    assert_int_equal(kind_a, kind_b);
  }
  for (int i = 0; (option = bisai_precond_kind_option(a->kind, i)); i++)
    if (!is_stage(a->kind, option) && bisai_option_get(option, a) != bisai_option_get(option, b))
      fail_msg("%s: %s is %.17g, not %.17g", text, option->field, bisai_option_get(option, b),
               bisai_option_get(option, a));
}

static void options_of_every_kind_go_through_texts(void **state) {
  (void)state;
  test_random r = test_random_seed(7);
  for (int kind = 0; kind < BISAI_PRECOND_KINDS; kind++) {
    if (bisai_precond_kind_needs_code((bisai_precond_kind)kind)) continue;
    for (int i = 0; i < TRIES; i++) {
      const bisai_precond_options o = random_options((bisai_precond_kind)kind, &r);
      bisai_precond_options back = bisai_precond_options_default();
      bisai_text_fault fault;
      char text[BISAI_TEXT_SIZE];
      assert_in_range(bisai_precond_options_text(&o, NULL, sizeof text, text), 1, sizeof text - 1);
      if (bisai_precond_options_parse(text, &back, NULL, &fault))
        fail_msg("%s: %s", text, fault.message);
      expect_same_options(text, &o, &back);
      expect_text(text, &back);
    }
  }
}

/* Without any of its keys the text gives other options. */
static void expect_shortest(const char *text, const bisai_precond_options *o) {
  char shorter[BISAI_TEXT_SIZE], again[BISAI_TEXT_SIZE];
  for (const char *colon = strchr(text, ':'); colon; colon = strchr(colon + 1, ':')) {
    bisai_precond_options other = bisai_precond_options_default();
    snprintf(shorter, sizeof shorter, "%.*s%s", (int)(colon - text), text,
             colon + 1 + strcspn(colon + 1, ":"));
    if (bisai_precond_options_parse(shorter, &other, NULL, NULL)) continue;
    bisai_precond_options_text(&other, NULL, sizeof again, again);
    if (strcmp(text, again) == 0 || memcmp(o, &other, sizeof other) == 0)
      fail_msg("%s: %s is enough", text, shorter);
  }
}

static void texts_have_no_key_too_many(void **state) {
  (void)state;
  test_random r = test_random_seed(8);
  for (int kind = 0; kind < BISAI_PRECOND_KINDS; kind++) {
    if (bisai_precond_kind_needs_code((bisai_precond_kind)kind)) continue;
    for (int i = 0; i < TRIES / 10; i++) {
      const bisai_precond_options o = random_options((bisai_precond_kind)kind, &r);
      char text[BISAI_TEXT_SIZE];
      bisai_precond_options_text(&o, NULL, sizeof text, text);
      expect_shortest(text, &o);
    }
  }
}

static void options_of_every_solver_go_through_texts(void **state) {
  (void)state;
  test_random r = test_random_seed(9);
  for (int method = 0; method < BISAI_METHODS; method++) {
    for (int i = 0; i < TRIES; i++) {
      bisai_solver_options o = bisai_solver_options_default(), back = o;
      const bisai_option *option;
      char text[256], again[256];
      o.method = (bisai_method)method;
      for (int k = 0; (option = bisai_method_option(o.method, k)); k++) {
        assert_non_null(option->key); /* each option has a text */
        bisai_option_set(option, random_value(option, &r), &o);
      }
      assert_in_range(bisai_solver_options_text(&o, sizeof text, text), 1, sizeof text - 1);
      assert_int_equal(BISAI_OK, bisai_solver_options_parse(text, &back, NULL));
      for (int k = 0; (option = bisai_method_option(o.method, k)); k++)
        assert_true(bisai_option_get(option, &o) == bisai_option_get(option, &back));
      bisai_solver_options_text(&back, sizeof again, again);
      assert_string_equal(text, again);
    }
  }
}

static void texts_are_cut_at_every_size(void **state) {
  (void)state;
  char whole[128], cut[128];
  bisai_precond_options o = bisai_precond_options_default();
  o.kind = BISAI_PRECOND_SCHUR;
  o.schur.first = BISAI_SCHUR_STAGE_ILU;
  o.factor.level = 12;
  const size_t length = bisai_precond_options_text(&o, NULL, sizeof whole, whole);
  assert_int_equal(length, bisai_precond_options_text(&o, NULL, 0, NULL));
  for (size_t size = 1; size <= length + 1; size++) {
    memset(cut, 'x', sizeof cut);
    assert_int_equal(length, bisai_precond_options_text(&o, NULL, size, cut));
    assert_int_equal(size - 1, strlen(cut));
    assert_memory_equal(whole, cut, size - 1);
    assert_int_equal('x', cut[size]);
  }
}

/* --- keys of the caller --- */

typedef struct own_options {
  int32_t colour;
  char file[32];
  int given;
} own_options;

static const char *const colours[] = {"red", "blue", NULL, "RED", "BLUE", NULL};
static const bisai_option colour = {.field = "colour",
                                    .name = "colour",
                                    .key = "colour",
                                    .type = BISAI_OPTION_WORD,
                                    .use = BISAI_OPTION_SHOWN,
                                    .offset = offsetof(own_options, colour),
                                    .maximum = 1,
                                    .advised = 1,
                                    .words = colours};

static const bisai_option *own_option(void *user, const bisai_precond_options *o, int index) {
  (void)user;
  return index == 0 && o->kind != BISAI_PRECOND_ILU ? &colour : NULL;
}
static bool take_file(void *user, const bisai_option *option, const char *name) {
  (void)option;
  own_options *own = user;
  if (strlen(name) >= sizeof own->file) return false;
  snprintf(own->file, sizeof own->file, "%s", name);
  return true;
}
static const char *file_of(void *user, const bisai_option *option) {
  (void)option;
  const own_options *own = user;
  return *own->file ? own->file : NULL;
}
static void count_key(void *user, const bisai_option *option) {
  (void)option;
  own_options *own = user;
  own->given++;
}

static void expect_again(const char *text, const char *expected) {
  own_options own = {0};
  char again[128];
  const bisai_text_keys keys = {sizeof keys, "paint",   own_option, take_file,
                                file_of,     count_key, &own,       true};
  bisai_precond_options o = bisai_precond_options_default();
  bisai_text_fault fault;
  if (bisai_precond_options_parse(text, &o, &keys, &fault)) {
    assert_string_equal(expected, fault.message);
    return;
  }
  bisai_precond_options_text(&o, &keys, sizeof again, again);
  assert_string_equal(expected, again);
  int colons = 0;
  for (const char *c = text; *c; c++) colons += *c == ':';
  assert_int_equal(colons, own.given);
}

static void callers_add_words_keys_and_files(void **state) {
  (void)state;
  expect_again("paint", "paint:colour=red");
  expect_again("paint:colour=blue", "paint:colour=blue");
  expect_again("mg:colour=blue:null=modes.mtx", "mg:null=modes.mtx:colour=blue");
  expect_again("mg:null=components", "mg:colour=red");
  expect_again("isai", "isai:k=1:colour=red");
  expect_again("ilu:level=1", "ilu:level=1");
  expect_again("ilu:colour=red", "'colour' is not a key of ilu (level, pivots, updates, shift, "
                                 "ordering, matching, equilibrate)");
  expect_again("paint:colour=grey", "colour must be red or blue");
  expect_again("paint:level=2", "'level' is not a key of paint (colour)");
  expect_again("mg:null=", "null must be components or a file");
  expect_again(
      "mg:null=a:b",
      "'b' is not a key of mg (cycle, smoother, pre, post, damping, degree, ratio, nodes, "
      "strength, levels, coarsest, complexity, unweighted, keep, update, precision, k, relax, n, "
      "level, null, shift, colour); the name of a file cannot have a colon");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(defaults_are_left_out),
      cmocka_unit_test(stages_come_with_their_options),
      cmocka_unit_test(stages_with_options_are_written_by_their_kinds),
      cmocka_unit_test(what_no_text_can_give_is_left_out),
      cmocka_unit_test(there_is_no_text_of_unknown_words_and_of_code),
      cmocka_unit_test(options_of_every_kind_go_through_texts),
      cmocka_unit_test(texts_have_no_key_too_many),
      cmocka_unit_test(options_of_every_solver_go_through_texts),
      cmocka_unit_test(texts_are_cut_at_every_size),
      cmocka_unit_test(callers_add_words_keys_and_files)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
