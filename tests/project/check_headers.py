# SPDX-License-Identifier: BSD-3-Clause
"""Every header compiles alone, as C11 and, where it has a part for C++, as C++ too, without macros
that say which functions of POSIX are wanted. No include guard stands twice.

usage: check_headers.py ROOT --cc CC [--cxx CXX] [--include FOLDER]... [--emulated FOLDER]

Headers for CUDA (.cuh) are compiled where a build emulates it: FOLDER has their copies
(cmake/emulation.cmake). Elsewhere only their guards are looked at. Headers of other projects may be
missing. What includes them is then left out, and the last line says how many.
"""

import argparse
import collections
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys

TOPS = ("src", "plugins", "tools", "include", "cases", "bench")
FOLDERS = ("src", "plugins", "include", "cases", "bench", "tools")
FLAGS = ["-fsyntax-only", "-Wall", "-Wextra", "-Wno-unused", "-Werror"]
EMULATED = "-xc++ -std=c++17 -fsyntax-only -w -D__CUDACC__ -include cuda_runtime.h".split()
# A file says of how many numbers its derivatives are before it includes this header.
NEEDS = {"cases/dual.h": ["-DDUAL_SLOPES=1"]}
OTHERS = re.compile(r"#[ \t]*include[ \t]*<((?:petsc|mpi|jansson|cuda)[^>]*)>")


def guards(root, headers):
    found = collections.defaultdict(list)
    for header in headers:
        m = re.search(r"^#ifndef (\w+)\n#define \1$", (root / header).read_text(), re.MULTILINE)
        if m:
            found[m[1]].append(header)
        else:
            yield f"{header}: no include guard"
    for guard, files in found.items():
        if len(files) > 1:
            yield f"{guard} guards {' and '.join(files)}"


def compile_alone(job):
    root, header, command = job
    done = subprocess.run(
        [*command, str(root / header)], cwd=root, capture_output=True, text=True, check=False
    )
    if done.returncode == 0:
        return None
    missing = re.search(r"fatal error: ([\w/.]+): No such file", done.stderr)
    if missing and OTHERS.match(f"#include <{missing[1]}>"):
        return 0
    errors = [line for line in done.stderr.splitlines() if "error:" in line]
    return f"{header} does not compile alone as {command[2]}: {(errors or [done.stderr])[0]}"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("root", type=pathlib.Path)
    parser.add_argument("--cc", required=True)
    parser.add_argument("--cxx")
    parser.add_argument("--include", action="append", default=[])
    parser.add_argument("--emulated", type=pathlib.Path)
    options = parser.parse_args()
    root = options.root.resolve()
    headers = sorted(
        path.relative_to(root).as_posix()
        for top in TOPS
        for path in (root / top).rglob("*")
        if path.suffix in (".h", ".cuh")
    )
    if not headers:
        sys.exit(f"no headers under {root}")
    problems = list(guards(root, headers))
    folders = [f"-I{folder}" for folder in FOLDERS] + [
        f"-idirafter{folder}" for folder in options.include if folder
    ]
    jobs = []
    for header in headers:
        if header.endswith(".cuh"):
            # ptx.cuh is assembly of a GPU. Plug-ins need libraries that are not emulated.
            if options.emulated and header.startswith("src/") and not header.endswith("/ptx.cuh"):
                copy = options.emulated / header
                own = ["-Itests/emulation", f"-I{options.emulated / 'src'}"]
                command = [options.cxx, *EMULATED, *own, *folders]
                jobs.append((root, copy, command))
            continue
        flags = [*FLAGS, *folders, *NEEDS.get(header, [])]
        jobs.append((root, header, [options.cc, "-xc", "-std=c11", *flags]))
        if options.cxx and "__cplusplus" in (root / header).read_text():
            jobs.append((root, header, [options.cxx, "-xc++", "-std=c++17", *flags]))
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        outcomes = list(pool.map(compile_alone, jobs))
    problems += [outcome for outcome in outcomes if outcome]
    for problem in problems:
        print(problem)
    print(f"{len(jobs)} compiled, {outcomes.count(0)} of them lack a header of another project")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
