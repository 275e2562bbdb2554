/* C. Yuksel, Sample Elimination for Generating Poisson Disk Sample Sets, Computer Graphics Forum 34(2), 2015: the point
 * with the largest weight is eliminated repeatedly. The weight of a point is a sum over its neighbours of a function of
 * their distance.
 *
 * The parallel algorithm has the same result. Weights only decrease, so a point that is heavier than all of its
 * neighbours is eliminated before any of them, whatever happens elsewhere. Threads eliminate such points in any order.
 * For the same reason points are eliminated in the order from heavy to light. All points above a limit are eliminated,
 * and the limit is lowered until no more than the wanted number is left. The lightest of the points eliminated under
 * the last limit are then put back. Work and memory are proportional to the number of points.
 *
 * Weights are integers, so that their sums are the same in any order. Only sums, products and square roots decide which
 * points are kept, and this file is compiled without fused multiply-add. */
#include "cases/sampling/elimination.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "harness/exec/arena.h"
#include "harness/exec/team.h"

enum {
    PIECE = 4096, /* points that a thread takes at a time */
    TILE = 8      /* cells along the edge of a cube whose points lie side by side in memory */
};

static const double ONE = 17592186044416;       /* 2^44: the weight of two points at one place */
static const uint64_t GONE = UINT64_C(1) << 63; /* flag of an eliminated point, stored with its weight */

typedef struct sample {
    double x[3];             /* m */
    _Atomic uint64_t weight; /* once eliminated: its weight at that time | GONE */
} sample;

typedef struct crowd {
    double reach, least; /* m: neighbours are nearer than `reach`; distances below `least` count as it */
    double low[3], cell; /* m: of the grid */
    size_t n[3], cells;  /* n: multiples of TILE */
    uint32_t *begin;     /* cells + 1: first sample of each cell; samples are sorted by cell */
    size_t count;
    sample *of;
    uint32_t *id;      /* the caller's numbers */
    uint32_t *heavier; /* by sample: a neighbour that was heavier when last compared, or itself */
    uint64_t limit;    /* samples that weigh more are eliminated */
    uint32_t *list;    /* candidates, which weigh more than the limit; in pieces of PIECE */
    uint32_t *listed;  /* by piece: number of candidates */
} crowd;

/* ---- Cells ------------------------------------------------------------------------------------------------------- */

static size_t along(const crowd *c, double x, int d) {
    const double at = (x - c->low[d]) / c->cell;
    return at < 0 ? 0 : at >= (double)c->n[d] ? c->n[d] - 1 : (size_t)at;
}

static size_t cell_at(const crowd *c, size_t i, size_t j, size_t k) {
    const size_t tile = (i / TILE * (c->n[1] / TILE) + j / TILE) * (c->n[2] / TILE) + k / TILE;
    return ((tile * TILE + i % TILE) * TILE + j % TILE) * TILE + k % TILE;
}

static size_t cell_of(const crowd *c, const double *x) {
    return cell_at(c, along(c, x[0], 0), along(c, x[1], 1), along(c, x[2], 2));
}

static void choose_cells(crowd *c, size_t points, const double *position) {
    double high[3], n[3], all;
    for (size_t d = 0; d < 3; d++) {
        c->low[d] = INFINITY, high[d] = -INFINITY;
        for (size_t p = 0; p < points; p++) {
            c->low[d] = fmin(c->low[d], position[3 * p + d]);
            high[d] = fmax(high[d], position[3 * p + d]);
        }
    }
    for (c->cell = 1.0 * c->reach;; c->cell *= 1.5) { /* few points in a large box: larger cells */
        for (int d = 0; d < 3; d++) n[d] = TILE * (floor((high[d] - c->low[d]) / (TILE * c->cell)) + 1);
        all = n[0] * n[1] * n[2];
        if (all <= 8 * (double)points + TILE * TILE * TILE) break;
    }
    for (int d = 0; d < 3; d++) c->n[d] = (size_t)n[d];
    c->cells = (size_t)all;
}

