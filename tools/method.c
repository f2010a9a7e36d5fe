#include "method.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "message.h"
#include "parse.h"

enum { METHOD_TEXT = 128, POWER = 1, RELAX = 2, STORAGE = 4, SWEEPS = 8 };

static const char *const kinds[] = {"none", "bjacobi", "ilu", "isai", "sweeps"};
static const char *const storages[] = {"fp64", "fp32", "fp16", "bf16"};
static const char *const keys_of_kind[] = {NULL, NULL, NULL, "k, relax, storage", "n"};

const char *method_kind(const method *m) { return kinds[m->kind]; }
const char *method_storage(const method *m) { return storages[m->storage]; }

static int find(const char *const *names, int count, const char *name) {
  for (int i = 0; i < count; ++i) {
    if (strcmp(names[i], name) == 0) return i;
  }
  return -1;
}

static int key_of(const method *m, const char *key) {
  if (m->kind == BISAI_PRECOND_SWEEPS) return strcmp(key, "n") == 0 ? SWEEPS : 0;
  if (m->kind != BISAI_PRECOND_ISAI) return 0;
  if (strcmp(key, "k") == 0) return POWER;
  if (strcmp(key, "relax") == 0) return RELAX;
  return strcmp(key, "storage") == 0 ? STORAGE : 0;
}

static bool set_integer(const char *flag, const char *text, const char *key, const char *value, int minimum,
                        int maximum, int *result) {
  if (parse_integer(value, minimum, maximum, result)) return true;
  say("%s: %s: %s must be an integer from %d to %d", flag, text, key, minimum, maximum);
  return false;
}

static bool set_value(const char *flag, const char *text, const char *key, int which, const char *value, method *m) {
  if (which == POWER) return set_integer(flag, text, key, value, 1, METHOD_MAX_POWER, &m->power);
  if (which == RELAX) return set_integer(flag, text, key, value, 0, METHOD_MAX_STEPS, &m->relax);
  if (which == SWEEPS) return set_integer(flag, text, key, value, 0, METHOD_MAX_STEPS, &m->sweeps);
  int storage = find(storages, 4, value);
  if (storage < 0) {
    say("%s: %s: storage must be fp64, fp32, fp16 or bf16", flag, text);
    return false;
  }
  m->storage = (bisai_value_type)storage;
  return true;
}

/* Applies one "key=value"; `seen` collects the keys. */
static bool set_key(const char *flag, const char *text, char *item, int *seen, method *m) {
  char *equals = strchr(item, '=');
  if (equals) *equals = '\0';
  int which = key_of(m, item);
  if (!keys_of_kind[m->kind]) {
    say("%s: %s: %s takes no keys", flag, text, method_kind(m));
  } else if (!which) {
    say("%s: %s: '%s' is not a key of %s (%s)", flag, text, item, method_kind(m), keys_of_kind[m->kind]);
  } else if (!equals) {
    say("%s: %s: '%s' needs a value", flag, text, item);
  } else if (*seen & which) {
    say("%s: %s: '%s' is given twice", flag, text, item);
  } else {
    *seen |= which;
    return set_value(flag, text, item, which, equals + 1, m);
  }
  return false;
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
  int kind = find(kinds, 5, copy);
  if (kind < 0) {
    say("%s: '%s' is not a method (none, bjacobi, ilu, isai, sweeps)", flag, copy);
    return false;
  }
  method m = {.kind = (bisai_precond_kind)kind, .power = 1, .sweeps = 1, .storage = BISAI_FP64};
  int seen = 0;
  while (colon) {
    char *item = colon + 1;
    colon = strchr(item, ':');
    if (colon) *colon = '\0';
    if (!set_key(flag, text, item, &seen, &m)) return false;
  }
  if (m.kind == BISAI_PRECOND_SWEEPS && !(seen & SWEEPS)) {
    say("%s: sweeps needs its number, as in sweeps:n=3", flag);
    return false;
  }
  *result = m;
  return true;
}

bool method_list_parse(const char *flag, const char *text, method_list *list) {
  size_t length = strlen(text);
  char *copy = malloc(length + 1);
  method *items = malloc((length + 1) * sizeof *items); /* at most one method a character, and one */
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
  int length = snprintf(label, METHOD_LABEL, "%s", method_kind(m));
  if (m->kind == BISAI_PRECOND_SWEEPS) {
    snprintf(label + length, (size_t)(METHOD_LABEL - length), ":n=%d", m->sweeps);
  } else if (m->kind == BISAI_PRECOND_ISAI) {
    length += snprintf(label + length, (size_t)(METHOD_LABEL - length), ":k=%d", m->power);
    if (m->relax) length += snprintf(label + length, (size_t)(METHOD_LABEL - length), ":relax=%d", m->relax);
    if (m->storage != BISAI_FP64) {
      snprintf(label + length, (size_t)(METHOD_LABEL - length), ":storage=%s", method_storage(m));
    }
  }
}
