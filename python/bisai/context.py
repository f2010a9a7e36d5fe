# SPDX-License-Identifier: BSD-3-Clause
"""Where the library computes."""
from __future__ import annotations

import collections
import os
import threading
import weakref
from typing import Any, Deque, Dict, List, Optional

from ._bisai import ffi, lib
from .errors import failure, invalid


def stream_number(stream: Any) -> int:
    """Returns the cudaStream_t of a stream of CuPy or PyTorch, or of its number. The legacy default
    stream, 0 there, is 1 (cudaStreamLegacy)."""
    for name in ("ptr", "cuda_stream"):
        stream = getattr(stream, name, stream)
    try:
        return int(stream) or 1
    except (TypeError, ValueError) as error:
        raise invalid(f"stream is {stream!r}: a number, or a stream of CuPy or PyTorch, is "
                      "needed") from error


class Native:
    """An object of the library. It is destroyed when neither Python nor another object uses it: the
    collector of Python ends objects in any order."""

    def __init__(self, made: Any, destroy: Any, parent: Optional["Native"] = None) -> None:
        self.made, self.destroy, self.parent = made, destroy, parent
        self.uses = 1
        self.stream: Any = None
        #: one thread at a time uses a context and its objects
        self.lock = parent.lock if parent else threading.RLock()
        self.doomed: Deque[Native] = parent.doomed if parent else collections.deque()
        if parent:
            parent.uses += 1

    def drop(self) -> None:
        """Python no longer uses the object."""
        self.doomed.append(self)
        self.destroy_doomed()

    def destroy_doomed(self) -> None:
        """Destroys what nothing uses. If another thread is in a call, this waits for a later one:
        the collector, which may call it in any thread, must not wait for locks."""
        if not self.lock.acquire(blocking=False):
            return
        try:
            while self.doomed:
                one: Optional[Native] = self.doomed.popleft()
                while one:
                    one.uses -= 1
                    if one.uses > 0:
                        break
                    one.destroy(one.made)
                    one = one.parent
        finally:
            self.lock.release()


class Context:
    """A backend with its threads. Calls on objects of one context wait for each other.

    Parameters
    ----------
    backend : "host", "cuda" or "auto"
        with "cuda", vectors may be in host memory or in that of the GPU
    threads : int
        host threads; 0: all processors that this process may use
    device : int
        the number of the GPU, which must be the current one where the context is used
    stream : int, or stream of CuPy or PyTorch, optional
        the stream of the GPU on which the context works; default: a stream of its own
    """

    def __init__(self, backend: str = "host", threads: int = 0, *, device: int = 0,
                 stream: Any = None) -> None:
        options = ffi.new("bisai_context_options *", lib.bisai_context_options_default())
        chosen = ffi.new("bisai_backend *")
        if not lib.bisai_backend_parse(str(backend).encode(), chosen):
            raise invalid(f"backend {backend!r}: host, cuda and auto are possible")
        options.backend, options.threads, options.device = chosen[0], threads, device
        if stream is not None:
            options.stream = ffi.cast("void *", stream_number(stream))
        made = ffi.new("bisai_context **")
        status = lib.bisai_context_create(options, made)
        if status:
            missing = lib.bisai_backend_missing(chosen[0], device)
            raise failure(status, ffi.string(missing).decode() if missing else
                          f"there is no context with threads={threads} and device={device}: threads"
                          " are 0 to 4096, and devices count from 0")
        self.native = Native(made, lib.bisai_context_destroy)
        self.native.stream = stream  # lives as long as the context
        self.lock, self.handle = self.native.lock, made[0]
        weakref.finalize(self, self.native.drop).atexit = False
        on_gpu = lib.bisai_context_backend(self.handle) == lib.BISAI_BACKEND_CUDA
        #: the number of the GPU; None on the host
        self.gpu: Optional[int] = device if on_gpu else None
        #: the number of the stream; None on the host
        self.stream: Optional[int] = int(ffi.cast("uintptr_t", lib.bisai_context_stream(
            self.handle))) if on_gpu else None
        _contexts.add(self)

    @property
    def device(self) -> str:
        """The processor or the GPU."""
        return ffi.string(lib.bisai_context_device(self.handle)).decode()

    @property
    def threads(self) -> int:
        """The number of host threads."""
        return lib.bisai_context_threads(self.handle)

    def device_memory(self, restart: bool = False) -> Dict[str, int]:
        """Returns the memory on the GPU in bytes: "used" by the objects of the context, "most_used"
        since the context was made or this number was restarted, and "pool", what the context has
        taken from the device. All are 0 on the host."""
        memory = ffi.new("bisai_device_memory *")
        memory.struct_size = ffi.sizeof("bisai_device_memory")
        with self.lock:
            self.check(lib.bisai_context_device_memory(self.handle, restart, memory))
        return {"used": memory.used_bytes, "most_used": memory.most_used_bytes,
                "pool": memory.pool_bytes}

    def trim(self) -> None:
        """Returns to the GPU the memory that the context keeps for later objects, so that other
        libraries can have it."""
        with self.lock:
            self.check(lib.bisai_context_trim(self.handle))

    def check(self, status: int) -> None:
        """Raises the failure of the last call, which has left its message."""
        if status:
            raise failure(status, ffi.string(lib.bisai_context_error(self.handle)).decode())

    def own(self, owner: Any, made: Any, destroy: Any, parent: Optional[Native] = None) -> Native:
        """Ties a new object of the library to its owner in Python. It uses its parent, by default
        the context, and is destroyed before it."""
        native = Native(made, destroy, parent or self.native)
        weakref.finalize(owner, native.drop).atexit = False
        native.destroy_doomed()
        return native

    def __reduce__(self) -> Any:
        return refuse_copy(self)


_of_thread = threading.local()
_contexts: "weakref.WeakSet[Context]" = weakref.WeakSet()
_held_by_fork: List[Context] = []


def _before_fork() -> None:
    """Waits for the calls of other threads, so that a child finds no half-done work."""
    for context in list(_contexts):
        context.lock.acquire()
        _held_by_fork.append(context)


def _after_fork() -> None:
    while _held_by_fork:
        _held_by_fork.pop().lock.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=_after_fork,
                        after_in_child=_after_fork)


def refuse_copy(kept: Any) -> Any:
    """The __reduce__ of what only this process has."""
    raise TypeError(f"a bisai.{type(kept).__name__} cannot be copied or sent to another process: "
                    "make it in each process")


def default_context(gpu: Optional[int] = None, stream: Any = None) -> Context:
    """Returns the context of this thread on the host, or its last one on a GPU, if that works on
    the same stream."""
    if gpu is None:
        if not hasattr(_of_thread, "context"):
            _of_thread.context = Context()
        return _of_thread.context
    place = gpu, None if stream is None else stream_number(stream)
    if getattr(_of_thread, "place", None) != place:
        _of_thread.on_gpu = Context("cuda", device=gpu, stream=stream)
        _of_thread.place = place
    return _of_thread.on_gpu
