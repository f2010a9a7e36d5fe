/* SPDX-License-Identifier: BSD-3-Clause */
/* Blocks of scalar rows on the device: one thread for each block row merges its scalar rows, whose
 * columns ascend. */
#include "core/block/block_sizes.h"
#include "core/csr/device_csr.h"
#include "core/csr/node_map.h"
#include "core/matrix/bcsr_impl.h"
#include "core/matrix/matrix_ops.h"
#include "gpu/for_each.cuh"
#include "gpu/record.cuh"
#include "gpu/scan.cuh"
#include "gpu/temporary.cuh"

namespace {

constexpr char what[] = "blocks of scalar rows";

struct scalar_rows {
  int32_t rows, cols, block_size;
  const int32_t *row_ptr, *col_idx;
};

struct job {
  scalar_rows rows;
  /* COUNT: the blocks of each block row, and the first block row with a fault */
  int32_t *counts;
  unsigned long long *fault;
  /* otherwise: the blocks, and the map of the entries */
  const int32_t *row_ptr;
  int32_t *col_idx;
  bool wide;
  void *map;
};

__device__ __forceinline__ void set_place(const job &u, int32_t entry, uint64_t value) {
  if (u.wide)
    static_cast<uint64_t *>(u.map)[entry] = value;
  else
    static_cast<uint32_t *>(u.map)[entry] = static_cast<uint32_t>(value);
}

/* The entries of block row i.
 *   BS: the block size; 0: any */
template <int BS, bool COUNT>
__global__ void __launch_bounds__(BSI_FOR_EACH_THREADS) unite_rows(const job u) {
  constexpr int MOST = BS > 0 ? BS : BISAI_MAX_BLOCK_SIZE;
  const int bs = BS > 0 ? BS : u.rows.block_size;
  const int64_t i = blockIdx.x * static_cast<int64_t>(BSI_FOR_EACH_THREADS) + threadIdx.x;
  bsi_wait_for_predecessor();
  if (i >= u.rows.rows / bs) return;
  int32_t at[MOST], end[MOST], next[MOST]; /* of each scalar row: entries, and the next column */
  int32_t block = COUNT ? 0 : u.row_ptr[i];
  bool sound = true;
#pragma unroll
  for (int r = 0; r < MOST; r++) {
    if (r >= bs) break;
    at[r] = u.rows.row_ptr[i * bs + r];
    end[r] = u.rows.row_ptr[i * bs + r + 1];
    next[r] = at[r] < end[r] ? u.rows.col_idx[at[r]] : INT32_MAX;
  }
  for (;;) {
    int32_t first = INT32_MAX;
#pragma unroll
    for (int r = 0; r < MOST; r++)
      if (r < bs) first = min(first, next[r]);
    if (first == INT32_MAX) break;
    const int32_t j = first / bs, begin = j * bs;
    if (first < 0 || first >= u.rows.cols) {
      sound = false;
      break;
    }
#pragma unroll
    for (int r = 0; r < MOST; r++) {
      if (r >= bs) break;
      while (next[r] - begin < bs) {
        const int32_t column = next[r];
        if (!COUNT)
          set_place(u, at[r], (static_cast<uint64_t>(block) * bs + (column - begin)) * bs + r);
        next[r] = ++at[r] < end[r] ? u.rows.col_idx[at[r]] : INT32_MAX;
        sound = sound && next[r] > column;
        if (!sound) break;
      }
    }
    if (!sound) break;
    if (!COUNT) u.col_idx[block] = j;
    block++;
  }
  if (COUNT) u.counts[i] = block;
  if (COUNT && !sound) atomicMin(u.fault, static_cast<unsigned long long>(i));
}

template <bool COUNT> bisai_status enqueue(bisai_context *context, const job &u) {
  const unsigned grid = bsi_grid(u.rows.rows / u.rows.block_size, BSI_FOR_EACH_THREADS);
  switch (u.rows.block_size) {
#define CASE(BS)                                                                                   \
  case BS:                                                                                         \
    bsi_launch_early(context, unite_rows<BS, COUNT>, grid, BSI_FOR_EACH_THREADS, 0, u);            \
    return bsi_launched(context, what);
    BSI_BLOCK_SIZES(CASE)
#undef CASE
  }
  bsi_launch_early(context, unite_rows<0, COUNT>, grid, BSI_FOR_EACH_THREADS, 0, u);
  return bsi_launched(context, what);
}

/* *sound ← the row pointers begin with 0 and never decrease. */
bisai_status check_row_ptr(bisai_context *context, const scalar_rows &rows, bool *sound) {
  const int32_t *row_ptr = rows.row_ptr;
  bsi_first_record *record = bsi_record_of<bsi_first_record>(context), first;
  BSI_TRY(bsi_record_begin<bsi_first_record>(context, what));
  BSI_TRY(bsi_for_each(context, what, rows.rows, [=] __device__(int64_t i) {
    if (row_ptr[i + 1] < row_ptr[i] || (i == 0 && row_ptr[0] != 0))
      atomicMin(&record->index, static_cast<unsigned long long>(i));
  }));
  BSI_TRY(bsi_record_fetch(context, what, &first));
  *sound = first.index == BSI_NONE;
  return BISAI_OK;
}

/* row_ptr ← that of the blocks. *sound ← the row pointers are right, and the columns ascend. */
bisai_status count_blocks(bisai_context *context, const scalar_rows &rows, int32_t *row_ptr,
                          bool *sound) {
  const int32_t block_rows = rows.rows / rows.block_size;
  bsi_temporary room(context);
  size_t bytes = 0;
  bsi_first_record first;
  BSI_TRY(check_row_ptr(context, rows, sound));
  if (!*sound) return BISAI_OK;
  job u = {rows};
  BSI_TRY(bsi_gpu_exclusive_sum(context, what, nullptr, &bytes, u.counts, row_ptr, block_rows + 1));
  u.counts = room.reserve<int32_t>(static_cast<size_t>(block_rows) + 1);
  char *scanned = room.reserve<char>(bytes);
  if (!room.complete) return BISAI_OUT_OF_MEMORY;
  BSI_TRY(bsi_gpu_fill(context, what, u.counts + block_rows, 0, sizeof *u.counts));
  BSI_TRY(bsi_record_begin<bsi_first_record>(context, what));
  u.fault = &bsi_record_of<bsi_first_record>(context)->index;
  BSI_TRY(enqueue<true>(context, u));
  BSI_TRY(bsi_gpu_exclusive_sum(context, what, scanned, &bytes, u.counts, row_ptr, block_rows + 1));
  BSI_TRY(bsi_record_fetch(context, what, &first));
  *sound = first.index == BSI_NONE;
  return BISAI_OK;
}

/* Writes the structure of counted blocks, the map and the values. */
bisai_status fill(bisai_context *context, const scalar_rows &rows, int32_t entries,
                  const int32_t *row_ptr, const double *values, bisai_bcsr *a) {
  const bsi_backend *backend = context->backend;
  const size_t count = bsi_block_offset(a, a->blocks);
  bsi_entry_map *map = &a->kept.map;
  map->entries = entries;
  map->wide = count > UINT32_MAX;
  map->backend = backend->memory->allocate(context, static_cast<size_t>(entries),
                                           map->wide ? sizeof(uint64_t) : sizeof(uint32_t));
  if (!map->backend) return BISAI_OUT_OF_MEMORY;
  BSI_TRY(backend->memory->copy(context, a->row_ptr, row_ptr,
                                (static_cast<size_t>(a->block_rows) + 1) * sizeof *row_ptr));
  job u = {rows};
  u.row_ptr = a->row_ptr;
  u.col_idx = a->col_idx;
  u.wide = map->wide;
  u.map = map->backend;
  BSI_TRY(enqueue<false>(context, u));
  double *blocks = static_cast<double *>(a->values);
  BSI_TRY(backend->vectors->set(context, static_cast<int64_t>(count), 0.0, blocks));
  return backend->matrix->blocks->scatter_values(context, entries, map->wide, map->backend, values,
                                                 blocks);
}

/* Makes the matrix of counted blocks. */
bisai_status make(bisai_context *context, const scalar_rows &rows, const bsi_bcsr_sizes &sizes,
                  int32_t entries, const int32_t *row_ptr, const double *values,
                  bisai_bcsr **matrix) {
  bisai_bcsr *a = nullptr;
  bisai_status status = bsi_bcsr_reserve(context, &sizes, nullptr, nullptr, &a);
  if (status) return status;
  a->rows = rows.rows;
  a->kept.updated_only = true;
  status = fill(context, rows, entries, row_ptr, values, a);
  if (status)
    bisai_bcsr_destroy(&a);
  else
    *matrix = a;
  return status;
}

/* *entries ← their number. *sound ← false for what the device does not unite. */
bisai_status look(bisai_context *context, const scalar_rows &rows, const double *values,
                  int32_t *row_ptr, int32_t *entries, bool *sound) {
  int64_t fault = -1;
  BSI_TRY(count_blocks(context, rows, row_ptr, sound));
  if (!*sound) return BISAI_OK;
  BSI_TRY(
      context->backend->memory->fetch(context, entries, rows.row_ptr + rows.rows, sizeof *entries));
  BSI_TRY(context->backend->matrix->blocks->find_not_finite(context, BISAI_FP64, *entries, values,
                                                            &fault));
  *sound = fault < 0;
  return BISAI_OK;
}

bisai_status unite(bisai_context *context, const scalar_rows &rows, const double *values,
                   bisai_bcsr **matrix) {
  const int32_t block_rows = rows.rows / rows.block_size;
  bsi_temporary room(context);
  int32_t *row_ptr = room.reserve<int32_t>(static_cast<size_t>(block_rows) + 1);
  bsi_bcsr_sizes sizes = {block_rows, rows.cols / rows.block_size, rows.block_size, 0, BISAI_FP64};
  int32_t entries = 0;
  bool sound = false;
  if (!room.complete) return BISAI_OUT_OF_MEMORY;
  BSI_TRY(look(context, rows, values, row_ptr, &entries, &sound));
  if (!sound) return BISAI_OK;
  BSI_TRY(context->backend->memory->fetch(context, &sizes.blocks, row_ptr + block_rows,
                                          sizeof sizes.blocks));
  return make(context, rows, sizes, entries, row_ptr, values, matrix);
}

} // namespace

bisai_status bsi_unite_rows_cuda(bisai_context *context, const bisai_csr_desc *desc,
                                 bisai_bcsr **matrix) {
  const int32_t bs = desc->block_size;
  if (bs < 1 || bs > BISAI_MAX_BLOCK_SIZE || desc->index_base != 0 || desc->find_nodes ||
      bsi_has_nodes(desc) || desc->rows == 0 || desc->cols < 0 || desc->rows % bs != 0 ||
      desc->cols % bs != 0 || !desc->col_idx || !desc->values)
    return BISAI_OK;
  return unite(context, {desc->rows, desc->cols, bs, desc->row_ptr, desc->col_idx}, desc->values,
               matrix);
}
