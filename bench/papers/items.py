# SPDX-License-Identifier: BSD-3-Clause
"""What the papers have and what here is not, or not simply, as published."""

import collections

import tables

Item = collections.namedtuple("Item", "paper what state how command")

STATES = ("works", "partial", "on purpose", "missing", "not available")
MEASURE = "python3 bench/papers BUILD --only"
FETCH = "cases/suitesparse/fetch.sh"

JORDAN, HUARD = "Gauss–Jordan 2017", "Gauss–Huard 2017, variable sizes 2018"
ADAPTIVE, ISAI = "Adaptive precision 2020", "Block-ISAI 2021"

ITEMS = [
    Item(
        JORDAN, "UC, MC, US, MS: the paper's kernels of extraction", "partial",
        "four strategies with the same letters and one shared tile; Figures 5 and 6 are headed so",
        "bench_batches --only g"
    ),
    Item(
        JORDAN, "Insertion into a CSR matrix D̂, cached and shared", "missing",
        "inverses are stored where applications read them", "bench_batches --only k"
    ),
    Item(
        JORDAN, "Figure 4 against MAGMA, “more than an order of magnitude”", "partial",
        "rows above, beside MAGMA's LU and inversion from its sources, and cuBLAS; the factor is"
        " not reached",
        "cmake -DBISAI_MAGMA=FOLDER …; bench_batches --only b"
    ),
    Item(
        JORDAN, "Figure 5: the matrices of Table 2", "partial",
        "those that are there, stand-ins, and patterns of three",
        "bench_batches --only g --matrices"
    ),
    Item(
        JORDAN, "Table 1", "partial",
        "no rows of insertion; one row is missing in the text at hand", "bench_batches --only k"
    ),
    Item(
        JORDAN, "Table 2", "partial", "the matrices that BISAI_MATRICES holds, and three stand-ins",
        f"{FETCH} gauss-jordan-2017; {MEASURE} gauss-jordan"
    ),
    Item(
        JORDAN, "The prototype that indexes registers at run time", "missing",
        "all indices of registers are known to the compiler", "bench_batches --only b"
    ),
    Item(
        HUARD, "Decompositions against MAGMA", "partial",
        "cuBLAS stands in for MAGMA, whose LU of the same blocks is in Figure 4 of Gauss–Jordan",
        "bench_batches --only fd"
    ),
    Item(
        HUARD, "Total run times of BiCGSTAB", "partial", "cases of this library",
        f"{MEASURE} gauss-huard"
    ),
    Item(
        HUARD, "Robustness on 40 matrices", "partial",
        "the slides do not name them; other real matrices", "python3 bench/all BUILD --only"
        " block-jacobi-cpu"
    ),
    Item(HUARD, "Insertion", "missing", "as above", "bench_batches --only m"),
    Item(
        ADAPTIVE, "The second inversion, and κ₁ alone", "on purpose",
        "‖D‖₁‖E − Ẽ‖₁ proves more and costs less", "bench_formats"
    ),
    Item(ADAPTIVE, "Truncation of significands", "on purpose", "round to nearest", "bench_formats"),
    Item(
        ADAPTIVE, "Cooperative groups", "on purpose", "kernels call the intrinsics",
        "bench_batches --only l"
    ),
    Item(
        ADAPTIVE, "Figure 5: P100 against V100, two kinds of calls", "not available",
        "neither these GPUs nor two versions", "bench_batches --only l"
    ),
    Item(
        ADAPTIVE, "Figure 6: set-up by rows against columns", "works",
        "a kernel of the benchmark that stores in both orders; a row above",
        "bench_batches --only l"
    ),
    Item(
        ADAPTIVE, "Figure 7: the choice out of three formats costs nothing", "partial",
        "little over the fixed format that blocks take, more over fp64: two rows above",
        "bench_formats --backend cuda"
    ),
    Item(
        ADAPTIVE, "Table 1, Figures 8 and 9", "partial", "the matrices that BISAI_MATRICES holds,"
        " cases, and four smaller matrices", f"{FETCH} adaptive-2020; {MEASURE} adaptive"
    ),
    Item(ADAPTIVE, "Appendix B: fetching the matrices", "works", "lists", f"{FETCH} adaptive-2020"),
    Item(
        ADAPTIVE, "Section 1: 70 % of the traffic", "works", "a row above", f"{MEASURE} adaptive"
    ),
    Item(ADAPTIVE, "Section 7", "partial", "rows of (2) and (3)", f"{MEASURE} adaptive"),
    Item(
        ADAPTIVE, "Future work: blocks of strongly coupled unknowns", "works",
        "[on a CPU](strong-blocks.md), [on a GPU](h200-strong-blocks.md)",
        "bisai compare … --methods bjacobi:max=8,bjacobi:max=8:blocks=strength"
    ),
    Item(
        ADAPTIVE, "Future work: a block pattern for accuracy and memory", "missing",
        "the pattern depends on couplings alone", "bench_formats"
    ),
    Item(
        ISAI, "Tables 1, 2, 4 and Figure 10", "partial",
        "stand-ins unless BISAI_MATRICES holds the matrices", f"{FETCH} all; {MEASURE} block-isai"
    ),
    Item(
        ISAI, "Patterns by csrgemm", "partial", "SpGEMMreuse, its successor; none for k = 1",
        "bisai compare … --methods isai:k=2:pattern=cusparse"
    ),
    Item(
        ISAI, "The whole way: PETSc's factors, cuSPARSE's pattern and products", "works",
        "a row of the table above", "bisai compare … --methods"
        " isai:k=2:factors=petsc:pattern=cusparse:apply=cusparse"
    ),
    Item(ISAI, "Algorithm 2", "works", "corrected, beside our kernel", "bench_algorithm2"),
    Item(
        ISAI, "Several GPUs", "partial", "by PETSc's ranks; halos pass through the host",
        "python3 bench/all BUILD --only petsc-gpus"
    ),
    Item(
        ISAI, "Equations (1) and (2): sparse approximate inverses", "missing",
        "[counted by a prototype](../../docs/decisions/block-isai.md)", f"{MEASURE} block-isai"
    ),
    Item(
        ISAI, "Equation (3): an inverse of A itself", "works",
        "`isai:of=matrix`, on powers of the pattern or a given one; FSPAI of definite matrices"
        " beside it: on real matrices [on a CPU](matrix-inverses-cpu.md) and [on a GPU]"
        "(h200-matrix-inverses.md)",
        "bisai compare … --methods isai,isai:of=matrix,isai:of=matrix:symmetric"
    ),
    Item(
        ISAI, "ParILU (background)", "works",
        "updates by sweeps, `updates=R`; a first factorisation is exact, by levels", "bench_updates"
    ),
]


def section():
    """Yields the lines of the table."""
    yield from [
        "", "## What is not simply as published", "",
        "Algorithms, tables, figures and claims of the papers that are not here, or not as they are"
        " in the paper, and those that came last. All others work as published.", "",
        *tables.heading("paper", "item", "state", "here", "command")
    ]
    for item in ITEMS:
        cells = (item.paper, item.what, item.state, item.how, f"`{item.command}`")
        yield "| " + " | ".join(cells) + " |"
