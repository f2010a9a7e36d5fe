/* SPDX-License-Identifier: BSD-3-Clause */
/* Estimates of spectral radii by power steps. */
#ifndef BSI_POWER_H
#define BSI_POWER_H

#include "core/context/backend.h"

/* y ← G x for arrays in backend memory. y is another array than x. */
typedef bisai_status bsi_power_step(void *user, const double *x, double *y);

/* last[0] ← Gᵏ⁻¹ v and last[1] ← Gᵏ v, which are x and y in some order, for the vectors of
 * bsi_power_norms(). Enqueues the steps, and does not wait. */
bisai_status bsi_power_run(bisai_context *context, int64_t n, int steps, bsi_power_step *step,
                           void *user, double *x, double *y, const double *last[2]);

/* norms ← ‖Gᵏ⁻¹ v‖₂ and ‖Gᵏ v‖₂ for k = `steps` and a vector v of n values that depend on their
 * index only. For a normal G, norms[1]/norms[0] estimates ρ(G) from below. x and y are workspace of
 * n values each in backend memory. `user` is passed to `step`. Waits. */
bisai_status bsi_power_norms(bisai_context *context, int64_t n, int steps, bsi_power_step *step,
                             void *user, double *x, double *y, double norms[2]);

/* Returns norms[1]/norms[0] of bsi_power_norms(): 0 if the vector has vanished, and infinite if it
 * overflows. */
double bsi_power_growth(const double norms[2]);

#endif
