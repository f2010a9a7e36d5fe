/* SPDX-License-Identifier: BSD-3-Clause */
/* What the kinds with factors share: their options, ordering and equilibration, block ILU(k) or the
 * caller's factors, and what is reported of these. */
#include "core/context/context_impl.h"
#include "order/order_ops.h"
#include "precond/precond_impl.h"

#include <stdio.h>

static const bisai_option factored_options[] = {
    {BSI_PRECOND_OPTION(factor.level), .name = "level", .key = "level", .petsc = "level",
     .help = "level of fill", .type = BISAI_OPTION_INTEGER, .maximum = INT32_MAX,
     .advised = INT32_MAX},
    {BSI_PRECOND_OPTION(factor.least_pivot), .name = "least_pivot", .key = "pivots",
     .petsc = "pivots", .help = "enlarges pivots below this share of their row; 0: none",
     .type = BISAI_OPTION_NUMBER, .maximum = 1.0, .advised = 1.0},
    {BSI_PRECOND_OPTION(factor.update_sweeps), .name = "update_sweeps", .key = "updates",
     .petsc = "updates", .help = "sweeps by which updates compute the factors; 0: exactly",
     .type = BISAI_OPTION_INTEGER, .maximum = INT32_MAX, .advised = 100},
    {BSI_PRECOND_OPTION(factor.factors), .name = "factors", .help = "the caller's factors",
     .type = BISAI_OPTION_POINTER}};
const bsi_option_list bsi_factored_options = BSI_OPTION_LIST(factored_options);

static const bisai_option shift_options[] = {
    {.field = "shift",
     .offset = offsetof(bisai_precond_options, shift_amount),
     .name = "shift",
     .key = "shift",
     .petsc = "shift",
     .help = "repairs singular diagonal blocks by this share of their row; 0: none",
     .type = BISAI_OPTION_AMOUNT,
     .switch_offset = offsetof(bisai_precond_options, shift),
     .advised = BSI_ADVISED_RATIO}};
const bsi_option_list bsi_shift_options = BSI_OPTION_LIST(shift_options);

static const char *const orderings[] = BSI_OPTION_WORDS(BISAI_ORDERING_LIST);
static const char *const matchings[] = BSI_OPTION_WORDS(BISAI_MATCHING_LIST);

static const bisai_option order_options[] = {
    {BSI_PRECOND_OPTION(factor.ordering), .name = "ordering", .key = "ordering",
     .help = "order of the rows inside", .type = BISAI_OPTION_WORD, .maximum = BISAI_ORDERING_GIVEN,
     .advised = BISAI_ORDERING_MD, .words = orderings},
    {BSI_PRECOND_OPTION(factor.matching), .name = "matching", .key = "matching",
     .petsc = "matching", .help = "permutes rows inside to a diagonal of the largest product",
     .type = BISAI_OPTION_WORD, .maximum = BISAI_MATCHING_BLOCKS, .advised = BISAI_MATCHING_BLOCKS,
     .words = matchings},
    {BSI_PRECOND_OPTION(factor.equilibrate), .name = "equilibrate", .key = "equilibrate",
     .help = "scales rows and columns inside", .type = BISAI_OPTION_FLAG}};
const bsi_option_list bsi_order_options = BSI_OPTION_LIST(order_options);

bool bsi_takes_factors(const bisai_precond_options *options) {
  const bsi_precond_ops *ops = bsi_precond_ops_of(options->kind);
  return ops->takes_factors && ops->takes_factors(options);
}

bool bsi_always_factored(const bisai_precond_options *options) {
  (void)options;
  return true;
}

int64_t bsi_factored_rows(const bisai_precond_options *options, const bisai_bcsr *matrix) {
  const bool scalar = options->factor.matching == BISAI_MATCHING_ENTRIES;
  return (int64_t)matrix->block_rows * (scalar ? matrix->block_size : 1);
}

