/* SPDX-License-Identifier: BSD-3-Clause */
/* The cycles V, W and K. */
#include "apply/apply_ops.h"
#include "multigrid/hierarchy.h"
#include "multigrid/multigrid_ops.h"

/* Applications of the smoother to a coarsest matrix that is too large for a dense inverse. */
enum { COARSEST_SMOOTHINGS = 8 };

static bisai_status cycle(bsi_hierarchy *h, int l, const double *b, double *x);

/* y ← b − A x */
static bisai_status residual(const bsi_hierarchy *h, const bsi_level *level, const double *b,
                             const double *x, double *y) {
  return h->context->backend->apply->products->multiply(h->context, level->matrix, 1, -1.0, x, 0,
                                                        1.0, b, 0, y, 0, 0);
}

static bisai_status solve_coarsest(bsi_hierarchy *h, bsi_level *level, const double *b, double *x) {
  if (!h->dense_inverse) return bsi_smooth(h, level, COARSEST_SMOOTHINGS, b, NULL, x);
  return h->context->backend->multigrid->dense->multiply(h->context, (int32_t)bsi_level_rows(level),
                                                         h->dense_inverse, b, x);
}

/* x ← x + a second correction for the same right-hand side b. */
static bisai_status add_second(bsi_hierarchy *h, int l) {
  bsi_level *level = &h->levels[l];
  BSI_TRY(residual(h, level, level->b, level->solution, level->b));
  BSI_TRY(cycle(h, l, level->b, level->second));
  return h->context->backend->vectors->add(h->context, bsi_level_rows(level), level->second,
                                           level->solution);
}

/* x ← the combination of two corrections with the least residual (Notay and Vassilevski 2008,
 * Algorithm 3.2, without its test of the first residual). */
static bisai_status combine_two(bsi_hierarchy *h, int l) {
  bsi_level *level = &h->levels[l];
  const bsi_product_ops *products = h->context->backend->apply->products;
  const bsi_cycle_ops *ops = h->context->backend->multigrid->cycle;
  const int64_t n = bsi_level_rows(level);
  BSI_TRY(products->multiply(h->context, level->matrix, 1, 1.0, level->solution, 0, 0.0, NULL, 0,
                             level->image, 0, 0));
  BSI_TRY(ops->first_step(h->context, n, level->image, level->b, level->scalars));
  BSI_TRY(cycle(h, l, level->b, level->second));
  BSI_TRY(products->multiply(h->context, level->matrix, 1, 1.0, level->second, 0, 0.0, NULL, 0,
                             level->second_image, 0, 0));
  return ops->second_step(h->context, n, level->solution, level->image, level->second,
                          level->second_image, level->b, level->scalars);
}

/* levels[l].solution ← the correction for levels[l].b, which changes. */
static bisai_status correct(bsi_hierarchy *h, int l) {
  bsi_level *level = &h->levels[l];
  BSI_TRY(cycle(h, l, level->b, level->solution));
  if (l == h->count - 1) return BISAI_OK;
  switch (h->setup.options.cycle) {
  case BISAI_CYCLE_W: return add_second(h, l);
  case BISAI_CYCLE_K: return combine_two(h, l);
  default: return BISAI_OK;
  }
}

static bisai_status cycle(bsi_hierarchy *h, int l, const double *b, double *x) {
  bsi_level *level = &h->levels[l];
  if (l == h->count - 1) return solve_coarsest(h, level, b, x);
  bsi_level *coarse = &h->levels[l + 1];
  const bsi_cycle_ops *ops = h->context->backend->multigrid->cycle;
  const bsi_sparse *r = level->restriction.row_ptr ? &level->restriction : &level->members;
  double *before = h->setup.options.post > 0 ? level->x : x;
  BSI_TRY(bsi_smooth(h, level, h->setup.options.pre, b, NULL, before));
  const double *left = b;
  if (h->setup.options.pre > 0) {
    BSI_TRY(residual(h, level, b, before, level->residual));
    left = level->residual;
  }
  BSI_TRY(ops->multiply(h->context, r, left, 0.0, coarse->b));
  BSI_TRY(correct(h, l + 1));
  BSI_TRY(ops->multiply(h->context, &level->prolongation, coarse->solution, 1.0, before));
  return before == x ? BISAI_OK : bsi_smooth(h, level, h->setup.options.post, b, before, x);
}

bisai_status bsi_hierarchy_cycle(bsi_hierarchy *h, const double *b, double *x) {
  return cycle(h, 0, b, x);
}
