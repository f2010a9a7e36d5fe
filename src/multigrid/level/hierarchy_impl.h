/* SPDX-License-Identifier: BSD-3-Clause */
/* The levels of a hierarchy and what they share: the data that all rooms of multigrid work on.
 * multigrid/hierarchy.h has the mathematics. */
#ifndef BSI_HIERARCHY_IMPL_H
#define BSI_HIERARCHY_IMPL_H

#include <bisai/precond.h>

#include "core/context/operator.h"
#include "multigrid/level/level.h"
#include "multigrid/level/multigrid_ops.h"

/* Singular diagonal blocks of coarse matrices are shifted by this part of their row. */
#define BSI_COARSE_SHIFT 0.01

/* How the preconditioners of levels are made, which the smoothers ISAI, SWEEPS and ILU are. */
typedef struct bsi_nested {
  const bisai_precond_options *options;
  bsi_operator_create *create;
} bsi_nested;

/* Applications of the smoother to a coarsest matrix that is too large for a dense inverse. */
enum { BSI_COARSEST_SMOOTHINGS = 8 };

/* The levels above level 0 of a hierarchy that goes on below the levels of several ranks: their
 * number, that of the ranks, the blocks and values of the first one, and the values of all. Rows
 * are not scaled then, and the complexity is that of all levels. */
typedef struct bsi_levels_above {
  int32_t levels, ranks;
  double blocks, values, all_values;
} bsi_levels_above;

/* What a hierarchy is made with. */
typedef struct bsi_multigrid_setup {
  /* the caller's options, with a choice in the place of each AUTO */
  bisai_multigrid_options options;
  /* A is symmetric up to BISAI_SYMMETRY_LIMIT */
  bool symmetric;
  /* A of the last update differs from its transpose by the errors of products at most, so that one
   * half of R A P stands for the other */
  bool halved;
  /* zeros: level 0 is the finest level */
  bsi_levels_above above;
  /* the shift of the diagonal blocks of level 0 that are singular (bsi_inversion_ops::invert) */
  double shift_amount;
  bsi_nested nested;
  /* a level has copies in fp32 if it has more scalar rows than this, because those that the coarse
   * graph records have none, and if the product with its matrix moves more bytes than this */
  int64_t rows_without_copies, least_copied;
  /* several ranks: a product overlaps an exchange if its rows without ghosts have at least that
   * many bytes, and the ghosts of a vector that many */
  int64_t least_overlapped, least_exchanged;
  /* A matrix of n ≤ options.coarsest scalar rows is inverted if it cannot be coarsened. It is
   * inverted without an attempt to coarsen it if also n³ ≤ inverse_work·(v + 8 b), where level 0
   * has v values and b blocks. 0: the second condition is dropped */
  int64_t inverse_work;
  /* Level 0 is inverted if n ≤ options.coarsest */
  bool inverts_first;
  /* A singular matrix of more scalar rows is coarsened if it can be, unless it is level 0 or the
   * smoother has factors. 0: there is no such bound */
  int32_t most_singular;
  /* The limit of the complexity is the default one. A matrix may exceed it if it takes the place of
   * an inverse of more values */
  bool spares_inverses;
  /* the levels are those of one rank of several (multigrid/ranks). NULL: there is one */
  const struct bisai_transport *transport;
} bsi_multigrid_setup;

/* What is found on a level. */
typedef enum bsi_record_kind {
  /* a row without a diagonal block */
  BSI_RECORD_MISSING,
  BSI_RECORD_INVERSION,
  /* bsi_copies */
  BSI_RECORD_COPY_OF_MATRIX,
  BSI_RECORD_COPIES_OF_TRANSFERS,
  /* the coefficients of a Lanczos process, or the norms of power steps */
  BSI_RECORD_RADIUS,
  BSI_RECORD_AGGREGATES
} bsi_record_kind;
enum { BSI_RECORD_KINDS = 6 };

/* What is found on each level, if the host does not wait for it one by one: records in backend
 * memory and in host memory. NULL: the host waits. */
typedef struct bsi_records {
  void *there, *here;
  /* of each kind, and of all kinds of a level */
  size_t bytes[BSI_RECORD_KINDS], of_level;
} bsi_records;

/* Workspace of the bounds of ρ, `values` doubles. NULL: A is not symmetric. */
typedef struct bsi_lanczos_room {
  double *work;
  int64_t values;
} bsi_lanczos_room;

/* multigrid/coarse: the solver of the coarsest level, whose matrix has n scalar rows. */
typedef struct bsi_coarse_solver {
  /* the inverse, and workspace, n² values each. NULL if the matrix is smoothed */
  double *inverse, *work;
  /* n marks of rows that consist of rounding errors, in host memory */
  double *null_marks;
  /* the room of bsi_pseudo_invert(), `room_values` doubles in host memory. NULL if creation found a
   * regular matrix */
  double *room;
  int64_t room_values;
  /* the dimension of the null space */
  int32_t nullity;
  /* what solves in the place of an inverse: the ranks gather the coarsest matrix. Not owned */
  bsi_operator gathered;
} bsi_coarse_solver;

