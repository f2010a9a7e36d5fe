# SPDX-License-Identifier: BSD-3-Clause
"""Measures the tables and figures of the papers, and writes the page that compares them.

usage: python3 bench/papers BUILD [--results FOLDER] [--backend cuda|host] [--only NAME,…]
                            [--quick] [--seconds N] [--no-measure]

BUILD is a build folder with BISAI_BENCH=ON. The raw figures of each paper go to
FOLDER/papers-NAME-BACKEND.json. The page FOLDER/papers.md and its pictures are then made from all
raw figures in FOLDER, also from those of other runs and machines. `--no-measure` only makes the
page; BUILD is not needed then.

Figures wait in FOLDER/papers-NAME-BACKEND.new.json and replace the stored ones when all papers are
measured, so that a run that is stopped changes none. Stored figures stay if new ones lack some of
them, for example because a program failed; --quick does not replace full ones; and a backend that
the build or the machine lacks is refused. After N seconds on a paper, what has not begun is left
out, and the page names it. Pictures need gnuplot, and stay as they are without it. Real matrices
are looked for in the folders BISAI_MATRICES.

Each paper is a module with

NAME, TITLE, INTRODUCTION   for the page, INTRODUCTION as Markdown
measure(bench)              returns the raw figures as a dict (common.Bench)
rows(results)               returns a common.row for each table, figure and claim; `results` has the
                            dict of each backend that was measured
draw(results, folder)       draws pictures and returns (file name, caption) of each
tables(results)             optional: returns further lines of Markdown
"""

import argparse
import importlib
import math
import pathlib
import sys
import time

import common
import items
import tables

FOLDER = pathlib.Path(__file__).resolve().parent
NAMES = ("block_isai", "gauss_jordan", "gauss_huard", "adaptive")


def modules():
    return [importlib.import_module(n) for n in NAMES if (FOLDER / f"{n}.py").exists()]


def refusal(bench, papers, folder):
    """Returns why nothing is measured, or None."""
    full = []
    for module in papers:
        read = common.read_figures(common.figures_path(folder, module.NAME, bench.backend))
        if read and not read[0]["quick"]:
            full.append(module.NAME)
    if bench.quick and full:
        return f"{folder} has full figures of {', '.join(full)}: --quick needs other --results"
    return bench.refusal()


def waiting(path):
    """Returns the path of figures that are not yet in place."""
    return path.with_name(path.stem + ".new.json")


def measure(module, bench, folder):
    """Measures a paper. Its figures wait beside the stored ones. Returns false if it fails."""
    begin = time.monotonic()
    command = f"python3 bench/papers BUILD --backend {bench.backend} --only {module.NAME}"
    bench.begin()
    try:
        results = module.measure(bench)
    except common.Failed as error:
        print(f"{module.NAME}: {error}", file=sys.stderr)
        return False
    made = common.record(bench, command)
    path = waiting(common.figures_path(folder, module.NAME, bench.backend))
    common.write_figures(path, made, results)
    print(f"{module.NAME}: {time.monotonic() - begin:.0f} s", flush=True)
    return True


def put_in_place(path):
    """Replaces figures by those that wait, unless some would be lost. Returns false then."""
    new, stored = waiting(path), common.read_figures(path)
    made, results = common.read_figures(new)
    gone = common.lost(stored[1], results) if stored else []
    if gone:
        print(
            f"{path.name} stays, because the new figures lack {', '.join(gone)}. They are in"
            f" {new.name}. To give the old ones up, remove {path.name}.",
            file=sys.stderr,
        )
        return False
    common.write_figures(path, made, results)
    for name in new, tables.compressed(new):
        name.unlink(missing_ok=True)
    return True


def measure_all(bench, papers, folder):
    """Measures papers, and then puts the figures of those that did not fail in place."""
    done = [module for module in papers if measure(module, bench, folder)]
    paths = [common.figures_path(folder, module.NAME, bench.backend) for module in done]
    placed = [put_in_place(path) for path in paths]
    return len(done) == len(papers) and all(placed)


def made_by(folder):
    """Yields a paragraph for each backend: date, commit and machine of its figures."""
    for backend in common.BACKENDS:
        groups = {}
        for module in modules():
            read = common.read_figures(common.figures_path(folder, module.NAME, backend))
            if read:
                made = read[0]
                text = f"{made['date']}, commit {made['commit']}, {made['machine']}"
                if backend == "host" and "build" in made:
                    text += f", built for {made['build']}"
                quick = ", *a quick try with small systems*" if made["quick"] else ""
                groups.setdefault(text + quick, []).append(module.NAME)
        all_papers = len(modules())
        parts = [
            text if len(names) == all_papers else f"{text} ({', '.join(names)})"
            for text, names in groups.items()
        ]
        if parts:
            yield from ["", f"*{'GPU' if backend == 'cuda' else 'Host'}*: {'; '.join(parts)}."]
        yield from left_out(folder, backend)


