/* Plastic flow by an additive split of Green's strain, E = E_elastic + E_plastic (cao2023 section 4.3).
 *
 *     psi = mu |E - E_p|^2 + lambda/2 tr^2(E - E_p)                    material=stvk of the elastic part
 *     where n = |dev(E - E_p)| > yield:  E_p += c (1 - yield/n) dev(E - E_p),  c = 1 - exp(-creep dt)
 *
 * With the von Mises norm of the deviator the volumetric strain stays elastic. The norm of the whole strain, as the
 * paper's text suggests, also yields under pure compression (C-9). E_p is the state of one element or quadrature
 * point. */
#ifndef PBD_BODY
#ifndef PBD_PLASTICITY_H
#define PBD_PLASTICITY_H

#include "methods/physics/matter/laws.h"

enum { PLASTIC_ENTRIES = 6 }; /* components of E_p: xx, yy, zz, xy, yz, zx */

#define PBD_BODY "methods/physics/matter/plasticity.h"
#include "methods/physics/math/twice.h"
#endif
#else

typedef struct V(symmetric) {
    V(real) xx, yy, zz, xy, yz, zx;
} V(symmetric);

PBD_FN V(real) V(symmetric_inner)(V(symmetric) a, V(symmetric) b) {
    return a.xx * b.xx + a.yy * b.yy + a.zz * b.zz + 2 * (a.xy * b.xy + a.yz * b.yz + a.zx * b.zx);
}

/* a + s b */
PBD_FN V(symmetric) V(symmetric_plus)(V(symmetric) a, V(real) s, V(symmetric) b) {
    a.xx += s * b.xx;
    a.yy += s * b.yy;
    a.zz += s * b.zz;
    a.xy += s * b.xy;
    a.yz += s * b.yz;
    a.zx += s * b.zx;
    return a;
}

PBD_FN V(mat3) V(symmetric_matrix)(V(symmetric) a) {
    return V(mat3_make)(V(vec3_make)(a.xx, a.xy, a.zx), V(vec3_make)(a.xy, a.yy, a.yz), V(vec3_make)(a.zx, a.yz, a.zz));
}

PBD_FN V(symmetric) V(symmetric_green)(V(mat3) f) {
    const V(real) half = V(real_set)((real)0.5);
    V(symmetric) e;
    e.xx = half * (V(vec3_dot)(f.x, f.x) - 1);
    e.yy = half * (V(vec3_dot)(f.y, f.y) - 1);
    e.zz = half * (V(vec3_dot)(f.z, f.z) - 1);
    e.xy = half * V(vec3_dot)(f.x, f.y);
    e.yz = half * V(vec3_dot)(f.y, f.z);
    e.zx = half * V(vec3_dot)(f.z, f.x);
    return e;
}

/* 2 mu e + lambda tr e I: the second Piola-Kirchhoff stress of stvk. */
PBD_FN V(symmetric) V(symmetric_hooke)(V(real) mu, V(real) lambda, V(symmetric) e) {
    V(real) trace = lambda * (e.xx + e.yy + e.zz);
    V(symmetric) s;
    s.xx = 2 * mu * e.xx + trace;
    s.yy = 2 * mu * e.yy + trace;
    s.zz = 2 * mu * e.zz + trace;
    s.xy = 2 * mu * e.xy;
    s.yz = 2 * mu * e.yz;
    s.zx = 2 * mu * e.zx;
    return s;
}

/* Converts energy and stress of stvk for E to those for E - E_p: psi(E) - S_p : E + psi(E_p), P - F S_p, with S_p the
 * stress of E_p. In this form it also applies to a law with a join, and P remains the gradient of psi. */
PBD_FN void V(add_plastic)(V(stressed) * s, V(mat3) f, V(real) mu, V(real) lambda, V(symmetric) ep) {
    V(symmetric) sp = V(symmetric_hooke)(mu, lambda, ep);
    s->psi += (real)0.5 * V(symmetric_inner)(sp, ep) - V(symmetric_inner)(sp, V(symmetric_green)(f));
    s->p = V(mat3_sub)(s->p, V(mat3_mul)(f, V(symmetric_matrix)(sp)));
}

/* Returns E_p after a step that ends at F. creep: c above, 0 to 1. */
PBD_FN V(symmetric) V(plastic_flow)(V(mat3) f, V(symmetric) ep, real yield, real creep, int deviatoric) {
    V(symmetric) now = V(symmetric_plus)(V(symmetric_green)(f), V(real_set)(-1), ep);
    if (deviatoric) {
        V(real) mean = (now.xx + now.yy + now.zz) / 3;
        now.xx -= mean;
        now.yy -= mean;
        now.zz -= mean;
    }
    V(real) norm = V(real_sqrt)(V(symmetric_inner)(now, now));
    V(real) share = V(real_where)(norm > yield, creep * (1 - yield / norm), V(real_set)(0));
    return V(symmetric_plus)(ep, share, now);
}

#endif
