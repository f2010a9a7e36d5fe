/* SPDX-License-Identifier: BSD-3-Clause */
/* What a study finds in a sample of block rows, compiled for both backends: the mirror images of
 * entries, and how elliptic each unknown is (cpr/ellipticity.h measures all rows). */
#ifndef BSI_STUDY_SAMPLES_H
#define BSI_STUDY_SAMPLES_H

#include "core/matrix/search.h"
#include "study/rows.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Values of the sampled block rows beside their transposes, in a whole study and in a brief one,
 * and block rows of the sample of ellipticity. 2^13 values take some 0.3 ms on a host, and a share
 * of their rows is known to 2 %; of 2^11 values it is known to 4 %. */
enum {
  BSI_STUDY_SAMPLE_VALUES = 1 << 13,
  BSI_STUDY_BRIEF_SAMPLE_VALUES = 1 << 11,
  BSI_STUDY_SAMPLE_UNKNOWNS = 128,
  BSI_STUDY_BRIEF_SAMPLE_UNKNOWNS = 32
};

/* Returns the number of block rows whose mean has the values of the sample together. */
BSI_INLINE int32_t bsi_study_sample_size(const bsi_study_view *a) {
  const double values = (double)a->blocks * a->block_size * a->block_size,
               most = a->brief ? BSI_STUDY_BRIEF_SAMPLE_VALUES : BSI_STUDY_SAMPLE_VALUES;
  if (values <= most) return a->block_rows;
  const double rows = ceil(most / values * a->block_rows);
  return rows < a->block_rows ? (int32_t)rows : a->block_rows;
}

/* Returns item k of a sample of `count` of n items: one in each of `count` ranges, at a place that
 * varies, because rows of grids repeat at equal distances. */
BSI_INLINE int32_t bsi_study_sample(int32_t n, int32_t count, int32_t k) {
  const int64_t begin = (int64_t)n * k / count, end = (int64_t)n * (k + 1) / count;
  uint32_t h = ((uint32_t)k + 1u) * 0x9e3779b1u;
  h ^= h >> 15;
  return (int32_t)(begin + (int64_t)(h % (uint32_t)(end - begin)));
}

/* Returns √(|d e|) without underflow of the product. */
BSI_INLINE double bsi_study_mean(double d, double e) { return sqrt(fabs(d)) * sqrt(fabs(e)); }

/* Sums over the entries of a block row that couple the same component: component r has the places
 * r·stride, …, which a device keeps in shared memory. */
typedef struct bsi_study_pairs {
  /* |a_ij − a_ji|, |a_ij| + |a_ji|, and the largest |a_ij| */
  double *difference, *size, *largest;
  int stride;
} bsi_study_pairs;

/* Compares block p = (i, j) with block q = (j, i); q < 0: it is not stored. `here` and `there` are
 * the diagonal blocks of i and j, or NULL. */
BSI_INLINE void bsi_study_compare(const int bs, const bsi_study_view *a, int32_t p, int32_t q,
                                  const double *here, const double *there,
                                  const bsi_study_pairs *pairs, bsi_study_record *record) {
  const double *block = a->values + (size_t)p * (size_t)(bs * bs);
  const double *mirror = q < 0 ? NULL : a->values + (size_t)q * (size_t)(bs * bs);
  for (int c = 0; c < bs; c++)
    for (int r = 0; r < bs; r++) {
      const double x = block[c * bs + r], y = mirror ? mirror[r * bs + c] : 0.0;
      if (p == q && r == c) continue;
      if (r == c) {
        double *largest = pairs->largest + r * pairs->stride;
        pairs->difference[r * pairs->stride] += fabs(x - y);
        pairs->size[r * pairs->stride] += fabs(x) + fabs(y);
        if (fabs(x) > *largest) *largest = fabs(x);
      }
      if (x != 0.0) {
        record->sums[BSI_STUDY_ENTRIES]++;
        record->sums[BSI_STUDY_MIRRORED_ENTRIES] += y != 0.0;
      }
      if (x == y) continue;
      const double of_diagonal =
          bsi_study_mean(here ? here[r * bs + r] : 0.0, there ? there[c * bs + c] : 0.0);
      const double scale = fmax(fmax(fabs(x), fabs(y)), of_diagonal);
      const double difference = fabs(x - y);
      bsi_study_most(record, BSI_STUDY_ASYMMETRY,
                     bsi_study_bits(difference < 2.0 * scale ? difference / scale : 2.0));
    }
}

/* Entries of one component: all, and those that are weak beside the largest one of the row. */
typedef struct bsi_study_strengths {
  int64_t all, weak;
} bsi_study_strengths;

