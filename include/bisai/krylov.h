/* SPDX-License-Identifier: BSD-3-Clause */
/** @file krylov.h
 *  Iterative solvers for A x = b:
 *  - GMRES(m), right, left or flexibly preconditioned. Source: Saad, Iterative Methods for Sparse
 *    Linear Systems, 6.5, 9.3, 9.4.
 *  - CG, for symmetric definite A and M; each may be positive or negative definite. Source: Saad,
 *    9.2, Algorithm 9.1. Flexible CG: Notay, SIAM J. Sci. Comput. 22 (2000) 1444–1460.
 *  - BiCGSTAB, preconditioned from the right. Source: van der Vorst, SIAM J. Sci. Stat. Comput. 13
 *    (1992), with M⁻¹ as in Saad, 9.3.2.
 *  - IDR(s) with biorthogonalisation, preconditioned from the right. Source: van Gijzen and
 *    Sonneveld, ACM Trans. Math. Softw. 38 (2011), Algorithm 913, Figure 2.
 *
 *  All methods monitor and report ‖b − A x‖₂/‖b‖₂; left-preconditioned GMRES monitors
 *  ‖M⁻¹(b − A x)‖₂/‖M⁻¹b‖₂ instead. All confirm convergence by the true residual b − A x. The same
 *  input gives the same bits: results do not depend on the number of threads. */
#ifndef BISAI_KRYLOV_H
#define BISAI_KRYLOV_H

#include <bisai/option.h>
#include <bisai/precond.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A solver with all its memory. */
typedef struct bisai_solver bisai_solver;

