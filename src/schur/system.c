/* SPDX-License-Identifier: BSD-3-Clause */
#include "schur/system.h"

#include <math.h>

#include "apply/apply_ops.h"
#include "core/matrix/matrix_ops.h"
#include "core/vector/power.h"
#include "schur/parts.h"
#include "schur/schur_ops.h"

/* Power steps for alpha. On teko_ml_small, factors from 0.7 to 1.4 of it change the iterations by
 * at most one. */
enum { POWER_STEPS = 10 };

/* Row sums of K over its diagonal that count as zero. A time step adds about h²/(4 ν Δt): with
 * ν = 0.01, Δt = 0.01 and h = 1/32 it is 2.4, and a diagonal Schur complement takes 107 iterations
 * where LSC takes 4. */
#define STEADY_SUM 1e-3

static const bsi_schur_ops *ops_of(const bisai_context *context) {
  return bsi_schur_ops_of(context);
}

/* --- creation --- */

/* Copies an array of the host to backend memory. Returns NULL after a failure. */
static void *copy_of(bisai_context *context, const void *host, int64_t count, size_t size,
                     bisai_status *status) {
  const bsi_memory_ops *memory = context->backend->memory;
  void *copy = *status ? NULL : memory->allocate(context, (size_t)count, size);
  if (!copy && !*status) *status = BISAI_OUT_OF_MEMORY;
  if (copy) *status = memory->upload(context, copy, host, (size_t)count * size);
  return copy;
}

static double *vector_of(bisai_context *context, int64_t count, bisai_status *status) {
  double *vector =
      *status ? NULL : context->backend->memory->allocate(context, (size_t)count, sizeof *vector);
  if (!vector && !*status) *status = BISAI_OUT_OF_MEMORY;
  return vector;
}

static bisai_status make_matrix(bisai_context *context, const bsi_part_of *part, int64_t **map,
                                bisai_bcsr **matrix) {
  const bsi_bcsr_sizes sizes = {part->block_rows, part->block_cols, part->block_size,
                                part->row_ptr[part->block_rows], BISAI_FP64};
  bisai_status status = bsi_bcsr_reserve(context, &sizes, NULL, NULL, matrix);
  if (!status) status = bsi_bcsr_set_structure(*matrix, part->row_ptr, part->col_idx);
  if (status) return status;
  (*matrix)->rows = part->block_rows * part->block_size;
  (*matrix)->kept.updated_only = true; /* bsi_schur_system_update() says when the values change */
  *map = copy_of(context, part->map, bsi_part_values(part), sizeof **map, &status);
  return status;
}

static bisai_status make_arrays(bisai_context *context, const bsi_saddle_parts *parts,
                                bsi_schur_system *s) {
  const int64_t nv = s->velocities, np = s->pressures, dropped = parts->dropped_count;
  const int64_t longest = nv > np ? nv : np;
  bisai_status status = BISAI_OK;
  s->map.dropped_count = dropped;
  s->map.k_diagonal = copy_of(context, parts->k_diagonal, nv, sizeof(int64_t), &status);
  s->map.e_diagonal = copy_of(context, parts->e_diagonal, np, sizeof(int64_t), &status);
  s->map.dropped = copy_of(context, parts->dropped, dropped, sizeof(int64_t), &status);
  s->rows.velocities = copy_of(context, parts->velocities, nv, sizeof(int32_t), &status);
  s->rows.pressures = copy_of(context, parts->pressures, np, sizeof(int32_t), &status);
  s->inverse.h = vector_of(context, nv, &status);
  s->inverse.e = vector_of(context, np, &status);
  for (int k = 0; k < 4; k++) s->work.velocities[k] = vector_of(context, nv, &status);
  for (int k = 0; k < 4; k++) s->work.pressures[k] = vector_of(context, np, &status);
  s->work.longest = vector_of(context, longest > dropped ? longest : dropped, &status);
  s->work.diagonal = bsi_allocate(context, (size_t)np, sizeof *s->work.diagonal);
  return !status && !s->work.diagonal ? BISAI_OUT_OF_MEMORY : status;
}

/* Takes the rows over for messages. */
static void take_names(bsi_saddle_parts *parts, int32_t block_size, bsi_schur_system *s) {
  s->rows.names_of_velocities = parts->velocities;
  s->rows.names_of_pressures = parts->pressures;
  parts->velocities = parts->pressures = NULL;
  if (block_size == 1) s->k->row_names = s->rows.names_of_velocities;
  if (block_size == 1) s->e->row_names = s->rows.names_of_pressures;
}

