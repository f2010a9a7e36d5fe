/* SPDX-License-Identifier: BSD-3-Clause */
#include <bisai/io.h>

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/context/context_impl.h"
#include "core/context/words.h"
#include "io/formats/matrix_market.h"
#include "io/formats/npz.h"
#include "io/formats/petsc_binary.h"
#include "io/formats/vector.h"

BSI_DEFINE_WORDS(format, BISAI_FORMAT_LIST, "unknown format")

/* The target of a call: the file and its format. */
typedef struct target {
  bisai_context *context;
  const char *path;
  bisai_format format;
  bsi_compression compression;
  /* the NAME of an archive */
  char name[128];
} target;

bisai_write_options bisai_write_options_default(void) {
  return (bisai_write_options){.struct_size = sizeof(bisai_write_options)};
}

/* Returns the format by the endings of the name, or BISAI_FORMAT_BY_NAME if they do not determine
 * it. */
static bisai_format format_of(const char *base, size_t *length, bsi_compression *compression) {
  if (bsi_drop_tar(base, length, compression)) return BISAI_FORMAT_SUITESPARSE;
  if (bsi_drop_ending(base, length, ".npz")) return BISAI_FORMAT_NPZ;
  *compression = bsi_drop_compression(base, length);
  if (bsi_drop_ending(base, length, ".mtx")) return BISAI_FORMAT_MATRIX_MARKET;
  if (bsi_drop_ending(base, length, ".petsc") || bsi_drop_ending(base, length, ".bin"))
    return BISAI_FORMAT_PETSC;
  return BISAI_FORMAT_BY_NAME;
}

static bisai_status choose_target(bisai_context *context, const char *path, bisai_format format,
                                  target *t) {
  const char *base = bsi_base_name(path);
  size_t length = strlen(base);
  *t = (target){.context = context, .path = path};
  t->format = format_of(base, &length, &t->compression);
  if (format != BISAI_FORMAT_BY_NAME) t->format = format;
  if (t->format != BISAI_FORMAT_SUITESPARSE) return BISAI_OK;
  if (length == 0 || length >= sizeof t->name)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT,
                    "the name of an archive has 1 to %zu bytes before its ending",
                    sizeof t->name - 1);
  memcpy(t->name, base, length);
  return BISAI_OK;
}

typedef void (*part)(bsi_output *output, const void *what, int64_t n);

static void matrix_part(bsi_output *output, const void *rows, int64_t n) {
  (void)n;
  bsi_market_write_matrix(output, rows);
}

static void vector_part(bsi_output *output, const void *values, int64_t n) {
  bsi_market_write_vector(output, n, values);
}

/* Writes NAME/NAME`suffix`.mtx. tar needs its size first, so that it is generated twice. */
static bisai_status write_member(const target *t, bsi_output *output, const char *suffix,
                                 part write, const void *what, int64_t n) {
  char name[2 * sizeof t->name + 16];
  snprintf(name, sizeof name, "%s/%s%s.mtx", t->name, t->name, suffix);
  bsi_output *counter = NULL;
  const bisai_status status = bsi_output_open_counter(t->context, &counter);
  if (status) return status;
  write(counter, what, n);
  bsi_output_begin_member(output, name, bsi_output_count(counter));
  bsi_output_close(&counter, BISAI_OK);
  write(output, what, n);
  return BISAI_OK;
}

static bisai_status write_parts(const target *t, bsi_output *output, const bsi_scalar_rows *rows,
                                const double *rhs) {
  switch (t->format) {
  case BISAI_FORMAT_PETSC:
    BSI_TRY(bsi_petsc_write_matrix(output, rows));
    if (rhs) BSI_TRY(bsi_petsc_write_vector(output, t->context, rows->rows, rhs));
    break;
  case BISAI_FORMAT_SUITESPARSE:
    BSI_TRY(write_member(t, output, "", matrix_part, rows, 0));
    if (rhs) BSI_TRY(write_member(t, output, "_b", vector_part, rhs, rows->rows));
    break;
  case BISAI_FORMAT_NPZ: return bsi_npz_write(output, rows, rhs);
  default: bsi_market_write_matrix(output, rows);
  }
  return BISAI_OK;
}

