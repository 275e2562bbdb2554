/* A scene's material as the constraints of energy_constraint.h take it. Host code, compiled with the method. */
#ifndef PBD_ENERGY_MATERIAL_H
#define PBD_ENERGY_MATERIAL_H

#include <math.h>

#include "methods/physics/matter/energy_constraint.h"
#include "methods/physics/matter/law_material.h"

#define ENERGY_HOST static inline __attribute__((unused))

/* Parameters of every method with such constraints, but for the form of the constraint. */
static const char *const energy_flows[] = {"von_mises", "whole", NULL};
static const char *const energy_forms[] = {"pbd", "xpbd", "xpbd_root", NULL}; /* in the order of ENERGY_PBD... */
#define ENERGY_FORM_PARAM(name)                                                                                        \
    {                                                                                                                  \
        name, "", PBD_CHOICE, "xpbd_root", 0, 0, 0, energy_forms,                                                      \
            "C = V psi without compliance; XPBD with C = psi, alpha = 1 as printed; XPBD with C = sqrt(2 psi), alpha " \
            "= 1/V"                                                                                                    \
    }
#define ENERGY_MATERIAL_PARAMS                                                                                        \
    {"join", "", PBD_CHOICE, "none", 0, 0, 0, join_names, "continuation of the law under compression and inversion"}, \
        {"threshold", "", PBD_REAL, "0", 0, 1, 0, NULL, "singular value below which a join acts; 0: its default"}, {  \
        "plastic_flow", "", PBD_CHOICE, "von_mises", 0, 0, 0, energy_flows,                                           \
            "plastic materials: yield by the deviatoric strain, or by the whole strain (C-9)"                         \
    }

typedef struct energy_material {
    hyperelastic law;    /* moduli in units of `unit` */
    double unit;         /* Pa, a power of two near E */
    fibre_set fibre;     /* stiffnesses in units of `unit` */
    int form;            /* ENERGY_PBD... */
    bool deviatoric;     /* flow */
    double yield, creep; /* 0: elastic; 1/s */
    double thickness;    /* m of a membrane; 1 otherwise */
} energy_material;

/* A membrane carries no stress across itself: with this lambda its small strains are those of plane stress. */
ENERGY_HOST double energy_membrane_lambda(const pbd_material *m) { return m->E * m->nu / (1 - m->nu * m->nu); }

ENERGY_HOST pbd_status energy_material_make(const pbd_material *m, const pbd_values *values, int form, bool membrane,
                                            energy_material *out) {
    int law;
    PBD_TRY(law_find(m->law, &law));
    if (m->yield_strain > 0 && law != LAW_stvk)
        return pbd_error(PBD_NOT_SUPPORTED,
                         "plastic flow splits Green's strain, which is for material=stvk only (cao2023 section 4.3)");
    if (!(m->E > 0 && isfinite(m->E)))
        return pbd_error(PBD_NOT_SUPPORTED, "a strain energy needs elastic matter, but this scene has E=%g Pa", m->E);
    if (m->nu >= 0.5) return pbd_error(PBD_BAD_INPUT, "nu=%g must be below 0.5", m->nu);
    const pbd_join join = (pbd_join)pbd_choice(values, "join");
    const double asked = pbd_real(values, "threshold");
    out->unit = ldexp(1, ilogb(m->E));
    out->law =
        hyperelastic_make(law, join, m->E / out->unit, m->nu, asked > 0 ? asked : hyperelastic_threshold(law, join));
    if (membrane) out->law.lambda = (real)(energy_membrane_lambda(m) / out->unit);
    out->form = form;
    out->deviatoric = pbd_choice(values, "plastic_flow") == 0;
    out->yield = m->yield_strain;
    out->creep = m->creep;
    out->thickness = membrane && m->thickness > 0 ? m->thickness : 1;
    return fibres_make(m, out->unit, &out->fibre);
}

/* Said of `undefined` of n constraints after `steps` steps: where a logarithm meets inverted matter they have no value,
 * and soon nothing has. */
ENERGY_HOST void energy_warn_of_undefined(pbd_recorder *recorder, const energy_material *m, double undefined, size_t n,
                                          uint64_t steps) {
    if (undefined > 0)
        pbd_warning(recorder, "undefined_energy", "%.0f of %zu constraints have no value after step %llu%s", undefined,
                    n, (unsigned long long)steps,
                    law_domain_of(m->law.law) == LAW_UPRIGHT && m->law.join == PBD_JOIN_NONE
                        ? ": this material has no energy where it is inverted: use join=shifted"
                        : ": positions are not finite");
}

/* What energy_factor takes, for a step of dt, s. */
ENERGY_HOST real energy_compliance(const energy_material *m, double dt) {
    const double inverse_square = 1 / (dt * dt * m->unit);
    return (real)(m->form == ENERGY_XPBD ? inverse_square / m->unit : inverse_square / m->thickness);
}

#endif
