/* SPDX-License-Identifier: BSD-3-Clause */
/* The keys of METHOD, which are options of the library's kinds or of the program. */
#ifndef TOOL_KEYS_H
#define TOOL_KEYS_H

#include <bisai/text.h>

#include "method.h"

enum { MOST_KEYS = 32 };

/* A key, and the struct to which its offset refers. */
typedef struct key {
  const bisai_option *option;
  void *place;
} key;

/* Lists the keys of a section in the order of labels and messages. Returns their number. */
int keys_of(method *m, method_section section, key keys[MOST_KEYS]);

/* Returns what the program adds to the texts of the library. *m must live as long. */
bisai_text_keys keys_of_program(method *m);

/* Returns the key that begins the section of a stage, "first" or "second". */
const char *keys_head(const method *m, method_section section);
/* Returns the word of a stage, "mg" or "auto". */
const char *keys_stage_word(const method *m, method_section section);

/* Returns true if the method has this key, outside of stages. */
bool keys_take(const method *m, const char *key);

/* Returns the name, in messages, of the option with this index among those of a section. NULL:
 * after the last one. */
const char *keys_name(const method *m, method_section section, int index);

/* Returns the option of such a name and gives its value. NULL: the section does not have it. */
const bisai_option *keys_option(const method *m, method_section section, const char *name,
                                double *value);

#endif
