/* SPDX-License-Identifier: BSD-3-Clause */
/* The rows of a rank get the columns of all ranks as a product with identity blocks, so that no
 * backend has other functions for them, and their arrays go to rank 0 as they are. Rows that
 * consist of rounding errors (multigrid/diagonal/null_rows.h) become rows of the identity there,
 * because no finer level is below to find them: the correction there is the restricted residual,
 * which is zero up to rounding if the system has a solution. */
#include "multigrid/ranks/gathered.h"

#include <math.h>
#include <string.h>

#include "core/context/context_impl.h"
#include "core/matrix/bcsr_impl.h"
#include "multigrid/cycle.h"
#include "multigrid/diagonal/null_rows.h"
#include "multigrid/halo/agreement.h"
#include "multigrid/hierarchy.h"
#include "multigrid/level/memory.h"
#include "multigrid/spgemm/spgemm_ops.h"
#include "multigrid/transposed.h"

/* What goes through memory that the backend and the host see goes in parts of at most that many
 * values. */
enum { PART = 1 << 19 };

static const bsi_memory_ops *memory_of(const bsi_gathered *g) {
  return g->context->backend->memory;
}

static const bsi_spgemm_ops *products_of(const bsi_gathered *g) {
  return g->context->backend->multigrid->spgemm;
}

/* --- what a rank sends --- */

/* g->sent.columns ← the identity in the column of all ranks, for each column of the own matrix. */
static bisai_status number_columns(const bsi_to_gather *from, bsi_gathered *g) {
  const bisai_bcsr *a = from->level->matrix;
  const size_t n = (size_t)a->block_cols, size = sizeof(int32_t);
  bsi_block_matrix *columns = &g->sent.columns;
  int32_t *ptr = bsi_allocate(g->context, n + 1, size), *col = bsi_allocate(g->context, n, size);
  *columns = (bsi_block_matrix){.rows = a->block_cols,
                                .cols = (int32_t)from->begins[g->transport->ranks],
                                .height = a->block_size,
                                .width = a->block_size,
                                .blocks = a->block_cols,
                                .row_ptr = memory_of(g)->allocate(g->context, n + 1, size),
                                .col_idx = memory_of(g)->allocate(g->context, n, size)};
  bisai_status status =
      ptr && col && columns->row_ptr && columns->col_idx ? BISAI_OK : BISAI_OUT_OF_MEMORY;
  for (int32_t j = 0; j <= a->block_cols && !status; j++) ptr[j] = j;
  for (int32_t j = 0; j < a->block_cols && !status; j++)
    col[j] = (int32_t)bsi_numbering_global(from->columns, j);
  if (!status) status = memory_of(g)->upload(g->context, columns->row_ptr, ptr, (n + 1) * size);
  if (!status && n > 0) status = memory_of(g)->upload(g->context, columns->col_idx, col, n * size);
  if (!status) status = memory_of(g)->synchronize(g->context);
  bsi_release(g->context, ptr);
  bsi_release(g->context, col);
  return status;
}

/* Makes the rows that are sent, without their values. */
static bisai_status make_rows(const bsi_to_gather *from, bsi_gathered *g) {
  const bsi_block_matrix own = bsi_block_matrix_of(from->level->matrix);
  const bisai_transport *t = g->transport;
  const int64_t all = from->begins[t->ranks];
  if (all > INT32_MAX)
    return bsi_fail(g->context, BISAI_INDEX_OVERFLOW,
                    "the gathered matrix has more than 2^31 rows");
  BSI_TRY(number_columns(from, g));
  BSI_TRY(products_of(g)->multiply_structure(g->context, &own, &g->sent.columns, INT64_MAX,
                                             &g->sent.rows));
  BSI_TRY(bsi_block_matrix_reserve_values(g->context, &g->sent.rows));
  g->sent.marks =
      bsi_allocate(g->context, (size_t)(t->rank == 0 ? all : own.rows) * (size_t)own.width,
                   sizeof *g->sent.marks);
  if (!g->sent.marks) return BISAI_OUT_OF_MEMORY;
  if (memory_of(g)->is_host || t->enqueue_exchange) return BISAI_OK;
  g->sent.part = memory_of(g)->allocate_shared(g->context, PART);
  return g->sent.part ? BISAI_OK : BISAI_OUT_OF_MEMORY;
}

