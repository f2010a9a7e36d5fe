/* SPDX-License-Identifier: BSD-3-Clause */
/* The memory of levels, and the bytes of a hierarchy and of its cycle. */
#include "multigrid/coarse/pseudo_inverse.h"
#include "multigrid/diagonal/lanczos.h"
#include "multigrid/hierarchy.h"
#include "multigrid/multigrid_ops.h"

/* --- levels --- */

static bool reserve(const bsi_hierarchy *h, double **vector, int64_t n) {
  *vector = bsi_hierarchy_reserve_vector(h, n);
  return *vector != NULL;
}

bisai_status bsi_level_reserve_work(bsi_hierarchy *h, bsi_level *level) {
  const bisai_cycle cycle = h->setup.options.cycle;
  const bool twice = bsi_corrects_twice(cycle, bsi_level_number(h, level));
  const int64_t n = bsi_level_rows(level);
  bool complete =
      reserve(h, &level->x, n) && reserve(h, &level->y, n) && reserve(h, &level->residual, n);
  if (level != h->levels)
    complete = complete && reserve(h, &level->b, n) && reserve(h, &level->solution, n);
  if (twice) complete = complete && reserve(h, &level->second, n);
  if (twice && cycle == BISAI_CYCLE_K)
    complete = complete && reserve(h, &level->image, n) && reserve(h, &level->second_image, n) &&
               reserve(h, &level->scalars, BSI_K_WORK);
  return complete ? BISAI_OK : BISAI_OUT_OF_MEMORY;
}

enum { VECTORS = 8 };

typedef struct work_vectors {
  double *at[VECTORS];
} work_vectors;

/* Returns the vectors of bsi_level_rows() values. Those that the level does not have are NULL. */
static work_vectors vectors_of(const bsi_level *level) {
  return (work_vectors){{level->x, level->y, level->residual, level->b, level->solution,
                         level->second, level->image, level->second_image}};
}

void bsi_level_destroy(bisai_context *context, bsi_level *level) {
  const bsi_memory_ops *memory = context->backend->memory;
  const work_vectors vectors = vectors_of(level);
  for (int v = 0; v < VECTORS; v++) memory->release(context, vectors.at[v]);
  memory->release(context, level->scalars);
  bisai_precond_destroy(&level->smoother);
  bsi_narrow_destroy(level);
  bsi_transfers_destroy(context, level);
  if (level->relaxation != level->inverse) memory->release(context, level->relaxation);
  memory->release(context, level->inverse);
  memory->release(context, level->diagonal);
  bsi_release(context, level->rounding_marks);
  memory->release(context, level->l1_blocks);
  memory->release(context, level->l1_position);
  bisai_bcsr_destroy(&level->own);
}

static bisai_precond_report smoother_report(const bsi_level *level) {
  bisai_precond_report report = {.struct_size = sizeof report};
  bisai_precond_get_report(level->smoother, &report);
  return report;
}

static int64_t level_memory(const bsi_level *level) {
  const bisai_bcsr *a = level->matrix;
  const int64_t diagonal = 8 * (int64_t)bsi_block_offset(a, a->block_rows);
  const work_vectors vectors = vectors_of(level);
  int64_t bytes = bsi_transfers_memory(level) + bsi_narrow_memory(level) +
                  (level->own ? bsi_bcsr_memory(level->own) : 0);
  for (int v = 0; v < VECTORS; v++)
    if (vectors.at[v]) bytes += 8 * bsi_level_rows(level);
  if (level->scalars) bytes += 8 * BSI_K_WORK;
  if (level->diagonal) bytes += 4 * (int64_t)a->block_rows;
  if (level->inverse) bytes += diagonal;
  if (level->relaxation != level->inverse) bytes += diagonal;
  if (level->rounding_marks) bytes += 8 * bsi_level_rows(level) * (1 + a->block_size);
  if (level->l1_blocks) bytes += diagonal;
  if (level->l1_position) bytes += 4 * ((int64_t)a->block_rows + 1);
  if (level->smoother) bytes += smoother_report(level).memory_bytes;
  return bytes;
}

/* --- the hierarchy --- */

int64_t bsi_hierarchy_memory(const bsi_hierarchy *h) {
  int64_t bytes = h->split ? bsi_bcsr_memory(h->split) : 0;
  bytes += 2 * (int64_t)sizeof(bsi_step) * h->tail.capacity;
  for (int l = 0; l < h->count; l++) bytes += level_memory(&h->levels[l]);
  const int64_t n = bsi_level_rows(bsi_coarsest_of(h));
  bytes += bsi_records_memory(h);
  if (h->lanczos_work) bytes += BSI_LANCZOS_WORK * (int64_t)sizeof(double);
  if (h->coarsest_marks) bytes += 8 * n;
  if (h->pseudo_room) bytes += 8 * bsi_pseudo_room(n);
  return bytes + (h->dense_inverse ? 8 * n * n : 0) + (h->dense_work ? 8 * n * n : 0);
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
  int64_t step = 8 * (int64_t)bsi_block_offset(level->matrix, level->matrix->block_rows) + 2 * n;
  if (level->smoother) step = smoother_report(level).apply_bytes;
  const int64_t degree = o->smoother == BISAI_SMOOTHER_CHEBYSHEV ? o->degree : 1;
  const int64_t steps = degree * (o->pre + o->post), products = steps - (o->pre > 0);
  return steps * step + products * a;
}

/* The bytes of a product with P or R, which is m. `copy` is m in fp32, or NULL. */
static int64_t transfer_bytes(const bsi_level *level, const bsi_sparse *m, const bisai_bcsr *copy) {
  if (level->narrow && copy) return bsi_bcsr_product_bytes(copy);
  return bsi_sparse_memory(m) + 8 * ((int64_t)m->rows * m->height + (int64_t)m->cols * m->width);
}

int64_t bsi_level_cycle_bytes(const bsi_hierarchy *h, int l, int64_t *visits) {
  const bsi_level *level = &h->levels[l];
  const int64_t n = bsi_level_rows(level);
  if (l == h->count - 1) return h->dense_inverse ? *visits * 8 * n * n : 0;
  const int64_t a = bsi_bcsr_product_bytes(bsi_cycle_matrix(level)), corrections = *visits;
  const bool twice = bsi_level_corrects_twice(h, l);
  if (twice) *visits *= 2;
  return *visits * (smoothing_bytes(h, level) + a +
                    transfer_bytes(level, bsi_restriction_of(level), level->narrow_restriction) +
                    transfer_bytes(level, bsi_prolongation_of(level), level->narrow_prolongation)) +
         (twice ? corrections * a : 0);
}

int64_t bsi_hierarchy_cycle_bytes(const bsi_hierarchy *h) {
  int64_t bytes = 0, visits = 1;
  for (int l = 0; l < h->count; l++) bytes += bsi_level_cycle_bytes(h, l, &visits);
  return bytes;
}
