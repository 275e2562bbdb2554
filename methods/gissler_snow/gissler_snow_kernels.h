/* Kernels of implicit compressible SPH for snow (Gissler et al. 2020), in gather form. README.md has the equations.
 *
 * The mechanics consist of two sums over neighbours. With g_ij = V_j grad_i W_ij, stored by pair,
 *
 *     H_i = sum_j (w_j - w_i) g_ij^T                      the gradient of a field w, uncorrected; H_i L_i is corrected
 *     a_i = (V_i/m_i) sum_j (Q_i + Q_j) g_ij              acceleration by Q = T L - p M, M = 1 or L
 *
 * The second is the negative adjoint of the first: sum_i V_i Q_i : H_i(w) = - sum_i m_i a_i . w_i. The pressure's
 * matrix is therefore symmetric, and momentum is conserved to rounding for any Q. */
#ifndef PBD_GISSLER_SNOW_KERNELS_H
#define PBD_GISSLER_SNOW_KERNELS_H

#include "harness/exec/kernel.h"
#include "methods/physics/matter/flow.h"
#include "methods/physics/space/sph_kernel.h"
#include "methods/physics/surface/collider_pose.h"

enum { GISSLER_BLOCK = 16 }; /* particles per item of a reduction */
enum { GISSLER_BODY = 8 };   /* of a particle: stretch S as xx yy zz xy yz zx, J_P, J of the whole motion */
enum { GISSLER_STATE = 6, GISSLER_GROWTH = 7 };
enum { GISSLER_DEFICIENT = 1, GISSLER_ALONE = 2 };

/* Constraint of a particle's velocity: none; one direction fixed; one direction free; all fixed. */
enum { GISSLER_FREE, GISSLER_ACROSS, GISSLER_ALONG, GISSLER_HELD };

typedef struct gissler_lists {
    const uint32_t *first, *list; /* neighbours by particle */
    real *pair;                   /* 3 by entry: g_ij, 1/m */
} gissler_lists;

typedef struct gissler_law {
    real mu, lambda; /* Pa, at J_P = 1 */
    flow_rule rule;
    int flows, hardens;
    int corrected; /* M = L: corrected gradients also for the divergence; otherwise M = 1, as published */
    real dt;
} gissler_law;

/* The device's arrays by particle, and constants of a step. */
typedef struct gissler_particles {
    gissler_lists lists;
    gissler_law law;
    sph_kernel kernel;
    real support, sigma, cutoff;
    int tracked;
    real *x, *v; /* rows: position and mass; velocity, and 1 or (held) 0 */
    real *load;  /* rows: acceleration by forces, and radius */
    real *body;  /* GISSLER_BODY */
    real *rest;  /* V^0; only for volume=tracked */
    real *volume;
    real *correction;  /* 9: L */
    real *tensor;      /* 9: Q */
    real *pressure;    /* Pa */
    real *diagonal;    /* derivative of the pressure's residual with respect to the pressure */
    real *square;      /* by particle: V times the squared residual, Pa^2 m^3; then, by particle, V p^2 */
    real *inverse;     /* 6 */
    real *bound;       /* rows: direction; kind (GISSLER_FREE...) */
    uint32_t *note;    /* GISSLER_DEFICIENT, GISSLER_ALONE */
    uint32_t *changed; /* the kind differs from the previous one */
} gissler_particles;

PBD_FN vec3 gissler_load(const real *three, size_t i) {
    return vec3_make(three[3 * i], three[3 * i + 1], three[3 * i + 2]);
}

PBD_FN void gissler_store_row(real *rows, size_t i, vec3 a) {
    rows[4 * i] = a.x;
    rows[4 * i + 1] = a.y;
    rows[4 * i + 2] = a.z;
}

PBD_FN mat3 gissler_load_matrix(const real *nine, size_t i) {
    return mat3_make(gissler_load(nine, 3 * i), gissler_load(nine, 3 * i + 1), gissler_load(nine, 3 * i + 2));
}

