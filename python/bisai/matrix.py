# SPDX-License-Identifier: BSD-3-Clause
"""Block-sparse matrices."""
from __future__ import annotations

from typing import Any, Optional

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator

from ._bisai import ffi, lib
from .arrays import Vector, finish, gpu_of, stream_of, vector
from .context import Context, default_context, refuse_copy
from .errors import invalid
from .sources import OnGpu, canonical


def _integers(array: Any) -> np.ndarray:
    return np.ascontiguousarray(array, dtype=np.int32)


def _integer_pointer(array: np.ndarray) -> Any:
    return ffi.cast("int32_t *", array.ctypes.data)


def _values_pointer(array: np.ndarray) -> Any:
    return ffi.cast("double *", array.ctypes.data)


class Operator(LinearOperator):
    """A linear operator of SciPy that also takes arrays in the memory of a GPU, one at a time."""

    context: Context

    def _apply(self, v: Vector) -> Vector:
        raise NotImplementedError

    def _matvec(self, v: Any) -> np.ndarray:
        return self._apply(vector(v, self.shape[1], "v", self.context)).array

    def dot(self, x: Any) -> Any:
        """Returns the product with x of shape (n,) or (n, k): `A @ x`."""
        if gpu_of(x, "x") is None:
            return super().dot(x)
        return self._apply(vector(x, self.shape[1], "x", self.context)).array

    def __matmul__(self, x: Any) -> Any:
        return self.dot(x)

    def __reduce__(self) -> Any:
        return refuse_copy(self)


