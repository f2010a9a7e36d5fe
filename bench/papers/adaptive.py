# SPDX-License-Identifier: BSD-3-Clause
"""Flegar, Anzt, Cojean, Quintana-Ortí (2020): adaptive precision block-Jacobi."""

import common
import published
import tables as markdown
from adaptive_figures import ADAPTIVE, METHODS, NARROW
from adaptive_figures import gain, large_of, layouts_of, part_of_iteration, shares, solved
from adaptive_figures import traffic_saved, ways_of
from adaptive_pictures import draw  # noqa: F401  a part of the module
from common import DEVICES, digits, milliseconds, row

NAME = "adaptive"
TITLE = "Adaptive precision block-Jacobi: Flegar et al. 2020"
INTRODUCTION = """
*Adaptive Precision Block-Jacobi for High Performance Preconditioning in the Ginkgo Linear Algebra
Software*, measured on a Tesla V100 (and a P100 in Figure 5), with 50,000 random blocks of one size
in Figures 5 to 7, and with CG on 76 matrices of at least 10⁶ entries in Figures 8 and 9. Formats
are (exponent, significand) bits there: (5, 10) is fp16, (8, 7) bf16, (8, 23) fp32 and (11, 52)
fp64. Times here are medians of repeated warm runs. A *gain* is the time in fp64 over the time in
the other storage, less 1. Figures 1 to 4 are drawings and a listing.
"""

FORMATS_COMMAND = "bench_formats --backend cuda --sizes 4,8,16,32"
LAYOUTS_COMMAND = "bench_batches --only l --rounds 5"
LARGE_COMMAND = "bench_batches --only a --rounds 3"


class System:
    """A symmetric positive definite system.

    name: on the page
    case, file: one of both
    device, host, quick: sizes of the case on a GPU, on the host, and for a quick try
    slow: one repeat is enough, because runs go to the limit of iterations
    """

    def __init__(self, name, case=None, sizes=(), tolerance="1e-10", file=None, slow=False):
        self.name, self.case, self.file, self.tolerance = name, case, file, tolerance
        self.slow = slow
        self.device, self.host, self.quick = sizes or (None, None, None)

    def arguments(self, bench):
        """Returns the program's arguments, or None if the matrix is not there."""
        if self.file:
            path = bench.matrix(self.file)
            return path and [path, "--block-size", 1, "--rhs", markdown.right_hand_side(path)]
        size = self.device if bench.backend == "cuda" else self.host
        return ["--case", self.case, "--size", self.quick if bench.quick else size]


PAPER = common.collection("adaptive-2020")
SYSTEMS = [
    System("shell, 1 ms", "shell:step=0.001", ("317", "80", "40")),
    System("elasticity", "elasticity", ("48", "20", "12")),
    System("elasticity, inclusion", "elasticity:contrast=1000", ("40", "20", "12")),
    System("reaction", "reaction", ("512", "240", "64"), "1e-8"),
    System("shell, 10 ms", "shell:step=0.01", ("317", "80", "40"), slow=True),
    *(System(n, file=n) for n in ("bcsstk16", "bcsstk18", "hypre_beam_tet_dof2475", "mhd3200b")),
    *(System(n, file=n) for n in PAPER),
]
SOLVES = (
    "bisai compare --backend cuda --case CASE --size SIZE --solver cg --tolerance 1e-10 --repeat 3"
    " --methods none,bjacobi:max=32,bjacobi:max=32:storage=adaptive,…"
)
WITHOUT = "none"  # the METHOD of CG without a preconditioner

KEPT = "converged reason iterations setup_s apply30_s solve_s total_s repeats diagonal".split()


# --- measurements ---


def solve(bench, system):
    """Returns the matrix, a record of each method, and one of CG without a preconditioner."""
    source = system.arguments(bench)
    arguments = ["--backend", bench.backend, "--solver", "cg", "--tolerance", system.tolerance]
    repeat = 1 if bench.quick or system.slow else 3
    methods = ",".join(METHODS.values())
    document = bench.json(
        "bisai", "compare", *source, *arguments, "--repeat", repeat, "--methods", methods
    )
    runs = {
        name: {key: run.get(key) for key in KEPT} for name, run in zip(METHODS, document["runs"])
    }
    plain = bench.json("bisai", "compare", *source, *arguments, "--methods", WITHOUT)["runs"][0]
    return {
        "matrix": document["matrix"],
        "tolerance": system.tolerance,
        "runs": runs,
        "without": {key: plain.get(key) for key in ("converged", "reason", "iterations")},
    }


