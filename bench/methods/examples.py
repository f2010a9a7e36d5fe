#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs the small systems whose figures README.md and docs/guide.md quote, and writes their tables.

usage: examples.py BISAI MATRICES OUTPUT.md [--threads N] [--only NAME] [--at-once N]

BISAI is the program, and MATRICES is a folder as for real_matrices.py. OUTPUT.json has the figures
and, where the documents show it, the program's output. tests/project/check_figures.py compares
both with the documents.
"""

import json
import pathlib
import shlex
import subprocess
import sys
import tempfile

sys.path.append(f"{sys.path[0]}/../common")
import tables

KEPT = ["label", "converged", "reason", "iterations", "relative_residual", "setup_s", "solve_s"]
KEPT += ["memory_bytes"]
CAVITY, RESERVOIR = ["--case", "cavity"], ["--case", "reservoir:components=3"]
CONVDIFF, TABLE = ["--case", "convdiff", "--size", "40"], ["--tolerance", "1e-8"]
RESERVOIR_METHODS = "ilu,mg,cpr:second=isai:relax=1,cpr"

# name: command, arguments; {NAME} is the file of a real matrix
EXAMPLES = {
    "README": ("compare", [*CAVITY, "--size", "128"]),
    "info": ("info", [*CAVITY, "--size", "100"]),
    "solve": ("solve", [*CAVITY, "--size", "100", "--preconditioner", "isai:relax=1"]),
    "solve mg": ("solve", [*CAVITY, "--size", "100", "--preconditioner", "mg"]),
    **{
        f"cavity {n}": ("compare", [*CAVITY, "--size", str(n), "--methods", "ilu,isai,mg"])
        for n in (40, 80, 160)
    },
    **{
        f"reservoir {n}": (
            "compare", [*RESERVOIR, "--size", str(n), "--methods", RESERVOIR_METHODS]
        )
        for n in (10, 20, 30)
    },
    "elasticity": (
        "compare",
        ["--case", "elasticity", "--size", "12", "--solver", "cg", "--write-null", "{modes}"]
        + ["--methods", "ilu,mg,mg:null={modes}"],
    ),
    **{
        solver: ("compare", [*CONVDIFF, "--solver", solver, "--methods", "none"])
        for solver in ("gmres", "bicgstab", "idr")
    },
    "shift": (
        "compare",
        ["{cavity05}", "--rhs", "ones", "--block-size", "2", *TABLE]
        + ["--methods", "ilu:shift=0.01,ilu:level=1:shift=0.01", "--max-iterations", "2000"],
    ),
    "mg shift": (
        "compare",
        ["{hymls_cavity2d_64x64_Re0}", *TABLE, "--max-iterations", "2000"]
        + ["--methods", "ilu,mg:shift=0.01"],
    ),
}
SHOWN = ("README", "info", "solve", "solve mg")  # examples whose output the documents show


def run(options, name, folder):
    """Returns the record of an example, or None without its matrix."""
    command, words = EXAMPLES[name]
    files = {path.name.split(".mtx")[0]: path for path in options.matrices.glob("*.mtx*")}
    files["modes"] = folder / "modes.mtx"
    try:
        arguments = [word.format(**files) for word in words]
    except KeyError as missing:
        print(f"{name}: there is no matrix {missing}")
        return None
    document = folder / f"{name}.json"
    asked = [options.bisai, command, *arguments, "--json", str(document)]
    if command != "info":
        asked += ["--backend", "host", "--threads", options.threads]
    done = subprocess.run(asked, capture_output=True, text=True, check=True)
    found = json.loads(document.read_text())
    text = shlex.join(["bisai", command, *(pathlib.PurePath(w).name for w in arguments)])
    record = {"name": name, "command": text, "version": found["version"]}
    if command == "compare":
        methods = words[words.index("--methods") + 1].split(",") if "--methods" in words else None
        for i, r in enumerate(found["runs"]):
            r["label"] = methods[i].replace("{modes}", "modes.mtx") if methods else tables.label(r)
        record["runs"] = [{key: r[key] for key in KEPT if key in r} for r in found["runs"]]
    elif command == "info":
        record["info"] = found
    if name in SHOWN:
        record["output"] = [line.rstrip() for line in done.stdout.splitlines()]
    return record


def page(records, options):
    yield from [
        "# The examples of the README and the guide",
        "",
        f"bisai {records[0]['version']}, commit {records[0]['commit']}, {records[0]['date']},"
        f" {records[0]['machine']}, {options.threads} thread(s). Made by `{tables.command_line()}`."
        " Each method was warmed up and run once. Iterations do not depend on the machine but for"
        " rounding.",
    ]
    yield ""
    yield from tables.heading("example", "command", "iterations, and ms of set-up and solve")
    for record in records:
        runs = (
            f"`{r['label']}` {tables.cell(r)}, {1e3 * ((r['setup_s'] or 0) + r['solve_s']):.2f}"
            for r in record.get("runs", [])
        )
        yield tables.row(record["name"], f"`{record['command']}`", "; ".join(runs) or "below")
    for record in records:
        if "output" in record:
            yield from ["", f"## {record['name']}", "", "```text", *record["output"], "```"]


def main():
    parser = tables.parser(__doc__, "10000")
    options = parser.parse_args()
    names = [name for name in EXAMPLES if not options.only or name == options.only]
    with tempfile.TemporaryDirectory() as folder:
        home = pathlib.Path(folder)
        records = [run(options, name, home) for name in names]
    records = tables.recorded([r for r in records if r])
    for record in records:
        record["machine"] = tables.processor()
    tables.write(options.output, page(records, options), records)


main()
