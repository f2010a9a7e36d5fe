/* SPDX-License-Identifier: BSD-3-Clause */
/* What a matrix is like: its blocks for every block size, its dependency levels, the patterns S(|L|^k) and S(|U|^k), and the bytes
 * that an iteration of GMRES(30) must at least move with each method.
 *
 * A product with nnzb blocks moves nnzb·(8 bs² + 4) + 4 (nb + 1) + 16 n bytes; an iteration the products with A and with the
 * preconditioner's matrices, 9·8 n for their and the update's vectors and 31·8 n for the basis, averaged over a cycle. */
#include "info.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <bisai/pattern.h>
#include <bisai/precond.h>

#include "message.h"
#include "problem.h"
#include "progress.h"

enum { POWERS = 3 };

typedef struct triangle_info {
  bool known[POWERS];
  int64_t blocks[POWERS];
  int32_t longest[POWERS];
  int32_t levels;
} triangle_info;

static void print_sizes(const bisai_csr_desc *csr, const bisai_block_size_info sizes[BISAI_CHOSEN_SIZES],
                        const bisai_bcsr *matrix) {
  const int32_t chosen = bisai_bcsr_block_size(matrix);
  const double entries = csr->row_ptr[csr->rows];
  printf("\n%12s%14s%14s%10s%14s%20s%20s\n", "block size", "block rows", "blocks", "filled", "MB", "missing diagonals",
         "singular diagonals");
  for (int i = 0; i < BISAI_CHOSEN_SIZES; ++i) {
    const bisai_block_size_info *s = &sizes[i];
    double values = (double)s->blocks * s->block_size * s->block_size;
    printf("%12" PRId32 "%14" PRId32 "%14" PRId64 "%8.1f %%%14.2f%20" PRId32 "%20" PRId32 "%s\n", s->block_size,
           s->block_rows, s->blocks, 100 * entries / values, 1e-6 * (double)s->bytes, s->missing_diagonals,
           s->singular_diagonals, s->block_size == chosen ? "  <-" : "");
  }
  if (chosen <= BISAI_CHOSEN_SIZES) return;
  double blocks = bisai_bcsr_blocks(matrix), values = blocks * chosen * chosen;
  printf("%12" PRId32 "%14" PRId32 "%14.0f%8.1f %%%14.2f%40s  <-\n", chosen, bisai_bcsr_block_rows(matrix), blocks,
         100 * entries / values, 1e-6 * (8 * values + 4 * blocks), "");
}

static void study_triangle(bisai_context *context, const bisai_bcsr *matrix, bisai_triangle triangle, progress *shown,
                           triangle_info *t) {
  static const char *const lower[POWERS] = {"S(|L|)", "S(|L|^2)", "S(|L|^3)"};
  static const char *const upper[POWERS] = {"S(|U|)", "S(|U|^2)", "S(|U|^3)"};
  *t = (triangle_info){0};
  for (int k = 1; k <= POWERS; ++k) {
    bisai_pattern *pattern = NULL;
    progress_show(shown, triangle == BISAI_LOWER ? lower[k - 1] : upper[k - 1]);
    if (bisai_pattern_power(context, matrix, triangle, k, &pattern) != BISAI_OK) {
      say("S(|%c|^%d): %s%s", triangle == BISAI_LOWER ? 'L' : 'U', k, bisai_context_error(context),
          message_base(bisai_context_error(context)));
      continue;
    }
    t->known[k - 1] = true;
    t->blocks[k - 1] = bisai_pattern_blocks(pattern);
    t->longest[k - 1] = bisai_pattern_longest_column(pattern);
    if (k == 1) t->levels = bisai_pattern_levels(pattern);
    bisai_pattern_destroy(&pattern);
  }
}

