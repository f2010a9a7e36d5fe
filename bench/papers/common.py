# SPDX-License-Identifier: BSD-3-Clause
"""Functions that the modules of bench/papers share: rows, runs of programs, records."""

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

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "common"))
import tables  # noqa: E402

BACKENDS = ("cuda", "host")
DEVICES = {"cuda": "GPU", "host": "host"}
NOT_MEASURED = "not measured"

Row = collections.namedtuple("Row", "where published ours command note")


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


def collection(name):
    """Returns the names of the matrices of a list in cases/suitesparse."""
    path = tables.BENCH.parent / "cases" / "suitesparse" / f"{name}.txt"
    return [line.partition("/")[2] for line in path.read_text().split()]


class Failed(Exception):
    """A program ended with an error."""


class Late(Failed):
    """A program took longer than it may."""


class Bench:
    """Runs the programs of a build for `measure(bench)` of a module.

    backend: "cuda" or "host"
    quick: true if a try with small systems is enough
    seconds: after how many a paper begins no further measurement
    left_out: names of what was not measured for lack of time
    failed: names of what a program could not measure
    """

    def __init__(self, build, backend, quick, seconds=math.inf):
        self.build = pathlib.Path(build)
        self.backend = backend
        self.quick = quick
        self.seconds = seconds
        self.begin()

    def begin(self):
        """Begins a paper."""
        self.left_out, self.failed, self.began = [], [], time.monotonic()

    def attempt(self, name, function, *arguments):
        """Returns function(*arguments), or None and records the name if there is no time for it or
        if a program fails."""
        try:
            if time.monotonic() - self.began > self.seconds:
                raise Late(f"the paper has taken {self.seconds:g} s")
            return function(*arguments)
        except Failed as error:
            print(f"{name}: {error}", file=sys.stderr)
            (self.left_out if isinstance(error, Late) else self.failed).append(name)
            return None

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
        except subprocess.TimeoutExpired as error:
            raise Late(f"{program}: more than {timeout} s") from error
        except OSError as error:
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
        "left_out": bench.left_out,
        "failed": bench.failed,
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
