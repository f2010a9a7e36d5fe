# SPDX-License-Identifier: BSD-3-Clause
"""Solves of A x = b."""
from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any, Callable, Iterable, List, Optional

import numpy as np

from ._bisai import ffi, lib
from .arrays import Vector, finish, target, vector
from .context import Context, refuse_copy
from .errors import Error, NotConverged, failure, invalid
from .matrix import Matrix, matrix_of
from .precond import (Preconditioner, doubles, null_vectors, parse_precond, precond_text,
                      text_fault)

Callback = Callable[[int, float], Any]
METHODS = ("none", "bjacobi", "ilu", "isai:k=1", "isai:k=2", "mg", "auto")


@dataclass
class Result:
    """How a solve went."""
    x: Any
    preconditioner: str
    solver: str
    iterations: int
    relative_residual: float
    setup_seconds: float
    solve_seconds: float
    #: one sentence: why the solve ended, or what was chosen and why
    reason: str


class _Watch:
    """Calls the callback after each iteration. An exception in it, Ctrl-C too, ends the solve and
    is raised again when the library has returned."""

    def __init__(self, callback: Optional[Callback]) -> None:
        self.callback = callback
        self.raised: Optional[BaseException] = None

    def set_on(self, options: Any) -> Any:
        handle = ffi.new_handle(self)
        options.monitor, options.monitor_user = lib.bisai_python_monitor, handle
        return handle

    def __call__(self, iteration: int, residual: float) -> int:
        return int(bool(self.callback(iteration, residual))) if self.callback else 0


def _note(kind: Any, raised: Any, trace: Any) -> int:
    # The only way to the watch, because Ctrl-C may come before the first line of the monitor.
    frame = trace.tb_frame if trace else None
    user = frame.f_locals.get("user") if frame else None
    if user is not None:
        ffi.from_handle(user).raised = raised
    return 1


@ffi.def_extern(name="bisai_python_monitor", error=1, onerror=_note)
def _monitor(user: Any, iteration: int, residual: float) -> int:
    return ffi.from_handle(user)(iteration, residual)


def parse_solver(text: str, tolerance: float, max_iterations: int) -> Any:
    """Reads the options of a solver."""
    options = ffi.new("bisai_solver_options *", lib.bisai_solver_options_default())
    fault = ffi.new("bisai_text_fault *")
    status = lib.bisai_solver_options_parse(str(text).encode(), options, fault)
    if status:
        raise text_fault(str(text), status, fault)
    options.tolerance, options.max_iterations = tolerance, max_iterations
    return options


def solver_text(options: Any) -> str:
    """Writes the options of a solver as the shortest text that gives them."""
    text = ffi.new("char[]", lib.BISAI_TEXT_SIZE)
    lib.bisai_solver_options_text(options, lib.BISAI_TEXT_SIZE, text)
    return ffi.string(text).decode()


class _Vectors:
    """b and x of a solve, as the caller has them and in the order of the blocks."""

    def __init__(self, matrix: Matrix, b: Any, x0: Any, out: Any) -> None:
        rows, context = matrix.shape[0], matrix.context
        self.matrix = matrix
        self.given = vector(b, rows, "b", context)
        start = None if x0 is None else vector(x0, rows, "x0", context)
        self.result = self.given.new(rows, context) if out is None else target(out, rows, context)
        self.b = matrix.to_blocks(self.given)
        self.x = self.given.new(matrix.held_rows, context) if matrix.moves else self.result
        if start is not None:
            matrix.copy_to_blocks(start, self.x)

    def take(self) -> Any:
        """Returns x as the caller wants it."""
        self.matrix.from_blocks(self.x, self.result)
        finish(self.matrix.context, self.given, self.result)
        return self.result.array


def _end(context: Context, status: int, watch: _Watch, result: Result) -> Result:
    if watch.raised is not None:
        raise watch.raised
    if not status:
        return result
    error = failure(status, ffi.string(lib.bisai_context_error(context.handle)).decode())
    if isinstance(error, NotConverged):
        error.x, error.result = result.x, result
    raise error


