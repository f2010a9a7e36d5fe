/* SPDX-License-Identifier: BSD-3-Clause */
/** @file dune.hpp
 *  bisai for DUNE-ISTL 2.9: matrices of small blocks, as those of OPM's simulators, and bisai as
 *  Dune::Preconditioner and Dune::InverseOperator.
 *
 *      using Matrix = Dune::BCRSMatrix<Dune::FieldMatrix<double, 3, 3>>;
 *      using Vector = Dune::BlockVector<Dune::FieldVector<double, 3>>;
 *      bisai::context context;
 *      bisai::dune_preconditioner<Matrix, Vector> M(context, A, "cpr");
 *      bisai::dune_solver<Matrix, Vector> solver(context, A, "cpr", "bicgstab", 1e-6);
 *
 *  The values of a matrix are read in place and copied once, because bisai stores blocks by columns
 *  and DUNE by rows. Vectors are used in place. Failures are exceptions (bisai::error). */
#ifndef BISAI_DUNE_HPP
#define BISAI_DUNE_HPP

#include <cmath>

#include <dune/common/fmatrix.hh>
#include <dune/istl/bcrsmatrix.hh>
#include <dune/istl/bvector.hh>
#include <dune/istl/preconditioner.hh>
#include <dune/istl/solver.hh>

#include <bisai/bisai.hpp>

namespace bisai {

/** The values of a matrix of DUNE in the order of its rows: in place if they lie in one piece, as
 *  those of matrices whose row sizes were set or that were made by their size. */
template <typename Matrix> class dune_values {
public:
  explicit dune_values(const Matrix &a) {
    constexpr int bs = Matrix::block_type::rows;
    const double *first = nullptr;
    std::size_t place = 0;
    bool together = true;
    for (auto row = a.begin(); row != a.end(); ++row)
      for (auto block = row->begin(); block != row->end(); ++block, place++) {
        const double *here = &(*block)[0][0];
        if (!first) first = here;
        together = together && here == first + place * bs * bs;
      }
    values_ = first;
    if (together) return;
    copy_.reserve(place * bs * bs);
    for (auto row = a.begin(); row != a.end(); ++row)
      for (auto block = row->begin(); block != row->end(); ++block)
        copy_.insert(copy_.end(), &(*block)[0][0], &(*block)[0][0] + bs * bs);
    values_ = copy_.data();
  }
  const double *get() const noexcept { return values_; }

private:
  const double *values_ = nullptr;
  std::vector<double> copy_;
};

/** Copies a matrix, with the errors of bisai_bcsr_create(). */
template <typename Matrix> matrix from_dune(const context &context, const Matrix &a) {
  static_assert(Matrix::block_type::rows == Matrix::block_type::cols, "blocks are square");
  static_assert(Matrix::block_type::rows <= BISAI_MAX_BLOCK_SIZE, "blocks are too large");
  std::vector<std::int32_t> row_ptr(1, 0), col_idx;
  row_ptr.reserve(a.N() + 1);
  col_idx.reserve(a.nonzeroes());
  if (a.nonzeroes() > INT32_MAX)
    throw error(BISAI_INDEX_OVERFLOW, "the matrix has more than 2147483647 blocks");
  for (auto row = a.begin(); row != a.end(); ++row) {
    for (auto block = row->begin(); block != row->end(); ++block)
      col_idx.push_back(static_cast<std::int32_t>(block.index()));
    row_ptr.push_back(static_cast<std::int32_t>(col_idx.size()));
  }
  const dune_values<Matrix> values(a);
  bisai_bcsr_desc desc = bisai_bcsr_desc_default();
  desc.block_rows = static_cast<std::int32_t>(a.N());
  desc.block_cols = static_cast<std::int32_t>(a.M());
  desc.block_size = Matrix::block_type::rows;
  desc.row_ptr = row_ptr.data();
  desc.col_idx = col_idx.data();
  desc.values = values.get();
  desc.layout = BISAI_ROW_MAJOR;
  return matrix(context, desc);
}

/** Takes new values of a matrix with the pattern of from_dune(), and throws if the number of its
 *  rows or blocks is another one. */
template <typename Matrix> void update_from_dune(matrix &held, const Matrix &a) {
  if (static_cast<std::int64_t>(a.nonzeroes()) != bisai_bcsr_blocks(held.get()) ||
      static_cast<std::int64_t>(a.N()) != bisai_bcsr_block_rows(held.get()))
    throw error(BISAI_INVALID_ARGUMENT, "the matrix has another pattern");
  held.update(dune_values<Matrix>(a).get(), BISAI_ROW_MAJOR);
}

/** Returns the values of a block vector, which lie in one piece. */
template <typename Vector> const double *values_of(const Vector &v) {
  return v.N() > 0 ? &v[0][0] : nullptr;
}
template <typename Vector> double *values_of(Vector &v) { return v.N() > 0 ? &v[0][0] : nullptr; }

/** bisai as a preconditioner for the solvers of DUNE. */
template <typename Matrix, typename Vector>
class dune_preconditioner : public Dune::Preconditioner<Vector, Vector> {
public:
  dune_preconditioner(const context &context, const Matrix &a, const std::string &text = "auto")
      : matrix_(from_dune(context, a)), precond_(matrix_, text) {}

