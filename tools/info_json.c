/* SPDX-License-Identifier: BSD-3-Clause */
#include "info_json.h"

#ifdef BISAI_HAVE_JANSSON

#include <bisai/version.h>

#include "hierarchy.h"
#include "json_parts.h"
#include "measures.h"
#include "pressure.h"

/* Returns an array of `count` values that `make` returns. */
static json_t *array(int count, const info *i, json_t *(*make)(const info *i, int k)) {
  json_t *all = json_array();
  for (int k = 0; k < count; k++) {
    if (json_array_append_new(all, make(i, k)) == 0) continue;
    json_decref(all);
    return NULL;
  }
  return all;
}

static json_t *matrix(const info_matrix *m) {
  static const char *const origins[] = {
      [INFO_GIVEN] = "given", [INFO_CASE] = "case",       [INFO_FILE] = "info",
      [INFO_PAPER] = "paper", [INFO_PATTERN] = "pattern", [INFO_NODES] = "nodes"};
  return OBJECT(
      {"name", text(true, m->name)}, {"rows", integer(true, m->rows)},
      {"entries", integer(true, m->entries)}, {"block_size", integer(true, m->block_size)},
      {"block_size_from", text(true, origins[m->origin])}, {"padding", integer(true, m->padding)},
      {"block_rows", integer(true, m->block_rows)}, {"blocks", integer(true, m->blocks)},
      {"longest_row", integer(true, m->longest_row)},
      {"missing_diagonals", integer(true, m->missing_diagonals)},
      {"asymmetry", number(m->asymmetry_known, m->asymmetry)});
}

static json_t *of_empties(const empties *e) {
  return OBJECT({"rows", integer(true, e->rows)}, {"first_row", integer(e->rows > 0, e->first_row)},
                {"columns", integer(true, e->columns)},
                {"first_column", integer(e->columns > 0, e->first_column)});
}

static json_t *size(const info *i, int k) {
  const info_size *s = &i->size[k];
  return OBJECT({"block_size", integer(true, s->block_size)},
                {"block_rows", integer(true, s->block_rows)}, {"blocks", integer(true, s->blocks)},
                {"filled", number(true, s->filled)}, {"bytes", integer(true, s->bytes)},
                {"missing_diagonals", integer(s->diagonals_known, s->missing_diagonals)},
                {"singular_diagonals", integer(s->diagonals_known, s->singular_diagonals)},
                {"chosen", json_boolean(s->chosen)});
}

static json_t *levels(const info *i) {
  const info_triangle *l = &i->triangles[0], *u = &i->triangles[1];
  return OBJECT({"lower", integer(l->known[0], l->levels)},
                {"upper", integer(u->known[0], u->levels)});
}

static json_t *pattern(const info *i, int k) {
  const info_triangle *l = &i->triangles[0], *u = &i->triangles[1];
  return OBJECT({"k", integer(true, k + 1)}, {"lower_blocks", integer(l->known[k], l->blocks[k])},
                {"upper_blocks", integer(u->known[k], u->blocks[k])},
                {"longest_lower", integer(l->known[k], l->longest[k])},
                {"longest_upper", integer(u->known[k], u->longest[k])});
}

static json_t *diagonal(const info *i, int k) {
  const info_diagonal *d = &i->diagonals[k];
  return OBJECT({"max", integer(true, d->bound)}, {"blocks", integer(d->known, d->blocks)},
                {"mean_rows", number(d->known, d->mean_rows)},
                {"largest", integer(d->known, d->largest)}, {"bytes", integer(d->known, d->bytes)});
}

static json_t *repairs(const info_repairs *r) {
  if (r->shift == 0) return json_null();
  return OBJECT({"shift", number(true, r->shift)}, {"repairs", integer(true, r->count)},
                {"first_repair_row", integer(true, r->first_row)});
}

/* The numbers are integers in doubles. */
static json_t *method_bytes(const info *i, int k) {
  const info_method *m = &i->method[k];
  const double all = m->matrix + m->preconditioner + m->vectors;
  return OBJECT({"method", text(true, m->label)}, {"matrix", integer(true, (int64_t)m->matrix)},
                {"preconditioner", integer(true, (int64_t)m->preconditioner)},
                {"vectors", integer(true, (int64_t)m->vectors)},
                {"all", integer(true, (int64_t)all)});
}

char *info_json(const info *i) {
  return text_of_document(OBJECT(
      {"version", text(true, bisai_version())}, {"matrix", matrix(&i->matrix)},
      {"empty_blocks", of_empties(&i->matrix.empty_blocks)},
      {"zeros", of_empties(&i->matrix.zeros)}, {"levels", levels(i)},
      {"study", measures_json(&i->study, i->matrix.block_size)},
      {"block_sizes", array(i->sizes, i, size)}, {"patterns", array(INFO_POWERS, i, pattern)},
      {"diagonal_blocks", i->has_diagonals ? array(INFO_BOUNDS, i, diagonal) : json_null()},
      {"hierarchy", hierarchy_json(&i->hierarchy)},
      {"mg_device_peak_bytes", integer(i->mg.device_peak > 0, i->mg.device_peak)},
      {"mg_repairs", repairs(&i->mg.repairs)},
      {"mg_error_factor", number(i->mg.factor_known, i->mg.error_factor)},
      {"cpr", i->pressure_known ? pressure_json(&i->pressure, i->matrix.block_size) : json_null()},
      {"cpr_repairs", repairs(&i->cpr.repairs)},
      {"cpr_error_factor", number(i->cpr.factor_known, i->cpr.error_factor)},
      {"iteration_bytes", array(i->methods, i, method_bytes)}));
}

#else

/* arguments_parse() has refused --json. */
char *info_json(const info *i) {
  (void)i;
  return NULL;
}

#endif
