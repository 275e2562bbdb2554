/* The part of a scene that is of some kinds of matter, as a scene of its own. Host. */
#ifndef PBD_SCENE_MATTER_H
#define PBD_SCENE_MATTER_H

#include "methods/method.h"

typedef struct scene_part {
    pbd_scene scene;  /* its particles in the old order, what is held and loaded among them; colliders as they were */
    uint32_t *number; /* by particle: its number in the whole scene */
} scene_part;

/* kinds: bits 1 << PBD_CONTINUUM... Triangles go with PBD_CLOTH, of which there is one material. The part holds the
 * materials of its kinds, in the old order, and its bodies and blades are left out.
 * PBD_BAD_INPUT where a triangle has a corner that is not of cloth. *part may be freed also after an error. */
pbd_status scene_part_of(const pbd_scene *whole, unsigned kinds, scene_part *part);
void scene_part_free(scene_part *part); /* safe on a zeroed one */

#endif
