/* SPDX-License-Identifier: BSD-3-Clause */
/** @file bcsr.h
 *  Block compressed sparse row matrices.
 *
 *  A matrix has `block_rows` × `block_cols` square blocks of size bs. Block row i holds the blocks
 *  row_ptr[i] … row_ptr[i+1]-1. Block p lies in block column col_idx[p]. Its bs² values start at
 *  values[p·bs²] and are stored column by column. */
#ifndef BISAI_BCSR_H
#define BISAI_BCSR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <bisai/context.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The largest block size. Sizes 1 to 8 have specialised kernels; larger sizes use a generic
 *  kernel. */
#define BISAI_MAX_BLOCK_SIZE 32

/** The formats in which values are stored. The brackets give the bits of the exponent and of the
 *  mantissa. Arithmetic is always fp64; narrowing rounds to nearest even. A matrix supports the
 *  first four formats, and block-Jacobi supports all. */
typedef enum bisai_value_type {
  /** double (11, 52) */
  BISAI_FP64 = 0,
  /** float (8, 23) */
  BISAI_FP32 = 1,
  /** IEEE half (5, 10), as uint16_t */
  BISAI_FP16 = 2,
  /** bfloat16 (8, 7), as uint16_t */
  BISAI_BF16 = 3,
  /** the upper 16 bits of a double (11, 4), as uint16_t; only for block-Jacobi */
  BISAI_FP11_4 = 4,
  /** the upper 32 bits of a double (11, 20), as uint32_t; only for block-Jacobi */
  BISAI_FP11_20 = 5,
  /** one of the six formats above for each group of blocks, chosen by the condition numbers of the
   *  blocks; only for block-Jacobi */
  BISAI_ADAPTIVE = 6
} bisai_value_type;

/** The value types of matrices: X(enumerator, word, bytes, mantissa). `bytes` is the size of a
 *  value. `mantissa` is the number of stored mantissa bits: the unit roundoff is
 *  2^−(mantissa + 1). */
#define BISAI_MATRIX_TYPE_LIST(X)                                                                  \
  X(BISAI_FP64, "fp64", 8, 52)                                                                     \
  X(BISAI_FP32, "fp32", 4, 23)                                                                     \
  X(BISAI_FP16, "fp16", 2, 10)                                                                     \
  X(BISAI_BF16, "bf16", 2, 7)

/** The value types of a single block in block-Jacobi, with the same columns. */
#define BISAI_BLOCK_TYPE_LIST(X)                                                                   \
  BISAI_MATRIX_TYPE_LIST(X)                                                                        \
  X(BISAI_FP11_4, "fp11_4", 2, 4)                                                                  \
  X(BISAI_FP11_20, "fp11_20", 4, 20)

/** All value types, with the same columns. BISAI_ADAPTIVE has the size and the mantissa of its
 *  widest format. */
#define BISAI_VALUE_TYPE_LIST(X)                                                                   \
  BISAI_BLOCK_TYPE_LIST(X)                                                                         \
  X(BISAI_ADAPTIVE, "adaptive", 8, 52)

/** The numbers of value types: those of matrices are 0 … BISAI_MATRIX_TYPES − 1, all are
 *  0 … BISAI_VALUE_TYPES − 1. */
enum {
#define BISAI_VALUE_TYPE_COUNT(enumerator, word, bytes, mantissa) +1
  BISAI_MATRIX_TYPES = 0 BISAI_MATRIX_TYPE_LIST(BISAI_VALUE_TYPE_COUNT),
  BISAI_VALUE_TYPES = 0 BISAI_VALUE_TYPE_LIST(BISAI_VALUE_TYPE_COUNT)
#undef BISAI_VALUE_TYPE_COUNT
};

/** Returns "fp64", "fp32", "fp16", "bf16", "fp11_4", "fp11_20" or "adaptive", and "unknown value
 *  type" for other values. */
BISAI_API const char *bisai_value_type_string(bisai_value_type value);

/** Looks up a word of bisai_value_type_string().
 *  @param value  out; unchanged if the word is unknown
 *  @returns      false for an unknown word and for NULL */
BISAI_API bool bisai_value_type_parse(const char *word, bisai_value_type *value);

/** The order of the values inside a block of the caller's arrays. */
typedef enum bisai_layout { BISAI_COLUMN_MAJOR = 0, BISAI_ROW_MAJOR = 1 } bisai_layout;

