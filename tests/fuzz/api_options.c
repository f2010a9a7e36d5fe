/* SPDX-License-Identifier: BSD-3-Clause */
/* Options of preconditioners and solvers. */
#include <math.h>
#include <stdlib.h>

#include "api.h"

static void choose_blocks(fuzz_choices *choices, const fuzz_system *s, fuzz_precond *choice) {
  bisai_precond_options *o = &choice->options;
  o->bjacobi.form = (bisai_form)fuzz_pick(choices, 4);
  o->bjacobi.storage =
      (bisai_value_type)fuzz_pick(choices, o->bjacobi.form == BISAI_FORM_INVERSE ? 7 : 6);
  if (fuzz_rarely(choices, 2)) o->bjacobi.storage = BISAI_FP64;
  o->bjacobi.digits = fuzz_between(choices, 1, 15);
  o->bjacobi.extraction = (bisai_extraction)fuzz_pick(choices, 5);
  o->bjacobi.formats = (bisai_formats)(o->bjacobi.digits % 3);
  o->bjacobi.relax = o->bjacobi.digits % 4 == 3 ? o->bjacobi.digits / 4 : 0;
  o->bjacobi.damping = 0.9;
  const int partition = fuzz_pick(choices, 3);
  if (partition == 1) o->bjacobi.max_block = fuzz_between(choices, 1, 32);
  if (partition != 2) return;
  const int most = fuzz_between(choices, 1, 32);
  choice->block_ptr = fuzz_memory((size_t)s->rows + 1, sizeof *choice->block_ptr);
  choice->block_ptr[0] = 0;
  for (int32_t at = 0; at < s->rows; choice->block_ptr[++o->bjacobi.block_count] = at) {
    at += s->large ? most : fuzz_between(choices, 1, most);
    if (at > s->rows) at = s->rows;
  }
  o->bjacobi.block_ptr = choice->block_ptr;
}

static void choose_permutation(fuzz_choices *choices, const fuzz_system *s, fuzz_precond *choice) {
  const uint64_t seed = fuzz_seed(choices);
  int32_t *permutation = choice->permutation =
      fuzz_memory((size_t)s->block_rows, sizeof *permutation);
  for (int32_t i = 0; i < s->block_rows; i++) permutation[i] = i;
  for (int32_t i = s->block_rows - 1; i > 0; i--) {
    const int32_t j = (int32_t)(fuzz_mix(seed + (uint64_t)i) % ((uint64_t)i + 1)),
                  kept = permutation[i];
    permutation[i] = permutation[j];
    permutation[j] = kept;
  }
  choice->options.factor.permutation = permutation;
}

static void choose_inverses(fuzz_choices *choices, bool large, bisai_precond_options *o) {
  static const int powers[] = {1, 2, 3, 4, 5, 1000000};
  o->isai.power = powers[fuzz_pick(choices, large ? 2 : 6)];
  o->isai.relax = fuzz_pick(choices, 4);
  if (fuzz_rarely(choices, 2)) o->isai.storage = (bisai_value_type)fuzz_pick(choices, 4);
  if (fuzz_rarely(choices, 4)) o->isai.drop_tolerance = pow(10, fuzz_between(choices, -6, 2));
  if (fuzz_rarely(choices, 4)) o->isai.column_limit = fuzz_pick(choices, 6);
  o->isai.symmetric = fuzz_rarely(choices, 3);
}

static void choose_levels(fuzz_choices *choices, bisai_multigrid_options *o) {
  static const double strengths[] = {0.25, 0, 0.05, 0.9, 1}, limits[] = {0, 1, 1.2, 100};
  static const int coarsest[] = {-1, 0, 1, 5, 40};
  o->cycle = (bisai_cycle)fuzz_pick(choices, 5);
  o->smoother = (bisai_smoother)fuzz_pick(choices, 7);
  if (o->smoother == BISAI_SMOOTHER_ISAI) o->power = fuzz_between(choices, 1, 3);
  if (o->smoother == BISAI_SMOOTHER_ISAI) o->relax = fuzz_pick(choices, 3);
  if (o->smoother == BISAI_SMOOTHER_SWEEPS) o->sweeps = fuzz_pick(choices, 4);
  if (o->smoother >= BISAI_SMOOTHER_ISAI) o->level = fuzz_pick(choices, 3);
  o->pre = fuzz_pick(choices, 4);
  o->post = fuzz_pick(choices, 4);
  if (o->pre == 0 && o->post == 0) o->post = 1; /* such cycles are refused */
  o->nodes = (bisai_aggregation_unit)fuzz_pick(choices, 3);
  o->strength = strengths[fuzz_pick(choices, 5)];
  o->complexity = limits[fuzz_pick(choices, 4)];
  o->coarsest = coarsest[fuzz_pick(choices, 5)];
  if (fuzz_rarely(choices, 3)) o->levels = fuzz_between(choices, 1, 4);
  o->keep_transfers = fuzz_rarely(choices, 3);
  o->unweighted = fuzz_rarely(choices, 2);
  /* without updates there is nothing to compare */
  o->update = (bisai_multigrid_update)fuzz_pick(choices, BISAI_MULTIGRID_UPDATE_NONE);
}

