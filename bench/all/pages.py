# SPDX-License-Identifier: BSD-3-Clause
"""The table of the pages of bench/results, and of those that this command does not make."""

import measure
import runs
from runs import Page, gpus, matrices, program, variable

EX10 = variable("EX10", "PETSc's compiled tutorial ksp/tutorials/ex10")


# pages that no script makes again: their backend, what they have, and why
BY_HAND = {
    "petsc-gpu": (
        "cuda", "PETSc's GMRES with bisai and with PETSc's own preconditioners on a GPU",
        "it has outputs of bench_petsc_gpu and of test programs, with their commands"
    ),
    "coefficient-jumps": (
        "host", "iterations of multigrid codes where coefficients jump from element to element",
        "bench/peers/coefficient_jumps.py makes it, with packages of Python that others do not need"
    ),
    "auto": (
        "host", "the automatic choice beside settings chosen by hand, on a CPU and on a GPU",
        "bench/auto/page.py makes it from runs of bench/auto/grid.py on systems that"
        " bench/auto/systems.py writes with packages of Python that others do not need"
    ),
    "multigrid-memory": (
        "cuda", "the memory of multigrid, array by array, and what updates need of it",
        "it has outputs of bench_multigrid before and after a change, with their commands"
    ),
    "peers-gpu": (
        "cuda", "Ginkgo and AmgX on a GPU, and amgcl on a CPU, each beside bisai",
        "the programs that called these libraries are not in the sources"
    ),
    "python": (
        "host", "the package for Python beside the calls of C, PyAMG and SciPy, on one thread",
        "bench/pyamg/overhead.py and bench/pyamg/compare.py make its tables, with packages of"
        " Python that others do not need"
    ),
    "newton-cavity": (
        "host", "Newton's method on the cavity up to Re = 1000, on a CPU and on a GPU",
        "it has outputs of cases/navier_stokes, with their commands"
    ),
    "petsc-ranks": (
        "host", "multigrid of one hierarchy on ranks of MPI and on two GPUs",
        "it has outputs of test programs on ranks and on two GPUs, with their commands"
    ),
}


def plugin(b):
    return None if (b.build / "libbisai_petsc.so").exists() else "the build has no PETSc"


def test_program(name):
    return lambda b: None if (b.build / f"tests/{name}").exists() else f"{name} is not built"


def pictures(page, extension, *names):
    return [f"{page}.md", f"{page}.json", *(f"{page}{name}.{extension}" for name in names)]


BATCHES = ("-arrow", "-forms", "-real", "-size-of-batch", "-size-of-block", "-tridiagonal")

