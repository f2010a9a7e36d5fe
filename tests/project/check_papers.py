# SPDX-License-Identifier: BSD-3-Clause
"""Checks bench/papers: its page has each paper, each row names its figures and its command, with
made-up figures and without any.

usage: check_papers.py BENCH          the modules as they are; the committed page is theirs
       check_papers.py BENCH faulty   a module with faulty rows; the page has to refuse it
       check_papers.py BENCH kept     stored figures and pictures stay if there are no better ones;
                                      a script stands for the program, and another for gnuplot"""
import importlib.util
import itertools
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import types

bench = pathlib.Path(sys.argv[1])
papers = bench / "papers"
sys.path[:0] = [str(bench / "common"), str(papers)]
import common  # noqa: E402
import items  # noqa: E402
import tables  # noqa: E402

problems = []


def check(good, text):
    if not good:
        problems.append(text)


def program():
    """Returns bench/papers/__main__.py as a module."""
    spec = importlib.util.spec_from_file_location("papers", papers / "__main__.py")
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


def run(folder, *arguments):
    return subprocess.run(
        [sys.executable, str(papers), "--no-measure", "--results", str(folder), *arguments],
        capture_output=True, text=True)


def made_up_run(method, seconds, iterations):
    names = ("factor_s", "setup_s", "apply30_s", "solve_s", "total_s", "least_total_s")
    inverses = dict.fromkeys(("pattern_s", "values_s"), seconds if "isai" in method else None)
    return {"converged": True, "reason": "converged", "iterations": iterations, "repeats": 5,
            **dict.fromkeys(names, seconds), **inverses}


def made_up_figures(module):
    """Returns figures of block-ISAI in which method number i takes 2^i seconds."""
    cases = {}
    for case in module.CASES:
        methods = [*case.published, module.OWN, *module.THEIRS]
        cases[case.name] = {
            "source": "stand-in", "matrix": {"block_rows": 300},
            "runs": {m: made_up_run(m, 2.0**i, 10 + i) for i, m in enumerate(methods)}}
    return {**cases, "pattern": {"block_rows": 300, "cells": [[0, 0, 5], [1, 1, 2]]}}


def check_papers():
    main = program()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        done = run(folder)
        page = (folder / "papers.md").read_text() if done.returncode == 0 else ""
        check(page, f"without figures: {done.stderr}")
        for module in main.modules():
            check(f"## {module.TITLE}" in page, f"{module.NAME}: not on the page")
            rows = list(module.rows({}))
            problems.extend(f"{module.NAME}: {fault}" for fault in common.faults(rows))
            check(any(row.ours == common.NOT_MEASURED for row in rows),
                  f"{module.NAME}: has figures before they are measured")

        made = {"date": "today", "commit": "0123abc", "machine": "a machine", "command": "make it",
                "quick": True}
        for module, backend in itertools.product(main.modules(), common.BACKENDS):
            common.write_figures(common.figures_path(folder, module.NAME, backend), made, {})
        done = run(folder)
        check(done.returncode == 0 and not done.stderr, f"with empty figures: {done.stderr}")

        module = next(m for m in main.modules() if m.NAME == "block-isai")
        for backend in common.BACKENDS:
            common.write_figures(common.figures_path(folder, module.NAME, backend), made,
                                 made_up_figures(module))
        done = run(folder)
        page = (folder / "papers.md").read_text()
        check(done.returncode == 0, f"with figures: {done.stderr}")
        # ISAI(1) is the third method: 4 s, and 4 s/30 for each of its 12 applications.
        check("GPU: 1600 ms, 4000 ms, 12 (" in page, "ISAI(1) of the cavity is not on the page")
        # PETSc takes 1 s, and ISAI(3) 16 s and as much for each part of its set-up.
        check("0.0208 × PETSc" in page, "the speed-up over PETSc is not on the page")
        check("commit 0123abc" in page and "a quick try" in page, "the record is not on the page")
        check(not any("not measured" in line and "Table 3" in line for line in page.split("\n")),
              "rows of table 3 are not measured")


def check_items():
    """Each item has a state and a command."""
    for item in items.ITEMS:
        check(all(part.strip() for part in item), f"{item.what}: a part is missing")
        check(item.state in items.STATES, f"{item.what}: {item.state} is no state")


