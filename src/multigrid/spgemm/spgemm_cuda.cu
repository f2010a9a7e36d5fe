/* SPDX-License-Identifier: BSD-3-Clause */
/* Values of products of sparse matrices on a device. */
#include <cmath>
#include <utility>

#include "core/block/block_sizes.h"
#include "multigrid/spgemm/numeric_cuda.cuh"
#include "multigrid/spgemm/own_blocks_cuda.cuh"
#include "multigrid/spgemm/scalar_spgemm_cuda.cuh"
#include "multigrid/spgemm/short_rows_cuda.cuh"

namespace {

/* Messages of failures begin with it. */
constexpr char what[] = "product of sparse matrices";

enum {
  /* blocks of a small matrix for each multiprocessor (docs/tuning.md, "Multigrid and CPR") */
  SMALL = 38,
  /* bytes of shared memory of a thread block, which every device has */
  MOST_SHARED = 48 * 1024,
  /* lanes of a row */
  LEAST_LANES = 4,
  /* how many times a row may be longer than what its lanes hold */
  MOST_PASSES = 4,
  /* the most values of a row of A, on average, that one thread goes through */
  MEAN_LEFT = 12,
  /* threads that leave a device with time for more of them */
  FEW_THREADS = 1 << 16,
  /* threads of a multiprocessor, each of which searches for every block of a row of A */
  MANY_THREADS = 2048
};

/* Lanes hold this many times the mean number of values of a row, so that most rows take one
 * pass. */
constexpr double ROOM = 1.5;

/* Shared memory has room for this many times the mean number of blocks of rows of A. */
constexpr double SPARE = 1.1;

using kernel = void (*)(product);

/* The kernels for a shape of blocks. NULL: there is none. `by_rows` and `by_short_rows` have one
 * for each `side`. */
struct kernels {
  kernel by_rows[3], by_short_rows[3], by_blocks, by_own_blocks;
};

/* Kernels smooth only where D⁻¹ is as large as the blocks of A, from the left, or of B, from the
 * right. */
template <int H, int M, bool A, bool B> kernels all() {
  kernels k = {};
  k.by_rows[PLAIN] = multiply_rows<H, M, A, B, PLAIN>;
  k.by_blocks = multiply_blocks<H, M, A, B>;
  if constexpr (A && B && H % OWN_COLUMNS == 0 && M % OWN_COLUMNS == 0)
    k.by_own_blocks = multiply_own_blocks<H, M>;
  if constexpr (A && H == M) k.by_rows[LEFT] = multiply_rows<H, M, A, B, LEFT>;
  if constexpr (B) k.by_rows[RIGHT] = multiply_rows<H, M, A, B, RIGHT>;
  if constexpr (A && H <= LARGEST_SHORT && M <= LARGEST_SHORT) {
    k.by_short_rows[PLAIN] = multiply_short_rows<H, M, B, PLAIN>;
    if constexpr (H == M) k.by_short_rows[LEFT] = multiply_short_rows<H, M, B, LEFT>;
  }
  return k;
}

/* Returns the kernels for blocks of A of SIZE × SIZE. */
template <int SIZE> kernels square(bool a, bool b) {
  if (a && b) return all<SIZE, SIZE, true, true>();
  if (a) return all<SIZE, SIZE, true, false>();
  return b ? all<SIZE, SIZE, false, true>() : kernels{};
}

/* Restrictions by rigid-body modes in two and three dimensions have other shapes too. */
kernels kernels_for(const product &s) {
  if (s.b.values && s.height == 6 && s.inner == 3) return all<6, 3, true, true>();
  if (s.b.values && s.height == 3 && s.inner == 2) return all<3, 2, true, true>();
  if (s.height != s.inner) return {};
  switch (s.height) {
#define SQUARE(size)                                                                               \
  case size: return square<size>(s.a.values, s.b.values);
    BSI_BLOCK_SIZES(SQUARE)
  default: return {};
  }
}

/* Returns the bytes of shared memory of a block of C, and of its column unless slots are known. */
int bytes_of_block(const product &s) {
  return static_cast<int>(sizeof(double)) * s.height * s.width +
         (s.slots.of ? 0 : static_cast<int>(sizeof(int32_t)));
}

/* Sets the lanes and the window. Returns false if the rows of C are too long for shared memory.
 *   length: the mean number of blocks of a row of B
 *   longest: the most blocks of a row of C */
bool fits_shared(product *s, double length, int32_t longest) {
  const double mean = static_cast<double>(s->blocks) / s->rows;
  s->lanes = LEAST_LANES;
  while (s->lanes < BSI_WARP && (s->lanes < s->width || s->lanes / s->width < 0.75 * length ||
                                 s->rows <= FEW_THREADS / (2 * s->lanes)))
    s->lanes *= 2;
  for (; s->lanes <= BSI_WARP; s->lanes *= 2) {
    const int most = MOST_SHARED / (BLOCK_THREADS / s->lanes * bytes_of_block(*s));
    s->window = longest < most ? longest : most;
    if (mean <= most && longest / MOST_PASSES <= most) return true;
  }
  return false;
}

/* Returns true if C has so few blocks that a warp for each of them takes less time than a few lanes
 * that go through all products of a row. */
bool is_small(const bisai_context *context, const bsi_block_matrix *c) {
  return c->blocks <= SMALL * static_cast<int64_t>(context->limits.processors);
}

/* Returns true if threads for columns of blocks of C take less time than lanes for its rows. Those
 * for blocks of 3 rows do so if there are many. */
bool takes_own_blocks(const bisai_context *context, const product &s) {
  const int64_t threads = static_cast<int64_t>(s.blocks) * (s.width / OWN_COLUMNS);
  return s.width % OWN_COLUMNS == 0 &&
         (s.height > OWN_COLUMNS ||
          threads > MANY_THREADS * static_cast<int64_t>(context->limits.processors));
}

/* Sets what a thread for each column of a row of C needs, and the bytes of shared memory. Returns
 * false if it is not best.
 *   blocks: those of A */
bool fits_short(product *s, int32_t blocks, int32_t longest, size_t *shared) {
  const double length = static_cast<double>(blocks) / s->rows;
  const int64_t mean = s->height * s->width == 1 ? MEAN_SHORT_VALUES : MEAN_SHORT;
  if (static_cast<int64_t>(s->rows) * s->width <= FEW_THREADS || s->blocks > mean * s->rows ||
      length > MEAN_LEFT)
    return false;
  s->longest = longest;
  s->window = static_cast<int>(SPARE * length * (BLOCK_THREADS / s->width)) + 1;
  const size_t columns = static_cast<size_t>(longest) * (BLOCK_THREADS / s->width),
               bytes =
                   bsi_short_rows_bytes(longest, s->window, BLOCK_THREADS, s->height, s->inner) +
                   (s->slots.of ? 0 : sizeof(int32_t) * columns);
  if (bytes > MOST_SHARED) return false;
  *shared = bytes;
  return true;
}

/* Returns the kernel for long rows of single values times identities, and sets the lanes and the
 * window, or NULL. */
kernel rows_of_singles(product *s, int32_t longest) {
  const double mean = static_cast<double>(s->blocks) / s->rows;
  const bool short_row = std::fmin(longest, ROOM * mean) <= 2 * SINGLE_LANES;
  s->lanes = SINGLE_LANES;
  s->window = (short_row ? 2 : 4) * SINGLE_LANES;
  if (s->height * s->inner * s->width != 1 || !s->a.values || s->b.values || longest == 0 ||
      longest / MOST_PASSES > s->window || mean > s->window ||
      s->rows <= FEW_THREADS / SINGLE_LANES)
    return nullptr;
  return short_row ? multiply_singles<2> : multiply_singles<4>;
}

/* How the values of a product are computed. */
struct way {
  product s;
  kernel run;
  dim3 grid, block;
  size_t shared;
  /* it takes the slots of the products, if they are known; it smooths the blocks, if they are
   * smoothed */
  bool slots, smooths;
  /* what sets the other half of a halved product, or NULL */
  kernel mirror;
};

product product_of(const bsi_block_matrix *a, const bsi_block_matrix *b,
                   const bsi_smoothing *smoothing, const bsi_block_matrix *c) {
  product s = {};
  s.rows = c->rows, s.blocks = c->blocks;
  s.height = c->height, s.inner = a->width, s.width = c->width;
  s.a = {a->row_ptr, a->col_idx, a->values};
  s.b = {b->row_ptr, b->col_idx, b->values};
  s.c = {c->row_ptr, c->col_idx, c->values};
  if (a->multiples) std::swap(s.a.values, s.weights);
  s.slots = {c->slots.before, c->slots.of};
  s.upper = c->slots.halved ? c->slots.upper : nullptr;
  if (!smoothing) return s;
  const bsi_block_matrix *t = smoothing->t;
  s.smoothing = {{t->row_ptr, t->col_idx, t->values}, smoothing->inverse, smoothing->omega};
  return s;
}

way way_of(const bisai_context *context, const bsi_block_matrix *a, const bsi_block_matrix *b,
           const bsi_smoothing *smoothing, const bsi_block_matrix *c) {
  way w = {product_of(a, b, smoothing, c),
           multiply_any,
           grid_of_blocks(c->blocks, BSI_WARP),
           BLOCK_THREADS,
           0,
           false,
           false,
           nullptr};
  product *s = &w.s;
  const kernels of_shape = is_small(context, c) ? kernels{} : kernels_for(*s);
  const double length = static_cast<double>(b->blocks) / b->rows;
  const int32_t longest = c->slots.longest;
  const side wished = !smoothing ? PLAIN : smoothing->from_right ? RIGHT : LEFT;
  const auto take = [&](const kernel(&of_side)[3]) {
    w.smooths = of_side[wished] && (wished != RIGHT || s->width == s->inner);
    w.run = of_side[w.smooths ? wished : PLAIN];
    w.slots = true;
  };
  if (!smoothing && of_shape.by_own_blocks && takes_own_blocks(context, *s)) {
    w.run = of_shape.by_own_blocks;
    w.grid = grid_of_blocks(s->blocks, s->width / OWN_COLUMNS);
    w.mirror = s->height == 3 ? mirror_blocks<3> : mirror_blocks<6>;
  } else if (longest > 0 && of_shape.by_short_rows[PLAIN] &&
             fits_short(s, a->blocks, longest, &w.shared)) {
    take(of_shape.by_short_rows);
    w.block = dim3(s->width, BLOCK_THREADS / s->width);
    w.grid = bsi_grid(s->rows, static_cast<int>(w.block.y));
  } else if (kernel singles = rows_of_singles(s, longest)) {
    w.run = singles;
    w.grid = bsi_grid(s->rows, BLOCK_THREADS / s->lanes);
  } else if (longest > 0 && of_shape.by_rows[PLAIN] && fits_shared(s, length, longest)) {
    const int groups = BLOCK_THREADS / s->lanes;
    take(of_shape.by_rows);
    w.grid = bsi_grid(s->rows, groups);
    w.shared = static_cast<size_t>(groups) * s->window * bytes_of_block(*s);
  } else if (of_shape.by_blocks) {
    w.run = of_shape.by_blocks;
    w.grid = grid_of_blocks(s->blocks, s->width);
  }
  return w;
}

} // namespace

