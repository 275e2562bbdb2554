/* Kernels of XPBI over single particles: sorting, loads, colliders, and reductions. */
#ifndef PBD_XPBI_PARTICLE_KERNELS_H
#define PBD_XPBI_PARTICLE_KERNELS_H

#include "harness/exec/tile.h"
#include "methods/physics/space/neighbours_kernels.h"
#include "methods/physics/surface/collider_pose.h"

/* State of particles, sorted by cells; rows of four reals. XPBI_LANES padding rows follow the last. */
typedef struct xpbi_particles {
    real *x;      /* position, m; current volume V^n, m^3 */
    real *v;      /* velocity, m/s; inverse mass, 1/kg, 0: held */
    real *body;   /* three rows: the columns of the elastic F; fourth numbers: V^0, J = V^n/V^0, and the state of the
                     flow rule. Between a sort and the end of a step, in the order before the sort (xpbi_shape_args) */
    real *load;   /* by index in the scene: acceleration by forces, m/s^2; radius for colliders, m. NULL: no particle
                     has either */
    real *stray;  /* deviation from the neighbours' motion, m (xpbi_hourglass_kernels.h); NULL: not needed */
    uint32_t *id; /* index in the scene */
} xpbi_particles;

/* ---- Sorting ----------------------------------------------------------------------------------------------------- */

/* Particles are sorted in two stages, so that few arrays need a second copy. The grid makes a sorted copy of positions,
 * which overwrites x before the search. After the search the memory of this copy receives the sorted velocities. F is
 * not moved: the gradient pass reads it in the old order, and the end of the step writes it in the new order. */
typedef struct xpbi_sort_args {
    real *x;
    const real *column[4];     /* of the grid: sorted x, y, z and volumes */
    uint32_t *was;             /* by row: the row before the sort */
    uint32_t *slot, *particle; /* of the grid: old index of the k-th particle; both are set to k, the new one */
} xpbi_sort_args;

PBD_ITEM(xpbi_sort, xpbi_sort_args, k, 8 * sizeof(real) + 16, 0) {
    for (size_t d = 0; d < 4; d++) a->x[4 * k + d] = a->column[d][k];
    a->was[k] = a->slot[k];
    a->slot[k] = a->particle[k] = (uint32_t)k;
}

PBD_FN void xpbi_copy_row(real *to, size_t i, const real *from, size_t j) {
    for (size_t d = 0; d < 4; d++) to[4 * i + d] = from[4 * j + d];
}

typedef struct xpbi_sort_rows_args {
    const real *v, *stray; /* stray NULL: not needed */
    real *to_v, *to_stray;
    const uint32_t *id, *was; /* was: rows of other matter name themselves */
    uint32_t *to_id;
} xpbi_sort_rows_args;