/* Adds blocks `begin`, begin + step, … of block row i. */
BSI_INLINE bsi_study_strengths bsi_study_strengths_of(const int bs, const bsi_study_view *a,
                                                      int32_t i, int r, double largest,
                                                      int32_t begin, int step) {
  bsi_study_strengths s = {0, 0};
  const int32_t end = a->row_ptr[i + 1];
  for (int32_t p = begin; p < end; p += step) {
    const double size = fabs(a->values[(size_t)p * (size_t)(bs * bs) + (size_t)(r * bs + r)]);
    if (a->col_idx[p] == i || size == 0.0) continue;
    s.all++;
    s.weak += size < 0.25 * largest;
  }
  return s;
}

/* Returns block p, or NULL if p < 0. */
BSI_INLINE const double *bsi_study_block_at(const int bs, const bsi_study_view *a, int32_t p) {
  return p < 0 ? NULL : a->values + (size_t)p * (size_t)(bs * bs);
}

/* Compares block p of block row i, whose diagonal block is `here`, with its mirror image. */
BSI_INLINE void bsi_study_sample_block(const int bs, const bsi_study_view *a, int32_t i, int32_t p,
                                       const double *here, const bsi_study_pairs *pairs,
                                       bsi_study_record *record) {
  const int32_t j = a->col_idx[p], begin = a->row_ptr[j], end = a->row_ptr[j + 1];
  const int32_t q = j == i ? p : bsi_find_column(a->col_idx, begin, end, i);
  const double *there = bsi_study_block_at(bs, a, bsi_find_diagonal(a->row_ptr, a->col_idx, j));
  bsi_study_compare(bs, a, p, q, here, there, pairs, record);
  if (j == i) return;
  record->sums[BSI_STUDY_BLOCKS]++;
  record->sums[BSI_STUDY_MIRRORED_BLOCKS] += q >= 0;
}

/* Counts a scalar row that is coupled to others of its component. */
BSI_INLINE void bsi_study_sample_end(double difference, double size, bsi_study_strengths s,
                                     bsi_study_record *record) {
  record->sums[BSI_STUDY_COUPLED_ROWS]++;
  record->sums[BSI_STUDY_ONE_SIDED] += bsi_study_units(difference / size);
  record->sums[BSI_STUDY_WEAK] += bsi_study_units((double)s.weak / (double)s.all);
}

/* Returns entry (i, j) over entry (i, i) of the matrix of unknown p, whose weights solve Dᵀ w =
 * e_p. `inverse` is that of the diagonal block D of row i, or NULL if it is singular: then w = e_p,
 * and row i is that of the identity if its entry is 0. */
BSI_INLINE double bsi_study_ratio(const int bs, const double *inverse, const double *diagonal,
                                  const double *block, int p) {
  double sum = 0.0;
  if (!inverse) {
    const double d = diagonal[p * bs + p];
    return d == 0.0 ? 0.0 : block[p * bs + p] / d;
  }
  for (int k = 0; k < bs; k++) sum += inverse[k * bs + p] * block[p * bs + k];
  return sum;
}

/* The diagonal block of a row, or NULL, and its inverse, or NULL if it is singular. */
typedef struct bsi_study_inverse {
  const double *diagonal, *inverse;
} bsi_study_inverse;

/* Returns √|a_ij a_ji/(a_ii a_jj)| in the matrix of unknown k, from blocks (i, j) and (j, i). */
BSI_INLINE double bsi_study_coupling(const int bs, const bsi_study_inverse *here,
                                     const bsi_study_inverse *there, const double *block,
                                     const double *mirror, int k) {
  return bsi_study_mean(bsi_study_ratio(bs, here->inverse, here->diagonal, block, k),
                        bsi_study_ratio(bs, there->inverse, there->diagonal, mirror, k));
}

/* Returns min(1, Σ_j |A_ij(l, p)| / |A_ii(l, p)|), j ≠ i, in units. */
BSI_INLINE uint64_t bsi_study_reach(const int bs, const bsi_study_view *a, int32_t i, int l, int p,
                                    const double *diagonal) {
  double sum = 0.0;
  for (int32_t q = a->row_ptr[i]; q < a->row_ptr[i + 1]; q++)
    if (a->col_idx[q] != i) sum += fabs(bsi_study_block_at(bs, a, q)[p * bs + l]);
  if (sum == 0.0) return 0;
  return bsi_study_units(diagonal ? sum / fabs(diagonal[p * bs + l]) : 1.0);
}

#ifdef __cplusplus
}
#endif

#endif
