#include "cases/scenes/granular.h"

#include <math.h>
#include <stdlib.h>

#include "cases/geometry/near_pairs.h"
#include "harness/exec/arena.h"

#define REAL double
#include "methods/physics/math/svd3.h"
#include "methods/physics/space/sph_kernel.h"
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

/* ---- How evenly particles lie ------------------------------------------------------------------------------------ */

typedef struct closeness {
    const double *mass;
    double support;
    double *nearest, *density; /* by particle: square of the distance, m^2; kg/m^3 */
} closeness;

static void note_pair(void *to, size_t i, size_t j, double square) {
    closeness *c = to;
    const double w = sph_kernel_at(SPH_WENDLAND_C2, square, c->support).w;
    c->nearest[i] = fmin(c->nearest[i], square);
    c->nearest[j] = fmin(c->nearest[j], square);
    c->density[i] += c->mass[j] * w;
    c->density[j] += c->mass[i] * w;
}

static void sum_up(const closeness *c, size_t count, double spacing, evenness *out) {
    double sum = 0, squares = 0, least = INFINITY;
    for (size_t i = 0; i < count; i++) {
        const double distance = sqrt(c->nearest[i]) / spacing;
        out->density = fmax(out->density, c->density[i]);
        out->lone += !isfinite(distance);
        if (!isfinite(distance)) continue;
        sum += distance;
        squares += distance * distance;
        least = fmin(least, distance);
    }
    const double with = (double)(count - out->lone);
    out->mean = sum / with;
    out->deviation = sqrt(fmax(squares / with - out->mean * out->mean, 0));
    out->least = with > 0 ? least : NAN;
}

pbd_status granular_evenness(const pbd_scene *scene, const double *x, evenness *out) {
    const size_t n = scene->particles.count;
    pbd_arena a PBD_ARENA;
    closeness c = {.mass = scene->particles.masses,
                   .support = 2 * scene->particles.spacing,
                   .nearest = pbd_new(&a, double, n),
                   .density = pbd_new(&a, double, n)};
    *out = (evenness){0};
    PBD_TRY(pbd_arena_check(&a));
    const double self = sph_kernel_at(SPH_WENDLAND_C2, 0, c.support).w;
    for (size_t i = 0; i < n; i++) c.nearest[i] = INFINITY, c.density[i] = scene->particles.masses[i] * self;
    PBD_TRY(near_pairs_visit(x, n, c.support, note_pair, &c));
    sum_up(&c, n, scene->particles.spacing, out);
    return pbd_ok();
}

typedef struct company {
    const double *v;
    double support;
    double *sum; /* by particle: of w v, and of w */
} company;

static void add_company(void *to, size_t i, size_t j, double square) {
    const company *c = to;
    const double w = sph_kernel_at(SPH_WENDLAND_C2, square, c->support).w;
    for (size_t d = 0; d < 3; d++) {
        c->sum[4 * i + d] += w * c->v[3 * j + d];
        c->sum[4 * j + d] += w * c->v[3 * i + d];
    }
    c->sum[4 * i + 3] += w;
    c->sum[4 * j + 3] += w;
}

pbd_status granular_relative_energy(const pbd_scene *scene, const double *x, const double *v, double *out) {
    const size_t n = scene->particles.count;
    pbd_arena a PBD_ARENA;
    company c = {.v = v, .support = 2 * scene->particles.spacing, .sum = pbd_new(&a, double, 4 * n)};
    *out = 0;
    PBD_TRY(pbd_arena_check(&a));
    PBD_TRY(near_pairs_visit(x, n, c.support, add_company, &c));
    for (size_t i = 0; i < n; i++) {
        const double *sum = c.sum + 4 * i;
        for (size_t d = 0; d < 3 && sum[3] > 0; d++)
            *out += 0.5 * scene->particles.masses[i] * pow(v[3 * i + d] - sum[d] / sum[3], 2);
    }
    return pbd_ok();
}

static void add_density(void *to, size_t i, size_t j, double square) {
    closeness *c = to;
    const double w = sph_kernel_at(SPH_WENDLAND_C2, square, c->support).w;
    c->density[i] += c->mass[j] * w;
    c->density[j] += c->mass[i] * w;
}