def measure(bench):
    results = {"solves": {}}
    rounds = 3 if bench.quick else 5
    blocks = 2000 if bench.quick else 50000 if bench.backend == "cuda" else 10000
    arguments = ["--backend", bench.backend, "--blocks", blocks, "--rounds", rounds]
    if bench.backend == "host":
        arguments += ["--threads", 1]
    results["formats"] = bench.attempt("Figure 7", bench.json, "bench/bench_formats", *arguments)
    if bench.backend == "cuda":
        size = ["--bytes", 1 << 25 if bench.quick else 1 << 30]
        for part, letter, times in ("layouts", "l", rounds), ("large", "a", 3):
            arguments = ("--only", letter, "--rounds", times, *size)
            results[part] = bench.attempt(part, bench.json, "bench/bench_batches", *arguments)
    for system in SYSTEMS:
        if (bench.quick and system.file) or not system.arguments(bench):
            continue
        found = bench.attempt(f"CG, {system.name}", solve, bench, system)
        if found:
            results["solves"][system.name] = found
    return results


# --- what was measured ---


def both(results, function):
    """Returns the text of each backend for which function(figures) has one."""
    found = [(DEVICES[b], function(results[b])) for b in common.BACKENDS if b in results]
    return "<br>".join(f"{name}: {text}" for name, text in found if text) or common.NOT_MEASURED


def spread(values, unit=""):
    """Returns the range of the values as text."""
    least, most = digits(min(values), 2), digits(max(values), 2)
    return f"{least}{unit}" if least == most else f"{least}–{most}{unit}"


def percent(ratio):
    return f"{100 * (ratio - 1):+.0f} %"


# --- rows ---


def layout_rows(results):
    def setups(figures):
        found = layouts_of(figures, "fp64", True)
        values = [r["setup"] / r["setup_block_by_block"] for r in found.values()]
        return f"interleaved over block by block {spread(values)}" if values else ""

    def against(first, second, sizes):
        def text(figures):
            parts = []
            for storage in ("fp64", "fp16"):
                for large in (False, True):
                    found = layouts_of(figures, storage, large)
                    values = [
                        r[first] / r[second]
                        for m, r in found.items()
                        if m in sizes and first in r
                    ]
                    if values:
                        batch = "1 GiB" if large else "50,000 blocks"
                        parts.append(f"{storage}, {batch}: {spread(values)}")
            return "; ".join(parts)

        return text

    yield row(
        where="Figure 5: low-level calls against cooperative groups, P100 against V100",
        published=published.claim("adaptive figure 5"),
        ours="one version of each kernel", command=LAYOUTS_COMMAND,
        note="not available: bisai has no other version and was not run on these GPUs"
    )
    sizes = (2, 4, 8, 16, 32)
    yield row(
        where="Figure 6: set-up, column-major over row-major, times",
        published=published.claim("adaptive figure 6, set-up"),
        ours=both(results, against("setup_by_columns", "setup_by_rows", sizes)),
        command=LAYOUTS_COMMAND,
        note="a lane has a column and stores it directly, in a kernel of the benchmark"
    )
    yield row(
        where="Figure 6: set-up of the library, interleaved over block by block, times",
        published=published.claim("none"),
        ours=both(results, setups), command=LAYOUTS_COMMAND,
        note="both are column-major; stores of small blocks pass through shared memory"
    )
    yield row(
        where="Figure 6: application, row-major over column-major, times",
        published=published.claim("adaptive figure 6, rows"),
        ours=both(results, against("by_rows", "by_columns", sizes)), command=LAYOUTS_COMMAND,
        note="the kernels for blocks stored one by one belong to the benchmark"
    )
    for at_most, sizes, key in (
        ("at most 16 rows", (2, 4, 8, 16), "small"), ("32 rows", (32,), "32")
    ):
        yield row(
            where=f"Figure 6: application, column-major over interleaved, times, {at_most}",
            published=published.claim(f"adaptive figure 6, {key}"),
            ours=both(results, against("by_columns", "interleaved", sizes)),
            command=LAYOUTS_COMMAND,
            note=(
                "times of the library's kernel; of small blocks one by one a lane reads far"
                " apart"
                if 2 in sizes
                else "the same bytes in the same order; the kernels differ"
            ),
        )


