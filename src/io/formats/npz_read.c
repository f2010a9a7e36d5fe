/* SPDX-License-Identifier: BSD-3-Clause */
#include "io/formats/npz.h"

#include <inttypes.h>
#include <string.h>

#include "io/formats/entries.h"
#include "io/formats/growth.h"

/* The arrays of a matrix. */
typedef enum which { INDPTR, INDICES, ROW, COL, DATA, ARRAYS } which;
static const char *const NAMES[ARRAYS] = {"indptr", "indices", "row", "col", "data"};

typedef struct npz {
  bisai_context *context;
  bsi_source *source;
  bsi_limit *limit;
  /* int32_t, and double for DATA; NULL: not in the archive */
  void *arrays[ARRAYS];
  int64_t lengths[ARRAYS];
  /* of DATA; 1 × 1 unless the format is bsr */
  int64_t block_rows, block_cols;
  int data_dimensions;
  int64_t rows, cols;
  char format[8];
} npz;

static size_t bytes_of(which array) { return array == DATA ? sizeof(double) : sizeof(int32_t); }

static bisai_status store(const npz *z, which array, const bsi_npy *npy, const unsigned char *chunk,
                          int64_t first, int64_t count) {
  for (int64_t k = 0; k < count; k++) {
    if (array == DATA) {
      ((double *)z->arrays[array])[first + k] = bsi_npy_double(npy, chunk, k);
      continue;
    }
    const int64_t index = bsi_npy_integer(npy, chunk, k);
    if (index < 0 || index > INT32_MAX)
      return bsi_fail(z->context, BISAI_PARSE_ERROR,
                      "%s: number %" PRId64 " is %" PRId64 ", outside 0 … %d", NAMES[array],
                      first + k, index, INT32_MAX);
    ((int32_t *)z->arrays[array])[first + k] = (int32_t)index;
  }
  return BISAI_OK;
}

/* Makes room for `count` of `total` elements, as they arrive. */
static bisai_status make_room(npz *z, which array, int64_t total, int64_t count,
                              int64_t *capacity) {
  const int64_t size = (int64_t)bytes_of(array);
  if (count <= *capacity) return BISAI_OK;
  const int64_t next = bsi_next_capacity(*capacity, total, count);
  const bisai_status status = bsi_limit_check(z->context, z->limit, next * size);
  void *larger = status ? NULL : bsi_allocate(z->context, (size_t)next, (size_t)size);
  if (!larger) return status ? status : BISAI_OUT_OF_MEMORY;
  if (*capacity > 0) memcpy(larger, z->arrays[array], (size_t)(*capacity * size));
  bsi_release(z->context, z->arrays[array]);
  z->limit->held += (next - *capacity) * size;
  z->arrays[array] = larger;
  *capacity = next;
  return BISAI_OK;
}

static bisai_status read_elements(npz *z, which array, const bsi_npy *npy) {
  unsigned char chunk[BSI_NPY_CHUNK];
  int64_t capacity = 0;
  BSI_TRY(make_room(z, array, npy->count > 0 ? npy->count : 1, 1, &capacity));
  for (int64_t i = 0, count = 0; i < npy->count; i += count) {
    BSI_TRY(bsi_npy_read(z->source, NAMES[array], npy, npy->count - i, chunk, &count));
    BSI_TRY(make_room(z, array, npy->count, i + count, &capacity));
    BSI_TRY(store(z, array, npy, chunk, i, count));
  }
  z->lengths[array] = npy->count;
  return bsi_npy_end(z->source, NAMES[array]);
}

