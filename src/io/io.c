#include <bisai/io.h>

#include <errno.h>
#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <sys/stat.h>

#include "core/context.h"
#include "core/csr.h"
#include "io/matrix_market.h"

bisai_read_options bisai_read_options_default(void) {
  return (bisai_read_options){.struct_size = sizeof(bisai_read_options), .pad = true};
}

static bisai_status check_options(bisai_context *context, const bisai_read_options *options) {
  const bisai_status status = bsi_check_struct(context, "bisai_read_options", options->struct_size, sizeof *options);
  if (status) return status;
  if (options->block_size < 0 || options->block_size > BISAI_MAX_BLOCK_SIZE)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT, "block size %d is outside 1 … %d", options->block_size,
                    BISAI_MAX_BLOCK_SIZE);
  return BISAI_OK;
}

/* Reads the stream and closes it as soon as its buffers are not needed any more. */
static bisai_status read_matrix(bisai_context *context, bsi_stream **stream, const bisai_read_options *options,
                                bisai_bcsr **matrix) {
  bsi_entries entries = {0};
  int32_t rows = 0, *row_ptr = NULL;
  bisai_status status = bsi_market_read_matrix(context, *stream, &rows, &entries);
  bsi_stream_close(stream);
  if (!status) status = bsi_entries_group(context, &entries, rows, &row_ptr);
  if (!status) {
    const bisai_csr_desc csr = {.struct_size = sizeof csr,
                                .rows = rows,
                                .cols = rows,
                                .row_ptr = row_ptr,
                                .col_idx = entries.col,
                                .values = entries.value,
                                .block_size = options->block_size,
                                .pad = options->pad};
    status = bsi_bcsr_from_sound_csr(context, &csr, matrix);
  }
  bsi_release(context, row_ptr);
  bsi_entries_free(context, &entries);
  return status;
}

bisai_status bisai_read_matrix(bisai_context *context, const char *path, const bisai_read_options *options,
                               bisai_bcsr **matrix) {
  if (!context) return BISAI_INVALID_ARGUMENT;
  if (!path || !matrix)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT, "bisai_read_matrix: %s is NULL", path ? "matrix" : "path");
  const bisai_read_options o = options ? *options : bisai_read_options_default();
  bsi_stream *stream = NULL;
  bisai_status status = check_options(context, &o);
  if (!status) status = bsi_stream_open_file(context, path, o.progress, o.progress_user, &stream);
  return status ? status : read_matrix(context, &stream, &o, matrix);
}

bisai_status bsi_read_matrix_memory(bisai_context *context, const void *data, size_t bytes,
                                    const bisai_read_options *options, bisai_bcsr **matrix) {
  bsi_stream *stream = NULL;
  const bisai_status status = bsi_stream_open_memory(context, data, bytes, &stream);
  return status ? status : read_matrix(context, &stream, options, matrix);
}

static bisai_status check_vector(bisai_context *context, const char *call, const char *path, int64_t n,
                                 const double *values) {
  if (!path) return bsi_fail(context, BISAI_INVALID_ARGUMENT, "%s: path is NULL", call);
  if (n < 0) return bsi_fail(context, BISAI_INVALID_ARGUMENT, "%s: negative length %" PRId64, call, n);
  if (n > 0 && !values) return bsi_fail(context, BISAI_INVALID_ARGUMENT, "%s: values is NULL", call);
  return BISAI_OK;
}

bisai_status bisai_read_vector(bisai_context *context, const char *path, int64_t n, double *values) {
  if (!context) return BISAI_INVALID_ARGUMENT;
  bsi_stream *stream = NULL;
  bisai_status status = check_vector(context, "bisai_read_vector", path, n, values);
  if (!status) status = bsi_stream_open_file(context, path, NULL, NULL, &stream);
  if (!status) status = bsi_market_read_vector(context, stream, n, values);
  bsi_stream_close(&stream);
  return status;
}

bisai_status bsi_read_vector_memory(bisai_context *context, const void *data, size_t bytes, int64_t n, double *values) {
  bsi_stream *stream = NULL;
  bisai_status status = bsi_stream_open_memory(context, data, bytes, &stream);
  if (!status) status = bsi_market_read_vector(context, stream, n, values);
  bsi_stream_close(&stream);
  return status;
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
