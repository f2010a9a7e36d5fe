#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Draws the figure of the README: residuals of the cavity, and total times of the methods.

usage: front_page.py PLOTS RESULTS.json FIGURE.png

`bisai compare --case cavity --size 300 --plots PLOTS` creates the folder PLOTS. The residuals do
not depend on the machine. RESULTS.json is that of a page by verdicts.py, whose first system is the
cavity. Needs gnuplot.
"""

import os
import re
import sys
import tempfile

sys.path.append(f"{sys.path[0]}/../common")
from pictures import COLOURS, gnuplot
from tables import read_json



def colour(method):
    """Returns the colour of a method. Formats of storage have that of the method itself."""
    peers = {"cusparse-ilu": "cusparse", "petsc-ilu": "petsc", "bjacobi": "jacobi"}
    name = method.split(":storage=")[0]
    return COLOURS.get(peers.get(name, name), "#999999")


def main():
    plots, results, figure = sys.argv[1:]
    curves = re.findall(r"^# (\S+)$", open(os.path.join(plots, "residuals.dat")).read(), re.M)
    document = read_json(results)[0]
    runs = [run for run in document["runs"] if run["converged"]]
    with tempfile.TemporaryDirectory() as folder:
        bars = os.path.join(folder, "totals.dat")
        with open(bars, "w") as file:
            for place, run in enumerate(reversed(runs)):
                ms = 1e3 * run["total_s"]
                digits = 0 if ms >= 100 else 1
                rgb = int(colour(run["label"])[1:], 16)
                file.write(f'{place} {ms:.6g} "{run["label"]}" "{ms:.{digits}f} ms" {rgb}\n')
        lines = ", ".join(
            f"'{plots}/residuals.dat' index {i} with lines lw 2 lc rgb '{colour(name)}'"
            f" title '{name}'"
            for i, name in enumerate(curves)
        )
        script = f"""
set terminal pngcairo size 1200,430 font 'sans,12'
set output '{figure}'
set multiplot layout 1,2
set title 'residuals'; set xlabel 'iteration'; set ylabel 'relative residual'
set logscale y; set format y '10^{{%L}}'
set yrange [5e-6:2]; set grid lt 1 lc rgb '#dddddd'; set key top right noenhanced
plot {lines}
reset
set title 'total time, set-up included ({document["device"].split(",")[0]})' noenhanced
set logscale x; set xrange [2:20000]; set xlabel 'ms, logarithmic'
set yrange [-0.6:{len(runs) - 0.4}]
set boxwidth 0.6; set style fill solid 1.0 noborder; unset key
set grid xtics lt 1 lc rgb '#dddddd'; set ytics nomirror noenhanced
plot '{bars}' using (0.5*($2+2)):1:(0.5*($2-2)):(0.3):5:ytic(3) with boxxyerror lc rgb variable, \\
  '' using 2:1:4 with labels left offset 0.5,0
"""
        gnuplot(script)


if __name__ == "__main__":
    main()
