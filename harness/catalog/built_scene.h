/* The scene that was built last, for those who ask for the same one again: a plan of several methods on one case needs
 * it for each `auto`, and `list pairs` for each method. */
#ifndef PBD_BUILT_SCENE_H
#define PBD_BUILT_SCENE_H

#include "harness/catalog/registry.h"

typedef struct pbd_built_scene {
    const pbd_case *c;  /* NULL: none was built */
    pbd_values values;  /* of the case; owned */
    pbd_setup setup;    /* owned; empty where the case refused */
    pbd_status refusal; /* else PBD_OK */
} pbd_built_scene;

/* Builds the case's scene, unless the last one had the same values. *setup is borrowed until the next call; it is empty
 * where the case refuses, with the case's own status. */
pbd_status pbd_built_scene_get(pbd_built_scene *, const pbd_case *, const pbd_values *, pbd_setup **setup);
void pbd_built_scene_free(pbd_built_scene *); /* safe on a zeroed one */

#endif
