/* SPDX-License-Identifier: BSD-3-Clause */
#include "io/formats/npy.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/context/context_impl.h"

static const char MAGIC[] = "\x93NUMPY";
enum { MAGIC_BYTES = 6, LONGEST_HEADER = 1 << 12, PREFIX = 10, ALIGNMENT = 64 };

bisai_status bsi_npy_detect(bsi_source *source, bool *found) {
  const unsigned char *bytes = NULL;
  size_t count = 0;
  BSI_TRY(bsi_source_peek(source, &bytes, &count));
  *found = count >= MAGIC_BYTES && memcmp(bytes, MAGIC, MAGIC_BYTES) == 0;
  return BISAI_OK;
}

static bisai_status fail_header(bsi_source *source, const char *name, const char *what) {
  return bsi_fail(bsi_source_context(source), BISAI_PARSE_ERROR, "%s: the header of the array %s",
                  name, what);
}

static bisai_status read_exactly(bsi_source *source, const char *name, void *target, size_t bytes,
                                 const char *part) {
  size_t got = 0;
  BSI_TRY(bsi_source_read(source, target, bytes, &got));
  return got == bytes ? BISAI_OK
                      : bsi_fail(bsi_source_context(source), BISAI_PARSE_ERROR,
                                 "%s: the file ends within %s", name, part);
}

/* Returns what follows a key of the header, or NULL. */
static const char *value_of(const char *text, const char *key) {
  const char *at = strstr(text, key);
  if (!at) return NULL;
  at += strlen(key);
  while (*at == ' ' || *at == ':') at++;
  return at;
}

/* Reads letters of a type, as '<f8'. */
static bool read_type(const char *at, bsi_npy *npy) {
  if (!at) return false;
  const char quote = *at;
  if (quote != '\'' && quote != '"') return false;
  const char order = at[1];
  char *end = NULL;
  if (!order || !strchr("<>|=", order) || !at[2] || !strchr("biufcSU", at[2])) return false;
  npy->big_endian = order == '>';
  npy->kind = at[2];
  const long bytes = strtol(at + 3, &end, 10);
  if (*end != quote || bytes < 1 || bytes > 64) return false;
  npy->bytes = (int)bytes * (npy->kind == 'U' ? 4 : 1);
  return true;
}

static bool read_shape(const char *at, bsi_npy *npy) {
  if (!at || *at++ != '(') return false;
  npy->count = 1;
  for (npy->dimensions = 0;; npy->dimensions++) {
    while (*at == ' ' || *at == ',') at++;
    if (*at == ')') return true;
    if (*at < '0' || *at > '9' || npy->dimensions == BSI_NPY_DIMENSIONS) return false;
    char *end = NULL;
    const long long size = strtoll(at, &end, 10);
    if (size < 0 || (size > 0 && npy->count > INT64_MAX / 64 / size)) return false;
    npy->shape[npy->dimensions] = size;
    npy->count *= size;
    at = end;
  }
}

bisai_status bsi_npy_open(bsi_source *source, const char *name, bsi_npy *npy) {
  unsigned char prefix[PREFIX + 2];
  char text[LONGEST_HEADER + 1];
  *npy = (bsi_npy){0};
  BSI_TRY(read_exactly(source, name, prefix, PREFIX, "the header of the array"));
  if (memcmp(prefix, MAGIC, MAGIC_BYTES) != 0)
    return fail_header(source, name, "does not begin with NumPy's mark");
  size_t length = (size_t)prefix[8] + 256 * (size_t)prefix[9];
  if (prefix[6] < 1 || prefix[6] > 3) return fail_header(source, name, "has an unknown version");
  if (prefix[6] > 1) {
    BSI_TRY(read_exactly(source, name, prefix + PREFIX, 2, "the header of the array"));
    length += 65536 * ((size_t)prefix[10] + 256 * (size_t)prefix[11]);
  }
  if (length > LONGEST_HEADER) return fail_header(source, name, "is too long");
  BSI_TRY(read_exactly(source, name, text, length, "the header of the array"));
  text[length] = '\0';
  const char *order = value_of(text, "'fortran_order'");
  if (!order) return fail_header(source, name, "has no fortran_order");
  npy->by_columns = *order == 'T';
  if (!read_shape(value_of(text, "'shape'"), npy))
    return fail_header(source, name, "has no shape of at most 3 dimensions");
  if (!read_type(value_of(text, "'descr'"), npy))
    return bsi_fail(bsi_source_context(source), BISAI_UNSUPPORTED,
                    "%s: the elements of the array are not plain numbers", name);
  return BISAI_OK;
}