/** How a matrix uses the caller's arrays. */
typedef enum bisai_ownership {
  /** The matrix copies the arrays and sorts its copy. The caller may free the arrays after
   *  creation. */
  BISAI_COPY = 0,
  /** The matrix uses the caller's arrays in place. They are in memory that the backend can access,
   *  have sorted columns and column-major blocks, and outlive the matrix. Their value type is one
   *  of the four of matrices. Values that the caller writes later must be finite, and the structure
   *  must not change. With a device the values begin at a multiple of the largest power of two, at
   *  most 16, that divides the bytes of a block. In fp64 this is 16 for even block sizes, and 8 for
   *  odd ones. */
  BISAI_BORROW = 1
} bisai_ownership;

/** The memory that holds the caller's arrays. */
typedef enum bisai_location { BISAI_HOST = 0, BISAI_DEVICE = 1 } bisai_location;

/** A block-sparse matrix. */
typedef struct bisai_bcsr bisai_bcsr;

/** Describes the caller's arrays; start from bisai_bcsr_desc_default(). */
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
  /** 1: row_ptr and col_idx count from 1, as in Fortran; only with COPY and HOST. The call copies
   *  both for its time. Messages count from 0. Default 0 */
  int32_t index_base;
} bisai_bcsr_desc;

/** Returns a description with the default values; the sizes are zero and the arrays are NULL. */
BISAI_API bisai_bcsr_desc bisai_bcsr_desc_default(void);

/** Creates a matrix from BCSR arrays. The matrix may be rectangular, and diagonal blocks may be
 *  missing.
 *  @param matrix  out; unchanged on failure; free with bisai_bcsr_destroy()
 *  @retval BISAI_INVALID_ARGUMENT   an array is NULL, an enumerator is unknown, the block size is
 *                                   out of range, or borrowed blocks are row-major
 *  @retval BISAI_INVALID_STRUCTURE  row_ptr does not start at 0 or decreases, a column is out of
 *                                   range, a block is duplicate, or the columns of a borrowed array
 *                                   are not sorted; the message names the block row
 *  @retval BISAI_INDEX_OVERFLOW     block_rows·block_size or block_cols·block_size exceeds int32
 *  @retval BISAI_NOT_FINITE         a value is NaN or infinite; the message names the block row and
 *                                   the block column
 *  @retval BISAI_UNAVAILABLE        the arrays are in device memory and the backend is the host
 *  @retval BISAI_UNSUPPORTED        the backend is a device, and borrowed arrays are in host memory
 *                                   or their values are not aligned as BISAI_BORROW says
 *  @retval BISAI_OUT_OF_MEMORY */
BISAI_API bisai_status bisai_bcsr_create(bisai_context *context, const bisai_bcsr_desc *desc,
                                         bisai_bcsr **matrix);

/** Describes the caller's scalar CSR matrix; start from bisai_csr_desc_default(). The arrays are
 *  always copied. They are in host memory; bisai_bcsr_from_csr() also takes all three of them in
 *  the memory of the context's device. */
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
  /** row_ptr[rows] values; bisai_bcsr_update_from_csr() also accepts device memory */
  const double *values;
  /** the block size of the result; 0 (default): bisai_block_size_choose() chooses it, and without
   *  `pad` only from the sizes that divide rows and cols */
  int32_t block_size;
  /** default false; true: a matrix whose size is not a multiple of block_size is padded with an
   *  identity */
  bool pad;
  /** the number of unknowns of a node, if they are stored field by field (all u, then all v, then
   *  all w): unknown f of node i is row f·rows/fields + i. The result has a block row of size
   *  `fields` for each node. Default 0, like 1: the rows keep their order */
  int32_t fields;
  /** rows entries: the node of each row, for any numbering and for nodes of different sizes. The
   *  nodes are 0, 1, … without gaps. Block row k of the result is node k, and is padded inside with
   *  an identity. `block_size` 0 is that of the largest node. Default NULL */
  const int32_t *node;
  /** rows entries: the row inside the block that each row becomes, from 0. NULL (default): the rows
   *  of a node keep their order, and the padding comes last */
  const int32_t *component;
  /** default false; true, with `block_size` 0 and without `fields` and `node`: the nodes that
   *  bisai_csr_find_nodes() finds are taken if a product with their blocks reads fewer bytes than
   *  one with the blocks of every size from 1 to 8. Vectors that belong to the matrix are in the
   *  numbering of the blocks then. The search needs 44 bytes for each row during the call */
  bool find_nodes;
  /** 1: row_ptr and col_idx count from 1, as in Fortran; each call that reads them makes a copy of
   *  both for its time. Nodes, components and messages count from 0. Default 0 */
  int32_t index_base;
} bisai_csr_desc;

