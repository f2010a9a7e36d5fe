/* The functions of the CUDA backend, by room. What they compute: core/backend.h. Pointers are device memory; every call enqueues on the
 * context's stream and returns. */
#ifndef BSI_BACKEND_CUDA_H
#define BSI_BACKEND_CUDA_H

#include "core/backend.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --- apply/spmv_cuda.cu --- */
bisai_status bsi_product_cuda(bisai_context *context, const bisai_bcsr *a, int32_t count, double alpha, const double *x,
                              int64_t ldx, double beta, const double *z, int64_t ldz, double *y, int64_t ldy);
bisai_status bsi_diagonal_product_cuda(bisai_context *context, int32_t n, int bs, const double *blocks, int32_t count,
                                       const double *x, int64_t ldx, double *y, int64_t ldy);

#ifdef __cplusplus
}
#endif
#endif
