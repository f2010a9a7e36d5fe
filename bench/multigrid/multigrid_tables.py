#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes a page of tables and a figure from the results of bench_multigrid.

usage: multigrid_tables.py OUTPUT.md RESULTS.json… [--title TEXT]

Writes OUTPUT.md, OUTPUT.json with all results, and OUTPUT.svg: iterations and times over the number
of unknowns. Results of the same system and method in a later file replace those of an earlier one.
Needs gnuplot.
"""

import argparse
import math
import pathlib
import shutil
import sys

sys.path.append(f"{sys.path[0]}/../common")
import pictures
import tables

# system: most iterations, most milliseconds of set-up and solve
GOALS = {
    "cavity:250": (22, None),
    "cavity:300": (None, 10),
    "cavity:500": (22, None),
    "cavity:1000": (22, 45),
    "cavity:2000": (22, 160),
    "convdiff:148x148x58": (None, 25),
    "convdiff:250x250x250": (None, 200),
    "elasticity:100": (20, 200),
    "inclusion:100": (26, 200),
    "poisson:200": (22, 80),
    "reaction:512": (25, None),
}
# counts that hardly grow
FLAT = ("cavity:250", "cavity:500", "cavity:1000", "cavity:2000")
# the largest number of more or fewer iterations on a changed system, by the beginning of its name
ROBUST = {"block rows permuted": 3, "A and b": 0, "block rows times": 5}
UPDATE, UPDATE_KEPT, PEAK = 0.4, 0.2, 2.5
COARSE_PART = 0.35

COLOURS = ["#4477aa", "#ee6677", "#228833", "#b8860b", "#66ccee", "#aa3377"]


def number(value):
    return f"{value:.3g}" if value < 1000 else f"{value:.0f}"


def milliseconds(seconds):
    return number(1e3 * seconds)


def rate(bytes_per_second):
    return f"{number(1e-9 * bytes_per_second)} GB/s"


def unknowns(record):
    return record["block_rows"] * record["block_size"]


def name_of(record):
    """Returns the method and, unless it is the usual one of multigrid, the solver."""
    return f"`{record['method']}`, {record['solver']}"


def is_default(record):
    return record["method"] == "mg"


def converged(record):
    return record["reason"] == "converged"


def verdict(found, limit):
    return "–" if limit is None else f"{limit} ({'met' if found <= limit else '**missed**'})"


def goals(figures):
    rows = []
    for record in figures["all in"]:
        if not is_default(record) or record["system"] not in GOALS:
            continue
        iterations, most = GOALS[record["system"]]
        found = record["iterations"] if converged(record) else math.inf
        ms = 1e3 * record["sum_minimum"] if converged(record) else math.inf
        rows.append(
            (record["system"], found, verdict(found, iterations), number(ms), verdict(ms, most))
        )
    if not rows:
        return
    yield from section("Goals", "The method `mg` without keys; the minimum of set-up and solve.")
    yield from tables.heading("system", "iterations", "at most", "ms", "at most")
    yield from (tables.row(*row) for row in rows)
    counts = [
        record["iterations"]
        for record in figures["all in"]
        if is_default(record) and record["system"] in FLAT
    ]
    if len(counts) > 1:
        yield ""
        yield (
            f"Cavity, 250² to 2000²: the most iterations are {max(counts) / min(counts):.2f} times"
            " the fewest. The goal is 1.25."
        )


# what, on which systems, by which methods; the most that is allowed
RESERVOIR_GOALS = [
    ("set-up, ms", "opm_spe9_s7", "setup_minimum", 5), ("update, ms", "opm_spe9_s7", "update", 1.5),
    ("solve, ms", "opm_spe9_s7", "solve_minimum", 1.2),
    ("iterations", "reservoir:100", "iterations", 25),
    ("set-up and solve, ms", "reservoir:100", "sum_minimum", 120),
    ("iterations", "reservoir3:100", "iterations", 25),
    ("set-up and solve, ms", "reservoir3:100", "sum_minimum", 120)
]


def reservoir_goals(figures):
    """The best of the methods of kind `cpr`, beside the goals."""
    rows = []
    for what, system, key, most in RESERVOIR_GOALS:
        kind = "update" if key == "update" else "all in"
        found = [
            (record["minimum" if key == "update" else key], record["method"])
            for record in figures[kind]
            if record["system"].removesuffix(".mtx") == system
            and record["method"].startswith("cpr")
            and not record.get("keep_transfers")
            and (kind == "update" or converged(record))
        ]
        if found:
            value, method = min(found)
            value = value if key == "iterations" else 1e3 * value
            rows.append((system, what, f"`{method}`", number(value), verdict(value, most)))
    if rows:
        yield from section("Goals", "The best of the methods `cpr`. Times are minima.")
        yield from tables.heading("system", "figure", "best method", "found", "at most")
        yield from (tables.row(*row) for row in rows)


def section(title, *lines):
    return ["", f"## {title}", "", *lines, ""] if lines else ["", f"## {title}", ""]


def all_in(figures):
    yield from section(
        "Set-up and solve",
        "Milliseconds from nothing but the matrix, b and x in the memory of the device. *cold* is"
        " the first time in the process.",
    )
    yield from tables.heading(
        "system", "unknowns", "method", "iterations", "set-up", "solve", "sum, minimum",
        "sum, median", "cold", "true residual"
    )
    for record in figures["all in"]:
        yield tables.row(
            record["system"], unknowns(record), name_of(record),
            record["iterations"] if converged(record) else record["reason"],
            milliseconds(record["setup_minimum"]), milliseconds(record["solve_minimum"]),
            milliseconds(record["sum_minimum"]), milliseconds(record["sum_median"]),
            milliseconds(record["cold_setup"] + record["cold_solve"]),
            f"{record['relative_residual']:.1e}"
        )
    for record in figures["refused"]:
        yield tables.row(
            record["system"], unknowns(record), name_of(record), record["status"], *"––––––"
        )


def of_one_level(record):
    return not record["method"].startswith(("mg", "cpr"))


def one_level(figures):
    """The least time of multigrid or CPR and of a method of one level on the same system."""
    systems = {}
    for record in figures["all in"]:
        systems.setdefault(record["system"], []).append(record)
    rows = []
    for system, records in systems.items():
        single = [record for record in records if of_one_level(record)]
        several = [r for r in records if not of_one_level(r) and converged(r)]
        if not single or not several:
            continue
        ours = min(several, key=lambda record: record["sum_minimum"])
        for record in single:
            ratio = record["sum_minimum"] / ours["sum_minimum"]
            rows.append(
                (
                    system, name_of(ours), ours["iterations"], milliseconds(ours["sum_minimum"]),
                    name_of(record),
                    record["iterations"] if converged(record) else record["reason"],
                    milliseconds(record["sum_minimum"]),
                    f"{ratio:.1f}" if converged(record) else "–"
                )
            )
    if not rows:
        return
    yield from section(
        "Beside one level",
        "The fastest of the methods above on a system, and a good method of one level. Milliseconds"
        " of set-up and solve, minima.",
    )
    yield from tables.heading(
        "system", "method", "iterations", "ms", "one level", "iterations", "ms", "times as long"
    )
    yield from (tables.row(*row) for row in rows)


def updates(figures):
    if not figures["update"]:
        return
    yield from section(
        "Updates",
        "New values on the same pattern: milliseconds, minima, and in brackets the time over that"
        f" of the set-up. The goals are {UPDATE}, {UPDATE_KEPT} with the transfers kept, and no"
        " allocation. Iterations are those of a solve afterwards.",
    )
    yield from tables.heading(
        "system", "method", "update", "transfers kept", "allocations, host and device", "iterations"
    )
    pairs = {}
    for record in figures["update"]:
        pairs.setdefault((record["system"], name_of(record)), []).append(record)

    def time(record):
        limit = UPDATE_KEPT if record["keep_transfers"] else UPDATE
        missed = ", **missed**" if is_default(record) and record["of_setup"] > limit else ""
        return f"{milliseconds(record['minimum'])} ({record['of_setup']:.2f}{missed})"

    def both(values):
        return ", ".join(dict.fromkeys(map(str, values)))

    for (system, name), pair in pairs.items():
        counts = [f"{r['host_allocations']} and {r['device_allocations']}" for r in pair]
        times = [*map(time, pair), "–"][:2]
        yield tables.row(
            system, name, *times, both(counts), both(record["iterations"] for record in pair)
        )


def levels_of(record):
    return ", ".join(f"{level['rows']} ({level['block_size']})" for level in record["levels"])


def hierarchies(figures):
    found = [record for record in figures["all in"] if "levels" in record]
    if not found:
        return
    yield from section(
        "Hierarchies",
        "Block rows of the levels, with the size of their blocks in brackets. MB of the hierarchy,"
        f" and the most that the set-up held over it. The goal is {PEAK}.",
    )
    yield from tables.heading(
        "system", "method", "cycle", "smoother", "levels", "complexity", "MB", "peak"
    )
    same = {}
    for record in found:
        same.setdefault((record["system"], levels_of(record)), []).append(record)
    for (system, levels), records in same.items():
        texts = (
            [f"`{record['method']}`" for record in records],
            *([record[key] for record in records] for key in ("cycle", "smoother")), [levels],
            [f"{record['operator_complexity']:.2f}" for record in records],
            [number(1e-6 * record["hierarchy_bytes"]) for record in records],
            [f"{record['peak_bytes'] / record['hierarchy_bytes']:.2f}" for record in records]
        )
        yield tables.row(
            system, *(", ".join(cells if len(set(cells)) > 1 else cells[:1]) for cells in texts)
        )


def robust_cell(record, base):
    if not converged(record):
        return record["reason"]
    most = next((m for name, m in ROBUST.items() if record["change"].startswith(name)), None)
    missed = most is not None and abs(record["iterations"] - base) > most
    return f"{record['iterations']} (**missed**)" if missed else record["iterations"]


def robust(figures):
    if not figures["robust"]:
        return
    changes = list(dict.fromkeys(record["change"] for record in figures["robust"]))
    found = {}
    for record in figures["robust"]:
        key = record["system"], name_of(record)
        found.setdefault(key, {})[record["change"]] = record
    yield from section(
        "Changed systems",
        "Iterations. A symmetric permutation of the block rows may change them by 3, a scaling of"
        " the block rows by 5, and a multiplication of A and b not at all. Permutations and"
        " scalings are random; the numbers are seeds.",
    )
    yield from tables.heading("system", "method", *changes)
    for (system, method), records in found.items():
        base = records[changes[0]]["iterations"]
        cells = [robust_cell(records[c], base) if c in records else "–" for c in changes]
        yield tables.row(system, method, *cells)


def coarse_part(record):
    """Returns the part of levels 2 and coarser, with the range of levels that reaches them."""
    levels = record["by_level"]
    coarse = sum(level["seconds"] for level in levels if level["last"] > 1)
    part = coarse / sum(level["seconds"] for level in levels)
    goal = is_default(record) and record["system"] == "cavity:300"
    return f"{100 * part:.1f} %" + (f"; goal: {verdict(part, COARSE_PART)}" if goal else "")


def cycles(figures, copy_rate):
    if not figures["levels"]:
        return
    yield from section(
        "Level by level",
        "The time of a level is that of the corrections on it less that of the corrections on the"
        " next level. MB are those that it reads and writes at least, and *to copy* is the time"
        f" over that of a copy ({rate(copy_rate)}). Levels of a range are done in one launch.",
    )
    for record in figures["levels"]:
        levels = record["by_level"]
        whole = sum(level["seconds"] for level in levels)
        yield (
            f"{record['system']}, `{record['method']}`: a cycle takes"
            f" {1e6 * record['cycle_seconds']:.1f} µs. The part of levels 2 and coarser:"
            f" {coarse_part(record)}."
        )
        yield ""
        yield from tables.heading(
            *("level", "block rows", "block size", "blocks", "visits", "MB", "µs", "to copy"),
            "of the cycle",
        )
        for level in levels:
            first, last = level["level"], level["last"]
            yield tables.row(
                first if first == last else f"{first}–{last}",
                *(level[key] for key in ("rows", "block_size", "blocks", "visits")),
                number(1e-6 * level["bytes"]), number(1e6 * level["seconds"]),
                f"{level['to_copy']:.2f}", f"{100 * level['seconds'] / whole:.1f} %"
            )
        yield ""


# --- the figure ---


def curves(figures):
    """Returns {(case, method): [(unknowns, iterations, milliseconds)]}, of two sizes and more."""
    found = {}
    for record in figures["all in"]:
        case = record["system"].split(":")[0]
        if converged(record) and (is_default(record) or not record["method"].startswith("mg")):
            point = unknowns(record), record["iterations"], 1e3 * record["sum_minimum"]
            found.setdefault((case, record["method"]), []).append(point)
    return {key: sorted(points) for key, points in found.items() if len(points) > 1}


def plots(found, column):
    cases = list(dict.fromkeys(case for case, _ in found))
    return ", ".join(
        f"$d{i} using 1:{column} with linespoints pointtype 7 pointsize 0.5"
        f" dashtype {1 if method == 'mg' else 2} linewidth 2"
        f" linecolor rgb '{COLOURS[cases.index(case) % len(COLOURS)]}' title '{case}, {method}'"
        for i, (case, method) in enumerate(found)
    )


def draw(found, output):
    script = [
        'set terminal svg size 1150,430 font "sans,11" background "white"',
        f'set output "{output}"', "set termoption noenhanced"
    ]
    for i, points in enumerate(found.values()):
        script += [f"$d{i} << END", *(" ".join(map(str, point)) for point in points), "END"]
    script += [
        "set multiplot", "set logscale xy", "set grid linetype 1 linecolor rgb '#dddddd'",
        "set format x '%.0e'", "set xlabel 'unknowns'", "set title 'iterations'", "unset key",
        "set size 0.37,1", f"plot {plots(found, 2)}", "set title 'set-up and solve, ms'",
        "set key outside right top Left reverse font ',9'", "set origin 0.37,0", "set size 0.63,1",
        f"plot {plots(found, 3)}"
    ]
    pictures.gnuplot("\n".join(script))


# --- the page ---


def merge(documents):
    """Returns {kind of figure: [records]}; later records replace earlier ones."""
    found = {kind: {} for kind in ("all in", "refused", "update", "robust", "levels")}
    for document in documents:
        for record in document["figures"]:
            key = tuple(
                record.get(k) for k in ("system", "method", "solver", "keep_transfers", "change")
            )
            found[record["what"]][key] = record
            if record["what"] == "all in":
                found["refused"].pop(key, None)
    return {kind: list(records.values()) for kind, records in found.items()}


def introduction(documents):
    first = documents[0]
    rounds = {r["rounds"] for d in documents for r in d["figures"] if r["what"] == "all in"}
    threads = f" {first['threads']} threads," if first["backend"] == "host" else ""
    lines = [
        f"{first['date']}, commit {first['commit']}, {first['device']},{threads} copies"
        f" {rate(first['copy_rate'])} (read and written). Made by `bench_multigrid` and"
        " `bench/multigrid/multigrid_tables.py`.",
    ]
    if rounds:
        lines.append(f"Minima and medians are of {' or '.join(map(str, sorted(rounds)))} runs.")
    return [" ".join(lines)]


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("output", type=pathlib.Path)
    parser.add_argument("results", type=pathlib.Path, nargs="+")
    parser.add_argument("--title", default="Multigrid")
    options = parser.parse_args()
    documents = []
    for path in options.results:
        documents += tables.recorded(tables.read_json(path))
    figures = merge(documents)
    lines = [f"# {options.title}", "", *introduction(documents)]
    found = curves(figures)
    if found:
        figure = options.output.with_suffix(".svg")
        if shutil.which("gnuplot"):
            draw(found, figure)
        lines += ["", f"![iterations and times over the number of unknowns]({figure.name})"]
    for part in (goals, reservoir_goals, all_in, one_level, updates, hierarchies, robust):
        lines += part(figures)
    lines += cycles(figures, documents[0]["copy_rate"])
    tables.write(options.output, lines, documents)


main()
