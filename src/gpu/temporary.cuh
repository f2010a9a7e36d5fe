/* SPDX-License-Identifier: BSD-3-Clause */
/* Arrays of the device that live as long as a function runs. */
#ifndef BSI_TEMPORARY_CUH
#define BSI_TEMPORARY_CUH

#include "core/context/context_impl.h"

/* Releases what was reserved when it goes out of scope. `complete` is false after a failure. */
struct bsi_temporary {
  enum { MOST = 12 };
  bisai_context *context;
  void *array[MOST] = {};
  int count = 0;
  bool complete = true;
  explicit bsi_temporary(bisai_context *c) : context(c) {}
  bsi_temporary(const bsi_temporary &) = delete;
  ~bsi_temporary() {
    for (int i = 0; i < count; i++) context->backend->memory->release(context, array[i]);
  }
  template <typename T> T *reserve(size_t length) {
    void *memory = context->backend->memory->allocate(context, length, sizeof(T));
    complete = complete && memory;
    return static_cast<T *>(array[count++] = memory);
  }
};

#endif
