/* SPDX-License-Identifier: BSD-3-Clause */
/* Products of sparse matrices of rectangular blocks on the host, row by row.
 *
 * Row i of C = A B is the sum of A_ik times row k of B. Its structure comes from marks, one for
 * each block column and thread. Rows are kept beside C until the lengths of all rows are known. A
 * part of the rows that has no room for more of them computes the others again.
 *
 * The values are added up where they are stored. A hash of their columns on the stack finds the
 * places, or a binary search where two columns share a hash, so that an update needs no memory. */
#include <string.h>

#include "core/block/block_math.h"
#include "core/block/block_sizes.h"
#include "core/matrix/sort.h"
#include "core/threads/parallel.h"
#include "multigrid/spgemm/row_lengths_host.h"
#include "multigrid/spgemm/spgemm_ops.h"

enum {
  /* the least number of blocks for which a thread is woken, and of values */
  BLOCKS_PER_THREAD = 2048,
  VALUES_PER_THREAD = 16384
};

/* What a thread knows while it counts. */
typedef struct counting {
  /* its marks have been initialised */
  bool ready;
  /* its part of the product alone has too many blocks */
  bool too_large;
} counting;

/* --- the structure of a product --- */

typedef struct structure_job {
  bisai_context *context;
  const bsi_block_matrix *a, *b;
  bsi_block_matrix *c;
  /* for each thread b->cols marks, and a row of c, which has at most that many columns and one
   * more */
  int32_t *marks, *row;
  /* the columns of the first rows of each part, `kept` in all */
  int32_t *columns;
  int64_t kept;
  /* the most blocks of c */
  int64_t most;
} structure_job;

/* row ← the columns of row i of the product, in any order. Returns their number. `mark` is not
 * among the marks. Nothing here branches on whether a column is new, which no processor
 * foresees. */
static int32_t list_row(const structure_job *s, int32_t i, int32_t mark, int32_t *marks,
                        int32_t *row) {
  const bsi_block_matrix *a = s->a, *b = s->b;
  int32_t count = 0;
  for (int32_t p = a->row_ptr[i]; p < a->row_ptr[i + 1]; p++) {
    const int32_t k = a->col_idx[p], end = b->row_ptr[k + 1];
    for (int32_t q = b->row_ptr[k]; q < end; q++) {
      const int32_t j = b->col_idx[q];
      row[count] = j; /* the next new column takes the place of one that is not new */
      count += marks[j] != mark;
      marks[j] = mark;
    }
  }
  return count;
}

/* Returns k if row i of a has one block, in column k. Row i of the product then has the columns of
 * row k of b. Otherwise returns −1. */
static int32_t only_row(const bsi_block_matrix *a, int32_t i) {
  const int32_t p = a->row_ptr[i];
  return a->row_ptr[i + 1] - p == 1 ? a->col_idx[p] : -1;
}

/* columns ← those of row i, ascending, unless there are more than `room` of them. Returns their
 * number. */
static int32_t make_row(const structure_job *s, int32_t i, int32_t mark, int thread, int64_t room,
                        int32_t *columns) {
  const bsi_block_matrix *b = s->b;
  const int32_t k = only_row(s->a, i);
  const int32_t *row = k >= 0 ? b->col_idx + b->row_ptr[k] : NULL;
  int32_t length = k >= 0 ? b->row_ptr[k + 1] - b->row_ptr[k] : 0;
  if (k < 0) {
    int32_t *own = s->row + (size_t)thread * ((size_t)b->cols + 1);
    length = list_row(s, i, mark, s->marks + (size_t)thread * (size_t)b->cols, own);
    bsi_sort_distinct(own, length);
    row = own;
  }
  if (length <= room) memcpy(columns, row, (size_t)length * sizeof *columns);
  return length;
}

/* The marks of a thread become −1 at its first part. */
static void prepare_marks(const structure_job *s, int thread) {
  int32_t *marks = s->marks + (size_t)thread * (size_t)s->b->cols;
  counting *partial = bsi_partial(s->context, thread);
  if (!partial->ready) memset(marks, 0xff, (size_t)s->b->cols * sizeof *marks);
  partial->ready = true;
}

