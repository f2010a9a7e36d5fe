/* SPDX-License-Identifier: BSD-3-Clause */
/* BCSR from scalar CSR: block (I, J) is stored if there is an entry (i, j) with ⌊i/bs⌋ = I, ⌊j/bs⌋
 * = J. Padding adds rows and columns of the identity at the end until bs divides the size. With
 * nodes, the rows are first renumbered by node, and padded to blocks inside. */
#include "core/csr/csr.h"
#include "core/csr/choose_block_size.h"
#include "core/csr/csr_desc.h"
#include "core/csr/device_csr.h"
#include "core/csr/find_nodes.h"
#include "core/csr/mapped_csr.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/context/context_impl.h"
#include "core/matrix/bcsr_impl.h"
#include "core/threads/parallel.h"

static bisai_status check_duplicates(bisai_context *context, const bisai_csr_desc *d) {
  int32_t *last_row = bsi_allocate(context, (size_t)d->cols, sizeof *last_row);
  if (!last_row) return BISAI_OUT_OF_MEMORY;
  memset(last_row, 0xff, (size_t)d->cols * sizeof *last_row); /* -1 */
  bisai_status status = BISAI_OK;
  for (int32_t i = 0; i < d->rows && !status; i++)
    for (int32_t p = d->row_ptr[i]; p < d->row_ptr[i + 1] && !status; p++) {
      const int32_t column = d->col_idx[p];
      if (last_row[column] == i)
        status = bsi_fail(context, BISAI_INVALID_STRUCTURE, "row %d: column %d appears twice", i,
                          column);
      last_row[column] = i;
    }
  bsi_release(context, last_row);
  return status;
}

/* The least number of entries for which a thread is woken. */
enum { GRAIN = 32768 };

/* The state of a conversion, whose block rows are shared out over the threads. */
typedef struct conversion {
  bisai_context *context;
  const bisai_csr_desc *csr;
  int32_t bs, block_rows, block_cols;
  bool padded;
  int threads;
  /* for each thread and block column: the mark of the block row that the thread found there last,
   * or the position of its block */
  int32_t *seen;
  /* of the result, in host memory */
  int32_t *row_ptr, *col_idx;
  double *values;
  /* of the result; NULL: not asked for */
  bsi_entry_map *map;
  /* NULL: none */
  const bsi_limit *limit;
  /* the caller's row of each row; NULL: the same one */
  const int32_t *source;
} conversion;

/* A thread's partial result. */
typedef struct conversion_partial {
  /* the thread's part of `seen` is initialised */
  bool ready;
  /* the first entry of its rows that is not finite; row -1: none */
  int32_t row, column;
} conversion_partial;

static int32_t last_row(const conversion *c, int32_t block_row) {
  const int64_t end = ((int64_t)block_row + 1) * c->bs;
  return end < c->csr->rows ? (int32_t)end : c->csr->rows;
}

/* Returns the block row that begins with scalar row i, or the next one. */
static int32_t next_block_row(const conversion *c, int32_t i) {
  return i / c->bs + (i % c->bs != 0);
}

/* Returns the block rows of a part, weighted by their entries. */
static bsi_rows block_rows_of(const conversion *c, bsi_part part) {
  const bsi_rows rows = bsi_rows_of(c->csr->rows, c->csr->row_ptr, part);
  return (bsi_rows){next_block_row(c, rows.begin), next_block_row(c, rows.end)};
}

/* Returns the part of `seen` that belongs to the thread of this part. */
static int32_t *seen_by(const conversion *c, bsi_part part) {
  const size_t columns = (size_t)c->block_cols;
  int32_t *seen = c->seen + (size_t)part.thread * columns;
  conversion_partial *partial = bsi_partial(c->context, part.thread);
  if (!partial->ready) memset(seen, 0xff, columns * sizeof *seen); /* -1 */
  partial->ready = true;
  return seen;
}

/* A block column, from scalar column `begin` on. Most entries lie in the block column of the entry
 * before, which saves a division. */
typedef struct block_column {
  int32_t index, begin;
} block_column;

