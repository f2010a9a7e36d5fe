/* Without a device, what needs cuSPARSE says so and the other methods go on. */
#include "support.h"

#include "program.h"

static void cusparse_is_unavailable_on_the_host(void **state) {
  (void)state;
  static const char *const methods[] = {"cusparse-ilu", "ilu:factors=cusparse", "isai:k=1:factors=cusparse",
                                        "isai:k=2:pattern=cusparse", "isai:k=1:apply=cusparse"};
  program p = program_run(program_path(),
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

#ifdef BISAI_HAVE_CUSPARSE

static void what_cusparse_cannot_do_is_said(void **state) {
  (void)state;
  static const struct {
    const char *options, *message;
  } refused[] = {
      {"--ordering rcm --methods cusparse-ilu", "cusparse-ilu: factors and patterns of cuSPARSE are those of the "
                                                "matrix as it is: no --ordering, no --equilibrate\n"},
      {"--methods ilu:level=1:factors=cusparse",
       "ilu:level=1:factors=cusparse: bsrilu02 is ILU(0): factors=cusparse takes no level and no shift\n"},
      {"--methods isai:cap=3:pattern=cusparse",
       "isai:k=1:cap=3:pattern=cusparse: pattern=cusparse takes no factors=petsc, no drop and no cap\n"},
      {"--methods isai:relax=1:apply=cusparse",
       "isai:k=1:relax=1:apply=cusparse: apply=cusparse takes no relax and stores fp64\n"},
  };
  for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
    char line[256];
    snprintf(line, sizeof line, "compare --backend host --case cavity --size 12 %s", refused[i].options);
    program p = program_run(program_path(), line);
    assert_int_equal(p.status, 0);
    program_expect_in("the table", p.out, "unavailable");
    program_expect_in("below the table", p.out, refused[i].message);
    program_free(&p);
  }
}

#endif

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(cusparse_is_unavailable_on_the_host),
#ifdef BISAI_HAVE_CUSPARSE
      cmocka_unit_test(what_cusparse_cannot_do_is_said),
#endif
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
