/* SPDX-License-Identifier: BSD-3-Clause */
/* Products of a Mat of type "bisai" with vectors. Vectors on a GPU stay there. */
#include "petsc/device.h"
#include "petsc/mat_data.h"
#include "petsc/mat_impl.h"

static PetscErrorCode check(bisai_context *context, bisai_status status) {
  PetscFunctionBegin;
  PetscCheck(!status, PETSC_COMM_SELF, bsi_petsc_error(status), "bisai: %s",
             *bisai_context_error(context) ? bisai_context_error(context)
                                           : bisai_status_string(status));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* y ← A x */
static PetscErrorCode multiply_by(bisai_context *context, const bisai_bcsr *a, Vec x, Vec y) {
  const double bs = bisai_bcsr_block_size(a), flops = 2.0 * bisai_bcsr_blocks(a) * bs * bs;
  bsi_petsc_arrays arrays;
  PetscFunctionBegin;
  PetscCall(bsi_petsc_take(context, x, y, &arrays));
  bisai_status status = bisai_bcsr_multiply(a, arrays.from, arrays.to);
  PetscCall(bsi_petsc_give_back(&arrays, &status));
  PetscCall(check(context, status));
  PetscCall(bsi_petsc_log_flops(context, flops));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode multiply(Mat mat, Vec x, Vec y) {
  const bsi_mat *m = mat->data;
  PetscFunctionBegin;
  PetscCall(bsi_mat_use(mat));
  PetscCall(multiply_by(m->values->context, m->values->copy.matrix, x, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode bsi_mat_multiply_onto(Mat mat, Vec x, Vec y) {
  const bsi_mat *m = mat->data;
  bsi_petsc_arrays arrays;
  PetscFunctionBegin;
  PetscCall(bsi_mat_use(mat));
  const bisai_bcsr *a = m->values->copy.matrix;
  const double bs = bisai_bcsr_block_size(a), flops = 2.0 * bisai_bcsr_blocks(a) * bs * bs;
  if (bisai_bcsr_blocks(a) == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(bsi_petsc_take(m->values->context, x, y, &arrays));
  bisai_status status = bisai_bcsr_multiply_add(a, arrays.from, arrays.to);
  PetscCall(bsi_petsc_give_back(&arrays, &status));
  PetscCall(check(m->values->context, status));
  PetscCall(bsi_petsc_log_flops(m->values->context, flops));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes the transpose on the host, unless there is one, and copies it to the backend. */
static PetscErrorCode transpose(bsi_mat *m) {
  bsi_mat_values *v = m->values;
  bisai_status status = BISAI_OK;
  Mat host;
  PetscFunctionBegin;
  if (v->transposed) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatTranspose(m->host, MAT_INITIAL_MATRIX, &host));
  PetscCall(bsi_petsc_read(v->context, host, &v->transposed, &status));
  PetscCall(MatDestroy(&host));
  PetscCall(check(v->context, status));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode multiply_transposed(Mat mat, Vec x, Vec y) {
  bsi_mat *m = mat->data;
  PetscFunctionBegin;
  PetscCall(bsi_mat_use(mat));
  PetscCall(transpose(m));
  PetscCall(multiply_by(m->values->context, m->values->transposed, x, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* z ← y + A x by `product`. z may be y. */
static PetscErrorCode add(Mat mat, PetscErrorCode (*product)(Mat, Vec, Vec), Vec x, Vec y, Vec z) {
  PetscFunctionBegin;
  if (y != z) {
    PetscCall(product(mat, x, z));
    PetscCall(VecAXPY(z, 1.0, y));
  } else {
    Vec work;
    PetscCall(VecDuplicate(z, &work));
    PetscCall(product(mat, x, work));
    PetscCall(VecAXPY(z, 1.0, work));
    PetscCall(VecDestroy(&work));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode multiply_add(Mat mat, Vec x, Vec y, Vec z) {
  PetscFunctionBegin;
  PetscCall(add(mat, mat->ops->mult, x, y, z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode multiply_transposed_add(Mat mat, Vec x, Vec y, Vec z) {
  PetscFunctionBegin;
  PetscCall(add(mat, mat->ops->multtranspose, x, y, z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

void bsi_mat_set_products(Mat mat) {
  mat->ops->mult = multiply;
  mat->ops->multadd = multiply_add;
  mat->ops->multtranspose = multiply_transposed;
  mat->ops->multtransposeadd = multiply_transposed_add;
}
