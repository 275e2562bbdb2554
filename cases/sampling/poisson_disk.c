/* Poisson-disk sampling: many random points, of which elimination.c keeps those that are far from each other.
 *
 * This file is compiled without fused multiply-add, so that a seed gives the same particles on every machine. */
#include <math.h>

#include "harness/exec/arena.h"
#include "harness/exec/team.h"

#include "cases/sampling/elimination.h"
#include "cases/sampling/sampling_parts.h"

enum { SURPLUS = 5 /* random points per particle */, PIECE = 1024 /* points that a thread takes at a time */ };

/* Distance that particles keep from the surface, in spacings; less in thin solids. */
static const double MARGIN = 0.3;

/* Returns number `index` of a seed's random numbers in [0, 1), by the counter-based splitmix64 (S. Vigna, public
 * domain). */
static double random_number(uint64_t seed, uint64_t index) {
    uint64_t z = seed + (index + 1) * UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (double)((z ^ (z >> 31)) >> 11) / (double)(UINT64_C(1) << 53);
}

/* ---- Random points ----------------------------------------------------------------------------------------------- */

enum { WINDOW = 100000 };

typedef struct tries {
    const solid *body;
    double depth; /* m */
    uint64_t seed, first;
    unsigned char inside[WINDOW];
} tries;

static void place_try(const tries *t, uint64_t which, double x[3]) {
    for (uint64_t d = 0; d < 3; d++)
        x[d] = t->body->low[d] + random_number(t->seed, 3 * which + d) * (t->body->high[d] - t->body->low[d]);
}

static void test_tries(void *context, size_t begin, size_t end) {
    tries *t = context;
    for (size_t i = begin; i < end; i++) {
        double x[3];
        place_try(t, t->first + i, x);
        t->inside[i] = solid_deeper(t->body, x, t->depth);
    }
}

/* Tries random points of the solid's bounding box until enough are inside and deep enough. If hardly any are, after a
 * multiple of WINDOW tries, starts again with a smaller depth. */
static pbd_status throw_points(const solid *body, double depth, size_t wanted, uint64_t seed, double *x) {
    pbd_arena a PBD_ARENA;
    tries *t = pbd_new(&a, tries, 1);
    PBD_TRY(pbd_arena_check(&a));
    *t = (tries){.body = body, .depth = depth, .seed = seed};
    size_t found = 0, tried = 0;
    while (found < wanted) {
        const size_t window = WINDOW - tried % WINDOW, likely = 2 * (wanted - found) + PIECE;
        const size_t count = likely < window ? likely : window;
        pbd_team_run(count, PIECE, test_tries, t);
        for (size_t i = 0; i < count && found < wanted; i++)
            if (t->inside[i]) place_try(t, t->first + i, x + 3 * found++);
        tried += count;
        t->first += count;
        if (tried % WINDOW != 0 || (double)found >= 1e-3 * (double)tried) continue;
        if (t->depth <= 0)
            return pbd_error(
                PBD_BAD_INPUT,
                "the body fills less than a thousandth of its box: align it with the axes, or sample it on a lattice");
        t->depth = t->depth > 1e-3 * MARGIN ? 0.5 * t->depth : 0;
        tried = found = 0;
    }
    return pbd_ok();
}

/* ---- Particles --------------------------------------------------------------------------------------------------- */

typedef struct layering {
    const solid *body;
    sampling *of;
} layering;

static void set_layers(void *context, size_t begin, size_t end) {
    const layering *l = context;
    sampling *s = l->of;
    for (size_t p = begin; p < end; p++) {
        const double *x = s->position + 3 * p;
        s->layer[p] = solid_deeper(l->body, x, 2 * s->spacing) ? 0 : solid_deeper(l->body, x, s->spacing) ? 2 : 1;
    }
}

pbd_status sampling_fill_poisson(const solid *body, const sampling_plan *plan, sampling *out) {
    const double volume = out->solid_volume;
    const double share =
        plan->count > 0 ? (double)plan->count : round(volume / (plan->spacing * plan->spacing * plan->spacing));
    const size_t count = share >= 1 ? (size_t)share : 1, points = SURPLUS * count;
    pbd_arena a PBD_ARENA;
    double *x = pbd_new(&a, double, 3 * points);
    unsigned char *kept = pbd_new(&a, unsigned char, points);
    PBD_TRY(pbd_arena_check(&a));
    out->volume = volume / (double)count;
    out->spacing = (double)(float)cbrt(out->volume); /* rounded, so that all machines' cube roots agree */
    PBD_TRY(throw_points(body, MARGIN * out->spacing, points, plan->seed, x));
    PBD_TRY(eliminate_samples(points, x, volume, count, kept));
    PBD_TRY(sampling_allocate(out, count));
    for (size_t i = 0, p = 0; i < points; i++)
        if (kept[i]) memcpy(out->position + 3 * p++, x + 3 * i, 3 * sizeof *x);
    layering l = {body, out};
    pbd_team_run(count, PIECE, set_layers, &l);
    return pbd_ok();
}
