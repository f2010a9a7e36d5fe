/* SPDX-License-Identifier: BSD-3-Clause */
/* Inversion and decomposition of a block of 17 … 32 rows by a warp: elimination with implicit
 * pivoting in panels of four columns. For *_cuda.cu only.
 *
 * Four steps of the elimination change the four columns of a panel only, of which each lane then
 * has a row. What they do to the other columns is a product of the panel and the four pivot rows.
 * Panel and pivot rows pass through the warp's tile, and little has to be broadcast. Rows do not
 * move, as in eliminate_cuda.cuh. All lanes of a warp call together.
 *
 * All forms take the same steps. LU keeps the factors of the panels and the pivot rows. Gauss–Huard
 * eliminates in the transposed block, so that it pivots among columns. */
#ifndef BSI_FRAGMENT_INVERSE_CUDA_CUH
#define BSI_FRAGMENT_INVERSE_CUDA_CUH

#include "bjacobi/factorize/spread_cuda.cuh"
#include "gpu/product.cuh"

/* The columns of a panel, and the distance between pivot rows in the tile. */
enum { BSI_PANEL = 4, BSI_PIVOT_LEAD = 36 };

/* The doubles of scratch memory: two panels, the pivot rows, and the order of the pivots. */
constexpr int BSI_PANEL_VALUES =
    2 * BSI_WARP * BSI_PANEL + BSI_PANEL * BSI_PIVOT_LEAD + BSI_WARP / 2;

/* True if a warp takes one block by patches. LANES: the lanes of a sub-warp. */
template <int LANES> constexpr bool bsi_by_patches = LANES == BSI_WARP;

/* The row of the block that a lane has in panels: the one of its number. */
struct bsi_panel_row {
  /* the step in which it was the pivot, and the reciprocal of the pivot */
  int step;
  double scale;
  /* the row's part of a key that decides between pivots: see bsi_eliminate_panel(). Both are 0 if
   * the row was a pivot, or if there is none. */
  unsigned mask, code;
};

/* The place in the tile of two values of row `row` of a panel: the first two, or the last. They
 * change places so that neither rows nor patches meet in a bank. */
static __device__ __forceinline__ double *bsi_panel_place(double *tile, int row, int last) {
  return tile + row * BSI_PANEL + (last ^ (row / 4 & 1)) * 2;
}

/* Takes steps p … p + 3 in the lane's row v of their columns. Afterwards v has what is to be
 * subtracted from the lane's row, as multiples of the four pivot rows.
 * FORM: INVERSE, LU or GAUSS_HUARD. Only for INVERSE a row that was a pivot changes.
 * kept ← LU: the lane's row of the decomposition, with the reciprocals of the pivots.
 * pivots ← the four rows. Two pivots that agree in their exponent and the first 16 bits of their
 *   fraction count as equal, and the first of equals is taken. */
template <bisai_form FORM>
static __device__ __forceinline__ void bsi_eliminate_panel(int p, double (&v)[BSI_PANEL],
                                                           bsi_panel_row *own,
                                                           double (&kept)[BSI_PANEL],
                                                           int (&pivots)[BSI_PANEL]) {
  const int lane = threadIdx.x % BSI_WARP;
#pragma unroll
  for (int j = 0; j < BSI_PANEL; j++) {
    const unsigned high = static_cast<unsigned>(__double2hiint(v[j])) << 1,
                   top = bsi_warp_max((high & own->mask) | own->code);
    const int pivot = static_cast<int>(top % BSI_WARP) ^ (BSI_WARP - 1);
    const double reciprocal = bsi_reciprocal(v[j]),
                 inverse = __shfl_sync(BSI_FULL_WARP, reciprocal, pivot);
    const bool mine = lane == pivot,
               takes = !mine && (FORM == BISAI_FORM_INVERSE || own->mask != 0u);
    const double factor = takes ? v[j] * inverse : 0.0;
    kept[j] = mine ? reciprocal : takes ? factor : v[j];
#pragma unroll
    for (int c = 0; c < BSI_PANEL; c++)
      if (c != j) v[c] = fma(-factor, __shfl_sync(BSI_FULL_WARP, v[c], pivot), v[c]);
    v[j] = factor;
    if (mine) own->step = p + j, own->scale = reciprocal, own->mask = own->code = 0u;
    pivots[j] = pivot;
  }
}