def check_page():
    """The committed page is made of the committed figures; pictures need not be drawn again."""
    results = bench / "results"
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for path in results.glob("papers-*"):
            shutil.copy(path, folder)
        done = run(folder)
        check(done.returncode == 0, f"committed figures: {done.stderr}")
        if done.returncode == 0:
            same = (folder / "papers.md").read_text() == (results / "papers.md").read_text()
            check(same, "results/papers.md: make it again by python3 bench/papers --no-measure")


def check_faults():
    main = program()
    faulty = types.SimpleNamespace(NAME="faulty", TITLE="Faulty", INTRODUCTION="A paper.",
                                   draw=lambda found, folder: [],
                                   rows=lambda found: [
                                       common.row("Table 8", published="1 s", command="true"),
                                       common.row("Table 9", published="", command="true"),
                                       common.row("Figure 9", published="2 s", command=" ")])
    try:
        list(main.section(faulty, pathlib.Path("/nowhere")))
    except SystemExit as refusal:
        problems.append(str(refusal))


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

    def command(self, *arguments):
        return [sys.executable, str(papers), *map(str, arguments), "--results", str(self.results)]

    def environment(self, path=os.environ["PATH"], matrices=""):
        return {**os.environ, "PATH": f"{self.bin}{os.pathsep}{path}", "BISAI_MATRICES": matrices}

    def run(self, *arguments, **environment):
        return subprocess.run(self.command(*arguments), capture_output=True, text=True,
                              env=self.environment(**environment))

    def changed(self):
        after = self.files()
        return [name for name, data in self.before.items() if after.get(name) != data]

    def expect_kept(self, what, done, message):
        check(done.returncode != 0, f"{what}: the exit status is 0")
        check(message in done.stderr, f"{what}: {done.stderr}")
        check(not self.changed(), f"{what}: changes {', '.join(self.changed())}")


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
    (place.bin / "gnuplot").unlink()
    done = place.run("--no-measure", path="")
    check(done.returncode == 0, f"without gnuplot: {done.stderr}")
    check(place.files() == place.before, "a machine without gnuplot changes something")


# Stands for the program: block-ISAI works, and what follows takes longer than anyone waits.
HALFWAY = """for last; do :; done
case "$1 $*" in
solve*) ;;
convert*)
  printf '%s\\n' '%%MatrixMarket matrix coordinate real general' '4 4 1' '1 1 1' > "$last" ;;
*gmres*--json*) echo '{"matrix": {"block_rows": 1}, "runs": []}' > "$last" ;;
*) echo waiting > "$0.waits" ; exec sleep 600 ;;
esac
"""


def check_kill(place):
    """A run is killed after its first paper. The figures of this paper wait beside the old ones."""
    script(place.build / "bisai", HALFWAY)
    run = subprocess.Popen(place.command(place.build, "--backend", "host"), text=True,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                           env=place.environment(), start_new_session=True)
    waits = pathlib.Path(f"{place.build / 'bisai'}.waits")
    end = time.monotonic() + 60
    while not waits.exists() and run.poll() is None and time.monotonic() < end:
        time.sleep(0.02)
    check(run.poll() is None and waits.exists(), "the run that is killed does not wait")
    os.killpg(run.pid, signal.SIGKILL)
    run.wait()
    check(not place.changed(), f"a run that is killed changes {', '.join(place.changed())}")
    check((place.results / "papers-block-isai-host.new.json").exists(),
          "a run that is killed leaves no figures of papers that it had measured")


def check_limit(folder):
    """What a limit leaves out is named on the page, and so is what fails."""
    results, build = folder / "results", folder / "build"
    build.mkdir()
    (build / "CMakeCache.txt").write_text("BISAI_NATIVE:BOOL=OFF\n")
    script(build / "bisai", 'test "$1" = solve && exit 0\necho broken >&2\nexit 3\n')
    for limit, text in ("0", "No time was left"), ("1000", "A program failed"):
        command = [sys.executable, str(papers), str(build), "--backend", "host", "--results",
                   str(results), "--only", "gauss-huard", "--seconds", limit]
        done = subprocess.run(command, capture_output=True, text=True)
        page = " ".join((results / "papers.md").read_text().split())
        wanted = f"{text} on the host (gauss-huard) for BiCGSTAB, atmosphere; BiCGSTAB, convdiff"
        check(wanted in page, f"--seconds {limit}: the page lacks '{wanted}': {done.stderr}")


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


