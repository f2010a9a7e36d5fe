/* SPDX-License-Identifier: BSD-3-Clause */
/* The block of each lane of a warp, and the tile of shared memory through which a warp's blocks
 * pass. For *_cuda.cu only.
 *
 * A sub-warp takes one block, and each of its lanes R rows: w.row, w.row + w.lanes, … A warp takes
 * as many whole groups as it has sub-warps for. The distance between columns in the tile is odd:
 * lanes then read rows and columns without bank conflicts. If the compiler knows the number of
 * lanes, a block has a padded place: M columns of R rows for each lane, whatever its size is. It
 * then knows all places, and a lane need not ask which of them are in the block. Otherwise the tile
 * of a group has the layout of the group. */
#ifndef BSI_LANES_CUDA_CUH
#define BSI_LANES_CUDA_CUH

#include "bjacobi/factorize/adaptive.h"
#include "bjacobi/factorize/eliminate_cuda.cuh"
#include "bjacobi/factorize/job_cuda.cuh"

/* The block of one lane. */
struct bsi_lane {
  bsi_sub_warp w;
  /* the block, and its first scalar row */
  int32_t block, start;
  /* the group: its first value, its scalar rows, and the row of it that is the block's first */
  int64_t first;
  int32_t height, in_group;
  /* the index in the tile of the block's first value, and the distance between columns */
  int tile, ld;
  /* after bsi_fetch_rows(): the places of row w.row of the block among the matrix's blocks */
  int32_t row_begin, row_end;
  /* the lanes that have blocks of the group */
  unsigned group_mask;
  /* true in the first lane of a block, and of a group */
  bool leader, group_leader;
};

static __device__ __forceinline__ int32_t bsi_start_of(const bsi_values_job &p, int64_t block) {
  if (block >= p.partition.blocks) return p.partition.rows;
  return p.partition.uniform ? static_cast<int32_t>(block) * p.partition.uniform
                             : __ldg(p.partition.start + block);
}

/* The number of doubles in a warp's tile.
 * M: the most rows of a block.
 * R: the rows of a lane. */
template <int M, int R> constexpr int bsi_tile_values = 32 * R *(M + 1);

/* The mask of `lanes` lanes from `first` on. */
static __device__ __forceinline__ unsigned bsi_lanes_mask(int first, int lanes) {
  return lanes == BSI_WARP ? BSI_FULL_WARP : ((1u << lanes) - 1u) << first;
}

/* The number of doubles from the tile of a group to that of the warp's next group; M and R as in
 * bsi_tile_values. */
template <int M, int R>
static __device__ __forceinline__ int bsi_group_tile(const bsi_values_job &p) {
  const int rows = min(M, R * p.launch.lanes);
  return rows * (p.partition.per_group * rows + 1);
}

static __host__ __device__ __forceinline__ int bsi_groups_per_warp(const bsi_values_job &p) {
  return BSI_WARP / p.launch.lanes / p.partition.per_group;
}

/* True if blocks have padded places. LANES: the lanes of a sub-warp; 0: p.launch.lanes. EXACT: as
 * in bsi_compute_values(). */
template <int LANES, bool EXACT> constexpr bool bsi_padded = LANES > 0 && !EXACT;

/* The distance between columns of a padded place, and the doubles of the place. */
template <int R, int LANES> constexpr int bsi_padded_ld = R *LANES | 1;
template <int M, int R, int LANES> constexpr int bsi_padded_values = M *bsi_padded_ld<R, LANES>;

/* Returns the lane's block in unit `unit` of a launch of `count` groups. A unit is as many
 * groups as a warp takes at once. M, R: as in bsi_tile_values. LANES, EXACT: as in bsi_padded. */
