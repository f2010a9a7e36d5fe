/* SPDX-License-Identifier: BSD-3-Clause */
/* When Newton's method refreshes its preconditioner, and what that costs. */
#ifndef BISAI_CASE_NAVIER_STOKES_REFRESH_H
#define BISAI_CASE_NAVIER_STOKES_REFRESH_H

#include <petscsnes.h>

typedef enum refresh_policy {
  /* as -snes_lag_preconditioner says: at each step by default */
  REFRESH_STEP,
  /* when the last linear solve took more than 1.5 times the iterations of the solve that followed
   * the last refresh */
  REFRESH_GROWTH
} refresh_policy;

typedef struct refresh {
  refresh_policy policy;
  /* of the last linear solve, and of the first one after the last refresh; 0 before it */
  PetscInt last, fresh;
  /* at the last monitored step: the time, the total time of linear solves, the number of set-ups
   * and refreshes */
  PetscLogDouble time, solve_seconds;
  int setups;
  /* of the first set-up in the program */
  PetscLogDouble first;
} refresh;

/* Applies the policy to all solves of the SNES, and prints a line at each step. The SNES keeps the
 * pointer as its application context. PETSc's default log must be running. */
PetscErrorCode refresh_watch(SNES snes, refresh *r);

/* Prints the time of the first set-up of the watched solves, and the shortest times of `repeats`
 * later set-ups from the beginning and of as many refreshes with a new Jacobian at x. The first one
 * includes what a program does once: new memory, and the modules of a device. */
PetscErrorCode refresh_measure(SNES snes, Vec x, PetscInt repeats);

#endif
