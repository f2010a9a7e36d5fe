/* SPDX-License-Identifier: BSD-3-Clause */
/* The rows that are sent are made as a product, so that no backend has other functions for them.
 * The host reads and writes structures at the borders only. */
#include "multigrid/halo/ghost_rows.h"

#include <string.h>

#include "multigrid/halo/agreement.h"
#include "multigrid/level/multigrid_ops.h"
#include "multigrid/spgemm/spgemm_ops.h"

static const bsi_memory_ops *memory_of(const bsi_halo *halo) {
  return halo->context->backend->memory;
}

static const bsi_spgemm_ops *products_of(const bsi_halo *halo) {
  return halo->context->backend->multigrid->spgemm;
}

bsi_block_matrix bsi_own_rows_of(const bsi_ghost_rows *ghosts, const bsi_block_matrix *m) {
  bsi_block_matrix own = *m;
  own.rows = ghosts->halo->rows;
  own.blocks = ghosts->own_blocks;
  return own;
}

/* What is sent and received of structures, in host memory. */
typedef struct structures {
  /* of the rows that are sent */
  int32_t *row_ptr, *col_idx;
  int32_t *send_lengths, *receive_lengths;
  /* the columns of each neighbour in the numbers of all ranks, each once, their counts, and for
   * each block which one it has */
  int64_t *send_table, *receive_table, *send_counts, *receive_counts, *ones;
  int32_t *send_columns, *receive_columns;
  int64_t received;
  /* of the ghosts: row_ptr from 0 on, and the columns here */
  int32_t *ghost_ptr, *ghost_col;
} structures;

static void release(bisai_context *context, structures *s) {
  bsi_release(context, s->row_ptr);
  bsi_release(context, s->col_idx);
  bsi_release(context, s->send_lengths);
  bsi_release(context, s->receive_lengths);
  bsi_release(context, s->send_table);
  bsi_release(context, s->receive_table);
  bsi_release(context, s->send_counts);
  bsi_release(context, s->receive_counts);
  bsi_release(context, s->ones);
  bsi_release(context, s->send_columns);
  bsi_release(context, s->receive_columns);
  bsi_release(context, s->ghost_ptr);
  bsi_release(context, s->ghost_col);
}

/* --- what is sent --- */

/* ghosts->selection ← the identity rows of the rows that are sent. */
static bisai_status select_rows(const bsi_block_matrix *m, bsi_ghost_rows *g) {
  const bsi_halo *halo = g->halo;
  const int32_t rows = halo->send.rows;
  int32_t *ascending = bsi_allocate(halo->context, (size_t)rows + 1, sizeof *ascending);
  g->selection = (bsi_block_matrix){.rows = rows,
                                    .cols = halo->rows,
                                    .height = m->height,
                                    .width = m->height,
                                    .blocks = rows,
                                    .col_idx = halo->send.backend};
  g->selection.row_ptr =
      memory_of(halo)->allocate(halo->context, (size_t)rows + 1, sizeof *ascending);
  bisai_status status = ascending && g->selection.row_ptr ? BISAI_OK : BISAI_OUT_OF_MEMORY;
  for (int32_t k = 0; k <= rows && !status; k++) ascending[k] = k;
  if (!status)
    status = memory_of(halo)->upload(halo->context, g->selection.row_ptr, ascending,
                                     ((size_t)rows + 1) * sizeof *ascending);
  if (!status) status = memory_of(halo)->synchronize(halo->context);
  bsi_release(halo->context, ascending);
  return status;
}

/* Lists the columns of the blocks begin … end − 1, ascending, and gives each block the place of its
 * one. Returns their number. `place` has −1 for each column, and is left so. */
static int64_t list_columns(const bsi_numbering *numbering, structures *s, int32_t begin,
                            int32_t end, int32_t *place, int64_t *table) {
  int32_t least = INT32_MAX, most = -1, count = 0;
  for (int32_t q = begin; q < end; q++) {
    const int32_t j = s->col_idx[q];
    place[j] = 0;
    least = j < least ? j : least;
    most = j > most ? j : most;
  }
  for (int32_t j = least; j <= most; j++) {
    if (place[j] < 0) continue;
    table[count] = bsi_numbering_global(numbering, j);
    place[j] = count++;
  }
  for (int32_t q = begin; q < end; q++) s->send_columns[q] = place[s->col_idx[q]];
  for (int32_t q = begin; q < end; q++) place[s->col_idx[q]] = -1;
  return count;
}

