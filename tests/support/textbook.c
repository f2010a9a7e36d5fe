/* SPDX-License-Identifier: BSD-3-Clause */
#include "textbook.h"

#include <math.h>

static double *vectors(int64_t n, int64_t count) {
  return calloc((size_t)(n * count) + 1, sizeof(double));
}

static double dot(int64_t n, const double *x, const double *y) {
  double sum = 0;
  for (int64_t i = 0; i < n; i++) sum += x[i] * y[i];
  return sum;
}

static double norm(int64_t n, const double *x) { return sqrt(dot(n, x, x)); }

static void axpy(int64_t n, double a, const double *x, double *y) {
  for (int64_t i = 0; i < n; i++) y[i] += a * x[i];
}

static void copy(int64_t n, const double *x, double *y) { memcpy(y, x, (size_t)n * sizeof *y); }

static void multiply(const textbook_system *s, const double *x, double *y) {
  for (int64_t i = 0; i < s->n; i++) y[i] = 0;
  for (int64_t j = 0; j < s->n; j++) axpy(s->n, x[j], s->a + j * s->n, y);
}

static void precondition(const textbook_system *s, const double *v, double *z) {
  for (int64_t i = 0; i < s->n; i++) z[i] = s->inverse ? s->inverse[i] * v[i] : v[i];
}

static void note(const textbook_system *s, int step, const double *x, const double *r,
                 double *history, double *iterates) {
  history[step] = norm(s->n, r) / norm(s->n, s->b);
  copy(s->n, x, iterates + step * s->n);
}

void textbook_cg(const textbook_system *s, int steps, double *history, double *iterates) {
  const int64_t n = s->n;
  double *x = vectors(n, 5), *r = x + n, *z = r + n, *p = z + n, *q = p + n;
  copy(n, s->b, r);
  note(s, 0, x, r, history, iterates);
  precondition(s, r, z);
  copy(n, z, p);
  for (int k = 1; k <= steps; k++) {
    multiply(s, p, q);
    const double rz = dot(n, r, z), alpha = rz / dot(n, p, q);
    axpy(n, alpha, p, x);
    axpy(n, -alpha, q, r);
    note(s, k, x, r, history, iterates);
    precondition(s, r, z);
    const double beta = dot(n, r, z) / rz;
    for (int64_t i = 0; i < n; i++) p[i] = z[i] + beta * p[i];
  }
  free(x);
}

void textbook_bicgstab(const textbook_system *s, int steps, double *history, double *iterates) {
  const int64_t n = s->n;
  double *x = vectors(n, 9), *r = x + n, *r0 = r + n, *p = r0 + n, *v = p + n, *t = v + n,
         *y = t + n, *z = y + n;
  double rho = 1, alpha = 1, omega = 1;
  copy(n, s->b, r);
  copy(n, r, r0);
  note(s, 0, x, r, history, iterates);
  for (int k = 1; k <= steps; k++) {
    const double next = dot(n, r0, r), beta = next / rho * (alpha / omega);
    rho = next;
    for (int64_t i = 0; i < n; i++) p[i] = r[i] + beta * (p[i] - omega * v[i]);
    precondition(s, p, y);
    multiply(s, y, v);
    alpha = rho / dot(n, r0, v);
    axpy(n, -alpha, v, r);
    precondition(s, r, z);
    multiply(s, z, t);
    omega = dot(n, t, r) / dot(n, t, t);
    axpy(n, alpha, y, x);
    axpy(n, omega, z, x);
    axpy(n, -omega, t, r);
    note(s, k, x, r, history, iterates);
  }
  free(x);
}

/* The generator that the header documents. */
static void make_shadow(int64_t n, int s, double *p) {
  for (int c = 0; c < s; c++) {
    for (int64_t row = 0; row < n; row++) {
      uint64_t z = (uint64_t)(32 * row + c + 1) * 0x9e3779b97f4a7c15u;
      z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
      z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
      z = z ^ (z >> 31);
      p[c * n + row] = 2 * ((double)(z >> 11) / 9007199254740992.0) - 1;
    }
    for (int again = 0; again < 2; again++)
      for (int i = 0; i < c; i++) axpy(n, -dot(n, p + i * n, p + c * n), p + i * n, p + c * n);
    const double length = norm(n, p + c * n);
    for (int64_t row = 0; row < n; row++) p[c * n + row] /= length;
  }
}

