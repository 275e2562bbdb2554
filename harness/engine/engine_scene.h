/* A scene as the request `create` of an engine: JSON and arrays. */
#ifndef PBD_ENGINE_SCENE_H
#define PBD_ENGINE_SCENE_H

#include "harness/engine/engine_process.h"

enum { PBD_ENGINE_MOST_ARRAYS = 64 };

typedef struct pbd_engine_scene {
    json_t *request;                                /* owned, until pbd_engine_ask takes it */
    pbd_engine_array array[PBD_ENGINE_MOST_ARRAYS]; /* borrowed from the scene */
    char name[PBD_ENGINE_MOST_ARRAYS][40];
    size_t arrays;
} pbd_engine_scene;

/* values: of the method. PBD_NOT_SUPPORTED if there are too many collider meshes. */
pbd_status pbd_engine_scene_write(const pbd_scene *scene, const pbd_values *values, int threads, pbd_engine_scene *out);

#endif