template <int M, int R, int LANES = 0, bool EXACT = false>
static __device__ __forceinline__ bsi_lane bsi_lane_of(const bsi_values_job &p, int32_t unit,
                                                       int32_t count) {
  bsi_lane l;
  const int lane = threadIdx.x % BSI_WARP, sub = lane / p.launch.lanes,
            groups_per_warp = bsi_groups_per_warp(p);
  const int32_t in_warp = sub / p.partition.per_group, i = unit * groups_per_warp + in_warp;
  const bool there = in_warp < groups_per_warp && i < count;
  l.w.lanes = LANES > 0 ? LANES : p.launch.lanes;
  l.w.row = lane - sub * p.launch.lanes;
  l.w.base = sub * p.launch.lanes;
  l.w.m = 0;
  l.block = 0, l.start = 0, l.first = 0, l.height = 0, l.in_group = 0, l.tile = 0, l.ld = 0;
  l.row_begin = l.row_end = 0;
  if (there) {
    const int32_t group =
        p.launch.order ? __ldg(p.launch.order + p.launch.from + i) : p.launch.from + i;
    const int64_t begin = static_cast<int64_t>(group) * p.partition.per_group;
    const int32_t block = static_cast<int32_t>(begin) + sub % p.partition.per_group,
                  top = bsi_start_of(p, begin);
    l.block = block;
    l.start = bsi_start_of(p, block);
    l.w.m = bsi_start_of(p, static_cast<int64_t>(block) + 1) - l.start;
    l.height =
        p.partition.per_group == 1 ? l.w.m : bsi_start_of(p, begin + p.partition.per_group) - top;
    l.first = p.partition.first_value ? __ldg(p.partition.first_value + group)
                                      : begin * p.partition.uniform * p.partition.uniform;
    l.in_group = l.start - top;
    l.ld = l.height | 1;
    l.tile = in_warp * bsi_group_tile<M, R>(p) + l.in_group;
  }
  if constexpr (bsi_padded<LANES, EXACT>) {
    constexpr int place = bsi_padded_values<M, R, LANES>;
    static_assert(BSI_WARP / LANES * place <= bsi_tile_values<M, R>, "the tile has all places");
    l.ld = bsi_padded_ld<R, LANES>;
    l.tile = sub * place;
  }
  l.leader = l.w.m > 0 && l.w.row == 0;
  l.group_leader = l.leader && sub % p.partition.per_group == 0;
  l.w.mask = __ballot_sync(BSI_FULL_WARP, l.w.row < l.w.m);
  l.w.mask &= bsi_lanes_mask(l.w.base, p.launch.lanes);
  l.group_mask = bsi_lanes_mask(in_warp * p.partition.per_group * p.launch.lanes,
                                p.partition.per_group * p.launch.lanes);
  l.w.max_rows = bsi_warp_max(l.w.m);
  return l;
}

/* What a warp with one block has to know of the next ones while it decomposes this one. Each of
 * these is the address of the following one, so that a warp that began to load them when it needs
 * them would wait for memory three times. */
struct bsi_blocks_ahead {
  /* of the block after the next: its group, −1: there is none */
  int32_t group;
  /* the next block, its first row and the first one behind it */
  int32_t block, start, end;
  /* of the next block, as in bsi_lane */
  int64_t first;
  int32_t row_begin, row_end;
};

/* Returns group i of a launch of `count` groups, −1: there is none. */
static __device__ __forceinline__ int32_t bsi_group_at(const bsi_values_job &p, int64_t i,
                                                       int32_t count) {
  if (i >= count) return -1;
  const int32_t at = p.launch.from + static_cast<int32_t>(i);
  return p.launch.order ? __ldg(p.launch.order + at) : at;
}

/* Begins to load the block of a->group, which becomes the next one. Groups have one block each. */
static __device__ __forceinline__ void bsi_fetch_block(const bsi_values_job &p,
                                                       bsi_blocks_ahead *a) {
  a->block = a->group, a->start = a->end = 0;
  if (a->group < 0) return;
  a->start = bsi_start_of(p, a->block);
  a->end = bsi_start_of(p, static_cast<int64_t>(a->block) + 1);
}

/* Begins to load the places of the next block's values and rows. */
static __device__ __forceinline__ void bsi_fetch_rows(const bsi_values_job &p,
                                                      bsi_blocks_ahead *a) {
  const int32_t row = a->start + static_cast<int32_t>(threadIdx.x % BSI_WARP);
  a->first = 0, a->row_begin = a->row_end = 0;
  if (a->start == a->end) return;
  a->first = p.partition.first_value
                 ? __ldg(p.partition.first_value + a->block)
                 : static_cast<int64_t>(a->block) * p.partition.uniform * p.partition.uniform;
  if (p.source != BSI_FROM_ROWS || row >= a->end) return;
  a->row_begin = __ldg(p.matrix.row_ptr + row / p.matrix.block_size);
  a->row_end = __ldg(p.matrix.row_ptr + row / p.matrix.block_size + 1);
}

/* Returns the lane of a warp that takes the next block alone. */
static __device__ __forceinline__ bsi_lane bsi_lane_of_next(const bsi_blocks_ahead &a) {
  bsi_lane l;
  const int lane = threadIdx.x % BSI_WARP;
  const int m = a.end - a.start;
  l.w.lanes = BSI_WARP, l.w.row = lane, l.w.base = 0, l.w.m = m;
  l.w.max_rows = bsi_warp_max(m);
  l.w.mask = __ballot_sync(BSI_FULL_WARP, lane < m);
  l.block = a.block, l.start = a.start, l.first = a.first, l.height = m, l.in_group = 0;
  l.tile = 0, l.ld = bsi_padded_ld<1, BSI_WARP>;
  l.row_begin = a.row_begin, l.row_end = a.row_end;
  l.group_mask = BSI_FULL_WARP;
  l.leader = l.group_leader = m > 0 && lane == 0;
  return l;
}

#endif
