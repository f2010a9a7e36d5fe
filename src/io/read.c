/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <unistd.h>

#include "core/context/context_impl.h"
#include "core/csr/csr.h"
#include "io/formats/matrix_market.h"
#include "io/formats/npz.h"
#include "io/formats/petsc_binary.h"
#include "io/formats/vector.h"
#include "io/streams/stored.h"
#include "io/streams/suitesparse.h"

bisai_read_options bisai_read_options_default(void) {
  return (bisai_read_options){.struct_size = sizeof(bisai_read_options), .pad = true};
}

static bisai_status check_options(bisai_context *context, const bisai_read_options *options) {
  BSI_TRY(bsi_check_struct(context, "bisai_read_options", options->struct_size, sizeof *options));
  if (options->block_size < 0 || options->block_size > BISAI_MAX_BLOCK_SIZE)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT, "block size %d is outside 1 … %d",
                    options->block_size, BISAI_MAX_BLOCK_SIZE);
  if (options->find_nodes && options->block_size > 0)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT,
                    "find_nodes chooses the block size, and %d is given", options->block_size);
  if (options->max_bytes < 0)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT, "max_bytes %" PRId64 " is negative",
                    options->max_bytes);
  return BISAI_OK;
}

/* Returns the physical memory in bytes, or INT64_MAX if the system does not report it. */
static int64_t physical_memory(void) {
#ifdef _SC_PHYS_PAGES
  const long pages = sysconf(_SC_PHYS_PAGES), bytes = sysconf(_SC_PAGESIZE);
  if (pages > 0 && bytes > 0 && pages <= INT64_MAX / bytes) return (int64_t)pages * bytes;
#endif
  return INT64_MAX;
}

/* What a source holds. */
typedef enum kind { MARKET, SUITESPARSE, PETSC, NPZ, NPY } kind;

static bisai_status detect(bsi_source *source, kind *k) {
  bool found = false;
  *k = bsi_source_is_archive(source) ? SUITESPARSE : bsi_source_is_zip(source) ? NPZ : MARKET;
  if (*k != MARKET) return BISAI_OK;
  BSI_TRY(bsi_petsc_detect(source, &found));
  if (found) *k = PETSC;
  if (!found) BSI_TRY(bsi_npy_detect(source, &found));
  if (found && *k != PETSC) *k = NPY;
  return BISAI_OK;
}

static bisai_status read_market_matrix(bsi_source *source, bsi_csr *csr) {
  bisai_context *context = bsi_source_context(source);
  bsi_stream *stream = NULL;
  bsi_entries entries = {0};
  bisai_status status = bsi_stream_open(source, &stream);
  if (!status) status = bsi_market_read_matrix(context, stream, csr, &entries);
  bsi_stream_close(&stream);
  if (!status) status = bsi_entries_group(context, &entries, csr->rows, &csr->limit, &csr->row_ptr);
  if (status) {
    bsi_entries_free(context, &entries);
  } else {
    csr->col = entries.col;
    csr->value = entries.value;
    csr->limit.held += ((int64_t)csr->rows + 1) * (int64_t)sizeof *csr->row_ptr +
                       entries.capacity * (int64_t)(sizeof *csr->col + sizeof *csr->value);
  }
  return status;
}

static bisai_status read_market_vector(bsi_source *source, int64_t n, double *values,
                                       int64_t *columns) {
  bsi_stream *stream = NULL;
  bisai_status status = bsi_stream_open(source, &stream);
  if (!status)
    status = bsi_market_read_vector(bsi_source_context(source), stream, n, values, columns);
  bsi_stream_close(&stream);
  return status;
}

/* Closes a source that was read with `status`. A compressed source reports only now whether it is
 * complete. */
static bisai_status close_source(bsi_source **source, bisai_status status) {
  if (!status) status = bsi_source_finish(*source);
  bsi_source_close(source);
  return status;
}

/* The content of a file. */
typedef struct content {
  bsi_csr csr;
  kind kind;
  /* the archive's member that holds the matrix */
  bsi_member member;
  /* NULL: there is no right-hand side, or it is not wanted */
  double *rhs;
  int64_t columns;
  bool rhs_failed;
} content;

