# SPDX-License-Identifier: BSD-3-Clause
"""The package against SciPy and NumPy."""
import gc
import os
import re
import signal
import threading
import weakref

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.sparse.linalg as spla

import bisai
from bisai.arrays import vector


def poisson(n):
    T = sp.diags([-1.0, 2.0, -1.0], [-1, 0, 1], shape=(n, n))
    return (sp.kron(sp.eye(n), T) + sp.kron(T, sp.eye(n))).tocsr()


def blocks(nodes, size, seed=1):
    """A diagonally dominant BSR matrix without symmetry."""
    rng = np.random.default_rng(seed)
    A = sp.random(nodes, nodes, 4 / nodes, random_state=rng, format="csr")
    A = sp.kron(A + sp.eye(nodes), rng.standard_normal((size, size))) + 20 * sp.eye(nodes * size)
    return sp.bsr_matrix(A.tocsr(), blocksize=(size, size))


def residual(A, x, b):
    return np.linalg.norm(b - A @ x) / np.linalg.norm(b)


@pytest.mark.parametrize("form", ["bsr", "csr", "csc", "coo"])
def test_solve_takes_every_format(form):
    A = blocks(40, 3)
    b = np.random.default_rng(2).standard_normal(A.shape[0])
    x = bisai.solve(A.asformat(form), b)
    np.testing.assert_allclose(x, spla.spsolve(A.tocsc(), b), rtol=1e-5, atol=1e-8)


@pytest.mark.parametrize("text", ["none", "bjacobi", "ilu:level=1", "isai:k=2", "sweeps:n=3", "mg",
                                  "lu", "schur", "auto"])
def test_each_kind_solves_with_scipys_gmres(text):
    A = poisson(12)
    b = np.ones(A.shape[0])
    if text == "schur":
        with pytest.raises(bisai.Error):
            bisai.Preconditioner(A, text)  # there is no zero on the diagonal
        return
    M = bisai.Preconditioner(A, text)
    x, info = spla.gmres(A, b, M=M, restart=60)
    assert info == 0 and residual(A, x, b) < 1e-4
    x = bisai.Solver(M=M, tolerance=1e-10).solve(b)
    assert residual(A, x, b) < 2e-10


def test_jacobi_is_the_inverse_of_the_diagonal_blocks():
    A = blocks(20, 4)
    dense = A.toarray()
    D = sp.block_diag([np.linalg.inv(dense[i:i + 4, i:i + 4]) for i in range(0, 80, 4)])
    V = np.random.default_rng(3).standard_normal((80, 5))
    M = bisai.Preconditioner(A, "bjacobi")
    np.testing.assert_allclose(M @ V, D @ V, rtol=1e-12)
    np.testing.assert_allclose(M.apply(V[:, 0]), D @ V[:, 0], rtol=1e-12)


def test_complete_factors_are_the_inverse_for_rows_of_any_number():
    A = blocks(7, 3).tocsr()[:20, :20]  # 20 rows: padded, or in nodes
    V = np.random.default_rng(3).standard_normal((20, 3))
    for size in (None, 1, 3, 4):
        M = bisai.Preconditioner(bisai.Matrix(A, size), "lu")
        np.testing.assert_allclose(M @ V, np.linalg.solve(A.toarray(), V), rtol=1e-10)


def test_products_and_copies_are_those_of_scipy():
    x = np.random.default_rng(4).standard_normal(60)
    for A in (blocks(20, 3), blocks(20, 3).tocsr(), blocks(30, 2).astype(np.float32), poisson(8)):
        x = np.random.default_rng(4).standard_normal(A.shape[0])
        matrix = bisai.Matrix(A)
        np.testing.assert_allclose(matrix @ x, A.astype(float) @ x, rtol=1e-12, atol=1e-12)
        assert abs(matrix.to_scipy() - A).max() == 0


