/* Kernels of pbd_distance: prediction, projection (coloured Gauss-Seidel and Jacobi), velocities.
 *
 * Particles are rows of four reals (x, y, z, w) with w the inverse mass, 1/kg. Source: rodero2016 Eq. 1 and 12 with the
 * sign of R-2: delta p_i = -k w_i C grad_i C / sum_j w_j |grad_j C|^2. */
#ifndef PBD_DISTANCE_KERNELS_H
#define PBD_DISTANCE_KERNELS_H

#include "harness/exec/kernel.h"
#include "harness/exec/tile.h"
#include "methods/physics/vec.h"

PBD_FN vec3 load3(const real *rows, size_t i) { return vec3_make(rows[4 * i], rows[4 * i + 1], rows[4 * i + 2]); }

/* ---- One particle per item ------------------------------------------------------------------------------------------- */

typedef struct predict_args {
    const real *x, *v, *a; /* positions, velocities, accelerations by the load; rows of 4 */
    real *p;               /* predicted; w is carried along */
    real dt;
} predict_args;

PBD_FN void predict(const predict_args *a, size_t i) {
    for (size_t d = 4 * i; d < 4 * i + 3; d++) a->p[d] = a->x[d] + a->dt * (a->v[d] + a->dt * a->a[d]);
    a->p[4 * i + 3] = a->x[4 * i + 3];
}
PBD_ITEM_KERNEL(predict, predict_args, 16 * sizeof(real), 12)

typedef struct advance_args {
    const real *p;
    real *x, *v;
    real inverse_dt, keep; /* keep: 1 - damping dt, not below 0 */
} advance_args;

PBD_FN void advance(const advance_args *a, size_t i) {
    for (size_t d = 4 * i; d < 4 * i + 3; d++) {
        a->v[d] = (a->p[d] - a->x[d]) * a->inverse_dt * a->keep;
        a->x[d] = a->p[d];
    }
}
PBD_ITEM_KERNEL(advance, advance_args, 16 * sizeof(real), 9)

typedef struct hold_args {
    const uint32_t *held;
    const real *rest; /* rows of 4 by held index */
    real *p;
} hold_args;

PBD_FN void hold(const hold_args *a, size_t i) {
    for (size_t d = 0; d < 3; d++) a->p[4 * (size_t)a->held[i] + d] = a->rest[4 * i + d];
}
PBD_ITEM_KERNEL(hold, hold_args, 8 * sizeof(real), 0)

/* The largest speed of each block of particles; not finite counts as infinite, so that a NaN cannot hide. */
enum { SPEED_BLOCK = 1024 };

typedef struct speed_args {
    const real *v;
    real *fastest; /* by block */
    size_t particles;
} speed_args;

