/* SPDX-License-Identifier: BSD-3-Clause */
#include "convert.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <bisai/io.h>

#include "beside.h"
#include "message.h"
#include "null_space.h"
#include "numbering.h"
#include "problem.h"
#include "progress.h"
#include "standard.h"
#include "target.h"

static bool ends_with(const char *text, size_t length, const char *ending) {
  size_t bytes = strlen(ending);
  return length > bytes && strncmp(text + length - bytes, ending, bytes) == 0;
}

/* Returns the length of a name without the ending of a compressed file. */
static size_t unpacked_length(const char *path) {
  static const char *const packed[] = {".gz", ".xz", ".bz2", ".zst"};
  size_t length = strlen(path);
  for (int i = 0; i < 4; i++)
    if (ends_with(path, length, packed[i])) return length - strlen(packed[i]);
  return length;
}

/* Returns A.petsc.info for A.petsc and A.petsc.gz. The caller frees it with free(). */
static char *info_path(const char *path) {
  size_t length = unpacked_length(path);
  char *text = malloc(length + sizeof ".info");
  if (text) sprintf(text, "%.*s.info", (int)length, path);
  return text;
}

static bool is_market(const options *o) {
  if (o->output.format != BISAI_FORMAT_BY_NAME)
    return o->output.format == BISAI_FORMAT_MATRIX_MARKET;
  return o->output.file[beside_ending(o->output.file)] != '\0';
}

static bool is_petsc(const options *o) {
  if (o->output.format != BISAI_FORMAT_BY_NAME) return o->output.format == BISAI_FORMAT_PETSC;
  size_t length = unpacked_length(o->output.file);
  return ends_with(o->output.file, length, ".petsc") || ends_with(o->output.file, length, ".bin");
}

static const char *output_name(const options *o) {
  return standard_is(o->output.file) ? "standard output" : o->output.file;
}

/* The name, in messages, of the right-hand side beside INPUT. */
#define BESIDE "the right-hand side beside INPUT"

/* Returns true if the file `path` may be written beside OUTPUT. A NULL path means out of memory. */
static bool check_beside(bisai_context *context, const options *o, const char *flag,
                         const char *path) {
  const target apart[] = {{"OUTPUT", o->output.file},     {"INPUT", o->input.file},
                          {"--rhs", o->input.rhs},        {BESIDE, o->input.beside},
                          {"--nodes", numbering_file(o)}, {"--write-null", o->output.write_null}};
  if (path) return target_check_beside(context, (target){flag, path}, 6, apart, o->output.force);
  say("out of memory");
  return false;
}

/* Checks what is known before anything is read. */
static bool check_output(bisai_context *context, const options *o) {
  const target inputs[] = {
      {"--rhs", o->input.rhs}, {BESIDE, o->input.beside}, {"--nodes", numbering_file(o)}};
  const target outputs[] = {{"OUTPUT", standard_is(o->output.file) ? NULL : o->output.file},
                            {"--write-null", o->output.write_null}};
  if (!target_check(context, 2, outputs, 3, inputs)) return false;
  if (standard_is(o->output.file)) {
    if (target_standard_is_closed()) say("OUTPUT: standard output is closed");
    return !target_standard_is_closed();
  }
  if (!is_petsc(o) || !target_is_file(o->output.file)) return true;
  char *info = info_path(o->output.file);
  bool ok = check_beside(context, o, "OUTPUT's block size", info);
  free(info);
  return ok;
}

/* Returns true if both names are those of the same file. A name may be NULL. */
static bool is_same(const char *a, const char *b) {
  struct stat first, second;
  return a && b && stat(a, &first) == 0 && stat(b, &second) == 0 && first.st_dev == second.st_dev &&
         first.st_ino == second.st_ino;
}

/* Returns true if the right-hand side is its own source, and in the same order. */
static bool stays(const options *o, const problem *p, const char *rhs) {
  return p->rhs_from == RHS_BESIDE && is_same(rhs, o->input.beside) && !numbering_asked(o);
}

/* Matrix Market needs a separate file for a right-hand side. */
static bool check_rhs(bisai_context *context, const options *o, const problem *p, char **path) {
  free(*path);
  *path = NULL;
  if (!is_market(o)) return true;
  if (standard_is(o->output.file) || !target_is_file(o->output.file)) {
    say("OUTPUT: %s: not a file, so that no right-hand side can be written beside it; --rhs none "
        "leaves "
        "it out",
        output_name(o));
    return false;
  }
  *path = beside_name(o->output.file);
  /* the file is its own source and stays as it is */
  if (stays(o, p, *path)) return true;
  return check_beside(context, o, "OUTPUT's right-hand side", *path);
}

