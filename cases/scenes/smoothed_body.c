#include "cases/scenes/smoothed_body.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/exec/arena.h"

#define REAL double
#include "methods/physics/space/sph_kernel.h"

const char *const smoothed_dimensions[] = {"2", "3", NULL};
const char *const smoothed_kernels[] = {"spiky", "cubic_spline", NULL};
const char *const smoothed_none[] = {"none", NULL};
static const sph_kernel kernels[] = {SPH_SPIKY, SPH_CUBIC_SPLINE};

/* ---- Building ---------------------------------------------------------------------------------------------------- */

typedef struct site {
    double square; /* of the distance from the middle */
    int at[3];
} site;

static int nearer(const void *a, const void *b) {
    const site *s = a, *t = b;
    if (s->square != t->square) return s->square < t->square ? -1 : 1;
    return memcmp(s->at, t->at, sizeof s->at);
}

/* The sites nearest to the origin, in order of distance. */
static pbd_status ball_sites(size_t particles, int dimensions, double (*out)[3]) {
    const int reach = 2 + (int)(dimensions == 2 ? sqrt((double)particles / 3) : cbrt((double)particles / 4)) + 1;
    const int deep = dimensions == 2 ? 0 : reach, side = 2 * reach + 1;
    pbd_arena a PBD_ARENA;
    site *sites = pbd_new(&a, site, (size_t)side * (size_t)side * (size_t)(2 * deep + 1));
    size_t count = 0;
    PBD_TRY(pbd_arena_check(&a));
    for (int z = -deep; z <= deep; z++)
        for (int y = -reach; y <= reach; y++)
            for (int x = -reach; x <= reach; x++) sites[count++] = (site){x * x + y * y + z * z, {x, y, z}};
    qsort(sites, count, sizeof *sites, nearer);
    for (size_t i = 0; i < particles; i++)
        for (int d = 0; d < 3; d++) out[i][d] = sites[i].at[d];
    return pbd_ok();
}

static void block_sites(size_t particles, size_t columns, int dimensions, double (*out)[3]) {
    const size_t deep = dimensions == 2 ? 1 : columns;
    const double middle = 0.5 * (double)(columns - 1), behind = 0.5 * (double)(deep - 1);
    for (size_t i = 0; i < particles; i++) {
        out[i][0] = (double)(i % columns) - middle;
        out[i][1] = (double)(i / columns / deep);
        out[i][2] = (double)(i / columns % deep) - behind;
    }
}

static void place_lump(const pbd_values *values, const smoothed_lump *lump, size_t from, const double (*sites)[3],
                       uint64_t *seed, pbd_scene *scene) {
    const int dimensions = pbd_choice(values, "dimensions") + 2;
    const double jitter = pbd_real(values, "jitter");
    const double spacing = scene->particles.spacing * (lump->squeeze > 0 ? lump->squeeze : 1);
    for (size_t i = 0; i < lump->particles; i++) {
        const size_t p = from + i;
        for (size_t d = 0; d < 3; d++) {
            const double moved = (int)d < dimensions && jitter > 0 ? jitter * body_noise(seed) : 0;
            scene->particles.positions[3 * p + d] = lump->at[d] + spacing * (sites[i][d] + moved);
            scene->particles.velocities[3 * p + d] = lump->velocity[d];
        }
        scene->particles.masses[p] = pbd_real(values, "density") * pow(scene->particles.spacing, dimensions);
    }
}

static double extent_of(const pbd_scene *scene) {
    double most = 0;
    for (size_t d = 0; d < 3; d++) {
        double low = INFINITY, high = -INFINITY;
        for (size_t p = 0; p < scene->particles.count; p++) {
            low = fmin(low, scene->particles.positions[3 * p + d]);
            high = fmax(high, scene->particles.positions[3 * p + d]);
        }
        most = fmax(most, high - low);
    }
    return most;
}

