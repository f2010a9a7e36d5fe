/* SPDX-License-Identifier: BSD-3-Clause */
/* Times solvers of PETSc on the processes of one MPI job, each on its part of a case
 * (tests/petsc/parted_case.h). Prints a line of JSON for each line of a file of settings.
 *   mpirun -n N bench_petsc_ranks -case CASE -size SIZE -settings FILE [-parts PARTS] [-turns N]
 *                                 [-cut F] [-mat_type TYPE] [options of all settings]
 * A line of FILE is a name, a colon, and options; `-points 1` among them gives the matrix without
 * its block size. Set-up, solve, and a set-up with new values are those of the slowest process, in
 * milliseconds, of the best of -turns N (3) turns by set-up + solve. With -cut F, solves end when
 * the time of F times the set-up and solve of the first line is over; such a setting has one turn.
 * Of set-up and solve, the line has the collective calls of MPI and the waits for messages, and the
 * milliseconds in them in the mean of all processes. */
#include <petscksp.h>

#include <math.h>
#include <string.h>

#include <bisai/petsc.h>

#include "parted_case.h"

/* From 3.23 on, functions that destroy a context take its place. */
#if PETSC_VERSION_LT(3, 23, 0)
#define CONTEXT(p) (p)
#else
#define CONTEXT(p) (&(p))
#endif

/* --- calls of MPI, which this program puts before those of the library --- */

typedef struct calls {
  long long reductions, waits;
  double in_reductions, in_waits;
} calls;

static calls total;

/* PETSc's headers define some of these as macros, which count calls. */
#undef MPI_Allreduce
#undef MPI_Bcast
#undef MPI_Allgather
#undef MPI_Allgatherv
#undef MPI_Gatherv
#undef MPI_Scatterv
#undef MPI_Waitall
#undef MPI_Wait
#undef MPI_Waitany
#undef MPI_Recv

#define TIMED(kind, call)                                                                          \
  const double begin = MPI_Wtime();                                                                \
  const int status = call;                                                                         \
  total.kind++, total.in_##kind += MPI_Wtime() - begin;                                            \
  return status

int MPI_Allreduce(const void *sent, void *received, int count, MPI_Datatype type, MPI_Op op,
                  MPI_Comm comm) {
  TIMED(reductions, PMPI_Allreduce(sent, received, count, type, op, comm));
}

int MPI_Bcast(void *data, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  TIMED(reductions, PMPI_Bcast(data, count, type, root, comm));
}

int MPI_Allgather(const void *sent, int count, MPI_Datatype type, void *received, int others,
                  MPI_Datatype other, MPI_Comm comm) {
  TIMED(reductions, PMPI_Allgather(sent, count, type, received, others, other, comm));
}

int MPI_Allgatherv(const void *sent, int count, MPI_Datatype type, void *received,
                   const int *others, const int *places, MPI_Datatype other, MPI_Comm comm) {
  TIMED(reductions, PMPI_Allgatherv(sent, count, type, received, others, places, other, comm));
}

int MPI_Gatherv(const void *sent, int count, MPI_Datatype type, void *received, const int *others,
                const int *places, MPI_Datatype other, int root, MPI_Comm comm) {
  TIMED(reductions, PMPI_Gatherv(sent, count, type, received, others, places, other, root, comm));
}

int MPI_Scatterv(const void *sent, const int *counts, const int *places, MPI_Datatype type,
                 void *received, int count, MPI_Datatype other, int root, MPI_Comm comm) {
  TIMED(reductions, PMPI_Scatterv(sent, counts, places, type, received, count, other, root, comm));
}

int MPI_Waitall(int count, MPI_Request *requests, MPI_Status *statuses) {
  TIMED(waits, PMPI_Waitall(count, requests, statuses));
}

int MPI_Wait(MPI_Request *request, MPI_Status *state) { TIMED(waits, PMPI_Wait(request, state)); }

int MPI_Waitany(int count, MPI_Request *requests, int *place, MPI_Status *state) {
  TIMED(waits, PMPI_Waitany(count, requests, place, state));
}

int MPI_Recv(void *data, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
             MPI_Status *state) {
  TIMED(waits, PMPI_Recv(data, count, type, source, tag, comm, state));
}

/* --- a setting --- */

/* One part of a turn: its milliseconds, and its calls of MPI. */
typedef struct part {
  double ms;
  calls mpi;
} part;

typedef struct turn {
  part set_up, solve;
  double update_ms;
  PetscInt iterations;
  KSPConvergedReason reason;
  PetscBool cut;
} turn;

