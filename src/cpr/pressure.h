/* SPDX-License-Identifier: BSD-3-Clause */
/* What applications read of the pressure equations of the rows of one process. */
#ifndef BSI_PRESSURE_H
#define BSI_PRESSURE_H

#include <bisai/pressure.h>

/* Views of arrays in host memory. The weights have bs values for each row, and the columns bs
 * values for each block. */
typedef struct bsi_pressure_arrays {
  const bisai_bcsr *rows;
  const double *weights, *columns;
  int32_t pressure;
  bool additive;
} bsi_pressure_arrays;

bsi_pressure_arrays bsi_pressure_arrays_of(const bisai_pressure *pressure);

#endif