/* Moves to the block column of scalar column j. Returns false if it was there already. */
BSI_INLINE bool move_to(block_column *b, int32_t bs, int32_t j) {
  if ((uint32_t)j - (uint32_t)b->begin < (uint32_t)bs) return false;
  b->index = j / bs;
  b->begin = b->index * bs;
  return true;
}

/* row_ptr[row + 1] ← the blocks of each block row. Marks are negative, unlike positions. */
static void count_part(void *job, bsi_part part) {
  const conversion *c = job;
  const bisai_csr_desc *d = c->csr;
  int32_t *seen = seen_by(c, part);
  const bsi_rows rows = block_rows_of(c, part);
  for (int32_t row = rows.begin; row < rows.end; row++) {
    const int32_t mark = -2 - row, end = d->row_ptr[last_row(c, row)];
    block_column place = {0, -c->bs};
    int32_t blocks = 0;
    for (int32_t p = d->row_ptr[row * c->bs]; p < end; p++) {
      if (!move_to(&place, c->bs, d->col_idx[p])) continue;
      int32_t *at = seen + place.index;
      blocks += *at != mark;
      *at = mark;
    }
    if (c->padded && row == c->block_rows - 1) blocks += seen[row] != mark;
    c->row_ptr[row + 1] = blocks;
  }
}

/* Sets row_ptr; returns false if there are too many blocks. */
static bool count_blocks(conversion *c) {
  for (int t = 0; t < c->threads; t++)
    *(conversion_partial *)bsi_partial(c->context, t) = (conversion_partial){.row = -1};
  bsi_run(c->context, c->threads, BSI_SOME_PARTS, count_part, c);
  int64_t blocks = 0;
  c->row_ptr[0] = 0;
  for (int32_t row = 0; row < c->block_rows; row++) {
    blocks += c->row_ptr[row + 1];
    if (blocks > INT32_MAX) return false;
    c->row_ptr[row + 1] = (int32_t)blocks;
  }
  return true;
}

static int compare_columns(const void *a, const void *b) {
  const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
  return (x > y) - (x < y);
}

static void sort_columns(int32_t *columns, int32_t count) {
  for (int32_t i = 1; i < count; i++)
    if (columns[i] < columns[i - 1]) {
      qsort(columns, (size_t)count, sizeof *columns, compare_columns);
      return;
    }
}

/* Fills in the columns of a block row, ascending. seen[column] becomes the position of each block.
 * Positions of other rows lie outside this row's. */
static void fill_columns(const conversion *c, int32_t *seen, int32_t row) {
  const bisai_csr_desc *d = c->csr;
  const int32_t first = c->row_ptr[row], last = c->row_ptr[row + 1] - 1;
  const int32_t end = d->row_ptr[last_row(c, row)];
  block_column place = {0, -c->bs};
  int32_t next = first;
  for (int32_t p = d->row_ptr[row * c->bs]; p < end; p++) {
    if (!move_to(&place, c->bs, d->col_idx[p])) continue;
    const int32_t column = place.index;
    if (seen[column] >= first && seen[column] <= last) continue;
    seen[column] = first;
    c->col_idx[next++] = column;
  }
  if (next <= last) c->col_idx[next++] = row; /* the diagonal block of the padding */
  sort_columns(c->col_idx + first, next - first);
  for (int32_t p = first; p < next; p++) seen[c->col_idx[p]] = p;
}

/* Returns the place of row r of the first column of a block. */
static double *values_of(const conversion *c, int32_t block, int32_t r) {
  const size_t bs = (size_t)c->bs;
  return c->values + (size_t)block * bs * bs + (size_t)r;
}

/* Fills in the values of a block row. At the first value that is not finite, records the entry and
 * returns false. */
