/* SPDX-License-Identifier: BSD-3-Clause */
/* The options whose values are words of the library's enumerations: --backend, --ordering,
 * --matching and --format. */
#ifndef TOOL_WORDS_H
#define TOOL_WORDS_H

enum { WORDS_HELP = 128 };

typedef enum words_option {
  WORDS_BACKEND,
  WORDS_ORDERING,
  WORDS_MATCHING,
  WORDS_FORMAT
} words_option;

/* Writes the words for --help, as in "auto (default), host or cuda". */
void words_help(words_option option, char help[WORDS_HELP]);

/* Says that a text is no word of an option, and which words it has. */
void words_say(words_option option, const char *text);

#endif
