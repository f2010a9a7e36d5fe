# SPDX-License-Identifier: BSD-3-Clause
"""Pictures, drawn by gnuplot, and the colours of methods and formats in all of them."""

import shutil
import subprocess
import sys

COLOURS_OF_FORMATS = {
    "fp16": "#1b7837",
    "bf16": "#7fbf7b",
    "fp11_4": "#d9f0d3",
    "fp32": "#762a83",
    "fp11_20": "#c2a5cf",
    "fp64": "#bbbbbb",
}
# One colour for each method and format in all pictures.
COLOURS = {
    "published": "#bbbbbb",
    "petsc": "#777777",
    "cusparse": "#76b900",
    "cublas": "#76b900",
    "none": "#dddddd",
    "jacobi": "#000000",
    "ilu": "#b8860b",
    "isai:k=1": "#66ccee",
    "isai:k=2": "#4477aa",
    "isai:k=3": "#223366",
    "mg": "#228833",
    "gauss-jordan": "#4477aa",
    "lu": "#b8860b",
    "gauss-huard": "#ee6677",
    "gauss-huard-t": "#aa3377",
    "cholesky": "#228833",
    **COLOURS_OF_FORMATS,
    "adaptive": "#ee6677",
}

FONT = 18
STYLE = [
    "reset", "set termoption noenhanced", "set style fill solid border -1",
    "set grid ytics linecolor rgb '#dddddd'", "set border 3", "set tics nomirror",
    "set key outside top center horizontal"
]


def gnuplot(script):
    subprocess.run(["gnuplot"], input=script, text=True, check=True)


def picture(path, *panels, width=900, height=520):
    """Draws panels side by side. A panel consists of commands of gnuplot: bars(), curves().

    Without gnuplot, and if it fails, which it does if there is nothing to draw, the old picture
    stays.
    """
    if not shutil.which("gnuplot"):
        return
    part = path.with_name(path.name + ".part")
    script = [
        f'set terminal svg size {width},{height} font "sans,{FONT}" background "white"',
        f'set output "{part}"', f"set multiplot layout 1,{len(panels)}"
    ]
    for panel in panels:
        script += [*STYLE, *panel]
    try:
        gnuplot("\n".join([*script, "unset multiplot", "unset output"]) + "\n")
        part.replace(path)
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"{path.name}: not drawn: {error}", file=sys.stderr)
        part.unlink(missing_ok=True)


def data(name, rows):
    """Returns the commands that define the inline data $name. None becomes a gap."""

    def cell(value):
        if isinstance(value, str):
            return '"' + value.replace('"', "'") + '"'
        return "NaN" if value is None else f"{value:.9g}"

    return [f"${name} << END", *(" ".join(map(cell, values)) for values in rows), "END"]


def bars(title, unit, groups, series, *commands, stacked=False):
    """Returns a panel with groups of bars.

    unit: the label of the y axis
    groups: labels below the groups
    series: (label, colour, values) with a value or None for each group; "" keeps it out of the key
    commands: further commands of gnuplot, for example "set logscale y"
    """
    rows = [[group, *(values[i] for _, _, values in series)] for i, group in enumerate(groups)]
    parts = ", ".join(
        f"$d using {i + 2}{':xtic(1)' if i == 0 else ''}"
        f" {f'title {quoted(label)}' if label else 'notitle'} linecolor rgb '{colour}'"
        for i, (label, colour, _) in enumerate(series)
    )
    return [
        *data("d", rows), f"set title {quoted(title)}", f"set ylabel {quoted(unit)}",
        "set style data histograms",
        f"set style histogram {'rowstacked' if stacked else 'clustered gap 1'}",
        f"set boxwidth {0.6 if stacked else 0.9}",
        *([] if "set logscale y" in commands else ["set yrange [0:*]"]), *commands, f"plot {parts}"
    ]


def curves(title, x, y, series, *commands):
    """Returns a panel of curves with points.

    x, y: labels of the axes, with their units
    series: (label, colour, points), with (x, y) for each point
    commands: further commands of gnuplot, for example "set logscale x"
    """
    parts = ", ".join(
        f"$d{i} using 1:2 with linespoints linewidth 2 pointtype {i % 6 + 4}"
        f" linecolor rgb '{colour}' title {quoted(label)}"
        for i, (label, colour, _) in enumerate(series)
    )
    return [
        *(line for i, (_, _, points) in enumerate(series) for line in data(f"d{i}", points)),
        f"set title {quoted(title)}", f"set xlabel {quoted(x)}", f"set ylabel {quoted(y)}",
        *commands, f"plot {parts}"
    ]


def quoted(text):
    return "'" + text.replace("'", "''") + "'"
