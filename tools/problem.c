#include "problem.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <bisai/io.h>

#include "cases.h"
#include "message.h"
#include "progress.h"

int problem_block_size(const options *o) {
  if (o->block_size > 0) return o->block_size;
  if (o->made == CASE_CAVITY) return CASE_CAVITY_BLOCK_SIZE;
  if (o->made == CASE_CONVDIFF) return CASE_CONVDIFF_BLOCK_SIZE;
  const case_suitesparse *known = o->block_size == BLOCK_SIZE_AUTO ? NULL : case_suitesparse_find(o->file);
  return known ? known->block_size : 0;
}

static double own_tolerance(const options *o) {
  if (o->made == CASE_CAVITY) return 1e-5;
  const case_suitesparse *known = o->file ? case_suitesparse_find(o->file) : NULL;
  return known ? known->tolerance : 1e-8;
}

/* One of the endings off the name, where there is one with something before it. */
static void drop_ending(char *name, const char *const *endings) {
  size_t length = strlen(name);
  for (; *endings; ++endings) {
    size_t ending = strlen(*endings);
    if (length <= ending || strcmp(name + length - ending, *endings) != 0) continue;
    name[length - ending] = '\0';
    return;
  }
}

static char *name_of(const options *o) {
  static const char *const packed[] = {".gz", ".xz", ".bz2", ".zst", NULL};
  static const char *const formats[] = {".mtx", ".tar", ".tgz", ".txz", ".tbz2", ".tzst", ".petsc", ".bin", NULL};
  const char *text = o->made == CASE_CAVITY ? "cavity" : o->made == CASE_CONVDIFF ? "convdiff" : o->file;
  const char *slash = strrchr(text, '/');
  char *name = strdup(slash ? slash + 1 : text);
  if (!name || !o->file) return name;
  drop_ending(name, packed);
  drop_ending(name, formats);
  return name;
}

static bool fail(bisai_context *context, const char *what, bisai_status status) {
  say_failure(context, what, status);
  return false;
}

static bool make_case(bisai_context *context, const options *o, int block_size, problem *p) {
  int nx = o->size[0], ny = o->sizes == 3 ? o->size[1] : nx, nz = o->sizes == 3 ? o->size[2] : nx;
  const char *refusal = o->made == CASE_CAVITY ? case_cavity_refusal(nx) : case_convdiff_refusal(nx, ny, nz);
  if (refusal) {
    say("--size: %s", refusal);
    return false;
  }
  progress shown;
  progress_start(&shown, p->name, "assembling");
  bisai_status status = o->made == CASE_CAVITY ? case_cavity(context, nx, block_size, &p->matrix, &p->rhs)
                                               : case_convdiff(context, nx, ny, nz, block_size, &p->matrix, &p->rhs);
  progress_end(&shown);
  if (status != BISAI_OK) return fail(context, p->name, status);
  int bs = bisai_bcsr_block_size(p->matrix);
  if (o->made == CASE_CONVDIFF && nx % bs != 0) {
    say("%s: blocks of %d run across the ends of grid lines of %d point%s", p->name, bs, nx, plural(nx));
  }
  return true;
}

static bool read_file(bisai_context *context, const options *o, int block_size, problem *p) {
  bisai_read_options read = bisai_read_options_default();
  read.block_size = block_size;
  read.pad = true;
  read.progress = progress_bytes;
  progress shown;
  read.progress_user = &shown;
  progress_start(&shown, p->name, "reading");
  bisai_status status = bisai_read_matrix(context, o->file, &read, &p->matrix);
  progress_end(&shown);
  if (status == BISAI_OK) return true;
  const case_suitesparse *known = case_suitesparse_find(o->file);
  fail(context, o->file, status);
  if (known && status == BISAI_IO_ERROR) say("%s can be downloaded from %s", known->name, known->address);
  return false;
}

