# SPDX-License-Identifier: BSD-3-Clause
"""The measured figures that README.md and docs/guide.md quote.

docs/figures.txt uses these functions in its expressions. Each reads a file of bench/results.
"""

import functools
import math
import pathlib
import statistics
import sys

BENCH = pathlib.Path(__file__).resolve().parents[1]
sys.path += [str(BENCH / folder) for folder in ("common", "block-jacobi", "real-matrices")]
import block_jacobi
import real_matrices
import real_matrices_summary
import symmetric_matrices
import tables

inf = math.inf
ILU, ISAI1, ISAI3 = 0, 1, 2  # places of methods in the figures of orderings


@functools.lru_cache(None)
def load(name):
    """Returns the content of NAME.json or NAME.json.xz of bench/results."""
    return tables.read_json(BENCH / "results" / f"{name}.json")


def ms(seconds):
    return 1e3 * seconds


def only(found, what):
    if not found:
        raise LookupError(f"no figure of {what}")
    return found[-1]


# --- pages of bench_multigrid ---


def multigrid(system, method="mg", what="all in", page="multigrid", solver=None):
    """Returns the record of a system and a method."""
    found = [
        record
        for document in load(page)
        for record in document["figures"]
        if record["what"] == what
        and record["system"].removesuffix(".mtx") == system
        and record["method"] == method
        and solver in (None, record["solver"])
    ]
    return only(found, f"{system}, {method} in {page}")


def all_in(system, method="mg", page="multigrid"):
    """Returns the median milliseconds of set-up and solve."""
    return ms(multigrid(system, method, page=page)["sum_median"])


def growth_on_the_cavity():
    """Returns the most iterations over the fewest, from 250² to 2000² nodes."""
    counts = [multigrid(f"cavity:{n}")["iterations"] for n in (250, 500, 1000, 2000)]
    return max(counts) / min(counts)


def ilu_over_isai(system):
    """Returns the time of CPR with block ILU over that with block-ISAI and a sweep."""
    one, other = "cpr", "cpr:second=isai:relax=1"
    return all_in(system, one, page="cpr") / all_in(system, other, page="cpr")


def cpr(system):
    """Returns the iterations of CPR with block ILU on a file."""
    return multigrid(system, "cpr", page="cpr")["iterations"]


def copies_in_fp32():
    """Returns, for each system, how much larger a hierarchy is with copies in fp32."""
    return [
        record["hierarchy_bytes"]
        / multigrid(record["system"], "mg:precision=fp64")["hierarchy_bytes"]
        for document in load("multigrid")
        for record in document["figures"]
        if record["what"] == "all in"
        and record["method"] == "mg"
        and any(
            other["method"] == "mg:precision=fp64" and other["system"] == record["system"]
            for each in load("multigrid")
            for other in each["figures"]
        )
    ]


# --- pages of `bisai compare` and examples ---


def compared(page, name, method):
    """Returns the run of a method on a system of a page by verdicts.py."""
    runs = only([d["runs"] for d in load(page) if d["matrix"]["name"] == name], name)
    return only([run for run in runs if run["label"] == method], f"{method} on {name}")


def total(page, name, method):
    """Returns the median milliseconds of set-up and solve."""
    return ms(compared(page, name, method)["total_s"])


def iteration_gain(page, name, method, base):
    """Returns how many times faster an iteration is."""
    slow, fast = (compared(page, name, m) for m in (base, method))
    return slow["solve_s"] / slow["iterations"] / (fast["solve_s"] / fast["iterations"])


ISAI_ON_THE_CAVITY = ["isai:k=1", "isai:k=2", "isai:k=3", "isai:k=3:storage=fp16"]


def totals_of_isai():
    """Returns the median milliseconds of ISAI on the cavity and the H200."""
    return [total("h200-compare", "cavity", method) for method in ISAI_ON_THE_CAVITY]


