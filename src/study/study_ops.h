/* SPDX-License-Identifier: BSD-3-Clause */
/* A backend's operations for the study of a matrix. */
#ifndef BSI_STUDY_OPS_H
#define BSI_STUDY_OPS_H

#include "core/context/backend.h"
#include "study/field_rows.h"
#include "study/rows.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Records are in host memory. All operations wait. */
typedef struct bsi_study_ops {
  /* Adds all rows to the record. zeros[i], in backend memory, ← the components of block row i whose
   * diagonal entry is 0. Unless `probes` is NULL, probes[2r] and probes[2r + 1], in host memory, ←
   * the sums of probe and probe_size over the rows of component r. */
  bisai_status (*rows)(bisai_context *, const bsi_study_view *, uint32_t *zeros, double *probes,
                       bsi_study_record *);
  /* *inner ← the sum of bsi_study_inner_entries(). */
  bisai_status (*inner)(bisai_context *, const bsi_study_view *, const uint32_t *zeros,
                        int64_t *inner);
  /* Adds the columns to the record, as rows of the transpose, by bsi_study_take_out(). Allocates 16
   * bytes for each column and component. */
  bisai_status (*columns)(bisai_context *, const bsi_study_view *, bsi_study_record *);
  /* *right ← A v = 0, *left ← Aᵀ v = 0, for the v that is 1 in these rows. The block size is 1.
   * Allocates 16 bytes for each column. */
  bisai_status (*pressure)(bisai_context *, const bsi_study_view *, bsi_study_range rows,
                           bool *right, bool *left);
  /* Adds a sample of `count` block rows to the record. */
  bisai_status (*sample)(bisai_context *, const bsi_study_view *, int32_t count,
                         bsi_study_record *);
  /* sums[2p] and sums[2p + 1] ← the sums of couplings and of reaches of unknown p in units, over a
   * sample of `count` block rows. */
  bisai_status (*unknowns)(bisai_context *, const bsi_study_view *, int32_t count, uint64_t *sums);
  /* sums[m] ← those of the sampled nodes of m fields, m = 2 … BSI_STUDY_FIELDS. The block size is
   * 1. */
  bisai_status (*fields)(bisai_context *, const bsi_study_view *, bsi_study_fields_count *sums);
} bsi_study_ops;

extern const bsi_study_ops bsi_study_host, bsi_study_cuda;

#ifdef __cplusplus
}
#endif

#endif
