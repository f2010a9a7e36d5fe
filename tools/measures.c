/* SPDX-License-Identifier: BSD-3-Clause */
#include "measures.h"

#include <inttypes.h>

#include "facts.h"
#include "message.h"

static double percent(double share) { return 100 * share; }

/* Prints " row 5" or " rows 5 to 9". */
static void print_range(FILE *out, int64_t first, int64_t last) {
  if (first == last)
    fprintf(out, " row %" PRId64, first);
  else
    fprintf(out, " rows %" PRId64 " to %" PRId64, first, last);
}

/* Prints " 1, 3" for the components of a set. */
static void print_components(FILE *out, uint32_t components) {
  const char *comma = " ";
  for (int c = 0; c < BISAI_MAX_BLOCK_SIZE; c++) {
    if (!(components >> c & 1)) continue;
    fprintf(out, "%s%d", comma, c);
    comma = ", ";
  }
}

static void print_diagonal(FILE *out, const bisai_matrix_study_report *s) {
  const bisai_study_diagonal *d = &s->diagonal;
  fprintf(out, "diagonal     %" PRId64 " positive, %" PRId64 " negative, %" PRId64 " zero%s",
          d->positive, d->negative, d->zero, d->mixed_signs ? ", both signs in one component" : "");
  if (d->missing_blocks > 0)
    fprintf(out, "; %" PRId32 " block%s missing, first %" PRId32, d->missing_blocks,
            plural(d->missing_blocks), d->first_missing);
  if (d->singular_blocks > 0)
    fprintf(out, "; %" PRId32 " block%s singular, first %" PRId32, d->singular_blocks,
            plural(d->singular_blocks), d->first_singular);
  if (d->condition > 1) fprintf(out, "; condition numbers of blocks up to %.1e", d->condition);
  fputc('\n', out);
}

static void print_couplings(FILE *out, const bisai_matrix_study_report *s, int block_size) {
  const bisai_study_couplings *c = &s->couplings;
  fprintf(out, "dominance    %.1f %% of the rows", percent(c->dominant_rows));
  if (block_size > 1) fprintf(out, ", %.1f %% of the block rows", percent(c->dominant_block_rows));
  fprintf(out, "\ncouplings    %.1f %% with the sign opposite to the diagonal, %.1f %% weak\n",
          percent(c->opposite), percent(c->weak));
  fprintf(out,
          "mirrored     %.1f %% of the blocks, %.1f %% of the entries; one-sided %.3f (0: "
          "symmetric, 1: convection)",
          percent(s->symmetry.mirrored_blocks), percent(s->symmetry.mirrored_entries),
          s->symmetry.one_sided);
  fprintf(out, ", in %" PRId32 " block row%s\n", s->symmetry.sampled_rows,
          plural(s->symmetry.sampled_rows));
}

static void print_constants(FILE *out, const char *what, const constants *v, int block_size) {
  fprintf(out, "%s maps the constant ", what);
  if (constants_of_pressure(v)) {
    fprintf(out, "in");
    print_range(out, v->first_row, v->end_row - 1);
  } else if (v->ones || block_size == 1) {
    fprintf(out, "in all rows");
  } else {
    fprintf(out, "in component%s", v->components & (v->components - 1) ? "s" : "");
    print_components(out, v->components);
  }
  fprintf(out, " to zero");
}

/* Prints what makes A singular: constants. */
static void print_null(FILE *out, const bisai_matrix_study_report *s, int block_size) {
  const bool right = constants_exist(&s->null.right), left = constants_exist(&s->null.left);
  if (!right && !left) return;
  fprintf(out, "null space   ");
  if (right) print_constants(out, "A", &s->null.right, block_size);
  if (right && left) fprintf(out, ", ");
  if (left) print_constants(out, "its transpose", &s->null.left, block_size);
  fputc('\n', out);
}

static void print_special_rows(FILE *out, const bisai_matrix_study_report *s) {
  const bisai_study_saddle *d = &s->saddle;
  if (d->rows > 0) {
    fprintf(out, "saddle       %" PRId64 " row%s with a zero on the diagonal,", d->rows,
            plural(d->rows));
    print_range(out, d->first_row, d->last_row);
    if (d->components) fprintf(out, ", component");
    print_components(out, d->components);
    if (d->zero_block)
      fprintf(out, "; a zero block\n");
    else
      fprintf(out, "; %" PRId64 " entr%s between them\n", d->inner, d->inner == 1 ? "y" : "ies");
  }
  if (s->entries.single_rows == 0) return;
  fprintf(out, "eliminated   %" PRId64 " row%s with a diagonal entry alone", s->entries.single_rows,
          plural(s->entries.single_rows));
  if (s->entries.partly_single > 0)
    fprintf(out, ", %" PRId32 " block row%s in part", s->entries.partly_single,
            plural(s->entries.partly_single));
  fputc('\n', out);
}

static void print_order(FILE *out, const bisai_matrix_study_report *s) {
  fprintf(out, "scales       largest entries of rows %.1e to %.1e, diagonal %.1e to %.1e\n",
          s->scales.smallest_row, s->scales.largest_row, s->scales.smallest_diagonal,
          s->scales.largest_diagonal);
  fprintf(out, "order        bandwidth %" PRId32 ", profile %.1f block rows\n", s->order.bandwidth,
          s->order.profile);
  if (s->fields.count > 1)
    fprintf(out,
            "fields       %" PRId32 ", stored one after the other: rows k, k + %" PRId64
            ", ... belong to one node\n",
            s->fields.count, s->entries.rows / s->fields.count);
}

