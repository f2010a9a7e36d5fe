/* SPDX-License-Identifier: BSD-3-Clause */
/* Vectors and values of the caller in device memory that begin at an odd multiple of 8 bytes, where
 * a device cannot load words of 16 bytes: every kind, every solver. The bits are those of vectors
 * that begin at a multiple of 16. */
#include <bisai/bisai.h>

#include <string>

#include "device.cuh"

namespace {

enum { SIDE = 8, ROWS = SIDE * SIDE, MANY = 3, COARSEST = 10 };

/* Numbers in device memory, `before` values beyond a multiple of 256 bytes. */
struct placed {
  const int before;
  const device_array<double> room;
  double *const data;
  placed(int offset, const std::vector<double> &from)
      : before(offset), room(behind(offset, from)), data(room.data + offset) {}
  std::vector<double> fetch() const {
    const std::vector<double> all = room.fetch();
    return std::vector<double>(all.begin() + before, all.end());
  }

private:
  static std::vector<double> behind(int offset, const std::vector<double> &from) {
    std::vector<double> all(offset, NAN);
    all.insert(all.end(), from.begin(), from.end());
    return all;
  }
};

/* A symmetric matrix on a 5-point grid, whose diagonal dominates. */
struct problem {
  int bs;
  std::vector<int32_t> row_ptr{0}, col_idx;
  /* x: several vectors, ld values apart; storage: derivatives for the weights of CPR */
  std::vector<double> values, x, storage;
  explicit problem(int block_size)
      : bs(block_size), x(random_vector(MANY * ld())), storage(random_vector(scalars() * bs)) {
    for (int32_t i = 0; i < ROWS; i++) {
      const int32_t x = i % SIDE, y = i / SIDE;
      for (const int32_t j : {y > 0 ? i - SIDE : -1, x > 0 ? i - 1 : -1, i,
                              x < SIDE - 1 ? i + 1 : -1, y < SIDE - 1 ? i + SIDE : -1})
        if (j >= 0) add(i, j);
      row_ptr.push_back(static_cast<int32_t>(col_idx.size()));
    }
  }
  int scalars() const { return ROWS * bs; }
  /* odd: vectors of several begin at odd and at even multiples */
  int64_t ld() const { return scalars() | 1; }

private:
  void add(int32_t i, int32_t j) {
    col_idx.push_back(j);
    for (int c = 0; c < bs; c++)
      for (int r = 0; r < bs; r++) {
        const int row = i * bs + r, col = j * bs + c;
        const double noise = std::cos(row + col) / (8.0 * bs);
        values.push_back(row == col ? 5.0 : r == c ? -1.0 : noise);
      }
  }
};

/* A preconditioner with a label for messages. */
struct choice {
  std::string label;
  bisai_precond_options options;
};

choice of_kind(bisai_precond_kind kind, const std::string &label) {
  choice c = {label, bisai_precond_options_default()};
  c.options.kind = kind;
  return c;
}

void add_blocks(std::vector<choice> *all) {
  for (int form = 0; form < 4; form++) {
    all->push_back(of_kind(BISAI_PRECOND_BJACOBI, "bjacobi, form " + std::to_string(form)));
    all->back().options.bjacobi.form = static_cast<bisai_form>(form);
    all->push_back(all->back());
    all->back().label += ", larger blocks";
    all->back().options.bjacobi.max_block = 20;
  }
  for (const bisai_value_type type : {BISAI_FP32, BISAI_FP16, BISAI_ADAPTIVE}) {
    all->push_back(of_kind(BISAI_PRECOND_BJACOBI, bisai_value_type_string(type)));
    all->back().options.bjacobi.storage = type;
  }
  all->push_back(of_kind(BISAI_PRECOND_BJACOBI, "bjacobi with sweeps"));
  all->back().options.bjacobi.relax = 2;
}

void add_factors(std::vector<choice> *all) {
  for (const bisai_schedule schedule : {BISAI_SCHEDULE_SERIAL, BISAI_SCHEDULE_LEVELS}) {
    all->push_back(of_kind(BISAI_PRECOND_ILU, "ilu"));
    all->back().options.ilu.schedule = schedule;
  }
  all->push_back(of_kind(BISAI_PRECOND_SWEEPS, "sweeps"));
  for (const bool symmetric : {false, true}) {
    all->push_back(of_kind(BISAI_PRECOND_ISAI, symmetric ? "isai, symmetric" : "isai"));
    all->back().options.isai.power = 2, all->back().options.isai.relax = 1;
    all->back().options.isai.symmetric = symmetric;
  }
  all->push_back(of_kind(BISAI_PRECOND_ISAI, "isai, reordered, in fp32"));
  all->back().options.isai.storage = BISAI_FP32;
  all->back().options.factor.ordering = BISAI_ORDERING_RCM;
  all->back().options.factor.equilibrate = true;
}

void add_levels(int bs, const double *storage, std::vector<choice> *all) {
  for (int s = BISAI_SMOOTHER_JACOBI; s <= BISAI_SMOOTHER_ILU; s++) {
    const bisai_smoother smoother = static_cast<bisai_smoother>(s);
    all->push_back(
        of_kind(BISAI_PRECOND_MULTIGRID, "mg, " + std::string(bisai_smoother_string(smoother))));
    all->back().options.multigrid.smoother = smoother;
    all->back().options.multigrid.coarsest = COARSEST;
  }
  all->push_back(of_kind(BISAI_PRECOND_MULTIGRID, "mg, two products"));
  all->back().options.multigrid.unweighted = true;
  all->back().options.multigrid.coarsest = COARSEST;
  for (int second = BISAI_CPR_SECOND_STAGE_ISAI; second <= BISAI_CPR_SECOND_STAGE_BJACOBI && bs > 1;
       second++) {
    all->push_back(of_kind(BISAI_PRECOND_CPR, "cpr, second stage " + std::to_string(second)));
    all->back().options.cpr.second = static_cast<bisai_cpr_second_stage>(second);
    all->back().options.cpr.storage = second % 2 ? storage : nullptr;
    all->back().options.multigrid.coarsest = COARSEST;
  }
}

/* Everything that a context computes, with labels. All vectors and values begin `offset` values
 * beyond a multiple of 256 bytes, but the values of even blocks, which no device borrows there. */
class everything {
public:
  std::vector<std::string> labels;
  std::vector<std::vector<double>> results;
  everything(const problem &of, int offset_)
      : p(of), offset(offset_), n(of.scalars()), ptr(of.row_ptr), idx(of.col_idx),
        values(of.bs % 2 ? offset_ : 0, of.values), x(offset_, of.x),
        y(offset_, std::vector<double>(of.x.size(), NAN)) {
    bisai_bcsr_desc desc = bisai_bcsr_desc_default();
    desc.block_rows = desc.block_cols = ROWS, desc.block_size = p.bs;
    desc.row_ptr = ptr.data, desc.col_idx = idx.data, desc.values = values.data;
    desc.location = BISAI_DEVICE, desc.ownership = BISAI_BORROW;
    check(bisai_bcsr_create(device, &desc, &lent), "borrowed arrays");
    desc.ownership = BISAI_COPY;
    check(bisai_bcsr_create(device, &desc, &copied), "copied arrays");
    if (lent && copied) compute();
    bisai_bcsr_destroy(&lent);
    bisai_bcsr_destroy(&copied);
  }
  everything(const everything &) = delete;

private:
  const problem &p;
  const int offset, n;
  const context_on device{BISAI_BACKEND_CUDA};
  const device_array<int32_t> ptr, idx;
  const placed values, x, y;
  bisai_bcsr *lent = nullptr, *copied = nullptr;