static bool fill_values(const conversion *c, const int32_t *seen, int32_t row,
                        conversion_partial *partial) {
  const bisai_csr_desc *d = c->csr;
  const size_t per_block = (size_t)c->bs * (size_t)c->bs, begin = (size_t)c->row_ptr[row];
  memset(c->values + begin * per_block, 0,
         ((size_t)c->row_ptr[row + 1] - begin) * per_block * sizeof *c->values);
  const int32_t bs = c->bs, *col_idx = d->col_idx;
  const double *given = d->values;
  bsi_entry_map *map = c->map;
  for (int32_t i = row * bs; i < last_row(c, row); i++) {
    const int32_t end = d->row_ptr[i + 1];
    block_column place = {0, -bs};
    double *values = c->values;
    for (int32_t p = d->row_ptr[i]; p < end; p++) {
      if (move_to(&place, bs, col_idx[p])) values = values_of(c, seen[place.index], i - row * bs);
      double *value = values + (size_t)(col_idx[p] - place.begin) * (size_t)bs;
      *value += given[p];
      if (!isfinite(*value)) {
        if (partial->row < 0 || i < partial->row) partial->row = i, partial->column = col_idx[p];
        return false;
      }
      if (map) bsi_entry_map_set(map, p, (size_t)(value - c->values));
    }
  }
  if (c->padded && row == c->block_rows - 1)
    for (int32_t r = d->rows - row * bs; r < bs; r++) values_of(c, seen[row], r)[r * bs] = 1.0;
  return true;
}

static void fill_part(void *job, bsi_part part) {
  const conversion *c = job;
  int32_t *seen = seen_by(c, part);
  conversion_partial *partial = bsi_partial(c->context, part.thread);
  const bsi_rows rows = block_rows_of(c, part);
  for (int32_t row = rows.begin; row < rows.end; row++) {
    fill_columns(c, seen, row);
    if (!fill_values(c, seen, row, partial)) return;
  }
}

/* Fills in columns and values. Follows count_blocks() and relies on its marks and partial
 * results. */
static bisai_status fill_rows(conversion *c) {
  bsi_run(c->context, c->threads, BSI_SOME_PARTS, fill_part, c);
  conversion_partial first = {.row = -1};
  for (int t = 0; t < c->threads; t++) {
    const conversion_partial *partial = bsi_partial(c->context, t);
    if (partial->row >= 0 && (first.row < 0 || partial->row < first.row)) first = *partial;
  }
  if (first.row < 0) return BISAI_OK;
  if (c->source) first.row = c->source[first.row], first.column = c->source[first.column];
  return bsi_fail(c->context, BISAI_NOT_FINITE, BSI_ENTRY_NOT_FINITE, first.row, first.column);
}

/* Fills in columns and values in host memory and uploads them to a backend with memory of its
 * own. */
static bisai_status fill_elsewhere(bisai_context *context, conversion *c, bisai_bcsr *a) {
  const bsi_backend *backend = context->backend;
  const size_t columns = (size_t)a->blocks, values = bsi_block_offset(a, a->blocks);
  c->col_idx = bsi_allocate(context, columns, sizeof *c->col_idx);
  c->values = bsi_allocate(context, values, sizeof *c->values);
  bisai_status status = c->col_idx && c->values ? fill_rows(c) : BISAI_OUT_OF_MEMORY;
  if (!status) status = bsi_bcsr_set_structure(a, c->row_ptr, c->col_idx);
  if (!status)
    status = backend->memory->upload(context, a->values, c->values, values * sizeof *c->values);
  bsi_release(context, c->col_idx);
  bsi_release(context, c->values);
  return status;
}

static bisai_status fill_in_place(conversion *c, bisai_bcsr *a) {
  memcpy(a->row_ptr, c->row_ptr, ((size_t)a->block_rows + 1) * sizeof *c->row_ptr);
  c->col_idx = a->col_idx;
  c->values = a->values;
  return fill_rows(c);
}

/* Returns the bytes of one thread's `seen` and of the row pointers that are counted first. */
static int64_t working_bytes(int64_t block_rows, int64_t block_cols) {
  return (block_rows + 1 + block_cols) * (int64_t)sizeof(int32_t);
}

static int64_t matrix_bytes(int64_t block_rows, int64_t blocks, int32_t bs) {
  return (block_rows + 1 + blocks) * (int64_t)sizeof(int32_t) +
         blocks * bs * bs * (int64_t)sizeof(double);
}

int64_t bsi_csr_least_bytes(int64_t rows, int32_t block_size) {
  const int64_t pointers = (rows + 1) * (int64_t)sizeof(int32_t);
  /* the row pointers of the CSR arrays, and the study of block sizes */
  if (block_size == 0) return 2 * pointers;
  const int64_t block_rows = (rows + block_size - 1) / block_size;
  return pointers + working_bytes(block_rows, block_rows) + matrix_bytes(block_rows, 0, block_size);
}

