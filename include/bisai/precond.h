/* SPDX-License-Identifier: BSD-3-Clause */
/** @file precond.h
 *  One handle for every preconditioner M ≈ A. An application computes z ← M⁻¹ v. */
#ifndef BISAI_PRECOND_H
#define BISAI_PRECOND_H

#include <bisai/factor.h>
#include <bisai/option.h>
#include <bisai/order.h>
#include <bisai/pattern.h>
#include <bisai/precond_auto.h>
#include <bisai/precond_bjacobi.h>
#include <bisai/precond_cpr.h>
#include <bisai/precond_factored.h>
#include <bisai/precond_isai.h>
#include <bisai/precond_lu.h>
#include <bisai/precond_multigrid.h>
#include <bisai/precond_schur.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A preconditioner that is set up. */
typedef struct bisai_precond bisai_precond;

/** The kinds of preconditioner. */
typedef enum bisai_precond_kind {
  /** z = v */
  BISAI_PRECOND_NONE = 0,
  /** z = D⁻¹ v, where D are the diagonal blocks of A. The option `relax` adds sweeps
   *  z ← z + ω D⁻¹ (v − A z) */
  BISAI_PRECOND_BJACOBI = 1,
  /** z = U⁻¹ L⁻¹ v by exact block triangular solves */
  BISAI_PRECOND_ILU = 2,
  /** z = NU (NL v), where NL and NU approximate the inverses of L and U (Ma et al. 2021,
   *  equations 6–9). With `symmetric` z = NLᵀ (D⁻¹ (NL v)), where D are the diagonal blocks of U */
  BISAI_PRECOND_ISAI = 3,
  /** block-Jacobi sweeps that approximate the solves with T = L, and then with T = U. D are the
   *  diagonal blocks of T. The solve begins with x = D⁻¹b and repeats x ← D⁻¹(b − (T − D) x) */
  BISAI_PRECOND_SWEEPS = 4,
  /** z is computed by a function of the caller */
  BISAI_PRECOND_CALLBACK = 5,
  /** z is computed by a cycle of multigrid, from smoothed aggregation of block rows (Vaněk,
   *  Mandel, Brezina 1996; Notay 2010) */
  BISAI_PRECOND_MULTIGRID = 6,
  /** constrained pressure residual, for the coupled flow of several phases, as in reservoirs
   *  (Wallis 1983; Gries, Stüben, Brown, Chen, Collins 2014). It has two stages. MULTIGRID corrects
   *  the pressure, which is one unknown of each block, and a second kind corrects all unknowns */
  BISAI_PRECOND_CPR = 7,
  /** z = U⁻¹ L⁻¹ v by complete factors, with all fill, of the matrix in an order that keeps it low.
   *  Pivots are chosen within supernodes (Schenk and Gärtner 2004) */
  BISAI_PRECOND_LU = 8,
  /** z = A⁻¹ v by complete factors of UMFPACK, if the build has it (Davis 2004). It has no options.
   *  UMFPACK allocates by malloc(), in updates too. On a device vectors pass through host memory */
  BISAI_PRECOND_DIRECT = 9,
  /** one of the other kinds, chosen for the matrix by trials on a fixed vector. bisai_solve()
   *  chooses for the right-hand side at hand, and chooses the solver too */
  BISAI_PRECOND_AUTO = 10,
  /** block triangular, for saddle points: one kind for the velocities, and one for a sparse Schur
   *  complement of the pressures (bisai/precond_schur.h) */
  BISAI_PRECOND_SCHUR = 11
} bisai_precond_kind;

/** The one list of kinds: X(enumerator, word, name). The library makes its table of kinds from
 *  it. `name` is the name of the source file of a kind and of its options in
 *  bisai_precond_options. */
#define BISAI_PRECOND_KIND_LIST(X)                                                                 \
  X(BISAI_PRECOND_NONE, "none", none)                                                              \
  X(BISAI_PRECOND_BJACOBI, "bjacobi", bjacobi)                                                     \
  X(BISAI_PRECOND_ILU, "ilu", ilu)                                                                 \
  X(BISAI_PRECOND_ISAI, "isai", isai)                                                              \
  X(BISAI_PRECOND_SWEEPS, "sweeps", sweeps)                                                        \
  X(BISAI_PRECOND_CALLBACK, "callback", callback)                                                  \
  X(BISAI_PRECOND_MULTIGRID, "mg", multigrid)                                                      \
  X(BISAI_PRECOND_CPR, "cpr", cpr)                                                                 \
  X(BISAI_PRECOND_LU, "lu", lu)                                                                    \
  X(BISAI_PRECOND_DIRECT, "direct", direct)                                                        \
  X(BISAI_PRECOND_AUTO, "auto", automatic)                                                         \
  X(BISAI_PRECOND_SCHUR, "schur", schur)

