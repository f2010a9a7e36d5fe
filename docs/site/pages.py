# SPDX-License-Identifier: BSD-3-Clause
"""Writes the pages of headers, of Python and of tutorials: python3 pages.py ROOT FOLDER.

The page of headers lists their calls with the first sentence of each, and every header is a page.
The page of Python has the docstrings of what `import bisai` brings. A tutorial is a page of what
its script says first, the script in the steps that its comments number, and its picture where this
Python has what draws it.
"""
import ast
import pathlib
import re
import subprocess
import sys

CALL = re.compile(r"(?:/\*\*((?:[^*]|\*(?!/))*)\*/\s*)?BISAI_API[^;]*?\b(bisai_\w+)\s*\(")
# The methods and properties of Python that are not for the package alone
METHODS = {"Context": ("device", "threads"), "Matrix": ("update", "to_scipy", "asymmetry"),
           "Preconditioner": ("update", "report", "apply"), "Solver": ("run", "solve")}
STEP = re.compile(r"^# (\d+\. .*(?:\n# .*)*)\n", re.M)


def first_sentence(comment):
    """Returns the first sentence of a comment, in one line."""
    words = " ".join(re.sub(r"^\s*\*+", "", line).strip() for line in comment.splitlines())
    return re.split(r"(?<=\.) |: - ", words.strip())[0].rstrip(":.")


def first_page(text, name):
    """Returns what a header says of itself, in one sentence."""
    return first_sentence(re.search(r"@file " + name + r"((?:[^*]|\*(?!/))*)", text)[1])


def write_headers(root, folder):
    """Writes headers.md and a page for each header."""
    lines = ["# Headers", "", "Each header documents its calls: shapes, units, ownership, every "
             "status, cost. `bisai/bisai.h` includes those that need no other library.", ""]
    names = []
    (folder / "headers").mkdir()
    for header in sorted([*root.glob("include/bisai/*.h"), *root.glob("include/bisai/*.hpp")]):
        name, text = header.name, header.read_text()
        names.append(name)
        kind = "cpp" if header.suffix == ".hpp" else "c"
        (folder / "headers" / f"{name}.md").write_text(
            f"# bisai/{name}\n\n```{{literalinclude}} ../../../include/bisai/{name}\n"
            f":language: {kind}\n:lines: 2-\n```\n")
        about = first_page(text, name) if "@file " + name in text else ""
        lines += [f"**[{name}](headers/{name}.md)**" + (f": {about}." if about else ""), ""]
        for comment, call in CALL.findall(text):
            says = first_sentence(comment) if comment else ""
            lines.append(f"- `{call}`" + (f": {says}" if says else ""))
        lines.append("")
    (folder / "headers.md").write_text("\n".join(
        lines + ["```{toctree}", ":hidden:", *(f"headers/{name}" for name in names), "```", ""]))


def described(node, name):
    """Returns the lines for a class or function of Python: how it is called, and its docstring."""
    maker = next((part for part in getattr(node, "body", ())
                  if getattr(part, "name", "") == "__init__"), None)
    call = maker if isinstance(node, ast.ClassDef) else node
    arguments = re.sub(r"^self(, )?", "", ast.unparse(call.args)) if call else ""
    is_property = any(ast.unparse(how) == "property" for how in node.decorator_list)
    return ["```python", name if is_property else f"{name}({arguments})", "```", "", "```text",
            ast.get_docstring(node) or "", "```", ""]


def write_python(root, folder):
    """Writes python.md."""
    package = root / "python" / "bisai"
    start = ast.parse((package / "__init__.py").read_text())
    lines = ["# Python", "", "```text", ast.get_docstring(start), "```", ""]
    for part in start.body:
        if not isinstance(part, ast.ImportFrom) or part.module == "_bisai":
            continue
        module = ast.parse((package / f"{part.module}.py").read_text())
        nodes = {node.name: node for node in module.body if hasattr(node, "name")}
        for name in (alias.name for alias in part.names):
            lines += [f"## {name}", "", *described(nodes[name], f"bisai.{name}")]
            inside = {node.name: node for node in nodes[name].body if hasattr(node, "name")}
            for method in METHODS.get(name, ()):
                lines += [f"### {name}.{method}", "", *described(inside[method], f".{method}")]
    (folder / "python.md").write_text("\n".join(lines))


def write_tutorial(script, folder):
    """Writes a tutorial with the picture that its script draws."""
    text = script.read_text()
    title, _, rest = ast.get_docstring(ast.parse(text)).partition("\n\n")
    usage, _, rest = rest.partition("\n\n")
    title, _, subject = " ".join(title.split()).rstrip(".").partition(": ")
    command = re.match(r"usage: (python3 \S+)", usage)[1]
    page = [f"# {title}", "", subject[:1].upper() + subject[1:] + ".", "",
            f"[{script.name}](../../../python/tutorials/{script.name}) {rest}", "",
            "```sh", command, "```", ""]
    picture = folder / f"{script.stem}.png"
    drawn = subprocess.run([sys.executable, script, picture], capture_output=True, text=True)
    if drawn.returncode == 0:
        page += [f"![What the script draws]({picture.name})", "", "It prints:", "",
                 "```text", *drawn.stdout.splitlines()[:12], "```", ""]
    code = STEP.split(text[text.index('"""\nimport') + 4:])
    for k, part in enumerate(code):
        if k % 2:  # what a step does
            page += [f"**{part.replace(chr(10) + '# ', ' ')}**", ""]
        else:
            page += ["```python", part.strip("\n"), "```", ""]
    (folder / f"{script.stem}.md").write_text("\n".join(page))


def write_tutorials(root, folder):
    """Writes tutorials.md and the page of each."""
    scripts = sorted(root.glob("python/tutorials/*.py"))
    (folder / "tutorials").mkdir()
    for script in scripts:
        write_tutorial(script, folder / "tutorials")
    (folder / "tutorials.md").write_text("\n".join(
        ["# Tutorials in Python", "", "```{toctree}",
         *(f"tutorials/{script.stem}" for script in scripts), "```", ""]))


def main():
    """Writes all pages."""
    root, folder = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])
    write_headers(root, folder)
    write_python(root, folder)
    write_tutorials(root, folder)


if __name__ == "__main__":
    main()
