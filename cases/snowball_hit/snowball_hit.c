/* A snowball flies into a person, who stands on the floor and does not give way. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "harness/exec/arena.h"

#include "cases/scenes/person.h"

enum { VIEWS = 4 }; /* pictures after the one at the start */

static const pbd_param params[] = {
    {"size", "m", PBD_REAL, "0.25", 0, 1e6, PBD_OPEN_MIN, NULL, "diameter of the snowball"},
    {"person", "m", PBD_REAL, "0.9", 0, 1e6, PBD_OPEN_MIN, NULL, "height of the person"},
    {"aim", "", PBD_REAL, "0.7", 0, 1, 0, NULL, "height of the ball's middle at first, over the person's"},
    {"gap", "m", PBD_REAL, "0.03", 0, 1e6, 0, NULL, "from the ball to the person's middle, less 0.1 of the height"},
    {"speed", "m/s", PBD_REAL, "8", 0, 1e6, 0, NULL, "of the ball"},
    PBD_SAMPLING_PARAMS("3000"),
    PBD_PARTICLE_MATERIAL_PARAMS("2e4", "0.3", "4", "hencky"),
    PBD_GRANULAR_FLOOR_PARAMS("0.5"),
    {"duration", "s", PBD_REAL, "0.15", 0, 1e6, PBD_OPEN_MIN, NULL, "simulated time"},
    {0}};

typedef struct hit_detail {
    sampling particles;
    granular_watch watch;
    double size, met;      /* m: diameter; s: earliest contact */
    double deepest;        /* m: largest depth of a particle's centre in the person */
    double momentum_error; /* before the first contact, over the ball's momentum */
} hit_detail;

/* ---- Building ---------------------------------------------------------------------------------------------------- */

static pbd_status build(const pbd_values *values, pbd_setup *setup) {
    pbd_scene *scene = &setup->scene;
    static const double foot[3] = {0, 0, 0}, up[3] = {0, 0, 1};
    hit_detail *detail = setup->detail;
    const double size = pbd_real(values, "size"), person = pbd_real(values, "person"), gap = pbd_real(values, "gap");
    const double speed = pbd_real(values, "speed"), friction = pbd_real(values, "floor_friction");
    const double height = person * pbd_real(values, "aim"), away = 0.1 * person + gap + 0.5 * size;
    if (!(height > 0.5 * size))
        return pbd_error(PBD_BAD_INPUT, "aim puts the ball's middle at %g m, into the floor: above size/2 = %g m",
                         height, 0.5 * size);
    detail->size = size;
    detail->met = speed > 0 ? gap / speed : 0;
    granular_set_material(values, scene);
    scene->duration = pbd_real(values, "duration");
    setup->observe_every = scene->duration / GRANULAR_LOOKS;
    const placement here = placement_at(-away, 0, height);
    shapes s = {0};
    shapes_sphere(&s, 0, 0, 0, 0.5 * size);
    const solid ball = shapes_solid(&s);
    PBD_TRY(granular_fill(values, &ball, &here, &detail->particles, scene));
    PBD_TRY_NEW(scene->particles.velocities, 3 * scene->particles.count);
    for (size_t i = 0; i < scene->particles.count; i++) scene->particles.velocities[3 * i] = speed;
    PBD_TRY(particle_open_colliders(scene, 1 + PERSON_PARTS));
    particle_add_plane(scene, foot, up, friction);
    person_add(scene, &(person_pose){.height = person}, 0, 0, friction);
    return pbd_ok();
}

/* ---- Measuring --------------------------------------------------------------------------------------------------- */

/* The momentum of the ball in flight is m (speed, 0, -g t). */
static pbd_status check_momentum(hit_detail *detail, const pbd_scene *scene, const pbd_method *method,
                                 const void *state, double time) {
    pbd_arena a PBD_ARENA;
    double *v = pbd_new(&a, double, 3 * scene->particles.count), sum[3] = {0, 0, 0}, mass = 0, off = 0;
    PBD_TRY(pbd_arena_check(&a));
    const pbd_status status = method->read(state, PBD_VELOCITIES, v);
    if (status.code != PBD_OK) return status.code == PBD_NOT_SUPPORTED ? pbd_ok() : status;
    for (size_t i = 0; i < scene->particles.count; i++) {
        mass += scene->particles.masses[i];
        for (size_t d = 0; d < 3; d++) sum[d] += scene->particles.masses[i] * v[3 * i + d];
    }
    for (size_t d = 0; d < 3; d++) {
        const double wanted = scene->particles.velocities[d] + scene->loads.gravity[d] * time;
        off += pow(sum[d] / mass - wanted, 2);
    }
    if (scene->particles.velocities[0] > 0)
        detail->momentum_error = fmax(detail->momentum_error, sqrt(off) / scene->particles.velocities[0]);
    return pbd_ok();
}

