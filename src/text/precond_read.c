/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the text of a preconditioner. */
#include <bisai/text.h>

#include <stdio.h>
#include <string.h>

#include <bisai/stages.h>

#include "text/items.h"
#include "text/sections.h"

enum { MOST_KEYS = 64, TITLE = 64 };

typedef struct reading {
  bsi_items r;
  const bisai_text_keys *keys;
  bisai_precond_options options;
  int section;
  bool begun[BISAI_TEXT_SECTIONS];
  /* the keys of each section, in the order of list_keys() */
  bool seen[BISAI_TEXT_SECTIONS][MOST_KEYS];
  /* the last value was the name of a file */
  bool after_file;
} reading;

static int list_keys(reading *p, int section, bsi_key list[MOST_KEYS]) {
  const bisai_option *option;
  int count = 0;
  for (int i = 0; count < MOST_KEYS; i++) {
    if (!(option = bisai_precond_text_option(&p->options, section, i))) break;
    list[count++] = (bsi_key){option, &p->options};
  }
  const bool more = section == BSI_SECTION_OWN && p->keys && p->keys->option;
  for (int i = 0; more && count < MOST_KEYS; i++) {
    if (!(option = p->keys->option(p->keys->user, &p->options, i))) break;
    list[count++] = (bsi_key){option, p->keys->user};
  }
  return count;
}

static int find(int count, const bsi_key *list, const char *name) {
  for (int i = 0; i < count; i++)
    if (strcmp(list[i].option->key, name) == 0) return i;
  return -1;
}

/* title ← "isai", "first=mg" or "second=ilu" */
static void name_section(const reading *p, int section, char title[TITLE]) {
  const char *head = NULL, *word = "";
  bisai_precond_text_section(&p->options, section, &head, &word);
  if (section == BSI_SECTION_OWN && p->options.kind == BISAI_PRECOND_CALLBACK) word = p->keys->word;
  snprintf(title, TITLE, "%s%s%.32s", head ? head : "", head ? "=" : "", word);
}

/* Says that a section does not have a key, and which keys it has, or which section has the key. */
static bisai_status refuse_key(reading *p, const bsi_item *item, int count, const bsi_key *list) {
  char title[TITLE], other[TITLE], all[BSI_WORDS_TEXT] = "", hint[128] = "";
  const char *names[MOST_KEYS + BISAI_TEXT_SECTIONS], *head, *word;
  bsi_key others[MOST_KEYS];
  name_section(p, p->section, title);
  for (int i = 0; i < count; i++) names[i] = list[i].option->key;
  for (int s = BSI_SECTION_FIRST; s < BISAI_TEXT_SECTIONS; s++)
    if (bisai_precond_text_section(&p->options, s, &head, &word)) names[count++] = head;
  if (count == 0) return bsi_items_fail(&p->r, item, "%s takes no keys", title);
  bsi_list_words(all, count, names, ", ");
  for (int s = 0; s < BISAI_TEXT_SECTIONS && !*hint; s++) {
    if (find(list_keys(p, s, others), others, item->key) < 0) continue;
    name_section(p, s, other);
    snprintf(hint, sizeof hint,
             s == BSI_SECTION_OWN ? "; keys of %s come before first= and second="
                                  : "; it is one of %s",
             other);
  }
  if (!*hint && p->after_file)
    snprintf(hint, sizeof hint, "; the name of a file cannot have a colon");
  return bsi_items_fail(&p->r, item, "'%s' is not a key of %s (%s)%s", item->key, title, all, hint);
}

static bisai_status read_key(reading *p, const bsi_item *item) {
  bsi_key list[MOST_KEYS];
  double value;
  const int count = list_keys(p, p->section, list);
  const int which = find(count, list, item->key);
  if (which < 0) return refuse_key(p, item, count, list);
  const bisai_option *option = list[which].option;
  BSI_TRY(bsi_items_set(&p->r, item, &list[which], p->keys, &p->seen[p->section][which]));
  if (p->keys && p->keys->given) p->keys->given(p->keys->user, option);
  p->after_file =
      option->type == BISAI_OPTION_VECTORS && !bisai_option_parse(option, item->value, &value);
  return BISAI_OK;
}

