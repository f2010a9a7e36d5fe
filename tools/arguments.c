/* SPDX-License-Identifier: BSD-3-Clause */
#include "arguments.h"

#include <argp.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bisai/bcsr.h>
#include <bisai/precond.h>

#include "beside.h"
#include "conflicts.h"
#include "grammar.h"
#include "label.h"
#include "message.h"
#include "numbering.h"
#include "parse.h"
#include "solver_option.h"
#include "standard.h"
#include "words.h"

enum key {
  KEY_CASE = 256,
  KEY_SIZE,
  KEY_BLOCK_SIZE,
  KEY_FIELDS,
  KEY_INTERLEAVE,
  KEY_NODES,
  KEY_RHS,
  KEY_PROJECT,
  KEY_TOLERANCE,
  KEY_SOLVER,
  KEY_RESTART,
  KEY_MAX_ITERATIONS,
  KEY_ORDERING,
  KEY_MATCHING,
  KEY_EQUILIBRATE,
  KEY_BACKEND,
  KEY_THREADS,
  KEY_METHODS,
  KEY_REPEAT,
  KEY_PRECONDITIONER,
  KEY_JSON,
  KEY_PLOTS,
  KEY_WRITE_NULL,
  KEY_OUTPUT,
  KEY_FORMAT,
  KEY_FORCE,
  KEY_MEMORY,
  KEY_CONVERT_RHS
};

/* stands in the help of an option for the words of the library */
#define WORDS "<words>"

static const struct argp_option system_options[] = {
    {"case", KEY_CASE, "NAME", 0, MADE_HELP, 0},
    {"size", KEY_SIZE, "N[,N,N]", 0,
     "Size of the case: N nodes or cells in each direction, or points, nodes or cells in x, y, z "
     "(atmosphere, convdiff, elasticity, reservoir)",
     0},
    {"block-size", KEY_BLOCK_SIZE, "B", 0,
     "1 to 32, or auto: the block size of the case, or for a FILE the size that its pattern shows "
     "(default: auto; for the paper's matrices the size of the paper)",
     0},
    {"fields", KEY_FIELDS, "N", 0,
     "FILE stores the N unknowns of a node field by field, as all u, then all v: 2 to 32, or auto",
     0},
    {"nodes", KEY_NODES, "FILE", 0,
     "Nodes of different sizes, or in any order: auto finds them; a file has the node of each row, "
     "from 1, and may have its component in a second column",
     0},
    {0}};
static const struct argp_option solver_options[] = {
    {"rhs", KEY_RHS, "FILE", 0,
     "Right-hand side: a file, -, or ones (default: the one in the archive or PETSc file of the "
     "matrix, or NAME_b.mtx beside NAME.mtx; otherwise A x with x_i = 1, or with x_i = (i/n)^2 if "
     "A or its transpose maps a constant to zero)",
     0},
    {"project", KEY_PROJECT, "FILE", 0,
     "Take the null space of A out of x, and that of its transpose out of b: constants, or the "
     "vectors of a file",
     0},
    {"tolerance", KEY_TOLERANCE, "T", 0,
     "Tolerance of the relative residual (default 1e-8, cavity 1e-5)", 0},
    {"solver", KEY_SOLVER, "NAME", 0, WORDS, 0},
    {"restart", KEY_RESTART, "M", 0, "m of GMRES(m) (default 30)", 0},
    {"max-iterations", KEY_MAX_ITERATIONS, "N", 0,
     "Largest number of inner iterations; those of bicgstab have two products each "
     "(default 10000)",
     0},
    {"ordering", KEY_ORDERING, "NAME", 0,
     "Order of the block rows inside ilu, isai and sweeps: " WORDS, 0},
    {"matching", KEY_MATCHING, "NAME", 0,
     "Permute the rows inside ilu, isai and sweeps to the diagonal of the largest product, and "
     "scale: " WORDS,
     0},
    {"equilibrate", KEY_EQUILIBRATE, NULL, 0,
     "Scale rows and columns by powers of two inside ilu, isai and sweeps, so that narrow storage "
     "fits more matrices",
     0},
    {0}};
