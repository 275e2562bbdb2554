#include "cases/sampling/sampling_parts.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "harness/exec/arena.h"
#include "harness/exec/team.h"

enum { PIECE = 1024 /* sites that a thread takes at a time */ };

const char *const sampling_kinds[] = {"lattice", "poisson", NULL};

void sampling_free(sampling *s) {
    free(s->position);
    free(s->layer);
    free(s->site);
    *s = (sampling){0};
}

pbd_status sampling_allocate(sampling *out, size_t count) {
    out->count = count;
    PBD_TRY_NEW(out->position, 3 * count);
    PBD_TRY_NEW(out->layer, count);
    return pbd_ok();
}

static pbd_status too_small(const solid *body, double spacing) {
    return pbd_error(PBD_BAD_INPUT,
                     "the body, %g x %g x %g m, has no room for a single particle at spacing=%g m: set a smaller "
                     "spacing, or check its unit of length",
                     body->high[0] - body->low[0], body->high[1] - body->low[1], body->high[2] - body->low[2], spacing);
}

static pbd_status too_many(double sites, double spacing) {
    return pbd_error(PBD_BAD_INPUT, "spacing=%g m makes a lattice of %.3g sites: %d at most; set a larger spacing",
                     spacing, sites, 10 * SAMPLING_MOST);
}

/* Largest accepted ratio of the particles' volume to the solid's; it is 2 for a sheet half a spacing thick. */
static const double MOST_VOLUME = 10;

static pbd_status check_volume(const solid *body, double spacing, size_t count) {
    const double volume = (double)count * spacing * spacing * spacing;
    if (!(body->volume > 0) || volume <= MOST_VOLUME * body->volume) return pbd_ok();
    return pbd_error(PBD_BAD_INPUT,
                     "the body, %g x %g x %g m, is far thinner than spacing=%g m: its volume is %.3g m^3, that of %zu "
                     "particles %.3g m^3; set a smaller spacing, or more particles",
                     body->high[0] - body->low[0], body->high[1] - body->low[1], body->high[2] - body->low[2], spacing,
                     body->volume, count, volume);
}

/* In spacings: a site nearer to the surface counts as on it, thus not inside, so that rounding errors do not matter. */
static const double ON_SURFACE = 1e-6;

/* ---- The lattice ------------------------------------------------------------------------------------------------- */

typedef struct lattice {
    size_t n[3];
    double first[3], spacing; /* m */
    bool whole;               /* spheres of half a spacing must be inside, not only their centres */
} lattice;

static size_t lattice_sites(const lattice *l) { return l->n[0] * l->n[1] * l->n[2]; }

static void lattice_place(const lattice *l, size_t site, double x[3]) {
    const size_t k = site % l->n[2], j = site / l->n[2] % l->n[1], i = site / l->n[2] / l->n[1];
    x[0] = l->first[0] + (double)i * l->spacing;
    x[1] = l->first[1] + (double)j * l->spacing;
    x[2] = l->first[2] + (double)k * l->spacing;
}

/* Takes the number of cubes that fits each edge of the solid's bounding box best (`whole`: the most that fit into it),
 * centred in the box. The site of one more cube at either end would be outside of the box. */
static pbd_status lattice_over(const solid *body, double spacing, bool whole, lattice *out) {
    double sites = 1;
    *out = (lattice){.spacing = spacing, .whole = whole};
    for (int d = 0; d < 3; d++) {
        const double edge = (body->high[d] - body->low[d]) / spacing;
        const double cubes = fmax(whole ? floor(edge + ON_SURFACE) : round(edge), 1);
        sites *= cubes;
        if (!(sites <= 10.0 * SAMPLING_MOST)) return too_many(sites, spacing);
        out->n[d] = (size_t)cubes;
        out->first[d] = 0.5 * (body->low[d] + body->high[d]) - 0.5 * (cubes - 1) * spacing;
    }
    return pbd_ok();
}

typedef struct marking {
    const solid *body;
    const lattice *l;
    double depth; /* m */
    unsigned char *inside;
} marking;