typedef struct timing {
  const parted_problem *problem;
  const parted_rows *rows;
  Mat mat, points;
  Vec b, x;
  PetscInt turns;
  double most; /* milliseconds of set-up and solve */
} timing;

static double now(MPI_Comm comm) {
  PMPI_Barrier(comm);
  return 1e3 * MPI_Wtime();
}

/* Ends a part that began at `begin` with the calls `before`. */
static part ended(MPI_Comm comm, double begin, const calls *before) {
  double in[] = {1e3 * (total.in_reductions - before->in_reductions),
                 1e3 * (total.in_waits - before->in_waits)};
  part p = {.mpi = {.reductions = total.reductions - before->reductions,
                    .waits = total.waits - before->waits}};
  int size;
  p.ms = now(comm) - begin;
  PMPI_Allreduce(MPI_IN_PLACE, in, 2, MPI_DOUBLE, MPI_SUM, comm);
  MPI_Comm_size(comm, &size);
  p.mpi.in_reductions = in[0] / size, p.mpi.in_waits = in[1] / size;
  return p;
}

/* When a solve has to end, by the clock of the first process. */
typedef struct clock_test {
  void *usual;
  double end;
  PetscBool late;
} clock_test;

static PetscErrorCode stop_late(KSP ksp, PetscInt n, PetscReal norm, KSPConvergedReason *reason,
                                void *context) {
  clock_test *t = context;
  int late = 1e3 * MPI_Wtime() > t->end;
  PetscFunctionBeginUser;
  PetscCall(KSPConvergedDefault(ksp, n, norm, reason, t->usual));
  PMPI_Bcast(&late, 1, MPI_INT, 0, PetscObjectComm((PetscObject)ksp));
  if (*reason == KSP_CONVERGED_ITERATING && late) *reason = KSP_DIVERGED_ITS, t->late = PETSC_TRUE;
  PetscFunctionReturn((PetscErrorCode)0);
}

static PetscErrorCode take_turn(const timing *t, Mat mat, turn *result) {
  MPI_Comm comm = PetscObjectComm((PetscObject)mat);
  clock_test test = {.late = PETSC_FALSE};
  KSP ksp;
  PetscFunctionBeginUser;
  PetscCall(parted_fill(t->problem, t->rows, 1.0, mat));
  PetscCall(parted_solver(comm, t->problem, &ksp));
  PetscCall(KSPConvergedDefaultCreate(&test.usual));
  PetscCall(KSPSetConvergenceTest(ksp, stop_late, &test, NULL));
  calls before = total;
  double begin = now(comm);
  test.end = begin + t->most;
  PetscCall(KSPSetOperators(ksp, mat, mat));
  PetscCall(KSPSetUp(ksp));
  result->set_up = ended(comm, begin, &before);
  before = total, begin = now(comm);
  PetscCall(KSPSolve(ksp, t->b, t->x));
  result->solve = ended(comm, begin, &before);
  PetscCall(KSPGetIterationNumber(ksp, &result->iterations));
  PetscCall(KSPGetConvergedReason(ksp, &result->reason));
  result->cut = test.late;
  result->update_ms = INFINITY;
  if (result->reason > 0) {
    PetscCall(parted_fill(t->problem, t->rows, 2.0, mat));
    begin = now(comm);
    PetscCall(KSPSetOperators(ksp, mat, mat));
    PetscCall(KSPSetUp(ksp));
    result->update_ms = now(comm) - begin;
  }
  PetscCall(KSPConvergedDefaultDestroy(CONTEXT(test.usual)));
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn((PetscErrorCode)0);
}

static PetscErrorCode print_part(MPI_Comm comm, const char *name, const part *p) {
  PetscFunctionBeginUser;
  PetscCall(PetscPrintf(comm,
                        ", \"%s_ms\": %.1f, \"%s_mpi\": {\"collectives\": %lld, \"waits\": %lld, "
                        "\"collectives_ms\": %.1f, \"waits_ms\": %.1f}",
                        name, p->ms, name, p->mpi.reductions, p->mpi.waits, p->mpi.in_reductions,
                        p->mpi.in_waits));
  PetscFunctionReturn((PetscErrorCode)0);
}

