# SPDX-License-Identifier: BSD-3-Clause
"""Sparse matrices of the caller: SciPy's, and those of CuPy, PyTorch and JAX, in host memory or on
a GPU."""
from __future__ import annotations

from typing import Any, List, NamedTuple, Tuple, Union

import numpy as np
import scipy.sparse as sp

from .arrays import FAILURES, gpu_of, numpy_of, stream_of
from .context import Context
from .errors import invalid

INDEX_LIMIT = 2**31 - 1
LARGEST_BLOCK = 32


class OnGpu(NamedTuple):
    """Arrays of BSR in the memory of a GPU; block size 1 is CSR."""
    shape: Tuple[int, int]
    block_size: int
    #: row pointers, columns and values, of their own library
    arrays: List[Any]
    gpu: int

    @property
    def stream(self) -> Any:
        """The stream of the caller; None if its library has streams of its own."""
        return stream_of(self.arrays[2], self.gpu)

    def addresses(self, context: Context) -> List[int]:
        """Returns where the arrays are. The context waits for the work that computes them."""
        found = []
        for array, name, needed in zip(self.arrays, ("row pointers", "columns", "values"),
                                       ("<i4", "<i4", "<f8")):
            try:
                interface = array.__cuda_array_interface__
                array.__dlpack__(stream=context.stream)
            except FAILURES as error:
                raise invalid(f"the {name} of A cannot be read: {error}") from error
            if interface["typestr"] != needed or interface.get("strides") is not None:
                raise invalid(f"the {name} of A have the type {interface['typestr']} on a GPU, and "
                              f"{needed} without gaps is needed: types are converted in host "
                              "memory only")
            found.append(interface["data"][0])
        return found


def _parts(A: Any) -> List[Any]:
    """Returns row pointers, columns and values of a CSR or BSR matrix that is not SciPy's."""
    if hasattr(A, "crow_indices"):  # PyTorch
        layout = str(A.layout)
        if layout in ("torch.sparse_coo", "torch.sparse_csc"):
            A, layout = A.to_sparse_csr(), "torch.sparse_csr"
        if layout in ("torch.sparse_csr", "torch.sparse_bsr"):
            return [A.crow_indices().int(), A.col_indices().int(), A.values()]
    else:  # CuPy, JAX
        A = A.tocsr() if hasattr(A, "tocsr") else A
        found = [getattr(A, name, None) for name in ("indptr", "indices", "data")]
        if not any(part is None for part in found):
            return found
    raise invalid(f"A is of type {type(A).__name__}, and a sparse matrix is needed: "
                  "scipy.sparse.csr_array(A) makes one of a dense array, and "
                  "BCSR.from_bcoo(A.sum_duplicates()) of JAX's BCOO")


def _foreign(A: Any) -> Any:
    """Returns a matrix of CuPy, PyTorch or JAX as one of SciPy, without a copy, or as OnGpu."""
    parts = _parts(A)
    gpu, shape = gpu_of(parts[2], "A"), tuple(A.shape)
    if len(shape) != 2 or len(parts[2].shape) not in (1, 3) or len(parts[0].shape) != 1:
        raise invalid(f"A has the shape {shape} and values of the shape {tuple(parts[2].shape)}: "
                      "one matrix with scalar entries or with blocks is needed")
    if gpu is None:
        rows, cols, values = (numpy_of(part, "A") for part in parts)
        kind = sp.bsr_matrix if values.ndim == 3 else sp.csr_matrix
        return kind((values, cols, rows), shape=shape)
    block = tuple(parts[2].shape[1:]) or (1, 1)
    if block[0] != block[1] or block[0] > LARGEST_BLOCK:
        raise invalid(f"A has blocks of {block[0]} × {block[1]} on a GPU, and square ones up to "
                      f"{LARGEST_BLOCK} are needed")
    return OnGpu(shape, block[0], parts, gpu)


def _check_arrays(A: Any) -> None:
    """Refuses arrays with which SciPy would read or write elsewhere in its conversions."""
    if A.format in ("bsr", "csc", "csr"):
        pointers, stored = A.indptr, min(len(A.indices), len(A.data))
        if len(pointers) == 0 or pointers[0] != 0 or pointers[-1] > stored or \
           np.any(pointers[1:] < pointers[:-1]):
            raise invalid(f"A.indptr does not begin with 0, decreases, or ends beyond the {stored} "
                          "entries or blocks that A stores")
    numbers = {"csc": (("indices", 0),), "coo": (("row", 0), ("col", 1))}.get(A.format, ())
    for name, axis in numbers:  # the library checks those of CSR and BSR
        used = getattr(A, name)
        for number in (used.min(), used.max()) if len(used) else ():
            if not 0 <= number < A.shape[axis]:
                raise invalid(f"A.{name} has the number {number}, which is out of range for the "
                              f"shape {A.shape}")


def canonical(A: Any) -> Union[OnGpu, Any]:
    """Returns a sorted BSR or CSR matrix of SciPy without duplicates, of float64, or OnGpu. A stays
    as it is."""
    if not sp.issparse(A) and not isinstance(A, OnGpu):
        A = _foreign(A)
    if isinstance(A, OnGpu):
        return A
    if A.ndim != 2 or A.dtype.kind not in "biuf":
        raise invalid(f"A has {A.ndim} dimensions and the type {A.dtype}: "
                      "2 and real numbers are needed")
    _check_arrays(A)
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
