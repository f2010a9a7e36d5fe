/* SPDX-License-Identifier: BSD-3-Clause */
/* Steady flow in a square with a moving lid at any Reynolds number, as a nonlinear problem of PETSc
 * on a DMDA. README.md has the equations. */
#ifndef BISAI_CASE_NAVIER_STOKES_FLOW_H
#define BISAI_CASE_NAVIER_STOKES_FLOW_H

#include <petscsnes.h>

/* The unknowns of node (i, j). u lies half a cell above the node, v half a cell to its right, and
 * the vorticity at the node. */
typedef struct flow_node {
  PetscScalar u, v, omega;
} flow_node;

enum { FLOW_UNKNOWNS = 3 };

typedef struct flow {
  PetscReal reynolds;
} flow;

/* Makes a DMDA of nodes × nodes nodes and a SNES for the flow. -da_grid_x and -da_grid_y change the
 * number of nodes. The options of PETSc apply to both. Fails for fewer than three nodes in a
 * direction. The SNES keeps the pointer to f, and the caller may change f->reynolds between solves.
 */
PetscErrorCode flow_create(MPI_Comm comm, PetscInt nodes, flow *f, SNES *snes);

/* Computes the largest divergence of a cell, and the largest difference between omega and the curl
 * of the velocity at a node that is not a corner. Both vanish for a solution. */
PetscErrorCode flow_defects(SNES snes, Vec x, PetscReal *divergence, PetscReal *curl);

/* The velocity along the centre lines, on every rank: u[k] at x = 1/2 and height[k], and v[k] at
 * y = 1/2 and width[k]. Ends on the walls. */
typedef struct flow_profile {
  PetscInt heights, widths;
  PetscReal *height, *u, *width, *v;
} flow_profile;

/* Fails if the number of nodes in a direction is even: no node is on the centre line then. Free the
 * profile with flow_profile_free(). */
PetscErrorCode flow_get_profile(SNES snes, Vec x, flow_profile *profile);

PetscErrorCode flow_profile_free(flow_profile *profile);

#endif
