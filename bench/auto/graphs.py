# SPDX-License-Identifier: BSD-3-Clause
"""Systems without a mesh: frames, circuits, networks, chemical plants and optimisation.

Each maker takes a size and a random generator and returns (A, b).
"""

import numpy
import scipy.sparse as sparse
import scipy.spatial

import grids


def beam(length, young=2.1e11, area=8e-3, inertia=(2e-5, 6e-6), torsion=4e-7):
    """Returns the stiffness of Euler–Bernoulli beams along x, 12 × 12 for each length in m."""
    shear = young / 2.6
    k = numpy.zeros((len(length), 12, 12))
    for at, value in ((0, young * area), (3, shear * torsion)):
        for i, j, sign in ((0, 0, 1), (6, 6, 1), (0, 6, -1), (6, 0, -1)):
            k[:, at + i, at + j] = sign * value / length
    for first, second, sign, moment in ((1, 5, 1, inertia[0]), (2, 4, -1, inertia[1])):
        places = [first, second, first + 6, second + 6]
        stiff = young * moment / length**3
        one, l, ll = stiff, sign * stiff * length, stiff * length**2
        rows = [[12 * one, 6 * l, -12 * one, 6 * l], [6 * l, 4 * ll, -6 * l, 2 * ll],
                [-12 * one, -6 * l, 12 * one, -6 * l], [6 * l, 2 * ll, -6 * l, 4 * ll]]
        for i, row in zip(places, rows):
            for j, value in zip(places, row):
                k[:, i, j] = value
    return k


def frame(shape, rng, order="given"):
    """A steel frame of shape[0] × shape[1] × shape[2] joints with some braces, fixed to the
    ground. A joint has three displacements in m and three rotations."""
    joints = numpy.arange(numpy.prod(shape)).reshape(shape)
    points = numpy.indices(shape).reshape(3, -1).T * [6.0, 5.0, 3.5]
    points = points + rng.uniform(-0.1, 0.1, points.shape)
    pairs = [numpy.array([a, b]) for _, a, b in grids.faces(shape)]
    low, high = joints[:-1, :, :-1].ravel(), joints[1:, :, 1:].ravel()
    braced = rng.random(len(low)) < 0.2
    pairs = numpy.concatenate([*pairs, numpy.array([low[braced], high[braced]])], axis=1)
    along = points[pairs[1]] - points[pairs[0]]
    length = numpy.linalg.norm(along, axis=1)
    x = along / length[:, None]
    helper = numpy.where(abs(x[:, 2:]) > 0.9, [1.0, 0, 0], [0, 0, 1.0])
    y = numpy.cross(helper, x)
    y /= numpy.linalg.norm(y, axis=1)[:, None]
    axes = numpy.stack([x, y, numpy.cross(x, y)], axis=1)
    turn = numpy.zeros((len(length), 12, 12))
    for at in range(0, 12, 3):
        turn[:, at:at + 3, at:at + 3] = axes
    stiffness = turn.transpose(0, 2, 1) @ beam(length) @ turn
    ends = [(0, 0), (0, 1), (1, 0), (1, 1)]
    matrix = grids.blocks(
        numpy.concatenate([pairs[i] for i, _ in ends]),
        numpy.concatenate([pairs[j] for _, j in ends]),
        numpy.concatenate([stiffness[:, 6 * i:6 * i + 6, 6 * j:6 * j + 6] for i, j in ends]),
        joints.size
    )
    standing = joints[:, :, 1:].ravel()
    if order == "random":
        standing = rng.permutation(standing)
    kept = (6 * standing[:, None] + numpy.arange(6)).ravel()
    load = numpy.tile([0.0, 200.0, -1e4, 0.0, 0.0, 0.0], len(standing))
    return matrix[kept][:, kept], load


