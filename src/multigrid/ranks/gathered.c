/* SPDX-License-Identifier: BSD-3-Clause */
/* The matrix has few rows, so that the host moves its blocks. Rows that consist of rounding errors
 * (multigrid/diagonal/null_rows.h) become rows of the identity, because no finer level is below to
 * find them: the correction there is the restricted residual, which is zero up to rounding if the
 * system has a solution. */
#include "multigrid/ranks/gathered.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/context/context_impl.h"
#include "core/matrix/bcsr_impl.h"
#include "multigrid/cycle.h"
#include "multigrid/diagonal/null_rows.h"
#include "multigrid/halo/agreement.h"
#include "multigrid/hierarchy.h"
#include "multigrid/level/memory.h"

/* --- what a rank sends --- */

/* A block of a row while it is sorted. */
typedef struct sorted_block {
  int64_t column;
  int32_t place;
} sorted_block;

static int compare(const void *a, const void *b) {
  const sorted_block *x = a, *y = b;
  return x->column < y->column ? -1 : x->column > y->column;
}

/* The own rows in the numbers of all ranks, as they are sent. */
typedef struct own_rows {
  int32_t *lengths;
  int64_t *columns;
} own_rows;

/* Sorts the blocks of the own rows by the columns of all. */
static bisai_status sort_blocks(const bsi_to_gather *from, bsi_gathered *g, own_rows *rows) {
  const bisai_bcsr *a = from->level->matrix;
  const size_t blocks = (size_t)a->blocks, size = (size_t)(a->block_size * a->block_size);
  bsi_structure s;
  sorted_block *sorted = bsi_allocate(g->context, blocks, sizeof *sorted);
  rows->lengths = bsi_allocate(g->context, (size_t)a->block_rows, sizeof *rows->lengths);
  rows->columns = bsi_allocate(g->context, blocks, sizeof *rows->columns);
  g->sent.blocks = a->blocks;
  g->sent.order = bsi_allocate(g->context, blocks, sizeof *g->sent.order);
  g->sent.row_of = bsi_allocate(g->context, blocks, sizeof *g->sent.row_of);
  g->sent.packed = bsi_allocate(g->context, blocks * size, sizeof *g->sent.packed);
  g->sent.own = bsi_allocate(g->context, blocks * size, sizeof *g->sent.own);
  g->sent.marks =
      bsi_allocate(g->context, (size_t)bsi_level_room(from->level), sizeof *g->sent.marks);
  bisai_status status = sorted && rows->lengths && rows->columns && g->sent.order &&
                                g->sent.row_of && g->sent.packed && g->sent.own && g->sent.marks
                            ? bsi_bcsr_structure(a, &s)
                            : BISAI_OUT_OF_MEMORY;
  for (int32_t i = 0; i < a->block_rows && !status; i++) {
    const int32_t begin = s.row_ptr[i], end = s.row_ptr[i + 1];
    rows->lengths[i] = end - begin;
    for (int32_t p = begin; p < end; p++)
      sorted[p] = (sorted_block){bsi_numbering_global(from->columns, s.col_idx[p]), p};
    /* own columns ascend, and ghosts are the last ones */
    if (end > begin && s.col_idx[end - 1] >= a->block_rows)
      qsort(sorted + begin, (size_t)(end - begin), sizeof *sorted, compare);
    for (int32_t q = begin; q < end; q++) {
      g->sent.order[q] = sorted[q].place;
      g->sent.row_of[q] = i;
      rows->columns[q] = sorted[q].column;
    }
  }
  bsi_release(g->context, sorted);
  return status;
}

/* Block of the packed ones ← block p of the own matrix, with rows and columns of rounding errors
 * replaced. `column` is the column here. */
static void replace_rows(const bsi_gathered *g, int bs, int32_t i, int32_t column, double *block) {
  const double *here = g->sent.marks + (size_t)i * (size_t)bs,
               *there = g->sent.marks + (size_t)column * (size_t)bs;
  for (int c = 0; c < bs; c++)
    for (int r = 0; r < bs; r++)
      if (here[r] != 0.0 || there[c] != 0.0) block[c * bs + r] = i == column && r == c ? 1.0 : 0.0;
}