static bisai_status read_array(npz *z, which array) {
  bsi_npy npy;
  if (z->arrays[array])
    return bsi_fail(z->context, BISAI_PARSE_ERROR, "the array %s is there twice", NAMES[array]);
  BSI_TRY(bsi_npy_open(z->source, NAMES[array], &npy));
  BSI_TRY(array == DATA ? bsi_npy_check_real(z->context, "data", &npy)
                        : bsi_npy_check_integer(z->context, NAMES[array], &npy));
  if (npy.dimensions != 1 && (array != DATA || npy.dimensions != 3 || npy.by_columns))
    return bsi_fail(z->context, BISAI_UNSUPPORTED,
                    "the array %s has %d dimensions; matrices of the formats csr, csc, bsr and coo "
                    "are read",
                    NAMES[array], npy.dimensions);
  if (npy.count > INT32_MAX)
    return bsi_fail(z->context, BISAI_INDEX_OVERFLOW, "the array %s has more than %d elements",
                    NAMES[array], INT32_MAX);
  if (array == DATA) z->data_dimensions = npy.dimensions;
  if (npy.dimensions == 3) z->block_rows = npy.shape[1], z->block_cols = npy.shape[2];
  return read_elements(z, array, &npy);
}

static bisai_status read_shape(npz *z) {
  unsigned char chunk[BSI_NPY_CHUNK];
  int64_t count = 0;
  bsi_npy npy;
  BSI_TRY(bsi_npy_open(z->source, "shape", &npy));
  BSI_TRY(bsi_npy_check_integer(z->context, "shape", &npy));
  if (npy.count != 2)
    return bsi_fail(z->context, BISAI_UNSUPPORTED, "shape has %" PRId64 " numbers; 2 are needed",
                    npy.count);
  BSI_TRY(bsi_npy_read(z->source, "shape", &npy, 2, chunk, &count));
  z->rows = bsi_npy_integer(&npy, chunk, 0);
  z->cols = bsi_npy_integer(&npy, chunk, 1);
  return bsi_npy_end(z->source, "shape");
}

/* A word of bytes, or of characters of 4 bytes. */
static bisai_status read_format(npz *z) {
  unsigned char chunk[BSI_NPY_CHUNK];
  int64_t count = 0;
  bsi_npy npy;
  BSI_TRY(bsi_npy_open(z->source, "format", &npy));
  const int step = npy.kind == 'U' ? 4 : 1, letters = npy.bytes / step;
  if ((npy.kind != 'S' && npy.kind != 'U') || npy.count != 1 || letters >= (int)sizeof z->format)
    return bsi_fail(z->context, BISAI_PARSE_ERROR, "format is no word");
  BSI_TRY(bsi_npy_read(z->source, "format", &npy, 1, chunk, &count));
  for (int i = 0; i < letters; i++)
    z->format[i] = (char)chunk[i * step + (npy.big_endian ? step - 1 : 0)];
  return bsi_npy_end(z->source, "format");
}

static bool is_named(const char *member, const char *array) {
  const size_t length = strlen(array);
  return strncmp(member, array, length) == 0 && strcmp(member + length, ".npy") == 0;
}

static bisai_status read_members(npz *z) {
  const char *name = NULL;
  BSI_TRY(bsi_source_next_member(z->source, &name));
  while (name) {
    if (is_named(name, "shape")) BSI_TRY(read_shape(z));
    if (is_named(name, "format")) BSI_TRY(read_format(z));
    for (int array = 0; array < ARRAYS; array++)
      if (is_named(name, NAMES[array])) {
        BSI_TRY(read_array(z, (which)array));
        break;
      }
    BSI_TRY(bsi_source_next_member(z->source, &name));
  }
  return BISAI_OK;
}

static bisai_status need(const npz *z, which array, int64_t length) {
  if (!z->arrays[array])
    return bsi_fail(z->context, BISAI_PARSE_ERROR, "a matrix %s without the array %s", z->format,
                    NAMES[array]);
  if (z->lengths[array] == length) return BISAI_OK;
  return bsi_fail(z->context, BISAI_PARSE_ERROR,
                  "the array %s has %" PRId64 " elements, and %" PRId64 " are needed", NAMES[array],
                  z->lengths[array], length);
}

