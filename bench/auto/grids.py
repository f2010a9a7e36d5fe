# SPDX-License-Identifier: BSD-3-Clause
"""Systems of finite volumes and finite differences on regular grids.

Each maker takes a size and a random generator and returns (A, b).
"""

import numpy
import scipy.ndimage
import scipy.sparse as sparse

SPECIES = 7


def faces(shape):
    """Yields the two cells of each inner face, one direction after the other, with its axis."""
    cells = numpy.arange(numpy.prod(shape)).reshape(shape)
    for axis in range(len(shape)):
        yield axis, numpy.take(cells, range(shape[axis] - 1),
                               axis).ravel(), numpy.take(cells, range(1, shape[axis]), axis).ravel()


def blocks(rows, columns, values, cells):
    """Returns the matrix of dense blocks at (rows, columns), of which equal places are added."""
    size = values.shape[1]
    row = size * rows[:, None, None] + numpy.arange(size)[None, :,
                                                          None] + numpy.zeros_like(values, int)
    column = size * columns[:, None, None] + numpy.arange(size) + numpy.zeros_like(values, int)
    entries = (values.ravel(), (row.ravel(), column.ravel()))
    return sparse.coo_matrix(entries, shape=2 * (size * cells, )).tocsr()


def smooth(shape, rng, width=2.0):
    """Returns a random field of mean 0 and deviation 1 that varies over `width` cells."""
    field = scipy.ndimage.gaussian_filter(rng.standard_normal(shape), width, mode="nearest")
    return ((field - field.mean()) / field.std()).ravel()


def second_difference(n, ends):
    """Returns the negative second difference with `ends` in the first and the last row."""
    middle = numpy.full(n, 2.0)
    middle[[0, -1]] = ends
    return sparse.diags([middle, -numpy.ones(n - 1), -numpy.ones(n - 1)], [0, -1, 1])


def first_difference(n):
    """Returns the differences of neighbours, n - 1 of n."""
    return sparse.diags([-numpy.ones(n - 1), numpy.ones(n - 1)], [0, 1], shape=(n - 1, n))


def convected(speed, shape, h, upwind):
    """Returns speed times the derivatives, by upwind or central differences, zero at walls."""
    parts = []
    for axis, component in enumerate(speed):
        n = shape[axis]
        back = sparse.diags([numpy.ones(n), -numpy.ones(n - 1)], [0, -1]) / h
        forward = sparse.diags([-numpy.ones(n), numpy.ones(n - 1)], [0, 1]) / h
        if not upwind:
            back = forward = (back + forward) / 2
        pair = [
            sparse.kron(d, sparse.eye(shape[1]))
            if axis == 0 else sparse.kron(sparse.eye(shape[0]), d) for d in (back, forward)
        ]
        parts.append(sparse.diags(numpy.maximum(component, 0)) @ pair[0])
        parts.append(sparse.diags(numpy.minimum(component, 0)) @ pair[1])
    return sum(parts)


def oseen(n, rng, reynolds=100.0, together=False):
    """Oseen's equations on a staggered grid with a moving lid: u, then v, then p, whose constant is
    not fixed. With `together`, those of a cell have adjacent numbers."""
    h, viscosity = 1.0 / n, 1.0 / reynolds
    upwind = 1.0 / n > 4 * viscosity
    half, whole = (numpy.arange(1, n)) * h, (numpy.arange(n) + 0.5) * h

    def wind(x, y):
        x, y = (grid.ravel() for grid in numpy.meshgrid(x, y, indexing="ij"))
        pi = numpy.pi
        along = numpy.sin(pi * x)**2 * numpy.sin(2 * pi * y)
        return along, -numpy.sin(2 * pi * x) * numpy.sin(pi * y)**2

    inner, wall = second_difference(n - 1, 2.0), second_difference(n, 3.0)
    short, long = sparse.eye(n - 1), sparse.eye(n)
    u = viscosity / h**2 * (sparse.kron(inner, long) + sparse.kron(short, wall))
    u = u + convected(wind(half, whole), (n - 1, n), h, upwind)
    v = viscosity / h**2 * (sparse.kron(wall, short) + sparse.kron(long, inner))
    v = v + convected(wind(whole, half), (n, n - 1), h, upwind)
    across, up = sparse.kron(first_difference(n),
                             long) / h, sparse.kron(long, first_difference(n)) / h
    matrix = sparse.bmat([[u, None, across], [None, v, up], [across.T, up.T, None]]).tocsr()
    lid = numpy.zeros((n - 1, n))
    lid[:, -1] = 2 * viscosity / h**2
    b = numpy.concatenate([lid.ravel(), numpy.zeros(matrix.shape[0] - lid.size)])
    if together:
        cells = numpy.arange(n * n).reshape(n, n)
        of_unknown = numpy.concatenate([cells[:-1].ravel(), cells[:, :-1].ravel(), cells.ravel()])
        order = numpy.argsort(of_unknown, kind="stable")
        matrix, b = matrix[order][:, order], b[order]
    return matrix, b


