/* SPDX-License-Identifier: BSD-3-Clause */
/** @file bcsr.h
 *  Block compressed sparse row matrices.
 *
 *  A matrix of `block_rows` × `block_cols` square blocks of size bs. Block row i holds blocks
 *  row_ptr[i] … row_ptr[i+1]-1; block p lies in block column col_idx[p] and its bs² values start at
 *  values[p·bs²], column by column. */
#ifndef BISAI_BCSR_H
#define BISAI_BCSR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <bisai/context.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The largest block size. Sizes 1–8 have kernels of their own; the others take a generic path. */
#define BISAI_MAX_BLOCK_SIZE 32

/** How values are stored; in brackets the bits of exponent and mantissa. Arithmetic is always fp64,
 *  and narrowing rounds to nearest even. Matrices hold the first four. */
typedef enum bisai_value_type {
  /** double (11, 52) */
  BISAI_FP64 = 0,
  /** float (8, 23) */
  BISAI_FP32 = 1,
  /** IEEE half (5, 10), as uint16_t */
  BISAI_FP16 = 2,
  /** bfloat16 (8, 7), as uint16_t */
  BISAI_BF16 = 3,
  /** the upper 16 bits of a double (11, 4), as uint16_t; block-Jacobi alone */
  BISAI_FP11_4 = 4,
  /** the upper 32 bits of a double (11, 20), as uint32_t; block-Jacobi alone */
  BISAI_FP11_20 = 5,
  /** one of the six for each group of blocks, by their condition; block-Jacobi alone */
  BISAI_ADAPTIVE = 6
} bisai_value_type;

/** The value types that matrices hold: X(enumerator, word, bytes, mantissa). `bytes` is the size of
 *  a value, `mantissa` its stored bits behind the binary point: the unit roundoff is
 *  2^−(mantissa + 1). */
#define BISAI_MATRIX_TYPE_LIST(X)                                                                  \
  X(BISAI_FP64, "fp64", 8, 52)                                                                     \
  X(BISAI_FP32, "fp32", 4, 23)                                                                     \
  X(BISAI_FP16, "fp16", 2, 10)                                                                     \
  X(BISAI_BF16, "bf16", 2, 7)

/** The value types in which a block of block-Jacobi may be stored, with the same columns. */
#define BISAI_BLOCK_TYPE_LIST(X)                                                                   \
  BISAI_MATRIX_TYPE_LIST(X)                                                                        \
  X(BISAI_FP11_4, "fp11_4", 2, 4)                                                                  \
  X(BISAI_FP11_20, "fp11_20", 4, 20)

/** All value types, with the same columns: those of ADAPTIVE are the widest of its choices. */
#define BISAI_VALUE_TYPE_LIST(X)                                                                   \
  BISAI_BLOCK_TYPE_LIST(X)                                                                         \
  X(BISAI_ADAPTIVE, "adaptive", 8, 52)

/** "fp64", "fp32", "fp16", "bf16", "fp11_4", "fp11_20", "adaptive"; "unknown value type" for other
 *  values. */
BISAI_API const char *bisai_value_type_string(bisai_value_type value);

/** Looks up a word of bisai_value_type_string().
 *  @param value  out; untouched where the word is unknown
 *  @returns      false for unknown words and NULL */
BISAI_API bool bisai_value_type_parse(const char *word, bisai_value_type *value);

/** Order of the values inside a block of the caller's arrays. */
typedef enum bisai_layout { BISAI_COLUMN_MAJOR = 0, BISAI_ROW_MAJOR = 1 } bisai_layout;

/** Who owns the caller's arrays after creation. */
typedef enum bisai_ownership {
  /** copied (and sorted); the caller's arrays may go at once */
  BISAI_COPY = 0,
  /** used in place, so in memory that the backend reaches: sorted, column-major, fp64 or narrower,
   *  alive as long as the matrix; values written to them later must be finite */
  BISAI_BORROW = 1
} bisai_ownership;

/** Where the caller's arrays are. */
typedef enum bisai_location { BISAI_HOST = 0, BISAI_DEVICE = 1 } bisai_location;

/** A block-sparse matrix. */
typedef struct bisai_bcsr bisai_bcsr;

