#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes the cost of iterations and set-up on the CPU, with lower bounds and PETSc's times.

usage: cpu_speed.py OUTPUT.md FIGURES.json…

`bench_operations --block-size BS --json FIGURES.json` writes each FIGURES.json, all on the same
machine. The page begins with the limits that bisai must meet.
"""

import pathlib
import sys

sys.path.append(f"{sys.path[0]}/../common")
from tables import heading, read_json, recorded, row, write

OPERATIONS = {  # operation of bisai: operation of PETSc
    "block product": "PETSc MatMult",
    "ILU(0), numeric": "PETSc MatLUFactorNumeric",
    "ILU(0), symbolic and numeric": "PETSc symbolic and numeric",
    "patterns, k = 1": None,
    "ISAI values, k = 1": None,
    "ISAI set-up, k = 1": None,
    "triangular solves, in order": "PETSc MatSolve",
    "triangular solves, by levels": "PETSc MatSolve",
    "ISAI application, k = 1": None,
    "GMRES(30), exact solves": "PETSc KSPSolve",
}
INTRODUCTION = """Times are in ms, and ratios are those of minima. The floor of an operation is the
least bytes that it must move, over the rate of a copy of 1 GiB (read + written bytes; the fastest
of memcpy, a loop and streaming stores, on as many threads). PETSc runs on one thread in the same
process; {petsc}."""


class Figures:
    """The figures of one matrix for one number of threads."""

    def __init__(self, figures, threads):
        self.of = {f["name"]: f for f in figures if f["threads"] == threads}
        self.matrix, self.threads = self.of["matrix"], threads
        self.rate = max(
            f["bytes"] / f["minimum"] for name, f in self.of.items() if name.startswith("copy")
        )

    def time(self, name):
        return self.of[name]["minimum"] if name in self.of else float("nan")

    def over_floor(self, name):
        return self.time(name) * self.rate / self.of[name]["bytes"]

    def gain(self, name):
        """Returns the speedup over PETSc."""
        return self.time(OPERATIONS[name]) / self.time(name)


def bars(one, all_threads):
    """Yields (limit, figure, met) for one matrix."""
    gain = one.gain("block product")
    yield "block product on one thread over PETSc's, at least 1.15", gain, gain >= 1.15
    for f in (one, all_threads):
        on = f"{f.threads} thread" + ("s" if f.threads > 1 else "")
        if f is all_threads:
            over = f.over_floor("block product")
            yield f"block product on {on} over the floor, at most 1.25", over, over <= 1.25
        for name in ("ILU(0), numeric", "GMRES(30), exact solves"):
            gain = f.gain(name)
            yield f"{name} on {on}: PETSc's time over ours, at least 1", gain, gain >= 1
        setup = f.time("ISAI set-up, k = 1")
        over = setup / f.time("ILU(0), symbolic and numeric")
        yield f"ISAI(1) set-up on {on} over ILU(0), at most 2", over, over <= 2
        over = setup / f.time("ILU(0), numeric")
        yield "… over ILU(0)'s numeric phase alone (no bar)", over, True


def operation(f, name):
    """Returns the time of an operation over the floor, and PETSc's time over it."""
    if name not in f.of:
        return "–"
    theirs = f"; {f.gain(name):.2f}" if OPERATIONS[name] in f.of else ""
    return f"{1e3 * f.time(name):.2f} ({f.over_floor(name):.2f}{theirs})"


def table(pairs):
    sizes = [
        f"{m['block_rows']} block rows of {m['block_size']}, {m['blocks']} blocks"
        for m in (one.matrix for one, _ in pairs)
    ]
    yield from heading("", "threads", *sizes)
    for which in (0, 1):
        chosen = [pair[which] for pair in pairs]
        yield row("copy", chosen[0].threads, *(f"{f.rate * 1e-9:.1f} GB/s" for f in chosen))
        for name in OPERATIONS:
            yield row(name, chosen[0].threads, *(operation(f, name) for f in chosen))


def main(output, *files):
    runs = [run for file in files for run in recorded(read_json(file))]
    pairs = []
    for run in runs:
        threads = sorted({f["threads"] for f in run["figures"]})
        pairs.append((Figures(run["figures"], threads[0]), Figures(run["figures"], threads[-1])))
    first = pairs[0][0]
    lines = [
        "# Speed on the CPU",
        "",
        f"Commit {runs[0]['commit']}, {runs[0]['date']}, {first.matrix['processor']},"
        f" {pairs[0][1].threads} threads. Made by `bench_operations` and"
        " `bench/processors/cpu_speed.py`. "
        + INTRODUCTION.format(petsc=runs[0]["petsc"].strip() or "no PETSc here").replace("\n", " "),
        "",
        "## Bars",
        "",
    ]
    lines += heading("", *(f"block size {one.matrix['block_size']}" for one, _ in pairs))
    for column in zip(*(bars(*pair) for pair in pairs)):
        cells = (f"{figure:.2f}" + ("" if met else " **missed**") for _, figure, met in column)
        lines.append(row(column[0][0], *cells))
    lines += [
        "", "## Operations", "",
        "Milliseconds, minima; in brackets the time over the floor; PETSc's time over ours:", "",
        *table(pairs)
    ]
    write(pathlib.Path(output), lines, runs)


if len(sys.argv) < 3:
    sys.exit(__doc__)
main(*sys.argv[1:])
