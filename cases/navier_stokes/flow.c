/* SPDX-License-Identifier: BSD-3-Clause */
/* The discrete equations and their derivative (README.md). With hx, hy the distances of the nodes,
 * P the node of the equation and W, E, S, N its neighbours, these are the rows of node (i, j):
 *
 *   u:  −hx hy (∇²u + ∂ω/∂y) = 0        on the walls x = 0, 1: u = 0;  j = my−1: u_P + u_S = 2 lid
 *   v:  −hx hy (∇²v − ∂ω/∂x) = 0        on the walls y = 0, 1: v = 0;  i = mx−1: v_P + v_W = 0
 *   ω:  −hx hy (∇²ω − Re (u ∂ω/∂x + v ∂ω/∂y)) = 0        on the walls: ω = ∂v/∂x − ∂u/∂y (Thom)
 *
 * Unknowns outside of the domain reflect the wall: u below y = 0 is −u_P, and the last row of u,
 * above y = 1, is stored as an unknown. */
#include "flow.h"

#include <petscdmda.h>

enum { U, V, OMEGA };

/* The grid, and the coefficients of −hx hy ∇². */
typedef struct grid {
  PetscInt mx, my;
  PetscReal hx, hy, across, upward, diagonal;
} grid;

static grid grid_of(const DMDALocalInfo *info) {
  grid g = {.mx = info->mx, .my = info->my};
  g.hx = 1.0 / (PetscReal)(g.mx - 1);
  g.hy = 1.0 / (PetscReal)(g.my - 1);
  g.across = g.hy / g.hx;
  g.upward = g.hx / g.hy;
  g.diagonal = 2 * (g.across + g.upward);
  return g;
}

/* Returns true for the nodes whose row of u, or of v, is a boundary condition. */
static PetscBool u_is_given(const grid *g, PetscInt i, PetscInt j) {
  return (i == 0 || i == g->mx - 1 || j == g->my - 1) ? PETSC_TRUE : PETSC_FALSE;
}

static PetscBool v_is_given(const grid *g, PetscInt i, PetscInt j) {
  return (j == 0 || j == g->my - 1 || i == g->mx - 1) ? PETSC_TRUE : PETSC_FALSE;
}

static PetscBool on_wall(const grid *g, PetscInt i, PetscInt j) {
  return (i == 0 || i == g->mx - 1 || j == 0 || j == g->my - 1) ? PETSC_TRUE : PETSC_FALSE;
}

static PetscBool in_corner(const grid *g, PetscInt i, PetscInt j) {
  return ((i == 0 || i == g->mx - 1) && (j == 0 || j == g->my - 1)) ? PETSC_TRUE : PETSC_FALSE;
}

/* The velocities around node (i, j): those below and to the left of it lie outside of the domain if
 * the node is on the lower or left wall. */
static PetscScalar u_below(flow_node **x, PetscInt i, PetscInt j) {
  return j > 0 ? x[j - 1][i].u : -x[j][i].u;
}

static PetscScalar v_left(flow_node **x, PetscInt i, PetscInt j) {
  return i > 0 ? x[j][i - 1].v : -x[j][i].v;
}

static PetscScalar residual_u(const grid *g, flow_node **x, PetscInt i, PetscInt j) {
  const PetscScalar p = x[j][i].u;
  if (i == 0 || i == g->mx - 1) return p;
  if (j == g->my - 1) return p + x[j - 1][i].u - 2;
  return g->diagonal * p - g->across * (x[j][i - 1].u + x[j][i + 1].u) -
         g->upward * (u_below(x, i, j) + x[j + 1][i].u) -
         g->hx * (x[j + 1][i].omega - x[j][i].omega);
}

static PetscScalar residual_v(const grid *g, flow_node **x, PetscInt i, PetscInt j) {
  const PetscScalar p = x[j][i].v;
  if (j == 0 || j == g->my - 1) return p;
  if (i == g->mx - 1) return p + x[j][i - 1].v;
  return g->diagonal * p - g->across * (v_left(x, i, j) + x[j][i + 1].v) -
         g->upward * (x[j - 1][i].v + x[j + 1][i].v) + g->hy * (x[j][i + 1].omega - x[j][i].omega);
}