static void mark_sites(void *context, size_t begin, size_t end) {
    const marking *m = context;
    for (size_t site = begin; site < end; site++) {
        double x[3];
        lattice_place(m->l, site, x);
        m->inside[site] = solid_deeper(m->body, x, m->depth);
    }
}

/* Marks the sites inside, and counts them. */
static size_t mark_inside(const solid *body, const lattice *l, unsigned char *inside) {
    const size_t sites = lattice_sites(l);
    const double depth = (l->whole ? 0.5 - ON_SURFACE : ON_SURFACE) * l->spacing;
    size_t count = 0;
    pbd_team_run(sites, PIECE, mark_sites, &(marking){body, l, depth, inside});
    for (size_t site = 0; site < sites; site++) count += inside[site];
    return count;
}

/* Writes the site of corner 0 .. 7 (x slowest) of the cube with this site as its lowest corner. Returns false if it is
 * outside of the lattice. */
static bool cube_corner(const lattice *l, size_t site, int corner, size_t *out) {
    const size_t at[3] = {site / l->n[2] / l->n[1] + (size_t)(corner / 4),
                          site / l->n[2] % l->n[1] + (size_t)(corner / 2 % 2), site % l->n[2] + (size_t)(corner % 2)};
    *out = (at[0] * l->n[1] + at[1]) * l->n[2] + at[2];
    return at[0] < l->n[0] && at[1] < l->n[1] && at[2] < l->n[2];
}

static bool is_cube(const lattice *l, const unsigned char *inside, size_t site) {
    size_t corner;
    for (int c = 0; c < 8; c++)
        if (!cube_corner(l, site, c, &corner) || !inside[corner]) return false;
    return true;
}

/* Keeps only the corners of whole cubes, and returns their number. */
static size_t keep_cubes(const lattice *l, unsigned char *inside) {
    const size_t sites = lattice_sites(l);
    size_t count = 0, corner;
    enum { KEPT = 2 };
    for (size_t s = 0; s < sites; s++)
        if (inside[s] && is_cube(l, inside, s))
            for (int c = 0; c < 8; c++)
                if (cube_corner(l, s, c, &corner)) inside[corner] = KEPT;
    for (size_t s = 0; s < sites; s++) {
        inside[s] = inside[s] == KEPT;
        count += inside[s];
    }
    return count;
}

/* Marks the sites that a plan asks for in *inside, which the caller frees, and counts them. */
static pbd_status lattice_fill(const solid *body, const lattice *l, bool cubes, unsigned char **inside, size_t *count) {
    PBD_TRY_NEW(*inside, lattice_sites(l));
    *count = mark_inside(body, l, *inside);
    if (cubes) *count = keep_cubes(l, *inside);
    return pbd_ok();
}

static pbd_status lattice_count(const solid *body, const lattice *l, bool cubes, size_t *count) {
    unsigned char *inside;
    const pbd_status status = lattice_fill(body, l, cubes, &inside, count);
    free(inside);
    return status;
}

/* Whether one of a site's six neighbours has this mark; sites outside of the lattice have mark 0. */
static bool beside(const lattice *l, const unsigned char *mark, size_t site, unsigned char wanted) {
    const size_t at[3] = {site / l->n[2] / l->n[1], site / l->n[2] % l->n[1], site % l->n[2]};
    const size_t step[3] = {l->n[1] * l->n[2], l->n[2], 1};
    for (int d = 0; d < 3; d++) {
        const unsigned char low = at[d] > 0 ? mark[site - step[d]] : 0;
        const unsigned char high = at[d] + 1 < l->n[d] ? mark[site + step[d]] : 0;
        if (low == wanted || high == wanted) return true;
    }
    return false;
}

enum { OUT = 0, DEEP = 1, SECOND = 2, FIRST = 3 }; /* marks of sites */

static void lattice_layers(const lattice *l, unsigned char *mark) {
    const size_t sites = lattice_sites(l);
    for (size_t s = 0; s < sites; s++)
        if (mark[s] == DEEP && beside(l, mark, s, OUT)) mark[s] = FIRST;
    for (size_t s = 0; s < sites; s++)
        if (mark[s] == DEEP && beside(l, mark, s, FIRST)) mark[s] = SECOND;
}

