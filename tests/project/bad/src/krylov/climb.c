/* SPDX-License-Identifier: BSD-3-Clause */
#include <bisai/climb.h>

int bsi_down(void);

int bsi_down(void) { return bisai_climb(1); }
