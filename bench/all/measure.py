# SPDX-License-Identifier: BSD-3-Clause
"""Functions that measure a page and write its files, or draw its pictures."""

import os

import runs
import tables
from runs import matrices

CAVITIES = "cavity:250,cavity:500,cavity:1000,cavity:2000"
GOALS = "cavity:300,cavity:1000,convdiff:148x148x58,convdiff:250x250x250,poisson:200,reaction:512"
ELASTIC = "reaction:128,elasticity:100,inclusion:100"
ONE_LEVEL = "cavity:300,cavity:1000,convdiff:148x148x58,poisson:100,reaction:512,elasticity:60"
RESERVOIRS = "reservoir:22,reservoir:46,reservoir3:22,reservoir3:46"
CPR = "cpr:second=isai:relax=1,cpr:second=isai,cpr"
PEERS_GAMG = (
    "cavity:300,reaction:512,convdiff:148x148x58,poisson:100,elasticity:40,poisson:200,"
    "convdiff:200x200x200"
)
PEERS_GPU_QUICK = "poisson:40,elasticity:20,cavity:100"
REAL_RESERVOIRS = ("opm_spe9_s7", "opm_spe10m1_s516")


# --- multigrid and CPR ---


def bench_multigrid(b, name, *arguments):
    """Runs bench_multigrid and returns the file with its figures."""
    file = b.raw / f"{name}.json"
    threads = ["--threads", "4"] if b.backend == "cuda" else []
    b.run(
        b.program("bench_multigrid"), "--backend", b.backend, *threads, *arguments, "--json", file
    )
    return file


def multigrid(b):
    if b.quick:
        sizes = "cavity:100,convdiff:40x40x40,poisson:40,reaction:128,elasticity:20"
        made = [
            bench_multigrid(b, "mg", "--systems", sizes, "--rounds", "3", "--one-level"),
            bench_multigrid(b, "levels", "--systems", "cavity:100", "--no-all-in", "--levels"),
        ]
    else:
        cycles = "mg,mg:cycle=v,mg:cycle=k,mg:coarsest=256"
        stored = ["--methods", "mg,mg:precision=fp64"]
        rounds = ["--rounds", "5", "--most", "1"]
        levels = "cavity:300,reaction:512,convdiff:148x148x58"
        changed = "cavity:300,elasticity:30,poisson:60,reaction:256"
        made = [
            bench_multigrid(b, "cycles", "--systems", CAVITIES, "--methods", cycles, *rounds),
            bench_multigrid(b, "goals", "--systems", f"{GOALS},{ELASTIC}", *rounds),
            bench_multigrid(b, "one", "--systems", ONE_LEVEL, *stored, "--one-level", *rounds),
            bench_multigrid(b, "changed", "--systems", changed, "--no-all-in", "--robust"),
            bench_multigrid(b, "levels", "--systems", levels, "--no-all-in", "--levels"),
        ]
    b.script("multigrid/multigrid_tables.py", b.page("multigrid.md"), *made)


def peers_gpu(b):
    """hypre in one process. GAMG's failures end a process or leave memory behind in it: a process
    for each setting."""
    rounds = ["--rounds", "2" if b.quick else "3"]
    systems = ["--systems", PEERS_GPU_QUICK] if b.quick else []
    made = [b.raw / "hypre.json"]
    b.run(b.program("peers_gpu"), "--library", "hypre", *systems, *rounds, "--json", made[0])
    for system in (PEERS_GPU_QUICK if b.quick else PEERS_GAMG).split(","):
        for k, setting in enumerate(b.lines(b.program("peers_gpu"), "--names", "GAMG")):
            made.append(b.raw / f"GAMG-{system.replace(':', '-')}-{k}.json")
            words = ["--systems", system, "--setting", setting, *rounds, "--json", made[-1]]
            b.attempt(b.program("peers_gpu"), "--library", "GAMG", *words)
    b.script("peers_gpu/peers_tables.py", b.page("multigrid-peers.md"), *made)


def redraw_multigrid(name, *title):
    page, figures = f"{name}.md", f"{name}.json"
    script = "multigrid/multigrid_tables.py"
    return lambda b: b.script(script, b.page(page), b.page(figures), *title)


def real_reservoirs(b):
    """Returns the files of reservoirs, uncompressed, or nothing without them."""
    if matrices(b) is not None:
        return []
    return [file for name in REAL_RESERVOIRS for file in unpacked(b, name, f"{name}_b")[:1]]


