/* SPDX-License-Identifier: BSD-3-Clause */
/* Set-ups of block-Jacobi by inversion with each strategy of extraction, beside the inversion
 * alone: Figures 5 to 7 of Anzt, Dongarra, Flegar, Quintana-Ortí (2017). Times are those of the
 * kernels, without waiting for their findings. */
#include "setups.cuh"

#include <cmath>

namespace {

const struct {
  bisai_extraction how;
  const char *name;
} STRATEGIES[] = {{BISAI_EXTRACTION_CACHED, "UC"},
                  {BISAI_EXTRACTION_MERGED_CACHED, "MC"},
                  {BISAI_EXTRACTION_SHARED, "US"},
                  {BISAI_EXTRACTION_MERGED_SHARED, "MS"}};

bsi_bjacobi_options options_of(int most, bisai_extraction how, double shift = 0.0) {
  bsi_bjacobi_options o = {};
  o.form = BISAI_FORM_INVERSE;
  o.storage = BISAI_FP64;
  o.max_rows = most;
  o.shift_amount = shift;
  o.extraction = how;
  return o;
}

void report_setup(bench &b, const char *section, const std::string &what, int most, const jacobi &j,
                  const timing &t) {
  report(b, section, what.c_str(),
         {{"most", 1.0 * most},
          {"rows", 1.0 * j.made.partition.rows},
          {"stored", 1.0 * j.made.matrix.stored},
          {"blocks", 1.0 * j.made.partition.blocks},
          {"seconds", t.median},
          {"least", t.least}});
}

/* Returns the shift that the diagonal blocks need: 0 if all of them are there and regular. */
double shift_for(const bench &b, const bisai_bcsr *matrix, int most) {
  const bsi_bjacobi_options o = options_of(most, BISAI_EXTRACTION_AUTO);
  bsi_bjacobi made;
  NEED(bsi_bjacobi_create(b.context, matrix, &o, &made));
  const bool regular = bsi_bjacobi_update(b.context, matrix, &made) == BISAI_OK;
  bsi_bjacobi_destroy(b.context, &made);
  return regular ? 0.0 : 1e-3;
}

/* Returns the rows of each block. */
std::vector<int32_t> sizes_of(const bench &b, const bsi_partition &p) {
  std::vector<int32_t> start(static_cast<size_t>(p.blocks) + 1), sizes;
  if (p.uniform > 0)
    for (int32_t k = 0; k <= p.blocks; k++) start[k] = bsi_partition_start(&p, k);
  else
    NEED(b.context->backend->memory->fetch(b.context, start.data(), p.start,
                                           start.size() * sizeof(int32_t)));
  for (int32_t k = 0; k < p.blocks; k++) sizes.push_back(start[k + 1] - start[k]);
  return sizes;
}

/* Times the inversion alone: of dense blocks of the same sizes, with nothing around them. Blocks of
 * one size are natural, so that nothing is extracted. */
void measure_inversion(bench &b, const char *section, const std::string &name, int most,
                       const bsi_partition &partition) {
  const block_matrix dense(b, sizes_of(b, partition));
  bsi_bjacobi_options o = options_of(0, BISAI_EXTRACTION_AUTO);
  if (!dense.uniform) o.given_blocks = partition.blocks, o.given_start = dense.start.data();
  jacobi j(b, dense.matrix, o);
  j.update();
  report_setup(b, section, name + " inversion", most, j, timing_of(b, [&] { j.enqueue(); }));
}

/* Times the set-up with all strategies, and the inversion alone. */
void measure_strategies(bench &b, const char *section, const std::string &name,
                        const bisai_bcsr *matrix, int most) {
  const double shift = shift_for(b, matrix, most);
  for (const auto &s : STRATEGIES) {
    jacobi j(b, matrix, options_of(most, s.how, shift));
    j.update();
    report_setup(b, section, name + " " + s.name, most, j, timing_of(b, [&] { j.enqueue(); }));
    if (s.how == BISAI_EXTRACTION_CACHED)
      measure_inversion(b, section, name, most, j.made.partition);
  }
}

/* The nodes of a grid, with `unknowns` at each. Star: neighbours along the axes. Otherwise: the
 * neighbours in a triangulation, which are 6 in two dimensions and 14 in three. */
struct grid_pattern {
  const char *name;
  int size[3], unknowns;
  bool star;
};

csr pattern_of(const grid_pattern &g) {
  std::vector<std::array<int, 3>> steps;
  for (int z = -1; z <= 1; z++)
    for (int y = -1; y <= 1; y++)
      for (int x = -1; x <= 1; x++) {
        const int low = std::min({x, y, z}), high = std::max({x, y, z});
        if (g.star ? std::abs(x) + std::abs(y) + std::abs(z) <= 1 : low * high >= 0)
          steps.push_back({x, y, z});
      }
  csr a;
  const int *n = g.size;
  for (int node = 0; node < n[0] * n[1] * n[2]; node++) {
    const int at[3] = {node % n[0], node / n[0] % n[1], node / (n[0] * n[1])};
    for (int u = 0; u < g.unknowns; u++) {
      for (const auto &s : steps) {
        const int x = at[0] + s[0], y = at[1] + s[1], z = at[2] + s[2];
        if (x < 0 || y < 0 || z < 0 || x >= n[0] || y >= n[1] || z >= n[2]) continue;
        for (int v = 0; v < g.unknowns; v++)
          a.col.push_back(((z * n[1] + y) * n[0] + x) * g.unknowns + v);
      }
      a.end_row();
    }
  }
  return a;
}

/* The patterns of large matrices of the paper. */
const grid_pattern LARGE[] = {{"G3_circuit", {1259, 1259, 1}, 1, true},
                              {"af_shell3", {318, 318, 1}, 5, false},
                              {"Emilia_923", {68, 68, 67}, 3, false}};

/* Times set-ups over the number of rows. It is a multiple of all bounds, so that blocks are
 * full. */
void measure_over_rows(bench &b, double most_rows) {
  for (double wanted = 1e4; wanted < 1.1 * most_rows; wanted *= std::sqrt(10.0)) {
    const int32_t n = static_cast<int32_t>(std::lround(wanted / 96)) * 96;
    for (const bool arrow : {false, true}) {
      const char *const name = arrow ? "arrow" : "tridiagonal";
      bisai_bcsr *matrix = upload(b, arrow ? arrow_of(n, n - 1) : tridiagonal_of(n), n);
      for (const int most : {4, 16, 24}) {
        jacobi j(b, matrix, options_of(most, BISAI_EXTRACTION_MERGED_CACHED));
        j.update();
        report_setup(b, "rows", std::string(name) + " MC", most, j,
                     timing_of(b, [&] { j.enqueue(); }));
      }
      for (const int most : {8, 32}) measure_strategies(b, "rows", name, matrix, most);
      bisai_bcsr_destroy(&matrix);
    }
  }
}

} // namespace

