/* Kernels of xpbd_grains: non-overlapping spheres of equal radius with Coulomb friction. README.md has the equations.
 *
 * Rows of four: positions, with the inverse mass as the fourth. Neighbour lists are in ascending order of particles, so
 * that results do not depend on when they were built. */
#ifndef PBD_XPBD_GRAINS_KERNELS_H
#define PBD_XPBD_GRAINS_KERNELS_H

#include "methods/physics/device/particle_kernels.h"
#include "methods/physics/math/scalar.h"
#include "methods/physics/parts/contact_kernels.h"

typedef struct grain_args {
    const uint32_t *first, *list;
    const real *x;  /* at the start of the substep */
    const real *p;  /* current positions */
    real *next;     /* Jacobi: new positions */
    real *count;    /* averaging per pair: number of contacts by particle; NULL: per particle */
    real *pressure; /* by entry of the lists: lambda, kg m; NULL: no compliance */
    real diameter, friction, relaxation;
    real compliance; /* compliance/dt^2, 1/kg */
} grain_args;

/* ---- Lists ------------------------------------------------------------------------------------------------------- */

typedef struct grain_list_args {
    const uint32_t *first;
    uint32_t *list;
} grain_list_args;

/* Work of these kernels: grains and their neighbours. */
PBD_ITEM_OVER(sort_list, grain_list_args, i, 8, 0, 8, 4) {
    uint32_t *list = a->list + a->first[i];
    const uint32_t count = a->first[i + 1] - a->first[i];
    for (uint32_t k = 1; k < count; k++) {
        const uint32_t one = list[k];
        uint32_t to = k;
        for (; to > 0 && list[to - 1] > one; to--) list[to] = list[to - 1];
        list[to] = one;
    }
}

/* ---- Jacobi ------------------------------------------------------------------------------------------------------ */

PBD_FN vec3 grain_row(const real *rows, size_t i) { return vec3_make(rows[4 * i], rows[4 * i + 1], rows[4 * i + 2]); }

/* A batch of PBD_BATCH particles, which processes the k-th neighbours of all at once: lists are short and of similar
 * length. */
typedef struct grain_lanes {
    int count;
    uint32_t own[PBD_BATCH], first[PBD_BATCH], entries[PBD_BATCH];
    uint32_t longest;
    vreal p[4], x[4];
} grain_lanes;

PBD_FN void grain_open(const grain_args *a, size_t i, int count, grain_lanes *g) {
    g->count = count;
    g->longest = 0;
    for (int l = 0; l < PBD_BATCH; l++) {
        const size_t own = i + (size_t)(l < count ? l : count - 1);
        g->own[l] = (uint32_t)own;
        g->first[l] = a->first[own];
        g->entries[l] = a->first[own + 1] - a->first[own];
        g->longest = g->entries[l] > g->longest ? g->entries[l] : g->longest;
    }
    batch_load_rows(a->p, g->own, 1, PBD_BATCH, g->p);
    batch_load_rows(a->x, g->own, 1, PBD_BATCH, g->x);
}

PBD_FN void grain_lane(vreal *v, int lane, real value) {
#if PBD_BATCH == 1
    (void)lane;
    *v = value;
#else
    (*v)[lane] = value;
#endif
}

/* The contacts with the k-th neighbours. */
typedef struct grain_contacts {
    uint32_t j[PBD_BATCH]; /* the particle itself if it has no k-th neighbour */
    vvec3 normal;          /* from the neighbour to the particle */
    vreal depth;           /* m; 0 if they do not touch */
    vreal inverse_w;       /* kg, 1/(sum of both inverse masses) */
    vreal w, p[4];
    vmask touch;
} grain_contacts;

