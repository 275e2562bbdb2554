/* The parameters of the flow rules, said once: for cases, whose material flows, and for `eval flow`. Host code. */
#ifndef PBD_FLOW_PARAMETERS_H
#define PBD_FLOW_PARAMETERS_H

#include <math.h>

#include "methods/method.h"

#define FLOW_HOST static inline __attribute__((unused))

static const char *const flow_choices[]
    __attribute__((unused)) = {"none", "von_mises", "drucker_prager", "nacc", "herschel_bulkley", "snow", NULL};
_Static_assert(PBD_FLOW_SNOW == 5, "flow rules are named in the order of their enum");

static const char *const flow_norms[] = {"j2", "frobenius", NULL};
static const char *const flow_switch[] = {"on", "off", NULL};
static const char *const flow_forms[] = {"implicit", "printed", NULL};

/* Rows in the order of PBD_FLOW_*. Presets: nacc, the candy of yu2024 Table 2. */
#define FLOW_YIELD_STRESS_ROW(preset_) \
    { "yield_stress", "Pa", PBD_REAL, preset_, 0, INFINITY, PBD_OPEN_MAX, NULL, "yield stress" }
#define FLOW_YIELD_NORM_ROW                                                 \
    {                                                                       \
        "yield_norm", "", PBD_CHOICE, "j2", 0, 0, 0, flow_norms,            \
            "largest |dev tau|: sqrt(2/3) of yield_stress, or yield_stress" \
    }
#define FLOW_FRICTION_ANGLE_ROW(preset_) \
    { "friction_angle", "degrees", PBD_REAL, preset_, 0, 90, PBD_OPEN_MAX, NULL, "friction angle" }
#define FLOW_COHESION_ROW                                                           \
    {                                                                               \
        "cohesion", "", PBD_REAL, "0", 0, 1, 0, NULL,                               \
            "log of the stretch that sand supports in tension: the tip of the cone" \
    }
#define FLOW_VOLUME_CORRECTION_ROW                                              \
    {                                                                           \
        "volume_correction", "", PBD_CHOICE, "on", 0, 0, 0, flow_switch,        \
            "volume gained without stress is lost again before sand bears load" \
    }
#define FLOW_VISCOSITY_ROW(preset_)                                                                   \
    {                                                                                                 \
        "viscosity", "Pa s^power", PBD_REAL, preset_, 0, INFINITY, PBD_OPEN_MIN | PBD_OPEN_MAX, NULL, \
            "overstress at a rate of 1/s"                                                             \
    }
#define FLOW_POWER_ROW(preset_)                                                     \
    {                                                                               \
        "power", "", PBD_REAL, preset_, 0.05, 20, 0, NULL,                          \
            "overstress grows with this power of the rate: < 1 thins, > 1 thickens" \
    }
#define FLOW_ALPHA0_ROW(preset_) \
    { "alpha0", "", PBD_REAL, preset_, -100, 100, 0, NULL, "log of plastic volume change at the start" }
#define FLOW_BETA_ROW(preset_) \
    { "beta", "", PBD_REAL, preset_, 0, 100, 0, NULL, "strength in tension over that in compression" }
#define FLOW_XI_ROW(preset_) \
    { "xi", "", PBD_REAL, preset_, 0, 1000, 0, NULL, "hardening by plastic volume change" }
#define FLOW_M_ROW(preset_) \
    { "M", "", PBD_REAL, preset_, 1e-3, 100, 0, NULL, "slope of the critical state line" }
#define FLOW_NACC_FORM_ROW                                                      \
    {                                                                           \
        "nacc_form", "", PBD_CHOICE, "implicit", 0, 0, 0, flow_forms,           \
            "on the surface of the new alpha, or Wolper's algorithm as printed" \
    }
#define FLOW_COMPRESSION_ROW \
    { "compression", "", PBD_REAL, "0.025", 0, 1, PBD_OPEN_MAX, NULL, "theta_c: largest elastic compression" }
#define FLOW_STRETCH_ROW \
    { "stretch", "", PBD_REAL, "0.0075", 0, 100, 0, NULL, "theta_s: largest elastic stretch" }

/* For the table of a case's parameters. */
#define FLOW_ROWS(flow_, yield_stress_, friction_angle_, viscosity_, power_, xi_, alpha0_, beta_, M_)          \
    {"flow",                                                                                                   \
     "",                                                                                                       \
     PBD_CHOICE,                                                                                               \
     flow_,                                                                                                    \
     0,                                                                                                        \
     0,                                                                                                        \
     0,                                                                                                        \
     flow_choices,                                                                                             \
     "flow rule; it reads only its own parameters of those that follow"},                                      \
        FLOW_YIELD_STRESS_ROW(yield_stress_), FLOW_YIELD_NORM_ROW, FLOW_FRICTION_ANGLE_ROW(friction_angle_),   \
        FLOW_COHESION_ROW, FLOW_VOLUME_CORRECTION_ROW, FLOW_VISCOSITY_ROW(viscosity_), FLOW_POWER_ROW(power_), \
        FLOW_ALPHA0_ROW(alpha0_), FLOW_BETA_ROW(beta_), FLOW_XI_ROW(xi_), FLOW_M_ROW(M_), FLOW_NACC_FORM_ROW,  \
        FLOW_COMPRESSION_ROW, FLOW_STRETCH_ROW
