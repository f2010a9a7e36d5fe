/* SPDX-License-Identifier: BSD-3-Clause */
/* The bytes of a hierarchy and of its cycle. */
#include "multigrid/level/memory.h"

#include "multigrid/level/account.h"
#include "multigrid/level/smoother.h"

/* --- the hierarchy --- */

int64_t bsi_hierarchy_memory(const bsi_hierarchy *h) {
  int64_t bytes = 0;
  for (int l = 0; l < h->count; l++) {
    bisai_multigrid_memory m;
    bsi_level_account(h, l, &m);
    for (int part = 0; part < BISAI_MULTIGRID_PARTS; part++) bytes += m.bytes[part];
  }
  return bytes;
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
  int64_t step = (bsi_cycle_inverse(level) ? 4 : 8) * bsi_level_diagonal_values(level) + 2 * n;
  const bsi_smoother *smoother = level->smoother.ops;
  if (smoother->apply_bytes) step = smoother->apply_bytes(level);
  const int64_t steps = bsi_smoother_degree(h, level) * (o->pre + o->post),
                products = steps - (o->pre > 0);
  return steps * step + products * a;
}

/* The bytes of a product with P or R, which is m. `copy` is m in fp32, or NULL. */
static int64_t transfer_bytes(const bsi_level *level, const bsi_block_matrix m,
                              const bisai_bcsr *copy) {
  if (level->fp32.in_use && copy) return bsi_bcsr_product_bytes(copy);
  const int64_t values = (int64_t)bsi_block_matrix_offset(&m, m.blocks);
  return 4 * ((int64_t)m.rows + 1 + m.blocks) +
         (m.narrow   ? 4
          : m.values ? 8
                     : 0) *
             values +
         8 * ((int64_t)m.rows * m.height + (int64_t)m.cols * m.width);
}

int64_t bsi_level_cycle_bytes(const bsi_hierarchy *h, int l, int64_t *visits) {
  const bsi_level *level = &h->levels[l];
  const int64_t n = bsi_level_rows(level);
  if (l == h->count - 1) return h->coarse.inverse ? *visits * 8 * n * n : 0;
  const int64_t a = bsi_bcsr_product_bytes(bsi_cycle_matrix(level)), corrections = *visits;
  const bool twice = bsi_level_corrects_twice(h, l);
  if (twice) *visits *= 2;
  return *visits *
             (smoothing_bytes(h, level) + a +
              transfer_bytes(level, bsi_cycle_restriction(level), level->fp32.restriction) +
              transfer_bytes(level, bsi_cycle_prolongation(level), level->fp32.prolongation)) +
         (twice ? corrections * a : 0);
}

int64_t bsi_hierarchy_cycle_bytes(const bsi_hierarchy *h) {
  int64_t bytes = 0, visits = 1;
  for (int l = 0; l < h->count; l++) bytes += bsi_level_cycle_bytes(h, l, &visits);
  return bytes;
}
