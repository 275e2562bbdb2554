#include "cases/scenes/granular.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "cases/geometry/near_places.h"
#include "cases/scenes/larger.h"
#include "harness/exec/arena.h"
#include "harness/exec/team.h"

#define REAL double
#include "methods/physics/matter/tension.h"
#include "methods/physics/surface/colliders.h"

/* ---- Building ---------------------------------------------------------------------------------------------------- */

void granular_set_material(const pbd_values *values, pbd_scene *scene) {
    scene->material[0] = particle_material(values);
    flow_read(values, scene->material);
    scene->loads.gravity[2] = -pbd_real(values, "gravity");
}

pbd_status granular_set_radii(const pbd_values *values, const sampling *s, pbd_scene *scene) {
    const double given = pbd_real(values, "contact_radius"), near = s->site ? 0.5 : 0.3;
    PBD_TRY_NEW(scene->contact.radius, scene->particles.count);
    scene->contact.friction = pbd_real(values, "floor_friction");
    for (size_t i = 0; i < scene->particles.count; i++)
        scene->contact.radius[i] = given > 0 ? given : near * s->spacing;
    return pbd_ok();
}

static pbd_status fill(const pbd_values *values, const solid *body, const sampling_plan *plan, const placement *here,
                       sampling *particles, pbd_scene *scene) {
    PBD_TRY(sampling_make(body, plan, particles));
    PBD_TRY(particle_scene_make(particles, 1, here, scene));
    return granular_set_radii(values, particles, scene);
}

pbd_status granular_fill(const pbd_values *values, const solid *body, const placement *here, sampling *particles,
                         pbd_scene *scene) {
    const sampling_plan plan = particle_plan(values);
    return fill(values, body, &plan, here, particles, scene);
}

pbd_status granular_fill_vessel(const pbd_values *values, const solid *body, sampling *particles, pbd_scene *scene) {
    const placement here = placement_at(0, 0, 0);
    sampling_plan plan = particle_plan(values);
    plan.inside = true;
    return fill(values, body, &plan, &here, particles, scene);
}

void granular_find_box(const pbd_scene *scene, double low[3], double high[3]) {
    for (size_t d = 0; d < 3; d++) {
        low[d] = INFINITY;
        high[d] = -INFINITY;
        for (size_t i = 0; i < scene->particles.count; i++) {
            const double radius = scene->contact.radius[i];
            low[d] = fmin(low[d], scene->particles.positions[3 * i + d] - radius);
            high[d] = fmax(high[d], scene->particles.positions[3 * i + d] + radius);
        }
    }
}

void granular_add_walls(const double low[3], const double high[3], pbd_scene *scene) {
    for (int k = 0; k < GRANULAR_WALLS; k++) {
        double at[3] = {0, 0, 0}, inward[3] = {0, 0, 0};
        inward[k / 2] = k % 2 ? -1 : 1;
        at[k / 2] = k % 2 ? high[k / 2] : low[k / 2];
        particle_add_plane(scene, at, inward, 0);
    }
}

/* ---- Heaps ------------------------------------------------------------------------------------------------------- */

/* Over the particles of a part: the smallest and the largest distance, and the largest in the largest piece, m. */
typedef struct distance_part {
    double low, high, high_main;
} distance_part;

/* Distances of all particles, computed on several threads. */
typedef struct distances {
    const double *x;
    heap_form form;
    const pieces *parts;
    double *of;          /* particles, m; INFINITY if not finite */
    distance_part *part; /* by NEAR_PART particles */
} distances;

static void find_distances(void *context, size_t begin, size_t end) {
    const distances *d = context;
    distance_part p = {INFINITY, -INFINITY, -INFINITY};
    for (size_t i = begin; i < end; i++) {
        const double *x = d->x + 3 * i, distance = d->form == HEAP_PLANE ? x[0] : sqrt(x[0] * x[0] + x[1] * x[1]);
        d->of[i] = isfinite(distance) ? distance : INFINITY;
        if (d->of[i] == INFINITY) continue;
        p.low = distance < p.low ? distance : p.low;
        p.high = distance > p.high ? distance : p.high;
        if (d->parts->of[i] == d->parts->main && distance > p.high_main) p.high_main = distance;
    }
    d->part[begin / NEAR_PART] = p;
}

