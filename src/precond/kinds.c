/* SPDX-License-Identifier: BSD-3-Clause */
/* What each kind of preconditioner does at set-up, update and application. */
#include "apply/apply_ops.h"
#include "bjacobi/bjacobi_ops.h"
#include "core/context_impl.h"
#include "precond/precond.h"

#include <string.h>

#include "core/values.h"

static const bsi_triangular *triangular_of(const bisai_precond *m, bisai_triangle triangle) {
  return triangle == BISAI_LOWER ? &m->factors->lower_solve : &m->factors->upper_solve;
}

/* The second half of an application on factors: from x itself back into x. `middle` holds the first
 * half's result. */
static bsi_vectors second_half(const bsi_vectors *v, const double *middle, int64_t n) {
  return (bsi_vectors){v->count, middle, n, v->x, v->ldx, v->work + n * v->count};
}

/* The first half: from b into the first work vector. */
static bsi_vectors first_half(const bsi_vectors *v, int64_t n) {
  return (bsi_vectors){v->count, v->b, v->ldb, v->work, n, v->work + n * v->count};
}

static int64_t scalar_rows(const bisai_precond *m) {
  return (int64_t)m->block_rows * m->block_size;
}

/* --- none --- */

static bisai_status none_apply(bisai_precond *m, const bsi_vectors *v) {
  bisai_status status = BISAI_OK;
  for (int32_t c = 0; c < v->count && !status; c++)
    status = m->context->backend->vectors->copy(m->context, scalar_rows(m), v->b + c * v->ldb,
                                                v->x + c * v->ldx);
  return status;
}

static void none_report(const bisai_precond *m, bisai_precond_report *r) {
  r->apply_bytes = 16 * scalar_rows(m);
}

static bisai_symmetry none_symmetry(const bisai_precond *m) {
  (void)m;
  return BISAI_SYMMETRY_VALUES;
}

static const bsi_precond_ops none_ops = {
    .apply = none_apply, .symmetry = none_symmetry, .report = none_report};

/* --- block-Jacobi --- */

/* The blocks that the caller gives. */
static bisai_status check_blocks(bisai_context *context, const bisai_precond_options *o,
                                 int32_t rows) {
  if (o->max_block < 0 || o->max_block > BSI_BJACOBI_MOST)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT, "max_block %d: 0 … %d are possible",
                    o->max_block, BSI_BJACOBI_MOST);
  if (!o->block_ptr)
    return o->block_count == 0 ? BISAI_OK
                               : bsi_fail(context, BISAI_INVALID_ARGUMENT,
                                          "block_count %d without block_ptr", o->block_count);
  if (o->max_block > 0)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT,
                    "max_block %d: blocks are given by block_ptr or found, not both", o->max_block);
  if (o->block_count < 0)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT, "block_count %d: at least 0 is needed",
                    o->block_count);
  if (o->block_ptr[0] != 0)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT, "block_ptr[0] is %d, not 0", o->block_ptr[0]);
  for (int32_t b = 0; b < o->block_count; b++) {
    const int64_t size = (int64_t)o->block_ptr[b + 1] - o->block_ptr[b];
    if (size < 1 || size > BSI_BJACOBI_MOST)
      return bsi_fail(context, BISAI_INVALID_ARGUMENT,
                      "block_ptr[%d] is %d after %d: a block has 1 … %d rows, not %lld", b + 1,
                      o->block_ptr[b + 1], o->block_ptr[b], BSI_BJACOBI_MOST, (long long)size);
  }
  if (o->block_ptr[o->block_count] != rows)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT,
                    "block_ptr[%d] is %d, the matrix has %d scalar rows", o->block_count,
                    o->block_ptr[o->block_count], rows);
  return BISAI_OK;
}

