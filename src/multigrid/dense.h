/* SPDX-License-Identifier: BSD-3-Clause */
/* Small matrices as dense ones on the host, and what inverses of them share. */
#ifndef BSI_DENSE_H
#define BSI_DENSE_H

#include <math.h>

#include "core/bcsr_impl.h"

/* The most columns of a panel. */
enum { BSI_PANEL = 32 };

/* A panel of columns K in a Gauss–Jordan elimination in place: dense_host.c. */
typedef struct bsi_elimination {
  /* n rows and columns, column by column */
  int64_t n;
  double *a;
  /* the panel: its first column and its number of columns */
  int64_t first;
  int count;
  /* the row that is swapped with row k in the other columns, for each row; NULL: none */
  int32_t *swapped;
  /* n·count doubles for W */
  double *packed;
} bsi_elimination;

/* Returns the place of the largest of `count` magnitudes. NaN is the largest of all. */
static inline int64_t bsi_place_of_largest(int64_t count, const double *x) {
  int64_t place = 0;
  double largest = fabs(x[0]);
  for (int64_t i = 1; i < count && !isnan(largest); i++) {
    const double magnitude = fabs(x[i]);
    if (!(magnitude <= largest)) {
      largest = magnitude;
      place = i;
    }
  }
  return place;
}

/* Eliminates column k with the pivot at row k in all columns of the panel. */
void bsi_eliminate_column(const bsi_elimination *e, int64_t k);
/* Eliminates the panel in all other columns. */
void bsi_eliminate_others(bisai_context *context, const bsi_elimination *e);

/* Writes the blocks of a matrix of n scalar rows, whose arrays are in host memory, into a dense
 * matrix, column by column. */
void bsi_dense_fill(const bisai_bcsr *a, int64_t n, double *dense);

#endif
