/* SPDX-License-Identifier: BSD-3-Clause */
/* Inverses of natural blocks of one size, 9 … 23 rows, that stay in fp64, on a device. A lane has
 * two or three rows of a block, so that each broadcast of a pivot row's value serves two or three
 * rows. */
#include "bjacobi/factorize/kernel_cuda.cuh"

struct uniform_shape {
  /* of a block, and of a lane; lanes of a block */
  int size, rows, lanes;
};

/* Shapes that leave few lanes idle. Norms are found by shuffles alone if the number of lanes is a
 * power of two (bsi_by_shuffles). From 24 rows on classes_cuda.cu is faster
 * (docs/tuning.md, "Block-Jacobi"). */
constexpr uniform_shape SHAPES[] = {
    {9, 3, 3},  {10, 2, 5}, {11, 3, 4}, {12, 3, 4}, {13, 2, 8}, {14, 2, 8}, {15, 2, 8}, {16, 2, 8},
    {17, 3, 8}, {18, 3, 8}, {19, 3, 8}, {20, 3, 8}, {21, 3, 8}, {22, 3, 8}, {23, 3, 8},
};

/* Enqueues the kernel for the job's size; K: the first shape to consider. */
template <int K = 0> static bool enqueue(bisai_context *context, const bsi_values_job &p) {
  constexpr int shapes = sizeof SHAPES / sizeof *SHAPES;
  if constexpr (K < shapes) {
    constexpr uniform_shape s = SHAPES[K];
    static_assert(s.rows * s.lanes >= s.size, "lanes for all rows");
    if (p.partition.uniform != s.size) return enqueue<K + 1>(context, p);
    return bsi_enqueue_values<s.size, s.rows, s.lanes, BISAI_FORM_INVERSE, true, true>(context, p);
  } else {
    return false;
  }
}

bool bsi_enqueue_uniform_inverses(bisai_context *context, const bsi_values_job &p) {
  return enqueue(context, p);
}