void measure_setups(bench &b, double most_rows, const std::vector<std::string> &files) {
  measure_over_rows(b, most_rows);
  for (const grid_pattern &g : LARGE) {
    const csr a = pattern_of(g);
    if (a.ptr.size() > 1.1 * most_rows) continue;
    bisai_bcsr *matrix = upload(b, a, static_cast<int32_t>(a.ptr.size() - 1));
    for (const int most : {8, 32})
      measure_strategies(b, "matrices", std::string("pattern of ") + g.name, matrix, most);
    bisai_bcsr_destroy(&matrix);
  }
  for_files(b, files, [&](const bisai_bcsr *matrix, const std::string &name) {
    for (const int most : {8, 32})
      measure_strategies(b, "matrices", name.substr(0, name.find(".mtx")), matrix, most);
  });
}

void launch_kernels(const bench &b) {
  const int32_t n = 1 << 16;
  bisai_bcsr *matrix = upload(b, tridiagonal_of(n), n);
  for (const auto &s : STRATEGIES)
    jacobi(b, matrix, options_of(BSI_BJACOBI_MAX_ROWS, s.how)).update();
  bisai_bcsr_destroy(&matrix);
  const block_matrix natural(b, std::vector<int32_t>(n / 32, 32));
  jacobi(b, natural.matrix, options_of(0, BISAI_EXTRACTION_AUTO)).update();
  NEED(cudaStreamSynchronize(b.stream));
}
