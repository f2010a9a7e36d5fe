/* SPDX-License-Identifier: BSD-3-Clause */
/* The structure of block ILU(k). */
#ifndef BSI_SYMBOLIC_H
#define BSI_SYMBOLIC_H

#include "factor/factor_impl.h"

/* Reserves f->lower and f->upper with the pattern of ILU(level) of `a`, and marks their fill.
 * Missing diagonal blocks are refused, or with `add_diagonal` added to the pattern. Returns
 * BISAI_INDEX_OVERFLOW if a factor would have more blocks than the limit, or than an int32_t
 * counts. The limit may be NULL. */
bisai_status bsi_factors_reserve(bisai_context *context, const bisai_bcsr *a, int level,
                                 bool add_diagonal, const bsi_fill_limit *limit, bisai_factors *f);

#endif
