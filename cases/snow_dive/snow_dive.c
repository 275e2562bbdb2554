/* A person falls flat into a bed of snow between walls, and comes to rest in it: the crater. The fall is prescribed:
 * snow does not slow it. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "harness/exec/arena.h"

#include "cases/scenes/person.h"

enum { VIEWS = 4, WALLS = GRANULAR_WALLS + 1, COLUMNS = 60 };

static const pbd_param params[] = {
    {"length", "m", PBD_REAL, "0.5", 0, 1e6, PBD_OPEN_MIN, NULL, "of the bed, along x"},
    {"width", "m", PBD_REAL, "0.25", 0, 1e6, PBD_OPEN_MIN, NULL, "of the bed"},
    {"depth", "m", PBD_REAL, "0.15", 0, 1e6, PBD_OPEN_MIN, NULL, "of the snow"},
    {"person", "m", PBD_REAL, "0.25", 0, 1e6, PBD_OPEN_MIN, NULL, "height of the person"},
    {"pitch", "degrees", PBD_REAL, "90", -180, 180, 0, NULL, "0: feet first, 90: on the face, the head at -x"},
    {"gap", "m", PBD_REAL, "0.02", 0, 1e6, 0, NULL, "from the person to the snow at first"},
    {"dive", "m", PBD_REAL, "0.07", 0, 1e6, PBD_OPEN_MIN, NULL, "how far the lowest point comes below the surface"},
    {"speed", "m/s", PBD_REAL, "1", 0, 1e6, PBD_OPEN_MIN, NULL, "of the person"},
    PBD_SAMPLING_PARAMS("4000"),
    PBD_PARTICLE_MATERIAL_PARAMS("1e4", "0.3", "4", "hencky"),
    PBD_GRANULAR_FLOOR_PARAMS("0.5"),
    {"duration", "s", PBD_REAL, "0.2", 0, 1e6, PBD_OPEN_MIN, NULL, "simulated time"},
    {0}};

typedef struct dive_detail {
    sampling particles;
    granular_watch watch;
    double length, width, depth;
    double deepest; /* m: largest depth of a particle's centre in the person */
} dive_detail;

/* ---- Building ---------------------------------------------------------------------------------------------------- */

/* The floor has friction, the side walls have none: they stand for snow that continues behind them. */
static void add_bed(const double low[3], const double high[3], double friction, pbd_scene *scene) {
    const double foot[3] = {0, 0, low[2]}, up[3] = {0, 0, 1};
    particle_add_plane(scene, foot, up, friction);
    granular_add_walls(low, high, scene);
}

static pbd_status build(const pbd_values *values, pbd_setup *setup) {
    pbd_scene *scene = &setup->scene;
    dive_detail *detail = setup->detail;
    const double dive = pbd_real(values, "dive"), gap = pbd_real(values, "gap"), speed = pbd_real(values, "speed");
    const double friction = pbd_real(values, "floor_friction");
    detail->length = pbd_real(values, "length");
    detail->width = pbd_real(values, "width");
    detail->depth = pbd_real(values, "depth");
    if (!(dive < detail->depth))
        return pbd_error(PBD_BAD_INPUT, "dive=%g m takes the person through the floor: must be below depth=%g m", dive,
                         detail->depth);
    const double low[3] = {-0.5 * detail->length, -0.5 * detail->width, 0};
    const double high[3] = {0.5 * detail->length, 0.5 * detail->width, detail->depth};
    const placement here = placement_at(0, 0, 0);
    shapes s = {0};
    shapes_box(&s, low, high);
    const solid snow = shapes_solid(&s);
    granular_set_material(values, scene);
    scene->duration = pbd_real(values, "duration");
    setup->observe_every = scene->duration / GRANULAR_LOOKS;
    PBD_TRY(granular_fill(values, &snow, &here, &detail->particles, scene));
    PBD_TRY(particle_open_colliders(scene, WALLS + PERSON_PARTS));
    double foot[3], top[3];
    granular_find_box(scene, foot, top);
    add_bed(foot, top, friction, scene);
    detail->depth = top[2];
    const person_pose pose = {pbd_real(values, "person"), pbd_real(values, "pitch"), top[2] + gap, 0};
    person_add(scene, &pose, -speed, (gap + dive) / speed, friction);
    return pbd_ok();
}

/* ---- Measuring --------------------------------------------------------------------------------------------------- */

static pbd_status observe(const pbd_setup *setup, const pbd_method *method, const void *state, double time,
                          pbd_recorder *recorder) {
    const pbd_scene *scene = &setup->scene;
    dive_detail *detail = setup->detail;
    double *x PBD_CLEANUP(pbd_free_memory) = NULL;
    PBD_TRY(body_positions(scene, method, state, &x));
    const pbd_status status = granular_look(&detail->watch, setup, method, state, x, time, NULL, recorder);
    detail->deepest = fmax(detail->deepest, granular_depth_in(scene, WALLS, x, time));
    PBD_TRY(status);
    const double at = time / scene->duration * VIEWS, near = round(at);
    char name[16];
    snprintf(name, sizeof name, "view_%d", (int)near);
    return fabs(at - near) <= 0.5 * VIEWS / GRANULAR_LOOKS ? granular_record_view(scene, x, name, recorder) : pbd_ok();
}

