/* SPDX-License-Identifier: BSD-3-Clause */
/** @file io.h
 *  Reading and writing matrices and vectors.
 *
 *  The formats are:
 *  - Matrix Market text (NIST);
 *  - PETSc's binary files, as MatView() and VecView() write them: real, double precision, with
 *    32-bit indices; files with 64-bit indices can be read, but are not written;
 *  - archives of the SuiteSparse Matrix Collection: NAME.tar.gz with NAME/NAME.mtx and optionally
 *    NAME/NAME_b.mtx;
 *  - sparse matrices of SciPy, as scipy.sparse.save_npz() writes them (NAME.npz: csr, csc, bsr or
 *    coo; a right-hand side is one more array, `b`), and arrays of NumPy (NAME.npy) as vectors:
 *    real numbers of up to 8 bytes.
 *
 *  All other files may be compressed as .gz, .xz, .bz2 or .zst. Files compressed as .lz, .lz4 or .Z
 *  can be read, but are not written. Reading .gz needs zlib. Archives and all other compression
 *  need libarchive. A build without the library returns BISAI_UNAVAILABLE. The reader recognises a
 *  format by the contents of the file. The writer chooses a format by the suffix of the file name.
 *
 *  Compressed files are always read to the end. They are refused if a check fails: the CRC and the
 *  length of every .gz member, and the checks of .xz, .bz2 and .lz. Nothing but zeros may follow
 *  the last .gz member. A .zst or .lz4 file may have no check, and a .Z file never has one. A
 *  changed byte may then remain undetected. The programs zstd and lz4 write a check; bisai writes
 *  none into .zst.
 *
 *  The writer creates a temporary file NAME.PROCESS-K.part or bisai.PROCESS-K.part in the folder of
 *  the target, and renames it when it is complete. The old file remains until the renaming, and
 *  after a failure. Some folders do not allow these steps. If the folder does not accept new files,
 *  the contents are written directly into the old file. If only the renaming is refused (a mount
 *  point, or another user's file in a folder with the sticky bit), the complete new file is copied
 *  into the old one. Neither way of overwriting is atomic: a failure, for example on a full disk,
 *  leaves an incomplete file. Symbolic links are followed, and the target of a dangling link is
 *  created. Pipes and devices are written directly. */
#ifndef BISAI_IO_H
#define BISAI_IO_H

#include <bisai/bcsr.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The library calls this function repeatedly while it reads. bytes_total is the size of the file,
 *  or 0 if it is unknown. */
typedef void (*bisai_progress)(void *user, int64_t bytes_read, int64_t bytes_total);

/** Options of reading; start from bisai_read_options_default(). */
typedef struct bisai_read_options {
  /** set by bisai_read_options_default() */
  size_t struct_size;
  /** 1 … 32; 0 (default): bisai_block_size_choose() chooses it */
  int32_t block_size;
  /** default true: a matrix whose size is not a multiple of the block size is padded with an
   *  identity */
  bool pad;
  /** default NULL */
  bisai_progress progress;
  /** passed to `progress` */
  void *progress_user;
  /** upper bound of the host memory that reading may hold at a time, in bytes. The result is
   *  included; buffers of less than 1 MiB are not. Default 0: the physical memory of the machine */
  int64_t max_bytes;
  /** default false; true, with `block_size` 0: as `find_nodes` of bisai_csr_desc. Right-hand sides
   *  keep the numbering of the file: bisai_bcsr_to_blocks() moves them to the blocks */
  bool find_nodes;
} bisai_read_options;

/** Returns the default options. */
BISAI_API bisai_read_options bisai_read_options_default(void);

