#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes the conclusions of `bisai compare` as Markdown.

usage: verdicts.py RESULTS.json... > TABLE.md

`bisai compare ... --json RESULTS.json` writes each RESULTS.json."""

import sys

import tables


def cell(value, digits):
    return "–" if value is None else f"{value:.{digits}f}"


def main():
    for path in sys.argv[1:]:
        document = tables.read_json(path)
        matrix, verdict = document["matrix"], document["verdict"]
        print(
            f"## {matrix['name']}: {matrix['block_rows']} block rows of {matrix['block_size']},"
            f" {matrix['blocks']} blocks\n"
        )
        print(
            f"{document['device']}, {document['solver']}, tolerance {document['tolerance']:g},"
            f" right-hand side: {document['rhs']}\n"
        )
        print(
            "\n".join(
                tables.heading(
                    "method",
                    "iterations",
                    "set-up ms",
                    "solve ms",
                    "total ms",
                    "least total ms",
                    "memory MB",
                    "ended",
                )
            )
        )
        for run in document["runs"]:
            ms = [
                None if run[key] is None else 1e3 * run[key]
                for key in ("setup_s", "solve_s", "total_s", "least_total_s")
            ]
            memory = None if run["memory_bytes"] is None else 1e-6 * run["memory_bytes"]
            print(
                "|",
                tables.label(run),
                "|",
                run["iterations"] if run["iterations"] is not None else "–",
                "|",
                " | ".join(cell(value, 2) for value in ms),
                "|",
                cell(memory, 2),
                "|",
                run["reason"],
                "|",
            )
        if verdict and verdict["fastest"]:
            print(
                f"\nFastest to the solution: {verdict['fastest']}."
                f" Fastest once set up: {verdict['fastest_solve']},"
                f" ahead from {verdict['pays_after']} solve(s) on."
                f" Least memory: {verdict['least_memory']}. {verdict['why'] or ''}"
            )
        print()


main()