/* Lists the columns of the rows that each neighbour gets. */
static bisai_status number_columns(const bsi_halo *halo, const bsi_numbering *numbering,
                                   int32_t columns, structures *s) {
  int64_t *table = s->send_table;
  int32_t *place = bsi_allocate(halo->context, (size_t)columns, sizeof *place);
  if (!place) return BISAI_OUT_OF_MEMORY;
  for (int32_t j = 0; j < columns; j++) place[j] = -1;
  for (int k = 0; k < halo->neighbour_count; k++) {
    const bsi_neighbour *n = &halo->neighbours[k];
    s->ones[k] = 1;
    s->send_counts[k] = list_columns(numbering, s, s->row_ptr[n->send_begin],
                                     s->row_ptr[n->send_end], place, table);
    table += s->send_counts[k];
  }
  bsi_release(halo->context, place);
  return BISAI_OK;
}

/* Makes the rows that are sent, and fetches their structure. */
static bisai_status pack(const bsi_block_matrix *m, const bsi_numbering *numbering,
                         bsi_ghost_rows *g, structures *s) {
  bisai_context *context = g->halo->context;
  const size_t rows = (size_t)g->halo->send.rows;
  BSI_TRY(select_rows(m, g));
  BSI_TRY(
      products_of(g->halo)->multiply_structure(context, &g->selection, m, INT64_MAX, &g->packed));
  const size_t blocks = (size_t)g->packed.blocks, neighbours = (size_t)g->halo->neighbour_count;
  s->row_ptr = bsi_allocate(context, rows + 1, sizeof *s->row_ptr);
  s->col_idx = bsi_allocate(context, blocks, sizeof *s->col_idx);
  s->send_lengths = bsi_allocate(context, rows, sizeof *s->send_lengths);
  s->send_columns = bsi_allocate(context, blocks, sizeof *s->send_columns);
  s->send_table = bsi_allocate(context, blocks, sizeof *s->send_table);
  s->send_counts = bsi_allocate(context, neighbours, sizeof *s->send_counts);
  s->receive_counts = bsi_allocate(context, neighbours, sizeof *s->receive_counts);
  s->ones = bsi_allocate(context, neighbours, sizeof *s->ones);
  if (!s->row_ptr || !s->col_idx || !s->send_lengths || !s->send_columns || !s->send_table ||
      !s->send_counts || !s->receive_counts || !s->ones)
    return BISAI_OUT_OF_MEMORY;
  BSI_TRY(memory_of(g->halo)->fetch(context, s->row_ptr, g->packed.row_ptr,
                                    (rows + 1) * sizeof *s->row_ptr));
  BSI_TRY(memory_of(g->halo)->fetch(context, s->col_idx, g->packed.col_idx,
                                    blocks * sizeof *s->col_idx));
  for (size_t k = 0; k < rows; k++) s->send_lengths[k] = s->row_ptr[k + 1] - s->row_ptr[k];
  return number_columns(g->halo, numbering, m->cols, s);
}

static bisai_status reserve_lengths(bsi_ghost_rows *g, structures *s) {
  bisai_context *context = g->halo->context;
  const size_t neighbours = (size_t)g->halo->neighbour_count;
  s->receive_lengths =
      bsi_allocate(context, (size_t)g->halo->receive.rows, sizeof *s->receive_lengths);
  g->given = bsi_allocate(context, neighbours, sizeof *g->given);
  g->wanted = bsi_allocate(context, neighbours, sizeof *g->wanted);
  if (!s->receive_lengths || !g->given || !g->wanted) return BISAI_OUT_OF_MEMORY;
  for (size_t k = 0; k < neighbours; k++) { /* rows at first */
    const bsi_neighbour *n = &g->halo->neighbours[k];
    g->given[k] = n->send_end - n->send_begin;
    g->wanted[k] = n->receive_end - n->receive_begin;
  }
  return BISAI_OK;
}

