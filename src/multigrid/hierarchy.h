/* SPDX-License-Identifier: BSD-3-Clause */
/* The levels of multigrid: set-up, update, cycle. What the files of multigrid share.
 *
 * Level 0 has the caller's matrix. From the matrix A of a level, aggregation makes the tentative
 * prolongation T, and
 *
 *   P = (I − ω D⁻¹A) T,   A_coarse = R A P
 *
 * with ω = 4/(3ρ), where D are the diagonal blocks of A, and ρ is about ρ(D⁻¹A) (radius.c). T has a
 * block for each row that belongs to an aggregate: the identity, or the near-null-space vectors,
 * made orthonormal in the aggregate. In A T of identity blocks, weak blocks of A move to the
 * aggregate of their own row (multigrid/coarsening/filter.h).
 *
 * R is one of these:
 *
 *   Pᵀ                 for a symmetric A (Vaněk, Mandel, Brezina 1996), and for equations in
 *                      conservation form (`unweighted`), which are nearly symmetric where they are
 *                      elliptic. For these it takes as many iterations as the next R, and coarse
 *                      rows have half as many blocks.
 *   Tᵀ (I − ω A D⁻¹)   otherwise. It is the transpose of what P is for Aᵀ with D⁻¹ on the other
 *                      side.
 *
 * R A P may exceed the limit of the complexity. Tᵀ then takes the place of the second R. If this
 * does not suffice, or if R is Pᵀ, P becomes T and R becomes Tᵀ.
 *
 * Unless R is Pᵀ, the blocks of Tᵀ on level 0 have weights (multigrid/coarsening/row_scaling.h), so
 * that a scaling of the block rows of A changes nothing but the norm of the residual. For a
 * nonsymmetric A, ρ is at least 2: larger ω made coarse matrices of which cycles diverged. */
#ifndef BSI_HIERARCHY_H
#define BSI_HIERARCHY_H

#include <bisai/precond.h>

#include "core/matrix/triangular.h"
#include "multigrid/cycle/operations.h"
#include "multigrid/multigrid_ops.h"
#include "multigrid/spgemm/block_matrix.h"

/* Singular diagonal blocks of coarse matrices are shifted by this part of their row. */
#define BSI_COARSE_SHIFT 0.01

/* The options `complexity` and `coarsest` if the caller leaves them open. */
#define BSI_COMPLEXITY 2.5
enum { BSI_COARSEST_ROWS = 1024 };

/* bsi_multigrid_setup::inverse_work if the caller leaves `coarsest` open: the same on all backends,
 * so that they have the same levels. On a thread of the host, an inverse takes 0.06 ns for each of
 * n³ products, and set-up takes 20 ns for each value and 150 ns for each block of level 0: the
 * inverse takes at most about half as long as the rest. Without this bound it took 48 ms for
 * sherman1 (1000 rows), which needs 11 iterations of 0.02 ms with more levels. A smaller bound
 * saves little, and reservoirs need more iterations. */
enum { BSI_INVERSE_WORK = 150 };

/* bsi_multigrid_setup::most_singular if the caller leaves `coarsest` open. The host takes 3 ms for
 * a pseudo-inverse of that many rows, and 200 ms for one of 1024. */
enum { BSI_SINGULAR_ROWS = 256 };

/* What a hierarchy is made with. */
typedef struct bsi_multigrid_setup {
  /* the caller's options, with a choice in the place of each AUTO */
  bisai_multigrid_options options;
  /* A is symmetric up to rounding */
  bool symmetric;
  /* the shift of the diagonal blocks of level 0 that are singular (bsi_inversion_ops::invert) */
  double shift_amount;
  /* the options of the smoothers ISAI, SWEEPS and ILU */
  const bisai_precond_options *smoother;
  /* a level has copies in fp32 if the product with its matrix moves more bytes than this */
  int64_t least_narrow;
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
} bsi_multigrid_setup;

/* The copies in fp32 of a level (narrow.c): that of A, and those of P and R, which are made and
 * updated together. */
typedef enum bsi_copies { BSI_COPY_OF_MATRIX, BSI_COPIES_OF_TRANSFERS } bsi_copies;
enum { BSI_COPIES = 2 };

