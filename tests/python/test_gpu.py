# SPDX-License-Identifier: BSD-3-Clause
"""Arrays in the memory of a GPU: CuPy, PyTorch, JAX, or the emulated device."""
import gc

import gpu_arrays
import numpy as np
import pytest
import scipy.sparse as sp

import bisai
from bisai.arrays import vector

try:
    bisai.Context("cuda")
except bisai.Unavailable as reason:
    pytest.skip(f"no context on a GPU: {reason}", allow_module_level=True)


@pytest.fixture(params=["emulated", "cupy", "torch", "jax"])
def gpu(request):
    found = gpu_arrays.library(request.param)
    if isinstance(found, str):
        pytest.skip(found)
    return found


def system(nodes=300, size=1):
    """A diagonally dominant matrix without symmetry, and x and b = A x."""
    rng = np.random.default_rng(3)
    A = sp.random(nodes, nodes, 4 / nodes, random_state=rng, format="csr")
    A = sp.kron(A + sp.eye(nodes), rng.standard_normal((size, size))) + 20 * sp.eye(nodes * size)
    A = A.tocsr() if size == 1 else sp.bsr_matrix(A.tocsr(), blocksize=(size, size))
    A.sort_indices()
    x = rng.standard_normal(nodes * size)
    return A, x, A @ x


@pytest.mark.parametrize("size", [1, 3])
def test_vectors_are_read_in_place(gpu, size):
    A, x, b = system(size=size)
    on_gpu = gpu.array(b)
    context = bisai.Context("cuda")
    held = vector(on_gpu, b.size, "b", context)
    assert held.array is on_gpu
    assert held.address == on_gpu.__cuda_array_interface__["data"][0]
    solver = bisai.Solver(bisai.Matrix(A, context=context), "ilu")
    found = solver.solve(on_gpu)
    assert type(found) is type(on_gpu)
    np.testing.assert_allclose(gpu.numpy(found), x, atol=1e-6)
    np.testing.assert_array_equal(gpu.numpy(found), solver.solve(b))
    again = solver.run(on_gpu, x0=found)
    assert again.iterations == 0 and np.array_equal(gpu.numpy(again.x), gpu.numpy(found))
    assert np.array_equal(gpu.numpy(on_gpu), b)


def test_x_is_written_in_place_where_arrays_can_be(gpu):
    A, x, b = system()
    solver = bisai.Solver(bisai.Matrix(A, 1, context=bisai.Context("cuda")), "ilu")
    on_gpu, out = gpu.array(b), gpu.array(np.full(x.size, np.nan))
    if not gpu.writes:
        with pytest.raises(bisai.InvalidArgument, match="out must be"):
            solver.solve(on_gpu, out=out)
        return
    address = out.__cuda_array_interface__["data"][0]
    assert solver.solve(on_gpu, out=out) is out
    assert out.__cuda_array_interface__["data"][0] == address
    np.testing.assert_allclose(gpu.numpy(out), x, atol=1e-6)
    solver.solve(on_gpu, x0=out, out=out)
    np.testing.assert_allclose(gpu.numpy(out), x, atol=1e-6)
    host = np.empty(x.size)  # b on the GPU, x on the host
    np.testing.assert_allclose(solver.solve(on_gpu, out=host), x, atol=1e-6)


