#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Counts iterations with blocks of neighbouring rows and with blocks of strongly coupled rows.

usage: strong_blocks.py BISAI MATRICES OUTPUT.md [--max-iterations N] [--threads N] [--at-once N]
       [--backend cuda] [--only NAME] [--least-rows N] [--repeats N] [--seconds N] [--total N]

BISAI is the program, and MATRICES is a folder of NAME.mtx[.xz] files. A right-hand side is the file
NAME_b if it exists, otherwise b = 1. IDR(4) solves each matrix as a scalar matrix to 1e-8. A matrix
that takes more than --seconds is left out, and none begins after --total seconds. With --repeats
the table has times, too.
"""

import sys

sys.path.append(f"{sys.path[0]}/../common")
import tables

BOUNDS = (4, 8, 16, 32)
METHODS = [f"bjacobi:max={m}{how}" for m in BOUNDS for how in ("", ":blocks=strength")]
CLOSE = 0.05  # a difference of at most this part counts as none


def measure(options, path):
    arguments = [
        str(path), "--block-size", "1", "--rhs", tables.right_hand_side(path), "--solver", "idr",
        "--tolerance", "1e-8"
    ]
    result, _ = tables.compare(options, arguments, METHODS, options.seconds)
    return result


def pairs(results, bound):
    """Returns (name, iterations, those with strong blocks) of a bound; None: no convergence."""
    at = 2 * BOUNDS.index(bound)
    found = []
    for result in results:
        runs = result["runs"][at : at + 2]
        counts = [run["iterations"] if run["converged"] else None for run in runs]
        found.append((result["matrix"]["name"], *counts))
    return found


def cell_of(options, runs):
    """Returns the iterations of a run with neighbouring rows and of one with strong blocks, and
    with repeats their milliseconds, set-up and solve."""
    text = " / ".join(str(run["iterations"]) if run["converged"] else "–" for run in runs)
    if options.repeats and any(run["converged"] for run in runs):
        times = [tables.seconds(run) if run["converged"] else None for run in runs]
        text += ", " + " / ".join(f"{1e3 * t:.3g}" if t else "–" for t in times)
    return text


def faster(results, bound):
    """Returns on how many matrices strong blocks take less time, if both converge."""
    at = 2 * BOUNDS.index(bound)
    runs = [result["runs"][at : at + 2] for result in results]
    both = [(near, strong) for near, strong in runs if near["converged"] and strong["converged"]]
    return sum(tables.seconds(strong) < tables.seconds(near) for near, strong in both)


def summary(options, results):
    times = ["less time"] if options.repeats else []
    yield from tables.heading(
        "", "both converge", "fewer", "as many (5 %)", "more", "median of the ratio",
        "only neighbouring", "only strong", *times
    )
    for bound in BOUNDS:
        found = pairs(results, bound)
        both = sorted(strong / near for _, near, strong in found if near and strong)
        fewer = sum(ratio < 1 - CLOSE for ratio in both)
        more = sum(ratio > 1 + CLOSE for ratio in both)
        yield tables.row(
            f"max={bound}", len(both), fewer,
            len(both) - fewer - more, more, f"{both[len(both) // 2]:.2f}" if both else "–",
            sum(1 for _, near, strong in found if near and not strong),
            sum(1 for _, near, strong in found if strong and not near),
            *([faster(results, bound)] if times else [])
        )


def page(options, results, left_out):
    times = "Times are medians, of set-up and solve, in ms. " if options.repeats else ""
    shown = [r for r in results if any(run["converged"] for run in r["runs"])]
    lines = [
        "# Block-Jacobi with blocks of strongly coupled rows",
        "",
        *tables.made_by(options, results[0], "IDR(4), tolerance 1e-8, every matrix in scalar rows"),
        "A cell has the iterations with blocks of neighbouring rows (`bjacobi:max=N`), and with"
        " blocks of strongly coupled rows (`:blocks=strength`). A dash is a run that does not"
        f" converge. {times}{left_out}",
        "",
        *summary(options, results),
        "",
        *tables.heading("matrix", "rows", *(f"max={m}" for m in BOUNDS)),
    ]
    for result in shown:
        starts = [2 * i for i in range(len(BOUNDS))]
        cells = [cell_of(options, result["runs"][at : at + 2]) for at in starts]
        lines.append(
            tables.row(result["matrix"]["name"], result["matrix"]["block_rows"], *cells)
        )
    none = [r["matrix"]["name"] for r in results if r not in shown]
    if none:
        lines += ["", f"No method converges on {', '.join(f'`{name}`' for name in none)}."]
    return lines


if __name__ == "__main__":
    tables.page_of_matrices(__doc__, "4000", measure, page)