/* ---- An exact number of sites ------------------------------------------------------------------------------------ */

/* Returns the spacing at which the solid's bounding box holds `count` cubes. An edge shorter than half a spacing still
 * holds one, so only the other edges count then; else the search would begin at lattices of far too many sites. */
static double box_spacing(const solid *body, size_t count) {
    double edge[3], box = 1;
    for (int d = 0; d < 3; d++) {
        edge[d] = body->high[d] - body->low[d];
        box *= edge[d];
    }
    const double longest = fmax(edge[0], fmax(edge[1], edge[2])), shortest = fmin(edge[0], fmin(edge[1], edge[2]));
    const double h = cbrt(box / (double)count), flat = sqrt(box / shortest / (double)count);
    if (!(shortest < 0.5 * h)) return h;
    return box / shortest / longest < 0.5 * flat ? longest / (double)count : flat;
}

/* Bisects for the fewest sites that are at least `count`. The number of sites does not decrease monotonically with
 * increasing spacing, so the best spacing tried is kept. */
static pbd_status find_spacing(const solid *body, const sampling_plan *plan, double *spacing, size_t *sites) {
    const size_t count = plan->count;
    size_t found;
    double fine = box_spacing(body, count), coarse = fine, most;
    *sites = SIZE_MAX;
    lattice l;
    /* A solid that fills its box has enough sites almost at once; one that fills little of it needs a finer spacing. */
    for (int tries = 0; tries < 60; tries++) {
        PBD_TRY(lattice_over(body, fine, plan->inside, &l));
        PBD_TRY(lattice_count(body, &l, plan->cubes, &found));
        if (found >= count) {
            *spacing = fine;
            *sites = found;
            break;
        }
        coarse = fine;
        fine *= 0.8;
    }
    if (*sites == SIZE_MAX) return too_small(body, fine);
    if (coarse <= fine) coarse = 1.5 * fine;
    for (int tries = 0; tries < 40 && *sites != count; tries++) {
        most = 0.5 * (fine + coarse);
        PBD_TRY(lattice_over(body, most, plan->inside, &l));
        PBD_TRY(lattice_count(body, &l, plan->cubes, &found));
        if (found < count) {
            coarse = most;
            continue;
        }
        fine = most;
        if (found < *sites) {
            *spacing = most;
            *sites = found;
        }
    }
    return pbd_ok();
}

typedef struct site_depth {
    long long steps; /* distance from the surface in millionths of a spacing: coarse enough to be the same everywhere */
    size_t site;
} site_depth;

/* Nearest to the surface first; of equally near ones the last first. */
static int nearest_first(const void *a, const void *b) {
    const site_depth *x = a, *y = b;
    if (x->steps != y->steps) return x->steps < y->steps ? -1 : 1;
    return x->site > y->site ? -1 : x->site < y->site;
}

/* Leaves out the `surplus` sites nearest to the surface. They are within one spacing of it if enough sites are. */
static pbd_status drop_sites(const solid *body, const lattice *l, size_t surplus, unsigned char *mark) {
    const size_t sites = lattice_sites(l);
    pbd_arena a PBD_ARENA;
    unsigned char *deep = pbd_new(&a, unsigned char, sites);
    PBD_TRY(pbd_arena_check(&a));
    size_t candidates = 0;
    for (double depth = l->spacing; candidates < surplus; depth *= 2) { /* shallow sites, which are few */
        pbd_team_run(sites, PIECE, mark_sites, &(marking){body, l, depth, deep});
        candidates = 0;
        for (size_t s = 0; s < sites; s++) candidates += mark[s] != OUT && !deep[s];
    }
    site_depth *list = pbd_new(&a, site_depth, candidates);
    PBD_TRY(pbd_arena_check(&a));
    candidates = 0;
    for (size_t s = 0; s < sites; s++) {
        double x[3];
        if (mark[s] == OUT || deep[s]) continue;
        lattice_place(l, s, x);
        list[candidates++] = (site_depth){llround(-1e6 * body->distance(body, x) / l->spacing), s};
    }
    qsort(list, candidates, sizeof *list, nearest_first);
    for (size_t i = 0; i < surplus && i < candidates; i++) mark[list[i].site] = OUT;
    return pbd_ok();
}

