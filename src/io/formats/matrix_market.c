/* SPDX-License-Identifier: BSD-3-Clause */
/* A file has the lines
 *
 *   %%MatrixMarket matrix coordinate|array real|integer|pattern|complex
 *                  general|symmetric|skew-symmetric|hermitian        (one line)
 *   % comments
 *   rows columns [entries]
 *   i j value      (coordinate: indices from 1; a pattern has no value and means 1)
 *   value          (array: column after column)
 *
 * Upper and lower case are equivalent. Blank lines and comments may follow anywhere after the first
 * line. Symmetric matrices store either of their triangles. Entries at the same position add up. */
#include "io/formats/matrix_market.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "core/context/context_impl.h"
#include "io/streams/reader.h"

typedef enum field { REAL, INTEGER, PATTERN, COMPLEX } field;
typedef enum symmetry { GENERAL, SYMMETRIC, SKEW_SYMMETRIC, HERMITIAN } symmetry;

typedef struct header {
  bool array;
  field field;
  symmetry symmetry;
} header;

static const char *const formats[] = {"coordinate", "array", NULL};
static const char *const fields[] = {"real", "integer", "pattern", "complex", NULL};
static const char *const symmetries[] = {"general", "symmetric", "skew-symmetric", "hermitian",
                                         NULL};

/* Returns true if a word is `name`, which is in lower case. */
static bool is_name(const char *word, const char *name) {
  for (; *name; word++, name++) {
    const int lower = *word >= 'A' && *word <= 'Z' ? *word + ('a' - 'A') : *word;
    if (lower != *name) return false;
  }
  return bsi_ends_word(*word);
}

static void next_word(bsi_reader *reader) {
  while (!bsi_ends_word(*reader->cursor)) reader->cursor++;
  reader->cursor = bsi_skip_blanks(reader->cursor);
}

static bisai_status read_name(bsi_reader *reader, const char *what, const char *const *names,
                              int *index) {
  const char *word = reader->cursor;
  if (*word == '\n') return bsi_reader_fail(reader, BISAI_PARSE_ERROR, "the %s is missing", what);
  for (*index = 0; names[*index]; ++*index)
    if (is_name(word, names[*index])) {
      next_word(reader);
      return BISAI_OK;
    }
  return bsi_reader_fail(reader, BISAI_PARSE_ERROR, "unknown %s '%s'", what,
                         bsi_quote_word(word).text);
}

static bisai_status read_header(bsi_reader *reader, header *h) {
  BSI_TRY(bsi_stream_next(reader->stream, &reader->cursor));
  if (!reader->cursor)
    return bsi_fail(reader->context, BISAI_PARSE_ERROR, "line 1: the file is empty");
  if (!is_name(reader->cursor, "%%matrixmarket"))
    return bsi_reader_fail(reader, BISAI_PARSE_ERROR, "expected '%%%%MatrixMarket', found '%s'",
                           bsi_quote_word(reader->cursor).text);
  next_word(reader);
  static const char *const objects[] = {"matrix", NULL};
  int object = 0, format = 0, entries = 0, kind = 0;
  BSI_TRY(read_name(reader, "object", objects, &object));
  BSI_TRY(read_name(reader, "format", formats, &format));
  BSI_TRY(read_name(reader, "field", fields, &entries));
  BSI_TRY(read_name(reader, "symmetry", symmetries, &kind));
  BSI_TRY(bsi_reader_end(reader));
  *h = (header){.array = format == 1, .field = (field)entries, .symmetry = (symmetry)kind};
  if (h->field == COMPLEX)
    return bsi_reader_fail(reader, BISAI_UNSUPPORTED, "complex values are not supported");
  if (h->symmetry == HERMITIAN)
    return bsi_reader_fail(reader, BISAI_UNSUPPORTED, "Hermitian matrices are not supported");
  if (h->field == PATTERN && h->array)
    return bsi_reader_fail(reader, BISAI_PARSE_ERROR, "an array cannot be a pattern");
  if (h->field == PATTERN && h->symmetry == SKEW_SYMMETRIC)
    return bsi_reader_fail(reader, BISAI_PARSE_ERROR, "a pattern cannot be skew-symmetric");
  return BISAI_OK;
}

