/* SPDX-License-Identifier: BSD-3-Clause */
/* One handle for every preconditioner: checks, phase order, times, workspace. What the kinds do is
 * in kinds.c. */
#include "precond/precond.h"

#include "core/context_impl.h"
#include "core/matrix_ops.h"
#include "core/staging.h"
#include "order/order_ops.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static bisai_status check_factors(bisai_context *context, const bisai_factors *f,
                                  const bisai_bcsr *matrix) {
  if (!f->ready) return bsi_fail(context, BISAI_NOT_READY, "the factors' last update failed");
  if (f->upper->block_rows != matrix->block_rows || f->upper->block_size != matrix->block_size)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT,
                    "the factors have %d block rows of size %d, the matrix %d of size %d",
                    f->upper->block_rows, f->upper->block_size, matrix->block_rows,
                    matrix->block_size);
  return BISAI_OK;
}

static bool reorders(const bisai_precond_options *o) {
  return o->ordering != BISAI_ORDERING_NATURAL || o->equilibrate;
}

static bisai_status check_ordering(bisai_context *context, const bisai_precond_options *o,
                                   int32_t block_rows) {
  if (o->ordering < BISAI_ORDERING_NATURAL || o->ordering > BISAI_ORDERING_GIVEN)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT, "unknown ordering %d", (int)o->ordering);
  if (o->ordering != BISAI_ORDERING_GIVEN && o->permutation)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT,
                    "a permutation goes with BISAI_ORDERING_GIVEN alone");
  if (o->factors && reorders(o))
    return bsi_fail(context, BISAI_INVALID_ARGUMENT,
                    "the caller's factors have an ordering and a scaling of their own: neither "
                    "ordering nor equilibrate "
                    "goes with them");
  return o->ordering == BISAI_ORDERING_GIVEN
             ? bisai_order_check(context, block_rows, o->permutation)
             : BISAI_OK;
}

static bisai_status check_arguments(bisai_context *context, const bisai_bcsr *matrix,
                                    const bisai_precond_options *o) {
  bisai_status status =
      bsi_check_struct(context, "bisai_precond_options", o->struct_size, sizeof *o);
  if (status) return status;
  const bsi_precond_ops *ops = bsi_precond_ops_of(o->kind);
  if (!ops)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT, "unknown kind of preconditioner %d",
                    (int)o->kind);
  if (matrix->block_rows != matrix->block_cols)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT, "the matrix is not square: %d × %d blocks",
                    matrix->block_rows, matrix->block_cols);
  status = bsi_precond_options_check(context, o);
  if (!status) status = bsi_factor_options_check(context, o->level, o->shift, o->shift_amount);
  if (!status && ops->needs_factors) status = check_ordering(context, o, matrix->block_rows);
  if (!status && ops->check) status = ops->check(context, o, matrix);
  if (!status && ops->needs_factors && o->factors)
    status = check_factors(context, o->factors, matrix);
  return status;
}

/* Measures the matrix where it has to be symmetric; factors made of it here, where its pattern has
 * to be, too. */
static bisai_status check_symmetry(bisai_context *context, const bisai_precond_options *o,
                                   const bisai_bcsr *matrix, double *asymmetry) {
  bool mirrored = true;
  *asymmetry = NAN;
  if (!o->symmetric) return BISAI_OK;
  const bisai_status status = bsi_bcsr_asymmetry(context, matrix, asymmetry, &mirrored);
  if (status) return status;
  if (*asymmetry > BISAI_SYMMETRY_LIMIT)
    return bsi_fail(context, BISAI_NOT_SYMMETRIC,
                    "symmetric isai needs a symmetric matrix, and the asymmetry of this one is "
                    "%.1e: isai without it "
                    "takes it",
                    *asymmetry);
  if (mirrored || o->factors) return BISAI_OK;
  return bsi_fail(context, BISAI_NOT_SYMMETRIC,
                  "symmetric isai needs a stored block (j, i) for each stored block (i, j), which "
                  "this matrix lacks");
}

