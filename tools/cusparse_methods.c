/* SPDX-License-Identifier: BSD-3-Clause */
#include "cusparse_methods.h"

#include <math.h>

bool cusparse_is_needed(const method *m) {
  return m->program == METHOD_CUSPARSE_ILU || m->factors == FACTORS_CUSPARSE ||
         m->pattern == MAKER_CUSPARSE || m->apply == MAKER_CUSPARSE;
}

#ifdef BISAI_HAVE_CUSPARSE

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef BISAI_CUSPARSE_LIBRARY
#include <dlfcn.h>
#endif

#include <bisai/cusparse.h>

#include "progress.h"

struct cusparse_parts {
  bisai_context *context;
  bisai_cusparse_ilu *ilu;
  bisai_cusparse_product *product;
  bisai_cusparse_isai *isai;
  bisai_factors *factors;
  bisai_pattern *patterns[2];
  bisai_precond *wrapped;
  double factor_seconds, pattern_seconds, analysis_seconds, all_seconds;
  char text[320];
};

/* The functions of libbisai_cusparse that are used. A shared library is loaded at the first use,
 * because cuSPARSE is large. */
/* clang-format off */
#define FUNCTIONS(X) \
  X(ilu_create) X(ilu_destroy) X(ilu_factors) X(ilu_prepare) \
  X(ilu_apply) X(ilu_get_report) X(product_create) X(product_destroy) \
  X(product_apply) X(isai_create) X(isai_destroy) X(isai_apply) \
  X(pattern)
/* clang-format on */

static struct {
#define POINTER(name) __typeof__(bisai_cusparse_##name) *name;
  FUNCTIONS(POINTER)
#undef POINTER
} cusparse;

#ifdef BISAI_CUSPARSE_LIBRARY

