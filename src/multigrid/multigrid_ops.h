/* SPDX-License-Identifier: BSD-3-Clause */
/* A backend's operations for multigrid. Matrices A are square, in fp64, and store their diagonal
 * blocks. A of a relaxation may be in fp32. `inverse` has the inverses D⁻¹ of the diagonal blocks
 * of A, or what a smoother takes for them, in the order of the block rows. Arrays are in backend
 * memory. The host waits for an operation only where its comment says so. */
#ifndef BSI_MULTIGRID_OPS_H
#define BSI_MULTIGRID_OPS_H

#include "core/context/backend.h"
#include "multigrid/spgemm/block_matrix.h"

#ifdef __cplusplus
extern "C" {
#endif

struct bsi_strength_rule; /* multigrid/coarsening/strength.h */

/* Aggregation of block rows. multigrid/coarsening/aggregate.h states the rule, which both backends
 * follow to the same result. */
typedef struct bsi_aggregation_ops {
  /* strength[p] ← the coupling of i and j for block p = (i, j) if i ≠ j and it is strong; minus the
   * coupling if row i has no strong one and follows row j; otherwise 0
   * (multigrid/coarsening/strength.h). */
  bisai_status (*weigh)(bisai_context *, const bisai_bcsr *a, const double *inverse,
                        const struct bsi_strength_rule *, float *strength);
  /* aggregate[i] ← the aggregate of block row i, from 0, or −1 for a row that stays out.
   * *count ← the number of aggregates. Waits. */
  bisai_status (*aggregate)(bisai_context *, const bisai_bcsr *a, const float *strength,
                            int32_t *aggregate, int32_t *count);
} bsi_aggregation_ops;

typedef struct bsi_aim_ops {
  /* target[p] ← the column of P to which block p of A contributes (multigrid/coarsening/filter.h),
   * or `count` if there is none. identity ← the structure of a count × count identity, with an
   * empty row below. The caller has reserved its arrays. A with the columns `target`, times this
   * identity, is A T. */
  bisai_status (*aim)(bisai_context *, const bisai_bcsr *a, const double *inverse, double threshold,
                      const int32_t *aggregate, int32_t count, int32_t *target,
                      bsi_sparse *identity);
} bsi_aim_ops;

/* Transfers between levels. */
typedef struct bsi_transfer_ops {
  /* T ← one block for each row i with aggregate[i] ≥ 0, in column aggregate[i]. Reserves
   * t->row_ptr and t->col_idx, and sets t->blocks. The caller has set the other numbers of t. After
   * a failure the caller destroys t. Waits. */
  bisai_status (*list)(bisai_context *, const int32_t *aggregate, bsi_sparse *t);
  /* transposed ← the structure of mᵀ and its numbers. The caller has reserved row_ptr and col_idx.
   * position[q] ← the position in m of block q of mᵀ. */
  bisai_status (*transpose)(bisai_context *, const bsi_sparse *m, bsi_sparse *transposed,
                            int32_t *position);
  /* Block q of mᵀ ← the transpose of block position[q] of m. */
  bisai_status (*transpose_values)(bisai_context *, const bsi_sparse *m, const int32_t *position,
                                   bsi_sparse *transposed);
  /* Orthonormalises the near-null-space vectors in each aggregate, by modified Gram–Schmidt with a
   * second pass. `members` is Tᵀ. `vectors` has t->rows·t->height rows and t->width columns, stored
   * row by row. t->values ← the blocks of Q. coarse ← the factors R: t->cols·t->width rows of
   * t->width columns, row by row. A column that depends on earlier ones up to `tolerance` times its
   * norm becomes zero, in Q and on the diagonal of R, and so does a column beyond the number of
   * scalar rows of the aggregate. Squares neither overflow nor vanish. R may overflow for vectors
   * near the largest numbers, which multigrid/coarsening/null_vectors.c scales. */
  bisai_status (*orthonormalise)(bisai_context *, const bsi_sparse *members, const double *vectors,
                                 double tolerance, bsi_sparse *t, double *coarse);
  /* P_i ← T_i − omega·D_i⁻¹ P_i for each block row i; the structure of P has that of T. */
  bisai_status (*smooth)(bisai_context *, const bsi_sparse *t, const double *inverse, double omega,
                         bsi_sparse *p);
  /* R_Ij ← (Tᵀ)_Ij − omega·R_Ij D_j⁻¹ for each block of R; the structure of R has that of Tᵀ. */
  bisai_status (*smooth_restriction)(bisai_context *, const bsi_sparse *members,
                                     const double *inverse, double omega, bsi_sparse *r);
  /* Adds 1 to diagonal entries of rows of A that have no nonzero value. They belong to columns of
   * T that are zero. */
  bisai_status (*complete)(bisai_context *, bisai_bcsr *a);
} bsi_transfer_ops;

struct bsi_balance; /* multigrid/coarsening/row_scaling.h */

typedef struct bsi_balance_ops {
  /* Values of Tᵀ ← those of T, with weights of the rows of A. */
  bisai_status (*balance)(bisai_context *, const struct bsi_balance *, bsi_sparse *members);
} bsi_balance_ops;

/* How the blocks of a product C are smoothed: to T_ij − omega·D_i⁻¹ C_ij or, from the right, to
 * T_ij − omega·C_ij D_j⁻¹ (bsi_transfer_ops). */
typedef struct bsi_smoothing {
  const bsi_sparse *t;
  const double *inverse;
  double omega;
  bool from_right;
} bsi_smoothing;

/* c ← the smoothed product. */
bisai_status bsi_smooth_product(bisai_context *context, const bsi_smoothing *smoothing,
                                bsi_sparse *c);

/* Products of sparse matrices. */
typedef struct bsi_sparse_ops {
  /* c ← the structure of a·b and its numbers. Reserves row_ptr and col_idx, but no values. A device
   * also sets `longest`, and makes the places if multiply_values() needs them. The columns of a row
   * of a may repeat and need not ascend. If the product has more than `most` blocks, c->row_ptr is
   * NULL and there are no arrays. 2³¹ blocks are refused if `most` allows them. After a failure the
   * caller destroys c. Waits. */
  bisai_status (*multiply_structure)(bisai_context *, const bsi_sparse *a, const bsi_sparse *b,
                                     int64_t most, bsi_sparse *c);
  /* Returns the bytes that multiply_structure() takes for a moment, beside c. A device takes other
   * room, which is not counted, and returns 0. */
  int64_t (*structure_room)(const bisai_context *, const bsi_sparse *a, const bsi_sparse *b,
                            int64_t most);
  /* Values of c ← a·b, where c has the structure above. The terms of a block are added in the order
   * of the blocks of a. Reserves nothing. */
  bisai_status (*multiply_values)(bisai_context *, const bsi_sparse *a, const bsi_sparse *b,
                                  bsi_sparse *c);
  /* The same, with the blocks smoothed. */
  bisai_status (*multiply_smoothed)(bisai_context *, const bsi_sparse *a, const bsi_sparse *b,
                                    const bsi_smoothing *, bsi_sparse *c);
  /* c ← the numbers and row_ptr of a matrix that has the nonzero values of A as blocks of one
   * value, and all diagonal entries, which are 0 where A does not store the block. Reserves row_ptr
   * and col_idx. After a failure the caller destroys c. Waits. */
  bisai_status (*split_rows)(bisai_context *, const bisai_bcsr *a, bsi_sparse *c);
  /* col_idx and values of c, after split_rows(). */
  bisai_status (*split_fill)(bisai_context *, const bisai_bcsr *a, bsi_sparse *c);
  /* Values of c ← new values of A. *lost ← the first scalar row with a nonzero value that has no
   * place in c, or −1. Waits. */
  bisai_status (*split_values)(bisai_context *, const bisai_bcsr *a, bsi_sparse *c, int32_t *lost);
} bsi_sparse_ops;

/* The scalars and partial sums of a K-cycle step: BSI_K_WORK doubles in backend memory. */
enum { BSI_K_SUMS = 3, BSI_K_SCALARS = 8, BSI_K_WORK = BSI_K_SCALARS + BSI_K_SUMS * BSI_CHUNKS };

/* The steps of a cycle. */
typedef struct bsi_cycle_ops {
  /* y ← x + alpha·(x − previous) + beta·D⁻¹(b − A x). NULL stands for zero in the place of x, with
   * alpha 0, and of `previous`, which is not read if alpha is 0. Without b, y ← beta·D⁻¹A x, and
   * alpha is 0. y may be `previous`, but neither x nor b. */
  bisai_status (*relax)(bisai_context *, const bisai_bcsr *a, const double *inverse, double alpha,
                        double beta, const double *b, const double *x, const double *previous,
                        double *y);
  /* y ← m x + beta·y. y is not read if beta is 0. */
  bisai_status (*multiply)(bisai_context *, const bsi_sparse *m, const double *x, double beta,
                           double *y);
  /* The first step of flexible GCR: r ← r − v (v·r)/(v·v). Leaves scalars in `work`, of BSI_K_WORK
   * doubles, for the second step. multigrid/cycle/inner_steps.h has the equations of both steps. */
  bisai_status (*first_step)(bisai_context *, int64_t n, const double *v, double *r, double *work);
  /* The second step: with the c and v of the first step and new ones c2 and v2 = A c2, c becomes
   * the combination of c and c2 of least residual, for the right-hand side of the first step. r is
   * what the first step left. A sum that is zero or not finite drops its direction, and so does a
   * v2 that is a multiple of v but for rounding errors. */
  bisai_status (*second_step)(bisai_context *, int64_t n, double *c, const double *v,
                              const double *c2, const double *v2, const double *r, double *work);
} bsi_cycle_ops;

/* The vectors of step k of the Lanczos process of multigrid/diagonal/lanczos.h. `work` has
 * BSI_LANCZOS_WORK doubles in backend memory. */
typedef struct bsi_lanczos_ops {
  /* r ← the first residual, for D⁻¹ of n rows in blocks of size bs */
  bisai_status (*start)(bisai_context *, int64_t n, int bs, const double *inverse, double *r);
  /* r ← r − αₖ q, where q = A p */
  bisai_status (*reduce)(bisai_context *, int k, int64_t n, const double *p, const double *q,
                         double *r, double *work);
  /* p ← z + βₖ p, where z = D⁻¹r. With k = −1, p ← z, and p is not read. */
  bisai_status (*direct)(bisai_context *, int k, int64_t n, const double *r, const double *z,
                         double *p, double *work);
} bsi_lanczos_ops;

typedef struct bsi_l1_ops {
  /* Block i of `blocks` ← D_i + diag(s), where s are the sums of magnitudes of the scalar rows
   * outside of D_i, with the signs of the diagonal entries. position[i] ← i. */
  bisai_status (*diagonal)(bisai_context *, const bisai_bcsr *a, double *blocks, int32_t *position);
} bsi_l1_ops;

typedef struct bsi_nodes_ops {
  /* Counts the votes of the scalar rows (multigrid/unit/votes.h). Waits. */
  bisai_status (*vote)(bisai_context *, const bisai_bcsr *a, int64_t *components, int64_t *points);
} bsi_nodes_ops;

typedef struct bsi_split_ops {
  /* *equal ← true if S, in blocks of one value, has the nonzero values of A, and no others but
   * zeros (multigrid/unit/scalar_copy.h). Both are in fp64 and have the same scalar rows. Waits. */
  bisai_status (*equal)(bisai_context *, const bisai_bcsr *a, const bisai_bcsr *s, bool *equal);
} bsi_split_ops;

/* A copy to make: to[k] ← from[k] for k < count, rounded to fp32. */
typedef struct bsi_narrowing {
  int64_t count;
  const double *from;
  float *to;
} bsi_narrowing;

typedef struct bsi_narrow_ops {
  /* bsi_multigrid_setup::least_narrow of preconditioners. The values of smaller levels stay in a
   * cache. */
  int64_t least_bytes;
  /* the bytes of a record; 0: `record` is always NULL */
  size_t record_bytes;
  /* Copies `arrays` arrays. Without a record, *fits ← true if fp32 represents all values with all
   * of its digits (multigrid/cycle/fp32_copy.h), and the host waits once. A record in backend
   * memory gets this result instead of *fits, and the host does not wait. */
  bisai_status (*copy)(bisai_context *, int arrays, const bsi_narrowing *, void *record,
                       bool *fits);
  /* Reads the copy of a record in host memory. */
  bool (*fits)(const void *record);
} bsi_narrow_ops;

/* The dense inverse of the coarsest matrix. */
typedef struct bsi_dense_ops {
  /* An inverse costs so little that a matrix of preconditioners is inverted if it is small enough,
   * even if the inverse takes longer than a hierarchy */
  bool cheap;
  /* inverse ← A⁻¹, of n = block_rows·bs rows, stored column by column, by blocked Gauss–Jordan
   * elimination. Pivots are the largest of their columns, or of a part of these if the inverse then
   * passes a test. `work` has n² doubles. *smallest and *largest ← the smallest and the largest
   * magnitude of the pivots. *smallest is 0 if a pivot is zero or not finite, or if a value of the
   * inverse is not finite. The inverse is of no use then. Waits. */
  bisai_status (*invert)(bisai_context *, const bisai_bcsr *a, double *work, double *inverse,
                         double *smallest, double *largest);
  /* y ← inverse·x */
  bisai_status (*multiply)(bisai_context *, int32_t n, const double *inverse, const double *x,
                           double *y);
} bsi_dense_ops;

struct bsi_step; /* multigrid/cycle/operations.h */

/* The most steps that are done together. */
enum { BSI_CHAIN_STEPS = 4 };

/* The most that the columns of the blocks of a row lie below and above the row. */
typedef struct bsi_reach {
  int32_t below, above;
} bsi_reach;

/* Steps on one matrix. The functions are NULL if single steps are as fast. */
typedef struct bsi_chain_ops {
  /* Does `count` steps, at most BSI_CHAIN_STEPS. All are relaxations with a b, or residuals
   * b − A x, of the same square matrix. `reach` is that of the matrix. The x of a step is the y of
   * the step before, and `previous` is the x of that step or NULL. Apart from this, no step writes
   * what another one reads or writes. */
  bisai_status (*run)(bisai_context *, bsi_reach reach, int32_t count,
                      const struct bsi_step *steps);
  /* Returns the reach of a matrix. */
  bsi_reach (*reach)(bisai_context *, const bisai_bcsr *a);
} bsi_chain_ops;

/* The small coarse levels of a cycle. */
typedef struct bsi_tail_ops {
  /* The most scalar rows of these levels. 0 if single steps are as fast. */
  int64_t most_rows;
  /* Does `count` steps one after the other. The steps are in backend memory. `rows` and `values`
   * are the scalar rows and the values of the largest matrix. */
  bisai_status (*run)(bisai_context *, int64_t rows, int64_t values, int32_t count,
                      const struct bsi_step *steps);
} bsi_tail_ops;

struct bsi_invert_stats; /* core/matrix/triangular.h */

typedef struct bsi_level_inversion_ops {
  /* the bytes of a record; 0: `record` is not used */
  size_t record_bytes;
  /* bsi_inversion_ops::invert (factor/factor_ops.h). *largest ← the largest magnitude of all
   * inverses, unless `largest` is NULL. Waits. With a record in backend memory the host may not
   * wait: *deferred becomes true, and the record gets what was found. Without one, `deferred` is
   * not touched. */
  bisai_status (*invert)(bisai_context *, const bisai_bcsr *matrix, const int32_t *position,
                         double shift_amount, double *inverses, void *record, bool *deferred,
                         struct bsi_invert_stats *, double *largest);
  /* Reads the copy of a record in host memory. */
  void (*read)(const void *record, struct bsi_invert_stats *, double *largest);
} bsi_level_inversion_ops;

typedef struct bsi_multigrid_ops {
  /* of the diagonal blocks */
  const bsi_level_inversion_ops *inversion;
  const bsi_aggregation_ops *aggregation;
  const bsi_aim_ops *aim;
  const bsi_transfer_ops *transfer;
  const bsi_balance_ops *balance;
  const bsi_sparse_ops *sparse;
  const bsi_cycle_ops *cycle;
  const bsi_lanczos_ops *lanczos;
  const bsi_l1_ops *l1;
  const bsi_nodes_ops *nodes;
  const bsi_split_ops *split;
  const bsi_narrow_ops *narrow;
  const bsi_dense_ops *dense;
  const bsi_tail_ops *tail;
  const bsi_chain_ops *chain;
} bsi_multigrid_ops;

extern const bsi_level_inversion_ops bsi_level_inversion_host, bsi_level_inversion_cuda;
extern const bsi_aggregation_ops bsi_aggregation_host, bsi_aggregation_cuda;
extern const bsi_aim_ops bsi_aim_host, bsi_aim_cuda;
extern const bsi_transfer_ops bsi_transfer_host, bsi_transfer_cuda;
extern const bsi_balance_ops bsi_balance_host, bsi_balance_cuda;
extern const bsi_sparse_ops bsi_sparse_host, bsi_sparse_cuda;
extern const bsi_cycle_ops bsi_cycle_host, bsi_cycle_cuda;
extern const bsi_lanczos_ops bsi_lanczos_host, bsi_lanczos_cuda;
extern const bsi_l1_ops bsi_l1_host, bsi_l1_cuda;
extern const bsi_nodes_ops bsi_nodes_host, bsi_nodes_cuda;
extern const bsi_split_ops bsi_split_host, bsi_split_cuda;
extern const bsi_narrow_ops bsi_narrow_host, bsi_narrow_cuda;
extern const bsi_dense_ops bsi_dense_host, bsi_dense_cuda;
extern const bsi_tail_ops bsi_tail_host, bsi_tail_cuda;
extern const bsi_chain_ops bsi_chain_host, bsi_chain_cuda;

#ifdef __cplusplus
}
#endif

#endif