static pbd_status sort_points(crowd *c, size_t points, const double *position, pbd_arena *a) {
    choose_cells(c, points, position);
    c->begin = pbd_new(a, uint32_t, c->cells + 2);
    c->of = pbd_new(a, sample, points);
    c->id = pbd_new(a, uint32_t, points);
    PBD_TRY(pbd_arena_check(a));
    uint32_t *next = c->begin + 1;
    for (size_t p = 0; p < points; p++) next[cell_of(c, position + 3 * p) + 1]++;
    for (size_t i = 1; i <= c->cells; i++) next[i] += next[i - 1];
    for (size_t p = 0; p < points; p++) {
        const uint32_t at = next[cell_of(c, position + 3 * p)]++;
        memcpy(c->of[at].x, position + 3 * p, sizeof c->of[at].x);
        c->id[at] = (uint32_t)p;
    }
    c->count = points;
    return pbd_ok();
}

static uint64_t weight_of(const crowd *c, size_t which) {
    return atomic_load_explicit(&c->of[which].weight, memory_order_acquire);
}

/* Removes the eliminated samples. */
static void compact(crowd *c) {
    uint32_t kept = 0;
    for (size_t cell = 0, p = 0; cell < c->cells; cell++) {
        const size_t end = c->begin[cell + 1];
        c->begin[cell] = kept;
        for (; p < end; p++) {
            if (weight_of(c, p) & GONE) continue;
            memmove(&c->of[kept], &c->of[p], sizeof *c->of);
            c->id[kept++] = c->id[p];
        }
    }
    c->begin[c->cells] = kept;
    c->count = kept;
}

/* ---- Neighbours -------------------------------------------------------------------------------------------------- */

/* Called for each sample near a given one, including itself and eliminated ones, until it returns false. d2: m^2. */
typedef bool (*each_neighbour)(void *context, uint32_t neighbour, double d2);

enum { STRETCH = 64 /* samples that are compared at a time */ };

/* Lists the samples from begin to end - 1 that are near x, without branches, which would be mispredicted. */
static inline uint32_t find_near(const crowd *c, const double x[3], uint32_t begin, uint32_t end,
                                 uint32_t near[STRETCH], double near2[STRETCH]) {
    const double reach2 = c->reach * c->reach;
    uint32_t found = 0;
    for (uint32_t q = begin; q < end; q++) {
        const double *y = c->of[q].x;
        const double a = y[0] - x[0], b = y[1] - x[1], e = y[2] - x[2], d2 = a * a + b * b + e * e;
        near[found] = q;
        near2[found] = d2;
        found += d2 < reach2;
    }
    return found;
}

static inline bool for_near(const crowd *c, const double x[3], uint32_t begin, uint32_t end, each_neighbour each,
                            void *context) {
    uint32_t near[STRETCH];
    double near2[STRETCH];
    for (uint32_t q = begin; q < end; q += STRETCH) {
        const uint32_t found = find_near(c, x, q, end - q < STRETCH ? end : q + STRETCH, near, near2);
        for (uint32_t n = 0; n < found; n++)
            if (!each(context, near[n], near2[n])) return false;
    }
    return true;
}

static inline void for_neighbours(const crowd *c, uint32_t which, each_neighbour each, void *context) {
    const double *x = c->of[which].x;
    size_t low[3], high[3];
    for (int d = 0; d < 3; d++) {
        low[d] = along(c, x[d] - c->reach, d);
        high[d] = along(c, x[d] + c->reach, d);
    }
    for (size_t i = low[0]; i <= high[0]; i++)
        for (size_t j = low[1]; j <= high[1]; j++)
            for (size_t k = low[2], last; k <= high[2]; k = last + 1) { /* the cells of one tile */
                last = k / TILE == high[2] / TILE ? high[2] : k / TILE * TILE + TILE - 1;
                const size_t first = cell_at(c, i, j, k);
                if (!for_near(c, x, c->begin[first], c->begin[first + last - k + 1], each, context)) return;
            }
}