PBD_FN void gissler_store_matrix(real *nine, size_t i, mat3 a) {
    const vec3 column[3] = {a.x, a.y, a.z};
    for (size_t c = 0; c < 3; c++) {
        nine[9 * i + 3 * c] = column[c].x;
        nine[9 * i + 3 * c + 1] = column[c].y;
        nine[9 * i + 3 * c + 2] = column[c].z;
    }
}

PBD_FN mat3 gissler_symmetric(const real s[6]) {
    return mat3_make(vec3_make(s[0], s[3], s[5]), vec3_make(s[3], s[1], s[4]), vec3_make(s[5], s[4], s[2]));
}

PBD_FN void gissler_store_symmetric(real s[6], mat3 a) {
    s[0] = a.x.x;
    s[1] = a.y.y;
    s[2] = a.z.z;
    s[3] = a.x.y;
    s[4] = a.y.z;
    s[5] = a.z.x;
}

PBD_FN mat3 gissler_symmetric_part(mat3 a) { return mat3_scale((real)0.5, mat3_add(a, mat3_transpose(a))); }

PBD_FN mat3 gissler_multiple(real s) { return mat3_diagonal(vec3_make(s, s, s)); }

/* The factor of the moduli, exp(xi (1 - J_P)) of Stomakhin et al. 2013. */
PBD_FN real gissler_hardening(const gissler_law *law, const real *body) {
    return law->hardens ? flow_hardening(&law->rule, body[GISSLER_STATE]) : (real)1;
}

/* H_i of the rows w. */
PBD_FN mat3 gissler_gradient(const gissler_lists *l, const real *w, size_t i) {
    const vec3 own = load3(w, i);
    mat3 sum = gissler_multiple(0);
    for (uint32_t at = l->first[i]; at < l->first[i + 1]; at++)
        sum = mat3_add(sum, mat3_outer(vec3_sub(load3(w, l->list[at]), own), gissler_load(l->pair, at)));
    return sum;
}

/* grad w for the update of F: rotation and shear from corrected gradients; the divergence as in the pressure
 * equation. */
PBD_FN mat3 gissler_velocity_gradient(const gissler_law *law, mat3 h, mat3 correction) {
    const mat3 corrected = mat3_mul(h, correction);
    if (law->corrected) return corrected;
    return mat3_add(corrected, gissler_multiple((mat3_trace(h) - mat3_trace(corrected)) / 3));
}

/* ---- Volumes, gradients of kernels ------------------------------------------------------------------------------- */

typedef struct gissler_args {
    gissler_particles p;
} gissler_args;

/* Work of kernels with lists: particles and their neighbours. */
PBD_ITEM_OVER(gissler_volume, gissler_args, i, 5 * sizeof(real) + 8, 4, 4 * sizeof(real) + 4, 20) {
    if (a->p.tracked) {
        a->p.volume[i] = a->p.rest[i] * a->p.body[GISSLER_BODY * i + GISSLER_GROWTH];
        return;
    }
    const vec3 x = load3(a->p.x, i);
    const real per_square = 1 / (a->p.support * a->p.support);
    real density = a->p.x[4 * i + 3] * a->p.sigma;
    for (uint32_t at = a->p.lists.first[i]; at < a->p.lists.first[i + 1]; at++) {
        const size_t j = a->p.lists.list[at];
        const vec3 d = vec3_sub(x, load3(a->p.x, j));
        density += a->p.x[4 * j + 3] * sph_kernel_scaled(a->p.kernel, a->p.sigma, per_square, vec3_dot(d, d)).w;
    }
    a->p.volume[i] = a->p.x[4 * i + 3] / density;
}

