/* SPDX-License-Identifier: BSD-3-Clause */
/** @file bisai.hpp
 *  bisai for C++17: handles that own their objects, and exceptions.
 *
 *      bisai::context context;
 *      bisai::matrix A(context, desc);                       // bisai_bcsr_desc or bisai_csr_desc
 *      bisai::preconditioner M(A, "mg:cycle=w");
 *      bisai::solver gmres(A, "gmres:restart=60");
 *      bisai::result how = gmres.solve(A, b, x, &M);
 *      if (!how) std::cerr << how.message << '\n';
 *
 *  Handles are shared like std::shared_ptr: a copy refers to the same object, and an object keeps
 *  alive what it was made of, so that handles may end in any order. Set-ups, updates and products
 *  that fail throw bisai::error. A solve that ends without a solution is a result, whose `status`
 *  and `message` say why; wrong arguments of a solve throw.
 *
 *  Vectors are arrays in the caller's numbering, of rows() values. They are not copied unless the
 *  blocks have another order of rows, or padding. One thread at a time uses a context and what was
 *  made with it. bisai/eigen.hpp and bisai/dune.hpp adapt matrices and solvers of Eigen and
 *  DUNE-ISTL. */
#ifndef BISAI_BISAI_HPP
#define BISAI_BISAI_HPP

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <bisai/bisai.h>

namespace bisai {

/** A call failed. what() names the row, block, value or option. */
class error : public std::runtime_error {
public:
  error(bisai_status status, const std::string &message)
      : std::runtime_error(message.empty() ? bisai_status_string(status) : message),
        status_(status) {}
  /** never BISAI_OK */
  bisai_status status() const noexcept { return status_; }

private:
  bisai_status status_;
};

/** Owns a bisai_context. */
class context {
public:
  /** @param options  default: a GPU if there is one, otherwise the host with all processors */
  explicit context(const bisai_context_options &options = bisai_context_options_default()) {
    bisai_context *made = nullptr;
    const bisai_status status = bisai_context_create(&options, &made);
    if (status) throw error(status, "");
    handle_.reset(made, [](bisai_context *c) { bisai_context_destroy(&c); });
  }
  /** Returns the context of C. */
  bisai_context *get() const noexcept { return handle_.get(); }
  /** Returns the message of the last failure. */
  std::string message() const { return bisai_context_error(get()); }
  /** Throws unless a call of C has succeeded. */
  void check(bisai_status status) const {
    if (status) throw error(status, message());
  }

private:
  std::shared_ptr<bisai_context> handle_;
};

class matrix;
struct result;
inline result solve(const matrix &a, const double *b, double *x,
                    const bisai_solve_options *options = nullptr);

/** Owns a bisai_bcsr. */
class matrix {
public:
  /** Makes a matrix of blocks, with the errors of bisai_bcsr_create(). With BISAI_BORROW the arrays
   *  are used in place. */
  matrix(const bisai::context &context, const bisai_bcsr_desc &desc) : context_(context) {
    bisai_bcsr *made = nullptr;
    context_.check(bisai_bcsr_create(context_.get(), &desc, &made));
    own(made);
    rows_ = static_cast<std::int64_t>(desc.block_rows) * desc.block_size;
    columns_ = static_cast<std::int64_t>(desc.block_cols) * desc.block_size;
  }
  /** Makes a matrix of single entries, with the errors of bisai_bcsr_from_csr(). */
  matrix(const bisai::context &context, const bisai_csr_desc &desc) : context_(context) {
    bisai_bcsr *made = nullptr;
    context_.check(bisai_bcsr_from_csr(context_.get(), &desc, &made));
    own(made);
    rows_ = desc.rows;
    columns_ = desc.cols;
    if (desc.rows == desc.cols) reserve_moves();
  }
  /** Returns the matrix of C. */
  bisai_bcsr *get() const noexcept { return handle_.get(); }
  const bisai::context &context() const noexcept { return context_; }
  /** Returns the values of b and of x. */
  std::int64_t rows() const noexcept { return rows_; }
  std::int64_t columns() const noexcept { return columns_; }
  std::int32_t block_size() const noexcept { return bisai_bcsr_block_size(get()); }

  /** Takes new blocks, with the errors of bisai_bcsr_update(). */
  void update(const void *values, bisai_layout layout = BISAI_COLUMN_MAJOR) {
    context_.check(bisai_bcsr_update(get(), values, layout));
  }
  /** Takes new entries, with the errors of bisai_bcsr_update_from_csr(). */
  void update(const bisai_csr_desc &desc) {
    context_.check(bisai_bcsr_update_from_csr(get(), &desc));
  }
  /** Computes y ← A x. */
  void multiply(const double *x, double *y) const {
    const double *from = to_blocks(x, moves_->from);
    double *to = moves_->to.empty() ? y : moves_->to.data();
    context_.check(bisai_bcsr_multiply(get(), from, to));
    from_blocks(to, y);
  }

private:
  friend class preconditioner;
  friend class solver;
  friend result solve(const matrix &, const double *, double *, const bisai_solve_options *);
  /* vectors in the order of the blocks; empty if that is the caller's */
  struct moves {
    std::vector<double> from, to;
  };