def unpacked(b, *names):
    """Unpacks matrices with xz into the folder of raw figures, and returns their files."""
    files = []
    for name in names:
        file = b.raw / f"{name}.mtx"
        packed = b.matrices / f"{name}.mtx.xz"
        if packed.exists() or isinstance(b, runs.Recorder):
            b.run("xz", "-dc", packed, output=file)
            files.append(file)
    return files


def cpr(b):
    made = []
    flexible = f"{CPR},cpr:second=isai:relax=1@fgmres"
    files = ",".join(str(file) for file in real_reservoirs(b))
    if files:
        real = ["--systems", files, "--methods", flexible, "--rounds", "15", "--one-level"]
        made.append(bench_multigrid(b, "real", *real))
    small = "reservoir:12,reservoir3:12" if b.quick else RESERVOIRS
    rounds = ["--methods", CPR, "--rounds", "5", "--most", "2"]
    made.append(bench_multigrid(b, "small", "--systems", small, *rounds))
    if not b.quick:
        large = ["--systems", "reservoir:100,reservoir3:100", "--one-level", *rounds]
        made.append(bench_multigrid(b, "large", *large))
    b.script("multigrid/multigrid_tables.py", b.page("cpr.md"), *made, "--title", "CPR")


# --- comparisons by the program ---


def compared(b, name, *arguments, methods):
    """Runs `bisai compare` and returns the file with its figures."""
    file = b.raw / f"compare-{name}.json"
    repeat = ["--repeat", "2" if b.quick else "5" if b.backend == "cuda" else "3"]
    words = ["compare", *arguments, "--methods", methods, "--backend", b.backend, *repeat]
    b.run(b.program("bisai"), *words, "--json", file, output=os.devnull)
    b.label(file, words, methods.split(","))
    return file


SLOW = {"reaction": "mg", "reservoir:components=3": "ilu,isai:k=3,isai:relax=1,mg"}


def compare(b, page, title, size, methods):
    """Systems of several kinds by many methods."""
    made, modes = [], b.raw / "modes.mtx"
    for case, extent, solver, more in (
        ("cavity", size["cavity"], "gmres", "none,bjacobi,isai:k=3:storage=fp16"),
        ("convdiff", size["convdiff"], "gmres", ""),
        ("elasticity", size["elasticity"], "cg", f"bjacobi,mg:null={modes}"),
        ("reaction", size["reaction"], "cg", "bjacobi"),
        ("reservoir:components=3", size["reservoir"], "gmres", "cpr,cpr:second=isai:relax=1"),
    ):
        usual = {"cg": "ilu,mg", "gmres": methods}[solver]
        if b.backend == "cuda" and case in SLOW:  # block ILU takes seconds there
            usual = SLOW[case]
        chosen = ",".join(text for text in (usual, more) if text)
        system = ["--case", case, "--size", str(extent), "--solver", solver]
        system += ["--threads", str(size["threads"])]
        system += ["--write-null", modes] if case == "elasticity" else []
        made.append(compared(b, case.split(":")[0], *system, methods=chosen))
    if matrices(b) is None and not b.quick:
        for name in ("opm_spe9_s7", "gen_petsc_ex19_128", "2dcyl1"):
            file = b.matrices / f"{name}.mtx.xz"
            rest = ["--max-iterations", "3000", "--threads", str(size["threads"])]
            if file.exists() or isinstance(b, runs.Recorder):
                made.append(compared(b, name, file, *rest, methods=f"bjacobi,{methods}"))
    b.script("methods/verdicts.py", b.page(page), *made, "--title", title)


def compare_device(b):
    size = {"cavity": 300, "convdiff": "148,148,58", "elasticity": 60, "reaction": 512}
    size |= {"reservoir": 46, "threads": 4}
    if b.quick:
        size |= {"cavity": 60, "convdiff": 20, "elasticity": 10, "reaction": 64, "reservoir": 10}
    methods = "cusparse-ilu,ilu,isai:k=1,isai:k=2,isai:k=3,isai:relax=1,mg"
    compare(b, "h200-compare.md", "Who won, on an NVIDIA H200", size, methods)


