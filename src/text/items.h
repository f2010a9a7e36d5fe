/* SPDX-License-Identifier: BSD-3-Clause */
/* A text of options, cut into its word and its items "key" or "key=value". */
#ifndef BSI_TEXT_ITEMS_H
#define BSI_TEXT_ITEMS_H

#include <bisai/text.h>

#include "core/context/context_impl.h"

enum { BSI_WORDS_TEXT = 320 };

/* A part of a text between two colons. */
typedef struct bsi_item {
  const char *key;
  /* NULL: there is no "=" */
  const char *value;
  /* of the whole item, in bytes of the text */
  int place, length;
} bsi_item;

typedef struct bsi_items {
  /* NULL: nobody asks for it */
  bisai_text_fault *fault;
  /* the next byte to read; −1 after the end */
  int place;
  /* bytes of the text */
  int length;
  /* the text, whose items end with null bytes when they are read */
  char copy[BISAI_TEXT_SIZE];
} bsi_items;

/* An option, and the struct in which its offset counts. */
typedef struct bsi_key {
  const bisai_option *option;
  void *place;
} bsi_key;

/* Reads the word at the begin of a text. `what` says what the text describes: "method". */
bisai_status bsi_items_begin(bsi_items *r, const char *text, const char *what,
                             bisai_text_fault *fault, bsi_item *word);

/* Reads the next item. Returns false at the end. */
bool bsi_items_next(bsi_items *r, bsi_item *item);

/* Describes a fault of an item, or at the end of the text if the item is NULL. Returns
 * BISAI_INVALID_ARGUMENT. */
bisai_status bsi_items_fail(const bsi_items *r, const bsi_item *item, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Sets an option to the value of an item. *seen: the option was given before. `keys` may take names
 * of files. */
bisai_status bsi_items_set(const bsi_items *r, const bsi_item *item, const bsi_key *key,
                           const bisai_text_keys *keys, bool *seen);

/* Appends "a, b or c"; `last`, here " or ", stands before the last word. */
void bsi_list_words(char text[BSI_WORDS_TEXT], int count, const char *const *words,
                    const char *last);

/* Records a fault of a text with the number of its character. Returns `status`. */
bisai_status bsi_text_fail(bisai_context *context, bisai_status status, const char *text,
                           const bisai_text_fault *fault);

#endif