static bisai_status update_rows(const bsi_level *level, bsi_gathered *g) {
  const bsi_block_matrix own = bsi_block_matrix_of(level->matrix);
  return products_of(g)->multiply_values(g->context, &own, &g->sent.columns, &g->sent.rows);
}

/* --- to rank 0 --- */

/* Sends counts[rank] objects of `size` bytes to rank 0, which receives counts[k] of rank k behind
 * its own ones at `all`. Arrays in host memory. */
static bisai_status send_to_first(const bsi_gathered *g, size_t size, const void *own,
                                  const int64_t *counts, void *all) {
  const bisai_transport *t = g->transport;
  char *to = all;
  if (t->rank > 0)
    return bsi_exchange(
        g->context, t, 1,
        &(bisai_message){.send = own, .send_bytes = (size_t)counts[t->rank] * size});
  if (counts[0] > 0) memcpy(to, own, (size_t)counts[0] * size);
  for (int k = 1; k < t->ranks; k++) {
    to += (size_t)counts[k - 1] * size;
    BSI_TRY(
        bsi_exchange(g->context, t, 1, &(bisai_message){k, NULL, 0, to, (size_t)counts[k] * size}));
  }
  return BISAI_OK;
}

/* Sends an array in backend memory to another rank, or receives one, in parts. */
static bisai_status pass_parts(const bsi_gathered *g, int rank, bool sends, char *array,
                               size_t bytes) {
  const size_t most = PART * sizeof *g->sent.part;
  for (size_t done = 0; done < bytes; done += most) {
    const size_t part = bytes - done < most ? bytes - done : most;
    bisai_message m = {.rank = rank};
    if (sends) {
      BSI_TRY(memory_of(g)->fetch(g->context, g->sent.part, array + done, part));
      m.send = g->sent.part, m.send_bytes = part;
    } else {
      m.receive = g->sent.part, m.receive_bytes = part;
    }
    BSI_TRY(bsi_exchange(g->context, g->transport, 1, &m));
    if (sends) continue;
    BSI_TRY(memory_of(g)->upload(g->context, array + done, g->sent.part, part));
    BSI_TRY(memory_of(g)->synchronize(g->context));
  }
  return BISAI_OK;
}

/* The same at once, where the transport reaches the memory of the backend. */
static bisai_status pass(const bsi_gathered *g, int rank, bool sends, void *array, size_t bytes) {
  const bisai_message m = {.rank = rank,
                           .send = sends ? array : NULL,
                           .send_bytes = sends ? bytes : 0,
                           .receive = sends ? NULL : array,
                           .receive_bytes = sends ? 0 : bytes};
  if (bytes == 0) return BISAI_OK;
  if (g->transport->enqueue_exchange) return bsi_enqueue_exchange(g->context, g->transport, 1, &m);
  return memory_of(g)->is_host ? bsi_exchange(g->context, g->transport, 1, &m)
                               : pass_parts(g, rank, sends, array, bytes);
}

/* Does what send_to_first() does with arrays in backend memory, for `size` bytes of each block. */
static bisai_status gather_blocks(const bsi_gathered *g, size_t size, void *own, void *all) {
  const size_t bytes = (size_t)g->sent.rows.blocks * size;
  char *to = all;
  if (g->transport->rank > 0) return pass(g, 0, true, own, bytes);
  if (bytes > 0) BSI_TRY(memory_of(g)->copy(g->context, to, own, bytes));
  for (int k = 1; k < g->transport->ranks; k++) {
    to += (size_t)g->counts[1][k - 1] * size;
    BSI_TRY(pass(g, k, false, to, (size_t)g->counts[1][k] * size));
  }
  return BISAI_OK;
}

/* --- the structure on rank 0 --- */

