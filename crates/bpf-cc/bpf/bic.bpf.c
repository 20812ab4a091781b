#include "core/bic.h"
#include "kernel.h"