/* The text goes to standard error if the matrix goes to standard output. */
static void print_result(const options *o, const problem *p, const char *rhs) {
  FILE *out = standard_is(o->output.file) ? stderr : stdout;
  int32_t blocks = bisai_bcsr_blocks(p->matrix);
  fprintf(out, "matrix   %s: %" PRId64 " row%s, %" PRId32 " block%s of size %" PRId32 ", to %s\n",
          p->name, p->rows, plural(p->rows), blocks, plural(blocks),
          bisai_bcsr_block_size(p->matrix), output_name(o));
  if (p->rhs_from == RHS_NONE) return;
  fprintf(out, "rhs      %s",
          p->rhs_file               ? p->rhs_file
          : p->rhs_from == RHS_ONES ? "ones"
          : p->rhs_from == RHS_CASE ? "the case's own"
                                    : "the file's own");
  if (p->rhs_from == RHS_BESIDE) fputs(", beside the matrix", out);
  if (p->rhs_columns > 1) fprintf(out, ", the first of %" PRId64 " columns", p->rhs_columns);
  if (stays(o, p, rhs))
    fputs(", left as it is\n", out);
  else
    fprintf(out, ", to %s\n", rhs ? rhs : output_name(o));
}

/* `values`: the right-hand side in the order of the rows that are written, or NULL. */
static bool write_parts(bisai_context *context, const options *o, const problem *p, const char *rhs,
                        const double *values) {
  bisai_write_options how = bisai_write_options_default();
  how.format = o->output.format;
  if (!rhs) how.rhs = values;
  standard output;
  const char *path = standard_open(&output, o->output.file);
  if (!path) return false;
  progress shown;
  progress_start(&shown, output_name(o), "writing");
  bisai_status status = bisai_write_matrix(context, path, p->matrix, &how);
  progress_end(&shown);
  if (status) say_failure(context, output_name(o), status);
  if (!standard_close(&output) || status) return false;
  if (!rhs || stays(o, p, rhs)) return true;
  status = bisai_write_vector(context, rhs, p->rows, values);
  if (status) say_failure(context, rhs, status);
  return status == BISAI_OK;
}

static bool write_files(bisai_context *context, const options *o, const problem *p,
                        const char *rhs) {
  double *values = p->rhs_from != RHS_NONE ? numbering_written(p->matrix, p->rhs) : NULL;
  const bool ok = values || p->rhs_from == RHS_NONE;
  if (!ok) say("%s: out of memory", p->name);
  const bool written = ok && write_parts(context, o, p, rhs, values);
  free(values);
  return written;
}

/* Warns about an old file that would be read as the right-hand side of a matrix that has none. */
static bool warn_of_old(const options *o, const problem *p) {
  char *old = NULL;
  if (p->rhs_from != RHS_NONE) return true;
  if (!beside_find(o->output.file, &old)) return false;
  if (old && !(o->input.beside &&
               is_same(old, o->input.beside))) /* a message has said that this one is ignored */
    say("%s is beside %s: solve and compare will read it as the right-hand side", old,
        o->output.file);
  free(old);
  return true;
}

int convert_run(bisai_context *context, const options *o) {
  int code = EXIT_BAD_INPUT;
  problem p = {0};
  char *rhs = NULL;
  /* reading finds out whether the file itself has a right-hand side */
  bool expected =
      o->input.rhs || o->input.rhs_ones || (o->input.made.name != CASE_NONE && !o->input.rhs_none);
  if (check_output(context, o) && (!expected || check_rhs(context, o, &p, &rhs)) &&
      problem_load_system(context, o, &p) &&
      (expected || p.rhs_from == RHS_NONE || check_rhs(context, o, &p, &rhs)) &&
      write_files(context, o, &p, rhs) && null_space_write(context, o, &p)) {
    print_result(o, &p, rhs);
    standard_flush(standard_is(o->output.file) ? stderr : stdout);
    if (warn_of_old(o, &p)) code = EXIT_SUCCESS;
  }
  free(rhs);
  problem_free(&p);
  return code;
}