  void own(bisai_bcsr *made) {
    /* The context is kept, because it must end last. */
    handle_.reset(made, [keep = context_](bisai_bcsr *a) { bisai_bcsr_destroy(&a); });
    moves_ = std::make_shared<moves>();
  }
  std::int64_t held_rows() const noexcept {
    return static_cast<std::int64_t>(bisai_bcsr_block_rows(get())) * block_size();
  }
  void reserve_moves() {
    std::vector<std::int32_t> place(static_cast<std::size_t>(rows_));
    context_.check(bisai_bcsr_places(get(), place.data()));
    bool same = held_rows() == rows_;
    for (std::size_t i = 0; same && i < place.size(); i++)
      same = place[i] == static_cast<std::int32_t>(i);
    if (same) return;
    moves_->from.resize(static_cast<std::size_t>(held_rows()));
    moves_->to.resize(static_cast<std::size_t>(held_rows()));
  }
  const double *to_blocks(const double *x, std::vector<double> &memory, int width = 1) const {
    if (moves_->from.empty()) return x;
    context_.check(bisai_bcsr_to_blocks(get(), width, x, memory.data()));
    return memory.data();
  }
  /* Where the library writes what becomes x. */
  double *begin_at(double *x) const {
    return moves_->to.empty() ? x : const_cast<double *>(to_blocks(x, moves_->to));
  }
  void from_blocks(const double *held, double *x) const {
    if (held != x) context_.check(bisai_bcsr_from_blocks(get(), 1, held, x));
  }

  bisai::context context_;
  std::shared_ptr<bisai_bcsr> handle_;
  std::shared_ptr<moves> moves_;
  std::int64_t rows_ = 0, columns_ = 0;
};

/** Owns a bisai_precond. */
class preconditioner {
public:
  /** Sets up a preconditioner, with the errors of bisai_precond_create_text().
   *  @param text          for example "mg:cycle=w", "ilu:level=1" or "auto"
   *  @param null_vectors  near-null-space vectors of multigrid: null_count values for each row */
  explicit preconditioner(const matrix &a, const std::string &text = "auto",
                          const double *null_vectors = nullptr, int null_count = 0)
      : matrix_(a) {
    bisai_precond_options options = bisai_precond_options_default();
    bisai_text_fault fault = {};
    if (bisai_precond_options_parse(text.c_str(), &options, nullptr, &fault))
      throw error(BISAI_INVALID_ARGUMENT, "'" + text + "', character " +
                                              std::to_string(fault.place + 1) + ": " +
                                              fault.message);
    std::vector<double> held(null_vectors && !a.moves_->from.empty()
                                 ? static_cast<std::size_t>(a.held_rows() * null_count)
                                 : 0);
    options.multigrid.null_vectors =
        null_vectors ? a.to_blocks(null_vectors, held, null_count) : nullptr;
    options.multigrid.null_count = null_count;
    create(options);
  }
  /** The same with options of C. */
  preconditioner(const matrix &a, const bisai_precond_options &options) : matrix_(a) {
    create(options);
  }
  /** Returns the preconditioner of C. */
  bisai_precond *get() const noexcept { return handle_->precond; }
  std::int64_t rows() const noexcept { return matrix_.rows(); }

  /** Takes new values on the same pattern, with the errors of bisai_precond_update(). */
  void update(const matrix &a) {
    a.context().check(bisai_precond_update(get(), a.get()));
    handle_->keep = a.handle_;
    matrix_ = a;
  }
  /** Computes z ← M⁻¹ v. */
  void apply(const double *v, double *z) const {
    const double *from = matrix_.to_blocks(v, matrix_.moves_->from);
    double *to = matrix_.moves_->to.empty() ? z : matrix_.moves_->to.data();
    matrix_.context().check(bisai_precond_apply(get(), from, to));
    matrix_.from_blocks(to, z);
  }
  /** Computes z ← M⁻ᵀ v, with the errors of bisai_precond_apply_transpose(). */
  void apply_transpose(const double *v, double *z) const {
    const double *from = matrix_.to_blocks(v, matrix_.moves_->from);
    double *to = matrix_.moves_->to.empty() ? z : matrix_.moves_->to.data();
    matrix_.context().check(bisai_precond_apply_transpose(get(), from, to));
    matrix_.from_blocks(to, z);
  }
  /** Returns what it is and what it cost. */
  bisai_precond_report report() const {
    bisai_precond_report made = {};
    made.struct_size = sizeof made;
    matrix_.context().check(bisai_precond_get_report(get(), &made));
    return made;
  }
  /** Returns a description in one line. */
  std::string describe() const { return bisai_precond_describe(get()); }

private:
  /* The matrix may be read by applications. */
  struct owned {
    bisai::context context;
    std::shared_ptr<bisai_bcsr> keep;
    bisai_precond *precond = nullptr;
    owned(const bisai::context &c, std::shared_ptr<bisai_bcsr> a)
        : context(c), keep(std::move(a)) {}
    owned(const owned &) = delete;
    owned &operator=(const owned &) = delete;
    ~owned() { bisai_precond_destroy(&precond); }
  };

