/* SPDX-License-Identifier: BSD-3-Clause */
/* Restarted GMRES for A x = b, b and x of n values. From r = b − A x, β = ‖r‖, V_0 = r/β, a cycle
 * of m steps builds
 *
 *   right     A M⁻¹ V_m = V_{m+1} H       x ← x + M⁻¹ V_m y
 *   flexible  A Z_m = V_{m+1} H           x ← x + Z_m y,      z_j = M_j⁻¹ v_j
 *   left      M⁻¹ A V_m = V_{m+1} H       x ← x + V_m y,      r and β of M⁻¹(b − A x)
 *
 * with orthonormal V (n × (m+1)), Hessenberg H ((m+1) × m) and y = argmin ‖β e₁ − H y‖ by Givens
 * rotations, whose last right-hand side entry is the residual estimate. Source: Saad, Iterative
 * Methods for Sparse Linear Systems, 6.5.3, 9.3.1, 9.3.2, 9.4.1.
 *
 * Memory traffic bounds Gram–Schmidt on long vectors. Late vectors of V are therefore rounded to
 * fp32. M⁻¹ is applied to the rounded vector, so that an error of A M⁻¹ V = V H is only that of
 * rounding v_{j+1}: 3·10⁻⁸ of h_{j+1,j}, on average. It enters the residual times y_j, which is as
 * small as the residual was at that step: the errors that a method may make grow as its residual
 * falls (Simoncini and Szyld, SIAM J. Sci. Comput. 25 (2003) 454–477). Vectors are rounded once the
 * estimate is at most ROUNDING times the target, so that the residual errs by some 5 % of the
 * target, and if the first cycle is going to end there. Solves that restart round nothing: the
 * number of their iterations may change by hundredths with the last digits of a vector. */
#include <limits.h>
#include <math.h>

#include "core/context/context_impl.h"
#include "krylov/passes/krylov_ops.h"
#include "krylov/run/late_products.h"
#include "krylov/run/memory.h"
#include "krylov/run/operations.h"
#include "krylov/run/residual.h"

typedef struct gmres_state {
  /* m + 1 vectors v_j; the first is the solver's `residual` */
  double *basis;
  /* FGMRES: m vectors z_j, an allocation of their own */
  double *search;
  /* as in bsi_cycle */
  double *hessenberg, *cosines, *sines, *rhs;
  /* Vᵀw of the two passes of Gram–Schmidt */
  double *products, *products2;
  /* y of V y */
  double *coefficients;
  /* where vectors may be rounded: v_j in fp64, and A M⁻¹ v_j. Otherwise NULL */
  double *rounded, *image;
  /* the first vector of the cycle that is rounded; INT_MAX: none so far */
  int wide;
} gmres_state;

/* Vectors are rounded while the estimate is at most that many times the target. */
static const double ROUNDING = 0x1p20;

static gmres_state *gmres_of(const bisai_solver *solver) { return (gmres_state *)solver->state; }

static const char *const sides[] = BSI_OPTION_WORDS(BISAI_SIDE_LIST);
static const char *const orthogonalizations[] = BSI_OPTION_WORDS(BISAI_ORTHOGONALIZATION_LIST);

static const bisai_option option_table[] = {
    {BSI_SOLVER_OPTION(gmres.restart), .name = "restart", .key = "restart", .placeholder = "M",
     .help = "m of GMRES(m)", .type = BISAI_OPTION_INTEGER, .use = BISAI_OPTION_SHOWN,
     .initial = 30, .minimum = 1, .maximum = INT32_MAX, .advised = INT32_MAX},
    {BSI_SOLVER_OPTION(gmres.side), .name = "side", .key = "side",
     .help = "side of the preconditioner", .type = BISAI_OPTION_WORD, .maximum = BISAI_LEFT,
     .advised = BISAI_LEFT, .words = sides},
    {BSI_SOLVER_OPTION(gmres.flexible), .name = "flexible", .key = "flexible",
     .help = "the preconditioner may differ from one application to the next",
     .type = BISAI_OPTION_FLAG, .use = BISAI_OPTION_SHOWN},
    {BSI_SOLVER_OPTION(gmres.orthogonalization), .name = "orthogonalization",
     .key = "orthogonalization", .help = "how the basis is made orthogonal",
     .type = BISAI_OPTION_WORD, .initial = BISAI_CLASSICAL_SELECTIVE,
     .maximum = BISAI_CLASSICAL_SELECTIVE, .advised = BISAI_CLASSICAL_SELECTIVE,
     .words = orthogonalizations},
    {BSI_SOLVER_OPTION(gmres.fp64_basis), .name = "fp64_basis", .key = "fp64",
     .help = "all vectors of the basis are in fp64, also those that may be rounded",
     .type = BISAI_OPTION_FLAG}};

