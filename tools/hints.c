/* SPDX-License-Identifier: BSD-3-Clause */
#include "hints.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "empties.h"
#include "grammar.h"
#include "message.h"
#include "numbering.h"
#include "sizes.h"

/* A limit of fewer iterations than ENOUGH_ITERATIONS says nothing about the method. Complete
 * factors of up to FACTOR_ROWS rows take seconds as a rule: basker_matrix1 has 59,070. */
enum { ENOUGH_ITERATIONS = 300, FACTOR_ROWS = 100000, HINT_TEXT = 512 };

#define BY_CG "--solver cg --preconditioner mg"
#define BY_MG "--preconditioner mg"
#define BY_IDR "--solver idr:s=8 --preconditioner ilu:level=2:shift=0.01"
#define BY_MATCHED_IDR "--solver idr:s=8 --preconditioner ilu:level=2:matching=entries"
#define BY_SCHUR "--preconditioner schur --restart 100"
#define BY_LU "--preconditioner lu"
#define BY_MATCHED_LU "--preconditioner lu:matching=entries"

/* The runs, and the solver of those that are not by CG. */
typedef struct runs {
  int count;
  const run_result *results;
  bisai_method solver;
} runs;

/* Returns true if the run failed because the method does not suit the matrix. */
static bool is_unsuited(const run_result *r) {
  static const char *const reasons[] = {"missing_diagonal", "singular_block", "stagnated",
                                        "hopeless"};
  for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
    if (strcmp(r->reason, reasons[i]) == 0) return true;
  if (!r->solved) return false;
  return r->solve.reason == BISAI_REASON_BREAKDOWN ||
         (r->solve.reason == BISAI_REASON_MAX_ITERATIONS &&
          r->solve.iterations >= ENOUGH_ITERATIONS);
}

static bool are_needed(const runs *all) {
  bool unsuited = false;
  for (int i = 0; i < all->count; i++) {
    if (all->results[i].converged) return false;
    unsuited |= is_unsuited(&all->results[i]);
  }
  return unsuited;
}

static bool is_tried(const runs *all, bisai_method solver, bisai_precond_kind kind) {
  for (int i = 0; i < all->count; i++) {
    const method *m = &all->results[i].m;
    if (method_is(m, kind) && (m->by_cg ? BISAI_CG : all->solver) == solver) return true;
  }
  return false;
}

/* Returns true if complete factors were tried. `matched`: those of a matched matrix. */
static bool has_factors(const runs *all, bool matched) {
  for (int i = 0; i < all->count; i++) {
    const method *m = &all->results[i].m;
    if (method_is(m, BISAI_PRECOND_LU) &&
        (!matched || m->options.factor.matching != BISAI_MATCHING_NONE))
      return true;
  }
  return false;
}

/* Returns complete factors, of the matched matrix if the diagonal has zeros, or NULL. */
static const char *factors_for(const runs *all, const facts *f) {
  const bool matched = f->zero_diagonals > 0;
  if (f->rows > FACTOR_ROWS || has_factors(all, matched)) return NULL;
  return matched ? BY_MATCHED_LU : BY_LU;
}

/* Writes "in all rows", "in component 2 of each block" or "in components 0, 1 of each block". */
static void write_where(const constants *v, int bs, char text[HINT_TEXT]) {
  const char *comma = "";
  *text = '\0';
  if (constants_of_pressure(v)) {
    append(text, HINT_TEXT, "in rows %" PRId64 " to %" PRId64, v->first_row + 1, v->end_row);
    return;
  }
  if (v->ones || bs == 1) {
    append(text, HINT_TEXT, "in all rows");
    return;
  }
  append(text, HINT_TEXT, v->components & (v->components - 1) ? "in components " : "in component ");
  for (int c = 0; c < bs; c++) {
    if (!(v->components >> c & 1)) continue;
    append(text, HINT_TEXT, "%s%d", comma, c);
    comma = ", ";
  }
  append(text, HINT_TEXT, " of each block");
}

/* Says that A is singular and whether b is consistent. Returns false if it is not, because nothing
 * else helps then. */
static bool say_singular(bisai_context *context, const problem *p, const facts *f) {
  const int bs = bisai_bcsr_block_size(p->matrix);
  const bool right = constants_exist(&f->right);
  double part = 0;
  const bool known = facts_inconsistency(context, p->matrix, f, p->rhs, &part);
  char where[HINT_TEXT];
  write_where(right ? &f->right : &f->left, bs, where);
  if (part > p->tolerance) {
    write_where(&f->left, bs, where);
    say("%s: A is singular, and A x = b has no solution: the columns of A have the sum zero %s, "
        "and "
        "b has not (%.1e of its norm): try --project constants",
        p->name, where, part);
    return false;
  }
  say("%s: A is singular: it%s maps the constant %s to zero; %s", p->name,
      right ? "" : "s transpose", where,
      known ? "b is consistent" : "whether b is consistent is not known");
  return true;
}

/* Proposes the first two of three proposals that are not NULL. */
static void propose(const problem *p, const char *fact, const char *const proposals[3]) {
  const char *found[2] = {NULL, NULL};
  int count = 0;
  for (int i = 0; i < 3 && count < 2; i++)
    if (proposals[i]) found[count++] = proposals[i];
  if (count == 2)
    say("%s: %s: try %s, then %s", p->name, fact, found[0], found[1]);
  else if (count == 1)
    say("%s: %s: try %s", p->name, fact, found[0]);
  else
    say("%s: %s; see \"When it does not converge\" in the guide", p->name, fact);
}

