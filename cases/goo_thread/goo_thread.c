/* A thread of goo falls foot first to the floor, or is poured: does it coil, how high do the coils stand, and how much
 * of its strain would it recover?
 *
 * pour=on: the thread stands in a nozzle, whose mouth is where its foot is at the start. Particles in the nozzle move
 * down at constant speed and are released in the mouth.
 *
 * The thread is tracked by slabs, half a diameter thick at rest: their centres are its centre line, and the spread of
 * their particles from it shows how much like a fluid it behaved. */
#include <math.h>
#include <stdlib.h>

#include "harness/exec/arena.h"

#include "cases/scenes/granular.h"

#define REAL double
#include "methods/physics/math/svd3.h"

static const pbd_param params[] = {
    {"diameter", "m", PBD_REAL, "0.02", 0, 1e6, PBD_OPEN_MIN, NULL, "of the thread"},
    {"slenderness", "", PBD_REAL, "15", 1, 1000, 0, NULL, "length over diameter"},
    {"drop", "m", PBD_REAL, "0.01", 0, 1e6, 0, NULL, "from its foot, or the nozzle, to the floor"},
    {"speed", "m/s", PBD_REAL, "1", 0, 1e6, 0, NULL, "at the start, or in the nozzle, downwards"},
    {"pour", "", PBD_CHOICE, "off", 0, 0, 0, particle_on_off,
     "the thread comes out of a nozzle evenly; off: it falls as one"},
    {"jitter", "", PBD_REAL, "0.05", 0, 0.4, 0, NULL,
     "largest random offset of each along each axis, in spacings: a symmetric thread has no direction to buckle in"},
    PBD_SEEDED_SAMPLING_PARAMS("1500", "sampling=poisson or jitter>0"),
    PBD_PARTICLE_MATERIAL_PARAMS("1e4", "0.3", "1000", "hencky"),
    PBD_GRANULAR_FLOOR_PARAMS("0.6"),
    {"duration", "s", PBD_REAL, "0.5", 0, 1e6, PBD_OPEN_MIN, NULL, "simulated time"},
    {0}};

typedef struct slab {
    double count, centre[3], square; /* m; m^2: mean square distance from the centre */
} slab;

typedef struct thread_detail {
    sampling particles;
    granular_watch watch;
    double diameter, foot; /* m: the foot's height at the start */
    size_t slabs;
    double start_square; /* m^2: mean over the slabs of their mean square, at the start */
} thread_detail;

/* ---- Building ---------------------------------------------------------------------------------------------------- */

static size_t slab_of(const thread_detail *detail, const pbd_scene *scene, size_t particle) {
    const double up = (scene->particles.positions[3 * particle + 2] - detail->foot) / (0.5 * detail->diameter);
    return (size_t)fmin(fmax(up, 0), (double)detail->slabs - 1);
}

static pbd_status make_slabs(const thread_detail *detail, const pbd_scene *scene, const double *x, slab **out) {
    PBD_TRY_NEW(*out, detail->slabs);
    slab *list = *out;
    for (size_t i = 0; i < scene->particles.count; i++) {
        slab *s = &list[slab_of(detail, scene, i)];
        s->count++;
        for (size_t d = 0; d < 3; d++) s->centre[d] += x[3 * i + d];
    }
    for (size_t k = 0; k < detail->slabs; k++)
        for (size_t d = 0; d < 3; d++) list[k].centre[d] /= fmax(list[k].count, 1);
    for (size_t i = 0; i < scene->particles.count; i++) {
        slab *s = &list[slab_of(detail, scene, i)];
        for (size_t d = 0; d < 3; d++) s->square += pow(x[3 * i + d] - s->centre[d], 2) / s->count;
    }
    return pbd_ok();
}

static double mean_square(const thread_detail *detail, const slab *list) {
    double sum = 0;
    for (size_t k = 0; k < detail->slabs; k++) sum += list[k].square / (double)detail->slabs;
    return sum;
}

static void disturb(const pbd_values *values, sampling *s) {
    const double most = pbd_real(values, "jitter") * s->spacing;
    uint64_t seed = (uint64_t)pbd_integer(values, "seed") + 1;
    for (size_t i = 0; i < 3 * s->count && most > 0; i++) s->position[i] += most * body_noise(&seed);
}

static pbd_status set_speed(const pbd_values *values, pbd_scene *scene) {
    PBD_TRY_NEW(scene->particles.velocities, 3 * scene->particles.count);
    for (size_t i = 0; i < scene->particles.count; i++)
        scene->particles.velocities[3 * i + 2] = -pbd_real(values, "speed");
    return pbd_ok();
}

