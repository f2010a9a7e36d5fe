/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef BISAI_EMULATION_CUDA_FP16_H
#define BISAI_EMULATION_CUDA_FP16_H

#include "core/block/values.h"

struct __half {
  uint16_t bits;
};
inline float __half2float(__half x) { return static_cast<float>(bsi_fp16_decode(x.bits)); }

#endif
