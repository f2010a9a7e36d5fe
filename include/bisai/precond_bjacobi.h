/* SPDX-License-Identifier: BSD-3-Clause */
/** @file precond_bjacobi.h
 *  Options and report of block-Jacobi (bisai/precond.h). */
#ifndef BISAI_PRECOND_BJACOBI_H
#define BISAI_PRECOND_BJACOBI_H

#include <stdbool.h>
#include <stdint.h>

#include <bisai/bcsr.h>
#include <bisai/export.h>

#ifdef __cplusplus
extern "C" {
#endif

/** What block-Jacobi stores for a diagonal block D of m rows. Every form has m² values. The two
 *  figures of each form are the floating-point operations of its set-up and of its application. */
typedef enum bisai_form {
  /** D⁻¹, computed by Gauss–Jordan elimination with implicit row pivoting (by cofactors for 2 ≤
   *  m ≤ 5). An application is a product: 2m³, 2m² (Anzt et al. 2017, section 2) */
  BISAI_FORM_INVERSE = 0,
  /** the Gauss–Huard decomposition with column pivoting: ⅔m³, 2m² (Anzt et al. 2017,
   *  Gauss–Huard) */
  BISAI_FORM_GAUSS_HUARD = 1,
  /** the Gauss–Huard decomposition with the part below the diagonal transposed about the
   *  anti-diagonal. The solve then reads columns only: ⅔m³, 2m² */
  BISAI_FORM_GAUSS_HUARD_TRANSPOSED = 2,
  /** the decomposition L U with row pivoting: ⅔m³, 2m² */
  BISAI_FORM_LU = 3
} bisai_form;

/** The words of bisai_form: X(enumerator, word). */
#define BISAI_FORM_LIST(X)                                                                         \
  X(BISAI_FORM_INVERSE, "inverse")                                                                 \
  X(BISAI_FORM_GAUSS_HUARD, "gh")                                                                  \
  X(BISAI_FORM_GAUSS_HUARD_TRANSPOSED, "ght")                                                      \
  X(BISAI_FORM_LU, "lu")

/** Returns "inverse", "gh", "ght" or "lu", and "unknown form" for other values. */
BISAI_API const char *bisai_form_string(bisai_form value);

/** Looks up a word of bisai_form_string().
 *  @param value  out; unchanged if the word is unknown
 *  @returns      false for unknown words and NULL */
BISAI_API bool bisai_form_parse(const char *word, bisai_form *value);

/** How block-Jacobi on a device reads diagonal blocks from the matrix and writes inverses to
 *  storage (Anzt et al. 2017, section 3.3). The host has only one way. The results do not depend
 *  on the choice. */
typedef enum bisai_extraction {
  /** MC, which is the fastest on every matrix measured, or takes at most 2 % longer */
  BISAI_EXTRACTION_AUTO = 0,
  /** UC: separate kernels copy the blocks. Each thread reads a row through the caches */
  BISAI_EXTRACTION_CACHED = 1,
  /** MC: as UC, but the copies are part of the elimination kernel */
  BISAI_EXTRACTION_MERGED_CACHED = 2,
  /** US: separate kernels copy the blocks. All lanes read each row together, through shared
   *  memory */
  BISAI_EXTRACTION_SHARED = 3,
  /** MS: as US, but the copies are part of the elimination kernel */
  BISAI_EXTRACTION_MERGED_SHARED = 4
} bisai_extraction;

/** The words of bisai_extraction: X(enumerator, word). */
#define BISAI_EXTRACTION_LIST(X)                                                                   \
  X(BISAI_EXTRACTION_AUTO, "auto")                                                                 \
  X(BISAI_EXTRACTION_CACHED, "uc")                                                                 \
  X(BISAI_EXTRACTION_MERGED_CACHED, "mc")                                                          \
  X(BISAI_EXTRACTION_SHARED, "us")                                                                 \
  X(BISAI_EXTRACTION_MERGED_SHARED, "ms")

/** Returns "auto", "uc", "mc", "us" or "ms", and "unknown extraction" for other values. */
BISAI_API const char *bisai_extraction_string(bisai_extraction value);

/** Looks up a word of bisai_extraction_string().
 *  @param value  out; unchanged if the word is unknown
 *  @returns      false for unknown words and NULL */
BISAI_API bool bisai_extraction_parse(const char *word, bisai_extraction *value);

/** The formats from which BISAI_ADAPTIVE chooses. */
typedef enum bisai_formats {
  /** all six */
  BISAI_FORMATS_ALL = 0,
  /** fp16, fp32 and fp64 (Anzt et al. 2019) */
  BISAI_FORMATS_IEEE = 1,
  /** (11, 4), (11, 20) and fp64, which have the exponents of fp64. Nothing overflows or vanishes in
   *  them (Flegar et al. 2020, section 6.3) */
  BISAI_FORMATS_TRUNCATED = 2
} bisai_formats;

/** The words of bisai_formats: X(enumerator, word). */
#define BISAI_FORMATS_LIST(X)                                                                      \
  X(BISAI_FORMATS_ALL, "all")                                                                      \
  X(BISAI_FORMATS_IEEE, "ieee")                                                                    \
  X(BISAI_FORMATS_TRUNCATED, "truncated")

/** Returns "all", "ieee" or "truncated", and "unknown formats" for other values. */
BISAI_API const char *bisai_formats_string(bisai_formats value);

/** Looks up a word of bisai_formats_string().
 *  @param value  out; unchanged if the word is unknown
 *  @returns      false for unknown words and NULL */
BISAI_API bool bisai_formats_parse(const char *word, bisai_formats *value);

/** How block-Jacobi finds its blocks, if max_block > 0. */
typedef enum bisai_blocks {
  /** consecutive rows of equal pattern: supervariable agglomeration (Anzt et al. 2017) */
  BISAI_BLOCKS_PATTERN = 0,
  /** rows that are strongly coupled, wherever they are in the matrix. Flegar et al. 2020 name this
   *  as future work. From the largest (‖A_ij‖ + ‖A_ji‖)/√(‖A_ii‖ ‖A_jj‖) down, the blocks of i and
   *  j become one if it has at most max_block scalar rows; ‖·‖ is the largest magnitude of a block
   *  of the matrix, whose rows stay together. Creation finds the blocks on the host, in
   *  O(n log n) time for n blocks of the matrix, and updates keep them. The preconditioner then
   *  holds a copy of the matrix in the order of the blocks, and an application moves its vectors
   *  there and back */
  BISAI_BLOCKS_STRENGTH = 1
} bisai_blocks;

/** The words of bisai_blocks: X(enumerator, word). */
#define BISAI_BLOCKS_LIST(X)                                                                       \
  X(BISAI_BLOCKS_PATTERN, "pattern")                                                               \
  X(BISAI_BLOCKS_STRENGTH, "strength")

/** Returns "pattern" or "strength", and "unknown blocks" for other values. */
BISAI_API const char *bisai_blocks_string(bisai_blocks value);

/** Looks up a word of bisai_blocks_string().
 *  @param value  out; unchanged if the word is unknown
 *  @returns      false for unknown words and NULL */
BISAI_API bool bisai_blocks_parse(const char *word, bisai_blocks *value);

/** Options of block-Jacobi. */
typedef struct bisai_bjacobi_options {
  /** 0 (default): the blocks are those of the matrix, or those of block_ptr. 1 … 32: supervariable
   *  agglomeration finds blocks of at most that many scalar rows (Anzt et al. 2017, section 3).
   *  Consecutive rows of equal pattern form a block, and neighbouring blocks are merged if the
   *  result is small enough. Stored zeros count as entries. 1 is scalar Jacobi */
  int32_t max_block;
  /** what is stored for a block; default BISAI_FORM_INVERSE */
  bisai_form form;
  /** the format of the blocks' values: any type, but BISAI_ADAPTIVE only with BISAI_FORM_INVERSE.
   *  Default BISAI_FP64 */
  bisai_value_type storage;
  /** for BISAI_ADAPTIVE: the number of decimal digits of the inverses that must survive
   *  rounding, 1 … 15; default 2. Each group of blocks has one format. A group is one block on
   *  the host, and the blocks of a warp on a device. The format is the first of fp16, bf16, (11,
   *  4), fp32, (11, 20) and fp64 that belongs to `formats` and satisfies three conditions:
   *  κ₁(D) u ≤ 10^−digits, where u is the unit roundoff of the format; no value overflows; and
   *  ‖D‖₁‖E − Ẽ‖₁ ≤ 10^−digits, where Ẽ is the rounded inverse E. Ẽ is therefore regular
   *  (Flegar et al. 2020, sections 3.1, 3.2) */
  int32_t digits;
  /** for BISAI_ADAPTIVE: the formats to choose from; default BISAI_FORMATS_ALL */
  bisai_formats formats;
  /** how a device copies the blocks; default BISAI_EXTRACTION_AUTO */
  bisai_extraction extraction;
  /** number N of relaxation sweeps on A. With ω = damping, an application computes z = ω D⁻¹ v, and
   *  then N times z ← z + ω D⁻¹ (v − A z) (Anzt et al. 2017, equation 1, where ω = 1). Each sweep
   *  reads A and D⁻¹ once. Applications read the matrix of creation or of the last update, which
   *  must live until the preconditioner is destroyed or updated with another matrix. A symmetric
   *  D⁻¹ makes a symmetric M for a symmetric A. M is positive definite if A and D are, and if the
   *  sweeps converge or N is even. Default 0: z = D⁻¹ v */
  int32_t relax;
  /** the damping ω of the sweeps, greater than 0 and less than 2; default 1 */
  double damping;
  /** block_count + 1 scalar rows at which the blocks begin. The first is 0, and the last is
   *  block_rows·bs. Each block has 1 … 32 rows. The array is in host memory and is read during
   *  creation. Default NULL: no blocks are given */
  const int32_t *block_ptr;
  /** number of blocks of block_ptr; 0 if block_ptr is NULL */
  int32_t block_count;
  /** how blocks are found; BISAI_BLOCKS_STRENGTH needs a max_block of at least the block size.
   *  Default BISAI_BLOCKS_PATTERN */
  bisai_blocks blocks;
} bisai_bjacobi_options;

/** What block-Jacobi reports. For other kinds, `near_singular_block` is -1 and all other fields are
 *  zero. */
typedef struct bisai_bjacobi_report {
  /** number of diagonal blocks */
  int32_t blocks;
  /** number of rows of the largest block */
  int32_t largest_block;
  /** entry m is the number of blocks of m rows, m = 1 … 32 */
  int32_t by_size[33];
  /** number of blocks stored in each bisai_value_type */
  int64_t by_format[BISAI_VALUE_TYPES];
  /** bytes of the blocks' values that an application reads */
  int64_t value_bytes;
  /** number of nearly singular blocks, which are used as they are. An inverted block of m rows
   *  counts if m ε κ₁ ≥ 1: no digit of its inverse is then known. κ₁ of a decomposition is not
   *  known, and its block counts if a pivot is at most m ε‖D‖₁. The test for decompositions does
   *  not find all nearly singular blocks */
  int64_t near_singular;
  /** the first nearly singular block; -1 if there is none */
  int32_t near_singular_block;
  /** an estimate of ρ(I − ω D⁻¹A) by ten power steps, made by creation and updates: the factor by
   *  which a sweep multiplies errors. The relaxation diverges if it is 1 or more. The estimate may
   *  be too small, so that slow divergence is not found. 0 without sweeps */
  double relax_radius;
} bisai_bjacobi_report;

#ifdef __cplusplus
}
#endif
#endif
