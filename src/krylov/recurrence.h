/* SPDX-License-Identifier: BSD-3-Clause */
/* CG, BiCGSTAB and IDR(s): what one pass over their vectors needs, and the scalars between two
 * passes, compiled for the host and for CUDA. A step of a method is a few passes; those that sum
 * something are followed by bsi_recurrence_scalars, which turns the sums into the coefficients of
 * the passes to come, and at the end of a step into its status.
 *
 * CG (Saad, Iterative Methods, Algorithm 9.1)
 *   CG_RHO        z·r → β = ρ'/ρ              CG_DIRECTION  p ← z + β p; without M, z is r, and
 *                 CG_UPDATE does what CG_RHO does CG_CURVATURE  p·q → α = ρ/(p·q), q = A p
 *                 CG_UPDATE   x ← x + α p, r ← r − α q; r·r
 *
 * Here p·q, and z·r too, must keep their signs: definite matrices of either sign will do.
 *
 * BiCGSTAB (van der Vorst 1992), shadow residual r̂ = r at the start, p̂ = M⁻¹p, q = A p̂, t = A
 * M⁻¹r
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
 *                  Passes that change x first put it aside where it is the best so far: residuals
 *                  go up and down. All of Pᵀg_k is known before g_k is made biorthogonal: what
 *                  p_l·g_i is for i < k stands in M (Collignon, van Gijzen 2011). */
#ifndef BSI_RECURRENCE_H
#define BSI_RECURRENCE_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include <bisai/krylov.h>

#include "core/column.h"
#include "krylov/krylov_ops.h"

/* How a step ended, beside the breakdowns of bisai_breakdown, which are positive: status[1]. */
enum { BSI_STEP_GOOD = 0, BSI_STEP_TARGET = -1, BSI_STEP_NOT_FINITE = -2 };

/* Sums of a pass at most: s of IDR's. */
enum { BSI_MAX_SUMS = BISAI_MAX_SHADOW_DIMENSION };

/* In backend memory. A step that ends the cycle sets `ended`, and passes leave all vectors alone
 * from then on. */
typedef struct bsi_scalars {
  /* ‖r‖ that ends the cycle */
  double target;
  /* x is in other units than r, and A in others than were given: by powers of two */
  double to_x;
  double ended;
  /* r·r */
  double norm2;
  /* ‖r̂‖ */
  double shadow_norm;
  /* ‖r‖ of the x that was put aside; at first that of the start */
  double kept;
  /* whether the next step puts x aside before it changes it … */
  double keep;
  /* … as the steps since the last time decide */
  double unkept;
  double rho, alpha, beta, omega;
  double f[BISAI_MAX_SHADOW_DIMENSION], gamma[BISAI_MAX_SHADOW_DIMENSION],
      a[BISAI_MAX_SHADOW_DIMENSION];
  /* column-major, leading dimension s, lower triangle */
  double m[BISAI_MAX_SHADOW_DIMENSION * BISAI_MAX_SHADOW_DIMENSION];
} bsi_scalars;

/* Vectors of n values in backend memory; those with several columns have ld between them. Which has
 * what part: above. */
typedef struct bsi_recurrence {
  int64_t n, ld;
  /* of IDR; at the start of a cycle k is that of its first step */
  int s, k;
  bool preconditioned;
  double *x, *r, *p, *q, *t;
  /* an x of before: the best, or nearly so */
  double *kept;
  /* M⁻¹ of something: z of p or v (CG: of r), z2 of BiCGSTAB's r; what they would be copies of
   * without M */
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
  /* two words that the host looks at */
  double *status;
} bsi_recurrence;

/* Vector `c` of shadow vectors that are still to be made orthonormal, at `row`: SplitMix64's output
 * function of a counter. */
BSI_INLINE double bsi_shadow_value(const int64_t row, const int c) {
  uint64_t z = ((uint64_t)row * BISAI_MAX_SHADOW_DIMENSION + (uint64_t)c + 1) * 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  z ^= z >> 31;
  return (double)(z >> 11) * 0x1p-52 - 1;
}

/* How many values the pass sums; the scalars follow those alone. */
BSI_INLINE int bsi_sums_of(const bsi_pass pass, const int s) {
  switch (pass) {
  case BSI_CG_RHO:
  case BSI_CG_CURVATURE:
  case BSI_CG_UPDATE:
  case BSI_BICGSTAB_ALPHA:
  case BSI_IDR_UPDATE:
  case BSI_IDR_LAST: return 1;
  case BSI_BICGSTAB_UPDATE:
  case BSI_IDR_OMEGA: return 2;
  case BSI_BICGSTAB_OMEGA: return 3;
  case BSI_IDR_SHADOW:
  case BSI_IDR_COLUMN: return s;
  default: return 0;
  }
}

/* An x is put aside where its residual is below this share of that of the last one, or smaller at
 * all and so many steps passed: a good one is not missed by much, and most steps write nothing
 * more. */
#define BSI_KEEP_SHARE 0.5
enum { BSI_KEEP_EVERY = 8 };

/* A step's rounding errors stay in b − A x − r. Once a residual was so much larger than the one of
 * the x that was put aside they are as large as that one, and no step to come can do better. Growth
 * of less is left behind again: there are solves that converge after 10¹⁰. */
#define BSI_GROWTH 0x1p52

/* The host takes status[0] only when both words are there. */
BSI_INLINE void bsi_end_step(bsi_scalars *c, const double norm, const double how, double *status) {
  if (how != BSI_STEP_GOOD) c->ended = 1;
  status[0] = norm;
  status[1] = how;
}

/* The step cannot be made: the vectors are those of the step before. */
BSI_INLINE void bsi_refuse_step(bsi_scalars *c, const double value, const bisai_breakdown why,
                                double *status) {
  bsi_end_step(c, isfinite(value) ? sqrt(c->norm2) : (double)NAN,
               isfinite(value) ? (double)why : BSI_STEP_NOT_FINITE, status);
}

/* The step is made, x and r are new; `why` is what forbids another one. */
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

/* IDR's ω is made larger where t and r are less than this close: Sleijpen and van der Vorst 1995,
 * with the value of IDR's authors. */
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

/* ω = t·r/t·t, larger where the two are nearly orthogonal; zero where they are. */
BSI_INLINE double bsi_omega(const double tr, const double tt, const double rr, const double angle) {
  const double sizes = sqrt(tt) * sqrt(rr);
  if (isfinite(tr) && isfinite(tt) && !(fabs(tr) > BSI_ORTHOGONAL * sizes)) return 0;
  const double close = fabs(tr) / sizes, omega = tr / tt;
  return close < angle ? omega * (angle / close) : omega;
}

/* What follows the pass's sums. They may be used up. */
BSI_INLINE void bsi_recurrence_scalars(const bsi_pass pass, const bsi_recurrence *r, bsi_scalars *c,
                                       double *sums, double *status) {
  if (c->ended != 0) return;
  switch (pass) {
  case BSI_CG_RHO:
    c->beta = c->rho == 0 ? 0 : sums[0] / c->rho;
    c->rho = sums[0];
    if (sums[0] == 0 || !(c->beta >= 0))
      bsi_refuse_step(c, sums[0], BISAI_BREAKDOWN_PRECOND, status);
    break;
  case BSI_CG_CURVATURE: {
    const double before = c->alpha;
    c->alpha = c->rho / sums[0];
    /* their product may be too small for a double */
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
