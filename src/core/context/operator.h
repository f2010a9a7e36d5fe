/* SPDX-License-Identifier: BSD-3-Clause */
/* A linear operator M⁻¹ ≈ A⁻¹ behind an interface that lies below the rooms that make such
 * operators and those that use them. Rooms above hand the function that makes one down to rooms
 * below. */
#ifndef BSI_OPERATOR_H
#define BSI_OPERATOR_H

#include <bisai/precond.h>

/* What the memory and the cost of an operator are, in bytes. */
typedef struct bsi_operator_cost {
  int64_t memory;
  /* the most that creation held */
  int64_t peak;
  /* of an application */
  int64_t apply;
} bsi_operator_cost;

typedef struct bsi_operator_ops {
  /* Takes new values of the matrix of creation. Allocates nothing. */
  bisai_status (*update)(void *self, const bisai_bcsr *matrix);
  /* z ← M⁻¹ v, for vectors in backend memory that differ. Allocates nothing. */
  bisai_status (*apply)(void *self, const double *v, double *z);
  bsi_operator_cost (*cost)(const void *self);
  void (*destroy)(void *self);
} bsi_operator_ops;

/* An operator. `ops` is NULL if there is none. */
typedef struct bsi_operator {
  const bsi_operator_ops *ops;
  void *self;
} bsi_operator;

/* Makes an operator of a matrix, which must live as long as the operator. */
typedef bisai_status bsi_operator_create(bisai_context *, const bisai_bcsr *matrix,
                                         const bisai_precond_options *, bsi_operator *);

/* Releases an operator. Accepts one that there is not. */
static inline void bsi_operator_destroy(bsi_operator *o) {
  if (o->ops) o->ops->destroy(o->self);
  *o = (bsi_operator){0};
}

#endif
