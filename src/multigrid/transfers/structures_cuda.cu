/* SPDX-License-Identifier: BSD-3-Clause */
/* The structures of P, R, A P and R A P on a device, with one wait of the host for their sizes.
 *
 * P and R = Tᵀ A have no more blocks than A, and A P has a limit. So there is room for them before
 * their sizes are known, and R A P can be counted at once. Then their columns move to arrays of the
 * right size. Sizes that kernels are chosen by are guesses until then. */
#include <algorithm>
#include <cmath>

#include "multigrid/level/multigrid_ops.h"
#include "multigrid/spgemm/rows_cuda.cuh"
#include "multigrid/transfers/transfer_ops.h"

namespace {

/* Messages of failures begin with it. */
constexpr char what[] = "structures of transfers";

/* The reports; that of R = Pᵀ stays empty. */
enum { PROLONGATION, RESTRICTION, PRODUCT, REPORTS };
static_assert(static_cast<int>(REPORTS) == static_cast<int>(bsi_enqueued::MOST), "one of each");

/* What is to become an array of the right size. */
struct cut {
  int32_t *from, *to;
  int64_t count;
};

/* The blocks that there is room for. */
struct rooms {
  int32_t transfer, product;
};

rooms rooms_of(const bsi_structures &s) {
  return {s.a->blocks, static_cast<int32_t>(std::min<int64_t>(s.most_product, INT32_MAX))};
}

/* Blocks of R = Pᵀ behind the last one of P have a column behind the last one. */
bisai_status mark_room(bisai_context *context, int32_t room, const bsi_block_matrix *p) {
  int32_t *col_idx = p->col_idx;
  const int32_t *end = p->row_ptr + p->rows, none = p->cols;
  return bsi_for_each(context, what, room, [=] __device__(int64_t k) {
    if (k >= *end) col_idx[k] = none;
  });
}

bisai_status enqueue_restriction(bisai_context *context, const bsi_structures &s, int32_t room,
                                 bsi_structure_report *reports) {
  bsi_block_matrix *r = s.restriction;
  if (s.transposed)
    return bsi_enqueue_structure(context, s.transposed, s.a, room, reports + RESTRICTION, r);
  bsi_block_matrix p = *s.prolongation;
  p.blocks = room;
  r->row_ptr = bsi_reserve_indices(context, static_cast<size_t>(p.cols) + 1);
  r->col_idx = bsi_reserve_indices(context, static_cast<size_t>(room));
  *s.position = bsi_reserve_indices(context, static_cast<size_t>(room));
  if (!r->row_ptr || !r->col_idx || !*s.position) return BISAI_OUT_OF_MEMORY;
  BSI_TRY(mark_room(context, room, &p));
  return context->backend->multigrid->transfer->transpose(context, &p, r, *s.position);
}

/* Enqueues P, R and A P. A row of a mesh touches aggregates of three rows in each direction: P has
 * about the root of the blocks of A in a row, and A P as many blocks as A. */
bisai_status enqueue(bisai_context *context, const bsi_structures &s,
                     bsi_structure_report *reports) {
  const rooms room = rooms_of(s);
  const double rows = s.a->rows, guess = std::sqrt(rows * s.a->blocks);
  BSI_TRY(bsi_enqueue_structure(context, s.left, s.right, room.transfer, reports + PROLONGATION,
                                s.prolongation));
  s.prolongation->blocks = static_cast<int32_t>(guess);
  BSI_TRY(enqueue_restriction(context, s, room.transfer, reports));
  s.restriction->blocks = s.prolongation->blocks;
  BSI_TRY(bsi_enqueue_structure(context, s.a, s.prolongation, room.product, reports + PRODUCT,
                                s.product));
  s.product->blocks = s.a->blocks;
  return BISAI_OK;
}

void release(bisai_context *context, const bsi_structures &s) {
  for (bsi_block_matrix *m : {s.prolongation, s.restriction, s.product, s.coarse})
    bsi_block_matrix_destroy(context, m);
  context->backend->memory->release(context, *s.position);
  *s.position = nullptr;
}

void take(const bsi_structure_report &report, bsi_block_matrix *m) {
  m->blocks = static_cast<int32_t>(report.total);
  m->slots.longest = static_cast<int32_t>(report.longest);
}

/* Sets the numbers of the structures. */
void take_all(const bsi_structures &s, const bsi_structure_report *reports) {
  take(reports[PROLONGATION], s.prolongation);
  take(reports[PRODUCT], s.product);
  if (s.transposed)
    take(reports[RESTRICTION], s.restriction);
  else
    s.restriction->blocks = s.prolongation->blocks;
}

/* Moves the columns, and the places in P, to arrays of the right size. */
bisai_status cut_rooms(bisai_context *context, const bsi_structures &s) {
  const bsi_block_matrix *const of[] = {s.prolongation, s.restriction, s.product, s.restriction};
  int32_t **const arrays[] = {&s.prolongation->col_idx, &s.restriction->col_idx,
                              &s.product->col_idx, s.position};
  cut cuts[4] = {};
  const int count = s.transposed ? 3 : 4;
  int64_t most = 0;
  bool complete = true;
  for (int k = 0; k < count; k++) {
    cuts[k] = {*arrays[k], bsi_reserve_indices(context, static_cast<size_t>(of[k]->blocks)),
               of[k]->blocks};
    *arrays[k] = cuts[k].to;
    complete = complete && cuts[k].to;
    most = std::max(most, cuts[k].count);
  }
  const cut a = cuts[0], b = cuts[1], c = cuts[2], d = cuts[3];
  bisai_status status = BISAI_OUT_OF_MEMORY;
  if (complete)
    status = bsi_for_each(context, what, most, [=] __device__(int64_t k) {
      if (k < a.count) a.to[k] = a.from[k];
      if (k < b.count) b.to[k] = b.from[k];
      if (k < c.count) c.to[k] = c.from[k];
      if (k < d.count) d.to[k] = d.from[k];
    });
  for (const cut &one : cuts) context->backend->memory->release(context, one.from);
  return status;
}

/* Counts all products. s.coarse has no row_ptr if one of them is not whole. */
bisai_status count(bisai_context *context, const bsi_structures &s, bsi_enqueued *factors) {
  bsi_temporary memory(context);
  const rooms room = rooms_of(s);
  bsi_structure_report *reports = memory.reserve<bsi_structure_report>(REPORTS);
  if (!reports) return BISAI_OUT_OF_MEMORY;
  *factors = {REPORTS, reports, {}, {room.transfer, room.transfer, room.product}};
  static_assert(bsi_structure_report::firsts == 0, "all words begin as zero");
  BSI_TRY(bsi_gpu_set_words(context, what, reports, 0,
                            sizeof factors->here / sizeof(unsigned long long)));
  BSI_TRY(enqueue(context, s, reports));
  return bsi_multiply_enqueued(context, s.restriction, s.product, s.most_coarse, factors, s.coarse);
}

} // namespace

bisai_status bsi_transfer_structures_cuda(bisai_context *context, const bsi_structures *s,
                                          bool *made) {
  bsi_enqueued factors;
  const bisai_status status = count(context, *s, &factors);
  *made = !status && s->coarse->row_ptr;
  if (!*made) {
    if (!status) release(context, *s);
    return status;
  }
  take_all(*s, factors.here);
  return cut_rooms(context, *s);
}