static bisai_status convert(bisai_context *context, conversion *c, bool keep_map,
                            bisai_bcsr **matrix) {
  bisai_bcsr *a = NULL;
  const int64_t working = working_bytes(c->block_rows, c->block_cols);
  bisai_status status =
      bsi_limit_check(context, c->limit, working + matrix_bytes(c->block_rows, 0, c->bs));
  if (status) return status;
  status = BISAI_OUT_OF_MEMORY;
  c->seen = bsi_allocate(context, (size_t)c->threads * (size_t)c->block_cols, sizeof *c->seen);
  c->row_ptr =
      c->seen ? bsi_allocate(context, (size_t)c->block_rows + 1, sizeof *c->row_ptr) : NULL;
  if (!c->row_ptr) goto exit;
  if (!count_blocks(c)) {
    status = bsi_fail(context, BISAI_INDEX_OVERFLOW, "more than %d blocks", INT32_MAX);
    goto exit;
  }
  const int32_t blocks = c->row_ptr[c->block_rows];
  status = bsi_limit_check(context, c->limit, working + matrix_bytes(c->block_rows, blocks, c->bs));
  if (status) goto exit;
  status = bsi_bcsr_reserve(
      context, &(bsi_bcsr_sizes){c->block_rows, c->block_cols, c->bs, blocks, BISAI_FP64}, NULL,
      NULL, &a);
  if (status) goto exit;
  a->rows = c->csr->rows;
  if (keep_map) {
    c->map = &a->kept.map;
    status = bsi_entry_map_reserve(context, c->csr->row_ptr[c->csr->rows],
                                   bsi_block_offset(a, a->blocks), c->map);
    if (status) goto exit;
  }
  status = context->backend->memory->is_host ? fill_in_place(c, a) : fill_elsewhere(context, c, a);
  if (!status && keep_map) status = bsi_entry_map_upload(context, c->map);
exit:
  bsi_release(context, c->row_ptr);
  bsi_release(context, c->seen);
  if (status) {
    bisai_bcsr_destroy(&a);
    return status;
  }
  a->kept.updated_only = true;
  *matrix = a;
  return BISAI_OK;
}

/* Returns the number of threads: one if memory is limited, so that the limit refuses the same
 * matrices for any number of threads. Otherwise each thread has at least one entry for each of its
 * marks. */
static int conversion_threads(const bisai_context *context, const conversion *c) {
  const int64_t grain = c->block_cols > GRAIN ? c->block_cols : GRAIN;
  if (c->limit) return 1;
  return bsi_threads_for(context->threads, c->csr->row_ptr[c->csr->rows], grain);
}

/* Makes blocks of size bs. `source`: as in a conversion. */
static bisai_status make_blocks(bisai_context *context, const bisai_csr_desc *desc, int32_t bs,
                                const int32_t *source, const bsi_limit *limit, bool keep_map,
                                bisai_bcsr **matrix) {
  const bool divides = desc->rows % bs == 0 && desc->cols % bs == 0;
  conversion c = {.context = context,
                  .csr = desc,
                  .bs = bs,
                  .block_rows = desc->rows / bs + !divides,
                  .block_cols = desc->cols / bs + !divides,
                  .padded = !divides,
                  .limit = limit,
                  .source = source};
  if ((int64_t)c.block_rows * bs > INT32_MAX)
    return bsi_fail(context, BISAI_INDEX_OVERFLOW,
                    "%d rows padded to blocks of size %d: more than %d", desc->rows, bs, INT32_MAX);
  c.threads = conversion_threads(context, &c);
  return convert(context, &c, keep_map, matrix);
}

/* Makes a matrix from arrays in the numbering of the blocks of a map. */
static bisai_status make_mapped(bisai_context *context, const bsi_mapped_csr *mapped,
                                const bsi_node_map *map, const bsi_limit *limit, bool keep_map,
                                bisai_bcsr **matrix) {
  const bisai_csr_desc of_nodes = {.rows = mapped->rows,
                                   .cols = mapped->rows,
                                   .row_ptr = mapped->row_ptr,
                                   .col_idx = mapped->col_idx,
                                   .values = mapped->values};
  return make_blocks(context, &of_nodes, map->block_size, map->source, limit, keep_map, matrix);
}

