# SPDX-License-Identifier: BSD-3-Clause
"""Anzt, Dongarra, Flegar, Quintana-Ortí (2017): batched Gauss–Jordan elimination."""

import csv
import shutil
import subprocess

import common
import pictures
import published
from common import DEVICES, digits, milliseconds, row
from pictures import COLOURS

NAME = "gauss-jordan"
TITLE = "Batched Gauss–Jordan elimination: Anzt et al. 2017"
INTRODUCTION = """
*Batched Gauss-Jordan Elimination for Block-Jacobi Preconditioner Generation on GPUs*, measured on
K20, K40, K80 and P100 with CUDA 8.0 and MAGMA 2.2, in fp64. The blocks of *bound* m are those that
supervariable agglomeration finds, of at most m rows. Figures 5 and 6 here compare the four
strategies of this library, which are not the kernels of the paper and have its letters only: U
extracts in a kernel of its own and M in the kernel that inverts. C lets each thread read a row of
the block through the caches, and S lets the threads of a warp read a row together; both gather the
block in the same tile of shared memory. Insertion is no step: the inverses are stored where
applications read them, and there is no CSR matrix D̂. Times of set-ups are those of the kernels,
medians of five. Figures 1 to 3 are drawings. Figures 4 to 7 give their values in pictures only, so
that the table has what the text says of them.
"""

BATCHES = "bench_batches --only b --rounds 5"
SETUPS = "bench_batches --only g --rounds 5 --matrices FILE…"
METRICS = {
    "registers": "launch__registers_per_thread",
    "static": "launch__shared_mem_per_block_static",
    "dynamic": "launch__shared_mem_per_block_dynamic",
    "threads": "launch__block_size",
    "by_registers": "launch__occupancy_limit_registers",
    "by_shared": "launch__occupancy_limit_shared_mem",
    "by_blocks": "launch__occupancy_limit_blocks",
    "by_warps": "launch__occupancy_limit_warps",
}
KERNELS = "ncu --metrics launch__registers_per_thread,… bench_batches --only k"

STRATEGIES = {"UC": "#66ccee", "MC": COLOURS["gauss-jordan"], "US": "#ccbb44", "MS": "#ee6677"}
BOUNDS = {4: "#66ccee", 8: "#4477aa", 16: "#228833", 24: "#ccbb44", 32: "#ee6677"}
FIGURE_BOUNDS = (8, 32)  # of Figures 4 to 6
NAMES = {1: "Jacobi", 4: "4", 8: "8", 16: "16", 24: "24", 32: "32"}  # the columns of Table 2
S = 4  # of IDR(s)


class Case:
    """A matrix of Table 2.

    name: of the paper's matrix
    file: the real matrix that stands in for it; or
    case: the case that stands in for it, with its size and its size for a quick try
    published: (iterations, seconds) of each column, None where the paper has no figures
    slow: true if a host takes minutes
    """

    def __init__(self, name, file=None, case=None, slow=False):
        self.name, self.file, self.case, self.slow = name, file, case, slow
        self.published = dict(zip(NAMES, published.GAUSS_JORDAN[name]))

    def system(self, bench):
        """Returns what it is and the program's arguments, or None if nothing is there."""
        for file in filter(None, (self.name, self.file)):
            path = bench.matrix(file)
            if path:
                return file, [path, "--rhs", "ones"]
        if not self.case:
            return None
        case, size, quick = self.case
        return f"case `{case}`", ["--case", case, "--size", quick if bench.quick else size]

    def source(self, results):
        """Returns which system was measured, by its record or as it was before there was one."""
        for backend in common.BACKENDS:
            found = results.get(backend, {}).get("sources", {}).get(self.name)
            if found:
                return found
        return self.file or (f"case `{self.case[0]}`" if self.case else self.name)

    def command(self, source):
        case = self.case and source.startswith("case")
        system = f"--case {self.case[0]} --size {self.case[1]}" if case else f"{source} --rhs ones"
        return (
            f"bisai compare {system} --backend cuda --block-size 1 --solver idr --tolerance 1e-10"
            f" --max-iterations {LIMITS['cuda']} --repeat 3"
            " --methods bjacobi:max=1,…,bjacobi:max=32"
        )


LIMITS = {"cuda": 100000, "host": 3000}  # of the iterations
QUICK_LIMIT = 3000
STAND_INS = {
    "bcsstk17": {"file": "bcsstk16"},
    "olm5000": {"file": "olm1000"},
    "af_shell3": {"case": ("shell:step=1e-4", "317", "30"), "slow": True},
    "bcsstk18": {"slow": True},
}
CASES = [Case(name, **STAND_INS.get(name, {})) for name in published.GAUSS_JORDAN]


