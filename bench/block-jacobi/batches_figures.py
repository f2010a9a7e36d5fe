# SPDX-License-Identifier: BSD-3-Clause
"""Draws the figures of batched block-Jacobi from the JSON of bench_batches.

usage: batches_figures.py [JSON [FOLDER]]
"""

import pathlib
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

sys.path.append(f"{sys.path[0]}/../common")
import tables
from pictures import COLOURS


FORMS = {
    "inverse": "gauss-jordan",
    "lu": "lu",
    "gh": "gauss-huard",
    "ght": "gauss-huard-t",
    "cublas": "cublas",
}


def curves(results, section, key, by, value):
    """The curves of value(key) in a section: one curve for each value of `by`."""
    lines = {}
    for r in results:
        if r["section"] == section and value(r) is not None:
            lines.setdefault(r[by], []).append((r[key], value(r)))
    return {name: sorted(points) for name, points in sorted(lines.items())}


def draw(axis, lines, label, style="o-"):
    for name, points in lines.items():
        axis.plot(
            [p[0] for p in points], [p[1] for p in points], style, markersize=3, label=label(name)
        )


def save(figure, path):
    figure.tight_layout()
    figure.savefig(path, dpi=120, metadata={"Software": None})
    plt.close(figure)


def finish(figure, axis, x, y, path):
    axis.set_xlabel(x)
    axis.set_ylabel(y)
    axis.grid(alpha=0.3)
    axis.legend(fontsize=7)
    save(figure, path)


def main():
    source = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "bench/results/h200-batches.json")
    folder = pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else source.parent)
    results = tables.recorded(tables.read_json(source))[0]["results"]

    figure, axis = plt.subplots(figsize=(7, 4.5))
    draw(
        axis, curves(results, "batch", "blocks", "size", lambda r: r["gflops"]),
        lambda m: f"bisai, size {m:.0f}"
    )
    axis.set_prop_cycle(None)
    draw(
        axis, curves(results, "batch", "blocks", "size", lambda r: r["cublas_gflops"]),
        lambda m: f"cuBLAS, size {m:.0f}", "s--"
    )
    axis.set_xscale("log")
    finish(
        figure, axis, "blocks in the batch", "GFlop/s of inversion (2m³)",
        folder / "h200-batches-size-of-batch.png"
    )

    figure, axis = plt.subplots(figsize=(7, 4.5))
    for name, key, colour, style in (
        ("bisai", "seconds", "gauss-jordan", "o-"),
        ("cuBLAS matinvBatched", "matinv", "cublas", "o-"),
        ("cuBLAS getrf + getri", "getrf_getri", "cublas", "s--"),
        ("copy of as many bytes", "floor", "jacobi", "-"),
    ):
        points = sorted((r["size"], 1e3 * r[key]) for r in results if r["section"] == "sizes")
        axis.plot(*zip(*points), style, markersize=3, label=name, color=COLOURS[colour])
    axis.set_yscale("log")
    finish(
        figure, axis, "rows of a block", "ms for 100,000 inverses",
        folder / "h200-batches-size-of-block.png"
    )

    for matrix in ("tridiagonal", "arrow"):
        figure, axis = plt.subplots(figsize=(7, 4.5))
        mine = [
            dict(r, way=r["what"].split()[1])
            for r in results
            if r["section"] == "extraction" and r["what"].startswith(matrix)
        ]
        draw(axis, curves(mine, "extraction", "most", "way", lambda r: 1e3 * r["seconds"]), str)
        finish(
            figure, axis, "rows of a block", f"ms of set-up, {matrix}, 2²⁰ rows",
            folder / f"h200-batches-{matrix}.png"
        )

    figure, axis = plt.subplots(figsize=(9, 4.5))
    real = [r for r in results if r["section"] == "real" and r["most"] == 32]
    names = sorted({r["what"].split(".mtx")[0] for r in real})
    for k, way in enumerate(("UC", "MC", "US", "MS")):
        times = [
            1e6 * r["seconds"]
            for name in names
            for r in real
            if r["what"].startswith(name + ".mtx") and r["what"].endswith(" " + way)
        ]
        axis.bar([i + 0.2 * k for i in range(len(names))], times, 0.2, label=way)
    axis.set_xticks(
        [i + 0.3 for i in range(len(names))], names, rotation=30, ha="right", fontsize=7
    )
    finish(
        figure, axis, "", "µs of set-up, blocks of at most 32 rows",
        folder / "h200-batches-real.png"
    )

    figure, axes = plt.subplots(1, 2, figsize=(9, 4))
    for axis, key, title in (
        (axes[0], "setup_gflops", "set-up"), (axes[1], "apply_gflops", "application")
    ):
        names = list(FORMS)
        colours = [COLOURS[FORMS[name]] for name in names]
        for k, m in enumerate((16, 32)):
            rates = [
                next(
                    r[key]
                    for r in results
                    if r["section"] == "forms" and r["what"] == n and r["size"] == m
                )
                for n in names
            ]
            places = [i + 0.4 * k for i in range(len(names))]
            axis.bar(places, rates, 0.4, label=f"size {m}", color=colours, alpha=1 - 0.4 * k)
        axis.set_xticks([i + 0.2 for i in range(len(names))], names)
        axis.set_ylabel(f"GFlop/s of {title}")
        axis.legend(fontsize=7)
    save(figure, folder / "h200-batches-forms.png")


main()
