#include "harness/files/ranges.h"

#include <math.h>
#include <stdio.h>

void pbd_range_text(const pbd_param *p, char *out, size_t size) {
    snprintf(out, size, "%c%g, %g%c", p->open & PBD_OPEN_MIN ? '(' : '[', p->min, p->max,
             p->open & PBD_OPEN_MAX || isinf(p->max) ? ')' : ']');
}

bool pbd_in_range(const pbd_param *p, double x) {
    bool above = p->open & PBD_OPEN_MIN ? x > p->min : x >= p->min;
    bool below = p->open & PBD_OPEN_MAX ? x < p->max : x <= p->max;
    return above && below; /* false for NaN */
}