/** Returns a description with the default values; the sizes are zero and the arrays are NULL. */
BISAI_API bisai_csr_desc bisai_csr_desc_default(void);

/** Creates a BCSR matrix (fp64) from scalar CSR arrays. The matrix stores each block that has at
 *  least one entry, and fills the rest of the block with zeros. With `fields` or `node` the rows
 *  and columns of the blocks are numbered by node, and so are all vectors that belong to the
 *  matrix: bisai_bcsr_to_blocks() and bisai_bcsr_from_blocks() move vectors between the caller's
 *  numbering and that of the blocks. During the call these matrices need 16 bytes for each row and
 *  12 for each entry in addition. The matrix also stores the position
 *  of each entry for bisai_bcsr_update_from_csr(). The positions take 4 bytes of host memory for
 *  each entry, or 8 bytes if the blocks hold more than 2³² values. With a device they take the same
 *  amount of device memory in addition.
 *
 *  If the device has the arrays, the blocks are found there, and the positions stay there: for a
 *  given block size that divides rows and cols, without nodes, and for rows whose columns ascend.
 *  Other arrays are copied to the host first. Returns the errors of bisai_bcsr_create() and:
 *  @retval BISAI_INVALID_ARGUMENT  the block size does not divide rows or cols and `pad` is false;
 *                                  rows ≠ cols, with `pad`, `fields`, `node` or `find_nodes`; the
 *                                  fields do not divide the rows; a node is larger than the block
 *                                  size; or `find_nodes` is given with a block size, fields or
 *                                  nodes
 *  @retval BISAI_INVALID_STRUCTURE also: a node has no row, or two rows are the same component of a
 *                                  node */
BISAI_API bisai_status bisai_bcsr_from_csr(bisai_context *context, const bisai_csr_desc *desc,
                                           bisai_bcsr **matrix);

/** The number of block sizes that bisai_block_size_choose() compares: 1 to 8. */
#define BISAI_CHOSEN_SIZES 8

/** Properties of a scalar matrix that is stored in blocks of one size. */
typedef struct bisai_block_size_info {
  /** bs, 1 to 8 */
  int32_t block_size;
  /** the number of block rows, padding included */
  int32_t block_rows;
  /** the number of blocks with at least one stored entry, blocks of the padding included */
  int64_t blocks;
  /** (8·block_size² + 4)·blocks: the bytes of the matrix that a product reads */
  int64_t bytes;
  /** the number of block rows whose diagonal block has no entry; 0 for a rectangular matrix */
  int32_t missing_diagonals;
  /** the number of structurally singular diagonal blocks: they are singular for all values of their
   *  nonzero entries. Missing diagonal blocks are included. 0 for a rectangular matrix. */
  int32_t singular_diagonals;
  /** the entropy, in bits, of the nonzero patterns of the blocks; 0 if all blocks have the same
   *  pattern */
  double entropy;
  /** true if the size divides rows and cols, or the matrix is padded, and no index overflows */
  bool possible;
  /** true if singular_diagonals is at most 1 or at most 1 % of block_rows */
  bool sound;
  /** true if the blocks have few different nonzero patterns, by rule 3 of
   *  bisai_block_size_choose() */
  bool repeats;
} bisai_block_size_info;

