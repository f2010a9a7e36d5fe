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
INTRODUCTION = """Times are in ms, and ratios are those of minima. The floor of an operation is the least
bytes that it must move, over the rate of a copy of 1 GiB (read + written bytes; the fastest of
memcpy, a loop and streaming stores, on as many threads). PETSc runs on one thread in the same
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
    whole, numeric = "ILU(0), symbolic and numeric", "ILU(0), numeric"
    for f in (one, all_threads):
        on = f"{f.threads} thread" + ("s" if f.threads > 1 else "")
        if f is one:
            yield "block product on one thread over PETSc's, at least 1.15", f.gain(
                "block product"
            ), f.gain("block product") >= 1.15
        if f is all_threads:
            over = f.over_floor("block product")
            yield f"block product on {on} over the floor, at most 1.25", over, over <= 1.25
        yield f"ILU(0) numeric on {on}: PETSc's time over ours, at least 1", f.gain(
            numeric
        ), f.gain(numeric) >= 1
        gain = f.gain("GMRES(30), exact solves")
        solves = f"GMRES(30), exact solves on {on}: PETSc's time over ours, at least 1"
        yield solves, gain, gain >= 1
        setup = f.time("ISAI set-up, k = 1")
        yield f"ISAI(1) set-up on {on} over ILU(0), at most 2", setup / f.time(
            whole
        ), setup <= 2 * f.time(whole)
        yield "… over ILU(0)'s numeric phase alone (no bar)", setup / f.time(numeric), True


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
        f" {pairs[0][1].threads} threads. Made by `bench_operations` and `bench/processors/cpu_speed.py`.",
        INTRODUCTION.format(petsc=runs[0]["petsc"].strip() or "no PETSc here"),
        "",
        "## Bars",
        "",
    ]
    lines += heading("", *(f"block size {one.matrix['block_size']}" for one, _ in pairs))
    for column in zip(*(bars(*pair) for pair in pairs)):
        lines.append(
            row(
                column[0][0],
                *(
                    f"{figure:.2f}" + ("" if holds else " **missed**")
                    for _, figure, holds in column
                ),
            )
        )
    for pair in pairs:
        m = pair[0].matrix
        megabytes = 8e-6 * m["blocks"] * m["block_size"] ** 2
        lines += [
            "",
            f"## Block size {m['block_size']}: {m['block_rows']} block rows, {m['blocks']} blocks,"
            f" {megabytes:.0f} MB of values",
            "",
        ]
        lines += heading(
            "", "threads", "MB", "minimum ms", "median ms", "minimum over floor", "PETSc's minimum",
            "PETSc's over ours"
        )
        for f in pair:
            lines.append(row("copy", f.threads, "", f"{f.rate * 1e-9:.1f} GB/s", "", "", "", ""))
            for name, theirs in OPERATIONS.items():
                if name in f.of:
                    lines.append(
                        row(
                            name, f.threads, f"{f.of[name]['bytes'] * 1e-6:.0f}",
                            f"{1e3 * f.time(name):.2f}", f"{1e3 * f.of[name]['median']:.2f}",
                            f"{f.over_floor(name):.2f}",
                            f"{1e3 * f.time(theirs):.2f}" if theirs in f.of else "",
                            f"{f.gain(name):.2f}" if theirs in f.of else ""
                        )
                    )
        iterations = pair[0].of.get("iterations")
        if iterations:
            lines.append(
                f"\nGMRES took {iterations['ours']} iterations, PETSc {iterations['petsc']}."
            )
    output = pathlib.Path(output)
    write(output, lines, runs)


if len(sys.argv) < 3:
    sys.exit(__doc__)
main(*sys.argv[1:])
