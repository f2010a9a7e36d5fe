# SPDX-License-Identifier: BSD-3-Clause
"""Anzt et al. (2017, slides) and (2018, abstract): Gauss-Huard, and blocks of different sizes."""

import pathlib

import common
import pictures
import published
import tables as text
from common import DEVICES, digits, milliseconds, row
from pictures import COLOURS

NAME = "gauss-huard"
TITLE = "Gauss–Huard and variable sizes: the slides of 2017 and the abstract of 2018"
INTRODUCTION = """
*Batched Generation of Block-Jacobi Preconditioners for Iterative Sparse Linear System Solvers on
GPUs* (slides, GP100, MAGMA-sparse) and *Variable-Size Batched Gauss–Jordan Elimination for
Block-Jacobi Preconditioning on Graphics Processors* (abstract, Tesla K40 and P100). Both show their
times in pictures, and the texts give no numbers: *a picture* below. Everything is in fp64. A
*floor* is the time in which a copy on the device moves the bytes of the blocks, of the pivots and
of the vectors. All times are warm medians: of 5 repeats in the batches and of 3 in the solves (on
the host, with smaller systems), with the least total in brackets. BiCGSTAB stops at a relative
residual of 1e-8 and applies the preconditioner twice in each iteration.
"""

# the name of a form in the programs, its name in the slides, its colour
FORMS = {
    "inverse": ("inversion", COLOURS["gauss-jordan"]),
    "gh": ("GH", COLOURS["gauss-huard"]),
    "ght": ("GH-T", COLOURS["gauss-huard-t"]),
    "lu": ("LU", COLOURS["lu"]),
}
CUBLAS = ("cuBLAS LU", COLOURS["cublas"])
BOUNDS = (16, 32)
SCALAR = "bjacobi:max=1"
PICTURE = published.claim("huard picture")

# case, its size on the GPU, on the host, and for a quick try
CASES = (
    ("atmosphere", "148,148,58", "37,37,15", "20"), ("convdiff", "100", "24", "16"),
    ("elasticity", "60", "16", "10"), ("euler:cfl=10", "500", "80", "30")
)
KEPT = (
    "iterations converged reason relative_residual values_s setup_s apply30_s solve_s total_s"
    " least_total_s repeats"
).split()

BATCHES = "bench_batches --only {} --rounds 5 --json batches.json"
REAL = pathlib.Path(__file__).resolve().parent.parent / "results" / "block-jacobi-cpu.json"


def method(bound, form):
    return f"bjacobi:max={bound}" + ("" if form == "inverse" else f":form={form}")


METHODS = [SCALAR, *(method(bound, form) for bound in BOUNDS for form in FORMS)]


def solve(bench, case, size):
    """Returns a record of each method."""
    document = bench.json(
        "bisai", "compare", "--backend", bench.backend, "--case", case, "--size", size, "--solver",
        "bicgstab", "--tolerance", "1e-8", "--max-iterations", 2000, "--repeat",
        1 if bench.quick else 3, "--methods", ",".join(METHODS)
    )
    runs = {m: {key: run.get(key) for key in KEPT} for m, run in zip(METHODS, document["runs"])}
    return {"matrix": document["matrix"], "size": size, "runs": runs}


def measure(bench):
    results = {"solves": {}}
    for case, device, host, quick in CASES:
        size = quick if bench.quick else device if bench.backend == "cuda" else host
        found = bench.attempt(f"BiCGSTAB, {case}", solve, bench, case, size)
        if found:
            results["solves"][case] = found
    if bench.backend == "cuda":
        rounds, size = (3, 1 << 25) if bench.quick else (5, 1 << 30)
        for part, letter in ("forms", "f"), ("decompositions", "d"), ("mixed", "m"):
            arguments = ("--only", letter, "--rounds", rounds, "--bytes", size)
            found = bench.attempt(part, bench.json, "bench/bench_batches", *arguments)
            results[part] = found["results"] if found else []
    return results


# --- what was measured ---


def batch(results, part, what, **keys):
    """Returns the first figures of a part with these keys, or None."""
    for found in results.get("cuda", {}).get(part) or []:
        if found["what"] == what and all(found.get(key) == value for key, value in keys.items()):
            return found
    return None


def solves_of(results, backend):
    return results.get(backend, {}).get("solves") or {}


def run_of(results, backend, case, name):
    run = solves_of(results, backend).get(case, {}).get("runs", {}).get(name)
    return run if run and run["converged"] else None


def both(results, function):
    """Returns the text of each backend for which function(backend) has one."""
    found = [(DEVICES[b], function(b)) for b in common.BACKENDS if b in results]
    return "<br>".join(f"{name}: {value}" for name, value in found if value) or common.NOT_MEASURED