/* Puts the pivot rows of a panel into the tile. But for LU the panel itself, half HALF of the first
 * column of patches, becomes the columns of the identity that belong to the pivot rows: the product
 * then makes it what the elimination has made it. */
template <int N, int HALF, bisai_form FORM>
static __device__ __forceinline__ void bsi_take_pivot_rows(const int (&pivots)[BSI_PANEL],
                                                           double *rows, bsi_spread<N> *a) {
  const int row = bsi_patch_row(), column = bsi_patch_column();
  unsigned all = 0u; /* a byte for each of the lane's rows: 1 … 4 for the pivot rows */
#pragma unroll
  for (unsigned j = 0; j < BSI_PANEL; j++)
    if (pivots[j] % 8 == row) all |= (j + 1) << pivots[j] / 8 * 8;
#pragma unroll
  for (int t = 0; t < N; t++) {
    const int mine = static_cast<int>(all >> 8 * t & 7u) - 1;
    if (FORM != BISAI_FORM_LU && column / BSI_PANEL == HALF) {
      a->v[t][0][0] = mine == column % BSI_PANEL ? 1.0 : 0.0;
      a->v[t][0][1] = mine == column % BSI_PANEL + 1 ? 1.0 : 0.0;
    }
    if (mine >= 0)
#pragma unroll
      for (int u = 0; u < N; u++)
        *reinterpret_cast<double2 *>(rows + mine * BSI_PIVOT_LEAD + 8 * u + column) =
            make_double2(a->v[t][u][0], a->v[t][u][1]);
  }
}

/* Moves the first column of patches behind the last one, so that all panels are the same code. */
template <int N> static __device__ __forceinline__ void bsi_turn(bsi_spread<N> *a) {
#pragma unroll
  for (int t = 0; t < N; t++)
#pragma unroll
    for (int e = 0; e < 2; e++) {
      const double first = a->v[t][0][e];
#pragma unroll
      for (int u = 1; u < N; u++) a->v[t][u - 1][e] = a->v[t][u][e];
      a->v[t][N - 1][e] = first;
    }
}

/* Subtracts the product of the panel that begins at step p and its pivot rows from the columns that
 * are to change: for LU those after the panel, otherwise all. */
template <int N, int HALF, bisai_form FORM>
static __device__ __forceinline__ void bsi_subtract_pivot_rows(int p, double *tile,
                                                               const double *rows,
                                                               bsi_spread<N> *a) {
  constexpr bool all = FORM != BISAI_FORM_LU;
  const int row = bsi_patch_row(), column = bsi_patch_column();
  double left[N], right[N];
#pragma unroll
  for (int t = 0; t < N; t++)
    left[t] = -bsi_panel_place(tile, 8 * t + row, column / 4)[column / 2 % 2];
#pragma unroll
  for (int u = 0; u < N; u++) right[u] = rows[column / 2 * BSI_PIVOT_LEAD + 8 * u + row];
  if (!all && row < BSI_PANEL) right[0] = 0.0;
#pragma unroll
  for (int u = !all && HALF == 1 ? 1 : 0; u < N; u++) {
    if (!all && u >= N - p / 8) break;
#pragma unroll
    for (int t = 0; t + 1 < N; t += 2)
      bsi_add_products(left[t], left[t + 1], right[u], a->v[t][u], a->v[t + 1][u], a->v[t][u],
                       a->v[t + 1][u]);
    if (N % 2 == 1) bsi_add_product(left[N - 1], right[u], a->v[N - 1][u], a->v[N - 1][u]);
  }
}

