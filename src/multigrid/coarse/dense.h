/* SPDX-License-Identifier: BSD-3-Clause */
/* Small matrices as dense ones on the host, and what inverses of them share. */
#ifndef BSI_DENSE_H
#define BSI_DENSE_H

#include <math.h>

#include "core/matrix/bcsr_impl.h"

/* The most columns of a panel. */
enum { BSI_PANEL = 32 };

/* A Gauss–Jordan elimination in place, and its current panel of columns K (dense_host.c). The
 * arrays are in host memory and belong to the caller. */
typedef struct bsi_elimination {
  /* the matrix of n rows and columns, column by column */
  int64_t n;
  double *a;
  /* the panel: its first column, and its number of columns, at most BSI_PANEL */
  int64_t first;
  int count;
  /* n places: the row with which row k was swapped in the panel. NULL: rows are not swapped */
  int32_t *swapped;
  /* room for W of the panel: n·count doubles */
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

/* Eliminates column k, which has its pivot in row k, in all columns of the panel. */
void bsi_eliminate_column(const bsi_elimination *e, int64_t k);
/* Eliminates the panel in all other columns, and swaps their rows before. */
void bsi_eliminate_others(bisai_context *context, const bsi_elimination *e);

/* dense ← the n² values of a matrix of n scalar rows, column by column. The arrays of the matrix
 * are in host memory. */
void bsi_dense_fill(const bisai_bcsr *a, int64_t n, double *dense);

#endif
