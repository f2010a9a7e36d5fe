# SPDX-License-Identifier: BSD-3-Clause
"""Systems of finite elements on unstructured meshes, assembled by scikit-fem.

Each maker takes a size and a random generator and returns (A, b). Nodes of known value are
eliminated, so that the unknowns of a node may be fewer than its components.
"""

import numpy
import scipy.sparse
import scipy.spatial
import skfem
from skfem.helpers import curl, dd, ddot, div, dot, grad
from skfem.models.elasticity import lame_parameters, linear_elasticity

LAPLACE = skfem.BilinearForm(lambda u, v, w: w["c"] * dot(grad(u), grad(v)))
MASS = skfem.BilinearForm(lambda u, v, w: u * v)
LOAD = skfem.LinearForm(lambda v, w: (1 + w.x[0]) * v)


def shuffled(points, rng, order):
    """Returns the place of each point in a mesher's random numbering, or in the given one."""
    return rng.permutation(len(points)) if order == "random" else numpy.arange(len(points))


def triangles(n, rng, order="random", width=1.0, height=1.0):
    """Returns a Delaunay mesh of a rectangle with (n + 1)² points, moved at random inside."""
    x, y = numpy.meshgrid(numpy.linspace(0, 1, n + 1), numpy.linspace(0, 1, n + 1))
    points = numpy.column_stack([x.ravel(), y.ravel()])
    inside = ((points > 1e-9) & (points < 1 - 1e-9)).all(axis=1)
    points[inside] += rng.uniform(-0.32, 0.32, (inside.sum(), 2)) / n
    cells = scipy.spatial.Delaunay(points).simplices
    a, b, c = (points[cells[:, k]] for k in range(3))
    ab, ac = b - a, c - a
    cells = cells[abs(ab[:, 0] * ac[:, 1] - ab[:, 1] * ac[:, 0]) > 1e-3 / n**2]
    place = shuffled(points, rng, order)
    moved = numpy.empty_like(points)
    moved[place] = points * [width, height]
    return skfem.MeshTri(moved.T.copy(), place[cells].T.copy())


def tetrahedra(shape, rng, order="given", spacing=1.0):
    """Returns a mesh of boxes, each cut in tetrahedra, with nodes moved at random inside."""
    mesh = skfem.MeshTet.init_tensor(*(numpy.arange(k + 1.0) for k in shape))
    points = mesh.p.T.copy()
    inside = ((points > 0.5) & (points < numpy.array(shape) - 0.5)).all(axis=1)
    points[inside] += rng.uniform(-0.2, 0.2, (inside.sum(), 3))
    place = shuffled(points, rng, order)
    moved = numpy.empty_like(points)
    moved[place] = spacing * points
    return skfem.MeshTet(moved.T.copy(), place[mesh.t])


def free(matrix, b, fixed):
    """Returns the system of the unknowns that are not fixed at zero."""
    kept = numpy.setdiff1d(numpy.arange(matrix.shape[0]), fixed)
    return matrix.tocsr()[kept][:, kept], b[kept]


def elasticity_of(mesh, element, young, poisson):
    """Returns the basis, the stiffness and a load downwards."""
    basis = skfem.Basis(mesh, skfem.ElementVector(element), intorder=2)
    stiffness = skfem.asm(linear_elasticity(*lame_parameters(young, poisson)), basis)
    weight = skfem.LinearForm(lambda v, w: -v[-1])
    return basis, stiffness, skfem.asm(weight, basis)


def tetrahedral_elasticity(n, rng, order="given"):
    """A bar of 2n × n × n boxes that is clamped at one end, the components of a node together."""
    mesh = tetrahedra((2 * n, n, n), rng, order)
    basis, stiffness, b = elasticity_of(mesh, skfem.ElementTetP1(), 1.0, 0.3)
    return free(stiffness, b, basis.get_dofs(lambda x: x[0] < 1e-9).all())


def elasticity_by_fields(n, rng):
    """The same, all first components before all second and third ones."""
    matrix, b = tetrahedral_elasticity(n, rng)
    order = numpy.arange(matrix.shape[0]).reshape(-1, 3).T.ravel()
    return matrix[order][:, order], b[order]


