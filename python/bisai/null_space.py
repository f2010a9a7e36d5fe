# SPDX-License-Identifier: BSD-3-Clause
"""Null spaces of singular matrices."""
from typing import Any, Optional, Tuple

import numpy as np

from ._bisai import ffi, lib
from .arrays import numpy_of
from .context import Context, default_context
from .errors import invalid
from .matrix import Matrix, matrix_of


def _constants_of(matrix: Matrix, constants: Any) -> np.ndarray:
    """Returns constants as columns, in the rows of A."""
    size, held = matrix.block_size, matrix.held_rows
    count = lib.bisai_study_constants_vectors(constants, size, held, ffi.NULL)
    vectors = np.empty((count, held))
    lib.bisai_study_constants_vectors(constants, size, held,
                                      ffi.cast("double *", vectors.ctypes.data))
    columns = np.ascontiguousarray(vectors.T)
    return matrix.rows_of_scalars(columns)


def constants(A: Any, context: Optional[Context] = None) -> Tuple[np.ndarray, np.ndarray]:
    """Returns the constants that A, and those that its transpose, maps to zero.

    A constant is 1 in all rows, in one component of the blocks, or in the rows of a pressure, and 0
    in the others. Both arrays have the shape (n, k), where k may be 0. A x = b has a solution only
    if b is orthogonal to the second one, and x is known up to the first one.

    Parameters
    ----------
    A : Matrix, or sparse matrix of shape (n, n)
    """
    matrix = matrix_of(A, context)
    study = ffi.new("bisai_matrix_study_report *")
    study.struct_size = ffi.sizeof("bisai_matrix_study_report")
    with matrix.context.lock:
        matrix.context.check(lib.bisai_matrix_study(matrix.context.handle, matrix.handle, 0,
                                                    ffi.NULL, study))
        null = ffi.addressof(study, "null")
        return (_constants_of(matrix, ffi.addressof(null, "right")),
                _constants_of(matrix, ffi.addressof(null, "left")))


def project(x: Any, vectors: Any, context: Optional[Context] = None) -> np.ndarray:
    """Returns x − V (VᵀV)⁻¹ Vᵀ x: x without the part in the span of V.

    Parameters
    ----------
    x : array of shape (n,), in host memory
    vectors : array of shape (n, k), in host memory
        V, as constants() returns it, or rigid-body modes
    """
    x, V = numpy_of(x, "x"), numpy_of(vectors, "vectors")
    if x.ndim != 1 or V.ndim != 2 or V.shape[0] != x.shape[0] or \
       x.dtype.kind not in "biuf" or V.dtype.kind not in "biuf":
        raise invalid(f"x has the shape {x.shape} and the type {x.dtype}, vectors {V.shape} and "
                      f"{V.dtype}: (n,) and (n, k) and real numbers are needed")
    projected = np.array(x, dtype=np.float64)
    columns = np.ascontiguousarray(V.T, dtype=np.float64)
    used = context or default_context()
    with used.lock:
        used.check(lib.bisai_project(used.handle, x.shape[0], V.shape[1],
                                     ffi.cast("double *", columns.ctypes.data), x.shape[0],
                                     ffi.cast("double *", projected.ctypes.data)))
    return projected
