/* The material as the assembly uses it: F and P are row-major arrays of nine doubles. Laws without joins. */
#ifndef PBD_FEM_MATERIAL_H
#define PBD_FEM_MATERIAL_H

#include "methods/physics/matter/law_material.h"
#include "methods/physics/matter/tangent.h"

typedef struct material {
    hyperelastic law;
    fibre_set fibre;
    double modulus; /* lambda + 2 mu plus what fibres add, Pa: the largest at small strain */
} material;

static inline pbd_status material_make(const pbd_material *m, material *out) {
    if (!(m->E > 0)) return pbd_error(PBD_BAD_INPUT, "E=%g Pa must be above 0", m->E);
    if (!(m->nu > -1 && m->nu < 0.5)) return pbd_error(PBD_BAD_INPUT, "nu=%g must lie between -1 and 0.5", m->nu);
    if (!(m->density > 0)) return pbd_error(PBD_BAD_INPUT, "density=%g kg/m^3 must be above 0", m->density);
    int law;
    PBD_TRY(law_find(m->law, &law));
    if (m->yield_strain > 0 && law != LAW_stvk)
        return pbd_error(PBD_NOT_SUPPORTED,
                         "plastic flow splits Green's strain, which is for material=stvk only (cao2023 section 4.3)");
    out->law = hyperelastic_make(law, PBD_JOIN_NONE, m->E, m->nu, 0);
    out->modulus = m->E * (1 - m->nu) / ((1 + m->nu) * (1 - 2 * m->nu));
    PBD_TRY(fibres_make(m, 1, &out->fibre));
    for (int k = 0; k < (int)out->fibre.count; k++) out->modulus += 2 * (double)out->fibre.stiffness[k];
    return pbd_ok();
}

/* Converts a row-major array to columns. */
static inline mat3 material_matrix(const double F[9]) {
    return mat3_make(vec3_make((real)F[0], (real)F[3], (real)F[6]), vec3_make((real)F[1], (real)F[4], (real)F[7]),
                     vec3_make((real)F[2], (real)F[5], (real)F[8]));
}

static inline symmetric material_strain(const double *plastic) {
    return (symmetric){(real)plastic[0], (real)plastic[1], (real)plastic[2],
                       (real)plastic[3], (real)plastic[4], (real)plastic[5]};
}

/* Returns the energy density, J/m^3, NaN where the law is undefined, and writes P, Pa. plastic: PLASTIC_ENTRIES, or
 * NULL. */
static inline double material_stress(const material *m, const double *plastic, const double F[9], double P[9]) {
    const mat3 f = material_matrix(F);
    stressed s = stress(m->law, f);
    if (plastic) add_plastic(&s, f, m->law.mu, m->law.lambda, material_strain(plastic));
    add_fibres(&s, f, &m->fibre);
    const vec3 column[3] = {s.p.x, s.p.y, s.p.z};
    for (int j = 0; j < 3; j++) {
        P[j] = (double)column[j].x;
        P[3 + j] = (double)column[j].y;
        P[6 + j] = (double)column[j].z;
    }
    return (double)s.psi;
}

/* out[9 (3i + k) + 3j + l] = dP_ik/dF_jl, Pa, with the plastic strain held. `definite`: made positive semidefinite,
 * as the sum of the nearest such matrices of the law and of each fibre. */
static inline void material_tangent(const material *m, const double *plastic, const double F[9], bool definite,
                                    double out[81]) {
    const mat3 f = material_matrix(F);
    tangent law = {0};
    plastic_tangent flowed = {0};
    fibre_tangent fibre[PBD_MOST_FIBRES];
    if (plastic)
        flowed = plastic_tangent_make(m->law, f, material_strain(plastic), definite);
    else
        law = tangent_make(m->law, f, definite);
    for (int n = 0; n < (int)m->fibre.count; n++)
        fibre[n] = fibre_tangent_make(f, m->fibre.direction[n], m->fibre.stiffness[n], definite);
    for (int j = 0; j < 3; j++)
        for (int l = 0; l < 3; l++) {
            double unit[9] = {0};
            unit[3 * j + l] = 1;
            const mat3 df = material_matrix(unit);
            mat3 dp = plastic ? plastic_tangent_apply(&flowed, df) : tangent_apply(&law, df);
            for (int n = 0; n < (int)m->fibre.count; n++) dp = mat3_add(dp, fibre_tangent_apply(&fibre[n], df));
            const vec3 column[3] = {dp.x, dp.y, dp.z};
            for (int k = 0; k < 3; k++) {
                out[9 * (0 + k) + 3 * j + l] = (double)column[k].x;
                out[9 * (3 + k) + 3 * j + l] = (double)column[k].y;
                out[9 * (6 + k) + 3 * j + l] = (double)column[k].z;
            }
        }
}

/* Updates the plastic strain after a step that ends at F. creep: the fraction of the strain beyond yield that flows,
 * 0 to 1. */
static inline void material_flow(double *plastic, const double F[9], double yield, double creep, bool deviatoric) {
    const symmetric s =
        plastic_flow(material_matrix(F), material_strain(plastic), (real)yield, (real)creep, deviatoric);
    const real entry[PLASTIC_ENTRIES] = {s.xx, s.yy, s.zz, s.xy, s.yz, s.zx};
    for (int k = 0; k < PLASTIC_ENTRIES; k++) plastic[k] = (double)entry[k];
}

#endif
