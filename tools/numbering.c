/* SPDX-License-Identifier: BSD-3-Clause */
#include "numbering.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bisai/study.h>

#include "message.h"
#include "parse.h"

enum { MOST_COLUMNS = 2 };

static bool out_of_memory(const char *name) {
  say("%s: out of memory", name);
  return false;
}

bool numbering_parse_fields(const char *flag, const char *text, input_options *input) {
  input->fields = FIELDS_AUTO;
  if (strcmp(text, "auto") == 0) return true;
  if (parse_integer(text, 2, BISAI_MAX_BLOCK_SIZE, &input->fields)) return true;
  say("%s: '%s' is neither auto nor an integer from 2 to %d", flag, text, BISAI_MAX_BLOCK_SIZE);
  return false;
}

bool numbering_parse_nodes(const char *text, input_options *input) {
  input->nodes = text;
  if (*text) return true;
  say("--nodes: the name is empty");
  return false;
}

bool numbering_asked(const options *o) { return o->input.fields != 0 || o->input.nodes; }

const char *numbering_file(const options *o) {
  return o->input.nodes && strcmp(o->input.nodes, "auto") != 0 ? o->input.nodes : NULL;
}

bool numbering_is_named(const method *m) {
  return method_is(m, BISAI_PRECOND_SCHUR) && m->options.schur.from != BISAI_SCHUR_NOT_GIVEN;
}

bool numbering_is_free(const options *o) {
  for (int i = 0; i < o->methods.count; i++)
    if (numbering_is_named(&o->methods.items[i])) return false;
  return o->input.file && o->input.block_size <= 0 && !numbering_asked(o);
}

bool numbering_is_own(const char *name, const bisai_bcsr *matrix, bool *ok) {
  const int32_t rows = bisai_bcsr_rows(matrix);
  int32_t *place = malloc(((size_t)rows + 1) * sizeof *place);
  int32_t i = 0;
  *ok = place || out_of_memory(name);
  if (*ok) bisai_bcsr_places(matrix, place);
  while (*ok && i < rows && place[i] == i) i++;
  free(place);
  return *ok && i < rows;
}

static bool find_fields(bisai_context *context, const char *name, const bisai_bcsr *scalar,
                        bisai_csr_desc *csr) {
  bisai_matrix_study_report study = {.struct_size = sizeof study};
  const bisai_status status = bisai_matrix_study(context, scalar, 0, NULL, &study);
  if (status) {
    say_failure(context, name, status);
    return false;
  }
  if (study.fields.count < 2) {
    say("%s: no fields were found: --fields N sets their number", name);
    return false;
  }
  csr->fields = study.fields.count;
  return true;
}

static bool find_nodes(bisai_context *context, const char *name, bisai_csr_desc *csr,
                       numbering *n) {
  int32_t nodes = 0, block_size = 0;
  n->node = malloc(((size_t)csr->rows + 1) * sizeof *n->node);
  n->component = malloc(((size_t)csr->rows + 1) * sizeof *n->component);
  if (!n->node || !n->component) return out_of_memory(name);
  const bisai_status status =
      bisai_csr_find_nodes(context, csr, n->node, n->component, &nodes, &block_size);
  if (status) {
    say_failure(context, name, status);
    return false;
  }
  csr->node = n->node;
  csr->component = n->component;
  if (nodes > 0) return true;
  say("%s: no nodes were found: too few rows have the columns of another row to which they are "
      "coupled",
      name);
  return false;
}

/* Takes the integers of a column of a file, less 1. */
static bool take_column(const char *path, const char *what, const double *values, int32_t columns,
                        int32_t rows, int32_t most, int32_t *to) {
  for (int32_t i = 0; i < rows; i++) {
    const double value = values[(int64_t)i * columns];
    if (!(value >= 1 && value <= most && value == (double)(int32_t)value)) {
      say("%s: row %" PRId32 ": the %s is %g, not an integer from 1 to %" PRId32, path, i + 1, what,
          value, most);
      return false;
    }
    to[i] = (int32_t)value - 1;
  }
  return true;
}