/* L is the pseudo-inverse of sum_j g_ij (x_j - x_i)^T, which is symmetric. */
PBD_ITEM_OVER(gissler_pairs, gissler_args, i, 13 * sizeof(real) + 12, 500, 8 * sizeof(real) + 4, 40) {
    const vec3 x = load3(a->p.x, i);
    const real per_square = 1 / (a->p.support * a->p.support);
    const uint32_t begin = a->p.lists.first[i], end = a->p.lists.first[i + 1];
    mat3 moment = gissler_multiple(0);
    for (uint32_t at = begin; at < end; at++) {
        const size_t j = a->p.lists.list[at];
        const vec3 d = vec3_sub(x, load3(a->p.x, j));
        const real slope = sph_kernel_scaled(a->p.kernel, a->p.sigma, per_square, vec3_dot(d, d)).slope;
        const vec3 g = vec3_scale(a->p.volume[j] * slope, d);
        a->p.lists.pair[3 * at] = g.x;
        a->p.lists.pair[3 * at + 1] = g.y;
        a->p.lists.pair[3 * at + 2] = g.z;
        moment = mat3_sub(moment, mat3_outer(g, d));
    }
    svd3 parts = mat3_svd(moment);
    const real least = real_max(a->p.cutoff * parts.s.x, REAL_MIN);
    const vec3 inverse = vec3_make(parts.s.x > least ? 1 / parts.s.x : 0, parts.s.y > least ? 1 / parts.s.y : 0,
                                   parts.s.z > least ? 1 / parts.s.z : 0);
    a->p.note[i] =
        (parts.s.z > least ? 0u : (uint32_t)GISSLER_DEFICIENT) | (begin < end ? 0u : (uint32_t)GISSLER_ALONE);
    parts.u = parts.v;
    gissler_store_matrix(a->p.correction, i, svd3_with(parts, inverse));
}

/* ---- Motion without stress --------------------------------------------------------------------------------------- */

typedef struct gissler_push_args {
    gissler_particles p;
    real *out;
    vec3 gravity;
    real dt, keep; /* keep: damping factor of velocities */
    int loaded;
} gissler_push_args;

PBD_ITEM(gissler_push, gissler_push_args, i, 12 * sizeof(real), 9) {
    vec3 by = a->gravity;
    if (a->loaded) by = vec3_add(by, load3(a->p.load, i));
    const vec3 v = vec3_add(vec3_scale(a->keep, load3(a->p.v, i)), vec3_scale(a->dt, by));
    gissler_store_row(a->out, i, a->p.v[4 * i + 3] > 0 ? v : vec3_make(0, 0, 0));
}

/* ---- Constraints of velocities: fixed particles, colliders ------------------------------------------------------- */

typedef struct gissler_contact_args {
    gissler_particles p;
    const collider_pose *collider;
    int colliders;
    const real *unconstrained; /* rows: velocity by all other forces */
    real *out;                 /* rows: velocity after contact */
    collider_sums sums;
    real dt, inverse_dt;
} gissler_contact_args;

typedef struct gissler_touch {
    vec3 first, second;
    int count, sticks;
} gissler_touch;

/* Moves to the surface, with friction relative to the surface's motion, as in contact_kernels.h. */
PBD_FN vec3 gissler_collide(const gissler_contact_args *a, size_t i, vec3 start, vec3 p, real radius,
                            gissler_touch *touch) {
    for (int c = 0; c < a->colliders; c++) {
        const collider_pose *collider = a->collider + c;
        real room;
        const collider_gap gap = collider_gap_after(collider, i, start, p, radius, &room);
        const real depth = radius - gap.distance;
        if (!(depth > 0)) continue;
        if (touch->count == 0) touch->first = gap.normal;
        if (touch->count == 1) touch->second = gap.normal;
        touch->count++;
        const vec3 before = p;
        p = vec3_add(p, vec3_scale(depth, gap.normal));
        const vec3 surface = vec3_sub(p, vec3_scale(radius, gap.normal));
        if (collider->friction > 0) {
            const vec3 slip = vec3_sub(vec3_sub(p, start), collider_carried(collider, surface));
            const vec3 along = vec3_sub(slip, vec3_scale(vec3_dot(slip, gap.normal), gap.normal));
            const real most = collider->friction * depth;
            touch->sticks |= vec3_dot(along, along) <= most * most;
            p = vec3_sub(p, friction_of(slip, gap.normal, most));
        }
        const collider_contact of = {i, 1 / a->p.x[4 * i + 3], radius, start, a->sums};
        collider_note(collider, &of, before, p, surface);
    }
    return p;
}

