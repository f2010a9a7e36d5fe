/* One handle for every preconditioner: checks, phase order, times, workspace. What the kinds do is in kinds.c. */
#include "precond/precond.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bisai_precond_options bisai_precond_options_default(void) {
  return (bisai_precond_options){.struct_size = sizeof(bisai_precond_options),
                                 .kind = BISAI_PRECOND_ISAI,
                                 .power = 1,
                                 .sweeps = 1,
                                 .storage = BISAI_FP64,
                                 .schedule = BISAI_SCHEDULE_AUTO,
                                 .shift = BISAI_SHIFT_NONE,
                                 .shift_amount = bisai_factor_options_default().shift_amount};
}

static bisai_status check_factors(bisai_context *context, const bisai_factors *f, const bisai_bcsr *matrix) {
  if (!f->ready) return bsi_fail(context, BISAI_NOT_READY, "the factors' last update failed");
  if (f->upper->block_rows != matrix->block_rows || f->upper->block_size != matrix->block_size)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT,
                    "the factors have %d block rows of size %d, the matrix %d of size %d", f->upper->block_rows,
                    f->upper->block_size, matrix->block_rows, matrix->block_size);
  return BISAI_OK;
}

static bisai_status check_arguments(bisai_context *context, const bisai_bcsr *matrix, const bisai_precond_options *o) {
  bisai_status status = bsi_check_struct(context, "bisai_precond_options", o->struct_size, sizeof *o);
  if (status) return status;
  const bsi_precond_ops *ops = bsi_precond_ops_of(o->kind);
  if (!ops) return bsi_fail(context, BISAI_INVALID_ARGUMENT, "unknown kind of preconditioner %d", (int)o->kind);
  if (matrix->block_rows != matrix->block_cols)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT, "the matrix is not square: %d × %d blocks", matrix->block_rows,
                    matrix->block_cols);
  status = bsi_factor_options_check(context, o->level, o->shift, o->shift_amount);
  if (!status && ops->check) status = ops->check(context, o, matrix->block_rows);
  if (!status && ops->needs_factors && o->factors) status = check_factors(context, o->factors, matrix);
  return status;
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