/** The method of a solver. The comments say what one iteration of it is. */
typedef enum bisai_method {
  /** An iteration has one product with A and one application of M⁻¹. The residual is minimised, and
   *  all directions of a cycle are kept. */
  BISAI_GMRES = 0,
  /** An iteration has one product and one application. A and M must be symmetric, which is checked
   *  (bisai_solver_check()), and definite. If they are not definite, the solve may end with a
   *  breakdown. */
  BISAI_CG = 1,
  /** An iteration has two products and two applications, as in PETSc. There are no half iterations.
   *  The shadow residual is the residual at the start of the cycle. If BISAI_BREAKDOWN_RHO or
   *  BISAI_BREAKDOWN_ALPHA would end the solve, the solve begins once more from its best x, and its
   *  shadow residual is the first shadow vector of IDR(s) from then on: see
   *  bisai_solver_create(). */
  BISAI_BICGSTAB = 2,
  /** An iteration has one product and one application. A cycle in the sense of the paper therefore
   *  has s + 1 iterations. */
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

/** Adds one to BISAI_METHODS for each method of the list. */
#define BISAI_METHOD_COUNT(enumerator, word, name, title) +1
/** The number of methods: they are 0 … BISAI_METHODS − 1. */
enum {
  BISAI_METHODS = 0 BISAI_METHOD_LIST(BISAI_METHOD_COUNT)
#undef BISAI_METHOD_COUNT
};

/** Returns "gmres", "cg", "bicgstab" or "idr", and "unknown method" for other values. */
BISAI_API const char *bisai_method_string(bisai_method value);

/** Looks up a word of bisai_method_string().
 *  @param value  out; unchanged if the word is unknown
 *  @returns      false for unknown words and NULL */
BISAI_API bool bisai_method_parse(const char *word, bisai_method *value);

/** Describes an option that belongs to one method. Its offset counts in bisai_solver_options, and
 *  its key is written in the program's `--solver`, as in `idr:s=2`.
 *  @param index  from 0
 *  @returns      NULL for an unknown method and behind its last option; never to be freed */
BISAI_API const bisai_option *bisai_method_option(bisai_method method, int index);

/** The side of the preconditioner. */
typedef enum bisai_side {
  /** A M⁻¹ y = b with x = M⁻¹ y */
  BISAI_RIGHT = 0,
  /** M⁻¹ A x = M⁻¹ b */
  BISAI_LEFT = 1
} bisai_side;

/** The words of bisai_side: X(enumerator, word). */
#define BISAI_SIDE_LIST(X)                                                                         \
  X(BISAI_RIGHT, "right")                                                                          \
  X(BISAI_LEFT, "left")

/** Returns "right" or "left", and "unknown side" for other values. */
BISAI_API const char *bisai_side_string(bisai_side value);

/** Looks up a word of bisai_side_string().
 *  @param value  out; unchanged if the word is unknown
 *  @returns      false for unknown words and NULL */
BISAI_API bool bisai_side_parse(const char *word, bisai_side *value);

/** How the Krylov basis is made orthogonal. */
typedef enum bisai_orthogonalization {
  /** classical Gram–Schmidt, one pass: the cheapest; loses orthogonality on hard systems */
  BISAI_CLASSICAL = 0,
  /** classical Gram–Schmidt, always two passes */
  BISAI_CLASSICAL_REFINED = 1,
  /** modified Gram–Schmidt */
  BISAI_MODIFIED = 2,
  /** classical Gram–Schmidt, with a second pass if the first one cancelled a digit or more (Daniel,
   *  Gragg, Kaufman, Stewart 1976) */
  BISAI_CLASSICAL_SELECTIVE = 3
} bisai_orthogonalization;

/** The words of bisai_orthogonalization: X(enumerator, word). */
#define BISAI_ORTHOGONALIZATION_LIST(X)                                                            \
  X(BISAI_CLASSICAL, "classical")                                                                  \
  X(BISAI_CLASSICAL_REFINED, "classical_refined")                                                  \
  X(BISAI_MODIFIED, "modified")                                                                    \
  X(BISAI_CLASSICAL_SELECTIVE, "classical_selective")

/** Returns "classical", "classical_refined", "modified" or "classical_selective", and "unknown
 *  orthogonalization" for other values. */
BISAI_API const char *bisai_orthogonalization_string(bisai_orthogonalization value);

/** Looks up a word of bisai_orthogonalization_string().
 *  @param value  out; unchanged if the word is unknown
 *  @returns      false for unknown words and NULL */
BISAI_API bool bisai_orthogonalization_parse(const char *word, bisai_orthogonalization *value);

/** Why a solve ended. */
typedef enum bisai_reason {
  /** the solve was refused, or did not begin */
  BISAI_REASON_NONE = 0,
  /** x is finite, and its true residual is small enough: see bisai_solver_solve() */
  BISAI_REASON_CONVERGED = 1,
  /** the limit of iterations was reached */
  BISAI_REASON_MAX_ITERATIONS = 2,
  /** cycles no longer reduce the residual, or too slowly: see
   *  bisai_solver_options::stagnation_cycles */
  BISAI_REASON_STAGNATED = 3,
  /** the method cannot go on, and the residual is too large: see bisai_breakdown */
  BISAI_REASON_BREAKDOWN = 4,
  /** there is a NaN or an infinity in b, x, the initial guess, or a sum that an iteration
   *  computed */
  BISAI_REASON_NOT_FINITE = 5,
  /** the preconditioner, the operator or the sum over processes returned a failure */
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

/** Returns the word of the list, for example "max_iterations", and "unknown reason" for other
 *  values. */
BISAI_API const char *bisai_reason_string(bisai_reason value);

/** Looks up a word of bisai_reason_string().
 *  @param value  out; unchanged if the word is unknown
 *  @returns      false for unknown words and NULL */
BISAI_API bool bisai_reason_parse(const char *word, bisai_reason *value);

/** The quantity that broke a method down. "Zero" means zero up to rounding errors. */
typedef enum bisai_breakdown {
  /** no breakdown */
  BISAI_BREAKDOWN_NONE = 0,
  /** GMRES: the Krylov space is exhausted */
  BISAI_BREAKDOWN_SPACE = 1,
  /** CG: p·A p is zero or changed its sign, so that A is not definite */
  BISAI_BREAKDOWN_CURVATURE = 2,
  /** CG: r·M⁻¹r is zero or changed its sign, so that M is not definite */
  BISAI_BREAKDOWN_PRECOND = 3,
  /** BiCGSTAB: r is orthogonal to the shadow residual */
  BISAI_BREAKDOWN_RHO = 4,
  /** BiCGSTAB: A M⁻¹p is orthogonal to the shadow residual */
  BISAI_BREAKDOWN_ALPHA = 5,
  /** BiCGSTAB, IDR: A M⁻¹r is zero or orthogonal to r (skew-symmetric A) */
  BISAI_BREAKDOWN_OMEGA = 6,
  /** IDR: the new direction is orthogonal to its shadow vector */
  BISAI_BREAKDOWN_PIVOT = 7,
  /** CG, BiCGSTAB, IDR: the residual grew by a factor of 2⁵², so that only rounding errors are
   *  left */
  BISAI_BREAKDOWN_GROWTH = 8
} bisai_breakdown;

/** The meanings of the breakdowns in messages: X(enumerator, text). */
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

/** Returns the meaning of a breakdown, for example "p·A p is zero or changed its sign: the matrix
 *  is not definite". */
BISAI_API const char *bisai_breakdown_string(bisai_breakdown breakdown);

/** Called after every iteration, and for iteration 0, with the estimate of the relative residual. A
 *  value other than 0 stops the solve. On a GPU, methods other than GMRES wait for the device in
 *  every iteration if there is a monitor. The solve then returns x of the iteration at which the
 *  monitor stops it, or of an earlier iteration with a smaller residual. With monitor_late the
 *  methods do not wait. The solve may then stop a few iterations later, and may even have converged
 *  by then. This suits monitors that do not depend on the residual. */
typedef int (*bisai_monitor)(void *user, int iteration, double relative_residual);

/** Sums `count` values over all processes, in place. A caller whose system is distributed over
 *  processes sets this function. The vectors, the operator and the preconditioner are then the
 *  parts of one process. The values are in the backend's memory. On a GPU they are in device
 *  memory, and they are ready in the order of the context's stream: enqueue the sum on that stream,
 *  or wait for the stream. Every process makes the same calls in the same order. */
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
  /** Keeps all vectors of the basis in fp64. Otherwise GMRES rounds vectors of a large basis to
   *  fp32 in its first cycle, if that is going to end at the tolerance, once the residual estimate
   *  is within 10⁶ times the tolerance: rounding changes the residual by some 5 % of the tolerance
   *  then. Products of such steps also read a copy of A in fp32, if the preconditioner has one and
   *  the error of a product, which is measured, lets them. Those of CG do so whatever this option
   *  is. Sums and arithmetic are in fp64, and the true residual decides. Default false */
  bool fp64_basis;
} bisai_gmres_options;

/** Options of CG. */
typedef struct bisai_cg_options {
  /** true: CG does not check that A and M are symmetric: see bisai_solver_check(). Default false */
  bool assume_symmetric;
  /** Flexible CG: the preconditioner may differ from one application to the next. Each direction
   *  is made conjugate to the last one alone: β = z·(r − r_old)/(z_old·r_old), as of Polak and
   *  Ribière. If M does not change, the iterations are those of CG up to rounding. Default
   *  false */
  bool flexible;
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
  /** The solve ends with BISAI_REASON_STAGNATED if that many cycles together reduce the residual
   *  by less than 1e-6 of itself. It also ends if that many cycles or more, with 2,500 iterations
   *  or more, do not halve the residual, and if ten times this pace would not reach the tolerance
   *  within max_iterations. 0: it never ends for these reasons; default 10. A cycle of GMRES(m)
   *  has m iterations. A cycle of another method lasts from one true residual to the next. */
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
  /** the sum over processes; default NULL: there is one process */
  bisai_reduce reduce;
  /** passed to `reduce` */
  void *reduce_user;
  /** options of GMRES */
  bisai_gmres_options gmres;
  /** options of CG */
  bisai_cg_options cg;
  /** options of IDR */
  bisai_idr_options idr;
} bisai_solver_options;

/** Returns the default options. */
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
  /** the breakdown of the last cycle, even if it did not end the solve */
  bisai_breakdown breakdown;
  /** number of inner iterations; bisai_method says what counts as one */
  int iterations;
  /** how often the method began again from a true residual: after m iterations of GMRES(m), after a
   *  true residual that did not confirm the estimate, or from the best x after a breakdown */
  int restarts;
  /** number of applications of the preconditioner */
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
  /** 30 times the mean time of an application, in seconds; 0 without applications */
  double apply30_seconds;
  /** bytes that the solver holds */
  int64_t memory_bytes;
  /** estimates of the relative residual, the first before iteration 1. The solver owns them until
   *  its next solve */
  const double *history;
  /** number of estimates in `history`: iterations + 1, but at most 2²⁰ */
  int history_length;
  /** report of CG */
  bisai_cg_report cg;
  /** report of IDR */
  bisai_idr_report idr;
  /** BISAI_REASON_STAGNATED: rounding the entries of x alone causes a residual of this size, so
   *  that double precision holds no better x of the same norm */
  bool exhausted;
} bisai_solver_report;

