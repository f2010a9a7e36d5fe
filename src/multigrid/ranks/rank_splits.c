/* SPDX-License-Identifier: BSD-3-Clause */
#include "multigrid/ranks/rank_splits.h"

#include "core/context/context_impl.h"
#include "multigrid/halo/halo.h"

/* Groups the rows of a product whose ghosts are those of a halo, if it is to overlap the exchange.
 */
static bisai_status split(const bsi_hierarchy *h, const bsi_halo *halo, const bsi_block_matrix *m,
                          bsi_split *groups) {
  const int64_t most = halo->send.rows > halo->receive.rows ? halo->send.rows : halo->receive.rows;
  if (most * m->width * (int64_t)sizeof(double) < h->setup.least_exchanged) return BISAI_OK;
  return bsi_split_create(h->context, m, halo->rows, h->setup.least_overlapped, groups);
}

bisai_status bsi_rank_splits_create(bsi_hierarchy *h, int l, bsi_splits *splits) {
  bsi_level *level = &h->levels[l];
  const bsi_block_matrix a = bsi_block_matrix_of(level->matrix);
  if (!bsi_halo_has_parts(level->halo)) return BISAI_OK;
  level->splits = splits;
  BSI_TRY(split(h, level->halo, &a, &splits->matrix));
  if (l == h->count - 1) return BISAI_OK;
  BSI_TRY(split(h, level->halo, bsi_restriction_of(level), &splits->restriction));
  return split(h, level[1].halo, bsi_prolongation_of(level), &splits->prolongation);
}

int64_t bsi_rank_splits_memory(const bsi_splits *splits) {
  return bsi_split_memory(&splits->matrix) + bsi_split_memory(&splits->restriction) +
         bsi_split_memory(&splits->prolongation);
}

void bsi_rank_splits_destroy(bisai_context *context, bsi_splits *splits) {
  bsi_split_destroy(context, &splits->matrix);
  bsi_split_destroy(context, &splits->restriction);
  bsi_split_destroy(context, &splits->prolongation);
}
