/* SPDX-License-Identifier: BSD-3-Clause */
#ifdef __linux__
#define _DEFAULT_SOURCE /* for madvise(), which POSIX does not define */
#endif
#include <stdint.h>
#include <stdlib.h>
#ifdef __linux__
#include <sys/mman.h>
#endif

#include "core/context/context_impl.h"

#ifdef MADV_HUGEPAGE

/* The bytes of a huge page, and the least bytes of an array that asks for such pages. Linux uses
 * them where it is asked to. A set-up then waits for a hundredth of the page faults. */
enum { HUGE_PAGE = 1 << 21, LEAST_HUGE = 2 * HUGE_PAGE };

/* A part of a page at the end of the array stays in small pages, and takes no more memory. */
static void *allocate_own(size_t bytes) {
  void *array = NULL;
  if (bytes < LEAST_HUGE) return aligned_alloc(BSI_ALIGNMENT, bytes);
  if (posix_memalign(&array, HUGE_PAGE, bytes)) return NULL;
  madvise(array, bytes / HUGE_PAGE * HUGE_PAGE, MADV_HUGEPAGE);
  return array;
}

#else

static void *allocate_own(size_t bytes) { return aligned_alloc(BSI_ALIGNMENT, bytes); }

#endif

void *bsi_allocate(bisai_context *context, size_t count, size_t size) {
  if (size != 0 && count > (SIZE_MAX - BSI_ALIGNMENT) / size) {
    bsi_fail(context, BISAI_OUT_OF_MEMORY,
             "an array of %zu elements of %zu bytes exceeds the address space", count, size);
    return NULL;
  }
  const size_t bytes = bsi_allocation_size(count * size > 0 ? count * size : 1);
  const bisai_allocator *allocator = &context->allocator;
  void *pointer = allocator->allocate ? allocator->allocate(allocator->user, bytes, BSI_ALIGNMENT)
                                      : allocate_own(bytes);
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
