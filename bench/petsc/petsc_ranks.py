#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Times multigrid of bisai over ranks of MPI beside PETSc's GAMG and hypre's BoomerAMG.

usage: petsc_ranks.py BUILD EX10 OUTPUT.md [--ranks 1,2,4,8] [--gpus N] [--rounds N]
       [--systems NAME,...] [--limit SECONDS] [--seconds SECONDS]

BUILD is a build of bisai with the plug-in and the program, and EX10 is PETSc's unmodified tutorial
ksp/ksp/tutorials/ex10 for the same PETSc. SYSTEMS below are the systems, and SETTINGS the settings
of each method; the page has the best setting of GAMG and of BoomerAMG for each number of ranks. A
PETSc without hypre has no rows of BoomerAMG. With --gpus N the systems of GPUS are solved on one
GPU and on N, with one rank each. All settings run in turn, --rounds times (default 2), and none
begins after --seconds. ex10 solves twice, and the second set-up and solve are taken (stages of
-log_view, the slowest rank). OUTPUT.json has all runs.
"""

import argparse
import datetime
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

sys.path.append(f"{sys.path[0]}/../common")
import tables
from ranks import RANKS, times

FGMRES = "-ksp_type fgmres -ksp_gmres_restart 30 -ksp_pc_side right"
# name: case, size, block size, solver
SYSTEMS = {
    "cavity300": ("cavity", "300", 3, f"{FGMRES} -ksp_rtol 1e-5"),
    "convdiff64": ("convdiff", "64,64,64", 4, f"{FGMRES} -ksp_rtol 1e-8"),
    "reaction512": ("reaction", "512", 2, "-ksp_type cg -ksp_rtol 1e-8"),
}
GPUS = {
    "cavity1000": ("cavity", "1000", 3, f"{FGMRES} -ksp_rtol 1e-5"),
    "convdiff128": ("convdiff", "128,128,128", 4, f"{FGMRES} -ksp_rtol 1e-8"),
}
GAMG = "-pc_type gamg"
GMRES_ILU = "-mg_levels_ksp_type gmres -mg_levels_ksp_max_it 2 -mg_levels_pc_type bjacobi"
HYPRE = "-pc_type hypre -pc_hypre_type boomeramg"
# (method, setting): options
SETTINGS = {
    ("bisai", "one hierarchy"): "-pc_type bisai -pc_bisai_type mg",
    ("GAMG", "defaults"): GAMG,
    ("GAMG", "no smoothing, GMRES(2) with ILU"): f"{GAMG} -pc_gamg_agg_nsmooths 0 {GMRES_ILU}",
    ("GAMG", "GMRES(2) with ILU"): f"{GAMG} {GMRES_ILU}",
    ("GAMG", "threshold 0.02, point blocks"):
        f"{GAMG} -pc_gamg_threshold 0.02 -mg_levels_pc_type pbjacobi",
    ("GAMG", "no smoothing"): f"{GAMG} -pc_gamg_agg_nsmooths 0",
    ("BoomerAMG", "defaults"): HYPRE,
    ("BoomerAMG", "strength 0.5, PMIS, ext+i"):
        f"{HYPRE} -pc_hypre_boomeramg_strong_threshold 0.5 "
        "-pc_hypre_boomeramg_coarsen_type PMIS -pc_hypre_boomeramg_interp_type ext+i",
    ("BoomerAMG", "nodal 6"): f"{HYPRE} -pc_hypre_boomeramg_nodal_coarsen 6",
}
ON_GPUS = {
    ("bisai", "one hierarchy"): "-pc_type bisai -pc_bisai_type mg -pc_bisai_mg_distributed 1",
    ("bisai", "one of each rank"): "-pc_type bisai -pc_bisai_type mg -pc_bisai_mg_distributed 0",
}


def call(command, limit, environment):
    """Returns what a command has printed, and why it failed, or None."""
    try:
        done = subprocess.run(
            [str(word) for word in command], env={**os.environ, **RANKS, **environment},
            timeout=limit, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )
    except subprocess.TimeoutExpired:
        return "", f"longer than {limit:.0f} s"
    return done.stdout, None


def run(options, path, system, setting, ranks, gpus):
    """Solves a system and returns a row."""
    _, _, block_size, solver = system
    place = ["-mat_type", "aij"]
    if gpus:
        place = "-mat_type aijcusparse -vec_type cuda -use_gpu_aware_mpi 0".split()
    command = [
        "mpirun", "--oversubscribe", "--bind-to", "none", "-n", ranks, options.ex10, "-f", path,
        "-matload_block_size", block_size, "-vecload_block_size", block_size, "-dll_append",
        pathlib.Path(options.build).resolve() / "libbisai_petsc.so", "-ksp_norm_type",
        "unpreconditioned", "-ksp_max_it", "300", "-ksp_converged_reason", "-log_view",
        "-options_left", "0", *place, *solver.split(), *setting[1].split(),
    ]
    visible = {"CUDA_VISIBLE_DEVICES": ",".join(str(g) for g in range(gpus))} if gpus else {}
    text, failure = call(command, options.limit, visible)
    row = {"method": setting[0][0], "setting": setting[0][1], "ranks": ranks, "gpus": gpus}
    solves = re.findall(r"solve (converged|did not converge) due to (\w+) iterations (\d+)", text)
    seconds = times(text)
    if not solves or not seconds:
        words = [line for line in text.splitlines() if "ERROR" in line and "---" not in line]
        missing = "hypre" in text and "nknown" in text
        why = "no hypre" if missing else (words + ["failed"])[0][:90]
        return {**row, "failure": failure or why}
    return {
        **row, "converged": solves[-1][0] == "converged", "reason": solves[-1][1],
        "iterations": int(solves[-1][2]), "setup_s": seconds[0], "solve_s": seconds[1],
    }


def plan(options):
    """Yields (name, system, setting, ranks, gpus) of one round."""
    for name in filter(None, options.systems.split(",")):
        for ranks in (int(r) for r in options.ranks.split(",")):
            for setting in SETTINGS.items():
                yield name, SYSTEMS[name], setting, ranks, 0
    if options.gpus:
        for name, system in GPUS.items():
            for gpus in (1, options.gpus):
                for setting in list(ON_GPUS.items())[: gpus]:
                    yield name, system, setting, gpus, gpus


def measure(options, folder, write):
    """Runs all rounds. write(rows) follows each run, so that a measurement that is cut off leaves a
    page."""
    rows, useless, begin = [], set(), time.monotonic()
    for number in range(options.rounds):
        for name, system, setting, ranks, gpus in plan(options):
            late = time.monotonic() - begin > options.seconds
            if late or (name, setting[0], gpus) in useless:
                continue
            path = folder / f"{name}.petsc"
            if not path.exists():
                call([pathlib.Path(options.build) / "bisai", "convert", "--case", system[0],
                      "--size", system[1], path], 300, {})
            done = run(options, path, system, setting, ranks, gpus)
            row = {"system": name, "round": number, **done}
            if not row.get("converged"):  # not on more ranks or again
                useless.add((name, setting[0], gpus))
            rows.append(row)
            print(row, flush=True)
            write(rows)
    return rows


def total(row):
    return row["setup_s"] + row["solve_s"]


def best(rows):
    """The fastest converged run, or None."""
    good = [row for row in rows if row.get("converged")]
    return min(good, key=total) if good else None


def table(rows):
    lines = []
    for name in dict.fromkeys(row["system"] for row in rows):
        lines += ["", f"## {name}", "",
                  "| ranks | GPUs | method | best setting | iterations | set-up | solve | sum | "
                  "over bisai |", "|---|---|---|---|---|---|---|---|---|"]
        of = [row for row in rows if row["system"] == name]
        for ranks, gpus in dict.fromkeys((row["ranks"], row["gpus"]) for row in of):
            here = [row for row in of if (row["ranks"], row["gpus"]) == (ranks, gpus)]
            own = best([row for row in here if row["method"] == "bisai"])
            for method in dict.fromkeys(row["method"] for row in here):
                found = best([row for row in here if row["method"] == method])
                if not found:
                    lines.append(f"| {ranks} | {gpus} | {method} | none | – | – | – | – | – |")
                    continue
                ratio = f"{total(found) / total(own):.2f}" if own else "–"
                lines.append(
                    f"| {ranks} | {gpus} | {method} | {found['setting']} | {found['iterations']} | "
                    f"{1e3 * found['setup_s']:.0f} | {1e3 * found['solve_s']:.0f} | "
                    f"{1e3 * total(found):.0f} | {ratio} |"
                )
    failed = {}
    for row in rows:
        if not row.get("converged"):
            key = (row["system"], row["method"], row["setting"])
            failed.setdefault(key, row.get("failure") or row["reason"])
    if failed:
        lines += ["", "## What did not converge", "", "| system | method | setting | why |",
                  "|---|---|---|---|"]
        lines += [f"| {s} | {m} | {t} | {why} |" for (s, m, t), why in failed.items()]
    return lines


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1].split("\n\n")[0])
    parser.add_argument("build")
    parser.add_argument("ex10")
    parser.add_argument("output")
    parser.add_argument("--ranks", default="1,2,4,8")
    parser.add_argument("--gpus", type=int, default=0)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--systems", default=",".join(SYSTEMS))
    parser.add_argument("--limit", type=float, default=60)
    parser.add_argument("--seconds", type=float, default=1e9)
    options = parser.parse_args()
    head = [
        "# Multigrid over ranks of MPI: bisai, GAMG and BoomerAMG", "",
        f"{datetime.date.today()}, commit {tables.measured_commit()}, {tables.processor()}, "
        f"{os.cpu_count()} processors,",
        f"load {os.getloadavg()[0]:.1f} before the first run. PETSc's tutorial ex10, rows in equal "
        "slabs, AIJ with the block",
        "size of the case, right preconditioning and FGMRES(30), or CG. Times are in milliseconds, "
        "of the best of",
        f"{options.rounds} runs. Made by `bench/petsc/petsc_ranks.py`, which has the settings.",
    ]

    def write(rows):
        tables.write(pathlib.Path(options.output), [*head, *table(rows)], tables.recorded(rows))

    with tempfile.TemporaryDirectory() as folder:
        measure(options, pathlib.Path(folder), write)
    print(pathlib.Path(options.output).read_text())
    return 0


if __name__ == "__main__":
    sys.exit(main())
