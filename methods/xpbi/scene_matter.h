/* Extracts the particles of some kinds of matter from a scene, as a separate scene. Runs on the host. */
#ifndef PBD_SCENE_MATTER_H
#define PBD_SCENE_MATTER_H

#include "methods/method.h"

typedef struct scene_part {
    pbd_scene scene;  /* particles in the order of the whole scene, with their supports and loads; all colliders */
    uint32_t *number; /* by particle: index in the whole scene */
} scene_part;

/* kinds: bits 1 << PBD_CONTINUUM... Triangles belong to PBD_CLOTH, which has one material. The part has the materials
 * of its kinds, in the order of the whole scene, but no bodies and no blades. PBD_BAD_INPUT: a triangle has a corner
 * that is not cloth. *part can be freed after an error too. */
pbd_status scene_part_of(const pbd_scene *whole, unsigned kinds, scene_part *part);
void scene_part_free(scene_part *part); /* safe on a zeroed one */

#endif
