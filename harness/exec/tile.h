/* Sums over the lanes of a tile: every lane receives the result. One lane on the CPU: nothing to add. */
#ifndef PBD_TILE_H
#define PBD_TILE_H

#include "methods/physics/vec.h"

PBD_FN real tile_sum(real v) { return v; }
PBD_FN vec3 tile_sum3(vec3 v) { return vec3_make(tile_sum(v.x), tile_sum(v.y), tile_sum(v.z)); }

#endif