/* Moves rows of a panel between the lanes' patches, half HALF of the first column, and the tile. */
template <int N, int HALF, bool TO_TILE>
static __device__ __forceinline__ void bsi_move_panel(double *tile, bsi_spread<N> *a) {
  const int row = bsi_patch_row(), column = bsi_patch_column();
  if (column / BSI_PANEL != HALF) return;
#pragma unroll
  for (int t = 0; t < N; t++) {
    double2 *const two =
        reinterpret_cast<double2 *>(bsi_panel_place(tile, 8 * t + row, column / 2 % 2));
    if (TO_TILE)
      *two = make_double2(a->v[t][0][0], a->v[t][0][1]);
    else
      a->v[t][0][0] = two->x, a->v[t][0][1] = two->y;
  }
}

/* The same for the lane's own row. */
static __device__ __forceinline__ void bsi_store_panel(double *tile, const double (&v)[BSI_PANEL]) {
  const int lane = threadIdx.x % BSI_WARP;
  *reinterpret_cast<double2 *>(bsi_panel_place(tile, lane, 0)) = make_double2(v[0], v[1]);
  *reinterpret_cast<double2 *>(bsi_panel_place(tile, lane, 1)) = make_double2(v[2], v[3]);
}

/* Takes steps p … p + 3, whose columns are half HALF of the first column of patches. */
template <int N, int HALF, bisai_form FORM>
static __device__ __forceinline__ void bsi_take_panel(int p, double *tile, bsi_spread<N> *a,
                                                      bsi_panel_row *own) {
  constexpr int panel = BSI_WARP * BSI_PANEL;
  double *const rows = tile + 2 * panel;
  bsi_move_panel<N, HALF, true>(tile, a);
  __syncwarp();
  const int lane = threadIdx.x % BSI_WARP;
  const double2 first = *reinterpret_cast<double2 *>(bsi_panel_place(tile, lane, 0)),
                last = *reinterpret_cast<double2 *>(bsi_panel_place(tile, lane, 1));
  double v[BSI_PANEL] = {first.x, first.y, last.x, last.y}, kept[BSI_PANEL];
  int pivots[BSI_PANEL];
  bsi_eliminate_panel<FORM>(p, v, own, kept, pivots);
  bsi_store_panel(tile, v);
  if (FORM == BISAI_FORM_LU) bsi_store_panel(tile + panel, kept);
  bsi_take_pivot_rows<N, HALF, FORM>(pivots, rows, a);
  __syncwarp();
  bsi_subtract_pivot_rows<N, HALF, FORM>(p, tile, rows, a);
  if (FORM == BISAI_FORM_LU) bsi_move_panel<N, HALF, false>(tile + panel, a);
  __syncwarp();
}

/* Takes the steps of a block of m rows, m the same in all lanes. The result has to be completed by
 * one of the functions below. The tile is scratch memory; order ← the row that was the pivot in
 * each step. Returns false if the block is singular: a reciprocal is zero, or a row that pads the
 * block was a pivot. Other singular blocks have values that are not finite. */
template <int N, bisai_form FORM>
static __device__ __forceinline__ bool bsi_decompose_spread(int m, double *tile, bsi_spread<N> *a,
                                                            bsi_panel_row *own, int *order) {
  const int lane = threadIdx.x % BSI_WARP;
  const bool padded = lane < 8 * N;
  *own = {.step = lane,
          .scale = 1.0,
          .mask = padded ? ~(BSI_WARP - 1u) : 0u,
          .code = padded ? BSI_WARP - 1u - lane : 0u};
#pragma unroll 1
  for (int p = 0; p < 8 * N; p += 8) {
    if (p < m) bsi_take_panel<N, 0, FORM>(p, tile, a, own);
    if (p + BSI_PANEL < m) bsi_take_panel<N, 1, FORM>(p + BSI_PANEL, tile, a, own);
    bsi_turn<N>(a);
  }
  /* If values are not finite, a row that pads the block may have been a pivot in place of another
   * row. Two rows may then have the same step. */
  const bool singular =
      __any_sync(BSI_FULL_WARP, own->scale == 0.0 || (lane >= m && own->step != lane));
  if (singular) own->step = lane;
  order[own->step] = lane;
  __syncwarp();
  return !singular;
}

