/* SPDX-License-Identifier: BSD-3-Clause */
/* One handle for every preconditioner: checks, phase order, times, workspace. What a kind does is
 * in the file of its name. */
#include "precond/precond_impl.h"

#include "core/context/context_impl.h"
#include "core/context/staging.h"
#include "core/matrix/matrix_ops.h"
#include "precond/application.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static bisai_status check_arguments(bisai_context *context, const bisai_bcsr *matrix,
                                    const bisai_precond_options *o) {
  BSI_TRY(bsi_check_struct(context, "bisai_precond_options", o->struct_size, sizeof *o));
  const bsi_precond_ops *ops = bsi_precond_ops_of(o->kind);
  if (!ops)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT, "unknown kind of preconditioner %d",
                    (int)o->kind);
  /* the caller's function may be given the rows of one rank, whose columns have ghosts too */
  const bool of_rank = o->kind == BISAI_PRECOND_CALLBACK && matrix->block_cols > matrix->block_rows;
  if (matrix->block_rows != matrix->block_cols && !of_rank)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT, "the matrix is not square: %d × %d blocks",
                    matrix->block_rows, matrix->block_cols);
  BSI_TRY(bsi_precond_options_check(context, o));
  BSI_TRY(bsi_factor_options_check(context, o->factor.level, o->shift, o->shift_amount,
                                   o->factor.least_pivot, o->factor.update_sweeps));
  if (bsi_takes_factors(o)) BSI_TRY(bsi_ordering_check(context, o, matrix->block_rows));
  BSI_TRY(bsi_precond_ranges_check(context, o));
  if (ops->check) BSI_TRY(ops->check(context, o, matrix));
  return o->factor.factors ? bsi_factors_fit(context, o->factor.factors, matrix) : BISAI_OK;
}

/* What the kind has been told, and what it holds. */
static void describe(bisai_precond *m) {
  const bisai_precond_report *r = &m->report;
  m->description[0] = '\0';
  bsi_append(m, "%s", bisai_precond_kind_string(m->options.kind));
  if (m->ops->about.describe) m->ops->about.describe(m);
  if (m->ops->stages) return; /* they have described themselves */
  if (r->factor.ordering != BISAI_ORDERING_NATURAL)
    bsi_append(m, ", ordering=%s", bisai_ordering_string(r->factor.ordering));
  if (r->factor.matching != BISAI_MATCHING_NONE)
    bsi_append(m, ", matching=%s, %d row%s moved", bisai_matching_string(r->factor.matching),
               r->factor.moved_rows, r->factor.moved_rows == 1 ? "" : "s");
  if (r->factor.equilibrated && m->options.factor.equilibrate) bsi_append(m, ", equilibrated");
  if (r->repairs > 0)
    bsi_append(m, ", %lld diagonal block%s repaired, first %s %d", (long long)r->repairs,
               r->repairs == 1 ? "" : "s", m->repair_place, r->first_repair_row);
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
                              .factor.smallest_scale = 1.0,
                              .factor.largest_scale = 1.0,
                              .bjacobi.near_singular_block = -1,
                              .isai.asymmetry = NAN};
  r->memory_bytes = (int64_t)(sizeof *m + m->ops->state_size) +
                    8 * m->work.vectors * BSI_VECTORS_AT_ONCE * bsi_precond_size(m);
  r->symmetry = m->ops->about.symmetry(m);
  r->nonlinear = m->ops->about.nonlinear && m->ops->about.nonlinear(m);
  if (m->factors) bsi_report_factors(m, r);
  m->ops->about.report(m, r);
  if (m->factors) bsi_report_order(m, r);
}

/* Values of the kind, on up-to-date factors. */
static bisai_status refresh(bisai_precond *m, const bisai_bcsr *matrix) {
  const double start = bsi_now();
  const bisai_status status = m->ops->update ? m->ops->update(m, matrix) : BISAI_OK;
  m->report.values_seconds = bsi_now() - start;
  return status;
}

/* Returns the status of a failure, or BISAI_NOT_FINITE if the matrix holds NaN or infinity, which
 * explain the failure. They come in through borrowed arrays. Set-ups do not look for them, because
 * they make diagonal blocks singular sooner or later. */
