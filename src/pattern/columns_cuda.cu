/* SPDX-License-Identifier: BSD-3-Clause */
/* The column form of patterns on a device. Entries come to their column in any order. If columns
 * are short, each entry then goes where as many are before it, so that rows ascend and nothing
 * depends on the order in which threads run. Otherwise a stable sort by column does it. */
#include "gpu/scan.cuh"
#include "gpu/sort.cuh"
#include "gpu/temporary.cuh"
#include "pattern/search_cuda.cuh"

namespace {

enum {
  /* lanes that order a column */
  SORTERS = 8,
  /* of kernels with a thread an entry or a column */
  NUMBER_THREADS = 256
};

/* The longest column whose entries are ordered by comparing all pairs. Not measured. */
constexpr int32_t LONG_COLUMN = 256;

/* Messages of failures begin with it. */
constexpr char what[] = "pattern";

/* next[j] ← where the first entry of column j goes. Finds the longest column. */
__global__ void open_columns(int32_t n, const int32_t *col_ptr, int32_t *next,
                             bsi_pattern_report *report) {
  const int32_t j = static_cast<int32_t>(blockIdx.x * blockDim.x + threadIdx.x);
  const int32_t begin = j < n ? col_ptr[j] : 0;
  int32_t most = j < n ? col_ptr[j + 1] - begin : 0;
  if (j < n) next[j] = begin;
  most = bsi_warp_max(most);
  if (threadIdx.x % BSI_WARP == 0)
    atomicMax(&report->longest_column, static_cast<unsigned long long>(most));
}

/* Counts or writes the entries of rows that exist.
 *   WRITE: write them */
template <bool WRITE>
__global__ void __launch_bounds__(BSI_PATTERN_THREADS) take_rows(const bsi_search s) {
  const int64_t row =
      (blockIdx.x * static_cast<int64_t>(BSI_PATTERN_THREADS) + threadIdx.x) / BSI_PATTERN_READERS;
  if (row >= s.n) return;
  for (int32_t q = s.found_ptr[row] + static_cast<int32_t>(threadIdx.x % BSI_PATTERN_READERS);
       q < s.found_ptr[row + 1]; q += BSI_PATTERN_READERS) {
    if (WRITE)
      bsi_put_entry(s, static_cast<int32_t>(row), q, s.found_col[q]);
    else
      bsi_count_entry(s, s.found_col[q]);
  }
}

/* Orders the entries of a column. The place of an entry is the number of those before it. */
__global__ void __launch_bounds__(BSI_PATTERN_THREADS)
    sort_entries(int32_t n, const int32_t *col_ptr, const int2 *entries, int32_t *position,
                 int32_t *row_idx) {
  const int64_t j =
      (blockIdx.x * static_cast<int64_t>(BSI_PATTERN_THREADS) + threadIdx.x) / SORTERS;
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

/* The steps around a stable sort of all entries by column. */
__global__ void number(int32_t count, int32_t *index) {
  const int32_t i = static_cast<int32_t>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < count) index[i] = i;
}

__global__ void __launch_bounds__(BSI_PATTERN_THREADS)
    name_rows(int32_t n, const int32_t *row_ptr, int32_t *row_of) {
  const int64_t row =
      (blockIdx.x * static_cast<int64_t>(BSI_PATTERN_THREADS) + threadIdx.x) / BSI_PATTERN_READERS;
  if (row >= n) return;
  for (int32_t q = row_ptr[row] + static_cast<int32_t>(threadIdx.x % BSI_PATTERN_READERS);
       q < row_ptr[row + 1]; q += BSI_PATTERN_READERS)
    row_of[q] = static_cast<int32_t>(row);
}

__global__ void name_positions(int32_t count, const int32_t *position, const int32_t *row_of,
                               int32_t *row_idx) {
  const int32_t t = static_cast<int32_t>(blockIdx.x * blockDim.x + threadIdx.x);
  if (t < count) row_idx[t] = row_of[position[t]];
}

/* The column form from rows and col_ptr, by a stable sort of the entries by column. */
bisai_status sort_columns(bisai_context *context, bisai_pattern *p) {
  const bsi_gpu_stream stream = bsi_stream_of(context);
  const int32_t n = p->block_rows, count = p->blocks;
  const int bits = bsi_bits_below(n);
  bsi_temporary memory(context);
  int32_t *index = memory.reserve<int32_t>(count), *sorted = memory.reserve<int32_t>(count),
          *row_of = memory.reserve<int32_t>(count);
  size_t bytes = 0;
  BSI_TRY(bsi_gpu_sort_pairs(context, what, nullptr, &bytes, p->col_idx, sorted, index, p->position,
                             count, bits));
  char *room = memory.reserve<char>(bytes);
  if (!memory.complete) return BISAI_OUT_OF_MEMORY;
  number<<<bsi_grid(count, NUMBER_THREADS), NUMBER_THREADS, 0, stream>>>(count, index);
  name_rows<<<bsi_pattern_grid(n, BSI_PATTERN_READERS), BSI_PATTERN_THREADS, 0, stream>>>(
      n, p->row_ptr, row_of);
  BSI_TRY(bsi_gpu_sort_pairs(context, what, room, &bytes, p->col_idx, sorted, index, p->position,
                             count, bits));
  name_positions<<<bsi_grid(count, NUMBER_THREADS), NUMBER_THREADS, 0, stream>>>(
      count, p->position, row_of, p->row_idx);
  return bsi_launched(context, "pattern, columns");
}

} // namespace

