# SPDX-License-Identifier: BSD-3-Clause
"""Ma et al. (2021): GMRES(30) with block-ISAI, compared with exact triangular solves."""

import json
import pathlib
import tempfile

import common
import pictures
import published
import tables as markdown
from common import DEVICES, digits, milliseconds, row
from pictures import COLOURS

NAME = "block-isai"
TITLE = "Block-ISAI: Ma et al. 2021"
INTRODUCTION = """
*GPU Preconditioning for Block Linear Systems Using Block Incomplete Sparse Approximate Inverses*,
measured on a Tesla V100 with CUDA 10.0 and PETSc 3.14.2, in fp64, with GMRES(30) preconditioned
from the right. T_p is the time of 30 applications of the preconditioner, or of all if there are
fewer. T_total is the time of the solve, without the factors and without the set-up. *All in* is our
time from the matrix to the solution, with the factors and the set-up. The times are those of the
run with the median of the all-in times of three runs on the GPU, and of one run with PETSc's
solves; the least all-in time is in brackets. On the host each method ran once after a
warm-up. *PETSc* is PETSc's block triangular solves on the CPU with copies of the vectors between
the CPU and the GPU, where GMRES runs. On the host GMRES runs on the CPU too. Figures 1 to 3 are
drawings.

The stand-ins have the grid or the number of nodes of the paper's matrices, and their block sizes:
[atmosphere](../../cases/atmosphere/README.md), [shell](../../cases/shell/README.md) with the time
step at which block ILU(0) takes the paper's 25 iterations,
[euler](../../cases/euler/README.md). The paper does not define its cavity. The
[cavity](../../cases/cavity/README.md) is a reconstruction that takes all four of the paper's counts
of iterations, and here its iterations have to be these. *×* is the number of iterations over that
of exact solves: where it differs between the matrix and its stand-in, so do the methods' merits.
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
# The paper's way of set-up and application, on our GPU.
THEIRS = [f"{m}:pattern=cusparse:apply=cusparse" for m in ISAI]
# and with the paper's factors, which the program makes in a build with PETSc only
WHOLE = [m.replace(":pattern", ":factors=petsc:pattern") for m in THEIRS]

# what of a run is kept
KEPT = (
    "iterations converged reason relative_residual factor_s pattern_s values_s setup_s analysis_s"
    " apply30_s solve_s total_s least_total_s repeats blocks memory_bytes"
).split()


class Case:
    """A matrix of the paper.

    case, size, quick: the case that stands in for it, its size, and its size for a quick try
    host: its size on the host, if that is another
    published: (T_p, T_total, iterations) of each method of the paper's table
    """

    def __init__(self, name, table, case, size, quick, tolerance, same=False, host=None):
        self.name, self.table, self.case = name, table, case
        self.size, self.quick, self.tolerance = size, quick, tolerance
        self.host = host or size
        self.published = dict(zip(COLUMNS, published.BLOCK_ISAI[name]))
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

    def command(self, itself=False):
        source = f"{self.name}.mtx --rhs ones" if itself else (
            f"--case {self.case} --size {self.size} --tolerance {self.tolerance}"
        )
        return (
            f"bisai compare {source} --backend cuda --repeat 3 --methods"
            f" {','.join([*self.published, OWN])}"
        )


CASES = [
    Case("atmosmodd", 1, "atmosphere", "148,148,58", "20", "1e-8", host="74,74,58"),
    Case("af_shell3", 2, "shell:step=2.1e-5", "317", "40", "1e-8"),
    Case("cavity", 3, "cavity", "300", "64", "1e-5", same=True),
    Case("venkat50", 4, "euler", "102", "30", "1e-8"),
]


def run_record(run):
    return {key: run.get(key) for key in KEPT}


def compare(bench, case, methods, repeat):
    """Returns the program's document, or None if it refuses, as it does without PETSc."""
    return bench.attempt(
        f"{case.name} with {', '.join(methods)}", bench.json, "bisai", "compare",
        *case.system(bench)[1], "--backend", bench.backend, "--solver", "gmres",
        "--max-iterations", 4000, "--repeat", repeat, "--methods", ",".join(methods)
    )


