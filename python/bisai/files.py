# SPDX-License-Identifier: BSD-3-Clause
"""Files of matrices: Matrix Market, PETSc, SuiteSparse archives, also compressed; SciPy's .npz."""
from __future__ import annotations

import os
from typing import Any, Optional, Tuple, Union

import numpy as np

from ._bisai import ffi, lib
from .arrays import numpy_of, vector
from .context import Context, default_context
from .matrix import Matrix, matrix_of

Path = Union[str, "os.PathLike[str]"]


def read(path: Path, block_size: Optional[int] = None, *,
         context: Optional[Context] = None) -> Tuple[Matrix, Optional[np.ndarray]]:
    """Reads a square matrix and the right-hand side of the same file.

    Returns a Matrix, whose to_scipy() is a SciPy matrix, and an array of shape (n,), or None if the
    file has no right-hand side.
    """
    context = context or default_context()
    options = ffi.new("bisai_read_options *", lib.bisai_read_options_default())
    options.block_size = block_size or 0
    system = ffi.new("bisai_system *")
    system.struct_size = ffi.sizeof("bisai_system")
    with context.lock:
        context.check(lib.bisai_read_system(context.handle, os.fsencode(path), options, system))
        made = ffi.new("bisai_bcsr **", system.matrix)
        system.matrix = ffi.NULL
        matrix = Matrix._of_pointer(context, made)
        rhs = None
        if system.rhs != ffi.NULL:
            size = matrix.shape[0] * np.dtype(np.float64).itemsize
            rhs = np.frombuffer(ffi.buffer(system.rhs, size), dtype=np.float64).copy()
        lib.bisai_system_clear(context.handle, system)
    return matrix, rhs


def write(path: Path, A: Any, b: Any = None) -> None:
    """Writes a matrix, in the format that the ending of the path names, and with PETSc's format,
    an archive or .npz a right-hand side of shape (n,)."""
    matrix = A if isinstance(A, Matrix) else Matrix(A, 1)
    matrix = matrix_of(matrix)
    options = ffi.new("bisai_write_options *", lib.bisai_write_options_default())
    with matrix.context.lock:
        if b is not None:
            held = vector(numpy_of(b, "b"), matrix.shape[0], "b", matrix.context)
            options.rhs = held.pointer
        matrix.context.check(lib.bisai_write_matrix(matrix.context.handle, os.fsencode(path),
                                                    matrix.handle, options))
