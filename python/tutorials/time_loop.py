# SPDX-License-Identifier: BSD-3-Clause
"""Two species that diffuse and react (Gray and Scott): a new matrix with the old pattern in each
step.

usage: python3 time_loop.py [PICTURE]    (default time_loop.png)

needs bisai and matplotlib.

    u' = Δu + F (1 − u) − u v²,   v' = Δv / 2 − (F + K) v + u v²

Each step is a linearly implicit Euler step: (I/dt − J) step = f, with the Jacobian J of the right
sides, in blocks of size 2. The set-up before the loop finds patterns and reserves memory;
update() then only computes values.
"""
import sys
import time

import numpy as np
import scipy.sparse as sp

import bisai

SIDE, STEPS, DT, F, K = 128, 150, 8.0, 0.037, 0.06

# 1. The pattern, once: a point, and its four neighbours in a periodic square.
line = sp.diags([1.0, 1.0, -2.0, 1.0, 1.0], [1 - SIDE, -1, 0, 1, SIDE - 1], shape=(SIDE, SIDE))
laplace = sp.kron(line, sp.identity(SIDE)) + sp.kron(sp.identity(SIDE), line)
diffusion = sp.bsr_matrix(sp.kron(laplace, np.diag([1.0, 0.5])), blocksize=(2, 2))
diffusion.sort_indices()
rows = np.repeat(np.arange(SIDE**2), np.diff(diffusion.indptr))
diagonal = np.flatnonzero(rows == diffusion.indices)


def right_side(u, v):
    """Returns u' and v', one after the other for each point."""
    reaction = np.stack([F * (1 - u) - u * v * v, u * v * v - (F + K) * v], axis=1)
    return diffusion @ np.stack([u, v], axis=1).ravel() + reaction.ravel()


def jacobian(u, v):
    """Returns I/dt − J."""
    A = -diffusion
    A.data[diagonal] += np.array([[[1 / DT + F + vi * vi, 2 * ui * vi],
                                   [-vi * vi, 1 / DT + F + K - 2 * ui * vi]]
                                  for ui, vi in zip(u, v)])
    return A


# 2. The state: a square in the middle begins to react.
u, v = np.ones(SIDE**2), np.zeros(SIDE**2)
middle = np.zeros((SIDE, SIDE), bool)
middle[SIDE // 2 - 6:SIDE // 2 + 6, SIDE // 2 - 6:SIDE // 2 + 6] = True
u[middle.ravel()], v[middle.ravel()] = 0.5, 0.25

# 3. The loop.
M = bisai.Preconditioner(jacobian(u, v), "isai:relax=1")
solver = bisai.Solver(M.matrix, M, "gmres", tolerance=1e-6)
step, seconds, iterations = np.empty(2 * SIDE**2), 0.0, 0
for number in range(STEPS):
    A = jacobian(u, v)
    began = time.perf_counter()
    M.update(A)                                     # new values, and the preconditioner of them
    result = solver.run(right_side(u, v), out=step)  # writes into step
    seconds += time.perf_counter() - began
    iterations += result.iterations
    u += step[::2]
    v += step[1::2]
print(f"{STEPS} steps of {2 * SIDE**2} unknowns: {iterations / STEPS:.1f} iterations and "
      f"{1e3 * seconds / STEPS:.1f} ms a step")
assert np.isfinite(v).all() and 0.1 < v.max() < 1

# 4. The picture.
if __name__ == "__main__":
    import matplotlib
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    figure, axes = plt.subplots(1, 2, figsize=(9, 4))
    for axis, values, name in ((axes[0], u, "u"), (axes[1], v, "v")):
        figure.colorbar(axis.imshow(values.reshape(SIDE, SIDE)), ax=axis)
        axis.set(title=f"{name} after {STEPS * DT:g} units of time", xticks=[], yticks=[])
    figure.tight_layout()
    figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "time_loop.png", dpi=100)
