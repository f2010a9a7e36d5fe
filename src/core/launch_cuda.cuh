/* SPDX-License-Identifier: BSD-3-Clause */
/* The former name of gpu/launch.cuh, until bjacobi and krylov use that one. */
#ifndef BSI_LAUNCH_CUDA_CUH
#define BSI_LAUNCH_CUDA_CUH

#include "gpu/launch.cuh"

/* The former name of BSI_FULL_WARP. */
constexpr unsigned BSI_EVERYONE = BSI_FULL_WARP;

#endif
