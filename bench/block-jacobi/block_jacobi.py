#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Measures block-Jacobi on every real matrix: block sizes, adaptive storage, forms.

usage: block_jacobi.py BISAI MATRICES OUTPUT.md [--max-iterations N] [--threads N] [--backend cuda]
       [--only NAME] [--seconds S] [--repeats N] [--at-once N]

The matrices are read with block size 1, as in the papers.

bounds:   Table 2 of Anzt et al. (2017): IDR(4), and also GMRES(30), with scalar Jacobi and with
          blocks of at most 4, 8, 16 and 32 rows; tolerance 1e-8.
adaptive: Figures 8 and 9 of Flegar et al. (2020): CG on the symmetric positive definite matrices,
          tolerance 1e-10, with inverses in fp64 and in the formats that keep 1 and 2 digits.
forms:    BiCGSTAB with inverses, Gauss-Huard (GH, GH-T) and LU decompositions of blocks of at most
          16 and 32 rows (Anzt et al. 2017, the slides).

A run that takes longer than S seconds is stopped. The tables give the reason of each failure.
The script also writes a JSON file next to OUTPUT.md, which block_jacobi_figures.py draws.
"""

import math
import statistics
import sys
import time

sys.path.append(f"{sys.path[0]}/../common")
import tables

BOUNDS = [1, 4, 8, 16, 32]
HEADINGS = ["Jacobi"] + [f"max={bound}" for bound in BOUNDS[1:]]
LARGE = 10000  # scalar rows
SOLVERS = [("idr:s=4", "IDR(4)"), ("gmres", "GMRES(30)")]
# Symmetric matrices whose Cholesky factorisation succeeds in fp64.
SPD = [
    "bcsstk08", "bcsstk13", "bcsstk16", "bcsstk18", "bcsstk24", "ex10hs", "hypre_beam_tet_dof2475",
    "mhd3200b", "nasa4704", "nos3", "nos7", "wathenSmall"
]
ADAPTIVE_BOUNDS = [4, 8, 16, 32]
STORAGES = ["", ":storage=adaptive:digits=1", ":storage=adaptive"]
FORM_BOUNDS = [16, 32]
FORMS = ["", ":form=gh", ":form=ght", ":form=lu"]
KEPT = [
    "converged", "reason", "iterations", "relative_residual", "values_s", "setup_s", "apply30_s",
    "solve_s", "repeats", "least_total_s", "diagonal"
]
FORMATS = ["fp16", "bf16", "fp11_4", "fp32", "fp11_20", "fp64"]


def by_run(records):
    return {(r["matrix"], r["solver"], r["asked"]): r for r in records}


def label(bound):
    return f"bjacobi:max={bound}"


def median_ratio(found, solver, method, base, value):
    """Returns the median over the matrices on which both methods converge, and their number."""
    ratios = []
    for name in {key[0] for key in found if key[1] == solver}:
        pair = [found.get((name, solver, asked)) for asked in (method, base)]
        if all(record and record["converged"] for record in pair):
            ratios.append(value(pair[0]) / value(pair[1]))
    return (statistics.median(ratios) if ratios else math.nan), len(ratios)


def ratio_row(heading, found, solver, methods, base, value):
    """The line of a table with the median ratios of `methods` to `base`."""
    pairs = (median_ratio(found, solver, method, base, value) for method in methods)
    return tables.row(heading, *(f"{ratio:.2f} ({count})" for ratio, count in pairs))


def run(options, path, solver, tolerance, methods):
    """Runs all methods in one process, or in a process each if the time runs out.

    Returns a record for each method: the median of its repeats, or the reason of its failure.
    """
    arguments = [
        str(path), "--block-size", "1", "--rhs", tables.right_hand_side(path), "--tolerance",
        tolerance, "--solver", solver
    ]
    result, message = tables.compare(
        options, arguments, methods, options.seconds * (1 if len(methods) == 1 else 2)
    )
    if result is None and message == "time" and len(methods) > 1:
        return [run(options, path, solver, tolerance, [method])[0] for method in methods]
    records = []
    for i, method in enumerate(methods):
        record = (
            {key: result["runs"][i][key] for key in KEPT}
            if result
            else {"converged": False, "reason": message}
        )
        record.update(matrix=tables.name_of(path), solver=solver, asked=method)
        if result:
            record["rows"], record["entries"] = (
                result["matrix"]["block_rows"], result["matrix"]["blocks"]
            )
            record["device"], record["commit"] = result["device"], tables.measured_commit()
            options.example = result
        records.append(record)
        print(record["matrix"], solver, method, tables.cell(record), tables.milliseconds(record))
    return records


def jobs_of(options):
    """Returns (path, solver, tolerance, methods) of every process.

    Methods have a process each on large matrices, where their runs take long.
    """
    for path, solver, tolerance, methods in systems_of(options):
        if tables.rows_of(path) < LARGE:
            yield path, solver, tolerance, methods
        else:
            yield from ((path, solver, tolerance, [method]) for method in methods)


def systems_of(options):
    """Returns (path, solver, tolerance, methods) of every matrix and solver."""
    found = list(tables.matrices(options))
    for path in (path for name, path in found if name in SPD):
        yield path, "cg", "1e-10", [label(b) + form for b in ADAPTIVE_BOUNDS for form in STORAGES]
    for _, path in found:
        yield path, "bicgstab", "1e-8", [label(b) + form for b in FORM_BOUNDS for form in FORMS]
    for solver in options.solvers:
        for _, path in found:
            yield path, solver, "1e-8", [label(bound) for bound in BOUNDS]


def nowhere(names):
    """Says on which matrices no method of a table converges."""
    said = ", ".join(f"`{name}`" for name in names)
    return [f"No method converges on {said}.", ""] if names else []


def bound_tables(found, heading, solver):
    """The table of iterations and times for each bound; the smallest values are bold."""
    lines = tables.heading("matrix", "rows", "entries", *HEADINGS)
    solved, failed = [0] * len(BOUNDS), []
    for name in sorted({key[0] for key in found if key[1] == solver}):
        records = [found[name, solver, label(bound)] for bound in BOUNDS]
        good = [record for record in records if record["converged"]]
        if not good:
            failed.append(name)
            continue
        fewest = min(record["iterations"] for record in good)
        least = min(map(tables.least_seconds, good))
        cells = []
        for i, record in enumerate(records):
            solved[i] += record["converged"]
            text = tables.cell(record)
            if record["converged"]:
                marks = record["iterations"] == fewest, tables.least_seconds(record) == least
                values = text, tables.milliseconds(record)
                text = ", ".join(f"**{v}**" if mark else v for v, mark in zip(values, marks))
            cells.append(text)
        lines.append(tables.row(name, good[0]["rows"], good[0]["entries"], *cells))
    lines.append(tables.row("converged", "", "", *solved))
    methods = [label(bound) for bound in BOUNDS]
    ratios = tables.heading("", *HEADINGS)
    for what, value in ("iterations", lambda r: r["iterations"]), ("ms", tables.least_seconds):
        ratios.append(ratio_row(what, found, solver, methods, methods[0], value))
    return [
        f"## {heading}", "", "Iterations, and ms of set-up and solve; the least of a row in bold:",
        "", *lines, "", *nowhere(failed),
        "Over Jacobi's, medians over the matrices on which both converge (their number):", "",
        *ratios, ""
    ]


def share(record):
    """The table of blocks in each format, and of bytes relative to fp64."""
    blocks = record["diagonal"]["by_format"]
    total = sum(blocks.values())
    return ", ".join(f"{100 * blocks[f] / total:.0f} % {f}" for f in FORMATS if f in blocks)


def bytes_of_fp64(record):
    return sum(8 * int(size) ** 2 * count for size, count in record["diagonal"]["by_size"].items())


def adaptive_table(found):
    lines = tables.heading(
        "matrix", "bound", "fp64", "1 digit", "2 digits", "blocks at 2 digits", "bytes at 2 digits",
        "fp64 ms", "2 digits ms"
    )
    exceptions, compared, below, blocks = [], 0, 0, 0
    for name in SPD:
        for bound in ADAPTIVE_BOUNDS:
            if (name, "cg", label(bound)) not in found:
                continue
            full, one, two = (found[name, "cg", label(bound) + s] for s in STORAGES)
            known = two.get("diagonal") and two["diagonal"]["blocks"]
            lines.append(
                tables.row(
                    name,
                    bound,
                    tables.cell(full),
                    tables.cell(one),
                    tables.cell(two),
                    share(two) if known else "–",
                    (
                        f"{100 * two['diagonal']['bytes'] / bytes_of_fp64(two):.0f} %"
                        if known
                        else "–"
                    ),
                    tables.milliseconds(full),
                    tables.milliseconds(two),
                )
            )
            if not full["converged"]:
                continue
            compared += 1
            below += known - two["diagonal"]["by_format"].get("fp64", 0)
            blocks += known
            most = full["iterations"] + max(2, 0.05 * full["iterations"])
            if not two["converged"] or two["iterations"] > most:
                exceptions.append(
                    f"{name} with max={bound}"
                    f" ({tables.cell(full)} in fp64, {tables.cell(two)} with 2 digits)"
                )
    said = "; ".join(exceptions) if exceptions else "none"
    percent = f"{100 * below / blocks:.1f} %" if blocks else "none"
    medians = tables.heading("", *(f"max={bound}" for bound in ADAPTIVE_BOUNDS))
    for what, value in (
        ("iterations", lambda r: r["iterations"]), ("30 applications", lambda r: r["apply30_s"]),
        ("set-up and solve", tables.least_seconds)
    ):
        cells = (
            median_ratio(found, "cg", label(bound) + STORAGES[2], label(bound), value)
            for bound in ADAPTIVE_BOUNDS
        )
        medians.append(tables.row(what, *(f"{ratio:.2f} ({count})" for ratio, count in cells)))
    return [
        "## Adaptive storage, CG",
        "",
        "Tolerance 1e-10. Blocks of a group share a format: on a CPU a group is one block, on a GPU"
        " as many as have 32 rows together.",
        "",
        *lines,
        "",
        f"At 2 digits more than max(2, 5 %) iterations over fp64, of {compared} pairs in which fp64"
        f" converged: {said}."
        f" Of the blocks of these pairs {percent} are stored in less than fp64.",
        "",
        "2 digits over fp64, medians over the matrices on which both converge (their number):",
        "",
        *medians,
        "",
    ]


def form_tables(found):
    """The table of BiCGSTAB with each form: iterations, ms of set-up, 30 applications, total."""
    names = ["inverse", "gh", "ght", "lu"]
    lines = []
    for bound in FORM_BOUNDS:
        failed = []
        lines += [
            f"## BiCGSTAB, blocks of at most {bound} rows, each form",
            "",
            "Iterations (two products each); set-up of the values, 30 applications and set-up with"
            " solve in ms:",
            "",
            *tables.heading(
                "matrix", *names, *(f"set-up {n}" for n in names),
                *(f"30 applications {n}" for n in names), *(f"all {n}" for n in names)
            ),
        ]
        for name in sorted({key[0] for key in found if key[1] == "bicgstab"}):
            records = [found[name, "bicgstab", label(bound) + form] for form in FORMS]
            if not any(record["converged"] for record in records):
                failed.append(name)
                continue

            def times(key):
                return (
                    f"{1e3 * r[key]:.3g}" if r["converged"] and r[key] is not None else "–"
                    for r in records
                )

            lines.append(
                tables.row(
                    name, *(tables.cell(r) for r in records), *times("values_s"),
                    *times("apply30_s"), *(tables.milliseconds(r) for r in records)
                )
            )
        lines += [
            "", *nowhere(failed),
            "Over the inverse, medians over the matrices on which both converge (their number):",
            "", *tables.heading("", *names[1:])
        ]
        methods = [label(bound) + form for form in FORMS]
        for what, value in (
            ("iterations", lambda r: r["iterations"]),
            ("set-up of the values", lambda r: r["values_s"]),
            ("30 applications", lambda r: r["apply30_s"]),
            ("set-up and solve", tables.least_seconds),
        ):
            lines.append(ratio_row(what, found, "bicgstab", methods[1:], methods[0], value))
        lines.append("")
    return lines


def left_out(late, asked):
    """Yields a sentence for each set of solvers for which no time was left, with the matrices."""
    solvers, groups = {}, {}
    for text in late:
        name, _, solver = text.partition(" with ")
        if solver in asked:
            solvers.setdefault(name, dict.fromkeys([]))[solver] = None
    for name, missing in solvers.items():
        groups.setdefault(tuple(missing), []).append(name)
    for missing, names in groups.items():
        solvers = " and ".join(missing)
        yield f"No time was left for {len(names)} matrices with {solvers}: {', '.join(names)}."


def main():
    parser = tables.parser(__doc__, "10000")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--total", type=float, default=math.inf, help="no run begins later")
    parser.add_argument("--solvers", nargs="+", default=[solver for solver, _ in SOLVERS])
    options = parser.parse_args()
    options.example = None
    found = {}
    end, late = time.monotonic() + options.total, []

    def by_size(job):
        return tables.size_of(job[0])

    def run_in_time(job):
        if time.monotonic() < end:
            return run(options, *job)
        late.append(f"`{tables.name_of(job[0])}` with {job[1]}")
        return []

    for records in tables.each(options, run_in_time, jobs_of(options), by_size):
        found.update(by_run(records))
    if not options.example:
        raise SystemExit(f"{options.matrices} holds no matrix")
    asked = {key[1] for key in found}
    names = [name for solver, name in [*SOLVERS, ("bicgstab", "BiCGSTAB")] if solver in asked]
    solvers = f"{', '.join(names)}, tolerance 1e-8" + ("; CG, 1e-10" if "cg" in asked else "")
    lines = [
        "# Block-Jacobi on real matrices",
        "",
        *tables.made_by(options, options.example, solvers),
        tables.REASONS,
        f"“time” is a run of more than {options.seconds:.0f} s."
        " Drawn by `bench/block-jacobi/block_jacobi_figures.py`.",
        *left_out(late, asked),
        "",
    ]
    for figure in ["bounds"] * ("idr:s=4" in asked) + ["formats", "adaptive"] * ("cg" in asked):
        lines += [f"![{figure}]({options.output.stem}-{figure}.svg)", ""]
    for solver, heading in SOLVERS:
        if solver in asked:
            lines += bound_tables(found, heading, solver)
    if "cg" in asked:
        lines += adaptive_table(found)
    tables.write(options.output, lines + form_tables(found), list(found.values()))


if __name__ == "__main__":
    main()
