/* Exact block triangular solves on the device: x_i ← D_i⁻¹ (b_i − Σ_j T_ij x_j) over the off-diagonal blocks of row i.
 *
 * One launch, a warp a block row, rows in the order of their levels. A value of x that is not there yet is a pattern of bits that no arithmetic
 * makes; who needs it reads it until it is something else, so that a level costs one trip through the L2 cache and no barrier. Thread
 * blocks draw their rows in order from a ticket: what a waiting warp waits for is always running or done. */
#include "core/backend_cuda.h"
#include "core/block_sizes.h"
#include "core/launch_cuda.cuh"
#include "core/triangular.h"

namespace {

enum { THREADS = 128, WARPS = THREADS / BSI_WARP };

constexpr unsigned long long absent = ~0ull; /* a NaN whose payload no instruction gives */

struct solve {
  int32_t block_rows, block_size;
  const int32_t *order, *row_ptr, *col_idx;
  const double *values, *inverse_diagonal;
  const double *b;
  double *x;
  unsigned *ticket;
};

__device__ __forceinline__ double wait_for(const double *x) {
  unsigned long long bits;
  do {
    asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(bits) : "l"(x));
  } while (bits == absent);
  return __longlong_as_double(static_cast<long long>(bits));
}

__device__ __forceinline__ void publish(double *x, double value) {
  asm volatile("st.relaxed.gpu.global.f64 [%0], %1;" ::"l"(x), "d"(value) : "memory");
}

/* Lane (r, s) sums row r over the columns s, s + SPLIT, … of the row's blocks, whose values it has read before it waits for the first x.
 * BS = 0: the block size at run time. */
template <int BS> __global__ void __launch_bounds__(THREADS) solve_rows(const solve p) {
  const int bs = BS > 0 ? BS : p.block_size, values = bs * bs;
  const int split = BSI_WARP / bs, lane = threadIdx.x % BSI_WARP, s = lane / bs, r = lane % bs;
  __shared__ unsigned drawn;
  if (threadIdx.x == 0) drawn = atomicAdd(p.ticket, 1u);
  __syncthreads();
  const int64_t turn = static_cast<int64_t>(drawn) * WARPS + threadIdx.x / BSI_WARP;
  if (turn >= p.block_rows) return;
  const int32_t i = __ldg(p.order + turn), begin = __ldg(p.row_ptr + i), end = __ldg(p.row_ptr + i + 1);
  const int64_t row = static_cast<int64_t>(i) * bs + r;
  double rest = s == 0 ? p.b[row] : 0.0, inverse[BS > 0 ? BS : 1];
  if (BS > 0 && p.inverse_diagonal) {
#pragma unroll
    for (int c = 0; c < BS; c++) inverse[c] = __ldg(p.inverse_diagonal + static_cast<int64_t>(i) * values + c * BS + r);
  }
  if (s < split) {
    const int columns = (end - begin) * bs;
    for (int f = s; f < columns; f += split) {
      const int32_t q = begin + f / bs, j = __ldg(p.col_idx + q);
      const double value = __ldg(p.values + static_cast<int64_t>(q) * values + f % bs * bs + r);
      if (j != i) rest -= value * wait_for(p.x + static_cast<int64_t>(j) * bs + f % bs);
    }
  }
  for (int step = 1; step < split; step *= 2) {
    const double other = __shfl_down_sync(BSI_EVERYONE, rest, step * bs);
    if (s + step < split) rest += other;
  }
  double x = rest;
  if (p.inverse_diagonal) {
    x = 0.0;
    for (int c = 0; c < bs; c++) {
      const double part = __shfl_sync(BSI_EVERYONE, rest, c);
      x += (BS > 0 ? inverse[BS > 0 ? c : 0]
                   : __ldg(p.inverse_diagonal + static_cast<int64_t>(i) * values + c * bs + r)) *
           part;
    }
  }
  if (s == 0) publish(p.x + row, x);
}

bisai_status enqueue(bisai_context *context, const solve &p) {
  const unsigned blocks = bsi_grid(p.block_rows, WARPS);
  const cudaStream_t stream = bsi_stream_of(context);
  switch (p.block_size) {
#define CASE(BS)                                                                                                       \
  case BS: solve_rows<BS><<<blocks, THREADS, 0, stream>>>(p); break;
    BSI_BLOCK_SIZES(CASE)
#undef CASE
  default: solve_rows<0><<<blocks, THREADS, 0, stream>>>(p);
  }
  return bsi_launched(context, "triangular solve");
}

} // namespace

/* x may be b: then the solution is made in `spare` (a vector of the device) and copied. */
bisai_status bsi_triangular_solve_cuda(bisai_context *context, const bsi_triangular *t, int32_t count, const double *b,
                                       int64_t ldb, double *x, int64_t ldx, double *spare) {
  const bisai_bcsr *a = t->matrix;
  const size_t bytes = static_cast<size_t>(a->block_rows) * a->block_size * sizeof(double);
  const cudaStream_t stream = bsi_stream_of(context);
  bisai_status status = BISAI_OK;
  for (int32_t v = 0; v < count && bytes > 0 && !status; v++) {
    double *target = x + v * ldx, *made = b + v * ldb == target ? spare : target;
    const solve p = {a->block_rows,       a->block_size, t->levels->rows,
                     a->row_ptr,          a->col_idx,    static_cast<const double *>(a->values),
                     t->inverse_diagonal, b + v * ldb,   made,
                     context->tickets};
    cudaError_t error = cudaMemsetAsync(made, 0xff, bytes, stream);
    if (error == cudaSuccess) status = enqueue(context, p);
    if (error == cudaSuccess) error = cudaMemsetAsync(context->tickets, 0, sizeof *context->tickets, stream);
    if (error == cudaSuccess && made != target)
      error = cudaMemcpyAsync(target, made, bytes, cudaMemcpyDeviceToDevice, stream);
    if (error != cudaSuccess)
      status = bsi_fail(context, BISAI_DEVICE_ERROR, "triangular solve: %s", cudaGetErrorString(error));
  }
  return status;
}
