/* SPDX-License-Identifier: BSD-3-Clause */
/* Without a device, what needs cuSPARSE says so and the other methods go on. */
#include "support.h"

#include "program.h"

static void cusparse_is_unavailable_on_the_host(void **state) {
  (void)state;
  static const char *const methods[] = {"cusparse-ilu", "ilu:factors=cusparse",
                                        "isai:k=1:factors=cusparse", "isai:k=2:pattern=cusparse",
                                        "isai:k=1:apply=cusparse"};
  program p = run(
      "compare --backend host --case cavity --size 12 --methods cusparse-ilu,ilu:factors=cusparse,"
      "isai:factors=cusparse,isai:k=2:pattern=cusparse,isai:apply=cusparse,bjacobi");
  assert_int_equal(p.status, 0);
  for (size_t i = 0; i < sizeof methods / sizeof methods[0]; i++) {
    char line[160];
    snprintf(line, sizeof line, "%s: %s\n", methods[i],
#ifdef BISAI_HAVE_CUSPARSE
             "cuSPARSE needs --backend cuda"
#else
             "this build has no cuSPARSE"
#endif
    );
    program_expect_in("below the table", p.out, line);
  }
  program_expect_in("the table", p.out, "converged\n");
  program_free(&p);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(cusparse_is_unavailable_on_the_host),
  };
  return cmocka_run_group_tests(tests, program_setup, program_teardown);
}