/* Packs the values of the own rows. */
static bisai_status pack_values(const bsi_level *level, bsi_gathered *g) {
  const bisai_bcsr *a = level->matrix;
  const size_t size = (size_t)(a->block_size * a->block_size);
  bsi_structure s;
  BSI_TRY(g->context->backend->memory->fetch(g->context, g->sent.own, a->values,
                                             (size_t)a->blocks * size * sizeof *g->sent.own));
  BSI_TRY(bsi_bcsr_structure(a, &s));
  for (int32_t q = 0; q < g->sent.blocks; q++) {
    double *block = g->sent.packed + (size_t)q * size;
    memcpy(block, g->sent.own + (size_t)g->sent.order[q] * size, size * sizeof *block);
    if (g->sent.null_rows > 0.0)
      replace_rows(g, a->block_size, g->sent.row_of[q], s.col_idx[g->sent.order[q]], block);
  }
  return BISAI_OK;
}

/* Finds the rows that consist of rounding errors, on all ranks. */
static bisai_status mark_rows(const bsi_hierarchy *h, const bsi_level *level, bsi_gathered *g) {
  const bsi_memory_ops *memory = g->context->backend->memory;
  const size_t own = (size_t)bsi_level_rows(level), all = (size_t)bsi_level_room(level);
  int64_t rows = 0;
  BSI_TRY(bsi_null_rows_mark(h, level, g->sent.marks, &rows));
  g->sent.null_rows = (double)rows;
  BSI_TRY(bsi_sum_over_ranks(g->context, g->transport, 1, &g->sent.null_rows));
  if (g->sent.null_rows == 0.0) return BISAI_OK;
  BSI_TRY(memory->upload(g->context, level->work.x, g->sent.marks, own * sizeof *g->sent.marks));
  BSI_TRY(bsi_halo_complete(level->halo, level->matrix->block_size, level->work.x));
  return memory->fetch(g->context, g->sent.marks, level->work.x, all * sizeof *g->sent.marks);
}

/* --- what rank 0 gets --- */

/* Sends `own` bytes to rank 0, which receives bytes[k] of rank k behind its own ones at `all`. */
static bisai_status send_to_first(bsi_gathered *g, const void *own, size_t own_bytes,
                                  const size_t *bytes, void *all) {
  const bisai_transport *t = g->transport;
  char *to = all;
  if (t->rank > 0)
    return bsi_exchange(g->context, t, 1, &(bisai_message){.send = own, .send_bytes = own_bytes});
  if (own_bytes > 0) memcpy(to, own, own_bytes);
  for (int k = 1; k < t->ranks; k++) {
    to += bytes[k - 1];
    BSI_TRY(bsi_exchange(g->context, t, 1, &(bisai_message){k, NULL, 0, to, bytes[k]}));
  }
  return BISAI_OK;
}

/* The arrays of all rows on rank 0. */
typedef struct all_rows {
  size_t *bytes;
  int32_t *lengths, *row_ptr, *col_idx;
  int64_t *columns;
  double *vectors;
} all_rows;

static void release(bisai_context *context, all_rows *all, own_rows *own) {
  bsi_release(context, all->bytes);
  bsi_release(context, all->lengths);
  bsi_release(context, all->row_ptr);
  bsi_release(context, all->col_idx);
  bsi_release(context, all->columns);
  bsi_release(context, all->vectors);
  bsi_release(context, own->lengths);
  bsi_release(context, own->columns);
}

