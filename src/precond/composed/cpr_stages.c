/* SPDX-License-Identifier: BSD-3-Clause */
#include "precond/composed/cpr_stages.h"

#include <stdio.h>

#include <bisai/pressure.h>

#include "core/context/context_impl.h"
#include "core/context/words.h"
#include "multigrid/level/dense_ops.h"
#include "multigrid/level/multigrid_ops.h"
#include "precond/composed/stages.h"

BSI_DEFINE_WORDS(cpr_second_stage, BISAI_CPR_SECOND_STAGE_LIST, "unknown second stage")

/* The choices of multigrid for the pressure matrix. Scales bring its rows into conservation form,
 * and restriction must keep that: otherwise opm_spe10m1_s516 takes 17 iterations instead of 8. A
 * cycle is cheap beside the second stage, because the pressure matrix has 1/bs² of the values of A.
 * On 46³ cells of the case reservoir, W takes 11 iterations and VW 13. With jumps of 10⁶ the levels
 * there have three times the values of the pressure matrix, and if coarsening stops before that,
 * the iterations are 143. */
#define PRESSURE_COMPLEXITY 5.0
/* Other second stages than ILU are cheap, and a second visit of the coarse levels takes a larger
 * part of the time. V takes a few more iterations and less time. On more cells it needs more and
 * more iterations than W (docs/tuning.md, "Multigrid and CPR"). */
enum { V_ROWS = 1 << 17 };
/* Dense inverses of up to 1024 rows save at most one iteration. Backends that bound them by their
 * cost need no other limit. */
enum { PRESSURE_COARSEST = 512 };

static bisai_precond_kind second_kind(bisai_cpr_second_stage second) {
  switch (second) {
  case BISAI_CPR_SECOND_STAGE_ISAI: return BISAI_PRECOND_ISAI;
  case BISAI_CPR_SECOND_STAGE_SWEEPS: return BISAI_PRECOND_SWEEPS;
  case BISAI_CPR_SECOND_STAGE_BJACOBI: return BISAI_PRECOND_BJACOBI;
  default: return BISAI_PRECOND_ILU;
  }
}

bisai_precond_kind bsi_cpr_stage_kind(const bisai_precond_options *given, int32_t stage) {
  return stage == 0 ? BISAI_PRECOND_MULTIGRID : second_kind(given->cpr.second);
}

/* Returns true if a second visit of the coarse levels costs more than it gains. */
static bool takes_v(const bisai_precond_options *given, int64_t rows) {
  return second_kind(given->cpr.second) != BISAI_PRECOND_ILU && rows <= V_ROWS;
}

static bisai_precond_options first_options(const bisai_context *context,
                                           const bisai_precond_options *given, int64_t rows) {
  const bool bounded = !context->backend->multigrid->dense->cheap;
  bisai_precond_options o = bisai_precond_options_default();
  o.kind = BISAI_PRECOND_MULTIGRID;
  o.multigrid = given->multigrid;
  o.multigrid.unweighted = true;
  if (o.multigrid.cycle == BISAI_CYCLE_AUTO)
    o.multigrid.cycle = takes_v(given, rows) ? BISAI_CYCLE_V : BISAI_CYCLE_W;
  if (o.multigrid.coarsest == BISAI_MULTIGRID_COARSEST_AUTO && !bounded)
    o.multigrid.coarsest = PRESSURE_COARSEST;
  if (o.multigrid.complexity == 0.0) o.multigrid.complexity = PRESSURE_COMPLEXITY;
  return o;
}

bisai_precond_options bsi_cpr_first_options(const bisai_precond *m) {
  return first_options(m->context, &m->options, m->block_rows);
}

bisai_precond_options bsi_cpr_second_options(const bisai_precond_options *given) {
  const bisai_precond_options initial = bisai_precond_options_default();
  bisai_precond_options o = *given;
  o.kind = second_kind(given->cpr.second);
  o.multigrid = initial.multigrid;
  o.cpr = initial.cpr;
  return o;
}

bisai_precond_options bisai_pressure_stage_options(const bisai_context *context,
                                                   const bisai_precond_options *given, int64_t rows,
                                                   int stage) {
  return stage == 0 ? first_options(context, given, rows) : bsi_cpr_second_options(given);
}

bisai_status bsi_cpr_check_second(bisai_context *context, const bisai_precond_options *given) {
  char title[64];
  snprintf(title, sizeof title, "cpr with the second stage %s",
           bisai_cpr_second_stage_string(given->cpr.second));
  return bsi_stages_check(context, given, title);
}
