# SPDX-License-Identifier: BSD-3-Clause
"""Preconditioners as linear operators."""
from __future__ import annotations

from typing import Any, Dict, Optional

import numpy as np
from scipy.sparse.linalg import LinearOperator

from ._bisai import ffi, lib
from .arrays import Vector, finish, gpu_of, numpy_of
from .context import Context
from .errors import failure, invalid
from .matrix import Matrix, Operator, matrix_of


def text_fault(text: str, status: int, fault: Any) -> Exception:
    """Returns the exception of a wrong text, which shows the place."""
    place = len(text.encode()[:fault.place].decode(errors="replace"))
    message = ffi.string(fault.message).decode(errors="replace")
    return failure(status, f"'{text}', character {place + 1}: {message}")


def parse_precond(text: str) -> Any:
    """Reads the options of a preconditioner."""
    options = ffi.new("bisai_precond_options *", lib.bisai_precond_options_default())
    fault = ffi.new("bisai_text_fault *")
    status = lib.bisai_precond_options_parse(str(text).encode(), options, ffi.NULL, fault)
    if status:
        raise text_fault(str(text), status, fault)
    return options


def precond_text(options: Any) -> str:
    """Writes options as the shortest text that gives them."""
    text = ffi.new("char[]", lib.BISAI_TEXT_SIZE)
    lib.bisai_precond_options_text(options, ffi.NULL, lib.BISAI_TEXT_SIZE, text)
    return ffi.string(text).decode()


def null_vectors(matrix: Matrix, null: Any) -> np.ndarray:
    """Returns near-null-space vectors as rows of the blocks."""
    null = numpy_of(null, "null")
    if null.ndim == 1:
        null = null.reshape(-1, 1)
    if null.ndim != 2 or null.shape[0] != matrix.shape[0] or null.dtype.kind not in "biuf":
        raise invalid(f"null has the shape {null.shape} and the type {null.dtype}: "
                      f"({matrix.shape[0]}, k) and real numbers are needed")
    return matrix.rows_of_blocks(np.ascontiguousarray(null, dtype=np.float64))


def doubles(array: np.ndarray) -> Any:
    """Returns the address of float64 values."""
    return ffi.cast("double *", array.ctypes.data)


class Preconditioner(Operator):
    """M⁻¹ ≈ A⁻¹ as a linear operator: `M @ v` computes M⁻¹ v, and `M.T @ v` M⁻ᵀ v. Fits the solvers
    of SciPy. cpr, schur, mg with cycle=k, and mg of an A that is not symmetric with a smoother
    that is a preconditioner have no transpose.

    Parameters
    ----------
    A : Matrix, or sparse matrix of shape (n, n)
    text : str
        kind and options, as "ilu:level=1", "mg:cycle=w" or "auto"
    null : array of shape (n, k), optional
        near-null-space vectors for multigrid, as rigid-body modes
    context : Context, optional
    """

    def __init__(self, A: Any, text: str = "auto", null: Any = None, *,
                 context: Optional[Context] = None) -> None:
        options = parse_precond(text)
        self.matrix = matrix_of(A, context)
        self.context = self.matrix.context
        keep = None
        made = ffi.new("bisai_precond **")
        with self.context.lock:
            if null is not None:
                if not lib.bisai_precond_options_take(options, b"multigrid.null_vectors"):
                    raise invalid(f"'{text}' takes no near-null-space vectors: mg, cpr and schur "
                                  "with mg do")
                keep = null_vectors(self.matrix, null)
                options.multigrid.null_vectors = doubles(keep)
                options.multigrid.null_count = keep.shape[1]
            self.context.check(lib.bisai_precond_create(self.context.handle, self.matrix.handle,
                                                        options, made))
            self.context.own(self, made, lib.bisai_precond_destroy, self.matrix.native)
            self.handle = made[0]
        del keep
        self.text = precond_text(options)
        super().__init__(np.dtype(np.float64), self.matrix.shape)

    def update(self, A: Any) -> None:
        """Takes new values on the same pattern. A is a sparse matrix, or the Matrix of this
        preconditioner after its own update."""
        with self.context.lock:
            if A is not self.matrix:
                if isinstance(A, Matrix):
                    raise invalid("update takes the Matrix of this preconditioner, M.matrix, or a "
                                  "SciPy matrix")
                self.matrix.update(A)
            self.context.check(lib.bisai_precond_update(self.handle, self.matrix.handle))

    @property
    def report(self) -> Dict[str, Any]:
        """What the preconditioner is and what it cost: seconds, bytes, repaired blocks."""
        report = ffi.new("bisai_precond_report *")
        report.struct_size = ffi.sizeof("bisai_precond_report")
        with self.context.lock:
            self.context.check(lib.bisai_precond_get_report(self.handle, report))
            described = ffi.string(lib.bisai_precond_describe(self.handle)).decode()
        return {"description": described,
                "kind": ffi.string(lib.bisai_precond_kind_string(report.kind)).decode(),
                "setup_seconds": report.setup_seconds, "memory_bytes": report.memory_bytes,
                "apply_bytes": report.apply_bytes, "repairs": report.repairs,
                "largest_condition": report.largest_condition,
                "symmetry": ffi.string(lib.bisai_symmetry_string(report.symmetry)).decode(),
                "nonlinear": bool(report.nonlinear), "levels": report.multigrid.levels}

    def apply(self, v: Any) -> Any:
        """Returns M⁻¹ v for v of shape (n,) or (n, k); (n,) on a GPU, where the result is too."""
        return self.dot(v if gpu_of(v, "v") is not None else numpy_of(v, "v"))

    def _apply(self, v: Vector, transposed: bool = False) -> Vector:
        z = v.new(self.shape[0], self.context)
        with self.context.lock:
            held = v.new(self.matrix.held_rows, self.context) if self.matrix.moves else z
            moved = self.matrix.to_blocks(v)
            self.context.check(
                lib.bisai_precond_apply_transpose(self.handle, moved.pointer, held.pointer)
                if transposed else
                lib.bisai_precond_apply_many(self.handle, 1, moved.pointer, 0, held.pointer, 0))
            self.matrix.from_blocks(held, z)
            finish(self.context, v, z)
        return z

    def _matmat(self, v: np.ndarray) -> np.ndarray:
        if self.matrix.moves or v.shape[1] < 2 or v.dtype.kind not in "biuf":
            return np.stack([self._matvec(column) for column in v.T], axis=1) if v.shape[1] \
                else np.empty(v.shape)
        v = np.asfortranarray(v, dtype=np.float64)
        z = np.empty(v.shape, order="F")
        with self.context.lock:
            self.context.check(lib.bisai_precond_apply_many(
                self.handle, v.shape[1], doubles(v), v.shape[0], doubles(z), v.shape[0]))
        return z

    def _rmatvec(self, v: Any) -> Any:
        return self._transpose()._matvec(v)

    def _transpose(self) -> "Transposed":
        return Transposed(self)

    _adjoint = _transpose

    def __repr__(self) -> str:
        return f"<bisai.Preconditioner {self.report['description']}>"


class Transposed(Operator):
    """M⁻ᵀ of a preconditioner M: `M.T`."""

    def __init__(self, of: Preconditioner) -> None:
        self.of = of
        self.context = of.context
        super().__init__(of.dtype, of.shape)

    def _apply(self, v: Vector) -> Vector:
        return self.of._apply(v, transposed=True)

    def _rmatvec(self, v: Any) -> Any:
        return self.of._matvec(v)

    def _transpose(self) -> Preconditioner:
        return self.of

    _adjoint = _transpose

    def __repr__(self) -> str:
        return f"<transpose of {self.of!r}>"
