/* SPDX-License-Identifier: BSD-3-Clause */
#include "parted_case.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#ifdef HAVE_METIS
#include <metis.h>
#endif

#include <bisai/petsc.h>

#include "cases.h"

/* --- the system --- */

enum { SIDE = 5, ISLAND = SIDE * SIDE };

/* Diffusion on `count` meshes of SIDE × SIDE nodes that are not coupled to each other. None but the
 * first has a boundary: the null space has count − 1 dimensions. */
static int make_islands(bisai_context *context, int32_t count, bisai_bcsr **matrix, double **rhs) {
  const int32_t n = count * ISLAND;
  bisai_bcsr_desc d = bisai_bcsr_desc_default();
  int32_t *row_ptr = calloc((size_t)n + 1, sizeof *row_ptr),
          *col_idx = calloc((size_t)n * 5, sizeof *col_idx), blocks = 0;
  double *values = calloc((size_t)n * 5, sizeof *values);
  *rhs = calloc((size_t)n, sizeof **rhs);
  for (int32_t i = 0; i < n; i++) {
    static const int32_t far[] = {-SIDE, -1, 0, 1, SIDE};
    const int32_t x = i % SIDE, y = i / SIDE % SIDE;
    const bool there[] = {y > 0, x > 0, true, x < SIDE - 1, y < SIDE - 1};
    const int neighbours = there[0] + there[1] + there[3] + there[4];
    for (int k = 0; k < 5; k++) {
      if (!there[k]) continue;
      col_idx[blocks] = i + far[k];
      values[blocks++] = k == 2 ? neighbours + (i < ISLAND ? 0.1 : 0.0) : -1.0;
    }
    row_ptr[i + 1] = blocks;
    (*rhs)[i] = sin(1.7 * i);
  }
  d.block_rows = d.block_cols = n, d.block_size = 1;
  d.row_ptr = row_ptr, d.col_idx = col_idx, d.values = values;
  const int status = (int)bisai_bcsr_create(context, &d, matrix);
  free(row_ptr), free(col_idx), free(values);
  return status;
}

static int make_reservoir(parted_problem *p, int32_t n) {
  case_reservoir_options o = case_reservoir_options_default();
  for (int d = 0; d < 3; d++) o.cells[d] = n;
  p->nodes[2] = n;
  return (int)case_reservoir(p->context, &o, 0, &p->matrix, &p->rhs);
}

PetscErrorCode parted_make(const char *name, PetscInt size, parted_problem *p) {
  const int32_t n = (int32_t)size;
  case_elasticity_options cube = case_elasticity_options_default();
  bisai_context_options o = bisai_context_options_default();
  int status = 1;
  PetscFunctionBeginUser;
  o.backend = BISAI_BACKEND_HOST;
  o.threads = 1;
  *p = (parted_problem){.nodes = {size, size, 1}};
  PetscCheck(!bisai_context_create(&o, &p->context), PETSC_COMM_SELF, PETSC_ERR_LIB, "no context");
  if (!strcmp(name, "cavity")) status = case_cavity(p->context, n, 0, &p->matrix, &p->rhs);
  if (!strcmp(name, "reservoir")) status = make_reservoir(p, n);
  if (!strcmp(name, "reaction")) status = case_reaction(p->context, n, 0, &p->matrix, &p->rhs);
  if (!strcmp(name, "islands")) {
    p->nodes[0] = ISLAND;
    p->singular = PETSC_TRUE;
    status = make_islands(p->context, n, &p->matrix, &p->rhs);
  }
  if (!strcmp(name, "convdiff")) {
    p->nodes[0] = size / CASE_CONVDIFF_BLOCK_SIZE;
    p->nodes[2] = size;
    status = case_convdiff(p->context, n, n, n, 0, &p->matrix, &p->rhs);
  }
  if (!strcmp(name, "elasticity") || !strcmp(name, "free")) {
    p->singular = strcmp(name, "free") ? PETSC_FALSE : PETSC_TRUE;
    if (p->singular) cube.clamped = CASE_CLAMPED_NOWHERE;
    p->nodes[2] = size;
    for (int d = 0; d < 3; d++) cube.nodes[d] = n;
    status = case_elasticity(p->context, &cube, 0, &p->matrix, &p->rhs);
    if (!status) status = case_elasticity_modes(&cube, &p->modes);
  }
  PetscCheck(!status, PETSC_COMM_SELF, PETSC_ERR_LIB, "no case %s of %d nodes", name, (int)n);
  const char *const asymmetric[] = {"cavity", "convdiff", "reservoir"};
  p->symmetric = PETSC_TRUE;
  for (int k = 0; k < 3; k++)
    if (!strcmp(name, asymmetric[k])) p->symmetric = PETSC_FALSE;
  p->rows = bisai_bcsr_block_rows(p->matrix);
  p->block_size = bisai_bcsr_block_size(p->matrix);
  PetscFunctionReturn((PetscErrorCode)0);
}