static PetscScalar curl(const grid *g, flow_node **x, PetscInt i, PetscInt j) {
  return (x[j][i].v - v_left(x, i, j)) / g->hx - (x[j][i].u - u_below(x, i, j)) / g->hy;
}

static PetscScalar residual_omega(const grid *g, PetscReal reynolds, flow_node **x, PetscInt i,
                                  PetscInt j) {
  const PetscScalar p = x[j][i].omega;
  if (in_corner(g, i, j)) return p;
  if (on_wall(g, i, j)) return p - curl(g, x, i, j);
  const PetscScalar u = 0.5 * (x[j][i].u + x[j - 1][i].u), v = 0.5 * (x[j][i].v + x[j][i - 1].v),
                    west = x[j][i - 1].omega, east = x[j][i + 1].omega, south = x[j - 1][i].omega,
                    north = x[j + 1][i].omega;
  return g->diagonal * p - g->across * (west + east) - g->upward * (south + north) +
         0.5 * reynolds * (g->hy * u * (east - west) + g->hx * v * (north - south));
}

static PetscErrorCode compute_residual(DMDALocalInfo *info, void *unknowns, void *residuals,
                                       void *context) {
  const flow *f = context;
  const grid g = grid_of(info);
  flow_node **x = unknowns, **r = residuals;
  PetscFunctionBeginUser;
  for (PetscInt j = info->ys; j < info->ys + info->ym; j++)
    for (PetscInt i = info->xs; i < info->xs + info->xm; i++) {
      r[j][i].u = residual_u(&g, x, i, j);
      r[j][i].v = residual_v(&g, x, i, j);
      r[j][i].omega = residual_omega(&g, f->reynolds, x, i, j);
    }
  PetscFunctionReturn((PetscErrorCode)0);
}

/* The blocks of a row of the five-point stencil, each row by row as MatSetValuesBlockedStencil()
 * reads them. */
enum { P, W, E, S, N, POINTS };
typedef PetscScalar star[POINTS][FLOW_UNKNOWNS][FLOW_UNKNOWNS];

static void put_laplacian(const grid *g, int unknown, star s) {
  s[P][unknown][unknown] = g->diagonal;
  s[W][unknown][unknown] = s[E][unknown][unknown] = -g->across;
  s[S][unknown][unknown] = s[N][unknown][unknown] = -g->upward;
}

static void slopes_u(const grid *g, PetscInt i, PetscInt j, star s) {
  if (u_is_given(g, i, j)) {
    s[P][U][U] = 1;
    if (i > 0 && i < g->mx - 1) s[S][U][U] = 1;
    return;
  }
  put_laplacian(g, U, s);
  if (j == 0) s[P][U][U] += g->upward;
  s[P][U][OMEGA] = g->hx;
  s[N][U][OMEGA] = -g->hx;
}

static void slopes_v(const grid *g, PetscInt i, PetscInt j, star s) {
  if (v_is_given(g, i, j)) {
    s[P][V][V] = 1;
    if (j > 0 && j < g->my - 1) s[W][V][V] = 1;
    return;
  }
  put_laplacian(g, V, s);
  if (i == 0) s[P][V][V] += g->across;
  s[P][V][OMEGA] = -g->hy;
  s[E][V][OMEGA] = g->hy;
}

static void slopes_omega(const grid *g, PetscReal reynolds, flow_node **x, PetscInt i, PetscInt j,
                         star s) {
  if (on_wall(g, i, j)) {
    s[P][OMEGA][OMEGA] = 1;
    if (in_corner(g, i, j)) return;
    s[P][OMEGA][U] = (j > 0 ? 1 : 2) / g->hy;
    s[P][OMEGA][V] = -(i > 0 ? 1 : 2) / g->hx;
    s[S][OMEGA][U] = -1 / g->hy;
    s[W][OMEGA][V] = 1 / g->hx;
    return;
  }
  const PetscScalar across = 0.25 * reynolds * g->hy, upward = 0.25 * reynolds * g->hx,
                    u = x[j][i].u + x[j - 1][i].u, v = x[j][i].v + x[j][i - 1].v;
  put_laplacian(g, OMEGA, s);
  s[E][OMEGA][OMEGA] += across * u;
  s[W][OMEGA][OMEGA] -= across * u;
  s[N][OMEGA][OMEGA] += upward * v;
  s[S][OMEGA][OMEGA] -= upward * v;
  s[P][OMEGA][U] = s[S][OMEGA][U] = across * (x[j][i + 1].omega - x[j][i - 1].omega);
  s[P][OMEGA][V] = s[W][OMEGA][V] = upward * (x[j + 1][i].omega - x[j - 1][i].omega);
}