def test_fields_and_nodes_keep_the_rows_of_the_caller():
    A = blocks(30, 2)
    order = np.concatenate([np.arange(0, 60, 2), np.arange(1, 60, 2)])
    B = A.tocsr()[order][:, order]
    x = np.random.default_rng(5).standard_normal(60)
    for matrix in (bisai.Matrix(B, fields=2), bisai.Matrix(B, nodes=order // 2)):
        assert matrix.block_size == 2
        np.testing.assert_allclose(matrix @ x, B @ x, rtol=1e-12, atol=1e-12)
        y = bisai.solve(matrix, x, "ilu")
        assert residual(B, y, x) < 1e-7
        assert abs(matrix.to_scipy() - B).max() == 0


def test_duplicates_are_summed_and_the_callers_matrix_stays():
    A = sp.csr_matrix((np.array([1.0, 2.0, 4.0]), np.array([0, 0, 1]), np.array([0, 2, 3])))
    before = A.data.copy()
    np.testing.assert_allclose(bisai.Matrix(A) @ np.ones(2), [3, 4])
    assert np.array_equal(before, A.data)


def test_updates_are_those_of_new_objects():
    for A in (blocks(25, 2), blocks(25, 2).tocsr()):
        M = bisai.Preconditioner(A, "ilu")
        B = A.copy()
        B.data = B.data * 1.5 + 0.01 * np.sign(B.data)
        M.update(B)
        v = np.ones(A.shape[0])
        assert np.array_equal(M @ v, bisai.Preconditioner(B, "ilu") @ v)
        with pytest.raises(bisai.InvalidArgument):
            M.update(blocks(25, 2, seed=9).asformat(A.format))


def test_near_null_space_vectors_help_and_their_shape_is_checked():
    A = poisson(20)
    b = np.ones(400)
    M = bisai.Preconditioner(A, "mg:coarsest=50", null=np.ones((400, 1)))
    assert M.report["levels"] >= 2
    assert bisai.Solver(M=M, method="cg").run(b).iterations < 30
    for null in (np.ones(399), np.ones((400, 1), dtype=complex)):
        with pytest.raises(bisai.InvalidArgument, match="null has the shape"):
            bisai.Preconditioner(A, "mg", null=null)
    with pytest.raises(bisai.InvalidArgument, match="takes no near-null-space vectors"):
        bisai.Preconditioner(A, "ilu", null=np.ones(400))


@pytest.mark.parametrize("text", ["bjacobi", "ilu", "isai:k=2:relax=1", "lu:matching=blocks",
                                  "sweeps:n=2", "auto"])
def test_transposes_are_those_of_the_dense_inverse(text):
    A = blocks(10, 3)
    M = bisai.Preconditioner(A, text)
    dense = M @ np.eye(30)
    for transposed in (M.T, M.H, M.T.T.T):
        np.testing.assert_allclose(transposed @ np.eye(30), dense.T, atol=1e-13)
    v = np.arange(30.0)
    np.testing.assert_allclose(M.rmatvec(v), dense.T @ v, atol=1e-12)
    np.testing.assert_allclose(M.T.rmatvec(v), dense @ v, atol=1e-12)
    assert M.T.T is M


def test_transposes_of_nodes_in_any_order_move_their_vectors():
    A = blocks(12, 2)
    order = np.random.default_rng(1).permutation(24)
    M = bisai.Preconditioner(bisai.Matrix(A.tocsr()[order][:, order], nodes=order // 2), "ilu")
    assert M.matrix.moves
    np.testing.assert_allclose(M.T @ np.eye(24), (M @ np.eye(24)).T, atol=1e-13)


def test_methods_of_scipy_with_transposes_converge():
    A = blocks(60, 2)
    b = np.ones(120)
    M, none = bisai.Preconditioner(A, "isai"), bisai.Preconditioner(A, "none")
    for x, info in (spla.bicg(A, b, M=M, atol=0), spla.qmr(A, b, M1=M, M2=none, atol=0)):
        assert info == 0 and residual(A, x, b) < 1e-4


def test_transposes_that_are_missing_are_refused_by_name():
    with pytest.raises(bisai.Error, match="mg:smoother=ilu of a nonsymmetric matrix has no tr"):
        bisai.Preconditioner(blocks(30, 3), "mg:smoother=ilu").T @ np.ones(90)


def test_vectors_are_not_copied():
    A = poisson(6)
    matrix = bisai.Matrix(A, 1)
    x = np.ones(36)
    held = vector(x, 36, "x", matrix.context)
    assert not matrix.moves and matrix.to_blocks(held) is held
    assert np.shares_memory(held.array, x) and held.address == x.ctypes.data
    x.flags.writeable = False
    np.testing.assert_allclose(matrix @ x, A @ x)


def test_reports_have_texts_that_solve_again():
    A = blocks(50, 3)
    b = np.ones(150)
    from bisai.solver import run
    first = run(A, b)
    again = run(A, b, first.preconditioner, first.solver)
    assert again.iterations == first.iterations and first.reason
    assert np.array_equal(first.x, again.x)


def test_initial_guesses_save_iterations():
    A = poisson(10)
    b = np.ones(100)
    solver = bisai.Solver(A, "ilu")
    x = solver.solve(b)
    assert solver.run(b, x0=x).iterations == 0
    assert solver.run(b).iterations > 3


@pytest.mark.parametrize("text, message", [
    ("mg:cycle=x", "character 4: cycle must be auto, v, w, k or vw"),
    ("ilut", "character 1: 'ilut' is not a method"),
    ("ilu:level", "'level' needs a value"), ("", "a method is empty")])
def test_wrong_texts_name_the_place(text, message):
    with pytest.raises(bisai.InvalidArgument, match=re.escape(message)) as caught:
        bisai.Preconditioner(poisson(3), text)
    assert isinstance(caught.value, ValueError) and caught.value.code == 1


def test_wrong_arguments_are_refused():
    A = poisson(3)
    b = np.ones(9)
    wrong = [lambda: bisai.solve(A.toarray(), b), lambda: bisai.solve(A * 1j, b),
             lambda: bisai.solve(A, b[:8]), lambda: bisai.solve(A, b * 1j),
             lambda: bisai.solve(A, np.array(["a"] * 9)), lambda: bisai.solve(A[:8], b[:8]),
             lambda: bisai.solve(A, b, solver="gmres:m=3"),
             lambda: bisai.solve(A, b, tolerance=2.0), lambda: bisai.solve(A, b, "ilu", x0=b[:2]),
             lambda: bisai.Matrix(A, 33), lambda: bisai.Matrix(A, nodes=[0, 1]),
             lambda: bisai.Matrix(A, fields=2), lambda: bisai.Context("gpu"),
             lambda: bisai.Solver(A, 3), lambda: bisai.Solver(poisson(4), bisai.Preconditioner(A)),
             lambda: bisai.Preconditioner(A, "ilu").update(bisai.Matrix(A)),
             lambda: bisai.Matrix(A).update(poisson(4)),
             lambda: bisai.Solver(bisai.Matrix(A),
                                  bisai.Preconditioner(A, context=bisai.Context()))]
    for i, call in enumerate(wrong):
        try:
            call()
        except bisai.InvalidArgument:
            continue
        pytest.fail(f"call {i} was not refused")


def test_failures_carry_status_and_block_row():
    dense = np.diag([1.0, 1, 1, 0, 1, 1])  # block row 1 is [1 0; 0 0]
    dense[3, 5] = 1.0
    A = sp.bsr_matrix(dense, blocksize=(2, 2))
    with pytest.raises(bisai.Singular) as caught:
        bisai.Preconditioner(A, "bjacobi")
    assert caught.value.block_row == 1 and "singular" in caught.value.status
    B = poisson(3)
    B.data[4] = np.nan
    with pytest.raises(bisai.NotFinite):
        bisai.solve(B, np.ones(9))
    with pytest.raises(bisai.NotFinite):
        bisai.Solver(poisson(3), "ilu").solve(np.full(9, np.inf))


def test_no_convergence_carries_the_best_x():
    A = poisson(20)
    b = np.ones(400)
    with pytest.raises(bisai.NotConverged) as caught:
        bisai.solve(A, b, "none", max_iterations=5)
    assert 0 < caught.value.result.iterations <= 5
    assert residual(A, caught.value.x, b) < 1


def test_callbacks_see_residuals_and_stop():
    A, b = poisson(20), np.ones(400)
    seen = []
    bisai.solve(A, b, "ilu", callback=lambda i, r: seen.append((i, r)) and None)
    assert [i for i, _ in seen] == list(range(len(seen))) and seen[-1][1] < 1e-8
    with pytest.raises(bisai.NotConverged) as caught:
        bisai.Solver(A, "none").solve(b, callback=lambda i, r: i == 4)
    assert caught.value.result.iterations == 4 and "stop" in caught.value.status

    def fail(i, r):
        raise KeyError("mine")
    for call in (lambda: bisai.solve(A, b, callback=fail),
                 lambda: bisai.Solver(A, "ilu").solve(b, callback=fail)):
        with pytest.raises(KeyError, match="mine"):
            call()


def test_interrupts_stop_a_solve():
    A, b = poisson(60), np.ones(3600)
    solver = bisai.Solver(A, method="gmres:restart=5", tolerance=0.0, max_iterations=10**8)
    timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises((KeyboardInterrupt, bisai.NotConverged)) as caught:
        solver.solve(b, callback=lambda i, r: timer.join() if i == 3 else None)
    assert caught.type is KeyboardInterrupt
    timer.join()
    assert bisai.solve(A, b, "ilu").shape == (3600,)


def test_threads_solve_side_by_side():
    A, b = poisson(30), np.ones(900)
    expected = bisai.solve(A, b, "ilu")
    results, errors = [], []

    def work():
        try:
            for _ in range(5):
                results.append(bisai.solve(A, b, "ilu", context=None))
        except Exception as error:  # pragma: no cover
            errors.append(error)
    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors and len(results) == 20
    assert all(np.array_equal(expected, x) for x in results)


def test_one_context_is_shared_by_threads():
    A = poisson(20)
    context = bisai.Context(threads=2)
    assert context.threads == 2 and context.device
    M = bisai.Preconditioner(A, "ilu", context=context)
    v, results = np.ones(400), []
    threads = [threading.Thread(target=lambda: results.append(M @ v)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 8 and all(np.array_equal(results[0], z) for z in results)


def test_the_interpreter_runs_while_the_library_works():
    ticks = []
    stop = threading.Event()

    def tick():
        while not stop.wait(0.001):
            ticks.append(1)
    A = blocks(2000, 4)
    thread = threading.Thread(target=tick)
    thread.start()
    bisai.Preconditioner(A, "ilu:level=2")
    stop.set()
    thread.join()
    assert ticks


@pytest.mark.skipif("asan" in os.environ.get("LD_PRELOAD", ""), reason="it keeps released memory")
def test_memory_is_released():
    A, b = poisson(10), np.ones(100)

    def resident():
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1])
    for _ in range(50):
        bisai.solve(A, b, "ilu")
    gc.collect()
    before = resident()
    for _ in range(400):
        bisai.solve(A, b, "ilu")
    gc.collect()
    assert resident() - before < 500  # pages: 2 MB, while 400 leaks of a factor would be 10 MB
    M = bisai.Preconditioner(A)
    gone = weakref.ref(M)
    del M
    gc.collect()
    assert gone() is None


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_a_child_solves_after_fork():
    A, b = poisson(20), np.ones(400)
    x = bisai.solve(A, b, "ilu")
    child = os.fork()
    if child == 0:
        os._exit(0 if np.array_equal(x, bisai.solve(A, b, "ilu")) else 1)
    assert os.waitpid(child, 0)[1] == 0


@pytest.mark.parametrize("name", ["a.mtx", "a.petsc", "a.mtx.gz"])
def test_files_are_read_and_written(tmp_path, name):
    A, b = blocks(10, 3), np.arange(30.0)
    path = tmp_path / name
    try:
        bisai.write(path, A, b if name.endswith("petsc") else None)
    except bisai.Unavailable:
        pytest.skip("no libarchive")
    matrix, rhs = bisai.read(path, 3)
    assert abs(matrix.to_scipy() - A).max() == 0
    assert rhs is None if not name.endswith("petsc") else np.array_equal(rhs, b)
    with pytest.raises(bisai.Error, match="missing.mtx"):
        bisai.read(tmp_path / "missing.mtx")


@pytest.mark.parametrize("format", ["csr", "csc", "bsr", "coo"])
def test_files_of_scipy_are_read(tmp_path, format):
    A, b = blocks(10, 3), np.arange(30.0)
    A = A if format == "bsr" else A.asformat(format)
    sp.save_npz(tmp_path / "A.npz", A, compressed=format != "csc")
    try:
        matrix, rhs = bisai.read(tmp_path / "A.npz", None if format == "bsr" else 3)
    except bisai.Unavailable:
        pytest.skip("no libarchive")
    assert rhs is None and matrix.block_size == 3
    assert abs(matrix.to_scipy() - A).max() == 0
    bisai.write(tmp_path / "B.npz", matrix, b)
    B = sp.load_npz(tmp_path / "B.npz")
    assert B.format == "bsr" and B.blocksize == (3, 3) and abs(A - B).max() == 0
    assert np.array_equal(np.load(tmp_path / "B.npz")["b"], b)
    assert np.array_equal(bisai.read(tmp_path / "B.npz")[1], b)


class Foreign:
    """An array of another library, in host memory or said to be on a GPU."""

    def __init__(self, values, device=1):
        self.values, self.device, self.calls = values, device, 0

    def __dlpack_device__(self):
        return self.device, 0

    def __dlpack__(self, **options):
        self.calls += 1
        return self.values.__dlpack__()


def test_arrays_of_other_libraries_are_read_in_place():
    A, b = blocks(20, 3), np.arange(60.0)
    foreign = Foreign(b)
    assert np.shares_memory(vector(foreign, 60, "b", bisai.Context()).array, b)
    x = bisai.solve(A, foreign, "ilu")
    assert foreign.calls == 2 and np.array_equal(x, bisai.solve(A, b, "ilu"))
    M = bisai.Preconditioner(A, "ilu")
    assert np.array_equal(bisai.Solver(A, M).solve(Foreign(b), x0=Foreign(b)),
                          bisai.Solver(A, M).solve(b, x0=b))
    with pytest.raises(bisai.InvalidArgument, match="memory of GPU 0"):
        bisai.solve(A, Foreign(b, device=2), context=bisai.Context())
    with pytest.raises(bisai.InvalidArgument, match="kind 10"):
        bisai.solve(A, Foreign(b, device=10))


@pytest.mark.parametrize("fields", [None, 3])
def test_x_is_written_in_place(fields):
    A, b, out = blocks(20, 3), np.arange(60.0), np.full(60, np.nan)
    matrix = bisai.Matrix(A, fields=fields)
    solver = bisai.Solver(matrix, "ilu")
    expected = solver.solve(b)
    assert solver.solve(b, out=out) is out and np.array_equal(out, expected)
    assert np.allclose(A @ bisai.solve(matrix, b, "ilu", out=out), b) and out[0] != 0
    frozen = np.zeros(60)
    frozen.flags.writeable = False
    for wrong in (np.zeros(59), np.zeros(60, dtype=np.float32), np.zeros(120)[::2], [0.0] * 60,
                  frozen):
        with pytest.raises(bisai.InvalidArgument, match="out must be"):
            solver.solve(b, out=wrong)


def test_comparisons_print_a_table():
    A, b = poisson(12), np.ones(144)
    table = bisai.compare(A, b, ["none", "ilu", "schur", "auto"])
    results = dict(table)
    assert results["ilu"].iterations < results["none"].iterations
    assert isinstance(results["schur"], bisai.Error)
    assert str(table).count("\n") == 4 and "ilu " in str(table)


def test_versions_agree():
    assert re.fullmatch(r"\d+\.\d+\.\d+", bisai.__version__)


def neumann(n, wind=0.0):
    """Diffusion without values at the boundary: A maps constants to zero, and Aᵀ without wind."""
    D = sp.diags([np.full(n - 1, -1.0 - wind), np.full(n - 1, -1.0)], [-1, 1], shape=(n, n))
    A = sp.kron(sp.eye(n), D) + sp.kron(D, sp.eye(n))
    return (A - sp.diags(np.asarray(A.sum(axis=1)).ravel())).tocsr()


@pytest.mark.parametrize("block_size", [1, 2])
def test_a_null_space_is_found_and_taken_out(block_size):
    A = neumann(21)
    b = np.random.default_rng(3).random(A.shape[0])
    M = bisai.Matrix(A, block_size)
    right, left = bisai.constants(M)
    for vectors in right, left:
        np.testing.assert_array_equal(vectors, np.ones((A.shape[0], 1)))
    with pytest.raises(bisai.NotConverged, match="A x = b has no solution"):
        bisai.solve(M, b)
    consistent = bisai.project(b, left)
    np.testing.assert_allclose(consistent, b - b.mean(), atol=1e-14)
    x = bisai.project(bisai.solve(M, consistent), right)
    assert residual(A, x, consistent) < 2e-8 and abs(x.mean()) < 1e-12


def test_null_spaces_of_one_side_and_none():
    right, left = bisai.constants(neumann(12, wind=0.5))
    assert right.shape == (144, 1) and left.shape == (144, 0)
    right, left = bisai.constants(poisson(8))
    assert right.shape == left.shape == (64, 0)
    x = np.arange(64.0)
    np.testing.assert_array_equal(bisai.project(x, right), x)


def test_vectors_that_cannot_be_projected_are_refused():
    with pytest.raises(bisai.InvalidArgument, match=r"\(n,\) and \(n, k\)"):
        bisai.project(np.ones(4), np.ones((3, 1)))
    with pytest.raises(bisai.InvalidArgument, match="combination of those before it"):
        bisai.project(np.ones(4), np.ones((4, 2)))