static bisai_status check_options(bisai_context *context, const bisai_solver_options *o) {
  const bisai_gmres_options *gmres = &o->gmres;
  if (gmres->flexible && gmres->side == BISAI_LEFT)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT,
                    "flexible GMRES preconditions on the right only");
  if (o->method != BISAI_GMRES &&
      (gmres->flexible || gmres->side == BISAI_LEFT || gmres->fp64_basis))
    return bsi_fail(context, BISAI_INVALID_ARGUMENT,
                    "%s: gmres.flexible, gmres.side and gmres.fp64_basis are options of gmres",
                    bisai_method_string(o->method));
  return BISAI_OK;
}

static bool takes_nonlinear(const bisai_solver_options *o) { return o->gmres.flexible; }

static double *basis_vector(const bisai_solver *solver, int j) {
  return gmres_of(solver)->basis + (int64_t)j * solver->ld;
}

/* Vector j in fp32. */
static float *narrow_vector(const bisai_solver *solver, int j) {
  return (float *)(void *)basis_vector(solver, j);
}

/* The first `count` vectors. */
static bsi_basis basis_of(const bisai_solver *solver, int count) {
  const gmres_state *g = gmres_of(solver);
  return (bsi_basis){solver->n, count, g->basis, solver->ld, count > g->wide ? count - g->wide : 0};
}

static bool flexible(const bsi_solver_run *run) {
  return run->system.precond && run->solver->options.gmres.flexible;
}

/* Left preconditioning: V_0 ← M⁻¹ V_0, *beta ← its norm, and at the first start the reference ←
 * ‖M⁻¹b‖, which is the same norm if x = 0. */
static bisai_status measure(bsi_solver_run *run, double *beta) {
  bisai_solver *s = run->solver;
  const gmres_state *g = gmres_of(s);
  if (!bsi_preconditioned_left(run)) return BISAI_OK;
  const bsi_backend *backend = bsi_backend_of(run);
  if (run->cycle.end == BSI_CYCLE_NONE && s->options.use_initial_guess) {
    double *scaled = basis_vector(s, 1);
    BSI_TRY(bsi_multiple(run, run->scaling.vectors, run->system.b, scaled));
    BSI_TRY(bsi_precondition(run, scaled, s->vectors.spare));
    BSI_TRY(bsi_norm(run, s->vectors.spare, &run->norms.reference));
  }
  BSI_TRY(bsi_precondition(run, g->basis, s->vectors.spare));
  BSI_TRY(backend->vectors->copy(s->context, s->n, s->vectors.spare, g->basis));
  BSI_TRY(bsi_norm(run, g->basis, beta));
  if (run->cycle.end == BSI_CYCLE_NONE && !s->options.use_initial_guess)
    run->norms.reference = *beta;
  return BISAI_OK;
}

/* V_0 ← V_0/β, g ← β e₁ */
static bisai_status prepare(bsi_solver_run *run, double *seen) {
  const bisai_solver *s = run->solver;
  const gmres_state *g = gmres_of(s);
  return bsi_backend_of(run)->krylov->basis->start(s->context, s->n, s->scalars.norm2, g->basis,
                                                   g->rhs, seen);
}