/** Creates a solver for systems of n scalar unknowns and reserves all its memory. The vectors of
 *  GMRES take about (restart + 3)·8n bytes, with `flexible` about (2·restart + 3)·8n bytes, and its
 *  scalars take 8·restart² + 2048·(restart + 1) bytes. The vectors of CG take 6·8n bytes, of
 *  BiCGSTAB 9·8n bytes, of IDR(s) (3s + 5)·8n bytes. Every method also reserves the history. A
 *  restart above max_iterations is lowered to max_iterations. Without `reduce`, a restart or an s
 *  above n is lowered to n.
 *
 *  The entries of the s shadow vectors of IDR(s) are numbers in [−1, 1). A SplitMix64 generator
 *  makes them from the numbers of the row and the vector alone, and the first solve makes the
 *  vectors orthonormal. Up to rounding they are the same on every machine. Each process of a
 *  distributed caller counts its own rows from 0.
 *  @param n        rows of the operator, padding included (block_rows·bs)
 *  @param options  NULL: the defaults
 *  @param solver   out; unchanged on failure; free with bisai_solver_destroy()
 *  @retval BISAI_INVALID_ARGUMENT  NULL, a negative n, or an option, which the message names
 *  @retval BISAI_OUT_OF_MEMORY */
BISAI_API bisai_status bisai_solver_create(bisai_context *context, int64_t n,
                                           const bisai_solver_options *options,
                                           bisai_solver **solver);

