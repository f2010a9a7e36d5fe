/* SPDX-License-Identifier: BSD-3-Clause */
/* z_b = D_b⁻¹ v_b on a device. For inverses of differing sizes, a warp takes a group and has a lane
 * for each scalar row of it: it reads a column of all the group's blocks at once. Lanes get each
 * other's part of the vectors by shuffles. A value is read once for VECTORS vectors. */
#include "bjacobi/apply/apply_inverses_cuda.cuh"
#include "bjacobi/apply/apply_place_cuda.cuh"
#include "bjacobi/bjacobi.h"
#include "bjacobi/bjacobi_ops.h"
#include "core/context/context_impl.h"

namespace {

/* y ← E x for the inverses of a group. */
template <bisai_value_type FORMAT, int VECTORS>
__device__ __forceinline__ void multiply(const place &l, const char *values, int lane,
                                         const double (&x)[VECTORS], double (&sum)[VECTORS]) {
  for (int c = 0; c < l.width; c += AHEAD) {
    double e[AHEAD];
    load_ahead<FORMAT>(l, values, lane, c, 0, l.m, e);
#pragma unroll
    for (int k = 0; k < AHEAD; k++) {
      if (c + k >= l.width) break;
#pragma unroll
      for (int v = 0; v < VECTORS; v++) {
        const double other = __shfl_sync(BSI_FULL_WARP, x[v], (l.base + c + k) % BSI_WARP);
        sum[v] = c + k < l.m ? fma(e[k], other, sum[v]) : sum[v];
      }
    }
  }
}

/* y_b ← E_b x_b for inverses of differing sizes.
 * FORMAT: the format of all groups; ADAPTIVE: any.
 * VECTORS: the vectors x. */
template <bisai_value_type FORMAT, int VECTORS>
__global__ void __launch_bounds__(THREADS) apply(const __grid_constant__ bsi_apply_job p) {
  const int lane = threadIdx.x % BSI_WARP;
  const int32_t group = static_cast<int32_t>(blockIdx.x * WARPS + threadIdx.x / BSI_WARP);
  if (group >= p.partition.groups) return;
  const place l = place_of(p, group, lane);
  const int64_t first = p.partition.first_value
                            ? __ldg(p.partition.first_value + group)
                            : static_cast<int64_t>(group) * p.partition.per_group *
                                  p.partition.uniform * p.partition.uniform;
  const char *values = p.data + first * p.slot_bytes;
  double x[VECTORS], y[VECTORS];
  bsi_wait_for_predecessor();
#pragma unroll
  for (int v = 0; v < VECTORS; v++) x[v] = l.m > 0 ? p.x[l.row + v * p.ldx] : 0.0, y[v] = 0.0;
  bsi_in_format<FORMAT>(p.format ? __ldg(p.format + group) : static_cast<int>(p.storage),
                        [&](auto format) { multiply<format.value>(l, values, lane, x, y); });
#pragma unroll
  for (int v = 0; v < VECTORS; v++)
    if (l.m > 0) p.y[l.row + v * p.ldy] = y[v];
}

/* Enqueues one pass over the blocks for each VECTORS of the `count` vectors, and returns how many
 * vectors are left, which p then begins with. Template parameters: as those of the kernels. */
template <bisai_value_type FORMAT, int M, int VECTORS>
int32_t enqueue_inverses(const bisai_context *context, bsi_apply_job *p, int32_t count) {
  const unsigned grid =
      bsi_grid(p->partition.groups, UNIFORM_THREADS / BSI_WARP * uniform_groups<M, VECTORS>);
  for (; count >= VECTORS; count -= VECTORS, p->x += VECTORS * p->ldx, p->y += VECTORS * p->ldy)
    bsi_launch_early(context, apply_uniform<FORMAT, M, VECTORS>, grid, UNIFORM_THREADS, 0, *p);
  return count;
}

template <bisai_value_type FORMAT, int VECTORS>
int32_t enqueue_general(const bisai_context *context, bsi_apply_job *p, int32_t count) {
  const unsigned grid = bsi_grid(p->partition.groups, WARPS);
  for (; count >= VECTORS; count -= VECTORS, p->x += VECTORS * p->ldx, p->y += VECTORS * p->ldy)
    bsi_launch_early(context, apply<FORMAT, VECTORS>, grid, THREADS, 0, *p);
  return count;
}

/* Enqueues one pass for each vector. */
template <bisai_value_type FORMAT>
void enqueue(const bisai_context *context, bsi_apply_job p, int32_t count) {
  count = enqueue_general<FORMAT, PASS>(context, &p, count);
  enqueue_general<FORMAT, 1>(context, &p, count);
}

/* The same for inverses of one size, in any formats. One vector and 31 rows in fp64 are faster in
 * the general kernel than with several rows a lane. */
void enqueue_rows(const bisai_context *context, bsi_apply_job p, int32_t count) {
  count = bsi_enqueue_vectors(context, &p, count);
  if (p.storage == BISAI_FP64 && p.partition.uniform == 31)
    count = enqueue_general<BISAI_FP64, 1>(context, &p, count);
  for (; count > 0; count--, p.x += p.ldx, p.y += p.ldy) bsi_enqueue_rows(context, p);
}

template <bisai_value_type FORMAT, int M>
void enqueue_size(const bisai_context *context, bsi_apply_job p, int32_t count) {
  count = enqueue_inverses<FORMAT, M, LONG_PASS>(context, &p, count);
  count = enqueue_inverses<FORMAT, M, PASS>(context, &p, count);
  /* Several rows a lane pay for narrow values, and for small blocks of different formats. For
   * large ones they pay in fp16 and not in fp32. */
  if (p.narrow || (FORMAT == BISAI_ADAPTIVE && M == 4))
    enqueue_rows(context, p, count);
  else
    enqueue_inverses<FORMAT, M, 1>(context, &p, count);
}

/* Sizes with such kernels in fp64 alone, where they apply as fast as a copy. */
constexpr int FP64_SIZES[] = {1, 2, 3, 5, 6, 7, 12, 20, 24, 28};

/* Enqueues the kernel of the size and returns true, if there is one.
 * SIZES: BSI_COMMON_SIZES or FP64_SIZES; K: the first of its places to consider. */
template <bisai_value_type FORMAT, const auto &SIZES, int K = 0>
bool applied_size(const bisai_context *context, const bsi_apply_job &p, int32_t count) {
  if constexpr (K < static_cast<int>(sizeof SIZES / sizeof *SIZES)) {
    if (p.partition.uniform != SIZES[K])
      return applied_size<FORMAT, SIZES, K + 1>(context, p, count);
    enqueue_size<FORMAT, SIZES[K]>(context, p, count);
    return true;
  }
  return false;
}

template <bisai_value_type FORMAT>
bool applied_format(const bisai_context *context, const bsi_apply_job &p, int32_t count) {
  if (applied_size<FORMAT, BSI_COMMON_SIZES>(context, p, count)) return true;
  if constexpr (FORMAT == BISAI_FP64) return applied_size<FORMAT, FP64_SIZES>(context, p, count);
  return false;
}

bool applied_uniform(const bisai_context *context, const bsi_apply_job &p, int32_t count) {
  switch (p.storage) {
#define CASE(FORMAT, word, bytes, mantissa)                                                        \
  case FORMAT: return applied_format<FORMAT>(context, p, count);
    BISAI_VALUE_TYPE_LIST(CASE)
#undef CASE
  default: return false;
  }
}

void apply_inverses(const bisai_context *context, const bsi_apply_job &p, int32_t count) {
  if (p.partition.uniform && p.partition.rows % p.partition.uniform == 0 &&
      p.partition.per_group == BSI_WARP / p.partition.uniform) {
    if (!applied_uniform(context, p, count)) enqueue_rows(context, p, count);
  } else if (p.storage == BISAI_FP64) {
    enqueue<BISAI_FP64>(context, p, count);
  } else {
    enqueue<BISAI_ADAPTIVE>(context, p, count);
  }
}

} // namespace

