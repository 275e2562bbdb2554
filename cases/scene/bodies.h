/* The bodies of a scene file: a shape or a mesh, filled with particles of one matter and put in its place. */
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
pbd_status scene_turn_read(pbd_yaml *tree, const yaml_node_t *node, scene_turn *out); /* NULL: none */
placement scene_turn_place(const scene_turn *turn, const double by[3]);

/* What bodies share. */
typedef struct scene_defaults {
    double spacing; /* m; 0: each body gives its own */
    bool forced;    /* in place of what bodies give */
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
    double *force, *radius, *held;    /* count x 3, count, count: of points; NULL: none, by `layer`, none */
    unsigned char *layer;             /* count: as in sampling; cloth: 1 */
    uint32_t *hex, *tet, *triangle;   /* own particles, from 0; a body has hexahedra where it has tetrahedra */
    double near; /* m: as near as its particles are put to a surface, or half a cloth's thickness */
    double solid_volume;
    size_t dropped;
    shape_mesh skin; /* of a mesh or a single shape: its surface, before it is put in its place; else empty */
    placement place;
    const char *scan; /* the mesh that its shape, a blend of ellipsoids, stands for; NULL: none */
    char note[240];   /* about its mesh: triangle_mesh_note */
} scene_body;

void bodies_schema_write(FILE *out); /* its keys: keys_write */
/* An entry of `bodies`. The arena owns the arrays. */
pbd_status body_read(pbd_yaml *tree, const yaml_node_t *node, const scene_matters *matters,
                     const scene_defaults *defaults, pbd_arena *arena, scene_body *out);

#endif
