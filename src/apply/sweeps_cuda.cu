/* SPDX-License-Identifier: BSD-3-Clause */
/* G ← D⁻¹ T_off on the device. A warp takes a block row, a lane one value of it after the other. */
#include "apply/apply_ops.h"
#include "core/block/block_sizes.h"
#include "core/context/context_impl.h"
#include "core/matrix/triangular.h"
#include "gpu/launch.cuh"
#include "gpu/record.cuh"

namespace {

enum { THREADS = 128, WARPS = THREADS / BSI_WARP };

struct job {
  int32_t block_rows, block_size;
  const int32_t *row_ptr, *col_idx, *to_row_ptr;
  const double *values, *inverse_diagonal;
  double *to;
  /* the first block row with a value that is not finite */
  bsi_first_record *infinite;
};

/* BS: the block size, or 0 if it is known at run time only */
template <int BS> __global__ void __launch_bounds__(THREADS) scale_rows(const job p) {
  const int bs = BS > 0 ? BS : p.block_size, values = bs * bs, lane = threadIdx.x % BSI_WARP;
  const int64_t i = static_cast<int64_t>(blockIdx.x) * WARPS + threadIdx.x / BSI_WARP;
  if (i >= p.block_rows) return;
  const int32_t begin = __ldg(p.row_ptr + i), end = __ldg(p.row_ptr + i + 1),
                to_begin = __ldg(p.to_row_ptr + i), length = __ldg(p.to_row_ptr + i + 1) - to_begin;
  /* The diagonal block is the first or the last of its row, or it is not stored. */
  const int32_t first = begin + (length < end - begin && __ldg(p.col_idx + begin) == i);
  const double *from = p.values + static_cast<int64_t>(first) * values,
               *inverse = p.inverse_diagonal ? p.inverse_diagonal + i * values : nullptr;
  double *to = p.to + static_cast<int64_t>(to_begin) * values;
  bool finite = true;
  for (int64_t v = lane; v < static_cast<int64_t>(length) * values; v += BSI_WARP) {
    double sum = from[v];
    if (inverse) {
      const int r = static_cast<int>(v % bs);
      const double *column = from + (v - r);
      sum = 0.0;
      for (int k = 0; k < bs; k++) sum += __ldg(inverse + k * bs + r) * column[k];
    }
    to[v] = sum;
    finite &= isfinite(sum);
  }
  if (!finite) atomicMin(&p.infinite->index, static_cast<unsigned long long>(i));
}

void enqueue(bisai_context *context, const job &p) {
  const unsigned blocks = bsi_grid(p.block_rows, WARPS);
  const bsi_gpu_stream stream = bsi_stream_of(context);
  switch (p.block_size) {
#define CASE(BS)                                                                                   \
  case BS: scale_rows<BS><<<blocks, THREADS, 0, stream>>>(p); break;
    BSI_BLOCK_SIZES(CASE)
#undef CASE
  default: scale_rows<0><<<blocks, THREADS, 0, stream>>>(p);
  }
}

} // namespace

bisai_status bsi_scale_off_diagonal_cuda(bisai_context *context, const bsi_triangular *t,
                                         bisai_bcsr *scaled, int32_t *infinite_row) {
  static const char what[] = "scaled factor";
  const bisai_bcsr *a = t->matrix;
  *infinite_row = -1;
  if (a->block_rows == 0) return BISAI_OK;
  BSI_TRY(bsi_record_begin<bsi_first_record>(context, what));
  enqueue(context, {.block_rows = a->block_rows,
                    .block_size = a->block_size,
                    .row_ptr = a->row_ptr,
                    .col_idx = a->col_idx,
                    .to_row_ptr = scaled->row_ptr,
                    .values = static_cast<const double *>(a->values),
                    .inverse_diagonal = t->inverse_diagonal,
                    .to = static_cast<double *>(scaled->values),
                    .infinite = bsi_record_of<bsi_first_record>(context)});
  BSI_TRY(bsi_launched(context, what));
  bsi_first_record infinite;
  BSI_TRY(bsi_record_fetch(context, what, &infinite));
  *infinite_row = static_cast<int32_t>(bsi_index_of(infinite.index));
  return BISAI_OK;
}