/* Completes an inverse: multiplies its rows by their factors. */
template <int N>
static __device__ __forceinline__ void bsi_complete_inverse(const bsi_panel_row &own,
                                                            bsi_spread<N> *a) {
  /* The sum with zero makes all zeros positive, as in bsi_sub_gauss_jordan(). */
#pragma unroll
  for (int t = 0; t < N; t++) {
    const double scale = __shfl_sync(BSI_FULL_WARP, own.scale, 8 * t + bsi_patch_row());
#pragma unroll
    for (int u = 0; u < N; u++)
#pragma unroll
      for (int e = 0; e < 2; e++) a->v[t][u][e] = fma(a->v[t][u][e], scale, 0.0);
  }
}

/* Keeps the block for bsi_complete_gauss_huard(). */
template <int N>
static __device__ __forceinline__ void bsi_keep_spread(const bsi_spread<N> &a, double *kept) {
  kept += threadIdx.x % BSI_WARP;
#pragma unroll
  for (int t = 0; t < N; t++)
#pragma unroll
    for (int u = 0; u < N; u++)
#pragma unroll
      for (int e = 0; e < 2; e++) kept[((t * N + u) * 2 + e) * BSI_WARP] = a.v[t][u][e];
}

/* Completes the decomposition of Gauss–Huard. A row has changed up to the step in which it was the
 * pivot, and has the values that it had `before` from there on. */
template <int N>
static __device__ __forceinline__ void bsi_complete_gauss_huard(const bsi_panel_row &own,
                                                                const double *before,
                                                                bsi_spread<N> *a) {
  before += threadIdx.x % BSI_WARP;
#pragma unroll
  for (int t = 0; t < N; t++) {
    const int step = __shfl_sync(BSI_FULL_WARP, own.step, 8 * t + bsi_patch_row());
    const double scale = __shfl_sync(BSI_FULL_WARP, own.scale, 8 * t + bsi_patch_row());
#pragma unroll
    for (int u = 0; u < N; u++)
#pragma unroll
      for (int e = 0; e < 2; e++) {
        const int c = 8 * u + bsi_patch_column() + e;
        const double unchanged = before[((t * N + u) * 2 + e) * BSI_WARP];
        a->v[t][u][e] = c < step ? -a->v[t][u][e] : c == step ? scale : unchanged;
      }
  }
}

/* Puts the result of a block of m rows into the tile, its columns `ld` values apart. transposed:
 * the lower triangle of Gauss–Huard is stored as GH-T has it. */
template <int N, bisai_form FORM>
static __device__ __forceinline__ void bsi_spread_to_tile(const bsi_spread<N> &a,
                                                          const bsi_panel_row &own,
                                                          const int *order, int m, bool transposed,
                                                          int ld, double *tile) {
  int step[N], pivot[2 * N];
#pragma unroll
  for (int t = 0; t < N; t++)
    step[t] = __shfl_sync(BSI_FULL_WARP, own.step, 8 * t + bsi_patch_row());
#pragma unroll
  for (int c = 0; c < 2 * N; c++) pivot[c] = order[c / 2 * 8 + bsi_patch_column() + c % 2];
  __syncwarp(); /* the order may be in the tile */
#pragma unroll
  for (int c = 0; c < 2 * N; c++) {
    const int k = c / 2 * 8 + bsi_patch_column() + c % 2;
#pragma unroll
    for (int t = 0; t < N; t++) {
      int row = step[t], column = FORM == BISAI_FORM_INVERSE ? pivot[c] : k;
      if (FORM == BISAI_FORM_GAUSS_HUARD) {
        if (k >= m || row >= m) continue;
        const bool mirrored = transposed && k > row;
        column = mirrored ? m - 1 - k : row, row = mirrored ? m - 1 - step[t] : k;
      }
      *(tile + row + column * ld) = a.v[t][c / 2][c % 2];
    }
  }
  __syncwarp();
}

#endif