/* A level: its matrix, its smoother, the transfers to the next level, and work vectors. It owns all
 * of these but `matrix`. Arrays are in backend memory unless a comment says otherwise. n is the
 * number of scalar rows of A. */
typedef struct bsi_level {
  /* A. On level 0 it is the caller's matrix or bsi_hierarchy::split, and `own` is NULL. On coarser
   * levels `matrix` and `own` are the same */
  const bisai_bcsr *matrix;
  bisai_bcsr *own;
  /* how far the blocks of A lie from the diagonal, if the backend does steps in chains */
  bsi_reach reach;

  /* D⁻¹ (diagonal.c). For each block row: the place of its diagonal block in A, and the inverse of
   * this block */
  int32_t *diagonal;
  double *inverse;
  /* the largest magnitude in D⁻¹ */
  double largest_inverse;
  /* What the inversion of an update found, which is judged after the finer levels, and whether it
   * is still in a record */
  bsi_invert_stats found;
  bool unjudged, deferred;
  /* ρ(D⁻¹A) (radius.c): an upper bound for a symmetric A, otherwise an estimate from below. 0 if A
   * is inverted */
  double radius;
  /* the growth of power steps, an estimate from below */
  double growth;

  /* The rows that consist of rounding errors (rounding.c): their number, and n marks in host
   * memory, which are 1 for these rows and 0 for others. Behind the marks there is room for D⁻¹.
   * NULL if creation had no reason to look for such rows */
  int64_t rounding_rows;
  double *rounding_marks;

  /* The smoother (smoother.c). Jacobi, l1 and Chebyshev multiply by the blocks of `relaxation`,
   * which is `inverse` itself, or an array of its own for l1 */
  double *relaxation;
  /* l1: its diagonal blocks, and the row pointers of a matrix of them */
  double *l1_blocks;
  int32_t *l1_position;
  /* ISAI, SWEEPS and ILU; otherwise NULL */
  bisai_precond *smoother;

  /* The transfers (transfers.c): T, Tᵀ, P, R and A P. They are empty on the coarsest level. P is
   * empty if it is T, and R if it is Tᵀ: bsi_prolongation_of(), bsi_restriction_of() */
  bsi_sparse tentative, members, prolongation, restriction, product;
  /* R A P as a product, which is the matrix of the next level. This level owns the places only */
  bsi_sparse coarse;
  /* for each block of Tᵀ its place in T; for each block of R = Pᵀ its place in P */
  int32_t *member_position, *position;
  /* T of identity blocks: what makes A T (bsi_aim_ops) */
  int32_t *target;
  bsi_sparse identity;

  /* The copies in fp32 (narrow.c) of A, P and R. NULL: there is none. Cycles read them if `narrow`
   * is true */
  bisai_bcsr *narrow_matrix, *narrow_prolongation, *narrow_restriction;
  bool narrow;
  /* for each of bsi_copies: fp32 represents all values; whether it does is still in a record */
  bool copies_fit[BSI_COPIES], copies_recorded[BSI_COPIES];

  /* Work vectors of n values: the iterate between two smoothings, one inside a smoothing, and a
   * residual */
  double *x, *y, *residual;
  /* the right-hand side and the solution; NULL on level 0, where they are the caller's */
  double *b, *solution;
  /* if cycles correct twice (bsi_corrects_twice): the result of the first cycle, or with K the
   * second correction */
  double *second;
  /* K: A times the two corrections, and BSI_K_WORK scalars */
  double *image, *second_image, *scalars;
} bsi_level;

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
  bisai_bcsr *split;
  /* A is symmetric, and so is the pattern of level 0. A split matrix may lack one of two values
   * that are zero up to rounding. Incomplete factors of it are not symmetric */
  bool mirrored;

  /* symmetric A: BSI_LANCZOS_WORK values for the bounds of ρ. Otherwise NULL */
  double *lanczos_work;

  /* What an update finds on each level, if the host does not wait for it there: records in backend
   * memory, and in host memory. Otherwise NULL */
  void *records, *record_copies;

  /* The inverse of the coarsest matrix of n rows, and workspace, n² values each. NULL if the matrix
   * is smoothed */
  double *dense_inverse, *dense_work;
  /* n marks of rows that consist of rounding errors, in host memory */
  double *coarsest_marks;
  /* the room of bsi_pseudo_invert(), in host memory. NULL if creation found a regular matrix */
  double *pseudo_room;
  /* the dimension of the null space of the coarsest matrix */
  int32_t nullity;

  /* steps of small levels that are recorded, and steps that wait (steps.h) */
  bsi_tail tail;
  bsi_chain chain;

  /* the inversion of the diagonal blocks of level 0 */
  bsi_invert_stats stats;
  /* the most bytes at any time of creation */
  int64_t peak_bytes;
} bsi_hierarchy;