static void append(bisai_precond *m, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void append(bisai_precond *m, const char *format, ...) {
  const size_t length = strlen(m->description);
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(m->description + length, sizeof m->description - length, format, arguments);
  va_end(arguments);
}

static void describe_factors(bisai_precond *m) {
  const bisai_precond_options *o = &m->options;
  if (m->ops->needs_factors && o->factors) return;
  if (m->ops->needs_factors && o->level > 0) append(m, " level=%d", o->level);
  if (o->shift == BISAI_SHIFT_IN_BLOCKS) append(m, " shift=%g", o->shift_amount);
}

static void describe_blocks(bisai_precond *m) {
  const bisai_precond_options *o = &m->options;
  const bisai_precond_report *r = &m->report;
  if (o->max_block > 0) append(m, " max=%d", o->max_block);
  if (!m->jacobi.natural && o->max_block == 0) append(m, " blocks=given");
  if (o->form != BISAI_FORM_INVERSE) append(m, " form=%s", bisai_form_string(o->form));
  if (o->storage != BISAI_FP64) append(m, " storage=%s", bisai_value_type_string(o->storage));
  if (o->storage == BISAI_ADAPTIVE) append(m, " digits=%d", o->digits);
  describe_factors(m);
  if (!m->jacobi.natural)
    append(m, ", %d blocks of up to %d rows", r->diagonal_blocks, r->largest_block);
  if (o->storage == BISAI_ADAPTIVE)
    for (int f = 0; f < BISAI_ADAPTIVE; f++)
      if (r->blocks_by_format[f] > 0)
        append(m, ", %lld in %s", (long long)r->blocks_by_format[f],
               bisai_value_type_string((bisai_value_type)f));
  if (r->near_singular > 0)
    append(m, ", %lld nearly singular, first block %d", (long long)r->near_singular,
           r->near_singular_block);
}

/* What the kind has been told, and what it holds. */
static void describe(bisai_precond *m) {
  const bisai_precond_options *o = &m->options;
  const bisai_precond_report *r = &m->report;
  m->description[0] = '\0';
  append(m, "%s", bisai_precond_kind_string(o->kind));
  switch (o->kind) {
  case BISAI_PRECOND_NONE:
  case BISAI_PRECOND_CALLBACK: return;
  case BISAI_PRECOND_BJACOBI: describe_blocks(m); break;
  case BISAI_PRECOND_ILU:
    append(m, " schedule=%s", bisai_schedule_string(o->schedule));
    describe_factors(m);
    append(m, ", %lld blocks in L + U", (long long)r->factor_blocks);
    break;
  case BISAI_PRECOND_ISAI:
    if (o->lower_pattern && (o->upper_pattern || o->symmetric))
      append(m, " patterns=given");
    else
      append(m, " k=%d", o->power);
    if (o->symmetric) append(m, " symmetric");
    if (o->drop_tolerance > 0.0) append(m, " drop=%g", o->drop_tolerance);
    if (o->column_limit > 0) append(m, " cap=%d", o->column_limit);
    append(m, " relax=%d storage=%s", o->relax, bisai_value_type_string(o->storage));
    describe_factors(m);
    append(m, ", %lld blocks", (long long)r->inverse_blocks);
    break;
  case BISAI_PRECOND_SWEEPS:
    append(m, " n=%d", o->sweeps);
    describe_factors(m);
    append(m, ", %lld blocks in L + U", (long long)r->factor_blocks);
    break;
  }
  if (r->dropped_lower + r->dropped_upper > 0)
    append(m, ", %lld blocks of L and %lld of U dropped", (long long)r->dropped_lower,
           (long long)r->dropped_upper);
  if (r->shortened_columns > 0)
    append(m, ", %d columns shortened by %lld blocks", r->shortened_columns,
           (long long)r->cut_blocks);
  if (r->ordering != BISAI_ORDERING_NATURAL)
    append(m, ", ordering=%s", bisai_ordering_string(r->ordering));
  if (r->equilibrated) append(m, ", equilibrated");
  if (r->repairs > 0)
    append(m, ", %lld diagonal block%s repaired, first %s %d", (long long)r->repairs,
           r->repairs == 1 ? "" : "s",
           o->kind == BISAI_PRECOND_BJACOBI && !m->jacobi.natural ? "block" : "in block row",
           r->first_repair_row);
}

void bsi_report_inversion(const bsi_invert_stats *stats, bisai_precond_report *r) {
  r->fallbacks = stats->fallbacks;
  r->repairs = stats->repairs;
  r->first_repair_row = stats->first_repair_row;
  r->largest_condition = stats->largest_condition;
  r->largest_condition_row = stats->largest_condition_row;
}

/* Rows are reported as the caller numbers them. */
static void report_factors(const bisai_precond *m, bisai_precond_report *r) {
  const bisai_factors *f = m->factors;
  r->factor_blocks = (int64_t)f->lower->blocks + f->upper->blocks;
  r->lower_levels = f->lower_levels.count;
  r->upper_levels = f->upper_levels.count;
  bsi_report_inversion(&f->stats, r);
  r->first_repair_row = bsi_row_name(f->upper, r->first_repair_row);
  r->largest_condition_row = bsi_row_name(f->upper, r->largest_condition_row);
}

static void report_order(const bisai_precond *m, bisai_precond_report *r) {
  const bsi_equilibration *q = &m->reordered.equilibration;
  if (m->ops->needs_factors) r->ordering = m->options.ordering;
  r->natural_bandwidth = m->natural.bandwidth;
  r->natural_profile = m->natural.profile;
  r->bandwidth = m->ordered.bandwidth;
  r->profile = m->ordered.profile;
  r->equilibrated = q->row_scale != NULL;
  r->smallest_scale = r->equilibrated ? q->smallest : 1.0;
  r->largest_scale = r->equilibrated ? q->largest : 1.0;
  if (!m->reordered.matrix) return;
  r->memory_bytes += bsi_reordered_memory(&m->reordered);
  r->apply_bytes += bsi_reordered_bytes(&m->reordered);
}

static void fill_report(bisai_precond *m) {
  bisai_precond_report *r = &m->report;
  *r = (bisai_precond_report){.struct_size = sizeof *r,
                              .kind = m->options.kind,
                              .order_seconds = r->order_seconds,
                              .factor_seconds = r->factor_seconds,
                              .pattern_seconds = r->pattern_seconds,
                              .values_seconds = r->values_seconds,
                              .setup_seconds = r->setup_seconds,
                              .largest_condition_row = -1,
                              .first_repair_row = -1,
                              .near_singular_block = -1};
  r->memory_bytes = (int64_t)sizeof *m +
                    8 * (int64_t)m->vectors * BSI_VECTORS_AT_ONCE * m->block_rows * m->block_size;
  if (m->factors) report_factors(m, r);
  if (m->own_factors) r->memory_bytes += bsi_factors_memory(m->own_factors);
  r->symmetry = m->ops->symmetry(m);
  r->asymmetry = m->asymmetry;
  m->ops->report(m, r);
  report_order(m, r);
}

/* Values of the kind, on up-to-date factors. */
static bisai_status refresh(bisai_precond *m, const bisai_bcsr *matrix) {
  const double start = bsi_now();
  const bisai_status status = m->ops->update ? m->ops->update(m, matrix) : BISAI_OK;
  m->report.values_seconds = bsi_now() - start;
  m->ready = !status;
  return status;
}

/* Refuses a matrix with an empty block row or column, which no preconditioner makes regular.
 * Diagonal blocks are missing there: only where set-up failed for that or had to repair blocks is
 * there anything to look for. */
static bisai_status refuse_empty(bisai_precond *m, const bisai_bcsr *matrix) {
  const bsi_backend *backend = m->context->backend;
  int64_t row = -1, column = -1;
  double *marks = backend->memory->allocate(m->context, (size_t)m->block_rows, sizeof *marks);
  if (!marks) return BISAI_OUT_OF_MEMORY;
  bisai_status status = backend->matrix->find_empty(m->context, matrix, false, marks, &row);
  if (!status && row < 0)
    status = backend->matrix->find_empty(m->context, matrix, true, marks, &column);
  backend->memory->release(m->context, marks);
  if (status || (row < 0 && column < 0)) return status;
  return bsi_fail(m->context, BISAI_MISSING_DIAGONAL,
                  "block %s %lld is empty: the matrix is singular", row < 0 ? "column" : "row",
                  (long long)(row < 0 ? column : row));
}

/* The matrix that is factorised, up to date with `matrix`. */
static bisai_status reorder(bisai_precond *m, const bisai_bcsr **matrix) {
  if (!m->reordered.matrix) return BISAI_OK;
  const double start = bsi_now();
  const bisai_status status = bsi_reordered_update(m->context, *matrix, &m->reordered);
  m->report.order_seconds += bsi_now() - start;
  *matrix = m->reordered.matrix;
  return status;
}

static bisai_status create_reordered(bisai_precond *m, const bisai_bcsr *matrix) {
  const bisai_precond_options *o = &m->options;
  if (o->ordering == BISAI_ORDERING_NATURAL || o->ordering == BISAI_ORDERING_GIVEN)
    return bsi_reordered_create(m->context, matrix, o->permutation, o->equilibrate, &m->reordered);
  int32_t *permutation = bsi_allocate(m->context, (size_t)m->block_rows, sizeof *permutation);
  if (!permutation) return BISAI_OUT_OF_MEMORY;
  bisai_status status = bisai_order_compute(m->context, matrix, o->ordering, permutation);
  if (!status)
    status = bsi_reordered_create(m->context, matrix, permutation, o->equilibrate, &m->reordered);
  bsi_release(m->context, permutation);
  return status;
}

/* Finds the ordering and measures what it does. */
static bisai_status order(bisai_precond *m, const bisai_bcsr *matrix) {
  const double start = bsi_now();
  bisai_status status = m->context->backend->order->shape->measure(m->context, matrix, &m->natural);
  m->ordered = m->natural;
  if (!status && reorders(&m->options)) status = create_reordered(m, matrix);
  m->reordered.equilibration.symmetric = m->options.symmetric;
  if (!status && m->reordered.permutation)
    status =
        m->context->backend->order->shape->measure(m->context, m->reordered.matrix, &m->ordered);
  m->report.order_seconds = bsi_now() - start;
  return status;
}

static bisai_status factorise(bisai_precond *m, const bisai_bcsr *matrix) {
  const double start = bsi_now();
  bisai_factor_options o = bisai_factor_options_default();
  o.level = m->options.level;
  o.shift = m->options.shift;
  o.shift_amount = m->options.shift_amount;
  const bisai_status status = bisai_factors_create(m->context, matrix, &o, &m->own_factors);
  m->factors = m->own_factors;
  m->report.factor_seconds = bsi_now() - start;
  return status;
}

static bisai_status set_up(bisai_precond *m, const bisai_bcsr *matrix) {
  const double start = bsi_now();
  bisai_status status = BISAI_OK;
  if (m->ops->needs_factors) status = order(m, matrix);
  if (!status) status = reorder(m, &matrix);
  if (!status && m->ops->needs_factors && !m->factors) status = factorise(m, matrix);
  if (!status && m->ops->setup) status = m->ops->setup(m, matrix);
  m->vectors = m->ops->vectors + (m->reordered.matrix != NULL);
  if (!status && m->vectors > 0) {
    const size_t n = (size_t)m->block_rows * (size_t)m->block_size;
    m->work = m->context->backend->memory->allocate(
        m->context, (size_t)m->vectors * BSI_VECTORS_AT_ONCE * n, sizeof *m->work);
    if (!m->work) status = BISAI_OUT_OF_MEMORY;
  }
  if (!status) status = refresh(m, matrix);
  m->report.setup_seconds = bsi_now() - start;
  return status;
}

bisai_status bisai_precond_create(bisai_context *context, const bisai_bcsr *matrix,
                                  const bisai_precond_options *options, bisai_precond **precond) {
  if (!context) return BISAI_INVALID_ARGUMENT;
  if (!matrix || !precond)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT, "bisai_precond_create: %s is NULL",
                    matrix ? "precond" : "matrix");
  const bisai_precond_options o = options ? *options : bisai_precond_options_default();
  double asymmetry = NAN;
  bisai_status status = check_arguments(context, matrix, &o);
  if (!status) status = check_symmetry(context, &o, matrix, &asymmetry);
  if (status) return status;
  bisai_precond *m = bsi_allocate(context, 1, sizeof *m);
  if (!m) return BISAI_OUT_OF_MEMORY;
  *m = (bisai_precond){.context = context,
                       .ops = bsi_precond_ops_of(o.kind),
                       .options = o,
                       .block_rows = matrix->block_rows,
                       .block_size = matrix->block_size,
                       .asymmetry = asymmetry};
  if (m->ops->needs_factors) m->factors = o.factors;
  status = set_up(m, matrix);
  if (!status) fill_report(m);
  if (status ? status == BISAI_MISSING_DIAGONAL || status == BISAI_SINGULAR_BLOCK
             : m->report.repairs > 0) {
    const bisai_status empty = refuse_empty(m, matrix);
    if (empty) status = empty;
  }
  if (status) {
    bisai_precond_destroy(&m);
    return status;
  }
  m->options.permutation = NULL; /* the caller's array may go */
  describe(m);
  *precond = m;
  return BISAI_OK;
}

