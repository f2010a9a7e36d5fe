/* SPDX-License-Identifier: BSD-3-Clause */
/* Inversion and decomposition of the blocks of a warp, in registers, from any source and with
 * shifts. For *_cuda.cu only. */
#ifndef BSI_DECOMPOSE_CUDA_CUH
#define BSI_DECOMPOSE_CUDA_CUH

#include "bjacobi/factorize/extract_cuda.cuh"
#include "bjacobi/factorize/fragment_inverse_cuda.cuh"
#include "bjacobi/factorize/store_cuda.cuh"

/* The outcome for one block, in every lane of it. */
struct bsi_decomposed {
  /* ‖D‖₁ */
  double norm;
  /* INVERSE: κ₁(D); other forms: 0 */
  double condition;
  /* other forms than INVERSE: the smallest magnitude of a pivot */
  double smallest;
  bool singular;
};

static __device__ __forceinline__ bool bsi_any_in_block(const bsi_lane &l, bool value) {
  return (__ballot_sync(BSI_FULL_WARP, value) & l.w.mask) != 0;
}

/* Inverts the block of which the lane has rows a, and leaves the inverse in the tile. Template
 * parameters: as those of bsi_compute_values. */
template <int M, int R, int LANES, bool EXACT>
static __device__ __forceinline__ void bsi_invert(const bsi_lane &l, double *tile,
                                                  double (&a)[R][M], bsi_decomposed *d) {
  const bsi_inverted<R> e = bsi_sub_gauss_jordan<M, R, LANES, EXACT>(l.w, a);
  double inverse_norm;
  if constexpr (bsi_by_shuffles<LANES, EXACT>) inverse_norm = bsi_sub_norm1<M, R, LANES>(l.w, a);
  __syncwarp(); /* all lanes have read the tile for the norm */
#pragma unroll
  for (int q = 0; q < M; q++) {
    const int c = EXACT ? q : q - (M - l.w.max_rows);
    if (c < 0) continue;
    const int column = bsi_sub_pivot_of<R>(l.w, e, c);
#pragma unroll
    for (int s = 0; s < R; s++)
      if (bsi_padded<LANES, EXACT> || (l.w.row + s * l.w.lanes < l.w.m && (EXACT || c < l.w.m)))
        tile[l.tile + column * l.ld + e.step[s]] = a[s][q];
  }
  __syncwarp();
  if constexpr (!bsi_by_shuffles<LANES, EXACT>) inverse_norm = bsi_norm1<R, LANES>(l, tile);
  d->condition = d->norm * inverse_norm;
  d->singular = bsi_any_in_block(l, e.singular || !isfinite(inverse_norm));
}

/* Loads the warp's block from the job's source, the transposed one for Gauss–Huard, and adds
 * `shift` to the diagonal. The tile is scratch memory. N: the patches of a row. */
template <int N, bisai_form FORM>
static __device__ __forceinline__ bsi_spread<N> bsi_load_spread(const bsi_values_job &p,
                                                                const bsi_lane &l, double shift,
                                                                double *tile) {
  const int m = l.w.max_rows; /* the compiler knows that it is the same in all lanes */
  bsi_spread<N> a;
  if (p.source == BSI_FROM_BLOCKS || p.source == BSI_FROM_DENSE) {
    const bsi_plain_block block = bsi_find_plain(p, l, m);
    a = bsi_spread_block<N, FORM>(block.values, block.ld, m, block.there);
  } else {
    bsi_extract<true>(p, l, tile);
    a = bsi_spread_block<N, FORM>(tile + l.tile, l.ld, m, true);
    __syncwarp();
  }
  if (shift > 0.0) bsi_shift_spread<N>(shift, m, &a);
  return a;
}

/* Inverts or decomposes the warp's block by patches, and leaves the result in the tile and the
 * pivots of a decomposition in memory. M: the most rows of a block. FORM: as in
 * bsi_compute_values. */
template <int M, bisai_form FORM>
static __device__ __forceinline__ bsi_decomposed
bsi_decompose_by_patches(const bsi_values_job &p, const bsi_lane &l, double shift, double *tile) {
  constexpr int N = bsi_patches<M>;
  constexpr bool huard = FORM == BISAI_FORM_GAUSS_HUARD;
  const int m = l.w.max_rows;
  /* Gauss–Huard needs the block once more, and keeps it in the tile. */
  double *const panels = huard ? tile + bsi_tile_values<M, 1> : tile;
  int *const order = reinterpret_cast<int *>(panels + BSI_PANEL_VALUES) - BSI_WARP;
  bsi_spread<N> a = bsi_load_spread<N, FORM>(p, l, shift, tile);
  bsi_decomposed d = {};
  d.norm = huard ? bsi_spread_rows<N>(a, m) : bsi_spread_columns<N>(a, m);
  if constexpr (huard) bsi_keep_spread<N>(a, tile);
  bsi_panel_row own;
  const bool regular = bsi_decompose_spread<N, FORM>(m, panels, &a, &own, order);
  if constexpr (FORM == BISAI_FORM_INVERSE) bsi_complete_inverse<N>(own, &a);
  if constexpr (huard) bsi_complete_gauss_huard<N>(own, tile, &a);
  const double norm = bsi_spread_columns<N>(a, m);
  if constexpr (FORM == BISAI_FORM_INVERSE) {
    d.condition = d.norm * norm;
  } else {
    d.smallest = 1.0 / bsi_warp_max_magnitude(l.w.row < m ? fabs(own.scale) : 0.0);
    if (l.w.row < m) p.result.pivots[l.start + l.w.row] = static_cast<uint8_t>(order[l.w.row]);
  }
  d.singular = m > 0 && !(regular && isfinite(norm));
  bsi_spread_to_tile<N, FORM>(a, own, order, m, p.result.form == BISAI_FORM_GAUSS_HUARD_TRANSPOSED,
                              l.ld, tile + l.tile);
  return d;
}

