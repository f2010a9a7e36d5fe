/* SPDX-License-Identifier: BSD-3-Clause */
/* The operations that solvers are made of. */
#ifndef BSI_OPERATIONS_H
#define BSI_OPERATIONS_H

#include "krylov/passes/krylov_ops.h"
#include "krylov/run/solver_run.h"

const bsi_backend *bsi_backend_of(const bsi_solver_run *run);
/* y ← A x */
bisai_status bsi_multiply_given(bsi_solver_run *run, const double *x, double *y);
/* y ← factor·A x */
bisai_status bsi_multiply(bsi_solver_run *run, const double *x, double *y);
/* z ← M⁻¹v; there must be a preconditioner. */
bisai_status bsi_precondition(bsi_solver_run *run, const double *v, double *z);
/* Sums values over all processes by the reduction hook. */
bisai_status bsi_sum_processes(bsi_solver_run *run, double *values, int count);
/* out[c] ← basis_c · w over all processes */
bisai_status bsi_dot(bsi_solver_run *run, int count, const double *basis, const double *w,
                     double *out);
/* w ← w − Σ coefficients[c]·basis_c; with `norm`, the solver's norm2 ← w·w over all processes */
bisai_status bsi_subtract(bsi_solver_run *run, int count, const double *basis,
                          const double *coefficients, double *w, bool norm);
/* x ← x + factor·Σ coefficients[c]·basis_c */
bisai_status bsi_add(bsi_solver_run *run, int count, const double *basis,
                     const double *coefficients, double factor, double *x);
/* The same with vectors of which some are in fp32. */
bisai_status bsi_dot_basis(bsi_solver_run *run, bsi_basis basis, const double *w, double *out);
bisai_status bsi_subtract_basis(bsi_solver_run *run, bsi_basis basis, const double *coefficients,
                                double *w, bool norm);
bisai_status bsi_add_basis(bsi_solver_run *run, bsi_basis basis, const double *coefficients,
                           double factor, double *x);
/* norm2 and *value ← ‖x‖² and ‖x‖ */
bisai_status bsi_norm(bsi_solver_run *run, const double *x, double *value);
/* *norm ← √norm2, which is in backend memory. Waits. */
bisai_status bsi_fetch_norm(bsi_solver_run *run, const double *norm2, double *norm);
/* Reads the clock, if an application was timed, and adds its time. */
bisai_status bsi_read_clock(bsi_solver_run *run);

#endif