static void print_triangles(const triangle_info t[2]) {
  printf("\n%12s%14s%14s%14s%14s%14s%14s\n", "k", "S(|L|^k)", "S(|U|^k)", "both", "of k = 1", "longest in L",
         "longest in U");
  for (int k = 0; k < POWERS; ++k) {
    if (!t[0].known[k] || !t[1].known[k]) continue;
    int64_t both = t[0].blocks[k] + t[1].blocks[k];
    printf("%12d%14" PRId64 "%14" PRId64 "%14" PRId64 "%14.2f%14" PRId32 "%14" PRId32 "\n", k + 1, t[0].blocks[k],
           t[1].blocks[k], both, (double)both / (double)(t[0].blocks[0] + t[1].blocks[0]), t[0].longest[k],
           t[1].longest[k]);
  }
}

typedef struct size_of {
  double rows, bs, unknowns;
} size_of;

static double product(size_of s, double blocks) {
  return blocks * (8 * s.bs * s.bs + 4) + 4 * (s.rows + 1) + 16 * s.unknowns;
}

static void print_method(size_of s, const char *label, double matrix, double preconditioner) {
  double vectors = (9 + 31) * 8 * s.unknowns;
  printf("%20s%14.2f%18.2f%12.2f%12.2f\n", label, 1e-6 * matrix, 1e-6 * preconditioner, 1e-6 * vectors,
         1e-6 * (matrix + preconditioner + vectors));
}

static void print_bytes(const bisai_bcsr *matrix, const triangle_info t[2]) {
  size_of s = {.rows = bisai_bcsr_block_rows(matrix), .bs = bisai_bcsr_block_size(matrix)};
  s.unknowns = s.rows * s.bs;
  double a = product(s, bisai_bcsr_blocks(matrix));
  double diagonal = 8 * s.rows * s.bs * s.bs + 16 * s.unknowns;
  double lower = product(s, (double)t[0].blocks[0] - s.rows), upper = product(s, (double)t[1].blocks[0] - s.rows);
  double correction = lower + upper + 16 * s.unknowns;
  printf("\nMB that an iteration of GMRES(30) moves at least, fp64\n%20s%14s%18s%12s%12s\n", "method", "matrix",
         "preconditioner", "vectors", "all");
  print_method(s, "none", a, 0);
  print_method(s, "bjacobi", a, diagonal);
  if (!t[0].known[0] || !t[1].known[0]) return;
  print_method(s, "ilu", a, lower + upper + diagonal);
  print_method(s, "sweeps:n=1", a, diagonal + correction);
  print_method(s, "sweeps:n=3", a, diagonal + 3 * correction);
  for (int k = 0; k < POWERS; ++k) {
    char label[32];
    if (!t[0].known[k] || !t[1].known[k]) continue;
    double isai = product(s, (double)t[0].blocks[k]) + product(s, (double)t[1].blocks[k]);
    snprintf(label, sizeof label, "isai:k=%d", k + 1);
    print_method(s, label, a, isai);
    if (k > 0) continue;
    double whole_upper = product(s, (double)t[1].blocks[0]);
    print_method(s, "isai:k=1:relax=1", a, 2 * isai + lower + whole_upper + 32 * s.unknowns);
  }
}

/* What bjacobi:max=N finds; the values do not matter, so that singular blocks are shifted. Rows of a block matrix have the patterns of their
 * blocks, as in the methods. */
static void print_diagonal(bisai_context *context, const char *name, const bisai_bcsr *matrix) {
  static const int32_t bounds[] = {2, 4, 8, 16, 32};
  printf("\nblocks that bjacobi:max=N finds\n%12s%14s%14s%14s%14s\n", "N", "blocks", "mean rows", "largest", "MB");
  for (size_t i = 0; i < sizeof bounds / sizeof *bounds; ++i) {
    bisai_precond_options how = bisai_precond_options_default();
    bisai_precond_report report = {.struct_size = sizeof report};
    bisai_precond *precond = NULL;
    how.kind = BISAI_PRECOND_BJACOBI;
    how.shift = BISAI_SHIFT_IN_BLOCKS;
    how.max_block = bounds[i];
    progress shown;
    progress_start(&shown, name, "diagonal blocks");
    bisai_status status = bisai_precond_create(context, matrix, &how, &precond);
    progress_end(&shown);
    if (status != BISAI_OK || bisai_precond_get_report(precond, &report) != BISAI_OK) {
      say("bjacobi:max=%d: %s%s", (int)bounds[i], bisai_context_error(context),
          message_base(bisai_context_error(context)));
    } else {
      double rows = (double)bisai_precond_rows(precond);
      printf("%12d%14" PRId32 "%14.2f%14" PRId32 "%14.2f\n", (int)bounds[i], report.diagonal_blocks,
             report.diagonal_blocks > 0 ? rows / report.diagonal_blocks : 0.0, report.largest_block,
             1e-6 * (double)report.block_bytes);
    }
    bisai_precond_destroy(&precond);
  }
}