/** The caller's arrays and what they mean; start from bisai_bcsr_desc_default(). */
typedef struct bisai_bcsr_desc {
  /** set by bisai_bcsr_desc_default() */
  size_t struct_size;
  /** ≥ 0 */
  int32_t block_rows;
  /** ≥ 0 */
  int32_t block_cols;
  /** 1 … BISAI_MAX_BLOCK_SIZE */
  int32_t block_size;
  /** block_rows + 1 entries, row_ptr[0] = 0, non-decreasing */
  const int32_t *row_ptr;
  /** row_ptr[block_rows] entries in [0, block_cols) */
  const int32_t *col_idx;
  /** row_ptr[block_rows]·block_size² values of `value_type` */
  const void *values;
  /** default BISAI_FP64 */
  bisai_value_type value_type;
  /** default BISAI_COLUMN_MAJOR */
  bisai_layout layout;
  /** default BISAI_COPY */
  bisai_ownership ownership;
  /** default BISAI_HOST */
  bisai_location location;
} bisai_bcsr_desc;

/** The defaults, without sizes and arrays. */
BISAI_API bisai_bcsr_desc bisai_bcsr_desc_default(void);

/** Makes a matrix from BCSR arrays. Structure only is judged: rectangular matrices and missing
 *  diagonal blocks are legal.
 *  @param matrix  out; untouched on failure; free with bisai_bcsr_destroy()
 *  @retval BISAI_INVALID_ARGUMENT   NULL array, unknown enum, block size out of range, borrowed
 *    row-major blocks
 *  @retval BISAI_INVALID_STRUCTURE  row_ptr not starting at 0 or decreasing, column out of range,
 *                                   duplicate block, unsorted columns in a borrowed array; the
 *                                   message names the block row
 *  @retval BISAI_INDEX_OVERFLOW     block_rows·block_size or block_cols·block_size beyond int32
 *  @retval BISAI_NOT_FINITE         NaN or infinity; the message names block row and block column
 *  @retval BISAI_UNAVAILABLE        device arrays with the host backend
 *  @retval BISAI_UNSUPPORTED        borrowed host arrays with a device
 *  @retval BISAI_OUT_OF_MEMORY */
BISAI_API bisai_status bisai_bcsr_create(bisai_context *context, const bisai_bcsr_desc *desc,
                                         bisai_bcsr **matrix);

/** A scalar CSR matrix of the caller; start from bisai_csr_desc_default(). Always copied. */
typedef struct bisai_csr_desc {
  /** set by bisai_csr_desc_default() */
  size_t struct_size;
  /** ≥ 0 */
  int32_t rows;
  /** ≥ 0 */
  int32_t cols;
  /** rows + 1 entries */
  const int32_t *row_ptr;
  /** row_ptr[rows] entries in [0, cols); any order, no duplicates */
  const int32_t *col_idx;
  /** row_ptr[rows] values; of an update also in device memory */
  const double *values;
  /** of the result; 0 (default): by bisai_block_size_choose(), of the sizes that divide unless
   *  `pad` */
  int32_t block_size;
  /** default false; true: where block_size does not divide the size, an identity fills it up */
  bool pad;
} bisai_csr_desc;

/** The defaults, without sizes and arrays. */
BISAI_API bisai_csr_desc bisai_csr_desc_default(void);

/** Makes a BCSR matrix (fp64) from scalar CSR arrays: every block with at least one stored entry is
 *  kept, zero-filled. The matrix remembers the place of each entry for
 *  bisai_bcsr_update_from_csr(). This takes 4 bytes an entry of host memory, and with a device as
 *  much of its memory too (8 bytes an entry if the blocks hold more than 2³² values). The errors of
 *  bisai_bcsr_create(), and
 *  @retval BISAI_INVALID_ARGUMENT  the block size does not divide rows or cols and `pad` is false,
 *    or `pad` with rows ≠ cols */
BISAI_API bisai_status bisai_bcsr_from_csr(bisai_context *context, const bisai_csr_desc *desc,
                                           bisai_bcsr **matrix);

/** The number of block sizes that bisai_block_size_choose() chooses from: 1 to 8. */
#define BISAI_CHOSEN_SIZES 8

/** What a block size would make of a scalar matrix. */
typedef struct bisai_block_size_info {
  /** bs, 1 to 8 */
  int32_t block_size;
  /** padding included */
  int32_t block_rows;
  /** blocks with at least one stored entry; the padding's included */
  int64_t blocks;
  /** (8·block_size² + 4)·blocks: what a product reads of the matrix */
  int64_t bytes;
  /** block rows whose diagonal block has no entry; 0 for a rectangular matrix */
  int32_t missing_diagonals;
  /** diagonal blocks that are singular whatever the values of their nonzero entries are, missing
   *  ones included; 0 for a rectangular matrix */
  int32_t singular_diagonals;
  /** of the blocks' patterns of entries, in bits; 0: all blocks have the same pattern */
  double entropy;
  /** the size divides rows and cols, or the matrix is padded, and no index overflows */
  bool possible;
  /** singular_diagonals is at most 1, or at most 1 % of block_rows */
  bool sound;
  /** the blocks repeat few patterns of entries: see bisai_block_size_choose() */
  bool repeats;
} bisai_block_size_info;

