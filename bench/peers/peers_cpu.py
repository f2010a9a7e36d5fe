#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares bisai on two threads with PETSc's GAMG and hypre's BoomerAMG on two ranks of MPI, by
themselves or in CPR.

usage: peers_cpu.py BISAI PEERS OUTPUT.md [--methods LIST] [--problems LIST] [--rounds N]
       [--limit SECONDS] [--at-once N] [--pressure-methods LIST]

BISAI is the program, and PEERS is bench_peers of the same build (option BISAI_BENCH, with PETSc).
bisai writes each system to a file, which all programs read. All settings of both run in turn,
--rounds times (default 5). Each run sets up and solves once before it is timed. --methods is a list
of METHODs of bisai; `{null}` stands for the file of the near-null-space vectors, and a method with
it is left out if the system has none: --methods 'bjacobi,mg:null={null}'. Problems with a pressure
have --pressure-methods instead. --at-once measures several problems at a time, each on its own
processors. A run that fails, or takes longer than --limit seconds, is a row of the table.
--problems is a list of NAME or NAME=SIZE, from elasticity, inclusion, reaction, cavity, reservoir
and blackoil (default: elasticity, reaction and cavity). The last two compare CPR: --problems
reservoir,blackoil --pressure-methods cpr,ilu. OUTPUT.json has all runs.
"""

import argparse
import contextlib
import datetime
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.append(f"{sys.path[0]}/../common")
import tables
from ranks import RANKS

CG = ["-ksp_type", "cg", "-ksp_norm_type", "unpreconditioned"]
FGMRES = ["-ksp_type", "fgmres", "-ksp_gmres_restart", "30"]

# name, arguments of bisai, tolerance, symmetric, near-null-space vectors of its own, and the place
# of the pressure in a block if there is one for CPR
PROBLEMS = {
    "elasticity": ("elasticity", 40, 1e-8, True, True, None),
    "inclusion": ("elasticity:contrast=1000", 40, 1e-8, True, True, None),
    "reaction": ("reaction", 512, 1e-8, True, False, None),
    "cavity": ("cavity", 300, 1e-5, False, False, None),
    "reservoir": ("reservoir", 46, 1e-6, False, False, 0),
    "blackoil": ("reservoir:components=3", 46, 1e-6, False, False, 1),
}
DEFAULT_PROBLEMS = "elasticity,reaction,cavity"

OWN, ROTATIONS, COMPONENTS = "own", "rotations", "components"
GAMG = "-pc_type gamg"
HYPRE = "-pc_type hypre -pc_hypre_type boomeramg"
NOT_AGGRESSIVE = " -pc_gamg_aggressive_coarsening 0"
HMIS = (
    " -pc_hypre_boomeramg_coarsen_type HMIS -pc_hypre_boomeramg_interp_type ext+i"
    " -pc_hypre_boomeramg_P_max 4"
)
NODAL = HMIS + " -pc_hypre_boomeramg_nodal_coarsen 4 -pc_hypre_boomeramg_nodal_coarsen_diag 1"
# of these two, only the second makes hypre's interpolation read the near-null-space vectors
NODAL_ALONE = " -pc_hypre_boomeramg_nodal_coarsen 1"
INTERPOLATED = NODAL_ALONE + " -pc_hypre_boomeramg_vec_interp_variant 2"
# the settings for elasticity of MFEM, HypreBoomerAMG::SetElasticityOptions()
VECTORS = (
    " -pc_hypre_boomeramg_vec_interp_variant 2 -pc_hypre_boomeramg_vec_interp_qmax 4"
    " -pc_hypre_boomeramg_vec_interp_smooth -pc_hypre_boomeramg_interp_refine 1"
    " -pc_hypre_boomeramg_strong_threshold 0.5"
)
# CPR of PETSc's parts (peers_cpr.h): BoomerAMG, and ILU(0) of blocks on each rank
ILU = "-mat_type baij -pc_type bjacobi -sub_pc_type ilu"
CPR = "-mat_type baij -cpr {pressure} -cpr_second_sub_pc_type ilu"
CPR_HYPRE = CPR + " -cpr_first_pc_type hypre -cpr_first_pc_hypre_type boomeramg"
CPR_HMIS = HMIS.replace("-pc_hypre", "-cpr_first_pc_hypre")
CPR_GAMG = CPR + " -cpr_first_pc_type gamg -cpr_first_pc_gamg_aggressive_coarsening 0"
# name, options, near-null-space vectors. Vectors of their own need a problem that has them.
SETTINGS = [
    ("GAMG, defaults", GAMG, None),
    ("GAMG, no aggressive coarsening", GAMG + NOT_AGGRESSIVE, None),
    ("GAMG, near-null space", GAMG, OWN),
    ("GAMG, near-null space, no aggressive coarsening", GAMG + NOT_AGGRESSIVE, OWN),
    (
        "GAMG, no aggressive coarsening, Richardson and SOR",
        GAMG + NOT_AGGRESSIVE + " -mg_levels_ksp_type richardson -mg_levels_pc_type sor", OWN
    ),
    ("BoomerAMG, defaults (no aggressive coarsening)", HYPRE, None),
    ("BoomerAMG, nodal", HYPRE + NODAL_ALONE, COMPONENTS),
    ("BoomerAMG, nodal, interpolation of the near-null space", HYPRE + INTERPOLATED, COMPONENTS),
    ("BoomerAMG, one aggressive level", HYPRE + " -pc_hypre_boomeramg_agg_nl 1", None),
    ("BoomerAMG, HMIS, ext+i", HYPRE + HMIS, None),
    ("BoomerAMG, HMIS, ext+i, nodal", HYPRE + NODAL, None),
    ("BoomerAMG, HMIS, ext+i, nodal, rotations", HYPRE + NODAL + VECTORS, ROTATIONS),
]
# the same for problems with a pressure
PRESSURE_SETTINGS = [
    ("block ILU(0)", ILU, None), ("CPR, BoomerAMG, defaults", CPR_HYPRE, None),
    ("CPR, BoomerAMG, HMIS, ext+i", CPR_HYPRE + CPR_HMIS, None),
    ("CPR, GAMG, no aggressive coarsening", CPR_GAMG, None)
]


def settings_of(problem):
    """Yields (name, options, vectors) of the settings for a problem."""
    for name, options, vectors in SETTINGS if problem["pressure"] is None else PRESSURE_SETTINGS:
        if vectors == ROTATIONS and not problem["null"]:
            continue
        if vectors == OWN and not problem["null"]:
            if "Richardson" not in name:
                continue
            vectors = COMPONENTS
        yield name, options.format(pressure=problem["pressure"]).split(), vectors


def write_problem(bisai, folder, text):
    """Writes the system of NAME or NAME=SIZE."""
    name, _, other = text.partition("=")
    case, size, tolerance, symmetric, has_vectors, pressure = PROBLEMS[name]
    size = int(other or size)
    problem = {"name": name, "case": case, "size": size, "tolerance": tolerance}
    problem |= {"symmetric": symmetric, "pressure": pressure}
    problem |= {"system": str(folder / f"{name}.petsc"), "null": None}
    command = [bisai, "convert", "--case", case, "--size", str(size), problem["system"], "--force"]
    if has_vectors:
        problem["null"] = str(folder / f"{name}-null.mtx")
        command += ["--write-null", problem["null"]]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return problem


def bisai_command(bisai, problem, method):
    solver = "cg" if problem["symmetric"] else "gmres"
    command = f"{bisai} compare {problem['system']} --threads 2 --backend host --json - --repeat 1"
    command += f" --solver {solver} --tolerance {problem['tolerance']} --methods"
    return [*command.split(), method.replace("{null}", problem["null"] or "")]


def peer_command(options, problem, how, vectors):
    command = [*options.mpirun.split(), options.peers, "-system", problem["system"]]
    command += ["-ksp_rtol", str(problem["tolerance"]), "-ksp_max_it", "10000"]
    command += [*(CG if problem["symmetric"] else FGMRES), *how]
    if vectors == COMPONENTS:
        command += ["-null", "components"]
    elif vectors:
        command += ["-null", problem["null"]]
    if vectors == ROTATIONS:
        command += ["-null_first", "3"]
    return command


def contenders(options, problem):
    """Returns [(record of a setting, command)], bisai's first."""
    found = []
    methods = options.methods if problem["pressure"] is None else options.pressure_methods
    for method in methods:
        if "{null}" in method and not problem["null"]:
            continue
        record = {"program": "bisai", "name": method, "options": None, "null": None, "runs": []}
        found.append((record, bisai_command(options.bisai, problem, method)))
    for name, how, vectors in settings_of(problem):
        record = {"program": "PETSc", "name": name, "options": how, "null": vectors, "runs": []}
        found.append((record, peer_command(options, problem, how, vectors)))
    return found


