/* What a scene file has around its bodies: colliders, blades, regions that are held or loaded. */
#ifndef PBD_SCENE_SURROUNDINGS_H
#define PBD_SCENE_SURROUNDINGS_H

#include "cases/scene/bodies.h"

/* The bodies of a scene, whose particles follow each other in this order. */
typedef struct scene_bodies {
    size_t count;
    scene_body *item;
} scene_bodies;

/* Lists of a scene file; NULL: there is none. The scene's particles must be there. */
pbd_status colliders_read(pbd_yaml *tree, const yaml_node_t *list, double friction, pbd_scene *scene);
pbd_status blades_read(pbd_yaml *tree, const yaml_node_t *list, pbd_scene *scene);
pbd_status held_read(pbd_yaml *tree, const yaml_node_t *list, const scene_bodies *bodies, pbd_scene *scene);
pbd_status loads_read(pbd_yaml *tree, const yaml_node_t *list, const scene_bodies *bodies, pbd_scene *scene);

#endif