/* Counts the blocks of each neighbour, from the lengths of the rows. */
static bisai_status count_blocks(bsi_ghost_rows *g, structures *s) {
  const bsi_halo *halo = g->halo;
  int64_t columns = 0;
  s->received = 0;
  for (int k = 0; k < halo->neighbour_count; k++) {
    columns += s->receive_counts[k];
    const bsi_neighbour *n = &halo->neighbours[k];
    g->given[k] = s->row_ptr[n->send_end] - s->row_ptr[n->send_begin];
    g->wanted[k] = 0;
    for (int32_t q = n->receive_begin; q < n->receive_end; q++)
      g->wanted[k] += s->receive_lengths[q];
    s->received += g->wanted[k];
  }
  if (s->received > INT32_MAX - g->own_blocks)
    return bsi_fail(halo->context, BISAI_INDEX_OVERFLOW,
                    "a matrix has more than 2^31 blocks with the rows of other ranks");
  s->receive_columns = bsi_allocate(halo->context, (size_t)s->received, sizeof *s->receive_columns);
  s->receive_table = bsi_allocate(halo->context, (size_t)columns, sizeof *s->receive_table);
  return s->receive_columns && s->receive_table ? BISAI_OK : BISAI_OUT_OF_MEMORY;
}

/* --- what has come --- */

/* A block that has come, and its column here. */
typedef struct arrival {
  int32_t column, number;
} arrival;

/* Merges the runs row[0 … first − 1] and row[first … length − 1]. `room` has `first` blocks. */
static void merge(arrival *row, int32_t first, int32_t length, arrival *room) {
  int32_t a = 0, b = first, to = 0;
  memcpy(room, row, (size_t)first * sizeof *room);
  while (a < first) row[to++] = b < length && row[b].column < room[a].column ? row[b++] : room[a++];
}

/* Returns the end of the ascending run from `at` on. */
static int32_t end_of_run(const arrival *row, int32_t at, int32_t length) {
  while (at + 1 < length && row[at].column <= row[at + 1].column) at++;
  return at + 1 < length ? at + 1 : length;
}

/* Sorts a row by columns. It consists of few runs, because columns of a rank ascend there. */
static void sort_row(arrival *row, int32_t length, arrival *room) {
  for (int32_t runs = 2; runs > 1;) {
    runs = 0;
    for (int32_t at = 0, end; at < length; at = end, runs++) {
      const int32_t first = end_of_run(row, at, length);
      end = first < length ? end_of_run(row, first, length) : length;
      if (first < end) merge(row + at, first - at, end - at, room);
    }
  }
}

/* Gives the blocks that come their columns here. */
static bisai_status find_columns(const bsi_halo *halo, const structures *s,
                                 bsi_numbering *numbering, const int64_t *wanted, arrival *blocks) {
  const int64_t *table = s->receive_table;
  int32_t q = 0;
  for (int k = 0; k < halo->neighbour_count; k++) {
    int32_t *here = bsi_allocate(halo->context, (size_t)s->receive_counts[k], sizeof *here);
    bisai_status status = here ? BISAI_OK : BISAI_OUT_OF_MEMORY;
    for (int64_t j = 0; j < s->receive_counts[k] && !status; j++)
      status = bsi_numbering_find(numbering, table[j], &here[j]);
    for (int64_t p = 0; p < wanted[k] && !status; p++, q++)
      blocks[q] = (arrival){here[s->receive_columns[q]], q};
    bsi_release(halo->context, here);
    if (status) return status;
    table += s->receive_counts[k];
  }
  return BISAI_OK;
}

/* Lists the columns of the ghosts in their order, and the places of the blocks that come. `room`
 * has as many blocks as the longest row. */
static void list_rows(bsi_ghost_rows *g, structures *s, arrival *blocks, arrival *room) {
  const bsi_halo *halo = g->halo;
  for (int32_t j = 0; j <= halo->ghosts; j++) s->ghost_ptr[j] = 0;
  for (int32_t k = 0; k < halo->receive.rows; k++)
    s->ghost_ptr[halo->receive.host[k] + 1] = s->receive_lengths[k];
  for (int32_t j = 0; j < halo->ghosts; j++) s->ghost_ptr[j + 1] += s->ghost_ptr[j];
  arrival *row = blocks;
  for (int32_t k = 0; k < halo->receive.rows; k++) {
    const int32_t length = s->receive_lengths[k], first = s->ghost_ptr[halo->receive.host[k]];
    sort_row(row, length, room);
    for (int32_t q = 0; q < length; q++) {
      s->ghost_col[first + q] = row[q].column;
      g->places.host[row[q].number] = first + q;
    }
    row += length;
  }
}

static size_t longest_row(const bsi_halo *halo, const structures *s) {
  int32_t longest = 0;
  for (int32_t k = 0; k < halo->receive.rows; k++)
    longest = s->receive_lengths[k] > longest ? s->receive_lengths[k] : longest;
  return (size_t)longest;
}