/* What the kind has been told, and what it holds. */
static void describe(bisai_precond *m) {
  static const char *const storages[] = {"fp64", "fp32", "fp16", "bf16"};
  static const char *const schedules[] = {"auto", "serial", "levels"};
  const bisai_precond_options *o = &m->options;
  const bisai_precond_report *r = &m->report;
  m->description[0] = '\0';
  append(m, "%s", m->ops->name);
  switch (o->kind) {
  case BISAI_PRECOND_NONE:
  case BISAI_PRECOND_CALLBACK: return;
  case BISAI_PRECOND_BJACOBI: describe_factors(m); break;
  case BISAI_PRECOND_ILU:
    append(m, " schedule=%s", schedules[o->schedule]);
    describe_factors(m);
    append(m, ", %lld blocks in L + U", (long long)r->factor_blocks);
    break;
  case BISAI_PRECOND_ISAI:
    if (o->lower_pattern && o->upper_pattern)
      append(m, " patterns=given");
    else
      append(m, " k=%d", o->power);
    if (o->drop_tolerance > 0.0) append(m, " drop=%g", o->drop_tolerance);
    if (o->column_limit > 0) append(m, " cap=%d", o->column_limit);
    append(m, " relax=%d storage=%s", o->relax, storages[o->storage]);
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
    append(m, ", %lld blocks of L and %lld of U dropped", (long long)r->dropped_lower, (long long)r->dropped_upper);
  if (r->shortened_columns > 0)
    append(m, ", %d columns shortened by %lld blocks", r->shortened_columns, (long long)r->cut_blocks);
  if (r->repairs > 0)
    append(m, ", %lld diagonal block%s repaired, first in block row %d", (long long)r->repairs,
           r->repairs == 1 ? "" : "s", r->first_repair_row);
}

void bsi_report_inversion(const bsi_invert_stats *stats, bisai_precond_report *r) {
  r->fallbacks = stats->fallbacks;
  r->repairs = stats->repairs;
  r->first_repair_row = stats->first_repair_row;
  r->largest_condition = stats->largest_condition;
  r->largest_condition_row = stats->largest_condition_row;
}

static void fill_report(bisai_precond *m) {
  bisai_precond_report *r = &m->report;
  *r = (bisai_precond_report){.struct_size = sizeof *r,
                              .kind = m->options.kind,
                              .factor_seconds = r->factor_seconds,
                              .pattern_seconds = r->pattern_seconds,
                              .values_seconds = r->values_seconds,
                              .setup_seconds = r->setup_seconds,
                              .largest_condition_row = -1,
                              .first_repair_row = -1};
  r->memory_bytes =
      (int64_t)sizeof *m + 8 * (int64_t)m->ops->vectors * BSI_VECTORS_AT_ONCE * m->block_rows * m->block_size;
  if (m->factors) {
    r->factor_blocks = (int64_t)m->factors->lower->blocks + m->factors->upper->blocks;
    bsi_report_inversion(&m->factors->stats, r);
  }
  if (m->own_factors) r->memory_bytes += bsi_factors_memory(m->own_factors);
  m->ops->report(m, r);
}

/* Values of the kind, on up-to-date factors. */
static bisai_status refresh(bisai_precond *m, const bisai_bcsr *matrix) {
  const double start = bsi_now();
  const bisai_status status = m->ops->update ? m->ops->update(m, matrix) : BISAI_OK;
  m->report.values_seconds = bsi_now() - start;
  m->ready = !status;
  return status;
}

static bisai_status set_up(bisai_precond *m, const bisai_bcsr *matrix) {
  const double start = bsi_now();
  bisai_status status = BISAI_OK;
  if (m->ops->needs_factors && !m->factors) {
    bisai_factor_options o = bisai_factor_options_default();
    o.level = m->options.level;
    o.shift = m->options.shift;
    o.shift_amount = m->options.shift_amount;
    status = bisai_factors_create(m->context, matrix, &o, &m->own_factors);
    m->factors = m->own_factors;
    m->report.factor_seconds = bsi_now() - start;
  }
  if (!status && m->ops->setup) status = m->ops->setup(m, matrix);
  if (!status && m->ops->vectors > 0) {
    const size_t n = (size_t)m->block_rows * (size_t)m->block_size;
    m->work =
        m->context->backend->allocate(m->context, (size_t)m->ops->vectors * BSI_VECTORS_AT_ONCE * n, sizeof *m->work);
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
    return bsi_fail(context, BISAI_INVALID_ARGUMENT, "bisai_precond_create: %s is NULL", matrix ? "precond" : "matrix");
  const bisai_precond_options o = options ? *options : bisai_precond_options_default();
  bisai_status status = check_arguments(context, matrix, &o);
  if (status) return status;
  bisai_precond *m = bsi_allocate(context, 1, sizeof *m);
  if (!m) return BISAI_OUT_OF_MEMORY;
  *m = (bisai_precond){.context = context,
                       .ops = bsi_precond_ops_of(o.kind),
                       .options = o,
                       .block_rows = matrix->block_rows,
                       .block_size = matrix->block_size};
  if (m->ops->needs_factors) m->factors = o.factors;
  status = set_up(m, matrix);
  if (status) {
    bisai_precond_destroy(&m);
    return status;
  }
  fill_report(m);
  describe(m);
  *precond = m;
  return BISAI_OK;
}

bisai_status bisai_precond_update(bisai_precond *precond, const bisai_bcsr *matrix) {
  if (!precond) return BISAI_INVALID_ARGUMENT;
  bisai_precond *m = precond;
  m->ready = false;
  if (!matrix) return bsi_fail(m->context, BISAI_INVALID_ARGUMENT, "bisai_precond_update: matrix is NULL");
  if (matrix->block_rows != m->block_rows || matrix->block_cols != m->block_rows || matrix->block_size != m->block_size)
    return bsi_fail(m->context, BISAI_INVALID_ARGUMENT,
                    "the pattern changed: %d block rows of size %d, expected %d of size %d", matrix->block_rows,
                    matrix->block_size, m->block_rows, m->block_size);
  const double start = bsi_now();
  m->report.factor_seconds = m->report.pattern_seconds = 0.0;
  bisai_status status = BISAI_OK;
  if (m->own_factors) {
    status = bisai_factors_update(m->own_factors, matrix);
    m->report.factor_seconds = bsi_now() - start;
  } else if (m->factors) {
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
  if (!m->ready) return bsi_fail(m->context, BISAI_NOT_READY, "the preconditioner's last update failed");
  if (m->factors && !m->factors->ready) return bsi_fail(m->context, BISAI_NOT_READY, "the factors' last update failed");
  if (m->block_rows > 0 && (!v || !z))
    return bsi_fail(m->context, BISAI_INVALID_ARGUMENT, "bisai_precond_apply: %s is NULL", v ? "z" : "v");
  return BISAI_OK;
}

bisai_status bisai_precond_apply(bisai_precond *precond, const double *v, double *z) {
  if (!precond) return BISAI_INVALID_ARGUMENT;
  const bisai_status status = check_apply(precond, v, z);
  if (status) return status;
  const bsi_vectors vectors = {1, v, 0, z, 0, precond->work};
  return precond->ops->apply(precond, &vectors);
}

bisai_status bisai_precond_apply_many(bisai_precond *precond, int32_t count, const double *v, int64_t ldv, double *z,
                                      int64_t ldz) {
  if (!precond) return BISAI_INVALID_ARGUMENT;
  bisai_status status = check_apply(precond, v, z);
  if (status) return status;
  const int64_t n = (int64_t)precond->block_rows * precond->block_size;
  if (count < 0) return bsi_fail(precond->context, BISAI_INVALID_ARGUMENT, "negative number of vectors: %d", count);
  if (count > 1 && (ldv < n || ldz < n))
    return bsi_fail(precond->context, BISAI_INVALID_ARGUMENT, "leading dimensions %lld and %lld, at least %lld needed",
                    (long long)ldv, (long long)ldz, (long long)n);
  for (int32_t c = 0; c < count && !status; c += BSI_VECTORS_AT_ONCE) {
    const int32_t some = count - c < BSI_VECTORS_AT_ONCE ? count - c : BSI_VECTORS_AT_ONCE;
    const bsi_vectors vectors = {some, v + c * ldv, ldv, z + c * ldz, ldz, precond->work};
    status = precond->ops->apply(precond, &vectors);
  }
  return status;
}

void bisai_precond_destroy(bisai_precond **precond) {
  if (!precond || !*precond) return;
  bisai_precond *m = *precond;
  *precond = NULL;
  if (m->ops->destroy) m->ops->destroy(m);
  m->context->backend->release(m->context, m->work);
  bisai_factors_destroy(&m->own_factors);
  bsi_release(m->context, m);
}

bisai_status bisai_precond_get_report(const bisai_precond *precond, bisai_precond_report *report) {
  if (!precond) return BISAI_INVALID_ARGUMENT;
  if (!report) return bsi_fail(precond->context, BISAI_INVALID_ARGUMENT, "bisai_precond_get_report: report is NULL");
  const bisai_status status =
      bsi_check_struct(precond->context, "bisai_precond_report", report->struct_size, sizeof *report);
  if (!status) *report = precond->report;
  return status;
}

const char *bisai_precond_describe(const bisai_precond *precond) { return precond->description; }

int64_t bisai_precond_rows(const bisai_precond *precond) { return (int64_t)precond->block_rows * precond->block_size; }

const bisai_factors *bisai_precond_factors(const bisai_precond *precond) { return precond->factors; }

const bisai_bcsr *bisai_precond_lower_inverse(const bisai_precond *precond) {
  return precond->isai[BISAI_LOWER].inverse;
}

const bisai_bcsr *bisai_precond_upper_inverse(const bisai_precond *precond) {
  return precond->isai[BISAI_UPPER].inverse;
}