PBD_ITEM(xpbi_sort_rows, xpbi_sort_rows_args, k, 8 * sizeof(real) + 12, 0) {
    const size_t old = a->was[k];
    xpbi_copy_row(a->to_v, k, a->v, old);
    if (a->stray) xpbi_copy_row(a->to_stray, k, a->stray, old);
    a->to_id[k] = a->id[old];
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

typedef struct xpbi_carry_args {
    real *x;
    const real *v, *body; /* body: of xpbi_particles */
    real dt;
} xpbi_carry_args;

/* As xpbi_drift, for the continuum, and sets its volume to V^0 J. */
PBD_ITEM(xpbi_carry, xpbi_carry_args, i, 14 * sizeof(real), 7) {
    real *x = a->x + 4 * i;
    for (size_t d = 0; d < 3; d++) x[d] += a->dt * a->v[4 * i + d];
    x[3] = a->body[12 * i + 3] * a->body[12 * i + 7];
}

/* ---- Held particles that are let go (pbd_pour) ------------------------------------------------------------------- */

typedef struct xpbi_let_go_args {
    real *v;
    const uint32_t *id;
    const real *until; /* rows of two by index in the scene: end of holding, s; inverse mass after it, 1/kg */
    real time;         /* s; particles held until this time or less are released */
} xpbi_let_go_args;

PBD_ITEM(xpbi_let_go, xpbi_let_go_args, i, 3 * sizeof(real) + 4, 1) {
    const real *until = a->until + 2 * (size_t)a->id[i];
    if (!(a->v[4 * i + 3] > 0) && until[0] <= a->time) a->v[4 * i + 3] = until[1];
}

/* ---- Loads ------------------------------------------------------------------------------------------------------- */

typedef struct xpbi_push_args {
    real *v;
    const real *load; /* NULL: gravity alone */
    const uint32_t *id;
    vec3 gravity;  /* m/s^2 */
    real dt, keep; /* keep: damping factor of velocities */
} xpbi_push_args;

PBD_ITEM(xpbi_push, xpbi_push_args, i, 8 * sizeof(real), 6) {
    real *v = a->v + 4 * i;
    if (!(v[3] > 0)) return;
    const real *load = a->load ? a->load + 4 * (size_t)a->id[i] : 0;
    v[0] = a->keep * v[0] + a->dt * (a->gravity.x + (load ? load[0] : 0));
    v[1] = a->keep * v[1] + a->dt * (a->gravity.y + (load ? load[1] : 0));
    v[2] = a->keep * v[2] + a->dt * (a->gravity.z + (load ? load[2] : 0));
}

/* ---- Colliders --------------------------------------------------------------------------------------------------- */

typedef struct xpbi_collide_args {
    const collider_pose *collider;
    int colliders;
    const real *x, *load;
    const uint32_t *id;
    real *clearance; /* by particle, m: the distance that it can move in the step without contact */
    real *v;
    real least; /* m: clearances below are 0, because of rounding */
    real dt, inverse_dt;
    collider_sums sums;
} xpbi_collide_args;

PBD_FN real xpbi_radius(const xpbi_collide_args *a, size_t i) {
    return a->load ? a->load[4 * (size_t)a->id[i] + 3] : 0;
}

/* A distance changes by at most the motion of the particle, so one evaluation per step excludes most particles from
 * contact in all iterations. Meshes, where the path counts too, are always tested; they have anchors for that. */
PBD_ITEM(xpbi_find_clearance, xpbi_collide_args, i, 9 * sizeof(real), 40) {
    const vec3 x = load3(a->x, i);
    real clearance = (real)1e30;
    for (int c = 0; c < a->colliders; c++) {
        const int mesh = a->collider[c].shape == PBD_MESH;
        clearance = real_min(clearance, mesh ? 0 : collider_gap_at(a->collider + c, x).distance);
    }
    clearance = (real)0.9 * (clearance - xpbi_radius(a, i));
    a->clearance[i] = clearance > a->least ? clearance : 0; /* NaN: 0 */
}

/* Corrects the velocity of a particle that would end beyond a collider, so that it ends on the surface, with friction
 * relative to the surface's motion. An entry is a contact: they lie together at a wall, so that equal shares of the
 * particles would leave a thread waiting. Their number is not known before, so none are counted. */
PBD_ITEM_OVER(xpbi_collide, xpbi_collide_args, i, 8 * sizeof(real), 20, 16 * sizeof(real), 100) {
    real *v = a->v + 4 * i;
    const vec3 old = load3(a->v, i);
    const real free = a->clearance[i];
    if (a->dt * a->dt * vec3_dot(old, old) < free * free || !(v[3] > 0)) return;
    const vec3 start = load3(a->x, i);
    const real radius = xpbi_radius(a, i);
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

/* ---- Copies ------------------------------------------------------------------------------------------------------ */

typedef struct xpbi_copy_args {
    const real *from;
    real *to;
} xpbi_copy_args;

PBD_ITEM(xpbi_copy, xpbi_copy_args, i, 8 * sizeof(real), 0) { xpbi_copy_row(a->to, i, a->from, i); }

/* ---- Reductions by block, completed by the host ------------------------------------------------------------------ */

enum { XPBI_BLOCK = 16, XPBI_MEASURED = 5, XPBI_MOMENTA = 4 };
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

typedef struct xpbi_momentum_args {
    const real *impulse; /* of xpbi_gather */
    size_t particles;
    real *out; /* XPBI_MOMENTA by block: their sums */
} xpbi_momentum_args;

PBD_TILE(xpbi_sum_momentum, xpbi_momentum_args, block, XPBI_BLOCK * 4 * sizeof(real), XPBI_BLOCK * 4) {
    const size_t begin = block * XPBI_BLOCK,
                 end = begin + XPBI_BLOCK < a->particles ? begin + XPBI_BLOCK : a->particles;
    real sum[XPBI_MOMENTA] = {0};
    for (size_t i = begin + PBD_LANE; i < end; i += PBD_LANES)
        for (size_t d = 0; d < XPBI_MOMENTA; d++) sum[d] += a->impulse[4 * i + d];
    tile_sums(sum, XPBI_MOMENTA);
    for (size_t d = 0; d < XPBI_MOMENTA && PBD_LANE == 0; d++) a->out[XPBI_MOMENTA * block + d] = sum[d];
}

typedef struct xpbi_sum_args {
    const real *values;
    size_t count;
    real *out; /* by block */
} xpbi_sum_args;

PBD_TILE(xpbi_sum, xpbi_sum_args, block, XPBI_BLOCK * sizeof(real), XPBI_BLOCK) {
    const size_t begin = block * XPBI_BLOCK, end = begin + XPBI_BLOCK < a->count ? begin + XPBI_BLOCK : a->count;
    real sum = 0;
    for (size_t i = begin + PBD_LANE; i < end; i += PBD_LANES) sum += a->values[i];
    sum = tile_sum(sum);
    if (PBD_LANE == 0) a->out[block] = sum;
}

#endif
