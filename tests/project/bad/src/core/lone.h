/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef BSI_LONE_H
#define BSI_LONE_H

int32_t bsi_lone(void);

#endif
