/* SPDX-License-Identifier: BSD-3-Clause */
/* Stored values: narrowing from fp64 rounds once to nearest even and tells what does not fit;
 * widening is exact. */
#include "support.h"

#include <math.h>

#include "core/block/value_quads.h"

typedef struct narrow_format {
  bisai_value_type type;
  /* bits */
  uint16_t infinity;
  double largest, smallest;
} narrow_format;

static const narrow_format formats[] = {{BISAI_FP16, 0x7c00, 65504.0, 0x1p-24},
                                        {BISAI_BF16, 0x7f80, 0x1.fep127, 0x1p-133},
                                        {BISAI_FP11_4, 0x7ff0, 0x1.fp1023, 0x1p-1026}};
enum { FORMATS = sizeof formats / sizeof formats[0] };

/* Wide enough for every type, so that the compiler sees no path out of bounds. */
typedef union cell {
  double wide;
  uint16_t bits;
} cell;

static uint16_t stored(const narrow_format *format, double x, bool *fits) {
  cell target = {.bits = 0xdead};
  *fits = bsi_value_store(format->type, x, &target, 0);
  return target.bits;
}

static void every_sixteen_bit_value_survives_the_round_trip(void **state) {
  (void)state;
  for (size_t f = 0; f < FORMATS; f++) {
    for (uint32_t bits = 0; bits < 0x10000; bits++) {
      const cell half = {.bits = (uint16_t)bits};
      const bool finite = (bits & formats[f].infinity) != formats[f].infinity;
      assert_true(bsi_value_finite(formats[f].type, &half, 0) == finite);
      const double value = bsi_value_load(formats[f].type, &half, 0);
      const bool infinite = (bits & 0x7fff) == formats[f].infinity;
      assert_true((isfinite(value) != 0) == finite && (isinf(value) != 0) == infinite);
      assert_true(isnan(value) || (signbit(value) != 0) == (bits >= 0x8000));
      if (finite) {
        bool fits = false;
        assert_true(value == test_value(formats[f].type, &half, 0));
        assert_int_equal(stored(&formats[f], value, &fits), half.bits);
        assert_true(fits);
      }
    }
  }
}

/* Between neighbours a < b: below the middle a, above it b, in the middle the even one. Only
 * doubles make the middle exact. */
static void narrowing_rounds_to_nearest_even_between_all_neighbours(void **state) {
  (void)state;
  for (size_t f = 0; f < FORMATS; f++) {
    for (uint32_t bits = 0; bits + 1 < formats[f].infinity; bits++) {
      const uint16_t low = (uint16_t)bits, high = (uint16_t)(bits + 1),
                     even = (bits & 1U) == 0 ? low : high;
      const double a = test_value(formats[f].type, &low, 0),
                   b = test_value(formats[f].type, &high, 0);
      const double middle = a + 0.5 * (b - a);
      bool fits = false;
      assert_int_equal(stored(&formats[f], middle, &fits), even);
      assert_true(fits);
      assert_int_equal(stored(&formats[f], nextafter(middle, 0.0), &fits), low);
      assert_int_equal(stored(&formats[f], nextafter(middle, (double)INFINITY), &fits), high);
      assert_int_equal(stored(&formats[f], -middle, &fits), even | 0x8000);
      assert_int_equal(stored(&formats[f], -nextafter(middle, 0.0), &fits), low | 0x8000);
    }
  }
}

static void values_beyond_the_largest_do_not_fit(void **state) {
  (void)state;
  for (size_t f = 0; f < FORMATS; f++) {
    const double largest = formats[f].largest;
    const uint16_t below = (uint16_t)(formats[f].infinity - 1),
                   before = (uint16_t)(formats[f].infinity - 2);
    const double half_step = 0.5 * (largest - test_value(formats[f].type, &before, 0));
    bool fits = false;
    assert_int_equal(stored(&formats[f], largest, &fits), below);
    assert_true(fits);
    assert_int_equal(stored(&formats[f], nextafter(largest + half_step, 0.0), &fits), below);
    assert_true(fits);
    const double beyond[] = {largest + half_step, 1.02 * largest, 0x1.fcp1023,
                             0x1.fffffffffffffp1023};
    for (size_t i = 0; i < sizeof beyond / sizeof beyond[0]; i++) {
      stored(&formats[f], beyond[i], &fits);
      assert_false(fits);
      stored(&formats[f], -beyond[i], &fits);
      assert_false(fits);
      assert_true(bsi_value_round(formats[f].type, beyond[i], &fits) == (double)INFINITY);
      assert_false(fits);
      assert_true(bsi_value_round(formats[f].type, -beyond[i], &fits) == (double)-INFINITY);
      assert_false(fits);
    }
  }
}

