/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks PETSc's own vectors, matrix products and Krylov solvers on a GPU against those on the
 * host. scripts/petsc-cuda compiles it into its package; docs/petsc.md tells the results.
 *
 * Vectors and matrices hold small integers, and so do the coefficients. All sums are exact in fp64
 * in any order, so that host and device must agree to the last bit. Solvers must need the same
 * iterations, and their true residuals are computed on the host.
 *   -device_vec_type T  -device_mat_type T   types to check (cuda, aijcusparse)
 *   -sizes N,…    lengths of the vectors; -grid M: nodes of the grid in each direction
 *   -one SOLVER   only this type of KSP; -d_… are options of the solvers. KSPIBCGS runs only if it
 *                 is named: it is wrong on GPUs.
 *   -context_first   make the context of -root_device_context_stream_type before the matrices
 *   -mixed        only show what PETSc does with a matrix on the GPU and vectors on the host */
#include <petscksp.h>

#if PETSC_VERSION_LT(3, 20, 0)
#define PETSC_SUCCESS 0
#else
#include <petscdevice.h>
#endif

/* The most vectors of an operation. A GPU adds up the products of up to 128 vectors in a way of its
 * own. */
enum { MOST = 130 };

static int failures;
static char vec_type[64] = "cuda", mat_type[64] = "aijcusparse";

static void expect(PetscBool right, const char *what, PetscInt n, PetscInt count) {
  if (right) return;
  failures++;
  if (failures < 60)
    PetscPrintf(PETSC_COMM_SELF, "WRONG: %s, n %d, %d vectors\n", what, (int)n, (int)count);
}

