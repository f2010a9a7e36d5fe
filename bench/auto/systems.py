#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes systems that judge the automatic choice, made by other codes than the program's cases.

usage: systems.py FOLDER [--only NAME]

Needs numpy, scipy and scikit-fem. FOLDER gets NAME.mtx.xz, NAME_b.mtx.xz where the system has a
right-hand side of its own, and list.json with the name, rows, nonzeros, physics and split of each
system. The third of the systems whose names have the lowest SHA-256 are "held out" of the tuning of
the choice, and the others are for "tuning". The random numbers of a
system depend on its name only.
"""

import argparse
import hashlib
import io
import json
import lzma
import pathlib

import numpy
import scipy.io
import scipy.sparse
import skfem

import elements
import graphs
import grids

DIGITS = 6  # of values; matrices whose small eigenvalues need more have EXACT ones
EXACT = 10
FRAGILE = ("slender", "frame", "morley", "plate", "neumann", "control", "power", "circuit")
OWN, MADE = True, False  # whether the file of the right-hand side is written

SYSTEMS = [  # name, physics, right-hand side, maker, size, further arguments
    ("tet_elasticity_8", "elasticity in tetrahedra", OWN, elements.tetrahedral_elasticity, 8, {}),
    ("tet_elasticity_11", "elasticity in tetrahedra", OWN, elements.tetrahedral_elasticity, 11, {}),
    (
        "tet_elasticity_mesher_9", "elasticity in tetrahedra, random numbers", MADE,
        elements.tetrahedral_elasticity, 9, {"order": "random"}
    ),
    ("tet_fields_8", "elasticity, field by field", OWN, elements.elasticity_by_fields, 8, {}),
    ("tet_fields_10", "elasticity, field by field", OWN, elements.elasticity_by_fields, 10, {}),
    ("tet_symmetry_10", "elastic, symmetry planes", OWN, elements.elasticity_with_symmetry, 10, {}),
    ("tet_symmetry_13", "elastic, symmetry planes", OWN, elements.elasticity_with_symmetry, 13, {}),
    (
        "tet_symmetry_stiff_12", "almost incompressible elasticity, symmetry planes", MADE,
        elements.elasticity_with_symmetry, 12, {"poisson": 0.49}
    ),
    ("slender_beam_45", "slender plate, random numbers", MADE, elements.slender_beam, 45, {}),
    ("slender_beam_66", "slender plate, random numbers", MADE, elements.slender_beam, 66, {}),
    ("frame_7", "space frame, 6 unknowns a node", OWN, graphs.frame, (7, 7, 7), {}),
    ("frame_11", "space frame, 6 unknowns a node", OWN, graphs.frame, (11, 10, 12), {}),
    (
        "frame_mesher_8", "space frame, random numbers", MADE, graphs.frame, (9, 8, 8),
        {"order": "random"}
    ),
    ("rotated_64", "rotated anisotropy 1e4", OWN, elements.rotated_anisotropy, 64, {}),
    ("rotated_140", "rotated anisotropy 1e4", OWN, elements.rotated_anisotropy, 140, {}),
    (
        "rotated_mesher_90", "rotated anisotropy 1e4, triangles", MADE, elements.rotated_anisotropy,
        90, {"structured": False}
    ),
    ("jumps2d_70", "jumps of 1e4, triangles", OWN, elements.jumps, 70, {}),
    ("jumps2d_130", "jumps of 1e4, triangles", OWN, elements.jumps, 130, {}),
    ("jumps3d_22", "jumps of 1e4, tetrahedra", MADE, elements.jumps, 22, {"dimension": 3}),
    ("thermo_6", "thermo-mechanics in SI units", OWN, elements.thermomechanics, 6, {}),
    ("thermo_8", "thermo-mechanics in SI units", OWN, elements.thermomechanics, 8, {}),
    ("species2d_24", "transport of 7 species", OWN, grids.reacting_transport, (24, 24), {}),
    ("species2d_40", "transport of 7 species, stiff", MADE, grids.reacting_transport, (40, 40),
     {"stiffness": 9.0, "step": 100.0}),
    ("species3d_11", "transport of 7 species", OWN, grids.reacting_transport, (11, 11, 11), {}),
    ("euler_subsonic_24", "Euler, Mach 0.3", OWN, grids.euler, 24, {}),
    ("euler_supersonic_30", "Euler, Mach 2", OWN, grids.euler, 30, {"mach": 2.0, "cfl": 1e4}),
    ("euler_si_28", "Euler in SI units", OWN, grids.euler, 28, {"units": 1e5, "cfl": 1e3}),
    ("oseen_24_re100", "Oseen on a MAC grid, Re 100", OWN, grids.oseen, 24, {}),
    ("oseen_48_re500", "Oseen on a MAC grid, Re 500", OWN, grids.oseen, 48, {"reynolds": 500.0}),
    ("oseen_72_re200", "Oseen on a MAC grid, Re 200", OWN, grids.oseen, 72, {"reynolds": 200.0}),
    (
        "oseen_cells_40_re200", "Oseen on a MAC grid, cell by cell", MADE, grids.oseen, 40,
        {"reynolds": 200.0, "together": True}
    ),
    ("taylor_hood_16", "Taylor–Hood Stokes", OWN, elements.taylor_hood, 16, {}),
    ("taylor_hood_36", "Taylor–Hood Stokes", OWN, elements.taylor_hood, 36, {}),
    ("taylor_hood_free_26", "Taylor–Hood, pressure not fixed", MADE, elements.taylor_hood, 26,
     {"dropped": 0}),
    ("neumann2d_90", "pure Neumann, b inconsistent", OWN, grids.neumann, (90, 90), {}),
    ("neumann3d_24", "pure Neumann, b inconsistent", OWN, grids.neumann, (24, 24, 24), {}),
    ("neumann_consistent_110", "pure Neumann, b consistent", OWN, grids.neumann, (110, 110),
     {"consistent": True}),
    ("helmholtz_40", "Helmholtz, shift 0.5", OWN, grids.helmholtz, 40, {"damping": 0.5}),
    ("helmholtz_60", "Helmholtz, shift 0.1", OWN, grids.helmholtz, 60, {}),
    ("helmholtz_80", "Helmholtz, no shift", MADE, grids.helmholtz, 80, {"damping": 0.0}),
    ("supg_60", "convection, SUPG on triangles", OWN, elements.convection, 60, {}),
    ("supg_110", "convection, SUPG on triangles", OWN, elements.convection, 110, {}),
    ("transport3d_36", "convection, upwind in 3D", OWN, grids.rotating_transport, (36, 36, 36), {}),
    ("two_phase2d_50", "two phases in a reservoir", OWN, grids.two_phase, (50, 50), {}),
    (
        "two_phase2d_75", "two phases in a reservoir, rough", OWN, grids.two_phase, (75, 75),
        {"deviation": 3.0, "days": 100.0}
    ),
    ("two_phase3d_18", "two phases in a reservoir", OWN, grids.two_phase, (20, 18, 16), {}),
    ("circuit_2000", "circuit, sources without a diagonal", OWN, graphs.circuit, 2000, {}),
    ("circuit_9000", "circuit, sources without a diagonal", MADE, graphs.circuit, 9000, {}),
    ("basis_3000", "basis of a linear program, no diagonal", OWN, graphs.basis, 3000, {}),
    ("basis_9000", "basis of a linear program, no diagonal", MADE, graphs.basis, 9000, {}),
    ("distillation_160", "distillation columns", OWN, graphs.distillation, 160, {}),
    ("distillation_800", "distillation columns", MADE, graphs.distillation, 800, {}),
    ("power_network_5000", "network of lines", OWN, graphs.power_network, 5000, {}),
    ("mixed_36", "mixed diffusion, Raviart–Thomas", OWN, elements.mixed_diffusion, 36, {}),
    ("mixed_70", "mixed diffusion, Raviart–Thomas, rough", MADE, elements.mixed_diffusion, 70,
     {"contrast": 1.0}),
    ("plate_60", "biharmonic, 13 points", OWN, grids.plate, 60, {}),
    ("plate_120", "biharmonic, 13 points", MADE, grids.plate, 120, {}),
    ("morley_40", "plate by Morley's elements", OWN, elements.morley_plate, 40, {}),
    (
        "diffusion_p2_10", "quadratic tetrahedra, random numbers", OWN, elements.diffusion,
        10, {"element": skfem.ElementTetP2}
    ),
    ("diffusion_mesher_160", "diffusion, random numbers", MADE, elements.diffusion, 160, {}),
    ("edge_13", "curl curl, edge elements", OWN, elements.eddy_currents, 13, {}),
    ("kkt_4000", "optimisation, KKT", OWN, graphs.interior_point, 4000, {}),
    ("kkt_9000", "optimisation, KKT", MADE, graphs.interior_point, 9000, {}),
    ("control_30", "optimal control, KKT", OWN, graphs.optimal_control, 30, {}),
    ("control_64", "optimal control, KKT", OWN, graphs.optimal_control, 64, {"weight": 1e-6}),
]


def digest(name):
    return hashlib.sha256(name.encode()).digest()


def split(name):
    names = sorted((system[0] for system in SYSTEMS), key=digest)
    return "held out" if name in names[:len(names) // 3] else "tuning"


def symmetrised(matrix):
    """Returns a matrix that differs from its transpose by rounding only without this difference."""
    difference = abs(matrix - matrix.T).max()
    return (matrix + matrix.T) / 2 if 0 < difference < 1e-14 * abs(matrix).max() else matrix


def without_noise(matrix):
    """Returns a matrix without entries that are mere rounding in their row and column."""
    matrix = matrix.tocoo()
    size = abs(matrix.data)
    rows, columns = numpy.zeros(matrix.shape[0]), numpy.zeros(matrix.shape[1])
    numpy.maximum.at(rows, matrix.row, size)
    numpy.maximum.at(columns, matrix.col, size)
    kept = size > 1e-14 * numpy.minimum(rows[matrix.row], columns[matrix.col])
    places = matrix.row[kept], matrix.col[kept]
    return scipy.sparse.csr_matrix((matrix.data[kept], places), shape=matrix.shape)


def written(path, content, symmetry, digits=DIGITS):
    text = io.BytesIO()
    scipy.io.mmwrite(text, content, precision=digits, symmetry=symmetry)
    packed = lzma.compress(text.getvalue(), preset=6)
    path.write_bytes(packed)
    return len(packed)


def made(folder, name, physics, own, maker, size, more):
    """Writes one system and returns its row of the list."""
    seed = int.from_bytes(digest(name)[:8], "big")
    matrix, b = maker(size, numpy.random.default_rng(seed), **more)
    matrix = without_noise(symmetrised(matrix.tocsr()))
    matrix.sort_indices()
    symmetric = abs(matrix - matrix.T).max() == 0
    kind = "symmetric" if symmetric else "general"
    digits = EXACT if name.startswith(FRAGILE) else DIGITS
    size = written(folder / f"{name}.mtx.xz", matrix.tocoo(), kind, digits)
    if own:
        size += written(folder / f"{name}_b.mtx.xz", b[:, None], "general", EXACT)
    row = {"name": name, "rows": matrix.shape[0], "nnz": matrix.nnz, "physics": physics}
    row.update(symmetric=bool(symmetric), own_b=own, split=split(name), bytes=size)
    print(row, flush=True)
    return row


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--only", help="part of a name")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    rows = [made(options.folder, *s) for s in SYSTEMS if not options.only or options.only in s[0]]
    if not options.only:
        (options.folder /
         "list.json").write_text(json.dumps(rows, indent=1, ensure_ascii=False) + "\n")
    print(len(rows), "systems,", sum(row["bytes"] for row in rows), "bytes")


if __name__ == "__main__":
    main()
