/* SPDX-License-Identifier: BSD-3-Clause */
/* Inverses of one small dense block, compiled for the host and for CUDA.
 *
 * They are computed by cofactors for 2 ≤ bs ≤ 5 (Ma et al. 2021, section 3.2, equation 10, whose
 * sign is right for even sizes only). Other sizes, and blocks whose cofactor inverse is not
 * accurate enough, take Gauss–Jordan elimination with row pivoting. */
#ifndef BSI_BLOCK_INVERT_H
#define BSI_BLOCK_INVERT_H

#include "core/block/block_math.h"

/* A cofactor inverse with a larger κ₁ is recomputed with pivoting. */
#define BSI_COFACTOR_CONDITION_LIMIT 1e6
/* The largest accepted residual ‖a x − I‖₁ of a cofactor inverse, over bs·κ₁: 16 ε, which pivoted
 * elimination reaches. */
#define BSI_COFACTOR_RESIDUAL_LIMIT (16.0 * 2.220446049250313e-16)
/* Outside these bounds of |det|, the cofactors of a well-conditioned block may be inaccurate
 * because of underflow or overflow. */
#define BSI_COFACTOR_DETERMINANT_MIN 1e-280
#define BSI_COFACTOR_DETERMINANT_MAX 1e280

typedef enum bsi_block_result {
  BSI_BLOCK_OK = 0,
  /* inverted by Gauss–Jordan elimination, because the cofactor inverse was rejected */
  BSI_BLOCK_FALLBACK = 1,
  /* a pivot is zero despite pivoting, or the inverse is not finite */
  BSI_BLOCK_SINGULAR = 2,
  /* inverted after its diagonal was shifted */
  BSI_BLOCK_REPAIRED = 3
} bsi_block_result;

BSI_INLINE double bsi_determinant2(const double *a) { return a[0] * a[3] - a[2] * a[1]; }

BSI_INLINE double bsi_determinant3(const double *a) {
  return a[0] * (a[4] * a[8] - a[7] * a[5]) - a[3] * (a[1] * a[8] - a[7] * a[2]) +
         a[6] * (a[1] * a[5] - a[4] * a[2]);
}

/* Laplace expansion along the first two columns: products of complementary 2 × 2 minors. */
BSI_INLINE double bsi_determinant4(const double *a) {
  const double *b = a + 8;
  return (a[0] * a[5] - a[4] * a[1]) * (b[2] * b[7] - b[6] * b[3]) -
         (a[0] * a[6] - a[4] * a[2]) * (b[1] * b[7] - b[5] * b[3]) +
         (a[0] * a[7] - a[4] * a[3]) * (b[1] * b[6] - b[5] * b[2]) +
         (a[1] * a[6] - a[5] * a[2]) * (b[0] * b[7] - b[4] * b[3]) -
         (a[1] * a[7] - a[5] * a[3]) * (b[0] * b[6] - b[4] * b[2]) +
         (a[2] * a[7] - a[6] * a[3]) * (b[0] * b[5] - b[4] * b[1]);
}

BSI_INLINE double bsi_minor(const int bs, const double *a, const int row, const int column) {
  double m[16] = {0};
  BSI_UNROLL
  for (int c = 0; c < bs - 1; c++) {
    BSI_UNROLL
    for (int r = 0; r < bs - 1; r++)
      m[c * (bs - 1) + r] = a[(c + (c >= column)) * bs + r + (r >= row)];
  }
  return bs == 2   ? m[0]
         : bs == 3 ? bsi_determinant2(m)
         : bs == 4 ? bsi_determinant3(m)
                   : bsi_determinant4(m);
}

/* inverse ← adj(a)/det(a) for 2 ≤ bs ≤ 5, meaningless if a is singular or nearly so. Returns
 * det(a). */
BSI_INLINE double bsi_cofactor_inverse(const int bs, const double *a, double *inverse) {
  BSI_UNROLL
  for (int c = 0; c < bs; c++) {
    BSI_UNROLL
    for (int r = 0; r < bs; r++) {
      const double minor = bsi_minor(bs, a, r, c);
      inverse[r * bs + c] = (r + c) % 2 == 0 ? minor : -minor;
    }
  }
  double determinant = 0.0;
  for (int r = 0; r < bs; r++) determinant += a[r] * inverse[r * bs];
  for (int i = 0; i < bs * bs; i++) inverse[i] /= determinant;
  return determinant;
}

/* inverse ← a⁻¹ by Gauss–Jordan elimination with row pivoting. Returns false if a pivot is zero or
 * the inverse is not finite. */