/** The number of kinds: they are 0 … BISAI_PRECOND_KINDS − 1. */
enum {
#define BISAI_PRECOND_COUNT(enumerator, word, name) +1
  BISAI_PRECOND_KINDS = 0 BISAI_PRECOND_KIND_LIST(BISAI_PRECOND_COUNT)
#undef BISAI_PRECOND_COUNT
};

/** Returns "none", "bjacobi", "ilu", "isai", "sweeps", "callback", "mg", "cpr", "lu",
 *  "direct", "auto" or "schur", and "unknown kind" for other values. */
BISAI_API const char *bisai_precond_kind_string(bisai_precond_kind value);

/** Looks up a word of bisai_precond_kind_string().
 *  @param value  out; unchanged if the word is unknown
 *  @returns      false for unknown words and NULL */
BISAI_API bool bisai_precond_kind_parse(const char *word, bisai_precond_kind *value);

/** The conditions under which M is symmetric up to rounding. Conjugate gradients need a symmetric
 *  M. */
typedef enum bisai_symmetry {
  /** M is in general not symmetric, even if A is */
  BISAI_SYMMETRY_NONE = 0,
  /** M is symmetric if A is */
  BISAI_SYMMETRY_VALUES = 1,
  /** M is symmetric if A is, and if A also stores block (j, i) for each stored block (i, j).
   *  Otherwise incomplete factors may keep an entry and drop its mirror image */
  BISAI_SYMMETRY_PATTERN = 2,
  /** the caller vouches for the symmetry: M is a function, or consists of exact solves or sweeps
   *  with the caller's factors */
  BISAI_SYMMETRY_CALLER = 3
} bisai_symmetry;

/** The words of bisai_symmetry: X(enumerator, word). */
#define BISAI_SYMMETRY_LIST(X)                                                                     \
  X(BISAI_SYMMETRY_NONE, "none")                                                                   \
  X(BISAI_SYMMETRY_VALUES, "values")                                                               \
  X(BISAI_SYMMETRY_PATTERN, "pattern")                                                             \
  X(BISAI_SYMMETRY_CALLER, "caller")

/** Returns "none", "values", "pattern" or "caller", and "unknown symmetry" for other values. */
BISAI_API const char *bisai_symmetry_string(bisai_symmetry value);

/** Looks up a word of bisai_symmetry_string().
 *  @param value  out; unchanged if the word is unknown
 *  @returns      false for unknown words and NULL */
BISAI_API bool bisai_symmetry_parse(const char *word, bisai_symmetry *value);

/** Computes z ← M⁻¹ v for vectors of n values in the backend's memory. On a device the function
 *  does one of two things: it enqueues its work on the context's stream (bisai_context_stream()),
 *  or it calls bisai_context_synchronize() and then finishes its work before it returns. A status
 *  other than BISAI_OK stops the solver. */
typedef bisai_status (*bisai_apply_function)(void *user, int64_t n, const double *v, double *z);

/** Options of ILU. */
typedef struct bisai_ilu_options {
  /** how the exact solves are scheduled; default BISAI_SCHEDULE_AUTO */
  bisai_schedule schedule;
} bisai_ilu_options;

/** Options of the sweeps. */
typedef struct bisai_sweeps_options {
  /** number of sweeps on each factor; default 1 */
  int32_t count;
} bisai_sweeps_options;

/** Options of a preconditioner that is a function of the caller. */
typedef struct bisai_callback_options {
  /** computes z ← M⁻¹ v; required */
  bisai_apply_function apply;
  /** passed to `apply` */
  void *user;
  /** true: the function is not linear, or it changes from one application to the next. Only
   *  flexible solvers take it then (bisai_precond_report::nonlinear). Default false */
  bool nonlinear;
} bisai_callback_options;

