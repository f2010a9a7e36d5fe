/* SPDX-License-Identifier: BSD-3-Clause */
/* The largest eigenvalue of the tridiagonal matrix of a Lanczos process, and its residual. */
#include "multigrid/diagonal/lanczos.h"

/* T of `n` rows. Row k has `diagonal[k]`, and `beside[k]` to the right. */
typedef struct tridiagonal {
  int n;
  double diagonal[BSI_LANCZOS_STEPS], beside[BSI_LANCZOS_STEPS];
} tridiagonal;

/* A residual of this part of the first one consists of rounding errors: the process has ended. */
#define ENDED 0x1p-90

/* A leading part of T is singular if a pivot is at most this part of what is subtracted for it. The
 * process has then found a vector that A maps to zero, and later steps are rounding errors. */
#define SINGULAR 0x1p-20
/* An eigenvalue of a singular matrix that is zero but for rounding errors is at least this part of
 * the largest one, below zero. The errors are those of fp32 and of ill-conditioned blocks of D. */
#define ROUNDED (-0x1p-7)

/* Takes the steps up to the one that ends the process. Pivot k of T is 1/αₖ. Returns false if D is
 * not positive definite. */
static bool read_steps(const double *c, tridiagonal *t) {
  double left = 1.0, before = 0.0;
  bool singular = false;
  for (t->n = 0; t->n < BSI_LANCZOS_STEPS && left > ENDED && !singular; t->n++) {
    const double alpha = c[2 * t->n], beta = c[2 * t->n + 1];
    if (alpha == 0.0 || !(beta >= 0.0)) return false;
    singular = !(1.0 / alpha > SINGULAR * before);
    t->diagonal[t->n] = 1.0 / alpha + before;
    t->beside[t->n] = sqrt(beta) / fabs(alpha);
    before = beta / alpha;
    left *= beta;
  }
  return isfinite(before);
}

/* Returns true if all eigenvalues of T are below x, or above it with the sign −1: all pivots of
 * sign·(x − T) are positive. */
static bool is_beyond(const tridiagonal *t, double x, double sign) {
  double pivot = sign * (x - t->diagonal[0]);
  for (int k = 1; k < t->n && pivot > 0.0; k++)
    pivot = sign * (x - t->diagonal[k]) - t->beside[k - 1] * t->beside[k - 1] / pivot;
  return pivot > 0.0;
}

/* Returns the largest eigenvalue of T, by bisection; at least 0. */
static double largest_eigenvalue(const tridiagonal *t) {
  double low = 0.0, high = 0.0;
  for (int k = 0; k < t->n; k++) {
    const double left = k > 0 ? t->beside[k - 1] : 0.0, right = k < t->n - 1 ? t->beside[k] : 0.0;
    low = fmax(low, t->diagonal[k]);
    high = fmax(high, t->diagonal[k] + left + right);
  }
  double middle = low + 0.5 * (high - low);
  while (middle > low && middle < high) {
    if (is_beyond(t, middle, 1.0))
      high = middle;
    else
      low = middle;
    middle = low + 0.5 * (high - low);
  }
  return high;
}

/* Returns |s| for the eigenvector of the eigenvalue θ, which is above all eigenvalues of the
 * leading parts of T: the components have one sign, and nothing cancels. */
static double last_component(const tridiagonal *t, double theta) {
  double component = 1.0, square = 1.0, pivot = theta - t->diagonal[0];
  for (int k = 1; k < t->n && pivot > 0.0; k++) {
    component *= pivot / t->beside[k - 1];
    square += component * component;
    pivot = theta - t->diagonal[k] - t->beside[k - 1] * t->beside[k - 1] / pivot;
  }
  return isfinite(square) ? component / sqrt(square) : 1.0;
}

/* Returns ‖Tⁿe‖/‖Tⁿ⁻¹e‖ for the first unit vector e. */
static double growth_of(const tridiagonal *t) {
  double x[BSI_LANCZOS_STEPS] = {1.0}, growth = 0.0;
  for (int step = 0; step < t->n; step++) {
    double y[BSI_LANCZOS_STEPS], square = 0.0;
    for (int k = 0; k < t->n; k++) {
      y[k] = t->diagonal[k] * x[k];
      if (k > 0) y[k] += t->beside[k - 1] * x[k - 1];
      if (k < t->n - 1) y[k] += t->beside[k] * x[k + 1];
      square += y[k] * y[k];
    }
    growth = sqrt(square);
    for (int k = 0; k < t->n; k++) x[k] = y[k] / growth;
  }
  return growth;
}

bool bsi_lanczos_radius(const double coefficients[BSI_LANCZOS_COEFFICIENTS], bsi_radius *radius) {
  tridiagonal t = {.n = 0};
  if (!read_steps(coefficients, &t)) return false;
  const double theta = largest_eigenvalue(&t);
  if (!(theta > 0.0 && is_beyond(&t, ROUNDED * theta, -1.0))) return false;
  radius->bound = theta + t.beside[t.n - 1] * last_component(&t, theta);
  radius->growth = growth_of(&t);
  return true;
}