static bisai_status make(bisai_context *context, const bsi_saddle *host,
                         const bsi_split_choice *choice, bsi_split *split, bsi_saddle_parts *parts,
                         bsi_schur_system *s) {
  BSI_TRY(bsi_split_rows(context, host, choice, split));
  BSI_TRY(bsi_saddle_parts_make(context, host, split, parts));
  s->velocities = split->velocities;
  s->pressures = split->pressures;
  s->found = split->found;
  s->stabilised = parts->stabilised;
  BSI_TRY(make_matrix(context, &parts->k, &s->map.k, &s->k));
  BSI_TRY(make_matrix(context, &parts->g, &s->map.g, &s->g));
  BSI_TRY(make_matrix(context, &parts->d, &s->map.d, &s->d));
  BSI_TRY(make_matrix(context, &parts->e, &s->map.e, &s->e));
  BSI_TRY(make_arrays(context, parts, s));
  take_names(parts, host->block_size, s);
  return BISAI_OK;
}

static bisai_status copy_structure(bisai_context *context, const bisai_bcsr *a,
                                   bsi_schur_system *s) {
  const bsi_memory_ops *memory = context->backend->memory;
  const size_t rows = (size_t)a->block_rows + 1, blocks = (size_t)a->blocks;
  s->pattern.blocks = a->blocks;
  s->pattern.row_ptr = memory->allocate(context, rows, sizeof *s->pattern.row_ptr);
  s->pattern.col_idx = memory->allocate(context, blocks, sizeof *s->pattern.col_idx);
  if (!s->pattern.row_ptr || !s->pattern.col_idx) return BISAI_OUT_OF_MEMORY;
  BSI_TRY(memory->copy(context, s->pattern.row_ptr, a->row_ptr, rows * sizeof *s->pattern.row_ptr));
  return memory->copy(context, s->pattern.col_idx, a->col_idx, blocks * sizeof *s->pattern.col_idx);
}

bisai_status bsi_schur_system_create(bisai_context *context, const bisai_bcsr *a,
                                     const bsi_split_choice *choice, bsi_schur_system *s) {
  const bsi_memory_ops *memory = context->backend->memory;
  const size_t values = bsi_block_offset(a, a->blocks);
  bsi_structure structure;
  bsi_split split = {0};
  bsi_saddle_parts parts = {0};
  double *fetched = NULL;
  bisai_status status = copy_structure(context, a, s);
  if (!status) status = bsi_bcsr_structure(a, &structure);
  if (!status && !memory->is_host) {
    fetched = bsi_allocate(context, values, sizeof *fetched);
    status = fetched ? memory->fetch(context, fetched, a->values, values * sizeof *fetched)
                     : BISAI_OUT_OF_MEMORY;
  }
  if (!status) {
    const bsi_saddle host = {a->block_rows,     a->block_size,     a->rows,
                             structure.row_ptr, structure.col_idx, fetched ? fetched : a->values};
    status = make(context, &host, choice, &split, &parts, s);
  }
  bsi_saddle_parts_release(context, &parts);
  bsi_release(context, split.place);
  bsi_release(context, fetched);
  return status;
}

/* --- updates --- */

bisai_status bsi_schur_system_check_pattern(bisai_context *context, const bisai_bcsr *a,
                                            const bsi_schur_system *s) {
  bisai_bcsr before = *a;
  before.blocks = s->pattern.blocks;
  before.row_ptr = s->pattern.row_ptr;
  before.col_idx = s->pattern.col_idx;
  return bsi_bcsr_check_pattern(context, a, &before);
}

/* *index ← the first of `count` values that is not finite, or −1. */
static bisai_status find_not_finite(bisai_context *context, int64_t count, const double *values,
                                    int64_t *index) {
  return context->backend->matrix->blocks->find_not_finite(context, BISAI_FP64, count, values,
                                                           index);
}

/* Returns the scalar row of value `index` of A. */
static bisai_status row_of_value(const bisai_bcsr *a, int64_t index, int32_t *row) {
  const int64_t bs = a->block_size, block = index / (bs * bs);
  bsi_structure structure;
  BSI_TRY(bsi_bcsr_structure(a, &structure));
  int32_t low = 0, high = a->block_rows - 1;
  while (low < high) {
    const int32_t middle = low + (high - low) / 2;
    if (structure.row_ptr[middle + 1] <= block)
      low = middle + 1;
    else
      high = middle;
  }
  *row = (int32_t)(low * bs + index % bs);
  return BISAI_OK;
}

bisai_status bsi_schur_system_check_values(bisai_context *context, const bisai_bcsr *a,
                                           const bsi_schur_system *s) {
  int64_t lost = -1, value = 0;
  int32_t row = -1;
  BSI_TRY(ops_of(context)->take(context, BSI_TAKE_WHETHER_ZERO, s->map.dropped_count,
                                s->map.dropped, a->values, s->work.longest));
  BSI_TRY(find_not_finite(context, s->map.dropped_count, s->work.longest, &lost));
  if (lost < 0) return BISAI_OK;
  BSI_TRY(context->backend->memory->fetch(context, &value, s->map.dropped + lost, sizeof value));
  BSI_TRY(row_of_value(a, value, &row));
  return bsi_fail(context, BISAI_INVALID_STRUCTURE,
                  "row %d has a value that is not zero where the matrix of creation had a zero: a "
                  "new preconditioner takes it",
                  row);
}

