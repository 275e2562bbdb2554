#include "cases/particle_watch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cases/cells.h"

static pbd_status no_memory(size_t particles) {
    return pbd_error(PBD_FAILED, "out of memory for measuring %zu particles", particles);
}

/* ---- Measuring --------------------------------------------------------------------------------------------------- */

void particle_record_sampling(const sampling *s, size_t bodies, pbd_recorder *recorder) {
    pbd_metric(recorder, "particles", "1", PBD_NEUTRAL, (double)(s->count * bodies));
    pbd_metric(recorder, "spacing", "m", PBD_NEUTRAL, s->spacing);
    pbd_metric(recorder, "dropped_sites", "1", PBD_NEUTRAL, (double)s->dropped);
    if (s->solid_volume > 0)
        pbd_metric(recorder, "sampled_volume_ratio", "1", PBD_NEUTRAL, (double)s->count * s->volume / s->solid_volume);
}

pbd_status particle_kinetic_energy(const pbd_scene *scene, const pbd_method *method, const void *state, double *energy,
                                   double *largest_speed) {
    double *v = malloc((3 * scene->particles + 1) * sizeof *v), fastest = 0;
    *energy = *largest_speed = 0;
    if (!v) return no_memory(scene->particles);
    const pbd_status status = method->read(state, PBD_VELOCITIES, v);
    for (size_t i = 0; i < scene->particles && status.code == PBD_OK; i++) {
        const double square = v[3 * i] * v[3 * i] + v[3 * i + 1] * v[3 * i + 1] + v[3 * i + 2] * v[3 * i + 2];
        *energy += 0.5 * scene->masses[i] * square;
        if (!(square <= fastest)) fastest = square;
    }
    *largest_speed = sqrt(fastest);
    free(v);
    return status;
}

void particle_centre_of_mass(const pbd_scene *scene, const double *x, double out[3]) {
    double mass = 0;
    out[0] = out[1] = out[2] = 0;
    for (size_t i = 0; i < scene->particles; i++) {
        mass += scene->masses[i];
        for (size_t d = 0; d < 3; d++) out[d] += scene->masses[i] * x[3 * i + d];
    }
    for (int d = 0; d < 3; d++) out[d] /= mass;
}

double particle_deepest(const pbd_scene *scene, const double *x, size_t *beyond) {
    double deepest = 0;
    *beyond = 0;
    for (size_t i = 0; i < scene->particles; i++) {
        const double radius = scene->contact.radius ? scene->contact.radius[i] : 0;
        double lowest = INFINITY; /* over all planes */
        for (size_t c = 0; c < scene->colliders; c++) {
            const pbd_collider *wall = &scene->collider[c];
            double above = 0;
            if (wall->shape != PBD_PLANE) continue;
            for (size_t d = 0; d < 3; d++) above += (x[3 * i + d] - wall->centre[d]) * wall->axis[2][d];
            lowest = fmin(lowest, above);
        }
        deepest = fmax(deepest, radius - lowest);
        *beyond += lowest < 0;
    }
    return deepest;
}

void particle_shape_errors(const pbd_scene *scene, const double *x, double *mean, double *worst) {
    const size_t bodies = scene->bodies > 0 ? scene->bodies : 1, each = scene->particles / bodies;
    *mean = *worst = 0;
    for (size_t b = 0; b < bodies; b++) {
        const pbd_scene one = {
            .particles = each, .positions = scene->positions + 3 * each * b, .masses = scene->masses + each * b};
        const double error = body_shape_error(&one, x + 3 * each * b);
        *mean += error / (double)bodies;
        if (!(error <= *worst)) *worst = error;
    }
}

/* ---- Pairs ------------------------------------------------------------------------------------------------------- */

static double square_distance(const double *x, size_t i, size_t j) {
    double sum = 0;
    for (size_t d = 0; d < 3; d++) sum += (x[3 * i + d] - x[3 * j + d]) * (x[3 * i + d] - x[3 * j + d]);
    return sum;
}