def flux_jacobian(state, normal, gamma=1.4):
    """Returns d(flux in direction normal) / d(density, momenta, energy), 4 × 4 for each state."""
    density, u, v, pressure = state
    speed = u * normal[0] + v * normal[1]
    kinetic, g = (u**2 + v**2) / 2, gamma - 1
    enthalpy = gamma / g * pressure / density + kinetic
    zero = numpy.zeros_like(u)
    nx, ny = zero + normal[0], zero + normal[1]
    rows = [
        [zero, nx, ny, zero],
        [g * kinetic * nx - u * speed, speed + (1 - g) * u * nx, u * ny - g * v * nx, g * nx],
        [g * kinetic * ny - v * speed, v * nx - g * u * ny, speed + (1 - g) * v * ny, g * ny],
        [(g * kinetic - enthalpy) * speed, enthalpy * nx - g * u * speed,
         enthalpy * ny - g * v * speed, gamma * speed],
    ]
    sound = numpy.sqrt(gamma * pressure / density)
    return numpy.array(rows).transpose(2, 0, 1), numpy.array([speed - sound, speed, speed + sound])


def upwinded(jacobian, speeds, sign):
    """Returns the part of a Jacobian whose characteristics leave (1) or enter (-1)."""
    unit, result = numpy.eye(4), 0.0
    for i in range(3):
        part = sign * numpy.maximum(sign * speeds[i], 0)[:, None, None] * unit
        for j in range(3):
            if j != i:
                gap = (speeds[i] - speeds[j])[:, None, None]
                part = part @ (jacobian - speeds[j][:, None, None] * unit) / gap
        result = result + part
    return result


def euler(n, rng, mach=0.3, cfl=100.0, units=1.0):
    """A step in time of the Euler equations in 2D on a grid that is stretched to a wall, with four
    conserved unknowns of a cell. `units` is the pressure of the flow that is 1 otherwise."""
    shape, cells = (2 * n, n), 2 * n * n
    width = [numpy.ones(2 * n), numpy.geomspace(0.02, 1.0, n)]
    density = 1.0 + 0.1 * smooth(shape, rng, 4.0)
    pressure = units * (1.0 + 0.1 * smooth(shape, rng, 4.0))
    sound = numpy.sqrt(1.4 * units)
    u = sound * mach * (1 + 0.2 * smooth(shape, rng, 4.0))
    v = sound * mach * 0.2 * smooth(shape, rng, 4.0)
    state = numpy.array([density, u, v, pressure])
    rows, columns, values, rate = [], [], [], numpy.zeros(cells)
    for axis, left, right in faces(shape):
        across = numpy.broadcast_to(width[1][None, :] if axis == 0 else width[0][:, None],
                                    shape).ravel()
        area = across[left][:, None, None]
        middle = (state[:, left] + state[:, right]) / 2
        jacobian, speeds = flux_jacobian(middle, (1.0 - axis, float(axis)))
        out, back = area * upwinded(jacobian, speeds, 1), area * upwinded(jacobian, speeds, -1)
        rows += [left, left, right, right]
        columns += [left, right, left, right]
        values += [out, back, -out, -back]
        numpy.add.at(rate, left, across[left] * abs(speeds).max(axis=0))
        numpy.add.at(rate, right, across[right] * abs(speeds).max(axis=0))
    everyone = numpy.arange(cells)
    rows.append(everyone), columns.append(everyone)
    values.append((rate / cfl)[:, None, None] * numpy.eye(4))
    matrix = blocks(*map(numpy.concatenate, (rows, columns, values)), cells)
    return matrix, matrix @ (state_scale(state) * (1 + rng.random((cells, 4)))).ravel().round(6)


