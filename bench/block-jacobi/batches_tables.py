#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes the page of bench_batches from its figures.

usage: batches_tables.py OUTPUT.md FIGURES.json

`bench_batches --json FIGURES.json` writes them. OUTPUT.json gets the same with the commit and the
date, and batches_figures.py draws it.
"""

import pathlib
import sys

sys.path.append(f"{sys.path[0]}/../common")
import tables

INTRODUCTION = """Times are medians by events of the device. The floor is the time in which a copy
({rate} read and written) moves as many bytes. Inversions are timed in two ways: as kernels without
waiting, like the routines of cuBLAS, and as whole updates, which wait for the findings of the
kernels. Other set-ups are whole updates. Blocks are random."""

FIGURES = {
    "size-of-block": "Time over the size of blocks",
    "size-of-batch": "GFlop/s over the size of the batch",
    "forms": "Forms",
    "tridiagonal": "Extraction, tridiagonal",
    "arrow": "Extraction, arrow",
    "real": "Extraction, real matrices",
}
# size: the most that an inversion may take over its floor, and the least gain over cuBLAS
GOALS = {4: (1.3, 4), 5: (1.6, 5), 8: (1.3, 5), 16: (2, 5), 24: (4.2, 4), 32: (4.4, 4)}
# blocks of random sizes: the most that a set-up, and an application, may take over its floor
MIXED_SETUP = {"inverse": 3}
MIXED_APPLICATION = {"lu": 1.6, "gh": 1.6}
# one vector in a format narrower than fp64: the most that an application may take over its floor
NARROW = 1.25
# form and size: the most that an application may take over its floor
APPLICATION = {("gh", 24): 1.3, ("ght", 24): 1.3}


class Results:
    """The figures of all sections."""

    def __init__(self, results):
        self.results = results

    def of(self, section, **keys):
        return [
            r
            for r in self.results
            if r["section"] == section and all(r.get(key) == keys[key] for key in keys)
        ]


def ratio(value):
    return "–" if value is None else f"{value:.2f}"


def goal(value, limit, most=True):
    if limit is None:
        return ratio(value)
    met = value <= limit if most else value >= limit
    return f"{ratio(value)} ({'at most' if most else 'at least'} {limit}" + (
        ")" if met else ", **missed**)"
    )


def inversions(r):
    yield from ["", "## Inversion", ""]
    yield "1 GiB of blocks, including κ₁ of each block, and 100,000 blocks:"
    yield ""
    columns = ["size", "blocks", "time over floor", "update over floor"]
    yield from tables.heading(*columns, "gain over cuBLAS's better", "the same, 100,000 blocks")
    for f in r.of("inversion"):
        most, least = GOALS.get(f["size"], (None, None))
        fixed = r.of("sizes", size=f["size"])
        yield tables.row(
            f["size"], f["blocks"], goal(f["ratio"], most), ratio(f["update"] / f["floor"]),
            goal(f["speedup"], least, most=False), ratio(fixed[0]["speedup"]) if fixed else "–"
        )
    yield from ["", "Gain over cuBLAS's better, by the number of blocks:", ""]
    batch = r.of("batch")
    counts = sorted({f["blocks"] for f in batch})
    yield from tables.heading("size", *map(str, counts))
    for size in sorted({f["size"] for f in batch}):
        found = {f["blocks"]: f["speedup"] for f in r.of("batch", size=size)}
        yield tables.row(size, *(ratio(found.get(count)) for count in counts))


def mixed(r):
    found = r.of("mixed")
    if not found:
        return
    yield from ["", "## Blocks of random sizes from 1 to 32, from CSR", ""]
    yield (
        f"{found[0]['blocks']} blocks. The set-up includes the extraction, and cuBLAS inverts, or"
        " decomposes, the blocks of each size in a batch. UC, US and MS are other kinds of"
        " extraction."
    )
    yield ""
    yield from tables.heading("form", "set-up over floor", "gain over cuBLAS", "apply over floor")
    for f in found:
        yield tables.row(
            f["what"], goal(f["ratio"], MIXED_SETUP.get(f["what"])), ratio(f.get("speedup")),
            goal(f.get("apply_ratio"), MIXED_APPLICATION.get(f["what"]))
        )


def forms(r):
    found = [f for f in r.of("forms") if f["what"] != "cublas"]
    yield from ["", "## Forms", "", "Set-up and application of each form, over their floors:", ""]
    names = list(dict.fromkeys(f["what"] for f in found))
    heads = [f"{what} {name}" for what in ("set-up", "apply") for name in names]
    yield from tables.heading("size", *heads)
    for size in sorted({f["size"] for f in found}):
        of = {f["what"]: f for f in found if f["size"] == size}
        cells = [ratio(of[n].get("setup_ratio")) for n in names]
        cells += [goal(of[n].get("apply_ratio"), APPLICATION.get((n, size))) for n in names]
        yield tables.row(size, *cells)


def applications(r):
    found = r.of("apply")
    if not found:
        return
    names = list(dict.fromkeys(f["what"] for f in found))
    of = {(f["size"], f["what"], f["vectors"]): f for f in found}
    yield from ["", "## Applications to a vector, and to 8 vectors", ""]
    narrow = [f for f in found if f["what"] != "fp64" and f["vectors"] == 1]
    missed = [f"{f['what']} {f['size']:.0f}" for f in narrow if f["ratio"] > NARROW]
    yield (
        "Time over floor, and in brackets the gain over fp64; first for a vector, then for 8"
        f" vectors. Formats narrower than fp64 are to take at most {NARROW} for a vector;"
        f" {len(missed)} of {len(narrow)} miss this{': ' if missed else ''}{', '.join(missed)}."
    )
    yield ""
    yield from tables.heading("size", *names)

    def text(f):
        gain = f.get("speedup_over_fp64")
        return ratio(f["ratio"]) + (f" ({gain:.2f})" if gain and f["what"] != "fp64" else "")

    for size in sorted({f["size"] for f in found}):
        keys = [[(size, name, vectors) for vectors in (1, 8)] for name in names]
        yield tables.row(size, *(", ".join(text(of[k]) for k in pair if k in of) for pair in keys))


def setups(r):
    found = r.of("whole")
    if not found:
        return
    yield from ["", "## Whole set-ups", "", "Find the blocks, extract, invert and store, ms:", ""]
    yield from tables.heading("matrix and storage", "largest block", "find", "update", "whole")
    for f in found:
        times = (f"{1e3 * f[key]:.3f}" for key in ("find", "update", "whole"))
        yield tables.row(f["what"], f["most"], *times)


def extraction(r):
    found = r.of("extraction") + r.of("real")
    if not found:
        return
    kinds = ("UC", "MC", "US", "MS", "auto")
    yield from ["", "## Extraction", "", "Extraction and inversion, ms:", ""]
    yield from tables.heading("matrix", "largest block", *kinds)
    cells = {}
    for f in found:
        name, kind = f["what"].rsplit(" ", 1)
        cells.setdefault((name, f["most"]), {})[kind] = f["seconds"]
    for (name, most), of in cells.items():
        times = (f"{1e3 * of[kind]:.3f}" if kind in of else "–" for kind in kinds)
        yield tables.row(pathlib.PurePath(name).name.split(".mtx")[0], most, *times)


def page(document, stem):
    r = Results(document["results"])
    text = INTRODUCTION.format(rate=f"{1e-12 * document['copy_rate']:.2f} TB/s").replace("\n", " ")
    yield from [
        "# Block-Jacobi's batches on a GPU",
        "",
        f"{document['date']}, commit {document['commit']}, {document['device']}. Made by"
        " `bench_batches`, `bench/block-jacobi/batches_tables.py` and"
        f" `bench/block-jacobi/batches_figures.py`. {text}",
    ]
    for part in (inversions, mixed, forms, applications, setups, extraction):
        yield from part(r)
    for figure, caption in FIGURES.items():
        yield from ["", f"![{caption}]({stem}-{figure}.png)"]


def main():
    if len(sys.argv) != 3:
        raise SystemExit(__doc__)
    output = pathlib.Path(sys.argv[1])
    documents = tables.recorded(tables.read_json(sys.argv[2]))
    tables.write(output, page(documents[0], output.stem), documents)


main()