static bisai_status take_matrix(bisai_context *context, const bisai_bcsr *a, const int64_t *map,
                                bisai_bcsr *part) {
  part->kept.measured = false;
  return ops_of(context)->take(context, BSI_TAKE_VALUE,
                               (int64_t)bsi_block_offset(part, part->blocks), map, a->values,
                               part->values);
}

static bisai_status invert_diagonal(bisai_context *context, const bisai_bcsr *a,
                                    bsi_schur_system *s) {
  int64_t zero = -1;
  BSI_TRY(ops_of(context)->take(context, BSI_TAKE_INVERSE, s->velocities, s->map.k_diagonal,
                                a->values, s->inverse.h));
  BSI_TRY(find_not_finite(context, s->velocities, s->inverse.h, &zero));
  if (zero < 0) return BISAI_OK;
  return bsi_fail(context, BISAI_SINGULAR_BLOCK,
                  "row %d, which is no pressure, has a zero on the diagonal",
                  s->rows.names_of_velocities[zero]);
}

static bisai_status complement(bisai_context *context, const bisai_bcsr *a, bsi_schur_system *s) {
  const bsi_complement job = {.rows = s->pressures,
                              .sign = s->sign,
                              .row_ptr = s->e->row_ptr,
                              .col_idx = s->e->col_idx,
                              .values = s->e->values,
                              .a = a->values,
                              .map = s->map.e,
                              .d_ptr = s->d->row_ptr,
                              .d_col = s->d->col_idx,
                              .g_ptr = s->g->row_ptr,
                              .g_col = s->g->col_idx,
                              .d_values = s->d->values,
                              .g_values = s->g->values,
                              .h = s->inverse.h};
  s->e->kept.measured = false;
  return ops_of(context)->complement(context, &job);
}

/* Computes E with the sign s that makes most diagonal entries positive. */
static bisai_status make_complement(bisai_context *context, const bisai_bcsr *a,
                                    bsi_schur_system *s) {
  const bsi_memory_ops *memory = context->backend->memory;
  const size_t bytes = (size_t)s->pressures * sizeof *s->work.diagonal;
  int32_t negative = 0;
  s->sign = 1.0;
  BSI_TRY(complement(context, a, s));
  BSI_TRY(ops_of(context)->take(context, BSI_TAKE_VALUE, s->pressures, s->map.e_diagonal,
                                s->e->values, s->work.longest));
  BSI_TRY(memory->fetch(context, s->work.diagonal, s->work.longest, bytes));
  for (int32_t i = 0; i < s->pressures; i++) negative += s->work.diagonal[i] < 0.0;
  if (2 * (int64_t)negative <= s->pressures) return BISAI_OK;
  s->sign = -1.0;
  return complement(context, a, s);
}

static bisai_status invert_complement_diagonal(bisai_context *context, bsi_schur_system *s) {
  int64_t zero = -1;
  BSI_TRY(ops_of(context)->take(context, BSI_TAKE_INVERSE, s->pressures, s->map.e_diagonal,
                                s->e->values, s->inverse.e));
  BSI_TRY(find_not_finite(context, s->pressures, s->inverse.e, &zero));
  if (zero < 0) return BISAI_OK;
  return bsi_fail(context, BISAI_SINGULAR_BLOCK,
                  "row %d: the diagonal entry of the Schur complement of this pressure is zero",
                  s->rows.names_of_pressures[zero]);
}

/* --- products --- */

bisai_status bsi_schur_multiply(bisai_context *context, const bsi_schur_system *s, bool k,
                                const double *x, double *y) {
  double *t = s->work.velocities[2], *u = s->work.velocities[3];
  BSI_TRY(bsi_multiply_vector(context, s->g, 1.0, x, 0.0, NULL, t));
  BSI_TRY(ops_of(context)->scale(context, s->velocities, s->inverse.h, t, t));
  if (k) {
    BSI_TRY(bsi_multiply_vector(context, s->k, 1.0, t, 0.0, NULL, u));
    BSI_TRY(ops_of(context)->scale(context, s->velocities, s->inverse.h, u, t));
  }
  return bsi_multiply_vector(context, s->d, 1.0, t, 0.0, NULL, y);
}

