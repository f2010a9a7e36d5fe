/* SPDX-License-Identifier: BSD-3-Clause */
/* S(|T|^k) on the device, twice: once to count and once to write. Rows of S(|T|) are those of T's
 * triangle. Further powers are a breadth-first search of k steps from every block row: what a row
 * has reached is kept in a hash table in shared memory, by a few lanes in a small one, by a warp in
 * a larger one where that is full, and for the few rows that reach still more by a thread block in
 * global memory with one bit for every block row.
 *
 * The columns' lengths are counted with the rows'. Entries come to their column in any order and
 * are then put where as many are before them, so that rows ascend and nothing depends on the order
 * in which threads run; where columns are long a stable sort by column does it. */
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>

#include "core/bcsr_impl.h"
#include "core/context_impl.h"
#include "gpu/launch.cuh"
#include "gpu/temporary.cuh"
#include "pattern/pattern_impl.h"
#include "pattern/pattern_ops.h"

namespace {

enum {
  THREADS = 128,
  /* lanes that read a row of T together */
  READERS = 4,
  /* thread blocks for the rows of a list */
  LISTED_BLOCKS = 512,
  /* of a thread block that does a long row */
  LONG_THREADS = 1024,
  LONG_BLOCKS = 64,
  /* lanes that put a column in order … */
  SORTERS = 8,
  /* … unless it is longer, as that takes the square of its length */
  LONG_COLUMN = 256
};

/* The context's words, as this file uses them: the first row that ends beyond int32; rows shortened
 * and blocks left out; lengths of the two lists; blocks of all rows; the longest column. */
enum { OVERFLOWS, CUT, CUT_BLOCKS, MIDDLE_COUNT, LONG_COUNT, TOTAL, LONGEST, WORDS };
static_assert(static_cast<int>(WORDS) <= static_cast<int>(BSI_FAULTS), "the context has them");

struct search {
  int32_t n;
  bisai_triangle triangle;
  int power;
  /* of a row's length, 0: none */
  int32_t limit;
  unsigned long long *words;
  /* of T */
  const int32_t *row_ptr, *col_idx;
  /* of the rows found; counted */
  int64_t *lengths;
  /* those that are too long for the small table, and for the larger one */
  int32_t *middle_rows, *long_rows;
  /* NULL, or counted: of the columns */
  int32_t *col_count;
  /* of the pattern; written: */
  const int32_t *found_ptr;
  int32_t *found_col;
  /* NULL, or where the next entry of each column goes, … */
  int32_t *next;
  /* … each its place in the row form, and its row */
  int2 *entries;
};

__device__ bool in_triangle(const search &s, int32_t row, int32_t column) {
  return s.triangle == BISAI_LOWER ? column < row : column > row;
}

/* Columns that a row found in the step that goes beyond the limit: [begin, end) of those found, in
 * the order of steps. */
struct ring {
  int32_t begin, end;
};

__device__ void note_ring(const search &s, int32_t before, int32_t after, ring *g) {
  if (s.limit > 0 && after > s.limit && before <= s.limit) *g = {before, after};
}

/* What a row of `count` columns keeps; what it does not is counted. */
__device__ int32_t shorten(const search &s, int32_t count) {
  if (s.limit == 0 || count <= s.limit) return count;
  atomicAdd(s.words + CUT, 1ull);
  atomicAdd(s.words + CUT_BLOCKS, static_cast<unsigned long long>(count - s.limit));
  return s.limit;
}

/* How far from the diagonal, in its own triangle, a column is: the smaller the nearer. */
__device__ int32_t distance(const search &s, int32_t column) {
  return s.triangle == BISAI_LOWER ? s.n - 1 - column : column;
}

/* An entry of the pattern, counted or written. */
__device__ __forceinline__ void tally(const search &s, int32_t column) {
  if (s.col_count) atomicAdd(s.col_count + column, 1);
}
__device__ __forceinline__ void put(const search &s, int32_t row, int32_t at, int32_t column) {
  s.found_col[at] = column;
  if (s.next) s.entries[atomicAdd(s.next + column, 1)] = make_int2(at, row);
}

/* S(|T|), a few lanes a row: the columns in the triangle, and the row's own before or behind
 * them. */
template <bool WRITE> __global__ void __launch_bounds__(THREADS) copy_rows(const search s) {
  const int32_t row =
      static_cast<int32_t>((blockIdx.x * static_cast<int64_t>(THREADS) + threadIdx.x) / READERS);
  if (row >= s.n) return;
  const int member = threadIdx.x % READERS, shift = threadIdx.x % BSI_WARP / READERS * READERS;
  const unsigned mask = ((1u << READERS) - 1u) << shift;
  const int32_t begin = __ldg(s.row_ptr + row), end = __ldg(s.row_ptr + row + 1);
  const bool upper = s.triangle == BISAI_UPPER;
  const int32_t start = WRITE ? s.found_ptr[row] : 0;
  int32_t count = 0;
  for (int32_t q = begin; q < end; q += READERS) {
    const int32_t column = q + member < end ? __ldg(s.col_idx + q + member) : row;
    const bool inside = in_triangle(s, row, column);
    const unsigned all = __ballot_sync(mask, inside) >> shift;
    if (inside) {
      if (WRITE)
        put(s, row, start + upper + count + __popc(all & ((1u << member) - 1u)), column);
      else
        tally(s, column);
    }
    count += __popc(all);
  }
  if (member != 0) return;
  if (WRITE) {
    put(s, row, upper ? start : start + count, row);
  } else {
    tally(s, row);
    s.lengths[row] = count + 1;
  }
}

/* How many lanes search from a row, and what they can hold. */
struct few {
  enum { LANES = 8, MOST = 64, BITS = 7 };
};
struct many {
  enum { LANES = BSI_WARP, MOST = 256, BITS = 10 };
};

/* One row's search in shared memory. The table stays at most half full. */
template <typename SIZE> struct reached {
  enum { TABLE = 1 << SIZE::BITS };
  /* -1: free */
  int32_t table[TABLE];
  int32_t column[SIZE::MOST];
  /* may exceed MOST: then the row is too long */
  int32_t count;
};

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

/* By the lanes of `mask`, of which this is number `member`. */
template <typename SIZE>
__device__ void reach(const search &s, int32_t row, int member, unsigned mask, reached<SIZE> *r,
                      ring *g) {
  for (int k = member; k < reached<SIZE>::TABLE; k += SIZE::LANES) r->table[k] = -1;
  if (member == 0) r->count = 0;
  __syncwarp(mask);
  if (member == 0) insert(r, row);
  __syncwarp(mask);
  int32_t begin = 0, end = 1;
  for (int step = 0; step < s.power && begin < end; step++) {
    for (int32_t f = begin + member / READERS; f < end; f += SIZE::LANES / READERS) {
      const int32_t from = r->column[f], last = __ldg(s.row_ptr + from + 1);
      for (int32_t q = __ldg(s.row_ptr + from) + member % READERS; q < last; q += READERS) {
        if (*static_cast<volatile int32_t *>(&r->count) > SIZE::MOST) break;
        const int32_t column = __ldg(s.col_idx + q);
        if (in_triangle(s, from, column)) insert(r, column);
      }
    }
    __syncwarp(mask);
    begin = end;
    end = r->count;
    __syncwarp(mask);
    if (end > SIZE::MOST) return;
    note_ring(s, begin, end, g);
  }
}

/* Of the columns in the ring those nearest to the diagonal are kept, and none behind it. */
template <typename SIZE>
__device__ void leave_out(const search &s, int member, unsigned mask, const ring &g,
                          reached<SIZE> *r) {
  unsigned out = 0; /* a bit for each of the lane's columns */
  for (int32_t k = member; k < r->count; k += SIZE::LANES) {
    int32_t nearer = k >= g.end ? s.limit : k < g.begin ? -g.begin : 0;
    for (int32_t other = g.begin; k >= g.begin && k < g.end && other < g.end; other++)
      nearer += distance(s, r->column[other]) < distance(s, r->column[k]);
    if (nearer >= s.limit - g.begin) out |= 1u << k / SIZE::LANES;
  }
  static_assert(static_cast<int>(SIZE::MOST) <= 32 * SIZE::LANES, "a bit for each");
  __syncwarp(mask);
  for (int32_t k = member; k < r->count; k += SIZE::LANES)
    if ((out >> k / SIZE::LANES & 1u) != 0) r->column[k] = INT32_MAX;
  __syncwarp(mask);
}

/* Too long a row goes to a list. */
template <typename SIZE>
__device__ void count_row(const search &s, int32_t row, int member, unsigned mask,
                          reached<SIZE> *r) {
  constexpr bool SMALL = SIZE::MOST == few::MOST;
  ring g = {};
  reach(s, row, member, mask, r, &g);
  const int32_t count = r->count;
  if (count > SIZE::MOST) {
    if (member == 0) {
      (SMALL ? s.middle_rows
             : s.long_rows)[atomicAdd(s.words + (SMALL ? MIDDLE_COUNT : LONG_COUNT), 1ull)] = row;
      s.lengths[row] = 0; /* found later */
    }
    return;
  }
  for (int32_t k = member; k < count; k += SIZE::LANES) tally(s, r->column[k]);
  if (member == 0) s.lengths[row] = shorten(s, count);
}

/* Every column goes where as many smaller ones are before it. */
template <typename SIZE>
__device__ void write_row(const search &s, int32_t row, int member, unsigned mask,
                          reached<SIZE> *r) {
  const int32_t start = s.found_ptr[row];
  if (s.found_ptr[row + 1] - start > SIZE::MOST) return;
  ring g = {};
  reach(s, row, member, mask, r, &g);
  const int32_t count = r->count;
  if (count > SIZE::MOST) return;
  if (s.limit > 0 && count > s.limit) leave_out(s, member, mask, g, r);
  for (int32_t k = member; k < count; k += SIZE::LANES) {
    const int32_t column = r->column[k];
    if (column == INT32_MAX) continue;
    int32_t before = 0;
    for (int32_t other = 0; other < count; other++) before += r->column[other] < column;
    put(s, row, start + before, column);
  }
}

template <bool WRITE> __global__ void __launch_bounds__(THREADS) search_rows(const search s) {
  constexpr int LANES = few::LANES;
  __shared__ reached<few> all[THREADS / LANES];
  const int member = threadIdx.x % LANES, group = threadIdx.x / LANES;
  const unsigned mask = ((1u << LANES) - 1u) << threadIdx.x % BSI_WARP / LANES * LANES;
  const int64_t row = blockIdx.x * static_cast<int64_t>(THREADS / LANES) + group;
  if (row >= s.n) return;
  if (WRITE)
    write_row(s, static_cast<int32_t>(row), member, mask, &all[group]);
  else
    count_row(s, static_cast<int32_t>(row), member, mask, &all[group]);
}

/* The rows of the list that search_rows() makes. */
template <bool WRITE> __global__ void __launch_bounds__(THREADS) search_listed(const search s) {
  __shared__ reached<many> all[THREADS / BSI_WARP];
  const int lane = threadIdx.x % BSI_WARP, warp = threadIdx.x / BSI_WARP;
  const int64_t count = static_cast<int64_t>(s.words[MIDDLE_COUNT]);
  for (int64_t k = blockIdx.x * static_cast<int64_t>(THREADS / BSI_WARP) + warp; k < count;
       k += gridDim.x * static_cast<int64_t>(THREADS / BSI_WARP)) {
    if (WRITE)
      write_row(s, s.middle_rows[k], lane, BSI_FULL_WARP, &all[warp]);
    else
      count_row(s, s.middle_rows[k], lane, BSI_FULL_WARP, &all[warp]);
    __syncwarp();
  }
}

/* As leave_out(), by a thread block: bits of the columns that are not kept are taken back. Which
 * distance is too far is found by halving. */
__device__ void leave_bits_out(const search &s, const ring &g, int32_t count, const int32_t *list,
                               unsigned *bits) {
  const int thread = threadIdx.x;
  int32_t near = 0, far = s.n; /* at most what may be kept is nearer than `near` */
  while (near < far) {
    const int32_t middle = near + (far - near + 1) / 2;
    int32_t nearer = 0;
    for (int32_t f = g.begin; f < g.end; f += LONG_THREADS)
      nearer += __syncthreads_count(f + thread < g.end && distance(s, list[f + thread]) < middle);
    if (nearer <= s.limit - g.begin)
      near = middle;
    else
      far = middle - 1;
  }
  for (int32_t f = g.begin + thread; f < count; f += LONG_THREADS)
    if (f >= g.end || distance(s, list[f]) >= near)
      atomicAnd(bits + list[f] / 32, ~(1u << list[f] % 32));
  __syncthreads();
}

/* Long rows: a bit for every block row that is reached, and a list of them for the next step.
 * Thread blocks own `words` bits and n entries of the list each; the bits are zero before and
 * after. With WRITE the bits are read out in order. */
template <bool WRITE>
__global__ void __launch_bounds__(LONG_THREADS)
    do_long_rows(const search s, int32_t words, unsigned *bits, int32_t *list) {
  __shared__ int32_t count, of_thread[LONG_THREADS];
  bits += static_cast<int64_t>(blockIdx.x) * words;
  list += static_cast<int64_t>(blockIdx.x) * s.n;
  const int thread = threadIdx.x;
  for (int32_t k = blockIdx.x; k < static_cast<int32_t>(s.words[LONG_COUNT]); k += gridDim.x) {
    const int32_t row = s.long_rows[k];
    if (thread == 0) {
      list[0] = row;
      bits[row / 32] |= 1u << row % 32;
      count = 1;
    }
    __syncthreads();
    int32_t begin = 0, end = 1;
    ring g = {};
    for (int step = 0; step < s.power && begin < end; step++) {
      for (int32_t f = begin + thread / BSI_WARP; f < end; f += LONG_THREADS / BSI_WARP) {
        const int32_t from = list[f], last = s.row_ptr[from + 1];
        for (int32_t q = s.row_ptr[from] + thread % BSI_WARP; q < last; q += BSI_WARP) {
          const int32_t column = s.col_idx[q];
          const unsigned bit = 1u << column % 32;
          if (!in_triangle(s, from, column) || (atomicOr(bits + column / 32, bit) & bit) != 0)
            continue;
          list[atomicAdd(&count, 1)] = column;
        }
      }
      __syncthreads();
      begin = end;
      end = count;
      note_ring(s, begin, end, &g);
      __syncthreads();
    }
    if (WRITE && s.limit > 0 && end > s.limit) leave_bits_out(s, g, end, list, bits);
    if (!WRITE && thread == 0) s.lengths[row] = shorten(s, end);
    /* Each thread's words, then how many bits come before them. */
    const int32_t each = (words + LONG_THREADS - 1) / LONG_THREADS,
                  first = min(thread * each, words), last = min(first + each, words);
    int32_t mine = 0;
    for (int32_t w = first; w < last; w++) mine += __popc(bits[w]);
    of_thread[thread] = mine;
    __syncthreads();
    int32_t place = WRITE ? s.found_ptr[row] : 0;
    for (int t = 0; WRITE && mine > 0 && t < thread; t++) place += of_thread[t];
    for (int32_t w = first; w < last; w++) {
      for (unsigned left = bits[w]; WRITE && left != 0; left &= left - 1, place++) {
        s.found_col[place] = w * 32 + __ffs(static_cast<int>(left)) - 1;
      }
      bits[w] = 0;
    }
    __syncthreads();
  }
}

/* ends[i] is where row i ends; the first that no int32 holds is reported. */
__global__ void narrow(int32_t n, const int64_t *ends, int32_t *row_ptr,
                       unsigned long long *words) {
  const int32_t i = static_cast<int32_t>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= n) return;
  if (i == 0) row_ptr[0] = 0;
  row_ptr[i + 1] = static_cast<int32_t>(ends[i]);
  if (ends[i] > INT32_MAX) atomicMin(words + OVERFLOWS, static_cast<unsigned long long>(i));
  if (i == n - 1) words[TOTAL] = static_cast<unsigned long long>(ends[i]);
}

