/* A drop of smoothed particles falls on the ground or into a pool, between walls; or drifts freely. The scene of the
 * paper's Figure 6, also used to measure individual time steps of particles: calm as a pool at rest, violent as a fast
 * drop that hits one. */
#include <math.h>
#include <stdlib.h>

#include "cases/scenes/smoothed_body.h"

static const pbd_param params[] = {
    {"particles", "", PBD_INTEGER, "80", 1, 2000000, 0, NULL, "of the drop"},
    {"shape", "", PBD_CHOICE, "ball", 0, 0, 0, (const char *const[]){"ball", "block", NULL}, "of the drop"},
    {"pool_particles", "", PBD_INTEGER, "0", 0, 2000000, 0, NULL, "of the pool on the ground; 0: none"},
    {"pool_columns", "", PBD_INTEGER, "40", 1, 10000, 0, NULL, "pool_particles>0: of the pool, from wall to wall"},
    PBD_SMOOTHED_PARAMS("2", "0.94", "10", "2"),
    {"height", "", PBD_REAL, "6", 0, 1e6, 0, NULL,
     "of the drop's middle above the ground or the pool, in spacings, and its radius"},
    {"speed", "m/s", PBD_REAL, "0", 0, 1e6, 0, NULL, "of the drop, downwards"},
    {"spin", "rad/s", PBD_REAL, "0", -1e6, 1e6, 0, NULL, "of the drop about its middle, in the plane of x and y"},
    {"squeeze", "", PBD_REAL, "1", 0.1, 2, 0, NULL, "the drop's distances at the start, over those of the lattice"},
    {"rest_density", "kg/m^3", PBD_REAL, "0", 0, 1e9, 0, NULL, "of Eq. 6; 0: the method's default"},
    {"gravity", "m/s^2", PBD_REAL, "1", 0, 1e6, 0, NULL, "along -y"},
    {"ground", "", PBD_CHOICE, "on", 0, 0, 0, particle_on_off, "a plane below, and walls about a pool"},
    {"friction", "", PBD_REAL, "0", 0, 100, 0, NULL, "ground=on: Coulomb's coefficient of ground and walls"},
    {"looks", "", PBD_INTEGER, "200", 1, 100000, 0, NULL, "at the surface, over the duration"},
    PBD_SMOOTHED_FILES_PARAM,
    {"duration", "s", PBD_REAL, "12", 0, 1e6, PBD_OPEN_MIN, NULL, "simulated time"},
    {0}};

enum { MOST_DIFFERED = 100 }; /* most particles whose energy is differentiated */

typedef struct drop_detail {
    smoothed_watch watch;
    double rest_density; /* 0: the method's */
} drop_detail;

/* ---- Building ---------------------------------------------------------------------------------------------------- */

static pbd_status add_ground(const pbd_values *values, pbd_scene *scene) {
    if (pbd_choice(values, "ground") == 0) return pbd_ok();
    const double friction = pbd_real(values, "friction"), down = -0.5 * scene->particles.spacing;
    const double ground[3] = {0, down, 0}, up[3] = {0, 1, 0};
    PBD_TRY(particle_open_colliders(scene, 5));
    particle_add_plane(scene, ground, up, friction);
    if (pbd_integer(values, "pool_particles") == 0) return pbd_ok();
    const double half = 0.5 * scene->particles.spacing * (double)pbd_integer(values, "pool_columns");
    for (int side = 0; side < 2 * (pbd_choice(values, "dimensions") + 1); side++) {
        double at[3] = {0, 0, 0}, inward[3] = {0, 0, 0};
        const int axis = side < 2 ? 0 : 2;
        inward[axis] = side % 2 ? -1 : 1;
        at[axis] = -half * inward[axis];
        particle_add_plane(scene, at, inward, friction);
    }
    return pbd_ok();
}

