/* SPDX-License-Identifier: BSD-3-Clause */
/* S(|T|^k) on a device, twice: first to count and then to write. The rows of S(|T|) are those of
 * the triangle of T. Higher powers are a breadth-first search of k steps from every block row. A
 * hash table in shared memory holds what a row has reached: a small one that a few lanes use, or a
 * larger one for a warp if the small one is full (rows_cuda.cu). The few rows that reach still more
 * take a thread block each, and global memory with one bit for every block row (long_rows_cuda.cu).
 *
 * The lengths of the columns are counted together with those of the rows, and their entries are
 * written together with the rows (columns_cuda.cu). */
#include "gpu/scan.cuh"
#include "gpu/temporary.cuh"
#include "pattern/pattern_ops.h"
#include "pattern/search_cuda.cuh"

namespace {

enum { NARROW_THREADS = 256 };

/* Messages of failures begin with it. */
constexpr char what[] = "pattern";

/* row_ptr[i + 1] ← ends[i], where row i ends. Reports the first one that exceeds int32, and the
 * last. */
__global__ void __launch_bounds__(NARROW_THREADS)
    narrow(int32_t n, const int64_t *ends, int32_t *row_ptr, bsi_pattern_report *report) {
  const int32_t i = static_cast<int32_t>(blockIdx.x * NARROW_THREADS + threadIdx.x);
  if (i >= n) return;
  if (i == 0) row_ptr[0] = 0;
  row_ptr[i + 1] = static_cast<int32_t>(ends[i]);
  if (ends[i] > INT32_MAX) atomicMin(&report->overflow_row, static_cast<unsigned long long>(i));
  if (i == n - 1) report->total = static_cast<unsigned long long>(ends[i]);
}

/* Temporary arrays of a search. */
struct workspace {
  bsi_temporary memory;
  int64_t *ends = nullptr;
  int32_t *next = nullptr;
  char *room = nullptr;
  size_t room_bytes = 0;
  explicit workspace(bisai_context *context) : memory(context) {}
};

/* Reserves what counting needs. Columns are counted unless rows are shortened. */
bisai_status reserve(bisai_context *context, bsi_search *s, workspace *w, bisai_pattern *p) {
  const size_t rows = static_cast<size_t>(s->n);
  BSI_TRY(bsi_pattern_scan_bytes(context, s->n, &w->room_bytes));
  s->lengths = w->memory.reserve<int64_t>(rows);
  w->ends = w->memory.reserve<int64_t>(rows);
  w->room = w->memory.reserve<char>(w->room_bytes);
  if (s->power > 1 || s->limit > 0) {
    s->middle_rows = w->memory.reserve<int32_t>(rows);
    s->long_rows = w->memory.reserve<int32_t>(rows);
  }
  if (s->limit == 0) {
    s->col_count = w->memory.reserve<int32_t>(rows + 1);
    w->next = w->memory.reserve<int32_t>(rows);
    p->col_ptr = bsi_reserve_integers(context, rows + 1);
    if (!p->col_ptr) return BISAI_OUT_OF_MEMORY;
  }
  return w->memory.complete ? BISAI_OK : BISAI_OUT_OF_MEMORY;
}

/* row_ptr from the lengths of the rows. */
bisai_status add_lengths(bisai_context *context, const bsi_search &s, workspace *w,
                         int32_t *row_ptr) {
  BSI_TRY(bsi_gpu_inclusive_sum(context, what, w->room, &w->room_bytes, s.lengths, w->ends, s.n));
  narrow<<<bsi_grid(s.n, NARROW_THREADS), NARROW_THREADS, 0, bsi_stream_of(context)>>>(
      s.n, w->ends, row_ptr, s.report);
  return BISAI_OK;
}

/* Counts rows and columns. Waits once, and once more if rows are very long. */
bisai_status count(bisai_context *context, const bsi_search &s, workspace *w, bisai_pattern *p,
                   bsi_pattern_report *found) {
  BSI_TRY(bsi_record_begin<bsi_pattern_report>(context, what));
  if (s.col_count)
    BSI_TRY(bsi_gpu_fill(context, what, s.col_count, 0,
                         (static_cast<size_t>(s.n) + 1) * sizeof *s.col_count));
  BSI_TRY(bsi_pattern_count_rows(context, s));
  BSI_TRY(add_lengths(context, s, w, p->row_ptr));
  if (s.col_count)
    BSI_TRY(bsi_pattern_add_columns(context, s, w->room, w->room_bytes, p->col_ptr, w->next));
  BSI_TRY(bsi_record_fetch(context, what, found));
  if (found->long_count == 0) return BISAI_OK;
  BSI_TRY(bsi_pattern_count_long_rows(context, s, static_cast<int32_t>(found->long_count)));
  BSI_TRY(add_lengths(context, s, w, p->row_ptr));
  return bsi_record_fetch(context, what, found);
}

/* Reserves the entries of the columns if they can be written together with the rows. Otherwise
 * bsi_pattern_columns() makes the columns later. */
bisai_status prepare_columns(bisai_context *context, bool with_columns, bsi_search *s, workspace *w,
                             bisai_pattern *p) {
  if (!with_columns) {
    context->backend->memory->release(context, p->col_ptr);
    p->col_ptr = nullptr;
    return BISAI_OK;
  }
  const bisai_status status = bsi_pattern_reserve_columns(context, p);
  s->entries = w->memory.reserve<int2>(p->blocks);
  s->next = w->next;
  return status || w->memory.complete ? status : BISAI_OUT_OF_MEMORY;
}

/* The pattern of a matrix without block rows. */
bisai_status make_empty(bisai_context *context, bisai_pattern *p) {
  p->col_idx = bsi_reserve_integers(context, 0);
  if (!p->col_idx) return BISAI_OUT_OF_MEMORY;
  return bsi_gpu_fill(context, what, p->row_ptr, 0, sizeof *p->row_ptr);
}

} // namespace