/* From where the columns begin: the longest of them, and where the first entry of each goes. */
__global__ void open_columns(int32_t n, const int32_t *col_ptr, int32_t *next,
                             unsigned long long *words) {
  const int32_t j = static_cast<int32_t>(blockIdx.x * blockDim.x + threadIdx.x);
  const int32_t begin = j < n ? col_ptr[j] : 0;
  int32_t most = j < n ? col_ptr[j + 1] - begin : 0;
  if (j < n) next[j] = begin;
  for (int step = BSI_WARP / 2; step > 0; step /= 2)
    most = max(most, __shfl_xor_sync(BSI_FULL_WARP, most, step));
  if (threadIdx.x % BSI_WARP == 0)
    atomicMax(words + LONGEST, static_cast<unsigned long long>(most));
}

/* The entries of rows that are there already. */
template <bool WRITE> __global__ void __launch_bounds__(THREADS) take_rows(const search s) {
  const int64_t row = (blockIdx.x * static_cast<int64_t>(THREADS) + threadIdx.x) / READERS;
  if (row >= s.n) return;
  for (int32_t q = s.found_ptr[row] + static_cast<int32_t>(threadIdx.x % READERS);
       q < s.found_ptr[row + 1]; q += READERS) {
    if (WRITE)
      put(s, static_cast<int32_t>(row), q, s.found_col[q]);
    else
      tally(s, s.found_col[q]);
  }
}

