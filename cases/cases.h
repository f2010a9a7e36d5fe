/* SPDX-License-Identifier: BSD-3-Clause */
/* The cases that the command-line program and the tests solve: systems from a formula, and matrices
 * that are known by name.
 *
 * A system from a formula is a BCSR matrix and its right-hand side. The right-hand side has
 * block_rows·bs values on the host, which are zero in padding rows. The caller frees it with
 * free(). block_size = 0 means the block size of the case. Any other size cuts the same scalar
 * system into other blocks. If that size does not divide the number of rows, an identity pads the
 * system. */
#ifndef BISAI_CASES_H
#define BISAI_CASES_H

#include <stdint.h>

#include <bisai/bcsr.h>

enum {
  CASE_ATMOSPHERE_BLOCK_SIZE = 4,
  CASE_CAVITY_BLOCK_SIZE = 3,
  CASE_CONVDIFF_BLOCK_SIZE = 4,
  CASE_ELASTICITY_BLOCK_SIZE = 3,
  CASE_EULER_BLOCK_SIZE = 4,
  CASE_REACTION_BLOCK_SIZE = 2,
  CASE_SHELL_BLOCK_SIZE = 5
};

/* The form of the clamped face x = 0 of elasticity. Rows and columns of clamped unknowns are those
 * of the identity, or there are none. CASE_CLAMPED_NOWHERE leaves the cube free, and the matrix
 * singular. */
typedef enum case_clamped {
  CASE_CLAMPED_IDENTITY,
  CASE_CLAMPED_ELIMINATED,
  CASE_CLAMPED_NOWHERE
} case_clamped;

/* Start from case_elasticity_options_default(), which leaves `nodes` to the caller. */
typedef struct case_elasticity_options {
  /* in x, y and z, at least 2 each, those of the clamped face included */
  int32_t nodes[3];
  /* E of the ball in the middle; E is 1 elsewhere. Greater than 0; default 1 */
  double contrast;
  /* default CASE_CLAMPED_IDENTITY */
  case_clamped clamped;
} case_elasticity_options;

case_elasticity_options case_elasticity_options_default(void);

/* Start from case_euler_options_default(), which leaves `nodes` to the caller. */
typedef struct case_euler_options {
  /* across the channel, at least 4; there are 3/2 times as many along it */
  int32_t nodes;
  /* of the local pseudo-time step, greater than 0; default 1000 */
  double cfl;
} case_euler_options;

case_euler_options case_euler_options_default(void);

/* Start from case_reservoir_options_default(), which leaves `cells` to the caller. */
typedef struct case_reservoir_options {
  /* in x, y and z, 2 to 1000 each */
  int32_t cells[3];
  /* 2: oil and water; 3: and gas, free and dissolved. The block size; default 2 */
  int components;
  /* length of the time step in days, greater than 0; default 10 */
  double step;
} case_reservoir_options;

case_reservoir_options case_reservoir_options_default(void);

/* The supports of the shell: those of a quarter of the roof, or none, which leaves the matrix of a
 * static shell singular. */
typedef enum case_shell_supports { CASE_SHELL_ROOF, CASE_SHELL_FREE } case_shell_supports;

/* Start from case_shell_options_default(), which leaves `nodes` to the caller. */
typedef struct case_shell_options {
  /* along the arc and along the axis, at least 2 each */
  int32_t nodes[2];
  /* of the arc in degrees, 0 (a plate) to 90; default 40 */
  double angle;
  /* time step in seconds; 0, the default, leaves out the inertia */
  double step;
  /* default CASE_SHELL_ROOF */
  case_shell_supports supports;
} case_shell_options;

case_shell_options case_shell_options_default(void);

/* Returns why a case of this size cannot be made, or NULL. */
const char *case_atmosphere_refusal(int32_t nx, int32_t ny, int32_t nz);
const char *case_cavity_refusal(int32_t n);
const char *case_convdiff_refusal(int32_t nx, int32_t ny, int32_t nz);
const char *case_elasticity_refusal(const case_elasticity_options *options);
const char *case_euler_refusal(const case_euler_options *options);
const char *case_reaction_refusal(int32_t n);
const char *case_reservoir_refusal(const case_reservoir_options *options);
const char *case_shell_refusal(const case_shell_options *options);

/* Makes the spread of a pollutant in the atmosphere on nx × ny × nz cells. Returns
 * BISAI_INVALID_ARGUMENT if case_atmosphere_refusal() gives a reason. */
bisai_status case_atmosphere(bisai_context *context, int32_t nx, int32_t ny, int32_t nz,
                             int32_t block_size, bisai_bcsr **matrix, double **rhs);

/* Makes the lid-driven cavity on n × n nodes. Returns BISAI_INVALID_ARGUMENT if
 * case_cavity_refusal() gives a reason. */
bisai_status case_cavity(bisai_context *context, int32_t n, int32_t block_size, bisai_bcsr **matrix,
                         double **rhs);

/* Makes convection-diffusion on nx × ny × nz points. Returns BISAI_INVALID_ARGUMENT if
 * case_convdiff_refusal() gives a reason. */
bisai_status case_convdiff(bisai_context *context, int32_t nx, int32_t ny, int32_t nz,
                           int32_t block_size, bisai_bcsr **matrix, double **rhs);

/* Makes linear elasticity on a cube of trilinear hexahedra. Returns BISAI_INVALID_ARGUMENT if
 * case_elasticity_refusal() gives a reason. */
bisai_status case_elasticity(bisai_context *context, const case_elasticity_options *options,
                             int32_t block_size, bisai_bcsr **matrix, double **rhs);

enum { CASE_ELASTICITY_MODES = 6 };

