#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares the iterations of multigrid codes where coefficients jump from element to element.

usage: coefficient_jumps.py BISAI PEERS OUTPUT.md [--size N] [--elasticity-size N]
       [--jumps 0.5,1,1.5,2,3]

BISAI is the program, and PEERS is bench_peers of the same build (option BISAI_BENCH, with PETSc).
The script needs numpy, scipy and pyamg. tetrahedra.py makes the systems: N cells in each direction,
diffusion or elasticity, with the coefficient 10^u of an element, u between -J and J for each of
--jumps, or with inclusions of 1000. All codes precondition CG on the same system until the
residual of the system itself is 1e-8 of b. OUTPUT.json has all runs.
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

import numpy as np
import pyamg
import scipy
from scipy.io import mmwrite
from scipy.sparse.linalg import cg

sys.path.append(f"{sys.path[0]}/../common")
import tables
import tetrahedra
from peers_cpu import CG, GAMG, HYPRE, INTERPOLATED, NODAL_ALONE, NOT_AGGRESSIVE
from ranks import RANKS

TOLERANCE, STEPS = 1e-8, 1000
BISAI, DEGREE, SA, RS = "`mg`", "`mg:degree=4`", "pyamg SA", "pyamg RS"
COLUMNS = [BISAI, DEGREE, "GAMG", "BoomerAMG", SA, RS]
ANY, BLOCKS, MODES = "any system", "elasticity", "elasticity with modes"
# column, options, systems
SETTINGS = [
    ("GAMG", GAMG, ANY), ("GAMG", GAMG + NOT_AGGRESSIVE, ANY), ("BoomerAMG", HYPRE, ANY),
    ("BoomerAMG", HYPRE + NODAL_ALONE, BLOCKS), ("BoomerAMG", HYPRE + INTERPOLATED, MODES)
]
VIEWS = "-ksp_view -pc_hypre_boomeramg_print_statistics 1"  # both print an operator complexity


def bisai_runs(options, files, system):
    """Yields the records of the program, without and with another degree of the smoother."""
    for column in (BISAI, DEGREE):
        keys = column.strip("`") + (f":null={files[1]}" if system["modes"] else "")
        command = f"{options.bisai} solve {files[0]} --solver cg --preconditioner {keys} --json -"
        command += f" --block-size {system['block_size']} --backend host"
        command += f" --tolerance {TOLERANCE} --max-iterations {STEPS}"
        text = output(command)
        if not text:
            yield record(column, column, None, "failed")
            continue
        run = json.loads(text)["runs"][0]
        hierarchy = run["hierarchy"]
        found = record(column, column, run, run["reason"], hierarchy["operator_complexity"])
        found["bound"] = hierarchy["levels"][0]["radius"]
        yield found | {"nullity": hierarchy["coarsest_nullity"]}


def peer_runs(options, files, system):
    """Yields the records of PETSc's settings, with the null space of a Neumann problem or not."""
    blocks, modes = system["block_size"] > 1, system["modes"] or system["block_size"] == 1
    for column, setting, systems in SETTINGS:
        if (systems == BLOCKS and not blocks) or (systems == MODES and not (blocks and modes)):
            continue
        for singular in ["", " -singular"][: 2 if modes and not system["held"] else 1]:
            command = f"{options.peers} -system {files[0]} -warm_up 0 {' '.join(CG)} {setting}"
            command += f" -ksp_rtol {TOLERANCE} -ksp_max_it {STEPS} {VIEWS}{singular}"
            text = output(command + (f" -null {files[1]}" if modes else ""))
            found = re.search(r'\{"iterations".*?\}', text)
            if not found:
                yield record(column, setting + singular, None, "failed")
                continue
            run, seen = json.loads(found[0]), re.search(r"operator = ([\d.]+)", text)
            reason = run["reason"].lower()
            yield record(column, setting + singular, run, reason, seen and float(seen[1]))


def pyamg_runs(a, b, modes, block_size):
    """Yields the records of smoothed aggregation and of Ruge and Stüben's method."""
    np.random.seed(29)  # its estimates of radii begin with random vectors
    blocks = a.tobsr((block_size, block_size)) if block_size > 1 else a
    aggregation = pyamg.smoothed_aggregation_solver(blocks, B=modes)
    for column, levels in ((SA, aggregation), (RS, pyamg.ruge_stuben_solver(a))):
        steps, m = [], levels.aspreconditioner()
        x, _ = cg(a, b, rtol=TOLERANCE, maxiter=STEPS, M=m, callback=steps.append)
        residual = float(np.linalg.norm(b - a @ x) / np.linalg.norm(b))
        run = {"iterations": len(steps), "converged": True, "relative_residual": residual}
        yield record(column, "defaults", run, "limit", float(levels.operator_complexity()))


def output(command):
    environment = os.environ | RANKS
    return subprocess.run(command.split(), capture_output=True, text=True, env=environment).stdout


