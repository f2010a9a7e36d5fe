/* SPDX-License-Identifier: BSD-3-Clause */
/* Options as their descriptions say: read, set, parsed, checked. */
#include "core/context/option_table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

double bisai_option_get(const bisai_option *option, const void *options) {
  const char *place = (const char *)options + option->offset;
  int32_t integer;
  double number;
  bool flag;
  const void *pointer;
  switch (option->type) {
  case BISAI_OPTION_INTEGER:
  case BISAI_OPTION_WORD: memcpy(&integer, place, sizeof integer); return integer;
  case BISAI_OPTION_NUMBER: memcpy(&number, place, sizeof number); return number;
  case BISAI_OPTION_FLAG: memcpy(&flag, place, sizeof flag); return flag;
  case BISAI_OPTION_AMOUNT:
    memcpy(&integer, (const char *)options + option->switch_offset, sizeof integer);
    memcpy(&number, place, sizeof number);
    return integer ? number : 0.0;
  case BISAI_OPTION_POINTER:
  case BISAI_OPTION_VECTORS: memcpy(&pointer, place, sizeof pointer); return pointer != NULL;
  }
  return 0.0;
}

void bisai_option_set(const bisai_option *option, double value, void *options) {
  char *place = (char *)options + option->offset;
  const int32_t integer = option->type == BISAI_OPTION_AMOUNT ? value != 0.0 : (int32_t)value;
  const bool flag = value != 0.0;
  switch (option->type) {
  case BISAI_OPTION_INTEGER:
  case BISAI_OPTION_WORD: memcpy(place, &integer, sizeof integer); break;
  case BISAI_OPTION_NUMBER: memcpy(place, &value, sizeof value); break;
  case BISAI_OPTION_FLAG: memcpy(place, &flag, sizeof flag); break;
  case BISAI_OPTION_AMOUNT:
    memcpy((char *)options + option->switch_offset, &integer, sizeof integer);
    if (flag) memcpy(place, &value, sizeof value); /* the default amount stays otherwise */
    break;
  case BISAI_OPTION_POINTER:
  case BISAI_OPTION_VECTORS: memset(place, 0, sizeof(void *)); break;
  }
}

enum { NUMBER_TEXT = 320 };

/* strtod() expects the point of the locale, which stands between the digits of 0.5. */
static bool parse_number(const char *text, const char *characters, double *value) {
  char local[NUMBER_TEXT + 16], half[16];
  const size_t whole = strcspn(text, "."), length = strlen(text);
  if (length == 0 || length >= NUMBER_TEXT || text[strspn(text, characters)] != '\0') return false;
  snprintf(half, sizeof half, "%.1f", 0.5);
  half[strlen(half) - 1] = '\0';
  snprintf(local, sizeof local, "%.*s%s%s", (int)whole, text, whole < length ? half + 1 : "",
           whole < length ? text + whole + 1 : "");
  char *end;
  *value = strtod(local, &end);
  return *end == '\0' && isfinite(*value);
}

static bool is_word_for_default(const bisai_option *option, const char *text) {
  return option->words && strcmp(option->words[0], text) == 0;
}

static bool is_inside(const bisai_option *option, double value, double largest) {
  return option->open ? value > option->minimum && value < largest
                      : value >= option->minimum && value <= largest;
}

bool bisai_option_parse(const bisai_option *option, const char *text, double *value) {
  double parsed = -1.0;
  switch (option->type) {
  case BISAI_OPTION_INTEGER:
    if (is_word_for_default(option, text)) {
      *value = option->initial;
      return true;
    }
    if (!parse_number(text, "-0123456789", &parsed)) return false;
    break;
  case BISAI_OPTION_NUMBER:
    if (is_word_for_default(option, text)) {
      *value = option->initial;
      return true;
    }
    if (!parse_number(text, "0123456789.eE+-", &parsed)) return false;
    break;
  case BISAI_OPTION_AMOUNT:
    if (!parse_number(text, "0123456789.eE+-", &parsed)) return false;
    break;
  case BISAI_OPTION_WORD:
    for (int i = 0; option->words[i]; i++)
      if (strcmp(option->words[i], text) == 0) parsed = i;
    break;
  case BISAI_OPTION_FLAG:
    if (*text == '\0') *value = 1.0;
    return *text == '\0';
  case BISAI_OPTION_POINTER: return false;
  case BISAI_OPTION_VECTORS:
    if (strcmp(option->words[0], text) == 0) *value = 0.0;
    return strcmp(option->words[0], text) == 0;
  }
  if (!is_inside(option, parsed, option->advised)) return false;
  *value = parsed;
  return true;
}

bisai_status bsi_option_check(bisai_context *context, const bisai_option *option,
                              const void *options) {
  const double value = bisai_option_get(option, options);
  const bool automatic = option->words && value == option->initial;
  const bool inside = automatic || is_inside(option, value, option->maximum);
  switch (option->type) {
  case BISAI_OPTION_INTEGER:
    if (inside) return BISAI_OK;
    if (option->maximum == INT32_MAX)
      return bsi_fail(context, BISAI_INVALID_ARGUMENT, "%s %d: at least %d is needed", option->name,
                      (int)value, (int)option->minimum);
    return bsi_fail(context, BISAI_INVALID_ARGUMENT, "%s %d: %d … %d are possible", option->name,
                    (int)value, (int)option->minimum, (int)option->maximum);
  case BISAI_OPTION_NUMBER:
    if (inside && isfinite(value)) return BISAI_OK;
    if (option->open && isfinite(option->maximum))
      return bsi_fail(context, BISAI_INVALID_ARGUMENT, "%s %g: between %g and %g is needed",
                      option->name, value, option->minimum, option->maximum);
    if (option->open)
      return bsi_fail(context, BISAI_INVALID_ARGUMENT, "%s %g: more than %g is needed",
                      option->name, value, option->minimum);
    if (isfinite(option->maximum))
      return bsi_fail(context, BISAI_INVALID_ARGUMENT, "%s %g: %g … %g are possible", option->name,
                      value, option->minimum, option->maximum);
    return bsi_fail(context, BISAI_INVALID_ARGUMENT, "%s %g: must be at least %g and finite",
                    option->name, value, option->minimum);
  case BISAI_OPTION_WORD:
    if (inside) return BISAI_OK;
    return bsi_fail(context, BISAI_INVALID_ARGUMENT, "unknown %s %d", option->name, (int)value);
  case BISAI_OPTION_FLAG:
  case BISAI_OPTION_AMOUNT: /* bsi_factor_options_check() */
  case BISAI_OPTION_POINTER:
  case BISAI_OPTION_VECTORS: break;
  }
  return BISAI_OK;
}
