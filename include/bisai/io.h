/** @file io.h
 *  Reading and writing matrices and vectors: Matrix Market, plain or compressed (.gz, .xz, .bz2, .zst where libarchive was found). */
#ifndef BISAI_IO_H
#define BISAI_IO_H

#include <bisai/bcsr.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Called now and then while reading; bytes_total is the size of the file, or 0 when unknown. */
typedef void (*bisai_progress)(void *user, int64_t bytes_read, int64_t bytes_total);

/** How a matrix is read; start from bisai_read_options_default(). */
typedef struct bisai_read_options {
  size_t struct_size;      /**< set by bisai_read_options_default() */
  int32_t block_size;      /**< 1 … 32; 0 (default): bisai_block_size_choose() */
  bool pad;                /**< default true: fill up with an identity where the block size does not divide the size */
  bisai_progress progress; /**< default NULL */
  void *progress_user;     /**< passed through */
} bisai_read_options;

/** Default options. */
BISAI_API bisai_read_options bisai_read_options_default(void);

/** Reads a square sparse matrix: coordinate real, integer or pattern (value 1); general, symmetric or skew-symmetric.
 *  Entries may come in any order; duplicates add up. Memory: at most 3 times that of the result (of one that keeps
 *  duplicates, if there are any) and 1 MiB.
 *  @param options  NULL: the defaults
 *  @param matrix  out; untouched on failure; free with bisai_bcsr_destroy()
 *  @retval BISAI_IO_ERROR     cannot be opened, read or decompressed
 *  @retval BISAI_PARSE_ERROR  the message names the line and what is wrong with it
 *  @retval BISAI_NOT_FINITE   NaN or infinity; names the line
 *  @retval BISAI_UNSUPPORTED  complex or Hermitian, rectangular or empty, or an array where a sparse matrix is needed
 *  @retval BISAI_UNAVAILABLE  a compressed file, and this build has no libarchive
 *  @retval BISAI_INDEX_OVERFLOW, BISAI_INVALID_ARGUMENT, BISAI_OUT_OF_MEMORY */
BISAI_API bisai_status bisai_read_matrix(bisai_context *context, const char *path, const bisai_read_options *options,
                                         bisai_bcsr **matrix);

/** Reads a vector of exactly n values (host memory): an n × 1 array or coordinate file. Errors as bisai_read_matrix();
 *  another length is BISAI_INVALID_ARGUMENT. After a failure the values are unspecified. */
BISAI_API bisai_status bisai_read_vector(bisai_context *context, const char *path, int64_t n, double *values);

/** Reads the right-hand side that stands with the matrix of bisai_read_matrix(path): NAME_b.mtx beside NAME.mtx in an
 *  archive, a vector behind the matrix in a PETSc file. Errors as bisai_read_vector().
 *  @param n        scalar rows of the matrix without padding: bisai_bcsr_rows()
 *  @param values   out; n values (host memory), unspecified after a failure or where there is none
 *  @param columns  out; 0: there is none (so for every other file); 1; or how many columns it has, of which the first was
 *                  read */
BISAI_API bisai_status bisai_read_rhs(bisai_context *context, const char *path, int64_t n, double *values,
                                      int64_t *columns);

/** Writes n values (host memory) as a Matrix Market n × 1 array with 17 significant digits. A file that cannot be written
 *  completely is removed.
 *  @retval BISAI_IO_ERROR    names the path and the system's reason
 *  @retval BISAI_NOT_FINITE  nothing is written
 *  @retval BISAI_INVALID_ARGUMENT */
BISAI_API bisai_status bisai_write_vector(bisai_context *context, const char *path, int64_t n, const double *values);

#ifdef __cplusplus
}
#endif
#endif
