/* SPDX-License-Identifier: BSD-3-Clause */
/* The former name of gpu/for_each.cuh, until bjacobi and krylov use that one. */
#ifndef BSI_FOR_EACH_CUDA_CUH
#define BSI_FOR_EACH_CUDA_CUH

#include "core/launch_cuda.cuh"
#include "gpu/for_each.cuh"

#endif