def elasticity_with_symmetry(n, rng, poisson=0.3):
    """An eighth of a block: each of three faces is held in its normal direction only."""
    mesh = tetrahedra((n, n, n), rng)
    basis, stiffness, b = elasticity_of(mesh, skfem.ElementTetP1(), 200.0, poisson)
    held = [basis.nodal_dofs[axis, numpy.flatnonzero(mesh.p[axis] < 1e-9)] for axis in range(3)]
    return free(stiffness, b, numpy.concatenate(held))


def slender_beam(n, rng):
    """A plate in plane stress, 40 times as long as high, with random numbers of its nodes."""
    mesh = triangles(n, rng, "random", 40.0, 1.0)
    basis, stiffness, b = elasticity_of(mesh, skfem.ElementTriP1(), 7e10, 0.33)
    return free(stiffness, b, basis.get_dofs(lambda x: x[0] < 1e-9).all())


def thermomechanics(n, rng):
    """Displacements in m and temperature in K of steel; one step in time of 10 s."""
    young, poisson, expansion = 2.1e11, 0.3, 1.2e-5
    conductivity, heat, reference = 45.0, 3.6e6, 300.0
    mesh = tetrahedra((2 * n, n, n), rng, spacing=0.01)
    basis, stiffness, b = elasticity_of(mesh, skfem.ElementTetP1(), young, poisson)
    scalar = skfem.Basis(mesh, skfem.ElementTetP1(), intorder=2)
    modulus = expansion * young / (1 - 2 * poisson)
    pressure = skfem.asm(skfem.BilinearForm(lambda t, v, w: -modulus * t * div(v)), scalar, basis)
    step = 10.0
    source = skfem.asm(
        skfem.BilinearForm(lambda u, q, w: modulus * reference / step * div(u) * q), basis, scalar
    )
    conduction = skfem.asm(LAPLACE, scalar, c=conductivity) + heat / step * skfem.asm(MASS, scalar)
    matrix = scipy.sparse.bmat([[stiffness, pressure], [source, conduction]]).tocsr()
    nodes = mesh.p.shape[1]
    order = numpy.concatenate([
        numpy.arange(3 * nodes).reshape(nodes, 3), 3 * nodes + numpy.arange(nodes)[:, None]
    ],
                              axis=1)
    order = order[mesh.p[0] > 1e-9].ravel()
    b = numpy.concatenate([7.8e4 * b, 1e5 * skfem.asm(LOAD, scalar)])
    return matrix[order][:, order], b[order]


def rotated_anisotropy(n, rng, angle=0.5, ratio=1e4, structured=True):
    """Diffusion that is ratio times as strong in a direction that is not that of the mesh."""
    direction = numpy.array([numpy.cos(angle), numpy.sin(angle)])
    if structured:
        mesh, element = skfem.MeshQuad.init_tensor(*2 * [numpy.linspace(0, 1, n + 1)]
                                                   ), skfem.ElementQuad1()
    else:
        mesh, element = triangles(n, rng, "given"), skfem.ElementTriP1()
    basis = skfem.Basis(mesh, element)

    @skfem.BilinearForm
    def form(u, v, w):
        along = [direction[0] * g[0] + direction[1] * g[1] for g in (grad(u), grad(v))]
        return dot(grad(u), grad(v)) + (ratio - 1) * along[0] * along[1]

    return free(skfem.asm(form, basis), skfem.asm(LOAD, basis), basis.get_dofs().all())


def jumps(n, rng, dimension=2):
    """Diffusion whose coefficient is 1 or 10⁴, at random in each element."""
    if dimension == 2:
        mesh, element, constant = triangles(n, rng), skfem.ElementTriP1(), skfem.ElementTriP0()
    else:
        mesh, element = tetrahedra((n, n, n), rng), skfem.ElementTetP1()
        constant = skfem.ElementTetP0()
    basis = skfem.Basis(mesh, element)
    coefficient = numpy.where(rng.random(mesh.t.shape[1]) < 0.5, 1.0, 1e4)
    field = basis.with_element(constant).interpolate(coefficient)
    matrix = skfem.asm(LAPLACE, basis, c=field)
    return free(matrix, skfem.asm(LOAD, basis), basis.get_dofs().all())


def diffusion(n, rng, element=skfem.ElementTriP1):
    """Diffusion, by linear triangles or quadratic tetrahedra, with random numbers of the nodes."""
    solid = element is skfem.ElementTetP2
    mesh = tetrahedra((n, n, n), rng, "random") if solid else triangles(n, rng)
    basis = skfem.Basis(mesh, element())
    matrix, b = free(
        skfem.asm(LAPLACE, basis, c=1.0), skfem.asm(LOAD, basis),
        basis.get_dofs().all()
    )
    order = rng.permutation(len(b))
    return matrix[order][:, order], b[order]


