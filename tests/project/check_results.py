# SPDX-License-Identifier: BSD-3-Clause
"""Checks a folder of measured figures: README.md names every file, bench/all makes every page or
says why not, JSON of more than 200 kB is compressed, and common/tables.py reads JSON whether it is
compressed or not.

usage: check_results.py BENCH RESULTS"""
import pathlib
import sys
import tempfile

bench, results = map(pathlib.Path, sys.argv[1:])
sys.path[:0] = [str(bench / "common"), str(bench / "all")]
import pages  # noqa: E402
import tables  # noqa: E402

problems = []


def check(good, text):
    if not good:
        problems.append(text)


index = (results / "README.md").read_text()
made = {name for page in pages.PAGES for name in page.files}
files = sorted(path for path in results.iterdir() if path.name != "README.md")
check(files, f"{results} is empty")
for path in files:
    check(f"]({path.name})" in index, f"{path.name}: README.md does not name it")
    if path.suffix == ".md":
        check(path.name in made or path.stem in pages.BY_HAND,
              f"{path.name}: bench/all neither makes it nor says why not")
    if path.suffix == ".json":
        check(path.stat().st_size <= tables.LARGE,
              f"{path.name}: more than {tables.LARGE} bytes; common/tables.py would compress it")
    if path.name.endswith((".json", ".json.xz")):
        check(tables.read_json(path), f"{path.name}: empty")
        plain = path.with_name(path.name.removesuffix(".xz"))
        check(tables.read_json(plain) == tables.read_json(path), f"{plain.name}: not found")

with tempfile.TemporaryDirectory() as folder:
    path = pathlib.Path(folder) / "figures.json"
    for count, written in (3, path), (tables.LARGE, tables.compressed(path)), (5, path):
        figures = list(range(count))
        tables.write_json(path, figures)
        check(list(pathlib.Path(folder).iterdir()) == [written] and
              tables.read_json(path) == figures, f"{count} figures: not read as written")

print("\n".join(problems) or f"{len(files)} files")
sys.exit(bool(problems))
