/* SPDX-License-Identifier: BSD-3-Clause */
/* Texts that are made from the library's descriptions of options. */
#ifndef TOOL_GRAMMAR_H
#define TOOL_GRAMMAR_H

#include <stddef.h>

#include <bisai/option.h>

/* Appends formatted text, cut to the room that is left. */
void append(char *text, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Appends "a, b or c"; `last`, here " or ", stands before the last word. */
void append_list(char *text, size_t size, int count, const char *const *words, const char *last);

/* Appends "[:k=K]", or "[:form=inverse|gh|ght|lu]" for a WORD, or "[:pre=auto|N]" for another
 * option with a word. */
void append_key(char *text, size_t size, const bisai_option *option);

/* Appends what a key means: "coarsest=auto|N: the most rows that are inverted, from 0 to 2048,
 * default auto". */
void append_key_help(char *text, size_t size, const bisai_option *option);

#endif
