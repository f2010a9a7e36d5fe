/* SPDX-License-Identifier: BSD-3-Clause */
#include "method.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bisai/precond.h>

#include "message.h"
#include "parse.h"

enum { METHOD_TEXT = 128, LIST_TEXT = 256 };

enum {
  OF_BJACOBI = 1 << METHOD_BJACOBI,
  OF_ISAI = 1 << METHOD_ISAI,
  OF_SWEEPS = 1 << METHOD_SWEEPS,
  OF_FACTORS = 1 << METHOD_ILU | OF_ISAI | OF_SWEEPS,
  OF_PETSC = 1 << METHOD_PETSC | 1 << METHOD_PETSC_ILU,
  OF_PRODUCTS = 1 << METHOD_ILU | OF_ISAI | 1 << METHOD_CUSPARSE_ILU
};

static const char *const names[] = {"none", "bjacobi", "ilu", "isai", "sweeps",
                                    /* as enum method_name */
                                    "petsc", "petsc-ilu", "cusparse-ilu", NULL};
#define WORD_OF(enumerator, word) word,
#define TYPE_WORD(enumerator, word, bytes, mantissa) word,
static const char *const storages[] = {BISAI_MATRIX_TYPE_LIST(TYPE_WORD) NULL};
static const char *const block_storages[] = {BISAI_VALUE_TYPE_LIST(TYPE_WORD) NULL};
static const char *const forms[] = {BISAI_FORM_LIST(WORD_OF) NULL};
static const char *const extractions[] = {BISAI_EXTRACTION_LIST(WORD_OF) NULL};
/* as enum method_factors */
static const char *const factors[] = {"bisai", "petsc", "cusparse", NULL};
/* as enum method_maker */
static const char *const makers[] = {"bisai", "cusparse", NULL};

typedef enum key_type {
  INTEGER,
  NUMBER,
  WORD,
  FLAG
  /* stored as int, double, int (which of the words), int (1) */
} key_type;
/* SHOWN: in the label even as the default */
typedef enum key_use { OPTIONAL, SHOWN, NEEDED } key_use;

typedef struct method_key {
  const char *name;
  /* OF_… of those that take it */
  unsigned methods;
  key_use use;
  key_type type;
  /* in struct method */
  size_t offset;
  double initial, minimum, maximum;
  /* ends with NULL */
  const char *const *words;
} method_key;

/* In the order of labels and lists. */
static const method_key keys[] = {
    {"max", OF_BJACOBI, OPTIONAL, INTEGER, offsetof(method, max_block), 0, 0, METHOD_MAX_BLOCK,
     NULL},
    {"form", OF_BJACOBI, OPTIONAL, WORD, offsetof(method, form), BISAI_FORM_INVERSE, 0, 0, forms},
    {"storage", OF_BJACOBI, OPTIONAL, WORD, offsetof(method, storage), BISAI_FP64, 0, 0,
     block_storages},
    {"digits", OF_BJACOBI, OPTIONAL, INTEGER, offsetof(method, digits), 2, 1, METHOD_MAX_DIGITS,
     NULL},
    {"extraction", OF_BJACOBI, OPTIONAL, WORD, offsetof(method, extraction), BISAI_EXTRACTION_AUTO,
     0, 0, extractions},
    {"k", OF_ISAI, SHOWN, INTEGER, offsetof(method, power), 1, 1, METHOD_MAX_POWER, NULL},
    {"symmetric", OF_ISAI, OPTIONAL, FLAG, offsetof(method, symmetric), 0, 0, 1, NULL},
    {"relax", OF_ISAI, OPTIONAL, INTEGER, offsetof(method, relax), 0, 0, METHOD_MAX_STEPS, NULL},
    {"storage", OF_ISAI, OPTIONAL, WORD, offsetof(method, storage), BISAI_FP64, 0, 0, storages},
    {"drop", OF_ISAI, OPTIONAL, NUMBER, offsetof(method, drop), 0, 0, METHOD_MAX_RATIO, NULL},
    {"cap", OF_ISAI, OPTIONAL, INTEGER, offsetof(method, cap), 0, 0, INT32_MAX, NULL},
    {"n", OF_SWEEPS, NEEDED, INTEGER, offsetof(method, sweeps), 1, 0, METHOD_MAX_STEPS, NULL},
    {"level", OF_FACTORS | OF_PETSC, OPTIONAL, INTEGER, offsetof(method, level), 0, 0, INT32_MAX,
     NULL},
    {"shift", OF_BJACOBI | OF_FACTORS, OPTIONAL, NUMBER, offsetof(method, shift), 0, 0,
     METHOD_MAX_RATIO, NULL},
    {"factors", OF_FACTORS, OPTIONAL, WORD, offsetof(method, factors), FACTORS_OWN, 0, 0, factors},
    {"pattern", OF_ISAI, OPTIONAL, WORD, offsetof(method, pattern), MAKER_OWN, 0, 0, makers},
    {"apply", OF_PRODUCTS, OPTIONAL, WORD, offsetof(method, apply), MAKER_OWN, 0, 0, makers},
};
enum { KEYS = sizeof keys / sizeof *keys };

