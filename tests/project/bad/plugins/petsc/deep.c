#include "core/bcsr_impl.h"