static const struct argp_option machine_options[] = {
    {"backend", KEY_BACKEND, "NAME", 0, WORDS, 0},
    {"threads", KEY_THREADS, "N", 0, "Number of host threads (default: all)", 0},
    {0}};
static const struct argp_option result_options[] = {
    {"json", KEY_JSON, "FILE", 0,
     "Write the results as JSON; -: to standard output, and print no text", 0},
    {"plots", KEY_PLOTS, "DIR", 0,
     "Draw residuals, total times, set-up and patterns as PNG into DIR (needs gnuplot)", 0},
    {"write-null", KEY_WRITE_NULL, "FILE", 0,
     "Write the near-null-space vectors of the case as a Matrix Market array (elasticity, shell)",
     0},
    {0}};
static const struct argp_option compare_options[] = {
    {"methods", KEY_METHODS, "LIST", 0,
     "Methods separated by commas (default none,bjacobi,ilu,isai:k=1,isai:k=2,isai:k=3,mg,auto, "
     "and cpr for reservoir; for --solver cg with isai:symmetric; without --solver, a symmetric "
     "matrix that may be definite also gets bjacobi, ilu and mg by cg)",
     0},
    {"repeat", KEY_REPEAT, "N", 0,
     "Run each method N times after a warm-up; the times are those of the run with the median "
     "total "
     "(default 1)",
     0},
    {0}};
static const struct argp_option solve_options[] = {
    {"preconditioner", KEY_PRECONDITIONER, "METHOD", 0,
     "The method (default auto: the library chooses by the matrix and by trials)", 0},
    {"output", KEY_OUTPUT, "FILE", 0,
     "Write the solution as Matrix Market, in PETSc's format to .petsc or .bin, or in NumPy's to "
     ".npy; -: to standard output, and print the text to standard error",
     0},
    {0}};
static const struct argp_option info_options[] = {
    {"memory", KEY_MEMORY, NULL, 0, "Add the memory of the levels of mg, array by array", 0},
    {"json", KEY_JSON, "FILE", 0,
     "Write the same as JSON; -: to standard output, and print no text", 0},
    {0}};
static const struct argp_option convert_options[] = {
    {"rhs", KEY_CONVERT_RHS, "FILE", 0,
     "Right-hand side to write: a file, -, ones, or none (default: the one of the case, or the one "
     "that belongs to the matrix)",
     0},
    {"format", KEY_FORMAT, "NAME", 0,
     WORDS " (default: by the ending of OUTPUT: .mtx, .petsc or .bin, .tar, .npz; for -: market)",
     0},
    {"interleave", KEY_INTERLEAVE, "N", 0, "Another name of --fields", 0},
    {"force", KEY_FORCE, NULL, 0, "Overwrite existing files beside OUTPUT: NAME_b.mtx, OUTPUT.info",
     0},
    {"write-null", KEY_WRITE_NULL, "FILE", 0,
     "Write the near-null-space vectors of the case as a Matrix Market array (elasticity, shell)",
     0},
    {0}};

static bool set_integer(const char *flag, const char *text, int minimum, int maximum, int *value) {
  if (parse_integer(text, minimum, maximum, value)) return true;
  say("%s: '%s' is not an integer from %d to %d", flag, text, minimum, maximum);
  return false;
}

static bool set_backend(options *o, const char *text) {
  if (bisai_backend_parse(text, &o->backend)) return true;
  words_say(WORDS_BACKEND, text);
  return false;
}

static bool set_ordering(options *o, const char *text) {
  const char *word = strcmp(text, "color") == 0 ? "colour" : text;
  if (bisai_ordering_parse(word, &o->ordering) && o->ordering != BISAI_ORDERING_GIVEN) return true;
  words_say(WORDS_ORDERING, text);
  return false;
}

static bool set_matching(options *o, const char *text) {
  if (bisai_matching_parse(text, &o->matching)) return true;
  words_say(WORDS_MATCHING, text);
  return false;
}

