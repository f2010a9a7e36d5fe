/* SPDX-License-Identifier: BSD-3-Clause */
#include "problem.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <bisai/io.h>

#include "cases.h"
#include "message.h"
#include "numbering.h"
#include "progress.h"

int problem_block_size(const options *o) {
  if (o->input.block_size > 0) return o->input.block_size;
  if (o->input.made.name != CASE_NONE) return made_block_size(&o->input.made);
  const case_suitesparse *known =
      o->input.block_size == BLOCK_SIZE_AUTO ? NULL : case_suitesparse_find(o->input.file);
  return known ? known->block_size : 0;
}

static double own_tolerance(const options *o) {
  if (o->input.made.name != CASE_NONE) return made_tolerance(&o->input.made);
  const case_suitesparse *known = case_suitesparse_find(o->input.file);
  return known ? known->tolerance : 1e-8;
}

/* Removes one of the endings from the name, if the name has one and is longer. */
static void drop_ending(char *name, const char *const *endings) {
  size_t length = strlen(name);
  for (; *endings; endings++) {
    size_t ending = strlen(*endings);
    if (length <= ending || strcmp(name + length - ending, *endings) != 0) continue;
    name[length - ending] = '\0';
    return;
  }
}

static char *name_of(const options *o) {
  static const char *const packed[] = {".gz", ".xz", ".bz2", ".zst", NULL};
  static const char *const formats[] = {".mtx",  ".tar",   ".tgz", ".txz", ".tbz2",
                                        ".tzst", ".petsc", ".bin", ".npz", NULL};
  const char *text = o->input.file ? o->input.file : o->input.made.text;
  const char *slash = strrchr(text, '/');
  char *name = strdup(slash ? slash + 1 : text);
  if (!name || !o->input.file) return name;
  drop_ending(name, packed);
  drop_ending(name, formats);
  return name;
}

static bool fail(bisai_context *context, const char *what, bisai_status status) {
  say_failure(context, what, status);
  return false;
}

static bool make_case(bisai_context *context, const options *o, int block_size, problem *p) {
  const char *refusal = made_refusal(&o->input.made);
  if (refusal) {
    say("--size: %s", refusal);
    return false;
  }
  progress shown;
  progress_start(&shown, p->name, "assembling");
  bisai_status status = made_make(context, &o->input.made, block_size, &p->matrix, &p->rhs);
  progress_end(&shown);
  if (status) return fail(context, p->name, status);
  int bs = bisai_bcsr_block_size(p->matrix), nx = o->input.made.size[0];
  if (o->input.made.name == CASE_CONVDIFF && nx % bs != 0) {
    say("%s: blocks of %d run across the ends of grid lines of %d point%s", p->name, bs, nx,
        plural(nx));
  }
  return true;
}

bool problem_to_blocks(bisai_context *context, const problem *p, int32_t width, const double *file,
                       double *blocks) {
  const bisai_status status = bisai_bcsr_to_blocks(p->matrix, width, file, blocks);
  return !status || fail(context, p->name, status);
}

/* Makes a right-hand side of zeros. */
static bool make_rhs(problem *p) {
  free(p->rhs);
  p->rhs = calloc((size_t)p->unknowns, sizeof *p->rhs);
  if (!p->rhs) say("%s: out of memory", p->name);
  return p->rhs != NULL;
}

static void measure(bool by_node, problem *p) {
  p->rows = bisai_bcsr_rows(p->matrix);
  p->unknowns = (int64_t)bisai_bcsr_block_rows(p->matrix) * bisai_bcsr_block_size(p->matrix);
  p->span = by_node ? p->unknowns : p->rows;
  p->by_node = by_node;
}

/* Moves the matrix and the right-hand side that were read into the problem. */
static bool take_system(bisai_context *context, const options *o, bisai_system *found, problem *p) {
  p->matrix = found->matrix;
  found->matrix = NULL;
  bool ok = !numbering_asked(o) || numbering_apply(context, o, p->name, &p->matrix), own = false;
  if (ok) own = numbering_is_own(p->name, p->matrix, &ok);
  if (own && !numbering_asked(o)) numbering_say(p->name, p->matrix);
  measure(own, p);
  ok = ok && (!found->rhs || make_rhs(p));
  if (ok && found->rhs) {
    ok = problem_to_blocks(context, p, 1, found->rhs, p->rhs);
    p->rhs_from = RHS_OWN;
    p->rhs_columns = found->rhs_columns;
  }
  bisai_system_clear(context, found);
  return ok;
}

