#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes the page of bench_device from its figures.

usage: device_tables.py OUTPUT.md FIGURES.json

`bench_device --json FIGURES.json` writes them. OUTPUT.json gets the same with the commit and the
date.
"""

import pathlib
import sys

sys.path.append(f"{sys.path[0]}/../common")
import tables

INTRODUCTION = """Times are in µs, of {count} timings of each operation after a warm-up. MB are the
least that an operation moves, and the floor is the time of a copy of as many bytes
({rate} read and written). Operations of cuSPARSE run in the same process. A set-up of ISAI has the
patterns and the values, and not the factors. An iteration is a solve's time by the host's clock
over its iterations."""

KERNELS = """The kernels of an iteration, recorded by CUPTI over a whole solve. *µs* is the time
from the end of the previous kernel to the end of this one, so that the parts add up to the
iteration. *Alone* is the time from the start of the kernel. The share of a restart has no bytes of
its own."""


def microseconds(seconds):
    return f"{1e6 * seconds:.2f}" if seconds < 1e-3 else f"{1e6 * seconds:.0f}"


def megabytes(figure):
    return f"{1e-6 * figure['bytes']:.1f}" if figure["bytes"] else "–"


def floor(figure, seconds, rate):
    """Returns the floor of a figure, and `seconds` over it, as two cells."""
    least = figure["bytes"] / rate
    return (microseconds(least), f"{seconds / least:.2f}") if least else ("–", "–")


def operations(figures, rate):
    yield from tables.heading("operation", "MB", "minimum", "median", "floor", "minimum over floor")
    for f in figures:
        yield tables.row(
            f["name"], megabytes(f), microseconds(f["minimum"]), microseconds(f["median"]),
            *floor(f, f["minimum"], rate)
        )


def solves(figures):
    yield from tables.heading("solve", "iterations", "least ms", "true residual")
    for f in figures:
        name = f["name"].removeprefix("an iteration, ").removesuffix(", solve")
        yield tables.row(
            name, f["iterations"], f"{1e3 * f['minimum']:.2f}", f"{f['relative_residual']:.1e}"
        )


def kernels(figures, rate):
    yield from tables.heading("k", "kernel", "MB", "µs", "alone", "floor", "over floor")
    for f in figures:
        yield tables.row(
            f["power"], f["kernel"], megabytes(f), microseconds(f["seconds"]),
            microseconds(f["alone"]), *floor(f, f["seconds"], rate)
        )


def systems(figures):
    """Yields (name, figures) of each system, in order; block sizes are systems of their own."""
    found, size = {}, {}
    for f in figures:
        size[f["matrix"]] = f.get("block_size", size.get(f["matrix"]))
        found.setdefault((f["matrix"], size[f["matrix"]]), []).append(f)
    return found.items()


def page(document):
    rate = document["copy_rate"]
    count = max(f.get("count", 0) for f in document["figures"])
    text = INTRODUCTION.format(count=count, rate=f"{1e-12 * rate:.2f} TB/s")
    yield from [
        "# All parts of a solve on a GPU",
        "",
        f"{document['date']}, commit {document['commit']}, {document['device']}, CUDA"
        f" {document['cuda']}. Made by `bench_device` and `bench/devices/device_tables.py`. "
        + text.replace("\n", " "),
    ]
    for (name, block_size), figures in systems(document["figures"]):
        timed = [f for f in figures if "median" in f]
        blocks = timed[0]["blocks"]
        yield from ["", f"## {name}: {blocks} blocks of size {block_size}", ""]
        yield from operations(timed, rate)
        whole = [f for f in figures if "iterations" in f]
        if whole:
            yield from ["", *solves(whole)]
        recorded = [f for f in figures if "kernel" in f]
        if recorded:
            yield from ["", KERNELS.replace("\n", " "), "", *kernels(recorded, rate)]


def main():
    if len(sys.argv) != 3:
        raise SystemExit(__doc__)
    output = pathlib.Path(sys.argv[1])
    documents = tables.recorded(tables.read_json(sys.argv[2]))
    tables.write(output, page(documents[0]), documents)


main()
