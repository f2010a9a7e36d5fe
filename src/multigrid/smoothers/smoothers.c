/* SPDX-License-Identifier: BSD-3-Clause */
#include "multigrid/smoothers/smoothers.h"

#include <string.h>

#include "core/context/context_impl.h"
#include "multigrid/cycle/operations.h"

/* The choice among jacobi and chebyshev is made before there are levels. Until then it takes the
 * options of both. */
const bsi_smoother bsi_smoother_auto = {
    .options = {"multigrid.damping", "multigrid.degree", "multigrid.ratio"},
    .steps = "multigrid.degree"};

const bsi_smoother *bsi_smoother_of(bisai_smoother smoother) {
#define ENTRY(enumerator, word, name) [enumerator] = &bsi_smoother_##name,
  static const bsi_smoother *const table[] = {BISAI_SMOOTHER_LIST(ENTRY)};
#undef ENTRY
  return table[smoother];
}

bisai_status bsi_smoother_create(bsi_hierarchy *h, bsi_level *level) {
  bsi_level_smoother *s = &level->smoother;
  s->ops = bsi_smoother_of(h->setup.options.smoother);
  s->inverse = level->diagonal.inverse;
  if (s->ops->state_size > 0) {
    s->state = bsi_allocate(h->context, 1, s->ops->state_size);
    if (!s->state) return BISAI_OUT_OF_MEMORY;
    memset(s->state, 0, s->ops->state_size);
  }
  return s->ops->create ? s->ops->create(h, level) : BISAI_OK;
}

bisai_status bsi_smoother_update(bsi_hierarchy *h, bsi_level *level) {
  const bsi_smoother *ops = level->smoother.ops;
  return ops && ops->update ? ops->update(h, level) : BISAI_OK;
}

void bsi_smoother_destroy(bisai_context *context, bsi_level *level) {
  bsi_level_smoother *s = &level->smoother;
  if (s->state && s->ops->destroy) s->ops->destroy(context, level);
  bsi_release(context, s->state);
  *s = (bsi_level_smoother){0};
}

bisai_status bsi_smooth(bsi_hierarchy *h, bsi_level *level, int32_t count, bsi_vector b,
                        bsi_vector from, bsi_vector to) {
  if (count == 0 && !from.at)
    return bsi_operation_do(
        h, level, &(bsi_operation){.kind = BSI_OPERATION_SET, .n = bsi_level_rows(level), .y = to});
  return level->smoother.ops->smooth(h, level, count, b, from, to);
}