pbd_status smoothed_make(const pbd_values *values, const smoothed_lump *lump, size_t lumps, pbd_scene *scene) {
    const int dimensions = pbd_choice(values, "dimensions") + 2;
    size_t n = 0;
    uint64_t seed = 1;
    for (size_t l = 0; l < lumps; l++) n += lump[l].particles;
    scene->particles.count = n;
    scene->particles.spacing = pbd_real(values, "spacing");
    PBD_TRY_NEW(scene->particles.positions, 3 * n);
    PBD_TRY_NEW(scene->particles.velocities, 3 * n);
    PBD_TRY_NEW(scene->particles.masses, n);
    PBD_TRY_NEW(scene->loads.forces, 3 * n);
    pbd_arena a PBD_ARENA;
    double(*sites)[3] = pbd_arena_take(&a, n, sizeof *sites);
    PBD_TRY(pbd_arena_check(&a));
    for (size_t l = 0, from = 0; l < lumps; from += lump[l].particles, l++) {
        if (lump[l].shape == SMOOTHED_BALL)
            PBD_TRY(ball_sites(lump[l].particles, dimensions, sites));
        else
            block_sites(lump[l].particles, lump[l].columns, dimensions, sites);
        place_lump(values, &lump[l], from, (const double(*)[3])sites, &seed, scene);
    }
    scene->material->density = pbd_real(values, "density");
    scene->extent = fmax(extent_of(scene), scene->particles.spacing);
    return pbd_ok();
}

/* ---- Measuring --------------------------------------------------------------------------------------------------- */

static double level_of(int k) { return 0.25 * (k + 1); }

smoothed_watch smoothed_watch_start(const pbd_values *values, const pbd_scene *scene, double from) {
    smoothed_watch w = {.matter = {.dimensions = pbd_choice(values, "dimensions") + 2,
                                   .kernel = kernels[pbd_choice(values, "kernel")],
                                   .h = pbd_real(values, "h") * scene->particles.spacing,
                                   .particles = scene->particles.count,
                                   .mass = scene->particles.masses},
                        .mass = scene->particles.masses[0],
                        .from = from};
    snprintf(w.files, sizeof w.files, "%s", pbd_text(values, "surface_files"));
    w.cell = w.matter.h / (w.matter.dimensions == 2 ? 12 : 3);
    for (int f = 0; f < SMOOTHED_FRAMES; f++) w.frame_at[f] = scene->duration * f / (SMOOTHED_FRAMES - 1);
    return w;
}

static void note(pbd_recorder *recorder, const char *series, const char *unit, double value) {
    pbd_series(recorder, series, "value", unit, &value, 1, 1);
}

static pbd_status look_at_surfaces(smoothed_watch *w, const density_grid *g, double time, pbd_recorder *recorder) {
    const bool plane = w->matter.dimensions == 2;
    for (int k = 0; k < SMOOTHED_LEVELS; k++) {
        char volume[40], area[40];
        density_surface s;
        PBD_TRY(density_surface_make(g, level_of(k) * density_unit(&w->matter, w->mass), &s));
        snprintf(volume, sizeof volume, "volume_at_%g", level_of(k));
        snprintf(area, sizeof area, "area_at_%g", level_of(k));
        note(recorder, volume, plane ? "m^2" : "m^3", s.volume);
        note(recorder, area, plane ? "m" : "m^2", s.area);
        if (level_of(k) == 2) note(recorder, "surface_pieces", "1", (double)s.pieces);
        if (time >= w->from && w->first[k] == 0) w->first[k] = s.volume;
        if (w->first[k] > 0) w->change[k] = fmax(w->change[k], fabs(s.volume / w->first[k] - 1));
        density_surface_free(&s);
    }
    return pbd_ok();
}

/* Records the density for a picture: at every third node where it is above 0. */
static void draw_field(const density_grid *g, double frame, pbd_recorder *recorder) {
    for (size_t b = 0; b < g->nodes[1]; b += 3)
        for (size_t a = 0; a < g->nodes[0]; a += 3) {
            const double row[4] = {g->origin[0] + g->cell * (double)a, g->origin[1] + g->cell * (double)b,
                                   g->value[a + g->nodes[0] * b], frame};
            if (!(row[2] > 0)) continue;
            static const char *const component[] = {"x", "y", "density", "frame"}, *const unit[] = {"m", "m", "kg/m^2",
                                                                                                    "1"};
            for (int c = 0; c < 4; c++) pbd_series(recorder, "field", component[c], unit[c], &row[c], 1, 1);
        }
}

