#include "harness/files/numbers.h"

#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

double pbd_decimal(const char *text, char **end) {
    const char *digits = text;
    while (isspace((unsigned char)*digits)) digits++;
    digits += *digits == '-' || *digits == '+';
    if (digits[0] != '0' || tolower((unsigned char)digits[1]) != 'x') return strtod(text, end);
    *end = (char *)(uintptr_t)text;
    return 0;
}

void pbd_spell_number(double value, char text[PBD_NUMBER_SIZE]) {
    for (int digits = 6; digits <= 17; digits++) {
        snprintf(text, PBD_NUMBER_SIZE, "%.*g", digits, value);
        if (strtod(text, NULL) == value) return;
    }
}

int pbd_ascending(const void *left, const void *right) {
    const double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

double pbd_median(double *x, size_t n) {
    qsort(x, n, sizeof *x, pbd_ascending);
    return 0.5 * (x[(n - 1) / 2] + x[n / 2]);
}