/* Coincident particles separate along x, the one of higher index in the positive direction. */
PBD_FN void grain_collide(const grain_args *a, const grain_lanes *g, uint32_t k, grain_contacts *c) {
    const vreal zero = vreal_set(0), one = vreal_set(1);
    vreal after = zero;
    for (int l = 0; l < PBD_BATCH; l++) {
        c->j[l] = k < g->entries[l] ? a->list[g->first[l] + k] : g->own[l];
        grain_lane(&after, l, (real)(g->own[l] > c->j[l]) - (real)(g->own[l] < c->j[l]));
    }
    batch_load_rows(a->p, c->j, 1, PBD_BATCH, c->p);
    const vvec3 off = vvec3_make(g->p[0] - c->p[0], g->p[1] - c->p[1], g->p[2] - c->p[2]);
    const vreal square = vvec3_dot(off, off);
    c->w = g->p[3] + c->p[3];
    c->touch = (after != 0) & (square < a->diameter * a->diameter) & (c->w > 0);
    c->inverse_w = one / vreal_where(c->touch, c->w, one);
    const vreal length = vreal_sqrt(square), inverse = one / vreal_where(length > 0, length, one);
    c->normal = vvec3_make(vreal_where(length > 0, off.x * inverse, after), off.y * inverse, off.z * inverse);
    c->depth = vreal_where(c->touch, a->diameter - length, zero);
}

/* The friction correction: the pair's tangential slip, at most friction times depth (Macklin et al. 2014, Eq. 24). */
PBD_FN vvec3 grain_friction(const grain_args *a, const grain_lanes *g, const grain_contacts *c) {
    vreal x[4];
    batch_load_rows(a->x, c->j, 1, PBD_BATCH, x);
    const vvec3 slip = vvec3_make((g->p[0] - g->x[0]) - (c->p[0] - x[0]), (g->p[1] - g->x[1]) - (c->p[1] - x[1]),
                                  (g->p[2] - g->x[2]) - (c->p[2] - x[2]));
    const vvec3 along = vvec3_sub(slip, vvec3_scale(vvec3_dot(slip, c->normal), c->normal));
    const vreal length = vreal_sqrt(vvec3_dot(along, along)), most = a->friction * c->depth, one = vreal_set(1);
    const vreal share = vreal_where(length > most, most / vreal_where(length > 0, length, one), one);
    return vvec3_scale(share, along);
}

/* The number of contacts of each particle, for averaging per pair. */
PBD_BATCH_OVER(count_touching, grain_args, i, count, 5 * sizeof(real) + 8, 0, 4 * sizeof(real) + 4, 12) {
    grain_lanes g;
    vreal sum = vreal_set(0);
    grain_open(a, i, count, &g);
    for (uint32_t k = 0; k < g.longest; k++) {
        grain_contacts c;
        grain_collide(a, &g, k, &c);
        sum += vreal_where(c.touch, vreal_set(1), vreal_set(0));
    }
    batch_store(a->count, i, count, sum);
}

/* The factor of a pair's correction: relaxation over the larger of the two numbers of contacts. When averaging per
 * particle it is 1, and push_grains divides the sum. */
PBD_FN vreal grain_share(const grain_args *a, const grain_lanes *g, const grain_contacts *c) {
    vreal share = vreal_set(1);
    for (int l = 0; l < PBD_BATCH && a->count; l++)
        grain_lane(&share, l, a->relaxation / real_max(1, real_max(a->count[c->j[l]], a->count[g->own[l]])));
    return share;
}

/* XPBD with compliance: the change of lambda, which stays non-negative. Both particles of a pair store it. */
PBD_FN vreal grain_pressure(const grain_args *a, const grain_lanes *g, const grain_contacts *c, uint32_t k,
                            vreal share) {
    vreal lambda = vreal_set(0);
    real now[PBD_BATCH];
    for (int l = 0; l < PBD_BATCH; l++)
        if (k < g->entries[l]) grain_lane(&lambda, l, a->pressure[g->first[l] + k]);
    const vreal raised = lambda + share * (c->depth - a->compliance * lambda) / (c->w + a->compliance);
    const vreal kept = vreal_where(c->touch, vreal_max(raised, vreal_set(0)), lambda);
    batch_store(now, 0, PBD_BATCH, kept);
    for (int l = 0; l < g->count; l++)
        if (k < g->entries[l]) a->pressure[g->first[l] + k] = now[l];
    return kept - lambda;
}

