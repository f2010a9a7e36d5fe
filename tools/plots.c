/* SPDX-License-Identifier: BSD-3-Clause */
/* The program looks for gnuplot in PATH at run time. It starts gnuplot once, in the folder, with
 * the script that it has written there. */
#include "plots.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bisai/pattern.h>

#include "message.h"
#include "raster.h"
#include "target.h"

extern char **environ;

static const char script_name[] = "figures.gnuplot";

/* The target of the figures. */
typedef struct drawing {
  const char *folder;
  FILE *script;
  /* the name of the matrix, safe inside a script */
  char name[80];
  /* the window that every picture of a pattern shows beside the whole; size 0: none */
  window part;
} drawing;

/* Runs gnuplot with one argument and discards its standard output. Returns its exit status, or -1
 * if it cannot be started. */
static int run_gnuplot(const char *argument) {
  char *const arguments[] = {(char[]){"gnuplot"}, (char *)argument, NULL};
  posix_spawn_file_actions_t actions;
  if (posix_spawn_file_actions_init(&actions) != 0) return -1;
  pid_t child;
  int status = -1;
  if (posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0) == 0 &&
      posix_spawnp(&child, "gnuplot", &actions, NULL, arguments, environ) == 0) {
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    status = WIFEXITED(status) ? WEXITSTATUS(status) : 1;
  }
  posix_spawn_file_actions_destroy(&actions);
  return status;
}

bool plots_check(const char *folder) {
  if (!target_check_folder("--plots", folder)) return false;
  if (run_gnuplot("--version") == 0) return true;
  say("--plots: gnuplot, which draws the figures, was not found in PATH");
  return false;
}

static FILE *open_in(const char *folder, const char *name) {
  size_t length = strlen(folder) + strlen(name) + 2;
  char *path = malloc(length);
  if (!path) return NULL;
  snprintf(path, length, "%s/%s", folder, name);
  FILE *file = fopen(path, "w");
  if (!file) say("--plots: %s: %s", path, strerror(errno));
  free(path);
  return file;
}

static bool close_written(FILE *file) {
  bool ok = !ferror(file);
  return fclose(file) == 0 && ok;
}

static bool is_drawable(double residual) { return isfinite(residual) && residual >= 0; }

/* Returns the number of residuals of a run that can be drawn. */
static int points_of(const run_result *r) {
  int points = 0;
  for (int k = 0; r->history && k < r->solve.history_length; k++)
    points += is_drawable(r->history[k]);
  return points;
}

/* Writes one data set for each method, with two blank lines between them. gnuplot would not count
 * an empty set. */
static bool write_residuals(const char *folder, int count, const run_result *results) {
  FILE *out = open_in(folder, "residuals.dat");
  if (!out) return false;
  for (int i = 0; i < count; i++) {
    const run_result *r = &results[i];
    fprintf(out, "# %s\n", r->label);
    for (int k = 0; r->history && k < r->solve.history_length; k++)
      if (is_drawable(r->history[k])) fprintf(out, "%d %.17g\n", k, r->history[k]);
    if (points_of(r) == 0) fprintf(out, "NaN NaN\n");
    fprintf(out, "\n\n");
  }
  return close_written(out);
}

static bool write_setup(const char *folder, int count, const run_result *results) {
  FILE *out = open_in(folder, "setup.dat");
  if (!out) return false;
  fprintf(out, "# method factor_ms pattern_ms values_ms\n");
  for (int i = 0; i < count; i++) {
    const run_result *r = &results[i];
    fprintf(out, "\"%s%s\" %.6g %.6g %.6g\n", r->label, r->set_up ? "" : " (failed)",
            run_has_factor(r) ? 1e3 * r->setup.factor_seconds : 0,
            run_has_structure(r) ? 1e3 * r->setup.pattern_seconds : 0,
            run_has_values(r) ? 1e3 * r->setup.values_seconds : 0);
  }
  return close_written(out);
}

static bool write_totals(const char *folder, int count, const run_result *results) {
  FILE *out = open_in(folder, "totals.dat");
  if (!out) return false;
  fprintf(out, "# method set-up_ms solve_ms\n");
  for (int i = 0; i < count; i++) {
    const run_result *r = &results[i];
    fprintf(out, "\"%s%s\" %.6g %.6g\n", r->label, r->converged ? "" : " (failed)",
            r->set_up ? 1e3 * r->setup.setup_seconds : 0,
            r->solved ? 1e3 * r->solve.solve_seconds : 0);
  }
  return close_written(out);
}

