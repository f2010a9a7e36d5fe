/* SPDX-License-Identifier: BSD-3-Clause */
/* A flat triangular shell element of three nodes with five unknowns each. */
#ifndef CASE_SHELL_ELEMENT_H
#define CASE_SHELL_ELEMENT_H

enum { SHELL_BS = 5, SHELL_CORNERS = 3, SHELL_SIDE = SHELL_BS * SHELL_CORNERS };

/* E, ν and the thickness */
typedef struct shell_material {
  double young, poisson, thickness;
} shell_material;

/* A node: its place, and the directions t1, t2 (tangents) and n of its unknowns. The unknowns are
 * the displacements along t1, t2 and n, and the rotations about t1 and t2. */
typedef struct shell_node {
  double place[3];
  double frame[3][3];
} shell_node;

/* Computes the stiffness of a triangle, symmetric bit by bit: row and column 5a + u belong to
 * unknown u of corner a. Returns the area. */
double shell_stiffness(const shell_material *material, const shell_node *const corners[],
                       double stiffness[SHELL_SIDE][SHELL_SIDE]);

#endif