/* Sums the action of colliders in the step, from the change that they make to `unconstrained` of the last pass. */
PBD_ITEM(gissler_sum_contact, gissler_contact_args, i, 16 * sizeof(real), 60) {
    const vec3 start = load3(a->p.x, i);
    gissler_touch touch = {{0, 0, 0}, {0, 0, 0}, 0, 0};
    if (!(a->p.v[4 * i + 3] > 0)) return;
    gissler_collide(a, i, start, vec3_add(start, vec3_scale(a->dt, load3(a->unconstrained, i))),
                    a->p.load ? a->p.load[4 * i + 3] : 0, &touch);
}

PBD_FN int gissler_kind_of(gissler_touch touch, vec3 *direction) {
    *direction = touch.first;
    if (touch.count == 0) return GISSLER_FREE;
    if (touch.sticks || touch.count > 2) return GISSLER_HELD;
    if (touch.count == 1) return GISSLER_ACROSS;
    const vec3 edge = vec3_cross(touch.first, touch.second);
    const real length = real_sqrt(vec3_dot(edge, edge));
    if (!(length > (real)0.01)) return GISSLER_ACROSS; /* two nearly parallel planes */
    *direction = vec3_scale(1 / length, edge);
    return GISSLER_ALONG;
}

PBD_ITEM(gissler_apply_contacts, gissler_contact_args, i, 24 * sizeof(real), 60) {
    real *bound = a->p.bound + 4 * i;
    const vec3 unconstrained = load3(a->unconstrained, i), start = load3(a->p.x, i);
    gissler_touch touch = {{0, 0, 0}, {0, 0, 0}, 0, 0};
    vec3 now = unconstrained, direction = touch.first;
    int kind = GISSLER_HELD;
    if (a->p.v[4 * i + 3] > 0) {
        const real radius = a->p.load ? a->p.load[4 * i + 3] : 0;
        const vec3 p = gissler_collide(a, i, start, vec3_add(start, vec3_scale(a->dt, unconstrained)), radius, &touch);
        kind = gissler_kind_of(touch, &direction);
        if (kind != GISSLER_FREE) now = vec3_scale(a->inverse_dt, vec3_sub(p, start));
    } else {
        now = vec3_make(0, 0, 0);
    }
    a->p.changed[i] = bound[3] != (real)kind;
    gissler_store_row(a->p.bound, i, direction);
    bound[3] = (real)kind;
    gissler_store_row(a->out, i, now);
}

/* The unconstrained component of w. */
PBD_FN vec3 gissler_free_part(const real *bound, size_t i, vec3 w) {
    const vec3 n = load3(bound, i);
    const int kind = (int)bound[4 * i + 3];
    if (kind == GISSLER_FREE) return w;
    if (kind == GISSLER_ACROSS) return vec3_sub(w, vec3_scale(vec3_dot(n, w), n));
    if (kind == GISSLER_ALONG) return vec3_scale(vec3_dot(n, w), n);
    return vec3_make(0, 0, 0);
}

/* ---- Stress ------------------------------------------------------------------------------------------------------ */

typedef struct gissler_stress_args {
    gissler_particles p;
    const real *w;
    real whole; /* 1: the stress after a step with the velocity w; 0: only its part that is linear in w */
    int shear, volume;
} gissler_stress_args;

