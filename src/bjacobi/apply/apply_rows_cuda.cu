/* SPDX-License-Identifier: BSD-3-Clause */
/* y = D⁻¹ x for one vector and inverses of one size whose formats may be narrow. With a lane a row,
 * as for fp64, the narrow values would be loaded in small pieces, and the shuffles of x would take
 * longer than the values (per value two shuffles of two cycles of a multiprocessor). Here a lane
 * takes several rows of a group, whose values of a column it loads at once. If the size is odd,
 * these rows may be of two blocks. x lies in shared memory, and a lane reads it once for all its
 * rows of a block. Each sum has the order of the other kernels. */
#include "bjacobi/apply/apply_stored_cuda.cuh"
#include "core/context/context_impl.h"

namespace {

/* Registers for the values that a lane has under way. */
constexpr int REGISTERS = 32;

/* How a warp takes groups of blocks. Each row of the table was the fastest, or nearly so, of those
 * measured (docs/tuning.md, "Block-Jacobi"). */
struct plan {
  /* the most rows of a block */
  int rows;
  /* how often a warp takes as many groups as it has lanes for */
  int sets;
  /* warps of a thread block, and the thread blocks that a multiprocessor is to hold, which bounds
   * the registers of a thread */
  int warps, resident;
};
constexpr plan PLANS[] = {
    {1, 4, 4, 8},  {2, 1, 4, 8},  {3, 2, 4, 8},  {4, 1, 4, 8},  {5, 4, 4, 5},   {6, 2, 4, 8},
    {7, 1, 4, 8},  {8, 1, 4, 8},  {9, 2, 4, 7},  {10, 2, 4, 6}, {11, 2, 2, 14}, {12, 1, 4, 8},
    {13, 2, 4, 7}, {14, 1, 4, 8}, {15, 2, 4, 5}, {16, 1, 4, 8}, {17, 1, 4, 7},  {18, 1, 4, 8},
    {19, 1, 4, 7}, {20, 1, 4, 8}, {21, 2, 4, 7}, {22, 1, 4, 8}, {23, 2, 4, 6},  {24, 1, 4, 8},
    {25, 1, 4, 6}, {26, 1, 4, 8}, {27, 1, 4, 6}, {28, 1, 4, 8}, {29, 2, 4, 5},  {30, 1, 4, 8},
    {31, 2, 4, 5}, {32, 1, 4, 8},
};

/* The places of a warp, which takes several groups of blocks of M rows. */
template <int M> struct shape {
  static_assert(PLANS[M - 1].rows == M, "one plan for each size");
  static constexpr int per_group = BSI_WARP / M, height = per_group * M;
  static constexpr bool odd = height % 2 != 0;
  /* Rows of a lane. If the height is odd, the last lane of a group has one row only. */
  static constexpr int rows = M == 1 ? 1 : height % 4 == 0 ? 4 : 2;
  /* The blocks that the lane's rows may be of, if each is looked up. */
  static constexpr int blocks = M % rows == 0 || per_group == 1 ? 1 : rows;
  /* Lanes of a group, the groups that the warp takes at once, and how often it does so. */
  static constexpr int lanes = (height + rows - 1) / rows, at_once = BSI_WARP / lanes,
                       sets = PLANS[M - 1].sets, warps = PLANS[M - 1].warps;
  /* groups and rows of the warp, and the steps in which it copies parts of x and y */
  static constexpr int groups = sets * at_once, all = groups * height,
                       steps = (all + BSI_WARP - 1) / BSI_WARP;
  /* The distance between the vectors of two blocks: an odd number of pairs of doubles, so that the
   * lanes of eight blocks read them without bank conflicts. */
  static constexpr int pitch = (M + 1) / 2 % 2 != 0 ? (M + 1) / 2 * 2 : (M + 1) / 2 * 2 + 2;
  static constexpr int group_pitch = per_group * pitch;
};

/* True if columns of BYTES bytes a value share sectors (stored::load). */
template <int M, int BYTES> constexpr bool shares_sectors = shape<M>::height *BYTES % 32 != 0;

/* A lane's values of a column of BYTES bytes each, where heights are even. */
template <int BYTES, int ROWS, bool SHARED> struct even_values : stored<BYTES, ROWS, SHARED> {
  __device__ __forceinline__ void load(const char *from, int) {
    stored<BYTES, ROWS, SHARED>::load(from);
  }
  __device__ __forceinline__ void settle(bool, unsigned) {}
  template <bisai_value_type FORMAT> __device__ __forceinline__ double value(int r) const {
    return decoded<FORMAT>(this->part, r);
  }
};

/* Where they are odd, so that columns begin anywhere and share sectors. */
template <int BYTES> struct odd_values {
  static constexpr int registers = BYTES / 2;
  stored<BYTES, 1, true> one[2];
  /* second: rows to the second value, 0: there is none */
  __device__ __forceinline__ void load(const char *from, int second) {
    one[0].load(from), one[1].load(from + second * BYTES);
  }
  __device__ __forceinline__ void settle(bool, unsigned) {}
  template <bisai_value_type FORMAT> __device__ __forceinline__ double value(int r) const {
    return decoded<FORMAT>(one[r].part, 0);
  }
};

/* Every other column begins between two words. The lane then loads the word with its first value
 * and the one before, and the word of the next lane has its second value. */
template <> struct odd_values<2> {
  static constexpr int registers = 1;
  uint32_t word;
  __device__ __forceinline__ void load(const char *from, int) {
    word = load_once<true>(
        reinterpret_cast<const uint32_t *>(from - (reinterpret_cast<uintptr_t>(from) & 2)));
  }
  /* lanes: those of the group, which all call */
  __device__ __forceinline__ void settle(bool between, unsigned lanes) {
    const uint32_t next = __shfl_down_sync(lanes, word, 1);
    word = __byte_perm(word, next, between ? 0x5432 : 0x3210);
  }
  template <bisai_value_type FORMAT> __device__ __forceinline__ double value(int r) const {
    return decoded<FORMAT>(&word, r);
  }
};

template <int M, int BYTES>
using values_of = std::conditional_t<shape<M>::odd, odd_values<BYTES>,
                                     even_values<BYTES, shape<M>::rows, shares_sectors<M, BYTES>>>;

/* Columns of M rows that a lane has under way. */
template <int M, bisai_value_type FORMAT>
constexpr int ahead =
    columns_ahead<REGISTERS, values_of<M, static_cast<int>(bsi_value_bytes(FORMAT))>::registers, M>;

template <int M, bisai_value_type FORMAT>
using columns = values_of<M, static_cast<int>(bsi_value_bytes(FORMAT))>[ahead<M, FORMAT>];

/* A lane's rows of a group. */
template <int M> struct part {
  /* its format, or ADAPTIVE if the group does not exist */
  int format;
  /* the group has as many blocks as others */
  bool whole;
  /* the lane's first row, the block of that row in the group, and the row of the block */
  int row, block, in_block;
  /* the lanes that have the group */
  unsigned lanes;
  const char *values;
  columns<M, BISAI_FP16> first;

  /* the blocks from that of the first row to that of row r */
  __device__ __forceinline__ int blocks_to(int r) const {
    if (shape<M>::blocks == 1) return 0;
    const int wrapped = M < shape<M>::rows ? (in_block + r) / M : in_block + r >= M ? 1 : 0;
    return shape<M>::odd && row + r >= shape<M>::height ? 0 : wrapped;
  }
};

/* Loads the columns from `from` on of the lane's rows. */
template <int M, bisai_value_type FORMAT>
__device__ __forceinline__ void load(const part<M> &l, int from, columns<M, FORMAT> &e) {
  constexpr int bytes = static_cast<int>(bsi_value_bytes(FORMAT));
  const char *values = l.values + l.row * bytes;
  const int second = l.row + 1 < shape<M>::height ? 1 : 0;
#pragma unroll
  for (int c = 0; c < ahead<M, FORMAT>; c++)
    if (from + c < M) e[c].load(values + (from + c) * shape<M>::height * bytes, second);
}

/* sum ← sum + E x for the columns from `from` on. x: the part of x of the block of the lane's first
 * row. */
template <int M, bisai_value_type FORMAT>
__device__ __forceinline__ void add(const part<M> &l, columns<M, FORMAT> &e, int from,
                                    const double *x, double (&sum)[shape<M>::rows]) {
  constexpr int count = ahead<M, FORMAT>, blocks = shape<M>::blocks;
  const bool between = (reinterpret_cast<uintptr_t>(l.values) & 2) != 0;
#pragma unroll
  for (int c = 0; c < count; c += 2) {
    if (from + c >= M) break;
    double2 two[blocks];
#pragma unroll
    for (int b = 0; b < blocks; b++)
      two[b] = *reinterpret_cast<const double2 *>(x + l.blocks_to(b) * shape<M>::pitch + from + c);
#pragma unroll
    for (int k = 0; k < 2 && c + k < count && from + c + k < M; k++) {
      e[c + k].settle(between != ((from + c + k) % 2 != 0), l.lanes);
#pragma unroll
      for (int r = 0; r < shape<M>::rows; r++)
        sum[r] = fma(e[c + k].template value<FORMAT>(r),
                     k == 0 ? two[r % blocks].x : two[r % blocks].y, sum[r]);
    }
  }
}

/* The same for all columns. l.first has the first ones if they are narrow and `preloaded`. */
template <int M, bisai_value_type FORMAT>
__device__ __forceinline__ void multiply(part<M> &l, const double *x, bool preloaded,
                                         double (&sum)[shape<M>::rows]) {
  constexpr bool narrow = bsi_value_bytes(FORMAT) == 2;
  if constexpr (narrow) {
    if (!preloaded) load<M, FORMAT>(l, 0, l.first);
    add<M, FORMAT>(l, l.first, 0, x, sum);
  }
#pragma unroll
  for (int from = narrow ? ahead<M, FORMAT> : 0; from < M; from += ahead<M, FORMAT>) {
    columns<M, FORMAT> e;
    load<M, FORMAT>(l, from, e);
    add<M, FORMAT>(l, e, from, x, sum);
  }
}

/* The same for a last group with fewer blocks, whose `height` may be any. */
template <int M>
__device__ __forceinline__ void multiply_last(const part<M> &l, int height, const double *x,
                                              double (&sum)[shape<M>::rows]) {
  const bisai_value_type format = static_cast<bisai_value_type>(l.format);
#pragma unroll
  for (int r = 0; r < shape<M>::rows; r++)
#pragma unroll 1
    for (int from = 0; from < M && l.row + r < height; from += BATCH) {
      uint64_t bits[BATCH];
      load_bits(l.values, format, from * height + l.row + r, height, M - from, bits);
#pragma unroll
      for (int c = 0; c < BATCH; c++)
        if (from + c < M)
          sum[r] = fma(bsi_value_load(format, &bits[c], 0),
                       x[l.blocks_to(r) * shape<M>::pitch + from + c], sum[r]);
    }
}

/* y ← E x for the lane's rows of a group, in place: x is the part of the group's first block. All
 * lanes of the warp call. */
template <int M>
__device__ __forceinline__ void apply_part(const bsi_apply_job &p, part<M> &l, double *x) {
  double sum[shape<M>::rows];
#pragma unroll
  for (int r = 0; r < shape<M>::rows; r++) sum[r] = 0.0;
  x += l.block * shape<M>::pitch;
  /* Lanes without rows, and those of a last group with fewer blocks, do nothing here. */
  bsi_in_format(l.whole ? l.format : static_cast<int>(BISAI_ADAPTIVE),
                [&](auto format) { multiply<M, format.value>(l, x, p.narrow, sum); });
  if (!l.whole && l.format != BISAI_ADAPTIVE)
    multiply_last(l, p.partition.rows % shape<M>::height, x, sum);
  __syncwarp();
#pragma unroll
  for (int r = 0; r < shape<M>::rows; r++)
    if (l.format != BISAI_ADAPTIVE && l.row + r < shape<M>::height) {
      const int further = l.blocks_to(r);
      x[further * (shape<M>::pitch - M) + l.in_block + r] = sum[r];
    }
}

/* M: the rows of every block. */
template <int M>
__global__ void __launch_bounds__(shape<M>::warps *BSI_WARP, PLANS[M - 1].resident)
    apply_rows(const __grid_constant__ bsi_apply_job p) {
  using s = shape<M>;
  __shared__ __align__(16) double vectors[s::warps][s::groups * s::group_pitch];
  const int lane = threadIdx.x % BSI_WARP, warp = threadIdx.x / BSI_WARP;
  const int32_t group = static_cast<int32_t>(blockIdx.x * s::warps + warp) * s::groups;
  const int64_t top = static_cast<int64_t>(group) * s::height + lane;
  const int left = static_cast<int>(min(p.partition.rows - top, int64_t{s::all - lane}));
  double own[s::steps];
  part<M> parts[s::sets];
  bsi_wait_for_predecessor();
#pragma unroll
  for (int k = 0; k < s::steps; k++)
    own[k] = k * BSI_WARP < left ? __ldcs(p.x + top + k * BSI_WARP) : 0.0;
#pragma unroll
  for (int k = 0; k < s::sets; k++) {
    part<M> &l = parts[k];
    const int sub = lane / s::lanes;
    const int32_t its = group + k * s::at_once + sub;
    l.row = (lane - sub * s::lanes) * s::rows;
    l.block = l.row / M, l.in_block = l.row - l.block * M;
    l.lanes = (BSI_FULL_WARP >> (BSI_WARP - s::lanes)) << sub * s::lanes;
    l.values = p.data + static_cast<int64_t>(its) * (s::height * M * p.slot_bytes);
    l.whole = s::per_group == 1 || its < p.partition.rows / s::height;
    l.format = BISAI_ADAPTIVE;
    if (sub < s::at_once && its < p.partition.groups) {
      l.format = p.format ? __ldg(p.format + its) : p.storage;
      /* The formats of groups arrive as late as the values. Groups of every format have at least as
       * many bytes as narrow ones. If most groups are narrow, these bytes are therefore read before
       * the format is known. */
      if (l.whole && p.narrow) load<M, BISAI_FP16>(l, 0, l.first);
    }
  }
#pragma unroll
  for (int k = 0; k < s::steps; k++) {
    const int i = k * BSI_WARP + lane;
    if (i < s::all) vectors[warp][i / M * s::pitch + i % M] = own[k];
  }
  __syncwarp();
#pragma unroll
  for (int k = 0; k < s::sets; k++)
    apply_part(p, parts[k],
               vectors[warp] +
                   (k * s::at_once + min(lane / s::lanes, s::at_once - 1)) * s::group_pitch);
  __syncwarp();
#pragma unroll
  for (int k = 0; k < s::steps; k++) {
    const int i = k * BSI_WARP + lane;
    if (k * BSI_WARP < left) p.y[top + k * BSI_WARP] = vectors[warp][i / M * s::pitch + i % M];
  }
}

/* Enqueues the kernel of the size, which is M or smaller. */
template <int M = BSI_BJACOBI_MAX_ROWS>
void enqueue(const bisai_context *context, const bsi_apply_job &p) {
  if constexpr (M > 1)
    if (p.partition.uniform < M) return enqueue<M - 1>(context, p);
  const int64_t units =
      (static_cast<int64_t>(p.partition.groups) + shape<M>::groups - 1) / shape<M>::groups;
  bsi_launch_early(context, apply_rows<M>, bsi_grid(units, shape<M>::warps),
                   shape<M>::warps * BSI_WARP, 0, p);
}

} // namespace

void bsi_enqueue_rows(const bisai_context *context, const bsi_apply_job &p) {
  enqueue<>(context, p);
}
