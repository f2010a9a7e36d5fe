/* SPDX-License-Identifier: BSD-3-Clause */
/* A level of multigrid: its matrix A, D⁻¹, smoother, transfers, copies and work vectors. Arrays are
 * in backend memory unless a comment says otherwise. n is the number of scalar rows of A. The
 * matrix of a rank has more columns, those of ghosts (multigrid/ranks). Each part is made, updated
 * and released by the room that its comment names. */
#ifndef BSI_LEVEL_H
#define BSI_LEVEL_H

#include "core/matrix/triangular.h"
#include "multigrid/level/operation.h"
#include "multigrid/spgemm/block_matrix.h"

struct bsi_smoother; /* multigrid/smoothers/smoother.h */
struct bsi_halo;     /* multigrid/halo/halo.h */
struct bsi_splits;   /* multigrid/halo/split.h */

enum { BSI_MISSING_RECORDED = -2 };

/* multigrid/diagonal: D⁻¹, and ρ(D⁻¹A) */
typedef struct bsi_level_diagonal {
  /* for each block row: the place of its diagonal block in A, and the inverse of this block */
  int32_t *position;
  /* the first block row without a diagonal block, −1, or BSI_MISSING_RECORDED: it is still in a
   * record */
  int32_t missing;
  double *inverse;
  /* the largest magnitude in D⁻¹ */
  double largest;
  /* What the inversion of an update found, which is judged after the finer levels, and whether it
   * is still in a record */
  bsi_invert_stats found;
  bool unjudged, deferred;
  /* ρ(D⁻¹A) (radius.c): an upper bound for a symmetric A, otherwise an estimate from below. 0 if A
   * is inverted */
  double radius;
  /* the growth of power steps, an estimate from below */
  double growth;
  /* The rows that consist of rounding errors (null_rows.c): their number, and n marks in host
   * memory, which are 1 for these rows and 0 for others. Behind the marks there is room for D⁻¹.
   * NULL if creation had no reason to look for such rows */
  int64_t null_rows;
  double *null_marks;
} bsi_level_diagonal;

/* multigrid/smoothers */
typedef struct bsi_level_smoother {
  /* NULL: the level is not smoothed */
  const struct bsi_smoother *ops;
  /* the smoother's own data, in host memory; NULL if it has none */
  void *state;
  /* what relaxations multiply by: D⁻¹, or what the smoother takes for it. Not owned */
  const double *inverse;
} bsi_level_smoother;

/* multigrid/coarsening: the transfers to the next level, which are empty on the coarsest one */
typedef struct bsi_level_transfers {
  /* T, Tᵀ, P, R and A P. P is empty if it is T, and R if it is Tᵀ: bsi_prolongation_of(),
   * bsi_restriction_of() */
  bsi_block_matrix tentative, tentative_transposed, prolongation, restriction, product;
  /* R A P as a product, which is the matrix of the next level. This level owns the slots only */
  bsi_block_matrix coarse;
  /* for each block of Tᵀ its place in T; for each block of R = Pᵀ its place in P */
  int32_t *tentative_position, *prolongation_position;
  /* T of identity blocks: what makes A T (bsi_aggregation_ops::filter). `weak` is kept for updates,
   * NULL over ranks and if all or none is kept */
  int32_t *filtered;
  uint8_t *weak;
  bsi_block_matrix identity;
  /* bsi_row_scaling::first_size */
  double first_size;
} bsi_level_transfers;

/* The copies in fp32 of a level: those of A and D⁻¹, and those of P and R. Copies of a group are
 * updated together. */
typedef enum bsi_copies { BSI_COPY_OF_MATRIX, BSI_COPIES_OF_TRANSFERS } bsi_copies;
enum { BSI_COPIES = 2 };

/* multigrid/cycle/fp32_copy.c. NULL: there is no copy. Cycles read the copies if `in_use` is true.
 * */
typedef struct bsi_level_fp32 {
  bisai_bcsr *matrix, *prolongation, *restriction;
  /* of P and R whose blocks are not square: the values alone */
  float *prolongation_values, *restriction_values;
  /* D⁻¹, if relaxations multiply by it */
  float *inverse;
  bool in_use;
  /* for each of bsi_copies: fp32 represents all values; whether it does is still in a record */
  bool fits[BSI_COPIES], recorded[BSI_COPIES];
} bsi_level_fp32;