/* All pairs of a particle at once: normal corrections and friction, averaged. */
PBD_BATCH_OVER(push_grains, grain_args, i, count, 12 * sizeof(real) + 8, 10, 8 * sizeof(real) + 4, 50) {
    const vreal zero = vreal_set(0), one = vreal_set(1);
    grain_lanes g;
    vvec3 sum = vvec3_make(zero, zero, zero);
    vreal touching = zero;
    grain_open(a, i, count, &g);
    for (uint32_t k = 0; k < g.longest; k++) {
        grain_contacts c;
        grain_collide(a, &g, k, &c);
        if (!batch_bits(c.touch)) continue;
        const vreal share = grain_share(a, &g, &c);
        const vreal push = a->pressure ? grain_pressure(a, &g, &c, k, share) : share * c.depth * c.inverse_w;
        sum = vvec3_add(sum, vvec3_scale(push, c.normal));
        touching += vreal_where(c.touch, one, zero);
        if (!(a->friction > 0)) continue;
        const vreal back = vreal_where(c.touch, share * c.inverse_w, zero);
        sum = vvec3_sub(sum, vvec3_scale(back, grain_friction(a, &g, &c)));
    }
    const vreal share = g.p[3] * (a->count ? one : a->relaxation / vreal_max(touching, one));
    const vreal next[4] = {g.p[0] + share * sum.x, g.p[1] + share * sum.y, g.p[2] + share * sum.z, g.p[3]};
    batch_store_rows(a->next, g.own, 1, count, next);
}

/* ---- Coloured Gauss-Seidel --------------------------------------------------------------------------------------- */

/* The grid's cells are wider than twice the search radius. Cells of one colour are an even number of cells apart along
 * each axis, so that the pairs of their particles have no particle in common. */
typedef struct grain_colour_args {
    grain_args pairs; /* its p is `move` */
    real *move;
    grid_view grid;
    int colour; /* 0 to 7: one bit for each axis */
} grain_colour_args;

PBD_FN void project_pair(const grain_colour_args *a, uint32_t i, uint32_t j, uint32_t k) {
    const grain_args *g = &a->pairs;
    real *one = a->move + 4 * (size_t)i, *other = a->move + 4 * (size_t)j;
    const vec3 off = vec3_sub(grain_row(a->move, i), grain_row(a->move, j));
    const real square = vec3_dot(off, off), w = one[3] + other[3];
    if (!(square < g->diameter * g->diameter) || !(w > 0)) return;
    const real length = real_sqrt(square), depth = g->diameter - length;
    const vec3 normal = length > 0 ? vec3_scale(1 / length, off) : vec3_make(i > j ? (real)1 : (real)-1, 0, 0);
    real push = depth / w;
    if (g->pressure) {
        const real lambda = g->pressure[k];
        g->pressure[k] = real_max(0, lambda + (depth - g->compliance * lambda) / (w + g->compliance));
        push = g->pressure[k] - lambda;
    }
    vec3 away = vec3_scale(push, normal);
    if (g->friction > 0) {
        const vec3 slip = vec3_sub(vec3_sub(grain_row(a->move, i), grain_row(g->x, i)),
                                   vec3_sub(grain_row(a->move, j), grain_row(g->x, j)));
        away = vec3_sub(away, vec3_scale(1 / w, friction_of(slip, normal, g->friction * depth)));
    }
    one[0] += one[3] * away.x;
    one[1] += one[3] * away.y;
    one[2] += one[3] * away.z;
    other[0] -= other[3] * away.x;
    other[1] -= other[3] * away.y;
    other[2] -= other[3] * away.z;
}

/* One cell of the colour: its particles in ascending order, and each pair once, by the lower particle. Work: grains and
 * pairs. */
PBD_ITEM_OVER(project_cell, grain_colour_args, number, 12 * sizeof(real) + 12, 0, 11 * sizeof(real) + 8, 50) {
    const int *bits = a->grid.bits;
    const uint32_t n = (uint32_t)number;
    grid_cell cell;
    cell.at[0] = (n & ((1u << (bits[0] - 1)) - 1)) << 1 | (uint32_t)(a->colour & 1);
    cell.at[1] = (n >> (bits[0] - 1) & ((1u << (bits[1] - 1)) - 1)) << 1 | (uint32_t)(a->colour >> 1 & 1);
    cell.at[2] = (n >> (bits[0] + bits[1] - 2)) << 1 | (uint32_t)(a->colour >> 2 & 1);
    const uint32_t key = grid_key(bits, cell);
    for (uint32_t at = a->grid.first[key]; at < a->grid.first[key + 1]; at++) {
        const uint32_t i = a->grid.particle[at];
        for (uint32_t k = a->pairs.first[i]; k < a->pairs.first[i + 1]; k++)
            if (a->pairs.list[k] > i) project_pair(a, i, a->pairs.list[k], k);
    }
}

