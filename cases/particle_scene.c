#include "cases/particle_scene.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const particle_on_off[] = {"off", "on", NULL};
const char *const particle_layers[] = {"1", "2", "all", NULL};

static pbd_status no_memory(size_t particles) {
    return pbd_error(PBD_FAILED, "out of memory for a scene of %zu particles", particles);
}

/* ---- Parameters -------------------------------------------------------------------------------------------------- */

pbd_material particle_material(const pbd_values *values) {
    return (pbd_material){.E = pbd_real(values, "E"),
                          .nu = pbd_real(values, "nu"),
                          .density = pbd_real(values, "density"),
                          .convention = PBD_D_STANDARD,
                          .law = (pbd_law)pbd_choice(values, "material")};
}

sampling_plan particle_plan(const pbd_values *values) {
    const double spacing = pbd_real(values, "spacing");
    return (sampling_plan){.kind = (sampling_kind)pbd_choice(values, "sampling"),
                           .spacing = spacing,
                           .count = spacing > 0 ? 0 : (size_t)pbd_integer(values, "particles"),
                           .seed = (uint64_t)pbd_integer(values, "seed")};
}

/* ---- Placing ----------------------------------------------------------------------------------------------------- */

placement placement_at(double x, double y, double z) {
    return (placement){{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, {x, y, z}};
}

/* Rodrigues' formula. */
placement placement_turned(const double axis[3], double angle, const double by[3]) {
    const double length = sqrt(axis[0] * axis[0] + axis[1] * axis[1] + axis[2] * axis[2]);
    const double k[3] = {axis[0] / length, axis[1] / length, axis[2] / length}, c = cos(angle), s = sin(angle);
    const double skew[3][3] = {{0, -k[2], k[1]}, {k[2], 0, -k[0]}, {-k[1], k[0], 0}};
    placement out = placement_at(by[0], by[1], by[2]);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) out.turn[i][j] = c * (i == j) + (1 - c) * k[i] * k[j] + s * skew[i][j];
    return out;
}

static void put(const placement *p, const double from[3], double out[3]) {
    for (int i = 0; i < 3; i++)
        out[i] = p->turn[i][0] * from[0] + p->turn[i][1] * from[1] + p->turn[i][2] * from[2] + p->by[i];
}

static void measure_extent(pbd_scene *scene) {
    scene->extent = 0;
    for (size_t d = 0; d < 3; d++) {
        double low = INFINITY, high = -INFINITY;
        for (size_t i = 0; i < scene->particles; i++) {
            low = fmin(low, scene->positions[3 * i + d]);
            high = fmax(high, scene->positions[3 * i + d]);
        }
        scene->extent = fmax(scene->extent, high - low);
    }
    scene->extent = fmax(scene->extent, scene->spacing);
}

pbd_status particle_scene_make(const sampling *s, size_t bodies, const placement *place, pbd_scene *scene) {
    const size_t n = s->count * bodies;
    if (n > SAMPLING_MOST)
        return pbd_error(PBD_BAD_INPUT, "%zu bodies of %zu particles are too many: %d particles at most", bodies,
                         s->count, SAMPLING_MOST);
    scene->particles = n;
    scene->spacing = s->spacing;
    scene->bodies = bodies;
    scene->positions = malloc((3 * n + 1) * sizeof *scene->positions);
    scene->forces = calloc(3 * n + 1, sizeof *scene->forces);
    scene->masses = malloc((n + 1) * sizeof *scene->masses);
    scene->volumes = malloc((n + 1) * sizeof *scene->volumes);
    scene->body = malloc((n + 1) * sizeof *scene->body);
    if (!scene->positions || !scene->forces || !scene->masses || !scene->volumes || !scene->body) return no_memory(n);
    for (size_t i = 0; i < n; i++) {
        put(&place[i / s->count], s->position + 3 * (i % s->count), scene->positions + 3 * i);
        scene->body[i] = (uint32_t)(i / s->count);
        scene->volumes[i] = s->volume;
        scene->masses[i] = scene->material.density * s->volume;
    }
    measure_extent(scene);
    return pbd_ok();
}

/* ---- Contact ----------------------------------------------------------------------------------------------------- */

pbd_status particle_set_radii(const pbd_values *values, const sampling *s, pbd_scene *scene) {
    const double given = pbd_real(values, "contact_radius"), radius = given > 0 ? given : 0.5 * s->spacing;
    const int layers = pbd_choice(values, "contact_layers") + 1; /* 3: all */
    scene->contact.friction = pbd_real(values, "friction");
    scene->contact.radius = malloc((scene->particles + 1) * sizeof *scene->contact.radius);
    if (!scene->contact.radius) return no_memory(scene->particles);
    for (size_t i = 0; i < scene->particles; i++) {
        const int layer = s->layer[i % s->count];
        scene->contact.radius[i] = layers == 3 || (layer >= 1 && layer <= layers) ? radius : 0;
    }
    return pbd_ok();
}

pbd_status particle_open_colliders(pbd_scene *scene, size_t most) {
    scene->collider = calloc(most + 1, sizeof *scene->collider);
    return scene->collider ? pbd_ok() : pbd_error(PBD_FAILED, "out of memory for %zu colliders", most);
}

