/* SPDX-License-Identifier: BSD-3-Clause */
/* The lid-driven cavity at growing Reynolds numbers by Newton's method, on any number of ranks and
 * in any kind of memory (README.md). PETSc's options choose the solver.
 *   -nodes N            nodes in each direction, 129
 *   -reynolds R1,R2,…   in this order, each from the solution of the one before: 0,100,400,1000
 *   -refresh WORD       step: as -snes_lag_preconditioner says; growth: when iterations have grown
 *                       by half
 *   -measure COUNT      set-ups and refreshes to time at the end, 0
 *   -profiles PREFIX    writes the velocities along the centre lines to PREFIX-Re.txt
 * The exit status is 1 if Newton's method does not converge. */
#include <petscdmda.h>

#include "flow.h"
#include "ghia.h"
#include "refresh.h"

enum { MOST_NUMBERS = 32 };

typedef struct options {
  PetscInt nodes, numbers, measure;
  PetscReal reynolds[MOST_NUMBERS];
  refresh_policy policy;
  char profiles[PETSC_MAX_PATH_LEN];
} options;

static PetscErrorCode read_options(options *o) {
  const char *words[] = {"step", "growth", "refresh_policy", "REFRESH_", NULL};
  const PetscReal usual[] = {0, 100, 400, 1000};
  PetscEnum policy = (PetscEnum)REFRESH_STEP;
  PetscBool given;
  PetscFunctionBeginUser;
  *o = (options){.nodes = 129, .numbers = MOST_NUMBERS};
  PetscOptionsBegin(PETSC_COMM_WORLD, NULL, "Lid-driven cavity", NULL);
  PetscCall(PetscOptionsInt("-nodes", "in each direction", NULL, o->nodes, &o->nodes, NULL));
  PetscCall(PetscOptionsRealArray("-reynolds", "Reynolds numbers, in this order", NULL, o->reynolds,
                                  &o->numbers, &given));
  PetscCall(PetscOptionsEnum("-refresh", "when to refresh the preconditioner", NULL, words, policy,
                             &policy, NULL));
  PetscCall(PetscOptionsInt("-measure", "set-ups and refreshes to time", NULL, o->measure,
                            &o->measure, NULL));
  PetscCall(PetscOptionsString("-profiles", "prefix of the files of velocities", NULL, "",
                               o->profiles, sizeof o->profiles, NULL));
  PetscOptionsEnd();
  if (!given) {
    o->numbers = sizeof usual / sizeof usual[0];
    PetscCall(PetscArraycpy(o->reynolds, usual, o->numbers));
  }
  for (PetscInt k = 0; k < o->numbers; k++)
    PetscCheck(o->reynolds[k] >= 0 && !PetscIsInfOrNanReal(o->reynolds[k]), PETSC_COMM_WORLD,
               PETSC_ERR_ARG_OUTOFRANGE, "-reynolds: %g is not a finite number of at least 0",
               (double)o->reynolds[k]);
  PetscCheck(o->measure >= 0, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE,
             "-measure: %" PetscInt_FMT " is not a number of at least 0", o->measure);
  o->policy = (refresh_policy)policy;
  PetscFunctionReturn((PetscErrorCode)0);
}

static PetscErrorCode compare(const char *name, const ghia_column *column, PetscInt count,
                              const PetscReal *places, const PetscReal *values) {
  int where = 0;
  PetscFunctionBeginUser;
  const PetscReal difference = ghia_difference(column, count, places, values, &where);
  PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                        "  %s differs from Ghia et al. by at most %.4f, at %.4f\n", name,
                        (double)difference, column->place[where]));
  if (column->misprint >= 0) {
    const double at = column->place[column->misprint];
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "  %s at %.4f is %.5f, where they misprint %.5f\n",
                          name, at, (double)ghia_interpolate(count, places, values, at),
                          column->value[column->misprint]));
  }
  PetscFunctionReturn((PetscErrorCode)0);
}

/* Writes lines "y u" and, after two empty lines, "x v"; then the same of Ghia et al. if they have
 * this Reynolds number, with a third column: 1 for a misprint, otherwise 0. */