/** Chooses a block size from 1 to 8 by this rule:
 *  1. The cheapest size has the fewest `bytes`. If two sizes have the same bytes, the larger one is
 *     the cheapest.
 *  2. If the cheapest size is not `sound`, the cheapest sound size is chosen, provided that it
 *     costs at most 3 times as many bytes. An example is a system with a zero on the diagonal for
 *     each pressure: no factorisation with blocks of size 1 exists.
 *  3. If the cheapest size is 1 and is sound, a larger size may be chosen. This finds matrices
 *     whose nodes have several unknowns but not full blocks. A candidate is sound, costs at most 3
 *     times as many bytes, and `repeats`: it has two blocks or more, and its entropy is at most
 *     1 + log₂(bs) bits and at most a third of bs²·h(d), the entropy of random patterns of the same
 *     density d. The candidate with the least entropy is chosen. Scalar grids are excluded, because
 *     their block patterns repeat only as a result of repeated row patterns: the size bs is no
 *     candidate if, for a k < bs that divides bs, at least a fifth of the rows r have their entries
 *     at the same distances from the diagonal as row r − k.
 *
 *  The size is 1 if the matrix has more than 2²⁰ rows and fewer than one entry per 16 rows.
 *
 *  The function reads desc->rows, cols, row_ptr, col_idx and, unless NULL, values. An entry whose
 *  value is zero counts as missing in the test for singular diagonal blocks. Square matrices are
 *  padded; rectangular matrices are not. The cost is 8 passes over the matrix and 4 bytes for each
 *  row.
 *  @param block_size  out; unchanged on failure
 *  @retval BISAI_INVALID_STRUCTURE, BISAI_INVALID_ARGUMENT, BISAI_OUT_OF_MEMORY */
BISAI_API bisai_status bisai_block_size_choose(bisai_context *context, const bisai_csr_desc *desc,
                                               int32_t *block_size);

/** Chooses a block size as bisai_block_size_choose() does, and returns the properties of all sizes.
 *  Returns the errors of that function.
 *  @param sizes  out, one entry for each size from 1 to 8 */
BISAI_API bisai_status bisai_block_size_study(bisai_context *context, const bisai_csr_desc *desc,
                                              bisai_block_size_info sizes[BISAI_CHOSEN_SIZES],
                                              int32_t *block_size);

/** Finds the nodes of a matrix whose unknowns have any order and of which some were eliminated, as
 *  displacements at the planes of symmetry of an elastic body. The rows of a node have the same
 *  columns, and are coupled to each other. Rows that agree so are one node; the size that most rows
 *  have is the block size, and larger groups are cut into nodes of that size. Then smaller groups
 *  that are coupled and have at least 70 % of their columns in common are joined, because zeros may
 *  not be stored. The nodes are numbered by their first rows. Entries count whatever their values
 *  are.
 *
 *  There are nodes if the block size is 2 to 8, at least half of the rows are in nodes of that size
 *  before smaller ones are joined, and the padded blocks take at most 1.5 times the bytes of the
 *  entries. Otherwise the matrix has single unknowns, unknowns that are coupled to different ones,
 *  or too many zeros.
 *
 *  In nodes of fewer rows, each row becomes the component whose entries in other rows of that
 *  component sum up to most of the diagonal entry, with the opposite sign: a guess, first from
 *  larger nodes, then from all in some sweeps. Where two rows would become the same one, or without
 *  values, the rows keep their order.
 *
 *  Reads rows, cols, row_ptr, col_idx and, unless NULL, values. Needs about 36 bytes for each row,
 *  and time for a few passes over the entries.
 *  @param node        out, rows entries: fits bisai_csr_desc; unspecified if there are no nodes
 *  @param component   out, rows entries: the same
 *  @param nodes       out; the number of nodes; 0: none were found
 *  @param block_size  out; the largest number of rows of a node
 *  @retval BISAI_INVALID_STRUCTURE, BISAI_INVALID_ARGUMENT, BISAI_OUT_OF_MEMORY */
BISAI_API bisai_status bisai_csr_find_nodes(bisai_context *context, const bisai_csr_desc *desc,
                                            int32_t *node, int32_t *component, int32_t *nodes,
                                            int32_t *block_size);

/** Frees *matrix and sets it to NULL; accepts NULL and pointers to NULL. Borrowed arrays are not
 *  freed. */
BISAI_API void bisai_bcsr_destroy(bisai_bcsr **matrix);

