/* SPDX-License-Identifier: BSD-3-Clause */
/* Figures of a matrix: its blocks for every block size, its dependency levels, the patterns
 * S(|L|^k) and S(|U|^k), and the least number of bytes that an iteration of GMRES(30) moves with
 * each method.
 *
 * A product with nnzb blocks moves nnzb·(8 bs² + 4) + 4 (nb + 1) + 16 n bytes. An iteration has the
 * products with A and with the preconditioner's matrices, 9·8 n bytes for the vectors of the
 * products and of the update, and 31·8 n for the basis, averaged over a cycle. */
#include "info.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <bisai/pattern.h>
#include <bisai/precond.h>

#include "info_json.h"
#include "info_text.h"
#include "json.h"
#include "message.h"
#include "numbering.h"
#include "problem.h"
#include "progress.h"
#include "standard.h"
#include "target.h"

static void collect_sizes(info *i, const bisai_block_size_info sizes[BISAI_CHOSEN_SIZES]) {
  const info_matrix *m = &i->matrix;
  for (int k = 0; k < BISAI_CHOSEN_SIZES; k++) {
    const bisai_block_size_info *s = &sizes[k];
    const double values = (double)s->blocks * s->block_size * s->block_size;
    i->size[i->sizes++] = (info_size){.block_size = s->block_size,
                                      .block_rows = s->block_rows,
                                      .blocks = s->blocks,
                                      .bytes = s->bytes,
                                      .filled = m->entries / values,
                                      .diagonals_known = true,
                                      .missing_diagonals = s->missing_diagonals,
                                      .singular_diagonals = s->singular_diagonals,
                                      .chosen = s->block_size == m->block_size};
  }
  if (m->block_size <= BISAI_CHOSEN_SIZES) return;
  const int64_t values = (int64_t)m->blocks * m->block_size * m->block_size;
  i->size[i->sizes++] = (info_size){.block_size = m->block_size,
                                    .block_rows = m->block_rows,
                                    .blocks = m->blocks,
                                    .bytes = 8 * values + 4 * (int64_t)m->blocks,
                                    .filled = m->entries / (double)values,
                                    .chosen = true};
}

