/* SPDX-License-Identifier: BSD-3-Clause */
/* Arrays of NumPy: a header that is a literal of Python, and numbers. Source: NumPy, "A Simple File
 * Format for NumPy Arrays", versions 1 to 3. */
#ifndef BSI_NPY_H
#define BSI_NPY_H

#include "io/output/output.h"
#include "io/streams/source.h"

enum { BSI_NPY_DIMENSIONS = 3 };

typedef struct bsi_npy {
  /* NumPy's letter: b, i, u, f, S or U */
  char kind;
  /* of an element */
  int bytes;
  bool big_endian;
  /* the first index varies fastest */
  bool by_columns;
  int dimensions;
  int64_t shape[BSI_NPY_DIMENSIONS];
  /* the product of the shape */
  int64_t count;
} bsi_npy;

/* *found ← the next bytes are the beginning of an array. */
bisai_status bsi_npy_detect(bsi_source *source, bool *found);

/* Reads the header of an array, which `name` names in messages. */
bisai_status bsi_npy_open(bsi_source *source, const char *name, bsi_npy *npy);

/* Reads the next elements: *count of them, at most `left`, into `chunk`. */
enum { BSI_NPY_CHUNK = 1 << 15 };
bisai_status bsi_npy_read(bsi_source *source, const char *name, const bsi_npy *npy, int64_t left,
                          unsigned char chunk[BSI_NPY_CHUNK], int64_t *count);

/* Fails if bytes follow the elements. */
bisai_status bsi_npy_end(bsi_source *source, const char *name);

/* Element k of a chunk. Arrays of other kinds have been refused. */
double bsi_npy_double(const bsi_npy *npy, const unsigned char *chunk, int64_t k);
int64_t bsi_npy_integer(const bsi_npy *npy, const unsigned char *chunk, int64_t k);

/* Refuses arrays that are not real numbers, or not integers. */
bisai_status bsi_npy_check_real(bisai_context *context, const char *name, const bsi_npy *npy);
bisai_status bsi_npy_check_integer(bisai_context *context, const char *name, const bsi_npy *npy);

/* Reads a vector of n values, which must be finite. */
bisai_status bsi_npy_read_vector(bsi_source *source, const char *name, int64_t n, double *values);

/* Reads an array of n rows and at most `most` columns, row by row. The caller frees *values, also
 * after a failure. */
bisai_status bsi_npy_read_vectors(bsi_source *source, int64_t n, int32_t most, double **values,
                                  int32_t *count);

/* Writes a header with the letters of a type, as "<f8", and a shape, as "(3,)". Returns its
 * bytes. */
int64_t bsi_npy_write_header(bsi_output *output, const char *type, const char *shape);

/* Writes numbers as "<f8" and "<i4". */
void bsi_npy_write_double(bsi_output *output, double value);
void bsi_npy_write_integer(bsi_output *output, int32_t value);

/* Writes a vector with its header. */
void bsi_npy_write_vector(bsi_output *output, int64_t n, const double *values);

#endif