def speeds(figures, names):
    """Returns how many times as fast as fp64 the best size of each format is applied."""
    parts = []
    for name in names:
        values = {
            m: ways["fp64"]["apply"] / ways[name]["apply"] for m, ways in ways_of(figures).items()
        }
        if values:
            best = max(values, key=values.get)
            parts.append(f"{name} {digits(values[best])} ({best} rows)")
    return ", ".join(parts)


def large_speeds(figures, names):
    parts = []
    for name in names:
        values = {
            m: found["fp64"]["seconds"] / found[name]["seconds"]
            for m, found in large_of(figures).items()
            if name in found
        }
        if values:
            best = max(values, key=values.get)
            parts.append(f"{name} {digits(values[best])} ({best} rows)")
    return ", ".join(parts)


def over_floor(figures):
    values = [
        (found[name]["ratio"], m, name)
        for m, found in large_of(figures).items()
        for name in (*NARROW, "adaptive")
        if name in found
    ]
    if not values:
        return ""
    ratio, m, name = max(values)
    slowest = large_of(figures)[m][name]
    rate = figures["large"]["copy_rate"]
    of_blocks = slowest["floor"] * rate - 16 * m * slowest["blocks"]  # without the vectors
    within = sum(value <= 1.25 for value, _, _ in values)
    beyond = sorted({m for value, m, _ in values if value > 1.25})
    return (
        f"{digits(min(values)[0])} to {digits(ratio)} ({name}, {m} rows:"
        f" {digits(of_blocks / 1e6)} MB of blocks and {digits(16e-6 * m * slowest['blocks'])} MB of"
        f" vectors at {digits(rate / ratio / 1e12)} TB/s; a copy has {digits(rate / 1e12)});"
        f" {within} of {len(values)} at most 1.25; the others have"
        f" {', '.join(map(str, beyond))} rows"
    )


TAKEN = {"adaptive truncated": "fp11_4", "adaptive ieee": "fp16", "adaptive": "fp16"}


def over_taken(figures):
    """Returns the set-ups with a choice over those in the narrowest format, which all blocks take
    if both apply as many bytes."""
    parts = []
    for name, fixed in TAKEN.items():
        values = [
            ways[name]["setup"] / ways[fixed]["setup"]
            for ways in ways_of(figures).values()
            if ways[name]["bytes"] <= 1.01 * ways[fixed]["bytes"]
        ]
        if values:
            parts.append(f"{name} {spread(values)}")
    return ", ".join(parts)


def format_rows(results):
    def setup(names):
        def text(figures):
            parts = []
            for name in names:
                values = [
                    ways[name]["setup"] / ways["fp64"]["setup"]
                    for ways in ways_of(figures).values()
                ]
                if values:
                    parts.append(f"{name} {spread(values)}")
            return ", ".join(parts)

        return text

    yield row(
        where="Figure 7: set-up in a fixed narrow format over fp64, times",
        published=published.claim("adaptive figure 7, fixed"),
        ours=both(results, setup(NARROW)),
        command=FORMATS_COMMAND,
        note="fp64 of a matrix's own blocks has kernels of its own, and every narrow set-up tests"
        " whether values overflow or vanish, by norms where they show it",
    )
    yield row(
        where="Figure 7: set-up with the choice out of six formats over fp64, times",
        published=published.claim("adaptive figure 7, six"),
        ours=both(results, setup(["adaptive"])), command=FORMATS_COMMAND,
        note="no second inversion: ‖D‖₁‖E − Ẽ‖₁ is tested instead"
    )
    yield row(
        where="Figure 7: set-up with the choice out of three formats over that in fp64, times",
        published=published.claim("adaptive figure 7, three"),
        ours=both(results, setup(["adaptive truncated", "adaptive ieee"])), command=FORMATS_COMMAND,
        note="`formats=truncated` is the paper's list; `ieee` is fp16, fp32 and fp64. This row has"
        " more than the choice: fp64 stores without a test of overflow or underflow, which every"
        " narrow format needs"
    )
    yield row(
        where="the same over the set-up in the one format that all blocks take: the choice alone;"
        " bar of this library: 1.1",
        published=published.claim("adaptive figure 7, three"),
        ours=both(results, over_taken), command=FORMATS_COMMAND,
        note="that format is (11, 4) of the paper's list and fp16 of `ieee`; of the sizes whose"
        " blocks all take it"
    )
    for bits, names in (
        (32, ("fp32", "fp11_20")), (16, ("fp16", "bf16", "fp11_4", "adaptive"))
    ):
        yield row(
            where=f"Figure 7: application in {bits} bits, speed over fp64",
            published=published.claim(f"adaptive figure 7, {bits} bits"),
            ours=both(results, lambda figures, names=names: speeds(figures, names)),
            command=FORMATS_COMMAND,
            note="the host: one thread, 10,000 blocks, of which many stay in its cache;"
            " block-formats-cpu.md has more",
        )
        yield row(
            where=f"the same, batches of 1 GiB in fp64, {bits} bits",
            published=published.claim("none"),
            ours=both(results, lambda figures, names=names: large_speeds(figures, names)),
            command=LARGE_COMMAND
        )
    yield row(
        where="narrow applications, time over that of a copy of the same bytes",
        published=published.claim("none"),
        ours=both(results, over_floor),
        command=LARGE_COMMAND,
        note="batches of 1 GiB in fp64, 1 to 32 rows. Columns of an odd size begin anywhere, and"
        " share sectors of 32 bytes with their neighbours",
    )