BSI_INLINE bool bsi_gauss_jordan(const int bs, const double *a, double *inverse) {
  int pivots[BISAI_MAX_BLOCK_SIZE];
  double *m = inverse;
  bsi_block_copy(bs, a, m);
  for (int k = 0; k < bs; k++) {
    int pivot = k;
    for (int r = k + 1; r < bs; r++)
      if (fabs(m[k * bs + r]) > fabs(m[k * bs + pivot])) pivot = r;
    pivots[k] = pivot;
    if (pivot != k)
      for (int c = 0; c < bs; c++) {
        const double swap = m[c * bs + k];
        m[c * bs + k] = m[c * bs + pivot];
        m[c * bs + pivot] = swap;
      }
    const double value = m[k * bs + k];
    if (value == 0.0 || !isfinite(value)) return false;
    m[k * bs + k] = 1.0;
    for (int c = 0; c < bs; c++) m[c * bs + k] /= value;
    const double diagonal = m[k * bs + k];
    /* this zero leaves row k unchanged without a branch, so that the loop is vectorised */
    m[k * bs + k] = 0.0;
    for (int c = 0; c < bs; c++) {
      if (c == k) continue;
      const double factor = m[c * bs + k];
      for (int r = 0; r < bs; r++) m[c * bs + r] -= m[k * bs + r] * factor;
    }
    for (int r = 0; r < bs; r++) m[k * bs + r] *= -diagonal;
    m[k * bs + k] = diagonal;
  }
  for (int k = bs - 1; k >= 0; k--) {
    if (pivots[k] == k) continue;
    for (int r = 0; r < bs; r++) {
      const double swap = m[k * bs + r];
      m[k * bs + r] = m[pivots[k] * bs + r];
      m[pivots[k] * bs + r] = swap;
    }
  }
  return bsi_all_finite((size_t)(bs * bs), m);
}

/* ‖a x − I‖₁ */
BSI_INLINE double bsi_inverse_residual(const int bs, const double *a, const double *x) {
  double norm = 0.0;
  for (int c = 0; c < bs; c++) {
    double sum = 0.0;
    for (int r = 0; r < bs; r++) {
      double value = r == c ? -1.0 : 0.0;
      for (int k = 0; k < bs; k++) value += a[k * bs + r] * x[c * bs + k];
      sum += fabs(value);
    }
    if (isnan(sum)) return sum;
    if (sum > norm) norm = sum;
  }
  return norm;
}

/* inverse ← a⁻¹ and *condition ← κ₁(a) = ‖a‖₁‖a⁻¹‖₁, by the rules at the top. If a is singular, the
 * inverse is unspecified. Cofactors have a relative error of ε‖a‖^bs/|det a|, which may be far
 * larger than ε κ₁ and make κ₁ itself inaccurate. Therefore their residual is checked too. */
BSI_INLINE bsi_block_result bsi_block_invert(const int bs, const double *a, double *inverse,
                                             double *condition) {
  const double norm = bsi_block_norm1(bs, a);
  if (bs >= 2 && bs <= 5) {
    const double determinant = fabs(bsi_cofactor_inverse(bs, a, inverse));
    *condition = norm * bsi_block_norm1(bs, inverse);
    if (*condition <= BSI_COFACTOR_CONDITION_LIMIT && determinant >= BSI_COFACTOR_DETERMINANT_MIN &&
        determinant <= BSI_COFACTOR_DETERMINANT_MAX &&
        bsi_inverse_residual(bs, a, inverse) <= BSI_COFACTOR_RESIDUAL_LIMIT * bs * *condition)
      return BSI_BLOCK_OK;
  }
  if (!bsi_gauss_jordan(bs, a, inverse)) {
    *condition = INFINITY;
    return BSI_BLOCK_SINGULAR;
  }
  *condition = norm * bsi_block_norm1(bs, inverse);
  return bs >= 2 && bs <= 5 ? BSI_BLOCK_FALLBACK : BSI_BLOCK_OK;
}

/* Returns ‖·‖∞ of a row of `count` blocks: the largest sum of magnitudes of a scalar row, or NaN if
 * a value is NaN. */
BSI_INLINE double bsi_blocks_norm_infinity(const int bs, const double *blocks,
                                           const int32_t count) {
  double norm = 0.0;
  for (int r = 0; r < bs; r++) {
    double sum = 0.0;
    for (int32_t c = 0; c < count * bs; c++)
      sum += fabs(blocks[(size_t)c * (size_t)bs + (size_t)r]);
    if (isnan(sum)) return sum;
    if (sum > norm) norm = sum;
  }
  return norm;
}

/* Shifts a singular block a ← a + s I, with norm = ‖·‖∞ of its block row. At first (*shift = 0) s =
 * amount·norm; each further call makes s ten times larger. Returns false if amount = 0 or s is not
 * finite. */
BSI_INLINE bool bsi_block_shift(const int bs, double *a, const double amount, const double norm,
                                double *shift) {
  const double more =
      *shift > 0.0 ? 9.0 * *shift : fmax(amount * (norm == 0.0 ? 1.0 : norm), DBL_MIN);
  if (amount == 0.0 || !isfinite(more)) return false;
  *shift += more;
  for (int r = 0; r < bs; r++) a[r * bs + r] += more;
  return true;
}

/* As bsi_block_invert(), but with amount > 0 a singular block is repaired by shifts. `row` holds
 * the `count` blocks of its block row in the matrix. */
BSI_INLINE bsi_block_result bsi_block_invert_shifted(const int bs, double *a, const double amount,
                                                     const double *row, const int32_t count,
                                                     double *inverse, double *condition) {
  double shift = 0.0, norm = 0.0;
  for (;;) {
    const bsi_block_result result = bsi_block_invert(bs, a, inverse, condition);
    if (result != BSI_BLOCK_SINGULAR) return shift > 0.0 ? BSI_BLOCK_REPAIRED : result;
    if (amount > 0.0 && shift == 0.0) norm = bsi_blocks_norm_infinity(bs, row, count);
    if (!bsi_block_shift(bs, a, amount, norm, &shift)) return result;
  }
}

#endif
