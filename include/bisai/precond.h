/* SPDX-License-Identifier: BSD-3-Clause */
/** @file precond.h
 *  One handle for every preconditioner M ≈ A: z ← M⁻¹ v. */
#ifndef BISAI_PRECOND_H
#define BISAI_PRECOND_H

#include <bisai/factor.h>
#include <bisai/option.h>
#include <bisai/order.h>
#include <bisai/pattern.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A preconditioner, set up. */
typedef struct bisai_precond bisai_precond;

/** The kinds of preconditioner. */
typedef enum bisai_precond_kind {
  /** z = v */
  BISAI_PRECOND_NONE = 0,
  /** z = D⁻¹ v, D the diagonal blocks of A */
  BISAI_PRECOND_BJACOBI = 1,
  /** z = U⁻¹ L⁻¹ v by exact block triangular solves */
  BISAI_PRECOND_ILU = 2,
  /** z = NU (NL v), approximate inverses of L and U (Ma et al. 2021, equations 6–9); with
   *  `symmetric` z = NLᵀ (D⁻¹ (NL v)), D the diagonal blocks of U */
  BISAI_PRECOND_ISAI = 3,
  /** z from block-Jacobi sweeps x ← D⁻¹(b − T_off x), x = D⁻¹b, on L and then on U */
  BISAI_PRECOND_SWEEPS = 4,
  /** the caller's own */
  BISAI_PRECOND_CALLBACK = 5
} bisai_precond_kind;

/** The one list of kinds: X(enumerator, word, name). The library makes its table of kinds of it:
 *  `name` is that of the kind's source file, and of its options in bisai_precond_options. */
#define BISAI_PRECOND_KIND_LIST(X)                                                                 \
  X(BISAI_PRECOND_NONE, "none", none)                                                              \
  X(BISAI_PRECOND_BJACOBI, "bjacobi", bjacobi)                                                     \
  X(BISAI_PRECOND_ILU, "ilu", ilu)                                                                 \
  X(BISAI_PRECOND_ISAI, "isai", isai)                                                              \
  X(BISAI_PRECOND_SWEEPS, "sweeps", sweeps)                                                        \
  X(BISAI_PRECOND_CALLBACK, "callback", callback)

/** The number of kinds: they are 0 … BISAI_PRECOND_KINDS − 1. */
enum {
#define BISAI_PRECOND_COUNT(enumerator, word, name) +1
  BISAI_PRECOND_KINDS = 0 BISAI_PRECOND_KIND_LIST(BISAI_PRECOND_COUNT)
#undef BISAI_PRECOND_COUNT
};

/** "none", "bjacobi", "ilu", "isai", "sweeps", "callback"; "unknown kind" for other values. */
BISAI_API const char *bisai_precond_kind_string(bisai_precond_kind value);

/** Looks up a word of bisai_precond_kind_string().
 *  @param value  out; untouched where the word is unknown
 *  @returns      false for unknown words and NULL */
BISAI_API bool bisai_precond_kind_parse(const char *word, bisai_precond_kind *value);

/** BJACOBI: what is kept of a diagonal block D of m rows, m² values each. Set-up and application in
 *  floating-point operations. */
typedef enum bisai_form {
  /** D⁻¹ by Gauss–Jordan elimination with implicit row pivoting (cofactors for 2 ≤ m ≤ 5), applied
   *  as a product: 2m³, 2m² (Anzt et al. 2017, section 2) */
  BISAI_FORM_INVERSE = 0,
  /** the Gauss–Huard decomposition with column pivoting: ⅔m³, 2m² (Anzt et al. 2017,
   *  Gauss–Huard) */
  BISAI_FORM_GAUSS_HUARD = 1,
  /** the same, the part below the diagonal stored transposed about the anti-diagonal, so that the
   *  solve reads columns only */
  BISAI_FORM_GAUSS_HUARD_TRANSPOSED = 2,
  /** L U with row pivoting: ⅔m³, 2m² */
  BISAI_FORM_LU = 3
} bisai_form;