/** Options of a preconditioner; start from bisai_precond_options_default(). The options of each
 *  kind are in the member that has its name. Options that the chosen kind does not take must
 *  keep their defaults: bisai_precond_create() refuses them by name. Only ordering, permutation
 *  and equilibrate are ignored instead. */
typedef struct bisai_precond_options {
  /** set by bisai_precond_options_default() */
  size_t struct_size;
  /** the kind; default BISAI_PRECOND_AUTO */
  bisai_precond_kind kind;
  /** how singular diagonal blocks are treated by BJACOBI, and by ILU, ISAI and SWEEPS if they
   *  compute their factors. LU raises tiny pivots. Default BISAI_SHIFT_NONE */
  bisai_shift shift;
  /** the amount of the shift, as in bisai_factor_options. LU raises pivots that are smaller than
   *  this share of the largest magnitude of A */
  double shift_amount;
  /** options that ILU, ISAI and SWEEPS share. LU takes all of them but `level` and `factors` */
  bisai_factored_options factor;
  /** options of BJACOBI */
  bisai_bjacobi_options bjacobi;
  /** options of ILU */
  bisai_ilu_options ilu;
  /** options of ISAI */
  bisai_isai_options isai;
  /** options of SWEEPS */
  bisai_sweeps_options sweeps;
  /** options of CALLBACK */
  bisai_callback_options callback;
  /** options of MULTIGRID, of the first stage of CPR, and of stages of SCHUR */
  bisai_multigrid_options multigrid;
  /** options of CPR */
  bisai_cpr_options cpr;
  /** options of LU */
  bisai_lu_options lu;
  /** options of SCHUR */
  bisai_schur_options schur;
  /** options of AUTO */
  bisai_auto_options automatic;
} bisai_precond_options;

/** Returns the default options. */
BISAI_API bisai_precond_options bisai_precond_options_default(void);

/** Describes an option of a kind. The kind's own options come first, and the options that it shares
 *  with others follow. The list leaves out permutation and user.
 *  @param index  from 0
 *  @returns      a description, whose offsets count in bisai_precond_options; NULL after the
 *      last option, and for unknown kinds */
BISAI_API const bisai_option *bisai_precond_kind_option(bisai_precond_kind kind, int index);

/** Returns true if a kind takes an option.
 *  @param field  as in bisai_option, for example "isai.power"
 *  @returns      false for unknown kinds and fields */
BISAI_API bool bisai_precond_kind_takes(bisai_precond_kind kind, const char *field);

/** Returns true if a kind needs something that a text cannot give. CALLBACK, for example, needs a
 *  function. METHOD (bisai/option.h) and PETSc's options cannot choose such a kind. */
BISAI_API bool bisai_precond_kind_needs_code(bisai_precond_kind kind);

/** Sets up a preconditioner: factors, patterns, values and all workspace.
 *  @param matrix   square; read during the call only. MULTIGRID, and BJACOBI with `relax`, read it
 *      in applications too: it must live until the preconditioner is destroyed, or until an update
 *      with another matrix has returned BISAI_OK. The same holds for CPR with such a second stage
 *  @param options  NULL: the defaults
 *  @param precond  out; unchanged on failure; free with bisai_precond_destroy()
 *  @retval BISAI_MISSING_DIAGONAL, BISAI_SINGULAR_BLOCK  the message names the block row in the
 *      caller's numbering. For block-Jacobi with blocks other than those of the matrix, it names
 *      the block and its scalar rows. With equilibration, a matrix must not have block rows or
 *      columns of zeros. With a matching, it must have a complete one. A matrix with an empty block
 *      row or column (no block is stored there) is singular. It is refused by
 *      BISAI_MISSING_DIAGONAL, whatever the shift, and the message names the row or column. NONE
 *      and CALLBACK take such a matrix
 *  @retval BISAI_UNAVAILABLE  the ordering needs METIS, or DIRECT UMFPACK, and this build has none
 *  @retval BISAI_INDEX_OVERFLOW  a factor or a pattern has more than 2³¹−1 blocks; the message
 *    names the block row
 *  @retval BISAI_OVERFLOW  a value of NL, NU or a block of block-Jacobi does not fit its
 *      storage, or values are too small for it and would all be stored as zero: those of a
 *      diagonal block of NL or NU, of a row or a column of a block of block-Jacobi, or the
 *      inverse of a pivot of its decomposition. The message names the block
 *  @retval BISAI_NOT_FINITE  the factors, NL, NU or a coarse matrix overflowed fp64. Or the set-up
 *      failed because borrowed values have NaN or infinity: the message then names the block
 *  @retval BISAI_UNSUPPORTED  the matrix is not stored in fp64
 *  @retval BISAI_NOT_READY  the caller's factors are not ready
 *  @retval BISAI_NOT_SYMMETRIC  isai.symmetric is set, and the asymmetry of A exceeds
 *      BISAI_SYMMETRY_LIMIT. Or A stores a block (i, j) without (j, i), and the factors are not the
 *      caller's
 *  @retval BISAI_INVALID_ARGUMENT  a value is out of range, or the kind does not take an option;
 *      the message names it
 *  @retval BISAI_OUT_OF_MEMORY */