def record(column, setting, run, reason, complexity=None):
    """Returns what the JSON file has of a run. A run counts if its true residual is small."""
    run = run or {"converged": False, "iterations": None, "relative_residual": None}
    found = {key: run[key] for key in ("iterations", "relative_residual", "converged")}
    found["converged"] = run["converged"] and 0 <= run["relative_residual"] <= 2 * TOLERANCE
    found["reason"] = None if found["converged"] else reason
    return {"column": column, "setting": setting, "complexity": complexity} | found


def solve(options, folder, jump, block_size, held, with_modes):
    """Returns the record of a system: its radius and the runs of all codes."""
    cells = options.size if block_size == 1 else options.elasticity_size
    a, b, modes = tetrahedra.make(cells, jump, block_size, held)
    files = folder / "system.petsc", folder / "modes.mtx"
    tetrahedra.write_petsc(files[0], a, b, block_size)
    mmwrite(files[1], modes, precision=17)
    system = {"coefficient": "inclusions" if jump is None else f"10^±{jump:g}"}
    system |= {"rows": a.shape[0], "block_size": block_size, "held": held, "modes": with_modes}
    runs = [*bisai_runs(options, files, system), *peer_runs(options, files, system)]
    runs += pyamg_runs(a, b, modes if with_modes else None, block_size)
    return system | {"radius": tetrahedra.radius(a, block_size), "runs": runs}


def cell(run):
    if not run["converged"]:
        return run["reason"].replace("diverged_", "").replace("_", " ")
    behind = f" ({run['complexity']:.1f})" if run["complexity"] else ""
    return f"{run['iterations']}{behind}"


def row(system):
    """The line of a system, with the run of the fewest iterations in each column."""

    def fewest(column):
        runs = [run for run in system["runs"] if run["column"] == column]
        return min(runs, key=lambda run: (not run["converged"], run["iterations"] or 0))

    found = [fewest(column) for column in COLUMNS]
    best = min((run["iterations"] for run in found[2:] if run["converged"]), default=None)
    ratio = f"{found[0]['iterations'] / best:.2f}" if best and found[0]["converged"] else "–"
    name = "diffusion" if system["block_size"] == 1 else "elasticity"
    name += ", Dirichlet" if system["held"] else ", Neumann"
    bound = f"{found[0]['bound']:.3f}" if found[0].get("bound") else "–"
    numbers = system["rows"], f"{system['radius']:.3f}", bound
    name += ", modes" if system["modes"] else ""
    return tables.row(name, system["coefficient"], *numbers, *map(cell, found), ratio)


def versions(peers):
    """Returns the libraries that bench_peers loads, and those of Python."""
    loaded = subprocess.run(["ldd", peers], capture_output=True, text=True, check=True).stdout
    names = re.findall(r"^\s*(lib(?:petsc|HYPRE)\S+)", loaded, re.M)
    return ", ".join([*names, *(f"{m.__name__} {m.__version__}" for m in (pyamg, scipy, np))])


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("bisai")
    parser.add_argument("peers")
    parser.add_argument("output", type=pathlib.Path)
    parser.add_argument("--size", type=int, default=30)
    parser.add_argument("--elasticity-size", type=int, default=16)
    parser.add_argument("--jumps", default="0.5,1,1.5,2,3")
    options = parser.parse_args()
    jumps = [*map(float, options.jumps.split(",")), None]
    cases = [(j, 1, held, False) for held in (True, False) for j in jumps]
    cases += [(j, 3, held, m) for held in (True, False) for m in (True, False) for j in jumps]
    lines = tables.heading("system", "coefficient", "rows", "ρ", "bound", *COLUMNS, "ratio")
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for case in cases:
            found.append(solve(options, pathlib.Path(folder), *case))
            lines.append(row(found[-1]))
    introduction = (
        f"bisai, commit {tables.measured_commit()}, {datetime.date.today()}, backend host,"
        f" {tables.processor()}; {versions(options.peers)}. Made by `{tables.command_line()}`. The"
        f" systems are linear tetrahedra on a cube of {options.size} cells in each direction"
        f" (elasticity: {options.elasticity_size}) whose nodes are moved at random, with the"
        " coefficient 10^u of an element, u uniform between two ends, or 1000 in 3 of 10 cubes of"
        " three cells and 1 elsewhere (*inclusions*). One side is held (Dirichlet) or none"
        " (Neumann). CG on one process, random b in the range of A, x0 = 0, true residual 1e-8 of"
        f" b, at most {STEPS} iterations. Behind the iterations is the operator complexity."
        " *modes*: all codes that read them have six rigid-body modes. A column of PETSc has the"
        " fewest iterations of some settings, which the JSON file names: defaults, without"
        " aggressive coarsening, nodal, interpolation of modes, and with the null space of a"
        " Neumann problem set. ρ is the spectral radius of D⁻¹A by ARPACK, and *bound* is that of"
        " bisai on level 0. The ratio is that of `mg` to the fewest of the peers."
    )
    title = "# Coefficients that jump from element to element"
    tables.write(options.output, [title, "", introduction, "", *lines], found)


main()