def sets_of(bench, case, repeat):
    """Returns the sets of methods of a case and how often each is run. PETSc's take seconds."""
    own, few = [OWN, *(m for m in case.methods() if m in ISAI)], 1
    if bench.backend != "cuda":
        return [(own, repeat), ([PETSC], few)]
    both = [*own, CUSPARSE, *THEIRS[: len(own) - 1]]
    return [(both, repeat), (WHOLE[: len(own) - 1], few), ([PETSC], few)]


def measure_cases(bench, repeat):
    """Returns the runs of each case: the first sets of all cases, then the second ones, and so on,
    so that a lack of time ends with what takes longest."""
    results = {case.name: {"source": case.system(bench)[0], "runs": {}} for case in CASES}
    for turn in zip(*(sets_of(bench, case, repeat) for case in CASES)):
        for case, (methods, times) in zip(CASES, turn):
            document = compare(bench, case, methods, times)
            if document:
                runs = zip(methods, document["runs"])
                results[case.name]["matrix"] = document["matrix"]
                results[case.name]["runs"].update((m, run_record(run)) for m, run in runs)
    return results


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


# The real matrices whose factors are updated by sweeps.
UPDATED = (
    "sherman1", "sherman4", "sherman5", "orsirr_1", "jpwh_991", "rdb1250", "add32", "watt_1",
    "nos3", "pde2961", "olm1000", "SPE01_bsr3", "teko_lsc_F_2", "opm_spe9_s7", "cage10",
    "wathenSmall"
)


def updates(bench):
    """Returns the figures of bench_updates."""
    files = [path for path in map(bench.matrix, UPDATED) if path and not bench.quick]
    scale = 8 if bench.quick else 1 if bench.backend == "cuda" else 2
    options = ["--backend", bench.backend, "--rounds", 3, "--scale", scale]
    if bench.backend == "host":
        options += ["--threads", 1]
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "updates.json"
        bench.run("bench/bench_updates", *options, "--json", path, *files, timeout=200)
        return json.loads(path.read_text())


def measure(bench):
    repeat = 3 if bench.backend == "cuda" and not bench.quick else 1
    results = measure_cases(bench, repeat)
    if bench.backend == "cuda":
        scale = ["--scale", 4] if bench.quick else []
        found = bench.attempt("Algorithm 2", bench.json, "bench/bench_algorithm2", *scale)
        results["algorithm2"] = found["results"] if found else []
    found = bench.attempt("updates by sweeps", updates, bench)
    results["updates"] = found["figures"] if found else []
    drawn = bench.attempt("Figure 10", pattern, bench, CASES[-1])
    return {**results, "pattern": drawn} if drawn else results


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
    if case.same:
        return "reconstructed" if case.name == "cavity" else ""
    if itself(results, case):
        return "the matrix itself, b of ones"
    return f"stand-in: case `{case.case}`"


def itself(results, case):
    """Returns true if the matrix of the paper was measured, on each backend."""
    found = [results[b][case.name]["source"] for b in results if case.name in results[b]]
    return bool(found) and all(text == "the matrix itself" for text in found)


def command_of(results, case):
    return case.command(itself(results, case))


def over_exact(iterations, exact):
    return f" ({digits(iterations / exact)} ×)" if exact else ""


def table_rows(results, case):
    for method in (*case.methods(), OWN):
        t, total, iterations = case.published.get(method, (None, None, None))
        there = case.published[PETSC][2]

        def text(backend, method=method):
            run, exact = (run_of(results, backend, case, m) for m in (method, OWN))
            return run and (
                f"{size_of(results, backend, case)}{milliseconds(t_p(run))},"
                f" {milliseconds(run['solve_s'])}, {run['iterations']}"
                f"{over_exact(run['iterations'], exact and exact['iterations'])};"
                f" all in {milliseconds(run['total_s'])} ({milliseconds(run['least_total_s'])})"
            )

        yield row(
            where=f"Table {case.table}, {case.name}, {COLUMNS.get(method, 'bisai exact')}:"
            " T_p, T_total, iterations (×)",
            published=published.claim("none") if method == OWN else
            f"{t} ms, {total} ms, {iterations}{over_exact(iterations, there)}",
            ours=both(results, text), command=command_of(results, case),
            note="; ".join(
                filter(None, [source(results, case), other_merit(results, case, method)])
            )
        )