/** Reads a square sparse matrix. Reading needs at most 3 times the memory of the result, plus 16
 *  bytes for each scalar row, plus 1 MiB; with `find_nodes` at most 4 times, plus 80 bytes for each
 *  row. These bounds count duplicate entries as entries of the result. Memory is allocated as the
 *  entries arrive, and not for the number of entries that the header of the file states. A short
 *  file can state very many rows. If the stated rows need more than options->max_bytes at every
 *  block size, the file is refused before memory is allocated for them.
 *
 *  Matrix Market: the format is coordinate; the field is real, integer or pattern (value 1); the
 *  symmetry is general, symmetric or skew-symmetric. Entries may have any order. Duplicate entries
 *  are added.
 *
 *  PETSc: the matrix is at the beginning of the file, and the columns of each row are ascending. If
 *  options->block_size is 0, a file FILE.info next to FILE (or to FILE.gz) may give the block size
 *  by -matload_block_size N with N > 1. A pipe has no .info file.
 *
 *  SciPy: square blocks of bsr give the block size if options->block_size is 0. Reading csc, bsr
 *  and coo holds up to 28 bytes for each stored value.
 *
 *  Archive: the matrix is the file NAME.mtx that has the name of the archive. If the archive has no
 *  such file, the matrix is the file that has the name of its folder, or else the only .mtx file.
 *  Files whose path has more than 511 bytes or control characters are left out.
 *  Nothing is unpacked to disk. If the archive is a pipe, it is stored in an unnamed temporary file
 *  in $TMPDIR or /tmp.
 *  @param options  NULL: the defaults
 *  @param matrix   out; unchanged on failure; free with bisai_bcsr_destroy()
 *  @retval BISAI_IO_ERROR       the file cannot be opened, read, decompressed or unpacked, or a
 *                               check of the compression fails
 *  @retval BISAI_PARSE_ERROR    the file is malformed; the message names the line (Matrix Market),
 *                               or the row or byte (PETSc), and the error
 *  @retval BISAI_NOT_FINITE     a value is NaN or infinite; the message names the line or the entry
 *  @retval BISAI_UNSUPPORTED    the matrix is complex, Hermitian, rectangular, empty or dense, or
 *                               the file has more than one matrix; the message lists the candidates
 *                               of an archive
 *  @retval BISAI_UNAVAILABLE    the file is compressed or an archive, and this build has no
 *                               libarchive or no zlib
 *  @retval BISAI_OUT_OF_MEMORY  an allocation failed, or reading needs more than
 *                               options->max_bytes; in that case the message names both numbers
 *  @retval BISAI_INDEX_OVERFLOW, BISAI_INVALID_ARGUMENT */
BISAI_API bisai_status bisai_read_matrix(bisai_context *context, const char *path,
                                         const bisai_read_options *options, bisai_bcsr **matrix);

/** A matrix and the right-hand side of the same file. The caller sets struct_size before the
 *  call. */
typedef struct bisai_system {
  /** sizeof(bisai_system) */
  size_t struct_size;
  /** out */
  bisai_bcsr *matrix;
  /** out; bisai_bcsr_rows() values in host memory, from the context's allocator; NULL if the file
   *  has no right-hand side */
  double *rhs;
  /** out; the number of columns of the right-hand side, of which only the first is read; 0 if the
   *  file has no right-hand side */
  int64_t rhs_columns;
  /** out, also after a failure; true if the matrix can be read and the right-hand side cannot */
  bool rhs_failed;
} bisai_system;

/** Reads a matrix as bisai_read_matrix() does, and its right-hand side as bisai_read_rhs() does.
 *  The file is opened only once and may therefore be a pipe. These two functions document the
 *  memory and the errors. The right-hand side is part of the result and takes 8 bytes for each row.
 *  @param options  NULL: the defaults
 *  @param system   out; unchanged on failure, except for rhs_failed; free with bisai_system_clear()
 *  @retval BISAI_INVALID_ARGUMENT  an argument is NULL, struct_size is wrong, or the lengths of the
 *                                  right-hand side and of the matrix differ */
BISAI_API bisai_status bisai_read_system(bisai_context *context, const char *path,
                                         const bisai_read_options *options, bisai_system *system);

/** Frees the matrix and the right-hand side of a bisai_system, and sets both to NULL; accepts NULL.
 *  To keep the matrix, copy its pointer and set system->matrix to NULL before this call. */
BISAI_API void bisai_system_clear(bisai_context *context, bisai_system *system);

/** Finds the block size that the FILE.info of a PETSc file gives: see bisai_read_matrix(). It is 0
 *  if there is no such file, and for all other formats, pipes and devices. The matrix is not read.
 *  Pipes and devices are not opened.
 *  @param block_size  out
 *  @retval BISAI_IO_ERROR  the file cannot be opened or read, or the .info file gives an invalid
 *                          block size
 *  @retval BISAI_UNAVAILABLE, BISAI_INVALID_ARGUMENT, BISAI_OUT_OF_MEMORY */
BISAI_API bisai_status bisai_read_block_size(bisai_context *context, const char *path,
                                             int32_t *block_size);

/** Reads a vector of exactly n values into host memory. The file is a Matrix Market n × 1 array or
 *  coordinate file, a PETSc vector, an array of NumPy of shape (n,) or (n, 1), or a file with a
 *  matrix and a right-hand side as for bisai_read_rhs(). After a failure the values are
 *  unspecified. Returns the errors of bisai_read_matrix() and:
 *  @retval BISAI_INVALID_ARGUMENT  the length of the vector is not n
 *  @retval BISAI_UNSUPPORTED       the file has no vector or more than one column */
