/* SPDX-License-Identifier: BSD-3-Clause */
/* Candidates as METHOD and --solver. */
#include "choice/text.h"

#include "support/support.h"

static void stages_come_with_their_options(void **state) {
  (void)state;
  char text[128];
  bisai_precond_options o = bisai_precond_options_default();
  o.kind = BISAI_PRECOND_SCHUR;
  bsi_method_text(&o, sizeof text, text);
  assert_string_equal("schur", text);
  o.schur.complement = BISAI_SCHUR_COMPLEMENT_SIMPLE;
  o.schur.first = BISAI_SCHUR_STAGE_ILU;
  o.factor.level = 1;
  bsi_method_text(&o, sizeof text, text);
  assert_string_equal("schur:complement=simple:first=ilu:level=1", text);
  o.schur.second = BISAI_SCHUR_STAGE_BJACOBI;
  bsi_method_text(&o, sizeof text, text);
  assert_string_equal("schur:complement=simple:first=ilu:level=1:second=bjacobi", text);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(stages_come_with_their_options)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