BISAI_API bisai_status bisai_precond_create(bisai_context *context, const bisai_bcsr *matrix,
                                            const bisai_precond_options *options,
                                            bisai_precond **precond);

/** Updates the preconditioner for new values on the same pattern. The call factorises the matrix
 *  again and recomputes the values on the patterns of creation. Factors of the caller are not
 *  recomputed: the caller updates them before this call. Allocates nothing, but the first update of
 *  MULTIGRID makes what creation did not keep, and with LEAN all updates do (`update` of its
 *  options). Block-Jacobi keeps its blocks, and checks the pattern only in part: the number of
 *  stored blocks and, if its blocks are those of the matrix, the places of the diagonal blocks.
 *
 *  The errors are those of creation and those below. BISAI_INVALID_ARGUMENT, BISAI_UNSUPPORTED and
 *  BISAI_NOT_SYMMETRIC leave the preconditioner unchanged. After any other failure
 *  bisai_precond_apply() returns BISAI_NOT_READY until an update succeeds. A new preconditioner
 *  may take values that an update refuses.
 *  @retval BISAI_INVALID_ARGUMENT  an argument is NULL, or the pattern is another one
 *  @retval BISAI_UNSUPPORTED  MULTIGRID was made with `update` NONE
 *  @retval BISAI_NOT_SYMMETRIC  MULTIGRID was made for a symmetric A, without `unweighted`, and the
 *      new values are not symmetric. ISAI: as at creation
 *  @retval BISAI_SINGULAR_BLOCK  as at creation. Or a coarse matrix of MULTIGRID becomes singular.
 *      Only a creation with singular values reserves the memory for that
 *  @retval BISAI_INVALID_STRUCTURE  MULTIGRID has the nodes SCALAR, or the matching is ENTRIES, and
 *      a value is not zero where creation left out a zero */
BISAI_API bisai_status bisai_precond_update(bisai_precond *precond, const bisai_bcsr *matrix);

/** Computes z ← M⁻¹ v. Both vectors have n values and must not overlap. Allocates nothing, with
 *  one exception on a device: a vector in host memory is copied through device memory that is
 *  taken for the call, and the call then waits. If both vectors are in device memory, the call
 *  returns before the work is done. Bitwise repeatable for any number of threads. Only one
 *  thread at a time may use a preconditioner, because it owns workspace.
 *  @retval BISAI_INVALID_ARGUMENT  v or z is NULL, or both are one array
 *  @retval BISAI_NOT_READY, BISAI_CALLBACK_FAILED */
BISAI_API bisai_status bisai_precond_apply(bisai_precond *precond, const double *v, double *z);

/** Computes z ← M⁻ᵀ v, for adjoint equations and for methods such as BiCG. The vectors are as in
 *  bisai_precond_apply(). NONE, LU, DIRECT and an M that is its own transpose (MULTIGRID of a
 *  symmetric A, ISAI with `symmetric`) need nothing for it. ILU, SWEEPS, ISAI, BJACOBI and
 *  MULTIGRID make transposed copies of what M consists of at the first call after creation or an
 *  update: it allocates about the memory of M, of MULTIGRID that of its levels in fp64, which is
 *  kept until the next update or the end of M. Later calls take about the time of
 *  bisai_precond_apply(). AUTO does what its choice does.
 *  @retval BISAI_UNSUPPORTED  M is of another kind, or a MULTIGRID with BISAI_CYCLE_K, or of a
 *                             nonsymmetric A with a smoother that is a preconditioner
 *  @retval BISAI_INVALID_ARGUMENT  v or z is NULL, or both are one array
 *  @retval BISAI_INDEX_OVERFLOW  the blocks of BJACOBI have more than 2³¹ − 1 entries
 *  @retval BISAI_NOT_READY, BISAI_OUT_OF_MEMORY, BISAI_CALLBACK_FAILED */
