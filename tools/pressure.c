/* SPDX-License-Identifier: BSD-3-Clause */
#include "pressure.h"

#include <inttypes.h>

#include "message.h"

void pressure_print(FILE *out, const bisai_cpr_report *r, int block_size) {
  double next = 0;
  for (int p = 0; p < block_size; p++)
    if (p != r->pressure && r->ellipticity[p] > next) next = r->ellipticity[p];
  fprintf(out, "pressure unknown %" PRId32 " of 0 to %d", r->pressure, block_size - 1);
  if (r->found) fprintf(out, " (ellipticity %.2g", r->ellipticity[r->pressure]);
  if (r->found && block_size > 1) fprintf(out, ", others at most %.2g", next);
  fprintf(out, "%s, weights %s", r->found ? ")" : " (given)", bisai_weights_string(r->weights));
  if (r->reversed_rows > 0)
    fprintf(out, ", %" PRId64 " block row%s reversed", r->reversed_rows, plural(r->reversed_rows));
  fputc('\n', out);
}

void pressure_print_rows(FILE *out, const char *prefix, const char *colon,
                         const bisai_cpr_report *r) {
  if (r->singular_rows > 0)
    fprintf(out,
            "%s%s%" PRId64 " block row%s without weights, whose pressure equation is taken as it "
            "is, the first %" PRId32 " (from 0)\n",
            prefix, colon, r->singular_rows, plural(r->singular_rows), r->first_singular_row);
  if (r->excluded_rows > 0)
    fprintf(out,
            "%s%s%" PRId64 " block row%s without pressure correction, the first %" PRId32
            " (from 0)\n",
            prefix, colon, r->excluded_rows, plural(r->excluded_rows), r->first_excluded_row);
}

#ifdef BISAI_HAVE_JANSSON

#include "json_parts.h"

/* Returns an array with a number for each unknown of a block. */
static json_t *ellipticity_json(const bisai_cpr_report *r, int block_size) {
  json_t *all = r->found ? json_array() : json_null();
  for (int p = 0; r->found && p < block_size; p++) {
    if (json_array_append_new(all, number(true, r->ellipticity[p])) == 0) continue;
    json_decref(all);
    all = NULL;
  }
  return all;
}

json_t *pressure_json(const bisai_cpr_report *r, int block_size) {
  return OBJECT({"pressure", integer(true, r->pressure)}, {"found", json_boolean(r->found)},
                {"ellipticity", ellipticity_json(r, block_size)},
                {"second", text(true, bisai_cpr_second_stage_string(r->second))},
                {"weights", text(true, bisai_weights_string(r->weights))},
                {"singular_rows", integer(true, r->singular_rows)},
                {"first_singular_row", integer(r->singular_rows > 0, r->first_singular_row)},
                {"reversed_rows", integer(true, r->reversed_rows)},
                {"excluded_rows", integer(true, r->excluded_rows)},
                {"first_excluded_row", integer(r->excluded_rows > 0, r->first_excluded_row)});
}

#endif
