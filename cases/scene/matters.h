/* The matters of a scene file: a material for each name. */
#ifndef PBD_SCENE_MATTERS_H
#define PBD_SCENE_MATTERS_H

#include "cases/scene/keys.h"

typedef struct scene_matters {
    size_t count;
    const char *name[PBD_MOST_MATERIALS + 1]; /* ends with NULL; owned by the tree */
    pbd_material material[PBD_MOST_MATERIALS];
} scene_matters;

/* `node`: the value of the key `matters`. Laws and flow rules are those of laws.def and flow.def, with their parameters
 * as keys. */
pbd_status matters_read(pbd_yaml *tree, const yaml_node_t *node, scene_matters *out);

/* The keys of matters, including those of each flow rule: keys_write. */
void matters_schema_write(FILE *out);

#endif