static int32_t first_row_of(const numbering *n, int32_t node, int32_t component) {
  int32_t i = 0;
  while (n->node[i] != node || n->component[i] != component) i++;
  return i;
}

/* Refuses nodes without rows, and rows at the same place, in the numbers of the file: the library
 * counts from 0. */
static bool check_nodes(const char *path, int32_t rows, bool components, const numbering *n) {
  uint32_t *taken = calloc((size_t)rows, sizeof *taken);
  int32_t last = 0;
  bool ok = taken || out_of_memory(path);
  for (int32_t i = 0; ok && i < rows; i++) {
    const uint32_t bit = components ? 1u << n->component[i] : 1u;
    ok = !components || !(taken[n->node[i]] & bit);
    if (!ok)
      say("%s: rows %" PRId32 " and %" PRId32 " are both component %" PRId32 " of node %" PRId32,
          path, first_row_of(n, n->node[i], n->component[i]) + 1, i + 1, n->component[i] + 1,
          n->node[i] + 1);
    taken[n->node[i]] |= bit;
    last = n->node[i] > last ? n->node[i] : last;
  }
  for (int32_t k = 0; ok && k < last; k++) {
    ok = taken[k] != 0;
    if (!ok) say("%s: node %" PRId32 " has no row", path, k + 1);
  }
  free(taken);
  return ok;
}

static bool read_nodes(bisai_context *context, const char *path, bisai_csr_desc *csr,
                       numbering *n) {
  double *values = NULL;
  int32_t columns = 0;
  const bisai_status status =
      bisai_read_vectors(context, path, csr->rows, MOST_COLUMNS, &values, &columns);
  if (status) {
    say_failure(context, path, status);
    return false;
  }
  n->node = malloc((size_t)csr->rows * sizeof *n->node);
  n->component = malloc((size_t)csr->rows * sizeof *n->component);
  bool ok = (n->node && n->component) || out_of_memory(path);
  ok = ok && take_column(path, "node", values, columns, csr->rows, csr->rows, n->node);
  if (columns > 1)
    ok = ok && take_column(path, "component", values + 1, columns, csr->rows, BISAI_MAX_BLOCK_SIZE,
                           n->component);
  ok = ok && check_nodes(path, csr->rows, columns > 1, n);
  bisai_vectors_destroy(context, &values);
  csr->node = n->node;
  csr->component = columns > 1 ? n->component : NULL;
  return ok;
}

bool numbering_find(bisai_context *context, const options *o, const char *name,
                    const bisai_bcsr *scalar, bisai_csr_desc *csr, numbering *n) {
  *n = (numbering){0};
  csr->block_size = o->input.block_size > 0 ? o->input.block_size : 0;
  if (o->input.fields == FIELDS_AUTO) return find_fields(context, name, scalar, csr);
  csr->fields = o->input.fields;
  if (!o->input.nodes) return true;
  const char *path = numbering_file(o);
  return path ? read_nodes(context, path, csr, n) : find_nodes(context, name, csr, n);
}

void numbering_free(numbering *n) {
  free(n->node);
  free(n->component);
  *n = (numbering){0};
}

void numbering_say(const char *name, const bisai_bcsr *matrix) {
  const int32_t nodes = bisai_bcsr_block_rows(matrix), padding = bisai_bcsr_padding(matrix);
  const char *most = padding > 0 ? "of at most" : "of";
  char padded[100] = "";
  if (padding > 0)
    snprintf(padded, sizeof padded, ", padded with %" PRId32 " row%s of the identity", padding,
             plural(padding));
  say("%s: %" PRId32 " node%s %s %" PRId32 " unknowns%s", name, nodes, plural(nodes), most,
      bisai_bcsr_block_size(matrix), padded);
}

