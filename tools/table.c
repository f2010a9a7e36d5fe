/* SPDX-License-Identifier: BSD-3-Clause */
#include "table.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "choice.h"
#include "empties.h"
#include "hierarchy.h"
#include "label.h"
#include "message.h"
#include "pressure.h"
#include "project.h"
#include "signals.h"
#include "solver_option.h"
#include "standard.h"

enum { COUNT_WIDTH = 12, TIME_WIDTH = 10 };

void table_heading(FILE *out, bisai_context *context, const problem *p, const options *o) {
  int32_t rows = bisai_bcsr_block_rows(p->matrix), bs = bisai_bcsr_block_size(p->matrix),
          blocks = bisai_bcsr_blocks(p->matrix);
  fprintf(out, "matrix   %s: %" PRId32 " block row%s of size %" PRId32 ", %" PRId32 " block%s",
          p->name, rows, plural(rows), bs, blocks, plural(blocks));
  if (p->unknowns > p->rows)
    fprintf(out, ", %" PRId64 " of %" PRId64 " row%s padding", p->unknowns - p->rows, p->unknowns,
            plural(p->unknowns));
  fputc('\n', out);
  if (p->rhs_from == RHS_OWN) fputs("rhs      the file's own", out);
  if (p->rhs_from == RHS_OWN && p->rhs_columns > 1)
    fprintf(out, ", the first of %" PRId64 " columns", p->rhs_columns);
  if (p->rhs_from == RHS_OWN) fputc('\n', out);
  if (p->rhs_from == RHS_BESIDE) fprintf(out, "rhs      %s, beside the matrix\n", p->rhs_file);
  if (p->known.what == SOLUTION_ONES) fputs("rhs      A x with x_i = 1, i = 1 to n\n", out);
  if (p->known.what == SOLUTION_SQUARES)
    fputs(
        "rhs      A x with x_i = (i/n)^2, i = 1 to n, because A is singular: it, or its transpose, "
        "maps a constant to zero\n",
        out);
  project_print(out, p);
  fprintf(out, "backend  %s: %s, %d thread%s\n",
          bisai_backend_string(bisai_context_backend(context)), bisai_context_device(context),
          bisai_context_threads(context), plural(bisai_context_threads(context)));
  const bool matched = o->matching != BISAI_MATCHING_NONE;
  if (o->ordering != BISAI_ORDERING_NATURAL || matched || o->equilibrate)
    fprintf(out, "matrix   in %s order%s%s%s%s inside ilu, isai and sweeps\n",
            bisai_ordering_string(o->ordering), matched ? ", matched by " : "",
            matched ? bisai_matching_string(o->matching) : "",
            o->equilibrate ? ", equilibrated" : "", matched || o->equilibrate ? "," : "");
  const bool from_left = o->solver.method == BISAI_GMRES && o->solver.gmres.side == BISAI_LEFT;
  char solver[SOLVER_NAME];
  if (options_choose_solver(o))
    fputs("solver   chosen with the preconditioner", out);
  else
    fprintf(out, "solver   %s, preconditioned%s", solver_name(&o->solver, solver),
            o->solver.method == BISAI_CG ? ""
            : from_left                  ? " from the left"
                                         : " from the right");
  fprintf(out, ", relative residual %g, at most %d iteration%s\n\n", p->tolerance,
          o->solver.max_iterations, plural(o->solver.max_iterations));
}

table_shape table_shape_of(const problem *p, const method_list *methods) {
  int width = 10;
  for (int i = 0; i < methods->count; i++) {
    char label[METHOD_LABEL];
    method_label(&methods->items[i], label);
    if ((int)strlen(label) > width) width = (int)strlen(label);
  }
  return (table_shape){width, p->known.x != NULL};
}

void table_columns(FILE *out, table_shape shape) {
  const int error = shape.error ? TIME_WIDTH : 0;
  fprintf(out, "%-*s%*s%*s%*s%*s%*s%*s%*s\n", shape.width, "", COUNT_WIDTH, "", TIME_WIDTH,
          "set-up", TIME_WIDTH, "solve", TIME_WIDTH, "total", TIME_WIDTH, "memory", TIME_WIDTH,
          "true", error, shape.error ? "error" : "");
  fprintf(out, "%-*s%*s%*s%*s%*s%*s%*s%*s  %s\n", shape.width, "method", COUNT_WIDTH, "iterations",
          TIME_WIDTH, "ms", TIME_WIDTH, "ms", TIME_WIDTH, "ms", TIME_WIDTH, "MB", TIME_WIDTH,
          "residual", error, shape.error ? "of x" : "", "reason");
}