/* Reserves what rank 0 needs before it knows how many blocks there are. */
static bisai_status reserve_rows(const bsi_to_gather *from, bsi_gathered *g, all_rows *all) {
  const bisai_transport *t = g->transport;
  const size_t ranks = (size_t)t->ranks, rows = t->rank == 0 ? (size_t)from->begins[ranks] : 0;
  all->bytes = bsi_allocate(g->context, ranks, sizeof *all->bytes);
  all->lengths = bsi_allocate(g->context, rows, sizeof *all->lengths);
  all->row_ptr = bsi_allocate(g->context, rows + 1, sizeof *all->row_ptr);
  g->counts = bsi_allocate(g->context, ranks, sizeof *g->counts);
  if (!all->bytes || !all->lengths || !all->row_ptr || !g->counts) return BISAI_OUT_OF_MEMORY;
  for (size_t k = 0; k < ranks; k++)
    all->bytes[k] = (size_t)(from->begins[k + 1] - from->begins[k]) * sizeof *all->lengths;
  return BISAI_OK;
}

/* Counts the blocks of each rank, and reserves their columns. */
static bisai_status reserve_blocks(const bsi_to_gather *from, bsi_gathered *g, all_rows *all) {
  const bisai_transport *t = g->transport;
  const int bs = from->level->matrix->block_size;
  int64_t blocks = 0, row = 0;
  all->row_ptr[0] = 0;
  for (int k = 0; k < t->ranks && t->rank == 0; k++) {
    g->counts[k] = 0;
    for (; row < from->begins[k + 1]; row++) {
      g->counts[k] += all->lengths[row];
      blocks += all->lengths[row];
      if (blocks > INT32_MAX)
        return bsi_fail(g->context, BISAI_INDEX_OVERFLOW,
                        "the gathered matrix has more than 2^31 blocks");
      all->row_ptr[row + 1] = (int32_t)blocks;
    }
  }
  all->columns = bsi_allocate(g->context, (size_t)blocks, sizeof *all->columns);
  all->col_idx = bsi_allocate(g->context, (size_t)blocks, sizeof *all->col_idx);
  g->values = bsi_allocate(g->context, (size_t)blocks * (size_t)(bs * bs), sizeof *g->values);
  return all->columns && all->col_idx && g->values ? BISAI_OK : BISAI_OUT_OF_MEMORY;
}

static bisai_status gather_structure(const bsi_to_gather *from, bsi_gathered *g,
                                     const own_rows *own, all_rows *all) {
  const bisai_transport *t = g->transport;
  const bisai_bcsr *a = from->level->matrix;
  BSI_TRY(send_to_first(g, own->lengths, (size_t)a->block_rows * sizeof *own->lengths, all->bytes,
                        all->lengths));
  BSI_TRY(bsi_agree(g->context, t, reserve_blocks(from, g, all)));
  for (int k = 0; k < t->ranks && t->rank == 0; k++)
    all->bytes[k] = (size_t)g->counts[k] * sizeof *all->columns;
  BSI_TRY(send_to_first(g, own->columns, (size_t)a->blocks * sizeof *own->columns, all->bytes,
                        all->columns));
  for (int32_t p = 0; t->rank == 0 && p < all->row_ptr[from->begins[t->ranks]]; p++)
    all->col_idx[p] = (int32_t)all->columns[p];
  return BISAI_OK;
}

/* g->values ← the packed values of all ranks. Rank 0 waits for one rank after the other. */
static bisai_status gather_values(bsi_gathered *g, int bs) {
  const size_t block = (size_t)(bs * bs) * sizeof(double);
  const bisai_transport *t = g->transport;
  if (t->rank > 0)
    return send_to_first(g, g->sent.packed, (size_t)g->sent.blocks * block, NULL, NULL);
  char *to = (char *)g->values;
  memcpy(to, g->sent.packed, (size_t)g->sent.blocks * block);
  for (int k = 1; k < t->ranks; k++) {
    to += (size_t)g->counts[k - 1] * block;
    BSI_TRY(bsi_exchange(g->context, t, 1,
                         &(bisai_message){k, NULL, 0, to, (size_t)g->counts[k] * block}));
  }
  return BISAI_OK;
}

