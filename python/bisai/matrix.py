# SPDX-License-Identifier: BSD-3-Clause
"""Block-sparse matrices."""
from __future__ import annotations

from typing import Any, Optional

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator

from ._bisai import ffi, lib
from .context import Context, default_context
from .errors import invalid

INDEX_LIMIT = 2**31 - 1
LARGEST_BLOCK = 32


HOST_DEVICES = (1, 3)  # of DLPack: host memory, and host memory that a GPU reads


def _array(values: Any, name: str) -> np.ndarray:
    """Returns an array of another library (PyTorch, JAX, …) as one of NumPy, without a copy."""
    if isinstance(values, np.ndarray):
        return values
    on_device = hasattr(values, "__cuda_array_interface__")
    if not on_device and hasattr(values, "__dlpack__"):
        if values.__dlpack_device__()[0] in HOST_DEVICES:
            try:
                return np.from_dlpack(values)
            except (BufferError, RuntimeError, TypeError) as error:
                raise invalid(f"{name} cannot be read: {error}") from error
        on_device = True
    if on_device:
        raise invalid(f"{name} is in the memory of a GPU, and bisai for Python takes vectors in "
                      "host memory: copy it by .cpu() or cupy.asnumpy()")
    return np.asarray(values)


def target(out: Any, rows: int) -> np.ndarray:
    """Returns an array that takes x in place."""
    if not isinstance(out, np.ndarray) or out.shape != (rows,) or out.dtype != np.float64 or \
       not out.flags.c_contiguous or not out.flags.writeable:
        raise invalid(f"out must be a contiguous, writable NumPy array of float64 and shape "
                      f"({rows},)")
    return out


