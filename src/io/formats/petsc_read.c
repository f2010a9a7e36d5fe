/* SPDX-License-Identifier: BSD-3-Clause */
/* All numbers are big-endian: doubles, and integers of 4 bytes, or of 8 bytes if PETSc has 64-bit
 * indices.
 *
 *   matrix   1211216  rows  columns  entries  (entries of row i) per row  (column from 0) per entry
 *            (value) per entry
 *   vector   1211214  length  (value) per row
 *
 * Objects follow each other. Source: PETSc Users Manual, MatLoad(). entries = -1 announces a dense
 * matrix. Complex values are not announced; they only take twice as many bytes. */
#include "io/formats/petsc_binary.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/context/context_impl.h"
#include "io/formats/growth.h"

enum { CHUNK_BYTES = 1 << 15 };

typedef struct reader {
  bisai_context *context;
  bsi_source *source;
  /* the bytes of an integer */
  size_t width;
  /* the bytes read so far */
  int64_t offset;
  /* the limit for a matrix */
  bsi_limit *limit;
} reader;

static reader reader_of(bsi_source *source) {
  return (reader){
      .context = bsi_source_context(source), .source = source, .offset = bsi_source_taken(source)};
}

typedef struct sizes {
  int64_t rows, cols, entries;
} sizes;