/* A few, or more than the rows of a block. */
static void choose_null_vectors(fuzz_choices *choices, const fuzz_system *s, fuzz_precond *choice) {
  bisai_multigrid_options *o = &choice->options.multigrid;
  const uint64_t seed = fuzz_seed(choices);
  o->null_count = 1 + (int32_t)(seed % 7);
  if (o->nodes == BISAI_AGGREGATION_UNIT_SCALAR)
    o->nodes = BISAI_AGGREGATION_UNIT_BLOCK; /* scalars take none */
  choice->null_vectors = fuzz_vector((int64_t)s->rows * o->null_count);
  for (int64_t k = 0; k < (int64_t)s->rows * o->null_count; k++)
    choice->null_vectors[k] = k % o->null_count == 0 ? 1 : fuzz_noise(seed, k, 12);
  o->null_vectors = choice->null_vectors;
}

/* Zeros leave rows without a pressure correction. */
static void choose_weights(fuzz_choices *choices, const fuzz_system *s, fuzz_precond *choice) {
  bisai_cpr_options *o = &choice->options.cpr;
  const bool storage = fuzz_rarely(choices, 2);
  const int64_t columns = storage ? s->block_size : 1;
  const uint64_t seed = fuzz_seed(choices);
  choice->weights = fuzz_vector(s->rows * columns);
  for (int64_t i = 0; i < s->rows * columns; i++)
    choice->weights[i] = fuzz_mix(seed + (uint64_t)i) % 5 == 0 ? 0 : fuzz_noise(seed, i, 10);
  if (storage)
    o->storage = choice->weights;
  else
    o->weights = choice->weights;
}

static void choose_stages(fuzz_choices *choices, const fuzz_system *s, fuzz_precond *choice) {
  bisai_precond_options *o = &choice->options;
  o->cpr.pressure = fuzz_between(choices, -1, s->block_size - 1);
  o->cpr.second = (bisai_cpr_second_stage)fuzz_pick(choices, 5);
  o->cpr.additive = fuzz_rarely(choices, 4);
  o->cpr.keep_pressure = fuzz_rarely(choices, 4);
  choose_levels(choices, &o->multigrid);
  if (fuzz_rarely(choices, 4)) choose_weights(choices, s, choice);
}

/* z = D⁻¹ v by the caller, which may fail. */
static bisai_status scale(void *user, int64_t n, const double *v, double *z) {
  fuzz_precond *choice = user;
  for (int64_t i = 0; i < n; i++) z[i] = choice->diagonal[i] * v[i];
  return choice->fails_in > 0 && --choice->fails_in == 0 ? BISAI_EXTERNAL_ERROR : BISAI_OK;
}

static void choose_callback(fuzz_choices *choices, const fuzz_system *s, fuzz_precond *choice) {
  const uint64_t seed = fuzz_seed(choices);
  choice->diagonal = fuzz_vector(s->rows);
  /* far from A: x may overflow where no residual shows it */
  const int exponents = seed % 4 == 3 ? 900 : 0;
  for (int32_t i = 0; i < s->rows; i++)
    choice->diagonal[i] =
        ldexp(1.5 + fuzz_noise(seed, i, 1), (int)(exponents * fuzz_noise(seed, i, 9)));
  choice->options.callback.apply = scale;
  choice->options.callback.user = choice;
  choice->options.callback.nonlinear = seed % 8 == 5;
}