def methods(bounds):
    return [f"bjacobi:max={m}" for m in bounds]


def solve(bench, system, bounds, repeat):
    """Returns the runs of IDR(4) with blocks of these bounds."""
    document = bench.json(
        "bisai", "compare", *system, "--backend", bench.backend, "--block-size", 1, "--solver",
        "idr", "--tolerance", "1e-10", "--max-iterations",
        QUICK_LIMIT if bench.quick else LIMITS[bench.backend], "--repeat", repeat, "--methods",
        ",".join(methods(bounds))
    )
    kept = ("converged", "reason", "iterations", "setup_s", "solve_s", "total_s", "least_total_s")
    runs = zip(bounds, document["runs"])
    return {str(m): {key: run.get(key) for key in kept} for m, run in runs}


def measure_case(bench, case, repeat):
    """What has no figures in the paper may go to the limit of iterations, and is run once."""
    source, system = case.system(bench)
    likely = [m for m in NAMES if case.published[m]]
    rest = [m for m in NAMES if m not in likely and bench.backend == "cuda"]
    found = bench.attempt(f"Table 2, {source}", solve, bench, system, likely, repeat)
    more = rest and found and bench.attempt(
        f"Table 2, {source}, what has no figures in the paper", solve, bench, system, rest, 1
    )
    return {**found, **more} if more else found


def measure_table2(bench, repeat):
    """Returns the runs of each matrix that is there or has a stand-in, and what was measured."""
    runs, sources = {}, {}
    for case in CASES:
        system = case.system(bench)
        if not system or case.slow and bench.backend == "host":
            continue
        runs[case.name], sources[case.name] = measure_case(bench, case, repeat), system[0]
    return runs, sources


RELAXED = [
    "bjacobi", *(f"bjacobi:relax={n}" for n in (1, 2, 3)),
    *(f"bjacobi:relax={n}:damping=0.9" for n in (1, 2, 3))
]
# sizes on a GPU, on a host, and for a quick try
RELAX_CASES = {"cavity": ("300", "100", "40"), "atmosphere": ("148,148,58", "40", "20")}


def relax_command(case):
    return (
        f"bisai compare --case {case} --size {RELAX_CASES[case][0]} --backend cuda --repeat 3"
        f" --methods {','.join(RELAXED)}"
    )


def measure_relaxation(bench, case, repeat):
    """Returns the runs of a case."""
    size = 2 if bench.quick else common.BACKENDS.index(bench.backend)
    document = bench.json(
        "bisai", "compare", "--case", case, "--size", RELAX_CASES[case][size], "--backend",
        bench.backend, "--repeat", repeat, "--methods", ",".join(RELAXED)
    )
    kept = ("converged", "iterations", "solve_s", "total_s", "least_total_s")
    return {
        method: {
            **{key: run.get(key) for key in kept},
            "relax_radius": run["diagonal"]["relax_radius"],
        }
        for method, run in zip(RELAXED, document["runs"])
    }


def measure_kernels(bench):
    """Returns what the profiler tells of each kernel for blocks of 32 rows."""
    if not shutil.which("ncu"):
        raise common.Failed("ncu is missing")
    program = bench.build / "bench/bench_batches"
    command = ["ncu", "--clock-control", "none", "--csv", "--page", "raw"]
    command += ["--kernel-name", "regex:bsi_compute_values|extract"]
    command += ["--metrics", ",".join(METRICS.values()), program, "--only", "k"]
    print("+", *command[:4], "…", flush=True)
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=True)
    except subprocess.TimeoutExpired as error:
        raise common.Late(str(error)) from error
    except (OSError, subprocess.SubprocessError) as error:
        raise common.Failed(str(error)) from error
    lines = [line for line in done.stdout.splitlines() if line.startswith('"')]
    launches = [launch for launch in csv.DictReader(lines) if launch["ID"]]
    return [
        {
            "kernel": launch["Kernel Name"],
            **{key: float(launch[name].replace(",", "")) for key, name in METRICS.items()},
        }
        for launch in launches
    ]


def setup_files(bench):
    """Returns the matrices of Table 2, or their stand-ins, that are there."""
    found = [bench.matrix(case.name) or case.file and bench.matrix(case.file) for case in CASES]
    return [path for path in found if path]