static void collect_triangle(bisai_context *context, const bisai_bcsr *matrix,
                             bisai_triangle triangle, progress *shown, info_triangle *t) {
  static const char *const lower[INFO_POWERS] = {"S(|L|)", "S(|L|^2)", "S(|L|^3)"};
  static const char *const upper[INFO_POWERS] = {"S(|U|)", "S(|U|^2)", "S(|U|^3)"};
  for (int k = 1; k <= INFO_POWERS; k++) {
    bisai_pattern *pattern = NULL;
    progress_show(shown, triangle == BISAI_LOWER ? lower[k - 1] : upper[k - 1]);
    if (bisai_pattern_power(context, matrix, triangle, k, &pattern)) {
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

/* Returns the bytes of a product with a matrix of so many blocks. */
static double product(const info_matrix *m, double blocks) {
  const double bs = m->block_size, rows = m->block_rows;
  return blocks * (8 * bs * bs + 4) + 4 * (rows + 1) + 16 * rows * bs;
}

static void add_method(info *i, const char *label, double preconditioner) {
  info_method *m = &i->method[i->methods++];
  *m = (info_method){.matrix = product(&i->matrix, i->matrix.blocks),
                     .preconditioner = preconditioner,
                     .vectors = (9 + 31) * 8.0 * i->matrix.block_rows * i->matrix.block_size};
  snprintf(m->label, sizeof m->label, "%s", label);
}

static void collect_methods(info *i) {
  const info_triangle *l = &i->triangles[0], *u = &i->triangles[1];
  const info_matrix *m = &i->matrix;
  const double rows = m->block_rows, bs = m->block_size, unknowns = rows * bs;
  const double diagonal = 8 * rows * bs * bs + 16 * unknowns;
  add_method(i, "none", 0);
  add_method(i, "bjacobi", diagonal);
  if (!l->known[0] || !u->known[0]) return;
  const double lower = product(m, (double)l->blocks[0] - rows),
               upper = product(m, (double)u->blocks[0] - rows);
  const double correction = lower + upper + 16 * unknowns;
  add_method(i, "ilu", lower + upper + diagonal);
  add_method(i, "sweeps:n=1", diagonal + correction);
  add_method(i, "sweeps:n=3", diagonal + 3 * correction);
  for (int k = 0; k < INFO_POWERS; k++) {
    char label[INFO_LABEL];
    if (!l->known[k] || !u->known[k]) continue;
    const double isai = product(m, (double)l->blocks[k]) + product(m, (double)u->blocks[k]);
    snprintf(label, sizeof label, "isai:k=%d", k + 1);
    add_method(i, label, isai);
    if (k > 0) continue;
    add_method(i, "isai:k=1:relax=1",
               2 * isai + lower + product(m, (double)u->blocks[0]) + 32 * unknowns);
  }
}

/* Finds the blocks of block-Jacobi. Singular blocks are shifted, because the values do not matter
 * here. Rows of a block matrix have the patterns of their blocks, as in the methods. */
static void collect_diagonal(bisai_context *context, const bisai_bcsr *matrix, progress *shown,
                             info_diagonal *d) {
  bisai_precond_options how = bisai_precond_options_default();
  bisai_precond_report report = {.struct_size = sizeof report};
  bisai_precond *precond = NULL;
  how.kind = BISAI_PRECOND_BJACOBI;
  how.shift = BISAI_SHIFT_IN_BLOCKS;
  how.bjacobi.max_block = d->bound;
  progress_show(shown, "diagonal blocks");
  const bisai_status status = bisai_precond_create(context, matrix, &how, &precond);
  if (status || bisai_precond_get_report(precond, &report)) {
    say("bjacobi:max=%d: %s%s", (int)d->bound, bisai_context_error(context),
        message_base(bisai_context_error(context)));
  } else {
    d->known = true;
    d->blocks = report.bjacobi.blocks;
    d->largest = report.bjacobi.largest_block;
    d->bytes = report.bjacobi.value_bytes;
    d->mean_rows = d->blocks > 0 ? (double)bisai_precond_rows(precond) / d->blocks : 0.0;
  }
  bisai_precond_destroy(&precond);
}

static void try_iteration(bisai_context *context, const bisai_bcsr *matrix, bisai_precond *precond,
                          info_trial *trial) {
  trial->factor_known =
      bisai_precond_error_factor(precond, matrix, &trial->error_factor) == BISAI_OK;
  if (!trial->factor_known)
    say("factor of errors: %s%s", bisai_context_error(context),
        message_base(bisai_context_error(context)));
}

/* All zeros if the memory cannot be read: the device has failed then, and the next call says so. */
static bisai_device_memory device_memory(bisai_context *context) {
  bisai_device_memory memory = {.struct_size = sizeof memory};
  bisai_context_device_memory(context, true, &memory);
  return memory;
}

/* Makes a method with its defaults, or with a shift if it refuses a diagonal block, and
 * adds what an application moves. */
static bool collect_report(bisai_context *context, const bisai_bcsr *matrix,
                           bisai_precond_kind kind, bisai_precond_report *report, info_trial *trial,
                           info *i) {
  const char *name = bisai_precond_kind_string(kind);
  bisai_precond_options how = bisai_precond_options_default();
  bisai_precond *precond = NULL;
  how.kind = kind;
  *report = (bisai_precond_report){.struct_size = sizeof *report};
  const int64_t before = device_memory(context).used_bytes;
  bisai_status status = bisai_precond_create(context, matrix, &how, &precond);
  const bool shifted = status == BISAI_SINGULAR_BLOCK || status == BISAI_MISSING_DIAGONAL;
  if (shifted) {
    how.shift = BISAI_SHIFT_IN_BLOCKS;
    status = bisai_precond_create(context, matrix, &how, &precond);
  }
  const bool ok = !status && !bisai_precond_get_report(precond, report);
  if (ok) {
    trial->device_peak = device_memory(context).most_used_bytes - before;
    if (shifted)
      trial->repairs = (info_repairs){how.shift_amount, report->repairs, report->first_repair_row};
    add_method(i, name, (double)report->apply_bytes);
    try_iteration(context, matrix, precond, trial);
  } else {
    say("%s: %s%s", name, bisai_context_error(context), message_base(bisai_context_error(context)));
  }
  bisai_precond_destroy(&precond);
  return ok;
}

static void collect_hierarchy(bisai_context *context, const bisai_bcsr *matrix, progress *shown,
                              info *i) {
  bisai_precond_report report;
  progress_show(shown, "levels of multigrid");
  if (collect_report(context, matrix, BISAI_PRECOND_MULTIGRID, &report, &i->mg, i))
    i->hierarchy = report.multigrid;
}

static void collect_pressure(bisai_context *context, const bisai_bcsr *matrix, progress *shown,
                             info *i) {
  bisai_precond_report report;
  if (i->matrix.block_size == 1 || i->matrix.missing_diagonals > 0) return;
  progress_show(shown, "pressure");
  i->pressure_known = collect_report(context, matrix, BISAI_PRECOND_CPR, &report, &i->cpr, i);
  if (i->pressure_known) i->pressure = report.cpr;
}

static void collect_rows(info_matrix *m, const int32_t *row_ptr, const int32_t *col_idx) {
  int32_t diagonals = 0;
  for (int32_t r = 0; r < m->block_rows; r++) {
    const int32_t length = row_ptr[r + 1] - row_ptr[r];
    if (length > m->longest_row) m->longest_row = length;
    for (int32_t p = row_ptr[r]; p < row_ptr[r + 1]; p++) diagonals += col_idx[p] == r;
  }
  m->missing_diagonals = m->block_rows - diagonals;
}

/* Collects the figures of the matrix in blocks and of the scalar matrix. */
static bisai_status collect_matrix(bisai_context *context, const bisai_csr_desc *csr,
                                   const bisai_bcsr *matrix, info_matrix *m) {
  const int32_t *row_ptr, *col_idx;
  bisai_bcsr_arrays(matrix, &row_ptr, &col_idx, NULL);
  m->block_size = bisai_bcsr_block_size(matrix);
  m->block_rows = bisai_bcsr_block_rows(matrix);
  m->blocks = bisai_bcsr_blocks(matrix);
  m->padding = bisai_bcsr_padding(matrix);
  m->asymmetry_known = bisai_bcsr_asymmetry(matrix, &m->asymmetry, NULL) == BISAI_OK;
  collect_rows(m, row_ptr, col_idx);
  if (!empties_find(m->block_rows, row_ptr, col_idx, NULL, &m->empty_blocks) ||
      !empties_find(csr->rows, csr->row_ptr, csr->col_idx, csr->values, &m->zeros))
    return bisai_context_fail(context, BISAI_OUT_OF_MEMORY,
                              "no memory to look for empty rows and columns");
  return BISAI_OK;
}

/* Collects patterns and diagonal blocks, which takes long. */
static void collect_structures(bisai_context *context, const bisai_bcsr *matrix, progress *shown,
                               info *i) {
  static const int32_t bounds[INFO_BOUNDS] = {2, 4, 8, 16, 32};
  collect_triangle(context, matrix, BISAI_LOWER, shown, &i->triangles[0]);
  collect_triangle(context, matrix, BISAI_UPPER, shown, &i->triangles[1]);
  collect_methods(i);
  if (i->has_diagonals) {
    collect_hierarchy(context, matrix, shown, i);
    collect_pressure(context, matrix, shown, i);
  }
  for (int k = 0; i->has_diagonals && k < INFO_BOUNDS; k++) {
    i->diagonals[k].bound = bounds[k];
    collect_diagonal(context, matrix, shown, &i->diagonals[k]);
  }
}

static bisai_status collect_study(bisai_context *context, const problem *scalar,
                                  const bisai_bcsr *matrix, info *i) {
  bisai_matrix_study_report in_rows = {.struct_size = sizeof in_rows};
  i->study.struct_size = sizeof i->study;
  bisai_status status = bisai_matrix_study(context, matrix, 0, NULL, &i->study);
  if (status || i->matrix.block_size == 1) return status;
  status = bisai_matrix_study(context, scalar->matrix, scalar->rows, NULL, &in_rows);
  i->study.fields = in_rows.fields;
  return status;
}

static info_origin origin_of(const options *o, bool named, bool nodes) {
  return nodes                             ? INFO_NODES
         : o->input.block_size > 0         ? INFO_GIVEN
         : o->input.made.name != CASE_NONE ? INFO_CASE
         : named                           ? INFO_FILE
         : problem_block_size(o)           ? INFO_PAPER
                                           : INFO_PATTERN;
}

/* Collects the figures of all block sizes from the matrix in blocks of size 1. */
static bisai_status collect(bisai_context *context, const options *o, const problem *scalar,
                            bisai_csr_desc csr, progress *shown, info *i) {
  bisai_block_size_info sizes[BISAI_CHOSEN_SIZES];
  bisai_bcsr *matrix = NULL;
  int32_t best = 0;
  bool known = true;
  bisai_status status = BISAI_OK;
  if (csr.block_size == 0 && o->input.file && !numbering_asked(o))
    status = bisai_read_block_size(context, o->input.file, &csr.block_size);
  *i = (info){.tells_memory = o->output.memory,
              .matrix = {.name = scalar->name,
                         .rows = scalar->rows,
                         .entries = bisai_bcsr_blocks(scalar->matrix)}};
  csr.find_nodes = csr.find_nodes && csr.block_size == 0;
  if (!status) status = bisai_block_size_study(context, &csr, sizes, &best);
  if (!status) status = bisai_bcsr_from_csr(context, &csr, &matrix);
  if (!status) {
    const bool nodes = numbering_is_own(scalar->name, matrix, &known);
    i->matrix.origin = origin_of(
        o, csr.block_size > 0 && problem_block_size(o) == 0 && !numbering_asked(o), nodes);
  }
  if (!known) status = BISAI_OUT_OF_MEMORY;
  if (!status) status = collect_matrix(context, &csr, matrix, &i->matrix);
  if (!status) status = collect_study(context, scalar, matrix, i);
  if (!status) {
    i->has_diagonals = i->matrix.empty_blocks.rows + i->matrix.empty_blocks.columns == 0;
    collect_sizes(i, sizes);
    collect_structures(context, matrix, shown, i);
  }
  bisai_bcsr_destroy(&matrix);
  return status;
}

/* Describes the arrays of a matrix in blocks of one value, with the nodes that the options name or
 * ask for. */
static bool describe(bisai_context *context, const options *o, const problem *scalar,
                     bisai_csr_desc *csr, numbering *n) {
  const void *values;
  *csr = bisai_csr_desc_default();
  bisai_bcsr_arrays(scalar->matrix, &csr->row_ptr, &csr->col_idx, &values);
  csr->rows = csr->cols = (int32_t)scalar->rows;
  csr->values = values;
  csr->pad = true;
  if (numbering_asked(o)) return numbering_find(context, o, scalar->name, scalar->matrix, csr, n);
  csr->block_size = problem_block_size(o);
  csr->find_nodes = csr->block_size == 0 && numbering_is_free(o);
  return true;
}

static bool check_output(bisai_context *context, const options *o) {
  const target inputs[] = {{"the matrix", o->input.file}, {"--nodes", numbering_file(o)}};
  const target output = {"--json", o->output.json};
  return !o->output.json || standard_is(o->output.json) ||
         target_check(context, 1, &output, 2, inputs);
}

int info_run(bisai_context *context, const options *o) {
  problem scalar = {0};
  numbering n = {0};
  bisai_csr_desc csr;
  int code = EXIT_BAD_INPUT;
  if (check_output(context, o) && problem_load_matrix(context, o, 1, &scalar) &&
      describe(context, o, &scalar, &csr, &n)) {
    info found;
    progress shown;
    progress_start(&shown, scalar.name, "blocks");
    const bisai_status status = collect(context, o, &scalar, csr, &shown, &found);
    progress_end(&shown);
    if (status) say_failure(context, scalar.name, status);
    if (!status && !standard_is(o->output.json)) info_print(&found);
    if (!status && (!o->output.json || json_write(context, o->output.json, info_json(&found))))
      code = EXIT_SUCCESS;
  }
  numbering_free(&n);
  problem_free(&scalar);
  return code;
}
