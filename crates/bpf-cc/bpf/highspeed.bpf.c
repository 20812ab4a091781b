#include "core/highspeed.h"
#include "kernel.h"
