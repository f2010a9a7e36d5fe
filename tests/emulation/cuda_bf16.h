/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef BISAI_EMULATION_CUDA_BF16_H
#define BISAI_EMULATION_CUDA_BF16_H

#include "core/block/values.h"

struct __nv_bfloat16 {
  uint16_t bits;
};
inline float __bfloat162float(__nv_bfloat16 x) {
  return static_cast<float>(bsi_bf16_decode(x.bits));
}

#endif
