/* Kernels of the explicit reproducing-kernel particle method of Chen et al. 2020, in gather form. README.md has the
 * equations. Forces are gathered from the shape functions of neighbours, so each particle stores the coefficients
 * of its own shape functions (shape_linear) and no gradients per pair. */
#ifndef PBD_CHEN_MLSRK_KERNELS_H
#define PBD_CHEN_MLSRK_KERNELS_H

#include "harness/exec/kernel.h"
#include "methods/physics/matter/laws.h"
#include "methods/physics/space/shape_kernels.h"
#include "methods/physics/surface/collider_pose.h"

enum { CHEN_BLOCK = 16 };        /* particles per item of a reduction */
enum { CHEN_COEFFICIENTS = 16 }; /* of a particle's shape functions: c0, c, and their derivatives along x, y, z */
enum { CHEN_MATRIX = 9 };        /* column by column */
enum { CHEN_MEASURED = 2 };      /* by block: largest v^2 (NaN if any is); the number of lone particles */

/* Device arrays by particle; shape.rest has rows of position and current volume. */
typedef struct chen_particles {
    shape_args shape;
    real *x, *v;        /* rows: position and current volume; velocity, and 1 or (held) 0 */
    real *load;         /* rows: acceleration by forces, and contact radius */
    real *rest;         /* V0, m^3 */
    real *mass;         /* kg */
    real *gradient;     /* CHEN_MATRIX: F */
    real *stress;       /* CHEN_MATRIX: V0 P F^T = V sigma, J */
    real *coefficients; /* CHEN_COEFFICIENTS */
    real *smoothed;     /* rows: u, the interpolated velocity, 0 */
} chen_particles;

PBD_FN void chen_store(real *rows, size_t i, vec3 a) {
    rows[4 * i] = a.x;
    rows[4 * i + 1] = a.y;
    rows[4 * i + 2] = a.z;
}

PBD_FN vec3 chen_three(const real *numbers) { return vec3_make(numbers[0], numbers[1], numbers[2]); }

PBD_FN mat3 chen_load_matrix(const real *nine) {
    return mat3_make(chen_three(nine), chen_three(nine + 3), chen_three(nine + 6));
}

PBD_FN void chen_store_three(real *numbers, vec3 a) {
    numbers[0] = a.x;
    numbers[1] = a.y;
    numbers[2] = a.z;
}

PBD_FN void chen_store_matrix(real *nine, mat3 a) {
    chen_store_three(nine, a.x);
    chen_store_three(nine + 3, a.y);
    chen_store_three(nine + 6, a.z);
}

PBD_FN shape_linear chen_shape_of(const real *sixteen) {
    shape_linear s;
    s.c0 = sixteen[0];
    s.c1 = chen_three(sixteen + 1);
    for (int d = 0; d < 3; d++) {
        s.d0[d] = sixteen[4 + 4 * d];
        s.d1[d] = chen_three(sixteen + 5 + 4 * d);
    }
    return s;
}

/* ---- Shape functions, stresses ----------------------------------------------------------------------------------- */

typedef struct chen_args {
    chen_particles p;
    hyperelastic law;
} chen_args;

PBD_ITEM_OVER(chen_shapes, chen_args, i, 20 * sizeof(real) + 8, 500, 5 * sizeof(real) + 4, 60) {
    const shape_linear s = shape_linear_at(&a->p.shape, i);
    real *out = a->p.coefficients + CHEN_COEFFICIENTS * i;
    out[0] = s.c0;
    chen_store_three(out + 1, s.c1);
    for (int d = 0; d < 3; d++) {
        out[4 + 4 * d] = s.d0[d];
        chen_store_three(out + 5 + 4 * d, s.d1[d]);
    }
}

PBD_ITEM(chen_stress, chen_args, i, 19 * sizeof(real), 300) {
    const mat3 f = chen_load_matrix(a->p.gradient + CHEN_MATRIX * i);
    const mat3 kirchhoff = mat3_mul(stress(a->law, f).p, mat3_transpose(f));
    chen_store_matrix(a->p.stress + CHEN_MATRIX * i, mat3_scale(a->p.rest[i], kirchhoff));
}

/* ---- Forces ------------------------------------------------------------------------------------------------------ */

typedef struct chen_force_args {
    chen_particles p;
    const collider_pose *collider;
    collider_sums sums;
    vec3 gravity;
    real dt, keep, spring; /* keep: damping factor of velocities; spring: see the parameter */
    int colliders, loaded;
} chen_force_args;

/* Adds the contributions of sample j to particle i: N_i(x_j) m_j, and -V_j sigma_j grad N_i(x_j). */
PBD_FN void chen_add_force(const chen_particles *p, size_t i, size_t j, vec3 *force, real *mass) {
    const shape_linear s = chen_shape_of(p->coefficients + CHEN_COEFFICIENTS * j);
    const shape_pair pair = shape_pair_at(&p->shape, load3(p->x, j), (uint32_t)i);
    const vec3 gradient = shape_linear_gradient(&s, 1 / p->shape.support, pair);
    *mass += p->mass[j] * shape_linear_value(&s, 1 / p->shape.support, pair) * pair.w;
    *force = vec3_sub(*force, mat3_apply(chen_load_matrix(p->stress + CHEN_MATRIX * j), gradient));
}