/* Arrays in host memory. */
typedef struct all_rows {
  /* of the own rows, and of all */
  int32_t *own, *lengths, *row_ptr;
  double *own_vectors, *vectors;
  /* the block rows of each rank */
  int64_t *counts;
} all_rows;

static void release(bisai_context *context, all_rows *all) {
  bsi_release(context, all->own);
  bsi_release(context, all->lengths);
  bsi_release(context, all->row_ptr);
  bsi_release(context, all->own_vectors);
  bsi_release(context, all->vectors);
  bsi_release(context, all->counts);
}

/* Lists the lengths of the own rows. */
static bisai_status list_lengths(const bsi_to_gather *from, bsi_gathered *g, all_rows *all) {
  const bisai_transport *t = g->transport;
  const size_t ranks = (size_t)t->ranks, rows = t->rank == 0 ? (size_t)from->begins[ranks] : 0,
               own = (size_t)g->sent.rows.rows;
  all->own = bsi_allocate(g->context, own + 1, sizeof *all->own);
  all->lengths = bsi_allocate(g->context, rows, sizeof *all->lengths);
  all->row_ptr = bsi_allocate(g->context, rows + 1, sizeof *all->row_ptr);
  all->counts = bsi_allocate(g->context, ranks, sizeof *all->counts);
  for (int k = 0; k < 2; k++) g->counts[k] = bsi_allocate(g->context, ranks, sizeof *g->counts[k]);
  if (!all->own || !all->lengths || !all->row_ptr || !all->counts || !g->counts[0] || !g->counts[1])
    return BISAI_OUT_OF_MEMORY;
  for (size_t k = 0; k < ranks; k++) {
    all->counts[k] = from->begins[k + 1] - from->begins[k];
    g->counts[0][k] = all->counts[k] * g->sent.rows.width;
  }
  BSI_TRY(memory_of(g)->fetch(g->context, all->own, g->sent.rows.row_ptr,
                              (own + 1) * sizeof *all->own));
  for (size_t i = 0; i < own; i++) all->own[i] = all->own[i + 1] - all->own[i];
  return BISAI_OK;
}

/* Counts the blocks of each rank, and reserves the matrix. */
static bisai_status reserve_matrix(const bsi_to_gather *from, bsi_gathered *g, all_rows *all) {
  const bisai_transport *t = g->transport;
  int64_t blocks = 0, row = 0;
  if (t->rank > 0) return BISAI_OK;
  all->row_ptr[0] = 0;
  for (int k = 0; k < t->ranks; k++) {
    g->counts[1][k] = 0;
    for (; row < from->begins[k + 1]; row++) {
      g->counts[1][k] += all->lengths[row];
      blocks += all->lengths[row];
      if (blocks > INT32_MAX)
        return bsi_fail(g->context, BISAI_INDEX_OVERFLOW,
                        "the gathered matrix has more than 2^31 blocks");
      all->row_ptr[row + 1] = (int32_t)blocks;
    }
  }
  const bsi_bcsr_sizes sizes = {(int32_t)row, (int32_t)row, g->sent.rows.width, (int32_t)blocks,
                                BISAI_FP64};
  BSI_TRY(bsi_bcsr_reserve(g->context, &sizes, NULL, NULL, &g->matrix));
  BSI_TRY(memory_of(g)->upload(g->context, g->matrix->row_ptr, all->row_ptr,
                               (size_t)(row + 1) * sizeof *all->row_ptr));
  return memory_of(g)->synchronize(g->context);
}

static bisai_status gather_structure(const bsi_to_gather *from, bsi_gathered *g, all_rows *all) {
  BSI_TRY(send_to_first(g, sizeof *all->own, all->own, all->counts, all->lengths));
  BSI_TRY(bsi_agree(g->context, g->transport, reserve_matrix(from, g, all)));
  return gather_blocks(g, sizeof *g->sent.rows.col_idx, g->sent.rows.col_idx,
                       g->matrix ? g->matrix->col_idx : NULL);
}

/* --- the values on rank 0 --- */

