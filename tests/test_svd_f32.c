/* Singular values and polar decomposition in f32: svd_checks.h. */
#define REAL float
#include "tests/svd_checks.h"
