/* SPDX-License-Identifier: BSD-3-Clause */
/** @file factor.h Block triangular factors: block ILU(k), or the caller's own L and U. Source:
 *  Saad, Iterative Methods, 10.3; Ma et al. 2021, eq. (5). */
#ifndef BISAI_FACTOR_H
#define BISAI_FACTOR_H

#include <bisai/bcsr.h>

#ifdef __cplusplus
extern "C" {
#endif

/** L, U and the inverses of the diagonal blocks. */
typedef struct bisai_factors bisai_factors;

/** What happens to a diagonal block that is singular: a pivot is zero even with pivoting, or the
 *  inverse is not finite. Blocks that are merely close to that are reported and never altered. */
typedef enum bisai_shift {
  /** the set-up fails and names its block row */
  BISAI_SHIFT_NONE = 0,
  /** D ← D + s I with s = amount·(the largest sum of magnitudes of a scalar row in A's block row; 1
   *  where that is 0), ten times more as long as that is singular. A diagonal block that is not
   *  stored counts as a stored zero block. Repairs are counted and the first is named. */
  BISAI_SHIFT_IN_BLOCKS = 1
} bisai_shift;

/** Options of a factorisation; start from bisai_factor_options_default(). */
typedef struct bisai_factor_options {
  /** set by bisai_factor_options_default() */
  size_t struct_size;
  /** k of ILU(k), the level of fill: ≥ 0, default 0; from the number of block rows on, complete
   *  LU */
  int level;
  /** default BISAI_SHIFT_NONE */
  bisai_shift shift;
  /** > 0, relative; default 0.01 */
  double shift_amount;
} bisai_factor_options;

/** Default options. */
BISAI_API bisai_factor_options bisai_factor_options_default(void);

/** Block ILU(k) in the natural ordering; L has identity diagonal blocks. A block of A has level 0,
 *  a block that elimination fills in has level min over p of lev_ip + lev_pj + 1, and those of
 *  level ≤ k are kept (Saad, 10.3.3; PETSc's pattern too). L U agrees with A on that pattern, but
 *  for shifted blocks. Parallel by levels of dependence; bitwise repeatable for any number of
 *  threads. Besides the factors needs 8 bytes for each of their blocks while it runs.
 *  @param matrix   square, fp64; read during the call only
 *  @param options  NULL: the defaults
 *  @param factors  out; untouched on failure; free with bisai_factors_destroy()
 *  @retval BISAI_MISSING_DIAGONAL  names the first such block row; not with a shift
 *  @retval BISAI_SINGULAR_BLOCK    names the first block row whose pivot block is singular, with a
 *    shift: and cannot be repaired
 *  @retval BISAI_INDEX_OVERFLOW    L or U has more than 2³¹−1 blocks; names the block row where
 *    that happens
 *  @retval BISAI_NOT_FINITE        names the first block row in which L or U overflowed
 *  @retval BISAI_INVALID_ARGUMENT, BISAI_UNSUPPORTED (values not fp64), BISAI_OUT_OF_MEMORY */
BISAI_API bisai_status bisai_factors_create(bisai_context *context, const bisai_bcsr *matrix,
                                            const bisai_factor_options *options,
                                            bisai_factors **factors);

/** Refactorises a matrix of the same pattern; allocates nothing. The pattern is checked.
 *  @retval BISAI_INVALID_ARGUMENT, BISAI_UNSUPPORTED  NULL, another pattern, values not fp64: the
 *    factors stay as they were
 *  @retval BISAI_SINGULAR_BLOCK, BISAI_NOT_FINITE     the factors are not ready until an update
 *    succeeds */
BISAI_API bisai_status bisai_factors_update(bisai_factors *factors, const bisai_bcsr *matrix);

/** Factors from the caller's own matrices, copied: `lower` strictly lower (identity diagonal
 *  implied) or, if any diagonal block is stored, lower with all its diagonal blocks; `upper` upper
 *  with all its diagonal blocks.
 *  @retval BISAI_INVALID_STRUCTURE  a block in the wrong triangle
 *  @retval BISAI_MISSING_DIAGONAL, BISAI_SINGULAR_BLOCK, BISAI_INVALID_ARGUMENT, BISAI_UNSUPPORTED,
 *    BISAI_OUT_OF_MEMORY */
BISAI_API bisai_status bisai_factors_from_matrices(bisai_context *context, const bisai_bcsr *lower,
                                                   const bisai_bcsr *upper,
                                                   bisai_factors **factors);

/** Frees *factors and sets it to NULL; accepts NULL and pointers to NULL. */
BISAI_API void bisai_factors_destroy(bisai_factors **factors);

/** L; owned by the factors. */
BISAI_API const bisai_bcsr *bisai_factors_lower(const bisai_factors *factors);
/** U with its diagonal blocks; owned by the factors. */
BISAI_API const bisai_bcsr *bisai_factors_upper(const bisai_factors *factors);
/** Inverses of U's diagonal blocks: block_rows·bs² values, column-major; owned by the factors. */
BISAI_API const double *bisai_factors_inverse_diagonal(const bisai_factors *factors);
/** Diagonal blocks whose cofactor inverse was not to be trusted (κ₁ > 1e6, or a residual beyond
 *  rounding) and was redone by pivoted Gauss–Jordan. */
BISAI_API int64_t bisai_factors_fallbacks(const bisai_factors *factors);
/** Diagonal blocks that a shift repaired in the last factorisation and, unless NULL, the first
 *  one's block row, -1 where there is none. The inverses and the blocks of U are those of the
 *  shifted blocks. */
BISAI_API int64_t bisai_factors_repairs(const bisai_factors *factors, int32_t *first_block_row);
/** The largest κ₁ = ‖D‖₁‖D⁻¹‖₁ of the diagonal blocks of U (and of a general L) and, unless NULL,
 *  its block row. */
BISAI_API double bisai_factors_largest_condition(const bisai_factors *factors, int32_t *block_row);

/** How exact triangular solves run. */
typedef enum bisai_schedule {
  /** levels where they are wide enough to pay */
  BISAI_SCHEDULE_AUTO = 0,
  /** one thread, rows in order */
  BISAI_SCHEDULE_SERIAL = 1,
  /** the rows of a level in parallel */
  BISAI_SCHEDULE_LEVELS = 2
} bisai_schedule;

/** The words of bisai_schedule: X(enumerator, word). */
#define BISAI_SCHEDULE_LIST(X)                                                                     \
  X(BISAI_SCHEDULE_AUTO, "auto")                                                                   \
  X(BISAI_SCHEDULE_SERIAL, "serial")                                                               \
  X(BISAI_SCHEDULE_LEVELS, "levels")

/** "auto", "serial", "levels"; "unknown schedule" for other values. */
BISAI_API const char *bisai_schedule_string(bisai_schedule value);

/** Looks up a word of bisai_schedule_string().
 *  @param value  out; untouched where the word is unknown
 *  @returns      false for unknown words and NULL */
BISAI_API bool bisai_schedule_parse(const char *word, bisai_schedule *value);

/** x ← U⁻¹ L⁻¹ b by exact block triangular solves; x may be b. Same bits for every schedule, of
 *  which a device has only one. Memory of b and x as at bisai_precond_apply().
 *  @retval BISAI_NOT_READY */
BISAI_API bisai_status bisai_factors_solve(const bisai_factors *factors, bisai_schedule schedule,
                                           const double *b, double *x);

#ifdef __cplusplus
}
#endif
#endif
