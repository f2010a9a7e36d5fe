# SPDX-License-Identifier: BSD-3-Clause
"""Checks that bench/papers keeps stored figures and pictures when it cannot make better ones.

usage: check_papers_kept.py BENCH

A script stands for the program bisai, and another for gnuplot."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

bench = pathlib.Path(sys.argv[1])
sys.path[:0] = [str(bench / "common"), str(bench / "papers")]
import common  # noqa: E402
import tables  # noqa: E402

problems = []


def check(good, text):
    if not good:
        problems.append(text)


def script(path, lines):
    path.write_text("#!/bin/sh\n" + lines)
    path.chmod(0o755)


class Place:
    """A folder with the committed figures, a build and a folder of programs."""

    def __init__(self, folder):
        self.results, self.build, self.bin = (folder / n for n in ("results", "build", "bin"))
        for made in self.results, self.build, self.bin:
            made.mkdir()
        (self.build / "CMakeCache.txt").write_text("BISAI_NATIVE:BOOL=OFF\n")
        for path in [*(bench / "results").glob("papers-*"), bench / "results" / "papers.md"]:
            shutil.copy(path, self.results)
        self.before = self.files()

    def files(self):
        return {path.name: path.read_bytes() for path in self.results.iterdir()}

    def run(self, *arguments):
        environment = {**os.environ, "PATH": f"{self.bin}{os.pathsep}{os.environ['PATH']}",
                       "BISAI_MATRICES": ""}
        return subprocess.run(
            [sys.executable, str(bench / "papers"), *map(str, arguments), "--results",
             str(self.results)],
            capture_output=True, text=True, env=environment)

    def expect_kept(self, what, done, message):
        check(done.returncode != 0, f"{what}: the exit status is 0")
        check(message in done.stderr, f"{what}: {done.stderr}")
        after = self.files()
        changed = [name for name, data in self.before.items() if after.get(name) != data]
        check(not changed, f"{what}: changes {', '.join(changed)}")


def check_refusals(place):
    done = place.run(place.build)
    place.expect_kept("a build without the program", done, "bisai is missing")
    script(place.build / "bisai", 'echo "bisai: --backend cuda: no GPU here" >&2\nexit 2\n')
    place.expect_kept("a machine without a GPU", place.run(place.build), "no GPU here")
    script(place.build / "bisai", "exit 0\n")
    done = place.run(place.build, "--backend", "host", "--quick")
    place.expect_kept("--quick", done, "--quick needs other --results")


def check_failures(place):
    """The backend is there, and every measurement fails."""
    script(place.bin / "gnuplot", "exit 1\n")
    script(place.build / "bisai", 'test "$1" = solve && exit 0\necho broken >&2\nexit 3\n')
    for backend in common.BACKENDS:
        done = place.run(place.build, "--backend", backend)
        place.expect_kept(f"failing measurements, {backend}", done, "stays, because")


def check_pictures(place):
    script(place.bin / "gnuplot", "echo nothing to draw >&2\nexit 1\n")
    done = place.run("--no-measure")
    check(done.returncode == 0, f"a failing gnuplot: {done.stderr}")
    check("not drawn" in done.stderr, "a failing gnuplot is not named")
    check(place.files() == place.before, "a failing gnuplot changes something")


def check_whole(folder):
    """What stops the program before the new file is complete leaves the old one."""
    path = folder / "figures.json"
    tables.write_json(path, [1])
    try:
        tables.write_json(path, [object()])
    except TypeError:
        pass
    replace, pathlib.Path.replace = pathlib.Path.replace, None
    try:
        tables.write_json(path, [2])
    except TypeError:
        pass
    finally:
        pathlib.Path.replace = replace
    check(tables.read_json(path) == [1], "a file that is not complete replaces the old one")


def check_lost():
    stored = {"solves": {"a": {"runs": {"x": {"s": 1.0}, "y": {"s": 2.0}}}, "b": {"s": 1}},
              "forms": [{"s": 1}], "names": ["none"]}
    check(common.lost(stored, stored) == [], "figures are lost that are there")
    check(common.lost(stored, {}) == ["forms", "solves"], "whole parts that are lost")
    part = {**stored, "solves": {"a": {"runs": {"x": {"s": 3.0}, "y": {"s": None}}}}}
    check(common.lost(stored, part) == ["solves: b"], f"{common.lost(stored, part)}")


for checked in check_refusals, check_failures, check_pictures:
    with tempfile.TemporaryDirectory() as name:
        checked(Place(pathlib.Path(name)))
with tempfile.TemporaryDirectory() as name:
    check_whole(pathlib.Path(name))
check_lost()
print("\n".join(problems) or "no problems")
sys.exit(bool(problems))
