/* SPDX-License-Identifier: BSD-3-Clause */
/* The whole contract between the algorithms and the place where they run. One table of functions a
 * backend; rooms own the functions (host: *_host.c, CUDA: *_cuda.cu), core/backend_host.c fills the
 * host's table.
 *
 * "Backend memory" is where vectors, blocks and per-iteration scalars live: host memory here,
 * device memory on a GPU. Calls on a GPU only enqueue on the context's stream; those alone wait
 * that are said to. Every call may be given empty vectors. */
#ifndef BSI_BACKEND_H
#define BSI_BACKEND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <bisai/bcsr.h>
#include <bisai/context.h>
#include <bisai/factor.h>
#include <bisai/pattern.h>

struct bsi_asymmetry;    /* core/asymmetry.h */
struct bsi_columns;      /* core/bcsr.h */
struct bsi_invert_stats; /* core/triangular.h */
struct bsi_triangular;
struct bsi_bjacobi; /* bjacobi/bjacobi.h */
struct bsi_partition;
struct bsi_levels;
struct bsi_isai; /* solve/isai.h */
struct bsi_isai_fault;
struct bsi_recurrence; /* core/recurrence.h */
struct bsi_reordered;  /* order/reordered.h */
struct bsi_equilibration;
struct bsi_order_shape; /* order/order.h */

/* Sums are made of this many partial sums whatever the number of threads, so that they are bitwise
 * repeatable. A `work` argument of a reduction has BSI_CHUNKS doubles for each sum. */
enum { BSI_CHUNKS = 256 };

/* Passes of classical Gram–Schmidt. */
typedef enum bsi_passes { BSI_PASSES_ONE, BSI_PASSES_TWO, BSI_PASSES_SELECTIVE } bsi_passes;

/* Passes of CG, BiCGSTAB and IDR(s) over their vectors: core/recurrence.h. */
typedef enum bsi_pass {
  BSI_CG_RHO,
  BSI_CG_DIRECTION,
  BSI_CG_CURVATURE,
  BSI_CG_UPDATE,
  BSI_BICGSTAB_DIRECTION,
  BSI_BICGSTAB_ALPHA,
  BSI_BICGSTAB_HALF,
  BSI_BICGSTAB_OMEGA,
  BSI_BICGSTAB_UPDATE,
  BSI_IDR_SHADOW,
  BSI_IDR_DIRECTION,
  BSI_IDR_EXTEND,
  BSI_IDR_COLUMN,
  BSI_IDR_UPDATE,
  BSI_IDR_OMEGA,
  BSI_IDR_LAST
} bsi_pass;

/* What a step of GMRES(m) works on: vectors as at dot_many, the rest as at gmres_rotate. ld is
 * even, and from n to ld there are zeros. */
typedef struct bsi_cycle {
  int64_t n, ld;
  int m;
  double *basis, *hessenberg, *cosines, *sines, *rhs, *status, *work;
} bsi_cycle;

/* Measures what the backend takes for something. */
typedef struct bsi_clock {
  double seconds;
  /* CUDA: events */
  void *from, *to;
} bsi_clock;