/* --- questions to a hierarchy --- */

/* Returns the backend's operations for multigrid. */
static inline const bsi_multigrid_ops *bsi_ops_of(const bsi_hierarchy *h) {
  return h->context->backend->multigrid;
}

/* Returns l of levels[l]. */
static inline int bsi_level_number(const bsi_hierarchy *h, const bsi_level *level) {
  return (int)(level - h->levels);
}

/* Returns the scalar rows of the matrix of a level. */
static inline int64_t bsi_level_rows(const bsi_level *level) {
  return (int64_t)level->matrix->block_rows * level->matrix->block_size;
}

/* Returns the last level. While levels are made it is the newest one. */
static inline const bsi_level *bsi_coarsest_of(const bsi_hierarchy *h) {
  return &h->levels[h->count - 1];
}

/* Returns P of a level. */
static inline const bsi_sparse *bsi_prolongation_of(const bsi_level *level) {
  return level->prolongation.row_ptr ? &level->prolongation : &level->tentative;
}

/* Returns R of a level. */
static inline const bsi_sparse *bsi_restriction_of(const bsi_level *level) {
  return level->restriction.row_ptr ? &level->restriction : &level->members;
}

/* Returns the matrix that cycles read on a level: A, or its copy in fp32. */
static inline const bisai_bcsr *bsi_cycle_matrix(const bsi_level *level) {
  return level->narrow ? level->narrow_matrix : level->matrix;
}

/* Returns the shift of the singular diagonal blocks of a level (bsi_inversion_ops::invert). */
static inline double bsi_shift_of(const bsi_hierarchy *h, const bsi_level *level) {
  return level == h->levels ? h->setup.shift_amount : BSI_COARSE_SHIFT;
}

/* Returns true if the smoother is a preconditioner of each level. */
static inline bool bsi_smoother_is_nested(const bsi_hierarchy *h) {
  const bisai_smoother smoother = h->setup.options.smoother;
  return smoother == BISAI_SMOOTHER_ISAI || smoother == BISAI_SMOOTHER_SWEEPS ||
         smoother == BISAI_SMOOTHER_ILU;
}

/* Returns true if the matrix of a level is small enough for an inverse, if it is the coarsest. */
static inline bool bsi_may_invert(const bsi_hierarchy *h, const bsi_level *level) {
  return bsi_level_rows(level) <= h->setup.options.coarsest;
}

/* Returns true if the matrix of a level is inverted without an attempt to coarsen it. */
static inline bool bsi_inverts_at_once(const bsi_hierarchy *h, const bsi_level *level) {
  const int l = bsi_level_number(h, level);
  const bool always = l == h->setup.options.levels - 1 || (l == 0 && h->setup.inverts_first);
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
  const bool once = o->cycle == BISAI_CYCLE_W && l > 1 && h->dense_inverse && !o->unweighted;
  return l < h->count - (once ? 2 : 1) && bsi_corrects_twice(o->cycle, l);
}

/* --- hierarchy.c --- */

/* Makes the levels of a matrix, which must live as long as the hierarchy. After a failure
 * bsi_hierarchy_destroy() releases what was made. */
bisai_status bsi_hierarchy_create(bisai_context *context, const bisai_bcsr *matrix,
                                  const bsi_multigrid_setup *setup, bsi_hierarchy *h);
/* Refuses a matrix of another pattern than that of creation. */
bisai_status bsi_hierarchy_check(const bisai_bcsr *matrix, const bsi_hierarchy *h);
/* Takes the values of a matrix of the same pattern. It must live until an update with another one
 * has succeeded. Allocates nothing. */
bisai_status bsi_hierarchy_update(const bisai_bcsr *matrix, bsi_hierarchy *h);
/* Releases everything that a hierarchy owns. Accepts a struct of zeros. */
void bsi_hierarchy_destroy(bisai_context *context, bsi_hierarchy *h);

