/* Inverses of natural blocks of 1 … 8 rows on a device, a thread a block: nothing has to be told to other lanes. The blocks of a warp come
 * through shared memory, spread over its banks; the next ones are on their way while these are inverted, where that leaves room for as many
 * warps. */
#include <cuda_pipeline_primitives.h>

#include "bjacobi/numbers_cuda.cuh"

namespace {

enum { WARPS = BSI_NUMBERS_WARPS, THREADS = BSI_NUMBERS_THREADS };

/* How a warp's blocks lie. */
template <int M> struct shape {
  static constexpr int values = M * M;
  static constexpr int per_group = BSI_WARP / M;
  static constexpr int groups = BSI_WARP / per_group; /* of a warp */
  static constexpr int blocks = groups * per_group;
  /* 16 bytes move at once where a block fills lines of 128: chunks of two values that change places within a line by the number of the
   * block, as odd distances would cut sectors in two. Two lanes then write sectors of 32 bytes, and elsewhere results pass through a tile of
   * their own. */
  static constexpr bool wide = M % 4 == 0;
  static constexpr int chunk = wide ? 2 : 1, chunks = values / chunk;
  static constexpr int lead = wide ? values : values | 1; /* from a block to the next */
  static constexpr bool ahead = wide || M <= 5;           /* the next blocks are asked for before these are stored */
  static constexpr int tile = BSI_WARP * lead, tiles = ahead && !wide ? 2 : 1;
};

/* The row at or below k with the largest magnitude in column k; what agrees in 17 bits is equal, and NaN the largest. */
template <int M> __device__ __forceinline__ int pivot_row(const double (&a)[M * M], int k) {
  unsigned largest = 0u;
#pragma unroll
  for (int r = k; r < M; r++) {
    const unsigned high = static_cast<unsigned>(__double2hiint(a[k * M + r])) & 0x7ffffff8u;
    largest = max(largest, high | static_cast<unsigned>(7 - r));
  }
  return 7 - static_cast<int>(largest & 7u);
}

/* a ← a⁻¹ but for the order of its columns: column j is that of row (order >> 4 j & 15) of a. False where a is singular, or a is not finite
 * then. */
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

/* ‖a‖₁, NaN if any value is. */
template <int M> __device__ __forceinline__ double norm1(const double (&a)[M * M]) {
  double norm = 0.0;
#pragma unroll
  for (int c = 0; c < M; c++) {
    double sum = 0.0;
#pragma unroll
    for (int r = 0; r < M; r++) sum += fabs(a[c * M + r]);
    norm = sum > norm || isnan(sum) ? sum : norm;
  }
  return norm;
}

/* Where a chunk of a block is in the tile. */
template <int M> __device__ __forceinline__ int place(int block, int chunk) {
  using s = shape<M>;
  return block * s::lead + (s::wide ? chunk ^ block % 8 : chunk) * s::chunk;
}

/* Asks for a warp's blocks, which are in the tile when the pipeline is done. `position`: the lane's own, −1 for zeros. */
template <int M>
__device__ __forceinline__ void load(const bsi_numbers &p, int32_t position, int blocks, double *tile, int lane) {
  using s = shape<M>;
  const bool whole = __ballot_sync(BSI_EVERYONE, position >= 0) == BSI_EVERYONE;
  const auto copy = [&](int32_t from, int block, int chunk) {
    __pipeline_memcpy_async(tile + place<M>(block, chunk),
                            p.matrix + static_cast<int64_t>(from) * s::values + chunk * s::chunk,
                            sizeof(double) * s::chunk);
  };
  if (s::wide && whole) {
#pragma unroll 4
    for (int i = 0; i < s::chunks; i++) {
      const int at = i * BSI_WARP + lane, block = at / s::chunks;
      copy(__shfl_sync(BSI_EVERYONE, position, block), block, at % s::chunks);
    }
  } else {
#pragma unroll(s::wide ? 1 : 4)
    for (int i = 0; i < s::chunks; i++) {
      const int at = i * BSI_WARP + lane, block = at / s::chunks;
      const int32_t from = __shfl_sync(BSI_EVERYONE, position, block);
      if (block >= blocks) continue;
      if (from >= 0)
        copy(from, block, at % s::chunks);
      else
        for (int v = 0; v < s::chunk; v++) tile[place<M>(block, at % s::chunks) + v] = 0.0;
    }
  }
  __pipeline_commit();
}

/* The lane's block from the tile; where it has none, anything. */
template <int M> __device__ __forceinline__ void take(const double *tile, int lane, double (&a)[M * M]) {
  using s = shape<M>;
  asm volatile("" : "+r"(lane)); /* or places are worked out before the loop and kept in local memory */
#pragma unroll
  for (int k = 0; k < s::chunks; k++) {
    const double *const from = tile + place<M>(lane, k);
    if constexpr (s::wide) {
      const double2 two = *reinterpret_cast<const double2 *>(from);
      a[2 * k] = two.x, a[2 * k + 1] = two.y;
    } else {
      a[k] = *from;
    }
  }
}

/* Whole groups one after the other; the last one of all may not be whole. */
template <int M>
__device__ __forceinline__ void store(const bsi_numbers &p, int32_t first, int blocks, const double (&a)[M * M],
                                      unsigned order, double *tile, int lane) {
  using s = shape<M>;
#pragma unroll
  for (int c = 0; c < M; c++)
#pragma unroll
    for (int r = 0; r < M; r++)
      if (lane < blocks) tile[lane * s::lead + static_cast<int>(order >> 4 * c & 15u) * M + r] = a[c * M + r];
  __syncwarp();
  double *to = reinterpret_cast<double *>(p.data) + static_cast<int64_t>(first) * s::values;
  const int whole = blocks / s::per_group * s::per_group * s::values;
  constexpr int height = s::per_group * M, group = height * M;
#pragma unroll 4
  for (int i = 0; i < s::values; i++) {
    const int at = i * BSI_WARP + lane, g = at / group, c = at % group / height, row = at % height;
    if (at < whole) to[at] = tile[(g * s::per_group + row / M) * s::lead + c * M + row % M];
  }
  const int rest = blocks % s::per_group, top = blocks - rest;
  for (int at = lane; at < rest * s::values; at += BSI_WARP) {
    const int c = at / (rest * M), row = at % (rest * M);
    to[whole + at] = tile[(top + row / M) * s::lead + c * M + row % M];
  }
  __syncwarp();
}

/* The same where two lanes that are neighbours write 32 bytes of the one's block and then of the other's. */
template <int M>
__device__ __forceinline__ void store_by_pairs(const bsi_numbers &p, int32_t first, int blocks,
                                               const double (&a)[M * M], unsigned order, int lane) {
  using s = shape<M>;
  const bool odd = lane % 2 == 1;
  const int even = lane & ~1, group = even / s::per_group * s::per_group;
  const int64_t height = min(s::per_group, blocks - group) * M;
  const unsigned other = __shfl_xor_sync(BSI_EVERYONE, order, 1);
  const unsigned of_even = odd ? other : order, of_odd = odd ? order : other;
  double *to = reinterpret_cast<double *>(p.data) + static_cast<int64_t>(first + group) * s::values +
               (even - group) * M + (odd ? 2 : 0);
#pragma unroll
  for (int c = 0; c < M; c++) {
    double *const to_even = to + static_cast<int>(of_even >> 4 * c & 15u) * height;
    double *const to_odd = to + static_cast<int>(of_odd >> 4 * c & 15u) * height + M;
#pragma unroll
    for (int r = 0; r < M; r += 4) {
      const double *const v = a + c * M + r;
      const double x = __shfl_xor_sync(BSI_EVERYONE, odd ? v[0] : v[2], 1),
                   y = __shfl_xor_sync(BSI_EVERYONE, odd ? v[1] : v[3], 1);
      if (even < blocks)
        *reinterpret_cast<double2 *>(to_even + r) = odd ? make_double2(x, y) : make_double2(v[0], v[1]);
      if (even + 1 < blocks)
        *reinterpret_cast<double2 *>(to_odd + r) = odd ? make_double2(v[2], v[3]) : make_double2(x, y);
    }
  }
}

/* Thread blocks that a multiprocessor is to hold. */
template <int M> constexpr int resident = M <= 4 ? 16 : M <= 6 ? 8 : 6;

template <int M>
__global__ void __launch_bounds__(THREADS, resident<M>) invert_small(const __grid_constant__ bsi_numbers p) {
  using s = shape<M>;
  extern __shared__ __align__(128) double tiles[];
  __shared__ bsi_numbers_best best[THREADS];
  const int lane = threadIdx.x % BSI_WARP, warp = threadIdx.x / BSI_WARP;
  double *const tile = tiles + warp * s::tiles * s::tile;
  best[threadIdx.x] = {0.0, ~0ull};
  const int64_t step = static_cast<int64_t>(gridDim.x) * WARPS * s::blocks;
  const auto blocks_from = [&](int64_t from) {
    return static_cast<int>(max(min(static_cast<int64_t>(s::blocks), p.blocks - from), static_cast<int64_t>(0)));
  };
  const auto position_from = [&](int64_t from) {
    return lane < blocks_from(from) ? __ldg(p.position + from + lane) : -1;
  };
  int64_t first = (static_cast<int64_t>(blockIdx.x) * WARPS + warp) * s::blocks;
  load<M>(p, position_from(first), blocks_from(first), tile, lane);
  int32_t next = position_from(first + step);
  for (; first < p.blocks; first += step) {
    const int blocks = blocks_from(first);
    const bool mine = lane < blocks;
    const int32_t block = static_cast<int32_t>(first) + lane;
    __pipeline_wait_prior(0);
    __syncwarp();
    double a[s::values];
    take<M>(tile, lane, a);
    __syncwarp();
    if (s::ahead) load<M>(p, next, blocks_from(first + step), tile, lane);
    const double norm = norm1<M>(a);
    unsigned order;
    const bool regular = invert<M>(a, &order);
    const double inverse_norm = norm1<M>(a), condition = norm * inverse_norm;
    const bool singular = mine && !(regular && isfinite(inverse_norm));
    const int in_group = lane % s::per_group;
    const unsigned group = (s::per_group == 32 ? BSI_EVERYONE : (1u << s::per_group) - 1u) << (lane - in_group);
    const bool spoiled = (__ballot_sync(BSI_EVERYONE, singular) & group) != 0;
    if (p.list && spoiled) {
      if (mine && in_group == 0) p.list[atomicAdd(p.listed, 1)] = block / s::per_group;
    } else if (mine) {
      if (singular)
        atomicMax(&p.met->singular, ~static_cast<unsigned long long>(block));
      else
        bsi_count<BISAI_FORM_INVERSE>(p, M, block, norm, INFINITY, condition, false);
      if (condition > best[threadIdx.x].condition)
        best[threadIdx.x] = {condition, static_cast<unsigned long long>(block)};
    }
    if constexpr (s::wide)
      store_by_pairs<M>(p, static_cast<int32_t>(first), blocks, a, order, lane);
    else
      store<M>(p, static_cast<int32_t>(first), blocks, a, order, tile + (s::tiles - 1) * s::tile, lane);
    if (!s::ahead) load<M>(p, next, blocks_from(first + step), tile, lane);
    next = position_from(first + 2 * step);
  }
  bsi_find_best<THREADS>(best);
  if (threadIdx.x == 0) p.best[blockIdx.x] = best[0];
}

template <int M> int enqueue(cudaStream_t stream, const bsi_numbers &p) {
  const size_t bytes = sizeof(double) * WARPS * shape<M>::tiles * shape<M>::tile;
  bsi_allow_shared(invert_small<M>, bytes);
  const unsigned grid =
      bsi_resident_grid(invert_small<M>, resident<M>, bytes, bsi_grid(p.blocks, WARPS * shape<M>::blocks));
  invert_small<M><<<grid, THREADS, bytes, stream>>>(p);
  return static_cast<int>(grid);
}

} // namespace

int bsi_enqueue_small_inverses(cudaStream_t stream, const bsi_numbers &p) {
  switch (p.uniform) {
#define CASE(M)                                                                                                        \
  case M: return enqueue<M>(stream, p);
    CASE(1)
    CASE(2)
    CASE(3)
    CASE(4)
    CASE(5)
    CASE(6)
    CASE(7)
#undef CASE
  default: return enqueue<8>(stream, p);
  }
}
