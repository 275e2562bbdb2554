/* Kernels of XPBI over single particles: sorting, loads, colliders, and reductions. */
#ifndef PBD_XPBI_PARTICLE_KERNELS_H
#define PBD_XPBI_PARTICLE_KERNELS_H

#include "methods/physics/space/neighbours_kernels.h"
#include "methods/physics/surface/collider_pose.h"

/* State of particles, sorted by cells; rows of four reals. XPBI_LANES padding rows follow the last. */
typedef struct xpbi_particles {
    real *x;      /* position, m; current volume V^n, m^3 */
    real *v;      /* velocity, m/s; inverse mass, 1/kg, 0: held */
    real *body;   /* three rows: the columns of the elastic F, with V^0, J = V^n/V^0, and the state of the flow rule as
                     fourths */
    real *load;   /* acceleration by forces, m/s^2; radius for colliders, m. NULL: no particle has either */
    real *stray;  /* deviation from the neighbours' motion, m (xpbi_hourglass_kernels.h); NULL: not needed */
    uint32_t *id; /* index in the scene */
} xpbi_particles;

/* ---- Sorting ----------------------------------------------------------------------------------------------------- */

typedef struct xpbi_sort_args {
    xpbi_particles from, to;
    uint32_t *slot, *particle; /* of the grid: old index of the k-th particle; set to k, the new one */
} xpbi_sort_args;

PBD_FN void xpbi_copy_row(real *to, size_t i, const real *from, size_t j) {
    for (size_t d = 0; d < 4; d++) to[4 * i + d] = from[4 * j + d];
}

PBD_ITEM(xpbi_sort, xpbi_sort_args, k, 40 * sizeof(real) + 16, 0) {
    const size_t old = a->slot[k];
    xpbi_copy_row(a->to.x, k, a->from.x, old);
    xpbi_copy_row(a->to.v, k, a->from.v, old);
    for (size_t c = 0; c < 3; c++) xpbi_copy_row(a->to.body, 3 * k + c, a->from.body, 3 * old + c);
    if (a->from.load) xpbi_copy_row(a->to.load, k, a->from.load, old);
    if (a->from.stray) xpbi_copy_row(a->to.stray, k, a->from.stray, old);
    a->to.id[k] = a->from.id[old];
    a->slot[k] = a->particle[k] = (uint32_t)k;
}

typedef struct xpbi_copy_other_args {
    xpbi_particles from, to;
    size_t first;
} xpbi_copy_other_args;

/* Copies rows of other matter, which are not sorted and have no F. */
PBD_ITEM(xpbi_copy_other, xpbi_copy_other_args, k, 24 * sizeof(real) + 8, 0) {
    const size_t i = a->first + k;
    xpbi_copy_row(a->to.x, i, a->from.x, i);
    xpbi_copy_row(a->to.v, i, a->from.v, i);
    if (a->from.load) xpbi_copy_row(a->to.load, i, a->from.load, i);
    a->to.id[i] = a->from.id[i];
}

typedef struct xpbi_drift_args {
    real *x;
    const real *v;
    size_t first;
    real dt;
} xpbi_drift_args;

PBD_ITEM(xpbi_drift, xpbi_drift_args, k, 10 * sizeof(real), 6) {
    const size_t i = 4 * (a->first + k);
    for (size_t d = 0; d < 3; d++) a->x[i + d] += a->dt * a->v[i + d];
}

/* ---- Loads ------------------------------------------------------------------------------------------------------- */

typedef struct xpbi_push_args {
    real *v;
    const real *load; /* NULL: gravity alone */
    vec3 gravity;     /* m/s^2 */
    real dt, keep;    /* keep: damping factor of velocities */
} xpbi_push_args;

PBD_ITEM(xpbi_push, xpbi_push_args, i, 8 * sizeof(real), 6) {
    real *v = a->v + 4 * i;
    if (!(v[3] > 0)) return;
    const real *load = a->load ? a->load + 4 * i : 0;
    v[0] = a->keep * v[0] + a->dt * (a->gravity.x + (load ? load[0] : 0));
    v[1] = a->keep * v[1] + a->dt * (a->gravity.y + (load ? load[1] : 0));
    v[2] = a->keep * v[2] + a->dt * (a->gravity.z + (load ? load[2] : 0));
}

/* ---- Colliders --------------------------------------------------------------------------------------------------- */

typedef struct xpbi_collide_args {
    const collider_pose *collider;
    int colliders;
    const real *x, *load;
    real *clearance; /* by particle, m: the distance that it can move in the step without contact */
    real *v;
    real least; /* m: clearances below are 0, because of rounding */
    real dt, inverse_dt;
    collider_sums sums;
} xpbi_collide_args;

/* A distance changes by at most the motion of the particle, so one evaluation per step excludes most particles from
 * contact in all iterations. Meshes, where the path counts too, are always tested; they have anchors for that. */
PBD_ITEM(xpbi_find_clearance, xpbi_collide_args, i, 9 * sizeof(real), 40) {
    const vec3 x = load3(a->x, i);
    real clearance = (real)1e30;
    for (int c = 0; c < a->colliders; c++) {
        const int mesh = a->collider[c].shape == PBD_MESH;
        clearance = real_min(clearance, mesh ? 0 : collider_gap_at(a->collider + c, x).distance);
    }
    clearance = (real)0.9 * (clearance - (a->load ? a->load[4 * i + 3] : 0));
    a->clearance[i] = clearance > a->least ? clearance : 0; /* NaN: 0 */
}

