/* SPDX-License-Identifier: BSD-3-Clause */
/* Texts as options: what they set, what is refused and where. */
#include <bisai/text.h>

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/support.h"

static bisai_precond_options read_precond(const char *text) {
  bisai_precond_options o = bisai_precond_options_default();
  bisai_text_fault fault = {0};
  if (bisai_precond_options_parse(text, &o, NULL, &fault)) fail_msg("%s: %s", text, fault.message);
  return o;
}

static void keys_set_their_fields(void **state) {
  (void)state;
  bisai_precond_options o = read_precond("isai:k=2:symmetric:drop=1.5e-3:storage=fp32:shift=0.25");
  assert_int_equal(BISAI_PRECOND_ISAI, o.kind);
  assert_int_equal(2, o.isai.power);
  assert_true(o.isai.symmetric);
  assert_true(o.isai.drop_tolerance == 1.5e-3);
  assert_int_equal(BISAI_FP32, o.isai.storage);
  assert_int_equal(BISAI_SHIFT_IN_BLOCKS, o.shift);
  assert_true(o.shift_amount == 0.25);
  o = read_precond("mg:cycle=w:coarsest=auto");
  assert_int_equal(BISAI_PRECOND_MULTIGRID, o.kind);
  assert_int_equal(BISAI_CYCLE_W, o.multigrid.cycle);
  o = read_precond("cpr:pressure=1:first=mg:cycle=w:second=ilu:level=2");
  assert_int_equal(1, o.cpr.pressure);
  assert_int_equal(BISAI_CYCLE_W, o.multigrid.cycle);
  assert_int_equal(BISAI_CPR_SECOND_STAGE_ILU, o.cpr.second);
  assert_int_equal(2, o.factor.level);
  o = read_precond("schur:complement=lsc:second=lu:fill=7");
  assert_int_equal(BISAI_SCHUR_COMPLEMENT_LSC, o.schur.complement);
  assert_int_equal(BISAI_SCHUR_STAGE_AUTO, o.schur.first);
  assert_int_equal(BISAI_SCHUR_STAGE_LU, o.schur.second);
  assert_true(o.lu.fill == 7);
}

static void what_a_text_does_not_have_gets_its_default(void **state) {
  (void)state;
  const double vectors[2] = {1, 1};
  bisai_precond_options o = bisai_precond_options_default();
  o.kind = BISAI_PRECOND_ILU;
  o.multigrid.cycle = BISAI_CYCLE_K;
  o.multigrid.null_vectors = vectors;
  assert_int_equal(BISAI_OK, bisai_precond_options_parse("mg", &o, NULL, NULL));
  assert_int_equal(BISAI_PRECOND_MULTIGRID, o.kind);
  assert_int_equal(bisai_precond_options_default().multigrid.cycle, o.multigrid.cycle);
  assert_null(o.multigrid.null_vectors);
  bisai_solver_options s = bisai_solver_options_default();
  s.tolerance = 1e-3;
  s.max_iterations = 7;
  s.gmres.restart = 99;
  s.cg.flexible = true;
  assert_int_equal(BISAI_OK, bisai_solver_options_parse("idr:s=8", &s, NULL));
  assert_int_equal(BISAI_IDR, s.method);
  assert_int_equal(8, s.idr.shadow_dimension);
  assert_int_equal(30, s.gmres.restart);
  assert_false(s.cg.flexible);
  assert_true(s.tolerance == 1e-3);
  assert_int_equal(7, s.max_iterations);
}

/* A text, the part that is wrong (NULL: something is missing at the end), and the message. */
static const struct fault {
  const char *text, *part, *message;
} faults[] = {
    {"", NULL, "a method is empty"},
    {"ilut:level=1", "ilut",
     "'ilut' is not a method (none, bjacobi, ilu, isai, sweeps, mg, cpr, lu, direct, auto, schur)"},
    {"callback", "callback",
     "'callback' is not a method (none, bjacobi, ilu, isai, sweeps, mg, cpr, lu, direct, auto, "
     "schur)"},
    {"ilu=2", "ilu=2",
     "'ilu=2' is not a method (none, bjacobi, ilu, isai, sweeps, mg, cpr, lu, direct, auto, "
     "schur)"},
    {"sweeps", NULL, "sweeps needs its number, as in sweeps:n=3"},
    {"isai:k=2:k=3", "k=3", "'k' is given twice"},
    {"mg:cycle=x:k=1", "cycle=x", "cycle must be auto, v, w, k or vw"},
    {"mg:cycle", "cycle", "'cycle' needs a value"},
    {"ilu:equilibrate=1", "equilibrate=1", "'equilibrate' takes no value"},
    {"ilu:level=1:level2=3", "level2=3",
     "'level2' is not a key of ilu (level, pivots, updates, shift, ordering, matching, "
     "equilibrate)"},
    {"ilu:level=1e3", "level=1e3", "level must be an integer from 0 to 2147483647"},
    {"ilu:shift=0,5", "shift=0,5", "shift must be a number from 0 to 1000000"},
    {"ilu:shift=nan", "shift=nan", "shift must be a number from 0 to 1000000"},
    {"ilu:ordering=given", "ordering=given", "ordering must be natural, rcm, nd, colour or md"},
    {"none:level=1", "level=1", "none takes no keys"},
    {"mg:null=modes.mtx", "null=modes.mtx", "null must be components"},
    {"cpr:second=ilu:pressure=1", "pressure=1",
     "'pressure' is not a key of second=ilu (level, pivots, updates, shift, ordering, matching, "
     "equilibrate, first, second); keys of cpr come before first= and second="},
    {"cpr:first=ilu", "first=ilu", "first must be mg"},
    {"cpr:first=mg:first=mg", "first=mg", "'first' is given twice"},
    {"schur:first=mg:second=sweeps", NULL,
     "second=sweeps needs its number, as in second=sweeps:n=3"},
    {"schur:first=none", "first=none",
     "first must be auto, mg, ilu, isai, sweeps, bjacobi, lu or direct"}};

