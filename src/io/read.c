#include "io/read.h"

#include <inttypes.h>

#include "core/context.h"
#include "core/csr.h"
#include "io/archive.h"
#include "io/matrix_market.h"
#include "io/petsc.h"
#include "io/vector.h"

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

static bisai_status read_market_matrix(bsi_source *source, bsi_csr *csr) {
  bisai_context *context = bsi_source_context(source);
  bsi_stream *stream = NULL;
  bsi_entries entries = {0};
  bisai_status status = bsi_stream_open(source, &stream);
  if (!status) status = bsi_market_read_matrix(context, stream, &csr->rows, &entries);
  bsi_stream_close(&stream);
  if (!status) status = bsi_entries_group(context, &entries, csr->rows, &csr->row_ptr);
  if (status) {
    bsi_entries_free(context, &entries);
  } else {
    csr->col = entries.col;
    csr->value = entries.value;
  }
  return status;
}

static bisai_status read_market_vector(bsi_source *source, int64_t n, double *values, int64_t *columns) {
  bsi_stream *stream = NULL;
  bisai_status status = bsi_stream_open(source, &stream);
  if (!status) status = bsi_market_read_vector(bsi_source_context(source), stream, n, values, columns);
  bsi_stream_close(&stream);
  return status;
}

/* Closes a source that was read with `status`; a compressed one only now shows whether it is whole. */
static bisai_status close_source(bsi_source **source, bisai_status status) {
  if (!status) status = bsi_source_finish(*source);
  bsi_source_close(source);
  return status;
}

/* Of an archive, of PETSc, or else a Matrix Market file. */
static bisai_status read_csr(bsi_source *source, bool *petsc, bsi_csr *csr) {
  *petsc = false;
  if (bsi_source_is_archive(source)) {
    char name[BSI_MEMBER_BYTES];
    bisai_status status = bsi_archive_find_matrix(source, name);
    if (status) return status;
    status = read_market_matrix(source, csr);
    return status ? bsi_archive_fail_in(source, name, status) : BISAI_OK;
  }
  const bisai_status status = bsi_petsc_detect(source, petsc);
  if (status) return status;
  return *petsc ? bsi_petsc_read_matrix(source, csr) : read_market_matrix(source, csr);
}

/* Closes the source as soon as its buffers are not needed any more. `path`: where a file beside it may tell the block size, or NULL. */
static bisai_status read_matrix(bisai_context *context, bsi_source **source, const char *path,
                                const bisai_read_options *options, bisai_bcsr **matrix) {
  bsi_csr read = {0};
  bool petsc = false;
  int32_t block_size = options->block_size;
  bisai_status status = close_source(source, read_csr(*source, &petsc, &read));
  if (!status && petsc && path && block_size == 0) status = bsi_petsc_block_size(context, path, &block_size);
  if (!status) {
    const bisai_csr_desc csr = {.struct_size = sizeof csr,
                                .rows = read.rows,
                                .cols = read.rows,
                                .row_ptr = read.row_ptr,
                                .col_idx = read.col,
                                .values = read.value,
                                .block_size = block_size,
                                .pad = options->pad};
    status = bsi_bcsr_from_sound_csr(context, &csr, matrix);
  }
  bsi_csr_free(context, &read);
  return status;
}

bisai_status bisai_read_matrix(bisai_context *context, const char *path, const bisai_read_options *options,
                               bisai_bcsr **matrix) {
  if (!context) return BISAI_INVALID_ARGUMENT;
  if (!path || !matrix)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT, "bisai_read_matrix: %s is NULL", path ? "matrix" : "path");
  const bisai_read_options o = options ? *options : bisai_read_options_default();
  bsi_source *source = NULL;
  bisai_status status = check_options(context, &o);
  if (!status) status = bsi_source_open_file(context, path, o.progress, o.progress_user, &source);
  return status ? status : read_matrix(context, &source, path, &o, matrix);
}

bisai_status bsi_read_matrix_memory(bisai_context *context, const void *data, size_t bytes,
                                    const bisai_read_options *options, bisai_bcsr **matrix) {
  bsi_source *source = NULL;
  const bisai_status status = bsi_source_open_memory(context, data, bytes, &source);
  return status ? status : read_matrix(context, &source, NULL, options, matrix);
}

