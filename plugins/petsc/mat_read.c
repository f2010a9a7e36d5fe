/* SPDX-License-Identifier: BSD-3-Clause */
#include "petsc/mat_read.h"

#include <limits.h>
#include <petsc/private/petscimpl.h>

#include "petsc/device.h"

typedef enum storage { ENTRIES, BLOCKS, UPPER_BLOCKS } storage;

/* A Mat and the arrays that it lends. */
typedef struct view {
  bisai_context *context;
  Mat mat;
  storage storage;
  PetscInt rows, columns, block_size, count;
  const PetscInt *row_ptr, *col_idx;
  const PetscScalar *values;
  /* of the Mat while the values are taken */
  PetscObjectState state;
} view;

/* Block arrays of bisai's form, in host memory. */
typedef struct whole {
  int32_t *row_ptr, *col_idx;
  PetscScalar *values;
} whole;

static PetscErrorCode find_storage(view *v, bool *known) {
  static const char *const types[] = {MATSEQAIJ, MATSEQBAIJ, MATSEQSBAIJ};
  static const storage storages[] = {ENTRIES, BLOCKS, UPPER_BLOCKS};
  PetscFunctionBegin;
  *known = false;
  for (int i = 0; i < 3 && !*known; i++) {
    PetscBool same = PETSC_FALSE;
    PetscCall(PetscObjectBaseTypeCompare((PetscObject)v->mat, types[i], &same));
    v->storage = storages[i];
    *known = same == PETSC_TRUE;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Begins the work on a Mat. *known ← its type can be read; otherwise *status says why not. */
static PetscErrorCode open_mat(view *v, bool *known, bisai_status *status) {
  PetscBool assembled = PETSC_FALSE;
  MatFactorType factored = MAT_FACTOR_NONE;
  MatType type = NULL;
  PetscFunctionBegin;
  PetscCall(MatGetType(v->mat, &type));
  PetscCall(find_storage(v, known));
  if (!*known) {
    *status = bsi_petsc_fail(v->context, BISAI_UNSUPPORTED,
                             "the Mat has type %s; seqbaij, seqsbaij or seqaij is needed",
                             type ? type : "unknown");
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatAssembled(v->mat, &assembled));
  PetscCall(MatGetFactorType(v->mat, &factored));
  PetscCheck(assembled, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONGSTATE, "the Mat is not assembled");
  PetscCheck(factored == MAT_FACTOR_NONE, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONGSTATE,
             "the Mat is factored");
  PetscCall(MatGetSize(v->mat, &v->rows, &v->columns));
  PetscCall(MatGetBlockSize(v->mat, &v->block_size));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode take_structure(view *v) {
  const PetscBool blocked = v->storage == ENTRIES ? PETSC_FALSE : PETSC_TRUE;
  PetscBool done = PETSC_FALSE;
  PetscFunctionBegin;
  PetscCall(
      MatGetRowIJ(v->mat, 0, PETSC_FALSE, blocked, &v->count, &v->row_ptr, &v->col_idx, &done));
  PetscCheck(done, PETSC_COMM_SELF, PETSC_ERR_SUP, "the Mat gives no access to its structure");
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode give_structure_back(view *v) {
  const PetscBool blocked = v->storage == ENTRIES ? PETSC_FALSE : PETSC_TRUE;
  PetscBool done = PETSC_FALSE;
  PetscFunctionBegin;
  PetscCall(
      MatRestoreRowIJ(v->mat, 0, PETSC_FALSE, blocked, &v->count, &v->row_ptr, &v->col_idx, &done));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Takes the values in host memory. */
static PetscErrorCode take_values(view *v) {
  PetscScalar *values = NULL;
  PetscFunctionBegin;
  PetscCall(PetscObjectStateGet((PetscObject)v->mat, &v->state));
  if (v->storage == ENTRIES) {
    PetscCall(MatSeqAIJGetArrayRead(v->mat, &v->values));
  } else {
    if (v->storage == BLOCKS)
      PetscCall(MatSeqBAIJGetArray(v->mat, &values));
    else
      PetscCall(MatSeqSBAIJGetArray(v->mat, &values));
    v->values = values;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Arrays of blocks cannot be taken for reading only, and new versions of PETSc count each giving
 * back as a change. A preconditioner would then be refreshed before each application. */
static PetscErrorCode give_values_back(view *v) {
  PetscScalar *values = NULL;
  PetscFunctionBegin;
  switch (v->storage) {
  case ENTRIES: PetscCall(MatSeqAIJRestoreArrayRead(v->mat, &v->values)); break;
  case BLOCKS: PetscCall(MatSeqBAIJRestoreArray(v->mat, &values)); break;
  case UPPER_BLOCKS: PetscCall(MatSeqSBAIJRestoreArray(v->mat, &values)); break;
  }
  PetscCall(PetscObjectStateSet((PetscObject)v->mat, v->state));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* next[i] ← the first block of row i of the whole pattern. Returns the number of blocks. */
static int64_t count_blocks(const view *v, int64_t *next) {
  int64_t blocks = 0;
  for (PetscInt i = 0; i < v->count; i++) next[i] = v->row_ptr[i + 1] - v->row_ptr[i];
  for (PetscInt i = 0; i < v->count; i++)
    for (PetscInt p = v->row_ptr[i]; p < v->row_ptr[i + 1]; p++)
      if (v->col_idx[p] != i) next[v->col_idx[p]]++;
  for (PetscInt i = 0; i < v->count; i++) {
    const int64_t length = next[i];
    next[i] = blocks;
    blocks += length;
  }
  return blocks;
}

/* Stores the blocks of the upper triangle, and the transposes of those above the diagonal. The rows
 * are read in ascending order, so that the columns of every row ascend. */
static void fill_whole(const view *v, int64_t *next, whole *b) {
  const PetscInt bs = v->block_size;
  const size_t per_block = (size_t)(bs * bs);
  for (PetscInt i = 0; i < v->count; i++)
    for (PetscInt p = v->row_ptr[i]; p < v->row_ptr[i + 1]; p++) {
      const PetscInt j = v->col_idx[p];
      const PetscScalar *from = v->values + (size_t)p * per_block;
      PetscScalar *to = b->values + (size_t)next[i] * per_block;
      b->col_idx[next[i]++] = (int32_t)j;
      for (size_t k = 0; k < per_block; k++) to[k] = from[k];
      if (j == i) continue;
      to = b->values + (size_t)next[j] * per_block;
      b->col_idx[next[j]++] = (int32_t)i;
      for (PetscInt c = 0; c < bs; c++)
        for (PetscInt r = 0; r < bs; r++) to[c * bs + r] = from[r * bs + c];
    }
}

/* Restores the whole pattern of a SeqSBAIJ, whose arrays have been taken. The caller frees the
 * blocks with PetscFree3(). */
static PetscErrorCode restore_whole(const view *v, whole *b, bisai_status *status) {
  int64_t *next;
  PetscFunctionBegin;
  PetscCall(PetscMalloc1((size_t)v->count, &next));
  const int64_t count = count_blocks(v, next);
  if (count > INT32_MAX) {
    *status = bsi_petsc_fail(v->context, BISAI_INDEX_OVERFLOW, "more than %d blocks", INT32_MAX);
  } else {
    const size_t values = (size_t)count * (size_t)(v->block_size * v->block_size);
    PetscCall(PetscMalloc3((size_t)v->count + 1, &b->row_ptr, (size_t)count, &b->col_idx, values,
                           &b->values));
    for (PetscInt i = 0; i < v->count; i++) b->row_ptr[i] = (int32_t)next[i];
    b->row_ptr[v->count] = (int32_t)count;
    fill_whole(v, next, b);
  }
  PetscCall(PetscFree(next));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static bisai_status make_matrix(const view *v, const int32_t *row_ptr, const int32_t *col_idx,
                                const PetscScalar *values, bisai_bcsr **matrix) {
  const PetscInt bs = v->block_size;
  if (v->storage == ENTRIES) {
    bisai_csr_desc desc = bisai_csr_desc_default();
    desc.rows = (int32_t)v->rows, desc.cols = (int32_t)v->columns, desc.block_size = (int32_t)bs;
    desc.row_ptr = row_ptr, desc.col_idx = col_idx, desc.values = values;
    return bisai_bcsr_from_csr(v->context, &desc, matrix);
  }
  bisai_bcsr_desc desc = bisai_bcsr_desc_default();
  desc.block_rows = (int32_t)(v->rows / bs), desc.block_cols = (int32_t)(v->columns / bs);
  desc.block_size = (int32_t)bs;
  desc.row_ptr = row_ptr, desc.col_idx = col_idx, desc.values = values;
  return bisai_bcsr_create(v->context, &desc, matrix);
}

/* Creates a matrix from the arrays, which have been taken. 64-bit indices are copied into 32-bit
 * indices. */
static PetscErrorCode convert(const view *v, bisai_bcsr **matrix, bisai_status *status) {
  PetscFunctionBegin;
  if (v->storage == UPPER_BLOCKS) {
    whole b = {0};
    PetscCall(restore_whole(v, &b, status));
    if (!*status) *status = make_matrix(v, b.row_ptr, b.col_idx, b.values, matrix);
    PetscCall(PetscFree3(b.row_ptr, b.col_idx, b.values));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#if defined(PETSC_USE_64BIT_INDICES)
  int32_t *row_ptr, *col_idx;
  const PetscInt nonzeros = v->row_ptr[v->count];
  if (nonzeros > INT_MAX || v->rows > INT_MAX || v->columns > INT_MAX) {
    *status = bisai_context_fail(v->context, BISAI_UNSUPPORTED,
                                 "the matrix needs indices of more than 32 bits");
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscMalloc2(v->count + 1, &row_ptr, nonzeros, &col_idx));
  for (PetscInt i = 0; i <= v->count; i++) row_ptr[i] = (int32_t)v->row_ptr[i];
  for (PetscInt p = 0; p < nonzeros; p++) col_idx[p] = (int32_t)v->col_idx[p];
  *status = make_matrix(v, row_ptr, col_idx, v->values, matrix);
  PetscCall(PetscFree2(row_ptr, col_idx));
#else
  *status = make_matrix(v, v->row_ptr, v->col_idx, v->values, matrix);
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode bsi_petsc_is_on_gpu(Mat mat, bool *on_gpu) {
  PetscFunctionBegin;
  *on_gpu = false;
#if defined(PETSC_HAVE_CUDA)
  PetscBool cusparse = PETSC_FALSE, bound = PETSC_FALSE;
  PetscCall(PetscObjectTypeCompare((PetscObject)mat, MATSEQAIJCUSPARSE, &cusparse));
  PetscCall(MatBoundToCPU(mat, &bound));
  *on_gpu = cusparse && !bound;
#else
  (void)mat;
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* New values of a SeqAIJ in the order of the entries at creation. */
static bisai_status update_entries(const view *v, const PetscScalar *values, bisai_bcsr *matrix) {
  bisai_csr_desc desc = bisai_csr_desc_default();
  desc.rows = (int32_t)v->rows, desc.cols = (int32_t)v->columns;
  desc.values = values;
  return bisai_bcsr_update_from_csr(matrix, &desc);
}

/* Updates the values on the GPU. The pattern is the same. */
static PetscErrorCode update_on_gpu(const view *v, bisai_bcsr *matrix, bisai_status *status) {
  PetscFunctionBegin;
#if defined(PETSC_HAVE_CUDA)
  const PetscScalar *values;
  PetscCall(MatSeqAIJCUSPARSEGetArrayRead(v->mat, &values));
  PetscCall(bsi_petsc_enter(v->context));
  *status = update_entries(v, values, matrix);
  PetscCall(bsi_petsc_leave(v->context, status));
  PetscCall(MatSeqAIJCUSPARSERestoreArrayRead(v->mat, &values));
#else
  (void)v, (void)matrix, (void)status;
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Updates the values from host memory. The pattern is the same. */
static PetscErrorCode update_on_host(view *v, bisai_bcsr *matrix, bisai_status *status) {
  PetscFunctionBegin;
  PetscCall(take_values(v));
  if (v->storage == ENTRIES) {
    *status = update_entries(v, v->values, matrix);
  } else if (v->storage == BLOCKS) {
    *status = bisai_bcsr_update(matrix, v->values, BISAI_COLUMN_MAJOR);
  } else {
    whole b = {0};
    PetscCall(restore_whole(v, &b, status));
    if (!*status) *status = bisai_bcsr_update(matrix, b.values, BISAI_COLUMN_MAJOR);
    PetscCall(PetscFree3(b.row_ptr, b.col_idx, b.values));
  }
  PetscCall(give_values_back(v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode update(view *v, bisai_bcsr *matrix, bisai_status *status) {
  bool on_gpu;
  PetscFunctionBegin;
  PetscCall(bsi_petsc_is_on_gpu(v->mat, &on_gpu));
  if (on_gpu && bisai_context_backend(v->context) == BISAI_BACKEND_CUDA)
    PetscCall(update_on_gpu(v, matrix, status));
  else
    PetscCall(update_on_host(v, matrix, status));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* *done ← the matrix is made on the GPU, from the structure and the values there. */
static PetscErrorCode read_on_gpu(const view *v, bisai_bcsr **matrix, bool *done,
                                  bisai_status *status) {
  PetscFunctionBegin;
  *done = false;
#if defined(PETSC_HAVE_CUDA) && !defined(PETSC_USE_64BIT_INDICES)
  const PetscInt *row_ptr, *col_idx;
  const PetscScalar *values;
  PetscCall(bsi_petsc_is_on_gpu(v->mat, done));
  *done = *done && bisai_context_backend(v->context) == BISAI_BACKEND_CUDA;
  if (!*done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatSeqAIJCUSPARSEGetIJ(v->mat, PETSC_FALSE, &row_ptr, &col_idx));
  PetscCall(MatSeqAIJCUSPARSEGetArrayRead(v->mat, &values));
  PetscCall(bsi_petsc_enter(v->context));
  *status = make_matrix(v, row_ptr, col_idx, values, matrix);
  PetscCall(bsi_petsc_leave(v->context, status));
  PetscCall(MatSeqAIJCUSPARSERestoreArrayRead(v->mat, &values));
  PetscCall(MatSeqAIJCUSPARSERestoreIJ(v->mat, PETSC_FALSE, &row_ptr, &col_idx));
#else
  (void)v, (void)matrix, (void)status;
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes a new matrix. The structure has been taken. */
static PetscErrorCode read_values(view *v, bisai_bcsr **matrix, bisai_status *status) {
  bool done;
  PetscFunctionBegin;
  PetscCall(read_on_gpu(v, matrix, &done, status));
  if (done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(take_values(v));
  PetscCall(convert(v, matrix, status));
  PetscCall(give_values_back(v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Describes the pattern of a Mat whose structure has been taken. */
static PetscErrorCode describe(const view *v, bsi_petsc_pattern *pattern) {
  PetscFunctionBegin;
  *pattern = (bsi_petsc_pattern){.col_idx = v->col_idx, .length = v->row_ptr[v->count]};
  PetscCall(PetscObjectGetId((PetscObject)v->mat, &pattern->mat));
  PetscCall(MatGetNonzeroState(v->mat, &pattern->state));
  PetscFunctionReturn(PETSC_SUCCESS);
}

bool bsi_petsc_is_same_pattern(const bsi_petsc_pattern *a, const bsi_petsc_pattern *b) {
  return a->mat == b->mat && a->state == b->state && a->col_idx == b->col_idx &&
         a->length == b->length;
}

PetscErrorCode bsi_petsc_pattern_of(Mat mat, bsi_petsc_pattern *pattern) {
  view v = {.mat = mat};
  bool known;
  PetscFunctionBegin;
  PetscCall(find_storage(&v, &known));
  PetscCall(take_structure(&v));
  PetscCall(describe(&v, pattern));
  PetscCall(give_structure_back(&v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode bsi_petsc_copy_follows(const bsi_petsc_copy *copy, Mat mat, bool *follows) {
  bsi_petsc_pattern pattern;
  PetscFunctionBegin;
  PetscCall(bsi_petsc_pattern_of(mat, &pattern));
  *follows = copy->matrix && bsi_petsc_is_same_pattern(&copy->pattern, &pattern);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode bsi_petsc_copy_refresh(bsi_petsc_copy *copy, bisai_context *context, Mat mat,
                                      bisai_bcsr **replaced, bisai_status *status) {
  view v = {.context = context, .mat = mat};
  bsi_petsc_copy new = {.matrix = NULL};
  bool known;
  PetscFunctionBegin;
  *replaced = NULL;
  PetscCall(open_mat(&v, &known, status));
  if (!known) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(take_structure(&v));
  PetscCall(describe(&v, &new.pattern));
  if (copy->matrix && bsi_petsc_is_same_pattern(&copy->pattern, &new.pattern)) {
    PetscCall(update(&v, copy->matrix, status));
  } else {
    PetscCall(read_values(&v, &new.matrix, status));
    if (!*status) {
      *replaced = copy->matrix;
      *copy = new;
    }
  }
  PetscCall(give_structure_back(&v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode bsi_petsc_read(bisai_context *context, Mat mat, bisai_bcsr **matrix,
                              bisai_status *status) {
  bsi_petsc_copy copy = {.matrix = NULL};
  bisai_bcsr *replaced;
  PetscFunctionBegin;
  PetscCall(bsi_petsc_copy_refresh(&copy, context, mat, &replaced, status));
  *matrix = copy.matrix;
  PetscFunctionReturn(PETSC_SUCCESS);
}