def gains_over_ilu():
    """Returns how many times faster an iteration with ISAI is than one with exact solves."""
    return [
        iteration_gain("h200-compare", "cavity", method, "ilu") for method in ISAI_ON_THE_CAVITY
    ]


def example(name, method=None):
    """Returns the record of an example, or the run of a method."""
    record = only([r for r in load("examples-cpu") if r["name"] == name], name)
    if method is None:
        return record
    return only([r for r in record["runs"] if r["label"] == method], f"{method} of {name}")


def count(name, method):
    """Returns the iterations of an example, or the reason why it did not converge."""
    return tables.cell(example(name, method))


def bytes_of_iteration(method):
    """Returns what an iteration moves on the cavity, from `bisai info`."""
    rows = example("info")["info"]["iteration_bytes"]
    return only([row for row in rows if row["method"] == method], method)["all"]


# --- bench_operations ---


def gains_of_solves(threads=1):
    """Returns PETSc's time over ours for GMRES with exact solves, for each block size."""
    gains = []
    for run in load("cpu-speed"):
        of = {f["name"]: f for f in run["figures"] if f["threads"] == threads}
        ours, theirs = of["GMRES(30), exact solves"], of["PETSc KSPSolve"]
        gains.append(theirs["minimum"] / ours["minimum"])
    return gains


def mpi_times():
    """Returns PETSc's time over bisai's for block ILU on 2 and more ranks, of the best runs."""
    best = {
        (f["setting"], f["ranks"]): min(setup + solve for _, setup, solve in filter(None, f["runs"]))
        for f in load("petsc-mpi")
        if any(f["runs"])
    }
    return [
        best["petsc", ranks] / seconds
        for (setting, ranks), seconds in best.items()
        if setting == "ilu" and ranks > 1
    ]


def batches():
    """Returns the figures of bench_batches."""
    return tables.recorded(load("h200-batches"))[0]["results"]


def extraction_of_auto():
    """Returns the most that MC, which `auto` is, takes over the fastest kind of extraction."""
    times = {}
    for f in batches():
        if f["section"] in ("extraction", "real"):
            name, kind = f["what"].rsplit(" ", 1)
            times.setdefault((name, f["most"]), {})[kind] = f["seconds"]
    return max(min(of["MC"], of["auto"]) / min(of.values()) for of in times.values())


def setup_of_inverse(size):
    """Returns the time of a set-up of inverses of this size over that of the fastest form."""
    found = [f for f in batches() if f["section"] == "forms" and f["size"] == size]
    times = {f["what"]: f["setup"] for f in found if f["what"] != "cublas"}
    return times["inverse"] / min(times.values())


def gain_of_adaptive(size):
    """Returns how many times faster adaptive blocks are applied to a vector than fp64."""
    found = [
        f["speedup_over_fp64"]
        for f in batches()
        if f["section"] == "apply" and f["size"] == size and f["vectors"] == 1
        if f["what"] == "adaptive"
    ]
    return only(found, f"adaptive blocks of {size} rows")


def gains_of_adaptive_cg():
    """Returns by how many percent CG is faster with 2 digits on a GPU, on large systems."""
    solves = only([r["solves"] for r in load("papers-adaptive-cuda") if "solves" in r], "CG")
    return [
        100 * (found["runs"]["fp64"]["solve_s"] / found["runs"]["2 digits"]["solve_s"] - 1)
        for found in solves.values()
        if found["matrix"]["blocks"] * found["matrix"]["block_size"] ** 2 >= 1e6
        if found["runs"]["fp64"]["converged"]
    ]


# --- real matrices ---


@functools.lru_cache(None)
def summary():
    """Returns {METHOD: (solved matrices, median of iterations over ILU(0)'s)}."""
    lines = real_matrices_summary.summary(load("real-matrices-cpu"))
    return {
        method: (solved, median)
        for method, (_, solved, _, median) in zip(real_matrices.METHODS, lines)
    }


def solved(method):
    return summary()[method][0]


def over_ilu(method):
    return summary()[method][1]


