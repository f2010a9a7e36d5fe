/* SPDX-License-Identifier: BSD-3-Clause */
/** @file precond_multigrid.h
 *  Options and report of multigrid (bisai/precond.h). */
#ifndef BISAI_PRECOND_MULTIGRID_H
#define BISAI_PRECOND_MULTIGRID_H

#include <stdbool.h>
#include <stdint.h>

#include <bisai/bcsr.h>
#include <bisai/export.h>
#include <bisai/multigrid_memory.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The order in which a cycle of multigrid visits its levels. */
typedef enum bisai_cycle {
  /** V if A is symmetric. Otherwise VW if the aggregates are of scalar rows or the block size is 1,
   *  and W if not. For the pressure matrix of CPR: V if it has at most 2¹⁷ rows and the second
   *  stage is not ILU, and W if not */
  BISAI_CYCLE_AUTO = 0,
  /** each level once */
  BISAI_CYCLE_V = 1,
  /** from each level twice to the next coarser one, but once to the coarsest. If the coarsest is
   *  inverted and there are four levels or more, also once to the level before it, unless
   *  `unweighted` is set (as in CPR) */
  BISAI_CYCLE_W = 2,
  /** from each level twice to the next coarser one, but once to the coarsest. The two corrections
   *  are combined by two steps of GCR (Notay and Vassilevski 2008). M then depends on v: the solver
   *  must be flexible. If squares of the values of v leave the range of fp64 (below 10⁻¹⁵⁰, above
   *  10¹⁵⁰), corrections are dropped, and M is weaker. Solvers scale their vectors, so that this
   *  does not happen in them */
  BISAI_CYCLE_K = 3,
  /** from level 0 once to level 1, and from there twice to each next level, but once to the
   *  coarsest */
  BISAI_CYCLE_VW = 4
} bisai_cycle;

/** The words of bisai_cycle: X(enumerator, word). */
#define BISAI_CYCLE_LIST(X)                                                                        \
  X(BISAI_CYCLE_AUTO, "auto")                                                                      \
  X(BISAI_CYCLE_V, "v")                                                                            \
  X(BISAI_CYCLE_W, "w")                                                                            \
  X(BISAI_CYCLE_K, "k")                                                                            \
  X(BISAI_CYCLE_VW, "vw")

/** Returns "auto", "v", "w", "k" or "vw", and "unknown cycle" for other values. */
BISAI_API const char *bisai_cycle_string(bisai_cycle value);

/** Looks up a word of bisai_cycle_string().
 *  @param value  out; unchanged if the word is unknown
 *  @returns      false for unknown words and NULL */
BISAI_API bool bisai_cycle_parse(const char *word, bisai_cycle *value);

/** The smoother of multigrid. D are the diagonal blocks of a level's matrix A. */
typedef enum bisai_smoother {
  /** CHEBYSHEV for a symmetric A, JACOBI otherwise */
  BISAI_SMOOTHER_AUTO = 0,
  /** damped block-Jacobi: x ← x + ω D⁻¹(b − A x) */
  BISAI_SMOOTHER_JACOBI = 1,
  /** block-Jacobi with D_ii + diag(Σ |a_ij|), where the sum is over the entries of the row outside
   *  of D (Baker, Falgout, Kolev, Yang 2011) */
  BISAI_SMOOTHER_L1 = 2,
  /** Chebyshev polynomials in D⁻¹A (Adams, Brezina, Hu, Tuminaro 2003) */
  BISAI_SMOOTHER_CHEBYSHEV = 3,
  /** x ← x + M⁻¹(b − A x), where M is block-ISAI with the options `isai` */
  BISAI_SMOOTHER_ISAI = 4,
  /** x ← x + M⁻¹(b − A x), where M is SWEEPS with the options `sweeps` */
  BISAI_SMOOTHER_SWEEPS = 5,
  /** x ← x + M⁻¹(b − A x), where M is block ILU */
  BISAI_SMOOTHER_ILU = 6
} bisai_smoother;

/** The words of bisai_smoother, and the names of their private tables: X(enumerator, word, name).
 *  */
