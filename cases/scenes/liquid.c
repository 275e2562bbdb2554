#include "cases/scenes/liquid.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cases/scenes/larger.h"
#include "cases/scenes/particle_watch.h"
#include "harness/exec/arena.h"

/* ---- Building ---------------------------------------------------------------------------------------------------- */

static pbd_status mark_liquid(const pbd_values *values, pbd_scene *scene) {
    const double jitter = pbd_real(values, "jitter") * scene->particles.spacing;
    uint64_t seed = 1;
    PBD_TRY_NEW(scene->contact.radius, scene->particles.count);
    for (size_t i = 0; i < scene->particles.count; i++) scene->contact.radius[i] = 0.25 * scene->particles.spacing;
    for (size_t i = 0; i < 3 * scene->particles.count && jitter > 0; i++)
        scene->particles.positions[i] += jitter * body_noise(&seed);
    return pbd_ok();
}

pbd_status liquid_make(const pbd_values *values, const double low[3], const double high[3], double spacing,
                       pbd_scene *scene) {
    const sampling_plan plan = {.kind = SAMPLING_LATTICE, .spacing = spacing};
    const placement here = placement_at(0, 0, 0);
    shapes box = {0};
    sampling particles PBD_CLEANUP(sampling_free) = {0};
    shapes_box(&box, low, high);
    const solid body = shapes_solid(&box);
    scene->material[0] = (pbd_material){
        .matter = PBD_FLUID, .density = pbd_real(values, "density"), .viscosity = pbd_real(values, "viscosity")};
    scene->loads.gravity[2] = -pbd_real(values, "gravity");
    PBD_TRY(sampling_make(&body, &plan, &particles));
    PBD_TRY(particle_scene_make(&particles, 1, &here, scene));
    return mark_liquid(values, scene);
}

void liquid_add_tank(pbd_scene *scene, const double low[3], const double high[3], unsigned open) {
    const double floor_at[3] = {0, 0, 0}, up[3] = {0, 0, 1};
    particle_add_plane(scene, floor_at, up, 0);
    for (int wall = 0; wall < 4; wall++) {
        double inward[3] = {0};
        inward[wall / 2] = wall % 2 ? -1 : 1;
        if (!(open >> wall & 1)) particle_add_plane(scene, wall % 2 ? high : low, inward, 0);
    }
}

/* ---- Looking ----------------------------------------------------------------------------------------------------- */

pbd_status liquid_look(liquid_watch *w, const pbd_scene *scene, const pbd_method *method, const void *state,
                       const double *x, double time, pbd_recorder *recorder) {
    double weight = 0, mass = 0, moment = 0, speed = 0;
    const double reach = scene->particles.spacing + (scene->contact.radius ? scene->contact.radius[0] : 0);
    const pbd_status status = particle_kinetic_energy(scene, method, state, &w->kinetic, &speed);
    if (status.code != PBD_OK && status.code != PBD_NOT_SUPPORTED) return status;
    w->tells_velocities = status.code == PBD_OK;
    w->lost = 0;
    for (size_t i = 0; i < scene->particles.count; i++) {
        const pbd_scene one = {.particles.count = 1,
                               .colliders.count = scene->colliders.count,
                               .colliders.item = scene->colliders.item,
                               .contact.radius = scene->contact.radius};
        size_t beyond;
        const bool somewhere = isfinite(x[3 * i]) && isfinite(x[3 * i + 1]) && isfinite(x[3 * i + 2]);
        w->lost += !somewhere || particle_deepest(&one, x + 3 * i, &beyond) > reach;
        weight -= scene->particles.masses[i] * scene->loads.gravity[2] * x[3 * i + 2];
        mass += scene->particles.masses[i];
        moment += scene->particles.masses[i] * x[3 * i + 2];
    }
    w->centre = moment / mass;
    w->energy = weight + w->kinetic;
    if (!w->looked) w->start_energy = w->energy;
    w->looked = true;
    w->peak = larger(w->kinetic, w->peak);
    w->fastest = larger(speed, w->fastest);
    const double ratio = w->start_energy > 0 ? w->energy / w->start_energy : 0;
    w->most_gain = fmax(w->most_gain, ratio - 1);
    pbd_series(recorder, "time", "value", "s", &time, 1, 1);
    pbd_series(recorder, "height_of_centre", "value", "m", &w->centre, 1, 1);
    if (!w->tells_velocities) return pbd_ok();
    pbd_series(recorder, "kinetic_energy", "value", "J", &w->kinetic, 1, 1);
    pbd_series(recorder, "energy", "value", "1", &ratio, 1, 1);
    return pbd_ok();
}

void liquid_record(const liquid_watch *w, pbd_recorder *recorder) {
    pbd_metric(recorder, "lost_particles", "1", PBD_FLAW, (double)w->lost);
    if (!w->looked || !w->tells_velocities) return;
    if (w->start_energy > 0) {
        pbd_metric(recorder, "kinetic_energy_left", "1", PBD_FLAW, w->kinetic / w->start_energy);
        pbd_metric(recorder, "energy_gained", "1", PBD_FLAW, w->most_gain);
    }
    pbd_metric(recorder, "largest_speed", "m/s", PBD_STATE, w->fastest);
}
