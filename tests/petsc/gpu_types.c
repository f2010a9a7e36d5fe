/* SPDX-License-Identifier: BSD-3-Clause */
/* bisai inside PETSc with matrices and vectors of the types -tested_mat_type and -tested_vec_type,
 * aijcusparse and cuda on a GPU, against SeqBAIJ and vectors of the host: applications of all kinds
 * of preconditioner, new values that were changed where they are, products of the matrix type
 * "bisai", and solves, whose second one may not copy between the host and the GPU. Prints a line
 * for each difference, and returns whether there was one.
 *   -n N  block rows in each direction of a grid; 24 by default */
#include <petscksp.h>

#include <bisai/petsc.h>

#if PETSC_VERSION_LT(3, 19, 0)
#define PETSC_SUCCESS 0
#endif

enum { BLOCK_SIZE = 3 };

static int wrong = 0;

static PetscErrorCode verdict(PetscBool good, const char *what, const char *options, double value) {
  PetscFunctionBeginUser;
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "%s: %s [%s] %.3g\n", good ? "ok" : "WRONG", what, options,
                        value));
  if (!good) wrong++;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Values of the block (i, j) of a grid: dominant diagonal blocks, and entries that are zero in
 * every second neighbour, so that the scalar rows of a block row differ in their patterns. */
static void fill_block(PetscInt i, PetscInt j, PetscScalar *block) {
  for (PetscInt r = 0; r < BLOCK_SIZE; r++)
    for (PetscInt c = 0; c < BLOCK_SIZE; c++) {
      PetscScalar *value = block + r * BLOCK_SIZE + c;
      *value = i == j ? (r == c ? 5 + 0.01 * (double)(i % 7) : 0.2) : (r == c ? -1 : 0.05);
      if (i < j && r != c) *value = 0;
    }
}