/* Finds the rows that consist of rounding errors. */
static bisai_status mark_rows(const bsi_hierarchy *h, const bsi_level *level, bsi_gathered *g) {
  int64_t rows = 0;
  BSI_TRY(bsi_null_rows_mark(h, level, g->sent.marks, &rows));
  g->sent.null_rows = (double)rows;
  BSI_TRY(bsi_sum_over_ranks(g->context, g->transport, 1, &g->sent.null_rows));
  if (g->sent.null_rows == 0.0) return BISAI_OK;
  if (g->transport->rank > 0)
    return send_to_first(g, sizeof *g->sent.marks, g->sent.marks, g->counts[0], NULL);
  double *others = g->sent.marks + g->counts[0][0];
  for (int k = 1; k < g->transport->ranks; others += g->counts[0][k++]) {
    const size_t bytes = (size_t)g->counts[0][k] * sizeof *others;
    BSI_TRY(bsi_exchange(g->context, g->transport, 1, &(bisai_message){k, NULL, 0, others, bytes}));
  }
  return BISAI_OK;
}

/* Replaces the rows and columns of rounding errors in block (i, j). Returns true if there are
 * any. */
static bool replace_in_block(const double *marks, int bs, int32_t i, int32_t j, double *block) {
  const double *here = marks + (size_t)i * (size_t)bs, *there = marks + (size_t)j * (size_t)bs;
  bool any = false;
  for (int c = 0; c < bs; c++)
    for (int r = 0; r < bs; r++) {
      if (here[r] == 0.0 && there[c] == 0.0) continue;
      block[c * bs + r] = i == j && r == c ? 1.0 : 0.0;
      any = true;
    }
  return any;
}

/* Replaces them in the matrix. There are few, and the host does it. */
static bisai_status replace_rows(bsi_gathered *g) {
  const int bs = g->sent.rows.width;
  const size_t bytes = (size_t)(bs * bs) * sizeof(double);
  double block[BISAI_MAX_BLOCK_SIZE * BISAI_MAX_BLOCK_SIZE];
  double *values = g->matrix->values;
  bsi_structure s;
  BSI_TRY(bsi_bcsr_structure(g->matrix, &s));
  for (int32_t i = 0; i < g->matrix->block_rows; i++)
    for (int32_t p = s.row_ptr[i]; p < s.row_ptr[i + 1]; p++) {
      double *of = values + bsi_block_offset(g->matrix, p);
      if (!replace_in_block(g->sent.marks, bs, i, s.col_idx[p], block)) continue;
      BSI_TRY(memory_of(g)->fetch(g->context, block, of, bytes));
      replace_in_block(g->sent.marks, bs, i, s.col_idx[p], block);
      BSI_TRY(memory_of(g)->upload(g->context, of, block, bytes));
      BSI_TRY(memory_of(g)->synchronize(g->context));
    }
  return BISAI_OK;
}

static bisai_status check_values(bsi_gathered *g) {
  if (g->transport->rank > 0) return BISAI_OK;
  if (g->sent.null_rows > 0.0) BSI_TRY(replace_rows(g));
  return bsi_bcsr_check_finite(g->context, g->matrix);
}

/* The values of the matrix ← those of the last level of all ranks. */
static bisai_status gather_values(const bsi_hierarchy *h, const bsi_level *level, bsi_gathered *g) {
  const size_t size = (size_t)(level->matrix->block_size * level->matrix->block_size);
  BSI_TRY(mark_rows(h, level, g));
  BSI_TRY(bsi_agree(g->context, g->transport, update_rows(level, g)));
  BSI_TRY(gather_blocks(g, size * sizeof(double), g->sent.rows.values,
                        g->matrix ? g->matrix->values : NULL));
  return bsi_agree(g->context, g->transport, check_values(g));
}