/* Returns the record of the inversion of the diagonal blocks of a level. `records` is h->records or
 * h->record_copies. */
void *bsi_record_of_inversion(const bsi_hierarchy *h, void *records, const bsi_level *level);
/* Returns the record of copies in fp32 of a level. `records` is as above. */
void *bsi_record_of_copies(const bsi_hierarchy *h, void *records, const bsi_level *level,
                           bsi_copies copies);
/* Returns the bytes of the records of all levels, in backend memory and in host memory. */
int64_t bsi_records_memory(const bsi_hierarchy *h);

/* --- cycle.c --- */

/* Applications of the smoother to a coarsest matrix that is too large for a dense inverse. */
enum { BSI_COARSEST_SMOOTHINGS = 8 };

/* x ← one cycle for A x = b of level 0, from zero. b and x are in backend memory, and differ. */
bisai_status bsi_hierarchy_cycle(bsi_hierarchy *h, const double *b, double *x);
/* levels[l].solution ← the correction for the right-hand side levels[l].b, l ≥ 1. K-cycles
 * overwrite levels[l].b. */
bisai_status bsi_hierarchy_correct(bsi_hierarchy *h, int l);

/* --- memory.c --- */

/* Allocates `count` objects of `size` bytes in backend memory. Returns NULL without memory. */
static inline void *bsi_hierarchy_reserve(const bsi_hierarchy *h, int64_t count, size_t size) {
  return h->context->backend->memory->allocate(h->context, (size_t)count, size);
}

/* Allocates n doubles in backend memory. Returns NULL without memory. */
static inline double *bsi_hierarchy_reserve_vector(const bsi_hierarchy *h, int64_t n) {
  return bsi_hierarchy_reserve(h, n, sizeof(double));
}

/* Reserves the work vectors of a level, whose matrix is known. After a failure bsi_level_destroy()
 * releases those that were reserved. */
bisai_status bsi_level_reserve_work(bsi_hierarchy *h, bsi_level *level);
/* Releases everything that a level owns. Accepts a struct of zeros. */
void bsi_level_destroy(bisai_context *context, bsi_level *level);
/* Returns the bytes of everything that a hierarchy owns. */
int64_t bsi_hierarchy_memory(const bsi_hierarchy *h);
/* h->peak_bytes ← the bytes of the hierarchy and of temporary memory, if they are more. `temporary`
 * may be negative: less was held then. */
void bsi_hierarchy_note_peak(bsi_hierarchy *h, int64_t temporary);
/* Returns the bytes that a cycle reads and writes at least on level l. *visits are the corrections
 * on this level, 1 for level 0, and become its visits, which are the corrections on the next. */
int64_t bsi_level_cycle_bytes(const bsi_hierarchy *h, int l, int64_t *visits);
/* Returns the bytes that a cycle reads and writes at least. */
int64_t bsi_hierarchy_cycle_bytes(const bsi_hierarchy *h);

/* --- null_vectors.c --- */

/* *vectors ← the near-null-space vectors of the options in backend memory: bsi_level_rows() rows of
 * `null_count` values, row by row. Extreme vectors are scaled. NULL if the options have none. The
 * caller releases *vectors, also after a failure. */
bisai_status bsi_null_vectors_upload(const bsi_hierarchy *h, double **vectors);

/* --- diagonal.c --- */

/* Finds the diagonal blocks of a level, and refuses a matrix that lacks one. */
bisai_status bsi_diagonal_find(bsi_hierarchy *h, bsi_level *level);
/* *missing ← the first block row without a diagonal block, or −1. */
bisai_status bsi_diagonal_missing(bisai_context *context, const bisai_bcsr *a, int32_t *missing);
/* Inverts the diagonal blocks of a new level. *regular ← false if one is singular, and the whole
 * matrix will be inverted instead. */
bisai_status bsi_diagonal_create(bsi_hierarchy *h, bsi_level *level, bool *regular);
/* Inverts the diagonal blocks after an update of the matrix. On a device the host may not wait for
 * the result, and bsi_diagonal_complete() judges it. */
