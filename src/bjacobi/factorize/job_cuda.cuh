/* SPDX-License-Identifier: BSD-3-Clause */
/* The job of one set-up of block-Jacobi on a device: the source of the blocks, the arrays for the
 * values, and the record that the kernels fill. For *_cuda.cu only. */
#ifndef BSI_JOB_CUDA_CUH
#define BSI_JOB_CUDA_CUH

#include "bjacobi/bjacobi.h"

enum bsi_block_source {
  /* the matrix's own diagonal blocks */
  BSI_FROM_BLOCKS,
  /* rows of the matrix, read by a lane each */
  BSI_FROM_ROWS,
  /* rows of the matrix, each read by all lanes of a sub-warp */
  BSI_FROM_ROWS_SHARED,
  /* blocks extracted before, in the layout of the groups */
  BSI_FROM_DENSE
};

/* The findings of a set-up, in device memory. They start as zeros. The fields first_… hold the
 * largest complement ~block of the blocks concerned: an atomic maximum finds the first block, and 0
 * stands for none. */
struct bsi_values_record {
  unsigned long long first_singular, first_repaired, first_near_singular, first_overflow;
  unsigned long long repairs, near_singulars;
  /* ADAPTIVE: the number of blocks and of values in each format */
  unsigned long long formats[BSI_FORMATS], values[BSI_FORMATS];
  /* the bits of the largest condition */
  unsigned long long condition;
  /* The upper 33 bits are the exponent and 22 bits of the fraction of the largest condition. The
   * lower 31 bits are the complement of the first block that agrees with it in those. */
  unsigned long long condition_block;
  /* the number of groups listed for repair */
  int32_t repair_groups, unused;
};

struct bsi_values_job {
  /* the partition and its groups: bjacobi/bjacobi.h */
  struct {
    int32_t rows, blocks, uniform, per_group;
    const int32_t *start;
    const int64_t *first_value;
  } partition;
  struct {
    /* The launch takes groups order[from + i], or from + i if order is NULL, for i < count. */
    const int32_t *order;
    int32_t from, count;
    /* device memory that holds the count; NULL: `count` does */
    const int32_t *device_count;
    /* the most rows of a block in the launch, and the lanes of a sub-warp */
    int largest, lanes;
    /* true: the previous launch is that of another class of the same set-up, and this one may run
     * beside it */
    bool beside;
  } launch;
  /* bsi_block_source */
  int source;
  struct {
    int32_t block_size;
    /* `position` has the place of each diagonal block, −1: none */
    const int32_t *row_ptr, *col_idx, *position;
    const double *values;
  } matrix;
  /* blocks extracted before, in the layout of the groups */
  double *dense;
  /* the shift of singular blocks over the largest row sum; 0: none */
  double shift_amount;
  /* bjacobi/bjacobi.h */
  struct {
    bisai_form form;
    /* bisai_value_type, or ADAPTIVE with its tolerance */
    int storage;
    double tolerance;
    /* ADAPTIVE: bsi_adaptive_mask() */
    unsigned admitted;
    uint8_t *format, *pivots;
    char *data;
    int slot_bytes;
  } result;
  /* this set-up's record, and the next set-up's, which this one clears */
  bsi_values_record *record, *next_record;
  /* Kernels without repairs list the groups that need some here; NULL: they do not. */
  int32_t *repair_list;
};

#endif
