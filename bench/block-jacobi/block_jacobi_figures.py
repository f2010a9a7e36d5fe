#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Draws the results of block_jacobi.py with gnuplot.

usage: block_jacobi_figures.py RESULTS.json FIGURE OUTPUT.svg    (or .png)

FIGURE is one of
bounds:   iterations of IDR(4) for each bound on the block size and each matrix: Table 2 of Anzt
          et al. (2017);
formats:  the fraction of the blocks in each format at 1 and 2 digits: Figure 8 of Flegar et al.
          (2020);
adaptive: iterations of CG and bytes of the blocks at 1 and 2 digits, relative to fp64: Figure 9.

A matrix is omitted if no run converged. The title counts or names the omitted matrices.
"""

import sys

sys.path.append(f"{sys.path[0]}/../common")
import block_jacobi as measured
import pictures
import tables

DIGITS = [("1", ":storage=adaptive:digits=1"), ("2", ":storage=adaptive")]
SHADES = ["#999999", "#fdae61", "#d7191c", "#2c7bb6", "#000000"]


def draw(commands, output, width, height):
    terminal = "pngcairo" if output.endswith(".png") else "svg"
    script = [
        f'set terminal {terminal} size {width},{height} font "sans,11" background "white"',
        f'set output "{output}"', "set termoption noenhanced", "set style fill solid border -1",
        "set grid ytics", *commands
    ]
    pictures.gnuplot("\n".join(script))


def block(name, rows):
    """Returns a block of inline data for the gnuplot script."""
    return [
        f"${name} << END",
        *(" ".join(f'"{v}"' if isinstance(v, str) else f"{v}" for v in row) for row in rows),
        "END",
    ]


def bounds(found, output):
    solver, rows, nothing = "idr:s=4", [], []
    for name in sorted({key[0] for key in found if key[1] == solver}):
        records = [found[name, solver, measured.label(bound)] for bound in measured.BOUNDS]
        if any(record["converged"] for record in records):
            rows.append(
                [
                    name,
                    *(
                        record["iterations"] if record["converged"] else float("nan")
                        for record in records
                    ),
                ]
            )
        else:
            nothing.append(name)
    points = ", ".join(
        f"$d using 0:{i + 2}:xtic(1) with points pointtype {i + 4} pointsize 0.9"
        f" linecolor rgb '{SHADES[i]}' title '{h}'"
        for i, h in enumerate(measured.HEADINGS)
    )
    draw(
        [
            *block("d", rows),
            "set title 'Iterations of IDR(4), 1e-8; no point: not converged;"
            f" {len(nothing)} more matrices converge with no bound'",
            "set logscale y",
            "set ylabel 'iterations'",
            "set xtics rotate by -60",
            "set grid xtics",
            f"set xrange [-1:{len(rows)}]",
            "set key outside top horizontal",
            f"plot {points}",
        ],
        output,
        1100,
        560,
    )


def definite(found):
    """Returns the symmetric positive definite matrices that were measured."""
    return [name for name in measured.SPD if (name, "cg", measured.label(32)) in found]


def formats(found, output):
    rows = []
    for name in definite(found):
        for digits, storage in DIGITS:
            record = found[name, "cg", measured.label(32) + storage]
            if record.get("diagonal") and record["diagonal"]["blocks"]:
                blocks = record["diagonal"]["by_format"]
                rows.append(
                    [
                        f"{name} ({digits})",
                        *(100 * blocks.get(f, 0) / sum(blocks.values()) for f in measured.FORMATS),
                    ]
                )
    bars = ", ".join(
        f"$d using {i + 2}:xtic(1) title '{f}' linecolor rgb '{pictures.COLOURS_OF_FORMATS[f]}'"
        for i, f in enumerate(measured.FORMATS)
    )
    draw(
        [
            *block("d", rows),
            "set title 'Formats of the inverse blocks, at most 32 rows;"
            " in brackets the digits kept'",
            "set style data histograms",
            "set style histogram rowstacked",
            "set boxwidth 0.8",
            "set yrange [0:100]",
            "set ylabel '% of the blocks'",
            "set xtics rotate by -60",
            "set key outside right",
            f"plot {bars}",
        ],
        output,
        900,
        520,
    )


def adaptive(found, output):
    rows, nothing = [], []
    for name in definite(found):
        full = found[name, "cg", measured.label(32)]
        if not full["converged"]:
            nothing.append(name)
            continue
        row = [name]
        for _, storage in DIGITS:
            record = found[name, "cg", measured.label(32) + storage]
            row += [
                record["iterations"] / full["iterations"] if record["converged"] else float("nan"),
                record["diagonal"]["bytes"] / measured.bytes_of_fp64(record),
            ]
        rows.append(row)
    left_out = f" Not converged in fp64: {', '.join(n for n in nothing)}." if nothing else ""
    draw(
        [
            *block("d", rows),
            f"set title 'CG with blocks of at most 32 rows, adaptive over fp64, 1e-10.{left_out}'",
            "set style data histograms",
            "set style histogram clustered gap 1",
            "set yrange [0:1.3]",
            "set ylabel 'over fp64'",
            "set xtics rotate by -60",
            "set key outside top horizontal",
            "plot $d using 2:xtic(1) title 'iterations, 1 digit' linecolor rgb '#7fbf7b',"
            " $d using 4 title 'iterations, 2 digits' linecolor rgb '#1b7837',"
            " $d using 3 title 'bytes, 1 digit' linecolor rgb '#c2a5cf',"
            " $d using 5 title 'bytes, 2 digits' linecolor rgb '#762a83'",
        ],
        output,
        900,
        520,
    )


def main():
    figures = {"bounds": bounds, "formats": formats, "adaptive": adaptive}
    if len(sys.argv) != 4 or sys.argv[2] not in figures:
        raise SystemExit(__doc__)
    figures[sys.argv[2]](measured.by_run(tables.read_json(sys.argv[1])), sys.argv[3])


if __name__ == "__main__":
    main()
