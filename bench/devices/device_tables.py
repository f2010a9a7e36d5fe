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

INTRODUCTION = """Times are in µs, of {count} timings of each operation after a warm-up. The floor
is the time of a copy of as many bytes as an operation moves at least ({rate} read and written).
Operations of cuSPARSE run in the same process. A set-up of ISAI has the patterns and the values,
and not the factors. An iteration is a solve's time by the host's clock over its iterations."""

LEAST = "Minima, and in brackets the time over the floor:"

KERNELS = """The kernels of an iteration, recorded by CUPTI over a whole solve: µs from the end of
the previous kernel to the end of this one, so that the parts add up to the iteration, and in
brackets the time over the floor. The share of a restart has no bytes of its own."""


def microseconds(seconds):
    return f"{1e6 * seconds:.2f}" if seconds < 1e-3 else f"{1e6 * seconds:.0f}"


def solves(figures):
    yield from tables.heading("solve", "iterations", "least ms", "true residual")
    for f in figures:
        name = f["name"].removeprefix("an iteration, ").removesuffix(", solve")
        yield tables.row(
            name, f["iterations"], f"{1e3 * f['minimum']:.2f}", f"{f['relative_residual']:.1e}"
        )


def over_floor(figure, seconds, rate):
    """Returns µs, and in brackets the time over the floor."""
    least = figure["bytes"] / rate
    return microseconds(seconds) + (f" ({seconds / least:.2f})" if least else "")


def kernels(figures, rate):
    names = list(dict.fromkeys(f["kernel"] for f in figures))
    yield from tables.heading("k", *names)
    for power in dict.fromkeys(f["power"] for f in figures):
        of = {f["kernel"]: f for f in figures if f["power"] == power}
        yield tables.row(power, *(over_floor(of[n], of[n]["seconds"], rate) for n in names))


def operations(groups, rate):
    """A row for each operation of a solve, with the systems side by side."""
    systems_of = [{f["name"]: f for f in figures if "median" in f} for _, figures in groups]
    yield from tables.heading("operation", *(name for (name, _), _ in groups))
    for operation in dict.fromkeys(name for of in systems_of for name in of):
        found = [of.get(operation) for of in systems_of]
        yield tables.row(
            operation, *(over_floor(f, f["minimum"], rate) if f else "–" for f in found)
        )


def products(groups, rate):
    """A row for each grid on which products alone are timed."""
    names = list(dict.fromkeys(f["name"] for _, figures in groups for f in figures))
    yield from tables.heading("grid", "blocks", "of size", *names)
    for (name, block_size), figures in groups:
        of = {f["name"]: over_floor(f, f["minimum"], rate) for f in figures}
        yield tables.row(
            name, figures[0]["blocks"], block_size, *(of.get(n, "–") for n in names)
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
    groups = systems(document["figures"])
    grids = [group for group in groups if not any("ILU(0)" in f.get("name", "") for f in group[1])]
    if grids:
        yield from ["", "## Block products", "", LEAST, ""]
        yield from products(grids, rate)
    others = [group for group in groups if group not in grids]
    if others:
        yield from ["", "## Parts of a solve", "", LEAST, ""]
        yield from operations(others, rate)
    for (name, block_size), figures in others:
        blocks = next(f["blocks"] for f in figures if "blocks" in f)
        yield from ["", f"## {name}: {blocks} blocks of size {block_size}", ""]
        whole = [f for f in figures if "iterations" in f]
        if whole:
            yield from [*solves(whole), ""]
        recorded = [f for f in figures if "kernel" in f]
        if recorded:
            yield from [KERNELS.replace("\n", " "), "", *kernels(recorded, rate)]


def main():
    if len(sys.argv) != 3:
        raise SystemExit(__doc__)
    output = pathlib.Path(sys.argv[1])
    documents = tables.recorded(tables.read_json(sys.argv[2]))
    tables.write(output, page(documents[0]), documents)


main()
