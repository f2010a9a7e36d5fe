/* SPDX-License-Identifier: BSD-3-Clause */
/* Matrices of small meshes for the tests of multigrid, with their near-null spaces. */
#ifndef BISAI_TEST_MESH_H
#define BISAI_TEST_MESH_H

#include "support.h"

typedef enum test_boundary {
  /* neighbours outside of the mesh are zero */
  TEST_ZERO_OUTSIDE,
  /* nothing is outside: a constant for each component is in the null space */
  TEST_FREE,
  /* as FREE, and the nodes of the face x = 0 are fixed: identity rows and columns. Their couplings
   * are stored as zeros */
  TEST_FIXED_FACE
} test_boundary;

/* Five points on nx × ny, in blocks that are multiples of one full symmetric definite block. `wind`
 * is added to the coupling to the left and subtracted from that to the right: 0 is symmetric. */
test_bcsr test_mesh_diffusion(int32_t nx, int32_t ny, int32_t bs, test_boundary boundary,
                              double wind);

/* The scalar row of a point is i·ny + j: blocks of bs points follow the y direction, as a scalar
 * matrix of the same values would be stored. Zeros fill the blocks. ny is a multiple of bs. */
test_bcsr test_mesh_lines(int32_t nx, int32_t ny, int32_t bs);

/* Springs of stiffness 1 between all nodes of a unit cell of a grid, blocks of three displacements.
 * FREE: the null space are the six rigid-body modes. */
test_bcsr test_mesh_springs(int32_t nx, int32_t ny, int32_t nz, test_boundary boundary);

/* Rectangular elements with bilinear functions for −div(k grad u) on nx × ny nodes, in blocks that
 * are multiples of one block, as above. The sides of the elements differ by factors of up to 4, and
 * k by factors of up to 10^±jump an element: some weights beside the diagonal are positive, and
 * ρ(D⁻¹A) is above 2. DIRICHLET adds 1e-3 of the largest diagonal entries at x = 0. Otherwise
 * constants are in the null space. */
test_bcsr test_mesh_elements(int32_t nx, int32_t ny, int32_t bs, double jump, bool dirichlet);

/* Leaves out some blocks whose mirrored ones stay. */
test_bcsr test_mesh_without_mirrors(test_bcsr a);

/* The rigid-body modes: 3·nodes rows of six values. */
double *test_mesh_modes(int32_t nx, int32_t ny, int32_t nz);

/* Two matrices of one block size as the diagonal blocks of one. Frees both. */
test_bcsr test_mesh_beside(test_bcsr first, test_bcsr second);

#endif
