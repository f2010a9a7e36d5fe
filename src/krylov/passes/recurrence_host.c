/* SPDX-License-Identifier: BSD-3-Clause */
/* The passes of CG, BiCGSTAB and IDR(s) on the CPU; krylov/passes/recurrence_state.h has
 * the equations. A chunk of the vectors is divided into tiles. A tile stays in the L1 cache for all
 * operations of a pass. */
#include "krylov/passes/recurrence_scalars.h"

#include "core/context/context_impl.h"
#include "core/threads/parallel.h"
#include "core/vector/chunks_host.h"
#include "krylov/passes/krylov_ops.h"

/* y ← y + a·x */
static void add(int64_t n, double a, const double *restrict x, double *restrict y) {
  for (int64_t i = 0; i < n; i++) y[i] += a * x[i];
}

/* Saves x if the step has to. */
static void keep(const bsi_recurrence *r, int64_t at, int64_t n) {
  if (r->scalars->saved.next == 0) return;
  for (int64_t i = at; i < at + n; i++) r->kept[i] = r->x[i];
}

/* y ← y + a·x + b·z */
static void add_two(int64_t n, double a, const double *restrict x, double b,
                    const double *restrict z, double *restrict y) {
  for (int64_t i = 0; i < n; i++) y[i] += a * x[i] + b * z[i];
}

/* y ← x + a·(y − b·z); a = 0 ignores y and z, which may hold anything */
static void direct(int64_t n, double a, double b, const double *restrict x,
                   const double *restrict z, double *restrict y) {
  if (a == 0)
    for (int64_t i = 0; i < n; i++) y[i] = x[i];
  else if (!z)
    for (int64_t i = 0; i < n; i++) y[i] = x[i] + a * y[i];
  else
    for (int64_t i = 0; i < n; i++) y[i] = x[i] + a * (y[i] - b * z[i]);
}

static void dot(int64_t n, const double *x, const double *y, double *sum) {
  bsi_dot_group(1, n, x, 0, y, sum);
}

/* y ← y − Σ_{first ≤ i < end} coefficients_i·column_i */
static void subtract_columns(int64_t n, int first, int end, const double *coefficients,
                             const double *columns, int64_t ld, double *y) {
  for (int i = first; i < end; i++) add(n, -coefficients[i], columns + i * ld, y);
}

/* u_k ← ω z + Σ_{i ≥ k} γ_i u_i */
static void extend(const bsi_recurrence *r, int64_t at, int64_t n) {
  const bsi_scalars *c = r->scalars;
  const double *restrict z = r->z + at;
  double *restrict u = r->idr.u + r->idr.k * r->ld + at;
  for (int64_t i = 0; i < n; i++) u[i] = c->omega * z[i] + c->idr.gamma[r->idr.k] * u[i];
  for (int i = r->idr.k + 1; i < r->idr.s; i++)
    add(n, c->idr.gamma[i], r->idr.u + i * r->ld + at, u);
}

static void update_idr(const bsi_recurrence *r, int64_t at, int64_t n, double *sums) {
  const bsi_scalars *c = r->scalars;
  double *x = r->x + at, *residual = r->r + at, *g = r->idr.g + r->idr.k * r->ld + at,
         *u = r->idr.u + r->idr.k * r->ld + at;
  subtract_columns(n, 0, r->idr.k, c->idr.a, r->idr.g + at, r->ld, g);
  subtract_columns(n, 0, r->idr.k, c->idr.a, r->idr.u + at, r->ld, u);
  keep(r, at, n);
  add(n, -c->beta, g, residual);
  add(n, c->beta * c->to_x, u, x);
  dot(n, residual, residual, sums);
  if (r->idr.k + 1 == r->idr.s) return;
  for (int64_t i = 0; i < n; i++) r->p[at + i] = residual[i];
  subtract_columns(n, r->idr.k + 1, r->idr.s, c->idr.gamma, r->idr.g + at, r->ld, r->p + at);
}

