/* SPDX-License-Identifier: BSD-3-Clause */
/* The data of a Mat of type "bisai" and the operations in other files, shared by the files of the
 * type. */
#ifndef BSI_PETSC_MAT_IMPL_H
#define BSI_PETSC_MAT_IMPL_H

#include <petsc/private/matimpl.h>

#include "petsc/mat_values.h"

#define BSI_MAT_TYPE "bisai"
/* the name of the type on several processes */
#define BSI_MAT_TYPE_OF_RANKS "mpibisai"

struct bsi_mat_parts; /* petsc/ranks/parts.h */

typedef struct bsi_mat {
  /* a SeqBAIJ, or on several processes an MPIBAIJ; NULL before the first preallocation */
  Mat host;
  /* the options -mat_bisai_backend and -mat_bisai_threads */
  bisai_backend asked;
  PetscInt threads;
  /* NULL before the first use */
  bsi_mat_values *values;
  /* the state of `host` that `values` has */
  PetscObjectState state;
  /* the state and the pattern of `host` that the states of this Mat tell of */
  PetscObjectState told;
  bsi_petsc_pattern pattern;
  char message[256];
  /* of several processes, in the place of `values`; NULL before the first use */
  struct bsi_mat_parts *parts;
} bsi_mat;

/* Sets the operations on vectors: products. */
void bsi_mat_set_products(Mat mat);

/* y ← y + A x for a Mat of one process, after an operation that has set y. */
PetscErrorCode bsi_mat_multiply_onto(Mat mat, Vec x, Vec y);

/* Sets the operations that the SeqBAIJ does. */
void bsi_mat_set_host_operations(Mat mat);

/* Sets the operations of finite differences with colouring. `alone`: the Mat has one process. */
void bsi_mat_set_coloring(Mat mat, bool alone);

/* Operations on whole Mats: general conversions of any Mat to this type and of this type to any
 * other, copies, files and views. */
PetscErrorCode bsi_mat_convert_from(Mat mat, MatType type, MatReuse reuse, Mat *result);
PetscErrorCode bsi_mat_convert_to(Mat mat, MatType type, MatReuse reuse, Mat *result);
PetscErrorCode bsi_mat_duplicate(Mat mat, MatDuplicateOption option, Mat *result);
PetscErrorCode bsi_mat_transpose(Mat mat, MatReuse reuse, Mat *result);
PetscErrorCode bsi_mat_copy(Mat mat, Mat to, MatStructure structure);
PetscErrorCode bsi_mat_load(Mat mat, PetscViewer viewer);
PetscErrorCode bsi_mat_view(Mat mat, PetscViewer viewer);

#endif
