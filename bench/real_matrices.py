#!/usr/bin/env python3
"""Solves every real matrix with every method and writes the table of iteration counts.

usage: real_matrices.py BISAI MATRICES OUTPUT.md [--max-iterations N] [--threads N] [--only NAME]

BISAI is the program, MATRICES a folder of NAME.mtx[.xz] files (right-hand sides NAME_b and solutions NAME_x are left out).
b = 1, x0 = 0, GMRES(30) with right preconditioning, tolerance 1e-8. Failures stand in the table with their reason.
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


def cell(run):
    if run["converged"]:
        return str(run["iterations"])
    return SHORT.get(run["reason"], run["reason"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bisai")
    parser.add_argument("matrices", type=pathlib.Path)
    parser.add_argument("output", type=pathlib.Path)
    parser.add_argument("--max-iterations", default="2000")
    parser.add_argument("--threads", default="1")
    parser.add_argument("--only")
    options = parser.parse_args()

    rows, results, refused = [], {}, []
    for name, path in matrices(options.matrices):
        if options.only and name != options.only:
            continue
        command = [options.bisai, "compare", str(path), "--methods", ",".join(METHODS), "--tolerance", "1e-8",
                   "--max-iterations", options.max_iterations, "--threads", options.threads, "--json", "-"]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            refused.append((name, done.stderr.strip()))
            continue
        result = json.loads(done.stdout)
        results[name] = result
        matrix = result["matrix"]
        cells = [cell(run) for run in result["runs"]]
        rows.append(f"| {name} | {matrix['block_size']} | {matrix['block_rows']} | {matrix['blocks']} | " + " | ".join(cells) + " |")
        print(rows[-1], flush=True)

    any_result = next(iter(results.values()))
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True).stdout.strip()
    lines = [
        "# Iteration counts on real matrices", "",
        f"bisai {any_result['version']}, commit {commit}, {datetime.date.today()}, backend {any_result['backend']}, {any_result['device']},"
        f" {options.threads} thread(s).",
        f"GMRES(30), right preconditioning, b = 1, x0 = 0, tolerance 1e-8, at most {options.max_iterations} iterations; block size chosen by `auto`.",
        "Made by `bench/real_matrices.py`; what does not converge stands with its reason: limit (iterations), stagnated, singular (a pivot block),"
        " no diagonal (a diagonal block is missing), overflow (of the storage type), not finite, failed (breakdown).", "",
        "| matrix | bs | block rows | blocks | " + " | ".join(HEADINGS) + " |",
        "|" + "---|" * (len(HEADINGS) + 4), *rows, ""]
    lines += [f"`{name}` was refused: {message}" for name, message in refused]
    options.output.write_text("\n".join(lines).rstrip() + "\n")
    options.output.with_suffix(".json").write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
