/* SPDX-License-Identifier: BSD-3-Clause */
/* The command-line program: bisai solve | compare | info | convert | help. */
#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bisai/bisai.h>

#include "arguments.h"
#include "convert.h"
#include "files.h"
#include "hints.h"
#include "info.h"
#include "json.h"
#include "message.h"
#include "null_space.h"
#include "numbering.h"
#include "petsc_methods.h"
#include "plots.h"
#include "progress.h"
#include "project.h"
#include "signals.h"
#include "standard.h"
#include "table.h"
#include "target.h"
#include "verdict.h"

/* Commands that do not solve a system use the host. */
static bisai_context *make_context(command which, const options *o) {
  bisai_context_options how = bisai_context_options_default();
  bool computes = which == COMMAND_SOLVE || which == COMMAND_COMPARE;
  how.backend = computes ? o->backend : BISAI_BACKEND_HOST;
  how.threads = o->threads;
  bisai_context *context = NULL;
  bisai_status status = bisai_context_create(&how, &context);
  if (status) {
    const char *why = bisai_backend_missing(how.backend, how.device);
    say("--backend %s: %s%s%s", bisai_backend_string(how.backend), bisai_status_string(status),
        why ? ": " : "", why ? why : "");
  }
  return context;
}

/* Returns the stream of the text. NULL: no text, because JSON takes its place. */
static FILE *text_of(const options *o) {
  if (standard_is(o->output.json)) return NULL;
  return standard_is(o->output.file) ? stderr : stdout;
}

/* Checks the outputs before the matrix is read, which may take long. */
static bool check_outputs(bisai_context *context, const options *o) {
  const target inputs[] = {{"the matrix", o->input.file},
                           {"--rhs", o->input.rhs},
                           {"the right-hand side beside the matrix", o->input.beside},
                           {"--project", o->input.project},
                           {"--nodes", numbering_file(o)}};
  const target outputs[] = {{"--output", standard_is(o->output.file) ? NULL : o->output.file},
                            {"--json", standard_is(o->output.json) ? NULL : o->output.json},
                            {"--write-null", o->output.write_null}};
  if ((standard_is(o->output.json) || standard_is(o->output.file)) && target_standard_is_closed()) {
    say("%s: standard output is closed", standard_is(o->output.json) ? "--json" : "--output");
    return false;
  }
  /* --write-null may write what METHOD reads */
  const bool ok =
      target_check(context, 3, outputs, 5, inputs) && files_check(context, o, 2, outputs);
  return ok && (!o->output.plots || plots_check(o->output.plots));
}

static int exit_of(const run_result *r) {
  if (r->converged) return EXIT_CONVERGED;
  if (r->bad_input) return EXIT_BAD_INPUT;
  bool short_of_it = strcmp(r->reason, "max_iterations") == 0 ||
                     strcmp(r->reason, "stagnated") == 0 || strcmp(r->reason, "stopped") == 0;
  return short_of_it ? EXIT_NOT_CONVERGED : EXIT_BROKE_DOWN;
}

/* Writes the solution or the best x. Writes nothing after a breakdown. */
static bool write_solution(bisai_context *context, const options *o, const problem *p,
                           const run_result *r, const double *x) {
  if (!o->output.file) return true;
  const char *name = standard_is(o->output.file) ? "standard output" : o->output.file;
  if (r->bad_input || exit_of(r) == EXIT_BROKE_DOWN) {
    say("--output: %s: not written, because there is no solution", name);
    return true;
  }
  standard output;
  const char *path = standard_open(&output, o->output.file);
  if (!path) return false;
  progress shown;
  progress_start(&shown, name, "writing");
  double *values = malloc((size_t)p->rows * sizeof *values);
  bisai_status status =
      values ? bisai_bcsr_from_blocks(p->matrix, 1, x, values)
             : bisai_context_fail(context, BISAI_OUT_OF_MEMORY, "no memory for the solution");
  if (!status) status = bisai_write_vector(context, path, p->rows, values);
  free(values);
  progress_end(&shown);
  if (status) say_failure(context, name, status);
  return standard_close(&output) && !status;
}