/* A column's entries go where as many are before them. */
__global__ void __launch_bounds__(THREADS)
    sort_entries(int32_t n, const int32_t *col_ptr, const int2 *entries, int32_t *position,
                 int32_t *row_idx) {
  const int64_t j = (blockIdx.x * static_cast<int64_t>(THREADS) + threadIdx.x) / SORTERS;
  if (j >= n) return;
  const int32_t begin = col_ptr[j], end = col_ptr[j + 1];
  for (int32_t t = begin + static_cast<int32_t>(threadIdx.x % SORTERS); t < end; t += SORTERS) {
    const int2 mine = entries[t];
    int32_t at = begin;
    for (int32_t other = begin; other < end; other++) at += __ldg(&entries[other].x) < mine.x;
    position[at] = mine.x;
    row_idx[at] = mine.y;
  }
}

/* The same by a stable sort of all entries by column. */
__global__ void number(int32_t count, int32_t *index) {
  const int32_t i = static_cast<int32_t>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < count) index[i] = i;
}

__global__ void __launch_bounds__(THREADS)
    name_rows(int32_t n, const int32_t *row_ptr, int32_t *row_of) {
  const int64_t row = (blockIdx.x * static_cast<int64_t>(THREADS) + threadIdx.x) / READERS;
  if (row >= n) return;
  for (int32_t q = row_ptr[row] + static_cast<int32_t>(threadIdx.x % READERS); q < row_ptr[row + 1];
       q += READERS)
    row_of[q] = static_cast<int32_t>(row);
}