/* Rows and columns without anything in them: how many, and the first. */
typedef struct empties {
  int32_t rows, first_row, columns, first_column;
} empties;

/* Of a square structure in host memory; entries whose value is zero do not count. `values` NULL: all count. False: no memory. */
static bool find_empties(int32_t n, const int32_t *row_ptr, const int32_t *col_idx, const double *values, empties *e) {
  bool *seen = calloc((size_t)n + 1, sizeof *seen);
  *e = (empties){0};
  if (!seen) return false;
  for (int32_t i = 0; i < n; ++i) {
    bool any = false;
    for (int32_t p = row_ptr[i]; p < row_ptr[i + 1]; ++p) {
      if (values && values[p] == 0) continue;
      any = seen[col_idx[p]] = true;
    }
    if (!any && e->rows++ == 0) e->first_row = i;
  }
  for (int32_t j = 0; j < n; ++j) {
    if (!seen[j] && e->columns++ == 0) e->first_column = j;
  }
  free(seen);
  return true;
}

/* "block row 5" or "3 block rows, first 5" */
static void print_first(const char *kind, const char *noun, int32_t count, int32_t first) {
  if (count == 1) printf("%s%s %" PRId32, kind, noun, first);
  if (count > 1) printf("%" PRId32 " %s%ss, first %" PRId32, count, kind, noun, first);
}

static void print_empties(const char *label, const char *kind, const empties *e) {
  if (e->rows + e->columns == 0) return;
  printf("%-13s", label);
  print_first(kind, "row", e->rows, e->first_row);
  if (e->rows > 0 && e->columns > 0) printf("; ");
  print_first(kind, "column", e->columns, e->first_column);
  printf(": the matrix is singular (counted from 0)\n");
}

/* Says what makes the matrix singular at first sight; true where block rows or columns do, so that there are no preconditioners. */
static bool print_singular(const bisai_csr_desc *csr, const bisai_bcsr *matrix) {
  const int32_t *row_ptr, *col_idx;
  empties blocks, zeros;
  bisai_bcsr_arrays(matrix, &row_ptr, &col_idx, NULL);
  if (!find_empties(bisai_bcsr_block_rows(matrix), row_ptr, col_idx, NULL, &blocks) ||
      !find_empties(csr->rows, csr->row_ptr, csr->col_idx, csr->values, &zeros))
    return false;
  print_empties("empty", "block ", &blocks);
  bool same = bisai_bcsr_block_size(matrix) == 1 && blocks.rows == zeros.rows && blocks.columns == zeros.columns;
  if (!same) print_empties("zeros only", "", &zeros);
  return blocks.rows + blocks.columns > 0;
}

