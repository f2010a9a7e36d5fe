/* SPDX-License-Identifier: BSD-3-Clause */
/* The program's keys of a method are the options that the library's kind takes. */
#include "support/program.h"
#include "support/support.h"

/* as bisai_precond_kind */
static const char *const kinds[] = {"none", "bjacobi", "ilu", "isai", "sweeps"};

static const struct {
  const char *key, *option;
} keys[] = {{"k", "power"},          {"relax", "relax"},          {"symmetric", "symmetric"},
            {"n", "sweeps"},         {"storage", "storage"},      {"drop", "drop_tolerance"},
            {"cap", "column_limit"}, {"level", "level"},          {"shift", "shift"},
            {"factors", "factors"},  {"max", "max_block"},        {"form", "form"},
            {"digits", "digits"},    {"extraction", "extraction"}};

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
  for (int kind = BISAI_PRECOND_NONE; kind <= BISAI_PRECOND_SWEEPS; kind++)
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
      const bool library = bisai_precond_kind_takes((bisai_precond_kind)kind, keys[i].option);
      if (library != program_takes(kinds[kind], keys[i].key))
        fail_msg("%s: the library %s %s, the program does otherwise with %s", kinds[kind],
                 library ? "takes" : "refuses", keys[i].option, keys[i].key);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(keys_of_methods_are_options_of_kinds)};
  return cmocka_run_group_tests(tests, program_setup, program_teardown);
}
