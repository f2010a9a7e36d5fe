#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes a page from the results of peers_gpu.

usage: peers_tables.py OUTPUT.md RESULTS.json…

Writes OUTPUT.md, and OUTPUT.json with all figures of all settings. bisai's figures beside those of
a library are of the first file that has this system and library.
"""

import json
import pathlib
import sys

sys.path.append(f"{sys.path[0]}/../common")
import tables


def number(value):
    return f"{value:.3g}" if value < 1000 else f"{value:.0f}"


def times(record):
    """Returns set-up + solve in milliseconds, minima. A slow setting was run once."""
    setup, solve = (number(1e3 * record[f"{part}_minimum"]) for part in ("setup", "solve"))
    return f"{setup} + {solve}{' (once)' if record['rounds'] == 1 else ''}"


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


def row_of(system, library, figures):
    mine, records = ours(figures, system)[0], theirs(figures, system, library)
    best = best_of(records)
    cells = [
        system, mine["iterations"], times(mine),
        f"{megabytes(mine['hierarchy_bytes'])}, {megabytes(mine['peak_bytes'])}"
    ]
    if best is None:
        return tables.row(*cells, "none converged", "–", "–", "–", "–")
    return tables.row(
        *cells, best["setting"], best["iterations"], times(best),
        f"{megabytes(best['kept_bytes'])}, {megabytes(best['peak_bytes'])}",
        f"{best['sum_minimum'] / mine['sum_minimum']:.2f}"
    )


def compared(documents, library):
    yield from tables.heading(
        "system", "bisai: iterations", "times", "MB, peak", f"{library}, best setting",
        "iterations", "times", "MB, peak", "over bisai"
    )
    figures = [
        record for document in documents
        if any(r.get("library") == library for r in document["figures"])
        for record in document["figures"]
    ]
    for system in systems_of(figures):
        yield row_of(system, library, figures)


def outcome(record):
    if record["converged"]:
        return record["iterations"]
    return record["refusal"] or f"not in {record['iterations']}"


def settings(documents):
    yield from tables.heading(
        "system", "library", "setting", "iterations", "times", "median of the sum", "MB, peak",
        "true residual"
    )
    for figures in (document["figures"] for document in documents):
        for r in (record for record in figures if record["what"] == "peer"):
            residual = r["relative_residual"]
            yield tables.row(
                r["system"], r["library"], r["setting"], outcome(r), times(r),
                number(1e3 * r["sum_median"]),
                f"{megabytes(r['kept_bytes'])}, {megabytes(r['peak_bytes'])}",
                f"{residual:.1e}" if residual >= 0 else "–"
            )


def page(documents):
    names = {"hypre": "hypre's BoomerAMG", "GAMG": "PETSc's GAMG"}
    first = documents[0]
    measured = {r.get("library") for document in documents for r in document["figures"]}
    libraries = [name for name in names if name in measured]
    named = list(dict.fromkeys(document["commit"] for document in documents))
    commits = f"{'commits' if len(named) > 1 else 'commit'} {' and '.join(named)}"
    versions = " and ".join(f"{names[name]} ({first[name]})" for name in libraries)
    yield "# Multigrid of other libraries on a GPU"
    yield ""
    yield (
        f"{first['date']}, {commits}, {first['device']}: bisai's `mg` without keys"
        f" beside {versions} on the same systems. Made by `peers_gpu`, which runs bisai and a"
        " library in one process."
    )
    yield ""
    yield (
        "CG to 1e-8 for symmetric systems, FGMRES(30) to 1e-8 for others, 1e-5 for cavities; each"
        " library has its own. Elasticity has its six rigid-body modes in bisai and in GAMG. The"
        " other libraries get scalar matrices without the zeros inside blocks. Times are set-up +"
        " solve in milliseconds, warm, the minimum of the rounds, from the matrix on the device."
        " *Once*: a slow first run was the only one, and has first launches in it. The best setting"
        " is that of the least sum. MB are what a hierarchy keeps beside A, and then the most that"
        " its set-up takes: of bisai by its report, of others the growth of the device's memory in"
        " use."
    )
    for library in libraries:
        yield from ["", f"## {names[library]}", "", *compared(documents, library)]
    yield ""
    yield "## All settings"
    yield ""
    yield (
        "hypre: PMIS, interpolation ext+i with at most 4 entries a row, one sweep; *unknowns*: a"
        " function for each unknown of a node; *aggressive*: on one level. Nodal coarsening crashes"
        " with matrices of a device. GAMG: smoothed aggregation, each setting in a process of its"
        " own; one that is missing ended its process, or was not reached. At most 500 iterations."
    )
    yield ""
    yield from settings(documents)


def main():
    output, *results = map(pathlib.Path, sys.argv[1:])
    documents = tables.recorded([json.loads(file.read_text()) for file in results])
    if not documents or not all(document["figures"] for document in documents):
        sys.exit("there are no figures")
    tables.write(output, page(documents), documents)


if __name__ == "__main__":
    main()