static bool strangers(const pbd_scene *scene, size_t i, size_t j, double self_distance) {
    if (scene->body && scene->body[i] != scene->body[j]) return true;
    return self_distance > 0 && square_distance(scene->positions, i, j) > self_distance * self_distance;
}

/* Pairs of i with particles of a number below `below` in one cell. */
static void look_in_cell(const pbd_scene *scene, const cells *l, const double *x, size_t i, size_t below,
                         const int64_t at[3], double self_distance, double touching, double *least, size_t *overlaps) {
    for (uint32_t j = cells_first(l, at); j != UINT32_MAX; j = l->next[j]) {
        if (j >= below || !strangers(scene, i, j, self_distance)) continue;
        if (memcmp(l->at[j], at, 3 * sizeof *at) != 0) continue; /* another cell of the same place in the table */
        const double square = square_distance(x, i, j);
        *least = fmin(*least, square);
        *overlaps += square < touching * touching;
    }
}

/* Its own cell, and of any two neighbouring cells the earlier one looks into the later: each pair is seen once. */
enum { OWN_CELL = 13, CELLS_AROUND = 27 };

pbd_status particle_count_overlaps(const pbd_scene *scene, const double *x, double radius, double self_distance,
                                   pair_count *out) {
    cells l;
    double least = 16 * radius * radius;
    size_t overlaps = 0;
    pbd_status status = cells_make(x, scene->particles, 4 * radius, &l);
    const long count = status.code == PBD_OK ? (long)scene->particles : 0;
    for (long i = 0; i < count; i++) {
        if (!cells_hold(&l, (size_t)i)) continue;
        for (int cell = OWN_CELL; cell < CELLS_AROUND; cell++) {
            const int64_t at[3] = {l.at[i][0] + cell % 3 - 1, l.at[i][1] + cell / 3 % 3 - 1, l.at[i][2] + cell / 9 - 1};
            const size_t below = cell == OWN_CELL ? (size_t)i : scene->particles;
            look_in_cell(scene, &l, x, (size_t)i, below, at, self_distance, 1.8 * radius, &least, &overlaps);
        }
    }
    cells_free(&l);
    *out = (pair_count){sqrt(least), overlaps};
    return status;
}

/* ---- Pieces ------------------------------------------------------------------------------------------------------ */

/* The first particle of p's piece so far; the way there is halved each time it is gone. */
static uint32_t root_of(uint32_t *parent, uint32_t p) {
    while (parent[p] != p) p = parent[p] = parent[parent[p]];
    return p;
}

/* Joins i with its neighbours at rest that are still near. */
static void join_neighbours(const pbd_scene *scene, const cells *l, const double *x, size_t i, uint32_t *parent) {
    const double at_rest = 1.1 * scene->spacing, now = 1.8 * scene->spacing;
    for (int cell = 0; cell < 27; cell++) {
        const int64_t at[3] = {l->at[i][0] + cell % 3 - 1, l->at[i][1] + cell / 3 % 3 - 1, l->at[i][2] + cell / 9 - 1};
        for (uint32_t j = cells_first(l, at); j != UINT32_MAX; j = l->next[j]) {
            if (j >= i || memcmp(l->at[j], at, 3 * sizeof *at) != 0) continue;
            if (scene->body && scene->body[i] != scene->body[j]) continue;
            if (square_distance(scene->positions, i, j) > at_rest * at_rest) continue;
            if (!(square_distance(x, i, j) <= now * now)) continue;
            const uint32_t a = root_of(parent, (uint32_t)i), b = root_of(parent, j);
            parent[a > b ? a : b] = a > b ? b : a;
        }
    }
}

