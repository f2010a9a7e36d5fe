# SPDX-License-Identifier: BSD-3-Clause
"""Compares the measured figures of documents with the JSON of bench/results.

usage: check_figures.py ROOT FIGURES.txt [--write | --spoil]

FIGURES.txt has a section [DOCUMENT] for each document, with these entries. Further lines of an
entry are indented.

TEXT WITH {EXPRESSION | FORMAT}    The document has this text, with the values of the expressions,
                                   which use the functions below. FORMAT is Python's. Line breaks
                                   are spaces.
output EXAMPLE: WORDS              The block of code with these words consists of lines of the
                                   output of this example (bench/methods/examples.py).
not measured (REASON): TEXT        The figures in this text are no measurements of this project.

A figure that is in no entry is a fault: a number with a unit, or numbers in two cells of a table
side by side. Code and links are not looked at. --write changes the figures in the documents to
those of the files. --spoil changes each figure of an entry in a copy of its document, and fails if
the comparison does not see it.
"""
import difflib
import functools
import pathlib
import re
import statistics
import sys

root, path = map(pathlib.Path, sys.argv[1:3])
mode = sys.argv[3] if len(sys.argv) > 3 else ""
sys.path += [str(root / "bench" / folder) for folder in ("common", "real-matrices")]
import real_matrices  # noqa: E402
import tables  # noqa: E402

NUMBER = r"(?<![\w.,^×-])\d+(?:\.\d+)?(?![\w²³⁴⁵⁶⁷⁸⁹⁰])"
UNIT = r"(?:%|(?:ms|µs|s|seconds?|minutes?|hours?|times|iterations?|products|kB|MB|GB|GB/s)\b)"
FIGURE = re.compile(rf"{NUMBER}\s+{UNIT}|\|\s*{NUMBER}\s*\|\s*{NUMBER}(?=\s*\|)")
SOME_FIGURE = r"([^\s|,;()]*[^\s|,;:().])"


# --- the figures: what FIGURES.txt uses ---


@functools.lru_cache(None)
def load(name):
    """Returns the content of NAME.json or NAME.json.xz of bench/results."""
    return tables.read_json(root / "bench/results" / f"{name}.json")


def only(found, what):
    if not found:
        raise LookupError(f"no figure of {what}")
    return found[-1]


def compared(method):
    """Returns the run of a method on the cavity and the GPU of the README."""
    cavity = only([d for d in load("h200-compare") if d["matrix"]["name"] == "cavity"], "cavity")
    return only([run for run in cavity["runs"] if run["label"] == method], method)


def total(method):
    """Returns its median milliseconds of set-up and solve."""
    return 1e3 * compared(method)["total_s"]


def totals_of_isai():
    return list(map(total, ("isai:k=1", "isai:k=2", "isai:k=3", "isai:k=3:storage=fp16")))


def example(name):
    return only([record for record in load("examples-cpu") if record["name"] == name], name)


def counts(case, method):
    """Returns the iterations on the sizes of a case, as cells of a table."""
    runs = [run for record in load("examples-cpu") if record["name"].split()[0] == case
            for run in record["runs"] if run["label"] == method]
    return " | ".join(map(tables.cell, runs)) or only([], f"{method} of {case}")


@functools.lru_cache(None)
def real_matrices_by_name():
    """Returns {matrix: its runs at each block size, that of `auto` before that of the physics}."""
    found = {}
    for result in load("real-matrices-cpu"):
        found.setdefault(result["matrix"]["name"], []).append(result["runs"])
    return found


def for_methods(value, form):
    """Returns value(place of the method) for the methods of the guide, as cells of a table."""
    left_out = re.compile("sweeps:n=[13]|.*storage")
    return " | ".join(format(value(at), form) for at, method in enumerate(real_matrices.METHODS)
                      if not left_out.match(method))


def solved(at):
    """Returns on how many matrices a method converges, at one of the block sizes."""
    return sum(any(runs[at]["converged"] for runs in tried)
               for tried in real_matrices_by_name().values())


def over_ilu(at):
    """Returns the median of its iterations over those of ILU(0), at the first block size at which
    both converge."""
    ilu, ratios = real_matrices.METHODS.index("ilu"), []
    for tried in real_matrices_by_name().values():
        both = [runs for runs in tried if runs[at]["converged"] and runs[ilu]["converged"]]
        ratios += [runs[at]["iterations"] / runs[ilu]["iterations"] for runs in both[:1]]
    return statistics.median(ratios)


def matrices():
    return len(real_matrices_by_name())


# --- the comparison ---