def vector(values: Any, rows: int, name: str) -> np.ndarray:
    """Returns a vector as contiguous float64 of shape (rows,); itself if it is one."""
    values = _array(values, name)
    if np.iscomplexobj(values):
        raise invalid(f"{name} is complex, and bisai computes with real numbers")
    if values.shape not in ((rows,), (rows, 1)):
        raise invalid(f"{name} has the shape {values.shape}, and ({rows},) is needed")
    try:
        return np.ascontiguousarray(values.reshape(rows), dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise invalid(f"{name} has the type {values.dtype}, and real numbers are needed") from error


def doubles(array: np.ndarray) -> Any:
    """Returns the address of float64 values."""
    return ffi.cast("double *", array.ctypes.data)


def _integers(array: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(array, dtype=np.int32)


def _pointer(array: np.ndarray) -> Any:
    return ffi.cast("int32_t *", array.ctypes.data)


def _canonical(A: Any) -> Any:
    """Returns a sorted BSR or CSR matrix without duplicates, of float64. A stays as it is."""
    if not sp.issparse(A):
        raise invalid(f"A is of type {type(A).__name__}, and a SciPy sparse matrix is needed: "
                      "scipy.sparse.csr_array(A) makes one of a dense array")
    if A.ndim != 2 or A.dtype.kind not in "biuf":
        raise invalid(f"A has {A.ndim} dimensions and the type {A.dtype}: "
                      "2 and real numbers are needed")
    square = A.format == "bsr" and A.blocksize[0] == A.blocksize[1]
    if not square or A.blocksize[0] == 1 or A.blocksize[0] > LARGEST_BLOCK:
        A = A.tocsr()
    A = A.astype(np.float64, copy=False)
    if max(A.shape) > INDEX_LIMIT or A.nnz > INDEX_LIMIT:
        raise invalid(f"A has {A.shape[0]} × {A.shape[1]} entries and stores {A.nnz}, and bisai "
                      f"counts with 32 bits, up to {INDEX_LIMIT}")
    if not A.has_canonical_format:
        A = A.copy()
        A.sum_duplicates()
    return A


class Matrix(LinearOperator):
    """A matrix of dense blocks, a copy of a SciPy matrix. `A @ x` multiplies.

    Parameters
    ----------
    A : sparse matrix or array of shape (n, n)
        BSR keeps its blocks; of others, the block size and nodes of any numbering are found
    block_size : int, optional
        the block size, 1 to 32, for CSR, CSC and COO
    fields : int, optional
        the unknowns of a node, if A has them field by field: all u, then all v
    nodes : array of n integers, optional
        the node of each row, from 0, in any order
    context : Context, optional
        default: that of the thread
    """

    def __init__(self, A: Any, block_size: Optional[int] = None, *, fields: Optional[int] = None,
                 nodes: Any = None, context: Optional[Context] = None) -> None:
        self.context = context or default_context()
        A = _canonical(A)
        self._is_bsr = A.format == "bsr" and block_size in (None, A.blocksize[0]) and \
            fields is None and nodes is None
        if not self._is_bsr:
            A = A.tocsr()
        made = ffi.new("bisai_bcsr **")
        with self.context.lock:
            if self._is_bsr:
                self._create_bsr(A, made)
            else:
                self._create_csr(A, block_size, fields, nodes, made)
            self._take(made, A.shape)

    @classmethod
    def _of_pointer(cls, context: Context, made: Any) -> "Matrix":
        matrix = cls.__new__(cls)
        matrix.context = context
        matrix._is_bsr = False
        rows = lib.bisai_bcsr_rows(made[0])
        matrix._take(made, (rows, rows))
        return matrix

    def _create_bsr(self, A: Any, made: Any) -> None:
        rows, cols = _integers(A.indptr), _integers(A.indices)
        values = np.ascontiguousarray(A.data)
        desc = ffi.new("bisai_bcsr_desc *", lib.bisai_bcsr_desc_default())
        desc.block_size = A.blocksize[0]
        desc.block_rows, desc.block_cols = (n // A.blocksize[0] for n in A.shape)
        desc.row_ptr, desc.col_idx = _pointer(rows), _pointer(cols)
        desc.values, desc.layout = ffi.cast("void *", values.ctypes.data), lib.BISAI_ROW_MAJOR
        self.context.check(lib.bisai_bcsr_create(self.context.handle, desc, made))

    def _create_csr(self, A: Any, block_size: Optional[int], fields: Optional[int], nodes: Any,
                    made: Any) -> None:
        desc, keep = self._describe(A)
        square = A.shape[0] == A.shape[1]
        desc.block_size, desc.fields, desc.pad = block_size or 0, fields or 0, square
        if nodes is not None:
            node = _integers(nodes)
            if node.shape != (A.shape[0],):
                raise invalid(f"nodes has the shape {node.shape}, and ({A.shape[0]},) is needed")
            desc.node = _pointer(node)
        desc.find_nodes = square and not block_size and fields is None and nodes is None
        self.context.check(lib.bisai_bcsr_from_csr(self.context.handle, desc, made))
        del keep

    @staticmethod
    def _describe(A: Any) -> Any:
        keep = (_integers(A.indptr), _integers(A.indices), np.ascontiguousarray(A.data))
        desc = ffi.new("bisai_csr_desc *", lib.bisai_csr_desc_default())
        desc.rows, desc.cols = A.shape
        desc.row_ptr, desc.col_idx = _pointer(keep[0]), _pointer(keep[1])
        desc.values = doubles(keep[2])
        return desc, keep

    def _take(self, made: Any, shape: Any) -> None:
        """Takes a matrix of the library. Vectors move between the rows of A and those of the blocks
        unless both are the same."""
        self.handle = self.context.own(made, lib.bisai_bcsr_destroy)
        self.block_size: int = lib.bisai_bcsr_block_size(self.handle)
        self.blocks: int = lib.bisai_bcsr_blocks(self.handle)
        self.held_rows: int = lib.bisai_bcsr_block_rows(self.handle) * self.block_size
        self.moves = False
        if not self._is_bsr and shape[0] == shape[1]:
            places = np.empty(shape[0], dtype=np.int32)
            self.context.check(lib.bisai_bcsr_places(self.handle, _pointer(places)))
            self.moves = self.held_rows != shape[0] or \
                bool(np.any(places != np.arange(shape[0], dtype=np.int32)))
        super().__init__(np.dtype(np.float64), shape)

    def to_blocks(self, x: np.ndarray) -> np.ndarray:
        """Returns x of shape (n,) or (n, k), in the order of the blocks; x itself if it has it."""
        if not self.moves:
            return x
        width = x.shape[1] if x.ndim == 2 else 1
        moved = np.empty((self.held_rows,) + x.shape[1:])
        self.context.check(lib.bisai_bcsr_to_blocks(self.handle, width, doubles(x),
                                                    doubles(moved)))
        return moved

    def from_blocks(self, z: np.ndarray, x: np.ndarray) -> None:
        """x ← z of the blocks, unless both are the same array."""
        if self.moves:
            self.context.check(lib.bisai_bcsr_from_blocks(self.handle, 1, doubles(z), doubles(x)))

    def update(self, A: Any) -> None:
        """Takes new values of a matrix with the same pattern and format."""
        A = _canonical(A)
        if not self._is_bsr:
            A = A.tocsr()
        if A.shape != self.shape or (A.format == "bsr") != self._is_bsr:
            raise invalid(f"A of shape {A.shape} and format {A.format} is no update of this matrix")
        with self.context.lock:
            if self._is_bsr:
                self._check_pattern(A)
                values = np.ascontiguousarray(A.data)
                self.context.check(lib.bisai_bcsr_update(
                    self.handle, ffi.cast("void *", values.ctypes.data), lib.BISAI_ROW_MAJOR))
            else:
                desc, keep = self._describe(A)
                self.context.check(lib.bisai_bcsr_update_from_csr(self.handle, desc))
                del keep

    def _fetch(self, with_values: bool) -> Any:
        rows = np.empty(lib.bisai_bcsr_block_rows(self.handle) + 1, dtype=np.int32)
        cols = np.empty(self.blocks, dtype=np.int32)
        values = np.empty((self.blocks if with_values else 0, self.block_size, self.block_size))
        self.context.check(lib.bisai_bcsr_fetch(
            self.handle, _pointer(rows), _pointer(cols),
            ffi.cast("void *", values.ctypes.data) if with_values else ffi.NULL))
        return rows, cols, values.transpose(0, 2, 1)

    def _check_pattern(self, A: Any) -> None:
        rows, cols, _ = self._fetch(False)
        if A.blocksize[0] != self.block_size or not np.array_equal(rows, A.indptr) or \
           not np.array_equal(cols, A.indices):
            raise invalid("the pattern of blocks differs from that of this matrix")

    def to_scipy(self) -> Any:
        """Returns a scipy.sparse BSR array, or CSR where rows were padded or moved."""
        with self.context.lock:
            rows, cols, values = self._fetch(True)
            held = (self.held_rows, lib.bisai_bcsr_block_cols(self.handle) * self.block_size)
            A = sp.bsr_matrix((values, cols, rows), shape=held)
            if not self.moves:
                return A
            places = np.empty(self.shape[0], dtype=np.int32)
            self.context.check(lib.bisai_bcsr_places(self.handle, _pointer(places)))
        A = A.tocsr()[places][:, places]
        A.eliminate_zeros()
        return A

    @property
    def asymmetry(self) -> float:
        """How much A differs from its transpose: 0 for symmetric, at most 2."""
        value = ffi.new("double *")
        with self.context.lock:
            self.context.check(lib.bisai_bcsr_asymmetry(self.handle, value, ffi.NULL))
        return value[0]

    def _matvec(self, x: np.ndarray) -> np.ndarray:
        x = vector(x, self.shape[1], "x")
        y = np.empty(self.shape[0])
        with self.context.lock:
            z = np.empty(self.held_rows) if self.moves else y
            self.context.check(lib.bisai_bcsr_multiply(self.handle, doubles(self.to_blocks(x)),
                                                       doubles(z)))
            self.from_blocks(z, y)
        return y

    def __repr__(self) -> str:
        return (f"<bisai.Matrix {self.shape[0]} × {self.shape[1]}, {self.blocks} blocks of size "
                f"{self.block_size}>")


def matrix_of(A: Any, context: Optional[Context] = None) -> Matrix:
    """Returns a Matrix: A itself, or a copy of a SciPy matrix."""
    if not isinstance(A, Matrix):
        return Matrix(A, context=context)
    if context is not None and context is not A.context:
        raise invalid("the matrix belongs to another context")
    return A