/* Refuses a matrix that the preconditioner was not made for, before anything of it is touched. */
static bisai_status check_update(const bisai_precond *m, const bisai_bcsr *matrix) {
  if (!matrix)
    return bsi_fail(m->context, BISAI_INVALID_ARGUMENT, "bisai_precond_update: matrix is NULL");
  if (matrix->block_rows != m->block_rows || matrix->block_cols != m->block_rows ||
      matrix->block_size != m->block_size)
    return bsi_fail(m->context, BISAI_INVALID_ARGUMENT,
                    "the pattern changed: %d block rows of size %d, expected %d of size %d",
                    matrix->block_rows, matrix->block_size, m->block_rows, m->block_size);
  if (m->reordered.matrix) return bsi_reordered_check(m->context, matrix, &m->reordered);
  if (m->own_factors) return bsi_factors_check(m->own_factors, matrix);
  return m->ops->check_update ? m->ops->check_update(m, matrix) : BISAI_OK;
}

bisai_status bisai_precond_update(bisai_precond *precond, const bisai_bcsr *matrix) {
  if (!precond) return BISAI_INVALID_ARGUMENT;
  bisai_precond *m = precond;
  const double start = bsi_now();
  double asymmetry = NAN;
  bisai_status status = check_update(m, matrix);
  if (!status) status = check_symmetry(m->context, &m->options, matrix, &asymmetry);
  if (status) return status;
  m->ready = false;
  m->asymmetry = asymmetry;
  m->report.order_seconds = m->report.factor_seconds = m->report.pattern_seconds = 0.0;
  status = reorder(m, &matrix);
  if (!status && m->own_factors) {
    const double factor_start = bsi_now();
    status = bsi_factors_refresh(m->own_factors, matrix);
    m->report.factor_seconds = bsi_now() - factor_start;
  } else if (!status && m->factors) {
    status = check_factors(m->context, m->factors, matrix);
  }
  if (!status) status = refresh(m, matrix);
  m->report.setup_seconds = bsi_now() - start;
  if (!status) {
    fill_report(m);
    describe(m);
  }
  return status;
}