/* The snow within the person's outline from above. */
typedef struct crater {
    size_t under, over; /* particles */
    double room;        /* m^3 under the person */
    double lowest;      /* m: of the person */
} crater;

static crater look_at_crater(const dive_detail *detail, const pbd_scene *scene, const double *x) {
    crater out = {.lowest = INFINITY};
    const double time = scene->duration, cell[2] = {detail->length / COLUMNS, detail->width / COLUMNS};
    double low, high;
    for (int k = 0; k < COLUMNS * COLUMNS; k++) {
        const double at[2] = {(k % COLUMNS + 0.5) * cell[0] - 0.5 * detail->length,
                              ((double)(k / COLUMNS) + 0.5) * cell[1] - 0.5 * detail->width};
        if (!person_over(scene, WALLS, time, at, &low, &high)) continue;
        out.room += cell[0] * cell[1] * fmax(low, 0);
        out.lowest = fmin(out.lowest, low);
    }
    for (size_t i = 0; i < scene->particles.count; i++) {
        const double at[2] = {x[3 * i], x[3 * i + 1]}, z = x[3 * i + 2];
        if (!person_over(scene, WALLS, time, at, &low, &high)) continue;
        out.under += z < 0.5 * (low + high);
        out.over += z >= 0.5 * (low + high);
    }
    return out;
}

static int ascending(const void *a, const void *b) {
    const double p = *(const double *)a, q = *(const double *)b;
    return (p > q) - (p < q);
}

/* The height of the undisturbed surface, over the outer tenth of the bed at both its ends: nine of ten particles are
 * lower, since some may fly. */
static pbd_status find_level(const dive_detail *detail, const pbd_scene *scene, const double *x, double *out) {
    pbd_arena a PBD_ARENA;
    double *z = pbd_new(&a, double, scene->particles.count);
    size_t count = 0;
    PBD_TRY(pbd_arena_check(&a));
    for (size_t i = 0; i < scene->particles.count; i++)
        if (fabs(x[3 * i]) > 0.45 * detail->length) z[count++] = x[3 * i + 2];
    qsort(z, count, sizeof *z, ascending);
    *out = count > 0 ? z[count * 9 / 10] : 0;
    return pbd_ok();
}

static pbd_status record_crater(const dive_detail *detail, const pbd_scene *scene, const double *x,
                                pbd_recorder *recorder) {
    const crater c = look_at_crater(detail, scene, x);
    const double all = (double)(c.under + c.over);
    double before = 0, now = 0;
    PBD_TRY(find_level(detail, scene, scene->particles.positions, &before));
    PBD_TRY(find_level(detail, scene, x, &now));
    if (c.room > 0)
        pbd_metric(recorder, "density_under_person", "1", PBD_STATE,
                   (double)c.under * detail->particles.volume / c.room);
    if (all > 0) pbd_metric(recorder, "share_over_person", "1", PBD_STATE, (double)c.over / all);
    if (isfinite(c.lowest))
        pbd_metric(recorder, "crater_depth", "m", PBD_STATE, detail->depth - (before - now) - c.lowest);
    pbd_metric(recorder, "surface_sunk", "m", PBD_STATE, before - now);
    pbd_metric(recorder, "deepest_in_person", "m", PBD_FLAW, detail->deepest);
    return pbd_ok();
}

static pbd_status measure(const pbd_setup *setup, const pbd_method *method, const void *state, pbd_recorder *recorder) {
    const pbd_scene *scene = &setup->scene;
    const dive_detail *detail = setup->detail;
    double *x PBD_CLEANUP(pbd_free_memory) = NULL;
    PBD_TRY(body_positions(scene, method, state, &x));
    particle_record_sampling(&detail->particles, 1, recorder);
    granular_record(&detail->watch, scene, recorder);
    const pbd_status status = record_crater(detail, scene, x, recorder);
    granular_record_slice(scene, x, recorder);
    body_record_shape(scene, x, recorder);
    return status;
}

const pbd_case pbd_case_snow_dive = {
    .name = "snow_dive",
    .summary = "a person falls flat into snow: the crater, how dense it is below, and what falls in above",
    .source = "yu2024 Figure 12, Table 2 (Snow Dive)",
    .provides = PBD_NEEDS_PARTICLES | PBD_NEEDS_SAMPLES,
    .params = params,
    .shared = flow_params,
    .presets = "flow=nacc alpha0=-0.0005 beta=0.05 xi=30 M=1.85",
    PARTICLE_DETAIL(dive_detail),
    .build = build,
    .measure = measure,
    .observe = observe,
};