static distance_part join_distances(const distances *d, size_t n) {
    distance_part all = {INFINITY, -INFINITY, -INFINITY};
    for (size_t k = 0; k * NEAR_PART < n; k++) {
        all.low = fmin(all.low, d->part[k].low);
        all.high = fmax(all.high, d->part[k].high);
        all.high_main = fmax(all.high_main, d->part[k].high_main);
    }
    return all;
}

typedef struct at_distance {
    double distance, mass;
} at_distance;

static int by_distance(const void *a, const void *b) {
    const double p = ((const at_distance *)a)->distance, q = ((const at_distance *)b)->distance;
    return (p > q) - (p < q);
}

enum {
    SHARES = 4096, /* bins of distance; only one of them is sorted */
    BIN_PARTS = 16 /* of the particles, each with bins of its own; no result depends on the threads */
};

typedef struct share_bins {
    double mass[SHARES];
    size_t count[SHARES];
} share_bins;

/* Bins of equal width between the smallest and the largest distance; infinite distances are in the last bin. */
typedef struct binning {
    const double *distance, *mass;
    double low, per_width;
    size_t each;       /* particles of a part */
    share_bins *part;  /* BIN_PARTS */
    size_t bin;        /* the one that is listed */
    at_distance *list; /* of it */
} binning;

static size_t bin_of(const binning *b, double distance) {
    return distance == INFINITY ? SHARES - 1 : (size_t)fmin((distance - b->low) * b->per_width, SHARES - 1);
}

static void fill_bins(void *context, size_t begin, size_t end) {
    const binning *b = context;
    share_bins *bins = &b->part[begin / b->each];
    for (size_t i = begin; i < end; i++) {
        const size_t bin = bin_of(b, b->distance[i]);
        bins->mass[bin] += b->mass[i];
        bins->count[bin]++;
    }
}

static void list_bin(void *context, size_t begin, size_t end) {
    const binning *b = context;
    size_t at = 0;
    for (size_t part = 0; part < begin / b->each; part++) at += b->part[part].count[b->bin];
    for (size_t i = begin; i < end; i++)
        if (bin_of(b, b->distance[i]) == b->bin) b->list[at++] = (at_distance){b->distance[i], b->mass[i]};
}

static share_bins join_bins(const binning *b) {
    share_bins all = {0};
    for (size_t part = 0; part < BIN_PARTS; part++)
        for (size_t bin = 0; bin < SHARES; bin++) {
            all.mass[bin] += b->part[part].mass[bin];
            all.count[bin] += b->part[part].count[bin];
        }
    return all;
}

/* Finds the distance within which this share of the mass lies. Only the bin in which the running sum reaches the share
 * is sorted. */
static pbd_status reach_of_share(const distances *d, const distance_part *all, const double *mass, size_t n,
                                 double share, double *out) {
    pbd_arena a PBD_ARENA;
    binning b = {.distance = d->of,
                 .mass = mass,
                 .low = isfinite(all->low) ? all->low : 0,
                 .per_width = all->high > all->low ? (SHARES - 1) / (all->high - all->low) : 0,
                 .each = n / BIN_PARTS + 1,
                 .part = pbd_new(&a, share_bins, BIN_PARTS)};
    PBD_TRY(pbd_arena_check(&a));
    pbd_team_run(n, b.each, fill_bins, &b);
    const share_bins bins = join_bins(&b);
    double sum = 0, limit = 0;
    size_t last = 0, k = 0;
    for (size_t bin = 0; bin < SHARES; bin++) {
        limit += share * bins.mass[bin] * (1 - 1e-12);
        last = bins.count[bin] > 0 ? bin : last;
    }
    for (; b.bin < last && !(bins.count[b.bin] > 0 && sum + bins.mass[b.bin] >= limit); b.bin++)
        sum += bins.mass[b.bin];
    const size_t count = bins.count[b.bin];
    b.list = pbd_new(&a, at_distance, count + 1);
    PBD_TRY(pbd_arena_check(&a));
    pbd_team_run(n, b.each, list_bin, &b);
    qsort(b.list, count, sizeof *b.list, by_distance);
    while (k < count && (sum += b.list[k].mass) < limit) k++;
    *out = count > 0 ? b.list[k < count ? k : count - 1].distance : 0;
    return pbd_ok();
}

