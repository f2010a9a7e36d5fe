/* SPDX-License-Identifier: BSD-3-Clause */
/* A saddle point A = [K G; D −C] in parts, with a sparse Schur complement
 *
 *   E = s (C + D H⁻¹ G),   H = diag(K),
 *
 * whose sign s makes most diagonal entries positive. Arrays are in backend memory, unless a comment
 * says otherwise. */
#ifndef BSI_SYSTEM_H
#define BSI_SYSTEM_H

#include "core/matrix/bcsr_impl.h"
#include "schur/split.h"

/* Where the values of the parts are among those of A. */
typedef struct bsi_schur_maps {
  int64_t *k, *g, *d, *e;
  int64_t *k_diagonal, *e_diagonal;
  /* values of A that were zero and have no place */
  int64_t *dropped;
  int64_t dropped_count;
} bsi_schur_maps;

/* Vectors: of the velocities, of the pressures, and one that is as long as the longest of both and
 * of the dropped values. */
typedef struct bsi_schur_work {
  double *velocities[4], *pressures[4], *longest;
  /* the diagonal of E in host memory */
  double *diagonal;
} bsi_schur_work;

typedef struct bsi_schur_system {
  int32_t velocities, pressures;
  bisai_bcsr *k, *g, *d, *e;
  bsi_schur_maps map;
  /* the scalar rows of the velocities and of the pressures; the same in host memory */
  struct {
    int32_t *velocities, *pressures, *names_of_velocities, *names_of_pressures;
  } rows;
  /* the structure of A */
  struct {
    int32_t *row_ptr, *col_idx, blocks;
  } pattern;
  /* H⁻¹, and the inverse diagonal of E */
  struct {
    double *h, *e;
  } inverse;
  double sign;
  /* 1/ρ(D H⁻¹ G diag(s E)⁻¹) if C is not zero (Elman, Howle, Shadid, Silvester, Tuminaro 2007,
   * section 3); otherwise 0 */
  double alpha;
  bool stabilised, found;
  bsi_schur_work work;
} bsi_schur_system;

/* Splits A and reserves everything. The values are not set. The caller owns the system, also after
 * a failure. Waits. */
bisai_status bsi_schur_system_create(bisai_context *context, const bisai_bcsr *a,
                                     const bsi_split_choice *choice, bsi_schur_system *system);

/* Refuses a matrix of another pattern. Waits. */
bisai_status bsi_schur_system_check_pattern(bisai_context *context, const bisai_bcsr *a,
                                            const bsi_schur_system *system);
/* Refuses values that are not zero where the system has no place for them. Waits. */
bisai_status bsi_schur_system_check_values(bisai_context *context, const bisai_bcsr *a,
                                           const bsi_schur_system *system);
/* Takes the values of A. Allocates nothing. Waits. */
bisai_status bsi_schur_system_update(bisai_context *context, const bisai_bcsr *a,
                                     bsi_schur_system *system);

/* *steady ← K is symmetric, and the entries of half of its rows or more nearly cancel, as those of
 * Laplacians without terms of time. Waits. */
bisai_status bsi_schur_system_is_steady(bisai_context *context, const bsi_schur_system *system,
                                        bool *steady);

/* y ← D H⁻¹ K H⁻¹ G x, or without `k` D H⁻¹ G x, for the pressures. Uses the vectors 2 and 3 of the
 * velocities. */
bisai_status bsi_schur_multiply(bisai_context *context, const bsi_schur_system *system, bool k,
                                const double *x, double *y);

/* Returns the bytes of all arrays. */
int64_t bsi_schur_system_memory(const bsi_schur_system *system);
/* Accepts a struct of zeros. */
void bsi_schur_system_destroy(bisai_context *context, bsi_schur_system *system);

#endif
