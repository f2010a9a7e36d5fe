/* SPDX-License-Identifier: BSD-3-Clause */
/* A backend's operations for orderings and equilibration. */
#ifndef BSI_ORDER_OPS_H
#define BSI_ORDER_OPS_H

#include "core/context/backend.h"

#ifdef __cplusplus
extern "C" {
#endif

struct bsi_order_shape; /* order/graph.h */
struct bsi_reordered;   /* order/reordered.h */
struct bsi_equilibration;

typedef struct bsi_shape_ops {
  /* Measures the bandwidth and profile of a square matrix. Waits. */
  bisai_status (*measure)(bisai_context *, const bisai_bcsr *, struct bsi_order_shape *);
} bsi_shape_ops;

/* Vectors into another order. Gathering does y_i ← scale_o x_o, scattering y_o ← scale_o x_i, with
 * o = permutation[i] for the blocks i < n of size bs, and n·bs scales. Without a permutation o = i,
 * without scales they are 1. */
typedef struct bsi_move {
  bool scatter;
  int bs;
  int32_t n;
  const int32_t *permutation;
  const double *scale;
  /* the number of vectors */
  int32_t count;
  const double *x;
  int64_t ldx;
  double *y;
  int64_t ldy;
} bsi_move;

typedef struct bsi_reordered_ops {
  bisai_status (*move)(bisai_context *, const bsi_move *);
  /* Finds powers of two that scale the largest magnitude of each row and column of A to nearly 1.
   * On a device, the arrays of the equilibration are in device memory, its other fields in host
   * memory. Waits. */
  bisai_status (*equilibrate)(bisai_context *, const bisai_bcsr *, struct bsi_equilibration *);
  /* Finds the first of the values that a scalar B leaves out which is not zero, by its place in
   * bsi_reordered::zeros; -1: there is none. Waits. */
  bisai_status (*find_nonzero)(bisai_context *, const bisai_bcsr *, const struct bsi_reordered *,
                               int32_t *first);
  /* Computes the values of the reordered and equilibrated matrix from A's. */
  bisai_status (*values)(bisai_context *, const bisai_bcsr *, struct bsi_reordered *);
} bsi_reordered_ops;

typedef struct bsi_order_ops {
  const bsi_shape_ops *shape;
  const bsi_reordered_ops *reordered;
} bsi_order_ops;

extern const bsi_shape_ops bsi_shape_host, bsi_shape_cuda;
extern const bsi_reordered_ops bsi_reordered_host, bsi_reordered_cuda;

#ifdef __cplusplus
}
#endif

#endif
