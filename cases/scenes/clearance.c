#include "cases/scenes/clearance.h"

#include <math.h>
#include <stdlib.h>

#include "cases/geometry/triangle_mesh.h"
#include "harness/exec/arena.h"
#include "methods/physics/surface/mesh_surface.h"

#define REAL double
#include "methods/physics/surface/colliders.h"

/* ---- A collider at one time -------------------------------------------------------------------------------------- */

typedef struct start_wall {
    collider_pose pose;
    /* For PBD_MESH only: */
    mesh_surface surface;
    triangle_tree *tree; /* NULL: not a mesh */
    double low[3], high[3], thickness;
} start_wall;

static void free_wall(start_wall *w) {
    triangle_tree_free(w->tree);
    mesh_surface_free(&w->surface);
    *w = (start_wall){0};
}

static pbd_status make_wall(const pbd_scene *scene, size_t number, double time, start_wall *w) {
    const pbd_collider *c = &scene->colliders.item[number];
    *w = (start_wall){.pose = collider_pose_over(c, time, 0)};
    if (c->shape != PBD_MESH) return pbd_ok();
    const pbd_collider_mesh *mesh = &scene->colliders.mesh[c->mesh];
    PBD_TRY(mesh_surface_make(mesh, number, c->container, &w->surface));
    w->thickness = mesh->thickness;
    for (int d = 0; d < 3; d++) w->low[d] = INFINITY, w->high[d] = -INFINITY;
    for (size_t k = 0; k < 3 * w->surface.vertices; k++) {
        w->low[k % 3] = fmin(w->low[k % 3], w->surface.vertex[k]);
        w->high[k % 3] = fmax(w->high[k % 3], w->surface.vertex[k]);
    }
    return triangle_tree_make(w->surface.triangles, w->surface.triangle, w->surface.vertex, &w->tree);
}

static bool is_beyond_box(const start_wall *w, const double x[3], double reach) {
    for (int d = 0; d < 3; d++)
        if (x[d] < w->low[d] - reach || x[d] > w->high[d] + reach) return true;
    return false;
}

/* Signed distance from the surface, m: positive where particles may be. INFINITY if a mesh is farther than `reach`. */
static double gap_at(const start_wall *w, const double x[3], double reach) {
    const vec3 place = vec3_make(x[0], x[1], x[2]);
    if (!w->tree) return collider_gap_at(&w->pose, place).distance;
    const vec3 at = to_frame(w->pose.axis, w->pose.centre, place);
    const double own[3] = {at.x, at.y, at.z};
    if (!w->pose.container && is_beyond_box(w, own, reach + w->thickness)) return INFINITY;
    const double distance = triangle_tree_distance(w->tree, own);
    const bool inside = w->surface.normal && triangle_tree_winding(w->tree, own) > 0.5;
    return (inside != (bool)w->pose.container ? -distance : distance) - w->thickness;
}

/* ---- Particles --------------------------------------------------------------------------------------------------- */

static double radius_of(const pbd_scene *scene, size_t i) {
    return scene->contact.radius ? scene->contact.radius[i] : 0;
}

/* Updates *out with the deepest free particle in one collider. held: particles. */
static void find_deepest(const pbd_scene *scene, const start_wall *w, size_t number, const bool *held,
                         start_overlap *out) {
    const double *x = clearance_start(scene);
    for (size_t i = 0; i < scene->particles.count; i++) {
        if (held[i]) continue;
        const double radius = radius_of(scene, i), gap = gap_at(w, x + 3 * i, radius);
        if (radius - gap > out->depth) *out = (start_overlap){radius - gap, gap, i, number};
    }
}

bool *clearance_held(const pbd_scene *scene, double time, pbd_arena *a) {
    bool *held = pbd_new(a, bool, scene->particles.count);
    const double *until = scene->pour.until;
    for (size_t k = 0; held && k < scene->particles.fixed; k++)
        held[scene->particles.fixed_particle[k]] = !until || until[k] > time;
    return held;
}

static pbd_status check_wall(const pbd_scene *scene, size_t number, const bool *held, start_overlap *out) {
    start_wall wall PBD_CLEANUP(free_wall) = {0};
    PBD_TRY(make_wall(scene, number, 0, &wall));
    find_deepest(scene, &wall, number, held, out);
    return pbd_ok();
}

pbd_status clearance_deepest(const pbd_scene *scene, start_overlap *out) {
    pbd_arena a PBD_ARENA;
    const bool *held = clearance_held(scene, 0, &a);
    PBD_TRY(pbd_arena_check(&a));
    PBD_TRY(colliders_check(scene));
    *out = (start_overlap){.depth = -INFINITY};
    for (size_t c = 0; c < scene->colliders.count; c++) PBD_TRY(check_wall(scene, c, held, out));
    return pbd_ok();
}

