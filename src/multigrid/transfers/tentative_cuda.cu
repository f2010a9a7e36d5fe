/* SPDX-License-Identifier: BSD-3-Clause */
/* Transfers between levels on a device. Smoothing takes a column of a block of P in each lane, or a
 * row of a block of R, and works in place. */
#include "core/block/block_sizes.h"
#include "gpu/sort.cuh"
#include "multigrid/spgemm/rows_cuda.cuh"
#include "multigrid/transfers/transfer_ops.h"

namespace {

/* Messages of failures begin with it. */
constexpr char what[] = "transfer between levels";

/* --- transposes --- */

struct entries {
  int32_t rows, blocks;
  const int32_t *row_ptr;
  /* the position of each entry, and its row */
  int32_t *index, *row;
};

__global__ void __launch_bounds__(BLOCK_THREADS) name_entries(const entries e) {
  bsi_wait_for_predecessor();
  const lanes_of_blocks l = block_of_lane(e.rows, e.row_ptr, e.blocks, 1);
  if (l.position < 0 || !l.working) return;
  e.index[l.position] = l.position;
  e.row[l.position] = l.row;
}

} // namespace

/* Makes row_ptr of T, and finds its number of blocks unless it is known. */
static bisai_status count_members(bisai_context *context, const int32_t *aggregate, int32_t members,
                                  bsi_block_matrix *t) {
  bsi_structure_report report;
  bsi_lengths lengths;
  bsi_temporary memory(context);
  BSI_TRY(bsi_lengths_reserve(&memory, t->rows, &lengths));
  BSI_TRY(bsi_record_begin<bsi_structure_report>(context, what));
  int64_t *of_rows = lengths.of_rows;
  BSI_TRY(bsi_for_each(context, what, t->rows,
                       [=] __device__(int64_t i) { of_rows[i] = aggregate[i] >= 0; }));
  BSI_TRY(bsi_lengths_add(context, &lengths, t->row_ptr));
  if (members >= 0) return BISAI_OK;
  BSI_TRY(bsi_lengths_fetch(context, "a list of aggregates", INT64_MAX, &report));
  t->blocks = static_cast<int32_t>(report.total);
  return BISAI_OK;
}

/* Makes T if every row is in an aggregate. */
static bisai_status list_all(bisai_context *context, const int32_t *aggregate,
                             const bsi_block_matrix *t) {
  const int32_t rows = t->rows;
  int32_t *row_ptr = t->row_ptr, *col_idx = t->col_idx;
  return bsi_for_each(context, what, rows + 1ll, [=] __device__(int64_t i) {
    row_ptr[i] = static_cast<int32_t>(i);
    if (i < rows) col_idx[i] = aggregate[i];
  });
}

static bisai_status list(bisai_context *context, const int32_t *aggregate, int32_t members,
                         bsi_block_matrix *t) {
  const bool all = members == t->rows;
  t->blocks = members;
  t->row_ptr = bsi_reserve_indices(context, static_cast<size_t>(t->rows) + 1);
  if (!t->row_ptr) return BISAI_OUT_OF_MEMORY;
  if (!all) BSI_TRY(count_members(context, aggregate, members, t));
  t->col_idx = bsi_reserve_indices(context, static_cast<size_t>(t->blocks));
  if (!t->col_idx) return BISAI_OUT_OF_MEMORY;
  if (all) return list_all(context, aggregate, t);
  const int32_t *row_ptr = t->row_ptr;
  int32_t *col_idx = t->col_idx;
  return bsi_for_each(context, what, t->rows, [=] __device__(int64_t i) {
    if (aggregate[i] >= 0) col_idx[row_ptr[i]] = aggregate[i];
  });
}

