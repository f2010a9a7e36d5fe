/* SPDX-License-Identifier: BSD-3-Clause */
/* The candidates of a system, by what the study of its matrix says.
 *
 * Each candidate has an expected number of iterations, and the race begins with the least expected
 * work. The numbers are medians of runs of 40 settings on the systems of bench/results/auto.md that
 * are for tuning, for 5,000 rows. */
#include "choice/candidate.h"

#include <math.h>

#include "choice/work.h"
#include "core/context/context_impl.h"
#include "core/matrix/bcsr_impl.h"

/* CPR: the largest ellipticity is at least this, and all others are at most that share of it. */
#define ELLIPTIC 0.3
#define OTHERS_ELLIPTIC 0.05
/* The shift of singular diagonal blocks; it changes nothing where there are none. */
#define SHIFT 0.01
/* The least pivot of complete factors with a matching, as a share of the largest entry. With it
 * they solve 127 of 129 systems that are for tuning, without it 119. */
#define SHIFT_OF_LU 1e-6
/* More zeros on the diagonal than this share of the rows are no saddle point: the rows are in the
 * wrong order. */
#define MOST_ZEROS 0.6

/* The share of the couplings whose sign is opposite to that of the diagonal: all in M-matrices, and
 * most where multigrid smooths errors well. */
#define OF_M_MATRICES 0.97
#define OF_SMOOTH_ERRORS 0.745
/* One-sided couplings, as of convection, below which a matrix is treated as one of diffusion. */
#define LITTLE_CONVECTION 0.25

/* The share of rows that makes a matrix dominated by its diagonal. */
#define DOMINANT 0.9

enum { ROWS_OF_MULTIGRID = 500, USUAL_ROWS = 5000 };

typedef struct maker {
  const bsi_task *task;
  bsi_candidates *list;
  /* the default options, which take microseconds to collect */
  bisai_precond_options initial;
} maker;

static bisai_precond_options kind(const maker *m, bisai_precond_kind k) {
  bisai_precond_options o = m->initial;
  o.kind = k;
  return o;
}

/* Multigrid with the near-null-space vectors of the caller, or with constants. */
static bisai_precond_options multigrid(const maker *m) {
  bisai_precond_options o = kind(m, BISAI_PRECOND_MULTIGRID);
  o.multigrid.null_vectors = m->task->precond.multigrid.null_vectors;
  o.multigrid.null_count = m->task->precond.multigrid.null_count;
  return o;
}

static bisai_precond_options raised(bisai_precond_options o, double amount) {
  o.shift = BISAI_SHIFT_IN_BLOCKS;
  o.shift_amount = amount;
  return o;
}

static bisai_precond_options shifted(bisai_precond_options o) { return raised(o, SHIFT); }

static bisai_precond_options matched(bisai_precond_options o) {
  o.factor.matching = BISAI_MATCHING_ENTRIES;
  o.factor.ordering = BISAI_ORDERING_RCM;
  return o;
}

static bisai_precond_options ilu(const maker *m, int level) {
  bisai_precond_options o = kind(m, BISAI_PRECOND_ILU);
  o.factor.level = level;
  return o;
}

/* GMRES(m): m grows as far as its basis takes no more than some multiples of A. */
static bisai_solver_options gmres(const maker *m, int most) {
  enum { LEAST = 30, SMALL_BYTES = 1 << 26, MULTIPLES = 2 };
  bisai_solver_options o = m->task->solver;
  const bisai_bcsr *a = m->task->matrix;
  const double vector = 8.0 * a->block_rows * a->block_size,
               bytes = fmax(SMALL_BYTES, MULTIPLES * (double)bsi_bcsr_product_bytes(a));
  o.method = BISAI_GMRES;
  o.gmres.restart = (int)fmax(LEAST, fmin(most, bytes / fmax(vector, 1)));
  return o;
}

static bisai_solver_options idr(const maker *m) {
  bisai_solver_options o = m->task->solver;
  o.method = BISAI_IDR;
  o.idr.shadow_dimension = 8;
  return o;
}

static bisai_solver_options cg(const maker *m) {
  bisai_solver_options o = m->task->solver;
  o.method = BISAI_CG;
  return o;
}

static bsi_candidate *add(const maker *m, bisai_precond_options precond,
                          bisai_solver_options solver, double iterations) {
  if (m->list->count == BSI_CANDIDATES) return &m->list->items[BSI_CANDIDATES - 1];
  bsi_candidate *c = &m->list->items[m->list->count++];
  *c = (bsi_candidate){.precond = precond,
                       .solver = m->task->solver_given ? m->task->solver : solver,
                       .iterations = iterations};
  bsi_work_predict(m->task, c);
  return c;
}

