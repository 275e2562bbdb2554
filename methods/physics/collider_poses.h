/* Where a scene's colliders are in each substep, on the device. Host code, compiled with the method, in its `real`. */
#ifndef PBD_COLLIDER_POSES_H
#define PBD_COLLIDER_POSES_H

#include <stdlib.h>
#include <string.h>

#include "harness/exec/exec.h"
#include "methods/physics/collider_pose.h"
#include "methods/physics/colliders.h"

#define POSES_HOST static inline __attribute__((unused))

typedef struct collider_poses {
    pbd_exec *exec;
    size_t count;
    pbd_collider *collider;
    collider_pose *pose, *sent;
    collider_pose *device; /* `count` */
} collider_poses;

POSES_HOST void collider_poses_free(collider_poses *c) { /* safe on a zeroed one */
    pbd_free(c->exec, c->device);
    free(c->collider);
    free(c->pose);
    free(c->sent);
    *c = (collider_poses){0};
}

/* *c may be freed whatever comes back. */
POSES_HOST pbd_status collider_poses_create(collider_poses *c, const pbd_scene *scene, pbd_exec *exec) {
    const size_t n = scene->colliders;
    *c = (collider_poses){.exec = exec, .count = n};
    PBD_TRY(colliders_check(scene));
    if (n == 0) return pbd_ok();
    c->collider = malloc(n * sizeof *c->collider);
    c->pose = calloc(n, sizeof *c->pose);
    c->sent = calloc(n, sizeof *c->sent);
    if (!c->collider || !c->pose || !c->sent) return pbd_error(PBD_FAILED, "out of memory for %zu colliders", n);
    memcpy(c->collider, scene->collider, n * sizeof *c->collider);
    void *device;
    PBD_TRY(pbd_alloc(exec, n * sizeof *c->device, &device));
    c->device = device;
    return pbd_ok();
}

/* For the substep from `time` on. Sends only what is not there already. */
POSES_HOST pbd_status collider_poses_move(collider_poses *c, double time, double dt) {
    const size_t bytes = c->count * sizeof *c->pose;
    if (c->count == 0) return pbd_ok();
    for (size_t i = 0; i < c->count; i++) c->pose[i] = collider_pose_over(&c->collider[i], time, dt);
    if (memcmp(c->pose, c->sent, bytes) == 0) return pbd_ok();
    memcpy(c->sent, c->pose, bytes);
    return pbd_upload(c->exec, c->device, c->pose, bytes);
}

#endif