static bisai_status transpose(bisai_context *context, const bsi_block_matrix *m,
                              bsi_block_matrix *transposed, int32_t *position) {
  const int32_t rows = m->cols, blocks = m->blocks;
  const int bits = bsi_bits_below(rows + 1);
  bsi_temporary memory(context);
  size_t bytes = 0;
  transposed->rows = m->cols;
  transposed->cols = m->rows;
  transposed->height = m->width;
  transposed->width = m->height;
  transposed->blocks = blocks;
  if (blocks == 0)
    return bsi_gpu_fill(context, what, transposed->row_ptr, 0,
                        (static_cast<size_t>(rows) + 1) * sizeof *transposed->row_ptr);
  int32_t *index = memory.reserve<int32_t>(3 * static_cast<size_t>(blocks));
  int32_t *row = index + blocks, *sorted = row + blocks;
  BSI_TRY(bsi_gpu_sort_pairs(context, what, nullptr, &bytes, m->col_idx, sorted, index, position,
                             blocks, bits));
  char *room = memory.reserve<char>(bytes);
  if (!memory.complete) return BISAI_OUT_OF_MEMORY;
  bsi_launch_early(context, name_entries, grid_of_blocks(blocks, 1), BLOCK_THREADS, 0,
                   entries{m->rows, blocks, m->row_ptr, index, row});
  BSI_TRY(bsi_launched(context, what));
  BSI_TRY(bsi_gpu_sort_pairs(context, what, room, &bytes, m->col_idx, sorted, index, position,
                             blocks, bits));
  int32_t *row_ptr = transposed->row_ptr, *col_idx = transposed->col_idx;
  const int64_t most = rows + 1ll > blocks ? rows + 1ll : blocks;
  return bsi_for_each(context, what, most, [=] __device__(int64_t k) {
    if (k < blocks) col_idx[k] = row[position[k]];
    if (k <= rows) row_ptr[k] = bsi_lower_bound(sorted, 0, blocks, static_cast<int32_t>(k));
  });
}

static bisai_status transpose_values(bisai_context *context, const bsi_block_matrix *m,
                                     const int32_t *position, bsi_block_matrix *transposed) {
  const int h = m->height, w = m->width, values = h * w;
  const double *from = m->values;
  double *to = transposed->values;
  /* each thread moves one value, so that neighbours write neighbours */
  return bsi_for_each(
      context, what, static_cast<int64_t>(m->blocks) * values, [=] __device__(int64_t k) {
        /* dividing 32 bits takes a fraction of the time */
        const int64_t q =
            k >> 32 == 0 ? static_cast<uint32_t>(k) / static_cast<uint32_t>(values) : k / values;
        const int v = static_cast<int>(k - q * values), r = v / w, c = v - r * w;
        to[k] = from[static_cast<int64_t>(__ldg(position + q)) * values + c * h + r];
      });
}

static bisai_status complete(bisai_context *context, bisai_bcsr *a) {
  const int bs = a->block_size;
  const int32_t *row_ptr = a->row_ptr, *col_idx = a->col_idx;
  double *values = static_cast<double *>(a->values);
  return bsi_for_each(
      context, what, static_cast<int64_t>(a->block_rows) * bs, [=] __device__(int64_t row) {
        const int32_t i = static_cast<int32_t>(row / bs);
        const int r = static_cast<int>(row % bs);
        const int64_t end = static_cast<int64_t>(row_ptr[i + 1]) * bs;
        for (int64_t c = static_cast<int64_t>(row_ptr[i]) * bs; c < end; c++)
          if (values[c * bs + r] != 0.0) return;
        values[(static_cast<int64_t>(bsi_find_diagonal(row_ptr, col_idx, i)) * bs + r) * bs + r] =
            1.0;
      });
}

static bisai_status load(bisai_context *context) { return bsi_gpu_load(context, name_entries); }

const bsi_transfer_ops bsi_transfer_cuda = {.list = list,
                                            .transpose = transpose,
                                            .transpose_values = transpose_values,
                                            .orthonormalise = bsi_orthonormalise,
                                            .complete = complete,
                                            .scale_rows = bsi_scale_rows_cuda,
                                            .structures = bsi_transfer_structures_cuda,
                                            .load = load};