def each_form(value, forms=FORMS):
    """Returns "inversion …, GH …" with value(form), without forms that have none."""
    found = [(FORMS[form][0], value(form)) for form in forms]
    return ", ".join(f"{name} {value}" for name, value in found if value) or common.NOT_MEASURED


def ratio(over, under, key):
    return f"{digits(over[key] / under[key])} ×" if over and under else None


def case_command(case, size):
    return (
        f"bisai compare --backend cuda --case {case} --size {size} --solver bicgstab --tolerance"
        f" 1e-8 --repeat 3 --methods {','.join(METHODS)}"
    )


# --- rows ---


def batch_rows(results):
    def figures(part, form, key, **keys):
        found = batch(results, part, form, **keys)
        return found and digits(found[key])

    for m in BOUNDS:
        cublas = batch(results, "forms", "cublas", size=m)

        def setup(form, m=m, cublas=cublas):
            found = batch(results, "forms", form, size=m)
            return found and (
                f"{digits(found['setup_gflops'])} GFlop/s"
                f" = {ratio(cublas, found, 'setup')} cuBLAS, {digits(found['setup_ratio'])} floors"
            )

        def applied(form, m=m, cublas=cublas):
            found = batch(results, "forms", form, size=m)
            return found and (
                f"{milliseconds(found['apply'])} = {digits(found['apply_ratio'])} floors"
            )

        yield row(
            where=f"Slides, *Decomposition comparison to batched LU*, blocks of {m}",
            published=published.claim("huard decomposition"),
            ours=each_form(setup, ("gh", "ght", "lu")),
            command=BATCHES.format("fd"), note="against cuBLAS's `getrfBatched`; 1 GiB of blocks"
        )
        yield row(
            where=f"Slides, *Application time*, blocks of {m}",
            published=PICTURE,
            ours=each_form(applied)
            + (f"; cuBLAS LU {milliseconds(cublas['apply'])}" if cublas else ""),
            command=BATCHES.format("fd"),
            note="1 GiB of blocks",
        )
        yield row(
            where=f"Slides, GH-T stores the lower part for coalesced reads: application of GH over"
            f" GH-T, blocks of {m}",
            published=published.claim("huard coalesced"),
            ours=ratio(
                batch(results, "forms", "gh", size=m), batch(results, "forms", "ght", size=m),
                "apply"
            )
            or common.NOT_MEASURED,
            command=BATCHES.format("fd"),
            note="both read whole blocks once, into shared memory, so that the order of the lower"
            " part does not matter to the memory",
        )
        yield row(
            where=f"Slides, *Implementation options*: set-up of inversion over GH, blocks of {m}",
            published=published.claim("huard operations"),
            ours=ratio(
                batch(results, "forms", "inverse", size=m), batch(results, "forms", "gh", size=m),
                "setup"
            )
            or common.NOT_MEASURED,
            command=BATCHES.format("fd"),
            note="exchanges between lanes and the choice of pivots take the time, not operations",
        )
        yield row(
            where=f"Break-even, blocks of {m}: BiCGSTAB's iterations from which inversion is faster"
            " than GH",
            published=published.claim("huard break-even"),
            ours=break_even(results, m),
            command=BATCHES.format("fd"),
        )


def break_even(results, m):
    inverse, gh = (batch(results, "forms", form, size=m) for form in ("inverse", "gh"))
    if not inverse or not gh:
        return common.NOT_MEASURED
    more, less = inverse["setup"] - gh["setup"], gh["apply"] - inverse["apply"]
    if more <= 0 and less >= 0:
        return "always: set-up and application are faster"
    if more >= 0 and less <= 0:
        return "never"
    return f"{'from' if more > 0 else 'up to'} {digits(more / less / 2)}"


def variable_bound(inverse):
    """Returns why the inversion of blocks of random sizes takes more than the library's bar."""
    if not inverse:
        return ""
    of_a_block = 16 * sum(m * m for m in range(1, 33)) / 32
    text = (
        f". The floor moves {digits(inverse['blocks'] * of_a_block / 1e9)} GB. The bar is 3 floors:"
        f" bytes take a third of the time, and arithmetic goes at {digits(inverse['gflops'])}"
        " GFlop/s; [tuning](../../docs/tuning.md) has what was tried"
    )
    return text if inverse["ratio"] > 3 else ""


