/* SPDX-License-Identifier: BSD-3-Clause */
/* The choice of fields from the sums over sampled nodes. */
#include "core/context/context_impl.h"
#include "core/matrix/matrix_ops.h"
#include "study/field_rows.h"
#include "study/parts.h"

/* The least agreement of the fields' own patterns, and the least share of entries in other fields
 * that lie at places of them. Elasticity, flows and species on meshes that are stored field by
 * field have 0.8 to 1, also where symmetry planes eliminate components; scalar meshes in random
 * order, and in other orders with m parts that are alike, have less or are not coupled as fields
 * are. */
static const double least_agreement = 0.75;
/* Of the nodes, at least this share couples two fields that are coupled. Parts of a grid are
 * coupled in the planes between them only. */
static const double coupled_nodes = 0.75;

/* Returns true if two fields are coupled in most nodes or in none, and each field is coupled to
 * another one. */
static bool couple_as_fields(const bsi_study_fields_count *sums, int m, int32_t count) {
  for (int f = 0; f < m; f++) {
    bool coupled = false;
    for (int g = 0; g < m; g++) {
      const uint64_t here = sums->coupled[f * BSI_STUDY_FIELDS + g],
                     there = sums->coupled[g * BSI_STUDY_FIELDS + f];
      if (g == f || here + there == 0) continue;
      if (here > 0 && (double)here < coupled_nodes * count) return false;
      coupled = true;
    }
    if (!coupled) return false;
  }
  return true;
}

/* Returns true if each field is coupled to the ones before and after it, both ways, and to no
 * other: layers of a grid, as of orsreg_1 (21 × 21 × 5) and opm_spe1_thermal_s65 (10 × 10 × 3). */
static bool are_layers(const bsi_study_fields_count *sums, int m) {
  if (m == 2) return false; /* all fields are */
  for (int f = 0; f < m; f++)
    for (int g = 0; g < m; g++)
      if (g != f && (sums->coupled[f * BSI_STUDY_FIELDS + g] > 0) != (g == f + 1 || g == f - 1))
        return false;
  return true;
}

bisai_status bsi_study_find_fields(bisai_context *context, const bsi_study_view *a,
                                   bisai_study_fields *fields) {
  bsi_study_fields_count all[BSI_STUDY_FIELDS + 1];
  *fields = (bisai_study_fields){.count = 1};
  if (a->block_size > 1) return BISAI_OK;
  BSI_TRY(context->backend->matrix->study->fields(context, a, all));
  for (int m = 2; m <= BSI_STUDY_FIELDS; m++) {
    const bsi_study_fields_count *sums = &all[m];
    const int32_t count = bsi_study_sampled_nodes(a->block_rows, m);
    const double agreement = sums->either > 0 ? (double)sums->common / (double)sums->either : 0.0;
    if (count == 0 || agreement < least_agreement || !couple_as_fields(sums, m, count) ||
        are_layers(sums, m) || (double)sums->matched < least_agreement * (double)sums->outside)
      continue;
    *fields = (bisai_study_fields){.count = m, .agreement = agreement};
  }
  return BISAI_OK;
}
