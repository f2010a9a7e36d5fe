# SPDX-License-Identifier: BSD-3-Clause
"""Ma et al. (2021): GMRES(30) with block-ISAI, compared with exact triangular solves."""

import pathlib
import tempfile

import common
import pictures
from common import digits, milliseconds, row
from pictures import COLOURS

NAME = "block-isai"
TITLE = "Block-ISAI: Ma et al. 2021"
INTRODUCTION = """
*GPU Preconditioning for Block Linear Systems Using Block Incomplete Sparse Approximate Inverses*,
measured on a Tesla V100 with CUDA 10.0 and PETSc 3.14.2, in fp64, with GMRES(30) preconditioned
from the right. T_p is the time of 30 applications of the preconditioner, or of all if there are
fewer. T_total is the time of the solve, without the factors and without the set-up. *All in* is our
time from the matrix to the solution, with the factors and the set-up. The times are those of the
run with the median of the all-in times of five runs on the GPU, and of the better one of two with
PETSc's solves; the least all-in time is in brackets. On the host each method ran once after a
warm-up. *PETSc* is PETSc's block triangular solves on the CPU with copies of the vectors between
the CPU and the GPU, where GMRES runs. On the host GMRES runs on the CPU too. Figures 1 to 3 are
drawings.

The stand-ins have the grid or the number of nodes of the paper's matrices, and their block sizes:
[atmosphere](../../cases/atmosphere/README.md), [shell](../../cases/shell/README.md) with the time
step at which block ILU(0) takes the paper's 25 iterations,
[euler](../../cases/euler/README.md). The [cavity](../../cases/cavity/README.md) is the paper's own,
and its iterations have to be the paper's.
"""

PETSC, CUSPARSE, OWN = "petsc-ilu", "cusparse-ilu", "ilu"
# the METHOD of the program, its column in the paper, its colour
ISAI = [f"isai:k={k}" for k in (1, 2, 3)]
COLUMNS = {PETSC: "PETSc", CUSPARSE: "cuSPARSE", **{m: f"ISAI({m[-1]})" for m in ISAI}}
SHADES = {
    PETSC: COLOURS["petsc"],
    CUSPARSE: COLOURS["cusparse"],
    OWN: COLOURS["ilu"],
    **{m: COLOURS[m] for m in ISAI},
}
DEVICES = {"cuda": "GPU", "host": "host"}
# The paper's way of set-up and application, on our GPU.
THEIRS = [f"{m}:pattern=cusparse:apply=cusparse" for m in ISAI]

# what of a run is kept
KEPT = (
    "iterations converged reason relative_residual factor_s pattern_s values_s setup_s analysis_s"
    " apply30_s solve_s total_s least_total_s repeats blocks memory_bytes"
).split()


class Case:
    """A matrix of the paper.

    case, size, quick: the case that stands in for it, its size, and its size for a quick try
    host: its size on the host, if that is another
    published: T_p and T_total in milliseconds and the iterations of each column
    """

    def __init__(self, name, table, case, size, quick, tolerance, published, same=False, host=None):
        self.name, self.table, self.case = name, table, case
        self.size, self.quick, self.tolerance = size, quick, tolerance
        self.host = host or size
        self.published = dict(zip(COLUMNS, published))
        self.same = same

    def methods(self):
        return list(self.published)

    def system(self, bench):
        """Returns the source of the system, and the program's arguments for it."""
        real = None if self.same or bench.quick else bench.matrix(self.name)
        if real:
            return "the matrix itself", [real, "--rhs", "ones"]
        size = self.size if bench.backend == "cuda" else self.host
        size = self.quick if bench.quick else size
        return "the case itself" if self.same else "stand-in", [
            "--case", self.case, "--size", size, "--tolerance", self.tolerance
        ]

    def command(self):
        return (
            f"bisai compare --backend cuda --case {self.case} --size {self.size}"
            f" --tolerance {self.tolerance} --repeat 5 --methods {','.join([*self.published, OWN])}"
        )


CASES = [
    Case(
        "atmosmodd", 1, "atmosphere", "148,148,58", "20", "1e-8",
        [(1072, 7654, 201), (86, 859, 201), (19.7, 594, 295), (44, 685, 242)], host="74,74,58"
    ),
    Case(
        "af_shell3", 2, "shell:step=2.1e-5", "317", "40", "1e-8",
        [(435, 470, 25), (170, 193, 25), (9.03, 40.1, 45), (15.1, 35.5, 29), (22.0, 39.7, 26)]
    ),
    Case(
        "cavity", 3, "cavity", "300", "64", "1e-5",
        [(130, 3150, 623), (129, 3074, 623), (3.72, 560, 1092), (5.20, 468, 836), (6.88, 443, 711)],
        same=True
    ),
    Case(
        "venkat50", 4, "euler", "102", "30", "1e-8",
        [(50, 734, 367), (192, 2556, 367), (1.96, 678, 2208), (3.02, 458, 1324), (4.25, 369, 948)]
    ),
]


