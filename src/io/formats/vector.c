/* SPDX-License-Identifier: BSD-3-Clause */
#include "io/formats/vector.h"

#include <inttypes.h>
#include <math.h>

#include "core/context/context_impl.h"

bisai_status bsi_vector_check(bisai_context *context, const char *call, const char *path, int64_t n,
                              const double *values) {
  if (!path) return bsi_fail(context, BISAI_INVALID_ARGUMENT, "%s: path is NULL", call);
  if (n < 0)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT, "%s: negative length %" PRId64, call, n);
  if (n > 0 && !values)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT, "%s: values is NULL", call);
  return BISAI_OK;
}

bisai_status bsi_vector_check_finite(bisai_context *context, int64_t n, const double *values) {
  for (int64_t i = 0; i < n; i++)
    if (!isfinite(values[i]))
      return bsi_fail(context, BISAI_NOT_FINITE, "value %" PRId64 " is NaN or infinity", i);
  return BISAI_OK;
}
