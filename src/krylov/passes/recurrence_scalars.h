/* SPDX-License-Identifier: BSD-3-Clause */
/* The scalar work of CG, BiCGSTAB and IDR(s) between two passes, compiled for the host and for
 * CUDA. krylov/passes/recurrence_state.h has the equations. */
#ifndef BSI_RECURRENCE_SCALARS_H
#define BSI_RECURRENCE_SCALARS_H

#include <math.h>

#include "krylov/passes/recurrence_state.h"

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
  if (c->saved.next != 0) {
    c->saved.norm = sqrt(c->norm2);
    c->saved.steps = 0;
  }
  c->norm2 = norm2;
  c->saved.steps += 1;
  c->saved.next = norm < c->saved.norm &&
                  (norm < BSI_KEEP_SHARE * c->saved.norm || c->saved.steps >= BSI_KEEP_EVERY);
  bsi_end_step(c, norm,
               !isfinite(norm)     ? BSI_STEP_NOT_FINITE
               : norm <= c->target ? BSI_STEP_TARGET
               : why == BISAI_BREAKDOWN_NONE && norm > BSI_GROWTH * c->saved.norm
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
BSI_INLINE void bsi_idr_gamma(bsi_idr_scalars *c, const int s, const int first) {
  for (int i = first; i < s; i++) {
    double sum = c->f[i];
    for (int l = first; l < i; l++) sum -= c->m[i + l * s] * c->gamma[l];
    c->gamma[i] = sum / c->m[i + i * s];
  }
}

/* sums has Pᵀg_k */
BSI_INLINE void bsi_idr_column(bsi_scalars *c, const int s, const int k, double *sums,
                               double *status) {
  bsi_idr_scalars *idr = &c->idr;
  double size = fabs(sums[k]);
  for (int i = 0; i < k; i++) {
    const double a = sums[i] / idr->m[i + i * s];
    idr->a[i] = a;
    size += fabs(a * idr->m[k + i * s]);
    for (int l = i; l < s; l++) sums[l] -= a * idr->m[l + i * s];
  }
  const double pivot = sums[k];
  c->beta = idr->f[k] / pivot;
  if (!(fabs(pivot) > BSI_ORTHOGONAL * size) || !isfinite(c->beta)) {
    bsi_refuse_step(c, size, BISAI_BREAKDOWN_PIVOT, status);
    return;
  }
  for (int l = k; l < s; l++) {
    idr->m[l + k * s] = sums[l];
    idr->f[l] = l == k ? 0 : idr->f[l] - c->beta * sums[l];
  }
  bsi_idr_gamma(idr, s, k + 1);
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
    for (int i = 0; i < r->idr.s; i++) c->idr.f[i] = sums[i];
    bsi_idr_gamma(&c->idr, r->idr.s, 0);
    break;
  case BSI_IDR_COLUMN: bsi_idr_column(c, r->idr.s, r->idr.k, sums, status); break;
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