static bisai_status bjacobi_check(bisai_context *context, const bisai_precond_options *o,
                                  const bisai_bcsr *matrix) {
  if (o->form < BISAI_FORM_INVERSE || o->form > BISAI_FORM_LU)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT, "unknown form %d", (int)o->form);
  if (o->extraction < BISAI_EXTRACTION_AUTO || o->extraction > BISAI_EXTRACTION_MERGED_SHARED)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT, "unknown extraction %d", (int)o->extraction);
  if (bsi_value_bytes(o->storage) == 0)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT, "unknown storage %d", (int)o->storage);
  if (o->storage == BISAI_ADAPTIVE && o->form != BISAI_FORM_INVERSE)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT,
                    "adaptive storage goes with the form inverse alone, not with %s",
                    bisai_form_string(o->form));
  if (o->digits < 1 || o->digits > BSI_MOST_DIGITS)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT, "digits %d: 1 … %d are possible", o->digits,
                    BSI_MOST_DIGITS);
  return check_blocks(context, o, matrix->block_rows * matrix->block_size);
}

static bisai_status bjacobi_setup(bisai_precond *m, const bisai_bcsr *a) {
  const bisai_precond_options *o = &m->options;
  const bsi_bjacobi_options options = {
      .shift_amount = o->shift == BISAI_SHIFT_IN_BLOCKS ? o->shift_amount : 0.0,
      .most = o->max_block,
      .given_blocks = o->block_count,
      .given_start = o->block_ptr,
      .form = o->form,
      .storage = o->storage,
      .digits = o->digits,
      .extraction = o->extraction};
  const double start = bsi_now();
  const bisai_status status = bsi_bjacobi_create(m->context, a, &options, &m->jacobi);
  m->report.pattern_seconds = bsi_now() - start;
  m->options.block_ptr = NULL; /* the caller's array may go */
  return status;
}

static bisai_status bjacobi_update(bisai_precond *m, const bisai_bcsr *a) {
  return bsi_bjacobi_update(m->context, a, &m->jacobi);
}

static bisai_status bjacobi_check_update(const bisai_precond *m, const bisai_bcsr *a) {
  return bsi_bjacobi_check(m->context, a, &m->jacobi);
}

static bisai_status bjacobi_apply(bisai_precond *m, const bsi_vectors *v) {
  return m->context->backend->bjacobi->solve->apply(m->context, &m->jacobi, v->count, v->b, v->ldb,
                                                    v->x, v->ldx);
}

/* Inverses of symmetric blocks are symmetric, also value by value in a narrow format; L and U
 * rounded by themselves are no longer those of a symmetric block. */
static bisai_symmetry bjacobi_symmetry(const bisai_precond *m) {
  const bool rounded = m->options.form != BISAI_FORM_INVERSE && m->options.storage != BISAI_FP64;
  return rounded ? BISAI_SYMMETRY_NONE : BISAI_SYMMETRY_VALUES;
}

static void bjacobi_report(const bisai_precond *m, bisai_precond_report *r) {
  const bsi_partition *p = &m->jacobi.partition;
  const bsi_bjacobi_stats *stats = &m->jacobi.stats;
  bsi_report_inversion(&stats->inversion, r);
  r->diagonal_blocks = p->blocks;
  r->largest_block = p->largest;
  memcpy(r->blocks_by_size, p->count, sizeof r->blocks_by_size);
  memcpy(r->blocks_by_format, stats->formats, sizeof r->blocks_by_format);
  r->block_bytes = stats->value_bytes;
  r->near_singular = stats->near_singular;
  r->near_singular_block = stats->near_singular_block;
  r->memory_bytes += bsi_bjacobi_memory(&m->jacobi);
  r->apply_bytes = stats->value_bytes + bsi_bjacobi_index_bytes(&m->jacobi) + 16 * scalar_rows(m);
}

static void bjacobi_destroy(bisai_precond *m) { bsi_bjacobi_destroy(m->context, &m->jacobi); }

static const bsi_precond_ops bjacobi_ops = {.check = bjacobi_check,
                                            .setup = bjacobi_setup,
                                            .update = bjacobi_update,
                                            .check_update = bjacobi_check_update,
                                            .apply = bjacobi_apply,
                                            .symmetry = bjacobi_symmetry,
                                            .report = bjacobi_report,
                                            .destroy = bjacobi_destroy};