/* Begins the section of "first=mg" or "second=KIND". */
static bisai_status begin_section(reading *p, int section, const bsi_item *item) {
  const bsi_key choice = {bsi_section_choice(&p->options, section), &p->options};
  const char *head, *word;
  if (choice.option) {
    BSI_TRY(bsi_items_set(&p->r, item, &choice, NULL, &p->begun[section]));
  } else {
    bisai_precond_text_section(&p->options, section, &head, &word);
    if (!item->value) return bsi_items_fail(&p->r, item, "'%s' needs a value", head);
    if (p->begun[section]) return bsi_items_fail(&p->r, item, "'%s' is given twice", head);
    if (strcmp(item->value, word) != 0)
      return bsi_items_fail(&p->r, item, "%s must be %s", head, word);
    p->begun[section] = true;
  }
  p->section = section;
  return BISAI_OK;
}

/* Reads "key", "key=value", "first=mg" or "second=KIND". */
static bisai_status read_item(reading *p, const bsi_item *item) {
  const char *head, *word;
  for (int s = BSI_SECTION_FIRST; s < BISAI_TEXT_SECTIONS; s++)
    if (bisai_precond_text_section(&p->options, s, &head, &word) && strcmp(item->key, head) == 0)
      return begin_section(p, s, item);
  return read_key(p, item);
}

static bisai_status check_needed(reading *p) {
  for (int s = 0; s < BISAI_TEXT_SECTIONS; s++) {
    bsi_key list[MOST_KEYS];
    char title[TITLE];
    const int count = list_keys(p, s, list);
    for (int i = 0; i < count; i++) {
      if (list[i].option->use != BISAI_OPTION_NEEDED || p->seen[s][i]) continue;
      name_section(p, s, title);
      return bsi_items_fail(&p->r, NULL, "%s needs its number, as in %s:%s=3", title, title,
                            list[i].option->key);
    }
  }
  return BISAI_OK;
}

static bisai_status read_word(reading *p, const bsi_item *item) {
  const char *words[BISAI_PRECOND_KINDS + 1];
  char all[BSI_WORDS_TEXT] = "";
  int count = 0;
  if (p->keys && p->keys->word && strcmp(p->keys->word, item->key) == 0) {
    p->options.kind = BISAI_PRECOND_CALLBACK;
    return BISAI_OK;
  }
  if (bisai_precond_kind_parse(item->key, &p->options.kind) &&
      !bisai_precond_kind_needs_code(p->options.kind))
    return BISAI_OK;
  for (int k = 0; k < BISAI_PRECOND_KINDS; k++)
    if (!bisai_precond_kind_needs_code((bisai_precond_kind)k))
      words[count++] = bisai_precond_kind_string((bisai_precond_kind)k);
  if (p->keys && p->keys->word) words[count++] = p->keys->word;
  bsi_list_words(all, count, words, ", ");
  return bsi_items_fail(&p->r, item, "'%s' is not a method (%s)", item->key, all);
}

bisai_status bisai_precond_options_parse(const char *text, bisai_precond_options *options,
                                         const bisai_text_keys *keys, bisai_text_fault *fault) {
  reading p = {.r = {.fault = fault}, .keys = keys, .options = bisai_precond_options_default()};
  bsi_item item;
  if (!text || !options || options->struct_size != sizeof *options ||
      (keys && keys->struct_size != sizeof *keys))
    return bsi_items_fail(&p.r, NULL, "text or options is NULL, or a struct_size is unknown");
  BSI_TRY(bsi_items_begin(&p.r, text, "method", fault, &item));
  BSI_TRY(read_word(&p, &item));
  while (bsi_items_next(&p.r, &item)) BSI_TRY(read_item(&p, &item));
  BSI_TRY(check_needed(&p));
  *options = p.options;
  return BISAI_OK;
}

bisai_status bisai_precond_create_text(bisai_context *context, const bisai_bcsr *matrix,
                                       const char *text, bisai_precond **precond) {
  bisai_precond_options options = bisai_precond_options_default();
  bisai_text_fault fault;
  if (!context || !text) return bsi_fail(context, BISAI_INVALID_ARGUMENT, "an argument is NULL");
  if (bisai_precond_options_parse(text, &options, NULL, &fault))
    return bsi_text_fail(context, BISAI_INVALID_ARGUMENT, text, &fault);
  return bisai_precond_create(context, matrix, &options, precond);
}
