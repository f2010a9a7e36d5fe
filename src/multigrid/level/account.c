/* SPDX-License-Identifier: BSD-3-Clause */
/* The account of a hierarchy: the bytes of all arrays of its levels, and how often a cycle reads
 * them. */
#include "multigrid/level/account.h"

#include "multigrid/level/records.h"
#include "multigrid/level/smoother.h"
#include "multigrid/level/work_vectors.h"

/* --- bytes --- */

static int64_t indices_of(const bsi_block_matrix *m) {
  return m->row_ptr ? 4 * ((int64_t)m->rows + 1 + m->blocks) : 0;
}

static int64_t values_of(const bsi_block_matrix *m) {
  return m->values ? 8 * (int64_t)bsi_block_matrix_offset(m, m->blocks) : 0;
}

/* A of level 0 counts if it is a scalar copy, and not if it is the caller's. */
static void count_matrix(const bsi_hierarchy *h, const bsi_level *level, int64_t *bytes) {
  const bisai_bcsr *own = level == h->levels ? h->scalar_copy : level->own;
  if (!own) return;
  const int64_t values = own->owns_values ? 8 * (int64_t)bsi_block_offset(own, own->blocks) : 0;
  bytes[BISAI_MULTIGRID_PART_MATRIX] += values;
  bytes[BISAI_MULTIGRID_PART_MATRIX_INDICES] += bsi_bcsr_memory(own) - values;
}

static void count_copies(const bsi_level *level, int64_t *bytes) {
  const bsi_level_fp32 *c = &level->fp32;
  if (c->matrix) bytes[BISAI_MULTIGRID_PART_MATRIX_FP32] += bsi_bcsr_memory(c->matrix);
  if (c->prolongation)
    bytes[BISAI_MULTIGRID_PART_TRANSFERS_FP32] += bsi_bcsr_memory(c->prolongation);
  if (c->restriction) bytes[BISAI_MULTIGRID_PART_TRANSFERS_FP32] += bsi_bcsr_memory(c->restriction);
  const bsi_block_matrix *p = bsi_prolongation_of(level), *r = bsi_restriction_of(level);
  if (c->prolongation_values)
    bytes[BISAI_MULTIGRID_PART_TRANSFERS_FP32] +=
        4 * (int64_t)bsi_block_matrix_offset(p, p->blocks);
  if (c->restriction_values)
    bytes[BISAI_MULTIGRID_PART_TRANSFERS_FP32] +=
        4 * (int64_t)bsi_block_matrix_offset(r, r->blocks);
}

static void count_transfers(const bsi_level *level, int64_t *bytes) {
  const bsi_level_transfers *t = &level->transfers;
  bytes[BISAI_MULTIGRID_PART_TRANSFER_INDICES] +=
      indices_of(&t->prolongation) + indices_of(&t->restriction);
  bytes[BISAI_MULTIGRID_PART_TRANSFERS] += values_of(&t->prolongation) + values_of(&t->restriction);
  bytes[BISAI_MULTIGRID_PART_TENTATIVE] += indices_of(&t->tentative) + values_of(&t->tentative) +
                                           indices_of(&t->tentative_transposed) +
                                           values_of(&t->tentative_transposed);
  if (t->tentative_position) bytes[BISAI_MULTIGRID_PART_PLACES] += 4 * (int64_t)t->tentative.blocks;
  if (t->prolongation_position)
    bytes[BISAI_MULTIGRID_PART_PLACES] += 4 * (int64_t)t->prolongation.blocks;
  if (t->filtered) bytes[BISAI_MULTIGRID_PART_FILTER] += 4 * (int64_t)level->matrix->blocks;
  if (t->weak) bytes[BISAI_MULTIGRID_PART_FILTER] += level->matrix->blocks;
  bytes[BISAI_MULTIGRID_PART_FILTER] += indices_of(&t->identity);
  bytes[BISAI_MULTIGRID_PART_PRODUCT] += indices_of(&t->product) + values_of(&t->product);
  bytes[BISAI_MULTIGRID_PART_SLOTS] +=
      bsi_product_slots_memory(&t->product) + bsi_product_slots_memory(&t->prolongation) +
      bsi_product_slots_memory(&t->restriction) + bsi_product_slots_memory(&t->coarse);
}

static void count_diagonal(const bsi_level *level, int64_t *bytes) {
  const bsi_level_diagonal *d = &level->diagonal;
  const bisai_bcsr *a = level->matrix;
  if (d->inverse) bytes[BISAI_MULTIGRID_PART_DIAGONAL] += 8 * bsi_level_diagonal_values(level);
  if (level->fp32.inverse)
    bytes[BISAI_MULTIGRID_PART_DIAGONAL] += 4 * bsi_level_diagonal_values(level);
  if (d->position) bytes[BISAI_MULTIGRID_PART_PLACES] += 4 * (int64_t)a->block_rows;
  if (d->null_marks)
    bytes[BISAI_MULTIGRID_PART_RECORDS] += 8 * bsi_level_rows(level) * (1 + a->block_size);
}