/* The first pass: row_ptr[i + 1] ← the length of row i. Keeps the columns while there is room. */
static void count_part(void *job, bsi_part part) {
  const structure_job *s = job;
  const bsi_block_matrix *a = s->a;
  counting *partial = bsi_partial(s->context, part.thread);
  const bsi_rows rows = bsi_rows_of(a->rows, a->row_ptr, part);
  const bsi_range kept = bsi_range_of(s->kept, part);
  int64_t count = 0;
  prepare_marks(s, part.thread);
  for (int32_t i = rows.begin; i < rows.end && !partial->too_large; i++) {
    const int64_t at = kept.begin + count < kept.end ? kept.begin + count : kept.end;
    s->c->row_ptr[i + 1] = make_row(s, i, i, part.thread, kept.end - at, s->columns + at);
    count += s->c->row_ptr[i + 1];
    partial->too_large = count > s->most;
  }
}

/* The second pass: the columns of the rows. */
static void list_part(void *job, bsi_part part) {
  const structure_job *s = job;
  const bsi_block_matrix *a = s->a, *c = s->c;
  const bsi_rows rows = bsi_rows_of(a->rows, a->row_ptr, part);
  const bsi_range kept = bsi_range_of(s->kept, part);
  prepare_marks(s, part.thread);
  for (int32_t i = rows.begin; i < rows.end; i++) {
    int32_t *columns = c->col_idx + c->row_ptr[i];
    const int32_t length = c->row_ptr[i + 1] - c->row_ptr[i];
    const int64_t at = kept.begin + c->row_ptr[i] - c->row_ptr[rows.begin];
    if (at + length <= kept.end)
      memcpy(columns, s->columns + at, (size_t)length * sizeof *columns);
    else
      make_row(s, i, -2 - i, part.thread, length, columns); /* the two passes have other marks */
  }
}

/* Counts the blocks of the rows. Returns true if there are more than `most`. */
static bool count_rows(structure_job *job, int threads) {
  int64_t total = 0;
  bool too_large = false;
  for (int t = 0; t < threads; t++) *(counting *)bsi_partial(job->context, t) = (counting){0};
  bsi_run(job->context, threads, BSI_MANY_PARTS, count_part, job);
  for (int t = 0; t < threads; t++)
    too_large |= ((counting *)bsi_partial(job->context, t))->too_large;
  for (int32_t i = 0; i < job->c->rows && !too_large; i++) total += job->c->row_ptr[i + 1];
  return too_large || total > job->most;
}

/* After count_rows(). */
static bisai_status list_rows(structure_job *job, int threads) {
  bsi_block_matrix *c = job->c;
  BSI_TRY(bsi_add_lengths(job->context, "a product", c->rows, c->row_ptr, &c->blocks));
  c->col_idx = bsi_allocate(job->context, (size_t)c->blocks, sizeof *c->col_idx);
  if (!c->col_idx) return BISAI_OUT_OF_MEMORY;
  bsi_run(job->context, threads, BSI_MANY_PARTS, list_part, job);
  return BISAI_OK;
}

static int threads_for_structure(const bisai_context *context, const bsi_block_matrix *a) {
  return bsi_threads_for(context->threads, a->blocks, BLOCKS_PER_THREAD);
}

/* Returns the most columns that are kept while a structure is made. */
static int64_t kept_of(const bsi_block_matrix *a, int64_t most) {
  return a->blocks < most ? a->blocks : most;
}

static int64_t structure_room(const bisai_context *context, const bsi_block_matrix *a,
                              const bsi_block_matrix *b, int64_t most) {
  const int64_t of_thread = 2 * (int64_t)b->cols + 1;
  return 4 * (threads_for_structure(context, a) * of_thread + kept_of(a, most));
}