static void values_below_the_smallest_become_zero_of_their_sign(void **state) {
  (void)state;
  for (size_t f = 0; f < FORMATS; f++) {
    const double tiny[] = {0.5 * formats[f].smallest, 0.25 * formats[f].smallest, 0x1p-1060,
                           0x1p-1074, 0.0};
    bool fits = false;
    for (size_t i = 0; i < sizeof tiny / sizeof tiny[0]; i++) {
      assert_int_equal(stored(&formats[f], tiny[i], &fits), 0);
      assert_true(fits);
      assert_int_equal(stored(&formats[f], -tiny[i], &fits), 0x8000);
      assert_true(fits);
    }
    assert_int_equal(stored(&formats[f], nextafter(0.5 * formats[f].smallest, 1.0), &fits), 1);
  }
}

/* A double that is just above the middle of two halves, but the middle itself in fp32: rounding
 * twice goes wrong. */
static void narrowing_rounds_once(void **state) {
  (void)state;
  bool fits = false;
  assert_int_equal(stored(&formats[0], 1.0 + 0x1p-11 + 0x1p-40, &fits), 0x3c01);
  assert_int_equal(stored(&formats[0], 1.0 + 0x1p-11, &fits), 0x3c00);
  assert_int_equal(stored(&formats[1], 1.0 + 0x1p-8 + 0x1p-40, &fits), 0x3f81);
  assert_int_equal(stored(&formats[1], 1.0 + 0x1p-8, &fits), 0x3f80);
}

static uint32_t upper_half(double x, bool *fits) {
  uint32_t bits = 0xdeadbeef;
  *fits = bsi_value_store(BISAI_FP11_20, x, &bits, 0);
  return bits;
}

/* As above, for random neighbours, subnormal ones among them. */
static void upper_halves_of_doubles_round_to_nearest_even(void **state) {
  (void)state;
  test_random random = test_random_seed(11);
  for (int i = 0; i < 200000; i++) {
    const uint32_t low =
                       (uint32_t)test_random_integer(&random, 0, i % 4 == 0 ? 0xfffff : 0x7feffffe),
                   high = low + 1;
    const double a = bsi_value_load(BISAI_FP11_20, &low, 0),
                 b = bsi_value_load(BISAI_FP11_20, &high, 0);
    const uint32_t exponent = low >> 20, fraction = low & 0xfffff;
    assert_true(a == (exponent == 0 ? ldexp(fraction, -1042)
                                    : ldexp(fraction + 0x100000, (int)exponent - 1043)));
    if (high == 0x7ff00000) continue;
    const double middle = a + 0.5 * (b - a);
    bool fits = false;
    assert_int_equal(upper_half(a, &fits), low);
    assert_int_equal(upper_half(middle, &fits), (low & 1U) == 0 ? low : high);
    assert_int_equal(upper_half(-nextafter(middle, 0.0), &fits), low | 0x80000000U);
    assert_int_equal(upper_half(nextafter(middle, (double)INFINITY), &fits), high);
    assert_true(fits);
  }
  bool fits = true;
  assert_int_equal(upper_half(0x1.fffff7fffffffp1023, &fits), 0x7fefffff);
  assert_true(fits);
  upper_half(0x1.fffff8p1023, &fits);
  assert_false(fits);
  const uint32_t infinity = 0x7ff00000, largest = 0x7fefffff;
  assert_false(bsi_value_finite(BISAI_FP11_20, &infinity, 0));
  assert_true(bsi_value_finite(BISAI_FP11_20, &largest, 0));
}

/* What bsi_value_roundoff() says is reached and never exceeded. */
static void unit_roundoffs_are_those_of_the_formats(void **state) {
  (void)state;
  static const int mantissas[] = {52, 23, 10, 7, 4, 20}; /* as bisai_value_type */
  for (int t = BISAI_FP64; t < BISAI_ADAPTIVE; t++) {
    const bisai_value_type type = (bisai_value_type)t;
    assert_true(bsi_value_roundoff(type) == ldexp(1.0, -mantissas[t] - 1));
    assert_int_equal(bsi_value_bytes(type), t == BISAI_FP64                         ? 8
                                            : t == BISAI_FP32 || t == BISAI_FP11_20 ? 4
                                                                                    : 2);
    test_random random = test_random_seed((uint64_t)t);
    for (int i = 0; i < 10000; i++) {
      bool fits = false;
      const double x = test_random_uniform(&random, 1.0, 2.0),
                   error = fabs(bsi_value_round(type, x, &fits) - x);
      assert_true(fits && error <= bsi_value_roundoff(type));
    }
    bool fits = false;
    const double middle = 1.0 + ldexp(1.0, -mantissas[t] - 1);
    if (t != BISAI_FP64) assert_true(bsi_value_round(type, middle, &fits) == 1.0);
  }
}