/* The pressures are found, or given in one of three ways. */
static void choose_pressures(fuzz_choices *choices, const fuzz_system *s, fuzz_precond *choice) {
  bisai_schur_options *o = &choice->options.schur;
  const int how = fuzz_pick(choices, 4);
  const uint64_t seed = fuzz_seed(choices);
  if (how == 1 && s->block_size > 1) o->component = (int32_t)(seed % (uint64_t)s->block_size);
  if (how == 2 && s->rows > 0) o->from = (int32_t)(seed % (uint64_t)s->rows);
  if (how != 3) return;
  choice->pressures = fuzz_memory((size_t)s->rows + 1, sizeof *choice->pressures);
  for (int32_t i = 0; i < s->rows; i++)
    if (fuzz_mix(seed + (uint64_t)i) % 3 == 0) choice->pressures[o->row_count++] = i;
  if (o->row_count > 0) o->rows = choice->pressures;
}

static void choose_saddle(fuzz_choices *choices, const fuzz_system *s, fuzz_precond *choice) {
  bisai_precond_options *o = &choice->options;
  choose_pressures(choices, s, choice);
  o->schur.first = (bisai_schur_stage)fuzz_pick(choices, BISAI_SCHUR_STAGE_DIRECT);
  o->schur.second = (bisai_schur_stage)fuzz_pick(choices, BISAI_SCHUR_STAGE_DIRECT);
  o->schur.complement = (bisai_schur_complement)fuzz_pick(choices, 4);
  o->schur.form = (bisai_schur_form)fuzz_pick(choices, 3);
  if (o->schur.first <= BISAI_SCHUR_STAGE_MULTIGRID ||
      o->schur.second <= BISAI_SCHUR_STAGE_MULTIGRID)
    choose_levels(choices, &o->multigrid);
  if (fuzz_rarely(choices, 2)) o->shift = BISAI_SHIFT_IN_BLOCKS;
  if (o->shift) o->shift_amount = pow(10, fuzz_between(choices, -12, 1));
  fuzz_scene(SCENE_PRECOND,
             "schur: component %d, from %d, %d rows, first %d, second %d, complement %d, form %d, "
             "shift %g, cycle %d, smoother %d, pre %d, post %d, nodes %d, coarsest %d, levels %d",
             (int)o->schur.component, (int)o->schur.from, (int)o->schur.row_count,
             (int)o->schur.first, (int)o->schur.second, (int)o->schur.complement,
             (int)o->schur.form, o->shift_amount, (int)o->multigrid.cycle,
             (int)o->multigrid.smoother, (int)o->multigrid.pre, (int)o->multigrid.post,
             (int)o->multigrid.nodes, (int)o->multigrid.coarsest, (int)o->multigrid.levels);
}

/* Kinds behind a byte of their own, so that the bytes of older cases keep their meaning. */
static bisai_precond_kind choose_complete(fuzz_choices *choices, const fuzz_system *s,
                                          bisai_precond_options *o) {
  static const bisai_precond_kind kinds[] = {BISAI_PRECOND_NONE, BISAI_PRECOND_LU, BISAI_PRECOND_LU,
                                             BISAI_PRECOND_DIRECT, BISAI_PRECOND_AUTO};
  const int chosen = fuzz_pick(choices, 255);
  const bisai_precond_kind kind = kinds[chosen % (s->large ? 3 : 5)];
  if (kind == BISAI_PRECOND_NONE && chosen / 15 % 2 == 1 && !s->large) return BISAI_PRECOND_SCHUR;
  if (kind == BISAI_PRECOND_LU && fuzz_rarely(choices, 3)) o->lu.storage = BISAI_FP32;
  return kind;
}

static bool has_factors(bisai_precond_kind kind) {
  return kind == BISAI_PRECOND_ISAI || kind == BISAI_PRECOND_ILU || kind == BISAI_PRECOND_SWEEPS;
}

/* One byte: its last two bits equilibrate, the others match and enlarge pivots. */
static void choose_diagonal(fuzz_choices *choices, bisai_precond_kind kind,
                            bisai_precond_options *o) {
  const int chosen = fuzz_pick(choices, 252);
  o->factor.equilibrate = chosen % 4 == 3;
  if (has_factors(kind) && chosen / 32 == 3) o->factor.least_pivot = 1e-4;
  if (!(has_factors(kind) && !o->isai.symmetric) && kind != BISAI_PRECOND_LU) return;
  if (o->factor.ordering == BISAI_ORDERING_GIVEN) return;
  if (chosen / 4 % 8 == 5) o->factor.matching = BISAI_MATCHING_ENTRIES;
  if (chosen / 4 % 8 == 6) o->factor.matching = BISAI_MATCHING_BLOCKS;
}

/* Three relaxation sweeps stand for ISAI of the matrix, so that the bytes of older cases keep their
 * meaning. */
