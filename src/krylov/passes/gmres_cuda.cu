/* SPDX-License-Identifier: BSD-3-Clause */
/* The steps of GMRES on the device: a whole step after its products in one launch, the same in
 * parts for sums over processes, and the triangular system at the end of a cycle. */
#include <algorithm>

#include "core/context/context_impl.h"
#include "gpu/launch.cuh"
#include "gpu/record.cuh"
#include "krylov/passes/gmres_step_cuda.cuh"
#include "krylov/passes/krylov_ops.h"
#include "krylov/passes/rotation.h"

namespace {

/* Pairs of values of w that a thread has in registers. A step takes the first number that lets the
 * thread blocks hold all of w (docs/tuning.md, "An iteration of GMRES(30)"). The comments give the
 * largest n on 132 multiprocessors. */
constexpr int PAIRS_PER_THREAD[] = {
    1,  /* n ≤ 135,168 */
    2,  /* n ≤ 270,336 */
    3,  /* n ≤ 405,504 */
    4,  /* n ≤ 540,672 */
    6,  /* n ≤ 811,008 */
    8,  /* n ≤ 1,081,344 */
    10, /* n ≤ 1,351,680 */
};

/* Pairs of a tile, if w is longer. Not measured. */
constexpr int TILED_PAIRS = 8;

/* An upper bound of the bytes of shared memory that the kernel declares by itself. */
constexpr int STATIC_SHARED = 1024;

/* The most columns of a step. Shared memory limits them: a column takes 168 bytes of scratch, so
 * that 256 columns fit the 48 KiB that a thread block of every device may have. */
constexpr int FUSED_COLUMNS = 256;
static_assert(scratch::bytes(FUSED_COLUMNS) + STATIC_SHARED <= 48 << 10,
              "every device has the shared memory of a step");

/* The second-level cache of an H200 has 60 MB. */
constexpr int64_t LEAST_ROUNDED = 1 << 26;

constexpr const char *WHAT = "Gram-Schmidt";

/* What a step may use: thread blocks at once, and bytes of shared memory of each. */
struct capacity {
  int blocks, shared;
};

/* Launches step j on `blocks` thread blocks. P, TILED: as in step(). */
template <int P, bool TILED>
bisai_status launch(bisai_context *context, capacity has, int blocks, const bsi_cycle &cycle, int j,
                    bsi_passes passes) {
  const int left = has.shared - static_cast<int>(scratch::bytes(j + 1)),
            vector = P * THREADS * sizeof(double2);
  const int fit = TILED || left < vector ? 0 : left / vector, kept = fit < j + 1 ? fit : j + 1;
  BSI_TRY(bsi_gpu_allow_shared(context, WHAT, step<P, TILED>, static_cast<size_t>(has.shared)));
  return bsi_launch_together(context, WHAT, step<P, TILED>, dim3(static_cast<unsigned>(blocks)),
                             dim3(THREADS),
                             scratch::bytes(j + 1) + static_cast<size_t>(kept) * vector, cycle, j,
                             kept, passes, context->tickets);
}

/* Launches step j with as few pairs a thread as the capacity allows; K: the first number of pairs
 * to consider. */
template <int K = 0>
bisai_status launch_for(bisai_context *context, capacity has, const bsi_cycle &cycle, int j,
                        bsi_passes passes) {
  constexpr int numbers = sizeof PAIRS_PER_THREAD / sizeof *PAIRS_PER_THREAD,
                of_block = THREADS * PAIRS_PER_THREAD[K];
  const int64_t blocks = ((cycle.n + 1) / 2 + of_block - 1) / of_block;
  if (blocks <= has.blocks)
    return launch<PAIRS_PER_THREAD[K], false>(
        context, has, blocks > 0 ? static_cast<int>(blocks) : 1, cycle, j, passes);
  if constexpr (K + 1 < numbers)
    return launch_for<K + 1>(context, has, cycle, j, passes);
  else
    return launch<TILED_PAIRS, true>(context, has, has.blocks, cycle, j, passes);
}

} // namespace

static bisai_status gmres_step(bisai_context *context, const bsi_cycle *cycle, int j,
                               bsi_passes passes) {
  const bsi_device_limits *limits = &context->limits;
  const capacity has = {.blocks = std::min(limits->processors, static_cast<int>(BSI_CHUNKS)),
                        .shared = limits->block_shared - STATIC_SHARED};
  BSI_TRY(launch_for(context, has, *cycle, j, passes));
  return bsi_launched(context, WHAT);
}