static bisai_status take_rows(bsi_ghost_rows *g, structures *s, bsi_numbering *numbering) {
  bisai_context *context = g->halo->context;
  const size_t received = (size_t)s->received;
  arrival *blocks = bsi_allocate(context, received, sizeof *blocks),
          *room = bsi_allocate(context, longest_row(g->halo, s), sizeof *room);
  s->ghost_ptr = bsi_allocate(context, (size_t)g->halo->ghosts + 1, sizeof *s->ghost_ptr);
  s->ghost_col = bsi_allocate(context, received, sizeof *s->ghost_col);
  g->places.rows = (int32_t)received;
  g->places.host = bsi_allocate(context, received, sizeof *g->places.host);
  bisai_status status = blocks && room && s->ghost_ptr && s->ghost_col && g->places.host
                            ? BISAI_OK
                            : BISAI_OUT_OF_MEMORY;
  if (!status) status = find_columns(g->halo, s, numbering, g->wanted, blocks);
  if (!status) list_rows(g, s, blocks, room);
  if (!status) status = bsi_places_upload(context, &g->places);
  bsi_release(context, blocks);
  bsi_release(context, room);
  return status;
}

/* m ← the structure with the rows of the ghosts. */
static bisai_status lengthen(bsi_ghost_rows *g, const structures *s, int32_t columns,
                             bsi_block_matrix *m) {
  const bsi_memory_ops *memory = memory_of(g->halo);
  bisai_context *context = g->halo->context;
  const size_t n = (size_t)g->halo->rows, ghosts = (size_t)g->halo->ghosts,
               own = (size_t)g->own_blocks, size = sizeof(int32_t);
  for (size_t j = 0; j <= ghosts; j++) s->ghost_ptr[j] += g->own_blocks;
  int32_t *row_ptr = memory->allocate(context, n + ghosts + 1, size),
          *col_idx = row_ptr ? memory->allocate(context, own + (size_t)s->received, size) : NULL;
  bisai_status status = col_idx ? BISAI_OK : BISAI_OUT_OF_MEMORY;
  if (!status) status = memory->copy(context, row_ptr, m->row_ptr, n * size);
  if (!status) status = memory->upload(context, row_ptr + n, s->ghost_ptr, (ghosts + 1) * size);
  if (!status && own > 0) status = memory->copy(context, col_idx, m->col_idx, own * size);
  if (!status && s->received > 0)
    status = memory->upload(context, col_idx + own, s->ghost_col, (size_t)s->received * size);
  if (!status) status = memory->synchronize(context);
  if (status) {
    memory->release(context, row_ptr);
    memory->release(context, col_idx);
    return status;
  }
  memory->release(context, m->row_ptr);
  memory->release(context, m->col_idx);
  m->row_ptr = row_ptr;
  m->col_idx = col_idx;
  m->rows = (int32_t)(n + ghosts);
  m->cols = columns;
  m->blocks = (int32_t)(own + (size_t)s->received);
  return BISAI_OK;
}

static bisai_status reserve_values(bsi_ghost_rows *g, const structures *s) {
  const bsi_memory_ops *memory = memory_of(g->halo);
  bisai_context *context = g->halo->context;
  const size_t size = (size_t)(g->packed.height * g->packed.width);
  BSI_TRY(bsi_block_matrix_reserve_values(context, &g->packed));
  if (g->halo->transport->enqueue_exchange) {
    g->incoming = memory->allocate(context, (size_t)s->received * size, sizeof *g->incoming);
    return g->incoming ? BISAI_OK : BISAI_OUT_OF_MEMORY;
  }
  g->outgoing = memory->allocate_shared(context, (size_t)g->packed.blocks * size);
  g->incoming = memory->allocate_shared(context, (size_t)s->received * size);
  return g->outgoing && g->incoming ? BISAI_OK : BISAI_OUT_OF_MEMORY;
}

/* The aggregate of each ghost, whose row of T has one block or none. */
static void read_aggregates(const bsi_halo *halo, const structures *s, int32_t *aggregate) {
  for (int32_t j = 0; j < halo->ghosts; j++)
    aggregate[j] = s->ghost_ptr[j + 1] > s->ghost_ptr[j] ? s->ghost_col[s->ghost_ptr[j]] : -1;
}

static bisai_status finish(bsi_numbering *numbering, bsi_block_matrix *m, bool identities,
                           int32_t *aggregate, bsi_ghost_rows *g, structures *s) {
  BSI_TRY(take_rows(g, s, numbering));
  if (aggregate) read_aggregates(g->halo, s, aggregate);
  BSI_TRY(lengthen(g, s, bsi_numbering_count(numbering), m));
  return identities ? BISAI_OK : reserve_values(g, s);
}