/* Reads the line of sizes. An array does not set `entries`. */
static bisai_status read_sizes(bsi_reader *reader, const header *h, int64_t *rows, int64_t *cols,
                               int64_t *entries) {
  BSI_TRY(bsi_reader_next(reader));
  if (!reader->cursor)
    return bsi_reader_fail(reader, BISAI_PARSE_ERROR, "the file ends before its sizes");
  BSI_TRY(bsi_reader_size(reader, "number of rows", rows));
  BSI_TRY(bsi_reader_size(reader, "number of columns", cols));
  if (!h->array) BSI_TRY(bsi_reader_size(reader, "number of entries", entries));
  return bsi_reader_end(reader);
}

static bisai_status fail_early_end(const bsi_reader *reader, int64_t got, int64_t expected) {
  return bsi_reader_fail(reader, BISAI_PARSE_ERROR,
                         "the file ends after %" PRId64 " of %" PRId64 " entries", got, expected);
}

/* Checks that only comments and blank lines follow the entries. */
static bisai_status read_end(bsi_reader *reader, int64_t expected) {
  BSI_TRY(bsi_reader_next(reader));
  if (!reader->cursor) return BISAI_OK;
  return bsi_reader_fail(reader, BISAI_PARSE_ERROR, "more than the announced %" PRId64 " entries",
                         expected);
}

/* Reads one line i j [value], with i and j from 1. */
static inline bisai_status read_entry(bsi_reader *reader, const header *h, int64_t rows,
                                      int64_t cols, int64_t *i, int64_t *j, double *value) {
  *i = bsi_reader_index(reader, rows);
  if (*i == 0) return bsi_reader_fail_index(reader, "row", rows);
  *j = bsi_reader_index(reader, cols);
  if (*j == 0) return bsi_reader_fail_index(reader, "column", cols);
  *value = 1.0;
  if (h->field != PATTERN) BSI_TRY(bsi_reader_value(reader, h->field == INTEGER, value));
  return bsi_reader_end(reader);
}

static bisai_status check_matrix_sizes(const bsi_reader *reader, const header *h, int64_t rows,
                                       int64_t cols, int64_t entries) {
  if (rows > INT32_MAX || cols > INT32_MAX || entries > INT32_MAX)
    return bsi_reader_fail(reader, BISAI_INDEX_OVERFLOW, "more than %d rows, columns or entries",
                           INT32_MAX);
  if (rows != cols)
    return bsi_reader_fail(reader, h->symmetry == GENERAL ? BISAI_UNSUPPORTED : BISAI_PARSE_ERROR,
                           "%" PRId64 " × %" PRId64 ": %s", rows, cols,
                           h->symmetry == GENERAL ? "the matrix must be square"
                                                  : "a symmetric matrix must be square");
  if (rows == 0) return bsi_reader_fail(reader, BISAI_UNSUPPORTED, "0 × 0: the matrix is empty");
  return BISAI_OK;
}

/* Checks that all off-diagonal entries of symmetric storage are in the triangle of the first one.
 * *side: 1 lower, -1 upper, 0 not yet known. */
static bisai_status check_triangle(const bsi_reader *reader, const header *h, int64_t i, int64_t j,
                                   int *side) {
  if (i == j) {
    if (h->symmetry == SYMMETRIC) return BISAI_OK;
    return bsi_reader_fail(reader, BISAI_PARSE_ERROR,
                           "diagonal entry (%" PRId64 ", %" PRId64 ") of a skew-symmetric matrix",
                           i, j);
  }
  const int its_side = i > j ? 1 : -1;
  if (*side == 0) *side = its_side;
  if (*side == its_side) return BISAI_OK;
  return bsi_reader_fail(reader, BISAI_PARSE_ERROR,
                         "entry (%" PRId64 ", %" PRId64
                         ") is in the %s triangle, earlier ones in the other",
                         i, j, its_side > 0 ? "lower" : "upper");
}