/* Heights over squares of the plane z = 0; over strips for HEAP_PLANE. */
typedef struct surface_map {
    long columns, rows;  /* along x and y */
    double width;        /* m */
    double low[2];       /* m: the corner with the lowest x and y */
    _Atomic double *top; /* columns x rows, m */
} surface_map;

static void raise_top(const surface_map *map, const double *place, double spacing) {
    if (!isfinite(place[0]) || !isfinite(place[1]) || !isfinite(place[2])) return;
    const long i = (long)floor((place[0] - map->low[0]) / map->width);
    const long j = map->rows == 1 ? 0 : (long)floor((place[1] - map->low[1]) / map->width);
    if (i < 0 || j < 0 || i >= map->columns || j >= map->rows) return;
    _Atomic double *top = &map->top[j * map->columns + i];
    const double height = place[2] + 0.5 * spacing;
    double now = atomic_load_explicit(top, memory_order_relaxed);
    while (now < height &&
           !atomic_compare_exchange_weak_explicit(top, &now, height, memory_order_relaxed, memory_order_relaxed))
        continue;
}

typedef struct raising {
    const surface_map *map;
    const double *x;
    const pieces *parts;
    double spacing;
} raising;

static void raise_tops(void *context, size_t begin, size_t end) {
    const raising *r = context;
    for (size_t i = begin; i < end; i++)
        if (r->parts->of[i] == r->parts->main) raise_top(r->map, r->x + 3 * i, r->spacing);
}

/* The height of a bin is the mean over the squares whose centre is in it. */
static void make_outline(const surface_map *map, heap_form form, heap *out) {
    double squares[HEAP_BINS] = {0};
    for (long j = 0; j < map->rows; j++)
        for (long i = 0; i < map->columns; i++) {
            const double x = map->low[0] + ((double)i + 0.5) * map->width;
            const double y = map->low[1] + ((double)j + 0.5) * map->width;
            const size_t bin = (size_t)((form == HEAP_PLANE ? x : hypot(x, y)) / out->width);
            if (bin >= out->bins) continue;
            squares[bin]++;
            out->top[bin] += atomic_load_explicit(&map->top[j * map->columns + i], memory_order_relaxed);
        }
    for (size_t k = 0; k < out->bins; k++) out->top[k] /= fmax(squares[k], 1);
}

/* Least squares over the flank: from the outermost bin with 80 % of the height to the last one before the height drops
 * below 20 %. */
static void fit_slope(heap *h) {
    size_t first = 0, last;
    h->height = 0;
    h->angle = NAN;
    for (size_t k = 0; k < h->bins; k++) h->height = fmax(h->height, h->top[k]);
    for (size_t k = 0; k < h->bins; k++)
        if (h->top[k] >= 0.8 * h->height) first = k;
    last = first;
    while (last + 1 < h->bins && h->top[last + 1] >= 0.2 * h->height) last++;
    if (last < first + 2 && last + 1 < h->bins) last++; /* a cliff: its foot is included */
    const double n = (double)(last - first + 1);
    if (n < 2 || !(h->height > 0)) return;
    double mean_x = 0, mean_y = 0, xx = 0, xy = 0;
    for (size_t k = first; k <= last; k++) {
        mean_x += ((double)k + 0.5) * h->width / n;
        mean_y += h->top[k] / n;
    }
    for (size_t k = first; k <= last; k++) {
        const double x = ((double)k + 0.5) * h->width - mean_x;
        xx += x * x;
        xy += x * (h->top[k] - mean_y);
    }
    h->angle = atan(-xy / xx) * 180 / 3.14159265358979323846;
}

