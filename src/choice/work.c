/* SPDX-License-Identifier: BSD-3-Clause */
#include "choice/work.h"

#include <math.h>

#include "core/context/context_impl.h"
#include "core/matrix/bcsr_impl.h"
#include "krylov/open_solve.h"
#include "lu/predict.h"
#include "precond/precond_impl.h"
#include "study/parts.h"

/* The nominal rates of a backend. Those of complete factorisations, which the host makes, are
 * fitted to 140 systems, within 21 % (root mean square of the logarithm). */
typedef struct rates {
  /* seconds for a byte of a product, and of a triangular solve */
  double product, solve;
  /* for a kernel, and for a level of a triangular solve */
  double launch, level;
  /* in set-ups: for a product of two values, and for a look-up of a block */
  double multiply, block;
  /* of a complete factorisation: for a flop, for a stored value, for a block of A, for an entry of
   * A whose rows are matched before, and for a block of A in the prediction */
  double flop, value, edge, matched, prediction;
} rates;

static const rates of_host = {.product = 1.0 / 15e9,
                              .solve = 1.0 / 7.8e9,
                              .launch = 2e-7,
                              .level = 0,
                              .multiply = 0.15e-9,
                              .block = 3e-9,
                              .flop = 0.06e-9,
                              .value = 7e-9,
                              .edge = 0.12e-6,
                              .matched = 0.4e-6,
                              .prediction = 0.1e-6};
static const rates of_device = {.product = 1.0 / 2.5e12,
                                .solve = 1.0 / 1.5e12,
                                .launch = 4e-6,
                                .level = 3e-6,
                                .multiply = 2e-12,
                                .block = 2e-11,
                                .flop = 0.06e-9,
                                .value = 7e-9,
                                .edge = 0.12e-6,
                                .matched = 0.4e-6,
                                .prediction = 0.1e-6};

static const rates *rates_of(const bsi_task *task) {
  return task->context->backend->memory->is_host ? &of_host : &of_device;
}

/* With more operations for each block of A, nested dissection is worth its time: it takes some 1 µs
 * for a block of A, and saves a third of the operations (the median of 25 systems that are for
 * tuning). */
#define FLOPS_OF_MINIMUM_DEGREE 50000.0
/* But no more than GAIN times: with more work than that, nothing is gained over the alternative.
 * Its own time is DISSECTION times that of a prediction by minimum degree. */
#define GAIN_OF_DISSECTION 1.2
#define WORK_OF_DISSECTION 10.0
/* Where the alternative takes this many times that time, a small chance is worth it: on large
 * meshes, dissection saves up to five sixths of the operations. */
#define CHEAP_DISSECTION 5.0
#define GAIN_OF_CHEAP_DISSECTION 4.0
/* A factorisation is predicted where the prediction takes at most 1 / PREDICTION_WORTH of the work
 * of the other candidates. */
#define PREDICTION_WORTH 4.0
/* And where it takes at most 1 / PREDICTION_CHEAP of it, an estimate does not put it off. */
#define PREDICTION_CHEAP 20.0

/* What is known or guessed of a preconditioner. */
typedef struct shape {
  double apply_bytes, factor_blocks, levels;
  /* the entries of the Schur complement of SCHUR */
  double complement;
} shape;

static double rows_of(const bsi_task *t) {
  return (double)t->matrix->block_rows * t->matrix->block_size;
}

/* The pairs of blocks (i, k), (k, j) with i, j > k in some rows. `below` has `rows` entries. */
static double pairs_of(int32_t rows, const int32_t *row_ptr, const int32_t *col_idx,
                       int32_t *below) {
  double pairs = 0;
  for (int32_t i = 0; i < rows; i++) below[i] = 0;
  for (int32_t i = 0; i < rows; i++)
    for (int32_t p = row_ptr[i]; p < row_ptr[i + 1] && col_idx[p] < i; p++) below[col_idx[p]]++;
  for (int32_t i = 0; i < rows; i++) {
    const int32_t end = row_ptr[i + 1];
    pairs += (double)below[i] * (end - bsi_lower_bound(col_idx, row_ptr[i], end, i + 1));
  }
  return pairs;
}

