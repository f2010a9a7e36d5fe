/* SPDX-License-Identifier: BSD-3-Clause */
/* Applications of inverses of one size. Shuffles of several vectors would take longer than the
 * blocks, so that these vectors lie in shared memory. For apply_cuda.cu only. */
#ifndef BSI_APPLY_INVERSES_CUDA_CUH
#define BSI_APPLY_INVERSES_CUDA_CUH

#include "bjacobi/apply/apply_place_cuda.cuh"

namespace {

constexpr int UNIFORM_THREADS = 128;

/* Vectors that one pass over the blocks takes. */
constexpr int PASS = 4, LONG_PASS = 8;

/* Groups that a warp takes at once. */
struct groups_of_warp {
  /* the most rows of a block */
  int rows;
  /* in a pass of up to PASS vectors, and in a longer one, whose vectors need more registers */
  int pass, long_pass;
};

/* Small blocks need several groups under way to load as fast as a copy (docs/tuning.md,
 * "Block-Jacobi"). */
constexpr groups_of_warp UNIFORM_GROUPS[] = {
    {4, 4, 2},
    {8, 2, 1},
    {32, 1, 1},
};

constexpr int groups_of(int m, int vectors) {
  int k = 0;
  while (UNIFORM_GROUPS[k].rows < m) k++;
  return vectors > PASS ? UNIFORM_GROUPS[k].long_pass : UNIFORM_GROUPS[k].pass;
}

/* The groups that a warp takes at once, M rows a block, VECTORS vectors. */
template <int M, int VECTORS> constexpr int uniform_groups = groups_of(M, VECTORS);

/* Loads the lane's values of COUNT columns from index `at` on; zeros beyond `columns`. */
template <bisai_value_type FORMAT, int COUNT>
__device__ __forceinline__ void load_columns(const char *values, int at, int rows, int columns,
                                             bool mine, double (&e)[COUNT]) {
#pragma unroll
  for (int c = 0; c < COUNT; c++)
    e[c] = mine && c < columns ? bsi_value_of<FORMAT>(values, at + c * rows) : 0.0;
}

/* Loads the lane's values of the columns from `from` on, in the format of its group.
 * FORMAT: the format of all groups; ADAPTIVE: `format` is that of the lane's group.
 * M: the rows of every block. */
template <bisai_value_type FORMAT, int M, int COUNT>
__device__ __forceinline__ void load_group(const bsi_apply_job &p, int64_t group, int format,
                                           int lane, int from, bool mine, double (&e)[COUNT]) {
  constexpr int height = BSI_WARP / M * M;
  const int64_t left = p.partition.rows - group * height;
  const int rows = left < height ? static_cast<int>(left) : height;
  const char *values = p.data + group * height * M * p.slot_bytes;
  const int at = lane + from * rows;
  if constexpr (FORMAT != BISAI_ADAPTIVE) {
    load_columns<FORMAT>(values, at, rows, M - from, mine, e);
  } else {
    switch (format) {
#define CASE(F, word, bytes, mantissa)                                                             \
  case F: load_columns<F>(values, at, rows, M - from, mine, e); break;
      BISAI_BLOCK_TYPE_LIST(CASE)
#undef CASE
    /* There is no other, but large blocks and several vectors are slower without a default. */
    default: load_columns<BISAI_FP64>(values, at, rows, M - from, mine, e);
    }
  }
}

/* z = D⁻¹ v with inverses of blocks of one size. The compiler knows all places, and a warp has the
 * values of several groups under way.
 * FORMAT: the format of all groups; ADAPTIVE: each has its own.
 * M: the rows of every block.
 * VECTORS: the vectors v. */
template <bisai_value_type FORMAT, int M, int VECTORS>
__global__ void __launch_bounds__(UNIFORM_THREADS)
    apply_uniform(const __grid_constant__ bsi_apply_job p) {
  constexpr int per_group = BSI_WARP / M, height = per_group * M,
                groups = uniform_groups<M, VECTORS>;
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
    mine[g] = lane < height && row[g] < p.partition.rows;
    if (FORMAT == BISAI_ADAPTIVE)
      format[g] = first + g < p.partition.groups ? __ldg(p.format + first + g) : 0;
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
    for (int g = 0; g < groups; g++)
      load_group<FORMAT, M>(p, first + g, format[g], lane, from, mine[g], e[g]);
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

} // namespace

#endif