/** Frees *solver and sets it to NULL; accepts NULL and pointers to NULL. */
BISAI_API void bisai_solver_destroy(bisai_solver **solver);

/** Takes from `options` what all methods share, for later solves: tolerance, max_iterations,
 *  stagnation_cycles, use_initial_guess, monitor_late, monitor and monitor_user. The method, its
 *  options and `reduce` stay; those of `options` have no effect, but must be valid. Allocates
 *  nothing.
 *  @retval BISAI_INVALID_ARGUMENT  no solver or no options, an option, which the message names, or
 *      more iterations than the solver was created for. The options are unchanged */
BISAI_API bisai_status bisai_solver_set_options(bisai_solver *solver,
                                                const bisai_solver_options *options);

/** Checks that the method can work with A and M. bisai_solver_solve() makes this check before it
 *  begins. CG needs a symmetric A and M. The asymmetry of A is measured by bisai_bcsr_asymmetry().
 *  M is judged by its kind (bisai_symmetry). Functions are taken as symmetric, and so is A with
 *  `reduce`. An M that is not linear (bisai_precond_report::nonlinear) needs GMRES or CG with
 *  `flexible`. Methods other than CG accept every A and every linear M. Allocates nothing.
 *  @param matrix     NULL: the operator is a function
 *  @param precond    NULL: none
 *  @param asymmetry  out unless NULL: see bisai_cg_report
 *  @retval BISAI_NOT_SYMMETRIC  the message names the matrix or the preconditioner, and what to use
 *                               instead; never returned with assume_symmetric
 *  @retval BISAI_NOT_LINEAR     the message names the method, the preconditioner, and what to use
 *                               instead
 *  @retval BISAI_INVALID_ARGUMENT  no solver, or the matrix is not square */
BISAI_API bisai_status bisai_solver_check(const bisai_solver *solver, const bisai_bcsr *matrix,
                                          const bisai_precond *precond, double *asymmetry);

