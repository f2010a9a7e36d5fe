# SPDX-License-Identifier: BSD-3-Clause
"""The measured figures of adaptive.py, by what its rows and pictures need."""

FORMATS = ("fp16", "bf16", "fp11_4", "fp32", "fp11_20", "fp64")
NARROW = FORMATS[:-1]
LAYOUTS = {
    "by_rows": ("row-major", "#ccbb44"),
    "by_columns": ("column-major", "#66ccee"),
    "interleaved": ("interleaved", "#4477aa"),
}
METHODS = {
    "fp64": "bjacobi:max=32",
    "1 digit": "bjacobi:max=32:storage=adaptive:digits=1",
    "2 digits": "bjacobi:max=32:storage=adaptive",
    "2 digits, ieee": "bjacobi:max=32:storage=adaptive:formats=ieee",
    "2 digits, truncated": "bjacobi:max=32:storage=adaptive:formats=truncated",
}
ADAPTIVE = [name for name in METHODS if name != "fp64"]
SHADES = {
    "1 digit": "#ee6677",
    "2 digits": "#aa3377",
    "2 digits, ieee": "#4477aa",
    "2 digits, truncated": "#66ccee",
}


def layouts_of(figures, storage, large):
    """Returns the figures of each size, for the large batches or those of the paper."""
    found = {}
    for r in (figures.get("layouts") or {}).get("results", []):
        if r["section"] == "layouts" and r["what"] == storage:
            found.setdefault(r["size"], []).append(r)
    sign = 1 if large else -1
    return {m: max(two, key=lambda r: sign * r["blocks"]) for m, two in found.items()}


def ways_of(figures):
    """Returns {rows: {way: figures}} of bench_formats."""
    found = {}
    for r in (figures.get("formats") or {}).get("figures", []):
        found.setdefault(r["rows"], {})[r["way"]] = r
    return found


def large_of(figures):
    """Returns {rows: {format: figures}} of one vector and batches that fill the device."""
    found = {}
    for r in (figures.get("large") or {}).get("results", []):
        if r["section"] == "apply" and r["vectors"] == 1:
            found.setdefault(int(r["size"]), {})[r["what"]] = r
    return found


def solved(figures):
    """Yields (name, runs) of the systems on which fp64 converged."""
    for name, found in figures.get("solves", {}).items():
        if found["runs"]["fp64"]["converged"]:
            yield name, found["runs"]


def gain(runs, name):
    """Returns the time of the solve in fp64 over that of a method, None if it does not converge."""
    run = runs[name]
    return runs["fp64"]["solve_s"] / run["solve_s"] if run["converged"] else None


def shares(run):
    """Returns the part of the blocks in each format."""
    counts = run["diagonal"]["by_format"]
    return {f: counts.get(f, 0) / sum(counts.values()) for f in FORMATS}


def part_of_iteration(run):
    """Returns the part of an iteration that the preconditioner takes."""
    return run["apply30_s"] / 30 / (run["solve_s"] / max(run["iterations"], 1))


def traffic_saved(figures, system, name):
    """Returns the part of an iteration's bytes that a storage saves against fp64: CG reads A and
    the preconditioner once, and passes twelve times over vectors."""
    matrix, runs = figures["solves"][system]["matrix"], figures["solves"][system]["runs"]
    size = matrix["block_size"]
    of_a = matrix["blocks"] * (8 * size**2 + 4) + 4 * matrix["block_rows"]
    vectors = 12 * 8 * matrix["block_rows"] * size
    full, narrow = (runs[n]["diagonal"]["bytes"] for n in ("fp64", name))
    return (full - narrow) / (of_a + vectors + full)
