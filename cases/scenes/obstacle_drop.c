#include "cases/scenes/obstacle_drop.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/exec/arena.h"

#include "methods/physics/surface/mesh_surface.h"

/* ---- Building ---------------------------------------------------------------------------------------------------- */

/* Keeps a copy of the mesh for gap_to_thing, with the vertices at their positions in the scene. */
static pbd_status remember_mesh(obstacle_drop_detail *detail, const pbd_collider_mesh *mesh, double lift) {
    triangle_mesh *own = &detail->surface;
    mesh_surface checked;
    PBD_TRY(mesh_surface_make(mesh, 1, false, &checked));
    detail->closed = checked.normal;
    mesh_surface_free(&checked);
    detail->thickness = mesh->thickness;
    *own = (triangle_mesh){.vertices = mesh->vertices, .triangles = mesh->triangles};
    PBD_TRY_NEW(own->position, 3 * mesh->vertices);
    PBD_TRY_NEW(own->triangle, 3 * mesh->triangles);
    memcpy(own->position, mesh->vertex, 3 * mesh->vertices * sizeof *own->position);
    memcpy(own->triangle, mesh->triangle, 3 * mesh->triangles * sizeof *own->triangle);
    for (size_t v = 0; v < own->vertices; v++) {
        own->position[3 * v + 2] += lift;
        detail->top = fmax(detail->top, own->position[3 * v + 2]);
    }
    return triangle_tree_make(own->triangles, own->triangle, own->position, &own->tree);
}

static pbd_status add_thing(const pbd_values *values, obstacle_drop_detail *detail, const obstacle *thing,
                            pbd_scene *scene) {
    const double friction = pbd_real(values, "friction"),
                 at[3] = {0, 0, thing->mesh ? thing->mesh_lift : thing->sphere};
    memcpy(detail->centre, at, sizeof at);
    if (thing->mesh) {
        PBD_TRY(remember_mesh(detail, thing->mesh, thing->mesh_lift));
        return particle_add_mesh(scene, thing->mesh, at, friction, NULL);
    }
    detail->sphere = thing->sphere;
    detail->top = 2 * thing->sphere;
    pbd_collider *c = &scene->colliders.item[scene->colliders.count++];
    *c = (pbd_collider){.shape = PBD_SPHERE,
                        .centre = {at[0], at[1], at[2]},
                        .axis = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
                        .half = {thing->sphere},
                        .friction = friction};
    return pbd_ok();
}

static pbd_status fill(const pbd_values *values, const obstacle *thing, pbd_setup *setup) {
    pbd_scene *scene = &setup->scene;
    obstacle_drop_detail *detail = setup->detail;
    const double size = pbd_real(values, "size"), ground[3] = {0, 0, 0}, up[3] = {0, 0, 1};
    const double low[3] = {-0.5 * size, -0.5 * size, 0}, high[3] = {0.5 * size, 0.5 * size, size};
    shapes s = {0};
    granular_set_material(values, scene);
    scene->duration = pbd_real(values, "duration");
    setup->observe_every = scene->duration / GRANULAR_LOOKS;
    PBD_TRY(particle_open_colliders(scene, 2));
    particle_add_plane(scene, ground, up, pbd_real(values, "floor_friction"));
    PBD_TRY(add_thing(values, detail, thing, scene));
    const placement here = placement_at(0, 0, detail->top + detail->thickness + pbd_real(values, "drop"));
    shapes_box(&s, low, high);
    const solid body = shapes_solid(&s);
    PBD_TRY(granular_fill(values, &body, &here, &detail->particles, scene));
    PBD_TRY_NEW(scene->particles.velocities, 3 * scene->particles.count);
    for (size_t i = 0; i < scene->particles.count; i++)
        scene->particles.velocities[3 * i + 2] = -pbd_real(values, "speed");
    return pbd_ok();
}

pbd_status obstacle_drop_build(const pbd_values *values, obstacle thing, pbd_setup *setup) {
    const pbd_status status = fill(values, &thing, setup);
    if (thing.mesh) collider_mesh_free(thing.mesh); /* owned by the scene, or not at all */
    return status;
}

