/* A scene's colliders, on the host: where they are at a time, whether they make sense, their outlines for pictures, and
 * their poses in each substep on the device, with the surfaces of those that are meshes.
 *
 *     pbd_collider --collider_pose_over--> collider_pose --collider_poses_move--> device --kernels--> collider_pose.h
 */
#ifndef PBD_COLLIDERS_H
#define PBD_COLLIDERS_H

#include "harness/exec/exec.h"
#include "methods/physics/surface/collider_pose.h"
#include "methods/physics/surface/mesh_tree.h"

PBD_PRECISE(collider_at, colliders_check, collider_outline, collider_extent, collider_pose_over, collider_poses_create,
            collider_poses_free, collider_poses_phase, collider_poses_move)

/* Its centre and frame (rows: unit vectors x, y, z) at `time`. */
void collider_at(const pbd_collider *collider, double time, double centre[3], double axis[3][3]);
/* PBD_BAD_INPUT, with a sentence, for a size or a frame that is invalid, or numbers that are not finite. */
pbd_status colliders_check(const pbd_scene *scene);

/* Draws a line in a collider's frame, m. */
typedef struct collider_pen {
    pbd_status (*line)(void *to, const double from[3], const double end[3]);
    void *to;
} collider_pen;

/* A plane, and what colliders_check refuses, has none. */
pbd_status collider_outline(const pbd_scene *scene, const pbd_collider *collider, const collider_pen *pen);
/* How far it reaches from its centre along its axes, m; 0 along those in which it is unbounded. */
void collider_extent(const pbd_scene *scene, const pbd_collider *collider, double extent[3]);

/* From `time` to time + dt, s; without its mesh. */
collider_pose collider_pose_over(const pbd_collider *from, double time, double dt);

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

/* *c may be freed whatever the status. */
pbd_status collider_poses_create(collider_poses *c, const pbd_scene *scene, pbd_exec *exec, pbd_recorder *recorder);
void collider_poses_free(collider_poses *c); /* safe on a zeroed one */
/* For the substep from `time` on. Sends only what has changed. */
pbd_status collider_poses_move(collider_poses *c, double time, double dt);
/* The phase that the time of meeting colliders counts for: with meshes, their search is most of it. */
const char *collider_poses_phase(const collider_poses *c, const char *otherwise);

#endif