pbd_status granular_density(const pbd_scene *scene, const double *x, double support, double *out) {
    const size_t n = scene->particles.count;
    pbd_arena a PBD_ARENA;
    closeness c = {.mass = scene->particles.masses, .support = support, .density = pbd_new(&a, double, n)};
    *out = 0;
    PBD_TRY(pbd_arena_check(&a));
    const double self = sph_kernel_at(SPH_WENDLAND_C2, 0, support).w;
    for (size_t i = 0; i < n; i++) c.density[i] = scene->particles.masses[i] * self;
    PBD_TRY(near_pairs_visit(x, n, support, add_density, &c));
    for (size_t i = 0; i < n; i++) *out = fmax(*out, c.density[i]);
    return pbd_ok();
}

/* ---- Pieces ------------------------------------------------------------------------------------------------------ */

static void join(void *to, size_t i, size_t j, double square) {
    (void)square;
    near_pairs_join(to, i, j);
}

void granular_free_pieces(pieces *p) {
    free(p->of);
    *p = (pieces){0};
}

static pbd_status count_pieces(size_t count, size_t least, pieces *out) {
    pbd_arena a PBD_ARENA;
    uint32_t *size = pbd_new(&a, uint32_t, count);
    PBD_TRY(pbd_arena_check(&a));
    for (size_t i = 0; i < count; i++) size[out->of[i] = near_pairs_root(out->of, (uint32_t)i)]++;
    for (size_t i = 0; i < count; i++) {
        out->pieces += size[i] >= least && size[i] > 0;
        out->crumbs += size[i] > 0 && size[i] < least;
        if (size[i] > out->largest) out->largest = size[i], out->main = (uint32_t)i;
    }
    return pbd_ok();
}

static pbd_status find_pieces(const double *x, size_t count, double link, size_t least, pieces *out) {
    PBD_TRY_NEW(out->of, count);
    for (size_t i = 0; i < count; i++) out->of[i] = (uint32_t)i;
    PBD_TRY(near_pairs_visit(x, count, link, join, out->of));
    return count_pieces(count, least, out);
}

pbd_status granular_pieces(const double *x, size_t count, double link, size_t least, pieces *out) {
    *out = (pieces){0};
    const pbd_status status = find_pieces(x, count, link, least, out);
    if (status.code != PBD_OK) granular_free_pieces(out);
    return status;
}

/* ---- Heaps ------------------------------------------------------------------------------------------------------- */

static double distance_of(const double *x, size_t i, heap_form form) {
    return form == HEAP_PLANE ? x[3 * i] : hypot(x[3 * i], x[3 * i + 1]);
}

typedef struct at_distance {
    double distance, mass;
} at_distance;

static int by_distance(const void *a, const void *b) {
    const double p = ((const at_distance *)a)->distance, q = ((const at_distance *)b)->distance;
    return (p > q) - (p < q);
}

/* The distance within which this share of all mass lies. */
static pbd_status reach_of_share(const pbd_scene *scene, const double *x, heap_form form, double share, double *out) {
    const size_t n = scene->particles.count;
    pbd_arena a PBD_ARENA;
    at_distance *list = pbd_new(&a, at_distance, n);
    double total = 0, sum = 0;
    PBD_TRY(pbd_arena_check(&a));
    for (size_t i = 0; i < n; i++) {
        const double distance = distance_of(x, i, form);
        list[i] = (at_distance){isfinite(distance) ? distance : INFINITY, scene->particles.masses[i]};
        total += scene->particles.masses[i];
    }
    qsort(list, n, sizeof *list, by_distance);
    size_t k = 0;
    while (k < n && (sum += list[k].mass) < share * total * (1 - 1e-12)) k++;
    *out = list[k < n ? k : n - 1].distance;
    return pbd_ok();
}

/* Squares of the plane, each as high as its highest particle; strips in the plane form. */
typedef struct surface_map {
    long columns, rows; /* along x and y */
    double width;       /* m */
    double low[2];      /* m: the corner */
    double *top;        /* columns x rows, m */
} surface_map;

static void raise_top(surface_map *map, const double *place, double spacing) {
    if (!isfinite(place[0]) || !isfinite(place[1]) || !isfinite(place[2])) return; /* where all are not finite */
    const long i = (long)floor((place[0] - map->low[0]) / map->width);
    const long j = map->rows == 1 ? 0 : (long)floor((place[1] - map->low[1]) / map->width);
    if (i < 0 || j < 0 || i >= map->columns || j >= map->rows) return;
    double *top = &map->top[j * map->columns + i];
    *top = fmax(*top, place[2] + 0.5 * spacing);
}

