#include "cases/scenes/particle_watch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cases/geometry/near_pairs.h"
#include "harness/exec/arena.h"

/* ---- Measuring --------------------------------------------------------------------------------------------------- */

void particle_record_sampling(const sampling *s, size_t bodies, pbd_recorder *recorder) {
    pbd_metric(recorder, "particles", "1", PBD_STATE, (double)(s->count * bodies));
    pbd_metric(recorder, "spacing", "m", PBD_STATE, s->spacing);
    pbd_metric(recorder, "dropped_sites", "1", PBD_STATE, (double)s->dropped);
    if (s->solid_volume > 0)
        pbd_metric(recorder, "sampled_volume_ratio", "1", PBD_STATE, (double)s->count * s->volume / s->solid_volume);
}

pbd_status particle_kinetic_energy(const pbd_scene *scene, const pbd_method *method, const void *state, double *energy,
                                   double *largest_speed) {
    pbd_arena a PBD_ARENA;
    double *v = pbd_new(&a, double, 3 * scene->particles.count), fastest = 0;
    *energy = *largest_speed = 0;
    PBD_TRY(pbd_arena_check(&a));
    PBD_TRY(method->read(state, PBD_VELOCITIES, v));
    for (size_t i = 0; i < scene->particles.count; i++) {
        const double square = v[3 * i] * v[3 * i] + v[3 * i + 1] * v[3 * i + 1] + v[3 * i + 2] * v[3 * i + 2];
        *energy += 0.5 * scene->particles.masses[i] * square;
        if (!(square <= fastest)) fastest = square;
    }
    *largest_speed = sqrt(fastest);
    return pbd_ok();
}

void particle_centre_of_mass(const pbd_scene *scene, const double *x, double out[3]) {
    double mass = 0;
    out[0] = out[1] = out[2] = 0;
    for (size_t i = 0; i < scene->particles.count; i++) {
        mass += scene->particles.masses[i];
        for (size_t d = 0; d < 3; d++) out[d] += scene->particles.masses[i] * x[3 * i + d];
    }
    for (int d = 0; d < 3; d++) out[d] /= mass;
}

double particle_deepest(const pbd_scene *scene, const double *x, size_t *beyond) {
    double deepest = 0;
    *beyond = 0;
    for (size_t i = 0; i < scene->particles.count; i++) {
        const double radius = scene->contact.radius ? scene->contact.radius[i] : 0;
        double lowest = INFINITY; /* over all planes */
        for (size_t c = 0; c < scene->colliders.count; c++) {
            const pbd_collider *wall = &scene->colliders.item[c];
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
    const size_t bodies = scene->particles.bodies > 0 ? scene->particles.bodies : 1,
                 each = scene->particles.count / bodies;
    *mean = *worst = 0;
    for (size_t b = 0; b < bodies; b++) {
        const pbd_scene one = {.particles.count = each,
                               .particles.positions = scene->particles.positions + 3 * each * b,
                               .particles.masses = scene->particles.masses + each * b};
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
    if (scene->particles.body && scene->particles.body[i] != scene->particles.body[j]) return true;
    return self_distance > 0 && square_distance(scene->particles.positions, i, j) > self_distance * self_distance;
}

typedef struct touches {
    const pbd_scene *scene;
    double self_distance, touching; /* m */
    double least;                   /* m^2 */
    size_t overlaps;
} touches;

static void note_touch(void *to, size_t i, size_t j, double square) {
    touches *t = to;
    if (!strangers(t->scene, i, j, t->self_distance)) return;
    t->least = fmin(t->least, square);
    t->overlaps += square < t->touching * t->touching;
}

pbd_status particle_count_overlaps(const pbd_scene *scene, const double *x, double radius, double self_distance,
                                   pair_count *out) {
    touches t = {scene, self_distance, 1.8 * radius, 16 * radius * radius, 0};
    const pbd_status status = near_pairs_visit(x, scene->particles.count, 4 * radius, note_touch, &t);
    *out = (pair_count){sqrt(t.least), t.overlaps};
    return status;
}

/* ---- Pieces ------------------------------------------------------------------------------------------------------ */

typedef struct joints {
    const pbd_scene *scene;
    const double *x;
    uint32_t *parent;
} joints;

/* Neighbours at rest that are still near. */
static void join_if_near(void *to, size_t i, size_t j, double square) {
    const joints *t = to;
    const double now = 1.8 * t->scene->particles.spacing;
    (void)square;
    if (t->scene->particles.body && t->scene->particles.body[i] != t->scene->particles.body[j]) return;
    if (square_distance(t->x, i, j) <= now * now) near_pairs_join(t->parent, i, j);
}

pbd_status particle_count_pieces(const pbd_scene *scene, const double *x, size_t least, size_t *pieces,
                                 size_t *crumbs) {
    pbd_arena a PBD_ARENA;
    const size_t n = scene->particles.count;
    uint32_t *parent = pbd_new(&a, uint32_t, n), *size = pbd_new(&a, uint32_t, n);
    joints t = {scene, x, parent};
    *pieces = *crumbs = 0;
    PBD_TRY(pbd_arena_check(&a));
    for (size_t i = 0; i < n; i++) parent[i] = (uint32_t)i;
    PBD_TRY(near_pairs_visit(scene->particles.positions, n, 1.1 * scene->particles.spacing, join_if_near, &t));
    for (size_t i = 0; i < n; i++) size[near_pairs_root(parent, (uint32_t)i)]++;
    for (size_t i = 0; i < n; i++) {
        *pieces += size[i] >= least;
        *crumbs += size[i] > 0 && size[i] < least;
    }
    return pbd_ok();
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
    double *x PBD_CLEANUP(pbd_free_memory) = NULL;
    double height = 0, fastest;
    PBD_TRY(body_positions(scene, method, state, &x));
    pbd_status status = look_at_places(w, scene, x, &height);
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
        pbd_metric(recorder, "largest_speed", "m/s", PBD_STATE, w->fastest);
        if (w->peak > 0) pbd_metric(recorder, "kinetic_energy_left", "1", PBD_STATE, w->energy / w->peak);
    }
    pbd_metric(recorder, "smallest_distance", "1", PBD_QUALITY, 0.5 * w->least / w->radius);
    pbd_metric(recorder, "overlapping_pairs", "1", PBD_FLAW, (double)w->overlaps);
    pbd_metric(recorder, "most_overlapping_pairs", "1", PBD_FLAW, (double)w->most_overlaps);
    if (scene->colliders.count == 0) return;
    pbd_metric(recorder, "particles_outside", "1", PBD_FLAW, (double)w->outside);
    pbd_metric(recorder, "most_particles_outside", "1", PBD_FLAW, (double)w->most_outside);
    pbd_metric(recorder, "deepest_in_walls", "m", PBD_FLAW, w->deepest);
}