static pbd_status outline(const pbd_scene *scene, const double *x, heap_form form, const pieces *parts, heap *out) {
    const double spacing = scene->particles.spacing, least = 1.5 * spacing;
    out->width = fmax(least, out->reach / (HEAP_BINS - 2));
    out->bins = (size_t)ceil(out->reach / out->width) + 1;
    const long half = (long)out->bins;
    surface_map map = {.columns = form == HEAP_PLANE ? half : 2 * half, .rows = form == HEAP_PLANE ? 1 : 2 * half};
    map.width = out->width;
    map.low[0] = form == HEAP_PLANE ? 0 : -(double)half * map.width;
    map.low[1] = map.low[0];
    PBD_TRY_NEW(map.top, (size_t)(map.columns * map.rows));
    pbd_team_run(scene->particles.count, NEAR_PART, raise_tops, &(raising){&map, x, parts, spacing});
    make_outline(&map, form, out);
    fit_slope(out);
    free(map.top);
    return pbd_ok();
}

static pbd_status measure_heap(const pbd_scene *scene, const double *x, heap_form form, const pieces *parts,
                               heap *out) {
    const size_t n = scene->particles.count;
    const double half = 0.5 * scene->particles.spacing;
    pbd_arena a PBD_ARENA;
    distances d = {x, form, parts, pbd_new(&a, double, n), pbd_new(&a, distance_part, n / NEAR_PART + 1)};
    PBD_TRY(pbd_arena_check(&a));
    pbd_team_run(n, NEAR_PART, find_distances, &d);
    const distance_part all = join_distances(&d, n);
    PBD_TRY(reach_of_share(&d, &all, scene->particles.masses, n, 0.99, &out->reach_99));
    out->reach_all = fmax(all.high + half, 0);
    out->reach = fmax(all.high_main + half, 0);
    return outline(scene, x, form, parts, out);
}

pbd_status heap_measure(const pbd_scene *scene, const double *x, heap_form form, const pieces *parts, heap *out) {
    pieces own PBD_CLEANUP(granular_free_pieces) = {0};
    *out = (heap){0};
    if (!parts) PBD_TRY(granular_pieces(x, scene->particles.count, GRANULAR_LINK * scene->particles.spacing, 1, &own));
    return measure_heap(scene, x, form, parts ? parts : &own, out);
}

/* ---- Where the mass is ------------------------------------------------------------------------------------------- */

void granular_record_mass(const pbd_scene *scene, const double *x, const mass_box *box, pbd_recorder *recorder) {
    double share[MASS_CELLS] = {0}, total = 0;
    const size_t count = (size_t)box->cells[0] * (size_t)box->cells[1] * (size_t)box->cells[2];
    for (size_t i = 0; i < scene->particles.count; i++) total += scene->particles.masses[i];
    for (size_t i = 0; i < scene->particles.count; i++) {
        size_t at[3];
        for (size_t d = 0; d < 3; d++) {
            const double place = (x[3 * i + d] - box->low[d]) / (box->high[d] - box->low[d]);
            const double most = (double)box->cells[d] - 1, cell = floor(place * (double)box->cells[d]);
            at[d] = (size_t)fmin(fmax(cell, 0), most); /* NaN counts for the first cell */
        }
        share[(at[2] * (size_t)box->cells[1] + at[1]) * (size_t)box->cells[0] + at[0]] +=
            scene->particles.masses[i] / total;
    }
    pbd_series(recorder, "mass_in_cells", "value", "1", share, count, 1);
}

enum { LARGEST_SLICE = 2000 };

void granular_record_slice(const pbd_scene *scene, const double *x, pbd_recorder *recorder) {
    size_t there = 0, seen = 0;
    for (size_t i = 0; i < scene->particles.count; i++) there += fabs(x[3 * i + 1]) <= 0.751 * scene->particles.spacing;
    const size_t every = there / LARGEST_SLICE + 1;
    for (size_t i = 0; i < scene->particles.count; i++) {
        if (!(fabs(x[3 * i + 1]) <= 0.751 * scene->particles.spacing) || seen++ % every != 0) continue;
        if (!isfinite(x[3 * i]) || !isfinite(x[3 * i + 2])) continue;
        pbd_series(recorder, "slice", "x", "m", x + 3 * i, 1, 1);
        pbd_series(recorder, "slice", "z", "m", x + 3 * i + 2, 1, 1);
    }
}

