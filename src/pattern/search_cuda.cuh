/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files for patterns on a device share. pattern_cuda.cu gives an overview. */
#ifndef BSI_SEARCH_CUDA_CUH
#define BSI_SEARCH_CUDA_CUH

#include "core/context/context_impl.h"
#include "core/matrix/bcsr_impl.h"
#include "gpu/launch.cuh"
#include "gpu/record.cuh"
#include "pattern/pattern_impl.h"

enum {
  BSI_PATTERN_THREADS = 128,
  /* lanes that read a row of T together */
  BSI_PATTERN_READERS = 4
};

struct bsi_pattern_report {
  static constexpr int firsts = 1;
  /* the first row that ends beyond int32 */
  unsigned long long overflow_row;
  /* rows that were shortened, and blocks that were left out */
  unsigned long long cut_rows, cut_blocks;
  /* lengths of the lists of rows: too long for the small table, and for the large one */
  unsigned long long middle_count, long_count;
  /* blocks of all rows, and of the longest column */
  unsigned long long total, longest_column;
};

struct bsi_search {
  int32_t n;
  bisai_triangle triangle;
  int power;
  /* the most blocks that a row keeps, 0: all */
  int32_t limit;
  bsi_pattern_report *report;
  /* of T */
  const int32_t *row_ptr, *col_idx;
  /* of the rows found, while they are counted */
  int64_t *lengths;
  /* rows that are too long for the small table, and for the large one */
  int32_t *middle_rows, *long_rows;
  /* blocks of each column, or NULL if they are not counted */
  int32_t *col_count;
  /* the pattern, while it is written */
  const int32_t *found_ptr;
  int32_t *found_col;
  /* where the next entry of each column goes, or NULL; an entry is its place in the row form, and
   * its row */
  int32_t *next;
  int2 *entries;
};

/* Thread blocks for `rows` rows of `lanes` lanes each. */
static inline unsigned bsi_pattern_grid(int32_t rows, int lanes) {
  return bsi_grid(static_cast<int64_t>(rows) * lanes, BSI_PATTERN_THREADS);
}

static __device__ __forceinline__ bool bsi_in_triangle(const bsi_search &s, int32_t row,
                                                       int32_t column) {
  return s.triangle == BISAI_WHOLE   ? column != row
         : s.triangle == BISAI_LOWER ? column < row
                                     : column > row;
}

/* Counts an entry of the pattern in its column. */
static __device__ __forceinline__ void bsi_count_entry(const bsi_search &s, int32_t column) {
  if (s.col_count) atomicAdd(s.col_count + column, 1);
}

/* Writes an entry of the pattern into its row and into its column. */
static __device__ __forceinline__ void bsi_put_entry(const bsi_search &s, int32_t row, int32_t at,
                                                     int32_t column) {
  s.found_col[at] = column;
  if (s.next) s.entries[atomicAdd(s.next + column, 1)] = make_int2(at, row);
}

/* The columns that a row finds in the step that goes beyond the limit: [begin, end) in the order of
 * steps. */
struct bsi_ring {
  int32_t begin, end;
};

static __device__ __forceinline__ void bsi_note_ring(const bsi_search &s, int32_t before,
                                                     int32_t after, bsi_ring *ring) {
  if (s.limit > 0 && after > s.limit && before <= s.limit) *ring = {before, after};
}

/* Returns how many of `count` columns a row keeps, and counts what it leaves out. */
static __device__ __forceinline__ int32_t bsi_shorten(const bsi_search &s, int32_t count) {
  if (s.limit == 0 || count <= s.limit) return count;
  atomicAdd(&s.report->cut_rows, 1ull);
  atomicAdd(&s.report->cut_blocks, static_cast<unsigned long long>(count - s.limit));
  return s.limit;
}

/* Returns a number that grows with a column's distance from the diagonal. */
static __device__ __forceinline__ int32_t bsi_distance(const bsi_search &s, int32_t column) {
  return s.triangle == BISAI_LOWER ? s.n - 1 - column : column;
}

static inline int32_t *bsi_reserve_integers(bisai_context *context, size_t count) {
  return static_cast<int32_t *>(
      context->backend->memory->allocate(context, count, sizeof(int32_t)));
}

/* rows_cuda.cu: enqueue the count of rows and columns, or write them; all rows but the long
 * ones. */
bisai_status bsi_pattern_count_rows(bisai_context *context, const bsi_search &s);
bisai_status bsi_pattern_write_rows(bisai_context *context, const bsi_search &s);

/* long_rows_cuda.cu: the same for the `count` long rows. */
bisai_status bsi_pattern_count_long_rows(bisai_context *context, const bsi_search &s,
                                         int32_t count);
bisai_status bsi_pattern_write_long_rows(bisai_context *context, const bsi_search &s,
                                         int32_t count);

/* columns_cuda.cu: bytes for the scans of n + 1 lengths. */
bisai_status bsi_pattern_scan_bytes(bisai_context *context, int32_t n, size_t *bytes);

/* col_ptr and the longest column from the lengths s.col_count of n + 1 columns, of which the last
 * is
 * 0. next[j] ← where the first entry of column j goes. */
bisai_status bsi_pattern_add_columns(bisai_context *context, const bsi_search &s, void *room,
                                     size_t bytes, int32_t *col_ptr, int32_t *next);

/* Returns true if a column may be ordered by bsi_pattern_order_columns(), whose time goes with the
 * square of its length. */
bool bsi_pattern_orders(int32_t longest_column);

bisai_status bsi_pattern_reserve_columns(bisai_context *context, bisai_pattern *p);

/* The column form from entries that lie in their columns in any order. */
bisai_status bsi_pattern_order_columns(bisai_context *context, bisai_pattern *p,
                                       const int2 *entries);

/* The column form of rows that exist, for bsi_pattern_ops. */
bisai_status bsi_pattern_columns(bisai_context *context, bisai_pattern *p);

#endif
