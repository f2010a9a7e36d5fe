/* SPDX-License-Identifier: BSD-3-Clause */
/* bisai_climb() in a comment is no call. */
#include <bisai/climb.h>

int bsi_up(void);

int bsi_up(void) { return bisai_climb(1); }
