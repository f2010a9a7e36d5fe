# SPDX-License-Identifier: BSD-3-Clause
"""A beam that bends under its weight: scikit-fem assembles it, multigrid with rigid-body modes
solves it.

usage: python3 elasticity.py [PICTURE]    (default elasticity.png)

needs bisai, scikit-fem and matplotlib. A mesh of tetrahedra with linear elements has three
displacements a node, so that the matrix has blocks of size 3. One end is held: its displacements
are taken out of the system. Multigrid needs to know which motions cost no energy, three
translations and three rotations; without them it takes more iterations.
"""
import sys

import numpy as np
import skfem
from skfem.models.elasticity import lame_parameters, linear_elasticity

import bisai


def rigid_body_modes(points):
    """Returns three translations and three rotations about the middle: shape (3·nodes, 6)."""
    x, y, z = points - points.mean(axis=1, keepdims=True)
    modes = np.zeros((points.shape[1], 3, 6))
    for axis in range(3):
        modes[:, axis, axis] = 1
    modes[:, 0, 3], modes[:, 1, 3] = -y, x
    modes[:, 1, 4], modes[:, 2, 4] = -z, y
    modes[:, 0, 5], modes[:, 2, 5] = z, -x
    return modes.reshape(-1, 6)


# 1. The mesh and the matrix: a beam of 4 × 1 × 1, held at x = 0, under its weight.
mesh = skfem.MeshTet.init_tensor(np.linspace(0, 4, 33), np.linspace(0, 1, 9), np.linspace(0, 1, 9))
basis = skfem.Basis(mesh, skfem.ElementVector(skfem.ElementTetP1()))
stiffness = linear_elasticity(*lame_parameters(1e3, 0.3)).assemble(basis)
weight = skfem.LinearForm(lambda v, w: -1.0 * v[2]).assemble(basis)
held = basis.get_dofs(lambda x: x[0] == 0).flatten()
A, b, x, free = skfem.condense(stiffness, weight, D=held)
null = rigid_body_modes(mesh.p)[free]

# 2. The blocks. bisai finds the three displacements of each node by itself.
matrix = bisai.Matrix(A)
print(f"{A.shape[0]} unknowns, {matrix}")

# 3. Multigrid with CG, with the modes and without.
residuals = {}
for name, modes in (("rigid-body modes", null), ("constants", None)):
    history = residuals.setdefault(name, [])
    solver = bisai.Solver(matrix, bisai.Preconditioner(matrix, "mg", modes), "cg")
    result = solver.run(b, callback=lambda k, residual, history=history: history.append(residual))
    print(f"{name}: {result.iterations} iterations, residual {result.relative_residual:.1e}")
    if modes is not None:
        x[free] = result.x
print(f"the free end sinks by {-x[2::3].min():.3f}, a thin beam would by {4**4 * 12 / 8e3:.3f}")

# 4. The picture: the bent beam from the side, and how the residuals fall.
if __name__ == "__main__":
    import matplotlib
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.5))
    bent = mesh.p + 1.0 * x.reshape(-1, 3).T
    side = mesh.p[1] == 0
    left.scatter(mesh.p[0][side], mesh.p[2][side], s=4, color="0.8", label="at rest")
    shown = left.scatter(bent[0][side], bent[2][side], s=6, c=-x[2::3][side], label="bent")
    figure.colorbar(shown, ax=left, label="sinks by")
    left.set(aspect="equal", xlabel="x", ylabel="z")
    for name, history in residuals.items():
        right.semilogy(history, label=name)
    right.set(xlabel="iteration", ylabel="relative residual")
    right.legend()
    figure.tight_layout()
    figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "elasticity.png", dpi=100)