static void make_lumps(const pbd_values *values, smoothed_lump lump[2]) {
    const double spacing = pbd_real(values, "spacing");
    const size_t n = (size_t)pbd_integer(values, "particles"), pool = (size_t)pbd_integer(values, "pool_particles");
    const size_t columns = (size_t)pbd_integer(values, "pool_columns");
    const bool plane = pbd_choice(values, "dimensions") == 0;
    const double layer = plane ? (double)columns : (double)(columns * columns), level = ceil((double)pool / layer);
    const double radius = plane ? sqrt((double)n / acos(-1)) : cbrt(0.75 * (double)n / acos(-1));
    const bool ball = pbd_choice(values, "shape") == 0;
    lump[0] = (smoothed_lump){.shape = ball ? SMOOTHED_BALL : SMOOTHED_BLOCK,
                              .particles = n,
                              .columns = (size_t)ceil(plane ? sqrt((double)n) : cbrt((double)n)),
                              .at = {0, spacing * (level + pbd_real(values, "height") + (ball ? radius : 0)), 0},
                              .velocity = {0, -pbd_real(values, "speed"), 0},
                              .squeeze = pbd_real(values, "squeeze")};
    lump[1] = (smoothed_lump){.shape = SMOOTHED_BLOCK, .particles = pool, .columns = columns};
}

static void spin_drop(const smoothed_lump *drop, double spin, pbd_scene *scene) {
    for (size_t p = 0; p < drop->particles; p++) {
        const double *x = scene->particles.positions + 3 * p;
        scene->particles.velocities[3 * p] -= spin * (x[1] - drop->at[1]);
        scene->particles.velocities[3 * p + 1] += spin * (x[0] - drop->at[0]);
    }
}

static pbd_status build(const pbd_values *values, pbd_setup *setup) {
    pbd_scene *scene = &setup->scene;
    drop_detail *detail = setup->detail;
    smoothed_lump lump[2];
    make_lumps(values, lump);
    PBD_TRY(smoothed_make(values, lump, lump[1].particles > 0 ? 2 : 1, scene));
    scene->duration = pbd_real(values, "duration");
    setup->observe_every = scene->duration / (double)pbd_integer(values, "looks");
    scene->loads.gravity[1] = -pbd_real(values, "gravity");
    spin_drop(&lump[0], pbd_real(values, "spin"), scene);
    detail->watch = smoothed_watch_start(values, scene, 0);
    detail->rest_density = pbd_real(values, "rest_density");
    return add_ground(values, scene);
}

/* ---- Measuring --------------------------------------------------------------------------------------------------- */

static pbd_status observe(const pbd_setup *setup, const pbd_method *method, const void *state, double time,
                          pbd_recorder *recorder) {
    const pbd_scene *scene = &setup->scene;
    drop_detail *detail = setup->detail;
    return smoothed_watch_look(&detail->watch, scene, method, state, time, recorder);
}

/* Momentum and, about the origin, angular momentum. */
static void momenta_of(const pbd_scene *scene, const double *x, const double *v, double out[6]) {
    for (int d = 0; d < 6; d++) out[d] = 0;
    for (size_t p = 0; p < scene->particles.count; p++)
        for (size_t d = 0; d < 3; d++) {
            const size_t e = (d + 1) % 3, f = (d + 2) % 3;
            out[d] += scene->particles.masses[p] * v[3 * p + d];
            out[3 + d] += scene->particles.masses[p] * (x[3 * p + e] * v[3 * p + f] - x[3 * p + f] * v[3 * p + e]);
        }
}

/* Momenta gained by a scene without external forces, over the sum of all |m v| by components at the start (angular: and
 * over the extent). */