static bisai_status read_entries(bsi_reader *reader, const header *h, const bsi_csr *csr,
                                 int32_t count, bsi_entries *entries) {
  const int64_t n = csr->rows;
  int side = 0;
  while (entries->count < count) {
    BSI_TRY(bsi_reader_next(reader));
    if (!reader->cursor) return fail_early_end(reader, entries->count, count);
    int64_t i = 0, j = 0;
    double value = 0.0;
    BSI_TRY(read_entry(reader, h, n, n, &i, &j, &value));
    if (h->symmetry != GENERAL) BSI_TRY(check_triangle(reader, h, i, j, &side));
    if (entries->count == entries->capacity)
      BSI_TRY(bsi_entries_grow(reader->context, entries, count, &csr->limit));
    bsi_entries_append(entries, (int32_t)(i - 1), (int32_t)(j - 1), value);
  }
  return read_end(reader, count);
}

static bisai_status read_matrix(bsi_reader *reader, bsi_csr *csr, bsi_entries *entries) {
  header h = {0};
  BSI_TRY(read_header(reader, &h));
  if (h.array)
    return bsi_reader_fail(reader, BISAI_UNSUPPORTED,
                           "an array; a sparse matrix (coordinate) is needed");
  int64_t n = 0, cols = 0, count = 0;
  BSI_TRY(read_sizes(reader, &h, &n, &cols, &count));
  BSI_TRY(check_matrix_sizes(reader, &h, n, cols, count));
  BSI_TRY(bsi_csr_set_rows(reader->context, csr, n));
  BSI_TRY(read_entries(reader, &h, csr, (int32_t)count, entries));
  if (h.symmetry == GENERAL) return BISAI_OK;
  return bsi_entries_mirror(reader->context, entries, h.symmetry == SYMMETRIC ? 1.0 : -1.0,
                            &csr->limit);
}

bisai_status bsi_market_read_matrix(bisai_context *context, bsi_stream *stream, bsi_csr *csr,
                                    bsi_entries *entries) {
  bsi_reader reader;
  bisai_status status = bsi_reader_open(context, stream, &reader);
  if (!status) status = read_matrix(&reader, csr, entries);
  bsi_reader_close(&reader);
  return status;
}

/* Reads the first `kept` columns of an array, whose columns follow each other. The values are
 * stored row by row. */
static bisai_status read_array(bsi_reader *reader, const header *h, int64_t n, int64_t cols,
                               int64_t kept, double *values) {
  const int64_t total = n * cols;
  for (int64_t i = 0; i < total; i++) {
    double value = 0.0;
    BSI_TRY(bsi_reader_next(reader));
    if (!reader->cursor) return fail_early_end(reader, i, total);
    BSI_TRY(bsi_reader_value(reader, h->field == INTEGER, &value));
    BSI_TRY(bsi_reader_end(reader));
    if (i < n * kept) values[i % n * kept + i / n] = value;
  }
  return read_end(reader, total);
}

/* The same for the entries of coordinate files. */
static bisai_status read_coordinates(bsi_reader *reader, const header *h, int64_t n, int64_t cols,
                                     int64_t count, int64_t kept, double *values) {
  for (int64_t i = 0; i < n * kept; i++) values[i] = 0.0;
  for (int64_t k = 0; k < count; k++) {
    BSI_TRY(bsi_reader_next(reader));
    if (!reader->cursor) return fail_early_end(reader, k, count);
    int64_t i = 0, j = 0;
    double value = 0.0;
    BSI_TRY(read_entry(reader, h, n, cols, &i, &j, &value));
    if (j > kept) continue;
    double *sum = &values[(i - 1) * kept + j - 1];
    *sum += value;
    if (!isfinite(*sum))
      return bsi_reader_fail(reader, BISAI_NOT_FINITE,
                             "the values of row %" PRId64 " add up to infinity", i);
  }
  return read_end(reader, count);
}