bisai_status bsi_factors_fit(bisai_context *context, const bisai_factors *f,
                             const bisai_bcsr *matrix) {
  if (!f->ready) return bsi_fail(context, BISAI_NOT_READY, "the factors' last update failed");
  if (f->upper->block_rows != matrix->block_rows || f->upper->block_size != matrix->block_size)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT,
                    "the factors have %d block rows of size %d, the matrix %d of size %d",
                    f->upper->block_rows, f->upper->block_size, matrix->block_rows,
                    matrix->block_size);
  return BISAI_OK;
}

static bool reorders(const bisai_factored_options *o) {
  return o->ordering != BISAI_ORDERING_NATURAL || o->matching != BISAI_MATCHING_NONE ||
         o->equilibrate;
}

bisai_status bsi_ordering_check(bisai_context *context, const bisai_precond_options *options,
                                int32_t block_rows) {
  const bisai_factored_options *o = &options->factor;
  if (o->ordering < BISAI_ORDERING_NATURAL || o->ordering > BISAI_ORDERING_GIVEN)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT, "unknown ordering %d", (int)o->ordering);
  if (o->ordering != BISAI_ORDERING_GIVEN && o->permutation)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT,
                    "a permutation goes with BISAI_ORDERING_GIVEN alone");
  if (o->factors && reorders(o))
    return bsi_fail(context, BISAI_INVALID_ARGUMENT,
                    "the caller's factors have an ordering and a scaling of their own: neither "
                    "ordering nor matching nor equilibrate goes with them");
  return o->ordering == BISAI_ORDERING_GIVEN
             ? bisai_order_check(context, block_rows, o->permutation)
             : BISAI_OK;
}

/* The matrix that is factorised, up to date with `matrix`. */
static bisai_status reorder(bisai_precond *m, const bisai_bcsr **matrix) {
  if (!m->order.reordered.matrix) return BISAI_OK;
  const double start = bsi_now();
  const bisai_status status = bsi_reordered_update(m->context, *matrix, &m->order.reordered);
  m->report.order_seconds += bsi_now() - start;
  *matrix = m->order.reordered.matrix;
  return status;
}

/* Finds the ordering and measures what it does. */
static bisai_status order(bisai_precond *m, const bisai_bcsr *matrix) {
  const double start = bsi_now();
  bisai_status status =
      m->context->backend->order->shape->measure(m->context, matrix, &m->order.natural);
  m->order.ordered = m->order.natural;
  const bisai_factored_options *o = &m->options.factor;
  const bsi_reordering how = {o->ordering, o->permutation, o->matching, o->equilibrate};
  if (!status && reorders(o))
    status = bsi_reordered_create(m->context, matrix, &how, &m->order.reordered);
  m->order.reordered.equilibration.symmetric = m->order.symmetric_scaling;
  if (!status && m->order.reordered.maps.columns)
    status = m->context->backend->order->shape->measure(m->context, m->order.reordered.matrix,
                                                        &m->order.ordered);
  m->report.order_seconds = bsi_now() - start;
  return status;
}

static bisai_status factorise(bisai_precond *m, const bisai_bcsr *matrix) {
  const double start = bsi_now();
  bisai_factor_options o = bisai_factor_options_default();
  o.level = m->options.factor.level;
  o.shift = m->options.shift;
  o.shift_amount = m->options.shift_amount;
  o.least_pivot = m->options.factor.least_pivot;
  o.update_sweeps = m->options.factor.update_sweeps;
  const bisai_status status = bisai_factors_create(m->context, matrix, &o, &m->own_factors);
  m->factors = m->own_factors;
  m->report.factor_seconds = bsi_now() - start;
  return status;
}

bisai_status bsi_factored_order(bisai_precond *m, const bisai_bcsr **matrix) {
  BSI_TRY(order(m, *matrix));
  m->options.factor.permutation = NULL; /* the caller's array may go */
  if (m->order.reordered.matrix) *matrix = m->order.reordered.matrix;
  return BISAI_OK;
}

bisai_status bsi_factored_setup(bisai_precond *m, const bisai_bcsr **matrix) {
  m->factors = m->options.factor.factors;
  BSI_TRY(order(m, *matrix));
  BSI_TRY(reorder(m, matrix));
  if (!m->factors) BSI_TRY(factorise(m, *matrix));
  m->options.factor.permutation = NULL; /* the caller's array may go */
  return BISAI_OK;
}

