/* SPDX-License-Identifier: BSD-3-Clause */
/** @file study.h
 *  What the entries of a matrix say about the methods that may solve A x = b, without a solve.
 *
 *  Rows, columns and unknowns are counted from 0. Rows of padding are left out. Component c of a
 *  block is its scalar row or column c. First and last rows are −1 if there is none. */
#ifndef BISAI_STUDY_H
#define BISAI_STUDY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <bisai/bcsr.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The entries of A. */
typedef struct bisai_study_entries {
  /** number of scalar rows */
  int64_t rows;
  /** number of entries that are not 0 */
  int64_t nonzeros;
  /** `nonzeros` over the number of values that the blocks store */
  double fill;
  /** number of scalar rows without an entry other than 0, and the first of them. A is singular if
   *  there is one */
  int64_t zero_rows, first_zero_row;
  /** number of scalar rows whose only entry other than 0 is on the diagonal, and the first of them:
   *  unknowns that boundary conditions have eliminated */
  int64_t single_rows, first_single_row;
  /** number of block rows with such rows and others: nodes that are eliminated in part */
  int32_t partly_single;
} bisai_study_entries;

/** A beside its transpose. The shares and `one_sided` are those of a sample of block rows. */
typedef struct bisai_study_symmetry {
  /** the asymmetry of the whole matrix is at most BISAI_SYMMETRY_LIMIT */
  bool symmetric;
  /** as bisai_bcsr_asymmetry() measures it if `symmetric`; otherwise that of the sample, which is a
   *  lower bound */
  double asymmetry;
  /** share of the stored off-diagonal blocks (i, j) with a stored block (j, i); 1 if there are
   *  none */
  double mirrored_blocks;
  /** share of the off-diagonal entries a_ij ≠ 0 with a_ji ≠ 0; 1 if there are none */
  double mirrored_entries;
  /** convection against diffusion: the mean over rows of Σ_j |a_ij − a_ji| / Σ_j (|a_ij| +
   *  |a_ji|), where j ≠ i is of the same component. 0: symmetric; 1: of two rows, one depends on
   *  the other and not the other way round, or by −1 times as much */
  double one_sided;
  /** number of block rows of the sample: all if A has at most 2¹⁶ values */
  int32_t sampled_rows;
} bisai_study_symmetry;

/** The diagonal of A. An entry that is not stored is 0. */
typedef struct bisai_study_diagonal {
  /** number of scalar rows whose diagonal entry is positive, negative, and 0 */
  int64_t positive, negative, zero;
  /** the first and the last row with a negative diagonal entry */
  int64_t first_negative, last_negative;
  /** a component of the blocks has diagonal entries of both signs */
  bool mixed_signs;
  /** number of block rows whose diagonal block is not stored, and the first of them */
  int32_t missing_blocks, first_missing;
  /** number of block rows whose diagonal block is stored and has no inverse, and the first */
  int32_t singular_blocks, first_singular;
  /** the largest condition number κ₁ of the other diagonal blocks; 0 if there is none */
  double condition;
} bisai_study_diagonal;

/** How rows are coupled to others. */
typedef struct bisai_study_couplings {
  /** share of the scalar rows with a_ii ≠ 0 and |a_ii| ≥ Σ_j |a_ij|, but for rounding, j ≠ i */
  double dominant_rows;
  /** share of the block rows with |D⁻¹| O 1 ≤ 1, but for rounding, where D is the diagonal block,
   *  O has the magnitudes of all entries of the row outside D, and |·| and ≤ are taken by entries.
   *  Block-Jacobi iterations converge if all rows dominate and one of them strictly. Source:
   *  Feingold and Varga 1962, for the norm of the whole row */
  double dominant_block_rows;
  /** as in an M-matrix: the mean over rows of the share of Σ_j |a_ij| with the sign opposite to
   *  a_ii, where j ≠ i is of the same component; 1 if no row is coupled so */
  double opposite;
  /** anisotropy: the mean over the sampled rows of the share of the a_ij ≠ 0, where j ≠ i is of the
   *  same component, that are less than a quarter of the largest of their row */
  double weak;
} bisai_study_couplings;

/** Constant vectors v, which are 1 in all rows, in one component of each block, or in the rows of a
 *  pressure, and 0 in the others. */
typedef struct bisai_study_constants {
  /** bit c: component c */
  uint32_t components;
  /** all rows; false if `components` has a bit */
  bool ones;
  /** rows first_row ≤ i < end_row, which are those of bisai_study_saddle if the block size is 1,
   *  they follow each other, and `inner` is 0; both 0: v is no such constant */
  int64_t first_row, end_row;
} bisai_study_constants;

/** Constants that A or its transpose maps to zero, but for rounding: each sum is at most 10⁻¹⁰
 *  times the sum of magnitudes. A is singular if there is one. */
typedef struct bisai_study_null {
  /** A v = 0 */
  bisai_study_constants right;
  /** Aᵀ v = 0 */
  bisai_study_constants left;
  /** the largest |vᵀb|/(‖v‖‖b‖) over the constants `left`. A x = b has no solution if it is more
   *  than rounding. 0 without a right-hand side and without constants */
  double inconsistency;
} bisai_study_null;

/** Magnitudes. All are 0 if A has no entry other than 0. */
typedef struct bisai_study_scales {
  /** the largest and the smallest of the rows' largest magnitudes, without rows of zeros */
  double largest_row, smallest_row;
  /** the largest and the smallest magnitude of diagonal entries other than 0 */
  double largest_diagonal, smallest_diagonal;
} bisai_study_scales;

/** Scalar rows whose diagonal entry is 0 and which are coupled to others, as those of a pressure or
 *  of Lagrange multipliers. */