static bisai_status refuse_not_finite(bisai_precond *m, const bisai_bcsr *matrix,
                                      bisai_status failure) {
  char message[sizeof m->context->error];
  if (failure != BISAI_SINGULAR_BLOCK && failure != BISAI_NOT_SYMMETRIC &&
      failure != BISAI_OVERFLOW && failure != BISAI_NOT_FINITE)
    return failure;
  memcpy(message, m->context->error, sizeof message);
  const bisai_status status = bsi_bcsr_check_finite(m->context, matrix);
  return status ? status : bsi_fail(m->context, failure, "%s", message);
}

/* Refuses a matrix with an empty block row or column, which no preconditioner makes regular.
 * Diagonal blocks are missing there: only where set-up failed for that, went on or had to repair
 * blocks is there anything to look for. */
static bisai_status refuse_empty(bisai_precond *m, const bisai_bcsr *matrix) {
  const bsi_backend *backend = m->context->backend;
  int64_t row = -1, column = -1;
  double *marks = backend->memory->allocate(m->context, (size_t)m->block_rows, sizeof *marks);
  if (!marks) return BISAI_OUT_OF_MEMORY;
  bisai_status status =
      backend->matrix->structures->find_empty(m->context, matrix, false, marks, &row);
  if (!status && row < 0)
    status = backend->matrix->structures->find_empty(m->context, matrix, true, marks, &column);
  backend->memory->release(m->context, marks);
  if (status || (row < 0 && column < 0)) return status;
  return bsi_fail(m->context, BISAI_MISSING_DIAGONAL,
                  "block %s %lld is empty: the matrix is singular", row < 0 ? "column" : "row",
                  (long long)(row < 0 ? column : row));
}

bisai_status bsi_precond_reserve_work(bisai_precond *m) {
  const size_t n = (size_t)m->block_rows * (size_t)m->block_size;
  if (m->work.vectors == 0) return BISAI_OK;
  m->work.values = m->context->backend->memory->allocate(
      m->context, (size_t)m->work.vectors * BSI_VECTORS_AT_ONCE * n, sizeof *m->work.values);
  return m->work.values ? BISAI_OK : BISAI_OUT_OF_MEMORY;
}

static bisai_status set_up(bisai_precond *m, const bisai_bcsr *matrix) {
  const double start = bsi_now();
  bisai_status status = BISAI_OK;
  if (bsi_takes_factors(&m->options)) status = bsi_factored_setup(m, &matrix);
  if (!status && m->ops->setup) status = m->ops->setup(m, matrix);
  m->work.vectors += m->order.reordered.matrix != NULL;
  if (!status) status = bsi_precond_reserve_work(m);
  if (!status && !m->ops->setup_has_values) status = refresh(m, matrix);
  m->ready = !status;
  m->report.setup_seconds = bsi_now() - start;
  return status;
}

/* Makes a preconditioner of a kind and a size, which a caller sets up. */
static bisai_status allocate(bisai_context *context, int32_t block_rows, int32_t block_size,
                             const bisai_precond_options *o, bisai_precond **precond) {
  const bsi_precond_ops *ops = bsi_precond_ops_of(o->kind);
  bisai_precond *m = bsi_allocate(context, 1, sizeof *m);
  void *state = m && ops->state_size > 0 ? bsi_allocate(context, 1, ops->state_size) : NULL;
  if (!m || (!state && ops->state_size > 0)) {
    bsi_release(context, m);
    return BISAI_OUT_OF_MEMORY;
  }
  if (state) memset(state, 0, ops->state_size);
  *m = (bisai_precond){.context = context,
                       .ops = ops,
                       .options = *o,
                       .state = state,
                       .block_rows = block_rows,
                       .block_size = block_size,
                       .work.vectors = ops->vectors,
                       .repair_place = "in block row"};
  *precond = m;
  return BISAI_OK;
}

bisai_status bsi_precond_allocate_like(const bisai_precond *m, bisai_precond **t) {
  return allocate(m->context, m->block_rows, m->block_size, &m->options, t);
}