def measure(bench):
    repeat = 1 if bench.quick else 3 if bench.backend == "cuda" else 2
    results = {}
    if bench.backend == "cuda":
        rounds = ["--rounds", 3 if bench.quick else 5]
        rows = 1e5 if bench.quick else 1e7
        files = setup_files(bench)
        setups_of = ("setups", "g", "--rows", rows, *rounds, "--matrices", *files)
        for name, *arguments in ("batches", "b", *rounds), setups_of:
            found = bench.attempt(name, bench.json, "bench/bench_batches", "--only", *arguments)
            results[name] = found["results"] if found else []
        results["kernels"] = bench.attempt("Table 1", measure_kernels, bench)
    results["table2"], results["sources"] = measure_table2(bench, repeat)
    results["relaxation"] = {
        c: bench.attempt(f"relaxation, {c}", measure_relaxation, bench, c, repeat)
        for c in RELAX_CASES
    }
    return results


# --- Figure 4 ---


def batches(results, size):
    """Returns the figures of batches of blocks of one size, by the number of blocks."""
    found = [r for r in results.get("cuda", {}).get("batches", []) if r["size"] == size]
    return sorted(found, key=lambda r: r["blocks"])


def over_magma(found):
    """Returns the GFlop/s of our inversion over those of MAGMA's LU, and those of its LU."""
    lu = [2 / 3 * r["size"] ** 3 * r["blocks"] / r["magma_getrf"] * 1e-9 for r in found]
    return [r["gflops"] / rate for r, rate in zip(found, lu)], lu


def span(values):
    return f"{digits(min(values))} to {digits(max(values))}"


def magma_text(found):
    if not found or not all(r.get("magma_getrf") for r in found):
        return ""
    ratios, rates = over_magma(found)
    text = (
        f"{span(ratios)} × the GFlop/s of MAGMA's LU, which has {digits(rates[-1])} at the end; "
    )
    if all(r.get("magma_getri") for r in found):
        whole = [(r["magma_getrf"] + r["magma_getri"]) / r["seconds"] for r in found]
        text += f"{span(whole)} × as fast as MAGMA's inversion, getrf + getri; "
    return text


def batch_row(results, size):
    def text(found):
        last = found[-1]
        return magma_text(found) + (
            f"{digits(found[0]['speedup'])} to {digits(max(r['speedup'] for r in found))} × the"
            f" better of cuBLAS's matinvBatched and getrf + getri, for {found[0]['blocks']:.0f} to"
            f" {last['blocks']:.0f} blocks; {digits(last['gflops'])} GFlop/s at the end, cuBLAS"
            f" {digits(last['cublas_gflops'])}"
        )

    found = batches(results, size)
    return row(
        where=f"Figure 4, block size {size}: inversion against the batched LU of MAGMA 2.2",
        published=published.claim("jordan figure 4"),
        ours=text(found) if found else common.NOT_MEASURED, command=BATCHES,
        note="2 m³ operations of an inversion, 2/3 m³ of LU; MAGMA's kernels for blocks of up to 32"
        " rows, of its sources of 2026, in a build with `-DBISAI_MAGMA=FOLDER`; its getri sets the"
        " identity, solves twice, swaps columns, and waits for the device"
        if magma_text(found) else "stand-in: cuBLAS for MAGMA"
    )


# --- Table 1 ---


def kernel_of(results, words, nth=0):
    """Returns what the profiler told of the nth kernel whose name has all of these words."""
    launches = results.get("cuda", {}).get("kernels") or []
    found = [k for k in launches if all(word in k["kernel"] for word in words)]
    return found[nth] if len(found) > nth else None


def describe_kernel(kernel):
    if not kernel:
        return common.NOT_MEASURED
    limits = [kernel[key] for key in ("by_registers", "by_shared", "by_blocks", "by_warps")]
    resident, warps = min(limits), kernel["threads"] / 32
    shared = (kernel["static"] + kernel["dynamic"]) / 1024
    return (
        f"{kernel['registers']:.0f} registers a thread, {shared:.1f} KiB a thread block of"
        f" {warps:.0f} warps; smem {kernel['by_shared']:.0f}, regs"
        f" {kernel['by_registers']:.0f}, blocks {resident:.0f}: {resident * warps:.0f} warps"
    )