void parted_free(parted_problem *p) {
  bisai_bcsr_destroy(&p->matrix);
  bisai_context_destroy(&p->context);
  free(p->rhs);
  free(p->modes);
}

/* --- who has which rows --- */

/* Cuts `size` processes into boxes of the grid with small surfaces. */
static void cut_grid(PetscMPIInt size, const PetscInt nodes[3], PetscInt parts[3]) {
  double least = 1e300;
  for (PetscInt a = 1; a <= size; a++)
    for (PetscInt b = 1; b <= size / a; b++) {
      const PetscInt p[] = {a, b, size / a / b};
      double surface = 0;
      if (p[0] * p[1] * p[2] != size) continue;
      for (int d = 0; d < 3; d++)
        surface += p[d] > nodes[d] ? 1e300
                                   : (double)(p[d] - 1) * (double)nodes[(d + 1) % 3] *
                                         (double)nodes[(d + 2) % 3];
      if (surface < least) least = surface, parts[0] = p[0], parts[1] = p[1], parts[2] = p[2];
    }
}

/* Returns the process of a block row. */
static PetscInt owner_of(const parted_problem *p, const char *kind, PetscMPIInt size,
                         PetscInt row) {
  const double part = (double)row / (double)p->rows;
  PetscInt parts[3] = {1, 1, 1}, owner = 0, all = size * (size + 1) / 2, before = 0;
  if (!strcmp(kind, "grid")) {
    const PetscInt at[] = {row % p->nodes[0], row / p->nodes[0] % p->nodes[1],
                           row / p->nodes[0] / p->nodes[1]};
    cut_grid(size, p->nodes, parts);
    for (int d = 2; d >= 0; d--) owner = owner * parts[d] + at[d] * parts[d] / p->nodes[d];
    return owner;
  }
  if (!strcmp(kind, "uneven")) {
    while (owner < size - 1 && part * (double)all >= (double)(before + owner + 1))
      before += ++owner;
    return owner;
  }
  if (!strcmp(kind, "slab") || size == 1) return (PetscInt)(part * size);
  const PetscInt with_rows = size - (size + 2) / 3, k = (PetscInt)(part * (double)with_rows);
  return k / 2 * 3 + k % 2 + 1;
}