static void count_coarsest(const bsi_hierarchy *h, int64_t *bytes) {
  const bsi_coarse_solver *c = &h->coarse;
  const int64_t n = bsi_level_rows(bsi_coarsest_of(h));
  if (c->inverse) bytes[BISAI_MULTIGRID_PART_COARSEST] += 8 * n * n;
  if (c->work) bytes[BISAI_MULTIGRID_PART_RECORDS] += 8 * n * n;
  if (c->null_marks) bytes[BISAI_MULTIGRID_PART_RECORDS] += 8 * n;
  if (c->room) bytes[BISAI_MULTIGRID_PART_RECORDS] += 8 * c->room_values;
}

static void count_bytes(const bsi_hierarchy *h, const bsi_level *level, int64_t *bytes) {
  const bsi_smoother *s = level->smoother.ops;
  count_matrix(h, level, bytes);
  count_copies(level, bytes);
  count_transfers(level, bytes);
  count_diagonal(level, bytes);
  bytes[BISAI_MULTIGRID_PART_VECTORS] = bsi_level_work_memory(level);
  if (s && s->memory) bytes[BISAI_MULTIGRID_PART_SMOOTHER] = s->memory(level);
  if (level == bsi_coarsest_of(h)) count_coarsest(h, bytes);
  if (bsi_level_number(h, level) == h->graph.level)
    bytes[BISAI_MULTIGRID_PART_GRAPH] = 2 * (int64_t)sizeof(bsi_operation) * h->graph.capacity;
  if (level > h->levels) return;
  bytes[BISAI_MULTIGRID_PART_RECORDS] += bsi_records_memory(h);
  if (h->lanczos.work) bytes[BISAI_MULTIGRID_PART_RECORDS] += 8 * h->lanczos.values;
}

/* --- reads --- */

/* Returns how often a cycle visits level l. *products ← its products with A: those of smoothings,
 * residuals, and one to correct a second time. */
static int64_t visits_of(const bsi_hierarchy *h, int l, int64_t *products) {
  int64_t visits = 1, corrections = 1;
  for (int k = 0; k <= l; k++) {
    corrections = visits;
    if (bsi_level_corrects_twice(h, k)) visits *= 2;
  }
  const bsi_level *level = &h->levels[l];
  const bisai_multigrid_options *o = &h->setup.options;
  const int64_t steps = bsi_smoother_degree(h, level) * (o->pre + o->post);
  *products = visits * (steps + (o->pre > 0 ? 0 : 1)) + (visits > corrections ? corrections : 0);
  return visits;
}

/* What a cycle does not read, or reads for less than a product, stays 0. */
static void count_reads(const bsi_hierarchy *h, int l, const int64_t *bytes, int64_t *reads) {
  const bsi_level *level = &h->levels[l];
  const bool last = l == h->count - 1, narrow = level->fp32.in_use;
  int64_t products = 0;
  const int64_t visits = visits_of(h, l, &products);
  reads[BISAI_MULTIGRID_PART_COARSEST] = last ? visits : 0;
  if (last && h->coarse.inverse) products = 0;
  reads[BISAI_MULTIGRID_PART_MATRIX_INDICES] = products;
  reads[narrow ? BISAI_MULTIGRID_PART_MATRIX_FP32 : BISAI_MULTIGRID_PART_MATRIX] = products;
  reads[BISAI_MULTIGRID_PART_DIAGONAL] = products;
  reads[BISAI_MULTIGRID_PART_SMOOTHER] = products;
  reads[BISAI_MULTIGRID_PART_VECTORS] = visits;
  reads[BISAI_MULTIGRID_PART_GRAPH] = 1;
  if (!last) {
    const bool smoothed = level->transfers.prolongation.row_ptr;
    reads[BISAI_MULTIGRID_PART_TRANSFER_INDICES] = visits;
    const bool copied = narrow && (level->fp32.prolongation || level->fp32.prolongation_values);
    reads[copied ? BISAI_MULTIGRID_PART_TRANSFERS_FP32 : BISAI_MULTIGRID_PART_TRANSFERS] = visits;
    if (!smoothed || !level->transfers.restriction.row_ptr)
      reads[BISAI_MULTIGRID_PART_TENTATIVE] = visits;
  }
  for (int part = 0; part < BISAI_MULTIGRID_PARTS; part++)
    if (bytes[part] == 0) reads[part] = 0;
}

void bsi_level_account(const bsi_hierarchy *h, int l, bisai_multigrid_memory *memory) {
  *memory = (bisai_multigrid_memory){.bytes = {0}};
  count_bytes(h, &h->levels[l], memory->bytes);
  count_reads(h, l, memory->bytes, memory->reads);
}
