/* SPDX-License-Identifier: BSD-3-Clause */
/* Vectors in fp64 or in fp32. */
#ifndef BSI_TYPED_VECTOR_H
#define BSI_TYPED_VECTOR_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A vector in backend memory. */
typedef struct bsi_vector {
  /* doubles, or floats if `narrow`. NULL: there is no vector */
  void *at;
  bool narrow;
} bsi_vector;

/* Returns a vector in fp64. */
static inline bsi_vector bsi_wide(const double *values) {
  bsi_vector v;
  v.at = (void *)values;
  v.narrow = false;
  return v;
}

#ifdef __cplusplus
}
#endif

#endif
