/* Singular values and polar decomposition in f64: svd_checks.h. */
#define REAL double
#include "tests/svd_checks.h"