bool problem_load_matrix(bisai_context *context, const options *o, int block_size, problem *p) {
  *p = (problem){.name = name_of(o)};
  if (!p->name) {
    say("out of memory");
    return false;
  }
  if (!(o->file ? read_file(context, o, block_size, p) : make_case(context, o, block_size, p))) return false;
  p->rows = bisai_bcsr_rows(p->matrix);
  p->unknowns = (int64_t)bisai_bcsr_block_rows(p->matrix) * bisai_bcsr_block_size(p->matrix);
  if (p->rows == 0) {
    say("%s: the matrix has no rows", p->name);
    return false;
  }
  if (p->unknowns > p->rows) {
    int64_t padding = p->unknowns - p->rows;
    say("%s: %" PRId64 " row%s not a multiple of the block size %d: padded with %" PRId64 " row%s of the identity",
        p->name, p->rows, p->rows == 1 ? " is" : "s are", (int)bisai_bcsr_block_size(p->matrix), padding,
        plural(padding));
  }
  return true;
}

const char *problem_rhs_name(problem_rhs from) {
  static const char *const names[] = {
      [RHS_NONE] = "none", [RHS_ONES] = "ones", [RHS_CASE] = "case", [RHS_FILE] = "file", [RHS_OWN] = "own"};
  return names[from];
}

/* What stands with the matrix in its file, or nothing. */
static bool find_rhs(bisai_context *context, const options *o, problem *p) {
  progress shown;
  progress_start(&shown, p->name, "reading the right-hand side");
  bisai_status status = bisai_read_rhs(context, o->file, p->rows, p->rhs, &p->rhs_columns);
  progress_end(&shown);
  if (status != BISAI_OK) {
    fail(context, o->file, status);
    say("%s: --rhs ones does without the right-hand side in the file", p->name);
    return false;
  }
  if (p->rhs_columns > 0) p->rhs_from = RHS_OWN;
  return true;
}

static void set_ones(problem *p) {
  p->rhs_from = RHS_ONES;
  for (int64_t i = 0; i < p->rows; ++i) {
    p->rhs[i] = 1;
  }
}

bool problem_load_rhs(bisai_context *context, const options *o, problem *p) {
  p->rhs_from = RHS_NONE;
  if (o->rhs_none) return true;
  if (p->rhs && !o->rhs && !o->rhs_ones) {
    p->rhs_from = RHS_CASE;
    return true;
  }
  free(p->rhs);
  p->rhs = calloc((size_t)p->unknowns, sizeof *p->rhs);
  if (!p->rhs) {
    say("%s: out of memory", p->name);
    return false;
  }
  if (o->rhs_ones) set_ones(p);
  if (o->rhs) {
    progress shown;
    progress_start(&shown, o->rhs, "reading");
    bisai_status status = bisai_read_vector(context, o->rhs, p->rows, p->rhs);
    progress_end(&shown);
    if (status != BISAI_OK) return fail(context, o->rhs, status);
    p->rhs_from = RHS_FILE;
  }
  return p->rhs_from != RHS_NONE || !o->file || find_rhs(context, o, p);
}

/* What is taken from the paper without being asked for. */
static void say_what_is_known(const options *o, const problem *p) {
  const case_suitesparse *known = o->file ? case_suitesparse_find(o->file) : NULL;
  if (!known || (o->block_size && o->tolerance > 0)) return;
  if (o->block_size) {
    say("%s: tolerance %g, as in Ma et al. 2021", p->name, known->tolerance);
  } else if (o->tolerance > 0) {
    say("%s: block size %d, as in Ma et al. 2021", p->name, (int)known->block_size);
  } else {
    say("%s: block size %d and tolerance %g, as in Ma et al. 2021", p->name, (int)known->block_size, known->tolerance);
  }
}

bool problem_load(bisai_context *context, const options *o, problem *p) {
  if (!problem_load_matrix(context, o, problem_block_size(o), p) || !problem_load_rhs(context, o, p)) return false;
  if (p->rhs_from == RHS_NONE) set_ones(p);
  p->tolerance = o->tolerance > 0 ? o->tolerance : own_tolerance(o);
  say_what_is_known(o, p);
  return true;
}

void problem_free(problem *p) {
  bisai_bcsr_destroy(&p->matrix);
  free(p->rhs);
  free(p->name);
  *p = (problem){0};
}