/* (1 - d / reach)^8. */
static uint64_t pair_weight(const crowd *c, double d2) {
    const double apart = sqrt(d2), d = apart > c->least ? apart : c->least;
    if (!(d < c->reach)) return 0;
    double w = 1 - d / c->reach;
    w *= w;
    w *= w;
    return (uint64_t)(ONE * (w * w));
}

/* ---- Elimination ------------------------------------------------------------------------------------------------- */

typedef struct search {
    const crowd *c;
    uint64_t weight; /* of the sample whose neighbours are visited */
    uint32_t which, found;
} search;

static bool add_pair(void *context, uint32_t neighbour, double d2) {
    search *s = context;
    if (neighbour != s->which) s->weight += pair_weight(s->c, d2);
    return true;
}

static void weigh(void *context, size_t begin, size_t end) {
    crowd *c = context;
    for (size_t p = begin; p < end; p++) {
        search s = {c, 0, (uint32_t)p, 0};
        for_neighbours(c, (uint32_t)p, add_pair, &s);
        atomic_store_explicit(&c->of[p].weight, s.weight, memory_order_relaxed);
    }
}

/* Whether a neighbour is still there and must be eliminated before a sample of this weight. Of equally heavy ones the
 * one with the lower number of the caller's goes first. */
static bool goes_before(const crowd *c, uint32_t neighbour, uint32_t which, uint64_t weight) {
    const uint64_t other = weight_of(c, neighbour);
    return !(other & GONE) && (other > weight || (other == weight && c->id[neighbour] < c->id[which]));
}

static bool find_heavier(void *context, uint32_t neighbour, double d2) {
    search *s = context;
    (void)d2;
    if (neighbour == s->which || !goes_before(s->c, neighbour, s->which, s->weight)) return true;
    s->found = neighbour;
    return false;
}

/* Meanwhile other threads may reduce the weights of the neighbours, which does no harm, or that of the sample: then the
 * search is repeated. */
static bool is_heaviest(crowd *c, uint32_t which) {
    if (c->heavier[which] != which && goes_before(c, c->heavier[which], which, weight_of(c, which))) return false;
    for (;;) {
        search s = {c, weight_of(c, which), which, which};
        for_neighbours(c, which, find_heavier, &s);
        c->heavier[which] = s.found;
        if (s.found != which) return false;
        if (weight_of(c, which) == s.weight) return true;
    }
}

static bool relieve(void *context, uint32_t neighbour, double d2) {
    search *s = context;
    if (neighbour != s->which && !(weight_of(s->c, neighbour) & GONE))
        atomic_fetch_sub_explicit(&s->c->of[neighbour].weight, pair_weight(s->c, d2), memory_order_relaxed);
    return true;
}

/* Reduces the weights of the neighbours before other threads can see that the sample is gone. */
static void eliminate(crowd *c, uint32_t which) {
    search s = {c, 0, which, which};
    for_neighbours(c, which, relieve, &s);
    atomic_fetch_or_explicit(&c->of[which].weight, GONE, memory_order_release);
}

typedef struct candidate {
    uint64_t weight;
    uint32_t which;
} candidate;

static int heaviest_first(const void *a, const void *b) {
    const candidate *p = a, *q = b;
    if (p->weight != q->weight) return p->weight > q->weight ? -1 : 1;
    return p->which < q->which ? -1 : p->which > q->which;
}

/* Lists the candidates of pieces, heavy ones first, because light ones wait for them. */
static void list_pieces(void *context, size_t begin, size_t end) {
    crowd *c = context;
    candidate found[PIECE];
    for (size_t piece = begin; piece < end; piece++) {
        const size_t first = PIECE * piece, last = first + PIECE < c->count ? first + PIECE : c->count;
        uint32_t count = 0;
        for (size_t p = first; p < last; p++) {
            const uint64_t weight = weight_of(c, p);
            if (weight <= c->limit) continue;
            c->heavier[p] = (uint32_t)p;
            found[count++] = (candidate){weight, (uint32_t)p};
        }
        qsort(found, count, sizeof *found, heaviest_first);
        for (uint32_t i = 0; i < count; i++) c->list[first + i] = found[i].which;
        c->listed[piece] = count;
    }
}

