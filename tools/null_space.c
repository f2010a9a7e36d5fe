/* SPDX-License-Identifier: BSD-3-Clause */
#include "null_space.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

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
  for (int64_t i = 0; i < rows * columns; i++) fprintf(out, "%.17g\n", values[i]);
  const bool whole = !ferror(out);
  if (fclose(out) == 0 && whole) return text;
  free(text);
  return NULL;
}

bool null_space_write(bisai_context *context, const options *o, const problem *p) {
  if (!o->output.write_null) return true;
  int columns = 0;
  double *vectors = NULL;
  progress shown;
  progress_start(&shown, o->output.write_null, "writing");
  const bisai_status status = made_null_space(&o->input.made, &columns, &vectors);
  char *text = !status ? text_of(p->rows, columns, vectors) : NULL;
  free(vectors);
  progress_end(&shown);
  const target output = {"--write-null", o->output.write_null};
  const bool ok = text && target_write(context, output, text);
  if (!text) say("--write-null: out of memory");
  free(text);
  return ok;
}
