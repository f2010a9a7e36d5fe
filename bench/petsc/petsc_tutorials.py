#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs unmodified tutorials of PETSc with bisai as their preconditioner, and compares the
iterations with those of the program bisai on the systems that the tutorials write.

usage: petsc_tutorials.py BUILD [--output FILE.md] [--ranks 1,2,4] [--only NAME,...]
       [--source DIR] [--folder DIR] [--limit SECONDS]

BUILD is a build of bisai with the plug-in and the program. The tutorials are compiled with mpicc
for the PETSc that pkg-config finds, so BUILD must have been made with the same. Their sources are
in DIR/ksp/ksp/tutorials etc., by default those of PETSc's source tree or of Debian's package
libpetsc3.18-dev-examples. Every run is GMRES(30) with right preconditioning and the
unpreconditioned norm, x0 = 0, to 1e-8. On one rank the last system of a tutorial is written by
-ksp_view_mat and -ksp_view_rhs, and `bisai solve` must need the same number of iterations, but for
one more or less. Without tutorials the exit status is 77, and 1 if a comparison fails.
"""

import argparse
import datetime
import json
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

sys.path.append(f"{sys.path[0]}/../common")
from ranks import RANKS
from tables import measured_commit, processor

# the number with which a matrix begins in PETSc's files
MATRIX = 1211216
TOLERANCE = "1e-8"
MOST_ITERATIONS = "2000"
KSP = "ksp/ksp/tutorials/"
# name: source, arguments, prefix of the options of the solver, method of bisai
TUTORIALS = {
    "ksp ex2": (KSP + "ex2", "-m 60 -n 50", "", "isai"),
    "ksp ex5": (KSP + "ex5", "-m 60", "", "isai"),
    "ksp ex10": (KSP + "ex10", "-f {cavity} -mat_type baij", "", "isai"),
    "ksp ex23": (KSP + "ex23", "-n 60", "", "isai"),
    "ksp ex45": (KSP + "ex45", "-da_grid_x 17 -da_grid_y 17 -da_grid_z 17", "", "isai"),
    "ksp ex49": (KSP + "ex49", "-mx 30 -my 30 -no_view", "elas_", "ilu"),
    "ksp ex54": (KSP + "ex54", "-ne 39 -alpha 1e-3", "", "ilu"),
    "ksp ex55": (KSP + "ex55", "-ne 29 -alpha 1e-3", "", "ilu"),
    "ksp ex56": (KSP + "ex56", "-ne 7 -alpha 1e-3", "", "ilu"),
    "snes ex5": ("snes/tutorials/ex5", "-da_grid_x 33 -da_grid_y 33", "", "isai"),
    "snes ex19": ("snes/tutorials/ex19", "-da_refine 3", "", "isai"),
    "snes ex48": ("snes/tutorials/ex48", "-M 6 -P 4 -da_refine 1 -thi_mat_type baij", "", "ilu"),
    "ts ex2": ("ts/tutorials/ex2", "-M 200 -ts_max_steps 5", "", "isai"),
}
# those whose elliptic systems multigrid is for, with more rows than are gathered: arguments
MULTIGRID = {
    "ksp ex2": "-m 160 -n 150",
    "ksp ex45": "-da_grid_x 33 -da_grid_y 33 -da_grid_z 33",
    "ksp ex49": "-mx 90 -my 90 -no_view",
    "ksp ex54": "-ne 159 -alpha 1e-3",
    "ksp ex55": "-ne 89 -alpha 1e-3 -use_coordinates -mat_block_size 2",
    "snes ex5": "-da_grid_x 129 -da_grid_y 129",
    "snes ex19": "-da_refine 5",
    "snes ex48": "-M 12 -P 6 -da_refine 1 -thi_mat_type aij",
}
# the methods beside each other: name, options
OF_ALL_RANKS = [("bisai", "-pc_type bisai -pc_bisai_type mg"), ("GAMG", "-pc_type gamg")]
# a tutorial whose matrix has a near-null space on any number of ranks
NULL_SPACE = "ksp ex56"
# PETSc's multigrid with bisai as its smoother: name, options
SMOOTHED = [
    ("ksp ex45", "-pc_type mg -pc_mg_levels 3"), ("ksp ex54", "-pc_type gamg"),
    ("ksp ex56", "-pc_type gamg -use_mat_nearnullspace")
]
SMOOTHERS = [
    "chebyshev -mg_levels_pc_type jacobi",
    "chebyshev -mg_levels_pc_type bisai -mg_levels_pc_bisai_type isai",
    "chebyshev -mg_levels_pc_type bisai -mg_levels_pc_bisai_type ilu",
    "richardson -mg_levels_pc_type bisai -mg_levels_pc_bisai_type ilu"
]
SOLVED = re.compile(r"Linear .*solve (converged|did not converge) due to (\w+) iterations (\d+)")


def run(command, limit, folder):
    """Returns the exit status and what the command has printed."""
    try:
        done = subprocess.run(
            command, cwd=folder, env={**os.environ, **RANKS}, timeout=limit, check=False,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )
        return done.returncode, done.stdout
    except subprocess.TimeoutExpired:
        return 124, ""


def pkg_config(*arguments):
    for name in ("PETSc", "petsc"):
        done = subprocess.run(
            ["pkg-config", *arguments, name], check=False, capture_output=True, text=True
        )
        if done.returncode == 0:
            return done.stdout.split()
    return None


def find_sources(given):
    """The folder with ksp/ksp/tutorials, or None."""
    prefix = (pkg_config("--variable=prefix") or ["/usr"])[0]
    version = ".".join((pkg_config("--modversion") or ["0.0"])[0].split(".")[:2])
    places = [
        given, os.path.join(prefix, "..", "src"), os.path.join(prefix, "share/petsc/examples/src"),
        f"/usr/share/petsc/{version}/share/petsc/examples/src"
    ]
    for place in places:
        if place and (pathlib.Path(place) / KSP / "ex2.c").is_file():
            return pathlib.Path(place).resolve()
    return None


def compile_tutorial(source, target):
    command = ["mpicc", "-O1", "-w", *pkg_config("--cflags"), str(source) + ".c", "-o", str(target)]
    libraries = pkg_config("--libs")
    paths = [f"-Wl,-rpath,{flag[2:]}" for flag in libraries if flag.startswith("-L")]
    status, text = run([*command, *libraries, *paths, "-lm"], 600, None)
    return None if status == 0 else text.strip().split("\n")[-1]


def keep_last(path):
    """Keeps the last of the matrices or vectors that were written one after the other. All numbers
    are big-endian: integers of 32 bits, values of 64."""
    data = path.read_bytes()
    start = place = 0
    while place < len(data):
        start = place
        kind, *sizes = struct.unpack_from(">4i", data.ljust(place + 16), place)
        if kind == MATRIX:
            place += 4 * (4 + sizes[0] + sizes[2]) + 8 * sizes[2]
        else:
            place += 4 * 2 + 8 * sizes[0]
    path.write_bytes(data[start:])


class Bench:
    def __init__(self, arguments, folder):
        self.build = pathlib.Path(arguments.build).resolve()
        self.program = self.build / "bisai"
        self.plugin = self.build / "libbisai_petsc.so"
        self.limit = arguments.limit
        self.folder = folder
        self.failures = []

    def cavity(self):
        path = self.folder / "cavity.petsc"
        if not path.exists():
            run(
                [self.program, "convert", "--case", "cavity", "--size", "30", path],
                self.limit, self.folder,
            )
        return path

    def tutorial(self, executable, prefix, ranks, arguments, options):
        """Runs a tutorial and returns (iterations of all solves, of the last one, what ended)."""
        common = (
            f"-ksp_type gmres -ksp_pc_side right -ksp_norm_type unpreconditioned "
            f"-ksp_gmres_restart 30 -ksp_rtol {TOLERANCE} -ksp_max_it {MOST_ITERATIONS} "
            f"-ksp_converged_reason {options}"
        )
        named = [word.replace("-", "-" + prefix, 1) if re.match(r"-(ksp|pc|sub)_", word) else word
                 for word in common.split()]
        command = [executable, *arguments.split(), "-dll_append", self.plugin, *named]
        if ranks > 1:
            command = ["mpirun", "--oversubscribe", "-n", str(ranks), *command]
        status, text = run([str(word) for word in command], self.limit, self.folder)
        solves = SOLVED.findall(text)
        if not solves:
            error = re.search(r"PETSC ERROR: (?!-)(.*)", text)
            lines = [line for line in re.findall(r"PETSC ERROR: (.*)", text) if "---" not in line]
            said = lines[1] if len(lines) > 1 else error.group(1) if error else f"status {status}"
            late = status == 124 and f"over {self.limit:.0f} s"
            return None, None, late or said[:60]
        bad = [reason for _, reason, _ in solves if reason.startswith("DIVERGED")]
        counts = [int(count) for _, _, count in solves]
        return sum(counts), counts[-1], bad[0] if bad else f"{len(counts)}"

    def bisai(self, method):
        """Iterations of the program on the written system."""
        matrix, rhs, result = (self.folder / name for name in ("A.petsc", "b.petsc", "r.json"))
        keep_last(matrix)
        keep_last(rhs)
        info = self.folder / "A.petsc.info"
        size = re.search(r"-matload_block_size (\d+)", info.read_text()) if info.exists() else None
        command = [
            self.program, "solve", matrix, "--rhs", rhs, "--preconditioner", method, "--block-size",
            size.group(1) if size else "1", "--tolerance", TOLERANCE, "--restart", "30",
            "--max-iterations", MOST_ITERATIONS, "--threads", "1", "--json", result
        ]
        result.unlink(missing_ok=True)
        _, text = run([str(word) for word in command], self.limit, self.folder)
        if not result.exists():
            return None, text.strip().split("\n")[-1][:60]
        return json.loads(result.read_text())["runs"][0]["iterations"], ""

    def one_rank(self, name, executable, prefix, arguments, options, method):
        """Runs on one rank, writes the last system, and compares."""
        for old in self.folder.glob("[Ab].petsc*"):
            old.unlink()
        write = f" -{prefix}ksp_view_mat binary:A.petsc -{prefix}ksp_view_rhs binary:b.petsc"
        total, last, said = self.tutorial(executable, prefix, 1, arguments + write, options)
        own, why = self.bisai(method) if total is not None else (None, "")
        if total is None or own is None or abs(own - last) > 1:
            self.failures.append(f"{name}: {last} and {own} iterations {said} {why}")
        return total, last, said, own if own is not None else why


def cell(total, said):
    if total is None:
        return said
    return f"{total} ({said})" if said.startswith("DIVERGED") else str(total)


def table(bench, executables, ranks):
    """Methods of bisai in bjacobi and asm."""
    heads = [f"{outer} {r}" for outer in ("bjacobi", "asm") for r in ranks]
    lines = ["| tutorial | arguments | method | solves | last | `bisai solve` | " +
             " | ".join(heads) + " |", "|" + "---|" * (6 + len(heads))]
    for name, (_, arguments, prefix, method) in TUTORIALS.items():
        if name not in executables:
            continue
        filled = arguments.format(cavity=bench.cavity())
        cells = []
        for outer in ("bjacobi", "asm"):
            options = f"-pc_type {outer} -sub_pc_type bisai -sub_pc_bisai_type {method}"
            for r in ranks:
                if (outer, r) == ("bjacobi", 1):
                    total, last, said, own = bench.one_rank(
                        name, executables[name], prefix, filled, options, method)
                    solves = said
                else:
                    total, _, said = bench.tutorial(executables[name], prefix, r, filled, options)
                cells.append(cell(total, said))
        shown = arguments.replace("{cavity}", "cavity.petsc")
        lines.append(f"| {name} | `{shown}` | `{method}` | {solves} | {last} | {own} | " +
                     " | ".join(cells) + " |")
        print(lines[-1], flush=True)
    return lines


def multigrid_table(bench, executables, ranks):
    """-pc_type bisai -pc_bisai_type mg, one hierarchy over all ranks, beside GAMG."""
    heads = [f"{method} {r}" for method, _ in OF_ALL_RANKS for r in ranks]
    lines = ["| tutorial | arguments | " + " | ".join(heads) + " |",
             "|" + "---|" * (2 + len(heads))]
    for name, arguments in MULTIGRID.items():
        if name not in executables:
            continue
        cells = []
        for _, options in OF_ALL_RANKS:
            for r in ranks:
                total, _, said = bench.tutorial(
                    executables[name], TUTORIALS[name][2], r, arguments, options)
                cells.append(cell(total, said))
        lines.append(f"| {name} | `{arguments}` | {' | '.join(cells)} |")
        print(lines[-1], flush=True)
    return lines


def smoother_table(bench, executables, ranks):
    """PCMG and PCGAMG, whose smoothers are no sub-solvers: they see parallel matrices."""
    lines = ["| tutorial | options | " + " | ".join(str(r) for r in ranks) + " |",
             "|" + "---|" * (2 + len(ranks))]
    for name, outer in SMOOTHED:
        if name not in executables:
            continue
        _, arguments, prefix, _ = TUTORIALS[name]
        for smoother in SMOOTHERS:
            options = f"{outer} -mg_levels_ksp_type {smoother}"
            cells = []
            for r in ranks:
                total, _, said = bench.tutorial(
                    executables[name], prefix, r, arguments, options + " -ksp_type fgmres")
                cells.append(cell(total, said))
            lines.append(f"| {name} | `{options}` | {' | '.join(cells)} |")
            print(lines[-1], flush=True)
    return lines


def null_space_table(bench, executables):
    """Near-null spaces of a matrix on several ranks: each takes its own rows of the vectors. The
    tutorial needs a cube of ranks."""
    if NULL_SPACE not in executables:
        return []
    heads = [f"{method} {r}" for method, _ in OF_ALL_RANKS for r in (1, 8)]
    lines = ["| tutorial | arguments | " + " | ".join(heads) + " |"]
    lines += ["|" + "---|" * (2 + len(heads))]
    for elements in (7, 15):
        for space in ("", " -use_mat_nearnullspace"):
            arguments = f"-ne {elements} -alpha 1e-3{space}"
            cells = []
            for _, options in OF_ALL_RANKS:
                for r in (1, 8):
                    total, _, said = bench.tutorial(
                        executables[NULL_SPACE], "", r, arguments, options)
                    cells.append(cell(total, said))
            lines.append(f"| {NULL_SPACE} | `{arguments}` | {' | '.join(cells)} |")
            print(lines[-1], flush=True)
    return lines


def page(tables, ranks, failures):
    version = pkg_config("--modversion")[0]
    verdict = "All agree." if not failures else "Not so: " + "; ".join(failures) + "."
    return "\n".join([
        "# Tutorials of PETSc with bisai", "",
        f"{datetime.date.today()}, commit {measured_commit()}, PETSc {version}, {processor()}.",
        "Unmodified tutorials, GMRES(30), right",
        "preconditioning, unpreconditioned norm, x0 = 0, to "
        f"{TOLERANCE}. Made by `bench/petsc/petsc_tutorials.py`.", "",
        "Columns are iterations on " + ", ".join(str(r) for r in ranks) + " ranks, the sum of all "
        "solves of a tutorial. `solves` is their",
        "number on one rank, and `last` the iterations of "
        "the last one. `bisai solve` solves that last", "system, as `-ksp_view_mat` and "
        "`-ksp_view_rhs` write it, and may differ by one. " + verdict, "",
        *tables[0], "",
        "With `-pc_type bisai -pc_bisai_type mg`, one hierarchy over all ranks, beside `-pc_type "
        "gamg`", "with its defaults:", "",
        *tables[1], "",
        "The same without and with the near-null space of the matrix, on 1 and 8 ranks:", "",
        *tables[3], "",
        "PETSc's own multigrid with bisai as its smoother, in FGMRES:", "",
        *tables[2], ""])


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1].split("\n\n")[0])
    parser.add_argument("build")
    parser.add_argument("--output")
    parser.add_argument("--ranks", default="1,2,4")
    parser.add_argument("--only", default="")
    parser.add_argument("--source")
    parser.add_argument("--folder")
    parser.add_argument("--limit", type=float, default=120)
    arguments = parser.parse_args()
    sources = find_sources(arguments.source)
    if not sources:
        print("no tutorials of PETSc: libpetsc3.18-dev-examples, or --source DIR")
        return 77
    ranks = [int(r) for r in arguments.ranks.split(",")]
    wanted = [name for name in arguments.only.split(",") if name]
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(arguments.folder or temporary).resolve()
        bench = Bench(arguments, folder)
        executables = {}
        for name, (source, *_) in TUTORIALS.items():
            if wanted and name not in wanted:
                continue
            target = folder / name.replace(" ", "_")
            fault = None if target.exists() else compile_tutorial(sources / source, target)
            if fault:
                bench.failures.append(f"{name} does not compile: {fault}")
            else:
                executables[name] = target
        tables = [make(bench, executables, ranks)
                  for make in (table, multigrid_table, smoother_table)]
        tables.append(null_space_table(bench, executables))
    for failure in bench.failures:
        print("FAILED:", failure)
    if arguments.output:
        pathlib.Path(arguments.output).write_text(page(tables, ranks, bench.failures))
    return 1 if bench.failures else 0


if __name__ == "__main__":
    sys.exit(main())
