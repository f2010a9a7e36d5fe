/* SPDX-License-Identifier: BSD-3-Clause */
/* The job of an application on a device. For the apply_*_cuda.* files only. */
#ifndef BSI_APPLY_JOB_CUDA_CUH
#define BSI_APPLY_JOB_CUDA_CUH

#include "bjacobi/bjacobi.h"
#include "core/values.h"
#include "gpu/launch.cuh"

struct bsi_apply_job {
  int32_t rows, blocks, uniform, per_group, groups;
  const int32_t *start;
  const int64_t *first_value;
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
  if (block >= p.blocks) return p.rows;
  return p.uniform ? static_cast<int32_t>(block) * p.uniform : __ldg(p.start + block);
}

/* Enqueues the inverses in any formats for one vector, and returns true, if all blocks have a size
 * with a kernel of its own. */
bool bsi_enqueue_rows(const bisai_context *context, const bsi_apply_job &p);

/* Enqueue the solves with LU and Gauss–Huard decompositions for `count` vectors: of any sizes and
 * formats, or of some sizes in fp64. The second returns false, and enqueues nothing, for others. */
void bsi_enqueue_solves(const bisai_context *context, const bsi_bjacobi *jacobi,
                        const bsi_apply_job &p, int32_t count);
bool bsi_enqueue_uniform_solves(const bisai_context *context, const bsi_apply_job &p,
                                int32_t count);

#endif