/* Pairs are what ILU(0) multiplies, and where ILU(1) has fill. */
bisai_status bsi_work_measure(bsi_task *t) {
  const bisai_bcsr *a = t->matrix;
  const bsi_study_view view = {
      .block_rows = a->block_rows, .row_ptr = a->row_ptr, .col_idx = a->col_idx};
  bsi_first_rows first;
  int32_t *room = NULL;
  bisai_status status = bsi_study_fetch_rows(t->context, &view, &first);
  if (!status) room = bsi_allocate(t->context, (size_t)first.rows + 1, sizeof *room);
  if (!status && !room) status = BISAI_OUT_OF_MEMORY;
  if (!status) {
    const double blocks = fmax(first.row_ptr[first.rows], 1), rows = fmax(first.rows, 1);
    t->pairs = pairs_of(first.rows, first.row_ptr, first.col_idx, room) * (a->blocks / blocks);
    if (rates_of(t)->level > 0)
      t->levels = bsi_study_levels_of(first.rows, first.row_ptr, first.col_idx, room) *
                  (a->block_rows / rows);
  }
  bsi_release(t->context, room);
  bsi_study_release_rows(t->context, &first);
  return status;
}

/* The expected blocks of ILU(level). The exponent is that of the factors of 103 systems, within
 * factors of 1.25 at level 1, 1.4 at level 2, and 2 at level 4. */
static double blocks_of(const bsi_task *t, int level) {
  const double blocks = fmax(t->matrix->blocks, 1), rows = fmax(t->matrix->block_rows, 1);
  return fmin(blocks * pow(1 + 0.5 * t->pairs / blocks, 0.58 * pow(level, 0.73)), rows * rows);
}

/* The expected entries of the sparse Schur complement. ILU(1) has them as fill if the pressures
 * come last. */
static double complement_of(const bsi_task *t) { return blocks_of(t, 1) - t->matrix->blocks; }

/* The products of two blocks that make factors. */
static double updates_of(const bsi_task *t, double factor_blocks) {
  const double blocks = fmax(t->matrix->blocks, 1), growth = factor_blocks / blocks;
  return t->pairs * growth * growth;
}

/* Factors that are scalar have a row for each row of a block. */
double bsi_work_fill(const bsi_task *t, const bisai_precond_options *o, double *visits) {
  const double bs = o->factor.matching == BISAI_MATCHING_ENTRIES ? t->matrix->block_size : 1,
               blocks = blocks_of(t, o->factor.level);
  *visits = bs * bs * bs * updates_of(t, blocks);
  return bs * bs * blocks;
}

static double vectors_of(const bisai_solver_options *how) {
  switch (how->method) {
  case BISAI_GMRES: return (how->gmres.flexible ? 2.0 : 1.0) * how->gmres.restart + 4;
  case BISAI_IDR: return 3.0 * how->idr.shadow_dimension + 5;
  default: return 9;
  }
}

double bsi_work_memory(const bsi_task *t, const bsi_candidate *c) {
  const double precond = c->precond.kind == BISAI_PRECOND_NONE ? 0 : c->memory,
               history = fmin(c->solver.max_iterations, BSI_HISTORY_LIMIT);
  return precond + 8 * rows_of(t) * (vectors_of(&c->solver) + 1) + 8 * history;
}

static double factor_work(const bsi_task *t, int level, const shape *s) {
  const rates *r = rates_of(t);
  const double bs = t->matrix->block_size;
  return updates_of(t, s->factor_blocks) * (r->block + bs * bs * bs * r->multiply) +
         s->factor_blocks * (level > 0 ? 10 : 5) * r->block + 20 * r->launch +
         s->levels * 2 * r->level;
}

static double setup_work(const bsi_task *t, const bisai_precond_options *o, const shape *s) {
  const rates *r = rates_of(t);
  const double values = (double)bsi_block_offset(t->matrix, t->matrix->blocks),
               blocks = t->matrix->blocks, rows = t->matrix->block_rows, bs = t->matrix->block_size,
               cube = bs * bs * bs;
  switch (o->kind) {
  case BISAI_PRECOND_NONE:
  case BISAI_PRECOND_CALLBACK: return 0;
  case BISAI_PRECOND_BJACOBI: {
    const double most = o->bjacobi.max_block > 0 ? o->bjacobi.max_block : bs;
    return rows * bs * most * most * 4 * r->multiply + blocks * r->block + 8 * r->launch;
  }
  case BISAI_PRECOND_ILU:
  case BISAI_PRECOND_SWEEPS: return factor_work(t, o->factor.level, s);
  case BISAI_PRECOND_ISAI:
    return factor_work(t, o->factor.level, s) +
           s->factor_blocks * (20 * r->block + cube * 4 * r->multiply) + 20 * r->launch;
  case BISAI_PRECOND_MULTIGRID:
    return (9 * values + 50 * blocks + 200 * rows) * r->block + 600 * r->launch;
  case BISAI_PRECOND_SCHUR:
    return (60 * (blocks + s->complement) + 200 * rows) * r->block + 1200 * r->launch;
  default: return (9 * values + 60 * blocks + 200 * rows) * r->block + 800 * r->launch;
  }
}