#define BISAI_SMOOTHER_LIST(X)                                                                     \
  X(BISAI_SMOOTHER_AUTO, "auto", auto)                                                             \
  X(BISAI_SMOOTHER_JACOBI, "jacobi", jacobi)                                                       \
  X(BISAI_SMOOTHER_L1, "l1", l1)                                                                   \
  X(BISAI_SMOOTHER_CHEBYSHEV, "chebyshev", chebyshev)                                              \
  X(BISAI_SMOOTHER_ISAI, "isai", isai)                                                             \
  X(BISAI_SMOOTHER_SWEEPS, "sweeps", sweeps)                                                       \
  X(BISAI_SMOOTHER_ILU, "ilu", ilu)

/** Returns the word of the list, for example "jacobi", and "unknown smoother" for other values. */
BISAI_API const char *bisai_smoother_string(bisai_smoother value);

/** Looks up a word of bisai_smoother_string().
 *  @param value  out; unchanged if the word is unknown
 *  @returns      false for unknown words and NULL */
BISAI_API bool bisai_smoother_parse(const char *word, bisai_smoother *value);

/** What multigrid aggregates. */
typedef enum bisai_aggregation_unit {
  /** SCALAR if the unknowns of a block are points of a mesh line, and BLOCK if they are components
   *  at one point. They count as points if in most scalar rows all entries together nearly cancel,
   *  but those of each component do not. SCALAR also if a diagonal block is not stored and there is
   *  a shift, unless null_vectors are given */
  BISAI_AGGREGATION_UNIT_AUTO = 0,
  /** block rows */
  BISAI_AGGREGATION_UNIT_BLOCK = 1,
  /** scalar rows. The matrix is copied to blocks of one value, without zeros. Diagonal entries that
   *  are not stored are 0 there, and a shift repairs them */
  BISAI_AGGREGATION_UNIT_SCALAR = 2
} bisai_aggregation_unit;

/** The words of bisai_aggregation_unit: X(enumerator, word). */
#define BISAI_AGGREGATION_UNIT_LIST(X)                                                             \
  X(BISAI_AGGREGATION_UNIT_AUTO, "auto")                                                           \
  X(BISAI_AGGREGATION_UNIT_BLOCK, "block")                                                         \
  X(BISAI_AGGREGATION_UNIT_SCALAR, "scalar")

/** Returns "auto", "block" or "scalar", and "unknown nodes" for other values. */
BISAI_API const char *bisai_aggregation_unit_string(bisai_aggregation_unit value);

/** Looks up a word of bisai_aggregation_unit_string().
 *  @param value  out; unchanged if the word is unknown
 *  @returns      false for unknown words and NULL */
BISAI_API bool bisai_aggregation_unit_parse(const char *word, bisai_aggregation_unit *value);

/** What ended coarsening. */
typedef enum bisai_coarsening_end {
  /** the last matrix has few enough scalar rows to be inverted */
  BISAI_COARSENING_END_ROWS = 0,
  /** there are `levels` levels */
  BISAI_COARSENING_END_LEVELS = 1,
  /** the next matrix would exceed `complexity` */
  BISAI_COARSENING_END_COMPLEXITY = 2,
  /** too few couplings are strong: there would be more aggregates than rows divided by 1.3 */
  BISAI_COARSENING_END_AGGREGATES = 3
} bisai_coarsening_end;

/** The words of bisai_coarsening_end: X(enumerator, word). */
#define BISAI_COARSENING_END_LIST(X)                                                               \
  X(BISAI_COARSENING_END_ROWS, "rows")                                                             \
  X(BISAI_COARSENING_END_LEVELS, "levels")                                                         \
  X(BISAI_COARSENING_END_COMPLEXITY, "complexity")                                                 \
  X(BISAI_COARSENING_END_AGGREGATES, "aggregates")

/** Returns "rows", "levels", "complexity" or "aggregates", and "unknown limit" for other values. */
BISAI_API const char *bisai_coarsening_end_string(bisai_coarsening_end value);

/** Looks up a word of bisai_coarsening_end_string().
 *  @param value  out; unchanged if the word is unknown
 *  @returns      false for unknown words and NULL */