static bisai_status check_indices(const npz *z, which array, int64_t limit) {
  const int32_t *index = z->arrays[array];
  for (int64_t k = 0; k < z->lengths[array]; k++)
    if (index[k] >= limit)
      return bsi_fail(z->context, BISAI_PARSE_ERROR,
                      "%s: number %" PRId64 " is %d, outside 0 … %" PRId64, NAMES[array], k,
                      index[k], limit - 1);
  return BISAI_OK;
}

/* Checks the arrays of a compressed format. */
static bisai_status check_compressed(const npz *z, int64_t lines, int64_t limit) {
  BSI_TRY(need(z, INDPTR, lines + 1));
  const int32_t *start = z->arrays[INDPTR];
  for (int64_t i = 0; i < lines; i++)
    if (start[0] != 0 || start[i] > start[i + 1])
      return bsi_fail(z->context, BISAI_PARSE_ERROR,
                      "indptr begins with %d and has %d before %d at %" PRId64
                      "; it must begin with 0 and not decrease",
                      start[0], start[i], start[i + 1], i);
  BSI_TRY(need(z, INDICES, start[lines]));
  BSI_TRY(need(z, DATA, start[lines] * z->block_rows * z->block_cols));
  return check_indices(z, INDICES, limit);
}

static void *take(npz *z, which array) {
  void *taken = z->arrays[array];
  z->arrays[array] = NULL;
  return taken;
}

static bisai_status make_csr(npz *z, bsi_csr *csr) {
  BSI_TRY(check_compressed(z, z->rows, z->cols));
  csr->row_ptr = take(z, INDPTR);
  csr->col = take(z, INDICES);
  csr->value = take(z, DATA);
  return BISAI_OK;
}

/* Reserves an array that the result needs. */
static void *reserve(npz *z, int64_t count, size_t size, bisai_status *status) {
  if (!*status) *status = bsi_limit_check(z->context, z->limit, count * (int64_t)size);
  void *made = *status ? NULL : bsi_allocate(z->context, (size_t)count + 1, size);
  if (!*status && !made) *status = BISAI_OUT_OF_MEMORY;
  if (made) z->limit->held += count * (int64_t)size;
  return made;
}

/* Orders entries by rows. */
static bisai_status group(npz *z, bsi_entries *e, bsi_csr *csr) {
  const bisai_status status = bsi_entries_group(z->context, e, csr->rows, z->limit, &csr->row_ptr);
  csr->col = e->col;
  csr->value = e->value;
  bsi_release(z->context, e->row);
  return status;
}

static bisai_status make_coo(npz *z, bsi_csr *csr) {
  BSI_TRY(need(z, ROW, z->lengths[DATA]));
  BSI_TRY(need(z, COL, z->lengths[DATA]));
  BSI_TRY(need(z, DATA, z->lengths[DATA]));
  BSI_TRY(check_indices(z, ROW, z->rows));
  BSI_TRY(check_indices(z, COL, z->cols));
  const int32_t count = (int32_t)z->lengths[DATA];
  bsi_entries e = {.count = count,
                   .capacity = count,
                   .row = take(z, ROW),
                   .col = take(z, COL),
                   .value = take(z, DATA)};
  return group(z, &e, csr);
}

static bisai_status make_csc(npz *z, bsi_csr *csr) {
  BSI_TRY(check_compressed(z, z->cols, z->rows));
  const int32_t *start = z->arrays[INDPTR], count = (int32_t)z->lengths[DATA];
  bisai_status status = BISAI_OK;
  int32_t *col = reserve(z, count, sizeof *col, &status);
  if (status) return status;
  for (int32_t j = 0; j < z->cols; j++)
    for (int32_t p = start[j]; p < start[j + 1]; p++) col[p] = j;
  bsi_entries e = {.count = count,
                   .capacity = count,
                   .row = take(z, INDICES),
                   .col = col,
                   .value = take(z, DATA)};
  return group(z, &e, csr);
}

