/* SPDX-License-Identifier: BSD-3-Clause */
/* The JSON that the command-line program prints, and the values in it. */
#ifndef BISAI_TEST_RESULTS_H
#define BISAI_TEST_RESULTS_H

#include <jansson.h>

#include "support/program.h"
#include "support/support.h"

/* The JSON that a run prints with --json -, which must be all that it prints and end with this exit
 * status. */
static inline json_t *results_with(int status, const char *line) {
  char all[1200];
  assert_true(snprintf(all, sizeof all, "%s --json -", line) < (int)sizeof all);
  program p = run(all);
  json_error_t error;
  json_t *root = json_loads(p.out, 0, &error);
  if (!root || p.status != status)
    fail_msg("bisai %s\nexit status %d, expected %d\n%s line %d\nstderr: %s", all, p.status, status,
             root ? "" : error.text, root ? 0 : error.line, p.err);
  program_free(&p);
  return root;
}

static inline json_t *results(const char *line) { return results_with(0, line); }

static inline json_t *run_of(const json_t *root, size_t i) {
  json_t *one = json_array_get(json_object_get(root, "runs"), i);
  if (!one) fail_msg("there is no run %zu", i);
  return one;
}

static inline const char *text(const json_t *object, const char *key) {
  const char *value = json_string_value(json_object_get(object, key));
  if (!value) fail_msg("'%s' is not a string", key);
  return value;
}

static inline double number(const json_t *object, const char *key) {
  const json_t *value = json_object_get(object, key);
  if (!json_is_number(value)) fail_msg("'%s' is not a number", key);
  return json_number_value(value);
}

static inline json_int_t integer(const json_t *object, const char *key) {
  const json_t *value = json_object_get(object, key);
  if (!json_is_integer(value)) fail_msg("'%s' is not an integer", key);
  return json_integer_value(value);
}

/* The value of a key that is not an integer, even if its value is one. */
static inline double real(const json_t *object, const char *key) {
  const json_t *value = json_object_get(object, key);
  if (!json_is_real(value)) fail_msg("'%s' is not a real number", key);
  return json_real_value(value);
}

#endif