/* --- block ILU: exact triangular solves --- */

static bisai_status ilu_check(bisai_context *context, const bisai_precond_options *o,
                              const bisai_bcsr *matrix) {
  (void)matrix;
  if (o->schedule >= BISAI_SCHEDULE_AUTO && o->schedule <= BISAI_SCHEDULE_LEVELS) return BISAI_OK;
  return bsi_fail(context, BISAI_INVALID_ARGUMENT, "unknown schedule %d", (int)o->schedule);
}

static bisai_status ilu_apply(bisai_precond *m, const bsi_vectors *v) {
  const bsi_backend *backend = m->context->backend;
  const bisai_schedule schedule = m->options.schedule;
  const bisai_status status = backend->apply->triangular->solve(
      m->context, triangular_of(m, BISAI_LOWER), schedule, v->count, v->b, v->ldb, v->x, v->ldx);
  if (status) return status;
  return backend->apply->triangular->solve(m->context, triangular_of(m, BISAI_UPPER), schedule,
                                           v->count, v->x, v->ldx, v->x, v->ldx);
}

/* Of a symmetric A, L U = L D Lᵀ. */
static bisai_symmetry factors_symmetry(const bisai_precond *m) {
  return m->own_factors ? BISAI_SYMMETRY_PATTERN : BISAI_SYMMETRY_CALLER;
}

/* U's diagonal blocks stay unread: their inverses are in their place. */
static void ilu_report(const bisai_precond *m, bisai_precond_report *r) {
  r->apply_bytes =
      bsi_bcsr_product_bytes(m->factors->lower) + bsi_bcsr_product_bytes(m->factors->upper);
}

static const bsi_precond_ops ilu_ops = {.needs_factors = true,
                                        .check = ilu_check,
                                        .apply = ilu_apply,
                                        .symmetry = factors_symmetry,
                                        .report = ilu_report};

/* --- block-ISAI --- */

static bisai_status check_pattern(bisai_context *context, const bisai_pattern *p,
                                  bisai_triangle triangle, int32_t n) {
  if (!p) return BISAI_OK;
  const char *name = triangle == BISAI_LOWER ? "lower_pattern" : "upper_pattern";
  if (p->triangle != triangle)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT, "%s is a pattern of the other triangle", name);
  if (p->block_rows != n)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT, "%s has %d block rows, the matrix %d", name,
                    p->block_rows, n);
  return BISAI_OK;
}

static bisai_status isai_check(bisai_context *context, const bisai_precond_options *o,
                               const bisai_bcsr *matrix) {
  if (o->power < 1)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT, "power %d: at least 1 is needed", o->power);
  if (o->relax < 0)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT, "relax %d: at least 0 is needed", o->relax);
  if (!(o->drop_tolerance >= 0.0) || isinf(o->drop_tolerance))
    return bsi_fail(context, BISAI_INVALID_ARGUMENT,
                    "drop_tolerance %g: must be at least 0 and finite", o->drop_tolerance);
  if (o->column_limit < 0)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT, "column_limit %d: at least 0 is needed",
                    o->column_limit);
  if (bsi_value_bytes(o->storage) == 0)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT, "unknown storage %d", (int)o->storage);
  if (!bsi_is_matrix_type(o->storage))
    return bsi_fail(context, BISAI_INVALID_ARGUMENT, "storage %s is block-Jacobi's alone",
                    bisai_value_type_string(o->storage));
  if (o->symmetric && o->upper_pattern)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT, "upper_pattern: symmetric isai has no NU");
  if (o->symmetric && o->factors && !o->factors->lower->unit_diagonal)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT,
                    "symmetric isai needs factors whose L implies its diagonal blocks");
  const bisai_status status =
      check_pattern(context, o->lower_pattern, BISAI_LOWER, matrix->block_rows);
  return status ? status
                : check_pattern(context, o->upper_pattern, BISAI_UPPER, matrix->block_rows);
}

/* NL alone, or NL and NU. */
static int inverses_of(const bisai_precond *m) { return m->options.symmetric ? 1 : 2; }

