/* SPDX-License-Identifier: BSD-3-Clause */
/** @file krylov.h
 *  Iterative solvers for A x = b:
 *  - GMRES(m), right, left or flexibly preconditioned. Source: Saad, Iterative Methods for Sparse
 *    Linear Systems, 6.5, 9.3, 9.4.
 *  - CG, for symmetric definite A and M, of whatever signs. Source: Saad, 9.2, Algorithm 9.1.
 *  - BiCGSTAB, preconditioned from the right. Source: van der Vorst, SIAM J. Sci. Stat. Comput. 13
 *    (1992), with M⁻¹ as in Saad, 9.3.2.
 *  - IDR(s) with biorthogonalisation, preconditioned from the right. Source: van Gijzen and
 *    Sonneveld, ACM Trans. Math. Softw. 38 (2011), Algorithm 913, Figure 2.
 *
 *  All of them watch and report ‖b − A x‖₂/‖b‖₂, GMRES on the left alone that of M⁻¹(b − A x), and
 *  end by the true residual. Same input, same bits: results do not depend on threads or on what
 *  else runs. */
#ifndef BISAI_KRYLOV_H
#define BISAI_KRYLOV_H

#include <bisai/option.h>
#include <bisai/precond.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A solver with all its memory. */
typedef struct bisai_solver bisai_solver;

/** The method of a solver, and what counts as one of its iterations. */
typedef enum bisai_method {
  /** one product with A and one application of M⁻¹ an iteration; minimises the residual, keeps all
   *  directions */
  BISAI_GMRES = 0,
  /** the same; A and M symmetric, which is asked for (bisai_solver_check()), and definite, which is
   *  found out where it matters */
  BISAI_CG = 1,
  /** two products and two applications an iteration, as PETSc counts; no half iterations */
  BISAI_BICGSTAB = 2,
  /** one product and one application an iteration, so that a cycle of IDR(s) has s + 1 */
  BISAI_IDR = 3
} bisai_method;

/** The one list of methods: X(enumerator, word, name, title). The library makes its table of
 *  methods from it. `name` is the name of the source file of a method and of its options in
 *  bisai_solver_options. `title` is how the literature writes the method. */
#define BISAI_METHOD_LIST(X)                                                                       \
  X(BISAI_GMRES, "gmres", gmres, "GMRES")                                                          \
  X(BISAI_CG, "cg", cg, "CG")                                                                      \
  X(BISAI_BICGSTAB, "bicgstab", bicgstab, "BiCGSTAB")                                              \
  X(BISAI_IDR, "idr", idr, "IDR")

/** One of the methods that BISAI_METHODS counts. */
#define BISAI_METHOD_COUNT(enumerator, word, name, title) +1
/** The number of methods: they are 0 … BISAI_METHODS − 1. */
enum {
  BISAI_METHODS = 0 BISAI_METHOD_LIST(BISAI_METHOD_COUNT)
#undef BISAI_METHOD_COUNT
};

/** "gmres", "cg", "bicgstab", "idr"; "unknown method" for other values. */
BISAI_API const char *bisai_method_string(bisai_method value);

/** Looks up a word of bisai_method_string().
 *  @param value  out; untouched if the word is unknown
 *  @returns      false for unknown words and NULL */
BISAI_API bool bisai_method_parse(const char *word, bisai_method *value);

/** Describes an option that belongs to one method. Its offset counts in bisai_solver_options, and
 *  its key is written in the program's `--solver`, as in `idr:s=2`.
 *  @param index  from 0
 *  @returns      NULL for an unknown method and behind its last option; never to be freed */
BISAI_API const bisai_option *bisai_method_option(bisai_method method, int index);

/** Where the preconditioner stands: A M⁻¹ y = b with x = M⁻¹ y, or M⁻¹ A x = M⁻¹ b. */
typedef enum bisai_side { BISAI_RIGHT = 0, BISAI_LEFT = 1 } bisai_side;

/** The words of bisai_side: X(enumerator, word). */
#define BISAI_SIDE_LIST(X)                                                                         \
  X(BISAI_RIGHT, "right")                                                                          \
  X(BISAI_LEFT, "left")

/** "right", "left"; "unknown side" for other values. */
BISAI_API const char *bisai_side_string(bisai_side value);

/** Looks up a word of bisai_side_string().
 *  @param value  out; untouched where the word is unknown
 *  @returns      false for unknown words and NULL */