bisai_status bisai_precond_create(bisai_context *context, const bisai_bcsr *matrix,
                                  const bisai_precond_options *options, bisai_precond **precond) {
  if (!context) return BISAI_INVALID_ARGUMENT;
  if (!matrix || !precond)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT, "bisai_precond_create: %s is NULL",
                    matrix ? "precond" : "matrix");
  const bisai_precond_options o = options ? *options : bisai_precond_options_default();
  bisai_status status = check_arguments(context, matrix, &o);
  if (status) return status;
  bisai_precond *m;
  status = allocate(context, matrix->block_rows, matrix->block_size, &o, &m);
  if (status) return status;
  status = bsi_precond_check_values(m, matrix);
  if (!status) status = set_up(m, matrix);
  if (!status) fill_report(m);
  status = refuse_not_finite(m, matrix, status);
  if (status ? status == BISAI_MISSING_DIAGONAL || status == BISAI_SINGULAR_BLOCK
             : m->report.repairs > 0 || m->lacks_diagonal) {
    const bisai_status empty = refuse_empty(m, matrix);
    if (empty) status = empty;
  }
  if (status) {
    bisai_precond_destroy(&m);
    return status;
  }
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
  if (m->factors) return bsi_factored_check_update(m, matrix);
  return m->ops->check_update ? m->ops->check_update(m, matrix) : BISAI_OK;
}

bisai_status bisai_precond_update(bisai_precond *precond, const bisai_bcsr *matrix) {
  if (!precond) return BISAI_INVALID_ARGUMENT;
  const double start = bsi_now();
  BSI_TRY(check_update(precond, matrix));
  const double checked = bsi_now() - start;
  const bisai_status status = bsi_precond_update_inside(precond, matrix);
  if (!status) precond->report.setup_seconds += checked;
  return status;
}

bisai_status bsi_precond_check_values(bisai_precond *m, const bisai_bcsr *matrix) {
  return m->ops->check_values ? m->ops->check_values(m, matrix) : BISAI_OK;
}

static bisai_status compute_values(bisai_precond *m, const bisai_bcsr *matrix) {
  m->report.order_seconds = m->report.factor_seconds = m->report.pattern_seconds = 0.0;
  if (m->factors) BSI_TRY(bsi_factored_update(m, &matrix));
  return refresh(m, matrix);
}

bisai_status bsi_precond_take_values(bisai_precond *m, const bisai_bcsr *matrix) {
  const double start = bsi_now();
  m->ready = false;
  bisai_precond_destroy(&m->work.transposed);
  const bisai_status status = compute_values(m, matrix);
  m->ready = !status;
  m->report.setup_seconds = bsi_now() - start;
  if (status) return status;
  fill_report(m);
  describe(m);
  return BISAI_OK;
}

bisai_status bsi_precond_update_inside(bisai_precond *m, const bisai_bcsr *matrix) {
  const double start = bsi_now();
  bisai_status status = bsi_precond_check_values(m, matrix);
  const double checked = bsi_now() - start;
  if (!status) {
    status = bsi_precond_take_values(m, matrix);
    m->report.setup_seconds += checked;
  }
  status = refuse_not_finite(m, matrix, status);
  if (status == BISAI_NOT_FINITE) m->ready = false;
  return status;
}

bisai_status bsi_precond_check_ready(const bisai_precond *m) {
  if (!m->ready)
    return bsi_fail(m->context, BISAI_NOT_READY, "the preconditioner's last update failed");
  if (m->factors && !m->factors->ready)
    return bsi_fail(m->context, BISAI_NOT_READY, "the factors' last update failed");
  return BISAI_OK;
}

bisai_status bsi_precond_check_apply(const bisai_precond *m, const char *call, const double *v,
                                     const double *z) {
  BSI_TRY(bsi_precond_check_ready(m));
  if (m->block_rows > 0 && (!v || !z))
    return bsi_fail(m->context, BISAI_INVALID_ARGUMENT, "%s: %s is NULL", call, v ? "z" : "v");
  if (m->block_rows > 0 && v == z)
    return bsi_fail(m->context, BISAI_INVALID_ARGUMENT, "%s: v and z are the same array", call);
  return BISAI_OK;
}