# The launches of `bench_batches --only k` are UC, MC, US, MS and natural blocks, in this order. UC,
# US and natural blocks have the same kernel of inversion.
INVERSION, MERGED = ("bsi_compute_values", ", 1, 0>"), ("bsi_compute_values", ", 0, 0>")
TABLE1 = [
    ("inversion", INVERSION, 0, "of extracted blocks"),
    ("inversion", INVERSION, 2, "of a block matrix's own diagonal blocks: the same kernel"),
    ("extraction cache", ("extract",), 0, ""),
    ("merged cache", MERGED, 0, ""),
    ("extraction shared", ("extract",), 1, "the kernel of extraction cache"),
    ("merged shared", MERGED, 1, "the kernel of merged cache"),
]


def table1_rows(results):
    where = "Table 1, {}: blocks by smem, regs, and resident; K20 and K40, K80, P100"
    for name, words, nth, note in TABLE1:
        yield row(
            where=where.format(name), published=published.claim(f"jordan table 1, {name}"),
            ours=describe_kernel(kernel_of(results, words, nth)), command=KERNELS, note=note
        )
    yield row(
        where="Table 1, insertion cache and shared",
        published=published.claim("jordan table 1, insertion"),
        ours="no kernel: inverses are stored where applications read them", command=KERNELS
    )


# --- Figures 5 to 7 ---


def setups(results, section, bound, rows=None):
    """Returns {name: {strategy: figures}} of a bound, with "inversion" beside the strategies.

    A matrix takes the place of its pattern.
    """
    found = {}
    for r in results.get("cuda", {}).get("setups", []):
        if r["section"] == section and r["most"] == bound and rows in (None, r["rows"]):
            name, strategy = r["what"].rsplit(" ", 1)
            found.setdefault(name, {})[strategy] = r
    return {name: f for name, f in found.items() if name.replace("pattern of ", "", 1) == name
            or name.replace("pattern of ", "", 1) not in found}


def overhead(figures, strategy):
    return figures[strategy]["seconds"] / figures["inversion"]["seconds"]


def overheads(found):
    """Returns the range of the overhead of each strategy over the matrices."""
    parts = []
    for strategy in STRATEGIES:
        values = [overhead(f, strategy) for f in found.values()]
        parts.append(f"{strategy} {digits(min(values))}–{digits(max(values))}")
    best = [min(STRATEGIES, key=lambda s: f[s]["seconds"]) for f in found.values()]
    wins = ", ".join(f"{s} {best.count(s)}" for s in STRATEGIES if s in best)
    return f"{', '.join(parts)} times the inversion; fastest: {wins} of {len(best)} matrices"


FIGURE6 = ("tridiagonal", "arrow")


def row_counts(results):
    found = results.get("cuda", {}).get("setups", [])
    return sorted({r["rows"] for r in found if r["section"] == "rows"})


def real_matrices(found):
    """Returns which real matrices have set-ups, as the beginning of a note."""
    real = sorted(name for name in found if not name.startswith(("pattern of ", "~")))
    return f"{', '.join(real)}, and " if real else ""


def figure5_rows(results):
    for bound in FIGURE_BOUNDS:
        found = setups(results, "matrices", bound)
        yield row(
            where=f"As Figure 5, block size {bound}, strategies of this library: set-up over"
            " inversion alone",
            published=published.claim(f"jordan figure 5, {bound}"),
            ours=overheads(found) if found else common.NOT_MEASURED,
            command=SETUPS,
            note=f"{real_matrices(found)}patterns of the size of G3_circuit, af_shell3 and"
            " Emilia_923; other kernels than the paper's"
        )


def figure6_rows(results):
    for pattern in FIGURE6:
        by_rows = {
            f"{n:.0f} rows": setups(results, "rows", 32, n).get(pattern)
            for n in row_counts(results)
        }
        found = {name: figures for name, figures in by_rows.items() if figures}
        yield row(
            where=f"As Figure 6, {pattern}, block size 32, strategies of this library: set-up over"
            " inversion alone",
            published=published.claim(f"jordan figure 6, {pattern}"),
            ours=overheads(found) if found else common.NOT_MEASURED,
            command=SETUPS,
            note="rows are sorted, and each is read from its block on by a binary search, so that"
            " a full row costs little; other kernels than the paper's",
        )