/* L's blocks by columns. */
static bisai_status list_lower_columns(bisai_precond *m) {
  const bisai_bcsr *l = m->factors->lower;
  bsi_structure s;
  bisai_status status = bsi_bcsr_structure(l, &s);
  if (status) return status;
  bisai_pattern *p = bsi_pattern_reserve(m->context, BISAI_LOWER, l->block_rows);
  if (!p) return BISAI_OUT_OF_MEMORY;
  status = bsi_pattern_set_rows(p, s.row_ptr, s.col_idx);
  return bsi_pattern_finish(p, status, &m->lower_columns);
}

static bisai_status make_pattern(bisai_precond *m, bisai_triangle triangle,
                                 bisai_pattern **pattern) {
  const bisai_pattern *given =
      triangle == BISAI_LOWER ? m->options.lower_pattern : m->options.upper_pattern;
  if (given) return bsi_pattern_copy(m->context, given, pattern);
  return bsi_pattern_reduced(m->context, triangular_of(m, triangle)->matrix, triangle,
                             m->options.power, m->options.drop_tolerance, m->options.column_limit,
                             pattern, &m->losses[triangle]);
}

static bisai_status isai_setup(bisai_precond *m, const bisai_bcsr *a) {
  (void)a;
  const double start = bsi_now();
  bisai_pattern *patterns[2] = {NULL, NULL};
  bisai_status status = make_pattern(m, BISAI_LOWER, &patterns[BISAI_LOWER]);
  if (!status && !m->options.symmetric)
    status = make_pattern(m, BISAI_UPPER, &patterns[BISAI_UPPER]);
  if (!status && m->options.symmetric && m->options.relax > 0) status = list_lower_columns(m);
  m->report.pattern_seconds = bsi_now() - start;
  for (int t = BISAI_LOWER; t < inverses_of(m) && !status; t++) {
    status = bsi_isai_create(m->context, triangular_of(m, (bisai_triangle)t), patterns[t],
                             m->options.storage, &m->isai[t]);
    patterns[t] = NULL;
  }
  bisai_pattern_destroy(&patterns[BISAI_LOWER]);
  bisai_pattern_destroy(&patterns[BISAI_UPPER]);
  return status;
}

static bisai_status isai_update(bisai_precond *m, const bisai_bcsr *a) {
  (void)a;
  bisai_status status = BISAI_OK;
  for (int t = BISAI_LOWER; t < inverses_of(m) && !status; t++)
    status = bsi_isai_update(m->context, triangular_of(m, (bisai_triangle)t), &m->isai[t]);
  return status;
}

static bsi_columns columns_of(const bisai_pattern *p) {
  return (bsi_columns){p->col_ptr, p->row_idx, p->position};
}

/* The second half of NLᵀ (D⁻¹ (NL v)); v->work holds NL v. */
static bisai_status apply_rest_of_symmetric(bisai_precond *m, const bsi_vectors *v) {
  const int64_t n = scalar_rows(m);
  double *scaled = v->work + n * v->count;
  const bsi_vectors upper = {v->count, scaled, n, v->x, v->ldx, v->work};
  const bsi_columns columns = columns_of(m->isai[BISAI_LOWER].pattern);
  const bisai_status status = m->context->backend->apply->products->multiply_diagonal(
      m->context, m->block_rows, m->block_size, m->factors->upper_inverse, v->count, v->work, n,
      scaled, n);
  if (status) return status;
  const bsi_columns of_factor = m->lower_columns ? columns_of(m->lower_columns) : (bsi_columns){0};
  return bsi_apply_transposed(m->context, m->isai[BISAI_LOWER].inverse, &columns,
                              triangular_of(m, BISAI_LOWER), &of_factor, m->options.relax, &upper);
}