static const struct fault solver_faults[] = {
    {"", NULL, "a solver is empty"},
    {"minres", "minres", "'minres' is not a solver (gmres, cg, bicgstab, idr)"},
    {"bicgstab:s=1", "s=1", "bicgstab takes no keys"},
    {"idr:s=33", "s=33", "s must be an integer from 1 to 32"},
    {"gmres:restart=5:flexible=1", "flexible=1", "'flexible' takes no value"},
    {"gmres:m=5", "m=5",
     "'m' is not a key of gmres (restart, side, flexible, orthogonalization, "
     "fp64)"},
    {"gmres:side=above", "side=above", "side must be right or left"}};

/* The last place of the part, because the first one of two is right. */
static void expect_fault(const struct fault *f, const bisai_text_fault *got) {
  int place = (int)strlen(f->text);
  while (f->part && strncmp(f->text + place, f->part, strlen(f->part)) != 0) place--;
  assert_string_equal(f->message, got->message);
  assert_int_equal(place, got->place);
  assert_int_equal(f->part ? strlen(f->part) : 0, got->length);
}

static void faults_are_named_with_their_places(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
    const bisai_precond_options before = bisai_precond_options_default();
    bisai_precond_options o = before;
    bisai_text_fault fault = {.place = -7};
    assert_int_equal(BISAI_INVALID_ARGUMENT,
                     bisai_precond_options_parse(faults[i].text, &o, NULL, &fault));
    expect_fault(&faults[i], &fault);
    assert_memory_equal(&before, &o, sizeof o);
    assert_int_equal(BISAI_INVALID_ARGUMENT,
                     bisai_precond_options_parse(faults[i].text, &o, NULL, NULL));
  }
  for (size_t i = 0; i < sizeof solver_faults / sizeof *solver_faults; i++) {
    const bisai_solver_options before = bisai_solver_options_default();
    bisai_solver_options s = before;
    bisai_text_fault fault = {.place = -7};
    assert_int_equal(BISAI_INVALID_ARGUMENT,
                     bisai_solver_options_parse(solver_faults[i].text, &s, &fault));
    expect_fault(&solver_faults[i], &fault);
    assert_memory_equal(&before, &s, sizeof s);
  }
}

static void texts_that_are_too_long_are_refused(void **state) {
  (void)state;
  static char text[BISAI_TEXT_SIZE + 2];
  bisai_precond_options o = bisai_precond_options_default();
  bisai_text_fault fault;
  memset(text, 'x', BISAI_TEXT_SIZE);
  assert_int_equal(BISAI_INVALID_ARGUMENT, bisai_precond_options_parse(text, &o, NULL, &fault));
  assert_string_equal("method of more than 2047 characters", fault.message);
  memset(text, '0', BISAI_TEXT_SIZE);
  memcpy(text, "ilu:level=", 10);
  text[BISAI_TEXT_SIZE - 1] = '\0';
  assert_int_equal(BISAI_INVALID_ARGUMENT, bisai_precond_options_parse(text, &o, NULL, &fault));
  assert_int_equal(4, fault.place);
}

static void structs_of_another_size_are_refused(void **state) {
  (void)state;
  bisai_precond_options o = bisai_precond_options_default();
  bisai_solver_options s = bisai_solver_options_default();
  bisai_text_keys keys = {.struct_size = sizeof keys - 1};
  char text[8] = "x";
  assert_int_equal(BISAI_INVALID_ARGUMENT, bisai_precond_options_parse("ilu", &o, &keys, NULL));
  assert_int_equal(0, bisai_precond_options_text(&o, &keys, sizeof text, text));
  assert_int_equal(BISAI_INVALID_ARGUMENT, bisai_precond_options_parse(NULL, &o, NULL, NULL));
  assert_int_equal(BISAI_INVALID_ARGUMENT, bisai_precond_options_parse("ilu", NULL, NULL, NULL));
  o.struct_size--;
  s.struct_size++;
  assert_int_equal(BISAI_INVALID_ARGUMENT, bisai_precond_options_parse("ilu", &o, NULL, NULL));
  assert_int_equal(BISAI_INVALID_ARGUMENT, bisai_solver_options_parse("cg", &s, NULL));
  assert_int_equal(BISAI_INVALID_ARGUMENT, bisai_solver_options_parse(NULL, &s, NULL));
  assert_int_equal(0, bisai_precond_options_text(&o, NULL, sizeof text, text));
  assert_int_equal(0, bisai_solver_options_text(&s, sizeof text, text));
  assert_string_equal("", text);
}

