/* SPDX-License-Identifier: BSD-3-Clause */
/** @file io.h
 *  Reading and writing matrices and vectors.
 *
 *  - Matrix Market text (NIST);
 *  - PETSc's binary files, as MatView() and VecView() write them: real, double, with 32-bit or
 *    (reading) 64-bit indices;
 *  - archives of the SuiteSparse Matrix Collection: NAME.tar.gz with NAME/NAME.mtx and perhaps
 *    NAME/NAME_b.mtx.
 *
 *  All of them may be compressed (.gz, .xz, .bz2, .zst; reading also .lz, .lz4 and .Z). Reading .gz
 *  needs zlib; archives and all other compression need libarchive. A build without them returns
 *  BISAI_UNAVAILABLE. A file that is read is recognised by what it holds, a file that is written by
 *  the ending of its name.
 *
 *  Compressed files are always read to their ends, and are refused if a check fails: the CRC and
 *  the length of every member of .gz, and the checks of .xz, .bz2 and .lz. A .zst or .lz4 file may
 *  have no check (zstd and lz4 write one, bisai writes none into .zst), and .Z never has one: a
 *  changed byte may go unnoticed there. Zeros may follow the last member of .gz, and nothing else.
 *
 *  A file is written under another name in the same folder, NAME.PROCESS-K.part or
 *  bisai.PROCESS-K.part, and renamed when it is whole. An old file of the name is kept until then,
 *  and after a failure. Some folders do not allow this, and an old file is overwritten in place
 *  there. If the folder takes no new files, the contents are written into the old file at once. If
 *  only the renaming is refused (a mount point, or another user's file in a folder with the sticky
 *  bit), the whole new file is copied into the old one. Overwriting is not atomic: if it fails, on
 *  a full disk for example, it leaves an incomplete file. Links are followed, and a link to nothing
 *  creates its target. Pipes and devices are written directly. */
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
  /** set by bisai_read_options_default() */
  size_t struct_size;
  /** 1 … 32; 0 (default): by the rule that stands at bisai_block_size_choose() */
  int32_t block_size;
  /** default true: fill up with an identity where the block size does not divide the size */
  bool pad;
  /** default NULL */
  bisai_progress progress;
  /** passed through */
  void *progress_user;
  /** the most bytes of host memory that reading may hold at a time. The result counts, buffers of
   *  less than 1 MiB do not. Default 0: the physical memory of the machine */
  int64_t max_bytes;
} bisai_read_options;

/** Default options. */
BISAI_API bisai_read_options bisai_read_options_default(void);

/** Reads a square sparse matrix. Memory: at most 3 times the result, 16 bytes for each scalar row
 *  and 1 MiB, together; here duplicates count as entries of the result. Memory for entries is taken
 *  as they arrive, whatever number the file announces. A matrix of many rows may be empty. If
 *  options->max_bytes does not allow so many rows in any block size, they are refused before
 *  anything is allocated for them.
 *
 *  Matrix Market: coordinate real, integer or pattern (value 1); general, symmetric or
 *  skew-symmetric. Entries may come in any order; duplicates add up.
 *
 *  PETSc: one matrix, at the beginning of the file; the columns of a row ascend. If
 *  options->block_size is 0, a file FILE.info beside FILE (or FILE.gz) may give the block size, by
 *  -matload_block_size N with N > 1. Nothing stands beside a pipe.
 *
 *  Archive: the file NAME.mtx that is named as the archive, else the one that is named as its
 *  folder, else the only one. Nothing is unpacked to disk. An archive that comes through a pipe is
 *  kept in a temporary file without a name, in $TMPDIR or /tmp.
 *  @param options  NULL: the defaults
 *  @param matrix  out; untouched on failure; free with bisai_bcsr_destroy()
 *  @retval BISAI_IO_ERROR     cannot be opened, read, decompressed or unpacked, or a check of the
 *    compression fails
 *  @retval BISAI_PARSE_ERROR  the message names the line (Matrix Market), or the row or byte
 *    (PETSc), and what is wrong with it
 *  @retval BISAI_NOT_FINITE   NaN or infinity; names the line or the entry
 *  @retval BISAI_UNSUPPORTED  complex or Hermitian, rectangular or empty, dense where a sparse
 *                             matrix is needed, or more than one matrix; an archive's candidates
 *                             are listed
 *  @retval BISAI_UNAVAILABLE  a compressed file or an archive, and this build has no libarchive or
 *    no zlib
 *  @retval BISAI_OUT_OF_MEMORY  an allocation failed, or more than options->max_bytes are needed:
 *    the message names both numbers
 *  @retval BISAI_INDEX_OVERFLOW, BISAI_INVALID_ARGUMENT */