static bisai_status isai_apply(bisai_precond *m, const bsi_vectors *v) {
  const int64_t n = scalar_rows(m);
  const bsi_vectors lower = first_half(v, n), upper = second_half(v, v->work, n);
  const bisai_status status =
      bsi_apply_inverse(m->context, m->isai[BISAI_LOWER].inverse, triangular_of(m, BISAI_LOWER),
                        m->options.relax, &lower);
  if (status) return status;
  if (m->options.symmetric) return apply_rest_of_symmetric(m, v);
  return bsi_apply_inverse(m->context, m->isai[BISAI_UPPER].inverse, triangular_of(m, BISAI_UPPER),
                           m->options.relax, &upper);
}

/* NU is made by columns, from U NU = I; NLᵀ is not that, as its columns are NL's rows. */
static bisai_symmetry isai_symmetry(const bisai_precond *m) {
  return m->options.symmetric ? factors_symmetry(m) : BISAI_SYMMETRY_NONE;
}

/* What the transposed half reads, and D⁻¹. */
static int64_t symmetric_bytes(const bisai_precond *m) {
  const bisai_bcsr *n = m->isai[BISAI_LOWER].inverse, *l = m->factors->lower;
  const int64_t relax = m->options.relax, positions = 4 * (int64_t)n->blocks;
  const int64_t diagonal = 8 * (int64_t)bsi_block_offset(n, n->block_rows) + 16 * scalar_rows(m);
  return (bsi_bcsr_product_bytes(n) + positions) * (1 + relax) +
         (bsi_bcsr_product_bytes(l) + 4 * (int64_t)l->blocks) * relax + diagonal;
}

static void isai_report(const bisai_precond *m, bisai_precond_report *r) {
  r->dropped_lower = m->losses[BISAI_LOWER].dropped;
  r->dropped_upper = m->losses[BISAI_UPPER].dropped;
  if (m->options.symmetric) r->apply_bytes += symmetric_bytes(m);
  if (m->lower_columns) r->memory_bytes += bsi_pattern_memory(m->lower_columns);
  for (int t = BISAI_LOWER; t < inverses_of(m); t++) {
    const bsi_isai *isai = &m->isai[t];
    const int64_t factor_bytes =
        bsi_bcsr_product_bytes(triangular_of(m, (bisai_triangle)t)->matrix);
    r->inverse_blocks += isai->pattern->blocks;
    if (isai->pattern->longest_column > r->longest_column)
      r->longest_column = isai->pattern->longest_column;
    r->shortened_columns += m->losses[t].cut.shortened;
    r->cut_blocks += m->losses[t].cut.blocks;
    r->memory_bytes += bsi_isai_memory(isai);
    r->apply_bytes += bsi_bcsr_product_bytes(isai->inverse) * (1 + (int64_t)m->options.relax) +
                      factor_bytes * m->options.relax;
  }
}

static void isai_destroy(bisai_precond *m) {
  bsi_isai_destroy(m->context, &m->isai[BISAI_LOWER]);
  bsi_isai_destroy(m->context, &m->isai[BISAI_UPPER]);
  bisai_pattern_destroy(&m->lower_columns);
}

static const bsi_precond_ops isai_ops = {.needs_factors = true,
                                         .vectors = 2,
                                         .check = isai_check,
                                         .setup = isai_setup,
                                         .update = isai_update,
                                         .apply = isai_apply,
                                         .symmetry = isai_symmetry,
                                         .report = isai_report,
                                         .destroy = isai_destroy};

/* --- block-Jacobi sweeps on the factors --- */

static bisai_status sweeps_check(bisai_context *context, const bisai_precond_options *o,
                                 const bisai_bcsr *matrix) {
  (void)matrix;
  if (o->sweeps >= 0) return BISAI_OK;
  return bsi_fail(context, BISAI_INVALID_ARGUMENT, "sweeps %d: at least 0 is needed", o->sweeps);
}

static bisai_status sweeps_setup(bisai_precond *m, const bisai_bcsr *a) {
  (void)a;
  const bisai_status status =
      bsi_sweeps_create(m->context, triangular_of(m, BISAI_LOWER), &m->sweeps[BISAI_LOWER]);
  return status ? status
                : bsi_sweeps_create(m->context, triangular_of(m, BISAI_UPPER),
                                    &m->sweeps[BISAI_UPPER]);
}