/* Gives the places of a map to the matrix. */
static bisai_status give_places(bsi_node_map *map, int32_t rows, bisai_bcsr *a) {
  a->rows = rows;
  a->kept.places = (bsi_places){.rows = rows, .host = map->place};
  map->place = NULL;
  return bsi_places_upload(a->context, &a->kept.places);
}

/* Makes a block row of each node. */
static bisai_status from_nodes(bisai_context *context, const bisai_csr_desc *desc,
                               const bsi_limit *limit, bool keep_map, bisai_bcsr **matrix) {
  bsi_node_map map;
  bsi_mapped_csr mapped = {0};
  bsi_limit held = {0};
  bisai_bcsr *a = NULL;
  bisai_status status = bsi_node_map_make(context, desc, limit, &map);
  if (limit) held = *limit;
  held.held += 2 * (int64_t)desc->rows * (int64_t)sizeof *map.place;
  if (!status) status = bsi_mapped_csr_make(context, desc, &map, limit ? &held : NULL, &mapped);
  if (!status) held.held += bsi_mapped_csr_bytes(desc, &map);
  if (!status) status = make_mapped(context, &mapped, &map, limit ? &held : NULL, keep_map, &a);
  if (!status && keep_map)
    status = bsi_mapped_csr_rename(context, desc, &map, &mapped, &a->kept.map);
  if (!status) status = give_places(&map, desc->rows, a);
  bsi_mapped_csr_release(context, &mapped);
  bsi_node_map_release(context, &map);
  if (status)
    bisai_bcsr_destroy(&a);
  else
    *matrix = a;
  return status;
}

/* Returns true if nodes may be better than blocks of the size that is chosen: it is the cheapest
 * one, and not one that repairs singular diagonal blocks or repeats patterns. Half of the rows must
 * be in nodes of 2 rows at least, which have as many entries as there are rows. */
static bool may_have_nodes(const bisai_csr_desc *desc, const bisai_block_size_info *sizes,
                           int32_t bs) {
  if (!desc->find_nodes || desc->row_ptr[desc->rows] < desc->rows) return false;
  for (int i = 0; i < BISAI_CHOSEN_SIZES; i++)
    if (sizes[i].possible && sizes[i].bytes < sizes[bs - 1].bytes) return false;
  return true;
}

static int64_t product_bytes(int64_t blocks, int32_t bs) {
  return (8 * (int64_t)bs * bs + 4) * blocks;
}

/* Makes a block row of each node that is found if a product then reads fewer than `bytes`.
 * Otherwise *matrix stays NULL. */
static bisai_status from_found_nodes(bisai_context *context, const bisai_csr_desc *desc,
                                     int64_t bytes, const bsi_limit *limit, bool keep_map,
                                     bisai_bcsr **matrix) {
  const size_t rows = (size_t)desc->rows;
  const int64_t map_bytes = 2 * desc->rows * (int64_t)sizeof(int32_t);
  bisai_csr_desc by_node = *desc;
  bsi_found_nodes found = {0};
  bsi_limit held = limit ? *limit : (bsi_limit){0};
  bisai_status status = bsi_limit_check(context, limit, map_bytes + bsi_find_nodes_bytes(desc));
  if (status) return status;
  int32_t *node = bsi_allocate(context, 2 * rows, sizeof *node);
  if (!node) return BISAI_OUT_OF_MEMORY;
  held.held += map_bytes;
  by_node.node = node;
  by_node.component = node + rows;
  status = bsi_find_nodes(context, desc, node, node + rows, &found);
  if (!status && found.nodes > 0 && product_bytes(found.blocks, found.block_size) < bytes)
    status = from_nodes(context, &by_node, limit ? &held : NULL, keep_map, matrix);
  if (*matrix && product_bytes((*matrix)->blocks, found.block_size) >= bytes)
    bisai_bcsr_destroy(matrix);
  bsi_release(context, node);
  return status;
}