pbd_status particle_count_pieces(const pbd_scene *scene, const double *x, size_t least, size_t *pieces,
                                 size_t *crumbs) {
    cells l;
    uint32_t *parent = malloc((scene->particles + 1) * sizeof *parent);
    uint32_t *size = calloc(scene->particles + 1, sizeof *size);
    pbd_status status = cells_make(scene->positions, scene->particles, 1.1 * scene->spacing, &l);
    if (!parent || !size) status = no_memory(scene->particles);
    *pieces = *crumbs = 0;
    for (size_t i = 0; i < scene->particles && status.code == PBD_OK; i++) parent[i] = (uint32_t)i;
    for (size_t i = 0; i < scene->particles && status.code == PBD_OK; i++) join_neighbours(scene, &l, x, i, parent);
    for (size_t i = 0; i < scene->particles && status.code == PBD_OK; i++) size[root_of(parent, (uint32_t)i)]++;
    for (size_t i = 0; i < scene->particles && status.code == PBD_OK; i++) {
        *pieces += size[i] >= least;
        *crumbs += size[i] > 0 && size[i] < least;
    }
    cells_free(&l);
    free(parent);
    free(size);
    return status;
}

/* ---- A watch ----------------------------------------------------------------------------------------------------- */

particle_watch particle_watch_start(double radius, double self_distance) {
    return (particle_watch){.radius = radius, .self_distance = self_distance, .least = 4 * radius};
}

static pbd_status look_at_places(particle_watch *w, const pbd_scene *scene, const double *x, double *height) {
    double centre[3];
    pair_count pairs;
    particle_centre_of_mass(scene, x, centre);
    *height = centre[2];
    PBD_TRY(particle_count_overlaps(scene, x, w->radius, w->self_distance, &pairs));
    w->least = fmin(w->least, pairs.least);
    w->overlaps = pairs.overlaps;
    if (pairs.overlaps > w->most_overlaps) w->most_overlaps = pairs.overlaps;
    w->deepest = fmax(w->deepest, particle_deepest(scene, x, &w->outside));
    if (w->outside > w->most_outside) w->most_outside = w->outside;
    return pbd_ok();
}

pbd_status particle_watch_look(particle_watch *w, const pbd_scene *scene, const pbd_method *method, const void *state,
                               double time, pbd_recorder *recorder) {
    double *x, height = 0, fastest;
    PBD_TRY(body_positions(scene, method, state, &x));
    pbd_status status = look_at_places(w, scene, x, &height);
    free(x);
    PBD_TRY(status);
    const double pairs = (double)w->overlaps, outside = (double)w->outside;
    pbd_series(recorder, "time", "value", "s", &time, 1, 1);
    pbd_series(recorder, "height", "value", "m", &height, 1, 1);
    pbd_series(recorder, "overlapping_pairs", "value", "1", &pairs, 1, 1);
    pbd_series(recorder, "particles_outside", "value", "1", &outside, 1, 1);
    status = particle_kinetic_energy(scene, method, state, &w->energy, &fastest);
    w->tells_velocities = status.code != PBD_NOT_SUPPORTED;
    if (!w->tells_velocities) return pbd_ok();
    w->peak = fmax(w->peak, w->energy);
    w->fastest = fmax(w->fastest, fastest);
    pbd_series(recorder, "kinetic_energy", "value", "J", &w->energy, 1, 1);
    return status;
}

void particle_watch_record(const particle_watch *w, const pbd_scene *scene, pbd_recorder *recorder) {
    if (w->tells_velocities) {
        pbd_metric(recorder, "largest_speed", "m/s", PBD_NEUTRAL, w->fastest);
        if (w->peak > 0) pbd_metric(recorder, "kinetic_energy_left", "1", PBD_NEUTRAL, w->energy / w->peak);
    }
    pbd_metric(recorder, "smallest_distance", "1", PBD_HIGHER_IS_BETTER, 0.5 * w->least / w->radius);
    pbd_metric(recorder, "overlapping_pairs", "1", PBD_LOWER_IS_BETTER, (double)w->overlaps);
    pbd_metric(recorder, "most_overlapping_pairs", "1", PBD_LOWER_IS_BETTER, (double)w->most_overlaps);
    if (scene->colliders == 0) return;
    pbd_metric(recorder, "particles_outside", "1", PBD_LOWER_IS_BETTER, (double)w->outside);
    pbd_metric(recorder, "most_particles_outside", "1", PBD_LOWER_IS_BETTER, (double)w->most_outside);
    pbd_metric(recorder, "deepest_in_walls", "m", PBD_LOWER_IS_BETTER, w->deepest);
}
