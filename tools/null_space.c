/* SPDX-License-Identifier: BSD-3-Clause */
#include "null_space.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bisai/io.h>

#include "message.h"
#include "progress.h"
#include "target.h"

/* Returns the file's text, or NULL if there is not enough memory. */
static char *text_of(int64_t rows, int columns, const double *values) {
  char *text = NULL;
  size_t size = 0;
  FILE *out = open_memstream(&text, &size);
  if (!out) return NULL;
  fprintf(out, "%%%%MatrixMarket matrix array real general\n%" PRId64 " %d\n", rows, columns);
  for (int64_t i = 0; i < rows * columns; ++i) {
    fprintf(out, "%.17g\n", values[i]);
  }
  const bool whole = !ferror(out);
  if (fclose(out) == 0 && whole) return text;
  free(text);
  return NULL;
}

bool null_space_write(bisai_context *context, const options *o, const problem *p) {
  if (!o->write_null) return true;
  int columns = 0;
  double *vectors = NULL;
  progress shown;
  progress_start(&shown, o->write_null, "writing");
  const bisai_status status = made_null_space(&o->made, &columns, &vectors);
  char *text = status == BISAI_OK ? text_of(p->rows, columns, vectors) : NULL;
  free(vectors);
  progress_end(&shown);
  const target output = {"--write-null", o->write_null};
  const bool ok = text && target_write(context, output, text);
  if (!text) say("--write-null: out of memory");
  free(text);
  return ok;
}

/* Moves vectors of p->rows rows into the options of a method. */
static bool take_vectors(const problem *p, int32_t count, const double *values, method *m) {
  const size_t columns = (size_t)count;
  free(m->null_vectors);
  m->null_vectors = calloc((size_t)p->unknowns * columns, sizeof *m->null_vectors);
  if (!m->null_vectors) {
    say("%s: out of memory", m->null_file);
    return false;
  }
  memcpy(m->null_vectors, values, (size_t)p->rows * columns * sizeof *values);
  m->options.multigrid.null_vectors = m->null_vectors;
  m->options.multigrid.null_count = count;
  return true;
}

static bool read_vectors(bisai_context *context, const problem *p, method *m) {
  double *values = NULL;
  int32_t count = 0;
  progress shown;
  progress_start(&shown, m->null_file, "reading");
  const bisai_status status =
      bisai_read_vectors(context, m->null_file, p->rows, BISAI_MULTIGRID_VECTORS, &values, &count);
  progress_end(&shown);
  if (status != BISAI_OK) say_failure(context, m->null_file, status);
  const bool ok = status == BISAI_OK && take_vectors(p, count, values, m);
  bisai_vectors_destroy(context, &values);
  return ok;
}

bool null_space_read(bisai_context *context, const problem *p, method_list *methods) {
  for (int i = 0; i < methods->count; ++i) {
    method *m = &methods->items[i];
    if (*m->null_file && !read_vectors(context, p, m)) return false;
  }
  return true;
}