/* Bins: the mean over the squares whose middle is at that distance. */
static void make_outline(const surface_map *map, heap_form form, heap *out) {
    double squares[HEAP_BINS] = {0};
    for (long j = 0; j < map->rows; j++)
        for (long i = 0; i < map->columns; i++) {
            const double x = map->low[0] + ((double)i + 0.5) * map->width;
            const double y = map->low[1] + ((double)j + 0.5) * map->width;
            const size_t bin = (size_t)((form == HEAP_PLANE ? x : hypot(x, y)) / out->width);
            if (bin >= out->bins) continue;
            squares[bin]++;
            out->top[bin] += map->top[j * map->columns + i];
        }
    for (size_t k = 0; k < out->bins; k++) out->top[k] /= fmax(squares[k], 1);
}

/* Least squares over the flank: from the outermost bin with 80 % of the height to the last with 20 %. */
static void fit_slope(heap *h) {
    size_t first = 0, last;
    h->height = 0;
    h->angle = NAN;
    for (size_t k = 0; k < h->bins; k++) h->height = fmax(h->height, h->top[k]);
    for (size_t k = 0; k < h->bins; k++)
        if (h->top[k] >= 0.8 * h->height) first = k;
    last = first;
    while (last + 1 < h->bins && h->top[last + 1] >= 0.2 * h->height) last++;
    if (last < first + 2 && last + 1 < h->bins) last++; /* as steep as a cliff: its foot counts too */
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
    for (size_t i = 0; i < scene->particles.count; i++)
        if (parts->of[i] == parts->main) raise_top(&map, x + 3 * i, spacing);
    make_outline(&map, form, out);
    fit_slope(out);
    free(map.top);
    return pbd_ok();
}