bisai_status bsi_diagonal_update(bsi_hierarchy *h, bsi_level *level);
/* Judges the inverses of all levels that have not been judged, from the finest to the coarsest.
 * h->record_copies have been fetched. Refuses singular blocks. */
bisai_status bsi_diagonal_complete(bsi_hierarchy *h);

/* --- radius.c --- */

/* y ← D⁻¹A x on a level, in fp64. y is another array than x. */
bisai_status bsi_scaled_product(const bsi_hierarchy *h, const bsi_level *level, const double *x,
                                double *y);
/* Computes level->radius and level->growth. They are infinite if power steps overflow: Jacobi and
 * Chebyshev then smooth nothing, and transfers are not smoothed either. Overwrites the work vectors
 * of the level. */
bisai_status bsi_radius_estimate(bsi_hierarchy *h, bsi_level *level);
/* Returns an upper bound of ρ(D⁻¹A) of a level, from level->radius. */
double bsi_radius_bound(const bsi_hierarchy *h, const bsi_level *level);
/* Returns ω of the transfers of a level. */
double bsi_transfer_damping(const bsi_hierarchy *h, const bsi_level *level);

/* --- faults.c --- */

/* Puts the number of a coarse level before the message of a failure, and returns its status. On
 * level 0 of scalar nodes the message says that rows are scalar rows. */
bisai_status bsi_level_fail(const bsi_hierarchy *h, const bsi_level *level, bisai_status status);
/* Refuses blocks of a level that were not inverted, as bsi_invert_stats_judge() does. `what` begins
 * the message. Tells if the matrix of the level overflows. */
bisai_status bsi_level_judge(const bsi_hierarchy *h, const bsi_level *level, const char *what,
                             const bsi_invert_stats *stats);
/* Refuses an update that makes the matrix of a level singular, or lets it overflow. */
bisai_status bsi_level_refuse(const bsi_hierarchy *h, const bsi_level *level);

/* --- transfers.c --- */

/* What takes a level to the next one. The arrays are in backend memory, and are released when the
 * next level is there. */
typedef struct bsi_coarsening {
  /* for each block of A: bsi_aggregation_ops::weigh */
  float *strength;
  /* for each block row of A: bsi_aggregation_ops::aggregate */
  int32_t *aggregate;
  /* the number of aggregates, and the scalar columns of T that each has */
  int32_t count;
  int width;
  /* the near-null-space vectors of this level and of the next one. NULL: T has identity blocks */
  double *vectors, *coarse_vectors;
} bsi_coarsening;

/* bsi_hierarchy_note_peak() for the present arrays of a coarsening. `level` is the finer level. */
void bsi_coarsening_note_peak(bsi_hierarchy *h, const bsi_level *level, const bsi_coarsening *c);
/* Makes T, the structures of P, R and A P, and the matrix of the next level without its values.
 * *coarse stays NULL if that matrix would be too large: this level is the coarsest then. The caller
 * owns *coarse. */
bisai_status bsi_transfers_create(bsi_hierarchy *h, bsi_level *level, bsi_coarsening *c,
                                  bisai_bcsr **coarse);
/* Computes the values of P and R. */
bisai_status bsi_transfers_update(bsi_hierarchy *h, bsi_level *level);
/* Computes the values of the next level's matrix from those of A, P and R. */
bisai_status bsi_coarse_matrix_update(bsi_hierarchy *h, bsi_level *level);
/* Returns the bytes of the transfers, and of what their updates need. */
int64_t bsi_transfers_memory(const bsi_level *level);
/* Releases the transfers. Accepts a level that has none. */
void bsi_transfers_destroy(bisai_context *context, bsi_level *level);
/* *matrix ← a square matrix of a structure, with values that are not set. Takes over the arrays of
 * the structure, also after a failure. */
bisai_status bsi_matrix_adopt(bsi_hierarchy *h, bsi_sparse *s, bisai_bcsr **matrix);

/* --- rounding.c --- */

/* marks[r] ← 1 for each scalar row r of a level that consists of rounding errors, otherwise 0.
 * `marks` has bsi_level_rows() values in host memory. *rows ← the number of these rows. Overwrites
 * work vectors of this level and of the finer one. Waits. */
bisai_status bsi_rounding_mark(const bsi_hierarchy *h, const bsi_level *level, double *marks,
                               int64_t *rows);
