/* The parameters of the flow rules, said once for methods and for `eval flow`. Host code. */
#ifndef PBD_FLOW_PARAMETERS_H
#define PBD_FLOW_PARAMETERS_H

#include <math.h>

#include "methods/physics/flow_rules.h"

#define FLOW_HOST static inline __attribute__((unused))

static const char *const flow_names[] = {"von_mises", "drucker_prager", "nacc", "herschel_bulkley", "snow", NULL};
_Static_assert(FLOW_SNOW == 4 && FLOW_KINDS == 5, "flow rules are named in the order of their enum");

static const char *const flow_norms[] = {"j2", "frobenius", NULL};
static const char *const flow_switch[] = {"on", "off", NULL};
static const char *const flow_forms[] = {"implicit", "printed", NULL};

enum {
    FLOW_YIELD_STRESS,
    FLOW_YIELD_NORM,
    FLOW_FRICTION_ANGLE,
    FLOW_COHESION,
    FLOW_VOLUME_CORRECTION,
    FLOW_VISCOSITY,
    FLOW_POWER,
    FLOW_ALPHA0,
    FLOW_BETA,
    FLOW_XI,
    FLOW_M,
    FLOW_NACC_FORM,
    FLOW_COMPRESSION,
    FLOW_STRETCH,
    FLOW_PARAMETERS
};

/* One row: the rules that know it, as a mask, and what it is. Presets: nacc, the candy of yu2024 Table 2; snow, yu2024
 * Figure 19, whose xi is 10. */
typedef struct flow_parameter {
    unsigned rules;
    pbd_param param;
} flow_parameter;

#define FLOW_BIT(kind) (1u << (kind))
#define FLOW_DEVIATORIC (FLOW_BIT(FLOW_VON_MISES) | FLOW_BIT(FLOW_HERSCHEL_BULKLEY))
static const flow_parameter flow_parameters[FLOW_PARAMETERS] = {
    [FLOW_YIELD_STRESS] = {FLOW_DEVIATORIC,
                           {"yield_stress", "Pa", PBD_REAL, "", 0, INFINITY, PBD_OPEN_MAX, NULL, "yield stress"}},
    [FLOW_YIELD_NORM] = {FLOW_DEVIATORIC,
                         {"yield_norm", "", PBD_CHOICE, "j2", 0, 0, 0, flow_norms,
                          "largest |dev tau|: sqrt(2/3) of yield_stress, or yield_stress"}},
    [FLOW_FRICTION_ANGLE] = {FLOW_BIT(FLOW_DRUCKER_PRAGER),
                             {"friction_angle", "degrees", PBD_REAL, "30", 0, 90, PBD_OPEN_MAX, NULL,
                              "friction angle"}},
    [FLOW_COHESION] = {FLOW_BIT(FLOW_DRUCKER_PRAGER),
                       {"cohesion", "", PBD_REAL, "0", 0, 1, 0, NULL,
                        "log of the stretch that the sand bears in tension: the tip of the cone"}},
    [FLOW_VOLUME_CORRECTION] = {FLOW_BIT(FLOW_DRUCKER_PRAGER),
                                {"volume_correction", "", PBD_CHOICE, "on", 0, 0, 0, flow_switch,
                                 "volume gained without stress is lost again before the sand bears load"}},
    [FLOW_VISCOSITY] = {FLOW_BIT(FLOW_HERSCHEL_BULKLEY),
                        {"viscosity", "Pa s^power", PBD_REAL, "", 0, INFINITY, PBD_OPEN_MIN | PBD_OPEN_MAX, NULL,
                         "overstress at a rate of 1/s"}},
    [FLOW_POWER] = {FLOW_BIT(FLOW_HERSCHEL_BULKLEY),
                    {"power", "", PBD_REAL, "1", 0.05, 20, 0, NULL,
                     "overstress grows with this power of the rate: < 1 thins, > 1 thickens"}},
    [FLOW_ALPHA0] = {FLOW_BIT(FLOW_NACC),
                     {"alpha0", "", PBD_REAL, "-0.02", -100, 100, 0, NULL, "log of plastic volume change before"}},
    [FLOW_BETA] = {FLOW_BIT(FLOW_NACC),
                   {"beta", "", PBD_REAL, "0.5", 0, 100, 0, NULL, "strength in tension over that in compression"}},
    [FLOW_XI] = {FLOW_BIT(FLOW_NACC) | FLOW_BIT(FLOW_SNOW),
                 {"xi", "", PBD_REAL, "1", 0, 1000, 0, NULL, "hardening by plastic volume change"}},
    [FLOW_M] = {FLOW_BIT(FLOW_NACC),
                {"M", "", PBD_REAL, "2.36", 1e-3, 100, 0, NULL, "slope of the critical state line"}},
    [FLOW_NACC_FORM] = {FLOW_BIT(FLOW_NACC),
                        {"form", "", PBD_CHOICE, "implicit", 0, 0, 0, flow_forms,
                         "on the surface of its own alpha, or Wolper's algorithm to the letter"}},
    [FLOW_COMPRESSION] = {FLOW_BIT(FLOW_SNOW),
                          {"compression", "", PBD_REAL, "0.025", 0, 1, PBD_OPEN_MAX, NULL,
                           "theta_c: largest elastic compression"}},
    [FLOW_STRETCH] = {FLOW_BIT(FLOW_SNOW),
                      {"stretch", "", PBD_REAL, "0.0075", 0, 100, 0, NULL, "theta_s: largest elastic stretch"}},
};

FLOW_HOST bool flow_knows(flow_kind kind, int parameter) {
    return (flow_parameters[parameter].rules & FLOW_BIT(kind)) != 0;
}

/* "" where the rule has none, and it must be given. */
FLOW_HOST const char *flow_preset(flow_kind kind, int parameter) {
    return kind == FLOW_SNOW && parameter == FLOW_XI ? "10" : flow_parameters[parameter].param.preset;
}

/* The state of a particle at first. */
FLOW_HOST double flow_first_state(flow_kind kind, const double values[FLOW_PARAMETERS]) {
    return kind == FLOW_NACC ? values[FLOW_ALPHA0] : kind == FLOW_SNOW ? 1 : 0;
}

FLOW_HOST flow_rule flow_rule_of(flow_kind kind, double E, double nu, double dt, const double values[FLOW_PARAMETERS]) {
    const flow_material m = {
        .E = E,
        .nu = nu,
        .yield_stress = values[FLOW_YIELD_STRESS],
        .frobenius = values[FLOW_YIELD_NORM] > 0,
        .friction_angle = values[FLOW_FRICTION_ANGLE],
        .cohesion = values[FLOW_COHESION],
        .keep_gain = values[FLOW_VOLUME_CORRECTION] > 0,
        .viscosity = values[FLOW_VISCOSITY],
        .power = values[FLOW_POWER],
        .dt = dt,
        .beta = values[FLOW_BETA],
        .M = values[FLOW_M],
        .xi = values[FLOW_XI],
        .printed = values[FLOW_NACC_FORM] > 0,
        .compression = values[FLOW_COMPRESSION],
        .stretch = values[FLOW_STRETCH],
    };
    return flow_rule_make(kind, &m);
}

#endif
