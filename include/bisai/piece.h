/* SPDX-License-Identifier: BSD-3-Clause */
/** @file piece.h
 *  Pieces of multigrid over several processes. Each process has some block rows of the matrix A of
 *  a level, its piece. bisai computes what a process can compute of its rows alone: D⁻¹, aggregates
 *  of its own rows, the rows of P, and the rows of R. The caller, for example bisai_petsc, moves
 *  data between processes, multiplies R A P, and does the cycles.
 *
 *  A level is made in this order. A, T, P and R are those of bisai/precond_multigrid.h:
 *
 *  1. bisai_piece_create() makes D⁻¹, the aggregates and T of the own rows.
 *  2. The caller gives each process the aggregates and, with near-null-space vectors, the blocks of
 *     T of its ghosts, the rows of other processes in whose columns its rows have blocks:
 *     bisai_piece_connect().
 *  3. bisai_piece_radius() estimates ρ(D⁻¹A), with products and sums of the caller. It
 *     allocates nothing, so that no process waits for one without memory.
 *  4. Unless R is Pᵀ, the caller gives each process D⁻¹ of its ghosts: bisai_piece_compute().
 *
 *  New values repeat it from bisai_piece_update(), without connections. A single piece has the
 *  transfers of the preconditioner, up to rounding.
 *
 *  Pieces work in host memory: a context with another backend is refused. */
#ifndef BISAI_PIECE_H
#define BISAI_PIECE_H

#include <bisai/precond.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The rows of one process of a level. */
typedef struct bisai_piece bisai_piece;

/** How a piece is coarsened; start from bisai_piece_options_default(). All processes give the same
 *  values, except of `first_row` and `null_vectors`. */
typedef struct bisai_piece_options {
  /** set by bisai_piece_options_default() */
  size_t struct_size;
  /** the number of the level; 0 (default) has the matrix of the system */
  int32_t level;
  /** A of level 0 is symmetric: R is Pᵀ. Default false */
  bool symmetric;
  /** bisai_multigrid_options::unweighted: R is Pᵀ too. Default false */
  bool unweighted;
  /** bisai_multigrid_options::strength; default 0.25 */
  double strength;
  /** level 0: singular diagonal blocks are shifted by this part of their row; default 0: they are
   *  refused. Coarser levels shift by 0.01 */
  double shift_amount;
  /** the number of the first own scalar row among the rows of all processes; default 0 */
  int64_t first_row;
  /** near-null-space vectors: own scalar rows of null_count values, row by row. Read during
   *  creation. Default NULL: T consists of identity blocks */
  const double *null_vectors;
  /** the number of vectors; 0 if null_vectors is NULL */
  int32_t null_count;
} bisai_piece_options;

/** Returns the default options. */
BISAI_API bisai_piece_options bisai_piece_options_default(void);

/** Makes D⁻¹ and the aggregates of the own rows, and T.
 *  @param rows   n block rows and n + g block columns in fp64: first the own rows in their order,
 *                then g ghosts in any order. The piece reads it until it is destroyed, or until an
 *                update with another one has succeeded. n may be 0
 *  @param piece  out; unchanged on failure; free with bisai_piece_destroy()
 *  @retval BISAI_MISSING_DIAGONAL, BISAI_SINGULAR_BLOCK  the message names the own block row
 *  @retval BISAI_NOT_FINITE  the matrix of a coarser level overflows
 *  @retval BISAI_UNSUPPORTED  the context has another backend than the host, or the values are not
 *                             fp64
 *  @retval BISAI_INVALID_ARGUMENT, BISAI_OUT_OF_MEMORY */
BISAI_API bisai_status bisai_piece_create(bisai_context *context, const bisai_bcsr *rows,
                                          const bisai_piece_options *options, bisai_piece **piece);

/** Takes new values of the same pattern, and keeps the aggregates and T. Allocates nothing. Returns
 *  the errors of bisai_piece_create(); the piece is of no use then but to be destroyed or updated.
 *  @retval BISAI_INVALID_ARGUMENT  also: `rows` has another pattern */
BISAI_API bisai_status bisai_piece_update(bisai_piece *piece, const bisai_bcsr *rows);

/** Frees *piece and sets it to NULL; accepts NULL and pointers to NULL. */
BISAI_API void bisai_piece_destroy(bisai_piece **piece);

/** Returns D⁻¹ of the own rows: n blocks, column by column. */
BISAI_API const double *bisai_piece_inverse(const bisai_piece *piece);

/** Returns the largest magnitude in D⁻¹ of the own rows. */
BISAI_API double bisai_piece_largest_inverse(const bisai_piece *piece);

/** Returns the sum of the magnitudes of the first own diagonal block, to which the rows of R are
 *  scaled on level 0 (bisai_piece_compute()); 1 without rows. */
BISAI_API double bisai_piece_first_size(const bisai_piece *piece);

/** Returns the aggregate of each own block row, from 0, or −1 for a row that stays out.
 *  @param count  out; the number of own aggregates
 *  @param width  out; the scalar columns of T that each has: null_count or the block size */
BISAI_API const int32_t *bisai_piece_aggregates(const bisai_piece *piece, int32_t *count,
                                                int32_t *width);