const char *method_kind(const method *m) { return names[m->name]; }
bool method_is_exact(const method *m) {
  return m->name == METHOD_ILU || m->name == METHOD_PETSC || m->name == METHOD_PETSC_ILU ||
         m->name == METHOD_CUSPARSE_ILU;
}
const char *method_storage(const method *m) { return block_storages[m->storage]; }
const char *method_form(const method *m) { return forms[m->form]; }
const char *method_extraction(const method *m) { return extractions[m->extraction]; }
const char *method_factors_of(const method *m) { return factors[m->factors]; }
const char *method_pattern_of(const method *m) { return makers[m->pattern]; }
const char *method_apply_of(const method *m) { return makers[m->apply]; }

static bool takes(const method *m, const method_key *key) { return key->methods >> m->name & 1; }

static int find(const char *const *words, const char *text) {
  for (int i = 0; words[i]; ++i) {
    if (strcmp(words[i], text) == 0) return i;
  }
  return -1;
}

static int find_key(const method *m, const char *name) {
  for (int i = 0; i < KEYS; ++i) {
    if (takes(m, &keys[i]) && strcmp(keys[i].name, name) == 0) return i;
  }
  return -1;
}

bool method_takes(const method *m, const char *key) { return find_key(m, key) >= 0; }

/* Appends as printf() would, as far as there is room. */
__attribute__((format(printf, 3, 4))) static void append(char *text, size_t size,
                                                         const char *format, ...) {
  size_t length = strlen(text);
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text + length, size - length, format, arguments);
  va_end(arguments);
}

/* "a, b, c", the last joined by `last`. */
static void join(const char *const *words, const char *last, char text[LIST_TEXT]) {
  *text = '\0';
  for (int i = 0; words[i]; ++i) {
    append(text, LIST_TEXT, "%s%s", i == 0 ? "" : words[i + 1] ? ", " : last, words[i]);
  }
}

static void join_keys(const method *m, char text[LIST_TEXT]) {
  const char *taken[KEYS + 1] = {NULL};
  int count = 0;
  for (int i = 0; i < KEYS; ++i) {
    if (takes(m, &keys[i])) taken[count++] = keys[i].name;
  }
  join(taken, ", ", text);
}

static double get(const method *m, const method_key *key) {
  const char *place = (const char *)m + key->offset;
  return key->type == NUMBER ? *(const double *)(const void *)place
                             : *(const int *)(const void *)place;
}

static void set(method *m, const method_key *key, double value) {
  char *place = (char *)m + key->offset;
  if (key->type == NUMBER) {
    *(double *)(void *)place = value;
  } else {
    *(int *)(void *)place = (int)value;
  }
}

static bool parse_value(const method_key *key, const char *text, double *value) {
  int integer = 0;
  switch (key->type) {
  case INTEGER:
    if (!parse_integer(text, (int)key->minimum, (int)key->maximum, &integer)) return false;
    *value = integer;
    return true;
  case FLAG: *value = 1; return true;
  case NUMBER: return parse_number(text, value) && *value >= key->minimum && *value <= key->maximum;
  default: *value = find(key->words, text); return *value >= 0;
  }
}

static void say_range(const char *flag, const char *text, const method_key *key) {
  char words[LIST_TEXT];
  if (key->type == WORD) {
    join(key->words, " or ", words);
    say("%s: %s: %s must be %s", flag, text, key->name, words);
  } else {
    say("%s: %s: %s must be %s from %.10g to %.10g", flag, text, key->name,
        key->type == INTEGER ? "an integer" : "a number", key->minimum, key->maximum);
  }
}

