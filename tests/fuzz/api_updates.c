/* SPDX-License-Identifier: BSD-3-Clause */
/* New values of matrices: there and back again, from blocks and from CSR arrays; what is refused
 * leaves the old values. */
#include <stdlib.h>

#include "api.h"

/* What an update came to, against what it should come to; nothing is allocated, and the values are
 * those of `set` afterwards. */
static void expect_update(const fuzz_system *s, const bisai_bcsr *matrix, bisai_status status,
                          bisai_status expected, int set, const char *what) {
  fuzz_property(status == expected, "%s ends with status %d (it got %d)", what, (int)expected,
                (int)status);
  fuzz_matrix_content(s, set, matrix);
}

/* Once by blocks stored row by row. */
static void expect_block_updates(fuzz_choices *choices, const fuzz_system *s, fuzz_world *world) {
  const int32_t bs = s->block_size;
  const bisai_bcsr_desc desc = fuzz_system_desc(s, FUZZ_FIRST);
  bisai_bcsr *matrix = NULL;
  if (!fuzz_property(!bisai_bcsr_create(world->context, &desc, &matrix), "a matrix can be copied"))
    return;
  double *rows_first = fuzz_vector(fuzz_system_scalars(s));
  for (int32_t p = 0; p < s->blocks; p++)
    for (int32_t c = 0; c < bs; c++)
      for (int32_t r = 0; r < bs; r++)
        rows_first[((int64_t)p * bs + r) * bs + c] =
            s->values[FUZZ_SECOND][((int64_t)p * bs + c) * bs + r];
  const long long calls = atomic_load(&world->calls);
  expect_update(s, matrix, bisai_bcsr_update(matrix, rows_first, BISAI_ROW_MAJOR), BISAI_OK,
                FUZZ_SECOND, "an update by blocks stored row by row");
  expect_update(s, matrix, bisai_bcsr_update(matrix, s->values[FUZZ_FIRST], BISAI_COLUMN_MAJOR),
                BISAI_OK, FUZZ_FIRST, "an update by blocks");
  fuzz_property(atomic_load(&world->calls) == calls, "an update of a matrix allocates nothing");
  if (s->blocks > 0) {
    rows_first[(int64_t)fuzz_pick(choices, 256) * 8191 % fuzz_system_scalars(s)] =
        fuzz_not_finite(choices);
    expect_update(s, matrix, bisai_bcsr_update(matrix, rows_first, BISAI_ROW_MAJOR),
                  BISAI_NOT_FINITE, FUZZ_FIRST, "an update with NaN or infinity");
  }
  free(rows_first);
  bisai_bcsr_destroy(&matrix);
}

/* Other patterns: an entry less, a column that moved. */
static void refuse_patterns(fuzz_choices *choices, const fuzz_system *s, const fuzz_csr *csr,
                            bisai_bcsr *matrix) {
  bisai_csr_desc desc = fuzz_csr_desc(s, csr, FUZZ_SECOND);
  int32_t *last = csr->row_ptr + s->rows, *column = csr->col_idx + fuzz_pick(choices, 256) % *last;
  if (csr->row_ptr[s->rows - 1] < *last) {
    *last -= 1;
    expect_update(s, matrix, bisai_bcsr_update_from_csr(matrix, &desc), BISAI_INVALID_STRUCTURE,
                  FUZZ_FIRST, "an update from CSR arrays with an entry less");
    *last += 1;
  }
  *column += s->rows > 1 && *column == s->rows - 1 ? -1 : 1;
  expect_update(s, matrix, bisai_bcsr_update_from_csr(matrix, &desc), BISAI_INVALID_STRUCTURE,
                FUZZ_FIRST, "an update from CSR arrays with another column");
}

static void expect_csr_updates(fuzz_choices *choices, const fuzz_system *s, fuzz_world *world) {
  fuzz_csr csr = fuzz_csr_make(s, fuzz_seed(choices));
  const bisai_csr_desc first = fuzz_csr_desc(s, &csr, FUZZ_FIRST),
                       second = fuzz_csr_desc(s, &csr, FUZZ_SECOND);
  bisai_bcsr *matrix = NULL;
  if (fuzz_property(!bisai_bcsr_from_csr(world->context, &first, &matrix),
                    "a matrix can be made from CSR arrays")) {
    const long long calls = atomic_load(&world->calls);
    expect_update(s, matrix, bisai_bcsr_update_from_csr(matrix, &second), BISAI_OK, FUZZ_SECOND,
                  "an update from CSR arrays");
    expect_update(s, matrix, bisai_bcsr_update_from_csr(matrix, &first), BISAI_OK, FUZZ_FIRST,
                  "an update from CSR arrays");
    fuzz_property(atomic_load(&world->calls) == calls,
                  "an update from CSR arrays allocates nothing");
    expect_update(s, matrix, bisai_bcsr_update(matrix, s->values[FUZZ_SECOND], BISAI_COLUMN_MAJOR),
                  BISAI_INVALID_ARGUMENT, FUZZ_FIRST,
                  "an update by blocks of a matrix from CSR arrays");
    if (s->blocks > 0) {
      const int32_t at = (int32_t)((int64_t)fuzz_pick(choices, 256) * 8191 % csr.row_ptr[s->rows]);
      csr.values[FUZZ_SECOND][at] = fuzz_not_finite(choices);
      expect_update(s, matrix, bisai_bcsr_update_from_csr(matrix, &second), BISAI_NOT_FINITE,
                    FUZZ_FIRST, "an update from CSR arrays with NaN or infinity");
      csr.values[FUZZ_SECOND][at] = 0;
      refuse_patterns(choices, s, &csr, matrix);
    }
  }
  bisai_bcsr_destroy(&matrix);
  fuzz_csr_free(&csr);
}

void fuzz_update_properties(fuzz_choices *choices, const fuzz_system *s, fuzz_world *world) {
  const int what = fuzz_pick(choices, 256);
  if (what % 2 == 1 && what / 2 % 2 == 1 && s->blocks > 0)
    fuzz_node_properties(choices, s, world);
  else if (what % 2 == 1)
    expect_csr_updates(choices, s, world);
  else
    expect_block_updates(choices, s, world);
}
