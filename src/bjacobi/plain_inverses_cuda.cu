/* SPDX-License-Identifier: BSD-3-Clause */
/* Inverses of many blocks that lie side by side and stay in fp64. */
#define BSI_ENQUEUE bsi_enqueue_plain_inverses
#define BSI_PLAIN true
#include "bjacobi/inverses_cuda.cu"
