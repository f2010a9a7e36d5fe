/* Inverses of natural blocks of 1 … 8 rows on a device, a thread a block: nothing has to be told to other lanes. The blocks of a warp pass
 * through shared memory, at an odd distance, so that all accesses are side by side. */
#include <cuda_pipeline_primitives.h>

#include "bjacobi/numbers_cuda.cuh"

namespace {

enum { WARPS = 2, THREADS = WARPS * BSI_WARP };

/* How a warp's blocks lie. */
template <int M> struct shape {
  static constexpr int values = M * M;
  static constexpr int per_group = BSI_WARP / M;
  static constexpr int groups = BSI_WARP / per_group; /* of a warp */
  static constexpr int blocks = groups * per_group;
  static constexpr int lead = values | 1; /* from a block to the next */
};

/* a ← a⁻¹ but for the order of its columns: column j is that of row (order >> 4 j & 15) of a. False where a is singular. */
template <int M> __device__ __forceinline__ bool invert(double (&a)[M * M], unsigned *order) {
  unsigned rows = 0x76543210u;
  bool regular = true;
#pragma unroll
  for (int k = 0; k < M; k++) {
    int pivot = k;
    double best = fabs(a[k * M + k]);
#pragma unroll
    for (int r = k + 1; r < M; r++)
      if (fabs(a[k * M + r]) > best || isnan(a[k * M + r])) best = fabs(a[k * M + r]), pivot = r;
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
    regular = regular && best > 0.0 && isfinite(inverse) && inverse != 0.0;
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

template <int M>
__device__ __forceinline__ void load(const bsi_numbers &p, int32_t position, int blocks, double *tile, int lane) {
  using s = shape<M>;
#pragma unroll 4
  for (int i = 0; i < s::values; i++) {
    const int at = i * BSI_WARP + lane, block = at / s::values, v = at % s::values;
    const int32_t from = __shfl_sync(BSI_EVERYONE, position, block % BSI_WARP);
    if (block >= blocks) continue;
    double *to = tile + block * s::lead + v;
    if (from >= 0)
      __pipeline_memcpy_async(to, p.matrix + static_cast<int64_t>(from) * s::values + v, sizeof(double));
    else
      *to = 0.0;
  }
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncwarp();
}

/* Whole groups one after the other; the last one of all may not be whole. */
template <int M>
__device__ __forceinline__ void store(const bsi_numbers &p, int32_t first, int blocks, const double *tile, int lane) {
  using s = shape<M>;
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
}

template <int M>
__global__ void __launch_bounds__(THREADS, M <= 4   ? 16
                                           : M <= 6 ? 8
                                                    : 6) invert_small(const __grid_constant__ bsi_numbers p) {
  using s = shape<M>;
  extern __shared__ double tiles[];
  __shared__ bsi_numbers_best best[THREADS];
  const int lane = threadIdx.x % BSI_WARP, warp = threadIdx.x / BSI_WARP;
  double *tile = tiles + warp * BSI_WARP * s::lead;
  best[threadIdx.x] = {0.0, ~0ull};
  for (int64_t first = (static_cast<int64_t>(blockIdx.x) * WARPS + warp) * s::blocks; first < p.blocks;
       first += static_cast<int64_t>(gridDim.x) * WARPS * s::blocks) {
    const int blocks = static_cast<int>(min(static_cast<int64_t>(s::blocks), p.blocks - first));
    const bool mine = lane < blocks;
    const int32_t block = static_cast<int32_t>(first) + lane;
    load<M>(p, mine ? __ldg(p.position + block) : -1, blocks, tile, lane);
    const int64_t next = first + static_cast<int64_t>(gridDim.x) * WARPS * s::blocks + lane;
    const int32_t soon = lane < s::blocks && next < p.blocks ? __ldg(p.position + next) : -1;
    if (M <= 5 && soon >= 0) /* it made those of 8 rows slower */
      for (int v = 0; v < s::values; v += 16) bsi_prefetch(p.matrix + static_cast<int64_t>(soon) * s::values + v);
    double a[s::values];
#pragma unroll
    for (int v = 0; v < s::values; v++) a[v] = mine ? tile[lane * s::lead + v] : v % (M + 1) == 0 ? 1.0 : 0.0;
    const double norm = norm1<M>(a);
    unsigned order;
    const bool regular = invert<M>(a, &order);
    const double inverse_norm = norm1<M>(a), condition = norm * inverse_norm;
    const bool singular = mine && !(regular && isfinite(inverse_norm));
#pragma unroll
    for (int c = 0; c < M; c++)
#pragma unroll
      for (int r = 0; r < M; r++)
        if (mine) tile[lane * s::lead + static_cast<int>(order >> 4 * c & 15u) * M + r] = a[c * M + r];
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
    __syncwarp();
    store<M>(p, static_cast<int32_t>(first), blocks, tile, lane);
    __syncwarp();
  }
  bsi_find_best<THREADS>(best);
  if (threadIdx.x == 0) p.best[blockIdx.x] = best[0];
}

template <int M> int enqueue(cudaStream_t stream, const bsi_numbers &p) {
  const size_t bytes = sizeof(double) * THREADS * shape<M>::lead;
  const unsigned grid =
      bsi_resident_grid(invert_small<M>, THREADS, bytes, bsi_grid(p.blocks, WARPS * shape<M>::blocks));
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
    CASE(6) CASE(7)
#undef CASE
        default : return enqueue<8>(stream, p);
  }
}