BISAI_API bool bisai_coarsening_end_parse(const char *word, bisai_coarsening_end *value);

/** What multigrid keeps for updates with new values. */
typedef enum bisai_multigrid_update {
  /** as LEAN until the first update, which allocates what LEAN releases, and as FAST from then on:
   *  later updates allocate nothing */
  BISAI_MULTIGRID_UPDATE_AUTO = 0,
  /** everything: updates allocate nothing */
  BISAI_MULTIGRID_UPDATE_FAST = 1,
  /** what cannot be made again: each update reserves the rest, makes its structures and releases
   *  it. In fp64 there are only the matrices and transfers of which cycles read no copy in fp32;
   *  with `keep_transfers` also the transfers */
  BISAI_MULTIGRID_UPDATE_LEAN = 2,
  /** nothing: updates are refused (BISAI_UNSUPPORTED) */
  BISAI_MULTIGRID_UPDATE_NONE = 3
} bisai_multigrid_update;

/** The words of bisai_multigrid_update: X(enumerator, word). */
#define BISAI_MULTIGRID_UPDATE_LIST(X)                                                             \
  X(BISAI_MULTIGRID_UPDATE_AUTO, "auto")                                                           \
  X(BISAI_MULTIGRID_UPDATE_FAST, "fast")                                                           \
  X(BISAI_MULTIGRID_UPDATE_LEAN, "lean")                                                           \
  X(BISAI_MULTIGRID_UPDATE_NONE, "none")

/** Returns "auto", "fast", "lean" or "none", and "unknown update" for other values. */
BISAI_API const char *bisai_multigrid_update_string(bisai_multigrid_update value);

/** Looks up a word of bisai_multigrid_update_string().
 *  @param value  out; unchanged if the word is unknown
 *  @returns      false for unknown words and NULL */
BISAI_API bool bisai_multigrid_update_parse(const char *word, bisai_multigrid_update *value);

/** The most levels of multigrid, and the most near-null-space vectors. */
enum { BISAI_MULTIGRID_LEVELS = 24, BISAI_MULTIGRID_VECTORS = BISAI_MAX_BLOCK_SIZE };

/** The value of `coarsest` that lets the library choose. It chooses the largest n ≤ 1024 with n³ ≤
 *  150·(v + 8 b), where A has b blocks of v values in all. On the host the inverse then takes at
 *  most about half as long as the rest of set-up. If the hierarchy is one of p ranks
 *  (bisai/ranks.h), which share the rest but not the inverse, it is n³ ≤ 150·(v + 8 b)/p. A GPU has
 *  the same levels, but inverts A itself if it has at most 1024 rows, and takes 512 for the
 *  pressure matrix of CPR. A larger coarse matrix of up to 1024 rows is inverted only if it cannot
 *  be coarsened. A itself is also inverted if it has at most 1024 rows and its cycles let errors
 *  grow (bisai_precond_error_factor()) or never smooth. In CPR, A is here the pressure matrix. A
 *  singular coarse matrix of more than 256 rows is coarsened further, since its pseudo-inverse
 *  would be computed on the host. CPR does not do this, and neither do the smoothers ISAI, SWEEPS
 *  and ILU. */
enum { BISAI_MULTIGRID_COARSEST_AUTO = -1 };

/** Options of multigrid. Level 0 has the matrix itself, which must live until the preconditioner is
 *  destroyed, or until an update with another matrix has returned BISAI_OK.
 *
 *  Whether A is symmetric is measured (bisai_bcsr_asymmetry()) and decides on the transfers and on
 *  what AUTO stands for. An update keeps these choices. If A of creation was symmetric, it
 *  therefore refuses values that are not (BISAI_NOT_SYMMETRIC), unless `unweighted` is set. */