def neighbours(count, rng):
    """Returns the edges of a planar graph of points at random."""
    triangles = scipy.spatial.Delaunay(rng.random((count, 2))).simplices
    edges = numpy.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [0, 2]]])
    return numpy.unique(numpy.sort(edges, axis=1), axis=0)


def conductances(edges, values, count):
    """Returns the Laplacian of a graph."""
    incidence = sparse.csr_matrix((
        numpy.tile([1.0, -1.0], len(edges)), edges.ravel(), numpy.arange(0, 2 * len(edges) + 1, 2)
    ),
                                  shape=(len(edges), count))
    return incidence.T @ sparse.diags(values) @ incidence


def power_network(count, rng):
    """Admittances of lines over six orders of magnitude, a few of which lead to the ground."""
    edges = neighbours(count, rng)
    edges = edges[rng.random(len(edges)) < 0.6]
    ground = numpy.where(rng.random(count) < 0.05, 10.0**rng.uniform(-1, 2, count), 1e-3)
    matrix = conductances(edges, 10.0**rng.uniform(-2, 4, len(edges)), count)
    return (matrix + sparse.diags(ground)).tocsr(), rng.standard_normal(count).round(5)


def circuit(count, rng):
    """Modified nodal analysis: resistors, controlled currents, and sources of voltage, whose rows
    have no diagonal."""
    edges = neighbours(count, rng)
    edges = edges[rng.random(len(edges)) < 0.7]
    matrix = conductances(edges, 10.0**rng.uniform(-6, 0, len(edges)), count)
    matrix = matrix + sparse.diags(10.0**rng.uniform(-9, -5, count))
    gains = count // 5
    place = (rng.integers(0, count, gains), rng.integers(0, count, gains))
    matrix = matrix + sparse.coo_matrix((10.0**rng.uniform(-6, -2, gains), place),
                                        shape=(count, count))
    sources = count // 10
    nodes = rng.permutation(count)[:2 * sources]
    plus, minus = nodes[:sources], nodes[sources:]
    row = numpy.concatenate([numpy.arange(sources), numpy.arange(sources)])
    values = numpy.repeat([1.0, -1.0], sources)
    held = sparse.coo_matrix((values, (row, numpy.concatenate([plus, minus]))),
                             shape=(sources, count))
    matrix = sparse.bmat([[matrix, held.T], [held, None]]).tocsr()
    order = rng.permutation(matrix.shape[0])
    b = numpy.concatenate([numpy.zeros(count), rng.choice([1.0, 3.3, 5.0], sources)])
    return matrix[order][:, order], b[order]


def basis(count, rng):
    """The basis of a linear program: triangular after permutations but for a few columns, with
    values over six orders of magnitude, and almost no entry on the diagonal."""
    entries = 4 * count
    row = rng.integers(1, count, entries)
    column = (row * rng.random(entries)**0.5).astype(int)
    spikes = count // 30
    high = rng.integers(0, count, spikes)
    low = numpy.minimum(high + rng.integers(1, 200, spikes), count - 1)
    row, column = numpy.concatenate([row, high]), numpy.concatenate([column, low])
    values = rng.choice([-1.0, 1.0], len(row)) * rng.uniform(0.05, 0.6, len(row))
    matrix = sparse.coo_matrix((values, (row, column)), shape=(count, count)).tocsr()
    matrix = sparse.tril(matrix, -1) + sparse.triu(matrix,
                                                   1) + sparse.diags(rng.uniform(0.5, 2, count))
    scale = [sparse.diags(10.0**rng.uniform(-1.5, 1.5, count)) for _ in range(2)]
    matrix = (scale[0] @ matrix @ scale[1]).tocsr()
    return matrix[rng.permutation(count)][:, rng.permutation(count)], rng.random(count).round(4)


