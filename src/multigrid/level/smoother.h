/* SPDX-License-Identifier: BSD-3-Clause */
/* The interface of a smoother of multigrid. multigrid/smoothers has one file for each smoother,
 * which defines the table bsi_smoother_NAME. A function that is NULL does nothing, or what its
 * comment says. */
#ifndef BSI_SMOOTHER_H
#define BSI_SMOOTHER_H

#include "multigrid/level/hierarchy_impl.h"

/* The most options that belong to a smoother. */
enum { BSI_SMOOTHER_OPTIONS = 4 };

typedef struct bsi_smoother {
  /* the members of bisai_precond_options that it reads; NULL follows the last */
  const char *options[BSI_SMOOTHER_OPTIONS];
  /* that of these members which says how many steps an application has; NULL: it has one */
  const char *steps;
  /* it is a preconditioner of this kind, made of the matrix of each level; NONE: it is a
   * relaxation, whose operations may be fused and recorded */
  bisai_precond_kind kind;
  /* cycles with it are definite if A is */
  bool definite;
  /* bytes of bsi_level_smoother::state, which are zeros at first */
  size_t state_size;
  /* makes what it needs beyond D⁻¹ */
  bisai_status (*create)(bsi_hierarchy *, bsi_level *);
  /* takes new values of the level's matrix. Allocates nothing */
  bisai_status (*update)(bsi_hierarchy *, bsi_level *);
  /* to ← `count` applications to A x = b, from the vector `from` or, if there is none, from zero.
   * `from`, `to` and level->work.y are different arrays. Those of a smoother that is a
   * preconditioner are in fp64 */
  bisai_status (*smooth)(bsi_hierarchy *, bsi_level *, int32_t count, bsi_vector b, bsi_vector from,
                         bsi_vector to);
  /* the relaxations of an application. NULL: 1 */
  int32_t (*degree)(const bisai_multigrid_options *);
  /* cycles with it are symmetric if A is. NULL: they are */
  bool (*symmetric)(const bsi_hierarchy *);
  /* the bytes of what `create` made */
  int64_t (*memory)(const bsi_level *);
  /* the bytes that an application moves beside those of the product with A. NULL: those of a
   * relaxation */
  int64_t (*apply_bytes)(const bsi_level *);
  void (*destroy)(bisai_context *, bsi_level *);
} bsi_smoother;

/* Returns the number of relaxations of an application of the smoother of a level. */
static inline int64_t bsi_smoother_degree(const bsi_hierarchy *h, const bsi_level *level) {
  const bsi_smoother *s = level->smoother.ops;
  return s && s->degree ? s->degree(&h->setup.options) : 1;
}

/* Returns true if the smoother of a level is a preconditioner. */
static inline bool bsi_smoother_is_nested(const bsi_level *level) {
  return level->smoother.ops && level->smoother.ops->kind != BISAI_PRECOND_NONE;
}

#endif