/** The words of bisai_form: X(enumerator, word). */
#define BISAI_FORM_LIST(X)                                                                         \
  X(BISAI_FORM_INVERSE, "inverse")                                                                 \
  X(BISAI_FORM_GAUSS_HUARD, "gh")                                                                  \
  X(BISAI_FORM_GAUSS_HUARD_TRANSPOSED, "ght")                                                      \
  X(BISAI_FORM_LU, "lu")

/** "inverse", "gh", "ght", "lu"; "unknown form" for other values. */
BISAI_API const char *bisai_form_string(bisai_form value);

/** Looks up a word of bisai_form_string().
 *  @param value  out; untouched where the word is unknown
 *  @returns      false for unknown words and NULL */
BISAI_API bool bisai_form_parse(const char *word, bisai_form *value);

/** BJACOBI on a device: how diagonal blocks come out of the matrix and inverses into storage (Anzt
 *  et al. 2017, section 3.3). The host has one way; results do not depend on it. */
typedef enum bisai_extraction {
  /** MC, the fastest of them on every matrix measured */
  BISAI_EXTRACTION_AUTO = 0,
  /** UC: kernels of their own, a thread a row, through the caches */
  BISAI_EXTRACTION_CACHED = 1,
  /** MC: the same merged with the elimination */
  BISAI_EXTRACTION_MERGED_CACHED = 2,
  /** US: kernels of their own, rows read by all lanes through shared memory */
  BISAI_EXTRACTION_SHARED = 3,
  /** MS: the same merged with the elimination */
  BISAI_EXTRACTION_MERGED_SHARED = 4
} bisai_extraction;

/** The words of bisai_extraction: X(enumerator, word). */
#define BISAI_EXTRACTION_LIST(X)                                                                   \
  X(BISAI_EXTRACTION_AUTO, "auto")                                                                 \
  X(BISAI_EXTRACTION_CACHED, "uc")                                                                 \
  X(BISAI_EXTRACTION_MERGED_CACHED, "mc")                                                          \
  X(BISAI_EXTRACTION_SHARED, "us")                                                                 \
  X(BISAI_EXTRACTION_MERGED_SHARED, "ms")

/** "auto", "uc", "mc", "us", "ms"; "unknown extraction" for other values. */
BISAI_API const char *bisai_extraction_string(bisai_extraction value);

/** Looks up a word of bisai_extraction_string().
 *  @param value  out; untouched where the word is unknown
 *  @returns      false for unknown words and NULL */
BISAI_API bool bisai_extraction_parse(const char *word, bisai_extraction *value);

/** Whether M is symmetric, up to rounding: what conjugate gradients need to know. */
typedef enum bisai_symmetry {
  /** not even where A is */
  BISAI_SYMMETRY_NONE = 0,
  /** where A is */
  BISAI_SYMMETRY_VALUES = 1,
  /** where A is and has a stored block (j, i) for each stored block (i, j): incomplete factors drop
   *  what has no place */
  BISAI_SYMMETRY_PATTERN = 2,
  /** the caller's word: functions, and exact solves or sweeps with the caller's factors */
  BISAI_SYMMETRY_CALLER = 3
} bisai_symmetry;

/** The words of bisai_symmetry: X(enumerator, word). */
#define BISAI_SYMMETRY_LIST(X)                                                                     \
  X(BISAI_SYMMETRY_NONE, "none")                                                                   \
  X(BISAI_SYMMETRY_VALUES, "values")                                                               \
  X(BISAI_SYMMETRY_PATTERN, "pattern")                                                             \
  X(BISAI_SYMMETRY_CALLER, "caller")

/** "none", "values", "pattern", "caller"; "unknown symmetry" for other values. */
BISAI_API const char *bisai_symmetry_string(bisai_symmetry value);

