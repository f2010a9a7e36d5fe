#include "core/other_cuda.cu"
#include <cuda_runtime.h>
