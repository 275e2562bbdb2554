/* Colliders as triangles, for pictures. Not planes and perforated plates, which are unbounded, nor containers and boxes
 * (walls, presses), which would hide matter: their outlines are drawn (collider_lines.h). */
#ifndef PBD_COLLIDER_MESH_H
#define PBD_COLLIDER_MESH_H

#include "cases/geometry/shape_mesh.h"

typedef struct collider_mesh_of {
    size_t collider; /* of the scene */
    shape_mesh mesh; /* in its frame */
} collider_mesh_of;

typedef struct collider_meshes {
    size_t count, vertices, triangles; /* together */
    collider_mesh_of *item;
    pbd_arena owned;
} collider_meshes;

/* Whether it is drawn as triangles. */
bool collider_is_solid(const pbd_collider *collider);

/* The scene must outlive it. Free with collider_meshes_free (safe on a zeroed one), also after an error. */
pbd_status collider_meshes_make(const pbd_scene *scene, collider_meshes *out);
void collider_meshes_free(collider_meshes *meshes);
/* Writes their vertices (x 3, m) at a time (s), one collider after the other. */
void collider_meshes_place(const collider_meshes *meshes, const pbd_scene *scene, double time, double *vertex);
void collider_meshes_join(const collider_meshes *meshes, uint32_t *triangle);

#endif