/* Most diagonal entries are zero: the rows are in another order than the columns. A matching brings
 * other entries there, which solves bayer10, lhr01 and basker_matrix1. */
static void say_permuted(const problem *p, const facts *f, const char *factors, bool by_idr) {
  char fact[HINT_TEXT];
  snprintf(fact, sizeof fact, "%" PRId64 " of %" PRId64 " diagonal entries are zero",
           f->zero_diagonals, f->rows);
  propose(p, fact, (const char *const[]){factors, by_idr ? NULL : BY_MATCHED_IDR, NULL});
}

/* Some diagonal entries are zero. If these rows are not coupled with each other, they may be those
 * of a pressure: of the systems for tuning, schur solves the flows, and complete factors of the
 * matched matrix also circuits and lnsp3937. */
static void say_saddle(const runs *all, const problem *p, const facts *f, const char *factors,
                       bool by_idr) {
  const bool pressure = f->study.saddle.zero_block;
  const char *idr = by_idr ? NULL : BY_IDR;
  const int64_t first = f->first_zero + 1, last = f->last_zero + 1;
  char fact[HINT_TEXT];
  if (last - first + 1 == f->zero_diagonals && last > first)
    snprintf(fact, sizeof fact, "rows %" PRId64 " to %" PRId64 " have a zero diagonal%s", first,
             last, pressure ? " and couple like a pressure" : ", as in saddle points");
  else
    snprintf(fact, sizeof fact, "%" PRId64 " of %" PRId64 " diagonal entries are zero%s",
             f->zero_diagonals, f->rows,
             pressure ? ", and their rows couple like a pressure" : ", as in saddle points");
  if (pressure) {
    const bool tried = is_tried(all, all->solver, BISAI_PRECOND_SCHUR);
    propose(p, fact, (const char *const[]){tried ? NULL : BY_SCHUR, factors, idr});
  } else {
    propose(p, fact, (const char *const[]){idr, factors, NULL});
  }
}

static void say_zeros(const runs *all, const problem *p, const facts *f, bool by_idr) {
  const char *factors = factors_for(all, f);
  if (2 * f->zero_diagonals > f->rows)
    say_permuted(p, f, factors, by_idr);
  else
    say_saddle(all, p, f, factors, by_idr);
}

static void say_what_may_work(const runs *all, const problem *p, const facts *f) {
  const bool by_idr = is_tried(all, BISAI_IDR, BISAI_PRECOND_ILU),
             by_cg = is_tried(all, BISAI_CG, BISAI_PRECOND_MULTIGRID),
             by_mg = by_cg || is_tried(all, all->solver, BISAI_PRECOND_MULTIGRID);
  const char *idr = by_idr ? NULL : BY_IDR, *factors = factors_for(all, f);
  if (f->zero_diagonals > 0) {
    say_zeros(all, p, f, by_idr);
  } else if (facts_may_be_definite(f)) {
    propose(p,
            f->negative_diagonals ? "A is symmetric with a negative diagonal"
                                  : "A is symmetric with a positive diagonal",
            (const char *const[]){by_cg ? NULL : BY_CG, idr, factors});
  } else if (f->mixed_signs) {
    char fact[HINT_TEXT];
    snprintf(fact, sizeof fact,
             "%" PRId64 " of %" PRId64
             " diagonal entries are negative, so that A may be indefinite",
             f->negative_diagonals, f->rows);
    propose(p, fact, (const char *const[]){idr, factors, NULL});
  } else {
    propose(p, f->symmetric ? "A is symmetric and not definite" : "A is not symmetric",
            (const char *const[]){by_mg ? NULL : BY_MG, idr, factors});
  }
}

/* Proposes another numbering for a matrix in blocks of one value. On elasticity, mg takes a third
 * of the iterations with blocks (tet_* of bench/auto). */
static void say_numbering(bisai_context *context, const problem *p, const facts *f) {
  const int32_t fields = f->study.fields.count;
  if (p->by_node || bisai_bcsr_block_size(p->matrix) > 1) return;
  if (fields > 1)
    say("%s: the unknowns are stored in %" PRId32 " fields: try --fields %" PRId32, p->name, fields,
        fields);
  else if (numbering_has_nodes(context, p->name, p->matrix))
    say("%s: groups of rows have the same columns, as the unknowns of a node: try --nodes auto",
        p->name);
}

/* Says that no setting helps if a run has all the digits that x can have. */
static bool say_exhausted(const runs *all, const problem *p) {
  for (int i = 0; i < all->count; i++) {
    const bisai_solver_report *r = &all->results[i].solve;
    if (!all->results[i].solved || !r->exhausted) continue;
    say("%s: double precision holds no x with that residual: ask for --tolerance %.0e", p->name,
        2 * r->relative_residual);
    return true;
  }
  return false;
}

void hints_say(bisai_context *context, const options *o, problem *p, int count,
               const run_result *results) {
  const runs all = {count, results, o->solver.method};
  if (!are_needed(&all) || empties_exist(p->matrix) || say_exhausted(&all, p)) return;
  const facts *f = problem_facts(context, p);
  if (!f->known) return;
  if (f->zero_rows > 0) {
    say("%s: %" PRId64 " row%s only zeros: A is singular", p->name, f->zero_rows,
        f->zero_rows == 1 ? " has" : "s have");
    return;
  }
  if (facts_singular(f) && !say_singular(context, p, f)) return;
  say_numbering(context, p, f);
  if (p->by_node || !sizes_suggest(context, p)) say_what_may_work(&all, p, f);
}