static PetscErrorCode make_vec(PetscInt n, const char *type, Vec *v) {
  PetscFunctionBeginUser;
  PetscCall(VecCreate(PETSC_COMM_SELF, v));
  PetscCall(VecSetSizes(*v, n, n));
  PetscCall(VecSetType(*v, type));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Fills a vector with integers in −4 … 4 from the host. */
static PetscErrorCode fill(Vec v, unsigned seed) {
  PetscScalar *a;
  PetscInt n;
  PetscFunctionBeginUser;
  PetscCall(VecGetLocalSize(v, &n));
  PetscCall(VecGetArrayWrite(v, &a));
  for (PetscInt i = 0; i < n; i++) {
    seed = seed * 1664525u + 1013904223u;
    a[i] = (double)((int)(seed >> 16) % 9 - 4);
  }
  PetscCall(VecRestoreArrayWrite(v, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode same(Vec host, Vec device, PetscBool *result) {
  const PetscScalar *a, *b;
  PetscInt n;
  PetscFunctionBeginUser;
  PetscCall(VecGetLocalSize(host, &n));
  PetscCall(VecGetArrayRead(host, &a));
  PetscCall(VecGetArrayRead(device, &b));
  PetscCall(PetscMemcmp(a, b, (size_t)n * sizeof *a, result));
  PetscCall(VecRestoreArrayRead(device, &b));
  PetscCall(VecRestoreArrayRead(host, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Runs an operation on both sides and compares the vector that it changes. */
#define BOTH(what, n, count, changed, call)                                                        \
  do {                                                                                             \
    PetscBool right;                                                                               \
    for (int s = 0; s < 2; s++) PetscCall(call);                                                   \
    PetscCall(same(changed[0], changed[1], &right));                                               \
    expect(right, what, n, count);                                                                 \
  } while (0)

typedef struct sides {
  Vec *x[2], y[2], z[2];
} sides;

static PetscErrorCode check_one(sides *v, PetscInt n) {
  PetscReal norm[2];
  PetscScalar dot[2];
  PetscFunctionBeginUser;
  BOTH("VecSet", n, 1, v->z, VecSet(v->z[s], 3));
  BOTH("VecCopy", n, 1, v->z, VecCopy(v->x[s][0], v->z[s]));
  BOTH("VecAXPY", n, 1, v->z, VecAXPY(v->z[s], -2, v->x[s][1]));
  BOTH("VecAYPX", n, 1, v->z, VecAYPX(v->z[s], -1, v->x[s][2]));
  BOTH("VecAXPBY", n, 1, v->z, VecAXPBY(v->z[s], 2, -1, v->x[s][3]));
  BOTH("VecAXPBY 0", n, 1, v->z, VecAXPBY(v->z[s], 2, 0, v->x[s][3]));
  BOTH("VecWAXPY", n, 1, v->z, VecWAXPY(v->z[s], 3, v->x[s][4], v->x[s][5]));
  BOTH("VecAXPBYPCZ", n, 1, v->z, VecAXPBYPCZ(v->z[s], 1, 2, -1, v->x[s][0], v->x[s][1]));
  BOTH("VecScale", n, 1, v->z, VecScale(v->z[s], -2));
  BOTH("VecPointwiseMult", n, 1, v->z, VecPointwiseMult(v->z[s], v->x[s][0], v->x[s][1]));
  BOTH("VecSwap", n, 1, v->z, VecSwap(v->z[s], v->y[s]));
  for (int s = 0; s < 2; s++) {
    PetscCall(VecNorm(v->x[s][0], NORM_1, &norm[s]));
    PetscCall(VecDot(v->x[s][0], v->x[s][1], &dot[s]));
  }
  expect(norm[0] == norm[1] ? PETSC_TRUE : PETSC_FALSE, "VecNorm", n, 1);
  expect(dot[0] == dot[1] ? PETSC_TRUE : PETSC_FALSE, "VecDot", n, 1);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Operations on several vectors, which GMRES consists of. z is new each time, as in GMRES. */
static PetscErrorCode check_several(sides *v, PetscInt n) {
  PetscScalar c[MOST], dots[2][MOST];
  PetscFunctionBeginUser;
  for (int i = 0; i < MOST; i++) c[i] = i % 7 - 3;
  for (PetscInt m = 1; m <= MOST; m += m < 40 || m >= 124 ? 1 : 14) {
    PetscBool right;
    for (int s = 0; s < 2; s++) {
      PetscCall(VecDestroy(&v->z[s]));
      PetscCall(VecDuplicate(v->y[s], &v->z[s]));
    }
    BOTH("VecMAXPY into a new vector", n, m, v->z, VecMAXPY(v->z[s], m, c, v->x[s]));
#if PETSC_VERSION_GE(3, 20, 0)
    BOTH("VecMAXPBY 0", n, m, v->z, VecMAXPBY(v->z[s], m, c, 0, v->x[s]));
    BOTH("VecMAXPBY 2", n, m, v->z, VecMAXPBY(v->z[s], m, c, 2, v->x[s]));
#endif
    for (int s = 0; s < 2; s++) PetscCall(VecMDot(v->y[s], m, v->x[s], dots[s]));
    PetscCall(PetscMemcmp(dots[0], dots[1], (size_t)m * sizeof dots[0][0], &right));
    expect(right, "VecMDot", n, m);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode check_vectors(PetscInt n) {
  sides v;
  const char *types[] = {VECSEQ, vec_type};
  PetscFunctionBeginUser;
  for (int s = 0; s < 2; s++) {
    PetscCall(make_vec(n, types[s], &v.y[s]));
    PetscCall(VecDuplicateVecs(v.y[s], MOST, &v.x[s]));
    PetscCall(VecDuplicate(v.y[s], &v.z[s]));
    PetscCall(fill(v.y[s], 1));
    for (unsigned i = 0; i < MOST; i++) PetscCall(fill(v.x[s][i], i + 2));
  }
  PetscCall(check_one(&v, n));
  PetscCall(check_several(&v, n));
  for (int s = 0; s < 2; s++) {
    PetscCall(VecDestroyVecs(MOST, &v.x[s]));
    PetscCall(VecDestroy(&v.y[s]));
    PetscCall(VecDestroy(&v.z[s]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A grid of m × m nodes with bs unknowns each: integers, not symmetric. Rows inside the grid are
 * weakly diagonally dominant. */
static PetscErrorCode make_mat(PetscInt m, PetscInt bs, const char *type, Mat *a) {
  const PetscInt n = m * m * bs;
  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_SELF, a));
  PetscCall(MatSetSizes(*a, n, n, n, n));
  PetscCall(MatSetBlockSize(*a, bs));
  PetscCall(MatSetType(*a, type));
  PetscCall(MatSeqAIJSetPreallocation(*a, 5 * bs, NULL));
  PetscCall(MatSeqBAIJSetPreallocation(*a, bs, 5, NULL));
  for (PetscInt row = 0; row < n; row++) {
    const PetscInt node = row / bs, i = node % m, j = node / m;
    const PetscInt beside[] = {node, node - 1, node + 1, node - m, node + m};
    const PetscBool inside[] = {PETSC_TRUE, i > 0, i<m - 1, j> 0, j < m - 1};
    for (int k = 0; k < 5; k++)
      for (PetscInt c = 0; inside[k] && c < bs; c++) {
        const PetscInt column = beside[k] * bs + c;
        const PetscScalar value = column == row ? 16 + bs : k == 0 ? 1 : k == 1 ? -5 : -4;
        if (k == 0 || c == row % bs) PetscCall(MatSetValue(*a, row, column, value, INSERT_VALUES));
      }
  }
  PetscCall(MatAssemblyBegin(*a, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*a, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode check_products(PetscInt m, PetscInt bs) {
  Mat a[2];
  Vec x[2], y[2], z[2];
  PetscInt n = m * m * bs;
  const char *types[] = {MATSEQAIJ, mat_type};
  PetscFunctionBeginUser;
  for (int s = 0; s < 2; s++) {
    PetscCall(make_mat(m, bs, types[s], &a[s]));
    PetscCall(MatCreateVecs(a[s], &x[s], &y[s]));
    PetscCall(fill(x[s], 5));
    PetscCall(fill(y[s], 6));
  }
  for (int round = 0; round < 3; round++) {
    for (int s = 0; s < 2; s++) PetscCall(VecDuplicate(y[s], &z[s]));
    BOTH("MatMult into a new vector", n, 1, z, MatMult(a[s], x[s], z[s]));
    BOTH("MatMult again", n, 1, z, MatMult(a[s], y[s], z[s]));
    BOTH("MatMultAdd", n, 1, z, MatMultAdd(a[s], x[s], y[s], z[s]));
    BOTH("MatMultAdd in place", n, 1, z, MatMultAdd(a[s], x[s], z[s], z[s]));
    BOTH("MatMultTranspose", n, 1, z, MatMultTranspose(a[s], x[s], z[s]));
    for (int s = 0; s < 2; s++) PetscCall(VecDestroy(&z[s]));
    for (int s = 0; s < 2; s++) PetscCall(MatScale(a[s], 2));
  }
  for (int s = 0; s < 2; s++) {
    PetscCall(VecDestroy(&x[s]));
    PetscCall(VecDestroy(&y[s]));
    PetscCall(MatDestroy(&a[s]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Solves A x = b with the given types. The residual is that of the host's A. `early`: KSPSetUp()
 * comes before KSPSolve(), so that the first work vectors come from A and not from x. */
static PetscErrorCode solve(const char *ksp_type, const char *pc_type, Mat a, Mat host,
                            const char *type, PetscBool early, PetscInt *iterations,
                            PetscReal *residual) {
  KSP ksp;
  PC pc;
  Vec b, x, r, c;
  const PetscScalar *values;
  PetscScalar *copy;
  PetscInt n;
  PetscReal norm;
  PetscFunctionBeginUser;
  PetscCall(MatGetLocalSize(a, &n, NULL));
  PetscCall(make_vec(n, type, &b));
  PetscCall(VecDuplicate(b, &x));
  PetscCall(fill(b, 9));
  PetscCall(KSPCreate(PETSC_COMM_SELF, &ksp));
  PetscCall(KSPSetOptionsPrefix(ksp, "d_"));
  PetscCall(KSPSetOperators(ksp, a, a));
  PetscCall(KSPSetType(ksp, ksp_type));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, pc_type));
  PetscCall(KSPSetTolerances(ksp, 1e-8, PETSC_DEFAULT, PETSC_DEFAULT, 2000));
  PetscCall(KSPSetFromOptions(ksp));
  if (early) PetscCall(KSPSetUp(ksp));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetIterationNumber(ksp, iterations));
  PetscCall(make_vec(n, VECSEQ, &r));
  PetscCall(VecDuplicate(r, &c));
  PetscCall(VecGetArrayRead(x, &values));
  PetscCall(VecGetArrayWrite(c, &copy));
  for (PetscInt i = 0; i < n; i++) copy[i] = values[i];
  PetscCall(VecRestoreArrayWrite(c, &copy));
  PetscCall(VecRestoreArrayRead(x, &values));
  PetscCall(MatMult(host, c, r));
  PetscCall(fill(c, 9));
  PetscCall(VecNorm(c, NORM_2, &norm));
  PetscCall(VecAXPY(r, -1, c));
  PetscCall(VecNorm(r, NORM_2, residual));
  *residual /= norm;
  PetscCall(VecDestroy(&r));
  PetscCall(VecDestroy(&c));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode check_solvers(PetscInt m, PetscInt bs, const char *one) {
  static const char *const solvers[] = {"gmres", "fgmres", "lgmres", "gcr", "bcgs",
                                        "fbcgs", "ibcgs",  "tfqmr",  "cgs"};
  static const char *const preconditioners[] = {"none", "jacobi", "pbjacobi"};
  Mat a, host;
  PetscFunctionBeginUser;
  PetscCall(make_mat(m, bs, mat_type, &a));
  PetscCall(make_mat(m, bs, MATSEQAIJ, &host));
  for (size_t k = 0; k < sizeof solvers / sizeof *solvers; k++)
    for (size_t p = 0; p < 3; p++) {
      const char *type = solvers[k], *pc = preconditioners[p];
      PetscInt count[3];
      PetscReal residual[3];
      if (*one ? strcmp(one, type) != 0 : strcmp(type, "ibcgs") == 0) continue;
      for (int early = 0; early < 2; early++) {
        const PetscBool first = early ? PETSC_TRUE : PETSC_FALSE;
        PetscCall(solve(type, pc, host, host, VECSEQ, first, &count[0], &residual[0]));
        PetscCall(solve(type, pc, a, host, vec_type, first, &count[1], &residual[1]));
        const PetscBool right =
            PetscAbsInt(count[0] - count[1]) <= 1 + count[0] / 20 && residual[1] < 1e-6;
        expect(right, type, m * m * bs, 1);
        PetscCall(PetscPrintf(PETSC_COMM_SELF,
                              "%-10s %-8s %s: host %4d its %.1e   device %4d its %.1e %s\n", type,
                              pc, early ? "set up first" : "            ", (int)count[0],
                              residual[0], (int)count[1], residual[1], right ? "" : "WRONG"));
      }
    }
  PetscCall(MatDestroy(&a));
  PetscCall(MatDestroy(&host));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#ifdef PETSC_HAVE_HYPRE
/* BoomerAMG coarsens and smooths otherwise on a GPU, so that iterations may differ. */
static PetscErrorCode check_boomeramg(PetscInt m, PetscInt bs) {
  Mat a, host;
  PetscFunctionBeginUser;
  PetscCall(make_mat(m, bs, mat_type, &a));
  PetscCall(make_mat(m, bs, MATSEQAIJ, &host));
  for (int k = 0; k < 2; k++) {
    const char *type = k ? "fgmres" : "gmres";
    PetscInt count[2];
    PetscReal residual[2];
    PetscCall(solve(type, "hypre", host, host, VECSEQ, PETSC_TRUE, &count[0], &residual[0]));
    PetscCall(solve(type, "hypre", a, host, vec_type, PETSC_TRUE, &count[1], &residual[1]));
    const PetscBool right =
        residual[0] < 1e-6 && residual[1] < 1e-6 && count[1] <= 2 * count[0] + 5;
    expect(right, "BoomerAMG", m * m * bs, 1);
    PetscCall(PetscPrintf(
        PETSC_COMM_SELF, "%-10s BoomerAMG: host %4d its %.1e   device %4d its %.1e %s\n", type,
        (int)count[0], residual[0], (int)count[1], residual[1], right ? "" : "WRONG"));
  }
  PetscCall(MatDestroy(&a));
  PetscCall(MatDestroy(&host));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif

/* Programs that mix types: a matrix on the device and vectors on the host, as made by VecLoad() if
 * it does not heed -vec_type. These do not count as failures of PETSc. */
static PetscErrorCode show_mixed_types(void) {
  Mat a, host;
  Vec v, loaded;
  PetscViewer viewer;
  VecType type;
  PetscInt count;
  PetscReal residual;
  PetscFunctionBeginUser;
  PetscCall(make_mat(40, 3, mat_type, &a));
  PetscCall(make_mat(40, 3, MATSEQAIJ, &host));
  for (int early = 0; early < 2; early++) {
    PetscCall(solve("gmres", "none", a, host, VECSEQ, early ? PETSC_TRUE : PETSC_FALSE, &count,
                    &residual));
    PetscCall(PetscPrintf(PETSC_COMM_SELF,
                          "mixed: %s with vectors of the host%s: %d its, true residual %.1e %s\n",
                          mat_type, early ? ", set up first" : "", (int)count, residual,
                          residual < 1e-6 ? "" : "WRONG"));
  }
  PetscCall(make_vec(10, VECSEQ, &v));
  PetscCall(fill(v, 1));
  PetscCall(PetscViewerBinaryOpen(PETSC_COMM_SELF, "check.vec", FILE_MODE_WRITE, &viewer));
  PetscCall(VecView(v, viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  PetscCall(PetscOptionsSetValue(NULL, "-vec_type", vec_type));
  PetscCall(VecCreate(PETSC_COMM_SELF, &loaded));
  PetscCall(PetscViewerBinaryOpen(PETSC_COMM_SELF, "check.vec", FILE_MODE_READ, &viewer));
  PetscCall(VecLoad(loaded, viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  PetscCall(VecGetType(loaded, &type));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "mixed: VecLoad() with -vec_type %s makes type %s\n",
                        vec_type, type));
  PetscCall(VecDestroy(&loaded));
  PetscCall(VecDestroy(&v));
  PetscCall(MatDestroy(&a));
  PetscCall(MatDestroy(&host));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes the device's context and its stream, before the first matrix looks for the stream. */
static PetscErrorCode make_context(void) {
  PetscFunctionBeginUser;
#if PETSC_VERSION_GE(3, 20, 0)
  PetscDeviceContext context;
  PetscCall(PetscDeviceInitialize(PETSC_DEVICE_DEFAULT()));
  PetscCall(PetscDeviceContextGetCurrentContext(&context));
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv) {
  PetscInt sizes[16] = {1, 31, 32, 1000, 4099, 200003}, number = 16, grid = 50;
  char one[32] = "", version[128];
  PetscBool mixed = PETSC_FALSE, given;
  /* PETSc refuses an MPI that does not know CUDA, and one process has no use for it. */
  PetscCall(PetscOptionsSetValue(NULL, "-use_gpu_aware_mpi", "0"));
  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  PetscCall(PetscOptionsHasName(NULL, NULL, "-context_first", &given));
  if (given) PetscCall(make_context());
  PetscCall(PetscOptionsGetString(NULL, NULL, "-device_vec_type", vec_type, sizeof vec_type, NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-device_mat_type", mat_type, sizeof mat_type, NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-one", one, sizeof one, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-mixed", &mixed, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-grid", &grid, NULL));
  PetscCall(PetscOptionsGetIntArray(NULL, NULL, "-sizes", sizes, &number, &given));
  if (!given) number = 6;
  PetscCall(PetscGetVersion(version, sizeof version));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "%s, types %s and %s\n", version, vec_type, mat_type));
  if (!*one && !mixed) {
    for (PetscInt i = 0; i < number; i++) PetscCall(check_vectors(sizes[i]));
    PetscCall(PetscPrintf(PETSC_COMM_SELF, "vectors: %d wrong\n", failures));
    for (PetscInt bs = 1; bs <= 4; bs++)
      for (PetscInt m = 1; m <= 2 * grid; m = 4 * m + 3) PetscCall(check_products(m, bs));
    PetscCall(PetscPrintf(PETSC_COMM_SELF, "vectors and products: %d wrong\n", failures));
  }
  if (!mixed) PetscCall(check_solvers(grid, 3, one));
#ifdef PETSC_HAVE_HYPRE
  if (!*one && !mixed) PetscCall(check_boomeramg(grid, 3));
#endif
  if (mixed) PetscCall(show_mixed_types());
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "%d wrong\n", failures));
  PetscCall(PetscFinalize());
  return failures != 0;
}
