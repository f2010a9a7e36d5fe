/* SPDX-License-Identifier: BSD-3-Clause */
/* The words of enumerations: bisai_NAME_string() and bisai_NAME_parse(). */
#include "support.h"

#include <bisai/io.h>
#include <bisai/krylov.h>

/* Every word of the list names its enumerator, which stands at its place in the list. */
#define EXPECT_PLACE(...) EXPECT_PLACE_OF(__VA_ARGS__, 0)
#define EXPECT_PLACE_OF(enumerator, word, ...)                                                     \
  assert_int_equal(enumerator, place++);                                                           \
  assert_string_equal(string_of(enumerator), word);

#define TEST_WORDS(name, list, unknown)                                                            \
  static void words_of_##name##_go_both_ways(void **state) {                                       \
    (void)state;                                                                                   \
    const char *(*string_of)(bisai_##name) = bisai_##name##_string;                                \
    int place = 0;                                                                                 \
    list(EXPECT_PLACE) for (int i = 0; i < place; i++) {                                           \
      bisai_##name value = (bisai_##name)(place - 1 - i);                                          \
      assert_true(bisai_##name##_parse(string_of((bisai_##name)i), &value));                       \
      assert_int_equal(value, i);                                                                  \
    }                                                                                              \
    bisai_##name untouched = (bisai_##name)(place - 1);                                            \
    assert_string_equal(string_of((bisai_##name)place), unknown);                                  \
    assert_string_equal(string_of((bisai_##name) - 1), unknown);                                   \
    assert_false(bisai_##name##_parse(unknown, &untouched));                                       \
    assert_false(bisai_##name##_parse("", &untouched));                                            \
    assert_false(bisai_##name##_parse(NULL, &untouched));                                          \
    assert_false(bisai_##name##_parse(string_of((bisai_##name)0), NULL));                          \
    assert_int_equal(untouched, place - 1);                                                        \
  }

TEST_WORDS(backend, BISAI_BACKEND_LIST, "unknown backend")
TEST_WORDS(value_type, BISAI_VALUE_TYPE_LIST, "unknown value type")
TEST_WORDS(schedule, BISAI_SCHEDULE_LIST, "unknown schedule")
TEST_WORDS(ordering, BISAI_ORDERING_LIST, "unknown ordering")
TEST_WORDS(format, BISAI_FORMAT_LIST, "unknown format")
TEST_WORDS(precond_kind, BISAI_PRECOND_KIND_LIST, "unknown kind")
TEST_WORDS(form, BISAI_FORM_LIST, "unknown form")
TEST_WORDS(formats, BISAI_FORMATS_LIST, "unknown formats")
TEST_WORDS(blocks, BISAI_BLOCKS_LIST, "unknown blocks")
TEST_WORDS(inverse_of, BISAI_INVERSE_OF_LIST, "unknown inverse")
TEST_WORDS(extraction, BISAI_EXTRACTION_LIST, "unknown extraction")
TEST_WORDS(symmetry, BISAI_SYMMETRY_LIST, "unknown symmetry")
TEST_WORDS(cycle, BISAI_CYCLE_LIST, "unknown cycle")
TEST_WORDS(smoother, BISAI_SMOOTHER_LIST, "unknown smoother")
TEST_WORDS(aggregation_unit, BISAI_AGGREGATION_UNIT_LIST, "unknown nodes")
TEST_WORDS(coarsening_end, BISAI_COARSENING_END_LIST, "unknown limit")
TEST_WORDS(cpr_second_stage, BISAI_CPR_SECOND_STAGE_LIST, "unknown second stage")
TEST_WORDS(weights, BISAI_WEIGHTS_LIST, "unknown weights")
TEST_WORDS(method, BISAI_METHOD_LIST, "unknown method")
TEST_WORDS(side, BISAI_SIDE_LIST, "unknown side")
TEST_WORDS(orthogonalization, BISAI_ORTHOGONALIZATION_LIST, "unknown orthogonalization")
TEST_WORDS(reason, BISAI_REASON_LIST, "unknown reason")

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(words_of_backend_go_both_ways),
      cmocka_unit_test(words_of_value_type_go_both_ways),
      cmocka_unit_test(words_of_schedule_go_both_ways),
      cmocka_unit_test(words_of_ordering_go_both_ways),
      cmocka_unit_test(words_of_format_go_both_ways),
      cmocka_unit_test(words_of_precond_kind_go_both_ways),
      cmocka_unit_test(words_of_form_go_both_ways),
      cmocka_unit_test(words_of_formats_go_both_ways),
      cmocka_unit_test(words_of_blocks_go_both_ways),
      cmocka_unit_test(words_of_inverse_of_go_both_ways),
      cmocka_unit_test(words_of_extraction_go_both_ways),
      cmocka_unit_test(words_of_symmetry_go_both_ways),
      cmocka_unit_test(words_of_cycle_go_both_ways),
      cmocka_unit_test(words_of_smoother_go_both_ways),
      cmocka_unit_test(words_of_aggregation_unit_go_both_ways),
      cmocka_unit_test(words_of_coarsening_end_go_both_ways),
      cmocka_unit_test(words_of_cpr_second_stage_go_both_ways),
      cmocka_unit_test(words_of_weights_go_both_ways),
      cmocka_unit_test(words_of_method_go_both_ways),
      cmocka_unit_test(words_of_side_go_both_ways),
      cmocka_unit_test(words_of_orthogonalization_go_both_ways),
      cmocka_unit_test(words_of_reason_go_both_ways),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