def compare_host(b):
    size = {"cavity": 128, "convdiff": 40, "elasticity": 20, "reaction": 128}
    size |= {"reservoir": 30, "threads": 2}
    if b.quick:
        size |= {"cavity": 30, "convdiff": 12, "elasticity": 8, "reaction": 32, "reservoir": 8}
    methods = "petsc,ilu,isai:k=1,isai:k=2,isai:relax=1,mg"
    compare(b, "compare-cpu.md", "Who won, on two cores of a CPU", size, methods)


def draw_front(b):
    """The README's figure. Residuals do not depend on the machine, and are computed here."""
    methods = "ilu,isai:k=1,isai:k=2,isai:k=3,mg"
    plots, figure = b.raw / "plots", b.results.parents[1] / "docs/cavity.png"
    system = ["--case", "cavity", "--size", "300", "--methods", methods, "--backend", "host"]
    b.run(b.program("bisai"), "compare", *system, "--plots", plots, output=os.devnull)
    b.script("methods/front_page.py", plots, b.page("h200-compare.json"), figure)


# --- benchmarks of operations ---


def device(b):
    file = b.raw / "device.json"
    rounds = ["--rounds", "3"] if b.quick else []
    parts = ["--only", "pstik"]  # h200-compare.md has whole solves
    b.run(b.program("bench_device"), *parts, *rounds, "--json", file, output=os.devnull)
    b.script("devices/device_tables.py", b.page("h200-device.md"), file)


def batches(b):
    file = b.raw / "batches.json"
    quick = ["--rounds", "3", "--bytes", str(1 << 27)] if b.quick else ["--rounds", "9"]
    names = ("bcsstk16", "bcsstk18", "c-62", "gen_petsc_ex19_128", "opm_spe9_s7", "teko_szdMat")
    files = [b.matrices / f"{name}.mtx.xz" for name in names] if matrices(b) is None else []
    files = [] if b.quick else [file for file in files if file.exists()]
    real = ["--matrices", *files] if files else []
    sections = ["--only", "imfabsew"]  # the papers' page has the others
    b.run(b.program("bench_batches"), *sections, *quick, "--json", file, *real, output=os.devnull)
    b.script("block-jacobi/batches_tables.py", b.page("h200-batches.md"), file)


def draw_batches(b):
    b.script("block-jacobi/batches_figures.py", b.page("h200-batches.json"), b.results)


def cpu_speed(b):
    made = []
    for size in (3, 4, 5):
        made.append(b.raw / f"operations-{size}.json")
        quick = ["--size", "24", "--copy-megabytes", "64"] if b.quick else []
        b.run(
            b.program("bench_operations"), *("--block-size", str(size)),
            *("--solves", "1" if b.quick else "2"), *quick, *("--json", made[-1]), output=os.devnull
        )
    b.script("processors/cpu_speed.py", b.page("cpu-speed.md"), *made)


def threads(b):
    often = ["--pairs", "3", "--busy", "0"] if b.quick else ["--pairs", "5"]
    sizes = "1000,10000" if b.quick else "1000,10000,30000,100000"
    program = b.program("bench_threads")
    b.script("processors/threads.py", "--sizes", sizes, *often, b.page("threads.md"), program)


# --- real matrices ---


def script_of_matrices(b, script, page, *arguments, only=True):
    """Runs a script that reads all real matrices, or one matrix if quick."""
    one = ["--only", "nos3"] if b.quick and only else []
    bisai, output = b.program("bisai"), b.page(page)
    b.script(script, bisai, b.matrices, output, "--backend", b.backend, *arguments, *one)


def total(b):
    """Returns the option of what a script may take."""
    return [] if b.seconds is None else ["--total", str(b.seconds)]


def briefly(b):
    """Systems so small that launches take the time of an iteration are left to the CPU's page."""
    least = "0" if b.quick else "1000"
    return ["--repeats", "1", "--seconds", "10", "--least-rows", least, *total(b)]


def block_jacobi(b, page, *arguments):
    script_of_matrices(b, "block-jacobi/block_jacobi.py", f"{page}.md", *total(b), *arguments)


def block_jacobi_device(b):
    """On small matrices an iteration takes the time of its launches. The CPU's page has them."""
    chosen = ["--solvers", "idr:s=4", "--least-rows", "0" if b.quick else "1000"]
    words = ["--repeats", "5", "--threads", "4", "--seconds", "10"]
    block_jacobi(b, "h200-block-jacobi", *words, *chosen)