BISAI_API bool bisai_side_parse(const char *word, bisai_side *value);

/** How the Krylov basis is made orthogonal. */
typedef enum bisai_orthogonalization {
  /** classical Gram–Schmidt, one pass: cheapest, loses orthogonality on hard systems */
  BISAI_CLASSICAL = 0,
  /** classical Gram–Schmidt, always two passes */
  BISAI_CLASSICAL_REFINED = 1,
  /** modified Gram–Schmidt */
  BISAI_MODIFIED = 2,
  /** classical Gram–Schmidt, a second pass where the first cancelled a digit or more (Daniel,
   *  Gragg, Kaufman, Stewart 1976) */
  BISAI_CLASSICAL_SELECTIVE = 3
} bisai_orthogonalization;

/** The words of bisai_orthogonalization: X(enumerator, word). */
#define BISAI_ORTHOGONALIZATION_LIST(X)                                                            \
  X(BISAI_CLASSICAL, "classical")                                                                  \
  X(BISAI_CLASSICAL_REFINED, "classical_refined")                                                  \
  X(BISAI_MODIFIED, "modified")                                                                    \
  X(BISAI_CLASSICAL_SELECTIVE, "classical_selective")

/** "classical", "classical_refined", "modified", "classical_selective"; "unknown orthogonalization"
 *  for other values. */
BISAI_API const char *bisai_orthogonalization_string(bisai_orthogonalization value);

/** Looks up a word of bisai_orthogonalization_string().
 *  @param value  out; untouched where the word is unknown
 *  @returns      false for unknown words and NULL */
BISAI_API bool bisai_orthogonalization_parse(const char *word, bisai_orthogonalization *value);

/** Why a solve ended. */
typedef enum bisai_reason {
  BISAI_REASON_NONE = 0,
  /** x is finite and its true residual small enough: see bisai_solver_solve() */
  BISAI_REASON_CONVERGED = 1,
  BISAI_REASON_MAX_ITERATIONS = 2,
  /** cycles no longer reduce the residual */
  BISAI_REASON_STAGNATED = 3,
  /** the method cannot go on and the residual is too large: see bisai_breakdown */
  BISAI_REASON_BREAKDOWN = 4,
  /** NaN or infinity met: in b, x, the initial guess, or a sum of a step */
  BISAI_REASON_NOT_FINITE = 5,
  /** the preconditioner, the operator or the reduction hook returned a failure */
  BISAI_REASON_PRECOND_FAILED = 6,
  /** the monitor asked for it */
  BISAI_REASON_STOPPED = 7
} bisai_reason;

/** The words of bisai_reason: X(enumerator, word). */
#define BISAI_REASON_LIST(X)                                                                       \
  X(BISAI_REASON_NONE, "none")                                                                     \
  X(BISAI_REASON_CONVERGED, "converged")                                                           \
  X(BISAI_REASON_MAX_ITERATIONS, "max_iterations")                                                 \
  X(BISAI_REASON_STAGNATED, "stagnated")                                                           \
  X(BISAI_REASON_BREAKDOWN, "breakdown")                                                           \
  X(BISAI_REASON_NOT_FINITE, "not_finite")                                                         \
  X(BISAI_REASON_PRECOND_FAILED, "precond_failed")                                                 \
  X(BISAI_REASON_STOPPED, "stopped")

/** "converged", "max_iterations", …, as in the list; "unknown reason" for other values. */
BISAI_API const char *bisai_reason_string(bisai_reason value);

/** Looks up a word of bisai_reason_string().
 *  @param value  out; untouched where the word is unknown
 *  @returns      false for unknown words and NULL */
BISAI_API bool bisai_reason_parse(const char *word, bisai_reason *value);