def run_record(run):
    return {key: run.get(key) for key in KEPT}


def compare(bench, case, methods, repeat):
    """Returns the program's document, or None if it refuses, as it does without PETSc."""
    try:
        return bench.json(
            "bisai", "compare", *case.system(bench)[1], "--backend", bench.backend, "--solver",
            "gmres", "--max-iterations", 4000, "--repeat", repeat, "--methods", ",".join(methods)
        )
    except common.Failed as error:
        print(f"{NAME}: {case.name}: {error}")
        return None


def measure_case(bench, case, repeat):
    own = [OWN, *(m for m in case.methods() if m in ISAI)]
    sets = [([PETSC], min(repeat, 2))]  # they take seconds
    if bench.backend == "cuda":
        sets.append(([*own, CUSPARSE, *THEIRS[: len(own) - 1]], repeat))
    else:
        sets.append((own, repeat))
    result = {"source": case.system(bench)[0], "runs": {}}
    for methods, times in sets:
        document = compare(bench, case, methods, times)
        if document:
            result["matrix"] = document["matrix"]
            runs = zip(methods, document["runs"])
            result["runs"].update((method, run_record(run)) for method, run in runs)
    return result


CELLS = 150  # along a side of the picture of the pattern
PATTERN_BLOCK_SIZE = 4  # of venkat50 and of its stand-in


def pattern(bench, case):
    """Returns the block rows and [row, column, blocks] of each cell of the pattern."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "a.mtx"
        bench.run("bisai", "convert", *case.system(bench)[1][:4], path)
        with path.open() as file:
            lines = (line for line in file if not line.startswith("%"))
            rows = int(next(lines).split()[0]) // PATTERN_BLOCK_SIZE
            blocks = {
                ((int(i) - 1) // PATTERN_BLOCK_SIZE, (int(j) - 1) // PATTERN_BLOCK_SIZE)
                for i, j, *_ in (line.split() for line in lines)
            }
    counts = {}
    for i, j in blocks:
        cell = i * CELLS // rows, j * CELLS // rows
        counts[cell] = counts.get(cell, 0) + 1
    return {"block_rows": rows, "cells": [[*cell, n] for cell, n in sorted(counts.items())]}


def measure(bench):
    repeat = 5 if bench.backend == "cuda" and not bench.quick else 1
    results = {case.name: measure_case(bench, case, repeat) for case in CASES}
    results["pattern"] = pattern(bench, CASES[-1])
    return results


def run_of(results, backend, case, method):
    run = results.get(backend, {}).get(case.name, {}).get("runs", {}).get(method)
    return run if run and run["converged"] else None


def applications(run):
    return min(30, run["iterations"])


def t_p(run):
    return run["apply30_s"] * applications(run) / 30


def inverses(run):
    """Returns the seconds of the set-up of the approximate inverses, without the factors."""
    return (run["pattern_s"] or 0) + (run["values_s"] or 0)


def overall(run):
    """Returns T_total with the set-up of the approximate inverses: Figures 5, 7, 9 and 12."""
    return run["solve_s"] + inverses(run)


def both(results, text):
    """Returns the text of each backend for which text(backend) has one."""
    found = [(DEVICES[b], text(b)) for b in common.BACKENDS if b in results]
    return "<br>".join(f"{name}: {value}" for name, value in found if value) or common.NOT_MEASURED


def size_of(results, backend, case):
    """Returns the number of block rows and a colon if the host's system is not that of the GPU."""
    rows = {b: results[b][case.name].get("matrix", {}).get("block_rows") for b in results}
    return f"{rows[backend]} block rows: " if len(set(rows.values())) > 1 else ""


def source(results, case):
    """Returns the note of a row: which matrix it is."""
    found = [results[b][case.name]["source"] for b in results if case.name in results[b]]
    if case.same:
        return ""
    if found and all(text == "the matrix itself" for text in found):
        return "the matrix itself, b of ones"
    return f"stand-in: case `{case.case}`"


