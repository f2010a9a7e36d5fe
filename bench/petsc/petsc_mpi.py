#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares bisai inside PETSc with PETSc's own block ILU on the same number of ranks of MPI, and
with the program bisai on as many threads.

usage: petsc_mpi.py BUILD EX10 OUTPUT.md [--size N] [--ranks 1,2,4,8,16] [--rounds N]
       [--settings KEY,...] [--limit SECONDS]

BUILD is a build of bisai with the plug-in and the program, and EX10 is PETSc's tutorial
ksp/ksp/tutorials/ex10, compiled for the same PETSc. The system is the cavity of N² nodes (default
300), BAIJ with blocks of 3, GMRES(30), right preconditioning, unpreconditioned norm, x0 = 0, to
1e-5. All settings run in turn, --rounds times (default 3). --settings is a list of keys of SETTINGS
below. ex10 solves twice, and the second set-up and solve are taken (stages of -log_view). A run
that fails or takes too long is a row of the table.
"""

import argparse
import datetime
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

sys.path.append(f"{sys.path[0]}/../common")
import tables
from ranks import RANKS, times

OWN = "-sub_pc_type bisai -sub_pc_bisai_type"
# key: what runs, and its options of PETSc, or METHOD of the program bisai
SETTINGS = {
    "petsc": ("PETSc, block-Jacobi, its block ILU(0)", "-pc_type bjacobi -sub_pc_type ilu"),
    "ilu": ("bisai in PETSc, `ilu`", "-pc_type bisai -pc_bisai_type ilu"),
    "isai": ("bisai in PETSc, `isai`", "-pc_type bisai -pc_bisai_type isai"),
    "isai2": ("bisai in PETSc, `isai:k=2`", "-pc_type bisai -pc_bisai_type isai -pc_bisai_k 2"),
    "asm": ("PETSc, ASM with overlap 1, its block ILU(0)", "-pc_type asm -sub_pc_type ilu"),
    "asm-ilu": ("bisai in PETSc, ASM with overlap 1, `ilu`", f"-pc_type asm {OWN} ilu"),
    "program-ilu": ("program bisai, `ilu`, threads", "ilu"),
    "program-isai": ("program bisai, `isai`, threads", "isai"),
}


def run(command, limit):
    """Returns what a command has printed, or None if it failed."""
    try:
        done = subprocess.run(
            [str(word) for word in command], env={**os.environ, **RANKS}, timeout=limit,
            check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )
    except subprocess.TimeoutExpired:
        return None
    return done.stdout


def tutorial(arguments, system, ranks, options):
    """Returns iterations, seconds of the set-up, and of the solve, or None."""
    command = [
        arguments.ex10, "-f", system, "-mat_type", "baij", "-dll_append",
        pathlib.Path(arguments.build).resolve() / "libbisai_petsc.so", "-ksp_type", "gmres",
        "-ksp_gmres_restart", "30", "-ksp_pc_side", "right", "-ksp_norm_type", "unpreconditioned",
        "-ksp_rtol", "1e-5", "-ksp_converged_reason", "-log_view", *options.split(),
    ]
    text = run(["mpirun", "--oversubscribe", "-n", ranks, *command], arguments.limit)
    iterations = re.findall(r"solve converged due to \w+ iterations (\d+)", text or "")
    seconds = times(text or "")
    if not seconds or not iterations:
        return None
    return int(iterations[-1]), *seconds


def program(arguments, system, threads, method):
    """The same of the program bisai."""
    with tempfile.NamedTemporaryFile(suffix=".json") as output:
        run(
            [
                pathlib.Path(arguments.build) / "bisai", "solve", system, "--block-size", "3",
                "--preconditioner", method, "--tolerance", "1e-5", "--restart", "30",
                "--threads", threads, "--backend", "host", "--json", output.name,
            ],
            arguments.limit,
        )
        text = pathlib.Path(output.name).read_text()
    if not text:
        return None
    result = json.loads(text)["runs"][0]
    return result["iterations"], result["setup_s"], result["solve_s"]


def measure(arguments, system, ranks, write):
    """Fills {(key, ranks): [results]}, the settings in turn. write(results) follows each run, so
    that a measurement that is cut off leaves a page."""
    results = {}
    for _ in range(arguments.rounds):
        for count in ranks:
            for key in arguments.settings.split(","):
                once = program if key.startswith("program") else tutorial
                found = once(arguments, system, count, SETTINGS[key][1])
                results.setdefault((key, count), []).append(found)
                print(count, key, found, flush=True)
                write(results)


def best(runs):
    """The run with the least sum, and the median sum; None if none succeeded."""
    good = [run for run in runs if run]
    if not good:
        return None
    sums = [run[1] + run[2] for run in good]
    return good[sums.index(min(sums))], statistics.median(sums)


def table(results, ranks, keys):
    lines = []
    for count in ranks:
        base = best(results.get(("petsc", count), []))
        lines += ["", f"## {count} rank{'s' if count > 1 else ''}", "",
                  "| setting | iterations | set-up | solve | sum | median sum | "
                  "PETSc's time over this |",
                  "|---|---|---|---|---|---|---|"]
        for key in keys:
            name, runs = SETTINGS[key][0], results.get((key, count))
            if not runs:
                continue
            found = best(runs)
            if not found:
                lines.append(f"| {name} | failed | – | – | – | – | – |")
                continue
            (iterations, setup, solve), median = found
            ratio = f"{(base[0][1] + base[0][2]) / (setup + solve):.2f}" if base else "–"
            lines.append(f"| {name} | {iterations} | {1e3 * setup:.1f} | {1e3 * solve:.0f} | "
                         f"{1e3 * (setup + solve):.0f} | {1e3 * median:.0f} | {ratio} |")
    return lines


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1].split("\n\n")[0])
    parser.add_argument("build")
    parser.add_argument("ex10")
    parser.add_argument("output")
    parser.add_argument("--size", default="300")
    parser.add_argument("--ranks", default="1,2,4,8,16")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--settings", default=",".join(SETTINGS))
    parser.add_argument("--limit", type=float, default=120)
    arguments = parser.parse_args()
    ranks = [int(r) for r in arguments.ranks.split(",")]
    head = [
        "# bisai and PETSc's block ILU on ranks of MPI", "",
        f"{datetime.date.today()}, commit {tables.measured_commit()}, {tables.processor()},"
        f" {os.cpu_count()} processors,",
        f"load {os.getloadavg()[0]:.1f} before the first run. The cavity of {arguments.size}² "
        "nodes, BAIJ with blocks of 3, GMRES(30), right",
        "preconditioning, to 1e-5, in PETSc's tutorial ex10. Times are in milliseconds, of the "
        "best of the",
        f"runs ({arguments.rounds} of each setting in turn). PETSc's time is that of its own block "
        "ILU(0) with block-Jacobi",
        "on the same number of ranks. The program bisai runs on as many threads of one process. "
        "Made by",
        "`bench/petsc/petsc_mpi.py`.",
    ]

    def write(results):
        lines = [*head, *table(results, ranks, arguments.settings.split(","))]
        figures = [{"setting": key, "ranks": count, "runs": runs}
                   for (key, count), runs in results.items()]
        tables.write(pathlib.Path(arguments.output), lines, tables.recorded(figures))

    with tempfile.TemporaryDirectory() as folder:
        system = pathlib.Path(folder) / "cavity.petsc"
        run([pathlib.Path(arguments.build) / "bisai", "convert", "--case", "cavity", "--size",
             arguments.size, system], arguments.limit)
        measure(arguments, system, ranks, write)
    print(pathlib.Path(arguments.output).read_text())
    return 0


if __name__ == "__main__":
    sys.exit(main())
