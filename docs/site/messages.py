# SPDX-License-Identifier: BSD-3-Clause
"""Writes the pages that explain messages: python3 messages.py ROOT FOLDER.

The messages are those of the sources: the texts in calls of functions that fail or say something.
A number, a name or a value in a message is written as "…". Each has an anchor. messages.js has them
all, for the search of alike.js.
"""
import json
import pathlib
import re
import sys

CALL = re.compile(r"\b(?:\w*fail\w*|say\w*|invalid|text_fault|note|warn\w*)\s*\(")
TOKEN = re.compile(r'\s+|"((?:[^"\\]|\\.)*)"|\bPRI[a-zA-Z0-9]+|\bBISAI_[A-Z_]+|.', re.S)
PLACE = re.compile(r"%[-+ 0#]*(?:\*|\d+)?(?:\.(?:\*|\d+))?(?:hh|h|ll|l|z|j|t)?[diouxXeEfgGcsp]|"
                   r"%(?=\s|$)|\{[^{}]*\}")

# Where to look for messages, and what the sections are called
SOURCES = ("src/**/*.c", "src/**/*.h", "src/**/*.cu", "tools/*.c", "plugins/**/*.c",
           "fortran/glue.c", "python/bisai/*.py")


def call_at(text, begin):
    """Returns what is between the parentheses that open before `begin`."""
    depth, end = 1, begin
    for token in TOKEN.finditer(text, begin):
        if token[1] is None:
            depth += (token[0] == "(") - (token[0] == ")")
        if depth == 0:
            end = token.start()
            break
    return text[begin:end]


def texts(call):
    """Returns the texts of a call; literals that C or Python joins are one."""
    found, joined = [], None
    for token in TOKEN.finditer(re.sub(r'\bf"', '"', call)):
        if token[1] is not None:
            joined = (joined or "") + token[1]
        elif token[0].startswith("PRI") and joined is not None:
            joined += "d"
        elif not token[0].isspace() and joined is not None:
            found.append(joined)
            joined = None
    return found + ([joined] if joined else [])


def clean(text):
    """Returns a text as the program prints it, with … for what differs."""
    text = text.replace("%%", "\0")
    text = PLACE.sub("…", text).replace("\0", "%")
    text = text.replace("\\n", " ").replace('\\"', '"').replace("\\\\", "\\").replace("`", "'")
    return re.sub(r"\s+", " ", text).strip(" ,:;")


def messages(root):
    """Returns the messages of each status."""
    found = {}
    for pattern in SOURCES:
        for path in sorted(root.glob(pattern)):
            source = re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.S)
            for call in CALL.finditer(source):
                inside = call_at(source, call.end())
                status = re.search(r"BISAI_[A-Z_]+", inside)
                known = status[0] if status else None
                if call[0].startswith("invalid"):
                    known = "BISAI_INVALID_ARGUMENT"
                for text in map(clean, texts(inside)):
                    if len(re.findall(r"[a-zA-Z]{2,}", text)) >= 3:
                        found.setdefault(known, set()).add(text)
    return found


def statuses(root):
    """Returns the texts of the statuses that are failures, in their order."""
    header = (root / "include/bisai/status.h").read_text()
    return dict(re.findall(r'X\((BISAI_[A-Z_]+), [1-9]\d*, "([^"]+)"\)', header))


def advice(root):
    """Returns the sections of advice.md by their headings."""
    parts = re.split(r"^## (.+)\n", (root / "docs/site/advice.md").read_text(), flags=re.M)
    return parts[0], dict(zip(parts[1::2], parts[2::2]))


def slug(text, used):
    """Returns an anchor that no other message has."""
    words = "-".join(re.findall(r"[a-z0-9]+", text.lower()))[:64].strip("-")
    name, number = f"message-{words}", 1
    while name in used:
        number += 1
        name = f"message-{words}-{number}"
    used.add(name)
    return name


def main(root, folder):
    found, names = messages(root), statuses(root)
    intro, help_of = advice(root)
    pages, used, listed = [], set(), []
    (folder / "messages").mkdir(exist_ok=True)
    others = "What the program says beside its results"
    sections = [(text, found.pop(status, set())) for status, text in names.items()]
    sections.append((others, set().union(*found.values())))
    for title, texts_of in sections:
        if title not in help_of and not texts_of:
            continue
        if title not in help_of:
            sys.exit(f"docs/site/advice.md has no section '## {title}'")
        page = re.sub(r"[^a-z]+", "-", title.lower())
        pages.append(page)
        there = help_of[title].strip().replace("](../", "](../../")  # one folder deeper
        lines = [f"# {title[0].upper()}{title[1:]}", "", there, ""]
        if texts_of:
            lines += ["## Messages", ""]
        for text in sorted(texts_of, key=str.lower):
            name = slug(text, used)
            lines += [f"({name})=", f"[`{text}`](#{name})", ""]
            listed.append((f"messages/{page}.html#{name}", text))
        (folder / "messages" / f"{page}.md").write_text("\n".join(lines))
    toctree = "\n".join(f"messages/{page}" for page in pages)
    (folder / "messages.md").write_text(f"{intro}\n```{{toctree}}\n:maxdepth: 1\n{toctree}\n```\n")
    (folder / "static").mkdir(exist_ok=True)
    (folder / "static/messages.js").write_text(f"const messages = {json.dumps(listed)};\n")
    print(f"{len(used)} messages")


if __name__ == "__main__":
    main(*map(pathlib.Path, sys.argv[1:]))