/* T = 2 G (sym((1 + dt grad w) S) - 1) and p = lambda ((1 - dt div w)/det S - 1). */
PBD_ITEM_OVER(gissler_stress, gissler_stress_args, i, (22 + GISSLER_BODY) * sizeof(real) + 8, 150, 7 * sizeof(real) + 4,
              21) {
    const real *body = a->p.body + GISSLER_BODY * i;
    const mat3 h = gissler_gradient(&a->p.lists, a->w, i), correction = gissler_load_matrix(a->p.correction, i);
    const mat3 s = gissler_symmetric(body), gradient = gissler_velocity_gradient(&a->p.law, h, correction);
    const real harder = gissler_hardening(&a->p.law, body), dt = a->p.law.dt;
    mat3 q = gissler_multiple(0);
    if (a->shear) {
        const mat3 moved = mat3_scale(dt, gissler_symmetric_part(mat3_mul(gradient, s)));
        const mat3 held = mat3_scale(a->whole, mat3_sub(s, mat3_identity()));
        q = mat3_mul(mat3_scale(2 * harder * a->p.law.mu, mat3_add(moved, held)), correction);
    }
    if (a->volume) {
        const real j = mat3_det(s), divergence = mat3_trace(gradient);
        const real p = harder * a->p.law.lambda * (a->whole * (1 - j) - dt * divergence) / j;
        q = mat3_sub(q, a->p.law.corrected ? mat3_scale(p, correction) : gissler_multiple(p));
    }
    gissler_store_matrix(a->p.tensor, i, q);
}

/* Output of gissler_force: the whole vector; its unconstrained components; the vector with the constrained components
 * of target; the vector, or target at particles without a constraint. */
enum { GISSLER_ALL, GISSLER_FREE_PART, GISSLER_SET, GISSLER_REACTION };

typedef struct gissler_force_args {
    gissler_particles p;
    const real *base, *minus; /* rows; minus NULL: none */
    const real *target;
    real *out; /* base + scale a - minus, by `form` */
    real scale;
    int form; /* GISSLER_ALL... */
} gissler_force_args;

PBD_FN vec3 gissler_acceleration(const gissler_force_args *a, size_t i) {
    const mat3 own = gissler_load_matrix(a->p.tensor, i);
    vec3 sum = vec3_make(0, 0, 0);
    for (uint32_t at = a->p.lists.first[i]; at < a->p.lists.first[i + 1]; at++) {
        const mat3 q = mat3_add(own, gissler_load_matrix(a->p.tensor, a->p.lists.list[at]));
        sum = vec3_add(sum, mat3_apply(q, gissler_load(a->p.lists.pair, at)));
    }
    return vec3_scale(a->p.volume[i] / a->p.x[4 * i + 3], sum);
}

PBD_ITEM_OVER(gissler_force, gissler_force_args, i, 27 * sizeof(real) + 8, 15, 12 * sizeof(real) + 4, 27) {
    const int unbound = a->p.bound[4 * i + 3] == (real)GISSLER_FREE;
    if (a->form == GISSLER_REACTION && unbound) {
        gissler_store_row(a->out, i, load3(a->target, i));
        return;
    }
    vec3 w = vec3_add(load3(a->base, i), vec3_scale(a->scale, gissler_acceleration(a, i)));
    if (a->minus) w = vec3_sub(w, load3(a->minus, i));
    if (a->form == GISSLER_FREE_PART) w = gissler_free_part(a->p.bound, i, w);
    if (a->form == GISSLER_SET) {
        const vec3 target = load3(a->target, i);
        w = vec3_add(target, gissler_free_part(a->p.bound, i, vec3_sub(w, target)));
    }
    gissler_store_row(a->out, i, w);
}

/* ---- Pressure, by relaxed Jacobi --------------------------------------------------------------------------------- */

typedef struct gissler_pressure_args {
    gissler_particles p;
    const real *w; /* velocity by the pressure */
    size_t particles;
    real relaxation;
} gissler_pressure_args;

PBD_FN mat3 gissler_pressure_matrix(const gissler_pressure_args *a, size_t i) {
    return a->p.law.corrected ? gissler_load_matrix(a->p.correction, i) : mat3_identity();
}