static void objects_are_made_from_texts(void **state) {
  (void)state;
  bisai_context *context = test_context(1);
  bisai_bcsr *a = test_bcsr_take(context, test_bcsr_grid(6, 6, 2, 1));
  bisai_precond *m = NULL;
  bisai_solver *s = NULL;
  bisai_precond_report report = {.struct_size = sizeof report};
  EXPECT_OK(context, bisai_precond_create_text(context, a, "isai:k=2", &m));
  EXPECT_OK(context, bisai_precond_get_report(m, &report));
  assert_int_equal(BISAI_PRECOND_ISAI, report.kind);
  bisai_precond_destroy(&m);
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT,
                bisai_precond_create_text(context, a, "mg:null=\xC3\xB6:cycle=x", &m));
  EXPECT_MESSAGE(context, "'mg:null=\xC3\xB6:cycle=x', character 4: null must be components");
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT,
                bisai_precond_create_text(context, a, "cpr:weights=quasi-impes:x=\xC3\xB6:y", &m));
  EXPECT_IN_MESSAGE(context, "character 25: 'x' is not a key of cpr");
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_precond_create_text(context, a, NULL, &m));
  assert_null(m);
  EXPECT_OK(context, bisai_solver_create_text(context, 72, "gmres:restart=5", &s));
  bisai_solver_destroy(&s);
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT,
                bisai_solver_create_text(context, 72, "gmres:restart=0", &s));
  EXPECT_MESSAGE(context, "'gmres:restart=0', character 7: restart must be an integer from 1 to "
                          "2147483647");
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_solver_create_text(context, 72, NULL, &s));
  assert_null(s);
  bisai_bcsr_destroy(&a);
  bisai_context_destroy(&context);
}

static void failing_allocations_publish_nothing(void **state) {
  (void)state;
  test_allocator allocator;
  test_allocator_reset(&allocator, 0);
  bisai_context *context = test_context_on(&allocator, 1);
  bisai_bcsr *a = test_bcsr_take(context, test_bcsr_grid(6, 6, 2, 1));
  bisai_precond *m = NULL;
  bisai_solver *s = NULL;
  const long long blocks = atomic_load(&allocator.live_blocks);
  bisai_status status = BISAI_OUT_OF_MEMORY;
  int nth = 0;
  for (; status; nth++) {
    allocator.fail_at = atomic_load(&allocator.calls) + nth + 1;
    status = bisai_precond_create_text(context, a, "ilu:level=1", &m);
    if (!status) status = bisai_solver_create_text(context, 72, "gmres:restart=5", &s);
    EXPECT_STATUS(context, s ? BISAI_OK : BISAI_OUT_OF_MEMORY, status);
    bisai_precond_destroy(&m);
    if (!s) assert_int_equal(blocks, atomic_load(&allocator.live_blocks));
  }
  assert_true(nth > 2);
  allocator.fail_at = 0;
  bisai_solver_destroy(&s);
  bisai_bcsr_destroy(&a);
  bisai_context_destroy(&context);
  assert_int_equal(0, atomic_load(&allocator.live_blocks));
}

static void numbers_have_a_point_in_every_locale(void **state) {
  (void)state;
  static const char *const with_comma[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "de_DE"};
  char text[64];
  size_t i = 0;
  while (i < 4 && !setlocale(LC_NUMERIC, with_comma[i])) i++;
  if (i == 4) print_message("no locale with a comma: only the point of C is tested\n");
  bisai_precond_options o = read_precond("ilu:shift=0.125");
  assert_true(o.shift_amount == 0.125);
  bisai_precond_options_text(&o, NULL, sizeof text, text);
  assert_string_equal("ilu:shift=0.125", text);
  assert_int_equal(BISAI_INVALID_ARGUMENT,
                   bisai_precond_options_parse("ilu:shift=0,125", &o, NULL, NULL));
  setlocale(LC_NUMERIC, "C");
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(keys_set_their_fields),
                                     cmocka_unit_test(what_a_text_does_not_have_gets_its_default),
                                     cmocka_unit_test(faults_are_named_with_their_places),
                                     cmocka_unit_test(texts_that_are_too_long_are_refused),
                                     cmocka_unit_test(structs_of_another_size_are_refused),
                                     cmocka_unit_test(objects_are_made_from_texts),
                                     cmocka_unit_test(failing_allocations_publish_nothing),
                                     cmocka_unit_test(numbers_have_a_point_in_every_locale)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
