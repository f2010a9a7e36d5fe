/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes the options of a preconditioner as a text. */
#include <bisai/text.h>

#include <string.h>

#include <bisai/stages.h>

#include "text/sections.h"
#include "text/write.h"
#include "text/writer.h"

/* Returns true if a section has the option. */
static bool is_key(const bisai_precond_options *options, const bisai_option *option) {
  const bisai_option *key;
  for (int s = 0; s < BISAI_TEXT_SECTIONS; s++) {
    if (option == bsi_section_choice(options, s)) return true;
    for (int i = 0; (key = bisai_precond_text_option(options, s, i)); i++)
      if (key == option) return true;
  }
  return false;
}

/* Returns true if each option that a text can give is a key of a section. */
static bool is_complete(const bisai_precond_options *options) {
  const bisai_option *option;
  for (int i = 0; (option = bisai_precond_kind_option(options->kind, i)); i++)
    if (option->key && bisai_option_get(option, options) != option->initial &&
        bsi_is_writable(option, options) && bisai_precond_options_take(options, option->field) &&
        !is_key(options, option))
      return false;
  return true;
}

/* Chooses the kind of a stage that is chosen automatically. */
static void name_stage(bisai_precond_options *options, int section) {
  const bisai_option *choice = bsi_section_choice(options, section);
  bisai_precond_kind kind;
  double value;
  if (choice && bisai_option_get(choice, options) == choice->initial &&
      bisai_precond_stage(options, section - BSI_SECTION_FIRST, &kind) &&
      bisai_option_parse(choice, bisai_precond_kind_string(kind), &value))
    bisai_option_set(choice, value, options);
}

/* Names as few stages as needed. */
static bisai_precond_options name_stages(const bisai_precond_options *given) {
  bisai_precond_options options = *given;
  if (is_complete(&options)) return options;
  name_stage(&options, BSI_SECTION_SECOND);
  if (is_complete(&options)) return options;
  options = *given;
  name_stage(&options, BSI_SECTION_FIRST);
  if (!is_complete(&options)) name_stage(&options, BSI_SECTION_SECOND);
  return options;
}

static void write_key(bsi_writer *w, const bisai_option *option, const void *place,
                      const bisai_text_keys *keys) {
  const bool vectors = option->type == BISAI_OPTION_VECTORS && keys && keys->name;
  const char *name = vectors ? keys->name(keys->user, option) : NULL;
  if (name)
    bsi_write(w, ":%s=%s", option->key, name);
  else
    bsi_write_option(w, option, place, keys && keys->shown);
}

static void write_keys(bsi_writer *w, const bisai_precond_options *options, int section,
                       const bisai_text_keys *keys) {
  const bisai_option *option;
  for (int i = 0; (option = bisai_precond_text_option(options, section, i)); i++)
    write_key(w, option, options, keys);
  const bool more = section == BSI_SECTION_OWN && keys && keys->option;
  for (int i = 0; more && (option = keys->option(keys->user, options, i)); i++)
    write_key(w, option, keys->user, keys);
}

/* Writes ":first=mg:KEY…", if the stage is chosen or has keys to write. */
static void write_stage(bsi_writer *w, const bisai_precond_options *options, int section,
                        const bisai_text_keys *keys) {
  const char *head, *word;
  const bsi_writer before = *w;
  const bisai_option *choice = bsi_section_choice(options, section);
  if (!bisai_precond_text_section(options, section, &head, &word)) return;
  bsi_write(w, ":%s=%s", head, word);
  const size_t length = w->length;
  write_keys(w, options, section, keys);
  if (w->length > length || (choice && bisai_option_get(choice, options) != choice->initial))
    return;
  *w = before;
  if (w->length < w->size) w->text[w->length] = '\0';
}

/* Returns true if there is a word for each choice that the kind takes. */
static bool has_words(const bisai_precond_options *options) {
  const bisai_option *option;
  for (int i = 0; (option = bisai_precond_kind_option(options->kind, i)); i++)
    if (!bsi_has_word(option, options)) return false;
  return true;
}

size_t bisai_precond_options_text(const bisai_precond_options *options, const bisai_text_keys *keys,
                                  size_t size, char *text) {
  bsi_writer w = bsi_writer_begin(size, text);
  if (!options || options->struct_size != sizeof *options || (int)options->kind < 0 ||
      (int)options->kind >= BISAI_PRECOND_KINDS || (keys && keys->struct_size != sizeof *keys))
    return 0;
  const bool own = keys && keys->word && options->kind == BISAI_PRECOND_CALLBACK;
  if ((!own && bisai_precond_kind_needs_code(options->kind)) || !has_words(options)) return 0;
  const bisai_precond_options named = name_stages(options);
  bsi_write(&w, "%s", own ? keys->word : bisai_precond_kind_string(named.kind));
  for (int s = 0; s < BISAI_TEXT_SECTIONS; s++) {
    if (s == BSI_SECTION_OWN)
      write_keys(&w, &named, s, keys);
    else
      write_stage(&w, &named, s, keys);
  }
  return w.length;
}
