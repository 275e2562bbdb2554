/* Statistics of paired samples: what `compare` and `gate` judge times by. Everything is deterministic; what is random
 * takes a seed. */
#ifndef PBD_STATISTICS_H
#define PBD_STATISTICS_H

#include "methods/method.h"

/* Pairs at which a sequential comparison looks at what it has, and the chance it gives to a wrong interval at each. The
 * chances add up to PBD_ERROR_RATE (Bonferroni): whatever look a comparison stops at, its interval covers the truth in
 * at least 98 % of all comparisons. Eight pairs cannot give a two-sided chance below 2 / 2^8, which the first look has.
 */
#define PBD_ERROR_RATE 0.02
enum { PBD_LOOKS = 4, PBD_MOST_PAIRS = 64 };
typedef struct pbd_look {
    size_t pairs;
    double alpha; /* two-sided */
    double z;     /* the normal quantile of 1 - alpha / 2 */
} pbd_look;
extern const pbd_look pbd_looks[PBD_LOOKS]; /* 8, 12, 20, 40 pairs */

typedef struct pbd_interval {
    double estimate, low, high;
} pbd_interval;

/* Hodges-Lehmann estimate (median of the Walsh averages) of the centre of symmetry of x[0..n) and the interval that
 * inverts Wilcoxon's signed-rank test, exact for n <= PBD_MOST_PAIRS (its null distribution is counted, not
 * approximated): coverage at least 1 - alpha for any symmetric distribution, ties only widen it. Where n is too small
 * for alpha, low and high are infinite. n in [1, PBD_MOST_PAIRS], x finite, else PBD_BAD_INPUT. (Hollander, Wolfe and
 * Chicken, Nonparametric Statistical Methods, 3rd ed., 3.2 and 3.3.) */
pbd_status pbd_signed_rank(const double *x, size_t n, double alpha, pbd_interval *out);

/* One-sided exact p-value of the signed-rank test of «centre <= shift» against «centre > shift». Zero differences are
 * left out (Wilcoxon); tied ranks get their mean rank, with the distribution counted over the ranks as they are. */
pbd_status pbd_signed_rank_p(const double *x, size_t n, double shift, double *p);

/* Percentile bootstrap of the Hodges-Lehmann estimate, the cross-check of the above: `resamples` draws by POSIX's
 * erand48, which gives the same numbers on every machine. */
pbd_status pbd_bootstrap(const double *x, size_t n, double alpha, uint64_t seed, size_t resamples, pbd_interval *out);

/* Benjamini and Hochberg 1995: reject[i] is set for the hypotheses rejected at false discovery rate q. */
pbd_status pbd_benjamini_hochberg(const double *p, size_t n, double q, bool *reject);

typedef enum pbd_verdict { PBD_FASTER, PBD_SLOWER, PBD_SAME, PBD_INCONCLUSIVE } pbd_verdict;
const char *pbd_verdict_name(pbd_verdict verdict); /* as the store spells it */

/* What paired times say. Log-ratios are log(time of B / time of A): below 0 B is faster. */
typedef struct pbd_judgement {
    pbd_verdict verdict;    /* of B against A */
    size_t pairs;           /* used: a look's number, or all there are when none of the looks is reached */
    double alpha;           /* of that look */
    pbd_interval log_ratio; /* by signed ranks */
    pbd_interval bootstrap; /* cross-check at the same alpha */
    double detectable; /* smallest |log-ratio| that as many pairs with this spread would have shown with 90 % power */
    size_t more_pairs; /* estimate of what would still be needed to decide; 0: decided; SIZE_MAX: more than
                        * 100000, the effect lies too near the margin */
} pbd_judgement;

/* Judges n pairs at look number `look`: same when the whole interval lies within ±log(1 + margin), else faster or
 * slower when it leaves out 0, else inconclusive. n must be at least pbd_looks[look].pairs; only the first that many
 * are used. */
pbd_status pbd_judge(const double *log_ratios, size_t n, size_t look, double margin, uint64_t seed, pbd_judgement *out);

/* A uniform draw from [0, 1) and its generator's state, for other uses of seeded random numbers (the first arm). */
typedef struct pbd_random {
    unsigned short s[3]; /* erand48's */
} pbd_random;
pbd_random pbd_random_seeded(uint64_t seed);
double pbd_random_uniform(pbd_random *state);

#endif