static pbd_status observe(const pbd_setup *setup, const pbd_method *method, const void *state, double time,
                          pbd_recorder *recorder) {
    const pbd_scene *scene = &setup->scene;
    hit_detail *detail = setup->detail;
    double *x PBD_CLEANUP(pbd_free_memory) = NULL;
    PBD_TRY(body_positions(scene, method, state, &x));
    const pbd_status status = granular_look(&detail->watch, setup, method, state, x, time, NULL, recorder);
    detail->deepest = fmax(detail->deepest, granular_depth_in(scene, 1, x, time));
    PBD_TRY(status);
    const double at = time / scene->duration * VIEWS, near = round(at);
    char name[16];
    snprintf(name, sizeof name, "view_%d", (int)near);
    if (fabs(at - near) <= 0.5 * VIEWS / GRANULAR_LOOKS) PBD_TRY(granular_record_view(scene, x, name, recorder));
    return time < 0.9 * detail->met ? check_momentum(detail, scene, method, state, time) : pbd_ok();
}

/* Clumps, the share of crumbs, and how wide the snow spread. */
static pbd_status record_splash(const hit_detail *detail, const pbd_scene *scene, const double *x,
                                pbd_recorder *recorder) {
    pieces parts PBD_CLEANUP(granular_free_pieces) = {0};
    pbd_arena a PBD_ARENA;
    size_t crumbs = 0;
    const size_t n = scene->particles.count, least = n / 100 + 1;
    size_t *size = pbd_new(&a, size_t, n);
    PBD_TRY(pbd_arena_check(&a));
    PBD_TRY(granular_pieces(x, n, 1.8 * scene->particles.spacing, least, &parts));
    for (size_t i = 0; i < n; i++) size[parts.of[i]]++;
    for (size_t i = 0; i < n; i++) crumbs += size[parts.of[i]] < least;
    pbd_metric(recorder, "fragments", "1", PBD_STATE, (double)parts.pieces);
    pbd_metric(recorder, "largest_fragment", "1", PBD_STATE, (double)parts.largest / (double)n);
    pbd_metric(recorder, "share_in_crumbs", "1", PBD_STATE, (double)crumbs / (double)n);
    double square = 0, start = 0;
    for (size_t i = 0; i < n; i++) {
        square += x[3 * i + 1] * x[3 * i + 1] / (double)n;
        start += scene->particles.positions[3 * i + 1] * scene->particles.positions[3 * i + 1] / (double)n;
    }
    if (isfinite(square)) pbd_metric(recorder, "spread", "1", PBD_STATE, sqrt(square / start));
    pbd_metric(recorder, "deepest_in_person", "m", PBD_FLAW, detail->deepest);
    pbd_metric(recorder, "momentum_error_in_flight", "1", PBD_FLAW, detail->momentum_error);
    return pbd_ok();
}

static pbd_status measure(const pbd_setup *setup, const pbd_method *method, const void *state, pbd_recorder *recorder) {
    const pbd_scene *scene = &setup->scene;
    const hit_detail *detail = setup->detail;
    double *x PBD_CLEANUP(pbd_free_memory) = NULL;
    PBD_TRY(body_positions(scene, method, state, &x));
    particle_record_sampling(&detail->particles, 1, recorder);
    granular_record(&detail->watch, scene, recorder);
    PBD_TRY(record_splash(detail, scene, x, recorder));
    body_record_shape(scene, x, recorder);
    return pbd_ok();
}

const pbd_case pbd_case_snowball_hit = {
    .name = "snowball_hit",
    .summary = "a snowball hits a person: clumps, crumbs, how wide they fly and what gets into the person",
    .source = "yu2024 Figure 12, Table 2 (Hitman)",
    .provides = PBD_NEEDS_PARTICLES | PBD_NEEDS_SAMPLES,
    .params = params,
    .shared = flow_params,
    .presets = "flow=nacc alpha0=-0.005 beta=0.05 xi=30 M=1.85",
    PARTICLE_DETAIL(hit_detail),
    .build = build,
    .measure = measure,
    .observe = observe,
};