/* owner ← the parts of the graph that METIS finds, with few couplings between them. */
static PetscErrorCode cut_graph(const parted_problem *p, PetscMPIInt size, PetscInt *owner) {
  PetscFunctionBeginUser;
#ifdef HAVE_METIS
  const int32_t *row_ptr, *col_idx;
  idx_t rows = (idx_t)p->rows, constraints = 1, parts = size, cut, *ptr, *others, *part;
  idx_t options[METIS_NOPTIONS];
  bisai_bcsr_arrays(p->matrix, &row_ptr, &col_idx, NULL);
  PetscCall(PetscMalloc3(p->rows + 1, &ptr, row_ptr[p->rows], &others, p->rows, &part));
  ptr[0] = 0;
  for (PetscInt i = 0; i < p->rows; i++) {
    ptr[i + 1] = ptr[i];
    for (int32_t b = row_ptr[i]; b < row_ptr[i + 1]; b++)
      if (col_idx[b] != i) others[ptr[i + 1]++] = col_idx[b];
  }
  METIS_SetDefaultOptions(options);
  options[METIS_OPTION_SEED] = 1;
  const int found = METIS_PartGraphKway(&rows, &constraints, ptr, others, NULL, NULL, NULL, &parts,
                                        NULL, NULL, options, &cut, part);
  PetscCheck(found == METIS_OK, PETSC_COMM_SELF, PETSC_ERR_LIB, "METIS: %d", found);
  for (PetscInt i = 0; i < p->rows; i++) owner[i] = part[i];
  PetscCall(PetscFree3(ptr, others, part));
#else
  (void)p, (void)size, (void)owner;
  SETERRQ(PETSC_COMM_SELF, PETSC_ERR_SUP, "made without METIS");
#endif
  PetscFunctionReturn((PetscErrorCode)0);
}

PetscErrorCode parted_cut(MPI_Comm comm, const parted_problem *p, const char *kind,
                          parted_rows *q) {
  PetscMPIInt rank, size;
  PetscInt next = 0;
  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscInt *owner;
  PetscCall(PetscMalloc1(p->rows, &q->number));
  PetscCall(PetscMalloc1(p->rows, &q->old));
  PetscCall(PetscMalloc1(p->rows, &owner));
  if (size > 1 && !strcmp(kind, "graph"))
    PetscCall(cut_graph(p, size, owner));
  else
    for (PetscInt i = 0; i < p->rows; i++) owner[i] = owner_of(p, kind, size, i);
  for (PetscInt r = 0; r < size; r++) {
    if (r == rank) q->first = next;
    for (PetscInt i = 0; i < p->rows; i++)
      if (owner[i] == r) q->old[next] = i, q->number[i] = next++;
    if (r == rank) q->last = next;
  }
  PetscCall(PetscFree(owner));
  PetscFunctionReturn((PetscErrorCode)0);
}

PetscErrorCode parted_uncut(parted_rows *q) {
  PetscFunctionBeginUser;
  PetscCall(PetscFree(q->number));
  PetscCall(PetscFree(q->old));
  PetscFunctionReturn((PetscErrorCode)0);
}

/* --- on these processes --- */

/* The rows of n rows of blocks with count[0] blocks in own and count[1] in other columns. */
static PetscErrorCode preallocate_points(PetscInt n, PetscInt bs, PetscInt *const count[],
                                         Mat mat) {
  const PetscInt rows = n * bs;
  PetscInt *own, *other;
  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(rows, &own));
  PetscCall(PetscMalloc1(rows, &other));
  for (PetscInt i = 0; i < rows; i++)
    own[i] = count[0][i / bs] * bs, other[i] = count[1][i / bs] * bs;
  PetscCall(MatSeqAIJSetPreallocation(mat, 0, own));
  PetscCall(MatMPIAIJSetPreallocation(mat, 0, own, 0, other));
  PetscCall(PetscFree(own));
  PetscCall(PetscFree(other));
  PetscFunctionReturn((PetscErrorCode)0);
}

/* Counts the blocks of the own rows in own columns and in others, and of the upper triangle. */
static PetscErrorCode preallocate(const parted_problem *p, const parted_rows *q, PetscBool points,
                                  Mat mat) {
  const int32_t *row_ptr, *col_idx;
  const PetscInt n = q->last - q->first;
  PetscInt *count[4];
  PetscFunctionBeginUser;
  bisai_bcsr_arrays(p->matrix, &row_ptr, &col_idx, NULL);
  for (int k = 0; k < 4; k++) PetscCall(PetscCalloc1(n, &count[k]));
  for (PetscInt i = 0; i < n; i++) {
    const PetscInt row = q->old[q->first + i];
    for (int32_t b = row_ptr[row]; b < row_ptr[row + 1]; b++) {
      const PetscInt j = q->number[col_idx[b]];
      const int other = j < q->first || j >= q->last;
      count[other][i]++;
      if (j >= q->first + i) count[2 + other][i]++;
    }
  }
  PetscCall(
      points ? preallocate_points(n, p->block_size, count, mat)
             : MatXAIJSetPreallocation(mat, p->block_size, count[0], count[1], count[2], count[3]));
  for (int k = 0; k < 4; k++) PetscCall(PetscFree(count[k]));
  PetscFunctionReturn((PetscErrorCode)0);
}

