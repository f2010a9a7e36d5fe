/* SPDX-License-Identifier: BSD-3-Clause */
/* The fuzz target of the C interface: random systems through every preconditioner and solver, and
 * what must hold for all of them.
 *
 * An input is a sequence of bytes. Each byte answers one question (which kind? how many rows? which
 * value becomes zero?) and a missing byte answers 0, so that every sequence is a case and a small
 * change of a sequence is a small change of the case. Bulk values come from a generator that is
 * seeded by two bytes. */
#ifndef BISAI_FUZZ_API_H
#define BISAI_FUZZ_API_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <bisai/bisai.h>

/* --- the case that is running, and what broke (api_report.c) --- */

/* Names the input for messages: "seed 17", "this input". Forgets the scene. */
void fuzz_case(const char *name, const uint8_t *data, size_t bytes);
/* Describes what is done next; printed when a property breaks. Several lines are kept by their
 * number. */
enum { SCENE_SYSTEM, SCENE_PRECOND, SCENE_SOLVE, SCENES };
void fuzz_scene(int line, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Returns the condition. Where it is false: prints the property, a sentence, with the input and the
 * scene, and aborts, unless failures are only counted. */
bool fuzz_property(bool condition, const char *format, ...) __attribute__((format(printf, 2, 3)));
void fuzz_count_failures(bool only_count);
long long fuzz_failures(void);
/* What the cases came to: solves by status, set-ups. */
typedef struct fuzz_tally {
  long long systems, setups, set_up, updates, solves[BISAI_NOT_LINEAR + 1], faults;
} fuzz_tally;
extern fuzz_tally fuzz_counts;

/* One case. */
void fuzz_api_run(const char *name, const uint8_t *data, size_t bytes);

/* --- bytes as choices (api_choices.c) --- */

typedef struct fuzz_choices {
  const uint8_t *next, *end;
} fuzz_choices;

/* 0 … count − 1 ≤ 255; 0 where the bytes are used up. */
int fuzz_pick(fuzz_choices *choices, int count);
/* low … high, low where the bytes are used up. */
int fuzz_between(fuzz_choices *choices, int low, int high);
/* True for one in `in` bytes, false where they are used up. */
bool fuzz_rarely(fuzz_choices *choices, int in);
uint64_t fuzz_seed(fuzz_choices *choices);
double fuzz_not_finite(fuzz_choices *choices); /* NaN, ∞ or −∞ */

/* SplitMix64, and a number in [−1, 1) that depends on the seed and two indices alone. */
uint64_t fuzz_mix(uint64_t state);
double fuzz_noise(uint64_t seed, int64_t i, int64_t j);

/* Zeros, and NaN; free() them. They never fail, and `count` may be 0. */
void *fuzz_memory(size_t count, size_t size);
double *fuzz_vector(int64_t n);

/* --- worlds: contexts on counting allocators that fail on demand (api_world.c) --- */

typedef struct fuzz_world {
  bisai_context *context;
  /* allocations so far, blocks not yet released */
  atomic_llong calls, live;
  /* bytes of the blocks not yet released, and the most at a time */
  atomic_llong bytes, peak;
  /* this allocation fails, counted like `calls`; 0: none */
  long long fail_at;
  /* and all later ones */
  bool fail_after;
} fuzz_world;

/* An allocator on the world's accounts, which must stay where they are. */
bisai_allocator fuzz_allocator(fuzz_world *world);
void fuzz_world_open(fuzz_world *world, int threads);
/* Checks that nothing is left. */
void fuzz_world_close(fuzz_world *world);

/* --- systems (api_system.c) --- */

/* Systems of 100,000 rows, from which on even vectors are shared by three threads, take too long
 * under libFuzzer. */
#ifdef BISAI_FUZZ
enum { FUZZ_HUGE = 0 };
#else
enum { FUZZ_HUGE = 1 };
#endif

enum { FUZZ_FIRST, FUZZ_SECOND, FUZZ_VALUES };

typedef struct fuzz_system {
  /* rows = block_rows·block_size */
  int32_t block_rows, block_size, blocks, rows;
  /* columns ascending */
  int32_t *row_ptr, *col_idx;
  /* two sets of values on the same pattern, blocks column by column, finite */
  double *values[FUZZ_VALUES];
  /* rows are strictly diagonally dominant and of ordinary size */
  bool dominant[FUZZ_VALUES];
  bool large;
  /* of the first values: a sum of elements with jumps, which is symmetric and positive definite, or
   * whose rows add up to zero up to rounding */
  bool definite, neumann;
} fuzz_system;

fuzz_system fuzz_system_make(fuzz_choices *choices);
void fuzz_system_free(fuzz_system *system);
int64_t fuzz_system_scalars(const fuzz_system *system); /* blocks·bs² */
bisai_bcsr_desc fuzz_system_desc(const fuzz_system *system, int set);

/* ax ← A x, magnitude ← |A||x|, in extended precision: neither overflows nor loses what is
 * compared. */
void fuzz_system_multiply(const fuzz_system *system, int set, const double *x, long double *ax,
                          long double *magnitude);

/* The same matrix as scalar CSR: columns of a row in any order, zeros of both sets of values left
 * out as long as a block keeps one entry. */
typedef struct fuzz_csr {
  int32_t *row_ptr, *col_idx;
  double *values[FUZZ_VALUES];
} fuzz_csr;
fuzz_csr fuzz_csr_make(const fuzz_system *system, uint64_t seed);
void fuzz_csr_free(fuzz_csr *csr);
bisai_csr_desc fuzz_csr_desc(const fuzz_system *system, const fuzz_csr *csr, int set);

/* --- options (api_options.c) --- */

typedef struct fuzz_precond {
  bisai_precond_options options;
  int32_t *block_ptr, *permutation, *pressures;
  /* weights or storage of cpr; near-null vectors of mg */
  double *weights, *null_vectors;
  /* of the callback */
  double *diagonal;
  /* the callback's call that fails, counted down; 0: none */
  int fails_in;
} fuzz_precond;

/* `choice` must stay where it is while the options are used. */
void fuzz_precond_make(fuzz_choices *choices, const fuzz_system *system, fuzz_precond *choice);
void fuzz_precond_free(fuzz_precond *choice);
/* Returns true if an update, or the first one, makes what multigrid has not kept. */
bool fuzz_update_allocates(const bisai_precond_options *options, bool first);

/* --- the true residual (api_residual.c) --- */

typedef struct fuzz_residual {
  /* ‖b‖₂ */
  long double rhs;
  /* ‖b − A x‖₂ */
  long double norm;
  /* by how much rounding may change `norm` where b − A x is computed in double precision */
  long double error;
} fuzz_residual;

/* With the first set of values, in extended precision; x and b are finite. x NULL: 0. */
fuzz_residual fuzz_residual_of(const fuzz_system *system, const double *x, const double *b);

/* --- properties --- */

/* Bits, where any NaN is as good as another. */
bool fuzz_same(int64_t n, const double *a, const double *b);
bool fuzz_finite(int64_t n, const double *values);

/* Makes the matrix with one set of values in the world, by BCSR or by CSR arrays, and checks what
 * is refused (api_matrix.c). */
bisai_bcsr *fuzz_matrix_make(fuzz_choices *choices, const fuzz_system *system, int set,
                             fuzz_world *world);
void fuzz_matrix_properties(fuzz_choices *choices, const fuzz_system *system,
                            bisai_bcsr *const matrix[2], fuzz_world worlds[2]);

/* Checks that the matrix is the system with one set of values. */
void fuzz_matrix_content(const fuzz_system *system, int set, const bisai_bcsr *matrix);

/* What is measured of a system and refused by it (api_symmetry.c). */
typedef struct fuzz_symmetry {
  /* the error is what double precision may make of it */
  double asymmetry, error;
  /* the asymmetry is within the limit; every block (i, j) has a block (j, i) */
  bool symmetric, mirrored;
} fuzz_symmetry;
fuzz_symmetry fuzz_symmetry_of(const fuzz_system *system, int set);
void fuzz_symmetry_properties(const fuzz_system *system, bisai_bcsr *const matrix[2]);
/* Returns true if the solver has to refuse A, as a matrix or as a function, or M. */
bool fuzz_symmetry_refuses(const fuzz_system *system, const bisai_solver_options *options,
                           bool by_matrix, const bisai_precond *precond);

/* Rows that are numbered by fields, in any order, or of nodes that have lost some (api_nodes.c). */
void fuzz_node_properties(fuzz_choices *choices, const fuzz_system *system, fuzz_world *world);

/* New values of matrices, from blocks and from CSR arrays (api_updates.c). */
void fuzz_update_properties(fuzz_choices *choices, const fuzz_system *system, fuzz_world *world);

/* Set-ups, applications and updates in two worlds of different numbers of threads
 * (api_precond.c). */
void fuzz_precond_properties(fuzz_choices *choices, const fuzz_system *system,
                             bisai_bcsr *const first[2], bisai_bcsr *second, fuzz_world worlds[2]);

/* A solve with the preconditioners, of either world, or NULL (api_solve.c). */
void fuzz_solve_properties(fuzz_choices *choices, const fuzz_system *system,
                           bisai_bcsr *const matrix[2], fuzz_precond *choice,
                           bisai_precond *const precond[2], fuzz_world worlds[2]);
bisai_solver_options fuzz_solver_options(fuzz_choices *choices, const fuzz_system *system);

/* A solve by methods that the library chooses (api_choice.c). */
void fuzz_choice_properties(fuzz_choices *choices, const fuzz_system *system,
                            bisai_bcsr *const first[2], fuzz_world worlds[2]);

/* Multigrid and conjugate gradients for a sum of elements (api_definite.c). */
void fuzz_definite_properties(fuzz_choices *choices, const fuzz_system *system, fuzz_world *world,
                              const bisai_bcsr *matrix);

/* Everything from the context to the solution, with allocations that fail (api_faults.c). */
void fuzz_fault_properties(fuzz_choices *choices, const fuzz_system *system);

#endif