/* all->vectors ← the near-null-space vectors of all rows. */
static bisai_status gather_vectors(const bsi_to_gather *from, bsi_gathered *g, all_rows *all) {
  const bisai_transport *t = g->transport;
  const size_t bs = (size_t)g->sent.rows.width, count = (size_t)from->setup.options.null_count,
               row = bs * count * sizeof(double), n = (size_t)g->sent.rows.rows;
  if (count == 0) return BISAI_OK;
  all->own_vectors = bsi_allocate(g->context, n, row);
  all->vectors = bsi_allocate(g->context, t->rank == 0 ? (size_t)from->begins[t->ranks] : 0, row);
  bisai_status status = all->own_vectors && all->vectors ? BISAI_OK : BISAI_OUT_OF_MEMORY;
  if (!status) status = memory_of(g)->fetch(g->context, all->own_vectors, from->vectors, n * row);
  BSI_TRY(bsi_agree(g->context, t, status));
  return send_to_first(g, row, all->own_vectors, all->counts, all->vectors);
}

/* --- creation --- */

static bisai_status make_levels(const bsi_to_gather *from, bsi_gathered *g, const all_rows *all) {
  bsi_multigrid_setup setup = from->setup;
  if (g->transport->rank > 0) return BISAI_OK;
  setup.options.null_vectors = all->vectors;
  g->made = true;
  return bsi_hierarchy_create(g->context, g->matrix, &setup, &g->below);
}

/* Makes what is sent, and the exchange of vectors: rank 0 has all rows of others as ghosts.
 * `before` is the status of what this rank did alone before. */
static bisai_status connect(const bsi_to_gather *from, bisai_status before, bsi_gathered *g,
                            all_rows *rows) {
  const bisai_transport *t = g->transport;
  const bsi_memory_ops *memory = g->context->backend->memory;
  const int bs = from->level->matrix->block_size;
  const int64_t n = from->level->matrix->block_rows,
                all = t->rank == 0 ? from->begins[t->ranks] : n;
  int64_t *ghosts = bsi_allocate(g->context, (size_t)(all - n), sizeof *ghosts);
  g->b = memory->allocate(g->context, (size_t)(all * bs), sizeof *g->b);
  g->x = memory->allocate(g->context, (size_t)(all * bs), sizeof *g->x);
  bisai_status status = before;
  if (!status && (!ghosts || !g->b || !g->x)) status = BISAI_OUT_OF_MEMORY;
  if (!status) status = make_rows(from, g);
  if (!status) status = list_lengths(from, g, rows);
  status = bsi_agree(g->context, t, status);
  for (int64_t j = 0; j < all - n && !status; j++) ghosts[j] = n + j;
  if (!status)
    status = bsi_halo_create(g->context, t, from->begins, (int32_t)(all - n), ghosts, bs, &g->halo);
  bsi_release(g->context, ghosts);
  return status;
}

bisai_status bsi_gathered_create(bisai_context *context, const bisai_transport *transport,
                                 bisai_status before, const bsi_to_gather *from, bsi_gathered *g) {
  all_rows all = {.own = NULL};
  *g = (bsi_gathered){.context = context, .transport = transport};
  bisai_status status = connect(from, before, g, &all);
  if (!status) status = gather_structure(from, g, &all);
  if (!status) status = gather_values(from->h, from->level, g);
  if (!status) status = gather_vectors(from, g, &all);
  if (!status) status = bsi_agree(context, transport, make_levels(from, g, &all));
  release(context, &all);
  return status;
}

static bisai_status update_levels(bsi_gathered *g) {
  return g->transport->rank > 0 ? BISAI_OK : bsi_hierarchy_update(g->matrix, &g->below);
}

bisai_status bsi_gathered_update(const bsi_hierarchy *h, const bsi_level *level, bsi_gathered *g) {
  BSI_TRY(gather_values(h, level, g));
  return bsi_agree(g->context, g->transport, update_levels(g));
}

/* --- use --- */

/* A failure on rank 0 gives infinity, with which a solver ends on all ranks. */
static bisai_status solve(bsi_gathered *g, bsi_hierarchy *levels) {
  const bisai_status status = bsi_hierarchy_cycle(levels, g->b, g->x);
  if (!status) return BISAI_OK;
  g->context->backend->vectors->set(g->context, bsi_level_rows(&levels->levels[0]), INFINITY, g->x);
  return status;
}

