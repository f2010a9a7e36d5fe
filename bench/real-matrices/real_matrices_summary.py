#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Summarises the table of real matrices for the user guide.

usage: real_matrices_summary.py RESULTS.json

real_matrices.py writes RESULTS.json next to its table. For each method the summary has the number
of solved matrices, and the ratio of its iterations to those of ILU(0). A method solves a matrix if
it converges at one of the two block sizes, `auto` or that of the physics. The ratio is taken at the
first block size (`auto` before the physics) at which both the method and ILU(0) converge. Matrices
without such a size are not in the median.
"""

import statistics
import sys

sys.path.append(f"{sys.path[0]}/../common")
import real_matrices
import tables


def summary(results):
    """Rows (heading, solved matrices, compared matrices, median ratio of iterations to ILU(0))."""
    sizes = {}  # matrix: its results in the order of the runs, `auto` first
    for result in results:
        sizes.setdefault(result["matrix"]["name"], []).append(result["runs"])
    ilu = real_matrices.METHODS.index("ilu")
    for at, heading in enumerate(real_matrices.HEADINGS):
        solved = sum(any(runs[at]["converged"] for runs in tried) for tried in sizes.values())
        ratios = []
        for tried in sizes.values():
            both = [runs for runs in tried if runs[at]["converged"] and runs[ilu]["converged"]]
            if both:
                ratios.append(both[0][at]["iterations"] / both[0][ilu]["iterations"])
        yield heading, solved, len(ratios), statistics.median(ratios) if ratios else float("nan")


def main():
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    results = tables.read_json(sys.argv[1])
    expected = [method.split(":")[0] for method in real_matrices.METHODS]
    if any([run["method"] for run in result["runs"]] != expected for result in results):
        raise SystemExit(f"{sys.argv[1]} has other methods than those of real_matrices.py")
    print("| method | solved | compared | iterations over ILU(0)'s, median |\n|---|---|---|---|")
    for heading, solved, compared, median in summary(results):
        print(f"| {heading} | {solved} | {compared} | {median:.2f} |")


if __name__ == "__main__":
    main()
