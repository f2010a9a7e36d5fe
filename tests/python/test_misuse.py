# SPDX-License-Identifier: BSD-3-Clause
"""Wrong use: an exception says what to do, and the objects still work."""
import copy
import gc
import os
import pickle
import signal
import threading

import numpy as np
import pytest
import scipy.sparse as sp

import bisai

N = 36


def matrix():
    T = sp.diags([-1.0, 2.5, -1.0], [-1, 0, 1], shape=(6, 6))
    return (sp.kron(sp.eye(6), T) + sp.kron(T, sp.eye(6))).tocsr()


def changed(name, place, value, kind="csr"):
    """A matrix with a wrong number in one of its arrays."""
    A = sp.bsr_matrix(matrix(), blocksize=(2, 2)) if kind == "bsr" else matrix()
    getattr(A, name).flat[place] = value
    return A


def with_values(values):
    A = matrix()
    A.data = values(A.data)
    return A


class OnDevice:
    """An array that says it is elsewhere."""

    def __init__(self, kind, number):
        self.where = kind, number

    def __dlpack_device__(self):
        return self.where


class Raising:
    """An array whose library refuses to give it away."""

    def __dlpack_device__(self):
        return 1, 0

    def __dlpack__(self, **options):
        raise BufferError("it needs its gradient")


def read_only():
    out = np.zeros(N)
    out.flags.writeable = False
    return out


b = np.ones(N)
solver = bisai.Solver(matrix(), "ilu")
M = bisai.Preconditioner(matrix(), "ilu")
held = bisai.Matrix(matrix())
Wrong = bisai.InvalidArgument