/* `levels` are those of rank 0. */
static bisai_status apply_levels(bsi_gathered *g, bsi_hierarchy *levels, const double *b,
                                 double *x) {
  const bsi_memory_ops *memory = g->context->backend->memory;
  const bool first = g->transport->rank == 0;
  const int32_t bs = g->halo.width;
  const size_t own = (size_t)g->halo.rows * (size_t)bs, bytes = own * sizeof(double);
  bisai_status status = BISAI_OK;
  if (bytes > 0) BSI_TRY(memory->copy(g->context, g->b, b, bytes));
  BSI_TRY(bsi_halo_exchange(&g->halo, bs, g->b, g->b + own));
  if (first) status = solve(g, levels);
  BSI_TRY(bsi_halo_return(&g->halo, bs, g->x + own, x));
  if (first && bytes > 0 && !status) status = memory->copy(g->context, x, g->x, bytes);
  return status;
}

static bisai_status apply(void *self, const double *b, double *x) {
  bsi_gathered *g = self;
  return apply_levels(g, &g->below, b, x);
}

bsi_operator bsi_gathered_operator(bsi_gathered *g) {
  static const bsi_operator_ops ops = {.apply = apply};
  return (bsi_operator){&ops, g};
}

/* --- the transpose --- */

static bisai_status transpose_levels(bsi_gathered *g) {
  if (g->transport->rank > 0) return BISAI_OK;
  g->transposed = bsi_allocate(g->context, 1, sizeof *g->transposed);
  if (!g->transposed) return BISAI_OUT_OF_MEMORY;
  return bsi_hierarchy_transpose(&g->below, g->transposed);
}

bisai_status bsi_gathered_transpose(bsi_gathered *g) {
  const bisai_status status = bsi_agree(g->context, g->transport, transpose_levels(g));
  if (status) bsi_gathered_release_transposed(g);
  return status;
}

static bisai_status apply_transpose(void *self, const double *b, double *x) {
  bsi_gathered *g = self;
  return apply_levels(g, g->transposed, b, x);
}

bsi_operator bsi_gathered_transposed_operator(bsi_gathered *g) {
  static const bsi_operator_ops ops = {.apply = apply_transpose};
  return (bsi_operator){&ops, g};
}

void bsi_gathered_release_transposed(bsi_gathered *g) {
  if (!g->transposed) return;
  bsi_hierarchy_destroy(g->context, g->transposed);
  bsi_release(g->context, g->transposed);
  g->transposed = NULL;
}

int64_t bsi_gathered_memory(const bsi_gathered *g) {
  if (!g->context) return 0;
  const int64_t rows = (int64_t)g->halo.rows + g->halo.ghosts;
  int64_t bytes = bsi_halo_memory(&g->halo) + 24 * rows * g->halo.width +
                  bsi_block_matrix_memory(&g->sent.columns) +
                  bsi_block_matrix_memory(&g->sent.rows);
  if (g->sent.part) bytes += PART * (int64_t)sizeof *g->sent.part;
  if (g->matrix) bytes += bsi_bcsr_memory(g->matrix);
  if (g->made) bytes += bsi_hierarchy_memory(&g->below);
  return g->transposed ? bytes + bsi_hierarchy_memory(g->transposed) : bytes;
}

void bsi_gathered_destroy(bsi_gathered *g) {
  bisai_context *context = g->context;
  if (!context) return;
  bsi_gathered_release_transposed(g);
  if (g->made) bsi_hierarchy_destroy(context, &g->below);
  bisai_bcsr_destroy(&g->matrix);
  bsi_halo_destroy(&g->halo);
  context->backend->memory->release(context, g->b);
  context->backend->memory->release(context, g->x);
  bsi_block_matrix_destroy(context, &g->sent.columns);
  bsi_block_matrix_destroy(context, &g->sent.rows);
  context->backend->memory->release_shared(context, g->sent.part);
  bsi_release(context, g->sent.marks);
  for (int k = 0; k < 2; k++) bsi_release(context, g->counts[k]);
  *g = (bsi_gathered){.context = NULL};
}