static void print_count(FILE *out, bool has, int64_t count) {
  if (has)
    fprintf(out, "%*" PRId64, COUNT_WIDTH, count);
  else
    fprintf(out, "%*s", COUNT_WIDTH, "-");
}

/* Prints at most three decimals and four significant digits. More digits would be noise. */
static void print_figure(FILE *out, bool has, double value) {
  if (has) {
    fprintf(out, "%*.*f", TIME_WIDTH,
            value < 10     ? 3
            : value < 100  ? 2
            : value < 1000 ? 1
                           : 0,
            value);
  } else {
    fprintf(out, "%*s", TIME_WIDTH, "-");
  }
}

/* printf() may print a NaN with a sign, which has no meaning. */
static const char *not_finite(double value) { return isnan(value) ? "nan" : "inf"; }

static void print_residual(FILE *out, double value, const char *what) {
  if (isfinite(value))
    fprintf(out, "%.3e %s", value, what);
  else
    fprintf(out, "%s %s", not_finite(value), what);
}

void table_row(FILE *out, table_shape shape, const run_result *r) {
  fprintf(out, "%-*s", shape.width, r->label);
  print_count(out, r->solved, r->solve.iterations);
  print_figure(out, r->set_up && !method_is(&r->m, BISAI_PRECOND_NONE),
               1e3 * r->setup.setup_seconds);
  print_figure(out, r->solved, 1e3 * r->solve.solve_seconds);
  print_figure(out, r->solved, 1e3 * run_total(r));
  print_figure(out, run_has_memory(r) && !method_is(&r->m, BISAI_PRECOND_NONE),
               1e-6 * (double)r->setup.memory_bytes);
  if (r->solved && isfinite(r->residual))
    fprintf(out, "%*.2e", TIME_WIDTH, r->residual);
  else
    fprintf(out, "%*s", TIME_WIDTH, r->solved ? not_finite(r->residual) : "-");
  if (shape.error && isfinite(r->error))
    fprintf(out, "%*.2e", TIME_WIDTH, r->error);
  else if (shape.error)
    fprintf(out, "%*s", TIME_WIDTH, "-");
  fprintf(out, "  %s\n", r->reason);
  standard_flush(out);
}

static void print_order(FILE *out, const bisai_precond_report *s) {
  fprintf(out, "order    %s, %" PRId32 " level%s of L and %" PRId32 " of U, bandwidth %" PRId32,
          bisai_ordering_string(s->factor.ordering), s->factor.lower_levels,
          plural(s->factor.lower_levels), s->factor.upper_levels, s->factor.bandwidth);
  if (s->factor.ordering != BISAI_ORDERING_NATURAL)
    fprintf(out, " (was %" PRId32 ")", s->factor.natural_bandwidth);
  fprintf(out, ", profile %" PRId64, s->factor.profile);
  if (s->factor.ordering != BISAI_ORDERING_NATURAL)
    fprintf(out, " (was %" PRId64 ")", s->factor.natural_profile);
  fprintf(out, ", %.3f ms\n", 1e3 * s->order_seconds);
  if (s->factor.matching != BISAI_MATCHING_NONE)
    fprintf(out, "matching %s, %" PRId32 " row%s moved\n",
            bisai_matching_string(s->factor.matching), s->factor.moved_rows,
            plural(s->factor.moved_rows));
  if (s->factor.equilibrated)
    fprintf(out, "scaling  rows and columns times powers of two from %.1e to %.1e\n",
            s->factor.smallest_scale, s->factor.largest_scale);
}

/* Prints the blocks of block-Jacobi: "sizes    1 block of 1 row, 40 of 3" and "formats  …". */
static void print_blocks(FILE *out, const bisai_precond_report *s) {
  fputs("sizes    ", out);
  const char *comma = "";
  for (int rows = 1; rows < (int)(sizeof s->bjacobi.by_size / sizeof *s->bjacobi.by_size); rows++) {
    if (s->bjacobi.by_size[rows] == 0) continue;
    fprintf(out, "%s%" PRId32 " block%s of %d", comma, s->bjacobi.by_size[rows],
            plural(s->bjacobi.by_size[rows]), rows);
    comma = ", ";
  }
  fputs("\nformats  ", out);
  comma = "";
  for (int f = 0; f < BISAI_VALUE_TYPES; f++) {
    if (s->bjacobi.by_format[f] == 0) continue;
    fprintf(out, "%s%" PRId64 " in %s", comma, s->bjacobi.by_format[f],
            bisai_value_type_string((bisai_value_type)f));
    comma = ", ";
  }
  fprintf(out, ", %.3f MB\n", 1e-6 * (double)s->bjacobi.value_bytes);
}