void measures_print(FILE *out, const bisai_matrix_study_report *s, int block_size) {
  const bisai_study_unknowns *u = &s->unknowns;
  print_diagonal(out, s);
  print_couplings(out, s, block_size);
  print_null(out, s, block_size);
  print_special_rows(out, s);
  print_order(out, s);
  if (u->sampled_rows > 0)
    fprintf(out,
            "ellipticity  %.2g of unknown %" PRId32 ", %.2g of unknown %" PRId32 ", in %" PRId32
            " block row%s\n",
            u->ellipticity[u->first], u->first, u->ellipticity[u->second], u->second,
            u->sampled_rows, plural(u->sampled_rows));
}

#ifdef BISAI_HAVE_JANSSON

#include "json_parts.h"

/* A first or last row; null if there is none. */
static json_t *row(int64_t value) { return integer(value >= 0, value); }

static json_t *entries(const bisai_study_entries *e) {
  return OBJECT({"rows", integer(true, e->rows)}, {"nonzeros", integer(true, e->nonzeros)},
                {"fill", number(true, e->fill)}, {"zero_rows", integer(true, e->zero_rows)},
                {"first_zero_row", row(e->first_zero_row)},
                {"single_rows", integer(true, e->single_rows)},
                {"first_single_row", row(e->first_single_row)},
                {"partly_single", integer(true, e->partly_single)});
}

static json_t *symmetry(const bisai_study_symmetry *s) {
  return OBJECT(
      {"symmetric", json_boolean(s->symmetric)}, {"asymmetry", number(true, s->asymmetry)},
      {"mirrored_blocks", number(true, s->mirrored_blocks)},
      {"mirrored_entries", number(true, s->mirrored_entries)},
      {"one_sided", number(true, s->one_sided)}, {"sampled_rows", integer(true, s->sampled_rows)});
}

static json_t *diagonal(const bisai_study_diagonal *d) {
  return OBJECT({"positive", integer(true, d->positive)}, {"negative", integer(true, d->negative)},
                {"zero", integer(true, d->zero)}, {"first_negative", row(d->first_negative)},
                {"last_negative", row(d->last_negative)},
                {"mixed_signs", json_boolean(d->mixed_signs)},
                {"missing_blocks", integer(true, d->missing_blocks)},
                {"first_missing", row(d->first_missing)},
                {"singular_blocks", integer(true, d->singular_blocks)},
                {"first_singular", row(d->first_singular)},
                {"condition", number(d->condition > 0, d->condition)});
}

static json_t *couplings(const bisai_study_couplings *c) {
  return OBJECT({"dominant_rows", number(true, c->dominant_rows)},
                {"dominant_block_rows", number(true, c->dominant_block_rows)},
                {"opposite", number(true, c->opposite)}, {"weak", number(true, c->weak)});
}

/* The components of a set as an array. */
static json_t *components(uint32_t set) {
  json_t *all = json_array();
  for (int c = 0; c < BISAI_MAX_BLOCK_SIZE; c++) {
    if (!(set >> c & 1) || json_array_append_new(all, json_integer(c)) == 0) continue;
    json_decref(all);
    return NULL;
  }
  return all;
}

static json_t *of_constants(const constants *v) {
  return OBJECT({"components", components(v->components)}, {"ones", json_boolean(v->ones)},
                {"first_row", row(v->end_row > 0 ? v->first_row : -1)},
                {"end_row", row(v->end_row > 0 ? v->end_row : -1)});
}

static json_t *scales(const bisai_study_scales *s) {
  return OBJECT({"largest_row", number(true, s->largest_row)},
                {"smallest_row", number(true, s->smallest_row)},
                {"largest_diagonal", number(true, s->largest_diagonal)},
                {"smallest_diagonal", number(true, s->smallest_diagonal)});
}

static json_t *saddle(const bisai_study_saddle *s) {
  return OBJECT({"rows", integer(true, s->rows)}, {"first_row", row(s->first_row)},
                {"last_row", row(s->last_row)}, {"share", number(true, s->share)},
                {"inner", integer(true, s->inner)}, {"zero_block", json_boolean(s->zero_block)},
                {"components", components(s->components)});
}

static json_t *order(const bisai_study_order *o) {
  return OBJECT({"bandwidth", integer(true, o->bandwidth)}, {"profile", number(true, o->profile)},
                {"levels", integer(true, o->levels)}, {"level_rows", integer(true, o->level_rows)});
}

static json_t *unknowns(const bisai_study_unknowns *u, int block_size) {
  if (u->sampled_rows == 0) return json_null();
  json_t *all = json_array();
  for (int p = 0; p < block_size; p++) {
    if (json_array_append_new(all, number(true, u->ellipticity[p])) == 0) continue;
    json_decref(all);
    return NULL;
  }
  return OBJECT({"sampled_rows", integer(true, u->sampled_rows)},
                {"first", integer(true, u->first)}, {"second", integer(true, u->second)},
                {"ellipticity", all});
}

json_t *measures_json(const bisai_matrix_study_report *s, int block_size) {
  return OBJECT({"entries", entries(&s->entries)}, {"symmetry", symmetry(&s->symmetry)},
                {"diagonal", diagonal(&s->diagonal)}, {"couplings", couplings(&s->couplings)},
                {"null", OBJECT({"right", of_constants(&s->null.right)},
                                {"left", of_constants(&s->null.left)})},
                {"scales", scales(&s->scales)}, {"saddle", saddle(&s->saddle)},
                {"order", order(&s->order)},
                {"fields", OBJECT({"count", integer(true, s->fields.count)},
                                  {"agreement", number(s->fields.count > 1, s->fields.agreement)})},
                {"unknowns", unknowns(&s->unknowns, block_size)});
}

#endif
