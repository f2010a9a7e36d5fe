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

/* What is sent and received of structures, in host memory. Neighbour k gets two messages, with the
 * other's parts at the same places:
 *
 *   lengths   of the rows that it gets, and then the number of their columns
 *   columns   in the numbers of all ranks, each once, in two halves of 32 bits, and then for each
 *             block which one it has */
typedef struct bsi_ghost_structures {
  /* of the rows that are sent */
  int32_t *row_ptr, *col_idx;
  int32_t *send_lengths, *receive_lengths;
  int32_t *send_columns, *receive_columns;
  /* entries of each neighbour in a message */
  int64_t *send_counts, *receive_counts;
  int64_t received;
  /* of the ghosts: row_ptr from 0 on, and the columns here */
  int32_t *ghost_ptr, *ghost_col;
} structures;

enum { HALVES = 2 };

/* Where neighbour k's lengths begin among those of all. */
static int32_t lengths_of(int32_t first_row, int k) { return first_row + k; }

static void release(bsi_ghost_rows *g) {
  bisai_context *context = g->halo->context;
  structures *s = g->making;
  g->making = NULL;
  if (!s) return;
  bsi_release(context, s->row_ptr);
  bsi_release(context, s->col_idx);
  bsi_release(context, s->send_lengths);
  bsi_release(context, s->receive_lengths);
  bsi_release(context, s->send_columns);
  bsi_release(context, s->receive_columns);
  bsi_release(context, s->send_counts);
  bsi_release(context, s->receive_counts);
  bsi_release(context, s->ghost_ptr);
  bsi_release(context, s->ghost_col);
  bsi_release(context, s);
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

/* Lists the columns of the blocks begin … end − 1, ascending, and then for each block the place of
 * its one. Returns their number. `place` has −1 for each column, and is left so. */
static int32_t list_columns(const bsi_numbering *numbering, const structures *s, int32_t begin,
                            int32_t end, int32_t *place, int32_t *to) {
  int32_t least = INT32_MAX, most = -1, count = 0;
  for (int32_t q = begin; q < end; q++) {
    const int32_t j = s->col_idx[q];
    place[j] = 0;
    least = j < least ? j : least;
    most = j > most ? j : most;
  }
  for (int32_t j = least; j <= most; j++) {
    if (place[j] < 0) continue;
    const int64_t column = bsi_numbering_global(numbering, j);
    memcpy(to, &column, sizeof column);
    to += HALVES;
    place[j] = count++;
  }
  for (int32_t q = begin; q < end; q++) to[q - begin] = place[s->col_idx[q]];
  for (int32_t q = begin; q < end; q++) place[s->col_idx[q]] = -1;
  return count;
}

/* Lists what each neighbour gets. */
static bisai_status list_messages(bsi_ghost_rows *g, const bsi_numbering *numbering,
                                  int32_t columns) {
  const bsi_halo *halo = g->halo;
  structures *s = g->making;
  int32_t *to = s->send_columns;
  int32_t *place = bsi_allocate(halo->context, (size_t)columns, sizeof *place);
  if (!place) return BISAI_OUT_OF_MEMORY;
  for (int32_t j = 0; j < columns; j++) place[j] = -1;
  for (int k = 0; k < halo->neighbour_count; k++) {
    const bsi_neighbour *n = &halo->neighbours[k];
    const int32_t begin = s->row_ptr[n->send_begin], end = s->row_ptr[n->send_end];
    int32_t *lengths = s->send_lengths + lengths_of(n->send_begin, k);
    for (int32_t i = n->send_begin; i < n->send_end; i++)
      *lengths++ = s->row_ptr[i + 1] - s->row_ptr[i];
    *lengths = list_columns(numbering, s, begin, end, place, to);
    g->given[k] = end - begin;
    s->send_counts[k] = HALVES * (int64_t)*lengths + end - begin;
    to += s->send_counts[k];
  }
  bsi_release(halo->context, place);
  return BISAI_OK;
}

/* Makes the rows that are sent, and fetches their structure. */
static bisai_status pack(const bsi_block_matrix *m, bsi_ghost_rows *g) {
  bisai_context *context = g->halo->context;
  structures *s = g->making;
  const size_t rows = (size_t)g->halo->send.rows, size = sizeof(int32_t);
  BSI_TRY(select_rows(m, g));
  BSI_TRY(
      products_of(g->halo)->multiply_structure(context, &g->selection, m, INT64_MAX, &g->packed));
  const size_t blocks = (size_t)g->packed.blocks;
  s->row_ptr = bsi_allocate(context, rows + 1, size);
  s->col_idx = bsi_allocate(context, blocks, size);
  s->send_columns = bsi_allocate(context, blocks, (HALVES + 1) * size);
  if (!s->row_ptr || !s->col_idx || !s->send_columns) return BISAI_OUT_OF_MEMORY;
  BSI_TRY(memory_of(g->halo)->fetch(context, s->row_ptr, g->packed.row_ptr, (rows + 1) * size));
  return memory_of(g->halo)->fetch(context, s->col_idx, g->packed.col_idx, blocks * size);
}

static bisai_status reserve_messages(bsi_ghost_rows *g) {
  bisai_context *context = g->halo->context;
  structures *s = g->making;
  const size_t neighbours = (size_t)g->halo->neighbour_count;
  s->send_lengths = bsi_allocate(context, (size_t)g->halo->send.rows + neighbours, sizeof(int32_t));
  s->receive_lengths =
      bsi_allocate(context, (size_t)g->halo->receive.rows + neighbours, sizeof(int32_t));
  s->send_counts = bsi_allocate(context, neighbours, sizeof *s->send_counts);
  s->receive_counts = bsi_allocate(context, neighbours, sizeof *s->receive_counts);
  g->given = bsi_allocate(context, neighbours, sizeof *g->given);
  g->wanted = bsi_allocate(context, neighbours, sizeof *g->wanted);
  return s->send_lengths && s->receive_lengths && s->send_counts && s->receive_counts && g->given &&
                 g->wanted
             ? BISAI_OK
             : BISAI_OUT_OF_MEMORY;
}

bisai_status bsi_ghost_rows_begin(bsi_halo *halo, bsi_ghost_room *room,
                                  const bsi_numbering *numbering, const bsi_block_matrix *m,
                                  bool identities, bsi_ghost_rows *g) {
  *g = (bsi_ghost_rows){.halo = halo, .room = room, .own_blocks = m->blocks, .valued = !identities};
  g->making = bsi_allocate(halo->context, 1, sizeof *g->making);
  if (!g->making) return BISAI_OUT_OF_MEMORY;
  *g->making = (structures){.received = 0};
  BSI_TRY(pack(m, g));
  BSI_TRY(reserve_messages(g));
  return list_messages(g, numbering, m->cols);
}

/* Exchanges the lengths of the rows, and the numbers of their columns. */
static bisai_status exchange_lengths(bsi_ghost_rows *g) {
  bsi_halo *halo = g->halo;
  const structures *s = g->making;
  for (int k = 0; k < halo->neighbour_count; k++) {
    const bsi_neighbour *n = &halo->neighbours[k];
    g->wanted[k] = n->receive_end - n->receive_begin + 1;
    s->receive_counts[k] = n->send_end - n->send_begin + 1;
  }
  return bsi_halo_send(halo, sizeof *s->send_lengths, s->receive_counts, s->send_lengths, g->wanted,
                       s->receive_lengths);
}

/* Counts the blocks of each neighbour, from the lengths of the rows. */
static bisai_status count_blocks(bsi_ghost_rows *g) {
  const bsi_halo *halo = g->halo;
  structures *s = g->making;
  int64_t entries = 0;
  for (int k = 0; k < halo->neighbour_count; k++) {
    const bsi_neighbour *n = &halo->neighbours[k];
    const int32_t *lengths = s->receive_lengths + lengths_of(n->receive_begin, k);
    g->wanted[k] = 0;
    for (int32_t q = n->receive_begin; q < n->receive_end; q++) g->wanted[k] += *lengths++;
    s->receive_counts[k] = HALVES * (int64_t)*lengths + g->wanted[k];
    entries += s->receive_counts[k];
    s->received += g->wanted[k];
  }
  if (s->received > INT32_MAX - g->own_blocks)
    return bsi_fail(halo->context, BISAI_INDEX_OVERFLOW,
                    "a matrix has more than 2^31 blocks with the rows of other ranks");
  s->receive_columns = bsi_allocate(halo->context, (size_t)entries, sizeof *s->receive_columns);
  return s->receive_columns ? BISAI_OK : BISAI_OUT_OF_MEMORY;
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
static bisai_status find_columns(const bsi_ghost_rows *g, bsi_numbering *numbering,
                                 arrival *blocks) {
  const structures *s = g->making;
  const int32_t *from = s->receive_columns;
  int32_t q = 0;
  for (int k = 0; k < g->halo->neighbour_count; k++) {
    const int64_t columns = (s->receive_counts[k] - g->wanted[k]) / HALVES;
    int32_t *here = bsi_allocate(g->halo->context, (size_t)columns, sizeof *here);
    bisai_status status = here ? BISAI_OK : BISAI_OUT_OF_MEMORY;
    for (int64_t j = 0, column; j < columns && !status; j++, from += HALVES) {
      memcpy(&column, from, sizeof column);
      status = bsi_numbering_find(numbering, column, &here[j]);
    }
    for (int64_t p = 0; p < g->wanted[k] && !status; p++, q++)
      blocks[q] = (arrival){here[*from++], q};
    bsi_release(g->halo->context, here);
    if (status) return status;
  }
  return BISAI_OK;
}

/* Lists the columns of the ghosts in their order, and the places of the blocks that come. `room`
 * has as many blocks as the longest row. */
static void list_rows(bsi_ghost_rows *g, arrival *blocks, arrival *room) {
  const bsi_halo *halo = g->halo;
  const structures *s = g->making;
  arrival *row = blocks;
  for (int k = 0; k < halo->neighbour_count; k++) {
    const bsi_neighbour *n = &halo->neighbours[k];
    const int32_t *lengths = s->receive_lengths + lengths_of(n->receive_begin, k);
    for (int32_t i = n->receive_begin; i < n->receive_end; i++, lengths++) {
      const int32_t first = s->ghost_ptr[halo->receive.host[i]];
      sort_row(row, *lengths, room);
      for (int32_t q = 0; q < *lengths; q++) {
        s->ghost_col[first + q] = row[q].column;
        g->places.host[row[q].number] = first + q;
      }
      row += *lengths;
    }
  }
}

/* Lists where the rows of the ghosts begin. Returns the length of the longest one. */
static int32_t list_begins(const bsi_ghost_rows *g) {
  const bsi_halo *halo = g->halo;
  const structures *s = g->making;
  int32_t longest = 0;
  for (int32_t j = 0; j <= halo->ghosts; j++) s->ghost_ptr[j] = 0;
  for (int k = 0; k < halo->neighbour_count; k++) {
    const bsi_neighbour *n = &halo->neighbours[k];
    const int32_t *lengths = s->receive_lengths + lengths_of(n->receive_begin, k);
    for (int32_t i = n->receive_begin; i < n->receive_end; i++, lengths++) {
      s->ghost_ptr[halo->receive.host[i] + 1] = *lengths;
      longest = *lengths > longest ? *lengths : longest;
    }
  }
  for (int32_t j = 0; j < halo->ghosts; j++) s->ghost_ptr[j + 1] += s->ghost_ptr[j];
  return longest;
}

static bisai_status take_rows(bsi_ghost_rows *g, bsi_numbering *numbering) {
  bisai_context *context = g->halo->context;
  structures *s = g->making;
  const size_t received = (size_t)s->received;
  s->ghost_ptr = bsi_allocate(context, (size_t)g->halo->ghosts + 1, sizeof *s->ghost_ptr);
  s->ghost_col = bsi_allocate(context, received, sizeof *s->ghost_col);
  g->places.rows = (int32_t)received;
  g->places.host = bsi_allocate(context, received, sizeof *g->places.host);
  if (!s->ghost_ptr || !s->ghost_col || !g->places.host) return BISAI_OUT_OF_MEMORY;
  arrival *blocks = bsi_allocate(context, received, sizeof *blocks),
          *room = bsi_allocate(context, (size_t)list_begins(g), sizeof *room);
  bisai_status status = blocks && room ? BISAI_OK : BISAI_OUT_OF_MEMORY;
  if (!status) status = find_columns(g, numbering, blocks);
  if (!status) list_rows(g, blocks, room);
  if (!status) status = bsi_places_upload(context, &g->places);
  bsi_release(context, blocks);
  bsi_release(context, room);
  return status;
}

/* m ← the structure with the rows of the ghosts. */
static bisai_status lengthen(const bsi_ghost_rows *g, int32_t columns, bsi_block_matrix *m) {
  const bsi_memory_ops *memory = memory_of(g->halo);
  const structures *s = g->making;
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

static double *reserve(const bsi_halo *halo, int64_t values) {
  const bsi_memory_ops *memory = memory_of(halo);
  return halo->transport->enqueue_exchange
             ? memory->allocate(halo->context, (size_t)values, sizeof(double))
             : memory->allocate_shared(halo->context, (size_t)values);
}

static void give_back(bisai_context *context, const bisai_transport *transport, double *values) {
  const bsi_memory_ops *memory = context->backend->memory;
  if (transport->enqueue_exchange)
    memory->release(context, values);
  else
    memory->release_shared(context, values);
}

/* *values ← room for at least `needed` ones. */
static bisai_status grow(const bsi_halo *halo, int64_t needed, int64_t *most, double **values) {
  if (*values && needed <= *most) return BISAI_OK;
  give_back(halo->context, halo->transport, *values);
  *values = reserve(halo, needed);
  *most = *values ? needed : 0;
  return *values ? BISAI_OK : BISAI_OUT_OF_MEMORY;
}

static bisai_status reserve_values(bsi_ghost_rows *g) {
  const int64_t size = (int64_t)g->packed.height * g->packed.width;
  bsi_ghost_room *room = g->room;
  BSI_TRY(bsi_block_matrix_reserve_values(g->halo->context, &g->packed));
  if (!g->halo->transport->enqueue_exchange)
    BSI_TRY(grow(g->halo, g->packed.blocks * size, &room->most_outgoing, &room->outgoing));
  return grow(g->halo, g->making->received * size, &room->most_incoming, &room->incoming);
}

/* The aggregate of each ghost, whose row of T has one block or none. */
static void read_aggregates(const bsi_ghost_rows *g, int32_t *aggregate) {
  const structures *s = g->making;
  for (int32_t j = 0; j < g->halo->ghosts; j++)
    aggregate[j] = s->ghost_ptr[j + 1] > s->ghost_ptr[j] ? s->ghost_col[s->ghost_ptr[j]] : -1;
}

static bisai_status finish(bsi_ghost_rows *g, bsi_numbering *numbering, bsi_block_matrix *m,
                           int32_t *aggregate) {
  bisai_status status = take_rows(g, numbering);
  if (!status && aggregate) read_aggregates(g, aggregate);
  if (!status) status = lengthen(g, bsi_numbering_count(numbering), m);
  if (!status && g->valued) status = reserve_values(g);
  release(g);
  return status;
}

bisai_status bsi_ghost_rows_append(bsi_ghost_rows *g, bsi_numbering *numbering, bsi_block_matrix *m,
                                   int32_t *aggregate, bisai_status *own) {
  bsi_halo *halo = g->halo;
  const structures *s = g->making;
  BSI_TRY(exchange_lengths(g));
  BSI_TRY(bsi_agree(halo->context, halo->transport, count_blocks(g)));
  BSI_TRY(bsi_halo_send(halo, sizeof *s->send_columns, s->send_counts, s->send_columns,
                        s->receive_counts, s->receive_columns));
  *own = finish(g, numbering, m, aggregate);
  return BISAI_OK;
}

/* --- values --- */

/* Exchanges the packed blocks in memory that the host sees. */
static bisai_status exchange_shared(const bsi_ghost_rows *g, size_t bytes) {
  bsi_halo *halo = g->halo;
  if (g->packed.blocks > 0)
    BSI_TRY(memory_of(halo)->fetch(halo->context, g->room->outgoing, g->packed.values,
                                   (size_t)g->packed.blocks * bytes));
  BSI_TRY(memory_of(halo)->synchronize(halo->context)); /* what came before has been moved */
  return bsi_halo_send(halo, bytes, g->given, g->room->outgoing, g->wanted, g->room->incoming);
}

bisai_status bsi_ghost_rows_update(bsi_ghost_rows *g, const bsi_block_matrix *m) {
  bsi_halo *halo = g->halo;
  bisai_context *context = halo->context;
  const int32_t size = m->height * m->width;
  const size_t bytes = (size_t)size * sizeof(double);
  bsi_move_rows *move = BSI_ON_BACKEND(context, bsi_move_rows);
  if (!g->valued || halo->neighbour_count == 0) return BISAI_OK;
  if (g->packed.blocks > 0) {
    const bsi_block_matrix own = bsi_own_rows_of(g, m);
    BSI_TRY(products_of(halo)->multiply_values(context, &g->selection, &own, &g->packed));
  }
  BSI_TRY(
      halo->transport->enqueue_exchange
          ? bsi_halo_enqueue(halo, bytes, g->given, g->packed.values, g->wanted, g->room->incoming)
          : exchange_shared(g, bytes));
  if (g->places.rows == 0) return BISAI_OK;
  return move(context, &g->places, size, false, g->room->incoming,
              m->values + bsi_block_matrix_offset(m, g->own_blocks));
}

int64_t bsi_ghost_rows_memory(const bsi_ghost_rows *g) {
  return bsi_block_matrix_memory(&g->packed) + 4 * ((int64_t)g->selection.rows + 1) +
         (g->places.host == g->places.backend ? 4 : 8) * (int64_t)g->places.rows;
}

int64_t bsi_ghost_room_memory(const bsi_ghost_room *room) {
  return 8 * (room->most_outgoing + room->most_incoming);
}

void bsi_ghost_room_destroy(bisai_context *context, const bisai_transport *transport,
                            bsi_ghost_room *room) {
  give_back(context, transport, room->outgoing);
  give_back(context, transport, room->incoming);
  *room = (bsi_ghost_room){0};
}

void bsi_ghost_rows_destroy(bsi_ghost_rows *g) {
  if (!g->halo) return;
  bisai_context *context = g->halo->context;
  release(g);
  memory_of(g->halo)->release(context, g->selection.row_ptr);
  bsi_block_matrix_destroy(context, &g->packed);
  bsi_places_release(context, &g->places);
  bsi_release(context, g->given);
  bsi_release(context, g->wanted);
  *g = (bsi_ghost_rows){0};
}
