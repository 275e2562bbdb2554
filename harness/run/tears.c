#include "harness/run/tears.h"

#include <math.h>

#include "cases/geometry/near_pairs.h"
#include "harness/exec/arena.h"

static const double REACH = 1.75;  /* spacings */
static const double SUSPECT = 1.2; /* of the explained length: left out of the fits */
static const double TORN = 1.5, CLUMPED = 0.5;
static const double FLOOR = 1e-6; /* of the trace: regularises the inverse in a fit */
enum { MOST_FITS = 32 };          /* a crack's pairs are found within a few */

typedef struct rest_pair {
    uint32_t i, j : 31, suspect : 1;
} rest_pair;

typedef struct tearing {
    const pbd_scene *scene;
    const double *x;
    const bool *elastic; /* by particle */
    rest_pair *pair;     /* NULL: pairs are counted only */
    size_t pairs;
    double (*fit)[9];    /* F by particle, row by row */
    double (*spread)[6]; /* sum of X X': xx, yy, zz, yz, xz, xy; zero without a pair */
} tearing;

/* ---- Pairs at rest ----------------------------------------------------------------------------------------------- */

bool pbd_is_elastic(const pbd_material *m) {
    return m->matter == PBD_CONTINUUM && m->E > 0 && !m->flow && !(m->yield_strain > 0);
}

static bool is_finite(const double *x) { return isfinite(x[0]) && isfinite(x[1]) && isfinite(x[2]); }

static void add_pair(void *to, size_t i, size_t j, double square) {
    tearing *t = to;
    const pbd_particles *p = &t->scene->particles;
    (void)square;
    if (!t->elastic[i] || !t->elastic[j] || (p->body && p->body[i] != p->body[j])) return;
    const size_t k = t->pairs++;
    if (!t->pair) return;
    const bool finite = is_finite(t->x + 3 * i) && is_finite(t->x + 3 * j);
    t->pair[k] = (rest_pair){.i = (uint32_t)i, .j = (uint32_t)j & INT32_MAX, .suspect = !finite};
}

/* Visits the pairs twice, first to count them: growing a list would need memory for its last two sizes at once. */
static pbd_status find_pairs(tearing *t, pbd_arena *arena) {
    const pbd_particles *p = &t->scene->particles;
    const double reach = REACH * p->spacing;
    if (p->count > INT32_MAX) return pbd_error(PBD_FAILED, "pairs of %zu particles: 2147483647 at most", p->count);
    PBD_TRY(near_pairs_visit(p->positions, p->count, reach, add_pair, t));
    t->pair = pbd_new(arena, rest_pair, t->pairs);
    PBD_TRY(pbd_arena_check(arena));
    t->pairs = 0;
    return near_pairs_visit(p->positions, p->count, reach, add_pair, t);
}

static void difference(const double *rows, const rest_pair *p, double out[3]) {
    for (size_t d = 0; d < 3; d++) out[d] = rows[3 * p->j + d] - rows[3 * p->i + d];
}

static double length(const double v[3]) { return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]); }

/* ---- Fits -------------------------------------------------------------------------------------------------------- */

static void add_to_fit(const double X[3], const double now[3], double fit[9], double spread[6]) {
    for (int d = 0; d < 3; d++) {
        spread[d] += X[d] * X[d];
        spread[3 + d] += X[(d + 1) % 3] * X[(d + 2) % 3];
        for (int k = 0; k < 3; k++) fit[3 * d + k] += now[d] * X[k];
    }
}

/* sum(x X') times the inverse of sum(X X'). Normal to a plane or a line of neighbours the map is near zero, but no
 * pair has that direction. */
static void solve_fit(double fit[9], const double spread[6]) {
    const double floor = FLOOR * (spread[0] + spread[1] + spread[2]);
    const double a = spread[0] + floor, b = spread[1] + floor, c = spread[2] + floor;
    const double yz = spread[3], xz = spread[4], xy = spread[5];
    const double cofactor[6] = {b * c - yz * yz,  a * c - xz * xz,  a * b - xy * xy,
                                xz * xy - a * yz, xy * yz - b * xz, yz * xz - c * xy};
    const double det = a * cofactor[0] + xy * cofactor[5] + xz * cofactor[4];
    if (!(det > 0)) return;
    for (int d = 0; d < 3; d++) {
        const double m[3] = {fit[3 * d], fit[3 * d + 1], fit[3 * d + 2]};
        fit[3 * d] = (m[0] * cofactor[0] + m[1] * cofactor[5] + m[2] * cofactor[4]) / det;
        fit[3 * d + 1] = (m[0] * cofactor[5] + m[1] * cofactor[1] + m[2] * cofactor[3]) / det;
        fit[3 * d + 2] = (m[0] * cofactor[4] + m[1] * cofactor[3] + m[2] * cofactor[2]) / det;
    }
}

