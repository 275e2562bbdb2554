/* The elastic laws as the assembly wants them: rows of nine doubles. Plain laws without joins: this is the yardstick.
 */
#ifndef PBD_FEM_MATERIAL_H
#define PBD_FEM_MATERIAL_H

#include "methods/physics/tangent.h"

static inline pbd_status material_check(const pbd_material *m) {
    if (!(m->E > 0)) return pbd_error(PBD_BAD_INPUT, "E=%g Pa must be above 0", m->E);
    if (!(m->nu > -1 && m->nu < 0.5)) return pbd_error(PBD_BAD_INPUT, "nu=%g must lie between -1 and 0.5", m->nu);
    if (!(m->density > 0)) return pbd_error(PBD_BAD_INPUT, "density=%g kg/m^3 must be above 0", m->density);
    return pbd_ok();
}

static inline hyperelastic material_law(const pbd_material *m) {
    return hyperelastic_make(m->law, PBD_JOIN_NONE, m->E, m->nu, 0);
}

/* lambda + 2 mu, Pa: the largest of small strain. */
static inline double material_modulus(const pbd_material *m) {
    return m->E * (1 - m->nu) / ((1 + m->nu) * (1 - 2 * m->nu));
}

/* Row by row, as C has it, from and to columns. */
static inline mat3 material_matrix(const double F[9]) {
    return mat3_make(vec3_make((real)F[0], (real)F[3], (real)F[6]), vec3_make((real)F[1], (real)F[4], (real)F[7]),
                     vec3_make((real)F[2], (real)F[5], (real)F[8]));
}

/* Energy density, J/m^3, and with it P, Pa. NaN where the law is undefined. */
static inline double material_stress(const pbd_material *m, const double F[9], double P[9]) {
    const stressed s = stress(material_law(m), material_matrix(F));
    const vec3 column[3] = {s.p.x, s.p.y, s.p.z};
    for (int j = 0; j < 3; j++) {
        P[j] = (double)column[j].x;
        P[3 + j] = (double)column[j].y;
        P[6 + j] = (double)column[j].z;
    }
    return (double)s.psi;
}

/* out[9 (3i + k) + 3j + l] = dP_ik/dF_jl, Pa; `definite`: the positive semidefinite matrix nearest to it. */
static inline void material_tangent(const pbd_material *m, const double F[9], bool definite, double out[81]) {
    const tangent t = tangent_make(material_law(m), material_matrix(F), definite);
    for (int j = 0; j < 3; j++)
        for (int l = 0; l < 3; l++) {
            double unit[9] = {0};
            unit[3 * j + l] = 1;
            const mat3 dp = tangent_apply(&t, material_matrix(unit));
            const vec3 column[3] = {dp.x, dp.y, dp.z};
            for (int k = 0; k < 3; k++) {
                out[9 * (0 + k) + 3 * j + l] = (double)column[k].x;
                out[9 * (3 + k) + 3 * j + l] = (double)column[k].y;
                out[9 * (6 + k) + 3 * j + l] = (double)column[k].z;
            }
        }
}

#endif
