/* A free bar that spins end over end: no method may change its angular momentum, and only a dissipative one may take
 * energy from it. */
#include <math.h>
#include <stdlib.h>

#include "harness/exec/arena.h"

#include "cases/scenes/beam.h"

static const pbd_param params[] = {
    PBD_BOX_PARAMS("1e5", "0.3", "100", "neo_hookean", "1", "0.2", "2"),
    {"spin", "rad/s", PBD_REAL, "6.2831853071795862", 0, 1e6, PBD_OPEN_MIN, NULL, "about z, at the start"},
    {"duration", "s", PBD_REAL, "2", 0, 1e6, PBD_OPEN_MIN, NULL, "simulated time"},
    {0}};

typedef struct motion {
    double linear[3], angular[3]; /* kg m/s; kg m^2/s, about the origin */
    double energy;                /* J: kinetic and elastic; NaN where the law is undefined */
} motion;

typedef struct spin_detail {
    motion first;
    double highest; /* J */
} spin_detail;

static motion motion_of(const pbd_scene *scene, const double *x, const double *v) {
    motion m = {.energy = body_strain_at(scene, x).energy};
    for (size_t p = 0; p < scene->particles.count; p++)
        for (size_t d = 0; d < 3; d++) {
            const size_t e = (d + 1) % 3, f = (d + 2) % 3;
            const double *at = x + 3 * p, *speed = v + 3 * p;
            m.linear[d] += scene->particles.masses[p] * speed[d];
            m.angular[d] += scene->particles.masses[p] * (at[e] * speed[f] - at[f] * speed[e]);
            m.energy += 0.5 * scene->particles.masses[p] * speed[d] * speed[d];
        }
    return m;
}

static pbd_status spin_up(const pbd_values *values, pbd_setup *setup) {
    pbd_scene *scene = &setup->scene;
    const double spin = pbd_real(values, "spin");
    double centre[3] = {0}, mass = 0;
    spin_detail *detail = setup->detail;
    PBD_TRY_NEW(scene->particles.velocities, 3 * scene->particles.count);
    for (size_t p = 0; p < scene->particles.count; p++) {
        mass += scene->particles.masses[p];
        for (size_t d = 0; d < 3; d++) centre[d] += scene->particles.masses[p] * scene->particles.positions[3 * p + d];
    }
    for (size_t p = 0; p < scene->particles.count; p++) {
        const double *x = scene->particles.positions + 3 * p;
        scene->particles.velocities[3 * p] = -spin * (x[1] - centre[1] / mass);
        scene->particles.velocities[3 * p + 1] = spin * (x[0] - centre[0] / mass);
    }
    detail->first = motion_of(scene, scene->particles.positions, scene->particles.velocities);
    detail->highest = detail->first.energy;
    scene->duration = pbd_real(values, "duration");
    setup->observe_every = scene->duration / BODY_LOOKS;
    return pbd_ok();
}

static pbd_status build(const pbd_values *values, pbd_setup *setup) {
    pbd_scene *scene = &setup->scene;
    beam_size size;
    PBD_TRY(beam_build(values, scene, &size));
    return spin_up(values, setup);
}

static pbd_status look(const pbd_scene *scene, const pbd_method *method, const void *state, motion *out) {
    double *x, *v;
    PBD_TRY(body_motion(scene, method, state, &x, &v));
    *out = motion_of(scene, x, v);
    free(x);
    free(v);
    return pbd_ok();
}

static pbd_status observe(const pbd_setup *setup, const pbd_method *method, const void *state, double time,
                          pbd_recorder *recorder) {
    const pbd_scene *scene = &setup->scene;
    spin_detail *detail = setup->detail;
    motion now;
    const pbd_status status = look(scene, method, state, &now);
    if (status.code != PBD_OK) return status.code == PBD_NOT_SUPPORTED ? pbd_ok() : status; /* without velocities */
    const double turning = now.angular[2] / detail->first.angular[2], energy = now.energy / detail->first.energy;
    pbd_series(recorder, "time", "value", "s", &time, 1, 1);
    pbd_series(recorder, "angular_momentum", "value", "1", &turning, 1, 1);
    pbd_series(recorder, "energy", "value", "1", &energy, 1, 1);
    if (now.energy > detail->highest) detail->highest = now.energy;
    return pbd_ok();
}

static pbd_status measure(const pbd_setup *setup, const pbd_method *method, const void *state, pbd_recorder *recorder) {
    const pbd_scene *scene = &setup->scene;
    const spin_detail *detail = setup->detail;
    const motion *first = &detail->first;
    motion now;
    const pbd_status status = look(scene, method, state, &now);
    if (status.code != PBD_OK) return status.code == PBD_NOT_SUPPORTED ? pbd_ok() : status;
    double mass = 0, drift = 0, tilt = 0;
    for (size_t p = 0; p < scene->particles.count; p++) mass += scene->particles.masses[p];
    for (int d = 0; d < 3; d++) drift += now.linear[d] * now.linear[d];
    for (int d = 0; d < 2; d++) tilt += now.angular[d] * now.angular[d];
    pbd_metric(recorder, "angular_momentum_loss", "1", PBD_ERROR, 1 - now.angular[2] / first->angular[2]);
    pbd_metric(recorder, "angular_momentum_tilt", "1", PBD_ERROR, sqrt(tilt) / fabs(first->angular[2]));
    pbd_metric(recorder, "drift_speed", "m/s", PBD_ERROR, sqrt(drift) / mass);
    pbd_metric(recorder, "energy_loss", "1", PBD_ERROR, 1 - now.energy / first->energy);
    pbd_metric(recorder, "energy_rise", "1", PBD_ERROR, detail->highest / first->energy - 1);
    return pbd_ok();
}

const pbd_case pbd_case_spinning_bar = {
    .name = "spinning_bar",
    .summary = "a free bar that spins end over end: angular momentum and energy that a method loses",
    .source = "conservation of momentum and energy",
    .provides = PBD_NEEDS_PARTICLES | PBD_NEEDS_HEXES | PBD_NEEDS_TETS | PBD_NEEDS_SAMPLES,
    .params = params,
    .detail_bytes = sizeof(spin_detail),
    .build = build,
    .measure = measure,
    .observe = observe,
};