/** Looks up a word of bisai_symmetry_string().
 *  @param value  out; untouched where the word is unknown
 *  @returns      false for unknown words and NULL */
BISAI_API bool bisai_symmetry_parse(const char *word, bisai_symmetry *value);

/** z ← M⁻¹ v for vectors of n values in the backend's memory; on a device, work that is enqueued on
 *  the context's stream (bisai_context_stream()), or done before it returns after
 *  bisai_context_synchronize(). Anything but BISAI_OK stops the solver. */
typedef bisai_status (*bisai_apply_function)(void *user, int64_t n, const double *v, double *z);

/** Options of BJACOBI. */
typedef struct bisai_bjacobi_options {
  /** 0 (default): the blocks of the matrix, or block_ptr's. 1 … 32: blocks of at most that many
   *  scalar rows by supervariable agglomeration (Anzt et al. 2017, section 3): rows of equal
   *  pattern that follow each other belong together, and neighbours are merged as long as there is
   *  room. Stored zeros count as entries. 1 is scalar Jacobi */
  int32_t max_block;
  /** default BISAI_FORM_INVERSE */
  bisai_form form;
  /** how the blocks are stored: any type; ADAPTIVE with BISAI_FORM_INVERSE; default BISAI_FP64 */
  bisai_value_type storage;
  /** of BISAI_ADAPTIVE: decimal digits of the inverses that rounding must leave, 1 … 15: each group
   *  of blocks (on the host a block, on a device the blocks of a warp) is stored in the first of
   *  fp16, bf16, (11, 4), fp32, (11, 20), fp64 with κ₁(D) u ≤ 10^−digits, u its unit roundoff, in
   *  which no value overflows and ‖D‖₁‖E − Ẽ‖₁ ≤ 10^−digits, Ẽ being the rounded inverse E, which
   *  is therefore regular (Flegar et al. 2020, sections 3.1, 3.2). Default 2 */
  int32_t digits;
  /** default BISAI_EXTRACTION_AUTO */
  bisai_extraction extraction;
  /** block_count + 1 scalar rows, the first 0, the last block_rows·bs, where the blocks begin: 1 …
   *  32 rows each; host memory, read during creation. Default NULL: none given */
  const int32_t *block_ptr;
  /** blocks of block_ptr; otherwise 0 */
  int32_t block_count;
} bisai_bjacobi_options;

/** Options of ILU. */
typedef struct bisai_ilu_options {
  /** default BISAI_SCHEDULE_AUTO */
  bisai_schedule schedule;
} bisai_ilu_options;

/** Options of ISAI. */
typedef struct bisai_isai_options {
  /** k of S(|L|^k), S(|U|^k); default 1 */
  int32_t power;
  /** for a symmetric A, whose U is D Lᵀ: M⁻¹ = NLᵀ D⁻¹ NL from L and D alone, symmetric with the
   *  matrices in use and fit for CG; relaxation sweeps on Lᵀ are the transposes of those on L, so
   *  that M stays symmetric. Half the set-up and the memory of NL and NU. Creation and updates
   *  measure A (bisai_bcsr_asymmetry()). Equilibration takes Dc = Dr. upper_pattern must be NULL;
   *  the caller's factors need a unit diagonal of L, and U = D Lᵀ is the caller's word. Default
   *  false */
  bool symmetric;
  /** relaxation sweeps x ← x + N(b − T x) on each factor; default 0 */
  int32_t relax;
  /** how NL and NU are stored: one of the first four types; default BISAI_FP64 */
  bisai_value_type storage;
  /** blocks T_ij, i ≠ j, with ‖T_ij‖_F < drop_tolerance·‖T_ii‖_F (L: of the identity, √bs) are left
   *  out of the graph that is powered; the factors keep them. Updates keep the pattern. ≥ 0;
   *  default 0: none */
  double drop_tolerance;
  /** the most blocks of a block column of NL or NU; a longer one keeps its diagonal block and those
   *  nearest to it: by steps in the graph of T, then by |i − j|. ≥ 0; default 0: no limit. Neither
   *  applies to a pattern that is given */
  int32_t column_limit;
  /** NL's pattern instead of S(|L|^k); read during creation; default NULL */
  const bisai_pattern *lower_pattern;
  /** NU's pattern instead of S(|U|^k) */
  const bisai_pattern *upper_pattern;
} bisai_isai_options;