/** Which quantity broke a method down; "zero" is what is left of rounding. */
typedef enum bisai_breakdown {
  BISAI_BREAKDOWN_NONE = 0,
  /** GMRES: the Krylov space is exhausted */
  BISAI_BREAKDOWN_SPACE = 1,
  /** CG: p·A p is zero or changed its sign, A is not definite */
  BISAI_BREAKDOWN_CURVATURE = 2,
  /** CG: r·M⁻¹r is zero or changed its sign, M is not definite */
  BISAI_BREAKDOWN_PRECOND = 3,
  /** BiCGSTAB: r is orthogonal to the shadow residual */
  BISAI_BREAKDOWN_RHO = 4,
  /** BiCGSTAB: A M⁻¹p is orthogonal to the shadow residual */
  BISAI_BREAKDOWN_ALPHA = 5,
  /** BiCGSTAB, IDR: A M⁻¹r is zero or orthogonal to r (skew-symmetric A) */
  BISAI_BREAKDOWN_OMEGA = 6,
  /** IDR: the new direction is orthogonal to its shadow vector */
  BISAI_BREAKDOWN_PIVOT = 7,
  /** CG, BiCGSTAB, IDR: the residual grew 2⁵²-fold, so that rounding errors are what is left */
  BISAI_BREAKDOWN_GROWTH = 8
} bisai_breakdown;

/** What the breakdowns mean, as messages say it: X(enumerator, text). */
#define BISAI_BREAKDOWN_LIST(X)                                                                    \
  X(BISAI_BREAKDOWN_NONE, "no breakdown")                                                          \
  X(BISAI_BREAKDOWN_SPACE,                                                                         \
    "the Krylov space is exhausted: the matrix or the preconditioner is singular")                 \
  X(BISAI_BREAKDOWN_CURVATURE, "p·A p is zero or changed its sign: the matrix is not definite")    \
  X(BISAI_BREAKDOWN_PRECOND,                                                                       \
    "r·M⁻¹r is zero or changed its sign: the preconditioner is not definite")                      \
  X(BISAI_BREAKDOWN_RHO, "rho = 0: the residual is orthogonal to the shadow residual")             \
  X(BISAI_BREAKDOWN_ALPHA, "A M⁻¹p is orthogonal to the shadow residual")                          \
  X(BISAI_BREAKDOWN_OMEGA, "omega = 0: A M⁻¹r is zero or orthogonal to r")                         \
  X(BISAI_BREAKDOWN_PIVOT, "A u is zero or orthogonal to its shadow vector")                       \
  X(BISAI_BREAKDOWN_GROWTH,                                                                        \
    "the residual grew beyond all digits: further iterations give rounding errors only")

/** What a breakdown means: "p·A p is zero or changed its sign: the matrix is not definite". */
BISAI_API const char *bisai_breakdown_string(bisai_breakdown breakdown);

/** Called after every iteration (and for iteration 0) with the relative residual estimate;
 *  non-zero stops the solve. On a GPU, methods other than GMRES wait for the device in every
 *  iteration where there is a monitor, so that x is that of the iteration that it stops, or an
 *  earlier one that was better. With monitor_late they do not wait. x may then be that of an
 *  iteration a few later, and may even have converged there. That suits monitors that watch
 *  something else than the residual. */
typedef int (*bisai_monitor)(void *user, int iteration, double relative_residual);

/** Sums `count` values over all processes, in place, in the backend's memory: the hook of a
 *  distributed caller, whose vectors, operator and preconditioner are its own part. On a GPU that
 *  is device memory, which holds the values once the context's stream has come there: enqueue the
 *  sum on that stream, or wait for it. Every process makes the same calls in the same order. */
typedef bisai_status (*bisai_reduce)(void *user, double *values, int count);

/** The largest s of IDR(s). */
enum { BISAI_MAX_SHADOW_DIMENSION = 32 };

/** Options of GMRES(m). */
typedef struct bisai_gmres_options {
  /** m, at least 1; default 30 */
  int restart;
  /** default BISAI_RIGHT */
  bisai_side side;
  /** FGMRES: the preconditioner may differ from one application to the next. BISAI_RIGHT only.
   *  Default false */
  bool flexible;
  /** default BISAI_CLASSICAL_SELECTIVE */
  bisai_orthogonalization orthogonalization;
} bisai_gmres_options;

/** Options of CG. */
typedef struct bisai_cg_options {
  /** CG takes A and M as symmetric without a check: see bisai_solver_check(). Default false */
  bool assume_symmetric;
} bisai_cg_options;

/** Options of IDR(s). */
typedef struct bisai_idr_options {
  /** s, from 1 to BISAI_MAX_SHADOW_DIMENSION; default 4 */
  int shadow_dimension;
} bisai_idr_options;

/** Options of a solver; start from bisai_solver_options_default(). A solver reads the options that
 *  all methods share and those of its own method. */