def state_scale(state):
    """Returns the size of the conserved unknowns, for changes of a hundredth."""
    density, u, v, pressure = state
    return 0.01 * numpy.array([density.mean(), 1, 1, 1]) * numpy.array([
        1, u.mean(), u.mean(), 2.5 * pressure.mean()
    ])


def reacting_transport(shape, rng, step=1.0, stiffness=6.0):
    """Convection and diffusion of seven species, upwind, with mass-action reactions whose rates
    span 10^stiffness."""
    cells = int(numpy.prod(shape))
    unit = numpy.eye(SPECIES)
    diffusion = numpy.diag(10.0**rng.uniform(-3, 0, SPECIES))
    rows, columns, values = [], [], []
    stream = smooth(shape, rng, 3.0).reshape(shape)
    for axis, left, right in faces(shape):
        speed = 5 * numpy.gradient(stream, axis=1 - axis if axis < 2 else 0).ravel()[left]
        out = numpy.maximum(speed, 0)[:, None, None] * unit + diffusion
        back = numpy.minimum(speed, 0)[:, None, None] * unit - diffusion
        rows += [left, left, right, right]
        columns += [left, right, left, right]
        values += [out, back, -out, -back]
    concentrations = rng.random((cells, SPECIES))
    local = numpy.zeros((cells, SPECIES, SPECIES)) + unit / step
    for _ in range(10):
        first, second, product = rng.choice(SPECIES, 3, replace=False)
        rate = 10.0**rng.uniform(-2, stiffness - 2)
        change = (unit[product] - unit[first] - unit[second])[:, None]
        slope = (
            concentrations[:, second, None] * unit[first] +
            concentrations[:, first, None] * unit[second]
        )
        local -= rate * change * slope[:, None, :]
    rows.append(numpy.arange(cells)), columns.append(numpy.arange(cells)), values.append(local)
    matrix = blocks(*map(numpy.concatenate, (rows, columns, values)), cells)
    return matrix, rng.random(matrix.shape[0]).round(4) / step


def two_phase(shape, rng, deviation=2.0, days=10.0):
    """Pressure in Pa and saturation of water of each cell, fully implicit, with permeabilities that
    vary over orders of magnitude, an injector and a producer at a bottom hole pressure."""
    cells, second = int(numpy.prod(shape)), 86400.0 * days
    permeability = 1e-13 * numpy.exp(deviation * smooth(shape, rng, 1.5))
    saturation = 0.2 + 0.6 / (1 + numpy.exp(-2 * smooth(shape, rng, 3.0)))
    place = numpy.indices(shape).reshape(len(shape), -1).sum(axis=0) / sum(shape)
    pressure = 2e7 - 1e7 * place + 1e4 * rng.standard_normal(cells)
    mobility = [saturation**2 / 5e-4, (1 - saturation)**2 / 3e-3]
    slope = [2 * saturation / 5e-4, -2 * (1 - saturation) / 3e-3]
    volume, compressibility = 0.2 * 1e3, [4.4e-10, 1.5e-9]
    local = numpy.zeros((cells, 2, 2))
    amount = [saturation, 1 - saturation]
    for phase, sign in ((0, 1.0), (1, -1.0)):
        local[:, phase, 0] = volume / second * compressibility[phase] * amount[phase]
        local[:, phase, 1] = sign * volume / second
    for cell in (0, cells - 1):
        for phase in range(2):
            local[cell, phase, 0] += 20 * permeability[cell] * mobility[phase][cell]
            local[cell, phase, 1] += 20 * permeability[cell] * slope[phase][cell] * 1e5
    rows, columns, values = [numpy.arange(cells)], [numpy.arange(cells)], [local]
    for _, left, right in faces(shape):
        conductance = 20 / (1 / permeability[left] + 1 / permeability[right])
        drop = pressure[left] - pressure[right]
        upstream = numpy.where(drop > 0, left, right)
        for here, there in ((left, right), (right, left)):
            near, far = numpy.zeros((len(left), 2, 2)), numpy.zeros((len(left), 2, 2))
            outward = pressure[here] - pressure[there]
            for phase in range(2):
                near[:, phase, 0] = conductance * mobility[phase][upstream]
                far[:, phase, 0] = -near[:, phase, 0]
                flow = conductance * slope[phase][upstream] * outward
                near[:, phase, 1] = numpy.where(upstream == here, flow, 0)
                far[:, phase, 1] = numpy.where(upstream == there, flow, 0)
            rows += [here, here]
            columns += [here, there]
            values += [near, far]
    matrix = blocks(*map(numpy.concatenate, (rows, columns, values)), cells)
    b = numpy.zeros((cells, 2))
    b[0, 0], b[-1, :] = 1e-3, -5e-4
    return matrix, b.ravel()


