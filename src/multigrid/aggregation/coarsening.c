/* SPDX-License-Identifier: BSD-3-Clause */
#include "multigrid/aggregation/coarsening.h"

#include "multigrid/aggregation/aggregation_ops.h"
#include "multigrid/aggregation/strength.h"
#include "multigrid/level/memory.h"
#include "multigrid/level/records.h"

bisai_status bsi_coarsening_weigh(bsi_hierarchy *h, const bsi_level *level, bsi_coarsening *c) {
  const bsi_aggregation_ops *ops = bsi_ops_of(h)->aggregation;
  const bsi_strength_rule rule =
      bsi_strength_rule_of(h->setup.options.strength, h->setup.symmetric);
  if (!c->strength)
    c->strength = bsi_hierarchy_reserve(h, level->matrix->blocks, sizeof *c->strength);
  if (!c->aggregate)
    c->aggregate = bsi_hierarchy_reserve(h, level->matrix->block_cols, sizeof *c->aggregate);
  c->width = c->vectors ? h->setup.options.null_count : level->matrix->block_size;
  if (!c->strength || !c->aggregate) return BISAI_OUT_OF_MEMORY;
  return ops->weigh(h->context, level->matrix, level->diagonal.inverse, &rule, c->strength);
}

bisai_status bsi_coarsening_begin(bsi_hierarchy *h, const bsi_level *level, bsi_coarsening *c) {
  BSI_TRY(bsi_coarsening_weigh(h, level, c));
  return bsi_ops_of(h)->aggregation->aggregate(h->context, level->matrix, c->strength, c->aggregate,
                                               bsi_record_there(h, level, BSI_RECORD_AGGREGATES),
                                               &c->count, &c->members);
}

void bsi_coarsening_end(const bsi_hierarchy *h, const bsi_level *level, bsi_coarsening *c) {
  const void *record = bsi_record_here(h, level, BSI_RECORD_AGGREGATES);
  if (record) bsi_ops_of(h)->aggregation->read(record, &c->count, &c->members);
}

void bsi_coarsening_note_peak(bsi_hierarchy *h, const bsi_level *level, const bsi_coarsening *c,
                              int64_t room) {
  const int64_t vectors = 8 * (int64_t)h->setup.options.null_count;
  int64_t bytes = 4 * ((int64_t)level->matrix->blocks + level->matrix->block_rows);
  if (c->vectors) bytes += vectors * bsi_level_rows(level);
  if (c->coarse_vectors) bytes += vectors * c->count * c->width;
  bsi_hierarchy_note_peak(h, bytes + room);
}

void bsi_coarsening_release(bisai_context *context, bsi_coarsening *c) {
  const bsi_memory_ops *memory = context->backend->memory;
  memory->release(context, c->strength);
  memory->release(context, c->aggregate);
  memory->release(context, c->vectors);
  *c = (bsi_coarsening){.vectors = c->coarse_vectors};
}
