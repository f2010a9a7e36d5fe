/* SPDX-License-Identifier: BSD-3-Clause */
#include "words.h"

#include <stdio.h>

#include <bisai/context.h>
#include <bisai/io.h>
#include <bisai/order.h>

#include "grammar.h"
#include "message.h"

enum { MOST_WORDS = 8, WORD_TEXT = 32 };

#define WORD(enumerator, word) [enumerator] = word,
static const char *const backends[] = {BISAI_BACKEND_LIST(WORD)};
static const char *const orderings[] = {BISAI_ORDERING_LIST(WORD)};
static const char *const matchings[] = {BISAI_MATCHING_LIST(WORD)};
static const char *const formats[] = {BISAI_FORMAT_LIST(WORD)};
#undef WORD

/* what the help says of a word */
static const char *const backend_notes[MOST_WORDS] = {[BISAI_BACKEND_AUTO] = " (default)"};
static const char *const ordering_notes[MOST_WORDS] = {[BISAI_ORDERING_NATURAL] = " (default)",
                                                       [BISAI_ORDERING_ND] = " (METIS)",
                                                       [BISAI_ORDERING_COLOUR] = " (color)"};
static const char *const matching_notes[MOST_WORDS] = {[BISAI_MATCHING_NONE] = " (default)"};
static const char *const no_notes[MOST_WORDS] = {NULL};

/* The words of an option are those from `first` to `last`: the program has no given ordering, and
 * the name of a file chooses its format where --format does not. */
static const struct {
  const char *name;
  const char *const *words, *const *notes;
  int first, last;
} options[] = {
    [WORDS_BACKEND] = {"backend", backends, backend_notes, BISAI_BACKEND_AUTO, BISAI_BACKEND_CUDA},
    [WORDS_ORDERING] = {"ordering", orderings, ordering_notes, BISAI_ORDERING_NATURAL,
                        BISAI_ORDERING_MD},
    [WORDS_MATCHING] = {"matching", matchings, matching_notes, BISAI_MATCHING_NONE,
                        BISAI_MATCHING_BLOCKS},
    [WORDS_FORMAT] = {"format", formats, no_notes, BISAI_FORMAT_MATRIX_MARKET,
                      BISAI_FORMAT_SUITESPARSE}};

void words_help(words_option option, char help[WORDS_HELP]) {
  char texts[MOST_WORDS][WORD_TEXT];
  const char *words[MOST_WORDS];
  int count = 0;
  for (int i = options[option].first; i <= options[option].last; i++, count++) {
    const char *note = options[option].notes[i];
    snprintf(texts[count], WORD_TEXT, "%s%s", options[option].words[i], note ? note : "");
    words[count] = texts[count];
  }
  *help = '\0';
  append_list(help, WORDS_HELP, count, words, " or ");
}

void words_say(words_option option, const char *text) {
  const int count = options[option].last - options[option].first + 1;
  const char *name = options[option].name;
  char all[WORDS_HELP] = "";
  append_list(all, sizeof all, count, options[option].words + options[option].first, ", ");
  say("--%s: '%s' is not %s %s (%s)", name, text, name[0] == 'o' ? "an" : "a", name, all);
}
