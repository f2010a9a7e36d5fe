/* SPDX-License-Identifier: BSD-3-Clause */
/* Chebyshev polynomials in D⁻¹A (Adams, Brezina, Hu, Tuminaro 2003). They damp the eigenvalues from
 * high/ratio to high, where `high` is an upper bound of ρ(D⁻¹A). */
#include "multigrid/smoothers/chebyshev.h"

#include <math.h>

#include "multigrid/diagonal/radius.h"
#include "multigrid/smoothers/smoothers.h"

bsi_chebyshev bsi_chebyshev_begin(double high, double ratio) {
  const double low = high / ratio;
  return (bsi_chebyshev){isfinite(high), 0.5 * (high + low), 0.5 * (high - low), 0.0};
}

void bsi_chebyshev_coefficients(void *user, int32_t k, double *alpha, double *beta) {
  bsi_chebyshev *c = user;
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
                                     bsi_vector b, bsi_vector from, bsi_vector to) {
  bsi_chebyshev c = bsi_chebyshev_begin(bsi_radius_bound(h, level), h->setup.options.ratio);
  const bsi_relaxations r = {count, h->setup.options.degree, bsi_chebyshev_coefficients, &c};
  return bsi_relax(h, level, &r, b, from, to);
}

static int32_t chebyshev_degree(const bisai_multigrid_options *o) { return o->degree; }

const bsi_smoother bsi_smoother_chebyshev = {.options = {"multigrid.degree", "multigrid.ratio"},
                                             .steps = "multigrid.degree",
                                             .smooth = chebyshev_smooth,
                                             .degree = chebyshev_degree};
