/* SPDX-License-Identifier: BSD-3-Clause */
/* The options of a preconditioner: their defaults, and which kind takes which. */
#include "precond/precond.h"

#include "core/words.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

BSI_DEFINE_WORDS(precond_kind, BISAI_PRECOND_KIND_LIST, "unknown kind")
BSI_DEFINE_WORDS(form, BISAI_FORM_LIST, "unknown form")
BSI_DEFINE_WORDS(extraction, BISAI_EXTRACTION_LIST, "unknown extraction")
BSI_DEFINE_WORDS(symmetry, BISAI_SYMMETRY_LIST, "unknown symmetry")

bisai_precond_options bisai_precond_options_default(void) {
  return (bisai_precond_options){.struct_size = sizeof(bisai_precond_options),
                                 .kind = BISAI_PRECOND_ISAI,
                                 .power = 1,
                                 .sweeps = 1,
                                 .storage = BISAI_FP64,
                                 .schedule = BISAI_SCHEDULE_AUTO,
                                 .shift = BISAI_SHIFT_NONE,
                                 .shift_amount = bisai_factor_options_default().shift_amount,
                                 .ordering = BISAI_ORDERING_NATURAL,
                                 .digits = 2};
}

enum {
  OF_BJACOBI = 1 << BISAI_PRECOND_BJACOBI,
  OF_ILU = 1 << BISAI_PRECOND_ILU,
  OF_ISAI = 1 << BISAI_PRECOND_ISAI,
  OF_SWEEPS = 1 << BISAI_PRECOND_SWEEPS,
  OF_CALLBACK = 1 << BISAI_PRECOND_CALLBACK,
  OF_FACTORS = OF_ILU | OF_ISAI | OF_SWEEPS,
  KINDS = BISAI_PRECOND_CALLBACK + 1
};

typedef struct option {
  const char *name;
  /* OF_… of those that take it */
  unsigned kinds;
  size_t offset, size;
} option;

#define OPTION(field, kinds)                                                                       \
  {                                                                                                \
#field, kinds, offsetof(bisai_precond_options, field),                                         \
        sizeof((bisai_precond_options *)NULL)->field                                               \
  }

/* What is ignored where it means nothing is not here: ordering, permutation and equilibrate,
 * shift_amount, user. */
static const option options[] = {
    OPTION(power, OF_ISAI),
    OPTION(relax, OF_ISAI),
    OPTION(sweeps, OF_SWEEPS),
    OPTION(storage, OF_BJACOBI | OF_ISAI),
    OPTION(schedule, OF_ILU),
    OPTION(lower_pattern, OF_ISAI),
    OPTION(upper_pattern, OF_ISAI),
    OPTION(factors, OF_FACTORS),
    OPTION(apply, OF_CALLBACK),
    OPTION(level, OF_FACTORS),
    OPTION(shift, OF_BJACOBI | OF_FACTORS),
    OPTION(drop_tolerance, OF_ISAI),
    OPTION(column_limit, OF_ISAI),
    OPTION(max_block, OF_BJACOBI),
    OPTION(block_ptr, OF_BJACOBI),
    OPTION(block_count, OF_BJACOBI),
    OPTION(form, OF_BJACOBI),
    OPTION(digits, OF_BJACOBI),
    OPTION(extraction, OF_BJACOBI),
    OPTION(symmetric, OF_ISAI),
};
enum { OPTIONS = sizeof options / sizeof *options };

static bool takes(bisai_precond_kind kind, const option *o) { return o->kinds >> (int)kind & 1; }

bool bisai_precond_kind_takes(bisai_precond_kind kind, const char *name) {
  if (!name || !bsi_precond_ops_of(kind)) return false;
  for (int i = 0; i < OPTIONS; i++)
    if (strcmp(options[i].name, name) == 0) return takes(kind, &options[i]);
  return false;
}

/* "bjacobi, isai": the kinds that take an option. */
static void list_kinds(const option *o, char *text, size_t size) {
  size_t length = 0;
  for (int kind = 0; kind < KINDS && length < size; kind++)
    if (takes((bisai_precond_kind)kind, o))
      length += (size_t)snprintf(text + length, size - length, "%s%s", length > 0 ? ", " : "",
                                 bisai_precond_kind_string((bisai_precond_kind)kind));
}

bisai_status bsi_precond_options_check(bisai_context *context, const bisai_precond_options *given) {
  const bisai_precond_options defaults = bisai_precond_options_default();
  for (int i = 0; i < OPTIONS; i++) {
    const option *o = &options[i];
    const char *value = (const char *)given + o->offset,
               *initial = (const char *)&defaults + o->offset;
    if (takes(given->kind, o) || memcmp(value, initial, o->size) == 0) continue;
    char kinds[64] = "";
    list_kinds(o, kinds, sizeof kinds);
    return bsi_fail(context, BISAI_INVALID_ARGUMENT,
                    "%s does not take the option %s, which is for %s",
                    bisai_precond_kind_string(given->kind), o->name, kinds);
  }
  return BISAI_OK;
}
