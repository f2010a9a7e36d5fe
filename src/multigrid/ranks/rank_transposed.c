/* SPDX-License-Identifier: BSD-3-Clause */
/* The own rows of a transpose are the first ones of the transpose of the own rows with those of
 * ghosts, if all rows with blocks in own columns are own ones or ghosts. */
#include "multigrid/ranks/rank_transposed.h"

#include "core/context/context_impl.h"
#include "multigrid/cycle/cycle_ops.h"
#include "multigrid/halo/agreement.h"
#include "multigrid/halo/told_rows.h"
#include "multigrid/hierarchy.h"
#include "multigrid/level/memory.h"
#include "multigrid/level/work_vectors.h"
#include "multigrid/ranks/rank_splits.h"
#include "multigrid/transfers/tentative.h"
#include "multigrid/transfers/transfer_ops.h"
#include "multigrid/transposed.h"

static bisai_status agree(const bsi_rank_hierarchy *r, bisai_status status) {
  return bsi_agree(r->h.context, &r->transport, status);
}

/* --- the transpose of a matrix over all ranks --- */

/* The own rows of a matrix M. Cycles read the values in fp32 if there are any. */
typedef struct own_rows {
  bsi_block_matrix m;
  const float *narrow;
  /* for rows and columns: with which ranks they are exchanged, and the numbers of the columns */
  bsi_halo *rows;
  const bsi_halo *columns;
  const bsi_numbering *numbers;
} own_rows;

typedef struct transposition {
  /* M with the rows of ghosts, whose columns are those of `numbers` */
  bsi_block_matrix with;
  bsi_numbering numbers;
  bsi_ghost_rows ghosts;
  bsi_ghost_room room;
  int32_t *position;
} transposition;

static void release(const bsi_hierarchy *h, const own_rows *own, transposition *t) {
  bsi_ghost_rows_destroy(&t->ghosts);
  bsi_ghost_room_destroy(h->context, own->rows->transport, &t->room);
  bsi_block_matrix_destroy(h->context, &t->with);
  if (t->numbers.context) bsi_numbering_release(&t->numbers);
  h->context->backend->memory->release(h->context, t->position);
}

static bisai_status copy_structure(const bsi_hierarchy *h, const bsi_block_matrix *m,
                                   bsi_block_matrix *copy) {
  const bsi_memory_ops *memory = h->context->backend->memory;
  const size_t rows = (size_t)m->rows + 1, blocks = (size_t)m->blocks, size = sizeof *m->row_ptr;
  *copy = (bsi_block_matrix){.rows = m->rows,
                             .cols = m->cols,
                             .height = m->height,
                             .width = m->width,
                             .blocks = m->blocks,
                             .multiples = m->multiples};
  copy->row_ptr = bsi_hierarchy_reserve(h, (int64_t)rows, size);
  copy->col_idx = bsi_hierarchy_reserve(h, m->blocks, size);
  if (!copy->row_ptr || !copy->col_idx) return BISAI_OUT_OF_MEMORY;
  BSI_TRY(memory->copy(h->context, copy->row_ptr, m->row_ptr, rows * size));
  return blocks > 0 ? memory->copy(h->context, copy->col_idx, m->col_idx, blocks * size) : BISAI_OK;
}

static bool is_valued(const own_rows *own) { return own->m.values || own->narrow; }

static bisai_status begin(const bsi_hierarchy *h, const own_rows *own, transposition *t) {
  BSI_TRY(bsi_numbering_copy(own->numbers, &t->numbers));
  BSI_TRY(copy_structure(h, &own->m, &t->with));
  return bsi_ghost_rows_begin(own->rows, &t->room, &t->numbers, &t->with, !is_valued(own),
                              &t->ghosts);
}

