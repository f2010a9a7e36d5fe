/* SPDX-License-Identifier: BSD-3-Clause */
/* What rounding the entries of x changes. */
#ifndef BSI_ROUNDING_H
#define BSI_ROUNDING_H

#include "core/context/backend.h"

/* The entries of x lose half of their digits (Dekker 1971): lost ← what they lose. Of that, and of
 * its image, the share BSI_ROUNDING is what rounding loses. Overwrites `rest`. */
#define BSI_ROUNDING 0x1p-27
bisai_status bsi_lost_digits(bisai_context *context, int64_t n, const double *x, double *lost,
                             double *rest);

#endif
