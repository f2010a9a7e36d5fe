/* SPDX-License-Identifier: BSD-3-Clause */
/* Times the operations of block-Jacobi on a GPU, and cuBLAS's batched routines if they exist for an
 * operation. The operations are inversion and decompositions of many small blocks, extraction,
 * search for blocks, and application. Ratios are relative to the time of a copy of the same number
 * of bytes: blocks read and written, and for an application blocks, pivots and two vectors.
 * Inversions are timed in two ways: like cuBLAS's routines, without waiting for the outcome,
 * and as updates, which wait. The times of all other set-ups include the waiting. */
#include "../peers_magma/magma.cuh"
#include "cublas.cuh"
#include "layouts.cuh"
#include "setups.cuh"

#include "bjacobi/bjacobi_ops.h"
#include "core/context/backend.h"
#include "core/context/context_impl.h"

#include <cmath>
#include <cstring>

namespace {

const char usage[] =
    "usage: bench_batches [OPTION VALUE]…\n"
    "  --only LETTERS  of i(nversion), m(ixed), f(orms), d(ecompositions by size of batch),\n"
    "                  a(pplication), l(ayouts), b(atch sizes), s(izes), e(xtraction), w(hole "
    "set-up);\n"
    "                  default all of these. g: set-ups beside inversions alone;\n"
    "                  k: launches kernels once, for a profiler\n"
    "  --rows N        the most rows of g, default 10^7\n"
    "  --rounds N      timings of each operation, default 9\n"
    "  --bytes N       bytes of a batch of blocks, default 2^30\n"
    "  --json FILE     writes the same figures as JSON\n"
    "  --sizes LIST    the sizes of blocks, with commas, of a, default 1 to 32, and of f, default\n"
    "                  4, 8, 12, … 32\n"
    "  --matrices …    the files of e and g: all arguments up to the next option\n";

double flops_of_inversion(int m) { return 2.0 * m * m * m; }

int64_t blocks_for(double bytes, int m) {
  return std::max<int64_t>(100000, static_cast<int64_t>(bytes / (8.0 * m * m)));
}

bsi_bjacobi_options options_of(bisai_form form = BISAI_FORM_INVERSE,
                               bisai_value_type storage = BISAI_FP64) {
  bsi_bjacobi_options o = {};
  o.form = form;
  o.storage = storage;
  o.digits = 2;
  return o;
}

/* Blocks of one size, contiguous. cuBLAS and the matrix store them in the same way. */
struct uniform_batch : block_matrix {
  uniform_batch(const bench &b, int m, int64_t count)
      : block_matrix(b, std::vector<int32_t>(count, m)) {}
  const double *blocks() const { return static_cast<const double *>(matrix->values); }
};

void measure_inversion(bench &b, double bytes, const std::vector<int> &sizes, int64_t fixed_count,
                       const char *section) {
  for (const int m : sizes) {
    const int64_t count = fixed_count > 0 ? fixed_count : blocks_for(bytes, m);
    uniform_batch batch(b, m, count);
    double ours, update;
    {
      jacobi j(b, batch.matrix, options_of());
      update = seconds_of(b, [&] { j.update(); });
      ours = seconds_of(b, [&] { j.enqueue(); });
    }
    const double floor = 16.0 * m * m * count / b.copy_rate;
    const cublas_times c = time_cublas(b, m, count, batch.blocks());
    const double best = std::min(c.matinv, c.getrf + c.getri);
    const magma_times magma = time_magma(b, m, count, batch.blocks());
    report(b, section, "inverse",
           {{"size", 1.0 * m},
            {"blocks", 1.0 * count},
            {"seconds", ours},
            {"update", update},
            {"floor", floor},
            {"ratio", ours / floor},
            {"gflops", 1e-9 * flops_of_inversion(m) * count / ours},
            {"matinv", c.matinv},
            {"getrf_getri", c.getrf + c.getri},
            {"cublas_gflops", 1e-9 * flops_of_inversion(m) * count / best},
            {"magma_getrf", magma.getrf},
            {"magma_getri", magma.getri},
            {"speedup", best / ours}});
  }
}

const bisai_form FORMS[] = {BISAI_FORM_INVERSE, BISAI_FORM_LU, BISAI_FORM_GAUSS_HUARD,
                            BISAI_FORM_GAUSS_HUARD_TRANSPOSED};

/* Times blocks of random sizes 1 … 32 in one batch. cuBLAS needs one call for the blocks of each
 * size. */
void measure_mixed(bench &b) {
  const int count = 200000;
  std::vector<int32_t> sizes(count);
  std::vector<int64_t> of_size(33, 0);
  uint64_t state = 1;
  for (int32_t &m : sizes) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    m = static_cast<int32_t>(1 + (state >> 33) % 32);
    of_size[m]++;
  }
  double bytes = 0.0, flops = 0.0, cublas = 0.0, getrf = 0.0, getrs = 0.0;
  for (int m = 1; m <= 32; m++) {
    bytes += 16.0 * m * m * of_size[m];
    flops += flops_of_inversion(m) * of_size[m];
    on_device<double> blocks(static_cast<size_t>(m) * m * of_size[m]);
    fill_random(b, blocks.data, static_cast<int64_t>(m) * m * of_size[m]);
    const cublas_times c = time_cublas(b, m, of_size[m], blocks.data);
    cublas += std::min(c.matinv, c.getrf + c.getri);
    getrf += c.getrf, getrs += c.getrs;
  }
  block_matrix matrix(b, sizes);
  bsi_bjacobi_options o = options_of();
  o.given_blocks = count, o.given_start = matrix.start.data();
  for (const bisai_extraction how :
       {BISAI_EXTRACTION_CACHED, BISAI_EXTRACTION_SHARED, BISAI_EXTRACTION_MERGED_SHARED}) {
    o.extraction = how;
    jacobi j(b, matrix.matrix, o);
    const double ours = seconds_of(b, [&] { j.update(); }), floor = bytes / b.copy_rate;
    const char *const names[] = {"", "inverse UC", "", "inverse US", "inverse MS"};
    report(b, "mixed", names[how],
           {{"blocks", 1.0 * count},
            {"seconds", ours},
            {"floor", floor},
            {"ratio", ours / floor},
            {"speedup", cublas / ours}});
  }
  o.extraction = BISAI_EXTRACTION_AUTO;
  for (const bisai_form form : FORMS) {
    o.form = form;
    const double peer = form == BISAI_FORM_INVERSE ? cublas : getrf;
    jacobi j(b, matrix.matrix, o);
    const double ours = seconds_of(b, [&] { j.update(); }), floor = bytes / b.copy_rate;
    const int32_t n = matrix.start.back();
    on_device<double> x(n), y(n);
    fill_random(b, x.data, n);
    const double applied = seconds_of(b, [&] { j.apply(1, x.data, n, y.data); });
    const double apply_floor = (bytes / 2 + 16.0 * n) / b.copy_rate;
    report(b, "mixed", bisai_form_string(form),
           {{"blocks", 1.0 * count},
            {"seconds", ours},
            {"floor", floor},
            {"ratio", ours / floor},
            {"gflops", 1e-9 * flops / ours},
            {"cublas", peer},
            {"speedup", peer / ours},
            {"apply", applied},
            {"apply_floor", apply_floor},
            {"apply_ratio", applied / apply_floor},
            {"getrs", getrs}});
  }
}

