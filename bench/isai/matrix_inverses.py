#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares approximate inverses of the matrix itself with those of its factors.

usage: matrix_inverses.py BISAI MATRICES OUTPUT.md [--max-iterations N] [--threads N] [--at-once N]
       [--backend cuda] [--only NAME] [--least-rows N] [--repeats N] [--seconds N] [--total N]

BISAI is the program, and MATRICES is a folder of NAME.mtx[.xz] files. A right-hand side is the file
NAME_b if it exists, otherwise b = 1. Blocks are those that the program finds. CG solves the
symmetric systems, and GMRES(30) all others, to 1e-8. A system that takes more than --seconds is
left out, and none begins after --total seconds.
"""

import sys

sys.path.append(f"{sys.path[0]}/../common")
import tables

# METHOD, and its column
DEFINITE = (
    ("bjacobi", "block-Jacobi"), ("isai:symmetric", "NL, NLᵀ"),
    ("isai:symmetric:relax=1", "and a relaxation"), ("isai:of=matrix:symmetric", "of A"),
    ("isai:of=matrix:symmetric:k=2", "of A, k = 2"),
)
GENERAL = (
    ("ilu", "exact solves"), ("isai", "NL, NU"), ("isai:relax=1", "and a relaxation"),
    ("isai:of=matrix", "of A"), ("isai:of=matrix:k=2", "of A, k = 2"),
)


def measure(options, path):
    """Returns the program's document for the methods that fit the matrix, or None."""
    system = [str(path), "--rhs", tables.right_hand_side(path), "--tolerance", "1e-8"]
    for solver, methods in ("cg", DEFINITE), ("gmres", GENERAL):
        arguments = [*system, "--solver", solver]
        result, _ = tables.compare(options, arguments, [m for m, _ in methods], options.seconds)
        if result and (solver == "gmres" or any(run["converged"] for run in result["runs"])):
            return result
    return None


def is_definite(result):
    return result["solver"] == "cg"


def cell(run):
    """Returns the iterations of a run, and the milliseconds of set-up and solve."""
    if not run["converged"]:
        return tables.cell(run)
    return f"{run['iterations']}, {1e3 * run['setup_s']:.3g} + {1e3 * run['solve_s']:.3g}"


def wins(results, methods):
    """Yields a sentence for each column: on how many systems it converges, and is the fastest."""
    for at, (_, column) in enumerate(methods):
        there = [r["runs"][at] for r in results if r["runs"][at]["converged"]]
        fastest = sum(
            r["runs"][at]["converged"] and tables.seconds(r["runs"][at])
            == min(tables.seconds(run) for run in r["runs"] if run["converged"]) for r in results
        )
        yield f"{column} converges on {len(there)} and is the fastest on {fastest}"


def table(title, results, methods):
    shown = [r for r in results if any(run["converged"] for run in r["runs"])]
    yield from ["", f"## {title}", ""]
    yield (
        f"Systems on which one of these converges: {len(shown)}. {'; '.join(wins(shown, methods))}."
    )
    yield ""
    columns = [column for _, column in methods]
    yield from tables.heading("matrix", "block rows", "block size", *columns)
    for r in shown:
        m = r["matrix"]
        yield tables.row(m["name"], m["block_rows"], m["block_size"], *map(cell, r["runs"]))


def page(options, results, left_out):
    definite = [r for r in results if is_definite(r)]
    general = [r for r in results if not is_definite(r)]
    return [
        "# Approximate inverses of the matrix itself",
        "",
        *tables.made_by(options, results[0], "CG and GMRES(30), tolerance 1e-8"),
        "*Of A* is `isai:of=matrix`, for symmetric systems with `symmetric` (FSPAI), and its"
        " patterns are those of A or of the power k of its triangle. A cell has the iterations,"
        f" and the ms of set-up and solve, medians. {left_out}",
        *table("Symmetric systems, CG", definite, DEFINITE),
        *table("Other systems, GMRES(30)", general, GENERAL),
    ]


if __name__ == "__main__":
    tables.page_of_matrices(__doc__, "4000", measure, page)