def figure7_row(results):
    counts = row_counts(results)

    def text(n):
        parts = []
        for bound in BOUNDS:
            figures = setups(results, "rows", bound, n).get("tridiagonal")
            if figures and "MC" in figures:
                parts.append(f"{bound}: {milliseconds(figures['MC']['seconds'])}")
        return f"{n:,.0f} rows: {', '.join(parts)}"

    chosen = [n for n in counts if n in (counts[0], counts[-1]) or abs(n - 1e6) < 1e3]
    return row(
        where="Figure 7: time of the set-up by block size, 10⁴ to 10⁷ rows",
        published=published.claim("jordan figure 7"),
        ours="; ".join(map(text, chosen)) if counts else common.NOT_MEASURED, command=SETUPS,
        note="tridiagonal, MC; here a warp has as many small blocks as it has lanes for"
    )


# --- Table 2 and equation (1) ---


def published_text(case):
    found = [case.published[m] for m in NAMES]
    iterations = ", ".join(str(f[0]) if f else "–" for f in found)
    return f"{iterations}; {', '.join(f'{f[1]:.2f}' if f else '–' for f in found)} s"


def solved_text(runs):
    ends = [runs.get(str(m)) for m in NAMES]
    found = [run if run and run["converged"] else None for run in ends]
    iterations = ", ".join(f"{r['iterations'] / (S + 1):.0f}" if r else "–" for r in found)
    times = ", ".join(digits(1e3 * r["total_s"]) if r else "–" for r in found)
    return f"{iterations}; {times} ms"


def table2_rows(results):
    missing = []
    for case in CASES:
        parts = []
        for backend in common.BACKENDS:
            runs = results.get(backend, {}).get("table2", {}).get(case.name)
            if runs:
                parts.append(f"{DEVICES[backend]}: {solved_text(runs)}")
        if not parts and case.name not in STAND_INS:
            missing.append(case.name)
            continue
        source = case.source(results)
        yield row(
            where=f"Table 2, {case.name}: iterations and times of {', '.join(NAMES.values())}",
            published=published_text(case), ours="<br>".join(parts) or common.NOT_MEASURED,
            command=case.command(source),
            note="the matrix itself" if source == case.name else f"stand-in: {source}"
        )
    if missing:
        yield row(
            where=f"Table 2, the other {len(missing)} of {len(CASES)} matrices",
            published="iterations and times", ours="not available",
            command="cases/suitesparse/fetch.sh gauss-jordan-2017 && python3 bench/papers BUILD"
            " --only gauss-jordan",
            note=f"not available: the files of {', '.join(missing)}, and nothing stands in for them"
        )


def relaxation_row(results, case):
    parts = []
    for backend in common.BACKENDS:
        runs = results.get(backend, {}).get("relaxation", {}).get(case)
        if not runs:
            continue
        cells = []
        for method, run in runs.items():
            end = f"{run['iterations']}, {milliseconds(run['total_s'])}"
            radius = run["relax_radius"]
            name = method.partition(":")[2] or "none"
            cells.append(
                f"{name}: {end if run['converged'] else '–'}"
                + (f" (ρ {digits(radius)})" if radius else "")
            )
        size = RELAX_CASES[case][common.BACKENDS.index(backend)]
        parts.append(f"{DEVICES[backend]}, size {size}: {'; '.join(cells)}")
    return row(
        where=f"Equation (1): relaxation instead of D⁻¹ alone, {case}: iterations, time",
        published=published.claim("jordan equation 1"),
        ours="<br>".join(parts) or common.NOT_MEASURED, command=relax_command(case),
        note="GMRES(30); ρ is the estimate of the set-up, of I − ω D⁻¹A"
    )


def rows(results):
    return [
        *(relaxation_row(results, case) for case in RELAX_CASES),
        *(batch_row(results, size) for size in FIGURE_BOUNDS), *table1_rows(results),
        *figure5_rows(results), *figure6_rows(results), figure7_row(results), *table2_rows(results)
    ]


def over_ours(results, name):
    """Returns the published iterations over our cycles, for each bound that has both."""
    case = next(case for case in CASES if case.name == name)
    runs = results.get("cuda", {}).get("table2", {}).get(name) or {}
    return [
        case.published[m][0] * (S + 1) / runs[str(m)]["iterations"]
        for m in NAMES
        if case.published[m] and str(m) in runs and runs[str(m)]["converged"]
    ]