def left_out(folder, backend):
    """Yields a paragraph for each paper and reason: what a backend did not measure, or measured in
    another run, as the record says."""
    for module in modules():
        read = common.read_figures(common.figures_path(folder, module.NAME, backend))
        for key, text in ("left_out", "No time was left"), ("failed", "A program failed"):
            names = read[0].get(key) if read else None
            if names:
                yield from ["", f"{text} on the {common.DEVICES[backend]} ({module.NAME}) for"
                            f" {'; '.join(names)}."]
        for source, names in (read[0].get("others") or {}).items() if read else ():
            run = f"Of another run on the {common.DEVICES[backend]} ({module.NAME}; {source})"
            yield from ["", f"{run}: {'; '.join(names)}."]


def table(rows):
    """Yields the table of the rows, and then the list of their commands."""
    commands = list(dict.fromkeys(found.command for found in rows))
    yield from tables.heading("in the paper", "published", "here", "note", "command")
    for found in rows:
        number = commands.index(found.command) + 1
        cells = (found.where, found.published, found.ours, found.note, f"({number})")
        yield "| " + " | ".join(text.replace("|", "\\|") for text in cells) + " |"
    yield ""
    yield "The commands:"
    yield from ["", "```sh"]
    for number, command in enumerate(commands, 1):
        yield f"{command}    # {number}"
    yield "```"


def section(module, folder):
    """Yields the lines of a paper."""
    found = {}
    yield from ["", f"## {module.TITLE}", "", *module.INTRODUCTION.strip().splitlines(), ""]
    for backend in common.BACKENDS:
        read = common.read_figures(common.figures_path(folder, module.NAME, backend))
        if read:
            found[backend] = read[1]
    rows = module.rows(found)
    wrong = list(common.faults(rows))
    if wrong:
        raise SystemExit(f"{module.NAME}: {'; '.join(wrong)}")
    yield from table(rows)
    if hasattr(module, "tables"):
        yield from ["", *module.tables(found)]
    for name, caption in module.draw(found, folder):
        if (folder / name).exists():
            yield from ["", f"![{caption}]({name})", "", caption]


def page(folder):
    lines = [
        "# The tables and figures of the papers",
        "",
        "Each table, figure and claim of the papers whose methods bisai has, beside the figures of"
        " this library. *Published* figures are the authors', on their machine and their matrices."
        " Times *here* are from the machines and the commits below, and ratios are from one run,"
        " but for those to a part that is named as one of another run."
        " A *stand-in* is another matrix of the same kind, and its iterations and times differ for"
        " this reason. *Not available* is what nothing can stand in for. The commands below the"
        " tables measure single rows; `python3 bench/papers BUILD` measures all and writes this"
        " page.",
        *made_by(folder),
    ]
    for module in modules():
        lines += section(module, folder)
    lines += items.section()
    return "\n".join(wrapped(lines)).rstrip() + "\n"


def wrapped(lines):
    """Yields the lines, with long ones wrapped outside code blocks."""
    code = False
    for line in lines:
        fence = line.startswith("```")
        yield from [line] if code or fence else tables.wrapped([line])
        code ^= fence


def main():
    parser = argparse.ArgumentParser(
        prog="python3 bench/papers", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter
    )
    known = [module.NAME for module in modules()]
    parser.add_argument("build", nargs="?", type=pathlib.Path)
    parser.add_argument("--results", type=pathlib.Path, default=FOLDER.parent / "results")
    parser.add_argument("--backend", choices=common.BACKENDS, default="cuda")
    parser.add_argument("--only", type=lambda text: text.split(","), default=known)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--seconds", type=float, default=math.inf)
    parser.add_argument("--no-measure", action="store_true")
    options = parser.parse_args()
    unknown = set(options.only) - set(known)
    if unknown:
        parser.error(f"--only: {', '.join(sorted(unknown))}: the papers are {', '.join(known)}")
    if not options.build and not options.no_measure:
        parser.error("BUILD is missing")
    options.results.mkdir(parents=True, exist_ok=True)
    good = True
    if not options.no_measure:
        bench = common.Bench(options.build, options.backend, options.quick, options.seconds)
        papers = [module for module in modules() if module.NAME in options.only]
        why_not = refusal(bench, papers, options.results)
        if why_not:
            sys.exit(why_not)
        good = measure_all(bench, papers, options.results)
    tables.write_whole(options.results / "papers.md", page(options.results).encode())
    sys.exit(not good)


if __name__ == "__main__":
    main()
