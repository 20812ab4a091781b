#include "core/scalable.h"
#include "kernel.h"