static PetscErrorCode write_profile(const char *prefix, const char *reynolds, const flow_profile *p,
                                    PetscBool tabulated, const ghia_column column[2]) {
  char name[PETSC_MAX_PATH_LEN + 64];
  FILE *file;
  PetscFunctionBeginUser;
  PetscCall(PetscSNPrintf(name, sizeof name, "%s-%s.txt", prefix, reynolds));
  PetscCall(PetscFOpen(PETSC_COMM_WORLD, name, "w", &file));
  for (PetscInt k = 0; k < p->heights; k++)
    PetscCall(
        PetscFPrintf(PETSC_COMM_WORLD, file, "%.6f %.8f\n", (double)p->height[k], (double)p->u[k]));
  PetscCall(PetscFPrintf(PETSC_COMM_WORLD, file, "\n\n"));
  for (PetscInt k = 0; k < p->widths; k++)
    PetscCall(
        PetscFPrintf(PETSC_COMM_WORLD, file, "%.6f %.8f\n", (double)p->width[k], (double)p->v[k]));
  for (int c = 0; tabulated && c < 2; c++) {
    PetscCall(PetscFPrintf(PETSC_COMM_WORLD, file, "\n\n"));
    for (int k = 0; k < GHIA_POINTS; k++)
      PetscCall(PetscFPrintf(PETSC_COMM_WORLD, file, "%.6f %.5f %d\n", column[c].place[k],
                             column[c].value[k], k == column[c].misprint));
  }
  PetscCall(PetscFClose(PETSC_COMM_WORLD, file));
  PetscFunctionReturn((PetscErrorCode)0);
}

/* Says how Newton's method ended, and how far the flow is from that of Ghia et al. `name` is the
 * Reynolds number in the name of the file. */
static PetscErrorCode report(SNES snes, Vec x, PetscReal reynolds, const char *name,
                             const char *profiles) {
  SNESConvergedReason reason;
  PetscInt steps, iterations;
  flow_profile p;
  ghia_column column[2];
  PetscFunctionBeginUser;
  PetscCall(SNESGetConvergedReason(snes, &reason));
  PetscCall(SNESGetIterationNumber(snes, &steps));
  PetscCall(SNESGetLinearSolveIterations(snes, &iterations));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                        "  %" PetscInt_FMT " steps, %" PetscInt_FMT " iterations: %s\n", steps,
                        iterations, SNESConvergedReasons[reason]));
  const PetscBool tabulated = ghia_find(reynolds, &column[0], &column[1]);
  if (reason < 0 || (!tabulated && !*profiles)) PetscFunctionReturn((PetscErrorCode)0);
  PetscCall(flow_get_profile(snes, x, &p));
  if (tabulated) {
    PetscCall(compare("u", &column[0], p.heights, p.height, p.u));
    PetscCall(compare("v", &column[1], p.widths, p.width, p.v));
  }
  if (*profiles) PetscCall(write_profile(profiles, name, &p, tabulated, column));
  PetscCall(flow_profile_free(&p));
  PetscFunctionReturn((PetscErrorCode)0);
}

static PetscErrorCode run(PetscBool *converged) {
  options o;
  flow f;
  refresh r = {0};
  SNES snes;
  DM da;
  Vec x;
  SNESConvergedReason reason = SNES_CONVERGED_ITERATING;
  char name[32];
  PetscFunctionBeginUser;
  PetscCall(read_options(&o));
  r.policy = o.policy;
  PetscCall(flow_create(PETSC_COMM_WORLD, o.nodes, &f, &snes));
  PetscCall(refresh_watch(snes, &r));
  PetscCall(SNESGetDM(snes, &da));
  PetscCall(DMCreateGlobalVector(da, &x));
  *converged = PETSC_TRUE;
  for (PetscInt k = 0; k < o.numbers && *converged; k++) {
    f.reynolds = o.reynolds[k];
    snprintf(name, sizeof name, "%g", (double)f.reynolds); /* PETSc prints 100 as "100." */
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "Re = %s\n", name));
    PetscCall(SNESSolve(snes, NULL, x));
    PetscCall(SNESGetConvergedReason(snes, &reason));
    *converged = reason > 0 ? PETSC_TRUE : PETSC_FALSE;
    PetscCall(report(snes, x, f.reynolds, name, o.profiles));
  }
  if (o.measure > 0 && *converged) PetscCall(refresh_measure(snes, x, o.measure));
  PetscCall(VecDestroy(&x));
  PetscCall(SNESDestroy(&snes));
  PetscFunctionReturn((PetscErrorCode)0);
}

int main(int argc, char **argv) {
  PetscBool converged = PETSC_FALSE;
  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  PetscCall(PetscLogDefaultBegin());
  PetscCall(run(&converged));
  PetscCall(PetscFinalize());
  return !converged;
}
