/* SPDX-License-Identifier: BSD-3-Clause */
/* A case as a matrix of PETSc on several processes. Each process makes the whole system and takes
 * its own block rows of it.
 * Cases are cavity, convdiff, elasticity, free, islands, reaction and reservoir, with `size` nodes
 * of a side; free is an elastic body without supports, islands are `size` meshes without couplings:
 * their matrices are singular.
 * Parts are grid, slab, uneven, some and graph: boxes of the grid, equal slabs, slabs of 1, 2, 3, …
 * parts, equal slabs on every process but the first and each third one after it, and parts of the
 * graph by METIS. */
#ifndef BISAI_TESTS_PETSC_PARTED_CASE_H
#define BISAI_TESTS_PETSC_PARTED_CASE_H

#include <petscksp.h>

#include <bisai/bisai.h>

typedef struct parted_problem {
  bisai_context *context;
  bisai_bcsr *matrix;
  double *rhs, *modes;
  PetscInt nodes[3], rows, block_size;
  PetscBool symmetric, singular;
} parted_problem;

/* Where block rows are: number[i] is the new number of block row i. */
typedef struct parted_rows {
  PetscInt *number, *old, first, last;
} parted_rows;

PetscErrorCode parted_make(const char *name, PetscInt size, parted_problem *p);
void parted_free(parted_problem *p);

/* Fails if there are no parts of this name. */
PetscErrorCode parted_check(const char *parts);

PetscErrorCode parted_cut(MPI_Comm comm, const parted_problem *p, const char *kind, parted_rows *q);

PetscErrorCode parted_uncut(parted_rows *q);

/* A matrix of the type that -mat_type names, or BAIJ, with near-null vectors if the case has them.
 * With -points 1 it is of points: AIJ without a block size and without the zeros of the blocks. */
PetscErrorCode parted_mat(MPI_Comm comm, const parted_problem *p, const parted_rows *q, Mat *mat);

/* Writes the own rows, times a factor. */
PetscErrorCode parted_fill(const parted_problem *p, const parted_rows *q, double factor, Mat mat);

/* A vector of the own rows from one of all rows. */
PetscErrorCode parted_vector(const parted_problem *p, const parted_rows *q, const double *all,
                             Vec v);

/* CG or FGMRES(30) with multigrid of bisai, to 1e-8 of the residual of b; options change it. */
PetscErrorCode parted_solver(MPI_Comm comm, const parted_problem *p, KSP *ksp);

/* Solves with A, or with -transposed with Aᵀ. *iterations ← PETSC_MAX_INT if the solve does not
 * converge. */
PetscErrorCode parted_solve(KSP ksp, Mat mat, Vec b, Vec x, PetscInt *iterations);

#endif