PBD_FN void gissler_put_pressure(const gissler_pressure_args *a, size_t i, real p) {
    a->p.pressure[i] = p;
    gissler_store_matrix(a->p.tensor, i, mat3_scale(-p, gissler_pressure_matrix(a, i)));
}

/* Initial pressure from the stretch at t^n, and the derivative of the residual with respect to p. */
PBD_ITEM_OVER(gissler_pressure_begin, gissler_pressure_args, i, (25 + GISSLER_BODY) * sizeof(real) + 8, 60,
              4 * sizeof(real) + 4, 25) {
    const real *body = a->p.body + GISSLER_BODY * i;
    const mat3 m = gissler_pressure_matrix(a, i);
    const real j = mat3_det(gissler_symmetric(body)), lambda = gissler_hardening(&a->p.law, body) * a->p.law.lambda;
    real squares = 0;
    vec3 sum = vec3_make(0, 0, 0);
    for (uint32_t at = a->p.lists.first[i]; at < a->p.lists.first[i + 1]; at++) {
        const vec3 g = mat3_apply(m, gissler_load(a->p.lists.pair, at));
        squares += vec3_dot(g, g) / a->p.x[4 * a->p.lists.list[at] + 3];
        sum = vec3_add(sum, g);
    }
    squares = a->p.volume[i] * (squares + vec3_dot(sum, sum) / a->p.x[4 * i + 3]);
    a->p.diagonal[i] = 1 + lambda * a->p.law.dt * a->p.law.dt * squares / j;
    gissler_put_pressure(a, i, lambda * (1 - j) / j);
}

/* The residual p - lambda (density/rest density - 1), for the velocity by p. */
PBD_FN real gissler_pressure_error(const gissler_pressure_args *a, size_t i) {
    const real *body = a->p.body + GISSLER_BODY * i;
    const mat3 gradient = gissler_velocity_gradient(&a->p.law, gissler_gradient(&a->p.lists, a->w, i),
                                                    gissler_load_matrix(a->p.correction, i));
    const real j = mat3_det(gissler_symmetric(body)), lambda = gissler_hardening(&a->p.law, body) * a->p.law.lambda;
    return a->p.pressure[i] - lambda * (1 - j - a->p.law.dt * mat3_trace(gradient)) / j;
}

PBD_ITEM_OVER(gissler_pressure_improve, gissler_pressure_args, i, (28 + GISSLER_BODY) * sizeof(real) + 8, 60,
              7 * sizeof(real) + 4, 21) {
    const real error = gissler_pressure_error(a, i), p = a->p.pressure[i];
    a->p.square[i] = a->p.volume[i] * error * error;
    a->p.square[a->particles + i] = a->p.volume[i] * p * p;
    gissler_put_pressure(a, i, p - a->relaxation * error / a->p.diagonal[i]);
}

/* ---- Krylov vectors: rows of four, the fourth is unused ---------------------------------------------------------- */

typedef struct gissler_combine_args {
    real *out;
    const real *x, *y, *z; /* out may be any of them; y, z NULL: absent */
    real a, b, c;
} gissler_combine_args;

PBD_ITEM(gissler_combine, gissler_combine_args, i, 16 * sizeof(real), 15) {
    vec3 sum = vec3_scale(a->a, load3(a->x, i));
    if (a->y) sum = vec3_add(sum, vec3_scale(a->b, load3(a->y, i)));
    if (a->z) sum = vec3_add(sum, vec3_scale(a->c, load3(a->z, i)));
    gissler_store_row(a->out, i, sum);
}

typedef struct gissler_dots_args {
    const real *x, *y, *z, *place; /* place: rows whose fourth is the mass */
    size_t particles;
    real *out; /* 2 by block: sum m x.y, sum m x.z */
} gissler_dots_args;

