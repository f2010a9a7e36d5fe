/* SPDX-License-Identifier: BSD-3-Clause */
/* Status codes: pinned numbers, one text each. */
#include "support.h"

/* Numbers and texts are an interface: a change here breaks programs that were built before. */
static void status_numbers_and_texts_are_pinned(void **state) {
  (void)state;
  static const struct {
    bisai_status status;
    int number;
    const char *text;
  } pinned[] = {
      {BISAI_OK, 0, "success"},
      {BISAI_INVALID_ARGUMENT, 1, "invalid argument"},
      {BISAI_OUT_OF_MEMORY, 2, "out of memory"},
      {BISAI_INDEX_OVERFLOW, 3, "size exceeds the index type"},
      {BISAI_INVALID_STRUCTURE, 4, "invalid sparse structure"},
      {BISAI_NOT_FINITE, 5, "NaN or infinity"},
      {BISAI_MISSING_DIAGONAL, 6, "missing diagonal block"},
      {BISAI_SINGULAR_BLOCK, 7, "singular diagonal block"},
      {BISAI_OVERFLOW, 8, "value exceeds the range of its storage type"},
      {BISAI_NOT_READY, 9, "object not ready: its last update failed"},
      {BISAI_UNAVAILABLE, 10, "not available in this build or on this machine"},
      {BISAI_UNSUPPORTED, 11, "not supported"},
      {BISAI_IO_ERROR, 12, "input/output error"},
      {BISAI_PARSE_ERROR, 13, "malformed file"},
      {BISAI_MAX_ITERATIONS, 14, "iteration limit reached before convergence"},
      {BISAI_STAGNATED, 15, "solver stagnated"},
      {BISAI_BREAKDOWN, 16, "solver broke down"},
      {BISAI_STOPPED, 17, "stopped by the monitor"},
      {BISAI_CALLBACK_FAILED, 18, "a caller's callback failed"},
      {BISAI_DEVICE_ERROR, 19, "device error"},
      {BISAI_EXTERNAL_ERROR, 20, "another library failed"},
      {BISAI_NOT_SYMMETRIC, 21, "not symmetric"},
      {BISAI_NOT_LINEAR, 22, "not linear"},
  };
  for (size_t i = 0; i < sizeof pinned / sizeof pinned[0]; i++) {
    assert_int_equal((int)pinned[i].status, pinned[i].number);
    assert_string_equal(bisai_status_string(pinned[i].status), pinned[i].text);
  }
}

static void every_listed_status_has_a_text_of_its_own(void **state) {
  (void)state;
  static const int numbers[] = {
#define NUMBER(name, number, text) number,
      BISAI_STATUS_LIST(NUMBER)
#undef NUMBER
  };
  const size_t count = sizeof numbers / sizeof numbers[0];
  for (size_t i = 0; i < count; i++) {
    assert_string_not_equal(bisai_status_string((bisai_status)numbers[i]), "unknown status");
    for (size_t j = 0; j < i; j++) {
      assert_int_not_equal(numbers[i], numbers[j]);
      assert_string_not_equal(bisai_status_string((bisai_status)numbers[i]),
                              bisai_status_string((bisai_status)numbers[j]));
    }
  }
}

static void unknown_numbers_have_a_text_too(void **state) {
  (void)state;
  assert_string_equal(bisai_status_string((bisai_status)23), "unknown status");
  assert_string_equal(bisai_status_string((bisai_status)-1), "unknown status");
  assert_string_equal(bisai_status_string((bisai_status)1000000), "unknown status");
}

static void reasons_have_the_names_that_reports_use(void **state) {
  (void)state;
  assert_string_equal(bisai_reason_string(BISAI_REASON_CONVERGED), "converged");
  assert_string_equal(bisai_reason_string(BISAI_REASON_MAX_ITERATIONS), "max_iterations");
  assert_string_equal(bisai_reason_string(BISAI_REASON_STAGNATED), "stagnated");
  assert_string_equal(bisai_reason_string(BISAI_REASON_NOT_FINITE), "not_finite");
}

static void library_and_headers_are_of_one_version(void **state) {
  (void)state;
  char expected[64];
  snprintf(expected, sizeof expected, "%d.%d.%d", BISAI_VERSION_MAJOR, BISAI_VERSION_MINOR,
           BISAI_VERSION_PATCH);
  assert_string_equal(BISAI_VERSION, expected);
  assert_string_equal(bisai_version(), expected);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(status_numbers_and_texts_are_pinned),
      cmocka_unit_test(every_listed_status_has_a_text_of_its_own),
      cmocka_unit_test(unknown_numbers_have_a_text_too),
      cmocka_unit_test(reasons_have_the_names_that_reports_use),
      cmocka_unit_test(library_and_headers_are_of_one_version),
  };
  return cmocka_run_group_tests_name("status", tests, NULL, NULL);
}