def distillation(stages, rng, components=5):
    """Columns of stages with balances of amounts, equilibria, sums and heat, each kind of equation
    after the other in a stage, so that few entries lie on the diagonal."""
    size = 2 * components + 2  # vapour and liquid flows, temperature, total of the vapour
    local, below, above = (numpy.zeros((stages, size, size)) for _ in range(3))
    vapour, liquid = numpy.arange(components), components + numpy.arange(components)
    flow = rng.uniform(0.5, 2, (2, stages, components))
    ratio = 10.0**rng.uniform(-2, 2, components) * rng.uniform(0.8, 1.2, (stages, components))
    for c in range(components):
        balance, equilibrium = c + 2, (components + 2 + c) % size
        local[:, balance, vapour[c]] = local[:, balance, liquid[c]] = 1
        below[:, balance, liquid[c]] = above[:, balance, vapour[c]] = -0.97
        local[:, equilibrium, vapour[c]] = 1
        local[:, equilibrium, liquid[c]] = -ratio[:, c]
        local[:, equilibrium, 2 * components] = -0.02 * ratio[:, c] * flow[1, :, c]
        local[:, equilibrium, 2 * components + 1] = -1e-2 * flow[0, :, c]
    local[:, 0, vapour], local[:, 0, 2 * components + 1] = 1, -1
    local[:, 1, vapour], local[:, 1, liquid] = 4e4 + 1e3 * flow[0], 5e3 + 1e3 * flow[1]
    local[:, 1, 2 * components] = 1e3 * flow.sum(axis=(0, 2))
    below[:, 1, liquid], above[:, 1, vapour] = -5e3 - 1e3 * flow[1], -4e4 - 1e3 * flow[0]
    at = numpy.arange(stages)
    joined = at[1:][at[1:] % 40 != 0]  # columns of forty stages
    matrix = grids.blocks(
        numpy.concatenate([at, joined, joined - 1]), numpy.concatenate([at, joined - 1, joined]),
        numpy.concatenate([local, below[joined], above[joined - 1]]), stages
    )
    matrix.eliminate_zeros()
    recycle = sparse.random(stages * size, stages * size, 2.0 / (stages * size)**1.5, rng=rng)
    return (matrix + recycle).tocsr(), rng.random(stages * size).round(4)


def interior_point(count, rng):
    """The system of a step of an interior point method: [H Aᵀ; A -1e-8], where H has a diagonal
    from 1e-4 to 1e4 and each constraint couples a few variables."""
    constraints, edges = count // 3, neighbours(count, rng)
    hessian = conductances(edges, rng.uniform(0, 1, len(edges)), count)
    hessian = hessian + sparse.diags(10.0**rng.uniform(-4, 4, count))
    row = numpy.concatenate([
        numpy.arange(constraints),
        rng.integers(0, constraints, 2 * constraints)
    ])
    own = rng.permutation(count)[:constraints]
    column = numpy.concatenate([own, rng.integers(0, count, 2 * constraints)])
    values = rng.choice([-1.0, 1.0], len(row)) * rng.uniform(0.5, 2, len(row))
    jacobian = sparse.coo_matrix((values, (row, column)), shape=(constraints, count))
    corner = -1e-8 * sparse.eye(constraints)
    matrix = sparse.bmat([[hessian, jacobian.T], [jacobian, corner]]).tocsr()
    return matrix, rng.standard_normal(matrix.shape[0]).round(5)


def optimal_control(n, rng, weight=1e-4):
    """Control of diffusion on n × n nodes: [M 0 K; 0 βM -M; K -M 0], a field after the other."""
    line = grids.second_difference(n, 2.0)
    stiffness = sparse.kron(line, sparse.eye(n)) + sparse.kron(sparse.eye(n), line)
    mass = sparse.eye(n * n) / (n + 1)**2
    matrix = sparse.bmat([[mass, None, stiffness], [None, weight * mass, -mass],
                          [stiffness, -mass, None]]).tocsr()
    target = numpy.ones(n * n) / (n + 1)**2
    return matrix, numpy.concatenate([target, numpy.zeros(2 * n * n)])
