/* SPDX-License-Identifier: BSD-3-Clause */
/** @file cusparse.h bisai and NVIDIA's cuSPARSE: its block ILU(0), exact block triangular solves,
 *  block products and patterns, to compare with and as options. In a library of its own,
 *  bisai_cusparse; bisai.h does not include this header, and nothing of bisai needs cuSPARSE.
 *
 *  For contexts with the CUDA backend: BISAI_UNAVAILABLE otherwise. Everything is enqueued on the
 *  context's stream; creation, updates and patterns wait for it, applications do not. NVIDIA has
 *  marked the block routines for removal (`bsrilu02`, `bsrsv2`, and from CUDA 13.1 on `bsrmv`):
 *  what the toolkit of the build lacks is BISAI_UNAVAILABLE too. */
#ifndef BISAI_CUSPARSE_H
#define BISAI_CUSPARSE_H

#include <bisai/precond.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Block ILU(0) by bsrilu02 and exact solves with its factors by bsrsv2, natural ordering. Diagonal
 *  blocks are factored without pivoting: a regular block can be refused. */
typedef struct bisai_cusparse_ilu bisai_cusparse_ilu;

/** Analyses and factors. The matrix is read during the call only.
 *  @param matrix  square, fp64
 *  @param ilu     out; untouched on failure; free with bisai_cusparse_ilu_destroy()
 *  @retval BISAI_MISSING_DIAGONAL, BISAI_SINGULAR_BLOCK  the message names the block row
 *  @retval BISAI_INVALID_ARGUMENT, BISAI_UNSUPPORTED (not fp64), BISAI_UNAVAILABLE,
 *    BISAI_OUT_OF_MEMORY, BISAI_DEVICE_ERROR
 *  @retval BISAI_EXTERNAL_ERROR  cuSPARSE failed; the message has its reason */
BISAI_API bisai_status bisai_cusparse_ilu_create(bisai_context *context, const bisai_bcsr *matrix,
                                                 bisai_cusparse_ilu **ilu);

/** Factors a matrix of the same pattern, which is not checked; the analysis stays.
 *  @retval as creation */
BISAI_API bisai_status bisai_cusparse_ilu_update(bisai_cusparse_ilu *ilu, const bisai_bcsr *matrix);

/** Frees *ilu and sets it to NULL; accepts NULL and pointers to NULL. */
BISAI_API void bisai_cusparse_ilu_destroy(bisai_cusparse_ilu **ilu);

/** L and U as bisai has them (L with an identity diagonal), copied.
 *  @param factors  out; untouched on failure; free with bisai_factors_destroy()
 *  @retval others of bisai_factors_from_matrices() */
BISAI_API bisai_status bisai_cusparse_ilu_factors(const bisai_cusparse_ilu *ilu,
                                                  bisai_factors **factors);

/** Prepares the solves: analyses for both triangles, and measures which of cuSPARSE's two policies,
 *  with levels or without, is the faster.
 *  @retval BISAI_INVALID_ARGUMENT, BISAI_UNAVAILABLE, BISAI_OUT_OF_MEMORY, BISAI_DEVICE_ERROR,
 *    BISAI_EXTERNAL_ERROR */
BISAI_API bisai_status bisai_cusparse_ilu_prepare(bisai_cusparse_ilu *ilu);

/** z ← U⁻¹ L⁻¹ v by bsrsv2, for bisai_precond_options.apply with the bisai_cusparse_ilu as its
 *  `user`; n values each, in device memory, not overlapping.
 *  @retval BISAI_NOT_READY  not prepared, or the last update failed */
BISAI_API bisai_status bisai_cusparse_ilu_apply(void *ilu, int64_t n, const double *v, double *z);

/** What it cost, in seconds. */
typedef struct bisai_cusparse_ilu_report {
  /** set by the caller to sizeof(bisai_cusparse_ilu_report) */
  size_t struct_size;
  /** of the factorisation's analysis */
  double analysis_seconds;
  /** of the last factorisation */
  double factor_seconds;
  /** of the solves' analyses, with levels; 0 before bisai_cusparse_ilu_prepare() */
  double solve_analysis_seconds;
  /** of one application with levels, as measured then */
  double level_seconds;
  /** the same without */
  double no_level_seconds;
  /** which one applications use */
  bool by_levels;
  /** stored blocks of L and U together, the diagonal once */
  int64_t blocks;
} bisai_cusparse_ilu_report;