BISAI_API bisai_status bisai_read_vector(bisai_context *context, const char *path, int64_t n,
                                         double *values);

/** Reads several vectors of n values each, for example near-null-space vectors for multigrid. The
 *  file is a Matrix Market array or coordinate file, or an array of NumPy, of n rows, with a column
 *  for each vector. The values are stored row by row: value i of vector j is (*values)[i·*count +
 *  j].
 *  @param n       the number of values of each vector, at least 1
 *  @param most    the largest number of vectors, at least 1
 *  @param values  out; n·*count values in host memory, from the context's allocator; unchanged on
 *                 failure; free with bisai_vectors_destroy()
 *  @param count   out; the number of vectors; unchanged on failure
 *  @retval BISAI_UNSUPPORTED       the file has no column or more than `most`, or it has another
 *                                  format; also the reasons of bisai_read_matrix()
 *  @retval BISAI_INVALID_ARGUMENT  an argument is NULL or too small, or the file has another number
 *                                  of rows than n
 *  @retval BISAI_PARSE_ERROR, BISAI_NOT_FINITE, BISAI_IO_ERROR, BISAI_UNAVAILABLE,
 *    BISAI_INDEX_OVERFLOW, BISAI_OUT_OF_MEMORY  as bisai_read_matrix() */
BISAI_API bisai_status bisai_read_vectors(bisai_context *context, const char *path, int64_t n,
                                          int32_t most, double **values, int32_t *count);

/** Frees the values of bisai_read_vectors() and sets the pointer to NULL. Accepts NULL and pointers
 *  to NULL. */
BISAI_API void bisai_vectors_destroy(bisai_context *context, double **values);

/** Reads the right-hand side that belongs to the matrix of bisai_read_matrix(path): the file
 *  NAME_b.mtx next to NAME.mtx in an archive, a vector after the matrix in a PETSc file, or the
 *  array `b` of a .npz. Returns the errors of bisai_read_vector().
 *  @param n        the number of scalar rows of the matrix without padding: bisai_bcsr_rows()
 *  @param values   out; n values in host memory; unspecified after a failure and if there is no
 *                  right-hand side
 *  @param columns  out; the number of columns of the right-hand side, of which only the first is
 *                  read; 0 if there is none, and for all other formats */
BISAI_API bisai_status bisai_read_rhs(bisai_context *context, const char *path, int64_t n,
                                      double *values, int64_t *columns);

/** The format of a file to write. */
typedef enum bisai_format {
  /** chosen by the suffix: .mtx, .petsc or .bin, optionally followed by .gz, .xz, .bz2 or .zst; or
   *  .tar, .tar.gz, .tgz …; or .npz */
  BISAI_FORMAT_BY_NAME = 0,
  /** Matrix Market text: coordinate real general, 17 significant digits */
  BISAI_FORMAT_MATRIX_MARKET = 1,
  /** PETSc's binary format, and FILE.info with the block size */
  BISAI_FORMAT_PETSC = 2,
  /** a tar archive NAME.tar… with NAME/NAME.mtx and NAME/NAME_b.mtx */
  BISAI_FORMAT_SUITESPARSE = 3,
  /** SciPy's format (scipy.sparse.save_npz) with the suffix .npz: bsr, or csr if the blocks have
   *  size 1 or padding; a right-hand side is the array `b` */
  BISAI_FORMAT_NPZ = 4
} bisai_format;

/** The words of bisai_format: X(enumerator, word). */
#define BISAI_FORMAT_LIST(X)                                                                       \
  X(BISAI_FORMAT_BY_NAME, "by_name")                                                               \
  X(BISAI_FORMAT_MATRIX_MARKET, "market")                                                          \
  X(BISAI_FORMAT_PETSC, "petsc")                                                                   \
  X(BISAI_FORMAT_SUITESPARSE, "suitesparse")                                                       \
  X(BISAI_FORMAT_NPZ, "npz")

/** Returns "by_name", "market", "petsc", "suitesparse" or "npz", and "unknown format" for other
 *  values. */
BISAI_API const char *bisai_format_string(bisai_format value);

/** Looks up a word of bisai_format_string().
 *  @param value  out; unchanged if the word is unknown
 *  @returns      false for an unknown word and for NULL */
