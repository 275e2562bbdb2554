/* Paired comparisons by signed ranks.
 *
 * Times of processes on a shared machine have long tails: one in twenty takes a fifth longer. Means and t-intervals
 * are dominated by those; ranks are not. The Hodges-Lehmann estimate has 95 % of the mean's efficiency on normal noise
 * and can have far more on noise with tails. Its interval is exact at any number of pairs, for any noise that is the
 * same in both orders of a pair (interleaving and the random first arm ensure that).
 *
 * Several looks would raise the rate of false verdicts: each look has its share of the whole rate, and the shares add
 * up (Bonferroni's bound: slightly conservative, and valid for any dependence between the looks). */
#include "harness/compare/statistics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/exec/arena.h"
#include "harness/files/numbers.h"

const pbd_look pbd_looks[PBD_LOOKS] = {
    {8, 0.0078125, 2.660067}, {12, 0.0040000, 2.878162}, {20, 0.0040000, 2.878162}, {40, 0.0041875, 2.863681}};

enum { MOST_WALSH = PBD_MOST_PAIRS * (PBD_MOST_PAIRS + 1) / 2, MOST_SUM = 2 * MOST_WALSH };

static pbd_status check_sample(const double *x, size_t n) {
    if (n < 1 || n > PBD_MOST_PAIRS)
        return pbd_error(PBD_BAD_INPUT, "%zu pairs: signed ranks take 1 to %d", n, PBD_MOST_PAIRS);
    for (size_t i = 0; i < n; i++)
        if (!isfinite(x[i])) return pbd_error(PBD_BAD_INPUT, "pair %zu: a log-ratio of %g cannot be ranked", i, x[i]);
    return pbd_ok();
}

/* ---- The null distribution --------------------------------------------------------------------------------------- */

/* probability[s]: that the sum of a random subset of `rank`, each element with probability 1/2, is s. Ranks are whole
 * numbers, so the distribution is counted; in doubles, since it has up to 2^64 outcomes. Returns the largest sum. */
static size_t count_sums(const size_t *rank, size_t n, double probability[MOST_SUM + 1]) {
    size_t largest = 0;
    memset(probability, 0, (MOST_SUM + 1) * sizeof *probability);
    probability[0] = 1;
    for (size_t i = 0; i < n; i++) {
        largest += rank[i];
        for (size_t s = largest + 1; s-- > 0;)
            probability[s] = 0.5 * (probability[s] + (s >= rank[i] ? probability[s - rank[i]] : 0));
    }
    return largest;
}

/* The largest k with P(T < k) <= tail, where T is the signed-rank sum of n pairs without ties. */
static size_t critical_count(size_t n, double tail) {
    double probability[MOST_SUM + 1], below = 0;
    size_t rank[PBD_MOST_PAIRS], k = 0;
    for (size_t i = 0; i < n; i++) rank[i] = i + 1;
    const size_t largest = count_sums(rank, n, probability);
    while (k < largest && below + probability[k] <= tail) below += probability[k++];
    return k;
}

/* ---- Estimate and interval --------------------------------------------------------------------------------------- */

/* Returns their number. */
static size_t walsh_averages(const double *x, size_t n, double walsh[MOST_WALSH]) {
    size_t count = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t j = i; j < n; j++) walsh[count++] = 0.5 * (x[i] + x[j]);
    return count;
}

static double hodges_lehmann(const double *x, size_t n, double walsh[MOST_WALSH]) {
    return pbd_median(walsh, walsh_averages(x, n, walsh));
}

pbd_status pbd_signed_rank(const double *x, size_t n, double alpha, pbd_interval *out) {
    PBD_TRY(check_sample(x, n));
    double walsh[MOST_WALSH];
    const size_t count = n * (n + 1) / 2, k = critical_count(n, 0.5 * alpha);
    const double estimate = hodges_lehmann(x, n, walsh); /* sorts */
    *out = (pbd_interval){estimate, k ? walsh[k - 1] : -INFINITY, k ? walsh[count - k] : INFINITY};
    return pbd_ok();
}

/* ---- p-value ----------------------------------------------------------------------------------------------------- */

/* Twice the mean ranks of |x|, ascending: ties share theirs, and twice that is whole. `size` is sorted. */
static void doubled_ranks(const double *size, size_t n, size_t *rank) {
    for (size_t i = 0, j; i < n; i = j) {
        for (j = i; j < n && size[j] == size[i]; j++) continue;
        for (size_t k = i; k < j; k++) rank[k] = (i + 1) + j; /* ranks i + 1 .. j */
    }
}

pbd_status pbd_signed_rank_p(const double *x, size_t n, double shift, double *p) {
    PBD_TRY(check_sample(x, n));
    double difference[PBD_MOST_PAIRS], size[PBD_MOST_PAIRS], probability[MOST_SUM + 1];
    size_t rank[PBD_MOST_PAIRS], used = 0, observed = 0;
    for (size_t i = 0; i < n; i++)
        if (x[i] - shift != 0) difference[used++] = x[i] - shift;
    for (size_t i = 0; i < used; i++) size[i] = fabs(difference[i]);
    qsort(size, used, sizeof *size, pbd_ascending);
    doubled_ranks(size, used, rank);
    for (size_t i = 0; i < used; i++) {
        if (difference[i] < 0) continue;
        size_t place = 0;
        while (size[place] < difference[i]) place++;
        observed += rank[place];
    }
    const size_t largest = count_sums(rank, used, probability);
    *p = 0;
    for (size_t s = observed; s <= largest; s++) *p += probability[s];
    if (*p > 1) *p = 1;
    return pbd_ok();
}

