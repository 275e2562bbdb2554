#include "cases/scenes/particle_watch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cases/geometry/near_pairs.h"
#include "cases/geometry/near_places.h"
#include "cases/scenes/larger.h"
#include "harness/exec/arena.h"
#include "harness/exec/team.h"

/* ---- Measuring --------------------------------------------------------------------------------------------------- */

void particle_record_sampling(const sampling *s, size_t bodies, pbd_recorder *recorder) {
    pbd_metric(recorder, "particles", "1", PBD_STATE, (double)(s->count * bodies));
    pbd_metric(recorder, "spacing", "m", PBD_STATE, s->spacing);
    pbd_metric(recorder, "dropped_sites", "1", PBD_STATE, (double)s->dropped);
    if (s->solid_volume > 0)
        pbd_metric(recorder, "sampled_volume_ratio", "1", PBD_STATE, (double)s->count * s->volume / s->solid_volume);
}

/* Returns the smallest signed distance of the centre of particle i from a plane, m; negative beyond it. */
static double lowest_over_planes(const pbd_scene *scene, const double *x, size_t i) {
    double lowest = INFINITY;
    for (size_t c = 0; c < scene->colliders.count; c++) {
        const pbd_collider *wall = &scene->colliders.item[c];
        double above = 0;
        if (wall->shape != PBD_PLANE) continue;
        for (size_t d = 0; d < 3; d++) above += (x[3 * i + d] - wall->centre[d]) * wall->axis[2][d];
        lowest = fmin(lowest, above);
    }
    return lowest;
}

static void add_depth(const pbd_scene *scene, const double *x, size_t i, double *deepest, size_t *beyond) {
    const double radius = scene->contact.radius ? scene->contact.radius[i] : 0;
    const double lowest = lowest_over_planes(scene, x, i);
    *deepest = fmax(*deepest, radius - lowest);
    *beyond += lowest < 0;
}

typedef struct summing {
    const pbd_scene *scene;
    const double *x, *v;
    particle_sums *part; /* by piece; centre: m x, kg m */
    double *mass;        /* likewise */
} summing;

enum { PIECE = 16384 }; /* particles that a thread takes at a time */

static void add_motion(particle_sums *p, double mass, const double *v) {
    const double square = v[0] * v[0] + v[1] * v[1] + v[2] * v[2];
    p->energy += 0.5 * mass * square;
    p->fastest2 = larger(square, p->fastest2);
}

static void sum_piece(void *context, size_t begin, size_t end) {
    const summing *s = context;
    const bool walled = s->scene->colliders.count > 0;
    particle_sums p = {0};
    double all = 0;
    for (size_t i = begin; i < end; i++) {
        const double mass = s->scene->particles.masses[i];
        all += mass;
        for (size_t d = 0; d < 3; d++) p.centre[d] += mass * s->x[3 * i + d];
        if (walled) add_depth(s->scene, s->x, i, &p.deepest, &p.beyond);
        if (s->v) add_motion(&p, mass, s->v + 3 * i);
    }
    s->part[begin / PIECE] = p;
    s->mass[begin / PIECE] = all;
}

pbd_status particle_sum_up(const pbd_scene *scene, const double *x, const double *v, particle_sums *out) {
    const size_t n = scene->particles.count, pieces = n / PIECE + 1;
    pbd_arena a PBD_ARENA;
    summing s = {scene, x, v, pbd_new(&a, particle_sums, pieces), pbd_new(&a, double, pieces)};
    double mass = 0;
    *out = (particle_sums){0};
    PBD_TRY(pbd_arena_check(&a));
    pbd_team_run(n, PIECE, sum_piece, &s);
    for (size_t k = 0; k * PIECE < n; k++) {
        const particle_sums *p = &s.part[k];
        mass += s.mass[k];
        for (size_t d = 0; d < 3; d++) out->centre[d] += p->centre[d];
        out->deepest = fmax(out->deepest, p->deepest);
        out->beyond += p->beyond;
        out->energy += p->energy;
        out->fastest2 = larger(p->fastest2, out->fastest2);
    }
    for (size_t d = 0; d < 3; d++) out->centre[d] /= mass;
    return pbd_ok();
}