/* The values of the own rows. */
static bisai_status take_values(const bsi_hierarchy *h, const own_rows *own, transposition *t) {
  const int64_t count = (int64_t)bsi_block_matrix_offset(&own->m, own->m.blocks);
  if (!is_valued(own)) return BISAI_OK;
  BSI_TRY(bsi_block_matrix_reserve_values(h->context, &t->with));
  if (count == 0) return BISAI_OK;
  if (own->narrow)
    return bsi_ops_of(h)->fp32_copy->widen(h->context, count, own->narrow, t->with.values);
  return h->context->backend->memory->copy(h->context, t->with.values, own->m.values,
                                           (size_t)count * sizeof(double));
}

/* The structure of the own rows of Mᵀ. */
static bisai_status transpose_structure(bsi_hierarchy *h, const own_rows *own, transposition *t,
                                        bsi_block_matrix *transposed) {
  BSI_TRY(bsi_transpose_create(h, &t->with, transposed, &t->position));
  transposed->rows = own->columns->rows;
  transposed->multiples = t->with.multiples;
  return h->context->backend->memory->fetch(h->context, &transposed->blocks,
                                            transposed->row_ptr + transposed->rows,
                                            sizeof transposed->blocks);
}

/* The values of the first blocks of a transpose are those of a matrix with as many blocks. */
static bisai_status transpose_values(const bsi_hierarchy *h, const transposition *t,
                                     bsi_block_matrix *transposed) {
  bsi_block_matrix m = t->with;
  m.blocks = transposed->blocks;
  if (!m.values) return BISAI_OK;
  return bsi_ops_of(h)->transfer->transpose_values(h->context, &m, t->position, transposed);
}

/* Makes the own rows of Mᵀ, as a matrix with columns of ghosts if `matrix` is not NULL. */
static bisai_status end(bsi_hierarchy *h, const own_rows *own, transposition *t,
                        bsi_block_matrix *transposed, bisai_bcsr **matrix) {
  bisai_status status = transpose_structure(h, own, t, transposed);
  if (!status && matrix) {
    status = bsi_block_matrix_adopt(h->context, transposed, matrix);
    *transposed = status ? (bsi_block_matrix){0} : bsi_block_matrix_of(*matrix);
  } else if (!status && t->with.values) {
    status = bsi_block_matrix_reserve_values(h->context, transposed);
  }
  if (!status) return transpose_values(h, t, transposed);
  bsi_block_matrix_destroy(h->context, transposed);
  return status;
}

/* *transposed ← the own rows of Mᵀ, which *matrix owns if `matrix` is not NULL. */
static bisai_status transpose(const bsi_rank_hierarchy *r, bsi_hierarchy *h, const own_rows *own,
                              bsi_block_matrix *transposed, bisai_bcsr **matrix) {
  transposition t = {.position = NULL};
  bisai_status alone = BISAI_OK, status = agree(r, begin(h, own, &t));
  if (!status) status = bsi_ghost_rows_append(&t.ghosts, &t.numbers, &t.with, NULL, &alone);
  if (!status) status = agree(r, alone ? alone : take_values(h, own, &t));
  if (!status) status = bsi_ghost_rows_update(&t.ghosts, &t.with);
  if (!status) status = agree(r, end(h, own, &t, transposed, matrix));
  release(h, own, &t);
  return status;
}

/* --- ghosts --- */

/* Adds the rows of other ranks that have blocks in own columns, for a matrix whose first own row
 * has the number `first` among all. */
static bisai_status add_rows(bsi_halo *columns, const bsi_block_matrix *m, int64_t first,
                             bsi_numbering *numbers) {
  bisai_context *context = columns->context;
  const bsi_memory_ops *memory = context->backend->memory;
  const size_t rows = (size_t)m->rows + 1, blocks = (size_t)m->blocks, size = sizeof(int32_t);
  int32_t *row_ptr = bsi_allocate(context, rows, size),
          *col_idx = bsi_allocate(context, blocks, size);
  bisai_status status = row_ptr && col_idx ? BISAI_OK : BISAI_OUT_OF_MEMORY;
  if (!status) status = memory->fetch(context, row_ptr, m->row_ptr, rows * size);
  if (!status && blocks > 0) status = memory->fetch(context, col_idx, m->col_idx, blocks * size);
  const bsi_told_rows told = {.rows = m->rows, .first = first, .structure = {row_ptr, col_idx}};
  status = bsi_told_rows_find(columns, status, &told, numbers);
  bsi_release(context, row_ptr);
  bsi_release(context, col_idx);
  return status;
}

