/* SPDX-License-Identifier: BSD-3-Clause */
/* The stiffness matrix of a trilinear hexahedron with the edges of a box, for linear elasticity. */
#ifndef BISAI_CASES_ELEMENT_H
#define BISAI_CASES_ELEMENT_H

enum { ELEMENT_NODES = 8, ELEMENT_BS = 3 };

/* The block of nodes a and b, column-major. Node a = 4z + 2y + x is the corner (x, y, z) of the
 * box, each 0 or 1. */
typedef struct element {
  double block[ELEMENT_NODES][ELEMENT_NODES][ELEMENT_BS * ELEMENT_BS];
} element;

/* Integrates the stiffness of a box with the given edges by 2 × 2 × 2 Gauss points, for E = 1 and
 * ν = 0.3. block[a][b] is the transpose of block[b][a], bit by bit. */
void element_stiffness(const double edge[3], element *e);

#endif
