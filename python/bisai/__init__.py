# SPDX-License-Identifier: BSD-3-Clause
"""Preconditioners and solvers for block-sparse linear systems.

    import bisai
    x = bisai.solve(A, b)                              # chooses everything
    M = bisai.Preconditioner(A, "mg:cycle=w", null=B)  # a LinearOperator for SciPy's solvers
    x = bisai.Solver(A, M, "gmres:restart=60").solve(b)

A is a SciPy sparse matrix or array (BSR, CSR, CSC, COO) of real numbers. Texts of preconditioners
and solvers are those of the program: see the guide, "All methods" and "Options that change a
method". One thread at a time uses a Context; each thread has one of its own by default.
"""
from ._bisai import ffi as _ffi, lib as _lib
from .context import Context
from .errors import (Error, InvalidArgument, NotConverged, NotFinite, OutOfMemory, Singular,
                     Unavailable)
from .files import read, write
from .matrix import Matrix
from .null_space import constants, project
from .precond import Preconditioner
from .solver import Result, Solver, compare, solve

__version__ = _ffi.string(_lib.bisai_version()).decode()
__all__ = [
    "Context", "Error", "InvalidArgument", "Matrix", "NotConverged", "NotFinite", "OutOfMemory",
    "Preconditioner", "Result", "Singular", "Solver", "Unavailable", "compare", "constants",
    "project", "read", "solve", "write"
]