typedef struct bisai_solver_options {
  /** set by bisai_solver_options_default() */
  size_t struct_size;
  /** default BISAI_GMRES */
  bisai_method method;
  /** bound of the relative residual ‖b − A x‖₂/‖b‖₂, 0 ≤ tolerance < 1; default 1e-8 */
  double tolerance;
  /** at most that many iterations; every inner iteration counts; default 10000 */
  int max_iterations;
  /** The solve ends if that many cycles together reduce the residual by less than 1e-6 of itself;
   *  0: it never ends for this reason; default 10. A cycle of GMRES(m) has m iterations. A cycle of
   *  another method lasts from one true residual to the next. */
  int stagnation_cycles;
  /** false: the solve starts from x = 0. true: it starts from the x that is given, which must be
   *  finite. Default false */
  bool use_initial_guess;
  /** true: the monitor may stop a solve a few iterations late: see bisai_monitor. Default false */
  bool monitor_late;
  /** default NULL: no monitor */
  bisai_monitor monitor;
  /** passed to the monitor */
  void *monitor_user;
  /** default NULL: one process */
  bisai_reduce reduce;
  /** passed to the reduction hook */
  void *reduce_user;
  /** of GMRES */
  bisai_gmres_options gmres;
  /** of CG */
  bisai_cg_options cg;
  /** of IDR */
  bisai_idr_options idr;
} bisai_solver_options;

/** Default options. */
BISAI_API bisai_solver_options bisai_solver_options_default(void);

/** What CG reports. */
typedef struct bisai_cg_report {
  /** asymmetry of A, as bisai_bcsr_asymmetry() measures it. NaN if it was not measured: for other
   *  methods, with assume_symmetric, for operators that are functions, and with `reduce`, where a
   *  matrix is only a part of A */
  double asymmetry;
} bisai_cg_report;

/** What IDR reports. */
typedef struct bisai_idr_report {
  /** s of IDR(s) in this solver; 0 for other methods */
  int shadow_dimension;
} bisai_idr_report;

/** How a solve went. */
typedef struct bisai_solver_report {
  /** set by the caller to sizeof(bisai_solver_report) */
  size_t struct_size;
  /** the method of the options */
  bisai_method method;
  /** why the solve ended */
  bisai_reason reason;
  /** of the last cycle, whether or not it ended the solve */
  bisai_breakdown breakdown;
  /** inner iterations; bisai_method says what counts as one */
  int iterations;
  /** times that the method began again from a true residual: after m iterations of GMRES(m), after
   *  a true residual that did not confirm the estimate, or from the best x after a breakdown */
  int restarts;
  /** applications of the preconditioner */
  int applications;
  /** ‖b − A x‖₂/‖b‖₂, recomputed at the end */
  double relative_residual;
  /** the last estimate of the relative residual by the method's recurrence */
  double estimated_residual;
  /** seconds of the whole solve */
  double solve_seconds;
  /** seconds in the preconditioner. On a GPU they are estimated from about one application in 30,
   *  so that the host does not wait for the device */
  double apply_seconds;
  /** T_p: 30 times the mean application; 0 without applications */
  double apply30_seconds;
  /** bytes that the solver holds */
  int64_t memory_bytes;
  /** estimates of the relative residual, the first before iteration 1. The solver owns them until
   *  its next solve */
  const double *history;
  /** iterations + 1, at most 2²⁰ */
  int history_length;
  /** of CG */
  bisai_cg_report cg;
  /** of IDR */
  bisai_idr_report idr;
} bisai_solver_report;

/** A solver for systems of n scalar unknowns; reserves all its memory. GMRES: about (restart +
 *  3)·8n bytes (flexible: twice the basis) and 8·restart² + 2048·(restart + 1) bytes of scalars; a
 *  restart beyond max_iterations counts as that, and without a reduction hook one beyond n as n.
 *  CG: 6·8n bytes, BiCGSTAB: 9·8n, IDR(s): (3s + 5)·8n; an s beyond n counts as n without a
 *  reduction hook. All: the history.
 *
 *  The s shadow vectors of IDR(s) are numbers in [−1, 1) that a SplitMix64 generator makes from the
 *  row and the vector alone, made orthonormal in the first solve; the same on every machine, up to
 *  rounding. Of distributed callers each counts its own rows from 0.
 *  @param n        rows of the operator, padding included (block_rows·bs)
 *  @param options  NULL: the defaults
 *  @param solver   out; untouched on failure; free with bisai_solver_destroy()
 *  @retval BISAI_INVALID_ARGUMENT  names the option
 *  @retval BISAI_OUT_OF_MEMORY */