def distribution(name):
    def text(figures):
        parts = []
        for system, runs in solved(figures):
            kinds = [f"{100 * part:.0f} % {f}" for f, part in shares(runs[name]).items() if part]
            parts.append(f"{system} {', '.join(kinds)}")
        return "; ".join(parts)

    return text


def gains(name, large):
    """Returns the gains in time, of the systems of at least 10⁶ entries or of the others."""

    def text(figures):
        parts = []
        for system, runs in solved(figures):
            m = figures["solves"][system]["matrix"]
            if (m["blocks"] * m["block_size"] ** 2 >= 1e6) == large:
                value = gain(runs, name)
                parts.append(f"{system} {percent(value) if value else runs[name]['reason']}")
        return ", ".join(parts)

    return text


def iterations(name):
    def text(figures):
        parts = []
        for system, runs in solved(figures):
            parts.append(f"{system} {runs['fp64']['iterations']} → {runs[name]['iterations']}")
        return ", ".join(parts)

    return text


def measured_names(figures):
    """Returns how many cases of the library and which real matrices have figures."""
    names = figures.get("solves", {})
    real = [s.name for s in SYSTEMS if s.file and s.name in names]
    of_paper = sum(name in PAPER for name in real)
    cases = sum(s.name in names for s in SYSTEMS if s.case)
    text = f"{cases} cases of this library, {of_paper} of the {len(PAPER)} matrices"
    others = [name for name in real if name not in PAPER]
    return f"{text}, and {', '.join(others) or 'no other real matrix'}"


def preconditioner_parts(figures):
    """Returns which part of an iteration in fp64 the preconditioner takes."""
    parts = [(name, part_of_iteration(runs["fp64"])) for name, runs in solved(figures)]
    return ", ".join(f"{name} {100 * part:.1f} %" for name, part in parts)


def dots(figures):
    """Returns on how many systems CG converges, without and with preconditioners."""
    found = [f for f in figures.get("solves", {}).values() if "without" in f]
    if not found:
        return ""
    counts = [("none", sum(f["without"]["converged"] for f in found))]
    counts += [(name, sum(f["runs"][name]["converged"] for f in found)) for name in METHODS]
    return ", ".join(f"{name} {count}/{len(found)}" for name, count in counts)


def savings(figures):
    """Returns the bytes that 2 digits save, of the blocks and of a whole iteration."""
    parts = []
    for name, runs in solved(figures):
        full, narrow = (runs[n]["diagonal"]["bytes"] for n in ("fp64", "2 digits"))
        whole = traffic_saved(figures, name, "2 digits")
        parts.append(f"{name} {100 * (1 - narrow / full):.0f} % ({100 * whole:.0f} %)")
    return ", ".join(parts)