/* Blocks are stored by rows. */
static bisai_status make_bsr(npz *z, bsi_csr *csr) {
  const int64_t r = z->block_rows, c = z->block_cols;
  if (z->data_dimensions != 3 || r < 1 || c < 1 || z->rows % r != 0 || z->cols % c != 0)
    return bsi_fail(z->context, BISAI_PARSE_ERROR,
                    "blocks of %" PRId64 " × %" PRId64 " do not divide %" PRId64 " × %" PRId64, r,
                    c, z->rows, z->cols);
  BSI_TRY(check_compressed(z, z->rows / r, z->cols / c));
  const int32_t *start = z->arrays[INDPTR], *index = z->arrays[INDICES];
  const double *data = z->arrays[DATA];
  bisai_status status = BISAI_OK;
  csr->row_ptr = reserve(z, z->rows, sizeof *csr->row_ptr, &status);
  csr->col = reserve(z, z->lengths[DATA], sizeof *csr->col, &status);
  csr->value = reserve(z, z->lengths[DATA], sizeof *csr->value, &status);
  if (status) return status;
  int32_t next = csr->row_ptr[0] = 0;
  for (int64_t row = 0; row < z->rows; row++) {
    for (int64_t p = start[row / r]; p < start[row / r + 1]; p++)
      for (int64_t j = 0; j < c; j++, next++) {
        csr->col[next] = (int32_t)(index[p] * c + j);
        csr->value[next] = data[(p * r + row % r) * c + j];
      }
    csr->row_ptr[row + 1] = next;
  }
  if (csr->block_size == 0 && r == c && r <= BISAI_MAX_BLOCK_SIZE) csr->block_size = (int32_t)r;
  return BISAI_OK;
}

static bisai_status make(npz *z, bsi_csr *csr) {
  static const struct {
    const char *word;
    bisai_status (*make)(npz *, bsi_csr *);
  } formats[] = {{"csr", make_csr}, {"csc", make_csc}, {"bsr", make_bsr}, {"coo", make_coo}};
  if (!z->format[0])
    return bsi_fail(z->context, BISAI_PARSE_ERROR,
                    "no array format: this is no matrix of scipy.sparse.save_npz()");
  if (z->rows != z->cols || z->rows < 1)
    return bsi_fail(z->context, BISAI_UNSUPPORTED,
                    "%" PRId64 " × %" PRId64 ": the matrix must be square and not empty", z->rows,
                    z->cols);
  if (z->rows > INT32_MAX - 1)
    return bsi_fail(z->context, BISAI_INDEX_OVERFLOW, "more than %d rows", INT32_MAX - 1);
  BSI_TRY(bsi_csr_set_rows(z->context, csr, z->rows));
  for (size_t k = 0; k < sizeof formats / sizeof *formats; k++)
    if (strcmp(z->format, formats[k].word) == 0) return formats[k].make(z, csr);
  return bsi_fail(z->context, BISAI_UNSUPPORTED, "the format is %s; csr, csc, bsr and coo are read",
                  z->format);
}

bisai_status bsi_npz_read_matrix(bsi_source *source, bsi_csr *csr) {
  npz z = {.context = bsi_source_context(source),
           .source = source,
           .limit = &csr->limit,
           .block_rows = 1,
           .block_cols = 1};
  bisai_status status = read_members(&z);
  if (!status) status = make(&z, csr);
  for (int array = 0; array < ARRAYS; array++) {
    if (z.arrays[array]) z.limit->held -= z.lengths[array] * (int64_t)bytes_of((which)array);
    bsi_release(z.context, z.arrays[array]);
  }
  return status;
}

bisai_status bsi_npz_find_rhs(bsi_source *source, bool *found) {
  const char *name = NULL;
  *found = false;
  BSI_TRY(bsi_source_rewind(source));
  do {
    BSI_TRY(bsi_source_next_member(source, &name));
    *found = name && is_named(name, "b");
  } while (name && !*found);
  return BISAI_OK;
}
