/* Bounds of a claim: the values for which it is reproduced, or partly. */
#ifndef PBD_BOUNDS_H
#define PBD_BOUNDS_H

#include "methods/method.h"

/* The values between `low` and `high`. */
typedef struct pbd_bounds {
    double low, high;
    bool without_low, without_high; /* the end itself is excluded */
} pbd_bounds;

/* "<= 0.05", "> 1", "= 3", "0.9 to 1.1" (both ends included), "> 0 and < 1". PBD_BAD_INPUT says what is wrong, also for
 * bounds that no value meets. */
pbd_status pbd_bounds_parse(const char *text, pbd_bounds *out);

bool pbd_bounds_hold(const pbd_bounds *bounds, double value); /* false for NaN */
/* Whether all values that meet `inner` meet `outer`. */
bool pbd_bounds_contain(const pbd_bounds *outer, const pbd_bounds *inner);

#endif