APART = 1.25  # a stand-in that is further from the matrix than this behaves differently


def other_merit(results, case, method):
    """Returns a note if the method needs another multiple of the exact solves' iterations."""
    runs = [run_of(results, "cuda", case, m) for m in (method, OWN)]
    if method not in ISAI or not all(runs):
        return ""
    theirs = case.published[method][2] / case.published[PETSC][2]
    ours = runs[0]["iterations"] / runs[1]["iterations"]
    if max(theirs / ours, ours / theirs) <= APART:
        return ""
    easier = "less" if ours > theirs else "more"
    return (
        f"the inverses are worth {easier} than in the paper: {digits(ours)} × the iterations of"
        f" exact solves, published {digits(theirs)} ×"
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


def setup_row(results, case, figure):
    return row(
        where=f"Figure {figure}, {case.name}: pattern + values, part of T_total",
        published=published.claim(f"isai figure {figure}"),
        ours=share(results, case),
        command=command_of(results, case),
        note=" ".join([source(results, case), "without conversions: see below"]).strip(),
    )


def speedup_row(results, case, figure, method, others):
    return row(
        where=f"Figure {figure}, {case.name}: speed-up of {COLUMNS[method]}, with its set-up",
        published=published.claim(f"isai figure {figure}"),
        ours=ratio(results, case, method, others, overall),
        command=command_of(results, case), note=source(results, case)
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
    for section, case in ("4.2", atmosmodd), ("4.3", shell), ("4.5", venkat):
        yield row(
            where=f"Section {section}: speed-up of T_p, cuSPARSE, {case.name}",
            published=published.claim(f"isai section {section}"),
            ours=ratio(results, case, CUSPARSE, [PETSC], t_p), command=command_of(results, case),
            note=source(results, case)
        )
    yield row(
        where="Section 4.3: T_p of cuSPARSE, part of T_total, af_shell3",
        published=published.claim("isai section 4.3, part"),
        ours=both(results, lambda b: part(run_of(results, b, shell, CUSPARSE))),
        command=command_of(results, shell), note=source(results, shell)
    )
    yield row(
        where="Section 4.4: more iterations than exact solves, cavity, ISAI(3), (2), (1)",
        published=published.claim("isai section 4.4"),
        ours=both(results, lambda b: more_iterations(results, b, cavity)),
        command=command_of(results, cavity)
    )
    yield row(
        where="Section 4.5: iterations of ISAI(1) over those of exact solves, venkat50",
        published=published.claim("isai section 4.5, iterations"),
        ours=both(results, lambda b: times_exact(results, b, venkat)),
        command=command_of(results, venkat), note=source(results, venkat)
    )
    for size in (3, 5):
        yield row(
            where="Section 3.2: memory of the small systems, if 200 000 of them with 10 block rows"
            f" of {size} were stored",
            published=published.claim(f"isai section 3.2, blocks of {size}"),
            ours=f"{digits(small_systems(200000, 10, size) / 1e6)} MB by the paper's formula; 0"
            " here: each block is read from L or U when it is needed, and the columns are in shared"
            " memory",
            command=command_of(results, cavity),
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
        published=published.claim("isai abstract"), ours=both(results, best),
        command="python3 bench/papers BUILD --only block-isai", note=stand_ins(results)
    )
    yield row(
        where="Section 3.2, Algorithm 2: its time over that of ours, NL and NU together",
        published=published.claim("isai section 3.2, Algorithm 2"),
        ours=algorithm2(results), command="bench_algorithm2",
        note="[what differs](../../docs/decisions/block-isai.md)"
    )


def times_exact(results, backend, case):
    runs = [run_of(results, backend, case, m) for m in (ISAI[0], OWN)]
    return all(runs) and f"{digits(runs[0]['iterations'] / runs[1]['iterations'])} times"


def small_systems(columns, rows, size):
    """Returns the bytes of triangular systems in fp64 (section 3.2)."""
    return 8 * size**2 * columns * rows * (rows + 1) // 2


def stand_ins(results):
    names = [case.name for case in CASES if not case.same and not itself(results, case)]
    return f"stand-ins for {', '.join(names)}" if names else ""


def algorithm2(results):
    """Returns the times of the paper's kernel over those of ours."""
    found = results.get("cuda", {}).get("algorithm2")
    if not found:
        return common.NOT_MEASURED
    parts = [
        f"{r['what']}, k = {r['power']:.0f}: {digits(r['theirs'] / r['seconds'])} × of"
        f" {milliseconds(r['seconds'])}, and {milliseconds(r['right'])} for its right-hand sides"
        for r in found
    ]
    return f"GPU: {'; '.join(parts)}"


def rows(results):
    atmosmodd, shell, cavity, venkat = CASES
    exact = [PETSC, CUSPARSE]
    return [
        *(found for case in CASES for found in table_rows(results, case)),
        setup_row(results, atmosmodd, 4),
        speedup_row(results, atmosmodd, 5, ISAI[0], exact),
        setup_row(results, shell, 6),
        speedup_row(results, shell, 7, ISAI[0], exact),
        setup_row(results, cavity, 8),
        speedup_row(results, cavity, 9, ISAI[2], exact),
        row(
            where="Figure 10: the block pattern of venkat50",
            published=published.claim("isai figure 10"),
            ours=both(results, lambda b: pattern_text(results[b].get("pattern"))),
            command=f"bisai convert --case {venkat.case} --size {venkat.size} a.mtx",
            note=source(results, venkat),
        ),
        setup_row(results, venkat, 11),
        speedup_row(results, venkat, 12, ISAI[2], exact),
        *claim_rows(results),
        update_row(results),
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
        " On two machines of this kind it differed by almost a factor of two, and so do the"
        " speed-ups over PETSc."
    )
    yield ""


def fastest(results):
    """Yields which method of a table is the fastest, with everything."""
    for backend in (b for b in common.BACKENDS if b in results):
        parts = []
        for case in CASES:
            runs = {m: run_of(results, backend, case, m) for m in (*case.methods(), OWN)}
            times = {m: run["total_s"] for m, run in runs.items() if run}
            isai = [m for m in times if m in ISAI]
            if OWN not in times or not isai:
                continue
            best = min(times, key=times.get)
            name = COLUMNS.get(best, "exact solves of bisai")
            text = f"{case.name} {name} {milliseconds(times[best])}"
            other = OWN if best in ISAI else min(isai, key=times.get)
            name = "exact solves of bisai" if other == OWN else COLUMNS[other]
            parts.append(f"{text} ({name} {milliseconds(times[other])})")
        if parts:
            yield f"*Fastest of each table on the {DEVICES[backend]}, all in:* {', '.join(parts)}."
            yield ""


def tables(results):
    """Yields the reasons of differences, and the times of the paper's way by cuSPARSE's parts."""
    yield from fastest(results)
    yield from update_table(results)
    if "cuda" not in results:
        return
    yield from reasons(results)
    yield from [
        "*Set-up.* The paper converts the patterns of NL and NU from rows to columns and the"
        " inverses back, four conversions in all. Here a pattern is made in both forms, and the"
        " values are stored where the products read them. *pattern* therefore has the place of the"
        " paper's pattern and conversions. The table has both ways on the GPU: patterns by"
        " cuSPARSE's products of matrices and its `bsrmv` as in the paper, and the library's own."
        " The paper calls `csrgemm`, which cuSPARSE no longer has; its successor for products of"
        " which only the pattern is needed is `SpGEMMreuse`, whose first two stages find the"
        " pattern. The pattern of k = 1 is that of L or U: it takes no product, and the time is"
        " left out. *The paper's way* has the factors of PETSc, too.",
        "",
        "| matrix | method | pattern, ms | values, ms | T_p, ms | T_total, ms |",
        "|---|---|---|---|---|---|",
    ]
    for case in CASES:
        for own, theirs, whole in zip(ISAI, THEIRS, WHOLE):
            for method, name in (
                (own, COLUMNS[own]), (theirs, f"{COLUMNS[own]} by cuSPARSE"),
                (whole, f"{COLUMNS[own]}, the paper's way")
            ):
                run = run_of(results, "cuda", case, method)
                if run:
                    no_product = method != own and own == ISAI[0]
                    pattern_s = None if no_product else run["pattern_s"]
                    keys = pattern_s, run["values_s"], t_p(run), run["solve_s"]
                    cells = " | ".join(digits(value and 1e3 * value) for value in keys)
                    yield f"| {case.name} | {name} | {cells} |"


EXACT, STALE = 0, -1  # of bench_updates, beside numbers of sweeps


def ways_of(record):
    return {way["sweeps"]: way for way in record["ways"]}


def enough(record):
    """Returns the least number of sweeps with which ILU takes at most a tenth and one more
    iterations than with exact factors, or None."""
    ways = ways_of(record)
    exact = ways[EXACT]["ilu"]
    good = [s for s, way in ways.items() if s > 0 and 0 < way["ilu"] <= 1.1 * exact + 1]
    return min(good, default=None)


def update_row(results):
    parts = []
    for backend in (b for b in common.BACKENDS if results.get(b, {}).get("updates")):
        found = [r for r in results[backend]["updates"] if ways_of(r)[EXACT]["ilu"] > 0]
        there = [(r, enough(r)) for r in found]
        gains = [
            ways_of(r)[EXACT]["update"] / ways_of(r)[s]["update"] for r, s in there if s
        ]
        faster = sum(gain > 1 for gain in gains)
        counts = ", ".join(
            f"{s}: {sum(n == s for _, n in there)}" for s in (1, 2, 3, 5)
        )
        parts.append(
            f"{DEVICES[backend]}: sweeps for as many iterations as exact factors (a tenth and one"
            f" more), of {len(found)} changed systems: {counts}, more:"
            f" {sum(not n for _, n in there)};"
            f" then an update is faster on {faster}, {digits(min(gains))} to {digits(max(gains))} ×"
        )
    return row(
        where="ParILU (background): updates of block ILU by sweeps",
        published=published.claim("none"), ours="<br>".join(parts) or common.NOT_MEASURED,
        command="bench_updates", note="`ilu:updates=R`; the table below has each system"
    )


def update_table(results):
    """Yields the table of updates by sweeps."""
    for backend in (b for b in common.BACKENDS if results.get(b, {}).get("updates")):
        yield from [
            "", "Updates of block ILU(0) by sweeps (`updates=R`, after Chow and Patel 2015),"
            f" {DEVICES[backend]}: the diagonal of a system grows by up to a part of it at random,"
            " its factors are updated, and GMRES(30) solves it with b of ones to 10⁻⁸. A cell has"
            " the milliseconds of an update, the iterations with exact solves, and with ISAI(1) and"
            " a relaxation; a dash stands for more than 2000. *None*: the factors stay as they"
            " were.",
            "",
            *markdown.heading(
                "system", "block rows", "levels", "change", "exact", "1 sweep", "2", "3", "5",
                "none"
            )
        ]
        for record in results[backend]["updates"]:
            ways = ways_of(record)
            cells = []
            for sweeps, way in ways.items():
                counts = [str(way[key]) if way[key] >= 0 else "–" for key in ("ilu", "isai")]
                took = f"{digits(1e3 * way['update'])} ms, " if sweeps != STALE else ""
                cells.append(took + ", ".join(counts))
            yield (
                f"| {record['system']} | {record['block_rows']} | {record['levels']} |"
                f" {100 * record['change']:.0f} % | {' | '.join(cells)} |"
            )


def series(value):
    """Returns bars of value(case, method) for each method that has one."""
    found = [
        (COLUMNS.get(m, "own exact"), SHADES[m], [value(case, m) for case in CASES]) for m in SHADES
    ]
    return [bar for bar in found if any(bar[2])]


def draw_beside(path, unit, titles, theirs, ours):
    """Draws bars of the paper and bars of ours side by side, on the same logarithmic scale."""
    if not series(ours):
        return
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
    if not found:
        return
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
