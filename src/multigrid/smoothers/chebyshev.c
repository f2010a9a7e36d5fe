/* SPDX-License-Identifier: BSD-3-Clause */
/* Chebyshev polynomials in D⁻¹A (Adams, Brezina, Hu, Tuminaro 2003). They damp the eigenvalues from
 * high/ratio to high, where `high` is an upper bound of ρ(D⁻¹A). */
#include <math.h>

#include "multigrid/diagonal/radius.h"
#include "multigrid/smoothers/relaxation.h"
#include "multigrid/smoothers/smoothers.h"

/* The interval of the eigenvalues, and ρ of the recurrence. */
typedef struct chebyshev {
  bool finite;
  double centre, half_width, rho;
} chebyshev;

/* Saad, Iterative Methods, Algorithm 12.1. An infinite bound leaves x as it is. */
static void coefficients(void *user, int32_t k, double *alpha, double *beta) {
  chebyshev *c = user;
  const double sigma = c->centre / c->half_width;
  if (!c->finite) return;
  if (k == 0) {
    c->rho = 1.0 / sigma;
    *beta = 1.0 / c->centre;
    return;
  }
  const double rho = 1.0 / (2.0 * sigma - c->rho);
  *alpha = rho * c->rho;
  *beta = 2.0 * rho / c->half_width;
  c->rho = rho;
}

static bisai_status chebyshev_smooth(bsi_hierarchy *h, bsi_level *level, int32_t count,
                                     const double *b, const double *from, double *to) {
  const double high = bsi_radius_bound(h, level), low = high / h->setup.options.ratio;
  chebyshev c = {isfinite(level->diagonal.radius), 0.5 * (high + low), 0.5 * (high - low), 0.0};
  const bsi_relaxations r = {count, h->setup.options.degree, coefficients, &c};
  return bsi_relax(h, level, &r, b, from, to);
}

static int32_t chebyshev_degree(const bisai_multigrid_options *o) { return o->degree; }

const bsi_smoother bsi_smoother_chebyshev = {.options = {"multigrid.degree", "multigrid.ratio"},
                                             .steps = "multigrid.degree",
                                             .smooth = chebyshev_smooth,
                                             .degree = chebyshev_degree};
