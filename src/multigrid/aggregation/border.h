/* SPDX-License-Identifier: BSD-3-Clause */
/* Aggregation at the border of a rank, whose matrix has more columns than rows: those of ghosts,
 * rows of other ranks. Aggregates consist of own rows.
 *
 * They are those that the blocks between own rows give, with two changes. A coupling that is weak
 * beside that of one of its rows to a ghost is not strong: rows at the border would otherwise be
 * aggregated across the strong couplings of the matrix. And a row that has then nobody to join, but
 * is coupled to ghosts, is an aggregate of its own: if it stayed out, constants were not in the
 * coarse space there. Without this, a cut inside the grid lines of an anisotropic diffusion took 23
 * iterations instead of 15.
 *
 * The coupling to a ghost counts as the weight of its block in the own row, because another rank
 * has the mirrored block. */
#ifndef BSI_BORDER_H
#define BSI_BORDER_H

#include "core/matrix/bcsr_impl.h"
#include "multigrid/aggregation/strength.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a row is coupled to among the ghosts: its largest coupling, and the sum in units of
 * BSI_COUPLING_UNIT. */
typedef struct bsi_border_row {
  float largest;
  int64_t sum;
} bsi_border_row;

/* The blocks of row i are begin … end − 1; those of ghosts are the last ones. */
BSI_INLINE bsi_border_row bsi_border_row_of(const int bs, int32_t rows, const int32_t *col_idx,
                                            int32_t begin, int32_t end, const double *inverse,
                                            const double *values) {
  bsi_border_row row = {0.0f, 0};
  for (int32_t p = end - 1; p >= begin && col_idx[p] >= rows; p--) {
    const float weight = bsi_weight(bs, inverse, values + (size_t)p * (size_t)(bs * bs));
    row.largest = weight > row.largest ? weight : row.largest;
    row.sum += bsi_coupling_units(weight);
  }
  return row;
}

/* Returns the strength of a block beside the couplings of its two rows to ghosts. A negative
 * strength is that of a row that follows another one. */
BSI_INLINE float bsi_border_strength(float strength, float here, float there, float threshold) {
  const bool weak = strength < 0.0f ? -strength < threshold * here
                                    : strength < threshold * here || strength < threshold * there;
  return weak ? 0.0f : strength;
}

/* strength[p] ← as above. alone[i] ← 1 for a row that is coupled to ghosts, otherwise 0. */
typedef bisai_status bsi_border(bisai_context *, const bisai_bcsr *a, const double *inverse,
                                double threshold, float *strength, int32_t *alone);
bsi_border bsi_border_host, bsi_border_cuda;

/* Returns the aggregate of the row that row i follows, or that this one follows, and so on, or −1.
 * Chains of followers end (strength.h). */
BSI_INLINE int32_t bsi_border_followed(const int32_t *row_ptr, const int32_t *col_idx,
                                       const float *strength, const int32_t *aggregate, int32_t i) {
  int32_t p = row_ptr[i];
  while (p < row_ptr[i + 1]) {
    if (strength[p] >= 0.0f) {
      p++;
      continue;
    }
    i = col_idx[p];
    if (aggregate[i] >= 0) return aggregate[i];
    p = row_ptr[i];
  }
  return -1;
}

/* Gives rows without an aggregate that are coupled to ghosts one of their own, and lets others
 * follow those that they would have followed. *count grows by the new aggregates. Overwrites
 * `alone`. Waits. */
typedef bisai_status bsi_border_add(bisai_context *, const bisai_bcsr *a, const float *strength,
                                    int32_t *alone, int32_t *aggregate, int32_t *count);
bsi_border_add bsi_border_add_host, bsi_border_add_cuda;

#ifdef __cplusplus
}
#endif

#endif
