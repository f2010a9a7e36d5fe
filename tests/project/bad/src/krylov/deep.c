#include "core/context/backend.h"
#include "core/matrix/bcsr_impl.h"
#include <cuda_runtime.h>