/* Work vectors of n values, and of the ghosts. They have room for fp64. */
typedef struct bsi_level_work {
  /* x, y, residual, b, solution and second are in fp32, during a cycle */
  bool narrow;
  /* the iterate between two smoothings, one inside a smoothing, and a residual */
  double *x, *y, *residual;
  /* y and the residual are those of level 0: no level needs them while a cycle visits another */
  bool shared;
  /* the right-hand side and the solution; NULL on level 0, where they are the caller's, unless
   * there are several ranks */
  double *b, *solution;
  /* if cycles correct twice (bsi_corrects_twice): the result of the first cycle, or with K the
   * second correction */
  double *second;
  /* K: A times the two corrections, and BSI_K_WORK scalars */
  double *image, *second_image, *scalars;
} bsi_level_work;

typedef struct bsi_level {
  /* A. On level 0 it is the caller's matrix or bsi_hierarchy::scalar_copy, and `own` is NULL. On
   * coarser levels `matrix` and `own` are the same */
  const bisai_bcsr *matrix;
  bisai_bcsr *own;
  /* how far the blocks of A lie from the diagonal, if the backend fuses sweeps */
  bsi_bandwidth bandwidth;
  bsi_level_diagonal diagonal;
  bsi_level_smoother smoother;
  bsi_level_transfers transfers;
  bsi_level_fp32 fp32;
  bsi_level_work work;
  /* the ghosts of the rows; NULL: there is one rank. Not owned */
  struct bsi_halo *halo;
  /* which rows products do before the ghosts have come; NULL: none. Not owned */
  const struct bsi_splits *splits;
} bsi_level;

/* Returns the scalar rows of the matrix of a level. */
static inline int64_t bsi_level_rows(const bsi_level *level) {
  return (int64_t)level->matrix->block_rows * level->matrix->block_size;
}

/* Returns the values of a vector with room for the ghosts. */
static inline int64_t bsi_level_room(const bsi_level *level) {
  const bisai_bcsr *a = level->matrix;
  return (int64_t)(a->block_cols > a->block_rows ? a->block_cols : a->block_rows) * a->block_size;
}

/* Returns the number of values in the diagonal blocks of a level. */
static inline int64_t bsi_level_diagonal_values(const bsi_level *level) {
  return (int64_t)bsi_block_offset(level->matrix, level->matrix->block_rows);
}

/* Returns a work vector of a level as cycles see it. */
static inline bsi_vector bsi_work_vector(const bsi_level *level, double *values) {
  bsi_vector v = bsi_wide(values);
  v.narrow = level->work.narrow;
  return v;
}

/* Returns P of a level. */
static inline const bsi_block_matrix *bsi_prolongation_of(const bsi_level *level) {
  const bsi_level_transfers *t = &level->transfers;
  return t->prolongation.row_ptr ? &t->prolongation : &t->tentative;
}

/* Returns R of a level. */
static inline const bsi_block_matrix *bsi_restriction_of(const bsi_level *level) {
  const bsi_level_transfers *t = &level->transfers;
  return t->restriction.row_ptr ? &t->restriction : &t->tentative_transposed;
}

/* Return P and R as cycles read them if there is no matrix of them in fp32. */
static inline bsi_block_matrix bsi_cycle_prolongation(const bsi_level *level) {
  bsi_block_matrix m = *bsi_prolongation_of(level);
  if (level->fp32.in_use) m.narrow = level->fp32.prolongation_values;
  return m;
}
static inline bsi_block_matrix bsi_cycle_restriction(const bsi_level *level) {
  bsi_block_matrix m = *bsi_restriction_of(level);
  if (level->fp32.in_use) m.narrow = level->fp32.restriction_values;
  return m;
}

/* Returns D⁻¹ in fp32 if cycles read that. */
static inline const float *bsi_cycle_inverse(const bsi_level *level) {
  return level->fp32.in_use ? level->fp32.inverse : NULL;
}

/* Returns the matrix that cycles read on a level: A, or its copy in fp32. */
static inline const bisai_bcsr *bsi_cycle_matrix(const bsi_level *level) {
  return level->fp32.in_use ? level->fp32.matrix : level->matrix;
}

#endif