pbd_status heap_measure(const pbd_scene *scene, const double *x, heap_form form, heap *out) {
    pieces parts;
    *out = (heap){0};
    PBD_TRY(reach_of_share(scene, x, form, 0.99, &out->reach_99));
    PBD_TRY(granular_pieces(x, scene->particles.count, 1.8 * scene->particles.spacing, 1, &parts));
    for (size_t i = 0; i < scene->particles.count; i++) {
        const double distance = distance_of(x, i, form);
        if (!isfinite(distance)) continue;
        out->reach_all = fmax(out->reach_all, distance + 0.5 * scene->particles.spacing);
        if (parts.of[i] == parts.main) out->reach = fmax(out->reach, distance + 0.5 * scene->particles.spacing);
    }
    const pbd_status status = outline(scene, x, form, &parts, out);
    granular_free_pieces(&parts);
    return status;
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
            at[d] = (size_t)fmin(fmax(cell, 0), most); /* NaN counts for the first */
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

/* Pieces by their size: rank[p] is that of the piece whose lowest particle is p, 0 of crumbs. */
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
    PBD_TRY(granular_pieces(x, n, 1.8 * scene->particles.spacing, least, &parts));
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

pbd_status granular_tension(const pbd_scene *scene, const pbd_method *method, const void *state, double *largest,
                            double *mean) {
    const size_t n = scene->particles.count;
    const double mu = scene->material->E / (2 * (1 + scene->material->nu));
    const double lambda = 2 * mu * scene->material->nu / (1 - 2 * scene->material->nu);
    pbd_arena a PBD_ARENA;
    double *F = pbd_new(&a, double, 9 * n);
    PBD_TRY(pbd_arena_check(&a));
    *largest = *mean = 0;
    PBD_TRY(method->read(state, PBD_DEFORMATION_GRADIENTS, F));
    for (size_t i = 0; i < n; i++) {
        const double *f = F + 9 * i;
        const svd3 parts =
            mat3_svd(mat3_make(vec3_make(f[0], f[3], f[6]), vec3_make(f[1], f[4], f[7]), vec3_make(f[2], f[5], f[8])));
        const double trace = log(parts.s.x) + log(parts.s.y) + log(fabs(parts.s.z));
        const double tension = fmax(2 * mu * log(parts.s.x) + lambda * trace, 0);
        if (!isfinite(tension)) continue;
        *largest = fmax(*largest, tension);
        *mean += tension / (double)n;
    }
    return pbd_ok();
}

/* ---- A watch ----------------------------------------------------------------------------------------------------- */

static void put(pbd_recorder *recorder, const char *name, const char *unit, double value) {
    if (isfinite(value)) pbd_series(recorder, name, "value", unit, &value, 1, 1);
}

/* Nowhere, or more than a spacing beyond a plane. */
static size_t count_lost(const pbd_scene *scene, const double *x) {
    size_t lost = 0;
    for (size_t i = 0; i < scene->particles.count; i++) {
        double lowest = INFINITY;
        for (size_t c = 0; c < scene->colliders.count; c++) {
            const pbd_collider *wall = &scene->colliders.item[c];
            double above = 0;
            if (wall->shape != PBD_PLANE || wall->end > 0) continue; /* those that move are elsewhere by now */
            for (size_t d = 0; d < 3; d++) above += (x[3 * i + d] - wall->centre[d]) * wall->axis[2][d];
            lowest = fmin(lowest, above);
        }
        const bool somewhere = isfinite(x[3 * i]) && isfinite(x[3 * i + 1]) && isfinite(x[3 * i + 2]);
        lost += !somewhere || lowest < -scene->particles.spacing;
    }
    return lost;
}

static pbd_status look_at_tension(granular_watch *w, const pbd_scene *scene, const pbd_method *method,
                                  const void *state) {
    double largest, mean;
    if (!pbd_named(scene->material->law, "hencky")) return pbd_ok();
    const pbd_status status = granular_tension(scene, method, state, &largest, &mean);
    if (status.code == PBD_NOT_SUPPORTED) return pbd_ok();
    w->tells_tension = true;
    w->tension = fmax(w->tension, largest);
    w->mean_tension = fmax(w->mean_tension, mean);
    return status;
}

/* Only at the start and in the last look or two: there are eight times as many neighbours. */
static pbd_status look_wider(granular_watch *w, const pbd_setup *setup, const double *x, double time) {
    const pbd_scene *scene = &setup->scene;
    const double support = 4 * scene->particles.spacing;
    if (!w->looked) {
        PBD_TRY(granular_density(scene, x, support, &w->wide_start));
        w->wide = w->wide_start;
        return pbd_ok();
    }
    if (!(time + 1.5 * setup->observe_every >= scene->duration)) return pbd_ok();
    return granular_density(scene, x, support, &w->wide);
}

static pbd_status look_at_relative_motion(const pbd_scene *scene, const pbd_method *method, const void *state,
                                          const double *x, pbd_recorder *recorder) {
    pbd_arena a PBD_ARENA;
    double *v = pbd_new(&a, double, 3 * scene->particles.count), energy;
    PBD_TRY(pbd_arena_check(&a));
    PBD_TRY(method->read(state, PBD_VELOCITIES, v));
    PBD_TRY(granular_relative_energy(scene, x, v, &energy));
    put(recorder, "relative_energy", "J", energy);
    return pbd_ok();
}

pbd_status granular_look(granular_watch *w, const pbd_setup *setup, const pbd_method *method, const void *state,
                         const double *x, double time, pbd_recorder *recorder) {
    const pbd_scene *scene = &setup->scene;
    double fastest;
    size_t beyond;
    PBD_TRY(granular_evenness(scene, x, &w->now));
    PBD_TRY(look_wider(w, setup, x, time));
    if (!w->looked) w->start = w->now;
    w->looked = true;
    w->densest = fmax(w->densest, w->now.density);
    w->lost = count_lost(scene, x);
    w->deepest = fmax(w->deepest, particle_deepest(scene, x, &beyond));
    particle_centre_of_mass(scene, x, w->centre);
    put(recorder, "time", "s", time);
    put(recorder, "height_of_centre", "m", w->centre[2]);
    put(recorder, "nn_mean", "1", w->now.mean);
    put(recorder, "nn_std", "1", w->now.deviation);
    put(recorder, "density_max", "1", w->now.density / w->start.density);
    put(recorder, "lost_particles", "1", (double)w->lost);
    PBD_TRY(look_at_tension(w, scene, method, state));
    const pbd_status status = particle_kinetic_energy(scene, method, state, &w->energy, &fastest);
    w->tells_velocities = status.code != PBD_NOT_SUPPORTED;
    if (!w->tells_velocities) return pbd_ok();
    w->peak = fmax(w->peak, w->energy);
    w->fastest = fmax(w->fastest, fastest);
    put(recorder, "kinetic_energy", "J", w->energy);
    PBD_TRY(status);
    return look_at_relative_motion(scene, method, state, x, recorder);
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