static bool draw(bisai_context *context, const options *o, const problem *p, int begun,
                 const run_result *results) {
  if (!o->output.plots) return true;
  if (signals_caught()) {
    say("--plots: %s: not drawn after %s", o->output.plots, signals_name(signals_caught()));
    return true;
  }
  progress shown;
  progress_start(&shown, o->output.plots, "drawing");
  bool ok = plots_draw(context, o->output.plots, p, begun, results);
  progress_end(&shown);
  return ok;
}

/* Runs the methods in order and prints each result. Returns the number of methods that were begun
 * before a signal. */
static int run_methods(command which, bisai_context *context, const options *o, const problem *p,
                       FILE *out, double *x, run_result *results) {
  int begun = 0, count = o->methods.count;
  const table_shape shape = table_shape_of(p, &o->methods);
  FILE *table = which == COMMAND_COMPARE ? out : NULL;
  const bool at_once = !progress_breaks(out);
  if (out) table_heading(out, context, p, o);
  if (table && at_once) table_columns(table, shape);
  do { /* a signal before the first method has a result ends the program */
    run_result *r = &results[begun];
    if (out) standard_flush(out);
    run_method(context, p, o, &o->methods.items[begun], x, r);
    begun++;
    if (table && at_once) table_row(table, shape, r);
    if (out && which == COMMAND_SOLVE) table_solve(out, p, r);
    if (strcmp(r->reason, "stopped") == 0) say("%s: %s", r->label, run_message(r));
  } while (begun < count && !signals_caught());
  if (table && !at_once) table_columns(table, shape);
  for (int i = 0; table && !at_once && i < begun; i++) table_row(table, shape, &results[i]);
  if (table) {
    const verdict v = verdict_of(p, begun, results);
    table_failures(table, p, begun, results);
    if (!signals_caught()) verdict_print(table, &v, begun);
  }
  if (begun < count) say("%d of %d methods not run", count - begun, count);
  return begun;
}

/* Runs all methods and writes all results, even if some fail. */
static bool run_all(command which, bisai_context *context, const options *o, problem *p,
                    run_result *results) {
  FILE *out = text_of(o);
  double *x = malloc((size_t)p->unknowns * sizeof *x);
  if (!x) {
    say("out of memory");
    return false;
  }
  bool ok = true;
  int begun = run_methods(which, context, o, p, out, x, results);
  if (out) standard_flush(out);
  if (o->input.file && !signals_caught()) hints_say(context, o, p, begun, results);
  if (which == COMMAND_SOLVE) {
    if (!out && !results[0].converged && !signals_caught())
      say("%s: %s", results[0].label, run_message(&results[0]));
    ok = write_solution(context, o, p, &results[0], x);
  }
  free(x);
  if (o->output.json &&
      !json_write(context, o->output.json, json_text(context, p, o, begun, results)))
    ok = false;
  return draw(context, o, p, begun, results) && ok;
}

/* Runs the methods of a system that is loaded. Returns the exit status. */
static int run_loaded(command which, bisai_context *context, options *o, problem *p) {
  const bool chosen = which != COMMAND_COMPARE || o->methods_given || o->solver_given ||
                      options_add_cg(o, problem_facts(context, p));
  const int count = o->methods.count;
  int code = EXIT_BAD_INPUT;
  run_result *results = chosen ? calloc((size_t)count, sizeof *results) : NULL;
  if (chosen && !results) say("out of memory");
  if (results && run_all(which, context, o, p, results)) {
    code = which == COMMAND_COMPARE ? EXIT_SUCCESS : exit_of(&results[0]);
    for (int i = 0; i < count; i++)
      if (results[i].bad_input) code = EXIT_BAD_INPUT;
  }
  for (int i = 0; results && i < count; i++) run_result_free(&results[i]);
  free(results);
  return code;
}

static int solve_or_compare(command which, bisai_context *context, options *o) {
  int code = EXIT_BAD_INPUT;
  problem p = {0};
  if (check_outputs(context, o) && problem_load(context, o, &p) && project_load(context, o, &p) &&
      null_space_write(context, o, &p) && files_read(context, &p, &o->methods))
    code = run_loaded(which, context, o, &p);
  problem_free(&p);
  return code;
}