/* Makes the matrix again from its arrays, which are those of a scalar matrix in host memory. */
static bool make_again(bisai_context *context, const options *o, const char *name,
                       bisai_csr_desc *csr, bisai_bcsr **matrix) {
  numbering n = {0};
  bisai_bcsr *made = NULL;
  bool ok = numbering_find(context, o, name, *matrix, csr, &n);
  if (ok) {
    const bisai_status status = bisai_bcsr_from_csr(context, csr, &made);
    if (status) say_failure(context, name, status);
    ok = !status;
  }
  numbering_free(&n);
  if (!ok) return false;
  bisai_bcsr_destroy(matrix);
  *matrix = made;
  if (o->input.fields <= 0) numbering_say(name, made);
  return true;
}

/* The arrays of a matrix in blocks of one value, in host memory. */
typedef struct arrays {
  int32_t *row_ptr, *col_idx;
  double *values;
} arrays;

/* Fetches the arrays, which the caller frees also after a failure. */
static bool fetch(bisai_context *context, const char *name, const bisai_bcsr *scalar, arrays *a,
                  bisai_csr_desc *csr) {
  const size_t rows = (size_t)bisai_bcsr_rows(scalar), entries = (size_t)bisai_bcsr_blocks(scalar);
  a->row_ptr = malloc((rows + 1) * sizeof *a->row_ptr);
  a->col_idx = malloc((entries + 1) * sizeof *a->col_idx);
  a->values = malloc((entries + 1) * sizeof *a->values);
  if (!a->row_ptr || !a->col_idx || !a->values) return out_of_memory(name);
  const bisai_status status = bisai_bcsr_fetch(scalar, a->row_ptr, a->col_idx, a->values);
  if (status) say_failure(context, name, status);
  csr->rows = csr->cols = (int32_t)rows;
  csr->row_ptr = a->row_ptr, csr->col_idx = a->col_idx, csr->values = a->values;
  return !status;
}

static void arrays_free(arrays *a) {
  free(a->row_ptr);
  free(a->col_idx);
  free(a->values);
}

bool numbering_apply(bisai_context *context, const options *o, const char *name,
                     bisai_bcsr **matrix) {
  bisai_csr_desc csr = bisai_csr_desc_default();
  arrays a = {0};
  const bool ok =
      fetch(context, name, *matrix, &a, &csr) && make_again(context, o, name, &csr, matrix);
  arrays_free(&a);
  return ok;
}

bool numbering_has_nodes(bisai_context *context, const char *name, const bisai_bcsr *scalar) {
  bisai_csr_desc csr = bisai_csr_desc_default();
  arrays a = {0};
  int32_t nodes = 0, block_size = 0, *node = NULL;
  if (fetch(context, name, scalar, &a, &csr))
    node = malloc(2 * ((size_t)csr.rows + 1) * sizeof *node);
  if (node && bisai_csr_find_nodes(context, &csr, node, node + csr.rows, &nodes, &block_size))
    nodes = 0;
  free(node);
  arrays_free(&a);
  return nodes > 0;
}

double *numbering_written(const bisai_bcsr *matrix, const double *b) {
  const size_t rows = (size_t)bisai_bcsr_rows(matrix),
               all = (size_t)bisai_bcsr_block_rows(matrix) * (size_t)bisai_bcsr_block_size(matrix);
  int32_t *place = malloc(rows * sizeof *place);
  bool *kept = calloc(all, sizeof *kept);
  double *written = malloc(rows * sizeof *written);
  const bool ok = place && kept && written && !bisai_bcsr_places(matrix, place);
  for (size_t i = 0; ok && i < rows; i++) kept[place[i]] = true;
  for (size_t row = 0, next = 0; ok && row < all; row++)
    if (kept[row]) written[next++] = b[row];
  free(place);
  free(kept);
  if (ok) return written;
  free(written);
  return NULL;
}
