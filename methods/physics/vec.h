/* Vectors of three, by value: valid in every kernel body. PBD_DEFINE_VEC3(TYPE, SCALAR) defines TYPE and its functions
 * TYPE_make, _add, _sub, _scale, _dot, _cross; `vec3` is the one of reals, `vvec3` (batch.h) the one of batches. */
#ifndef PBD_VEC_H
#define PBD_VEC_H

#include "methods/physics/real.h"

#define PBD_DEFINE_VEC3(TYPE, SCALAR)                                                               \
    typedef struct TYPE {                                                                           \
        SCALAR x, y, z;                                                                             \
    } TYPE;                                                                                         \
    PBD_FN TYPE TYPE##_make(SCALAR x, SCALAR y, SCALAR z) {                                         \
        TYPE v;                                                                                     \
        v.x = x;                                                                                    \
        v.y = y;                                                                                    \
        v.z = z;                                                                                    \
        return v;                                                                                   \
    }                                                                                               \
    PBD_FN TYPE TYPE##_add(TYPE a, TYPE b) { return TYPE##_make(a.x + b.x, a.y + b.y, a.z + b.z); } \
    PBD_FN TYPE TYPE##_sub(TYPE a, TYPE b) { return TYPE##_make(a.x - b.x, a.y - b.y, a.z - b.z); } \
    PBD_FN TYPE TYPE##_scale(SCALAR s, TYPE a) { return TYPE##_make(s * a.x, s * a.y, s * a.z); }   \
    PBD_FN SCALAR TYPE##_dot(TYPE a, TYPE b) { return a.x * b.x + a.y * b.y + a.z * b.z; }          \
    PBD_FN TYPE TYPE##_cross(TYPE a, TYPE b) {                                                      \
        return TYPE##_make(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);    \
    }

PBD_DEFINE_VEC3(vec3, real)

/* The first three of row i of an array of rows of four. */
PBD_FN vec3 load3(const real *rows, size_t i) { return vec3_make(rows[4 * i], rows[4 * i + 1], rows[4 * i + 2]); }

#endif