def table_rows(results, case):
    for method in case.methods():
        t, total, iterations = case.published[method]

        def text(backend, method=method):
            run = run_of(results, backend, case, method)
            return run and (
                f"{size_of(results, backend, case)}{milliseconds(t_p(run))},"
                f" {milliseconds(run['solve_s'])}, {run['iterations']};"
                f" all in {milliseconds(run['total_s'])} ({milliseconds(run['least_total_s'])})"
            )

        yield row(
            where=f"Table {case.table}, {case.name}, {COLUMNS[method]}: T_p, T_total, iterations",
            published=f"{t} ms, {total} ms, {iterations}", ours=both(results, text),
            command=case.command(), note=source(results, case)
        )


def share(results, case):
    """Returns the set-up of the approximate inverses and its part of T_total."""

    def text(backend):
        runs = [(m, run_of(results, backend, case, m)) for m in ISAI]
        return ", ".join(
            f"{COLUMNS[m]} {milliseconds(run['pattern_s'])} + {milliseconds(run['values_s'])}"
            f" = {digits(100 * inverses(run) / run['solve_s'])} %"
            for m, run in runs
            if run
        )

    return both(results, text)


def ratio(results, case, method, others, quantity):
    """Returns how many times smaller a quantity is than with each of the other methods."""

    def text(backend):
        run = run_of(results, backend, case, method)
        there = [(o, run_of(results, backend, case, o)) for o in others]
        return ", ".join(
            f"{digits(quantity(other) / quantity(run))} × {COLUMNS[name]}"
            for name, other in there
            if run and other
        )

    return both(results, text)


def setup_row(results, case, figure, published):
    return row(
        where=f"Figure {figure}, {case.name}: pattern + values, part of T_total",
        published=published,
        ours=share(results, case),
        command=case.command(),
        note=" ".join([source(results, case), "without conversions: see below"]).strip(),
    )


def speedup_row(results, case, figure, method, others, published):
    return row(
        where=f"Figure {figure}, {case.name}: speed-up of {COLUMNS[method]}, with its set-up",
        published=published, ours=ratio(results, case, method, others, overall),
        command=case.command(), note=source(results, case)
    )


def part(run):
    """Returns the part of T_total that all applications of the preconditioner take."""
    if not run:
        return None
    return f"{digits(100 * run['apply30_s'] / 30 * run['iterations'] / run['solve_s'])} %"


def more_iterations(results, backend, case):
    exact = run_of(results, backend, case, OWN)
    runs = [run_of(results, backend, case, m) for m in reversed(ISAI)]
    if not exact or not all(runs):
        return None
    return ", ".join(f"{100 * run['iterations'] / exact['iterations'] - 100:.0f} %" for run in runs)


def claim_rows(results):
    atmosmodd, shell, cavity, venkat = CASES
    for section, case, published in (
        ("4.2", atmosmodd, "12.4 × PETSc"), ("4.3", shell, "2.55 × PETSc"),
        ("4.5", venkat, "nearly 1/4 × PETSc")
    ):
        yield row(
            where=f"Section {section}: speed-up of T_p, cuSPARSE, {case.name}", published=published,
            ours=ratio(results, case, CUSPARSE, [PETSC], t_p), command=case.command(),
            note=source(results, case)
        )
    yield row(
        where="Section 4.3: T_p of cuSPARSE, part of T_total, af_shell3", published="88 %",
        ours=both(results, lambda b: part(run_of(results, b, shell, CUSPARSE))),
        command=shell.command(), note=source(results, shell)
    )
    yield row(
        where="Section 4.4: more iterations than exact solves, cavity, ISAI(3), (2), (1)",
        published="14 %, 34 %, 75 %",
        ours=both(results, lambda b: more_iterations(results, b, cavity)), command=cavity.command()
    )
    yield row(
        where="Section 3.2: memory of the small systems, if 200 000 of them with 10 block rows of 3"
        " were stored",
        published="over 750 MB",
        ours="0: each block is read from L or U when it is needed, and the columns are in shared"
        " memory",
        command=cavity.command(),
    )

    def solve(run):
        return run["solve_s"]

    def best(backend):
        found = []
        for case in CASES:
            exact = run_of(results, backend, case, CUSPARSE)
            runs = [run_of(results, backend, case, m) for m in ISAI]
            if exact and any(runs):
                found.append(exact["solve_s"] / min(solve(run) for run in runs if run))
        return found and f"{digits(min(found))} × to {digits(max(found))} ×"

    yield row(
        where="Abstract: T_total of the best ISAI against cuSPARSE, four matrices",
        published="1.4 × to 6.9 ×", ours=both(results, best),
        command="python3 bench/papers BUILD --only block-isai", note="three of four are stand-ins"
    )
    yield row(
        where="Section 3.2, Algorithm 2: time of the kernel over ours, NL and NU, k = 1, 2, 3",
        published="1", ours="GPU: cavity 2.6, 2.6, 2.9; shell 1.7, 2.3, 3.3",
        command="# the prototype of docs/decisions/block-isai.md, measured once",
        note="[why](../../docs/decisions/block-isai.md)"
    )


