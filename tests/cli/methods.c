/* SPDX-License-Identifier: BSD-3-Clause */
/* The program's keys of a method are the options that the library's kind takes. */
#include "support/program.h"
#include "support/support.h"

/* Keys, and the fields that they set: of most kinds, of bjacobi, of mg. */
static const struct {
  const char *key, *option, *of_blocks, *of_levels;
} keys[] = {{"k", "isai.power", "", "multigrid.power"},
            {"relax", "isai.relax", "", "multigrid.relax"},
            {"symmetric", "isai.symmetric", "", ""},
            {"n", "sweeps.count", "", "multigrid.sweeps"},
            {"storage", "isai.storage", "bjacobi.storage", ""},
            {"drop", "isai.drop_tolerance", "", ""},
            {"cap", "isai.column_limit", "", ""},
            {"level", "factor.level", "", "multigrid.level"},
            {"shift", "shift", "", ""},
            {"factors", "factor.factors", "", ""},
            {"max", "", "bjacobi.max_block", ""},
            {"form", "", "bjacobi.form", ""},
            {"digits", "", "bjacobi.digits", ""},
            {"extraction", "", "bjacobi.extraction", ""},
            {"cycle", "", "", "multigrid.cycle"},
            {"smoother", "", "", "multigrid.smoother"},
            {"pre", "", "", "multigrid.pre"},
            {"post", "", "", "multigrid.post"},
            {"damping", "", "", "multigrid.damping"},
            {"degree", "", "", "multigrid.degree"},
            {"ratio", "", "", "multigrid.ratio"},
            {"nodes", "", "", "multigrid.nodes"},
            {"strength", "", "", "multigrid.strength"},
            {"levels", "", "", "multigrid.levels"},
            {"coarsest", "", "", "multigrid.coarsest"},
            {"complexity", "", "", "multigrid.complexity"},
            {"keep", "", "", "multigrid.keep_transfers"}};

/* Whether the program knows a key of a method: it then finds fault with the value, or with there
 * being one. */
static bool program_takes(const char *method, const char *key) {
  char line[128];
  snprintf(line, sizeof line, "compare --case cavity --size 4 --methods %s:%s=?", method, key);
  program p = run(line);
  assert_int_equal(p.status, 2);
  const bool knows = strstr(p.err, " must be ") != NULL || strstr(p.err, " takes no value") != NULL;
  if (!knows && !strstr(p.err, "is not a key of") && !strstr(p.err, "takes no keys"))
    fail_msg("%s\n%s", line, p.err);
  program_free(&p);
  return knows;
}

static void keys_of_methods_are_options_of_kinds(void **state) {
  (void)state;
  for (int kind = 0; kind < BISAI_PRECOND_KINDS; kind++) {
    if (bisai_precond_kind_needs_code((bisai_precond_kind)kind)) continue;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
      const bisai_precond_kind which = (bisai_precond_kind)kind;
      const bool library = bisai_precond_kind_takes(which, keys[i].option) ||
                           bisai_precond_kind_takes(which, keys[i].of_blocks) ||
                           bisai_precond_kind_takes(which, keys[i].of_levels);
      const char *name = bisai_precond_kind_string(which);
      if (library != program_takes(name, keys[i].key))
        fail_msg("%s: the library %s %s, the program does otherwise", name,
                 library ? "takes" : "refuses", keys[i].key);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(keys_of_methods_are_options_of_kinds)};
  return cmocka_run_group_tests(tests, program_setup, program_teardown);
}