/* ---- Beyond ------------------------------------------------------------------------------------------------------ */

/* The depth beyond a surface that is allowed for a particle's centre, m. */
static double allowance(const pbd_scene *scene, size_t i) {
    const double spacing = scene->particles.spacing;
    return fmax(radius_of(scene, i), spacing > 0 ? 0.5 * spacing : 0.01 * scene->extent);
}

static pbd_status mark_beyond(const pbd_scene *scene, const double *x, double time, size_t number, const bool *held,
                              bool *beyond, beyond_walls *out) {
    start_wall wall PBD_CLEANUP(free_wall) = {0};
    PBD_TRY(make_wall(scene, number, time, &wall));
    for (size_t i = 0; i < scene->particles.count; i++) {
        if (held[i]) continue;
        const double most = allowance(scene, i), gap = gap_at(&wall, x + 3 * i, most);
        beyond[i] |= gap < -most;
        if (-gap > out->deepest.depth) out->deepest = (start_overlap){-gap, gap, i, number};
    }
    return pbd_ok();
}

pbd_status clearance_beyond(const pbd_scene *scene, const double *x, double time, beyond_walls *out) {
    pbd_arena a PBD_ARENA;
    const bool *held = clearance_held(scene, time, &a);
    bool *beyond = pbd_new(&a, bool, scene->particles.count);
    *out = (beyond_walls){.deepest.depth = -INFINITY};
    PBD_TRY(pbd_arena_check(&a));
    for (size_t c = 0; c < scene->colliders.count; c++) PBD_TRY(mark_beyond(scene, x, time, c, held, beyond, out));
    for (size_t i = 0; i < scene->particles.count; i++) {
        out->free += !held[i];
        out->beyond += beyond[i];
    }
    return pbd_ok();
}

/* ---- Building ---------------------------------------------------------------------------------------------------- */

static bool faces_up(const pbd_collider *c) { return c->shape == PBD_PLANE && c->axis[2][2] > 1 - 1e-12; }

/* Reduces *share to the smallest ratio of a particle's gap to its radius. */
static void find_share(const pbd_scene *scene, const start_wall *w, const bool *held, double *share) {
    const double *x = clearance_start(scene);
    for (size_t i = 0; i < scene->particles.count; i++) {
        const double radius = radius_of(scene, i);
        if (!held[i] && radius > 0) *share = fmin(*share, gap_at(w, x + 3 * i, radius) / radius);
    }
}

static pbd_status shrink_radii(pbd_scene *scene, const bool *held, double *out) {
    double share = 1, largest = 0;
    for (size_t c = 0; c < scene->colliders.count; c++) {
        start_wall wall PBD_CLEANUP(free_wall) = {0};
        if (scene->colliders.item[c].shape == PBD_PLANE) continue;
        PBD_TRY(make_wall(scene, c, 0, &wall));
        find_share(scene, &wall, held, &share);
    }
    for (size_t i = 0; i < scene->particles.count; i++) largest = fmax(largest, radius_of(scene, i));
    if (share >= 1 - 1e-9 || share * largest < 0.1 * scene->particles.spacing) return pbd_ok();
    for (size_t i = 0; i < scene->particles.count; i++) scene->contact.radius[i] *= share;
    *out = share;
    return pbd_ok();
}

static void lift(pbd_scene *scene, double by) {
    for (size_t i = 0; i < scene->particles.count; i++) {
        scene->particles.positions[3 * i + 2] += by;
        if (scene->particles.start) scene->particles.start[3 * i + 2] += by;
    }
    for (size_t k = 0; k < scene->skins; k++)
        for (size_t v = 0; v < scene->skin[k].vertices; v++) scene->skin[k].vertex[3 * v + 2] += by;
}

pbd_status clearance_keep(pbd_scene *scene, double *share) {
    pbd_arena a PBD_ARENA;
    if (scene->colliders.count == 0 || !(scene->particles.spacing > 0)) return pbd_ok();
    const bool *held = clearance_held(scene, 0, &a);
    PBD_TRY(pbd_arena_check(&a));
    PBD_TRY(colliders_check(scene));
    for (int floors = 1; floors >= 0; floors--)
        for (size_t k = 0; k < scene->colliders.count; k++) {
            pbd_collider *c = &scene->colliders.item[k];
            start_overlap worst = {.depth = 0};
            if (c->shape != PBD_PLANE || faces_up(c) != floors) continue;
            PBD_TRY(check_wall(scene, k, held, &worst));
            if (!(worst.depth > 1e-9 * scene->extent) || worst.depth > scene->particles.spacing) continue;
            if (floors) lift(scene, worst.depth);
            for (int d = 0; d < 3 && !floors; d++) c->centre[d] -= worst.depth * c->axis[2][d];
        }
    return share && scene->contact.radius ? shrink_radii(scene, held, share) : pbd_ok();
}
