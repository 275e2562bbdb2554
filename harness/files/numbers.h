/* Numbers in texts, and samples of numbers. */
#ifndef PBD_NUMBERS_H
#define PBD_NUMBERS_H

#include <stddef.h>

/* strtod for decimal numbers only: hexadecimal ones are rejected (*end == text). */
double pbd_decimal(const char *text, char **end);

/* Writes a number by %g with the fewest digits, six or more, that read back as the same: 0.3, 200000, 1e-08. */
enum { PBD_NUMBER_SIZE = 40 };
void pbd_spell_number(double value, char text[PBD_NUMBER_SIZE]);

/* For qsort of doubles. */
int pbd_ascending(const void *left, const void *right);
/* Sorts x[0..n), n > 0, and returns the median. */
double pbd_median(double *x, size_t n);

#endif