/* Returns v after springs that push the particle out of the colliders it is in, with Coulomb friction. */
PBD_FN vec3 chen_collide(const chen_force_args *a, size_t i, vec3 v) {
    const vec3 x = load3(a->p.x, i);
    const real radius = a->p.load[4 * i + 3], inverse_dt = 1 / a->dt;
    for (int k = 0; k < a->colliders; k++) {
        const collider_pose *c = a->collider + k;
        real room;
        const collider_gap gap = collider_gap_after(c, i, x, x, radius, &room);
        const real push = a->spring * inverse_dt * (radius - gap.distance);
        if (!(push > 0)) continue;
        const vec3 before = vec3_add(x, vec3_scale(a->dt, v)), surface = vec3_sub(x, vec3_scale(radius, gap.normal));
        v = vec3_add(v, vec3_scale(push, gap.normal));
        const vec3 slip = vec3_sub(v, vec3_scale(inverse_dt, collider_carried(c, surface)));
        v = vec3_sub(v, friction_of(slip, gap.normal, c->friction * push));
        const collider_contact of = {i, 1 / a->p.mass[i], radius, x, a->sums};
        collider_note(c, &of, before, vec3_add(x, vec3_scale(a->dt, v)), surface);
    }
    return v;
}

PBD_ITEM_OVER(chen_force, chen_force_args, i, 30 * sizeof(real) + 8, 100, 31 * sizeof(real) + 4, 120) {
    vec3 force = vec3_make(0, 0, 0), by = a->gravity;
    real mass = 0;
    if (!(a->p.v[4 * i + 3] > 0)) {
        chen_store(a->p.v, i, force);
        return;
    }
    chen_add_force(&a->p, i, i, &force, &mass);
    for (uint32_t k = a->p.shape.first[i]; k < a->p.shape.first[i + 1]; k++)
        chen_add_force(&a->p, i, a->p.shape.neighbour[k], &force, &mass);
    if (a->loaded) by = vec3_add(by, load3(a->p.load, i));
    by = vec3_add(by, vec3_scale(1 / mass, force));
    const vec3 v = vec3_add(vec3_scale(a->keep, load3(a->p.v, i)), vec3_scale(a->dt, by));
    chen_store(a->p.v, i, a->colliders > 0 ? chen_collide(a, i, v) : v);
}

/* ---- Motion ------------------------------------------------------------------------------------------------------ */

typedef struct chen_move_args {
    chen_particles p;
    real dt, blend;
} chen_move_args;

/* u_i = sum N_k(x_i) v_k; F becomes (1 + dt grad u) F. */
PBD_ITEM_OVER(chen_interpolate, chen_move_args, i, 44 * sizeof(real) + 8, 100, 8 * sizeof(real) + 4, 70) {
    const shape_args *shape = &a->p.shape;
    const shape_linear s = chen_shape_of(a->p.coefficients + CHEN_COEFFICIENTS * i);
    const vec3 centre = load3(a->p.x, i);
    const real per = 1 / shape->support;
    const shape_pair self = shape_pair_at(shape, centre, (uint32_t)i);
    vec3 u = vec3_scale(shape_linear_value(&s, per, self) * self.w, load3(a->p.v, i));
    mat3 gradient = mat3_outer(load3(a->p.v, i), shape_linear_gradient(&s, per, self));
    for (uint32_t k = shape->first[i]; k < shape->first[i + 1]; k++) {
        const uint32_t j = shape->neighbour[k];
        const shape_pair pair = shape_pair_at(shape, centre, j);
        const vec3 v = load3(a->p.v, j);
        u = vec3_add(u, vec3_scale(shape_linear_value(&s, per, pair) * pair.w, v));
        gradient = mat3_add(gradient, mat3_outer(v, shape_linear_gradient(&s, per, pair)));
    }
    real *f = a->p.gradient + CHEN_MATRIX * i;
    const mat3 old = chen_load_matrix(f);
    chen_store_matrix(f, mat3_add(old, mat3_mul(mat3_scale(a->dt, gradient), old)));
    chen_store(a->p.smoothed, i, u);
}

/* x += dt u, v = blend v + (1 - blend) u, V = V0 det F. */
PBD_ITEM(chen_move, chen_move_args, i, 32 * sizeof(real), 40) {
    const vec3 u = load3(a->p.smoothed, i);
    a->p.x[4 * i + 3] = a->p.rest[i] * mat3_det(chen_load_matrix(a->p.gradient + CHEN_MATRIX * i));
    if (!(a->p.v[4 * i + 3] > 0)) return;
    chen_store(a->p.v, i, vec3_add(vec3_scale(a->blend, load3(a->p.v, i)), vec3_scale(1 - a->blend, u)));
    chen_store(a->p.x, i, vec3_add(load3(a->p.x, i), vec3_scale(a->dt, u)));
}

typedef struct chen_measure_args {
    const real *x, *v;
    const uint32_t *first;
    size_t particles;
    real *out; /* CHEN_MEASURED by block */
} chen_measure_args;

PBD_ITEM(chen_measure, chen_measure_args, block, CHEN_BLOCK *(8 * sizeof(real) + 4), CHEN_BLOCK * 8) {
    const size_t begin = block * CHEN_BLOCK,
                 end = begin + CHEN_BLOCK < a->particles ? begin + CHEN_BLOCK : a->particles;
    real most = 0;
    uint32_t alone = 0;
    for (size_t i = begin; i < end; i++) {
        const vec3 v = load3(a->v, i), x = load3(a->x, i);
        const real square = vec3_dot(v, v) + 0 * (x.x + x.y + x.z + a->x[4 * i + 3]); /* NaN if x is not finite */
        most = square > most || square != square ? square : most;
        alone += a->first[i] == a->first[i + 1];
    }
    a->out[CHEN_MEASURED * block] = most;
    a->out[CHEN_MEASURED * block + 1] = (real)alone;
}

#endif