/* Decomposes, for solves, the block of which the lane has row a and the tile has all rows. Leaves
 * the result in the tile and the pivots in memory. Template parameters: as those of
 * bsi_compute_values(). */
template <int M, int LANES, bisai_form FORM>
static __device__ __forceinline__ void bsi_decompose(const bsi_values_job &p, const bsi_lane &l,
                                                     double *tile, double (&a)[M],
                                                     bsi_decomposed *d) {
  const bool mine = l.w.row < l.w.m;
  double *block = tile + l.tile;
  bsi_eliminated e;
  if constexpr (FORM == BISAI_FORM_LU) {
    e = bsi_sub_lu<M, LANES>(l.w, a);
  } else {
#pragma unroll
    for (int r = 0; r < M; r++) a[r] = mine && r < l.w.m ? block[l.w.row * l.ld + r] : 0.0;
    e = bsi_sub_gauss_huard<M, LANES>(l.w, a);
  }
  __syncwarp();
  double sum = 0.0;
#pragma unroll
  for (int q = 0; q < M; q++) {
    if (!mine || q >= l.w.m) continue;
    sum += fabs(a[q]);
    int r = e.step, c = q;
    if (FORM != BISAI_FORM_LU) r = q, c = e.step;
    if (p.result.form == BISAI_FORM_GAUSS_HUARD_TRANSPOSED && r > c) {
      const int mirrored = l.w.m - 1 - c;
      c = l.w.m - 1 - r, r = mirrored;
    }
    block[c * l.ld + r] = a[q];
  }
  d->condition = 0.0, d->smallest = e.smallest;
  if (mine) p.result.pivots[l.start + l.w.row] = static_cast<uint8_t>(e.pivot);
  __syncwarp();
  d->singular = bsi_any_in_block(l, e.singular || !isfinite(sum));
}

/* Inverts blocks that lie side by side. Template parameters: as those of bsi_compute_values(). */
template <int M, int R, int LANES, bool EXACT>
static __device__ __forceinline__ bsi_decomposed bsi_invert_plain(const bsi_values_job &p,
                                                                  const bsi_lane &l, double *tile) {
  if constexpr (bsi_by_patches<LANES>) {
    return bsi_decompose_by_patches<M, BISAI_FORM_INVERSE>(p, l, 0.0, tile);
  } else {
    bsi_decomposed d;
    double a[R][M];
    d.smallest = INFINITY;
    bsi_load_plain<M, R, EXACT>(p, l, 0.0, a);
    if constexpr (bsi_by_shuffles<LANES, EXACT>) {
      d.norm = bsi_sub_norm1<M, R, LANES>(l.w, a);
    } else {
      bsi_rows_to_tile<M, R, EXACT>(l, a, tile);
      d.norm = bsi_norm1<R, LANES>(l, tile);
    }
    bsi_invert<M, R, LANES, EXACT>(l, tile, a, &d);
    return d;
  }
}

/* Adds `shift` to the diagonal of blocks from any source, and inverts or decomposes them. Template
 * parameters: as those of bsi_compute_values(). */
template <int M, int R, int LANES, bisai_form FORM>
static __device__ __forceinline__ bsi_decomposed bsi_decompose_block(const bsi_values_job &p,
                                                                     const bsi_lane &l,
                                                                     double shift, double *tile) {
  if constexpr (bsi_by_patches<LANES>) {
    return bsi_decompose_by_patches<M, FORM>(p, l, shift, tile);
  } else {
    bsi_decomposed d;
    double a[R][M];
    d.smallest = INFINITY;
    bsi_load_blocks<M, R, LANES>(p, l, shift, tile, a);
    d.norm = bsi_norm1<R, LANES>(l, tile);
    if constexpr (FORM == BISAI_FORM_INVERSE) {
      bsi_invert<M, R, LANES, false>(l, tile, a, &d);
    } else {
      static_assert(R == 1, "a lane has one row or column");
      bsi_decompose<M, LANES, FORM>(p, l, tile, a[0], &d);
    }
    return d;
  }
}

/* Inverts or decomposes blocks from any source. If the job has a shift, singular blocks are shifted
 * until they are regular. *shift ← the shift of the lane's block. Template parameters: as those of
 * bsi_compute_values(). */
template <int M, int R, int LANES, bisai_form FORM>
static __device__ __forceinline__ bsi_decomposed
bsi_decompose_shifted(const bsi_values_job &p, const bsi_lane &l, double *tile, double *shift) {
  bsi_decomposed d;
  double rows_norm = 0.0;
  *shift = 0.0;
  for (;;) {
    d = bsi_decompose_block<M, R, LANES, FORM>(p, l, *shift, tile);
    if (p.shift_amount == 0.0 || !__any_sync(BSI_FULL_WARP, d.singular)) break;
    if (__any_sync(BSI_FULL_WARP, d.singular && *shift == 0.0)) {
      const double found = bsi_rows_norm(p, l);
      if (*shift == 0.0) rows_norm = found;
    }
    const double next = d.singular ? bsi_next_shift(p.shift_amount, rows_norm, *shift) : 0.0;
    if (!__any_sync(BSI_FULL_WARP, next > 0.0)) break; /* no shift repairs the others */
    if (next > 0.0) *shift = next;
    __syncwarp(); /* all lanes have read the tile */
  }
  return d;
}

#endif
