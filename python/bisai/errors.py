# SPDX-License-Identifier: BSD-3-Clause
"""Failures of the library as exceptions."""
from __future__ import annotations

import re
from typing import Any, Optional

from ._bisai import ffi, lib


class Error(Exception):
    """A call of the library failed.

    Attributes
    ----------
    status : str
        what failed, as "singular diagonal block"
    code : int
        the number of the status in C
    message : str
        names the row, block, value or option
    block_row : int or None
        the block row of the message, counted from 0; None if it names none
    """

    def __init__(self, code: int, message: str) -> None:
        self.code = code
        self.status = ffi.string(lib.bisai_status_string(code)).decode()
        self.message = message or self.status
        found = re.search(r"block row (\d+)|block \((\d+)", self.message)
        self.block_row: Optional[int] = int(found[1] or found[2]) if found else None
        super().__init__(self.message)


class InvalidArgument(Error, ValueError):
    """An argument, an option or the structure of a matrix is wrong."""


class OutOfMemory(Error, MemoryError):
    """Memory was not to be had, or a limit of `memory=` was reached."""


class NotFinite(Error, ArithmeticError):
    """There is a NaN or an infinity in a matrix, a vector or a result."""


class Singular(Error, ArithmeticError):
    """A diagonal block is missing or singular."""


class Unavailable(Error):
    """This build or this machine does not have what was asked for."""


class NotConverged(Error):
    """A solve ended without a solution.

    Attributes
    ----------
    x : numpy.ndarray
        the best solution found
    result : Result or None
        how the solve went
    """

    x: Any = None
    result: Any = None


_CLASSES = {1: InvalidArgument, 2: OutOfMemory, 4: InvalidArgument, 5: NotFinite, 6: Singular,
            7: Singular, 10: Unavailable, 14: NotConverged, 15: NotConverged, 16: NotConverged,
            17: NotConverged, 21: InvalidArgument, 22: InvalidArgument}


def failure(code: int, message: str) -> Error:
    """Returns the exception of a status."""
    return _CLASSES.get(code, Error)(code, message)


def invalid(message: str) -> InvalidArgument:
    """Returns the exception of a wrong argument that Python found."""
    return InvalidArgument(1, message)
