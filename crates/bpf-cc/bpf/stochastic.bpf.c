#include "core/stochastic.h"
#include "kernel.h"