  void check(bisai_status status, const std::string &label) const {
    verdict(status == BISAI_OK, "blocks of %d rows, %d values further: %s: %s", p.bs, offset,
            label.c_str(), bisai_context_error(device));
  }
  void keep(bisai_status status, const std::string &label) {
    if (!status) status = bisai_context_synchronize(device);
    check(status, label);
    labels.push_back(label);
    results.push_back(y.fetch());
  }
  void compute() {
    keep(bisai_bcsr_multiply(lent, x.data, y.data), "product");
    keep(bisai_bcsr_multiply_many(lent, MANY, x.data, p.ld(), y.data, p.ld()), "products");
    const placed same(offset, p.values), storage(offset, p.storage);
    keep(bisai_bcsr_update(copied, same.data, BISAI_ROW_MAJOR), "new values");
    keep(bisai_bcsr_multiply(copied, x.data, y.data), "product with new values");
    std::vector<choice> all = {of_kind(BISAI_PRECOND_NONE, "none")};
    add_blocks(&all);
    add_factors(&all);
    add_levels(p.bs, storage.data, &all);
    for (const choice &c : all) precondition(c);
  }
  void precondition(const choice &c) {
    bisai_precond *precond = nullptr;
    double factor = 0.0;
    check(bisai_precond_create(device, lent, &c.options, &precond), c.label);
    if (!precond) return;
    keep(bisai_precond_apply(precond, x.data, y.data), c.label);
    keep(bisai_precond_update(precond, lent), c.label + ", update");
    keep(bisai_precond_apply_many(precond, MANY, x.data, p.ld(), y.data, p.ld()),
         c.label + ", many");
    keep(bisai_precond_error_factor(precond, lent, &factor), c.label + ", error factor");
    for (int method = 0; method < BISAI_METHODS; method++)
      solve(c, precond, static_cast<bisai_method>(method), false);
    solve(c, precond, BISAI_GMRES, true);
    bisai_precond_destroy(&precond);
  }
  /* y holds the initial guess. */
  void solve(const choice &c, bisai_precond *precond, bisai_method method, bool left) {
    bisai_solver_options options = bisai_solver_options_default();
    options.method = method, options.max_iterations = 5;
    options.use_initial_guess = true;
    options.cg.assume_symmetric = true;
    if (left) options.gmres.side = BISAI_LEFT;
    CHECK(cudaMemcpy(y.data, x.data + p.ld(), n * sizeof(double), cudaMemcpyDefault));
    CHECK(cudaDeviceSynchronize());
    bisai_solver *solver = nullptr;
    const std::string label =
        c.label + ", " + bisai_method_string(method) + (left ? " from the left" : "");
    check(bisai_solver_create(device, n, &options, &solver), label);
    if (!solver) return;
    bisai_status status = bisai_solver_solve(solver, lent, precond, x.data, y.data, nullptr);
    /* few iterations suffice to load everything */
    if (status == BISAI_MAX_ITERATIONS || status == BISAI_BREAKDOWN || status == BISAI_STAGNATED)
      status = BISAI_OK;
    keep(status, label);
    bisai_solver_destroy(&solver);
  }
};

} // namespace

TEST(vectors_and_values_may_begin_at_odd_multiples_of_8_bytes) {
  for (const int bs : {1, 2, 3, 4, 5, 7, 8, 9, 17}) {
    if (short_form() && bs != 1 && bs != 3 && bs != 4) continue;
    const problem p(bs);
    const everything even(p, 0), odd(p, 1);
    verdict(even.labels == odd.labels, "blocks of %d rows: the same is computed", bs);
    for (size_t k = 0; k < even.results.size() && k < odd.results.size(); k++) {
      size_t differ = 0;
      for (size_t i = 0; i < even.results[k].size(); i++) {
        const double a = even.results[k][i], b = odd.results[k][i];
        differ += a != b && !(std::isnan(a) && std::isnan(b));
      }
      verdict(differ == 0, "blocks of %d rows, %s: %d values differ", bs, even.labels[k].c_str(),
              static_cast<int>(differ));
    }
  }
}
