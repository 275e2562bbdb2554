/* What a wide lamp sees: a map of depths for each of some points on its face. How many of them see a place, between 0
 * and 1, is its share of the lamp's light. */
#ifndef PBD_SHADOW_H
#define PBD_SHADOW_H

#include "harness/picture/raster.h"

enum { SHADOW_LAMPS = 16, SHADOW_SIZE = 512 };

typedef struct shadow_map {
    vector right, up, towards; /* towards: from the scene to this point of the lamp */
    vector middle;             /* of the map's axes, in texels */
    float *depth;              /* SHADOW_SIZE x SHADOW_SIZE: of the nearest to the lamp, m; -INFINITY: none */
} shadow_map;

typedef struct shadow {
    vector lamp;     /* to its middle, a unit vector */
    float per_metre; /* texels */
    shadow_map map[SHADOW_LAMPS];
    pbd_arena owned;
} shadow;

/* Of the raster's bodies within `reach` (m) of the picture's middle. Free with shadow_free (safe on a zeroed one). */
pbd_status shadow_make(const raster *r, vector lamp, float reach, shadow *out);
void shadow_free(shadow *s);

/* The share of the lamp that a point with this normal sees, by every fourth point of the lamp, from turn % 4 on. */
float shadow_light(const shadow *s, vector point, vector normal, int turn);

#endif