static bisai_status check_write(bisai_context *context, const char *path, const bisai_bcsr *matrix,
                                const bisai_write_options *o) {
  BSI_TRY(bsi_check_struct(context, "bisai_write_options", o->struct_size, sizeof *o));
  if (!path || !matrix)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT, "bisai_write_matrix: %s is NULL",
                    path ? "matrix" : "path");
  if (o->format < BISAI_FORMAT_BY_NAME || o->format > BISAI_FORMAT_NPZ)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT, "unknown format %d", (int)o->format);
  return o->rhs ? bsi_vector_check_finite(context, bisai_bcsr_rows(matrix), o->rhs) : BISAI_OK;
}

static bisai_status check_target(const target *t, const bisai_write_options *o) {
  if (t->format == BISAI_FORMAT_BY_NAME)
    return bsi_fail(
        t->context, BISAI_INVALID_ARGUMENT,
        "the ending of %s is none of .mtx, .petsc, .bin (also .gz, .xz, .bz2, .zst), .tar.gz and "
        ".npz",
        bsi_base_name(t->path));
  if (t->format == BISAI_FORMAT_MATRIX_MARKET && o->rhs)
    return bsi_fail(t->context, BISAI_INVALID_ARGUMENT,
                    "a Matrix Market file has no room for a right-hand side beside the matrix");
  return BISAI_OK;
}

static bsi_container container_of(bisai_format format) {
  return format == BISAI_FORMAT_SUITESPARSE ? BSI_TAR
         : format == BISAI_FORMAT_NPZ       ? BSI_ZIP
                                            : BSI_SINGLE;
}

bisai_status bisai_write_matrix(bisai_context *context, const char *path, const bisai_bcsr *matrix,
                                const bisai_write_options *options) {
  if (!context) return BISAI_INVALID_ARGUMENT;
  const bisai_write_options o = options ? *options : bisai_write_options_default();
  target t;
  bsi_scalar_rows rows = {.context = context};
  bsi_output *output = NULL;
  bisai_status status = check_write(context, path, matrix, &o);
  if (!status) status = choose_target(context, path, o.format, &t);
  if (!status) status = check_target(&t, &o);
  if (!status) status = bsi_scalar_rows_open(context, matrix, &rows);
  if (!status)
    status = bsi_output_open(context, path, container_of(t.format), t.compression, &output);
  if (output) {
    status = bsi_output_finish(output, write_parts(&t, output, &rows, o.rhs));
    if (!status && t.format == BISAI_FORMAT_PETSC && bsi_output_is_file(output))
      status = bsi_petsc_write_info(
          context, path, bisai_bcsr_padding(matrix) > 0 ? 1 : rows.block_size, o.rhs != NULL);
    status = bsi_output_close(&output, status);
  }
  bsi_scalar_rows_close(&rows);
  return status;
}

static bool is_numpy(const char *path) {
  size_t length = strlen(path);
  bsi_drop_compression(path, &length);
  return bsi_drop_ending(path, &length, ".npy");
}

bisai_status bisai_write_vector(bisai_context *context, const char *path, int64_t n,
                                const double *values) {
  if (!context) return BISAI_INVALID_ARGUMENT;
  target t;
  bsi_output *output = NULL;
  bisai_status status = bsi_vector_check(context, "bisai_write_vector", path, n, values);
  if (!status) status = bsi_vector_check_finite(context, n, values);
  if (!status) status = choose_target(context, path, BISAI_FORMAT_BY_NAME, &t);
  if (!status && container_of(t.format) != BSI_SINGLE)
    status = bsi_fail(context, BISAI_INVALID_ARGUMENT, "an archive is not for a vector alone: %s",
                      bsi_base_name(path));
  if (!status) status = bsi_output_open(context, path, BSI_SINGLE, t.compression, &output);
  if (!output) return status;
  if (is_numpy(path))
    bsi_npy_write_vector(output, n, values);
  else if (t.format == BISAI_FORMAT_PETSC)
    status = bsi_petsc_write_vector(output, context, n, values);
  else
    bsi_market_write_vector(output, n, values);
  return bsi_output_close(&output, status);
}

bisai_status bisai_write_bytes(bisai_context *context, const char *path, const void *bytes,
                               size_t count) {
  if (!context) return BISAI_INVALID_ARGUMENT;
  if (!path || (!bytes && count > 0))
    return bsi_fail(context, BISAI_INVALID_ARGUMENT, "bisai_write_bytes: %s is NULL",
                    path ? "bytes" : "path");
  bsi_output *output = NULL;
  bisai_status status = bsi_output_open(context, path, BSI_SINGLE, BSI_PLAIN, &output);
  if (status) return status;
  bsi_output_write(output, bytes, count);
  return bsi_output_close(&output, BISAI_OK);
}
