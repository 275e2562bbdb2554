/* Kernels of pbd_distance: prediction, projection (coloured Gauss-Seidel and Jacobi), velocities.
 *
 * Particles are rows of four reals (x, y, z, w) with w the inverse mass, 1/kg. Source: rodero2016 Eq. 1 and 12 with the
 * sign of R-2: delta p_i = -k w_i C grad_i C / sum_j w_j |grad_j C|^2. */
#ifndef PBD_DISTANCE_KERNELS_H
#define PBD_DISTANCE_KERNELS_H

#include "methods/physics/device/particle_kernels.h"
#include "methods/physics/math/scalar.h"

/* ---- One particle per item --------------------------------------------------------------------------------------- */

typedef struct hold_args {
    const uint32_t *held;
    const real *rest; /* rows of 4 per held particle */
    real *p;
} hold_args;

PBD_ITEM(hold, hold_args, i, 8 * sizeof(real), 0) {
    for (size_t d = 0; d < 3; d++) a->p[4 * (size_t)a->held[i] + d] = a->rest[4 * i + d];
}

/* Writes the largest speed of each block of particles; infinite if any is not finite. */
enum { SPEED_BLOCK = 16 };

typedef struct speed_args {
    const real *v;
    real *fastest; /* per block */
    size_t particles;
} speed_args;

PBD_ITEM(block_speed, speed_args, block, 4 * SPEED_BLOCK * sizeof(real), 8 * SPEED_BLOCK) {
    size_t end = (block + 1) * SPEED_BLOCK < a->particles ? (block + 1) * SPEED_BLOCK : a->particles;
    real fastest = 0;
    for (size_t i = block * SPEED_BLOCK; i < end; i++) {
        vec3 v = load3(a->v, i);
        real square = vec3_dot(v, v);
        square = square < (real)FLT_MAX ? square : (real)INFINITY;
        fastest = square > fastest ? square : fastest;
    }
    a->fastest[block] = real_sqrt(fastest);
}

/* ---- Distances --------------------------------------------------------------------------------------------------- */

typedef struct distance_args {
    const uint32_t *pair; /* two particles per constraint */
    const real *rest;     /* m */
    real *p;
    real *impulse; /* Jacobi: a row of 4 per constraint, kg m */
    real k, none;  /* none: 0 */
    size_t left;   /* remaining constraints, for prefetching; 0: the mesh is in the cache */
} distance_args;

/* Returns the impulses of `count` constraints along the edge, positive if it must shrink; delta p_i = -w_i impulse. p,
 * q: rows of the two ends. */
PBD_FN vvec3 distance_impulse(const distance_args *a, size_t first, int count, const vreal p[4], const vreal q[4]) {
    vvec3 d = vvec3_make(p[0] - q[0], p[1] - q[1], p[2] - q[2]);
    vreal length = vreal_sqrt(vvec3_dot(d, d)), scale = length * (p[3] + q[3]);
    /* The correction is 0 for coincident ends (no direction) and for two held ends; a selection avoids a branch. */
    vreal s = a->k * (length - batch_load(a->rest, first, count)) / scale;
    return vvec3_scale(vreal_where(scale > 0, s, vreal_set(0)), d);
}

/* In a large mesh the ends of edges are scattered in memory: without prefetching a core waits two fifths of its time in
 * f64. */
PBD_FN void prefetch(const real *p, const uint32_t *particle, int each, size_t first, size_t left) {
    const size_t ahead = first + 3 * PBD_BATCH;
    if (ahead + PBD_BATCH <= left) batch_prefetch_rows(p, particle + (size_t)each * ahead, each * PBD_BATCH);
}

PBD_BATCH_OF(project_distances, distance_args, first, count, 2 * 8 * sizeof(real) + sizeof(real) + 8, 28) {
    const uint32_t *pair = a->pair + 2 * first;
    prefetch(a->p, a->pair, 2, first, a->left);
    vreal p[4], q[4];
    batch_load_rows(a->p, pair, 2, count, p);
    batch_load_rows(a->p, pair + 1, 2, count, q);
    vvec3 impulse = distance_impulse(a, first, count, p, q);
    p[0] -= p[3] * impulse.x;
    p[1] -= p[3] * impulse.y;
    p[2] -= p[3] * impulse.z;
    q[0] += q[3] * impulse.x;
    q[1] += q[3] * impulse.y;
    q[2] += q[3] * impulse.z;
    batch_store_rows(a->p, pair, 2, count, p);
    batch_store_rows(a->p, pair + 1, 2, count, q);
}