static void take_matrix(const fuzz_system *s, bisai_precond_kind kind, bisai_precond_options *o) {
  if (kind != BISAI_PRECOND_ISAI || o->isai.relax < 3 || s->large) return;
  o->isai.of = BISAI_INVERSE_OF_MATRIX;
  o->isai.relax = 0;
  if (!o->isai.symmetric) o->isai.column_limit = 0;
  o->shift = BISAI_SHIFT_NONE;
  o->shift_amount = bisai_precond_options_default().shift_amount;
  o->factor.level = 0;
  o->factor.least_pivot = 0;
  o->factor.matching = BISAI_MATCHING_NONE;
}

void fuzz_precond_make(fuzz_choices *choices, const fuzz_system *s, fuzz_precond *choice) {
  static const bisai_precond_kind kinds[] = {
      BISAI_PRECOND_ISAI,   BISAI_PRECOND_NONE,      BISAI_PRECOND_BJACOBI, BISAI_PRECOND_ILU,
      BISAI_PRECOND_SWEEPS, BISAI_PRECOND_MULTIGRID, BISAI_PRECOND_CPR,     BISAI_PRECOND_CALLBACK};
  /* as bisai_cpr_second_stage; NONE: auto has no options */
  static const bisai_precond_kind seconds[] = {BISAI_PRECOND_NONE, BISAI_PRECOND_ISAI,
                                               BISAI_PRECOND_ILU, BISAI_PRECOND_SWEEPS,
                                               BISAI_PRECOND_BJACOBI};
  static const int levels[] = {0, 0, 1, 2, 3, INT32_MAX};
  *choice = (fuzz_precond){.options = bisai_precond_options_default()};
  bisai_precond_options *o = &choice->options;
  o->kind = kinds[fuzz_pick(choices, 8)];
  if (o->kind == BISAI_PRECOND_NONE) o->kind = choose_complete(choices, s, o);
  if (o->kind == BISAI_PRECOND_SCHUR) {
    choose_saddle(choices, s, choice);
    return;
  }
  if (o->kind == BISAI_PRECOND_CPR) choose_stages(choices, s, choice);
  const bisai_precond_kind kind = o->kind == BISAI_PRECOND_CPR ? seconds[o->cpr.second] : o->kind;
  if (o->kind == BISAI_PRECOND_MULTIGRID) choose_levels(choices, &o->multigrid);
  if (o->kind == BISAI_PRECOND_MULTIGRID && fuzz_rarely(choices, 4))
    choose_null_vectors(choices, s, choice);
  if (kind == BISAI_PRECOND_BJACOBI) choose_blocks(choices, s, choice);
  if (kind == BISAI_PRECOND_ISAI) choose_inverses(choices, s->large, o);
  if (kind == BISAI_PRECOND_CALLBACK) choose_callback(choices, s, choice);
  if (kind == BISAI_PRECOND_SWEEPS) o->sweeps.count = fuzz_pick(choices, 5);
  if (kind == BISAI_PRECOND_ILU) o->ilu.schedule = (bisai_schedule)fuzz_pick(choices, 3);
  const bool factors = has_factors(kind);
  if (factors) o->factor.level = levels[fuzz_pick(choices, s->large ? 3 : 6)];
  if ((factors || kind == BISAI_PRECOND_BJACOBI || kind == BISAI_PRECOND_LU) &&
      fuzz_rarely(choices, 2)) {
    o->shift = BISAI_SHIFT_IN_BLOCKS;
    o->shift_amount = pow(10, fuzz_rarely(choices, 8) ? fuzz_between(choices, -120, 120)
                                                      : fuzz_between(choices, -12, 1));
  }
  o->factor.ordering = (bisai_ordering)(fuzz_rarely(choices, 2) ? fuzz_pick(choices, 5) : 0);
  /* Complete factors of a large matrix in the order of colours have more fill than memory holds. */
  if (kind == BISAI_PRECOND_LU && s->large) o->factor.ordering = BISAI_ORDERING_NATURAL;
  if (o->factor.ordering == BISAI_ORDERING_GIVEN) choose_permutation(choices, s, choice);
  choose_diagonal(choices, kind, o);
  take_matrix(s, kind, o);
  fuzz_scene(
      SCENE_PRECOND,
      "preconditioner: kind %d, of %d, power %d, relax %d, sweeps %d, storage %d, schedule %d, "
      "level %d, shift %d by "
      "%g, drop %g, "
      "limit %d, ordering %d, equilibrate %d, matching %d, pivots %g, max_block %d, %d "
      "blocks given, form %d, "
      "digits %d, formats %d, extraction %d, "
      "symmetric %d, pressure %d, second %d, additive %d, keep %d %d, weights %d %d, cycle "
      "%d, smoother %d, pre %d, post %d, nodes %d, strength %g, complexity %g, coarsest %d, "
      "levels %d, null vectors %d, unweighted %d, update %d",
      (int)o->kind, (int)o->isai.of, o->isai.power, o->isai.relax, o->sweeps.count,
      (int)(o->kind == BISAI_PRECOND_BJACOBI ? o->bjacobi.storage : o->isai.storage),
      (int)o->ilu.schedule, o->factor.level, (int)o->shift, o->shift_amount, o->isai.drop_tolerance,
      (int)o->isai.column_limit, (int)o->factor.ordering, (int)o->factor.equilibrate,
      (int)o->factor.matching, o->factor.least_pivot, (int)o->bjacobi.max_block,
      (int)o->bjacobi.block_count, (int)o->bjacobi.form, o->bjacobi.digits, (int)o->bjacobi.formats,
      (int)o->bjacobi.extraction, (int)o->isai.symmetric, (int)o->cpr.pressure, (int)o->cpr.second,
      (int)o->cpr.additive, (int)o->cpr.keep_pressure, (int)o->multigrid.keep_transfers,
      o->cpr.weights != NULL, o->cpr.storage != NULL, (int)o->multigrid.cycle,
      (int)o->multigrid.smoother, (int)o->multigrid.pre, (int)o->multigrid.post,
      (int)o->multigrid.nodes, o->multigrid.strength, o->multigrid.complexity,
      (int)o->multigrid.coarsest, (int)o->multigrid.levels, (int)o->multigrid.null_count,
      (int)o->multigrid.unweighted, (int)o->multigrid.update);
}

