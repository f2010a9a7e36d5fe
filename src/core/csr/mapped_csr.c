/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/csr/mapped_csr.h"

#include "core/context/context_impl.h"

static int64_t mapped_rows(const bsi_node_map *map) {
  return (int64_t)map->nodes * map->block_size;
}

/* Those of the matrix, and one for each row of the padding. */
static int64_t mapped_entries(const bisai_csr_desc *d, const bsi_node_map *map) {
  return d->row_ptr[d->rows] + mapped_rows(map) - d->rows;
}

int64_t bsi_mapped_csr_bytes(const bisai_csr_desc *d, const bsi_node_map *map) {
  return (mapped_rows(map) + 1) * (int64_t)sizeof(int32_t) +
         mapped_entries(d, map) * (int64_t)(sizeof(int32_t) + sizeof(double));
}

static void fill_row(const bisai_csr_desc *d, const bsi_node_map *map, int32_t row,
                     bsi_mapped_csr *m) {
  const int32_t i = map->source[row];
  int32_t to = m->row_ptr[row];
  if (i < 0) {
    m->col_idx[to] = row;
    m->values[to++] = 1.0;
  }
  for (int32_t p = i < 0 ? 0 : d->row_ptr[i]; i >= 0 && p < d->row_ptr[i + 1]; p++, to++) {
    m->col_idx[to] = map->place[d->col_idx[p]];
    m->values[to] = d->values[p];
  }
  m->row_ptr[row + 1] = to;
}

bisai_status bsi_mapped_csr_make(bisai_context *context, const bisai_csr_desc *d,
                                 const bsi_node_map *map, const bsi_limit *limit,
                                 bsi_mapped_csr *m) {
  const int64_t entries = mapped_entries(d, map);
  *m = (bsi_mapped_csr){.rows = (int32_t)mapped_rows(map)};
  if (entries > INT32_MAX)
    return bsi_fail(context, BISAI_INDEX_OVERFLOW, "more than %d entries with the padding",
                    INT32_MAX);
  BSI_TRY(bsi_limit_check(context, limit, bsi_mapped_csr_bytes(d, map)));
  m->row_ptr = bsi_allocate(context, (size_t)m->rows + 1, sizeof *m->row_ptr);
  if (m->row_ptr) m->col_idx = bsi_allocate(context, (size_t)entries, sizeof *m->col_idx);
  if (m->col_idx) m->values = bsi_allocate(context, (size_t)entries, sizeof *m->values);
  if (!m->row_ptr || !m->col_idx || !m->values) return BISAI_OUT_OF_MEMORY;
  m->row_ptr[0] = 0;
  for (int32_t row = 0; row < m->rows; row++) fill_row(d, map, row, m);
  return BISAI_OK;
}

void bsi_mapped_csr_release(bisai_context *context, bsi_mapped_csr *m) {
  bsi_release(context, m->row_ptr);
  bsi_release(context, m->col_idx);
  bsi_release(context, m->values);
  *m = (bsi_mapped_csr){0};
}

bisai_status bsi_mapped_csr_rename(bisai_context *context, const bisai_csr_desc *d,
                                   const bsi_node_map *map, const bsi_mapped_csr *m,
                                   bsi_entry_map *entries) {
  bsi_entry_map renamed;
  const size_t most = entries->wide ? SIZE_MAX : UINT32_MAX;
  const bisai_status status = bsi_entry_map_reserve(context, d->row_ptr[d->rows], most, &renamed);
  for (int32_t i = 0; i < d->rows && !status; i++) {
    const int32_t shift = m->row_ptr[map->place[i]] - d->row_ptr[i];
    for (int32_t p = d->row_ptr[i]; p < d->row_ptr[i + 1]; p++)
      bsi_entry_map_set(&renamed, p, bsi_entry_map_at(entries->wide, entries->host, p + shift));
  }
  bsi_entry_map_release(context, status ? &renamed : entries);
  if (status) return status;
  *entries = renamed;
  return bsi_entry_map_upload(context, entries);
}
