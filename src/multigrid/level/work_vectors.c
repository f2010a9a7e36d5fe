/* SPDX-License-Identifier: BSD-3-Clause */
#include "multigrid/level/work_vectors.h"

#include "core/context/context_impl.h"

static bool reserve(const bsi_hierarchy *h, double **vector, int64_t n) {
  *vector = bsi_hierarchy_reserve_vector(h, n);
  return *vector != NULL;
}

bisai_status bsi_level_reserve_work(bsi_hierarchy *h, bsi_level *level) {
  const bisai_cycle cycle = h->setup.options.cycle;
  const bool twice = bsi_corrects_twice(cycle, bsi_level_number(h, level) + h->setup.above.levels);
  const bsi_level *first = h->levels;
  const int64_t n = bsi_level_room(level);
  bool complete = reserve(h, &level->work.x, n);
  level->work.shared = level != first && n <= bsi_level_room(first);
  if (level->work.shared) {
    level->work.y = first->work.y;
    level->work.residual = first->work.residual;
  } else {
    complete = complete && reserve(h, &level->work.y, n) && reserve(h, &level->work.residual, n);
  }
  if (level != h->levels || h->setup.transport || (twice && cycle == BISAI_CYCLE_K))
    complete = complete && reserve(h, &level->work.b, n) && reserve(h, &level->work.solution, n);
  if (twice) complete = complete && reserve(h, &level->work.second, n);
  if (twice && cycle == BISAI_CYCLE_K)
    complete = complete && reserve(h, &level->work.image, n) &&
               reserve(h, &level->work.second_image, n) &&
               reserve(h, &level->work.scalars, BSI_K_WORK);
  return complete ? BISAI_OK : BISAI_OUT_OF_MEMORY;
}

enum { VECTORS = 8 };

typedef struct work_vectors {
  double *at[VECTORS];
} work_vectors;

/* Returns the vectors of bsi_level_room() values that a level owns. Others are NULL. */
static work_vectors vectors_of(const bsi_level_work *w) {
  return (work_vectors){{w->x, w->shared ? NULL : w->y, w->shared ? NULL : w->residual, w->b,
                         w->solution, w->second, w->image, w->second_image}};
}

void bsi_level_release_work(bisai_context *context, bsi_level_work *work) {
  const work_vectors vectors = vectors_of(work);
  for (int v = 0; v < VECTORS; v++) context->backend->memory->release(context, vectors.at[v]);
  context->backend->memory->release(context, work->scalars);
  *work = (bsi_level_work){0};
}

int64_t bsi_level_work_memory(const bsi_level *level) {
  const work_vectors vectors = vectors_of(&level->work);
  int64_t bytes = level->work.scalars ? 8 * BSI_K_WORK : 0;
  for (int v = 0; v < VECTORS; v++)
    if (vectors.at[v]) bytes += 8 * bsi_level_room(level);
  return bytes;
}