/** Options of SWEEPS. */
typedef struct bisai_sweeps_options {
  /** sweeps on each factor; default 1 */
  int32_t count;
} bisai_sweeps_options;

/** Options of CALLBACK. */
typedef struct bisai_callback_options {
  /** required */
  bisai_apply_function apply;
  /** passed through */
  void *user;
} bisai_callback_options;

/** What the kinds with factors share: ILU, ISAI and SWEEPS. */
typedef struct bisai_factored_options {
  /** level of fill of the factors made here; default 0 */
  int32_t level;
  /** factors to use, which must outlive the preconditioner; default NULL: block ILU(level) of the
   *  matrix, made and owned here */
  const bisai_factors *factors;
  /** with factors made here: what is factorised is P A Pᵀ and z = Pᵀ (L U)⁻¹ P v; the caller's
   *  patterns are those of P A Pᵀ. NONE, BJACOBI and CALLBACK do not depend on it and ignore it.
   *  Default BISAI_ORDERING_NATURAL */
  bisai_ordering ordering;
  /** BISAI_ORDERING_GIVEN: block_rows entries, new to old, read during creation; otherwise NULL */
  const int32_t *permutation;
  /** as ordering: what is factorised is Dr A Dc (reordered) and z = Dc (L U)⁻¹ Dr v. Dr and Dc have
   *  a power of two for each scalar row and column, which bring the largest magnitudes of A's rows
   *  and columns near 1 (Ruiz 2001). ILU, ISAI and SWEEPS commute with such scaling, which rounds
   *  nothing: in fp64, z stays the same up to the rounding of blocks that are inverted with other
   *  pivots. It is there for narrow storage, whose range it saves, and for thresholds and shifts,
   *  which are relative. Default false */
  bool equilibrate;
} bisai_factored_options;

/** Options of a preconditioner; start from bisai_precond_options_default(). Those of a kind are in
 *  the member that has its name. Options that the kind in use does not take must keep their
 *  defaults, but for ordering, permutation and equilibrate: bisai_precond_create() refuses them by
 *  name. */
typedef struct bisai_precond_options {
  /** set by bisai_precond_options_default() */
  size_t struct_size;
  /** default BISAI_PRECOND_ISAI */
  bisai_precond_kind kind;
  /** BJACOBI, and ILU, ISAI and SWEEPS with factors made here: singular diagonal blocks; default
   *  BISAI_SHIFT_NONE */
  bisai_shift shift;
  /** as in bisai_factor_options */
  double shift_amount;
  /** ILU, ISAI, SWEEPS */
  bisai_factored_options factor;
  /** BJACOBI */
  bisai_bjacobi_options bjacobi;
  /** ILU */
  bisai_ilu_options ilu;
  /** ISAI */
  bisai_isai_options isai;
  /** SWEEPS */
  bisai_sweeps_options sweeps;
  /** CALLBACK */
  bisai_callback_options callback;
} bisai_precond_options;

/** Default options. */
BISAI_API bisai_precond_options bisai_precond_options_default(void);

/** An option of a kind: first the kind's own options, then those that it shares with others. The
 *  fields that every kind allows and some ignore are not among them: ordering, permutation,
 *  equilibrate, user.
 *  @param index  from 0 on
 *  @returns      a description, whose offsets are those in bisai_precond_options; NULL behind the
 *                last option, and for unknown kinds */