void measure_forms(bench &b, double bytes, const std::vector<int> &sizes, int64_t fixed_count,
                   const char *section) {
  for (const int m : sizes) {
    const int64_t count = fixed_count > 0 ? fixed_count : blocks_for(bytes, m), n = count * m;
    uniform_batch batch(b, m, count);
    on_device<double> x(n), y(n);
    fill_random(b, x.data, n);
    for (int k = 0; k < 4; k++) {
      jacobi j(b, batch.matrix, options_of(FORMS[k]));
      const double setup = seconds_of(b, [&] { j.update(); });
      const double applied = seconds_of(b, [&] { j.apply(1, x.data, n, y.data); });
      const double flops = (FORMS[k] == BISAI_FORM_INVERSE ? 2.0 : 2.0 / 3.0) * m * m * m * count;
      const double floor = (8.0 * m * m * count + 16.0 * n + (k > 0 ? 1.0 * n : 0.0)) / b.copy_rate;
      report(b, section, bisai_form_string(FORMS[k]),
             {{"size", 1.0 * m},
              {"blocks", 1.0 * count},
              {"setup", setup},
              {"setup_gflops", 1e-9 * flops / setup},
              {"setup_ratio", setup / (16.0 * m * m * count / b.copy_rate)},
              {"apply", applied},
              {"apply_gflops", 1e-9 * 2.0 * m * m * count / applied},
              {"apply_ratio", applied / floor}});
    }
    const cublas_times c = time_cublas(b, m, count, batch.blocks());
    report(b, section, "cublas",
           {{"size", 1.0 * m},
            {"blocks", 1.0 * count},
            {"setup", c.getrf},
            {"setup_gflops", 1e-9 * 2.0 / 3.0 * m * m * m * count / c.getrf},
            {"apply", c.getrs},
            {"apply_gflops", 1e-9 * 2.0 * m * m * count / c.getrs}});
  }
}