/* Runs the pass on the values at … at + n − 1. */
static void pass_on(const bsi_recurrence *r, bsi_pass pass, int64_t at, int64_t n, double *sums) {
  const bsi_scalars *c = r->scalars;
  const double *p = r->p + at, *q = r->q + at, *t = r->t + at, *z = r->z + at, *z2 = r->z2 + at;
  double *x = r->x + at, *residual = r->r + at;
  switch (pass) {
  case BSI_CG_FLEXIBLE_RHO: dot(n, z, q, sums + 1); /* fallthrough */
  case BSI_CG_RHO: dot(n, z, residual, sums); break;
  case BSI_CG_DIRECTION: direct(n, c->beta, 0, z, NULL, r->p + at); break;
  case BSI_CG_CURVATURE: dot(n, p, q, sums); break;
  case BSI_CG_UPDATE:
    keep(r, at, n);
    add(n, c->alpha * c->to_x, p, x);
    add(n, -c->alpha, q, residual);
    dot(n, residual, residual, sums);
    break;
  case BSI_BICGSTAB_DIRECTION: direct(n, c->beta, c->omega, residual, q, r->p + at); break;
  case BSI_BICGSTAB_ALPHA: dot(n, r->shadow + at, q, sums); break;
  case BSI_BICGSTAB_HALF: add(n, -c->alpha, q, residual); break;
  case BSI_BICGSTAB_OMEGA: dot(n, residual, residual, sums + 2); /* fallthrough */
  case BSI_IDR_OMEGA:
    dot(n, residual, t, sums);
    dot(n, t, t, sums + 1);
    break;
  case BSI_BICGSTAB_UPDATE:
    keep(r, at, n);
    add_two(n, c->alpha * c->to_x, z, c->omega * c->to_x, z2, x);
    add(n, -c->omega, t, residual);
    dot(n, residual, residual, sums);
    dot(n, r->shadow + at, residual, sums + 1);
    break;
  case BSI_IDR_DIRECTION:
    for (int64_t i = 0; i < n; i++) r->p[at + i] = residual[i];
    subtract_columns(n, 0, r->idr.s, c->idr.gamma, r->idr.g + at, r->ld, r->p + at);
    break;
  case BSI_IDR_SHADOW:
    for (int i = 0; i < r->idr.s; i++) dot(n, r->shadow + i * r->ld + at, residual, sums + i);
    break;
  case BSI_IDR_EXTEND: extend(r, at, n); break;
  case BSI_IDR_COLUMN:
    for (int i = 0; i < r->idr.s; i++)
      dot(n, r->shadow + i * r->ld + at, r->idr.g + r->idr.k * r->ld + at, sums + i);
    break;
  case BSI_IDR_UPDATE: update_idr(r, at, n, sums); break;
  case BSI_IDR_LAST:
    keep(r, at, n);
    add(n, c->omega * c->to_x, z, x);
    add(n, -c->omega, t, residual);
    dot(n, residual, residual, sums);
    break;
  }
}

typedef struct pass_job {
  const bsi_recurrence *r;
  bsi_pass pass;
  /* the number of sums */
  int count;
} pass_job;

static void pass_part(void *job, bsi_part part) {
  const pass_job *p = job;
  const bsi_recurrence *r = p->r;
  const int64_t length = bsi_chunk_length(r->n);
  const bsi_range range = bsi_range_of(bsi_chunks_of(r->n), part);
  for (int64_t chunk = range.begin; chunk < range.end; chunk++) {
    const int64_t end = bsi_smaller((chunk + 1) * length, r->n);
    double sums[BSI_MAX_SUMS] = {0};
    for (int64_t i = chunk * length; i < end; i += BSI_CHUNK_TILE)
      pass_on(r, p->pass, i, bsi_smaller(BSI_CHUNK_TILE, end - i), sums);
    for (int c = 0; c < p->count; c++) r->results.work[chunk * p->count + c] = sums[c];
  }
}

static bisai_status recurrence_pass(bisai_context *context, const bsi_recurrence *r, bsi_pass pass,
                                    bool alone) {
  if (r->scalars->ended != 0) return BISAI_OK;
  const int count = bsi_sums_of(pass, r->idr.s);
  bsi_run(context, bsi_threads_for(context->threads, (count + 2) * r->n, BSI_CHUNK_GRAIN),
          BSI_SOME_PARTS, pass_part, &(pass_job){r, pass, count});
  bsi_add_chunks(bsi_chunks_of(r->n), count, r->results.work, r->results.sums);
  if (alone && count > 0)
    bsi_recurrence_scalars(pass, r, r->scalars, r->results.sums, r->results.status);
  return BISAI_OK;
}

static bisai_status recurrence_scalars(bisai_context *context, const bsi_recurrence *r,
                                       bsi_pass pass) {
  (void)context;
  bsi_recurrence_scalars(pass, r, r->scalars, r->results.sums, r->results.status);
  return BISAI_OK;
}

typedef struct shadow_job {
  int64_t n;
  int c;
  double *y;
} shadow_job;

static void shadow_part(void *job, bsi_part part) {
  const shadow_job *s = job;
  const bsi_range range = bsi_range_of(s->n, part);
  for (int64_t i = range.begin; i < range.end; i++) s->y[i] = bsi_shadow_value(i, s->c);
}

static bisai_status shadow_vector(bisai_context *context, int64_t n, int c, double *y) {
  bsi_run(context, bsi_threads_for(context->threads, n, BSI_CHUNK_GRAIN), BSI_SOME_PARTS,
          shadow_part, &(shadow_job){n, c, y});
  return BISAI_OK;
}

const bsi_recurrence_ops bsi_recurrence_host = {
    .pass = recurrence_pass, .scalars = recurrence_scalars, .shadow_vector = shadow_vector};
