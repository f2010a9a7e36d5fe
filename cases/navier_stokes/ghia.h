/* SPDX-License-Identifier: BSD-3-Clause */
/* The velocities that Ghia, Ghia and Shin (1982) tabulate for Re = 100, 400 and 1000. */
#ifndef BISAI_CASE_NAVIER_STOKES_GHIA_H
#define BISAI_CASE_NAVIER_STOKES_GHIA_H

#include "flow.h"

enum { GHIA_POINTS = 17 };

/* A column of a table: value[k] at place[k], which is y for u and x for v. */
typedef struct ghia_column {
  const double *place, *value;
  /* the point whose printed value is wrong, or −1 */
  int misprint;
} ghia_column;

/* Returns false if the tables do not have this Reynolds number. */
PetscBool ghia_find(PetscReal reynolds, ghia_column *u, ghia_column *v);

/* Interpolates values that are given at ascending places linearly. */
PetscReal ghia_interpolate(PetscInt count, const PetscReal *places, const PetscReal *values,
                           PetscReal at);

/* Returns the largest difference, misprints left out, and the point where it is found. */
PetscReal ghia_difference(const ghia_column *column, PetscInt count, const PetscReal *places,
                          const PetscReal *values, int *where);

#endif
