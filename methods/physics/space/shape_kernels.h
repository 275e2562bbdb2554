/* Gradients at rest of one particle; formulas: shape_gradients.h.
 *
 * Solvers run `shape_at` once, in f64, on the host. It is also the body of a kernel (shape_making_kernels.h), timed for
 * cao2023 Table 3. */
#ifndef PBD_SHAPE_KERNELS_H
#define PBD_SHAPE_KERNELS_H

#include "methods/physics/math/svd3.h"
#include "methods/physics/space/sph_kernel.h"

/* Relative singular value below which a direction counts as not spanned: neighbours in a plane or on a line. */
#define SHAPE_CUT ((real)1e-3)

/* A neighbour added after a cut (particle_cut.h) lies beyond the support, where kernels are zero. It is weighted as if
 * at this fraction of the support. */
#define SHAPE_FARTHEST ((real)0.8)

enum { SHAPE_PLAIN = 0, SHAPE_KERNEL_CORRECTION = 1, SHAPE_GRADIENT_CORRECTION = 2, SHAPE_LINEAR = 4 };

typedef struct shape_args {
    const real *rest;      /* rows of 4: X and V, m and m^3 */
    const uint32_t *first; /* particles + 1 */
    const uint32_t *neighbour;
    real *gradient;      /* rows of 3 by neighbour: b_ij */
    uint32_t *deficient; /* by particle: number of directions that its neighbours do not span */
    real support;        /* m */
    int kernel, flags;
    real regularisation; /* shape_linear_at: added to the second moments, in units of the support; 0: none */
} shape_args;

/* a^-1, or its pseudo-inverse; *lost: number of discarded directions. The smallest singular value is at least |det
 * a|/|a|^2 and the largest at most |a|; where these bounds show full rank, as for nearly all particles, no SVD is
 * computed. */
PBD_FN mat3 shape_inverse(mat3 a, uint32_t *lost) {
    const real det = mat3_det(a), square = mat3_inner(a, a);
    *lost = 0;
    if (real_abs(det) > SHAPE_CUT * square * real_sqrt(square))
        return mat3_scale(1 / det, mat3_transpose(mat3_cofactor(a)));
    const svd3 f = mat3_svd(a);
    const real s[3] = {f.s.x, f.s.y, f.s.z}, cut = SHAPE_CUT * (s[0] > 0 ? s[0] : 0);
    real inverse[3];
    for (int d = 0; d < 3; d++) {
        const int seen = real_abs(s[d]) > cut;
        inverse[d] = seen ? 1 / s[d] : 0;
        *lost += !seen;
    }
    svd3 turned = f;
    turned.u = f.v;
    turned.v = f.u;
    return svd3_with(turned, vec3_make(inverse[0], inverse[1], inverse[2]));
}

/* One neighbour: y = X_j - X_i, V_j W and V_j grad W (the gradient with respect to X_i, C-5). */
typedef struct shape_pair {
    vec3 y, gradient;
    real w;
} shape_pair;

PBD_FN shape_pair shape_pair_at(const shape_args *a, vec3 centre, uint32_t j) {
    shape_pair out;
    out.y = vec3_sub(load3(a->rest, j), centre);
    const real stands_for = a->rest[4 * (size_t)j + 3];
    const real square = vec3_dot(out.y, out.y), most = SHAPE_FARTHEST * a->support;
    const real taken = square < a->support * a->support ? square : most * most;
    const sph_value value = sph_kernel_at((sph_kernel)a->kernel, taken, a->support);
    out.w = stands_for * value.w;
    out.gradient = vec3_scale(-stands_for * value.slope, out.y);
    return out;
}

PBD_FN void shape_put(const shape_args *a, size_t k, vec3 b) {
    a->gradient[3 * k] = b.x;
    a->gradient[3 * k + 1] = b.y;
    a->gradient[3 * k + 2] = b.z;
}

/* ---- Smoothing kernels with optional corrections ----------------------------------------------------------------- */

PBD_FN void shape_of_kernel(const shape_args *a, size_t i) {
    const vec3 centre = load3(a->rest, i);
    const real self = a->rest[4 * i + 3] * sph_kernel_at((sph_kernel)a->kernel, 0, a->support).w;
    real sum = self;
    vec3 gradients = vec3_make(0, 0, 0), first = gradients;
    mat3 moment = mat3_scale(0, mat3_identity());
    for (uint32_t k = a->first[i]; k < a->first[i + 1]; k++) {
        const shape_pair p = shape_pair_at(a, centre, a->neighbour[k]);
        sum += p.w;
        gradients = vec3_add(gradients, p.gradient);
        first = vec3_add(first, vec3_scale(p.w, p.y));
        moment = mat3_add(moment, mat3_outer(p.gradient, p.y));
    }
    vec3 gamma = vec3_make(0, 0, 0);
    real scale = 1;
    if (a->flags & SHAPE_KERNEL_CORRECTION) {
        scale = 1 / sum;
        gamma = vec3_scale(scale, gradients);
        moment = mat3_scale(scale, mat3_sub(moment, mat3_outer(gamma, first)));
    }
    mat3 correction = mat3_identity();
    a->deficient[i] = 0;
    if (a->flags & SHAPE_GRADIENT_CORRECTION) correction = shape_inverse(moment, &a->deficient[i]);
    for (uint32_t k = a->first[i]; k < a->first[i + 1]; k++) {
        const shape_pair p = shape_pair_at(a, centre, a->neighbour[k]);
        const vec3 g = vec3_scale(scale, vec3_sub(p.gradient, vec3_scale(p.w, gamma)));
        shape_put(a, k, mat3_apply(correction, g));
    }
}

