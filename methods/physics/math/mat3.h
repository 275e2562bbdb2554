/* 3 x 3 matrices, by value, stored as three columns x, y, z: the images of the axes. */
#ifndef PBD_BODY
#ifndef PBD_MAT3_H
#define PBD_MAT3_H

#include "methods/physics/math/scalar.h"

#define PBD_BODY "methods/physics/math/mat3.h"
#include "methods/physics/math/twice.h"
#endif
#else

typedef struct V(mat3) {
    V(vec3) x, y, z;
} V(mat3);

PBD_FN V(mat3) V(mat3_make)(V(vec3) x, V(vec3) y, V(vec3) z) {
    V(mat3) a;
    a.x = x;
    a.y = y;
    a.z = z;
    return a;
}

PBD_FN V(mat3) V(mat3_diagonal)(V(vec3) d) {
    const V(real) zero = V(real_set)(0);
    return V(mat3_make)(V(vec3_make)(d.x, zero, zero), V(vec3_make)(zero, d.y, zero), V(vec3_make)(zero, zero, d.z));
}

PBD_FN V(mat3) V(mat3_identity)(void) {
    const V(real) one = V(real_set)(1);
    return V(mat3_diagonal)(V(vec3_make)(one, one, one));
}

PBD_FN V(mat3) V(mat3_add)(V(mat3) a, V(mat3) b) {
    return V(mat3_make)(V(vec3_add)(a.x, b.x), V(vec3_add)(a.y, b.y), V(vec3_add)(a.z, b.z));
}

PBD_FN V(mat3) V(mat3_sub)(V(mat3) a, V(mat3) b) {
    return V(mat3_make)(V(vec3_sub)(a.x, b.x), V(vec3_sub)(a.y, b.y), V(vec3_sub)(a.z, b.z));
}

PBD_FN V(mat3) V(mat3_scale)(V(real) s, V(mat3) a) {
    return V(mat3_make)(V(vec3_scale)(s, a.x), V(vec3_scale)(s, a.y), V(vec3_scale)(s, a.z));
}

PBD_FN V(vec3) V(mat3_apply)(V(mat3) a, V(vec3) v) {
    return V(vec3_add)(V(vec3_add)(V(vec3_scale)(v.x, a.x), V(vec3_scale)(v.y, a.y)), V(vec3_scale)(v.z, a.z));
}

PBD_FN V(mat3) V(mat3_mul)(V(mat3) a, V(mat3) b) {
    return V(mat3_make)(V(mat3_apply)(a, b.x), V(mat3_apply)(a, b.y), V(mat3_apply)(a, b.z));
}

PBD_FN V(mat3) V(mat3_transpose)(V(mat3) a) {
    return V(mat3_make)(V(vec3_make)(a.x.x, a.y.x, a.z.x), V(vec3_make)(a.x.y, a.y.y, a.z.y),
                        V(vec3_make)(a.x.z, a.y.z, a.z.z));
}

/* a b^T; the next function: a^T b. */
PBD_FN V(mat3) V(mat3_mul_transposed)(V(mat3) a, V(mat3) b) { return V(mat3_mul)(a, V(mat3_transpose)(b)); }

PBD_FN V(mat3) V(mat3_transposed_mul)(V(mat3) a, V(mat3) b) {
    return V(mat3_make)(V(vec3_make)(V(vec3_dot)(a.x, b.x), V(vec3_dot)(a.y, b.x), V(vec3_dot)(a.z, b.x)),
                        V(vec3_make)(V(vec3_dot)(a.x, b.y), V(vec3_dot)(a.y, b.y), V(vec3_dot)(a.z, b.y)),
                        V(vec3_make)(V(vec3_dot)(a.x, b.z), V(vec3_dot)(a.y, b.z), V(vec3_dot)(a.z, b.z)));
}

/* a b^T of two vectors. */
PBD_FN V(mat3) V(mat3_outer)(V(vec3) a, V(vec3) b) {
    return V(mat3_make)(V(vec3_scale)(b.x, a), V(vec3_scale)(b.y, a), V(vec3_scale)(b.z, a));
}

PBD_FN V(real) V(mat3_det)(V(mat3) a) { return V(vec3_dot)(a.x, V(vec3_cross)(a.y, a.z)); }
PBD_FN V(real) V(mat3_trace)(V(mat3) a) { return a.x.x + a.y.y + a.z.z; }

/* a : b, the sum of the products of the entries. */
PBD_FN V(real) V(mat3_inner)(V(mat3) a, V(mat3) b) {
    return V(vec3_dot)(a.x, b.x) + V(vec3_dot)(a.y, b.y) + V(vec3_dot)(a.z, b.z);
}

/* The cofactors: d(det a)/da = det(a) a^-T, defined for every a. */
PBD_FN V(mat3) V(mat3_cofactor)(V(mat3) a) {
    return V(mat3_make)(V(vec3_cross)(a.y, a.z), V(vec3_cross)(a.z, a.x), V(vec3_cross)(a.x, a.y));
}

/* Largest absolute value of an entry; NaN is ignored. The comparisons form a tree, since a chain of nine has a long
 * latency. */
PBD_FN V(real) V(vec3_largest)(V(vec3) a) {
    const V(real) zero = V(real_set)(0);
    return V(real_max)(V(real_max)(V(real_abs)(a.x), zero),
                       V(real_max)(V(real_max)(V(real_abs)(a.y), zero), V(real_max)(V(real_abs)(a.z), zero)));
}

PBD_FN V(real) V(mat3_largest)(V(mat3) a) {
    return V(real_max)(V(vec3_largest)(a.x), V(real_max)(V(vec3_largest)(a.y), V(vec3_largest)(a.z)));
}

#endif
