/* A soft bunny, or another body, falls or is thrown to the ground, with or without self-contact. */
#include <math.h>
#include <stdlib.h>

#include "harness/exec/arena.h"

#include "cases/scenes/named_body.h"
#include "cases/scenes/particle_watch.h"

static const pbd_param params[] = {
    {"shape", "", PBD_CHOICE, "bunny", 0, 0, 0, body_shape_names, "which body; the bunny is a stand-in"},
    PBD_BODY_PARAM("shape=bunny, cow or armadillo"),
    {"size", "m", PBD_REAL, "2.5", 0, 1e6, PBD_OPEN_MIN, NULL, "the largest edge of the box around it"},
    PBD_SAMPLING_PARAMS("2000"),
    PBD_PARTICLE_MATERIAL_PARAMS("500", "0.4", "50", "neo_hookean"),
    {"drop", "m", PBD_REAL, "0.5", 0, 1e6, 0, NULL, "from its feet to the ground"},
    {"v0", "m/s", PBD_REAL, "0", 0, 1e6, 0, NULL, "down, at the start"},
    {"gravity", "m/s^2", PBD_REAL, "9.81", 0, 1e6, 0, NULL, "along -z"},
    {"ground", "", PBD_CHOICE, "on", 0, 0, 0, particle_on_off, "off: it falls forever"},
    {"self_contact", "", PBD_CHOICE, "on", 0, 0, 0, particle_on_off, "contact between parts of the body"},
    {"self_distance", "", PBD_REAL, "4", 1, 1e6, 0, NULL,
     "in spacings: contact applies to pairs farther apart at rest"},
    PBD_CONTACT_PARAMS("0.3", "ground=on or self_contact=on: "),
    {"duration", "s", PBD_REAL, "1", 0, 1e6, PBD_OPEN_MIN, NULL, "simulated time"},
    {0}};

typedef struct drop_detail {
    sampling particles;
    particle_watch watch;
} drop_detail;

/* ---- Building ---------------------------------------------------------------------------------------------------- */

static pbd_status build(const pbd_values *values, pbd_setup *setup) {
    pbd_scene *scene = &setup->scene;
    drop_detail *detail = setup->detail;
    const sampling_plan plan = particle_plan(values);
    const placement here = placement_at(0, 0, pbd_real(values, "drop"));
    const double stay[3] = {0, 0, 0}, up[3] = {0, 0, 1};
    named_body body PBD_CLEANUP(named_body_free) = {0};
    PBD_TRY(named_body_make(values, (body_shape)pbd_choice(values, "shape"), pbd_real(values, "size"), setup, &body));
    scene->material[0] = particle_material(values);
    scene->loads.gravity[2] = -pbd_real(values, "gravity");
    scene->duration = pbd_real(values, "duration");
    setup->observe_every = scene->duration / BODY_LOOKS;
    PBD_TRY(sampling_make(&body.solid, &plan, &detail->particles));
    PBD_TRY(particle_scene_make(&detail->particles, 1, &here, scene));
    if (pbd_real(values, "v0") > 0) {
        PBD_TRY_NEW(scene->particles.velocities, 3 * scene->particles.count);
        for (size_t i = 0; i < scene->particles.count; i++)
            scene->particles.velocities[3 * i + 2] = -pbd_real(values, "v0");
    }
    PBD_TRY(named_body_skin(&body, &here, scene));
    PBD_TRY(particle_set_radii(values, &detail->particles, scene));
    const double apart = pbd_real(values, "self_distance") * scene->particles.spacing;
    detail->watch = particle_watch_start(particle_radius(values, &detail->particles), apart);
    if (pbd_choice(values, "self_contact")) scene->contact.self_distance = apart;
    if (!pbd_choice(values, "ground")) return pbd_ok();
    PBD_TRY(particle_open_colliders(scene, 1));
    particle_add_plane(scene, stay, up, pbd_real(values, "friction"));
    return pbd_ok();
}

/* ---- Measuring --------------------------------------------------------------------------------------------------- */

static pbd_status observe(const pbd_setup *setup, const pbd_method *method, const void *state, double time,
                          pbd_recorder *recorder) {
    const pbd_scene *scene = &setup->scene;
    drop_detail *detail = setup->detail;
    return particle_watch_look(&detail->watch, scene, method, state, time, recorder);
}

static pbd_status measure(const pbd_setup *setup, const pbd_method *method, const void *state, pbd_recorder *recorder) {
    const pbd_scene *scene = &setup->scene;
    const drop_detail *detail = setup->detail;
    double *x PBD_CLEANUP(pbd_free_memory) = NULL;
    PBD_TRY(body_positions(scene, method, state, &x));
    particle_record_sampling(&detail->particles, 1, recorder);
    particle_watch_record(&detail->watch, scene, recorder);
    pbd_metric(recorder, "rest_shape_error", "1", PBD_STATE, body_shape_error(scene, x));
    return pbd_ok();
}

const pbd_case pbd_case_bunny_drop = {
    .name = "bunny_drop",
    .summary = "a soft bunny falls to the ground, with or without self-contact",
    .source = "cao2023 Figure 4, Table 1",
    .provides = PBD_NEEDS_PARTICLES | PBD_NEEDS_SAMPLES,
    .params = params,
    PARTICLE_DETAIL(drop_detail),
    .build = build,
    .measure = measure,
    .observe = observe,
};