/* Writes a block of a matrix without a block size. */
static PetscErrorCode set_points(Mat mat, PetscInt bs, PetscInt row, PetscInt column,
                                 const PetscScalar *block) {
  PetscInt rows[BISAI_MAX_BLOCK_SIZE], columns[BISAI_MAX_BLOCK_SIZE];
  PetscFunctionBeginUser;
  for (PetscInt k = 0; k < bs; k++) rows[k] = row * bs + k, columns[k] = column * bs + k;
  PetscCall(MatSetValues(mat, bs, rows, bs, columns, block, INSERT_VALUES));
  PetscFunctionReturn((PetscErrorCode)0);
}

PetscErrorCode parted_fill(const parted_problem *p, const parted_rows *q, double factor, Mat mat) {
  const int32_t *row_ptr, *col_idx;
  const void *values;
  const PetscInt size = p->block_size * p->block_size;
  PetscScalar *block;
  PetscInt bs;
  PetscBool upper;
  PetscFunctionBeginUser;
  PetscCall(MatGetBlockSize(mat, &bs));
  const PetscBool points = bs == p->block_size ? PETSC_FALSE : PETSC_TRUE;
  bisai_bcsr_arrays(p->matrix, &row_ptr, &col_idx, &values);
  PetscCall(PetscMalloc1(size, &block));
  PetscCall(MatSetOption(mat, MAT_ROW_ORIENTED, PETSC_FALSE));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)mat, &upper, MATSEQSBAIJ, MATMPISBAIJ, ""));
  if (upper) PetscCall(MatSetOption(mat, MAT_IGNORE_LOWER_TRIANGULAR, PETSC_TRUE));
  for (PetscInt i = q->first; i < q->last; i++) {
    const PetscInt row = q->old[i];
    for (int32_t b = row_ptr[row]; b < row_ptr[row + 1]; b++) {
      const PetscInt j = q->number[col_idx[b]];
      for (PetscInt k = 0; k < size; k++)
        block[k] = ((const double *)values)[(PetscInt)b * size + k] * factor;
      if (!points) PetscCall(MatSetValuesBlocked(mat, 1, &i, 1, &j, block, INSERT_VALUES));
      if (points) PetscCall(set_points(mat, p->block_size, i, j, block));
    }
  }
  PetscCall(PetscFree(block));
  PetscCall(MatAssemblyBegin(mat, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(mat, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn((PetscErrorCode)0);
}

PetscErrorCode parted_vector(const parted_problem *p, const parted_rows *q, const double *all,
                             Vec v) {
  const PetscInt bs = p->block_size;
  PetscScalar *own;
  PetscFunctionBeginUser;
  PetscCall(VecGetArrayWrite(v, &own));
  for (PetscInt i = q->first; i < q->last; i++)
    for (PetscInt r = 0; r < bs; r++) own[(i - q->first) * bs + r] = all[q->old[i] * bs + r];
  PetscCall(VecRestoreArrayWrite(v, &own));
  PetscFunctionReturn((PetscErrorCode)0);
}

static PetscErrorCode attach_modes(MPI_Comm comm, const parted_problem *p, const parted_rows *q,
                                   Mat mat) {
  Vec modes[CASE_ELASTICITY_MODES];
  PetscScalar products[CASE_ELASTICITY_MODES];
  MatNullSpace space;
  PetscFunctionBeginUser;
  for (int m = 0; m < CASE_ELASTICITY_MODES; m++) {
    PetscCall(MatCreateVecs(mat, NULL, &modes[m]));
    PetscCall(
        parted_vector(p, q, p->modes + (size_t)m * (size_t)(p->rows * p->block_size), modes[m]));
    PetscCall(VecMDot(modes[m], m, modes, products));
    for (int k = 0; k < m; k++) products[k] = -products[k];
    PetscCall(VecMAXPY(modes[m], m, products, modes));
    PetscCall(VecNormalize(modes[m], NULL));
  }
  PetscCall(MatNullSpaceCreate(comm, PETSC_FALSE, CASE_ELASTICITY_MODES, modes, &space));
  PetscCall(MatSetNearNullSpace(mat, space));
  PetscCall(MatNullSpaceDestroy(&space));
  for (int m = 0; m < CASE_ELASTICITY_MODES; m++) PetscCall(VecDestroy(&modes[m]));
  PetscFunctionReturn((PetscErrorCode)0);
}

PetscErrorCode parted_mat(MPI_Comm comm, const parted_problem *p, const parted_rows *q, Mat *mat) {
  const PetscInt bs = p->block_size, n = (q->last - q->first) * bs;
  char type[32] = MATBAIJ;
  PetscBool points = PETSC_FALSE;
  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-points", &points, NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-mat_type", type, sizeof type, NULL));
  PetscCall(MatCreate(comm, mat));
  PetscCall(MatSetSizes(*mat, n, n, PETSC_DETERMINE, PETSC_DETERMINE));
  if (!points) PetscCall(MatSetBlockSize(*mat, bs));
  PetscCall(MatSetType(*mat, points ? MATAIJ : type));
  PetscCall(preallocate(p, q, points, *mat));
  if (points) PetscCall(MatSetOption(*mat, MAT_IGNORE_ZERO_ENTRIES, PETSC_TRUE));
  PetscCall(parted_fill(p, q, 1.0, *mat));
  if (p->modes) PetscCall(attach_modes(comm, p, q, *mat));
  PetscFunctionReturn((PetscErrorCode)0);
}

