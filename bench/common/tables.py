# SPDX-License-Identifier: BSD-3-Clause
"""Functions that the scripts share: matrices, runs of the program, tables, files of results."""

import argparse
import concurrent.futures
import contextlib
import datetime
import json
import lzma
import math
import os
import pathlib
import platform
import queue
import re
import shlex
import subprocess
import sys
import textwrap
import time

BENCH = pathlib.Path(__file__).resolve().parents[1]
KEPT = "<!-- by hand, kept when the page is made again -->"
LARGE = 200000  # bytes: larger JSON files are compressed
FILES = ("rhs_file", "null_vectors", "weights", "storage")  # keys whose values may be files

SHORT = {
    "max_iterations": "limit",
    "singular_block": "singular",
    "missing_diagonal": "no diagonal",
    "not_finite": "not finite",
}
REASONS = (
    "If a run does not converge, the table gives the reason: limit (of iterations), stagnated,"
    " hopeless (its pace needed ten times the limit), singular (a pivot block), no diagonal (a"
    " diagonal block is missing), overflow (of the storage type), not finite, failed (breakdown)."
)

OWN = ", each on its own processors"
MATRIX_COLUMNS = ["matrix", "b", "bs", "block rows", "blocks"]

NATURAL = {  # unknowns at a node, for matrices for which `auto` chooses another size
    "cavity05": 2,
    "e05r0500": 2,
    "hymls_ifiss_q1p0_32_Re100": 3,
    "hymls_ifiss_q1p0_64_Re0": 3,
    "nasa4704": 2,
    "sherman5": 3,
    "bcsstk18": 2,
}


def matrices(options):
    """Yields (name, path) of every NAME.mtx[.xz] that the options choose, without right-hand sides
    and solutions."""
    for path in sorted(options.matrices.glob("*.mtx*")):
        name = name_of(path)
        if name.endswith(("_b", "_x")) or options.only not in (None, name):
            continue
        if options.least_rows == 0 or rows_of(path) >= options.least_rows:
            yield name, path


def rows_of(path):
    """Returns the number of rows of a file of Matrix Market."""
    with (lzma.open if path.suffix == ".xz" else open)(path, "rt") as file:
        return int(next(line for line in file if not line.startswith("%")).split()[0])


def name_of(path):
    return path.name.split(".mtx")[0]


def right_hand_side(path):
    file = path.with_name(path.name.replace(".mtx", "_b.mtx"))
    return str(file) if file.exists() else "ones"


def system_of(path, block_size):
    """Returns the program's arguments for the system of a file."""
    return [
        str(path), "--block-size", str(block_size), "--rhs", right_hand_side(path), "--tolerance",
        "1e-8"
    ]


def compare(options, arguments, methods, timeout=None):
    """Returns the program's JSON, or None and the reason."""
    flags = ["--methods", ",".join(methods), "--max-iterations", options.max_iterations]
    if options.repeats:
        flags += ["--repeat", str(options.repeats)]
    return json_of(options, "compare", [*arguments, *flags], timeout)


def info(options, arguments, timeout=None):
    """Returns the JSON of `bisai info`, or None and the reason."""
    return json_of(options, "info", arguments, timeout)


def json_of(options, command, arguments, timeout):
    places = getattr(options, "places", None)  # `each` makes them
    with places.place() if places else contextlib.nullcontext([]) as words:
        return json_there(options, words, command, arguments, timeout)


def json_there(options, words, command, arguments, timeout):
    """The same. `words` are those of a command that runs another one."""
    line = [*words, options.bisai, command, *arguments]
    line += ["--threads", options.threads, "--backend", options.backend, "--json", "-"]
    try:
        done = subprocess.run(line, capture_output=True, text=True, timeout=timeout)
    except subprocess.TimeoutExpired:
        return None, "time"
    if done.returncode == 0:
        return json.loads(done.stdout), None
    return None, done.stderr.strip() or f"exit status {done.returncode}"


def cell(run):
    return str(run["iterations"]) if run["converged"] else SHORT.get(run["reason"], run["reason"])


def seconds(run):
    """Returns the time of set-up, with the factorisation, and solve."""
    return run["setup_s"] + run["solve_s"]


def least_seconds(run):
    """Returns the least time of the repeats; `seconds` has their median."""
    return run.get("least_total_s") or seconds(run)


def milliseconds(run):
    """Returns the time, or the minimum and the median of several."""
    if not run["converged"]:
        return "–"
    median = f"{1e3 * seconds(run):.3g}"
    return f"{1e3 * least_seconds(run):.3g}/{median}" if (run.get("repeats") or 1) > 1 else median