def tables(results):
    near, apart = over_ours(results, "dw2048"), over_ours(results, "bcsstk18")
    compared = []
    if near:
        within = sum(1 / 1.1 <= ratio <= 1.1 for ratio in near)
        compared.append(
            "With it, and with a tolerance of 10⁻¹⁰, which the paper does not give,"
            f" {within} of the {len(near)} published counts of dw2048 are within a tenth of ours on"
            " the GPU."
        )
    if apart:
        compared.append(
            f"The published counts of bcsstk18 are {digits(min(apart))} to {digits(max(apart))} of"
            " ours."
        )
    yield (
        "Table 2: the text of the paper at hand names the bounds 4, 8, 16 and 32 for five columns"
        f" of figures beside Jacobi, and has {len(CASES)} matrices. The fifth column is taken as"
        f" 24. {' '.join(compared)} This takes for granted that an iteration of MAGMA's IDR is a"
        " cycle of s + 1 = 5 products: the table has our iterations divided by 5. The right-hand"
        f" side of the paper is not known; ours consists of ones. The limit is {LIMITS['cuda']:,}"
        f" iterations on the GPU and {LIMITS['host']:,} on the host, which are"
        f" {LIMITS['cuda'] // 5:,} and {LIMITS['host'] // 5:,} cycles; the paper's is 100,000."
        " Times are medians of three, on a host of two, after one that does not count, with the"
        " set-up."
    )


# --- pictures ---

POWERS = ("set termoption enhanced", "set format x '10^%L'")
ROWS = "set xrange [7000:1.5e7]"


def draw_batches(results, path):
    if not all(batches(results, size) for size in FIGURE_BOUNDS):
        return

    def panel(size):
        found = batches(results, size)
        return pictures.curves(
            f"inversion of blocks of {size} rows",
            "blocks",
            "GFlop/s (2 m³ for each block)",
            [
                ("here", COLOURS["gauss-jordan"], [(r["blocks"], r["gflops"]) for r in found]),
                ("cuBLAS", COLOURS["cublas"], [(r["blocks"], r["cublas_gflops"]) for r in found]),
            ],
            "set logscale x",
            "set xrange [800:250000]",
            *POWERS,
        )

    pictures.picture(path, *map(panel, FIGURE_BOUNDS), width=1200)


def draw_matrices(results, path):
    if not all(setups(results, "matrices", bound) for bound in FIGURE_BOUNDS):
        return

    def panel(bound):
        found = setups(results, "matrices", bound)
        names = [name.replace("pattern of ", "~ ") for name in found]
        return pictures.bars(
            f"blocks of at most {bound} rows",
            "set-up / inversion alone",
            names,
            [
                (strategy, colour, [overhead(f, strategy) for f in found.values()])
                for strategy, colour in STRATEGIES.items()
            ],
            "set xtics rotate by -35",
            "set yrange [0:*]",
        )

    pictures.picture(path, *map(panel, FIGURE_BOUNDS), width=1400, height=560)


def draw_patterns(results, path):
    if not row_counts(results):
        return

    def panel(pattern):
        series = []
        for strategy, colour in STRATEGIES.items():
            points = [
                (n, overhead(setups(results, "rows", 32, n)[pattern], strategy))
                for n in row_counts(results)
            ]
            series.append((strategy, colour, points))
        return pictures.curves(
            f"{pattern}, blocks of 32 rows", "rows", "set-up / inversion alone", series,
            "set logscale x", ROWS, *POWERS, "set yrange [0:*]"
        )

    pictures.picture(path, *map(panel, FIGURE6), width=1200)


def draw_rows(results, path):
    if not row_counts(results):
        return

    def panel(pattern):
        series = []
        for bound, colour in BOUNDS.items():
            points = [
                (n, 1e9 * setups(results, "rows", bound, n)[pattern]["MC"]["seconds"] / n)
                for n in row_counts(results)
            ]
            series.append((f"{bound}", colour, points))
        return pictures.curves(
            f"{pattern}, MC, by block size", "rows", "nanoseconds a row", series, "set logscale xy",
            "set key maxrows 1 samplen 1", ROWS, *POWERS
        )

    pictures.picture(path, *map(panel, FIGURE6), width=1200)


def draw(results, folder):
    if "cuda" not in results:
        return []
    pictures = [
        ("batches", draw_batches, "Figure 4: inversion of batches of blocks, GPU."),
        ("matrices", draw_matrices, "Figure 5: set-up over inversion alone, GPU. ~: its pattern."),
        ("patterns", draw_patterns, "Figure 6: set-up over inversion alone, GPU."),
        ("rows", draw_rows, "Figure 7: time of the set-up for each row, by their number, GPU."),
    ]
    drawn = []
    for word, function, caption in pictures:
        name = f"papers-gauss-jordan-{word}.svg"
        function(results, folder / name)
        drawn.append((name, caption))
    return drawn
