/* A scene's material as the constraints of energy_constraint.h take it. */
#ifndef PBD_ENERGY_MATERIAL_H
#define PBD_ENERGY_MATERIAL_H

#include "methods/physics/matter/energy_constraint.h"
#include "methods/physics/matter/law_material.h"

PBD_PRECISE(energy_material_make, energy_warn_of_undefined, energy_compliance)

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

pbd_status energy_material_make(const pbd_material *m, const pbd_values *values, int form, bool membrane,
                                energy_material *out);

/* Said of `undefined` of n constraints after `steps` steps: where a logarithm meets inverted matter they have no value,
 * and soon nothing has. */
void energy_warn_of_undefined(pbd_recorder *recorder, const energy_material *m, double undefined, size_t n,
                              uint64_t steps);

/* What energy_factor takes, for a step of dt, s. */
real energy_compliance(const energy_material *m, double dt);

#endif
