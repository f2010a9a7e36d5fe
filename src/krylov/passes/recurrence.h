/* SPDX-License-Identifier: BSD-3-Clause */
/* CG, BiCGSTAB and IDR(s): the operands of a pass over their vectors and the scalar work between
 * two passes, compiled for the host and for CUDA. A step of a method is a few passes. After a pass
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
#ifndef BSI_RECURRENCE_H
#define BSI_RECURRENCE_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include <bisai/krylov.h>

#include "core/block/column.h"
#include "krylov/passes/krylov_ops.h"

/* status[1] of a step: how it ended. The values of bisai_breakdown are positive. */
enum { BSI_STEP_GOOD = 0, BSI_STEP_TARGET = -1, BSI_STEP_NOT_FINITE = -2 };

/* The most sums of a pass: s of IDR(s). */
enum { BSI_MAX_SUMS = BISAI_MAX_SHADOW_DIMENSION };

/* In backend memory. A step that ends the cycle sets `ended`, and passes leave all vectors alone
 * from then on. */
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
  /* ‖r‖ of the x that was saved last; at first ‖r‖ of the start */
  double kept;
  /* not 0 if the next step saves x before it changes x */
  double keep;
  /* the number of steps since x was saved */
  double unkept;
  double rho, alpha, beta, omega;
  double f[BISAI_MAX_SHADOW_DIMENSION], gamma[BISAI_MAX_SHADOW_DIMENSION],
      a[BISAI_MAX_SHADOW_DIMENSION];
  /* column-major, leading dimension s, lower triangle */
  double m[BISAI_MAX_SHADOW_DIMENSION * BISAI_MAX_SHADOW_DIMENSION];
} bsi_scalars;

/* The operands of a pass: vectors of n values in backend memory, in the notation above. Columns are
 * ld values apart. */
