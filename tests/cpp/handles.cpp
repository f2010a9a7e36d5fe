// SPDX-License-Identifier: BSD-3-Clause
// The handles of bisai.hpp: solutions against products computed here, handles that end in any
// order, and errors.
#include "check.hpp"

#include <cmath>
#include <limits>
#include <numeric>

namespace {

constexpr int SIDE = 12, NODES = SIDE * SIDE, BS = 2, ROWS = BS * NODES;

// Two unknowns a node on a square, in blocks, and the same as entries with the unknowns field by
// field.
struct grid {
  std::vector<std::int32_t> row_ptr{0}, col_idx, entry_ptr, entry_col;
  std::vector<double> values, entries;

  explicit grid(double factor = 1) {
    for (int k = 0; k < NODES; k++) {
      if (k >= SIDE) add(k - SIDE, -1, factor);
      if (k % SIDE > 0) add(k - 1, -1.25, factor);
      add(k, 0, factor);
      if (k % SIDE < SIDE - 1) add(k + 1, -1, factor);
      if (k < NODES - SIDE) add(k + SIDE, -0.75, factor);
      row_ptr.push_back(static_cast<std::int32_t>(col_idx.size()));
    }
    entry_ptr.push_back(0);
    for (int r = 0; r < BS; r++)
      for (int k = 0; k < NODES; k++) {
        for (int c = 0; c < BS; c++)
          for (int p = row_ptr[k]; p < row_ptr[k + 1]; p++) {
            entry_col.push_back(c * NODES + col_idx[p]);
            entries.push_back(values[4 * p + c * BS + r]);
          }
        entry_ptr.push_back(static_cast<std::int32_t>(entries.size()));
      }
  }
  void add(int column, double value, double factor) {
    const double block[] = {value, 0.25, -0.125, value};
    const double diagonal[] = {9 * factor, 1, -0.5, 11 * factor};
    col_idx.push_back(column);
    values.insert(values.end(), value ? block : diagonal, (value ? block : diagonal) + 4);
  }
  bisai_bcsr_desc blocks() const {
    bisai_bcsr_desc desc = bisai_bcsr_desc_default();
    desc.block_rows = desc.block_cols = NODES;
    desc.block_size = BS;
    desc.row_ptr = row_ptr.data(), desc.col_idx = col_idx.data(), desc.values = values.data();
    return desc;
  }
  bisai_csr_desc fields() const {
    bisai_csr_desc desc = bisai_csr_desc_default();
    desc.rows = desc.cols = ROWS;
    desc.row_ptr = entry_ptr.data(), desc.col_idx = entry_col.data();
    desc.values = entries.data(), desc.fields = BS;
    return desc;
  }
  // By entries, with the unknowns field by field.
  std::vector<double> times(const std::vector<double> &x) const {
    std::vector<double> y(ROWS, 0);
    for (int i = 0; i < ROWS; i++)
      for (int p = entry_ptr[i]; p < entry_ptr[i + 1]; p++) y[i] += entries[p] * x[entry_col[p]];
    return y;
  }
};

std::vector<double> some_vector() {
  std::vector<double> x(ROWS);
  for (int i = 0; i < ROWS; i++) x[i] = std::sin(0.7 * i) + 0.1;
  return x;
}

double difference(const std::vector<double> &a, const std::vector<double> &b) {
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); i++) largest = std::fmax(largest, std::fabs(a[i] - b[i]));
  return largest;
}

void vectors_keep_the_order_of_the_caller() {
  const grid g, more(1.5);
  const bisai::context context = on_host();
  bisai::matrix a(context, g.fields());
  EXPECT(a.rows() == ROWS && a.columns() == ROWS && a.block_size() == BS);
  std::vector<double> x = some_vector(), y(ROWS, NAN), z(ROWS, NAN);
  a.multiply(x.data(), y.data());
  EXPECT(difference(y, g.times(x)) < 1e-13);
  bisai::preconditioner lu(a, "lu");
  lu.apply(y.data(), z.data());
  EXPECT(difference(z, x) < 1e-10);
  std::vector<double> w(ROWS, NAN);
  lu.apply_transpose(x.data(), w.data()); // xᵀ (A⁻¹ y) = (A⁻ᵀ x)ᵀ y
  EXPECT(std::fabs(std::inner_product(x.begin(), x.end(), z.begin(), 0.0) -
                   std::inner_product(w.begin(), w.end(), y.begin(), 0.0)) < 1e-10);
  a.update(more.fields());
  lu.update(a);
  bisai::solver gmres(a, "gmres");
  const bisai::result how = gmres.solve(a, more.times(x).data(), z.data(), &lu);
  EXPECT(how && how.message.empty() && how.iterations <= 2 && difference(z, x) < 1e-8);
  EXPECT(bisai::solve(a, more.times(x).data(), z.data()));
  EXPECT(difference(z, x) < 1e-6);
}