pbd_status particle_kinetic_energy(const pbd_scene *scene, const pbd_method *method, const void *state, double *energy,
                                   double *largest_speed) {
    pbd_arena a PBD_ARENA;
    double *v = pbd_new(&a, double, 3 * scene->particles.count);
    particle_sums sums = {0};
    *energy = *largest_speed = 0;
    PBD_TRY(pbd_arena_check(&a));
    PBD_TRY(method->read(state, PBD_VELOCITIES, v));
    for (size_t i = 0; i < scene->particles.count; i++) add_motion(&sums, scene->particles.masses[i], v + 3 * i);
    *energy = sums.energy;
    *largest_speed = sqrt(sums.fastest2);
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
    for (size_t i = 0; i < scene->particles.count; i++) add_depth(scene, x, i, &deepest, beyond);
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
        *worst = larger(error, *worst);
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
    const near_places *at;
    double self_distance, touching; /* m */
    double *least;                  /* by part: m^2 */
    size_t *overlaps;               /* by part */
} touches;

/* Each pair is counted by the later of its two places. */
static void note_touches(void *to, size_t place, const near_list *others) {
    touches *t = to;
    const uint32_t *particle = t->at->particle;
    for (size_t k = 0; k < others->count && others->place[k] < place; k++) {
        const double square = others->square[k];
        if (!strangers(t->scene, particle[place], particle[others->place[k]], t->self_distance)) continue;
        t->least[place / NEAR_PART] = fmin(t->least[place / NEAR_PART], square);
        t->overlaps[place / NEAR_PART] += square < t->touching * t->touching;
    }
}

pbd_status particle_count_overlaps(const pbd_scene *scene, const double *x, double radius, double self_distance,
                                   pair_count *out) {
    const size_t n = scene->particles.count, parts = n / NEAR_PART + 1;
    pbd_arena a PBD_ARENA;
    near_places at PBD_CLEANUP(near_places_free) = {0};
    touches t = {scene, &at, self_distance, 1.8 * radius, pbd_new(&a, double, parts), pbd_new(&a, size_t, parts)};
    *out = (pair_count){4 * radius, 0};
    PBD_TRY(pbd_arena_check(&a));
    for (size_t k = 0; k < parts; k++) t.least[k] = 16 * radius * radius;
    PBD_TRY(near_places_make(x, n, 4 * radius, &at));
    PBD_TRY(near_places_visit(&at, 4 * radius, note_touches, &t));
    double least = 16 * radius * radius;
    for (size_t k = 0; k < parts; k++) least = fmin(least, t.least[k]), out->overlaps += t.overlaps[k];
    out->least = sqrt(least);
    return pbd_ok();
}

/* ---- Pieces ------------------------------------------------------------------------------------------------------ */

typedef struct joints {
    const pbd_scene *scene;
    const double *x;
    uint32_t *parent;
} joints;

/* Joins neighbours at rest that are still near. */
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

static pbd_status look_at_places(particle_watch *w, const pbd_scene *scene, const double *x, const double *v,
                                 particle_sums *sums) {
    pair_count pairs;
    PBD_TRY(particle_sum_up(scene, x, v, sums));
    PBD_TRY(particle_count_overlaps(scene, x, w->radius, w->self_distance, &pairs));
    w->least = fmin(w->least, pairs.least);
    w->overlaps = pairs.overlaps;
    if (pairs.overlaps > w->most_overlaps) w->most_overlaps = pairs.overlaps;
    w->deepest = fmax(w->deepest, sums->deepest);
    w->outside = sums->beyond;
    if (w->outside > w->most_outside) w->most_outside = w->outside;
    return pbd_ok();
}

pbd_status particle_watch_look(particle_watch *w, const pbd_scene *scene, const pbd_method *method, const void *state,
                               double time, pbd_recorder *recorder) {
    double *x PBD_CLEANUP(pbd_free_memory) = NULL, *v PBD_CLEANUP(pbd_free_memory) = NULL;
    particle_sums sums;
    PBD_TRY(body_positions(scene, method, state, &x));
    PBD_TRY(body_velocities(scene, method, state, &v));
    PBD_TRY(look_at_places(w, scene, x, v, &sums));
    const double pairs = (double)w->overlaps, outside = (double)w->outside;
    pbd_series(recorder, "time", "value", "s", &time, 1, 1);
    pbd_series(recorder, "height", "value", "m", &sums.centre[2], 1, 1);
    pbd_series(recorder, "overlapping_pairs", "value", "1", &pairs, 1, 1);
    pbd_series(recorder, "particles_outside", "value", "1", &outside, 1, 1);
    w->tells_velocities = v != NULL;
    if (!v) return pbd_ok();
    w->energy = sums.energy;
    w->peak = fmax(w->peak, w->energy);
    w->fastest = larger(sqrt(sums.fastest2), w->fastest);
    pbd_series(recorder, "kinetic_energy", "value", "J", &w->energy, 1, 1);
    return pbd_ok();
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
