/* SPDX-License-Identifier: BSD-3-Clause */
/* What a backend does for the iterative solvers. */
#ifndef BSI_KRYLOV_OPS_H
#define BSI_KRYLOV_OPS_H

#include "core/context/backend.h"

#ifdef __cplusplus
extern "C" {
#endif

struct bsi_recurrence; /* krylov/passes/recurrence_state.h */

/* Passes of classical Gram–Schmidt. */
typedef enum bsi_passes { BSI_PASSES_ONE, BSI_PASSES_TWO, BSI_PASSES_SELECTIVE } bsi_passes;

/* Passes of CG, BiCGSTAB and IDR(s) over their vectors: krylov/passes/recurrence_state.h. */
typedef enum bsi_pass {
  BSI_CG_RHO,
  BSI_CG_FLEXIBLE_RHO,
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

/* Basis vectors that a device takes at once. They have one type. */
enum { BSI_BASIS_GROUP = 8 };

/* `count` vectors of a Krylov basis, each of n values: vector c starts at vectors + c·ld. The last
 * `narrow` ones are in fp32, each in the first half of its place. count − narrow is a multiple of
 * BSI_BASIS_GROUP, unless `narrow` is 0. */
typedef struct bsi_basis {
  int64_t n;
  int count;
  const double *vectors;
  int64_t ld;
  int narrow;
} bsi_basis;

/* `work`: see BSI_CHUNKS. */
typedef struct bsi_basis_ops {
  /* out[c] ← basis_c · w for c < count */
  bisai_status (*dot_many)(bisai_context *, bsi_basis basis, const double *w, double *work,
                           double *out);
  /* w ← w + sign·Σ_c coefficients[c]·basis_c, and *norm2 ← w·w unless it is NULL; count may be
   * 0. */
  bisai_status (*axpy_many)(bisai_context *, bsi_basis basis, const double *coefficients,
                            double sign, double *w, double *work, double *norm2);
  /* y ← x/√(*norm2); y = 0 if *norm2 is 0. x may be y. */
  bisai_status (*scale_by_norm)(bisai_context *, int64_t n, const double *norm2, const double *x,
                                double *y);
  /* v ← v/√(*norm2), 0 if *norm2 is 0; *beta ← √(*norm2); *seen ← *norm2 in shared memory. */
  bisai_status (*start)(bisai_context *, int64_t n, const double *norm2, double *v, double *beta,
                        double *seen);
  /* Both results ← x rounded to fp32. They overlap neither x nor each other. From n to an even
   * number `narrow` gets a zero. */
  bisai_status (*round)(bisai_context *, int64_t n, const double *x, double *wide, float *narrow);
} bsi_basis_ops;

/* The data of a cycle of GMRES(m): m + 1 basis vectors as in bsi_basis, the Hessenberg matrix H
 * (column-major, leading dimension m + 1), m rotations, and the rotated right-hand side g (m + 1
 * values). Step j has status[2·j] and the next word. `work`: see BSI_CHUNKS. The last `narrow` of
 * vectors 0 … j are in fp32. If `next` is not NULL, so will v_{j+1} be: w = A v_j is in `w` instead
 * of vector j + 1, and the rounded v_{j+1} goes to `next` too, in fp64. */
typedef struct bsi_cycle {
  int64_t n, ld;
  int m;
  double *basis, *hessenberg, *cosines, *sines, *rhs, *status, *work;
  int narrow;
  double *w, *next;
} bsi_cycle;

typedef struct bsi_gmres_ops {
  /* The most columns (j + 1) for `step`; 0 if there is no `step`. */
  int fused_columns;
  /* No vectors are rounded of a basis of at most that many bytes: it stays in a cache. */
  int64_t least_rounded;
  /* *cancelled ← true if one pass of classical Gram–Schmidt left too little of its vector. h has
   * the `count` products, *norm2 is the square of what is left. Waits. */
  bisai_status (*cancelled)(bisai_context *, int count, const double *h, const double *norm2,
                            bool *cancelled);
  /* Column j of H. h has its rows 0 … j, and *norm2 = h_{j+1,j}². Applies the earlier rotations,
   * makes rotation j and updates g. The first word of the step's status ← the residual estimate
   * |g_{j+1}|, NaN if the column is not finite. The second ← h_{j+1,j}, 0 if it is a rounding error
   * against the norm of the column; if the column then depends on the earlier ones, its diagonal
   * becomes zero and the estimate stays as it was. With h2 ≠ NULL the column is h + h2 (second
   * Gram–Schmidt pass). Leaves `basis` and `work` alone. */
  bisai_status (*rotate)(bisai_context *, const bsi_cycle *, int j, const double *h,
                         const double *h2, const double *norm2);
  /* All of step j after w = A v_j, which is in basis vector j + 1 or in `w`: dot_many, axpy_many,
   * both again as `passes` says, rotate, and scale_by_norm of w. ld is even, and the entries of
   * basis vectors from n to ld are zeros on a device. Nothing is summed over processes. */
  bisai_status (*step)(bisai_context *, const bsi_cycle *, int j, bsi_passes);
  /* y ← the solution of the k × k triangular system H y = g; y_i = 0 if the diagonal is 0. */
  bisai_status (*coefficients)(bisai_context *, int m, int k, const double *H, const double *g,
                               double *y);
  bsi_load_code *load;
} bsi_gmres_ops;

/* CG, BiCGSTAB, IDR(s). */
typedef struct bsi_recurrence_ops {
  /* One pass over the vectors. With `alone` also the scalar work that follows its sums; otherwise
   * the sums are left in r->results. Does nothing after a step has ended the cycle. */
  bisai_status (*pass)(bisai_context *, const struct bsi_recurrence *r, bsi_pass pass, bool alone);
  /* The scalar work that follows sums over all processes. */
  bisai_status (*scalars)(bisai_context *, const struct bsi_recurrence *r, bsi_pass pass);
  /* y ← column c of the shadow vectors, before they are made orthonormal */
  bisai_status (*shadow_vector)(bisai_context *, int64_t n, int c, double *y);
} bsi_recurrence_ops;

typedef struct bsi_krylov_ops {
  /* The most steps that are enqueued before the host reads the status of the oldest one: 0 if
   * waiting costs nothing. */
  int lookahead;
  const bsi_basis_ops *basis;
  const bsi_gmres_ops *gmres;
  const bsi_recurrence_ops *recurrence;
} bsi_krylov_ops;

extern const bsi_basis_ops bsi_basis_host, bsi_basis_cuda;
extern const bsi_gmres_ops bsi_gmres_host, bsi_gmres_cuda;
extern const bsi_recurrence_ops bsi_recurrence_host, bsi_recurrence_cuda;

#ifdef __cplusplus
}
#endif

#endif