class Entry:
    """An entry of FIGURES.txt: its place, its kind, the name of its example, and its text."""

    def __init__(self, place, line):
        special = re.fullmatch(r"(output|not measured) ?\(?(.*?)\)?: (.*)", line)
        self.place = place
        self.kind, self.name, self.text = special.groups() if special else ("figures", None, line)

    def pieces(self):
        """Yields (is a figure, text) of the parts of the entry; a row of a table has many."""
        for part in re.split(r"(\{[^{}]*\})", self.text):
            if self.kind != "figures" or not part.startswith("{"):
                yield False, part
                continue
            expression, _, form = part[1:-1].partition(" | ")
            for i, cell in enumerate(format(eval(expression), form.strip()).split(" | ")):
                yield from [(False, " | "), (True, cell)][i == 0:]

    def pattern(self, figure=None):
        """Returns the regular expression of the entry, with `figure` in place of its figures."""
        return "".join(
            figure if is_figure and figure else r"\s+".join(map(re.escape, re.split(r"\s+", text)))
            for is_figure, text in self.pieces())


def entries():
    """Returns {document: its entries}."""
    sections, current = {}, None
    for number, line in enumerate(path.read_text().splitlines(), 1):
        section = re.fullmatch(r"\[(.*\.md)\]", line)
        if section:
            current = sections.setdefault(section[1], [])
        elif line.startswith("  "):
            current[-1].text += " " + line.strip()
        elif line and not line.startswith("#"):
            current.append(Entry(f"{path.name}:{number}", line))
    return sections


def blocks_of(entry, text):
    """Returns the blocks of output that have the words of an entry."""
    return [b for b in re.findall(r"^```text\n(.*?)^```", text, re.M | re.S) if entry.text in b]


def faults_of(entry, text):
    """Yields what is wrong in a document."""
    if entry.kind == "output":
        blocks, known = blocks_of(entry, text), example(entry.name)["output"]
        if len(blocks) != 1:
            yield f"{len(blocks)} blocks have '{entry.text}'"
        for line in "".join(blocks).splitlines():
            if line.rstrip() not in known:
                yield f"'{line}' is not in the output"
    elif not re.search(entry.pattern(), text):
        yield "lacks '" + "".join(part for _, part in entry.pieces()) + "'"


def unknown(found, text):
    """Yields the figures of a document that are in no entry. Code and links are blank."""
    covered = [m.span() for entry in found if entry.kind != "output"
               for m in re.finditer(entry.pattern(), text)]
    for code in (r"```.*?```", r"`[^`]*`", r"\]\([^)\s]*\)"):
        text = re.sub(code, lambda m: re.sub(r"[^\n]", " ", m[0]), text, flags=re.S)
    for figure in FIGURE.finditer(text):
        if not any(a - 1 <= figure.start() and figure.end() <= b + 1 for a, b in covered):
            yield f"line {text.count(chr(10), 0, figure.start()) + 1}: '{figure[0]}' is in no entry"


def nearest(old, lines):
    """Returns the line with the shape of an old one, or else with most of its text."""
    def shape(line):
        return re.sub(r"\s+", " ", re.sub(r"[\d.e+-]+", "#", line)).strip()

    def likeness(new):
        return difflib.SequenceMatcher(None, old, new).ratio()

    like = [line for line in lines if shape(line) == shape(old)]
    like = like or [line for line in lines if likeness(line) > 0.6]
    return max(like, key=likeness, default=old)


def written(entry, text):
    """Returns the text with the figures of the files."""
    if entry.kind == "output":
        for block in blocks_of(entry, text):
            new = [nearest(old, example(entry.name)["output"]) for old in block.splitlines()]
            text = text.replace(block, "\n".join(new) + "\n")
    old = re.search(entry.pattern(SOME_FIGURE), text) if entry.kind == "figures" else None
    if old and not re.search(entry.pattern(), text):
        values = [value for is_figure, value in entry.pieces() if is_figure]
        for i in range(len(values), 0, -1):
            text = text[:old.start(i)] + values[i - 1] + text[old.end(i):]
    return text


def spoiled(entry, text):
    """Yields the figures of an entry that can be changed in the document without a fault."""
    place = re.search(entry.pattern(SOME_FIGURE), text) if entry.kind == "figures" else None
    for i in range(1, (place.re.groups if place else 0) + 1):
        a, b = place.span(i)
        if not list(faults_of(entry, f"{text[:a]}7{text[a:b]}7{text[b:]}")):
            yield f"a wrong '{text[a:b]}' is not seen"


faults = []
for name, found in entries().items():
    file = (path.parent if (path.parent / name).exists() else root) / name
    document = file.read_text()
    sound = []
    for entry in found:
        try:
            if mode == "--write":
                document = written(entry, document)
            check = spoiled if mode == "--spoil" else faults_of
            faults += [f"{name}: {fault} ({entry.place})" for fault in check(entry, document)]
            sound.append(entry)
        except Exception as error:  # an expression of the file may fail in any way
            faults.append(f"{entry.place}: {type(error).__name__}: {error}")
    if mode == "--write":
        file.write_text(document)
    faults += [f"{name}: {fault}" for fault in unknown(sound, document)]
print("\n".join(faults) or f"{path.name}: no faults")
sys.exit(bool(faults))