/** Chooses a block size from 1 to 8 by this rule:
 *  1. The cheapest size has the fewest `bytes`; ties go to the larger.
 *  2. Where the cheapest size is not `sound`, the cheapest sound size is chosen, if one costs at
 *     most 3 times as many bytes. A system with a zero in the diagonal for each pressure is an
 *     example: no factorisation with blocks of size 1 exists.
 *  3. Where the cheapest size is 1 and sound, sizes are looked for at which the unknowns of a node
 *     are coupled by few patterns, as when their blocks are not full. Such a size is sound, costs
 *     at most 3 times as many bytes, and `repeats`: its entropy is at most 1 + log₂(bs) bits and at
 *     most a third of bs²·h(d), the entropy of random patterns of the same density d. Of these
 *     sizes, that of the least entropy is chosen. Scalar grids are excluded, whose blocks repeat
 *     because the rows do: a size bs is left out if, for some k < bs that divides bs, at least a
 *     fifth of the rows have their entries at the same distances from the diagonal as the row k
 *     rows before.
 *
 *  A matrix of more than 2²⁰ rows with less than one entry for 16 rows gets size 1.
 *
 *  Reads desc->rows, cols, row_ptr, col_idx and, unless NULL, values: entries that are zero do not
 *  make a diagonal block regular. Square matrices are padded, rectangular ones are not. Costs 8
 *  passes over the matrix and 4 bytes for each row.
 *  @param block_size  out; untouched on failure
 *  @retval BISAI_INVALID_STRUCTURE, BISAI_INVALID_ARGUMENT, BISAI_OUT_OF_MEMORY */
BISAI_API bisai_status bisai_block_size_choose(bisai_context *context, const bisai_csr_desc *desc,
                                               int32_t *block_size);

/** The same, with what it was decided by.
 *  @param sizes  out, one entry for each size from 1 to 8 */
BISAI_API bisai_status bisai_block_size_study(bisai_context *context, const bisai_csr_desc *desc,
                                              bisai_block_size_info sizes[BISAI_CHOSEN_SIZES],
                                              int32_t *block_size);

/** Frees *matrix and sets it to NULL; accepts NULL and pointers to NULL. Borrowed arrays stay the
 *  caller's. */
BISAI_API void bisai_bcsr_destroy(bisai_bcsr **matrix);

BISAI_API int32_t bisai_bcsr_block_rows(const bisai_bcsr *matrix); /**< padding included */
BISAI_API int32_t bisai_bcsr_block_cols(const bisai_bcsr *matrix); /**< padding included */
BISAI_API int32_t bisai_bcsr_block_size(const bisai_bcsr *matrix); /**< bs */
/** stored blocks, nnzb */
BISAI_API int32_t bisai_bcsr_blocks(const bisai_bcsr *matrix);
/** scalar rows without padding */
BISAI_API int32_t bisai_bcsr_rows(const bisai_bcsr *matrix);
/** scalar rows added by padding */
BISAI_API int32_t bisai_bcsr_padding(const bisai_bcsr *matrix);
/** how values are stored */
BISAI_API bisai_value_type bisai_bcsr_value_type(const bisai_bcsr *matrix);
/** identity diagonal blocks implied, not stored */
BISAI_API bool bisai_bcsr_unit_diagonal(const bisai_bcsr *matrix);

/** The matrix's own arrays (host or device memory, as the context's backend; column-major blocks).
 *  Any output may be NULL. They live as long as the matrix and must not be written to. */
BISAI_API void bisai_bcsr_arrays(const bisai_bcsr *matrix, const int32_t **row_ptr,
                                 const int32_t **col_idx, const void **values);

/** Copies the matrix's own arrays into host memory of the caller, wherever they are. Waits for the
 *  device.
 *  @param row_ptr  block_rows + 1 entries, or NULL
 *  @param col_idx  bisai_bcsr_blocks() entries, or NULL
 *  @param values   bisai_bcsr_blocks()·bs² values of the matrix's type, or NULL
 *  @retval BISAI_INVALID_ARGUMENT  no matrix
 *  @retval BISAI_DEVICE_ERROR */
BISAI_API bisai_status bisai_bcsr_fetch(const bisai_bcsr *matrix, int32_t *row_ptr,
                                        int32_t *col_idx, void *values);

