/* Shadows of a wide lamp: one depth map for each of several points on its face. A place gets the share of the lamp's
 * light, between 0 and 1, that is the share of these points that see it. */
#ifndef PBD_SHADOW_H
#define PBD_SHADOW_H

#include "harness/picture/raster.h"

enum { SHADOW_LAMPS = 16, SHADOW_SIZE = 512 };

typedef struct shadow_map {
    vector right, up, towards; /* towards: from the scene to this point of the lamp */
    vector middle;             /* texels: the picture's middle on the map */
    float *depth;              /* SHADOW_SIZE x SHADOW_SIZE, m: of the nearest surface to the lamp; -INFINITY: none */
} shadow_map;

typedef struct shadow {
    vector lamp;     /* to its middle, a unit vector */
    float per_metre; /* texels */
    shadow_map map[SHADOW_LAMPS];
    pbd_arena owned;
} shadow;

/* Maps the raster's bodies within `reach` (m) of the picture's middle. Free with shadow_free (safe on a zeroed one). */
pbd_status shadow_make(const raster *r, vector lamp, float reach, shadow *out);
void shadow_free(shadow *s);

/* The share of the lamp that a point with this normal sees; tests every fourth point of the lamp, from turn % 4 on. */
float shadow_light(const shadow *s, vector point, vector normal, int turn);

#endif
