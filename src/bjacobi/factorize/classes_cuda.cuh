/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernels for blocks of any sizes, by the rows of the largest block. For *_cuda.cu only. */
#ifndef BSI_CLASSES_CUDA_CUH
#define BSI_CLASSES_CUDA_CUH

#include "bjacobi/factorize/values_cuda.cuh"

struct bsi_size_class {
  /* the most rows of a block, and the rows of a lane */
  int rows, of_lane;
  /* lanes of a sub-warp; 0: as many as the largest block has rows */
  int lanes;
  /* true: the class is for launches whose largest block has exactly `rows` rows */
  bool exact;
};

/* Inverses. A class has registers for its own rows alone. From 9 rows on a lane has two or three
 * rows, so that each broadcast of a pivot row's value serves them all, and from 17 rows on a warp
 * has one block (bjacobi/factorize/fragment_inverse_cuda.cuh). */
constexpr bsi_size_class BSI_INVERSE_CLASSES[] = {
    /* rows, of a lane, lanes, exact */
    {4, 1, 0, false},  {8, 1, 8, true},    {8, 1, 0, false},   {12, 3, 4, false},
    {16, 2, 8, false}, {24, 1, 32, false}, {32, 1, 32, false},
};

/* Decompositions */
constexpr bsi_size_class BSI_DECOMPOSITION_CLASSES[] = {
    /* rows, of a lane, lanes, exact */
    {8, 1, 0, false},
    {16, 1, 0, false},
    {24, 1, 32, false},
    {32, 1, 32, false},
};

/* Enqueues the kernel of the first class that fits blocks of at most max_rows rows and the shared
 * memory of the device.
 * CLASSES: one of the tables above.
 * FORM, PLAIN: as in bsi_compute_values.
 * K: the first class to consider. */
template <const auto &CLASSES, bisai_form FORM, bool PLAIN, int K = 0>
static inline void bsi_enqueue_class(bisai_context *context, int max_rows,
                                     const bsi_values_job &p) {
  constexpr int classes = sizeof CLASSES / sizeof *CLASSES;
  constexpr bsi_size_class c = CLASSES[K];
  const bool fits = c.exact ? max_rows == c.rows && p.largest == c.rows : max_rows <= c.rows;
  if (fits && bsi_enqueue_values<c.rows, c.of_lane, c.lanes, FORM, PLAIN>(context, p)) return;
  if constexpr (K + 1 < classes)
    bsi_enqueue_class<CLASSES, FORM, PLAIN, K + 1>(context, max_rows, p);
}

#endif