bisai_status bsi_npy_read(bsi_source *source, const char *name, const bsi_npy *npy, int64_t left,
                          unsigned char chunk[BSI_NPY_CHUNK], int64_t *count) {
  *count = left < BSI_NPY_CHUNK / npy->bytes ? left : BSI_NPY_CHUNK / npy->bytes;
  return read_exactly(source, name, chunk, (size_t)*count * (size_t)npy->bytes, "the values");
}

bisai_status bsi_npy_end(bsi_source *source, const char *name) {
  char byte;
  size_t got = 0;
  BSI_TRY(bsi_source_read(source, &byte, 1, &got));
  return got == 0 ? BISAI_OK
                  : bsi_fail(bsi_source_context(source), BISAI_PARSE_ERROR,
                             "%s: bytes follow the values of the array", name);
}

static uint64_t bits_of(const bsi_npy *npy, const unsigned char *bytes) {
  uint64_t bits = 0;
  for (int i = 0; i < npy->bytes; i++)
    bits = bits << 8 | bytes[npy->big_endian ? i : npy->bytes - 1 - i];
  return bits;
}

double bsi_npy_double(const bsi_npy *npy, const unsigned char *chunk, int64_t k) {
  if (npy->kind != 'f') return (double)bsi_npy_integer(npy, chunk, k);
  const uint64_t bits = bits_of(npy, chunk + k * npy->bytes);
  double value;
  float narrow;
  const uint32_t half = (uint32_t)bits;
  memcpy(&value, &bits, sizeof value);
  memcpy(&narrow, &half, sizeof narrow);
  return npy->bytes == 8 ? value : (double)narrow;
}

int64_t bsi_npy_integer(const bsi_npy *npy, const unsigned char *chunk, int64_t k) {
  uint64_t bits = bits_of(npy, chunk + k * npy->bytes);
  const int unused = 64 - 8 * npy->bytes;
  if (npy->kind == 'i' && unused > 0 && bits >> (63 - unused) & 1)
    bits |= ~UINT64_C(0) << (64 - unused);
  int64_t value;
  memcpy(&value, &bits, sizeof value);
  return npy->kind == 'u' && value < 0 ? INT64_MAX : value;
}

static bool is_integer(const bsi_npy *npy) {
  const bool sized = npy->bytes == 1 || npy->bytes == 2 || npy->bytes == 4 || npy->bytes == 8;
  return (npy->kind == 'i' || npy->kind == 'u' || npy->kind == 'b') && sized;
}

bisai_status bsi_npy_check_real(bisai_context *context, const char *name, const bsi_npy *npy) {
  if (is_integer(npy) || (npy->kind == 'f' && (npy->bytes == 4 || npy->bytes == 8)))
    return BISAI_OK;
  return bsi_fail(context, BISAI_UNSUPPORTED,
                  "%s has the type %c%d; real numbers of at most 8 bytes are needed", name,
                  npy->kind, npy->bytes);
}

bisai_status bsi_npy_check_integer(bisai_context *context, const char *name, const bsi_npy *npy) {
  return is_integer(npy)
             ? BISAI_OK
             : bsi_fail(context, BISAI_UNSUPPORTED, "%s has the type %c%d; integers are needed",
                        name, npy->kind, npy->bytes);
}

/* Reads n·columns values, each to its place row by row. */
static bisai_status read_rows(bsi_source *source, const char *name, const bsi_npy *npy, int64_t n,
                              int64_t columns, double *values) {
  unsigned char chunk[BSI_NPY_CHUNK];
  for (int64_t i = 0, count = 0; i < npy->count; i += count) {
    BSI_TRY(bsi_npy_read(source, name, npy, npy->count - i, chunk, &count));
    for (int64_t k = 0; k < count; k++) {
      const double value = bsi_npy_double(npy, chunk, k);
      const int64_t place = i + k;
      if (!isfinite(value))
        return bsi_fail(bsi_source_context(source), BISAI_NOT_FINITE,
                        "value %" PRId64 " of the array is NaN or infinity", place);
      values[npy->by_columns ? place % n * columns + place / n : place] = value;
    }
  }
  return bsi_npy_end(source, name);
}

