/* SPDX-License-Identifier: BSD-3-Clause */
#include "parse.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

bool parse_integer(const char *text, int minimum, int maximum, int *value) {
  const char *digits = text + (*text == '-');
  if (*digits == '\0' || digits[strspn(digits, "0123456789")] != '\0') return false;
  errno = 0;
  long parsed = strtol(text, NULL, 10);
  if (errno != 0 || parsed < minimum || parsed > maximum) return false;
  *value = (int)parsed;
  return true;
}

bool parse_number(const char *text, double *value) {
  if (*text == '\0' || text[strspn(text, "0123456789.eE+-")] != '\0') return false;
  char *end;
  double parsed = strtod(text, &end);
  if (*end != '\0' || !isfinite(parsed)) return false;
  *value = parsed;
  return true;
}