static bisai_status read_suitesparse(bsi_source *source, content *c) {
  BSI_TRY(bsi_archive_find_matrix(source, &c->member));
  const bisai_status status = read_market_matrix(source, &c->csr);
  return status ? bsi_archive_fail_in(source, c->member.name, status) : BISAI_OK;
}

/* Reads a matrix. A file beside that of PETSc at `path` may specify the block size. NULL: there is
 * no such file. */
static bisai_status read_csr(bsi_source *source, const char *path, content *c) {
  bisai_context *context = bsi_source_context(source);
  BSI_TRY(detect(source, &c->kind));
  switch (c->kind) {
  case MARKET: return read_market_matrix(source, &c->csr);
  case SUITESPARSE: return read_suitesparse(source, c);
  case NPZ: return bsi_npz_read_matrix(source, &c->csr);
  case NPY:
    return bsi_fail(context, BISAI_UNSUPPORTED,
                    "a dense array of NumPy; scipy.sparse.save_npz() writes sparse matrices");
  case PETSC: break;
  }
  if (path && c->csr.block_size == 0)
    BSI_TRY(bsi_petsc_block_size(context, path, &c->csr.block_size));
  return bsi_petsc_read_matrix(source, &c->csr);
}

/* Nothing may follow the matrix. */
static bisai_status find_petsc_vector(bsi_source *source, bool *found) {
  BSI_TRY(bsi_petsc_detect(source, found));
  return *found ? bsi_petsc_find_vector(source, found) : BISAI_OK;
}

/* Goes to the right-hand side that belongs to a matrix. The matrix has been read or, unless the
 * source is an archive, follows. `name` ← the name of the member. */
static bisai_status find_rhs(bsi_source *source, kind k, const bsi_member *matrix,
                             char name[BSI_MEMBER_BYTES], bool *found) {
  *found = false;
  if (k == SUITESPARSE) return bsi_archive_find_rhs(source, matrix, name, found);
  if (k == NPZ) return bsi_npz_find_rhs(source, found);
  return k == PETSC ? find_petsc_vector(source, found) : BISAI_OK;
}

static bisai_status read_found_rhs(bsi_source *source, kind k, const char *name, int64_t n,
                                   double *values, int64_t *columns) {
  if (k == SUITESPARSE) {
    const bisai_status status = read_market_vector(source, n, values, columns);
    return status ? bsi_archive_fail_in(source, name, status) : BISAI_OK;
  }
  *columns = 1;
  return k == NPZ ? bsi_npy_read_vector(source, "b", n, values)
                  : bsi_petsc_read_vector(source, n, values);
}

/* Reads the right-hand side that belongs to the matrix just read. */
static bisai_status read_own_rhs(bsi_source *source, content *c) {
  bisai_context *context = bsi_source_context(source);
  char name[BSI_MEMBER_BYTES];
  bool found = false;
  BSI_TRY(find_rhs(source, c->kind, &c->member, name, &found));
  if (!found) return BISAI_OK;
  const int64_t bytes = c->csr.rows * (int64_t)sizeof *c->rhs;
  BSI_TRY(bsi_limit_check(context, &c->csr.limit, bytes));
  c->csr.limit.held += bytes;
  c->rhs = bsi_allocate(context, (size_t)c->csr.rows, sizeof *c->rhs);
  const bisai_status status =
      c->rhs ? read_found_rhs(source, c->kind, name, c->csr.rows, c->rhs, &c->columns)
             : BISAI_OUT_OF_MEMORY;
  c->rhs_failed = status != BISAI_OK;
  return status;
}

static bisai_status make_matrix(bisai_context *context, const bisai_read_options *options,
                                const content *c, bisai_bcsr **matrix) {
  const bisai_csr_desc csr = {.struct_size = sizeof csr,
                              .rows = c->csr.rows,
                              .cols = c->csr.rows,
                              .row_ptr = c->csr.row_ptr,
                              .col_idx = c->csr.col,
                              .values = c->csr.value,
                              .block_size = c->csr.block_size,
                              .pad = options->pad,
                              .find_nodes = options->find_nodes && c->csr.block_size == 0};
  return bsi_bcsr_from_sound_csr(context, &csr, &c->csr.limit, matrix);
}

/* Reads a matrix and, with `with_rhs`, its right-hand side. Closes the source as soon as all has
 * been read, which frees its buffers. */
