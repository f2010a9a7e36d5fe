/* SPDX-License-Identifier: BSD-3-Clause */
/** @file eigen.hpp
 *  bisai for Eigen 3.4: matrices, and a preconditioner that fits Eigen's iterative solvers.
 *
 *      Eigen::BiCGSTAB<Eigen::SparseMatrix<double>, bisai::eigen_preconditioner> solver;
 *      solver.preconditioner().set("ilu:level=1");
 *      solver.compute(A);
 *      x = solver.solve(b);
 *
 *  Row-major, compressed matrices with int as index are read in place; others are converted for the
 *  time of the call. Vectors that lie in one piece are not copied. */
#ifndef BISAI_EIGEN_HPP
#define BISAI_EIGEN_HPP

#include <optional>
#include <type_traits>

#include <Eigen/Core>
#include <Eigen/SparseCore>

#include <bisai/bisai.hpp>

namespace bisai {

/** What bisai reads of a matrix of Eigen. */
using eigen_rows = Eigen::SparseMatrix<double, Eigen::RowMajor, int>;

/** Describes the entries of a matrix, which must be compressed and outlive the description. */
inline bisai_csr_desc describe(const eigen_rows &a) {
  if (!a.isCompressed())
    throw error(BISAI_INVALID_ARGUMENT, "the matrix is not compressed: call makeCompressed()");
  bisai_csr_desc desc = bisai_csr_desc_default();
  desc.rows = static_cast<std::int32_t>(a.rows());
  desc.cols = static_cast<std::int32_t>(a.cols());
  desc.row_ptr = a.outerIndexPtr();
  desc.col_idx = a.innerIndexPtr();
  desc.values = a.valuePtr();
  return desc;
}

/** Copies a matrix into blocks.
 *  @param block_size  0: chosen, and nodes of any numbering are found */
inline matrix from_eigen(const context &context, const eigen_rows &a, int block_size = 0) {
  bisai_csr_desc desc = describe(a);
  desc.block_size = block_size;
  desc.pad = desc.rows == desc.cols;
  desc.find_nodes = desc.pad && block_size == 0;
  return matrix(context, desc);
}

/** Uses the arrays of a matrix in place, with blocks of size 1, on the host. The matrix must
 *  outlive the result, keep its structure, and be sorted, as Eigen's own are. */
inline matrix view_eigen(const context &context, const eigen_rows &a) {
  const bisai_csr_desc csr = describe(a);
  bisai_bcsr_desc desc = bisai_bcsr_desc_default();
  desc.block_rows = csr.rows;
  desc.block_cols = csr.cols;
  desc.block_size = 1;
  desc.row_ptr = csr.row_ptr;
  desc.col_idx = csr.col_idx;
  desc.values = csr.values;
  desc.ownership = BISAI_BORROW;
  return matrix(context, desc);
}

/** A preconditioner with what Eigen's iterative solvers call. Its failures are exceptions. */
class eigen_preconditioner {
public:
  using StorageIndex = int;
  enum { ColsAtCompileTime = Eigen::Dynamic, MaxColsAtCompileTime = Eigen::Dynamic };

  eigen_preconditioner() = default;
  template <typename Matrix> explicit eigen_preconditioner(const Matrix &a) { compute(a); }

  /** Chooses the method, before compute(). Default "auto". */
  eigen_preconditioner &set(const std::string &text, int block_size = 0) {
    text_ = text;
    block_size_ = block_size;
    precond_.reset();
    return *this;
  }
  /** Computes in another context than one on the host with all processors. */
  eigen_preconditioner &set(const context &context) {
    context_ = context;
    precond_.reset();
    return *this;
  }

  template <typename Matrix> eigen_preconditioner &analyzePattern(const Matrix &) {
    precond_.reset();
    return *this;
  }
  /** Sets up, or updates if the pattern was analyzed by an earlier call of the same. */
  template <typename Matrix> eigen_preconditioner &factorize(const Matrix &a) {
    const eigen_rows *rows = nullptr;
    eigen_rows converted;
    if constexpr (std::is_same_v<Matrix, eigen_rows>) {
      rows = &a;
    } else {
      converted = a;
      rows = &converted;
    }
    if (precond_) {
      matrix_->update(describe(*rows));
      precond_->update(*matrix_);
      return *this;
    }
    if (!context_) {
      bisai_context_options options = bisai_context_options_default();
      options.backend = BISAI_BACKEND_HOST;
      context_.emplace(options);
    }
    matrix_.emplace(from_eigen(*context_, *rows, block_size_));
    precond_.emplace(*matrix_, text_);
    return *this;
  }
  template <typename Matrix> eigen_preconditioner &compute(const Matrix &a) {
    return analyzePattern(a).factorize(a);
  }

  template <typename Vector>
  Eigen::Solve<eigen_preconditioner, Vector> solve(const Eigen::MatrixBase<Vector> &b) const {
    if (!precond_) throw error(BISAI_NOT_READY, "the preconditioner was not computed");
    if (b.rows() != rows())
      throw error(BISAI_INVALID_ARGUMENT, "b has " + std::to_string(b.rows()) + " rows, and " +
                                              std::to_string(rows()) + " are needed");
    return Eigen::Solve<eigen_preconditioner, Vector>(*this, b.derived());
  }
  /** What Solve evaluates, column by column. */
  template <typename Vector, typename Result> void _solve_impl(const Vector &b, Result &x) const {
    for (Eigen::Index c = 0; c < b.cols(); c++) {
      const Eigen::Ref<const Eigen::VectorXd> from(b.col(c));
      Eigen::VectorXd to(rows());
      if constexpr (std::is_same_v<Result, Eigen::VectorXd>) {
        if (x.data() != from.data()) {
          precond_->apply(from.data(), x.data());
          continue;
        }
      }
      precond_->apply(from.data(), to.data());
      x.col(c) = to;
    }
  }

  Eigen::ComputationInfo info() const { return precond_ ? Eigen::Success : Eigen::InvalidInput; }
  Eigen::Index rows() const { return precond_ ? precond_->rows() : 0; }
  Eigen::Index cols() const { return rows(); }
  /** Returns the preconditioner. */
  const preconditioner &get() const { return precond_.value(); }

private:
  std::string text_ = "auto";
  int block_size_ = 0;
  std::optional<context> context_;
  std::optional<matrix> matrix_;
  std::optional<preconditioner> precond_;
};

} // namespace bisai

#endif
