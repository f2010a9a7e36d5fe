# SPDX-License-Identifier: BSD-3-Clause
"""Compares the measured figures of documents with the JSON of bench/results.

usage: check_figures.py ROOT FIGURES.txt [--write | --spoil]

FIGURES.txt has a section [DOCUMENT] for each document, with these entries. Further lines of an
entry are indented.

TEXT WITH {EXPRESSION | FORMAT}    The document has this text, with the values of the expressions,
                                   which use the functions of ROOT/bench/all/figures.py. FORMAT is
                                   Python's, or `word` or `Word` for a small number in words. Line
                                   breaks are spaces.
  if EXPRESSION                    a further line of an entry: the sentence is true if this holds
output EXAMPLE: WORDS              The block of code with these words consists of lines of the
                                   output of this example (bench/methods/examples.py).
not measured (REASON): TEXT        The figures in this text are no measurements of this project.

A figure that is in no entry is a fault: a number with a unit, a ratio or a pair of numbers, or a
number that is a cell of a table. Code and links are not looked at. --write changes the figures in
the documents to those of the files. --spoil changes each figure of an entry in a copy of its
document, and fails if the comparison does not see it.
"""
import difflib
import pathlib
import re
import sys

WORDS = ("zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
         "fifteen sixteen seventeen eighteen nineteen twenty").split()
NUMBER = r"(?<![\w.,^×-])\d+(?:\.\d+)?(?![\w²³⁴⁵⁶⁷⁸⁹⁰])"
UNIT = r"(?:%|(?:ms|µs|s|seconds?|minutes?|hours?|times|iterations?|products|kB|MB|GB|GB/s)\b)"
FIGURE = re.compile(
    rf"{NUMBER}(?:,?\s+(?:to|of|and|against|instead\s+of)\s+(?:the\s+)?{NUMBER})+"
    rf"|{NUMBER}\s+{UNIT}|{NUMBER}\s+(?:of|instead\s+of)\s+(?:the\s+)?{NUMBER}"
    rf"|\|\s*{NUMBER}(?:,\s+{NUMBER})*(?=\s*\|)")
SOME_FIGURE = r"([^\s|,;()]*[^\s|,;:().])"


def formatted(value, form):
    if form in ("word", "Word"):
        text = WORDS[int(value)]
        return text.capitalize() if form == "Word" else text
    return format(value, form)


class Entry:
    """An entry of FIGURES.txt."""

    def __init__(self, place, kind, text, conditions):
        self.place, self.kind, self.text, self.conditions = place, kind, text, conditions

    def pieces(self, functions):
        """Yields (is a figure, text) of the parts of the entry."""
        for part in re.split(r"(\{[^{}]*\})", self.text):
            if not part.startswith("{"):
                yield False, part
                continue
            expression, _, form = part[1:-1].partition(" | ")
            yield True, formatted(eval(expression, functions), form.strip())  # our own file

    def pattern(self, functions, figure=None):
        """Returns the regular expression of the entry, with `figure` in place of its figures."""
        found = ""
        for is_figure, text in self.pieces(functions):
            blank = r"\s+".join(re.escape(word) for word in re.split(r"\s+", text))
            found += figure if is_figure and figure else blank
        return found


def entries(path):
    """Returns {document: its entries}."""
    sections, current = {}, None
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        place = f"{path.name}:{number}"
        section = re.fullmatch(r"\[(.*)\]", line)
        if section:
            current = sections.setdefault(section[1], [])
        elif line.startswith("  if "):
            current[-1].conditions.append(line[5:])
        elif line.startswith("  "):
            current[-1].text += " " + line.strip()
        else:
            special = re.fullmatch(r"(output|not measured) ?\(?(.*?)\)?: (.*)", line)
            kind, text = (special[1], special[3]) if special else ("figures", line)
            current.append(Entry(place, kind, text, []))
            current[-1].name = special[2] if special else None
    return sections


def blocks_of_code(text):
    return list(re.finditer(r"^```text\n(.*?)^```", text, re.M | re.S))


def without_code(text):
    """Returns a text of the same length in which code and links are blank."""
    for code in (r"```.*?```", r"`[^`]*`", r"\]\([^)\s]*\)"):
        text = re.sub(code, lambda m: re.sub(r"[^\n]", " ", m[0]), text, flags=re.S)
    return text


def line_of(text, position):
    return text.count("\n", 0, position) + 1


def shape(line):
    """A line of an output without its figures."""
    return re.sub(r"\s+", " ", re.sub(r"[\d.e+-]+", "#", line)).strip()


def nearest(old, lines):
    """Returns the line with the shape of an old one, or else with most of its text."""
    def likeness(new):
        return difflib.SequenceMatcher(None, old, new).ratio()

    like = [line for line in lines if shape(line) == shape(old)]
    like = like or [line for line in lines if likeness(line) > 0.6]
    return max(like, key=likeness, default=old)


