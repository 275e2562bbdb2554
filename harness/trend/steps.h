/* Finds steps in a series: points where its level changes permanently. `history` uses it for regressions and
 * improvements.
 */
#ifndef PBD_STEPS_H
#define PBD_STEPS_H

#include "methods/method.h"

typedef struct pbd_step {
    size_t at;            /* the first point of the new level */
    double before, after; /* medians of the levels on both sides */
    double p;             /* of the permutation test on the two levels; 0 if neither has noise */
} pbd_step;

typedef struct pbd_steps {
    pbd_step *step; /* ascending */
    size_t count;
    double *level; /* per point: the median of its segment */
} pbd_steps;

enum { PBD_LONGEST_HISTORY = 2000 }; /* points; the caller takes the newest */

/* Finds the levels of x[0..n): the L1 Potts problem (piecewise constant, least absolute deviations), solved exactly for
 * 1 to 20 levels by dynamic programming; how many levels is chosen by BIC with a Laplace likelihood,
 *
 *     2 n log(b) + 2 k log(n),   b = mean absolute deviation with k levels,
 *
 * which counts k levels, k - 1 places and one scale. Deviations below 1e-9 of the median absolute value count as 1e-9
 * of it: smaller ones are not noise. BIC alone finds steps in about one of ten stationary series; each step is
 * therefore confirmed by a permutation test on its two levels (499 shuffles, seeded) and dropped above p = 0.01, the
 * weakest first. A drift is reported as several steps. n in [0, PBD_LONGEST_HISTORY] and all x finite, else
 * PBD_BAD_INPUT. Free with pbd_steps_free.
 *
 * (Potts functional: Winkler and Liebscher 2002; exact solution by dynamic programming: Auger and Lawrence 1989.) */
pbd_status pbd_find_steps(const double *x, size_t n, uint64_t seed, pbd_steps *out);
void pbd_steps_free(pbd_steps *steps);

#endif
