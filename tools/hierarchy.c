/* SPDX-License-Identifier: BSD-3-Clause */
#include "hierarchy.h"

#include <inttypes.h>

#include "message.h"

static void print_coarsest(FILE *out, const bisai_multigrid_report *g) {
  fputs(g->coarsest_inverted ? ", inverted" : ", smoothed only", out);
  if (g->ended_by != BISAI_COARSENING_END_ROWS)
    fprintf(out, " (ended by %s)", bisai_coarsening_end_string(g->ended_by));
  if (g->coarsest_nullity > 0)
    fprintf(out, " but for a null space of dimension %" PRId32, g->coarsest_nullity);
}

void hierarchy_print(FILE *out, const char *matrix, const bisai_multigrid_report *g) {
  if (g->levels == 0) return;
  for (int l = 0; l < g->levels; l++) {
    fprintf(out, "level %-3d%" PRId32 " block row%s of size %" PRId32 ", %" PRId32 " block%s", l,
            g->rows[l], plural(g->rows[l]), g->block_size[l], g->blocks[l], plural(g->blocks[l]));
    if (g->radius[l] > 0) fprintf(out, ", spectral radius of D^-1 A %.3g", g->radius[l]);
    if (g->unsmoothed[l]) fputs(", transfers not smoothed", out);
    if (l == g->levels - 1) print_coarsest(out, g);
    fputc('\n', out);
  }
  fprintf(
      out,
      "levels   cycle %s, smoother %s, nodes %s, %s is %ssymmetric\n"
      "         %.2f times the values and %.2f times the rows of %s, %.1f MB beside it, at most "
      "%.1f MB in set-up\n"
      "         matrices of at most %" PRId32 " rows are not coarsened\n",
      bisai_cycle_string(g->cycle), bisai_smoother_string(g->smoother),
      bisai_aggregation_unit_string(g->nodes), matrix, g->symmetric ? "" : "not ",
      g->operator_complexity, g->grid_complexity, matrix, 1e-6 * (double)g->hierarchy_bytes,
      1e-6 * (double)g->peak_bytes, g->coarsest);
}

#ifdef BISAI_HAVE_JANSSON

#include "json_parts.h"

static json_t *level_json(const bisai_multigrid_report *g, int l) {
  return OBJECT(
      {"block_rows", integer(true, g->rows[l])}, {"block_size", integer(true, g->block_size[l])},
      {"blocks", integer(true, g->blocks[l])}, {"radius", number(g->radius[l] > 0, g->radius[l])},
      {"unsmoothed", json_boolean(g->unsmoothed[l])});
}

json_t *hierarchy_json(const bisai_multigrid_report *g) {
  if (g->levels == 0) return json_null();
  json_t *levels = json_array();
  for (int l = 0; l < g->levels; l++) {
    if (json_array_append_new(levels, level_json(g, l)) == 0) continue;
    json_decref(levels);
    levels = NULL;
  }
  return OBJECT({"levels", levels}, {"cycle", text(true, bisai_cycle_string(g->cycle))},
                {"smoother", text(true, bisai_smoother_string(g->smoother))},
                {"nodes", text(true, bisai_aggregation_unit_string(g->nodes))},
                {"symmetric", json_boolean(g->symmetric)}, {"coarsest", integer(true, g->coarsest)},
                {"coarsest_inverted", json_boolean(g->coarsest_inverted)},
                {"ended_by", text(true, bisai_coarsening_end_string(g->ended_by))},
                {"coarsest_nullity", integer(true, g->coarsest_nullity)},
                {"operator_complexity", number(true, g->operator_complexity)},
                {"grid_complexity", number(true, g->grid_complexity)},
                {"bytes", integer(true, g->hierarchy_bytes)},
                {"peak_bytes", integer(true, g->peak_bytes)});
}

#endif
