/* SPDX-License-Identifier: BSD-3-Clause */
/* The bytes of a hierarchy and of its cycle, and the work vectors of levels. */
#include "multigrid/level/memory.h"

#include "core/context/context_impl.h"
#include "multigrid/level/records.h"
#include "multigrid/level/smoother.h"

/* --- work vectors --- */

static bool reserve(const bsi_hierarchy *h, double **vector, int64_t n) {
  *vector = bsi_hierarchy_reserve_vector(h, n);
  return *vector != NULL;
}

bisai_status bsi_level_reserve_work(bsi_hierarchy *h, bsi_level *level) {
  const bisai_cycle cycle = h->setup.options.cycle;
  const bool twice = bsi_corrects_twice(cycle, bsi_level_number(h, level) + h->setup.above.levels);
  const int64_t n = bsi_level_rows(level);
  bool complete = reserve(h, &level->work.x, n) && reserve(h, &level->work.y, n) &&
                  reserve(h, &level->work.residual, n);
  if (level != h->levels)
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

/* Returns the vectors of bsi_level_rows() values. Those that the level does not have are NULL. */
static work_vectors vectors_of(const bsi_level_work *w) {
  return (work_vectors){
      {w->x, w->y, w->residual, w->b, w->solution, w->second, w->image, w->second_image}};
}

void bsi_level_release_work(bisai_context *context, bsi_level_work *work) {
  const work_vectors vectors = vectors_of(work);
  for (int v = 0; v < VECTORS; v++) context->backend->memory->release(context, vectors.at[v]);
  context->backend->memory->release(context, work->scalars);
  *work = (bsi_level_work){0};
}

static int64_t copy_memory(const bisai_bcsr *copy) { return copy ? bsi_bcsr_memory(copy) : 0; }

static int64_t transfers_memory(const bsi_level *level) {
  const bsi_level_transfers *t = &level->transfers;
  return bsi_block_matrix_memory(&t->tentative) +
         bsi_block_matrix_memory(&t->tentative_transposed) +
         bsi_block_matrix_memory(&t->prolongation) + bsi_block_matrix_memory(&t->restriction) +
         bsi_block_matrix_memory(&t->product) + bsi_block_matrix_memory(&t->identity) +
         bsi_product_slots_memory(&t->coarse) +
         (t->tentative_position ? 4 * (int64_t)t->tentative.blocks : 0) +
         (t->prolongation_position ? 4 * (int64_t)t->prolongation.blocks : 0) +
         (t->filtered ? 4 * (int64_t)level->matrix->blocks : 0);
}

static int64_t diagonal_memory(const bsi_level *level) {
  const bsi_level_diagonal *d = &level->diagonal;
  const bisai_bcsr *a = level->matrix;
  int64_t bytes = d->position ? 4 * (int64_t)a->block_rows : 0;
  if (d->inverse) bytes += 8 * bsi_level_diagonal_values(level);
  if (d->null_marks) bytes += 8 * bsi_level_rows(level) * (1 + a->block_size);
  return bytes;
}

static int64_t level_memory(const bsi_level *level) {
  const work_vectors vectors = vectors_of(&level->work);
  const bsi_level_fp32 *fp32 = &level->fp32;
  const bsi_smoother *smoother = level->smoother.ops;
  int64_t bytes = transfers_memory(level) + diagonal_memory(level) + copy_memory(level->own) +
                  copy_memory(fp32->matrix) + copy_memory(fp32->prolongation) +
                  copy_memory(fp32->restriction);
  for (int v = 0; v < VECTORS; v++)
    if (vectors.at[v]) bytes += 8 * bsi_level_rows(level);
  if (level->work.scalars) bytes += 8 * BSI_K_WORK;
  return bytes + (smoother && smoother->memory ? smoother->memory(level) : 0);
}

/* --- the hierarchy --- */

int64_t bsi_hierarchy_memory(const bsi_hierarchy *h) {
  int64_t bytes = h->scalar_copy ? bsi_bcsr_memory(h->scalar_copy) : 0;
  bytes += 2 * (int64_t)sizeof(bsi_operation) * h->graph.capacity;
  for (int l = 0; l < h->count; l++) bytes += level_memory(&h->levels[l]);
  const int64_t n = bsi_level_rows(bsi_coarsest_of(h));
  bytes += bsi_records_memory(h);
  if (h->lanczos.work) bytes += 8 * h->lanczos.values;
  if (h->coarse.null_marks) bytes += 8 * n;
  if (h->coarse.room) bytes += 8 * h->coarse.room_values;
  return bytes + (h->coarse.inverse ? 8 * n * n : 0) + (h->coarse.work ? 8 * n * n : 0);
}

void bsi_hierarchy_note_peak(bsi_hierarchy *h, int64_t temporary) {
  const int64_t bytes = bsi_hierarchy_memory(h) + temporary;
  if (bytes > h->peak_bytes) h->peak_bytes = bytes;
}

/* --- the cycle --- */

/* The bytes of the smoothing steps of a visit. The first step of a smoothing from zero has no
 * product. */
static int64_t smoothing_bytes(const bsi_hierarchy *h, const bsi_level *level) {
  const bisai_multigrid_options *o = &h->setup.options;
  const int64_t a = bsi_bcsr_product_bytes(bsi_cycle_matrix(level)), n = 8 * bsi_level_rows(level);
  int64_t step = 8 * bsi_level_diagonal_values(level) + 2 * n;
  const bsi_smoother *smoother = level->smoother.ops;
  if (smoother->apply_bytes) step = smoother->apply_bytes(level);
  const int64_t steps = bsi_smoother_degree(h, level) * (o->pre + o->post),
                products = steps - (o->pre > 0);
  return steps * step + products * a;
}

/* The bytes of a product with P or R, which is m. `copy` is m in fp32, or NULL. */
static int64_t transfer_bytes(const bsi_level *level, const bsi_block_matrix *m,
                              const bisai_bcsr *copy) {
  if (level->fp32.in_use && copy) return bsi_bcsr_product_bytes(copy);
  return bsi_block_matrix_memory(m) +
         8 * ((int64_t)m->rows * m->height + (int64_t)m->cols * m->width);
}

int64_t bsi_level_cycle_bytes(const bsi_hierarchy *h, int l, int64_t *visits) {
  const bsi_level *level = &h->levels[l];
  const int64_t n = bsi_level_rows(level);
  if (l == h->count - 1) return h->coarse.inverse ? *visits * 8 * n * n : 0;
  const int64_t a = bsi_bcsr_product_bytes(bsi_cycle_matrix(level)), corrections = *visits;
  const bool twice = bsi_level_corrects_twice(h, l);
  if (twice) *visits *= 2;
  return *visits * (smoothing_bytes(h, level) + a +
                    transfer_bytes(level, bsi_restriction_of(level), level->fp32.restriction) +
                    transfer_bytes(level, bsi_prolongation_of(level), level->fp32.prolongation)) +
         (twice ? corrections * a : 0);
}

int64_t bsi_hierarchy_cycle_bytes(const bsi_hierarchy *h) {
  int64_t bytes = 0, visits = 1;
  for (int l = 0; l < h->count; l++) bytes += bsi_level_cycle_bytes(h, l, &visits);
  return bytes;
}