/* Corrects the velocity of a particle that would end beyond a collider, so that it ends on the surface, with friction
 * relative to the surface's motion. */
PBD_ITEM(xpbi_collide, xpbi_collide_args, i, 8 * sizeof(real), 20) {
    real *v = a->v + 4 * i;
    const vec3 old = load3(a->v, i);
    const real free = a->clearance[i];
    if (a->dt * a->dt * vec3_dot(old, old) < free * free || !(v[3] > 0)) return;
    const vec3 start = load3(a->x, i);
    const real radius = a->load ? a->load[4 * i + 3] : 0;
    vec3 p = vec3_add(start, vec3_scale(a->dt, old));
    const collider_contact of = {i, v[3], radius, start, a->sums};
    const vec3 predicted = p;
    if (!collider_push_all(a->collider, a->colliders, &of, &p)) return; /* bitwise unchanged */
    if (a->sums.row) collider_sum_rounding(&of, predicted, a->dt, old);
    const vec3 now = vec3_scale(a->inverse_dt, vec3_sub(p, start));
    v[0] = now.x;
    v[1] = now.y;
    v[2] = now.z;
}

/* ---- Jacobi: velocities from the sum of all corrections ---------------------------------------------------------- */

typedef struct xpbi_copy_args {
    const real *from;
    real *to;
} xpbi_copy_args;

PBD_ITEM(xpbi_copy, xpbi_copy_args, i, 8 * sizeof(real), 0) { xpbi_copy_row(a->to, i, a->from, i); }

enum { XPBI_BLOCK = 256, XPBI_MOMENTA = 4 };

typedef struct xpbi_merge_args {
    real *v;                /* velocities, updated */
    const real *moved;      /* velocities plus the sum of corrections */
    const uint32_t *length; /* NULL: takes the sum; otherwise the mean over 1 + length corrections */
    size_t particles;
    real *momentum; /* XPBI_MOMENTA by block: sums of m dv, and of m |dv| */
} xpbi_merge_args;

PBD_ITEM(xpbi_merge, xpbi_merge_args, block, XPBI_BLOCK * 12 * sizeof(real), XPBI_BLOCK * 20) {
    const size_t begin = block * XPBI_BLOCK,
                 end = begin + XPBI_BLOCK < a->particles ? begin + XPBI_BLOCK : a->particles;
    vec3 sum = vec3_make(0, 0, 0);
    real size = 0;
    for (size_t i = begin; i < end; i++) {
        const real share = a->length ? (real)1 / (real)(1 + a->length[i]) : (real)1;
        const vec3 old = load3(a->v, i), move = vec3_scale(share, vec3_sub(load3(a->moved, i), old));
        const vec3 now = a->length ? vec3_add(old, move) : load3(a->moved, i);
        const real w = a->v[4 * i + 3], mass = w > 0 ? 1 / w : 0;
        sum = vec3_add(sum, vec3_scale(mass, move));
        size += mass * real_sqrt(vec3_dot(move, move));
        a->v[4 * i] = now.x;
        a->v[4 * i + 1] = now.y;
        a->v[4 * i + 2] = now.z;
    }
    real *out = a->momentum + XPBI_MOMENTA * block;
    out[0] = sum.x;
    out[1] = sum.y;
    out[2] = sum.z;
    out[3] = size;
}

/* ---- Reductions by block, completed by the host ------------------------------------------------------------------ */

enum { XPBI_MEASURED = 5 };
enum { XPBI_NOTE_DEFICIENT = 1, XPBI_NOTE_ALONE = 2, XPBI_NOTE_IDLE = 4 };

typedef struct xpbi_measure_args {
    const real *v;
    const uint32_t *note, *length; /* by particle: XPBI_NOTE_*; neighbours */
    size_t particles, continuum;   /* notes only exist for the continuum, whose rows come first */
    real *out; /* XPBI_MEASURED by block: largest v^2 (NaN if any); numbers of deficient, isolated, idle particles;
                  neighbours */
} xpbi_measure_args;

PBD_ITEM(xpbi_measure, xpbi_measure_args, block, XPBI_BLOCK *(4 * sizeof(real) + 4), XPBI_BLOCK * 8) {
    const size_t begin = block * XPBI_BLOCK,
                 end = begin + XPBI_BLOCK < a->particles ? begin + XPBI_BLOCK : a->particles;
    real most = 0;
    uint32_t deficient = 0, alone = 0, idle = 0, near = 0;
    for (size_t i = begin; i < end; i++) {
        const vec3 v = load3(a->v, i);
        const real square = vec3_dot(v, v);
        most = square > most || square != square ? square : most;
        if (i >= a->continuum) continue;
        deficient += a->note[i] & 1;
        alone += a->note[i] >> 1 & 1;
        idle += a->note[i] >> 2 & 1;
        near += a->length[i];
    }
    real *out = a->out + XPBI_MEASURED * block;
    out[0] = most;
    out[1] = (real)deficient;
    out[2] = (real)alone;
    out[3] = (real)idle;
    out[4] = (real)near;
}

typedef struct xpbi_sum_args {
    const real *values;
    size_t count;
    real *out; /* by block */
} xpbi_sum_args;

PBD_ITEM(xpbi_sum, xpbi_sum_args, block, XPBI_BLOCK * sizeof(real), XPBI_BLOCK) {
    const size_t begin = block * XPBI_BLOCK, end = begin + XPBI_BLOCK < a->count ? begin + XPBI_BLOCK : a->count;
    real sum = 0;
    for (size_t i = begin; i < end; i++) sum += a->values[i];
    a->out[block] = sum;
}

#endif