/* Returns the number of iterations to show: a little more than those of the slowest method that
 * converged, or those of the longest run. */
static int shown_iterations(int count, const run_result *results) {
  int longest = 1, converged = 0;
  for (int i = 0; i < count; i++) {
    int iterations = results[i].solved ? results[i].solve.iterations : 0;
    if (iterations > longest) longest = iterations;
    if (results[i].converged && iterations > converged) converged = iterations;
  }
  int wanted = converged + converged / 8;
  return converged && wanted < longest ? wanted : longest;
}

static double largest_residual(int count, const run_result *results) {
  double largest = 1;
  for (int i = 0; i < count; i++) {
    for (int k = 0; results[i].history && k < results[i].solve.history_length; k++) {
      double value = results[i].history[k];
      if (isfinite(value) && value > largest) largest = value;
    }
  }
  return largest;
}

/* Some methods have the same curve. Each therefore has its own marker, and the markers of runs of
 * equal length alternate along the curve. */
static void script_markers(FILE *script, int shown, int count, const run_result *results, int i,
                           const char *style) {
  int points = points_of(&results[i]), rank = 0, alike = 0;
  if (points == 0) return;
  for (int k = 0; k < count; k++) {
    if (points_of(&results[k]) != points) continue;
    rank += k < i;
    alike++;
  }
  int visible = points < shown ? points : shown, step = visible / 5 > alike ? visible / 5 : alike;
  int first = (int)((2.0 * rank + 1) * step / (2.0 * alike));
  fprintf(script, ", \\\n  '' index %d every %d::%d using 1:(drawn($2)) with points %s notitle", i,
          step, first < points ? first : 0, style);
}

/* Sixteen styles: eight colours with a solid line and a filled marker, and the same colours with a
 * dashed line and an open marker. Runs that did not converge are dotted. */
static void script_curve(FILE *script, int shown, int count, const run_result *results, int i) {
  static const int markers[16] = {7, 5, 9, 11, 13, 15, 2, 1, 6, 4, 8, 10, 12, 14, 3, 7};
  const run_result *r = &results[i];
  char line[48], marker[48];
  snprintf(line, sizeof line, "lw 2 lc %d dt %s", i % 8 + 1,
           !r->converged ? "3"
           : i / 8 % 2   ? "(14,4)"
                         : "1");
  snprintf(marker, sizeof marker, "lc %d pt %d ps 1.3", i % 8 + 1, markers[i % 16]);
  fprintf(script, ", \\\n  'residuals.dat' index %d using 1:(drawn($2)) with lines %s notitle", i,
          line);
  script_markers(script, shown, count, results, i, marker);
  fprintf(script, ", \\\n  NaN with linespoints %s %s title \"%s: ", line,
          marker + strcspn(marker, "p"), r->label);
  if (r->converged)
    fprintf(script, "%d iteration%s\"", r->solve.iterations, plural(r->solve.iterations));
  else
    fprintf(script, "%s\"", r->reason);
}

/* Residuals far below the tolerance, also zero, are drawn at the lower edge. */
static void script_residuals(const drawing *d, double tolerance, int count,
                             const run_result *results) {
  int shown = shown_iterations(count, results);
  fprintf(
      d->script,
      "set output 'residuals.png'\nset title \"%s: residuals\" noenhanced\nset xlabel 'iteration'\n"
      "set ylabel 'relative residual (estimate)'\nset logscale y\nset format y '10^{%%L}'\nset "
      "xrange [0:%d]\n"
      "set yrange [%g:%g]\nset key outside right top Left reverse samplen 3 spacing 1.2\nset grid "
      "x y\n"
      "drawn(r) = r > %g ? r : %g\nplot %g with lines lc rgb '#888888' dt 2 title 'tolerance'",
      d->name, shown, tolerance / 5, 2 * largest_residual(count, results), tolerance / 5,
      tolerance / 5, tolerance);
  for (int i = 0; i < count; i++) script_curve(d->script, shown, count, results, i);
  fprintf(d->script, "\nunset logscale\nset format y\nunset xrange\nunset yrange\nset xrange "
                     "[*:*]\nset yrange [*:*]\n\n");
}

