/* SPDX-License-Identifier: BSD-3-Clause */
/* y = D⁻¹ x for one vector and inverses of one size whose formats may be narrow. With a lane a row,
 * as for fp64, the narrow values would be loaded in small pieces, and the shuffles of x would take
 * longer than the values (per value two shuffles of two cycles of a multiprocessor). Here a lane
 * takes several rows of a block, whose values of a column it loads at once. x lies in shared
 * memory, and a lane reads it once for all its rows. Each sum has the order of the other
 * kernels. */
#include "bjacobi/apply_job_cuda.cuh"
#include "core/context_impl.h"

namespace {

constexpr int WARPS = 4;
/* Thread blocks that a multiprocessor is to hold. This bounds the registers of a thread to 64, and
 * to 102 or 128 where a lane loads its rows one by one. */
constexpr int resident(int m) {
  if (m % 2 == 0 || m <= 3) return 8;
  return m == 5 ? 5 : 4;
}
/* Registers for the values that a lane has under way. */
constexpr int REGISTERS = 32;

constexpr int SIZES[] = {1, 2, 3, 4, 5, 6, 7, 8, 12, 15, 16, 20, 24, 28, 30, 32};

/* The rows of a lane, which divide M: a power of two, whose values are loaded together, or an odd
 * number. With one row for each lane, small blocks would have too many instructions for their
 * bytes. */
constexpr int rows_of_lane(int m) {
  return m % 4 == 0 ? 4 : m % 2 == 0 ? 2 : m <= 7 ? m : m % 3 == 0 ? 3 : 1;
}

/* The places of a warp, which takes several groups of blocks of M rows. */
template <int M> struct shape {
  static constexpr int rows = rows_of_lane(M);
  static constexpr int per_group = BSI_WARP / M, height = per_group * M;
  /* lanes of a group, groups and rows of a warp */
  static constexpr int lanes = height / rows, groups = BSI_WARP / lanes, all = groups * height;
  /* The distance between the vectors of two blocks: an odd number of pairs of doubles, so that the
   * lanes of eight blocks read them without bank conflicts. */
  static constexpr int pitch = (M + 1) / 2 % 2 != 0 ? (M + 1) / 2 * 2 : (M + 1) / 2 * 2 + 2;
  static constexpr int shared = groups * per_group * pitch;
};

/* Values side by side, `COUNT` of `BYTES` bytes, as they are stored. They are loaded in pieces of
 * up to 16 bytes, or one by one if COUNT is odd, because columns then begin anywhere. */
template <int BYTES> struct piece;
template <> struct piece<2> { using type = uint16_t; };
template <> struct piece<4> { using type = uint32_t; };
template <> struct piece<8> { using type = uint2; };
template <> struct piece<16> { using type = uint4; };

template <int BYTES, int COUNT> struct stored {
  static constexpr int together = COUNT % 2 == 0 ? BYTES * COUNT : BYTES;
  static constexpr int bytes = together < 16 ? together : 16;
  static constexpr int pieces = BYTES * COUNT / bytes;
  static constexpr int registers = pieces * (bytes < 4 ? 1 : bytes / 4);
  typename piece<bytes>::type part[pieces];
  /* Values are not read again. */
  __device__ __forceinline__ void load(const char *from) {
#pragma unroll
    for (int k = 0; k < pieces; k++)
      part[k] = __ldcs(reinterpret_cast<const typename piece<bytes>::type *>(from) + k);
  }
};

/* Columns of M rows that a lane has under way in values of BYTES bytes: all, or an even number. */
template <int M, int BYTES>
constexpr int ahead = REGISTERS / stored<BYTES, shape<M>::rows>::registers >= M
                          ? M
                          : REGISTERS / stored<BYTES, shape<M>::rows>::registers / 2 * 2;

template <int M, int BYTES> using columns = stored<BYTES, shape<M>::rows>[ahead<M, BYTES>];

/* Loads the columns from `from` on of the lane's rows. `step`: bytes of a column of the group. */
template <int M, int BYTES>
__device__ __forceinline__ void load(const char *values, int step, int from, columns<M, BYTES> &e) {
#pragma unroll
  for (int c = 0; c < ahead<M, BYTES>; c++)
    if (from + c < M) e[c].load(values + (from + c) * step);
}

/* sum ← sum + E x for the columns from `from` on. */
template <bisai_value_type FORMAT, int M>
__device__ __forceinline__ void add(const columns<M, bsi_value_bytes(FORMAT)> &e, int from,
                                    const double *x, double (&sum)[shape<M>::rows]) {
  constexpr int count = ahead<M, bsi_value_bytes(FORMAT)>;
#pragma unroll
  for (int c = 0; c < count; c += 2) {
    if (from + c >= M) break;
    const double2 two = *reinterpret_cast<const double2 *>(x + from + c);
#pragma unroll
    for (int k = 0; k < 2 && c + k < count && from + c + k < M; k++)
#pragma unroll
      for (int r = 0; r < shape<M>::rows; r++)
        sum[r] = fma(bsi_value_load(FORMAT, e[c + k].part, r), k == 0 ? two.x : two.y, sum[r]);
  }
}

/* The same for all columns. `first` has the first ones if they are narrow and `preloaded`. */
template <bisai_value_type FORMAT, int M>
__device__ __forceinline__ void multiply(const char *values, int row, int height, const double *x,
                                         bool preloaded, columns<M, 2> &first,
                                         double (&sum)[shape<M>::rows]) {
  constexpr int bytes = static_cast<int>(bsi_value_bytes(FORMAT));
  values += row * bytes;
  if constexpr (bytes == 2) {
    if (!preloaded) load<M, 2>(values, height * 2, 0, first);
    add<FORMAT, M>(first, 0, x, sum);
  }
#pragma unroll
  for (int from = bytes == 2 ? ahead<M, bytes> : 0; from < M; from += ahead<M, bytes>) {
    columns<M, bytes> e;
    load<M, bytes>(values, height * bytes, from, e);
    add<FORMAT, M>(e, from, x, sum);
  }
}

/* M: the rows of every block. */
template <int M>
__global__ void __launch_bounds__(WARPS *BSI_WARP, resident(M))
    apply_rows(const __grid_constant__ bsi_apply_job p) {
  using s = shape<M>;
  __shared__ __align__(16) double vectors[WARPS][s::shared];
  const int lane = threadIdx.x % BSI_WARP, warp = threadIdx.x / BSI_WARP;
  const int64_t unit = static_cast<int64_t>(blockIdx.x) * WARPS + warp, top = unit * s::all;
  const int in_warp = lane / s::lanes, row = lane % s::lanes * s::rows;
  const int64_t group = unit * s::groups + in_warp, left = p.rows - group * s::height;
  const int height = left < s::height ? static_cast<int>(left) : s::height;
  const bool mine = in_warp < s::groups && row < height;
  const char *values = p.data + group * s::height * M * p.slot_bytes;
  double own[(s::all + BSI_WARP - 1) / BSI_WARP];
  bsi_wait_for_predecessor();
#pragma unroll
  for (int k = 0; k * BSI_WARP < s::all; k++) {
    const int i = k * BSI_WARP + lane;
    own[k] = i < s::all && top + i < p.rows ? __ldcs(p.x + top + i) : 0.0;
  }
  const int format = !mine ? BISAI_ADAPTIVE : p.format ? __ldg(p.format + group) : p.storage;
  /* The formats of groups arrive as late as the values. Groups of every format have at least as
   * many bytes as narrow ones. If most groups are narrow, these bytes are therefore read before the
   * format is known. */
  columns<M, 2> first;
  if (mine && p.narrow) load<M, 2>(values + row * 2, height * 2, 0, first);
#pragma unroll
  for (int k = 0; k * BSI_WARP < s::all; k++) {
    const int i = k * BSI_WARP + lane;
    if (i < s::all) vectors[warp][i / M * s::pitch + i % M] = own[k];
  }
  __syncwarp();
  double *const x = vectors[warp] + (in_warp * s::per_group + row / M) * s::pitch;
  double sum[s::rows];
#pragma unroll
  for (int r = 0; r < s::rows; r++) sum[r] = 0.0;
  switch (format) {
#define CASE(FORMAT, word, bytes, mantissa)                                                        \
  case FORMAT: multiply<FORMAT, M>(values, row, height, x, p.narrow, first, sum); break;
    BISAI_BLOCK_TYPE_LIST(CASE)
#undef CASE
  default: break; /* the lane has no rows */
  }
  __syncwarp();
#pragma unroll
  for (int r = 0; r < s::rows && mine; r++) x[row % M + r] = sum[r];
  __syncwarp();
#pragma unroll
  for (int k = 0; k * BSI_WARP < s::all; k++) {
    const int i = k * BSI_WARP + lane;
    if (i < s::all && top + i < p.rows) p.y[top + i] = vectors[warp][i / M * s::pitch + i % M];
  }
}

/* Enqueues the kernel of the size and returns true, if there is one. K: the first place of SIZES to
 * consider. */
template <int K = 0> bool enqueue(const bisai_context *context, const bsi_apply_job &p) {
  if constexpr (K < static_cast<int>(sizeof SIZES / sizeof *SIZES)) {
    if (p.uniform != SIZES[K]) return enqueue<K + 1>(context, p);
    const int64_t units =
        (static_cast<int64_t>(p.groups) + shape<SIZES[K]>::groups - 1) / shape<SIZES[K]>::groups;
    bsi_launch_early(context, apply_rows<SIZES[K]>, bsi_grid(units, WARPS), WARPS * BSI_WARP, 0, p);
    return true;
  }
  return false;
}

} // namespace

bool bsi_enqueue_rows(const bisai_context *context, const bsi_apply_job &p) {
  return p.uniform > 0 && p.rows % p.uniform == 0 && p.per_group == BSI_WARP / p.uniform &&
         enqueue<>(context, p);
}
