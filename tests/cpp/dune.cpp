// SPDX-License-Identifier: BSD-3-Clause
// bisai inside DUNE-ISTL: as a preconditioner of its solvers, and as a solver. With the argument
// `real` it solves a system of OPM's simulator.
#include "check.hpp"

#include <cmath>
#include <cstring>

#include <dune/istl/operators.hh>
#include <dune/istl/solvers.hh>

#include <bisai/dune.hpp>

namespace {

constexpr int BS = 3;
using Matrix = Dune::BCRSMatrix<Dune::FieldMatrix<double, BS, BS>>;
using Vector = Dune::BlockVector<Dune::FieldVector<double, BS>>;

// Blocks of nodes in a line. The rows of a matrix that is built row by row lie apart in memory.
Matrix make(std::size_t nodes, double factor, bool row_wise) {
  Matrix a(nodes, nodes, row_wise ? Matrix::row_wise : Matrix::random);
  if (row_wise) {
    for (auto row = a.createbegin(); row != a.createend(); ++row)
      for (std::size_t j = 0; j < nodes; j++)
        if (j + 1 >= row.index() && j <= row.index() + 1) row.insert(j);
  } else {
    for (std::size_t i = 0; i < nodes; i++) a.setrowsize(i, 1 + (i > 0) + (i + 1 < nodes));
    a.endrowsizes();
    for (std::size_t i = 0; i < nodes; i++)
      for (std::size_t j = i > 0 ? i - 1 : 0; j < nodes && j <= i + 1; j++) a.addindex(i, j);
    a.endindices();
  }
  for (auto row = a.begin(); row != a.end(); ++row)
    for (auto block = row->begin(); block != row->end(); ++block)
      for (int r = 0; r < BS; r++)
        for (int c = 0; c < BS; c++)
          (*block)[r][c] = block.index() == row.index() ? (r == c ? factor * (4 + r) : 0.5)
                           : r == c                     ? -1 - 0.25 * (row.index() < block.index())
                                                        : 0.1 * (r - c);
  return a;
}

Vector some_vector(std::size_t nodes) {
  Vector v(nodes);
  for (std::size_t i = 0; i < nodes; i++)
    for (int r = 0; r < BS; r++) v[i][r] = std::sin(0.7 * static_cast<double>(BS * i) + r) + 0.1;
  return v;
}

double defect(const Matrix &a, const Vector &x, const Vector &b) {
  Vector r(b);
  a.mmv(x, r);
  return r.two_norm() / b.two_norm();
}

void dunes_solvers_take_the_preconditioner() {
  const std::size_t nodes = 80;
  for (int row_wise = 0; row_wise < 2; row_wise++) {
    Matrix a = make(nodes, 1, row_wise);
    bisai::dune_preconditioner<Matrix, Vector> ilu(on_host(), a, "ilu");
    EXPECT((bisai::dune_values<Matrix>(a).get() == &a[0][0][0][0]) == !row_wise);
    for (int update = 0; update < 2; update++) {
      if (update) a = make(nodes, 1.5, row_wise);
      if (update) ilu.update(a);
      Dune::MatrixAdapter<Matrix, Vector, Vector> op(a);
      Dune::BiCGSTABSolver<Vector> solver(op, ilu, 1e-12, 10, 0);
      Vector x(nodes), b = some_vector(nodes), kept(b);
      Dune::InverseOperatorResult how;
      x = 0;
      solver.apply(x, b, how);
      EXPECT(how.converged && how.iterations <= 3 && defect(a, x, kept) < 1e-11);
    }
  }
}

void a_solver_begins_with_x_and_reduces_the_defect() {
  const std::size_t nodes = 80;
  Matrix a = make(nodes, 1, true);
  bisai::dune_solver<Matrix, Vector> solver(on_host(), a, "ilu", "gmres", 1e-10);
  Vector x = some_vector(nodes), b(nodes), kept(nodes);
  Dune::InverseOperatorResult how;
  a.mv(x, b);
  kept = b;
  x *= 1 + 1e-6;
  const double before = defect(a, x, kept);
  solver.apply(x, b, 1e-3, how);
  EXPECT(how.converged && how.reduction <= 1e-3);
  EXPECT(std::fabs(defect(a, x, kept) / before - how.reduction) < 1e-6);
  EXPECT(std::fabs(b.two_norm() / kept.two_norm() - defect(a, x, kept)) < 1e-15);
  b = kept, x = 0;
  solver.apply(x, b, how);
  EXPECT(how.converged && defect(a, x, kept) < 1e-9 && solver.last().message.empty());
  a = make(nodes, 2, true);
  solver.update(a);
  b = kept, x = 0;
  solver.apply(x, b, how);
  EXPECT(how.converged && defect(a, x, kept) < 1e-9);
  bisai::dune_solver<Matrix, Vector> short_one(on_host(), a, "none", "gmres", 1e-10, 2);
  b = kept, x = 0;
  short_one.apply(x, b, how);
  EXPECT(!how.converged && how.iterations == 2);
  EXPECT(short_one.last().status == BISAI_MAX_ITERATIONS);
}

void wrong_use_throws() {
  Matrix a = make(5, 1, true);
  const Matrix longer = make(6, 1, true);
  const bisai::context context = on_host();
  bisai::dune_preconditioner<Matrix, Vector> m(context, a, "ilu");
  Vector v(5), few(4);
  few = 1, v = 1;
  expect_error(BISAI_INVALID_ARGUMENT, "another size", [&] { m.apply(v, few); });
  expect_error(BISAI_INVALID_ARGUMENT, "another pattern", [&] { m.update(longer); });
  a[2][2] = NAN;
  expect_error(BISAI_NOT_FINITE, "block", [&] { m.update(a); });
  a[2][2] = 0;
  expect_error(BISAI_SINGULAR_BLOCK, "block row",
               [&] { bisai::dune_preconditioner<Matrix, Vector>(context, a, "bjacobi"); });
  expect_error(BISAI_INVALID_ARGUMENT, "character 1",
               [&] { bisai::dune_solver<Matrix, Vector>(context, longer, "wrong"); });
}

// The file has single entries; the simulator's matrix has blocks.
int solve_a_system_of_opm(const std::string &path) {
  const bisai::context context = on_host();
  bisai_read_options options = bisai_read_options_default();
  options.block_size = BS;
  bisai_system system = {};
  system.struct_size = sizeof system;
  const bisai_status status = bisai_read_system(context.get(), path.c_str(), &options, &system);
  if (status == BISAI_IO_ERROR) return 77;
  context.check(status);
  const auto nodes = static_cast<std::size_t>(bisai_bcsr_block_rows(system.matrix));
  const std::int32_t *row_ptr = nullptr, *col_idx = nullptr;
  const void *values = nullptr;
  bisai_bcsr_arrays(system.matrix, &row_ptr, &col_idx, &values);
  Matrix a(nodes, nodes, Matrix::random);
  for (std::size_t i = 0; i < nodes; i++)
    a.setrowsize(i, static_cast<std::size_t>(row_ptr[i + 1] - row_ptr[i]));
  a.endrowsizes();
  for (std::size_t i = 0; i < nodes; i++)
    for (std::int32_t p = row_ptr[i]; p < row_ptr[i + 1]; p++)
      a.addindex(i, static_cast<std::size_t>(col_idx[p]));
  a.endindices();
  for (std::size_t i = 0; i < nodes; i++)
    for (std::int32_t p = row_ptr[i]; p < row_ptr[i + 1]; p++)
      for (int r = 0; r < BS; r++)
        for (int c = 0; c < BS; c++)
          a[i][static_cast<std::size_t>(col_idx[p])][r][c] =
              static_cast<const double *>(values)[p * BS * BS + c * BS + r];
  bisai_system_clear(context.get(), &system);
  bisai::dune_solver<Matrix, Vector> solver(context, a, "cpr", "bicgstab", 1e-8);
  Vector x(nodes), b = some_vector(nodes), kept(b);
  Dune::InverseOperatorResult how;
  x = 0;
  solver.apply(x, b, how);
  std::printf("CPR: %d iterations, defect %.1e\n", how.iterations, defect(a, x, kept));
  EXPECT(how.converged && how.iterations < 60 && defect(a, x, kept) < 2e-8);
  return 0;
}

} // namespace

int main(int argc, char **) {
  const char *folder = std::getenv("BISAI_MATRICES");
  if (argc > 1)
    return solve_a_system_of_opm(std::string(folder ? folder : ".") + "/opm_spe9_s7.mtx.xz");
  dunes_solvers_take_the_preconditioner();
  a_solver_begins_with_x_and_reduces_the_defect();
  wrong_use_throws();
  return 0;
}
