/* SPDX-License-Identifier: BSD-3-Clause */
#include "info_text.h"

#include <inttypes.h>
#include <stdio.h>

#include "hierarchy.h"
#include "measures.h"
#include "message.h"
#include "pressure.h"

/* Prints "block row 5" or "3 block rows, first 5". */
static void print_first(const char *kind, const char *noun, int32_t count, int32_t first) {
  if (count == 1) printf("%s%s %" PRId32, kind, noun, first);
  if (count > 1) printf("%" PRId32 " %s%ss, first %" PRId32, count, kind, noun, first);
}

static void print_empties(const char *label, const char *kind, const empties *e) {
  if (e->rows + e->columns == 0) return;
  printf("%-13s", label);
  print_first(kind, "row", e->rows, e->first_row);
  if (e->rows > 0 && e->columns > 0) printf("; ");
  print_first(kind, "column", e->columns, e->first_column);
  printf(": the matrix is singular (counted from 0)\n");
}

/* Prints empty rows and columns, which make the matrix singular. */
static void print_singular(const info_matrix *m) {
  const empties *blocks = &m->empty_blocks, *zeros = &m->zeros;
  print_empties("empty", "block ", blocks);
  const bool same =
      m->block_size == 1 && blocks->rows == zeros->rows && blocks->columns == zeros->columns;
  if (!same) print_empties("zeros only", "", zeros);
}

static void print_matrix(const info *i) {
  static const char *const origins[] = {[INFO_GIVEN] = "as asked for",
                                        [INFO_CASE] = "the case's own",
                                        [INFO_FILE] = "as the file's .info says",
                                        [INFO_PAPER] = "as in Ma et al. 2021",
                                        [INFO_PATTERN] = "found in the pattern",
                                        [INFO_NODES] = "the unknowns of a node"};
  const info_matrix *m = &i->matrix;
  const info_triangle *l = &i->triangles[0], *u = &i->triangles[1];
  printf("matrix       %s: %" PRId64 " row%s, %" PRId32 " entr%s\n", m->name, m->rows,
         plural(m->rows), m->entries, m->entries == 1 ? "y" : "ies");
  printf("block size   %" PRId32 ", %s\n", m->block_size, origins[m->origin]);
  if (m->padding > 0)
    printf("padding      %" PRId32 " row%s of the identity\n", m->padding, plural(m->padding));
  printf("blocks       %" PRId32 " in %" PRId32 " block row%s, at most %" PRId32 " in one, %" PRId32
         " diagonal block%s missing\n",
         m->blocks, m->block_rows, plural(m->block_rows), m->longest_row, m->missing_diagonals,
         plural(m->missing_diagonals));
  if (m->asymmetry_known && m->asymmetry == 0) {
    printf("symmetry     A is symmetric\n");
  } else if (m->asymmetry_known) {
    printf("symmetry     A is %ssymmetric, asymmetry %.1e\n",
           m->asymmetry <= BISAI_SYMMETRY_LIMIT ? "but for rounding " : "not ", m->asymmetry);
  }
  if (l->known[0] && u->known[0]) {
    printf("levels       %" PRId32 " for L, %" PRId32
           " for U: %.1f and %.1f block rows at a time in exact solves\n",
           l->levels, u->levels, (double)m->block_rows / l->levels,
           (double)m->block_rows / u->levels);
  }
}

static void print_sizes(const info *i) {
  printf("\n%12s%14s%14s%10s%14s%20s%20s\n", "block size", "block rows", "blocks", "filled", "MB",
         "missing diagonals", "singular diagonals");
  for (int k = 0; k < i->sizes; k++) {
    const info_size *s = &i->size[k];
    printf("%12" PRId32 "%14" PRId32 "%14" PRId64 "%8.1f %%%14.2f", s->block_size, s->block_rows,
           s->blocks, 100 * s->filled, 1e-6 * (double)s->bytes);
    if (s->diagonals_known)
      printf("%20" PRId32 "%20" PRId32, s->missing_diagonals, s->singular_diagonals);
    else
      printf("%40s", "");
    printf("%s\n", s->chosen ? "  <-" : "");
  }
}