void measure_application(bench &b, double bytes, const std::vector<int> &sizes) {
  const bisai_value_type types[] = {BISAI_FP64,   BISAI_FP32,    BISAI_FP16,    BISAI_BF16,
                                    BISAI_FP11_4, BISAI_FP11_20, BISAI_ADAPTIVE};
  for (const int m : sizes) {
    const int64_t count = blocks_for(bytes, m), n = count * m;
    uniform_batch batch(b, m, count);
    /* the inverses of these blocks fit every format */
    raise_diagonal(b, m, count, const_cast<double *>(batch.blocks()));
    on_device<double> x(8 * n), y(8 * n);
    fill_random(b, x.data, 8 * n);
    double full[2] = {};
    for (int k = 0; k < 7; k++) {
      jacobi j(b, batch.matrix, options_of(BISAI_FORM_INVERSE, types[k]));
      const double setup = seconds_of(b, [&] { j.update(); });
      for (const int vectors : {1, 8}) {
        const double applied = seconds_of(b, [&] { j.apply(vectors, x.data, n, y.data); });
        const double floor = (j.made.stats.value_bytes + 16.0 * n * vectors) / b.copy_rate;
        if (k == 0) full[vectors > 1] = applied;
        report(b, "apply", bisai_value_type_string(types[k]),
               {{"size", 1.0 * m},
                {"blocks", 1.0 * count},
                {"vectors", 1.0 * vectors},
                {"setup", setup},
                {"seconds", applied},
                {"floor", floor},
                {"ratio", applied / floor},
                {"speedup_over_fp64", full[vectors > 1] / applied}});
      }
    }
  }
}

const bisai_extraction STRATEGIES[] = {BISAI_EXTRACTION_CACHED, BISAI_EXTRACTION_MERGED_CACHED,
                                       BISAI_EXTRACTION_SHARED, BISAI_EXTRACTION_MERGED_SHARED,
                                       BISAI_EXTRACTION_AUTO};
const char *const STRATEGY_NAMES[] = {"UC", "MC", "US", "MS", "auto"};

/* Times the set-up with every strategy of extraction. */
void measure_strategies(bench &b, const char *section, const std::string &name,
                        const bisai_bcsr *matrix, int most, double shift = 0.0) {
  bsi_bjacobi_options o = options_of();
  o.max_rows = most, o.shift_amount = shift;
  for (int k = 0; k < 5; k++) {
    o.extraction = STRATEGIES[k];
    jacobi j(b, matrix, o);
    const double seconds = seconds_of(b, [&] { j.update(); });
    report(b, section, (name + " " + STRATEGY_NAMES[k]).c_str(),
           {{"most", 1.0 * most},
            {"rows", 1.0 * j.made.partition.rows},
            {"stored", 1.0 * j.made.matrix.stored},
            {"blocks", 1.0 * j.made.partition.blocks},
            {"values", 1.0 * j.made.stats.value_bytes / 8},
            {"seconds", seconds}});
  }
}