/* ---- Bootstrap --------------------------------------------------------------------------------------------------- */

pbd_random pbd_random_seeded(uint64_t seed) {
    /* As POSIX's srand48, but with all 64 bits; the first draws are skipped, since small seeds give similar ones. */
    const uint64_t mixed = (seed ^ (seed >> 32)) * 0x9E3779B97F4A7C15u;
    pbd_random r = {
        {(unsigned short)(0x330E ^ (mixed >> 48)), (unsigned short)(mixed >> 16), (unsigned short)(mixed >> 32)}};
    for (int i = 0; i < 8; i++) (void)erand48(r.s);
    return r;
}

double pbd_random_uniform(pbd_random *state) { return erand48(state->s); }

pbd_status pbd_bootstrap(const double *x, size_t n, double alpha, uint64_t seed, size_t resamples, pbd_interval *out) {
    PBD_TRY(check_sample(x, n));
    if (resamples < 1 || resamples > 1000000)
        return pbd_error(PBD_BAD_INPUT, "%zu resamples: the bootstrap takes 1 to 1000000", resamples);
    pbd_arena a PBD_ARENA;
    double *estimate = pbd_new(&a, double, resamples), walsh[MOST_WALSH], drawn[PBD_MOST_PAIRS];
    PBD_TRY(pbd_arena_check(&a));
    pbd_random random = pbd_random_seeded(seed);
    for (size_t r = 0; r < resamples; r++) {
        for (size_t i = 0; i < n; i++) drawn[i] = x[(size_t)(pbd_random_uniform(&random) * (double)n)];
        estimate[r] = hodges_lehmann(drawn, n, walsh);
    }
    qsort(estimate, resamples, sizeof *estimate, pbd_ascending);
    const size_t cut = (size_t)(0.5 * alpha * (double)resamples);
    *out = (pbd_interval){hodges_lehmann(x, n, walsh), estimate[cut], estimate[resamples - 1 - cut]};
    return pbd_ok();
}

/* ---- Many tests -------------------------------------------------------------------------------------------------- */

pbd_status pbd_benjamini_hochberg(const double *p, size_t n, double q, bool *reject) {
    pbd_arena a PBD_ARENA;
    double *sorted = pbd_new(&a, double, n), limit = -1;
    PBD_TRY(pbd_arena_check(&a));
    memcpy(sorted, p, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, pbd_ascending);
    for (size_t i = 0; i < n; i++)
        if (sorted[i] <= q * (double)(i + 1) / (double)n) limit = sorted[i];
    for (size_t i = 0; i < n; i++) reject[i] = p[i] <= limit;
    return pbd_ok();
}

/* ---- Verdicts ---------------------------------------------------------------------------------------------------- */

const char *pbd_verdict_name(pbd_verdict verdict) {
    static const char *const names[] = {"faster", "slower", "same", "inconclusive"};
    return names[verdict];
}

static pbd_verdict verdict_of(const pbd_interval *i, double limit) {
    if (i->low >= -limit && i->high <= limit) return PBD_SAME;
    if (i->high < 0) return PBD_FASTER;
    if (i->low > 0) return PBD_SLOWER;
    return PBD_INCONCLUSIVE;
}

/* An estimate of the further pairs until the interval excludes 0 or lies within the margin, whichever is first:
 * intervals shrink with the root of the number of pairs. */
static size_t pairs_wanting(const pbd_interval *i, size_t n, double limit) {
    const double half = 0.5 * (i->high - i->low), size = fabs(i->estimate), room = limit - size;
    const double to_differ = size > 0 ? half / size : INFINITY, to_agree = room > 0 ? half / room : INFINITY;
    const double factor = fmin(to_differ, to_agree), pairs = ceil((double)n * (factor * factor - 1));
    if (!(pairs <= 100000)) return SIZE_MAX;
    return pairs < 1 ? 1 : (size_t)pairs;
}

enum { RESAMPLES = 2000 };
static const double POWER_QUANTILE = 1.2815516; /* of 90 % */

pbd_status pbd_judge(const double *log_ratios, size_t n, size_t look, double margin, uint64_t seed,
                     pbd_judgement *out) {
    if (look >= PBD_LOOKS || n < pbd_looks[look].pairs)
        return pbd_error(PBD_BAD_INPUT, "look %zu has too few pairs: there are %zu", look, n);
    if (!(margin > 0)) return pbd_error(PBD_BAD_INPUT, "a margin of %g must be above 0", margin);
    const pbd_look *l = &pbd_looks[look];
    const double limit = log1p(margin);
    *out = (pbd_judgement){.pairs = l->pairs, .alpha = l->alpha};
    PBD_TRY(pbd_signed_rank(log_ratios, l->pairs, l->alpha, &out->log_ratio));
    PBD_TRY(pbd_bootstrap(log_ratios, l->pairs, l->alpha, seed, RESAMPLES, &out->bootstrap));
    out->verdict = verdict_of(&out->log_ratio, limit);
    out->detectable = 0.5 * (out->log_ratio.high - out->log_ratio.low) * (l->z + POWER_QUANTILE) / l->z;
    out->more_pairs = out->verdict == PBD_INCONCLUSIVE ? pairs_wanting(&out->log_ratio, l->pairs, limit) : 0;
    return pbd_ok();
}