PBD_BATCH_OF(store_distance_impulses, distance_args, first, count, (8 + 4) * sizeof(real) + sizeof(real) + 8, 16) {
    const uint32_t *pair = a->pair + 2 * first;
    vreal p[4], q[4], out[4];
    batch_load_rows(a->p, pair, 2, count, p);
    batch_load_rows(a->p, pair + 1, 2, count, q);
    vvec3 impulse = distance_impulse(a, first, count, p, q);
    out[0] = impulse.x;
    out[1] = impulse.y;
    out[2] = impulse.z;
    out[3] = vreal_set(0);
    batch_store_strided(a->impulse, first, 1, count, out);
}

/* ---- Volumes ----------------------------------------------------------------------------------------------------- */

typedef struct volume_args {
    const uint32_t *cell;        /* eight particles per constraint */
    const real *rest_a, *rest_b; /* six times the rest volume, per split, m^3 */
    real *p;
    real *impulse; /* Jacobi: a row of 4 per constraint and corner */
    real k;
    real_bits split; /* hex_split */
    size_t left;     /* as in distance_args */
} volume_args;

/* The gradient of the volume with respect to a corner is the area vector of the ring of its neighbours, sum r_i x
 * r_(i+1): one cross product for a ring of three or four, two for five or six. It is computed from differences, so that
 * f32 keeps its accuracy far from the origin. The gradient of corner 6 is minus the sum of the others, which conserves
 * linear momentum to rounding. */
PBD_FN vvec3 ring3(const vvec3 p[8], int a, int b, int c) {
    return vvec3_cross(vvec3_sub(p[b], p[a]), vvec3_sub(p[c], p[a]));
}
PBD_FN vvec3 ring4(const vvec3 p[8], int a, int b, int c, int d) {
    return vvec3_cross(vvec3_sub(p[a], p[c]), vvec3_sub(p[b], p[d]));
}
PBD_FN vvec3 ring5(const vvec3 p[8], int a, int b, int c, int d, int e) {
    return vvec3_add(ring4(p, a, b, c, d), ring3(p, a, d, e));
}

PBD_FN vvec3 closing(const vvec3 g[8]) {
    vvec3 sum = g[0];
    for (int a = 1; a < 8; a++)
        if (a != 6) sum = vvec3_add(sum, g[a]);
    return vvec3_make(-sum.x, -sum.y, -sum.z);
}

PBD_FN void gradient_a(const vvec3 p[8], vvec3 g[8]) {
    g[0] = vvec3_add(ring4(p, 3, 2, 1, 5), ring4(p, 3, 5, 4, 7));
    g[1] = ring4(p, 0, 2, 6, 5);
    g[2] = ring4(p, 0, 3, 6, 1);
    g[3] = ring4(p, 0, 7, 6, 2);
    g[4] = ring4(p, 0, 5, 6, 7);
    g[5] = ring4(p, 0, 1, 6, 4);
    g[7] = ring4(p, 0, 4, 6, 3);
    g[6] = closing(g);
}

PBD_FN void gradient_b(const vvec3 p[8], vvec3 g[8]) {
    g[0] = ring3(p, 3, 1, 4);
    g[1] = ring5(p, 0, 3, 2, 5, 4);
    g[2] = ring5(p, 6, 5, 1, 3, 7);
    g[3] = ring5(p, 0, 4, 7, 2, 1);
    g[4] = ring5(p, 0, 1, 5, 7, 3);
    g[5] = ring5(p, 6, 7, 4, 1, 2);
    g[7] = ring5(p, 6, 2, 3, 4, 5);
    g[6] = closing(g);
}

