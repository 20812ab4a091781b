#include "core/multcp.h"
#include "kernel.h"
