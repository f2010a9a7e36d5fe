/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef BSI_NOW_H
#define BSI_NOW_H

#ifdef __cplusplus
extern "C" {
#endif

/* Returns the seconds of a monotonic clock. */
double bsi_now(void);

#ifdef __cplusplus
}
#endif

#endif