static bisai_status multiply_structure(bisai_context *context, const bsi_block_matrix *a,
                                       const bsi_block_matrix *b, int64_t most,
                                       bsi_block_matrix *c) {
  const int threads = threads_for_structure(context, a);
  const size_t all = (size_t)threads, cols = (size_t)b->cols;
  structure_job job = {.context = context, .a = a, .b = b, .c = c, .most = most};
  c->rows = a->rows;
  c->cols = b->cols;
  c->height = a->height;
  c->width = b->width;
  job.kept = kept_of(a, most);
  c->row_ptr = bsi_allocate(context, (size_t)a->rows + 1, sizeof *c->row_ptr);
  if (c->row_ptr) job.marks = bsi_allocate(context, all * cols, sizeof *job.marks);
  if (job.marks) job.row = bsi_allocate(context, all * (cols + 1), sizeof *job.row);
  if (job.row) job.columns = bsi_allocate(context, (size_t)job.kept, sizeof *job.columns);
  bisai_status status = job.columns ? BISAI_OK : BISAI_OUT_OF_MEMORY;
  if (!status && count_rows(&job, threads)) {
    bsi_release(context, c->row_ptr);
    c->row_ptr = NULL;
  } else if (!status) {
    status = list_rows(&job, threads);
  }
  bsi_release(context, job.marks);
  bsi_release(context, job.row);
  bsi_release(context, job.columns);
  return status;
}

/* --- the values of a product --- */

typedef struct values_job {
  const bsi_block_matrix *a, *b;
  bsi_block_matrix *c;
  void (*row)(const struct values_job *, int32_t, int32_t *);
} values_job;

/* The places of the columns of a row, by a hash. */
enum { PLACE_BITS = 10, PLACES = 1 << PLACE_BITS };

/* Returns the hash of a column. */
BSI_INLINE uint32_t hash_of(int32_t column) {
  return (uint32_t)column * UINT32_C(0x9e3779b1) >> (32 - PLACE_BITS);
}

/* Writes the places of the columns begin … end − 1. `places` has PLACES numbers. Every column
 * of the row writes one of them, so that what other rows have left is not read. */
BSI_INLINE void set_places(const int32_t *col_idx, int32_t begin, int32_t end, int32_t *places) {
  for (int32_t at = begin; at < end; at++) places[hash_of(col_idx[at])] = at;
}

/* Returns the place of a column that the row has. */
BSI_INLINE int32_t place_of(const int32_t *col_idx, int32_t begin, int32_t end, int32_t column,
                            const int32_t *places) {
  const int32_t at = places[hash_of(column)];
  return col_idx[at] == column ? at : bsi_lower_bound(col_idx, begin, end, column);
}

/* Returns the first of the blocks begin … end − 1 of a row that is computed in row i of c: a
 * halved product is computed on and to the right of its diagonal. */
BSI_INLINE int32_t first_block(const bool halved, const int32_t *col_idx, int32_t begin,
                               int32_t end, int32_t i) {
  return halved ? bsi_lower_bound(col_idx, begin, end, i) : begin;
}

/* c ← c + a b for an h × m block a and an m × w block b. NULL: the identity */
BSI_INLINE void add_product(const int h, const int m, const int w, const double *a, const double *b,
                            double *c) {
  for (int j = 0; j < w; j++) {
    bsi_column sum;
    bsi_column_load(h, &sum, c + j * h);
    if (a && b)
      for (int k = 0; k < m; k++) bsi_column_add(h, &sum, a + k * h, b[j * m + k]);
    else if (a || b)
      bsi_column_add(h, &sum, (a ? a : b) + j * h, 1.0);
    bsi_column_store(h, &sum, c + j * h);
    if (!a && !b) c[j * h + j] += 1.0;
  }
}

BSI_INLINE void multiply_row(const int h, const int m, const int w, const values_job *job,
                             int32_t i, int32_t *places) {
  /* copies, because the compiler would read the fields again after each value that it stores */
  const bsi_block_matrix a = *job->a, b = *job->b, c = *job->c;
  const size_t of_a = (size_t)(h * m), of_b = (size_t)(m * w), of_c = (size_t)(h * w);
  const bool halved = c.slots.halved;
  const int32_t end = c.row_ptr[i + 1],
                begin = first_block(halved, c.col_idx, c.row_ptr[i], end, i);
  memset(c.values + (size_t)begin * of_c, 0, (size_t)(end - begin) * of_c * sizeof *c.values);
  set_places(c.col_idx, begin, end, places);
  for (int32_t p = a.row_ptr[i]; p < a.row_ptr[i + 1]; p++) {
    const int32_t k = a.col_idx[p], last = b.row_ptr[k + 1];
    const double *left = a.values ? a.values + (size_t)p * of_a : NULL;
    for (int32_t q = first_block(halved, b.col_idx, b.row_ptr[k], last, i); q < last; q++) {
      const int32_t at = place_of(c.col_idx, begin, end, b.col_idx[q], places);
      add_product(h, m, w, left, b.values ? b.values + (size_t)q * of_b : NULL,
                  c.values + (size_t)at * of_c);
    }
  }
}

