/* SPDX-License-Identifier: BSD-3-Clause */
/* The former name of gpu/sums.cuh, until bjacobi and krylov use that one. */
#ifndef BSI_SUMS_CUDA_CUH
#define BSI_SUMS_CUDA_CUH

#include "core/launch_cuda.cuh"
#include "gpu/sums.cuh"

#endif
