# SPDX-License-Identifier: BSD-3-Clause
"""Water drives oil through rock: Newton's method with CPR for pressure and saturation.

usage: python3 reservoir.py [PICTURE]    (default reservoir.png)

needs bisai and matplotlib. Each cell has a pressure p and a saturation s of water:

    water   φ (s − s_old)/dt                      + Σ λw(s_up) T (p − p_next) = qw
    oil     φ (s_old − s)/dt + φ c (p − p_old)/dt + Σ λo(s_up) T (p − p_next) = qo

with mobilities λw = s² and λo = (1 − s)², and transmissibilities T of a rock whose permeability
varies by six orders of magnitude. Water enters in one corner, and both leave in the other.
The pressure is elliptic, and the saturation moves with the flow. CPR finds the pressure, solves for
it by multigrid, and then treats all unknowns by block ILU; block ILU alone takes many more
iterations, and the more the finer the mesh.
"""
import sys

import numpy as np
import scipy.sparse as sp

import bisai

SIDE, STEPS, DT = 60, 12, 60.0
POROSITY, COMPRESSIBILITY, RATE, INDEX = 0.2, 1e-4, 0.05, 10.0
CELLS = SIDE * SIDE

# 1. The rock: smoothed noise, and harmonic means between neighbours.
noise = np.random.default_rng(3).standard_normal((SIDE, SIDE))
for _ in range(4):
    noise = (noise + sum(np.roll(noise, s, a) for s in (-1, 1) for a in (0, 1))) / 5
permeability = np.exp(2.3 * noise / noise.std()).ravel()
cell = np.arange(CELLS).reshape(SIDE, SIDE)
one = np.concatenate([cell[:, :-1].ravel(), cell[:-1].ravel()])
two = np.concatenate([cell[:, 1:].ravel(), cell[1:].ravel()])
T = 2 / (1 / permeability[one] + 1 / permeability[two])


def linearise(p, s, p_old, s_old):
    """Returns the Jacobian in blocks of size 2, first p and then s, and the residual."""
    residual = np.stack([POROSITY * (s - s_old) / DT,
                         POROSITY * (s_old - s + COMPRESSIBILITY * (p - p_old)) / DT], axis=1)
    own = np.zeros((CELLS, 2, 2))
    own[:, 0, 1], own[:, 1, 1] = POROSITY / DT, -POROSITY / DT
    own[:, 1, 0] = POROSITY * COMPRESSIBILITY / DT
    up = np.where(p[one] > p[two], one, two)
    flow = T * (p[one] - p[two])
    mobility = np.stack([s[up]**2, (1 - s[up])**2], axis=1)
    slope = np.stack([2 * s[up], -2 * (1 - s[up])], axis=1)
    by_p = mobility * T[:, None]
    by_s = slope * flow[:, None]
    blocks, rows, cols = [own], [np.arange(CELLS)], [np.arange(CELLS)]
    for a, c, sign in ((one, two, 1), (two, one, -1)):
        np.add.at(residual, a, sign * mobility * flow[:, None])
        for column, other in ((a, 1), (c, -1)):
            block = np.zeros((len(T), 2, 2))
            block[:, :, 0] = other * by_p
            block[:, :, 1] = sign * by_s * (up == column)[:, None]
            blocks.append(block)
            rows.append(a)
            cols.append(column)
    # The wells: a rate of water, and a pressure of 0 behind the mobilities of the last cell.
    residual[0, 0] -= RATE
    well = INDEX * np.array([s[-1]**2, (1 - s[-1])**2])
    residual[-1] += well * p[-1]
    blocks[0][-1, :, 0] += well
    blocks[0][-1, :, 1] += INDEX * p[-1] * np.array([2 * s[-1], -2 * (1 - s[-1])])
    rows, cols, blocks = (np.concatenate(part) for part in (rows, cols, blocks))
    i, j = np.indices((2, 2))
    A = sp.coo_matrix((blocks.ravel(), ((2 * rows[:, None, None] + i).ravel(),
                                        (2 * cols[:, None, None] + j).ravel())),
                      shape=(2 * CELLS, 2 * CELLS))
    return sp.bsr_matrix(A.tocsr(), blocksize=(2, 2)), residual.ravel()


# 2. The time loop. CPR finds that the pressure is the first unknown of each cell.
p, s = np.zeros(CELLS), np.full(CELLS, 0.2)
total = {"cpr": 0, "ilu": 0}
systems = 0
for number in range(STEPS):
    p_old, s_old = p.copy(), s.copy()
    for newton in range(12):
        A, residual = linearise(p, s, p_old, s_old)
        if np.abs(residual).max() < 1e-8:
            break
        systems += 1
        matrix = bisai.Matrix(A)
        for method in total:
            solver = bisai.Solver(matrix, method, "gmres:restart=60", tolerance=1e-6)
            result = solver.run(-residual)
            total[method] += result.iterations
            if method == "cpr":
                step = result.x
        p += step[::2]
        s = np.clip(s + np.clip(step[1::2], -0.2, 0.2), 0.0, 1.0)
    else:
        sys.exit(f"step {number}: Newton's method did not converge")
for method, iterations in total.items():
    print(f"{method}: {iterations / systems:.1f} iterations a system, over {systems} systems")
assert total["cpr"] < total["ilu"]

# 3. The picture: the rock, the pressure, and how far the water has come.
if __name__ == "__main__":
    import matplotlib
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    figure, axes = plt.subplots(1, 3, figsize=(12, 3.6))
    for axis, values, name in ((axes[0], np.log10(permeability), "log10 of the permeability"),
                               (axes[1], p, "pressure"), (axes[2], s, "saturation of water")):
        figure.colorbar(axis.imshow(values.reshape(SIDE, SIDE)), ax=axis)
        axis.set(title=name, xticks=[], yticks=[])
    figure.tight_layout()
    figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "reservoir.png", dpi=100)
