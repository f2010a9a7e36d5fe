/* SPDX-License-Identifier: BSD-3-Clause */
/* Values of the program's JSON, for the files that include jansson. A failing function returns
 * NULL. The functions of jansson accept NULL, so that the whole document becomes NULL. */
#ifndef TOOL_JSON_PARTS_H
#define TOOL_JSON_PARTS_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

static inline json_t *number(bool applies, double value) {
  return applies && isfinite(value) ? json_real(value) : json_null();
}

static inline json_t *integer(bool applies, int64_t value) {
  return applies ? json_integer(value) : json_null();
}

static inline json_t *text(bool applies, const char *value) {
  json_t *string = applies ? json_string(value) : json_null();
  return string ? string : json_null(); /* not UTF-8 */
}

/* Returns an object with these keys and values in this order. It takes the values, and returns NULL
 * if one of them is NULL. */
typedef struct member {
  const char *key;
  json_t *value;
} member;

static inline json_t *object(size_t count, const member *members) {
  json_t *result = json_object();
  bool ok = result != NULL;
  for (size_t i = 0; i < count; i++)
    ok &= json_object_set_new(result, members[i].key, members[i].value) == 0;
  if (ok) return result;
  json_decref(result);
  return NULL;
}

#define OBJECT(...)                                                                                \
  object(sizeof((member[]){__VA_ARGS__}) / sizeof(member), (member[]){__VA_ARGS__})

/* Returns the document as a text that ends with a newline, or NULL. It takes the document. The
 * caller frees the text with free(). */
static inline char *text_of_document(json_t *all) {
  char *written = all ? json_dumps(all, JSON_INDENT(2)) : NULL;
  size_t length = written ? strlen(written) : 0;
  char *line = written ? realloc(written, length + 2) : NULL;
  if (line)
    memcpy(line + length, "\n", 2);
  else
    free(written);
  json_decref(all);
  return line;
}

#endif
