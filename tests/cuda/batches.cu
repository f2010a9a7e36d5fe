/* SPDX-License-Identifier: BSD-3-Clause */
#include "batches.cuh"

#include <algorithm>

std::vector<int32_t> starts_of(const std::vector<int> &sizes) {
  std::vector<int32_t> start = {0};
  for (const int m : sizes) start.push_back(start.back() + m);
  return start;
}

std::vector<int> mixed(size_t count, int most) {
  std::vector<int> sizes(count);
  for (int &m : sizes) m = 1 + static_cast<int>((next_random() + 1.0) / 2.0 * most) % most;
  return sizes;
}

sparse with_blocks(const std::vector<int> &sizes, kind what, int bs) {
  const std::vector<int32_t> start = starts_of(sizes);
  sparse a;
  a.n = start.back(), a.bs = bs;
  std::vector<std::vector<std::pair<int32_t, double>>> rows(static_cast<size_t>(a.n));
  for (size_t b = 0; b < sizes.size(); b++) {
    const int m = sizes[b], shift = 1 + static_cast<int>(b) % 5;
    for (int r = 0; r < m; r++)
      for (int c = 0; c < m; c++) {
        double v = next_random();
        if (what == PERMUTED) /* no pivot is on the diagonal */
          v = c == (r + shift) % m ? 3.0 + v : r == c ? 0.0 : 0.1 * v;
        if (what == GRADED) v = (v + (r == c ? 2.0 : 0.0)) * std::pow(10.0, -0.4 * (r + c));
        if (what == SCALED) v *= std::pow(2.0, (r * 37 + static_cast<int>(b) * 11) % 200 - 100);
        if (what == DOMINANT) v += r == c ? 4.0 * m : 0.0;
        const bool last = r == m - 1 || c == m - 1;
        if (what == SPOILED || what == DEFICIENT) v += r == c ? 4.0 * m : 0.0;
        if (what == SPOILED && b % 5 == 4 && b > 40)
          v = 0.0;
        else if (what == SPOILED && b % 7 == 6 && m > 1 && last)
          v = r == c ? 1e-30 : 0.0; /* regular, and without a digit */
        if (what == DEFICIENT && b % 7 == 6 && m > 1 && r == m - 1)
          v = rows[static_cast<size_t>(start[b])][static_cast<size_t>(c)].second;
        rows[static_cast<size_t>(start[b] + r)].push_back({start[b] + c, v});
      }
  }
  for (int32_t i = 0; i < a.n; i++) { /* outside of the blocks */
    auto &row = rows[static_cast<size_t>(i)];
    const int32_t first = row.front().first, last = row.back().first;
    if (first > 3) row.insert(row.begin(), {first - 2 - i % 2, 0.5});
    if (last + 4 < a.n && i % 3) row.push_back({last + 1 + i % 3, -0.25});
  }
  for (int32_t i = 0; i < a.n / bs; i++) {
    std::vector<int32_t> columns;
    for (int r = 0; r < bs; r++)
      for (const auto &entry : rows[static_cast<size_t>(i * bs + r)])
        columns.push_back(entry.first / bs);
    std::sort(columns.begin(), columns.end());
    columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
    const size_t values = static_cast<size_t>(bs) * bs, first = a.values.size();
    a.values.resize(first + columns.size() * values, 0.0);
    for (int r = 0; r < bs; r++)
      for (const auto &entry : rows[static_cast<size_t>(i * bs + r)]) {
        const size_t k =
            std::lower_bound(columns.begin(), columns.end(), entry.first / bs) - columns.begin();
        a.values[first + k * values + static_cast<size_t>(entry.first % bs * bs + r)] =
            entry.second;
      }
    a.col.insert(a.col.end(), columns.begin(), columns.end());
    a.ptr.push_back(static_cast<int32_t>(a.col.size()));
  }
  return a;
}
