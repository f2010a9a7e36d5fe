/* SPDX-License-Identifier: BSD-3-Clause */
#include "multigrid/halo/told_rows.h"

#include "core/context/context_impl.h"
#include "multigrid/halo/agreement.h"

/* What neighbours are told. */
typedef struct messages {
  /* for each ghost its neighbour, and for each neighbour the last row that it is told of */
  int32_t *neighbour, *last;
  /* for each neighbour 1, how many rows it is told of, and how many it tells of */
  int64_t *ones, *counts, *there;
  /* their numbers */
  int64_t *outgoing, *incoming;
} messages;

static void release(bisai_context *context, messages *m) {
  bsi_release(context, m->neighbour);
  bsi_release(context, m->last);
  bsi_release(context, m->ones);
  bsi_release(context, m->counts);
  bsi_release(context, m->there);
  bsi_release(context, m->outgoing);
  bsi_release(context, m->incoming);
}

/* Lists the own rows with ghosts of neighbour k, or with k = −1 counts those of each neighbour. */
static int64_t list_rows(const bsi_halo *halo, const bsi_told_rows *rows, int32_t k, messages *m,
                         int64_t *to) {
  const bsi_structure *s = &rows->structure;
  int64_t count = 0;
  for (int32_t n = 0; n < halo->neighbour_count; n++) m->last[n] = -1;
  for (int32_t i = 0; i < rows->rows; i++)
    for (int32_t p = s->row_ptr[i + 1] - 1; p >= s->row_ptr[i] && s->col_idx[p] >= halo->rows;
         p--) {
      const int32_t n = m->neighbour[s->col_idx[p] - halo->rows];
      if (m->last[n] == i || (k >= 0 && n != k)) continue;
      m->last[n] = i;
      if (k < 0)
        m->counts[n]++;
      else
        to[count++] = rows->first + i;
    }
  return count;
}

static bisai_status list_messages(const bsi_halo *halo, const bsi_told_rows *rows, messages *m) {
  const size_t neighbours = (size_t)halo->neighbour_count;
  int64_t told = 0;
  m->neighbour = bsi_allocate(halo->context, (size_t)halo->ghosts, sizeof *m->neighbour);
  m->last = bsi_allocate(halo->context, neighbours, sizeof *m->last);
  m->ones = bsi_allocate(halo->context, neighbours, sizeof *m->ones);
  m->counts = bsi_allocate(halo->context, neighbours, sizeof *m->counts);
  m->there = bsi_allocate(halo->context, neighbours, sizeof *m->there);
  if (!m->neighbour || !m->last || !m->ones || !m->counts || !m->there) return BISAI_OUT_OF_MEMORY;
  for (int32_t n = 0; n < halo->neighbour_count; n++) {
    const bsi_neighbour *of = &halo->neighbours[n];
    m->ones[n] = 1;
    m->counts[n] = m->there[n] = 0;
    for (int32_t q = of->receive_begin; q < of->receive_end; q++)
      m->neighbour[halo->receive.host[q]] = n;
  }
  list_rows(halo, rows, -1, m, NULL);
  for (size_t n = 0; n < neighbours; n++) told += m->counts[n];
  m->outgoing = bsi_allocate(halo->context, (size_t)told, sizeof *m->outgoing);
  if (!m->outgoing) return BISAI_OUT_OF_MEMORY;
  told = 0;
  for (int32_t n = 0; n < halo->neighbour_count; n++)
    told += list_rows(halo, rows, n, m, m->outgoing + told);
  return BISAI_OK;
}

static bisai_status reserve_incoming(const bsi_halo *halo, messages *m) {
  int64_t rows = 0;
  for (int32_t n = 0; n < halo->neighbour_count; n++) rows += m->there[n];
  m->incoming = bsi_allocate(halo->context, (size_t)rows, sizeof *m->incoming);
  return m->incoming ? BISAI_OK : BISAI_OUT_OF_MEMORY;
}

static bisai_status number(const bsi_halo *halo, const messages *m, bsi_numbering *numbering) {
  int64_t at = 0;
  int32_t local;
  for (int32_t n = 0; n < halo->neighbour_count; n++)
    for (int64_t k = 0; k < m->there[n]; k++)
      BSI_TRY(bsi_numbering_find(numbering, m->incoming[at++], &local));
  return BISAI_OK;
}

static bisai_status find(bsi_halo *halo, bisai_status before, const bsi_told_rows *rows,
                         messages *m, bsi_numbering *numbering) {
  bisai_context *context = halo->context;
  BSI_TRY(bsi_agree(context, halo->transport, before ? before : list_messages(halo, rows, m)));
  BSI_TRY(bsi_halo_send(halo, sizeof *m->counts, m->ones, m->counts, m->ones, m->there));
  BSI_TRY(bsi_agree(context, halo->transport, reserve_incoming(halo, m)));
  BSI_TRY(bsi_halo_send(halo, sizeof *m->outgoing, m->counts, m->outgoing, m->there, m->incoming));
  return bsi_agree(context, halo->transport, number(halo, m, numbering));
}

bisai_status bsi_told_rows_find(bsi_halo *halo, bisai_status before, const bsi_told_rows *rows,
                                bsi_numbering *numbering) {
  messages m = {NULL};
  const bisai_status status = find(halo, before, rows, &m, numbering);
  release(halo->context, &m);
  return status;
}