/* Writes the block row of a node. Every block of the stencil on the grid is stored, zeros too. */
static PetscErrorCode set_block_row(const grid *g, PetscInt i, PetscInt j, star s, Mat matrix) {
  const PetscInt columns[POINTS][2] = {
      [P] = {i, j}, [W] = {i - 1, j}, [E] = {i + 1, j}, [S] = {i, j - 1}, [N] = {i, j + 1}};
  const MatStencil row = {.i = i, .j = j};
  PetscFunctionBeginUser;
  for (int point = 0; point < POINTS; point++) {
    const MatStencil column = {.i = columns[point][0], .j = columns[point][1]};
    if (column.i < 0 || column.i >= g->mx || column.j < 0 || column.j >= g->my) continue;
    PetscCall(MatSetValuesBlockedStencil(matrix, 1, &row, 1, &column, s[point][0], INSERT_VALUES));
  }
  PetscFunctionReturn((PetscErrorCode)0);
}

static PetscErrorCode compute_jacobian(DMDALocalInfo *info, void *unknowns, Mat product,
                                       Mat jacobian, void *context) {
  const flow *f = context;
  const grid g = grid_of(info);
  flow_node **x = unknowns;
  PetscFunctionBeginUser;
  for (PetscInt j = info->ys; j < info->ys + info->ym; j++)
    for (PetscInt i = info->xs; i < info->xs + info->xm; i++) {
      star s = {{{0}}};
      slopes_u(&g, i, j, s);
      slopes_v(&g, i, j, s);
      slopes_omega(&g, f->reynolds, x, i, j, s);
      PetscCall(set_block_row(&g, i, j, s, jacobian));
    }
  PetscCall(MatAssemblyBegin(jacobian, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(jacobian, MAT_FINAL_ASSEMBLY));
  if (product != jacobian) { /* -snes_mf_operator */
    PetscCall(MatAssemblyBegin(product, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(product, MAT_FINAL_ASSEMBLY));
  }
  PetscFunctionReturn((PetscErrorCode)0);
}

PetscErrorCode flow_create(MPI_Comm comm, PetscInt nodes, flow *f, SNES *snes) {
  DM da;
  KSP ksp;
  DMDALocalInfo info;
  PetscFunctionBeginUser;
  PetscCall(DMDACreate2d(comm, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, nodes, nodes,
                         PETSC_DECIDE, PETSC_DECIDE, FLOW_UNKNOWNS, 1, NULL, NULL, &da));
  PetscCall(DMSetFromOptions(da));
  PetscCall(DMSetUp(da));
  PetscCall(DMDAGetLocalInfo(da, &info));
  PetscCheck(info.mx >= 3 && info.my >= 3, comm, PETSC_ERR_ARG_OUTOFRANGE,
             "the cavity needs at least 3 nodes in each direction, and has %" PetscInt_FMT
             " × %" PetscInt_FMT,
             info.mx, info.my);
  PetscCall(DMDASetFieldName(da, U, "u"));
  PetscCall(DMDASetFieldName(da, V, "v"));
  PetscCall(DMDASetFieldName(da, OMEGA, "omega"));
  PetscCall(DMDASNESSetFunctionLocal(da, INSERT_VALUES, compute_residual, f));
  PetscCall(DMDASNESSetJacobianLocal(da, compute_jacobian, f));
  PetscCall(SNESCreate(comm, snes));
  PetscCall(SNESSetDM(*snes, da));
  PetscCall(DMDestroy(&da));
  /* GMRES then reports true residuals, whatever the preconditioner is */
  PetscCall(SNESGetKSP(*snes, &ksp));
  PetscCall(KSPSetPCSide(ksp, PC_RIGHT));
  PetscCall(SNESSetFromOptions(*snes));
  PetscFunctionReturn((PetscErrorCode)0);
}

PetscErrorCode flow_defects(SNES snes, Vec x, PetscReal *divergence, PetscReal *curl_defect) {
  DM da;
  DMDALocalInfo info;
  Vec local;
  flow_node **a;
  PetscReal largest[2] = {0, 0};
  PetscFunctionBeginUser;
  PetscCall(SNESGetDM(snes, &da));
  PetscCall(DMDAGetLocalInfo(da, &info));
  const grid g = grid_of(&info);
  PetscCall(DMGetLocalVector(da, &local));
  PetscCall(DMGlobalToLocal(da, x, INSERT_VALUES, local));
  PetscCall(DMDAVecGetArrayRead(da, local, &a));
  for (PetscInt j = info.ys; j < info.ys + info.ym; j++)
    for (PetscInt i = info.xs; i < info.xs + info.xm; i++) {
      if (i < g.mx - 1 && j < g.my - 1)
        largest[0] = PetscMax(largest[0], PetscAbsReal((a[j][i + 1].u - a[j][i].u) / g.hx +
                                                       (a[j + 1][i].v - a[j][i].v) / g.hy));
      if (!in_corner(&g, i, j))
        largest[1] = PetscMax(largest[1], PetscAbsReal(a[j][i].omega - curl(&g, a, i, j)));
    }
  PetscCall(DMDAVecRestoreArrayRead(da, local, &a));
  PetscCall(DMRestoreLocalVector(da, &local));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, largest, 2, MPIU_REAL, MPIU_MAX,
                             PetscObjectComm((PetscObject)da)));
  *divergence = largest[0];
  *curl_defect = largest[1];
  PetscFunctionReturn((PetscErrorCode)0);
}