static void draw_contour(const density_surface *s, double frame, pbd_recorder *recorder) {
    static const char *const component[] = {"x", "y", "dx", "dy", "frame"}, *const unit[] = {"m", "m", "m", "m", "1"};
    for (size_t f = 0; f < s->faces && s->corners == 2; f++) {
        const double *a = s->vertex + 3 * s->face[2 * f], *b = s->vertex + 3 * s->face[2 * f + 1];
        const double row[5] = {a[0], a[1], b[0] - a[0], b[1] - a[1], frame};
        for (int c = 0; c < 5; c++) pbd_series(recorder, "contour", component[c], unit[c], &row[c], 1, 1);
    }
}

/* Records the surface at 2 m W_h(h) in the run and, if requested, writes it to a file. */
static pbd_status draw_surface(const smoothed_watch *w, const density_grid *g, double frame, pbd_recorder *recorder) {
    char path[300];
    density_surface s;
    PBD_TRY(density_surface_make(g, 2 * density_unit(&w->matter, w->mass), &s));
    draw_contour(&s, frame, recorder);
    snprintf(path, sizeof path, "%s_%03d.ply", w->files, (int)frame);
    const pbd_status status = strcmp(w->files, "none") == 0 ? pbd_ok() : density_surface_write(&s, path);
    density_surface_free(&s);
    return status;
}

/* The density of Eq. 3 at every particle. */
static void densities_of(const smoothed_matter *m, const near_pairs *pairs, double *out) {
    const double support = 2 * m->h;
    for (size_t i = 0; i < m->particles; i++)
        out[i] = m->mass[i] * sph_kernel_in((sph_kernel)m->kernel, m->dimensions, 0, support).w;
    for (size_t p = 0; p < pairs->count; p++) {
        const uint32_t i = pairs->pair[2 * p], j = pairs->pair[2 * p + 1];
        const double w =
            sph_kernel_in((sph_kernel)m->kernel, m->dimensions, pairs->distance[p] * pairs->distance[p], support).w;
        out[i] += m->mass[j] * w;
        out[j] += m->mass[i] * w;
    }
}

static pbd_status draw_particles(const smoothed_matter *m, const near_pairs *pairs, double frame,
                                 pbd_recorder *recorder) {
    static const char *const axis[] = {"x", "y", "z"};
    pbd_arena a PBD_ARENA;
    double *density = pbd_new(&a, double, m->particles), *number = pbd_new(&a, double, m->particles);
    PBD_TRY(pbd_arena_check(&a));
    densities_of(m, pairs, density);
    for (size_t i = 0; i < m->particles; i++) number[i] = frame;
    for (int d = 0; d < 3; d++) pbd_series(recorder, "particle", axis[d], "m", m->x + d, m->particles, 3);
    pbd_series(recorder, "particle", "density", m->dimensions == 2 ? "kg/m^2" : "kg/m^3", density, m->particles, 1);
    pbd_series(recorder, "particle", "frame", "1", number, m->particles, 1);
    return pbd_ok();
}

/* Sum of m/rho: the volume that Eq. 3 gives the body. */
static pbd_status note_volume(const smoothed_matter *m, const near_pairs *pairs, pbd_recorder *recorder) {
    pbd_arena a PBD_ARENA;
    double *density = pbd_new(&a, double, m->particles), volume = 0;
    PBD_TRY(pbd_arena_check(&a));
    densities_of(m, pairs, density);
    for (size_t i = 0; i < m->particles; i++) volume += m->mass[i] / density[i];
    note(recorder, "volume", m->dimensions == 2 ? "m^2" : "m^3", volume);
    return pbd_ok();
}