bool bsi_task_is_saddle(const bsi_task *t) {
  return t->study->saddle.zero_block && t->matrix->block_size == 1;
}

/* Adds a complete factorisation with a guess of its work, which is as low as for a mesh of two
 * dimensions: the ordering, and 30 n^1.5 operations. Saddle points are ordered by minimum degree:
 * on 12 of 15 that are for tuning, set-up then takes 0.4 to 0.8 times as long. */
static void add_lu(const maker *m, bisai_matching matching) {
  const double n = m->task->matrix->block_rows, bs = m->task->matrix->block_size;
  bisai_precond_options lu = kind(m, BISAI_PRECOND_LU);
  lu.factor.matching = matching;
  if (bsi_task_is_saddle(m->task)) lu.factor.ordering = BISAI_ORDERING_MD;
  if (matching != BISAI_MATCHING_NONE) lu = raised(lu, SHIFT_OF_LU);
  if (m->task->precond.automatic.incomplete) return;
  bsi_candidate *c = add(m, lu, gmres(m, 30), matching == BISAI_MATCHING_NONE ? 2 : 3);
  bsi_work_guess_lu(m->task, 30 * pow(n, 1.5) * bs * bs * bs, c);
  c->estimated = bsi_task_is_saddle(m->task); /* their graph lets expect too much */
}

/* Adds complete factorisations: one that keeps the rows in their order where no diagonal entry is
 * zero, and one that does not. */
static void add_both_lu(const maker *m) {
  if (m->task->study->diagonal.zero == 0) add_lu(m, BISAI_MATCHING_NONE);
  add_lu(m, BISAI_MATCHING_ENTRIES);
}

/* How the iterations of a method of one level grow with the mesh. */
static double growth(const maker *m, double exponent) {
  return pow(fmax((double)m->task->study->entries.rows / USUAL_ROWS, 0.1), exponent);
}

static bool has_multigrid(const maker *m) {
  return m->task->study->entries.rows > ROWS_OF_MULTIGRID;
}

/* All couplings have the sign opposite to that of the diagonal. */
static bool is_like_m(const maker *m) {
  return m->task->study->couplings.opposite >= OF_M_MATRICES;
}

/* The iterations of ILU(0) and those of multigrid, by the signs of the couplings: medians of the
 * systems that are for tuning, and of the real matrices of the same signs. Where the caller knows
 * the smooth errors, the signs say nothing of them. */
static void list_by_signs(const maker *m, double by_mesh) {
  const bool scalar = m->task->matrix->block_size == 1, like_m = is_like_m(m),
             smooth = m->task->study->couplings.opposite >= OF_SMOOTH_ERRORS ||
                      m->task->precond.multigrid.null_vectors;
  const double cycles = !smooth ? 150 : !like_m ? 33 : scalar ? 14 : 25;
  add(m, ilu(m, 0), cg(m), (scalar && !like_m ? 40 : 100) * by_mesh);
  if (has_multigrid(m)) add(m, multigrid(m), cg(m), cycles);
}

/* The iterations of multigrid on a matrix that is not definite: medians of 20 systems with the
 * signs of an M-matrix and little convection, and of 29 others. It fails on most saddle points. */
static double general_cycles(const maker *m) {
  if (bsi_task_is_saddle(m->task)) return 100;
  return is_like_m(m) && m->task->study->symmetry.one_sided < LITTLE_CONVECTION ? 30 : 55;
}

static void list_definite(const maker *m) {
  const double by_mesh = growth(m, 0.5);
  const bool host = m->task->context->backend->memory->is_host;
  list_by_signs(m, by_mesh);
  if (!host) add(m, kind(m, BISAI_PRECOND_BJACOBI), cg(m), 380 * by_mesh);
  add(m, shifted(ilu(m, 1)), gmres(m, 100), 60 * by_mesh);
  add(m, shifted(ilu(m, 2)), gmres(m, 100), 50 * by_mesh);
  add(m, shifted(ilu(m, 0)), idr(m), 120 * by_mesh);
  add(m, kind(m, BISAI_PRECOND_NONE), cg(m), 1500 * by_mesh);
  add_both_lu(m);
}

/* A is far more elliptic in one unknown than in all others. */
static bool has_pressure(const bsi_task *t) {
  const bisai_study_unknowns *u = &t->study->unknowns;
  return t->matrix->block_size > 1 && u->ellipticity[u->first] >= ELLIPTIC &&
         u->ellipticity[u->second] <= OTHERS_ELLIPTIC * u->ellipticity[u->first];
}

