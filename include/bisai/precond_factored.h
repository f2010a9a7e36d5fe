/* SPDX-License-Identifier: BSD-3-Clause */
/** @file precond_factored.h
 *  What ILU, ISAI and the sweeps share: options of the factors of a matrix that is reordered, and
 *  what is reported of them. */
#ifndef BISAI_PRECOND_FACTORED_H
#define BISAI_PRECOND_FACTORED_H

#include <bisai/factor.h>
#include <bisai/order.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Options that ILU, ISAI and the sweeps share. */
typedef struct bisai_factored_options {
  /** level of fill of the factors that the preconditioner computes; default 0 */
  int32_t level;
  /** small pivots are enlarged, as least_pivot in bisai_factor_options says. BISAI_SHIFT_IN_BLOCKS
   *  repairs them by its own amount. From 0 to 1, default 0: none is. bisai_precond_report::repairs
   *  counts them with the singular blocks */
  double least_pivot;
  /** sweeps by which updates compute the factors, as update_sweeps in bisai_factor_options; default
   *  0: exactly. An update then gives other factors than a new preconditioner */
  int32_t update_sweeps;
  /** the caller's factors, which must outlive the preconditioner. Default NULL: the
   *  preconditioner computes and owns the factors of block ILU(level) of the matrix */
  const bisai_factors *factors;
  /** applies if the preconditioner computes its factors. It then factorises P A Pᵀ, and z = Pᵀ
   *  (L U)⁻¹ P v. The caller's patterns are those of P A Pᵀ. NONE, BJACOBI and CALLBACK do not
   *  depend on the ordering and ignore it. Default BISAI_ORDERING_NATURAL, which leaves LU the
   *  choice: nested dissection if the build has METIS, and minimum degree otherwise */
  bisai_ordering ordering;
  /** applies under the same conditions as `ordering`, to ILU, ISAI, SWEEPS and LU. The rows of A
   *  are permuted such that the product of the diagonal is largest (bisai_order_match()), and the
   *  ordering is that of Q A: P Q Dr A Dc Pᵀ is factorised, and z = Dc Pᵀ (L U)⁻¹ P Q Dr v. The
   *  diagonal may be zero or missing, and pivots seldom become small.
   *
   *  ENTRIES of a matrix with blocks makes a scalar matrix of its nonzeros, whose factors have
   *  block size 1; the caller's patterns are those of this matrix. BLOCKS keeps the blocks.
   *
   *  Dr and Dc are the powers of two nearest to the factors of the matching: weights are then 1 on
   *  the diagonal and at most 1 elsewhere, but for a factor of 2. With `equilibrate` they are those
   *  of the equilibration. Updates keep Q and P and compute Dr and Dc anew. Without `equilibrate`
   *  they match again for that, on the host, and fail if no matching is complete. They refuse a
   *  value that is not zero where ENTRIES left out a zero. If the values have changed so much that
   *  other rows belong to the diagonal, make a new preconditioner.
   *
   *  M is not symmetric, even if A is: CG refuses it. Symmetric ISAI refuses a matching. Default
   *  BISAI_MATCHING_NONE */
  bisai_matching matching;
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
  /** the matching in use */
  bisai_matching matching;
  /** number of rows that the matching moves: block rows, or scalar rows for ENTRIES */
  int32_t moved_rows;
  /** largest |i − j| of the blocks of A + Aᵀ in the caller's ordering; 0 without factors */
  int32_t natural_bandwidth;
  /** largest |i − j| in the ordering in use; 0 without factors. With a matching that of Q A, in
   *  scalar rows for ENTRIES */
  int32_t bandwidth;
  /** sum over the block rows i of A + Aᵀ of i minus the first block column of the row, in the
   *  caller's ordering; 0 without factors */
  int64_t natural_profile;
  /** the same sum in the ordering in use; 0 without factors */
  int64_t profile;
  /** true if rows and columns are scaled, by equilibration or by a matching */
  bool equilibrated;
  /** smallest factor in Dr and Dc; 1 if there are none */
  double smallest_scale;
  /** largest factor in Dr and Dc; 1 if there are none */
  double largest_scale;
} bisai_factored_report;

#ifdef __cplusplus
}
#endif
#endif