static bool set_block_size(options *o, const char *text) {
  o->input.block_size = BLOCK_SIZE_AUTO;
  if (strcmp(text, "auto") == 0) return true;
  if (parse_integer(text, 1, BISAI_MAX_BLOCK_SIZE, &o->input.block_size)) return true;
  say("--block-size: '%s' is neither auto nor an integer from 1 to %d", text, BISAI_MAX_BLOCK_SIZE);
  return false;
}

static bool set_tolerance(options *o, const char *text) {
  if (parse_number(text, &o->tolerance) && o->tolerance > 0 && o->tolerance < 1) return true;
  say("--tolerance: '%s' is not a number greater than 0 and less than 1", text);
  return false;
}

static bool set_path(const char *flag, const char *text, const char **path) {
  *path = text;
  if (*text) return true;
  say("%s: the name is empty", flag);
  return false;
}

static bool set_rhs(options *o, const char *text) {
  o->input.rhs_ones = strcmp(text, "ones") == 0;
  o->input.rhs = NULL;
  return o->input.rhs_ones || set_path("--rhs", text, &o->input.rhs);
}

static bool set_convert_rhs(options *o, const char *text) {
  o->input.rhs_none = strcmp(text, "none") == 0;
  if (!o->input.rhs_none) return set_rhs(o, text);
  o->input.rhs_ones = false;
  o->input.rhs = NULL;
  return true;
}

static bool set_format(options *o, const char *text) {
  if (bisai_format_parse(text, &o->output.format) && o->output.format != BISAI_FORMAT_BY_NAME)
    return true;
  words_say(WORDS_FORMAT, text);
  return false;
}

static bool set_preconditioner(options *o, const char *text) {
  method m;
  if (!method_parse("--preconditioner", text, &m)) return false;
  o->methods.items[0] = m;
  o->methods_given = true;
  return true;
}

static bool set_file(options *o, const char *text) {
  if (!o->input.file) return set_path("FILE", text, &o->input.file);
  say("'%s': only one FILE is allowed, and '%s' is given already", text, o->input.file);
  return false;
}

static error_t parse_one(int key, char *text, struct argp_state *state) {
  options *o = state->input;
  bool ok = true;
  switch (key) {
  case KEY_CASE: ok = made_parse(text, &o->input.made); break;
  case KEY_SIZE: ok = made_parse_size(text, &o->input.made); break;
  case KEY_BLOCK_SIZE: ok = set_block_size(o, text); break;
  case KEY_FIELDS: ok = numbering_parse_fields("--fields", text, &o->input); break;
  case KEY_INTERLEAVE: ok = numbering_parse_fields("--interleave", text, &o->input); break;
  case KEY_NODES: ok = numbering_parse_nodes(text, &o->input); break;
  case KEY_RHS: ok = set_rhs(o, text); break;
  case KEY_PROJECT: ok = set_path("--project", text, &o->input.project); break;
  case KEY_TOLERANCE: ok = set_tolerance(o, text); break;
  case KEY_SOLVER:
    o->solver_given = strcmp(text, "auto") != 0;
    ok = solver_parse("--solver", o->solver_given ? text : "gmres", &o->solver);
    break;
  case KEY_RESTART: ok = set_integer("--restart", text, 1, INT_MAX, &o->restart); break;
  case KEY_MAX_ITERATIONS:
    ok = set_integer("--max-iterations", text, 1, INT_MAX, &o->solver.max_iterations);
    break;
  case KEY_ORDERING: ok = set_ordering(o, text); break;
  case KEY_MATCHING: ok = set_matching(o, text); break;
  case KEY_EQUILIBRATE: o->equilibrate = true; break;
  case KEY_BACKEND: ok = set_backend(o, text); break;
  case KEY_THREADS: ok = set_integer("--threads", text, 1, 4096, &o->threads); break;
  case KEY_METHODS:
    ok = method_list_parse("--methods", text, &o->methods);
    o->methods_given = true;
    break;
  case KEY_REPEAT: ok = set_integer("--repeat", text, 1, 1000, &o->repeat); break;
  case KEY_PRECONDITIONER: ok = set_preconditioner(o, text); break;
  case KEY_JSON: ok = set_path("--json", text, &o->output.json); break;
  case KEY_PLOTS: ok = set_path("--plots", text, &o->output.plots); break;
  case KEY_WRITE_NULL: ok = set_path("--write-null", text, &o->output.write_null); break;
  case KEY_OUTPUT: ok = set_path("--output", text, &o->output.file); break;
  case KEY_FORMAT: ok = set_format(o, text); break;
  case KEY_FORCE: o->output.force = true; break;
  case KEY_MEMORY: o->output.memory = true; break;
  case KEY_CONVERT_RHS: ok = set_convert_rhs(o, text); break;
  case ARGP_KEY_ARG: ok = set_file(o, text); break;
  default: return ARGP_ERR_UNKNOWN;
  }
  return ok ? 0 : EINVAL;
}