__global__ void name_positions(int32_t count, const int32_t *position, const int32_t *row_of,
                               int32_t *row_idx) {
  const int32_t t = static_cast<int32_t>(blockIdx.x * blockDim.x + threadIdx.x);
  if (t < count) row_idx[t] = row_of[position[t]];
}

bisai_status device_failure(bisai_context *context, cudaError_t error) {
  return bsi_fail(context, BISAI_DEVICE_ERROR, "pattern: %s", cudaGetErrorString(error));
}

int32_t *integers(bisai_context *context, size_t count) {
  return static_cast<int32_t *>(
      context->backend->memory->allocate(context, count, sizeof(int32_t)));
}

/* Groups of `lanes` for `rows` rows. */
unsigned grid_of(int32_t rows, int lanes) {
  return bsi_grid(static_cast<int64_t>(rows) * lanes, THREADS);
}

template <bool WRITE>
bisai_status long_rows(bisai_context *context, const search &s, int32_t count) {
  const int32_t words = (s.n + 31) / 32, blocks = count < LONG_BLOCKS ? count : LONG_BLOCKS;
  bsi_temporary memory(context);
  unsigned *bits = memory.reserve<unsigned>(static_cast<size_t>(blocks) * words);
  int32_t *list = memory.reserve<int32_t>(static_cast<size_t>(blocks) * s.n);
  if (!memory.complete) return BISAI_OUT_OF_MEMORY;
  const cudaStream_t stream = bsi_stream_of(context);
  const cudaError_t error =
      cudaMemsetAsync(bits, 0, static_cast<size_t>(blocks) * words * sizeof *bits, stream);
  if (error != cudaSuccess) return device_failure(context, error);
  do_long_rows<WRITE><<<blocks, LONG_THREADS, 0, stream>>>(s, words, bits, list);
  return bsi_launched(context, "pattern, long rows");
}

