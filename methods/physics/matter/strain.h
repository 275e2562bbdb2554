/* Functions of stretches and of F that elastic laws and flow rules share. */
#ifndef PBD_BODY
#ifndef PBD_STRAIN_H
#define PBD_STRAIN_H

#include "methods/physics/math/log.h"
#include "methods/physics/math/svd3.h"

#define PBD_BODY "methods/physics/matter/strain.h"
#include "methods/physics/math/twice.h"

#endif
#else

PBD_FN V(real) V(vec3_sum)(V(vec3) a) { return a.x + a.y + a.z; }
PBD_FN V(vec3) V(vec3_shift)(V(vec3) a, V(real) by) { return V(vec3_make)(a.x + by, a.y + by, a.z + by); }
PBD_FN V(vec3) V(vec3_times)(V(vec3) a, V(vec3) b) { return V(vec3_make)(a.x * b.x, a.y * b.y, a.z * b.z); }
PBD_FN V(vec3) V(vec3_over)(V(vec3) a, V(vec3) b) { return V(vec3_make)(a.x / b.x, a.y / b.y, a.z / b.z); }
/* For each component the product of the other two. */
PBD_FN V(vec3) V(vec3_others)(V(vec3) a) { return V(vec3_make)(a.y * a.z, a.z * a.x, a.x * a.y); }
PBD_FN V(vec3) V(vec3_log)(V(vec3) s) { return V(vec3_make)(V(real_log)(s.x), V(real_log)(s.y), V(real_log)(s.z)); }

PBD_FN V(vec3) V(vec3_at_least)(V(vec3) s, V(real) t) {
    return V(vec3_make)(V(real_max)(s.x, t), V(real_max)(s.y, t), V(real_max)(s.z, t));
}

PBD_FN V(vec3) V(vec3_where)(V(mask) m, V(vec3) a, V(vec3) b) {
    return V(vec3_make)(V(real_where)(m, a.x, b.x), V(real_where)(m, a.y, b.y), V(real_where)(m, a.z, b.z));
}

PBD_FN V(mat3) V(mat3_where)(V(mask) m, V(mat3) a, V(mat3) b) {
    return V(mat3_make)(V(vec3_where)(m, a.x, b.x), V(vec3_where)(m, a.y, b.y), V(vec3_where)(m, a.z, b.z));
}

/* Green's strain of stretches, (s^2 - 1)/2. */
PBD_FN V(vec3) V(green_stretches)(V(vec3) s) {
    const V(real) one = V(real_set)(1);
    return V(vec3_scale)(V(real_set)((real)0.5), V(vec3_times)(V(vec3_shift)(s, -one), V(vec3_shift)(s, one)));
}

PBD_FN V(mat3) V(mat3_green)(V(mat3) f) { /* E = (F^T F - I)/2 */
    const V(real) half = V(real_set)((real)0.5);
    return V(mat3_scale)(half, V(mat3_sub)(V(mat3_transposed_mul)(f, f), V(mat3_identity)()));
}

#endif