/* numbers ← the ghosts of level l, rows with blocks in own columns of A, and those with blocks in
 * own columns of R of the level above. P has no others than A. */
static bisai_status find_ghosts(bsi_rank_hierarchy *r, int l, bsi_numbering *numbers) {
  bsi_rank_level *rank = &r->levels[l];
  const int64_t first = rank->begins[r->transport.rank];
  const bsi_block_matrix a = bsi_block_matrix_of(r->h.levels[l].matrix);
  BSI_TRY(agree(r, bsi_numbering_copy(&rank->columns, numbers)));
  BSI_TRY(add_rows(&rank->halo, &a, first, numbers));
  return l == 0 ? BISAI_OK
                : add_rows(&r->levels[l - 1].halo, bsi_restriction_of(&r->h.levels[l - 1]), first,
                           numbers);
}

static bisai_status connect(bsi_rank_hierarchy *r, int l, bsi_numbering *numbers, bsi_halo *halo) {
  BSI_TRY(find_ghosts(r, l, numbers));
  return bsi_halo_create(r->h.context, &r->transport, r->levels[l].begins, numbers->ghosts,
                         numbers->ghost, r->h.levels[l].matrix->block_size, halo);
}

/* --- levels --- */

/* P of a level without the rows of ghosts, which T has. */
static bsi_block_matrix own_prolongation(const bsi_rank_hierarchy *r, int l) {
  const bsi_level_transfers *t = &r->h.levels[l].transfers;
  return t->prolongation.row_ptr ? t->prolongation
                                 : bsi_own_rows_of(&r->levels[l].of_tentative, &t->tentative);
}

/* `numbers` are those of level l and of the next one. */
static bisai_status transpose_transfers(bsi_rank_hierarchy *r, int l, const bsi_numbering *numbers,
                                        bsi_rank_transposed *t) {
  const bsi_level *from = &r->h.levels[l];
  const own_rows restriction = {.m = *bsi_restriction_of(from),
                                .narrow = bsi_narrow_restriction(from),
                                .rows = &t->halos[l + 1],
                                .columns = &t->halos[l],
                                .numbers = &numbers[0]},
                 prolongation = {.m = own_prolongation(r, l),
                                 .narrow = bsi_narrow_prolongation(from),
                                 .rows = &t->halos[l],
                                 .columns = &t->halos[l + 1],
                                 .numbers = &numbers[1]};
  bsi_level_transfers *to = &t->h.levels[l].transfers;
  BSI_TRY(transpose(r, &t->h, &restriction, &to->prolongation, NULL));
  return transpose(r, &t->h, &prolongation, &to->restriction, NULL);
}

static bisai_status transpose_matrix(bsi_rank_hierarchy *r, int l, const bsi_numbering *numbers,
                                     bsi_rank_transposed *t) {
  const bsi_level *from = &r->h.levels[l];
  const own_rows a = {.m = bsi_block_matrix_of(from->matrix),
                      .narrow = from->fp32.in_use ? from->fp32.matrix->values : NULL,
                      .rows = &t->halos[l],
                      .columns = &t->halos[l],
                      .numbers = numbers};
  bsi_block_matrix transposed = {0};
  bsi_level *level = &t->h.levels[l];
  BSI_TRY(transpose(r, &t->h, &a, &transposed, &level->own));
  level->matrix = level->own;
  return BISAI_OK;
}

static bisai_status complete_level(bsi_hierarchy *h, const bsi_level *from, bsi_level *level) {
  BSI_TRY(bsi_level_reserve_work(h, level));
  return bsi_level_transpose_smoother(h, from, level);
}