/* The rows' and, where they are counted, the columns' lengths, but for the longest rows. */
bisai_status count_all(bisai_context *context, const search &s) {
  const cudaStream_t stream = bsi_stream_of(context);
  if (s.power == 1 && s.limit == 0) {
    copy_rows<false><<<grid_of(s.n, READERS), THREADS, 0, stream>>>(s);
  } else {
    search_rows<false><<<grid_of(s.n, few::LANES), THREADS, 0, stream>>>(s);
    search_listed<false><<<LISTED_BLOCKS, THREADS, 0, stream>>>(s);
  }
  return bsi_launched(context, "pattern, lengths of rows");
}

bisai_status write_all(bisai_context *context, const search &s) {
  const cudaStream_t stream = bsi_stream_of(context);
  if (s.power == 1 && s.limit == 0) {
    copy_rows<true><<<grid_of(s.n, READERS), THREADS, 0, stream>>>(s);
  } else {
    search_rows<true><<<grid_of(s.n, few::LANES), THREADS, 0, stream>>>(s);
    search_listed<true><<<LISTED_BLOCKS, THREADS, 0, stream>>>(s);
  }
  return bsi_launched(context, "pattern, rows");
}

/* Forgets what the words held. */
cudaError_t clear_words(bisai_context *context) {
  const cudaStream_t stream = bsi_stream_of(context);
  const cudaError_t error = cudaMemsetAsync(context->first_fault + 1, 0,
                                            (WORDS - 1) * sizeof *context->first_fault, stream);
  return error ? error
               : cudaMemsetAsync(context->first_fault, 0xff, sizeof *context->first_fault, stream);
}

