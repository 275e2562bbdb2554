#include "harness/trend/steps.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/compare/statistics.h"

enum { MOST_LEVELS = 20, SHUFFLES = 499 };
static const double RESOLUTION = 1e-9, LARGEST_P = 0.01;

/* ---- Absolute deviations from a growing sample's median ---------------------------------------------------------- */

/* A sample in order, with the sums of its lower and upper halves: their difference is the sum of the absolute
 * deviations from the median. */
typedef struct growing {
    double *sorted;
    size_t count;
    double low, high;
} growing;

static size_t place_of(const growing *g, double x) {
    size_t lo = 0, hi = g->count;
    while (lo < hi) {
        const size_t middle = (lo + hi) / 2;
        if (g->sorted[middle] <= x)
            lo = middle + 1;
        else
            hi = middle;
    }
    return lo;
}

/* Adds x; returns the sum of absolute deviations from the median so far. */
static double grow(growing *g, double x) {
    const size_t m = g->count, half = m / 2, place = place_of(g, x);
    const double *s = g->sorted;
    if (m % 2 == 0) { /* the halves keep their sizes; the value that drops out becomes the median */
        if (m > 0 && place < half) g->low += x - s[half - 1];
        if (m > 0 && place > half) g->high += x - s[half];
    } else { /* the median joins one half, x the other */
        const double middle = s[half];
        g->low += place <= half ? x : middle;
        g->high += place <= half ? middle : x;
    }
    memmove(g->sorted + place + 1, g->sorted + place, (m - place) * sizeof *g->sorted);
    g->sorted[place] = x;
    g->count++;
    return g->high - g->low;
}

static double median_of(const growing *g) { return 0.5 * (g->sorted[(g->count - 1) / 2] + g->sorted[g->count / 2]); }

/* ---- Levels ------------------------------------------------------------------------------------------------------ */

typedef struct potts {
    const double *x;
    size_t n, levels;                       /* levels: the largest number tried */
    double *cost;                           /* n x n: cost of one level over [i, j], j >= i */
    double (*best)[PBD_LONGEST_HISTORY];    /* levels x n: least cost of k + 1 levels over [0, j] */
    uint16_t (*begin)[PBD_LONGEST_HISTORY]; /* where the last of these levels begins */
    double *scratch;                        /* n */
} potts;

static void fill_costs(potts *p) {
    for (size_t i = 0; i < p->n; i++) {
        growing g = {.sorted = p->scratch};
        for (size_t j = i; j < p->n; j++) p->cost[i * p->n + j] = grow(&g, p->x[j]);
    }
}

static void solve_potts(potts *p) {
    for (size_t j = 0; j < p->n; j++) p->best[0][j] = p->cost[j], p->begin[0][j] = 0;
    for (size_t k = 1; k < p->levels; k++)
        for (size_t j = k; j < p->n; j++) {
            p->best[k][j] = INFINITY;
            for (size_t i = k; i <= j; i++) {
                const double cost = p->best[k - 1][i - 1] + p->cost[i * p->n + j];
                if (cost < p->best[k][j]) p->best[k][j] = cost, p->begin[k][j] = (uint16_t)i;
            }
        }
}

static double typical_size(const double *x, size_t n, double *scratch) {
    growing g = {.sorted = scratch};
    for (size_t i = 0; i < n; i++) grow(&g, fabs(x[i]));
    return median_of(&g);
}

/* The number of levels with the least BIC. */
static size_t choose_levels(const potts *p, double floor) {
    size_t chosen = 1;
    double lowest = INFINITY;
    for (size_t k = 1; k <= p->levels; k++) {
        const double n = (double)p->n, b = fmax(p->best[k - 1][p->n - 1] / n, floor);
        const double bic = 2 * n * log(b) + 2 * (double)k * log(n);
        if (bic < lowest - 1e-9) lowest = bic, chosen = k;
    }
    return chosen;
}

/* ---- Confirmation ------------------------------------------------------------------------------------------------ */

/* The largest reduction of the absolute deviations of x[0..n) by a split into two levels. */
static double best_gain(const double *x, size_t n, double *scratch, double *forward) {
    growing left = {.sorted = scratch}, right = {.sorted = scratch};
    double best = INFINITY;
    for (size_t i = 0; i < n; i++) forward[i] = grow(&left, x[i]);
    for (size_t i = n; i-- > 1;) best = fmin(best, grow(&right, x[i]) + forward[i - 1]);
    return forward[n - 1] - best;
}

static void shuffle(double *x, size_t n, pbd_random *random) {
    for (size_t i = n; i-- > 1;) {
        const size_t j = (size_t)(pbd_random_uniform(random) * (double)(i + 1));
        const double kept = x[i];
        x[i] = x[j];
        x[j] = kept;
    }
}

/* The share of shuffles of the points of both levels that split at least as well. Each shuffle searches for its best
 * place too. */