static void record_momenta(const pbd_scene *scene, const double *x, const double *v, pbd_recorder *recorder) {
    double before[6], after[6], linear = 0, angular = 0, all = 0;
    momenta_of(scene, scene->particles.positions, scene->particles.velocities, before);
    momenta_of(scene, x, v, after);
    for (size_t i = 0; i < 3 * scene->particles.count; i++)
        all += scene->particles.masses[i / 3] * fabs(scene->particles.velocities[i]);
    if (scene->colliders.count > 0 || scene->loads.gravity[1] != 0 || !(all > 0)) return;
    for (int d = 0; d < 3; d++) {
        linear = fmax(linear, fabs(after[d] - before[d]) / all);
        angular = fmax(angular, fabs(after[3 + d] - before[3 + d]) / (all * scene->extent));
    }
    pbd_metric(recorder, "momentum_gained", "1", PBD_ERROR, linear);
    pbd_metric(recorder, "angular_momentum_gained", "1", PBD_ERROR, angular);
}

/* For a drop that began at rest without loads: whether its forces sum to zero and, if its rest density is known,
 * whether they are the descent direction of the energy. */
static pbd_status record_force(const pbd_setup *setup, const double *v, pbd_recorder *recorder) {
    const pbd_scene *scene = &setup->scene;
    const drop_detail *detail = setup->detail;
    double sum[3] = {0}, all = 0, off;
    for (size_t p = 0; p < scene->particles.count; p++) {
        const double *start = scene->particles.velocities + 3 * p, *u = v + 3 * p, mass = scene->particles.masses[p];
        if (start[0] != 0 || start[1] != 0 || start[2] != 0) return pbd_ok();
        for (int d = 0; d < 3; d++) sum[d] += mass * u[d];
        all += mass * sqrt(u[0] * u[0] + u[1] * u[1] + u[2] * u[2]);
    }
    if (scene->colliders.count > 0 || scene->loads.gravity[1] != 0 || !(all > 0)) return pbd_ok();
    pbd_metric(recorder, "impulse_sum", "1", PBD_FLAW, sqrt(sum[0] * sum[0] + sum[1] * sum[1] + sum[2] * sum[2]) / all);
    if (!(detail->rest_density > 0) || scene->particles.count > MOST_DIFFERED) return pbd_ok();
    PBD_TRY(smoothed_direction_error(&detail->watch, scene, detail->rest_density, v, &off));
    if (isfinite(off)) pbd_metric(recorder, "direction_error", "1", PBD_STATE, off);
    return pbd_ok();
}

/* Also records all positions, so that runs can be compared particle by particle. */
static pbd_status measure(const pbd_setup *setup, const pbd_method *method, const void *state, pbd_recorder *recorder) {
    const pbd_scene *scene = &setup->scene;
    const drop_detail *detail = setup->detail;
    double *x, *v, energy = 0;
    PBD_TRY(body_motion(scene, method, state, &x, &v));
    for (size_t i = 0; i < 3 * scene->particles.count; i++)
        energy += 0.5 * scene->particles.masses[i / 3] * v[i] * v[i];
    pbd_metric(recorder, "kinetic_energy", "J", PBD_STATE, energy);
    record_momenta(scene, x, v, recorder);
    const pbd_status status = record_force(setup, v, recorder);
    static const char *const axis[] = {"x", "y", "z"};
    for (int d = 0; d < 3 && scene->particles.count <= SMOOTHED_SEEN; d++)
        pbd_series(recorder, "place", axis[d], "m", x + d, scene->particles.count, 3);
    free(x);
    free(v);
    PBD_TRY(status);
    return smoothed_watch_record(&detail->watch, scene, method, state, recorder);
}

const pbd_case pbd_case_liquid_drop = {
    .name = "liquid_drop",
    .summary = "a drop of smoothed particles falls on the ground or into a pool, or drifts freely",
    .source = "desbrun1996 Figure 6, sections 3.2 and 5",
    .provides = PBD_NEEDS_PARTICLES | PBD_NEEDS_SAMPLES,
    .params = params,
    .detail_bytes = sizeof(drop_detail),
    .build = build,
    .measure = measure,
    .observe = observe,
};