static void singles_and_doubles_are_stored_as_c_converts_them(void **state) {
  (void)state;
  float single = 0.0F;
  double twice = 0.0;
  assert_true(bsi_value_store(BISAI_FP64, 1e300, &twice, 0) && twice == 1e300);
  assert_true(bsi_value_store(BISAI_FP32, 1.0 + 0x1p-24, &single, 0) && single == 1.0F);
  assert_true(bsi_value_store(BISAI_FP32, 1.0 + 0x1p-24 + 0x1p-50, &single, 0) &&
              single == 1.0F + 0x1p-23F);
  assert_true(bsi_value_store(BISAI_FP32, 0x1p-149, &single, 0) && single == 0x1p-149F);
  assert_true(bsi_value_store(BISAI_FP32, (double)0x1.fffffep127F, &single, 0));
  assert_false(bsi_value_store(BISAI_FP32, 0x1.ffffffp127, &single, 0));
  assert_false(bsi_value_store(BISAI_FP32, -1e39, &single, 0));
}

static void blocks_need_the_alignment_of_the_words_that_they_consist_of(void **state) {
  (void)state;
  static const size_t alignments[][4] = {/* of blocks of 1 … 4 rows */
                                         [BISAI_FP64] = {8, 16, 8, 16},
                                         [BISAI_FP32] = {4, 16, 4, 16},
                                         [BISAI_FP16] = {2, 8, 2, 16},
                                         [BISAI_BF16] = {2, 8, 2, 16}};
  for (int type = 0; type < BISAI_MATRIX_TYPES; type++)
    for (int bs = 1; bs <= BISAI_MAX_BLOCK_SIZE; bs++) /* sizes repeat with period 4 */
      assert_int_equal(bsi_block_alignment((bisai_value_type)type, bs),
                       alignments[type][(bs - 1) % 4]);
}

/* Expects the column of bs values from each value on. The array ends with the last column, which
 * AddressSanitizer watches. */
#define EXPECT_COLUMNS(bs)                                                                         \
  do {                                                                                             \
    for (size_t first = 0; first + (bs) <= count; first++) {                                       \
      bsi_column column;                                                                           \
      double widened[bs];                                                                          \
      bsi_column_widen(bs, type, &column, values, first);                                          \
      bsi_column_store(bs, &column, widened);                                                      \
      for (size_t r = 0; r < (bs); r++)                                                            \
        assert_true(widened[r] == bsi_value_load(type, values, first + r));                        \
    }                                                                                              \
  } while (0)

static void columns_are_widened_like_single_values(void **state) {
  (void)state;
  const size_t count = 27;
  for (int t = BISAI_FP64; t < BISAI_ADAPTIVE; t++) {
    const bisai_value_type type = (bisai_value_type)t;
    void *values = malloc(count * bsi_value_bytes(type));
    test_random random = test_random_seed((uint64_t)t);
    for (size_t i = 0; i < count; i++)
      assert_true(bsi_value_store(type, test_random_uniform(&random, -2.0, 2.0), values, i));
    EXPECT_COLUMNS(1);
    EXPECT_COLUMNS(2);
    EXPECT_COLUMNS(3);
    EXPECT_COLUMNS(4);
    EXPECT_COLUMNS(5);
    EXPECT_COLUMNS(6);
    EXPECT_COLUMNS(7);
    EXPECT_COLUMNS(8);
    EXPECT_COLUMNS(9);
    free(values);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_sixteen_bit_value_survives_the_round_trip),
      cmocka_unit_test(narrowing_rounds_to_nearest_even_between_all_neighbours),
      cmocka_unit_test(values_beyond_the_largest_do_not_fit),
      cmocka_unit_test(values_below_the_smallest_become_zero_of_their_sign),
      cmocka_unit_test(narrowing_rounds_once),
      cmocka_unit_test(upper_halves_of_doubles_round_to_nearest_even),
      cmocka_unit_test(unit_roundoffs_are_those_of_the_formats),
      cmocka_unit_test(singles_and_doubles_are_stored_as_c_converts_them),
      cmocka_unit_test(blocks_need_the_alignment_of_the_words_that_they_consist_of),
      cmocka_unit_test(columns_are_widened_like_single_values),
  };
  return cmocka_run_group_tests_name("values", tests, NULL, NULL);
}