bisai_status bsi_pattern_scan_bytes(bisai_context *context, int32_t n, size_t *bytes) {
  size_t rows = 0, columns = 0;
  int64_t *lengths = nullptr;
  int32_t *counts = nullptr;
  BSI_TRY(bsi_gpu_inclusive_sum(context, what, nullptr, &rows, lengths, lengths, n));
  BSI_TRY(bsi_gpu_exclusive_sum(context, what, nullptr, &columns, counts, counts, n + 1));
  *bytes = rows > columns ? rows : columns;
  return BISAI_OK;
}

bisai_status bsi_pattern_add_columns(bisai_context *context, const bsi_search &s, void *room,
                                     size_t bytes, int32_t *col_ptr, int32_t *next) {
  BSI_TRY(bsi_gpu_exclusive_sum(context, what, room, &bytes, s.col_count, col_ptr, s.n + 1));
  open_columns<<<bsi_grid(s.n, NUMBER_THREADS), NUMBER_THREADS, 0, bsi_stream_of(context)>>>(
      s.n, col_ptr, next, s.report);
  return BISAI_OK;
}

bool bsi_pattern_orders(int32_t longest_column) { return longest_column <= LONG_COLUMN; }

bisai_status bsi_pattern_reserve_columns(bisai_context *context, bisai_pattern *p) {
  const size_t blocks = static_cast<size_t>(p->blocks);
  p->row_idx = bsi_reserve_integers(context, blocks);
  p->position = p->row_idx ? bsi_reserve_integers(context, blocks) : nullptr;
  return p->position ? BISAI_OK : BISAI_OUT_OF_MEMORY;
}

bisai_status bsi_pattern_order_columns(bisai_context *context, bisai_pattern *p,
                                       const int2 *entries) {
  sort_entries<<<bsi_pattern_grid(p->block_rows, SORTERS), BSI_PATTERN_THREADS, 0,
                 bsi_stream_of(context)>>>(p->block_rows, p->col_ptr, entries, p->position,
                                           p->row_idx);
  return bsi_launched(context, "pattern, columns");
}

/* Counts the entries of each column, and makes col_ptr and next of that. Waits. */
static bisai_status count_columns(bisai_context *context, bisai_pattern *p, bsi_temporary *memory,
                                  bsi_search *s, int32_t *longest) {
  const int32_t n = p->block_rows;
  const size_t columns = static_cast<size_t>(n) + 1;
  size_t bytes = 0;
  BSI_TRY(bsi_pattern_scan_bytes(context, n, &bytes));
  char *room = memory->reserve<char>(bytes);
  s->col_count = memory->reserve<int32_t>(columns);
  int32_t *next = memory->reserve<int32_t>(n);
  if (!memory->complete) return BISAI_OUT_OF_MEMORY;
  BSI_TRY(
      bsi_gpu_fill(context, what, n > 0 ? s->col_count : p->col_ptr, 0, columns * sizeof(int32_t)));
  BSI_TRY(bsi_record_begin<bsi_pattern_report>(context, what));
  *longest = 0;
  if (n == 0) return BISAI_OK;
  take_rows<false><<<bsi_pattern_grid(n, BSI_PATTERN_READERS), BSI_PATTERN_THREADS, 0,
                     bsi_stream_of(context)>>>(*s);
  BSI_TRY(bsi_pattern_add_columns(context, *s, room, bytes, p->col_ptr, next));
  BSI_TRY(bsi_launched(context, "pattern, lengths of columns"));
  bsi_pattern_report found;
  BSI_TRY(bsi_record_fetch(context, what, &found));
  s->next = next;
  *longest = static_cast<int32_t>(found.longest_column);
  return BISAI_OK;
}

bisai_status bsi_pattern_columns(bisai_context *context, bisai_pattern *p) {
  const int32_t n = p->block_rows;
  if (p->col_ptr) return BISAI_OK; /* made with the rows */
  p->col_ptr = bsi_reserve_integers(context, static_cast<size_t>(n) + 1);
  if (!p->col_ptr) return BISAI_OUT_OF_MEMORY;
  BSI_TRY(bsi_pattern_reserve_columns(context, p));
  bsi_temporary memory(context);
  bsi_search s = {};
  s.n = n;
  s.report = bsi_record_of<bsi_pattern_report>(context);
  s.found_ptr = p->row_ptr;
  s.found_col = p->col_idx;
  int32_t longest;
  BSI_TRY(count_columns(context, p, &memory, &s, &longest));
  if (n == 0) return BISAI_OK;
  p->longest_column = longest;
  if (!bsi_pattern_orders(longest)) return sort_columns(context, p);
  s.entries = memory.reserve<int2>(p->blocks);
  if (!memory.complete) return BISAI_OUT_OF_MEMORY;
  take_rows<true><<<bsi_pattern_grid(n, BSI_PATTERN_READERS), BSI_PATTERN_THREADS, 0,
                    bsi_stream_of(context)>>>(s);
  return bsi_pattern_order_columns(context, p, s.entries);
}