/* Prints what the set-up changed or left out, one line each after `prefix`. */
static void print_changes(FILE *out, const char *prefix, const char *colon, const run_result *r) {
  const bisai_precond_report *s = &r->setup;
  const bool of_rows = r->m.options.bjacobi.max_block == 0;
  if (s->repairs > 0) {
    fprintf(out,
            "%s%s%" PRId64
            " singular diagonal block%s repaired by a shift, the first in block %s%" PRId32
            " (from 0)\n",
            prefix, colon, s->repairs, plural(s->repairs), of_rows ? "row " : "",
            s->first_repair_row);
  }
  if (s->bjacobi.near_singular > 0) {
    fprintf(out,
            "%s%s%" PRId64 " diagonal block%s singular but for rounding, the first block %" PRId32
            " (from 0)\n",
            prefix, colon, s->bjacobi.near_singular, plural(s->bjacobi.near_singular),
            s->bjacobi.near_singular_block);
  }
  if (s->bjacobi.relax_radius >= 1) {
    fprintf(out, "%s%srelaxation diverges: a sweep multiplies errors by about %.2g\n", prefix,
            colon, s->bjacobi.relax_radius);
  }
  if (s->isai.dropped_lower + s->isai.dropped_upper > 0) {
    fprintf(out, "%s%s%" PRId64 " block%s of L and %" PRId64 " of U dropped before powering\n",
            prefix, colon, s->isai.dropped_lower, plural(s->isai.dropped_lower),
            s->isai.dropped_upper);
  }
  if (s->isai.shortened_columns > 0) {
    fprintf(out, "%s%s%" PRId32 " column%s of NL and NU shortened, by %" PRId64 " block%s in all\n",
            prefix, colon, s->isai.shortened_columns, plural(s->isai.shortened_columns),
            s->isai.cut_blocks, plural(s->isai.cut_blocks));
  }
  if (method_is(&r->m, BISAI_PRECOND_CPR)) pressure_print_rows(out, prefix, colon, &s->cpr);
}

/* Returns how the error of x is measured. */
static const char *measure_of(problem_solution what) {
  return what == SOLUTION_SQUARES
             ? "||x - y|| / ||y|| with y_i = (i/n)^2, without constants that A maps to zero"
             : "||x - y|| / ||y|| with y_i = 1";
}

/* Explains the columns. */
static void print_columns(FILE *out, const problem *p, int count, const run_result *results) {
  int repeats = 0;
  fprintf(
      out,
      "\niterations of the solver; set-up of the preconditioner; solve: the iterations from x = 0; "
      "total: set-up and solve;\n"
      "memory of the preconditioner; true residual: ||b - A x|| / ||b||, recomputed at the end.\n");
  if (p->known.x) fprintf(out, "error of x: %s.\n", measure_of(p->known.what));
  for (int i = 0; i < count; i++)
    if (results[i].repeats.runs > repeats) repeats = results[i].repeats.runs;
  if (repeats == 1)
    fprintf(out, "Each method was warmed up and run once; --repeat N gives minimum and median.\n");
  if (repeats < 2) return;
  fprintf(out,
          "Each method was warmed up and run %d times; the times are those of the run with the "
          "median total. "
          "Least totals in ms:",
          repeats);
  for (int i = 0; i < count; i++) {
    if (results[i].repeats.runs > 0)
      fprintf(out, "%s %s %.4g", i > 0 ? "," : "", results[i].label,
              1e3 * results[i].repeats.least_seconds);
  }
  fputc('\n', out);
}

