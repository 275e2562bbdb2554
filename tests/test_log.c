/* Logarithm and exponential in f64: log_checks.h. */
#define REAL double
#include "tests/log_checks.h"