PBD_FN void block_speed(const speed_args *a, size_t block) {
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
PBD_ITEM_KERNEL(block_speed, speed_args, 4 * SPEED_BLOCK * sizeof(real), 8 * SPEED_BLOCK)

/* ---- Distances -------------------------------------------------------------------------------------------------------- */

typedef struct distance_args {
    const uint32_t *pair; /* two particles by constraint */
    const real *rest;     /* m */
    real *p;
    real *impulse;        /* Jacobi: rows of 4 by constraint, kg m */
    real k;
} distance_args;

/* Impulses of `count` constraints: along the edge, positive where it must shrink; delta p_i = -w_i impulse. */
PBD_FN void distance_impulses(const distance_args *a, size_t first, int count, real impulse[3][PBD_BATCH],
                              real w[2][PBD_BATCH]) {
    real d[3][PBD_BATCH];
    for (int l = 0; l < count; l++) {
        const real *pi = a->p + 4 * (size_t)a->pair[2 * (first + (size_t)l)];
        const real *pj = a->p + 4 * (size_t)a->pair[2 * (first + (size_t)l) + 1];
        for (int c = 0; c < 3; c++) d[c][l] = pi[c] - pj[c];
        w[0][l] = pi[3];
        w[1][l] = pj[3];
    }
    for (int l = 0; l < count; l++) {
        real square = d[0][l] * d[0][l] + d[1][l] * d[1][l] + d[2][l] * d[2][l];
        real weight = w[0][l] + w[1][l];
        real length = real_sqrt(square);
        /* No direction (coincident ends) or nothing to move (both held): no correction, by selection, not branching. */
        real scale = length * weight;
        real s = scale > 0 ? a->k * (length - a->rest[first + (size_t)l]) / scale : 0;
        for (int c = 0; c < 3; c++) impulse[c][l] = s * d[c][l];
    }
}

PBD_FN void project_distances(const distance_args *a, size_t first, int count) {
    real impulse[3][PBD_BATCH], w[2][PBD_BATCH];
    distance_impulses(a, first, count, impulse, w);
    for (int l = 0; l < count; l++) {
        real *pi = a->p + 4 * (size_t)a->pair[2 * (first + (size_t)l)];
        real *pj = a->p + 4 * (size_t)a->pair[2 * (first + (size_t)l) + 1];
        for (int c = 0; c < 3; c++) {
            pi[c] -= w[0][l] * impulse[c][l];
            pj[c] += w[1][l] * impulse[c][l];
        }
    }
}
PBD_BATCH_KERNEL(project_distances, distance_args, 2 * 8 * sizeof(real) + sizeof(real) + 8, 28)

PBD_FN void store_distance_impulses(const distance_args *a, size_t first, int count) {
    real impulse[3][PBD_BATCH], w[2][PBD_BATCH];
    distance_impulses(a, first, count, impulse, w);
    for (int l = 0; l < count; l++)
        for (int c = 0; c < 3; c++) a->impulse[4 * (first + (size_t)l) + (size_t)c] = impulse[c][l];
}
PBD_BATCH_KERNEL(store_distance_impulses, distance_args, (8 + 4) * sizeof(real) + sizeof(real) + 8, 16)

/* ---- Volumes ---------------------------------------------------------------------------------------------------------- */

typedef struct volume_args {
    const uint32_t *cell;      /* eight particles by constraint */
    const real *rest_a, *rest_b; /* six volumes at rest by split, m^3 */
    real *p;
    real *impulse;             /* Jacobi: rows of 4 by constraint and corner */
    real k;
    int split;                 /* hex_split */
} volume_args;

/* Adds the gradient of a face cut from a to c: triangles (a, b, c) and (a, c, d), gathered into three cross products. */
PBD_FN void add_face(const vec3 p[8], vec3 g[8], int a, int b, int c, int d) {
    vec3 e = vec3_sub(p[b], p[d]), n = vec3_cross(p[c], p[a]);
    g[a] = vec3_add(g[a], vec3_cross(e, p[c]));
    g[c] = vec3_add(g[c], vec3_cross(p[a], e));
    g[b] = vec3_add(g[b], n);
    g[d] = vec3_sub(g[d], n);
}

PBD_FN void add_split_a(const vec3 p[8], vec3 g[8]) {
    add_face(p, g, 0, 3, 2, 1);
    add_face(p, g, 4, 5, 6, 7);
    add_face(p, g, 0, 1, 5, 4);
    add_face(p, g, 1, 2, 6, 5);
    add_face(p, g, 3, 7, 6, 2);
    add_face(p, g, 0, 4, 7, 3);
}

PBD_FN void add_split_b(const vec3 p[8], vec3 g[8]) {
    add_face(p, g, 3, 2, 1, 0);
    add_face(p, g, 5, 6, 7, 4);
    add_face(p, g, 1, 5, 4, 0);
    add_face(p, g, 2, 6, 5, 1);
    add_face(p, g, 7, 6, 2, 3);
    add_face(p, g, 4, 7, 3, 0);
}

/* One lane: adds this constraint's impulses, k C grad C / sum w |grad C|^2, to `impulse`. Corners are taken relative to
 * the first: the sum over a closed surface does not change, and f32 keeps its digits far from the origin. */
PBD_FN void add_volume_impulse(const vec3 corner[8], const real w[8], int split, real rest, real k, vec3 impulse[8]) {
    vec3 p[8], g[8];
    for (int a = 0; a < 8; a++) {
        p[a] = vec3_sub(corner[a], corner[0]);
        g[a] = vec3_make(0, 0, 0);
    }
    real half = 1;
    if (split != 1) add_split_a(p, g);
    if (split == 1 || split == 2) add_split_b(p, g);
    if (split == 2) half = (real)0.5;
    real six = 0, denominator = 0;
    for (int a = 0; a < 8; a++) {
        g[a] = vec3_scale(half, g[a]);
        six += vec3_dot(g[a], p[a]);
        denominator += w[a] * vec3_dot(g[a], g[a]);
    }
    real s = denominator > 0 ? k * (six / 3 - rest) / denominator : 0;
    for (int a = 0; a < 8; a++) impulse[a] = vec3_add(impulse[a], vec3_scale(s, g[a]));
}

PBD_FN real rest_of(const volume_args *a, int split, size_t i) {
    return split == 0 ? a->rest_a[i] : split == 1 ? a->rest_b[i] : (a->rest_a[i] + a->rest_b[i]) / 2;
}

PBD_FN void load_corners(const volume_args *a, size_t i, vec3 corner[8], real w[8], vec3 impulse[8]) {
    for (int c = 0; c < 8; c++) {
        size_t particle = a->cell[8 * i + (size_t)c];
        corner[c] = load3(a->p, particle);
        w[c] = a->p[4 * particle + 3];
        impulse[c] = vec3_make(0, 0, 0);
    }
}

/* Gauss-Seidel: one split per launch (HEX_SPLIT_MEAN is two launches of half the stiffness). */
PBD_FN void project_volume(const volume_args *a, size_t i) {
    vec3 corner[8], impulse[8];
    real w[8];
    load_corners(a, i, corner, w, impulse);
    add_volume_impulse(corner, w, a->split, rest_of(a, a->split, i), a->k, impulse);
    for (int c = 0; c < 8; c++) {
        size_t particle = a->cell[8 * i + (size_t)c];
        vec3 moved = vec3_sub(corner[c], vec3_scale(w[c], impulse[c]));
        a->p[4 * particle] = moved.x;
        a->p[4 * particle + 1] = moved.y;
        a->p[4 * particle + 2] = moved.z;
    }
}
PBD_ITEM_KERNEL(project_volume, volume_args, 64 * sizeof(real) + sizeof(real) + 32, 380)

/* Jacobi: both halves of HEX_SPLIT_MEAN (3) see the same positions and add up. */
PBD_FN void store_volume_impulse(const volume_args *a, size_t i) {
    vec3 corner[8], impulse[8];
    real w[8];
    load_corners(a, i, corner, w, impulse);
    if (a->split == 3) {
        add_volume_impulse(corner, w, 0, a->rest_a[i], a->k / 2, impulse);
        add_volume_impulse(corner, w, 1, a->rest_b[i], a->k / 2, impulse);
    } else add_volume_impulse(corner, w, a->split, rest_of(a, a->split, i), a->k, impulse);
    for (int c = 0; c < 8; c++) {
        real *out = a->impulse + 4 * (8 * i + (size_t)c);
        out[0] = impulse[c].x;
        out[1] = impulse[c].y;
        out[2] = impulse[c].z;
    }
}
PBD_ITEM_KERNEL(store_volume_impulse, volume_args, 64 * sizeof(real) + 2 * sizeof(real) + 32, 700)

/* ---- Jacobi: each particle gathers its impulses, in a fixed order ------------------------------------------------------ */

typedef struct gather_args {
    const uint32_t *first; /* particles + 1 offsets into slot */
    const uint32_t *slot;  /* impulse row, times 2, plus 1 where the impulse acts with the other sign */
    const real *impulse;
    real *p;
} gather_args;

PBD_FN void gather_impulses(const gather_args *a, size_t i) {
    vec3 sum = vec3_make(0, 0, 0);
    for (uint32_t k = a->first[i] + PBD_LANE; k < a->first[i + 1]; k += PBD_LANES) {
        vec3 impulse = load3(a->impulse, a->slot[k] >> 1);
        real sign = a->slot[k] & 1 ? (real)-1 : (real)1;
        sum = vec3_add(sum, vec3_scale(sign, impulse));
    }
    sum = tile_sum3(sum);
    if (PBD_LANE != 0) return;
    real *p = a->p + 4 * i;
    p[0] -= p[3] * sum.x;
    p[1] -= p[3] * sum.y;
    p[2] -= p[3] * sum.z;
}
PBD_TILE_KERNEL(gather_impulses, gather_args, 30 * (4 * sizeof(real) + 4), 30 * 6)

#endif