def solver_rows(results):
    real = "of the paper and " if any(
        name in PAPER for figures in results.values() for name in figures.get("solves", {})
    ) else ""
    stand_in = f"stand-in: cases and real matrices {real}at hand"
    yield row(
        where="Table 1: the 76 matrices", published=published.claim("adaptive table 1"),
        ours=both(results, measured_names), command="cases/suitesparse/fetch.sh adaptive-2020 &&"
        " python3 bench/papers BUILD --only adaptive",
        note="not available: the SuiteSparse files that are not at hand; `reaction` to 1e-8,"
        " because it stagnates above 1e-10 in every storage"
    )
    for name in ADAPTIVE[:2]:
        yield row(
            where=f"Figure 8: formats of the blocks, {name}",
            published=published.claim(f"adaptive figure 8, {name}"),
            ours=both(results, distribution(name)), command=SOLVES, note=stand_in
        )
    for name in ADAPTIVE[:2]:
        yield row(
            where=f"Figure 9: iterations of CG, {name}",
            published=published.claim(f"adaptive figure 9, {name}"),
            ours=both(results, iterations(name)), command=SOLVES, note=stand_in
        )
        yield row(
            where=f"Figure 9: gain in run time, {name}, at least 10⁶ entries",
            published=published.claim("adaptive figure 9, large"),
            ours=both(results, gains(name, True)),
            command=SOLVES,
            note=f"{stand_in}. The preconditioner's part of an iteration in fp64 is"
            f" {both(results, preconditioner_parts)}",
        )
        yield row(
            where=f"Figure 9: gain in run time, {name}, fewer entries",
            published=published.claim("adaptive figure 9, small"),
            ours=both(results, gains(name, False)),
            command=SOLVES, note="an iteration takes as long as its launches on the GPU"
        )
    yield row(
        where="Figure 9, dots: systems on which CG converges",
        published=published.claim("adaptive figure 9, dots"), ours=both(results, dots),
        command=SOLVES, note=stand_in
    )
    yield row(
        where="Section 1: bytes saved by 2 digits, of the blocks and of an iteration of CG",
        published=published.claim("adaptive section 1"), ours=both(results, savings),
        command=SOLVES,
        note="in brackets: of A, the blocks and twelve passes over vectors; " + stand_in
    )
    yield row(
        where="Section 7 (2): can the stored preconditioner become singular?",
        published=published.claim("adaptive section 7, 2"),
        ours="no: a format is taken if ‖D‖₁‖E − Ẽ‖₁ is at most 1/10 or 1/100, so that Ẽ is regular",
        command="ctest -R bjacobi_formats"
    )
    yield row(
        where="Section 7 (3): iterations that 2 digits cost",
        published=published.claim("adaptive section 7, 3"),
        ours=both(results, iterations("2 digits")), command=SOLVES, note=stand_in
    )
    for name in ADAPTIVE[2:]:
        yield row(
            where=f"gain in run time, three formats, {name}", published=published.claim("none"),
            ours=both(results, gains(name, True)), command=SOLVES, note=stand_in
        )


def rows(results):
    return [*layout_rows(results), *format_rows(results), *solver_rows(results)]


# --- the table ---


def tables_of(figures, backend):
    """Yields the table of the solves on a backend."""
    yield (
        f"CG with blocks of at most 32 rows, {DEVICES[backend]}. The *share* of the preconditioner"
        " is the time of 30 applications over that of 30 iterations. *Bytes* are those of the"
        " values of its blocks over fp64. *Allowed* is the gain if only the time of these bytes"
        " changed: 1/(1 − share (1 − bytes)) − 1 with the share in fp64."
    )
    yield ""
    yield from markdown.heading(
        "system", "rows", "entries", "storage", "iterations", "set-up", "solve", "gain", "share",
        "bytes", "allowed"
    )
    for system, found in figures.get("solves", {}).items():
        m, runs = found["matrix"], found["runs"]
        full = runs["fp64"]
        for name, run in runs.items():
            good = run["converged"] and full["converged"]
            bytes_ratio = run["diagonal"]["bytes"] / full["diagonal"]["bytes"]
            allowed = 1 / (1 - part_of_iteration(full) * (1 - bytes_ratio))
            yield markdown.row(
                system if name == "fp64" else "",
                m["block_rows"] * m["block_size"] if name == "fp64" else "",
                m["blocks"] * m["block_size"] ** 2 if name == "fp64" else "", name,
                run["iterations"] if run["converged"] else run["reason"],
                milliseconds(run["setup_s"]), milliseconds(run["solve_s"]),
                percent(gain(runs, name)) if good and name != "fp64" else "",
                f"{100 * part_of_iteration(run):.0f} %", digits(bytes_ratio, 2),
                percent(allowed) if name != "fp64" else ""
            )
    yield ""


def tables(results):
    for backend in common.BACKENDS:
        if results.get(backend, {}).get("solves"):
            yield from tables_of(results[backend], backend)
