/* Sand falls onto a user's triangle mesh, closed or a sheet, that stands on the floor. */
#include "cases/scenes/obstacle_drop.h"
#include "harness/exec/arena.h"

static const pbd_param params[] = {
    {"file", "", PBD_FILE, "", 0, 0, 0, NULL, "a triangle mesh: .obj, .off, .ply or .stl; z is up"},
    {"scale", "m", PBD_REAL, "1", 0, 1e6, PBD_OPEN_MIN, NULL, "one unit of the file's lengths: 0.001 for millimetres"},
    {"thickness", "m", PBD_REAL, "0", 0, 1e6, 0, NULL,
     "distance kept by particles; required for a mesh with a boundary"},
    PBD_OBSTACLE_DROP_PARAMS("0.08"),
    {0}};

static pbd_status build(const pbd_values *values, pbd_setup *setup) {
    pbd_content content PBD_CLEANUP(pbd_content_free) = {0};
    pbd_collider_mesh mesh = {0};
    PBD_TRY(pbd_read_file(values, "file", &content));
    PBD_TRY(collider_mesh_read(&content, pbd_real(values, "scale"), pbd_real(values, "thickness"), &mesh));
    return obstacle_drop_build(values, (obstacle){.mesh = &mesh}, setup);
}

const pbd_case pbd_case_drop_onto_mesh = {
    .name = "drop_onto_mesh",
    .summary = "sand falls onto your own triangle mesh and runs off: penetration, and where the mass goes",
    .source = "yu2024 section 4",
    .provides = PBD_NEEDS_PARTICLES | PBD_NEEDS_SAMPLES,
    .params = params,
    .shared = flow_params,
    .presets = "flow=drucker_prager friction_angle=35",
    .detail_bytes = sizeof(obstacle_drop_detail),
    .build = build,
    .measure = obstacle_drop_measure,
    .observe = obstacle_drop_observe,
    .free_detail = obstacle_drop_free_detail,
};