static double apply_work(const bsi_task *t, const bisai_precond_options *o, const shape *s) {
  const rates *r = rates_of(t);
  switch (o->kind) {
  case BISAI_PRECOND_NONE: return 0;
  case BISAI_PRECOND_MULTIGRID:
  case BISAI_PRECOND_CPR: return s->apply_bytes * r->product + 50 * r->launch;
  case BISAI_PRECOND_SCHUR: return s->apply_bytes * r->product + 200 * r->launch;
  default: return s->apply_bytes * r->solve + 4 * r->launch + s->levels * r->level;
  }
}

/* The products and vectors of an iteration, without the preconditioner. GMRES reads half of the
 * basis twice and writes little. */
static double solver_work(const bsi_task *t, const bisai_solver_options *how,
                          double *applications) {
  const rates *r = rates_of(t);
  const double vector = 8 * rows_of(t), product = (double)bsi_bcsr_product_bytes(t->matrix);
  double vectors = 13, products = 1;
  switch (how->method) {
  case BISAI_GMRES: vectors = fmin(how->gmres.restart, 60); break;
  case BISAI_BICGSTAB:
    vectors = 19;
    products = 2;
    break;
  case BISAI_IDR: vectors = 10 + 3 * how->idr.shadow_dimension; break;
  default: break;
  }
  *applications = products;
  return (products * product + 0.8 * vectors * vector) * r->product + 10 * r->launch;
}

/* The levels of triangular solves on a device; a host does not wait for levels. */
static double levels_of(const bsi_task *t, const bisai_precond_options *o) {
  return o->kind == BISAI_PRECOND_ILU ? 2 * t->levels * (1 + 0.5 * o->factor.level) : 0;
}

void bsi_work_predict(const bsi_task *t, bsi_candidate *c) {
  const bisai_precond_options *o = &c->precond;
  const double bs = t->matrix->block_size, bytes = 8 * bs * bs + 4;
  double applications = 1;
  shape s = {.factor_blocks = blocks_of(t, o->factor.level), .levels = levels_of(t, o)};
  switch (o->kind) {
  case BISAI_PRECOND_BJACOBI:
    s.apply_bytes = rows_of(t) * (8 * fmax(bs, o->bjacobi.max_block) + 16);
    break;
  case BISAI_PRECOND_MULTIGRID: s.apply_bytes = 8 * t->matrix->blocks * bytes; break;
  case BISAI_PRECOND_CPR: s.apply_bytes = 2.5 * t->matrix->blocks * bytes; break;
  case BISAI_PRECOND_SCHUR:
    s.complement = complement_of(t);
    s.apply_bytes =
        8 * (t->matrix->blocks + (t->study->symmetry.symmetric ? 0 : 4 * s.complement)) * bytes;
    break;
  case BISAI_PRECOND_ISAI:
    s.apply_bytes = (2 * o->isai.relax + 1) * pow(o->isai.power, 1.3) * s.factor_blocks * bytes;
    break;
  default: s.apply_bytes = s.factor_blocks * bytes + 16 * rows_of(t);
  }
  const double solver = solver_work(t, &c->solver, &applications);
  c->setup = setup_work(t, o, &s);
  c->step = solver + applications * apply_work(t, o, &s);
  c->memory = s.apply_bytes;
}

static double lu_work(const bsi_task *t, bool matched, double flops, double values) {
  const rates *r = rates_of(t);
  const double entries = (double)bsi_block_offset(t->matrix, t->matrix->blocks);
  return flops * r->flop + values * r->value +
         (matched ? entries * r->matched : t->matrix->blocks * r->edge);
}

static bool is_matched(const bsi_candidate *c) {
  return c->precond.factor.matching != BISAI_MATCHING_NONE;
}

static double prediction_work(const bsi_task *t) {
  return t->matrix->blocks * rates_of(t)->prediction;
}