BISAI_API bisai_status bisai_precond_apply_transpose(bisai_precond *precond, const double *v,
                                                     double *z);

/** Computes Z ← M⁻¹ V for `count` vectors, as bisai_precond_apply() does for one. Vector c
 *  starts at v + c·ldv and z + c·ldz.
 *  @param ldv, ldz  at least bisai_precond_rows(); not used with fewer than two vectors */
BISAI_API bisai_status bisai_precond_apply_many(bisai_precond *precond, int32_t count,
                                                const double *v, int64_t ldv, double *z,
                                                int64_t ldz);

/** Estimates the factor by which a step of x ← x + M⁻¹ (b − A x) multiplies the error of x: the
 *  spectral radius of I − M⁻¹A, by twelve steps from an error that depends on the number of rows
 *  only. The factor shows before any solve what to expect of M. Below 0.9, GMRES and CG converge in
 *  a few dozen iterations as a rule. Above 1 the steps diverge: a solver converges all the same if
 *  only a few errors grow, and stagnates otherwise. The estimate costs about as much as twelve
 *  iterations. It takes 32 bytes of memory for each row, which are released again. The call waits
 *  for the device.
 *  @param matrix  the matrix of creation or of the last update
 *  @param factor  out; 0 if M⁻¹ is exactly A⁻¹, infinite if an error overflows
 *  @retval BISAI_INVALID_ARGUMENT  an argument is NULL, or the matrix has another size
 *  @retval BISAI_NOT_READY, BISAI_OUT_OF_MEMORY, BISAI_CALLBACK_FAILED */
BISAI_API bisai_status bisai_precond_error_factor(bisai_precond *precond, const bisai_bcsr *matrix,
                                                  double *factor);

/** Frees *precond and sets it to NULL; accepts NULL and pointers to NULL. */
BISAI_API void bisai_precond_destroy(bisai_precond **precond);

/** What the preconditioner is and what it cost. Times are in seconds and belong to the last
 *  set-up or update. The report of each kind is in the member that has its name. */
typedef struct bisai_precond_report {
  /** set by the caller to sizeof(bisai_precond_report) */
  size_t struct_size;
  /** the kind of the options */
  bisai_precond_kind kind;
  /** time of ordering, reordering and equilibration; after an update only that of the values */
  double order_seconds;
  /** time of block ILU; 0 with the caller's factors */
  double factor_seconds;
  /** time of the patterns, or of finding the blocks of block-Jacobi and reserving their memory, or
   *  of the levels of multigrid with their first values; 0 after an update. CPR: the sum of both
   *  stages and of reserving the pressure matrix */
  double pattern_seconds;
  /** time of the values of NL and NU, of the sweeps' matrices, of the inverted diagonal blocks, or
   *  of an update of multigrid. CPR: the sum of both stages and of the pressure matrix */
  double values_seconds;
  /** time of the whole call */
  double setup_seconds;
  /** bytes that the preconditioner holds, without the caller's factors */
  int64_t memory_bytes;
  /** least number of bytes that one application moves */
  int64_t apply_bytes;
  /** number of blocks that were inverted again by pivoted Gauss–Jordan elimination. Block-Jacobi
   *  on a device always pivots, and reports 0 */
  int64_t fallbacks;
  /** number of singular diagonal blocks that a shift repaired */
  int64_t repairs;
  /** the block row of the first repaired block (block-Jacobi: the block); -1 if there is none */
  int32_t first_repair_row;
  /** the largest κ₁ of the inverted diagonal blocks; 0 if there are none */
  double largest_condition;
  /** The block row of the block with the largest κ₁ (block-Jacobi: the block); -1 if there is
   *  none. Block-Jacobi on a device reports the first of the blocks whose κ₁ agree with the
   *  largest in 23 bits. */
  int32_t largest_condition_row;
  /** When M is symmetric. NONE and BJACOBI: VALUES. BJACOBI with decompositions narrower than fp64:
   *  NONE, because L and U are rounded separately. ILU, SWEEPS and symmetric ISAI: PATTERN,
   *  CALLER with the caller's factors, or NONE with a matching. Other ISAI: NONE, because NU is
   *  not the transpose of NL. CALLBACK: CALLER. MULTIGRID: VALUES, or NONE if A is not symmetric,
   *  the smoother is not, or `pre` and `post` differ. The cycle K counts as if its coefficients
   *  were fixed. CPR and SCHUR: NONE. */
  bisai_symmetry symmetry;
  /** true if M is not linear, or changes from one application to the next. GMRES and CG take such
   *  an M only if they are flexible, and other methods refuse it (BISAI_NOT_LINEAR). CALLBACK:
   *  callback.nonlinear of the options. MULTIGRID, CPR and SCHUR: true for the cycle K of a
   *  stage that is used. Other kinds: false */
  bool nonlinear;
  /** report of ILU, ISAI and SWEEPS */
  bisai_factored_report factor;
  /** report of BJACOBI */
  bisai_bjacobi_report bjacobi;
  /** report of ISAI */
  bisai_isai_report isai;
  /** report of MULTIGRID */
  bisai_multigrid_report multigrid;
  /** report of CPR */
  bisai_cpr_report cpr;
  /** report of LU */
  bisai_lu_report lu;
  /** report of DIRECT */
  bisai_direct_report direct;
  /** report of SCHUR */
  bisai_schur_report schur;
  /** report of AUTO. The other reports are those of the preconditioner that was chosen */
  bisai_auto_report automatic;
} bisai_precond_report;