/* Ranks the pieces by size: rank[p] is the rank of the piece whose lowest particle is p, from 1 for the largest; crumbs
 * keep 0. */
static pbd_status rank_pieces(const pieces *parts, size_t count, size_t least, uint32_t *rank) {
    pbd_arena a PBD_ARENA;
    size_t *size = pbd_new(&a, size_t, count);
    PBD_TRY(pbd_arena_check(&a));
    for (size_t i = 0; i < count; i++) size[parts->of[i]]++;
    for (uint32_t next = 1;; next++) {
        size_t most = 0;
        for (size_t i = 0; i < count; i++)
            if (size[i] > size[most]) most = i;
        if (size[most] < least || size[most] == 0) break;
        rank[most] = next;
        size[most] = 0;
    }
    return pbd_ok();
}

pbd_status granular_record_view(const pbd_scene *scene, const double *x, const char *name, pbd_recorder *recorder) {
    const size_t n = scene->particles.count, least = n / 100 + 1, every = n / MOST_VIEWED + 1;
    pbd_arena a PBD_ARENA;
    uint32_t *rank = pbd_new(&a, uint32_t, n);
    pieces parts PBD_CLEANUP(granular_free_pieces) = {0};
    PBD_TRY(pbd_arena_check(&a));
    PBD_TRY(granular_pieces(x, n, GRANULAR_LINK * scene->particles.spacing, least, &parts));
    PBD_TRY(rank_pieces(&parts, n, least, rank));
    for (size_t i = 0; i < n; i += every) {
        static const char *const axis[] = {"x", "y", "z"};
        const double piece = rank[parts.of[i]];
        if (!isfinite(x[3 * i]) || !isfinite(x[3 * i + 1]) || !isfinite(x[3 * i + 2])) continue;
        for (size_t d = 0; d < 3; d++) pbd_series(recorder, name, axis[d], "m", x + 3 * i + d, 1, 1);
        pbd_series(recorder, name, "piece", "1", &piece, 1, 1);
    }
    return pbd_ok();
}

/* ---- Colliders --------------------------------------------------------------------------------------------------- */

double granular_depth_in(const pbd_scene *scene, size_t first, const double *x, double time) {
    double deepest = 0;
    for (size_t c = first; c < scene->colliders.count; c++) {
        const collider_pose part = collider_pose_over(&scene->colliders.item[c], time, 0);
        for (size_t i = 0; i < scene->particles.count; i++) {
            const vec3 at = vec3_make(x[3 * i], x[3 * i + 1], x[3 * i + 2]);
            deepest = fmax(deepest, -collider_gap_at(&part, at).distance);
        }
    }
    return deepest;
}

/* ---- Tension ----------------------------------------------------------------------------------------------------- */

typedef struct pulling {
    tension_of of;
    tension_sum *part; /* by TENSION_SPAN particles */
} pulling;

static void find_tension(void *context, size_t begin, size_t end) {
    const pulling *p = context;
    p->part[begin / TENSION_SPAN] = tension_over(&p->of, begin, end);
}

/* Lame's parameters, Pa. */
static void find_lame(const pbd_scene *scene, double *mu, double *lambda) {
    *mu = scene->material->E / (2 * (1 + scene->material->nu));
    *lambda = 2 * *mu * scene->material->nu / (1 - 2 * scene->material->nu);
}

pbd_status granular_tension(const pbd_scene *scene, const pbd_method *method, const void *state, double *largest,
                            double *mean) {
    const size_t n = scene->particles.count;
    pbd_arena a PBD_ARENA;
    double *F = pbd_new(&a, double, 9 * n);
    pulling p = {.of = {.F = F, .stride = 9, .column = {0, 1, 2, 3, 4, 5, 6, 7, 8}},
                 .part = pbd_new(&a, tension_sum, n / TENSION_SPAN + 1)};
    PBD_TRY(pbd_arena_check(&a));
    *largest = *mean = 0;
    find_lame(scene, &p.of.mu, &p.of.lambda);
    PBD_TRY(method->read(state, PBD_DEFORMATION_GRADIENTS, F));
    pbd_team_run(n, TENSION_SPAN, find_tension, &p);
    for (size_t k = 0; k * TENSION_SPAN < n; k++) {
        *largest = fmax(*largest, p.part[k].largest);
        *mean += p.part[k].total / (double)n;
    }
    return pbd_ok();
}

