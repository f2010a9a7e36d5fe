/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdint.h>
#include <stdlib.h>

#include "core/context_impl.h"

void *bsi_allocate(bisai_context *context, size_t count, size_t size) {
  if (size != 0 && count > (SIZE_MAX - BSI_ALIGNMENT) / size) {
    bsi_fail(context, BISAI_OUT_OF_MEMORY,
             "an array of %zu elements of %zu bytes exceeds the address space", count, size);
    return NULL;
  }
  const size_t bytes = bsi_allocation_size(count * size > 0 ? count * size : 1);
  const bisai_allocator *allocator = &context->allocator;
  void *pointer = allocator->allocate ? allocator->allocate(allocator->user, bytes, BSI_ALIGNMENT)
                                      : aligned_alloc(BSI_ALIGNMENT, bytes);
  if (!pointer) bsi_fail(context, BISAI_OUT_OF_MEMORY, "cannot allocate %zu bytes", bytes);
  return pointer;
}

void bsi_release(bisai_context *context, void *pointer) {
  if (!pointer) return;
  if (context->allocator.release)
    context->allocator.release(context->allocator.user, pointer);
  else
    free(pointer);
}
