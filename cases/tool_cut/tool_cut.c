/* A rigid tool comes down through a body of smoothed particles that lies on the ground: is the body then in two pieces,
 * and how has its surface changed? */
#include <math.h>
#include <stdlib.h>

#include "cases/scenes/smoothed_body.h"

static const pbd_param params[] = {
    {"particles", "", PBD_INTEGER, "80", 1, 1000000, 0, NULL, "of the body"},
    {"columns", "", PBD_INTEGER, "10", 1, 10000, 0, NULL, "of the block that it starts as"},
    PBD_SMOOTHED_PARAMS("2", "0.94", "10", "2"),
    {"gravity", "m/s^2", PBD_REAL, "0", 0, 1e6, 0, NULL, "along -y"},
    {"settle", "s", PBD_REAL, "10", 0, 1e6, 0, NULL, "before the tool begins to move"},
    {"tool_radius", "", PBD_REAL, "1.2", 0, 1e6, PBD_OPEN_MIN, NULL,
     "half its thickness, in spacings; its tip is round"},
    {"tool_speed", "m/s", PBD_REAL, "1", 0, 1e6, PBD_OPEN_MIN, NULL, "downwards, until the tip is on the ground"},
    {"friction", "", PBD_REAL, "0", 0, 100, 0, NULL, "Coulomb's coefficient of tool and ground"},
    PBD_SMOOTHED_FILES_PARAM,
    {"duration", "s", PBD_REAL, "0", 0, 1e6, 0, NULL, "simulated time; 0: 1.3 times that until the tool is down"},
    {0}};

static pbd_status add_tool(const pbd_values *values, pbd_scene *scene) {
    const double spacing = scene->particles.spacing, ground[3] = {0, -0.5 * spacing, 0}, up[3] = {0, 1, 0};
    const double friction = pbd_real(values, "friction"), radius = pbd_real(values, "tool_radius") * spacing;
    const double speed = pbd_real(values, "tool_speed");
    double top = -INFINITY;
    for (size_t p = 0; p < scene->particles.count; p++) top = fmax(top, scene->particles.positions[3 * p + 1]);
    const double above = top + 2 * spacing, half = top - ground[1] + 4 * spacing;
    PBD_TRY(particle_open_colliders(scene, 2));
    particle_add_plane(scene, ground, up, friction);
    /* The capsule's axis is y: x, y, z of its frame are z, x, y of the scene. */
    scene->colliders.item[scene->colliders.count++] =
        (pbd_collider){.shape = PBD_CAPSULE,
                       .centre = {0, above + radius + half, 0},
                       .axis = {{0, 0, 1}, {1, 0, 0}, {0, 1, 0}},
                       .half = {radius, 0, half},
                       .velocity = {0, -speed, 0},
                       .begin = pbd_real(values, "settle"),
                       .end = pbd_real(values, "settle") + (above - ground[1]) / speed,
                       .friction = friction};
    return pbd_ok();
}

static pbd_status build(const pbd_values *values, pbd_setup *setup) {
    pbd_scene *scene = &setup->scene;
    smoothed_watch *watch = setup->detail;
    const smoothed_lump body = {.shape = SMOOTHED_BLOCK,
                                .particles = (size_t)pbd_integer(values, "particles"),
                                .columns = (size_t)pbd_integer(values, "columns")};
    PBD_TRY(smoothed_make(values, &body, 1, scene));
    scene->loads.gravity[1] = -pbd_real(values, "gravity");
    PBD_TRY(add_tool(values, scene));
    const double given = pbd_real(values, "duration");
    scene->duration = given > 0 ? given : 1.3 * scene->colliders.item[1].end;
    setup->observe_every = scene->duration / BODY_LOOKS;
    *watch = smoothed_watch_start(values, scene, pbd_real(values, "settle"));
    /* Evenly while the tool moves, and at the end. */
    const double from = pbd_real(values, "settle"), to = scene->colliders.item[1].end;
    for (int f = 0; f < SMOOTHED_FRAMES - 1; f++) watch->frame_at[f] = from + (to - from) * f / (SMOOTHED_FRAMES - 2);
    watch->frame_at[SMOOTHED_FRAMES - 1] = scene->duration;
    if (to < scene->duration) return pbd_ok();
    return pbd_error(PBD_BAD_INPUT, "duration=%g s ends before the tool has come down, at %g s", scene->duration, to);
}

/* Where the tool's tip is, for pictures. */
static void record_tool(const pbd_scene *scene, double time, pbd_recorder *recorder) {
    const pbd_collider *tool = &scene->colliders.item[1];
    const double moved = fmin(fmax(time - tool->begin, 0), tool->end - tool->begin);
    const double tip = tool->centre[1] - tool->half[2] - tool->half[0] + moved * tool->velocity[1];
    pbd_series(recorder, "tool_tip", "value", "m", &tip, 1, 1);
}

static pbd_status observe(const pbd_setup *setup, const pbd_method *method, const void *state, double time,
                          pbd_recorder *recorder) {
    const pbd_scene *scene = &setup->scene;
    record_tool(scene, time, recorder);
    return smoothed_watch_look(setup->detail, scene, method, state, time, recorder);
}

static pbd_status measure(const pbd_setup *setup, const pbd_method *method, const void *state, pbd_recorder *recorder) {
    const pbd_scene *scene = &setup->scene;
    return smoothed_watch_record(setup->detail, scene, method, state, recorder);
}

const pbd_case pbd_case_tool_cut = {
    .name = "tool_cut",
    .summary = "a rigid tool comes down through smoothed matter: is it in two pieces, and does it keep its area?",
    .source = "desbrun1996 Figures 4 and 7",
    .provides = PBD_NEEDS_PARTICLES | PBD_NEEDS_SAMPLES,
    .params = params,
    .detail_bytes = sizeof(smoothed_watch),
    .build = build,
    .measure = measure,
    .observe = observe,
};
