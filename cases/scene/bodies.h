/* The bodies of a scene file: a shape or a mesh, filled with particles of one matter and placed. */
#ifndef PBD_SCENE_BODIES_H
#define PBD_SCENE_BODIES_H

#include "cases/geometry/shape_mesh.h"
#include "cases/scene/matters.h"
#include "cases/scenes/particle_scene.h"
#include "harness/exec/arena.h"

/* A rotation in a scene file. */
typedef struct scene_turn {
    double axis[3], degrees;
} scene_turn;
pbd_status scene_turn_read(pbd_yaml *tree, const yaml_node_t *node, scene_turn *out); /* node NULL: none */
placement scene_turn_place(const scene_turn *turn, const double by[3]);

/* Settings for all bodies. */
typedef struct scene_defaults {
    double spacing; /* m; 0: each body gives its own */
    bool forced;    /* overrides the bodies' own */
    double seed;
} scene_defaults;

typedef struct scene_body {
    const yaml_node_t *node; /* for messages */
    const char *name;        /* "": none */
    size_t matter;
    double spacing; /* m; 0: cloth */
    size_t count, hexes, tets, triangles;
    double *position, *mass, *volume; /* count x 3, count, count */
    double *start;                    /* count x 3; NULL: position */
    double *velocity;                 /* count x 3 */
    double *force, *radius, *held;    /* count x 3, count, count: from points; NULL: none, by `layer`, none */
    unsigned char *layer;             /* count: as in sampling; cloth: 1 */
    uint32_t *hex, *tet, *triangle;   /* of the body's own particles, from 0; a body with tetrahedra has hexahedra */
    double near; /* m: least distance of its particles from a surface, or half a cloth's thickness */
    double solid_volume;
    size_t dropped;
    shape_mesh skin; /* surface of a mesh or of a single shape, before it is placed; else empty */
    placement place;
    const char *scan; /* the mesh that its shape, a blend of ellipsoids, stands for; NULL: none */
    char note[240];   /* about its mesh: triangle_mesh_note */
} scene_body;

void bodies_schema_write(FILE *out); /* the keys of a body: keys_write */
/* An entry of `bodies`. The arena owns the arrays. */
pbd_status body_read(pbd_yaml *tree, const yaml_node_t *node, const scene_matters *matters,
                     const scene_defaults *defaults, pbd_arena *arena, scene_body *out);

#endif