/* Makes level l without its transfers, and numbers its columns. */
static bisai_status make_level(bsi_rank_hierarchy *r, int l, bsi_numbering *numbers,
                               bsi_rank_transposed *t) {
  const bsi_level *from = &r->h.levels[l];
  bsi_level *level = &t->h.levels[t->h.count++];
  *level = bsi_transposed_level_of(from);
  level->halo = &t->halos[l];
  BSI_TRY(connect(r, l, numbers, &t->halos[l]));
  BSI_TRY(transpose_matrix(r, l, numbers, t));
  return agree(r, complete_level(&t->h, from, level));
}

/* Makes what products overlap. The matrix that is gathered has no products. */
static bisai_status split_levels(bsi_rank_transposed *t) {
  const int products = t->h.count - (t->h.coarse.gathered.ops != NULL);
  for (int l = 0; l < products; l++) BSI_TRY(bsi_rank_splits_create(&t->h, l, &t->splits[l]));
  return BISAI_OK;
}

static bisai_status transpose_all(bsi_rank_hierarchy *r, bsi_rank_transposed *t) {
  bsi_numbering numbers[BISAI_MULTIGRID_LEVELS] = {0};
  bisai_status status = BISAI_OK;
  for (int l = 0; l < r->h.count && !status; l++) {
    status = make_level(r, l, &numbers[l], t);
    if (!status && l > 0) status = transpose_transfers(r, l - 1, &numbers[l - 1], t);
  }
  for (int l = 0; l < r->h.count; l++)
    if (numbers[l].context) bsi_numbering_release(&numbers[l]);
  return status;
}

static bisai_status make_levels(bsi_rank_hierarchy *r, bsi_rank_transposed *t) {
  BSI_TRY(transpose_all(r, t));
  if (r->h.coarse.gathered.ops) {
    BSI_TRY(bsi_gathered_transpose(&r->gathered));
    t->h.coarse.gathered = bsi_gathered_transposed_operator(&r->gathered);
  }
  return agree(r, split_levels(t));
}

bisai_status bsi_rank_transposed_create(bsi_rank_hierarchy *r, bsi_rank_transposed **transposed) {
  bsi_rank_transposed *t = bsi_allocate(r->h.context, 1, sizeof *t);
  bisai_status status = BISAI_OUT_OF_MEMORY;
  if (t) {
    *t = (bsi_rank_transposed){.h = bsi_transposed_hierarchy_of(&r->h)};
    status = BISAI_OK;
  }
  status = agree(r, status);
  if (!status && t) status = make_levels(r, t);
  if (status) {
    bsi_rank_transposed_destroy(&t);
    bsi_gathered_release_transposed(&r->gathered);
  }
  *transposed = t;
  return status;
}

int64_t bsi_rank_transposed_memory(const bsi_rank_transposed *t) {
  if (!t) return 0;
  int64_t bytes = (int64_t)sizeof *t + bsi_hierarchy_memory(&t->h);
  for (int l = 0; l < t->h.count; l++)
    bytes += bsi_halo_memory(&t->halos[l]) + bsi_rank_splits_memory(&t->splits[l]);
  return bytes;
}

int64_t bsi_rank_transposed_exchanges(const bsi_rank_transposed *t) {
  int64_t count = 0;
  for (int l = 0; t && l < t->h.count; l++) count += t->halos[l].exchanges;
  return count;
}

void bsi_rank_transposed_destroy(bsi_rank_transposed **transposed) {
  bsi_rank_transposed *t = *transposed;
  *transposed = NULL;
  if (!t) return;
  bisai_context *context = t->h.context;
  for (int l = 0; l < BISAI_MULTIGRID_LEVELS; l++) {
    bsi_rank_splits_destroy(context, &t->splits[l]);
    bsi_halo_destroy(&t->halos[l]);
  }
  bsi_hierarchy_destroy(context, &t->h);
  bsi_release(context, t);
}
