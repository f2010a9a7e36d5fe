#include "convert.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bisai/io.h>

#include "message.h"
#include "problem.h"
#include "progress.h"
#include "target.h"

/* The place of .mtx in the name of a file, or its end. */
static size_t ending_of(const char *path) {
  const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path, *found = NULL;
  for (const char *p = base; (p = strstr(p, ".mtx")); ++p) {
    if (p > base) found = p;
  }
  return found ? (size_t)(found - path) : strlen(path);
}

/* A_b.mtx.gz beside A.mtx.gz; free with free(). */
static char *rhs_path(const char *path) {
  size_t before = ending_of(path);
  char *text = malloc(strlen(path) + sizeof "_b");
  if (text) sprintf(text, "%.*s_b%s", (int)before, path, path + before);
  return text;
}

static bool is_market(const options *o) {
  if (o->format != BISAI_FORMAT_BY_NAME) return o->format == BISAI_FORMAT_MATRIX_MARKET;
  return o->output[ending_of(o->output)] != '\0';
}

static void print_result(const options *o, const problem *p, const char *rhs) {
  int32_t blocks = bisai_bcsr_blocks(p->matrix);
  printf("matrix   %s: %" PRId64 " row%s, %" PRId32 " block%s of size %" PRId32 ", to %s\n", p->name, p->rows,
         plural(p->rows), blocks, plural(blocks), bisai_bcsr_block_size(p->matrix), o->output);
  if (p->rhs_from == RHS_NONE) return;
  printf("rhs      %s", p->rhs_from == RHS_ONES   ? "ones"
                        : p->rhs_from == RHS_FILE ? o->rhs
                        : p->rhs_from == RHS_CASE ? "the case's own"
                                                  : "the file's own");
  if (p->rhs_columns > 1) printf(", the first of %" PRId64 " columns", p->rhs_columns);
  printf(", to %s\n", rhs ? rhs : o->output);
}

static bool write_files(bisai_context *context, const options *o, const problem *p, const char *rhs) {
  bisai_write_options how = bisai_write_options_default();
  how.format = o->format;
  if (p->rhs_from != RHS_NONE && !rhs) how.rhs = p->rhs;
  progress shown;
  progress_start(&shown, o->output, "writing");
  bisai_status status = bisai_write_matrix(context, o->output, p->matrix, &how);
  progress_end(&shown);
  if (status != BISAI_OK) {
    say_failure(context, o->output, status);
    return false;
  }
  if (!rhs) return true;
  status = bisai_write_vector(context, rhs, p->rows, p->rhs);
  if (status != BISAI_OK) say_failure(context, rhs, status);
  return status == BISAI_OK;
}

int convert_run(bisai_context *context, const options *o) {
  int code = EXIT_BAD_INPUT;
  problem p = {0};
  char *rhs = NULL;
  if (!target_check_file("OUTPUT", o->output) || !target_check_other("OUTPUT", o->output, "--rhs", o->rhs) ||
      !problem_load_matrix(context, o, problem_block_size(o), &p) || !problem_load_rhs(context, o, &p))
    goto done;
  if (p.rhs_from != RHS_NONE && is_market(o)) {
    rhs = rhs_path(o->output);
    if (!rhs) {
      say("out of memory");
      goto done;
    }
    if (!target_check_other("OUTPUT's right-hand side", rhs, "INPUT", o->file)) goto done;
  }
  if (write_files(context, o, &p, rhs)) {
    print_result(o, &p, rhs);
    code = EXIT_SUCCESS;
  }
done:
  free(rhs);
  problem_free(&p);
  return code;
}