/* all->vectors ← the near-null-space vectors of all rows. */
static bisai_status gather_vectors(const bsi_to_gather *from, bsi_gathered *g, all_rows *all) {
  const bisai_transport *t = g->transport;
  const size_t bs = (size_t)from->level->matrix->block_size,
               count = (size_t)from->setup.options.null_count, row = bs * count * sizeof(double),
               n = (size_t)from->level->matrix->block_rows;
  if (count == 0) return BISAI_OK;
  double *own = bsi_allocate(g->context, n * bs * count, sizeof *own);
  all->vectors = bsi_allocate(
      g->context, t->rank == 0 ? (size_t)from->begins[t->ranks] * bs * count : 0, sizeof *own);
  bisai_status status = own && all->vectors ? BISAI_OK : BISAI_OUT_OF_MEMORY;
  if (!status) status = g->context->backend->memory->fetch(g->context, own, from->vectors, n * row);
  status = bsi_agree(g->context, t, status);
  for (int k = 0; k < t->ranks && !status; k++)
    all->bytes[k] = (size_t)(from->begins[k + 1] - from->begins[k]) * row;
  if (!status) status = send_to_first(g, own, n * row, all->bytes, all->vectors);
  bsi_release(g->context, own);
  return status;
}

/* --- creation --- */

static bisai_status make_levels(const bsi_to_gather *from, bsi_gathered *g, const all_rows *all) {
  bsi_multigrid_setup setup = from->setup;
  bisai_bcsr_desc d = bisai_bcsr_desc_default();
  if (g->transport->rank > 0) return BISAI_OK;
  d.block_rows = d.block_cols = (int32_t)from->begins[g->transport->ranks];
  d.block_size = from->level->matrix->block_size;
  d.row_ptr = all->row_ptr;
  d.col_idx = all->col_idx;
  d.values = g->values;
  BSI_TRY(bsi_bcsr_create(g->context, &d, &g->matrix));
  setup.options.null_vectors = all->vectors;
  g->made = true;
  return bsi_hierarchy_create(g->context, g->matrix, &setup, &g->below);
}

/* Makes the exchange of vectors: rank 0 has all rows of others as ghosts. */
static bisai_status connect(const bsi_to_gather *from, bsi_gathered *g) {
  const bisai_transport *t = g->transport;
  const bsi_memory_ops *memory = g->context->backend->memory;
  const int bs = from->level->matrix->block_size;
  const int64_t n = from->level->matrix->block_rows,
                all = t->rank == 0 ? from->begins[t->ranks] : n;
  int64_t *ghosts = bsi_allocate(g->context, (size_t)(all - n), sizeof *ghosts);
  g->b = memory->allocate(g->context, (size_t)(all * bs), sizeof *g->b);
  g->x = memory->allocate(g->context, (size_t)(all * bs), sizeof *g->x);
  bisai_status status = ghosts && g->b && g->x ? BISAI_OK : BISAI_OUT_OF_MEMORY;
  status = bsi_agree(g->context, t, status);
  for (int64_t j = 0; j < all - n && !status; j++) ghosts[j] = n + j;
  if (!status)
    status = bsi_halo_create(g->context, t, from->begins, (int32_t)(all - n), ghosts, bs, &g->halo);
  bsi_release(g->context, ghosts);
  return status;
}

bisai_status bsi_gathered_create(bisai_context *context, const bisai_transport *transport,
                                 const bsi_to_gather *from, bsi_gathered *g) {
  own_rows own = {NULL, NULL};
  all_rows all = {.bytes = NULL};
  *g = (bsi_gathered){.context = context, .transport = transport};
  bisai_status status = sort_blocks(from, g, &own);
  if (!status) status = reserve_rows(from, g, &all);
  status = bsi_agree(context, transport, status);
  if (!status) status = connect(from, g);
  if (!status) status = gather_structure(from, g, &own, &all);
  if (!status) status = mark_rows(from->h, from->level, g);
  if (!status) status = bsi_agree(context, transport, pack_values(from->level, g));
  if (!status) status = gather_values(g, from->level->matrix->block_size);
  if (!status) status = gather_vectors(from, g, &all);
  if (!status) status = bsi_agree(context, transport, make_levels(from, g, &all));
  release(context, &all, &own);
  return status;
}

