/* SPDX-License-Identifier: BSD-3-Clause */
/* CG, BiCGSTAB and IDR(s): the operands of a pass over their vectors, for the host and for CUDA. A
 * step of a method is a few passes. After a pass
 * that sums something, bsi_recurrence_scalars turns the sums into the coefficients of later passes,
 * and at the end of a step into the status of the step.
 *
 * CG (Saad, Iterative Methods, Algorithm 9.1)
 *   CG_RHO        z·r → β = ρ'/ρ              CG_DIRECTION  p ← z + β p
 *   CG_CURVATURE  p·q → α = ρ/(p·q), q = A p  CG_UPDATE     x ← x + α p, r ← r − α q; r·r
 *
 * Without M, z is r, and CG_UPDATE also does the work of CG_RHO. Flexible CG (Notay, SIAM J. Sci.
 * Comput. 22 (2000), truncated after one direction) has another β:
 *   CG_FLEXIBLE_RHO  z·r, z·q → β = −α (z·q)/ρ, q and α of the last step
 *
 * q is (r_old − r)/α. This β is therefore z·(r − r_old)/ρ, the one of Polak and Ribière.
 *
 * p·q and z·r must keep their signs: a definite matrix may have either sign.
 *
 * BiCGSTAB (van der Vorst 1992), shadow residual r̂ = r at the start, p̂ = M⁻¹p, q = A p̂,
 * t = A M⁻¹r
 *   BICGSTAB_DIRECTION  p ← r + β (p − ω q)   BICGSTAB_ALPHA  r̂·q → α = ρ/(r̂·q)
 *   BICGSTAB_HALF       r ← r − α q           BICGSTAB_OMEGA  t·r, t·t, r·r → ω = t·r/t·t
 *   BICGSTAB_UPDATE     x ← x + α p̂ + ω M⁻¹r, r ← r − ω t; r·r, r̂·r → β = (ρ'/ρ)(α/ω)
 *
 * IDR(s) (van Gijzen, Sonneveld 2011, Figure 2), shadow vectors P, k counted from 0
 *   IDR_SHADOW     f = Pᵀr → γ: M γ = f       IDR_DIRECTION  v ← r − Σ γ_i g_i
 *   IDR_EXTEND     u_k ← ω M⁻¹v + Σ_{i≥k} γ_i u_i
 *   IDR_COLUMN     Pᵀg_k, g_k = A u_k → column k of M, the a_i of g_k ← g_k − Σ_{i<k} a_i g_i, β =
 *                  f_k/M_kk, f, the next γ
 *   IDR_UPDATE     g_k, u_k, r ← r − β g_k, x ← x + β u_k, v ← r − Σ_{i>k} γ_i g_i; r·r
 *   IDR_OMEGA      t·r, t·t → ω, t = A M⁻¹r   IDR_LAST       x ← x + ω M⁻¹r, r ← r − ω t; r·r
 *
 * Residuals go up and down. A pass that changes x therefore saves x first if it is the best so far.
 * IDR_COLUMN computes all of Pᵀg_k before g_k is made biorthogonal, because M has p_l·g_i for i < k
 * (Collignon, van Gijzen 2011). */
#ifndef BSI_RECURRENCE_STATE_H
#define BSI_RECURRENCE_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include <bisai/krylov.h>

#include "core/block/column.h"
#include "krylov/passes/krylov_ops.h"

/* status[1] of a step: how it ended. The values of bisai_breakdown are positive. */
enum { BSI_STEP_GOOD = 0, BSI_STEP_TARGET = -1, BSI_STEP_NOT_FINITE = -2 };

/* The most sums of a pass: s of IDR(s). */
enum { BSI_MAX_SUMS = BISAI_MAX_SHADOW_DIMENSION };

/* What is known of the saved x. */
typedef struct bsi_saved_scalars {
  /* ‖r‖ of the x that was saved last; at first ‖r‖ of the start */
  double norm;
  /* not 0 if the next step saves x before it changes x */
  double next;
  /* the number of steps since x was saved */
  double steps;
} bsi_saved_scalars;

/* Those of IDR(s) alone. */
typedef struct bsi_idr_scalars {
  double f[BISAI_MAX_SHADOW_DIMENSION], gamma[BISAI_MAX_SHADOW_DIMENSION],
      a[BISAI_MAX_SHADOW_DIMENSION];
  /* column-major, leading dimension s, lower triangle */
  double m[BISAI_MAX_SHADOW_DIMENSION * BISAI_MAX_SHADOW_DIMENSION];
} bsi_idr_scalars;

/* In backend memory. A step that ends the cycle sets `ended`, and passes leave all vectors alone
 * from then on. The device copies these doubles in their order, and those of IDR(s) for IDR(s)
 * only. */
typedef struct bsi_scalars {
  /* ‖r‖ that ends the cycle */
  double target;
  /* the factor from updates in the units of r to x: scaled by powers of two */
  double to_x;
  double ended;
  /* r·r */
  double norm2;
  /* ‖r̂‖ */
  double shadow_norm;
  bsi_saved_scalars saved;
  double rho, alpha, beta, omega;
  bsi_idr_scalars idr;
} bsi_scalars;

/* The operands of IDR(s) alone. */
typedef struct bsi_recurrence_idr {
  /* in bisai_solver::state, k is the k of the first step of the cycle */
  int s, k;
  /* s columns */
  double *g, *u;
} bsi_recurrence_idr;

/* Where a pass leaves what are no vectors. */
typedef struct bsi_recurrence_results {
  /* BSI_MAX_SUMS */
  double *sums;
  /* BSI_CHUNKS for each sum */
  double *work;
  /* two words that the host reads */
  double *status;
} bsi_recurrence_results;

/* The operands of a pass: vectors of n values in backend memory, in the notation above. Columns are
 * ld values apart. */
typedef struct bsi_recurrence {
  int64_t n, ld;
  bool preconditioned;
  double *x, *r, *p, *q, *t;
  /* the saved x: the best of the cycle so far, or nearly so */
  double *kept;
  /* z = M⁻¹p or M⁻¹v (CG: M⁻¹r), z2 = M⁻¹r of BiCGSTAB; without M they are p, v and r themselves */
  double *z, *z2;
  /* r̂, or the s columns of P */
  double *shadow;
  bsi_recurrence_idr idr;
  bsi_scalars *scalars;
  bsi_recurrence_results results;
} bsi_recurrence;

/* The entry of shadow vector `c` at `row`, before the vectors are made orthonormal: the output
 * function of SplitMix64 of a counter. */
BSI_INLINE double bsi_shadow_value(const int64_t row, const int c) {
  uint64_t z = ((uint64_t)row * BISAI_MAX_SHADOW_DIMENSION + (uint64_t)c + 1) * 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  z ^= z >> 31;
  return (double)(z >> 11) * 0x1p-52 - 1;
}

/* The number of values that a pass sums. Scalar work follows only passes that sum something. */
BSI_INLINE int bsi_sums_of(const bsi_pass pass, const int s) {
  switch (pass) {
  case BSI_CG_RHO:
  case BSI_CG_CURVATURE:
  case BSI_CG_UPDATE:
  case BSI_BICGSTAB_ALPHA:
  case BSI_IDR_UPDATE:
  case BSI_IDR_LAST: return 1;
  case BSI_CG_FLEXIBLE_RHO:
  case BSI_BICGSTAB_UPDATE:
  case BSI_IDR_OMEGA: return 2;
  case BSI_BICGSTAB_OMEGA: return 3;
  case BSI_IDR_SHADOW:
  case BSI_IDR_COLUMN: return s;
  default: return 0;
  }
}

#endif