bisai_status bisai_read_block_size(bisai_context *context, const char *path, int32_t *block_size) {
  if (!context) return BISAI_INVALID_ARGUMENT;
  if (!path || !block_size)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT, "bisai_read_block_size: %s is NULL", path ? "block_size" : "path");
  bsi_source *source = NULL;
  bool petsc = false;
  int32_t size = 0;
  bisai_status status = bsi_source_open_file(context, path, NULL, NULL, &source);
  if (!status && !bsi_source_is_archive(source)) status = bsi_petsc_detect(source, &petsc);
  bsi_source_close(&source);
  if (!status && petsc) status = bsi_petsc_block_size(context, path, &size);
  if (!status) *block_size = size;
  return status;
}

/* The right-hand side that stands with a matrix; *columns is 0 where there is none. */
static bisai_status read_rhs(bsi_source *source, int64_t n, double *values, int64_t *columns) {
  bool found = false;
  *columns = 0;
  if (bsi_source_is_archive(source)) {
    char name[BSI_MEMBER_BYTES];
    bisai_status status = bsi_archive_find_rhs(source, name, &found);
    if (status || !found) return status;
    status = read_market_vector(source, n, values, columns);
    return status ? bsi_archive_fail_in(source, name, status) : BISAI_OK;
  }
  bisai_status status = bsi_petsc_detect(source, &found);
  if (!status && found) status = bsi_petsc_read_vector(source, n, values, &found);
  if (!status && found) *columns = 1;
  return status;
}

/* A vector by itself, or the right-hand side that stands with a matrix. */
static bisai_status read_vector(bsi_source *source, int64_t n, double *values) {
  bool with_matrix = bsi_source_is_archive(source);
  bisai_status status = with_matrix ? BISAI_OK : bsi_petsc_detect(source, &with_matrix);
  if (!status && !with_matrix) return read_market_vector(source, n, values, NULL);
  int64_t columns = 0;
  if (!status) status = read_rhs(source, n, values, &columns);
  if (status || columns == 1) return status;
  bisai_context *context = bsi_source_context(source);
  if (columns == 0) return bsi_fail(context, BISAI_UNSUPPORTED, "there is no right-hand side with the matrix");
  return bsi_fail(context, BISAI_UNSUPPORTED, "%" PRId64 " columns, where a vector (one column) is needed", columns);
}

bisai_status bisai_read_vector(bisai_context *context, const char *path, int64_t n, double *values) {
  if (!context) return BISAI_INVALID_ARGUMENT;
  bsi_source *source = NULL;
  bisai_status status = bsi_vector_check(context, "bisai_read_vector", path, n, values);
  if (!status) status = bsi_source_open_file(context, path, NULL, NULL, &source);
  return status ? status : close_source(&source, read_vector(source, n, values));
}

bisai_status bsi_read_vector_memory(bisai_context *context, const void *data, size_t bytes, int64_t n, double *values) {
  bsi_source *source = NULL;
  const bisai_status status = bsi_source_open_memory(context, data, bytes, &source);
  return status ? status : close_source(&source, read_vector(source, n, values));
}

bisai_status bisai_read_rhs(bisai_context *context, const char *path, int64_t n, double *values, int64_t *columns) {
  if (!context) return BISAI_INVALID_ARGUMENT;
  bsi_source *source = NULL;
  bisai_status status = bsi_vector_check(context, "bisai_read_rhs", path, n, values);
  if (!status && !columns) status = bsi_fail(context, BISAI_INVALID_ARGUMENT, "bisai_read_rhs: columns is NULL");
  if (!status) status = bsi_source_open_file(context, path, NULL, NULL, &source);
  return status ? status : close_source(&source, read_rhs(source, n, values, columns));
}

bisai_status bsi_read_rhs_memory(bisai_context *context, const void *data, size_t bytes, int64_t n, double *values,
                                 int64_t *columns) {
  bsi_source *source = NULL;
  const bisai_status status = bsi_source_open_memory(context, data, bytes, &source);
  return status ? status : close_source(&source, read_rhs(source, n, values, columns));
}