void measure_extraction(bench &b, const std::vector<std::string> &files) {
  const int32_t n = 1 << 20;
  /* Anzt et al. (2017), Figure 6 */
  bisai_bcsr *first = upload(b, tridiagonal_of(n), n), *second = upload(b, arrow_of(n, 0), n);
  for (const int most : {4, 8, 16, 24, 32}) {
    measure_strategies(b, "extraction", "tridiagonal", first, most);
    measure_strategies(b, "extraction", "arrow", second, most);
  }
  bisai_bcsr_destroy(&first);
  bisai_bcsr_destroy(&second);
  for_files(b, files, [&](const bisai_bcsr *matrix, const std::string &name) {
    for (const int most : {8, 32}) measure_strategies(b, "real", name, matrix, most, 1e-3);
  });
}

/* Creates the scalar CSR matrix of a seven-point grid with `unknowns` at each point. */
bisai_bcsr *grid(const bench &b, int nx, int ny, int nz, int unknowns) {
  csr a;
  const int32_t n = nx * ny * nz * unknowns;
  for (int z = 0; z < nz; z++)
    for (int y = 0; y < ny; y++)
      for (int x = 0; x < nx; x++)
        for (int u = 0; u < unknowns; u++) {
          const int steps[7][3] = {{0, 0, -1}, {0, -1, 0}, {-1, 0, 0}, {0, 0, 0},
                                   {1, 0, 0},  {0, 1, 0},  {0, 0, 1}};
          for (const auto &s : steps) {
            const int i = x + s[0], j = y + s[1], k = z + s[2];
            if (i < 0 || j < 0 || k < 0 || i >= nx || j >= ny || k >= nz) continue;
            for (int v = 0; v < unknowns; v++)
              a.col.push_back(((k * ny + j) * nx + i) * unknowns + v);
          }
          a.end_row();
        }
  return upload(b, a, n);
}

void measure_whole(bench &b) {
  const struct {
    const char *name;
    int nx, unknowns;
  } cases[] = {{"148x148x58, 1 unknown", 148, 1}, {"37x148x58, 4 unknowns", 37, 4}};
  for (const auto &c : cases) {
    bisai_bcsr *matrix = grid(b, c.nx, 148, 58, c.unknowns);
    for (const int most : {4, 8, 16, 32})
      for (const bisai_value_type storage : {BISAI_FP64, BISAI_ADAPTIVE}) {
        bsi_bjacobi_options o = options_of(BISAI_FORM_INVERSE, storage);
        o.max_rows = most;
        bsi_partition found;
        const double find = seconds_of(b, [&] {
          NEED(b.context->backend->bjacobi->partition->find(b.context, matrix, most, &found));
          b.context->backend->memory->release(b.context, found.start);
        });
        double update;
        bsi_bjacobi_stats stats;
        {
          jacobi j(b, matrix, o);
          update = seconds_of(b, [&] { j.update(); });
          stats = j.made.stats;
        }
        const double whole = seconds_of(b, [&] {
          jacobi j(b, matrix, o);
          j.update();
        });
        report(b, "whole",
               (std::string(c.name) + (storage == BISAI_FP64 ? " fp64" : " adaptive")).c_str(),
               {{"most", 1.0 * most},
                {"rows", 1.0 * bisai_bcsr_block_rows(matrix)},
                {"find", find},
                {"update", update},
                {"whole", whole},
                {"value_bytes", 1.0 * stats.value_bytes},
                {"fp64_blocks", 1.0 * stats.formats[BISAI_FP64]}});
      }
    bisai_bcsr_destroy(&matrix);
  }
}

/* The numbers of a list with commas. */
std::vector<int> numbers(const char *list) {
  std::vector<int> found;
  for (char *end; *list; list = *end ? end + 1 : end) {
    found.push_back(static_cast<int>(std::strtol(list, &end, 10)));
    if (end == list) break;
  }
  return found;
}

} // namespace