typedef struct idr_state {
  int64_t n;
  int s;
  double *x, *r, *p, *g, *u, *v, *t, *m, *f, *c, omega;
} idr_state;

/* One of the s steps of a cycle. */
static void idr_step(const textbook_system *system, idr_state *d, int k) {
  const int64_t n = d->n;
  const int s = d->s;
  for (int i = k; i < s; i++) {
    double sum = d->f[i];
    for (int l = k; l < i; l++) sum -= d->m[i + l * s] * d->c[l];
    d->c[i] = sum / d->m[i + i * s];
  }
  copy(n, d->r, d->v);
  for (int i = k; i < s; i++) axpy(n, -d->c[i], d->g + i * n, d->v);
  precondition(system, d->v, d->t);
  double *u = d->u + k * n, *g = d->g + k * n;
  for (int64_t row = 0; row < n; row++) {
    double sum = d->omega * d->t[row];
    for (int i = k; i < s; i++) sum += d->c[i] * d->u[i * n + row];
    d->v[row] = sum;
  }
  copy(n, d->v, u);
  multiply(system, u, g);
  for (int i = 0; i < k; i++) {
    const double alpha = dot(n, d->p + i * n, g) / d->m[i + i * s];
    axpy(n, -alpha, d->g + i * n, g);
    axpy(n, -alpha, d->u + i * n, u);
  }
  for (int i = k; i < s; i++) d->m[i + k * s] = dot(n, d->p + i * n, g);
  const double beta = d->f[k] / d->m[k + k * s];
  axpy(n, -beta, g, d->r);
  axpy(n, beta, u, d->x);
  for (int i = 0; i < s; i++) d->f[i] = i <= k ? 0 : d->f[i] - beta * d->m[i + k * s];
}

/* The step that leaves the old space: "maintaining the convergence" with 0.7. */
static void idr_leave(const textbook_system *system, idr_state *d) {
  const int64_t n = d->n;
  precondition(system, d->r, d->v);
  multiply(system, d->v, d->t);
  const double tr = dot(n, d->t, d->r), tt = norm(n, d->t), rr = norm(n, d->r),
               angle = fabs(tr / (tt * rr));
  d->omega = tr / (tt * tt);
  if (angle < 0.7) d->omega *= 0.7 / angle;
  axpy(n, d->omega, d->v, d->x);
  axpy(n, -d->omega, d->t, d->r);
}

void textbook_idr(const textbook_system *system, int s, int steps, double *history,
                  double *iterates) {
  const int64_t n = system->n;
  double *x = vectors(n, 4 + 3 * s), *small = vectors(s, s + 2);
  idr_state d = {.n = n,
                 .s = s,
                 .x = x,
                 .r = x + n,
                 .v = x + 2 * n,
                 .t = x + 3 * n,
                 .p = x + 4 * n,
                 .g = x + (4 + s) * n,
                 .u = x + (4 + 2 * s) * n,
                 .m = small,
                 .f = small + s * s,
                 .c = small + s * s + s,
                 .omega = 1};
  make_shadow(n, s, d.p);
  for (int i = 0; i < s; i++) d.m[i + i * s] = 1;
  copy(n, system->b, d.r);
  note(system, 0, d.x, d.r, history, iterates);
  for (int k = 0; k < steps; k++) {
    if (k % (s + 1) == 0)
      for (int i = 0; i < s; i++) d.f[i] = dot(n, d.p + i * n, d.r);
    if (k % (s + 1) == s)
      idr_leave(system, &d);
    else
      idr_step(system, &d, k % (s + 1));
    note(system, k + 1, d.x, d.r, history, iterates);
  }
  free(small);
  free(x);
}
