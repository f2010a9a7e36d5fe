/* SPDX-License-Identifier: BSD-3-Clause */
#include "project.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <bisai/io.h>
#include <bisai/precond_multigrid.h>
#include <bisai/project.h>

#include "message.h"
#include "progress.h"

/* A v counts as zero if it is at most that part of A w, where w has the values of v with other
 * signs, so that its terms do not cancel. A file with seven digits has such vectors. */
static const double zero_product = 1e-6;

/* b counts as zero if at most that part of it is left. */
static const double zero_rest = 1e-13;

static bool out_of_memory(void) {
  say("--project: out of memory");
  return false;
}

static bool fail(bisai_context *context, bisai_status status) {
  say_failure(context, "--project", status);
  return false;
}

/* Makes a vector for each of the constants. */
static bool add_constants(const constants *v, const problem *p, null_vectors *to) {
  const int bs = bisai_bcsr_block_size(p->matrix);
  const int32_t count = bisai_study_constants_vectors(v, bs, p->span, NULL);
  if (count == 0) return true;
  to->values = malloc((size_t)count * (size_t)p->span * sizeof *to->values);
  if (!to->values) return out_of_memory();
  to->count = bisai_study_constants_vectors(v, bs, p->span, to->values);
  return true;
}

static bool find_constants(const facts *f, problem *p) {
  if (!f->known) return out_of_memory();
  if (!facts_singular(f)) {
    say("--project constants: neither A nor its transpose maps a constant to zero");
    return false;
  }
  return add_constants(&f->right, p, &p->project.right) &&
         add_constants(&f->left, p, &p->project.left);
}

static double norm_of(int64_t n, const double *v) {
  double largest = 0, sum = 0;
  for (int64_t i = 0; i < n; i++) largest = fmax(largest, fabs(v[i]));
  for (int64_t i = 0; i < n && largest > 0; i++) sum += v[i] / largest * (v[i] / largest);
  return largest * sqrt(sum);
}

/* Sets the part of A w that A v is. `x` and `y` are workspace of `unknowns` values, and x is zero
 * in padding rows. */
static bisai_status measure(const problem *p, const double *v, double *x, double *y, double *part) {
  uint32_t random = 1;
  memcpy(x, v, (size_t)p->span * sizeof *x);
  bisai_status status = bisai_bcsr_multiply(p->matrix, x, y);
  if (status) return status;
  const double product = norm_of(p->span, y);
  for (int64_t i = 0; i < p->span; i++) {
    random = 1664525 * random + 1013904223; /* Numerical Recipes, section 7.1 */
    if (random >> 31) x[i] = -x[i];
  }
  status = bisai_bcsr_multiply(p->matrix, x, y);
  *part = product > 0 ? product / norm_of(p->span, y) : 0;
  return status;
}

/* Refuses vectors that A does not map to zero. */
static bool check_vectors(bisai_context *context, const problem *p, const char *path,
                          const null_vectors *v) {
  double *x = calloc((size_t)p->unknowns, sizeof *x), *y = malloc((size_t)p->unknowns * sizeof *y);
  bool ok = (x && y) || out_of_memory();
  for (int32_t c = 0; ok && c < v->count; c++) {
    double part = 0;
    const bisai_status status = measure(p, v->values + c * p->span, x, y, &part);
    if (status) ok = fail(context, status);
    if (!status && !(part <= zero_product)) {
      say("--project: %s: A does not map column %d to zero: A v has %.1e of the size of its terms",
          path, c + 1, part);
      ok = false;
    }
  }
  free(x);
  free(y);
  return ok;
}

/* The null space of the transpose is that of A if A is symmetric. Otherwise only its constants are
 * found. */
static bool find_left(const facts *f, problem *p) {
  null_vectors *left = &p->project.left;
  const size_t bytes = (size_t)p->project.right.count * (size_t)p->span * sizeof *left->values;
  if (!f->known) return out_of_memory();
  if (!f->symmetric) return add_constants(&f->left, p, left);
  left->values = malloc(bytes);
  if (!left->values) return out_of_memory();
  memcpy(left->values, p->project.right.values, bytes);
  left->count = p->project.right.count;
  return true;
}

