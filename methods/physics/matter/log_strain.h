/* The logarithmic (Hencky) strain of a body that is strained little, without singular values:
 *
 *     h = 1/2 log(F F^T) = sum_i log s_i u_i (x) u_i,   F = U diag(s) V^T
 *
 * With E = F F^T - 1 and Z = E (2 + E)^-1, h = atanh Z = Z + Z^3/3 + Z^5/5 + ... Where |E| is at most LOG_STRAIN_MOST
 * the rest of the series is below rounding. Rotations do not matter: F F^T has none. Functions of the strain that need
 * no principal directions (isotropic laws, radial flow rules) are computed from h in a fraction of the time of an SVD,
 * most of which is one chain of dependent operations. */
#ifndef PBD_BODY
#ifndef PBD_LOG_STRAIN_H
#define PBD_LOG_STRAIN_H

#include "methods/physics/matter/flow.h"

/* The largest row sum of |E|, a bound of its eigenvalues: stretches from 0.949 to 1.048, |Z| up to 0.053. The first
 * terms left out are 1.6e-10 in f32 and 1.8e-18 in f64. */
#define LOG_STRAIN_MOST 0.1
#define LOG_STRAIN_TERMS (REAL_IS_FLOAT ? 2 : 5)

/* Powers of the exponential's series; the first one left out is 1.6e-8 in f32 and 2.2e-17 in f64. */
#define LOG_STRAIN_POWERS (REAL_IS_FLOAT ? 5 : 10)

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
    const V(sym3) out = {a.xx * b.xx + a.xy * b.xy + a.zx * b.zx, a.yy * b.yy + a.xy * b.xy + a.yz * b.yz,
                         a.zz * b.zz + a.zx * b.zx + a.yz * b.yz, a.xx * b.xy + a.xy * b.yy + a.zx * b.yz,
                         a.xy * b.zx + a.yy * b.yz + a.yz * b.zz, a.zx * b.xx + a.yz * b.xy + a.zz * b.zx};
    return out;
}

PBD_FN V(sym3) V(sym3_inverse)(V(sym3) a) {
    const V(sym3) c = {a.yy * a.zz - a.yz * a.yz, a.xx * a.zz - a.zx * a.zx, a.xx * a.yy - a.xy * a.xy,
                       a.yz * a.zx - a.xy * a.zz, a.zx * a.xy - a.yz * a.xx, a.xy * a.yz - a.zx * a.yy};
    return V(sym3_scale)(1 / (a.xx * c.xx + a.xy * c.xy + a.zx * c.zx), c);
}

PBD_FN V(mat3) V(sym3_matrix)(V(sym3) a) {
    return V(mat3_make)(V(vec3_make)(a.xx, a.xy, a.zx), V(vec3_make)(a.xy, a.yy, a.yz), V(vec3_make)(a.zx, a.yz, a.zz));
}

PBD_FN V(real) V(real_rounded)(V(real) x) {
    const real large = (real)0.0078125;
    return (x + large) - large;
}

/* Entries to multiples of 1/128 eps or less, for terms of a sum with 1. Powers of smaller ones would be subnormal
 * numbers, with which processors take a hundred times as long. */
PBD_FN V(sym3) V(sym3_rounded)(V(sym3) a) {
    const V(sym3) out = {V(real_rounded)(a.xx), V(real_rounded)(a.yy), V(real_rounded)(a.zz),
                         V(real_rounded)(a.xy), V(real_rounded)(a.yz), V(real_rounded)(a.zx)};
    return out;
}

/* E = F F^T - 1 */
PBD_FN V(sym3) V(mat3_left_strain)(V(mat3) f) {
    const V(sym3)
        out = {f.x.x * f.x.x - 1 + f.y.x * f.y.x + f.z.x * f.z.x, f.x.y * f.x.y - 1 + f.y.y * f.y.y + f.z.y * f.z.y,
               f.x.z * f.x.z - 1 + f.y.z * f.y.z + f.z.z * f.z.z, f.x.x * f.x.y + f.y.x * f.y.y + f.z.x * f.z.y,
               f.x.y * f.x.z + f.y.y * f.y.z + f.z.y * f.z.z,     f.x.z * f.x.x + f.y.z * f.y.x + f.z.z * f.z.x};
    return V(sym3_rounded)(out);
}

/* Whether log_strain may be used: |E| is small, and F is not reflected. False for NaN. */
PBD_FN V(mask) V(log_strain_holds)(V(mat3) f, V(sym3) e) {
    const V(real) xy = V(real_abs)(e.xy), yz = V(real_abs)(e.yz), zx = V(real_abs)(e.zx);
    const V(real) most =
        V(real_max)(V(real_abs)(e.xx) + xy + zx, V(real_max)(V(real_abs)(e.yy) + xy + yz, V(real_abs)(e.zz) + yz + zx));
    return (most <= (real)LOG_STRAIN_MOST) & (V(mat3_det)(f) > 0);
}