/* Places of the profile: the wall 0, midpoints between nodes, the wall 1. */
static void place(PetscInt nodes, PetscReal *at) {
  at[0] = 0;
  for (PetscInt k = 1; k < nodes; k++) at[k] = ((PetscReal)k - 0.5) / (PetscReal)(nodes - 1);
  at[nodes] = 1;
}

PetscErrorCode flow_get_profile(SNES snes, Vec x, flow_profile *p) {
  DM da;
  DMDALocalInfo info;
  flow_node **a;
  PetscFunctionBeginUser;
  PetscCall(SNESGetDM(snes, &da));
  PetscCall(DMDAGetLocalInfo(da, &info));
  PetscCheck(info.mx % 2 == 1 && info.my % 2 == 1, PetscObjectComm((PetscObject)da),
             PETSC_ERR_ARG_OUTOFRANGE,
             "the profile needs odd numbers of nodes, and there are %" PetscInt_FMT
             " × %" PetscInt_FMT,
             info.mx, info.my);
  p->heights = info.my + 1;
  p->widths = info.mx + 1;
  PetscCall(PetscCalloc4(p->heights, &p->height, p->heights, &p->u, p->widths, &p->width, p->widths,
                         &p->v));
  place(info.my, p->height);
  place(info.mx, p->width);
  PetscCall(DMDAVecGetArrayRead(da, x, &a));
  for (PetscInt j = info.ys; j < info.ys + info.ym; j++)
    for (PetscInt i = info.xs; i < info.xs + info.xm; i++) {
      if (2 * i == info.mx - 1 && j < info.my - 1) p->u[j + 1] = a[j][i].u;
      if (2 * j == info.my - 1 && i < info.mx - 1) p->v[i + 1] = a[j][i].v;
    }
  PetscCall(DMDAVecRestoreArrayRead(da, x, &a));
  /* a rank has zeros where another one has the velocity */
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, p->u, (PetscMPIInt)p->heights, MPIU_REAL, MPIU_SUM,
                             PetscObjectComm((PetscObject)da)));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, p->v, (PetscMPIInt)p->widths, MPIU_REAL, MPIU_SUM,
                             PetscObjectComm((PetscObject)da)));
  p->u[p->heights - 1] = 1;
  PetscFunctionReturn((PetscErrorCode)0);
}

PetscErrorCode flow_profile_free(flow_profile *p) {
  PetscFunctionBeginUser;
  PetscCall(PetscFree4(p->height, p->u, p->width, p->v));
  PetscFunctionReturn((PetscErrorCode)0);
}
