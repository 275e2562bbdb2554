/* Poisson-disk sampling by elimination: C. Yuksel, Sample Elimination for Generating Poisson Disk Sample Sets, Computer
 * Graphics Forum 34(2), 2015. From many random points the most crowded one is taken away again and again.
 *
 * Only sums, products, quotients and square roots decide who stays, and this file is compiled without fused
 * multiply-add: the same seed gives the same particles on every machine. */
#include <math.h>
#include <stdlib.h>

#include "harness/exec/arena.h"

#include "cases/sampling/sampling_parts.h"

enum { SURPLUS = 5 }; /* random points per particle */

/* No particle nearer to the surface than this, in spacings. */
static const double MARGIN = 0.3;

/* Random numbers in [0, 1): splitmix64 (S. Vigna, public domain). */
static double next_random(uint64_t *seed) {
    uint64_t z = (*seed += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (double)((z ^ (z >> 31)) >> 11) / (double)(UINT64_C(1) << 53);
}

/* ---- Random points ----------------------------------------------------------------------------------------------- */

/* Points of the solid's box are tried until enough are inside and deep enough; where hardly any is, a smaller depth
 * must do. */
static pbd_status throw_points(const solid *body, double depth, size_t wanted, uint64_t *seed, double *x) {
    size_t found = 0;
    for (uint64_t tries = 1; found < wanted; tries++) {
        double *at = x + 3 * found;
        for (int d = 0; d < 3; d++) at[d] = body->low[d] + next_random(seed) * (body->high[d] - body->low[d]);
        found += body->distance(body, at) < -depth;
        if (tries % 100000 != 0 || (double)found >= 1e-3 * (double)tries) continue;
        if (depth <= 0)
            return pbd_error(
                PBD_BAD_INPUT,
                "the body fills less than a thousandth of its box: align it with the axes, or sample it on a lattice");
        depth = depth > 1e-3 * MARGIN ? 0.5 * depth : 0;
        tries = found = 0;
    }
    return pbd_ok();
}

/* ---- Neighbours: points sorted by the cells of a grid ------------------------------------------------------------ */

typedef struct grid {
    double low[3], cell; /* m */
    size_t n[3];
    uint32_t *begin; /* cells + 1 */
    uint32_t *point;
} grid;

static size_t cell_along(const grid *g, const double *x, int d) {
    const double at = (x[d] - g->low[d]) / g->cell;
    return at < 0 ? 0 : at >= (double)g->n[d] ? g->n[d] - 1 : (size_t)at;
}

static size_t cell_of(const grid *g, const double *x) {
    return (cell_along(g, x, 0) * g->n[1] + cell_along(g, x, 1)) * g->n[2] + cell_along(g, x, 2);
}

static pbd_status make_grid(const solid *body, double cell, size_t points, const double *x, grid *g) {
    double along[3], all;
    *g = (grid){.cell = cell};
    for (;;) { /* few points in a large box: larger cells do as well */
        for (int d = 0; d < 3; d++) along[d] = fmax(floor((body->high[d] - body->low[d]) / g->cell), 1);
        all = along[0] * along[1] * along[2];
        if (all <= 4 * (double)points + 64) break;
        g->cell *= 1.5;
    }
    const size_t cells = (size_t)all;
    for (int d = 0; d < 3; d++) {
        g->low[d] = body->low[d];
        g->n[d] = (size_t)along[d];
    }
    PBD_TRY_NEW(g->begin, cells + 1);
    PBD_TRY_NEW(g->point, points);
    for (size_t p = 0; p < points; p++) g->begin[cell_of(g, x + 3 * p) + 2]++;
    for (size_t c = 2; c < cells + 2; c++) g->begin[c] += g->begin[c - 1];
    for (size_t p = 0; p < points; p++) g->point[g->begin[cell_of(g, x + 3 * p) + 1]++] = (uint32_t)p;
    return pbd_ok();
}

/* ---- Elimination ------------------------------------------------------------------------------------------------- */

typedef struct crowd {
    const double *x;
    grid near;
    double reach;    /* m: twice the largest radius that so many disks can have */
    double least;    /* m: nearer than this is no worse */
    double *weight;  /* points: how crowded each is */
    uint32_t *heap;  /* the most crowded first */
    uint32_t *place; /* points: where in the heap; UINT32_MAX: taken away */
    size_t left;
} crowd;

/* (1 - d / reach)^8. */
static double crowding(const crowd *c, double d2) {
    const double d = fmax(sqrt(d2), c->least);
    if (!(d < c->reach)) return 0;
    double w = 1 - d / c->reach;
    w *= w;
    w *= w;
    return w * w;
}

static bool before(const crowd *c, uint32_t a, uint32_t b) {
    return c->weight[a] != c->weight[b] ? c->weight[a] > c->weight[b] : a < b;
}

static void put(crowd *c, size_t place, uint32_t point) {
    c->heap[place] = point;
    c->place[point] = (uint32_t)place;
}

static void sink(crowd *c, size_t place) {
    const uint32_t point = c->heap[place];
    for (;;) {
        size_t child = 2 * place + 1;
        if (child >= c->left) break;
        if (child + 1 < c->left && before(c, c->heap[child + 1], c->heap[child])) child++;
        if (!before(c, c->heap[child], point)) break;
        put(c, place, c->heap[child]);
        place = child;
    }
    put(c, place, point);
}

/* Adds `sign` times what a point crowds each of its neighbours; of points still there their places are kept right
 * (weights only fall once the heap stands). */
static double crowd_neighbours(crowd *c, uint32_t point, bool take_away) {
    const grid *g = &c->near;
    const double *x = c->x + 3 * (size_t)point;
    size_t low[3], high[3];
    double sum = 0;
    for (int d = 0; d < 3; d++) {
        double edge[3] = {x[0], x[1], x[2]};
        edge[d] = x[d] - c->reach;
        low[d] = cell_along(g, edge, d);
        edge[d] = x[d] + c->reach;
        high[d] = cell_along(g, edge, d);
    }
    for (size_t i = low[0]; i <= high[0]; i++)
        for (size_t j = low[1]; j <= high[1]; j++)
            for (size_t k = low[2]; k <= high[2]; k++) {
                const size_t cell = (i * g->n[1] + j) * g->n[2] + k;
                for (uint32_t n = g->begin[cell]; n < g->begin[cell + 1]; n++) {
                    const uint32_t other = g->point[n];
                    const double *y = c->x + 3 * (size_t)other;
                    const double a = y[0] - x[0], b = y[1] - x[1], e = y[2] - x[2], d2 = a * a + b * b + e * e;
                    if (other == point || c->place[other] == UINT32_MAX || d2 >= c->reach * c->reach) continue;
                    const double w = crowding(c, d2);
                    sum += w;
                    if (!take_away) continue;
                    c->weight[other] -= w;
                    sink(c, c->place[other]);
                }
            }
    return sum;
}

static pbd_status open_crowd(crowd *c, size_t points) {
    PBD_TRY_NEW(c->weight, points);
    PBD_TRY_NEW(c->heap, points);
    PBD_TRY_NEW(c->place, points);
    c->left = points;
    for (size_t p = 0; p < points; p++) put(c, p, (uint32_t)p);
    for (size_t p = 0; p < points; p++) c->weight[p] = crowd_neighbours(c, (uint32_t)p, false);
    for (size_t p = points / 2; p-- > 0;) sink(c, p);
    return pbd_ok();
}

static void close_crowd(crowd *c) {
    free(c->near.begin);
    free(c->near.point);
    free(c->weight);
    free(c->heap);
    free(c->place);
}

static void take_most_crowded(crowd *c) {
    const uint32_t gone = c->heap[0];
    c->place[gone] = UINT32_MAX;
    c->left--;
    if (c->left > 0) {
        put(c, 0, c->heap[c->left]);
        sink(c, 0);
    }
    crowd_neighbours(c, gone, true);
}

/* ---- Particles --------------------------------------------------------------------------------------------------- */

static pbd_status keep(const solid *body, const crowd *c, size_t points, sampling *out) {
    PBD_TRY(sampling_allocate(out, c->left));
    size_t p = 0;
    for (size_t i = 0; i < points; i++) {
        if (c->place[i] == UINT32_MAX) continue;
        for (size_t d = 0; d < 3; d++) out->position[3 * p + d] = c->x[3 * i + d];
        const double deep = -body->distance(body, c->x + 3 * i) / out->spacing;
        out->layer[p++] = deep < 1 ? 1 : deep < 2 ? 2 : 0;
    }
    return pbd_ok();
}

/* To so few digits that every machine's cube root agrees. */
static double cube_root(double x) { return (double)(float)cbrt(x); }

pbd_status sampling_fill_poisson(const solid *body, const sampling_plan *plan, sampling *out) {
    const double volume = out->solid_volume;
    const double share =
        plan->count > 0 ? (double)plan->count : round(volume / (plan->spacing * plan->spacing * plan->spacing));
    const size_t count = share >= 1 ? (size_t)share : 1, points = SURPLUS * count;
    uint64_t seed = plan->seed;
    out->volume = volume / (double)count;
    out->spacing = cube_root(out->volume);
    /* Yuksel's Eq. 3 and 5: disks of the densest packing; weights stop growing below a part of that radius. */
    const double radius = cube_root(volume / (4 * sqrt(2) * (double)count));
    const double kept = 1 / (double)SURPLUS;
    pbd_arena a PBD_ARENA;
    double *x = pbd_new(&a, double, 3 * points + 3);
    PBD_TRY(pbd_arena_check(&a));
    crowd c PBD_CLEANUP(close_crowd) = {
        .x = x, .reach = 2 * radius, .least = 2 * radius * 0.65 * (1 - kept * sqrt(kept))};
    PBD_TRY(throw_points(body, MARGIN * out->spacing, points, &seed, x));
    PBD_TRY(make_grid(body, c.reach, points, x, &c.near));
    PBD_TRY(open_crowd(&c, points));
    while (c.left > count) take_most_crowded(&c);
    return keep(body, &c, points, out);
}
