/* SPDX-License-Identifier: BSD-3-Clause */
/* A backend's operations for the inverses D⁻¹ of the diagonal blocks of a level, and for ρ(D⁻¹A).
 * Arrays are in backend memory. */
#ifndef BSI_DIAGONAL_OPS_H
#define BSI_DIAGONAL_OPS_H

#include "core/context/backend.h"

#ifdef __cplusplus
extern "C" {
#endif

struct bsi_invert_stats; /* core/matrix/triangular.h */

/* What an inversion finds. */
typedef struct bsi_inversion_findings {
  struct bsi_invert_stats *stats;
  /* the largest magnitude of all inverses. NULL: it is not wanted */
  double *largest;
  /* the findings are in the record that was given */
  bool deferred;
} bsi_inversion_findings;

typedef struct bsi_level_inversion_ops {
  /* the bytes of a record; 0: `record` is not used */
  size_t record_bytes;
  /* bsi_inversion_ops::invert (factor/factor_ops.h). Waits, unless a record in backend memory gets
   * what is found (`deferred`). */
  bisai_status (*invert)(bisai_context *, const bisai_bcsr *matrix, const int32_t *position,
                         double shift_amount, double *inverses, void *record,
                         bsi_inversion_findings *);
  /* Reads the copy of a record in host memory. */
  void (*read)(const void *record, struct bsi_invert_stats *, double *largest);
  bsi_load_code *load;
} bsi_level_inversion_ops;

/* p, q = A p, then z = D⁻¹r, and r of a Lanczos process. */
typedef struct bsi_lanczos_vectors {
  double *p, *q, *r;
} bsi_lanczos_vectors;

/* The vectors of step k of the Lanczos process of multigrid/diagonal/lanczos.h. `work` has
 * BSI_LANCZOS_WORK doubles in backend memory. */
typedef struct bsi_lanczos_ops {
  /* r ← the first residual, for D⁻¹ of n rows in blocks of size bs */
  bisai_status (*start)(bisai_context *, int64_t n, int bs, const double *inverse, double *r);
  /* Does all of step k behind q = A p, and q ← z. With k = −1 it begins with z = D⁻¹r. For blocks
   * of at most `largest` rows. */
  bisai_status (*advance)(bisai_context *, int k, int32_t block_rows, int bs, const double *inverse,
                          const bsi_lanczos_vectors *, double *work);
  int largest;
  /* r ← r − αₖ q, where q = A p */
  bisai_status (*reduce)(bisai_context *, int k, int64_t n, const double *p, const double *q,
                         double *r, double *work);
  /* p ← z + βₖ p, where z = D⁻¹r. With k = −1, p ← z, and p is not read. */
  bisai_status (*direct)(bisai_context *, int k, int64_t n, const double *r, const double *z,
                         double *p, double *work);
  /* Of several ranks: work[place] ← a·b of the own values */
  bisai_status (*dot)(bisai_context *, int64_t n, const double *a, const double *b, int place,
                      double *work);
} bsi_lanczos_ops;

extern const bsi_level_inversion_ops bsi_level_inversion_host, bsi_level_inversion_cuda;
extern const bsi_lanczos_ops bsi_lanczos_host, bsi_lanczos_cuda;

#ifdef __cplusplus
}
#endif

#endif
