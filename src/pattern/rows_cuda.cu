/* SPDX-License-Identifier: BSD-3-Clause */
/* The rows of S(|T|^k) on a device, but for the long ones: a breadth-first search of k steps from
 * each block row. */
#include "pattern/search_cuda.cuh"

namespace {

/* Thread blocks for the rows of a list, whose number the host does not know. Not measured. */
enum { LISTED_BLOCKS = 512 };

/* S(|T|): the columns in the triangle, and the row's own between them. BSI_PATTERN_READERS lanes
 * take a row.
 *   WRITE: write the rows, which were counted before */
template <bool WRITE>
__global__ void __launch_bounds__(BSI_PATTERN_THREADS) copy_rows(const bsi_search s) {
  const int32_t row = static_cast<int32_t>(
      (blockIdx.x * static_cast<int64_t>(BSI_PATTERN_THREADS) + threadIdx.x) / BSI_PATTERN_READERS);
  if (row >= s.n) return;
  const int member = threadIdx.x % BSI_PATTERN_READERS,
            shift = threadIdx.x % BSI_WARP / BSI_PATTERN_READERS * BSI_PATTERN_READERS;
  const unsigned mask = ((1u << BSI_PATTERN_READERS) - 1u) << shift;
  const int32_t begin = __ldg(s.row_ptr + row), end = __ldg(s.row_ptr + row + 1);
  const int32_t start = WRITE ? s.found_ptr[row] : 0;
  int32_t count = 0, before = 0;
  for (int32_t q = begin; q < end; q += BSI_PATTERN_READERS) {
    const int32_t column = q + member < end ? __ldg(s.col_idx + q + member) : row;
    const bool inside = bsi_in_triangle(s, row, column);
    const unsigned all = __ballot_sync(mask, inside) >> shift;
    if (inside) {
      if (WRITE)
        bsi_put_entry(s, row, start + (column > row) + count + __popc(all & ((1u << member) - 1u)),
                      column);
      else
        bsi_count_entry(s, column);
    }
    count += __popc(all);
    before += __popc(__ballot_sync(mask, column < row && inside) >> shift);
  }
  if (member != 0) return;
  if (WRITE) {
    bsi_put_entry(s, row, start + before, row);
  } else {
    bsi_count_entry(s, row);
    s.lengths[row] = count + 1;
  }
}

/* Sizes of a search: the lanes of a row, the most columns that they hold, and the bits of an index
 * of the hash table. More lanes and a larger table leave room for fewer rows (docs/tuning.md,
 * "Patterns"). */
struct few {
  enum { LANES = 8, MOST = 64, BITS = 7 };
};
struct many {
  enum { LANES = BSI_WARP, MOST = 256, BITS = 10 };
};

/* The columns that a row has reached, in shared memory. The table stays at most half full.
 *   SIZE: few or many */
template <typename SIZE> struct reached {
  enum { TABLE = 1 << SIZE::BITS };
  /* columns, -1: free */
  int32_t table[TABLE];
  int32_t column[SIZE::MOST];
  /* more than MOST if the row is too long */
  int32_t count;
};

/* Adds a column unless it has been reached.
 *   SIZE: few or many */
template <typename SIZE> __device__ void insert(reached<SIZE> *r, int32_t column) {
  unsigned place = static_cast<unsigned>(column) * 2654435761u >> (32 - SIZE::BITS);
  for (;; place = (place + 1) % reached<SIZE>::TABLE) {
    const int32_t there = atomicCAS(&r->table[place], -1, column);
    if (there == column) return;
    if (there == -1) break;
  }
  const int32_t at = atomicAdd(&r->count, 1);
  if (at < SIZE::MOST) r->column[at] = column;
}

/* Searches from a row, by the lanes of `mask`. This lane is number `member` of them. */
template <typename SIZE>
__device__ void reach(const bsi_search &s, int32_t row, int member, unsigned mask, reached<SIZE> *r,
                      bsi_ring *g) {
  for (int k = member; k < reached<SIZE>::TABLE; k += SIZE::LANES) r->table[k] = -1;
  if (member == 0) r->count = 0;
  __syncwarp(mask);
  if (member == 0) insert(r, row);
  __syncwarp(mask);
  int32_t begin = 0, end = 1;
  for (int step = 0; step < s.power && begin < end; step++) {
    for (int32_t f = begin + member / BSI_PATTERN_READERS; f < end;
         f += SIZE::LANES / BSI_PATTERN_READERS) {
      const int32_t from = r->column[f], last = __ldg(s.row_ptr + from + 1);
      for (int32_t q = __ldg(s.row_ptr + from) + member % BSI_PATTERN_READERS; q < last;
           q += BSI_PATTERN_READERS) {
        if (*static_cast<volatile int32_t *>(&r->count) > SIZE::MOST) break;
        const int32_t column = __ldg(s.col_idx + q);
        if (bsi_in_triangle(s, from, column)) insert(r, column);
      }
    }
    __syncwarp(mask);
    begin = end;
    end = r->count;
    __syncwarp(mask);
    if (end > SIZE::MOST) return;
    bsi_note_ring(s, begin, end, g);
  }
}

/* Replaces the columns that the row does not keep by INT32_MAX. It keeps those before the ring, and
 * the nearest to the diagonal of those in the ring. */
template <typename SIZE>
__device__ void leave_out(const bsi_search &s, int member, unsigned mask, const bsi_ring &g,
                          reached<SIZE> *r) {
  unsigned out = 0; /* a bit for each column of the lane */
  for (int32_t k = member; k < r->count; k += SIZE::LANES) {
    int32_t nearer = k >= g.end ? s.limit : k < g.begin ? -g.begin : 0;
    for (int32_t other = g.begin; k >= g.begin && k < g.end && other < g.end; other++)
      nearer += bsi_distance(s, r->column[other]) < bsi_distance(s, r->column[k]);
    if (nearer >= s.limit - g.begin) out |= 1u << k / SIZE::LANES;
  }
  static_assert(static_cast<int>(SIZE::MOST) <= 32 * SIZE::LANES, "a bit for each");
  __syncwarp(mask);
  for (int32_t k = member; k < r->count; k += SIZE::LANES)
    if ((out >> k / SIZE::LANES & 1u) != 0) r->column[k] = INT32_MAX;
  __syncwarp(mask);
}

/* Counts a row, or adds it to a list if it is too long. */
template <typename SIZE>
__device__ void count_row(const bsi_search &s, int32_t row, int member, unsigned mask,
                          reached<SIZE> *r) {
  constexpr bool SMALL = SIZE::MOST == few::MOST;
  bsi_ring g = {};
  reach(s, row, member, mask, r, &g);
  const int32_t count = r->count;
  if (count > SIZE::MOST) {
    if (member == 0) {
      unsigned long long *length = SMALL ? &s.report->middle_count : &s.report->long_count;
      (SMALL ? s.middle_rows : s.long_rows)[atomicAdd(length, 1ull)] = row;
      s.lengths[row] = 0; /* counted later */
    }
    return;
  }
  for (int32_t k = member; k < count; k += SIZE::LANES) bsi_count_entry(s, r->column[k]);
  if (member == 0) s.lengths[row] = bsi_shorten(s, count);
}

/* Writes a row. The place of a column is the number of smaller ones. */
template <typename SIZE>
__device__ void write_row(const bsi_search &s, int32_t row, int member, unsigned mask,
                          reached<SIZE> *r) {
  const int32_t start = s.found_ptr[row];
  if (s.found_ptr[row + 1] - start > SIZE::MOST) return;
  bsi_ring g = {};
  reach(s, row, member, mask, r, &g);
  const int32_t count = r->count;
  if (count > SIZE::MOST) return;
  if (s.limit > 0 && count > s.limit) leave_out(s, member, mask, g, r);
  for (int32_t k = member; k < count; k += SIZE::LANES) {
    const int32_t column = r->column[k];
    if (column == INT32_MAX) continue;
    int32_t before = 0;
    for (int32_t other = 0; other < count; other++) before += r->column[other] < column;
    bsi_put_entry(s, row, start + before, column);
  }
}

/* Counts or writes the rows that a few lanes can hold.
 *   WRITE: write the rows, which were counted before */
template <bool WRITE>
__global__ void __launch_bounds__(BSI_PATTERN_THREADS) search_rows(const bsi_search s) {
  constexpr int LANES = few::LANES;
  __shared__ reached<few> all[BSI_PATTERN_THREADS / LANES];
  const int member = threadIdx.x % LANES, group = threadIdx.x / LANES;
  const unsigned mask = ((1u << LANES) - 1u) << threadIdx.x % BSI_WARP / LANES * LANES;
  const int64_t row = blockIdx.x * static_cast<int64_t>(BSI_PATTERN_THREADS / LANES) + group;
  if (row >= s.n) return;
  if (WRITE)
    write_row(s, static_cast<int32_t>(row), member, mask, &all[group]);
  else
    count_row(s, static_cast<int32_t>(row), member, mask, &all[group]);
}

/* The same for the rows in the list that search_rows() makes.
 *   WRITE: as there */
template <bool WRITE>
__global__ void __launch_bounds__(BSI_PATTERN_THREADS) search_listed(const bsi_search s) {
  __shared__ reached<many> all[BSI_PATTERN_THREADS / BSI_WARP];
  const int lane = threadIdx.x % BSI_WARP, warp = threadIdx.x / BSI_WARP;
  const int64_t count = static_cast<int64_t>(s.report->middle_count);
  for (int64_t k = blockIdx.x * static_cast<int64_t>(BSI_PATTERN_THREADS / BSI_WARP) + warp;
       k < count; k += gridDim.x * static_cast<int64_t>(BSI_PATTERN_THREADS / BSI_WARP)) {
    if (WRITE)
      write_row(s, s.middle_rows[k], lane, BSI_FULL_WARP, &all[warp]);
    else
      count_row(s, s.middle_rows[k], lane, BSI_FULL_WARP, &all[warp]);
    __syncwarp();
  }
}

} // namespace

