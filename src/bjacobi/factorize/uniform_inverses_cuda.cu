/* SPDX-License-Identifier: BSD-3-Clause */
/* Inverses of natural blocks of one size, 9 … 23 rows, that stay in fp64, on a device. A lane has
 * two or three rows of a block, so that each broadcast of a pivot row's value serves two or three
 * rows. */
#include "bjacobi/factorize/values_cuda.cuh"

struct uniform_shape {
  /* of a block, and of a lane; lanes of a block */
  int size, rows, lanes;
};

/* Shapes that leave few lanes idle. Norms are found by shuffles alone if the number of lanes is a
 * power of two (bsi_by_shuffles). The comments give the time of the set-up of 100,000 blocks over
 * that of a copy, from bench/results/h200-batches.json (H200, commit 8f005d7), section "sizes".
 * From 24 rows on plain_inverses_cuda.cu is faster. */
constexpr uniform_shape SHAPES[] = {
    {9, 3, 3},  /* 2.24 */
    {10, 2, 5}, /* 2.11 */
    {11, 3, 4}, /* 1.95 */
    {12, 3, 4}, /* 1.89 */
    {13, 2, 8}, /* 2.22 */
    {14, 2, 8}, /* 2.09 */
    {15, 2, 8}, /* 1.98 */
    {16, 2, 8}, /* 1.89 */
    {17, 3, 8}, /* 2.56 */
    {18, 3, 8}, /* 2.57 */
    {19, 3, 8}, /* 2.51 */
    {20, 3, 8}, /* 2.43 */
    {21, 3, 8}, /* 2.44 */
    {22, 3, 8}, /* 2.40 */
    {23, 3, 8}, /* 2.36 */
};

/* Enqueues the kernel for the job's size; K: the first shape to consider. */
template <int K = 0> static bool enqueue(bisai_context *context, const bsi_values_job &p) {
  constexpr int shapes = sizeof SHAPES / sizeof *SHAPES;
  if constexpr (K < shapes) {
    constexpr uniform_shape s = SHAPES[K];
    static_assert(s.rows * s.lanes >= s.size, "lanes for all rows");
    if (p.uniform != s.size) return enqueue<K + 1>(context, p);
    return bsi_enqueue_values<s.size, s.rows, s.lanes, BISAI_FORM_INVERSE, true, true>(context, p);
  } else {
    return false;
  }
}

bool bsi_enqueue_uniform_inverses(bisai_context *context, const bsi_values_job &p) {
  return enqueue(context, p);
}