/* Adds the impulses of one split, k C grad C / sum w |grad C|^2, to `impulse`. split: 0 A, 1 B, 2 the mean gradient. */
PBD_FN void add_volume_impulse(const vreal corner[8][4], int split, vreal rest, real k, vvec3 impulse[8]) {
    vvec3 p[8], g[8];
    for (int a = 0; a < 8; a++) p[a] = vvec3_make(corner[a][0], corner[a][1], corner[a][2]);
    if (split == 1)
        gradient_b(p, g);
    else
        gradient_a(p, g);
    if (split == 2) {
        vvec3 other[8];
        gradient_b(p, other);
        for (int a = 0; a < 8; a++) g[a] = vvec3_scale(vreal_set((real)0.5), vvec3_add(g[a], other[a]));
    }
    vreal six = vreal_set(0), denominator = vreal_set(0); /* the volume is homogeneous of degree three: g.p = 3 C */
    for (int a = 0; a < 8; a++) {
        six += vvec3_dot(g[a], vvec3_sub(p[a], p[0]));
        denominator += corner[a][3] * vvec3_dot(g[a], g[a]);
    }
    vreal s = k * (six / 3 - rest) / denominator;
    s = vreal_where(denominator > 0, s, vreal_set(0));
    for (int a = 0; a < 8; a++) impulse[a] = vvec3_add(impulse[a], vvec3_scale(s, g[a]));
}

PBD_FN vreal rest_of(const volume_args *a, int split, size_t first, int count) {
    if (split == 0) return batch_load(a->rest_a, first, count);
    if (split == 1) return batch_load(a->rest_b, first, count);
    return (batch_load(a->rest_a, first, count) + batch_load(a->rest_b, first, count)) / 2;
}

/* Projects the corners, which are in registers, once. */
PBD_FN void move_corners(const volume_args *a, int split, real k, size_t first, int count, vreal corner[8][4]) {
    vvec3 impulse[8];
    for (int c = 0; c < 8; c++) impulse[c] = vvec3_make(vreal_set(0), vreal_set(0), vreal_set(0));
    add_volume_impulse(corner, split, rest_of(a, split, first, count), k, impulse);
    for (int c = 0; c < 8; c++) {
        corner[c][0] -= corner[c][3] * impulse[c].x;
        corner[c][1] -= corner[c][3] * impulse[c].y;
        corner[c][2] -= corner[c][3] * impulse[c].z;
    }
}

/* Gauss-Seidel. HEX_SPLIT_MEAN (3) is two consecutive projections with half the stiffness each. Constraints of one
 * colour share no corner, so the corners stay in registers. */
PBD_BATCH_OF(project_volumes, volume_args, first, count, 64 * sizeof(real) + sizeof(real) + 32, 290) {
    vreal corner[8][4];
    prefetch(a->p, a->cell, 8, first, a->left);
    for (int c = 0; c < 8; c++) batch_load_rows(a->p, a->cell + 8 * first + c, 8, count, corner[c]);
    if (a->split == 3) {
        move_corners(a, 0, a->k / 2, first, count, corner);
        move_corners(a, 1, a->k / 2, first, count, corner);
    } else
        move_corners(a, (int)a->split, a->k, first, count, corner);
    for (int c = 0; c < 8; c++) batch_store_rows(a->p, a->cell + 8 * first + c, 8, count, corner[c]);
}

/* Jacobi: both halves of HEX_SPLIT_MEAN (3) are computed from the same positions and added. */
PBD_BATCH_OF(store_volume_impulses, volume_args, first, count, 64 * sizeof(real) + 2 * sizeof(real) + 32, 540) {
    vreal corner[8][4];
    vvec3 impulse[8];
    for (int c = 0; c < 8; c++) {
        batch_load_rows(a->p, a->cell + 8 * first + c, 8, count, corner[c]);
        impulse[c] = vvec3_make(vreal_set(0), vreal_set(0), vreal_set(0));
    }
    if (a->split == 3) {
        add_volume_impulse(corner, 0, rest_of(a, 0, first, count), a->k / 2, impulse);
        add_volume_impulse(corner, 1, rest_of(a, 1, first, count), a->k / 2, impulse);
    } else
        add_volume_impulse(corner, (int)a->split, rest_of(a, (int)a->split, first, count), a->k, impulse);
    for (int c = 0; c < 8; c++) {
        vreal out[4] = {impulse[c].x, impulse[c].y, impulse[c].z, vreal_set(0)};
        batch_store_strided(a->impulse, 8 * first + (size_t)c, 8, count, out);
    }
}

#endif
