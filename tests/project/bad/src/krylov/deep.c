#include "core/backend.h"
#include "core/bcsr.h"
#include <cuda_runtime.h>
