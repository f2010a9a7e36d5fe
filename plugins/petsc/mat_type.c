/* SPDX-License-Identifier: BSD-3-Clause */
/* The operations of a Mat of type "bisai" on itself, and its registration. */
#include "petsc/mat_type.h"

#include "petsc/device.h"
#include "petsc/mat_data.h"
#include "petsc/mat_impl.h"
#include "petsc/ranks/mat_parts.h"
#include "petsc/ranks/parts.h"

static bsi_mat *data_of(Mat mat) { return mat->data; }

static PetscErrorCode destroy(Mat mat) {
  bsi_mat *m = data_of(mat);
  PetscFunctionBegin;
  PetscCall(bsi_mat_parts_destroy(&m->parts));
  PetscCall(MatDestroy(&m->host));
  bsi_mat_release(&m->values);
  PetscCall(PetscObjectComposeFunction((PetscObject)mat, "MatSeqBAIJSetPreallocation_C", NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)mat, "MatMPIBAIJSetPreallocation_C", NULL));
  PetscCall(PetscFree(mat->data));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode set_from_options(Mat mat, bsi_petsc_option_items PetscOptionsObject) {
  bsi_mat *m = data_of(mat);
  const char *words[BSI_PETSC_BACKENDS + 3];
  PetscEnum backend = (PetscEnum)m->asked;
  PetscFunctionBegin;
  bsi_petsc_list_backends(words);
  PetscOptionsHeadBegin(PetscOptionsObject, "bisai matrix options");
  PetscCall(PetscOptionsEnum("-mat_bisai_backend", "Where products are done; auto: on a GPU", "",
                             words, backend, &backend, NULL));
  PetscCall(PetscOptionsInt("-mat_bisai_threads",
                            "Threads of products on the host; 0: all processors", "", m->threads,
                            &m->threads, NULL));
  PetscOptionsHeadEnd();
  if (m->asked == (bisai_backend)backend) PetscFunctionReturn(PETSC_SUCCESS);
  bsi_mat_release(&m->values);
  PetscCall(bsi_mat_parts_destroy(&m->parts));
  m->asked = (bisai_backend)backend;
  PetscCall(bsi_mat_choose_vectors(mat));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode set_up(Mat mat) {
  PetscFunctionBegin;
  PetscCall(bsi_mat_prepare(mat));
  PetscCall(MatSetUp(data_of(mat)->host));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode preallocate(Mat mat, PetscInt bs, PetscInt count, const PetscInt counts[]) {
  PetscFunctionBegin;
  PetscCall(MatSetBlockSize(mat, PetscAbs(bs)));
  PetscCall(bsi_mat_prepare(mat));
  PetscCall(MatSeqBAIJSetPreallocation(data_of(mat)->host, bs, count, counts));
  mat->preallocated = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode create(Mat mat) {
  PetscMPIInt size;
  bsi_mat *m;
  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)mat), &size));
  PetscCall(PetscNew(&m));
  m->threads = 1; /* the processes of MPI share the processors */
  mat->data = m;
  mat->ops->destroy = destroy;
  mat->ops->setfromoptions = set_from_options;
  mat->ops->setup = set_up;
  mat->ops->duplicate = bsi_mat_duplicate;
  mat->ops->convertfrom = bsi_mat_convert_from;
  mat->ops->convert = bsi_mat_convert_to;
  mat->ops->transpose = bsi_mat_transpose;
  mat->ops->copy = bsi_mat_copy;
  mat->ops->load = bsi_mat_load;
  mat->ops->view = bsi_mat_view;
  bsi_mat_set_products(mat);
  bsi_mat_set_host_operations(mat);
  bsi_mat_set_coloring(mat, size == 1);
  if (size == 1) {
    PetscCall(
        PetscObjectComposeFunction((PetscObject)mat, "MatSeqBAIJSetPreallocation_C", preallocate));
  } else {
    PetscCall(bsi_mat_set_parts(mat));
  }
  PetscCall(PetscObjectChangeTypeName((PetscObject)mat,
                                      size == 1 ? BSI_MAT_TYPE : BSI_MAT_TYPE_OF_RANKS));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode bsi_mat_register(void) {
  PetscFunctionBegin;
  PetscCall(MatRegister(BSI_MAT_TYPE, create));
  PetscCall(MatRegister(BSI_MAT_TYPE_OF_RANKS, create));
  PetscFunctionReturn(PETSC_SUCCESS);
}
