#include "core/htcp.h"
#include "kernel.h"
