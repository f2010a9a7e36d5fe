/* SPDX-License-Identifier: BSD-3-Clause */
#include "measure.h"

#include <math.h>
#include <stdlib.h>

#include "project.h"

/* ‖v‖₂ = largest·sqrt(sum). The values are divided by the largest, so that no square leaves the
 * range of a double. */
typedef struct norm {
  double largest, sum;
} norm;

static norm norm_of(int64_t n, const double *v) {
  norm result = {0, 0};
  for (int64_t i = 0; i < n; i++) {
    double size = fabs(v[i]);
    if (!isfinite(size)) return (norm){size, 1};
    if (size > result.largest) result.largest = size;
  }
  for (int64_t i = 0; i < n && result.largest > 0; i++) {
    double part = v[i] / result.largest;
    result.sum += part * part;
  }
  return result;
}

/* Returns ‖v‖/‖w‖, and 0 for v = 0. */
static double ratio(int64_t n, const double *v, const double *w) {
  const norm a = norm_of(n, v), b = norm_of(n, w);
  return a.largest == 0 ? 0 : fabs(a.largest / b.largest * sqrt(a.sum / b.sum));
}

bisai_status measure_residual(const problem *p, const double *x, double *value) {
  double *y = malloc((size_t)p->unknowns * sizeof *y);
  if (!y) return BISAI_OUT_OF_MEMORY;
  bisai_status status = bisai_bcsr_multiply(p->matrix, x, y);
  if (!status) {
    for (int64_t i = 0; i < p->span; i++) y[i] = p->rhs[i] - y[i];
    *value = ratio(p->span, y, p->rhs);
  }
  free(y);
  return status;
}

bisai_status measure_error(bisai_context *context, const problem *p, const double *x,
                           double *value) {
  const facts *f = &p->facts;
  *value = NAN;
  const bool projects = p->project.right.count > 0,
             unknown = constants_exist(&f->left) && !constants_exist(&f->right);
  if (!p->known.x || (unknown && !projects)) return BISAI_OK;
  double *e = malloc((size_t)p->span * sizeof *e);
  if (!e) return BISAI_OUT_OF_MEMORY;
  for (int64_t i = 0; i < p->span; i++) e[i] = x[i] - p->known.x[i];
  bisai_status status = BISAI_OK;
  if (projects)
    status = project_solution(context, p, e);
  else
    status = project_constants(context, p, &f->right, e);
  const double error = ratio(p->span, e, p->known.x);
  if (!status && isfinite(error)) *value = error;
  free(e);
  return status;
}
