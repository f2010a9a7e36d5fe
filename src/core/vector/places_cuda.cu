/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/vector/places.h"
#include "gpu/for_each.cuh"

bisai_status bsi_move_rows_cuda(bisai_context *context, const bsi_places *places, int32_t width,
                                bool back, const double *from, double *to) {
  const int32_t *place = places->backend;
  return bsi_for_each(
      context, "moved rows", static_cast<int64_t>(places->rows) * width, [=] __device__(int64_t v) {
        const int64_t i = v / width, there = place ? place[i] : i, at = there * width + v % width;
        if (back)
          to[v] = from[at];
        else
          to[at] = from[v];
      });
}
