#include <bisai/io.h>

#include <errno.h>
#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <sys/stat.h>

#include "core/context.h"
#include "io/stored.h"

static bisai_status check_vector(bisai_context *context, const char *call, const char *path, int64_t n,
                                 const double *values) {
  if (!path) return bsi_fail(context, BISAI_INVALID_ARGUMENT, "%s: path is NULL", call);
  if (n < 0) return bsi_fail(context, BISAI_INVALID_ARGUMENT, "%s: negative length %" PRId64, call, n);
  if (n > 0 && !values) return bsi_fail(context, BISAI_INVALID_ARGUMENT, "%s: values is NULL", call);
  return BISAI_OK;
}

/* 0 or the error number of the first write that failed. */
static int write_values(FILE *file, int64_t n, const double *values) {
  bool good = fprintf(file, "%%%%MatrixMarket matrix array real general\n%" PRId64 " 1\n", n) > 0;
  for (int64_t i = 0; i < n && good; i++) good = fprintf(file, "%.17g\n", values[i]) > 0;
  return good ? 0 : errno;
}

bisai_status bisai_write_vector(bisai_context *context, const char *path, int64_t n, const double *values) {
  if (!context) return BISAI_INVALID_ARGUMENT;
  const bisai_status status = check_vector(context, "bisai_write_vector", path, n, values);
  if (status) return status;
  for (int64_t i = 0; i < n; i++)
    if (!isfinite(values[i])) return bsi_fail(context, BISAI_NOT_FINITE, "value %" PRId64 " is NaN or infinity", i);

  const locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
  if (!c_locale) return bsi_fail(context, BISAI_OUT_OF_MEMORY, "cannot make the C locale");
  FILE *file = fopen(path, "w");
  if (!file) {
    const int error = errno;
    freelocale(c_locale);
    return bsi_io_fail(context, "open", path, error);
  }
  struct stat about;
  const bool regular = fstat(fileno(file), &about) == 0 && S_ISREG(about.st_mode);
  const locale_t callers = uselocale(c_locale);
  int error = write_values(file, n, values);
  uselocale(callers);
  freelocale(c_locale);
  if (fclose(file) != 0 && error == 0) error = errno;
  if (error == 0) return BISAI_OK;
  if (regular) remove(path);
  return bsi_io_fail(context, "write", path, error);
}
