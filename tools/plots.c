/* gnuplot is found at run time through PATH and started once, in the folder, on the script that is written there. */
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

/* Where figures are written. */
typedef struct drawing {
  const char *folder;
  FILE *script;
  char name[80]; /* of the matrix, safe inside a script */
} drawing;

/* Runs gnuplot with one argument and its standard output thrown away; its exit status, or -1 where it cannot be started. */
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

/* One data set a method, two blank lines between them; a set that is empty would not count for gnuplot. */
static bool write_residuals(const char *folder, int count, const run_result *results) {
  FILE *out = open_in(folder, "residuals.dat");
  if (!out) return false;
  for (int i = 0; i < count; ++i) {
    const run_result *r = &results[i];
    fprintf(out, "# %s\n", r->label);
    int last = r->history ? r->solve.history_length - 1 : -1;
    for (int k = 0; k <= last; ++k) {
      if (isfinite(r->history[k]) && r->history[k] > 0) fprintf(out, "%d %.6e\n", k, r->history[k]);
    }
    if (last < 0) fprintf(out, "NaN NaN\n");
    fprintf(out, "\n\n");
  }
  return close_written(out);
}

static bool write_setup(const char *folder, int count, const run_result *results) {
  FILE *out = open_in(folder, "setup.dat");
  if (!out) return false;
  fprintf(out, "# method factor_ms pattern_ms values_ms\n");
  for (int i = 0; i < count; ++i) {
    const run_result *r = &results[i];
    fprintf(out, "\"%s%s\" %.6g %.6g %.6g\n", r->label, r->set_up ? "" : "\\n(failed)",
            run_has_factor(r) ? 1e3 * r->setup.factor_seconds : 0,
            run_has_pattern(r) ? 1e3 * r->setup.pattern_seconds : 0,
            run_has_values(r) ? 1e3 * r->setup.values_seconds : 0);
  }
  return close_written(out);
}

/* Iterations to show: those of the slowest method that converged and a little more, or of the longest run. */
static int shown_iterations(int count, const run_result *results) {
  int longest = 1, converged = 0;
  for (int i = 0; i < count; ++i) {
    int iterations = results[i].solved ? results[i].solve.iterations : 0;
    if (iterations > longest) longest = iterations;
    if (results[i].converged && iterations > converged) converged = iterations;
  }
  int wanted = converged + converged / 8;
  return converged && wanted < longest ? wanted : longest;
}

static void script_residuals(const drawing *d, double tolerance, int count, const run_result *results) {
  fprintf(d->script,
          "set output 'residuals.png'\nset title \"%s: GMRES residuals\" noenhanced\nset xlabel 'iteration'\n"
          "set ylabel 'relative residual (estimate)'\nset logscale y\nset format y '10^{%%L}'\nset xrange [0:%d]\n"
          "set yrange [%g:*]\nset key outside right top Left reverse samplen 2 spacing 1.2\nset grid x y\n"
          "plot %g with lines lc rgb '#888888' dt 2 title 'tolerance'",
          d->name, shown_iterations(count, results), tolerance / 5, tolerance);
  for (int i = 0; i < count; ++i) {
    const run_result *r = &results[i];
    fprintf(d->script, ", \\\n  'residuals.dat' index %d with lines lw 2 lc %d%s title \"%s: ", i, i + 1,
            r->converged ? "" : " dt 3", r->label);
    if (r->converged) {
      fprintf(d->script, "%d iterations\"", r->solve.iterations);
    } else {
      fprintf(d->script, "%s\"", r->reason);
    }
  }
  fprintf(d->script,
          "\nunset logscale\nset format y\nunset xrange\nunset yrange\nset xrange [*:*]\nset yrange [*:*]\n\n");
}

static void script_setup(const drawing *d, int count, const run_result *results) {
  bool any = false;
  for (int i = 0; i < count; ++i) {
    any |= run_has_factor(&results[i]) || run_has_values(&results[i]);
  }
  fprintf(
      d->script,
      "set output 'setup.png'\nset title \"%s: set-up\" noenhanced\nset xlabel ''\nset ylabel 'time (ms)'\nset style "
      "data histograms\n"
      "set style histogram rowstacked\nset style fill solid 1.0 noborder\nset boxwidth 0.6\nset yrange [0:%s]\n"
      "set key outside right top Left reverse\nset xtics rotate by -30 nomirror noenhanced\nset grid noxtics y\n"
      "plot 'setup.dat' using 2:xtic(1) lc rgb '#4477aa' title 'factor', '' using 3 lc rgb '#ddaa33' title 'pattern', "
      "'' using 4 lc rgb '#bb5566' title 'values'\n"
      "set xtics norotate\nset yrange [*:*]\nset style data lines\n\n",
      d->name, any ? "*" : "1");
}

