# SPDX-License-Identifier: BSD-3-Clause
"""Makes the pages of bench/results again, of one commit.

usage: python3 bench/all BUILD --backend cuda|host [--results FOLDER] [--only PAGE,…] [--quick]
       [--matrices FOLDER] [--seconds S] [--plan | --draw | --index]

BUILD is a build with the option BISAI_BENCH. Each page has the commit, the date, the machine and
its command. --quick makes smaller and rougher pages to see that everything works; write them to
another folder. --plan prints the pages with their commands, files and times, and runs nothing.
--draw makes only the pictures again from the figures in FOLDER, on a machine with gnuplot and
matplotlib: without them, the pages are made without new pictures, and the missing tool is named.
Each call writes the tables of FOLDER/README.md again if it exists, and --index does only that.

Pages that this machine cannot make are named with the reason. The exit status is 1 if a command
fails, and 0 if all others succeed. --matrices names a folder of real matrices (default:
$BISAI_MATRICES) as for real_matrices.py. Pages of block-Jacobi and of inverses on a GPU begin no
run after S seconds.
--only papers/block-isai+adaptive measures these papers only and keeps the figures of the others.
"""

import argparse
import os
import pathlib
import sys

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / "common")]

import index  # noqa: E402
import pages  # noqa: E402
import runs  # noqa: E402


def plan(bench, chosen):
    """Prints what would be done."""
    for page, parts in chosen:
        recorder = runs.Recorder(bench)
        recorder.parts = parts
        page.make(recorder)
        print(f"{page.name} ({page.seconds} s): {page.what}")
        print(f"  files    {', '.join(page.files)}")
        for line in recorder.commands:
            print(f"  command  {line}")
        if page.missing(bench):
            print(f"  cannot be made here: {page.missing(bench)}")
    for name, (_, _, reason) in pages.BY_HAND.items():
        print(f"{name} is not made: {reason}")


def arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    results = pathlib.Path(__file__).resolve().parents[1] / "results"
    matrices = os.environ.get("BISAI_MATRICES")
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--backend", choices=["cuda", "host"], required=True)
    parser.add_argument("--results", type=pathlib.Path, default=results)
    parser.add_argument("--only", default="")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--matrices", type=pathlib.Path, default=matrices)
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--plan", action="store_true")
    parser.add_argument("--draw", action="store_true")
    parser.add_argument("--index", action="store_true")
    return parser.parse_args()


def main():
    options = arguments()
    wanted = dict(name.partition("/")[::2] for name in options.only.split(",") if name)
    there = [page for page in pages.PAGES if page.backend == options.backend]
    unknown = set(wanted) - {page.name for page in there}
    if unknown:
        sys.exit(f"no page of {options.backend}: {', '.join(sorted(unknown))}")
    chosen = [
        (page, [part for part in wanted.get(page.name, "").split("+") if part])
        for page in there
        if not wanted or page.name in wanted
    ]
    options.results.mkdir(parents=True, exist_ok=True)
    bench = runs.Bench(options)
    if options.plan:
        return plan(bench, chosen)
    made = [] if options.index else chosen
    summary = [runs.one_page(bench, page, parts, options.draw) for page, parts in made]
    readme = options.results / "README.md"
    if readme.exists():
        readme.write_text(index.written(options.results))
    print("\n".join(["", *summary]))
    sys.exit(any("FAILED" in line for line in summary))


main()
