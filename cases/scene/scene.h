/* A scene from a file: what its `build` keeps for metrics and for `pbdbench scene`. */
#ifndef PBD_SCENE_SCENE_H
#define PBD_SCENE_SCENE_H

#include <stdio.h>

#include "cases/case.h"

enum { SCENE_NAME = 48 };

/* A body of the scene. */
typedef struct scene_part {
    char name[SCENE_NAME], matter[SCENE_NAME]; /* name "": none */
    size_t first, count;                       /* its particles */
    double spacing, solid_volume, volume, mass;
    size_t dropped, hexes, tets, triangles;
} scene_part;

/* setup->detail of the case `scene`. */
typedef struct scene_detail {
    size_t parts;
    scene_part *part;
    double density_start, density_most; /* kg/m^3: largest at the start, largest so far; by a kernel of two spacings */
    double peak, energy, fastest;       /* kinetic energy: largest, current, J; largest speed, m/s */
    double deepest;                     /* m: largest depth of a particle's centre beyond a collider */
    bool looked, tells_velocities;
} scene_detail;

/* Writes the keys of a scene file as a Markdown table, from the tables that read it; README.md explains them. */
void scene_schema_write(FILE *out);

#endif