static bisai_status load(bisai_context *context) {
  if (cusparse.ilu_create) return BISAI_OK;
  void *library = dlopen(BISAI_CUSPARSE_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  if (!library) return bisai_context_fail(context, BISAI_UNAVAILABLE, dlerror());
  bool all = true;
#define POINTER(name)                                                                              \
  all &= (*(void **)(void *)&cusparse.name = dlsym(library, "bisai_cusparse_" #name)) != NULL;
  FUNCTIONS(POINTER)
#undef POINTER
  if (all) return BISAI_OK;
  cusparse.ilu_create = NULL;
  return bisai_context_fail(context, BISAI_UNAVAILABLE,
                            BISAI_CUSPARSE_LIBRARY " is of another version of bisai");
}

#else

static bisai_status load(bisai_context *context) {
  (void)context;
#define POINTER(name) cusparse.name = bisai_cusparse_##name;
  FUNCTIONS(POINTER)
#undef POINTER
  return BISAI_OK;
}

#endif

__attribute__((format(printf, 2, 3))) static void append(cusparse_parts *parts, const char *format,
                                                         ...) {
  const size_t length = strlen(parts->text);
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(parts->text + length, sizeof parts->text - length, format, arguments);
  va_end(arguments);
}

static bisai_status make_ilu(cusparse_parts *parts, const problem *p, const method *m,
                             bisai_precond_options *setup) {
  bisai_status status = cusparse.ilu_create(parts->context, p->matrix, &parts->ilu);
  if (!status && m->program == METHOD_CUSPARSE_ILU) {
    status = cusparse.ilu_prepare(parts->ilu);
    setup->kind = BISAI_PRECOND_CALLBACK;
    setup->callback.apply = cusparse.ilu_apply;
    setup->callback.user = parts->ilu;
  } else if (!status) {
    status = cusparse.ilu_factors(parts->ilu, &parts->factors);
    setup->factor.factors = parts->factors;
  }
  if (status) return status;
  bisai_cusparse_ilu_report report = {.struct_size = sizeof report};
  cusparse.ilu_get_report(parts->ilu, &report);
  parts->factor_seconds = report.factor_seconds;
  parts->analysis_seconds = report.analysis_seconds + report.solve_analysis_seconds;
  append(parts, "bsrilu02 of cuSPARSE, analysis %.3f ms", 1e3 * report.analysis_seconds);
  if (m->program == METHOD_CUSPARSE_ILU)
    append(parts,
           ", bsrsv2 %s levels, analysis %.3f ms, one application %.3f ms with and %.3f ms without",
           report.by_levels ? "with" : "without", 1e3 * report.solve_analysis_seconds,
           1e3 * report.level_seconds, 1e3 * report.no_level_seconds);
  return BISAI_OK;
}

/* Makes factors first, unless cuSPARSE or PETSc made them, because patterns need them before the
 * preconditioner exists. */
static bisai_status make_patterns(cusparse_parts *parts, const problem *p, const method *m,
                                  bisai_precond_options *setup) {
  bisai_status status = BISAI_OK;
  if (!setup->factor.factors) {
    bisai_factor_options how = bisai_factor_options_default();
    how.level = setup->factor.level;
    how.shift = setup->shift;
    how.shift_amount = setup->shift_amount;
    const double start = progress_now();
    status = bisai_factors_create(parts->context, p->matrix, &how, &parts->factors);
    parts->factor_seconds = progress_now() - start;
    setup->factor.factors = parts->factors;
  }
  for (int t = BISAI_LOWER; t <= BISAI_UPPER && !status; t++) {
    const bisai_bcsr *factor = t == BISAI_LOWER ? bisai_factors_lower(setup->factor.factors)
                                                : bisai_factors_upper(setup->factor.factors);
    double seconds = 0;
    status = cusparse.pattern(parts->context, factor, (bisai_triangle)t, m->options.isai.power,
                              &parts->patterns[t], &seconds);
    parts->pattern_seconds += seconds;
  }
  setup->isai.lower_pattern = parts->patterns[BISAI_LOWER];
  if (!m->options.isai.symmetric) setup->isai.upper_pattern = parts->patterns[BISAI_UPPER];
  append(parts, "%spatterns by SpGEMM of cuSPARSE", *parts->text ? ", " : "");
  return status;
}

bisai_status cusparse_prepare(bisai_context *context, const problem *p, const method *m,
                              bisai_precond_options *setup, cusparse_parts **parts) {
  if (bisai_context_backend(context) != BISAI_BACKEND_CUDA)
    return bisai_context_fail(context, BISAI_UNAVAILABLE, "cuSPARSE needs --backend cuda");
  bisai_status status = load(context);
  if (status) return status;
  cusparse_parts *made = calloc(1, sizeof *made);
  if (!made) return bisai_context_fail(context, BISAI_OUT_OF_MEMORY, NULL);
  made->context = context;
  made->analysis_seconds = NAN;
  if (m->program == METHOD_CUSPARSE_ILU || m->factors == FACTORS_CUSPARSE)
    status = make_ilu(made, p, m, setup);
  if (!status && m->pattern == MAKER_CUSPARSE) status = make_patterns(made, p, m, setup);
  if (!status)
    *parts = made;
  else
    cusparse_free(&made);
  return status;
}

bisai_status cusparse_complete(cusparse_parts *parts, const problem *p, const method *m,
                               bisai_precond *precond, bisai_precond **used,
                               bisai_precond_report *report) {
  bisai_status status = BISAI_OK;
  *used = precond;
  if (m->apply == MAKER_CUSPARSE) {
    append(parts, "%sproducts by cuSPARSE", *parts->text ? ", " : "");
    status =
        cusparse.product_create(parts->context, p->matrix, BISAI_CUSPARSE_AUTO, &parts->product);
  }
  if (!status && m->apply == MAKER_CUSPARSE && method_is(m, BISAI_PRECOND_ISAI)) {
    status = cusparse.isai_create(parts->context, precond, BISAI_CUSPARSE_AUTO, &parts->isai);
    bisai_precond_options how = bisai_precond_options_default();
    how.kind = BISAI_PRECOND_CALLBACK;
    how.callback.apply = cusparse.isai_apply;
    how.callback.user = parts->isai;
    if (!status) status = bisai_precond_create(parts->context, p->matrix, &how, &parts->wrapped);
    *used = parts->wrapped;
  }
  const double analysis = isnan(parts->analysis_seconds) ? 0 : parts->analysis_seconds;
  report->factor_seconds += parts->factor_seconds;
  report->pattern_seconds += parts->pattern_seconds;
  report->setup_seconds += parts->factor_seconds + parts->pattern_seconds + analysis;
  if (parts->ilu) {
    bisai_cusparse_ilu_report of_ilu = {.struct_size = sizeof of_ilu};
    cusparse.ilu_get_report(parts->ilu, &of_ilu);
    report->factor.blocks = of_ilu.blocks;
  }
  return status;
}

bisai_apply_function cusparse_operator(const cusparse_parts *parts, void **user) {
  *user = parts->product;
  return parts->product ? cusparse.product_apply : NULL;
}

const char *cusparse_describe(const cusparse_parts *parts) { return parts->text; }

double cusparse_analysis(const cusparse_parts *parts) { return parts->analysis_seconds; }

void cusparse_free(cusparse_parts **parts) {
  if (!*parts) return;
  bisai_precond_destroy(&(*parts)->wrapped);
  cusparse.isai_destroy(&(*parts)->isai);
  cusparse.product_destroy(&(*parts)->product);
  bisai_pattern_destroy(&(*parts)->patterns[BISAI_LOWER]);
  bisai_pattern_destroy(&(*parts)->patterns[BISAI_UPPER]);
  bisai_factors_destroy(&(*parts)->factors);
  cusparse.ilu_destroy(&(*parts)->ilu);
  free(*parts);
  *parts = NULL;
}

#else

bisai_status cusparse_prepare(bisai_context *context, const problem *p, const method *m,
                              bisai_precond_options *setup, cusparse_parts **parts) {
  (void)p, (void)m, (void)setup, (void)parts;
  return bisai_context_fail(context, BISAI_UNAVAILABLE, "this build has no cuSPARSE");
}

bisai_status cusparse_complete(cusparse_parts *parts, const problem *p, const method *m,
                               bisai_precond *precond, bisai_precond **used,
                               bisai_precond_report *report) {
  (void)parts, (void)p, (void)m, (void)report;
  *used = precond;
  return BISAI_OK;
}

bisai_apply_function cusparse_operator(const cusparse_parts *parts, void **user) {
  (void)parts;
  *user = NULL;
  return NULL;
}

const char *cusparse_describe(const cusparse_parts *parts) {
  (void)parts;
  return "";
}

double cusparse_analysis(const cusparse_parts *parts) {
  (void)parts;
  return NAN;
}

void cusparse_free(cusparse_parts **parts) { (void)parts; }

#endif
