#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Times multigrid of bisai over ranks of MPI beside hypre's BoomerAMG and PETSc's GAMG.

usage: petsc_ranks.py BUILD OUTPUT.md [--ranks 2,4,8,16] [--systems NAME,...] [--at-once]
       [--turns N] [--cut F] [--seconds SECONDS] [--launch WORDS] [--smaller K]

BUILD is a build of bisai with bench_petsc_ranks, which does the work and whose PETSc has hypre.
SYSTEMS below are the systems with their bars, and SETTINGS the settings of each method. All
settings of a system run in one job, bisai first and last, each --turns times (default 2). A
setting that takes longer than --cut times bisai's set-up and solve (default 3) is cut off.
With --at-once, jobs run side by side as long as there are processors, each on its own; those that
need all processors run alone. What has not ended after --seconds is ended, and the page has what is
there. --smaller divides the nodes of a side, to try the script. --launch are the words that start a
job, with {ranks} for their number: on several nodes, for example, "srun -n {ranks}". OUTPUT.json
has all settings.
"""

import argparse
import datetime
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

sys.path.append(f"{sys.path[0]}/../common")
import tables
from ranks import RANKS

# case: name, nodes of a side, tolerance, bars of BoomerAMG and GAMG over bisai, whether all take a
# matrix of points: the blocks of this system are points of a line, and have zeros inside
SYSTEMS = {
    "elasticity": ("elasticity {}³", 40, "1e-8", 2.0, 1.3, False),
    "convdiff": ("convection–diffusion {}³", 100, "1e-8", 2.0, None, True),
    "reaction": ("reaction {}²", 512, "1e-8", 1.3, None, False),
    "cavity": ("cavity {}²", 300, "1e-5", 1.3, None, False),
}
OWN = "-pc_type bisai -pc_bisai_type mg"
AMG = "-pc_hypre_boomeramg_"
SETTINGS = [
    ("BoomerAMG", "defaults", ""),
    ("BoomerAMG", "strength 0.5, PMIS, ext+i",
     f"{AMG}strong_threshold 0.5 {AMG}coarsen_type PMIS {AMG}interp_type ext+i"),
    ("BoomerAMG", "HMIS, ext+i, one aggressive level",
     f"{AMG}coarsen_type HMIS {AMG}interp_type ext+i {AMG}agg_nl 1"),
    ("BoomerAMG", "nodal 6, strength 0.5, PMIS, ext+i",
     f"{AMG}nodal_coarsen 6 {AMG}strong_threshold 0.5 {AMG}coarsen_type PMIS "
     f"{AMG}interp_type ext+i"),
    ("BoomerAMG", "strength 0.7, HMIS, ext+i, P of at most 4",
     f"{AMG}strong_threshold 0.7 {AMG}coarsen_type HMIS {AMG}interp_type ext+i {AMG}P_max 4"),
    ("GAMG", "defaults", ""),
    ("GAMG", "GMRES(2) with ILU",
     "-mg_levels_ksp_type gmres -mg_levels_ksp_max_it 2 -mg_levels_pc_type bjacobi "
     "-ksp_type fgmres"),
    ("GAMG", "not smoothed", "-pc_gamg_agg_nsmooths 0"),
    ("GAMG", "threshold 0.02, point blocks",
     "-pc_gamg_threshold 0.02 -mg_levels_pc_type pbjacobi"),
    ("GAMG", "threshold 0.05", "-pc_gamg_threshold 0.05"),
]
# of systems with points, instead of the nodal one
POINTS = ("BoomerAMG", "strength 0.5, HMIS, ext+i, P of at most 4",
          f"{AMG}strong_threshold 0.5 {AMG}coarsen_type HMIS {AMG}interp_type ext+i {AMG}P_max 4")
PEERS = {"BoomerAMG": "-pc_type hypre -pc_hypre_type boomeramg", "GAMG": "-pc_type gamg"}


def settings_of(system):
    """Yields (method, setting, options): bisai first and last."""
    *_, boomeramg, gamg, points = SYSTEMS[system]
    bars = {"BoomerAMG": boomeramg, "GAMG": gamg}
    where = " -points 1" if points else ""
    own = ("bisai", "mg", f"{OWN}{where}")
    yield own
    for method, setting, options in SETTINGS:
        if not bars[method]:
            continue
        if points and "nodal" in setting:
            method, setting, options = POINTS
        yield method, setting, f"{PEERS[method]} {options}{where}"
    yield own


class Job:
    """One system on a number of ranks."""

    def __init__(self, options, system, ranks, folder):
        _, size, tolerance, *_ = SYSTEMS[system]
        self.system, self.ranks, self.nodes = system, ranks, size // options.smaller
        self.places = self.file = self.process = self.status = None
        name = f"{system}-{ranks}"
        self.settings, self.output = folder / f"{name}.settings", folder / f"{name}.json"
        self.settings.write_text(
            "".join(f"{method}|{setting}:{words}\n" for method, setting, words in
                    settings_of(system)))
        self.command = [
            *options.launch.format(ranks=ranks).split(),
            str(pathlib.Path(options.build) / "bench/bench_petsc_ranks"), "-case", system,
            "-size", str(self.nodes), "-mat_type", "aij", "-ksp_rtol", tolerance, "-ksp_max_it",
            "100", "-settings", str(self.settings), "-turns", str(options.turns), "-cut",
            str(options.cut),
        ]

    def start(self, places):
        self.places = places
        command = ["taskset", "-c", ",".join(map(str, places)), *self.command]
        self.file = open(self.output, "w")
        self.process = subprocess.Popen(command, env={**os.environ, **RANKS}, stdout=self.file,
                                        stderr=subprocess.STDOUT)

    def ended(self, late):
        """Whether the job has ended, by itself or because it is late."""
        if self.process.poll() is None:
            if not late:
                return False
            self.process.terminate()
            self.process.wait()
        self.status = "late" if late else self.process.returncode
        self.file.close()
        return True

    def rows(self):
        """The lines that the job has printed. A job that ended early has fewer."""
        lines = self.output.read_text().splitlines() if self.output.exists() else []
        result = []
        for line in lines:
            if line.startswith("{") and line.endswith("}"):
                row = json.loads(line)
                method, setting = row.pop("setting").split("|")
                result.append({"system": self.system, "nodes": self.nodes, "ranks": self.ranks,
                               "method": method, "setting": setting, **row})
        return result


def measure(options, folder):
    """Runs all jobs. Returns their rows, and how many jobs did not begin."""
    ranks = [int(r) for r in options.ranks.split(",")]
    systems = [name for name in SYSTEMS if name in options.systems.split(",")]
    waiting = [Job(options, system, r, folder) for r in ranks for system in systems]
    done, running, free = [], [], [number for _, number in tables.processors()]
    end, most = time.monotonic() + options.seconds, len(free)
    while waiting or running:
        late = time.monotonic() > end
        for job in [job for job in running if job.ended(late)]:
            running.remove(job)
            free += job.places
            done.append(job)
            print(job.system, job.ranks, "ranks:", len(job.rows()), "lines, status", job.status,
                  flush=True)
        while waiting and not late and (not running or options.at_once and
                                        min(waiting[0].ranks, most) <= len(free)):
            job = waiting.pop(0)
            taken = sorted(free)[: min(job.ranks, most)]
            free = [number for number in free if number not in taken]
            job.start(taken)
            running.append(job)
        if late:
            break
        time.sleep(0.1)
    return [row for job in done for row in job.rows()], len(waiting)


def total(row):
    return row["set_up_ms"] + row["solve_ms"]


def converged(row):
    return row["reason"].startswith("CONVERGED")


def best(rows, method):
    good = [row for row in rows if row["method"] == method and converged(row)]
    return min(good, key=total) if good else None


def times(row):
    return f"{row['iterations']}, {row['set_up_ms']:.0f} + {row['solve_ms']:.0f}"


def cells(rows, own, method, bar):
    """Its best setting, and the ratio; bars that are missed are bold."""
    of = [row for row in rows if row["method"] == method]
    if not of:
        return ["–", "–"]
    found, cut = best(rows, method), [row for row in of if row["reason"] == "cut off"]
    if found:
        ratio = total(found) / total(own)
        text = f"{ratio:.2f}" if ratio >= bar else f"**{ratio:.2f}**"
        return [f"{times(found)} ({found['setting']})", text]
    if not cut:
        return ["none converges in 100", "–"]
    return [f"{len(cut)} of {len(of)} cut off", f"> {min(map(total, cut)) / total(own):.1f}"]


def name_of(row):
    return SYSTEMS[row["system"]][0].format(row["nodes"])


def groups(rows):
    """Yields (system, ranks, rows) with a time of bisai."""
    order = list(SYSTEMS)
    for system, ranks in sorted({(row["system"], row["ranks"]) for row in rows},
                                key=lambda pair: (order.index(pair[0]), pair[1])):
        here = [row for row in rows if (row["system"], row["ranks"]) == (system, ranks)]
        if best(here, "bisai"):
            yield system, ranks, here


def table(rows):
    lines = ["| system | ranks | bisai | new values | BoomerAMG | over bisai | GAMG | over bisai |",
             "|---|---|---|---|---|---|---|---|"]
    for system, ranks, here in groups(rows):
        *_, boomeramg, gamg, _ = SYSTEMS[system]
        own = best(here, "bisai")
        update = min(row["update_ms"] for row in here
                     if row["method"] == "bisai" and converged(row))
        lines.append(
            "| " + " | ".join([
                name_of(own), str(ranks), times(own),
                f"{update:.0f}, {update / own['set_up_ms']:.2f}",
                *cells(here, own, "BoomerAMG", boomeramg), *cells(here, own, "GAMG", gamg or 0)
            ]) + " |")
    return lines


def phase(row, name):
    calls = row[f"{name}_mpi"]
    inside = calls["collectives_ms"] + calls["waits_ms"]
    return (f"{row[f'{name}_ms']:.0f}, {calls['collectives']} in {calls['collectives_ms']:.0f}, "
            f"{calls['waits']} in {calls['waits_ms']:.0f}, {row[f'{name}_ms'] - inside:.0f}")


def phases(rows):
    """bisai and the best setting of each peer: where set-up and solve spend their time."""
    lines = ["| system | ranks | method | set-up: ms, collective calls, waits, rest | "
             "solve: the same | ms an iteration |", "|---|---|---|---|---|---|"]
    for system, ranks, here in groups(rows):
        for method in ("bisai", *PEERS):
            row = best(here, method)
            if row:
                lines.append(f"| {name_of(row)} | {ranks} | {method} | {phase(row, 'set_up')} | "
                             f"{phase(row, 'solve')} | "
                             f"{row['solve_ms'] / max(row['iterations'], 1):.2f} |")
    return lines


def page(options, rows, left):
    bars = ", ".join(
        f"{name.split(' ')[0]} {boomeramg:g}" for name, *_, boomeramg, _, _ in SYSTEMS.values())
    side = ("Jobs ran side by side, each on processors of its own" if options.at_once
            else "One job ran at a time")
    cut_off = f" {left} jobs did not begin in the time." if left else ""
    lines = [
        "# Multigrid over ranks of MPI: bisai, BoomerAMG and GAMG", "",
        f"{datetime.date.today()}, commit {tables.measured_commit()}, {tables.processor()}, "
        f"{len(tables.processors())} processors, "
        f"compiled for {tables.built_for(options.build)}. "
        f"`{tables.command_line()}`. {side}.{cut_off}", "",
        "bench_petsc_ranks, boxes of the grid, AIJ with the block size of the case, FGMRES(30) "
        "with right preconditioning or CG, true residual norm, at most 100 iterations. "
        "Convection–diffusion has points instead of blocks, with which all are faster. A cell is "
        "iterations, and milliseconds of set-up + solve of the slowest rank, the better of "
        f"{options.turns} turns; bisai ran first and last. Settings that take {options.cut:g} "
        "times as long as bisai were cut off. *New values* is a set-up with values changed, and "
        "its part of the first one. Bars of BoomerAMG over bisai: "
        f"{bars}; of GAMG: elasticity 1.3. Bold: missed.", "", *table(rows), "",
        "Settings: " + "; ".join(
            f"{method}: " + ", or ".join(s for m, s, _ in SETTINGS if m == method)
            for method in PEERS) + f". Convection–diffusion: “{POINTS[1]}” instead of nodal.", "",
        "## Phases", "",
        "Milliseconds of the slowest rank. Of these: collective calls of MPI and their time, "
        "waits for messages and their time, both in the mean of all ranks and with waiting for "
        "slower ranks, and the rest, which is work.", "", *phases(rows),
    ]
    tables.write(pathlib.Path(options.output), lines, tables.recorded(rows))


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1].split("\n\n")[0])
    parser.add_argument("build")
    parser.add_argument("output")
    parser.add_argument("--ranks", default="2,4,8,16")
    parser.add_argument("--systems", default=",".join(SYSTEMS))
    parser.add_argument("--at-once", action="store_true")
    parser.add_argument("--turns", type=int, default=2)
    parser.add_argument("--cut", type=float, default=3)
    parser.add_argument("--seconds", type=float, default=1e9)
    parser.add_argument("--smaller", type=int, default=1)
    parser.add_argument("--launch", default="mpirun --oversubscribe --bind-to none -n {ranks}")
    options = parser.parse_args()
    unknown = set(options.systems.split(",")) - set(SYSTEMS)
    if unknown:
        parser.error(f"no system {min(unknown)!r}: take {', '.join(SYSTEMS)}")
    with tempfile.TemporaryDirectory() as folder:
        rows, left = measure(options, pathlib.Path(folder))
    page(options, rows, left)
    return 0 if rows and not left else 1


if __name__ == "__main__":
    sys.exit(main())