int main(int argc, char **argv) {
  std::string only = "imfdalbsew";
  double bytes = 1 << 30, most_rows = 1e7;
  std::vector<std::string> files;
  std::vector<int> all_sizes(BSI_BJACOBI_MAX_ROWS);
  for (int m = 1; m <= BSI_BJACOBI_MAX_ROWS; m++) all_sizes[static_cast<size_t>(m - 1)] = m;
  std::vector<int> sizes = all_sizes, of_forms = {4, 8, 12, 16, 20, 24, 28, 32};
  bench b = {};
  b.rounds = 9;
  for (int i = 1; i < argc; i++) {
    const std::string option = argv[i];
    if (option == "--matrices") {
      while (i + 1 < argc && std::strncmp(argv[i + 1], "--", 2) != 0) files.push_back(argv[++i]);
      continue;
    }
    if (i + 1 == argc || option.rfind("--", 0) != 0) {
      std::fputs(usage, stderr);
      return 2;
    }
    const char *value = argv[++i];
    if (option == "--only")
      only = value;
    else if (option == "--rounds")
      b.rounds = std::atoi(value);
    else if (option == "--bytes")
      bytes = std::atof(value);
    else if (option == "--sizes")
      sizes = of_forms = numbers(value);
    else if (option == "--rows")
      most_rows = std::atof(value);
    else if (option == "--json" && !(b.json = std::fopen(value, "w")))
      return std::perror(value), 1;
  }
  bisai_context_options options = bisai_context_options_default();
  options.backend = BISAI_BACKEND_CUDA;
  NEED(bisai_context_create(&options, &b.context));
  b.stream = static_cast<cudaStream_t>(b.context->stream);
  {
    const size_t size = 1 << 30;
    on_device<char> from(size), to(size);
    NEED(cudaMemset(from.data, 1, size));
    b.copy_rate =
        2.0 * size / seconds_of(b, [&] {
          NEED(cudaMemcpyAsync(to.data, from.data, size, cudaMemcpyDeviceToDevice, b.stream));
        });
  }
  if (b.json)
    std::fprintf(b.json,
                 "{\"device\": \"%s\", \"commit\": \"%s\", \"copy_rate\": %.6g, \"results\": [",
                 bisai_context_device(b.context),
                 std::getenv("BISAI_COMMIT") ? std::getenv("BISAI_COMMIT") : "", b.copy_rate);
  std::printf("%s, copy %.0f GB/s\n", bisai_context_device(b.context), 1e-9 * b.copy_rate);
  const auto wanted = [&](char letter) { return only.find(letter) != std::string::npos; };
  if (wanted('i'))
    measure_inversion(b, bytes, {4, 5, 6, 7, 8, 12, 16, 20, 24, 28, 32}, 0, "inversion");
  if (wanted('m')) measure_mixed(b);
  if (wanted('f')) measure_forms(b, bytes, of_forms, 0, "forms");
  if (wanted('d'))
    for (const int64_t count : {1000, 3000, 10000, 20000, 40000, 100000, 200000})
      measure_forms(b, bytes, {16, 32}, count, "decompositions");
  if (wanted('a')) measure_application(b, bytes, sizes);
  if (wanted('l')) measure_layouts(b, bytes);
  if (wanted('b'))
    for (const int64_t count : {1000, 3000, 10000, 20000, 40000, 100000, 200000})
      measure_inversion(b, bytes, {4, 8, 16, 32}, count, "batch");
  if (wanted('s')) measure_inversion(b, bytes, all_sizes, 100000, "sizes");
  if (wanted('e')) measure_extraction(b, files);
  if (wanted('w')) measure_whole(b);
  if (wanted('g')) measure_setups(b, most_rows, files);
  if (wanted('k')) launch_kernels(b);
  if (b.json) {
    std::fputs("\n]}\n", b.json);
    std::fclose(b.json);
  }
  bisai_context_destroy(&b.context);
  return 0;
}