static size_t longest_label(int count, const run_result *results) {
  size_t longest = 0;
  for (int i = 0; i < count; i++) {
    size_t length = strlen(results[i].label);
    if (length > longest) longest = length;
  }
  return longest;
}

/* Stacks the times of each method in a bar. Labels are at 45 degrees, so that bars of 20 pixels
 * leave room for them. The margin below is as deep as the longest label. `plots` selects the
 * columns of the data. */
static void script_bars(const drawing *d, const char *name, const char *title, bool any, int count,
                        const run_result *results, const char *plots) {
  fprintf(d->script,
          "set output '%s.png'\nset title \"%s: %s\" noenhanced\nset xlabel ''\nset ylabel 'time "
          "(ms)'\n"
          "set style data histograms\nset style histogram rowstacked\nset style fill solid 1.0 "
          "noborder\n"
          "set boxwidth 0.6\nset yrange [0:%s]\nset bmargin %.1f\nset key outside right top Left "
          "reverse\n"
          "set xtics rotate by -45 nomirror noenhanced\nset grid noxtics y\nplot '%s.dat' %s\n"
          "set xtics norotate\nset yrange [*:*]\nset style data lines\nset bmargin\n\n",
          name, d->name, title, any ? "*" : "1",
          2.5 + 0.29 * (double)(longest_label(count, results) + strlen(" (failed)")), name, plots);
}

static void script_setup(const drawing *d, int count, const run_result *results) {
  bool any = false;
  for (int i = 0; i < count; i++) {
    any |= run_has_factor(&results[i]) || run_has_structure(&results[i]) ||
           run_has_values(&results[i]);
  }
  script_bars(d, "setup", "set-up", any, count, results,
              "using 2:xtic(1) lc rgb '#4477aa' title 'factor', '' using 3 lc rgb '#ddaa33' title "
              "'pattern', "
              "'' using 4 lc rgb '#bb5566' title 'values'");
}

static void script_totals(const drawing *d, int count, const run_result *results) {
  bool any = false;
  for (int i = 0; i < count; i++) any |= results[i].set_up;
  script_bars(
      d, "totals", "total time", any, count, results,
      "using 2:xtic(1) lc rgb '#ddaa33' title 'set-up', '' using 3 lc rgb '#4477aa' title 'solve'");
}

/* One picture of a pattern. It shows the whole, and also a window in the middle of A if the whole
 * is too coarse. */
typedef struct picture {
  /* pattern_<name>.png */
  const char *name;
  const char *title;
  int32_t rows, blocks;
  const int32_t *row_ptr, *col_idx;
} picture;

static bool write_window(const char *folder, const char *file, window w, const picture *q) {
  FILE *out = open_in(folder, file);
  if (!out) return false;
  bool ok = raster_write(out, w, q->row_ptr, q->col_idx);
  return close_written(out) && ok;
}

/* Every picture has the same logarithmic scale for the number of blocks in a cell, from one to all,
 * with ticks 1, 2, 5, 10, … */
static void script_counts(FILE *script, int32_t scale) {
  int64_t most = (int64_t)scale * scale;
  fprintf(script, "set logscale cb\nset cbrange [1:%" PRId64 "]\nset colorbox\nset cbtics (1",
          most);
  for (int64_t ten = 1; ten <= most; ten *= 10) {
    static const int factors[] = {2, 5, 10};
    for (int k = 0; k < 3; k++)
      if (ten * factors[k] <= most) fprintf(script, ", %" PRId64, ten * factors[k]);
  }
  fprintf(script, ")\nset cblabel 'blocks in each cell of %" PRId32 " x %" PRId32 "' offset 0.5\n",
          scale, scale);
}

static void script_window(FILE *script, const char *file, window w, const char *title) {
  int32_t scale = raster_scale(w), side = raster_side(w);
  double first = w.first - 0.5, last = first + (w.size < 2 ? 1 : (double)side * scale);
  fprintf(script, "set title \"%s\"\nset xrange [%.1f:%.1f]\nset yrange [%.1f:%.1f]\n", title,
          first, last, last, first);
  if (scale == 1)
    fprintf(script, "unset logscale cb\nset cbrange [0:1]\nunset colorbox\n");
  else
    script_counts(script, scale);
  fprintf(script,
          "plot '%s' matrix using (%d + ($1 + 0.5)*%d - 0.5):(%d + ($2 + 0.5)*%d - 0.5):($3 > 0 ? "
          "$3 : NaN) with image "
          "notitle\n",
          file, w.first, scale, w.first, scale);
}