BISAI_API const bisai_option *bisai_precond_kind_option(bisai_precond_kind kind, int index);

/** Returns true if a kind takes an option.
 *  @param field  as in bisai_option, for example "isai.power"
 *  @returns      false for unknown kinds and fields */
BISAI_API bool bisai_precond_kind_takes(bisai_precond_kind kind, const char *field);

/** Returns true if a kind needs something that a text cannot give, as CALLBACK does: METHOD and
 *  PETSc's options leave it out. */
BISAI_API bool bisai_precond_kind_needs_code(bisai_precond_kind kind);

/** Set-up: factors, patterns, values, all workspace.
 *  @param matrix   square; read during the call only
 *  @param options  NULL: the defaults
 *  @param precond  out; untouched on failure; free with bisai_precond_destroy()
 *  @retval BISAI_MISSING_DIAGONAL, BISAI_SINGULAR_BLOCK  the message names the block row, in the
 *                            caller's numbering (of block-Jacobi with other blocks than the
 *                            matrix's: the block and its scalar rows); to be equilibrated, a matrix
 *                            must not have block rows or columns of zeros. A matrix with an empty
 *                            block row or column (no block is stored there) is singular.
 *                            BISAI_MISSING_DIAGONAL refuses it, whatever the shift, and the message
 *                            names the row or column. NONE and CALLBACK take such a matrix
 *  @retval BISAI_UNAVAILABLE an ordering that needs METIS, in a build without it
 *  @retval BISAI_INDEX_OVERFLOW  a factor or a pattern has more than 2³¹−1 blocks; the message
 *    names the block row
 *  @retval BISAI_OVERFLOW    a value of NL, NU or a block of block-Jacobi does not fit its storage,
 *                            or a diagonal block of NL or NU, or a row or a column of a block of
 *                            block-Jacobi, or the inverse of a pivot of its decomposition, is so
 *                            small that all of it would be stored as zero; the message names the
 *                            block
 *  @retval BISAI_NOT_FINITE  the factors, NL or NU overflowed fp64
 *  @retval BISAI_UNSUPPORTED the matrix is not stored in fp64
 *  @retval BISAI_NOT_READY   the caller's factors are not
 *  @retval BISAI_NOT_SYMMETRIC  `symmetric`, and A's asymmetry is more than BISAI_SYMMETRY_LIMIT,
 *                            or with factors made here a block (i, j) is stored without (j, i)
 *  @retval BISAI_INVALID_ARGUMENT  a value out of range, an option that the kind does not take; the
 *    message names it
 *  @retval BISAI_OUT_OF_MEMORY */
BISAI_API bisai_status bisai_precond_create(bisai_context *context, const bisai_bcsr *matrix,
                                            const bisai_precond_options *options,
                                            bisai_precond **precond);

/** New values on the same pattern: refactorises (unless the factors are the caller's, who updates
 *  them first and then calls this) and recomputes the values on the patterns of creation. Allocates
 *  nothing. Errors as in creation. What is refused for its arguments (BISAI_INVALID_ARGUMENT: NULL,
 *  another pattern; BISAI_UNSUPPORTED) leaves the preconditioner as it was; after a failure of the
 *  numbers bisai_precond_apply() returns BISAI_NOT_READY until an update succeeds. Block-Jacobi
 *  keeps its blocks, which another pattern of as many stored blocks may not have had; it looks only
 *  whether natural diagonal blocks are where they were. */
BISAI_API bisai_status bisai_precond_update(bisai_precond *precond, const bisai_bcsr *matrix);

/** z ← M⁻¹ v; both n values, not overlapping. Allocates nothing. On a device v and z are in its
 *  memory, and the call returns before the work is done; where one is in host memory instead, it is
 *  copied through device memory taken for that, and the call waits. Bitwise repeatable for any
 *  number of threads. A preconditioner serves one thread at a time (it owns workspace).
 *  @retval BISAI_INVALID_ARGUMENT  v or z is NULL, or both are one array
 *  @retval BISAI_NOT_READY, BISAI_CALLBACK_FAILED */
