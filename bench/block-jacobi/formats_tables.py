#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes the page of bench_formats on the host from its figures.

usage: formats_tables.py OUTPUT.md FIGURES.json BUILD

`bench_formats --backend host --json FIGURES.json` of the folder BUILD writes them. OUTPUT.json gets
the same with the commit and the date.
"""

import pathlib
import sys

sys.path.append(f"{sys.path[0]}/../common")
import tables

INTRODUCTION = """{date}, commit {commit}, {device}, {threads} thread(s), built for {processor}.
Made by `bench_formats` and `bench/block-jacobi/formats_tables.py`. {blocks} dense diagonal blocks
of one size have {megabytes} MB of values in fp64. The formats take turns, so that each finds the
values of the others in the cache. A copy of 256 MiB reads and writes {rate:.1f} GB/s."""


def table(figures):
    full = {f["rows"]: f for f in figures if f["way"] == "fp64"}
    yield from tables.heading(
        "rows", "storage", "application, ms: least", "median", "fp64 over this: least", "median",
        "set-up, ms: least"
    )
    for f in figures:
        base = full[f["rows"]]
        yield tables.row(
            f["rows"], f["way"], *(f"{1e3 * f[key]:.2f}" for key in ("apply_least", "apply")),
            *(f"{base[key] / f[key]:.2f}" for key in ("apply_least", "apply")),
            f"{1e3 * f['setup_least']:.1f}"
        )


def main(output, figures, build):
    document = tables.recorded(tables.read_json(figures))[0]
    found = document["figures"]
    sizes = sorted({f["rows"] for f in found})
    values = (8e-6 * found[0]["blocks"] * size**2 for size in sizes)
    text = INTRODUCTION.format(
        **{key: document[key] for key in ("date", "commit", "device", "threads")},
        processor=tables.built_for(build), blocks=found[0]["blocks"],
        megabytes=" or ".join(f"{size:.0f}" for size in values), rate=1e-9 * document["copy_rate"]
    )
    lines = ["# Block-Jacobi in each format on one thread", "", text.replace("\n", " "), ""]
    tables.write(pathlib.Path(output), [*lines, *table(found)], [document])


if len(sys.argv) != 4:
    sys.exit(__doc__)
main(*sys.argv[1:])