def test_matrices_are_read_in_place_and_updated(gpu):
    A, x, b = system()
    found = bisai.solve(gpu.csr(A), gpu.array(b), "ilu")
    np.testing.assert_allclose(gpu.numpy(found), x, atol=1e-6)
    for block_size in (1, 2, None):
        matrix = bisai.Matrix(gpu.csr(A), block_size)
        assert matrix.context.gpu == 0
        assert abs(matrix.to_scipy() - A).max() == 0
        M = bisai.Preconditioner(matrix, "ilu")
        twice = A * 2
        M.update(gpu.csr(twice))
        assert abs(matrix.to_scipy() - twice).max() == 0
        v = gpu.array(b)
        np.testing.assert_array_equal(
            gpu.numpy(M @ v), bisai.Preconditioner(bisai.Matrix(
                twice, block_size, context=matrix.context), "ilu") @ b)
        M.update(A)  # from host memory
        assert abs(matrix.to_scipy() - A).max() == 0
        with pytest.raises(bisai.InvalidArgument):
            M.update(gpu.csr(system(298)[0]))
        other = A.copy()
        other.indices[0], other.indices[-1] = 250, 3
        other.sort_indices()
        with pytest.raises(bisai.InvalidArgument, match="pattern"):
            M.update(gpu.csr(other))


def test_blocks_are_kept(gpu):
    A, x, b = system(size=3)
    on_gpu = gpu.bsr(A)
    if on_gpu is None:
        pytest.skip("the library has no BSR")
    matrix = bisai.Matrix(on_gpu)
    assert matrix.block_size == 3 and not matrix.moves
    np.testing.assert_array_equal(matrix.to_scipy().toarray(), A.toarray())
    M = bisai.Preconditioner(matrix, "ilu")
    M.update(gpu.bsr(A * 2))
    np.testing.assert_array_equal(matrix.to_scipy().toarray(), 2 * A.toarray())
    found = bisai.Solver(matrix, "ilu").solve(gpu.array(b))
    np.testing.assert_allclose(gpu.numpy(found), x / 2, atol=1e-6)


def test_rows_of_nodes_move_on_the_gpu(gpu):
    A, x, b = system(60, 3)
    order = np.concatenate([np.arange(i, 180, 3) for i in range(3)])
    fields = A.tocsr()[order][:, order]
    matrix = bisai.Matrix(gpu.csr(fields), fields=3)
    assert matrix.moves and matrix.block_size == 3
    found = bisai.Solver(matrix, "ilu").solve(gpu.array(b[order]))
    np.testing.assert_allclose(gpu.numpy(found), x[order], atol=1e-6)
    v = gpu.array(x[order])
    np.testing.assert_allclose(gpu.numpy(matrix @ v), fields @ x[order], rtol=1e-12)
    M = bisai.Preconditioner(matrix, "bjacobi")
    np.testing.assert_array_equal(gpu.numpy(M.apply(v)), M @ x[order])


@pytest.mark.parametrize("text", [
    "bjacobi:max=5:relax=1", "ilu", "ilu:matching=blocks:equilibrate:ordering=rcm", "sweeps:n=2",
    "isai:k=2:relax=1", "isai:storage=fp32", "isai:of=matrix", "lu"])
def test_transposes_are_those_of_the_dense_inverse(text):
    A = system(20, 3)[0]
    M = bisai.Preconditioner(A, text, context=bisai.Context("cuda"))
    for factor in (1, 2):
        M.update(factor * A)
        np.testing.assert_allclose(M.T @ np.eye(60), (M @ np.eye(60)).T, atol=1e-13)


def test_transposes_take_arrays_of_the_gpu(gpu):
    A, x, b = system(size=3)
    M = bisai.Preconditioner(A, "ilu", context=bisai.Context("cuda"))
    found = M.T @ gpu.array(b)
    assert type(found) is type(gpu.array(b))
    np.testing.assert_array_equal(gpu.numpy(found), M.T @ b)