typedef struct bisai_multigrid_options {
  /** default BISAI_CYCLE_AUTO */
  bisai_cycle cycle;
  /** default BISAI_SMOOTHER_AUTO. An option that only other smoothers read must keep its default.
   *  AUTO takes the options of JACOBI and CHEBYSHEV. */
  bisai_smoother smoother;
  /** smoother ISAI: the power of its patterns; default 1 */
  int32_t power;
  /** smoother ISAI: its relaxation sweeps; default 0 */
  int32_t relax;
  /** smoother SWEEPS: its sweeps on each factor; default 1 */
  int32_t sweeps;
  /** smoothers ISAI, SWEEPS and ILU: the level of fill of their factors; default 0 */
  int32_t level;
  /** applications of the smoother before the coarse correction; default 1. `pre` and `post`, and
   *  each of them times `degree` (CHEBYSHEV), `relax` (ISAI) or `sweeps` (SWEEPS), are at most 10⁶.
   *  Both are 0 only for a matrix of at most `coarsest` scalar rows: otherwise M would be
   *  singular */
  int32_t pre;
  /** applications of the smoother after the coarse correction; default 1 */
  int32_t post;
  /** ω of JACOBI and L1, between 0 and 2; default 0.8. JACOBI multiplies it by 2/ρ, with
   *  `radius` of the report for ρ, but at least 2 on level 0 and 1.5 on coarser levels */
  double damping;
  /** degree of CHEBYSHEV, at least 1; default 2 */
  int32_t degree;
  /** CHEBYSHEV damps the eigenvalues of D⁻¹A from ρ/ratio to ρ, where ρ is `radius` of the report,
   *  and 1.1 times that for a nonsymmetric A; greater than 1; default 10 */
  double ratio;
  /** default BISAI_AGGREGATION_UNIT_AUTO */
  bisai_aggregation_unit nodes;
  /** θ: the coupling of block rows i and j is strong if it is at least θ times the largest coupling
   *  of row i and θ times that of row j, 0 ≤ θ ≤ 1; default 0.25. The coupling is the geometric
   *  mean of ‖D_i⁻¹ A_ij‖_F/√bs and ‖D_j⁻¹ A_ji‖_F/√bs, each at most 1 */
  double strength;
  /** the most levels; default BISAI_MULTIGRID_LEVELS */
  int32_t levels;
  /** a matrix of at most that many scalar rows is inverted as a dense matrix; at most 2048; default
   *  BISAI_MULTIGRID_COARSEST_AUTO. If the matrix is singular, its pseudo-inverse is computed on
   *  the host, in creation and in updates, which takes 3 ms for 256 rows and 0.2 s for 1024 */
  int32_t coarsest;
  /** the values of all matrices together are at most that many times those of A; at least 1, or 0
   *  (default), which stands for 2.5, and for 5 with the pressure matrix of CPR. Transfers that
   *  would make the next matrix too large are not smoothed. If it would still be too large,
   *  coarsening ends. With the default, a matrix is never too large if it has fewer values than the
   *  inverse that it saves */
  double complexity;
  /** true: restriction adds up the rows of a nonsymmetric A as they are, and is the transpose of
   *  prolongation. This is right for equations in conservation form, whose sum over cells is the
   *  equation of their union, if coefficients jump and diffusion outweighs convection. Nothing then
   *  needs a symmetric A: updates take all values, and the smoother ISAI is made as for a
   *  nonsymmetric A. Default false: rows are first divided by the sizes of their diagonal blocks,
   *  which makes up for rows of different scales. CPR always takes true */
  bool unweighted;
  /** bisai_precond_update() keeps the transfers between the levels and the estimates of ρ(D⁻¹A).
   *  The smoothers damp all errors as long as ρ(D⁻¹A) of a level is at most a fifth above the
   *  estimate. Default false: both are computed again from the new values */
  bool keep_transfers;
  /** what is kept for updates, and what an update makes again; default AUTO. The values are the
   *  same bits. FAST takes two to three times the memory of LEAN */
  bisai_multigrid_update update;
  /** BISAI_FP32 (default) or BISAI_FP64: the format in which cycles read the matrices and transfers
   *  of large levels. A level is large if a product with its matrix moves more than 2 MB. With FP32
   *  large levels have copies. A level whose matrix has values outside of 2⁻¹⁰⁰ … 2¹⁰⁰, or whose
   *  transfers have larger ones, keeps FP64. Arithmetic, coarse matrices and the solver's true
   *  residuals are fp64 */
  bisai_value_type precision;
  /** near-null-space vectors, for example rigid-body modes: block_rows·bs rows of null_count
   *  values, stored row by row, as bisai_read_vectors() reads them, in host memory or in that of
   *  the context's device. The array is read during creation. The norm of a vector has no effect.
   *  Blocks of coarser levels have null_count rows. AUTO takes the vectors for its candidates of
   *  this kind. Default NULL: one constant for each component, and zero in padding inside the
   *  blocks */
  const double *null_vectors;
  /** the number of vectors, up to BISAI_MULTIGRID_VECTORS; 0 if null_vectors is NULL */
  int32_t null_count;
} bisai_multigrid_options;