/* Returns true if vectors are rounded from step j on. */
static bool may_round(const bsi_solver_run *run, int j) {
  const bsi_forecast *f = &run->forecast;
  const double target = run->norms.target;
  return gmres_of(run->solver)->rounded && run->counts.cycles == 1 &&
         bsi_forecast_before(f, j) <= ROUNDING * target &&
         bsi_forecast_ends(f, target, run->cycle.steps.limit);
}

static bisai_status start(bsi_solver_run *run, double beta) {
  const bisai_solver *s = run->solver;
  (void)beta;
  gmres_of(s)->wide = INT_MAX;
  return run->cycle.prepared ? BISAI_OK : prepare(run, s->status.words + 2 * s->status.slots);
}

/* w ← A M⁻¹ v_j, or M⁻¹ A v_j with left preconditioning */
static bisai_status expand(bsi_solver_run *run, int j, double *w) {
  bisai_solver *s = run->solver;
  const gmres_state *g = gmres_of(s);
  const double *v = j < g->wide ? basis_vector(s, j) : g->rounded;
  if (!run->system.precond) return bsi_multiply(run, v, w);
  if (s->options.gmres.side == BISAI_LEFT) {
    BSI_TRY(bsi_multiply(run, v, s->vectors.spare));
    return bsi_precondition(run, s->vectors.spare, w);
  }
  double *z = s->options.gmres.flexible ? g->search + (int64_t)j * s->ld : s->vectors.spare;
  BSI_TRY(bsi_precondition(run, v, z));
  return bsi_multiply_in_step(run, z, w,
                              j + 2 <= s->options.gmres.restart ? basis_vector(s, j + 2) : NULL);
}

/* products ← V_{j+1}ᵀw, w ← w − V_{j+1}(V_{j+1}ᵀw), norm2 ← w·w. If a second pass was made,
 * *refined is true, and products2 has its products. */
static bisai_status orthogonalize(bsi_solver_run *run, int j, double *w, bool *refined) {
  bisai_solver *s = run->solver;
  const gmres_state *g = gmres_of(s);
  const bsi_basis basis = basis_of(s, j + 1);
  *refined = false;
  if (s->options.gmres.orthogonalization == BISAI_MODIFIED) {
    for (int i = 0; i <= j; i++) {
      BSI_TRY(bsi_dot(run, 1, basis_vector(s, i), w, g->products + i));
      BSI_TRY(bsi_subtract(run, 1, basis_vector(s, i), g->products + i, w, i == j));
    }
    return BISAI_OK;
  }
  const bool always = s->options.gmres.orthogonalization == BISAI_CLASSICAL_REFINED;
  bool again = always;
  BSI_TRY(bsi_dot_basis(run, basis, w, g->products));
  BSI_TRY(bsi_subtract_basis(run, basis, g->products, w, !always));
  if (s->options.gmres.orthogonalization == BISAI_CLASSICAL_SELECTIVE)
    BSI_TRY(bsi_backend_of(run)->krylov->gmres->cancelled(s->context, j + 1, g->products,
                                                          s->scalars.norm2, &again));
  if (again) BSI_TRY(bsi_dot_basis(run, basis, w, g->products2));
  if (again) BSI_TRY(bsi_subtract_basis(run, basis, g->products2, w, true));
  *refined = again;
  return BISAI_OK;
}

/* Returns true if the backend can do the rest of step j in one operation. Sums over processes would
 * interrupt it, and modified Gram–Schmidt has no such form. */
static bool fused(const bsi_solver_run *run, int j) {
  const bisai_solver_options *options = &run->solver->options;
  return j < bsi_backend_of(run)->krylov->gmres->fused_columns && !options->reduce &&
         options->gmres.orthogonalization != BISAI_MODIFIED;
}

/* The data of a cycle whose step j has the status `words`. */
static bsi_cycle cycle_of(const bisai_solver *s, int j, double *words) {
  const gmres_state *g = gmres_of(s);
  return (bsi_cycle){.n = s->n,
                     .ld = s->ld,
                     .m = s->options.gmres.restart,
                     .basis = g->basis,
                     .hessenberg = g->hessenberg,
                     .cosines = g->cosines,
                     .sines = g->sines,
                     .rhs = g->rhs,
                     .status = words - 2 * (int64_t)j,
                     .work = s->work,
                     .narrow = basis_of(s, j + 1).narrow,
                     .w = j + 1 < g->wide ? NULL : g->image,
                     .next = j + 1 < g->wide ? NULL : g->rounded};
}

