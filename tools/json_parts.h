/* SPDX-License-Identifier: BSD-3-Clause */
/* The values of which the program's JSON is made, for the files that have jansson. Whatever fails
 * gives NULL, which the functions of jansson accept, so that a document fails as a whole. */
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

/* Keys and values of an object, in this order; takes the values, and fails as a whole. */
typedef struct member {
  const char *key;
  json_t *value;
} member;

static inline json_t *object(size_t count, const member *members) {
  json_t *result = json_object();
  bool ok = result != NULL;
  for (size_t i = 0; i < count; ++i) {
    ok &= json_object_set_new(result, members[i].key, members[i].value) == 0;
  }
  if (ok) return result;
  json_decref(result);
  return NULL;
}

#define OBJECT(...)                                                                                \
  object(sizeof((member[]){__VA_ARGS__}) / sizeof(member), (member[]){__VA_ARGS__})

/* The document as a text that ends with a line, or NULL; takes the document. Free with free(). */
static inline char *text_of_document(json_t *all) {
  char *written = all ? json_dumps(all, JSON_INDENT(2)) : NULL;
  size_t length = written ? strlen(written) : 0;
  char *line = written ? realloc(written, length + 2) : NULL;
  if (line) {
    memcpy(line + length, "\n", 2);
  } else {
    free(written);
  }
  json_decref(all);
  return line;
}

#endif
