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

static const char *const meanings[BISAI_MULTIGRID_PARTS] = {
    [BISAI_MULTIGRID_PART_MATRIX] = "matrices, fp64",
    [BISAI_MULTIGRID_PART_MATRIX_INDICES] = "their indices",
    [BISAI_MULTIGRID_PART_MATRIX_FP32] = "matrices, fp32",
    [BISAI_MULTIGRID_PART_DIAGONAL] = "inverted diagonal blocks",
    [BISAI_MULTIGRID_PART_SMOOTHER] = "smoother",
    [BISAI_MULTIGRID_PART_TRANSFERS] = "P and R, fp64",
    [BISAI_MULTIGRID_PART_TRANSFER_INDICES] = "their indices",
    [BISAI_MULTIGRID_PART_TRANSFERS_FP32] = "P and R, fp32",
    [BISAI_MULTIGRID_PART_TENTATIVE] = "tentative P and R",
    [BISAI_MULTIGRID_PART_PLACES] = "places of blocks",
    [BISAI_MULTIGRID_PART_FILTER] = "columns of A in A T",
    [BISAI_MULTIGRID_PART_PRODUCT] = "A P",
    [BISAI_MULTIGRID_PART_SLOTS] = "slots of products",
    [BISAI_MULTIGRID_PART_VECTORS] = "work vectors",
    [BISAI_MULTIGRID_PART_COARSEST] = "inverse of the coarsest",
    [BISAI_MULTIGRID_PART_GRAPH] = "recorded steps",
    [BISAI_MULTIGRID_PART_RECORDS] = "marks and records"};

/* The columns of levels 0 and 1, of the coarser ones together, and of all. */
enum { LEVEL_0, LEVEL_1, COARSER, ALL, COLUMNS };

static void print_part(FILE *out, const bisai_multigrid_report *g, int part) {
  double mb[COLUMNS] = {0};
  int64_t most = 0;
  for (int l = 0; l < g->levels; l++) {
    const double bytes = 1e-6 * (double)g->memory[l].bytes[part];
    mb[l < COARSER ? l : COARSER] += bytes;
    mb[ALL] += bytes;
    if (g->memory[l].reads[part] > most) most = g->memory[l].reads[part];
  }
  if (mb[ALL] == 0) return;
  fprintf(out, "%26s", meanings[part]);
  for (int k = 0; k < COLUMNS; k++) fprintf(out, "%12.3f", mb[k]);
  if (most > 0)
    fprintf(out, "%12" PRId64 "\n", most);
  else
    fprintf(out, "%12s\n", "updates");
}

void hierarchy_print_memory(FILE *out, const bisai_multigrid_report *g, int64_t device_peak) {
  if (g->levels == 0) return;
  fprintf(out,
          "\nMB of the levels, and how often a cycle reads them on the level that it reads most\n"
          "%26s%12s%12s%12s%12s%12s\n",
          "", "level 0", "level 1", "coarser", "all", "reads");
  for (int part = 0; part < BISAI_MULTIGRID_PARTS; part++) print_part(out, g, part);
  fprintf(out, "%26s%48.3f\n%26s%48.3f\n", "all", 1e-6 * (double)g->hierarchy_bytes,
          "most in set-up", 1e-6 * (double)g->peak_bytes);
  if (device_peak > 0) fprintf(out, "%26s%48.3f\n", "most on the GPU", 1e-6 * (double)device_peak);
}

#ifdef BISAI_HAVE_JANSSON

#include "json_parts.h"

/* The parts that the level has. */
static json_t *memory_json(const bisai_multigrid_memory *m) {
  json_t *parts = json_object();
  for (int p = 0; p < BISAI_MULTIGRID_PARTS && parts; p++) {
    if (m->bytes[p] == 0) continue;
    json_t *part =
        OBJECT({"bytes", integer(true, m->bytes[p])}, {"reads", integer(true, m->reads[p])});
    const char *word = bisai_multigrid_part_string((bisai_multigrid_part)p);
    if (json_object_set_new(parts, word, part) == 0) continue;
    json_decref(parts);
    parts = NULL;
  }
  return parts;
}

static json_t *level_json(const bisai_multigrid_report *g, int l) {
  return OBJECT(
      {"block_rows", integer(true, g->rows[l])}, {"block_size", integer(true, g->block_size[l])},
      {"blocks", integer(true, g->blocks[l])}, {"radius", number(g->radius[l] > 0, g->radius[l])},
      {"unsmoothed", json_boolean(g->unsmoothed[l])}, {"memory", memory_json(&g->memory[l])});
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
