#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes a page of the conclusions of `bisai compare`.

usage: verdicts.py OUTPUT.md RESULTS.json… [--title TEXT]

`bisai compare ... --json RESULTS.json` writes each RESULTS.json. OUTPUT.json has all of them.
"""

import argparse
import pathlib
import sys

sys.path.append(f"{sys.path[0]}/../common")
import tables


def cell(value, digits):
    return "–" if value is None else f"{value:.{digits}f}"


def table(document):
    columns = ["method", "iterations", "set-up ms", "solve ms", "total ms", "least total ms"]
    yield from tables.heading(*columns, "memory MB", "ended")
    for run in document["runs"]:
        times = (run[key] for key in ("setup_s", "solve_s", "total_s", "least_total_s"))
        memory = None if run["memory_bytes"] is None else 1e-6 * run["memory_bytes"]
        yield tables.row(
            f"`{run['label']}`", run["iterations"] if run["iterations"] is not None else "–",
            *(cell(None if t is None else 1e3 * t, 2) for t in times), cell(memory, 2),
            run["reason"]
        )


def system(document):
    """The section of one system."""
    matrix, verdict = document["matrix"], document["verdict"]
    yield from [
        "",
        f"## {matrix['name']}: {matrix['block_rows']} block rows of {matrix['block_size']},"
        f" {matrix['blocks']} blocks",
        "",
        f"{document['solver']}, tolerance {document['tolerance']:g}, right-hand side:"
        f" {document['rhs']}. Made by `{document['command']}`.",
        "",
        *table(document),
    ]
    if not verdict or not verdict["fastest"]:
        return
    pays = verdict["pays_after"]
    ahead = "" if pays is None else f", ahead from {pays} solve(s) on"
    yield from [
        "",
        f"Fastest to the solution: {verdict['fastest']}. Fastest once set up:"
        f" {verdict['fastest_solve']}{ahead}. Least memory: {verdict['least_memory']}."
        f" {verdict['why'] or ''}",
    ]


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("output", type=pathlib.Path)
    parser.add_argument("results", nargs="+")
    parser.add_argument("--title", default="Who won")
    options = parser.parse_args()
    documents = []
    for path in options.results:
        documents += tables.recorded(tables.read_json(path))
    first = documents[0]
    repeats = max(run["repeats"] or 1 for document in documents for run in document["runs"])
    lines = [
        f"# {options.title}",
        "",
        f"{first['date']}, commit {first['commit']}, {first['device']}. Made by `bisai compare` and"
        f" `bench/methods/verdicts.py`. Each method was warmed up and run {repeats} times. Times"
        " are those of the run with the median total, and *least total* is the minimum. A method"
        " that does not converge was run once.",
    ]
    for document in documents:
        lines += system(document)
    tables.write(options.output, lines, documents)


main()