/* A reordered v stands in z until its result replaces it. It is scaled, and has no norm of 1. */
bisai_status bsi_precond_apply_inside(bisai_precond *m, int32_t count, const double *v, int64_t ldv,
                                      double *z, int64_t ldz, int64_t cached_bytes, bool flexible) {
  if (!m->order.reordered.matrix) {
    const bsi_vectors vectors = {count, v, ldv, z, ldz, m->work.values, cached_bytes, flexible};
    return m->ops->apply(m, &vectors);
  }
  const int64_t n = bisai_precond_rows(m);
  double *result = m->work.values + (m->work.vectors - 1) * BSI_VECTORS_AT_ONCE * n;
  const bsi_vectors vectors = {count, z, ldz, result, n, m->work.values, cached_bytes, false};
  bisai_status status = bsi_reordered_enter(&m->order.reordered, BSI_ROWS, count, v, ldv, z, ldz);
  if (!status) status = m->ops->apply(m, &vectors);
  return status ? status
                : bsi_reordered_leave(&m->order.reordered, BSI_COLUMNS, count, result, n, z, ldz);
}

/* The same for vectors that may lie in host memory. */
static bisai_status apply_staged(bisai_precond *m, int32_t count, const double *v, int64_t ldv,
                                 double *z, int64_t ldz, int64_t cached_bytes, bool flexible) {
  const int64_t n = bisai_precond_rows(m);
  bsi_staged from = {0}, to = {0};
  bisai_status status = bsi_stage_input(m->context, n, count, v, ldv, &from);
  if (!status) status = bsi_stage_output(m->context, n, count, false, z, ldz, &to);
  if (!status)
    status = bsi_precond_apply_inside(m, count, from.data, from.ld, to.data, to.ld, cached_bytes,
                                      flexible);
  status = bsi_stage_return(m->context, status, &to);
  bsi_stage_release(m->context, &from);
  return status;
}

bisai_status bsi_precond_apply(bisai_precond *precond, const double *v, double *z,
                               int64_t cached_bytes, bool flexible) {
  if (!precond) return BISAI_INVALID_ARGUMENT;
  const bisai_status status = bsi_precond_check_apply(precond, "bisai_precond_apply", v, z);
  return status ? status : apply_staged(precond, 1, v, 0, z, 0, cached_bytes, flexible);
}

void bsi_precond_say_indefinite(const bisai_precond *precond, size_t size, char *text) {
  text[0] = '\0';
  if (precond->ops->about.say_indefinite) precond->ops->about.say_indefinite(precond, size, text);
}

bisai_status bsi_precond_operator(const bisai_context *context, const bisai_precond *precond,
                                  const bisai_bcsr *a, const bisai_bcsr **same) {
  *same = a;
  if (context != precond->context || !precond->ready || !precond->ops->about.smaller_copy)
    return BISAI_OK;
  return precond->ops->about.smaller_copy(precond, a, same);
}

const bisai_bcsr *bsi_precond_rounded(const bisai_context *context, const bisai_precond *precond,
                                      const bisai_bcsr *a) {
  if (context != precond->context || !precond->ready || !precond->ops->about.rounded) return NULL;
  return precond->ops->about.rounded(precond, a);
}

bisai_status bisai_precond_apply(bisai_precond *precond, const double *v, double *z) {
  return bsi_precond_apply(precond, v, z, 0, false);
}

bisai_status bisai_precond_apply_many(bisai_precond *precond, int32_t count, const double *v,
                                      int64_t ldv, double *z, int64_t ldz) {
  if (!precond) return BISAI_INVALID_ARGUMENT;
  bisai_status status = bsi_precond_check_apply(precond, "bisai_precond_apply", v, z);
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
    status = apply_staged(precond, some, v + c * ldv, ldv, z + c * ldz, ldz, 0, false);
  }
  return status;
}

void bisai_precond_destroy(bisai_precond **precond) {
  if (!precond || !*precond) return;
  bisai_precond *m = *precond;
  *precond = NULL;
  bisai_precond_destroy(&m->work.transposed);
  if (m->ops->destroy) m->ops->destroy(m);
  bsi_release(m->context, m->state);
  m->context->backend->memory->release(m->context, m->work.values);
  bisai_factors_destroy(&m->own_factors);
  bsi_reordered_destroy(m->context, &m->order.reordered);
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
  return precond ? bsi_precond_size(precond) : 0;
}

const int32_t *bisai_precond_permutation(const bisai_precond *precond) {
  return precond ? precond->order.reordered.maps.columns : NULL;
}

const int32_t *bisai_precond_row_permutation(const bisai_precond *precond) {
  return precond ? precond->order.reordered.maps.rows : NULL;
}

const bisai_factors *bisai_precond_factors(const bisai_precond *precond) {
  return precond ? precond->factors : NULL;
}
