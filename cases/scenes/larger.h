/* Maxima in which NaN stays. */
#ifndef PBD_LARGER_H
#define PBD_LARGER_H

#include <math.h>

/* The larger number; NaN if one of them is, unlike fmax. */
static inline double larger(double a, double b) { return a > b || isnan(a) ? a : b; }

#endif