class Solver:
    """A Krylov method for A with a preconditioner; all memory is reserved once.

    Parameters
    ----------
    A : Matrix, or sparse matrix of shape (n, n)
        with a Preconditioner, by default its matrix
    M : Preconditioner or str, optional
        default: none
    method : str
        as "gmres:restart=60", "gmres:flexible", "cg", "bicgstab", "idr:s=8"
    tolerance : float
        of the relative residual ‖b − A x‖₂/‖b‖₂
    max_iterations : int
    """

    def __init__(self, A: Any = None, M: Any = None, method: str = "gmres", *,
                 tolerance: float = 1e-8, max_iterations: int = 10000,
                 context: Optional[Context] = None) -> None:
        self.options = parse_solver(method, tolerance, max_iterations)
        if isinstance(M, Preconditioner) and A is None:
            A = M.matrix
        self.matrix = matrix_of(A, context or getattr(M, "context", None))
        self.context = self.matrix.context
        self.M = Preconditioner(self.matrix, M) if isinstance(M, str) else M
        if self.M is not None and not isinstance(self.M, Preconditioner):
            raise invalid("M is neither a bisai.Preconditioner nor a text")
        if self.M is not None and (self.M.context is not self.context or
                                   self.M.matrix.held_rows != self.matrix.held_rows):
            raise invalid("M belongs to another context or to a matrix of another size")
        self._kept: Any = {}

    def _solver(self, guess: bool) -> Any:
        if guess not in self._kept:
            options = ffi.new("bisai_solver_options *", self.options[0])
            options.use_initial_guess = guess
            watch = _Watch(None)
            handle = watch.set_on(options)
            made = ffi.new("bisai_solver **")
            self.context.check(lib.bisai_solver_create(self.context.handle, self.matrix.held_rows,
                                                       options, made))
            self.context.own(self, made, lib.bisai_solver_destroy)
            self._kept[guess] = (made[0], watch, handle)
        return self._kept[guess]

    def run(self, b: Any, x0: Any = None, callback: Optional[Callback] = None,
            out: Any = None) -> Result:
        """Solves A x = b.

        Parameters
        ----------
        b : array of shape (n,)
        x0 : array of shape (n,), optional
            the initial guess
        callback : function of (iteration, relative residual), optional
            called after each iteration; a true result ends the solve
        out : array of float64 and shape (n,), optional
            takes x in place

        Arrays of CuPy, PyTorch, JAX and NumPy are read in place, in host memory or on the GPU of
        the context. If b is on a GPU, so is x, as an array of the same library.
        Raises NotConverged, which has the best x, and whatever the callback raises.
        """
        report = ffi.new("bisai_solver_report *")
        report.struct_size = ffi.sizeof("bisai_solver_report")
        with self.context.lock:
            solver, watch, _ = self._solver(x0 is not None)
            watch.callback, watch.raised = callback, None
            vectors = _Vectors(self.matrix, b, x0, out)
            status = lib.bisai_solver_solve(solver, self.matrix.handle,
                                            self.M.handle if self.M else ffi.NULL,
                                            vectors.b.pointer, vectors.x.pointer, report)
            watch.callback = None
            result = Result(vectors.take(), self.M.text if self.M else "none",
                            solver_text(self.options), report.iterations,
                            report.relative_residual, 0.0, report.solve_seconds,
                            ffi.string(lib.bisai_reason_string(report.reason)).decode())
            return _end(self.context, status, watch, result)

    def solve(self, b: Any, x0: Any = None, callback: Optional[Callback] = None,
              out: Any = None) -> Any:
        """Returns x of shape (n,): see run()."""
        return self.run(b, x0, callback, out).x

    def __reduce__(self) -> Any:
        return refuse_copy(self)


