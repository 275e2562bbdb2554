/* Converts a scene's material for the constraints of energy_constraint.h. */
#ifndef PBD_ENERGY_MATERIAL_H
#define PBD_ENERGY_MATERIAL_H

#include "methods/params.h"
#include "methods/physics/matter/energy_constraint.h"
#include "methods/physics/matter/law_material.h"

PBD_PRECISE(energy_material_make, energy_sample, energy_compliance, energy_rounding)

/* pbd_method.residual of methods with such constraints. */
#define ENERGY_RESIDUAL                                                                                               \
    "2-norm over all constraints of C + alpha~ lambda; of C with PBD. C is the energy density, or the root of twice " \
    "that with xpbd_root"

/* Parameters of every method with such constraints. The form's choices are in the order of ENERGY_PBD... */
#define ENERGY_FORM_PARAM(CHOICE, name)                                                                               \
    CHOICE(name, "xpbd_root", (pbd, xpbd, xpbd_root),                                                                 \
           "C = V psi without compliance; XPBD with C = psi, alpha = 1 as printed; XPBD with C = sqrt(2 psi), alpha " \
           "= 1/V")
#define LAW_JOIN_PARAMS(REAL, INTEGER, CHOICE)                                                   \
    CHOICE(join, "none", (LAW_JOINS), "continuation of the law under compression and inversion") \
    REAL(threshold, "", "0", 0, 1, 0, "join!=none: singular value below which it acts; 0: its default")
#define ENERGY_PARAMS(REAL, INTEGER, CHOICE)              \
    LAW_JOIN_PARAMS(REAL, INTEGER, CHOICE)                \
    CHOICE(plastic_flow, "von_mises", (von_mises, whole), \
           "yield_strain>0: yield by the deviatoric strain, or by the whole strain (C-9)")
PBD_SETTINGS(energy_settings, ENERGY_PARAMS)

typedef struct energy_material {
    hyperelastic law;    /* moduli in units of `unit` */
    double E;            /* Pa */
    double unit;         /* Pa, a power of two near E */
    fibre_set fibre;     /* stiffnesses in units of `unit` */
    int form;            /* ENERGY_PBD... */
    bool deviatoric;     /* plastic flow by the deviatoric strain */
    double yield, creep; /* strain, 0: elastic; 1/s */
    double thickness;    /* m of a membrane; 1 otherwise */
} energy_material;

pbd_status energy_material_make(const pbd_material *m, energy_settings set, int form, bool membrane,
                                energy_material *out);

/* Sums over all samples. */
typedef struct energy_samples {
    double seen, idle;
} energy_samples;

/* A sample of n constraints after `steps` steps. idle: the number with energy but no gradient (as StVK collapsed to a
 * point), or with undefined energy; the fraction of the others is recorded as applied_fraction. undefined: the number
 * with undefined energy, such as the logarithm of an inverted element; recorded as a warning, since NaN spreads. */
void energy_sample(energy_samples *all, const energy_material *m, double idle, double undefined, size_t n,
                   uint64_t steps, pbd_recorder *recorder);

/* The compliance for energy_factor; dt in s. */
real energy_compliance(const energy_material *m, double dt);

/* The rounding error of a constraint's residual, given the rounding error `strain` of strains. */
double energy_rounding(const energy_material *m, double strain);

#endif