PBD_ITEM(gissler_dots, gissler_dots_args, block, GISSLER_BLOCK * 16 * sizeof(real), GISSLER_BLOCK * 15) {
    const size_t begin = block * GISSLER_BLOCK,
                 end = begin + GISSLER_BLOCK < a->particles ? begin + GISSLER_BLOCK : a->particles;
    real sum[2] = {0, 0};
    for (size_t i = begin; i < end; i++) {
        const vec3 x = vec3_scale(a->place[4 * i + 3], load3(a->x, i));
        sum[0] += vec3_dot(x, load3(a->y, i));
        sum[1] += vec3_dot(x, load3(a->z, i));
    }
    a->out[2 * block] = sum[0];
    a->out[2 * block + 1] = sum[1];
}

typedef struct gissler_sums_args {
    const real *square; /* twice `particles` numbers */
    size_t particles;
    real *out; /* 2 by block */
} gissler_sums_args;

PBD_ITEM(gissler_sums, gissler_sums_args, block, GISSLER_BLOCK * 2 * sizeof(real), GISSLER_BLOCK * 2) {
    const size_t begin = block * GISSLER_BLOCK,
                 end = begin + GISSLER_BLOCK < a->particles ? begin + GISSLER_BLOCK : a->particles;
    real sum[2] = {0, 0};
    for (size_t i = begin; i < end; i++) {
        sum[0] += a->square[i];
        sum[1] += a->square[a->particles + i];
    }
    a->out[2 * block] = sum[0];
    a->out[2 * block + 1] = sum[1];
}

typedef struct gissler_diagonal_args {
    gissler_particles p;
    int shear, pressure;
} gissler_diagonal_args;

typedef struct gissler_moduli {
    real mu, lambda; /* each times the volume */
} gissler_moduli;

PBD_FN gissler_moduli gissler_moduli_of(const gissler_diagonal_args *a, size_t i) {
    const real scale = a->p.volume[i] * gissler_hardening(&a->p.law, a->p.body + GISSLER_BODY * i);
    gissler_moduli out;
    out.mu = a->shear ? scale * a->p.law.mu : 0;
    out.lambda = a->pressure ? scale * a->p.law.lambda : 0;
    return out;
}

/* Diagonal contribution of a particle with these moduli through one kernel gradient a (corrected for shear). */
PBD_FN mat3 gissler_stiffness(const gissler_law *law, gissler_moduli m, vec3 raw, mat3 correction) {
    const vec3 a = mat3_apply(correction, raw), c = law->corrected ? a : raw;
    const mat3 shear = mat3_add(gissler_multiple(vec3_dot(a, a)), mat3_outer(a, a));
    return mat3_add(mat3_scale(m.mu, shear), mat3_scale(m.lambda, mat3_outer(c, c)));
}

/* The inverse of the 3 x 3 block of 1 - dt d(dt a)/dw at S = 1, symmetric. */
PBD_ITEM_OVER(gissler_diagonal, gissler_diagonal_args, i, (20 + GISSLER_BODY) * sizeof(real) + 8, 100,
              (13 + GISSLER_BODY) * sizeof(real) + 4, 80) {
    mat3 sum = gissler_multiple(0);
    vec3 own = vec3_make(0, 0, 0);
    for (uint32_t at = a->p.lists.first[i]; at < a->p.lists.first[i + 1]; at++) {
        const size_t j = a->p.lists.list[at];
        const vec3 g = gissler_load(a->p.lists.pair, at);
        const vec3 back = vec3_scale(a->p.volume[i] / a->p.volume[j], g); /* - g_ji */
        own = vec3_add(own, g);
        sum = mat3_add(
            sum, gissler_stiffness(&a->p.law, gissler_moduli_of(a, j), back, gissler_load_matrix(a->p.correction, j)));
    }
    sum = mat3_add(sum,
                   gissler_stiffness(&a->p.law, gissler_moduli_of(a, i), own, gissler_load_matrix(a->p.correction, i)));
    const mat3 block = mat3_add(mat3_identity(),
                                mat3_scale(a->p.law.dt * a->p.law.dt / a->p.x[4 * i + 3], gissler_symmetric_part(sum)));
    gissler_store_symmetric(a->p.inverse + 6 * i, mat3_scale(1 / mat3_det(block), mat3_cofactor(block)));
}

