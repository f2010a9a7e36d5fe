#include "factor/factor_impl.h"
#include "gpu/launch.cuh"
