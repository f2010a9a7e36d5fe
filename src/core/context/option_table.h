/* SPDX-License-Identifier: BSD-3-Clause */
/* Tables of options: what the rooms with option structs share. */
#ifndef BSI_OPTION_TABLE_H
#define BSI_OPTION_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include <bisai/option.h>

#include "core/context/context_impl.h"

/* Options that belong together. */
typedef struct bsi_option_list {
  int count;
  const bisai_option *items;
} bsi_option_list;

#define BSI_OPTION_LIST(array)                                                                     \
  { (int)(sizeof(array) / sizeof *(array)), array }

/* The initializers that place an option in its struct. */
#define BSI_OPTION_IN(type, member) .field = #member, .offset = offsetof(type, member)

/* The words and enumerators of an enumeration, from its list X(enumerator, word, …), for
 * bisai_option::words. */
#define BSI_OPTION_WORD(...) BSI_OPTION_WORD_OF(__VA_ARGS__, 0)
#define BSI_OPTION_WORD_OF(enumerator, word, ...) word,
#define BSI_OPTION_ENUMERATOR(...) BSI_OPTION_ENUMERATOR_OF(__VA_ARGS__, 0)
#define BSI_OPTION_ENUMERATOR_OF(enumerator, word, ...) #enumerator,
#define BSI_OPTION_WORDS(list)                                                                     \
  { list(BSI_OPTION_WORD) NULL, list(BSI_OPTION_ENUMERATOR) NULL }

/* The first of BISAI_VALUE_TYPE_LIST. */
#define BSI_PRECISION_LIST(X)                                                                      \
  X(BISAI_FP64, "fp64")                                                                            \
  X(BISAI_FP32, "fp32")

/* Refuses a value out of the option's range by its name. */
bisai_status bsi_option_check(bisai_context *context, const bisai_option *option,
                              const void *options);

#endif
