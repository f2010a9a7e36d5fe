/* SPDX-License-Identifier: BSD-3-Clause */
/** @file cusparse.h
 *  bisai and NVIDIA's cuSPARSE. This header gives access to cuSPARSE's block ILU(0), exact block
 *  triangular solves, block products and patterns, for comparisons and as options. The functions
 *  are in a separate library, bisai_cusparse. bisai.h does not include this header, and the library
 *  bisai does not need cuSPARSE.
 *
 *  The functions need a context with the CUDA backend; with another backend they return
 *  BISAI_UNAVAILABLE. All work is enqueued on the context's stream. Creation, updates and patterns
 *  wait for the stream; applications do not. NVIDIA plans to remove the block routines (`bsrilu02`,
 *  `bsrsv2`, and from CUDA 13.1 on `bsrmv`). A function returns BISAI_UNAVAILABLE if the toolkit of
 *  the build lacks its routine. */
#ifndef BISAI_CUSPARSE_H
#define BISAI_CUSPARSE_H

#include <bisai/precond.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Block ILU(0) by bsrilu02 and exact solves with its factors by bsrsv2, in the natural ordering.
 *  Diagonal blocks are factored without pivoting: a regular block can be refused. */
typedef struct bisai_cusparse_ilu bisai_cusparse_ilu;

/** Analyses and factorises a matrix. The matrix is read only during the call.
 *  @param matrix  square, fp64
 *  @param ilu     out; unchanged on failure; free with bisai_cusparse_ilu_destroy()
 *  @retval BISAI_MISSING_DIAGONAL, BISAI_SINGULAR_BLOCK  the message names the block row
 *  @retval BISAI_UNSUPPORTED     the values are not fp64
 *  @retval BISAI_EXTERNAL_ERROR  cuSPARSE failed; the message gives its reason
 *  @retval BISAI_INVALID_ARGUMENT, BISAI_UNAVAILABLE, BISAI_OUT_OF_MEMORY, BISAI_DEVICE_ERROR */
BISAI_API bisai_status bisai_cusparse_ilu_create(bisai_context *context, const bisai_bcsr *matrix,
                                                 bisai_cusparse_ilu **ilu);

/** Factorises a matrix of the same pattern and reuses the analysis. The pattern is not checked.
 *  Returns the errors of bisai_cusparse_ilu_create(). */
BISAI_API bisai_status bisai_cusparse_ilu_update(bisai_cusparse_ilu *ilu, const bisai_bcsr *matrix);

/** Frees *ilu and sets it to NULL; accepts NULL and pointers to NULL. */
BISAI_API void bisai_cusparse_ilu_destroy(bisai_cusparse_ilu **ilu);

/** Copies L and U into factors of bisai; L has an identity diagonal.
 *  @param factors  out; unchanged on failure; free with bisai_factors_destroy()
 *  @retval BISAI_NOT_READY  the last factorisation failed
 *  @retval BISAI_OUT_OF_MEMORY, BISAI_DEVICE_ERROR, and the errors of
 *    bisai_factors_from_matrices() */
BISAI_API bisai_status bisai_cusparse_ilu_factors(const bisai_cusparse_ilu *ilu,
                                                  bisai_factors **factors);

/** Prepares the solves. The call analyses both triangles, and measures which of cuSPARSE's two
 *  policies is faster: with levels or without.
 *  @retval BISAI_INVALID_ARGUMENT, BISAI_UNAVAILABLE, BISAI_OUT_OF_MEMORY, BISAI_DEVICE_ERROR,
 *    BISAI_EXTERNAL_ERROR */
BISAI_API bisai_status bisai_cusparse_ilu_prepare(bisai_cusparse_ilu *ilu);

/** Computes z ← U⁻¹ L⁻¹ v by bsrsv2. The function is a callback for
 *  bisai_precond_options.callback.apply, with the bisai_cusparse_ilu as its `user`. v and z have n
 *  values each, in device memory, and must not overlap.
 *  @retval BISAI_NOT_READY  the solves are not prepared, or the last factorisation failed */
BISAI_API bisai_status bisai_cusparse_ilu_apply(void *ilu, int64_t n, const double *v, double *z);

/** The times, in seconds, and the size of a bisai_cusparse_ilu. */
typedef struct bisai_cusparse_ilu_report {
  /** set by the caller to sizeof(bisai_cusparse_ilu_report) */
  size_t struct_size;
  /** time of the analysis for the factorisation */
  double analysis_seconds;
  /** time of the last factorisation */
  double factor_seconds;
  /** time of the analyses for the solves with levels; 0 before bisai_cusparse_ilu_prepare() */
  double solve_analysis_seconds;
  /** time of one application with levels, measured by bisai_cusparse_ilu_prepare() */
  double level_seconds;
  /** time of one application without levels, measured by bisai_cusparse_ilu_prepare() */
  double no_level_seconds;
  /** true if applications use levels */
  bool by_levels;
  /** the number of stored blocks of L and U; the diagonal counts once */
  int64_t blocks;
} bisai_cusparse_ilu_report;

