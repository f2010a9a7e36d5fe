#!/usr/bin/env python3
"""Solves every real matrix with every method and writes the table of iteration counts.

usage: real_matrices.py BISAI MATRICES OUTPUT.md [--max-iterations N] [--threads N] [--only NAME]

BISAI is the program, MATRICES a folder of NAME.mtx[.xz] files with right-hand sides NAME_b where there are any (solutions NAME_x
are left out). b from that file, otherwise 1; x0 = 0, GMRES(30) with right preconditioning, tolerance 1e-8. Failures stand in the table with their reason.
"""
import argparse
import datetime
import json
import pathlib
import subprocess

METHODS = ["none", "bjacobi", "ilu", "isai:k=1", "isai:k=2", "isai:k=3", "isai:relax=1", "isai:relax=2",
           "sweeps:n=1", "sweeps:n=3", "sweeps:n=5", "isai:k=2:storage=fp32", "isai:k=2:storage=fp16"]
HEADINGS = ["none", "block-Jacobi", "ILU(0)", "ISAI(1)", "ISAI(2)", "ISAI(3)", "ISAI(1) + 1 relax", "ISAI(1) + 2 relax",
            "1 sweep", "3 sweeps", "5 sweeps", "ISAI(2) fp32", "ISAI(2) fp16"]
SHORT = {"max_iterations": "limit", "singular_block": "singular", "missing_diagonal": "no diagonal", "not_finite": "not finite"}


def matrices(folder):
    for path in sorted(folder.glob("*.mtx*")):
        name = path.name.split(".mtx")[0]
        if not name.endswith(("_b", "_x")):
            yield name, path


NATURAL = {  # unknowns a node where `auto` finds the scalar matrix cheaper or another size
    "DK01R": 7, "cavity05": 2, "e05r0500": 2, "hymls_cavity2d_32x32_Re1000": 3, "hymls_cavity2d_64x64_Re0": 3,
    "hymls_cavity2d_64x64_Re1000": 3, "hymls_cavity3d_16_Re0": 4, "hymls_ifiss_q1p0_32_Re100": 3, "hymls_ifiss_q1p0_64_Re0": 3,
    "hymls_taylorcouette_8": 4, "hymls_turing_64_S1": 2, "hymls_turing_64_S3": 2, "mrilu_ena2": 3, "nasa4704": 2, "olm1000": 2,
    "pyamg_dg_p2": 6, "rdb1250": 2, "sherman5": 3, "teko_szdMat_interleaved": 3, "bcsstk18": 2, "mhd3200a": 2, "mhd3200b": 2}


def cell(run):
    if run["converged"]:
        return str(run["iterations"])
    return SHORT.get(run["reason"], run["reason"])


def right_hand_side(path):
    file = path.with_name(path.name.replace(".mtx", "_b.mtx"))
    return str(file) if file.exists() else "ones"


def compare(options, path, block_size):
    command = [options.bisai, "compare", str(path), "--methods", ",".join(METHODS), "--tolerance", "1e-8", "--max-iterations",
               options.max_iterations, "--threads", options.threads, "--block-size", str(block_size), "--rhs",
               right_hand_side(path), "--json", "-"]
    done = subprocess.run(command, capture_output=True, text=True)
    return (json.loads(done.stdout), None) if done.returncode == 0 else (None, done.stderr.strip())


def table(options, chosen, results, refused):
    """One row a matrix of `chosen` (name, path, block size)."""
    lines = ["| matrix | b | bs | block rows | blocks | " + " | ".join(HEADINGS) + " |", "|" + "---|" * (len(HEADINGS) + 5)]
    for name, path, block_size in chosen:
        result, message = compare(options, path, block_size)
        if result is None:
            refused.append(f"`{name}` was refused: {message}")
            continue
        results.append(result)
        matrix = result["matrix"]
        rhs = "1" if right_hand_side(path) == "ones" else "file"
        lines.append(f"| {name} | {rhs} | {matrix['block_size']} | {matrix['block_rows']} | {matrix['blocks']} | "
                     + " | ".join(cell(run) for run in result["runs"]) + " |")
        print(lines[-1], flush=True)
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bisai")
    parser.add_argument("matrices", type=pathlib.Path)
    parser.add_argument("output", type=pathlib.Path)
    parser.add_argument("--max-iterations", default="2000")
    parser.add_argument("--threads", default="1")
    parser.add_argument("--only")
    options = parser.parse_args()

    found = [(name, path) for name, path in matrices(options.matrices) if not options.only or name == options.only]
    results, refused = [], []
    chosen = table(options, [(name, path, "auto") for name, path in found], results, refused)
    natural = table(options, [(name, path, NATURAL[name]) for name, path in found if name in NATURAL], results, refused)

    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True).stdout.strip()
    first = results[0]
    lines = [
        "# Iteration counts on real matrices", "",
        f"bisai {first['version']}, commit {commit}, {datetime.date.today()}, backend {first['backend']}, {first['device']},"
        f" {options.threads} thread(s).",
        f"GMRES(30), right preconditioning, b from the matrix's own file or 1, x0 = 0, tolerance 1e-8, at most {options.max_iterations} iterations."
        " Made by `bench/real_matrices.py`.",
        "What does not converge stands with its reason: limit (of iterations), stagnated, singular (a pivot block), no diagonal (a"
        " diagonal block is missing), overflow (of the storage type), not finite, failed (breakdown).", "",
        "## Block size chosen by `auto`", "", *chosen, "",
        "## Block size of the physics, where `auto` takes another", "",
        "`auto` minimises bytes; where the couplings inside a node are sparse it takes 1. The natural blocks cost more bytes and often"
        " converge where the scalar factorisation meets a missing or zero pivot.", "", *natural, "", *refused]
    options.output.write_text("\n".join(lines).rstrip() + "\n")
    options.output.with_suffix(".json").write_text("[" + ",\n".join(json.dumps(result) for result in results) + "]\n")


if __name__ == "__main__":
    main()
