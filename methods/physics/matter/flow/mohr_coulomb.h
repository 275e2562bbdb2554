/* mohr_coulomb: (tau_1 - tau_3) + (tau_1 + tau_3) sin phi <= 0 for the largest and smallest principal stress, shifted
 * by cohesion. Perfectly plastic, associative flow: return to a plane, an edge or the apex, as in de Souza Neto, Peric
 * and Owen 2008, section 8.2. The dilation is up to sin phi times the plastic shear. */
#ifdef FLOW
FLOW(mohr_coulomb, plain, principal)
#elif !defined(PBD_BODY)
#ifndef PBD_FLOW_MOHR_COULOMB_H
#define PBD_FLOW_MOHR_COULOMB_H

#include "methods/physics/matter/flow/drucker_prager.h"

#define FLOW_COLOUR_mohr_coulomb 0xcf9f7a
#define FLOW_LOOK_mohr_coulomb FLOW_GRAINS
#define FLOW_PARAMETERS_mohr_coulomb(P) FLOW_CONE_PARAMETERS(P)
typedef struct mohr_coulomb_values {
    FLOW_PARAMETERS_mohr_coulomb(FLOW_VALUE)
} mohr_coulomb_values;

/* An edge of the pyramid: stresses -k r, k >= 0, with the strains -k u. */
typedef struct mohr_coulomb_edge {
    vec3 r, u;
    real inverse; /* 1/(r.u) */
} mohr_coulomb_edge;

typedef struct mohr_coulomb_rule {
    real cohesion;               /* Hencky strain of each axis at the apex; strains below are relative to it */
    real rise, fall;             /* 1 + sin phi, 1 - sin phi: the plane is rise t_1 = fall t_3 */
    real ratio;                  /* lambda/(2 mu): t = e + ratio tr e is the stress over 2 mu */
    real inverse;                /* 1/(n.t of the strain n), n = (rise, 0, -fall) */
    mohr_coulomb_edge low, high; /* t_1 = t_2 (triaxial compression), t_2 = t_3 (extension) */
} mohr_coulomb_rule;

PBD_FN mohr_coulomb_edge mohr_coulomb_edge_make(double share, double x, double y, double z) {
    const double trace = x + y + z;
    const double u[3] = {x - share * trace, y - share * trace, z - share * trace};
    mohr_coulomb_edge out;
    out.r = vec3_make((real)x, (real)y, (real)z);
    out.u = vec3_make((real)u[0], (real)u[1], (real)u[2]);
    out.inverse = (real)(1 / (x * u[0] + y * u[1] + z * u[2]));
    return out;
}

PBD_FN mohr_coulomb_rule mohr_coulomb_make(flow_moduli m, const mohr_coulomb_values *v) {
    const double sine = sin(v->friction_angle * 0.017453292519943295769), rise = 1 + sine, fall = 1 - sine;
    const double ratio = m.lambda / (2 * m.mu), share = m.lambda / (3 * m.lambda + 2 * m.mu);
    mohr_coulomb_rule r;
    r.cohesion = (real)v->cohesion;
    r.rise = (real)rise;
    r.fall = (real)fall;
    r.ratio = (real)ratio;
    r.inverse = (real)(1 / (rise * rise + fall * fall + 4 * ratio * sine * sine));
    r.low = mohr_coulomb_edge_make(share, fall, fall, rise);
    r.high = mohr_coulomb_edge_make(share, fall, rise, rise);
    return r;
}

#define PBD_BODY "methods/physics/matter/flow/mohr_coulomb.h"
#include "methods/physics/math/twice.h"

#endif
#else

/* Returns -k of the edge's point that is nearest to the strain e in the energy norm; > 0 beyond the apex. */
PBD_FN V(real) V(mohr_coulomb_along)(const mohr_coulomb_edge *a, V(vec3) e) {
    return (a->r.x * e.x + a->r.y * e.y + a->r.z * e.z) * a->inverse;
}

/* s.x >= s.y >= s.z. Associative flow is the projection onto the pyramid in the energy norm, which by symmetry stays in
 * the trial's sextant. There the pyramid is a plane between two edges. The result is the projection onto the plane if
 * that keeps the order of the stresses; otherwise the projection onto the nearer edge, or the apex. */
PBD_FN V(flowed) V(flow_mohr_coulomb)(const mohr_coulomb_rule *r, V(vec3) s, V(real) state) {
    const V(real) zero = V(real_set)(0);
    V(vec3) e = V(vec3_shift)(V(vec3_log)(s), V(real_set)(-r->cohesion));
    V(real) trace = V(vec3_sum)(e);
    V(real) beyond = r->rise * e.x - r->fall * e.z + r->ratio * (r->rise - r->fall) * trace;
    V(real) flow = beyond * r->inverse;
    V(vec3) plane = V(vec3_make)(e.x - r->rise * flow, e.y, e.z + r->fall * flow);
    V(mask) ordered = (plane.x >= plane.y) & (plane.y >= plane.z) & (V(vec3_sum)(plane) <= 0);

    /* The nearer edge is the one on which more of the trial's energy, k^2 (r.u), remains. */
    V(real) low = V(real_min)(zero, V(mohr_coulomb_along)(&r->low, e));
    V(real) high = V(real_min)(zero, V(mohr_coulomb_along)(&r->high, e));
    V(mask) lower = low * low * r->high.inverse >= high * high * r->low.inverse;
    V(vec3)
    edge = V(vec3_make)(V(real_where)(lower, low * r->low.u.x, high * r->high.u.x),
                        V(real_where)(lower, low * r->low.u.y, high * r->high.u.y),
                        V(real_where)(lower, low * r->low.u.z, high * r->high.u.z));
    V(flowed) out;
    /* With sin phi = 0 the plane does not limit tension, but the pyramid does. */
    out.moved = (beyond > 0) | (trace > 0);
    const V(vec3) one = V(vec3_make)(V(real_set)(1), V(real_set)(1), V(real_set)(1));
    const V(vec3) returned =
        V(stretched_by)(V(vec3_where)(ordered, s, one),
                        V(vec3_where)(ordered, V(vec3_sub)(plane, e), V(vec3_shift)(edge, V(real_set)(r->cohesion))));
    out.s = V(vec3_where)(out.moved, returned, s);
    out.state = state;
    return out;
}

#endif