BISAI_API bisai_status bisai_precond_apply(bisai_precond *precond, const double *v, double *z);

/** Z ← M⁻¹ V for `count` vectors, vector c at v + c·ldv and z + c·ldz; as bisai_precond_apply()
 *  otherwise.
 *  @param ldv, ldz  at least bisai_precond_rows(); not read with fewer than two vectors */
BISAI_API bisai_status bisai_precond_apply_many(bisai_precond *precond, int32_t count,
                                                const double *v, int64_t ldv, double *z,
                                                int64_t ldz);

/** Frees *precond and sets it to NULL; accepts NULL and pointers to NULL. */
BISAI_API void bisai_precond_destroy(bisai_precond **precond);

/** What a kind with factors reports: ILU, ISAI, SWEEPS. */
typedef struct bisai_factored_report {
  /** stored blocks of L + U; 0 where there are none */
  int64_t blocks;
  /** dependent steps of an exact solve with L; 0 where there are none */
  int32_t lower_levels;
  /** the same with U */
  int32_t upper_levels;
  /** in use; natural where the kind ignores it */
  bisai_ordering ordering;
  /** largest |i − j| of the blocks of A + Aᵀ; 0 without factors, as below */
  int32_t natural_bandwidth;
  /** the same in the ordering in use */
  int32_t bandwidth;
  /** Σ over the block rows i of A + Aᵀ of i − its first block column */
  int64_t natural_profile;
  /** the same in the ordering in use */
  int64_t profile;
  /** whether rows and columns are scaled */
  bool equilibrated;
  /** of the factors in Dr and Dc; 1 where there are none */
  double smallest_scale;
  /** the same */
  double largest_scale;
} bisai_factored_report;

/** What ISAI reports; zeros for other kinds, but for `asymmetry`. */
typedef struct bisai_isai_report {
  /** stored blocks of NL + NU */
  int64_t blocks;
  /** blocks of the longest block column of NL and NU */
  int32_t longest_column;
  /** blocks of L that drop_tolerance left out of the graph */
  int64_t dropped_lower;
  /** the same of U */
  int64_t dropped_upper;
  /** block columns of NL and NU that column_limit shortened */
  int32_t shortened_columns;
  /** blocks that they lost by that */
  int64_t cut_blocks;
  /** `symmetric`: A's, as bisai_bcsr_asymmetry() measures it; otherwise NaN */
  double asymmetry;
} bisai_isai_report;

/** What BJACOBI reports; zeros for other kinds, but for `near_singular_block`. */
typedef struct bisai_bjacobi_report {
  /** diagonal blocks */
  int32_t blocks;
  /** rows of the largest */
  int32_t largest_block;
  /** blocks of 1 … 32 rows */
  int32_t by_size[33];
  /** blocks stored in each bisai_value_type */
  int64_t by_format[BISAI_VALUE_TYPES];
  /** of the blocks' values that an application reads */
  int64_t value_bytes;
  /** blocks of m rows with m ε κ₁ ≥ 1, of which no digit is known; of decompositions, which do not
   *  have κ₁, those with a pivot ≤ m ε‖D‖₁: many such blocks, not all. Used as they are */
  int64_t near_singular;
  /** the first of them; -1 where there is none */
  int32_t near_singular_block;
} bisai_bjacobi_report;

/** What the preconditioner is and what it cost. Times are of the last set-up or update, in
 *  seconds. What a kind alone has to report is in the member that has its name. */
