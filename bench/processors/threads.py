#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Times set-up, update and solve on one thread and on the default number of threads.

usage: threads.py [--sizes N,N,…] [--pairs N] [--busy N,N,…] OUTPUT.md BENCH_THREADS

BENCH_THREADS is the program, which says what is timed. It runs with one thread and with the default
in turn, --pairs times (default 9). The tables have medians. --busy gives the numbers of busy
processes that run at the same time (default 0,2).
"""

import argparse
import datetime
import json
import os
import pathlib
import statistics
import subprocess
import sys

sys.path.append(f"{sys.path[0]}/../common")
import tables

INTRODUCTION = """Set-up, update with new values and solve of a reaction–diffusion system with two
unknowns at each point by ISAI(2) and GMRES. Made by `bench_threads` and
`bench/processors/threads.py`. Times are in milliseconds, medians of {pairs} runs of each, which run
in turn. *Busy* processes count without pause."""


def measure(program, unknowns, threads):
    """Returns the milliseconds of all, set-up, update and solve."""
    words = [program, "--unknowns", str(unknowns), "--threads", str(threads)]
    found = json.loads(subprocess.run(words, capture_output=True, text=True, check=True).stdout)
    times = [1e3 * found[key] for key in ("setup", "update", "solve")]
    return [sum(times), *times]


def median_times(program, unknowns, busy, pairs):
    """Returns the medians with one thread and with the default."""
    others = [subprocess.Popen([program, "--busy", "1e6"]) for _ in range(busy)]
    try:
        times = [[measure(program, unknowns, threads) for threads in (1, 0)] for _ in range(pairs)]
    finally:
        for other in others:
            other.kill()
            other.wait()
    return [[statistics.median(column) for column in zip(*seen)] for seen in zip(*times)]


def table(options, busy):
    yield from ["", f"## With {busy} busy processes" if busy else "## On idle cores", ""]
    yield from tables.heading(
        "unknowns", "one thread", "default", "one / default", "default: set-up", "update", "solve"
    )
    for unknowns in options.sizes:
        one, default = median_times(options.program, unknowns, busy, options.pairs)
        times = one[0], default[0], one[0] / default[0], *default[1:]
        yield tables.row(unknowns, *(f"{time:.2f}" for time in times))


def numbers(text):
    return [int(part) for part in text.split(",")]


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sizes", type=numbers, default=[1000, 10000, 30000, 100000, 1000000])
    parser.add_argument("--pairs", type=int, default=9)
    parser.add_argument("--busy", type=numbers, default=[0, 2])
    parser.add_argument("output", type=pathlib.Path)
    parser.add_argument("program")
    options = parser.parse_args()
    lines = [
        "# Threads on the CPU",
        "",
        f"{datetime.date.today()}, commit {tables.measured_commit()}, {tables.processor()},"
        f" {len(os.sched_getaffinity(0))} processors. "
        + INTRODUCTION.format(pairs=options.pairs).replace("\n", " "),
    ]
    for busy in options.busy:
        lines += table(options, busy)
    options.output.write_text("\n".join(tables.wrapped(lines)) + "\n")


main()
