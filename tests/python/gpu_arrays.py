# SPDX-License-Identifier: BSD-3-Clause
"""Libraries with arrays in the memory of a GPU. The emulated device has a library too, which is
here: an array of the same protocols in what the emulation takes for device memory."""
import ctypes
import importlib
import types

import numpy as np
import scipy.sparse as sp


def emulation():
    """Returns the emulation that the extension module is linked to, or None."""
    with open("/proc/self/maps", encoding="ascii") as maps:
        paths = {line.split()[-1] for line in maps if "bisai_emulation" in line}
    return ctypes.CDLL(paths.pop()) if paths else None


class Emulated:
    """An array in the memory of the emulated device; the stream is the legacy default one."""

    def __init__(self, values, device=0):
        values = np.ascontiguousarray(values)
        self.shape, self.dtype, self.device = values.shape, values.dtype, device
        self.read_only, self.strides, self.waits = False, None, []
        self._library = emulation()
        address = ctypes.c_void_p()
        assert not self._library["_Z10cudaMallocPPvm"](ctypes.byref(address),
                                                       ctypes.c_size_t(max(values.nbytes, 8)))
        self.address = address.value
        ctypes.memmove(self.address, values.ctypes.data, values.nbytes)

    def __del__(self):
        self._library["_Z8cudaFreePv"](ctypes.c_void_p(self.address))

    @property
    def __cuda_array_interface__(self):
        return {"data": (self.address, self.read_only), "shape": self.shape, "version": 3,
                "typestr": self.dtype.str, "strides": self.strides, "stream": 1}

    def __dlpack_device__(self):
        return 2, self.device

    def __dlpack__(self, stream=None):
        self.waits.append(stream)

    def new_empty(self, shape):
        return Emulated(np.full(shape, np.nan), self.device)

    def numpy(self):
        values = np.empty(self.shape, self.dtype)
        ctypes.memmove(values.ctypes.data, self.address, values.nbytes)
        return values


class Library:
    """What the tests need of a library."""

    def __init__(self, name):
        self.name = name
        if name != "emulated":
            self.module = importlib.import_module(name)
        if name == "jax":
            self.module.config.update("jax_enable_x64", True)
            importlib.import_module("jax.experimental.sparse")

    @property
    def writes(self):
        return self.name != "jax"

    def array(self, values):
        """Copies values to the GPU."""
        if self.name == "torch":
            return self.module.tensor(values, device="cuda")
        if self.name == "jax":
            return self.module.device_put(np.array(values))
        return Emulated(values) if self.name == "emulated" else self.module.asarray(values)

    def numpy(self, array):
        """Copies values from the GPU."""
        if self.name == "torch":
            return array.cpu().numpy()
        if self.name == "cupy":
            return self.module.asnumpy(array)
        return array.numpy() if self.name == "emulated" else np.asarray(array)

    def csr(self, A):
        """Copies a CSR matrix to the GPU."""
        values, cols, rows = (self.array(part) for part in (A.data, A.indices, A.indptr))
        if self.name == "cupy":
            return importlib.import_module("cupyx.scipy.sparse").csr_matrix((values, cols, rows),
                                                                            shape=A.shape)
        if self.name == "torch":
            return self.module.sparse_csr_tensor(rows, cols, values, A.shape)
        if self.name == "jax":
            return self.module.experimental.sparse.BCSR((values, cols, rows), shape=A.shape)
        return types.SimpleNamespace(indptr=rows, indices=cols, data=values, shape=A.shape)

    def bsr(self, A):
        """Copies a BSR matrix to the GPU; None if the library has none."""
        if self.name == "torch":
            parts = [self.array(part) for part in (A.indptr, A.indices, A.data)]
            return self.module.sparse_bsr_tensor(*parts, A.shape)
        return self.csr(A) if self.name == "emulated" else None


def library(name):
    """Returns a library, or the reason why it cannot be used."""
    try:
        if name != "emulated":
            return Library(name)
    except ImportError as error:
        return str(error)
    return Library(name) if emulation() else "the device is not emulated"


def stencil(n):
    T = sp.diags([-1.0, 2.0, -1.0], [-1, 0, 1], shape=(n, n))
    return (sp.kron(sp.eye(n), T) + sp.kron(T, sp.eye(n))).tocsr()
