#include "core/bcsr.h"