/* ---- A watch ----------------------------------------------------------------------------------------------------- */

static void put(pbd_recorder *recorder, const char *name, const char *unit, double value) {
    if (isfinite(value)) pbd_series(recorder, name, "value", unit, &value, 1, 1);
}

typedef struct losing {
    const pbd_scene *scene;
    const double *x;
    atomic_size_t lost;
} losing;

static double lowest_over_walls(const pbd_scene *scene, const double *x) {
    double lowest = INFINITY;
    for (size_t c = 0; c < scene->colliders.count; c++) {
        const pbd_collider *wall = &scene->colliders.item[c];
        double above = 0;
        if (wall->shape != PBD_PLANE || pbd_collider_moves(wall)) continue; /* these are no longer at their centre */
        for (size_t d = 0; d < 3; d++) above += (x[d] - wall->centre[d]) * wall->axis[2][d];
        lowest = fmin(lowest, above);
    }
    return lowest;
}

static void count_lost_of(void *context, size_t begin, size_t end) {
    losing *l = context;
    size_t lost = 0;
    for (size_t i = begin; i < end; i++) {
        const double *x = l->x + 3 * i;
        const bool somewhere = isfinite(x[0]) && isfinite(x[1]) && isfinite(x[2]);
        lost += !somewhere || lowest_over_walls(l->scene, x) < -l->scene->particles.spacing;
    }
    atomic_fetch_add(&l->lost, lost);
}

/* Counts the particles that are not finite, or more than a spacing beyond a plane. */
static size_t count_lost(const pbd_scene *scene, const double *x) {
    losing l = {.scene = scene, .x = x};
    pbd_team_run(scene->particles.count, NEAR_PART, count_lost_of, &l);
    return atomic_load(&l.lost);
}

/* By the method, where its state is; otherwise from what it reads back. */
static pbd_status survey(const pbd_scene *scene, const pbd_method *method, const void *state, const double *x,
                         const pbd_survey *asked, pbd_surveyed *out) {
    double *v PBD_CLEANUP(pbd_free_memory) = NULL;
    if (method->survey) {
        const pbd_status status = method->survey(state, asked, out);
        if (status.code != PBD_NOT_SUPPORTED) return status;
    }
    if (asked->motion) PBD_TRY(body_velocities(scene, method, state, &v));
    PBD_TRY(survey_places(x, v, scene->particles.count, asked, out));
    if (!(asked->mu > 0)) return pbd_ok();
    const pbd_status status = granular_tension(scene, method, state, &out->tension, &out->mean_tension);
    out->strained = status.code == PBD_OK;
    return status.code == PBD_NOT_SUPPORTED ? pbd_ok() : status;
}

static pbd_status see(const pbd_scene *scene, const pbd_method *method, const void *state, const double *x,
                      pieces *parts, pbd_surveyed *out) {
    pbd_survey asked = {.support = 2 * scene->particles.spacing,
                        .spacing = scene->particles.spacing,
                        .masses = scene->particles.masses,
                        .motion = true,
                        .link = GRANULAR_LINK * scene->particles.spacing};
    if (pbd_named(scene->material->law, "hencky")) find_lame(scene, &asked.mu, &asked.lambda);
    if (parts) PBD_TRY_NEW(parts->of, scene->particles.count);
    if (parts) asked.piece = parts->of;
    PBD_TRY(survey(scene, method, state, x, &asked, out));
    return parts ? granular_count_pieces(scene->particles.count, 1, parts) : pbd_ok();
}

static pbd_status see_density(const pbd_scene *scene, const pbd_method *method, const void *state, const double *x,
                              double support, double *out) {
    const pbd_survey asked = {
        .support = support, .spacing = scene->particles.spacing, .masses = scene->particles.masses};
    pbd_surveyed all;
    const pbd_status status = survey(scene, method, state, x, &asked, &all);
    *out = all.density;
    return status;
}