static int run_command(command which, int argc, char **argv) {
  options o;
  if (!arguments_parse(which, argc, argv, &o)) return EXIT_BAD_INPUT;
  int code = EXIT_BAD_INPUT;
  if (which == COMMAND_INFO && target_standard_is_closed() &&
      (!o.output.json || standard_is(o.output.json))) {
    say("standard output is closed"); /* the command has no other result */
    options_free(&o);
    return code;
  }
  bisai_context *context = make_context(which, &o);
  signals_guard(context);
  if (context && which == COMMAND_INFO)
    code = info_run(context, &o);
  else if (context && which == COMMAND_CONVERT)
    code = convert_run(context, &o);
  else if (context)
    code = solve_or_compare(which, context, &o);
  petsc_end(context);
  signals_guard(NULL);
  bisai_context_destroy(&context);
  options_free(&o);
  if (!standard_check()) code = EXIT_BAD_INPUT;
  return signals_caught() ? 128 + signals_caught() : code;
}

static error_t parse_command(int key, char *text, struct argp_state *state) {
  if (key != ARGP_KEY_ARG) return ARGP_ERR_UNKNOWN;
  *(int *)state->input = state->next - 1; /* the other arguments belong to the subcommand */
  state->next = state->argc;
  (void)text;
  return 0;
}

enum { NO_COMMAND = -1 };

static const char *const names[] = {[COMMAND_SOLVE] = "solve",
                                    [COMMAND_COMPARE] = "compare",
                                    [COMMAND_INFO] = "info",
                                    [COMMAND_CONVERT] = "convert"};

/* Returns a command, or prints a message and returns NO_COMMAND. */
static int command_of(const char *text) {
  for (int i = 0; i <= COMMAND_CONVERT; i++)
    if (strcmp(text, names[i]) == 0) return i;
  say("'%s' is not a command (solve, compare, info, convert)", text);
  return NO_COMMAND;
}

/* Turns "help [COMMAND]" into "[COMMAND] --help". Prints a message and returns false if the
 * arguments are wrong. */
static bool turn_help_around(int argc, char **argv) {
  static char help[] = "--help";
  if (argc < 2 || strcmp(argv[1], "help") != 0) return true;
  if (argc > 3) {
    say("help: '%s': only one COMMAND is allowed", argv[3]);
    return false;
  }
  argv[1] = help;
  if (argc == 2 || strcmp(argv[2], help) == 0) return true;
  if (command_of(argv[2]) == NO_COMMAND) return false;
  argv[1] = argv[2];
  argv[2] = help;
  return true;
}

static void print_version(FILE *out, struct argp_state *state) {
  (void)state;
  fprintf(out, "bisai %s\n", bisai_version());
}

/* argp ends the program after --help, --usage and --version. */
static void check_help(void) {
  if (!standard_check()) _exit(EXIT_BAD_INPUT);
}

int main(int argc, char **argv) {
  target_open_standard();
  signals_install();
  atexit(check_help);
  static char titles[][16] = {"bisai solve", "bisai compare", "bisai info", "bisai convert"};
  static const struct argp parser = {
      .parser = parse_command,
      .args_doc = "COMMAND [OPTION...]",
      .doc =
          "Solve block-sparse linear systems by GMRES with block-ISAI and other preconditioners.\v"
          "COMMAND: solve    solve a system with one method\n"
          "         compare  solve a system with several methods and compare them\n"
          "         info     describe a matrix\n"
          "         convert  write a matrix in another format\n"
          "         help     describe a command: bisai help COMMAND\n\n"
          "bisai help COMMAND prints the same as bisai COMMAND --help."};
  argp_err_exit_status = EXIT_BAD_INPUT;
  argp_program_version_hook = print_version;
  static char name[] = "bisai";
  if (argc > 0) argv[0] = name; /* for argp's messages */
  int at = 0;
  if (!turn_help_around(argc, argv)) return EXIT_BAD_INPUT;
  if (argp_parse(&parser, argc, argv, ARGP_IN_ORDER, NULL, &at) != 0) return EXIT_BAD_INPUT;
  if (at == 0) {
    say("give a command: solve, compare, info or convert");
    return EXIT_BAD_INPUT;
  }
  int which = command_of(argv[at]);
  if (which == NO_COMMAND) return EXIT_BAD_INPUT;
  argv[at] = titles[which];
  return run_command((command)which, argc - at, argv + at);
}
