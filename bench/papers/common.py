# SPDX-License-Identifier: BSD-3-Clause
"""Functions that the modules of bench/papers share: rows, runs of programs, records, pictures."""

import collections
import datetime
import json
import math
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
import tables  # noqa: E402  the folder bench comes first

BACKENDS = ("cuda", "host")
NOT_MEASURED = "not measured"

Row = collections.namedtuple("Row", "where published ours command note")

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
    **tables.COLOURS_OF_FORMATS,
    "adaptive": "#ee6677",
}


def row(where, published, command, ours=NOT_MEASURED, note=""):
    """Returns a row of the page.

    where: the table, figure, equation or claim, and which part of it
    published: what the paper gives, in its own units
    command: the command that measures ours
    note: "stand-in: …" or "not available: …" where that is so, and the reason of a difference
    """
    return Row(where, published, ours, command, note)


def faults(rows):
    """Yields a sentence for each row that lacks a figure or a command."""
    for found in rows:
        for name in ("where", "published", "ours", "command"):
            value = getattr(found, name)
            if not isinstance(value, str) or not value.strip():
                yield f"{found.where or found}: no {name}"


class Failed(Exception):
    """A program ended with an error."""


class Bench:
    """Runs the programs of a build for `measure(bench)` of a module.

    backend: "cuda" or "host"
    quick: true if a try with small systems is enough
    """

    def __init__(self, build, backend, quick):
        self.build = pathlib.Path(build)
        self.backend = backend
        self.quick = quick

    def has(self, program):
        """Returns true if the build has the program, for example "bench/bench_batches"."""
        return (self.build / program).is_file()

    def refusal(self):
        """Returns why the build or the machine does not have the backend, or None."""
        if not self.has("bisai"):
            return f"{self.build / 'bisai'} is missing: BUILD is a build folder with BISAI_BENCH=ON"
        try:
            self.run("bisai", "solve", "--case", "cavity", "--size", 4, "--backend", self.backend)
        except Failed as error:
            return str(error)
        return None

    def run(self, program, *arguments, timeout=300):
        """Returns what the program prints. Raises Failed if it fails."""
        command = [str(self.build / program), *map(str, arguments)]
        print("+", program, *arguments, end=" ", flush=True)
        begin = time.monotonic()
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=timeout)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise Failed(f"{program}: {error}") from error
        finally:
            print(f"({time.monotonic() - begin:.1f} s)", flush=True)
        if done.returncode != 0:
            raise Failed(f"{' '.join(command)}: {done.stderr.strip()[-2000:]}")
        return done.stdout

    def json(self, program, *arguments, timeout=300):
        """Returns what the program writes with --json FILE."""
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "results.json"
            self.run(program, *arguments, "--json", path, timeout=timeout)
            return json.loads(path.read_text())

    def matrix(self, name):
        """Returns the path of a matrix in the folders BISAI_MATRICES (a:b:…), or None."""
        for folder in os.environ.get("BISAI_MATRICES", "").split(os.pathsep):
            for ending in (".mtx", ".mtx.xz", ".mtx.gz", ".tar.gz"):
                path = pathlib.Path(folder or ".") / (name + ending)
                if path.is_file():
                    return path
        return None


def machine(backend):
    """Returns the processors, and the GPU and its driver if `backend` is "cuda"."""
    used, there = len(os.sched_getaffinity(0)), os.cpu_count()
    text = f"{tables.processor()}, {used if used == there else f'{used} of {there}'} processors"
    if backend == "cuda" and shutil.which("nvidia-smi"):
        query = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]
        gpus = subprocess.run(query, capture_output=True, text=True).stdout.splitlines()
        if gpus:
            name, driver = gpus[0].split(", ")
            text = f"{name} (driver {driver}), {text}"
    return text


def record(bench, command):
    """Returns what is stored beside the figures of a module."""
    return {
        "date": datetime.date.today().isoformat(),
        "commit": tables.measured_commit(),
        "machine": machine(bench.backend),
        "build": tables.built_for(bench.build),
        "command": command,
        "quick": bench.quick,
    }


def figures_path(folder, name, backend):
    return folder / f"papers-{name}-{backend}.json"


def write_figures(path, made, results):
    """Writes a line for the record and a line for each key of the results, which are a dict."""
    tables.write_json(path, [made, *({key: value} for key, value in results.items())])


def parts_with_figures(value, depth=3):
    """Returns the paths of keys, up to three deep, below which there is a number."""
    found = set()
    for key, part in value.items():
        if has_figures(part):
            found.add((key,))
            if isinstance(part, dict) and depth > 1:
                found |= {(key, *rest) for rest in parts_with_figures(part, depth - 1)}
    return found


def has_figures(value):
    """Returns true if there is a finite number in the value."""
    if isinstance(value, (dict, list)):
        return any(map(has_figures, value.values() if isinstance(value, dict) else value))
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def lost(stored, results):
    """Returns the parts, as texts, that have figures in `stored` and none in `results`.

    Of a part that is lost, the parts inside are left out.
    """
    gone = parts_with_figures(stored) - parts_with_figures(results)
    return sorted(": ".join(path) for path in gone if path[:-1] not in gone)


def read_figures(path):
    """Returns the record and the results, or None."""
    if not path.exists() and not tables.compressed(path).exists():
        return None
    made, *parts = tables.read_json(path)
    return made, {key: value for part in parts for key, value in part.items()}


def digits(value, count=3):
    """Returns a number with `count` significant digits, and at least all digits before the point.

    None, nan and inf become a dash.
    """
    if value is None or not math.isfinite(value):
        return "–"
    if value == 0:
        return "0"
    places = count - 1 - math.floor(math.log10(abs(value)))
    return f"{value:.{max(places, 0)}f}"


def milliseconds(seconds):
    return "–" if seconds is None else f"{digits(1e3 * seconds)} ms"


# Pictures. They are drawn by gnuplot; without it `picture` leaves the old picture as it is.

FONT = 18
STYLE = [
    "reset",
    "set termoption noenhanced",
    "set style fill solid border -1",
    "set grid ytics linecolor rgb '#dddddd'",
    "set border 3",
    "set tics nomirror",
    "set key outside top center horizontal",
]


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
        f'set output "{part}"',
        f"set multiplot layout 1,{len(panels)}",
    ]
    for panel in panels:
        script += [*STYLE, *panel]
    try:
        tables.gnuplot("\n".join([*script, "unset multiplot", "unset output"]) + "\n")
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
        *data("d", rows),
        f"set title {quoted(title)}",
        f"set ylabel {quoted(unit)}",
        "set style data histograms",
        f"set style histogram {'rowstacked' if stacked else 'clustered gap 1'}",
        f"set boxwidth {0.6 if stacked else 0.9}",
        *([] if "set logscale y" in commands else ["set yrange [0:*]"]),
        *commands,
        f"plot {parts}",
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
        f"set title {quoted(title)}",
        f"set xlabel {quoted(x)}",
        f"set ylabel {quoted(y)}",
        *commands,
        f"plot {parts}",
    ]


def quoted(text):
    return "'" + text.replace("'", "''") + "'"
