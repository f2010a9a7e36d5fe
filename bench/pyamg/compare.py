# SPDX-License-Identifier: BSD-3-Clause
"""Solves the same systems by bisai and by PyAMG, and by SciPy's spilu with GMRES, on one thread.

usage: OMP_NUM_THREADS=1 python3 bench/pyamg/compare.py [--quick] [--only SYSTEM] [--repeat N]
       [--json FILE]

The package bisai, NumPy, SciPy and PyAMG must be importable. Systems:

poisson     7 points, 100³ unknowns, right-hand side of ones
elasticity  bisai's case `elasticity`, 30³ cells, with its rigid-body modes; needs the program bisai
            (--program)
reaction    two species that diffuse and react (a diagonally dominant block matrix), 300² points

All solve to a relative residual of 1e-8, which is computed again here. Set-up and solve are timed
apart, in seconds of the processor, which are those of the clock on an idle machine: the least of N
runs. PyAMG: smoothed_aggregation_solver with CG, or GMRES where A is not
symmetric. bisai: mg with the same methods, and bisai.solve(), which chooses.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as sla

TOLERANCE = 1e-8


def poisson(n):
    line = sp.diags([-1.0, 2.0, -1.0], [-1, 0, 1], shape=(n, n))
    eye = sp.identity(n)
    A = sp.kron(sp.kron(line, eye), eye) + sp.kron(sp.kron(eye, line), eye) + \
        sp.kron(sp.kron(eye, eye), line)
    return A.tocsr(), np.ones(n**3), None, True


def reaction(n):
    line = sp.diags([-1.0, 2.0, -1.0], [-1, 0, 1], shape=(n, n))
    laplace = sp.kron(line, sp.identity(n)) + sp.kron(sp.identity(n), line)
    rates = np.array([[0.9, -0.4], [0.3, 0.6]])
    A = sp.kron(laplace, np.diag([1.0, 0.5])) + sp.kron(sp.identity(n * n), rates)
    return sp.bsr_matrix(A, blocksize=(2, 2)), np.ones(2 * n * n), None, False


def elasticity(n, program):
    with tempfile.TemporaryDirectory() as folder:
        base = pathlib.Path(folder)
        subprocess.run([program, "convert", "--case", "elasticity", "--size", str(n),
                        base / "A.npz", "--write-null", base / "null.mtx"],
                       check=True, stdout=subprocess.DEVNULL)
        A, arrays = sp.load_npz(base / "A.npz"), np.load(base / "A.npz")
        rhs = arrays["b"] if "b" in arrays else None
        lines = [line for line in (base / "null.mtx").read_text().splitlines()
                 if not line.startswith("%")]
    rows, columns = map(int, lines[0].split())
    modes = np.array(lines[1:], dtype=float).reshape(columns, rows).T
    return A, np.ones(rows) if rhs is None else rhs, modes, True


def by_bisai(A, b, modes, symmetric):
    import bisai
    context = bisai.Context(threads=1)
    began = time.process_time()
    matrix = bisai.Matrix(A, context=context)
    M = bisai.Preconditioner(matrix, "mg", modes)
    solver = bisai.Solver(matrix, M, "cg" if symmetric else "gmres", tolerance=TOLERANCE)
    ready = time.process_time()
    result = solver.run(b)
    return result.x, result.iterations, ready - began, time.process_time() - ready


def by_choice(A, b, modes, symmetric):
    import bisai
    from bisai.solver import run
    context = bisai.Context(threads=1)
    began = time.process_time()
    result = run(A, b, null=modes, tolerance=TOLERANCE, context=context)
    return result.x, result.iterations, time.process_time() - began, 0.0


def by_pyamg(A, b, modes, symmetric):
    import pyamg
    began = time.process_time()
    solver = pyamg.smoothed_aggregation_solver(
        A, B=modes, symmetry="symmetric" if symmetric else "nonsymmetric")
    ready = time.process_time()
    residuals = []
    x = solver.solve(b, tol=TOLERANCE, maxiter=1000, accel="cg" if symmetric else "gmres",
                     residuals=residuals)
    return x, len(residuals) - 1, ready - began, time.process_time() - ready


def by_spilu(A, b, modes, symmetric):
    began = time.process_time()
    factors = sla.spilu(A.tocsc(), drop_tol=1e-3, fill_factor=5)
    M = sla.LinearOperator(A.shape, factors.solve)
    ready = time.process_time()
    count = []
    try:
        x, _ = sla.gmres(A, b, M=M, rtol=TOLERANCE, restart=30, maxiter=100,
                         callback=count.append, callback_type="pr_norm")
    except TypeError:  # SciPy before 1.12
        x, _ = sla.gmres(A, b, M=M, tol=TOLERANCE, restart=30, maxiter=100, callback=count.append,
                         callback_type="pr_norm")
    return x, len(count), ready - began, time.process_time() - ready


WAYS = (("bisai mg", by_bisai), ("bisai auto", by_choice), ("pyamg", by_pyamg),
        ("spilu + gmres", by_spilu))


def measure(name, system, repeat):
    A, b = system[:2]
    rows = []
    for way, solve in WAYS:
        try:
            runs = [solve(*system) for _ in range(repeat)]
        except Exception as error:
            print(f"{name:11} {way:14} {type(error).__name__}: {str(error)[:60]}")
            continue
        x, iterations = runs[0][:2]
        residual = np.linalg.norm(b - A @ x) / np.linalg.norm(b)
        setup, solve_time = (min(run[k] for run in runs) for k in (2, 3))
        print(f"{name:11} {way:14} {iterations:5d} {setup:9.3f} {solve_time:9.3f} "
              f"{setup + solve_time:9.3f} {residual:9.1e}")
        rows.append({"system": name, "unknowns": A.shape[0], "way": way, "iterations": iterations,
                     "setup_seconds": setup, "solve_seconds": solve_time, "residual": residual})
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="small systems, to try the script")
    parser.add_argument("--only", help="poisson, elasticity or reaction")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--program", default="bisai", help="the program bisai")
    options = parser.parse_args()
    if os.environ.get("OMP_NUM_THREADS") != "1":
        sys.exit("set OMP_NUM_THREADS=1, so that all use one thread")
    quick = options.quick
    systems = {"poisson": lambda: poisson(20 if quick else 100),
               "elasticity": lambda: elasticity(8 if quick else 30, options.program),
               "reaction": lambda: reaction(40 if quick else 300)}
    print(f"{'system':11} {'by':14} {'iter.':>5} {'set-up s':>9} {'solve s':>9} {'total s':>9} "
          f"{'residual':>9}")
    rows = []
    for name, make in systems.items():
        if options.only not in (None, name):
            continue
        rows += measure(name, make(), 1 if quick else options.repeat)
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