def convection(n, rng, diffusivity=1e-5):
    """Convection with streamline upwinding (SUPG) in a flow that turns, on an unstructured mesh."""
    basis = skfem.Basis(triangles(n, rng, "given"), skfem.ElementTriP1())

    @skfem.BilinearForm
    def form(u, v, w):
        flow = [w.x[1] + 0.2, 0.7 - w.x[0]]
        size = numpy.sqrt(flow[0]**2 + flow[1]**2)
        along = [flow[0] * g[0] + flow[1] * g[1] for g in (grad(u), grad(v))]
        return (
            diffusivity * dot(grad(u), grad(v)) + along[0] * v +
            0.5 * w.h / size * along[0] * along[1]
        )

    return free(skfem.asm(form, basis), skfem.asm(LOAD, basis), basis.get_dofs().all())


def saddle(velocity, divergence, b, fixed, dropped):
    """Returns [A Bᵀ; B 0] without the fixed velocities and the last `dropped` pressures."""
    pressures = divergence.shape[0]
    matrix = scipy.sparse.bmat([[velocity, divergence.T], [divergence, None]]).tocsr()
    size = matrix.shape[0]
    b = numpy.concatenate([b, numpy.zeros(pressures)])
    return free(matrix, b, numpy.concatenate([fixed, numpy.arange(size - dropped, size)]))


def taylor_hood(n, rng, dropped=1):
    """Stokes flow with quadratic velocities and linear pressures; all velocities before these."""
    mesh = triangles(n, rng, "given")
    basis = skfem.Basis(mesh, skfem.ElementVector(skfem.ElementTriP2()), intorder=4)
    pressure = basis.with_element(skfem.ElementTriP1())
    velocity = skfem.asm(skfem.BilinearForm(lambda u, v, w: ddot(grad(u), grad(v))), basis)
    divergence = skfem.asm(skfem.BilinearForm(lambda u, q, w: -div(u) * q), basis, pressure)
    force = skfem.LinearForm(lambda v, w: numpy.sin(6 * w.x[1]) * v[0] + w.x[0]**2 * v[1])
    fixed = basis.get_dofs().all()
    return saddle(velocity, divergence, skfem.asm(force, basis), fixed, dropped)


def mixed_diffusion(n, rng, contrast=0.0):
    """Darcy flow by Raviart–Thomas elements of lowest order and a pressure for each triangle."""
    mesh = triangles(n, rng, "given")
    basis = skfem.Basis(mesh, skfem.ElementTriRT0(), intorder=2)
    pressure = basis.with_element(skfem.ElementTriP0())
    resistance = pressure.interpolate(10**(contrast * rng.standard_normal(mesh.t.shape[1])))
    form = skfem.BilinearForm(lambda u, v, w: w["c"] * dot(u, v))
    divergence = skfem.asm(skfem.BilinearForm(lambda u, q, w: -div(u) * q), basis, pressure)
    source = -skfem.asm(LOAD, pressure)
    matrix, _ = saddle(
        skfem.asm(form, basis, c=resistance), divergence, numpy.zeros(basis.N), numpy.array([],
                                                                                            int), 0
    )
    return matrix, numpy.concatenate([numpy.zeros(basis.N), source])


def morley_plate(n, rng):
    """A clamped plate by Morley's elements: deflections of nodes, then slopes of edges."""
    basis = skfem.Basis(triangles(n, rng, "given"), skfem.ElementTriMorley())
    form = skfem.BilinearForm(lambda u, v, w: ddot(dd(u), dd(v)))
    return free(skfem.asm(form, basis), skfem.asm(LOAD, basis), basis.get_dofs().all())


def eddy_currents(n, rng, conductivity=1e-3):
    """curl curl u + conductivity u by Nedelec's edge elements in tetrahedra."""
    basis = skfem.Basis(tetrahedra((n, n, n), rng), skfem.ElementTetN0())
    form = skfem.BilinearForm(lambda u, v, w: dot(curl(u), curl(v)) + conductivity * dot(u, v))
    load = skfem.LinearForm(lambda v, w: w.x[1] * v[0] - v[2])
    return free(skfem.asm(form, basis), skfem.asm(load, basis), basis.get_dofs().all())