// Multigrid reads the matrix in applications.
void handles_end_in_any_order() {
  const grid g;
  std::vector<double> b = some_vector(), z(ROWS, NAN), again(ROWS, NAN);
  std::unique_ptr<bisai::preconditioner> mg;
  std::unique_ptr<bisai::solver> cg;
  {
    const bisai::context context = on_host();
    const bisai::matrix a(context, g.blocks());
    mg = std::make_unique<bisai::preconditioner>(a, "mg");
    cg = std::make_unique<bisai::solver>(a, "cg");
    mg->apply(b.data(), z.data());
  }
  const bisai::preconditioner copy = *mg;
  mg.reset();
  copy.apply(b.data(), again.data());
  EXPECT(z == again);
  EXPECT(copy.describe().find("mg") == 0 && copy.report().multigrid.levels > 0);
}

void near_null_vectors_are_moved_to_the_blocks() {
  const grid g;
  const bisai::matrix a(on_host(), g.fields());
  std::vector<double> constants(ROWS * BS, 0), b = some_vector(), y(ROWS), z(ROWS);
  for (int i = 0; i < ROWS; i++) constants[i * BS + i / NODES] = 1;
  bisai::preconditioner(a, "mg").apply(b.data(), y.data());
  bisai::preconditioner(a, "mg", constants.data(), BS).apply(b.data(), z.data());
  EXPECT(difference(y, z) < 1e-12);
}

void wrong_use_throws() {
  grid g;
  const bisai::context context = on_host();
  const bisai::matrix a(context, g.blocks());
  std::vector<double> b = some_vector(), x(ROWS, 0);
  expect_error(BISAI_INVALID_ARGUMENT, "character 5", [&] { bisai::preconditioner(a, "ilu:k=1"); });
  expect_error(BISAI_INVALID_ARGUMENT, "character 1", [&] { bisai::solver(a, "cgs"); });
  bisai_solver_options options = bisai_solver_options_default();
  options.tolerance = -1;
  expect_error(BISAI_INVALID_ARGUMENT, "tolerance", [&] { bisai::solver(a, "cg", options); });
  options.tolerance = 1e-8, options.max_iterations = 1;
  const bisai::result how =
      bisai::solver(a, "gmres", options).solve(a, b.data(), x.data(), nullptr);
  EXPECT(!how && how.status == BISAI_MAX_ITERATIONS && how.iterations == 1);
  EXPECT(how.message.find("after 1 iterations") != std::string::npos);
  expect_error(BISAI_NOT_SYMMETRIC, "symmetric",
               [&] { bisai::solver(a, "cg").solve(a, b.data(), x.data()); });
  b[3] = std::numeric_limits<double>::infinity();
  expect_error(BISAI_NOT_FINITE, "b is not finite in row 3",
               [&] { bisai::solve(a, b.data(), x.data()); });
  g.col_idx[1] = NODES;
  expect_error(BISAI_INVALID_STRUCTURE, "block row 0", [&] { bisai::matrix(context, g.blocks()); });
  g.col_idx[1] = 1, g.values[0] = NAN;
  expect_error(BISAI_NOT_FINITE, "block", [&] { bisai::matrix(context, g.blocks()); });
  const grid fresh;
  bisai_bcsr_desc small = fresh.blocks();
  small.block_rows = small.block_cols = 0;
  const bisai::matrix other(context, small);
  expect_error(BISAI_INVALID_ARGUMENT, "another size",
               [&] { bisai::solver(a).solve(other, b.data(), x.data()); });
}

} // namespace

int main() {
  vectors_keep_the_order_of_the_caller();
  handles_end_in_any_order();
  near_null_vectors_are_moved_to_the_blocks();
  wrong_use_throws();
  return 0;
}
