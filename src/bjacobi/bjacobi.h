/* Block-Jacobi on the natural blocks of a BCSR matrix: z_i = A_ii⁻¹ v_i. */
#ifndef BSI_BJACOBI_H
#define BSI_BJACOBI_H

#include "core/triangular.h"

typedef struct bsi_bjacobi {
  int32_t block_rows, block_size, blocks; /* of the matrix */
  double shift_amount;                    /* 0: none */
  int32_t *position;                      /* of each diagonal block among the matrix's blocks, -1 where there is none */
  int32_t *host_position;                 /* the same in host memory */
  double *inverses;                       /* block_rows·bs² */
  bsi_invert_stats stats;
} bsi_bjacobi;

/* Finds the diagonal blocks and reserves their inverses; values are unset. With shift_amount > 0 singular blocks will be repaired,
 * missing ones counting as zero. */
bisai_status bsi_bjacobi_create(bisai_context *context, const bisai_bcsr *matrix, double shift_amount,
                                bsi_bjacobi *jacobi);

/* Whether `matrix` has its diagonal blocks, in fp64, where that of creation had them. */
bisai_status bsi_bjacobi_check(bisai_context *context, const bisai_bcsr *matrix, const bsi_bjacobi *jacobi);

/* Inverts the diagonal blocks of a matrix that passed the check; allocates nothing. */
bisai_status bsi_bjacobi_update(bisai_context *context, const bisai_bcsr *matrix, bsi_bjacobi *jacobi);

void bsi_bjacobi_destroy(bisai_context *context, bsi_bjacobi *jacobi);

int64_t bsi_bjacobi_memory(const bsi_bjacobi *jacobi);

#endif
