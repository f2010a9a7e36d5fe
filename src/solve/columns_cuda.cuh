/* SPDX-License-Identifier: BSD-3-Clause */
/* What both ways to solve for the block columns of N on a device have in common: the shape of a
 * thread block, its memory, and the report of a column that has no values. For *_cuda.cu only. */
#ifndef BSI_COLUMNS_CUDA_CUH
#define BSI_COLUMNS_CUDA_CUH

#include "core/context/context_impl.h"
#include "gpu/launch.cuh"
#include "gpu/record.cuh"
#include "solve/isai.h"

enum {
  BSI_COLUMNS_THREADS = 128,
  BSI_COLUMNS_WARPS = BSI_COLUMNS_THREADS / BSI_WARP,
  /* bytes of shared memory that a thread block has on every device */
  BSI_COLUMNS_SHARED = 48 * 1024
};

/* Messages of failures begin with it. */
constexpr char BSI_COLUMNS[] = "values of an approximate inverse";

struct bsi_columns_report {
  static constexpr int firsts = 1;
  /* the first fault: its column, then its place in the column, then its kind */
  unsigned long long fault;
};

/* Keeps the first fault of all columns. */
static __device__ __forceinline__ void bsi_report_fault(bsi_columns_report *found, int32_t column,
                                                        int32_t place, bsi_isai_fault_kind kind) {
  atomicMin(&found->fault, static_cast<unsigned long long>(column) << 33 |
                               static_cast<unsigned long long>(place) << 2 |
                               static_cast<unsigned>(kind));
}

/* Fetches the first fault. col_ptr, row_idx: the pattern, in device memory. backwards: the places
 * count from the end of the column. Leaves *fault if there is none. Waits. */
static inline bisai_status bsi_fetch_fault(bisai_context *context, const int32_t *col_ptr,
                                           const int32_t *row_idx, bool backwards,
                                           bsi_isai_fault *fault) {
  bsi_columns_report found;
  BSI_TRY(bsi_record_fetch(context, BSI_COLUMNS, &found));
  if (found.fault == BSI_NONE) return BISAI_OK;
  const int32_t column = static_cast<int32_t>(found.fault >> 33),
                place = static_cast<int32_t>(found.fault >> 2 & INT32_MAX);
  int32_t range[2], row;
  BSI_TRY(bsi_gpu_fetch(context, BSI_COLUMNS, range, col_ptr + column, sizeof range));
  const int32_t at = backwards ? range[1] - 1 - place : range[0] + place;
  BSI_TRY(bsi_gpu_fetch(context, BSI_COLUMNS, &row, row_idx + at, sizeof row));
  *fault = {column, row, static_cast<bsi_isai_fault_kind>(found.fault & 3)};
  return BISAI_OK;
}

/* Returns the number of thread blocks, each with so many bytes of global memory of its own, for
 * columns that are too long for shared memory: four for each multiprocessor, and fewer if they
 * would take more than 256 MiB. Not measured. */
static inline int bsi_columns_blocks(const bisai_context *context, size_t bytes) {
  const size_t most = 1 << 28, affordable = bytes < most ? most / bytes : 1,
               wanted = static_cast<size_t>(context->limits.processors) * 4;
  return static_cast<int>(wanted < affordable ? wanted : affordable);
}

#endif
