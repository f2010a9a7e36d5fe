/* SPDX-License-Identifier: BSD-3-Clause */
/** @file factor.h
 *  Block triangular factors: block ILU(k), or the caller's own L and U. Source: Saad, Iterative
 *  Methods, 10.3; Ma et al. 2021, eq. (5). */
#ifndef BISAI_FACTOR_H
#define BISAI_FACTOR_H

#include <bisai/bcsr.h>

#ifdef __cplusplus
extern "C" {
#endif

/** L, U and the inverses of the diagonal blocks. */
typedef struct bisai_factors bisai_factors;

/** The treatment of a singular diagonal block. A block is singular if a pivot is zero even with
 *  pivoting, or if its inverse is not finite. A block that is only nearly singular is reported and
 *  changed by least_pivot alone. */
typedef enum bisai_shift {
  /** the set-up fails, and the message names the block row */
  BISAI_SHIFT_NONE = 0,
  /** D ← D + s I. The shift is s = amount·(the largest sum of magnitudes of a scalar row in A's
   *  block row), or s = amount if that sum is 0. s is multiplied by ten until the block is regular.
   *  A diagonal block that is not stored counts as a block of zeros. bisai_factors_repairs() counts
   *  the shifted blocks. */
  BISAI_SHIFT_IN_BLOCKS = 1
} bisai_shift;

/** Options of a factorisation; start from bisai_factor_options_default(). */
typedef struct bisai_factor_options {
  /** set by bisai_factor_options_default() */
  size_t struct_size;
  /** k of ILU(k), the level of fill: ≥ 0, default 0. If k is at least the number of block rows, the
   *  result is the complete LU factorisation */
  int level;
  /** default BISAI_SHIFT_NONE */
  bisai_shift shift;
  /** the amount of BISAI_SHIFT_IN_BLOCKS: > 0, default 0.01 */
  double shift_amount;
  /** static pivots (Li and Demmel 1998): from 0 to 1, default 0. Let ρ be the largest sum of
   *  magnitudes of a scalar row in A's block row. A diagonal block D with
   *  ‖D⁻¹‖₁ > 1/(least_pivot·ρ) counts as singular too; of block size 1 these are the pivots
   *  |d| < least_pivot·ρ. They and singular blocks become D ± s I, with the sign of the trace of D.
   *  s = amount·ρ with a shift, and least_pivot·ρ without. It is multiplied by ten until
   *  ‖D⁻¹‖₁ ≤ 10/(least_pivot·ρ). 1e-8, about the root of the unit roundoff, is the value of the
   *  source; incomplete factors gain from more, as 1e-4 */
  double least_pivot;
  /** how bisai_factors_update() computes the factors. 0, the default: exactly, as creation does.
   *  s > 0: by s sweeps from the factors at hand (Chow and Patel 2015). A sweep computes each row
   *  of L and U from the rows of U of the sweep before, so that no row waits for another. After as
   *  many sweeps as L has levels the factors are exact; two or three do if values change little.
   *  After an update that failed, the next one is exact. Takes a copy of U and of the inverses of
   *  its diagonal blocks. Bitwise repeatable */
  int update_sweeps;
} bisai_factor_options;

/** Returns the default options. */
BISAI_API bisai_factor_options bisai_factor_options_default(void);

/** Computes block ILU(k) in the natural ordering. L has identity diagonal blocks. A block of A has
 *  level 0. Fill-in block (i, j) has the level min over p of lev_ip + lev_pj + 1. Blocks of
 *  level ≤ k are kept (Saad, 10.3.3); PETSc uses the same pattern. On this pattern L U is equal to
 *  A up to rounding, except for shifted blocks. Rows that do not depend on each other are processed
 *  in parallel. Bitwise repeatable for any number of threads. Needs 8 bytes of temporary memory for
 *  each block of the factors.
 *  @param matrix   square, fp64; read only during the call
 *  @param options  NULL: the defaults
 *  @param factors  out; unchanged on failure; free with bisai_factors_destroy()
 *  @retval BISAI_MISSING_DIAGONAL  a diagonal block is missing and no shift is enabled; the message
 *                                  names the first such block row
 *  @retval BISAI_SINGULAR_BLOCK    a pivot block is singular and, with a shift, cannot be repaired;
 *                                  the message names the first such block row
 *  @retval BISAI_INDEX_OVERFLOW    L or U has more than 2³¹−1 blocks; the message names the block
 *                                  row at which the limit is exceeded
 *  @retval BISAI_NOT_FINITE        L or U overflowed; the message names the first such block row
 *  @retval BISAI_UNSUPPORTED       the values are not fp64
 *  @retval BISAI_INVALID_ARGUMENT, BISAI_OUT_OF_MEMORY */
BISAI_API bisai_status bisai_factors_create(bisai_context *context, const bisai_bcsr *matrix,
                                            const bisai_factor_options *options,
                                            bisai_factors **factors);

/** Factorises a matrix of the same pattern again, exactly or by sweeps (update_sweeps); allocates
 *  nothing. The pattern is checked.
 *  @retval BISAI_INVALID_ARGUMENT  an argument is NULL, or the pattern differs; the factors are
 *                                  unchanged
 *  @retval BISAI_UNSUPPORTED       the values are not fp64; the factors are unchanged
 *  @retval BISAI_SINGULAR_BLOCK, BISAI_NOT_FINITE  as in creation; the factors are not ready until
 *    an update succeeds */
BISAI_API bisai_status bisai_factors_update(bisai_factors *factors, const bisai_bcsr *matrix);

/** Creates factors from copies of the caller's matrices. `lower` is lower triangular. It stores
 *  all its diagonal blocks, or none: an identity diagonal is then implied. `upper` is upper
 *  triangular and stores all its diagonal blocks.
 *  @retval BISAI_INVALID_STRUCTURE  a block is in the wrong triangle
 *  @retval BISAI_MISSING_DIAGONAL, BISAI_SINGULAR_BLOCK, BISAI_INVALID_ARGUMENT, BISAI_UNSUPPORTED,
 *    BISAI_OUT_OF_MEMORY */
BISAI_API bisai_status bisai_factors_from_matrices(bisai_context *context, const bisai_bcsr *lower,
                                                   const bisai_bcsr *upper,
                                                   bisai_factors **factors);

/** Frees *factors and sets it to NULL; accepts NULL and pointers to NULL. */
BISAI_API void bisai_factors_destroy(bisai_factors **factors);

/** Returns L; the factors own it. */
BISAI_API const bisai_bcsr *bisai_factors_lower(const bisai_factors *factors);
/** Returns U with its diagonal blocks; the factors own it. */
BISAI_API const bisai_bcsr *bisai_factors_upper(const bisai_factors *factors);
/** Returns the inverses of the diagonal blocks of U: block_rows·bs² values, column-major. The
 *  factors own them. */
BISAI_API const double *bisai_factors_inverse_diagonal(const bisai_factors *factors);
/** Returns the number of diagonal blocks that were inverted again by pivoted Gauss–Jordan, because
 *  the inverse by cofactors was not accurate (κ₁ > 1e6, or a residual larger than rounding
 *  explains). */
BISAI_API int64_t bisai_factors_fallbacks(const bisai_factors *factors);
/** Returns the number of diagonal blocks that were shifted in the last factorisation. The blocks of
 *  U and the inverses are those of the shifted blocks.
 *  @param first_block_row  out unless NULL; the block row of the first shifted block, or -1 if
 *                          there is none */
BISAI_API int64_t bisai_factors_repairs(const bisai_factors *factors, int32_t *first_block_row);
/** Returns the largest κ₁ = ‖D‖₁‖D⁻¹‖₁ of the diagonal blocks D of U, and of L if L stores its
 *  diagonal blocks.
 *  @param block_row  out unless NULL; the block row of that block */
BISAI_API double bisai_factors_largest_condition(const bisai_factors *factors, int32_t *block_row);

/** The schedules of exact triangular solves. */
typedef enum bisai_schedule {
  /** levels if they are wide enough to be faster, otherwise serial */
  BISAI_SCHEDULE_AUTO = 0,
  /** one thread takes the rows in order */
  BISAI_SCHEDULE_SERIAL = 1,
  /** the threads take the rows of each level in parallel */
  BISAI_SCHEDULE_LEVELS = 2
} bisai_schedule;

/** The words of bisai_schedule: X(enumerator, word). */
#define BISAI_SCHEDULE_LIST(X)                                                                     \
  X(BISAI_SCHEDULE_AUTO, "auto")                                                                   \
  X(BISAI_SCHEDULE_SERIAL, "serial")                                                               \
  X(BISAI_SCHEDULE_LEVELS, "levels")

/** Returns "auto", "serial" or "levels", and "unknown schedule" for other values. */
BISAI_API const char *bisai_schedule_string(bisai_schedule value);

/** Looks up a word of bisai_schedule_string().
 *  @param value  out; unchanged if the word is unknown
 *  @returns      false for an unknown word and for NULL */
BISAI_API bool bisai_schedule_parse(const char *word, bisai_schedule *value);

/** Computes x ← U⁻¹ L⁻¹ b by exact block triangular solves. b and x have block_rows·bs values each;
 *  x may be b. bisai_precond_apply() says in which memory they may be. The bits are the same for
 *  every schedule; a device has only one schedule.
 *  @retval BISAI_NOT_READY  the last update failed
 *  @retval BISAI_INVALID_ARGUMENT, BISAI_OUT_OF_MEMORY, BISAI_DEVICE_ERROR */
BISAI_API bisai_status bisai_factors_solve(const bisai_factors *factors, bisai_schedule schedule,
                                           const double *b, double *x);

#ifdef __cplusplus
}
#endif
#endif
