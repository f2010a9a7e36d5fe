/* SPDX-License-Identifier: BSD-3-Clause */
/* Inverses of natural blocks of 1 … 8 rows on a device. A thread has a block for itself and
 * broadcasts nothing. The blocks of a warp pass through shared memory, spread over its banks. Some
 * warps wait for their blocks while others invert. In all templates M is the number of rows of a
 * block. */
#include "bjacobi/factorize/kernel_cuda.cuh"
#include "core/block/block_sizes.h"
#include "gpu/pipeline.cuh"
#include "gpu/ptx.cuh"

namespace {

enum { WARPS = BSI_VALUES_WARPS, THREADS = BSI_VALUES_THREADS };

struct plan {
  /* rows of a block */
  int rows;
  /* chunks that a lane copies without a branch. The loop over them has few turns of little code: a
   * small batch waits for its code. */
  int copies;
  /* warps that a multiprocessor is to hold: fewer for larger blocks, which need more registers */
  int warps;
};

/* docs/tuning.md, "Block-Jacobi", has the times. */
constexpr plan PLANS[] = {
    {1, 1, 32}, {2, 2, 32}, {3, 9, 32}, {4, 8, 32}, {5, 8, 24}, {6, 6, 16}, {7, 7, 12}, {8, 4, 12},
};

/* The places of a warp's blocks of M rows. */
template <int M> struct shape {
  static_assert(PLANS[M - 1].rows == M, "one plan for each size");
  static constexpr int values = M * M;
  static constexpr int per_group = BSI_WARP / M;
  /* groups and blocks of a warp */
  static constexpr int groups = BSI_WARP / per_group;
  static constexpr int blocks = groups * per_group;
  /* Blocks of even size are read in chunks of 16 bytes. Odd distances between blocks would cut
   * sectors in two. Instead the two chunks of a sector, or the eight of a line if blocks fill
   * lines, are permuted by the number of the block: see swizzle(). */
  static constexpr int chunk = M % 2 == 0 ? 2 : 1, chunks = values / chunk;
  static constexpr int at_once = PLANS[M - 1].copies;
  static constexpr int copies =
      ((blocks * chunks + BSI_WARP - 1) / BSI_WARP + at_once - 1) / at_once * at_once;
  /* If columns are whole sectors, two lanes write them. Other results pass through the tile. */
  static constexpr bool by_pairs = M % 4 == 0;
  /* distance from a result to the next in the tile */
  static constexpr int lead = values | 1;
  static constexpr int tile = BSI_WARP * (by_pairs ? values : lead);
};

/* Returns the row at or below k with the largest magnitude in column k. NaN is the largest. Two
 * magnitudes that agree in their exponent and the first 17 bits of their fraction count as
 * equal. */
template <int M> __device__ __forceinline__ int pivot_row(const double (&a)[M * M], int k) {
  unsigned largest = 0u;
#pragma unroll
  for (int r = k; r < M; r++) {
    const unsigned high = static_cast<unsigned>(__double2hiint(a[k * M + r])) & 0x7ffffff8u;
    largest = max(largest, high | static_cast<unsigned>(7 - r));
  }
  return 7 - static_cast<int>(largest & 7u);
}

/* a ← a⁻¹ with its columns permuted: column (*order >> 4·c & 15) of the inverse is in column c.
 * Returns false if a is singular. A singular a may also show by values that are not finite. */
template <int M> __device__ __forceinline__ bool invert(double (&a)[M * M], unsigned *order) {
  unsigned rows = 0x76543210u;
  bool regular = true;
#pragma unroll
  for (int k = 0; k < M; k++) {
    const int pivot = pivot_row<M>(a, k);
#pragma unroll
    for (int r = k + 1; r < M; r++) {
      const bool swap = pivot == r;
#pragma unroll
      for (int c = 0; c < M; c++) {
        const double top = a[c * M + k], other = a[c * M + r];
        a[c * M + k] = swap ? other : top;
        a[c * M + r] = swap ? top : other;
      }
    }
    const unsigned apart = (rows >> 4 * k ^ rows >> 4 * pivot) & 15u;
    rows ^= apart << 4 * k ^ apart << 4 * pivot;
    const double inverse = bsi_reciprocal(a[k * M + k]);
    regular = regular && inverse != 0.0;
    a[k * M + k] = 1.0;
#pragma unroll
    for (int c = 0; c < M; c++) a[c * M + k] *= inverse;
#pragma unroll
    for (int r = 0; r < M; r++) {
      if (r == k) continue;
      const double factor = a[k * M + r];
      a[k * M + r] = 0.0;
#pragma unroll
      for (int c = 0; c < M; c++) a[c * M + r] = fma(-factor, a[c * M + k], a[c * M + r]);
    }
  }
  *order = rows;
  return regular;
}

/* Returns ‖a‖₁; NaN if a value is NaN. */
template <int M> __device__ __forceinline__ double norm1(const double (&a)[M * M]) {
  double norm = 0.0;
#pragma unroll
  for (int c = 0; c < M; c++) {
    double sum = 0.0;
#pragma unroll
    for (int r = 0; r < M; r++) sum += fabs(a[c * M + r]);
    norm = bsi_larger(norm, sum);
  }
  return norm;
}

/* Returns the number by which the places of a block's chunks in the tile are permuted (exclusive
 * or). */
template <int M> __device__ __forceinline__ unsigned swizzle(unsigned block) {
  using s = shape<M>;
  return s::chunk == 1 ? 0u : s::chunks % 8 == 0 ? block % 8 : block / 4 % 2;
}

/* Begins to copy a warp's blocks into the tile. Lanes copy consecutive chunks. `position` is that
 * of the lane's own block, −1 if it has none. */
template <int M>
__device__ __forceinline__ void load(const bsi_values_job &p, int32_t position, double *tile,
                                     unsigned lane) {
  using s = shape<M>;
  unsigned block = lane / s::chunks, chunk = lane % s::chunks;
  /* This keeps the compiler from computing the places before the caller's loop and keeping them in
   * local memory. */
  bsi_forget(block, chunk);
#pragma unroll(s::at_once)
  for (int i = 0; i < s::copies; i++) {
    const int32_t from = __shfl_sync(BSI_FULL_WARP, position, block);
    if (from >= 0)
      bsi_copy_ahead(tile + (i * BSI_WARP + (lane ^ swizzle<M>(block))) * s::chunk,
                     p.matrix.values + chunk * s::chunk + static_cast<int64_t>(from) * s::values,
                     sizeof(double) * s::chunk);
    block += BSI_WARP / s::chunks, chunk += BSI_WARP % s::chunks;
    if (BSI_WARP % s::chunks != 0 && chunk >= s::chunks) block++, chunk -= s::chunks;
  }
  bsi_commit_copies();
}

/* a ← the lane's block from the tile; zeros if the lane has none. */
template <int M>
__device__ __forceinline__ void take_block(bool there, const double *tile, int lane,
                                           double (&a)[M * M]) {
  using s = shape<M>;
  /* as in load() */
  bsi_forget(lane);
#pragma unroll
  for (int k = 0; k < s::values; k++) a[k] = 0.0;
  if (!there) return;
#pragma unroll
  for (int k = 0; k < s::chunks; k++) {
    const double *const from = tile + lane * s::values + (k ^ swizzle<M>(lane)) * s::chunk;
    if constexpr (s::chunk == 2) {
      const double2 two = *reinterpret_cast<const double2 *>(from);
      a[2 * k] = two.x, a[2 * k + 1] = two.y;
    } else {
      a[k] = *from;
    }
  }
}

/* Stores a row of a group by each lane, column after column. */
template <int M>
__device__ __forceinline__ void store_group(int height, const double *from, double *to, int lane) {
  if (lane >= height) return;
#pragma unroll
  for (int c = 0; c < M; c++) to[c * height] = from[c * M];
}

/* Stores the warp's blocks through the tile, group after group. The last group of all may have
 * fewer blocks. */
template <int M>
__device__ __forceinline__ void store(const bsi_values_job &p, int32_t first, int blocks,
                                      const double (&a)[M * M], unsigned order, double *tile,
                                      int lane) {
  using s = shape<M>;
#pragma unroll
  for (int c = 0; c < M; c++)
#pragma unroll
    for (int r = 0; r < M; r++)
      tile[lane * s::lead + static_cast<int>(order >> 4 * c & 15u) * M + r] = a[c * M + r];
  __syncwarp();
  const double *from = tile + lane / M * s::lead + lane % M;
  double *to =
      reinterpret_cast<double *>(p.result.data) + static_cast<int64_t>(first) * s::values + lane;
  for (; blocks >= s::per_group; blocks -= s::per_group) {
    store_group<M>(s::per_group * M, from, to, lane);
    from += s::per_group * s::lead, to += s::per_group * s::values;
  }
  store_group<M>(blocks * M, from, to, lane);
  __syncwarp();
}

/* Stores the warp's blocks directly. Two neighbouring lanes write 32 bytes of the one's block, then
 * of the other's. */
template <int M>
__device__ __forceinline__ void store_by_pairs(const bsi_values_job &p, int32_t first, int blocks,
                                               const double (&a)[M * M], unsigned order, int lane) {
  using s = shape<M>;
  const bool odd = lane % 2 == 1;
  const int even = lane & ~1, group = even / s::per_group * s::per_group;
  const int64_t height = min(s::per_group, blocks - group) * M;
  const unsigned other = __shfl_xor_sync(BSI_FULL_WARP, order, 1);
  const unsigned of_even = odd ? other : order, of_odd = odd ? order : other;
  double *to = reinterpret_cast<double *>(p.result.data) +
               static_cast<int64_t>(first + group) * s::values + (even - group) * M + (odd ? 2 : 0);
#pragma unroll
  for (int c = 0; c < M; c++) {
    double *const to_even = to + static_cast<int>(of_even >> 4 * c & 15u) * height;
    double *const to_odd = to + static_cast<int>(of_odd >> 4 * c & 15u) * height + M;
#pragma unroll
    for (int r = 0; r < M; r += 4) {
      const double *const v = a + c * M + r;
      const double x = __shfl_xor_sync(BSI_FULL_WARP, odd ? v[0] : v[2], 1),
                   y = __shfl_xor_sync(BSI_FULL_WARP, odd ? v[1] : v[3], 1);
      if (even < blocks)
        *reinterpret_cast<double2 *>(to_even + r) =
            odd ? make_double2(x, y) : make_double2(v[0], v[1]);
      if (even + 1 < blocks)
        *reinterpret_cast<double2 *>(to_odd + r) =
            odd ? make_double2(v[2], v[3]) : make_double2(x, y);
    }
  }
}

template <int M>
__global__ void __launch_bounds__(THREADS, PLANS[M - 1].warps / WARPS)
    invert_small(const __grid_constant__ bsi_values_job p) {
  using s = shape<M>;
  extern __shared__ __align__(128) double tiles[];
  __shared__ bsi_largest_condition largest[THREADS];
  const int lane = threadIdx.x % BSI_WARP, warp = threadIdx.x / BSI_WARP;
  double *const tile = tiles + warp * s::tile;
  bsi_clear_next_record(p);
  largest[threadIdx.x] = {};
  const int64_t step = static_cast<int64_t>(gridDim.x) * WARPS * s::blocks;
  const auto blocks_from = [&](int64_t from) {
    return static_cast<int>(max(min(static_cast<int64_t>(s::blocks), p.partition.blocks - from),
                                static_cast<int64_t>(0)));
  };
  const auto position_from = [&](int64_t from) {
    return lane < blocks_from(from) ? __ldg(p.matrix.position + from + lane) : -1;
  };
  int64_t first = (static_cast<int64_t>(blockIdx.x) * WARPS + warp) * s::blocks;
  int32_t here = position_from(first), next = position_from(first + step);
  for (; first < p.partition.blocks; first += step) {
    const int blocks = blocks_from(first);
    const bool mine = lane < blocks;
    const int32_t block = static_cast<int32_t>(first) + lane;
    load<M>(p, here, tile, lane);
    bsi_wait_for_copies();
    __syncwarp();
    double a[s::values];
    take_block<M>(here >= 0, tile, lane, a);
    __syncwarp();
    const double norm = norm1<M>(a);
    unsigned order;
    const bool regular = invert<M>(a, &order);
    const double inverse_norm = norm1<M>(a), condition = norm * inverse_norm;
    const bool singular = mine && !(regular && isfinite(inverse_norm));
    const int in_group = lane % s::per_group;
    const unsigned group = (s::per_group == 32 ? BSI_FULL_WARP : (1u << s::per_group) - 1u)
                           << (lane - in_group);
    const bool has_singular = (__ballot_sync(BSI_FULL_WARP, singular) & group) != 0;
    if (p.repair_list && has_singular) {
      if (mine && in_group == 0)
        p.repair_list[atomicAdd(&p.record->repair_groups, 1)] = block / s::per_group;
    } else if (mine) {
      if (singular)
        atomicMax(&p.record->first_singular, ~static_cast<unsigned long long>(block));
      else
        bsi_record_block<BISAI_FORM_INVERSE>(p, M, block, norm, INFINITY, condition, false);
      bsi_raise_condition(&largest[threadIdx.x], condition, block);
    }
    if constexpr (s::by_pairs)
      store_by_pairs<M>(p, static_cast<int32_t>(first), blocks, a, order, lane);
    else
      store<M>(p, static_cast<int32_t>(first), blocks, a, order, tile, lane);
    here = next, next = position_from(first + 2 * step);
  }
  bsi_record_condition(p, largest[threadIdx.x]);
}

template <int M> bool enqueue(bisai_context *context, const bsi_values_job &p) {
  using s = shape<M>;
  const int64_t units = (static_cast<int64_t>(p.partition.blocks) + s::blocks - 1) / s::blocks;
  return bsi_launch_resident(context, invert_small<M>, PLANS[M - 1].warps, sizeof(double) * s::tile,
                             units, p);
}

} // namespace

bool bsi_enqueue_small_inverses(bisai_context *context, const bsi_values_job &p) {
  switch (p.partition.uniform) {
#define CASE(M)                                                                                    \
  case M: return enqueue<M>(context, p);
    BSI_BLOCK_SIZES(CASE)
#undef CASE
  }
  return false;
}