/* Rows of square blocks, of other blocks whose height is known to the compiler, and of any. */
#define ROWS(h)                                                                                    \
  static void multiply_square_##h(const values_job *job, int32_t i, int32_t *places) {             \
    multiply_row(h, h, h, job, i, places);                                                         \
  }                                                                                                \
  static void multiply_height_##h(const values_job *job, int32_t i, int32_t *places) {             \
    multiply_row(h, job->a->width, job->b->width, job, i, places);                                 \
  }
BSI_BLOCK_SIZES(ROWS)

static void multiply_any(const values_job *job, int32_t i, int32_t *places) {
  multiply_row(job->a->height, job->a->width, job->b->width, job, i, places);
}

static void values_part(void *data, bsi_part part) {
  const values_job *job = data;
  int32_t places[PLACES];
  const bsi_rows rows = bsi_rows_of(job->c->rows, job->c->row_ptr, part);
  for (int32_t i = rows.begin; i < rows.end; i++) job->row(job, i, places);
}

/* Sets the blocks to the left of the diagonal to the transposes of those to its right. A block
 * without such a partner is zero up to rounding, and becomes zero. */
static void mirror_part(void *data, bsi_part part) {
  const bsi_block_matrix c = *((const values_job *)data)->c;
  const int bs = c.width;
  const bsi_rows rows = bsi_rows_of(c.rows, c.row_ptr, part);
  for (int32_t i = rows.begin; i < rows.end; i++)
    for (int32_t p = c.row_ptr[i]; p < c.row_ptr[i + 1] && c.col_idx[p] < i; p++) {
      const int32_t j = c.col_idx[p],
                    q = bsi_find_column(c.col_idx, c.row_ptr[j], c.row_ptr[j + 1], i);
      double *to = c.values + bsi_block_matrix_offset(&c, p);
      const double *from = c.values + (q < 0 ? 0 : bsi_block_matrix_offset(&c, q));
      for (int v = 0; v < bs * bs; v++) to[v] = q < 0 ? 0.0 : from[v % bs * bs + v / bs];
    }
}

static bisai_status multiply_values(bisai_context *context, const bsi_block_matrix *a,
                                    const bsi_block_matrix *b, bsi_block_matrix *c) {
#define SQUARE(h) multiply_square_##h,
#define HEIGHT(h) multiply_height_##h,
  static void (*const square[])(const values_job *, int32_t, int32_t *) = {NULL,
                                                                           BSI_BLOCK_SIZES(SQUARE)};
  static void (*const height[])(const values_job *, int32_t, int32_t *) = {NULL,
                                                                           BSI_BLOCK_SIZES(HEIGHT)};
  const int h = c->height;
  values_job job = {a, b, c, multiply_any};
  if (h <= BSI_SPECIAL_SIZES) job.row = h == a->width && h == c->width ? square[h] : height[h];
  const int64_t values = (int64_t)bsi_block_matrix_offset(c, c->blocks);
  const int threads = bsi_threads_for(context->threads, values, VALUES_PER_THREAD);
  bsi_run(context, threads, BSI_MANY_PARTS, values_part, &job);
  if (c->slots.halved) bsi_run(context, threads, BSI_MANY_PARTS, mirror_part, &job);
  return BISAI_OK;
}

static bisai_status multiply_smoothed(bisai_context *context, const bsi_block_matrix *a,
                                      const bsi_block_matrix *b, const bsi_smoothing *s,
                                      bsi_block_matrix *c) {
  BSI_TRY(multiply_values(context, a, b, c));
  return bsi_smooth_product_host(context, s, c);
}

const bsi_spgemm_ops bsi_spgemm_host = {.multiply_structure = multiply_structure,
                                        .structure_room = structure_room,
                                        .multiply_values = multiply_values,
                                        .multiply_smoothed = multiply_smoothed};