typedef struct bisai_study_saddle {
  /** number of these rows, and the first and the last of them */
  int64_t rows, first_row, last_row;
  /** `rows` over all rows */
  double share;
  /** number of entries other than 0 between two of these rows */
  int64_t inner;
  /** there are such rows, and `inner` is 0 */
  bool zero_block;
  /** bit c: all diagonal entries of component c are 0 */
  uint32_t components;
} bisai_study_saddle;

/** The order of the block rows. */
typedef struct bisai_study_order {
  /** the largest |i − j| of the blocks (i, j) */
  int32_t bandwidth;
  /** the mean of i − j over block rows i, where j is the first block of the row, or i if that is
   *  less */
  double profile;
  /** number of dependency levels of the blocks below the diagonal, in the first `level_rows` block
   *  rows: those with 2²⁰ blocks, or all */
  int32_t levels, level_rows;
} bisai_study_order;

/** Unknowns that are stored field by field, found at block size 1 from samples of rows. With m
 *  fields, rows k, k + n/m, k + 2n/m, … belong to one node. */
typedef struct bisai_study_fields {
  /** m from 2 to 8; 1 if there are no such fields or the block size is not 1 */
  int32_t count;
  /** over all fields, the common entries of the fields' own patterns and that of the first field,
   *  divided by those that one of the two has; 0 without fields */
  double agreement;
} bisai_study_fields;

/** How elliptic the unknowns of a block are, as bisai_cpr_report measures it, from a sample of at
 *  most 256 block rows. For block size 1 all are zero. */
typedef struct bisai_study_unknowns {
  /** number of block rows of the sample */
  int32_t sampled_rows;
  /** the unknown with the largest ellipticity, and the next one */
  int32_t first, second;
  /** the ellipticity of each unknown */
  double ellipticity[BISAI_MAX_BLOCK_SIZE];
} bisai_study_unknowns;

/** What bisai_matrix_study() measures. */
typedef struct bisai_matrix_study_report {
  /** set by the caller to sizeof(bisai_matrix_study_report) */
  size_t struct_size;
  /** number and place of entries */
  bisai_study_entries entries;
  /** difference from the transpose */
  bisai_study_symmetry symmetry;
  /** diagonal entries and blocks */
  bisai_study_diagonal diagonal;
  /** dominance, signs and strength */
  bisai_study_couplings couplings;
  /** constants that make A singular */
  bisai_study_null null;
  /** magnitudes of rows and of the diagonal */
  bisai_study_scales scales;
  /** rows with a zero on the diagonal */
  bisai_study_saddle saddle;
  /** bandwidth and levels */
  bisai_study_order order;
  /** unknowns stored field by field */
  bisai_study_fields fields;
  /** which unknown is like a pressure */
  bisai_study_unknowns unknowns;
} bisai_matrix_study_report;

/** Studies a square matrix with values in fp64. One pass reads all values once, and each diagonal
 *  block is inverted; other measures read samples. Constants of Aᵀ need a second pass and 16 bytes
 *  of temporary memory for each scalar row and component, if a cheaper test does not exclude them.
 *  Otherwise the call needs temporary memory of 4 bytes for each block row, and on a device of 8
 *  bytes more for each scalar row. It waits for the device.
 *
 *  The results are the same bits for any number of threads. On a device, sums of a row are rounded
 *  in another order: means and condition numbers differ in their last digits.
 *  @param rows   the number of scalar rows without padding, which is 1 to
 *                bisai_bcsr_block_rows()·bs; 0: all before the padding at the end. Padding inside
 *                blocks counts as rows
 *  @param rhs    b: `rows` values in host memory, or in device memory if the context has a device;
 *                or NULL
 *  @param study  out; unchanged on failure
 *  @retval BISAI_INVALID_ARGUMENT  an argument is NULL, the matrix is not square, `rows` is out of
 *                                  range, or struct_size is unknown
 *  @retval BISAI_UNSUPPORTED       the values are not fp64, or the diagonal is implied
 *                                  (bisai_bcsr_unit_diagonal())
 *  @retval BISAI_NOT_FINITE        a value of b is NaN or infinite; the message names the row. Read
 *                                  only if Aᵀ maps a constant to zero
 *  @retval BISAI_OUT_OF_MEMORY, BISAI_DEVICE_ERROR */
BISAI_API bisai_status bisai_matrix_study(bisai_context *context, const bisai_bcsr *matrix,
                                          int64_t rows, const double *rhs,
                                          bisai_matrix_study_report *study);

/** Writes constants as vectors, which bisai_project() takes.
 *  @param constants   of a matrix with this block size
 *  @param rows        the number of values of a vector, at least bisai_study_entries::rows
 *  @param vectors     out: the vectors one after the other; NULL: they are counted only
 *  @return the number of vectors, at most block_size + 1 */
BISAI_API int32_t bisai_study_constants_vectors(const bisai_study_constants *constants,
                                                int32_t block_size, int64_t rows, double *vectors);

/** Measures for another right-hand side what bisai_study_null::inconsistency says.
 *  @param study          of the same matrix
 *  @param rhs            b, as for bisai_matrix_study()
 *  @param inconsistency  out; unchanged on failure
 *  @retval BISAI_INVALID_ARGUMENT  an argument is NULL, or struct_size of `study` is unknown
 *  @retval BISAI_NOT_FINITE, BISAI_OUT_OF_MEMORY, BISAI_DEVICE_ERROR */
BISAI_API bisai_status bisai_matrix_study_rhs(bisai_context *context, const bisai_bcsr *matrix,
                                              const bisai_matrix_study_report *study,
                                              const double *rhs, double *inconsistency);

#ifdef __cplusplus
}
#endif
#endif