/* Looks for such rows if D⁻¹ of a new level is suspiciously large, and gives them the inverse 0.
 * level->largest_inverse is that of D⁻¹ before and after. */
bisai_status bsi_rounding_create(bsi_hierarchy *h, bsi_level *level);
/* The same after an update. Allocates nothing. It therefore refuses a D⁻¹ that is suspiciously
 * large for the first time. */
bisai_status bsi_rounding_update(bsi_hierarchy *h, bsi_level *level);
/* Gives the rows that were found the inverse 0 in other inverses of the level's diagonal blocks. */
bisai_status bsi_rounding_drop(const bsi_hierarchy *h, const bsi_level *level, double *inverse);

/* --- coarsest.c --- */

/* h->dense_inverse ← the inverse of the coarsest matrix, or its pseudo-inverse if the matrix is
 * singular. It stays NULL if a singular matrix has more than `most_singular` scalar rows. */
bisai_status bsi_coarsest_create(bsi_hierarchy *h, int64_t most_singular);
/* The same for new values. Allocates nothing. It therefore refuses a matrix that is singular for
 * the first time. */
bisai_status bsi_coarsest_update(bsi_hierarchy *h);
/* Releases what was made. Accepts a struct of zeros. */
void bsi_coarsest_destroy(bisai_context *context, bsi_hierarchy *h);

/* --- narrow.c --- */

/* Makes the copy in fp32 of A, if the level is large and the options ask for it. */
bisai_status bsi_narrow_create(bsi_hierarchy *h, bsi_level *level);
/* Makes those of P and R, if there is one of A. */
bisai_status bsi_narrow_create_transfers(bsi_hierarchy *h, bsi_level *level);
/* Takes new values for the copies that there are, and waits until it is known whether fp32
 * represents them. Allocates nothing. */
bisai_status bsi_narrow_update(const bsi_hierarchy *h, bsi_level *level, bsi_copies copies);
/* The same, but on a device the host does not wait. Cycles do not read the copies until
 * bsi_narrow_complete(). */
bisai_status bsi_narrow_begin_update(const bsi_hierarchy *h, bsi_level *level, bsi_copies copies);
/* Ends the updates of all levels for which the host did not wait. h->record_copies have been
 * fetched. */
void bsi_narrow_complete(bsi_hierarchy *h);
/* Returns the bytes of the copies of a level. */
int64_t bsi_narrow_memory(const bsi_level *level);
/* Releases the copies of a level. */
void bsi_narrow_destroy(bsi_level *level);

/* --- smoother.c --- */

/* Makes what the smoother of a level needs beyond D⁻¹. */
bisai_status bsi_smoother_create(bsi_hierarchy *h, bsi_level *level);
/* Takes new values of the level's matrix. Allocates nothing. */
bisai_status bsi_smoother_update(bsi_hierarchy *h, bsi_level *level);
/* to ← `count` applications of the smoother to A x = b, from the vector `from` or, if it is NULL,
 * from zero. `from`, `to` and level->y are different arrays. */
bisai_status bsi_smooth(bsi_hierarchy *h, bsi_level *level, int32_t count, const double *b,
                        const double *from, double *to);

/* --- steps.c --- */

/* Does a step of a level, or records it if the tail is being recorded. A step may wait for others
 * on the same matrix, at most until bsi_steps_end(). */
bisai_status bsi_step_do(bsi_hierarchy *h, const bsi_level *level, const bsi_step *step);
/* Does the steps that wait. */
bisai_status bsi_steps_end(bsi_hierarchy *h);
/* Makes the tail, of the levels with at most `most_rows` scalar rows. After a failure
 * bsi_tail_destroy() releases what was made. */
bisai_status bsi_tail_create(bsi_hierarchy *h, int64_t most_rows);
/* Records the steps again after an update. Allocates nothing. */
bisai_status bsi_tail_update(bsi_hierarchy *h);
/* Does the recorded steps, which are those of bsi_hierarchy_correct() for the first level of the
 * tail. */
bisai_status bsi_tail_run(bsi_hierarchy *h);
/* Releases the recorded steps: single steps take their place. Accepts a struct of zeros. */
void bsi_tail_destroy(bisai_context *context, bsi_tail *tail);

#endif