static bisai_status find_slots(bisai_context *context, const bsi_block_matrix *a,
                               const bsi_block_matrix *b, bsi_block_matrix *c) {
  if (c->blocks == 0 || !way_of(context, a, b, nullptr, c).slots) return BISAI_OK;
  return bsi_find_product_slots(context, a, b, c);
}

static bisai_status find_upper(bisai_context *context, const bsi_block_matrix *a,
                               const bsi_block_matrix *b, bsi_block_matrix *c) {
  if (c->blocks == 0 || !way_of(context, a, b, nullptr, c).mirror) return BISAI_OK;
  return bsi_find_upper(context, c);
}

static bisai_status multiply_smoothed(bisai_context *context, const bsi_block_matrix *a,
                                      const bsi_block_matrix *b, const bsi_smoothing *smoothing,
                                      bsi_block_matrix *c) {
  if (c->blocks == 0) return BISAI_OK;
  const way w = way_of(context, a, b, smoothing, c);
  bsi_launch_early(context, w.run, w.grid, w.block, w.shared, w.s);
  if (w.s.upper && w.mirror)
    bsi_launch_early(context, w.mirror, bsi_grid(w.s.rows, BLOCK_THREADS / BSI_WARP), BLOCK_THREADS,
                     0, w.s);
  BSI_TRY(bsi_launched(context, what));
  return smoothing && !w.smooths ? bsi_smooth_product_cuda(context, smoothing, c) : BISAI_OK;
}

static bisai_status multiply_values(bisai_context *context, const bsi_block_matrix *a,
                                    const bsi_block_matrix *b, bsi_block_matrix *c) {
  return multiply_smoothed(context, a, b, nullptr, c);
}

static int64_t structure_room(const bisai_context *, const bsi_block_matrix *,
                              const bsi_block_matrix *, int64_t) {
  return 0;
}

static bisai_status load(bisai_context *context) { return bsi_gpu_load(context, multiply_any); }

const bsi_spgemm_ops bsi_spgemm_cuda = {.multiply_structure = bsi_multiply_structure,
                                        .find_slots = find_slots,
                                        .find_upper = find_upper,
                                        .structure_room = structure_room,
                                        .multiply_values = multiply_values,
                                        .multiply_smoothed = multiply_smoothed,
                                        .load = load};