void bsi_work_guess_lu(const bsi_task *t, double flops, bsi_candidate *c) {
  c->guessed = true;
  c->setup = lu_work(t, is_matched(c), flops, 0);
  c->hurdle = PREDICTION_WORTH * prediction_work(t);
}

bisai_status bsi_work_estimate_lu(const bsi_task *t, bsi_candidates *list) {
  double flops = 0;
  BSI_TRY(bsi_lu_estimate(t->context, t->matrix, &flops));
  for (int i = 0; i < list->count; i++) {
    bsi_candidate *c = &list->items[i];
    if (!c->guessed) continue;
    const double expected = lu_work(t, is_matched(c), flops, 0);
    c->setup = fmax(c->setup, fmin(expected, PREDICTION_CHEAP * prediction_work(t)));
    c->estimated = true;
  }
  return BISAI_OK;
}

/* Minimum degree first: the ordering is found in less time, and with it lu takes 0.53 times as long
 * on the median of 86 systems that are for tuning. */
static bisai_status predict_factors(const bsi_task *t, double alternative, int32_t *permutation,
                                    bsi_candidate *c, bsi_lu_prediction *p) {
  const bisai_ordering asked = bsi_lu_ordering(c->precond.factor.ordering);
  const double dissection = WORK_OF_DISSECTION * prediction_work(t),
               gain = CHEAP_DISSECTION * dissection <= alternative ? GAIN_OF_CHEAP_DISSECTION
                                                                   : GAIN_OF_DISSECTION;
  c->precond.factor.ordering = BISAI_ORDERING_MD;
  BSI_TRY(bsi_lu_predict(t->context, t->matrix, BISAI_ORDERING_MD, permutation, p));
  if (asked == BISAI_ORDERING_MD || p->flops <= FLOPS_OF_MINIMUM_DEGREE * t->matrix->blocks ||
      lu_work(t, is_matched(c), p->flops, (double)p->values) > gain * alternative ||
      dissection > alternative)
    return BISAI_OK;
  c->precond.factor.ordering = asked;
  return bsi_lu_predict(t->context, t->matrix, asked, permutation, p);
}

bisai_status bsi_work_predict_lu(const bsi_task *t, double alternative, int32_t *permutation,
                                 bsi_candidate *c) {
  bsi_lu_prediction p;
  BSI_TRY(predict_factors(t, alternative, permutation, c, &p));
  const shape s = {.apply_bytes = 8.0 * (double)p.values,
                   .levels = rates_of(t)->level > 0 ? 2.0 * p.levels : 0};
  double applications = 1;
  c->factorisation = p;
  c->step = solver_work(t, &c->solver, &applications) + apply_work(t, &c->precond, &s);
  c->memory = s.apply_bytes;
  bsi_work_share_lu(t, c, permutation, c);
  return BISAI_OK;
}

void bsi_work_share_lu(const bsi_task *t, const bsi_candidate *from, const int32_t *permutation,
                       bsi_candidate *to) {
  to->factorisation = from->factorisation;
  to->setup = lu_work(t, is_matched(to), to->factorisation.flops, (double)to->factorisation.values);
  to->step = from->step;
  to->memory = from->memory;
  to->precond.factor.ordering = from->precond.factor.ordering;
  to->predicted = true;
  to->guessed = false;
  to->hurdle = 0;
  to->permutation = to->precond.factor.matching == BISAI_MATCHING_NONE ? permutation : NULL;
}

double bsi_work_of_setup(const bsi_task *t, const bsi_candidate *c, const bisai_precond *precond) {
  const bisai_precond_report *r = &precond->report;
  const shape s = {.factor_blocks = (double)r->factor.blocks,
                   .complement = (double)r->schur.complement_entries,
                   .levels = rates_of(t)->level > 0
                                 ? (double)r->factor.lower_levels + r->factor.upper_levels
                                 : 0};
  return c->predicted ? c->setup : setup_work(t, &precond->options, &s);
}

double bsi_work_of_step(const bsi_task *t, const bisai_solver_options *solver,
                        const bisai_precond *precond) {
  const bisai_precond_report *r = &precond->report;
  const shape s = {.apply_bytes = (double)r->apply_bytes,
                   .levels = precond->options.kind != BISAI_PRECOND_ILU || rates_of(t)->level == 0
                                 ? 0
                                 : (double)r->factor.lower_levels + r->factor.upper_levels};
  double applications = 1;
  const double work = solver_work(t, solver, &applications);
  return work + applications * apply_work(t, &precond->options, &s);
}
