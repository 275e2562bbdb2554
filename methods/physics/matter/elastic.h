/* Arguments and results of every elastic law of laws/, and the volume change without cancellation near rest. */
#ifndef PBD_BODY
#ifndef PBD_ELASTIC_H
#define PBD_ELASTIC_H

#include "methods/physics/matter/strain.h"

/* How a law continues below a threshold of the singular values: laws.h. */
typedef enum pbd_join {
    PBD_JOIN_NONE,
    PBD_JOIN_PRINTED,
    PBD_JOIN_CONTINUOUS,
    PBD_JOIN_SHIFTED,
    PBD_JOIN_CLAMP
} pbd_join;
enum { PBD_JOINS = 5 };

#define PBD_BODY "methods/physics/matter/elastic.h"
#include "methods/physics/math/twice.h"

#endif
#else

typedef struct V(hyperelastic) {
    int law; /* LAW_name of laws.h */
    pbd_join join;
    V(real) mu, lambda; /* Lame, Pa */
    V(real) threshold;  /* of the join */
} V(hyperelastic);

typedef struct V(principal) {
    V(real) psi; /* J/m^3 */
    V(vec3) p;   /* d psi/ds, Pa */
} V(principal);

typedef struct V(principal_slope) {
    V(vec3) diagonal; /* d2 psi/ds_k^2 */
    V(vec3) across;   /* d2 psi/ds_i ds_j for (i, j) = (y, z), (z, x), (x, y) */
} V(principal_slope);

typedef struct V(stressed) {
    V(real) psi; /* J/m^3 */
    V(mat3) p;   /* first Piola-Kirchhoff, Pa */
} V(stressed);

/* J, d = J - 1, and the terms of psi of the neo-Hookean laws, without cancellation near rest. */
typedef struct V(volume) {
    V(real) j, d;
    V(real) rest;   /* (|F|^2 - 3)/2 - d */
    V(real) square; /* |F|^2 - 3 */
} V(volume);

#define HALF ((real)0.5)
#define NEAR ((real)0.0625) /* |e|^2 or 4|E|^2 below which expansions about rest are used */

PBD_FN V(volume) V(volume_of_stretches)(V(vec3) s) {
    V(vec3) e = V(vec3_shift)(s, V(real_set)(-1));
    V(real) i1 = V(vec3_sum)(e), i2 = V(vec3_sum)(V(vec3_others)(e)), i3 = e.x * e.y * e.z, e2 = V(vec3_dot)(e, e);
    V(volume) out;
    out.j = s.x * s.y * s.z;
    out.d = V(real_where)(e2 < NEAR, i1 + (i2 + i3), out.j - 1);
    out.square = V(vec3_dot)(e, V(vec3_shift)(s, V(real_set)(1)));
    /* (|F|^2 - 3)/2 - d = e.e/2 - i2 - i3. */
    out.rest = V(real_where)(e2 < NEAR, HALF * e2 - i2 - i3, HALF * out.square - out.d);
    return out;
}

/* The same from F and E, by det(I + 2E) = J^2 = 1 + 2 i1 + 4 i2 + 8 i3. */
PBD_FN V(volume) V(volume_of_matrix)(V(mat3) f, V(mat3) e) {
    V(real) i1 = V(mat3_trace)(e), i3 = V(mat3_det)(e);
    V(real) i2 = e.x.x * e.y.y + e.y.y * e.z.z + e.z.z * e.x.x - e.y.x * e.y.x - e.z.x * e.z.x - e.z.y * e.z.y;
    V(volume) out;
    out.j = V(mat3_det)(f);
    V(real) near = V(real_where)(4 * V(mat3_inner)(e, e) < NEAR, out.j, V(real_set)(-1)); /* > 0 where F is near rest */
    V(real) inverse = 1 / V(real_where)(near > 0, 1 + out.j, V(real_set)(1));
    out.d = V(real_where)(near > 0, (2 * i1 + (4 * i2 + 8 * i3)) * inverse, out.j - 1);
    out.square = 2 * i1;
    out.rest = V(real_where)(near > 0, (i1 * out.d - 4 * i2 - 8 * i3) * inverse, i1 - out.d);
    return out;
}

/* NAME_turn of laws.def for laws with log J, where d H_jj/d s_k is -lambda/(s_j^2 s_k). */
PBD_FN V(vec3) V(log_turn)(V(hyperelastic) m, V(vec3) q, V(vec3) d) {
    V(vec3) weight = V(vec3_over)(V(vec3_times)(d, d), V(vec3_times)(q, q));
    V(real) sum = HALF * m.lambda * V(vec3_sum)(weight);
    return V(vec3_make)(-sum / q.x, -sum / q.y, -sum / q.z);
}

#undef HALF
#undef NEAR
#endif