class Matrix(Operator):
    """A matrix of dense blocks, a copy of the caller's. `A @ x` multiplies.

    Parameters
    ----------
    A : sparse matrix or array of shape (n, n)
        of SciPy, CuPy, PyTorch or JAX. BSR keeps its blocks; of others, the block size and nodes of
        any numbering are found. A CSR matrix on a GPU goes through host memory for that, unless
        block_size is 1
    block_size : int, optional
        the block size, 1 to 32, for CSR, CSC and COO
    fields : int, optional
        the unknowns of a node, if A has them field by field: all u, then all v
    nodes : array of n integers, optional
        the node of each row, from 0, in any order
    context : Context, optional
        default: that of the thread, on the GPU that has A and on the caller's stream there
    """

    def __init__(self, A: Any, block_size: Optional[int] = None, *, fields: Optional[int] = None,
                 nodes: Any = None, context: Optional[Context] = None) -> None:
        A = canonical(A)
        on_gpu = isinstance(A, OnGpu)
        self.context = context or (default_context(A.gpu, A.stream) if on_gpu else
                                   default_context())
        plain = fields is None and nodes is None
        if on_gpu and not (plain and (block_size == A.block_size or
                                      block_size is None and A.block_size > 1)):
            A, on_gpu = Matrix(A, A.block_size, context=self.context).to_scipy(), False
            A = A if A.blocksize[0] > 1 else A.tocsr()
        # The blocks are those of A.
        self._is_bsr = on_gpu or plain and A.format == "bsr" and \
            block_size in (None, A.blocksize[0])
        made = ffi.new("bisai_bcsr **")
        with self.context.lock:
            if on_gpu:
                self._create_on_gpu(A, made)
            elif self._is_bsr:
                self._create_bsr(A, made)
            else:
                self._create_csr(A.tocsr(), block_size, fields, nodes, made)
            self._take(made, A.shape)

    @classmethod
    def _of_pointer(cls, context: Context, made: Any) -> "Matrix":
        matrix = cls.__new__(cls)
        matrix.context = context
        matrix._is_bsr = False
        rows = lib.bisai_bcsr_rows(made[0])
        matrix._take(made, (rows, rows))
        return matrix

    def _create(self, shape: Any, block_size: int, rows: Any, cols: Any, values: Any, location: int,
                made: Any) -> None:
        desc = ffi.new("bisai_bcsr_desc *", lib.bisai_bcsr_desc_default())
        desc.block_size, desc.location = block_size, location
        desc.block_rows, desc.block_cols = (n // block_size for n in shape)
        desc.row_ptr, desc.col_idx = rows, cols
        desc.values, desc.layout = values, lib.BISAI_ROW_MAJOR
        self.context.check(lib.bisai_bcsr_create(self.context.handle, desc, made))

    def _create_bsr(self, A: Any, made: Any) -> None:
        rows, cols = _integers(A.indptr), _integers(A.indices)
        values = np.ascontiguousarray(A.data)
        self._create(A.shape, A.blocksize[0], _integer_pointer(rows), _integer_pointer(cols),
                     _values_pointer(values), lib.BISAI_HOST, made)

    def _create_on_gpu(self, A: OnGpu, made: Any) -> None:
        if self.context.gpu != A.gpu:
            where = "the host" if self.context.gpu is None else f"GPU {self.context.gpu}"
            raise invalid(f"A is in the memory of GPU {A.gpu}, and the context computes on {where}:"
                          f" context=bisai.Context('cuda', device={A.gpu}) computes there")
        rows, cols, values = A.addresses(self.context)
        self._create(A.shape, A.block_size, ffi.cast("int32_t *", rows),
                     ffi.cast("int32_t *", cols), ffi.cast("void *", values), lib.BISAI_DEVICE,
                     made)

    def _create_csr(self, A: Any, block_size: Optional[int], fields: Optional[int], nodes: Any,
                    made: Any) -> None:
        desc, keep = self._describe(A)
        square = A.shape[0] == A.shape[1]
        desc.block_size, desc.fields, desc.pad = block_size or 0, fields or 0, square
        if nodes is not None:
            if np.asarray(nodes).dtype.kind not in "iu":
                raise invalid(f"nodes has the type {np.asarray(nodes).dtype}, and integers are "
                              "needed")
            node = _integers(nodes)
            if node.shape != (A.shape[0],):
                raise invalid(f"nodes has the shape {node.shape}, and ({A.shape[0]},) is needed")
            desc.node = _integer_pointer(node)
        desc.find_nodes = square and not block_size and fields is None and nodes is None
        self.context.check(lib.bisai_bcsr_from_csr(self.context.handle, desc, made))
        del keep

    @staticmethod
    def _describe(A: Any) -> Any:
        keep = (_integers(A.indptr), _integers(A.indices), np.ascontiguousarray(A.data))
        desc = ffi.new("bisai_csr_desc *", lib.bisai_csr_desc_default())
        desc.rows, desc.cols = A.shape
        desc.row_ptr, desc.col_idx = _integer_pointer(keep[0]), _integer_pointer(keep[1])
        desc.values = _values_pointer(keep[2])
        return desc, keep

    def _take(self, made: Any, shape: Any) -> None:
        """Takes a matrix of the library. Vectors move between the rows of A and those of the blocks
        unless both are the same."""
        self.native = self.context.own(self, made, lib.bisai_bcsr_destroy)
        self.handle = made[0]
        self.block_size: int = lib.bisai_bcsr_block_size(self.handle)
        self.blocks: int = lib.bisai_bcsr_blocks(self.handle)
        self.held_rows: int = lib.bisai_bcsr_block_rows(self.handle) * self.block_size
        self.moves = False
        if not self._is_bsr and shape[0] == shape[1]:
            places = np.empty(shape[0], dtype=np.int32)
            self.context.check(lib.bisai_bcsr_places(self.handle, _integer_pointer(places)))
            self.moves = self.held_rows != shape[0] or \
                bool(np.any(places != np.arange(shape[0], dtype=np.int32)))
        super().__init__(np.dtype(np.float64), shape)

    def to_blocks(self, x: Vector) -> Vector:
        """Returns x in the order of the blocks; x itself if it has it."""
        if not self.moves:
            return x
        moved = x.new(self.held_rows, self.context)
        self.copy_to_blocks(x, moved)
        return moved

    def copy_to_blocks(self, x: Vector, z: Vector) -> None:
        """z of the blocks ← x."""
        self.context.check(lib.bisai_bcsr_to_blocks(self.handle, 1, x.pointer, z.pointer))

    def from_blocks(self, z: Vector, x: Vector) -> None:
        """x ← z of the blocks, unless both are the same array."""
        if self.moves:
            self.context.check(lib.bisai_bcsr_from_blocks(self.handle, 1, z.pointer, x.pointer))

    def rows_of_blocks(self, vectors: np.ndarray) -> np.ndarray:
        """Returns contiguous vectors of shape (n, k) in the order of the blocks."""
        if not self.moves:
            return vectors
        moved = np.empty((self.held_rows, vectors.shape[1]))
        self.context.check(lib.bisai_bcsr_to_blocks(self.handle, vectors.shape[1],
                                                    _values_pointer(vectors),
                                                    _values_pointer(moved)))
        return moved

    def rows_of_scalars(self, vectors: np.ndarray) -> np.ndarray:
        """Returns contiguous vectors in the order of the blocks in that of A, of shape (n, k)."""
        if not self.moves or vectors.shape[1] == 0:
            return vectors[:self.shape[0]]
        moved = np.empty((self.shape[0], vectors.shape[1]))
        self.context.check(lib.bisai_bcsr_from_blocks(self.handle, vectors.shape[1],
                                                      _values_pointer(vectors),
                                                      _values_pointer(moved)))
        return moved

    def update(self, A: Any) -> None:
        """Takes new values of a matrix with the same pattern and format."""
        A = canonical(A)
        if isinstance(A, OnGpu):
            self._update_from(Matrix(A, A.block_size, context=self.context))
            return
        if not self._is_bsr:
            A = A.tocsr()
        elif A.format == "csr" and self.block_size == 1:
            A = sp.bsr_matrix(A, blocksize=(1, 1))
        if A.shape != self.shape or (A.format == "bsr") != self._is_bsr:
            raise invalid(f"A of shape {A.shape} and format {A.format} is no update of this matrix")
        with self.context.lock:
            if self._is_bsr:
                self._check_pattern(A.indptr, A.indices, A.blocksize[0])
                values = np.ascontiguousarray(A.data)
                self.context.check(lib.bisai_bcsr_update(
                    self.handle, ffi.cast("void *", values.ctypes.data), lib.BISAI_ROW_MAJOR))
            else:
                desc, keep = self._describe(A)
                self.context.check(lib.bisai_bcsr_update_from_csr(self.handle, desc))
                del keep

    def _update_from(self, A: "Matrix") -> None:
        """Takes the values of a matrix on the GPU. Only the pattern is fetched, for comparison."""
        if A.shape != self.shape or not self._is_bsr and A.block_size > 1:
            raise invalid(f"A of shape {A.shape} and block size {A.block_size} is no update of "
                          "this matrix")
        with self.context.lock:
            rows, cols, _ = A._fetch(False)
            values = ffi.new("void **")
            lib.bisai_bcsr_arrays(A.handle, ffi.NULL, ffi.NULL, values)
            if self._is_bsr:
                self._check_pattern(rows, cols, A.block_size)
                self.context.check(lib.bisai_bcsr_update(self.handle, values[0],
                                                         lib.BISAI_COLUMN_MAJOR))
            else:
                desc = ffi.new("bisai_csr_desc *", lib.bisai_csr_desc_default())
                desc.rows, desc.cols = A.shape
                desc.row_ptr, desc.col_idx = _integer_pointer(rows), _integer_pointer(cols)
                desc.values = ffi.cast("double *", values[0])
                self.context.check(lib.bisai_bcsr_update_from_csr(self.handle, desc))

    def _fetch(self, with_values: bool) -> Any:
        rows = np.empty(lib.bisai_bcsr_block_rows(self.handle) + 1, dtype=np.int32)
        cols = np.empty(self.blocks, dtype=np.int32)
        values = np.empty((self.blocks if with_values else 0, self.block_size, self.block_size))
        self.context.check(lib.bisai_bcsr_fetch(
            self.handle, _integer_pointer(rows), _integer_pointer(cols),
            ffi.cast("void *", values.ctypes.data) if with_values else ffi.NULL))
        return rows, cols, values.transpose(0, 2, 1)

    def _check_pattern(self, row_ptr: np.ndarray, col_idx: np.ndarray, block_size: int) -> None:
        rows, cols, _ = self._fetch(False)
        if block_size != self.block_size or not np.array_equal(rows, row_ptr) or \
           not np.array_equal(cols, col_idx):
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
            self.context.check(lib.bisai_bcsr_places(self.handle, _integer_pointer(places)))
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

    def _apply(self, v: Vector) -> Vector:
        y = v.new(self.shape[0], self.context)
        with self.context.lock:
            z = v.new(self.held_rows, self.context) if self.moves else y
            x = self.to_blocks(v)
            self.context.check(lib.bisai_bcsr_multiply(self.handle, x.pointer, z.pointer))
            self.from_blocks(z, y)
            finish(self.context, v, y)
        return y

    def __repr__(self) -> str:
        return (f"<bisai.Matrix {self.shape[0]} × {self.shape[1]}, {self.blocks} blocks of size "
                f"{self.block_size}>")


def matrix_of(A: Any, context: Optional[Context] = None, b: Any = None) -> Matrix:
    """Returns a Matrix: A itself, or a copy of the caller's, on the GPU that has b."""
    if not isinstance(A, Matrix):
        gpu = None if b is None or context is not None else gpu_of(b, "b")
        if gpu is not None:
            context = default_context(gpu, stream_of(b, gpu))
        return Matrix(A, context=context)
    if context is not None and context is not A.context:
        raise invalid("the matrix belongs to another context")
    return A
