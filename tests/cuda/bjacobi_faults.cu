/* SPDX-License-Identifier: BSD-3-Clause */
/* Singular and nearly singular blocks of 1 … 32 rows, and blocks with an infinity, on a device,
 * against the host. */
#include <cstring>

#include "batches.cuh"
#include "core/matrix/bcsr_impl.h"

namespace {

void meets(bisai_context *host, bisai_context *device, const std::vector<int> &sizes, bool natural,
           bisai_form form, double amount) {
  const std::vector<int32_t> start = starts_of(sizes);
  const sparse a = with_blocks(sizes, SPOILED, natural ? sizes[0] : 1);
  const matrix_on there(host, a), here(device, a);
  bsi_bjacobi_options o = {};
  o.form = form, o.shift_amount = amount, o.group_rows = 32;
  if (!natural) o.given_blocks = static_cast<int32_t>(sizes.size()), o.given_start = start.data();
  jacobi_on right(host, there.made, o), j(device, here.made, o);
  const bisai_status expected = bsi_bjacobi_update(host, there.made, &right.made);
  const bisai_status got = bsi_bjacobi_update(device, here.made, &j.made);
  const bsi_bjacobi_stats &s = j.made.stats, &t = right.made.stats;
  const bool message =
      std::strcmp(bisai_context_error(host), bisai_context_error(device)) == 0 || !got;
  verdict(
      got == expected && message && s.inversion.singular_row == t.inversion.singular_row &&
          (got ||
           (s.inversion.repairs == t.inversion.repairs &&
            s.inversion.first_repair_row == t.inversion.first_repair_row &&
            s.near_singular == t.near_singular && s.near_singular_block == t.near_singular_block &&
            s.value_bytes == t.value_bytes && s.formats[BISAI_FP64] == t.formats[BISAI_FP64])),
      "%d blocks of %d … rows%s, form %d, shift %g: status %d/%d, singular %d/%d, repairs %d/%d "
      "from %d/%d, near %d/%d "
      "from %d/%d: %s / %s",
      static_cast<int>(sizes.size()), sizes[0], natural ? ", natural" : "", form, amount, got,
      expected, s.inversion.singular_row, t.inversion.singular_row,
      static_cast<int>(s.inversion.repairs), static_cast<int>(t.inversion.repairs),
      s.inversion.first_repair_row, t.inversion.first_repair_row, static_cast<int>(s.near_singular),
      static_cast<int>(t.near_singular), s.near_singular_block, t.near_singular_block,
      bisai_context_error(device), bisai_context_error(host));
}

/* A row that is there twice leaves a pivot of rounding errors, or none: each such block counts as
 * one or the other. */
void meets_deficient(bisai_context *device, const std::vector<int> &sizes, bool natural,
                     bisai_form form) {
  std::vector<int32_t> start = {0};
  int64_t deficient = 0;
  for (size_t b = 0; b < sizes.size(); b++) {
    start.push_back(start.back() + sizes[b]);
    deficient += b % 7 == 6 && sizes[b] > 1;
  }
  const matrix_on here(device, with_blocks(sizes, DEFICIENT, natural ? sizes[0] : 1));
  bsi_bjacobi_options o = {};
  o.form = form, o.shift_amount = 1e-3;
  if (!natural) o.given_blocks = static_cast<int32_t>(sizes.size()), o.given_start = start.data();
  jacobi_on j(device, here.made, o);
  const bool good = bsi_bjacobi_update(device, here.made, &j.made) == BISAI_OK;
  const bsi_bjacobi_stats &s = j.made.stats;
  verdict(good && s.inversion.repairs + s.near_singular == deficient,
          "%d blocks of %d … rows, form %d: %d repaired and %d near of %d",
          static_cast<int>(sizes.size()), sizes[0], form, static_cast<int>(s.inversion.repairs),
          static_cast<int>(s.near_singular), static_cast<int>(deficient));
}

/* --- infinities --- */

/* Leaves numbers in shared memory that are no places of a block. A thread block takes all that a
 * multiprocessor has. */
__global__ void spoil_shared_memory(int words) {
  extern __shared__ unsigned spoiled[];
  volatile unsigned *to = spoiled;
  for (int i = threadIdx.x; i < words; i += blockDim.x) to[i] = 0x7f7f7f7fu;
}

void spoil_all_shared_memory(const bisai_context *device) {
  const int bytes = device->limits.block_shared;
  CHECK(cudaFuncSetAttribute(spoil_shared_memory, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             bytes));
  spoil_shared_memory<<<device->limits.processors, 256, bytes>>>(bytes / 4);
  CHECK(cudaDeviceSynchronize());
}

/* Matrices refuse such a value when they are made. */
void overwrite(const matrix_on &a, size_t place, double value) {
  CHECK(cudaMemcpy(static_cast<double *>(a.made->values) + place, &value, sizeof value,
                   cudaMemcpyDefault));
}

/* The values beside the diagonal become negative. Elimination then adds equal signs only. */
void make_m_matrix(sparse *a) {
  for (int32_t row = 0; row < a->n; row++)
    for (int32_t q = a->ptr[row / a->bs]; q < a->ptr[row / a->bs + 1]; q++)
      for (int c = 0; c < a->bs; c++) {
        double &value = a->values[(static_cast<size_t>(q) * a->bs + c) * a->bs + row % a->bs];
        if (a->col[q] * a->bs + c != row) value = -std::fabs(value);
      }
}

/* Block 2 of m ≥ 17 rows gets an infinity, beside the first pivot or below it. Its column becomes
 * infinite in all rows of the block, and NaN in the rows that pad it: one of these is then the
 * pivot. The other blocks keep the bits that they have without the infinity. */
void meets_infinity(const backends &on, int m, bool natural, bool below, bisai_form form,
                    double amount) {
  enum { BLOCKS = 9, SPOILED_BLOCK = 2, FAR = 10 };
  const std::vector<int> sizes(BLOCKS, m);
  const std::vector<int32_t> start = starts_of(sizes);
  sparse a = with_blocks(sizes, DOMINANT, natural ? m : 1);
  make_m_matrix(&a);
  const int32_t first = start[SPOILED_BLOCK], row = first + (below ? FAR : 0),
                column = first + (below ? 0 : FAR);
  int32_t q = a.ptr[row / a.bs];
  while (a.col[q] != column / a.bs) q++;
  const size_t place =
      (static_cast<size_t>(q) * a.bs + static_cast<size_t>(column % a.bs)) * a.bs + row % a.bs;
  const matrix_on there(on.host, a), here(on.device, a);
  bsi_bjacobi_options o = {};
  o.form = form, o.shift_amount = amount, o.group_rows = 32;
  if (!natural) o.given_blocks = BLOCKS, o.given_start = start.data();
  jacobi_on right(on.host, there.made, o), j(on.device, here.made, o);
  const bool regular = bsi_bjacobi_update(on.device, here.made, &j.made) == BISAI_OK;
  const std::vector<uint8_t> before = j.data();
  overwrite(there, place, INFINITY), overwrite(here, place, INFINITY);
  const bisai_status expected = bsi_bjacobi_update(on.host, there.made, &right.made);
  spoil_all_shared_memory(on.device);
  const bisai_status got = bsi_bjacobi_update(on.device, here.made, &j.made);
  const bool message =
      std::strcmp(bisai_context_error(on.host), bisai_context_error(on.device)) == 0;
  const std::vector<uint8_t> after = j.data();
  const size_t block = after.size() / BLOCKS;
  int changed = 0;
  for (size_t b = 0; b < BLOCKS; b++)
    changed += b != SPOILED_BLOCK && std::memcmp(&before[b * block], &after[b * block], block) != 0;
  verdict(regular && expected == BISAI_SINGULAR_BLOCK && got == expected && message && changed == 0,
          "blocks of %d rows%s, form %d, shift %g, infinity %s: status %d/%d, %d other blocks "
          "changed: %s / %s",
          m, natural ? ", natural" : "", form, amount, below ? "below" : "beside", got, expected,
          changed, bisai_context_error(on.device), bisai_context_error(on.host));
}

/* Every form, with blocks of one size, natural and given, and of differing sizes. */
void every_form_meets(double amount) {
  const backends on;
  for (const bisai_form form : FORMS) {
    for (const int m : {1, 3, 5, 8, 11, 16, 20, 32}) {
      if (short_form() && m != 3 && m != 32) continue;
      const std::vector<int> sizes(short_form() ? 55 : 101, m);
      meets(on.host, on.device, sizes, true, form, amount);
      meets(on.host, on.device, sizes, false, form, amount);
    }
    meets(on.host, on.device, mixed(short_form() ? 55 : 150, 32), false, form, amount);
    if (!short_form()) meets(on.host, on.device, mixed(150, 9), false, form, amount);
  }
}

} // namespace

TEST(singular_blocks_are_named_as_on_the_host) { every_form_meets(0.0); }

TEST(singular_blocks_are_shifted_as_on_the_host) { every_form_meets(0.01); }

TEST(blocks_with_an_infinity_are_named_as_on_the_host) {
  const backends on;
  for (const bisai_form form : FORMS)
    for (const int m : {17, 20, 24, 28, 31, 32}) {
      if (short_form() && m != 20 && m != 28) continue;
      for (const double amount : {0.0, 0.01}) {
        if (short_form() && amount == 0.0) continue;
        for (const bool natural : {true, false})
          for (const bool below : {true, false})
            meets_infinity(on, m, natural, below, form, amount);
      }
    }
}

TEST(deficient_blocks_are_shifted_or_called_nearly_singular) {
  const context_on device(BISAI_BACKEND_CUDA);
  for (const bisai_form form : FORMS)
    for (const int m : {3, 8, 16, 32}) {
      if (short_form() && m != 8) continue;
      meets_deficient(device, std::vector<int>(101, m), true, form);
      meets_deficient(device, std::vector<int>(101, m), false, form);
    }
}
