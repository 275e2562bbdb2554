/* The sorted grid in f32: neighbours_checks.h. */
#define REAL float
#include "tests/neighbours_checks.h"