def draw_block_jacobi(page):
    def draw(b):
        for figure in ("bounds", "formats", "adaptive"):
            drawn = b.page(f"{page}-{figure}.svg")
            b.script("block-jacobi/block_jacobi_figures.py", b.page(f"{page}.json"), figure, drawn)

    return draw


def block_jacobi_files(page):
    figures = [f"{page}-{figure}.svg" for figure in ("adaptive", "bounds", "formats")]
    return [f"{page}.md", f"{page}.json.xz", *figures]


def examples(b):
    one = ["--only", "cavity 40"] if b.quick else []
    output = b.page("examples-cpu.md")
    b.script("methods/examples.py", b.program("bisai"), b.matrices, output, "--threads", "2", *one)


def many(_):
    """Tables of iterations run a process on each processor."""
    return ["--at-once", str(len(tables.processors()))]


def block_jacobi_host(b):
    """A process on each core."""
    words = ["--repeats", "3", "--seconds", "60", "--at-once", str(tables.cores())]
    block_jacobi(b, "block-jacobi-cpu", *words)


def real_matrices(b):
    script_of_matrices(
        b, "real-matrices/real_matrices.py", "real-matrices-cpu.md", *many(b),
        "--without-times", COUNTS
    )


def device_matrices(b):
    script_of_matrices(
        b, "real-matrices/real_matrices.py", "h200-device-matrices.md",
        *("--repeats", "3", "--seconds", "120", "--least-rows", "5000")
    )


COUNTS = "Many processes ran at a time, so that times were not taken."


# --- PETSc ---


def petsc_gpus(b):
    plugin = b.build / "libbisai_petsc.so"
    b.script(
        "petsc/petsc_gpus.py", b.program("bisai"), os.environ.get("EX10"), plugin,
        b.page("petsc-gpus.md")
    )


def petsc_mpi(b):
    b.script("petsc/petsc_mpi.py", b.build, os.environ.get("EX10"), b.page("petsc-mpi.md"))


def petsc_ranks(b):
    """As many ranks as there are processors, and fewer."""
    ranks = [str(r) for r in (2, 4, 8, 16) if r <= max(tables.cores(), 2)]
    b.script(
        "petsc/petsc_ranks.py", b.build, b.page("petsc-ranks-peers.md"), "--ranks",
        ",".join(ranks), *(["--smaller", "8"] if b.quick else [])
    )


def petsc_tutorials(b):
    b.script("petsc/petsc_tutorials.py", b.build, "--output", b.page("petsc-tutorials.md"))


def peers(b):
    """Each problem runs on two cores: two threads, or two ranks."""
    problems, rounds = "elasticity,reaction,cavity,reservoir,blackoil", 2
    if b.quick:
        problems, rounds = "elasticity=8,reaction=64,cavity=30,reservoir=10,blackoil=10", 1
    methods = ["--methods", "ilu,mg,mg:null={null}"]
    methods += ["--pressure-methods", "ilu,cpr,cpr:second=isai:relax=1"]
    b.script(
        "peers/peers_cpu.py",
        *(b.program("bisai"), b.program("bench_peers"), b.page("peers-cpu.md")),
        *("--problems", problems, "--rounds", str(rounds), "--limit", "40", *methods),
        *("--at-once", str(max(tables.cores() // 2, 1))),
    )


def petsc_factors(b):
    test = b.build / "tests/test_petsc_factors"
    b.run("env", f"BISAI_MATRICES={b.matrices}", test, b.page("petsc-factors.md"))
    b.date(b.page("petsc-factors.md"))


def block_formats(b):
    """Blocks of 16 and 32 rows that do not stay in the cache."""
    file = b.raw / "formats.json"
    size = ["--blocks", "2000"] if b.quick else ["--blocks", "20000", "--rounds", "12"]
    words = ["--backend", "host", "--threads", "1", "--sizes", "16,32", *size]
    b.run(b.program("bench_formats"), *words, "--json", file, output=os.devnull)
    b.script("block-jacobi/formats_tables.py", b.page("block-formats-cpu.md"), file, b.build)


def papers(b):
    """All papers, or those that are asked for as parts of the page."""
    quick = ["--quick"] if b.quick else []
    quick += ["--only", ",".join(b.parts)] if b.parts else []
    folder = ["--results", b.results, "--backend", b.backend]
    b.script("papers", b.build, *folder, *quick)


def redraw_papers(b):
    b.script("papers", b.build, "--results", b.results, "--no-measure")
