/* SPDX-License-Identifier: BSD-3-Clause */
/* Complete LU: z = U⁻¹ L⁻¹ v with all fill, after an ordering that keeps it low (lu/lu.h). */
#include "lu/lu.h"

#include "core/context/context_impl.h"
#include "precond/precond_impl.h"

typedef struct lu_state {
  bsi_lu *lu;
  /* the blocks of the reordered A, which may be scalar */
  int32_t blocks;
} lu_state;

static const char *const storages[] = BSI_OPTION_WORDS(BSI_PRECISION_LIST);
static const bisai_option table[] = {
    {BSI_PRECOND_OPTION(lu.storage), .name = "storage", .key = "storage", .placeholder = "S",
     .petsc = "storage", .help = "storage of L and U", .type = BISAI_OPTION_WORD,
     .initial = BISAI_FP64, .maximum = BISAI_FP32, .advised = BISAI_FP32, .words = storages},
    {BSI_PRECOND_OPTION(lu.fill), .name = "fill", .key = "fill", .placeholder = "F",
     .petsc = "lu_fill", .help = "the most blocks of L + U over those of A; 0: no limit",
     .type = BISAI_OPTION_NUMBER, .maximum = HUGE_VAL, .advised = BSI_ADVISED_RATIO},
    {BSI_PRECOND_OPTION(lu.memory), .name = "memory", .key = "memory", .placeholder = "G",
     .petsc = "lu_memory", .help = "the most gigabytes of L + U; 0: no limit",
     .type = BISAI_OPTION_NUMBER, .maximum = HUGE_VAL, .advised = BSI_ADVISED_RATIO}};
static const bsi_option_list own_options = BSI_OPTION_LIST(table);

static lu_state *state_of(const bisai_precond *m) { return m->state; }

static bisai_status lu_check(bisai_context *context, const bisai_precond_options *o,
                             const bisai_bcsr *matrix) {
  return bsi_ordering_check(context, o, matrix->block_rows);
}

static bisai_status lu_setup(bisai_precond *m, const bisai_bcsr *matrix) {
  const bisai_precond_options *o = &m->options;
  lu_state *s = state_of(m);
  m->options.factor.ordering = bsi_lu_ordering(o->factor.ordering);
  BSI_TRY(bsi_factored_order(m, &matrix));
  s->blocks = matrix->blocks;
  const double start = bsi_now();
  const bsi_lu_options options = {.storage = o->lu.storage,
                                  .most_fill = o->lu.fill,
                                  .most_bytes = 1e9 * o->lu.memory,
                                  .shift =
                                      o->shift == BISAI_SHIFT_IN_BLOCKS ? o->shift_amount : 0.0};
  const bisai_status status = bsi_lu_create(m->context, matrix, &options, &s->lu);
  m->report.pattern_seconds = bsi_now() - start;
  return status;
}

static bisai_status lu_check_update(const bisai_precond *m, const bisai_bcsr *matrix) {
  return bsi_reordered_check(m->context, matrix, &m->order.reordered);
}

static bisai_status lu_update(bisai_precond *m, const bisai_bcsr *matrix) {
  BSI_TRY(bsi_reordered_update(m->context, matrix, &m->order.reordered));
  return bsi_lu_factorise(state_of(m)->lu, m->order.reordered.matrix);
}

static bisai_status lu_apply(bisai_precond *m, const bsi_vectors *v) {
  return bsi_lu_solve(state_of(m)->lu, false, v->count, v->b, v->ldb, v->x, v->ldx);
}

static bisai_status lu_apply_transpose(bisai_precond *m, const bsi_vectors *v) {
  return bsi_lu_solve(state_of(m)->lu, true, v->count, v->b, v->ldb, v->x, v->ldx);
}

/* Raised pivots and rounding to fp32 are not symmetric. */
static bisai_symmetry lu_symmetry(const bisai_precond *m) {
  const bool exact =
      m->options.lu.storage == BISAI_FP64 && bsi_lu_found_pivots(state_of(m)->lu)->raised == 0;
  return exact ? BISAI_SYMMETRY_VALUES : BISAI_SYMMETRY_NONE;
}

static void lu_report(const bisai_precond *m, bisai_precond_report *r) {
  const lu_state *s = state_of(m);
  const bsi_lu_prediction *p = bsi_lu_predicted(s->lu);
  const bsi_lu_pivots *pivots = bsi_lu_found_pivots(s->lu);
  r->lu = (bisai_lu_report){.blocks = p->blocks,
                            .fill = s->blocks > 0 ? (double)p->blocks / s->blocks : 0.0,
                            .values = p->values,
                            .flops = p->flops,
                            .supernodes = p->supernodes,
                            .levels = p->levels,
                            .smallest_pivot = pivots->smallest,
                            .largest_pivot = pivots->largest};
  r->repairs = pivots->raised;
  r->first_repair_row = pivots->first_raised_row;
  r->memory_bytes += bsi_lu_memory(s->lu);
  r->apply_bytes = bsi_lu_solve_bytes(s->lu);
  bsi_report_order(m, r);
}

static void lu_describe(bisai_precond *m) {
  if (m->options.lu.storage == BISAI_FP32) bsi_append(m, " storage=fp32");
  if (m->options.shift == BISAI_SHIFT_IN_BLOCKS)
    bsi_append(m, " shift=%g", m->options.shift_amount);
  bsi_append(m, ", %lld blocks in L + U, %.3g times those of A", (long long)m->report.lu.blocks,
             m->report.lu.fill);
}

static void lu_destroy(bisai_precond *m) { bsi_lu_destroy(&state_of(m)->lu); }

const bsi_precond_ops bsi_precond_lu = {
    .options = {&own_options, &bsi_order_options, &bsi_shift_options},
    .state_size = sizeof(lu_state),
    .check = lu_check,
    .setup = lu_setup,
    .update = lu_update,
    .check_update = lu_check_update,
    .apply = lu_apply,
    .transpose.apply = lu_apply_transpose,
    .about.symmetry = lu_symmetry,
    .about.describe = lu_describe,
    .about.report = lu_report,
    .destroy = lu_destroy};