/* row_ptr from the rows' lengths, in `room` of `bytes`. */
cudaError_t add_lengths(bisai_context *context, const search &s, int64_t *ends, void *room,
                        size_t bytes, int32_t *row_ptr) {
  const cudaStream_t stream = bsi_stream_of(context);
  const cudaError_t error =
      cub::DeviceScan::InclusiveSum(room, bytes, s.lengths, ends, s.n, stream);
  if (error == cudaSuccess)
    narrow<<<bsi_grid(s.n, 256), 256, 0, stream>>>(s.n, ends, row_ptr, context->first_fault);
  return error;
}

/* col_ptr of n + 1 columns' lengths, of which the last is 0, and what else is known from it. */
cudaError_t add_columns(bisai_context *context, const search &s, void *room, size_t bytes,
                        int32_t *col_ptr, int32_t *next) {
  const cudaStream_t stream = bsi_stream_of(context);
  const cudaError_t error =
      cub::DeviceScan::ExclusiveSum(room, bytes, s.col_count, col_ptr, s.n + 1, stream);
  if (error == cudaSuccess)
    open_columns<<<bsi_grid(s.n, 256), 256, 0, stream>>>(s.n, col_ptr, next, context->first_fault);
  return error;
}

/* What a scan of n + 1 values needs. */
cudaError_t scan_bytes(int32_t n, size_t *bytes) {
  size_t rows = 0, columns = 0;
  cudaError_t error = cub::DeviceScan::InclusiveSum(
      nullptr, rows, static_cast<const int64_t *>(nullptr), static_cast<int64_t *>(nullptr), n);
  if (error == cudaSuccess)
    error = cub::DeviceScan::ExclusiveSum(nullptr, columns, static_cast<const int32_t *>(nullptr),
                                          static_cast<int32_t *>(nullptr), n + 1);
  *bytes = rows > columns ? rows : columns;
  return error;
}

bisai_status reserve_columns(bisai_context *context, bisai_pattern *p) {
  const size_t blocks = static_cast<size_t>(p->blocks);
  p->row_idx = integers(context, blocks);
  p->position = p->row_idx ? integers(context, blocks) : nullptr;
  return p->position ? BISAI_OK : BISAI_OUT_OF_MEMORY;
}

/* The column form from entries that lie in their columns in any order. */
bisai_status order_columns(bisai_context *context, bisai_pattern *p, const int2 *entries) {
  sort_entries<<<grid_of(p->block_rows, SORTERS), THREADS, 0, bsi_stream_of(context)>>>(
      p->block_rows, p->col_ptr, entries, p->position, p->row_idx);
  return bsi_launched(context, "pattern, columns");
}

