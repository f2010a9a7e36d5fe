/* SPDX-License-Identifier: BSD-3-Clause */
/** @file precond_cpr.h
 *  Options and report of CPR (bisai/precond.h). */
#ifndef BISAI_PRECOND_CPR_H
#define BISAI_PRECOND_CPR_H

#include <stdbool.h>
#include <stdint.h>

#include <bisai/bcsr.h>
#include <bisai/export.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The second stage of CPR. It takes the options of its kind: `isai`, `ilu`, `sweeps`, `bjacobi`,
 *  `factor` and `shift` of bisai_precond_options. */
typedef enum bisai_cpr_second_stage {
  /** ILU */
  BISAI_CPR_SECOND_STAGE_AUTO = 0,
  /** ISAI */
  BISAI_CPR_SECOND_STAGE_ISAI = 1,
  /** ILU */
  BISAI_CPR_SECOND_STAGE_ILU = 2,
  /** SWEEPS */
  BISAI_CPR_SECOND_STAGE_SWEEPS = 3,
  /** BJACOBI */
  BISAI_CPR_SECOND_STAGE_BJACOBI = 4
} bisai_cpr_second_stage;

/** The words of bisai_cpr_second_stage: X(enumerator, word). */
#define BISAI_CPR_SECOND_STAGE_LIST(X)                                                             \
  X(BISAI_CPR_SECOND_STAGE_AUTO, "auto")                                                           \
  X(BISAI_CPR_SECOND_STAGE_ISAI, "isai")                                                           \
  X(BISAI_CPR_SECOND_STAGE_ILU, "ilu")                                                             \
  X(BISAI_CPR_SECOND_STAGE_SWEEPS, "sweeps")                                                       \
  X(BISAI_CPR_SECOND_STAGE_BJACOBI, "bjacobi")

/** Returns "auto", "isai", "ilu", "sweeps" or "bjacobi", and "unknown second stage" for other
 *  values. */
BISAI_API const char *bisai_cpr_second_stage_string(bisai_cpr_second_stage value);

/** Looks up a word of bisai_cpr_second_stage_string().
 *  @param value  out; unchanged if the word is unknown
 *  @returns      false for unknown words and NULL */
BISAI_API bool bisai_cpr_second_stage_parse(const char *word, bisai_cpr_second_stage *value);

/** Where the weights w of CPR come from. Computed weights of a block row solve Dᵀ w = e_p, where p
 *  is the pressure. */
typedef enum bisai_weights {
  /** computed, where D is the diagonal block of A */
  BISAI_WEIGHTS_QUASI_IMPES = 0,
  /** computed, where D has the caller's derivatives of the accumulation terms
   *  (bisai_cpr_options::storage) */
  BISAI_WEIGHTS_TRUE_IMPES = 1,
  /** given by the caller */
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

/** The value of `pressure` that lets the library find the unknown by a measurement. */
enum { BISAI_CPR_PRESSURE_AUTO = -1 };

/** Options of CPR. The first stage takes the options `multigrid`. */
typedef struct bisai_cpr_options {
  /** p: the place of the pressure among the unknowns of a block, from 0. Default
   *  BISAI_CPR_PRESSURE_AUTO: the unknown with the largest bisai_cpr_report::ellipticity, of equal
   *  ones the first. Updates keep the unknown */
  int32_t pressure;
  /** default BISAI_CPR_SECOND_STAGE_AUTO */
  bisai_cpr_second_stage second;
  /** true: both stages work on v, and z is the sum of their results. Default false: the second
   *  stage works on what the first one leaves of v */
  bool additive;
  /** true: updates keep the weights, the pressure matrix and its levels. They compute only the
   *  second stage, and the columns of A with which it begins. Default false */
  bool keep_pressure;
  /** w: block_size values for each block row. A common factor of these values has no effect. Zeros
   *  exclude the row from the pressure correction. Default NULL: the weights are computed. The
   *  array must live as long as the preconditioner, and each update reads it again. With a device
   *  it may lie in host memory: creation and updates then allocate device memory for a copy, and
   *  free it */
  const double *weights;
  /** D: derivatives of the accumulation terms, for weights by true IMPES: block_rows·bs rows of bs
   *  values, row by row. Row i·bs + r has the derivatives of the term of equation r in block row i.
   *  Default NULL: D are the diagonal blocks of A. The array must live as long as the
   *  preconditioner, as for `weights` */
  const double *storage;
} bisai_cpr_options;

/** What CPR reports. For other kinds, first_singular_row and first_excluded_row are -1, and all
 *  other fields are zero. The stages report in the members of their kinds: `multigrid`, and
 *  `factor`, `isai` or `bjacobi`. */
typedef struct bisai_cpr_report {
  /** the place of the pressure in a block */
  int32_t pressure;
  /** true if the pressure was found by a measurement */
  bool found;
  /** how elliptic each unknown p is, 0 … 1; 0 without `found`. The ellipticity is the product of
   *  two means. The first is the mean of min(1, Σ_j √|a_ij a_ji / (a_ii a_jj)|), j ≠ i, over the
   *  block rows i of the pressure matrix a of p. The second is the mean of
   *  min(1, Σ_j |A_ij(l, p)| / |A_ii(l, p)|), j ≠ i, over all equations l of all block rows i of A.
   *  The ellipticity of a pressure is typically above 0.35. That of a temperature may come to 1/bs
   *  by conduction, and others are near 0 */
  double ellipticity[BISAI_MAX_BLOCK_SIZE];
  /** the second stage in use, never AUTO */
  bisai_cpr_second_stage second;
  /** where the weights come from */
  bisai_weights weights;
  /** number of block rows whose D is singular. For quasi-IMPES, a D that is singular up to rounding
   *  errors counts too. The weights of these rows are e_p */
  int64_t singular_rows;
  /** the first of them; -1 if there is none */
  int32_t first_singular_row;
  /** number of block rows whose weights were multiplied by −1, so that the diagonal entry of the
   *  pressure matrix became positive */
  int64_t reversed_rows;
  /** number of block rows whose diagonal entry of the pressure matrix is zero up to rounding
   *  errors, or has no finite value or inverse. Their weights are 0, so that they get no pressure
   *  correction */
  int64_t excluded_rows;
  /** the first of them; -1 if there is none */
  int32_t first_excluded_row;
} bisai_cpr_report;

#ifdef __cplusplus
}
#endif
#endif
