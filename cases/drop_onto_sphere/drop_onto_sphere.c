/* Sand falls onto a sphere, given by its formula or by triangles that approximate it to any accuracy: comparing both
 * shows how good a mesh is as a collider. */
#include "cases/scenes/obstacle_drop.h"

static const char *const kinds[] = {"analytic", "mesh", NULL};

static const pbd_param params[] = {
    {"collider", "", PBD_CHOICE, "mesh", 0, 0, 0, kinds, "the sphere: its formula, or triangles"},
    {"cuts", "", PBD_INTEGER, "3", 0, 7, 0, NULL, "collider=mesh: of an icosahedron's triangles, each in four"},
    {"sphere_radius", "m", PBD_REAL, "0.06", 0, 1e6, PBD_OPEN_MIN, NULL, "of the sphere, which stands on the floor"},
    PBD_OBSTACLE_DROP_PARAMS("0.08"),
    {0}};

static pbd_status build(const pbd_values *values, pbd_setup *setup) {
    pbd_collider_mesh mesh = {0};
    obstacle thing = {.sphere = pbd_real(values, "sphere_radius")};
    if (pbd_choice(values, "collider") == 1) {
        thing.mesh = &mesh;
        thing.mesh_lift = thing.sphere;
        PBD_TRY(collider_mesh_sphere(thing.sphere, (int)pbd_integer(values, "cuts"), &mesh));
    }
    return obstacle_drop_build(values, thing, setup);
}

const pbd_case pbd_case_drop_onto_sphere = {
    .name = "drop_onto_sphere",
    .summary = "sand falls onto a sphere, analytic or of triangles, and runs off: penetration, and where the mass goes",
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
