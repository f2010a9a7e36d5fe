/* SPDX-License-Identifier: BSD-3-Clause */
/* z ← M⁻ᵀ v, for KSPSolveTranspose() and methods such as KSPBICG. It is made from M. A may have new
 * values that a reused preconditioner has not seen.
 *
 *   ilu, sweeps   M⁻ᵀ = L⁻ᵀ U⁻ᵀ: the same kind with the factors Uᵀ and Lᵀ
 *   isai          M⁻ᵀ = NLᵀ NUᵀ; a relaxation x ← x + N (b − T x) has the transpose
 *                 x ← x + Nᵀ (b − Tᵀ x)
 *   bjacobi       the blocks of D⁻¹, from its applications to vectors of ones and zeros; a
 *                 relaxation z ← z + ω D⁻¹ (v − A z) has the transpose z ← z + ω D⁻ᵀ (v − Aᵀ z)
 *                 with the A that M reads
 *   none, mg of a symmetric matrix, symmetric isai   M itself
 *
 * With an ordering all of this lies between two permutations. */
#include <string.h>

#include "petsc/pc_impl.h"

/* Tᵀ and Nᵀ of a factor T and its approximate inverse N */
typedef struct pair {
  bisai_bcsr *factor, *inverse;
} pair;

typedef struct bsi_pc_transpose {
  PetscInt n;
  /* ilu, sweeps: M⁻ᵀ and its factors */
  bisai_factors *factors;
  bisai_precond *precond;
  /* isai: of U and of L, in the order of application */
  pair pairs[2];
  /* bjacobi: the first rows of the blocks, and D⁻¹ by columns: entry (i, k) of a block is
   * columns[k·n + first row + i] */
  PetscInt blocks;
  int32_t *block_ptr;
  double *columns;
  /* bjacobi with relaxation: Aᵀ */
  bisai_bcsr *matrix;
  /* five vectors */
  double *work;
} transpose;

void bsi_pc_transpose_destroy(transpose **t) {
  if (!*t) return;
  bisai_precond_destroy(&(*t)->precond);
  bisai_factors_destroy(&(*t)->factors);
  for (int k = 0; k < 2; k++) {
    bisai_bcsr_destroy(&(*t)->pairs[k].factor);
    bisai_bcsr_destroy(&(*t)->pairs[k].inverse);
  }
  bisai_bcsr_destroy(&(*t)->matrix);
  PetscFree((*t)->block_ptr);
  PetscFree((*t)->columns);
  PetscFree((*t)->work);
  PetscFree(*t);
  *t = NULL;
}

/* Counts the blocks of the columns, and with an identity those that the diagonal does not store. */
static void count_columns(const bisai_bcsr *a, const int32_t *row_ptr, const int32_t *col_idx,
                          bool identity, int32_t *ptr) {
  const int32_t n = bisai_bcsr_block_rows(a);
  memset(ptr, 0, ((size_t)n + 1) * sizeof *ptr);
  for (int32_t p = 0; p < row_ptr[n]; p++) ptr[col_idx[p] + 1]++;
  for (int32_t j = 0; j < n; j++) ptr[j + 1] += ptr[j] + (identity ? 1 : 0);
}

/* Writes the rows of Aᵀ. ptr[j] moves on to the end of row j. */
static void place_blocks(const bisai_bcsr *a, bool identity, int32_t *ptr, int32_t *columns,
                         double *values) {
  const int32_t n = bisai_bcsr_block_rows(a), bs = bisai_bcsr_block_size(a);
  const int32_t *row_ptr, *col_idx;
  const void *stored;
  bisai_bcsr_arrays(a, &row_ptr, &col_idx, &stored);
  for (int32_t i = 0; i < n; i++) {
    /* Row i of the transpose of a lower triangle begins with its diagonal block, and that of an
     * upper triangle ends with it: all blocks that precede it come from rows that precede i. */
    if (identity) {
      double *block = values + (size_t)ptr[i] * (size_t)(bs * bs);
      memset(block, 0, (size_t)(bs * bs) * sizeof *block);
      for (int32_t k = 0; k < bs; k++) block[k * bs + k] = 1;
      columns[ptr[i]++] = i;
    }
    for (int32_t p = row_ptr[i]; p < row_ptr[i + 1]; p++) {
      const double *from = (const double *)stored + (size_t)p * (size_t)(bs * bs);
      double *to = values + (size_t)ptr[col_idx[p]] * (size_t)(bs * bs);
      for (int32_t k = 0; k < bs * bs; k++) to[k % bs * bs + k / bs] = from[k];
      columns[ptr[col_idx[p]]++] = i;
    }
  }
}

