/* SPDX-License-Identifier: BSD-3-Clause */
/* src/gpu/ptx.cuh on a CPU. A load that may be repeated until a value changes lets others run. */
#ifndef BSI_GPU_PTX_CUH
#define BSI_GPU_PTX_CUH

#include "gpu/runtime.cuh"

template <typename T> T bsi_load_relaxed(const T *from) {
  emulation::poll();
  T value;
  __atomic_load(from, &value, __ATOMIC_RELAXED);
  return value;
}

inline unsigned bsi_load_acquire(const unsigned *from) {
  emulation::poll();
  return __atomic_load_n(from, __ATOMIC_ACQUIRE);
}

inline void bsi_store_relaxed(double *to, double value) {
  __atomic_store(to, &value, __ATOMIC_RELAXED);
}

inline void bsi_add_release(unsigned *to, unsigned value) {
  __atomic_fetch_add(to, value, __ATOMIC_RELEASE);
}

template <int NUMBER, int THREADS> void bsi_synchronise() {
  emulation::wait_in_block(NUMBER, THREADS, 0, true);
}

template <int NUMBER, int THREADS> void bsi_arrive_at() {
  emulation::wait_in_block(NUMBER, THREADS, 0, false);
}

/* The lower half of the bits is zero, as on a device. */
inline double bsi_rough_reciprocal(double x) {
  const double r = fabs(x) < 0x1p-1022 ? copysign(INFINITY, x) : 1.0 / x;
  if (isnan(r)) return r;
  if (fabs(r) < 0x1p-1022) return copysign(0.0, x);
  return __hiloint2double(__double2hiint(r), 0);
}

inline void bsi_multiply_8_8_4(double a, double b, const double (&c)[2], double (&d)[2]) {
  const int lane = emulation::lane(), row = lane / 4 * 4, column = lane % 4 * 8;
  double sum[2] = {c[0], c[1]};
  for (int k = 0; k < 4; k++) {
    const double left = __shfl_sync(0xffffffffu, a, row + k),
                 first = __shfl_sync(0xffffffffu, b, column + k),
                 second = __shfl_sync(0xffffffffu, b, column + 4 + k);
    sum[0] = fma(left, first, sum[0]), sum[1] = fma(left, second, sum[1]);
  }
  d[0] = sum[0], d[1] = sum[1];
}

inline void bsi_multiply_16_8_4(double a0, double a1, double b, const double (&c0)[2],
                                const double (&c1)[2], double (&d0)[2], double (&d1)[2]) {
  bsi_multiply_8_8_4(a0, b, c0, d0);
  bsi_multiply_8_8_4(a1, b, c1, d1);
}

template <typename... Values> void bsi_forget(Values &...) {}

#endif
