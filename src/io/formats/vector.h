/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks of a caller's vector. */
#ifndef BSI_VECTOR_H
#define BSI_VECTOR_H

#include <bisai/io.h>

/* Checks the arguments of a call that reads or writes n values. */
bisai_status bsi_vector_check(bisai_context *context, const char *call, const char *path, int64_t n,
                              const double *values);

bisai_status bsi_vector_check_finite(bisai_context *context, int64_t n, const double *values);

#endif