def matrices():
    """Returns {matrix: its results in the order of the block sizes}."""
    found = {}
    for result in load("real-matrices-cpu"):
        found.setdefault(result["matrix"]["name"], []).append(result)
    return found


def run_of(result, method):
    return result["runs"][real_matrices.METHODS.index(method)]


def real(name, method, size=0):
    """Returns the iterations on a matrix, or the reason why it did not converge.

    size: 0 for the block size of `auto`, 1 for that of the physics
    """
    return tables.cell(run_of(matrices()[name][size], method))


def solvers_of(method, inverted=None):
    """Returns the matrices that a method solves; `inverted`: whether mg has one level only."""
    return {
        name
        for name, results in matrices().items()
        if any(run_of(result, method)["converged"] for result in results)
        and inverted in (None, is_inverted(results))
    }


def is_inverted(results):
    """Returns true if mg inverts the matrix itself, at every block size that it takes."""
    found = [run_of(result, "mg")["hierarchy"] for result in results]
    found = [hierarchy for hierarchy in found if hierarchy]
    return bool(found) and all(len(hierarchy["levels"]) == 1 for hierarchy in found)


def inverted():
    return {name for name, results in matrices().items() if is_inverted(results)}


def nowhere():
    """Returns the matrices that no method of the table solves."""
    return {
        name
        for name, results in matrices().items()
        if not any(run["converged"] for result in results for run in result["runs"])
    }


def radii(least, most):
    """Returns the runs of mg whose ρ(D⁻¹A) lies in a range and that do not invert the matrix."""
    found = []
    for result in load("real-matrices-cpu"):
        run = run_of(result, "mg")
        levels = run["hierarchy"]["levels"] if run["hierarchy"] else []
        if len(levels) > 1 and least <= (levels[0]["radius"] or inf) < most:
            found.append(run)
    return found


def hierarchy_of(name):
    return run_of(matrices()[name][0], "mg")["hierarchy"]


def radius(name, level):
    return hierarchy_of(name)["levels"][level]["radius"]


def factor(name):
    """Returns what a cycle of mg multiplies errors by, at the block size of `auto`."""
    return matrices()[name][0]["mg_error_factor"]


def cycles(least, most):
    """Returns the runs of mg whose cycles multiply errors by a factor in a range, and that do not
    invert the matrix."""
    return [
        run_of(result, "mg")
        for result in load("real-matrices-cpu")
        if result["mg_error_factor"] is not None
        and least <= result["mg_error_factor"] < most
        and len(run_of(result, "mg")["hierarchy"]["levels"]) > 1
    ]


def few(runs, most):
    """Returns the number of runs that converge in less than `most` iterations."""
    return sum(run["iterations"] < most for run in converged(runs))


def saved_by_ilu_alone(name):
    """Returns true if ILU(0) converges at some block size, and neither ISAI nor sweeps do."""
    others = [m for m in real_matrices.METHODS if m.startswith(("isai", "sweeps"))]
    results = matrices()[name]
    return any(run_of(r, "ilu")["converged"] for r in results) and not any(
        run_of(r, method)["converged"] for r in results for method in others
    )


def converged(runs):
    return [run for run in runs if run["converged"]]


def changed_by(method, base, percent):
    """Returns the matrices of more than 100 block rows whose iterations differ by more than that."""
    names = []
    for name, results in matrices().items():
        one, other = (run_of(results[0], m) for m in (method, base))
        if one["converged"] and other["converged"]:
            ratio = one["iterations"] / other["iterations"]
            large = results[0]["matrix"]["block_rows"] > 100
            if large and abs(ratio - 1) > percent / 100:
                names.append(name)
    return sorted(names)


# --- conjugate gradients ---


def by_cg(name, method):
    """Returns the iterations of CG at the block size of `auto`, or the reason."""
    at = symmetric_matrices.METHODS.index(method)
    found = [r for r in load("symmetric-matrices-cpu") if r["matrix"]["name"] == name]
    return tables.cell(only(found[:1], name)["runs"][at])


