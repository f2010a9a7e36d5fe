// SPDX-License-Identifier: BSD-3-Clause
// bisai inside the iterative solvers of Eigen, against its sparse LU.
#include "check.hpp"

#include <cmath>
#include <vector>

#include <Eigen/IterativeLinearSolvers>
#include <Eigen/SparseLU>

#include <bisai/eigen.hpp>

namespace {

using Columns = Eigen::SparseMatrix<double>;

// Three unknowns a node on a line, coupled with the neighbours.
Columns make(double factor) {
  constexpr int NODES = 60, BS = 3;
  std::vector<Eigen::Triplet<double>> entries;
  for (int i = 0; i < NODES; i++)
    for (int j = std::max(i - 1, 0); j <= std::min(i + 1, NODES - 1); j++)
      for (int r = 0; r < BS; r++)
        for (int c = 0; c < BS; c++)
          entries.emplace_back(BS * i + r, BS * j + c,
                               i == j   ? (r == c ? factor * (4 + r) : 0.5)
                               : r == c ? -1 - 0.25 * (i < j)
                                        : 0.1 * (r - c));
  Columns a(BS * NODES, BS * NODES);
  a.setFromTriplets(entries.begin(), entries.end());
  return a;
}

Eigen::VectorXd exact(const Columns &a, const Eigen::VectorXd &b) {
  Eigen::SparseLU<Columns> lu(a);
  return lu.solve(b);
}

template <typename Matrix> void eigens_solvers_take_the_preconditioner() {
  const Columns first = make(1), second = make(1.5);
  const Eigen::VectorXd b = Eigen::VectorXd::LinSpaced(first.rows(), -1, 2);
  const Matrix a = first, next = second;
  Eigen::BiCGSTAB<Matrix, bisai::eigen_preconditioner> solver;
  solver.preconditioner().set(on_host()).set("ilu", 3);
  solver.setTolerance(1e-12);
  solver.compute(a);
  Eigen::VectorXd x = solver.solve(b);
  EXPECT(solver.info() == Eigen::Success && solver.iterations() <= 3);
  EXPECT((x - exact(first, b)).norm() < 1e-9 * x.norm());
  const bisai_precond *kept = solver.preconditioner().get().get();
  solver.factorize(next);
  EXPECT(solver.preconditioner().get().get() == kept);
  x = solver.solve(b);
  EXPECT(solver.info() == Eigen::Success);
  EXPECT((x - exact(second, b)).norm() < 1e-9 * x.norm());
}

void several_columns_and_parts_are_applied() {
  const Columns a = make(1);
  bisai::eigen_preconditioner lu;
  lu.set(on_host()).set("lu").compute(a);
  Eigen::MatrixXd b = Eigen::MatrixXd::Random(a.rows(), 3);
  const Eigen::MatrixXd x = lu.solve(b);
  EXPECT((a * x - b).norm() < 1e-12 * b.norm());
  Eigen::MatrixXd by_rows(2, a.rows());
  by_rows.row(1) = b.col(1).transpose();
  const Eigen::VectorXd y = lu.solve(by_rows.row(1).transpose());
  EXPECT((y - x.col(1)).norm() == 0);
}

void arrays_of_rows_are_used_in_place() {
  const bisai::eigen_rows a = make(1);
  const bisai::context context = on_host();
  const bisai::matrix view = bisai::view_eigen(context, a);
  const void *values = nullptr;
  bisai_bcsr_arrays(view.get(), nullptr, nullptr, &values);
  EXPECT(values == a.valuePtr());
  EXPECT(bisai::from_eigen(context, a).block_size() == 3);
  const Eigen::VectorXd b = Eigen::VectorXd::Ones(a.rows());
  Eigen::VectorXd x(a.rows());
  EXPECT(bisai::solve(view, b.data(), x.data()));
  EXPECT((a * x - b).norm() < 1e-7 * b.norm());
}

void wrong_use_throws() {
  bisai::eigen_preconditioner m;
  const Columns a = make(1);
  const Eigen::VectorXd b = Eigen::VectorXd::Ones(a.rows()), few = Eigen::VectorXd::Ones(2);
  EXPECT(m.info() == Eigen::InvalidInput);
  expect_error(BISAI_NOT_READY, "was not computed", [&] { Eigen::VectorXd x = m.solve(b); });
  m.set(on_host()).set("ilu:k=1");
  expect_error(BISAI_INVALID_ARGUMENT, "character 5", [&] { m.compute(a); });
  m.set("ilu").compute(a);
  expect_error(BISAI_INVALID_ARGUMENT, "b has 2 rows", [&] { Eigen::VectorXd x = m.solve(few); });
  Columns other = a;
  other.coeffRef(0, 9) = 1;
  expect_error(BISAI_INVALID_STRUCTURE, "row 0", [&] { m.factorize(other); });
  bisai::eigen_rows open = a;
  open.uncompress();
  expect_error(BISAI_INVALID_ARGUMENT, "makeCompressed",
               [&] { bisai::from_eigen(on_host(), open); });
}

} // namespace

int main() {
  eigens_solvers_take_the_preconditioner<Columns>();
  eigens_solvers_take_the_preconditioner<bisai::eigen_rows>();
  several_columns_and_parts_are_applied();
  arrays_of_rows_are_used_in_place();
  wrong_use_throws();
  return 0;
}