static void fit_all(tearing *t) {
    const size_t n = t->scene->particles.count;
    memset(t->fit, 0, n * sizeof *t->fit);
    memset(t->spread, 0, n * sizeof *t->spread);
    for (size_t k = 0; k < t->pairs; k++) {
        const rest_pair *p = &t->pair[k];
        double X[3], now[3];
        if (p->suspect) continue;
        difference(t->scene->particles.positions, p, X);
        difference(t->x, p, now);
        add_to_fit(X, now, t->fit[p->i], t->spread[p->i]);
        add_to_fit(X, now, t->fit[p->j], t->spread[p->j]);
    }
    for (size_t i = 0; i < n; i++) solve_fit(t->fit[i], t->spread[i]);
}

static double mapped(const double fit[9], const double X[3]) {
    double out[3];
    for (int d = 0; d < 3; d++) out[d] = fit[3 * d] * X[0] + fit[3 * d + 1] * X[1] + fit[3 * d + 2] * X[2];
    return length(out);
}

typedef struct lengths {
    double rest, explained, now; /* m */
} lengths;

/* If one particle has no fit, that of the other counts; without any, the length at rest. */
static lengths lengths_of(const tearing *t, const rest_pair *p) {
    const uint32_t end[2] = {p->i, p->j};
    double X[3], now[3], sum = 0, fits = 0;
    difference(t->scene->particles.positions, p, X);
    difference(t->x, p, now);
    for (int k = 0; k < 2; k++) {
        if (!(t->spread[end[k]][0] + t->spread[end[k]][1] + t->spread[end[k]][2] > 0)) continue;
        sum += mapped(t->fit[end[k]], X);
        fits++;
    }
    return (lengths){length(X), fits > 0 ? sum / fits : length(X), length(now)};
}

static bool mark_suspects(tearing *t) {
    bool any = false;
    for (size_t k = 0; k < t->pairs; k++) {
        rest_pair *p = &t->pair[k];
        if (p->suspect) continue;
        const lengths l = lengths_of(t, p);
        p->suspect = l.now > SUSPECT * fmax(l.rest, l.explained);
        any |= p->suspect;
    }
    return any;
}

/* ---- Counting ---------------------------------------------------------------------------------------------------- */

static size_t count_clumped(const tearing *t) {
    size_t count = 0;
    for (size_t k = 0; k < t->pairs; k++) {
        const lengths l = lengths_of(t, &t->pair[k]);
        count += l.now < CLUMPED * fmin(l.rest, l.explained) - 10 * FLOOR * l.rest; /* in a flat body both may be 0 */
    }
    return count;
}

static size_t count_torn(const tearing *t) {
    size_t count = 0;
    for (size_t k = 0; k < t->pairs; k++) {
        const lengths l = lengths_of(t, &t->pair[k]);
        count += !(l.now <= TORN * fmax(l.rest, l.explained));
    }
    return count;
}

pbd_status pbd_tears_count(const pbd_scene *scene, const pbd_method *method, const double *x, tear_count *out) {
    const size_t n = scene->particles.count;
    pbd_arena a PBD_ARENA;
    bool *elastic = pbd_new(&a, bool, n), any = false;
    tearing t = {.scene = scene, .x = x, .elastic = elastic};
    *out = (tear_count){0};
    if (!(method->needs & PBD_NEEDS_SAMPLES) || !(scene->particles.spacing > 0) || scene->blades.count > 0)
        return pbd_ok();
    PBD_TRY(pbd_arena_check(&a));
    for (size_t i = 0; i < n; i++) any |= elastic[i] = pbd_is_elastic(pbd_material_of(scene, i));
    if (!any) return pbd_ok();
    PBD_TRY(find_pairs(&t, &a));
    t.fit = pbd_arena_take(&a, n, sizeof *t.fit);
    t.spread = pbd_arena_take(&a, n, sizeof *t.spread);
    PBD_TRY(pbd_arena_check(&a));
    fit_all(&t);
    out->pairs = t.pairs;
    out->clumped = count_clumped(&t);
    for (int k = 1; k < MOST_FITS && mark_suspects(&t); k++) fit_all(&t);
    out->torn = count_torn(&t);
    return pbd_ok();
}

pbd_status pbd_tears_record(const pbd_scene *scene, const pbd_method *method, const double *x, pbd_recorder *recorder) {
    tear_count count;
    PBD_TRY(pbd_tears_count(scene, method, x, &count));
    if (count.pairs == 0) return pbd_ok();
    const double torn = (double)count.torn / (double)count.pairs, clumped = (double)count.clumped / (double)count.pairs;
    pbd_metric(recorder, "torn", "1", PBD_FLAW, torn);
    pbd_metric(recorder, "clumped", "1", PBD_FLAW, clumped);
    if (torn > PBD_TEARS_WARN)
        pbd_warning(recorder, "torn",
                    "%.3g of the pairs of neighbours of an elastic body are lost (%zu of %zu; limit %g): a smaller dt, "
                    "more iterations, a larger support or control of zero-energy motions may hold it",
                    torn, count.torn, count.pairs, PBD_TEARS_WARN);
    if (clumped > PBD_TEARS_WARN)
        pbd_warning(recorder, "clumped",
                    "%.3g of the pairs of neighbours of an elastic body are nearer than half their distance (%zu of "
                    "%zu; limit %g): a smaller dt, more iterations or control of zero-energy motions may part them",
                    clumped, count.clumped, count.pairs, PBD_TEARS_WARN);
    return pbd_ok();
}
