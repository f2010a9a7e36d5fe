/* SPDX-License-Identifier: BSD-3-Clause */
#include "verdict.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "message.h"

static double solve_of(const run_result *r) { return r->solve.solve_seconds; }

static double memory_of(const run_result *r) { return (double)r->setup.memory_bytes; }

static bool always(const run_result *r) { return r->converged; }

static bool memory_counts(const run_result *r) {
  return r->converged && run_has_memory(r) && !method_is(&r->m, BISAI_PRECOND_NONE);
}

static bool is_isai(const run_result *r) {
  return r->converged && !r->m.by_cg && method_is(&r->m, BISAI_PRECOND_ISAI);
}

static bool is_exact(const run_result *r) {
  return r->converged && !r->m.by_cg && method_is(&r->m, BISAI_PRECOND_ILU);
}

/* Returns the run with the least value among those that compete, the first of several. */
static const run_result *least(int count, const run_result *results,
                               bool (*competes)(const run_result *),
                               double (*value)(const run_result *)) {
  const run_result *best = NULL;
  for (int i = 0; i < count; i++)
    if (competes(&results[i]) && (!best || value(&results[i]) < value(best))) best = &results[i];
  return best;
}

/* Returns the number n of solves from which set-up + n solves of `steady` take less time than those
 * of `quick`. */
static int64_t pays_after(const run_result *quick, const run_result *steady) {
  double saved = solve_of(quick) - solve_of(steady),
         extra = steady->setup.setup_seconds - quick->setup.setup_seconds;
  return saved > 0 && extra > 0 ? (int64_t)floor(extra / saved) + 1 : 1;
}

/* Writes "1.9 times as many" or "2.1 times fewer", or "as many" if the factor is within 5 % of
 * 1. */
static void write_ratio(char *text, size_t size, double ratio, const char *more, const char *less,
                        const char *same) {
  const double factor = ratio >= 1 ? ratio : 1 / ratio;
  if (factor < 1.05) {
    snprintf(text, size, "%s", same);
  } else {
    snprintf(text, size, factor < 10 ? "%.1f times %s" : "%.0f times %s", factor,
             ratio > 1 ? more : less);
  }
}

/* Compares the iterations and the time of an iteration, and gives the reason for the time: levels
 * wait for each other, and products do not. */
static void explain(double rows, const run_result *isai, const run_result *exact,
                    char why[VERDICT_WHY]) {
  int32_t levels = exact->setup.factor.lower_levels + exact->setup.factor.upper_levels;
  double count = (double)isai->solve.iterations / exact->solve.iterations,
         gain = solve_of(exact) / solve_of(isai), width = round(2 * rows / levels);
  char result[48], iterations[48], each[48];
  write_ratio(result, sizeof result, gain, "faster than", "slower than", "as fast as");
  write_ratio(iterations, sizeof iterations, count, "as many", "fewer", "as many");
  write_ratio(each, sizeof each, count * gain, "as fast", "slower", "as fast");
  snprintf(why, VERDICT_WHY,
           "%s is %s %s: it takes %s iterations, and each is %s. The exact solves of %s wait for "
           "%" PRId32 " levels, of %.0f block row%s on average, and read %.3g MB; the products of "
           "%s do not wait and read %.3g MB.",
           isai->label, result, exact->label, iterations, each, exact->label, levels, width,
           width == 1 ? "" : "s", 1e-6 * (double)exact->setup.apply_bytes, isai->label,
           1e-6 * (double)isai->setup.apply_bytes);
}

verdict verdict_of(const problem *p, int count, const run_result *results) {
  verdict v = {.fastest = least(count, results, always, run_total),
               .fastest_solve = least(count, results, always, solve_of),
               .least_memory = least(count, results, memory_counts, memory_of)};
  const run_result *isai = least(count, results, is_isai, solve_of),
                   *exact = least(count, results, is_exact, solve_of);
  if (v.fastest) v.pays_after = pays_after(v.fastest, v.fastest_solve);
  if (isai && exact && isai->solve.iterations > 0 && exact->solve.iterations > 0)
    explain(bisai_bcsr_block_rows(p->matrix), isai, exact, v.why);
  return v;
}

static void print_seconds(FILE *out, double seconds) {
  if (seconds < 1)
    fprintf(out, "%.3g ms", 1e3 * seconds);
  else
    fprintf(out, "%.3g s", seconds);
}

void verdict_print(FILE *out, const verdict *v, int count) {
  if (count < 2 || !v->fastest) return;
  fprintf(out, "\nfastest to the solution   %s: ", v->fastest->label);
  print_seconds(out, run_total(v->fastest));
  fprintf(out, ", the set-up included\nfastest once set up       %s: ", v->fastest_solve->label);
  print_seconds(out, solve_of(v->fastest_solve));
  if (v->fastest_solve != v->fastest)
    fprintf(out, " for each solve; its set-up pays from %" PRId64 " solve%s on", v->pays_after,
            plural(v->pays_after));
  if (v->least_memory)
    fprintf(out, "\nleast memory              %s: %.3g MB", v->least_memory->label,
            1e-6 * memory_of(v->least_memory));
  fputc('\n', out);
  if (*v->why) fprintf(out, "%s\n", v->why);
}
