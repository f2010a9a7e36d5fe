/* SPDX-License-Identifier: BSD-3-Clause */
/* z_b = D_b⁻¹ v_b on a device: a warp a group, whose scalar rows are its lanes, so that every
 * column of its blocks is read at once. A lane's part of the vectors goes to the others by
 * shuffles; inverses of one size have several vectors in shared memory instead, as shuffles would
 * take longer than the blocks. Each value is read once for up to `VECTORS` vectors. */
#include "bjacobi/bjacobi.h"
#include "bjacobi/bjacobi_ops.h"
#include "core/values.h"
#include "gpu/launch.cuh"

namespace {

/* Few warps a thread block, as blocks of different sizes take different times; few columns ahead,
 * as more warps in flight pay more. */
enum {
  THREADS = 64,
  WARPS = THREADS / BSI_WARP,
  MANY = 4,
  MOST = 8,
  AHEAD = 4,
  UNIFORM_THREADS = 128
};

struct job {
  int32_t rows, blocks, uniform, per_group, groups;
  const int32_t *start;
  const int64_t *first_value;
  const char *data;
  int slot_bytes;
  bisai_value_type storage;
  bisai_form form;
  const uint8_t *format, *pivots;
  const double *x;
  int64_t ldx;
  double *y;
  int64_t ldy;
};

/* Groups that a warp takes at once, where blocks have m rows; `vectors` of them at once leave less
 * room. */
__host__ __device__ constexpr int groups_of(int m, int vectors) {
  return m <= 4 ? (vectors > MANY ? 2 : 4) : m <= 8 && vectors <= MANY ? 2 : 1;
}

/* One lane's row of its group. */
struct place {
  /* scalar row of the matrix */
  int32_t row;
  /* of the group, of the block; m = 0: no row */
  int32_t height, m;
  /* of the group */
  int width;
  /* the block's first lane, and the row in it */
  int base, in_block;
};

__device__ __forceinline__ int32_t start_of(const job &p, int64_t block) {
  if (block >= p.blocks) return p.rows;
  return p.uniform ? static_cast<int32_t>(block) * p.uniform : __ldg(p.start + block);
}

/* M > 0: all blocks have M rows, of which everything but the height of the last group is known. */
template <int M> __device__ __forceinline__ place place_of(const job &p, int32_t group, int lane) {
  if constexpr (M > 0) {
    constexpr int rows = BSI_WARP / M * M;
    const int64_t top = static_cast<int64_t>(group) * rows;
    const int height =
        BSI_WARP / M == 1 || p.rows - top > rows ? rows : static_cast<int>(p.rows - top);
    return {
        static_cast<int32_t>(top + lane), height, lane < height ? M : 0, M, lane / M * M, lane % M};
  }
  const int64_t begin = static_cast<int64_t>(group) * p.per_group;
  const int32_t top = start_of(p, begin);
  place l;
  l.row = top + lane;
  l.height = start_of(p, begin + p.per_group) - top;
  l.base = 0, l.in_block = lane, l.m = l.height, l.width = l.height;
  if (p.per_group > 1) {
    int32_t from = top;
    l.width = 0;
    if (p.uniform) {
      const int sub = lane / p.uniform;
      from = top + sub * p.uniform;
      l.m = min(p.uniform, l.height - sub * p.uniform);
      l.width = min(p.uniform, l.height);
    } else {
      for (int k = 0; k < p.per_group; k++) {
        const int32_t begins = start_of(p, begin + k), ends = start_of(p, begin + k + 1);
        l.width = max(l.width, ends - begins);
        if (l.row >= begins && l.row < ends) from = begins, l.m = ends - begins;
      }
    }
    l.base = from - top;
    l.in_block = l.row - from;
  }
  if (lane >= l.height) l.m = 0;
  return l;
}

/* A load that goes past the first cache: nothing is read twice. */
template <bisai_value_type FORMAT>
__device__ __forceinline__ double value_of(const char *data, int at) {
  if constexpr (FORMAT == BISAI_FP64) return __ldcs(reinterpret_cast<const double *>(data) + at);
  if constexpr (FORMAT == BISAI_FP32)
    return static_cast<double>(__ldcs(reinterpret_cast<const float *>(data) + at));
  if constexpr (FORMAT == BISAI_FP11_20)
    return __hiloint2double(static_cast<int>(__ldcs(reinterpret_cast<const unsigned *>(data) + at)),
                            0);
  const uint16_t bits = __ldcs(reinterpret_cast<const unsigned short *>(data) + at);
  if constexpr (FORMAT == BISAI_FP16) return bsi_fp16_decode(bits);
  if constexpr (FORMAT == BISAI_BF16) return bsi_bf16_decode(bits);
  return __hiloint2double(static_cast<int>(bits) << 16, 0);
}

/* A lane's values of the next columns from `c` on, of those that it needs: from … to − 1. */
template <bisai_value_type FORMAT, int COUNT>
__device__ __forceinline__ void load_ahead(const place &l, const char *values, int lane, int c,
                                           int from, int to, double (&e)[COUNT]) {
#pragma unroll
  for (int k = 0; k < COUNT; k++)
    e[k] = c + k >= from && c + k < to ? value_of<FORMAT>(values, (c + k) * l.height + lane) : 0.0;
}

template <bisai_value_type FORMAT, int VECTORS>
__device__ __forceinline__ void multiply(const place &l, const char *values, int lane,
                                         const double (&x)[VECTORS], double (&sum)[VECTORS]) {
  for (int c = 0; c < l.width; c += AHEAD) {
    double e[AHEAD];
    load_ahead<FORMAT>(l, values, lane, c, 0, l.m, e);
#pragma unroll
    for (int k = 0; k < AHEAD; k++) {
      if (c + k >= l.width) break;
#pragma unroll
      for (int v = 0; v < VECTORS; v++) {
        const double other = __shfl_sync(BSI_FULL_WARP, x[v], (l.base + c + k) % BSI_WARP);
        sum[v] = c + k < l.m ? fma(e[k], other, sum[v]) : sum[v];
      }
    }
  }
}

/* L∖U, y in the order of the pivots. A known size is read at once, otherwise L and U one after the
 * other. */
template <bisai_value_type FORMAT, int M, int VECTORS>
__device__ __forceinline__ void solve_lu(const place &l, const char *values, int lane,
                                         double (&y)[VECTORS]) {
  constexpr int ahead = M > 0 ? M : static_cast<int>(AHEAD);
  const int width = l.width;
  double e[ahead];
  for (int c = 0; c < width; c += ahead) {
    load_ahead<FORMAT>(l, values, lane, c, 0, M > 0 ? l.m : min(l.m, l.in_block), e);
#pragma unroll
    for (int k = 0; k < ahead; k++) {
      if (c + k >= width) break;
#pragma unroll
      for (int v = 0; v < VECTORS; v++) {
        const double top = __shfl_sync(BSI_FULL_WARP, y[v], (l.base + c + k) % BSI_WARP);
        if (c + k < l.m && l.in_block > c + k) y[v] = fma(-e[k], top, y[v]);
      }
    }
  }
  for (int c = (width - 1) / ahead * ahead; c >= 0; c -= ahead) {
    if (M == 0) load_ahead<FORMAT>(l, values, lane, c, l.in_block, l.m, e);
#pragma unroll
    for (int k = ahead - 1; k >= 0; k--) {
      if (c + k >= width) continue;
#pragma unroll
      for (int v = 0; v < VECTORS; v++) {
        if (c + k < l.m && l.in_block == c + k) y[v] *= e[k];
        const double bottom = __shfl_sync(BSI_FULL_WARP, y[v], (l.base + c + k) % BSI_WARP);
        if (c + k < l.m && l.in_block < c + k) y[v] = fma(-e[k], bottom, y[v]);
      }
    }
  }
}

/* In lane k of a block: the sum over its lanes up to k. */
__device__ __forceinline__ double sum_up(const place &l, int k, double value) {
#pragma unroll
  for (int step = 1; step < BSI_WARP; step *= 2) {
    if (step > k) break;
    const double other = __shfl_up_sync(BSI_FULL_WARP, value, step);
    if (l.in_block >= step) value += other;
  }
  return value;
}

/* Gauss–Huard: row k left of the diagonal is spread over the lanes, which hold y_j, j < k, one
 * each. A known size is read at once, and its rows out of shared memory. */
template <bisai_value_type FORMAT, int M, int VECTORS>
__device__ __forceinline__ void solve_gauss_huard(const place &l, bool transposed,
                                                  const char *values, int lane,
                                                  double (&y)[VECTORS]) {
  constexpr int ahead = M > 0 ? M : static_cast<int>(AHEAD);
  __shared__ double tiles[M > 0 ? WARPS : 1][ahead][BSI_WARP + 1];
  double(*const tile)[BSI_WARP + 1] = tiles[M > 0 ? threadIdx.x / BSI_WARP : 0];
  const int mirrored = l.base + l.m - 1 - l.in_block;
  for (int c = 0; c < l.width; c += ahead) {
    double left[ahead], above[ahead];
    load_ahead<FORMAT>(l, values, lane, c, M > 0 ? 0 : l.in_block, l.m, above);
    if constexpr (M > 0) {
#pragma unroll
      for (int k = 0; k < M; k++) tile[k][lane] = above[k];
      __syncwarp();
    }
#pragma unroll
    for (int k = 0; k < ahead; k++) {
      left[k] = 0.0;
      if (c + k >= l.m || l.in_block >= c + k) continue;
      const int column = transposed ? l.m - 1 - c - k : l.in_block,
                row = transposed ? mirrored : l.base + c + k;
      left[k] = M > 0 ? tile[column][row] : value_of<FORMAT>(values, column * l.height + row);
    }
#pragma unroll
    for (int k = 0; k < ahead; k++) {
      if (c + k >= l.width) break;
      const bool step = c + k < l.m;
#pragma unroll
      for (int v = 0; v < VECTORS; v++) {
        const double sum = sum_up(l, c + k, step && l.in_block < c + k ? left[k] * y[v] : 0.0);
        if (step && l.in_block == c + k) y[v] = (y[v] - sum) * above[k];
        const double done = __shfl_sync(BSI_FULL_WARP, y[v], (l.base + c + k) % BSI_WARP);
        if (step && l.in_block < c + k) y[v] = fma(-above[k], done, y[v]);
      }
    }
  }
}

template <bisai_value_type FORMAT, bisai_form FORM, int M, int VECTORS>
__device__ __forceinline__ void apply_group(const job &p, const place &l, const char *values,
                                            int lane, int pivot, double (&x)[VECTORS],
                                            double (&y)[VECTORS]) {
#pragma unroll
  for (int v = 0; v < VECTORS; v++) y[v] = 0.0;
  if constexpr (FORM == BISAI_FORM_INVERSE) {
    multiply<FORMAT>(l, values, lane, x, y);
  } else if constexpr (FORM == BISAI_FORM_LU) {
#pragma unroll
    for (int v = 0; v < VECTORS; v++)
      y[v] = __shfl_sync(BSI_FULL_WARP, x[v], (l.base + pivot) % BSI_WARP);
    solve_lu<FORMAT, M>(l, values, lane, y);
  } else {
#pragma unroll
    for (int v = 0; v < VECTORS; v++) y[v] = x[v];
    solve_gauss_huard<FORMAT, M>(l, p.form == BISAI_FORM_GAUSS_HUARD_TRANSPOSED, values, lane, y);
  }
}

/* FORMAT: ADAPTIVE is any. */
template <bisai_form FORM, bisai_value_type FORMAT, int M, int VECTORS>
__global__ void __launch_bounds__(THREADS) apply(const __grid_constant__ job p) {
  const int lane = threadIdx.x % BSI_WARP;
  const int32_t group = static_cast<int32_t>(blockIdx.x * WARPS + threadIdx.x / BSI_WARP);
  if (group >= p.groups) return;
  const place l = place_of<M>(p, group, lane);
  const int64_t first = M > 0 ? static_cast<int64_t>(group) * (BSI_WARP / (M > 0 ? M : 1) * M * M)
                        : p.first_value
                            ? __ldg(p.first_value + group)
                            : static_cast<int64_t>(group) * p.per_group * p.uniform * p.uniform;
  const char *values = p.data + first * p.slot_bytes;
  const int pivot = FORM != BISAI_FORM_INVERSE && l.m > 0 ? p.pivots[l.row] : 0;
  double x[VECTORS], y[VECTORS];
  bsi_wait_for_predecessor();
#pragma unroll
  for (int v = 0; v < VECTORS; v++) x[v] = l.m > 0 ? p.x[l.row + v * p.ldx] : 0.0;
  if constexpr (FORMAT != BISAI_ADAPTIVE) {
    apply_group<FORMAT, FORM, M>(p, l, values, lane, pivot, x, y);
  } else {
    switch (p.format ? __ldg(p.format + group) : static_cast<int>(p.storage)) {
#define CASE(F)                                                                                    \
  case F: apply_group<F, FORM, M>(p, l, values, lane, pivot, x, y); break;
      CASE(BISAI_FP64)
      CASE(BISAI_FP32) CASE(BISAI_FP16) CASE(BISAI_BF16) CASE(BISAI_FP11_4) CASE(BISAI_FP11_20)
#undef CASE
    }
  }
  const int row = FORM == BISAI_FORM_INVERSE || FORM == BISAI_FORM_LU ? l.in_block : pivot;
#pragma unroll
  for (int v = 0; v < VECTORS; v++)
    if (l.m > 0) p.y[l.row - l.in_block + row + v * p.ldy] = y[v];
}

/* A column's values of a lane in the format of its group. */
template <bisai_value_type FORMAT, int COUNT>
__device__ __forceinline__ void load_columns(const char *values, int at, int rows, int columns,
                                             bool mine, double (&e)[COUNT]) {
#pragma unroll
  for (int c = 0; c < COUNT; c++)
    e[c] = mine && c < columns ? value_of<FORMAT>(values, at + c * rows) : 0.0;
}

/* Inverses of blocks of M rows, all of them: everything about their places is known, and several
 * groups' values are on their way. */
template <bisai_value_type FORMAT, int M, int VECTORS>
__global__ void __launch_bounds__(UNIFORM_THREADS) apply_uniform(const __grid_constant__ job p) {
  constexpr int per_group = BSI_WARP / M, height = per_group * M, groups = groups_of(M, VECTORS);
  constexpr int ahead = M <= 16 ? M : (M + 1) / 2;
  constexpr int warps = UNIFORM_THREADS / BSI_WARP;
  __shared__ double2
      pairs[VECTORS > 1 ? warps : 1][groups][VECTORS > 1 ? VECTORS / 2 : 1][BSI_WARP];
  const int lane = threadIdx.x % BSI_WARP, warp = threadIdx.x / BSI_WARP, base = lane / M * M;
  const int64_t first = (static_cast<int64_t>(blockIdx.x) * warps + warp) * groups;
  double x[groups][VECTORS], sum[groups][VECTORS], e[groups][ahead];
  int64_t row[groups];
  bool mine[groups];
  int format[groups];
  bsi_wait_for_predecessor();
#pragma unroll
  for (int g = 0; g < groups; g++) {
    row[g] = (first + g) * height + lane;
    mine[g] = lane < height && row[g] < p.rows;
    if (FORMAT == BISAI_ADAPTIVE)
      format[g] = first + g < p.groups ? __ldg(p.format + first + g) : 0;
#pragma unroll
    for (int v = 0; v < VECTORS; v++) {
      x[g][v] = mine[g] ? p.x[row[g] + v * p.ldx] : 0.0;
      sum[g][v] = 0.0;
    }
  }
  if constexpr (VECTORS > 1) {
#pragma unroll
    for (int g = 0; g < groups; g++)
#pragma unroll
      for (int v = 0; v < VECTORS; v += 2)
        pairs[warp][g][v / 2][lane] = make_double2(x[g][v], x[g][v + 1]);
    __syncwarp();
  }
#pragma unroll
  for (int from = 0; from < M; from += ahead) {
#pragma unroll
    for (int g = 0; g < groups; g++) {
      const int64_t left = p.rows - (first + g) * height; /* the last group may have fewer rows */
      const int rows = left < height ? static_cast<int>(left) : height;
      const char *values = p.data + (first + g) * height * M * p.slot_bytes;
      const int at = lane + from * rows;
      if constexpr (FORMAT != BISAI_ADAPTIVE) {
        load_columns<FORMAT>(values, at, rows, M - from, mine[g], e[g]);
      } else {
        switch (format[g]) {
#define CASE(F)                                                                                    \
  case F: load_columns<F>(values, at, rows, M - from, mine[g], e[g]); break;
          CASE(BISAI_FP32)
          CASE(BISAI_FP16)
          CASE(BISAI_BF16)
          CASE(BISAI_FP11_4)
          CASE(BISAI_FP11_20)
#undef CASE
        default: load_columns<BISAI_FP64>(values, at, rows, M - from, mine[g], e[g]);
        }
      }
    }
#pragma unroll
    for (int g = 0; g < groups; g++)
#pragma unroll
      for (int c = 0; c < ahead && from + c < M; c++) {
        const int other = (base + from + c) % BSI_WARP;
        if constexpr (VECTORS == 1) {
          sum[g][0] = fma(e[g][c], __shfl_sync(BSI_FULL_WARP, x[g][0], other), sum[g][0]);
        } else {
#pragma unroll
          for (int v = 0; v < VECTORS; v += 2) {
            const double2 both = pairs[warp][g][v / 2][other];
            sum[g][v] = fma(e[g][c], both.x, sum[g][v]);
            sum[g][v + 1] = fma(e[g][c], both.y, sum[g][v + 1]);
          }
        }
      }
  }
#pragma unroll
  for (int g = 0; g < groups; g++)
#pragma unroll
    for (int v = 0; v < VECTORS; v++)
      if (mine[g]) p.y[row[g] + v * p.ldy] = sum[g][v];
}

template <bisai_value_type FORMAT, int M>
void enqueue_uniform(const bisai_context *context, job p, int32_t count) {
  const unsigned grid = bsi_grid(p.groups, UNIFORM_THREADS / BSI_WARP * groups_of(M, 1));
  const unsigned most_grid = bsi_grid(p.groups, UNIFORM_THREADS / BSI_WARP * groups_of(M, MOST));
  for (; count >= MOST; count -= MOST, p.x += MOST * p.ldx, p.y += MOST * p.ldy)
    bsi_launch_early(context, apply_uniform<FORMAT, M, MOST>, most_grid, UNIFORM_THREADS, 0, p);
  for (; count >= MANY; count -= MANY, p.x += MANY * p.ldx, p.y += MANY * p.ldy)
    bsi_launch_early(context, apply_uniform<FORMAT, M, MANY>, grid, UNIFORM_THREADS, 0, p);
  for (; count > 0; count--, p.x += p.ldx, p.y += p.ldy)
    bsi_launch_early(context, apply_uniform<FORMAT, M, 1>, grid, UNIFORM_THREADS, 0, p);
}

template <bisai_form FORM, bisai_value_type FORMAT, int M>
void enqueue(const bisai_context *context, job p, int32_t count) {
  const unsigned grid = bsi_grid(p.groups, WARPS);
  for (; count >= MANY; count -= MANY, p.x += MANY * p.ldx, p.y += MANY * p.ldy)
    bsi_launch_early(context, apply<FORM, FORMAT, M, MANY>, grid, THREADS, 0, p);
  for (; count > 0; count--, p.x += p.ldx, p.y += p.ldy)
    bsi_launch_early(context, apply<FORM, FORMAT, M, 1>, grid, THREADS, 0, p);
}

template <bisai_form FORM, bisai_value_type FORMAT, int M>
void enqueue_size(const bisai_context *context, const job &p, int32_t count) {
  if constexpr (FORM == BISAI_FORM_INVERSE)
    enqueue_uniform<FORMAT, M>(context, p, count);
  else
    enqueue<FORM, FORMAT, M>(context, p, count);
}

/* fp64 has a kernel for many sizes, the other formats of inverses for some. */
template <bisai_form FORM, bisai_value_type FORMAT>
bool applied_format(const bisai_context *context, const job &p, int32_t count) {
  switch (p.uniform) {
#define CASE(M)                                                                                    \
  case M: enqueue_size<FORM, FORMAT, M>(context, p, count); return true;
    CASE(4) CASE(8) CASE(16) CASE(32) default : break;
  }
  if constexpr (FORMAT == BISAI_FP64 && FORM != BISAI_FORM_GAUSS_HUARD) switch (p.uniform) {
      CASE(1)
      CASE(2)
      CASE(3)
      CASE(5)
      CASE(6)
      CASE(7)
      CASE(12)
      CASE(20)
      CASE(24)
      CASE(28)
#undef CASE
    default: break;
    }
  return false;
}

template <bisai_form FORM>
bool applied_uniform(const bisai_context *context, const job &p, int32_t count) {
  if (!p.uniform || p.rows % p.uniform != 0 || p.per_group != BSI_WARP / p.uniform) return false;
  if (p.storage == BISAI_FP64) return applied_format<FORM, BISAI_FP64>(context, p, count);
  if constexpr (FORM == BISAI_FORM_INVERSE) switch (p.storage) {
#define CASE(FORMAT)                                                                               \
  case FORMAT: return applied_format<FORM, FORMAT>(context, p, count);
      CASE(BISAI_FP32)
      CASE(BISAI_FP16)
      CASE(BISAI_BF16) CASE(BISAI_FP11_4) CASE(BISAI_FP11_20) CASE(BISAI_ADAPTIVE) default : break;
#undef CASE
    }
  return false;
}

template <bisai_form FORM>
void apply_form(const bisai_context *context, const job &p, int32_t count) {
  if (applied_uniform<FORM>(context, p, count)) return;
  if (p.storage == BISAI_FP64)
    enqueue<FORM, BISAI_FP64, 0>(context, p, count);
  else
    enqueue<FORM, BISAI_ADAPTIVE, 0>(context, p, count);
}

} // namespace

static bisai_status bjacobi_apply(bisai_context *context, const bsi_bjacobi *jacobi, int32_t count,
                                  const double *x, int64_t ldx, double *y, int64_t ldy) {
  const bsi_partition *b = &jacobi->partition;
  const job p = {b->rows,
                 b->blocks,
                 b->uniform,
                 jacobi->per_group,
                 jacobi->groups,
                 b->start,
                 jacobi->first_value,
                 static_cast<const char *>(jacobi->data),
                 jacobi->slot_bytes,
                 jacobi->options.storage,
                 jacobi->options.form,
                 jacobi->format,
                 jacobi->pivots,
                 x,
                 ldx,
                 y,
                 ldy};
  if (p.groups == 0 || count == 0) return BISAI_OK;
  if (p.form == BISAI_FORM_INVERSE)
    apply_form<BISAI_FORM_INVERSE>(context, p, count);
  else if (p.form == BISAI_FORM_LU)
    apply_form<BISAI_FORM_LU>(context, p, count);
  else
    apply_form<BISAI_FORM_GAUSS_HUARD>(context, p, count);
  return bsi_launched(context, "block-Jacobi");
}

const bsi_block_solve_ops bsi_block_solve_cuda = {.apply = bjacobi_apply};
