/* SPDX-License-Identifier: BSD-3-Clause */
/* The bytes of a hierarchy and of its cycle. */
#include "multigrid/hierarchy.h"
#include "multigrid/multigrid_ops.h"
#include "multigrid/pseudo.h"

static int64_t transfer_memory(const bsi_level *level) {
  return bsi_sparse_memory(&level->tentative) + bsi_sparse_memory(&level->members) +
         bsi_sparse_memory(&level->prolongation) + bsi_sparse_memory(&level->restriction) +
         bsi_sparse_memory(&level->product) + bsi_sparse_memory(&level->identity) +
         bsi_places_memory(&level->coarse) +
         (level->member_position ? 4 * (int64_t)level->tentative.blocks : 0) +
         (level->position ? 4 * (int64_t)level->prolongation.blocks : 0) +
         (level->target ? 4 * (int64_t)level->matrix->blocks : 0);
}

static int64_t level_memory(const bsi_level *level) {
  const bisai_bcsr *a = level->matrix;
  double *const vectors[] = {level->x,      level->y,     level->residual,     level->b,
                             level->second, level->image, level->second_image, level->solution};
  int64_t bytes = transfer_memory(level) + bsi_narrow_memory(level) +
                  (level->own ? bsi_bcsr_memory(level->own) : 0);
  for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
    if (vectors[i]) bytes += 8 * bsi_level_rows(level);
  if (level->scalars) bytes += 8 * BSI_K_WORK;
  if (level->diagonal) bytes += 4 * (int64_t)a->block_rows;
  if (level->inverse) bytes += 8 * (int64_t)bsi_block_offset(a, a->block_rows);
  if (level->relaxation != level->inverse) bytes += 8 * (int64_t)bsi_block_offset(a, a->block_rows);
  if (level->marks) bytes += 8 * bsi_level_rows(level) * (1 + a->block_size);
  if (level->l1_blocks) bytes += 8 * (int64_t)bsi_block_offset(a, a->block_rows);
  if (level->l1_position) bytes += 4 * ((int64_t)a->block_rows + 1);
  if (level->smoother) {
    bisai_precond_report report = {.struct_size = sizeof report};
    bisai_precond_get_report(level->smoother, &report);
    bytes += report.memory_bytes;
  }
  return bytes;
}

int64_t bsi_hierarchy_memory(const bsi_hierarchy *h) {
  int64_t bytes = h->split ? bsi_bcsr_memory(h->split) : 0;
  bytes += 2 * (int64_t)sizeof(bsi_step) * h->tail.capacity;
  for (int l = 0; l < h->count; l++) bytes += level_memory(&h->levels[l]);
  const int64_t n = bsi_level_rows(&h->levels[h->count - 1]);
  bytes += bsi_records_memory(h);
  if (h->marks) bytes += 8 * n;
  if (h->pseudo_room) bytes += 8 * bsi_pseudo_room(n);
  return bytes + (h->dense_inverse ? 8 * n * n : 0) + (h->dense_work ? 8 * n * n : 0);
}

/* The bytes of the smoothing steps of a visit: the first step of a smoothing from zero has no
 * product. */
static int64_t smoothing_bytes(const bsi_hierarchy *h, const bsi_level *level) {
  const bisai_multigrid_options *o = &h->setup.options;
  const int64_t a = bsi_bcsr_product_bytes(bsi_cycle_matrix(level)), n = 8 * bsi_level_rows(level);
  int64_t step = 8 * (int64_t)bsi_block_offset(level->matrix, level->matrix->block_rows) + 2 * n;
  if (level->smoother) {
    bisai_precond_report report = {.struct_size = sizeof report};
    bisai_precond_get_report(level->smoother, &report);
    step = report.apply_bytes;
  }
  const int64_t degree = o->smoother == BISAI_SMOOTHER_CHEBYSHEV ? o->degree : 1;
  const int64_t steps = degree * (o->pre + o->post), products = steps - (o->pre > 0);
  return steps * step + products * a;
}

/* `narrow`: its copy in fp32, or NULL */
static int64_t sparse_bytes(const bsi_sparse *m, const bisai_bcsr *narrow) {
  if (narrow) return bsi_bcsr_product_bytes(narrow);
  return bsi_sparse_memory(m) + 8 * ((int64_t)m->rows * m->height + (int64_t)m->cols * m->width);
}

int64_t bsi_hierarchy_cycle_bytes(const bsi_hierarchy *h) {
  int64_t bytes = 0, visits = 1;
  for (int l = 0; l < h->count - 1; l++) {
    const bsi_level *level = &h->levels[l];
    const int64_t a = bsi_bcsr_product_bytes(bsi_cycle_matrix(level));
    const bool twice = bsi_level_corrects_twice(h, l);
    if (twice) visits *= 2;
    const bisai_bcsr *r = level->narrow ? level->narrow_restriction : NULL,
                     *p = level->narrow ? level->narrow_prolongation : NULL;
    bytes += visits * (smoothing_bytes(h, level) + a + sparse_bytes(bsi_restriction_of(level), r) +
                       sparse_bytes(bsi_prolongation_of(level), p));
    if (twice) bytes += visits / 2 * a;
  }
  const int64_t n = bsi_level_rows(&h->levels[h->count - 1]);
  return bytes + (h->dense_inverse ? visits * 8 * n * n : 0);
}
