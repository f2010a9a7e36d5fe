/* SPDX-License-Identifier: BSD-3-Clause */
/* Inverses of many blocks on a device, by the size of the largest. Each user of this header
 * compiles one kind of kernels, so that the kinds compile side by side. For *_cuda.cu only. */
#ifndef BSI_INVERSES_CUDA_CUH
#define BSI_INVERSES_CUDA_CUH

#include "bjacobi/values_cuda.cuh"

struct bsi_inverse_class {
  /* the most rows of a block */
  int rows;
  /* lanes of a sub-warp; 0: as many as the largest block has rows */
  int lanes;
  /* true: the class is for launches whose largest block has exactly `rows` rows */
  bool exact;
};

/* A launch takes the first class that fits. A class has registers for its own rows alone. Two
 * classes have constant sub-warps of 8 and 16 lanes, and from 17 rows on a sub-warp is a warp: its
 * maximum is one instruction. Chosen on an H200 (commit a028594). Measured together in
 * bench/results/h200-batches.json (H200, commit 8f005d7), section "mixed": 200,000 blocks of 1 … 32
 * rows take 6.77 times as long as a copy of them. */
constexpr bsi_inverse_class BSI_INVERSE_CLASSES[] = {
    {.rows = 4, .lanes = 0, .exact = false},   {.rows = 8, .lanes = 8, .exact = true},
    {.rows = 8, .lanes = 0, .exact = false},   {.rows = 12, .lanes = 0, .exact = false},
    {.rows = 16, .lanes = 16, .exact = true},  {.rows = 16, .lanes = 0, .exact = false},
    {.rows = 20, .lanes = 32, .exact = false}, {.rows = 24, .lanes = 32, .exact = false},
    {.rows = 28, .lanes = 32, .exact = false}, {.rows = 32, .lanes = 32, .exact = false},
};

/* Enqueues the inversion of blocks of at most max_rows rows.
 * PLAIN: as in bsi_compute_values.
 * K: the first class to consider. */
template <bool PLAIN, int K = 0>
static inline void bsi_enqueue_class(const bisai_context *context, int max_rows,
                                     const bsi_values_job &p) {
  constexpr int classes = sizeof BSI_INVERSE_CLASSES / sizeof *BSI_INVERSE_CLASSES;
  constexpr bsi_inverse_class c = BSI_INVERSE_CLASSES[K];
  if (c.exact ? max_rows == c.rows && p.largest == c.rows : max_rows <= c.rows)
    bsi_enqueue_values<c.rows, 1, c.lanes, BISAI_FORM_INVERSE, PLAIN>(context, p);
  else if constexpr (K + 1 < classes)
    bsi_enqueue_class<PLAIN, K + 1>(context, max_rows, p);
}

#endif