  void pre(Vector &, Vector &) override {}
  /** Computes v ← M⁻¹ d. */
  void apply(Vector &v, const Vector &d) override {
    if (static_cast<std::int64_t>(v.dim()) != matrix_.columns() ||
        static_cast<std::int64_t>(d.dim()) != matrix_.rows())
      throw error(BISAI_INVALID_ARGUMENT, "a vector has another size than the matrix");
    precond_.apply(values_of(d), values_of(v));
  }
  void post(Vector &) override {}
  Dune::SolverCategory::Category category() const override {
    return Dune::SolverCategory::sequential;
  }
  /** Takes new values on the same pattern. */
  void update(const Matrix &a) {
    update_from_dune(matrix_, a);
    precond_.update(matrix_);
  }
  /** Returns the preconditioner. */
  const preconditioner &get() const noexcept { return precond_; }

private:
  matrix matrix_;
  preconditioner precond_;
};

/** bisai as a solver. As DUNE's own it starts from the x that is given, and reduces the norm of the
 *  defect b − A x. */
template <typename Matrix, typename Vector>
class dune_solver : public Dune::InverseOperator<Vector, Vector> {
public:
  /** @param reduction  of the defect, 0 ≤ reduction < 1 */
  dune_solver(const context &context, const Matrix &a, const std::string &precond = "auto",
              const std::string &method = "gmres", double reduction = 1e-8,
              int max_iterations = 10000)
      : matrix_(from_dune(context, a)), precond_(matrix_, precond), method_(method),
        max_iterations_(max_iterations), reduction_(reduction) {
    reserve(reduction);
  }

  void apply(Vector &x, Vector &b, Dune::InverseOperatorResult &res) override {
    apply(x, b, reduction_, res);
  }
  /** Solves A d = b − A x and adds d to x. b becomes the defect of the new x. */
  void apply(Vector &x, Vector &b, double reduction, Dune::InverseOperatorResult &res) override {
    if (static_cast<std::int64_t>(x.dim()) != matrix_.columns() ||
        static_cast<std::int64_t>(b.dim()) != matrix_.rows())
      throw error(BISAI_INVALID_ARGUMENT, "a vector has another size than the matrix");
    if (reduction != held_reduction_) reserve(reduction);
    Vector product(b), step(x);
    matrix_.multiply(values_of(x), values_of(product));
    b -= product;
    step = 0;
    last_ = solver_->solve(matrix_, values_of(b), values_of(step), &precond_);
    x += step;
    matrix_.multiply(values_of(step), values_of(product));
    b -= product;
    res.clear();
    res.iterations = last_.iterations;
    res.converged = static_cast<bool>(last_);
    res.reduction = last_.relative_residual;
    res.conv_rate =
        last_.iterations > 0 ? std::pow(last_.relative_residual, 1.0 / last_.iterations) : 0;
    res.elapsed = last_.solve_seconds;
  }
  Dune::SolverCategory::Category category() const override {
    return Dune::SolverCategory::sequential;
  }
  /** Takes new values on the same pattern. */
  void update(const Matrix &a) {
    update_from_dune(matrix_, a);
    precond_.update(matrix_);
  }
  /** Returns how the last solve ended; its message says why it has no solution. */
  const result &last() const noexcept { return last_; }

private:
  void reserve(double reduction) {
    bisai_solver_options options = bisai_solver_options_default();
    options.tolerance = reduction;
    options.max_iterations = max_iterations_;
    solver_ = std::make_unique<solver>(matrix_, method_, options);
    held_reduction_ = reduction;
  }

  matrix matrix_;
  preconditioner precond_;
  std::string method_;
  int max_iterations_;
  double reduction_, held_reduction_ = 0;
  std::unique_ptr<solver> solver_;
  result last_;
};

} // namespace bisai

#endif