/* Reads the header of an array of n rows. */
static bisai_status open_rows(bsi_source *source, const char *name, int64_t n, bsi_npy *npy,
                              int64_t *columns) {
  bisai_context *context = bsi_source_context(source);
  BSI_TRY(bsi_npy_open(source, name, npy));
  BSI_TRY(bsi_npy_check_real(context, name, npy));
  if (npy->dimensions < 1 || npy->dimensions > 2)
    return bsi_fail(context, BISAI_UNSUPPORTED,
                    "an array of %d dimensions; a vector, or vectors as columns, are needed",
                    npy->dimensions);
  *columns = npy->dimensions == 2 ? npy->shape[1] : 1;
  if (npy->shape[0] == n) return BISAI_OK;
  return bsi_fail(context, BISAI_INVALID_ARGUMENT,
                  "an array of %" PRId64 " rows; %" PRId64 " are needed", npy->shape[0], n);
}

bisai_status bsi_npy_read_vector(bsi_source *source, const char *name, int64_t n, double *values) {
  bsi_npy npy;
  int64_t columns = 0;
  BSI_TRY(open_rows(source, name, n, &npy, &columns));
  if (columns != 1)
    return bsi_fail(bsi_source_context(source), BISAI_UNSUPPORTED,
                    "%" PRId64 " columns; a vector (one column) is needed", columns);
  return read_rows(source, name, &npy, n, 1, values);
}

bisai_status bsi_npy_read_vectors(bsi_source *source, int64_t n, int32_t most, double **values,
                                  int32_t *count) {
  bisai_context *context = bsi_source_context(source);
  bsi_npy npy;
  int64_t columns = 0;
  BSI_TRY(open_rows(source, "the array", n, &npy, &columns));
  if (columns < 1 || columns > most)
    return bsi_fail(context, BISAI_UNSUPPORTED, "%" PRId64 " columns; 1 to %d vectors are needed",
                    columns, most);
  *values = bsi_allocate(context, (size_t)(n * columns), sizeof **values);
  if (!*values) return BISAI_OUT_OF_MEMORY;
  *count = (int32_t)columns;
  return read_rows(source, "the array", &npy, n, columns, *values);
}

int64_t bsi_npy_write_header(bsi_output *output, const char *type, const char *shape) {
  char text[4 * ALIGNMENT];
  int length = snprintf(text, sizeof text, "{'descr': '%s', 'fortran_order': False, 'shape': %s, }",
                        type, shape);
  while ((PREFIX + length + 1) % ALIGNMENT != 0) text[length++] = ' ';
  text[length++] = '\n';
  const unsigned char prefix[] = {1, 0, (unsigned char)(length & 255),
                                  (unsigned char)(length >> 8)};
  if (output) {
    bsi_output_write(output, MAGIC, MAGIC_BYTES);
    bsi_output_write(output, prefix, sizeof prefix);
    bsi_output_write(output, text, (size_t)length);
  }
  return PREFIX + length;
}

void bsi_npy_write_double(bsi_output *output, double value) {
  uint64_t bits;
  unsigned char bytes[8];
  memcpy(&bits, &value, sizeof bits);
  for (int i = 0; i < 8; i++) bytes[i] = (unsigned char)(bits >> 8 * i);
  bsi_output_write(output, bytes, sizeof bytes);
}

void bsi_npy_write_integer(bsi_output *output, int32_t value) {
  const uint32_t bits = (uint32_t)value;
  const unsigned char bytes[] = {(unsigned char)bits, (unsigned char)(bits >> 8),
                                 (unsigned char)(bits >> 16), (unsigned char)(bits >> 24)};
  bsi_output_write(output, bytes, sizeof bytes);
}

void bsi_npy_write_vector(bsi_output *output, int64_t n, const double *values) {
  char shape[40];
  snprintf(shape, sizeof shape, "(%" PRId64 ",)", n);
  bsi_npy_write_header(output, "<f8", shape);
  for (int64_t i = 0; i < n && bsi_output_good(output); i++)
    bsi_npy_write_double(output, values[i]);
}
