/* Inside of the factors. */
#ifndef BSI_FACTOR_H
#define BSI_FACTOR_H

#include <bisai/factor.h>

#include "core/triangular.h"

struct bisai_factors {
  bisai_context *context;
  bisai_bcsr *lower,
      *upper; /* L without its identity diagonal, or general with it; U with its diagonal first in each row */
  double *lower_inverse; /* inverse diagonal blocks of a general L, otherwise NULL */
  double *upper_inverse;
  bsi_levels lower_levels, upper_levels;
  bsi_triangular lower_solve, upper_solve;
  bsi_invert_stats stats;
  bool from_matrix; /* made by ILU(0), so that an update makes sense */
  bool ready;
};

int64_t bsi_factors_memory(const bisai_factors *factors);

#endif
