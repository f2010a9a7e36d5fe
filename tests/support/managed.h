/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory that device and host both reach. */
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

#ifdef __cplusplus
}
#endif

#endif