/** Fills a report. The caller sets report->struct_size before the call.
 *  @retval BISAI_INVALID_ARGUMENT  struct_size is unknown */
BISAI_API bisai_status bisai_cusparse_ilu_get_report(const bisai_cusparse_ilu *ilu,
                                                     bisai_cusparse_ilu_report *report);

/** The routines of cuSPARSE that compute a product. */
typedef enum bisai_cusparse_product_kind {
  /** bsrmv if the toolkit has it, otherwise SpMV */
  BISAI_CUSPARSE_AUTO = 0,
  /** cusparseDbsrmv(). Blocks of size 1 use SpMV, because bsrmv does not accept them */
  BISAI_CUSPARSE_BSRMV = 1,
  /** cusparseSpMV() with a BSR descriptor, or with a CSR descriptor for blocks of size 1 */
  BISAI_CUSPARSE_SPMV = 2
} bisai_cusparse_product_kind;

/** The product y ← A x by cuSPARSE. */
typedef struct bisai_cusparse_product bisai_cusparse_product;

/** Prepares products.
 *  @param matrix   fp64, without an implied diagonal; its arrays are used in place, and it must
 *                  outlive the product
 *  @param product  out; unchanged on failure; free with bisai_cusparse_product_destroy()
 *  @retval BISAI_UNAVAILABLE  the backend is not CUDA, or the toolkit lacks the routine or does not
 *                             support BSR matrices in SpMV
 *  @retval BISAI_INVALID_ARGUMENT, BISAI_UNSUPPORTED, BISAI_OUT_OF_MEMORY, BISAI_DEVICE_ERROR,
 *    BISAI_EXTERNAL_ERROR */
BISAI_API bisai_status bisai_cusparse_product_create(bisai_context *context,
                                                     const bisai_bcsr *matrix,
                                                     bisai_cusparse_product_kind kind,
                                                     bisai_cusparse_product **product);

/** Frees *product and sets it to NULL; accepts NULL and pointers to NULL. */
BISAI_API void bisai_cusparse_product_destroy(bisai_cusparse_product **product);

/** Computes y ← A x. The function is a callback for bisai_precond_options.callback.apply and for
 *  the operator of a solver, with the bisai_cusparse_product as its `user`. n is the number of
 *  scalar rows. x and y are in device memory and must not overlap.
 *  @retval BISAI_INVALID_ARGUMENT  n is another number, or a vector is NULL
 *  @retval BISAI_DEVICE_ERROR, BISAI_EXTERNAL_ERROR */
BISAI_API bisai_status bisai_cusparse_product_apply(void *product, int64_t n, const double *x,
                                                    double *y);

/** The application z ← NU (NL v) of an ISAI preconditioner by cuSPARSE. */
typedef struct bisai_cusparse_isai bisai_cusparse_isai;

/** Prepares the two products.
 *  @param precond  an ISAI preconditioner stored in fp64; it must outlive *isai. An update of it
 *                  takes effect in *isai too. Its relaxation sweeps are not applied
 *  @param isai     out; unchanged on failure; free with bisai_cusparse_isai_destroy()
 *  @retval BISAI_INVALID_ARGUMENT  an argument is NULL, or the preconditioner is no ISAI of factors
 *  @retval BISAI_UNAVAILABLE, and the other errors of bisai_cusparse_product_create() */
BISAI_API bisai_status bisai_cusparse_isai_create(bisai_context *context,
                                                  const bisai_precond *precond,
                                                  bisai_cusparse_product_kind kind,
                                                  bisai_cusparse_isai **isai);

/** Frees *isai and sets it to NULL; accepts NULL and pointers to NULL. */
BISAI_API void bisai_cusparse_isai_destroy(bisai_cusparse_isai **isai);

/** Computes z ← NU (NL v). The function is a callback for bisai_precond_options.callback.apply,
 *  with the bisai_cusparse_isai as its `user`. v and z are in device memory and must not overlap.
 *  Returns the errors of bisai_cusparse_product_apply(). */
BISAI_API bisai_status bisai_cusparse_isai_apply(void *isai, int64_t n, const double *v, double *z);

/** Computes the pattern S(|T|^power) of bisai_pattern_power() by power − 1 symbolic products of
 *  SpGEMM.
 *  @param matrix   square; only the blocks of its triangle are used, and the diagonal always counts
 *                  as present
 *  @param pattern  out; unchanged on failure; free with bisai_pattern_destroy()
 *  @param seconds  out unless NULL; the time of the work on the device, without the conversions
 *                  between the formats of bisai and cuSPARSE
 *  @retval BISAI_INDEX_OVERFLOW  the pattern has more than 2³¹−1 blocks
 *  @retval BISAI_INVALID_ARGUMENT, BISAI_UNAVAILABLE, BISAI_OUT_OF_MEMORY, BISAI_DEVICE_ERROR,
 *    BISAI_EXTERNAL_ERROR */
BISAI_API bisai_status bisai_cusparse_pattern(bisai_context *context, const bisai_bcsr *matrix,
                                              bisai_triangle triangle, int power,
                                              bisai_pattern **pattern, double *seconds);

#ifdef __cplusplus
}
#endif
#endif
