/* SPDX-License-Identifier: BSD-3-Clause */
/* What takes a level to the next one: strengths, aggregates, near-null-space vectors. */
#ifndef BSI_COARSENING_H
#define BSI_COARSENING_H

#include "multigrid/level/hierarchy_impl.h"

/* The arrays are in backend memory, and are released when the
 * next level is there. */
typedef struct bsi_coarsening {
  /* for each block of A: bsi_aggregation_ops::weigh */
  float *strength;
  /* for each block row of A: bsi_aggregation_ops::aggregate */
  int32_t *aggregate;
  /* the number of aggregates, and the scalar columns of T that each has */
  int32_t count;
  int width;
  /* the block rows in aggregates, or −1 if the host does not know their number */
  int32_t members;
  /* the near-null-space vectors of this level and of the next one. NULL: T has identity blocks */
  double *vectors, *coarse_vectors;
} bsi_coarsening;

/* Computes the strengths of a level. c->aggregate has room for the columns of A. What has been
 * reserved is used again. */
bisai_status bsi_coarsening_weigh(bsi_hierarchy *h, const bsi_level *level, bsi_coarsening *c);
/* Computes the strengths and the aggregates of a level. On a device the host does not wait. */
bisai_status bsi_coarsening_begin(bsi_hierarchy *h, const bsi_level *level, bsi_coarsening *c);
/* Sets c->count and c->members, after the records of the level have been fetched. */
void bsi_coarsening_end(const bsi_hierarchy *h, const bsi_level *level, bsi_coarsening *c);
/* bsi_hierarchy_note_peak() for the present arrays of a coarsening and `room` bytes more. `level`
 * is the finer level. */
void bsi_coarsening_note_peak(bsi_hierarchy *h, const bsi_level *level, const bsi_coarsening *c,
                              int64_t room);
/* Releases everything but the vectors of the next level, which take the place of the others. */
void bsi_coarsening_release(bisai_context *context, bsi_coarsening *c);

#endif