static pbd_status count_pieces(smoothed_watch *w, const near_pairs *pairs) {
    const size_t n = w->matter.particles;
    pbd_arena a PBD_ARENA;
    uint32_t *piece = pbd_new(&a, uint32_t, n);
    size_t *size = pbd_new(&a, size_t, n), largest = 0;
    w->second = 0;
    PBD_TRY(pbd_arena_check(&a));
    w->pieces = near_pairs_pieces(pairs, n, piece, size);
    if (w->pieces > w->most_pieces) w->most_pieces = w->pieces;
    for (size_t k = 0; k < w->pieces; k++) {
        if (size[k] > largest) {
            w->second = largest;
            largest = size[k];
        } else if (size[k] > w->second)
            w->second = size[k];
    }
    return pbd_ok();
}

static pbd_status look_at(smoothed_watch *w, double time, const near_pairs *pairs, const density_grid *g,
                          pbd_recorder *recorder) {
    PBD_TRY(count_pieces(w, pairs));
    note(recorder, "time", "s", time);
    note(recorder, "pieces", "1", (double)w->pieces);
    note(recorder, "second_piece", "1", (double)w->second);
    PBD_TRY(note_volume(&w->matter, pairs, recorder));
    PBD_TRY(look_at_surfaces(w, g, time, recorder));
    if (w->frames == SMOOTHED_FRAMES || time < w->frame_at[w->frames] * (1 - 1e-9)) return pbd_ok();
    const double frame = w->frames++;
    note(recorder, "frame_time", "s", time);
    PBD_TRY(draw_particles(&w->matter, pairs, frame, recorder));
    if (w->matter.dimensions == 2) draw_field(g, frame, recorder);
    return draw_surface(w, g, frame, recorder);
}

pbd_status smoothed_watch_look(smoothed_watch *w, const pbd_scene *scene, const pbd_method *method, const void *state,
                               double time, pbd_recorder *recorder) {
    double *x PBD_CLEANUP(pbd_free_memory) = NULL;
    near_pairs pairs = {0};
    density_grid grid = {0};
    if (scene->particles.count > SMOOTHED_SEEN) return pbd_ok();
    PBD_TRY(body_positions(scene, method, state, &x));
    w->matter.x = x;
    pbd_status status = near_pairs_find(x, scene->particles.count, 2 * w->matter.h, &pairs);
    if (status.code == PBD_OK) status = density_grid_make(&w->matter, w->cell, &grid);
    if (status.code == PBD_OK)
        status = look_at(w, time, &pairs, &grid, recorder);
    else if (status.code == PBD_BAD_INPUT) { /* pieces that fly far apart have no surface to draw; the run goes on */
        pbd_warning(recorder, "no_surface", "at %g s: %s", time, status.text);
        status = pbd_ok();
    }
    near_pairs_free(&pairs);
    density_grid_free(&grid);
    w->matter.x = NULL;
    return status;
}

/* ---- The force --------------------------------------------------------------------------------------------------- */

/* Returns sum m (ln(rho/rho0) + rho0/rho - 1): the energy of pressure and cohesion, divided by k (D-7). */
static double energy_at(const smoothed_matter *m, double rest_density) {
    double energy = 0;
    for (size_t i = 0; i < m->particles; i++) {
        double density = 0;
        for (size_t j = 0; j < m->particles; j++) {
            double square = 0;
            for (size_t d = 0; d < 3; d++) square += pow(m->x[3 * i + d] - m->x[3 * j + d], 2);
            density += m->mass[j] * sph_kernel_in((sph_kernel)m->kernel, m->dimensions, square, 2 * m->h).w;
        }
        energy += m->mass[i] * (log(density / rest_density) + rest_density / density - 1);
    }
    return energy;
}

pbd_status smoothed_direction_error(const smoothed_watch *w, const pbd_scene *scene, double rest_density,
                                    const double *velocity, double *out) {
    const size_t n = scene->particles.count;
    const double step = 1e-5 * w->matter.h;
    smoothed_matter m = w->matter;
    pbd_arena a PBD_ARENA;
    double *x = pbd_new(&a, double, 3 * n), *descent = pbd_new(&a, double, 3 * n), own = 0, theirs = 0, off = 0;
    PBD_TRY(pbd_arena_check(&a));
    memcpy(x, scene->particles.positions, 3 * n * sizeof *x);
    m.x = x;
    for (size_t k = 0; k < 3 * n; k++) {
        if (k % 3 >= (size_t)m.dimensions) continue;
        const double here = x[k];
        x[k] = here + step;
        const double above = energy_at(&m, rest_density);
        x[k] = here - step;
        descent[k] = (energy_at(&m, rest_density) - above) / (2 * step);
        x[k] = here;
        own += descent[k] * descent[k];
        theirs += pow(m.mass[k / 3] * velocity[k], 2);
    }
    for (size_t k = 0; k < 3 * n; k++)
        off += pow(m.mass[k / 3] * velocity[k] / sqrt(theirs) - descent[k] / sqrt(own), 2);
    *out = sqrt(off);
    return pbd_ok();
}