/* Each particle is held until it has come down to the mouth. */
static pbd_status pour(const pbd_values *values, const thread_detail *detail, pbd_setup *setup) {
    const double speed = pbd_real(values, "speed"), length = detail->diameter * pbd_real(values, "slenderness");
    pbd_scene *scene = &setup->scene;
    pbd_particles *p = &scene->particles;
    if (!(speed > 0)) return pbd_error(PBD_BAD_INPUT, "pour=on at speed=0 m/s pours nothing: set speed above 0");
    PBD_TRY_NEW(p->fixed_particle, p->count);
    PBD_TRY_NEW(scene->pour.until, p->count);
    for (size_t i = 0; i < p->count; i++) {
        const double up = p->positions[3 * i + 2] - detail->foot;
        if (!(up > 0)) continue;
        scene->pour.until[p->fixed] = up / speed;
        p->fixed_particle[p->fixed++] = (uint32_t)i;
    }
    scene->pour.velocity[2] = -speed;
    if (length > speed * scene->duration)
        pbd_setup_warn(
            setup, "still_pouring",
            "the thread is out of the nozzle after %.3g s, the run ends after %.3g: heights are the nozzle's",
            length / speed, scene->duration);
    return pbd_ok();
}

static pbd_status make_thread(const pbd_values *values, thread_detail *detail, pbd_scene *scene) {
    const double length = detail->diameter * pbd_real(values, "slenderness");
    const double low[3] = {0, 0, 0}, high[3] = {0, 0, length};
    const placement here = placement_at(0, 0, detail->foot);
    const sampling_plan plan = particle_plan(values);
    shapes s = {0};
    shapes_cylinder(&s, low, high, 0.5 * detail->diameter);
    const solid body = shapes_solid(&s);
    detail->slabs = (size_t)fmax(floor(2 * length / detail->diameter), 1);
    PBD_TRY(sampling_make(&body, &plan, &detail->particles));
    disturb(values, &detail->particles);
    PBD_TRY(particle_scene_make(&detail->particles, 1, &here, scene));
    return granular_set_radii(values, &detail->particles, scene);
}

static pbd_status build(const pbd_values *values, pbd_setup *setup) {
    pbd_scene *scene = &setup->scene;
    thread_detail *detail = setup->detail;
    const double at[3] = {0, 0, 0}, up[3] = {0, 0, 1};
    slab *list PBD_CLEANUP(pbd_free_memory) = NULL;
    detail->diameter = pbd_real(values, "diameter");
    detail->foot = pbd_real(values, "drop");
    granular_set_material(values, scene);
    scene->duration = pbd_real(values, "duration");
    setup->observe_every = scene->duration / GRANULAR_LOOKS;
    PBD_TRY(make_thread(values, detail, scene));
    PBD_TRY(set_speed(values, scene));
    if (pbd_choice(values, "pour")) PBD_TRY(pour(values, detail, setup));
    PBD_TRY(make_slabs(detail, scene, scene->particles.positions, &list));
    detail->start_square = mean_square(detail, list);
    PBD_TRY(particle_open_colliders(scene, 1));
    particle_add_plane(scene, at, up, pbd_real(values, "floor_friction"));
    return pbd_ok();
}

/* ---- Measuring --------------------------------------------------------------------------------------------------- */

static pbd_status observe(const pbd_setup *setup, const pbd_method *method, const void *state, double time,
                          pbd_recorder *recorder) {
    const pbd_scene *scene = &setup->scene;
    thread_detail *detail = setup->detail;
    heap now;
    pieces parts PBD_CLEANUP(granular_free_pieces) = {0};
    double *x PBD_CLEANUP(pbd_free_memory) = NULL;
    PBD_TRY(body_positions(scene, method, state, &x));
    PBD_TRY(granular_look(&detail->watch, setup, method, state, x, time, &parts, recorder));
    PBD_TRY(heap_measure(scene, x, HEAP_AXISYMMETRIC, &parts, &now));
    const double reach = now.reach_99 / detail->diameter;
    if (isfinite(reach)) pbd_series(recorder, "reach", "value", "1", &reach, 1, 1);
    return pbd_ok();
}

typedef struct turning {
    double net, all, length; /* turns: of one sense less the other, of both; m along the ground */
} turning;

