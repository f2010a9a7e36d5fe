/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions for the words of an enumeration, made from its list X(enumerator, word, …) in a public
 * header. */
#ifndef BSI_WORDS_H
#define BSI_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

typedef struct bsi_word {
  const char *word;
  int value;
} bsi_word;

/* Returns the value of a word among `count` words, or -1. */
static inline int bsi_word_value(const bsi_word *words, size_t count, const char *word) {
  for (size_t i = 0; word && i < count; i++)
    if (strcmp(words[i].word, word) == 0) return words[i].value;
  return -1;
}

/* A list may have more columns than these two. */
#define BSI_WORD_CASE(...) BSI_WORD_CASE_OF(__VA_ARGS__, 0)
#define BSI_WORD_CASE_OF(enumerator, word, ...)                                                    \
  case enumerator:                                                                                 \
    return word;
#define BSI_WORD_ENTRY(...) BSI_WORD_ENTRY_OF(__VA_ARGS__, 0)
#define BSI_WORD_ENTRY_OF(enumerator, word, ...) {word, enumerator},

/* Defines bisai_NAME_string(), which returns `unknown` for other values. The compiler warns of an
 * enumerator that is not in the list. */
#define BSI_DEFINE_STRING(name, list, unknown)                                                     \
  const char *bisai_##name##_string(bisai_##name value) {                                          \
    switch (value) { list(BSI_WORD_CASE) }                                                         \
    return unknown;                                                                                \
  }

/* Defines bisai_NAME_string() and bisai_NAME_parse(). */
#define BSI_DEFINE_WORDS(name, list, unknown)                                                      \
  BSI_DEFINE_STRING(name, list, unknown)                                                           \
  bool bisai_##name##_parse(const char *word, bisai_##name *value) {                               \
    static const bsi_word words[] = {list(BSI_WORD_ENTRY)};                                        \
    const int found = bsi_word_value(words, sizeof words / sizeof *words, word);                   \
    if (found < 0 || !value) return false;                                                         \
    *value = (bisai_##name)found;                                                                  \
    return true;                                                                                   \
  }

#endif
