# SPDX-License-Identifier: BSD-3-Clause
"""The pictures of adaptive.py."""

import common
import pictures
from adaptive_figures import ADAPTIVE, FORMATS, LAYOUTS, NARROW, SHADES
from adaptive_figures import gain, layouts_of, shares, solved, ways_of
from common import DEVICES
from pictures import COLOURS


def draw_layouts(results, path):
    figures = results.get("cuda", {})

    def panel(storage, large):
        found = layouts_of(figures, storage, large)
        batch = "1 GiB in fp64" if large else "50,000 blocks"
        return pictures.bars(
            f"application in {storage}, {batch}",
            "GFlop/s (2 m² a block)",
            [f"{m:.0f}" for m in found],
            [
                (label, colour, [2e-9 * m * m * r["blocks"] / r[key] for m, r in found.items()])
                for key, (label, colour) in LAYOUTS.items()
            ],
            "set xlabel 'rows of a block, m'",
            "set yrange [0:*]",
        )

    if layouts_of(figures, "fp64", True):
        chosen = (panel("fp64", False), panel("fp64", True), panel("fp16", True))
        pictures.picture(path, *chosen, width=1500)


def draw_formats(figures, path):
    found = ways_of(figures)
    names = ["fp64", *NARROW, "adaptive", "adaptive truncated"]
    colours = {**COLOURS, "adaptive truncated": "#66ccee"}

    def panel(key, title, exponent):
        return pictures.bars(
            title,
            f"GFlop/s (2 m{'²³'[exponent - 2]} a block)",
            [str(m) for m in found],
            [
                (
                    name.removeprefix("adaptive "),
                    colours[name],
                    [
                        2e-9 * m**exponent * ways[name]["blocks"] / ways[name][key]
                        for m, ways in found.items()
                    ],
                )
                for name in names
            ],
            "set xlabel 'rows of a block, m'",
            "set key outside top center horizontal maxcols 4 samplen 1",
        )

    pictures.picture(
        path, panel("setup", "set-up", 3), panel("apply", "application to one vector", 2),
        width=1400, height=560
    )


def short_names(found):
    """Returns the names of systems without the details of real matrices."""
    return [name.split("_tet_")[0] for name in found]


def draw_distribution(figures, path):
    def panel(name):
        found = dict(solved(figures))
        return pictures.bars(
            name, "part of the blocks", short_names(found),
            [(f, COLOURS[f], [shares(runs[name])[f] for runs in found.values()]) for f in FORMATS],
            "set yrange [0:1]", "set xtics rotate by -35",
            "set key outside top center horizontal maxcols 6 samplen 1", stacked=True
        )

    pictures.picture(path, panel("1 digit"), panel("2 digits"), width=1400, height=600)


def draw_solves(figures, path):
    found = dict(solved(figures))

    def panel(title, value):
        return pictures.bars(
            title,
            "fp64 over adaptive",
            short_names(found),
            [
                (name, SHADES[name], [value(runs, name) for runs in found.values()])
                for name in ADAPTIVE
            ],
            "set yrange [0:*]",
            "set xtics rotate by -35",
            "set key outside top center horizontal maxcols 2 samplen 1",
            "set arrow from graph 0, first 1 to graph 1, first 1 nohead dashtype 2",
        )

    def iterations_of(runs, name):
        return runs["fp64"]["iterations"] / runs[name]["iterations"] if gain(runs, name) else None

    pictures.picture(
        path, panel("iterations", iterations_of), panel("run time", gain), width=1400, height=600
    )


def draw(results, folder):
    pictures = []
    if layouts_of(results.get("cuda", {}), "fp64", True):
        name = "papers-adaptive-layouts.svg"
        draw_layouts(results, folder / name)
        pictures.append((name, "As Figure 6: applications by layout of the blocks, on the GPU"))
    for backend in common.BACKENDS:
        figures, where = results.get(backend, {}), DEVICES[backend]
        if ways_of(figures):
            name = f"papers-adaptive-formats-{backend}.svg"
            draw_formats(figures, folder / name)
            pictures.append((name, f"As Figure 7: set-up and application by format, {where}"))
        if list(solved(figures)):
            name = f"papers-adaptive-distribution-{backend}.svg"
            draw_distribution(figures, folder / name)
            pictures.append((name, f"As Figure 8: formats of the blocks, {where}"))
            name = f"papers-adaptive-cg-{backend}.svg"
            draw_solves(figures, folder / name)
            pictures.append((name, f"As Figure 9: fp64 over adaptive, above 1 is a gain, {where}"))
    return pictures