/* h of E, where log_strain_holds. */
PBD_FN V(sym3) V(log_strain)(V(sym3) e) {
    const V(sym3) z = V(sym3_mul)(e, V(sym3_inverse)(V(sym3_shift)(e, V(real_set)(2))));
    const V(sym3) y = V(sym3_rounded)(V(sym3_mul)(z, z));
    real factor = (real)1 / (2 * LOG_STRAIN_TERMS + 1);
    V(sym3) sum = V(sym3_scale)(V(real_set)(factor), y);
    for (int term = LOG_STRAIN_TERMS - 1; term > 0; term--)
        sum = V(sym3_mul)(y, V(sym3_shift)(sum, V(real_set)((real)1 / (real)(2 * term + 1))));
    return V(sym3_mul)(z, V(sym3_shift)(sum, V(real_set)(1)));
}

/* exp(d) for eigenvalues of d up to 0.15. */
PBD_FN V(sym3) V(sym3_exp)(V(sym3) d) {
    V(sym3) sum = V(sym3_shift)(V(sym3_scale)(V(real_set)((real)1 / LOG_STRAIN_POWERS), d), V(real_set)(1));
    for (int power = LOG_STRAIN_POWERS - 1; power > 0; power--)
        sum = V(sym3_shift)(V(sym3_mul)(V(sym3_scale)(V(real_set)((real)1 / (real)power), d), sum), V(real_set)(1));
    return sum;
}

/* A return mapping by the strain: h before and after, the new F and state. Where nothing flows, F and the state are
 * bitwise unchanged. */
typedef struct V(flowed_strain) {
    V(sym3) from, to;
    V(mat3) f;
    V(real) state;
} V(flowed_strain);

/* Applies a radial rule, or none; e: E of F, where log_strain_holds. */
PBD_FN V(flowed_strain) V(flow_strain)(const flow_rule *r, V(mat3) f, V(sym3) e, V(real) state) {
    V(flowed_strain) out;
    out.from = V(log_strain)(e);
    const V(real) trace = V(sym3_trace)(out.from), third = V(real_set)((real)(1.0 / 3));
    const V(sym3) deviator = V(sym3_shift)(out.from, -third * trace);
    const V(real) norm = V(real_sqrt)(V(sym3_inner)(deviator, deviator));
    const V(radial_flow) by = V(flow_radially)(r, trace, norm, state);
    const V(sym3) change = V(sym3_rounded)(V(sym3_shift)(V(sym3_scale)(-by.share, deviator), third * by.volume));
    const V(mat3) moved = V(mat3_mul)(V(sym3_matrix)(V(sym3_exp)(change)), f);
    out.to = V(sym3_shift)(V(sym3_scale)(1 - by.share, deviator), third * (trace + by.volume));
    out.f = V(mat3_where)(by.moved, moved, f);
    out.state = by.state;
    return out;
}

/* As flow_dissipated. */
PBD_FN V(real) V(flow_strain_dissipated)(real mu, real lambda, V(sym3) from, V(sym3) to) {
    const V(sym3) plastic = {from.xx - to.xx, from.yy - to.yy, from.zz - to.zz,
                             from.xy - to.xy, from.yz - to.yz, from.zx - to.zx};
    return 2 * mu * V(sym3_inner)(to, plastic) + lambda * V(sym3_trace)(to) * V(sym3_trace)(plastic);
}

/* A return mapping of F, and what it dissipates in units of the moduli (flow_dissipated). */
typedef struct V(flowed_body) {
    V(mat3) f;
    V(real) state, lost;
} V(flowed_body);

PBD_FN V(flowed_body) V(flow_body_stretches)(const flow_rule *r, V(mat3) f, V(real) state, real mu, real lambda) {
    const V(flowed_matrix) to = V(flow_matrix)(r, f, state);
    V(flowed_body) out;
    out.f = to.f;
    out.state = to.state;
    out.lost = V(flow_dissipated)(mu, lambda, to.from, to.to);
    return out;
}

/* As flow_matrix, by the strain in lanes where that holds, if the rule is radial. A lane's result does not depend on
 * which way the others need. */
PBD_FN V(flowed_body) V(flow_body)(const flow_rule *r, V(mat3) f, V(real) state, real mu, real lambda) {
    const V(sym3) e = V(mat3_left_strain)(f);
    const V(mask) near = V(log_strain_holds)(f, e);
    if (!V(flow_is_radial)(r) || !V(mask_any)(near)) return V(flow_body_stretches)(r, f, state, mu, lambda);
    const V(flowed_strain) by = V(flow_strain)(r, f, e, state);
    V(flowed_body) out, other;
    out.f = by.f;
    out.state = by.state;
    out.lost = V(flow_strain_dissipated)(mu, lambda, by.from, by.to);
    if (!V(mask_any)(near == 0)) return out;
    other = V(flow_body_stretches)(r, f, state, mu, lambda);
    out.f = V(mat3_where)(near, out.f, other.f);
    out.state = V(real_where)(near, out.state, other.state);
    out.lost = V(real_where)(near, out.lost, other.lost);
    return out;
}

#endif
