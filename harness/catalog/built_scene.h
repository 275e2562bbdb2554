/* A cache of the last scene that was built: a plan of several methods on one case needs the same scene for each `auto`,
 * and `list pairs` for each method. */
#ifndef PBD_BUILT_SCENE_H
#define PBD_BUILT_SCENE_H

#include "harness/catalog/registry.h"

typedef struct pbd_built_scene {
    const pbd_case *c;  /* NULL: none was built */
    pbd_values values;  /* of the case; owned */
    pbd_setup setup;    /* owned; empty if the case refused */
    pbd_status refusal; /* else PBD_OK */
} pbd_built_scene;

/* Builds the case's scene, unless the last one had the same values. *setup is borrowed until the next call; if the case
 * refuses, it is empty and the case's status is returned. */
pbd_status pbd_built_scene_get(pbd_built_scene *, const pbd_case *, const pbd_values *, pbd_setup **setup);
void pbd_built_scene_free(pbd_built_scene *); /* safe on a zeroed one */

#endif