class Document:
    def __init__(self, name, text, found, functions):
        self.name, self.text, self.entries, self.functions = name, text, found, functions
        self.faults, self.covered = [], []

    def check(self):
        for entry in self.entries:
            try:
                getattr(self, entry.kind.replace(" ", "_"))(entry)
            except Exception as error:  # an expression of the file may fail in any way
                self.faults.append(f"{entry.place}: {type(error).__name__}: {error}")
        for figure in FIGURE.finditer(without_code(self.text)):
            if not any(a <= figure.start() and figure.end() <= b for a, b in self.covered):
                said = " ".join(figure[0].split()).removeprefix("| ")
                self.faults.append(f"{self.name}:{line_of(self.text, figure.start())}: '{said}'"
                                   " is in no entry")
        return self.faults

    def find(self, entry, pattern):
        spans = [m.span() for m in re.finditer(pattern, self.text)]
        # the | that ends a cell also begins the next one
        self.covered += [(a - 1, b + 1) for a, b in spans]
        return spans

    def figures(self, entry):
        for condition in entry.conditions:
            if not eval(condition, self.functions):
                self.faults.append(f"{entry.place}: no longer true: {condition}")
        if not self.find(entry, entry.pattern(self.functions)):
            said = "".join(text for _, text in entry.pieces(self.functions))
            self.faults.append(f"{self.name} lacks '{said}' ({entry.place})")

    def not_measured(self, entry):
        if not self.find(entry, entry.pattern({})):
            self.faults.append(f"{self.name} lacks '{entry.text}' ({entry.place})")

    def output(self, entry):
        known = self.functions["example"](entry.name)["output"]
        chosen = [b[1] for b in blocks_of_code(self.text) if entry.text in b[1]]
        if len(chosen) != 1:
            self.faults.append(f"{self.name}: {len(chosen)} blocks have '{entry.text}'"
                               f" ({entry.place})")
        for block in chosen:
            for line in block.splitlines():
                if line.rstrip() not in known:
                    self.faults.append(f"{self.name}: '{line}' is not in the output ({entry.place})")

    def written(self):
        """Returns the text with the figures of the files."""
        text = self.text
        for entry in self.entries:
            try:
                text = getattr(self, f"write_{entry.kind.replace(' ', '_')}")(entry, text)
            except Exception as error:
                print(f"{entry.place}: {type(error).__name__}: {error}")
        return text

    def write_not_measured(self, entry, text):
        return text

    def write_output(self, entry, text):
        known = self.functions["example"](entry.name)["output"]
        for block in blocks_of_code(text):
            if entry.text in block[1]:
                new = [nearest(old, known) for old in block[1].splitlines()]
                text = text.replace(block[1], "\n".join(new) + "\n")
        return text

    def write_figures(self, entry, text):
        if re.search(entry.pattern(self.functions), text):
            return text
        values = [value for is_figure, value in entry.pieces(self.functions) if is_figure]
        old = re.search(entry.pattern(self.functions, SOME_FIGURE), text)
        if not old:
            return text
        new, at = "", old.start()
        for i, value in enumerate(values, 1):
            new += text[at:old.start(i)] + value
            at = old.end(i)
        return text[:old.start()] + new + text[at:]


def spoiled(name, text, found, functions):
    """Yields the entries whose figures can be changed in the document without a fault."""
    for entry in found:
        if entry.kind != "figures":
            continue
        place = re.search(entry.pattern(functions, SOME_FIGURE), text)
        for i in range(1, (place.re.groups if place else 0) + 1):
            a, b = place.span(i)
            wrong = text[:a] + "7" + text[a:b] + "7" + text[b:]
            spoilt = Document(name, wrong, [entry], functions)
            spoilt.figures(entry)
            if not spoilt.faults:
                yield f"{entry.place}: a wrong '{text[a:b]}' is not seen"


def main():
    root, path = map(pathlib.Path, sys.argv[1:3])
    mode = sys.argv[3] if len(sys.argv) > 3 else ""
    sys.path.insert(0, str(root / "bench/all"))
    import figures

    functions = dict(vars(figures))
    faults, count = [], 0
    for name, found in entries(path).items():
        file = (path.parent if (path.parent / name).exists() else root) / name
        text = file.read_text()
        if mode == "--write":
            text = Document(name, text, found, functions).written()
            file.write_text(text)
        if mode == "--spoil":
            faults += spoiled(name, text, found, functions)
        else:
            faults += Document(name, text, found, functions).check()
        count += len(found)
    print("\n".join(faults) or f"{count} entries")
    sys.exit(bool(faults))


main()