/** Returns the number of block rows, padding included. */
BISAI_API int32_t bisai_bcsr_block_rows(const bisai_bcsr *matrix);
/** Returns the number of block columns, padding included. */
BISAI_API int32_t bisai_bcsr_block_cols(const bisai_bcsr *matrix);
/** Returns the block size bs. */
BISAI_API int32_t bisai_bcsr_block_size(const bisai_bcsr *matrix);
/** Returns the number of stored blocks, nnzb. */
BISAI_API int32_t bisai_bcsr_blocks(const bisai_bcsr *matrix);
/** Returns the number of scalar rows without padding. */
BISAI_API int32_t bisai_bcsr_rows(const bisai_bcsr *matrix);
/** Returns the number of scalar rows of the padding. */
BISAI_API int32_t bisai_bcsr_padding(const bisai_bcsr *matrix);
/** Returns the format in which the values are stored. */
BISAI_API bisai_value_type bisai_bcsr_value_type(const bisai_bcsr *matrix);
/** Returns true if the diagonal blocks are identities that are implied and not stored. */
BISAI_API bool bisai_bcsr_unit_diagonal(const bisai_bcsr *matrix);

/** Moves a vector, or several near-null-space vectors, from the caller's numbering into that of the
 *  blocks. Rows of padding become zero, so that they stay zero in a solution. Matrices without
 *  `fields` and `node` have their padding at the end, if any. With a device, each array may be in
 *  device memory or in host memory, as for bisai_bcsr_multiply().
 *  @param width   the number of values of each row: 1 for a vector, k for k near-null-space vectors
 *                 that are stored row by row
 *  @param x       bisai_bcsr_rows()·width values
 *  @param blocks  out; block_rows·bs·width values; must not overlap x
 *  @retval BISAI_INVALID_ARGUMENT, BISAI_OUT_OF_MEMORY, BISAI_DEVICE_ERROR */
BISAI_API bisai_status bisai_bcsr_to_blocks(const bisai_bcsr *matrix, int32_t width,
                                            const double *x, double *blocks);

/** Moves vectors back into the caller's numbering: the reverse of bisai_bcsr_to_blocks(). Values of
 *  the padding are left out. */
BISAI_API bisai_status bisai_bcsr_from_blocks(const bisai_bcsr *matrix, int32_t width,
                                              const double *blocks, double *x);

/** Finds the row of the blocks, block·bs + component, that each of the caller's rows has become.
 *  @param place  out, in host memory: bisai_bcsr_rows() entries
 *  @retval BISAI_INVALID_ARGUMENT  an argument is NULL */
BISAI_API bisai_status bisai_bcsr_places(const bisai_bcsr *matrix, int32_t *place);

/** Returns the arrays that the matrix uses. They are in host or device memory, according to the
 *  context's backend, and their blocks are column-major. They live as long as the matrix, and the
 *  caller must not write to them. Any output may be NULL. */
BISAI_API void bisai_bcsr_arrays(const bisai_bcsr *matrix, const int32_t **row_ptr,
                                 const int32_t **col_idx, const void **values);

/** Copies the arrays of the matrix from host or device memory into the caller's host memory. Waits
 *  for the device.
 *  @param row_ptr  block_rows + 1 entries, or NULL
 *  @param col_idx  bisai_bcsr_blocks() entries, or NULL
 *  @param values   bisai_bcsr_blocks()·bs² values of the matrix's type, or NULL
 *  @retval BISAI_INVALID_ARGUMENT  the matrix is NULL
 *  @retval BISAI_DEVICE_ERROR */
BISAI_API bisai_status bisai_bcsr_fetch(const bisai_bcsr *matrix, int32_t *row_ptr,
                                        int32_t *col_idx, void *values);

/** Copies new blocks into a matrix that owns its arrays. The pattern stays the same, and nothing is
 *  allocated. The function refuses a matrix from bisai_bcsr_from_csr(): its caller has one value
 *  for each entry instead of bs² for each block, and uses bisai_bcsr_update_from_csr().
 *  @param values  **bisai_bcsr_blocks()·bs²** values of the matrix's type, with the blocks in the
 *                 sorted order of the matrix; in host memory, or in device memory if the context
 *                 has a device
 *  @param layout  the order of the values inside a block
 *  @retval BISAI_INVALID_ARGUMENT  an argument is NULL, the matrix was made from CSR arrays, or its
 *                                  values are borrowed (write to your array instead)
 *  @retval BISAI_NOT_FINITE        a value is NaN or infinite; the matrix keeps the old values */
BISAI_API bisai_status bisai_bcsr_update(bisai_bcsr *matrix, const void *values,
                                         bisai_layout layout);

