/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files for sparse matrices on a device share: lanes for the blocks of a matrix, loads of
 * their values, and row_ptr from the lengths of rows. */
#ifndef BSI_SPGEMM_ROWS_CUDA_CUH
#define BSI_SPGEMM_ROWS_CUDA_CUH

#include "core/matrix/bcsr_impl.h"
#include "gpu/for_each.cuh"
#include "gpu/read_only.cuh"
#include "gpu/record.cuh"
#include "gpu/scan.cuh"
#include "gpu/temporary.cuh"
#include "multigrid/spgemm/spgemm_ops.h"

namespace {

/* Threads of a thread block of kernels that use lanes_of_blocks. */
constexpr int BLOCK_THREADS = 128;

/* A warp takes consecutive blocks of a matrix, with `lanes` lanes for each. */
struct lanes_of_blocks {
  /* the position of the block, and its row */
  int32_t position, row;
  /* the number of this lane among those of the block, and their first lane */
  int member, first;
  /* false: the lane has no block, and the numbers are those of another one */
  bool working;
};

/* Returns the last row that begins at or before block `position`. All lanes of the warp call with
 * the same numbers. */
__device__ __forceinline__ int32_t row_of_block(int32_t rows, const int32_t *row_ptr,
                                                int32_t position) {
  const int lane = threadIdx.x % BSI_WARP;
  int64_t low = 0, high = rows; /* row `low` begins in time, row `high` does not */
  while (high - low > 1) {
    const int64_t step = (high - low + BSI_WARP - 1) / BSI_WARP, row = low + (lane + 1) * step;
    const unsigned in_time =
        __ballot_sync(BSI_FULL_WARP, row < high && __ldg(row_ptr + row) <= position);
    low += __popc(in_time) * step;
    high = min(low + step, high);
  }
  return static_cast<int32_t>(low);
}

/* Returns the same for the positions of the lanes, which ascend from that of row `base` on. */
__device__ __forceinline__ int32_t rows_of_lanes(int32_t rows, const int32_t *row_ptr, int32_t base,
                                                 int32_t position) {
  const int lane = threadIdx.x % BSI_WARP;
  int32_t row = base;
  for (bool open = true;; base += BSI_WARP) {
    /* the rows behind `base` that begin in time */
    const int64_t next = static_cast<int64_t>(base) + 1 + lane;
    const int32_t begin = next < rows ? __ldg(row_ptr + next) : INT32_MAX;
    int count = 0;
#pragma unroll
    for (int step = BSI_WARP / 2; step > 0; step /= 2)
      if (__shfl_sync(BSI_FULL_WARP, begin, count + step - 1) <= position) count += step;
    if (__shfl_sync(BSI_FULL_WARP, begin, count) <= position) count++;
    if (open) row = base + count;
    open = open && count == BSI_WARP;
    if (!__any_sync(BSI_FULL_WARP, open)) return row;
  }
}

/* Returns the thread blocks for `blocks` blocks. */
inline unsigned grid_of_blocks(int32_t blocks, int lanes) {
  const int each = BSI_WARP / lanes * (BLOCK_THREADS / BSI_WARP);
  return static_cast<unsigned>((static_cast<int64_t>(blocks) + each - 1) / each);
}

/* Returns the block of this lane. All lanes of the warp call. Warps without any block get
 * position < 0. */
__device__ __forceinline__ lanes_of_blocks block_of_lane(int32_t rows, const int32_t *row_ptr,
                                                         int32_t blocks, int lanes) {
  const int lane = threadIdx.x % BSI_WARP, each = BSI_WARP / lanes, group = lane / lanes;
  const int64_t warp = (blockIdx.x * static_cast<int64_t>(BLOCK_THREADS) + threadIdx.x) / BSI_WARP;
  const int64_t begin = warp * each;
  lanes_of_blocks l = {-1, 0, lane % lanes, group * lanes, false};
  if (begin >= blocks) return l;
  l.working = group < each && begin + group < blocks;
  l.position = l.working ? static_cast<int32_t>(begin + group) : blocks - 1;
  if (group >= each)
    l.position = static_cast<int32_t>(min(begin + each, static_cast<int64_t>(blocks)) - 1);
  l.row = rows_of_lanes(rows, row_ptr, row_of_block(rows, row_ptr, static_cast<int32_t>(begin)),
                        l.position);
  return l;
}

/* Loads consecutive values, which are aligned to 16 bytes if their number is even.
 *   COUNT: how many */
template <int COUNT>
__device__ __forceinline__ void load_cached(const double *from, double (&values)[COUNT]) {
  if constexpr (COUNT % 2 == 0) {
#pragma unroll
    for (int i = 0; i < COUNT; i += 2) {
      const double2 pair = __ldg(reinterpret_cast<const double2 *>(from + i));
      values[i] = pair.x;
      values[i + 1] = pair.y;
    }
  } else {
#pragma unroll
    for (int i = 0; i < COUNT; i++) values[i] = __ldg(from + i);
  }
}

/* The same with fewer requests for an odd number: pairs, and a single value before or behind
 * them.
 *   CACHED: through the read-only cache; otherwise from shared memory */
template <bool CACHED = true, int COUNT>
__device__ __forceinline__ void load_in_pairs(const double *from, double (&values)[COUNT]) {
  const auto one = [](const double *at) { return CACHED ? __ldg(at) : *at; };
  const auto two = [](const double *at) {
    const double2 *pair = reinterpret_cast<const double2 *>(at);
    return CACHED ? __ldg(pair) : *pair;
  };
  const bool before = COUNT % 2 != 0 && reinterpret_cast<uintptr_t>(from) % 16 != 0;
  constexpr int PAIRED = COUNT / 2 * 2;
  double loaded[PAIRED > 0 ? PAIRED : 1];
#pragma unroll
  for (int i = 0; i < PAIRED; i += 2) {
    const double2 pair = two(from + before + i);
    loaded[i] = pair.x;
    loaded[i + 1] = pair.y;
  }
  if constexpr (COUNT % 2 == 0) {
#pragma unroll
    for (int i = 0; i < COUNT; i++) values[i] = loaded[i];
  } else {
    const double single = one(from + (before ? 0 : PAIRED));
    values[0] = before || COUNT == 1 ? single : loaded[0];
#pragma unroll
    for (int i = 1; i < PAIRED; i++) values[i] = before ? loaded[i - 1] : loaded[i];
    if constexpr (COUNT > 1) values[PAIRED] = before ? loaded[PAIRED - 1] : single;
  }
}

/* Stores consecutive values in the same way. */
template <int COUNT>
__device__ __forceinline__ void store_in_pairs(const double (&values)[COUNT], double *to) {
  if constexpr (COUNT == 1) {
    to[0] = values[0];
  } else if constexpr (COUNT % 2 == 0) {
#pragma unroll
    for (int i = 0; i < COUNT; i += 2)
      *reinterpret_cast<double2 *>(to + i) = make_double2(values[i], values[i + 1]);
  } else {
    const bool before = reinterpret_cast<uintptr_t>(to) % 16 != 0;
    to[before ? 0 : COUNT - 1] = before ? values[0] : values[COUNT - 1];
#pragma unroll
    for (int i = 0; i < COUNT - 1; i += 2)
      *reinterpret_cast<double2 *>(to + before + i) =
          before ? make_double2(values[i + 1], values[i + 2])
                 : make_double2(values[i], values[i + 1]);
  }
}

} // namespace