bisai_status bsi_factored_check_update(const bisai_precond *m, const bisai_bcsr *matrix) {
  if (m->order.reordered.matrix)
    return bsi_reordered_check(m->context, matrix, &m->order.reordered);
  return m->own_factors ? bsi_factors_check(m->own_factors, matrix) : BISAI_OK;
}

bisai_status bsi_factored_update(bisai_precond *m, const bisai_bcsr **matrix) {
  BSI_TRY(reorder(m, matrix));
  if (!m->own_factors) return bsi_factors_fit(m->context, m->factors, *matrix);
  const double start = bsi_now();
  const bisai_status status = bsi_factors_refresh(m->own_factors, *matrix);
  m->report.factor_seconds = bsi_now() - start;
  return status;
}

void bsi_describe_factors(bisai_precond *m) {
  const bisai_precond_options *o = &m->options;
  const bool takes = bsi_takes_factors(o);
  if (takes && o->factor.factors) return;
  if (takes && o->factor.level > 0) bsi_append(m, " level=%d", o->factor.level);
  if (takes && o->factor.least_pivot > 0.0) bsi_append(m, " pivots=%g", o->factor.least_pivot);
  if (takes && o->factor.update_sweeps > 0) bsi_append(m, " updates=%d", o->factor.update_sweeps);
  if (o->shift == BISAI_SHIFT_IN_BLOCKS) bsi_append(m, " shift=%g", o->shift_amount);
}

bisai_symmetry bsi_factored_symmetry(const bisai_precond *m) {
  if (m->options.factor.matching != BISAI_MATCHING_NONE) return BISAI_SYMMETRY_NONE;
  return m->own_factors ? BISAI_SYMMETRY_PATTERN : BISAI_SYMMETRY_CALLER;
}

/* Rows are reported as the caller numbers them. */
bisai_status bsi_factored_transpose(const bisai_precond *m, bisai_precond *t) {
  const bisai_status status = bsi_factors_transpose(m->factors, &t->own_factors);
  t->factors = t->own_factors;
  return status;
}

void bsi_report_factors(const bisai_precond *m, bisai_precond_report *r) {
  const bisai_factors *f = m->factors;
  r->factor.blocks = (int64_t)f->lower->blocks + f->upper->blocks;
  r->factor.lower_levels = f->lower_levels.count;
  r->factor.upper_levels = f->upper_levels.count;
  bsi_report_inversion(&f->stats, r);
  r->first_repair_row = bsi_row_name(f->upper, r->first_repair_row);
  r->largest_condition_row = bsi_row_name(f->upper, r->largest_condition_row);
  if (m->own_factors) r->memory_bytes += bsi_factors_memory(m->own_factors);
}

void bsi_report_order(const bisai_precond *m, bisai_precond_report *r) {
  const bsi_equilibration *q = &m->order.reordered.equilibration;
  r->factor.ordering = m->options.factor.ordering;
  r->factor.matching = m->options.factor.matching;
  r->factor.moved_rows = m->order.reordered.moved_rows;
  r->factor.natural_bandwidth = m->order.natural.bandwidth;
  r->factor.natural_profile = m->order.natural.profile;
  r->factor.bandwidth = m->order.ordered.bandwidth;
  r->factor.profile = m->order.ordered.profile;
  r->factor.equilibrated = q->row_scale != NULL;
  r->factor.smallest_scale = r->factor.equilibrated ? q->smallest : 1.0;
  r->factor.largest_scale = r->factor.equilibrated ? q->largest : 1.0;
  if (!m->order.reordered.matrix) return;
  r->memory_bytes += bsi_reordered_memory(&m->order.reordered);
  r->apply_bytes += bsi_reordered_bytes(&m->order.reordered);
}

/* M is congruent to the diagonal blocks of U. */
void bsi_factored_say_indefinite(const bisai_precond *m, size_t size, char *text) {
  (void)m;
  snprintf(text, size,
           "; its factors are not definite, although the matrix may be: bjacobi and "
           "mg:smoother=l1 are definite then");
}
