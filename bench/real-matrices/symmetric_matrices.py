#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Solves every symmetric definite real matrix by CG with every method that CG accepts.

usage: symmetric_matrices.py BISAI MATRICES OUTPUT.md [--max-iterations N] [--threads N]
       [--backend cuda] [--only NAME]

BISAI is the program, and MATRICES is a folder of NAME.mtx[.xz] files. A right-hand side is the file
NAME_b if it exists, otherwise b = 1. Solutions NAME_x are not used. The initial guess is x0 = 0 and
the tolerance is 1e-8. The table has iteration counts. It omits matrices that the program finds not
symmetric. It names matrices for which a method found a direction of negative curvature, because
these are not definite.
"""

import sys

sys.path.append(f"{sys.path[0]}/../common")
import tables

METHODS = [
    "none", "bjacobi", "ilu", "isai:k=1:symmetric", "isai:k=2:symmetric", "isai:k=3:symmetric",
    "isai:symmetric:relax=1", "mg"
]
HEADINGS = [
    "none", "block-Jacobi", "ILU(0)", "symmetric ISAI(1)", "symmetric ISAI(2)", "symmetric ISAI(3)",
    "symmetric ISAI(1) + 1 relax", "multigrid"
]
LIMIT = 1e-10  # BISAI_SYMMETRY_LIMIT


def systems(options):
    """Yields (name, path, block size) for `auto` and, if it differs, the size of the physics."""
    for name, path in tables.matrices(options):
        yield name, path, "auto"
        if name in tables.NATURAL:
            yield name, path, tables.NATURAL[name]


def is_indefinite(result):
    return any("matrix is not definite" in (run["breakdown"] or "") for run in result["runs"])


def ratios(results, column):
    """Returns the sorted ratios of iterations to those of ILU(0), if both converged."""
    pairs = [(result["runs"][column], result["runs"][2]) for result in results]
    return sorted(
        one["iterations"] / ilu["iterations"]
        for one, ilu in pairs
        if one["converged"] and ilu["converged"]
    )


def summary(results):
    yield from tables.heading("", *HEADINGS)
    yield tables.row(
        "converged",
        *(sum(result["runs"][m]["converged"] for result in results) for m in range(len(METHODS))),
    )
    middle = (ratios(results, m) for m in range(len(METHODS)))
    yield tables.row(
        "iterations over ILU(0)'s, median", *(f"{r[len(r) // 2]:.2f}" if r else "–" for r in middle)
    )


def main():
    options = tables.parser(__doc__, "3000").parse_args()
    lines = tables.heading(*tables.MATRIX_COLUMNS, *HEADINGS)
    results, indefinite, seen = [], [], set()

    def solve(job):
        """Returns all runs; only a few for a matrix that CG does not solve; None if refused."""
        _, path, block_size = job
        system = [*tables.system_of(path, block_size), "--solver", "cg"]
        result, _ = tables.compare(options, system, METHODS[:2])
        if result is None or result["matrix"]["asymmetry"] > LIMIT or is_indefinite(result):
            return result
        return tables.compare(options, system, METHODS)[0]

    jobs = list(systems(options))
    solved = tables.each(options, solve, jobs, lambda job: tables.size_of(job[1]))
    for (name, *_), result in zip(jobs, solved):
        if (
            result is None
            or result["matrix"]["asymmetry"] > LIMIT
            or (name, result["matrix"]["block_size"]) in seen
        ):
            continue
        seen.add((name, result["matrix"]["block_size"]))
        if len(result["runs"]) < len(METHODS):
            indefinite.append(f"`{name}`")
            continue
        results.append(result)
        lines.append(tables.matrix_row(result))
    if not results:
        raise SystemExit(f"{options.matrices} holds no symmetric definite matrix")
    tables.write(
        options.output,
        [
            "# Conjugate gradients on symmetric definite real matrices",
            "",
            *tables.made_by(options, results[0], "CG, tolerance 1e-8"),
            tables.REASONS,
            "",
            "Symmetric ISAI is NLᵀ D⁻¹ NL, the key `isai:symmetric`: half the inverse blocks of"
            " ISAI of the same k. Multigrid inverts matrices that are small enough, and is then a"
            " direct solver.",
            "",
            *summary(results),
            "",
            *lines,
            "",
            (
                "Symmetric and left out, as A is not definite:"
                f" {', '.join(sorted(set(indefinite)))}."
                if indefinite
                else ""
            ),
        ],
        results,
    )


if __name__ == "__main__":
    main()