/* Sets the entries that are not zero. */
static PetscErrorCode set_block(Mat a, PetscInt i, PetscInt j) {
  PetscScalar block[BLOCK_SIZE * BLOCK_SIZE];
  PetscFunctionBeginUser;
  fill_block(i, j, block);
  for (PetscInt r = 0; r < BLOCK_SIZE; r++)
    for (PetscInt c = 0; c < BLOCK_SIZE; c++) {
      const PetscScalar value = block[r * BLOCK_SIZE + c];
      if (value == 0) continue;
      PetscCall(MatSetValue(a, i * BLOCK_SIZE + r, j * BLOCK_SIZE + c, value, INSERT_VALUES));
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode make_matrix(const char *type, PetscInt n, Mat *a) {
  const PetscInt rows = n * n * BLOCK_SIZE;
  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_SELF, a));
  PetscCall(MatSetSizes(*a, rows, rows, rows, rows));
  PetscCall(MatSetBlockSize(*a, BLOCK_SIZE));
  PetscCall(MatSetType(*a, type));
  PetscCall(MatSetFromOptions(*a));
  PetscCall(MatSeqAIJSetPreallocation(*a, 5 * BLOCK_SIZE, NULL));
  PetscCall(MatSeqBAIJSetPreallocation(*a, BLOCK_SIZE, 5, NULL));
  for (PetscInt i = 0; i < n * n; i++) {
    PetscCall(set_block(*a, i, i));
    if (i % n > 0) PetscCall(set_block(*a, i, i - 1));
    if (i % n < n - 1) PetscCall(set_block(*a, i, i + 1));
    if (i >= n) PetscCall(set_block(*a, i, i - n));
    if (i < n * (n - 1)) PetscCall(set_block(*a, i, i + n));
  }
  PetscCall(MatAssemblyBegin(*a, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*a, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode make_vector(const char *type, PetscInt n, Vec *v) {
  PetscFunctionBeginUser;
  PetscCall(VecCreate(PETSC_COMM_SELF, v));
  PetscCall(VecSetSizes(*v, n, n));
  PetscCall(VecSetBlockSize(*v, BLOCK_SIZE));
  PetscCall(VecSetType(*v, type));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Fills with the same numbers on every type. */
static PetscErrorCode fill_vector(Vec v) {
  PetscInt n;
  PetscScalar *values;
  PetscFunctionBeginUser;
  PetscCall(VecGetLocalSize(v, &n));
  PetscCall(VecGetArrayWrite(v, &values));
  for (PetscInt i = 0; i < n; i++) values[i] = 1 + 0.001 * (double)((i * 7919) % 1013);
  PetscCall(VecRestoreArrayWrite(v, &values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ‖u − v‖ / ‖u‖ of vectors of any types. */
static PetscErrorCode distance(Vec u, Vec v, double *result) {
  const PetscScalar *a, *b;
  PetscInt n;
  double squares = 0, all = 0;
  PetscFunctionBeginUser;
  PetscCall(VecGetLocalSize(u, &n));
  PetscCall(VecGetArrayRead(u, &a));
  PetscCall(VecGetArrayRead(v, &b));
  for (PetscInt i = 0; i < n; i++) {
    squares += (a[i] - b[i]) * (a[i] - b[i]);
    all += a[i] * a[i];
  }
  PetscCall(VecRestoreArrayRead(v, &b));
  PetscCall(VecRestoreArrayRead(u, &a));
  *result = all > 0 ? PetscSqrtReal(squares / all) : squares;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The bytes of vectors and matrices that were copied between the host and the GPU. PETSc counts the
 * scalar products of several vectors too, which are a few numbers. */
static double copies(void) {
#if defined(PETSC_HAVE_DEVICE)
  return (double)(petsc_ctog_sz + petsc_gtoc_sz);
#else
  return 0;
#endif
}

static PetscErrorCode make_pc(Mat a, const char *backend, const char *options, PC *pc) {
  PetscFunctionBeginUser;
  PetscCall(PCCreate(PETSC_COMM_SELF, pc));
  PetscCall(PCSetType(*pc, "bisai"));
  PetscCall(PCSetOptionsPrefix(*pc, "x_"));
  PetscCall(PetscOptionsInsertString(NULL, options));
  PetscCall(PetscOptionsSetValue(NULL, "-x_pc_bisai_backend", backend));
  PetscCall(PCSetFromOptions(*pc));
  PetscCall(PCSetOperators(*pc, a, a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Removes the options of one preconditioner, so that the next one does not find them. */
static PetscErrorCode forget_options(void) {
  static const char *const names[] = {"-x_pc_bisai_type",        "-x_pc_bisai_relax",
                                      "-x_pc_bisai_k",           "-x_pc_bisai_sweeps",
                                      "-x_pc_bisai_mg_coarsest", "-x_pc_bisai_mg_precision",
                                      "-x_pc_bisai_cpr_pressure"};
  PetscFunctionBeginUser;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    PetscCall(PetscOptionsClearValue(NULL, names[i]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

typedef struct pair {
  Mat host, tested;
  /* on the host: v, z; of the tested type: w, y */
  Vec v, z, w, y;
} pair;

/* Applies both preconditioners. With `still`, the tested application may not copy. */
static PetscErrorCode compare(const pair *s, PC expected, PC pc, const char *what,
                              const char *options, PetscBool still) {
  double difference;
  PetscFunctionBeginUser;
  PetscCall(PCSetUp(expected));
  PetscCall(PCSetUp(pc));
  PetscCall(PCApply(expected, s->v, s->z));
  PetscCall(PCApply(pc, s->w, s->y));
  const double before = copies();
  PetscCall(PCApply(pc, s->w, s->y));
  const double made = copies() - before;
  PetscCall(distance(s->z, s->y, &difference));
  /* 1e-11: rounding of another order of sums, times condition numbers of a few hundred */
  PetscCall(verdict(difference <= 1e-11 ? PETSC_TRUE : PETSC_FALSE, what, options, difference));
  if (still)
    PetscCall(verdict(made == 0 ? PETSC_TRUE : PETSC_FALSE, "copied bytes of an application",
                      options, made));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Changes the values where they are, twice, and counts copies of the second change and update. */
static PetscErrorCode check_updates(const pair *s, PC expected, PC pc, const char *options) {
  double before = 0, made = 0;
  PetscBool on_host = PETSC_FALSE;
  PetscFunctionBeginUser;
  PetscCall(PetscObjectTypeCompare((PetscObject)s->tested, "bisai", &on_host));
  for (int round = 0; round < 2; round++) {
    before = copies();
    PetscCall(MatScale(s->host, 1.25));
    PetscCall(MatScale(s->tested, 1.25));
    PetscCall(PCSetOperators(expected, s->host, s->host));
    PetscCall(PCSetOperators(pc, s->tested, s->tested));
    PetscCall(PCSetUp(pc));
    made = copies() - before;
    PetscCall(compare(s, expected, pc, "new values", options, PETSC_FALSE));
  }
  /* a Mat of type "bisai" is set on the host */
  if (!on_host)
    PetscCall(
        verdict(made == 0 ? PETSC_TRUE : PETSC_FALSE, "copied bytes of an update", options, made));
  PetscCall(MatScale(s->host, 1 / (1.25 * 1.25)));
  PetscCall(MatScale(s->tested, 1 / (1.25 * 1.25)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Five columns, of which the third is the vector of the other tests. */
static PetscErrorCode apply_columns(PC pc, const char *type, Vec v, Vec z) {
  Mat from, to;
  Vec column;
  PetscInt n;
  PetscFunctionBeginUser;
  PetscCall(VecGetLocalSize(v, &n));
  for (int i = 0; i < 2; i++) {
    Mat *mat = i == 0 ? &from : &to;
    PetscCall(MatCreate(PETSC_COMM_SELF, mat));
    PetscCall(MatSetSizes(*mat, n, 5, n, 5));
    PetscCall(MatSetType(*mat, type));
    PetscCall(MatSetUp(*mat));
    PetscCall(MatAssemblyBegin(*mat, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(*mat, MAT_FINAL_ASSEMBLY));
  }
  PetscCall(MatDenseGetColumnVecWrite(from, 2, &column));
  PetscCall(VecCopy(v, column));
  PetscCall(MatDenseRestoreColumnVecWrite(from, 2, &column));
  PetscCall(PCMatApply(pc, from, to));
  PetscCall(MatDenseGetColumnVecRead(to, 2, &column));
  PetscCall(VecCopy(column, z));
  PetscCall(MatDenseRestoreColumnVecRead(to, 2, &column));
  PetscCall(MatDestroy(&from));
  PetscCall(MatDestroy(&to));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode check_columns(const pair *s, PC expected, PC pc, const char *options) {
  VecType type;
  PetscBool host;
  double difference;
  PetscFunctionBeginUser;
  PetscCall(VecGetType(s->w, &type));
  PetscCall(PetscStrcmp(type, VECSEQ, &host));
  PetscCall(apply_columns(expected, MATSEQDENSE, s->v, s->z));
  PetscCall(apply_columns(pc, host ? MATSEQDENSE : "seqdensecuda", s->w, s->y));
  PetscCall(distance(s->z, s->y, &difference));
  PetscCall(
      verdict(difference <= 1e-11 ? PETSC_TRUE : PETSC_FALSE, "columns", options, difference));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Backends differ in the levels of which they read copies in fp32. */
static PetscErrorCode check_preconditioners(const pair *s) {
  static const char *const options[] = {
      "-x_pc_bisai_type isai",
      "-x_pc_bisai_type isai -x_pc_bisai_k 2 -x_pc_bisai_relax 1",
      "-x_pc_bisai_type ilu",
      "-x_pc_bisai_type sweeps -x_pc_bisai_sweeps 2",
      "-x_pc_bisai_type bjacobi",
      "-x_pc_bisai_type mg -x_pc_bisai_mg_coarsest 100 -x_pc_bisai_mg_precision fp64",
      "-x_pc_bisai_type cpr -x_pc_bisai_cpr_pressure 0"};
  PetscFunctionBeginUser;
  for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
    PC expected, pc;
    PetscCall(make_pc(s->host, "host", options[i], &expected));
    PetscCall(make_pc(s->tested, "auto", options[i], &pc));
    PetscCall(compare(s, expected, pc, "application", options[i], PETSC_TRUE));
    PetscCall(check_columns(s, expected, pc, options[i]));
    PetscCall(check_updates(s, expected, pc, options[i]));
    PetscCall(PCDestroy(&expected));
    PetscCall(PCDestroy(&pc));
    PetscCall(forget_options());
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode check_products(const pair *s) {
  double difference, before;
  PetscFunctionBeginUser;
  PetscCall(MatMult(s->host, s->v, s->z));
  PetscCall(MatMult(s->tested, s->w, s->y));
  PetscCall(distance(s->z, s->y, &difference));
  PetscCall(verdict(difference <= 1e-13 ? PETSC_TRUE : PETSC_FALSE, "product", "", difference));
  PetscCall(MatMultAdd(s->host, s->v, s->v, s->z));
  before = copies();
  PetscCall(MatMultAdd(s->tested, s->w, s->w, s->y));
  PetscCall(MatMult(s->tested, s->y, s->w));
  PetscCall(verdict(copies() == before ? PETSC_TRUE : PETSC_FALSE, "copied bytes of products", "",
                    copies() - before));
  PetscCall(distance(s->z, s->y, &difference));
  PetscCall(
      verdict(difference <= 1e-13 ? PETSC_TRUE : PETSC_FALSE, "product and sum", "", difference));
  PetscCall(fill_vector(s->w));
  PetscCall(MatMultTranspose(s->host, s->v, s->z));
  PetscCall(MatMultTranspose(s->tested, s->w, s->y));
  PetscCall(distance(s->z, s->y, &difference));
  PetscCall(verdict(difference <= 1e-13 ? PETSC_TRUE : PETSC_FALSE, "transposed product", "",
                    difference));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Two solves with each type, by a given method, because host and GPU choose differently: equal
 * iterations, and no copies in the second of the tested one. */
static PetscErrorCode check_solver(const pair *s, const char *type) {
  PetscInt iterations[2];
  double made = 0, difference;
  PetscFunctionBeginUser;
  for (int t = 0; t < 2; t++) {
    const Vec b = t == 0 ? s->v : s->w, x = t == 0 ? s->z : s->y;
    const Mat a = t == 0 ? s->host : s->tested;
    KSP ksp;
    PC pc;
    KSPConvergedReason reason;
    PetscCall(KSPCreate(PETSC_COMM_SELF, &ksp));
    PetscCall(KSPSetType(ksp, type));
    PetscCall(KSPSetOperators(ksp, a, a));
    PetscCall(KSPSetTolerances(ksp, 1e-8, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
    PetscCall(make_pc(a, t == 0 ? "host" : "auto", "-x_pc_bisai_type isai", &pc));
    PetscCall(KSPSetPC(ksp, pc));
    PetscCall(KSPSolve(ksp, b, x));
    const double before = copies();
    PetscCall(KSPSolve(ksp, b, x));
    made = copies() - before;
    PetscCall(KSPGetConvergedReason(ksp, &reason));
    PetscCall(verdict(reason > 0 ? PETSC_TRUE : PETSC_FALSE, "convergence", type, reason));
    PetscCall(KSPGetIterationNumber(ksp, &iterations[t]));
    PetscCall(KSPDestroy(&ksp));
    PetscCall(PCDestroy(&pc));
    PetscCall(forget_options());
  }
  PetscCall(distance(s->z, s->y, &difference));
  PetscCall(verdict(iterations[0] == iterations[1] ? PETSC_TRUE : PETSC_FALSE, "iterations", type,
                    (double)iterations[1]));
  PetscCall(verdict(difference <= 1e-7 ? PETSC_TRUE : PETSC_FALSE, "solution", type, difference));
  PetscInt n;
  PetscCall(VecGetLocalSize(s->w, &n));
  PetscCall(verdict(made < (double)n * (double)sizeof(PetscScalar) ? PETSC_TRUE : PETSC_FALSE,
                    "copied bytes of a solve, less than a vector", type, made));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode check(void) {
  static const char *const solvers[] = {KSPGMRES, KSPGCR, KSPBCGS, KSPRICHARDSON};
  char mat_type[64] = MATSEQAIJ, vec_type[64] = VECSEQ;
  PetscInt n = 24;
  pair s;
  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetString(NULL, NULL, "-tested_mat_type", mat_type, sizeof mat_type, NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-tested_vec_type", vec_type, sizeof vec_type, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-n", &n, NULL));
  const PetscInt rows = n * n * BLOCK_SIZE;
  PetscCall(make_matrix(MATSEQBAIJ, n, &s.host));
  PetscCall(make_matrix(mat_type, n, &s.tested));
  PetscCall(make_vector(VECSEQ, rows, &s.v));
  PetscCall(make_vector(VECSEQ, rows, &s.z));
  PetscCall(make_vector(vec_type, rows, &s.w));
  PetscCall(make_vector(vec_type, rows, &s.y));
  PetscCall(fill_vector(s.v));
  PetscCall(fill_vector(s.w));
  PetscCall(check_products(&s));
  PetscCall(check_preconditioners(&s));
  for (size_t i = 0; i < sizeof solvers / sizeof *solvers; i++)
    PetscCall(check_solver(&s, solvers[i]));
  PetscCall(MatDestroy(&s.host));
  PetscCall(MatDestroy(&s.tested));
  PetscCall(VecDestroy(&s.v));
  PetscCall(VecDestroy(&s.z));
  PetscCall(VecDestroy(&s.w));
  PetscCall(VecDestroy(&s.y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv) {
  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  PetscCall(bisai_petsc_register());
  PetscCall(check());
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "%d wrong\n", wrong));
  PetscCall(PetscFinalize());
  return wrong > 0;
}
