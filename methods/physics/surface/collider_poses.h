/* Where a scene's colliders are in each substep, and the surfaces of those that are meshes, on the device. Host code,
 * compiled with the method, in its `real`. */
#ifndef PBD_COLLIDER_POSES_H
#define PBD_COLLIDER_POSES_H

#include <stdlib.h>
#include <string.h>

#include "harness/exec/exec.h"
#include "methods/physics/surface/collider_pose.h"
#include "methods/physics/surface/colliders.h"
#include "methods/physics/surface/mesh_surface.h"
#include "methods/physics/surface/mesh_tree.h"

#define POSES_HOST static inline __attribute__((unused))

/* A mesh on the device, in its own frame, built once. */
typedef struct placed_mesh {
    mesh_tree tree;
    void *vertex, *corner, *normal, *anchor;
    collider_mesh mesh;
} placed_mesh;

typedef struct collider_poses {
    pbd_exec *exec;
    size_t count;
    bool meshes, sheets; /* there are some; some that are not closed */
    placed_mesh *placed; /* by collider; zeroed where it is no mesh */
    pbd_collider *collider;
    collider_pose *pose, *sent;
    collider_pose *device; /* `count` */
} collider_poses;

POSES_HOST void collider_poses_free(collider_poses *c) { /* safe on a zeroed one */
    pbd_free(c->exec, c->device);
    for (size_t i = 0; c->placed && i < c->count; i++) {
        placed_mesh *m = &c->placed[i];
        mesh_tree_free(&m->tree);
        pbd_free(c->exec, m->vertex);
        pbd_free(c->exec, m->corner);
        pbd_free(c->exec, m->normal);
        pbd_free(c->exec, m->anchor);
    }
    free(c->placed);
    free(c->collider);
    free(c->pose);
    free(c->sent);
    *c = (collider_poses){0};
}

POSES_HOST pbd_status poses_upload(pbd_exec *exec, const void *host, size_t bytes, void **device) {
    PBD_TRY(pbd_alloc(exec, bytes, device));
    return pbd_upload(exec, *device, host, bytes);
}

/* `each` doubles of `count` rows as rows of `wide` reals. */
POSES_HOST pbd_status poses_upload_reals(pbd_exec *exec, const double *host, size_t count, size_t each, size_t wide,
                                         void **device) {
    real *rows = calloc(count * wide + 1, sizeof *rows);
    if (!rows) return pbd_error(PBD_FAILED, "out of memory for a collider of %zu vertices", count);
    for (size_t i = 0; i < count * each; i++) rows[i / each * wide + i % each] = (real)host[i];
    const pbd_status status = poses_upload(exec, rows, count * wide * sizeof *rows, device);
    free(rows);
    return status;
}

POSES_HOST pbd_status poses_place_mesh(placed_mesh *m, const mesh_surface *s, double thickness, size_t particles,
                                       pbd_exec *exec) {
    PBD_TRY(mesh_tree_create(&m->tree, exec, s->triangles));
    PBD_TRY(poses_upload_reals(exec, s->vertex, s->vertices, 3, 4, &m->vertex));
    PBD_TRY(poses_upload(exec, s->triangle, 3 * s->triangles * sizeof *s->triangle, &m->corner));
    if (s->normal)
        PBD_TRY(poses_upload_reals(exec, s->normal, s->triangles, 3 * MESH_FEATURES, 3 * MESH_FEATURES, &m->normal));
    PBD_TRY(pbd_alloc(exec, (MESH_ANCHOR * particles + 1) * sizeof(real), &m->anchor));
    const mesh_rows rows = {.vertex = m->vertex, .corner = m->corner};
    PBD_TRY(mesh_tree_build(&m->tree, &rows));
    m->mesh = (collider_mesh){.view = mesh_tree_view(&m->tree, &rows),
                              .normal = m->normal,
                              .anchor = m->anchor,
                              .thickness = (real)thickness,
                              .rounding = (real)(32 * REAL_EPSILON * s->size)};
    return pbd_ok();
}

POSES_HOST pbd_status poses_make_mesh(collider_poses *c, size_t i, const pbd_scene *scene, pbd_recorder *recorder) {
    const pbd_collider_mesh *mesh = &scene->collider_mesh[c->collider[i].mesh];
    mesh_surface s;
    PBD_TRY(mesh_surface_make(mesh, i, c->collider[i].container, &s));
    if (s.collapsed + s.slivers > 0)
        pbd_warning(
            recorder, "degenerate_triangles",
            "collider %zu, a mesh of %zu triangles: %zu have two coincident corners and are ignored, %zu have no area",
            i, mesh->triangles, s.collapsed, s.slivers);
    pbd_count(recorder, "collider_triangles", s.triangles);
    c->sheets |= !s.normal;
    const pbd_status status = poses_place_mesh(&c->placed[i], &s, mesh->thickness, scene->particles, c->exec);
    mesh_surface_free(&s);
    return status;
}

/* *c may be freed whatever comes back. */
POSES_HOST pbd_status collider_poses_create(collider_poses *c, const pbd_scene *scene, pbd_exec *exec,
                                            pbd_recorder *recorder) {
    const size_t n = scene->colliders;
    *c = (collider_poses){.exec = exec, .count = n};
    PBD_TRY(colliders_check(scene));
    if (n == 0) return pbd_ok();
    c->collider = malloc(n * sizeof *c->collider);
    c->placed = calloc(n, sizeof *c->placed);
    c->pose = calloc(n, sizeof *c->pose);
    c->sent = calloc(n, sizeof *c->sent);
    if (!c->collider || !c->placed || !c->pose || !c->sent)
        return pbd_error(PBD_FAILED, "out of memory for %zu colliders", n);
    memcpy(c->collider, scene->collider, n * sizeof *c->collider);
    for (size_t i = 0; i < n; i++) {
        if (c->collider[i].shape != PBD_MESH) continue;
        c->meshes = true;
        PBD_TRY(poses_make_mesh(c, i, scene, recorder));
    }
    void *device;
    PBD_TRY(pbd_alloc(exec, n * sizeof *c->device, &device));
    c->device = device;
    return pbd_ok();
}

/* What the time that meeting colliders takes is booked as: where there are meshes, their search is most of it. */
POSES_HOST const char *collider_poses_phase(const collider_poses *c, const char *otherwise) {
    return c->meshes ? "collision_detection" : otherwise;
}

/* For the substep from `time` on. Sends only what is not there already. */
POSES_HOST pbd_status collider_poses_move(collider_poses *c, double time, double dt) {
    const size_t bytes = c->count * sizeof *c->pose;
    if (c->count == 0) return pbd_ok();
    for (size_t i = 0; i < c->count; i++) {
        c->pose[i] = collider_pose_over(&c->collider[i], time, dt);
        c->pose[i].mesh = c->placed[i].mesh;
    }
    if (memcmp(c->pose, c->sent, bytes) == 0) return pbd_ok();
    memcpy(c->sent, c->pose, bytes);
    return pbd_upload(c->exec, c->device, c->pose, bytes);
}

#endif