def test_wrong_devices_and_types_are_named(gpu):
    A, x, b = system()
    v = gpu.array(b)
    host, device = bisai.Matrix(A), bisai.Matrix(A, context=bisai.Context("cuda"))
    solver = bisai.Solver(device, "ilu")
    for call, message in (
            (lambda: bisai.Solver(host, "ilu").solve(v), "memory of GPU 0, and the context "
             "computes on the host: context=bisai.Context"),
            (lambda: bisai.solve(host, v), "computes on the host"),
            (lambda: bisai.Matrix(gpu.csr(A), context=host.context), "computes on the host"),
            (lambda: host @ v, "computes on the host"),
            (lambda: solver.solve(gpu.array(b.astype(np.float32))), "type <f4 on a GPU"),
            (lambda: solver.solve(gpu.array(b[:5])), r"shape \(5,\), and \(300,\)"),
            (lambda: solver.solve(v, x0=gpu.array(b[:5])), "x0 has the shape"),
            (lambda: solver.solve(b, out=gpu.array(b[:5])), "out has the shape"),
            (lambda: bisai.Preconditioner(device, "mg", null=v), "null is in the memory of GPU 0"),
            (lambda: bisai.Matrix(gpu.csr(A.astype(np.float32))), "values of A have the type <f4"),
            (lambda: bisai.Matrix(v), "a sparse matrix is needed")):
        with pytest.raises(bisai.InvalidArgument, match=message):
            call()
    values = b.copy()
    values[7] = np.nan
    with pytest.raises(bisai.NotFinite):
        solver.solve(gpu.array(values))
    assert np.array_equal(gpu.numpy(v), b)


def test_another_gpu_is_named():
    class Elsewhere:
        __cuda_array_interface__ = {"data": (0, False), "shape": (300,), "typestr": "<f8",
                                    "version": 3}

        def __dlpack_device__(self):
            return 2, 5

    A = system()[0]
    with pytest.raises(bisai.InvalidArgument, match="memory of GPU 5.*computes on GPU 0"):
        bisai.Solver(bisai.Matrix(A, context=bisai.Context("cuda"))).solve(Elsewhere())
    with pytest.raises(bisai.Unavailable):
        bisai.solve(A, Elsewhere())


def test_the_callers_stream_is_used():
    cupy = pytest.importorskip("cupy")
    A, x, b = system()
    stream = cupy.cuda.Stream()
    with stream:
        for _ in range(20):  # b is ready only when the stream is
            v = cupy.zeros(b.size)
            for _ in range(50):
                v += cupy.asarray(b) / 50
            found = bisai.solve(gpu_arrays.Library("cupy").csr(A), v, "ilu")
            np.testing.assert_allclose(cupy.asnumpy(found), x, atol=1e-6)
    context = bisai.Context("cuda", stream=stream)
    assert context.stream == stream.ptr
    M = bisai.Preconditioner(bisai.Matrix(A, context=context), "ilu")
    with stream:
        v = cupy.asarray(b)
        z = M @ v
        assert vector(v, b.size, "v", context).in_order
        v.fill(np.nan)  # after the application, on the same stream
        np.testing.assert_array_equal(cupy.asnumpy(z), M @ b)


def test_1000_solves_do_not_grow(gpu):
    A, x, b = system()
    solver = bisai.Solver(bisai.Matrix(gpu.csr(A), 1), "ilu")
    v = gpu.array(b)

    def in_use():
        if gpu.name == "cupy":
            return gpu.module.cuda.runtime.memGetInfo()[0]
        if gpu.name == "torch":
            return gpu.module.cuda.mem_get_info()[0]
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * 4096
    for _ in range(20):
        solver.solve(v)
    gc.collect()
    before = in_use()
    for _ in range(20 if gpu.name == "emulated" else 1000):
        found = solver.solve(v)
    gc.collect()
    assert abs(in_use() - before) < 4 << 20
    np.testing.assert_allclose(gpu.numpy(found), x, atol=1e-6)


def test_a_context_tells_its_memory_and_returns_what_it_keeps():
    A, x, b = system()
    context = bisai.Context("cuda")
    before = context.device_memory(restart=True)
    M = bisai.Preconditioner(bisai.Matrix(A, context=context), "ilu")
    after = context.device_memory()
    assert before["used"] < after["used"] <= after["most_used"] <= after["pool"]
    del M
    gc.collect()
    context.trim()
    trimmed = context.device_memory(restart=True)
    assert trimmed["used"] < after["used"] and trimmed["pool"] <= after["pool"]
