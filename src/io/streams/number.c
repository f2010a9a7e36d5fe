/* SPDX-License-Identifier: BSD-3-Clause */
/* A number is m·10^e with an integer m < 10^19, unless it has more digits. It is kept as a sum
 * hi + lo of two doubles, which holds m exactly, and is multiplied or divided by powers p = 10^k,
 * k ≤ 22, which are doubles:
 *   (hi + lo)·p = a + b,  a = fl(hi·p),  b = (hi·p − a) + lo·p
 *   (hi + lo)/p = a + b,  a = fl(hi/p),  b = ((hi − a·p) + lo)/p
 * A fused multiply-add makes the parentheses around hi exact, so that a + b has a relative error
 * of less than 2^-100. If the last sum rounds to the same double with b at both ends of its error
 * bound, that double is the nearest one. (e = 0 … 22 with lo = 0 is Clinger's case, PLDI 1990.)
 * Otherwise, and for other exponents, strtod() decides. */
#include "io/streams/number.h"

#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>

enum { EXACT_POWER = 22, LARGEST_POWER = 264, DIGITS = 19, EXPONENT_LIMIT = 100000000 };

static const double powers[EXACT_POWER + 1] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                               1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                               1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

/* The parts of a number's text. */
typedef struct decimal {
  /* m */
  uint64_t digits;
  /* e */
  int exponent;
  bool negative;
  /* m lacks digits that are not 0 */
  bool cut;
  /* the letter of the exponent, or NULL */
  char *letter;
} decimal;

/* A sum hi + lo, |lo| ≤ ulp(hi). */
typedef struct pair {
  double hi, lo;
} pair;

/* Returns x·10^e for |e| ≤ EXACT_POWER. fma() keeps compilers from fusing the product with the sum
 * that follows. */
static pair scale(pair x, int e) {
  if (e >= 0) {
    const double p = powers[e], a = fma(x.hi, p, 0.0);
    return (pair){a, fma(x.hi, p, -a) + x.lo * p};
  }
  const double p = powers[-e], a = x.hi / p;
  return (pair){a, (fma(-a, p, x.hi) + x.lo) / p};
}

/* Finds the double nearest to m·10^e. Returns false if the error bound does not decide it. */
static bool nearest(uint64_t m, int e, double *value) {
  pair x = {(double)m, 0.0};
  x.lo = (double)(int64_t)(m - (uint64_t)x.hi);
  double error = 0.0; /* the relative error of hi + lo */
  while (e > EXACT_POWER || e < -EXACT_POWER) {
    const int step = e > 0 ? EXACT_POWER : -EXACT_POWER;
    const pair y = scale(x, step);
    x.hi = y.hi + y.lo;
    x.lo = y.lo - (x.hi - y.hi);
    error += 0x1p-100;
    e -= step;
  }
  x = scale(x, e);
  const double bound = 0x1p-50 * fabs(x.lo) + error * x.hi;
  const double low = x.hi + (x.lo - bound), high = x.hi + (x.lo + bound);
  *value = low;
  return low == high;
}

/* Reads digits into m. Digits after the point lower the exponent. Returns their number. */
static int read_digits(char **cursor, bool fraction, int *used, decimal *d) {
  char *p = *cursor;
  for (; bsi_is_digit(*p); p++) {
    const int digit = *p - '0';
    if (*used < DIGITS) {
      d->digits = d->digits * 10 + (uint64_t)digit;
      *used += d->digits != 0;
      d->exponent -= fraction;
    } else {
      d->cut |= digit != 0;
      d->exponent += !fraction;
    }
  }
  const int count = (int)(p - *cursor);
  *cursor = p;
  return count;
}

/* Reads the exponent. Returns false if no digit follows the letter. */
static bool read_exponent(char **cursor, decimal *d) {
  char *p = *cursor;
  d->letter = p++;
  const bool negative = *p == '-';
  if (*p == '-' || *p == '+') p++;
  if (!bsi_is_digit(*p)) return false;
  int exponent = 0;
  for (; bsi_is_digit(*p); p++)
    if (exponent < EXPONENT_LIMIT) exponent = exponent * 10 + (*p - '0');
  d->exponent += negative ? -exponent : exponent;
  *cursor = p;
  return true;
}

static bool read_decimal(char **cursor, decimal *d) {
  char *p = *cursor;
  *d = (decimal){.negative = *p == '-'};
  if (*p == '-' || *p == '+') p++;
  int used = 0;
  int count = read_digits(&p, false, &used, d);
  if (*p == '.') {
    p++;
    count += read_digits(&p, true, &used, d);
  }
  if (count == 0) return false;
  if ((*p == 'e' || *p == 'E' || *p == 'd' || *p == 'D') && !read_exponent(&p, d)) return false;
  *cursor = p;
  return bsi_ends_word(*p);
}

static bool is_word(const char *text, const char *lower) {
  for (; *lower; text++, lower++)
    if ((*text | 0x20) != *lower) return false;
  return bsi_ends_word(*text);
}

static double by_library(char *word, char *letter, locale_t c_locale) {
  char kept = 'e';
  if (letter) {
    kept = *letter;
    *letter = 'e';
  }
  const locale_t previous = uselocale(c_locale);
  const double value = strtod(word, NULL);
  uselocale(previous);
  if (letter) *letter = kept;
  return value;
}

bsi_number_result bsi_number_parse(char **cursor, void *c_locale, double *value) {
  char *word = *cursor;
  decimal d;
  if (!read_decimal(cursor, &d)) {
    const char *unsigned_word = word + (*word == '-' || *word == '+');
    const bool named = is_word(unsigned_word, "nan") || is_word(unsigned_word, "inf") ||
                       is_word(unsigned_word, "infinity");
    return named ? BSI_NUMBER_NOT_FINITE : BSI_NUMBER_MALFORMED;
  }
  if (d.digits == 0) {
    *value = d.negative ? -0.0 : 0.0;
    return BSI_NUMBER_OK;
  }
  const bool possible = !d.cut && d.exponent >= -LARGEST_POWER && d.exponent <= LARGEST_POWER;
  if (FLT_EVAL_METHOD == 0 && possible && nearest(d.digits, d.exponent, value)) {
    if (d.negative) *value = -*value;
    return BSI_NUMBER_OK;
  }
  *value = by_library(word, d.letter, c_locale);
  return isfinite(*value) ? BSI_NUMBER_OK : BSI_NUMBER_NOT_FINITE;
}

bool bsi_number_is_integer(const char *word) {
  if (*word == '-' || *word == '+') word++;
  if (!bsi_is_digit(*word)) return false;
  while (bsi_is_digit(*word)) word++;
  return bsi_ends_word(*word);
}
