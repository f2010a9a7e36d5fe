#include "core/backend.h"
#include "core/bcsr_impl.h"
#include <cuda_runtime.h>
