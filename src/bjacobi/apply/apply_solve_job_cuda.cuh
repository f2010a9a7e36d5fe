/* SPDX-License-Identifier: BSD-3-Clause */
/* What solves with decompositions on a device share: classes of sizes, the block of each lane, and
 * launches. A sub-warp solves with a block. Lane q of L has rows q, q + L, … of it, so that an
 * exchange between lanes serves several rows. Blocks of similar sizes share a warp: the groups are
 * in the order of their classes, and each class has a launch. For apply_lu_cuda.cu and
 * apply_gauss_huard_cuda.cu only. */
#ifndef BSI_APPLY_SOLVE_JOB_CUDA_CUH
#define BSI_APPLY_SOLVE_JOB_CUDA_CUH

#include "bjacobi/apply/apply_job_cuda.cuh"

namespace {

/* The lanes that solve with a block of `rows` rows, or of up to as many. */
struct solve_class {
  int rows, lanes;
};

/* A job for the groups of one class. */
struct solve_job {
  bsi_apply_job all;
  /* groups by class, ascending in each; NULL: as they are */
  const int32_t *order;
  /* the job's groups in the order */
  int32_t from, end;
  /* true: the previous launch is that of another class of the same solve, and this one runs beside
   * it */
  bool beside;
  /* true: the next launch is that of another class, and runs beside this one */
  bool followed;
};

/* M, L: the most rows of a block, and the lanes that solve with it. */
template <int M, int L> struct shape {
  /* rows of a lane, and blocks of a warp */
  static constexpr int rows = (M + L - 1) / L, blocks = BSI_WARP / L;
};

/* The part of a block that one lane has. */
struct share {
  /* the lane among those of the block, the block's first lane, and the block in the warp */
  int q, base, sub;
  /* the block's first scalar row and its rows; m = 0: there is no block */
  int32_t start;
  int m;
  /* the place of the block's first value in the data, and the distance between columns */
  int64_t first;
  int height;
};

/* Returns the group of the lane's block in a unit, −1: there is none. A unit is the blocks that a
 * warp takes at once. EXACT: all blocks have M rows, as many as fit a warp are a group, and the
 * result is the block. */
template <int M, int L, bool EXACT>
__device__ __forceinline__ int32_t group_of(const solve_job &p, int32_t unit) {
  constexpr int blocks = shape<M, L>::blocks;
  const int sub = static_cast<int>(threadIdx.x) % BSI_WARP / L,
            slots = EXACT ? blocks : blocks / p.all.partition.per_group,
            slot = EXACT ? sub : sub / p.all.partition.per_group;
  const int64_t at = p.from + static_cast<int64_t>(unit) * slots + slot;
  if (slot >= slots || at >= p.end) return -1;
  return p.order ? __ldg(p.order + at) : static_cast<int32_t>(at);
}

/* Returns the lane's part of the block, from the result of group_of(). */
template <int M, int L, bool EXACT>
__device__ __forceinline__ share share_of(const solve_job &p, int32_t group) {
  const int lane = static_cast<int>(threadIdx.x) % BSI_WARP;
  share b = {.q = lane % L, .base = lane / L * L, .sub = lane / L};
  if (group < 0) return b;
  if constexpr (EXACT) {
    constexpr int per_group = BSI_WARP / M, rows = per_group * M;
    const int64_t top = static_cast<int64_t>(group / per_group) * rows;
    b.m = M;
    b.start = group * M;
    b.height = per_group == 1 || p.all.partition.rows - top > rows
                   ? rows
                   : static_cast<int>(p.all.partition.rows - top);
    b.first = top * M + b.start - top;
  } else {
    const int64_t begin = static_cast<int64_t>(group) * p.all.partition.per_group,
                  block = begin + b.sub % p.all.partition.per_group;
    const int32_t top = bsi_start_of(p.all, begin);
    b.start = bsi_start_of(p.all, block);
    b.m = bsi_start_of(p.all, block + 1) - b.start;
    b.height = bsi_start_of(p.all, begin + p.all.partition.per_group) - top;
    b.first =
        (p.all.partition.first_value ? __ldg(p.all.partition.first_value + group)
                                     : begin * p.all.partition.uniform * p.all.partition.uniform) +
        b.start - top;
  }
  return b;
}

/* y ← the lane's part of VECTORS vectors. */
template <int L, int R, int VECTORS>
__device__ __forceinline__ void load_vectors(const bsi_apply_job &p, const share &b,
                                             double (&y)[R][VECTORS]) {
#pragma unroll
  for (int s = 0; s < R; s++)
#pragma unroll
    for (int v = 0; v < VECTORS; v++)
      y[s][v] = b.q + L * s < b.m ? p.x[b.start + b.q + L * s + v * p.ldx] : 0.0;
}

/* Stores them at rows row[s] of the block. */
template <int L, int R, int VECTORS>
__device__ __forceinline__ void store_vectors(const bsi_apply_job &p, const share &b,
                                              const int (&row)[R], const double (&y)[R][VECTORS]) {
#pragma unroll
  for (int s = 0; s < R; s++)
#pragma unroll
    for (int v = 0; v < VECTORS; v++)
      if (b.q + L * s < b.m) p.y[b.start + row[s] + v * p.ldy] = y[s][v];
}

/* Loads the place in the matrix's order of each of the lane's rows. */
template <int L, int R>
__device__ __forceinline__ void load_pivots(const bsi_apply_job &p, const share &b,
                                            int (&pivot)[R]) {
#pragma unroll
  for (int s = 0; s < R; s++) {
    const int row = b.q + L * s;
    pivot[s] = row < b.m ? p.pivots[b.start + row] : 0;
  }
}

/* Solves with the blocks of a warp, a unit after another. The first unit of a warp is its number in
 * the launch, and the next one is as many units further as the launch has warps. SOLVER has
 *   load(b)          loads the decomposition of block b, or begins to
 *   load_vectors(b)  loads its right-hand sides
 *   solve(b, next)   solves and stores; `next` is the lane's next block
 * WARPS: warps of a thread block. M, L, EXACT: as in share_of(). */
template <int WARPS, int M, int L, bool EXACT, typename SOLVER>
__device__ __forceinline__ void solve_units(const solve_job &p, SOLVER &&s) {
  int32_t unit =
      static_cast<int32_t>(blockIdx.x) * WARPS + static_cast<int32_t>(threadIdx.x) / BSI_WARP;
  share b = share_of<M, L, EXACT>(p, group_of<M, L, EXACT>(p, unit));
  bool first = true;
  do {
    /* The predecessor may still run, but it does not write decompositions: a set-up waits for its
     * record on the host, and its kernels have ended before a solve is launched. */
    s.load(b);
    unit += static_cast<int32_t>(gridDim.x) * WARPS;
    const int32_t group = group_of<M, L, EXACT>(p, unit);
    if (first && !p.beside) bsi_wait_for_predecessor();
    if (first && p.followed) bsi_release_successor();
    first = false;
    s.load_vectors(b);
    const share next = share_of<M, L, EXACT>(p, group);
    s.solve(b, next);
    b = next;
  } while (!EXACT && __any_sync(BSI_FULL_WARP, b.m > 0));
  /* The launch ends after those beside it, so that its successor need not know of them. */
  if (p.beside) bsi_wait_for_predecessor();
}

/* Enqueues solves. SOLVE has
 *   CLASSES  of blocks of any sizes, by rows; 32 is the last
 *   SIZES    of batches of fp64 blocks of one size
 *   WARPS    warps of a thread block
 *   RESIDENT warps of a launch for each multiprocessor, if sizes differ
 *   kernel<FORMAT, M, L, EXACT, VECTORS>(). FORMAT: FP64, or ADAPTIVE for any format. M, L, EXACT:
 *            as in share_of(). VECTORS: right-hand sides. */
template <typename SOLVE> struct solves {
  static constexpr int CLASSES = sizeof SOLVE::CLASSES / sizeof *SOLVE::CLASSES,
                       SIZES = sizeof SOLVE::SIZES / sizeof *SOLVE::SIZES;

  /* So few groups are not worth a launch, and join the next larger class. */
  static constexpr int32_t FEW = 2048;

  static_assert(SOLVE::CLASSES[0].lanes == 1, "a warp takes a whole group of blocks of one row");

  const bisai_context *context;
  const bsi_bjacobi *jacobi;

  /* Launches a kernel for `units` times as many blocks as a warp takes at once. If sizes differ,
   * each warp takes several units where there are many. */
  void launch(void (*kernel)(solve_job), int64_t units, const solve_job &p) const {
    const int64_t most = static_cast<int64_t>(SOLVE::RESIDENT) * context->limits.processors;
    bsi_launch_early(context, kernel,
                     bsi_grid(p.order && units > most ? most : units, SOLVE::WARPS),
                     SOLVE::WARPS * BSI_WARP, 0, p);
  }

  /* Returns the number of groups whose largest block has more than `least` and at most `most`
   * rows. */
  int32_t groups_between(int least, int most) const {
    const int uniform = jacobi->partition.uniform;
    if (uniform) return uniform > least && uniform <= most ? jacobi->groups : 0;
    int32_t sum = 0;
    for (int k = least / 4; k < most / 4; k++) sum += jacobi->workspace.class_groups[k];
    return sum;
  }

  /* Enqueues the groups of class K and of the smaller ones, which end before p.end of the order.
   * The first launch waits for x, and the others run beside it. */
  template <bisai_value_type FORMAT, int VECTORS, int K = CLASSES - 1>
  void enqueue_classes(solve_job p) const {
    constexpr solve_class c = SOLVE::CLASSES[K];
    const int32_t count =
        groups_between(K > 0 ? SOLVE::CLASSES[K > 0 ? K - 1 : 0].rows : 0, c.rows);
    p.from = p.end - count > FEW ? p.end - count : 0;
    p.followed = p.from > 0;
    if (count > 0) {
      launch(SOLVE::template kernel<FORMAT, c.rows, c.lanes, false, VECTORS>(),
             bsi_grid(p.end - p.from, BSI_WARP / c.lanes / p.all.partition.per_group), p);
      p.beside = true, p.end = p.from;
    }
    if constexpr (K > 0)
      if (p.end > 0) enqueue_classes<FORMAT, VECTORS, K - 1>(p);
  }

  /* Enqueues the kernel of the size and returns true, if there is one. K: the first of SIZES to
   * consider. */
  template <int VECTORS, int K = 0> bool enqueue_size(solve_job p) const {
    if constexpr (K < SIZES) {
      constexpr solve_class c = SOLVE::SIZES[K];
      if (p.all.partition.uniform != c.rows) return enqueue_size<VECTORS, K + 1>(p);
      p.end = p.all.partition.blocks;
      launch(SOLVE::template kernel<BISAI_FP64, c.rows, c.lanes, true, VECTORS>(),
             bsi_grid(p.all.partition.blocks, BSI_WARP / c.lanes), p);
      return true;
    }
    return false;
  }

  template <int VECTORS> void enqueue_pass(const bsi_apply_job &all) const {
    const solve_job p = {.all = all,
                         .order = all.partition.uniform ? nullptr : jacobi->workspace.order,
                         .end = all.partition.groups};
    const bool one_size = all.partition.uniform &&
                          all.partition.rows % all.partition.uniform == 0 &&
                          all.partition.per_group == BSI_WARP / all.partition.uniform;
    if (all.storage != BISAI_FP64)
      enqueue_classes<BISAI_ADAPTIVE, VECTORS>(p);
    else if (!one_size || !enqueue_size<VECTORS>(p))
      enqueue_classes<BISAI_FP64, VECTORS>(p);
  }

  /* Enqueues a pass over the blocks for each VECTORS of the `count` vectors, and returns how many
   * vectors are left, which p then begins with. */
  template <int VECTORS> int32_t enqueue_passes(bsi_apply_job *p, int32_t count) const {
    for (; count >= VECTORS; count -= VECTORS, p->x += VECTORS * p->ldx, p->y += VECTORS * p->ldy)
      enqueue_pass<VECTORS>(*p);
    return count;
  }

  void enqueue(bsi_apply_job p, int32_t count) const {
    count = enqueue_passes<4>(&p, count);
    enqueue_passes<1>(&p, count);
  }
};

} // namespace

#endif
