#!/usr/bin/env python3
"""Solves every real matrix, the cavity and convection-diffusion in every ordering and writes the table of what that changes.

usage: orderings.py BISAI MATRICES OUTPUT.md [--max-iterations N] [--threads N] [--only NAME] [--timeout SECONDS]

BISAI is the program, MATRICES a folder as for real_matrices.py. Blocks are those of the physics where they are known, otherwise what
takes the least memory. Each ordering of a matrix has SECONDS for all its methods; what takes longer stands as "time".
"""
import tables

ORDERINGS = ["natural", "rcm", "nd", "colour"]
METHODS = ["ilu", "isai:k=1", "isai:k=3", "sweeps:n=3", "ilu:level=1"]
HEADINGS = ["ILU(0)", "ISAI(1)", "ISAI(3)", "3 sweeps", "ILU(1)"]
CASES = [("cavity 128²", ["--case", "cavity", "--size", "128"]), ("cavity 300²", ["--case", "cavity", "--size", "300"]),
         ("convdiff 40³", ["--case", "convdiff", "--size", "40"]),
         ("convdiff 64³, blocks of 1", ["--case", "convdiff", "--size", "64", "--block-size", "1"])]


def systems(options):
    """(name, the program's arguments) of everything that is solved."""
    for name, path in tables.matrices(options.matrices, options.only):
        yield name, tables.system_of(path, tables.NATURAL.get(name, "auto"))
    for name, arguments in CASES:
        if not options.only or name == options.only:
            yield name, arguments


def ratio(blocks, result):
    return f"{blocks / result['matrix']['blocks']:.2f}" if blocks else "–"


def measures(result):
    """Levels of L, blocks of ILU(1) and of NL + NU over those of A."""
    ilu, _, isai, _, filled = result["runs"]
    levels = ilu["order"]["lower_levels"] if ilu["order"] else "–"
    return levels, ratio(filled["factor_blocks"], result), ratio(isai["blocks"], result)


def table(options, results, refused):
    lines = tables.heading("matrix", "bs", "block rows", "ordering", "levels of L", *HEADINGS, "ILU(1) blocks", "NL + NU of ISAI(3)")
    for name, arguments in systems(options):
        for ordering in ORDERINGS:
            result, message = tables.compare(options, [*arguments, "--ordering", ordering], METHODS, options.timeout)
            if message == "time":
                lines.append(tables.row(name, "", "", ordering, "", *["time"] * len(METHODS), "", ""))
            elif message:
                refused.append(f"`{name}` was refused: {message}")
                break
            else:
                results.append({"ordering": ordering, **result})
                levels, fill, inverses = measures(result)
                lines.append(tables.row(name, result["matrix"]["block_size"], result["matrix"]["block_rows"], ordering, levels,
                                        *(tables.cell(run) for run in result["runs"]), fill, inverses))
    return lines


def summary(results):
    """For each ordering: how often each method converges and, where it does in all of them, its iterations and the levels over those
    of the natural ordering, as geometric means."""
    by_matrix = {}
    for result in results:
        matrix = result["matrix"]
        by_matrix.setdefault((matrix["name"], matrix["block_size"], matrix["block_rows"]), {})[result["ordering"]] = result
    complete = [group for group in by_matrix.values() if len(group) == len(ORDERINGS)]
    lines = tables.heading("ordering", "levels of L", *HEADINGS, "ILU(1) blocks", "NL + NU of ISAI(3)")
    for ordering in ORDERINGS:
        cells = [mean(group[ordering]["runs"][0]["order"]["lower_levels"] / group["natural"]["runs"][0]["order"]["lower_levels"]
                      for group in complete if all(one["runs"][0]["order"] for one in group.values()))]
        for k in range(len(METHODS)):
            solved = [group for group in complete if all(one["runs"][k]["converged"] for one in group.values())]
            converged = sum(group[ordering]["runs"][k]["converged"] for group in complete)
            cells.append(f"{converged}; " + mean(max(group[ordering]["runs"][k]["iterations"], 1)
                                                 / max(group["natural"]["runs"][k]["iterations"], 1) for group in solved))
        for k, key in ((4, "factor_blocks"), (2, "blocks")):
            made = [group for group in complete if all(one["runs"][k][key] for one in group.values())]
            cells.append(mean(group[ordering]["runs"][k][key] / group["natural"]["runs"][k][key] for group in made))
        lines.append(tables.row(ordering, *cells))
    return len(complete), lines


def mean(values):
    product, count = 1.0, 0
    for value in values:
        product, count = product * value, count + 1
    return f"{product ** (1 / count):.2f}" if count else "–"


def main():
    parser = tables.parser(__doc__, "1500")
    parser.add_argument("--timeout", type=float, default=120)
    options = parser.parse_args()
    results, refused = [], []
    lines = table(options, results, refused)
    count, means = summary(results)
    tables.write(options.output, [
        "# What an ordering changes", "", *tables.made_by("orderings.py", options, results[0]),
        "The cavity is solved to 1e-5 with its own b. " + tables.REASONS,
        f"time: the methods took more than {options.timeout:g} seconds together.", "",
        "## All systems together", "",
        f"Of the {count} systems whose every ordering was done in time: how many converge; and where a method converges in all"
        " four orderings, its iterations over those in the natural one (geometric mean). Levels and blocks likewise.", "", *means, "",
        "## Every system", "", "ILU(1) blocks and NL + NU: over the blocks of A.", "", *lines, "", *refused], results)


if __name__ == "__main__":
    main()
