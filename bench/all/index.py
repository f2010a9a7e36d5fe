# SPDX-License-Identifier: BSD-3-Clause
"""Writes the tables of bench/results/README.md from the pages."""

import re

import pages

MARK = "<!-- {} of the table -->"
HEADING = ["| page | what | commit | machine | date |", "|---|---|---|---|---|"]
LINES = 30  # the head of a page, which says how it was made
MACHINE = r"NVIDIA H200|AMD EPYC|Intel(?:\(R\))? Xeon"


def first(pattern, text):
    found = re.search(pattern, text, re.S)
    return found[1] if found else "–"


def cells(path):
    """Returns the commit, the machine and the date that a page names."""
    head = "\n".join(path.read_text().splitlines()[:LINES])
    named = first(r"[Cc]ommits?\s+([0-9a-f]{7,12})\b", head)
    machine = first(f"({MACHINE})", head).replace("(R)", "")
    return named, machine, first(r"(\d{4}-\d\d-\d\d)", head)


def kind(name):
    """Returns the words for a file that belongs to a page."""
    if ".json" in name:
        return "figures"
    return "picture"


def row(folder, page, what):
    """The line of a page with the other files of its name."""
    path = folder / f"{page}.md"
    mine = sorted(
        other.name
        for other in folder.iterdir()
        if owner(folder, other.name) == page and other != path
    )
    links = [f"[{page}.md]({page}.md)"] + [f"[{kind(name)}]({name})" for name in mine]
    return "| " + " | ".join([", ".join(links), what, *cells(path)]) + " |"


def owner(folder, name):
    """Returns the page whose name is the longest beginning of a file's name."""
    stems = (page.stem for page in folder.glob("*.md"))
    return max((stem for stem in stems if name.startswith(stem)), key=len, default=None)


def table(folder, backend):
    """The table of the pages of a backend that exist, and of those made by hand."""
    yield from HEADING
    for page in pages.PAGES:
        name = page.files[0].removesuffix(".md")
        if page.backend == backend and (folder / page.files[0]).exists():
            yield row(folder, name, page.what)
    for name, (where, what, _) in pages.BY_HAND.items():
        if where == backend and (folder / f"{name}.md").exists():
            yield row(folder, name, f"{what} (not made by `bench/all`)")


def written(folder):
    """Returns the text of README.md with its tables."""
    text = (folder / "README.md").read_text()
    for backend in ("cuda", "host"):
        begin, end = (MARK.format(f"{word} {backend}") for word in ("begin", "end"))
        before, rest = text.split(begin)
        _, after = rest.split(end)
        lines = "\n".join(table(folder, backend))
        text = f"{before}{begin}\n\n{lines}\n\n{end}{after}"
    return text
