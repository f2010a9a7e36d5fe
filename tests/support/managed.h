/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory of a device: some that the host reaches too, and some that it does not. */
#ifndef BISAI_TEST_MANAGED_H
#define BISAI_TEST_MANAGED_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

void *managed_allocate(size_t bytes);
/* Waits for the device. */
void managed_release(void *memory);
/* Until then the host may see old values. */
void managed_synchronize(void);

/* Memory that the host does not reach, in the order of a stream. Its bytes are 0xff when it is
 * allocated, and again when it is released. */
void *device_allocate(size_t bytes, void *stream);
/* Returns the bytes that were allocated. */
size_t device_release(void *memory, void *stream);

#ifdef __cplusplus
}
#endif

#endif
