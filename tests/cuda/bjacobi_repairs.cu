/* SPDX-License-Identifier: BSD-3-Clause */
/* Blocks that are singular in awkward places: what is reported, repaired and applied on a device is
 * the host's. */
#include <algorithm>
#include <cstring>

#include "batches.cuh"

namespace {

/* Values of a dense block of rows from … from + m − 1; the pattern has them all. */
template <typename F> void overwrite(sparse *a, int32_t from, int m, F value) {
  for (int32_t row = from; row < from + m; row++)
    for (int32_t q = a->ptr[row / a->bs]; q < a->ptr[row / a->bs + 1]; q++)
      for (int c = 0; c < a->bs; c++) {
        const int32_t column = a->col[q] * a->bs + c;
        if (column >= from && column < from + m)
          a->values[(static_cast<size_t>(q) * a->bs + static_cast<size_t>(c)) * a->bs +
                    static_cast<size_t>(row % a->bs)] = value(row - from, column - from);
      }
}

/* The matrix without the diagonal blocks of the block rows that `gone` names. */
template <typename F> sparse without(const sparse &a, F gone) {
  sparse b;
  b.n = a.n, b.bs = a.bs;
  const size_t values = static_cast<size_t>(a.bs) * a.bs;
  for (int32_t i = 0; i < a.n / a.bs; i++) {
    for (int32_t q = a.ptr[i]; q < a.ptr[i + 1]; q++) {
      if (a.col[q] == i && gone(i)) continue;
      b.col.push_back(a.col[q]);
      b.values.insert(b.values.end(), a.values.begin() + static_cast<int64_t>(q * values),
                      a.values.begin() + static_cast<int64_t>((q + 1) * values));
    }
    b.ptr.push_back(static_cast<int32_t>(b.col.size()));
  }
  return b;
}

/* What is met, chosen and applied is the host's, and values do not differ between two updates. No
 * block is nearly singular, so that the results differ by little more than rounding errors, or
 * digits = 2. */
void agrees(bisai_context *host, bisai_context *device, const sparse &a,
            const std::vector<int> &sizes, bool natural, bsi_bjacobi_options o, const char *what) {
  const std::vector<int32_t> start = starts_of(sizes);
  if (!natural) o.given_blocks = static_cast<int32_t>(sizes.size()), o.given_start = start.data();
  o.group_rows = 32, o.digits = 2;
  const matrix_on there(host, a), here(device, a);
  jacobi_on right(host, there.made, o), j(device, here.made, o);
  const bisai_status expected =
      right.status ? right.status : bsi_bjacobi_update(host, there.made, &right.made);
  bisai_status got = j.status ? j.status : bsi_bjacobi_update(device, here.made, &j.made);
  const bsi_bjacobi_stats s = j.made.stats, &t = right.made.stats;
  bool good = got == expected &&
              (!got || std::strcmp(bisai_context_error(host), bisai_context_error(device)) == 0);
  good = good && s.inversion.singular_row == t.inversion.singular_row;
  double apart = 0.0, largest = 0.0;
  if (good && !got) {
    const bsi_invert_stats &m = s.inversion, &n = t.inversion;
    good = m.repairs == n.repairs && m.first_repair_row == n.first_repair_row &&
           s.near_singular == t.near_singular && s.value_bytes == t.value_bytes &&
           std::memcmp(s.formats, t.formats, sizeof s.formats) == 0 &&
           std::fabs(m.largest_condition - n.largest_condition) <= 1e-8 * n.largest_condition &&
           (a.n == j.made.partition.blocks || m.largest_condition_row == n.largest_condition_row);
    const std::vector<uint8_t> before = j.data();
    CHECK(cudaMemset(j.made.data, 0xff, before.size()));
    good = good && !bsi_bjacobi_update(device, here.made, &j.made) && j.data() == before &&
           j.made.stats.inversion.largest_condition_row == m.largest_condition_row;
    const int count = 5;
    const std::vector<double> x = random_vector(static_cast<size_t>(a.n) * count);
    std::vector<double> z(x.size(), NAN);
    const device_array<double> d_x(x), d_z(z);
    good = good &&
           !host->backend->bjacobi->solve->apply(host, &right.made, count, x.data(), a.n, z.data(),
                                                 a.n) &&
           !device->backend->bjacobi->solve->apply(device, &j.made, count, d_x.data, a.n, d_z.data,
                                                   a.n);
    const std::vector<double> found = d_z.fetch();
    for (size_t i = 0; i < z.size(); i++) {
      largest = std::max(largest, std::fabs(z[i]));
      apart = std::max(apart, std::isnan(found[i]) ? INFINITY : std::fabs(found[i] - z[i]));
    }
    good = good && apart <= (o.storage == BISAI_ADAPTIVE ? 1e-2 : 1e-11) * largest;
  }
  verdict(good,
          "%s: %d blocks of %d … rows%s, form %d, storage %d, extraction %d, shift %g: status "
          "%d/%d, singular %d/%d, "
          "repairs %d/%d from %d/%d, condition %.17g/%.17g in %d/%d, apart %g of %g: %s / %s",
          what, static_cast<int>(sizes.size()), sizes[0], natural ? ", natural" : "", o.form,
          o.storage, o.extraction, o.shift_amount, got, expected, s.inversion.singular_row,
          t.inversion.singular_row, static_cast<int>(s.inversion.repairs),
          static_cast<int>(t.inversion.repairs), s.inversion.first_repair_row,
          t.inversion.first_repair_row, s.inversion.largest_condition,
          t.inversion.largest_condition, s.inversion.largest_condition_row,
          t.inversion.largest_condition_row, apart, largest, bisai_context_error(device),
          bisai_context_error(host));
}

/* Options that repair singular blocks by a shift of 0.01. */
bsi_bjacobi_options shifted(bisai_form form, bisai_value_type storage,
                            bisai_extraction extraction) {
  bsi_bjacobi_options o = {};
  o.form = form, o.storage = storage, o.extraction = extraction, o.shift_amount = 0.01;
  return o;
}

/* Zeros in one place of every group, or in all; missing blocks there too where they are natural. */
void zeros(bisai_context *host, bisai_context *device, const std::vector<int> &sizes, bool natural,
           int every, int at, const bsi_bjacobi_options &o) {
  sparse a = with_blocks(sizes, DOMINANT, natural ? sizes[0] : 1);
  int32_t from = 0;
  for (size_t b = 0; b < sizes.size(); from += sizes[b++])
    if (static_cast<int>(b) % every == at)
      overwrite(&a, from, sizes[b], [](int, int) { return 0.0; });
  agrees(host, device, a, sizes, natural, o, "zeros");
  if (natural)
    agrees(host, device, without(a, [&](int32_t i) { return i % every == at; }), sizes, natural, o,
           "missing");
}

/* Rows whose sum is infinite leave no shift to their block; others of its group are repaired all
 * the same, and it is the one that is refused. */
void hopeless(bisai_context *host, bisai_context *device, const std::vector<int> &sizes,
              bool natural, bisai_form form) {
  for (int victim = 1; victim < 18 && victim < static_cast<int>(sizes.size()); victim++) {
    if (sizes[static_cast<size_t>(victim)] < 2) continue;
    sparse a = with_blocks(sizes, DOMINANT, natural ? sizes[0] : 1);
    int32_t from = 0;
    for (int b = 0; b < static_cast<int>(sizes.size()); from += sizes[static_cast<size_t>(b++)])
      if (b == victim || b % 2 == 0)
        overwrite(&a, from, sizes[static_cast<size_t>(b)],
                  [&](int, int) { return b == victim ? 1e308 : 0.0; });
    bsi_bjacobi_options o = {};
    o.form = form, o.shift_amount = 0.01;
    agrees(host, device, a, sizes, natural, o, "hopeless");
  }
}

/* Many equal zeros, more than a repair takes at once: all have the same condition, and the first is
 * named. */
void all_zeros(bisai_context *host, bisai_context *device, int count, int m, bool natural,
               double amount) {
  const std::vector<int> sizes(static_cast<size_t>(count), m);
  sparse a = with_blocks(sizes, DOMINANT, natural ? m : 1);
  std::fill(a.values.begin(), a.values.end(), 0.0);
  bsi_bjacobi_options o = {};
  o.shift_amount = amount;
  if (!natural) o.extraction = BISAI_EXTRACTION_CACHED;
  agrees(host, device, a, sizes, natural, o, "all zeros");
}

} // namespace