/** What multigrid reports. For other kinds all fields are zero. */
typedef struct bisai_multigrid_report {
  /** the number of levels */
  int32_t levels;
  /** the block rows of the levels' matrices */
  int32_t rows[BISAI_MULTIGRID_LEVELS];
  /** their block sizes */
  int32_t block_size[BISAI_MULTIGRID_LEVELS];
  /** their stored blocks */
  int32_t blocks[BISAI_MULTIGRID_LEVELS];
  /** ρ(D⁻¹A) of the levels but the coarsest; 0 if it was not needed. For a symmetric A whose D⁻¹A
   *  has no negative eigenvalue it is an upper bound by ten Lanczos steps with their residual (Zhou
   *  and Li, Linear Algebra Appl. 435, 2011), times 1.05 and rounded up to ten bits. For other
   *  symmetric A it is 1.1 times the growth of ten power steps; for a nonsymmetric A it is the
   *  growth of five or ten, an estimate from below. It is infinite if power steps overflow: JACOBI
   *  and CHEBYSHEV do not smooth such a level, so that M is of little use */
  double radius[BISAI_MULTIGRID_LEVELS];
  /** true if the transfers to the next level are not smoothed, because the matrix of that level
   *  would have exceeded the limit of the complexity */
  bool unsmoothed[BISAI_MULTIGRID_LEVELS];
  /** stored values of the matrices of all levels, over those of A */
  double operator_complexity;
  /** scalar rows of all levels, over those of A */
  double grid_complexity;
  /** the cycle in use, never AUTO */
  bisai_cycle cycle;
  /** the smoother in use, never AUTO */
  bisai_smoother smoother;
  /** the nodes in use, never AUTO */
  bisai_aggregation_unit nodes;
  /** true if A of creation is symmetric: restriction is then Pᵀ. Updates do not change it; see
   *  bisai_precond_report::symmetry */
  bool symmetric;
  /** the option `coarsest`, or the number that BISAI_MULTIGRID_COARSEST_AUTO chose: matrices of at
   *  most that many scalar rows were not coarsened */
  int32_t coarsest;
  /** true if the coarsest matrix is inverted; false if it is smoothed, because it is too large */
  bool coarsest_inverted;
  /** what ended coarsening. If this is not ROWS, the coarsest matrix is larger than intended, and
   *  is inverted only if BISAI_MULTIGRID_COARSEST_AUTO allows it */
  bisai_coarsening_end ended_by;
  /** the dimension of the null space of the coarsest matrix, whose pseudo-inverse then takes the
   *  place of the inverse; 0 if the matrix is regular or not inverted. A has a null space of the
   *  same dimension if the near-null-space vectors span it and are independent in each aggregate.
   *  Dependent vectors add to the dimension, and so do scales of unknowns that differ by 10⁸ or
   *  more from row to row. After an update the dimension may be less than that of A, because the
   *  aggregates are those of creation */
  int32_t coarsest_nullity;
  /** the memory of each level, array by array */
  bisai_multigrid_memory memory[BISAI_MULTIGRID_LEVELS];
  /** the bytes of all levels together. A itself is the caller's and does not count */
  int64_t hierarchy_bytes;
  /** The most bytes that creation held at a time. What single operations take for a moment is not
   *  counted, except the room of products on the host; on a GPU bisai_device_memory tells the most
   *  that was in use */
  int64_t peak_bytes;
} bisai_multigrid_report;

#ifdef __cplusplus
}
#endif
#endif
