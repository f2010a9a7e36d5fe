/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernels for blocks of any sizes, by the rows of the largest block. They are compiled apart
 * from their launches in values_cuda.cu, because their many sizes take minutes. */
#include "bjacobi/factorize/kernel_cuda.cuh"

namespace {

struct size_class {
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
constexpr size_class INVERSES[] = {
    /* rows, of a lane, lanes, exact */
    {4, 1, 0, false},  {8, 1, 8, true},    {8, 1, 0, false},   {12, 3, 4, false},
    {16, 2, 8, false}, {24, 1, 32, false}, {32, 1, 32, false},
};

/* Decompositions */
constexpr size_class DECOMPOSITIONS[] = {
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
void enqueue_class(bisai_context *context, int max_rows, const bsi_values_job &p) {
  constexpr int classes = sizeof CLASSES / sizeof *CLASSES;
  constexpr size_class c = CLASSES[K];
  const bool fits = c.exact ? max_rows == c.rows && p.launch.largest == c.rows : max_rows <= c.rows;
  if (fits && bsi_enqueue_values<c.rows, c.of_lane, c.lanes, FORM, PLAIN>(context, p)) return;
  if constexpr (K + 1 < classes) enqueue_class<CLASSES, FORM, PLAIN, K + 1>(context, max_rows, p);
}

} // namespace

/* Blocks from any source, with repairs and in every format. */
void bsi_enqueue_inverses(bisai_context *context, int max_rows, const bsi_values_job &p) {
  enqueue_class<INVERSES, BISAI_FORM_INVERSE, false>(context, max_rows, p);
}

/* Blocks that lie side by side and stay in fp64. */
void bsi_enqueue_plain_inverses(bisai_context *context, int max_rows, const bsi_values_job &p) {
  enqueue_class<INVERSES, BISAI_FORM_INVERSE, true>(context, max_rows, p);
}

void bsi_enqueue_decompositions(bisai_context *context, int max_rows, const bsi_values_job &p) {
  if (p.result.form == BISAI_FORM_LU)
    enqueue_class<DECOMPOSITIONS, BISAI_FORM_LU, false>(context, max_rows, p);
  else
    enqueue_class<DECOMPOSITIONS, BISAI_FORM_GAUSS_HUARD, false>(context, max_rows, p);
}
