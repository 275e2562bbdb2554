#include "cases/scenes/neighbours.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "cases/geometry/near_pairs.h"
#include "cases/geometry/near_places.h"
#include "harness/exec/arena.h"
#include "harness/exec/team.h"

#define REAL double
#include "harness/exec/batch.h"
#include "methods/physics/space/sph_kernel.h"

/* ---- How evenly particles lie ------------------------------------------------------------------------------------ */

/* The sums and extremes over one part of the places (NEAR_PART), from one pass over all neighbours. */
typedef struct sight_part {
    double sum, squares, least; /* of distances of nearest neighbours, m, m^2, m */
    double density;             /* kg/m^3, the largest */
    double relative;            /* J */
    size_t lone;
} sight_part;

/* What a particle contributes to its neighbours' sums: velocity, m/s, and mass, kg. */
typedef struct grain {
    double of[4];
} grain;

typedef struct sight {
    const near_places *at;
    const pbd_scene *scene;
    const double *v; /* particles x 3, m/s; NULL: no relative motion */
    double support, sigma, self;
    double link;              /* m^2: square of the link distance; 0: pieces are not needed */
    grain *grain;             /* by place */
    _Atomic uint32_t *parent; /* by place: union-find of the pieces */
    sight_part *part;
} sight;

static void fill_grains(void *context, size_t begin, size_t end) {
    sight *s = context;
    for (size_t place = begin; place < end; place++) {
        const size_t i = s->at->particle[place];
        s->grain[place].of[3] = s->scene->particles.masses[i];
        for (size_t d = 0; d < 3 && s->v; d++) s->grain[place].of[d] = s->v[3 * i + d];
    }
}

/* Sums over the neighbours: mean, of w v and w m; weight, of w. nearest: m^2, the smallest squared distance. */
typedef double four __attribute__((vector_size(32), aligned(8)));
typedef struct company {
    four mean;
    double weight, nearest;
} company;

enum { CHUNK = 8 * NEAR_LANES }; /* neighbours at a time */

/* The kernel at `count` neighbours, as sph_kernel_scaled; 0 for the padding of the list, which is at infinity. Returns
 * the smaller of `nearest` and their squared distances, by lane. */
static vreal weigh(const sight *s, const double *square, size_t count, vreal nearest, double *w) {
    const double per_square = 1 / (s->support * s->support);
    for (size_t k = 0; k < count; k += PBD_BATCH) {
        const vreal here = batch_load(square + k, 0, PBD_BATCH), one = vreal_set(1);
        const vreal q = vreal_min(vreal_sqrt(here * per_square), one), left = 1 - q;
        batch_store(w + k, 0, PBD_BATCH, s->sigma * left * left * left * left * (1 + 4 * q));
        nearest = vreal_min(nearest, here);
    }
    return nearest;
}

static company company_of(const sight *s, const near_list *others) {
    const size_t all = (others->count + NEAR_LANES - 1) / NEAR_LANES * NEAR_LANES;
    four mean[2] = {{0}, {0}}; /* two independent chains of additions */
    double w[CHUNK], least[PBD_BATCH], weight[2] = {0}, nearest = INFINITY;
    vreal lanes = vreal_set(INFINITY);
    for (size_t first = 0; first < all; first += CHUNK) {
        const size_t count = all - first < CHUNK ? all - first : CHUNK;
        lanes = weigh(s, others->square + first, count, lanes, w);
        for (size_t k = 0; k < count; k += 2) {
            four own, next;
            memcpy(&own, s->grain[others->place[first + k]].of, sizeof own);
            memcpy(&next, s->grain[others->place[first + k + 1]].of, sizeof next);
            mean[0] += w[k] * own;
            mean[1] += w[k + 1] * next;
            weight[0] += w[k];
            weight[1] += w[k + 1];
        }
    }
    batch_store(least, 0, PBD_BATCH, lanes);
    for (size_t l = 0; l < PBD_BATCH; l++) nearest = least[l] < nearest ? least[l] : nearest;
    return (company){mean[0] + mean[1], weight[0] + weight[1], nearest};
}

