/* Vectors of three components, by value. PBD_DEFINE_VEC3(TYPE, SCALAR) defines TYPE and its functions TYPE_make, _add,
 * _sub, _scale, _dot, _cross: `vec3` of reals, `vvec3` (batch.h) of batches. */
#ifndef PBD_VEC_H
#define PBD_VEC_H

#include "harness/exec/real.h"

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

/* Rows of four reals, aligned to their size. A GPU loads a row by one access of 16 bytes (two in double) instead of
 * four, which needs a quarter of the memory transactions of a warp. */
#if defined(__CUDACC__)
PBD_FN void row_load(const float *row, float out[4]) {
    const float4 all = *(const float4 *)row;
    out[0] = all.x;
    out[1] = all.y;
    out[2] = all.z;
    out[3] = all.w;
}
PBD_FN void row_load(const double *row, double out[4]) {
    const double2 low = *(const double2 *)row, high = *(const double2 *)(row + 2);
    out[0] = low.x;
    out[1] = low.y;
    out[2] = high.x;
    out[3] = high.y;
}
PBD_FN void row_store(float *row, const float in[4]) { *(float4 *)row = make_float4(in[0], in[1], in[2], in[3]); }
PBD_FN void row_store(double *row, const double in[4]) {
    *(double2 *)row = make_double2(in[0], in[1]);
    *(double2 *)(row + 2) = make_double2(in[2], in[3]);
}
#else
PBD_FN void row_load(const real *row, real out[4]) {
    for (int c = 0; c < 4; c++) out[c] = row[c];
}
PBD_FN void row_store(real *row, const real in[4]) {
    for (int c = 0; c < 4; c++) row[c] = in[c];
}
#endif

/* The first three components of row i, of rows of four. */
#if defined(__CUDACC__)
PBD_FN vec3 load3(const real *rows, size_t i) {
    real row[4];
    row_load(rows + 4 * i, row);
    return vec3_make(row[0], row[1], row[2]);
}
#else
PBD_FN vec3 load3(const real *rows, size_t i) { return vec3_make(rows[4 * i], rows[4 * i + 1], rows[4 * i + 2]); }
#endif

#endif