/* The column form from rows and col_ptr: a stable sort of the entries by column. */
bisai_status sort_columns(bisai_context *context, bisai_pattern *p) {
  const cudaStream_t stream = bsi_stream_of(context);
  const int32_t n = p->block_rows, count = p->blocks;
  int bits = 1;
  while (bits < 31 && n > 1 << bits) bits++;
  bsi_temporary memory(context);
  int32_t *index = memory.reserve<int32_t>(count), *sorted = memory.reserve<int32_t>(count),
          *row_of = memory.reserve<int32_t>(count);
  size_t bytes = 0;
  cudaError_t error = cub::DeviceRadixSort::SortPairs(nullptr, bytes, p->col_idx, sorted, index,
                                                      p->position, count, 0, bits, stream);
  char *room = memory.reserve<char>(bytes);
  if (!memory.complete) return BISAI_OUT_OF_MEMORY;
  number<<<bsi_grid(count, 256), 256, 0, stream>>>(count, index);
  name_rows<<<grid_of(n, READERS), THREADS, 0, stream>>>(n, p->row_ptr, row_of);
  if (error == cudaSuccess)
    error = cub::DeviceRadixSort::SortPairs(room, bytes, p->col_idx, sorted, index, p->position,
                                            count, 0, bits, stream);
  if (error != cudaSuccess) return device_failure(context, error);
  name_positions<<<bsi_grid(count, 256), 256, 0, stream>>>(count, p->position, row_of, p->row_idx);
  return bsi_launched(context, "pattern, columns");
}

} // namespace

/* Waits once, and where rows are very long once more. Columns are counted and written on the way
 * unless rows are shortened or very long. */
static bisai_status pattern_power(bisai_context *context, const bisai_bcsr *matrix, int power,
                                  int32_t row_limit, bisai_pattern *p) {
  const int32_t n = matrix->block_rows;
  const cudaStream_t stream = bsi_stream_of(context);
  bsi_temporary memory(context);
  search s = {};
  s.n = n;
  s.triangle = p->triangle;
  s.power = power;
  s.limit = row_limit;
  s.words = context->first_fault;
  s.row_ptr = matrix->row_ptr;
  s.col_idx = matrix->col_idx;
  p->row_ptr = integers(context, static_cast<size_t>(n) + 1);
  if (p->row_ptr && n == 0) p->col_idx = integers(context, 0);
  if (!p->row_ptr || (n == 0 && !p->col_idx)) return BISAI_OUT_OF_MEMORY;
  if (n == 0) {
    const cudaError_t error = cudaMemsetAsync(p->row_ptr, 0, sizeof *p->row_ptr, stream);
    return error == cudaSuccess ? BISAI_OK : device_failure(context, error);
  }
  const bool searches = power > 1 || row_limit > 0;
  size_t bytes = 0;
  cudaError_t error = scan_bytes(n, &bytes);
  s.lengths = memory.reserve<int64_t>(n);
  int64_t *ends = memory.reserve<int64_t>(n);
  char *room = memory.reserve<char>(bytes);
  if (searches) {
    s.middle_rows = memory.reserve<int32_t>(n);
    s.long_rows = memory.reserve<int32_t>(n);
  }
  int32_t *next = nullptr;
  if (row_limit == 0) {
    s.col_count = memory.reserve<int32_t>(static_cast<size_t>(n) + 1);
    next = memory.reserve<int32_t>(n);
    p->col_ptr = integers(context, static_cast<size_t>(n) + 1);
  }
  if (!memory.complete || (row_limit == 0 && !p->col_ptr)) return BISAI_OUT_OF_MEMORY;
  if (error == cudaSuccess) error = clear_words(context);
  if (error == cudaSuccess && s.col_count)
    error =
        cudaMemsetAsync(s.col_count, 0, (static_cast<size_t>(n) + 1) * sizeof *s.col_count, stream);
  if (error != cudaSuccess) return device_failure(context, error);
  bisai_status status = count_all(context, s);
  if (!status) error = add_lengths(context, s, ends, room, bytes, p->row_ptr);
  if (!status && error == cudaSuccess && s.col_count)
    error = add_columns(context, s, room, bytes, p->col_ptr, next);
  if (error != cudaSuccess) return device_failure(context, error);
  unsigned long long words[WORDS];
  if (!status)
    status = context->backend->memory->fetch(context, words, context->first_fault, sizeof words);
  const int32_t too_long = status ? 0 : static_cast<int32_t>(words[LONG_COUNT]);
  if (too_long > 0) {
    status = long_rows<false>(context, s, too_long);
    if (!status) error = add_lengths(context, s, ends, room, bytes, p->row_ptr);
    if (error != cudaSuccess) return device_failure(context, error);
    if (!status)
      status = context->backend->memory->fetch(context, words, context->first_fault, sizeof words);
  }
  if (status) return status;
  if (words[TOTAL] > INT32_MAX)
    return bsi_fail(context, BISAI_INDEX_OVERFLOW,
                    "block row %lld: S(|T|^%d) has more than %d blocks",
                    static_cast<long long>(words[OVERFLOWS]), power, INT32_MAX);
  p->blocks = static_cast<int32_t>(words[TOTAL]);
  p->cut = {static_cast<int32_t>(words[CUT]), static_cast<int64_t>(words[CUT_BLOCKS])};
  p->col_idx = integers(context, p->blocks);
  if (!p->col_idx) return BISAI_OUT_OF_MEMORY;
  s.found_ptr = p->row_ptr;
  s.found_col = p->col_idx;
  p->longest_column = static_cast<int32_t>(words[LONGEST]);
  const bool with_columns = row_limit == 0 && too_long == 0 && p->longest_column <= LONG_COLUMN;
  if (with_columns) {
    status = reserve_columns(context, p);
    s.entries = memory.reserve<int2>(p->blocks);
    s.next = next;
    if (status || !memory.complete) return BISAI_OUT_OF_MEMORY;
  } else { /* pattern_columns() makes them */
    context->backend->memory->release(context, p->col_ptr);
    p->col_ptr = nullptr;
  }
  status = write_all(context, s);
  if (!status && too_long > 0) status = long_rows<true>(context, s, too_long);
  if (!status && with_columns) status = order_columns(context, p, s.entries);
  return status;
}