static double permutation_p(const double *x, size_t n, pbd_random *random, double *scratch) {
    double *shuffled = scratch + n, *forward = scratch + 2 * n;
    const double gain = best_gain(x, n, scratch, forward);
    size_t as_good = 1;
    memcpy(shuffled, x, n * sizeof *x);
    for (int i = 0; i < SHUFFLES; i++) {
        shuffle(shuffled, n, random);
        as_good += best_gain(shuffled, n, scratch, forward) >= gain * (1 - 1e-12);
    }
    return (double)as_good / (SHUFFLES + 1);
}

static double deviation(const double *x, size_t n, double *scratch, double *median) {
    growing g = {.sorted = scratch};
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum = grow(&g, x[i]);
    *median = median_of(&g);
    return sum;
}

/* Fills in the step between the levels [from, at) and [at, to). */
static void judge_step(const double *x, size_t from, size_t at, size_t to, double floor, pbd_random *random,
                       double *scratch, pbd_step *out) {
    const double left = deviation(x + from, at - from, scratch, &out->before);
    const double right = deviation(x + at, to - at, scratch, &out->after);
    out->at = at;
    out->p = left + right <= floor * (double)(to - from) ? 0 : permutation_p(x + from, to - from, random, scratch);
}

/* Drops the weakest step until every one is confirmed; levels that merge are tested again. */
static void confirm_steps(const double *x, size_t n, double floor, uint64_t seed, double *scratch, pbd_steps *s) {
    for (;;) {
        pbd_random random = pbd_random_seeded(seed);
        size_t weakest = 0;
        for (size_t i = 0; i < s->count; i++) {
            const size_t from = i ? s->step[i - 1].at : 0, to = i + 1 < s->count ? s->step[i + 1].at : n;
            judge_step(x, from, s->step[i].at, to, floor, &random, scratch, &s->step[i]);
            if (s->step[i].p > s->step[weakest].p) weakest = i;
        }
        if (s->count == 0 || s->step[weakest].p <= LARGEST_P) return;
        memmove(&s->step[weakest], &s->step[weakest + 1], (s->count - weakest - 1) * sizeof *s->step);
        s->count--;
    }
}

static void fill_levels(const double *x, size_t n, double *scratch, pbd_steps *s) {
    for (size_t i = 0; i <= s->count; i++) {
        const size_t from = i ? s->step[i - 1].at : 0, to = i < s->count ? s->step[i].at : n;
        double median;
        (void)deviation(x + from, to - from, scratch, &median);
        for (size_t k = from; k < to; k++) s->level[k] = median;
    }
}

static void find(potts *p, uint64_t seed, pbd_steps *out) {
    fill_costs(p);
    solve_potts(p);
    const double floor = RESOLUTION * typical_size(p->x, p->n, p->scratch);
    out->count = choose_levels(p, floor > 0 ? floor : 1e-300) - 1;
    for (size_t k = out->count, end = p->n - 1; k > 0; k--) {
        out->step[k - 1].at = p->begin[k][end];
        end = out->step[k - 1].at - 1;
    }
    confirm_steps(p->x, p->n, floor, seed, p->scratch, out);
    fill_levels(p->x, p->n, p->scratch, out);
}

pbd_status pbd_find_steps(const double *x, size_t n, uint64_t seed, pbd_steps *out) {
    *out = (pbd_steps){0};
    if (n > PBD_LONGEST_HISTORY)
        return pbd_error(PBD_BAD_INPUT, "a history of %zu points: %d at most", n, PBD_LONGEST_HISTORY);
    for (size_t i = 0; i < n; i++)
        if (!isfinite(x[i])) return pbd_error(PBD_BAD_INPUT, "point %zu of a history is not finite", i);
    potts p = {.x = x, .n = n, .levels = n < MOST_LEVELS ? n : MOST_LEVELS};
    p.cost = malloc((n * n + 1) * sizeof *p.cost);
    p.best = malloc((p.levels + 1) * sizeof *p.best);
    p.begin = malloc((p.levels + 1) * sizeof *p.begin);
    p.scratch = malloc((3 * n + 1) * sizeof *p.scratch);
    out->step = calloc(MOST_LEVELS, sizeof *out->step);
    out->level = calloc(n + 1, sizeof *out->level);
    const bool fine = p.cost && p.best && p.begin && p.scratch && out->step && out->level;
    if (fine && n > 0) find(&p, seed, out);
    free(p.cost);
    free(p.best);
    free(p.begin);
    free(p.scratch);
    if (fine) return pbd_ok();
    pbd_steps_free(out);
    return pbd_error(PBD_FAILED, "out of memory for a history of %zu points", n);
}

void pbd_steps_free(pbd_steps *steps) {
    free(steps->step);
    free(steps->level);
    *steps = (pbd_steps){0};
}
