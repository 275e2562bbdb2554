/* The logarithmic (Hencky) strain of a body that is strained little, without singular values:
 *
 *     h = 1/2 log(F F^T) = sum_i log s_i u_i (x) u_i,   F = U diag(s) V^T
 *
 * With E = F F^T - 1 and Z = E (2 + E)^-1, h = atanh Z = Z + Z^3/3 + Z^5/5 + ... Where |E| is at most LOG_STRAIN_MOST the
 * rest of the series is below rounding. Rotations do not matter: F F^T has none. Functions of the strain that need no
 * principal directions (isotropic laws, radial flow rules) are computed from h in a fraction of the time of an SVD, most
 * of which is one chain of dependent operations. */
#ifndef PBD_BODY
#ifndef PBD_LOG_STRAIN_H
#define PBD_LOG_STRAIN_H

#include "methods/physics/matter/flow.h"

/* The largest row sum of |E|, a bound of its eigenvalues: stretches from 0.949 to 1.048, |Z| up to 0.053. The first terms
 * left out are 1.6e-10 in f32 and 1.8e-18 in f64. */
#define LOG_STRAIN_MOST 0.1
#define LOG_STRAIN_TERMS (REAL_IS_FLOAT ? 2 : 5)

#define PBD_BODY "methods/physics/matter/log_strain.h"
#include "methods/physics/math/twice.h"

#endif
#else

typedef struct V(sym3) {
    V(real) xx, yy, zz, xy, yz, zx;
} V(sym3);

PBD_FN V(real) V(sym3_trace)(V(sym3) a) { return a.xx + a.yy + a.zz; }

PBD_FN V(real) V(sym3_inner)(V(sym3) a, V(sym3) b) {
    return a.xx * b.xx + a.yy * b.yy + a.zz * b.zz + 2 * (a.xy * b.xy + a.yz * b.yz + a.zx * b.zx);
}

PBD_FN V(sym3) V(sym3_shift)(V(sym3) a, V(real) by) {
    a.xx += by;
    a.yy += by;
    a.zz += by;
    return a;
}

PBD_FN V(sym3) V(sym3_scale)(V(real) by, V(sym3) a) {
    const V(sym3) out = {by * a.xx, by * a.yy, by * a.zz, by * a.xy, by * a.yz, by * a.zx};
    return out;
}

/* The product of matrices that commute, which is symmetric. */
PBD_FN V(sym3) V(sym3_mul)(V(sym3) a, V(sym3) b) {
    const V(sym3) out = {a.xx * b.xx + a.xy * b.xy + a.zx * b.zx, a.xy * b.xy + a.yy * b.yy + a.yz * b.yz,
                         a.zx * b.zx + a.yz * b.yz + a.zz * b.zz, a.xx * b.xy + a.xy * b.yy + a.zx * b.yz,
                         a.xy * b.zx + a.yy * b.yz + a.yz * b.zz, a.zx * b.xx + a.yz * b.xy + a.zz * b.zx};
    return out;
}

PBD_FN V(sym3) V(sym3_inverse)(V(sym3) a) {
    const V(sym3) c = {a.yy * a.zz - a.yz * a.yz, a.xx * a.zz - a.zx * a.zx, a.xx * a.yy - a.xy * a.xy,
                       a.yz * a.zx - a.xy * a.zz, a.zx * a.xy - a.yz * a.xx, a.xy * a.yz - a.zx * a.yy};
    return V(sym3_scale)(1 / (a.xx * c.xx + a.xy * c.xy + a.zx * c.zx), c);
}

PBD_FN V(mat3) V(sym3_matrix)(V(sym3) a) {
    return V(mat3_make)(V(vec3_make)(a.xx, a.xy, a.zx), V(vec3_make)(a.xy, a.yy, a.yz),
                        V(vec3_make)(a.zx, a.yz, a.zz));
}

/* E = F F^T - 1 */
PBD_FN V(sym3) V(mat3_left_strain)(V(mat3) f) {
    const V(sym3) out = {f.x.x * f.x.x - 1 + f.y.x * f.y.x + f.z.x * f.z.x,
                         f.x.y * f.x.y - 1 + f.y.y * f.y.y + f.z.y * f.z.y,
                         f.x.z * f.x.z - 1 + f.y.z * f.y.z + f.z.z * f.z.z,
                         f.x.x * f.x.y + f.y.x * f.y.y + f.z.x * f.z.y,
                         f.x.y * f.x.z + f.y.y * f.y.z + f.z.y * f.z.z,
                         f.x.z * f.x.x + f.y.z * f.y.x + f.z.z * f.z.x};
    return out;
}

/* Whether log_strain may be used; false for NaN and for reflected F that are not near a rotation times -1: those are
 * excluded by the sign of det F. */
PBD_FN V(mask) V(log_strain_holds)(V(mat3) f, V(sym3) e) {
    const V(real) xy = V(real_abs)(e.xy), yz = V(real_abs)(e.yz), zx = V(real_abs)(e.zx);
    const V(real) most = V(real_max)(
        V(real_abs)(e.xx) + xy + zx, V(real_max)(V(real_abs)(e.yy) + xy + yz, V(real_abs)(e.zz) + yz + zx));
    return (most <= (real)LOG_STRAIN_MOST) & (V(mat3_det)(f) > 0);
}

/* h of E, where log_strain_holds. */
PBD_FN V(sym3) V(log_strain)(V(sym3) e) {
    const V(sym3) z = V(sym3_mul)(e, V(sym3_inverse)(V(sym3_shift)(e, V(real_set)(2)))), y = V(sym3_mul)(z, z);
    real factor = (real)1 / (2 * LOG_STRAIN_TERMS + 1);
    V(sym3) sum = V(sym3_scale)(V(real_set)(factor), y);
    for (int term = LOG_STRAIN_TERMS - 1; term > 0; term--)
        sum = V(sym3_mul)(y, V(sym3_shift)(sum, V(real_set)((real)1 / (real)(2 * term + 1))));
    return V(sym3_mul)(z, V(sym3_shift)(sum, V(real_set)(1)));
}

/* Applies a radial rule, or none, to a strain. */
PBD_FN V(sym3) V(flow_strain)(const flow_rule *r, V(sym3) h, V(real) state) {
    const V(real) trace = V(sym3_trace)(h);
    const V(sym3) deviator = V(sym3_shift)(h, (real)(-1.0 / 3) * trace);
    const V(real) norm = V(real_sqrt)(V(sym3_inner)(deviator, deviator));
    const V(radial_flow) to = V(flow_radially)(r, trace, norm, state);
    const V(sym3) kept = V(sym3_scale)(1 - to.share, deviator);
    return V(sym3_shift)(kept, (real)(1.0 / 3) * (trace + to.volume));
}

#endif
