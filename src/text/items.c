/* SPDX-License-Identifier: BSD-3-Clause */
#include "text/items.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bisai_status bsi_items_fail(const bsi_items *r, const bsi_item *item, const char *format, ...) {
  if (!r->fault) return BISAI_INVALID_ARGUMENT;
  r->fault->place = item ? item->place : r->length;
  r->fault->length = item ? item->length : 0;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(r->fault->message, sizeof r->fault->message, format, arguments);
  va_end(arguments);
  return BISAI_INVALID_ARGUMENT;
}

bisai_status bsi_items_begin(bsi_items *r, const char *text, const char *what,
                             bisai_text_fault *fault, bsi_item *word) {
  const size_t length = strnlen(text, BISAI_TEXT_SIZE);
  r->fault = fault;
  r->place = 0;
  r->length = length < BISAI_TEXT_SIZE ? (int)length : 0;
  if (length == 0) return bsi_items_fail(r, NULL, "a %s is empty", what);
  if (length == BISAI_TEXT_SIZE)
    return bsi_items_fail(r, NULL, "%s of more than %d characters", what, BISAI_TEXT_SIZE - 1);
  memcpy(r->copy, text, length + 1);
  bsi_items_next(r, word);
  /* "=" belongs to the word, which is none. */
  if (word->value) r->copy[word->value - 1 - r->copy] = '=';
  word->value = NULL;
  return BISAI_OK;
}

bool bsi_items_next(bsi_items *r, bsi_item *item) {
  if (r->place < 0) return false;
  char *begin = r->copy + r->place;
  const size_t length = strcspn(begin, ":");
  *item = (bsi_item){.key = begin, .place = r->place, .length = (int)length};
  r->place = begin[length] == ':' ? r->place + (int)length + 1 : -1;
  begin[length] = '\0';
  char *equals = strchr(begin, '=');
  if (equals) {
    *equals = '\0';
    item->value = equals + 1;
  }
  return true;
}

void bsi_list_words(char text[BSI_WORDS_TEXT], int count, const char *const *words,
                    const char *last) {
  for (int i = 0; i < count; i++) {
    const size_t length = strlen(text);
    snprintf(text + length, BSI_WORDS_TEXT - length, "%s%s",
             i == 0          ? ""
             : i + 1 < count ? ", "
                             : last,
             words[i]);
  }
}

/* Says which values an option has. */
static bisai_status refuse_value(const bsi_items *r, const bsi_item *item,
                                 const bisai_option *option, const bisai_text_keys *keys) {
  char words[BSI_WORDS_TEXT] = "";
  if (option->type == BISAI_OPTION_VECTORS)
    return bsi_items_fail(r, item, "%s must be %s%s", option->key, option->words[0],
                          keys && keys->read ? " or a file" : "");
  if (option->type == BISAI_OPTION_WORD) {
    bsi_list_words(words, (int)option->advised + 1, option->words, " or ");
    return bsi_items_fail(r, item, "%s must be %s", option->key, words);
  }
  if (option->words) snprintf(words, sizeof words, "%s or ", option->words[0]);
  return bsi_items_fail(r, item, "%s must be %s%s %s %.10g %s %.10g", option->key, words,
                        option->type == BISAI_OPTION_INTEGER ? "an integer" : "a number",
                        option->open ? "between" : "from", option->minimum,
                        option->open ? "and" : "to", option->advised);
}

static bool set_value(const bsi_key *key, const char *value, const bisai_text_keys *keys) {
  double number = 0;
  if (bisai_option_parse(key->option, value, &number)) {
    bisai_option_set(key->option, number, key->place);
    return true;
  }
  return key->option->type == BISAI_OPTION_VECTORS && *value && keys && keys->read &&
         keys->read(keys->user, key->option, value);
}

bisai_status bsi_items_set(const bsi_items *r, const bsi_item *item, const bsi_key *key,
                           const bisai_text_keys *keys, bool *seen) {
  const bool flag = key->option->type == BISAI_OPTION_FLAG;
  if (flag && item->value) return bsi_items_fail(r, item, "'%s' takes no value", item->key);
  if (!flag && !item->value) return bsi_items_fail(r, item, "'%s' needs a value", item->key);
  if (*seen) return bsi_items_fail(r, item, "'%s' is given twice", item->key);
  *seen = true;
  return set_value(key, flag ? "" : item->value, keys) ? BISAI_OK
                                                       : refuse_value(r, item, key->option, keys);
}

bisai_status bsi_text_fail(bisai_context *context, bisai_status status, const char *text,
                           const bisai_text_fault *fault) {
  int character = 1;
  /* The other bytes of a character of UTF-8 begin with the bits 10. */
  for (int i = 0; i < fault->place; i++) character += ((unsigned char)text[i] & 0xC0) != 0x80;
  return bsi_fail(context, status, "'%.200s', character %d: %s", text, character, fault->message);
}
