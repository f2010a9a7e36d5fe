/* SPDX-License-Identifier: BSD-3-Clause */
#include "files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bisai/io.h>

#include "message.h"
#include "progress.h"

/* The array of an option: the rows of the file and of the library, which has those of padding too,
 * and the columns. 0 columns: 1 … BISAI_MULTIGRID_VECTORS. */
typedef struct shape {
  int64_t rows, rows_held;
  int32_t columns;
  const char *meaning;
} shape;

static bool is(const method_file *f, const char *field) {
  return strcmp(f->option->field, field) == 0;
}

static shape shape_of(const problem *p, const method *m, const method_file *f) {
  const int64_t block_rows = bisai_bcsr_block_rows(p->matrix);
  if (is(f, "cpr.weights")) return (shape){p->rows, p->unknowns, 1, "a value for each row"};
  if (is(f, "cpr.storage"))
    return (shape){p->rows, p->unknowns, bisai_bcsr_block_size(p->matrix),
                   "as many as a block has"};
  /* the near-null-space vectors of cpr are those of its pressure matrix */
  if (method_is(m, BISAI_PRECOND_CPR)) return (shape){block_rows, block_rows, 0, ""};
  return (shape){p->rows, p->unknowns, 0, ""};
}

/* Makes the padding of cpr.storage an identity. */
static bool pad_storage(const problem *p, int32_t columns, double *values) {
  int32_t *place = malloc((size_t)p->rows * sizeof *place);
  bool *inside = place ? calloc((size_t)p->unknowns, sizeof *inside) : NULL;
  const bool ok = inside && !bisai_bcsr_places(p->matrix, place);
  for (int64_t i = 0; ok && i < p->rows; i++) inside[place[i]] = true;
  for (int64_t i = 0; ok && i < p->unknowns; i++)
    if (!inside[i]) values[i * columns + i % columns] = 1;
  free(place);
  free(inside);
  return ok;
}

/* Moves the values of a file to the blocks. Those of cpr's pressure are in their order. */
static bool move_values(bisai_context *context, const problem *p, const shape *s, int32_t columns,
                        const double *values, method_file *f) {
  const bool by_rows = s->rows == p->rows && s->rows_held == p->unknowns;
  if (by_rows && !problem_to_blocks(context, p, columns, values, f->values)) return false;
  if (!by_rows) memcpy(f->values, values, (size_t)s->rows * (size_t)columns * sizeof *values);
  if (!is(f, "cpr.storage") || pad_storage(p, columns, f->values)) return true;
  say("%s: out of memory", f->path);
  return false;
}

/* Gives the values of a file to the options of the method. */
static bool take_values(bisai_context *context, const problem *p, const shape *s, int32_t columns,
                        const double *values, method *m, method_file *f) {
  void *const place = (char *)&m->options + f->option->offset;
  free(f->values);
  f->values = calloc((size_t)s->rows_held * (size_t)columns, sizeof *f->values);
  if (!f->values) {
    say("%s: out of memory", f->path);
    return false;
  }
  if (!move_values(context, p, s, columns, values, f)) return false;
  *(const double **)place = f->values;
  if (is(f, "multigrid.null_vectors")) m->options.multigrid.null_count = columns;
  return true;
}

static bool read_file(bisai_context *context, const problem *p, method *m, method_file *f) {
  const shape s = shape_of(p, m, f);
  double *values = NULL;
  int32_t columns = 0;
  progress shown;
  progress_start(&shown, f->path, "reading");
  const bisai_status status =
      bisai_read_vectors(context, f->path, s.rows, BISAI_MULTIGRID_VECTORS, &values, &columns);
  progress_end(&shown);
  bool ok = status == BISAI_OK;
  if (!ok) {
    say_failure(context, f->path, status);
  } else if (s.columns > 0 && columns != s.columns) {
    say("%s: %d column%s; %s= needs %d, %s", f->path, columns, plural(columns), f->option->key,
        s.columns, s.meaning);
    ok = false;
  }
  ok = ok && take_values(context, p, &s, columns, values, m, f);
  bisai_vectors_destroy(context, &values);
  return ok;
}

bool files_read(bisai_context *context, const problem *p, method_list *methods) {
  for (int i = 0; i < methods->count; i++) {
    method *m = &methods->items[i];
    for (int k = 0; k < METHOD_FILES; k++)
      if (m->files[k].option && !read_file(context, p, m, &m->files[k])) return false;
  }
  return true;
}

bool files_check(bisai_context *context, const options *o, int outputs, const target *output) {
  for (int i = 0; i < o->methods.count * METHOD_FILES; i++) {
    const method_file *f = &o->methods.items[i / METHOD_FILES].files[i % METHOD_FILES];
    char flag[32];
    if (!f->option) continue;
    snprintf(flag, sizeof flag, "%s=", f->option->key);
    const target input = {flag, f->path};
    if (!target_check(context, outputs, output, 1, &input)) return false;
  }
  return true;
}