BISAI_API bisai_status bisai_read_matrix(bisai_context *context, const char *path,
                                         const bisai_read_options *options, bisai_bcsr **matrix);

/** A matrix and the right-hand side that stands with it in its file; set struct_size before the
 *  call. */
typedef struct bisai_system {
  /** sizeof(bisai_system) */
  size_t struct_size;
  /** out */
  bisai_bcsr *matrix;
  /** out; bisai_bcsr_rows() values, in host memory of the context's allocator; NULL where there is
   *  none */
  double *rhs;
  /** out; 0: there is none; 1; or how many columns it has, of which the first was read */
  int64_t rhs_columns;
  /** out, also after a failure: the matrix can be read, but the right-hand side cannot */
  bool rhs_failed;
} bisai_system;

/** Reads a matrix as bisai_read_matrix() does and the right-hand side as bisai_read_rhs() does, and
 *  opens the file once, so that it may be a pipe. Memory and errors are those of these two calls. A
 *  right-hand side is part of the result, with 8 bytes a row.
 *  @param options  NULL: the defaults
 *  @param system   out; untouched on failure, except for rhs_failed; free with bisai_system_clear()
 *  @retval BISAI_INVALID_ARGUMENT  NULL, a wrong struct_size, or a right-hand side of another
 *    length than the matrix */
BISAI_API bisai_status bisai_read_system(bisai_context *context, const char *path,
                                         const bisai_read_options *options, bisai_system *system);

/** Frees the matrix and the right-hand side that bisai_read_system() gave, and sets both to NULL;
 *  accepts NULL. To keep the matrix, copy its pointer and set system->matrix to NULL before this
 *  call. */
BISAI_API void bisai_system_clear(bisai_context *context, bisai_system *system);

/** The block size that stands with a file: of a PETSc file what its FILE.info says, as for
 *  bisai_read_matrix(); 0 where nothing says it. The matrix is not read, and a pipe or a device is
 *  not opened: nothing stands with it.
 *  @retval BISAI_IO_ERROR  cannot be opened or read, or the .info says no block size that can be
 *    used
 *  @retval BISAI_UNAVAILABLE, BISAI_INVALID_ARGUMENT, BISAI_OUT_OF_MEMORY */
BISAI_API bisai_status bisai_read_block_size(bisai_context *context, const char *path,
                                             int32_t *block_size);

/** Reads a vector of exactly n values (host memory): a Matrix Market n × 1 array or coordinate
 *  file, a vector of PETSc, or the right-hand side that stands with a matrix as for
 *  bisai_read_rhs(). Errors as bisai_read_matrix(); another length is BISAI_INVALID_ARGUMENT, more
 *  columns or none BISAI_UNSUPPORTED. After a failure the values are unspecified. */
BISAI_API bisai_status bisai_read_vector(bisai_context *context, const char *path, int64_t n,
                                         double *values);

/** Reads the right-hand side that stands with the matrix of bisai_read_matrix(path): NAME_b.mtx
 *  beside NAME.mtx in an archive, a vector behind the matrix in a PETSc file. Errors as
 *  bisai_read_vector().
 *  @param n        scalar rows of the matrix without padding: bisai_bcsr_rows()
 *  @param values   out; n values (host memory), unspecified after a failure or where there is none
 *  @param columns  out; 0: there is none (so for every other file); 1; or how many columns it has,
 *                  of which the first was read */
BISAI_API bisai_status bisai_read_rhs(bisai_context *context, const char *path, int64_t n,
                                      double *values, int64_t *columns);

/** The format of a file to write. */
typedef enum bisai_format {
  /** .mtx, .petsc or .bin, perhaps followed by .gz, .xz, .bz2 or .zst; .tar, .tar.gz, .tgz … */
  BISAI_FORMAT_BY_NAME = 0,
  /** text: coordinate real general, 17 significant digits */
  BISAI_FORMAT_MATRIX_MARKET = 1,
  /** PETSc's binary, and FILE.info with the block size */
  BISAI_FORMAT_PETSC = 2,
  /** a tar archive NAME.tar… of NAME/NAME.mtx and NAME/NAME_b.mtx */
  BISAI_FORMAT_SUITESPARSE = 3
} bisai_format;

/** The words of bisai_format: X(enumerator, word). */
#define BISAI_FORMAT_LIST(X)                                                                       \
  X(BISAI_FORMAT_BY_NAME, "by_name")                                                               \
  X(BISAI_FORMAT_MATRIX_MARKET, "market")                                                          \
  X(BISAI_FORMAT_PETSC, "petsc")                                                                   \
  X(BISAI_FORMAT_SUITESPARSE, "suitesparse")