typedef struct bisai_precond_report {
  /** set by the caller to sizeof(bisai_precond_report) */
  size_t struct_size;
  /** as in the options */
  bisai_precond_kind kind;
  /** ordering, reordering, equilibration; after an update the values' part of it */
  double order_seconds;
  /** block ILU; 0 with the caller's factors */
  double factor_seconds;
  /** patterns, or the blocks of block-Jacobi and their memory; 0 after an update */
  double pattern_seconds;
  /** values of NL and NU, or of the sweeps' matrices, or of the inverted diagonal blocks */
  double values_seconds;
  /** everything between call and return */
  double setup_seconds;
  /** held by the preconditioner, the caller's factors excluded */
  int64_t memory_bytes;
  /** the least that one application must move */
  int64_t apply_bytes;
  /** blocks inverted again by pivoted Gauss–Jordan; block-Jacobi on a device does so from the
   *  start: 0 */
  int64_t fallbacks;
  /** singular diagonal blocks that a shift repaired */
  int64_t repairs;
  /** block row (block-Jacobi: block) of the first repaired block; -1 where there is none */
  int32_t first_repair_row;
  /** the largest κ₁ of the inverted diagonal blocks; 0 where there are none */
  double largest_condition;
  /** Its block row; -1 where there is none. Block-Jacobi: its block, on a device the first of those
   *  whose κ₁ agree with it in 23 bits. */
  int32_t largest_condition_row;
  /** NONE and BJACOBI: VALUES, but for decompositions stored more narrowly than fp64, which round L
   *  and U by themselves: NONE. ILU, SWEEPS and symmetric ISAI: PATTERN, with the caller's factors
   *  CALLER. Other ISAI: NONE, as NU is not the transpose of NL. CALLBACK: CALLER */
  bisai_symmetry symmetry;
  /** ILU, ISAI, SWEEPS */
  bisai_factored_report factor;
  /** BJACOBI */
  bisai_bjacobi_report bjacobi;
  /** ISAI */
  bisai_isai_report isai;
} bisai_precond_report;

/** Fills a report whose struct_size the caller has set to sizeof(bisai_precond_report).
 *  @retval BISAI_INVALID_ARGUMENT  unknown struct_size */
BISAI_API bisai_status bisai_precond_get_report(const bisai_precond *precond,
                                                bisai_precond_report *report);

/** One line, for example "isai k=2 relax=0 storage=fp64, 1075202 blocks". Owned by the
 *  preconditioner. NULL: "", and the calls below return 0 or NULL. */
BISAI_API const char *bisai_precond_describe(const bisai_precond *precond);

/** The blocks of block-Jacobi. Waits on a device.
 *  @param block_ptr  out, host memory: bjacobi.blocks + 1 scalar rows (see the report) where they
 *    begin, the last the number of rows
 *  @retval BISAI_INVALID_ARGUMENT  NULL, or another kind of preconditioner */
BISAI_API bisai_status bisai_precond_get_blocks(const bisai_precond *precond, int32_t *block_ptr);

/** Values of a vector that the preconditioner takes: block_rows·bs of its matrix. */
BISAI_API int64_t bisai_precond_rows(const bisai_precond *precond);

/** The permutation in use, new to old, or NULL where that is the natural one; block_rows entries in
 *  the backend's memory, owned by the preconditioner. */
BISAI_API const int32_t *bisai_precond_permutation(const bisai_precond *precond);

/** The factors in use, or NULL; owned by the preconditioner unless they are the caller's. With an
 *  ordering or equilibration they are those of P Dr A Dc Pᵀ, like NL and NU below. */
BISAI_API const bisai_factors *bisai_precond_factors(const bisai_precond *precond);

/** NL of ISAI, otherwise NULL; owned by the preconditioner. */
BISAI_API const bisai_bcsr *bisai_precond_lower_inverse(const bisai_precond *precond);
/** NU of ISAI that is not `symmetric`, otherwise NULL; owned by the preconditioner. */
BISAI_API const bisai_bcsr *bisai_precond_upper_inverse(const bisai_precond *precond);

#ifdef __cplusplus
}
#endif
#endif