def label(run):
    """Returns the METHOD of a run in the program's notation."""
    if run["method"] != "isai":
        return run["method"]
    parts = [f"isai:k={run['power']}"]
    if run["relax"]:
        parts.append(f"relax={run['relax']}")
    if run["storage"] != "fp64":
        parts.append(run["storage"])
    return ":".join(parts)


def heading(*names):
    return ["| " + " | ".join(names) + " |", "|" + "---|" * len(names)]


def row(*cells):
    """Returns a line of a table, and prints it at once."""
    line = "| " + " | ".join(str(text) for text in cells) + " |"
    print(line, flush=True)
    return line


def matrix_row(result, cell_of=cell):
    """Returns the row of a matrix: MATRIX_COLUMNS, and the result of each method."""
    matrix = result["matrix"]
    return row(
        matrix["name"], "1" if result["rhs"] == "ones" else "file", matrix["block_size"],
        matrix["block_rows"], matrix["blocks"], *map(cell_of, result["runs"])
    )


def commit(folder="."):
    """Returns the short commit of a checkout; "" if there is none."""
    done = subprocess.run(
        ["git", "-C", folder, "rev-parse", "--short", "HEAD"], capture_output=True, text=True
    )
    return done.stdout.strip()


def measured_commit():
    """Returns the measured commit. A machine without the history has it in BISAI_COMMIT."""
    return os.environ.get("BISAI_COMMIT") or commit() or "unknown"


def built_for(build):
    """Returns for which processors a build folder has been compiled, in words."""
    text = (pathlib.Path(build) / "CMakeCache.txt").read_text()
    if re.search(r"^BISAI_NATIVE:BOOL=ON|^CMAKE_C_FLAGS:.*-march=", text, re.M):
        return "its processor"
    return f"every {platform.machine()}"


def recorded(results):
    """Returns a list of documents that have the date and the commit of their measurement."""
    documents = results if isinstance(results, list) else [results]
    now = {"commit": measured_commit(), "date": str(datetime.date.today())}
    return [{**document, **{k: document.get(k) or now[k] for k in now}} for document in documents]


def command_line():
    """Returns the command of this script, with the names of files only."""
    script, *arguments = sys.argv
    script = pathlib.Path(script).resolve().relative_to(BENCH.parent)
    names = (pathlib.PurePath(text).name if "/" in text else text for text in arguments)
    return shlex.join(["python3", str(script), *names])


def how_often(options):
    if options.repeats == 0:
        return "Each method was run once, without a warm-up."
    if options.repeats == 1:
        return "In one process each method was warmed up and run once."
    return (
        f"In one process each method was warmed up and run {options.repeats} times. Two times are"
        " the minimum and the median."
    )


def made_by(options, result, solver="GMRES(30), right preconditioning, tolerance 1e-8"):
    beside = f", {options.at_once} processes at a time{OWN}" if options.at_once > 1 else ""
    least = f"Matrices of at least {options.least_rows} rows. " if options.least_rows else ""
    return [
        f"bisai {result['version']}, commit {measured_commit()}, {datetime.date.today()},"
        f" backend {result['backend']}, {result['device']},"
        f" {options.threads} thread(s){beside}.",
        f"{least}{solver}, b from the matrix's own file or 1, x0 = 0, at most"
        f" {options.max_iterations} iterations. {how_often(options)} Made by"
        f" `{command_line()}`.",
    ]


def compressed(path):
    return path.with_name(path.name + ".xz")


def read_json(path):
    """Returns the content of FILE.json or FILE.json.xz, whichever exists.

    `path` may be either name.
    """
    path = pathlib.Path(path)
    if not path.exists() and compressed(path).exists():
        path = compressed(path)
    data = path.read_bytes()
    return json.loads(lzma.decompress(data) if path.suffix == ".xz" else data)


def without_folders(value, key=None):
    """Returns a copy in which files have their names only, wherever they were on this machine."""
    if isinstance(value, dict):
        return {k: without_folders(v, k) for k, v in value.items()}
    if isinstance(value, list):
        return [without_folders(v, key) for v in value]
    return pathlib.PurePath(value).name if key in FILES and isinstance(value, str) else value


def write_whole(path, data):
    """Writes a file under another name and renames it, so that the old one stays until then."""
    part = path.with_name(path.name + ".part")
    part.write_bytes(data)
    part.replace(path)


def write_json(path, results):
    """Writes FILE.json with a line for each result, or FILE.json.xz beyond LARGE bytes.

    The other file is removed. Folders of files are left out.
    """
    results = without_folders(list(results))
    data = ("[" + ",\n".join(json.dumps(result) for result in results) + "]\n").encode()
    large = len(data) > LARGE
    write_whole(
        compressed(path) if large else path, lzma.compress(data, preset=9) if large else data
    )
    (path if large else compressed(path)).unlink(missing_ok=True)


