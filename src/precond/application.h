/* SPDX-License-Identifier: BSD-3-Clause */
/* The application of a preconditioner inside of a solver. */
#ifndef BSI_APPLICATION_H
#define BSI_APPLICATION_H

#include <bisai/precond.h>

/* Does bisai_precond_apply() for a caller that reads `cached_bytes` of other vectors again soon:
 * bsi_product_ops::multiply. */
bisai_status bsi_precond_apply(bisai_precond *precond, const double *v, double *z,
                               int64_t cached_bytes);

#endif