/** "by_name", "market", "petsc", "suitesparse"; "unknown format" for other values. */
BISAI_API const char *bisai_format_string(bisai_format value);

/** Looks up a word of bisai_format_string().
 *  @param value  out; untouched where the word is unknown
 *  @returns      false for unknown words and NULL */
BISAI_API bool bisai_format_parse(const char *word, bisai_format *value);

/** How a matrix is written; start from bisai_write_options_default(). */
typedef struct bisai_write_options {
  /** set by bisai_write_options_default() */
  size_t struct_size;
  /** default BISAI_FORMAT_BY_NAME; compression goes by the name always */
  bisai_format format;
  /** default NULL; bisai_bcsr_rows() values (host memory) written behind the matrix or beside it */
  const double *rhs;
} bisai_write_options;

/** Default options. */
BISAI_API bisai_write_options bisai_write_options_default(void);

/** Writes a matrix so that reading it in blocks of the same size gives the same values to the last
 *  bit. Scalar rows of padding are left out, and so are zeros, but for blocks of zeros only, which
 *  are written whole. The same matrix gives the same bytes.
 *  @param matrix   rectangular ones are written too, though bisai_read_matrix() refuses them;
 *    narrow values are widened
 *  @param options  NULL: the defaults
 *  @retval BISAI_IO_ERROR          names the path and the system's reason
 *  @retval BISAI_INVALID_ARGUMENT  NULL, a name that says no format, a right-hand side for a Matrix
 *    Market file
 *  @retval BISAI_NOT_FINITE        nothing is written
 *  @retval BISAI_INDEX_OVERFLOW    PETSc: more entries than a 32-bit integer counts
 *  @retval BISAI_UNAVAILABLE       a compressed file or an archive, and this build has no
 *    libarchive
 *  @retval BISAI_OUT_OF_MEMORY */
BISAI_API bisai_status bisai_write_matrix(bisai_context *context, const char *path,
                                          const bisai_bcsr *matrix,
                                          const bisai_write_options *options);

/** Writes n values (host memory): for PETSc where the name ends so (.petsc, .bin), otherwise as a
 *  Matrix Market n × 1 array with 17 significant digits. Compressed as the name says.
 *  @retval BISAI_IO_ERROR    names the path and the system's reason
 *  @retval BISAI_NOT_FINITE  nothing is written
 *  @retval BISAI_INVALID_ARGUMENT, BISAI_INDEX_OVERFLOW, BISAI_UNAVAILABLE, BISAI_OUT_OF_MEMORY */
BISAI_API bisai_status bisai_write_vector(bisai_context *context, const char *path, int64_t n,
                                          const double *values);

/** Writes bytes (host memory) as they are, whatever the name ends with: a report beside a solution.
 *  @retval BISAI_IO_ERROR  names the path and the system's reason
 *  @retval BISAI_INVALID_ARGUMENT, BISAI_OUT_OF_MEMORY */
BISAI_API bisai_status bisai_write_bytes(bisai_context *context, const char *path,
                                         const void *bytes, size_t count);

/** Finds out whether a file can be written at `path`, before work that may be long. An old file is
 *  opened and left as it is. For a new file, one is made in its folder and removed again. The free
 *  space of the disk is not checked.
 *  @retval BISAI_IO_ERROR  it cannot: names the path and the system's reason
 *  @retval BISAI_INVALID_ARGUMENT, BISAI_OUT_OF_MEMORY */
BISAI_API bisai_status bisai_write_check(bisai_context *context, const char *path);

/** Whether two names lead to one file or one pipe, so that one output would destroy the other. Hard
 *  and symbolic links are followed, ./a is the same as a, and the file need not exist yet.
 *  Character devices, like a terminal, never count as the same.
 *  @param same  out; false after a failure
 *  @retval BISAI_IO_ERROR  a link cannot be followed
 *  @retval BISAI_INVALID_ARGUMENT, BISAI_OUT_OF_MEMORY */
BISAI_API bisai_status bisai_write_same_file(bisai_context *context, const char *a, const char *b,
                                             bool *same);

/** Removes the .part files of all writes of this context that are under way: for the signal handler
 *  of a program that ends right after it, by _exit(). Nothing else may be done with the context
 *  then. Async-signal-safe; accepts NULL. */
BISAI_API void bisai_write_abandon(bisai_context *context);

#ifdef __cplusplus
}
#endif
#endif