typedef struct bsi_backend {
  bisai_backend kind;
  /* steps of a solver to enqueue before the oldest one's status is looked at: 0 where nothing is
   * gained */
  int lookahead;
  /* block-Jacobi: a group has max(1, this / rows of the largest block) blocks */
  int bjacobi_group_rows;
  /* most columns (j + 1) for gmres_step; 0 where it is not there */
  int fused_columns;

  /* --- the device of a context --- */
  /* why there is none, or NULL */
  const char *(*missing)(int device);
  /* Completes a context that has all that does not depend on the backend; what it leaves behind
   * when it fails, `close` takes. */
  bisai_status (*open)(bisai_context *, const bisai_context_options *);
  void (*close)(bisai_context *);
  bisai_status (*synchronize)(bisai_context *);

  /* --- memory of the backend --- */
  /* as bsi_allocate */
  void *(*allocate)(bisai_context *, size_t count, size_t size);
  void (*release)(bisai_context *, void *);
  /* Host memory may be reused when it returns, unless it is page-locked. */
  bisai_status (*upload)(bisai_context *, void *backend_memory, const void *host, size_t bytes);
  /* waits */
  bisai_status (*fetch)(bisai_context *, void *host, const void *backend_memory, size_t bytes);
  /* both backend memory */
  bisai_status (*copy)(bisai_context *, void *to, const void *from, size_t bytes);
  /* Whether the backend's functions can work on a caller's array, rather than on a copy. */
  bool (*reaches)(const bisai_context *, const void *);

  /* --- values of matrices --- */
  /* block p of `to` ← block order[p] of `from` (NULL: p), transposed where `from` is row-major.
   * `to` may be `from` without an order. */
  bisai_status (*copy_blocks)(bisai_context *, bisai_value_type, int bs, int32_t blocks,
                              bisai_layout, const int32_t *order, const void *from, void *to);
  /* to[place p] ← from[p] for p < count; no place comes twice (core/places.h) */
  bisai_status (*scatter_values)(bisai_context *, int64_t count, bool wide, const void *places,
                                 const double *from, double *to);
  /* *index ← the first of `count` values that is NaN or infinite, or -1. Waits. */
  bisai_status (*find_not_finite)(bisai_context *, bisai_value_type, int64_t count,
                                  const void *values, int64_t *index);
  /* *index ← the first block row, or block column, in which the matrix stores no block, or -1.
   * `marks` has as many doubles as there are block rows or columns. Waits. */
  bisai_status (*find_empty)(bisai_context *, const bisai_bcsr *, bool columns, double *marks,
                             int64_t *index);
  /* how far a square matrix is from its transpose: core/asymmetry.h. Waits. */
  bisai_status (*asymmetry)(bisai_context *, const bisai_bcsr *, struct bsi_asymmetry *);

  /* --- memory that backend and host both see: numbers that are looked at later --- */
  double *(*allocate_shared)(bisai_context *, size_t count);
  void (*release_shared)(bisai_context *, double *);
  /* Forgets the numbers there. Nothing that writes them may be under way. */
  void (*expect)(bisai_context *, int count, double *shared);
  /* values ← the numbers there, once they have been written since; waits for that and for nothing
   * else. */
  bisai_status (*collect)(bisai_context *, int count, const double *shared, double *values);

  /* --- clocks --- */
  bisai_status (*clock_open)(bisai_context *, bsi_clock *);
  /* also of one that is not open */
  void (*clock_close)(bisai_context *, bsi_clock *);
  bisai_status (*clock_start)(bisai_context *, bsi_clock *);
  bisai_status (*clock_stop)(bisai_context *, bsi_clock *);
  /* Seconds between the last start and stop; waits for the stop. */
  bisai_status (*clock_read)(bisai_context *, const bsi_clock *, double *seconds);

  /* --- vectors of n doubles --- */
  bisai_status (*vector_set)(bisai_context *, int64_t n, double value, double *y);
  bisai_status (*vector_copy)(bisai_context *, int64_t n, const double *x, double *y);
  /* y ← x + y */
  bisai_status (*vector_add)(bisai_context *, int64_t n, const double *x, double *y);
  /* y ← b − y */
  bisai_status (*vector_subtract_from)(bisai_context *, int64_t n, const double *b, double *y);

  /* y_i ← scale_o x_o and y_o ← scale_o x_i with o = permutation[i], for blocks i < n of size bs
   * and n·bs scales; NULL: o = i, scale 1 */
  bisai_status (*gather)(bisai_context *, int32_t n, int bs, const int32_t *permutation,
                         const double *scale, int32_t count, const double *x, int64_t ldx,
                         double *y, int64_t ldy);
  bisai_status (*scatter)(bisai_context *, int32_t n, int bs, const int32_t *permutation,
                          const double *scale, int32_t count, const double *x, int64_t ldx,
                          double *y, int64_t ldy);

  /* --- GMRES; basis vector c starts at basis + c·ld; `work` as above --- */
  /* out[c] ← basis_c · w for c < count */
  bisai_status (*dot_many)(bisai_context *, int64_t n, int count, const double *basis, int64_t ld,
                           const double *w, double *work, double *out);
  /* w ← w + sign·Σ_c coefficients[c]·basis_c, and unless NULL *norm2 ← w·w; count may be 0 */
  bisai_status (*axpy_many)(bisai_context *, int64_t n, int count, const double *basis, int64_t ld,
                            const double *coefficients, double sign, double *w, double *work,
                            double *norm2);
  /* y ← x/√(*norm2); y = 0 where *norm2 is 0. x may be y. */
  bisai_status (*scale_by_norm)(bisai_context *, int64_t n, const double *norm2, const double *x,
                                double *y);
  /* *cancelled ← whether one pass of classical Gram–Schmidt left too little of its vector: h has
   * the `count` products, *norm2 is the square of what is left. Waits. */
  bisai_status (*gmres_cancelled)(bisai_context *, int count, const double *h, const double *norm2,
                                  bool *cancelled);
  /* Column j of the Hessenberg matrix, H (column-major, leading dimension m + 1) rows 0 … j given
   * in h and *norm2 = h_{j+1,j}²: applies the earlier rotations, makes rotation j, updates the
   * rotated right-hand side g (m + 1 values) and leaves in status[0] the residual estimate
   * |g_{j+1}| (NaN where the column is not finite) and in status[1] h_{j+1,j}, 0 where it is
   * rounding error against the column's norm; a column that is then dependent on the earlier ones
   * gets a zero diagonal and leaves the estimate as it was. With h2 ≠ NULL, h + h2 is taken (second
   * Gram–Schmidt pass). */
  bisai_status (*gmres_rotate)(bisai_context *, int m, int j, const double *h, const double *h2,
                               const double *norm2, double *H, double *cosines, double *sines,
                               double *g, double *status);
  /* Step j after w = A v_j, which is in basis vector j + 1, at once: dot_many, axpy_many, both
   * again where `passes` says so, gmres_rotate, whose status goes to status + 2·j, and
   * scale_by_norm of w. Nothing is added up over processes. */
  bisai_status (*gmres_step)(bisai_context *, const bsi_cycle *, int j, bsi_passes);
  /* v ← v/√(*norm2), 0 where *norm2 is 0; *beta ← √(*norm2); *seen ← *norm2, in memory that both
   * sides see */
  bisai_status (*gmres_start)(bisai_context *, int64_t n, const double *norm2, double *v,
                              double *beta, double *seen);
  /* y ← the solution of the k × k triangular system H y = g; y_i = 0 where the diagonal is 0 */
  bisai_status (*gmres_coefficients)(bisai_context *, int m, int k, const double *H,
                                     const double *g, double *y);

  /* --- CG, BiCGSTAB, IDR(s): core/recurrence.h --- */
  /* One pass over the vectors; with `alone` also what follows its sums, which otherwise are left in
   * r->sums. All of it does nothing once a step has ended the cycle. */
  bisai_status (*recurrence_pass)(bisai_context *, const struct bsi_recurrence *r, bsi_pass pass,
                                  bool alone);
  /* What follows sums that others have been added to. */
  bisai_status (*recurrence_scalars)(bisai_context *, const struct bsi_recurrence *r,
                                     bsi_pass pass);
  /* y ← column c of the shadow vectors, not yet orthonormal */
  bisai_status (*shadow_vector)(bisai_context *, int64_t n, int c, double *y);

  /* --- block products, apply --- */
  /* y ← alpha·A x + beta·z (z unread when beta = 0; z may be y; an implied unit diagonal counts),
   * columns of X, Y, Z with ldx, ldy, ldz */
  bisai_status (*product)(bisai_context *, const bisai_bcsr *, int32_t count, double alpha,
                          const double *x, int64_t ldx, double beta, const double *z, int64_t ldz,
                          double *y, int64_t ldy);
  /* y ← alpha·Aᵀ x + beta·z, A square, otherwise the same; with A's blocks by columns */
  bisai_status (*transposed_product)(bisai_context *, const bisai_bcsr *,
                                     const struct bsi_columns *, int32_t count, double alpha,
                                     const double *x, int64_t ldx, double beta, const double *z,
                                     int64_t ldz, double *y, int64_t ldy);
  /* y ← D x, D block-diagonal with n blocks of size bs */
  bisai_status (*diagonal_product)(bisai_context *, int32_t n, int bs, const double *blocks,
                                   int32_t count, const double *x, int64_t ldx, double *y,
                                   int64_t ldy);
  /* x ← T⁻¹ b exactly; x may be b */
  bisai_status (*triangular_solve)(bisai_context *, const struct bsi_triangular *, bisai_schedule,
                                   int32_t count, const double *b, int64_t ldb, double *x,
                                   int64_t ldx);

  /* --- set-up --- */
  /* bandwidth and profile of a square matrix. Waits. */
  bisai_status (*order_measure)(bisai_context *, const bisai_bcsr *, struct bsi_order_shape *);
  /* powers of two that bring the largest magnitudes of A's rows and columns near 1 */
  bisai_status (*equilibrate)(bisai_context *, const bisai_bcsr *, struct bsi_equilibration *);
  /* the values of the reordered and equilibrated matrix from A's */
  bisai_status (*reorder_values)(bisai_context *, const bisai_bcsr *, struct bsi_reordered *);
  /* inverses ← inverses of the matrix's blocks position[i], one in each block row i; with
   * shift_amount > 0 singular ones are repaired first, and position[i] = −1 stands for a zero
   * block */
  bisai_status (*invert_blocks)(bisai_context *, const bisai_bcsr *matrix, const int32_t *position,
                                double shift_amount, double *inverses, struct bsi_invert_stats *);
  /* position[i] ← where the diagonal block of block row i is among the matrix's blocks, −1 where it
   * has none; *missing ← the first such row, or −1. Waits. */
  bisai_status (*find_diagonals)(bisai_context *, const bisai_bcsr *, int32_t *position,
                                 int32_t *missing);
  /* *moved ← the first block row whose diagonal block is elsewhere than at its position, or −1.
   * Waits. */
  bisai_status (*compare_diagonals)(bisai_context *, const bisai_bcsr *, const int32_t *position,
                                    int32_t *moved);
  /* the partition (all of it, with `start` from allocate where it is not uniform) by agglomeration
   * with blocks of at most `most` rows, 1 … 32. Scalar rows of equal pattern (stored zeros count)
   * that follow each other are a supervariable, which is cut from its first row on into pieces of
   * `most` rows and one of what is left; then, from the first piece on, a block takes the next
   * piece as long as it has at most `most` rows with it. Waits. */
  bisai_status (*bjacobi_find)(bisai_context *, const bisai_bcsr *, int32_t most,
                               struct bsi_partition *);
  /* first_value and values of a partition that is not uniform: first_value is reserved. Waits. */
  bisai_status (*bjacobi_layout)(bisai_context *, struct bsi_bjacobi *);
  /* workspace of bjacobi_values, of blocks that are otherwise reserved */
  bisai_status (*bjacobi_reserve)(bisai_context *, const bisai_bcsr *, struct bsi_bjacobi *);
  /* the values of all blocks: extracted, decomposed, rounded, stored; stats. No allocation.
   * Waits. */
  bisai_status (*bjacobi_values)(bisai_context *, const bisai_bcsr *, struct bsi_bjacobi *);
  /* y_b ← D_b⁻¹ x_b for every block b and `count` vectors; y is not x */
  bisai_status (*bjacobi_apply)(bisai_context *, const struct bsi_bjacobi *, int32_t count,
                                const double *x, int64_t ldx, double *y, int64_t ldy);
  /* f->lower, f->upper, f->longest_row ← the structure of ILU(0). *missing ← the first block row
   * without a diagonal block, or −1; nothing is made if there is one. Waits. */
  bisai_status (*split_triangles)(bisai_context *, const bisai_bcsr *matrix, bisai_factors *f,
                                  int32_t *missing);
  /* *fit ← whether the matrix has the pattern that the factors were made from. Waits. */
  bisai_status (*factors_fit)(bisai_context *, const bisai_factors *, const bisai_bcsr *matrix,
                              bool *fit);
  /* the level schedule of a triangular matrix; on a device without levels->ptr. Waits. */
  bisai_status (*find_levels)(bisai_context *, bisai_triangle, const bisai_bcsr *,
                              struct bsi_levels *);
  /* block ILU of `matrix` on the factors' reserved pattern, of which the matrix's is a part */
  bisai_status (*factor_ilu)(bisai_context *, const bisai_bcsr *matrix, bisai_factors *,
                             struct bsi_invert_stats *);
  /* the rows of N = S(|T|^power). With row_limit > 0 longer rows keep that many blocks: by the
   * steps that reach them first, then by their distance from the diagonal; what is left out is
   * counted */
  bisai_status (*pattern_power)(bisai_context *, const bisai_bcsr *matrix, int power,
                                int32_t row_limit, bisai_pattern *);
  /* a pattern's column form and its longest column from its rows. Waits. */
  bisai_status (*pattern_columns)(bisai_context *, bisai_pattern *);
  /* workspace of isai_values, for an N that has its pattern */
  bisai_status (*isai_reserve)(bisai_context *, const struct bsi_triangular *, struct bsi_isai *);
  /* T_off's rows times the inverse diagonal blocks: G ← D⁻¹ T_off; *infinite_row ← the first with a
   * value that is not finite, or -1 */
  bisai_status (*scale_off_diagonal)(bisai_context *, const struct bsi_triangular *,
                                     bisai_bcsr *scaled, int32_t *infinite_row);
  /* values of N from T on N's pattern: T(J,J) N(J,j) = I(J) for every block column j */
  bisai_status (*isai_values)(bisai_context *, const struct bsi_triangular *, struct bsi_isai *,
                              struct bsi_isai_fault *);
} bsi_backend;

/* The asymmetry of a matrix by the threads or the stream of `context`, which need not be the
 * matrix's; kept with the matrix until its next update. The other outputs are those of
 * bisai_bcsr_asymmetry(). */
bisai_status bsi_bcsr_asymmetry(bisai_context *context, const bisai_bcsr *matrix, double *asymmetry,
                                bool *mirrored);

extern const bsi_backend bsi_backend_host;
#ifdef BISAI_HAVE_CUDA
extern const bsi_backend bsi_backend_cuda;
#endif

#endif