/* *count ← the rows of K whose sum is nearly zero. */
static bisai_status count_cancelled(bisai_context *context, const bsi_schur_system *s, double *sums,
                                    int32_t *count) {
  double *ones = s->work.velocities[2], *y = s->work.velocities[3];
  const size_t bytes = (size_t)s->velocities * sizeof *sums;
  BSI_TRY(context->backend->vectors->set(context, s->velocities, 1.0, ones));
  BSI_TRY(bsi_multiply_vector(context, s->k, 1.0, ones, 0.0, NULL, y));
  BSI_TRY(ops_of(context)->scale(context, s->velocities, s->inverse.h, y, y));
  BSI_TRY(context->backend->memory->fetch(context, sums, y, bytes));
  *count = 0;
  for (int32_t i = 0; i < s->velocities; i++) *count += fabs(sums[i]) <= STEADY_SUM;
  return BISAI_OK;
}

bisai_status bsi_schur_system_is_steady(bisai_context *context, const bsi_schur_system *s,
                                        bool *steady) {
  int32_t count = 0;
  double *sums = bsi_allocate(context, (size_t)s->velocities, sizeof *sums);
  bisai_status status =
      sums ? bsi_bcsr_is_symmetric(context, s->k, steady, NULL) : BISAI_OUT_OF_MEMORY;
  if (!status && *steady) status = count_cancelled(context, s, sums, &count);
  bsi_release(context, sums);
  *steady = *steady && 2 * (int64_t)count >= s->velocities;
  return status;
}

typedef struct power_step {
  bisai_context *context;
  bsi_schur_system *system;
} power_step;

/* y ← D H⁻¹ G diag(E)⁻¹ x */
static bisai_status step(void *user, const double *x, double *y) {
  const power_step *p = user;
  double *scaled = p->system->work.pressures[2];
  BSI_TRY(
      ops_of(p->context)->scale(p->context, p->system->pressures, p->system->inverse.e, x, scaled));
  return bsi_schur_multiply(p->context, p->system, false, scaled, y);
}

static bisai_status find_alpha(bisai_context *context, bsi_schur_system *s) {
  power_step p = {context, s};
  double norms[2];
  s->alpha = 0.0;
  if (!s->stabilised) return BISAI_OK;
  BSI_TRY(bsi_power_norms(context, s->pressures, POWER_STEPS, step, &p, s->work.pressures[0],
                          s->work.pressures[1], norms));
  const double radius = bsi_power_growth(norms);
  s->alpha = radius > 0.0 ? 1.0 / radius : 0.0;
  return BISAI_OK;
}

bisai_status bsi_schur_system_update(bisai_context *context, const bisai_bcsr *a,
                                     bsi_schur_system *s) {
  BSI_TRY(take_matrix(context, a, s->map.k, s->k));
  BSI_TRY(take_matrix(context, a, s->map.g, s->g));
  BSI_TRY(take_matrix(context, a, s->map.d, s->d));
  BSI_TRY(invert_diagonal(context, a, s));
  BSI_TRY(make_complement(context, a, s));
  BSI_TRY(invert_complement_diagonal(context, s));
  return find_alpha(context, s);
}

/* --- memory --- */

int64_t bsi_schur_system_memory(const bsi_schur_system *s) {
  const bisai_bcsr *const matrices[] = {s->k, s->g, s->d, s->e};
  const int64_t nv = s->velocities, np = s->pressures;
  int64_t bytes = 8 * (6 * nv + 7 * np + s->map.dropped_count) + 8 * (nv + np);
  for (int k = 0; k < 4; k++)
    bytes += bsi_bcsr_memory(matrices[k]) +
             8 * (int64_t)bsi_block_offset(matrices[k], matrices[k]->blocks);
  return bytes;
}

void bsi_schur_system_destroy(bisai_context *context, bsi_schur_system *s) {
  const bsi_memory_ops *memory = context->backend->memory;
  int64_t *const maps[] = {s->map.k,          s->map.g,          s->map.d,      s->map.e,
                           s->map.k_diagonal, s->map.e_diagonal, s->map.dropped};
  bisai_bcsr_destroy(&s->k);
  bisai_bcsr_destroy(&s->g);
  bisai_bcsr_destroy(&s->d);
  bisai_bcsr_destroy(&s->e);
  for (size_t k = 0; k < sizeof maps / sizeof *maps; k++) memory->release(context, maps[k]);
  for (int k = 0; k < 4; k++) memory->release(context, s->work.velocities[k]);
  for (int k = 0; k < 4; k++) memory->release(context, s->work.pressures[k]);
  memory->release(context, s->work.longest);
  memory->release(context, s->rows.velocities);
  memory->release(context, s->rows.pressures);
  memory->release(context, s->pattern.row_ptr);
  memory->release(context, s->pattern.col_idx);
  memory->release(context, s->inverse.h);
  memory->release(context, s->inverse.e);
  bsi_release(context, s->work.diagonal);
  bsi_release(context, s->rows.names_of_velocities);
  bsi_release(context, s->rows.names_of_pressures);
  *s = (bsi_schur_system){0};
}