bisai_status bsi_ghost_rows_append(bsi_halo *halo, bsi_numbering *numbering, bsi_block_matrix *m,
                                   bool identities, int32_t *aggregate, bsi_ghost_rows *g) {
  bisai_context *context = halo->context;
  const bisai_transport *transport = halo->transport;
  structures s = {.received = 0};
  *g = (bsi_ghost_rows){.halo = halo, .own_blocks = m->blocks};
  bisai_status status = pack(m, numbering, g, &s);
  if (!status) status = reserve_lengths(g, &s);
  status = bsi_agree(context, transport, status);
  if (!status)
    status = bsi_halo_send(halo, sizeof *s.send_lengths, g->given, s.send_lengths, g->wanted,
                           s.receive_lengths);
  if (!status)
    status = bsi_halo_send(halo, sizeof *s.ones, s.ones, s.send_counts, s.ones, s.receive_counts);
  if (!status) status = bsi_agree(context, transport, count_blocks(g, &s));
  if (!status)
    status = bsi_halo_send(halo, sizeof *s.send_table, s.send_counts, s.send_table,
                           s.receive_counts, s.receive_table);
  if (!status)
    status = bsi_halo_send(halo, sizeof *s.send_columns, g->given, s.send_columns, g->wanted,
                           s.receive_columns);
  if (!status)
    status = bsi_agree(context, transport, finish(numbering, m, identities, aggregate, g, &s));
  release(context, &s);
  return status;
}

/* --- values --- */

/* Exchanges the packed blocks in memory that the host sees. */
static bisai_status exchange_shared(bsi_ghost_rows *g, size_t bytes) {
  bsi_halo *halo = g->halo;
  if (g->packed.blocks > 0)
    BSI_TRY(memory_of(halo)->fetch(halo->context, g->outgoing, g->packed.values,
                                   (size_t)g->packed.blocks * bytes));
  BSI_TRY(memory_of(halo)->synchronize(halo->context)); /* what came before has been moved */
  return bsi_halo_send(halo, bytes, g->given, g->outgoing, g->wanted, g->incoming);
}

bisai_status bsi_ghost_rows_update(bsi_ghost_rows *g, const bsi_block_matrix *m) {
  bsi_halo *halo = g->halo;
  bisai_context *context = halo->context;
  const int32_t size = m->height * m->width;
  const size_t bytes = (size_t)size * sizeof(double);
  bsi_move_rows *move = BSI_ON_BACKEND(context, bsi_move_rows);
  if (!g->incoming || halo->neighbour_count == 0) return BISAI_OK;
  if (g->packed.blocks > 0) {
    const bsi_block_matrix own = bsi_own_rows_of(g, m);
    BSI_TRY(products_of(halo)->multiply_values(context, &g->selection, &own, &g->packed));
  }
  BSI_TRY(g->outgoing
              ? exchange_shared(g, bytes)
              : bsi_halo_enqueue(halo, bytes, g->given, g->packed.values, g->wanted, g->incoming));
  if (g->places.rows == 0) return BISAI_OK;
  return move(context, &g->places, size, false, g->incoming,
              m->values + bsi_block_matrix_offset(m, g->own_blocks));
}

int64_t bsi_ghost_rows_memory(const bsi_ghost_rows *g) {
  const int64_t size = (int64_t)g->packed.height * g->packed.width;
  const int64_t values =
      8 * size *
      ((g->outgoing ? (int64_t)g->packed.blocks : 0) + (g->incoming ? (int64_t)g->places.rows : 0));
  return values + bsi_block_matrix_memory(&g->packed) + 4 * ((int64_t)g->selection.rows + 1) +
         (g->places.host == g->places.backend ? 4 : 8) * (int64_t)g->places.rows;
}

void bsi_ghost_rows_destroy(bsi_ghost_rows *g) {
  if (!g->halo) return;
  bisai_context *context = g->halo->context;
  memory_of(g->halo)->release_shared(context, g->outgoing);
  if (g->halo->transport->enqueue_exchange)
    memory_of(g->halo)->release(context, g->incoming);
  else
    memory_of(g->halo)->release_shared(context, g->incoming);
  memory_of(g->halo)->release(context, g->selection.row_ptr);
  bsi_block_matrix_destroy(context, &g->packed);
  bsi_places_release(context, &g->places);
  bsi_release(context, g->given);
  bsi_release(context, g->wanted);
  *g = (bsi_ghost_rows){0};
}