def rows(results):
    atmosmodd, shell, cavity, venkat = CASES
    exact = [PETSC, CUSPARSE]
    return [
        *(found for case in CASES for found in table_rows(results, case)),
        setup_row(results, atmosmodd, 4, "ISAI(1) 2.5 %, ISAI(2) 5.8 %"),
        speedup_row(results, atmosmodd, 5, ISAI[0], exact, "12.6 × PETSc, faster than cuSPARSE"),
        setup_row(results, shell, 6, "comparable to T_total"),
        speedup_row(results, shell, 7, ISAI[0], exact, "more than 5 × PETSc, 3.9 × cuSPARSE"),
        setup_row(results, cavity, 8, "at most 4 %"),
        speedup_row(results, cavity, 9, ISAI[2], exact, "6.9 × PETSc and cuSPARSE"),
        row(
            where="Figure 10: the block pattern of venkat50",
            published="15 606 block rows, 107 362 blocks",
            ours=both(results, lambda b: pattern_text(results[b].get("pattern"))),
            command=f"bisai convert --case {venkat.case} --size {venkat.size} a.mtx",
            note=source(results, venkat),
        ),
        setup_row(results, venkat, 11, "only drawn"),
        speedup_row(results, venkat, 12, ISAI[2], exact, "1.92 × PETSc, 6.69 × cuSPARSE"),
        *claim_rows(results),
    ]


def pattern_text(found):
    return (
        found and f"{found['block_rows']} block rows, {sum(n for *_, n in found['cells'])} blocks"
    )


def reasons(results):
    """Yields why the speed-ups on the GPU differ from the published ones."""
    cavity = CASES[2]
    exact, isai = (run_of(results, "cuda", cavity, m) for m in (CUSPARSE, ISAI[0]))
    if not exact or not isai:
        return

    def rest(t, total, iterations):
        """Returns the microseconds of an iteration without the preconditioner."""
        return 1e3 * (total / iterations - t / 30)

    own = rest(1e3 * t_p(isai), 1e3 * isai["solve_s"], isai["iterations"])
    theirs = rest(*cavity.published[ISAI[0]])
    products = cavity.published[ISAI[0]][0] / (1e3 * t_p(isai))
    yield (
        "*Speed-ups.* Exact solves wait for one level after another, and a newer GPU makes them"
        f" hardly faster: 30 applications of cuSPARSE's on the cavity take"
        f" {milliseconds(t_p(exact))} ({cavity.published[CUSPARSE][0]} ms published). Products take"
        f" the time of their bytes, and those of ISAI(1) are {digits(products)} times as fast as"
        f" published. The rest of an iteration takes {digits(own)} µs ({digits(theirs)} µs"
        " published): GMRES here reads each vector of its basis twice and does not wait for the"
        " host. ISAI is therefore further ahead of exact solves than in the paper. PETSc's"
        " solves run on one processor, whose speed and whose distance from the GPU set their time."
    )
    yield ""


def tables(results):
    """Yields the reasons of differences, and the times of the paper's way by cuSPARSE's parts."""
    if "cuda" not in results:
        return
    yield from reasons(results)
    yield from [
        "*Set-up.* The paper converts the patterns of NL and NU from rows to columns and the"
        " inverses back, four conversions in all. Here a pattern is made in both forms, and the"
        " values are stored where the products read them. *pattern* therefore has the place of the"
        " paper's pattern and conversions. The table has both ways on the GPU: patterns by"
        " cuSPARSE's SpGEMM and products by its `bsrmv` as in the paper, and the library's own.",
        "",
        "| matrix | method | pattern, ms | values, ms | T_p, ms | T_total, ms |",
        "|---|---|---|---|---|---|",
    ]
    for case in CASES:
        for own, theirs in zip(ISAI, THEIRS):
            for method, name in (own, COLUMNS[own]), (theirs, f"{COLUMNS[own]} by cuSPARSE"):
                run = run_of(results, "cuda", case, method)
                if run:
                    keys = run["pattern_s"], run["values_s"], t_p(run), run["solve_s"]
                    cells = " | ".join(digits(1e3 * value) for value in keys)
                    yield f"| {case.name} | {name} | {cells} |"


def series(value):
    """Returns bars of value(case, method) for each method that has one."""
    found = [
        (COLUMNS.get(m, "own exact"), SHADES[m], [value(case, m) for case in CASES]) for m in SHADES
    ]
    return [bar for bar in found if any(bar[2])]


