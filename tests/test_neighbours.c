/* The sorted grid in f64: neighbours_checks.h. */
#define REAL double
#include "tests/neighbours_checks.h"
