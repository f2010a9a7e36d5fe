# SPDX-License-Identifier: BSD-3-Clause
"""Makes systems of linear tetrahedra whose coefficients jump, for coefficient_jumps.py.

The mesh is a cube of some cells in each direction, six tetrahedra in a cell, whose nodes are moved
at random by up to a fifth of a cell. It needs numpy and scipy.
"""

import itertools

import numpy as np
import scipy.sparse as sparse
from scipy.sparse.linalg import eigsh


def mesh(cells, random):
    """Returns the nodes and the tetrahedra: one along each path of edges through a cell."""
    line = np.linspace(0, 1, cells + 1)
    nodes = np.stack(np.meshgrid(line, line, line, indexing="ij"), -1).reshape(-1, 3)
    moves = random.uniform(-0.2, 0.2, nodes.shape) / cells
    number = np.arange(len(nodes)).reshape(3 * (cells + 1,))
    paths = []
    for axes in itertools.permutations(range(3)):
        corner, path = np.zeros(3, int), []
        for axis in (*axes, None):
            path.append(number[tuple(slice(c, cells + c) for c in corner)].ravel())
            corner[axis] += axis is not None
        paths.append(np.stack(path, -1))
    return nodes + moves * ((nodes > 0) & (nodes < 1)), np.concatenate(paths)


def assemble(nodes, elements, coefficient, unknowns):
    """Returns the matrix of diffusion, or of elasticity with Poisson's ratio 0.3."""
    edges = nodes[elements[:, 1:]] - nodes[elements[:, :1]]
    gradients = np.linalg.inv(edges)  # axis, node
    gradients = np.concatenate([-gradients.sum(2, keepdims=True), gradients], 2)
    if unknowns == 1:
        strain, material = gradients, np.eye(3)
    else:
        strain = np.zeros((len(elements), 6, 4, 3))
        for i, (a, b) in enumerate(((0, 0), (1, 1), (2, 2), (0, 1), (1, 2), (0, 2))):
            strain[:, i, :, a] = gradients[:, b]
            strain[:, i, :, b] = gradients[:, a]
        strain = strain.reshape(len(elements), 6, 12)
        material = np.diag([1.0] * 3 + [0.5] * 3) / 1.3
        material[:3, :3] += 0.3 / (1.3 * 0.4)
    weight = coefficient * abs(np.linalg.det(edges)) / 6
    local = np.einsum("e,eki,kl,elj->eij", weight, strain, material, strain, optimize=True)
    at = (elements[:, :, None] * unknowns + np.arange(unknowns)).reshape(len(elements), -1)
    rows, columns = np.broadcast_arrays(at[:, :, None], at[:, None, :])
    size = unknowns * len(nodes)
    return sparse.coo_matrix((local.ravel(), (rows.ravel(), columns.ravel())), (size, size)).tocsr()


def modes_of(nodes, unknowns):
    """Returns constants, or the translations and rotations of a body."""
    if unknowns == 1:
        return np.ones((len(nodes), 1))
    turns = [np.cross(axis, nodes - nodes.mean(0)) for axis in np.eye(3)]
    shifts = [np.tile(axis, (len(nodes), 1)) for axis in np.eye(3)]
    return np.stack(shifts + turns, -1).reshape(3 * len(nodes), 6)


def make(cells, jump, unknowns, held):
    """Returns A, a random b in the range of A, and the modes.

    The coefficient of an element is 10^u with u between -jump and jump. Without a jump it is 1000
    in 3 of 10 cubes of three cells, and 1 elsewhere. One side of the cube is held or none.
    """
    random = np.random.default_rng(29)
    nodes, elements = mesh(cells, random)
    if jump is None:
        stiff = random.uniform(size=3 * (cells // 3 + 1,)) < 0.3
        place = (nodes[elements].mean(1) * cells / 3).astype(int)
        coefficient = np.where(stiff[tuple(place.T)], 1000.0, 1.0)
    else:
        coefficient = 10 ** random.uniform(-jump, jump, len(elements))
    a = assemble(nodes, elements, coefficient, unknowns)
    free = nodes[:, 2] > 0 if held else np.full(len(nodes), True)
    modes = modes_of(nodes[free], unknowns)
    a = a[np.repeat(free, unknowns)][:, np.repeat(free, unknowns)]
    a.sort_indices()
    b = random.standard_normal(a.shape[0])
    if not held:
        basis = np.linalg.qr(modes)[0]
        b -= basis @ (basis.T @ b)
    return a, b, modes


def write_petsc(path, a, b, unknowns):
    integers = [1211216, *a.shape, a.nnz], np.diff(a.indptr), a.indices
    parts = [np.concatenate(integers).astype(">i4"), a.data.astype(">f8")]
    parts += [np.array([1211214, len(b)], ">i4"), b.astype(">f8")]
    path.write_bytes(b"".join(part.tobytes() for part in parts))
    path.with_name(path.name + ".info").write_text(f"-matload_block_size {unknowns}\n")


def radius(a, unknowns):
    """Returns ρ(D⁻¹A) by ARPACK, from L⁻¹ A L⁻ᵀ with D = L Lᵀ."""
    count = a.shape[0] // unknowns
    blocks = a.tobsr((unknowns, unknowns))
    rows = np.repeat(np.arange(count), np.diff(blocks.indptr))
    inverse = np.linalg.inv(np.linalg.cholesky(blocks.data[rows == blocks.indices]))
    scale = sparse.bsr_matrix((inverse, np.arange(count), np.arange(count + 1))).tocsr()
    return eigsh(scale @ a @ scale.T, 1, which="LA", ncv=60, tol=1e-6, return_eigenvectors=False)[0]