void obstacle_drop_free_detail(void *detail) {
    obstacle_drop_detail *d = detail;
    sampling_free(&d->particles);
    triangle_mesh_free(&d->surface);
}

/* ---- Measuring --------------------------------------------------------------------------------------------------- */

/* Signed distance from the obstacle's surface, m; negative inside. */
static double gap_to_thing(const obstacle_drop_detail *detail, const double x[3]) {
    if (!detail->surface.tree)
        return sqrt((x[0] - detail->centre[0]) * (x[0] - detail->centre[0]) +
                    (x[1] - detail->centre[1]) * (x[1] - detail->centre[1]) +
                    (x[2] - detail->centre[2]) * (x[2] - detail->centre[2])) -
               detail->sphere;
    const double distance = triangle_tree_distance(detail->surface.tree, x);
    const bool inside = detail->closed && triangle_tree_winding(detail->surface.tree, x) > 0.5;
    return inside ? -distance : distance;
}

static void look_at_thing(obstacle_drop_detail *detail, const pbd_scene *scene, const double *x) {
    size_t inside = 0;
    for (size_t i = 0; i < scene->particles.count; i++) {
        if (!isfinite(x[3 * i]) || !isfinite(x[3 * i + 1]) || !isfinite(x[3 * i + 2])) continue;
        const double gap = gap_to_thing(detail, x + 3 * i);
        detail->deepest = fmax(detail->deepest, scene->contact.radius[i] + detail->thickness - gap);
        inside += gap < -0.5 * scene->particles.spacing;
    }
    if (inside > detail->inside) detail->inside = inside;
}

pbd_status obstacle_drop_observe(const pbd_setup *setup, const pbd_method *method, const void *state, double time,
                                 pbd_recorder *recorder) {
    const pbd_scene *scene = &setup->scene;
    obstacle_drop_detail *detail = setup->detail;
    double *x PBD_CLEANUP(pbd_free_memory) = NULL;
    PBD_TRY(body_positions(scene, method, state, &x));
    PBD_TRY(granular_look(&detail->watch, setup, method, state, x, time, NULL, recorder));
    look_at_thing(detail, scene, x);
    return pbd_ok();
}

/* Records the mass-weighted mean distance from the axis, and the share of the mass above half of the obstacle's height.
 */
static void record_spread(const obstacle_drop_detail *detail, const pbd_scene *scene, const double *x,
                          pbd_recorder *recorder) {
    double mass = 0, above = 0, moment = 0;
    for (size_t i = 0; i < scene->particles.count; i++) {
        mass += scene->particles.masses[i];
        above += x[3 * i + 2] > 0.5 * detail->top ? scene->particles.masses[i] : 0;
        moment += scene->particles.masses[i] * hypot(x[3 * i], x[3 * i + 1]);
    }
    if (!isfinite(moment)) return;
    pbd_metric(recorder, "mean_distance", "m", PBD_STATE, moment / mass);
    pbd_metric(recorder, "share_on_top", "1", PBD_STATE, above / mass);
}

pbd_status obstacle_drop_measure(const pbd_setup *setup, const pbd_method *method, const void *state,
                                 pbd_recorder *recorder) {
    const pbd_scene *scene = &setup->scene;
    const obstacle_drop_detail *detail = setup->detail;
    const double s = fmax(detail->top, 1e-300);
    const mass_box box = {{-2 * s, -2 * s, 0}, {2 * s, 2 * s, 2 * s}, {16, 16, 8}};
    double *x PBD_CLEANUP(pbd_free_memory) = NULL;
    PBD_TRY(body_positions(scene, method, state, &x));
    particle_record_sampling(&detail->particles, 1, recorder);
    granular_record(&detail->watch, scene, recorder);
    pbd_metric(recorder, "deepest_in_obstacle", "m", PBD_FLAW, detail->deepest);
    if (!detail->surface.tree || detail->closed)
        pbd_metric(recorder, "most_in_obstacle", "1", PBD_FLAW, (double)detail->inside);
    record_spread(detail, scene, x, recorder);
    granular_record_mass(scene, x, &box, recorder);
    granular_record_slice(scene, x, recorder);
    body_record_shape(scene, x, recorder);
    return pbd_ok();
}
