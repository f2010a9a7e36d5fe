/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef BSI_LONE_H
#define BSI_LONE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

int32_t bsi_lone(void *class);

#ifdef __cplusplus
}
#endif

#endif