def solved_by_cg(method):
    at = symmetric_matrices.METHODS.index(method)
    return sum(result["runs"][at]["converged"] for result in load("symmetric-matrices-cpu"))


def systems_of_cg():
    return len(load("symmetric-matrices-cpu"))


def cg_over_ilu(method):
    at = symmetric_matrices.METHODS.index(method)
    ratios = symmetric_matrices.ratios(load("symmetric-matrices-cpu"), at)
    return ratios[len(ratios) // 2]


# --- block-Jacobi on real matrices ---


@functools.lru_cache(None)
def jacobi(page="block-jacobi-cpu"):
    return block_jacobi.by_run(load(page))


def bounded(bound, solver="idr:s=4"):
    """Returns the runs of all matrices with blocks of at most `bound` rows."""
    method = block_jacobi.label(bound)
    return [r for key, r in jacobi().items() if key[1] == solver and key[2] == method]


def over_jacobi(bound):
    """Returns the median of the iterations of IDR(4) over those of scalar Jacobi."""
    names = block_jacobi.label(bound), block_jacobi.label(1)
    ratio, _ = block_jacobi.median_ratio(
        jacobi(), "idr:s=4", *names, lambda run: run["iterations"]
    )
    return ratio


def singular_everywhere():
    """Returns the matrices that have a singular block for every bound."""
    names = {key[0] for key in jacobi()}
    return [
        name
        for name in names
        if all(
            jacobi()[name, "idr:s=4", block_jacobi.label(bound)]["reason"] == "singular_block"
            for bound in block_jacobi.BOUNDS
        )
    ]


def adaptive_pairs(page="block-jacobi-cpu"):
    """Returns (fp64, 2 digits) of each matrix and bound of CG for which fp64 converged."""
    found = jacobi(page)
    pairs = []
    for name in block_jacobi.SPD:
        for bound in block_jacobi.ADAPTIVE_BOUNDS:
            key = block_jacobi.label(bound)
            full = found.get((name, "cg", key))
            two = found.get((name, "cg", key + block_jacobi.STORAGES[2]))
            if full and full["converged"]:
                pairs.append((full, two))
    return pairs


def adaptive_over_fp64(page="block-jacobi-cpu"):
    """Returns the median of the times of set-up and solve."""
    seconds = tables.least_seconds
    return statistics.median(seconds(two) / seconds(full) for full, two in adaptive_pairs(page))


def adaptive_bytes():
    """Returns the bytes of all blocks in percent of fp64."""
    pairs = adaptive_pairs()
    kept = sum(two["diagonal"]["bytes"] for _, two in pairs)
    return 100 * kept / sum(block_jacobi.bytes_of_fp64(two) for _, two in pairs)


def adaptive_most_iterations():
    """Returns the largest growth of the iterations in percent."""
    return max(100 * (two["iterations"] / full["iterations"] - 1) for full, two in adaptive_pairs())


# --- orderings ---


@functools.lru_cache(None)
def ordered():
    """Returns {system: {ordering: result}} of the systems with results in all orderings."""
    found = {}
    for result in load("orderings-cpu"):
        found.setdefault(result["system"], {})[result["ordering"]] = result
    return {
        name: group
        for name, group in found.items()
        if len(group) == 4 and all(result["runs"] for result in group.values())
    }


def ordering_solves(ordering, method=0):
    return sum(group[ordering]["runs"][method]["converged"] for group in ordered().values())


def ordering_ratio(one, other):
    """Returns the geometric mean of iterations; `one`, `other`: (ordering, place of a method)."""
    logs = []
    for group in ordered().values():
        pair = [group[ordering]["runs"][method] for ordering, method in (one, other)]
        if all(run["converged"] for run in pair):
            logs.append(math.log(max(pair[0]["iterations"], 1) / max(pair[1]["iterations"], 1)))
    return math.exp(statistics.mean(logs))
