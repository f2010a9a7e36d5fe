#include "factor/factor.h"