static bisai_status read_system(bisai_context *context, bsi_source **source, const char *path,
                                const bisai_read_options *options, bool with_rhs,
                                bisai_system *system) {
  content c = {
      .csr = {.block_size = options->block_size,
              .limit = {.max = options->max_bytes > 0 ? options->max_bytes : physical_memory()}}};
  bisai_status status = read_csr(*source, path, &c);
  if (!status && with_rhs) status = read_own_rhs(*source, &c);
  status = close_source(source, status);
  if (!status) status = make_matrix(context, options, &c, &system->matrix);
  bsi_csr_free(context, &c.csr);
  system->rhs_failed = c.rhs_failed;
  if (status) {
    bsi_release(context, c.rhs);
    return status;
  }
  system->rhs = c.rhs;
  system->rhs_columns = c.columns;
  return BISAI_OK;
}

bisai_status bisai_read_matrix(bisai_context *context, const char *path,
                               const bisai_read_options *options, bisai_bcsr **matrix) {
  if (!context) return BISAI_INVALID_ARGUMENT;
  if (!path || !matrix)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT, "bisai_read_matrix: %s is NULL",
                    path ? "matrix" : "path");
  const bisai_read_options o = options ? *options : bisai_read_options_default();
  bsi_source *source = NULL;
  bisai_system system = {.matrix = NULL};
  BSI_TRY(check_options(context, &o));
  BSI_TRY(bsi_source_open_file(context, path, o.progress, o.progress_user, &source));
  BSI_TRY(read_system(context, &source, path, &o, false, &system));
  *matrix = system.matrix;
  return BISAI_OK;
}

bisai_status bisai_read_system(bisai_context *context, const char *path,
                               const bisai_read_options *options, bisai_system *system) {
  if (!context) return BISAI_INVALID_ARGUMENT;
  if (!path || !system)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT, "bisai_read_system: %s is NULL",
                    path ? "system" : "path");
  const bisai_read_options o = options ? *options : bisai_read_options_default();
  bsi_source *source = NULL;
  BSI_TRY(bsi_check_report(context, "bisai_system", system->struct_size, sizeof *system));
  system->rhs_failed = false;
  BSI_TRY(check_options(context, &o));
  BSI_TRY(bsi_source_open_file(context, path, o.progress, o.progress_user, &source));
  return read_system(context, &source, path, &o, true, system);
}

void bisai_system_clear(bisai_context *context, bisai_system *system) {
  if (!context || !system) return;
  bisai_bcsr_destroy(&system->matrix);
  bsi_release(context, system->rhs);
  system->rhs = NULL;
  system->rhs_columns = 0;
}

bisai_status bisai_read_block_size(bisai_context *context, const char *path, int32_t *block_size) {
  if (!context) return BISAI_INVALID_ARGUMENT;
  if (!path || !block_size)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT, "bisai_read_block_size: %s is NULL",
                    path ? "block_size" : "path");
  bsi_source *source = NULL;
  bool petsc = false;
  int32_t size = 0;
  bisai_status status = BISAI_OK;
  if (!bsi_path_passes_once(path))
    status = bsi_source_open_file(context, path, NULL, NULL, &source);
  if (source && !bsi_source_is_archive(source)) status = bsi_petsc_detect(source, &petsc);
  bsi_source_close(&source);
  if (!status && petsc) status = bsi_petsc_block_size(context, path, &size);
  if (!status) *block_size = size;
  return status;
}

/* Reads the right-hand side that belongs to a matrix. *columns ← 0 if there is none. */
static bisai_status read_rhs(bsi_source *source, kind k, int64_t n, double *values,
                             int64_t *columns) {
  bsi_member matrix;
  char name[BSI_MEMBER_BYTES];
  bool found = false;
  *columns = 0;
  if (k == SUITESPARSE) BSI_TRY(bsi_archive_find_matrix(source, &matrix));
  BSI_TRY(find_rhs(source, k, &matrix, name, &found));
  return found ? read_found_rhs(source, k, name, n, values, columns) : BISAI_OK;
}