static bisai_status check_apply(bisai_precond *m, const double *v, const double *z) {
  if (!m->ready)
    return bsi_fail(m->context, BISAI_NOT_READY, "the preconditioner's last update failed");
  if (m->factors && !m->factors->ready)
    return bsi_fail(m->context, BISAI_NOT_READY, "the factors' last update failed");
  if (m->block_rows > 0 && (!v || !z))
    return bsi_fail(m->context, BISAI_INVALID_ARGUMENT, "bisai_precond_apply: %s is NULL",
                    v ? "z" : "v");
  if (m->block_rows > 0 && v == z)
    return bsi_fail(m->context, BISAI_INVALID_ARGUMENT,
                    "bisai_precond_apply: v and z are the same array");
  return BISAI_OK;
}

/* z ← M⁻¹ v for at most BSI_VECTORS_AT_ONCE vectors; a reordered v stands in z until its result
 * replaces it. */
static bisai_status apply(bisai_precond *m, int32_t count, const double *v, int64_t ldv, double *z,
                          int64_t ldz) {
  if (!m->reordered.matrix) {
    const bsi_vectors vectors = {count, v, ldv, z, ldz, m->work};
    return m->ops->apply(m, &vectors);
  }
  const int64_t n = bisai_precond_rows(m);
  double *result = m->work + m->ops->vectors * BSI_VECTORS_AT_ONCE * n;
  const bsi_vectors vectors = {count, z, ldz, result, n, m->work};
  bisai_status status = bsi_reordered_enter(m->context, &m->reordered, count, v, ldv, z, ldz);
  if (!status) status = m->ops->apply(m, &vectors);
  return status ? status : bsi_reordered_leave(m->context, &m->reordered, count, result, n, z, ldz);
}