BISAI_API bisai_status bisai_solver_create(bisai_context *context, int64_t n,
                                           const bisai_solver_options *options,
                                           bisai_solver **solver);

/** Frees *solver and sets it to NULL; accepts NULL and pointers to NULL. */
BISAI_API void bisai_solver_destroy(bisai_solver **solver);

/** Checks whether CG can work with A and M, as bisai_solver_solve() does before it begins: both
 *  must be symmetric. A is measured by bisai_bcsr_asymmetry(). M is judged by its kind
 *  (bisai_symmetry). Functions are taken to be symmetric, on the caller's word, and so is A with
 *  `reduce`. Methods other than CG take everything. Allocates nothing.
 *  @param matrix     NULL: a function
 *  @param precond    NULL: none
 *  @param asymmetry  out unless NULL: as in the report
 *  @retval BISAI_NOT_SYMMETRIC  what does not fit, and what would; not with assume_symmetric
 *  @retval BISAI_INVALID_ARGUMENT  no solver, or the matrix is not square */
BISAI_API bisai_status bisai_solver_check(const bisai_solver *solver, const bisai_bcsr *matrix,
                                          const bisai_precond *precond, double *asymmetry);

/** Solves A x = b; allocates nothing. An iteration of a method reads and writes, beside A and M: CG
 *  13 vectors, BiCGSTAB 19, IDR(4) 22 on average, GMRES twice the directions so far. Stops when the
 *  residual estimate is ≤ tolerance·‖b‖ and the true residual confirms it (≤ factor·tolerance·‖b‖
 *  with factor = min(2, (1 + tolerance)/(2·tolerance)), x finite); goes on from the true residual
 *  where it does not. A residual that is not below that of the start has not converged, unless the
 *  initial guess satisfies the tolerance at once. b = 0 gives x = 0. After a failure x is finite;
 *  if no better x was found, it is zero or the initial guess. Two failures leave x as it was: calls
 *  that are refused (BISAI_NOT_SYMMETRIC, BISAI_INVALID_ARGUMENT), and initial guesses with NaN or
 *  infinity. If the matrix has an empty block row or column, it is singular, and the message of a
 *  failed solve names that row or column. Where a solve fails or meets ω = 0, and A M⁻¹r is more
 *  than 10¹⁰⁰ times larger or smaller than r, it begins once more from the best x with A multiplied
 *  by a power of two, as squares had left the range of a double.
 *  @param precond  NULL: none
 *  @param b, x     n values, not overlapping; x is the initial guess if the options say so. On a
 *                  device each in device memory, or in host memory, which is copied there and back
 *  @param report   NULL or a report whose struct_size the caller has set; filled also when the
 *    solve fails
 *  @retval BISAI_OK              converged, and only then
 *  @retval BISAI_MAX_ITERATIONS, BISAI_STAGNATED, BISAI_BREAKDOWN, BISAI_STOPPED  x is the best of
 *                                the iterates whose true residual was taken: those of the start, of
 *                                the restarts and of the end, and of a method whose residuals go up
 *                                and down (all but GMRES) one on the way that had at most twice the
 *                                least estimate
 *  @retval BISAI_NOT_SYMMETRIC  CG, by bisai_solver_check(): nothing was done
 *  @retval BISAI_NOT_FINITE      NaN or infinity in b, in the initial guess, in every better x, or
 *                                met by a step; the message names the entry of x. x is the best of
 *                                the finite iterates
 *  @retval BISAI_CALLBACK_FAILED, BISAI_NOT_READY, BISAI_INVALID_ARGUMENT */
BISAI_API bisai_status bisai_solver_solve(bisai_solver *solver, const bisai_bcsr *matrix,
                                          bisai_precond *precond, const double *b, double *x,
                                          bisai_solver_report *report);

/** The same for an operator y ← A x given as a function. On a GPU its vectors are device memory, to
 *  be read and written in the order of the context's stream, and it may be called for a few steps
 *  more than are counted. */
BISAI_API bisai_status bisai_solver_solve_operator(bisai_solver *solver,
                                                   bisai_apply_function multiply, void *user,
                                                   bisai_precond *precond, const double *b,
                                                   double *x, bisai_solver_report *report);

#ifdef __cplusplus
}
#endif
#endif