/* *result ← Aᵀ of a square matrix in fp64. An implied identity diagonal is stored. */
static PetscErrorCode make_transposed(bisai_context *context, const bisai_bcsr *a,
                                      bisai_bcsr **result, bisai_status *status) {
  const int32_t n = bisai_bcsr_block_rows(a), bs = bisai_bcsr_block_size(a);
  const bool identity = bisai_bcsr_unit_diagonal(a);
  const int32_t *row_ptr, *col_idx;
  int32_t *ptr, *columns;
  double *values;
  PetscFunctionBegin;
  bisai_bcsr_arrays(a, &row_ptr, &col_idx, NULL);
  const size_t blocks = (size_t)row_ptr[n] + (identity ? (size_t)n : 0);
  PetscCall(
      PetscMalloc3((size_t)n + 1, &ptr, blocks, &columns, blocks * (size_t)(bs * bs), &values));
  count_columns(a, row_ptr, col_idx, identity, ptr);
  place_blocks(a, identity, ptr, columns, values);
  memmove(ptr + 1, ptr, (size_t)n * sizeof *ptr);
  ptr[0] = 0;
  bisai_bcsr_desc desc = bisai_bcsr_desc_default();
  desc.block_rows = desc.block_cols = n, desc.block_size = bs;
  desc.row_ptr = ptr, desc.col_idx = columns, desc.values = values;
  *status = bisai_bcsr_create(context, &desc, result);
  PetscCall(PetscFree3(ptr, columns, values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The factors Uᵀ and Lᵀ, and the same kind of preconditioner with them. */
static PetscErrorCode make_factored(bsi_pc *m, transpose *t, bisai_status *status) {
  const bisai_factors *factors = bisai_precond_factors(m->precond);
  bisai_bcsr *lower = NULL, *upper = NULL;
  bisai_precond_options o = bisai_precond_options_default();
  PetscFunctionBegin;
  PetscErrorCode code = make_transposed(m->context, bisai_factors_upper(factors), &lower, status);
  if (!code && !*status)
    code = make_transposed(m->context, bisai_factors_lower(factors), &upper, status);
  if (!code && !*status)
    *status = bisai_factors_from_matrices(m->context, lower, upper, &t->factors);
  o.kind = m->used.kind;
  o.ilu = m->used.ilu;
  o.sweeps = m->used.sweeps;
  o.factor.factors = t->factors;
  /* The matrix is read for its size only. */
  if (!code && !*status) *status = bisai_precond_create(m->context, lower, &o, &t->precond);
  bisai_bcsr_destroy(&lower);
  bisai_bcsr_destroy(&upper);
  PetscCall(code);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode make_pairs(bsi_pc *m, transpose *t, bisai_status *status) {
  const bisai_factors *factors = bisai_precond_factors(m->precond);
  const bisai_bcsr *const triangles[] = {bisai_factors_upper(factors),
                                         bisai_factors_lower(factors)};
  const bisai_bcsr *const inverses[] = {bisai_precond_upper_inverse(m->precond),
                                        bisai_precond_lower_inverse(m->precond)};
  PetscFunctionBegin;
  for (int k = 0; k < 2; k++) {
    if (!*status) PetscCall(make_transposed(m->context, inverses[k], &t->pairs[k].inverse, status));
    if (!*status && m->used.isai.relax > 0)
      PetscCall(make_transposed(m->context, triangles[k], &t->pairs[k].factor, status));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Column k of all blocks of D⁻¹ at once: D⁻¹ times a vector with a one in row k of each block. */
static PetscErrorCode read_blocks(bisai_precond *jacobi, transpose *t,
                                  const bisai_precond_report *report, bisai_status *status) {
  const size_t n = (size_t)t->n;
  PetscFunctionBegin;
  PetscCall(PetscMalloc1((size_t)report->bjacobi.largest_block * n, &t->columns));
  for (int32_t k = 0; k < report->bjacobi.largest_block && !*status; k++) {
    memset(t->work, 0, n * sizeof *t->work);
    for (PetscInt b = 0; b < t->blocks; b++)
      if (t->block_ptr[b] + k < t->block_ptr[b + 1]) t->work[t->block_ptr[b] + k] = 1;
    *status = bisai_precond_apply(jacobi, t->work, t->columns + (size_t)k * n);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* *plain ← block-Jacobi without relaxation, with the same blocks. The array of given blocks may be
 * gone since the set-up, but M knows them. */
static bisai_status make_plain(bsi_pc *m, const transpose *t, bisai_precond **plain) {
  bisai_precond_options o = m->used;
  o.bjacobi.relax = 0;
  if (o.bjacobi.block_ptr) o.bjacobi.block_ptr = t->block_ptr;
  return bisai_precond_create(m->context, bsi_pc_matrix_get(&m->matrix), &o, plain);
}

/* The blocks are those of M, or with relaxation those of block-Jacobi without it. */
static PetscErrorCode make_blocks(bsi_pc *m, transpose *t, const bisai_precond_report *report,
                                  bisai_status *status) {
  bisai_precond *plain = NULL;
  PetscErrorCode code = PETSC_SUCCESS;
  PetscFunctionBegin;
  t->blocks = report->bjacobi.blocks;
  PetscCall(PetscMalloc1((size_t)t->blocks + 1, &t->block_ptr));
  *status = bisai_precond_get_blocks(m->precond, t->block_ptr);
  if (!*status && m->used.bjacobi.relax > 0) {
    PetscCall(make_transposed(m->context, bsi_pc_matrix_get(&m->matrix), &t->matrix, status));
    if (!*status) *status = make_plain(m, t, &plain);
  }
  if (!*status) code = read_blocks(plain ? plain : m->precond, t, report, status);
  bisai_precond_destroy(&plain);
  PetscCall(code);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Returns NULL if M⁻ᵀ can be made, or what prevents it. */
static const char *obstacle(const bsi_pc *m) {
  const bisai_precond_options *o = &m->used;
  if (bisai_context_backend(m->context) != BISAI_BACKEND_HOST) return "it is on a device";
  switch (o->kind) {
  case BISAI_PRECOND_BJACOBI: return NULL;
  case BISAI_PRECOND_ILU:
  case BISAI_PRECOND_SWEEPS:
  case BISAI_PRECOND_ISAI: break;
  case BISAI_PRECOND_MULTIGRID: return "the matrix or the smoothing of mg is not symmetric";
  default: return "its type has none";
  }
  if (o->factor.matching != BISAI_MATCHING_NONE) return "a matching permutes rows alone";
  if (o->factor.equilibrate) return "rows and columns are scaled";
  if (o->kind == BISAI_PRECOND_ISAI && o->isai.storage != BISAI_FP64)
    return "the approximate inverses are not stored in fp64";
  return NULL;
}

/* Returns true if M is its own transpose. */
static bool is_symmetric(const bsi_pc *m, const bisai_precond_report *report) {
  switch (m->used.kind) {
  case BISAI_PRECOND_NONE: return true;
  case BISAI_PRECOND_ISAI: return m->used.isai.symmetric;
  case BISAI_PRECOND_MULTIGRID: return report->symmetry == BISAI_SYMMETRY_VALUES;
  default: return false;
  }
}

static PetscErrorCode make(bsi_pc *m, transpose *t, const bisai_precond_report *report,
                           bisai_status *status) {
  PetscFunctionBegin;
  switch (m->used.kind) {
  case BISAI_PRECOND_BJACOBI: PetscCall(make_blocks(m, t, report, status)); break;
  case BISAI_PRECOND_ISAI: PetscCall(make_pairs(m, t, status)); break;
  default: PetscCall(make_factored(m, t, status));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* x ← Nᵀ b, and `relax` times x ← x + Nᵀ (b − Tᵀ x). */
static bisai_status relax(const pair *p, int count, PetscInt n, const double *b, double *x,
                          double *residual, double *change) {
  bisai_status status = bisai_bcsr_multiply(p->inverse, b, x);
  for (int step = 0; step < count && !status; step++) {
    status = bisai_bcsr_multiply(p->factor, x, residual);
    for (PetscInt i = 0; i < n; i++) residual[i] = b[i] - residual[i];
    if (!status) status = bisai_bcsr_multiply(p->inverse, residual, change);
    for (PetscInt i = 0; i < n && !status; i++) x[i] += change[i];
  }
  return status;
}

static void multiply_blocks(const transpose *t, const double *v, double *z) {
  for (PetscInt b = 0; b < t->blocks; b++) {
    const int32_t first = t->block_ptr[b], size = t->block_ptr[b + 1] - first;
    for (int32_t k = 0; k < size; k++) {
      const double *column = t->columns + (size_t)k * (size_t)t->n + first;
      double sum = 0;
      for (int32_t i = 0; i < size; i++) sum += column[i] * v[first + i];
      z[first + k] = sum;
    }
  }
}

/* z ← ω D⁻ᵀ v, and `relax` times z ← z + ω D⁻ᵀ (v − Aᵀ z). */
static bisai_status relax_blocks(const bsi_pc *m, const transpose *t, const double *v, double *z) {
  const double damping = m->used.bjacobi.damping;
  double *residual = t->work, *change = residual + t->n;
  bisai_status status = BISAI_OK;
  memset(z, 0, (size_t)t->n * sizeof *z);
  for (int step = 0; step <= m->used.bjacobi.relax && !status; step++) {
    status = bisai_bcsr_multiply(t->matrix, z, residual);
    for (PetscInt i = 0; i < t->n; i++) residual[i] = v[i] - residual[i];
    multiply_blocks(t, residual, change);
    for (PetscInt i = 0; i < t->n && !status; i++) z[i] += damping * change[i];
  }
  return status;
}

/* In the ordering of the factors. */
static bisai_status apply(bsi_pc *m, transpose *t, const double *v, double *z) {
  double *work = t->work, *change = work + t->n, *middle = change + t->n;
  if (t->precond) return bisai_precond_apply(t->precond, v, z);
  if (t->matrix) return relax_blocks(m, t, v, z);
  if (t->columns) {
    multiply_blocks(t, v, z);
    return BISAI_OK;
  }
  const int count = m->used.isai.relax;
  const bisai_status status = relax(&t->pairs[0], count, t->n, v, middle, work, change);
  return status ? status : relax(&t->pairs[1], count, t->n, middle, z, work, change);
}

/* Makes M⁻ᵀ on this process, unless M is its own transpose. *code ← an error, and its message. */
static PetscErrorCode prepare(bsi_pc *m, PetscErrorCode *code, char *message) {
  bisai_precond_report report = {.struct_size = sizeof report};
  bisai_status status = bisai_precond_get_report(m->precond, &report);
  transpose *t = NULL;
  PetscFunctionBegin;
  if (!status && is_symmetric(m, &report)) PetscFunctionReturn(PETSC_SUCCESS);
  const char *cause = obstacle(m);
  if (cause) {
    *code = PETSC_ERR_SUP;
    PetscCall(PetscSNPrintf(message, BSI_PETSC_MESSAGE,
                            "bisai: the preconditioner has no transposed application, because %s",
                            cause));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  bsi_pc_transpose_destroy(&m->transpose); /* of a try that failed on another process */
  PetscCall(PetscNew(&t));
  t->n = (PetscInt)bisai_precond_rows(m->precond);
  PetscErrorCode own = PetscMalloc1(5 * (size_t)t->n, &t->work);
  if (!own && !status) own = make(m, t, &report, &status);
  if (own || status) bsi_pc_transpose_destroy(&t);
  PetscCall(own);
  if (status) {
    *code = bsi_petsc_error(status);
    PetscCall(PetscSNPrintf(message, BSI_PETSC_MESSAGE, "bisai: %s",
                            bsi_petsc_message(m->context, status)));
  }
  m->transpose = t;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode bsi_pc_transpose_set_up(PC pc) {
  MPI_Comm comm = PetscObjectComm((PetscObject)pc);
  bsi_pc *m = pc->data;
  PetscErrorCode code = PETSC_SUCCESS, own = PETSC_SUCCESS;
  char message[BSI_PETSC_MESSAGE] = "bisai: another process has no transposed application";
  PetscFunctionBegin;
  if (m->transpose_ready) PetscFunctionReturn(PETSC_SUCCESS);
  if (m->precond && !*m->failure) own = prepare(m, &code, message);
  if (own) code = own;
  PetscCall(bsi_petsc_agree(comm, &code, message));
  PetscCall(own);
  PetscCheck(!code, comm, code, "%s", message);
  m->transpose_ready = true;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode bsi_pc_transposed(PC pc, const double *v, double *z) {
  bsi_pc *m = pc->data;
  transpose *t = m->transpose;
  const int32_t *permutation = bisai_precond_permutation(m->precond);
  bisai_status status;
  PetscFunctionBegin;
  if (!t) {
    status = bisai_precond_apply(m->precond, v, z);
  } else if (!permutation) {
    status = apply(m, t, v, z);
  } else {
    const PetscInt bs =
        t->n / bisai_bcsr_block_rows(bisai_factors_lower(bisai_precond_factors(m->precond)));
    double *from = t->work + 3 * t->n, *to = from + t->n;
    for (PetscInt i = 0; i < t->n; i++) from[i] = v[permutation[i / bs] * bs + i % bs];
    status = apply(m, t, from, to);
    for (PetscInt i = 0; i < t->n; i++) z[permutation[i / bs] * bs + i % bs] = to[i];
  }
  BSI_PC_CALL(m, status);
  PetscFunctionReturn(PETSC_SUCCESS);
}
