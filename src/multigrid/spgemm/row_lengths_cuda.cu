/* SPDX-License-Identifier: BSD-3-Clause */
/* row_ptr of a structure on a device, from the lengths of its rows. */
#include "multigrid/spgemm/rows_cuda.cuh"

namespace {

/* Messages of failures begin with it. */
constexpr char what[] = "lengths of rows";

/* The most rows whose lengths one thread block adds up, and its threads. */
enum { FEW_ROWS = 8192, FEW_THREADS = 1024 };

/* Reports the end of row i, and returns its length. Rows end beyond int32 from one row on. */
__device__ __forceinline__ unsigned long long close_row(int32_t rows, int32_t i, int64_t before,
                                                        int64_t end, int64_t most, int32_t *row_ptr,
                                                        bsi_structure_report *report) {
  if (i == 0) row_ptr[0] = 0;
  row_ptr[i + 1] = static_cast<int32_t>(min(end, most));
  if (end > INT32_MAX && before <= INT32_MAX) {
    report->overflow_row = static_cast<unsigned long long>(i);
    report->overflows = 1;
  }
  if (i == rows - 1) report->total = static_cast<unsigned long long>(end);
  return static_cast<unsigned long long>(end - before);
}

/* Reports the longest row of a thread block. All its threads call. The record is one word for all
 * thread blocks, so that each of them touches it at most twice. */
__device__ __forceinline__ void report_longest(unsigned long long length,
                                               bsi_structure_report *report) {
  __shared__ unsigned long long of_warp[FEW_THREADS / BSI_WARP];
  const int lane = threadIdx.x % BSI_WARP, warp = threadIdx.x / BSI_WARP;
  length = bsi_warp_max(length);
  if (lane == 0) of_warp[warp] = length;
  __syncthreads();
  if (warp > 0) return;
  length = bsi_warp_max(lane < static_cast<int>(blockDim.x) / BSI_WARP ? of_warp[lane] : 0);
  if (lane == 0 && length > *static_cast<volatile unsigned long long *>(&report->longest))
    atomicMax(&report->longest, length);
}

/* row_ptr from the sums of the lengths up to each row. */
__global__ void __launch_bounds__(BSI_FOR_EACH_THREADS)
    close_rows(int32_t rows, const int64_t *ends, int64_t most, int32_t *row_ptr,
               bsi_structure_report *report) {
  const int64_t i = blockIdx.x * static_cast<int64_t>(BSI_FOR_EACH_THREADS) + threadIdx.x;
  bsi_wait_for_predecessor();
  unsigned long long length = 0;
  if (i < rows)
    length = close_row(rows, static_cast<int32_t>(i), i > 0 ? ends[i - 1] : 0, ends[i], most,
                       row_ptr, report);
  report_longest(length, report);
}

/* Adds up the lengths of at most FEW_ROWS rows, in one thread block. */
__global__ void __launch_bounds__(FEW_THREADS)
    add_few_lengths(int32_t rows, const int64_t *lengths, int64_t most, int32_t *row_ptr,
                    bsi_structure_report *report) {
  __shared__ int64_t of_warp[FEW_THREADS / BSI_WARP];
  const int thread = threadIdx.x, lane = thread % BSI_WARP;
  const int32_t each = (rows + FEW_THREADS - 1) / FEW_THREADS, first = min(thread * each, rows),
                last = min(first + each, rows);
  bsi_wait_for_predecessor();
  int64_t mine = 0;
  for (int32_t i = first; i < last; i++) mine += lengths[i];
  int64_t end = mine; /* of the rows of the lanes up to this one, then of all threads */
#pragma unroll
  for (int step = 1; step < BSI_WARP; step *= 2) {
    const int64_t other = __shfl_up_sync(BSI_FULL_WARP, end, step);
    if (lane >= step) end += other;
  }
  if (lane == BSI_WARP - 1) of_warp[thread / BSI_WARP] = end;
  __syncthreads();
  for (int w = 0; w < thread / BSI_WARP; w++) end += of_warp[w];
  int64_t before = end - mine;
  unsigned long long longest = 0;
  for (int32_t i = first; i < last; i++) {
    const int64_t after = before + lengths[i];
    longest = max(longest, close_row(rows, i, before, after, most, row_ptr, report));
    before = after;
  }
  report_longest(longest, report);
}

} // namespace

bisai_status bsi_lengths_reserve(bsi_temporary *memory, int32_t rows, bsi_lengths *lengths) {
  lengths->rows = rows;
  lengths->report = bsi_record_of<bsi_structure_report>(memory->context);
  lengths->room_bytes = 0;
  if (rows > FEW_ROWS)
    BSI_TRY(bsi_gpu_inclusive_sum(memory->context, what, nullptr, &lengths->room_bytes,
                                  lengths->of_rows, lengths->ends, rows));
  lengths->of_rows = memory->reserve<int64_t>(2 * static_cast<size_t>(rows));
  lengths->ends = lengths->of_rows + rows;
  lengths->room = memory->reserve<char>(lengths->room_bytes);
  return memory->complete ? BISAI_OK : BISAI_OUT_OF_MEMORY;
}

bisai_status bsi_lengths_add(bisai_context *context, bsi_lengths *lengths, int32_t *row_ptr) {
  bsi_structure_report *report = lengths->report;
  const int64_t most = lengths->most_blocks;
  const int32_t rows = lengths->rows;
  const int64_t *of_rows = lengths->of_rows, *ends = lengths->ends;
  if (rows == 0) return bsi_gpu_fill(context, what, row_ptr, 0, sizeof *row_ptr);
  if (rows <= FEW_ROWS) {
    bsi_launch_early(context, add_few_lengths, 1, FEW_THREADS, 0, rows, of_rows, most, row_ptr,
                     report);
    return bsi_launched(context, what);
  }
  BSI_TRY(bsi_gpu_inclusive_sum(context, what, lengths->room, &lengths->room_bytes,
                                lengths->of_rows, lengths->ends, rows));
  bsi_launch_early(context, close_rows, bsi_grid(rows, BSI_FOR_EACH_THREADS), BSI_FOR_EACH_THREADS,
                   0, rows, ends, most, row_ptr, report);
  return bsi_launched(context, what);
}

bisai_status bsi_lengths_fetch(bisai_context *context, const char *name, int64_t most,
                               bsi_structure_report *report, const bsi_fetched *other) {
  const bsi_fetched fetched[] = {
      {report, bsi_record_of<bsi_structure_report>(context), sizeof *report},
      other ? *other : bsi_fetched{}};
  BSI_TRY(bsi_gpu_fetch_together(context, what, other ? 2 : 1, fetched));
  if (!report->overflows || report->total > static_cast<unsigned long long>(most)) return BISAI_OK;
  return bsi_fail(context, BISAI_INDEX_OVERFLOW, "row %lld: %s has more than %d blocks",
                  static_cast<long long>(report->overflow_row), name, INT32_MAX);
}
