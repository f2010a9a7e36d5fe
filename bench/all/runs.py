# SPDX-License-Identifier: BSD-3-Clause
"""Runs the programs and scripts of a page."""

import dataclasses
import datetime
import json
import os
import pathlib
import shlex
import shutil
import subprocess
import sys
import tempfile
import time

import tables

SCRIPTS = pathlib.Path(__file__).resolve().parents[1]


@dataclasses.dataclass
class Page:
    name: str
    backend: str
    what: str
    files: list
    seconds: int  # on the machine of the committed pages
    make: object  # make(bench) measures and writes the files
    needs: list = dataclasses.field(default_factory=list)  # need(bench): None or what is missing
    draw: object = None  # draw(bench) makes the pictures from the files …
    drawn_by: str = "gnuplot"  # … with gnuplot or matplotlib

    def missing(self, bench):
        return "; ".join(text for text in (need(bench) for need in self.needs) if text)


class Bench:
    """The build, the folders and the options of a call."""

    def __init__(self, options):
        self.build, self.results = options.build.resolve(), options.results.resolve()
        self.matrices, self.quick, self.backend = options.matrices, options.quick, options.backend
        self.raw = pathlib.Path(tempfile.mkdtemp(prefix="bisai-pages-"))
        self.limit, self.seconds = 1200, options.seconds
        self.parts = []  # of the page that is made; none: all

    def program(self, name):
        """Returns the path of a program of the build, which may be missing."""
        return self.build / (name if name == "bisai" else f"bench/{name}")

    def page(self, name):
        return self.results / name

    def run(self, *command, limit=None, output=None):
        """Runs a command. Its output goes to the file `output`, otherwise to standard output."""
        words = [str(word) for word in command]
        print("+", shlex.join(words), flush=True)
        to = open(output, "w") if output else None
        try:
            subprocess.run(words, check=True, timeout=limit or self.limit, stdout=to)
        finally:
            if to:
                to.close()

    def attempt(self, *command):
        """Runs a command that may fail, and says so. What it wrote before is of use."""
        try:
            self.run(*command)
        except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
            print(error, flush=True)

    def lines(self, *command):
        """Returns what a command writes, line by line."""
        words = [str(word) for word in command]
        done = subprocess.run(words, check=True, text=True, stdout=subprocess.PIPE)
        return done.stdout.splitlines()

    def label(self, file, words, methods):
        """Adds the command and the METHODs to the figures of `bisai compare`."""
        document = json.loads(file.read_text().replace(f"{self.raw}/", ""))
        names = (str(word).replace(f"{self.raw}/", "") for word in words)
        names = (pathlib.PurePath(word).name if word.startswith("/") else word for word in names)
        document["command"] = shlex.join(["bisai", *names])
        for run, method in zip(document["runs"], methods):
            run["label"] = method.replace(f"{self.raw}/", "")
        file.write_text(json.dumps(document))

    def date(self, page):
        """Adds the date, the commit and the machine below the title of a page of a program."""
        title, text = page.read_text().split("\n", 1)
        made = f"{datetime.date.today()}, commit {tables.measured_commit()}, {tables.processor()}."
        page.write_text(f"{title}\n\n{made}\n{text}")

    def script(self, name, *arguments, **options):
        self.run(sys.executable, SCRIPTS / name, *arguments, **options)


class Recorder(Bench):
    """Records commands instead of running them."""

    def __init__(self, bench):  # pylint: disable=super-init-not-called
        self.__dict__.update(bench.__dict__)
        self.commands = []

    def lines(self, *command):
        self.run(*command)
        return ["LINE"]

    def label(self, *_):
        pass

    def date(self, *_):
        pass

    def run(self, *command, limit=None, output=None):
        folders = {str(self.build): "BUILD", str(self.results): "RESULTS", str(self.raw): "RAW"}
        folders |= {str(SCRIPTS): "bench", sys.executable: "python3"}
        text = shlex.join(str(word) for word in command)
        for folder, short in folders.items():
            text = text.replace(folder, short)
        self.commands.append(text + (f" > {pathlib.Path(output).name}" if output else ""))


# --- needs ---


def program(name):
    return lambda bench: None if bench.program(name).exists() else f"{name} is not built"


def matrices(bench):
    if bench.matrices and any(bench.matrices.glob("*.mtx*")):
        return None
    return "there are no real matrices (--matrices)"


def tool(name):
    return lambda bench: None if shutil.which(name) else f"{name} is not installed"


def variable(name, what):
    """A path that the environment gives."""

    def need(bench):
        path = os.environ.get(name)
        return None if path and pathlib.Path(path).exists() else f"${name} does not name {what}"

    return need


def gpus(count):
    def need(bench):
        if not shutil.which("nvidia-smi"):
            return "there is no GPU"
        found = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True).stdout
        visible = os.environ.get("CUDA_VISIBLE_DEVICES")
        here = len(found.splitlines()) if visible is None else len(visible.split(","))
        return None if here >= count else f"there are {here} of {count} GPUs"

    return need


def matplotlib(bench):
    done = subprocess.run([sys.executable, "-c", "import matplotlib"], capture_output=True)
    return None if done.returncode == 0 else "matplotlib is not installed"


# --- a page ---


def one_page(bench, page, parts, draw_only):
    """Makes a page, or parts of it, or its pictures; returns a line about it."""
    begin, bench.parts = time.monotonic(), parts

    def said(text):
        return f"{page.name:24} {time.monotonic() - begin:6.1f} s  {text}"

    missing = None if draw_only else page.missing(bench)
    if missing:
        return said(f"not made: {missing}")
    print(f"\n=== {page.name}: {page.what}", flush=True)
    try:
        if not draw_only:
            page.make(bench)
        note = ""
        if page.draw:
            lacking = matplotlib(bench) if page.drawn_by == "matplotlib" else tool("gnuplot")(bench)
            note = f"; pictures not drawn: {lacking}" if lacking else ""
            if not lacking:
                page.draw(bench)
        return said(("drawn" if draw_only else ", ".join(page.files)) + note)
    except subprocess.CalledProcessError as error:
        return said(f"FAILED: exit status {error.returncode} of {error.cmd[0]}")
    except subprocess.TimeoutExpired as error:
        return said(f"FAILED: {error.cmd[0]} took more than {error.timeout:.0f} s")
    except OSError as error:
        return said(f"FAILED: {error}")
