/* Logarithm and exponential in f32: log_checks.h. */
#define REAL float
#include "tests/log_checks.h"
