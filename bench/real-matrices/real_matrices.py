#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Solves every real matrix with every method and writes tables of iteration counts and times.

usage: real_matrices.py BISAI MATRICES OUTPUT.md [--max-iterations N] [--threads N]
       [--backend cuda] [--only NAME] [--without-times WHY] [--add-to BEFORE.json]

BISAI is the program, and MATRICES is a folder of NAME.mtx[.xz] files. A right-hand side is the file
NAME_b if it exists, otherwise b = 1. Solutions NAME_x are not used. The solver is GMRES(30)
with right preconditioning, x0 = 0 and tolerance 1e-8. The table gives the reason of each failure.
WHY is a sentence for the page that says why it has no times, for example that the machine was busy.
On a GPU, the block ILU and triangular solves of cuSPARSE are also measured, if the build has them.
"""

import sys

sys.path.append(f"{sys.path[0]}/../common")
import tables

METHODS = [
    "none", "bjacobi", "ilu", "isai:k=1", "isai:k=2", "isai:k=3", "isai:relax=1", "isai:relax=2",
    "sweeps:n=1", "sweeps:n=3", "sweeps:n=5", "isai:k=2:storage=fp32", "isai:k=2:storage=fp16",
    "mg", "mg:smoother=ilu"
]
HEADINGS = [
    "none", "block-Jacobi", "ILU(0)", "ISAI(1)", "ISAI(2)", "ISAI(3)", "ISAI(1) + 1 relax",
    "ISAI(1) + 2 relax", "1 sweep", "3 sweeps", "5 sweeps", "ISAI(2) fp32", "ISAI(2) fp16",
    "multigrid", "multigrid, smoother ilu"
]


ON_DEVICE = [("cusparse-ilu", "cuSPARSE ILU(0)")]


def available(options):
    """Returns the methods of ON_DEVICE that the program was built with."""
    for method, heading in ON_DEVICE:
        result, _ = tables.compare(options, ["--case", "cavity", "--size", "3"], [method])
        if result is not None and result["runs"][0]["reason"] != "unavailable":
            yield method, heading


def error_factor(options, path, block_size):
    """Returns what a cycle of mg multiplies errors by, or None if mg refuses the matrix."""
    found, _ = tables.info(options, [str(path), "--block-size", str(block_size)], options.seconds)
    return found["mg_error_factor"] if found and not found["mg_repairs"] else None


def solve_all(options, found, refused):
    """Returns the results of all matrices, at the block size of `auto` and of the physics."""
    jobs = [(name, path, "auto") for name, path in found]
    jobs += [(name, path, tables.NATURAL[name]) for name, path in found if name in tables.NATURAL]

    def solve(job):
        name, path, block_size = job
        result, message = tables.compare(
            options, tables.system_of(path, block_size), METHODS, options.seconds
        )
        print(name, message or " ".join(map(tables.cell, result["runs"])), flush=True)
        if result:
            result["mg_error_factor"] = error_factor(options, path, block_size)
        return result, message

    solved = tables.each(options, solve, jobs, lambda job: tables.size_of(job[1]))
    results = []
    for (name, _, block_size), (result, message) in zip(jobs, solved):
        if result is None:
            refused.append(f"`{name}` was refused: {message}")
        else:
            results.append({**result, "asked": "auto" if block_size == "auto" else "physics"})
    return tables.recorded(results)


def merged(before, after):
    """Returns the results of two runs, sorted by name; those of the later run replace others."""
    found, seen = {}, set()
    for result in [*before, *after]:
        name = result["matrix"]["name"]
        # files of older versions have `auto` first
        asked = result.get("asked") or ("physics" if name in seen else "auto")
        seen.add(name)
        found[asked, name] = {**result, "asked": asked}
    return [found[key] for key in sorted(found)]


def with_time(run):
    """Returns the iterations, and the ms of set-up, with the factorisation, and solve."""
    return tables.cell(run) + (f", {tables.milliseconds(run)}" if run["converged"] else "")


def table(options, results, asked):
    """The table of counts and times, one row for each result."""
    cell = tables.cell if options.without_times else with_time
    lines = tables.heading(*tables.MATRIX_COLUMNS, *HEADINGS)
    return lines + [tables.matrix_row(r, cell) for r in results if r["asked"] == asked]


def measured_elsewhere(results, main):
    """Says which matrices were measured at another commit or on another machine."""
    groups = {}
    for result in results:
        place = result.get("commit"), result.get("date"), result["device"]
        if place != main:
            groups.setdefault(place, []).append(f"`{result['matrix']['name']}`")
    for (commit, date, device), names in groups.items():
        yield f"At commit {commit}, {date}, {device}: {', '.join(dict.fromkeys(names))}."


def coarsest(hierarchy):
    """What becomes of the last level."""
    if not hierarchy["coarsest_inverted"]:
        return "smoothed"
    nullity = hierarchy["coarsest_nullity"]
    return f"inverted but for {nullity}" if nullity else "inverted"


def multigrid(results):
    """The hierarchies of multigrid, a row for each of `results` that has one."""
    at = METHODS.index("mg")
    columns = ["matrix", "bs", "symmetric", "rows of the levels", "coarsest"]
    columns += ["complexity", "ρ(D⁻¹A)", "errors", "nodes", "smoother", "cycle", "ILU(0)"]
    columns += HEADINGS[at:]
    lines = tables.heading(*columns)
    for result in results:
        run = result["runs"][at]
        hierarchy = run["hierarchy"]
        if not hierarchy:
            continue
        levels = hierarchy["levels"]
        radius, factor = levels[0]["radius"], result.get("mg_error_factor")
        lines.append(
            tables.row(
                result["matrix"]["name"], result["matrix"]["block_size"],
                "yes" if hierarchy["symmetric"] else "no",
                ", ".join(str(level["block_rows"] * level["block_size"]) for level in levels),
                coarsest(hierarchy), f"{hierarchy['operator_complexity']:.2f}",
                "–" if radius is None else f"{radius:.3g}",
                "–" if factor is None else f"{factor:.2g}", hierarchy["nodes"],
                hierarchy["smoother"], hierarchy["cycle"],
                tables.cell(result["runs"][METHODS.index("ilu")]),
                *map(tables.cell, result["runs"][at:])
            )
        )
    return lines


def main():
    parser = tables.parser(__doc__, "2000")
    parser.add_argument("--without-times", default="")
    parser.add_argument(
        "--add-to", help="JSON of earlier runs; matrices that are not run again are kept"
    )
    parser.add_argument("--seconds", type=float, help="the most that a matrix may take")
    options = parser.parse_args()
    if options.backend == "cuda":
        for method, heading in available(options):
            METHODS.append(method)
            HEADINGS.append(heading)
    refused = []
    new = solve_all(options, list(tables.matrices(options)), refused)
    if not new:
        raise SystemExit("\n".join(refused) or f"{options.matrices} holds no matrix")
    results = merged(tables.read_json(options.add_to) if options.add_to else [], new)
    here = tuple(new[0][k] for k in ("commit", "date", "device"))
    elsewhere = list(measured_elsewhere(results, here))
    chosen, natural = (table(options, results, asked) for asked in ("auto", "physics"))
    tables.write(
        options.output,
        [
            "# Iterations on real matrices"
            if options.without_times
            else "# Iterations and times on real matrices",
            "",
            *tables.made_by(options, new[0]),
            *elsewhere,
            tables.REASONS,
            options.without_times or "Times are those of set-up, with the factorisation, and solve,"
            " in ms.",
            "",
            "## Block size chosen by `auto`",
            "",
            *chosen,
            "",
            "## Block size of the physics, if `auto` chooses another",
            "",
            "`auto` chooses another size for these matrices: no size has nearly all diagonal blocks"
            " regular, or the blocks of the physics have many different patterns. Natural blocks"
            " cost more bytes. Some converge although the scalar factorisation finds a missing or"
            " zero pivot.",
            "",
            *natural,
            "",
            "## The hierarchies of multigrid",
            "",
            "Rows are scalar rows. A matrix that is small enough has one level, which is inverted:"
            " multigrid is then a direct solver. *Inverted but for d* says that the coarsest matrix"
            " has a null space of dimension d. If the last matrix is *smoothed*, it could not be"
            " coarsened. Matrices with a missing or singular diagonal block have no hierarchy."
            " ρ(D⁻¹A) is an estimate for level 0. A cycle multiplies *errors* by about that"
            " factor.",
            "",
            *multigrid(results),
            "",
            *refused,
        ],
        results,
    )


if __name__ == "__main__":
    main()