/* One picture of a pattern: the whole, and where that blurs, a window in the middle too. */
typedef struct picture {
  const char *name; /* pattern_<name>.png */
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

static void script_window(FILE *script, const char *file, window w, const char *title) {
  int32_t scale = raster_scale(w), side = raster_side(w);
  double first = w.first - 0.5, last = first + (w.size < 2 ? 1 : (double)side * scale);
  fprintf(script, "set title \"%s\"\nset xrange [%.1f:%.1f]\nset yrange [%.1f:%.1f]\n", title, first, last, last,
          first);
  if (scale == 1) {
    fprintf(script, "unset logscale cb\nset cbrange [0:1]\nunset colorbox\n");
  } else {
    fprintf(
        script,
        "set logscale cb\nset cbrange [0.5:*]\nset colorbox\nset cblabel 'blocks in each %d x %d cell' offset 1.5\n",
        scale, scale);
  }
  fprintf(script,
          "plot '%s' matrix using (%d + ($1 + 0.5)*%d - 0.5):(%d + ($2 + 0.5)*%d - 0.5):($3 > 0 ? $3 : NaN) with image "
          "notitle\n",
          file, w.first, scale, w.first, scale);
}

static bool add_picture(const drawing *d, const picture *q) {
  char whole[48], middle[48], title[160];
  snprintf(whole, sizeof whole, "pattern_%s.dat", q->name);
  snprintf(middle, sizeof middle, "pattern_%s_middle.dat", q->name);
  window all = {0, q->rows}, part = raster_middle(q->rows, q->row_ptr, q->col_idx);
  bool two = raster_scale(all) > 1 && part.size <= q->rows / 2;
  fprintf(d->script, "set terminal pngcairo size %d,720 font 'sans,12'\nset output 'pattern_%s.png'\n",
          two ? 1500 : 820, q->name);
  fprintf(d->script,
          "set multiplot layout 1,%d title \"%s: %s: %" PRId32 " blocks in %" PRId32
          " block rows\" font ',14' noenhanced\n",
          two ? 2 : 1, d->name, q->title, q->blocks, q->rows);
  snprintf(title, sizeof title, "%s", two ? "the whole" : "");
  if (!write_window(d->folder, whole, all, q)) return false;
  script_window(d->script, whole, all, title);
  if (two) {
    snprintf(title, sizeof title, "block rows %d to %d", (int)part.first, (int)(part.first + part.size - 1));
    if (!write_window(d->folder, middle, part, q)) return false;
    script_window(d->script, middle, part, title);
  }
  fprintf(d->script, "unset multiplot\n\n");
  return true;
}

/* The largest power of the ISAI runs, 1 without any. */
static int largest_power(int count, const run_result *results) {
  int power = 1;
  for (int i = 0; i < count; ++i) {
    if (run_has_pattern(&results[i]) && results[i].m.power > power) power = results[i].m.power;
  }
  return power;
}

static bool add_triangle(bisai_context *context, const drawing *d, const bisai_bcsr *matrix, bisai_triangle triangle,
                         int power, const char *name, const char *title) {
  bisai_pattern *pattern = NULL;
  if (bisai_pattern_power(context, matrix, triangle, power, &pattern) != BISAI_OK) {
    say("--plots: pattern_%s.png: %s", name, bisai_context_error(context));
    return false;
  }
  picture q = {
      .name = name, .title = title, .rows = bisai_pattern_block_rows(pattern), .blocks = bisai_pattern_blocks(pattern)};
  bisai_pattern_arrays(pattern, &q.row_ptr, &q.col_idx);
  bool ok = add_picture(d, &q);
  bisai_pattern_destroy(&pattern);
  return ok;
}

static bool add_patterns(bisai_context *context, const drawing *d, const bisai_bcsr *matrix, int power) {
  fprintf(d->script, "set xlabel 'block column'\nset ylabel 'block row'\nset size ratio -1\nunset key\nunset grid\n"
                     "set xtics mirror out\nset ytics out\n"
                     "set palette defined (0 '#c6dbef', 0.35 '#6baed6', 0.7 '#2171b5', 1 '#08306b')\n");
  picture a = {.name = "A", .title = "A", .rows = bisai_bcsr_block_rows(matrix), .blocks = bisai_bcsr_blocks(matrix)};
  bisai_bcsr_arrays(matrix, &a.row_ptr, &a.col_idx, NULL);
  char lower[40], upper[40];
  snprintf(lower, sizeof lower, "NL on S(|L|^%d)", power);
  snprintf(upper, sizeof upper, "NU on S(|U|^%d)", power);
  return add_picture(d, &a) && add_triangle(context, d, matrix, BISAI_LOWER, 1, "L", "L") &&
         add_triangle(context, d, matrix, BISAI_UPPER, 1, "U", "U") &&
         add_triangle(context, d, matrix, BISAI_LOWER, power, "NL", lower) &&
         add_triangle(context, d, matrix, BISAI_UPPER, power, "NU", upper);
}

/* The legend takes its place beside the curves. */
static void script_beginning(FILE *script, int count, const run_result *results) {
  static const char *const colours[] = {"#4477aa", "#ee6677", "#228833", "#b8860b",
                                        "#33bbee", "#aa3377", "#666666", "#000000"};
  size_t longest = 0;
  for (int i = 0; i < count; ++i) {
    if (strlen(results[i].label) > longest) longest = strlen(results[i].label);
  }
  fprintf(script, "set terminal pngcairo size %d,620 font 'sans,12'\nset encoding utf8\n",
          820 + 8 * ((int)longest + 18));
  fprintf(script, "set key noenhanced\nset grid lt 1 lc rgb '#dddddd'\n");
  for (int i = 0; i < 8; ++i) {
    fprintf(script, "set linetype %d lc rgb '%s'\n", i + 1, colours[i]);
  }
  fprintf(script, "set linetype cycle 8\n");
}

/* A file's name goes into the script as text: nothing in it may end a string or start a command there. */
static void copy_name(char *to, size_t size, const char *from) {
  size_t i = 0;
  for (; i + 1 < size && from[i]; ++i) {
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
  bool ok = write_residuals(folder, count, results) && write_setup(folder, count, results);
  if (ok) {
    script_beginning(d.script, count, results);
    script_residuals(&d, p->tolerance, count, results);
    script_setup(&d, count, results);
    ok = add_patterns(context, &d, p->matrix, largest_power(count, results));
  }
  return close_written(d.script) && ok;
}

bool plots_draw(bisai_context *context, const char *folder, const problem *p, int count, const run_result *results) {
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