typedef struct bsi_recurrence {
  int64_t n, ld;
  /* of IDR(s); in bisai_solver::state, k is the k of the first step of the cycle */
  int s, k;
  bool preconditioned;
  double *x, *r, *p, *q, *t;
  /* the saved x: the best of the cycle so far, or nearly so */
  double *kept;
  /* z = M⁻¹p or M⁻¹v (CG: M⁻¹r), z2 = M⁻¹r of BiCGSTAB; without M they are p, v and r themselves */
  double *z, *z2;
  /* r̂, or the s columns of P */
  double *shadow;
  /* s columns */
  double *g, *u;
  bsi_scalars *scalars;
  /* BSI_MAX_SUMS */
  double *sums;
  /* BSI_CHUNKS for each sum */
  double *work;
  /* two words that the host reads */
  double *status;
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

/* A step saves x if the residual of x is below this share of that of the last saved x, or if it is
 * smaller and so many steps have passed. The best x is missed by little, and most steps save
 * nothing. */
#define BSI_KEEP_SHARE 0.5
enum { BSI_KEEP_EVERY = 8 };

/* The rounding errors of a step stay in b − A x − r. After a residual that is so much larger than
 * that of the saved x, these errors are as large as the latter, and no later step can do better.
 * Less growth can be made good: some solves converge after a growth of 10¹⁰. */
#define BSI_GROWTH 0x1p52

/* The host reads status[0] only after both words are written. */
BSI_INLINE void bsi_end_step(bsi_scalars *c, const double norm, const double how, double *status) {
  if (how != BSI_STEP_GOOD) c->ended = 1;
  status[0] = norm;
  status[1] = how;
}

/* Ends a step that is impossible. The vectors stay those of the step before. */
BSI_INLINE void bsi_refuse_step(bsi_scalars *c, const double value, const bisai_breakdown why,
                                double *status) {
  bsi_end_step(c, isfinite(value) ? sqrt(c->norm2) : (double)NAN,
               isfinite(value) ? (double)why : BSI_STEP_NOT_FINITE, status);
}

/* Ends a step that has updated x and r. `why` is the breakdown that forbids another step. */
BSI_INLINE void bsi_finish_step(bsi_scalars *c, const double norm2, const bisai_breakdown why,
                                double *status) {
  const double norm = sqrt(norm2);
  if (c->keep != 0) {
    c->kept = sqrt(c->norm2);
    c->unkept = 0;
  }
  c->norm2 = norm2;
  c->unkept += 1;
  c->keep = norm < c->kept && (norm < BSI_KEEP_SHARE * c->kept || c->unkept >= BSI_KEEP_EVERY);
  bsi_end_step(c, norm,
               !isfinite(norm)     ? BSI_STEP_NOT_FINITE
               : norm <= c->target ? BSI_STEP_TARGET
               : why == BISAI_BREAKDOWN_NONE && norm > BSI_GROWTH * c->kept
                   ? (double)BISAI_BREAKDOWN_GROWTH
                   : (double)why,
               status);
}

/* A sum of products of two vectors below this share of the product of their norms is rounding
 * error. */
#define BSI_ORTHOGONAL 2.220446049250313e-16

/* The ω of IDR(s) is enlarged if the cosine of the angle between t and r is below this: Sleijpen
 * and van der Vorst 1995, with the value of the authors of IDR(s). */
#define BSI_IDR_ANGLE 0.7

/* γ_i for i ≥ first: the lower right part of M γ = f */
BSI_INLINE void bsi_idr_gamma(bsi_scalars *c, const int s, const int first) {
  for (int i = first; i < s; i++) {
    double sum = c->f[i];
    for (int l = first; l < i; l++) sum -= c->m[i + l * s] * c->gamma[l];
    c->gamma[i] = sum / c->m[i + i * s];
  }
}

/* sums has Pᵀg_k */
BSI_INLINE void bsi_idr_column(bsi_scalars *c, const int s, const int k, double *sums,
                               double *status) {
  double size = fabs(sums[k]);
  for (int i = 0; i < k; i++) {
    const double a = sums[i] / c->m[i + i * s];
    c->a[i] = a;
    size += fabs(a * c->m[k + i * s]);
    for (int l = i; l < s; l++) sums[l] -= a * c->m[l + i * s];
  }
  const double pivot = sums[k];
  c->beta = c->f[k] / pivot;
  if (!(fabs(pivot) > BSI_ORTHOGONAL * size) || !isfinite(c->beta)) {
    bsi_refuse_step(c, size, BISAI_BREAKDOWN_PIVOT, status);
    return;
  }
  for (int l = k; l < s; l++) {
    c->m[l + k * s] = sums[l];
    c->f[l] = l == k ? 0 : c->f[l] - c->beta * sums[l];
  }
  bsi_idr_gamma(c, s, k + 1);
}

/* ω = t·r/t·t; larger if t and r are nearly orthogonal, and 0 if they are orthogonal. */
BSI_INLINE double bsi_omega(const double tr, const double tt, const double rr, const double angle) {
  const double sizes = sqrt(tt) * sqrt(rr);
  if (isfinite(tr) && isfinite(tt) && !(fabs(tr) > BSI_ORTHOGONAL * sizes)) return 0;
  const double close = fabs(tr) / sizes, omega = tr / tt;
  return close < angle ? omega * (angle / close) : omega;
}

/* The scalar work that follows the sums of a pass. It may overwrite the sums. */
BSI_INLINE void bsi_recurrence_scalars(const bsi_pass pass, const bsi_recurrence *r, bsi_scalars *c,
                                       double *sums, double *status) {
  if (c->ended != 0) return;
  switch (pass) {
  case BSI_CG_RHO:
  case BSI_CG_FLEXIBLE_RHO: {
    const double ratio = c->rho == 0 ? 0 : sums[0] / c->rho;
    const bool flexible = pass == BSI_CG_FLEXIBLE_RHO && c->rho != 0;
    c->beta = flexible ? -(c->alpha * sums[1]) / c->rho : ratio;
    c->rho = sums[0];
    if (sums[0] == 0 || !(ratio >= 0)) bsi_refuse_step(c, sums[0], BISAI_BREAKDOWN_PRECOND, status);
    break;
  }
  case BSI_CG_CURVATURE: {
    const double before = c->alpha;
    c->alpha = c->rho / sums[0];
    /* The signs are compared, because the product may be too small for a double. */
    const bool turned = before != 0 && (before < 0) != (c->alpha < 0);
    if (sums[0] == 0 || turned || c->alpha == 0 || !isfinite(c->alpha))
      bsi_refuse_step(c, sums[0], BISAI_BREAKDOWN_CURVATURE, status);
    break;
  }
  case BSI_CG_UPDATE:
    if (!r->preconditioned) {
      c->beta = sums[0] / c->rho;
      c->rho = sums[0];
    }
    bsi_finish_step(c, sums[0], BISAI_BREAKDOWN_NONE, status);
    break;
  case BSI_BICGSTAB_ALPHA:
    c->alpha = c->rho / sums[0];
    if (sums[0] == 0 || c->alpha == 0 || !isfinite(c->alpha))
      bsi_refuse_step(c, sums[0], BISAI_BREAKDOWN_ALPHA, status);
    break;
  case BSI_BICGSTAB_OMEGA:
    c->omega = bsi_omega(sums[0], sums[1], sums[2], 0);
    if (!isfinite(c->omega)) bsi_refuse_step(c, NAN, BISAI_BREAKDOWN_OMEGA, status);
    break;
  case BSI_BICGSTAB_UPDATE: {
    const bool orthogonal = fabs(sums[1]) <= BSI_ORTHOGONAL * sqrt(sums[0]) * c->shadow_norm;
    c->beta = sums[1] / c->rho * (c->alpha / c->omega);
    c->rho = sums[1];
    bsi_finish_step(c, sums[0],
                    c->omega == 0                      ? BISAI_BREAKDOWN_OMEGA
                    : orthogonal || !isfinite(c->beta) ? BISAI_BREAKDOWN_RHO
                                                       : BISAI_BREAKDOWN_NONE,
                    status);
    break;
  }
  case BSI_IDR_SHADOW:
    for (int i = 0; i < r->s; i++) c->f[i] = sums[i];
    bsi_idr_gamma(c, r->s, 0);
    break;
  case BSI_IDR_COLUMN: bsi_idr_column(c, r->s, r->k, sums, status); break;
  case BSI_IDR_OMEGA:
    c->omega = bsi_omega(sums[0], sums[1], c->norm2, BSI_IDR_ANGLE);
    if (c->omega == 0 || !isfinite(c->omega))
      bsi_refuse_step(c, sums[0] + sums[1], BISAI_BREAKDOWN_OMEGA, status);
    break;
  case BSI_IDR_UPDATE:
  case BSI_IDR_LAST: bsi_finish_step(c, sums[0], BISAI_BREAKDOWN_NONE, status); break;
  default: break;
  }
}

#endif