#define PBD_FLOW_PARAMS(flow_, yield_stress_, friction_angle_, viscosity_, power_, xi_) \
    FLOW_ROWS(flow_, yield_stress_, friction_angle_, viscosity_, power_, xi_, "-0.02", "0.5", "2.36")
/* Of a case of NACC, in the order of yu2024's Table 2. */
#define PBD_NACC_PARAMS(alpha0_, beta_, xi_, M_) FLOW_ROWS("nacc", "1e3", "30", "10", "1", xi_, alpha0_, beta_, M_)

/* One row: the rules that know it, as a mask, and what it is. */
typedef struct flow_parameter {
    unsigned rules;
    pbd_param param;
} flow_parameter;

#define FLOW_BIT(rule) (1u << (rule))
#define FLOW_DEVIATORIC (FLOW_BIT(PBD_FLOW_VON_MISES) | FLOW_BIT(PBD_FLOW_HERSCHEL_BULKLEY))
static const flow_parameter flow_parameters[PBD_FLOW_PARAMETERS] __attribute__((unused)) = {
    [PBD_FLOW_YIELD_STRESS] = {FLOW_DEVIATORIC, FLOW_YIELD_STRESS_ROW("")},
    [PBD_FLOW_YIELD_NORM] = {FLOW_DEVIATORIC, FLOW_YIELD_NORM_ROW},
    [PBD_FLOW_FRICTION_ANGLE] = {FLOW_BIT(PBD_FLOW_DRUCKER_PRAGER), FLOW_FRICTION_ANGLE_ROW("30")},
    [PBD_FLOW_COHESION] = {FLOW_BIT(PBD_FLOW_DRUCKER_PRAGER), FLOW_COHESION_ROW},
    [PBD_FLOW_VOLUME_CORRECTION] = {FLOW_BIT(PBD_FLOW_DRUCKER_PRAGER), FLOW_VOLUME_CORRECTION_ROW},
    [PBD_FLOW_VISCOSITY] = {FLOW_BIT(PBD_FLOW_HERSCHEL_BULKLEY), FLOW_VISCOSITY_ROW("")},
    [PBD_FLOW_POWER] = {FLOW_BIT(PBD_FLOW_HERSCHEL_BULKLEY), FLOW_POWER_ROW("1")},
    [PBD_FLOW_ALPHA0] = {FLOW_BIT(PBD_FLOW_NACC), FLOW_ALPHA0_ROW("-0.02")},
    [PBD_FLOW_BETA] = {FLOW_BIT(PBD_FLOW_NACC), FLOW_BETA_ROW("0.5")},
    [PBD_FLOW_XI] = {FLOW_BIT(PBD_FLOW_NACC) | FLOW_BIT(PBD_FLOW_SNOW), FLOW_XI_ROW("1")},
    [PBD_FLOW_M] = {FLOW_BIT(PBD_FLOW_NACC), FLOW_M_ROW("2.36")},
    [PBD_FLOW_NACC_FORM] = {FLOW_BIT(PBD_FLOW_NACC), FLOW_NACC_FORM_ROW},
    [PBD_FLOW_COMPRESSION] = {FLOW_BIT(PBD_FLOW_SNOW), FLOW_COMPRESSION_ROW},
    [PBD_FLOW_STRETCH] = {FLOW_BIT(PBD_FLOW_SNOW), FLOW_STRETCH_ROW},
};

FLOW_HOST bool flow_knows(pbd_flow rule, int parameter) {
    return (flow_parameters[parameter].rules & FLOW_BIT(rule)) != 0;
}

/* "" where the rule has none, and it must be given. Snow: yu2024 Figure 19, whose xi is 10. */
FLOW_HOST const char *flow_preset(pbd_flow rule, int parameter) {
    return rule == PBD_FLOW_SNOW && parameter == PBD_FLOW_XI ? "10" : flow_parameters[parameter].param.preset;
}

/* Of a case that has PBD_FLOW_PARAMS. */
FLOW_HOST void flow_read(const pbd_values *values, pbd_material *material) {
    material->flow = (pbd_flow)pbd_choice(values, "flow");
    for (int k = 0; k < PBD_FLOW_PARAMETERS; k++) {
        const pbd_param *p = &flow_parameters[k].param;
        if (!flow_knows(material->flow, k)) continue;
        material->flow_value[k] = p->kind == PBD_CHOICE ? pbd_choice(values, p->name) : pbd_real(values, p->name);
    }
}

/* The state of a particle at first. */
FLOW_HOST double flow_first_state(const pbd_material *material) {
    return material->flow == PBD_FLOW_NACC ? material->flow_value[PBD_FLOW_ALPHA0] : material->flow == PBD_FLOW_SNOW;
}

#endif
