/* SPDX-License-Identifier: BSD-3-Clause */
/* What the inversions of many diagonal blocks report: bsi_invert_stats while a kernel makes
 * them. */
#ifndef BSI_INVERSION_RECORD_CUDA_CUH
#define BSI_INVERSION_RECORD_CUDA_CUH

#include <cstring>

#include "core/block/block_invert.h"
#include "core/matrix/triangular.h"
#include "gpu/record.cuh"

struct bsi_inversion_record {
  static constexpr int firsts = 4;
  unsigned long long singular_row, infinite_row, repaired_row;
  /* the first row with the largest condition */
  unsigned long long condition_row;
  unsigned long long fallbacks, repairs;
  /* the bits of the largest condition */
  unsigned long long condition;
};

/* Records one inversion without its condition. One lane calls. */
static __device__ __forceinline__ void bsi_record_inversion(bsi_inversion_record *record,
                                                            bsi_block_result result, int64_t row) {
  const unsigned long long mine = static_cast<unsigned long long>(row);
  if (result == BSI_BLOCK_SINGULAR) atomicMin(&record->singular_row, mine);
  if (result == BSI_BLOCK_FALLBACK) atomicAdd(&record->fallbacks, 1ull);
  if (result != BSI_BLOCK_REPAIRED) return;
  atomicAdd(&record->repairs, 1ull);
  atomicMin(&record->repaired_row, mine);
}

/* Records the largest condition of many rows, in any order. Zero and NaN do not count. */
static __device__ __forceinline__ void bsi_record_condition(bsi_inversion_record *record,
                                                            double condition) {
  if (condition > 0.0)
    atomicMax(&record->condition, static_cast<unsigned long long>(__double_as_longlong(condition)));
}

/* Records the first row that has the largest condition, after that condition is known. */
static __device__ __forceinline__ void bsi_record_condition_row(bsi_inversion_record *record,
                                                                double condition, int64_t row) {
  if (condition > 0.0 &&
      static_cast<unsigned long long>(__double_as_longlong(condition)) == record->condition)
    atomicMin(&record->condition_row, static_cast<unsigned long long>(row));
}

/* Adds a record in host memory to the statistics. The condition of a singular block is infinite. */
static inline void bsi_inversion_record_add(const bsi_inversion_record &record,
                                            bsi_invert_stats *stats) {
  bsi_invert_stats found;
  found.singular_row = static_cast<int32_t>(bsi_index_of(record.singular_row));
  found.infinite_row = static_cast<int32_t>(bsi_index_of(record.infinite_row));
  found.first_repair_row = static_cast<int32_t>(bsi_index_of(record.repaired_row));
  found.fallbacks = static_cast<int64_t>(record.fallbacks);
  found.repairs = static_cast<int64_t>(record.repairs);
  std::memcpy(&found.largest_condition, &record.condition, sizeof found.largest_condition);
  found.largest_condition_row = static_cast<int32_t>(bsi_index_of(record.condition_row));
  if (found.singular_row >= 0) {
    found.largest_condition = INFINITY;
    found.largest_condition_row = found.singular_row;
  }
  bsi_invert_stats_merge(stats, &found);
}

/* Adds the record to the statistics. Waits. */
static inline bisai_status bsi_inversion_record_fetch(bisai_context *context, const char *what,
                                                      bsi_invert_stats *stats) {
  bsi_inversion_record record;
  BSI_TRY(bsi_record_fetch(context, what, &record));
  bsi_inversion_record_add(record, stats);
  return BISAI_OK;
}

#endif
