#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes the page of the automatic choice beside the settings of the grid.

usage: page.py OUTPUT.md LIST.json [--host GRID.jsonl AUTO.jsonl] [--cuda GRID.jsonl AUTO.jsonl]
       [--ones GRID.jsonl AUTO.jsonl] [--host-note TEXT] [--cuda-note TEXT] [--note TEXT]

GRID.jsonl has the lines of grid.py, AUTO.jsonl those of grid.py --auto, and LIST.json is the list
of systems.py, which tells the systems that were held out of the tuning. --ones are runs on a CPU
with --rhs ones. Each NOTE is a sentence for the page, for example how many processes ran at a time.
Beside OUTPUT.md the figures are written as JSON: for each system the runs of auto and the fastest
settings. BISAI_COMMIT names the commit that was measured.
"""

import argparse
import collections
import datetime
import json
import math
import pathlib
import statistics
import sys

sys.path.append(f"{sys.path[0]}/../common")
import tables

KEPT = 5  # settings of a system in the JSON
LEAST = 5e-3  # seconds: means are over systems whose fastest setting takes more
FACTOR, EXTRA = 4.0, 0.02  # the limit for each system: FACTOR times the fastest, and EXTRA seconds
GROUPS = {
    "files": "real matrices",
    "tuning": "made systems, tuning",
    "held out": "made systems, held out",
    "cases": "the program's cases"
}
TITLES = {"host": "On a CPU", "cuda": "On a GPU", "ones": "With b = 1, on a CPU"}


def lines_of(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def short(setting):
    """Returns a setting without the words that all have."""
    return setting.replace("--preconditioner ", "").replace("--solver gmres ", "")


class System:
    """The runs of one system on one backend."""

    def __init__(self, name, group, grid, auto):
        self.name, self.group = name, group
        self.settings = {}
        for line in grid:  # medians of several runs replace single ones
            old = self.settings.get(line["setting"])
            if old is None or line.get("repeats", 1) >= old.get("repeats", 1):
                self.settings[line["setting"]] = line
        good = [line for line in self.settings.values() if line["status"] == "converged"]
        self.good = sorted(good, key=lambda line: line["total_s"])
        self.best = self.good[0] if self.good else None
        self.auto = sorted(auto, key=lambda line: line.get("total_s") or math.inf)
        self.solved = bool(auto) and all(line["status"] == "converged" for line in auto)
        self.seconds = statistics.median(line["total_s"] for line in auto) if self.solved else None

    def run(self):
        """Returns the JSON of the run of auto with the median time."""
        return (self.auto[len(self.auto) // 2].get("json") or {}) if self.auto else {}

    def trials(self):
        return (self.run().get("choice") or {}).get("trials", [])

    def chosen(self):
        choice = self.run().get("choice") or {}
        if choice.get("chosen") is None:
            return "–"
        trial = choice["trials"][choice["chosen"]]
        return short(f"{trial['method']} --solver {trial['solver']}")

    def ratio(self):
        return self.seconds / self.best["total_s"] if self.solved and self.best else None

    def within(self):
        return self.ratio() is None or self.seconds <= FACTOR * self.best["total_s"] + EXTRA

    def size(self):
        known = [line["rows"] for line in [*self.auto, *self.settings.values()] if "rows" in line]
        return known[0] if known else "–"

    def figures(self):
        """Returns what the JSON of the page keeps."""
        return {
            "matrix": self.name,
            "group": self.group,
            "rows": self.size(),
            "solved": self.solved,
            "auto_s": self.seconds,
            "chosen": self.chosen(),
            "trials": self.trials(),
            "auto_status": self.auto[0]["status"] if self.auto else None,
            "tried": len(self.settings),
            "converged": len(self.good),
            "fastest": self.good[:KEPT]
        }


def systems_of(splits, grid, auto):
    """Returns the systems that auto was run on."""
    runs, chosen = collections.defaultdict(list), collections.defaultdict(list)
    for line in grid:
        runs[line["matrix"]].append(line)
    for line in auto:
        chosen[line["matrix"]].append(line)

    def group_of(name):
        return splits.get(name, "cases" if " " in name else "files")

    return [System(name, group_of(name), runs[name], chosen[name]) for name in sorted(chosen)]


def mean(ratios):
    return math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else None


def figure(value):
    return "–" if value is None else f"{value:.2f}"


def summary_row(label, systems):
    both = [system for system in systems if system.ratio()]
    large = [system.ratio() for system in both if system.best["total_s"] > LEAST]
    worst = max(both, key=System.ratio, default=None)
    return tables.row(
        label, len(systems), sum(system.solved for system in systems),
        sum(system.best is not None for system in systems),
        sum(system.solved and system.best is None for system in systems),
        sum(system.chosen().startswith("lu") for system in systems if system.solved),
        figure(mean(large)), len(large), figure(mean([system.ratio() for system in both])),
        f"{sum(system.within() for system in both)} of {len(both)}",
        f"{worst.ratio():.1f} ({worst.name})" if worst else "–"
    )


def summary(systems):
    yield from tables.heading(
        "", "systems", "solved by auto", "by some setting", "by auto alone", "auto took lu",
        f"time over the fastest, above {1e3 * LEAST:.0f} ms", "of so many", "all",
        f"within {FACTOR:.0f} × + {1e3 * EXTRA:.0f} ms", "worst"
    )
    for group, label in GROUPS.items():
        members = [system for system in systems if system.group == group]
        if members:
            yield summary_row(label, members)
    yield summary_row("all", systems)


def one_for_all(systems):
    """The settings that solve most systems, each for all of them, beside auto."""
    found = collections.defaultdict(list)
    for system in systems:
        for line in system.good:
            found[line["setting"]].append(line["total_s"] / system.best["total_s"])
    ranked = sorted(found.items(), key=lambda item: (-len(item[1]), mean(item[1])))
    yield from tables.heading("one setting for all", "solved", "time over the fastest")
    ratios = [system.ratio() for system in systems if system.ratio()]
    yield tables.row("auto", sum(s.solved for s in systems), figure(mean(ratios)))
    for setting, times in ranked[:8]:
        yield tables.row(f"`{short(setting)}`", len(times), figure(mean(times)))


def milliseconds(seconds):
    return f"{1e3 * seconds:.3g}"


def table(systems):
    """A row for each system."""
    yield from tables.heading(
        "system", "rows", "chosen", "trials", "auto, ms", "fastest setting", "its time, ms", "ratio"
    )
    for system in systems:
        status = system.auto[0]["status"]
        yield tables.row(
            system.name, system.size(), f"`{system.chosen()}`", len(system.trials()),
            milliseconds(system.seconds) if system.solved else tables.SHORT.get(status, status),
            f"`{short(system.best['setting'])}`" if system.best else "none",
            milliseconds(system.best["total_s"]) if system.best else "–", figure(system.ratio())
        )


def missed(systems):
    """Names the systems that a setting solves and auto does not."""
    names = [f"`{s.name}`" for s in systems if s.best and not s.solved]
    neither = [f"`{s.name}`" for s in systems if not s.best and not s.solved]
    yield f"Solved by a setting and not by auto: {', '.join(names) or 'none'}."
    yield f"Solved by neither: {', '.join(neither) or 'none'}."


def section(title, note, systems):
    yield from ["", f"## {title}", "", f"{note} {of_settings(systems)}".strip(), ""]
    yield from [*summary(systems), "", *missed(systems), ""]
    yield from [*one_for_all(systems), ""]
    for group, label in GROUPS.items():
        members = [system for system in systems if system.group == group]
        if members:
            yield from [f"### {label.capitalize()}", "", *table(members), ""]


def of_settings(systems):
    """Names the settings that were run."""
    names = sorted({short(setting) for system in systems for setting in system.settings})
    return f"The grid has {len(names)} settings: {', '.join(f'`{name}`' for name in names)}."


def heading(options, devices):
    return [
        "# The automatic choice beside settings chosen by hand",
        "",
        f"Commit {tables.measured_commit()}, {datetime.date.today()}, {' and '.join(devices)}, one"
        " thread of the host. `bisai solve FILE` without options (auto) beside the fastest of a"
        " grid of settings, tolerance 1e-8, at most 10000 iterations. A run of the grid is cut"
        " after 20 s of wall clock, or ten times the fastest setting known by then, but not before"
        " 3 s. A time has study, trials, set-up and solve; of auto it is the median of five"
        " runs after a warm-up, of a setting that of one run after a warm-up, or the median of five"
        " where it is among the fastest. b is the matrix's own, otherwise A x with x = 1."
        f" {options.note}",
        "",
        "The real matrices are those of BISAI_MATRICES. The made systems are written by"
        " `bench/auto/systems.py` (scikit-fem, finite volumes, graphs) and not by the program's"
        " cases; a third of them, chosen by a hash of their names, had no part in the tuning of the"
        f" choice. Made by `{tables.command_line()}` from the lines of `bench/auto/grid.py`.",
    ]


def parsed():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("output", type=pathlib.Path)
    parser.add_argument("list", type=pathlib.Path)
    for kind in TITLES:
        parser.add_argument(f"--{kind}", nargs=2, type=pathlib.Path)
        parser.add_argument(f"--{kind}-note", default="")
    parser.add_argument("--note", default="")
    return parser.parse_args()


def main():
    options = parsed()
    splits = {row["name"]: row["split"] for row in json.loads(options.list.read_text())}
    lines, figures, devices = [], [], []
    for kind, title in TITLES.items():
        files = getattr(options, kind)
        if not files:
            continue
        grid, auto = map(lines_of, files)
        systems = systems_of(splits, grid, auto)
        devices += [line["device"] for line in auto
                    if line.get("device") not in (None, *devices)][:1]
        lines += section(title, getattr(options, f"{kind}_note"), systems)
        figures += [{"kind": kind, **system.figures()} for system in systems]
    tables.write(options.output, [*heading(options, devices), *lines], figures)


if __name__ == "__main__":
    main()