static void list_for_device(const maker *m) {
  bisai_precond_options relaxed = kind(m, BISAI_PRECOND_ISAI),
                        large = kind(m, BISAI_PRECOND_BJACOBI);
  const double by_mesh = growth(m, 0.35);
  relaxed.isai.relax = 2;
  large.bjacobi.max_block = 32;
  add(m, shifted(relaxed), idr(m), 90 * by_mesh);
  add(m, shifted(large), gmres(m, 100), 200 * by_mesh);
}

/* The rows are in the wrong order for their columns: a matching moves large entries to the
 * diagonal. */
static void list_matched(const maker *m, double factor) {
  const double by_mesh = factor * growth(m, 0.35);
  add(m, matched(shifted(ilu(m, 1))), gmres(m, 100), 45 * by_mesh);
  add(m, matched(shifted(ilu(m, 3))), gmres(m, 100), 38 * by_mesh);
  add(m, matched(shifted(ilu(m, 6))), gmres(m, 150), 40 * by_mesh);
}

/* The iterations are medians of 5 symmetric saddle points and of 6 others: flow by mixed and
 * staggered elements. */
static void list_saddle(const maker *m) {
  bisai_precond_options by_cycles = kind(m, BISAI_PRECOND_SCHUR), by_factors = by_cycles;
  by_factors.schur.first = BISAI_SCHUR_STAGE_ILU;
  by_factors.factor.level = 1;
  add(m, by_cycles, gmres(m, 100), m->task->study->symmetry.symmetric ? 35 : 60);
  add(m, by_factors, gmres(m, 100), 65 * growth(m, 0.5));
}

/* How the iterations of methods of one level differ from those of the list: by the mesh, and fewer
 * where most rows are dominated by their diagonal. */
static double ease(const maker *m) {
  const bisai_study_couplings *c = &m->task->study->couplings;
  const double dominated = c->dominant_rows < DOMINANT ? 1 : c->opposite < 0.5 ? 0.1 : 0.45;
  return bsi_task_is_saddle(m->task) ? 1.5 * growth(m, 0.8) : dominated * growth(m, 0.35);
}

static void list_general(const maker *m) {
  const bool saddle = bsi_task_is_saddle(m->task);
  const double by_mesh = ease(m);
  if (saddle) list_saddle(m);
  if (has_pressure(m->task)) add(m, kind(m, BISAI_PRECOND_CPR), gmres(m, 60), 20);
  add(m, shifted(ilu(m, 0)), gmres(m, 100), 100 * by_mesh);
  add(m, shifted(ilu(m, 1)), gmres(m, 100), 45 * by_mesh);
  add(m, shifted(ilu(m, 2)), gmres(m, 100), 38 * by_mesh);
  add(m, shifted(ilu(m, 4)), gmres(m, 150), 42 * by_mesh);
  if (has_multigrid(m)) add(m, shifted(multigrid(m)), gmres(m, 60), general_cycles(m));
  add(m, shifted(ilu(m, 1)), idr(m), 150 * by_mesh);
  add(m, shifted(kind(m, BISAI_PRECOND_BJACOBI)), idr(m), 200 * by_mesh);
  add(m, kind(m, BISAI_PRECOND_NONE), idr(m), 1000 * by_mesh);
  if (!m->task->context->backend->memory->is_host) list_for_device(m);
  list_matched(m, 4);
  add_both_lu(m);
}

/* Most diagonal entries are zero: every method that keeps the order of the rows is for nothing. */
static void list_permuted(const maker *m) {
  list_matched(m, 1);
  add(m, kind(m, BISAI_PRECOND_NONE), idr(m), 2000);
  add_both_lu(m);
}

static bool is_permuted(const bsi_task *t) {
  return (double)t->study->diagonal.zero > MOST_ZEROS * (double)t->study->entries.rows;
}

static bool may_be_definite(const bisai_matrix_study_report *s) {
  return s->symmetry.symmetric && s->diagonal.zero == 0 &&
         (s->diagonal.negative == 0 || s->diagonal.positive == 0);
}

/* Complete factorisations come first: the iterations of other kinds count WORTH times. */
static void prefer_inverses(bsi_candidates *list) {
  enum { WORTH = 100 };
  for (int i = 0; i < list->count; i++)
    if (list->items[i].precond.kind != BISAI_PRECOND_LU) list->items[i].iterations *= WORTH;
}

bisai_status bsi_candidates_list(const bsi_task *task, bsi_candidates *list) {
  const maker m = {task, list, bisai_precond_options_default()};
  list->count = 0;
  if (task->precond_given)
    add(&m, task->precond, task->solver, 100);
  else if (may_be_definite(task->study))
    list_definite(&m);
  else if (is_permuted(task))
    list_permuted(&m);
  else
    list_general(&m);
  if (task->precond.automatic.inverse) prefer_inverses(list);
  return BISAI_OK;
}