static void add_nearest(const near_list *others, double nearest, sight_part *part) {
    part->lone += others->count == 0;
    if (others->count == 0) return;
    part->sum += sqrt(nearest);
    part->squares += nearest;
    part->least = fmin(part->least, sqrt(nearest));
}

/* Joins a place with its neighbours at lower ones, which come first. Most have its parent already. */
static void join_near(void *to, size_t place, const near_list *others) {
    const sight *s = to;
    uint32_t own = atomic_load_explicit(&s->parent[place], memory_order_relaxed);
    for (size_t first = 0; first < others->count && others->place[first] < place; first += PBD_BATCH) {
        const vreal square = batch_load(others->square + first, 0, PBD_BATCH);
        for (uint32_t bits = batch_bits((vmask)(square < s->link)); bits; bits &= bits - 1) {
            const uint32_t other = others->place[first + (size_t)__builtin_ctz(bits)];
            if (other > place) return;
            if (atomic_load_explicit(&s->parent[other], memory_order_relaxed) == own) continue;
            near_pairs_join_at_once(s->parent, (uint32_t)place, other);
            own = atomic_load_explicit(&s->parent[place], memory_order_relaxed);
        }
    }
}

static void see_particle(void *to, size_t place, const near_list *others) {
    sight *s = to;
    const double *own = s->grain[place].of;
    sight_part *part = &s->part[place / NEAR_PART];
    const company near = company_of(s, others);
    add_nearest(others, near.nearest, part);
    part->density = fmax(part->density, own[3] * s->self + near.mean[3]);
    for (size_t d = 0; d < 3 && s->v && near.weight > 0; d++) {
        const double off = own[d] - near.mean[d] / near.weight;
        part->relative += 0.5 * own[3] * off * off;
    }
    if (s->link > 0) join_near(s, place, others);
}

static void sum_up(const sight *s, evenness *out, double *relative) {
    const near_places *at = s->at;
    double sum = 0, squares = 0, least = INFINITY;
    *out = (evenness){.lone = at->particles - at->count};
    *relative = 0;
    for (size_t k = 0; k * NEAR_PART < at->count; k++) {
        const sight_part *part = &s->part[k];
        sum += part->sum;
        squares += part->squares;
        least = fmin(least, part->least);
        out->density = fmax(out->density, part->density);
        out->lone += part->lone;
        *relative += part->relative;
    }
    for (size_t k = at->count; k < at->particles; k++)
        out->density = fmax(out->density, s->self * s->scene->particles.masses[at->particle[k]]);
    const double spacing = s->scene->particles.spacing, with = (double)(at->particles - out->lone);
    out->mean = sum / spacing / with;
    out->deviation = with > 0 ? sqrt(fmax(squares / (spacing * spacing) / with - out->mean * out->mean, 0)) : NAN;
    out->least = with > 0 ? least / spacing : NAN;
}

/* ---- Pieces ------------------------------------------------------------------------------------------------------ */

void granular_free_pieces(pieces *p) {
    free(p->of);
    *p = (pieces){0};
}

static pbd_status count_pieces(size_t count, size_t least, pieces *out) {
    pbd_arena a PBD_ARENA;
    uint32_t *size = pbd_new(&a, uint32_t, count);
    PBD_TRY(pbd_arena_check(&a));
    for (size_t i = 0; i < count; i++) size[out->of[i]]++;
    for (size_t i = 0; i < count; i++) {
        out->pieces += size[i] >= least && size[i] > 0;
        out->crumbs += size[i] > 0 && size[i] < least;
        if (size[i] > out->largest) out->largest = size[i], out->main = (uint32_t)i;
    }
    return pbd_ok();
}