/* Applies one "key=value"; `seen` collects the keys. */
static bool set_key(const char *flag, const char *text, char *item, unsigned *seen, method *m) {
  char *equals = strchr(item, '='), taken[LIST_TEXT];
  if (equals) *equals = '\0';
  join_keys(m, taken);
  int which = find_key(m, item);
  double value = 0;
  if (!*taken) {
    say("%s: %s: %s takes no keys", flag, text, method_kind(m));
  } else if (which < 0) {
    say("%s: %s: '%s' is not a key of %s (%s)", flag, text, item, method_kind(m), taken);
  } else if (keys[which].type == FLAG && equals) {
    say("%s: %s: '%s' takes no value", flag, text, item);
  } else if (keys[which].type != FLAG && !equals) {
    say("%s: %s: '%s' needs a value", flag, text, item);
  } else if (*seen >> which & 1) {
    say("%s: %s: '%s' is given twice", flag, text, item);
  } else if (!parse_value(&keys[which], equals ? equals + 1 : "", &value)) {
    say_range(flag, text, &keys[which]);
  } else {
    *seen |= 1U << which;
    set(m, &keys[which], value);
    return true;
  }
  return false;
}

static bool has_what_it_needs(const char *flag, const method *m, unsigned seen) {
  for (int i = 0; i < KEYS; ++i) {
    if (takes(m, &keys[i]) && keys[i].use == NEEDED && !(seen >> i & 1)) {
      say("%s: %s needs its number, as in %s:%s=3", flag, method_kind(m), method_kind(m),
          keys[i].name);
      return false;
    }
  }
  return true;
}

bool method_parse(const char *flag, const char *text, method *result) {
  char copy[METHOD_TEXT];
  size_t length = strlen(text);
  if (length == 0 || length >= sizeof copy) {
    say(length ? "%s: method of more than 127 characters" : "%s: a method is empty", flag);
    return false;
  }
  memcpy(copy, text, length + 1);
  char *colon = strchr(copy, ':');
  if (colon) *colon = '\0';
  int name = find(names, copy);
  if (name < 0) {
    char all[LIST_TEXT];
    join(names, ", ", all);
    say("%s: '%s' is not a method (%s)", flag, copy, all);
    return false;
  }
  method m = {.name = (method_name)name};
  for (int i = 0; i < KEYS; ++i) {
    set(&m, &keys[i], keys[i].initial);
  }
  unsigned seen = 0;
  while (colon) {
    char *item = colon + 1;
    colon = strchr(item, ':');
    if (colon) *colon = '\0';
    if (!set_key(flag, text, item, &seen, &m)) return false;
  }
  if (!has_what_it_needs(flag, &m, seen)) return false;
  *result = m;
  return true;
}

bool method_list_parse(const char *flag, const char *text, method_list *list) {
  size_t length = strlen(text);
  char *copy = malloc(length + 1);
  /* at most one method a character, and one */
  method *items = malloc((length + 1) * sizeof *items);
  int count = 0;
  bool ok = copy && items;
  if (!ok) say("%s: out of memory", flag);
  if (ok) memcpy(copy, text, length + 1);
  for (char *item = copy; ok && item;) {
    char *comma = strchr(item, ',');
    if (comma) *comma = '\0';
    ok = method_parse(flag, item, &items[count++]);
    item = comma ? comma + 1 : NULL;
  }
  free(copy);
  if (!ok) {
    free(items);
    return false;
  }
  method_list_free(list);
  *list = (method_list){count, items};
  return true;
}

void method_list_free(method_list *list) {
  free(list->items);
  *list = (method_list){0};
}

void method_label(const method *m, char label[METHOD_LABEL]) {
  *label = '\0';
  append(label, METHOD_LABEL, "%s", method_kind(m));
  for (int i = 0; i < KEYS; ++i) {
    double value = get(m, &keys[i]);
    if (!takes(m, &keys[i]) || (keys[i].use == OPTIONAL && value == keys[i].initial)) continue;
    append(label, METHOD_LABEL, keys[i].type == FLAG ? ":%s" : ":%s=", keys[i].name);
    if (keys[i].type == FLAG) continue;
    if (keys[i].type == WORD) {
      append(label, METHOD_LABEL, "%s", keys[i].words[(int)value]);
    } else {
      append(label, METHOD_LABEL, "%.10g", value);
    }
  }
}
