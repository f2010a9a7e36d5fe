/* SPDX-License-Identifier: BSD-3-Clause */
/* Instructions of the device for which CUDA C has no name. tests/emulation has a file of the same
 * name that does the same on a CPU. */
#ifndef BSI_PTX_CUH
#define BSI_PTX_CUH

#include "gpu/runtime.cuh"

/* --- memory that thread blocks pass to each other, in a stated order --- */

static __device__ __forceinline__ double bsi_load_relaxed(const double *from) {
  double value;
  asm volatile("ld.relaxed.gpu.global.f64 %0, [%1];" : "=d"(value) : "l"(from));
  return value;
}

static __device__ __forceinline__ unsigned bsi_load_relaxed(const unsigned *from) {
  unsigned value;
  asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(from) : "memory");
  return value;
}

/* What other thread blocks wrote before they released the value is visible then. The load empties
 * the first-level cache. */
static __device__ __forceinline__ unsigned bsi_load_acquire(const unsigned *from) {
  unsigned value;
  asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(from) : "memory");
  return value;
}

static __device__ __forceinline__ void bsi_store_relaxed(double *to, double value) {
  asm volatile("st.relaxed.gpu.global.f64 [%0], %1;" ::"l"(to), "d"(value) : "memory");
}

/* Adds. What the thread wrote is visible to those that acquire the new value. The thread does not
 * wait for the sum. */
static __device__ __forceinline__ void bsi_add_release(unsigned *to, unsigned value) {
  asm volatile("red.release.gpu.global.add.u32 [%0], %1;" ::"l"(to), "r"(value) : "memory");
}

/* --- barriers of some warps of a thread block --- */

/* Returns when `THREADS` threads have called this or bsi_arrive_at() with this number. */
template <int NUMBER, int THREADS> static __device__ __forceinline__ void bsi_synchronise() {
  asm volatile("bar.sync %0, %1;" ::"n"(NUMBER), "n"(THREADS) : "memory");
}

/* Counts as a call of the above, and does not wait. */
template <int NUMBER, int THREADS> static __device__ __forceinline__ void bsi_arrive_at() {
  asm volatile("bar.arrive %0, %1;" ::"n"(NUMBER), "n"(THREADS) : "memory");
}

/* --- arithmetic --- */

/* Returns 1/x to 20 bits. It is infinite if x is subnormal, and 0 if 1/x is subnormal. */
static __device__ __forceinline__ double bsi_rough_reciprocal(double x) {
  double r;
  asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(r) : "d"(x));
  return r;
}

/* d ← c + a b for c of 8 × 8 values, a of 8 × 4 and b of 4 × 8 by a warp (compute capability 8.0;
 * the places of the values: bsi_add_product()). */
static __device__ __forceinline__ void bsi_multiply_8_8_4(double a, double b, const double (&c)[2],
                                                          double (&d)[2]) {
  asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%4, %5};"
               : "=d"(d[0]), "=d"(d[1])
               : "d"(a), "d"(b), "d"(c[0]), "d"(c[1]));
}

/* The same for two products with the same b (compute capability 9.0). */
static __device__ __forceinline__ void bsi_multiply_16_8_4(double a0, double a1, double b,
                                                           const double (&c0)[2],
                                                           const double (&c1)[2], double (&d0)[2],
                                                           double (&d1)[2]) {
  asm volatile("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 "
               "{%0, %1, %2, %3}, {%4, %5}, {%6}, {%7, %8, %9, %10};"
               : "=d"(d0[0]), "=d"(d0[1]), "=d"(d1[0]), "=d"(d1[1])
               : "d"(a0), "d"(a1), "d"(b), "d"(c0[0]), "d"(c0[1]), "d"(c1[0]), "d"(c1[1]));
}

/* --- what the compiler must not know --- */

/* The compiler takes the values for new ones: it cannot compute earlier or later what depends on
 * them. */
static __device__ __forceinline__ void bsi_forget(int &value) { asm volatile("" : "+r"(value)); }

static __device__ __forceinline__ void bsi_forget(unsigned &first, unsigned &second) {
  asm volatile("" : "+r"(first), "+r"(second));
}

static __device__ __forceinline__ void bsi_forget(double &value) { asm volatile("" : "+d"(value)); }

#endif