/* Times the solver of the options that are set. The first one says how long others may take. */
static PetscErrorCode time_setting(const char *name, double cut, timing *t) {
  MPI_Comm comm = PetscObjectComm((PetscObject)t->mat);
  PetscBool points = PETSC_FALSE;
  turn best = {.set_up.ms = INFINITY}, last;
  double update = INFINITY;
  PetscInt turns = 0;
  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-points", &points, NULL));
  if (points && !t->points) PetscCall(parted_mat(comm, t->problem, t->rows, &t->points));
  do {
    PetscCall(take_turn(t, points ? t->points : t->mat, &last));
    update = PetscMin(update, last.update_ms);
    if (last.set_up.ms + last.solve.ms < best.set_up.ms + best.solve.ms) best = last;
  } while (++turns < t->turns && last.reason > 0 && last.set_up.ms + last.solve.ms < t->most);
  if (isinf(t->most) && cut > 0) t->most = cut * (best.set_up.ms + best.solve.ms);
  PetscCall(PetscPrintf(comm, "{\"setting\": \"%s\", \"reason\": \"%s\", \"iterations\": %d", name,
                        best.cut ? "cut off" : KSPConvergedReasons[best.reason],
                        (int)best.iterations));
  PetscCall(print_part(comm, "set_up", &best.set_up));
  PetscCall(print_part(comm, "solve", &best.solve));
  if (isfinite(update)) PetscCall(PetscPrintf(comm, ", \"update_ms\": %.1f", update));
  PetscCall(PetscPrintf(comm, ", \"turns\": %d}\n", (int)turns));
  PetscFunctionReturn((PetscErrorCode)0);
}

static PetscErrorCode time_settings(const char *path, double cut, timing *t) {
  MPI_Comm comm = PetscObjectComm((PetscObject)t->mat);
  char line[1024], *all;
  PetscMPIInt rank;
  FILE *file = NULL;
  int there = 1;
  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCall(PetscOptionsGetAll(NULL, &all));
  if (rank == 0) {
    file = fopen(path, "r");
    PetscCheck(file, PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN, "%s", path);
  }
  for (;;) {
    if (rank == 0) there = fgets(line, sizeof line, file) != NULL;
    PetscCallMPI(MPI_Bcast(&there, 1, MPI_INT, 0, comm));
    if (!there) break;
    PetscCallMPI(MPI_Bcast(line, sizeof line, MPI_CHAR, 0, comm));
    char *options = strchr(line, ':');
    PetscCheck(options, comm, PETSC_ERR_FILE_UNEXPECTED, "no colon in %s", line);
    *options++ = '\0';
    options[strcspn(options, "\n")] = '\0';
    PetscCall(PetscOptionsInsertString(NULL, options));
    PetscCall(time_setting(line, cut, t));
    PetscCall(PetscOptionsClear(NULL));
    PetscCall(PetscOptionsInsertString(NULL, all));
  }
  if (file) fclose(file);
  PetscCall(PetscFree(all));
  PetscFunctionReturn((PetscErrorCode)0);
}

static PetscErrorCode run(void) {
  MPI_Comm comm = PETSC_COMM_WORLD;
  char name[32] = "cavity", parts[32] = "grid", path[PETSC_MAX_PATH_LEN] = "";
  PetscInt size = 24;
  PetscReal cut = 0;
  PetscBool given;
  parted_problem p;
  parted_rows rows;
  timing t = {.problem = &p, .rows = &rows, .turns = 3, .most = INFINITY};
  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetString(NULL, NULL, "-case", name, sizeof name, NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-parts", parts, sizeof parts, NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-settings", path, sizeof path, &given));
  PetscCheck(given, comm, PETSC_ERR_USER_INPUT, "-settings FILE is missing");
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-size", &size, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-turns", &t.turns, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-cut", &cut, NULL));
  PetscCall(parted_check(parts));
  PetscCall(parted_make(name, size, &p));
  PetscCall(parted_cut(comm, &p, parts, &rows));
  PetscCall(parted_mat(comm, &p, &rows, &t.mat));
  PetscCall(MatCreateVecs(t.mat, &t.x, &t.b));
  PetscCall(parted_vector(&p, &rows, p.rhs, t.b));
  PetscCall(time_settings(path, cut, &t));
  PetscCall(MatDestroy(&t.mat));
  PetscCall(MatDestroy(&t.points));
  PetscCall(VecDestroy(&t.b));
  PetscCall(VecDestroy(&t.x));
  PetscCall(parted_uncut(&rows));
  parted_free(&p);
  PetscFunctionReturn((PetscErrorCode)0);
}

int main(int argc, char **argv) {
  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  PetscCall(bisai_petsc_register());
  PetscCall(run());
  PetscCall(PetscFinalize());
  return 0;
}