TEST(little_shared_memory_changes_nothing) {
  const backends on;
  bsi_device_limits &limits = on.device.made->limits;
  limits.block_shared = 48 << 10; /* what every device gives a thread block */
  for (const int m : {4, 7, 8, 16, 24, 32})
    if (!short_form() || m == 8 || m == 24)
      zeros(on.host, on.device, std::vector<int>(41, m), true, 4, 2,
            shifted(BISAI_FORM_INVERSE, BISAI_FP64, BISAI_EXTRACTION_AUTO));
}

TEST(small_batches_are_repaired_as_on_the_host) {
  const backends on;
  for (int m = 1; m <= 32; m++)
    for (const int count : {1, 2, 3, 5, 7, 33}) {
      if (short_form() &&
          ((m != 4 && m != 7 && m != 12 && m != 16) || count % 2 == 0 || count == 3))
        continue;
      for (const bool natural : {true, false})
        zeros(on.host, on.device, std::vector<int>(static_cast<size_t>(count), m), natural, 4, 2,
              shifted(BISAI_FORM_INVERSE, BISAI_FP64, BISAI_EXTRACTION_AUTO));
    }
}

TEST(a_last_warp_filled_in_any_way_is_repaired_as_on_the_host) {
  if (short_form()) SKIP("many cases");
  const backends on;
  for (const int m : {4, 5, 6, 7, 8})
    for (int count = 1; count <= 70; count++)
      zeros(on.host, on.device, std::vector<int>(static_cast<size_t>(count), m), true, 3, 1,
            shifted(BISAI_FORM_INVERSE, BISAI_FP64, BISAI_EXTRACTION_AUTO));
}