/* Moves vectors of a file to the blocks, one after the other. */
static bool take_vectors(bisai_context *context, const problem *p, int32_t columns,
                         const double *values, null_vectors *to) {
  const size_t width = (size_t)columns;
  double *blocks = malloc((size_t)p->unknowns * width * sizeof *blocks);
  to->values = malloc((size_t)p->span * width * sizeof *values);
  to->count = columns;
  bool ok = (blocks && to->values) || out_of_memory();
  ok = ok && problem_to_blocks(context, p, columns, values, blocks);
  for (int64_t i = 0; ok && i < p->span; i++)
    for (int32_t c = 0; c < columns; c++) to->values[c * p->span + i] = blocks[i * columns + c];
  free(blocks);
  return ok;
}

static bool read_vectors(bisai_context *context, const char *path, problem *p) {
  null_vectors *right = &p->project.right;
  double *values = NULL;
  int32_t columns = 0;
  progress shown;
  progress_start(&shown, path, "reading");
  const bisai_status status =
      bisai_read_vectors(context, path, p->rows, BISAI_MULTIGRID_VECTORS, &values, &columns);
  progress_end(&shown);
  if (status) {
    say_failure(context, path, status);
    return false;
  }
  const bool ok = take_vectors(context, p, columns, values, right);
  bisai_vectors_destroy(context, &values);
  return ok && check_vectors(context, p, path, right);
}

/* Takes the null space of the transpose out of b. */
static bool project_rhs(bisai_context *context, problem *p) {
  const null_vectors *left = &p->project.left;
  double *before = malloc((size_t)p->span * sizeof *before);
  if (!before) return out_of_memory();
  memcpy(before, p->rhs, (size_t)p->span * sizeof *before);
  const bisai_status status =
      bisai_project(context, p->span, left->count, left->values, p->span, p->rhs);
  const double all = norm_of(p->span, before), rest = norm_of(p->span, p->rhs);
  if (rest <= zero_rest * all) memset(p->rhs, 0, (size_t)p->span * sizeof *p->rhs);
  for (int64_t i = 0; i < p->span; i++) before[i] -= p->rhs[i];
  p->project.removed = all > 0 ? norm_of(p->span, before) / all : 0;
  free(before);
  return !status || fail(context, status);
}

bool project_load(bisai_context *context, const options *o, problem *p) {
  if (!o->input.project) return true;
  const facts *f = problem_facts(context, p);
  p->project.from = o->input.project;
  p->project.removed = NAN;
  const bool found = strcmp(o->input.project, "constants") == 0
                         ? find_constants(f, p)
                         : read_vectors(context, o->input.project, p) && find_left(f, p);
  return found && (p->project.left.count == 0 || project_rhs(context, p));
}

bisai_status project_solution(bisai_context *context, const problem *p, double *x) {
  const null_vectors *right = &p->project.right;
  return bisai_project(context, p->span, right->count, right->values, p->span, x);
}

bisai_status project_constants(bisai_context *context, const problem *p, const constants *v,
                               double *x) {
  null_vectors made = {0};
  if (!add_constants(v, p, &made)) return BISAI_OUT_OF_MEMORY;
  const bisai_status status = bisai_project(context, p->span, made.count, made.values, p->span, x);
  free(made.values);
  return status;
}

static void print_vectors(FILE *out, const problem *p, const null_vectors *v) {
  const bool constant = strcmp(p->project.from, "constants") == 0;
  fprintf(out, "%d %s%s%s%s", v->count, constant ? "constant" : "vector", plural(v->count),
          constant ? "" : " of ", constant ? "" : p->project.from);
}

void project_print(FILE *out, const problem *p) {
  const null_vectors *right = &p->project.right, *left = &p->project.left;
  if (!p->project.from) return;
  fputs("project  ", out);
  if (left->count > 0) {
    fprintf(out, "b without the null space of A^T (%d vector%s), which is %.1e of its norm; ",
            left->count, plural(left->count), p->project.removed);
  } else {
    fputs("b as it is, because the null space of A^T is not known; ", out);
  }
  if (right->count > 0) {
    fputs("x without ", out);
    print_vectors(out, p, right);
    fputc('\n', out);
  } else {
    fputs("x as it is, because the null space of A is not known\n", out);
  }
}

#ifdef BISAI_HAVE_JANSSON
#include "json_parts.h"

json_t *project_json(const problem *p) {
  if (!p->project.from) return json_null();
  return OBJECT({"from", text(true, p->project.from)},
                {"vectors", integer(true, p->project.right.count)},
                {"transposed_vectors", integer(true, p->project.left.count)},
                {"removed", number(true, p->project.removed)});
}
#endif
