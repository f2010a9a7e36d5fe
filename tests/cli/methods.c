/* SPDX-License-Identifier: BSD-3-Clause */
/* The program's keys of a method are the options that the library's kind takes. */
#include "support/program.h"
#include "support/support.h"

/* Keys, and the fields that they set: of most kinds, of bjacobi, of mg, of cpr, of lu, of
 * auto, of schur. */
static const struct {
  const char *key, *option, *of_blocks, *of_levels, *of_pressure, *of_lu, *of_auto, *of_saddle;
} keys[] = {{"of", "isai.of", "", "", "", "", "", ""},
            {"k", "isai.power", "", "multigrid.power", "", "", "", ""},
            {"relax", "isai.relax", "bjacobi.relax", "multigrid.relax", "", "", "", ""},
            {"symmetric", "isai.symmetric", "", "", "", "", "automatic.symmetric", ""},
            {"inverse", "", "", "", "", "", "automatic.inverse", ""},
            {"incomplete", "", "", "", "", "", "automatic.incomplete", ""},
            {"work", "", "", "", "", "", "automatic.work", ""},
            {"seconds", "", "", "", "", "", "automatic.seconds", ""},
            {"n", "sweeps.count", "", "multigrid.sweeps", "", "", "", ""},
            {"storage", "isai.storage", "bjacobi.storage", "", "cpr.storage", "lu.storage", "", ""},
            {"drop", "isai.drop_tolerance", "", "", "", "", "", ""},
            {"cap", "isai.column_limit", "", "", "", "", "", ""},
            {"level", "factor.level", "", "multigrid.level", "", "", "", ""},
            {"shift", "shift", "", "", "", "", "", ""},
            {"factors", "factor.factors", "", "", "", "", "", ""},
            {"max", "", "bjacobi.max_block", "", "", "", "", ""},
            {"blocks", "", "bjacobi.blocks", "", "", "", "", ""},
            {"form", "", "bjacobi.form", "", "", "", "", "schur.form"},
            {"digits", "", "bjacobi.digits", "", "", "", "", ""},
            {"formats", "", "bjacobi.formats", "", "", "", "", ""},
            {"extraction", "", "bjacobi.extraction", "", "", "", "", ""},
            {"cycle", "", "", "multigrid.cycle", "", "", "", ""},
            {"smoother", "", "", "multigrid.smoother", "", "", "", ""},
            {"pre", "", "", "multigrid.pre", "", "", "", ""},
            {"post", "", "", "multigrid.post", "", "", "", ""},
            {"damping", "", "bjacobi.damping", "multigrid.damping", "", "", "", ""},
            {"degree", "", "", "multigrid.degree", "", "", "", ""},
            {"ratio", "", "", "multigrid.ratio", "", "", "", ""},
            {"nodes", "", "", "multigrid.nodes", "", "", "", ""},
            {"strength", "", "", "multigrid.strength", "", "", "", ""},
            {"levels", "", "", "multigrid.levels", "", "", "", ""},
            {"coarsest", "", "", "multigrid.coarsest", "", "", "", ""},
            {"complexity", "", "", "multigrid.complexity", "", "", "", ""},
            {"unweighted", "", "", "multigrid.unweighted", "", "", "", ""},
            {"keep", "", "", "multigrid.keep_transfers", "cpr.keep_pressure", "", "", ""},
            {"update", "", "", "multigrid.update", "", "", "", ""},
            {"precision", "", "", "multigrid.precision", "", "", "", ""},
            {"pressure", "", "", "", "cpr.pressure", "", "", ""},
            {"additive", "", "", "", "cpr.additive", "", "", ""},
            {"fill", "", "", "", "", "lu.fill", "", ""},
            {"memory", "", "", "", "", "lu.memory", "automatic.memory", ""},
            {"weights", "", "", "", "cpr.weights", "", "", ""},
            {"component", "", "", "", "", "", "", "schur.component"},
            {"from", "", "", "", "", "", "", "schur.from"},
            {"to", "", "", "", "", "", "", "schur.to"},
            {"complement", "", "", "", "", "", "", "schur.complement"}};

/* Whether the program knows a key of a method: it then finds fault with the value, or with there
 * being one, or with the file. */
static bool program_takes(const char *method, const char *key) {
  char line[128];
  snprintf(line, sizeof line, "compare --case cavity --size 4 --methods %s:%s=?", method, key);
  program p = run(line);
  assert_int_equal(p.status, 2);
  const bool knows = strstr(p.err, " must be ") != NULL ||
                     strstr(p.err, " takes no value") != NULL ||
                     strstr(p.err, "cannot open ?") != NULL;
  if (!knows && !strstr(p.err, "is not a key of") && !strstr(p.err, "takes no keys"))
    fail_msg("%s\n%s", line, p.err);
  program_free(&p);
  return knows;
}

/* The library takes a key of a method of this kind. */
static bool library_takes(bisai_precond_kind kind, size_t i) {
  /* cpr and schur take the options of their stages too, in sections of METHOD */
  if (kind == BISAI_PRECOND_SCHUR) return bisai_precond_kind_takes(kind, keys[i].of_saddle);
  if (kind == BISAI_PRECOND_CPR) return bisai_precond_kind_takes(kind, keys[i].of_pressure);
  return bisai_precond_kind_takes(kind, keys[i].option) ||
         bisai_precond_kind_takes(kind, keys[i].of_blocks) ||
         bisai_precond_kind_takes(kind, keys[i].of_levels) ||
         bisai_precond_kind_takes(kind, keys[i].of_lu) ||
         bisai_precond_kind_takes(kind, keys[i].of_auto);
}

/* METHOD has the keys of a kind, but for `absent`. */
static void expect_keys(const char *method, bisai_precond_kind kind, const char *absent) {
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
    const bool library = library_takes(kind, i) && strcmp(keys[i].key, absent) != 0;
    if (library != program_takes(method, keys[i].key))
      fail_msg("%s: the library %s %s, the program does otherwise", method,
               library ? "takes" : "refuses", keys[i].key);
  }
}

static void keys_of_methods_are_options_of_kinds(void **state) {
  (void)state;
  for (int kind = 0; kind < BISAI_PRECOND_KINDS; kind++) {
    const bisai_precond_kind which = (bisai_precond_kind)kind;
    if (!bisai_precond_kind_needs_code(which))
      expect_keys(bisai_precond_kind_string(which), which, "");
  }
}

/* The second stage has factors of its own, and only the second stage repairs blocks. */
static void keys_of_stages_are_options_of_their_kinds(void **state) {
  (void)state;
  expect_keys("cpr:first=mg", BISAI_PRECOND_MULTIGRID, "shift");
  expect_keys("cpr:second=isai", BISAI_PRECOND_ISAI, "factors");
  expect_keys("cpr:second=ilu", BISAI_PRECOND_ILU, "factors");
  expect_keys("cpr:second=sweeps", BISAI_PRECOND_SWEEPS, "factors");
  expect_keys("cpr:second=bjacobi", BISAI_PRECOND_BJACOBI, "");
  expect_keys("schur:first=mg", BISAI_PRECOND_MULTIGRID, "");
  expect_keys("schur:first=lu", BISAI_PRECOND_LU, "");
  expect_keys("schur:second=ilu", BISAI_PRECOND_ILU, "factors");
  expect_keys("schur:first=sweeps:n=1:second=bjacobi", BISAI_PRECOND_BJACOBI, "shift");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(keys_of_methods_are_options_of_kinds),
      cmocka_unit_test(keys_of_stages_are_options_of_their_kinds),
  };
  return cmocka_run_group_tests(tests, program_setup, program_teardown);
}