/* The squares have 525 pixels and the same position in every picture, whatever room the labels
 * need. */
static void script_place(FILE *script, double left, double width) {
  fprintf(script, "set lmargin at screen %.4f\nset rmargin at screen %.4f\n", left / width,
          (left + 525) / width);
  fprintf(script, "set bmargin at screen 0.11\nset tmargin at screen 0.86\n");
}

static bool add_picture(const drawing *d, const picture *q) {
  char whole[48], middle[48], title[80];
  bool two = d->part.size > 0;
  int width = two ? 1660 : 820;
  window all = {0, q->rows};
  snprintf(whole, sizeof whole, "pattern_%s.dat", q->name);
  snprintf(middle, sizeof middle, "pattern_%s_middle.dat", q->name);
  fprintf(d->script,
          "set terminal pngcairo size %d,700 font 'sans,12'\nset output 'pattern_%s.png'\n"
          "set multiplot title \"%s: %s, %" PRId32 " block%s in %" PRId32
          " block row%s\" font ',14' noenhanced\n",
          width, q->name, d->name, q->title, q->blocks, plural(q->blocks), q->rows,
          plural(q->rows));
  if (!write_window(d->folder, whole, all, q)) return false;
  script_place(d->script, 130, width);
  script_window(d->script, whole, all, two ? "the whole" : "");
  if (two) {
    snprintf(title, sizeof title, "block rows %d to %d", (int)d->part.first,
             (int)(d->part.first + d->part.size - 1));
    if (!write_window(d->folder, middle, d->part, q)) return false;
    script_place(d->script, 960, width);
    script_window(d->script, middle, d->part, title);
  }
  fprintf(d->script, "unset multiplot\n\n");
  return true;
}

/* Returns the largest power of the ISAI runs, or 1 if there are none. */
static int largest_power(int count, const run_result *results) {
  int power = 1;
  for (int i = 0; i < count; i++) {
    if (run_has_pattern(&results[i]) && results[i].m.options.isai.power > power)
      power = results[i].m.options.isai.power;
  }
  return power;
}

static bool add_triangle(bisai_context *context, const drawing *d, const bisai_bcsr *matrix,
                         bisai_triangle triangle, int power, const char *name, const char *title) {
  bisai_pattern *pattern = NULL;
  if (bisai_pattern_power(context, matrix, triangle, power, &pattern)) {
    say("--plots: pattern_%s.png: %s", name, bisai_context_error(context));
    return false;
  }
  picture q = {.name = name,
               .title = title,
               .rows = bisai_pattern_block_rows(pattern),
               .blocks = bisai_pattern_blocks(pattern)};
  int32_t *row_ptr = malloc(((size_t)q.rows + 1) * sizeof *row_ptr);
  int32_t *col_idx = malloc(((size_t)q.blocks + 1) * sizeof *col_idx);
  q.row_ptr = row_ptr;
  q.col_idx = col_idx;
  bool ok = row_ptr && col_idx && !bisai_pattern_fetch(pattern, row_ptr, col_idx);
  if (!ok) say("--plots: pattern_%s.png: its pattern could not be fetched", name);
  ok = ok && add_picture(d, &q);
  free(row_ptr);
  free(col_idx);
  bisai_pattern_destroy(&pattern);
  return ok;
}

/* Draws the matrix. If it is too large for the pixels, every picture also shows its middle. */
static bool add_matrix(drawing *d, const picture *a) {
  window all = {0, a->rows}, part = raster_middle(a->rows, a->row_ptr, a->col_idx);
  if (raster_scale(all) > 1 && part.size <= a->rows / 2) d->part = part;
  return add_picture(d, a);
}

