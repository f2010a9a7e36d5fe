/* SPDX-License-Identifier: BSD-3-Clause */
/* An upper bound of ρ(D⁻¹A) for a symmetric A whose D⁻¹A has no negative eigenvalues.
 *
 * CG for A with the preconditioner D⁻¹ is a Lanczos process for D⁻¹A in the inner product of D
 * (Saad, Iterative Methods, 6.7.3). From z = D⁻¹r and p = z, step k is
 *
 *   q = A p,  αₖ = (r·z)/(p·q),  r ← r − αₖ q,  z = D⁻¹r,  βₖ = (r·z)/(r·z before),  p ← z + βₖ p
 *
 * and the tridiagonal matrix T has 1/αₖ + βₖ₋₁/αₖ₋₁ on its diagonal and √βₖ/|αₖ| beside it. For the
 * largest eigenvalue θ of T, of which the last component of the eigenvector is s, D⁻¹A has an
 * eigenvalue in θ ± |s|√β/α with the last α and β (Parlett, The Symmetric Eigenvalue Problem,
 * 13.2). The upper end of this interval is in practice an upper bound of ρ (Zhou and Li, Linear
 * Algebra Appl. 435 (2011)).
 *
 * Ranks add up both products of a step at once (Chronopoulos and Gear, J. Comput. Appl. Math. 25
 * (1989)): with w = A z and s = A p,
 *
 *   βₖ₋₁ = (r·z)/(r·z before),  αₖ = (r·z)/(z·w − βₖ₋₁ (r·z)/αₖ₋₁),  s ← w + βₖ₋₁ s,  r ← r − αₖ s
 */
#ifndef BSI_LANCZOS_H
#define BSI_LANCZOS_H

#include <math.h>
#include <stdbool.h>

#include "core/block/column.h"
#include "core/context/backend.h"
#include "core/vector/start_value.h"

enum { BSI_LANCZOS_STEPS = 10 };

/* The coefficients, and scalars and partial sums of a step: BSI_LANCZOS_WORK doubles. The first
 * ones are α and β of each step. */
enum {
  BSI_LANCZOS_COEFFICIENTS = 2 * BSI_LANCZOS_STEPS,
  BSI_LANCZOS_PRODUCT = BSI_LANCZOS_COEFFICIENTS, /* r·z */
  BSI_LANCZOS_STEP,                               /* the last α or β */
  BSI_LANCZOS_SUM,
  BSI_LANCZOS_SECOND_SUM, /* of ranks */
  BSI_LANCZOS_PARTIALS,
  BSI_LANCZOS_WORK = BSI_LANCZOS_PARTIALS + BSI_CHUNKS
};

/* Returns value k of the first residual, a number in [−1, 1) times √D_kk or what the diagonal of
 * D⁻¹ says of it: all modes have about equal parts in the norm of D⁻¹, whatever A's scaling. */
BSI_INLINE double bsi_lanczos_start(int64_t k, int bs, const double *inverse) {
  const double reciprocal = fabs(inverse[k * bs + k % bs]);
  return reciprocal > 0.0 ? bsi_start_value(k) / sqrt(reciprocal) : 0.0;
}

/* work[BSI_LANCZOS_STEP] ← α of step k from p·q. A step without a meaning is 0. */
BSI_INLINE void bsi_lanczos_alpha(int k, double *work) {
  const double alpha = work[BSI_LANCZOS_PRODUCT] / work[BSI_LANCZOS_SUM];
  work[2 * k] = work[BSI_LANCZOS_STEP] = isfinite(alpha) ? alpha : 0.0;
}

/* work[BSI_LANCZOS_STEP] ← β of step k from r·z. The first residual, with k = −1, has none. */
BSI_INLINE void bsi_lanczos_beta(int k, double *work) {
  const double beta = work[BSI_LANCZOS_SUM] / work[BSI_LANCZOS_PRODUCT];
  work[BSI_LANCZOS_PRODUCT] = work[BSI_LANCZOS_SUM];
  work[BSI_LANCZOS_STEP] = k >= 0 && isfinite(beta) ? beta : 0.0;
  if (k >= 0) work[2 * k + 1] = work[BSI_LANCZOS_STEP];
}

/* The scalars of step k of ranks, from r·z and z·w: α and β before it. Sets β of the step before
 * and α of this one. With k = BSI_LANCZOS_STEPS there is no step any more, and z·w is not read. */
typedef struct bsi_lanczos_step {
  double alpha, beta, product;
} bsi_lanczos_step;

static inline void bsi_lanczos_both(int k, const double sums[2], bsi_lanczos_step *s,
                                    double coefficients[BSI_LANCZOS_COEFFICIENTS]) {
  const double beta = k > 0 ? sums[0] / s->product : 0.0;
  s->beta = isfinite(beta) ? beta : 0.0;
  if (k > 0) coefficients[2 * k - 1] = s->beta;
  if (k == BSI_LANCZOS_STEPS) return;
  const double alpha = sums[0] / (sums[1] - (k > 0 ? s->beta * sums[0] / s->alpha : 0.0));
  s->alpha = coefficients[2 * k] = isfinite(alpha) ? alpha : 0.0;
  s->product = sums[0];
}

/* What the coefficients say of ρ(D⁻¹A). */
typedef struct bsi_radius {
  /* the upper end of the interval above */
  double bound;
  /* the growth of the last power step, of as many as there were steps: an estimate from below, to
   * which modes of a few rows contribute little */
  double growth;
} bsi_radius;

/* Returns false if the coefficients show that D⁻¹A has negative eigenvalues. */
bool bsi_lanczos_radius(const double coefficients[BSI_LANCZOS_COEFFICIENTS], bsi_radius *radius);

#endif