static void print_matrix(const options *o, const problem *scalar, bool named, const bisai_bcsr *matrix,
                         const triangle_info t[2]) {
  const int32_t *row_ptr, *col_idx;
  bisai_bcsr_arrays(matrix, &row_ptr, &col_idx, NULL);
  int32_t rows = bisai_bcsr_block_rows(matrix), diagonals = 0, longest = 0;
  for (int32_t i = 0; i < rows; ++i) {
    int32_t length = row_ptr[i + 1] - row_ptr[i];
    if (length > longest) longest = length;
    for (int32_t p = row_ptr[i]; p < row_ptr[i + 1]; ++p) {
      diagonals += col_idx[p] == i;
    }
  }
  int32_t blocks = bisai_bcsr_blocks(matrix), entries = bisai_bcsr_blocks(scalar->matrix), missing = rows - diagonals;
  printf("matrix       %s: %" PRId64 " row%s, %" PRId32 " entr%s\n", scalar->name, scalar->rows, plural(scalar->rows),
         entries, entries == 1 ? "y" : "ies");
  printf("block size   %" PRId32 ", %s\n", bisai_bcsr_block_size(matrix),
         o->block_size > 0       ? "as asked for"
         : o->made != CASE_NONE  ? "the case's own"
         : named                 ? "as the file's .info says"
         : problem_block_size(o) ? "as in Ma et al. 2021"
                                 : "found in the pattern");
  if (bisai_bcsr_padding(matrix) > 0)
    printf("padding      %" PRId32 " row%s of the identity\n", bisai_bcsr_padding(matrix),
           plural(bisai_bcsr_padding(matrix)));
  printf("blocks       %" PRId32 " in %" PRId32 " block row%s, at most %" PRId32 " in one, %" PRId32
         " diagonal block%s missing\n",
         blocks, rows, plural(rows), longest, missing, plural(missing));
  double asymmetry;
  if (bisai_bcsr_asymmetry(matrix, &asymmetry, NULL) == BISAI_OK) {
    if (asymmetry == 0)
      printf("symmetry     A is symmetric\n");
    else
      printf("symmetry     A is %ssymmetric, asymmetry %.1e\n",
             asymmetry <= BISAI_SYMMETRY_LIMIT ? "but for rounding " : "not ", asymmetry);
  }
  if (t[0].known[0] && t[1].known[0]) {
    printf("levels       %" PRId32 " for L, %" PRId32 " for U: %.1f and %.1f block rows at a time in exact solves\n",
           t[0].levels, t[1].levels, (double)rows / t[0].levels, (double)rows / t[1].levels);
  }
}

int info_run(bisai_context *context, const options *o) {
  problem scalar = {0};
  bisai_bcsr *matrix = NULL;
  int code = EXIT_BAD_INPUT;
  const void *values;
  bool named = false;
  int32_t best = 0;
  bisai_block_size_info sizes[BISAI_CHOSEN_SIZES];
  bisai_csr_desc csr = bisai_csr_desc_default();
  bisai_status status = BISAI_OK;
  if (!problem_load_matrix(context, o, 1, &scalar)) goto done;

  bisai_bcsr_arrays(scalar.matrix, &csr.row_ptr, &csr.col_idx, &values);
  csr.rows = csr.cols = (int32_t)scalar.rows;
  csr.values = values;
  csr.block_size = problem_block_size(o);
  csr.pad = true;
  if (csr.block_size == 0 && o->file) status = bisai_read_block_size(context, o->file, &csr.block_size);
  named = csr.block_size > 0 && problem_block_size(o) == 0;
  progress shown;
  progress_start(&shown, scalar.name, "blocks");
  if (status == BISAI_OK) status = bisai_block_size_study(context, &csr, sizes, &best);
  if (csr.block_size == 0) csr.block_size = best;
  if (status == BISAI_OK) status = bisai_bcsr_from_csr(context, &csr, &matrix);
  triangle_info triangles[2];
  if (status == BISAI_OK) {
    study_triangle(context, matrix, BISAI_LOWER, &shown, &triangles[0]);
    study_triangle(context, matrix, BISAI_UPPER, &shown, &triangles[1]);
  }
  progress_end(&shown);
  if (status != BISAI_OK) {
    say_failure(context, scalar.name, status);
    goto done;
  }
  print_matrix(o, &scalar, named, matrix, triangles);
  bool singular = print_singular(&csr, matrix);
  print_sizes(&csr, sizes, matrix);
  print_triangles(triangles);
  if (!singular) print_diagonal(context, scalar.name, matrix);
  print_bytes(matrix, triangles);
  code = EXIT_SUCCESS;
done:
  bisai_bcsr_destroy(&matrix);
  problem_free(&scalar);
  return code;
}