/* Goes through a piece's candidates until the rest waits for those of other pieces. */
static void eliminate_pieces(void *context, size_t begin, size_t end) {
    crowd *c = context;
    for (size_t piece = begin; piece < end; piece++) {
        uint32_t *list = c->list + PIECE * piece, *count = &c->listed[piece], waiting, gone;
        do {
            waiting = gone = 0;
            for (uint32_t i = 0; i < *count; i++) {
                if (weight_of(c, list[i]) <= c->limit) continue;
                if (is_heaviest(c, list[i])) {
                    eliminate(c, list[i]);
                    gone++;
                } else {
                    list[waiting++] = list[i];
                }
            }
            *count = waiting;
        } while (gone > 0);
    }
}

/* Eliminates all samples heavier than the limit. */
static void eliminate_heavy(crowd *c) {
    const size_t pieces = (c->count + PIECE - 1) / PIECE;
    size_t waiting;
    pbd_team_run(pieces, 1, list_pieces, c);
    do {
        pbd_team_run(pieces, 1, eliminate_pieces, c);
        waiting = 0;
        for (size_t piece = 0; piece < pieces; piece++) waiting += c->listed[piece];
    } while (waiting > 0);
}

/* ---- An exact number --------------------------------------------------------------------------------------------- */

static int lightest_first(const void *a, const void *b) { return heaviest_first(b, a); }

/* Puts back `count` of the samples eliminated since the last compaction, those that were eliminated last. */
static pbd_status put_back(const crowd *c, size_t eliminated, size_t count, unsigned char *kept) {
    pbd_arena a PBD_ARENA;
    candidate *list = pbd_new(&a, candidate, eliminated);
    PBD_TRY(pbd_arena_check(&a));
    size_t n = 0;
    for (size_t p = 0; p < c->count; p++)
        if (weight_of(c, p) & GONE) list[n++] = (candidate){weight_of(c, p), c->id[p]};
    qsort(list, n, sizeof *list, lightest_first);
    for (size_t i = 0; i < count; i++) kept[list[i].which] = 1;
    return pbd_ok();
}

static pbd_status reach_number(crowd *c, size_t keep, unsigned char *kept) {
    size_t left = c->count;
    for (c->limit = (uint64_t)(0.25 * ONE); left > keep; c->limit = c->limit / 4 * 3) {
        compact(c);
        eliminate_heavy(c);
        left = 0;
        for (size_t p = 0; p < c->count; p++) left += !(weight_of(c, p) & GONE);
        if (c->limit > 0 || left <= keep) continue;
        compact(c); /* too many samples without neighbours: the caller's first are eliminated */
        for (left = 0; left < c->count; left++) atomic_store_explicit(&c->of[left].weight, GONE, memory_order_relaxed);
        return put_back(c, c->count, keep, kept);
    }
    for (size_t p = 0; p < c->count; p++)
        if (!(weight_of(c, p) & GONE)) kept[c->id[p]] = 1;
    return put_back(c, c->count - left, keep - left, kept);
}

pbd_status eliminate_samples(size_t points, const double *position, double volume, size_t keep, unsigned char *kept) {
    /* Yuksel's equations 3 and 5: disks of the densest packing; weights stop growing below a fraction of their size. */
    const double radius = (double)(float)cbrt(volume / (4 * sqrt(2) * (double)keep)); /* equal everywhere */
    const double share = (double)keep / (double)points;
    crowd c = {.reach = 2 * radius, .least = 2 * radius * 0.65 * (1 - share * sqrt(share))};
    pbd_arena a PBD_ARENA;
    PBD_TRY(sort_points(&c, points, position, &a));
    c.heavier = pbd_new(&a, uint32_t, points);
    c.list = pbd_new(&a, uint32_t, points);
    c.listed = pbd_new(&a, uint32_t, points / PIECE + 1);
    PBD_TRY(pbd_arena_check(&a));
    memset(kept, 0, points);
    pbd_team_run(points, PIECE, weigh, &c);
    return reach_number(&c, keep, kept);
}