/* Returns true if most blocks have values of 16 bits. */
static bool mostly_narrow(const bsi_bjacobi *jacobi) {
  int64_t narrow = 0;
  for (int f = 0; f < BSI_FORMATS; f++)
    if (bsi_value_bytes(static_cast<bisai_value_type>(f)) == 2) narrow += jacobi->stats.formats[f];
  return 2 * narrow > jacobi->partition.blocks;
}

static bisai_status bjacobi_apply(bisai_context *context, const bsi_bjacobi *jacobi, int32_t count,
                                  const double *x, int64_t ldx, double *y, int64_t ldy) {
  const bsi_partition *b = &jacobi->partition;
  const bsi_apply_job p = {.partition = {.rows = b->rows,
                                         .blocks = b->blocks,
                                         .uniform = b->uniform,
                                         .per_group = jacobi->per_group,
                                         .groups = jacobi->groups,
                                         .start = b->start,
                                         .first_value = jacobi->first_value},
                           .data = static_cast<const char *>(jacobi->data),
                           .slot_bytes = jacobi->slot_bytes,
                           .storage = jacobi->options.storage,
                           .form = jacobi->options.form,
                           .narrow = mostly_narrow(jacobi),
                           .format = jacobi->format,
                           .pivots = jacobi->pivots,
                           .x = x,
                           .ldx = ldx,
                           .y = y,
                           .ldy = ldy};
  if (p.partition.groups == 0 || count == 0) return BISAI_OK;
  if (p.form == BISAI_FORM_INVERSE)
    apply_inverses(context, p, count);
  else if (p.form == BISAI_FORM_LU)
    bsi_enqueue_lu(context, jacobi, p, count);
  else
    bsi_enqueue_gauss_huard(context, jacobi, p, count);
  return bsi_launched(context, "block-Jacobi");
}

const bsi_block_solve_ops bsi_block_solve_cuda = {.apply = bjacobi_apply};