/* The same for vectors that may lie in host memory. */
static bisai_status apply_staged(bisai_precond *m, int32_t count, const double *v, int64_t ldv,
                                 double *z, int64_t ldz) {
  const int64_t n = bisai_precond_rows(m);
  bsi_staged from = {0}, to = {0};
  bisai_status status = bsi_stage_input(m->context, n, count, v, ldv, &from);
  if (!status) status = bsi_stage_output(m->context, n, count, false, z, ldz, &to);
  if (!status) status = apply(m, count, from.data, from.ld, to.data, to.ld);
  status = bsi_stage_return(m->context, status, &to);
  bsi_stage_release(m->context, &from);
  return status;
}

bisai_status bisai_precond_apply(bisai_precond *precond, const double *v, double *z) {
  if (!precond) return BISAI_INVALID_ARGUMENT;
  const bisai_status status = check_apply(precond, v, z);
  return status ? status : apply_staged(precond, 1, v, 0, z, 0);
}

bisai_status bisai_precond_apply_many(bisai_precond *precond, int32_t count, const double *v,
                                      int64_t ldv, double *z, int64_t ldz) {
  if (!precond) return BISAI_INVALID_ARGUMENT;
  bisai_status status = check_apply(precond, v, z);
  if (status) return status;
  const int64_t n = (int64_t)precond->block_rows * precond->block_size;
  if (count < 0)
    return bsi_fail(precond->context, BISAI_INVALID_ARGUMENT, "negative number of vectors: %d",
                    count);
  if (count > 1 && (ldv < n || ldz < n))
    return bsi_fail(precond->context, BISAI_INVALID_ARGUMENT,
                    "leading dimensions %lld and %lld, at least %lld needed", (long long)ldv,
                    (long long)ldz, (long long)n);
  for (int32_t c = 0; c < count && !status; c += BSI_VECTORS_AT_ONCE) {
    const int32_t some = count - c < BSI_VECTORS_AT_ONCE ? count - c : BSI_VECTORS_AT_ONCE;
    status = apply_staged(precond, some, v + c * ldv, ldv, z + c * ldz, ldz);
  }
  return status;
}