def draw_beside(path, unit, titles, theirs, ours):
    """Draws bars of the paper and bars of ours side by side, on the same logarithmic scale."""
    names = [case.name for case in CASES]
    left, right = series(theirs), series(ours)
    found = [value for _, _, values in left + right for value in values if value]
    commands = (
        "set logscale y", f"set yrange [{min(found) / 2:.3g}:{max(found) * 2:.3g}]",
        "set format y '%g'", "set xtics rotate by -20", "set tmargin 6", "set bmargin 4",
        "set rmargin 5"
    )
    pictures.picture(
        path, pictures.bars(titles[0], unit, names, left, *commands),
        pictures.bars(titles[1], unit, names, right, *commands), width=1400, height=560
    )


def draw_times(results, backend, path):
    def ours(case, method):
        run = run_of(results, backend, case, method)
        return run and 1e3 * overall(run)

    draw_beside(
        path, "milliseconds",
        ("published, V100: T_total", f"here, {DEVICES[backend]}: T_total and set-up of ISAI"),
        lambda case, method: case.published[method][1] if method in case.published else None, ours
    )


def draw_speedups(results, path):
    def theirs(case, method):
        found = case.published.get(method)
        return found and case.published[PETSC][1] / found[1]

    def ours(case, method):
        run, petsc = (run_of(results, "cuda", case, m) for m in (method, PETSC))
        return overall(petsc) / overall(run) if run and petsc else None

    draw_beside(
        path, "times as fast as with PETSc's solves",
        ("published, V100: T_total", "here, GPU: T_total and set-up of ISAI"), theirs, ours
    )


def draw_setup(results, backend, path):
    runs = [(c, m, run_of(results, backend, c, m)) for c in CASES for m in ISAI]
    found = [(f"{c.name}, {COLUMNS[m]}", run) for c, m, run in runs if run]
    pictures.picture(
        path,
        pictures.bars(
            f"set-up of the approximate inverses, {DEVICES[backend]}",
            "milliseconds",
            [name for name, _ in found],
            [
                ("pattern", "#bbbbbb", [1e3 * run["pattern_s"] for _, run in found]),
                ("values", COLOURS["isai:k=2"], [1e3 * run["values_s"] for _, run in found]),
            ],
            "set xtics rotate by -35",
            stacked=True,
        ),
        width=1100,
    )


def draw_pattern(found, name, path):
    rows = found["block_rows"]
    side = rows / CELLS
    points = [[(j + 0.5) * side, (i + 0.5) * side, count] for i, j, count in found["cells"]]
    pictures.picture(
        path,
        [
            *pictures.data("d", points), f"set title 'blocks of {name}, {rows} block rows'",
            f"set xrange [0:{rows}]", f"set yrange [{rows}:0]",
            f"set xtics {10 ** (len(str(rows)) - 1) // 2}",
            f"set ytics {10 ** (len(str(rows)) - 1) // 2}", "set size square", "set border 15",
            "unset key", "set xlabel 'block column'", "set ylabel 'block row'",
            "set palette defined (0 '#99bbdd', 1 '#223366')", "set cblabel 'blocks in a cell'",
            "plot $d using 1:2:3 with points pointtype 5 pointsize 0.35 linecolor palette"
        ],
        width=760,
        height=640,
    )


def draw(results, folder):
    drawn = []
    for backend in (b for b in common.BACKENDS if b in results):
        device = DEVICES[backend]
        name = f"papers-block-isai-times-{backend}.svg"
        draw_times(results, backend, folder / name)
        drawn.append(
            (name, f"Figures 5, 7, 9 and 12, times: the paper's and ours on the {device}.")
        )
        name = f"papers-block-isai-setup-{backend}.svg"
        draw_setup(results, backend, folder / name)
        drawn.append((name, f"Figures 4, 6, 8 and 11, set-up without the factors, {device}."))
    if any(run_of(results, "cuda", case, PETSC) for case in CASES):
        name = "papers-block-isai-speedups.svg"
        draw_speedups(results, folder / name)
        drawn.append((name, "Figures 5, 7, 9 and 12, speed-ups over PETSc's triangular solves."))
    case = CASES[-1]
    for found in [results[b] for b in results if "pattern" in results[b]][:1]:
        itself = found[case.name]["source"] == "the matrix itself"
        matrix = case.name if itself else f"the case {case.case}"
        name = "papers-block-isai-pattern.svg"
        draw_pattern(found["pattern"], matrix, folder / name)
        drawn.append((name, f"Figure 10, the pattern of {matrix}."))
    return drawn