CASES = [
    # shapes
    ("a short b", lambda: solver.solve(b[:5]), Wrong, r"b has the shape \(5,\), and \(36,\)"),
    ("b for several", lambda: solver.solve(np.ones((N, 2))), Wrong, r"\(36,\) is needed"),
    ("a number as b", lambda: bisai.solve(matrix(), 1.0), Wrong, r"b has the shape \(\)"),
    ("a short x0", lambda: solver.solve(b, x0=b[1:]), Wrong, "x0 has the shape"),
    ("a short out", lambda: solver.solve(b, out=np.empty(5)), Wrong, "out must be a contiguous"),
    ("out with gaps", lambda: solver.solve(b, out=np.empty(72)[::2]), Wrong, "out must be"),
    ("a short v", lambda: M @ b[:7], ValueError, "dimension|shape"),
    ("a short v, applied", lambda: M.apply(b[:7]), ValueError, "dimension|shape"),
    ("null of another size", lambda: bisai.Preconditioner(matrix(), "mg", b[:7]), Wrong,
     r"null has the shape \(7, 1\)"),
    ("null for ilu", lambda: bisai.Preconditioner(matrix(), "ilu", b), Wrong, "mg, cpr and schur"),
    ("A with more rows", lambda: bisai.solve(matrix()[:, :30], b), Wrong, "square|30"),
    ("nodes for some rows", lambda: bisai.Matrix(matrix(), nodes=[0, 1]), Wrong, r"\(36,\)"),
    ("nodes with gaps", lambda: bisai.Matrix(matrix(), nodes=[0] * 18 + [2] * 18), Wrong,
     "node 1 has no row"),
    ("negative nodes", lambda: bisai.Matrix(matrix(), nodes=[-1] * N), Wrong, "node"),
    ("nodes of half numbers", lambda: bisai.Matrix(matrix(), nodes=np.arange(N) / 2), Wrong,
     "nodes has the type float64, and integers"),
    ("fields that do not divide", lambda: bisai.Matrix(matrix(), fields=5), Wrong, "5"),
    ("a block size of 33", lambda: bisai.Matrix(matrix(), 33), Wrong, "block size"),
    ("a block size of -1", lambda: bisai.Matrix(matrix(), -1), Wrong, "block size"),
    ("half a block", lambda: bisai.Matrix(matrix(), 2.5), TypeError, "integer|float"),
    # types
    ("a dense A", lambda: bisai.solve(matrix().toarray(), b), Wrong, "csr_array"),
    ("no A", lambda: bisai.solve(None, b), Wrong, "sparse matrix is needed"),
    ("a complex A", lambda: bisai.solve(matrix() * 1j, b), Wrong, "real numbers are needed"),
    ("a complex b", lambda: bisai.solve(matrix(), b * 1j), Wrong, "real numbers"),
    ("words as b", lambda: bisai.solve(matrix(), ["a"] * N), Wrong, "real numbers are needed"),
    ("no b", lambda: bisai.solve(matrix(), None), Wrong, "b has the shape"),
    ("out of fp32", lambda: solver.solve(b, out=np.empty(N, np.float32)), Wrong, "float64"),
    ("out that is a list", lambda: solver.solve(b, out=[0.0] * N), Wrong, "out must be"),
    # arrays of A
    ("a column out of range", lambda: bisai.Matrix(changed("indices", 3, 99)), Wrong,
     "99|out of range"),
    ("a negative column", lambda: bisai.Matrix(changed("indices", 3, -2)), Wrong, "-2|range"),
    ("row pointers that decrease", lambda: bisai.Matrix(changed("indptr", 3, 2)), Wrong,
     "decrease|indptr"),
    ("row pointers beyond the end", lambda: bisai.Matrix(changed("indptr", -1, 9999)), Wrong,
     "indptr"),
    ("row pointers from 1", lambda: bisai.Matrix(changed("indptr", 0, 1)), Wrong, "indptr"),
    ("a block out of range", lambda: bisai.Matrix(changed("indices", 1, 99, "bsr")), Wrong,
     "99|out of range"),
    ("block pointers beyond the end", lambda: bisai.Matrix(changed("indptr", -1, 999, "bsr")),
     Wrong, "indptr"),
    ("an update of another pattern", lambda: M.update(matrix() @ matrix()), Wrong, "pattern|sizes"),
    ("an update by a dense matrix", lambda: held.update(np.eye(N)), Wrong, "sparse"),
    ("an update by another Matrix", lambda: M.update(held), Wrong, "M.matrix"),
    # numbers
    ("NaN in A", lambda: bisai.solve(changed("data", 4, np.nan), b), bisai.NotFinite,
     r"entry \(1, 1\)"),
    ("infinity in A", lambda: bisai.Preconditioner(changed("data", 4, np.inf), "mg"),
     bisai.NotFinite, r"entry \(1, 1\)"),
    ("NaN in b", lambda: solver.solve(np.full(N, np.nan)), bisai.NotFinite, ""),
    ("infinity in b", lambda: bisai.solve(matrix(), np.full(N, np.inf)), bisai.NotFinite, "row 0"),
    ("NaN in x0", lambda: solver.solve(b, x0=np.full(N, np.nan)), bisai.NotFinite, ""),
    ("NaN in null", lambda: bisai.Preconditioner(matrix(), "mg", np.full(N, np.nan)),
     bisai.Error, "null"),
    ("an empty A", lambda: bisai.Preconditioner(sp.csr_matrix((N, N)), "ilu"), bisai.Singular,
     "row 0"),
    ("a singular A", lambda: bisai.Preconditioner(with_values(lambda v: 0 * v), "bjacobi"),
     bisai.Singular, "row 0"),
    # options
    ("a wrong text", lambda: bisai.Preconditioner(matrix(), "ilu:levels=1"), Wrong, "character 5"),
    ("a wrong solver", lambda: bisai.solve(matrix(), b, solver="cgs"), Wrong, "character 1"),
    ("a tolerance of NaN", lambda: bisai.solve(matrix(), b, tolerance=np.nan), Wrong, "tolerance"),
    ("a tolerance of 2", lambda: bisai.Solver(matrix(), tolerance=2).solve(b), Wrong, "tolerance"),
    ("-1 iterations", lambda: bisai.solve(matrix(), b, max_iterations=-1), Wrong,
     "max_iterations"),
    ("a number as M", lambda: bisai.Solver(matrix(), 3), Wrong, "neither"),
    ("M of another size", lambda: bisai.Solver(matrix()[:30, :30], M), Wrong, "another size"),
    ("M of another context", lambda: bisai.Solver(bisai.Matrix(
        matrix(), context=bisai.Context()), M), Wrong, "another context"),
    ("CG without symmetry", lambda: bisai.Solver(sp.tril(matrix()), "none", "cg").solve(b), Wrong,
     "symmetric"),
    ("-1 threads", lambda: bisai.Context(threads=-1), Wrong, "threads"),
    ("an unknown backend", lambda: bisai.Context("gpu"), Wrong, "host, cuda and auto"),
    # devices and memory
    ("b on a GPU", lambda: solver.solve(OnDevice(2, 5)), Wrong, "memory of GPU 5.*on the host"),
    ("out on a GPU", lambda: solver.solve(b, out=OnDevice(2, 5)), Wrong, "memory of GPU 5"),
    ("null on a GPU", lambda: bisai.Preconditioner(matrix(), "mg", OnDevice(2, 5)), Wrong,
     "null is in the memory of GPU 5"),
    ("b on another kind of device", lambda: solver.solve(OnDevice(10, 0)), Wrong, "kind 10"),
    ("a GPU that is not there", lambda: bisai.Context("cuda", device=99),
     bisai.Unavailable, "CUDA|device"),
    ("a stream that is none", lambda: bisai.Context(stream="fast"), Wrong, "stream is 'fast'"),
    ("a library that refuses", lambda: solver.solve(Raising()), Wrong, "needs its gradient"),
    ("out that is read only", lambda: solver.solve(b, out=read_only()), Wrong, "writable"),
    ("a copy of an object", lambda: copy.deepcopy(M), TypeError, "each process"),
    ("an object in a pickle", lambda: pickle.dumps(solver), TypeError, "each process"),
    ("a file that is missing", lambda: bisai.read("/nowhere/A.mtx"), bisai.Error, "A.mtx"),
    ("a file that is no matrix", lambda: bisai.read(__file__), bisai.Error, "line 1: expected"),
    ("a folder to write to", lambda: bisai.write("/nowhere/A.mtx", matrix()), bisai.Error, "A.mtx"),
]