PetscErrorCode parted_solver(MPI_Comm comm, const parted_problem *p, KSP *ksp) {
  bisai_precond_options o = bisai_precond_options_default();
  PC pc;
  PetscFunctionBeginUser;
  o.kind = BISAI_PRECOND_MULTIGRID;
  PetscCall(KSPCreate(comm, ksp));
  PetscCall(KSPSetType(*ksp, p->symmetric ? KSPCG : KSPFGMRES));
  PetscCall(KSPSetNormType(*ksp, KSP_NORM_UNPRECONDITIONED));
  PetscCall(KSPSetTolerances(*ksp, 1e-8, PETSC_DEFAULT, PETSC_DEFAULT, 300));
  PetscCall(KSPGetPC(*ksp, &pc));
  PetscCall(PCSetType(pc, "bisai"));
  PetscCall(bisai_petsc_pc_set_options(pc, &o));
  PetscCall(KSPSetFromOptions(*ksp));
  PetscFunctionReturn((PetscErrorCode)0);
}

PetscErrorCode parted_solve(KSP ksp, Mat mat, Vec b, Vec x, PetscInt *iterations) {
  KSPConvergedReason reason;
  PetscBool transposed;
  PetscFunctionBeginUser;
  PetscCall(PetscOptionsHasName(NULL, NULL, "-transposed", &transposed));
  PetscCall(KSPSetOperators(ksp, mat, mat));
  PetscCall(transposed ? KSPSolveTranspose(ksp, b, x) : KSPSolve(ksp, b, x));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  PetscCall(KSPGetIterationNumber(ksp, iterations));
  if (reason <= 0) *iterations = PETSC_MAX_INT;
  PetscFunctionReturn((PetscErrorCode)0);
}

PetscErrorCode parted_check(const char *parts) {
  static const char *const known[] = {"grid", "slab", "uneven", "some", "graph"};
  size_t k = 0;
  PetscFunctionBeginUser;
  while (k < sizeof known / sizeof *known && strcmp(parts, known[k]) != 0) k++;
  PetscCheck(k < sizeof known / sizeof *known, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT,
             "-parts %s: unknown; take grid, slab, uneven, some or graph", parts);
  PetscFunctionReturn((PetscErrorCode)0);
}
