/* SPDX-License-Identifier: BSD-3-Clause */
/* The small block triangular systems on the device. A group of lanes solves for one block column of
 * N (Ma et al. 2021, Algorithm 2, with the corrections of docs/decisions/block-isai.md). A group
 * has one lane for each value of a block, or a whole warp if a block has more values than that.
 *
 * The system is never stored. The lanes look up side by side which blocks of a row of T lie in the
 * column's rows J, then multiply these blocks one after the other, each lane its own value. The
 * values of the column are in shared memory. If the longest column is too long for that, they are
 * in global memory of the group's own. */
#include "core/block/block_sizes.h"
#include "core/block/values.h"
#include "core/matrix/bcsr_impl.h"
#include "solve/columns_cuda.cuh"
#include "solve/solve_ops.h"

namespace {

struct job {
  bisai_triangle triangle;
  int32_t block_rows, block_size;
  struct {
    const int32_t *row_ptr, *col_idx;
    const double *values, *inverse_diagonal;
  } t;
  struct {
    const int32_t *col_ptr, *row_idx, *position;
  } pattern;
  bisai_value_type type;
  void *values;
  /* the blocks of a column in shared memory, 0 if columns are in `columns` */
  int32_t shared_blocks;
  int32_t longest;
  double *columns;
  bsi_columns_report *found;
};

/* BS: the block size, or 0 if it is known at run time only */
template <int BS>
__global__ void __launch_bounds__(BSI_COLUMNS_THREADS) solve_columns(const job p) {
  const int bs = BS > 0 ? BS : p.block_size, values = bs * bs;
  constexpr int LANES = BS > 0 && BS * BS <= BSI_WARP ? BS * BS : BSI_WARP;
  constexpr int GROUPS = BSI_WARP / LANES,
                EACH = BS > 0 ? (BS * BS + LANES - 1) / LANES : BISAI_MAX_BLOCK_SIZE;
  extern __shared__ double shared[];
  const int lane = threadIdx.x % BSI_WARP, group = lane / LANES, member = lane % LANES;
  if (group >= GROUPS) return;
  const unsigned mask = (LANES == BSI_WARP ? BSI_FULL_WARP : (1u << LANES) - 1u) << (group * LANES);
  const int in_block = threadIdx.x / BSI_WARP * GROUPS + group;
  const int64_t first = blockIdx.x * static_cast<int64_t>(BSI_COLUMNS_WARPS * GROUPS) + in_block;
  const int64_t stride = static_cast<int64_t>(gridDim.x) * BSI_COLUMNS_WARPS * GROUPS;
  double *rest = shared + in_block * (p.shared_blocks + 1) * values, *own = rest + values;
  if (p.columns) own = p.columns + first * p.longest * values;

  for (int64_t j = first; j < p.block_rows; j += stride) {
    const int32_t begin = __ldg(p.pattern.col_ptr + j),
                  length = __ldg(p.pattern.col_ptr + j + 1) - begin;
    const int32_t *rows = p.pattern.row_idx + begin;
    for (int32_t step = 0; step < length; step++) {
      const int32_t s = p.triangle == BISAI_LOWER ? step : length - 1 - step, row = __ldg(rows + s);
      /* row j of T has no block in J but the diagonal one */
      const int32_t t_begin = step > 0 ? __ldg(p.t.row_ptr + row) : 0,
                    t_end = step > 0 ? __ldg(p.t.row_ptr + row + 1) : 0;
      double mine[EACH];
#pragma unroll
      for (int e = 0; e < EACH; e++) {
        const int v = member + e * LANES;
        mine[e] = row == j && v / bs == v % bs ? 1.0 : 0.0;
      }
      for (int32_t chunk = t_begin; chunk < t_end; chunk += LANES) {
        const int32_t q = chunk + member, column = q < t_end ? __ldg(p.t.col_idx + q) : row;
        const int32_t found = column == row ? -1 : bsi_find_column(rows, 0, length, column);
        for (unsigned hits = __ballot_sync(mask, found >= 0) >> (group * LANES); hits != 0;
             hits &= hits - 1) {
          const int hit = __ffs(static_cast<int>(hits)) - 1;
          const int32_t slot = __shfl_sync(mask, found, group * LANES + hit);
          const double *a = p.t.values + static_cast<int64_t>(chunk + hit) * values,
                       *x = own + slot * values;
#pragma unroll
          for (int e = 0; e < EACH; e++) {
            const int v = member + e * LANES, r = v % bs, c = v / bs;
            if (v < values)
              for (int k = 0; k < bs; k++) mine[e] -= __ldg(a + k * bs + r) * x[c * bs + k];
          }
        }
      }
      if (p.t.inverse_diagonal) {
#pragma unroll
        for (int e = 0; e < EACH; e++)
          if (member + e * LANES < values) rest[member + e * LANES] = mine[e];
        __syncwarp(mask);
        const double *d = p.t.inverse_diagonal + static_cast<int64_t>(row) * values;
#pragma unroll
        for (int e = 0; e < EACH; e++) {
          const int v = member + e * LANES, r = v % bs, c = v / bs;
          double sum = 0.0;
          if (v < values)
            for (int k = 0; k < bs; k++) sum += __ldg(d + k * bs + r) * rest[c * bs + k];
          mine[e] = sum;
        }
      }
      const int64_t place = static_cast<int64_t>(__ldg(p.pattern.position + begin + s)) * values;
      bool finite = true, fits = true, zero = true;
#pragma unroll
      for (int e = 0; e < EACH; e++) {
        const int v = member + e * LANES;
        if (v >= values) continue;
        own[s * values + v] = mine[e];
        const bool good = isfinite(mine[e]);
        finite &= good;
        fits &=
            bsi_value_store(p.type, good ? mine[e] : 0.0, p.values, static_cast<size_t>(place + v));
        /* only the diagonal block may not vanish; the others need not wait for their own stores */
        if (row == j)
          zero &= bsi_value_load(p.type, p.values, static_cast<size_t>(place + v)) == 0.0;
      }
      if (!__all_sync(mask, finite && fits) || (row == j && __all_sync(mask, zero))) {
        finite = __all_sync(mask, finite);
        fits = __all_sync(mask, fits);
        if (member == 0)
          bsi_report_fault(p.found, static_cast<int32_t>(j), step,
                           !finite ? BSI_FAULT_NOT_FINITE
                           : !fits ? BSI_FAULT_OVERFLOW
                                   : BSI_FAULT_UNDERFLOW);
      }
      __syncwarp(mask);
    }
  }
}

/* Returns the groups of lanes in a thread block.
 *   BS: the block size, or 0 if it is known at run time only */
template <int BS> constexpr int groups_of() {
  return BSI_COLUMNS_WARPS * (BS > 0 && BS * BS <= BSI_WARP ? BSI_WARP / (BS * BS) : 1);
}

int groups_of_size(int block_size) {
  switch (block_size) {
#define CASE(BS)                                                                                   \
  case BS: return groups_of<BS>();
    BSI_BLOCK_SIZES(CASE)
#undef CASE
  }
  return groups_of<0>();
}

template <int BS> bisai_status enqueue(bisai_context *context, const job &p, int columns_at_once) {
  constexpr int GROUPS = groups_of<BS>();
  const size_t bytes = static_cast<size_t>(GROUPS) * (p.shared_blocks + 1) * p.block_size *
                       p.block_size * sizeof(double);
  unsigned blocks = bsi_grid(p.block_rows, GROUPS);
  if (p.columns && blocks > static_cast<unsigned>(columns_at_once / GROUPS))
    blocks = columns_at_once / GROUPS;
  solve_columns<BS><<<blocks, BSI_COLUMNS_THREADS, bytes, bsi_stream_of(context)>>>(p);
  return bsi_launched(context, BSI_COLUMNS);
}

bisai_status enqueue_size(bisai_context *context, const job &p, int columns_at_once) {
  switch (p.block_size) {
#define CASE(BS)                                                                                   \
  case BS: return enqueue<BS>(context, p, columns_at_once);
    BSI_BLOCK_SIZES(CASE)
#undef CASE
  }
  return enqueue<0>(context, p, columns_at_once);
}

} // namespace