  void create(const bisai_precond_options &options) {
    handle_ = std::make_shared<owned>(matrix_.context(), matrix_.handle_);
    matrix_.context().check(
        bisai_precond_create(matrix_.context().get(), matrix_.get(), &options, &handle_->precond));
  }

  matrix matrix_;
  std::shared_ptr<owned> handle_;
};

/** How a solve ended. */
struct result {
  /** BISAI_OK if x satisfies the tolerance; BISAI_MAX_ITERATIONS, BISAI_STAGNATED, BISAI_BREAKDOWN,
   *  BISAI_STOPPED: x is the best that was found */
  bisai_status status = BISAI_OK;
  /** why there is no solution; empty if there is one */
  std::string message;
  int iterations = 0;
  /** ‖b − A x‖₂/‖b‖₂ */
  double relative_residual = 0;
  double solve_seconds = 0;

  /** Returns the result of a call of C; throws if it has none. */
  static result of(const context &c, bisai_status status, int iterations, double residual,
                   double seconds) {
    const result how = {status, status ? c.message() : std::string(), iterations, residual,
                        seconds};
    if (status && (status < BISAI_MAX_ITERATIONS || status > BISAI_STOPPED))
      throw error(status, how.message);
    return how;
  }
  /** true: x is a solution */
  explicit operator bool() const noexcept { return status == BISAI_OK; }
};

/** Owns a bisai_solver. */
class solver {
public:
  /** Reserves the memory of a method, with the errors of bisai_solver_create_text().
   *  @param text     for example "gmres:restart=60", "cg" or "idr:s=8"
   *  @param options  tolerance, iterations, guess and monitor; the text has the method */
  explicit solver(const matrix &a, const std::string &text = "gmres",
                  bisai_solver_options options = bisai_solver_options_default())
      : context_(a.context()), held_rows_(a.held_rows()) {
    bisai_text_fault fault = {};
    if (bisai_solver_options_parse(text.c_str(), &options, &fault))
      throw error(BISAI_INVALID_ARGUMENT, "'" + text + "', character " +
                                              std::to_string(fault.place + 1) + ": " +
                                              fault.message);
    bisai_solver *made = nullptr;
    context_.check(bisai_solver_create(context_.get(), held_rows_, &options, &made));
    handle_.reset(made, [keep = context_](bisai_solver *s) { bisai_solver_destroy(&s); });
  }
  /** Returns the solver of C. */
  bisai_solver *get() const noexcept { return handle_.get(); }

  /** Solves A x = b.
   *  @param m  nullptr: no preconditioner
   *  @throws error  wrong arguments, as NaN in b */
  result solve(const matrix &a, const double *b, double *x, const preconditioner *m = nullptr) {
    if (a.held_rows() != held_rows_ || (m && m->rows() != a.rows()))
      throw error(BISAI_INVALID_ARGUMENT,
                  "the matrix has another size than the solver or the preconditioner");
    const double *from = a.to_blocks(b, a.moves_->from);
    double *to = a.begin_at(x);
    bisai_solver_report report = {};
    report.struct_size = sizeof report;
    const bisai_status status =
        bisai_solver_solve(get(), a.get(), m ? m->get() : nullptr, from, to, &report);
    const result how = result::of(context_, status, report.iterations, report.relative_residual,
                                  report.solve_seconds);
    a.from_blocks(to, x);
    return how;
  }

private:
  bisai::context context_;
  std::int64_t held_rows_;
  std::shared_ptr<bisai_solver> handle_;
};

/** Solves A x = b with a preconditioner and a method that are chosen, as bisai_solve() does.
 *  @param options  nullptr: the defaults; near-null-space vectors in it are in the order of the
 *                  blocks
 *  @throws error  as of solver::solve() */
inline result solve(const matrix &a, const double *b, double *x,
                    const bisai_solve_options *options) {
  const double *from = a.to_blocks(b, a.moves_->from);
  double *to = a.begin_at(x);
  bisai_solve_report report = {};
  report.struct_size = sizeof report;
  const bisai_status status = bisai_solve(a.context().get(), a.get(), from, to, options, &report);
  const result how = result::of(a.context(), status, report.solver.iterations,
                                report.solver.relative_residual, report.seconds);
  a.from_blocks(to, x);
  return how;
}

} // namespace bisai

#endif