def run_once(program, command, limit):
    """Returns the record of a run. If there is none, `reason` says why."""
    environment = os.environ | (RANKS if program == "PETSc" else {})
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=limit, env=environment
        )
    except subprocess.TimeoutExpired:
        return {"converged": False, "reason": f"longer than {limit} s"}
    try:
        return json.loads(done.stdout)["runs"][0]
    except (ValueError, KeyError, IndexError):
        words = [line.strip() for line in done.stderr.splitlines() if line.strip(" -")]
        return {"converged": False, "reason": f"failed: {(words or ['no output'])[0][:120]}"}


def is_true(problem, run):
    """Returns true if the run ends with a true residual within the limit that bisai sets itself."""
    return run["converged"] and 0 <= run["relative_residual"] <= 2 * problem["tolerance"]


def total(run):
    return run["setup_s"] + run["solve_s"]


def measure(options, words, problem):
    """Returns the records of all contenders, with their runs; `words` begin each command."""
    entrants = contenders(options, problem)
    for number in range(options.rounds):
        for record, command in entrants:
            seen = record["runs"]
            if seen and "setup_s" not in seen[-1]:
                continue  # it has failed already
            print(f"{problem['name']}, round {number + 1}: {record['name']}", flush=True)
            seen.append(run_once(record["program"], words + command, options.limit))
    return [record for record, _ in entrants]