def variable_rows(results):
    inverse = batch(results, "mixed", "inverse")

    def setup(form):
        found = batch(results, "mixed", form)
        return found and (
            f"{milliseconds(found['seconds'])} = {digits(found['ratio'])} floors,"
            f" {digits(found['speedup'])} × cuBLAS"
        )

    def applied(form):
        found = batch(results, "mixed", form)
        return found and f"{milliseconds(found['apply'])} = {digits(found['apply_ratio'])} floors"

    where = "Abstract: {}, 200 000 blocks of random sizes 1 … 32"
    yield row(
        where=where.format("variable-size inversion is faster than cuBLAS's batched routines"),
        published=published.claim("variable inversion"),
        ours=each_form(setup),
        command=BATCHES.format("m"),
        note="from CSR, extraction included; cuBLAS: the better of `matinvBatched` and `getrf` +"
        " `getri`, for decompositions `getrf`, one call for each size, without extraction"
        + variable_bound(inverse),
    )
    yield row(
        where=where.format("variable-size batched matrix-vector product, and solves"),
        published=published.claim("variable other"),
        ours=each_form(applied)
        + (f"; cuBLAS `getrs` {milliseconds(inverse['getrs'])}" if inverse else ""),
        command=BATCHES.format("m"),
    )
    yield row(
        where=where.format("the set-up is rapid: set-up over one application"),
        published=published.claim("variable other"),
        ours=each_form(lambda f: over_application(batch(results, "mixed", f))),
        command=BATCHES.format("m"), note="extraction, elimination, and storage together"
    )
    ways = [(name, batch(results, "mixed", f"inverse {name}")) for name in ("UC", "US", "MS")]
    yield row(
        where=where.format("strategies of extraction and insertion, whole set-up"),
        published=published.claim("variable other"),
        ours=", ".join(
            f"{name} {milliseconds(found['seconds'])}"
            for name, found in [("MC", inverse), *ways]
            if found
        )
        or common.NOT_MEASURED,
        command=BATCHES.format("m"),
        note="U: kernels of their own, M: merged; C: through caches, S: through shared memory",
    )


def over_application(found):
    return found and f"{digits(found['seconds'] / found['apply'])} ×"


def solve_rows(results):
    for case, size, _, _ in CASES:
        for bound in BOUNDS:
            yield row(
                where=f"Slides, *Total runtime of block-Jacobi preconditioned BiCGSTAB*, blocks of"
                f" {bound}: {case}",
                published=PICTURE,
                ours=both(results, lambda b, c=case, m=bound: solve_text(results, b, c, m)),
                command=case_command(case, size),
                note=f"stand-in: case `{case}`; total (least), iterations",
            )
    for case, size, _, _ in CASES:
        yield row(
            where=f"Slides and abstract: set-up and application are offset by fewer iterations,"
            f" scalar Jacobi against blocks: {case}",
            published=published.claim("huard offset"),
            ours=both(results, lambda b, c=case: offset_text(results, b, c)),
            command=case_command(case, size),
            note=f"stand-in: case `{case}`; total, iterations",
        )


def solve_text(results, backend, case, bound):
    if case not in solves_of(results, backend):
        return ""

    def one(form):
        run = run_of(results, backend, case, method(bound, form))
        return run and (
            f"{milliseconds(run['total_s'])} ({milliseconds(run['least_total_s'])}),"
            f" {run['iterations']}"
        )

    found = [(FORMS[form][0], one(form)) for form in FORMS]
    texts = ", ".join(f"{name} {value or 'not converged'}" for name, value in found)
    return f"{texts}{smaller(results, backend, case)}"


def smaller(results, backend, case):
    """Returns the size of the system if it is not that of the command."""
    size = solves_of(results, backend)[case]["size"]
    return "" if size in (None, dict((c, s) for c, s, *_ in CASES)[case]) else f" (size {size})"


def offset_text(results, backend, case):
    if case not in solves_of(results, backend):
        return ""

    def one(name):
        run = run_of(results, backend, case, name)
        return f"{milliseconds(run['total_s'])}, {run['iterations']}" if run else "not converged"

    found = [("Jacobi", SCALAR), *((f"max={m}", method(m, "inverse")) for m in BOUNDS)]
    texts = ", ".join(f"{label} {one(name)}" for label, name in found)
    return f"{texts}{smaller(results, backend, case)}"


