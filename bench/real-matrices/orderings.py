#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Solves real matrices, the cavity and convection-diffusion in every ordering, and writes a table.

usage: orderings.py BISAI MATRICES OUTPUT.md [--max-iterations N] [--threads N] [--only NAME]
       [--timeout SECONDS]

BISAI is the program, and MATRICES is a folder as for real_matrices.py. The block size is the number
of unknowns at a node if it is known, otherwise the size that takes the least memory. All methods of
one ordering of a matrix together have SECONDS; the table says "time" if they take longer.
"""

import math
import sys

sys.path.append(f"{sys.path[0]}/../common")
import tables

ORDERINGS = ["natural", "rcm", "nd", "colour"]
METHODS = ["ilu", "isai:k=1", "isai:k=3", "sweeps:n=3", "ilu:level=1"]
HEADINGS = ["ILU(0)", "ISAI(1)", "ISAI(3)", "3 sweeps", "ILU(1)"]
ILU, ISAI3, ILU1 = 0, 2, 4
SIZES = ["block_size", "block_rows"]
CASES = [
    ("cavity 128²", ["--case", "cavity", "--size", "128"]),
    ("cavity 300²", ["--case", "cavity", "--size", "300"]),
    ("convdiff 40³", ["--case", "convdiff", "--size", "40"]),
    ("convdiff 64³, blocks of 1", ["--case", "convdiff", "--size", "64", "--block-size", "1"]),
]


def systems(options):
    """Yields (name, the program's arguments, weight) of each system."""
    for name, path in tables.matrices(options):
        arguments = tables.system_of(path, tables.NATURAL.get(name, "auto"))
        yield name, arguments, tables.size_of(path)
    for name, arguments in CASES:
        if not options.only or name == options.only:
            yield name, arguments, math.inf


def solve(options, job):
    """Returns a record with the JSON of a run that ends in time, or the reason of a refusal."""
    (name, arguments, _), ordering = job
    result, message = tables.compare(
        options, [*arguments, "--ordering", ordering], METHODS, options.timeout
    )
    if message and message != "time":
        return None, f"`{name}` was refused: {message}"
    record = {"system": name, "ordering": ordering, "runs": [], **(result or {})}
    print(name, ordering, *map(tables.cell, record["runs"]), flush=True)
    return record, None


def levels(result):
    order = result["runs"][ILU]["order"]
    return order["lower_levels"] if order else None


def blocks(result, run):
    """Returns the blocks of L + U of ILU(1), or of NL + NU of ISAI(3)."""
    return result["runs"][run]["factor_blocks" if run == ILU1 else "blocks"]


def table(results):
    """A row for each system, with a value for each ordering in each cell."""
    lines = tables.heading(
        "matrix", "bs", "block rows", "levels of L", *HEADINGS, "ILU(1) blocks",
        "NL + NU of ISAI(3)"
    )

    def ratio(result, run):
        made = result["runs"] and blocks(result, run)
        return f"{made / result['matrix']['blocks']:.2f}" if made else "–"

    for name, group in by_system(results).items():
        matrix = next((r["matrix"] for r in group if r["runs"]), dict.fromkeys(SIZES, ""))
        columns = [[levels(r) if r["runs"] else None for r in group]]
        for k in range(len(METHODS)):
            columns.append([tables.cell(r["runs"][k]) if r["runs"] else "time" for r in group])
        columns += [[ratio(result, run) for result in group] for run in (ILU1, ISAI3)]
        texts = [[str(value or "–") for value in column] for column in columns]
        cells = [", ".join(t if len(set(t)) > 1 else t[:1]) for t in texts]
        lines.append(tables.row(name, *(matrix[key] for key in SIZES), *cells))
    return lines


def by_system(results):
    """Returns {system: its results in the order of ORDERINGS}."""
    found = {}
    for result in sorted(results, key=lambda r: ORDERINGS.index(r["ordering"])):
        found.setdefault(result["system"], []).append(result)
    return found


def mean(pairs):
    """The geometric mean of value / natural value, and the number of pairs; – without pairs."""
    logs = [math.log(max(value, 1) / max(natural, 1)) for value, natural in pairs]
    return f"{math.exp(sum(logs) / len(logs)):.2f} ({len(logs)})" if logs else "–"


def means(results):
    """The table of solved systems for each ordering, and of the change by the ordering."""
    complete = [
        dict(zip(ORDERINGS, group)) for group in by_system(results).values()
        if all(result["runs"] for result in group)
    ]

    def compare(ordering, value, counts):
        groups = [group for group in complete if all(counts(result) for result in group.values())]
        return mean((value(group[ordering]), value(group["natural"])) for group in groups)

    converged = tables.heading("ordering", *HEADINGS)
    ratios = tables.heading(
        "ordering", "levels of L", *HEADINGS, "ILU(1) blocks", "NL + NU of ISAI(3)"
    )
    for ordering in ORDERINGS:
        runs = range(len(METHODS))
        converged.append(
            tables.row(
                ordering,
                *(sum(group[ordering]["runs"][k]["converged"] for group in complete) for k in runs),
            )
        )
        ratios.append(
            tables.row(
                ordering,
                compare(ordering, levels, levels),
                *(
                    compare(
                        ordering, lambda r, k=k: r["runs"][k]["iterations"], lambda r,
                        k=k: r["runs"][k]["converged"]
                    )
                    for k in runs
                ),
                *(
                    compare(ordering, lambda r, k=k: blocks(r, k), lambda r, k=k: blocks(r, k))
                    for k in (ILU1, ISAI3)
                ),
            )
        )
    return len(complete), converged, ratios


def report(options, results, refused):
    count, converged, ratios = means(results)
    return [
        "# Effect of the ordering",
        "",
        *tables.made_by(options, next(result for result in results if result["runs"])),
        "The cavity is solved to 1e-5 with its own b. " + tables.REASONS,
        f"time: the methods took more than {options.timeout:g} seconds together.",
        "",
        "## All systems together",
        "",
        f"How many of {count} systems converge:",
        "",
        *converged,
        "",
        "Levels, iterations and blocks over those of the natural ordering, geometric means over the"
        " systems (their number in brackets) that have them, or converge, in all four orderings:",
        "",
        *ratios,
        "",
        "## Every system",
        "",
        f"A cell has the values of {', '.join(ORDERINGS)}, or one if they are the same. ILU(1)"
        " blocks and NL + NU: over the blocks of A.",
        "",
        *table(results),
        "",
        *refused,
    ]


def main():
    parser = tables.parser(__doc__, "1500")
    parser.add_argument("--timeout", type=float, default=300)
    options = parser.parse_args()
    jobs = [(system, ordering) for system in systems(options) for ordering in ORDERINGS]
    solved = tables.each(options, lambda job: solve(options, job), jobs, lambda job: job[0][2])
    results = tables.recorded([record for record, _ in solved if record])
    refused = list(dict.fromkeys(message for _, message in solved if message))
    tables.write(options.output, report(options, results, refused), results)


if __name__ == "__main__":
    main()