/* ---- Reproducing kernels of linear basis ------------------------------------------------------------------------- */

/* phi_j = V_j W_ij (c0 + c . y_j) with (c0, c) = M^-1 (1, 0), M = sum V_j W_j (1, y)(1, y)^T = [m0, m1^T; m1, m2]. Its
 * gradient with respect to X_i contains d(c0, c) = -M^-1 dM (c0, c). Lengths are in units of the support, so that M is
 * well conditioned. */
typedef struct shape_moments {
    real m0, schur;
    vec3 m1;
    mat3 inverse; /* of m2 */
    vec3 halfway; /* m2^-1 m1 */
} shape_moments;

PBD_FN void shape_solve(const shape_moments *m, real r0, vec3 r1, real *z0, vec3 *z1) {
    *z0 = m->schur > 0 ? (r0 - vec3_dot(m->halfway, r1)) / m->schur : 0;
    *z1 = mat3_apply(m->inverse, vec3_sub(r1, vec3_scale(*z0, m->m1)));
}

PBD_FN vec3 shape_axis(int d) { return vec3_make((real)(d == 0), (real)(d == 1), (real)(d == 2)); }

/* The coefficients (c0, c) of all phi_j of a particle, and their derivatives along the axes. */
typedef struct shape_linear {
    real c0, d0[3];
    vec3 c1, d1[3];
} shape_linear;

PBD_FN shape_linear shape_linear_at(const shape_args *a, size_t i) {
    const vec3 centre = load3(a->rest, i), zero = vec3_make(0, 0, 0);
    const real per = 1 / a->support;
    shape_moments m = {a->rest[4 * i + 3] * sph_kernel_at((sph_kernel)a->kernel, 0, a->support).w, 0, zero,
                       mat3_identity(), zero};
    mat3 m2 = mat3_scale(a->regularisation, mat3_identity());
    mat3 third[3] = {mat3_scale(0, m2), mat3_scale(0, m2), mat3_scale(0, m2)}, first_slope = third[0];
    vec3 slope = zero;
    for (uint32_t k = a->first[i]; k < a->first[i + 1]; k++) {
        const shape_pair p = shape_pair_at(a, centre, a->neighbour[k]);
        const vec3 y = vec3_scale(per, p.y);
        const mat3 square = mat3_outer(y, y);
        m.m0 += p.w;
        m.m1 = vec3_add(m.m1, vec3_scale(p.w, y));
        m2 = mat3_add(m2, mat3_scale(p.w, square));
        slope = vec3_add(slope, p.gradient);
        first_slope = mat3_add(first_slope, mat3_outer(y, p.gradient)); /* column d: sum d_d(VW) y */
        third[0] = mat3_add(third[0], mat3_scale(p.gradient.x, square));
        third[1] = mat3_add(third[1], mat3_scale(p.gradient.y, square));
        third[2] = mat3_add(third[2], mat3_scale(p.gradient.z, square));
    }
    m.inverse = shape_inverse(m2, &a->deficient[i]);
    m.halfway = mat3_apply(m.inverse, m.m1);
    m.schur = m.m0 - vec3_dot(m.m1, m.halfway);
    shape_linear out;
    shape_solve(&m, 1, zero, &out.c0, &out.c1);
    const vec3 columns[3] = {first_slope.x, first_slope.y, first_slope.z};
    const real slopes[3] = {slope.x, slope.y, slope.z};
    for (int d = 0; d < 3; d++) {
        const vec3 axis = shape_axis(d), dm1 = vec3_sub(columns[d], vec3_scale(per * m.m0, axis));
        const vec3 across =
            vec3_add(vec3_scale(vec3_dot(m.m1, out.c1), axis), vec3_scale(vec3_dot(axis, out.c1), m.m1));
        const vec3 dm2 = vec3_sub(mat3_apply(third[d], out.c1), vec3_scale(per, across));
        shape_solve(&m, -(slopes[d] * out.c0 + vec3_dot(dm1, out.c1)),
                    vec3_scale(-1, vec3_add(vec3_scale(out.c0, dm1), dm2)), &out.d0[d], &out.d1[d]);
    }
    return out;
}

/* phi_j over V_j W_ij, given per = 1/support. */
PBD_FN real shape_linear_value(const shape_linear *s, real per, shape_pair p) {
    return s->c0 + vec3_dot(s->c1, vec3_scale(per, p.y));
}

/* The gradient of phi_j with respect to X_i; the particle itself is a pair with y = 0. */
PBD_FN vec3 shape_linear_gradient(const shape_linear *s, real per, shape_pair p) {
    const vec3 y = vec3_scale(per, p.y);
    const vec3 change =
        vec3_make(s->d0[0] + vec3_dot(s->d1[0], y), s->d0[1] + vec3_dot(s->d1[1], y), s->d0[2] + vec3_dot(s->d1[2], y));
    return vec3_add(vec3_scale(shape_linear_value(s, per, p), p.gradient),
                    vec3_scale(p.w, vec3_sub(change, vec3_scale(per, s->c1))));
}

PBD_FN void shape_of_linear_basis(const shape_args *a, size_t i) {
    const vec3 centre = load3(a->rest, i);
    const shape_linear s = shape_linear_at(a, i);
    for (uint32_t k = a->first[i]; k < a->first[i + 1]; k++)
        shape_put(a, k, shape_linear_gradient(&s, 1 / a->support, shape_pair_at(a, centre, a->neighbour[k])));
}

PBD_FN void shape_at(const shape_args *a, size_t i) {
    if (a->flags & SHAPE_LINEAR)
        shape_of_linear_basis(a, i);
    else
        shape_of_kernel(a, i);
}
#endif