void table_failures(FILE *out, const problem *p, int count, const run_result *results) {
  bool any = false, exact = false, cheaper = false, approximate = false, missing = false,
       singular = false, by_cg = false;
  print_columns(out, p, count, results);
  for (int i = 0; i < count; i++) {
    const run_result *r = &results[i];
    if (!r->converged) fprintf(out, "%s: %s\n", r->label, run_message(r));
    if (r->texts.note) fprintf(out, "%s: %s\n", r->label, r->texts.note);
    if (r->set_up) print_changes(out, r->label, ": ", r);
    any |= r->converged;
    missing |= strcmp(r->reason, "missing_diagonal") == 0;
    singular |= strcmp(r->reason, "singular_block") == 0;
    by_cg |= r->m.by_cg;
    if (method_is_exact(&r->m) && !r->m.by_cg) exact |= r->converged;
    approximate |= r->set_up &&
                   (method_is(&r->m, BISAI_PRECOND_ISAI) || method_is(&r->m, BISAI_PRECOND_SWEEPS));
    cheaper |= !method_is_exact(&r->m) && r->converged;
  }
  if (by_cg)
    fprintf(out,
            "(cg): solved by CG, as with --solver cg, because the matrix is symmetric and may be "
            "definite.\n");
  if (signals_caught()) {
    fprintf(out, "A signal ended the comparison early: it says nothing about the methods that did "
                 "not end.\n");
  } else if (exact && approximate && !cheaper) {
    fprintf(out, "Only the exact triangular solves converged: the approximate inverses tried are "
                 "too weak for this system.\n");
  } else if (!any) {
    fprintf(out, "No method converged.\n");
  }
  if ((!missing && !singular) || empties_exist(p->matrix)) return; /* nothing repairs these */
  fprintf(out, "The key shift=0.01 repairs singular and missing diagonal blocks.\n");
}

/* Returns what the levels of multigrid are made of. */
static const char *matrix_of_levels(const method *m) {
  return method_is(m, BISAI_PRECOND_CPR)     ? "the pressure matrix"
         : method_is(m, BISAI_PRECOND_SCHUR) ? "the velocities"
                                             : "A";
}

/* Prints the iterations and the residual. Where no trial of a choice solved the system, there is no
 * preconditioner whose applications were timed. */
static void print_solve(FILE *out, const run_result *r) {
  const bool chosen = r->set_up;
  fprintf(out, "solve    %d iteration%s%s, %.3f ms", r->solve.iterations,
          plural(r->solve.iterations), chosen ? "" : " of all trials",
          1e3 * (chosen ? r->solve.solve_seconds : r->choice.lost));
  if (chosen && r->m.program != METHOD_PETSC)
    fprintf(out, ", 30 applications of the preconditioner %.3f ms", 1e3 * r->solve.apply30_seconds);
  fputs("\nresidual ", out);
  print_residual(out, r->residual, chosen ? "recomputed, " : "recomputed\n");
  if (chosen) print_residual(out, r->solve.estimated_residual, "estimated\n");
}

void table_solve(FILE *out, const problem *p, const run_result *r) {
  const char *description = r->texts.description ? r->texts.description : r->label;
  if (description[0] != '\0') fprintf(out, "method   %s\n", description);
  if (r->texts.note) fprintf(out, "note     %s\n", r->texts.note);
  if (r->set_up) {
    const bisai_precond_report *s = &r->setup;
    fprintf(out, "set-up   %.3f ms (factor %.3f, pattern %.3f, values %.3f)",
            1e3 * s->setup_seconds, 1e3 * s->factor_seconds, 1e3 * s->pattern_seconds,
            1e3 * s->values_seconds);
    if (r->m.program != METHOD_PETSC) fprintf(out, ", %.1f MB", 1e-6 * (double)s->memory_bytes);
    fputc('\n', out);
    if (method_is(&r->m, BISAI_PRECOND_CPR))
      pressure_print(out, &s->cpr, bisai_bcsr_block_size(p->matrix));
    hierarchy_print(out, matrix_of_levels(&r->m), &s->multigrid);
    if (run_has_levels(r)) print_order(out, s);
    if (s->bjacobi.blocks > 0) print_blocks(out, s);
    if (s->largest_condition_row >= 0) {
      fprintf(out,
              "blocks   largest condition number %.1e in block %s%" PRId32 " (from 0), %" PRId64
              " inverted again with pivoting\n",
              s->largest_condition, r->m.options.bjacobi.max_block == 0 ? "row " : "",
              s->largest_condition_row, s->fallbacks);
    }
    print_changes(out, "blocks   ", "", r);
  }
  if (r->solved) {
    print_solve(out, r);
    if (isfinite(r->error))
      fprintf(out, "error    %.3e of x: %s\n", r->error, measure_of(p->known.what));
  }
  choice_print(out, r);
  bool more = !r->converged && run_message(r) != r->reason;
  fprintf(out, "result   %s%s%s\n", r->reason, more ? ": " : "", more ? run_message(r) : "");
}