static bisai_status check_vector_sizes(const bsi_reader *reader, int64_t rows, int64_t cols,
                                       int64_t n, int64_t most) {
  if (cols != 1 && most == 1)
    return bsi_reader_fail(reader, BISAI_UNSUPPORTED,
                           "%" PRId64 " columns; a vector (one column) is needed", cols);
  if (cols < 1)
    return bsi_reader_fail(reader, BISAI_UNSUPPORTED, "%" PRId64 " columns; at least one is needed",
                           cols);
  if (cols > most)
    return bsi_reader_fail(reader, BISAI_UNSUPPORTED,
                           "%" PRId64 " columns; at most %" PRId64 " are possible", cols, most);
  if (rows != n)
    return bsi_reader_fail(reader, BISAI_INVALID_ARGUMENT,
                           "a vector of %" PRId64 " values; %" PRId64 " are needed", rows, n);
  return n <= INT64_MAX / cols
             ? BISAI_OK
             : bsi_reader_fail(reader, BISAI_INDEX_OVERFLOW, "more values than an index can count");
}

/* A file with columns of n values. */
typedef struct column_file {
  header header;
  int64_t n, count;
  /* the entries of a coordinate file */
  int64_t entries;
} column_file;

/* Reads what stands before the values. The file may have at most `most` columns. */
static bisai_status read_columns_header(bsi_reader *reader, int64_t n, int64_t most,
                                        column_file *c) {
  int64_t rows = 0;
  *c = (column_file){.n = n};
  BSI_TRY(read_header(reader, &c->header));
  if (c->header.symmetry != GENERAL)
    return bsi_reader_fail(reader, BISAI_PARSE_ERROR, "a vector cannot be symmetric");
  BSI_TRY(read_sizes(reader, &c->header, &rows, &c->count, &c->entries));
  return check_vector_sizes(reader, rows, c->count, n, most);
}

/* Reads the first `kept` columns. */
static bisai_status read_columns(bsi_reader *reader, const column_file *c, int64_t kept,
                                 double *values) {
  return c->header.array
             ? read_array(reader, &c->header, c->n, c->count, kept, values)
             : read_coordinates(reader, &c->header, c->n, c->count, c->entries, kept, values);
}

static bisai_status read_vector(bsi_reader *reader, int64_t n, double *values, int64_t *count) {
  column_file c;
  BSI_TRY(read_columns_header(reader, n, count ? INT32_MAX : 1, &c));
  BSI_TRY(read_columns(reader, &c, 1, values));
  if (count) *count = c.count;
  return BISAI_OK;
}

bisai_status bsi_market_read_vector(bisai_context *context, bsi_stream *stream, int64_t n,
                                    double *values, int64_t *columns) {
  bsi_reader reader;
  bisai_status status = bsi_reader_open(context, stream, &reader);
  if (!status) status = read_vector(&reader, n, values, columns);
  bsi_reader_close(&reader);
  return status;
}

/* Reads all columns into new memory. */
static bisai_status read_all(bsi_reader *reader, const column_file *c, double **values) {
  double *all = bsi_allocate(reader->context, (size_t)(c->n * c->count), sizeof *all);
  bisai_status status = all ? read_columns(reader, c, c->count, all) : BISAI_OUT_OF_MEMORY;
  if (status)
    bsi_release(reader->context, all);
  else
    *values = all;
  return status;
}

bisai_status bsi_market_read_vectors(bisai_context *context, bsi_stream *stream, int64_t n,
                                     int32_t most, double **values, int32_t *count) {
  bsi_reader reader;
  column_file c;
  bisai_status status = bsi_reader_open(context, stream, &reader);
  if (!status) status = read_columns_header(&reader, n, most, &c);
  if (!status) status = read_all(&reader, &c, values);
  if (!status) *count = (int32_t)c.count;
  bsi_reader_close(&reader);
  return status;
}
