/* SPDX-License-Identifier: BSD-3-Clause */
/** @file precond_lu.h
 *  Options and report of LU, and report of DIRECT (bisai/precond.h). */
#ifndef BISAI_PRECOND_LU_H
#define BISAI_PRECOND_LU_H

#include <stdint.h>

#include <bisai/bcsr.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Options of LU. */
typedef struct bisai_lu_options {
  /** how L and U are stored: BISAI_FP64, the default, or BISAI_FP32, which takes half of the memory
   *  and leaves about six digits, so that GMRES takes a few iterations. Arithmetic is fp64 */
  bisai_value_type storage;
  /** the largest number of blocks of L + U, as a multiple of those of A. A matrix that is predicted
   *  to need more is refused before any value is computed. ≥ 0; default 0: no limit */
  double fill;
  /** the most gigabytes (10⁹ bytes) for the values of L + U; refused likewise. ≥ 0; default 0: no
   *  limit */
  double memory;
} bisai_lu_options;

/** What LU reports. For other kinds all fields are zero. */
typedef struct bisai_lu_report {
  /** the number of blocks of L + U, in which diagonal blocks count once */
  int64_t blocks;
  /** the same as a multiple of the blocks of A */
  double fill;
  /** the number of stored values: those of L + U, and the zeros of supernodes */
  int64_t values;
  /** additions, subtractions and multiplications of a factorisation, without zeros of supernodes */
  double flops;
  /** the number of supernodes: successive columns with the same rows below them */
  int32_t supernodes;
  /** the longest chain of supernodes that depend on each other */
  int32_t levels;
  /** the smallest magnitude of a pivot that was not raised by the shift */
  double smallest_pivot;
  /** the largest magnitude of a pivot. Over the smallest one, it is a lower estimate of the
   *  condition of A */
  double largest_pivot;
} bisai_lu_report;

/** What DIRECT reports, as UMFPACK counts it. For other kinds all fields are zero. */
typedef struct bisai_direct_report {
  /** the number of values of L, with its diagonal */
  int64_t lower;
  /** the number of values of U, with its diagonal */
  int64_t upper;
  /** additions, subtractions, multiplications and divisions of a factorisation */
  double flops;
  /** the smallest magnitude of a pivot over the largest: an estimate of 1/κ₁(A) */
  double condition;
  /** the most bytes that UMFPACK held at a time */
  int64_t peak_bytes;
} bisai_direct_report;

#ifdef __cplusplus
}
#endif
#endif