/* Reads a vector, or the right-hand side that belongs to a matrix. */
static bisai_status read_vector(bsi_source *source, int64_t n, double *values) {
  kind k = MARKET;
  int64_t columns = 0;
  BSI_TRY(detect(source, &k));
  if (k == MARKET) return read_market_vector(source, n, values, NULL);
  if (k == NPY) return bsi_npy_read_vector(source, "the array", n, values);
  BSI_TRY(read_rhs(source, k, n, values, &columns));
  if (columns == 1) return BISAI_OK;
  bisai_context *context = bsi_source_context(source);
  if (columns == 0)
    return bsi_fail(context, BISAI_UNSUPPORTED, "there is no right-hand side with the matrix");
  return bsi_fail(context, BISAI_UNSUPPORTED,
                  "%" PRId64 " columns; a vector (one column) is needed", columns);
}

static bisai_status read_rhs_of(bsi_source *source, int64_t n, double *values, int64_t *columns) {
  kind k = MARKET;
  BSI_TRY(detect(source, &k));
  return read_rhs(source, k, n, values, columns);
}

bisai_status bisai_read_vector(bisai_context *context, const char *path, int64_t n,
                               double *values) {
  if (!context) return BISAI_INVALID_ARGUMENT;
  bsi_source *source = NULL;
  BSI_TRY(bsi_vector_check(context, "bisai_read_vector", path, n, values));
  BSI_TRY(bsi_source_open_file(context, path, NULL, NULL, &source));
  return close_source(&source, read_vector(source, n, values));
}

bisai_status bisai_read_rhs(bisai_context *context, const char *path, int64_t n, double *values,
                            int64_t *columns) {
  if (!context) return BISAI_INVALID_ARGUMENT;
  bsi_source *source = NULL;
  BSI_TRY(bsi_vector_check(context, "bisai_read_rhs", path, n, values));
  if (!columns) return bsi_fail(context, BISAI_INVALID_ARGUMENT, "bisai_read_rhs: columns is NULL");
  BSI_TRY(bsi_source_open_file(context, path, NULL, NULL, &source));
  return close_source(&source, read_rhs_of(source, n, values, columns));
}

static bisai_status read_market_vectors(bsi_source *source, int64_t n, int32_t most,
                                        double **values, int32_t *count) {
  bsi_stream *stream = NULL;
  bisai_status status = bsi_stream_open(source, &stream);
  if (!status)
    status = bsi_market_read_vectors(bsi_source_context(source), stream, n, most, values, count);
  bsi_stream_close(&stream);
  return status;
}

static bisai_status read_vectors(bsi_source *source, int64_t n, int32_t most, double **values,
                                 int32_t *count) {
  kind k = MARKET;
  BSI_TRY(detect(source, &k));
  if (k == MARKET) return read_market_vectors(source, n, most, values, count);
  if (k == NPY) return bsi_npy_read_vectors(source, n, most, values, count);
  return bsi_fail(bsi_source_context(source), BISAI_UNSUPPORTED,
                  "several vectors are read from Matrix Market files and arrays of NumPy only");
}

/* Reads vectors and closes the source. */
static bisai_status take_vectors(bsi_source **source, int64_t n, int32_t most, double **values,
                                 int32_t *count) {
  bisai_context *context = bsi_source_context(*source);
  double *read = NULL;
  int32_t columns = 0;
  const bisai_status status = close_source(source, read_vectors(*source, n, most, &read, &columns));
  if (status) {
    bsi_release(context, read);
    return status;
  }
  *values = read;
  *count = columns;
  return BISAI_OK;
}

bisai_status bisai_read_vectors(bisai_context *context, const char *path, int64_t n, int32_t most,
                                double **values, int32_t *count) {
  if (!context) return BISAI_INVALID_ARGUMENT;
  bsi_source *source = NULL;
  if (!path || !values || !count)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT, "bisai_read_vectors: %s is NULL",
                    !path     ? "path"
                    : !values ? "values"
                              : "count");
  if (n < 1 || most < 1)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT,
                    "bisai_read_vectors: %" PRId64 " values of at most %d vectors", n, most);
  BSI_TRY(bsi_source_open_file(context, path, NULL, NULL, &source));
  return take_vectors(&source, n, most, values, count);
}

void bisai_vectors_destroy(bisai_context *context, double **values) {
  if (!context || !values) return;
  bsi_release(context, *values);
  *values = NULL;
}