/** Copies the blocks of T of the own rows: n blocks of bs × width values, column by column. A row
 *  that stays out has zeros. */
BISAI_API void bisai_piece_get_tentative(const bisai_piece *piece, double *blocks);

/** Returns the near-null-space vectors of the next level: count·width rows of `width` values; NULL
 *  without vectors. */
BISAI_API const double *bisai_piece_coarse_vectors(const bisai_piece *piece);

/** What a piece must know of its ghosts. The arrays are read during the call. */
typedef struct bisai_piece_ghosts {
  /** the columns of P: first the own aggregates, then those of ghosts in any order */
  int32_t columns;
  /** g entries: the column of the aggregate of each ghost, or −1 */
  const int32_t *aggregate;
  /** g blocks as those of bisai_piece_get_tentative(); NULL without near-null-space vectors */
  const double *tentative;
} bisai_piece_ghosts;

/** Makes the structures of the own rows of P and, unless R is Pᵀ, of R.
 *  @retval BISAI_INVALID_ARGUMENT   a column is out of range
 *  @retval BISAI_INDEX_OVERFLOW, BISAI_OUT_OF_MEMORY */
BISAI_API bisai_status bisai_piece_connect(bisai_piece *piece, const bisai_piece_ghosts *ghosts);

/** What all processes compute together. All call it in the same order. */
typedef struct bisai_piece_calls {
  /** passed to the functions */
  void *user;
  /** y ← the own rows of A x, from the own rows of x */
  bisai_status (*multiply)(void *user, const double *x, double *y);
  /** values ← the sums over all processes */
  bisai_status (*add)(void *user, int count, double *values);
} bisai_piece_calls;

/** Estimates ρ(D⁻¹A) of the whole level as the preconditioner does: by Lanczos' process for a
 *  symmetric A, and otherwise by power steps. All processes get the same.
 *  @param smoother  JACOBI takes fewer power steps on coarse levels
 *  @param radius    out, may be NULL: bisai_multigrid_report::radius
 *  @retval BISAI_CALLBACK_FAILED  a function failed
 *  @retval BISAI_INVALID_ARGUMENT */
BISAI_API bisai_status bisai_piece_radius(bisai_piece *piece, bisai_smoother smoother,
                                          const bisai_piece_calls *calls, double *radius);

/** Computes the values of P and R.
 *  @param first_size     level 0: bisai_piece_first_size() of the first process with rows
 *  @param ghost_inverse  g blocks of D⁻¹; not read if R is Pᵀ */
BISAI_API bisai_status bisai_piece_compute(bisai_piece *piece, double first_size,
                                           const double *ghost_inverse);

/** The matrices of a piece. */
typedef enum bisai_piece_matrix {
  /** T of the own rows */
  BISAI_PIECE_TENTATIVE = 0,
  /** Tᵀ of the own aggregates, with scaled rows on level 0; only if R is not Pᵀ */
  BISAI_PIECE_TENTATIVE_TRANSPOSED = 1,
  /** P of the own rows */
  BISAI_PIECE_PROLONGATION = 2,
  /** R of the own aggregates; only if R is not Pᵀ */
  BISAI_PIECE_RESTRICTION = 3
} bisai_piece_matrix;

/** A matrix of blocks of height × width values. Blocks are stored column by column, and the columns
 *  of a row ascend. Columns of T and P are aggregates, as bisai_piece_ghosts says; columns of Tᵀ
 *  and R are rows of A, as in `rows` of bisai_piece_create(). */
typedef struct bisai_piece_view {
  /** block rows and block columns */
  int32_t rows, cols;
  /** the scalar rows and columns of a block */
  int32_t height, width;
  /** rows + 1 and row_ptr[rows] entries */
  const int32_t *row_ptr, *col_idx;
  /** the values; NULL: all blocks are the identity */
  const double *values;
} bisai_piece_view;

/** Returns a matrix of a piece. The arrays live as long as the piece. A matrix that does not exist
 *  has no row_ptr. */
BISAI_API bisai_piece_view bisai_piece_get(const bisai_piece *piece, bisai_piece_matrix which);

/** y ← D⁻¹ x for the own rows. x may be y. */
BISAI_API void bisai_piece_scale(const bisai_piece *piece, const double *x, double *y);

/** Computes the coefficients of one application of a smoother:
 *  x ← x + α (x − x before) + β D⁻¹(b − A x) in each step.
 *  @param options  its smoother is JACOBI, with one step, or CHEBYSHEV, with `degree` steps
 *  @param alpha,beta  out, one value for each step
 *  @retval BISAI_UNSUPPORTED  the smoother is another one */
BISAI_API bisai_status bisai_piece_coefficients(const bisai_piece *piece,
                                                const bisai_multigrid_options *options,
                                                double *alpha, double *beta);

/** Counts which scalar rows say that the unknowns of a block are components at one point, and which
 *  say that they are points of a mesh line: bisai_aggregation_unit.
 *  @param rows  as in bisai_piece_create()
 *  @retval BISAI_INVALID_ARGUMENT, BISAI_UNSUPPORTED */
BISAI_API bisai_status bisai_piece_vote(bisai_context *context, const bisai_bcsr *rows,
                                        int64_t *components, int64_t *points);

#ifdef __cplusplus
}
#endif
#endif