PAGES = [
    Page(
        "multigrid", "cuda",
        "multigrid: set-up and solve, updates, cycles, levels, one level beside it",
        pictures("multigrid", "svg", ""), 80, measure.multigrid,
        [program("bench_multigrid"), gpus(1)], measure.redraw_multigrid("multigrid")
    ),
    Page(
        "cpr", "cuda", "CPR: set-up and solve, updates, one level beside it",
        pictures("cpr", "svg", ""), 30, measure.cpr, [program("bench_multigrid"), gpus(1)],
        measure.redraw_multigrid("cpr", "--title", "CPR")
    ),
    Page(
        "multigrid-peers", "cuda", "multigrid beside hypre's BoomerAMG and PETSc's GAMG on a GPU",
        ["multigrid-peers.md", "multigrid-peers.json"], 420, measure.peers_gpu,
        [program("peers_gpu"), gpus(1)]
    ),
    Page(
        "compare", "cuda", "every method on systems of several kinds, beside cuSPARSE",
        ["h200-compare.md", "h200-compare.json", "../../docs/cavity.png"], 30,
        measure.compare_device, [program("bisai"), gpus(1)], measure.draw_front
    ),
    Page(
        "device", "cuda", "each operation beside its lower bound and cuSPARSE",
        ["h200-device.md", "h200-device.json"], 30, measure.device,
        [program("bench_device"), gpus(1)]
    ),
    Page(
        "batches", "cuda", "batches of small blocks, beside cuBLAS",
        pictures("h200-batches", "png", *BATCHES), 40, measure.batches,
        [program("bench_batches"), gpus(1)], measure.draw_batches, "matplotlib"
    ),
    Page(
        "block-jacobi", "cuda", "block-Jacobi on real matrices",
        measure.block_jacobi_files("h200-block-jacobi"), 400, measure.block_jacobi_device,
        [program("bisai"), gpus(1), matrices], measure.draw_block_jacobi("h200-block-jacobi")
    ),
    Page(
        "matrix-inverses-gpu", "cuda",
        "approximate inverses of the matrix beside those of its factors",
        ["h200-matrix-inverses.md", "h200-matrix-inverses.json.xz"], 120,
        lambda b: measure.script_of_matrices(
            b, "isai/matrix_inverses.py", "h200-matrix-inverses.md", *measure.briefly(b)
        ),
        [program("bisai"), gpus(1), matrices]
    ),
    Page(
        "strong-blocks-gpu", "cuda", "block-Jacobi with blocks of strongly coupled rows",
        ["h200-strong-blocks.md", "h200-strong-blocks.json.xz"], 240,
        lambda b: measure.script_of_matrices(
            b, "block-jacobi/strong_blocks.py", "h200-strong-blocks.md", *measure.briefly(b)
        ),
        [program("bisai"), gpus(1), matrices]
    ),
    Page(
        "matrices", "cuda", "iterations and times on real matrices",
        ["h200-device-matrices.md", "h200-device-matrices.json.xz"], 170, measure.device_matrices,
        [program("bisai"), gpus(1), matrices]
    ),
    Page(
        "petsc-gpus", "cuda", "PETSc with bisai on one and on two GPUs",
        ["petsc-gpus.md", "petsc-gpus.json"], 100, measure.petsc_gpus, [plugin, gpus(2), EX10]
    ),
    Page(
        "papers", "cuda", "the tables and figures of the papers", ["papers.md"], 300,
        measure.papers, [program("bisai"), gpus(1)], measure.redraw_papers
    ),
    Page(
        "examples", "host", "the examples of the README and the guide",
        ["examples-cpu.md", "examples-cpu.json"], 20, measure.examples, [program("bisai"), matrices]
    ),
    Page(
        "compare-cpu", "host", "every method on systems of several kinds, beside PETSc",
        ["compare-cpu.md", "compare-cpu.json"], 60, measure.compare_host, [program("bisai")]
    ),
    Page(
        "cpu-speed", "host", "each operation beside its lower bound and PETSc",
        ["cpu-speed.md", "cpu-speed.json"], 60, measure.cpu_speed, [program("bench_operations")]
    ),
    Page(
        "threads", "host",
        "one thread and the default number of threads, on idle and on busy cores", ["threads.md"],
        120, measure.threads, [program("bench_threads")]
    ),
    Page(
        "real-matrices", "host", "iterations on real matrices, hierarchies of multigrid",
        ["real-matrices-cpu.md", "real-matrices-cpu.json.xz"], 60, measure.real_matrices,
        [program("bisai"), matrices]
    ),
    Page(
        "symmetric-matrices",
        "host",
        "conjugate gradients on symmetric definite matrices",
        ["symmetric-matrices-cpu.md", "symmetric-matrices-cpu.json"],
        10,
        lambda b: measure.script_of_matrices(
            b, "real-matrices/symmetric_matrices.py", "symmetric-matrices-cpu.md", *measure.many(b)
        ),
        [program("bisai"), matrices],
    ),
    Page(
        "orderings", "host", "the effect of an ordering",
        ["orderings-cpu.md", "orderings-cpu.json.xz"], 300,
        lambda b: measure.script_of_matrices(
            b, "real-matrices/orderings.py", "orderings-cpu.md", *measure.many(b)
        ),
        [program("bisai"), matrices]
    ),
    Page(
        "block-jacobi-cpu", "host", "block-Jacobi on real matrices",
        measure.block_jacobi_files("block-jacobi-cpu"), 300, measure.block_jacobi_host,
        [program("bisai"), matrices], measure.draw_block_jacobi("block-jacobi-cpu")
    ),
    Page(
        "strong-blocks", "host", "block-Jacobi with blocks of strongly coupled rows",
        ["strong-blocks.md", "strong-blocks.json.xz"], 900,
        lambda b: measure.script_of_matrices(
            b, "block-jacobi/strong_blocks.py", "strong-blocks.md", *measure.many(b)
        ),
        [program("bisai"), matrices]
    ),
    Page(
        "matrix-inverses", "host", "approximate inverses of the matrix beside those of its factors",
        ["matrix-inverses-cpu.md", "matrix-inverses-cpu.json.xz"], 300,
        lambda b: measure.script_of_matrices(
            b, "isai/matrix_inverses.py", "matrix-inverses-cpu.md", *measure.many(b)
        ),
        [program("bisai"), matrices]
    ),
    Page(
        "block-formats", "host", "block-Jacobi in each format on one thread, out of cache",
        ["block-formats-cpu.md", "block-formats-cpu.json"], 20, measure.block_formats,
        [program("bench_formats")]
    ),
    Page(
        "peers", "host", "multigrid and CPR beside PETSc's GAMG and hypre's BoomerAMG",
        ["peers-cpu.md", "peers-cpu.json"], 900, measure.peers,
        [program("bench_peers"), runs.tool("mpirun")]
    ),
    Page(
        "petsc-mpi", "host", "bisai inside PETSc and PETSc's block ILU on the same number of ranks",
        ["petsc-mpi.md", "petsc-mpi.json"], 600, measure.petsc_mpi,
        [plugin, EX10, runs.tool("mpirun")]
    ),
    Page(
        "petsc-ranks-peers", "host", "multigrid over ranks of MPI beside BoomerAMG and GAMG",
        ["petsc-ranks-peers.md", "petsc-ranks-peers.json"], 900, measure.petsc_ranks,
        [program("bench_petsc_ranks"), runs.tool("mpirun")]
    ),
    Page(
        "petsc-tutorials", "host", "unmodified tutorials of PETSc on 1, 2 and 4 ranks",
        ["petsc-tutorials.md"], 300, measure.petsc_tutorials, [plugin, runs.tool("mpicc")]
    ),
    Page(
        "petsc-factors", "host", "L and U compared with PETSc's on real matrices",
        ["petsc-factors.md"], 120, measure.petsc_factors,
        [test_program("test_petsc_factors"), matrices]
    ),
    Page(
        "papers-cpu", "host", "the tables and figures of the papers", ["papers.md"], 250,
        measure.papers, [program("bisai")], measure.redraw_papers
    ),
]