/* Makes the rigid-body modes of elasticity, which are its near-null-space vectors: translations
 * along x, y, z and rotations about the axes through the centre that are parallel to x, y, z. Mode
 * m has the values modes[m·n] … modes[m·n + n − 1], where n is the number of rows of the matrix
 * without padding. Nodes of the clamped face have the values of the motion too. The caller frees
 * them with free(). */
bisai_status case_elasticity_modes(const case_elasticity_options *options, double **modes);

/* Makes an implicit pseudo-time step of compressible flow over a bump in a channel. Returns
 * BISAI_INVALID_ARGUMENT if case_euler_refusal() gives a reason. */
bisai_status case_euler(bisai_context *context, const case_euler_options *options,
                        int32_t block_size, bisai_bcsr **matrix, double **rhs);

/* Makes the state at the beginning of the step, a block of unknowns for each node, and the residual
 * of the steady equations at a state. Without the pseudo-time term, the matrix is the derivative of
 * the residual at the first state, and the right-hand side is the negative residual. The caller
 * frees both with free(). */
bisai_status case_euler_state(const case_euler_options *options, double **state);
bisai_status case_euler_residual(const case_euler_options *options, const double *state,
                                 double **residual);

/* Makes anisotropic diffusion with jumps and a reaction of two components on n × n cells. Returns
 * BISAI_INVALID_ARGUMENT if case_reaction_refusal() gives a reason. */
bisai_status case_reaction(bisai_context *context, int32_t n, int32_t block_size,
                           bisai_bcsr **matrix, double **rhs);

/* Makes the first Newton step of a time step of multiphase flow in a reservoir, in blocks of
 * `components`. Returns BISAI_INVALID_ARGUMENT if case_reservoir_refusal() gives a reason. */
bisai_status case_reservoir(bisai_context *context, const case_reservoir_options *options,
                            int32_t block_size, bisai_bcsr **matrix, double **rhs);

/* Makes the state at the beginning of the step, a block of unknowns for each cell, and the residual
 * of the equations at a state. The matrix is the derivative of the residual at the first state, and
 * the right-hand side is the negative residual. The caller frees both with free(). */
bisai_status case_reservoir_state(const case_reservoir_options *options, double **state);
bisai_status case_reservoir_residual(const case_reservoir_options *options, const double *state,
                                     double **residual);

/* Makes a cylindrical shell roof of flat triangles under its weight. Returns BISAI_INVALID_ARGUMENT
 * if case_shell_refusal() gives a reason. */
bisai_status case_shell(bisai_context *context, const case_shell_options *options,
                        int32_t block_size, bisai_bcsr **matrix, double **rhs);

enum { CASE_SHELL_MODES = 6 };

/* Makes the rigid-body modes of the shell, as case_elasticity_modes() makes those of elasticity. */
bisai_status case_shell_modes(const case_shell_options *options, double **modes);

/* A system in host memory: blocks and right-hand side are zeros at first. */
typedef struct case_arrays {
  int32_t *row_ptr, *col_idx;
  double *values, *rhs;
} case_arrays;

/* A square system of `rows` block rows with `blocks` blocks of bs × bs. */
typedef struct case_system {
  size_t rows, blocks;
  int32_t bs;
  /* fills the arrays of the system that `of` describes */
  bisai_status (*fill)(const void *of, const case_arrays *a);
  const void *of;
} case_system;

/* Makes a system with blocks of block_size; 0: with its own blocks. */
bisai_status case_make(bisai_context *context, const case_system *system, int32_t block_size,
                       bisai_bcsr **matrix, double **rhs);

/* Returns the entries of the seven-point stencil on a box, or 0 if there are more than 2³¹ − 1. */
int64_t case_seven_points_entries(const int32_t size[3]);

/* Computes a row: the coefficients of the neighbours that are lower in z, y and x, of the point
 * itself, and of those that are higher in x, y and z. Those beyond the boundary are dropped. */
typedef void case_seven_points_row(const int32_t size[3], const int32_t at[3],
                                   double coefficient[7], double *rhs);

/* Makes a system with one unknown at each point of a box, x fastest, in blocks of the given size.
 * An identity pads the last block. Returns BISAI_INVALID_ARGUMENT if the entries are too many. */
bisai_status case_seven_points(bisai_context *context, const int32_t size[3],
                               case_seven_points_row *row_of, int32_t block_size,
                               bisai_bcsr **matrix, double **rhs);

/* The pattern of ni × nj nodes whose squares are cut into two triangles from node (i, j) to
 * (i + 1, j + 1): each row has the up to seven nodes that share a triangle with the node. Node (i,
 * j) is row j·ni + i. */
int64_t case_triangles_blocks(int32_t ni, int32_t nj);
void case_triangles_pattern(int32_t ni, int32_t nj, int32_t *row_ptr, int32_t *col_idx);

/* Makes the same square fp64 matrix in blocks of another size. The given matrix has no padding. 0:
 * the size of bisai_block_size_choose(). */
bisai_status case_reblock(bisai_context *context, const bisai_bcsr *matrix, int32_t block_size,
                          bisai_bcsr **result);

/* The paper's parameters for a matrix of the SuiteSparse collection (https://sparse.tamu.edu). */
typedef struct case_suitesparse {
  const char *name;
  const char *group;
  int32_t block_size;
  double tolerance;
  /* address of the archive that holds <name>/<name>.mtx */
  const char *address;
} case_suitesparse;

/* Returns the matrix with this file name, or NULL. Folders and the extensions .mtx and .tar,
 * compressed or not, are ignored. */
const case_suitesparse *case_suitesparse_find(const char *path);

#endif
