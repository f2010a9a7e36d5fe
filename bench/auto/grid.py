#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs every setting on every matrix, each for a bounded time, and appends a line of JSON a run.

usage: grid.py BISAI FOLDER... --output FILE.jsonl [--case NAME=SIZE]... [--backend host|cuda]
       [--jobs N] [--cap S] [--limit S] [--rhs own|ones] [--again N] [--auto] [--only PART]

BISAI is the program, and each FOLDER has NAME.mtx[.xz] files. A right-hand side is NAME_b beside
the matrix; without one it is A times ones, or A x with x_i = (i/n)² if A maps a constant to zero,
or ones with --rhs ones. Runs that the file has already are left out, so that an interrupted grid
goes on. --case adds a system that the program makes. The settings are those of settings.py, its
first tier first, until --limit. A run ends after --cap seconds of wall clock if no setting is known
to solve the matrix (8 s once two were cut), and otherwise after ten times the fastest, at least
3 s. With --again N the N fastest settings
of each matrix of the file are run again five times, and these lines have the median. --auto runs
the choice of `solve` without options instead. The program runs with one thread. Needs the standard
library only.
"""

import argparse
import concurrent.futures
import json
import lzma
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time

import settings

AUTO_RUNS = 5
HOPELESS = 8.0  # seconds of a run if no setting has solved the matrix and two have been cut
KEPT = ("iterations", "setup_s", "solve_s", "total_s", "memory_bytes", "least_total_s", "error")


class Case:
    """A system that the program makes, as `cavity=300` or `convdiff=100,100,50`."""

    def __init__(self, text):
        self.kind, self.size = text.split("=")

    def name(self):
        return f"{self.kind} {self.size}"

    def words(self):
        return ["--case", self.kind, "--size", self.size]


def name_of(system):
    return system.name() if isinstance(system, Case) else system.name.split(".mtx")[0]


def words_of(system):
    return system.words() if isinstance(system, Case) else [str(system)]


def entries(text):
    """Yields (row, column, value) of a matrix file, mirrored entries too, then its two sizes."""
    head, *lines = text.splitlines()
    words = head.lower().split()
    lines = iter(lines)
    sizes = next(line for line in lines if not line.startswith("%")).split()
    sign = {"general": 0.0, "symmetric": 1.0, "skew-symmetric": -1.0}[words[4]]
    yield int(sizes[0]), int(sizes[1]), None
    for line in lines:
        row, column, *value = line.split() or ["0", "0"]
        row, column = int(row) - 1, int(column) - 1
        if row >= 0:
            value = float(value[0]) if value else 1.0
            yield row, column, value
            if sign and row != column:
                yield column, row, sign * value


def product(text):
    """Returns A times ones, or A x with x_i = (i/n)² if A or its transpose maps ones to zero."""
    found = entries(text)
    rows, columns, _ = next(found)
    sums, squares, down, sizes = ([0.0] * rows for _ in range(4))
    for row, column, value in found:
        sums[row] += value
        squares[row] += value * ((column + 1) / columns)**2
        sizes[row] += abs(value)
        down[column] += value
    limit = 1e-12 * max(sizes)
    return squares if min(max(map(abs, sums)), max(map(abs, down))) < limit else sums


def unpacked(path, folder, make):
    """Writes the matrix and its right-hand side without compression, and returns its file. `make`
    asks for a right-hand side where there is none."""

    def text_of(file):
        with (lzma.open if file.suffix == ".xz" else open)(file, "rt") as source:
            return source.read()

    name, text = name_of(path), text_of(path)
    target = folder / f"{name}.mtx"
    target.write_text(text)
    given = path.with_name(path.name.replace(".mtx", "_b.mtx"))
    if given.exists():
        (folder / f"{name}_b.mtx").write_text(text_of(given))
    elif make:
        b = product(text)
        lines = ["%%MatrixMarket matrix array real general", f"{len(b)} 1", *map(repr, b)]
        (folder / f"{name}_b.mtx").write_text("\n".join(lines) + "\n")
    return target


class Grid:
    """The runs of one file of results."""

    def __init__(self, options):
        self.options = options
        self.began = time.monotonic()
        self.lock = threading.Lock()
        self.done, self.fastest, self.late = {}, {}, {}
        if options.output.exists():
            for line in options.output.read_text().splitlines():
                self.remember(json.loads(line))
        help_text = subprocess.run([options.bisai, "help", "solve"], capture_output=True, text=True)
        self.known = " ".join(help_text.stdout.split())
        # Before version 0.3 the program took ones where it now takes A times ones.
        self.makes_b = "otherwise A x with x_i" in self.known

    def remember(self, line):
        key = line["matrix"], line["setting"], line.get("repeats", 1)
        self.done[key] = line
        self.late[key[0]] = self.late.get(key[0], 0) + (line["status"] == "time")
        if line["status"] == "converged":
            name = line["matrix"]
            self.fastest[name] = min(self.fastest.get(name, 1e9), line["total_s"])

    def record(self, line):
        with self.lock:
            self.remember(line)
            with self.options.output.open("a") as file:
                file.write(json.dumps(line) + "\n")

    def left(self):
        return self.options.limit - (time.monotonic() - self.began)

    def cap(self, name, repeats):
        """Returns the seconds that a command may take."""
        cap = self.options.cap * (1 if repeats == 1 else 6)
        if name in self.fastest and repeats == 1:
            cap = min(cap, max(3.0, 10 * self.fastest[name]))
        elif self.late.get(name, 0) >= 2:
            cap = min(cap, HOPELESS)
        return max(0.5, min(cap, self.left()))

    def run(self, command, cap):
        """Returns the JSON of a command or None, its message, and whether it was cut."""
        process = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True
        )
        late = False
        try:
            out, err = process.communicate(timeout=cap)
        except subprocess.TimeoutExpired:
            late = True
            process.send_signal(signal.SIGTERM)
            try:
                out, err = process.communicate(timeout=2)
            except subprocess.TimeoutExpired:
                process.kill()
                out, err = process.communicate()
        try:
            return json.loads(out), err, late
        except ValueError:
            return None, err.strip().splitlines()[-1] if err.strip() else "", late

    def flags(self, path):
        words = ["--tolerance", "1e-8", "--max-iterations", "10000", "--threads", "1"]
        words += ["--backend", self.options.backend, "--json", "-"]
        if isinstance(path, Case):
            return words
        own = path.with_name(path.name.replace(".mtx", "_b.mtx"))
        if own.exists() or self.options.rhs == "ones":
            words += ["--rhs", str(own) if own.exists() else "ones"]
        return words

    def line(self, path, setting, status, run=None, result=None, **more):
        line = {"matrix": name_of(path), "setting": setting, "status": status}
        line["backend"] = self.options.backend
        if run:
            line.update({key: run[key] for key in KEPT if run.get(key) is not None})
            line["residual"] = run["relative_residual"]
        if result:
            line.update(block_size=result["matrix"]["block_size"], device=result["device"])
            line["rows"] = result["matrix"]["block_rows"] * result["matrix"]["block_size"]
            line["rhs"] = result["rhs"]
        return {**line, **more}

    def group(self, path, flags, methods, repeats=1):
        """Runs the methods in one process, and those after one that took too long in another."""
        name = name_of(path)
        methods = [
            m for m in methods if (name, settings.name_of(flags, m), repeats) not in self.done
        ]
        while methods and self.left() > 1:
            cap = self.cap(name, repeats)
            command = [self.options.bisai, "compare", *words_of(path), "--methods"]
            command += [",".join(methods), *flags, *self.flags(path)]
            command += (["--repeat", str(repeats)] if repeats > 1 else [])
            result, message, late = self.run(command, cap)
            runs = result["runs"] if result else []
            for method, run in zip(methods, runs):
                if run["reason"] == "stopped":
                    break
                self.record(
                    self.line(
                        path,
                        settings.name_of(flags, method),
                        run["reason"],
                        run,
                        result,
                        repeats=repeats
                    )
                )
                methods = methods[1:]
            if late and methods and len(runs) > 1:
                continue  # the one that was cut has not had its whole time
            if methods and (late or result is None):
                if not late and len(methods) > 1:  # one of them is bad input: find which
                    for method in methods:
                        self.group(path, flags, [method], repeats)
                    return
                status = "time" if late else "refused"
                cut = self.line(
                    path, settings.name_of(flags, methods[0]), status, seconds=round(cap, 1)
                )
                self.record({**cut, "message": message[-200:], "repeats": repeats})
                methods = methods[1:]
            elif methods:
                break

    def auto(self, path):
        """Runs `auto` after a warm-up, as the settings are: a line has the median of five runs."""
        if (name_of(path), "auto", AUTO_RUNS) in self.done or self.left() < 1:
            return
        command = [self.options.bisai, "compare", *words_of(path), "--methods", "auto",
                   "--repeat", str(AUTO_RUNS), *self.flags(path)]
        result, message, late = self.run(command, min(10 * self.options.cap, self.left()))
        run = result["runs"][0] if result and result["runs"] else None
        status = "time" if late else run["reason"] if run else "refused"
        more = {"repeats": AUTO_RUNS, "json": run, "message": message[-200:]}
        self.record(self.line(path, "auto", status, run, result, **more))

    def groups(self):
        """Yields the flags and methods of the settings that the program knows."""
        for flags, methods in (group for tier in settings.TIERS for group in tier):
            kinds = [(method, method.split(":")[0]) for method in methods]
            known = [m for m, kind in kinds if re.search(rf"(METHOD:|\|)\s*{kind}\b", self.known)]
            if known and all(word in self.known for word in flags if word.startswith("--")):
                yield flags, known

    def jobs(self, paths):
        """Yields the calls of all runs, the most important first."""
        if self.options.auto:
            yield from ((self.auto, path) for path in paths)
        elif self.options.again:
            for path in paths:
                good = [r for r in self.done.values() if r["matrix"] == name_of(path)]
                good = [r for r in good if r["status"] == "converged" and r.get("repeats", 1) == 1]
                for line in sorted(good, key=lambda r: r["total_s"])[:self.options.again]:
                    method, flags = settings.command_of(line["setting"])
                    yield self.group, path, flags, [method], 5
        else:
            for flags, methods in self.groups():
                yield from ((self.group, path, flags, methods) for path in paths)


def parsed():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("bisai")
    parser.add_argument("folders", nargs="*", type=pathlib.Path)
    parser.add_argument("--case", action="append", type=Case, default=[])
    parser.add_argument("--output", type=pathlib.Path, required=True)
    parser.add_argument("--backend", choices=["host", "cuda"], default="host")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--cap", type=float, default=20.0)
    parser.add_argument("--limit", type=float, default=1e9)
    parser.add_argument("--rhs", choices=["own", "ones"], default="own")
    parser.add_argument("--again", type=int, default=0)
    parser.add_argument("--auto", action="store_true")
    parser.add_argument("--only", default="")
    return parser.parse_args()


def main():
    options = parsed()
    grid = Grid(options)
    files = [path for folder in options.folders for path in folder.glob("*.mtx*")]
    files = [
        f for f in files if not name_of(f).endswith(("_b", "_x")) and options.only in name_of(f)
    ]
    files.sort(key=lambda file: -file.stat().st_size)
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        make = options.rhs == "own" and not grid.makes_b
        with concurrent.futures.ProcessPoolExecutor(options.jobs) as pool:
            paths = list(pool.map(unpacked, files, [scratch] * len(files), [make] * len(files)))
        paths += options.case
        print(f"{len(paths)} matrices after {time.monotonic() - grid.began:.0f} s", flush=True)
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            calls = [pool.submit(*job) for job in grid.jobs(paths)]
            for number, call in enumerate(calls):
                call.result()
                if number % 200 == 0:
                    print(f"{number} of {len(calls)}, {grid.left():.0f} s left", flush=True)
    solved = {name for name, *_ in grid.done} & set(grid.fastest)
    print(f"{len(grid.done)} runs; {len(solved)} of {len(paths)} matrices solved")


if __name__ == "__main__":
    sys.exit(main())
