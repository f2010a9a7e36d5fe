/* SPDX-License-Identifier: BSD-3-Clause */
/* A context on a CUDA device. */
#include <cstdio>

#include "gpu/runtime.cuh"

namespace {

__global__ void nothing() {}

int current_device(int device) {
  int current = 0;
  if (device >= 0) return device;
  return cudaGetDevice(&current) == cudaSuccess ? current : 0;
}

void describe(const cudaDeviceProp &device, char *text, size_t size) {
  std::snprintf(text, size, "%.48s, %.0f GiB, compute capability %d.%d", device.name,
                static_cast<double>(device.totalGlobalMem) / (1 << 30), device.major, device.minor);
}

cudaError_t make_pool(int device, bisai_context *context) {
  cudaMemPoolProps properties = {};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location.type = cudaMemLocationTypeDevice;
  properties.location.id = device;
  cudaMemPool_t pool;
  cudaError_t error = cudaMemPoolCreate(&pool, &properties);
  if (error != cudaSuccess) return error;
  context->device_memory.pool = pool;
  uint64_t everything = UINT64_MAX;
  return cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &everything);
}

cudaError_t make_stream(bisai_context *context) {
  cudaStream_t stream;
  const cudaError_t error = cudaStreamCreate(&stream);
  if (error != cudaSuccess) return error;
  context->stream = stream;
  context->owns_stream = true;
  return error;
}

/* Memory that several rooms share. */
bisai_status make_counters(bisai_context *context) {
  context->tickets = static_cast<unsigned *>(
      context->backend->memory->allocate(context, BSI_TICKETS, sizeof(unsigned)));
  context->record = context->backend->memory->allocate(context, BSI_RECORD_BYTES, 1);
  context->fetches.bounce =
      context->backend->memory->allocate_shared(context, BSI_BOUNCE_BYTES / sizeof(double) + 1);
  if (!context->tickets || !context->record || !context->fetches.bounce) return BISAI_OUT_OF_MEMORY;
  const cudaError_t error =
      cudaMemsetAsync(context->tickets, 0, BSI_TICKETS * sizeof(unsigned), bsi_stream_of(context));
  return error == cudaSuccess ? BISAI_OK : BISAI_DEVICE_ERROR;
}

} // namespace

/* The texts are constants of the runtime. */
static const char *missing(int device) {
  int devices = 0;
  cudaError_t error = cudaGetDeviceCount(&devices);
  if (error == cudaSuccess && devices == 0) error = cudaErrorNoDevice;
  if (error == cudaSuccess && device >= devices) error = cudaErrorInvalidDevice;
  int before = 0;
  cudaFuncAttributes attributes;
  if (error == cudaSuccess) error = cudaGetDevice(&before);
  if (error == cudaSuccess) error = cudaSetDevice(current_device(device));
  /* Fails if the device is older than the architecture that the kernels were compiled for. */
  if (error == cudaSuccess) {
    error = cudaFuncGetAttributes(&attributes, nothing);
    cudaSetDevice(before);
  }
  if (error == cudaSuccess) return nullptr;
  cudaGetLastError();
  return cudaGetErrorString(error);
}

static bisai_status open(bisai_context *context, const bisai_context_options *options) {
  const int device = current_device(options->device);
  cudaDeviceProp properties;
  context->device_memory.allocator = options->device_allocator;
  context->stream = options->stream;
  cudaError_t error = cudaSetDevice(device);
  if (error == cudaSuccess) error = cudaGetDeviceProperties(&properties, device);
  if (error == cudaSuccess)
    context->limits = {"", properties.multiProcessorCount,
                       static_cast<int>(properties.sharedMemPerMultiprocessor),
                       static_cast<int>(properties.sharedMemPerBlockOptin), properties.l2CacheSize};
  if (error == cudaSuccess) describe(properties, context->limits.name, sizeof context->limits.name);
  cudaFuncAttributes attributes;
  if (error == cudaSuccess) error = cudaFuncGetAttributes(&attributes, nothing);
  /* Kernels that were compiled for an older architecture do not wait for their predecessors. */
  if (error == cudaSuccess)
    context->limits.early_launches = properties.major >= 9 && attributes.ptxVersion >= 90;
  if (error == cudaSuccess && !context->device_memory.allocator.allocate)
    error = make_pool(device, context);
  if (error == cudaSuccess && !context->stream) error = make_stream(context);
  return error == cudaSuccess ? make_counters(context) : BISAI_DEVICE_ERROR;
}

/* Waits, so that the caller may destroy the stream and release the memory. */
static void close(bisai_context *context) {
  context->backend->memory->release(context, context->tickets);
  context->backend->memory->release(context, context->record);
  context->backend->memory->release_shared(context, context->fetches.bounce);
  if (context->stream) cudaStreamSynchronize(bsi_stream_of(context));
  if (context->owns_stream) cudaStreamDestroy(bsi_stream_of(context));
  if (context->device_memory.pool)
    cudaMemPoolDestroy(static_cast<cudaMemPool_t>(context->device_memory.pool));
}

const bsi_device_ops bsi_device_cuda = {.missing = missing, .open = open, .close = close};