typedef struct bsi_hierarchy {
  bisai_context *context;
  bsi_multigrid_setup setup;
  int count;
  bsi_level levels[BISAI_MULTIGRID_LEVELS];
  /* a matrix of at most that many scalar rows is inverted without an attempt to coarsen it, unless
   * it is singular and has more than setup.most_singular rows */
  int32_t coarsest;
  /* why the last level was not coarsened */
  bisai_coarsening_end ended_by;
  /* scalar nodes: the caller's matrix in blocks of one value without zeros. Otherwise NULL */
  bisai_bcsr *scalar_copy;
  /* A is symmetric, and so is the pattern of level 0. A scalar copy may lack one of two values
   * that are zero up to rounding. Incomplete factors of it are not symmetric */
  bool mirrored;

  bsi_lanczos_room lanczos;
  bsi_records records;
  bsi_coarse_solver coarse;

  /* steps of small levels that are recorded, and steps that wait (operation.h) */
  bsi_coarse_graph graph;
  bsi_fused_sweeps fused;

  /* the inversion of the diagonal blocks of level 0 */
  bsi_invert_stats stats;
  /* the most bytes at any time of creation */
  int64_t peak_bytes;
} bsi_hierarchy;

/* Returns the backend's operations for multigrid. */
static inline const bsi_multigrid_ops *bsi_ops_of(const bsi_hierarchy *h) {
  return h->context->backend->multigrid;
}

/* Returns l of levels[l]. */
static inline int bsi_level_number(const bsi_hierarchy *h, const bsi_level *level) {
  return (int)(level - h->levels);
}

/* Returns true if a level has the matrix of the system: it is level 0 and no coarse one itself. */
static inline bool bsi_is_finest(const bsi_hierarchy *h, const bsi_level *level) {
  return level == h->levels && h->setup.above.levels == 0;
}

/* Returns the last level. While levels are made it is the newest one. */
static inline const bsi_level *bsi_coarsest_of(const bsi_hierarchy *h) {
  return &h->levels[h->count - 1];
}

/* Returns the shift of the singular diagonal blocks of a level (bsi_inversion_ops::invert). */
static inline double bsi_shift_of(const bsi_hierarchy *h, const bsi_level *level) {
  return bsi_is_finest(h, level) ? h->setup.shift_amount : BSI_COARSE_SHIFT;
}

/* Returns true if the matrix of a level is small enough for an inverse, if it is the coarsest. */
static inline bool bsi_may_invert(const bsi_hierarchy *h, const bsi_level *level) {
  return bsi_level_rows(level) <= h->setup.options.coarsest;
}

/* Returns true if the matrix of a level is inverted without an attempt to coarsen it. */
static inline bool bsi_inverts_at_once(const bsi_hierarchy *h, const bsi_level *level) {
  const int l = bsi_level_number(h, level);
  const bool first = bsi_is_finest(h, level) && h->setup.inverts_first;
  const bool always = l == h->setup.options.levels - 1 || first;
  return bsi_level_rows(level) <= h->coarsest || (always && bsi_may_invert(h, level));
}

/* Returns true if a cycle may correct twice on level l. The number of levels decides whether it
 * does: bsi_level_corrects_twice(). */
static inline bool bsi_corrects_twice(bisai_cycle cycle, int l) {
  return cycle == BISAI_CYCLE_VW ? l > 1 : cycle != BISAI_CYCLE_V && l > 0;
}

/* Returns true if the cycle of a hierarchy corrects twice on level l. It corrects once on the
 * coarsest level. If that is inverted, W corrects once on the level above it too, unless this is
 * level 1. With `unweighted` it corrects twice there: the pressures of CPR took 13 iterations
 * instead of 11 with one correction. */
static inline bool bsi_level_corrects_twice(const bsi_hierarchy *h, int l) {
  const bisai_multigrid_options *o = &h->setup.options;
  const int depth = l + h->setup.above.levels;
  const bool once = o->cycle == BISAI_CYCLE_W && depth > 1 && h->coarse.inverse && !o->unweighted;
  return l < h->count - (once ? 2 : 1) && bsi_corrects_twice(o->cycle, depth);
}

/* Allocates `count` objects of `size` bytes in backend memory. Returns NULL without memory. */
static inline void *bsi_hierarchy_reserve(const bsi_hierarchy *h, int64_t count, size_t size) {
  return h->context->backend->memory->allocate(h->context, (size_t)count, size);
}

/* Allocates n doubles in backend memory. Returns NULL without memory. */
static inline double *bsi_hierarchy_reserve_vector(const bsi_hierarchy *h, int64_t n) {
  return (double *)bsi_hierarchy_reserve(h, n, sizeof(double));
}

#endif