def kept(output):
    """Returns what follows the line KEPT of a page: it is written by hand and stays."""
    old = output.read_text() if output.exists() else ""
    return old[old.index(KEPT) :] if KEPT in old else ""


def write(output, lines, results):
    by_hand = kept(output)
    text = "\n".join(wrapped(lines)).rstrip() + "\n"
    output.write_text(text + ("\n" + by_hand if by_hand else ""))
    write_json(output.with_suffix(".json"), results)


def wrapped(lines):
    """Paragraphs in lines of at most 100 columns. Tables, headings, figures and code stay."""
    code = False
    for line in lines:
        fence = line.startswith("```")
        whole = code or fence or line[:1] in ("", "|", "#", "!")
        yield from [line] if whole else textwrap.wrap(line, 100, break_on_hyphens=False)
        code ^= fence


def parser(description, max_iterations):
    result = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    result.add_argument("bisai")
    result.add_argument("matrices", type=pathlib.Path)
    result.add_argument("output", type=pathlib.Path)
    result.add_argument("--max-iterations", default=max_iterations)
    result.add_argument("--threads", default="1")
    result.add_argument("--backend", default="auto")
    result.add_argument("--only", help="one matrix")
    result.add_argument("--least-rows", type=int, default=0, help="leaves out smaller matrices")
    result.add_argument("--repeats", type=int, default=0, help="warm runs of each method")
    result.add_argument(
        "--at-once", type=int, default=1, help="processes at a time, each on its own processors"
    )
    return result


def processor():
    """Returns the name of the processors."""
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.machine()


def processors():
    """Returns the processors that this process may use, the hardware threads of a core together."""

    def core(number):
        path = pathlib.Path(f"/sys/devices/system/cpu/cpu{number}/topology/thread_siblings_list")
        first = re.match(r"\d+", path.read_text()) if path.exists() else None
        return int(first[0]) if first else number

    return sorted((core(number), number) for number in os.sched_getaffinity(0))


def cores():
    """Returns the number of cores that this process may use."""
    return len({core for core, _ in processors()})


class Places:
    """The processors of this process in `count` parts, for processes that run at a time."""

    def __init__(self, count):
        self.free, there = queue.SimpleQueue(), [number for _, number in processors()]
        for i in range(count):
            part = there[i * len(there) // count : (i + 1) * len(there) // count]
            self.free.put(part or there)

    @contextlib.contextmanager
    def place(self):
        """Takes a part. Yields the words before a command that runs it there."""
        part = self.free.get()
        try:
            yield ["taskset", "--cpu-list", ",".join(map(str, part))]
        finally:
            self.free.put(part)


def each(options, function, jobs, weight=lambda job: 0):
    """Returns function(job) for each of `jobs`, in their order; some run at a time.

    Jobs of large `weight` begin first, so that none of them runs alone at the end.
    """
    jobs = list(jobs)
    options.places = Places(options.at_once) if options.at_once > 1 else None
    first = sorted(range(len(jobs)), key=lambda i: -weight(jobs[i]))
    with concurrent.futures.ThreadPoolExecutor(options.at_once) as pool:
        futures = {i: pool.submit(function, jobs[i]) for i in first}
    return [futures[i].result() for i in range(len(jobs))]


def size_of(path):
    return path.stat().st_size


def page_of_matrices(description, max_iterations, measure, page):
    """Does what a script does that measures each matrix once, and writes its page.

    measure(options, path): returns the program's document of a matrix, or None if it takes more
        than options.seconds
    page(options, results, left_out): returns the lines of the page; `left_out` is a sentence on
        the matrices that are not in it
    """
    options_of = parser(description, max_iterations)
    options_of.add_argument("--seconds", type=float, default=60, help="the most for a run")
    options_of.add_argument("--total", type=float, default=math.inf, help="no run begins later")
    options = options_of.parse_args()
    end, late = time.monotonic() + options.total, []

    def in_time(job):
        if time.monotonic() < end:
            return measure(options, job[1])
        late.append(job[0])
        return None

    def weight(job):
        """Beside others the largest begin first. One after the other they come last, so that the
        fewest are late."""
        return size_of(job[1]) * (1 if options.at_once > 1 else -1)

    found = list(matrices(options))
    made = each(options, in_time, found, weight)
    results = [result for result in made if result]
    if not results:
        raise SystemExit(f"{options.matrices} holds no matrix that can be measured")
    slow = [name for (name, _), result in zip(found, made) if not result and name not in late]
    left_out = f"Runs of more than {options.seconds:g} s were left out: {listed(slow)}."
    if late:
        left_out += f" No time was left for {listed(sorted(late))}."
    write(options.output, page(options, results, left_out), results)


def listed(names):
    return ", ".join(f"`{name}`" for name in names) or "none"
