#include "harness/files/numbers.h"

#include <stdlib.h>

int pbd_ascending(const void *left, const void *right) {
    const double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

double pbd_median(double *x, size_t n) {
    qsort(x, n, sizeof *x, pbd_ascending);
    return 0.5 * (x[(n - 1) / 2] + x[n / 2]);
}