def helmholtz(n, rng, damping=0.1):
    """Real form of -Δ - (1 + i damping) k² with ten points a wavelength and an absorbing
    boundary, real and imaginary part of a node together."""
    wave = 2 * numpy.pi / 10
    line = second_difference(n, 1.0)
    laplace = sparse.kron(line, sparse.eye(n)) + sparse.kron(sparse.eye(n), line)
    edge = numpy.zeros((n, n))
    edge[[0, -1], :] += wave
    edge[:, [0, -1]] += wave
    real = laplace - wave**2 * sparse.eye(n * n)
    imaginary = -damping * wave**2 * sparse.eye(n * n) - sparse.diags(edge.ravel())
    matrix = sparse.kron(real, numpy.eye(2)) + sparse.kron(imaginary, [[0, -1], [1, 0]])
    b = numpy.zeros(2 * n * n)
    b[2 * (n * (n // 3) + n // 2)] = 1.0
    return matrix.tocsr(), b


def neumann(shape, rng, consistent=False):
    """Diffusion between closed walls with coefficients from 1/8 to 8: constants are in the null
    space. b is in the range if it is `consistent`."""
    cells = int(numpy.prod(shape))
    matrix = sparse.csr_matrix((cells, cells))
    for _, left, right in faces(shape):
        difference = sparse.csr_matrix((
            numpy.repeat([1.0, -1.0], len(left)),
            (numpy.tile(numpy.arange(len(left)), 2), numpy.concatenate([left, right]))
        ),
                                       shape=(len(left), cells))
        weight = sparse.diags(2.0**rng.integers(-3, 4, len(left)))
        matrix = matrix + difference.T @ weight @ difference
    b = rng.integers(-1000, 1000, cells) / 1024
    b[0] -= b.sum() if consistent else 0
    return matrix.tocsr(), b


def plate(n, rng):
    """The biharmonic operator of thirteen points of a plate that is simply supported."""
    line = second_difference(n, 2.0)
    laplace = (sparse.kron(line, sparse.eye(n)) + sparse.kron(sparse.eye(n), line)).tocsr()
    return laplace @ laplace, numpy.ones(n * n)


def rotating_transport(shape, rng):
    """Upwind convection in a turning flow, and weak diffusion, in three dimensions."""
    cells = int(numpy.prod(shape))
    matrix = sparse.csr_matrix((cells, cells))
    middle = [numpy.indices(shape)[k].ravel() / shape[k] - 0.5 for k in range(3)]
    speeds = [-middle[1], middle[0], numpy.full(cells, 0.1)]
    matrix = sparse.diags(numpy.full(cells, 0.01)).tocsr()
    for axis, left, right in faces(shape):
        out = numpy.maximum(speeds[axis][left], 0) + 1e-3
        back = numpy.minimum(speeds[axis][left], 0) - 1e-3
        values = numpy.concatenate([out, back, -out, -back])
        row = numpy.concatenate([left, left, right, right])
        column = numpy.concatenate([left, right, left, right])
        matrix = matrix + sparse.csr_matrix((values, (row, column)), shape=(cells, cells))
    return matrix, numpy.ones(cells)
