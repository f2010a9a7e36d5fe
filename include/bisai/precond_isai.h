/* SPDX-License-Identifier: BSD-3-Clause */
/** @file precond_isai.h
 *  Options and report of block-ISAI: sparse approximate inverses of the factors, or of the matrix
 *  itself. */
#ifndef BISAI_PRECOND_ISAI_H
#define BISAI_PRECOND_ISAI_H

#include <bisai/bcsr.h>
#include <bisai/pattern.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Of what ISAI makes approximate inverses. */
typedef enum bisai_inverse_of {
  /** of L and U, NL and NU: M⁻¹ = NU NL (Ma et al. 2021, equations 6–9) */
  BISAI_INVERSE_OF_FACTORS = 0,
  /** of A itself, without factors: M⁻¹ = N, where A(J, J) N(J, j) = I(J, j) for each block column j
   *  with the rows J of a pattern (equation 3 there). With `symmetric`, for a definite A,
   *  M⁻¹ = N Nᵀ with an upper triangular N, and Nᵀ A N has identities on its diagonal (FSPAI:
   *  Kolotilina and Yeremin 1993, Huckle 2003); if A is negative definite, M⁻¹ = −N Nᵀ. Each column
   *  is a dense system of bs·|J| rows */
  BISAI_INVERSE_OF_MATRIX = 1
} bisai_inverse_of;

/** The words of bisai_inverse_of: X(enumerator, word). */
#define BISAI_INVERSE_OF_LIST(X)                                                                   \
  X(BISAI_INVERSE_OF_FACTORS, "factors")                                                           \
  X(BISAI_INVERSE_OF_MATRIX, "matrix")

/** Returns "factors" or "matrix", and "unknown inverse" for other values. */
BISAI_API const char *bisai_inverse_of_string(bisai_inverse_of value);

/** Looks up a word of bisai_inverse_of_string().
 *  @param value  out; unchanged if the word is unknown
 *  @returns      false for unknown words and NULL */
BISAI_API bool bisai_inverse_of_parse(const char *word, bisai_inverse_of *value);

/** Options of ISAI. */
typedef struct bisai_isai_options {
  /** of what the inverses are. MATRIX has no factors: it takes none of the options of `factor`,
   *  neither `shift` nor `relax`, and `column_limit` with `symmetric` only. Default
   *  BISAI_INVERSE_OF_FACTORS */
  bisai_inverse_of of;
  /** the power k of the patterns S(|L|^k) and S(|U|^k); of MATRIX that of S(|A|^k), or with
   *  `symmetric` of the upper triangle; default 1 */
  int32_t power;
  /** for a symmetric A, whose U is D Lᵀ. M⁻¹ = NLᵀ D⁻¹ NL is made from L and D alone. It is
   *  symmetric up to rounding, and therefore fit for CG. Relaxation sweeps on Lᵀ are the
   *  transposes of those on L, so that M stays symmetric. The set-up and the memory of NL and NU
   *  are halved. Creation and updates measure the asymmetry of A (bisai_bcsr_asymmetry()).
   *  Equilibration takes Dc = Dr. upper_pattern must be NULL. The caller's factors need a unit
   *  diagonal of L, and the caller vouches for U = D Lᵀ. Default false */
  bool symmetric;
  /** number of relaxation sweeps x ← x + N(b − T x) on each factor T, where N is NL or NU; default
   *  0 */
  int32_t relax;
  /** how NL and NU are stored: one of the first four types; default BISAI_FP64 */
  bisai_value_type storage;
  /** ≥ 0; default 0: no block is left out. Blocks T_ij of T = L or U, i ≠ j, with
   *  ‖T_ij‖_F < drop_tolerance·‖T_ii‖_F are left out of the graph whose powers give the patterns.
   *  For L, T_ii is the identity, of norm √bs. The factors keep these blocks. Updates keep the
   *  pattern. The option does not apply to a pattern that is given */
  double drop_tolerance;
  /** upper bound on the number of blocks in a block column of NL or NU. A longer column keeps
   *  its diagonal block and the blocks nearest to it: nearest by steps in the graph of T, and
   *  then by |i − j|. ≥ 0; default 0: no limit. It does not apply to a pattern that is given */
  int32_t column_limit;
  /** replaces S(|L|^k) as the pattern of NL; read during creation; default NULL */
  const bisai_pattern *lower_pattern;
  /** replaces S(|U|^k) as the pattern of NU; of MATRIX with `symmetric` it is that of N. Read
   *  during creation; default NULL */
  const bisai_pattern *upper_pattern;
  /** replaces S(|A|^k) as the pattern of N, for MATRIX without `symmetric`: a pattern of
   *  BISAI_WHOLE. Read during creation; default NULL */
  const bisai_pattern *whole_pattern;
} bisai_isai_options;

/** What ISAI reports. For other kinds, `asymmetry` is NaN and all other fields are zero. */
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

#ifdef __cplusplus
}
#endif
#endif