static bisai_status pattern_power(bisai_context *context, const bisai_bcsr *matrix, int power,
                                  int32_t row_limit, bisai_pattern *p) {
  const int32_t n = matrix->block_rows;
  workspace w(context);
  bsi_search s = {};
  s.n = n;
  s.triangle = p->triangle;
  s.power = power;
  s.limit = row_limit;
  s.report = bsi_record_of<bsi_pattern_report>(context);
  s.row_ptr = matrix->row_ptr;
  s.col_idx = matrix->col_idx;
  p->row_ptr = bsi_reserve_integers(context, static_cast<size_t>(n) + 1);
  if (!p->row_ptr) return BISAI_OUT_OF_MEMORY;
  if (n == 0) return make_empty(context, p);
  bsi_pattern_report found;
  BSI_TRY(reserve(context, &s, &w, p));
  BSI_TRY(count(context, s, &w, p, &found));
  if (found.total > INT32_MAX)
    return bsi_fail(context, BISAI_INDEX_OVERFLOW,
                    "block row %lld: S(|T|^%d) has more than %d blocks",
                    static_cast<long long>(found.overflow_row), power, INT32_MAX);
  p->blocks = static_cast<int32_t>(found.total);
  p->cut = {static_cast<int32_t>(found.cut_rows), static_cast<int64_t>(found.cut_blocks)};
  p->longest_column = static_cast<int32_t>(found.longest_column);
  p->col_idx = bsi_reserve_integers(context, p->blocks);
  if (!p->col_idx) return BISAI_OUT_OF_MEMORY;
  s.found_ptr = p->row_ptr;
  s.found_col = p->col_idx;
  const int32_t long_rows = static_cast<int32_t>(found.long_count);
  const bool with_columns =
      row_limit == 0 && long_rows == 0 && bsi_pattern_orders(p->longest_column);
  BSI_TRY(prepare_columns(context, with_columns, &s, &w, p));
  BSI_TRY(bsi_pattern_write_rows(context, s));
  if (long_rows > 0) BSI_TRY(bsi_pattern_write_long_rows(context, s, long_rows));
  return with_columns ? bsi_pattern_order_columns(context, p, s.entries) : BISAI_OK;
}

const bsi_pattern_ops bsi_pattern_cuda = {.power = pattern_power, .columns = bsi_pattern_columns};