#define SOURCES "--case NAME --size N[,N,N]\nFILE|-"
#define GRAMMAR "<methods>"
#define MG_KEYS "<keys of mg>"
#define METHOD_HELP                                                                                \
  "\vMETHOD: " GRAMMAR "\n"                                                                        \
  "bjacobi inverts the diagonal blocks of the matrix. With max=N, 1 to 32, it finds blocks of at " \
  "most N rows. storage=adaptive keeps D digits (1 to 15, default 2) of each block. relax=R "      \
  "makes "                                                                                         \
  "R sweeps on the matrix, damped by W (above 0, below 2, default 1). "                            \
  "K is 1 or more. R, and N of sweeps, are 0 to 100000. "                                          \
  "ilu, isai and sweeps take level=L, the level of fill of ILU(L). They, bjacobi and mg take "     \
  "shift=S, which repairs singular diagonal blocks: 0.01 is a good S. "                            \
  "pivots=T of ilu, isai and sweeps enlarges pivots below the share T of their row: 1e-4 is a "    \
  "good T. updates=R of these has updates take R sweeps from the factors that are there. "         \
  "ilu, isai, sweeps and lu take ordering=NAME, matching=NAME and equilibrate, which replace the " \
  "options. "                                                                                      \
  "lu makes complete factors, whose memory is F times that of the matrix or G gigabytes at most. " \
  "cpr is for the coupled flow of several phases: mg corrects the pressure, which is unknown I "   \
  "of a "                                                                                          \
  "block, and a second method corrects all unknowns. KEY are keys of mg after first=mg, and of "   \
  "the "                                                                                           \
  "second method after second=. "                                                                  \
  "schur is for saddle points. Its pressures are the rows with a zero on the diagonal, unless "    \
  "component=, from= and to= name them. KEY are keys of the method for the velocities after "      \
  "first=, and of that for the Schur complement after second=. "                                   \
  "petsc is PETSc's own solver with its block ILU, and petsc-ilu is its block ILU in the solver "  \
  "of bisai. Both take level=L. ilu, isai and sweeps take factors=petsc. "                         \
  "On a GPU, cusparse-ilu is cuSPARSE's block ILU(0) with its triangular solves. "                 \
  "factors=cusparse, pattern=cusparse of isai and apply=cusparse (the products) take parts of "    \
  "it.\n\n"                                                                                        \
  "Keys of mg:\n" MG_KEYS "\n\n"                                                                   \
  "Exit status: "

/* Puts the methods and their keys into the help. */
static char *fill_help(int key, const char *text, void *input) {
  (void)input;
  const char *place = key == ARGP_KEY_HELP_POST_DOC && text ? strstr(text, GRAMMAR) : NULL;
  const char *keys = place ? strstr(place, MG_KEYS) : NULL;
  char grammar[METHOD_GRAMMAR], help[METHOD_GRAMMAR];
  if (!keys) return (char *)text;
  method_grammar(grammar);
  method_key_help(BISAI_PRECOND_MULTIGRID, help);
  const size_t size = strlen(text) + strlen(grammar) + strlen(help) + 1;
  char *filled = malloc(size);
  if (!filled) return (char *)text;
  const char *between = place + strlen(GRAMMAR);
  snprintf(filled, size, "%.*s%s%.*s%s%s", (int)(place - text), text, grammar,
           (int)(keys - between), between, help, keys + strlen(MG_KEYS));
  return filled;
}