# Stands for the program: writes what it is asked to files, and answers each question.
ANSWERS = """
import json, sys
words = sys.argv[1:]
open(sys.argv[0] + ".asked", "a").write(" ".join(words) + "\\n")
times = ("factor_s pattern_s values_s setup_s analysis_s apply30_s solve_s total_s least_total_s")
run = {**dict.fromkeys(times.split(), 1.0), "converged": True, "iterations": 10, "repeats": 1,
       "diagonal": {"relax_radius": 0.5, "bytes": 8, "by_format": {"fp64": 1}}}
if words[0] == "convert":
    open(words[-1], "w").write("%%MatrixMarket matrix coordinate real general\\n4 4 1\\n1 1 1\\n")
elif "--json" in words:
    count = len(words[words.index("--methods") + 1].split(",")) if "--methods" in words else 0
    found = {"matrix": {"block_rows": 300, "block_size": 4, "blocks": 90000}, "runs": [run] * count,
             "figures": []}
    json.dump(found, open(words[words.index("--json") + 1], "w"))
"""
# one of each list, and one that stands in for another
HELD = ("venkat50", "bcsstk17", "Dubcova2", "olm1000")


def check_matrices(folder):
    """The matrices of the papers that are there are measured instead of their stand-ins."""
    results, build, held = (folder / n for n in ("results", "build", "held"))
    for made in build / "bench", held:
        made.mkdir(parents=True)
    (build / "CMakeCache.txt").write_text("BISAI_NATIVE:BOOL=OFF\n")
    (build / "answers.py").write_text(ANSWERS)
    for name in "bisai", "bench/bench_formats":
        script(build / name, f'exec "{sys.executable}" "{build}/answers.py" "$@"\n')
    for name in HELD:
        (held / f"{name}.mtx").write_text("%%MatrixMarket matrix coordinate real general\n")
    done = subprocess.run(
        [sys.executable, str(papers), str(build), "--backend", "host", "--results", str(results)],
        capture_output=True, text=True, env={**os.environ, "BISAI_MATRICES": str(held)})
    check(done.returncode == 0, f"a folder of matrices: {done.stderr}")
    asked = (build / "answers.py.asked").read_text()
    for name in HELD:
        check(f"compare {held}/{name}.mtx " in asked, f"{name} is not measured")
    for stand_in in "euler --size 102", "/bcsstk16.mtx":
        check(stand_in not in asked, f"{stand_in} is measured, although the matrix is there")
    check("--case atmosphere" in asked, "a matrix that is not there has no stand-in")
    page = (results / "papers.md").read_text()
    rows = [line for line in page.splitlines() if line.startswith("| ")]
    for begin, note in (("Table 4, venkat50, ISAI(1)", "the matrix itself, b of ones"),
                        ("Table 2, bcsstk17", "the matrix itself"),
                        ("Table 2, olm5000", "stand-in: olm1000"),
                        ("Table 1: the 76 matrices", "1 of the 76 matrices"),
                        ("Table 1, atmosmodd, ISAI(1)", "stand-in: case `atmosphere`")):
        found = [line for line in rows if line.startswith(f"| {begin}")]
        check(found and note in found[0], f"{begin}: the page lacks '{note}'")


def check_kept():
    for checked in check_refusals, check_failures, check_pictures, check_kill:
        with tempfile.TemporaryDirectory() as name:
            checked(Place(pathlib.Path(name)))
    with tempfile.TemporaryDirectory() as name:
        check_whole(pathlib.Path(name))
    with tempfile.TemporaryDirectory() as name:
        check_limit(pathlib.Path(name))
    with tempfile.TemporaryDirectory() as name:
        check_matrices(pathlib.Path(name))
    check_lost()


if sys.argv[2:] == ["faulty"]:
    check_faults()
elif sys.argv[2:] == ["kept"]:
    check_kept()
else:
    check_papers()
    check_items()
    check_page()
print("\n".join(problems) or "no problems")
sys.exit(bool(problems))
