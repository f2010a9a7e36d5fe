/* SPDX-License-Identifier: BSD-3-Clause */
/* The text of a solver: the word of its method, and the keys of the method's options. */
#include <bisai/text.h>

#include <string.h>

#include "text/items.h"
#include "text/write.h"

enum { MOST_KEYS = 32 };

static void reset_methods(bisai_solver_options *options) {
  const bisai_option *option;
  for (int m = 0; m < BISAI_METHODS; m++)
    for (int i = 0; (option = bisai_method_option((bisai_method)m, i)); i++)
      bisai_option_set(option, option->initial, options);
}

static bisai_status refuse_word(const bsi_items *r, const bsi_item *word) {
  const char *words[BISAI_METHODS];
  char all[BSI_WORDS_TEXT] = "";
  for (int m = 0; m < BISAI_METHODS; m++) words[m] = bisai_method_string((bisai_method)m);
  bsi_list_words(all, BISAI_METHODS, words, ", ");
  return bsi_items_fail(r, word, "'%s' is not a solver (%s)", word->key, all);
}

static bisai_status refuse_key(const bsi_items *r, const bsi_item *item, bisai_method method) {
  const char *keys[MOST_KEYS];
  char all[BSI_WORDS_TEXT] = "";
  const bisai_option *option;
  int count = 0;
  for (int i = 0; (option = bisai_method_option(method, i)) && count < MOST_KEYS; i++)
    if (option->key) keys[count++] = option->key;
  if (count == 0) return bsi_items_fail(r, item, "%s takes no keys", bisai_method_string(method));
  bsi_list_words(all, count, keys, ", ");
  return bsi_items_fail(r, item, "'%s' is not a key of %s (%s)", item->key,
                        bisai_method_string(method), all);
}

static bisai_status read_item(const bsi_items *r, const bsi_item *item, bool seen[MOST_KEYS],
                              bisai_solver_options *options) {
  const bisai_option *option;
  for (int i = 0; (option = bisai_method_option(options->method, i)) && i < MOST_KEYS; i++) {
    const bsi_key key = {option, options};
    if (option->key && strcmp(option->key, item->key) == 0)
      return bsi_items_set(r, item, &key, NULL, &seen[i]);
  }
  return refuse_key(r, item, options->method);
}

bisai_status bisai_solver_options_parse(const char *text, bisai_solver_options *options,
                                        bisai_text_fault *fault) {
  bsi_items r = {.fault = fault};
  bsi_item item;
  bool seen[MOST_KEYS] = {false};
  if (!text || !options || options->struct_size != sizeof *options)
    return bsi_items_fail(&r, NULL, "text or options is NULL, or struct_size is unknown");
  bisai_solver_options read = *options;
  reset_methods(&read);
  BSI_TRY(bsi_items_begin(&r, text, "solver", fault, &item));
  if (!bisai_method_parse(item.key, &read.method)) return refuse_word(&r, &item);
  while (bsi_items_next(&r, &item)) BSI_TRY(read_item(&r, &item, seen, &read));
  *options = read;
  return BISAI_OK;
}

size_t bisai_solver_options_text(const bisai_solver_options *options, size_t size, char *text) {
  bsi_writer w = bsi_writer_begin(size, text);
  const bisai_option *option;
  if (!options || options->struct_size != sizeof *options || (int)options->method < 0 ||
      (int)options->method >= BISAI_METHODS)
    return 0;
  for (int i = 0; (option = bisai_method_option(options->method, i)); i++)
    if (!bsi_has_word(option, options)) return 0;
  bsi_write(&w, "%s", bisai_method_string(options->method));
  for (int i = 0; (option = bisai_method_option(options->method, i)); i++)
    if (option->key) bsi_write_option(&w, option, options, false);
  return w.length;
}

bisai_status bisai_solver_create_text(bisai_context *context, int64_t n, const char *text,
                                      bisai_solver **solver) {
  bisai_solver_options options = bisai_solver_options_default();
  bisai_text_fault fault;
  if (!context || !text) return bsi_fail(context, BISAI_INVALID_ARGUMENT, "an argument is NULL");
  if (bisai_solver_options_parse(text, &options, &fault))
    return bsi_text_fail(context, BISAI_INVALID_ARGUMENT, text, &fault);
  return bisai_solver_create(context, n, &options, solver);
}
