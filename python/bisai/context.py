# SPDX-License-Identifier: BSD-3-Clause
"""Where the library computes."""
from __future__ import annotations

import threading
from typing import Any

from ._bisai import ffi, lib
from .errors import failure, invalid


class Context:
    """A backend with its threads. Calls on objects of one context wait for each other.

    Parameters
    ----------
    backend : "host", "cuda" or "auto"
        vectors lie in host memory with every backend
    threads : int
        host threads; 0: all processors that this process may use
    """

    def __init__(self, backend: str = "host", threads: int = 0) -> None:
        options = ffi.new("bisai_context_options *", lib.bisai_context_options_default())
        chosen = ffi.new("bisai_backend *")
        if not lib.bisai_backend_parse(str(backend).encode(), chosen):
            raise invalid(f"backend {backend!r}: host, cuda and auto are possible")
        options.backend, options.threads = chosen[0], threads
        made = ffi.new("bisai_context **")
        status = lib.bisai_context_create(options, made)
        if status:
            raise failure(status, "")
        self.lock = threading.RLock()
        self.handle = ffi.gc(made[0], lambda p: lib.bisai_context_destroy(
            ffi.new("bisai_context **", p)))

    @property
    def device(self) -> str:
        """The processor or the GPU."""
        return ffi.string(lib.bisai_context_device(self.handle)).decode()

    @property
    def threads(self) -> int:
        """The number of host threads."""
        return lib.bisai_context_threads(self.handle)

    def check(self, status: int) -> None:
        """Raises the failure of the last call, which has left its message."""
        if status:
            raise failure(status, ffi.string(lib.bisai_context_error(self.handle)).decode())

    def own(self, made: Any, destroy: Any) -> Any:
        """Returns the object at a pointer, which is destroyed, before the context, when nothing
        refers to it."""
        kind = ffi.typeof(made)

        def release(pointer: Any, context: Context = self) -> None:
            with context.lock:
                destroy(ffi.new(kind, pointer))

        return ffi.gc(made[0], release)


_of_thread = threading.local()


def default_context() -> Context:
    """Returns the context of this thread."""
    if not hasattr(_of_thread, "context"):
        _of_thread.context = Context()
    return _of_thread.context