TEST(every_place_of_a_group_is_repaired_as_on_the_host) {
  const backends on;
  for (int bound = 3; bound <= 9; bound++) {
    std::vector<int> sizes = mixed(short_form() ? 30 : 97, bound);
    sizes[0] = bound;
    const int per_group = 32 / bound;
    for (int at = 0; at < per_group; at++) {
      if (short_form() && (bound != 9 || at != 1)) continue;
      for (const bisai_value_type storage : {BISAI_FP64, BISAI_ADAPTIVE}) {
        for (const bisai_extraction how : {BISAI_EXTRACTION_CACHED, BISAI_EXTRACTION_MERGED_CACHED,
                                           BISAI_EXTRACTION_MERGED_SHARED})
          zeros(on.host, on.device, sizes, false, per_group, at,
                shifted(BISAI_FORM_INVERSE, storage, how));
        zeros(on.host, on.device, std::vector<int>(67, bound), true, per_group, at,
              shifted(BISAI_FORM_INVERSE, storage, BISAI_EXTRACTION_CACHED));
      }
    }
  }
}

/* The block of 31 rows makes a warp take several groups. */
TEST(several_groups_of_a_warp_are_repaired_as_on_the_host) {
  const backends on;
  for (const bisai_form form : FORMS) {
    std::vector<int> sizes = mixed(short_form() ? 30 : 97, 6);
    sizes[5] = 31;
    zeros(on.host, on.device, sizes, false, 5, 3, shifted(form, BISAI_FP64, BISAI_EXTRACTION_AUTO));
    if (form == BISAI_FORM_INVERSE)
      zeros(on.host, on.device, sizes, false, 5, 3,
            shifted(form, BISAI_ADAPTIVE, BISAI_EXTRACTION_AUTO));
  }
}

TEST(blocks_that_no_shift_repairs_are_named_as_on_the_host) {
  const backends on;
  for (const bisai_form form : FORMS) {
    std::vector<int> sizes = mixed(short_form() ? 30 : 97, 6);
    sizes[5] = 31;
    hopeless(on.host, on.device, sizes, false, form);
    for (const int m : {2, 4, 8, 12}) {
      if (short_form() && m != 8) continue;
      hopeless(on.host, on.device, std::vector<int>(20, m), true, form);
      hopeless(on.host, on.device, std::vector<int>(20, m), false, form);
    }
  }
}

TEST(more_zeros_than_a_repair_takes_at_once_are_repaired_as_on_the_host) {
  const backends on;
  for (const double amount : {0.0, 0.01})
    for (const int m : {1, 4, 5, 8, 16, 20}) {
      if (short_form() && m != 8 && m != 16) continue;
      const int count = short_form() ? 70 : m == 1 ? 100000 : m <= 8 ? 20000 : 3000;
      for (const bool natural : {true, false})
        all_zeros(on.host, on.device, count, m, natural, amount);
    }
}