static bisai_status sweeps_update(bisai_precond *m, const bisai_bcsr *a) {
  (void)a;
  bisai_status status = BISAI_OK;
  for (int t = BISAI_LOWER; t <= BISAI_UPPER && !status; t++)
    status = bsi_sweeps_update(m->context, triangular_of(m, (bisai_triangle)t), m->sweeps[t]);
  return status;
}

static bisai_status sweeps_apply(bisai_precond *m, const bsi_vectors *v) {
  const int64_t n = scalar_rows(m);
  const bsi_vectors lower = first_half(v, n), upper = second_half(v, v->work, n);
  const bisai_status status = bsi_apply_sweeps(
      m->context, m->sweeps[BISAI_LOWER], triangular_of(m, BISAI_LOWER), m->options.sweeps, &lower);
  if (status) return status;
  return bsi_apply_sweeps(m->context, m->sweeps[BISAI_UPPER], triangular_of(m, BISAI_UPPER),
                          m->options.sweeps, &upper);
}

static void sweeps_report(const bisai_precond *m, bisai_precond_report *r) {
  const int64_t diagonal =
      8 * (int64_t)m->block_rows * m->block_size * m->block_size + 16 * scalar_rows(m);
  r->apply_bytes = diagonal;
  for (int t = BISAI_LOWER; t <= BISAI_UPPER; t++) {
    r->memory_bytes += bsi_bcsr_memory(m->sweeps[t]);
    r->apply_bytes += bsi_bcsr_product_bytes(m->sweeps[t]) * m->options.sweeps;
  }
}

static void sweeps_destroy(bisai_precond *m) {
  bisai_bcsr_destroy(&m->sweeps[BISAI_LOWER]);
  bisai_bcsr_destroy(&m->sweeps[BISAI_UPPER]);
}

static const bsi_precond_ops sweeps_ops = {.needs_factors = true,
                                           .vectors = 3,
                                           .check = sweeps_check,
                                           .setup = sweeps_setup,
                                           .update = sweeps_update,
                                           .apply = sweeps_apply,
                                           .symmetry =
                                               factors_symmetry, /* p(L)ᵀ D⁻¹ p(L) with U = D Lᵀ */
                                           .report = sweeps_report,
                                           .destroy = sweeps_destroy};

/* --- the caller's own --- */

static bisai_status callback_check(bisai_context *context, const bisai_precond_options *o,
                                   const bisai_bcsr *matrix) {
  (void)matrix;
  if (o->apply) return BISAI_OK;
  return bsi_fail(context, BISAI_INVALID_ARGUMENT,
                  "a callback preconditioner needs its apply function");
}

static bisai_status callback_apply(bisai_precond *m, const bsi_vectors *v) {
  for (int32_t c = 0; c < v->count; c++) {
    const bisai_status status =
        m->options.apply(m->options.user, scalar_rows(m), v->b + c * v->ldb, v->x + c * v->ldx);
    if (status)
      return bsi_fail(m->context, BISAI_CALLBACK_FAILED,
                      "the preconditioner's callback returned status %d (%s)", (int)status,
                      bisai_status_string(status));
  }
  return BISAI_OK;
}

static void callback_report(const bisai_precond *m, bisai_precond_report *r) {
  r->apply_bytes = 16 * scalar_rows(m);
}

static const bsi_precond_ops callback_ops = {.check = callback_check,
                                             .apply = callback_apply,
                                             .symmetry = factors_symmetry,
                                             .report = callback_report};

const bsi_precond_ops *bsi_precond_ops_of(bisai_precond_kind kind) {
  switch (kind) {
  case BISAI_PRECOND_NONE: return &none_ops;
  case BISAI_PRECOND_BJACOBI: return &bjacobi_ops;
  case BISAI_PRECOND_ILU: return &ilu_ops;
  case BISAI_PRECOND_ISAI: return &isai_ops;
  case BISAI_PRECOND_SWEEPS: return &sweeps_ops;
  case BISAI_PRECOND_CALLBACK: return &callback_ops;
  }
  return NULL;
}