/* ---- At the end -------------------------------------------------------------------------------------------------- */

static int ascending(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

pbd_status smoothed_record_spread(const smoothed_matter *m, double spacing, pbd_recorder *recorder) {
    const size_t n = m->particles;
    pbd_arena a PBD_ARENA;
    double *nearest = pbd_new(&a, double, n), mean = 0, deviation = 0;
    near_pairs pairs PBD_CLEANUP(near_pairs_free) = {0};
    PBD_TRY(pbd_arena_check(&a));
    PBD_TRY(near_pairs_find(m->x, n, 2 * m->h, &pairs));
    for (size_t i = 0; i < n; i++) nearest[i] = 2 * m->h / spacing; /* if no other is nearer */
    for (size_t p = 0; p < pairs.count; p++)
        for (size_t end = 0; end < 2; end++) {
            double *mine = &nearest[pairs.pair[2 * p + end]];
            *mine = fmin(*mine, pairs.distance[p] / spacing);
        }
    qsort(nearest, n, sizeof *nearest, ascending);
    size_t below = 0;
    for (size_t i = 0; i < n; i++) mean += nearest[i] / (double)n;
    for (size_t i = 0; i < n; i++) deviation += (nearest[i] - mean) * (nearest[i] - mean) / (double)n;
    for (size_t i = 0; i < n; i++) below += nearest[i] < 0.5;
    pbd_metric(recorder, "nearest_mean", "1", PBD_STATE, mean);
    pbd_metric(recorder, "nearest_deviation", "1", PBD_ERROR, sqrt(deviation));
    pbd_metric(recorder, "clustered", "1", PBD_FLAW, (double)below / (double)n);
    pbd_metric(recorder, "neighbours_within_2h", "1", PBD_STATE, 2 * (double)pairs.count / (double)n);
    pbd_series(recorder, "nearest", "value", "1", nearest, n, 1);
    return pbd_ok();
}

static void record_surfaces(const smoothed_watch *w, pbd_recorder *recorder) {
    int best = -1;
    for (int k = 0; k < SMOOTHED_LEVELS; k++)
        if (w->first[k] > 0 && (best < 0 || w->change[k] < w->change[best])) best = k;
    if (best < 0) return;
    if (w->first[3] > 0) pbd_metric(recorder, "volume_change_at_1", "1", PBD_ERROR, w->change[3]);
    if (w->first[7] > 0) pbd_metric(recorder, "volume_change_at_2", "1", PBD_ERROR, w->change[7]);
    pbd_metric(recorder, "best_level", "1", PBD_STATE, level_of(best));
    pbd_metric(recorder, "volume_change_at_best", "1", PBD_ERROR, w->change[best]);
}

pbd_status smoothed_watch_record(const smoothed_watch *w, const pbd_scene *scene, const pbd_method *method,
                                 const void *state, pbd_recorder *recorder) {
    if (scene->particles.count > SMOOTHED_SEEN) return pbd_ok();
    smoothed_matter now = w->matter;
    double *x PBD_CLEANUP(pbd_free_memory) = NULL;
    PBD_TRY(body_positions(scene, method, state, &x));
    now.x = x;
    pbd_metric(recorder, "pieces", "1", PBD_STATE, (double)w->pieces);
    pbd_metric(recorder, "most_pieces", "1", PBD_STATE, (double)w->most_pieces);
    pbd_metric(recorder, "second_piece", "1", PBD_STATE, (double)w->second);
    record_surfaces(w, recorder);
    const pbd_status status = smoothed_record_spread(&now, scene->particles.spacing, recorder);
    return status;
}
