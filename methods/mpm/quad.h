/* Four reals, as a row of a node or of a particle has: one vector on a processor, four variables on a GPU. */
#ifndef PBD_QUAD_H
#define PBD_QUAD_H

#include "methods/physics/math/scalar.h"

#if PBD_BATCH > 1

typedef real quad __attribute__((vector_size(4 * sizeof(real))));

PBD_FN real quad_get(quad q, int e) { return q[e]; }
PBD_FN quad quad_with(quad q, int e, real x) {
    q[e] = x;
    return q;
}
PBD_FN quad quad_all(real x) { return (quad){x, x, x, x}; }
PBD_FN quad quad_add(quad a, quad b) { return a + b; }
PBD_FN quad quad_mul(quad a, quad b) { return a * b; }
/* a + s b */
PBD_FN quad quad_plus(quad a, real s, quad b) { return a + s * b; }

#else

typedef struct quad {
    real e[4];
} quad;

PBD_FN real quad_get(quad q, int e) { return q.e[e]; }
PBD_FN quad quad_with(quad q, int e, real x) {
    q.e[e] = x;
    return q;
}
PBD_FN quad quad_all(real x) {
    const quad q = {{x, x, x, x}};
    return q;
}
PBD_FN quad quad_add(quad a, quad b) {
    for (int e = 0; e < 4; e++) a.e[e] += b.e[e];
    return a;
}
PBD_FN quad quad_mul(quad a, quad b) {
    for (int e = 0; e < 4; e++) a.e[e] *= b.e[e];
    return a;
}
PBD_FN quad quad_plus(quad a, real s, quad b) {
    for (int e = 0; e < 4; e++) a.e[e] += s * b.e[e];
    return a;
}

#endif

/* values[0 .. 4), which need no alignment. */
PBD_FN quad quad_load(const real *values) {
    quad q;
    __builtin_memcpy(&q, values, sizeof q);
    return q;
}

PBD_FN void quad_store(real *values, quad q) { __builtin_memcpy(values, &q, sizeof q); }

PBD_FN quad quad_floor(quad q) {
    quad out = q;
    for (int e = 0; e < 4; e++) out = quad_with(out, e, real_floor(quad_get(q, e)));
    return out;
}

#endif