static bisai_status fused_step(bsi_solver_run *run, int j, double *words) {
  const bisai_solver *s = run->solver;
  const bisai_orthogonalization kind = s->options.gmres.orthogonalization;
  const bsi_cycle cycle = cycle_of(s, j, words);
  return bsi_backend_of(run)->krylov->gmres->step(s->context, &cycle, j,
                                                  kind == BISAI_CLASSICAL ? BSI_PASSES_ONE
                                                  : kind == BISAI_CLASSICAL_REFINED
                                                      ? BSI_PASSES_TWO
                                                      : BSI_PASSES_SELECTIVE);
}

/* Enqueues column j of H and v_{j+1}. The status of the step will be the estimate and h_{j+1,j};
 * the latter is 0 if the Krylov space is exhausted. */
static bisai_status step(bsi_solver_run *run, int j, double *words) {
  bisai_solver *s = run->solver;
  gmres_state *g = gmres_of(s);
  const bsi_backend *backend = bsi_backend_of(run);
  if (j + 1 < g->wide && (j + 1) % BSI_BASIS_GROUP == 0 && may_round(run, j)) g->wide = j + 1;
  double *w = j + 1 < g->wide ? basis_vector(s, j + 1) : g->image;
  bool refined = false;
  BSI_TRY(expand(run, j, w));
  if (fused(run, j)) return fused_step(run, j, words);
  BSI_TRY(orthogonalize(run, j, w, &refined));
  const bsi_cycle cycle = cycle_of(s, j, words);
  BSI_TRY(backend->krylov->gmres->rotate(s->context, &cycle, j, g->products,
                                         refined ? g->products2 : NULL, s->scalars.norm2));
  BSI_TRY(backend->krylov->basis->scale_by_norm(s->context, s->n, s->scalars.norm2, w, w));
  if (j + 1 < g->wide) return BISAI_OK;
  return backend->krylov->basis->round(s->context, s->n, w, g->rounded, narrow_vector(s, j + 1));
}

static void judge(bsi_solver_run *run, const double *words) {
  if (words[0] <= run->norms.target) {
    run->cycle.end = BSI_CYCLE_TARGET;
  } else if (words[1] == 0) {
    run->cycle.end = BSI_CYCLE_BREAKDOWN;
    run->cycle.breakdown = BISAI_BREAKDOWN_SPACE;
    /* the first entry of R, which only a message needs */
    const bisai_solver *s = run->solver;
    if (bsi_backend_of(run)->memory->fetch(s->context, &run->cycle.growth, gmres_of(s)->hessenberg,
                                           sizeof run->cycle.growth))
      run->cycle.growth = 0;
  }
}

/* Adds the correction of the cycle to x. */
static bisai_status correct(bsi_solver_run *run, int columns) {
  bisai_solver *s = run->solver;
  const gmres_state *g = gmres_of(s);
  const bsi_backend *backend = bsi_backend_of(run);
  BSI_TRY(backend->krylov->gmres->coefficients(s->context, s->options.gmres.restart, columns,
                                               g->hessenberg, g->rhs, g->coefficients));
  const double factor = run->scaling.products / run->scaling.vectors;
  if (flexible(run))
    return bsi_add(run, columns, g->search, g->coefficients, factor, run->system.x);
  if (!run->system.precond || bsi_preconditioned_left(run))
    return bsi_add_basis(run, basis_of(s, columns), g->coefficients, factor, run->system.x);
  double *sum = basis_vector(s, columns);
  BSI_TRY(backend->vectors->set(s->context, s->n, 0, sum));
  BSI_TRY(bsi_add_basis(run, basis_of(s, columns), g->coefficients, 1, sum));
  BSI_TRY(bsi_precondition(run, sum, s->vectors.spare));
  return bsi_add(run, 1, s->vectors.spare, s->scalars.one, factor, run->system.x);
}

