#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Sums up the table of real matrices, as the user guide quotes it.

usage: real_matrices_summary.py RESULTS.json

RESULTS.json is what real_matrices.py wrote beside its table. For each method the summary has the
number of matrices that it solves, and its iterations over those of ILU(0). A method solves a matrix
if it converges at one of the block sizes that were tried, `auto` or that of the physics. Iterations
are compared at one block size: the first (`auto` before the physics) at which both the method and
ILU(0) converge. Matrices without such a size are left out of the median.
"""

import statistics
import sys

import real_matrices
import tables


def summary(results):
    """Rows (heading, matrices solved, matrices compared, median of iterations over ILU(0)'s)."""
    sizes = {}  # matrix: its results, `auto` first, as they were made
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
    print("| method | solved | compared | iterations over ILU(0)'s, median |\n|---|---|---|---|")
    for heading, solved, compared, median in summary(results):
        print(f"| {heading} | {solved} | {compared} | {median:.2f} |")


if __name__ == "__main__":
    main()
