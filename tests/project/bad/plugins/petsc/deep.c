#include "core/matrix/bcsr_impl.h"