/** Fills a report whose struct_size the caller has set to sizeof(bisai_precond_report).
 *  @retval BISAI_INVALID_ARGUMENT  struct_size is unknown */
BISAI_API bisai_status bisai_precond_get_report(const bisai_precond *precond,
                                                bisai_precond_report *report);

/** Returns a description in one line, for example "isai k=2 relax=0 storage=fp64, 1075202
 *  blocks". The preconditioner owns it. Returns "" for NULL. The functions below return 0 or
 *  NULL for NULL. */
BISAI_API const char *bisai_precond_describe(const bisai_precond *precond);

/** Copies the first rows of the blocks of block-Jacobi. Waits for the device.
 *  @param block_ptr  out, in host memory: the scalar rows at which the blocks begin, and then the
 *      number of scalar rows; together bjacobi.blocks + 1 numbers (bisai_precond_report). With
 *      BISAI_BLOCKS_STRENGTH rows are counted in the order of the blocks
 *  @retval BISAI_INVALID_ARGUMENT  an argument is NULL, or the preconditioner is of another kind */
BISAI_API bisai_status bisai_precond_get_blocks(const bisai_precond *precond, int32_t *block_ptr);

/** Returns the number of values of a vector that the preconditioner takes: block_rows·bs of its
 *  matrix. */
BISAI_API int64_t bisai_precond_rows(const bisai_precond *precond);

/** Returns the permutation in use, from the new to the old ordering, or NULL for the natural
 *  ordering without a matching. It has block_rows entries in the backend's memory, or block_rows·bs
 *  for a matching of entries. The preconditioner owns it. With a matching it is that of the
 *  columns. */
BISAI_API const int32_t *bisai_precond_permutation(const bisai_precond *precond);

/** Returns the permutation of the rows likewise. Without a matching it is that of the columns. */
BISAI_API const int32_t *bisai_precond_row_permutation(const bisai_precond *precond);

/** Returns the factors in use, or NULL. The preconditioner owns them unless they are the
 *  caller's. With an ordering, a matching or equilibration they are the factors of
 *  P Q Dr A Dc Pᵀ. NL and NU below belong to this matrix too. */
BISAI_API const bisai_factors *bisai_precond_factors(const bisai_precond *precond);

/** Returns NL of ISAI, and NULL for other kinds and for ISAI of the matrix. The preconditioner owns
 *  it. */
BISAI_API const bisai_bcsr *bisai_precond_lower_inverse(const bisai_precond *precond);
/** Returns NU of ISAI without `symmetric`, N of ISAI of the matrix, and NULL otherwise. The
 *  preconditioner owns it. */
BISAI_API const bisai_bcsr *bisai_precond_upper_inverse(const bisai_precond *precond);

#ifdef __cplusplus
}
#endif
#endif