BISAI_API bool bisai_format_parse(const char *word, bisai_format *value);

/** Options of writing; start from bisai_write_options_default(). */
typedef struct bisai_write_options {
  /** set by bisai_write_options_default() */
  size_t struct_size;
  /** default BISAI_FORMAT_BY_NAME; the suffix always chooses the compression */
  bisai_format format;
  /** the right-hand side, written after the matrix or next to it: bisai_bcsr_rows() values in host
   *  memory, in the order of the rows that are written; default NULL */
  const double *rhs;
} bisai_write_options;

/** Returns the default options. */
BISAI_API bisai_write_options bisai_write_options_default(void);

/** Writes a matrix. If it is read again with the same block size, its values are equal to the last
 *  bit. The scalar rows of the padding are not written. The others are written in the order of the
 *  blocks, which is not the caller's if the matrix was made with `fields` or `node`. Zeros are not
 *  written either, except in blocks that consist of zeros only: these are written completely. The
 *  same matrix gives the same bytes.
 *  @param matrix   may be rectangular, though bisai_read_matrix() refuses rectangular matrices;
 *                  values narrower than fp64 are widened
 *  @param options  NULL: the defaults
 *  @retval BISAI_IO_ERROR          the message names the path and the system's reason
 *  @retval BISAI_INVALID_ARGUMENT  an argument is NULL, the suffix names no format, or the format
 *                                  is Matrix Market and a right-hand side is given
 *  @retval BISAI_NOT_FINITE        a value is NaN or infinite; nothing is written
 *  @retval BISAI_INDEX_OVERFLOW    a PETSc file cannot count the entries with a 32-bit integer
 *  @retval BISAI_UNAVAILABLE       the file is compressed or an archive, and this build has no
 *                                  libarchive
 *  @retval BISAI_OUT_OF_MEMORY */
BISAI_API bisai_status bisai_write_matrix(bisai_context *context, const char *path,
                                          const bisai_bcsr *matrix,
                                          const bisai_write_options *options);

/** Writes n values from host memory. The format is PETSc's if the suffix is .petsc or .bin, and
 *  NumPy's if it is .npy. Otherwise it is a Matrix Market n × 1 array with 17 significant digits.
 *  The suffix chooses the compression.
 *  @retval BISAI_IO_ERROR    the message names the path and the system's reason
 *  @retval BISAI_NOT_FINITE  a value is NaN or infinite; nothing is written
 *  @retval BISAI_INVALID_ARGUMENT, BISAI_INDEX_OVERFLOW, BISAI_UNAVAILABLE, BISAI_OUT_OF_MEMORY */
BISAI_API bisai_status bisai_write_vector(bisai_context *context, const char *path, int64_t n,
                                          const double *values);

/** Writes bytes from host memory unchanged, for example a report next to a solution. The suffix has
 *  no meaning.
 *  @retval BISAI_IO_ERROR  the message names the path and the system's reason
 *  @retval BISAI_INVALID_ARGUMENT, BISAI_OUT_OF_MEMORY */
BISAI_API bisai_status bisai_write_bytes(bisai_context *context, const char *path,
                                         const void *bytes, size_t count);

/** Checks that a file can be written at `path`, for example before a long computation. An existing
 *  file is opened and not changed. If there is none, a file is created in the folder and removed
 *  again. The free space of the disk is not checked.
 *  @retval BISAI_IO_ERROR  the file cannot be written; the message names the path and the system's
 *                          reason
 *  @retval BISAI_INVALID_ARGUMENT, BISAI_OUT_OF_MEMORY */
BISAI_API bisai_status bisai_write_check(bisai_context *context, const char *path);

/** Checks whether two paths name the same file or pipe, so that one output would destroy the other.
 *  Hard and symbolic links are followed, and ./a is the same as a. The file need not exist.
 *  Character devices, for example a terminal, never count as the same.
 *  @param same  out; false after a failure
 *  @retval BISAI_IO_ERROR  a link cannot be followed
 *  @retval BISAI_INVALID_ARGUMENT, BISAI_OUT_OF_MEMORY */
BISAI_API bisai_status bisai_write_same_file(bisai_context *context, const char *a, const char *b,
                                             bool *same);

/** Removes the .part files of all unfinished writes of this context. A program's signal handler
 *  calls it immediately before _exit(). The context must not be used afterwards. Async-signal-safe;
 *  accepts NULL. */
BISAI_API void bisai_write_abandon(bisai_context *context);

#ifdef __cplusplus
}
#endif
#endif