/* What the making of a structure reports. */
struct bsi_structure_report {
  static constexpr int firsts = 0;
  /* the first row that ends beyond int32, and 1 if there is one */
  unsigned long long overflow_row, overflows;
  /* of all rows, and of the longest one */
  unsigned long long total, longest;
  /* lengths of the lists of rows that small tables, and large ones, cannot hold */
  unsigned long long listed, long_count;
};

/* The lengths of the rows of a structure that is counted, and their ends. */
struct bsi_lengths {
  int32_t rows;
  /* row_ptr is cut off there */
  int64_t most_blocks = INT64_MAX;
  bsi_structure_report *report;
  int64_t *of_rows = nullptr, *ends = nullptr;
  char *room;
  size_t room_bytes;
};

/* row_lengths_cuda.cu. The report is the record of the context. */
bisai_status bsi_lengths_reserve(bsi_temporary *memory, int32_t rows, bsi_lengths *lengths);

/* Enqueues row_ptr from the lengths of the rows. The report gets the total. */
bisai_status bsi_lengths_add(bisai_context *context, bsi_lengths *lengths, int32_t *row_ptr);

/* Fetches the record of the context and, unless it is NULL, `other`. Refuses a total beyond int32
 * unless it is beyond `most`. The message calls the matrix `name`. Waits once. */
bisai_status bsi_lengths_fetch(bisai_context *context, const char *name, int64_t most,
                               bsi_structure_report *report, const bsi_fetched *other = nullptr);

/* symbolic_cuda.cu */
int32_t *bsi_reserve_indices(bisai_context *context, size_t count);

/* multiply_structure() of bsi_spgemm_ops. */
bisai_status bsi_multiply_structure(bisai_context *context, const bsi_block_matrix *a,
                                    const bsi_block_matrix *b, int64_t most, bsi_block_matrix *c);

/* Structures that have been enqueued before: their reports, and the blocks for which there is room.
 */
struct bsi_enqueued {
  enum { MOST = 3 };
  int count;
  const bsi_structure_report *there;
  bsi_structure_report here[MOST];
  int64_t room[MOST];
  /* Returns true if they have all blocks. The reports have been fetched. */
  bool whole() const {
    bool all = true;
    for (int k = 0; k < count; k++)
      all = all && here[k].long_count == 0 &&
            here[k].total <= static_cast<unsigned long long>(room[k]);
    return all;
  }
};

/* The same for factors that have been enqueued, whose reports are fetched too. c is left without
 * row_ptr if one of them lacks blocks. */
bisai_status bsi_multiply_enqueued(bisai_context *context, const bsi_block_matrix *a,
                                   const bsi_block_matrix *b, int64_t most, bsi_enqueued *factors,
                                   bsi_block_matrix *c);

/* c ← the structure of a·b, without a wait. Reserves room for `most` blocks, where c is cut off.
 * The report, which has begun, gets the numbers. It has a long_count if c lacks rows. b->blocks and
 * a->blocks may be guesses; c->blocks is not set. */
bisai_status bsi_enqueue_structure(bisai_context *context, const bsi_block_matrix *a,
                                   const bsi_block_matrix *b, int32_t most,
                                   bsi_structure_report *report, bsi_block_matrix *c);

/* product_slots_cuda.cu: makes the slots of c = a·b, whose structure is there, unless they are too
 * many. Waits. */
bisai_status bsi_find_product_slots(bisai_context *context, const bsi_block_matrix *a,
                                    const bsi_block_matrix *b, bsi_block_matrix *c);
/* The same file: makes c->slots.upper. */
bisai_status bsi_find_upper(bisai_context *context, bsi_block_matrix *c);

/* orthonormal_cuda.cu: orthonormalise() of bsi_transfer_ops. */
bisai_status bsi_orthonormalise(bisai_context *context, const bsi_block_matrix *transposed,
                                const double *vectors, double tolerance, bsi_block_matrix *t,
                                double *coarse);

#endif