/** Copies new CSR values into a matrix from bisai_bcsr_from_csr(). The pattern stays the same. The
 *  result is equal to the matrix that bisai_bcsr_from_csr() creates from the new arrays: the zeros
 *  inside the blocks and the identity of the padding do not change. Reads 16 bytes and writes 8
 *  bytes for each entry. Allocates nothing on the host backend. With a device, values in host
 *  memory need 8 bytes of device memory for each entry during the call.
 *  @param desc  describes the arrays as in creation. `row_ptr` and `col_idx` are in host memory and
 *               must be equal to those of creation, entry by entry; the call compares them. Both
 *               are NULL if the caller knows that they are equal; the call then compares nothing.
 *               `values` has one value for each entry, in the order of creation, in host memory,
 *               or in device memory if the context has a device. All other
 *               members are ignored.
 *  @retval BISAI_INVALID_ARGUMENT   an argument or only one array of the pattern is NULL, the sizes
 *                                   differ, or the matrix was not made from CSR arrays
 *  @retval BISAI_INVALID_STRUCTURE  the pattern differs from that of creation; the message names
 *                                   the first row that differs
 *  @retval BISAI_NOT_FINITE         a value is NaN or infinite; the message names the entry
 *  @retval BISAI_OUT_OF_MEMORY, BISAI_DEVICE_ERROR  only on a device
 *
 *  The matrix keeps the old values after every failure except BISAI_DEVICE_ERROR. */
BISAI_API bisai_status bisai_bcsr_update_from_csr(bisai_bcsr *matrix, const bisai_csr_desc *desc);

/** The largest asymmetry, as bisai_bcsr_asymmetry() measures it, of a matrix that counts as
 *  symmetric. Rounding causes less asymmetry, for example if the two halves were summed in
 *  different orders or if a file has only eleven digits. Matrices that are not symmetric have
 *  more. */
#define BISAI_SYMMETRY_LIMIT 1e-10

/** Measures how much a square matrix differs from its transpose, for every value type:
 *
 *      max over i, j of |a_ij − a_ji| / max(|a_ij|, |a_ji|, √|a_ii a_jj|).
 *
 *  The asymmetry is 0 for a symmetric matrix and at most 2 (a_ij = −a_ji). Entries that are not
 *  stored count as zero. A symmetric scaling D A D does not change the asymmetry. A measurement
 *  reads A about twice, searches for the transposed block of each block, waits for the device and
 *  allocates nothing. The matrix stores the result until its values are updated. With borrowed
 *  values, each call measures again. The bits depend neither on the number of threads nor on the
 *  backend.
 *  @param asymmetry  out
 *  @param mirrored   out unless NULL; true if block (j, i) is stored for each stored block (i, j)
 *  @retval BISAI_INVALID_ARGUMENT  an argument is NULL, or the matrix is not square */
BISAI_API bisai_status bisai_bcsr_asymmetry(const bisai_bcsr *matrix, double *asymmetry,
                                            bool *mirrored);

/** Computes y ← A x. x has block_cols·bs values and y has block_rows·bs values; they must not
 *  overlap. With a device, each vector may be in device memory or in host memory. A vector in
 *  device memory is used in place. A vector in host memory is copied: the call needs device memory
 *  for the copy and waits for the device. Moves nnzb·(bs²·w + 4) + 4·(block_rows + 1) + 8·(rows +
 *  cols) bytes for 2·nnzb·bs² flops (w: bytes of a value). Bitwise repeatable for any number of
 *  threads.
 *  @retval BISAI_INVALID_ARGUMENT, BISAI_OUT_OF_MEMORY, BISAI_DEVICE_ERROR */
BISAI_API bisai_status bisai_bcsr_multiply(const bisai_bcsr *matrix, const double *x, double *y);

/** Computes y ← y + A x, as bisai_bcsr_multiply() does otherwise: the part of a product that ghosts
 *  make, for example. */
BISAI_API bisai_status bisai_bcsr_multiply_add(const bisai_bcsr *matrix, const double *x,
                                               double *y);

/** Computes Y ← A X for `count` vectors, as bisai_bcsr_multiply() does for one. Vector c starts at
 *  x + c·ldx and y + c·ldy. Reads A once for every four vectors. */
BISAI_API bisai_status bisai_bcsr_multiply_many(const bisai_bcsr *matrix, int32_t count,
                                                const double *x, int64_t ldx, double *y,
                                                int64_t ldy);

#ifdef __cplusplus
}
#endif
#endif