/* Only in the first and the last one or two looks, since there are eight times as many neighbours. */
static pbd_status look_wider(granular_watch *w, const pbd_setup *setup, const pbd_method *method, const void *state,
                             const double *x, double time) {
    const pbd_scene *scene = &setup->scene;
    const double support = 4 * scene->particles.spacing;
    if (!w->looked) {
        PBD_TRY(see_density(scene, method, state, x, support, &w->wide_start));
        w->wide = w->wide_start;
        return pbd_ok();
    }
    if (!(time + 1.5 * setup->observe_every >= scene->duration)) return pbd_ok();
    return see_density(scene, method, state, x, support, &w->wide);
}

pbd_status granular_look(granular_watch *w, const pbd_setup *setup, const pbd_method *method, const void *state,
                         const double *x, double time, pieces *parts, pbd_recorder *recorder) {
    const pbd_scene *scene = &setup->scene;
    particle_sums sums;
    pbd_surveyed all;
    PBD_TRY(see(scene, method, state, x, parts, &all));
    PBD_TRY(particle_sum_up(scene, x, NULL, &sums));
    PBD_TRY(look_wider(w, setup, method, state, x, time));
    w->now = evenness_of(&all, scene->particles.spacing);
    if (!w->looked) w->start = w->now;
    w->looked = true;
    w->densest = fmax(w->densest, w->now.density);
    w->lost = count_lost(scene, x);
    w->deepest = fmax(w->deepest, sums.deepest);
    memcpy(w->centre, sums.centre, sizeof w->centre);
    put(recorder, "time", "s", time);
    put(recorder, "height_of_centre", "m", w->centre[2]);
    put(recorder, "nn_mean", "1", w->now.mean);
    put(recorder, "nn_std", "1", w->now.deviation);
    put(recorder, "density_max", "1", w->now.density / w->start.density);
    put(recorder, "lost_particles", "1", (double)w->lost);
    w->tells_velocities = all.moving;
    if (all.strained) {
        w->tells_tension = true;
        w->tension = fmax(w->tension, all.tension);
        w->mean_tension = fmax(w->mean_tension, all.mean_tension);
    }
    if (!all.moving) return pbd_ok();
    w->energy = all.energy;
    w->peak = larger(w->energy, w->peak);
    w->fastest = larger(all.fastest, w->fastest);
    put(recorder, "kinetic_energy", "J", w->energy);
    put(recorder, "relative_energy", "J", all.relative);
    return pbd_ok();
}

static void tell(pbd_recorder *recorder, const char *name, const char *unit, pbd_kind kind, double value) {
    if (isfinite(value)) pbd_metric(recorder, name, unit, kind, value);
}

void granular_record(const granular_watch *w, const pbd_scene *scene, pbd_recorder *recorder) {
    if (!w->looked) return;
    tell(recorder, "nn_mean", "1", PBD_STATE, w->now.mean);
    tell(recorder, "nn_std", "1", PBD_FLAW, w->now.deviation);
    tell(recorder, "nn_least", "1", PBD_QUALITY, w->now.least);
    tell(recorder, "nn_mean_change", "1", PBD_STATE, w->now.mean / w->start.mean);
    tell(recorder, "nn_std_change", "1", PBD_STATE, w->now.deviation - w->start.deviation);
    tell(recorder, "density_max", "1", PBD_FLAW, w->now.density / w->start.density);
    tell(recorder, "most_density_max", "1", PBD_FLAW, w->densest / w->start.density);
    tell(recorder, "wide_density_max", "1", PBD_FLAW, w->wide / w->wide_start);
    tell(recorder, "lost_particles", "1", PBD_FLAW, (double)w->lost);
    if (scene->colliders.count > 0) tell(recorder, "deepest_in_walls", "m", PBD_FLAW, w->deepest);
    if (w->tells_velocities) {
        tell(recorder, "largest_speed", "m/s", PBD_STATE, w->fastest);
        if (w->peak > 0) tell(recorder, "kinetic_energy_left", "1", PBD_FLAW, w->energy / w->peak);
    }
    if (!w->tells_tension) return;
    tell(recorder, "largest_tension", "Pa", PBD_STATE, w->tension);
    tell(recorder, "mean_tension", "Pa", PBD_STATE, w->mean_tension);
}