def milliseconds(seconds):
    return f"{1e3 * seconds:.4g}"


def table(problem, results):
    yield from tables.heading(
        "program", "setting", "iterations", "set-up", "solve", "sum, minimum", "sum, median",
        "true residual", "sum / best peer"
    )
    best = best_peer(problem, results)
    for result in results:
        runs = result["runs"]
        good = [run for run in runs if is_true(problem, run)]
        if len(good) < len(runs):
            bad = next(run for run in runs if not is_true(problem, run))
            iterations = bad.get("iterations", "–")
            yield tables.row(result["program"], result["name"], iterations, *"–––––", bad["reason"])
            continue
        least = min(good, key=total)
        yield tables.row(
            result["program"], result["name"], least["iterations"], milliseconds(least["setup_s"]),
            milliseconds(least["solve_s"]), milliseconds(total(least)),
            milliseconds(statistics.median(map(total, good))), f"{least['relative_residual']:.1e}",
            f"{total(least) / best:.2f}" if best else "–"
        )


def best_peer(problem, results):
    """Returns the least sum of the peers that converge in every round, or None."""
    sums = [
        min(map(total, result["runs"]))
        for result in results
        if result["program"] != "bisai" and all(is_true(problem, run) for run in result["runs"])
    ]
    return min(sums, default=None)


def one_problem(options, name):
    """Measures a problem. Returns its record and its part of the page."""
    begin = time.monotonic()
    problem = write_problem(options.bisai, options.folder, name)
    places = options.places
    with places.place() if places else contextlib.nullcontext([]) as words:
        measured = measure(options, words, problem)
    size, tolerance = problem["size"], problem["tolerance"]
    lines = ["", f"## `{problem['case']}`, size {size}, tolerance {tolerance:g}", ""]
    lines += table(problem, measured)
    del problem["system"], problem["null"]
    print(f"{name}: {time.monotonic() - begin:.0f} s", flush=True)
    return problem | {"load": os.getloadavg(), "contenders": measured}, lines


INTRODUCTION = """{date}, commit {commit}, {processor}, {cores} processors, load {load:.1f} before
the first run{beside}. bisai runs on two threads, and PETSc on two ranks of MPI. PETSc's matrix is
AIJ with the block size of the case, or BAIJ for block ILU(0) and CPR. Solvers: CG for symmetric
systems, FGMRES(30) for PETSc and GMRES(30) for bisai otherwise, to the tolerance of the residual of
the system itself. Times are in milliseconds. All settings run in turn, {rounds} times; set-up and
solve are those of the run with the least sum. The set-up of BoomerAMG includes the conversion of
the matrix by PETSc. The CPR of PETSc's parts solves for pressures first, with quasi-IMPES weights,
and then uses ILU(0) of blocks on each rank. Made by `bench/peers/peers_cpu.py`."""


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("bisai")
    parser.add_argument("peers")
    parser.add_argument("output", type=pathlib.Path)
    parser.add_argument("--methods", type=lambda text: text.split(","), default=["bjacobi", "ilu"])
    parser.add_argument(
        "--pressure-methods", type=lambda text: text.split(","), default=["ilu", "cpr"]
    )
    parser.add_argument("--problems", default=DEFAULT_PROBLEMS)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--limit", type=float, default=300)
    parser.add_argument("--mpirun", default="mpirun -np 2")
    parser.add_argument("--at-once", type=int, default=1, help="problems at a time")
    options = parser.parse_args()
    introduction = INTRODUCTION.format(
        date=datetime.date.today(), commit=tables.measured_commit(), processor=tables.processor(),
        cores=len(os.sched_getaffinity(0)), load=os.getloadavg()[0], rounds=options.rounds,
        beside=f", {options.at_once} problems at a time{tables.OWN}" if options.at_once > 1 else ""
    )
    lines = ["# Multigrid of PETSc and hypre on a CPU", "", introduction.replace("\n", " ")]
    with tempfile.TemporaryDirectory() as temporary:
        options.folder = pathlib.Path(temporary)
        names = options.problems.split(",")
        found = tables.each(options, lambda name: one_problem(options, name), names)
    for problem, part in found:
        lines += part
    tables.write(options.output, lines, [problem for problem, _ in found])


if __name__ == "__main__":
    main()
