/* SPDX-License-Identifier: BSD-3-Clause */
/** @file precond.h
 *  One handle for every preconditioner M ≈ A. An application computes z ← M⁻¹ v. */
#ifndef BISAI_PRECOND_H
#define BISAI_PRECOND_H

#include <bisai/factor.h>
#include <bisai/option.h>
#include <bisai/order.h>
#include <bisai/pattern.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A preconditioner that is set up. */
typedef struct bisai_precond bisai_precond;

/** The kinds of preconditioner. */
typedef enum bisai_precond_kind {
  /** z = v */
  BISAI_PRECOND_NONE = 0,
  /** z = D⁻¹ v, where D are the diagonal blocks of A */
  BISAI_PRECOND_BJACOBI = 1,
  /** z = U⁻¹ L⁻¹ v by exact block triangular solves */
  BISAI_PRECOND_ILU = 2,
  /** z = NU (NL v), where NL and NU approximate the inverses of L and U (Ma et al. 2021,
   *  equations 6–9). With `symmetric` z = NLᵀ (D⁻¹ (NL v)), where D are the diagonal blocks of U */
  BISAI_PRECOND_ISAI = 3,
  /** block-Jacobi sweeps on L, and then on U: each begins with x = D⁻¹b and repeats x ← D⁻¹(b −
   *  T_off x) */
  BISAI_PRECOND_SWEEPS = 4,
  /** z is computed by a function of the caller */
  BISAI_PRECOND_CALLBACK = 5,
  /** z is computed by a cycle of multigrid, from smoothed aggregation of block rows (Vaněk,
   *  Mandel, Brezina 1996; Notay 2010) */
  BISAI_PRECOND_MULTIGRID = 6,
  /** constrained pressure residual, of two stages (Wallis 1983; Gries, Stüben, Brown, Chen, Collins
   *  2014). MULTIGRID corrects the pressure, which is one unknown of each block, and a second kind
   *  corrects all unknowns. For the coupled flow of several phases, as in reservoirs */
  BISAI_PRECOND_CPR = 7
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
  X(BISAI_PRECOND_CPR, "cpr", cpr)

/** The number of kinds: they are 0 … BISAI_PRECOND_KINDS − 1. */
enum {
#define BISAI_PRECOND_COUNT(enumerator, word, name) +1
  BISAI_PRECOND_KINDS = 0 BISAI_PRECOND_KIND_LIST(BISAI_PRECOND_COUNT)
#undef BISAI_PRECOND_COUNT
};

/** Returns "none", "bjacobi", "ilu", "isai", "sweeps", "callback", "mg" or "cpr", and "unknown
 *  kind" for other values. */
BISAI_API const char *bisai_precond_kind_string(bisai_precond_kind value);

/** Looks up a word of bisai_precond_kind_string().
 *  @param value  out; unchanged if the word is unknown
 *  @returns      false for unknown words and NULL */
BISAI_API bool bisai_precond_kind_parse(const char *word, bisai_precond_kind *value);

/** What block-Jacobi stores for a diagonal block D of m rows. Every form has m² values. The two
 *  figures of each form are the floating-point operations of its set-up and of its application. */
typedef enum bisai_form {
  /** D⁻¹, computed by Gauss–Jordan elimination with implicit row pivoting (by cofactors for 2 ≤
   *  m ≤ 5). An application is a product: 2m³, 2m² (Anzt et al. 2017, section 2) */
  BISAI_FORM_INVERSE = 0,
  /** the Gauss–Huard decomposition with column pivoting: ⅔m³, 2m² (Anzt et al. 2017,
   *  Gauss–Huard) */
  BISAI_FORM_GAUSS_HUARD = 1,
  /** the Gauss–Huard decomposition with the part below the diagonal transposed about the
   *  anti-diagonal. The solve then reads columns only: ⅔m³, 2m² */
  BISAI_FORM_GAUSS_HUARD_TRANSPOSED = 2,
  /** the decomposition L U with row pivoting: ⅔m³, 2m² */
  BISAI_FORM_LU = 3
} bisai_form;

/** The words of bisai_form: X(enumerator, word). */
#define BISAI_FORM_LIST(X)                                                                         \
  X(BISAI_FORM_INVERSE, "inverse")                                                                 \
  X(BISAI_FORM_GAUSS_HUARD, "gh")                                                                  \
  X(BISAI_FORM_GAUSS_HUARD_TRANSPOSED, "ght")                                                      \
  X(BISAI_FORM_LU, "lu")

/** Returns "inverse", "gh", "ght" or "lu", and "unknown form" for other values. */
BISAI_API const char *bisai_form_string(bisai_form value);

/** Looks up a word of bisai_form_string().
 *  @param value  out; unchanged if the word is unknown
 *  @returns      false for unknown words and NULL */
BISAI_API bool bisai_form_parse(const char *word, bisai_form *value);

/** How block-Jacobi on a device reads diagonal blocks from the matrix and writes inverses to
 *  storage (Anzt et al. 2017, section 3.3). The host has only one way. The results do not depend
 *  on the choice. */
typedef enum bisai_extraction {
  /** MC, which is the fastest on every matrix measured, or within 2 % of it */
  BISAI_EXTRACTION_AUTO = 0,
  /** UC: separate kernels copy the blocks. Each thread reads a row through the caches */
  BISAI_EXTRACTION_CACHED = 1,
  /** MC: as UC, but the copies are part of the elimination kernel */
  BISAI_EXTRACTION_MERGED_CACHED = 2,
  /** US: separate kernels copy the blocks. All lanes read each row together, through shared
   *  memory */
  BISAI_EXTRACTION_SHARED = 3,
  /** MS: as US, but the copies are part of the elimination kernel */
  BISAI_EXTRACTION_MERGED_SHARED = 4
} bisai_extraction;

/** The words of bisai_extraction: X(enumerator, word). */
#define BISAI_EXTRACTION_LIST(X)                                                                   \
  X(BISAI_EXTRACTION_AUTO, "auto")                                                                 \
  X(BISAI_EXTRACTION_CACHED, "uc")                                                                 \
  X(BISAI_EXTRACTION_MERGED_CACHED, "mc")                                                          \
  X(BISAI_EXTRACTION_SHARED, "us")                                                                 \
  X(BISAI_EXTRACTION_MERGED_SHARED, "ms")

/** Returns "auto", "uc", "mc", "us" or "ms", and "unknown extraction" for other values. */
BISAI_API const char *bisai_extraction_string(bisai_extraction value);

/** Looks up a word of bisai_extraction_string().
 *  @param value  out; unchanged if the word is unknown
 *  @returns      false for unknown words and NULL */
BISAI_API bool bisai_extraction_parse(const char *word, bisai_extraction *value);

/** Says when M is symmetric up to rounding. Conjugate gradients need a symmetric M. */
typedef enum bisai_symmetry {
  /** M is in general not symmetric, even if A is */
  BISAI_SYMMETRY_NONE = 0,
  /** M is symmetric if A is */
  BISAI_SYMMETRY_VALUES = 1,
  /** M is symmetric if A is, and if A also stores block (j, i) for each stored block (i, j).
   *  Incomplete factors drop entries that have no place in the pattern */
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

/** The order in which a cycle of multigrid visits its levels. */
typedef enum bisai_cycle {
  /** V for a symmetric A, VW for a nonsymmetric one of single values, W for one of blocks */
  BISAI_CYCLE_AUTO = 0,
  /** each level once */
  BISAI_CYCLE_V = 1,
  /** from each level twice to the next coarser one, but once to the coarsest */
  BISAI_CYCLE_W = 2,
  /** as W, and the two corrections are combined by two steps of GCR (Notay and Vassilevski 2008).
   *  M then depends on v: the solver must be flexible */
  BISAI_CYCLE_K = 3,
  /** from level 0 once to level 1, and from there on W */
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

/** The words of bisai_smoother: X(enumerator, word). */
#define BISAI_SMOOTHER_LIST(X)                                                                     \
  X(BISAI_SMOOTHER_AUTO, "auto")                                                                   \
  X(BISAI_SMOOTHER_JACOBI, "jacobi")                                                               \
  X(BISAI_SMOOTHER_L1, "l1")                                                                       \
  X(BISAI_SMOOTHER_CHEBYSHEV, "chebyshev")                                                         \
  X(BISAI_SMOOTHER_ISAI, "isai")                                                                   \
  X(BISAI_SMOOTHER_SWEEPS, "sweeps")                                                               \
  X(BISAI_SMOOTHER_ILU, "ilu")

/** Returns "auto", "jacobi", …, as in the list; "unknown smoother" for other values. */
BISAI_API const char *bisai_smoother_string(bisai_smoother value);

/** Looks up a word of bisai_smoother_string().
 *  @param value  out; unchanged if the word is unknown
 *  @returns      false for unknown words and NULL */
BISAI_API bool bisai_smoother_parse(const char *word, bisai_smoother *value);

/** What multigrid aggregates. */
typedef enum bisai_nodes {
  /** SCALAR if the unknowns of a block are points of a mesh line rather than components at a point:
   *  if in most scalar rows the entries of all unknowns nearly cancel, and those of each component
   *  do not. BLOCK otherwise */
  BISAI_NODES_AUTO = 0,
  /** block rows */
  BISAI_NODES_BLOCK = 1,
  /** scalar rows. The matrix is copied to blocks of one value, without zeros */
  BISAI_NODES_SCALAR = 2
} bisai_nodes;

/** The words of bisai_nodes: X(enumerator, word). */
#define BISAI_NODES_LIST(X)                                                                        \
  X(BISAI_NODES_AUTO, "auto")                                                                      \
  X(BISAI_NODES_BLOCK, "block")                                                                    \
  X(BISAI_NODES_SCALAR, "scalar")

/** Returns "auto", "block" or "scalar", and "unknown nodes" for other values. */
BISAI_API const char *bisai_nodes_string(bisai_nodes value);

/** Looks up a word of bisai_nodes_string().
 *  @param value  out; unchanged if the word is unknown
 *  @returns      false for unknown words and NULL */
BISAI_API bool bisai_nodes_parse(const char *word, bisai_nodes *value);

/** The second stage of CPR. It takes the options of its kind: `isai`, `ilu`, `sweeps`, `bjacobi`,
 *  `factor` and `shift` of bisai_precond_options. */
typedef enum bisai_second {
  /** ISAI with relax = 1 */
  BISAI_SECOND_AUTO = 0,
  /** ISAI */
  BISAI_SECOND_ISAI = 1,
  /** ILU */
  BISAI_SECOND_ILU = 2,
  /** SWEEPS */
  BISAI_SECOND_SWEEPS = 3,
  /** BJACOBI */
  BISAI_SECOND_BJACOBI = 4
} bisai_second;

/** The words of bisai_second: X(enumerator, word). */
#define BISAI_SECOND_LIST(X)                                                                       \
  X(BISAI_SECOND_AUTO, "auto")                                                                     \
  X(BISAI_SECOND_ISAI, "isai")                                                                     \
  X(BISAI_SECOND_ILU, "ilu")                                                                       \
  X(BISAI_SECOND_SWEEPS, "sweeps")                                                                 \
  X(BISAI_SECOND_BJACOBI, "bjacobi")

/** Returns "auto", "isai", "ilu", "sweeps" or "bjacobi", and "unknown second stage" for other
 *  values. */
BISAI_API const char *bisai_second_string(bisai_second value);

/** Looks up a word of bisai_second_string().
 *  @param value  out; unchanged if the word is unknown
 *  @returns      false for unknown words and NULL */
BISAI_API bool bisai_second_parse(const char *word, bisai_second *value);

/** Where the weights of CPR come from. In block row i they solve Dᵀ w = e_p, where p is the
 *  pressure. */
typedef enum bisai_weights {
  /** D is the diagonal block of A */
  BISAI_WEIGHTS_QUASI_IMPES = 0,
  /** D are the caller's derivatives of the accumulation terms */
  BISAI_WEIGHTS_TRUE_IMPES = 1,
  /** the caller has given the weights */
  BISAI_WEIGHTS_GIVEN = 2
} bisai_weights;

/** The words of bisai_weights: X(enumerator, word). */
#define BISAI_WEIGHTS_LIST(X)                                                                      \
  X(BISAI_WEIGHTS_QUASI_IMPES, "quasi-impes")                                                      \
  X(BISAI_WEIGHTS_TRUE_IMPES, "true-impes")                                                        \
  X(BISAI_WEIGHTS_GIVEN, "given")

/** Returns "quasi-impes", "true-impes" or "given", and "unknown weights" for other values. */
BISAI_API const char *bisai_weights_string(bisai_weights value);

/** Looks up a word of bisai_weights_string().
 *  @param value  out; unchanged if the word is unknown
 *  @returns      false for unknown words and NULL */
BISAI_API bool bisai_weights_parse(const char *word, bisai_weights *value);

/** Computes z ← M⁻¹ v for vectors of n values in the backend's memory. On a device the function
 *  has two ways: it enqueues its work on the context's stream (bisai_context_stream()), or it
 *  calls bisai_context_synchronize() and then finishes its work before it returns. A status
 *  other than BISAI_OK stops the solver. */
typedef bisai_status (*bisai_apply_function)(void *user, int64_t n, const double *v, double *z);

/** Options of block-Jacobi. */
typedef struct bisai_bjacobi_options {
  /** 0 (default): the blocks are those of the matrix, or those of block_ptr. 1 … 32:
   *  supervariable agglomeration finds blocks of at most that many scalar rows (Anzt et al.
   *  2017, section 3). Consecutive rows of equal pattern belong together, and neighbours are
   *  merged as long as there is room. Stored zeros count as entries. 1 is scalar Jacobi */
  int32_t max_block;
  /** what is stored for a block; default BISAI_FORM_INVERSE */
  bisai_form form;
  /** how the blocks are stored. Any type is allowed, but BISAI_ADAPTIVE only with
   *  BISAI_FORM_INVERSE. Default BISAI_FP64 */
  bisai_value_type storage;
  /** for BISAI_ADAPTIVE: the number of decimal digits of the inverses that must survive
   *  rounding, 1 … 15; default 2. Each group of blocks has one format. A group is one block on
   *  the host, and the blocks of a warp on a device. The format is the first of fp16, bf16, (11,
   *  4), fp32, (11, 20) and fp64 that satisfies three conditions: κ₁(D) u ≤ 10^−digits, where u
   *  is the unit roundoff of the format; no value overflows; and ‖D‖₁‖E − Ẽ‖₁ ≤ 10^−digits,
   *  where Ẽ is the rounded inverse E. Ẽ is therefore regular (Flegar et al. 2020, sections 3.1,
   *  3.2) */
  int32_t digits;
  /** how a device copies the blocks; default BISAI_EXTRACTION_AUTO */
  bisai_extraction extraction;
  /** block_count + 1 scalar rows at which the blocks begin. The first is 0, and the last is
   *  block_rows·bs. Each block has 1 … 32 rows. The array is in host memory and is read during
   *  creation. Default NULL: no blocks are given */
  const int32_t *block_ptr;
  /** number of blocks of block_ptr; 0 if block_ptr is NULL */
  int32_t block_count;
} bisai_bjacobi_options;

/** Options of ILU. */
typedef struct bisai_ilu_options {
  /** how the exact solves are scheduled; default BISAI_SCHEDULE_AUTO */
  bisai_schedule schedule;
} bisai_ilu_options;

/** Options of ISAI. */
typedef struct bisai_isai_options {
  /** the power k of the patterns S(|L|^k) and S(|U|^k); default 1 */
  int32_t power;
  /** for a symmetric A, whose U is D Lᵀ. M⁻¹ = NLᵀ D⁻¹ NL is made from L and D alone. It is
   *  symmetric up to rounding, and therefore fit for CG. Relaxation sweeps on Lᵀ are the
   *  transposes of those on L, so that M stays symmetric. The set-up and the memory of NL and NU
   *  are halved. Creation and updates measure the asymmetry of A (bisai_bcsr_asymmetry()).
   *  Equilibration takes Dc = Dr. upper_pattern must be NULL. The caller's factors need a unit
   *  diagonal of L, and the caller vouches for U = D Lᵀ. Default false */
  bool symmetric;
  /** number of relaxation sweeps x ← x + N(b − T x) on each factor; default 0 */
  int32_t relax;
  /** how NL and NU are stored: one of the first four types; default BISAI_FP64 */
  bisai_value_type storage;
  /** blocks T_ij, i ≠ j, with ‖T_ij‖_F < drop_tolerance·‖T_ii‖_F are left out of the graph whose
   *  powers give the patterns. For L, T_ii is the identity, of norm √bs. The factors keep these
   *  blocks. Updates keep the pattern. ≥ 0; default 0: no block is left out. It does not apply
   *  to a pattern that is given */
  double drop_tolerance;
  /** upper bound on the number of blocks in a block column of NL or NU. A longer column keeps
   *  its diagonal block and the blocks nearest to it: nearest by steps in the graph of T, and
   *  then by |i − j|. ≥ 0; default 0: no limit. It does not apply to a pattern that is given */
  int32_t column_limit;
  /** replaces S(|L|^k) as the pattern of NL; read during creation; default NULL */
  const bisai_pattern *lower_pattern;
  /** replaces S(|U|^k) as the pattern of NU; read during creation; default NULL */
  const bisai_pattern *upper_pattern;
} bisai_isai_options;

/** Options of the sweeps. */
typedef struct bisai_sweeps_options {
  /** number of sweeps on each factor; default 1 */
  int32_t count;
} bisai_sweeps_options;

/** The most levels of multigrid, and the most near-null-space vectors. */
enum { BISAI_MULTIGRID_LEVELS = 24, BISAI_MULTIGRID_VECTORS = BISAI_MAX_BLOCK_SIZE };

/** For `pre` and `post`: 1, and 2 for the pressure matrix of CPR. */
enum { BISAI_MULTIGRID_STEPS_AUTO = -1 };

/** Options of multigrid. Level 0 has the matrix itself, which must live until the preconditioner is
 *  destroyed or updated with another matrix. */
typedef struct bisai_multigrid_options {
  /** default BISAI_CYCLE_AUTO */
  bisai_cycle cycle;
  /** default BISAI_SMOOTHER_AUTO */
  bisai_smoother smoother;
  /** smoother ISAI: the power of its patterns; default 1 */
  int32_t power;
  /** smoother ISAI: its relaxation sweeps; default 0 */
  int32_t relax;
  /** smoother SWEEPS: its sweeps on each factor; default 1 */
  int32_t sweeps;
  /** smoothers ISAI, SWEEPS and ILU: the level of fill of their factors; default 0 */
  int32_t level;
  /** applications of the smoother before the coarse correction; default
   *  BISAI_MULTIGRID_STEPS_AUTO */
  int32_t pre;
  /** applications of the smoother after the coarse correction; default
   *  BISAI_MULTIGRID_STEPS_AUTO */
  int32_t post;
  /** ω of JACOBI and L1, between 0 and 2; default 0.8. JACOBI multiplies it by 2/ρ(D⁻¹A), with an
   *  estimate of ρ that is at least 2 on level 0 and 1.5 on coarser levels */
  double damping;
  /** degree of CHEBYSHEV, at least 1; default 2 */
  int32_t degree;
  /** CHEBYSHEV damps the eigenvalues of D⁻¹A from 1.1·ρ/ratio to 1.1·ρ, where ρ is the estimate of
   *  the largest one; greater than 1; default 10 */
  double ratio;
  /** default BISAI_NODES_AUTO */
  bisai_nodes nodes;
  /** θ: the coupling of two block rows is strong if it is at least θ times the largest coupling of
   *  either row, 0 ≤ θ ≤ 1; default 0.25. The coupling is the geometric mean of ‖D_i⁻¹ A_ij‖_F/√bs
   *  and ‖D_j⁻¹ A_ji‖_F/√bs, each at most 1 */
  double strength;
  /** the most levels; default BISAI_MULTIGRID_LEVELS */
  int32_t levels;
  /** a matrix of at most that many scalar rows is inverted as a dense matrix, up to 2048;
   *  default 1024. If it is singular, the pseudo-inverse is computed on the host, which takes
   *  about a second for 1024 rows, also in updates */
  int32_t coarsest;
  /** coarsening stops before the values of all matrices are more than that many times those of
   *  A; at least 1; default 2.5 */
  double complexity;
  /** bisai_precond_update() keeps the transfers between the levels. Default false: they are
   *  computed again from the new values */
  bool keep_transfers;
  /** near-null-space vectors, for example rigid-body modes: block_rows·bs rows of null_count
   *  values, stored row by row, in host memory, as bisai_read_vectors() reads them. The array is
   *  read during creation. Blocks of coarser levels have null_count rows. Default NULL: one
   *  constant for each component */
  const double *null_vectors;
  /** the number of vectors, up to BISAI_MULTIGRID_VECTORS; 0 if null_vectors is NULL */
  int32_t null_count;
} bisai_multigrid_options;

/** For `pressure`: the unknown is found by a measurement. */
enum { BISAI_CPR_PRESSURE_AUTO = -1 };

/** Options of CPR. The first stage takes the options `multigrid`. */
typedef struct bisai_cpr_options {
  /** p: the place of the pressure among the unknowns of a block, from 0. Default
   *  BISAI_CPR_PRESSURE_AUTO: the unknown with the largest bisai_cpr_report::ellipticity, and the
   *  first one of several. Updates keep the unknown */
  int32_t pressure;
  /** default BISAI_SECOND_AUTO */
  bisai_second second;
  /** true: both stages work on v, and z is the sum of their results. Default false: the second
   *  stage works on what the first one leaves of v */
  bool additive;
  /** true: updates keep the weights, the pressure matrix and its levels. They bring the second
   *  stage up to date, and the columns of A with which it begins. Default false */
  bool keep_pressure;
  /** w: block_size values for each block row, of which only the direction matters. Default NULL:
   *  they are computed. The array is in host memory or in the backend's. It must live as long as
   *  the preconditioner, and each update reads it again */
  const double *weights;
  /** D: derivatives of the accumulation terms, for weights by true IMPES: block_rows·bs rows of bs
   *  values, row by row. Row i·bs + r has the derivatives of the term of equation r in block row
   *  i. Default NULL: D are the diagonal blocks of A. The array lives as that of `weights` */
  const double *storage;
} bisai_cpr_options;

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

/** Options that ILU, ISAI and the sweeps share. */
typedef struct bisai_factored_options {
  /** level of fill of the factors that the preconditioner computes; default 0 */
  int32_t level;
  /** the caller's factors, which must outlive the preconditioner. Default NULL: the
   *  preconditioner computes and owns the factors of block ILU(level) of the matrix */
  const bisai_factors *factors;
  /** applies if the preconditioner computes its factors. It then factorises P A Pᵀ, and z = Pᵀ
   *  (L U)⁻¹ P v. The caller's patterns are those of P A Pᵀ. NONE, BJACOBI and CALLBACK do not
   *  depend on the ordering and ignore it. Default BISAI_ORDERING_NATURAL */
  bisai_ordering ordering;
  /** for BISAI_ORDERING_GIVEN: block_rows entries from the new to the old ordering, read during
   *  creation; NULL for other orderings */
  const int32_t *permutation;
  /** applies under the same conditions as `ordering`. If true, the reordered Dr A Dc is
   *  factorised, and z = Dc (L U)⁻¹ Dr v. Dr and Dc have a power of two for each scalar row and
   *  column. These factors bring the largest magnitudes of the rows and columns of A near 1
   *  (Ruiz 2001). ILU, ISAI and SWEEPS commute with such scaling, and powers of two cause no
   *  rounding. In fp64, z therefore changes only by the rounding of blocks that are inverted
   *  with other pivots. Equilibration helps narrow storage, whose range is small, and thresholds
   *  and shifts, which are relative. Default false */
  bool equilibrate;
} bisai_factored_options;

/** Options of a preconditioner; start from bisai_precond_options_default(). The options of each
 *  kind are in the member that has its name. Options that the chosen kind does not take must
 *  keep their defaults: bisai_precond_create() refuses them by name. Only ordering, permutation
 *  and equilibrate are ignored instead. */
typedef struct bisai_precond_options {
  /** set by bisai_precond_options_default() */
  size_t struct_size;
  /** the kind; default BISAI_PRECOND_ISAI */
  bisai_precond_kind kind;
  /** how singular diagonal blocks are treated by BJACOBI, and by ILU, ISAI and SWEEPS if they
   *  compute their factors; default BISAI_SHIFT_NONE */
  bisai_shift shift;
  /** the amount of the shift, as in bisai_factor_options */
  double shift_amount;
  /** options that ILU, ISAI and SWEEPS share */
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
  /** options of MULTIGRID, and of the first stage of CPR */
  bisai_multigrid_options multigrid;
  /** options of CPR */
  bisai_cpr_options cpr;
} bisai_precond_options;

/** Returns the default options. */
BISAI_API bisai_precond_options bisai_precond_options_default(void);

/** Describes an option of a kind. The kind's own options come first, and the options that it
 *  shares with others follow. The list has no options that every kind allows and some ignore:
 *  ordering, permutation, equilibrate, user.
 *  @param index  from 0
 *  @returns      a description, whose offsets count in bisai_precond_options; NULL after the
 *      last option, and for unknown kinds */
BISAI_API const bisai_option *bisai_precond_kind_option(bisai_precond_kind kind, int index);

/** Returns true if a kind takes an option.
 *  @param field  as in bisai_option, for example "isai.power"
 *  @returns      false for unknown kinds and fields */
BISAI_API bool bisai_precond_kind_takes(bisai_precond_kind kind, const char *field);

/** Returns true if a kind needs something that a text cannot give. CALLBACK, for example, needs
 *  a function. METHOD and PETSc's options leave such a kind out. */
BISAI_API bool bisai_precond_kind_needs_code(bisai_precond_kind kind);

/** Sets up a preconditioner: factors, patterns, values and all workspace.
 *  @param matrix   square; read during the call only
 *  @param options  NULL: the defaults
 *  @param precond  out; unchanged on failure; free with bisai_precond_destroy()
 *  @retval BISAI_MISSING_DIAGONAL, BISAI_SINGULAR_BLOCK  the message names the block row in the
 *      caller's numbering. For block-Jacobi with blocks other than those of the matrix, it names
 *      the block and its scalar rows. With equilibration, a matrix must not have block rows or
 *      columns of zeros. A matrix with an empty block row or column (no block is stored there)
 *      is singular. It is refused by BISAI_MISSING_DIAGONAL, whatever the shift, and the message
 *      names the row or column. NONE and CALLBACK take such a matrix
 *  @retval BISAI_UNAVAILABLE  the ordering needs METIS, and this build has none
 *  @retval BISAI_INDEX_OVERFLOW  a factor or a pattern has more than 2³¹−1 blocks; the message
 *    names the block row
 *  @retval BISAI_OVERFLOW  a value of NL, NU or a block of block-Jacobi does not fit its
 *      storage, or values are too small for it and would all be stored as zero: those of a
 *      diagonal block of NL or NU, of a row or a column of a block of block-Jacobi, or the
 *      inverse of a pivot of its decomposition. The message names the block
 *  @retval BISAI_NOT_FINITE  the factors, NL or NU overflowed fp64
 *  @retval BISAI_UNSUPPORTED  the matrix is not stored in fp64
 *  @retval BISAI_NOT_READY  the caller's factors are not ready
 *  @retval BISAI_NOT_SYMMETRIC  `symmetric` is set, and the asymmetry of A exceeds
 *      BISAI_SYMMETRY_LIMIT, or A stores a block (i, j) without (j, i) and the factors are not
 *      the caller's
 *  @retval BISAI_INVALID_ARGUMENT  a value is out of range, or the kind does not take an option;
 *      the message names it
 *  @retval BISAI_OUT_OF_MEMORY */
BISAI_API bisai_status bisai_precond_create(bisai_context *context, const bisai_bcsr *matrix,
                                            const bisai_precond_options *options,
                                            bisai_precond **precond);

/** Updates the preconditioner for new values on the same pattern. The call factorises the matrix
 *  again and recomputes the values on the patterns of creation. Factors of the caller are not
 *  recomputed: the caller updates them before this call. Allocates nothing. The errors are those
 *  of creation. A call that is refused for its arguments (BISAI_INVALID_ARGUMENT: NULL, another
 *  pattern; BISAI_UNSUPPORTED) leaves the preconditioner unchanged. After a numerical failure,
 *  bisai_precond_apply() returns BISAI_NOT_READY until an update succeeds. Block-Jacobi keeps
 *  its blocks, even if another pattern with the same number of stored blocks would give other
 *  blocks. It only checks that natural diagonal blocks are where they were. */
BISAI_API bisai_status bisai_precond_update(bisai_precond *precond, const bisai_bcsr *matrix);

/** Computes z ← M⁻¹ v. Both vectors have n values and must not overlap. Allocates nothing, with
 *  one exception on a device: a vector in host memory is copied through device memory that is
 *  taken for the call, and the call then waits. If both vectors are in device memory, the call
 *  returns before the work is done. Bitwise repeatable for any number of threads. Only one
 *  thread at a time may use a preconditioner, because it owns workspace.
 *  @retval BISAI_INVALID_ARGUMENT  v or z is NULL, or both are one array
 *  @retval BISAI_NOT_READY, BISAI_CALLBACK_FAILED */
BISAI_API bisai_status bisai_precond_apply(bisai_precond *precond, const double *v, double *z);

/** Computes Z ← M⁻¹ V for `count` vectors, as bisai_precond_apply() does for one. Vector c
 *  starts at v + c·ldv and z + c·ldz.
 *  @param ldv, ldz  at least bisai_precond_rows(); not read with fewer than two vectors */
BISAI_API bisai_status bisai_precond_apply_many(bisai_precond *precond, int32_t count,
                                                const double *v, int64_t ldv, double *z,
                                                int64_t ldz);

/** Frees *precond and sets it to NULL; accepts NULL and pointers to NULL. */
BISAI_API void bisai_precond_destroy(bisai_precond **precond);

/** What ILU, ISAI and the sweeps report. */
typedef struct bisai_factored_report {
  /** number of stored blocks of L + U; 0 without factors */
  int64_t blocks;
  /** number of dependent steps of an exact solve with L; 0 without factors */
  int32_t lower_levels;
  /** number of dependent steps of an exact solve with U; 0 without factors */
  int32_t upper_levels;
  /** the ordering in use; natural if the kind ignores the ordering */
  bisai_ordering ordering;
  /** largest |i − j| of the blocks of A + Aᵀ in the caller's ordering; 0 without factors */
  int32_t natural_bandwidth;
  /** largest |i − j| in the ordering in use; 0 without factors */
  int32_t bandwidth;
  /** sum over the block rows i of A + Aᵀ of i minus the first block column of the row, in the
   *  caller's ordering; 0 without factors */
  int64_t natural_profile;
  /** the same sum in the ordering in use; 0 without factors */
  int64_t profile;
  /** true if rows and columns are scaled */
  bool equilibrated;
  /** smallest factor in Dr and Dc; 1 if there are none */
  double smallest_scale;
  /** largest factor in Dr and Dc; 1 if there are none */
  double largest_scale;
} bisai_factored_report;

/** What ISAI reports. The fields of other kinds are zero, but `asymmetry` is NaN. */
typedef struct bisai_isai_report {
  /** number of stored blocks of NL + NU */
  int64_t blocks;
  /** number of blocks in the longest block column of NL and NU */
  int32_t longest_column;
  /** number of blocks of L that drop_tolerance left out of the graph */
  int64_t dropped_lower;
  /** number of blocks of U that drop_tolerance left out of the graph */
  int64_t dropped_upper;
  /** number of block columns of NL and NU that column_limit shortened */
  int32_t shortened_columns;
  /** number of blocks that column_limit removed from these columns */
  int64_t cut_blocks;
  /** with `symmetric` the asymmetry of A, as bisai_bcsr_asymmetry() measures it; otherwise NaN */
  double asymmetry;
} bisai_isai_report;

/** What block-Jacobi reports. The fields of other kinds are zero, but `near_singular_block` is
 *  -1. */
typedef struct bisai_bjacobi_report {
  /** number of diagonal blocks */
  int32_t blocks;
  /** number of rows of the largest block */
  int32_t largest_block;
  /** entry m is the number of blocks of m rows, m = 1 … 32 */
  int32_t by_size[33];
  /** number of blocks stored in each bisai_value_type */
  int64_t by_format[BISAI_VALUE_TYPES];
  /** bytes of the blocks' values that an application reads */
  int64_t value_bytes;
  /** number of nearly singular blocks, which are used as they are. An inverted block of m rows
   *  counts if m ε κ₁ ≥ 1: no digit of its inverse is then known. κ₁ of a decomposition is not
   *  known, and its block counts if a pivot is at most m ε‖D‖₁. This test finds many nearly
   *  singular blocks, but not all */
  int64_t near_singular;
  /** the first nearly singular block; -1 if there is none */
  int32_t near_singular_block;
} bisai_bjacobi_report;

/** What multigrid reports. The fields of other kinds are zero. */
typedef struct bisai_multigrid_report {
  /** the number of levels */
  int32_t levels;
  /** the block rows of the levels' matrices */
  int32_t rows[BISAI_MULTIGRID_LEVELS];
  /** their block sizes */
  int32_t block_size[BISAI_MULTIGRID_LEVELS];
  /** their stored blocks */
  int32_t blocks[BISAI_MULTIGRID_LEVELS];
  /** the estimates of ρ(D⁻¹A) of the levels but the coarsest; 0 if none was needed */
  double radius[BISAI_MULTIGRID_LEVELS];
  /** stored values of the matrices of all levels, over those of A */
  double operator_complexity;
  /** scalar rows of all levels, over those of A */
  double grid_complexity;
  /** the cycle in use, never AUTO */
  bisai_cycle cycle;
  /** the smoother in use, never AUTO */
  bisai_smoother smoother;
  /** the nodes in use, never AUTO */
  bisai_nodes nodes;
  /** true if A of creation is symmetric: restriction is then Pᵀ */
  bool symmetric;
  /** true if the coarsest matrix is inverted; false if it is smoothed, because it is too large */
  bool coarsest_inverted;
  /** the dimension of the null space of the coarsest matrix, which is then inverted but for this
   *  space (pseudo-inverse); 0 if it is regular or not inverted. The same as that of A if the
   *  near-null-space vectors span the null space of A */
  int32_t coarsest_nullity;
  /** bytes of the matrices and the transfers of all levels but A itself */
  int64_t hierarchy_bytes;
  /** the most bytes that creation held at a time */
  int64_t peak_bytes;
} bisai_multigrid_report;

/** What CPR reports. The fields of other kinds are zero, but rows are -1. The stages report in the
 *  members of their kinds: `multigrid`, and `factor`, `isai` or `bjacobi`. */
typedef struct bisai_cpr_report {
  /** the place of the pressure in a block */
  int32_t pressure;
  /** true if it was found by a measurement */
  bool found;
  /** With `found`, how elliptic the pressure matrix of each unknown is, 0 … 1: the mean over the
   *  block rows i of min(1, Σ_j √|a_ij a_ji / (a_ii a_jj)|), where j ≠ i. That of the pressure is
   *  typically above 0.5, and others are below 0.1. Otherwise 0 */
  double ellipticity[BISAI_MAX_BLOCK_SIZE];
  /** the kind of the second stage, for example BISAI_PRECOND_ISAI */
  bisai_precond_kind second;
  /** where the weights come from */
  bisai_weights weights;
  /** number of block rows whose D is singular. Their weights are e_p */
  int64_t singular_rows;
  /** the first of them; -1 if there is none */
  int32_t first_singular_row;
  /** number of block rows whose weights were multiplied by −1, so that the diagonal entry of the
   *  pressure matrix became positive */
  int64_t reversed_rows;
  /** number of block rows whose diagonal entry of the pressure matrix is zero, but for rounding, or
   *  not finite. They have the weights 0, and so no pressure correction */
  int64_t excluded_rows;
  /** the first of them; -1 if there is none */
  int32_t first_excluded_row;
} bisai_cpr_report;

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
   *  of the levels of multigrid with their first values; 0 after an update */
  double pattern_seconds;
  /** time of the values of NL and NU, of the sweeps' matrices, of the inverted diagonal blocks, or
   *  of an update of multigrid */
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
  /** When M is symmetric. NONE and BJACOBI: VALUES. BJACOBI with decompositions narrower than
   *  fp64: NONE, because L and U are rounded separately. ILU, SWEEPS and symmetric ISAI:
   *  PATTERN, or CALLER with the caller's factors. Other ISAI: NONE, because NU is not the
   *  transpose of NL. CALLBACK: CALLER. MULTIGRID: VALUES, or NONE if A is not symmetric, the
   *  smoother is not, or `pre` and `post` differ. For a nonlinear M, the symmetry of the linear
   *  applications that it varies. CPR: NONE. */
  bisai_symmetry symmetry;
  /** M is not linear, or it changes from one application to the next. GMRES and CG take it only
   *  if they are flexible, and other methods refuse it (BISAI_NOT_LINEAR). CALLBACK:
   *  callback.nonlinear of the options. MULTIGRID and CPR: true for the cycle K. Other kinds:
   *  false */
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
} bisai_precond_report;

/** Fills a report whose struct_size the caller has set to sizeof(bisai_precond_report).
 *  @retval BISAI_INVALID_ARGUMENT  unknown struct_size */
BISAI_API bisai_status bisai_precond_get_report(const bisai_precond *precond,
                                                bisai_precond_report *report);

/** Returns a description in one line, for example "isai k=2 relax=0 storage=fp64, 1075202
 *  blocks". The preconditioner owns it. Returns "" for NULL. The functions below return 0 or
 *  NULL for NULL. */
BISAI_API const char *bisai_precond_describe(const bisai_precond *precond);

/** Copies the first rows of the blocks of block-Jacobi. Waits for the device.
 *  @param block_ptr  out, in host memory: bjacobi.blocks + 1 scalar rows (see the report). The
 *      blocks begin at these rows, and the last one is the number of rows
 *  @retval BISAI_INVALID_ARGUMENT  NULL, or another kind of preconditioner */
BISAI_API bisai_status bisai_precond_get_blocks(const bisai_precond *precond, int32_t *block_ptr);

/** Returns the number of values of a vector that the preconditioner takes: block_rows·bs of its
 *  matrix. */
BISAI_API int64_t bisai_precond_rows(const bisai_precond *precond);

/** Returns the permutation in use, from the new to the old ordering, or NULL for the natural
 *  ordering. It has block_rows entries in the backend's memory. The preconditioner owns it. */
BISAI_API const int32_t *bisai_precond_permutation(const bisai_precond *precond);

/** Returns the factors in use, or NULL. The preconditioner owns them unless they are the
 *  caller's. With an ordering or equilibration they are the factors of P Dr A Dc Pᵀ. NL and NU
 *  below belong to this matrix too. */
BISAI_API const bisai_factors *bisai_precond_factors(const bisai_precond *precond);

/** Returns NL of ISAI, and NULL for other kinds. The preconditioner owns it. */
BISAI_API const bisai_bcsr *bisai_precond_lower_inverse(const bisai_precond *precond);
/** Returns NU of ISAI without `symmetric`, and NULL otherwise. The preconditioner owns it. */
BISAI_API const bisai_bcsr *bisai_precond_upper_inverse(const bisai_precond *precond);

#ifdef __cplusplus
}
#endif
#endif
