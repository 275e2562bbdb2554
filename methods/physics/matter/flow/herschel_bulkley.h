/* herschel_bulkley: |dev tau| = radius + viscosity rate^power where |dev tau| exceeds the radius of von_mises: Yue et
 * al. 2015. */
#ifdef FLOW
FLOW(herschel_bulkley, plain, radial)
#elif !defined(PBD_BODY)
#ifndef PBD_FLOW_HERSCHEL_BULKLEY_H
#define PBD_FLOW_HERSCHEL_BULKLEY_H

#include "methods/physics/matter/flow/von_mises.h"

#define FLOW_COLOUR_herschel_bulkley 0x8fc26b
#define FLOW_LOOK_herschel_bulkley FLOW_GLOSSY
#define FLOW_PARAMETERS_herschel_bulkley(P)                                                           \
    FLOW_RADIUS_PARAMETERS(P)                                                                         \
    P(ASKED, viscosity, "Pa s^power", PBD_REAL, "10", 0, INFINITY, PBD_OPEN_MIN | PBD_OPEN_MAX, NULL, \
      "overstress at a rate of 1/s")                                                                  \
    P(SET, power, "", PBD_REAL, "1", 0.05, 20, 0, NULL,                                               \
      "overstress grows with this power of the rate: < 1 thins, > 1 thickens")                        \
    P(STEP, dt, "s", PBD_REAL, "", 0, INFINITY, PBD_OPEN_MIN | PBD_OPEN_MAX, NULL, "time step")
typedef struct herschel_bulkley_values {
    FLOW_PARAMETERS_herschel_bulkley(FLOW_VALUE)
} herschel_bulkley_values;

typedef struct herschel_bulkley_rule {
    real radius;
    real power, offset, growth; /* herschel_bulkley_share */
    int thickening;             /* power > 1 */
} herschel_bulkley_rule;

PBD_FN herschel_bulkley_rule herschel_bulkley_make(flow_moduli m, const herschel_bulkley_values *v) {
    const double fluidity = log(2 * m.mu / v->viscosity), step = log(v->dt);
    herschel_bulkley_rule r;
    r.radius = flow_radius(m, v->yield_stress, v->yield_norm);
    r.thickening = v->power > 1;
    r.power = (real)(r.thickening ? v->power : 1 / v->power);
    r.growth = r.power - 1;
    r.offset = (real)(r.thickening ? -fluidity - v->power * step : step + fluidity / v->power);
    return r;
}

#define PBD_BODY "methods/physics/matter/flow/herschel_bulkley.h"
#include "methods/physics/math/twice.h"

#endif
#else

#define K(c) ((real)(c))

/* The fraction of an overstrain (|dev e| - radius > 0) that flows in the step.
 *
 * With the rate |D_p| a Frobenius norm, like |dev tau|, the implicit step of Yue et al. 2015 is
 *     |dev tau| - |dev tau|_trial + 2 mu dt rate = 0,   rate = ((|dev tau| - radius)/viscosity)^(1/power)
 * Of the trial overstrain A the part x remains: x + dt (2 mu x/viscosity)^(1/power) = A. With x = A u for power <= 1,
 * and the rate u A/dt for power > 1, both cases become
 *     u + k u^m = 1,   m = power or 1/power, whichever is >= 1,   log k = offset + growth log A
 * The left side is convex, so Newton's method from min(1, k^(-1/m)), which is at most twice the root, converges from
 * above. k is represented by its logarithm, to avoid overflow. */
PBD_FN V(real) V(herschel_bulkley_share)(const herschel_bulkley_rule *r, V(real) overstrain) {
    const V(real) one = V(real_set)(1), most = V(real_set)(K(1e5)), tiny = V(real_set)(REAL_MIN);
    V(real) k = r->offset + r->growth * V(real_log)(overstrain);
    k = V(real_max)(-most, V(real_min)(most, k));
    V(real) start = V(real_exp)(V(real_min)(V(real_set)(0), k * (-1 / r->power)));
    V(real) u = start, w = start;
    for (int step = 0; step < 8; step++) {
        w = V(real_exp)(k + r->power * V(real_log)(u)); /* k u^m */
        u -= (u + w - one) / (one + r->power * w / V(real_max)(u, tiny));
        u = V(real_max)(V(real_set)(0), V(real_min)(u, start));
    }
    w = V(real_exp)(k + r->power * V(real_log)(u));
    return r->thickening ? u : V(real_min)(w, one);
}

PBD_FN V(radial_flow)
    V(herschel_bulkley_return)(const herschel_bulkley_rule *r, V(real) trace, V(real) norm, V(real) state) {
    const V(real) zero = V(real_set)(0), one = V(real_set)(1);
    V(real) over = norm - r->radius;
    V(radial_flow) out;
    (void)trace;
    out.moved = over > 0;
    out.tip = over < over;
    out.share = out.volume = zero;
    out.state = state;
    if (!V(mask_any)(out.moved)) return out; /* skips Newton where all lanes are elastic */
    V(real) share = V(herschel_bulkley_share)(r, V(real_where)(out.moved, over, one));
    out.share = V(real_where)(out.moved, share * over / norm, zero);
    return out;
}

PBD_FN V(flowed) V(flow_herschel_bulkley)(const herschel_bulkley_rule *r, V(vec3) s, V(real) state) {
    V(hencky_parts) e = V(hencky_parts_of)(s, 0);
    return V(flowed_radially)(s, e, V(herschel_bulkley_return)(r, e.trace, e.norm, state));
}

#undef K

#endif