static bool add_patterns(bisai_context *context, drawing *d, const bisai_bcsr *matrix, int power) {
  fprintf(d->script,
          "set xlabel 'block column'\nset ylabel 'block row'\nset size ratio -1\nunset key\nunset "
          "grid\n"
          "set xtics nomirror out\nset ytics nomirror out\n"
          "set palette defined (0 '#c6dbef', 0.35 '#6baed6', 0.7 '#2171b5', 1 '#08306b')\n");
  picture a = {.name = "A",
               .title = "matrix A",
               .rows = bisai_bcsr_block_rows(matrix),
               .blocks = bisai_bcsr_blocks(matrix)};
  int32_t *row_ptr = malloc(((size_t)a.rows + 1) * sizeof *row_ptr);
  int32_t *col_idx = malloc(((size_t)a.blocks + 1) * sizeof *col_idx);
  a.row_ptr = row_ptr;
  a.col_idx = col_idx;
  bool ok = row_ptr && col_idx && !bisai_bcsr_fetch(matrix, row_ptr, col_idx, NULL);
  if (!ok) say("--plots: pattern_A.png: the matrix could not be fetched");
  ok = ok && add_matrix(d, &a);
  free(row_ptr);
  free(col_idx);
  char lower[40], upper[40];
  snprintf(lower, sizeof lower, "NL on S(|L|^%d)", power);
  snprintf(upper, sizeof upper, "NU on S(|U|^%d)", power);
  return ok && add_triangle(context, d, matrix, BISAI_LOWER, 1, "L", "factor L") &&
         add_triangle(context, d, matrix, BISAI_UPPER, 1, "U", "factor U") &&
         add_triangle(context, d, matrix, BISAI_LOWER, power, "NL", lower) &&
         add_triangle(context, d, matrix, BISAI_UPPER, power, "NU", upper);
}

/* The legend needs room beside the curves. */
static void script_beginning(FILE *script, int count, const run_result *results) {
  static const char *const colours[] = {"#4477aa", "#ee6677", "#228833", "#b8860b",
                                        "#33bbee", "#aa3377", "#666666", "#000000"};
  fprintf(script, "set terminal pngcairo size %d,%d font 'sans,12'\nset encoding utf8\n",
          840 + 8 * ((int)longest_label(count, results) + 18),
          count > 20 ? 620 + 25 * (count - 20) : 620);
  fprintf(script, "set key noenhanced\nset grid lt 1 lc rgb '#dddddd'\n");
  for (int i = 0; i < 8; i++) fprintf(script, "set linetype %d lc rgb '%s'\n", i + 1, colours[i]);
  fprintf(script, "set linetype cycle 8\n");
}

/* The script contains the file's name as text. No character of it may end a string or start a
 * command. */
static void copy_name(char *to, size_t size, const char *from) {
  size_t i = 0;
  for (; i + 1 < size && from[i]; i++) {
    to[i] = from[i];
    if ((unsigned char)from[i] < ' ' || strchr("'\"`\\", from[i])) to[i] = '_';
  }
  to[i] = '\0';
}

static bool write_all(bisai_context *context, const char *folder, const problem *p, int count,
                      const run_result *results) {
  drawing d = {.folder = folder, .script = open_in(folder, script_name)};
  if (!d.script) return false;
  copy_name(d.name, sizeof d.name, p->name);
  bool ok = write_residuals(folder, count, results) && write_setup(folder, count, results) &&
            write_totals(folder, count, results);
  if (ok) {
    script_beginning(d.script, count, results);
    script_residuals(&d, p->tolerance, count, results);
    script_setup(&d, count, results);
    script_totals(&d, count, results);
    ok = add_patterns(context, &d, p->matrix, largest_power(count, results));
  }
  return close_written(d.script) && ok;
}

bool plots_draw(bisai_context *context, const char *folder, const problem *p, int count,
                const run_result *results) {
  if (mkdir(folder, 0777) != 0 && errno != EEXIST) {
    say("--plots: %s: %s", folder, strerror(errno));
    return false;
  }
  if (!write_all(context, folder, p, count, results)) {
    say("--plots: the data of the figures could not be written completely");
    return false;
  }
  int here = open(".", O_RDONLY | O_DIRECTORY);
  bool ok = here >= 0 && chdir(folder) == 0;
  if (ok) {
    ok = run_gnuplot(script_name) == 0;
    ok = fchdir(here) == 0 && ok;
  }
  if (here >= 0) close(here);
  if (!ok) say("--plots: gnuplot could not draw %s/%s", folder, script_name);
  return ok;
}
