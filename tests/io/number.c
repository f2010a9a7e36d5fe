/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers are read as the nearest double and written with a point, whatever the locale. The
 * reference is strtod() in the "C" locale, which the C library rounds correctly; comparisons are
 * bit by bit. */
#include <locale.h>
#include <math.h>

#include "folder_fixture.h"
#include "support.h"

#include "io/streams/number.h"

static void expect_number(locale_t c_locale, const char *word) {
  char text[1024], fortran[1024];
  snprintf(text, sizeof text, "%s\n", word);
  snprintf(fortran, sizeof fortran, "%s\n", word);
  char *letter = strpbrk(fortran, "eE");
  if (letter) *letter = 'D';
  const locale_t kept = uselocale(c_locale);
  const double expected = strtod(word, NULL);
  uselocale(kept);
  char *const texts[] = {text, fortran};
  for (int t = 0; t < 2; t++) {
    char *cursor = texts[t];
    double got = (double)NAN;
    const bsi_number_result result = bsi_number_parse(&cursor, c_locale, &got);
    if (isinf(expected)) {
      assert_int_equal(result, BSI_NUMBER_NOT_FINITE);
      continue;
    }
    assert_int_equal(result, BSI_NUMBER_OK);
    if (memcmp(&got, &expected, sizeof got) != 0)
      fail_msg("%s: %.17g, expected %.17g", word, got, expected);
    assert_int_equal(*cursor, '\n');
  }
  if (letter) assert_int_equal(*letter, 'D');
}

static void expect_numbers(void) {
  locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
  static const char *const hard[] = {"0",
                                     "-0",
                                     "0e999",
                                     "1e22",
                                     "1e23",
                                     "1e-22",
                                     "1e-23",
                                     "9007199254740993",
                                     "9007199254740991",
                                     "9007199254740993e22",
                                     "9223372036854775807",
                                     "9223372036854775808",
                                     "18446744073709551615",
                                     "9999999999999999999",
                                     "99999999999999999999",
                                     "123456789012345678901234567890",
                                     "0.1",
                                     "0.3",
                                     "2.2250738585072014e-308",
                                     "2.2250738585072011e-308",
                                     "4.9406564584124654e-324",
                                     "2.4703282292062327e-324",
                                     "2.4703282292062328e-324",
                                     "1e-400",
                                     "1.7976931348623157e308",
                                     "1.7976931348623158e308",
                                     "1.7976931348623159e308",
                                     "1e308",
                                     "1e309",
                                     "-1e309",
                                     "5e-324",
                                     "3e-324",
                                     "1e264",
                                     "1e265",
                                     "1e-264",
                                     "1e-265",
                                     "6.0221407600000000000000000000000000e23",
                                     "0.000000000000000000000000000000000000000000000000000000001",
                                     "1.00000000000000011102230246251565404236316680908203125",
                                     "1.00000000000000011102230246251565404236316680908203124",
                                     "1.00000000000000011102230246251565404236316680908203126",
                                     "8.5e-45",
                                     "100000000000000000000000000000000000000000e-41"};
  for (size_t k = 0; k < sizeof hard / sizeof *hard; k++) expect_number(c_locale, hard[k]);

  test_random random = test_random_seed(4);
  const locale_t kept = uselocale(c_locale);
  for (int k = 0; k < 60000; k++) {
    const double mantissa = test_random_uniform(&random, -1, 1);
    const int power = test_random_integer(&random, -310, 308),
              digits = test_random_integer(&random, 1, 21);
    char word[64];
    if (k % 3 == 0) /* halfway between two doubles, times a power of ten */
      snprintf(word, sizeof word, "%llue%d", 2 * (unsigned long long)(fabs(mantissa) * 0x1p53) + 1,
               power % 30);
    else if (k % 3 == 1)
      snprintf(word, sizeof word, "%.*e", digits, mantissa * pow(10, power));
    else
      snprintf(word, sizeof word, "%.*f", digits, 1000 * mantissa);
    uselocale(kept);
    expect_number(c_locale, word);
    uselocale(c_locale);
  }
  uselocale(kept);
  freelocale(c_locale);
}

static void numbers_are_the_nearest_doubles(void **state) {
  (void)state;
  expect_numbers();
}

static void expect_written_vector(void) {
  const double values[] = {0.1, -1e-300, 1.5};
  const char *path = test_path("vector.mtx");
  EXPECT_OK(context, bisai_write_vector(context, path, 3, values));
  double got[3];
  EXPECT_OK(context, bisai_read_vector(context, path, 3, got));
  assert_memory_equal(values, got, sizeof values);
}

/* Whether the process's locale could be set to one with a decimal comma: an installed one, or one
 * made here. */
static bool set_comma_locale(void) {
  static const char *const names[] = {"de_DE.UTF-8", "de_DE", "fr_FR.UTF-8", "it_IT.UTF-8",
                                      "es_ES.UTF-8"};
  for (size_t k = 0; k < sizeof names / sizeof *names; k++)
    if (setlocale(LC_ALL, names[k])) return true;
  char command[2048];
  snprintf(command, sizeof command, "localedef -i de_DE -f UTF-8 '%s' >/dev/null 2>&1",
           test_path("de_DE.UTF-8"));
  return system(command) == 0 && setenv("LOCPATH", test_path(""), 1) == 0 &&
         setlocale(LC_ALL, "de_DE.UTF-8");
}

static void a_decimal_comma_in_the_callers_locale_changes_nothing(void **state) {
  (void)state;
  if (!set_comma_locale()) {
    print_message("skipped: no locale with a decimal comma\n");
    skip();
  }
  char text[16];
  snprintf(text, sizeof text, "%.1f", 1.5);
  assert_string_equal(text, "1,5");
  expect_numbers();
  expect_written_vector();
  snprintf(text, sizeof text, "%.1f", 1.5); /* and the caller's locale is as it was */
  assert_string_equal(text, "1,5");
  setlocale(LC_ALL, "C");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(numbers_are_the_nearest_doubles),
      cmocka_unit_test(a_decimal_comma_in_the_callers_locale_changes_nothing),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