int32_t bsi_isai_shared_blocks(int block_size) {
  return BSI_COLUMNS_SHARED / (groups_of_size(block_size) * block_size * block_size *
                               static_cast<int>(sizeof(double))) -
         1;
}

static bisai_status isai_reserve(bisai_context *context, const bsi_triangular *t, bsi_isai *isai) {
  const int bs = t->matrix->block_size, groups = groups_of_size(bs);
  const size_t column = bsi_block_offset(t->matrix, isai->pattern->longest_column);
  if (isai->systems != BSI_SYSTEMS_TRIANGULAR) return bsi_isai_reserve_dense(context, t, isai);
  if (isai->pattern->longest_column <= bsi_isai_shared_blocks(bs)) return BISAI_OK;
  const size_t bytes = column * sizeof(double) * groups;
  isai->threads = bsi_columns_blocks(context, bytes) * groups;
  isai->room = column;
  isai->columns = static_cast<double *>(
      context->backend->memory->allocate(context, isai->threads * column, sizeof(double)));
  return isai->columns ? BISAI_OK : BISAI_OUT_OF_MEMORY;
}

static bisai_status isai_values(bisai_context *context, const bsi_triangular *t, bsi_isai *isai,
                                bsi_isai_fault *fault) {
  const bisai_bcsr *a = t->matrix, *n = isai->inverse;
  const bisai_pattern *pattern = isai->pattern;
  if (isai->systems != BSI_SYSTEMS_TRIANGULAR)
    return bsi_isai_dense_values(context, t, isai, fault);
  if (a->block_rows == 0) return BISAI_OK;
  const bool shared = pattern->longest_column <= bsi_isai_shared_blocks(a->block_size);
  const job p = {.triangle = t->triangle,
                 .block_rows = a->block_rows,
                 .block_size = a->block_size,
                 .t = {.row_ptr = a->row_ptr,
                       .col_idx = a->col_idx,
                       .values = static_cast<const double *>(a->values),
                       .inverse_diagonal = t->inverse_diagonal},
                 .pattern = {.col_ptr = pattern->col_ptr,
                             .row_idx = pattern->row_idx,
                             .position = pattern->position},
                 .type = n->type,
                 .values = n->values,
                 .shared_blocks = shared ? pattern->longest_column : 0,
                 .longest = pattern->longest_column,
                 .columns = shared ? nullptr : isai->columns,
                 .found = bsi_record_of<bsi_columns_report>(context)};
  BSI_TRY(bsi_record_begin<bsi_columns_report>(context, BSI_COLUMNS));
  BSI_TRY(enqueue_size(context, p, isai->threads));
  return bsi_fetch_fault(context, pattern->col_ptr, pattern->row_idx, t->triangle == BISAI_UPPER,
                         fault);
}

const bsi_solve_ops bsi_solve_cuda = {.reserve = isai_reserve, .values = isai_values};