/* Puts the words of the library into the help of an option. */
static char *fill_words(int key, const char *text, void *input) {
  (void)input;
  const char *place = text ? strstr(text, WORDS) : NULL;
  char words[SOLVER_HELP];
  if (!place) return (char *)text;
  switch (key) {
  case KEY_SOLVER: solver_help(words); break;
  case KEY_BACKEND: words_help(WORDS_BACKEND, words); break;
  case KEY_ORDERING: words_help(WORDS_ORDERING, words); break;
  case KEY_MATCHING: words_help(WORDS_MATCHING, words); break;
  case KEY_FORMAT: words_help(WORDS_FORMAT, words); break;
  default: return (char *)text;
  }
  const size_t size = strlen(text) + strlen(words) + 1;
  char *filled = malloc(size);
  if (!filled) return (char *)text;
  snprintf(filled, size, "%.*s%s%s", (int)(place - text), text, words, place + strlen(WORDS));
  return filled;
}

static const struct argp system_parser = {.options = system_options, .parser = parse_one};
static const struct argp solver_parser = {
    .options = solver_options, .parser = parse_one, .help_filter = fill_words};
static const struct argp machine_parser = {
    .options = machine_options, .parser = parse_one, .help_filter = fill_words};
static const struct argp result_parser = {.options = result_options, .parser = parse_one};

enum { SOLVING = 4, LOOKING = 2, CONVERTING = 1 };

static const struct argp_child solving[SOLVING + 1] = {{&system_parser, 0, "The system:", 1},
                                                       {&solver_parser, 0, "The solver:", 2},
                                                       {&machine_parser, 0, "The machine:", 3},
                                                       {&result_parser, 0, "Results:", 4}};
static const struct argp_child looking[LOOKING + 1] = {{&system_parser, 0, "The system:", 1},
                                                       {&machine_parser, 0, "The machine:", 3}};
static const struct argp_child converting[CONVERTING + 1] = {{&system_parser, 0, "The system:", 1}};

/* The children of a parser write into the same options. */
static error_t parse_parent(int key, char *text, struct argp_state *state, int children) {
  if (key != ARGP_KEY_INIT) return parse_one(key, text, state);
  for (int i = 0; i < children; i++) state->child_inputs[i] = state->input;
  return 0;
}

static error_t parse_solving(int key, char *text, struct argp_state *state) {
  return parse_parent(key, text, state, SOLVING);
}

static error_t parse_looking(int key, char *text, struct argp_state *state) {
  return parse_parent(key, text, state, LOOKING);
}

/* The arguments are INPUT, unless there is a case, and OUTPUT. */
static error_t parse_converting(int key, char *text, struct argp_state *state) {
  options *o = state->input;
  if (key != ARGP_KEY_ARG) return parse_parent(key, text, state, CONVERTING);
  if (!o->input.file) return set_path("INPUT", text, &o->input.file) ? 0 : EINVAL;
  if (!o->output.file) return set_path("OUTPUT", text, &o->output.file) ? 0 : EINVAL;
  say("'%s': only one INPUT and one OUTPUT are allowed", text);
  return EINVAL;
}

