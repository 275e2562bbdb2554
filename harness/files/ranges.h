/* The range of a numeric parameter. */
#ifndef PBD_RANGES_H
#define PBD_RANGES_H

#include "methods/method.h"

/* «[0, 0.5)», «(0, inf)»: as printed. */
void pbd_range_text(const pbd_param *param, char *out, size_t size);
bool pbd_in_range(const pbd_param *param, double x); /* false for NaN */

#endif