/* What is read: the block size, or 0; whether nodes are looked for; whether the right-hand side is
 * wanted. */
typedef struct wanted {
  int block_size;
  bool nodes, rhs;
} wanted;

/* Reads the matrix and, if wanted, its right-hand side. The file is read once, because it may be a
 * pipe. */
static bool read_file(bisai_context *context, const options *o, const wanted *w, problem *p) {
  bisai_system found = {.struct_size = sizeof found};
  bisai_read_options read = bisai_read_options_default();
  read.block_size = numbering_asked(o) ? 1 : w->block_size;
  read.find_nodes = w->nodes && w->block_size == 0 && numbering_is_free(o);
  read.pad = true;
  read.progress = progress_bytes;
  progress shown;
  read.progress_user = &shown;
  progress_start(&shown, p->name, "reading");
  bisai_status status = w->rhs ? bisai_read_system(context, o->input.file, &read, &found)
                               : bisai_read_matrix(context, o->input.file, &read, &found.matrix);
  progress_end(&shown);
  if (!status) return take_system(context, o, &found, p);
  const case_suitesparse *known = case_suitesparse_find(o->input.file);
  fail(context, o->input.file, status);
  if (found.rhs_failed) say("%s: --rhs ones ignores the right-hand side in the file", p->name);
  if (known && status == BISAI_IO_ERROR)
    say("%s can be downloaded from %s", known->name, known->address);
  return false;
}

/* Refuses a matrix and a right-hand side from the same pipe, which can be read only once. */
static bool check_sources(const options *o) {
  struct stat a, b;
  if (!o->input.file || !o->input.rhs || stat(o->input.file, &a) != 0 ||
      stat(o->input.rhs, &b) != 0)
    return true;
  if (S_ISREG(a.st_mode) || a.st_dev != b.st_dev || a.st_ino != b.st_ino) return true;
  say("--rhs: %s: the same input as the matrix, which can be read only once", o->input.rhs);
  return false;
}

static bool load(bisai_context *context, const options *o, const wanted *w, problem *p) {
  *p = (problem){.name = name_of(o)};
  if (!p->name) {
    say("out of memory");
    return false;
  }
  if (!(o->input.file ? read_file(context, o, w, p) : make_case(context, o, w->block_size, p)))
    return false;
  if (!o->input.file) measure(false, p);
  if (p->rows == 0) {
    say("%s: the matrix has no rows", p->name);
    return false;
  }
  if (p->unknowns > p->span) {
    int64_t padding = p->unknowns - p->rows;
    say("%s: %" PRId64 " row%s not a multiple of the block size %d: padded with %" PRId64
        " row%s of the identity",
        p->name, p->rows, p->rows == 1 ? " is" : "s are", (int)bisai_bcsr_block_size(p->matrix),
        padding, plural(padding));
  }
  return true;
}

bool problem_load_matrix(bisai_context *context, const options *o, int block_size, problem *p) {
  options plain = *o;
  plain.input.fields = 0;
  plain.input.nodes = NULL;
  return load(context, &plain, &(wanted){.block_size = block_size}, p);
}

const char *problem_rhs_name(problem_rhs from) {
  static const char *const names[] = {[RHS_NONE] = "none",
                                      [RHS_ONES] = "ones",
                                      [RHS_CASE] = "case",
                                      [RHS_FILE] = "file",
                                      [RHS_OWN] = "own",
                                      [RHS_BESIDE] = "beside",
                                      [RHS_CONSISTENT] = "consistent"};
  return names[from];
}

const char *problem_solution_name(problem_solution what) {
  static const char *const names[] = {
      [SOLUTION_UNKNOWN] = NULL, [SOLUTION_ONES] = "ones", [SOLUTION_SQUARES] = "squares"};
  return names[what];
}

/* Sets a vector of the blocks from `rows` values in the numbering of the file, and frees them. */
static bool take_values(bisai_context *context, const problem *p, double *file, double *blocks) {
  const bool held = file && blocks, ok = held && problem_to_blocks(context, p, 1, file, blocks);
  if (!held) say("%s: out of memory", p->name);
  free(file);
  return ok;
}

static bool set_ones(bisai_context *context, problem *p) {
  double *ones = malloc((size_t)p->rows * sizeof *ones);
  p->rhs_from = RHS_ONES;
  for (int64_t i = 0; ones && i < p->rows; i++) ones[i] = 1;
  return take_values(context, p, ones, p->rhs);
}

