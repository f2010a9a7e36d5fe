/* SPDX-License-Identifier: BSD-3-Clause */
/* The smoothing of the blocks of a product on a device (bsi_smoothing). */
#include "core/block/block_sizes.h"
#include "multigrid/spgemm/rows_cuda.cuh"

namespace {

constexpr char what[] = "transfer between levels";

struct smoothing {
  int32_t rows, blocks;
  /* of the blocks of P or R, and of D⁻¹ */
  int height, width, bs;
  const int32_t *row_ptr, *col_idx, *t_ptr, *t_idx;
  /* NULL: T has identity blocks */
  const double *t;
  const double *inverse;
  double omega;
  double *values;
};

/* Block ← T_ij − omega·D_i⁻¹ block, or T_ij − omega·block D_j⁻¹.
 *   BS: the size of the blocks of D⁻¹, or 0: any
 *   RIGHT: D⁻¹ is the right factor, and a lane takes a row, otherwise a column */
template <int BS, bool RIGHT>
__global__ void __launch_bounds__(BLOCK_THREADS) smooth_blocks(const smoothing s) {
  bsi_wait_for_predecessor();
  const int bs = BS > 0 ? BS : s.bs, lanes = RIGHT ? s.height : s.width,
            stride = RIGHT ? s.height : 1;
  const lanes_of_blocks l = block_of_lane(s.rows, s.row_ptr, s.blocks, lanes);
  if (l.position < 0 || !l.working) return;
  const int32_t j = __ldg(s.col_idx + l.position),
                own = bsi_find_column(bsi_read_only<int32_t>{s.t_idx}, __ldg(s.t_ptr + l.row),
                                      __ldg(s.t_ptr + l.row + 1), j);
  const int64_t size = s.height * s.width, begin = RIGHT ? l.member : l.member * bs;
  const double *d = s.inverse + static_cast<int64_t>(RIGHT ? j : l.row) * bs * bs,
               *t = s.t + own * size + begin;
  double *values = s.values + l.position * size + begin;
  double before[BS > 0 ? BS : BISAI_MAX_BLOCK_SIZE];
#pragma unroll
  for (int k = 0; k < bs; k++) before[k] = values[k * stride];
#pragma unroll
  for (int i = 0; i < bs; i++) {
    double sum = 0.0;
#pragma unroll
    for (int k = 0; k < bs; k++) sum += __ldg(d + (RIGHT ? i * bs + k : k * bs + i)) * before[k];
    double value = -s.omega * sum;
    if (own >= 0) value += s.t ? __ldg(t + i * stride) : i == l.member ? 1.0 : 0.0;
    values[i * stride] = value;
  }
}

template <bool RIGHT> bisai_status smooth_all(bisai_context *context, const smoothing &s) {
  if (s.blocks == 0) return BISAI_OK;
  void (*kernel)(smoothing) = smooth_blocks<0, RIGHT>;
  switch (s.bs) {
#define KERNEL(size)                                                                               \
  case size: kernel = smooth_blocks<size, RIGHT>; break;
    BSI_BLOCK_SIZES(KERNEL)
  default: break;
  }
  bsi_launch_early(context, kernel, grid_of_blocks(s.blocks, RIGHT ? s.height : s.width),
                   BLOCK_THREADS, 0, s);
  return bsi_launched(context, what);
}

smoothing smoothing_of(const bsi_smoothing &s, const bsi_block_matrix *c, int bs) {
  return {c->rows,      c->blocks,    c->height,   c->width,  bs,      c->row_ptr, c->col_idx,
          s.t->row_ptr, s.t->col_idx, s.t->values, s.inverse, s.omega, c->values};
}

} // namespace

bisai_status bsi_smooth_product_cuda(bisai_context *context, const bsi_smoothing *s,
                                     bsi_block_matrix *c) {
  return s->from_right ? smooth_all<true>(context, smoothing_of(*s, c, c->width))
                       : smooth_all<false>(context, smoothing_of(*s, c, c->height));
}