static bisai_status take_values(bsi_gathered *g) {
  if (g->transport->rank > 0) return BISAI_OK;
  BSI_TRY(bisai_bcsr_update(g->matrix, g->values, BISAI_COLUMN_MAJOR));
  return bsi_hierarchy_update(g->matrix, &g->below);
}

bisai_status bsi_gathered_update(const bsi_hierarchy *h, const bsi_level *level, bsi_gathered *g) {
  BSI_TRY(mark_rows(h, level, g));
  BSI_TRY(bsi_agree(g->context, g->transport, pack_values(level, g)));
  BSI_TRY(gather_values(g, level->matrix->block_size));
  return bsi_agree(g->context, g->transport, take_values(g));
}

/* --- use --- */

/* A failure on rank 0 gives infinity, with which a solver ends on all ranks. */
static bisai_status solve(bsi_gathered *g) {
  const bisai_status status = bsi_hierarchy_cycle(&g->below, g->b, g->x);
  if (!status) return BISAI_OK;
  g->context->backend->vectors->set(g->context, bsi_level_rows(&g->below.levels[0]), INFINITY,
                                    g->x);
  return status;
}

static bisai_status apply(void *self, const double *b, double *x) {
  bsi_gathered *g = self;
  const bsi_memory_ops *memory = g->context->backend->memory;
  const bool first = g->transport->rank == 0;
  const int32_t bs = g->halo.width;
  const size_t own = (size_t)g->halo.rows * (size_t)bs, bytes = own * sizeof(double);
  bisai_status status = BISAI_OK;
  if (bytes > 0) BSI_TRY(memory->copy(g->context, g->b, b, bytes));
  BSI_TRY(bsi_halo_exchange(&g->halo, bs, g->b, g->b + own));
  if (first) status = solve(g);
  BSI_TRY(bsi_halo_return(&g->halo, bs, g->x + own, x));
  if (first && bytes > 0 && !status) status = memory->copy(g->context, x, g->x, bytes);
  return status;
}

bsi_operator bsi_gathered_operator(bsi_gathered *g) {
  static const bsi_operator_ops ops = {.apply = apply};
  return (bsi_operator){&ops, g};
}

int64_t bsi_gathered_memory(const bsi_gathered *g) {
  if (!g->context) return 0;
  const int64_t rows = (int64_t)g->halo.rows + g->halo.ghosts;
  int64_t bytes = bsi_halo_memory(&g->halo) + 16 * rows * g->halo.width +
                  8 * (int64_t)g->sent.blocks +
                  16 * (int64_t)g->sent.blocks * g->halo.width * g->halo.width;
  if (g->matrix)
    bytes +=
        bsi_bcsr_memory(g->matrix) + 8 * (int64_t)bsi_block_offset(g->matrix, g->matrix->blocks);
  return g->made ? bytes + bsi_hierarchy_memory(&g->below) : bytes;
}

void bsi_gathered_destroy(bsi_gathered *g) {
  bisai_context *context = g->context;
  if (!context) return;
  if (g->made) bsi_hierarchy_destroy(context, &g->below);
  bisai_bcsr_destroy(&g->matrix);
  bsi_halo_destroy(&g->halo);
  context->backend->memory->release(context, g->b);
  context->backend->memory->release(context, g->x);
  bsi_release(context, g->sent.order);
  bsi_release(context, g->sent.row_of);
  bsi_release(context, g->sent.packed);
  bsi_release(context, g->sent.own);
  bsi_release(context, g->sent.marks);
  bsi_release(context, g->counts);
  bsi_release(context, g->values);
  *g = (bsi_gathered){.context = NULL};
}
