#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Solves on one and on several GPUs by PETSc, one subdomain with bisai on each rank.

usage: petsc_gpus.py BISAI EX10 PLUGIN OUTPUT.md [--gpus N] [--iterations N] [--large SIZE]
       [--weak SIZE] [--small SIZE] [--folder DIR]

BISAI is the program, which writes the systems. EX10 is PETSc's unmodified ksp/tutorials/ex10, and
PLUGIN is libbisai_petsc.so with its absolute path. The matrix is AIJCUSPARSE with the block size of
the case, and GMRES(30) is preconditioned on the right. Three tables are made:

strong  the cavity on SIZE x SIZE nodes (--large, default 2000), N iterations (default 200) on one
        GPU, on 2, 4, … --gpus GPUs (default 2) with one rank each, and with two ranks on one GPU
weak    convection-diffusion on SIZE^3 points for each GPU (--weak, default 200), N iterations
counts  iterations to 1e-5 on the cavity with SIZE x SIZE nodes (--small, default 300)

Times are those of KSPSolve by -log_view on the slowest rank. A small system is solved before.
OUTPUT.json has all runs.
"""

import argparse
import datetime
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.append(f"{sys.path[0]}/../common")
import tables

RANKS = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
NOTES = {"CONVERGED_RTOL": "converged", "DIVERGED_ITS": "limit"}
COMMON = (
    "-mat_type aijcusparse -vec_type cuda -use_gpu_aware_mpi 0 -ksp_type gmres "
    "-ksp_gmres_restart 30 -ksp_pc_side right -ksp_norm_type unpreconditioned "
    "-ksp_converged_reason -options_left 0"
).split()
ISAI = ["-{}pc_type", "bisai", "-{}pc_bisai_type", "isai", "-{}pc_bisai_k", "1"]
METHODS = {
    "none": ["-pc_type", "none"],
    "isai:k=1": [word.format("") for word in ISAI],
    "bjacobi, isai:k=1": ["-pc_type", "bjacobi"] + [word.format("sub_") for word in ISAI],
    "asm, overlap 1, isai:k=1": ["-pc_type", "asm", "-pc_asm_overlap", "1"]
    + [word.format("sub_") for word in ISAI],
}


def convert(options, case, size, name, *arguments):
    """Writes a system to a file of PETSc, once."""
    path = options.folder / name
    if not path.exists():
        size = ",".join(str(n) for n in size)
        command = [options.bisai, "convert", "--case", case, "--size", size, *arguments, str(path)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return path


def run(options, path, block_size, ranks, gpus, method, ending):
    """Solves a small system, then this one, and returns what it took, or why it failed."""
    log = options.folder / "log.txt"
    log.unlink(missing_ok=True)
    command = ["mpirun", "-n", str(ranks), "--oversubscribe", "--bind-to", "none"]
    # ex10 solves the first file to warm up, and the second one in a stage of its own
    warm_up = convert(options, "cavity", [60], "cavity60.petsc")
    command += [options.ex10, "-f0", str(warm_up), "-f1", str(path), "-log_view", f":{log}"]
    command += ["-matload_block_size", str(block_size), "-vecload_block_size", str(block_size)]
    command += ["-dll_append", options.plugin] + COMMON + METHODS[method] + ending
    environment = dict(os.environ, **RANKS)
    environment["CUDA_VISIBLE_DEVICES"] = ",".join(str(g) for g in range(gpus))
    row = {"system": path.stem, "ranks": ranks, "gpus": gpus, "method": method}
    try:
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, timeout=options.limit
        )
    except subprocess.TimeoutExpired:
        return dict(row, failure=f"longer than {options.limit} s")
    found = re.findall(r"Linear solve (.*) due to (\w+) iterations (\d+)", done.stdout)
    logged = log.read_text() if log.exists() else ""
    times = re.findall(r"^KSPSolve +\d+ [\d.]+ ([\d.e+-]+)", logged, re.M)
    if done.returncode or len(found) < 2 or not times:
        return dict(row, failure=(done.stderr.strip().splitlines() or ["no output"])[0][:80])
    iterations = int(found[-1][2])
    row.update(reason=found[-1][1], iterations=iterations, seconds=float(times[-1]))
    return dict(row, ms=1e3 * float(times[-1]) / max(iterations, 1))


def fixed(iterations):
    return ["-ksp_max_it", str(iterations), "-ksp_rtol", "1e-30"]


def strong(options):
    path = convert(options, "cavity", [options.large], f"cavity{options.large}.petsc")
    places = [(1, 1)] + [(n, n) for n in doubled(options.gpus)]
    for method in ("none", "bjacobi, isai:k=1"):
        shared = [(2, 1)] if method.startswith("bjacobi") else []
        for ranks, gpus in places + shared:
            yield run(options, path, 3, ranks, gpus, method, fixed(options.iterations))


def weak(options):
    n = options.weak
    for ranks in [1] + doubled(options.gpus):
        # without the zeros of blocks; PC bisai makes blocks of 4
        path = convert(
            options, "convdiff", [n, n, n * ranks], f"convdiff{n}x{ranks}.petsc", "--block-size",
            "1"
        )
        for method in ("none", "bjacobi, isai:k=1"):
            yield run(options, path, 4, ranks, ranks, method, fixed(options.iterations))
        path.unlink()


def counts(options):
    path = convert(options, "cavity", [options.small], f"cavity{options.small}.petsc")
    for ranks in [1] + doubled(options.gpus):
        for method in list(METHODS)[1:]:
            ending = ["-ksp_rtol", "1e-5", "-ksp_max_it", "20000"]
            yield run(options, path, 3, ranks, min(ranks, options.gpus), method, ending)


def doubled(most):
    return [n for n in (2, 4, 8, 16, 32, 64) if n <= most]


def table(title, text, rows):
    """Rows of one system and method are compared with their first one, on one GPU."""
    lines = [f"\n## {title}\n\n{text}\n", "| system | method | ranks | GPUs | iterations | "
             "ms per iteration | one GPU / this | note |", "|---|---|---|---|---|---|---|---|"]
    first = {}
    for row in rows:
        note = row.get("failure") or NOTES.get(row["reason"], row["reason"])
        head = f"| {row['system']} | `{row['method']}` | {row['ranks']} | {row['gpus']} |"
        if "ms" not in row:
            lines.append(f"{head} – | – | – | {note} |")
            continue
        one = first.setdefault(row["method"], row["ms"])
        lines.append(
            f"{head} {row['iterations']} | {row['ms']:.3f} | {one / row['ms']:.2f} | {note} |"
        )
    return lines


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    for name in ("bisai", "ex10", "plugin"):
        parser.add_argument(name)
    parser.add_argument("output", type=pathlib.Path)
    parser.add_argument("--folder", type=pathlib.Path, default=pathlib.Path(tempfile.mkdtemp()))
    for name, value in (("gpus", 2), ("iterations", 200), ("large", 2000), ("weak", 200),
                        ("small", 300), ("limit", 60)):
        parser.add_argument(f"--{name}", type=int, default=value)
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    parts = [
        ("Strong scaling", f"{options.iterations} iterations of GMRES(30).", strong),
        ("Weak scaling", "The system grows with the number of GPUs.", weak),
        ("Iterations to 1e-5", "One subdomain on each rank.", counts),
    ]
    record = {}
    machine = subprocess.run(["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"],
                             capture_output=True, text=True).stdout.splitlines()
    commit = tables.measured_commit()
    lines = [
        "# PETSc on several GPUs",
        "",
        f"{datetime.date.today()}, commit {commit}, {len(machine)} × "
        f"{machine[0] if machine else 'no GPU'}. Made by `bench/petsc/petsc_gpus.py` with PETSc's "
        "unmodified `ksp/tutorials/ex10`.",
        "Vectors and matrices are on the GPUs, and halos go through the host, because MPI does not "
        "know CUDA (`-use_gpu_aware_mpi 0`).",
    ]
    for title, text, rows_of in parts:
        record[title] = list(rows_of(options))
        lines += table(title, text, record[title])
        # what there is so far, in case that the rest takes too long
        options.output.write_text("\n".join(lines) + "\n")
        options.output.with_suffix(".json").write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