static void print_triangles(const info *i) {
  const info_triangle *l = &i->triangles[0], *u = &i->triangles[1];
  printf("\n%12s%14s%14s%14s%14s%14s%14s\n", "k", "S(|L|^k)", "S(|U|^k)", "both", "of k = 1",
         "longest in L", "longest in U");
  for (int k = 0; k < INFO_POWERS; k++) {
    if (!l->known[k] || !u->known[k]) continue;
    const int64_t both = l->blocks[k] + u->blocks[k];
    printf("%12d%14" PRId64 "%14" PRId64 "%14" PRId64 "%14.2f%14" PRId32 "%14" PRId32 "\n", k + 1,
           l->blocks[k], u->blocks[k], both, (double)both / (double)(l->blocks[0] + u->blocks[0]),
           l->longest[k], u->longest[k]);
  }
}

static void print_diagonals(const info *i) {
  if (!i->has_diagonals) return;
  printf("\nblocks that bjacobi:max=N finds\n%12s%14s%14s%14s%14s\n", "N", "blocks", "mean rows",
         "largest", "MB");
  for (int k = 0; k < INFO_BOUNDS; k++) {
    const info_diagonal *d = &i->diagonals[k];
    if (!d->known) continue;
    printf("%12" PRId32 "%14" PRId32 "%14.2f%14" PRId32 "%14.2f\n", d->bound, d->blocks,
           d->mean_rows, d->largest, 1e-6 * (double)d->bytes);
  }
}

static void print_repairs(const char *name, const info_repairs *r) {
  if (r->shift == 0) return;
  printf("with shift=%g: %" PRId64 " singular diagonal block%s repaired, the first in block row "
         "%" PRId32 " (from 0); without a shift %s refuses this matrix\n",
         r->shift, r->count, plural(r->count), r->first_row, name);
}

static void print_factor(const char *what, const info_trial *t) {
  if (t->factor_known)
    printf("         %s multiplies errors by about %.2g\n", what, t->error_factor);
}

static void print_hierarchy(const info *i) {
  if (i->hierarchy.levels == 0) return;
  printf("\nlevels that mg makes\n");
  print_repairs("mg", &i->mg.repairs);
  hierarchy_print(stdout, "A", &i->hierarchy);
  print_factor("a cycle", &i->mg);
  if (i->tells_memory) hierarchy_print_memory(stdout, &i->hierarchy, i->mg.device_peak);
}

static void print_pressure(const info *i) {
  if (!i->pressure_known) return;
  printf("\npressure that cpr finds\n");
  print_repairs("cpr", &i->cpr.repairs);
  pressure_print(stdout, &i->pressure, i->matrix.block_size);
  print_factor("an application", &i->cpr);
}

static void print_methods(const info *i) {
  printf("\nMB that an iteration of GMRES(30) moves at least, fp64\n%20s%14s%18s%12s%12s\n",
         "method", "matrix", "preconditioner", "vectors", "all");
  for (int k = 0; k < i->methods; k++) {
    const info_method *m = &i->method[k];
    printf("%20s%14.2f%18.2f%12.2f%12.2f\n", m->label, 1e-6 * m->matrix, 1e-6 * m->preconditioner,
           1e-6 * m->vectors, 1e-6 * (m->matrix + m->preconditioner + m->vectors));
  }
}

void info_print(const info *i) {
  print_matrix(i);
  measures_print(stdout, &i->study, i->matrix.block_size);
  print_singular(&i->matrix);
  print_sizes(i);
  print_triangles(i);
  print_diagonals(i);
  print_hierarchy(i);
  print_pressure(i);
  print_methods(i);
}