/* ---- Particles of the lattice ------------------------------------------------------------------------------------ */

static pbd_status take_sites(const lattice *l, const unsigned char *mark, size_t count, sampling *out) {
    PBD_TRY(sampling_allocate(out, count));
    PBD_TRY_NEW(out->site, count);
    size_t p = 0;
    for (size_t s = 0; s < lattice_sites(l); s++) {
        if (mark[s] == OUT) continue;
        lattice_place(l, s, out->position + 3 * p);
        out->site[p][0] = (int32_t)(s / l->n[2] / l->n[1]);
        out->site[p][1] = (int32_t)(s / l->n[2] % l->n[1]);
        out->site[p][2] = (int32_t)(s % l->n[2]);
        out->layer[p++] = mark[s] == FIRST ? 1 : mark[s] == SECOND ? 2 : 0;
    }
    return pbd_ok();
}

static pbd_status fill_lattice(const solid *body, const sampling_plan *plan, sampling *out) {
    lattice l;
    double spacing = plan->spacing;
    size_t sites = 0;
    unsigned char *mark PBD_CLEANUP(pbd_free_memory) = NULL;
    if (plan->count > 0) PBD_TRY(find_spacing(body, plan, &spacing, &sites));
    PBD_TRY(lattice_over(body, spacing, plan->inside, &l));
    PBD_TRY(lattice_fill(body, &l, plan->cubes, &mark, &sites));
    if (sites == 0) return too_small(body, spacing);
    const size_t count = plan->count > 0 ? plan->count : sites;
    PBD_TRY(check_volume(body, spacing, count));
    if (sites > count) PBD_TRY(drop_sites(body, &l, sites - count, mark));
    lattice_layers(&l, mark);
    out->spacing = spacing;
    out->volume = spacing * spacing * spacing;
    out->dropped = sites - count;
    return take_sites(&l, mark, count, out);
}

/* ---- The volume of a solid that has no formula ------------------------------------------------------------------- */

enum { FINE = 128 }; /* cubes along the longest edge */

/* Counts small cubes. The relative error is about (cube size / body size)^(3/2). */
static pbd_status measure_volume(const solid *body, double *out) {
    double edge = 0;
    lattice l;
    for (int d = 0; d < 3; d++) edge = fmax(edge, body->high[d] - body->low[d]);
    size_t cubes;
    PBD_TRY(lattice_over(body, edge / FINE, false, &l));
    PBD_TRY(lattice_count(body, &l, false, &cubes));
    *out = (double)cubes * l.spacing * l.spacing * l.spacing;
    return pbd_ok();
}

static pbd_status fill_body(const solid *body, const sampling_plan *plan, sampling *out) {
    if (plan->count > SAMPLING_MOST)
        return pbd_error(PBD_BAD_INPUT, "%zu particles in a body: %d at most", plan->count, SAMPLING_MOST);
    double volume = body->volume;
    if (!(volume > 0) && plan->kind != SAMPLING_LATTICE) PBD_TRY(measure_volume(body, &volume));
    const double cube = plan->spacing * plan->spacing * plan->spacing;
    if (plan->count == 0 && volume > 0) {
        if (!(volume / cube <= SAMPLING_MOST)) return too_many(volume / cube, plan->spacing);
        if (!(volume >= 0.5 * cube)) return too_small(body, plan->spacing);
    }
    out->solid_volume = volume;
    return plan->kind == SAMPLING_LATTICE ? fill_lattice(body, plan, out) : sampling_fill_poisson(body, plan, out);
}

pbd_status sampling_make(const solid *body, const sampling_plan *plan, sampling *out) {
    *out = (sampling){0};
    const pbd_status status = fill_body(body, plan, out);
    if (status.code != PBD_OK) sampling_free(out);
    return status;
}