/* Converts union-find roots, which are places, to the lowest particle of each piece. */
static pbd_status name_pieces(const sight *s, size_t least, pieces *out) {
    const near_places *at = s->at;
    pbd_arena a PBD_ARENA;
    uint32_t *lowest = pbd_new(&a, uint32_t, at->count + 1);
    PBD_TRY(pbd_arena_check(&a));
    PBD_TRY_NEW(out->of, at->particles);
    for (size_t k = 0; k < at->count; k++) lowest[k] = UINT32_MAX;
    for (size_t k = 0; k < at->count; k++) {
        uint32_t *to = &lowest[near_pairs_root_at_once(s->parent, (uint32_t)k)];
        *to = at->particle[k] < *to ? at->particle[k] : *to;
    }
    for (size_t k = 0; k < at->count; k++)
        out->of[at->particle[k]] = lowest[near_pairs_root_at_once(s->parent, (uint32_t)k)];
    for (size_t k = at->count; k < at->particles; k++) out->of[at->particle[k]] = at->particle[k];
    return count_pieces(at->particles, least, out);
}

static pbd_status start_pieces(sight *s, pbd_arena *a, double link) {
    s->parent = pbd_new(a, _Atomic uint32_t, s->at->count + 1);
    PBD_TRY(pbd_arena_check(a));
    for (size_t k = 0; k < s->at->count; k++) atomic_init(&s->parent[k], (uint32_t)k);
    s->link = link * link;
    return pbd_ok();
}

static pbd_status find_pieces(const double *x, size_t count, double link, size_t least, pieces *out) {
    pbd_arena a PBD_ARENA;
    near_places at PBD_CLEANUP(near_places_free) = {0};
    sight s = {.at = &at};
    PBD_TRY(near_places_make(x, count, link, &at));
    PBD_TRY(start_pieces(&s, &a, link));
    PBD_TRY(near_places_visit(&at, link, join_near, &s));
    return name_pieces(&s, least, out);
}

pbd_status granular_pieces(const double *x, size_t count, double link, size_t least, pieces *out) {
    *out = (pieces){0};
    const pbd_status status = find_pieces(x, count, link, least, out);
    if (status.code != PBD_OK) granular_free_pieces(out);
    return status;
}

/* ---- All of it by one search ------------------------------------------------------------------------------------- */

pbd_status neighbours_see(const pbd_scene *scene, const double *x, const double *v, double support, pieces *parts,
                          neighbours_seen *out) {
    const size_t n = scene->particles.count;
    pbd_arena a PBD_ARENA;
    near_places at PBD_CLEANUP(near_places_free) = {0};
    sight s = {.at = &at,
               .scene = scene,
               .v = v,
               .support = support,
               .sigma = sph_kernel_factor(SPH_WENDLAND_C2, 3, support),
               .self = sph_kernel_at(SPH_WENDLAND_C2, 0, support).w,
               .grain = pbd_new(&a, grain, n + 1),
               .part = pbd_new(&a, sight_part, n / NEAR_PART + 1)};
    *out = (neighbours_seen){0};
    PBD_TRY(pbd_arena_check(&a));
    PBD_TRY(near_places_make(x, n, support, &at));
    for (size_t k = 0; k * NEAR_PART < n; k++) s.part[k].least = INFINITY;
    pbd_team_run(at.count, NEAR_PART, fill_grains, &s);
    if (parts) PBD_TRY(start_pieces(&s, &a, GRANULAR_LINK * scene->particles.spacing));
    PBD_TRY(near_places_visit(&at, support, see_particle, &s));
    sum_up(&s, &out->even, &out->relative);
    return parts ? name_pieces(&s, 1, parts) : pbd_ok();
}

pbd_status granular_evenness(const pbd_scene *scene, const double *x, evenness *out) {
    neighbours_seen all;
    const pbd_status status = neighbours_see(scene, x, NULL, 2 * scene->particles.spacing, NULL, &all);
    *out = all.even;
    return status;
}

pbd_status granular_relative_energy(const pbd_scene *scene, const double *x, const double *v, double *out) {
    neighbours_seen all;
    const pbd_status status = neighbours_see(scene, x, v, 2 * scene->particles.spacing, NULL, &all);
    *out = all.relative;
    return status;
}

pbd_status granular_density(const pbd_scene *scene, const double *x, double support, double *out) {
    neighbours_seen all;
    const pbd_status status = neighbours_see(scene, x, NULL, support, NULL, &all);
    *out = all.even.density;
    return status;
}