bisai_status bsi_pattern_count_rows(bisai_context *context, const bsi_search &s) {
  const bsi_gpu_stream stream = bsi_stream_of(context);
  if (s.power == 1 && s.limit == 0) {
    copy_rows<false>
        <<<bsi_pattern_grid(s.n, BSI_PATTERN_READERS), BSI_PATTERN_THREADS, 0, stream>>>(s);
  } else {
    search_rows<false><<<bsi_pattern_grid(s.n, few::LANES), BSI_PATTERN_THREADS, 0, stream>>>(s);
    search_listed<false><<<LISTED_BLOCKS, BSI_PATTERN_THREADS, 0, stream>>>(s);
  }
  return bsi_launched(context, "pattern, lengths of rows");
}

bisai_status bsi_pattern_write_rows(bisai_context *context, const bsi_search &s) {
  const bsi_gpu_stream stream = bsi_stream_of(context);
  if (s.power == 1 && s.limit == 0) {
    copy_rows<true>
        <<<bsi_pattern_grid(s.n, BSI_PATTERN_READERS), BSI_PATTERN_THREADS, 0, stream>>>(s);
  } else {
    search_rows<true><<<bsi_pattern_grid(s.n, few::LANES), BSI_PATTERN_THREADS, 0, stream>>>(s);
    search_listed<true><<<LISTED_BLOCKS, BSI_PATTERN_THREADS, 0, stream>>>(s);
  }
  return bsi_launched(context, "pattern, rows");
}