/* ---- Before the iterations --------------------------------------------------------------------------------------- */

typedef struct grain_shift_args {
    const real *to; /* corrected x */
    real *x, *p;
} grain_shift_args;

/* Separates initial overlaps without changing velocities (Macklin et al. 2014, section 4.4). */
PBD_ITEM(shift_grains, grain_shift_args, i, 16 * sizeof(real), 6) {
    for (size_t d = 4 * i; d < 4 * i + 3; d++) {
        a->p[d] += a->to[d] - a->x[d];
        a->x[d] = a->to[d];
    }
}

typedef struct grain_copy_args {
    const real *from;
    real *to;
} grain_copy_args;

PBD_ITEM(copy_grains, grain_copy_args, i, 8 * sizeof(real), 0) {
    for (size_t d = 4 * i; d < 4 * i + 4; d++) a->to[d] = a->from[d];
}

/* ---- After the iterations ---------------------------------------------------------------------------------------- */

typedef struct grain_settle_args {
    const real *p;
    real *x, *v;
    real inverse_dt, keep;
    real asleep; /* m: a particle that moves by less in a substep stays (Macklin et al. 2014, section 4.5); 0: off */
} grain_settle_args;

PBD_ITEM(settle_grains, grain_settle_args, i, 16 * sizeof(real), 14) {
    const vec3 moved = vec3_sub(grain_row(a->p, i), grain_row(a->x, i));
    const int stays = vec3_dot(moved, moved) < a->asleep * a->asleep;
    real *x = a->x + 4 * i, *v = a->v + 4 * i;
    v[0] = moved.x * a->inverse_dt * a->keep;
    v[1] = moved.y * a->inverse_dt * a->keep;
    v[2] = moved.z * a->inverse_dt * a->keep;
    for (size_t d = 0; d < 3 && !stays; d++) x[d] = a->p[4 * i + d];
}

typedef struct grain_measure_args {
    grain_args pairs;
    real *seen; /* 2 by particle: deepest overlap, m; contacts. Of measure_grain_residuals: sum of squares, m^2; 0 */
} grain_measure_args;

PBD_ITEM_OVER(measure_grains, grain_measure_args, i, 6 * sizeof(real) + 8, 0, 4 * sizeof(real) + 4, 12) {
    const grain_args *g = &a->pairs;
    real depth = 0, contacts = 0;
    for (uint32_t k = g->first[i]; k < g->first[i + 1]; k++) {
        const vec3 off = vec3_sub(grain_row(g->p, i), grain_row(g->p, g->list[k]));
        const real now = g->diameter - real_sqrt(vec3_dot(off, off));
        depth = real_max(now, depth);
        contacts += (real)(now > (real)-0.01 * g->diameter);
    }
    a->seen[2 * i] = depth;
    a->seen[2 * i + 1] = contacts;
}

/* Sum of squares over the pairs with grains of higher index: overlap, minus alpha~ lambda if compliance > 0. */
PBD_ITEM_OVER(measure_grain_residuals, grain_measure_args, i, 6 * sizeof(real) + 8, 0, 5 * sizeof(real) + 4, 14) {
    const grain_args *g = &a->pairs;
    real sum = 0;
    for (uint32_t k = g->first[i]; k < g->first[i + 1]; k++) {
        if (g->list[k] <= i) continue;
        const vec3 off = vec3_sub(grain_row(g->p, i), grain_row(g->p, g->list[k]));
        const real overlap = real_max(0, g->diameter - real_sqrt(vec3_dot(off, off)));
        const real left = overlap - (g->pressure ? g->compliance * g->pressure[k] : 0);
        sum += left * left;
    }
    a->seen[2 * i] = sum;
    a->seen[2 * i + 1] = 0;
}

#endif
