#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Times set-up, update and solve on one thread and on the default number of threads.

usage: threads.py [--sizes N,N,…] [--pairs N] [--busy N,N,…] OUTPUT.md BUILD…

bench/processors/threads.c is compiled for each build directory, with its library and with the headers of its
source tree, so that old and new builds can be compared. All programs run in turn, --pairs times
(default 9). The tables have medians. --busy gives the numbers of busy processes that run at the
same time (default 0,2).
"""

import argparse
import datetime
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

sys.path.append(f"{sys.path[0]}/../common")
from tables import commit, heading, measured_commit, processor, row

SOURCE = pathlib.Path(__file__).with_name("threads.c")
# Environment variables that are removed from the environment of the programs.
SETTINGS = ("GOMP_SPINCOUNT", "OMP_WAIT_POLICY", "KMP_BLOCKTIME", "OMP_NUM_THREADS")
INTRODUCTION = """{date}, commit {commit}, {processor}, {cores} processors. Set-up, update with new
values and solve of a reaction–diffusion system with two unknowns at each point by ISAI(2) and
GMRES. A small program that links the library (`bench/processors/threads.c`) makes the calls. Made by
`bench/processors/threads.py`. Times are in milliseconds, medians of
{pairs} runs of each program, which run in turn. No variable of OpenMP is set. *Busy* processes
count without pause.
{note}"""


def compile_against(build, folder):
    """Compiles the benchmark with the library of a build directory; returns its path."""
    build = build.resolve()
    home = re.search(
        r"CMAKE_HOME_DIRECTORY:INTERNAL=(.*)", (build / "CMakeCache.txt").read_text()
    ).group(1)
    program = folder / f"threads-{len(list(folder.iterdir()))}"
    subprocess.run(
        [
            os.environ.get("CC", "cc"), "-std=c11", "-D_POSIX_C_SOURCE=200809L", "-O2",
            f"-I{home}/include", f"-I{build}/include", SOURCE, "-o", program, f"-L{build}",
            f"-Wl,-rpath,{build}", "-lbisai", "-lm"
        ],
        check=True,
    )
    here = pathlib.Path(home).resolve() == SOURCE.resolve().parents[2]
    return program, measured_commit() if here else commit(home) or pathlib.Path(home).name


def measure(program, unknowns, threads):
    environment = {name: value for name, value in os.environ.items() if name not in SETTINGS}
    output = subprocess.run(
        [program, "--unknowns", str(unknowns), "--threads", str(threads)], env=environment,
        capture_output=True, text=True, check=True
    ).stdout
    times = json.loads(output)
    return [
        1e3 * seconds
        for seconds in (
            times["setup"] + times["update"] + times["solve"], times["setup"], times["update"],
            times["solve"]
        )
    ]


def median_times(programs, unknowns, busy, pairs):
    """Returns {(program, threads): medians of [total, set-up, update, solve]}."""
    others = [subprocess.Popen([programs[0], "--busy", "1e6"]) for _ in range(busy)]
    try:
        times = {(program, threads): [] for program in programs for threads in (1, 0)}
        for _ in range(pairs):
            for (program, threads), seen in times.items():
                seen.append(measure(program, unknowns, threads))
    finally:
        for other in others:
            other.kill()
            other.wait()
    return {
        key: [statistics.median(column) for column in zip(*seen)] for key, seen in times.items()
    }


def table(programs, names, sizes, busy, pairs):
    beside = f"With {busy} busy processes" if busy else "On idle cores"
    yield from ["", f"## {beside}", ""]
    yield from heading(
        "unknowns", "build", "one thread", "default", "one / default", "default: set-up", "update",
        "solve", "first build's default / this"
    )
    for unknowns in sizes:
        medians = median_times(programs, unknowns, busy, pairs)
        first = medians[programs[0], 0][0]
        for program, name in zip(programs, names):
            one, default = medians[program, 1], medians[program, 0]
            yield row(
                unknowns,
                name,
                *(
                    f"{t:.2f}"
                    for t in (
                        one[0], default[0], one[0] / default[0], *default[1:], first / default[0]
                    )
                ),
            )


def numbers(text):
    return [int(part) for part in text.split(",")]


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sizes", type=numbers, default=[1000, 10000, 30000, 100000, 1000000])
    parser.add_argument("--pairs", type=int, default=9)
    parser.add_argument("--busy", type=numbers, default=[0, 2])
    parser.add_argument("--note", default="", help="a sentence about the machine")
    parser.add_argument("output", type=pathlib.Path)
    parser.add_argument("builds", type=pathlib.Path, nargs="+")
    o = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        programs, names = zip(*(compile_against(build, pathlib.Path(folder)) for build in o.builds))
        lines = [
            "# Threads on the CPU",
            "",
            INTRODUCTION.format(
                date=datetime.date.today(), commit=" and ".join(names), processor=processor(),
                note=o.note, cores=len(os.sched_getaffinity(0)), pairs=o.pairs
            ),
        ]
        for busy in o.busy:
            lines += table(programs, names, o.sizes, busy, o.pairs)
    o.output.write_text("\n".join(lines).rstrip() + "\n")


main()