static bisai_status pattern_columns(bisai_context *context, bisai_pattern *p) {
  const int32_t n = p->block_rows;
  const cudaStream_t stream = bsi_stream_of(context);
  if (p->col_ptr) return BISAI_OK; /* made with the rows */
  p->col_ptr = integers(context, static_cast<size_t>(n) + 1);
  bisai_status status = p->col_ptr ? reserve_columns(context, p) : BISAI_OUT_OF_MEMORY;
  if (status) return status;
  bsi_temporary memory(context);
  search s = {};
  s.n = n;
  s.found_ptr = p->row_ptr;
  s.found_col = p->col_idx;
  size_t bytes = 0;
  cudaError_t error = scan_bytes(n, &bytes);
  char *room = memory.reserve<char>(bytes);
  s.col_count = memory.reserve<int32_t>(static_cast<size_t>(n) + 1);
  int32_t *next = memory.reserve<int32_t>(n);
  if (!memory.complete) return BISAI_OUT_OF_MEMORY;
  if (error == cudaSuccess)
    error = cudaMemsetAsync(n > 0 ? s.col_count : p->col_ptr, 0,
                            (static_cast<size_t>(n) + 1) * sizeof(int32_t), stream);
  if (error == cudaSuccess) error = clear_words(context);
  if (error != cudaSuccess) return device_failure(context, error);
  if (n == 0) return BISAI_OK;
  take_rows<false><<<grid_of(n, READERS), THREADS, 0, stream>>>(s);
  error = add_columns(context, s, room, bytes, p->col_ptr, next);
  if (error != cudaSuccess) return device_failure(context, error);
  status = bsi_launched(context, "pattern, lengths of columns");
  unsigned long long longest = 0;
  if (!status)
    status = context->backend->memory->fetch(context, &longest, context->first_fault + LONGEST,
                                             sizeof longest);
  if (status) return status;
  p->longest_column = static_cast<int32_t>(longest);
  if (longest > LONG_COLUMN) return sort_columns(context, p);
  s.entries = memory.reserve<int2>(p->blocks);
  s.next = next;
  if (!memory.complete) return BISAI_OUT_OF_MEMORY;
  take_rows<true><<<grid_of(n, READERS), THREADS, 0, stream>>>(s);
  return order_columns(context, p, s.entries);
}

const bsi_pattern_ops bsi_pattern_cuda = {.power = pattern_power, .columns = pattern_columns};