static int longest_cycle(const bisai_solver *solver) { return solver->options.gmres.restart; }

/* The Krylov space has at most n dimensions, and a cycle has at most max_iterations steps. A larger
 * restart is the same method and would only take memory. With a reduction hook n is only a part of
 * the unknowns. */
static int useful_restart(const bisai_solver *solver) {
  const bisai_solver_options *o = &solver->options;
  int64_t bound = o->gmres.restart < o->max_iterations ? o->gmres.restart : o->max_iterations;
  if (!o->reduce && solver->n < bound) bound = solver->n;
  return bound > 0 ? (int)bound : 1;
}

static bool reserve_scalars(bisai_solver *solver, size_t m) {
  gmres_state *g = gmres_of(solver);
  double *next = bsi_reserve(solver, (m + 1) * (m + 6) + 4, sizeof(double));
  if (!next) return false;
  solver->scalars.memory = next;
  g->hessenberg = next;
  g->cosines = (next += (m + 1) * m);
  g->sines = (next += m + 1);
  g->rhs = (next += m + 1);
  g->products = (next += m + 1);
  g->products2 = (next += m + 1);
  g->coefficients = (next += m + 1);
  solver->scalars.norm2 = (next += m + 1);
  solver->scalars.one = next + 1;
  solver->scalars.shrink = next + 2;
  solver->scalars.x_norm2 = next + 3;
  return true;
}

/* Returns true if memory traffic bounds Gram–Schmidt. Modified Gram–Schmidt takes one vector at a
 * time, and reads all of them in fp64. */
static bool may_ever_round(const bisai_solver *solver) {
  const bisai_gmres_options *o = &solver->options.gmres;
  return !o->fp64_basis && o->orthogonalization != BISAI_MODIFIED &&
         sizeof(double) * (double)solver->ld * (o->restart + 1) >
             (double)solver->context->backend->krylov->gmres->least_rounded;
}

static bool reserve(bisai_solver *solver) {
  gmres_state *g = gmres_of(solver);
  solver->options.gmres.restart = useful_restart(solver);
  const size_t m = (size_t)solver->options.gmres.restart;
  const bool rounds = may_ever_round(solver);
  solver->vectors.memory = bsi_reserve_vectors(solver, m + (rounds ? 5 : 3));
  if (!solver->vectors.memory) return false;
  g->basis = solver->vectors.residual = solver->vectors.memory;
  solver->vectors.scratch = basis_vector(solver, 1);
  solver->vectors.spare = g->basis + (int64_t)(m + 1) * solver->ld;
  solver->vectors.best = solver->vectors.spare + solver->ld;
  g->rounded = rounds ? solver->vectors.best + solver->ld : NULL;
  g->image = rounds ? g->rounded + solver->ld : NULL;
  solver->cached_bytes = (int64_t)sizeof(double) * solver->ld * (int64_t)(m + 1);
  if (solver->options.gmres.flexible && !(g->search = bsi_reserve_vectors(solver, m))) return false;
  if (!reserve_scalars(solver, m)) return false;
  solver->status.slots = solver->options.gmres.restart;
  solver->work = bsi_reserve(solver, m + 1, BSI_CHUNKS * sizeof(double));
  return solver->work != NULL;
}

static void release(bisai_solver *solver) {
  solver->context->backend->memory->release(solver->context, gmres_of(solver)->search);
}

const bsi_method bsi_method_gmres = {.options = BSI_OPTION_LIST(option_table),
                                     .state_size = sizeof(gmres_state),
                                     .check.options = check_options,
                                     .check.takes_nonlinear = takes_nonlinear,
                                     .release = release,
                                     .applications = 1,
                                     .restartable = true,
                                     .reserve = reserve,
                                     .cycle.longest = longest_cycle,
                                     .cycle.measure = measure,
                                     .cycle.prepare = prepare,
                                     .cycle.start = start,
                                     .cycle.step = step,
                                     .cycle.judge = judge,
                                     .cycle.correct = correct};