@pytest.mark.parametrize("name, call, error, message", CASES, ids=[case[0] for case in CASES])
def test_wrong_use_says_what_to_do(name, call, error, message):
    with pytest.raises(error, match=message) as caught:
        call()
    assert str(caught.value) and not isinstance(caught.value, bisai.NotConverged)
    np.testing.assert_allclose(matrix() @ solver.solve(b), b, rtol=1e-6)
    np.testing.assert_array_equal(M @ b, bisai.Preconditioner(matrix(), "ilu") @ b)


def test_arrays_may_go_away():
    """Objects copy what they need, and keep alive what they use."""
    A, x = matrix(), b.copy()
    kept = [bisai.Preconditioner(A, text) for text in ("ilu", "mg", "bjacobi:relax=1")]
    expected = [one @ b for one in kept]
    A.data[:] = np.nan
    A.indices[:] = -1
    del A
    for one in kept:
        one.matrix.extra = None
    gc.collect()
    assert all(np.array_equal(one @ x, z) for one, z in zip(kept, expected))
    context = bisai.Context()
    own = bisai.Solver(bisai.Preconditioner(matrix(), "mg", context=context).matrix, "mg")
    del context
    gc.collect()
    np.testing.assert_allclose(matrix() @ own.solve(b), b, rtol=1e-6)


def test_read_only_arrays_are_read():
    A = matrix()
    for array in (A.data, A.indices, A.indptr):
        array.flags.writeable = False
    np.testing.assert_allclose(A @ bisai.solve(A, read_only() + 1), b, rtol=1e-6)
    np.testing.assert_array_equal(solver.solve(read_only()), np.zeros(N))


def test_interrupts_end_what_runs():
    def stop(iteration, residual):
        signal.raise_signal(signal.SIGINT)
    for call in (lambda: solver.solve(b, callback=stop),
                 lambda: bisai.solve(matrix(), b, "mg", callback=stop),
                 lambda: bisai.solve(matrix(), b, callback=stop)):
        with pytest.raises(KeyboardInterrupt):
            call()
    with pytest.raises(TypeError):
        solver.solve(b, callback=3)
    np.testing.assert_allclose(matrix() @ solver.solve(b), b, rtol=1e-6)


def in_child(work):
    child = os.fork()
    if child == 0:
        code = 1
        try:
            code = 0 if work() else 2
        finally:
            os._exit(code)
    return os.waitpid(child, 0)[1]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
@pytest.mark.filterwarnings("ignore:.*fork")
def test_children_solve_with_the_objects_of_their_parent():
    x = solver.solve(b)
    assert in_child(lambda: np.array_equal(solver.solve(b), x)) == 0
    assert in_child(lambda: np.array_equal(bisai.solve(matrix(), b, "ilu"), x)) == 0
    end, results = threading.Event(), []

    def work():
        while not end.is_set():
            results.append(solver.solve(b))
    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    codes = [in_child(lambda: np.array_equal(solver.solve(b), x)) for _ in range(10)]
    end.set()
    for thread in threads:
        thread.join()
    assert not any(codes) and results


def test_objects_end_in_any_order_and_twice():
    one = bisai.Preconditioner(matrix(), "mg")
    parts = [one, one.matrix, one.context, bisai.Solver(M=one)]
    del one
    while parts:
        del parts[0]
        gc.collect()


def test_objects_in_cycles_end_in_order():
    for text in ("ilu", "mg"):
        for _ in range(20):
            context = bisai.Context()
            one = bisai.Preconditioner(matrix(), text, context=context)
            two = bisai.Solver(M=one)
            two.solve(b)
            for made in (context, one, one.matrix, two):  # each is in a cycle with the others
                made.others = [context, one.matrix, two, one]
            del context, one, two, made
            gc.collect()
