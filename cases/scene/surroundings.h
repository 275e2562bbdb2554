/* The surroundings of the bodies of a scene file: colliders, blades, regions that are held or loaded. */
#ifndef PBD_SCENE_SURROUNDINGS_H
#define PBD_SCENE_SURROUNDINGS_H

#include "cases/scene/bodies.h"

/* The bodies of a scene, whose particles follow each other in this order. */
typedef struct scene_bodies {
    size_t count;
    scene_body *item;
} scene_bodies;

/* Read lists of a scene file; NULL: there is none. The scene's particles must be set before. */
pbd_status colliders_read(pbd_yaml *tree, const yaml_node_t *list, double friction, pbd_scene *scene);
pbd_status blades_read(pbd_yaml *tree, const yaml_node_t *list, pbd_scene *scene);
pbd_status held_read(pbd_yaml *tree, const yaml_node_t *list, const scene_bodies *bodies, pbd_scene *scene);
pbd_status loads_read(pbd_yaml *tree, const yaml_node_t *list, const scene_bodies *bodies, pbd_scene *scene);

void surroundings_schema_write(FILE *out); /* the keys of these lists: keys_write */

extern const char *const collider_shapes[]; /* in the order of shapes.def, ends with NULL */

/* A size of a shape: its key, the entry of half[] that it sets, and its factor. The key `size` sets all three. */
enum { COLLIDER_SIZES = 3 };
typedef struct collider_size {
    const char *key;
    int entry;
    double factor;
} collider_size;
const collider_size *collider_sizes(const char *shape); /* ends with a NULL key; NULL: it has none */

#endif