def robustness_row():
    """The slide on 40 matrices, from the page of the real matrices."""
    where = "Slides, *Benefits of block-Jacobi*: more of 40 matrices converge, IDR"
    command = "python3 bench/block-jacobi/block_jacobi.py bisai MATRICES block-jacobi-cpu.md"
    if not REAL.exists() and not text.compressed(REAL).exists():
        return row(where, PICTURE, command)
    records = [r for r in text.read_json(REAL) if r.get("solver") == "idr:s=4"]
    counts = []
    for bound in (1, 4, 8, 16, 32):
        asked = [r for r in records if r["asked"] == f"bjacobi:max={bound}"]
        counts.append(f"{'Jacobi' if bound == 1 else f'max={bound}'} {converged(asked)}")
    return row(
        where, PICTURE, command, ours=", ".join(counts),
        note="converged / all; other matrices; from [block-jacobi-cpu.md](block-jacobi-cpu.md)"
    )


def converged(records):
    return f"{sum(1 for r in records if r['converged'])}/{len(records)}"


def rows(results):
    return [*batch_rows(results), *solve_rows(results), robustness_row(), *variable_rows(results)]


# --- pictures ---


def draw_batches(results, path, title, key, forms):
    panels = []
    for m in BOUNDS:
        named = [(form, *FORMS[form]) for form in forms] + [("cublas", *CUBLAS)]
        series = []
        for what, label, colour in named:
            points = [
                (found["blocks"], found[key])
                for found in results["cuda"]["decompositions"]
                if found["what"] == what and found["size"] == m
            ]
            series.append((label, colour, sorted(points)))
        panels.append(
            pictures.curves(
                f"{title}, {m} rows", "blocks", "GFlop/s", series, "set logscale x",
                "set yrange [0:*]", "set xrange [700:300000]", "set format x '%g'", "set tmargin 6"
            )
        )
    pictures.picture(path, *panels, width=1400, height=560)


def draw_solves(results, backend, path):
    cases = [case for case, *_ in CASES if case in solves_of(results, backend)]
    panels = []
    for bound in BOUNDS:

        def total(case, name):
            run = run_of(results, backend, case, name)
            return run and 1e3 * run["total_s"]

        bars = [("Jacobi", COLOURS["jacobi"], [total(c, SCALAR) for c in cases])]
        bars += [
            (label, colour, [total(c, method(bound, form)) for c in cases])
            for form, (label, colour) in FORMS.items()
        ]
        panels.append(
            pictures.bars(
                f"BiCGSTAB, blocks of at most {bound}, {DEVICES[backend]}",
                "milliseconds, set-up and solve", cases, bars, "set logscale y",
                "set format y '%g'", "set xtics rotate by -15", "set tmargin 7", "set bmargin 4"
            )
        )
    pictures.picture(path, *panels, width=1400, height=560)


def draw_variable(results, path):
    def times(key):
        return [found and 1e3 * found[key] for found in (batch(results, "mixed", f) for f in FORMS)]

    getrs = (batch(results, "mixed", "inverse") or {}).get("getrs")
    peers = [("cuBLAS, one call a size", COLOURS["cublas"])]
    names = [label for label, _ in FORMS.values()]
    own = COLOURS["gauss-jordan"]
    pictures.picture(
        path,
        pictures.bars(
            "set-up, 1 … 32 rows", "milliseconds", names,
            [("bisai, with extraction", own, times("seconds")), (*peers[0], times("cublas"))],
            "set yrange [0:*]", "set tmargin 6"
        ),
        pictures.bars(
            "application, 1 … 32 rows",
            "milliseconds",
            names,
            [
                ("bisai", own, times("apply")),
                (
                    "cuBLAS getrs", COLOURS["cublas"],
                    [None if f == "inverse" or not getrs else 1e3 * getrs for f in FORMS]
                ),
            ],
            "set yrange [0:*]",
            "set tmargin 6",
        ),
        width=1400,
        height=560,
    )


def draw(results, folder):
    drawn = []
    if results.get("cuda", {}).get("decompositions"):
        name = "papers-gauss-huard-decompositions.svg"
        draw_batches(results, folder / name, "set-up", "setup_gflops", ("gh", "ght", "lu"))
        drawn.append((name, "Slides: decompositions against a batched LU, over the batch's size."))
        name = "papers-gauss-huard-applications.svg"
        draw_batches(results, folder / name, "application", "apply_gflops", tuple(FORMS))
        drawn.append((name, "Slides: applications, over the batch's size."))
    for backend in (b for b in common.BACKENDS if solves_of(results, b)):
        name = f"papers-gauss-huard-bicgstab-{backend}.svg"
        draw_solves(results, backend, folder / name)
        drawn.append((name, f"Slides: total run time of BiCGSTAB, {DEVICES[backend]}."))
    if results.get("cuda", {}).get("mixed"):
        name = "papers-gauss-huard-variable.svg"
        draw_variable(results, folder / name)
        drawn.append((name, "Abstract: one batch of 200 000 blocks of 1 … 32 rows, GPU."))
    return drawn