/** Solves A x = b. Allocates nothing. Besides A and M, an iteration of CG reads and writes 13
 *  vectors (14 with `flexible`), of BiCGSTAB 19, of IDR(4) 22 on average, and of GMRES two vectors
 *  for each direction of the cycle so far.
 *
 *  The solve converges if the estimate of the residual is at most tolerance·‖b‖ and the true
 *  residual confirms it: x is finite, and the true residual is at most factor·tolerance·‖b‖ with
 *  factor = min(2, (1 + tolerance)/(2·tolerance)). If the true residual does not confirm the
 *  estimate, the solve goes on from the true residual. The final residual must also be smaller than
 *  the initial one, unless the initial guess satisfies the tolerance at once. b = 0 gives x = 0.
 *  True residuals are computed in fp64, and their rounding errors are about ε‖A‖‖x‖ with ε = 2⁻⁵³:
 *  a tolerance below ε‖A‖‖x‖/‖b‖ may be met by the computed residual and missed by the exact one,
 *  by a factor of 10 or so.
 *
 *  After a failure x is finite. If no better x was found, x is zero or the initial guess. Two
 *  failures leave x as it was: refused calls (BISAI_NOT_SYMMETRIC, BISAI_NOT_LINEAR,
 *  BISAI_INVALID_ARGUMENT), and initial guesses with NaN or infinity.
 *
 *  The message of a failed solve names a cause if it finds one. A matrix with an empty block row or
 *  column is singular, and the message names that row or column. If A maps constants to zero, or if
 *  no A x has the constant part of b, the message says so, with the size of that part: the system
 *  is singular, as with Neumann conditions. This takes two more products with A. They are left out
 *  if the limit of iterations ended the solve before iteration 100. If CG finds that M is not
 *  definite, the message says which part of M may be the cause, and what is definite.
 *
 *  Squares may leave the range of a double if A M⁻¹r is more than 10¹⁰⁰ times larger or smaller
 *  than r. If such a solve fails or meets ω = 0, it begins once more from the best x, with A
 *  multiplied by a power of two.
 *  @param precond  NULL: none
 *  @param b, x     n values each, not overlapping. With use_initial_guess x is the initial guess.
 *                  On a device each may be in device memory, or in host memory, which is copied
 *  @param report   NULL, or a report whose struct_size the caller has set; also filled if the solve
 *                  fails
 *  @retval BISAI_OK              converged, and only then
 *  @retval BISAI_MAX_ITERATIONS, BISAI_STAGNATED, BISAI_BREAKDOWN, BISAI_STOPPED  x is the best of
 *                                the iterates whose true residual was computed: at the start, at
 *                                restarts and at the end. For methods other than GMRES, whose
 *                                residuals rise and fall, one more iterate of each cycle counts:
 *                                its estimate is at most twice the least of the cycle
 *  @retval BISAI_NOT_SYMMETRIC   CG: see bisai_solver_check(); nothing was done
 *  @retval BISAI_NOT_LINEAR      see bisai_solver_check(); nothing was done
 *  @retval BISAI_NOT_FINITE      there is a NaN or an infinity in b, in the initial guess, in every
 *                                better x, or in a sum that an iteration computed; the message
 *                                names the entry of x. x is the best of the finite iterates
 *  @retval BISAI_CALLBACK_FAILED, BISAI_NOT_READY, BISAI_INVALID_ARGUMENT */
BISAI_API bisai_status bisai_solver_solve(bisai_solver *solver, const bisai_bcsr *matrix,
                                          bisai_precond *precond, const double *b, double *x,
                                          bisai_solver_report *report);

/** Does the same as bisai_solver_solve() for an operator y ← A x that is a function, and returns
 *  the same errors. On a GPU the vectors of the function are in device memory, and it reads and
 *  writes them in the order of the context's stream. The function may be called a few times more
 *  than the report counts. */
BISAI_API bisai_status bisai_solver_solve_operator(bisai_solver *solver,
                                                   bisai_apply_function multiply, void *user,
                                                   bisai_precond *precond, const double *b,
                                                   double *x, bisai_solver_report *report);

#ifdef __cplusplus
}
#endif
#endif