static const struct argp parsers[] = {
    [COMMAND_SOLVE] =
        {.options = solve_options,
         .parser = parse_solving,
         .children = solving,
         .help_filter = fill_help,
         .args_doc = SOURCES,
         .doc =
             "Solve one system with one preconditioner, by GMRES or another --solver." METHOD_HELP
             "0 converged, 1 not converged, 2 bad input, 3 breakdown or failed set-up, 128 + n "
             "stopped "
             "by signal n (Ctrl-C 130, SIGTERM 143). A signal stops the solver, which writes the "
             "best x "
             "so far; a second signal ends the program at once."},
    [COMMAND_COMPARE] =
        {.options = compare_options,
         .parser = parse_solving,
         .children = solving,
         .help_filter = fill_help,
         .args_doc = SOURCES,
         .doc = "Solve one system with each of several preconditioners, by GMRES or another "
                "--solver, and compare them." METHOD_HELP
                "0 compared, whether or not every method converged, 2 bad input, 128 + n stopped "
                "by signal n (Ctrl-C 130, SIGTERM 143), with the results so far."},
    [COMMAND_INFO] =
        {.options = info_options,
         .parser = parse_looking,
         .children = looking,
         .args_doc = SOURCES,
         .doc =
             "Describe a matrix: blocks for every block size, dependency levels, patterns of the "
             "approximate inverses, and the least number of bytes that an iteration moves."},
    [COMMAND_CONVERT] = {
        .options = convert_options,
        .parser = parse_converting,
        .children = converting,
        .help_filter = fill_words,
        .args_doc = "INPUT OUTPUT\n--case NAME --size N[,N,N] OUTPUT",
        .doc = "Write a matrix and its right-hand side in another format: Matrix "
               "Market (.mtx; the right-hand side goes to _b.mtx beside it), PETSc's "
               "format (.petsc, .bin; the block size goes to .info), a SuiteSparse "
               "archive (.tar), each also .gz, .xz, .bz2 or .zst, or SciPy's format (.npz). If "
               "INPUT is -, it is "
               "standard input. If OUTPUT is -, it is standard output, and the text goes "
               "to standard error."}};

/* The only argument beside --case is the OUTPUT. */
static bool sort_paths(options *o) {
  if (o->input.made.name != CASE_NONE && o->input.file && !o->output.file) {
    o->output.file = o->input.file;
    o->input.file = NULL;
  }
  if (standard_is(o->output.file) && o->output.format == BISAI_FORMAT_BY_NAME)
    o->output.format = BISAI_FORMAT_MATRIX_MARKET;
  if (o->output.file || (!o->input.file && o->input.made.name == CASE_NONE)) return true;
  say("give an OUTPUT");
  return false;
}

/* "-" as a file to read is standard input. */
static void name_standard_input(options *o) {
  static const char input[] = "/dev/stdin";
  if (standard_is(o->input.file)) o->input.file = input;
  if (standard_is(o->input.rhs)) o->input.rhs = input;
}

/* Finds the right-hand side beside the matrix, if the options name no other one. */
static bool find_beside(command which, options *o) {
  if (which == COMMAND_INFO || !o->input.file || o->input.rhs || o->input.rhs_ones ||
      o->input.rhs_none)
    return true;
  return beside_find(o->input.file, &o->input.beside);
}

/* --restart stands for restart= of --solver, wherever the two are. */
static bool take_restart(options *o) {
  const int initial = bisai_solver_options_default().gmres.restart;
  if (o->restart == 0 || o->solver.method != BISAI_GMRES) return true;
  if (o->solver.gmres.restart != initial) {
    say("--restart and restart= of --solver: give only one of them");
    return false;
  }
  o->solver.gmres.restart = o->restart;
  return true;
}

bool arguments_parse(command which, int argc, char **argv, options *o) {
  *o = (options){.solver = bisai_solver_options_default(),
                 .backend = BISAI_BACKEND_AUTO,
                 .give_up = which == COMMAND_COMPARE,
                 .repeat = which == COMMAND_COMPARE};
  /* --preconditioner replaces the only method of this list */
  bool ok = method_list_parse("--preconditioner", "none", &o->methods) &&
            argp_parse(&parsers[which], argc, argv, 0, NULL, o) == 0 && take_restart(o) &&
            options_choose_methods(which, o) && (which != COMMAND_CONVERT || sort_paths(o)) &&
            conflicts_check(which, o) && find_beside(which, o);
  name_standard_input(o);
  if (!ok) options_free(o);
  return ok;
}