bool fuzz_update_allocates(const bisai_precond_options *o, bool first) {
  const bool levels = o->kind == BISAI_PRECOND_MULTIGRID || o->kind == BISAI_PRECOND_CPR ||
                      o->kind == BISAI_PRECOND_SCHUR || o->kind == BISAI_PRECOND_AUTO;
  return levels && (o->multigrid.update == BISAI_MULTIGRID_UPDATE_LEAN ||
                    (first && o->multigrid.update == BISAI_MULTIGRID_UPDATE_AUTO));
}

void fuzz_precond_free(fuzz_precond *choice) {
  free(choice->block_ptr);
  free(choice->permutation);
  free(choice->pressures);
  free(choice->weights);
  free(choice->null_vectors);
  free(choice->diagonal);
}

bisai_solver_options fuzz_solver_options(fuzz_choices *choices, const fuzz_system *s) {
  static const double tolerances[] = {1e-8, 1e-10, 1e-6, 1e-3, 0.1, 1e-13, 1e-15,
                                      0,    0.4,   0.5,  0.7,  0.9, 0.999, 1e-300};
  static const int limits[] = {100, 300, 1, 2, 5, 30, 0};
  static const int restarts[] = {30, 1, 2, 5, 40, INT32_MAX};
  bisai_solver_options o = bisai_solver_options_default();
  o.method = (bisai_method)fuzz_pick(choices, 4);
  o.cg.assume_symmetric = true; /* so that CG meets systems of all kinds */
  o.tolerance = tolerances[fuzz_pick(choices, 14)];
  o.max_iterations = limits[fuzz_pick(choices, 7)];
  const int affordable = s->rows > 50000 ? 3 : s->large ? 30 : 300;
  if (o.max_iterations > affordable) o.max_iterations = affordable;
  if (o.method == BISAI_GMRES) {
    o.gmres.restart = restarts[fuzz_pick(choices, 6)];
    o.gmres.side = (bisai_side)fuzz_pick(choices, 2);
    o.gmres.flexible = o.gmres.side == BISAI_RIGHT && fuzz_rarely(choices, 3);
    o.gmres.orthogonalization = (bisai_orthogonalization)fuzz_pick(choices, 4);
  }
  if (o.method == BISAI_CG) o.cg.assume_symmetric = !fuzz_rarely(choices, 2);
  if (o.method == BISAI_IDR)
    o.idr.shadow_dimension = fuzz_between(choices, 1, s->large ? 4 : BISAI_MAX_SHADOW_DIMENSION);
  o.stagnation_cycles = fuzz_rarely(choices, 4) ? fuzz_pick(choices, 4) : 10;
  if (o.method == BISAI_CG) o.cg.flexible = fuzz_rarely(choices, 3);
  return o;
}