/* Sets b = A x̂. The padding rows of x̂ are zero, so that those of b are zero too. */
static bool set_consistent(bisai_context *context, problem_solution what, problem *p) {
  double *file = malloc((size_t)p->rows * sizeof *file);
  double *x = calloc((size_t)p->unknowns, sizeof *x);
  for (int64_t i = 0; file && i < p->rows; i++) {
    const double place = (double)(i + 1) / (double)p->rows;
    file[i] = what == SOLUTION_SQUARES ? place * place : 1;
  }
  p->known = (known_solution){what, x};
  p->rhs_from = RHS_CONSISTENT;
  if (!take_values(context, p, file, x)) return false;
  const bisai_status status = bisai_bcsr_multiply(p->matrix, x, p->rhs);
  return !status || fail(context, p->name, status);
}

const facts *problem_facts(bisai_context *context, problem *p) {
  facts_find(context, p->matrix, p->span, &p->facts);
  return &p->facts;
}

static bisai_status read_rhs(bisai_context *context, const char *path, problem_rhs from,
                             problem *p) {
  progress shown;
  double *values = malloc((size_t)p->rows * sizeof *values);
  if (!values) return bisai_context_fail(context, BISAI_OUT_OF_MEMORY, "no memory for b");
  progress_start(&shown, path, "reading");
  bisai_status status = bisai_read_vector(context, path, p->rows, values);
  progress_end(&shown);
  if (!status) status = bisai_bcsr_to_blocks(p->matrix, 1, values, p->rhs);
  free(values);
  if (status) return status;
  p->rhs_from = from;
  p->rhs_file = path;
  return BISAI_OK;
}

/* A right-hand side of another length belongs to another matrix and is ignored. */
static bool read_beside(bisai_context *context, const options *o, problem *p) {
  if (!make_rhs(p)) return false;
  bisai_status status = read_rhs(context, o->input.beside, RHS_BESIDE, p);
  if (!status) return true;
  fail(context, o->input.beside, status);
  if (status == BISAI_INVALID_ARGUMENT) {
    say("%s: ignored as a right-hand side", o->input.beside);
    free(p->rhs);
    p->rhs = NULL;
    return true;
  }
  say("%s: --rhs ones ignores the right-hand side beside the matrix", p->name);
  return false;
}

static bool load_system(bisai_context *context, const options *o, bool nodes, problem *p) {
  bool given = o->input.rhs || o->input.rhs_ones, own = !given && !o->input.rhs_none;
  const wanted w = {problem_block_size(o), nodes, own};
  if (!check_sources(o) || !load(context, o, &w, p)) return false;
  if (own && o->input.made.name != CASE_NONE) p->rhs_from = RHS_CASE;
  if (own && o->input.beside && p->rhs_from == RHS_NONE) return read_beside(context, o, p);
  if (!given) return true;
  if (!make_rhs(p)) return false;
  if (o->input.rhs) {
    bisai_status status = read_rhs(context, o->input.rhs, RHS_FILE, p);
    return !status || fail(context, o->input.rhs, status);
  }
  return set_ones(context, p);
}

bool problem_load_system(bisai_context *context, const options *o, problem *p) {
  return load_system(context, o, false, p);
}

/* Prints the parameters that are taken from the paper without a request. */
static void say_what_is_known(const options *o, const problem *p) {
  const case_suitesparse *known = o->input.file ? case_suitesparse_find(o->input.file) : NULL;
  if (!known || (o->input.block_size && o->tolerance > 0)) return;
  if (o->input.block_size) {
    say("%s: tolerance %g, as in Ma et al. 2021", p->name, known->tolerance);
  } else if (o->tolerance > 0) {
    say("%s: block size %d, as in Ma et al. 2021", p->name, (int)known->block_size);
  } else {
    say("%s: block size %d and tolerance %g, as in Ma et al. 2021", p->name, (int)known->block_size,
        known->tolerance);
  }
}

bool problem_load(bisai_context *context, const options *o, problem *p) {
  if (!load_system(context, o, true, p)) return false;
  if (p->rhs_from == RHS_NONE) {
    const facts *f = problem_facts(context, p);
    const bool flat = f->known && facts_of_ones(f);
    if (!make_rhs(p) || !set_consistent(context, flat ? SOLUTION_SQUARES : SOLUTION_ONES, p))
      return false;
  }
  p->tolerance = o->tolerance > 0 ? o->tolerance : own_tolerance(o);
  say_what_is_known(o, p);
  return true;
}

void problem_free(problem *p) {
  bisai_bcsr_destroy(&p->matrix);
  free(p->rhs);
  free(p->known.x);
  free(p->project.right.values);
  free(p->project.left.values);
  free(p->name);
  *p = (problem){0};
}