typedef struct gissler_precondition_args {
    gissler_particles p;
    const real *in;
    real *out;
} gissler_precondition_args;

PBD_ITEM(gissler_precondition, gissler_precondition_args, i, 18 * sizeof(real), 20) {
    const vec3 w = mat3_apply(gissler_symmetric(a->p.inverse + 6 * i), load3(a->in, i));
    gissler_store_row(a->out, i, gissler_free_part(a->p.bound, i, w));
}

/* ---- The end of a step ------------------------------------------------------------------------------------------- */

typedef struct gissler_advance_args {
    gissler_particles p;
    const real *w;
} gissler_advance_args;

/* S becomes the left stretch of (1 + dt grad v) S after the return mapping. The right rotation is irrelevant for an
 * isotropic law. */
PBD_ITEM_OVER(gissler_advance, gissler_advance_args, i, (13 + 2 * GISSLER_BODY) * sizeof(real) + 8, 700,
              7 * sizeof(real) + 4, 21) {
    real *body = a->p.body + GISSLER_BODY * i;
    const mat3 gradient = gissler_velocity_gradient(&a->p.law, gissler_gradient(&a->p.lists, a->w, i),
                                                    gissler_load_matrix(a->p.correction, i));
    const mat3 b = mat3_add(mat3_identity(), mat3_scale(a->p.law.dt, gradient));
    svd3 parts = mat3_svd(mat3_mul(b, gissler_symmetric(body)));
    const real least = (real)FLOW_LEAST_STRETCH;
    vec3 s = vec3_make(real_max(parts.s.x, least), real_max(parts.s.y, least), real_max(parts.s.z, least));
    if (a->p.law.flows) {
        const flowed to = flow_stretches(&a->p.law.rule, parts.s, body[GISSLER_STATE]);
        s = to.s;
        body[GISSLER_STATE] = to.state;
    }
    /* Bounds the change of volume in a step, for det B <= 0 too. */
    const real grown = body[GISSLER_GROWTH] * real_max(real_min(mat3_det(b), 2), (real)0.5);
    body[GISSLER_GROWTH] = real_max(real_min(grown, 8), (real)0.125);
    parts.v = parts.u;
    gissler_store_symmetric(body, svd3_with(parts, s));
}

PBD_ITEM(gissler_move, gissler_advance_args, i, 16 * sizeof(real), 6) {
    const vec3 w = load3(a->w, i);
    gissler_store_row(a->p.v, i, w);
    gissler_store_row(a->p.x, i, vec3_add(load3(a->p.x, i), vec3_scale(a->p.law.dt, w)));
}

enum { GISSLER_MEASURED = 4 };

typedef struct gissler_measure_args {
    gissler_particles p;
    const real *v;
    size_t particles;
    real *out; /* by block: largest v^2 (NaN if any); numbers of deficient, of isolated particles, of changed
                  constraints */
} gissler_measure_args;

PBD_ITEM(gissler_measure, gissler_measure_args, block, GISSLER_BLOCK *(4 * sizeof(real) + 8), GISSLER_BLOCK * 8) {
    const size_t begin = block * GISSLER_BLOCK,
                 end = begin + GISSLER_BLOCK < a->particles ? begin + GISSLER_BLOCK : a->particles;
    real most = 0;
    uint32_t deficient = 0, alone = 0, changed = 0;
    for (size_t i = begin; i < end; i++) {
        const vec3 v = load3(a->v, i);
        const real square = vec3_dot(v, v);
        most = square > most || square != square ? square : most;
        deficient += a->p.note[i] & 1;
        alone += a->p.note[i] >> 1 & 1;
        changed += a->p.changed[i];
    }
    real *out = a->out + GISSLER_MEASURED * block;
    out[0] = most;
    out[1] = (real)deficient;
    out[2] = (real)alone;
    out[3] = (real)changed;
}

#endif
