#include "factor/factor_impl.h"
