/* SPDX-License-Identifier: BSD-3-Clause */
/* A backend's operations for patterns. */
#ifndef BSI_PATTERN_OPS_H
#define BSI_PATTERN_OPS_H

#include <bisai/pattern.h>

#include "core/context/backend.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct bsi_pattern_ops {
  /* Finds the rows of N = S(|T|^power). With row_limit > 0 a longer row keeps that many blocks:
   * those that fewer steps reach come first, then those nearer to the diagonal. Blocks that are
   * left out are counted. Waits on a device. */
  bisai_status (*power)(bisai_context *, const bisai_bcsr *matrix, int power, int32_t row_limit,
                        bisai_pattern *);
  /* Makes the column form of a pattern from its rows, and finds its longest column. Waits. */
  bisai_status (*columns)(bisai_context *, bisai_pattern *);
} bsi_pattern_ops;

extern const bsi_pattern_ops bsi_pattern_host, bsi_pattern_cuda;

#ifdef __cplusplus
}
#endif

#endif
