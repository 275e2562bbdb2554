/* A scene's colliders, host side: positions over time, checks, outlines for pictures, and poses and meshes on the
 * device for each substep; the sums of their work.
 *
 *     pbd_collider --collider_pose_over--> collider_pose --collider_poses_move--> device --kernels--> collider_pose.h
 */
#ifndef PBD_COLLIDERS_H
#define PBD_COLLIDERS_H

#include "harness/exec/exec.h"
#include "methods/physics/surface/collider_pose.h"
#include "methods/physics/surface/mesh_tree.h"

PBD_PRECISE(collider_at, colliders_check, collider_outline, collider_extent, collider_pose_over, collider_poses_create,
            collider_poses_free, collider_poses_phase, collider_poses_move, collider_sums_room, collider_sums_of,
            collider_sums_add, collider_sums_leave_out, collider_sums_clear, collider_sums_read)

/* Centre and frame (rows: unit vectors x, y, z) at `time`. */
void collider_at(const pbd_collider *collider, double time, double centre[3], double axis[3][3]);
/* PBD_BAD_INPUT for an invalid size or frame and for non-finite numbers. */
pbd_status colliders_check(const pbd_scene *scene);

/* Draws lines in a collider's frame, m. */
typedef struct collider_pen {
    pbd_status (*line)(void *to, const double from[3], const double end[3]);
    void *to;
} collider_pen;

/* Draws nothing for a plane, or for a collider that colliders_check refuses. */
pbd_status collider_outline(const pbd_scene *scene, const pbd_collider *collider, const collider_pen *pen);
/* Writes the half-widths, m, of the box that contains the collider, about its centre and in its frame; 0 along
 * unbounded axes. */
void collider_extent(const pbd_scene *scene, const pbd_collider *collider, double extent[3]);

/* The pose over a substep from `time` to time + dt, s; its mesh is not set. */
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
    bool moves;          /* whether any collider moves */
    bool meshes, sheets; /* whether any is a mesh; whether any is an open mesh */
    bool wanted;         /* held particles move (pbd_pour): the sums give the work of holding them */
    placed_mesh *placed; /* by collider; zeroed unless a mesh */
    pbd_collider *collider;
    collider_pose *pose, *sent;
    collider_pose *device;        /* `count` */
    double inverse_dt;            /* 1/s, of the current substep */
    size_t summed;                /* rows of sums; 0: nothing moves, or nothing is summed */
    double *sums;                 /* device, by row: COLLIDER_SUMS */
    double before[COLLIDER_SUMS]; /* sums of rows freed since, and of contact on the host */
} collider_poses;

/* recorder NULL: meshes are not reported. *c may be freed also after an error. */
pbd_status collider_poses_create(collider_poses *c, const pbd_scene *scene, pbd_exec *exec, pbd_recorder *recorder);
void collider_poses_free(collider_poses *c); /* safe on a zeroed one */
/* Sets the poses of the substep from `time` to time + dt, s. Uploads them only if they changed. */
pbd_status collider_poses_move(collider_poses *c, double time, double dt);
/* From now on, sums the work of colliders if any collider or held particle moves. There are at least `rows` rows, one
 * for each particle or other point that contact acts on. Earlier sums are kept. Waits for the device if it has to add
 * rows. */
pbd_status collider_sums_room(collider_poses *c, size_t rows);
/* For the kernels of the current substep. */
collider_sums collider_sums_of(const collider_poses *c);
/* Adds what contact on the host summed. */
void collider_sums_add(collider_poses *c, const double sums[COLLIDER_SUMS]);
/* Stops summing. For methods whose later sweeps undo pushes, so that the sum of all pushes is not an impulse. */
void collider_sums_leave_out(collider_poses *c);
pbd_status collider_sums_clear(collider_poses *c);
/* Reads PBD_COLLIDER_SUMS, adding all rows in their order. PBD_NOT_SUPPORTED if there are no sums. Waits for the
 * device. */
pbd_status collider_sums_read(const collider_poses *c, double out[COLLIDER_SUMS]);

/* Returns the phase under which collision time is recorded: with meshes that of their search, which takes most of it;
 * else `otherwise`. */
const char *collider_poses_phase(const collider_poses *c, const char *otherwise);

#endif
