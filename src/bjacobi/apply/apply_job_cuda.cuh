/* SPDX-License-Identifier: BSD-3-Clause */
/* The job of an application on a device. For the apply_*_cuda.* files only. */
#ifndef BSI_APPLY_JOB_CUDA_CUH
#define BSI_APPLY_JOB_CUDA_CUH

#include <type_traits>

#include "bjacobi/bjacobi.h"
#include "core/block/values.h"
#include "gpu/launch.cuh"

struct bsi_apply_job {
  /* the partition and its groups: bjacobi/bjacobi.h */
  struct {
    int32_t rows, blocks, uniform, per_group, groups;
    const int32_t *start;
    const int64_t *first_value;
  } partition;
  const char *data;
  int slot_bytes;
  bisai_value_type storage;
  bisai_form form;
  /* most blocks have values of 16 bits */
  bool narrow;
  const uint8_t *format, *pivots;
  const double *x;
  int64_t ldx;
  double *y;
  int64_t ldy;
};

static __device__ __forceinline__ int32_t bsi_start_of(const bsi_apply_job &p, int64_t block) {
  if (block >= p.partition.blocks) return p.partition.rows;
  return p.partition.uniform ? static_cast<int32_t>(block) * p.partition.uniform
                             : __ldg(p.partition.start + block);
}

/* Loads value `at`, which is not read again, past the first-level cache. */
template <bisai_value_type FORMAT>
static __device__ __forceinline__ double bsi_value_of(const char *data, int at) {
  if constexpr (FORMAT == BISAI_FP64) return __ldcs(reinterpret_cast<const double *>(data) + at);
  if constexpr (FORMAT == BISAI_FP32)
    return static_cast<double>(__ldcs(reinterpret_cast<const float *>(data) + at));
  if constexpr (bsi_value_bytes(FORMAT) == 4) {
    const uint32_t bits = __ldcs(reinterpret_cast<const uint32_t *>(data) + at);
    return bsi_value_load(FORMAT, &bits, 0);
  } else {
    const uint16_t bits = __ldcs(reinterpret_cast<const uint16_t *>(data) + at);
    return bsi_value_load(FORMAT, &bits, 0);
  }
}

/* Calls f(constant) if `format` is one of a block; constant.value is the format.
 * FORMAT: the format of all blocks, if it is one of a block. */
template <bisai_value_type FORMAT = BISAI_ADAPTIVE, typename F>
static __device__ __forceinline__ void bsi_in_format(int format, const F &f) {
  if constexpr (FORMAT != BISAI_ADAPTIVE) {
    f(std::integral_constant<bisai_value_type, FORMAT>());
  } else {
    switch (format) {
#define CASE(enumerator, word, bytes, mantissa)                                                    \
  case enumerator: f(std::integral_constant<bisai_value_type, enumerator>()); break;
      BISAI_BLOCK_TYPE_LIST(CASE)
#undef CASE
    default: break;
    }
  }
}

/* Sizes of blocks whose inverses have kernels with a lane for each row: these in every format,
 * narrow ones for several vectors (one vector: apply_rows_cuda.cu). */
constexpr int BSI_COMMON_SIZES[] = {4, 8, 16, 32};

constexpr bool bsi_is_common_size(int rows) {
  for (const int size : BSI_COMMON_SIZES)
    if (size == rows) return true;
  return false;
}

/* Enqueue inverses of one size in any formats, if the last block has this size too: for one vector,
 * and for as many of the `count` vectors as whole passes take. The second returns how many vectors
 * are left, which p then begins with. */
void bsi_enqueue_rows(const bisai_context *context, const bsi_apply_job &p);
int32_t bsi_enqueue_vectors(const bisai_context *context, bsi_apply_job *p, int32_t count);

/* Enqueue the solves with LU decompositions, or with Gauss–Huard decompositions in both layouts,
 * for `count` vectors. */
void bsi_enqueue_lu(const bisai_context *context, const bsi_bjacobi *jacobi, const bsi_apply_job &p,
                    int32_t count);
void bsi_enqueue_gauss_huard(const bisai_context *context, const bsi_bjacobi *jacobi,
                             const bsi_apply_job &p, int32_t count);

#endif