void bisai_precond_destroy(bisai_precond **precond) {
  if (!precond || !*precond) return;
  bisai_precond *m = *precond;
  *precond = NULL;
  if (m->ops->destroy) m->ops->destroy(m);
  m->context->backend->memory->release(m->context, m->work);
  bisai_factors_destroy(&m->own_factors);
  bsi_reordered_destroy(m->context, &m->reordered);
  bsi_release(m->context, m);
}

bisai_status bisai_precond_get_report(const bisai_precond *precond, bisai_precond_report *report) {
  if (!precond) return BISAI_INVALID_ARGUMENT;
  if (!report)
    return bsi_fail(precond->context, BISAI_INVALID_ARGUMENT,
                    "bisai_precond_get_report: report is NULL");
  const bisai_status status = bsi_check_report(precond->context, "bisai_precond_report",
                                               report->struct_size, sizeof *report);
  if (!status) *report = precond->report;
  return status;
}

const char *bisai_precond_describe(const bisai_precond *precond) {
  return precond ? precond->description : "";
}

int64_t bisai_precond_rows(const bisai_precond *precond) {
  return precond ? (int64_t)precond->block_rows * precond->block_size : 0;
}

bisai_status bisai_precond_get_blocks(const bisai_precond *precond, int32_t *block_ptr) {
  if (!precond) return BISAI_INVALID_ARGUMENT;
  if (precond->options.kind != BISAI_PRECOND_BJACOBI)
    return bsi_fail(precond->context, BISAI_INVALID_ARGUMENT, "%s has no blocks of its own",
                    bisai_precond_kind_string(precond->options.kind));
  if (!block_ptr)
    return bsi_fail(precond->context, BISAI_INVALID_ARGUMENT,
                    "bisai_precond_get_blocks: block_ptr is NULL");
  const bsi_partition *p = &precond->jacobi.partition;
  if (!p->uniform)
    return precond->context->backend->memory->fetch(precond->context, block_ptr, p->start,
                                                    ((size_t)p->blocks + 1) * sizeof *block_ptr);
  for (int32_t b = 0; b <= p->blocks; b++) block_ptr[b] = bsi_partition_start(p, b);
  return BISAI_OK;
}

const int32_t *bisai_precond_permutation(const bisai_precond *precond) {
  return precond ? precond->reordered.permutation : NULL;
}

const bisai_factors *bisai_precond_factors(const bisai_precond *precond) {
  return precond ? precond->factors : NULL;
}

const bisai_bcsr *bisai_precond_lower_inverse(const bisai_precond *precond) {
  return precond ? precond->isai[BISAI_LOWER].inverse : NULL;
}

const bisai_bcsr *bisai_precond_upper_inverse(const bisai_precond *precond) {
  return precond ? precond->isai[BISAI_UPPER].inverse : NULL;
}