pbd_collider *particle_add_plane(pbd_scene *scene, const double at[3], const double normal[3], double friction) {
    pbd_collider *c = &scene->collider[scene->colliders++];
    const double length = sqrt(normal[0] * normal[0] + normal[1] * normal[1] + normal[2] * normal[2]);
    double *x = c->axis[0], *y = c->axis[1], *z = c->axis[2];
    c->shape = PBD_PLANE;
    c->friction = friction;
    memcpy(c->centre, at, sizeof c->centre);
    for (int d = 0; d < 3; d++) z[d] = normal[d] / length;
    const int off = fabs(z[0]) < 0.9 ? 0 : 1; /* the x axis of its frame: that of the world, made square */
    double size = 0;
    for (int d = 0; d < 3; d++) {
        x[d] = (d == off) - z[off] * z[d];
        size += x[d] * x[d];
    }
    for (int d = 0; d < 3; d++) x[d] /= sqrt(size);
    for (int d = 0; d < 3; d++) y[d] = z[(d + 1) % 3] * x[(d + 2) % 3] - z[(d + 2) % 3] * x[(d + 1) % 3];
    return c;
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

double particle_deepest(const pbd_scene *scene, const double *x, double slack, size_t *beyond) {
    double deepest = 0;
    *beyond = 0;
    for (size_t i = 0; i < scene->particles; i++) {
        const double radius = scene->contact.radius ? scene->contact.radius[i] : 0;
        double worst = 0;
        for (size_t c = 0; c < scene->colliders; c++) {
            const pbd_collider *wall = &scene->collider[c];
            if (wall->shape != PBD_PLANE) continue;
            double above = 0;
            for (size_t d = 0; d < 3; d++) above += (x[3 * i + d] - wall->centre[d]) * wall->axis[2][d];
            worst = fmax(worst, radius - above);
        }
        deepest = fmax(deepest, worst);
        *beyond += worst > slack;
    }
    return deepest;
}

/* ---- Pairs ------------------------------------------------------------------------------------------------------- */

/* Particles in lists by the cell they are in; cells are found by a hash of their place. */
typedef struct cell_lists {
    double cell; /* m */
    size_t slots;
    uint32_t *first, *next; /* UINT32_MAX: none */
    int64_t (*at)[3];
} cell_lists;

static size_t slot_of(const cell_lists *l, const int64_t at[3]) {
    uint64_t h = (uint64_t)at[0] * UINT64_C(0x9e3779b97f4a7c15) ^ (uint64_t)at[1] * UINT64_C(0xbf58476d1ce4e5b9) ^
                 (uint64_t)at[2] * UINT64_C(0x94d049bb133111eb);
    return (size_t)((h ^ (h >> 29)) % l->slots);
}

static void free_lists(cell_lists *l) {
    free(l->first);
    free(l->next);
    free(l->at);
}

/* Particles that are nowhere, or a thousand million cells away, are in none. */
static pbd_status make_lists(const double *x, size_t count, double cell, cell_lists *l) {
    *l = (cell_lists){.cell = cell, .slots = 2 * count + 1};
    l->first = malloc(l->slots * sizeof *l->first);
    l->next = malloc((count + 1) * sizeof *l->next);
    l->at = malloc((count + 1) * sizeof *l->at);
    if (!l->first || !l->next || !l->at) return no_memory(count);
    memset(l->first, 0xff, l->slots * sizeof *l->first);
    for (size_t i = 0; i < count; i++) {
        bool near = true;
        for (size_t d = 0; d < 3; d++) {
            const double place = floor(x[3 * i + d] / cell);
            near = near && fabs(place) < 1e9;
            l->at[i][d] = near ? (int64_t)place : INT64_MAX / 2;
        }
        if (!near) continue;
        const size_t slot = slot_of(l, l->at[i]);
        l->next[i] = l->first[slot];
        l->first[slot] = (uint32_t)i;
    }
    return pbd_ok();
}

static double square_distance(const double *x, size_t i, size_t j) {
    double sum = 0;
    for (size_t d = 0; d < 3; d++) sum += (x[3 * i + d] - x[3 * j + d]) * (x[3 * i + d] - x[3 * j + d]);
    return sum;
}

static bool strangers(const pbd_scene *scene, size_t i, size_t j, double self_distance) {
    if (scene->body && scene->body[i] != scene->body[j]) return true;
    return self_distance > 0 && square_distance(scene->positions, i, j) > self_distance * self_distance;
}

/* Pairs of i with particles of a lower number in one cell. */
static void look_in_cell(const pbd_scene *scene, const cell_lists *l, const double *x, size_t i, const int64_t at[3],
                         double self_distance, double touching, double *least, size_t *overlaps) {
    for (uint32_t j = l->first[slot_of(l, at)]; j != UINT32_MAX; j = l->next[j]) {
        if (j >= i || memcmp(l->at[j], at, 3 * sizeof *at) != 0 || !strangers(scene, i, j, self_distance)) continue;
        const double square = square_distance(x, i, j);
        *least = fmin(*least, square);
        *overlaps += square < touching * touching;
    }
}

pbd_status particle_count_overlaps(const pbd_scene *scene, const double *x, double radius, double self_distance,
                                   pair_count *out) {
    cell_lists l;
    double least = 16 * radius * radius;
    size_t overlaps = 0;
    pbd_status status = make_lists(x, scene->particles, 4 * radius, &l);
    const long count = status.code == PBD_OK ? (long)scene->particles : 0;
#pragma omp parallel for schedule(dynamic, 256) reduction(min : least) reduction(+ : overlaps)
    for (long i = 0; i < count; i++) {
        if (l.at[i][0] > INT64_MAX / 4 || l.at[i][1] > INT64_MAX / 4 || l.at[i][2] > INT64_MAX / 4) continue;
        for (int cell = 0; cell < 27; cell++) {
            const int64_t at[3] = {l.at[i][0] + cell % 3 - 1, l.at[i][1] + cell / 3 % 3 - 1, l.at[i][2] + cell / 9 - 1};
            look_in_cell(scene, &l, x, (size_t)i, at, self_distance, 1.8 * radius, &least, &overlaps);
        }
    }
    free_lists(&l);
    *out = (pair_count){sqrt(least), overlaps};
    return status;
}
