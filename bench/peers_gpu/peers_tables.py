#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes a page from the results of peers_gpu.

usage: peers_tables.py OUTPUT.md RESULTS.json

Writes OUTPUT.md, and OUTPUT.json with all figures of all settings.
"""

import datetime
import json
import pathlib
import sys

sys.path.append(f"{sys.path[0]}/../common")
import tables


def number(value):
    return f"{value:.3g}" if value < 1000 else f"{value:.0f}"


def times(record):
    """Returns set-up + solve in milliseconds, minima."""
    return f"{number(1e3 * record['setup_minimum'])} + {number(1e3 * record['solve_minimum'])}"


def megabytes(count):
    return number(1e-6 * count)


def best_of(records):
    """Returns the record of the least sum of those that converged, or None."""
    solved = [record for record in records if record["converged"]]
    return min(solved, key=lambda record: record["sum_minimum"], default=None)


def systems_of(figures):
    return list(dict.fromkeys(record["system"] for record in figures))


def ours(figures, system):
    return [r for r in figures if r["what"] == "all in" and r["system"] == system]


def theirs(figures, system, library):
    return [
        r for r in figures
        if r["what"] == "peer" and r["system"] == system and r["library"] == library
    ]


def matrix_bytes(record):
    square = record["block_size"] ** 2
    return record["blocks"] * (8 * square + 4)


def row_of(figures, system, libraries):
    mine = ours(figures, system)[0]
    cells = [
        system, mine["iterations"], times(mine), megabytes(mine["hierarchy_bytes"]),
        megabytes(mine["peak_bytes"])
    ]
    for library in libraries:
        records = theirs(figures, system, library)
        best = best_of(records)
        if not records:
            cells += ["not run", "–", "–", "–"]
        elif best is None:
            cells += ["none converged", "–", "–", "–"]
        else:
            cells += [
                f"{best['iterations']} ({best['setting']})", times(best),
                f"{megabytes(best['kept_bytes'])}, {megabytes(best['peak_bytes'])}",
                f"{best['sum_minimum'] / mine['sum_minimum']:.2f}"
            ]
    return tables.row(*cells)


def compared(figures, libraries):
    columns = [
        column for library in libraries for column in (
            f"{library}: iterations (best setting)", "times", "MB, peak", f"{library} over bisai"
        )
    ]
    yield from tables.heading("system", "bisai: iterations", "times", "MB", "peak", *columns)
    for system in systems_of(figures):
        yield row_of(figures, system, libraries)


def outcome(record):
    if record["converged"]:
        return record["iterations"]
    return record["refusal"] or f"not in {record['iterations']}"


def settings(figures, libraries):
    yield from tables.heading(
        "system", "library", "setting", "iterations", "times", "median of the sum", "MB, peak",
        "true residual"
    )
    for system in systems_of(figures):
        for library in libraries:
            for r in theirs(figures, system, library):
                residual = r["relative_residual"]
                yield tables.row(
                    system, library, r["setting"], outcome(r), times(r),
                    number(1e3 * r["sum_median"]),
                    f"{megabytes(r['kept_bytes'])}, {megabytes(r['peak_bytes'])}",
                    f"{residual:.1e}" if residual >= 0 else "–"
                )


def page(document):
    figures = document["figures"]
    libraries = [name for name in ("hypre", "GAMG") if name in document]
    names = {"hypre": "hypre's BoomerAMG", "GAMG": "PETSc's GAMG"}
    versions = " and ".join(f"{names[name]} ({document[name]})" for name in libraries)
    yield "# Multigrid of other libraries on a GPU"
    yield ""
    yield (
        f"{document['date']}, commit {document['commit']}, {document['device']}: bisai's `mg`"
        f" without keys beside {versions}, in one run of `peers_gpu` on the same systems."
    )
    yield ""
    yield (
        "CG to 1e-8 for symmetric systems, FGMRES(30) to 1e-8, or 1e-5 for cavities, each of the"
        " library's own. Elasticity has its six rigid-body modes in bisai and GAMG. Others get"
        " scalar matrices without the zeros of blocks. Times are set-up + solve in milliseconds,"
        " warm, the minimum of seven, from the matrix on the device. The best setting has the least"
        " sum. MB are what a hierarchy keeps beside A, and the peak what it takes meanwhile: of"
        " bisai by its report, of others the growth of the device's memory in use."
    )
    yield ""
    yield from compared(figures, libraries)
    yield ""
    yield "## All settings"
    yield ""
    yield (
        "hypre: PMIS, interpolation ext+i with at most 4 entries a row, one sweep; *unknowns*: a"
        " function for each unknown of a node; *nodal*: nodes are chosen as a whole; *aggressive*:"
        " on one level. GAMG: smoothed aggregation. At most 500 iterations. A setting whose first"
        " run took over 10 s was not run again."
    )
    yield ""
    yield from settings(figures, libraries)


def main():
    output, results = map(pathlib.Path, sys.argv[1:])
    document = json.loads(results.read_text())
    document.setdefault("date", str(datetime.date.today()))
    document.setdefault("commit", tables.measured_commit())
    if not document["figures"]:
        sys.exit(f"{results}: no figures")
    tables.write(output, page(document), [document])


if __name__ == "__main__":
    main()
