# SPDX-License-Identifier: BSD-3-Clause
"""What Python adds to a solve: the package bisai beside the same calls of the library in C.

usage: OMP_NUM_THREADS=1 python3 bench/pyamg/overhead.py [--quick] [--repeat N] [--json FILE]

Poisson's equation with 7 points and 100³ unknowns, multigrid and CG to 1e-8, on one thread. C: the
calls that examples/csr_time_loop.c makes, from row pointers, columns and values to x. Python: the
same from a matrix of SciPy. Both in seconds of the processor, in turn, the least of N runs. A
vector and a matrix are copied for comparison.
"""
import argparse
import json
import os
import pathlib
import sys
import time

import numpy as np
from compare import TOLERANCE, poisson

import bisai
from bisai._bisai import ffi, lib


def timed(call):
    began = time.process_time()
    kept = call()
    return time.process_time() - began, kept


def in_c(context, A, b, x):
    """The calls of a C program. Returns the seconds of the matrix, the set-up and the solve."""
    handle = context.handle
    desc = ffi.new("bisai_csr_desc *", lib.bisai_csr_desc_default())
    desc.rows, desc.cols = A.shape
    desc.row_ptr = ffi.cast("int32_t *", A.indptr.ctypes.data)
    desc.col_idx = ffi.cast("int32_t *", A.indices.ctypes.data)
    desc.values = ffi.cast("double *", A.data.ctypes.data)
    desc.pad = desc.find_nodes = True
    matrix, precond = ffi.new("bisai_bcsr **"), ffi.new("bisai_precond **")
    solver, fault = ffi.new("bisai_solver **"), ffi.new("bisai_text_fault *")
    options = ffi.new("bisai_precond_options *", lib.bisai_precond_options_default())
    lib.bisai_precond_options_parse(b"mg", options, ffi.NULL, fault)
    how = ffi.new("bisai_solver_options *", lib.bisai_solver_options_default())
    lib.bisai_solver_options_parse(b"cg", how, fault)
    how.tolerance = TOLERANCE
    times = [timed(lambda: context.check(lib.bisai_bcsr_from_csr(handle, desc, matrix)))[0]]
    times.append(timed(lambda: (
        context.check(lib.bisai_precond_create(handle, matrix[0], options, precond)),
        context.check(lib.bisai_solver_create(handle, len(b), how, solver))))[0])
    times.append(timed(lambda: context.check(lib.bisai_solver_solve(
        solver[0], matrix[0], precond[0], ffi.cast("double *", b.ctypes.data),
        ffi.cast("double *", x.ctypes.data), ffi.NULL)))[0])
    lib.bisai_solver_destroy(solver)
    lib.bisai_precond_destroy(precond)
    lib.bisai_bcsr_destroy(matrix)
    return times


def in_python(context, A, b, x):
    matrix_time, matrix = timed(lambda: bisai.Matrix(A, context=context))
    setup_time, solver = timed(lambda: bisai.Solver(
        matrix, bisai.Preconditioner(matrix, "mg"), "cg", tolerance=TOLERANCE))
    return [matrix_time, setup_time, timed(lambda: solver.solve(b, out=x))[0]]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="a small system, to try the script")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--json", type=pathlib.Path)
    options = parser.parse_args()
    if os.environ.get("OMP_NUM_THREADS") != "1":
        sys.exit("set OMP_NUM_THREADS=1, so that all use one thread")
    A, b = poisson(20 if options.quick else 100)[:2]
    x, y = np.zeros_like(b), np.zeros_like(b)
    context = bisai.Context(threads=1)
    runs = {"C": [], "Python": []}
    for _ in range(options.repeat):
        runs["C"].append(in_c(context, A, b, x))
        runs["Python"].append(in_python(context, A, b, y))
    assert np.array_equal(x, y)
    copy = min(timed(A.copy)[0] for _ in range(options.repeat))
    rows = []
    print(f"{'by':8} {'matrix s':>9} {'set-up s':>9} {'solve s':>9} {'total s':>9}")
    for name, times in runs.items():
        least = [min(run[k] for run in times) for k in range(3)]
        print(f"{name:8} " + " ".join(f"{value:9.3f}" for value in [*least, sum(least)]))
        rows.append({"by": name, "matrix_seconds": least[0], "setup_seconds": least[1],
                     "solve_seconds": least[2]})
    in_all = [sum(list(row.values())[1:]) for row in rows]
    print(f"a copy of the matrix: {copy:.3f} s; Python takes {in_all[1] / in_all[0]:.3f} of the "
          "time of C")
    if options.json:
        options.json.write_text(json.dumps({"rows": rows, "copy_seconds": copy}, indent=1) + "\n")


if __name__ == "__main__":
    main()