/* Chooses the blocks. */
static bisai_status from_pattern(bisai_context *context, const bisai_csr_desc *desc,
                                 const bsi_limit *limit, bool keep_map, bisai_bcsr **matrix) {
  bisai_block_size_info sizes[BISAI_CHOSEN_SIZES];
  bisai_bcsr *by_node = NULL;
  int32_t bs;
  if (limit) BSI_TRY(bsi_limit_check(context, limit, bsi_block_size_bytes(desc)));
  BSI_TRY(bsi_block_size_study(context, desc, sizes, &bs));
  if (may_have_nodes(desc, sizes, bs))
    BSI_TRY(from_found_nodes(context, desc, sizes[bs - 1].bytes, limit, keep_map, &by_node));
  if (!by_node) return make_blocks(context, desc, bs, NULL, limit, keep_map, matrix);
  *matrix = by_node;
  return BISAI_OK;
}

static bisai_status from_sound_csr(bisai_context *context, const bisai_csr_desc *desc,
                                   const bsi_limit *limit, bool keep_map, bisai_bcsr **matrix) {
  int32_t bs = desc->block_size;
  if (bsi_has_nodes(desc)) return from_nodes(context, desc, limit, keep_map, matrix);
  if (bs == 0 && bsi_is_nearly_empty(desc)) bs = 1;
  if (bs == 0) return from_pattern(context, desc, limit, keep_map, matrix);
  if ((desc->rows % bs != 0 || desc->cols % bs != 0) && !desc->pad)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT,
                    "block size %d does not divide %d × %d, and padding was not asked for", bs,
                    desc->rows, desc->cols);
  return make_blocks(context, desc, bs, NULL, limit, keep_map, matrix);
}

bisai_status bsi_bcsr_from_sound_csr(bisai_context *context, const bisai_csr_desc *desc,
                                     const bsi_limit *limit, bisai_bcsr **matrix) {
  return from_sound_csr(context, desc, limit, false, matrix);
}

static bisai_status from_csr(bisai_context *context, const bisai_csr_desc *desc,
                             bisai_bcsr **matrix) {
  BSI_TRY(bsi_csr_check(context, desc));
  BSI_TRY(bsi_csr_check_choices(context, desc));
  if (desc->row_ptr[desc->rows] > 0 && !desc->values)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT, "values is NULL");
  BSI_TRY(check_duplicates(context, desc));
  return from_sound_csr(context, desc, NULL, true, matrix);
}

/* The same for arrays that may count from 1. */
static bisai_status from_any_base(bisai_context *context, const bisai_csr_desc *desc,
                                  bisai_bcsr **matrix) {
  bisai_csr_desc zero;
  bsi_index_copies copies;
  bisai_status status = bsi_csr_from_zero(context, desc, &zero, &copies);
  if (!status) status = from_csr(context, &zero, matrix);
  bsi_index_copies_release(context, &copies);
  return status;
}

/* The same for arrays on a device, by copies in host memory. */
static bisai_status from_copies(bisai_context *context, const bisai_csr_desc *desc,
                                bisai_bcsr **matrix) {
  bisai_csr_desc host;
  bisai_status status = bsi_device_csr_fetch(context, desc, &host);
  if (!status) status = from_any_base(context, &host, matrix);
  bsi_device_csr_release(context, &host);
  return status;
}

static bisai_status from_device(bisai_context *context, const bisai_csr_desc *desc,
                                bisai_bcsr **matrix) {
  bisai_bcsr *made = NULL;
  BSI_TRY(bsi_device_csr_check(context, desc));
  BSI_TRY(BSI_ON_BACKEND(context, bsi_unite_rows)(context, desc, &made));
  if (!made) return from_copies(context, desc, matrix);
  *matrix = made;
  return BISAI_OK;
}

bisai_status bisai_bcsr_from_csr(bisai_context *context, const bisai_csr_desc *desc,
                                 bisai_bcsr **matrix) {
  if (!context) return BISAI_INVALID_ARGUMENT;
  if (!desc || !matrix)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT, "bisai_bcsr_from_csr: %s is NULL",
                    desc ? "matrix" : "desc");
  BSI_TRY(bsi_check_struct(context, "bisai_csr_desc", desc->struct_size, sizeof *desc));
  return bsi_csr_is_on_device(context, desc) ? from_device(context, desc, matrix)
                                             : from_any_base(context, desc, matrix);
}