/* --- a step in parts, for sums over processes --- */

namespace {

/* A record that decide() writes whole, so that it needs no beginning. */
struct decision {
  /* 0 or 1 */
  unsigned long long cancelled;
};

__global__ void decide(int count, const double *h, const double *norm2, decision *result) {
  result->cancelled = bsi_cancelled(count, h, *norm2) ? 1 : 0;
}

__global__ void rotate(bsi_cycle cycle, int j, const double *h, const double *h2,
                       const double *norm2) {
  double *column = cycle.hessenberg + j * (cycle.m + static_cast<int64_t>(1));
  for (int i = threadIdx.x; i <= j; i += BSI_WARP) column[i] = h2 ? h[i] + h2[i] : h[i];
  __syncwarp();
  if (threadIdx.x == 0)
    bsi_rotate(j, column, *norm2, cycle.cosines, cycle.sines, cycle.rhs, cycle.status + 2 * j);
}

/* Threads of the back substitution, and the most columns of a triangle that they copy to shared
 * memory: 32 KiB of the 48 KiB that every device has. */
constexpr int SUBSTITUTION_THREADS = 256, SMALL_TRIANGLE = 64;

/* y_i ← (g_i − Σ_{c > i} H_ic y_c)/H_ii from the last on, by columns, as bsi_back_substitute()
 * does. One warp computes. All threads copy a small triangle to shared memory before. */
__global__ void __launch_bounds__(SUBSTITUTION_THREADS)
    back_substitute(int m, int k, const double *H, const double *g, double *y) {
  __shared__ double triangle[SMALL_TRIANGLE * SMALL_TRIANGLE];
  const bool small = k <= SMALL_TRIANGLE;
  const int64_t ld = small ? k : m + static_cast<int64_t>(1);
  bsi_wait_for_predecessor();
  for (int i = threadIdx.x; i < k; i += SUBSTITUTION_THREADS) y[i] = g[i];
  for (int i = threadIdx.x; small && i < k * k; i += SUBSTITUTION_THREADS)
    if (i % k <= i / k) triangle[i] = H[i / k * (m + static_cast<int64_t>(1)) + i % k];
  __syncthreads();
  if (threadIdx.x >= BSI_WARP) return;
  for (int j = k - 1; j >= 0; j--) {
    const double *column = (small ? triangle : H) + j * ld;
    const double diagonal = column[j], value = diagonal == 0.0 ? 0.0 : y[j] / diagonal;
    __syncwarp();
    if (threadIdx.x == 0) y[j] = value;
    for (int i = threadIdx.x; i < j; i += BSI_WARP) y[i] -= column[i] * value;
    __syncwarp();
  }
}
} // namespace

static bisai_status gmres_cancelled(bisai_context *context, int count, const double *h,
                                    const double *norm2, bool *cancelled) {
  decide<<<1, 1, 0, bsi_stream_of(context)>>>(count, h, norm2, bsi_record_of<decision>(context));
  BSI_TRY(bsi_launched(context, WHAT));
  decision result;
  BSI_TRY(bsi_record_fetch(context, WHAT, &result));
  *cancelled = result.cancelled != 0;
  return BISAI_OK;
}

static bisai_status gmres_rotate(bisai_context *context, const bsi_cycle *cycle, int j,
                                 const double *h, const double *h2, const double *norm2) {
  rotate<<<1, BSI_WARP, 0, bsi_stream_of(context)>>>(*cycle, j, h, h2, norm2);
  return bsi_launched(context, "rotation");
}

static bisai_status gmres_coefficients(bisai_context *context, int m, int k, const double *H,
                                       const double *g, double *y) {
  if (k == 0) return BISAI_OK;
  bsi_launch_early(context, back_substitute, 1, SUBSTITUTION_THREADS, 0, m, k, H, g, y);
  return bsi_launched(context, "triangular system");
}

static bisai_status load(bisai_context *context) { return bsi_gpu_load(context, decide); }

const bsi_gmres_ops bsi_gmres_cuda = {.fused_columns = FUSED_COLUMNS,
                                      .least_rounded = LEAST_ROUNDED,
                                      .cancelled = gmres_cancelled,
                                      .rotate = gmres_rotate,
                                      .step = gmres_step,
                                      .coefficients = gmres_coefficients,
                                      .load = load};
