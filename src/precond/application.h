/* SPDX-License-Identifier: BSD-3-Clause */
/* The application of a preconditioner inside of a solver. */
#ifndef BSI_APPLICATION_H
#define BSI_APPLICATION_H

#include <bisai/precond.h>

/* Does bisai_precond_apply() for a caller that reads `cached_bytes` of other vectors again soon:
 * bsi_product_ops::multiply. `flexible`: bsi_vectors. */
bisai_status bsi_precond_apply(bisai_precond *precond, const double *v, double *z,
                               int64_t cached_bytes, bool flexible);

/* Does bisai_precond_apply_transpose() for a preconditioner that is up to date, with vectors in
 * backend memory. */
bisai_status bsi_precond_transpose_inside(bisai_precond *precond, const double *v, double *z);

/* *same ← a matrix of the preconditioner that has the nonzero values of A and takes fewer bytes, or
 * A if there is none in this context. Compares all values, because those of A may have changed.
 * Waits. */
bisai_status bsi_precond_operator(const bisai_context *context, const bisai_precond *precond,
                                  const bisai_bcsr *a, const bisai_bcsr **same);

/* Returns a copy of A in fp32 that the preconditioner has in this context, or NULL. The values of A
 * may have changed since it was made. */
const bisai_bcsr *bsi_precond_rounded(const bisai_context *context, const bisai_precond *precond,
                                      const bisai_bcsr *a);

/* text ← why M may not be definite although A is, and what is, as the end of a sentence. Otherwise
 * text ← "". */
void bsi_precond_say_indefinite(const bisai_precond *precond, size_t size, char *text);

#endif