/* Turns of the centre line as seen from above. Steps shorter than a tenth of a diameter have no direction. */
static turning turning_of(const thread_detail *detail, const slab *list) {
    turning out = {0};
    double last[2] = {0, 0};
    const double *from = list[0].centre;
    for (size_t k = 1; k < detail->slabs; k++) {
        const double step[2] = {list[k].centre[0] - from[0], list[k].centre[1] - from[1]};
        const double length = hypot(step[0], step[1]);
        if (!(list[k].count > 0) || !(length > 0.1 * detail->diameter)) continue;
        if (last[0] != 0 || last[1] != 0) {
            const double angle =
                atan2(last[0] * step[1] - last[1] * step[0], last[0] * step[0] + last[1] * step[1]) / (2 * acos(-1));
            out.net += angle;
            out.all += fabs(angle);
        }
        out.length += length;
        last[0] = step[0], last[1] = step[1];
        from = list[k].centre;
    }
    return out;
}

/* Mean Frobenius norm of the deviator of F's logarithmic stretches: the strain that would be recovered. */
static pbd_status elastic_strain(const pbd_scene *scene, const pbd_method *method, const void *state, double *out) {
    pbd_arena a PBD_ARENA;
    double *F = pbd_new(&a, double, 9 * scene->particles.count);
    *out = 0;
    PBD_TRY(pbd_arena_check(&a));
    PBD_TRY(method->read(state, PBD_DEFORMATION_GRADIENTS, F));
    for (size_t i = 0; i < scene->particles.count; i++) {
        const double *f = F + 9 * i;
        const svd3 parts =
            mat3_svd(mat3_make(vec3_make(f[0], f[3], f[6]), vec3_make(f[1], f[4], f[7]), vec3_make(f[2], f[5], f[8])));
        const double e[3] = {log(parts.s.x), log(parts.s.y), log(fabs(parts.s.z))}, third = (e[0] + e[1] + e[2]) / 3;
        const double norm = sqrt(pow(e[0] - third, 2) + pow(e[1] - third, 2) + pow(e[2] - third, 2));
        *out += norm / (double)scene->particles.count;
    }
    return pbd_ok();
}

static void record_coils(const thread_detail *detail, const slab *list, const heap *now, pbd_recorder *recorder) {
    const turning t = turning_of(detail, list);
    pbd_metric(recorder, "coil_height", "1", PBD_STATE, now->height / detail->diameter);
    if (isfinite(now->reach_99)) pbd_metric(recorder, "reach", "1", PBD_STATE, now->reach_99 / detail->diameter);
    pbd_metric(recorder, "coil_turns", "1", PBD_STATE, fabs(t.net));
    pbd_metric(recorder, "bends", "1", PBD_STATE, t.all);
    pbd_metric(recorder, "length_on_ground", "1", PBD_STATE, t.length / detail->diameter);
    pbd_metric(recorder, "slab_spread", "1", PBD_STATE, sqrt(mean_square(detail, list) / detail->start_square));
    for (size_t k = 0; k < detail->slabs; k++) {
        pbd_series(recorder, "centre_line", "x", "m", &list[k].centre[0], 1, 1);
        pbd_series(recorder, "centre_line", "y", "m", &list[k].centre[1], 1, 1);
        pbd_series(recorder, "centre_line", "z", "m", &list[k].centre[2], 1, 1);
    }
}

static pbd_status measure(const pbd_setup *setup, const pbd_method *method, const void *state, pbd_recorder *recorder) {
    const pbd_scene *scene = &setup->scene;
    const thread_detail *detail = setup->detail;
    heap now;
    slab *list PBD_CLEANUP(pbd_free_memory) = NULL;
    double *x PBD_CLEANUP(pbd_free_memory) = NULL;
    double strain;
    PBD_TRY(body_positions(scene, method, state, &x));
    PBD_TRY(heap_measure(scene, x, HEAP_AXISYMMETRIC, NULL, &now));
    PBD_TRY(make_slabs(detail, scene, x, &list));
    particle_record_sampling(&detail->particles, 1, recorder);
    granular_record(&detail->watch, scene, recorder);
    record_coils(detail, list, &now, recorder);
    granular_record_slice(scene, x, recorder);
    body_record_shape(scene, x, recorder);
    const pbd_status status = elastic_strain(scene, method, state, &strain);
    if (status.code == PBD_OK && isfinite(strain)) pbd_metric(recorder, "elastic_strain", "1", PBD_STATE, strain);
    return status.code == PBD_NOT_SUPPORTED ? pbd_ok() : status;
}

const pbd_case pbd_case_goo_thread = {
    .name = "goo_thread",
    .summary = "a thread of goo falls to the floor, or is poured: coiling or merging",
    .source = "yu2024 Figure 10",
    .provides = PBD_NEEDS_PARTICLES | PBD_NEEDS_SAMPLES,
    .params = params,
    .shared = flow_params,
    .presets = "flow=herschel_bulkley yield_stress=50",
    PARTICLE_DETAIL(thread_detail),
    .build = build,
    .measure = measure,
    .observe = observe,
};
