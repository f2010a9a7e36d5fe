/* SPDX-License-Identifier: BSD-3-Clause */
/* The report of a study, from its sums, maxima and minima. */
#include "core/matrix/matrix_ops.h"
#include "study/parts.h"
#include "study/samples.h"

static double share(uint64_t part, uint64_t all, double of_none) {
  return all > 0 ? (double)part / (double)all : of_none;
}

static double mean_of_units(uint64_t sum, uint64_t count, double of_none) {
  return count > 0 ? (double)sum / BSI_STUDY_ONE / (double)count : of_none;
}

/* A maximum of indices is kept as index + 1. */
static int64_t first_of(const bsi_study_record *r, int k) {
  return r->least[k] == UINT64_MAX ? -1 : (int64_t)r->least[k];
}

static int64_t last_of(const bsi_study_record *r, int k) { return (int64_t)r->most[k] - 1; }

static double real(uint64_t bits) {
  double value = 0.0;
  if (bits == UINT64_MAX) return value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static void fill_rows(const bsi_study_view *a, const bsi_study_record *r,
                      bisai_matrix_study_report *s) {
  const uint64_t stored = (uint64_t)a->blocks * (uint64_t)a->block_size * (uint64_t)a->block_size;
  s->entries = (bisai_study_entries){.rows = a->rows,
                                     .nonzeros = (int64_t)r->sums[BSI_STUDY_NONZEROS],
                                     .fill = share(r->sums[BSI_STUDY_NONZEROS], stored, 0.0),
                                     .zero_rows = (int64_t)r->sums[BSI_STUDY_ZERO_ROWS],
                                     .first_zero_row = first_of(r, BSI_STUDY_FIRST_ZERO_ROW),
                                     .single_rows = (int64_t)r->sums[BSI_STUDY_SINGLE_ROWS],
                                     .first_single_row = first_of(r, BSI_STUDY_FIRST_SINGLE),
                                     .partly_single = (int32_t)r->sums[BSI_STUDY_PARTLY_SINGLE]};
  s->scales =
      (bisai_study_scales){.largest_row = real(r->most[BSI_STUDY_LARGEST_ROW]),
                           .smallest_row = real(r->least[BSI_STUDY_SMALLEST_ROW]),
                           .largest_diagonal = real(r->most[BSI_STUDY_LARGEST_DIAGONAL]),
                           .smallest_diagonal = real(r->least[BSI_STUDY_SMALLEST_DIAGONAL])};
  s->order.bandwidth = (int32_t)r->most[BSI_STUDY_BANDWIDTH];
  s->order.profile = share(r->sums[BSI_STUDY_PROFILE], (uint64_t)a->block_rows, 0.0);
}

static void fill_diagonal(const bsi_study_view *a, const bsi_study_record *r,
                          bisai_matrix_study_report *s) {
  const uint64_t positive = r->bits[BSI_STUDY_HAS_POSITIVE],
                 negative = r->bits[BSI_STUDY_HAS_NEGATIVE],
                 all = (UINT64_C(1) << a->block_size) - 1;
  s->diagonal =
      (bisai_study_diagonal){.positive = (int64_t)r->sums[BSI_STUDY_POSITIVE],
                             .negative = (int64_t)r->sums[BSI_STUDY_NEGATIVE],
                             .zero = (int64_t)r->sums[BSI_STUDY_ZERO_DIAGONALS],
                             .first_negative = first_of(r, BSI_STUDY_FIRST_NEGATIVE),
                             .last_negative = last_of(r, BSI_STUDY_LAST_NEGATIVE),
                             .mixed_signs = (positive & negative) != 0,
                             .missing_blocks = (int32_t)r->sums[BSI_STUDY_MISSING],
                             .first_missing = (int32_t)first_of(r, BSI_STUDY_FIRST_MISSING),
                             .singular_blocks = (int32_t)r->sums[BSI_STUDY_SINGULAR],
                             .first_singular = (int32_t)first_of(r, BSI_STUDY_FIRST_SINGULAR),
                             .condition = real(r->most[BSI_STUDY_CONDITION])};
  s->saddle =
      (bisai_study_saddle){.rows = (int64_t)r->sums[BSI_STUDY_SADDLE_ROWS],
                           .first_row = first_of(r, BSI_STUDY_FIRST_SADDLE),
                           .last_row = last_of(r, BSI_STUDY_LAST_SADDLE),
                           .share = share(r->sums[BSI_STUDY_SADDLE_ROWS], (uint64_t)a->rows, 0.0),
                           .components = (uint32_t)(all & ~(positive | negative))};
}

static void fill_couplings(const bsi_study_view *a, const bsi_study_record *r,
                           bisai_matrix_study_report *s) {
  s->couplings = (bisai_study_couplings){
      .dominant_rows = share(r->sums[BSI_STUDY_DOMINANT_ROWS], (uint64_t)a->rows, 0.0),
      .dominant_block_rows =
          share(r->sums[BSI_STUDY_DOMINANT_BLOCKS], (uint64_t)a->block_rows, 0.0),
      .opposite = mean_of_units(r->sums[BSI_STUDY_OPPOSITE], r->sums[BSI_STUDY_OPPOSITE_ROWS], 1.0),
      .weak = mean_of_units(r->sums[BSI_STUDY_WEAK], r->sums[BSI_STUDY_COUPLED_ROWS], 0.0)};
  s->symmetry.mirrored_blocks =
      share(r->sums[BSI_STUDY_MIRRORED_BLOCKS], r->sums[BSI_STUDY_BLOCKS], 1.0);
  s->symmetry.mirrored_entries =
      share(r->sums[BSI_STUDY_MIRRORED_ENTRIES], r->sums[BSI_STUDY_ENTRIES], 1.0);
  s->symmetry.one_sided =
      mean_of_units(r->sums[BSI_STUDY_ONE_SIDED], r->sums[BSI_STUDY_COUPLED_ROWS], 0.0);
  if (!s->symmetry.symmetric) s->symmetry.asymmetry = real(r->most[BSI_STUDY_ASYMMETRY]);
}

void bsi_study_report_fill(const bsi_study_view *a, const bsi_study_record *record,
                           bisai_matrix_study_report *study) {
  fill_rows(a, record, study);
  fill_diagonal(a, record, study);
  fill_couplings(a, record, study);
  study->null.right = bsi_study_constants_of(a->block_size, record);
}

bisai_status bsi_study_measure_unknowns(bisai_context *context, const bsi_study_view *a,
                                        bisai_study_unknowns *unknowns) {
  const int bs = a->block_size;
  const int32_t most = a->brief ? BSI_STUDY_BRIEF_SAMPLE_UNKNOWNS : BSI_STUDY_SAMPLE_UNKNOWNS,
                count = a->block_rows < most ? a->block_rows : most;
  uint64_t sums[2 * BISAI_MAX_BLOCK_SIZE];
  *unknowns = (bisai_study_unknowns){.first = 0};
  if (bs == 1 || count == 0) return BISAI_OK;
  BSI_TRY(context->backend->matrix->study->unknowns(context, a, count, sums));
  double *e = unknowns->ellipticity;
  unknowns->sampled_rows = count;
  for (int p = 0; p < bs; p++)
    e[p] = mean_of_units(sums[2 * p], (uint64_t)count, 0.0) *
           mean_of_units(sums[2 * p + 1], (uint64_t)count * (uint64_t)bs, 0.0);
  for (int p = 1; p < bs; p++)
    if (e[p] > e[unknowns->first]) unknowns->first = p;
  unknowns->second = unknowns->first == 0 ? 1 : 0;
  for (int p = 0; p < bs; p++)
    if (p != unknowns->first && e[p] > e[unknowns->second]) unknowns->second = p;
  return BISAI_OK;
}