/** Fills a report whose struct_size the caller has set.
 *  @retval BISAI_INVALID_ARGUMENT  unknown struct_size */
BISAI_API bisai_status bisai_cusparse_ilu_get_report(const bisai_cusparse_ilu *ilu,
                                                     bisai_cusparse_ilu_report *report);

/** Ways to multiply. */
typedef enum bisai_cusparse_product_kind {
  /** bsrmv where it is present, otherwise SpMV */
  BISAI_CUSPARSE_AUTO = 0,
  /** cusparseDbsrmv(); blocks of size 1 by SpMV, for it takes none */
  BISAI_CUSPARSE_BSRMV = 1,
  /** cusparseSpMV() on a BSR descriptor; blocks of size 1 on a CSR descriptor */
  BISAI_CUSPARSE_SPMV = 2
} bisai_cusparse_product_kind;

/** The product y ← A x by cuSPARSE. */
typedef struct bisai_cusparse_product bisai_cusparse_product;

/** Prepares products.
 *  @param matrix   fp64, without an implied diagonal; its arrays are used in place: it must outlive
 *    the product
 *  @param product  out; untouched on failure; free with bisai_cusparse_product_destroy()
 *  @retval BISAI_UNAVAILABLE  also: the toolkit's SpMV does not know BSR matrices
 *  @retval BISAI_INVALID_ARGUMENT, BISAI_UNSUPPORTED, BISAI_OUT_OF_MEMORY, BISAI_DEVICE_ERROR,
 *    BISAI_EXTERNAL_ERROR */
BISAI_API bisai_status bisai_cusparse_product_create(bisai_context *context,
                                                     const bisai_bcsr *matrix,
                                                     bisai_cusparse_product_kind kind,
                                                     bisai_cusparse_product **product);

/** Frees *product and sets it to NULL; accepts NULL and pointers to NULL. */
BISAI_API void bisai_cusparse_product_destroy(bisai_cusparse_product **product);

/** y ← A x, an apply function or an operator of a solver with the bisai_cusparse_product as its
 *  `user`; n is the number of scalar rows. Device memory, not overlapping. */
BISAI_API bisai_status bisai_cusparse_product_apply(void *product, int64_t n, const double *x,
                                                    double *y);

/** The application z ← NU (NL v) of an ISAI preconditioner by cuSPARSE. */
typedef struct bisai_cusparse_isai bisai_cusparse_isai;

/** Prepares the two products.
 *  @param precond  ISAI stored in fp64, which must outlive *isai; its updates are seen; its
 *    relaxation sweeps are not made
 *  @param isai     out; untouched on failure; free with bisai_cusparse_isai_destroy()
 *  @retval BISAI_INVALID_ARGUMENT  also: not an ISAI preconditioner
 *  @retval others of bisai_cusparse_product_create() */
BISAI_API bisai_status bisai_cusparse_isai_create(bisai_context *context,
                                                  const bisai_precond *precond,
                                                  bisai_cusparse_product_kind kind,
                                                  bisai_cusparse_isai **isai);

/** Frees *isai and sets it to NULL; accepts NULL and pointers to NULL. */
BISAI_API void bisai_cusparse_isai_destroy(bisai_cusparse_isai **isai);

/** z ← NU (NL v), for bisai_precond_options.apply with the bisai_cusparse_isai as its `user`;
 *  device memory, not overlapping. */
BISAI_API bisai_status bisai_cusparse_isai_apply(void *isai, int64_t n, const double *v, double *z);

/** The pattern of S(|T|^power), as bisai_pattern_power(), by the structure part of SpGEMM, power −
 *  1 times.
 *  @param matrix   square; the blocks of its triangle count, the diagonal always
 *  @param pattern  out; untouched on failure; free with bisai_pattern_destroy()
 *  @param seconds  unless NULL: of the work on the device, conversions from and to bisai left out
 *  @retval BISAI_INDEX_OVERFLOW  more than 2³¹−1 blocks
 *  @retval BISAI_INVALID_ARGUMENT, BISAI_UNAVAILABLE, BISAI_OUT_OF_MEMORY, BISAI_DEVICE_ERROR,
 *    BISAI_EXTERNAL_ERROR */
BISAI_API bisai_status bisai_cusparse_pattern(bisai_context *context, const bisai_bcsr *matrix,
                                              bisai_triangle triangle, int power,
                                              bisai_pattern **pattern, double *seconds);

#ifdef __cplusplus
}
#endif
#endif
