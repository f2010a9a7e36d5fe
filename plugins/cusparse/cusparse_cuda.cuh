/* SPDX-License-Identifier: BSD-3-Clause */
/* Private header of libbisai_cusparse, for *_cuda.cu only. The library uses only the public headers
 * of bisai. */
#ifndef BSI_CUSPARSE_CUDA_CUH
#define BSI_CUSPARSE_CUDA_CUH

#include <chrono>
#include <cstdarg>
#include <cstdio>

#include <cuda_runtime.h>
#include <cusparse.h>

#include <bisai/cusparse.h>

/* Deprecated routines are used if the toolkit has them. CMake checks for them and defines
 * BISAI_HAVE_BSRILU02, _BSRSV2 and _BSRMV. */
#ifdef __GNUC__
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#endif
#pragma nv_diag_suppress 1444, 1215

namespace bsi_cusparse {

inline bisai_status fail(bisai_context *context, bisai_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
inline bisai_status fail(bisai_context *context, bisai_status status, const char *format, ...) {
  char text[256];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  return bisai_context_fail(context, status, text);
}

/* A chain of calls. After the first failure, `run` and `cuda` skip all further calls. */
class calls {
public:
  explicit calls(bisai_context *for_context) : context(for_context) {}
  bool good() const { return result == BISAI_OK; }
  bisai_status status() const { return result; }
  void set(bisai_status status) {
    if (good()) result = status;
  }

  template <typename Call> void cuda(const char *what, Call &&call) {
    if (!good()) return;
    const cudaError_t error = call();
    if (error == cudaSuccess) return;
    cudaGetLastError();
    result =
        fail(context, error == cudaErrorMemoryAllocation ? BISAI_OUT_OF_MEMORY : BISAI_DEVICE_ERROR,
             "%s: %s", what, cudaGetErrorString(error));
  }

  template <typename Call> void run(const char *what, Call &&call) {
    if (!good()) return;
    const cusparseStatus_t status = call();
    if (status == CUSPARSE_STATUS_SUCCESS) return;
    result = fail(context,
                  status == CUSPARSE_STATUS_ALLOC_FAILED             ? BISAI_OUT_OF_MEMORY
                  : status == CUSPARSE_STATUS_NOT_SUPPORTED          ? BISAI_UNAVAILABLE
                  : status == CUSPARSE_STATUS_INSUFFICIENT_RESOURCES ? BISAI_OUT_OF_MEMORY
                                                                     : BISAI_EXTERNAL_ERROR,
                  "%s: %s", what, cusparseGetErrorString(status));
  }

private:
  bisai_context *context;
  bisai_status result = BISAI_OK;
};

/* Device memory that is allocated and released in stream order. */
template <typename T> class device_array {
public:
  device_array() = default;
  device_array(const device_array &) = delete;
  ~device_array() { release(); }
  void reserve(calls &c, cudaStream_t on, size_t count) {
    release();
    stream = on;
    c.cuda("device memory", [&] {
      return cudaMallocAsync(reinterpret_cast<void **>(&memory),
                             (count > 0 ? count : 1) * sizeof(T), stream);
    });
  }
  void release() {
    if (memory) cudaFreeAsync(memory, stream);
    memory = nullptr;
  }
  T *get() const { return memory; }

private:
  T *memory = nullptr;
  cudaStream_t stream = nullptr;
};

inline cudaStream_t stream_of(const bisai_context *context) {
  return static_cast<cudaStream_t>(bisai_context_stream(context));
}

/* Returns BISAI_UNAVAILABLE unless the context computes on a device. */
inline bisai_status check_context(bisai_context *context) {
  if (!context) return BISAI_INVALID_ARGUMENT;
  if (bisai_context_backend(context) == BISAI_BACKEND_CUDA) return BISAI_OK;
  return fail(context, BISAI_UNAVAILABLE, "cuSPARSE needs a context on a CUDA device");
}

/* Returns the seconds of `work`, which starts and ends with an idle stream. */
template <typename Work> double seconds_of(cudaStream_t stream, Work &&work) {
  cudaStreamSynchronize(stream);
  const auto start = std::chrono::steady_clock::now();
  work();
  cudaStreamSynchronize(stream);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/* A cuSPARSE handle on the context's stream; scalars are in host memory. */
class handle {
public:
  handle() = default;
  handle(const handle &) = delete;
  ~handle() {
    if (made) cusparseDestroy(made);
  }
  void create(calls &c, cudaStream_t stream) {
    c.run("cusparseCreate", [&] { return cusparseCreate(&made); });
    c.run("cusparseSetStream", [&] { return cusparseSetStream(made, stream); });
  }
  operator cusparseHandle_t() const { return made; }

private:
  cusparseHandle_t made = nullptr;
};

/* The description of a general matrix, or of one triangle of it. */
class description {
public:
  description() = default;
  description(const description &) = delete;
  ~description() {
    if (made) cusparseDestroyMatDescr(made);
  }
  void create(calls &c) {
    c.run("cusparseCreateMatDescr", [&] { return cusparseCreateMatDescr(&made); });
  }
  void triangle(calls &c, bisai_triangle of) {
    create(c);
    c.run("cusparseSetMatFillMode", [&] {
      return cusparseSetMatFillMode(made, of == BISAI_LOWER ? CUSPARSE_FILL_MODE_LOWER
                                                            : CUSPARSE_FILL_MODE_UPPER);
    });
    c.run("cusparseSetMatDiagType", [&] {
      return cusparseSetMatDiagType(made, of == BISAI_LOWER ? CUSPARSE_DIAG_TYPE_UNIT
                                                            : CUSPARSE_DIAG_TYPE_NON_UNIT);
    });
  }
  operator cusparseMatDescr_t() const { return made; }

private:
  cusparseMatDescr_t made = nullptr;
};

} // namespace bsi_cusparse

#endif