/** Copies new blocks into a matrix that owns its arrays. The pattern stays the same, and nothing is
 *  allocated. A matrix from bisai_bcsr_from_csr() is refused, because its caller has one value for
 *  each entry and not bs² for each block: use bisai_bcsr_update_from_csr().
 *  @param values  **bisai_bcsr_blocks()·bs²** values of the matrix's type, blocks in the matrix's
 *                 own (sorted) order; with a context on a device, in host or device memory
 *  @param layout  order inside the blocks
 *  @retval BISAI_INVALID_ARGUMENT  borrowed values (write to your own array instead), a matrix from
 *    CSR arrays, NULL
 *  @retval BISAI_NOT_FINITE        the old values are kept */
BISAI_API bisai_status bisai_bcsr_update(bisai_bcsr *matrix, const void *values,
                                         bisai_layout layout);

/** Copies new CSR values into a matrix from bisai_bcsr_from_csr(), same pattern. The matrix is then
 *  the one that bisai_bcsr_from_csr() would make of the arrays: the zeros that fill up blocks stay,
 *  and so does the identity of the padding. Nothing is allocated, but for values in host memory on
 *  a device: they need 8·row_ptr[rows] bytes of device memory during the call. Reads 16 bytes and
 *  writes 8 bytes an entry.
 *  @param desc  as in creation: `row_ptr` and `col_idx`, in host memory, are compared with those of
 *               creation entry by entry and must be the same, in the same order; `values`:
 *               **row_ptr[rows]** values, one an entry, with a context on a device in host or
 *               device memory; `block_size` and `pad` are not read
 *  @retval BISAI_INVALID_ARGUMENT   NULL, other sizes, a matrix that was not made from CSR arrays
 *  @retval BISAI_INVALID_STRUCTURE  another pattern than in creation; the message names the first
 *    row that differs
 *  @retval BISAI_NOT_FINITE         NaN or infinity; the message names the entry
 *  @retval BISAI_OUT_OF_MEMORY, BISAI_DEVICE_ERROR  on a device only
 *  The old values are kept after every failure but BISAI_DEVICE_ERROR. */
BISAI_API bisai_status bisai_bcsr_update_from_csr(bisai_bcsr *matrix, const bisai_csr_desc *desc);

/** A matrix counts as symmetric if its asymmetry, as bisai_bcsr_asymmetry() measures it, is at most
 *  this. Rounding causes less: sums in different orders, or eleven digits in a file. Matrices that
 *  are not symmetric have more. */
#define BISAI_SYMMETRY_LIMIT 1e-10

/** How far a square matrix is from its transpose, whatever type its values are stored in:
 *
 *      max over i, j of |a_ij − a_ji| / max(|a_ij|, |a_ji|, √|a_ii a_jj|),
 *
 *  0 for a symmetric matrix and at most 2 (a_ij = −a_ji). Entries that are not stored count as
 *  zero. A symmetric scaling D A D does not change the asymmetry. A measurement reads A about
 *  twice, looks for the mirror image of each block, and waits for a device. Its result is kept
 *  until new values come in; borrowed values are measured in each call. Allocates nothing. The bits
 *  do not depend on threads or on the backend.
 *  @param asymmetry  out
 *  @param mirrored   out unless NULL: whether there is a stored block (j, i) for each stored block
 *    (i, j)
 *  @retval BISAI_INVALID_ARGUMENT  NULL, or the matrix is not square */
BISAI_API bisai_status bisai_bcsr_asymmetry(const bisai_bcsr *matrix, double *asymmetry,
                                            bool *mirrored);

/** y ← A x. x has block_cols·bs and y block_rows·bs values; they must not overlap. On a device each
 *  may be in its memory, which is used in place, or in host memory, which is copied: the call then
 *  waits, and needs device memory for the copy. Moves nnzb·(bs²·w + 4) + 4·(block_rows + 1) +
 *  8·(rows + cols) bytes (w: bytes of a value) for 2·nnzb·bs² flops. Bitwise repeatable for any
 *  number of threads. */
BISAI_API bisai_status bisai_bcsr_multiply(const bisai_bcsr *matrix, const double *x, double *y);

/** Y ← A X for `count` vectors, vector c starting at x + c·ldx and y + c·ldy. Reads A once for
 *  every four vectors. */
BISAI_API bisai_status bisai_bcsr_multiply_many(const bisai_bcsr *matrix, int32_t count,
                                                const double *x, int64_t ldx, double *y,
                                                int64_t ldy);

#ifdef __cplusplus
}
#endif
#endif
