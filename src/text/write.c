/* SPDX-License-Identifier: BSD-3-Clause */
#include "text/write.h"

/* Numbers of up to ten digits have no exponent, as 100000. */
enum { PLAIN_DIGITS = 10 };

bool bsi_has_word(const bisai_option *option, const void *options) {
  const double value = bisai_option_get(option, options);
  const bool known = value >= 0 && (value <= option->maximum || value <= option->advised);
  return option->type != BISAI_OPTION_WORD || known;
}

bool bsi_is_writable(const bisai_option *option, const void *options) {
  const double value = bisai_option_get(option, options);
  char digits[BSI_NUMBER_TEXT];
  double read;
  switch (option->type) {
  case BISAI_OPTION_POINTER:
  case BISAI_OPTION_VECTORS: return false;
  case BISAI_OPTION_FLAG: return true;
  case BISAI_OPTION_WORD: return value >= 0 && value <= option->advised;
  default: return bisai_option_parse(option, bsi_number(value, PLAIN_DIGITS, digits), &read);
  }
}

void bsi_write_option(bsi_writer *w, const bisai_option *option, const void *options, bool shown) {
  const double value = bisai_option_get(option, options);
  const bool flag = option->type == BISAI_OPTION_FLAG;
  const bool always =
      option->use == BISAI_OPTION_NEEDED || (shown && option->use == BISAI_OPTION_SHOWN);
  char digits[BSI_NUMBER_TEXT];
  if (value == option->initial ? flag || !always : !bsi_is_writable(option, options)) return;
  bsi_write(w, ":%s", option->key);
  if (option->type == BISAI_OPTION_WORD)
    bsi_write(w, "=%s", option->words[(int)value]);
  else if (option->words && value == option->initial)
    bsi_write(w, "=%s", option->words[0]);
  else if (!flag)
    bsi_write(w, "=%s", bsi_number(value, PLAIN_DIGITS, digits));
}
