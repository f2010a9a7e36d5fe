# SPDX-License-Identifier: BSD-3-Clause
"""Vectors of the caller, in host memory or in the memory of a GPU, where the library reads and
writes them in place.

An array on a GPU (CuPy, PyTorch, JAX) says by DLPack on which GPU it is, and by the CUDA array
interface where. Its __dlpack__(stream=…) makes the work of the context's stream wait for the work
that computes the array.
"""
from __future__ import annotations

import sys
from typing import Any, NamedTuple, Optional

import numpy as np

from ._bisai import ffi, lib
from .context import Context, stream_number
from .errors import invalid

HOST_DEVICES = (1, 3)  # of DLPack: host memory, and host memory that a GPU reads
CUDA_DEVICES = (2, 13)  # memory of an NVIDIA GPU, and memory that host and GPU share
FAILURES = (AttributeError, BufferError, RuntimeError, TypeError, ValueError)


def gpu_of(values: Any, name: str) -> Optional[int]:
    """Returns the number of the GPU in whose memory an array is; None for host memory."""
    if isinstance(values, np.ndarray) or not hasattr(values, "__dlpack_device__"):
        if hasattr(values, "__cuda_array_interface__"):
            raise invalid(f"{name} is in the memory of a GPU, and its library does not say of which"
                          " (DLPack): cupy.asarray() makes an array that does")
        return None
    kind, number = values.__dlpack_device__()
    if kind in HOST_DEVICES:
        return None
    if kind not in CUDA_DEVICES:
        raise invalid(f"{name} is on a device of DLPack's kind {int(kind)}, and bisai computes on "
                      "the host and on NVIDIA GPUs")
    return int(number)


def stream_of(values: Any, gpu: int) -> Any:
    """Returns the stream on which the caller computes with an array of a GPU, as an object of its
    library, which keeps the stream alive, or as a number. None if the library (JAX) has streams of
    its own."""
    torch, cupy = sys.modules.get("torch"), sys.modules.get("cupy")
    if torch is not None and isinstance(values, torch.Tensor):
        return torch.cuda.current_stream(gpu)
    if cupy is not None and isinstance(values, cupy.ndarray):
        return cupy.cuda.get_current_stream()
    return getattr(values, "__cuda_array_interface__", {}).get("stream")


class Vector(NamedTuple):
    """Contiguous float64 values, those of `array`."""
    array: Any
    address: int
    #: the caller computes with it on the stream of the context, and needs not wait
    in_order: bool

    @property
    def pointer(self) -> Any:
        """The address for the library."""
        return ffi.cast("double *", self.address)

    def new(self, rows: int, context: Context) -> "Vector":
        """Returns a vector of `rows` values in the same memory, which are not set."""
        if isinstance(self.array, np.ndarray):
            return of_numpy(np.empty(rows))
        if hasattr(self.array, "new_empty"):  # PyTorch
            made = self.array.new_empty((rows,))
        elif hasattr(self.array, "at"):  # JAX
            made = self.array.__array_namespace__().empty(rows, dtype="float64",
                                                          device=self.array.device)
        else:
            made = sys.modules["cupy"].empty(rows, dtype="float64")
        return vector(made, rows, "a new vector", context)


def of_numpy(array: np.ndarray) -> Vector:
    """Returns a contiguous float64 array as a vector."""
    return Vector(array, array.ctypes.data, True)


def numpy_of(values: Any, name: str) -> np.ndarray:
    """Returns an array in host memory (NumPy, PyTorch, JAX, …) as one of NumPy, without a copy."""
    gpu = gpu_of(values, name)
    if gpu is not None:
        raise invalid(f"{name} is in the memory of GPU {gpu}, and is needed in host memory: "
                      ".cpu() or cupy.asnumpy() copies it")
    if isinstance(values, np.ndarray) or not hasattr(values, "__dlpack__"):
        return np.asarray(values)
    try:
        return np.from_dlpack(values)
    except FAILURES as error:
        raise invalid(f"{name} cannot be read: {error}") from error


def _check_shape(shape: Any, rows: int, name: str) -> None:
    if tuple(shape) not in ((rows,), (rows, 1)):
        raise invalid(f"{name} has the shape {tuple(shape)}, and ({rows},) is needed")


def _on_gpu(values: Any, rows: int, name: str, context: Context, gpu: int) -> Vector:
    if context.gpu is None:
        raise invalid(f"{name} is in the memory of GPU {gpu}, and the context computes on the host:"
                      f" context=bisai.Context('cuda', device={gpu}) computes there")
    if context.gpu != gpu:
        raise invalid(f"{name} is in the memory of GPU {gpu}, and the context computes on GPU "
                      f"{context.gpu}: copy it there, or use a context with device={gpu}")
    try:
        interface = values.__cuda_array_interface__
        values.__dlpack__(stream=context.stream)  # the context waits for the work on it
    except FAILURES as error:
        raise invalid(f"{name} cannot be read: {error}") from error
    _check_shape(interface["shape"], rows, name)
    if interface["typestr"] != "<f8":
        raise invalid(f"{name} has the type {interface['typestr']} on a GPU, and float64 (<f8) is "
                      "needed: types are converted in host memory only")
    if rows > 1 and interface.get("strides") not in (None, (8,), (8, 8)):
        raise invalid(f"{name} has gaps between its values, and must be contiguous")
    stream = stream_of(values, gpu)
    return Vector(values, interface["data"][0],
                  stream is not None and stream_number(stream) == context.stream)


def vector(values: Any, rows: int, name: str, context: Context) -> Vector:
    """Returns an array of shape (rows,). It is not copied if it is contiguous float64."""
    gpu = gpu_of(values, name)
    if gpu is not None:
        return _on_gpu(values, rows, name, context, gpu)
    values = numpy_of(values, name)
    if np.iscomplexobj(values):
        raise invalid(f"{name} is complex, and bisai computes with real numbers")
    _check_shape(values.shape, rows, name)
    try:
        return of_numpy(np.ascontiguousarray(values.reshape(rows), dtype=np.float64))
    except (TypeError, ValueError) as error:
        raise invalid(f"{name} has the type {values.dtype}, and real numbers are needed") from error


def target(out: Any, rows: int, context: Context) -> Vector:
    """Returns an array that takes x in place."""
    needed = f"out must be a contiguous, writable array of float64 and shape ({rows},)"
    gpu = gpu_of(out, "out")
    if gpu is not None:
        taken = _on_gpu(out, rows, "out", context, gpu)
        if out.__cuda_array_interface__["data"][1]:
            raise invalid(f"{needed}, and an array of {type(out).__module__} cannot be written")
        return taken
    try:
        array = numpy_of(out, "out")
    except ValueError:
        array = None
    if array is None or array is not out and not hasattr(out, "__dlpack__") or \
       array.shape != (rows,) or array.dtype != np.float64 or \
       not array.flags.c_contiguous or not array.flags.writeable:
        raise invalid(needed)
    return Vector(out, array.ctypes.data, True)


def finish(context: Context, *vectors: Vector) -> None:
    """Waits for the work on vectors of a GPU, unless their owners' next work follows it anyway."""
    if not all(one.in_order for one in vectors):
        context.check(lib.bisai_context_synchronize(context.handle))