def run(A: Any, b: Any, preconditioner: str = "auto", solver: Optional[str] = None, *,
        null: Any = None, tolerance: float = 1e-8, max_iterations: int = 10000, x0: Any = None,
        callback: Optional[Callback] = None, context: Optional[Context] = None,
        out: Any = None) -> Result:
    """Does what solve() does, and returns a Result."""
    precond = parse_precond(preconditioner)
    options = ffi.new("bisai_solve_options *", lib.bisai_solve_options_default())
    options.precond = precond[0]
    options.solver = parse_solver(solver or "gmres", tolerance, max_iterations)[0]
    options.solver_given = solver is not None
    options.solver.use_initial_guess = x0 is not None
    watch = _Watch(callback)
    handle = watch.set_on(options.solver)
    matrix = matrix_of(A, context, b)
    keep = None
    report = ffi.new("bisai_solve_report *")
    report.struct_size = ffi.sizeof("bisai_solve_report")
    with matrix.context.lock:
        if null is not None:
            keep = null_vectors(matrix, null)
            options.precond.multigrid.null_vectors = doubles(keep)
            options.precond.multigrid.null_count = keep.shape[1]
        vectors = _Vectors(matrix, b, x0, out)
        status = lib.bisai_solve(matrix.context.handle, matrix.handle, vectors.b.pointer,
                                 vectors.x.pointer, options, report)
        setup = report.seconds - report.solver.solve_seconds
        result = Result(vectors.take(),
                        precond_text(ffi.addressof(report, "precond_options")),
                        solver_text(ffi.addressof(report, "solver_options")),
                        report.solver.iterations, report.solver.relative_residual, setup,
                        report.solver.solve_seconds, ffi.string(report.reason).decode())
        del keep, handle
        return _end(matrix.context, status, watch, result)


def solve(A: Any, b: Any, preconditioner: str = "auto", solver: Optional[str] = None,
          **options: Any) -> Any:
    """Solves A x = b and returns x of shape (n,).

    Parameters
    ----------
    A : Matrix, or sparse matrix of shape (n, n)
    b : array of shape (n,)
    preconditioner : str
        as "ilu:level=1"; "auto" chooses by trials
    solver : str, optional
        as "cg"; chosen with "auto", else GMRES
    null : array of shape (n, k)
        near-null-space vectors of multigrid
    tolerance, max_iterations, x0, callback, context, out
        as of Solver and Solver.run()

    Raises NotConverged, which has the best x.
    """
    return run(A, b, preconditioner, solver, **options).x


class Table(List[Any]):
    """Results, which print() shows as a table: a Result, or the Error of a method, for each."""

    def __str__(self) -> str:
        lines = [f"{'method':24} {'iterations':>10} {'set-up s':>9} {'solve s':>9} {'residual':>9}"]
        for name, row in self:
            if isinstance(row, Result):
                lines.append(f"{name:24} {row.iterations:10d} {row.setup_seconds:9.4f} "
                             f"{row.solve_seconds:9.4f} {row.relative_residual:9.1e}")
            else:
                lines.append(f"{name:24} {row.message}")
        return "\n".join(lines)


def compare(A: Any, b: Any, methods: Iterable[str] = METHODS, solver: Optional[str] = None, *,
            tolerance: float = 1e-8, max_iterations: int = 10000,
            context: Optional[Context] = None) -> Table:
    """Solves A x = b by each method. Returns a list of (method, Result or Error) that prints as a
    table."""
    matrix = matrix_of(A, context)
    table = Table()
    for method in methods:
        try:
            if method.split(":")[0] == "auto":
                row: Any = run(matrix, b, method, solver, tolerance=tolerance,
                               max_iterations=max_iterations)
            else:
                start = time.perf_counter()
                M = Preconditioner(matrix, method)
                setup = time.perf_counter() - start
                row = Solver(matrix, M, solver or "gmres", tolerance=tolerance,
                             max_iterations=max_iterations).run(b)
                row.setup_seconds = setup
        except Error as error:
            row = error
        table.append((method, row))
    return table
