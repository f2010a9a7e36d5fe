/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies are done at the wait, as late as a device may do them. */
#ifndef BISAI_EMULATION_CUDA_PIPELINE_PRIMITIVES_H
#define BISAI_EMULATION_CUDA_PIPELINE_PRIMITIVES_H

#include "cuda_runtime.h"

inline void __pipeline_memcpy_async(void *to, const void *from, size_t bytes, size_t zeros = 0) {
  emulation::copy_later(to, from, bytes, zeros);
}
inline void __pipeline_commit() {}
inline void __pipeline_wait_prior(int) { emulation::wait_for_copies(); }

#endif
