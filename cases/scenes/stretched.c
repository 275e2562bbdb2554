#include "cases/scenes/stretched.h"

#include <math.h>

#define REAL double
#include "methods/physics/matter/law_material.h"
#include "methods/physics/matter/uniaxial.h"

/* ---- Given the stretch ------------------------------------------------------------------------------------------- */

static hyperelastic membrane_law(const pbd_material *m) {
    hyperelastic law = law_plain(m);
    law.lambda = m->E * m->nu / (1 - m->nu * m->nu);
    return law;
}

/* Stress of a membrane with its first fibre along x and its second along y. */
static stressed membrane_stress(const pbd_material *m, double along, double across) {
    const mat3 F = mat3_diagonal(vec3_make(along, across, 1));
    stressed out = stress(membrane_law(m), F);
    if (m->fibre_stiffness[0] > 0) add_fibre(&out, F, vec3_make(1, 0, 0), m->fibre_stiffness[0]);
    if (m->fibre_stiffness[1] > 0) add_fibre(&out, F, vec3_make(0, 1, 0), m->fibre_stiffness[1]);
    return out;
}

/* Returns the stretch across, nearest to 1, at which the stress across is `wanted`; NaN if there is none. */
static double membrane_across(const pbd_material *m, double along, double wanted) {
    const double at_rest = membrane_stress(m, along, 1).p.y.y - wanted, factor = at_rest < 0 ? 1.01 : 1 / 1.01;
    double inner = 1, outer = 1;
    for (int n = 0; n < 1000; n++) {
        inner = outer;
        outer *= factor;
        const double there = membrane_stress(m, along, outer).p.y.y - wanted;
        if (!isfinite(there)) return NAN;
        if ((there < 0) != (at_rest < 0)) break;
        if (n == 999) return NAN;
    }
    for (int n = 0; n < 100; n++) {
        const double middle = (inner + outer) / 2;
        if ((membrane_stress(m, along, middle).p.y.y - wanted < 0) == (at_rest < 0))
            inner = middle;
        else
            outer = middle;
    }
    return inner;
}

/* Returns the nominal stress along and writes its state; NaN if there is none. */
static double bar_at(const pbd_material *m, double along, double unused, stretched *out) {
    (void)unused;
    const uniaxial u = uniaxial_solve(law_plain(m), along);
    *out = (stretched){u.found, along, u.lateral, u.psi};
    return u.nominal;
}

static double membrane_at(const pbd_material *m, double along, double wanted_across, stretched *out) {
    const double across = membrane_across(m, along, wanted_across);
    const stressed s = membrane_stress(m, along, across);
    *out = (stretched){isfinite(across), along, across, s.psi};
    return s.p.x.x;
}

/* ---- Given the stress -------------------------------------------------------------------------------------------- */

typedef double (*stress_at)(const pbd_material *, double along, double across, stretched *out);

/* Returns the state with the stress `wanted` whose stretch along is nearest to 1. The stretch is below 1 if the pull
 * across shortens the body by more than the pull along extends it. */
static stretched find(stress_at at, const pbd_material *m, double wanted, double across) {
    stretched state = {0};
    const bool above = at(m, 1, across, &state) < wanted;
    double inner = 1, outer = 1;
    for (int n = 0; n < 1000; n++) {
        inner = outer;
        outer *= above ? 1.005 : 1 / 1.005;
        const double there = at(m, outer, across, &state);
        if (!state.found || !isfinite(there) || n == 999) return (stretched){0};
        if ((there < wanted) != above) break;
    }
    for (int n = 0; n < 100; n++) {
        const double middle = (inner + outer) / 2;
        if ((at(m, middle, across, &state) < wanted) == above)
            inner = middle;
        else
            outer = middle;
    }
    at(m, inner, across, &state);
    return state;
}

stretched stretched_bar(const pbd_material *material, double stress_along_bar) {
    return find(bar_at, material, stress_along_bar, 0);
}

stretched stretched_membrane(const pbd_material *material, double along, double across) {
    return find(membrane_at, material, along, across);
}

/* ---- A sheet with free faces: three stretches at once ------------------------------------------------------------ */

/* The nominal stresses (x along, y across, z through the sheet) at these stretches, minus the wanted ones. */
static vec3 sheet_residual(const pbd_material *m, vec3 stretch, vec3 wanted, double *energy) {
    const mat3 F = mat3_diagonal(stretch);
    stressed out = stress(law_plain(m), F);
    if (m->fibre_stiffness[0] > 0) add_fibre(&out, F, vec3_make(1, 0, 0), m->fibre_stiffness[0]);
    if (m->fibre_stiffness[1] > 0) add_fibre(&out, F, vec3_make(0, 1, 0), m->fibre_stiffness[1]);
    *energy = out.psi;
    return vec3_sub(vec3_make(out.p.x.x, out.p.y.y, out.p.z.z), wanted);
}

/* Newton's method with a Jacobian by forward differences. Returns whether it converged. */
static bool sheet_meets(const pbd_material *m, vec3 wanted, vec3 *stretch, double *energy) {
    const double enough = 1e-12 * m->E, by = 1e-6;
    double unused;
    for (int n = 0; n < 50; n++) {
        const vec3 off = sheet_residual(m, *stretch, wanted, energy);
        if (vec3_dot(off, off) <= enough * enough) return true;
        const vec3 x = sheet_residual(m, vec3_add(*stretch, vec3_make(by, 0, 0)), wanted, &unused);
        const vec3 y = sheet_residual(m, vec3_add(*stretch, vec3_make(0, by, 0)), wanted, &unused);
        const vec3 z = sheet_residual(m, vec3_add(*stretch, vec3_make(0, 0, by)), wanted, &unused);
        const mat3 slope = mat3_scale(1 / by, mat3_make(vec3_sub(x, off), vec3_sub(y, off), vec3_sub(z, off)));
        const vec3 step = mat3_apply(mat3_transpose(mat3_cofactor(slope)), off);
        *stretch = vec3_sub(*stretch, vec3_scale(1 / mat3_det(slope), step));
        if (!(stretch->x > 0 && stretch->y > 0 && stretch->z > 0)) return false;
    }
    const vec3 off = sheet_residual(m, *stretch, wanted, energy);
    return vec3_dot(off, off) <= 1e6 * enough * enough;
}

/* The load is raised from zero in small steps, so that the state is the one that is reached from rest. */
stretched stretched_sheet(const pbd_material *material, double along, double across, double *through) {
    enum { STEPS = 64 };
    vec3 at = vec3_make(1, 1, 1);
    double energy = 0;
    for (int n = 1; n <= STEPS; n++) {
        const double share = (double)n / STEPS;
        if (!sheet_meets(material, vec3_make(share * along, share * across, 0), &at, &energy)) return (stretched){0};
    }
    *through = at.z;
    return (stretched){1, at.x, at.y, energy};
}

double stretched_sag(stretched top, double weight, double length) {
    return weight > 0 ? ((top.along - 1) * weight * length - top.energy) / weight : 0;
}
