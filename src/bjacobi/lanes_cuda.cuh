/* SPDX-License-Identifier: BSD-3-Clause */
/* What each lane of a warp has of the blocks that the warp decomposes, and the tile of shared
 * memory that they pass through. For *_cuda.cu only.
 *
 * A sub-warp takes a block, R rows a lane: rows w.row, w.row + w.lanes, … A warp takes whole
 * groups, as many as it has sub-warps for. The tile of a group has the layout of the group but for
 * an odd distance between columns, so that lanes read rows and columns without conflicts. */
#ifndef BSI_LANES_CUDA_CUH
#define BSI_LANES_CUDA_CUH

#include "bjacobi/adaptive.h"
#include "bjacobi/bjacobi.h"
#include "bjacobi/eliminate_cuda.cuh"

/* Where blocks come from. */
enum bsi_from { BSI_FROM_BLOCKS, BSI_FROM_ROWS, BSI_FROM_ROWS_SHARED, BSI_FROM_DENSE };

/* What a set-up meets, in device memory, zeros at first. First blocks are the largest of their
 * complements, so that 0 is none. */
struct bsi_numbers_met {
  /* first blocks */
  unsigned long long singular, repaired, near_singular, overflow;
  /* how many */
  unsigned long long repairs, near_singulars;
  /* ADAPTIVE: blocks and values */
  unsigned long long formats[BSI_FORMATS], values[BSI_FORMATS];
  /* the bits of the largest */
  unsigned long long condition;
  /* The upper bits of the largest, 22 of them behind the leading one, and below them 31 of the
   * complement of the first block that has these */
  unsigned long long condition_block;
  /* groups that need repairs */
  int32_t listed, unused;
};

struct bsi_numbers {
  /* blocks */
  int32_t rows, blocks, uniform, per_group;
  const int32_t *start;
  const int64_t *first_value;
  /* of this launch: groups order[from + i], or from + i, for i < count; the most rows that a
   * sub-warp may have to take, and its lanes */
  const int32_t *order;
  int32_t from, count;
  /* instead of count, unless NULL */
  const int32_t *count_there;
  int largest, lanes;
  /* the matrix */
  /* bsi_from */
  int source;
  int32_t block_size;
  const int32_t *row_ptr, *col_idx, *position;
  const double *matrix;
  /* blocks extracted before, in the layout of the groups */
  double *dense;
  /* of shifts */
  double amount;
  /* what is made */
  bisai_form form;
  /* bisai_value_type, or ADAPTIVE */
  int storage;
  double tolerance;
  uint8_t *format, *pivots;
  char *data;
  int slot_bytes;
  /* next: of the next set-up, to be made zeros */
  bsi_numbers_met *met, *next;
  /* kernels without repairs list the groups that need some, unless NULL */
  int32_t *list;
};

/* One lane's part: its block, and where that is. */
struct bsi_lane {
  bsi_sub_warp w;
  /* start: its first scalar row */
  int32_t block, start;
  /* the first value of its group */
  int64_t first;
  /* of its group */
  int32_t height;
  /* the first row of the block, of those of its group */
  int32_t in_group;
  /* the block's first value in the tile, and from a column to the next */
  int tile, lead;
  /* the lanes of its group */
  unsigned group;
  /* the first lane of a block */
  bool leader;
  /* … of a group */
  bool group_leader;
};

static __device__ __forceinline__ int32_t bsi_start_of(const bsi_numbers &p, int64_t block) {
  if (block >= p.blocks) return p.rows;
  return p.uniform ? static_cast<int32_t>(block) * p.uniform : __ldg(p.start + block);
}

/* Doubles of a warp's tile where blocks have at most M rows, R a lane. */
template <int M, int R> constexpr int bsi_tile_values = 32 * R *(M + 1);

/* `lanes` lanes of a warp from `first` on. */
static __device__ __forceinline__ unsigned bsi_lanes_mask(int first, int lanes) {
  return lanes == BSI_WARP ? BSI_EVERYONE : ((1u << lanes) - 1u) << first;
}

/* Doubles from the tile of a group to that of the next one of the warp. */
template <int M, int R> static __device__ __forceinline__ int bsi_group_tile(const bsi_numbers &p) {
  const int rows = min(M, R * p.lanes);
  return rows * (p.per_group * rows + 1);
}

/* Groups that a warp takes at once. */
static __host__ __device__ __forceinline__ int bsi_groups_a_warp(const bsi_numbers &p) {
  return BSI_WARP / p.lanes / p.per_group;
}

template <int M, int R, int LANES = 0>
static __device__ __forceinline__ bsi_lane bsi_lane_of(const bsi_numbers &p, int32_t unit,
                                                       int32_t count) {
  bsi_lane l;
  const int lane = threadIdx.x % BSI_WARP, sub = lane / p.lanes, together = bsi_groups_a_warp(p);
  const int32_t in_warp = sub / p.per_group, i = unit * together + in_warp;
  const bool there = in_warp < together && i < count;
  l.w.lanes = LANES > 0 ? LANES : p.lanes;
  l.w.row = lane - sub * p.lanes;
  l.w.base = sub * p.lanes;
  l.w.m = 0;
  l.block = 0, l.start = 0, l.first = 0, l.height = 0, l.in_group = 0, l.tile = 0, l.lead = 0;
  if (there) {
    const int32_t group = p.order ? __ldg(p.order + p.from + i) : p.from + i;
    const int64_t begin = static_cast<int64_t>(group) * p.per_group;
    const int32_t block = static_cast<int32_t>(begin) + sub % p.per_group,
                  top = bsi_start_of(p, begin);
    l.block = block;
    l.start = bsi_start_of(p, block);
    l.w.m = bsi_start_of(p, static_cast<int64_t>(block) + 1) - l.start;
    l.height = p.per_group == 1 ? l.w.m : bsi_start_of(p, begin + p.per_group) - top;
    l.first = p.first_value ? __ldg(p.first_value + group) : begin * p.uniform * p.uniform;
    l.in_group = l.start - top;
    l.lead = l.height | 1;
    l.tile = in_warp * bsi_group_tile<M, R>(p) + l.in_group;
  }
  l.leader = l.w.m > 0 && l.w.row == 0;
  l.group_leader = l.leader && sub % p.per_group == 0;
  l.w.mask = __ballot_sync(BSI_EVERYONE, l.w.row < l.w.m);
  l.w.mask &= bsi_lanes_mask(l.w.base, p.lanes);
  l.group = bsi_lanes_mask(in_warp * p.per_group * p.lanes, p.per_group * p.lanes);
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  l.w.most = __reduce_max_sync(BSI_EVERYONE, l.w.m);
#else
  l.w.most = l.w.m;
  for (int step = 16; step > 0; step /= 2)
    l.w.most = max(l.w.most, __shfl_xor_sync(BSI_EVERYONE, l.w.most, step));
#endif
  return l;
}

#endif
