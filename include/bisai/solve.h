/* SPDX-License-Identifier: BSD-3-Clause */
/** @file solve.h
 *  Solves A x = b with a preconditioner and a Krylov method that are chosen for the system.
 *
 *  bisai_solve() is one call. A bisai_auto_solver keeps what it has chosen: the next solves with
 *  the same matrix use it, and so do solves with new values on the same pattern. If the iterations
 *  double, the next solve chooses again. */
#ifndef BISAI_SOLVE_H
#define BISAI_SOLVE_H

#include <bisai/krylov.h>
#include <bisai/precond.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A solver that chooses. */
typedef struct bisai_auto_solver bisai_auto_solver;

/** Options; start from bisai_solve_options_default(). */
typedef struct bisai_solve_options {
  /** set by bisai_solve_options_default() */
  size_t struct_size;
  /** the preconditioner. Kind AUTO, the default: it is chosen. Its options are precond.automatic,
   *  and precond.multigrid.null_vectors for the candidate MULTIGRID. The array is read by every
   *  choice: it must live as long as the solver */
  bisai_precond_options precond;
  /** the solver; its tolerance, max_iterations, initial guess and monitor hold for all trials
   *  together */
  bisai_solver_options solver;
  /** true: solver.method and the options of that method are used as they are. Default false: the
   *  method is chosen too. Implied if `precond` is not AUTO */
  bool solver_given;
} bisai_solve_options;

/** Returns the default options. */
BISAI_API bisai_solve_options bisai_solve_options_default(void);

/** How the system was solved. */
typedef struct bisai_solve_report {
  /** set by the caller to sizeof(bisai_solve_report) */
  size_t struct_size;
  /** the options that solve the system again without a choice; what they point to is the
   *  caller's */
  bisai_precond_options precond_options;
  bisai_solver_options solver_options;
  /** the preconditioner that solved the system; zeros if none did */
  bisai_precond_report precond;
  /** the solve by that preconditioner. The history is that of the last trial, and is NULL after
   *  bisai_solve() */
  bisai_solver_report solver;
  /** the trials; NULL after bisai_solve() */
  bisai_auto_report choice;
  /** seconds of the whole call */
  double seconds;
  /** one sentence: what was chosen and why, or why nothing was */
  char reason[320];
} bisai_solve_report;

/** Solves A x = b. bisai_auto_solver_create(), bisai_auto_solver_solve() and
 *  bisai_auto_solver_destroy() in one call, whose errors are those of the second.
 *  @param options  NULL: the defaults
 *  @param report   out unless NULL */
BISAI_API bisai_status bisai_solve(bisai_context *context, const bisai_bcsr *matrix,
                                   const double *b, double *x, const bisai_solve_options *options,
                                   bisai_solve_report *report);

/** Creates a solver that has chosen nothing yet.
 *  @param options  NULL: the defaults
 *  @param solver   out; unchanged on failure; free with bisai_auto_solver_destroy()
 *  @retval BISAI_INVALID_ARGUMENT  NULL, or an option, which the message names
 *  @retval BISAI_OUT_OF_MEMORY */
BISAI_API bisai_status bisai_auto_solver_create(bisai_context *context,
                                                const bisai_solve_options *options,
                                                bisai_auto_solver **solver);

/** Frees *solver and sets it to NULL; accepts NULL and pointers to NULL. */
BISAI_API void bisai_auto_solver_destroy(bisai_auto_solver **solver);

/** Takes new values of the matrix, on the pattern of the last solve. The preconditioner is updated
 *  by the next solve. Not needed before the first solve. */
BISAI_API void bisai_auto_solver_update(bisai_auto_solver *solver);

/** Solves A x = b. The first call chooses. Later calls use what was chosen, and choose again if the
 *  matrix has another pattern, if the update of the preconditioner fails, if the solve fails, or
 *  after a solve that took more than twice the iterations of the first one.
 *  @param matrix  square; it must live until the next call with another matrix
 *  @param b       rows of the matrix, padding included, in host or backend memory
 *  @param x       out, and in if solver.use_initial_guess
 *  @param report  out unless NULL
 *  @retval BISAI_OK  the true residual is at most tolerance·‖b‖, as bisai_solver_solve() says
 *  @retval BISAI_STAGNATED  nothing solved the system within the budget. x is the best found, and
 *      the message says what was tried. Or A is singular and b has no solution: Aᵀ maps a constant
 *      v to zero, and |vᵀb|/(‖v‖‖b‖), which no relative residual is below, is more than twice the
 *      tolerance. Then nothing is tried unless precond.kind is given, and x is the first guess. If
 *      the sums of the columns are not zero but s times their magnitudes, this needs also
 *      2⁻⁵² |vᵀb|/(‖v‖‖b‖) above s times the tolerance: an x whose rounding alone exceeds the
 *      tolerance is no solution. bisai_project() makes b consistent
 *  @retval BISAI_MAX_ITERATIONS, BISAI_STOPPED  as of bisai_solver_solve()
 *  @retval BISAI_NOT_FINITE  b or the initial guess; the message names the row. x is 0 or the guess
 *  @retval BISAI_INVALID_ARGUMENT, BISAI_OUT_OF_MEMORY */
BISAI_API bisai_status bisai_auto_solver_solve(bisai_auto_solver *solver, const bisai_bcsr *matrix,
                                               const double *b, double *x,
                                               bisai_solve_report *report);

/** Returns the preconditioner in use, or NULL. The solver owns it until its next solve. */
BISAI_API const bisai_precond *bisai_auto_solver_precond(const bisai_auto_solver *solver);

#ifdef __cplusplus
}
#endif
#endif
