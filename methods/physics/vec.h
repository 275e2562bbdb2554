/* Vectors of three, by value: valid in every kernel body. */
#ifndef PBD_VEC_H
#define PBD_VEC_H

#include "methods/physics/real.h"

typedef struct vec3 {
    real x, y, z;
} vec3;

PBD_FN vec3 vec3_make(real x, real y, real z) {
    vec3 v;
    v.x = x;
    v.y = y;
    v.z = z;
    return v;
}
PBD_FN vec3 vec3_add(vec3 a, vec3 b) { return vec3_make(a.x + b.x, a.y + b.y, a.z + b.z); }
PBD_FN vec3 vec3_sub(vec3 a, vec3 b) { return vec3_make(a.x - b.x, a.y - b.y, a.z - b.z); }
PBD_FN vec3 vec3_scale(real s, vec3 a) { return vec3_make(s * a.x, s * a.y, s * a.z); }
PBD_FN real vec3_dot(vec3 a, vec3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
PBD_FN vec3 vec3_cross(vec3 a, vec3 b) {
    return vec3_make(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}

#endif
