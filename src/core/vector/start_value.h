/* SPDX-License-Identifier: BSD-3-Clause */
/* The values of a start vector, compiled for the host and for CUDA. */
#ifndef BSI_START_VALUE_H
#define BSI_START_VALUE_H

#include <stdint.h>

#include "core/block/column.h"

/* Returns a number in [−1, 1) that depends on i alone (Steele, Lea, Flood, OOPSLA 2014: the
 * generator SplitMix). */
BSI_INLINE double bsi_start_value(int64_t i) {
  uint64_t z = ((uint64_t)i + 1u) * UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  z ^= z >> 31;
  return (double)(int64_t)(z >> 11) * 0x1p-52 - 1.0;
}

#endif
