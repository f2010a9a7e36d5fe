/* SPDX-License-Identifier: BSD-3-Clause */
/* The keys of METHOD, which are options of the library's kinds or of the program. */
#ifndef TOOL_KEYS_H
#define TOOL_KEYS_H

#include "method.h"

enum { MOST_KEYS = 32, KEYS_TITLE = 64 };

/* A key, and the struct to which its offset refers. */
typedef struct key {
  const bisai_option *option;
  void *place;
} key;

/* Lists the keys of a section in the order of labels and messages. Returns their number. */
int keys_of(method *m, method_section section, key keys[MOST_KEYS]);

/* Returns the place of a key in the list, or -1. */
int keys_find(int count, const key *keys, const char *name);

/* Returns the key that begins a section, "first" or "second". */
const char *keys_head(method_section section);

/* Returns the option that chooses the kind of a stage. NULL: there is no such stage, or no
 * choice. */
const bisai_option *keys_stage(const method *m, method_section section);
/* Returns the word of a stage, "mg" or "auto". */
const char *keys_stage_word(const method *m, method_section section);

/* Writes the name of a section for messages: "isai", "first=mg" or "second=ilu". */
void keys_title(const method *m, method_section section, char title[KEYS_TITLE]);

/* Returns true if the method has this key, outside of stages. */
bool keys_take(const method *m, const char *key);

/* Returns the name, in messages, of the option with this index among those of a section. NULL:
 * after the last one. */
const char *keys_name(const method *m, method_section section, int index);

/* Returns the option of such a name and gives its value. NULL: the section does not have it. */
const bisai_option *keys_option(const method *m, method_section section, const char *name,
                                double *value);

#endif
