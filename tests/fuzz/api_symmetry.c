/* SPDX-License-Identifier: BSD-3-Clause */
/* Symmetry: how far a matrix is from its transpose, against the definition, and what is refused by
 * it. */
#include <math.h>

#include "api.h"

/* a_ij of scalar row i and column j; *stored says whether its block is there. */
static double entry(const fuzz_system *s, int set, int32_t i, int32_t j, bool *stored) {
  const int32_t bs = s->block_size, row = i / bs, col = j / bs;
  *stored = false;
  for (int32_t p = s->row_ptr[row]; p < s->row_ptr[row + 1]; p++)
    if (s->col_idx[p] == col) {
      *stored = true;
      return s->values[set][((int64_t)p * bs + j % bs) * bs + i % bs];
    }
  return 0;
}

static void compare(const fuzz_system *s, int set, int32_t i, int32_t j, double here,
                    fuzz_symmetry *symmetry) {
  bool stored;
  const double there = entry(s, set, j, i, &stored);
  symmetry->mirrored = symmetry->mirrored && stored;
  if (here == there) return;
  const long double ii = entry(s, set, i, i, &stored), jj = entry(s, set, j, j, &stored);
  const long double scale = fmaxl(fmaxl(fabsl(here), fabsl(there)), sqrtl(fabsl(ii * jj)));
  /* The library does not look closer at what overflows: it is not symmetric anyway. */
  const double found = isinf(here - there) ? 2 : (double)(fabsl((long double)here - there) / scale);
  symmetry->asymmetry = fmax(symmetry->asymmetry, found);
  /* a denormal scale loses digits */
  symmetry->error = fmax(symmetry->error, 1e-14 + (double)(0x1p-1074L / scale));
}

fuzz_symmetry fuzz_symmetry_of(const fuzz_system *s, int set) {
  fuzz_symmetry symmetry = {.mirrored = true};
  const int32_t bs = s->block_size;
  for (int32_t i = 0; i < s->rows; i++)
    for (int32_t p = s->row_ptr[i / bs]; p < s->row_ptr[i / bs + 1]; p++)
      for (int32_t c = 0; c < bs; c++) {
        const double here = s->values[set][((int64_t)p * bs + c) * bs + i % bs];
        compare(s, set, i, s->col_idx[p] * bs + c, here, &symmetry);
      }
  symmetry.symmetric = symmetry.asymmetry <= BISAI_SYMMETRY_LIMIT;
  return symmetry;
}

void fuzz_symmetry_properties(const fuzz_system *s, bisai_bcsr *const matrix[2]) {
  const fuzz_symmetry expected = fuzz_symmetry_of(s, FUZZ_FIRST);
  double measured[2] = {NAN, NAN};
  for (int w = 0; w < 2; w++) {
    bool mirrored = !expected.mirrored;
    const bisai_status status = bisai_bcsr_asymmetry(matrix[w], &measured[w], &mirrored);
    fuzz_property(!status && mirrored == expected.mirrored,
                  "whether a pattern is symmetric is found out (status %d)", (int)status);
  }
  fuzz_property(fuzz_same(1, &measured[0], &measured[1]),
                "an asymmetry has the same bits for any number of threads");
  fuzz_property(fabs(measured[0] - expected.asymmetry) <= expected.error,
                "an asymmetry is that of the definition to rounding (%.17g, %.17g)", measured[0],
                expected.asymmetry);
}

bool fuzz_symmetry_refuses(const fuzz_system *s, const bisai_solver_options *o, bool by_matrix,
                           const bisai_precond *precond) {
  if (o->method != BISAI_CG || o->cg.assume_symmetric) return false;
  fuzz_symmetry a = {.symmetric = true, .mirrored = true};
  if (by_matrix && !o->reduce) a = fuzz_symmetry_of(s, FUZZ_FIRST);
  if (!a.symmetric || !precond) return !a.symmetric;
  bisai_precond_report report = {.struct_size = sizeof report};
  fuzz_property(!bisai_precond_get_report(precond, &report), "a report is given");
  return report.symmetry == BISAI_SYMMETRY_NONE ||
         (report.symmetry == BISAI_SYMMETRY_PATTERN && !a.mirrored);
}
