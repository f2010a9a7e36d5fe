# SPDX-License-Identifier: BSD-3-Clause
"""All C, C++ and CUDA writes the same thing in the same way, where clang-format leaves a choice:
a statement counts by i++ and i-- (but ++*p, which needs no parentheses, and iterators declared with
auto in a for). A condition tests a status
itself (if (status), if (!status)). One statement on one line after if, else, for or while has no
braces; in if … else if … else, all branches have braces if one needs them.

usage: check_dialect.py FOLDER…    names file and line of what is written otherwise

Below FOLDER, folders called bad (faults on purpose) and build… are left out. The code is as
clang-format leaves it.
"""

import os
import re
import sys

KINDS = (".c", ".h", ".cpp", ".cu", ".cuh")
HIDDEN = re.compile(
    r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"|(?<!\w)'(?:\\.|[^'\\\n])+'"
    r"|^[ ]*\#(?:[^\n]*\\\n)*[^\n]*",
    re.DOTALL | re.MULTILINE,
)
STATEMENT = re.compile(r" *(?:return|goto|delete|throw)\b")
DECLARATION = re.compile(
    r" *(?:const |static |struct |unsigned )*[\w:]+(?:<.*>)?[ *]+\**\w+(?:\[.*\])?(?: =|;|,)"
)
CLOSING = ")]}"


def plain(text):
    """The text with spaces for comments, strings and what the preprocessor reads."""
    return HIDDEN.sub(lambda m: re.sub(r"[^\n]", " ", m.group()), text)


def line_of(text, at):
    return text.count("\n", 0, at) + 1


def skip_pair(text, at):
    """The place after the bracket that closes the one at a place."""
    depth = 0
    for place in range(at, len(text)):
        depth += (text[place] in "([{") - (text[place] in CLOSING)
        if depth == 0:
            return place + 1
    return len(text)


def operand_end(text, at):
    """The place after a name with its subscripts, members and calls, which begins at a place."""
    name = re.compile(r"(?:\w|\.|->|::)*")
    end = name.match(text, at).end()
    while end < len(text) and text[end] in "([":
        end = name.match(text, skip_pair(text, end)).end()
    return end


def enclosing(text, at):
    """The place of the bracket that encloses a place, or −1."""
    depth = 0
    for place in range(at - 1, -1, -1):
        depth += (text[place] in CLOSING) - (text[place] in "([{")
        if depth < 0:
            return place
    return -1


def prefixes(text):
    """Begin and end of each ++x or --x whose value nobody uses."""
    for found in re.finditer(r"(?:\+\+|--)(?=[\w(])", text):
        before = text[: found.start()].rstrip()
        if not re.search(r"[;{}),:]$|\b(?:else|do)$", before):
            continue
        end = operand_end(text, found.end())
        around = enclosing(text, found.start())
        in_for = around >= 0 and text[around] == "(" and text[:around].endswith("for ")
        if in_for and text.startswith("(auto ", around):
            continue  # iterators, some of which have no i++
        statement = around < 0 or text[around] == "{"
        if text[end] in (";,)" if in_for else ";" if statement else ""):
            yield found.start(), end


def comparisons(text):
    """Begin and end of each condition that compares with BISAI_OK."""
    for found in re.finditer(r"[!=]=\s+BISAI_OK\b", text):
        begin = found.start()
        while begin > 0:
            near = text[max(begin - 80, 0) : begin]
            if near[-1] in CLOSING:
                begin = enclosing(text, begin - 1)
            elif re.search(r"(?:[(,{;?:]|&&|\|\||[^=!<>]=|\breturn)\s*$", near):
                break
            else:
                begin -= 1
        begin += len(text[begin:]) - len(text[begin:].lstrip())
        before, after = text[:begin].rstrip(), text[found.end() :].lstrip()
        condition = re.search(r"(?:\b(?:if|while) \(|&&|\|\||!\()$", before[-80:])
        if condition or re.match(r"&&|\|\||\?", after):
            yield begin, found.end()


def single(line):
    """Whether a line is one statement, and no declaration."""
    loop = line.lstrip().startswith("for (")
    return (
        line.endswith(";")
        and line.count(";") == (3 if loop else 1)
        and (STATEMENT.match(line) or not DECLARATION.match(line))
    )


def chain_at(lines, at):
    """The branches of the if, for or while in a line as (line of {, line of }, body), from 0, if
    each branch has braces around one line."""
    chain, head = [], at
    while True:
        while head < len(lines) and not re.search(r"[{;]$", lines[head].rstrip()):
            head += 1  # a head may take several lines
        if head + 2 >= len(lines) or not lines[head].rstrip().endswith("{"):
            return []
        body, after = lines[head + 1].rstrip(), lines[head + 2].rstrip()
        if not single(body) or not after.startswith(re.match(" *", lines[at]).group() + "}"):
            return []
        chain.append((head, head + 2, body))
        head += 2
        if not re.match(r" *} else", after):
            return chain


def braces(text):
    """Each chain of branches with needless braces. An else would belong to an if inside."""
    lines = text.split("\n")
    for at, line in enumerate(lines):
        chain = chain_at(lines, at) if re.match(r" *(?:if|for|while) \(", line) else []
        if len(chain) == 1 or not any(body.lstrip().startswith("if ") for _, _, body in chain):
            yield from [chain] if chain else []


def faults(text):
    hidden = plain(text)
    for begin, end in prefixes(hidden):
        asked = text[begin + 2 : end] + text[begin : begin + 2]
        yield line_of(hidden, begin), f"{text[begin:end]} as a statement, for {asked}"
    for begin, end in comparisons(hidden):
        what = " ".join(text[begin:end].split())
        yield line_of(hidden, begin), f"a condition compares with BISAI_OK: {what}"
    for chain in braces(hidden):
        yield chain[0][0] + 1, "braces around one statement on one line"


def files(folders):
    for folder in folders:
        for path, inner, names in os.walk(folder):
            inner[:] = sorted(n for n in inner if n != "bad" and not n.startswith("build"))
            yield from (os.path.join(path, n) for n in sorted(names) if n.endswith(KINDS))


def main():
    number = wrong = 0
    for name in files(sys.argv[1:]):
        number += 1
        with open(name, encoding="utf-8") as file:
            for line, what in sorted(faults(file.read())):
                print(f"{name}:{line}: {what}")
                wrong = 1
    if not number:
        sys.exit("no C files in " + " ".join(sys.argv[1:]))
    sys.exit(wrong)


if __name__ == "__main__":
    main()