static bisai_status fail(const reader *r, bisai_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Fails with a message "byte 12: …". */
static bisai_status fail(const reader *r, bisai_status status, const char *format, ...) {
  char text[200];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  return bsi_fail(r->context, status, "byte %" PRId64 ": %s", r->offset, text);
}

static int64_t decode_integer(const unsigned char *bytes, size_t width) {
  uint64_t bits = 0;
  for (size_t i = 0; i < width; i++) bits = bits << 8 | bytes[i];
  if (width == 4 && bits > INT32_MAX) bits |= UINT64_C(0xffffffff00000000);
  int64_t value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static double decode_double(const unsigned char *bytes) {
  uint64_t bits = 0;
  for (size_t i = 0; i < sizeof bits; i++) bits = bits << 8 | bytes[i];
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

/* *class ← the class number in the next bytes, *width ← the bytes of an integer. *class is 0 if no
 * class number or nothing follows. */
static bisai_status peek_class(bsi_source *source, int64_t *class, size_t *width, size_t *count) {
  const unsigned char *bytes;
  *class = 0;
  BSI_TRY(bsi_source_peek(source, &bytes, count));
  for (*width = 4; *width <= 8 && *count >= *width; *width += 4) {
    const int64_t number = decode_integer(bytes, *width);
    if (number != BSI_PETSC_VECTOR && number != BSI_PETSC_MATRIX && number != BSI_PETSC_INDEX_SET)
      continue;
    *class = number;
    break;
  }
  return BISAI_OK;
}

bisai_status bsi_petsc_detect(bsi_source *source, bool *found) {
  int64_t class = 0;
  size_t width = 0, count = 0;
  BSI_TRY(peek_class(source, &class, &width, &count));
  *found = class != 0;
  return BISAI_OK;
}

/* Reads exactly `bytes` bytes of the part that `part` names. */
static bisai_status read_bytes(reader *r, void *target, size_t bytes, const char *part) {
  size_t got = 0;
  BSI_TRY(bsi_source_read(r->source, target, bytes, &got));
  r->offset += (int64_t)got;
  return got == bytes ? BISAI_OK : fail(r, BISAI_PARSE_ERROR, "the file ends within %s", part);
}

static bisai_status skip_bytes(reader *r, int64_t bytes, const char *part) {
  char ignored[CHUNK_BYTES];
  while (bytes > 0) {
    const size_t some = bytes < CHUNK_BYTES ? (size_t)bytes : CHUNK_BYTES;
    BSI_TRY(read_bytes(r, ignored, some, part));
    bytes -= (int64_t)some;
  }
  return BISAI_OK;
}

/* Reads the class number of the next object, which decides the size of the integers. */
static bisai_status open_object(reader *r, int64_t *class) {
  size_t count = 0;
  BSI_TRY(peek_class(r->source, class, &r->width, &count));
  if (*class == 0) return fail(r, BISAI_PARSE_ERROR, "no object of PETSc");
  unsigned char bytes[8];
  return read_bytes(r, bytes, r->width, "its header");
}

static bisai_status read_size(reader *r, const char *what, int64_t least, int64_t *size) {
  unsigned char bytes[8];
  BSI_TRY(read_bytes(r, bytes, r->width, "its header"));
  *size = decode_integer(bytes, r->width);
  if (*size >= least) return BISAI_OK;
  r->offset -= (int64_t)r->width;
  return fail(r, BISAI_PARSE_ERROR, "the number of %s %" PRId64 " is negative", what, *size);
}

static bisai_status read_sizes(reader *r, sizes *s) {
  BSI_TRY(read_size(r, "rows", 0, &s->rows));
  BSI_TRY(read_size(r, "columns", 0, &s->cols));
  BSI_TRY(read_size(r, "entries", -1, &s->entries));
  if (s->entries < 0) return fail(r, BISAI_UNSUPPORTED, "a dense matrix; a sparse one is needed");
  if (s->rows > INT32_MAX || s->cols > INT32_MAX || s->entries > INT32_MAX)
    return fail(r, BISAI_INDEX_OVERFLOW, "more than %d rows, columns or entries", INT32_MAX);
  return BISAI_OK;
}

static int64_t structure_bytes(const reader *r, const sizes *s) {
  return (s->rows + s->entries) * (int64_t)r->width;
}

/* Refuses sizes that exceed the remaining bytes, before anything is allocated for them. */
static bisai_status check_left(const reader *r, int64_t fixed, int64_t values) {
  const int64_t left = bsi_source_left(r->source), needed = fixed + 8 * values;
  if (left < 0 || left >= needed) return BISAI_OK;
  return fail(r, BISAI_PARSE_ERROR, "%" PRId64 " bytes must follow, and the file has %" PRId64,
              needed, left);
}

static bisai_status check_sizes(const reader *r, const sizes *s) {
  if (s->rows != s->cols)
    return fail(r, BISAI_UNSUPPORTED, "%" PRId64 " × %" PRId64 ": the matrix must be square",
                s->rows, s->cols);
  if (s->rows == 0) return fail(r, BISAI_UNSUPPORTED, "0 × 0: the matrix is empty");
  return check_left(r, structure_bytes(r, s), s->entries);
}

/* An array that grows as its elements are read. */
typedef struct growing {
  void *data;
  /* the bytes of an element */
  size_t size;
  int64_t capacity, total;
} growing;

/* Makes room for `count` elements. If the length of the file is known, makes room for all elements
 * at once. */
static bisai_status make_room(const reader *r, growing *a, int64_t count) {
  while (a->capacity < count) {
    const int64_t capacity =
        bsi_next_capacity(a->capacity, a->total, bsi_source_left(r->source) < 0 ? 0 : a->total);
    const bisai_status status = bsi_limit_check(r->context, r->limit, capacity * (int64_t)a->size);
    if (status) return status;
    void *larger = bsi_allocate(r->context, (size_t)capacity, a->size);
    if (!larger) return BISAI_OUT_OF_MEMORY;
    if (a->capacity > 0) memcpy(larger, a->data, (size_t)a->capacity * a->size);
    bsi_release(r->context, a->data);
    r->limit->held += (capacity - a->capacity) * (int64_t)a->size;
    a->data = larger;
    a->capacity = capacity;
  }
  return BISAI_OK;
}

/* Reads the next *count of `left` numbers of `size` bytes. */
static bisai_status read_chunk(reader *r, unsigned char *chunk, size_t size, int64_t left,
                               const char *part, int64_t *count) {
  *count = left < CHUNK_BYTES / (int64_t)size ? left : CHUNK_BYTES / (int64_t)size;
  return read_bytes(r, chunk, (size_t)*count * size, part);
}

static bisai_status add_length(const reader *r, const sizes *s, int64_t row, int64_t length,
                               int32_t *row_ptr) {
  if (length < 0 || length > s->cols)
    return bsi_fail(r->context, BISAI_PARSE_ERROR,
                    "row %" PRId64 ": its length %" PRId64 " is outside 0 … %" PRId64, row, length,
                    s->cols);
  if (length > s->entries - row_ptr[row])
    return bsi_fail(r->context, BISAI_PARSE_ERROR,
                    "row %" PRId64 ": its length %" PRId64 " leads beyond the announced %" PRId64
                    " entries",
                    row, length, s->entries);
  row_ptr[row + 1] = row_ptr[row] + (int32_t)length;
  return BISAI_OK;
}

static bisai_status read_row_lengths(reader *r, const sizes *s, bsi_csr *csr) {
  unsigned char chunk[CHUNK_BYTES];
  growing a = {.size = sizeof *csr->row_ptr, .total = s->rows + 1};
  bisai_status status = make_room(r, &a, 1);
  csr->row_ptr = a.data;
  if (!status) csr->row_ptr[0] = 0;
  for (int64_t i = 0, count = 0; i < s->rows && !status; i += count) {
    status = read_chunk(r, chunk, r->width, s->rows - i, "the lengths of the rows", &count);
    if (!status) status = make_room(r, &a, i + count + 1);
    csr->row_ptr = a.data;
    for (int64_t k = 0; k < count && !status; k++)
      status = add_length(r, s, i + k, decode_integer(chunk + (size_t)k * r->width, r->width),
                          csr->row_ptr);
  }
  if (status || csr->row_ptr[s->rows] == s->entries) return status;
  return bsi_fail(r->context, BISAI_PARSE_ERROR,
                  "the rows have %d entries, %" PRId64 " are announced", csr->row_ptr[s->rows],
                  s->entries);
}

/* Stores the column of entry k, which is in row *row or a later one. The columns of a row must
 * ascend. */
static bisai_status add_column(const reader *r, const sizes *s, int64_t k, int64_t column,
                               const bsi_csr *csr, int64_t *row) {
  while (csr->row_ptr[*row + 1] <= k) ++*row;
  if (column < 0 || column >= s->cols)
    return bsi_fail(r->context, BISAI_PARSE_ERROR,
                    "row %" PRId64 ": column %" PRId64 " is outside 0 … %" PRId64, *row, column,
                    s->cols - 1);
  if (k > csr->row_ptr[*row] && csr->col[k - 1] >= column)
    return bsi_fail(r->context, BISAI_PARSE_ERROR,
                    "row %" PRId64 ": column %" PRId64 " follows column %d: columns must ascend",
                    *row, column, csr->col[k - 1]);
  csr->col[k] = (int32_t)column;
  return BISAI_OK;
}

static bisai_status read_columns(reader *r, const sizes *s, bsi_csr *csr) {
  unsigned char chunk[CHUNK_BYTES];
  growing a = {.size = sizeof *csr->col, .total = s->entries};
  bisai_status status = BISAI_OK;
  for (int64_t i = 0, count = 0, row = 0; i < s->entries && !status; i += count) {
    status = read_chunk(r, chunk, r->width, s->entries - i, "the columns", &count);
    if (!status) status = make_room(r, &a, i + count);
    csr->col = a.data;
    for (int64_t k = 0; k < count && !status; k++)
      status = add_column(r, s, i + k, decode_integer(chunk + (size_t)k * r->width, r->width), csr,
                          &row);
  }
  return status;
}

static bisai_status read_values(reader *r, const sizes *s, bsi_csr *csr) {
  unsigned char chunk[CHUNK_BYTES];
  growing a = {.size = sizeof *csr->value, .total = s->entries};
  bisai_status status = BISAI_OK;
  for (int64_t i = 0, count = 0; i < s->entries && !status; i += count) {
    status = read_chunk(r, chunk, sizeof(double), s->entries - i, "the values", &count);
    if (!status) status = make_room(r, &a, i + count);
    csr->value = a.data;
    for (int64_t k = 0; k < count && !status; k++) csr->value[i + k] = decode_double(chunk + 8 * k);
  }
  return status;
}

/* *class ← 0 if nothing follows an object with `values` values, otherwise the class of the next
 * object. If no object follows but as many bytes as the values had, the values are complex. */
static bisai_status read_next_class(reader *r, int64_t values, int64_t *class) {
  size_t count = 0, width = 0;
  BSI_TRY(peek_class(r->source, class, &width, &count));
  if (*class != 0 || count == 0) return BISAI_OK;
  if (bsi_source_left(r->source) == 8 * values)
    return fail(r, BISAI_UNSUPPORTED, "complex values are not supported");
  return fail(r, BISAI_PARSE_ERROR, "no object of PETSc (or the values before are complex)");
}

bisai_status bsi_petsc_read_matrix(bsi_source *source, bsi_csr *csr) {
  reader r = reader_of(source);
  r.limit = &csr->limit;
  int64_t class = 0, next = 0;
  sizes s = {0};
  BSI_TRY(open_object(&r, &class));
  if (class != BSI_PETSC_MATRIX)
    return bsi_fail(r.context, BISAI_UNSUPPORTED, "%s of PETSc; a matrix is needed",
                    class == BSI_PETSC_VECTOR ? "a vector" : "an index set");
  BSI_TRY(read_sizes(&r, &s));
  BSI_TRY(check_sizes(&r, &s));
  BSI_TRY(bsi_csr_set_rows(r.context, csr, s.rows));
  BSI_TRY(read_row_lengths(&r, &s, csr));
  BSI_TRY(read_columns(&r, &s, csr));
  BSI_TRY(read_values(&r, &s, csr));
  BSI_TRY(read_next_class(&r, s.entries, &next));
  return next == BSI_PETSC_MATRIX ? fail(&r, BISAI_UNSUPPORTED, "a second matrix") : BISAI_OK;
}

/* Skips a matrix, up to the object behind it. */
static bisai_status skip_matrix(reader *r, int64_t *next) {
  sizes s = {0};
  BSI_TRY(read_sizes(r, &s));
  BSI_TRY(check_left(r, structure_bytes(r, &s), s.entries));
  BSI_TRY(skip_bytes(r, structure_bytes(r, &s) + 8 * s.entries, "a matrix"));
  return read_next_class(r, s.entries, next);
}

static bisai_status read_vector(reader *r, int64_t n, double *values) {
  unsigned char chunk[CHUNK_BYTES];
  int64_t length = 0, next = 0;
  BSI_TRY(read_size(r, "values", 0, &length));
  if (length != n)
    return bsi_fail(r->context, BISAI_INVALID_ARGUMENT,
                    "a vector of %" PRId64 " values; %" PRId64 " are needed", length, n);
  BSI_TRY(check_left(r, 0, n));
  for (int64_t i = 0, count = 0; i < n; i += count) {
    BSI_TRY(read_chunk(r, chunk, sizeof(double), n - i, "the values", &count));
    for (int64_t k = 0; k < count; k++) values[i + k] = decode_double(chunk + 8 * k);
  }
  BSI_TRY(read_next_class(r, n, &next));
  for (int64_t i = 0; i < n; i++)
    if (!isfinite(values[i]))
      return bsi_fail(r->context, BISAI_NOT_FINITE,
                      "value %" PRId64 " of the vector is NaN or infinity", i);
  return BISAI_OK;
}

bisai_status bsi_petsc_find_vector(bsi_source *source, bool *found) {
  reader r = reader_of(source);
  int64_t class = 0;
  size_t count = 0;
  BSI_TRY(peek_class(source, &class, &r.width, &count));
  if (class == BSI_PETSC_MATRIX) {
    BSI_TRY(open_object(&r, &class));
    BSI_TRY(skip_matrix(&r, &class));
  }
  *found = class == BSI_PETSC_VECTOR;
  return BISAI_OK;
}

bisai_status bsi_petsc_read_vector(bsi_source *source, int64_t n, double *values) {
  reader r = reader_of(source);
  int64_t class = 0;
  BSI_TRY(open_object(&r, &class));
  return read_vector(&r, n, values);
}
